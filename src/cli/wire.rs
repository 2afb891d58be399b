//! What a run and the processes that work for it say to each other: a line of JSON each, and behind an answer the content
//! of its files.

use crate::pipeline::{FileHash, Job, Made, OutputFormat, Take};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

/// Work on this job. Paths are such as the system has them: not every one is text.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    takes: Vec<(OsString, OsString)>,
    outputs: Vec<(OutputFormat, OsString)>,
    /// As [`crate::pipeline::make`] has it.
    pub record: bool,
}

impl Request {
    pub(super) fn new(job: &Job, record: bool) -> Self {
        let takes = job.takes.iter().map(|t| (t.path.clone().into(), t.relative.clone().into())).collect();
        let outputs = job.outputs.iter().map(|(format, path)| (*format, path.clone().into())).collect();
        Self { takes, outputs, record }
    }

    pub(super) fn job(self) -> Job {
        let take =
            |(path, relative): (OsString, OsString)| Take { path: path.into(), relative: relative.into() };
        let output = |(format, path): (OutputFormat, OsString)| (format, PathBuf::from(path));
        Job {
            takes: self.takes.into_iter().map(take).collect(),
            outputs: self.outputs.into_iter().map(output).collect(),
            collision: None,
        }
    }
}

/// What a process says.
#[derive(Debug)]
pub(super) enum Answer {
    /// It is ready to work, with the pipeline of this fingerprint.
    Ready(String),
    /// It made this.
    Made(Made),
    /// It cannot make it, and why.
    Failed(String),
}

/// The line of an answer.
#[derive(Serialize, Deserialize)]
enum Head {
    Ready(String),
    Failed(String),
    Made { report: Value, sources: Vec<FileHash>, outputs: Vec<Vec<(OsString, u64)>> },
}

impl Answer {
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let mut contents = Vec::new();
        let head = match self {
            Self::Ready(fingerprint) => Head::Ready(fingerprint),
            Self::Failed(why) => Head::Failed(why),
            Self::Made(Made { report, sources, outputs }) => {
                let mut named = |(path, bytes): (PathBuf, Vec<u8>)| {
                    let name = (path.into_os_string(), bytes.len() as u64);
                    contents.push(bytes);
                    name
                };
                let outputs = outputs.into_iter().map(|files| files.into_iter().map(&mut named).collect());
                Head::Made { report, sources, outputs: outputs.collect() }
            }
        };
        let mut line = serde_json::to_vec(&head)?;
        line.push(b'\n');
        out.write_all(&line)?;
        contents.iter().try_for_each(|bytes| out.write_all(bytes))?;
        out.flush()
    }

    /// # Errors
    /// What the system says, and `OutOfMemory` where there is no room for what was made.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line)?;
        Ok(match serde_json::from_slice(&line)? {
            Head::Ready(fingerprint) => Self::Ready(fingerprint),
            Head::Failed(why) => Self::Failed(why),
            Head::Made { report, sources, outputs } => {
                let mut file = |(path, length): (OsString, u64)| -> io::Result<(PathBuf, Vec<u8>)> {
                    let mut bytes = Vec::new();
                    let room = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
                    bytes.try_reserve_exact(room).map_err(|_| io::ErrorKind::OutOfMemory)?;
                    match from.take(length).read_to_end(&mut bytes)? {
                        read if read == room => Ok((path.into(), bytes)),
                        _ => Err(io::ErrorKind::UnexpectedEof.into()),
                    }
                };
                let mut all = |files: Vec<_>| files.into_iter().map(&mut file).collect::<io::Result<_>>();
                let outputs = outputs.into_iter().map(&mut all).collect::<io::Result<_>>()?;
                Self::Made(Made { report, sources, outputs })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_made_arrives_as_it_was_and_half_of_it_is_an_error() {
        let made = Made {
            report: json!({ "warnings": [], "metrics": [{ "value": 0.1 + 0.2 }, null] }),
            sources: vec![FileHash { path: "a.bvh".into(), blake3: "00".into() }],
            outputs: vec![vec![("out/a.glb".into(), vec![0, 10, 255]), ("out/a.png".into(), vec![])], vec![]],
        };
        let mut bytes = Vec::new();
        Answer::Made(made.clone()).write(&mut bytes).unwrap();
        Answer::Failed("a\nb".into()).write(&mut bytes).unwrap();
        let mut from = bytes.as_slice();
        let Answer::Made(read) = Answer::read(&mut from).unwrap() else { panic!() };
        assert_eq!((read.report, read.sources, read.outputs), (made.report, made.sources, made.outputs));
        let end = bytes.len() - from.len();
        let Answer::Failed(why) = Answer::read(&mut from).unwrap() else { panic!() };
        assert!(why == "a\nb" && from.is_empty());
        for cut in 0..end {
            assert!(Answer::read(&mut &bytes[..cut]).is_err(), "{cut}");
        }
    }
}
