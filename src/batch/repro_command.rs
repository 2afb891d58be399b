//! The command line that repeats one job of a run, for error messages.

use super::job_limits::JobLimits;
use crate::pipeline::{Job, TakeFile};
use glob::Pattern;
use std::path::{Component, Path, PathBuf};

/// The words of the command line around the takes.
#[derive(Clone, Debug, Default)]
pub struct ReproCommand {
    /// Words before the takes.
    pub before: Vec<String>,
    /// Words after the takes.
    pub after: Vec<String>,
    /// Temporary files, and what stands for them on the command line.
    pub aliases: Vec<(PathBuf, String)>,
}

impl ReproCommand {
    /// The command line, quoted for a shell.
    pub(super) fn line(&self, job: &Job, bounds: JobLimits) -> String {
        let alias = |take: &TakeFile| self.aliases.iter().find(|c| c.0 == take.path).map(|c| c.1.clone());
        let takes = job.takes.iter().map(|take| alias(take).unwrap_or_else(|| pattern(take)));
        let words = self.before.iter().cloned().chain(takes).chain(self.after.iter().cloned());
        let words: Vec<String> = words.map(|word| quoted(&word)).collect();
        format!("posemill {}{bounds}", words.join(" "))
    }
}

/// A pattern that finds only this take, under the same relative name. Outputs keep the sub-folders from the first wildcard
/// on, so that one letter of the first kept folder is written as a wildcard.
fn pattern(take: &TakeFile) -> String {
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

/// The word quoted for a shell, if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::find_takes;

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
