//! Finds the takes that paths, globs and lists name.

use super::folder_hint::{archive_given, folder_given};
use super::folder_walk::{FolderWalk, fixed_part};
use super::take_list::TakeList;
use crate::regular_file::{is_there, similar_file, tar_archive};
use crate::report::{Shown, io_reason, one_line};
use std::path::{Component, Path, PathBuf};

/// The takes that patterns match.
#[derive(Clone, Debug, Default)]
pub struct FoundTakes {
    /// The takes, sorted, without duplicates.
    pub takes: TakeList,
    /// One sentence for each place that a pattern leads to and that could not be searched.
    pub unseen: Vec<String>,
}

/// Why a pattern matches no takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakesError {
    /// The pattern cannot be parsed.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// The pattern as written.
        pattern: String,
        /// The reason.
        reason: String,
    },
    /// A path without wildcards that does not exist, and the folder that it is relative to, as the end of the sentence, with a hint
    /// if a file beside it has a similar name.
    #[error("the file `{0}` does not exist{1}")]
    Missing(String, String),
    /// Wildcards that match nothing, likewise, and what could not be searched.
    #[error("no file matches `{0}`{1}{2}")]
    NoMatch(String, String, String),
    /// A folder where files are expected: the whole message, with globs for the files in it.
    #[error("{0}")]
    Folder(String),
    /// A list of takes that cannot be read.
    #[error("the list of takes `{0}` cannot be read: {1}")]
    List(String, String),
    /// An invalid share of the takes.
    #[error("`{0}` is no share of the takes\n  hint: write `1/4` to `4/4` for four machines")]
    Shard(String),
}

/// The files of `patterns`, relative to `folder`, sorted, without duplicates. Wildcards do not match files below `except`, so
/// that outputs never become inputs.
///
/// # Errors
/// A [`TakesError`] for the first pattern that matches no file.
pub fn find(folder: &Path, patterns: &[String], except: Option<&Path>) -> Result<FoundTakes, TakesError> {
    let (takes, mut errors) = find_all(folder, patterns, except);
    if errors.is_empty() { Ok(takes) } else { Err(errors.swap_remove(0).1) }
}

/// As [`find`], with an error for every pattern that matches no file.
pub(super) fn find_all(
    folder: &Path,
    patterns: &[String],
    except: Option<&Path>,
) -> (FoundTakes, Vec<(String, TakesError)>) {
    let mut found = TakeList::default();
    let mut unseen = Vec::new();
    let mut errors = Vec::new();
    for pattern in patterns {
        match of_pattern(folder, pattern, except, &mut found) {
            Ok(more) => unseen.extend(more),
            Err(error) => errors.push((pattern.clone(), error)),
        }
    }
    unseen.sort();
    unseen.dedup();
    (FoundTakes { takes: found.sorted(), unseen }, errors)
}

/// Adds the files of one pattern; returns a sentence for each place that could not be searched.
fn of_pattern(
    folder: &Path,
    pattern: &str,
    except: Option<&Path>,
    found: &mut TakeList,
) -> Result<Vec<String>, TakesError> {
    // Paths from the command line are relative to the current folder.
    let seen = |pattern: &str| match Path::new(pattern).is_relative() && !folder.as_os_str().is_empty() {
        true => format!(", seen from `{}`", folder.shown()),
        false => String::new(),
    };
    let literal = folder.join(pattern);
    if literal.is_dir() {
        return Err(TakesError::Folder(folder_given(&literal, pattern)));
    }
    if tar_archive::has_extension(&literal) && literal.is_file() {
        return Err(TakesError::Folder(archive_given(&literal, pattern)));
    }
    let there = is_there(&literal) || literal.exists();
    if there || !pattern.contains(['*', '?', '[']) {
        if literal.file_name().is_none() || !there {
            let near = similar_file(&literal, Path::new(pattern));
            return Err(TakesError::Missing(one_line(pattern), seen(pattern) + &near));
        }
        found.push(&literal, 1);
        return Ok(Vec::new());
    }
    let fixed = fixed_part(folder, pattern);
    let bad = |reason: String| TakesError::Pattern { pattern: pattern.to_owned(), reason };
    let except = except.filter(|e| !fixed.starts_with(e));
    let mut walk = FolderWalk::new(&fixed, pattern, except).map_err(|e| bad(e.to_string()))?;
    let before = found.len();
    walk.run(&mut |relative| found.push(&fixed.join(relative), relative.components().count()));
    if found.len() == before {
        walk.unseen.extend(tar_archive::compressed_hint(&literal));
        let unseen = walk.unseen.join("\n");
        let unseen = if unseen.is_empty() { unseen } else { format!("\n  hint: {unseen}") };
        return Err(TakesError::NoMatch(one_line(pattern), seen(pattern), unseen));
    }
    Ok(walk.unseen)
}

/// The takes of a list with one path on each line, relative to the current folder; files that do not exist are reported as
/// unseen. A path below the fixed part of one of `patterns`, relative to `folder`, is named as this pattern names it; others
/// below the current folder keep their folders, the rest only the last component.
pub fn listed(list: &[u8], folder: &Path, patterns: &[String]) -> FoundTakes {
    let here = std::env::current_dir().unwrap_or_default();
    let roots: Vec<PathBuf> = patterns.iter().map(|p| plain(&here.join(fixed_folder(folder, p)))).collect();
    let mut found = TakeList::default();
    let mut unseen = Vec::new();
    for line in list.split(|&b| b == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else {
            let name = String::from_utf8_lossy(line);
            unseen.push(format!("`{}` is left out: its name is not UTF-8", one_line(&name)));
            continue;
        };
        let line = line.trim_end_matches('\r');
        let path = Path::new(line);
        if line.is_empty() {
            continue;
        }
        let below = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let whole = plain(&here.join(path));
        let named = roots.iter().find_map(|root| whole.strip_prefix(root).ok());
        let named = named.filter(|_| !path.components().any(|c| c == Component::ParentDir));
        let kept = match below {
            _ if named.is_some() => named.map_or(1, |named| named.components().count()),
            true => path.components().filter(|c| *c != Component::CurDir).count(),
            false => 1,
        };
        match std::fs::metadata(path) {
            Ok(there) if there.is_file() => found.push(path, kept),
            Ok(_) => unseen.push(format!("`{}` is not a file", path.shown())),
            Err(_) if is_there(path) => found.push(path, kept),
            Err(e) => unseen.push(format!("`{}` cannot be read: {}", path.shown(), io_reason(&e))),
        }
    }
    FoundTakes { takes: found.sorted(), unseen }
}

/// The folder below which outputs of a pattern keep their folders: its part before the first wildcard, or the folder of a file.
fn fixed_folder(folder: &Path, pattern: &str) -> PathBuf {
    let literal = folder.join(pattern);
    match is_there(&literal) {
        true => literal.parent().unwrap_or(folder).to_owned(),
        false => fixed_part(folder, pattern),
    }
}

/// The path without `.` and without `..` behind a name, as if no component were a link.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match (component, plain.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => _ = plain.pop(),
            (other, _) => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    fn found(folder: &Path, patterns: &[&str], except: Option<&Path>) -> Result<Vec<String>, TakesError> {
        let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
        let takes = find(folder, &patterns, except)?;
        Ok(takes.takes.iter().map(|t| t.relative.to_string_lossy().replace('\\', "/")).collect())
    }

    #[test]
    fn takes_are_sorted_listed_once_and_named_below_the_fixed_part() {
        let folder = folder(&["t/b.bvh", "t/a/z.bvh", "t/a/y.bvh", "t/a/note.txt", "single.bvh"]);
        let patterns = ["t/**/*.bvh", "t/a/*.bvh", "single.bvh"];
        let expected = ["single.bvh", "a/y.bvh", "a/z.bvh", "b.bvh"];
        assert_eq!(found(folder.path(), &patterns, None), Ok(expected.map(String::from).to_vec()));
    }

    #[test]
    fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
        let folder = folder(&["take[1].bvh", "take1.bvh"]);
        assert_eq!(found(folder.path(), &["take[1].bvh"], None), Ok(vec!["take[1].bvh".to_owned()]));
    }

    #[test]
    fn a_folder_whose_name_looks_like_a_pattern_is_that_folder() {
        let folder = folder(&["day [1]/a.bvh"]);
        assert_eq!(found(&folder.path().join("day [1]"), &["*.bvh"], None), Ok(vec!["a.bvh".to_owned()]));
    }

    #[test]
    fn outputs_of_an_earlier_run_are_no_takes() {
        let folder = folder(&["a.glb", "out/a.glb"]);
        let out = folder.path().join("out");
        assert_eq!(found(folder.path(), &["**/*.glb"], Some(&out)), Ok(vec!["a.glb".to_owned()]));
        assert_eq!(found(folder.path(), &["out/*.glb"], Some(&out)), Ok(vec!["a.glb".to_owned()]));
    }

    #[test]
    fn patterns_that_give_nothing_are_named() {
        let folder = folder(&["t/a.bvh", "t/walk.bvh"]);
        let error = |pattern: &str| found(folder.path(), &[pattern], None).unwrap_err().to_string();
        let seen = format!(", seen from `{}`", folder.path().display());
        assert_eq!(error("x/*.bvh"), format!("no file matches `x/*.bvh`{seen}"));
        assert_eq!(error("x.bvh"), format!("the file `x.bvh` does not exist{seen}"));
        assert_eq!(error("t/b.bvh"), format!("the file `t/b.bvh` does not exist{seen}"));
        let hint = "did you mean `t/walk.bvh`?";
        assert_eq!(
            error("t/wlak.bvh"),
            format!("the file `t/wlak.bvh` does not exist{seen}\n  hint: {hint}")
        );
        assert_eq!(error("/x/*.bvh"), "no file matches `/x/*.bvh`");
        assert_eq!(error("t/"), "`t` is a folder, with 2 `.bvh`\n  hint: write 't/**/*.bvh'");
        assert!(error("t/***.bvh").starts_with("`t/***.bvh` is not a pattern: "));
    }

    #[test]
    fn a_list_keeps_folders_below_and_tells_what_is_not_there() {
        let found = listed(b"none.bvh\n\xff.bvh\r\n\n", Path::new(""), &[]);
        assert!(found.takes.is_empty());
        assert_eq!(
            found.unseen,
            [
                "`none.bvh` cannot be read: no such file or directory",
                "`\u{fffd}.bvh\\r` is left out: its name is not UTF-8"
            ]
        );
        let names = |folder: &str, pattern: &str| -> Vec<String> {
            let list = b"./src/lib.rs\nsrc/batch/mod.rs\nsrc/../Cargo.toml\n";
            let here = listed(list, Path::new(folder), &[pattern.to_owned()]);
            here.takes.iter().map(|t| t.relative.to_string_lossy().replace('\\', "/")).collect()
        };
        assert_eq!(names("", "tests/*.rs"), ["src/lib.rs", "Cargo.toml", "src/batch/mod.rs"]);
        // As the pattern names them.
        assert_eq!(names("", "src/**/*.rs"), ["lib.rs", "Cargo.toml", "batch/mod.rs"]);
        assert_eq!(names("docs/..", "src/**/*.rs"), ["lib.rs", "Cargo.toml", "batch/mod.rs"]);
        assert_eq!(names("src", "../src/batch/*.rs"), ["src/lib.rs", "Cargo.toml", "mod.rs"]);
    }
}
