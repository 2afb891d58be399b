//! The protocol between a run and its worker processes: lines of JSON, and after the line of a reply the content of its files.

use crate::pipeline::{FileHash, Job, JobOutputs, OutputFormat, TakeFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;

/// A job to be done. Paths are those of the system: not all of them are UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JobRequest {
    takes: Vec<(OsString, OsString)>,
    outputs: Vec<(OutputFormat, OsString)>,
    /// As in [`crate::pipeline::make`].
    pub to_folder: bool,
}

impl JobRequest {
    pub(super) fn new(job: &Job, to_folder: bool) -> Self {
        let takes = job.takes.iter().map(|t| (t.path.clone().into(), t.relative.clone().into())).collect();
        let outputs = job.outputs.iter().map(|(format, path)| (*format, path.clone().into())).collect();
        Self { takes, outputs, to_folder }
    }

    // The side of the worker, which is the program.
    #[cfg_attr(not(feature = "cli"), allow(dead_code))]
    pub(super) fn job(self) -> Job {
        let take = |(path, relative): (OsString, OsString)| TakeFile {
            path: path.into(),
            relative: relative.into(),
        };
        let output = |(format, path): (OutputFormat, OsString)| (format, PathBuf::from(path));
        Job {
            takes: self.takes.into_iter().map(take).collect(),
            outputs: self.outputs.into_iter().map(output).collect(),
            collision: None,
        }
    }
}

/// A reply of a worker process.
#[derive(Debug)]
pub(super) enum WorkerReply {
    /// It is ready, with the pipeline of this fingerprint.
    Ready(String),
    /// The outputs of the job.
    Made(JobOutputs),
    /// Why the job failed.
    Failed(String),
}

/// The line of a reply; of files it has path and length.
#[derive(Serialize, Deserialize)]
enum ReplyHeader {
    Ready(String),
    Failed(String),
    Made { report: Value, sources: Vec<FileHash>, outputs: Vec<Vec<(OsString, u64)>> },
}

impl WorkerReply {
    // The side of the worker, which is the program.
    #[cfg_attr(not(feature = "cli"), allow(dead_code))]
    pub(super) fn write(self, out: &mut impl Write) -> io::Result<()> {
        let mut contents = Vec::new();
        let head = match self {
            Self::Ready(fingerprint) => ReplyHeader::Ready(fingerprint),
            Self::Failed(why) => ReplyHeader::Failed(why),
            Self::Made(JobOutputs { report, sources, outputs }) => {
                let mut named = |(path, bytes): (PathBuf, Vec<u8>)| {
                    let name = (path.into_os_string(), bytes.len() as u64);
                    contents.push(bytes);
                    name
                };
                let outputs = outputs.into_iter().map(|files| files.into_iter().map(&mut named).collect());
                ReplyHeader::Made { report, sources, outputs: outputs.collect() }
            }
        };
        let mut line = serde_json::to_vec(&head)?;
        line.push(b'\n');
        out.write_all(&line)?;
        contents.iter().try_for_each(|bytes| out.write_all(bytes))?;
        out.flush()
    }

    /// The next reply.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line)?;
        Ok(match serde_json::from_slice(&line)? {
            ReplyHeader::Ready(fingerprint) => Self::Ready(fingerprint),
            ReplyHeader::Failed(why) => Self::Failed(why),
            ReplyHeader::Made { report, sources, outputs } => {
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
                Self::Made(JobOutputs { report, sources, outputs })
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
        let made = JobOutputs {
            report: json!({ "warnings": [], "metrics": [{ "value": 0.1 + 0.2 }, null] }),
            sources: vec![FileHash { path: "a.bvh".into(), blake3: "00".into() }],
            outputs: vec![vec![("out/a.glb".into(), vec![0, 10, 255]), ("out/a.png".into(), vec![])], vec![]],
        };
        let mut bytes = Vec::new();
        WorkerReply::Made(made.clone()).write(&mut bytes).unwrap();
        WorkerReply::Failed("a\nb".into()).write(&mut bytes).unwrap();
        let mut from = bytes.as_slice();
        let WorkerReply::Made(read) = WorkerReply::read(&mut from).unwrap() else { panic!() };
        assert_eq!((read.report, read.sources, read.outputs), (made.report, made.sources, made.outputs));
        let end = bytes.len() - from.len();
        let WorkerReply::Failed(why) = WorkerReply::read(&mut from).unwrap() else { panic!() };
        assert!(why == "a\nb" && from.is_empty());
        for cut in 0..end {
            assert!(WorkerReply::read(&mut &bytes[..cut]).is_err(), "{cut}");
        }
    }
}
