//! Errors of joint maps and map files, with the lines of a map file that fix them.

use super::map_gaps::MapEnd;
use crate::model::Role;
use crate::report::one_line;
use std::ops::Range;

/// Why a map cannot be found or read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// Required roles are missing or too unsure; all of both characters at once.
    #[error(
        "{}\n  hint: write a file with these lines and the candidate joints with `posemill map`; put the right ones in and pass it with `--map`, or as `map` of the stage `retarget`{}",
        sentence(.0),
        .0.iter().map(|w| format!("\n  {}", w.line)).collect::<String>()
    )]
    Missing(Vec<WantedRole>),
    /// A file with meshes and nodes, none of which is a joint of a skin or a part of a body.
    #[error(
        "the {end} `{name}` has no skeleton: no mesh of it has a skin, and none of its {nodes} nodes was recognised as a part of a body\n  hint: export the mesh with a skin, bound to a skeleton (for example with automatic weights); if its nodes are a skeleton, assign them with `--map`"
    )]
    NoSkeleton {
        /// The body that has none.
        end: MapEnd,
        /// The character.
        name: String,
        /// Number of nodes of the file.
        nodes: usize,
    },
    /// A take of a face whose morph targets the character has not.
    #[error(
        "`{take}` is a take of a face ({of_take}), and `{target}` has {of_target}\n  hint: pass a character that has morph targets of these names"
    )]
    OnlyFace {
        /// The take.
        take: String,
        /// Its first morph targets.
        of_take: String,
        /// The character.
        target: String,
        /// Its first morph targets.
        of_target: String,
    },
    /// One character goes on four legs, the other on two.
    #[error(
        "`{quadruped}` goes on four legs and `{biped}` on two\n  hint: pass a map with `--map` that pairs the joints"
    )]
    BodyPlan {
        /// The character on four legs.
        quadruped: String,
        /// The character on two legs.
        biped: String,
    },
    /// The characters have neither body parts nor enough names in common.
    #[error(
        "`{source_name}` and `{target_name}` have no body parts and only {shared} of {joints} joint names in common\n  hint: pass a map with `--map` that pairs the joints"
    )]
    NothingShared {
        /// The source character.
        source_name: String,
        /// The target character.
        target_name: String,
        /// Number of names in common.
        shared: usize,
        /// Number of joints of the target.
        joints: usize,
    },
    /// The map file cannot be read; all its errors.
    #[error("{}", listed(.0))]
    File(Vec<FileFault>),
}

/// An error in a map file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFault {
    /// File and line.
    pub place: String,
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The error and what would be right.
    pub message: String,
}

/// A role that must be assigned before a map can be found.
#[derive(Clone, Debug, PartialEq)]
pub struct WantedRole {
    /// The body that lacks it.
    pub end: MapEnd,
    /// The character.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The guess that was too unsure, as a clause; empty without one.
    pub guess: String,
    /// The exact line to add to a map file; its key and a remark if no joint fits.
    pub line: String,
}

impl MapError {
    /// The message without the hints.
    pub fn sentence(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }
}

/// "the source `a` has no joint that is surely its `hips`, and the target `b` none ..."
fn sentence(wanted: &[WantedRole]) -> String {
    let of = |end: MapEnd| {
        let of_end: Vec<&WantedRole> = wanted.iter().filter(|w| w.end == end).collect();
        let first = of_end.first()?;
        let roles: Vec<String> = of_end.iter().map(|w| format!("`{}`", w.role)).collect();
        let guesses: String = of_end.iter().map(|w| w.guess.as_str()).collect();
        let name = one_line(&first.name);
        Some(format!("the {end} `{name}` has no joint that is surely its {}{guesses}", roles.join(", ")))
    };
    [MapEnd::Source, MapEnd::Target].into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// The first error as the message, the others below it.
fn listed(faults: &[FileFault]) -> String {
    let said: Vec<String> = faults.iter().map(|f| format!("{}: {}", f.place, f.message)).collect();
    match said.as_slice() {
        [] | [_] => said.concat(),
        [first, more @ ..] => format!("{first}\n  hint: the file has more faults\n  {}", more.join("\n  ")),
    }
}
