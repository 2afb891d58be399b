//! The command-line program: parse, run, exit code.

fn main() -> std::process::ExitCode {
    posemill::cli::start()
}
