//! Reads and writes the container of a glTF file: GLB (glTF 2.0 specification, section 4), or plain JSON for reading.
//!
//! Own code: the `gltf` crate rejects GLB files with unknown chunks, which readers have to ignore by the specification, drops
//! chunks after `BIN`, and underflows on a header length below 12.

use super::GltfError;
use std::ops::Range;

/// Length of the GLB header, bytes.
const HEADER: usize = 12;
/// Length of a chunk header, bytes: length and type.
const CHUNK: usize = 8;
/// Type of the JSON chunk.
const JSON: &[u8] = b"JSON";
/// Type of the binary chunk.
const BIN: &[u8] = b"BIN\0";

/// The parts of a glTF file, borrowed from its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    /// Whether the file is a GLB.
    pub glb: bool,
    /// The JSON text, without a byte order mark.
    pub json: &'a str,
    /// The offset of the JSON text in the file, bytes.
    pub json_offset: usize,
    /// The content of the `BIN` chunk.
    pub bin: Option<&'a [u8]>,
    /// All chunks after the JSON and `BIN` chunks, with their headers.
    pub others: &'a [u8],
}

/// The 32-bit number at an offset.
fn word(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

impl<'a> Chunks<'a> {
    /// Parses the file `bytes`.
    ///
    /// # Errors
    /// A [`GltfError`] for a Git LFS pointer, another format or version, or a truncated file.
    pub fn open(bytes: &'a [u8]) -> Result<Self, GltfError> {
        if bytes.starts_with(b"version https://git-lfs") {
            return Err(GltfError::LfsPointer);
        }
        if bytes.starts_with(b"glTF") {
            return Self::open_glb(bytes);
        }
        let offset = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let json = text(&bytes[offset..], offset)?;
        if !json.trim_start().starts_with('{') {
            return Err(GltfError::NotGltf);
        }
        Ok(Self { glb: false, json, json_offset: offset, bin: None, others: &[] })
    }

    fn open_glb(bytes: &'a [u8]) -> Result<Self, GltfError> {
        let cut = |offset, what, expected: u64, found: usize| GltfError::Truncated {
            offset,
            what,
            expected,
            found: found as u64,
        };
        if bytes.len() < HEADER + CHUNK {
            return Err(cut(0, "GLB header", (HEADER + CHUNK) as u64, bytes.len()));
        }
        let version = word(bytes, 4);
        if version != 2 {
            return Err(GltfError::Version { found: version.to_string() });
        }
        let length = word(bytes, 8) as usize;
        if length < HEADER + CHUNK {
            return Err(GltfError::Length { stated: length as u64, needed: (HEADER + CHUNK) as u64 });
        }
        if length > bytes.len() {
            return Err(cut(0, "GLB", length as u64, bytes.len()));
        }
        if &bytes[16..20] != JSON {
            return Err(GltfError::FirstChunk);
        }
        let bytes = &bytes[..length];
        let mut at = HEADER;
        let mut chunk = |what| -> Result<Option<(usize, usize)>, GltfError> {
            if at == bytes.len() {
                return Ok(None);
            }
            let left = bytes.len() - at;
            if left < CHUNK {
                return Err(cut(at, "chunk header", CHUNK as u64, left));
            }
            let (begin, size) = (at + CHUNK, word(bytes, at) as usize);
            if size > bytes.len() - begin {
                return Err(cut(at, what, size as u64, bytes.len() - begin));
            }
            at = begin + size;
            Ok(Some((begin, at)))
        };
        let (json_offset, json_end) = chunk("JSON chunk")?.ok_or(GltfError::FirstChunk)?;
        let json = text(&bytes[json_offset..json_end], json_offset)?;
        let mut others = json_end;
        let mut bin = None;
        while let Some((begin, end)) = chunk("chunk")? {
            // Only the second chunk can be the binary buffer.
            if begin == json_end + CHUNK && &bytes[begin - 4..begin] == BIN {
                bin = Some(&bytes[begin..end]);
                others = end;
            }
        }
        Ok(Self { glb: true, json, json_offset, bin, others: &bytes[others..] })
    }
}

fn text(bytes: &[u8], offset: usize) -> Result<&str, GltfError> {
    std::str::from_utf8(bytes).map_err(|e| {
        if offset == 0 {
            GltfError::NotGltf
        } else {
            let reason = "the JSON text is not UTF-8".to_owned();
            GltfError::Json { offset: offset + e.valid_up_to(), reason }
        }
    })
}

/// A GLB of this JSON text, this binary buffer and these further chunks (with headers).
///
/// # Errors
/// [`GltfError::Limit`] if the file would exceed 4 GiB, the limit of a GLB.
pub fn write_glb(json: &str, bin: Option<&[u8]>, others: &[u8]) -> Result<Vec<u8>, GltfError> {
    let (mut file, room) = glb_with_room(json, bin.map(<[u8]>::len), others)?;
    if let Some(bin) = bin {
        file[room].copy_from_slice(bin);
    }
    Ok(file)
}

/// A GLB of this JSON text, a binary buffer of `bin` zeros and these further chunks (with headers), and the byte range of the
/// binary buffer, which the caller fills.
///
/// # Errors
/// As `write_glb`.
pub fn glb_with_room(
    json: &str,
    bin: Option<usize>,
    others: &[u8],
) -> Result<(Vec<u8>, Range<usize>), GltfError> {
    let padded = |n: usize| n.next_multiple_of(4);
    let total = HEADER + CHUNK + padded(json.len()) + bin.map_or(0, |b| CHUNK + padded(b)) + others.len();
    let limit = |found: usize| GltfError::Limit {
        path: "glb".into(),
        limit_name: "u32::MAX",
        limit: u32::MAX.into(),
        found: found as u64,
    };
    let total32 = u32::try_from(total).map_err(|_| limit(total))?;
    // Zeroed memory has no cost until it is written.
    let mut file = vec![0; total];
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        file[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(b"glTF");
    put(&2u32.to_le_bytes());
    put(&total32.to_le_bytes());
    // The total fits 32 bits, so every part does.
    put(&(padded(json.len()) as u32).to_le_bytes());
    put(JSON);
    put(json.as_bytes());
    put(&b"   "[..padded(json.len()) - json.len()]);
    if let Some(bin) = bin {
        put(&(padded(bin) as u32).to_le_bytes());
        put(BIN);
    }
    let room = at..at + bin.unwrap_or(0);
    let end = total - others.len();
    file[end..].copy_from_slice(others);
    Ok((file, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glb_reads_back_with_foreign_chunks() {
        let foreign = [4, 0, 0, 0, b'X', b'Y', b'Z', b'!', 1, 2, 3, 4];
        let file = write_glb("{\"a\":1}", Some(&[7, 8, 9]), &foreign).unwrap();
        let chunks = Chunks::open(&file).unwrap();
        assert_eq!((chunks.json, chunks.bin), ("{\"a\":1} ", Some(&[7, 8, 9, 0][..])));
        assert_eq!(chunks.others, foreign);
        let file = write_glb("{}", None, &foreign).unwrap();
        let chunks = Chunks::open(&file).unwrap();
        assert_eq!((chunks.bin, chunks.others), (None, &foreign[..]));
    }

    #[test]
    fn every_truncated_glb_is_an_error() {
        let file = write_glb("{\"a\":1}", Some(&[7, 8, 9, 10]), &[]).unwrap();
        for cut in 0..file.len() {
            assert!(Chunks::open(&file[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(
            Chunks::open(b"version https://git-lfs.github.com/spec/v1\n").unwrap_err(),
            GltfError::LfsPointer
        );
    }
}
