//! Where an output comes from: its take and its character, so that no run replaces the output of another take or character without
//! being asked to.

use super::manifest::Manifest;
use super::take_patterns::plain;
use crate::pipeline::{FileHash, Pipeline, RunError, TakeFile, hash_of, slashed};
use crate::regular_file::named_folder;
use crate::report::{Shown, one_line};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The files that an output was made from, by their paths relative to the folder of outputs, with `/`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputOrigin {
    /// The take.
    pub take: String,
    /// The character that the take was retargeted onto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub character: Option<FileHash>,
}

impl OutputOrigin {
    /// The origin of an output in `folder`.
    pub(super) fn new(folder: &Path, take: &TakeFile, pipeline: &Pipeline) -> Self {
        let character = pipeline.character_file.as_ref().zip(pipeline.character_hash.clone());
        Self {
            take: seen_from(folder, &take.path),
            character: character.map(|(path, blake3)| FileHash { path: seen_from(folder, path), blake3 }),
        }
    }

    /// The path of the take, for an output in `folder`.
    pub(super) fn take_in(&self, folder: &Path) -> PathBuf {
        plain(&folder.join(&self.take))
    }
}

/// `path` as seen from `folder`; the whole path where they have no root in common.
pub(super) fn seen_from(folder: &Path, path: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| plain(&path));
    let (folder, path) = (whole(named_folder(folder)), whole(path));
    let shared = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return slashed(&path);
    }
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    slashed(&up.chain(path.components().skip(shared)).collect::<PathBuf>())
}

impl Manifest {
    /// The error for an existing output that was made of another take than this one, or for another character. A take or a character
    /// is another one if both its path and its content differ: files may be moved, and may be edited.
    pub(super) fn of_other_origin(
        &self,
        output: &Path,
        take: &TakeFile,
        pipeline: &Pipeline,
    ) -> Option<RunError> {
        let record = self.record(&self.name(output))?;
        if !record.files.first().is_some_and(|file| self.folder.join(&file.path).exists()) {
            return None;
        }
        let now = OutputOrigin::new(&self.folder, take, pipeline);
        let refused = |before: String, now: String| {
            Some(RunError::OtherOrigin { path: output.to_owned(), before, now })
        };
        let first = record.sources.first()?;
        // Records of earlier versions have the name below the pattern alone.
        let moved = match &record.origin {
            Some(origin) => origin.take != now.take,
            None => first.path != slashed(&take.relative),
        };
        if moved && hash_of(&take.path).is_some_and(|found| found.blake3 != first.blake3) {
            let before = record
                .origin
                .as_ref()
                .map_or_else(|| one_line(&first.path), |origin| origin.take_in(&self.folder).shown());
            let of = |take: &str| format!("of the take `{take}`");
            return refused(of(&before), of(&take.path.shown()));
        }
        let before = record.origin?.character;
        let same = match (&before, &now.character) {
            (Some(a), Some(b)) => a.path == b.path || a.blake3 == b.blake3,
            (a, b) => a.is_none() && b.is_none(),
        };
        let words = |character: Option<FileHash>| {
            character.map_or_else(
                || "without a character".to_owned(),
                |file| format!("for the character `{}`", plain(&self.folder.join(file.path)).shown()),
            )
        };
        if same { None } else { refused(words(before), words(now.character)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_the_folder_of_outputs_and_found_again() {
        for (folder, path, seen) in [
            ("out", "takes/a.bvh", "../takes/a.bvh"),
            ("out/", "./takes/x/../a.bvh", "../takes/a.bvh"),
            ("", "takes/a.bvh", "takes/a.bvh"),
            (".", "a.bvh", "a.bvh"),
            ("../out", "../takes/a.bvh", "../takes/a.bvh"),
            ("a/b", "a/c.bvh", "../c.bvh"),
        ] {
            assert_eq!(seen_from(Path::new(folder), Path::new(path)), seen, "{folder} {path}");
            let origin = OutputOrigin { take: seen.to_owned(), character: None };
            assert_eq!(origin.take_in(Path::new(folder)), plain(Path::new(path)), "{folder} {path}");
        }
    }
}
