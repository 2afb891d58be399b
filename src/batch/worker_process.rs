//! One worker process: its start, its replies within a time limit, and why it ended.

use super::job_limits::JobLimits;
use super::worker_protocol::WorkerReply;
use crate::pipeline::Memory;
use crate::report::io_reason;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// A process that works on one job at a time. Dropping it ends the process.
#[derive(Debug)]
pub(super) struct WorkerProcess {
    process: Child,
    requests: Option<ChildStdin>,
    replies: Receiver<io::Result<WorkerReply>>,
    /// What it writes to its standard error.
    errors: File,
    /// Whether it has loaded the pipeline.
    pub(super) ready: bool,
}

/// Why there is no reply.
pub(super) enum NoReply {
    /// The process has ended.
    Ended(String),
    /// The time limit is exceeded.
    TookLong(String),
}

/// How a message of the standard library begins that refuses memory; the process aborts after it.
const NO_MEMORY: &str = "memory allocation of ";

/// Bytes of standard error, from its end, that are searched for the reason why a process ended.
const LAST_ERRORS: u64 = 2000;

impl WorkerProcess {
    /// Starts `program` as a worker.
    pub(super) fn start(program: &Path, threads: usize, memory: Option<Memory>) -> io::Result<Self> {
        let errors = tempfile::tempfile()?;
        let mut command = Command::new(program);
        command.args(["worker", "--threads", &threads.to_string()]);
        if let Some(memory) = memory {
            command.args(["--memory", &memory.bytes.to_string()]);
        }
        // If memory is refused while a backtrace is printed, the standard library waits for itself forever.
        command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
        let mut process = command.spawn()?;
        let (requests, out) = (process.stdin.take(), process.stdout.take());
        let mut out = BufReader::new(out.expect("stdout is a pipe"));
        let (send, replies) = channel();
        std::thread::spawn(move || {
            loop {
                let reply = WorkerReply::read(&mut out);
                let last = reply.is_err();
                if send.send(reply).is_err() || last {
                    break;
                }
            }
        });
        Ok(Self { process, requests, replies, errors, ready: false })
    }

    /// Sends one line of JSON.
    pub(super) fn send(&mut self, message: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let requests = self.requests.as_mut().expect("open until dropped");
        requests.write_all(&line)?;
        requests.flush()
    }

    /// The next reply, within the time limit.
    pub(super) fn reply(&mut self, limits: JobLimits) -> Result<WorkerReply, NoReply> {
        let reply = match limits.timeout {
            Some(timeout) => self.replies.recv_timeout(timeout.0),
            None => self.replies.recv().map_err(RecvTimeoutError::from),
        };
        match (reply, limits.timeout) {
            (Ok(Ok(reply)), _) => Ok(reply),
            (Ok(Err(e)), _) if e.kind() == ErrorKind::OutOfMemory => {
                Err(NoReply::Ended("made more than there is memory for".to_owned()))
            }
            (Err(RecvTimeoutError::Timeout), Some(timeout)) => {
                Err(NoReply::TookLong(format!("took longer than the {timeout} of `--timeout`")))
            }
            _ => Err(self.ended(limits)),
        }
    }

    /// Why the process ended unexpectedly.
    fn ended(&mut self, limits: JobLimits) -> NoReply {
        let status = self.process.wait();
        let errors = self.last_errors();
        NoReply::Ended(match (limits.memory, status) {
            (Some(memory), _) if errors.contains(NO_MEMORY) => {
                format!("needed more memory than the {memory} of `--memory`")
            }
            _ if errors.contains(NO_MEMORY) => "needed more memory than there is".to_owned(),
            (_, Ok(status)) => match (how_ended(status), errors.lines().last()) {
                (how, Some(last)) => format!("{how}: {last}"),
                (how, None) => how,
            },
            (_, Err(e)) => format!("was lost: {}", io_reason(&e)),
        })
    }

    /// The end of its standard error.
    fn last_errors(&mut self) -> String {
        let mut bytes = Vec::new();
        let length = self.errors.metadata().map_or(0, |m| m.len());
        let read = self.errors.seek(SeekFrom::Start(length.saturating_sub(LAST_ERRORS)));
        let _ = read.and_then(|_| (&self.errors).take(LAST_ERRORS).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

fn how_ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            9 => "was killed, as the system does when memory runs out".to_owned(),
            _ => format!("was ended by signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("ended with code {code}"),
        None => "ended".to_owned(),
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
