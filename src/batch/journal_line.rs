//! Lines of a manifest's journal: JSON with a checksum.
//!
//! A line ends with the hash of the text before it, so that damage affects only the damaged line.

use super::output_origin::OutputOrigin;
use crate::pipeline::{FileHash, Pipeline};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One output and everything that it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// The files of the output, the main one first.
    pub files: Vec<FileHash>,
    /// The planned output, relative to the folder, if its clips went to files of their own instead; otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub planned: String,
    /// The fingerprint of the pipeline.
    pub pipeline: String,
    /// The file name of the pipeline; empty for a command without a pipeline file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pipeline_file: String,
    /// The files that were read: the take, under its name below its pattern, then the files that it refers to.
    pub sources: Vec<FileHash>,
    /// The take and the character; `None` in records of earlier versions and of what has no take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<OutputOrigin>,
    /// The recorded part of the report.
    pub report: Value,
}

impl OutputRecord {
    /// The key of the record: the planned output, or the main file.
    pub(super) fn name(&self) -> Option<&str> {
        let main = self.files.first()?.path.as_str();
        Some(if self.planned.is_empty() { main } else { &self.planned })
    }

    /// The file name of its pipeline, if that is another than the one of `pipeline`.
    pub(super) fn other_file(self, pipeline: &Pipeline) -> Option<String> {
        other_file(self.pipeline_file, pipeline)
    }
}

/// The file name of a pipeline, if it has one and that is another than the one of `pipeline`.
pub(super) fn other_file(file: String, pipeline: &Pipeline) -> Option<String> {
    Some(file).filter(|file| !file.is_empty() && *file != pipeline.file_name())
}

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JournalLine {
    /// A run works on this output.
    Claim {
        /// The output.
        output: String,
        /// The run.
        run: String,
        /// The fingerprint of its pipeline; empty in lines of earlier versions.
        #[serde(default)]
        pipeline: String,
        /// The file name of its pipeline; empty for a command without a pipeline file.
        #[serde(default)]
        pipeline_file: String,
    },
    /// These files are about to be written.
    Intent {
        /// The output that they belong to.
        output: String,
        /// The files.
        files: Vec<FileHash>,
    },
    /// The output is written.
    Record(OutputRecord),
    /// A file that this program wrote and that no record lists any more.
    Left(FileHash),
}

/// Hexadecimal digits of the hash at the end of a line: 64 bits, so that no damage goes unnoticed.
const DIGITS: usize = 16;
/// Text before the hash.
const BEFORE: &str = ",\"check\":\"";
/// Text after the hash.
const AFTER: &str = "\"}";

impl JournalLine {
    /// The text of the line, with its line break.
    pub(super) fn encode(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a line is plain data");
        text.pop();
        let check = check(&text);
        text + BEFORE + &check + AFTER + "\n"
    }

    /// The line of a text without its line break; `None` for any other text.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let text = text.strip_suffix(AFTER)?;
        let at = text.len().checked_sub(DIGITS)?;
        let (rest, hash) = text.split_at_checked(at)?;
        let rest = rest.strip_suffix(BEFORE)?;
        if check(rest) != hash {
            return None;
        }
        serde_json::from_str(&format!("{rest}}}")).ok()
    }
}

fn check(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_no_changed_byte_passes() {
        let file = FileHash { path: "a \"b\"\n.glb".into(), blake3: "00ff".into() };
        let record = OutputRecord {
            files: vec![file.clone()],
            planned: String::new(),
            pipeline: "p".into(),
            pipeline_file: "p.toml".into(),
            sources: vec![file.clone()],
            origin: Some(OutputOrigin { take: "../a.bvh".into(), character: Some(file.clone()) }),
            report: serde_json::json!({ "metrics": [0.1, null] }),
        };
        let lines = [
            JournalLine::Claim {
                output: "a.glb".into(),
                run: "1".into(),
                pipeline: "p".into(),
                pipeline_file: "p.toml".into(),
            },
            JournalLine::Intent { output: "a.glb".into(), files: vec![file.clone()] },
            JournalLine::Record(record),
            JournalLine::Left(file),
        ];
        for line in lines {
            let text = line.encode();
            let text = text.strip_suffix('\n').unwrap();
            assert!(!text.contains('\n') && serde_json::from_str::<Value>(text).is_ok());
            assert_eq!(JournalLine::decode(text), Some(line));
            for k in 0..text.len() {
                let mut bytes = text.as_bytes().to_vec();
                bytes[k] ^= 1;
                let damaged = String::from_utf8(bytes).unwrap();
                assert_eq!(JournalLine::decode(&damaged), None, "{damaged}");
                assert_eq!(JournalLine::decode(&text[..k]), None);
            }
        }
    }
}
