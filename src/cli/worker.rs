//! `posemill worker`: the other end of a run that has takes made in processes of their own. Not for people.

use super::exit::{Exit, Failure};
use crate::batch::{job_threads, serve};
use crate::report::io_reason;
use clap::Args;
use std::io::BufRead;
use std::sync::mpsc::sync_channel;

/// Works for a run
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// Threads
    #[arg(long)]
    threads: usize,
    /// What the process may take of memory, bytes
    #[arg(long)]
    memory: Option<u64>,
}

/// Answers the lines of standard input, and ends when it does.
///
/// # Errors
/// A [`Failure`] where memory cannot be bounded, threads not started or answers not be written.
pub fn run(arguments: &WorkerArguments) -> Result<Exit, Failure> {
    if let Some(bytes) = arguments.memory {
        bound_memory(bytes)?;
    }
    // Signals that a terminal sends to all are for the run to answer: it ends this process.
    let _ = ctrlc::set_handler(|| {});
    let (send, lines) = sync_channel(1);
    let listen = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
        // The run is no more, and nobody waits for what is being made.
        std::process::exit(0);
    };
    std::thread::Builder::new()
        .spawn(listen)
        .map_err(|e| Failure::Argument(format!("the threads cannot be started: {}", io_reason(&e))))?;
    let pool = job_threads(arguments.threads)?;
    super::runner::silence_jobs();
    let served = pool.install(move || serve(lines.into_iter(), &mut std::io::stdout()));
    served.map_err(|e| Failure::Argument(format!("the worker cannot go on: {}", io_reason(&e))))?;
    Ok(Exit::Good)
}

/// From here on the process is refused what it asks for beyond `bytes`. What counts is memory that can be written to:
/// heap and stacks, without the program itself and without addresses that are only set aside.
#[cfg(target_os = "linux")]
fn bound_memory(bytes: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Data, limit)
        .map_err(|e| Failure::Argument(format!("memory cannot be bounded: {}", io_reason(&e.into()))))
}

/// Systems on which a run does not take `--memory`.
#[cfg(not(target_os = "linux"))]
fn bound_memory(_: u64) -> Result<(), Failure> {
    Ok(())
}
