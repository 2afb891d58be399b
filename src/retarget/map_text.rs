//! Writes a joint map as an editable file: what is missing first, with lines that fix it as comments, then the pairs, then the
//! unmapped joints.

use super::find_map::MapDraft;
use super::joint_map::{JointMap, JointPair};
use super::map_error::MapError;
use super::map_gaps::{Gap, MapEnd, line};
use super::toml_string::quoted;
use crate::model::{Assignment, Character, JointId};
use crate::report::one_line;
use std::fmt::Write as _;

fn name(character: &Character, id: JointId) -> String {
    quoted(&character.skeleton().joint(id).name)
}

impl MapDraft {
    /// The draft as an editable file. If it cannot be used yet, its pairs are comments.
    pub fn to_toml(&self, source: &Character, target: &Character) -> String {
        let mut out = opening(source, target);
        if let Some(refused) = &self.refused {
            let _ = writeln!(out, "#\n# It cannot be used yet: {}.", refused.sentence());
        }
        let (roles, pairs): (Vec<&Gap>, Vec<&Gap>) =
            self.gaps.iter().partition(|g| g.fix.as_ref().is_none_or(|m| !m.starts_with("[[")));
        if !roles.is_empty() {
            out += "\n# Missing and doubtful roles. Remove the # of a line that is correct, or put in another joint: it replaces the joint of \
                the pair with this role below.\n";
        }
        for gap in roles {
            out += &gap_text(gap, source, target);
        }
        if matches!(self.refused, Some(MapError::Missing(_))) {
            // A file with pairs drives nothing else; without pairs the map is found again from the assigned roles.
            out += "\n# All pairs are found once these roles are assigned.\n";
        } else {
            let mark = if self.refused.is_some() { "# " } else { "" };
            for pair in &self.map.pairs {
                out += &block(pair, source, target, mark);
            }
        }
        for gap in pairs {
            out += &gap_text(gap, source, target);
        }
        out + &self.map.left_out(source, target)
    }
}

impl JointMap {
    /// The map as an editable file: every pair with its confidence and reason, and unmapped joints as comments.
    pub fn to_toml(&self, source: &Character, target: &Character) -> String {
        let pairs: String = self.pairs.iter().map(|p| block(p, source, target, "")).collect();
        opening(source, target) + &pairs + &self.left_out(source, target)
    }

    fn left_out(&self, source: &Character, target: &Character) -> String {
        let mut out = String::new();
        for (character, rest, what) in [
            (source, &self.source_only, "unmapped source joints"),
            (target, &self.target_only, "unmapped target joints (rest rotation)"),
        ] {
            if rest.is_empty() {
                continue;
            }
            let _ = write!(out, "\n# {what}:\n");
            for unmapped in rest {
                let role = unmapped.role.map_or_else(|| "no role".to_owned(), |r| r.to_string());
                let _ = writeln!(out, "#   {} ({role})", name(character, unmapped.joint));
            }
        }
        out
    }
}

fn opening(source: &Character, target: &Character) -> String {
    format!(
        "# Joint map from {} to {}.\n\
         # Change, remove or add pairs; read it back with --map. A target joint without a pair keeps its rest rotation and follows its parent.\n",
        quoted(&source.name),
        quoted(&target.name)
    )
}

/// A gap: its message and its lines as comments, best first.
fn gap_text(gap: &Gap, source: &Character, target: &Character) -> String {
    let mut out = format!("\n# {}\n", one_line(&gap.message));
    for written in gap.fix.iter().flat_map(|m| m.lines()) {
        let _ = writeln!(out, "# {written}");
    }
    let character = if gap.end == MapEnd::Source { source } else { target };
    for id in gap.guess.iter().map(|a| a.joint).chain(gap.candidates.iter().copied()) {
        let other = line(gap.end, gap.role, &character.skeleton().joint(id).name);
        if gap.fix.iter().flat_map(|m| m.lines()).all(|l| l != other) {
            let _ = writeln!(out, "# {other}");
        }
    }
    out
}

fn block(pair: &JointPair, source: &Character, target: &Character, mark: &str) -> String {
    let mut out = format!("\n{mark}[[pair]]\n");
    let mut write = |text: String| out += &format!("{mark}{text}\n");
    if let Some(role) = pair.role {
        write(format!("role = \"{role}\""));
    }
    write(format!("source = {}", name(source, pair.source)));
    if let Some((joint, share)) = pair.blend {
        write(format!("blend = {}", name(source, joint)));
        write(format!("blend_share = {share:?}"));
    }
    write(format!("target = {}", name(target, pair.target)));
    let unsure = match pair.confidence {
        c if c < Assignment::SURE => "    # only a guess",
        c if c < Assignment::DOUBTFUL => "    # doubtful",
        _ => "",
    };
    write(format!("confidence = {:.2}{unsure}", pair.confidence));
    write(format!("reason = {}", quoted(&pair.reason)));
    out
}
