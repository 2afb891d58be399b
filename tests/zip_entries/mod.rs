//! The files of a zip archive, by its table at the end: enough to judge what is written.
#![allow(dead_code)]

use std::io::Read;

/// One file of an archive.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Where its content begins.
    pub at: usize,
    /// Whether it lies there as it is.
    pub stored: bool,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// All files, in the order of the table.
pub fn entries(archive: &[u8]) -> Vec<Entry> {
    let short = |at: usize| usize::from(u16::from_le_bytes([archive[at], archive[at + 1]]));
    let long = |at: usize| short(at) + (short(at + 2) << 16);
    let end = archive.len() - 22;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
    let (count, mut row) = (short(end + 10), long(end + 16));
    let mut found = Vec::new();
    for _ in 0..count {
        assert_eq!(&archive[row..row + 4], b"PK\x01\x02");
        let (method, packed, size) = (short(row + 10), long(row + 20), long(row + 24));
        let (name, header) = (short(row + 28), long(row + 42));
        assert_eq!(&archive[header..header + 4], b"PK\x03\x04");
        assert_eq!(archive[header + 4..header + 28], archive[row + 6..row + 30]);
        let at = header + 30 + name + short(header + 28);
        let content = &archive[at..at + packed];
        let mut bytes = Vec::new();
        match method {
            0 => bytes.extend(content),
            8 => drop(flate2::read::DeflateDecoder::new(content).read_to_end(&mut bytes).unwrap()),
            other => panic!("method {other}"),
        }
        let mut sum = flate2::Crc::new();
        sum.update(&bytes);
        assert_eq!((bytes.len(), sum.sum() as usize), (size, long(row + 16)));
        let name = String::from_utf8(archive[row + 46..row + 46 + name].to_vec()).unwrap();
        found.push(Entry { name, at, stored: method == 0, bytes });
        row += 46 + short(row + 28) + short(row + 30) + short(row + 32);
    }
    assert_eq!(row, end);
    found
}
