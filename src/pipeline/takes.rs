//! Paths and globs become the sorted list of takes, each with the name its output will have.

use super::take_list::TakeList;
use super::walk::{Walk, fixed_part};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// One motion file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// Where it is.
    pub path: PathBuf,
    /// Its path below the fixed part of the pattern that found it: outputs keep these sub-folders.
    pub relative: PathBuf,
}

/// What patterns found.
#[derive(Clone, Debug, Default)]
pub struct Takes {
    /// The takes, sorted and each once.
    pub takes: TakeList,
    /// One sentence for each place that a pattern leads to and that could not be looked at.
    pub unseen: Vec<String>,
}

/// Why a pattern gives no takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakesError {
    /// The pattern cannot be parsed.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// The pattern as written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A path without wildcards that is not there, and where it was looked for, as the end of the sentence.
    #[error("the file `{0}` does not exist{1}")]
    Missing(String, String),
    /// Wildcards that match nothing, likewise, and what could not be looked at.
    #[error("no file matches `{0}`{1}{2}")]
    NoMatch(String, String, String),
    /// A folder where files are expected.
    #[error("`{0}` is a folder\nwrite `{0}/**/*.bvh` for every BVH file in it")]
    Folder(String),
    /// A list of takes that cannot be read.
    #[error("the list of takes `{0}` cannot be read: {1}")]
    List(String, String),
    /// A share of the takes that makes no sense.
    #[error("`{0}` is no share of the takes\nwrite `1/4` to `4/4` for four machines")]
    Shard(String),
}

/// The files of `patterns`, relative to `folder`, sorted and each once. Files below `except` are left out of
/// what wildcards match, so that outputs never become inputs.
///
/// # Errors
/// A [`TakesError`] for the first pattern that gives no file.
pub fn find(folder: &Path, patterns: &[String], except: Option<&Path>) -> Result<Takes, TakesError> {
    let (takes, mut errors) = find_all(folder, patterns, except);
    if errors.is_empty() { Ok(takes) } else { Err(errors.swap_remove(0).1) }
}

/// As [`find`], with an error for every pattern that gives no file.
pub(super) fn find_all(
    folder: &Path,
    patterns: &[String],
    except: Option<&Path>,
) -> (Takes, Vec<(String, TakesError)>) {
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
    (Takes { takes: found.sorted(), unseen }, errors)
}

/// Adds the files of one pattern as they are met; a line for each folder that cannot be looked into.
fn of_pattern(
    folder: &Path,
    pattern: &str,
    except: Option<&Path>,
    found: &mut TakeList,
) -> Result<Vec<String>, TakesError> {
    // Paths from the command line are seen from where the user is.
    let seen = |pattern: &str| match Path::new(pattern).is_relative() && !folder.as_os_str().is_empty() {
        true => format!(", seen from `{}`", folder.display()),
        false => String::new(),
    };
    let literal = folder.join(pattern);
    if literal.is_dir() {
        return Err(TakesError::Folder(pattern.trim_end_matches('/').to_owned()));
    }
    if literal.exists() || !pattern.contains(['*', '?', '[']) {
        if literal.file_name().is_none() || !literal.exists() {
            return Err(TakesError::Missing(pattern.to_owned(), seen(pattern)));
        }
        found.push(&literal, 1);
        return Ok(Vec::new());
    }
    let fixed = fixed_part(folder, pattern);
    let bad = |reason: String| TakesError::Pattern { pattern: pattern.to_owned(), reason };
    let except = except.filter(|e| !fixed.starts_with(e));
    let mut walk = Walk::new(&fixed, pattern, except).map_err(|e| bad(e.to_string()))?;
    let before = found.len();
    walk.run(&mut |relative| found.push(&fixed.join(relative), relative.components().count()));
    if found.len() == before {
        let unseen: String = walk.unseen.iter().map(|line| format!("\n{line}")).collect();
        return Err(TakesError::NoMatch(pattern.to_owned(), seen(pattern), unseen));
    }
    Ok(walk.unseen)
}

/// The takes that a list names, a path on each line, seen from the current folder. Below it they keep their folders,
/// other paths only their last name; what is not there is not seen.
pub fn listed(list: &[u8]) -> Takes {
    let mut found = TakeList::default();
    let mut unseen = Vec::new();
    for line in list.split(|&b| b == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else {
            let name = String::from_utf8_lossy(line);
            unseen.push(format!("`{name}` is left out: its name is not UTF-8"));
            continue;
        };
        let line = line.trim_end_matches('\r');
        let path = Path::new(line);
        if line.is_empty() {
            continue;
        }
        let below = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
        let kept = match below {
            true => path.components().filter(|c| *c != Component::CurDir).count(),
            false => 1,
        };
        match std::fs::metadata(path) {
            Ok(there) if there.is_file() => found.push(path, kept),
            Ok(_) => unseen.push(format!("`{line}` is no file")),
            Err(e) => unseen.push(format!("`{line}` cannot be read: {}", crate::report::io_reason(&e))),
        }
    }
    Takes { takes: found.sorted(), unseen }
}

/// One of several shares of the takes. Which take belongs to which is decided by its name alone: shares stay the same
/// when takes come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the share, from 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

impl Shard {
    /// Whether the take belongs to it.
    pub fn holds(self, take: &Take) -> bool {
        let hash = super::seen::key(&[super::manifest::slashed(&take.relative).as_bytes()]);
        hash % u128::from(self.of) == u128::from(self.number - 1)
    }
}

impl std::str::FromStr for Shard {
    type Err = TakesError;

    fn from_str(text: &str) -> Result<Self, TakesError> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(TakesError::Shard(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
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
        let folder = folder(&["t/a.bvh"]);
        let error = |pattern: &str| found(folder.path(), &[pattern], None).unwrap_err().to_string();
        let seen = format!(", seen from `{}`", folder.path().display());
        assert_eq!(error("x/*.bvh"), format!("no file matches `x/*.bvh`{seen}"));
        assert_eq!(error("x.bvh"), format!("the file `x.bvh` does not exist{seen}"));
        assert_eq!(error("/x/*.bvh"), "no file matches `/x/*.bvh`");
        assert_eq!(error("t/"), "`t` is a folder\nwrite `t/**/*.bvh` for every BVH file in it");
        assert!(error("t/***.bvh").starts_with("`t/***.bvh` is not a pattern: "));
    }

    #[test]
    fn every_take_belongs_to_exactly_one_share_whatever_the_others_are() {
        let take = |k: usize| Take { path: PathBuf::new(), relative: format!("day/{k}.bvh").into() };
        let mut sizes = [0; 4];
        for k in 0..400 {
            let holders: Vec<u64> =
                (1..=4).filter(|&number| Shard { number, of: 4 }.holds(&take(k))).collect();
            assert_eq!(holders.len(), 1);
            sizes[holders[0] as usize - 1] += 1;
        }
        assert!(sizes.iter().all(|n| (60..140).contains(n)), "{sizes:?}");
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for text in ["0/4", "5/4", "1", "a/b", "1/0"] {
            assert_eq!(text.parse::<Shard>(), Err(TakesError::Shard(text.to_owned())));
        }
    }

    #[test]
    fn a_list_keeps_folders_below_and_tells_what_is_not_there() {
        let found = listed(b"none.bvh\n\xff.bvh\r\n\n");
        assert!(found.takes.is_empty());
        assert_eq!(
            found.unseen,
            [
                "`none.bvh` cannot be read: no such file or directory",
                "`\u{fffd}.bvh\r` is left out: its name is not UTF-8"
            ]
        );
        let here = listed(b"./src/lib.rs\nsrc/../Cargo.toml\n");
        let names: Vec<_> = here.takes.iter().map(|t| t.relative.to_string_lossy().into_owned()).collect();
        assert_eq!(names, ["src/lib.rs", "Cargo.toml"]);
    }
}
