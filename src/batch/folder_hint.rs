//! What to write in place of a folder: globs for the files of formats that are read.

use crate::import::FORMATS;
use crate::regular_file::tar_archive;
use crate::report::{io_reason, one_line};
use std::collections::BTreeMap;
use std::path::Path;

/// Most entries of a folder that are looked at: the message should not take longer than a listing.
const MOST_ENTRIES: usize = 20_000;

/// Extensions of face takes that reports and tables share: folders of takes contain those.
pub(crate) const OFTEN_OTHER: [&str; 2] = ["csv", "json"];

/// The message for an archive where files are expected, as [`folder_given`].
pub(super) fn archive_given(archive: &Path, shown: &str) -> String {
    let index = match tar_archive::index(archive) {
        Ok(index) => index,
        Err(error) => {
            return format!("the archive `{}` cannot be read: {}", one_line(shown), io_reason(&error));
        }
    };
    let mut counts = BTreeMap::new();
    index.names().filter_map(|name| readable_suffix(Path::new(name))).for_each(|suffix| {
        *counts.entry(suffix).or_insert(0) += 1;
    });
    given("an archive", counts, shown)
}

/// The message for a folder where files are expected; `shown` is its path as the user wrote it.
pub(super) fn folder_given(folder: &Path, shown: &str) -> String {
    given("a folder", readable_files(folder), shown)
}

fn given(what: &str, counts: BTreeMap<String, usize>, shown: &str) -> String {
    let shown = one_line(shown.trim_end_matches(['/', std::path::MAIN_SEPARATOR]));
    if counts.is_empty() {
        let suffixes: Vec<String> =
            FORMATS.iter().flat_map(|f| f.suffixes).map(|suffix| format!(".{suffix}")).collect();
        return format!(
            "`{shown}` is {what}, without files of a format that is read\n  hint: name files: {}",
            suffixes.join(", ")
        );
    }
    let globs: Vec<String> = counts.keys().map(|suffix| format!("'{shown}/**/*.{suffix}'")).collect();
    let counts: Vec<String> = counts.iter().map(|(suffix, n)| format!("{n} `.{suffix}`")).collect();
    format!("`{shown}` is {what}, with {}\n  hint: write {}", counts.join(", "), globs.join(" "))
}

/// The number of files of each extension that is read, as written in their names.
fn readable_files(folder: &Path) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return counts;
            }
            let path = entry.path();
            match (entry.file_type(), readable_suffix(&path)) {
                (Ok(kind), _) if kind.is_dir() => folders.push(path),
                (Ok(_), Some(suffix)) => *counts.entry(suffix).or_insert(0) += 1,
                _ => {}
            }
        }
    }
    counts
}

/// The extension of a file of a format that is read, as written.
fn readable_suffix(path: &Path) -> Option<String> {
    let suffix = path.extension().and_then(|e| e.to_str())?;
    let small = suffix.to_ascii_lowercase();
    let known = |suffix: &str| FORMATS.iter().any(|f| f.suffixes.contains(&suffix));
    (!OFTEN_OTHER.contains(&small.as_str()) && known(&small)).then(|| suffix.to_owned())
}
