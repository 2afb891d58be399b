//! Standard input and output as `-`, through a temporary folder.

use super::exit::Failure;
use crate::import::MAX_FILE_BYTES;
use crate::pipeline::OutputFormat;
use crate::report::io_reason;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Inputs and output with files in place of `-`.
pub struct Pipe {
    /// Files or globs.
    pub inputs: Vec<String>,
    /// A file, or a folder.
    pub output: String,
    /// Temporary files, with the `-` that they stand for.
    pub aliases: Vec<(PathBuf, String)>,
    /// The file to be printed, if any.
    printed: Option<PathBuf>,
    _folder: Option<TempDir>,
}

impl Pipe {
    /// Reads standard input if an input is `-`; `reports` is whether standard output is for the results of the run.
    pub fn open(
        inputs: &[String],
        output: &str,
        format: Option<OutputFormat>,
        reports: bool,
    ) -> Result<Self, Failure> {
        if output == "-" && reports {
            let message = "`-o -` prints the file, `--json` and `--dry-run` print the results\n  hint: \
                           leave one of them out";
            return Err(Failure::Argument(message.to_owned()));
        }
        let mut pipe = Self {
            inputs: inputs.to_vec(),
            output: output.to_owned(),
            aliases: Vec::new(),
            printed: None,
            _folder: None,
        };
        if output != "-" && !inputs.iter().any(|i| i == "-") {
            return Ok(pipe);
        }
        let folder = temporary_folder()?;
        for input in pipe.inputs.iter_mut().filter(|i| *i == "-") {
            let path = spooled(folder.path())?;
            *input = path.display().to_string();
            pipe.aliases.push((path, "-".to_owned()));
        }
        if output == "-" {
            let Some(format) = format else {
                return Err(Failure::Argument(
                    "the format of standard output is unknown\n  hint: name it: `--format glb`".to_owned(),
                ));
            };
            if std::io::stdout().is_terminal() {
                return Err(Failure::Argument(
                    "a file would be printed on the terminal\n  hint: send it on: `-o - | ...`, or name a file"
                        .to_owned(),
                ));
            }
            let file = folder.path().join(format!("stdout.{}", format.extension()));
            pipe.output = file.display().to_string();
            pipe.aliases.push((file.clone(), "-".to_owned()));
            pipe.printed = Some(file);
        }
        pipe._folder = Some(folder);
        Ok(pipe)
    }

    /// Prints the output, if it was made.
    pub fn print(&self) -> Result<(), Failure> {
        let Some(file) = self.printed.as_ref().filter(|f| f.exists()) else { return Ok(()) };
        let bytes = std::fs::read(file).map_err(|e| Failure::Argument(format!("the output is gone: {e}")))?;
        let mut out = std::io::stdout().lock();
        match out.write_all(&bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::Output(io_reason(&e))),
            _ => Ok(()),
        }
    }
}

/// A temporary folder.
pub fn temporary_folder() -> Result<TempDir, Failure> {
    tempfile::tempdir().map_err(|e| Failure::Argument(format!("a temporary folder cannot be made: {e}")))
}

/// Standard input as a file in `folder`.
pub fn spooled(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join("stdin");
    spool(std::io::stdin().lock(), &path, MAX_FILE_BYTES)?;
    match std::fs::metadata(&path) {
        Ok(found) if found.len() == 0 => Err(Failure::Argument("standard input is empty".to_owned())),
        _ => Ok(path),
    }
}

/// Copies at most `most` bytes to the file at `path`, so that endless input does not fill the disk.
fn spool(from: impl Read, path: &Path, most: u64) -> Result<(), Failure> {
    let copied = std::fs::File::create(path)
        .and_then(|mut file| std::io::copy(&mut from.take(most.saturating_add(1)), &mut file))
        .map_err(|e| Failure::Argument(format!("standard input cannot be read: {e}")))?;
    match copied > most {
        true => Err(Failure::Argument(format!(
            "standard input has more than {most} bytes, at most that many are read (`MAX_FILE_BYTES`)"
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_ends_where_files_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdin");
        assert!(spool([7; 10].as_slice(), &path, 10).is_ok());
        assert_eq!(std::fs::read(&path).unwrap(), [7; 10]);
        let error = spool(std::io::repeat(7), &path, 10).unwrap_err().to_string();
        assert!(error.starts_with("standard input has more than 10 bytes"), "{error}");
    }
}
