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
    /// A path without wildcards that is not there.
    #[error("the file `{0}` does not exist")]
    Missing(String),
    /// Wildcards that match nothing.
    #[error("no file matches `{0}`")]
    NoMatch(String),
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
    for pattern in patterns {
        let literal = folder.join(pattern);
        if literal.is_dir() {
            return Err(TakesError::Folder(pattern.trim_end_matches('/').to_owned()));
        }
        if literal.exists() || !pattern.contains(['*', '?', '[']) {
            let Some(name) = literal.file_name().filter(|_| literal.exists()) else {
                return Err(TakesError::Missing(pattern.clone()));
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
            return Err(TakesError::NoMatch(pattern.clone()));
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
