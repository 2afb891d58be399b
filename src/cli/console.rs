//! Output of the program: data to stdout, messages and progress to stderr.

use crate::report::{Warning, Warnings, io_reason, json_text, one_line, printable};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// When to colour messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What is printed, and how.
#[derive(Debug)]
pub struct Console {
    /// Errors only.
    pub quiet: bool,
    /// Everything.
    pub verbose: bool,
    /// Whether messages are coloured.
    pub colors: bool,
    /// Whether writing data to stdout has failed.
    lost: AtomicBool,
}

impl Console {
    /// A console with these settings.
    pub fn new(quiet: bool, verbose: bool, color: Color) -> Self {
        let colors = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        };
        Self { quiet, verbose, colors, lost: AtomicBool::new(false) }
    }

    /// Prints data on stdout. A closed pipe is not an error; other errors are reported once and set [`Console::lost`].
    pub fn data(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != ErrorKind::BrokenPipe && !self.lost.swap(true, Ordering::Relaxed) => {
                self.error(format!("standard output cannot be written: {}", io_reason(&e)));
            }
            _ => {}
        }
    }

    /// Whether some data could not be written to stdout.
    pub fn lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Prints a JSON document on stdout.
    pub fn json(&self, document: &impl serde::Serialize) {
        self.data(&(json_text(document) + "\n"));
    }

    /// Prints an error; lines after the first are hints.
    pub fn error(&self, message: impl Display) {
        self.labelled("error", "31", message);
    }

    /// Prints a warning.
    pub fn warning(&self, message: impl Display) {
        if !self.quiet {
            self.labelled("warning", "33", message);
        }
    }

    /// Prints the warnings of reading `file`, or of several files if it is empty; those that are almost certainly right in verbose
    /// output only.
    pub fn warnings_of(&self, file: &str, warnings: &Warnings) {
        for Warning { message, first, count, .. } in warnings.iter().filter(|w| !w.sure || self.verbose) {
            let of = if file.is_empty() { String::new() } else { format!("{file}: ") };
            self.warning(format!("{of}{message}{}", place_and_times(first, *count as u64)));
        }
    }

    /// Prints a note.
    pub fn note(&self, message: impl Display) {
        if !self.quiet {
            self.line(&printable(&message.to_string()));
        }
    }

    /// Prints an error that is rendered already, such as the faults of a pipeline file.
    pub fn rendered_error(&self, text: &str) {
        self.line(text);
    }

    /// A progress bar on standard error, where that is a terminal.
    pub fn progress(&self, length: usize, template: &str) -> ProgressBar {
        let shown = !self.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(template).expect("templates are constants");
        ProgressBar::with_draw_target(Some(length as u64), target).with_style(style)
    }

    fn labelled(&self, label: &str, color: &str, message: impl Display) {
        let message = printable(&message.to_string());
        let mut lines = message.lines().map(shortened);
        let first = lines.next().unwrap_or_default();
        let label = if self.colors { format!("\x1b[1;{color}m{label}\x1b[0m") } else { label.to_owned() };
        let mut text = format!("{label}: {first}");
        // Other lines belong to the one before, such as a line to be copied into a file.
        for line in lines {
            let line = line.trim_start();
            let indent = if line.starts_with("hint: ") { "  " } else { "    " };
            text += &format!("\n{indent}{line}");
        }
        self.line(&text);
    }

    fn line(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// Most characters of a line: a page of a terminal. Only names that nobody chose make longer ones; JSON has them whole.
const LONGEST: usize = 4000;

/// A line of a message, without its middle if it is longer than a page.
fn shortened(line: &str) -> Cow<'_, str> {
    let length = line.chars().count();
    if length <= LONGEST {
        return line.into();
    }
    let at = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
    let (head, tail) = (&line[..at(LONGEST / 2)], &line[at(length - LONGEST / 2)..]);
    format!("{head} ... ({} characters left out) ... {tail}", length - LONGEST / 2 * 2).into()
}

/// Where a warning was met first, if somewhere, and how often: the end of its line.
pub fn place_and_times(first: &str, count: u64) -> String {
    let place = if first.is_empty() { String::new() } else { format!(" ({})", one_line(first)) };
    if count > 1 { format!("{place}, {count} times") } else { place }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_beyond_a_page_lose_their_middle() {
        let page = "ä".repeat(LONGEST);
        assert_eq!(shortened(&page), page);
        let long = format!("begin{page}end");
        let short = shortened(&long);
        assert!(
            short.starts_with("begin") && short.ends_with("end") && short.contains("(8 characters left out)")
        );
    }
}
