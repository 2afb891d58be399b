//! What to write in place of a folder: globs for the files of formats that are read.

use crate::import::FORMATS;
use crate::report::one_line;
use std::collections::BTreeMap;
use std::path::Path;

/// Most entries of a folder that are looked at: the message should not take longer than a listing.
const MOST_ENTRIES: usize = 20_000;

/// Extensions of face takes that reports and tables have too: folders of takes have those beside them.
pub(crate) const OFTEN_OTHER: [&str; 2] = ["csv", "json"];

/// The message for a folder where files are expected; `shown` is its path as the user wrote it.
pub(super) fn folder_given(folder: &Path, shown: &str) -> String {
    let shown = one_line(shown.trim_end_matches(['/', std::path::MAIN_SEPARATOR]));
    let counts = readable_files(folder);
    if counts.is_empty() {
        let suffixes: Vec<String> =
            FORMATS.iter().flat_map(|f| f.suffixes).map(|suffix| format!(".{suffix}")).collect();
        return format!(
            "`{shown}` is a folder, without files of a format that is read\nname files: {}",
            suffixes.join(", ")
        );
    }
    let globs: Vec<String> = counts.keys().map(|suffix| format!("'{shown}/**/*.{suffix}'")).collect();
    let counts: Vec<String> = counts.iter().map(|(suffix, n)| format!("{n} `.{suffix}`")).collect();
    format!("`{shown}` is a folder, with {}\nwrite {}", counts.join(", "), globs.join(" "))
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
            let suffix = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            let known = |suffix: &str| {
                !OFTEN_OTHER.contains(&suffix) && FORMATS.iter().any(|f| f.suffixes.contains(&suffix))
            };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if known(&suffix.to_ascii_lowercase()) => {
                    *counts.entry(suffix.to_owned()).or_insert(0) += 1;
                }
                _ => {}
            }
        }
    }
    counts
}
