//! `posemill doctor`: explains what files and folders hold, what is missing or doubtful, and which command to run next.

use super::clip_options::is_robot;
use super::console::Console;
use super::diagnosis::{Diagnosis, FileKind};
use super::exit::{Exit, Failure};
use super::next_command::advise;
use crate::batch::find_takes;
use crate::import::FORMATS;
use crate::regular_file::{is_there, named_folder};
use crate::report::{Shown, counted, io_reason, one_line, printable};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

/// Explain files and folders: what each is, what is missing or doubtful, the command to run next
///
/// Of a folder, at most 12 files of each extension are read in each of its sub-folders; hidden ones are left out. Nothing is
/// written. The exit code is 1 if a file has an error, 2 if no file exists.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill doctor\n  \
    posemill doctor takes/ hero.glb\n  \
    posemill doctor take.fbx --json")]
pub struct DoctorArguments {
    /// Files, folders or globs
    #[arg(value_name = "FILE|FOLDER", default_value = ".")]
    files: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Most files of one extension that are read in one folder: more of one kind rarely differ, and more lines push the first off the
/// screen.
const MOST_READ: usize = 12;

/// A file to be read.
#[derive(Debug)]
struct FoundFile {
    path: PathBuf,
    /// Whether it was named, and not found in a folder.
    named: bool,
}

const SCHEMA: &str = "posemill.doctor/1";

/// What files and folders hold, what is missing or doubtful, and which command to run next.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument<'a> {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The files that were read.
    files: &'a [Diagnosis],
    /// The files of folders that were not read, since many of their kind were.
    not_read: Vec<NotRead<'a>>,
    /// The command to run next with these files together; null if there is none.
    next: Option<String>,
}

/// Files of a folder with one extension that were not read.
#[derive(Debug, Serialize, JsonSchema)]
struct NotRead<'a> {
    /// The folder.
    folder: String,
    /// The extension, lower case, without a dot.
    extension: &'a str,
    /// Number of files.
    files: usize,
}

/// What was found.
#[derive(Debug, Default)]
struct Examination {
    all: Vec<Diagnosis>,
    /// Number of files in folders, by folder and extension; at most [`MOST_READ`] of them are read.
    seen: BTreeMap<(PathBuf, String), usize>,
}

/// Explains the files.
///
/// # Errors
/// None: a file with an error does not hide the others.
pub fn run(arguments: &DoctorArguments, console: &Console) -> Result<Exit, Failure> {
    let mut examined = Examination::default();
    let files = examined.files(&arguments.files, console);
    examined.read(&files);
    let Examination { all, seen } = &mut examined;
    let next = advise(all, &|path| seen.get(&group(path)).is_some_and(|files| *files > MOST_READ));
    if arguments.json {
        console.json(&examined.document(next));
    } else {
        console.data(&examined.page(next));
    }
    let failed = examined.all.iter().any(|found| found.error.is_some());
    let exists = |found: &Diagnosis| found.error.is_none() || found.path.exists() || is_there(&found.path);
    Ok(match (failed, examined.all.iter().any(exists)) {
        (false, _) => Exit::Good,
        (true, true) => Exit::SomeFailed,
        (true, false) => Exit::NoStart,
    })
}

/// The folder and the extension of a file.
fn group(path: &Path) -> (PathBuf, String) {
    let suffix = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    (path.parent().unwrap_or(Path::new("")).to_owned(), suffix)
}

impl Examination {
    /// The files to be read; what cannot be found becomes a diagnosis.
    fn files(&mut self, named: &[String], console: &Console) -> Vec<FoundFile> {
        let mut files = Vec::new();
        for name in named {
            let folder = Path::new(name).is_dir();
            let found = match (folder, name.as_str()) {
                (true, ".") => find_takes(Path::new(""), &["**/*".to_owned()], None),
                (true, _) => find_takes(Path::new(name), &["**/*".to_owned()], None),
                (false, _) => find_takes(Path::new(""), std::slice::from_ref(name), None),
            };
            match found {
                Ok(found) => {
                    found.unseen.iter().for_each(|line| console.warning(line));
                    for take in found.takes.iter() {
                        let hidden = folder && is_hidden(&take.relative);
                        if !hidden && (!folder || self.has_room(&take.path)) {
                            files.push(FoundFile { path: take.path, named: !folder });
                        }
                    }
                }
                Err(_) if folder => match std::fs::read_dir(name) {
                    Ok(_) => console.warning(format!("the folder `{}` has no files", one_line(name))),
                    Err(e) => {
                        let message = format!("the folder cannot be read: {}", io_reason(&e));
                        self.all.push(Diagnosis::unreadable(Path::new(name), message));
                    }
                },
                Err(error) => self.all.push(Diagnosis::unreadable(Path::new(name), error.to_string())),
            }
        }
        files
    }

    /// Counts a file of a folder. Whether it is to be read.
    fn has_room(&mut self, path: &Path) -> bool {
        let seen = self.seen.entry(group(path)).or_default();
        *seen += 1;
        *seen <= MOST_READ
    }

    /// The numbers of files that are not read, by folder and extension.
    fn more(&self) -> impl Iterator<Item = (&(PathBuf, String), usize)> {
        let more = self.seen.iter().map(|(group, files)| (group, files.saturating_sub(MOST_READ)));
        more.filter(|(_, files)| *files > 0)
    }

    /// Reads the files: robots first, since arrays may be their motions.
    fn read(&mut self, files: &[FoundFile]) {
        let mut robots: Vec<PathBuf> = Vec::new();
        let mut read: BTreeMap<usize, Diagnosis> = BTreeMap::new();
        for first in [true, false] {
            let wanted = files.iter().enumerate().filter(|(_, file)| is_robot(&file.path) == first);
            for (k, FoundFile { path, named }) in wanted {
                let found = Diagnosis::of(path, *named, &robots);
                robots.extend((found.kind == FileKind::Robot).then(|| path.clone()));
                read.insert(k, found);
            }
        }
        self.all.extend(read.into_values());
    }

    /// The document of `--json`.
    fn document(&self, next: Option<String>) -> DoctorDocument<'_> {
        let more = self.more().map(|((folder, suffix), files)| NotRead {
            folder: folder.display().to_string(),
            extension: suffix,
            files,
        });
        DoctorDocument { schema: SCHEMA, files: &self.all, not_read: more.collect(), next }
    }

    /// The text for people.
    fn page(&self, next: Option<String>) -> String {
        let mut text = String::new();
        // What is not known, by the reason and the extension: the first file and their number. Extensions of no format are one.
        let mut unknown: BTreeMap<(&str, String), (&str, usize)> = BTreeMap::new();
        let mut other: BTreeMap<String, usize> = BTreeMap::new();
        let mut more: BTreeMap<&(PathBuf, String), usize> = self.more().collect();
        for found in &self.all {
            if found.kind == FileKind::Unknown && found.error.is_none() {
                let group = group(&found.path);
                let count = 1 + more.remove(&group).unwrap_or(0);
                if FORMATS.iter().any(|format| format.suffixes.contains(&group.1.as_str())) {
                    unknown.entry((&found.about, group.1)).or_insert((&found.file, 0)).1 += count;
                } else {
                    *other.entry(group.1).or_default() += count;
                }
            } else {
                text += &lines(found);
            }
        }
        for ((about, suffix), (first, files)) in unknown {
            let named = match files {
                1 => one_line(first),
                _ => counted(files, &format!("{}file", written(&suffix))),
            };
            let _ = writeln!(text, "{named}: {about}");
        }
        if !other.is_empty() {
            let files = counted(other.values().sum(), "other file");
            let suffixes: Vec<String> = other.keys().filter(|s| !s.is_empty()).map(|s| one_line(s)).collect();
            let of = if suffixes.is_empty() { String::new() } else { format!(" ({})", suffixes.join(", ")) };
            let _ = writeln!(text, "{files}{of}");
        }
        for ((folder, suffix), files) in more {
            let files = counted(files, &format!("more {}file", written(suffix)));
            let _ = writeln!(text, "{files} in `{}`, not read", named_folder(folder).shown());
        }
        match next {
            Some(next) if self.all.len() > 1 => text + "\nnext: " + &one_line(&next) + "\n",
            _ => text,
        }
    }
}

/// An extension before the word "file".
fn written(suffix: &str) -> String {
    if suffix.is_empty() { String::new() } else { format!("`.{}` ", one_line(suffix)) }
}

/// Whether a part of the path begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => name.to_string_lossy().starts_with('.'),
        _ => false,
    })
}

/// The lines about one file.
fn lines(found: &Diagnosis) -> String {
    let format = found.format.map_or(String::new(), |format| format!(", {format}"));
    let mut text = format!("{}: {}{format}", one_line(&found.file), found.kind.words());
    if !found.about.is_empty() {
        let _ = write!(text, ": {}", printable(&found.about));
    }
    text += "\n";
    let all = found.missing.iter().map(|said| ("missing", said));
    let all = all.chain(found.doubtful.iter().map(|said| ("doubtful", said)));
    let all = all.chain(found.error.iter().map(|said| ("error", said)));
    for (label, said) in all.chain(found.next.iter().map(|said| ("next", said))) {
        let said = printable(said).trim_end().replace('\n', "\n    ");
        let _ = writeln!(text, "  {label}: {said}");
    }
    text
}
