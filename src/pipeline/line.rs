//! What happened to an output becomes one line of JSON that can be checked, and the other way round.
//!
//! A line ends with the hash of what stands before it: damage costs the damaged line and no other.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// A file and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// The path; of outputs relative to the folder of the manifest, of what a take came with relative to the take.
    pub path: String,
    /// BLAKE3 of the content, hexadecimal.
    pub blake3: String,
}

/// One output and all it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The files of the output, the main one first.
    pub files: Vec<FileHash>,
    /// The output that was planned, where its clips went to files of their own instead, relative to the folder; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub planned: String,
    /// The fingerprint of the pipeline.
    pub pipeline: String,
    /// The files read: the take, under the name that it has below its pattern, then what it names.
    pub sources: Vec<FileHash>,
    /// What the run had to say.
    pub report: Value,
}

impl Record {
    /// What the record is found by: the output that was planned, or its main file.
    pub(super) fn name(&self) -> Option<&str> {
        let main = self.files.first()?.path.as_str();
        Some(if self.planned.is_empty() { main } else { &self.planned })
    }
}

/// One line of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// A run works on this output.
    Claim {
        /// The output.
        output: String,
        /// Which run.
        run: String,
    },
    /// These files are about to be written.
    Intent {
        /// The output that they belong to.
        output: String,
        /// The files.
        files: Vec<FileHash>,
    },
    /// The output is written.
    Record(Record),
    /// A file that was written once and that no record lists any more.
    Left(FileHash),
}

/// Hexadecimal digits of the hash at the end of a line: with 64 bits no damage goes unseen.
const DIGITS: usize = 16;
const BEFORE: &str = ",\"check\":\"";
const AFTER: &str = "\"}";

impl Line {
    /// The text of the line, with its end.
    pub(super) fn encode(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is plain data");
        text.pop();
        let check = check(&text);
        text + BEFORE + &check + AFTER + "\n"
    }

    /// The line of a text without its end; `None` for anything else.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let text = text.strip_suffix(AFTER)?;
        let at = text.len().checked_sub(DIGITS)?;
        let (rest, told) = text.split_at_checked(at)?;
        let rest = rest.strip_suffix(BEFORE)?;
        if check(rest) != told {
            return None;
        }
        serde_json::from_str(&format!("{rest}}}")).ok()
    }
}

fn check(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..DIGITS].to_owned()
}

/// The hash of a file's content, where it can be read.
pub fn hash_of(path: &Path) -> Option<FileHash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    Some(FileHash {
        path: path.to_string_lossy().into_owned(),
        blake3: hasher.finalize().to_hex().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_no_changed_byte_passes() {
        let file = FileHash { path: "a \"b\"\n.glb".into(), blake3: "00ff".into() };
        let record = Record {
            files: vec![file.clone()],
            planned: String::new(),
            pipeline: "p".into(),
            sources: vec![file.clone()],
            report: serde_json::json!({ "metrics": [0.1, null] }),
        };
        let lines = [
            Line::Claim { output: "a.glb".into(), run: "1".into() },
            Line::Intent { output: "a.glb".into(), files: vec![file.clone()] },
            Line::Record(record),
            Line::Left(file),
        ];
        for line in lines {
            let text = line.encode();
            let text = text.strip_suffix('\n').unwrap();
            assert!(!text.contains('\n') && serde_json::from_str::<Value>(text).is_ok());
            assert_eq!(Line::decode(text), Some(line));
            for k in 0..text.len() {
                let mut bytes = text.as_bytes().to_vec();
                bytes[k] ^= 1;
                let damaged = String::from_utf8(bytes).unwrap();
                assert_eq!(Line::decode(&damaged), None, "{damaged}");
                assert_eq!(Line::decode(&text[..k]), None);
            }
        }
    }
}
