//! `posemill worker`: a worker process of a batch. Not for direct use.

use super::exit::{Exit, Failure};
use crate::batch::{job_threads, serve};
use crate::report::io_reason;
use clap::Args;
use std::io::BufRead;
use std::sync::mpsc::sync_channel;

/// Run as a worker process of a batch
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// Number of threads
    #[arg(long)]
    threads: usize,
    /// Memory limit of the process, bytes
    #[arg(long)]
    memory: Option<u64>,
}

/// Replies to the lines of standard input, and ends with it.
pub fn run(arguments: &WorkerArguments) -> Result<Exit, Failure> {
    if let Some(bytes) = arguments.memory {
        limit_memory(bytes)?;
    }
    // A terminal sends signals to all processes: the run handles them, and ends this process.
    let _ = ctrlc::set_handler(|| {});
    let (send, lines) = sync_channel(1);
    let listen = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
        // The run has ended, and nobody needs the result.
        std::process::exit(0);
    };
    std::thread::Builder::new()
        .spawn(listen)
        .map_err(|e| Failure::Argument(format!("the threads cannot be started: {}", io_reason(&e))))?;
    let pool = job_threads(arguments.threads)?;
    super::runner::silence_jobs();
    let served = pool.install(move || serve(lines.into_iter(), &mut std::io::stdout()));
    served.map_err(|e| Failure::Argument(format!("the worker process failed: {}", io_reason(&e))))?;
    Ok(Exit::Good)
}

/// Limits the memory of this process to `bytes` (`RLIMIT_DATA`): writable memory counts, heap and stacks, but not the program
/// itself and reserved address space.
#[cfg(target_os = "linux")]
fn limit_memory(bytes: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Data, limit)
        .map_err(|e| Failure::Argument(format!("memory cannot be limited: {}", io_reason(&e.into()))))
}

/// Systems on which a run refuses `--memory`.
#[cfg(not(target_os = "linux"))]
fn limit_memory(_: u64) -> Result<(), Failure> {
    Ok(())
}
