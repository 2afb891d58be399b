//! Finds the files that match a pattern, and reports the folders that cannot be read.
//!
//! The iterator of the crate `glob` cannot take its place: `**` does not follow links there, names that are not UTF-8 are
//! skipped without a word, and no folder can be left out.

use crate::regular_file::{named_folder, tar_archive};
use crate::report::{Shown, one_line};
use glob::{MatchOptions, Pattern, PatternError};
use std::io::{Error, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// `*` does not match `/`, as in a shell.
const MATCH: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The folders of a pattern before its first wildcard.
pub(super) fn fixed_part(folder: &Path, pattern: &str) -> PathBuf {
    let plain = |c: &Component<'_>| !is_wild(c);
    let mut fixed: PathBuf = folder.to_owned();
    fixed.extend(Path::new(pattern).components().take_while(plain));
    fixed
}

fn is_wild(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '['])
}

/// A search of the folders below one.
pub(super) struct FolderWalk<'a> {
    fixed: &'a Path,
    pattern: Pattern,
    /// Most components of a path that can match; unlimited for a pattern with `**`.
    depth: usize,
    /// Whether a folder of the pattern is an archive: `shards/*.tar/*.bvh`. Others are left closed, `**` does not search them.
    archives: bool,
    except: Option<&'a Path>,
    /// One sentence for each place that could not be searched.
    pub(super) unseen: Vec<String>,
}

impl<'a> FolderWalk<'a> {
    /// A search for the files of `pattern` below its fixed part, without those below `except`.
    pub(super) fn new(
        fixed: &'a Path,
        pattern: &str,
        except: Option<&'a Path>,
    ) -> Result<Self, PatternError> {
        let parts: Vec<String> = Path::new(pattern)
            .components()
            .skip_while(|c| !is_wild(c))
            .map(|c| c.as_os_str().to_string_lossy().into_owned())
            .collect();
        let depth = if parts.iter().any(|p| p == "**") { usize::MAX } else { parts.len() };
        let archives = parts.iter().rev().skip(1).any(|part| tar_archive::has_extension(Path::new(part)));
        let pattern = Pattern::new(&lower_suffix(&parts.join("/")))?;
        Ok(Self { fixed, pattern, depth, archives, except, unseen: Vec::new() })
    }

    /// Searches; `found` gets each file that matches, relative to the fixed part, the files of one folder in succession.
    pub(super) fn run(&mut self, found: &mut dyn FnMut(&Path)) {
        if let Some((archive, inside)) = tar_archive::split(self.fixed) {
            self.members(archive, inside, Path::new(""), found);
        }
        // With each folder the real paths of its ancestors from the fixed part on: a link to one of them is a loop.
        let mut stack = vec![(PathBuf::new(), Vec::new())];
        while let Some((relative, mut above)) = stack.pop() {
            let folder = self.fixed.join(&relative);
            let shown = named_folder(&folder);
            let entries = match std::fs::read_dir(shown) {
                Ok(entries) => entries,
                Err(_) if relative.as_os_str().is_empty() && (!shown.exists() || shown.is_file()) => continue,
                Err(e) => {
                    self.unseen(shown, &e);
                    continue;
                }
            };
            if let Ok(real) = shown.canonicalize() {
                if above.contains(&real) {
                    self.unseen.push(format!(
                        "the link `{}` leads back to a folder that it lies in, and is left out",
                        shown.shown()
                    ));
                    continue;
                }
                above.push(real);
            }
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(e) => {
                        self.unseen(&folder, &e);
                        break;
                    }
                };
                let path = relative.join(entry.file_name());
                let whole = self.fixed.join(&path);
                if self.except.is_some_and(|e| whole.starts_with(e)) {
                    continue;
                }
                // A link counts as its target.
                let kind = match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => std::fs::metadata(&whole).map(|m| m.file_type()),
                    kind => kind,
                };
                match kind {
                    Ok(kind) if kind.is_dir() => {
                        let deep = path.components().count() >= self.depth;
                        stack.extend((!deep).then(|| (path, above.clone())));
                    }
                    Ok(kind) if kind.is_file() && self.archives && tar_archive::has_extension(&path) => {
                        self.members(&whole, Path::new(""), &path, found);
                        self.file(&path, found);
                    }
                    Ok(kind) if kind.is_file() => self.file(&path, found),
                    Err(e) if e.kind() != ErrorKind::NotFound => self.unseen(&whole, &e),
                    Err(_) => self.dangling(&path, &whole),
                    Ok(_) => {}
                }
            }
        }
        self.unseen.sort();
    }

    /// The members of `archive` below `inside` that match, as files of the folder `relative`.
    fn members(&mut self, archive: &Path, inside: &Path, relative: &Path, found: &mut dyn FnMut(&Path)) {
        let index = match tar_archive::index(archive) {
            Ok(index) => index,
            Err(error) => return self.unseen(archive, &error),
        };
        for name in index.names() {
            if let Ok(name) = Path::new(name).strip_prefix(inside) {
                self.file(&relative.join(name), found);
            }
        }
        for (name, reason) in index.left_out() {
            let path = relative.join(name.trim_start_matches(['/', '.']));
            if self.matches(&path) {
                self.unseen.push(format!(
                    "`{}` in `{}` is left out: {reason}",
                    one_line(name),
                    archive.shown()
                ));
            }
        }
    }

    /// Reports a link whose target is missing if it would be a take, or a folder of takes: a share that is not mounted. Hidden
    /// links are locks of editors.
    fn dangling(&mut self, path: &Path, whole: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.extension().is_none() && path.components().count() < self.depth;
        if !name.starts_with('.') && (folder || self.matches(path)) {
            self.unseen.push(format!("the link `{}` leads to nothing, and is left out", whole.shown()));
        }
    }

    fn unseen(&mut self, path: &Path, error: &Error) {
        let reason = crate::report::io_reason(error);
        self.unseen.push(format!("`{}` cannot be read: {reason}", path.shown()));
    }

    fn matches(&self, path: &Path) -> bool {
        let name = path.to_string_lossy().replace('\\', "/");
        [&lower_suffix(&name), &name].iter().any(|name| self.pattern.matches_with(name, MATCH))
    }

    fn file(&mut self, path: &Path, found: &mut dyn FnMut(&Path)) {
        if !self.matches(path) {
            return;
        }
        match path.to_str() {
            Some(_) => found(path),
            None => {
                let shown = self.fixed.join(path);
                self.unseen.push(format!("`{}` is left out: its name is not UTF-8", shown.shown()));
            }
        }
    }
}

/// A path or pattern with the suffix of its file in lower case: `*.bvh` finds `TAKE.BVH` too.
fn lower_suffix(path: &str) -> String {
    match path.rfind(['.', '/', '*', '?', '[', ']']) {
        Some(at) if path[at..].starts_with('.') => format!("{}{}", &path[..at], path[at..].to_lowercase()),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(folder: &Path, pattern: &str) -> (Vec<String>, Vec<String>) {
        let mut walk = FolderWalk::new(folder, pattern, None).unwrap();
        let mut found = Vec::new();
        walk.run(&mut |path| found.push(path.to_string_lossy().into_owned()));
        found.sort();
        (found, walk.unseen)
    }

    #[test]
    fn a_suffix_matches_in_either_case_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["A.BVH", "b.bvh", "c.Bvh", "B.bvh.txt", "d.bvh2"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for pattern in ["*.bvh", "*.BVH"] {
            assert_eq!(walked(folder.path(), pattern).0, ["A.BVH", "b.bvh", "c.Bvh"], "{pattern}");
        }
        assert_eq!(walked(folder.path(), "a*.bvh").0, [""; 0]);
        // A suffix with wildcards is matched as it is written, too.
        assert_eq!(walked(folder.path(), "*.B[V]H").0, ["A.BVH"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_loops_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("real/deep")).unwrap();
        std::fs::write(at("real/deep/a.bvh"), "").unwrap();
        std::os::unix::fs::symlink(at("real"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("real"), at("real/deep/back")).unwrap();
        for dangling in ["void", "take.bvh", "note.txt", ".#lock"] {
            std::os::unix::fs::symlink(at("nowhere"), at(dangling)).unwrap();
        }
        std::os::unix::fs::symlink(at("self"), at("self")).unwrap();
        let (found, unseen) = walked(folder.path(), "**/*.bvh");
        assert_eq!(found, ["link/deep/a.bvh", "real/deep/a.bvh"]);
        assert_eq!(unseen.len(), 5, "{unseen:?}");
        assert!(unseen[0].ends_with("self` cannot be read: too many levels of symbolic links"));
        assert!(unseen[1..3].iter().all(|line| line.contains("deep/back` leads back to a folder")));
        let nothing = |line: &String| line.ends_with("` leads to nothing, and is left out");
        assert!(unseen[3..].iter().all(nothing), "{unseen:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_utf_8_is_reported() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.bvh");
        std::fs::write(folder.path().join(name), "").unwrap();
        std::fs::write(folder.path().join("a.bvh"), "").unwrap();
        let (found, unseen) = walked(folder.path(), "*.bvh");
        assert_eq!(found, ["a.bvh"]);
        assert!(unseen[0].ends_with("caf\u{fffd}.bvh` is left out: its name is not UTF-8"), "{unseen:?}");
        assert!(walked(folder.path(), "*.glb").1.is_empty());
    }

    #[test]
    fn a_star_ends_at_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("x/y")).unwrap();
        for file in ["a.bvh", "x/b.bvh", "x/y/c.bvh"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(walked(folder.path(), "*.bvh").0, ["a.bvh"]);
        assert_eq!(walked(folder.path(), "*/*.bvh").0, ["x/b.bvh"]);
        assert_eq!(walked(folder.path(), "**/[bc].bvh").0, ["x/b.bvh", "x/y/c.bvh"]);
    }
}
