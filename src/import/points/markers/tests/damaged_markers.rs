//! Damaged files of markers: a message, never a panic, a hang or gigabytes.

use super::c3d_writer::{C3dForm, INTEL};
use super::marker_files::{c3d, markers};
use crate::import::{ImportOptions, from_bytes};

fn refused(bytes: &[u8]) -> String {
    c3d(bytes).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn damaged_c3d_is_refused_with_the_part() {
    let (labels, frames) = markers();
    let whole = INTEL.file(&labels, &frames, 100.0);
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = whole.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        damaged
    };
    let find = |name: &[u8]| whole.windows(name.len()).position(|w| w == name).unwrap() + name.len();
    let (used, scale, start) = (find(b"USED") + 4, find(b"SCALE") + 4, find(b"DATA_START") + 4);
    for (damaged, said) in [
        (with(1, &[0]), "no header of a C3D file"),
        (with(0, &[0]), "no header of a C3D file"),
        (with(0, &[200]), "leads out of the file"),
        (with(0, &[1]), "no parameter section where its pointer leads"),
        (with(515, &[90]), "its processor is unknown"),
        (with(used, &[0xff, 0xff]), "it ends too early"),
        (with(2, &[0, 0, 0, 0, 1, 0, 0, 0]), "the last one is before the first one"),
        (with(start, &[0xff, 0x7f]), "begin in block 32767, outside of the file"),
        (with(scale, &f32::NAN.to_le_bytes()), "the scale of its points is NaN"),
        (whole[..whole.len() - 1].to_vec(), "it states 4 frames of 300 points, and holds 3"),
        (Vec::new(), "no header"),
    ] {
        let message = refused(&damaged);
        assert!(message.contains(said), "{message}, expected: {said}");
        assert!(message.contains("hint: export it again"), "{message}");
    }
    // The number of points as a float that no header can state.
    let mut huge = with(used - 8, b"NONE");
    let rate = find(b"RATE");
    huge[rate - 4..rate].copy_from_slice(b"USED");
    huge[rate + 4..rate + 8].copy_from_slice(&2.0_f32.powi(62).to_le_bytes());
    assert!(refused(&huge).contains("allowed are 65535 (`POINT:USED`)"), "{}", refused(&huge));
    // A scale of zero in both places; one alone is that of the other.
    let mut zero = with(scale, &[0; 4]);
    assert!(c3d(&zero).is_ok());
    zero[12..16].fill(0);
    assert!(refused(&zero).contains("the scale of its points is 0"));
    let none = INTEL.file(&[], &[Vec::new()], 100.0);
    assert!(refused(&none).contains("no points"));
}

#[test]
fn every_cut_is_an_error() {
    let (labels, frames) = markers();
    let few: Vec<_> = frames.iter().map(|frame| frame[..5].to_vec()).collect();
    for floats in [true, false] {
        let whole = C3dForm { floats, analog: 0, ..INTEL }.file(&labels[..5], &few, 100.0);
        for end in 0..whole.len() {
            assert!(c3d(&whole[..end]).is_err(), "{end}");
        }
    }
}

#[test]
fn markers_of_no_body_and_of_no_unit_have_a_message() {
    let (labels, frames) = markers();
    let few: Vec<_> = frames.iter().map(|frame| frame[..20].to_vec()).collect();
    let read = |labels: &[String]| {
        let bytes = INTEL.file(labels, &few, 100.0);
        from_bytes(&bytes, "take", Some("c3d"), None, &ImportOptions::default()).unwrap_err().to_string()
    };
    let said = read(&labels[..20]);
    let expected = "to these markers: M0, M1, M2, M3, M4, M5, M6, M7 and 12 more (no label is one of a known set, there is no asis, ";
    assert!(said.contains(expected) && said.contains("psis or sacrum"), "{said}");
    let said = read(&vec![String::new(); 20]);
    assert!(said.contains("to these markers: 20 markers without labels (there is no asis, "), "{said}");
    assert!(said.contains("input.points.layout=markers.toml"), "{said}");
    let names = "LASI RASI SACR LKNE RKNE LANK RANK LSHO RSHO LELB RELB LWRA RWRA";
    let mut named: Vec<String> = names.split(' ').map(str::to_owned).collect();
    let all_named = named.clone();
    named.retain(|label| label != "RELB");
    named.resize(20, String::new());
    assert!(read(&named).contains("there is no elbow_lateral or elbow"));
    // A table whose unit nobody knows, with shins of 1 unit.
    let head = "PathFileType\t4\nDataRate\tUnits\n60\tfurlong\nFrame#\tTime\t";
    let row: Vec<String> = (0..3 * all_named.len()).map(|k| format!("{}", k as f64 * 1e-3)).collect();
    let text = format!("{head}{}\n1\t0\t{}\n", all_named.join("\t\t\t"), row.join("\t"));
    let said = from_bytes(text.as_bytes(), "take", Some("trc"), None, &ImportOptions::default());
    let said = said.unwrap_err().to_string();
    assert!(said.contains("`furlong`, is not known") && said.contains("input.units=mm"), "{said}");
}
