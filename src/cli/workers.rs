//! Takes that may take much are made in processes of their own: whatever ends such a process costs one take.
//!
//! A process makes and nothing else: it sends back what was made, and the run writes it as if it had made it itself. So
//! nothing that a run promises depends on where a take was made. A process that is idle takes the next take; it ends when
//! its standard input does, which is when the run does, however that ends.

use super::again::Again;
use super::bounds::Bounds;
use super::recipe::Recipe;
use super::wire::{Answer, Request};
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{Job, Made, Pipeline, RunError};
use crate::report::io_reason;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};

/// From this much memory on that reading it may take, a take is worked on in a process of its own: eight at once take what a
/// machine of 8 GB has, and with less none of them can be refused memory. It is what a file of 7 MB may take. At half of it
/// every take of some minutes crosses a pipe, for nothing; at double eight takes can end a batch.
const SHARED: u64 = 1_000_000_000;

/// Threads of one process: the last takes of a batch shall use several cores, and each thread has its stack of the memory
/// that the take may have.
const THREADS: usize = 4;

/// The processes that work for a batch.
#[derive(Debug)]
pub struct Workers {
    program: PathBuf,
    recipe: Recipe,
    fingerprint: String,
    bounds: Bounds,
    threads: usize,
    again: Again,
    idle: Mutex<Vec<Worker>>,
}

impl Workers {
    /// Processes of this program, which become those that [`super::serve`] with `posemill worker`, for takes of the
    /// pipeline that `recipe` makes; as many `threads` each as the run has, up to a few.
    ///
    /// # Errors
    /// What the system says where it cannot tell what program this is.
    pub fn new(
        recipe: Recipe,
        pipeline: &Pipeline,
        bounds: Bounds,
        threads: usize,
        again: Again,
    ) -> io::Result<Self> {
        let (program, fingerprint) = (std::env::current_exe()?, pipeline.fingerprint.clone());
        let (threads, idle) = (threads.min(THREADS), Mutex::default());
        Ok(Self { program, recipe, fingerprint, bounds, threads, again, idle })
    }

    /// Whether the job is to be made here.
    pub(super) fn want(&self, job: &Job, pipeline: &Pipeline) -> bool {
        let may_take = |path: &PathBuf| {
            let length = std::fs::metadata(path).map_or(0, |there| there.len());
            // A file that names others says nothing about their size.
            match path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gltf")) {
                true => SHARED,
                false => MemoryBudget::new(length, pipeline.import.memory).left(),
            }
        };
        self.bounds.are_told() || job.takes.iter().map(|take| may_take(&take.path)).sum::<u64>() >= SHARED
    }

    /// Makes everything of one job, as [`crate::pipeline::make`] does.
    ///
    /// # Errors
    /// Those of [`crate::pipeline::make`], and [`RunError::Lost`] where the process ended or had to be ended.
    pub(super) fn make(&self, job: &Job, record: bool) -> Result<Made, RunError> {
        let lost = |reason: String| RunError::Lost { reason, again: self.again.line(job, self.bounds) };
        let used = self.idle().pop();
        if let Some(worker) = used {
            match self.ask(worker, job, record) {
                // What it did before may be to blame: only a new process is a witness.
                Err(Lost::Ended(_)) => {}
                Err(Lost::TookLong(reason)) => return Err(lost(reason)),
                Ok(made) => return made,
            }
        }
        let worker = self.start()?;
        match self.ask(worker, job, record) {
            Err(Lost::Ended(reason) | Lost::TookLong(reason)) => Err(lost(reason)),
            Ok(made) => made,
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process, which reads the pipeline meanwhile.
    fn start(&self) -> Result<Worker, RunError> {
        let started = || -> io::Result<Worker> {
            let words = tempfile::tempfile()?;
            let mut command = Command::new(&self.program);
            command.args(["worker", "--threads", &self.threads.to_string()]);
            if let Some(memory) = self.bounds.memory {
                command.args(["--memory", &memory.bytes.to_string()]);
            }
            // Where memory is refused while a backtrace is printed, the standard library waits for itself.
            command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(words.try_clone()?);
            let mut process = command.spawn()?;
            let (requests, out) = (process.stdin.take(), process.stdout.take());
            let mut out = BufReader::new(out.expect("stdout is a pipe"));
            let (send, answers) = channel();
            std::thread::spawn(move || {
                loop {
                    let answer = Answer::read(&mut out);
                    let last = answer.is_err();
                    if send.send(answer).is_err() || last {
                        break;
                    }
                }
            });
            let mut worker = Worker { process, requests, answers, words, ready: false };
            // One that is gone already is told by its answer.
            let _ = worker.say(&self.recipe);
            Ok(worker)
        };
        started().map_err(|e| RunError::NoWorker(io_reason(&e)))
    }

    /// Has one job done, and keeps the process where it is as good as before.
    fn ask(&self, mut worker: Worker, job: &Job, record: bool) -> Result<Result<Made, RunError>, Lost> {
        if !worker.ready {
            match self.answer(&mut worker)? {
                Answer::Ready(fingerprint) if fingerprint == self.fingerprint => worker.ready = true,
                Answer::Failed(why) => return Ok(Err(RunError::Told(why))),
                _ => return Ok(Err(RunError::Changed)),
            }
        }
        let _ = worker.say(&Request::new(job, record));
        let made = match self.answer(&mut worker)? {
            Answer::Made(made) => Ok(made),
            Answer::Failed(why) => Err(RunError::Told(why)),
            Answer::Ready(_) => Err(RunError::Changed),
        };
        self.idle().push(worker);
        Ok(made)
    }

    /// What it says next, within the time that it may take.
    fn answer(&self, worker: &mut Worker) -> Result<Answer, Lost> {
        let answer = match self.bounds.timeout {
            Some(timeout) => worker.answers.recv_timeout(timeout.0),
            None => worker.answers.recv().map_err(RecvTimeoutError::from),
        };
        match (answer, self.bounds.timeout) {
            (Ok(Ok(answer)), _) => Ok(answer),
            (Ok(Err(e)), _) if e.kind() == ErrorKind::OutOfMemory => {
                Err(Lost::Ended("made more than there is memory for".to_owned()))
            }
            (Err(RecvTimeoutError::Timeout), Some(timeout)) => {
                Err(Lost::TookLong(format!("took longer than the {timeout} of `--timeout`")))
            }
            _ => Err(self.ended(worker)),
        }
    }

    /// Why a process ended that should not have.
    fn ended(&self, worker: &mut Worker) -> Lost {
        let status = worker.process.wait();
        let words = worker.last_words();
        Lost::Ended(match (self.bounds.memory, status) {
            (Some(memory), _) if words.contains(NO_MEMORY) => {
                format!("needed more memory than the {memory} of `--memory`")
            }
            _ if words.contains(NO_MEMORY) => "needed more memory than there is".to_owned(),
            (_, Ok(status)) => match (how(status), words.lines().last()) {
                (how, Some(last)) => format!("{how}: {last}"),
                (how, None) => how,
            },
            (_, Err(e)) => format!("was lost: {}", io_reason(&e)),
        })
    }
}

/// What the standard library says where memory is refused, and then ends the process.
const NO_MEMORY: &str = "memory allocation of ";

/// How a process ended.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal {
            9 => "was killed, as the system does where memory runs out".to_owned(),
            _ => format!("was ended by signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("ended with code {code}"),
        None => "ended".to_owned(),
    }
}

/// Why there is no answer.
enum Lost {
    /// The process is no more.
    Ended(String),
    /// It was at it for too long.
    TookLong(String),
}

/// A process that works on one job at a time; dropped, it is ended.
#[derive(Debug)]
struct Worker {
    process: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<io::Result<Answer>>,
    /// What it writes to its standard error.
    words: File,
    /// Whether it said so.
    ready: bool,
}

impl Worker {
    fn say(&mut self, what: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        let requests = self.requests.as_mut().expect("open until dropped");
        requests.write_all(&line)?;
        requests.flush()
    }

    /// The end of what it said on its standard error.
    fn last_words(&mut self) -> String {
        let mut bytes = Vec::new();
        let length = self.words.metadata().map_or(0, |m| m.len());
        let read = self.words.seek(SeekFrom::Start(length.saturating_sub(2000)));
        let _ = read.and_then(|_| (&self.words).take(2000).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
