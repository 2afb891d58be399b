//! Decompresses `.tar.zst` into a temporary file without a name, so that members can be read at any place.
//!
//! Zstandard (RFC 8878) is decoded by the crate `ruzstd`, in Rust alone: several frames, skippable frames, checksums.

use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

/// Most bytes for each byte of the compressed archive. Takes as text compress to a fifth, arrays of a body that stands still to a
/// hundredth; a hostile file would fill the disk.
const MAX_RATIO: u64 = 1000;
/// Bytes that any archive may have: one take many times compresses to almost nothing.
const LEAST_LIMIT: u64 = 1 << 30;

/// The content of a compressed file.
///
/// # Errors
/// The error of the system; a file that is cut, damaged or too large.
pub(super) fn decompressed(file: &File) -> io::Result<File> {
    within(file, LEAST_LIMIT.max(file.metadata()?.len().saturating_mul(MAX_RATIO)))
}

/// The content of a compressed file of less than `limit` bytes.
fn within(file: &File, limit: u64) -> io::Result<File> {
    let mut source = BufReader::new(file);
    source.seek(SeekFrom::Start(0))?;
    let mut made = tempfile::tempfile()?;
    let mut left = limit;
    while !source.fill_buf()?.is_empty() {
        let mut frame = match StreamingDecoder::new(&mut source) {
            Ok(frame) => frame,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                source.seek_relative(length.into())?;
                continue;
            }
            Err(error) => return Err(io::Error::other(error.to_string())),
        };
        left -= io::copy(&mut frame.by_ref().take(left), &mut made)?;
        if left == 0 {
            return Err(io::Error::other(format!("it has more than {limit} bytes (`MAX_RATIO`)")));
        }
        let decoder = frame.into_frame_decoder();
        let stated = decoder.get_checksum_from_data();
        if stated.is_some() && stated != decoder.get_calculated_checksum() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its checksum is not that of its content",
            ));
        }
    }
    made.seek(SeekFrom::Start(0))?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    fn whole(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let mut content = Vec::new();
        within(&file, 1 << 20)?.read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn frames_follow_each_other_and_skippable_ones_are_skipped() {
        let (one, two) = (vec![1; 300_000], (0..=255).collect::<Vec<u8>>());
        let packed = |bytes: &[u8]| compress_to_vec(bytes, CompressionLevel::Fastest);
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let all = [packed(&one), skipped, packed(&two)].concat();
        assert_eq!(whole(&all).unwrap(), [one, two].concat());
        assert_eq!(whole(b"").unwrap(), b"");
    }

    #[test]
    fn what_is_cut_damaged_or_far_too_large_is_an_error() {
        let packed = compress_to_vec(&b"take ".repeat(1000)[..], CompressionLevel::Fastest);
        for cut in 1..packed.len() {
            assert!(whole(&packed[..cut]).is_err(), "{cut}");
        }
        assert!(whole(b"this is no archive").is_err());
        let mut damaged = packed.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert!(whole(&damaged).is_err(), "the checksum");
        let bomb = compress_to_vec(&vec![0; 1 << 20][..], CompressionLevel::Fastest);
        assert!(whole(&bomb).unwrap_err().to_string().contains("MAX_RATIO"));
    }
}
