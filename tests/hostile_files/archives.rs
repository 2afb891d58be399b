//! GLB frames and archives of arrays; Acclaim files stand beside them.

use super::Answer::{Read, Refused};
use super::Use::{Convert, Inspect, Take};
use super::{Hostile, MEMORY, Use, many};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

const ALL: &[Use] = &[Inspect, Convert, Take];

/// A GLB of this text and binary chunk.
pub fn glb(json: &str, bin: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), with);
        padded
    };
    let mut body = Vec::new();
    for (chunk, name) in [(pad(json.as_bytes(), b' '), b"JSON"), (pad(bin, 0), b"BIN\0")] {
        if !chunk.is_empty() {
            body.extend((chunk.len() as u32).to_le_bytes());
            body.extend(name);
            body.extend(chunk);
        }
    }
    let mut file = b"glTF".to_vec();
    file.extend(2u32.to_le_bytes());
    file.extend((body.len() as u32 + 12).to_le_bytes());
    file.extend(body);
    file
}

/// An archive of these arrays, each a head and bytes.
fn npz(arrays: &[(&str, String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, head, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(head.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(head.as_bytes()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn head(kind: &str, fortran: bool, shape: &str) -> String {
    let fortran = if fortran { "True" } else { "False" };
    format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': ({shape}), }}\n")
}

pub fn archives() -> Vec<Hostile> {
    let file = |name, bytes, uses, answer| Hostile { name, bytes, uses, answer };
    let zeros = |kind, fortran, width: usize| {
        let bytes = vec![0; 1_000_000 * 156 * width];
        npz(&[("poses", head(kind, fortran, "1000000, 156"), bytes)])
    };
    let asf = format!(
        ":units\nlength 1\nangle deg\n:bonedata\n{}:hierarchy\nbegin\nroot {}\nend\n",
        many(5000, "", |k| format!(
            "begin\nname b{k}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx\nend\n"
        )),
        many(5000, " ", |k| format!("b{k}"))
    );
    vec![
        file("packed-zeros.npz", zeros("|u1", false, 1), ALL, MEMORY),
        file("packed-zeros-in-the-other-order.npz", zeros("<f2", true, 2), ALL, MEMORY),
        file(
            "a-shape-beyond-its-bytes.npz",
            npz(&[("poses", head("<f8", false, "4611686018427387904, 156"), vec![0; 64])]),
            ALL,
            MEMORY,
        ),
        file(
            "a-shape-of-more-than-there-is.npz",
            npz(&[("poses", head("<f8", false, "1000, 156"), vec![0; 64])]),
            ALL,
            Refused("its header states the shape"),
        ),
        file(
            "python-objects.npz",
            npz(&[("poses", head("|O", false, "1,"), vec![0; 64])]),
            ALL,
            Refused("Python objects"),
        ),
        file(
            "a-shape-of-many-sizes.npz",
            npz(&[("poses", head("<f8", false, &"1, ".repeat(100)), vec![0; 8])]),
            ALL,
            Refused("dimensions"),
        ),
        file(
            "thousands-of-entries.npz",
            {
                let names: Vec<String> = (0..10_100).map(|k| format!("{k}")).collect();
                let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
                let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
                for name in &names {
                    zip.start_file(name.as_str(), stored).unwrap();
                }
                zip.finish().unwrap().into_inner()
            },
            ALL,
            Refused("MAX_ENTRIES"),
        ),
        file("bones.asf", asf.into_bytes(), &[Inspect], Read),
        // Its skeleton is the file before it.
        file("bones.amc", format!(":DEGREES\n{}", "1\n".repeat(100_000)).into_bytes(), ALL, MEMORY),
        file(
            "more-bones-than-are-read.asf",
            format!(":bonedata\n{}", "begin\nend\n".repeat(20_000)).into_bytes(),
            ALL,
            Refused("MAX_BONES"),
        ),
    ]
}
