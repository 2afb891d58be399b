//! Writes a joint map as an editable file: what is missing first, with lines that fix it as comments, then the pairs, then the
//! unmapped joints.

use super::gaps::{End, Gap, line};
use super::joint_map::{Draft, JointMap, Pair};
use super::map_error::MapError;
use crate::model::{Assignment, Character, JointId};
use crate::report::one_line;
use std::fmt::Write as _;

/// A TOML string on one line for any text.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if one_line(c.encode_utf8(&mut [0; 4])).starts_with('\\') => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn name(character: &Character, id: JointId) -> String {
    quoted(&character.skeleton().joint(id).name)
}

impl Draft {
    /// The draft as an editable file. If it cannot be used yet, its pairs are comments.
    pub fn to_toml(&self, source: &Character, target: &Character) -> String {
        let mut out = opening(source, target);
        if let Some(refused) = &self.refused {
            let _ = writeln!(out, "#\n# It cannot be used yet: {}.", refused.sentence());
        }
        let (roles, pairs): (Vec<&Gap>, Vec<&Gap>) =
            self.gaps.iter().partition(|g| g.mend.as_ref().is_none_or(|m| !m.starts_with("[[")));
        if !roles.is_empty() {
            out += "\n# What is missing or a guess. Take away the # of a line that is right, or put another joint in.\n";
        }
        for gap in roles {
            out += &told(gap, source, target);
        }
        if matches!(self.refused, Some(MapError::Missing(_))) {
            // A file with pairs drives nothing else; without pairs the map is found again from the assigned roles.
            out += "\n# All pairs are found once these lines are there.\n";
        } else {
            let mark = if self.refused.is_some() { "# " } else { "" };
            for pair in &self.map.pairs {
                out += &block(pair, source, target, mark);
            }
        }
        for gap in pairs {
            out += &told(gap, source, target);
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
            (source, &self.source_only, "source joints that drive nothing"),
            (target, &self.target_only, "target joints that rest"),
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
         # Change, remove or add pairs; read it back with --map. A target joint without a pair rests.\n",
        quoted(&source.name),
        quoted(&target.name)
    )
}

/// A gap: its message and its lines as comments, best first.
fn told(gap: &Gap, source: &Character, target: &Character) -> String {
    let mut out = format!("\n# {}\n", one_line(&gap.message));
    for written in gap.mend.iter().flat_map(|m| m.lines()) {
        let _ = writeln!(out, "# {written}");
    }
    let character = if gap.end == End::Source { source } else { target };
    for &id in &gap.candidates {
        let other = line(gap.end, gap.role, &character.skeleton().joint(id).name);
        if gap.mend.iter().flat_map(|m| m.lines()).all(|l| l != other) {
            let _ = writeln!(out, "# {other}");
        }
    }
    out
}

fn block(pair: &Pair, source: &Character, target: &Character, mark: &str) -> String {
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
    let unsure = if pair.confidence < Assignment::SURE { "    # only a guess" } else { "" };
    write(format!("confidence = {:.2}{unsure}", pair.confidence));
    write(format!("reason = {}", quoted(&pair.reason)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_on_its_line_and_reads_back() {
        for text in ["plain", "a\nb", "\"\\", "\u{1b}[2J", "\u{202e}左", "tab\tx", "\u{7f}\u{85}"] {
            let quoted = quoted(text);
            assert_eq!(one_line(&quoted), quoted);
            let read: toml::Table = toml::from_str(&format!("x = {quoted}")).unwrap();
            assert_eq!(read["x"].as_str(), Some(text));
        }
    }
}
