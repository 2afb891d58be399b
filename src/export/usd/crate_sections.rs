//! Writes the tables of a crate: tokens, strings, fields, sets of fields, paths and specs.
//!
//! Tables are compressed as LZ4 blocks, whole numbers as differences of one to four bytes within. Source: Pixar's USD,
//! `sdf/crateFile`, `sdf/integerCoding` and `tf/fastCompression`.

use crate::usd_document::{END, MAGIC, SECTION_NAME};
use std::collections::HashMap;

/// The version, 0.8.0.
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];

/// A path in the order of the tree.
#[derive(Debug)]
pub(super) struct PathRow {
    token: u32,
    property: bool,
    parent: bool,
    /// Whether a sibling follows.
    pub(super) followed: bool,
    /// The index behind what is below it.
    end: usize,
}

/// The tables of a crate under construction.
#[derive(Default)]
pub(super) struct CrateSections {
    tokens: Vec<String>,
    token_indices: HashMap<String, u32>,
    strings: Vec<u32>,
    string_indices: HashMap<String, u32>,
    fields: Vec<(u32, u64)>,
    field_indices: HashMap<(u32, u64), u32>,
    sets: Vec<u32>,
    set_indices: HashMap<Vec<u32>, u32>,
    paths: Vec<PathRow>,
    path_indices: HashMap<String, u32>,
    /// Path, set of fields, kind.
    specs: Vec<[u32; 3]>,
}

impl CrateSections {
    /// Bytes before the first value: magic word, version, position of the table of contents, eight numbers in reserve.
    pub(super) const HEADER: usize = 88;

    /// The index of a token.
    pub(super) fn token(&mut self, text: &str) -> u32 {
        if self.tokens.is_empty() {
            // The sign of a token says what a path is, and 0 has none.
            self.tokens.push(String::new());
        }
        if let Some(known) = self.token_indices.get(text) {
            return *known;
        }
        let index = self.tokens.len() as u32;
        self.tokens.push(text.to_owned());
        self.token_indices.insert(text.to_owned(), index);
        index
    }

    /// The index of a string.
    pub(super) fn string(&mut self, text: &str) -> u32 {
        if let Some(known) = self.string_indices.get(text) {
            return *known;
        }
        let token = self.token(text);
        let index = self.strings.len() as u32;
        self.strings.push(token);
        self.string_indices.insert(text.to_owned(), index);
        index
    }

    /// Adds a path behind the others; `parent` if paths below it follow.
    pub(super) fn path(&mut self, path: &str, name: &str, property: bool, parent: bool) -> &mut PathRow {
        let token = self.token(name);
        let index = self.paths.len();
        self.path_indices.insert(path.to_owned(), index as u32);
        self.paths.push(PathRow { token, property, parent, followed: false, end: index + 1 });
        &mut self.paths[index]
    }

    /// The number of paths.
    pub(super) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Ends what is below the path that was the last of `paths`.
    pub(super) fn end_path(&mut self, paths: usize) {
        let end = self.paths.len();
        if let Some(row) = paths.checked_sub(1).and_then(|own| self.paths.get_mut(own)) {
            row.end = end;
        }
    }

    /// The index of a path.
    pub(super) fn index_of(&self, path: &str) -> Option<u32> {
        self.path_indices.get(path).copied()
    }

    /// Adds what a path is: its kind and its fields, as names and representations of values.
    pub(super) fn spec(&mut self, path: &str, kind: u32, fields: &[(&str, u64)]) {
        let mut set = Vec::with_capacity(fields.len() + 1);
        for (name, value) in fields {
            let field = (self.token(name), *value);
            let next = self.fields.len() as u32;
            let index = *self.field_indices.entry(field).or_insert(next);
            if index == next {
                self.fields.push(field);
            }
            set.push(index);
        }
        set.push(END);
        let begin = match self.set_indices.get(&set) {
            Some(known) => *known,
            None => {
                let begin = self.sets.len() as u32;
                self.sets.extend(&set);
                self.set_indices.insert(set, begin);
                begin
            }
        };
        if let Some(path) = self.index_of(path) {
            self.specs.push([path, begin, kind]);
        }
    }

    /// The file: values, which begin with room for the header, then the tables.
    pub(super) fn finish(&self, mut file: Vec<u8>) -> Vec<u8> {
        let sections: [(&str, Vec<u8>); 6] = [
            ("TOKENS", self.token_section()),
            ("STRINGS", counted(self.strings.len(), self.strings.iter().flat_map(|s| s.to_le_bytes()))),
            ("FIELDS", self.field_section()),
            ("FIELDSETS", counted(self.sets.len(), packed_integers(&signed(&self.sets)))),
            ("PATHS", self.path_section()),
            ("SPECS", self.spec_section()),
        ];
        let mut contents = (sections.len() as u64).to_le_bytes().to_vec();
        for (name, bytes) in &sections {
            let mut padded = [0; SECTION_NAME];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend((file.len() as u64).to_le_bytes());
            contents.extend((bytes.len() as u64).to_le_bytes());
            file.extend(bytes);
        }
        let head = [*MAGIC, VERSION, (file.len() as u64).to_le_bytes()].concat();
        file.extend(contents);
        file[..head.len()].copy_from_slice(&head);
        file
    }

    fn token_section(&self) -> Vec<u8> {
        let text: Vec<u8> = self.tokens.iter().flat_map(|token| token.bytes().chain([0])).collect();
        let packed = packed(&text);
        let lengths = [text.len(), packed.len()].into_iter().flat_map(|n| (n as u64).to_le_bytes());
        counted(self.tokens.len(), lengths.chain(packed))
    }

    fn field_section(&self) -> Vec<u8> {
        let names: Vec<i32> = self.fields.iter().map(|(name, _)| *name as i32).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|(_, value)| value.to_le_bytes()).collect();
        let values = packed(&values);
        let length = (values.len() as u64).to_le_bytes();
        counted(self.fields.len(), packed_integers(&names).into_iter().chain(length).chain(values))
    }

    fn path_section(&self) -> Vec<u8> {
        let tokens = self.paths.iter().map(|row| {
            let token = row.token as i32;
            if row.property { -token } else { token }
        });
        let jumps = self.paths.iter().enumerate().map(|(k, row)| match (row.parent, row.followed) {
            (true, true) => (row.end - k) as i32,
            (true, false) => -1,
            (false, true) => 0,
            (false, false) => -2,
        });
        let indices: Vec<i32> = (0..self.paths.len() as i32).collect();
        let lists = [indices, tokens.collect(), jumps.collect()];
        let count = (self.paths.len() as u64).to_le_bytes();
        counted(
            self.paths.len(),
            count.into_iter().chain(lists.iter().flat_map(|list| packed_integers(list))),
        )
    }

    fn spec_section(&self) -> Vec<u8> {
        let column = |k: usize| self.specs.iter().map(move |row| row[k]).collect::<Vec<u32>>();
        let columns = [0, 1, 2].map(column);
        counted(self.specs.len(), columns.iter().flat_map(|column| packed_integers(&signed(column))))
    }
}

fn signed(numbers: &[u32]) -> Vec<i32> {
    numbers.iter().map(|n| *n as i32).collect()
}

fn counted(count: usize, bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
    (count as u64).to_le_bytes().into_iter().chain(bytes).collect()
}

/// Bytes as one LZ4 block: 0 says that they are not in several chunks.
fn packed(bytes: &[u8]) -> Vec<u8> {
    std::iter::once(0).chain(lz4_flex::block::compress(bytes)).collect()
}

/// Whole numbers, as their differences, compressed, with the number of bytes before. Each has a code of two bits: 0 for the commonest
/// difference, 1 to 3 for one of one, two or four bytes.
pub(super) fn packed_integers(numbers: &[i32]) -> Vec<u8> {
    let mut last = 0_i32;
    let differences: Vec<i32> =
        numbers.iter().map(|n| n.wrapping_sub(std::mem::replace(&mut last, *n))).collect();
    let mut sorted = differences.clone();
    sorted.sort_unstable();
    let commonest = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).map_or(0, |run| run[0]);
    let mut codes = vec![0_u8; numbers.len().div_ceil(4)];
    let mut parts = Vec::new();
    for (k, difference) in differences.into_iter().enumerate() {
        let code = if difference == commonest {
            0
        } else if let Ok(byte) = i8::try_from(difference) {
            parts.extend(byte.to_le_bytes());
            1
        } else if let Ok(short) = i16::try_from(difference) {
            parts.extend(short.to_le_bytes());
            2
        } else {
            parts.extend(difference.to_le_bytes());
            3
        };
        codes[k / 4] |= code << (2 * (k % 4));
    }
    let list: Vec<u8> = commonest.to_le_bytes().into_iter().chain(codes).chain(parts).collect();
    let packed = packed(&list);
    counted(packed.len(), packed)
}
