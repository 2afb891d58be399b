//! The command-line program: parse, run, exit code.

fn main() {}
