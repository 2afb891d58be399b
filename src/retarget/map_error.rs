//! What stands in the way of a joint map becomes sentences, with the lines of a map file that mend it.

use super::gaps::End;
use crate::model::Role;
use crate::report::one_line;
use std::ops::Range;

/// Why no map can be made or taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// Roles without which motion cannot be carried over are missing or too unsure; all of both characters at once.
    #[error(
        "{}\n  hint: `posemill map` writes a file with these lines and the joints to choose from; put the right ones in and pass it with `--map`, or as `map` of the stage `retarget`{}",
        sentence(.0),
        .0.iter().map(|w| format!("\n  {}", w.line)).collect::<String>()
    )]
    Missing(Vec<Wanted>),
    /// One goes on four legs, the other on two.
    #[error(
        "`{quadruped}` goes on four legs and `{biped}` on two\n  hint: pass a map with `--map` that says which joints shall follow which"
    )]
    BodyPlan {
        /// The one on four legs.
        quadruped: String,
        /// The one on two.
        biped: String,
    },
    /// Neither bodies nor names in common.
    #[error(
        "`{source_name}` and `{target_name}` have no body parts and only {shared} of {joints} joint names in common\n  hint: pass a map with `--map` that says which joints shall follow which"
    )]
    NothingShared {
        /// The source character.
        source_name: String,
        /// The target character.
        target_name: String,
        /// Names in common.
        shared: usize,
        /// Joints of the target.
        joints: usize,
    },
    /// The map file cannot be read; every fault of it.
    #[error("{}", listed(.0))]
    File(Vec<FileFault>),
}

/// One fault of a map file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFault {
    /// File and line.
    pub place: String,
    /// Where in the text, in bytes.
    pub span: Range<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A role that has to be told before there is a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Which of the two lacks it.
    pub end: End,
    /// The character.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The guess that was too unsure, as a clause; may be empty.
    pub guess: String,
    /// The exact line to add to a map file.
    pub line: String,
}

impl MapError {
    /// What is wrong, without the hints.
    pub fn sentence(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }
}

/// "the source `a` has no joint that is surely its `hips`, and the target `b` none ..."
fn sentence(wanted: &[Wanted]) -> String {
    let of = |end: End| {
        let of_end: Vec<&Wanted> = wanted.iter().filter(|w| w.end == end).collect();
        let first = of_end.first()?;
        let roles: Vec<String> = of_end.iter().map(|w| format!("`{}`", w.role)).collect();
        let guesses: String = of_end.iter().map(|w| w.guess.as_str()).collect();
        let name = one_line(&first.name);
        Some(format!("the {end} `{name}` has no joint that is surely its {}{guesses}", roles.join(", ")))
    };
    [End::Source, End::Target].into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// The first fault as the sentence, the others below it.
fn listed(faults: &[FileFault]) -> String {
    let said: Vec<String> = faults.iter().map(|f| format!("{}: {}", f.place, f.message)).collect();
    match said.as_slice() {
        [] | [_] => said.concat(),
        [first, more @ ..] => format!("{first}\n  hint: the file has more faults\n  {}", more.join("\n  ")),
    }
}
