//! A take becomes the command line that works on it again, alone.

use super::bounds::Bounds;
use crate::pipeline::{Job, Take};
use glob::Pattern;
use std::path::{Component, Path, PathBuf};

/// What stands around the takes in that line.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// Words before them.
    pub before: Vec<String>,
    /// Words behind them.
    pub behind: Vec<String>,
    /// Files that are called otherwise where the line was written, and how.
    pub called: Vec<(PathBuf, String)>,
}

impl Again {
    /// The line, for a shell.
    pub(super) fn line(&self, job: &Job, bounds: Bounds) -> String {
        let called = |take: &Take| self.called.iter().find(|c| c.0 == take.path).map(|c| c.1.clone());
        let takes = job.takes.iter().map(|take| called(take).unwrap_or_else(|| pattern(take)));
        let words = self.before.iter().cloned().chain(takes).chain(self.behind.iter().cloned());
        let words: Vec<String> = words.map(|word| quoted(&word)).collect();
        format!("posemill {}{bounds}", words.join(" "))
    }
}

/// What finds the take and no other, under the name that it has here: sub-folders that an output keeps begin at the first
/// wildcard, so one letter of theirs is written as one.
fn pattern(take: &Take) -> String {
    let whole = || take.path.to_string_lossy().into_owned();
    let mut parts = take.relative.components();
    let (Some(Component::Normal(first)), true) = (parts.next(), parts.next().is_some()) else {
        return whole();
    };
    let first = first.to_string_lossy();
    let below: usize = take.relative.components().count();
    let above: PathBuf = {
        let all: Vec<_> = take.path.components().collect();
        if !take.path.ends_with(&take.relative) {
            return whole();
        }
        all[..all.len() - below].iter().collect()
    };
    let Some(letter) = first.find(|c: char| c.is_ascii_alphanumeric()) else { return whole() };
    let rest = Path::new(&*first).join(take.relative.components().skip(1).collect::<PathBuf>());
    let rest = rest.to_string_lossy();
    let (head, tail) = rest.split_at(letter);
    let (letter, tail) = tail.split_at(1);
    let rest = format!("{}[{letter}]{}", Pattern::escape(head), Pattern::escape(tail));
    above.join(rest).to_string_lossy().into_owned()
}

/// The word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::find_takes;

    #[test]
    fn a_pattern_finds_its_take_alone_and_under_the_same_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.bvh", "day/a.bvh", "day/[b] it's.bvh", "[x]/!/a.bvh", "dey/a.bvh"] {
            let path = folder.path().join("in").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let all = find_takes(folder.path(), &["in/**/*.bvh".to_owned()], None).unwrap().takes;
        assert_eq!(all.len(), 5);
        for take in all.iter() {
            let found = find_takes(Path::new(""), &[pattern(&take)], None).unwrap().takes;
            assert_eq!(found.iter().collect::<Vec<_>>(), [take]);
        }
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        let all = ["a/b-1.bvh", "[a]b", "it's", "$x", "", "a b"].map(quoted);
        assert_eq!(all, ["a/b-1.bvh", "'[a]b'", r"'it'\''s'", "'$x'", "''", "'a b'"]);
    }
}
