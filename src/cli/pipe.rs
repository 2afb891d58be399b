//! `-` stands for standard input and standard output: both go through a folder that is gone afterwards.

use super::exit::Failure;
use crate::pipeline::OutputFormat;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Inputs and output with files in place of `-`.
pub struct Pipe {
    /// Files or globs.
    pub inputs: Vec<String>,
    /// A file, or a folder.
    pub output: String,
    /// The file that is to be printed, where one is.
    printed: Option<PathBuf>,
    _folder: Option<TempDir>,
}

impl Pipe {
    /// Reads standard input where it is asked for.
    ///
    /// # Errors
    /// A [`Failure`] where it cannot be read, or the format of standard output is not told.
    pub fn open(inputs: &[String], output: &str, format: Option<OutputFormat>) -> Result<Self, Failure> {
        let mut pipe =
            Self { inputs: inputs.to_vec(), output: output.to_owned(), printed: None, _folder: None };
        if output != "-" && !inputs.iter().any(|i| i == "-") {
            return Ok(pipe);
        }
        let folder = tempfile::tempdir()
            .map_err(|e| Failure::Argument(format!("there is no place for what passes through: {e}")))?;
        for input in pipe.inputs.iter_mut().filter(|i| *i == "-") {
            *input = spooled(folder.path())?.display().to_string();
        }
        if output == "-" {
            let Some(format) = format else {
                return Err(Failure::Argument(
                    "standard output has no extension to tell its format by\nname it: `--format glb`"
                        .to_owned(),
                ));
            };
            if std::io::stdout().is_terminal() {
                return Err(Failure::Argument(
                    "a file would be printed on the terminal\nsend it on: `-o - | ...`, or name a file"
                        .to_owned(),
                ));
            }
            let file = folder.path().join(format!("stdout.{}", format.extension()));
            pipe.output = file.display().to_string();
            pipe.printed = Some(file);
        }
        pipe._folder = Some(folder);
        Ok(pipe)
    }

    /// Prints what was made, if it was.
    ///
    /// # Errors
    /// A [`Failure`] where standard output does not take it. A reader that has gone away is no error.
    pub fn close(self) -> Result<(), Failure> {
        let Some(file) = self.printed.filter(|f| f.exists()) else { return Ok(()) };
        let bytes =
            std::fs::read(&file).map_err(|e| Failure::Argument(format!("the output is gone: {e}")))?;
        let mut out = std::io::stdout().lock();
        match out.write_all(&bytes).and_then(|()| out.flush()) {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::Argument(format!("standard output cannot be written: {e}")))
            }
            _ => Ok(()),
        }
    }
}

/// Standard input as a file in `folder`.
fn spooled(folder: &Path) -> Result<PathBuf, Failure> {
    let mut bytes = Vec::new();
    let path = folder.join("stdin");
    let read = std::io::stdin().lock().read_to_end(&mut bytes).and_then(|_| std::fs::write(&path, &bytes));
    read.map_err(|e| Failure::Argument(format!("standard input cannot be read: {e}")))?;
    Ok(path)
}
