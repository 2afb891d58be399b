//! Paths and globs become the sorted list of takes, each with the name its output will have.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// One motion file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Take {
    /// Where it is.
    pub path: PathBuf,
    /// Its path below the fixed part of the pattern that found it: outputs keep these sub-folders.
    pub relative: PathBuf,
}

/// Why a pattern gives no takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// Wildcards that match nothing, likewise.
    #[error("no file matches `{0}`{1}")]
    NoMatch(String, String),
    /// A folder where files are expected.
    #[error("`{0}` is a folder\nwrite `{0}/**/*.bvh` for every BVH file in it")]
    Folder(String),
}

/// The files of `patterns`, relative to `folder`, sorted and each once. Files below `except` are left out of
/// what wildcards match, so that outputs never become inputs.
///
/// # Errors
/// A [`TakesError`] for the first pattern that gives no file.
pub fn find(folder: &Path, patterns: &[String], except: Option<&Path>) -> Result<Vec<Take>, TakesError> {
    let mut found = BTreeMap::new();
    // Paths from the command line are seen from where the user is.
    let seen = |pattern: &str| match Path::new(pattern).is_relative() && !folder.as_os_str().is_empty() {
        true => format!(", seen from `{}`", folder.display()),
        false => String::new(),
    };
    for pattern in patterns {
        let literal = folder.join(pattern);
        if literal.is_dir() {
            return Err(TakesError::Folder(pattern.trim_end_matches('/').to_owned()));
        }
        if literal.exists() || !pattern.contains(['*', '?', '[']) {
            let Some(name) = literal.file_name().filter(|_| literal.exists()) else {
                return Err(TakesError::Missing(pattern.clone(), seen(pattern)));
            };
            let relative = PathBuf::from(name);
            found.entry(literal).or_insert(relative);
            continue;
        }
        let fixed = fixed_part(folder, pattern);
        let bad = |reason: String| TakesError::Pattern { pattern: pattern.clone(), reason };
        let base = glob::Pattern::escape(&folder.to_string_lossy());
        let absolute = if Path::new(pattern).is_absolute() || base.is_empty() {
            pattern.clone()
        } else {
            format!("{}/{pattern}", base.trim_end_matches('/'))
        };
        let before = found.len();
        let mut matched = false;
        for entry in glob::glob(&absolute).map_err(|e| bad(e.to_string()))? {
            let path = entry.map_err(|e| bad(e.to_string()))?;
            let hidden = except.is_some_and(|e| path.starts_with(e) && !fixed.starts_with(e));
            if path.is_file() && !hidden {
                matched = true;
                let relative = path.strip_prefix(&fixed).unwrap_or(&path).to_owned();
                found.entry(path).or_insert(relative);
            }
        }
        if found.len() == before && !matched {
            return Err(TakesError::NoMatch(pattern.clone(), seen(pattern)));
        }
    }
    Ok(found.into_iter().map(|(path, relative)| Take { path, relative }).collect())
}

/// The folders of a pattern before its first wildcard.
fn fixed_part(folder: &Path, pattern: &str) -> PathBuf {
    let plain = |c: &Component<'_>| !c.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    let mut fixed: PathBuf = folder.to_owned();
    fixed.extend(Path::new(pattern).components().take_while(plain));
    fixed
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
        Ok(takes.into_iter().map(|t| t.relative.to_string_lossy().replace('\\', "/")).collect())
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
}
