//! The joint map as a file: what `posemill map` writes, people edit, and `--map` reads back.
//!
//! ```toml
//! source_roles.left_upper_leg = "LeftHip"     # only where a role had to be told
//!
//! [[pair]]
//! role = "left_upper_arm"
//! source = "LeftArm"
//! target = "UpperArm.L"
//!
//! [limits.left_lower_arm]                     # the target's range of motion, in degrees, where it is not people's
//! flexion = 120
//! ```

use super::joint_map::{JointMap, MapError, Pair, map};
use crate::anatomy::ToldMobility;
use crate::model::{Assignment, Character, JointId, Rig, Role, Skeleton};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toml::Spanned;

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MapFile {
    #[serde(default)]
    source_roles: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    target_roles: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    limits: BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<f64>>>,
    #[serde(default)]
    pair: Option<Vec<PairEntry>>,
}

/// One `[[pair]]` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairEntry {
    role: Option<Spanned<String>>,
    source: Spanned<String>,
    target: Spanned<String>,
    blend: Option<Spanned<String>>,
    blend_share: Option<Spanned<f64>>,
    #[serde(default)]
    #[allow(dead_code, reason = "written for people, ignored on reading")]
    confidence: Option<f64>,
    #[serde(default)]
    #[allow(dead_code, reason = "written for people, ignored on reading")]
    reason: Option<String>,
}

impl JointMap {
    /// The map as an editable file: every pair with its confidence and reason, and what stays out as comments.
    pub fn to_toml(&self, source: &Character, target: &Character) -> String {
        let quote = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let name = |character: &Character, id: JointId| quote(&character.skeleton().joint(id).name);
        let mut out = String::new();
        let mut line = |text: String| out.push_str(&(text + "\n"));
        line(format!("# Joint map from {} to {}.", quote(&source.name), quote(&target.name)));
        line(
            "# Change, remove or add pairs; read it back with --map. A target joint without a pair rests."
                .into(),
        );
        for pair in &self.pairs {
            line("\n[[pair]]".into());
            if let Some(role) = pair.role {
                line(format!("role = \"{role}\""));
            }
            line(format!("source = {}", name(source, pair.source)));
            if let Some((joint, share)) = pair.blend {
                line(format!("blend = {}", name(source, joint)));
                line(format!("blend_share = {share:?}"));
            }
            line(format!("target = {}", name(target, pair.target)));
            line(format!("confidence = {:.2}", pair.confidence));
            line(format!("reason = {}", quote(&pair.reason)));
        }
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

    /// Reads a map file. Roles told in it replace those that were found, limits those that were told before; without
    /// any `[[pair]]` the map is then found as usual, with them only what the pairs say is driven.
    ///
    /// Returns the map and both characters' rigs with the told roles, the target's with the told limits.
    ///
    /// # Errors
    /// A [`MapError`] that names line and nearest joint or role.
    pub fn read(
        text: &str,
        file: &str,
        source: &Character,
        target: &Character,
    ) -> Result<(JointMap, Rig, Rig), MapError> {
        let place = |at: usize| format!("{file}:{}", text[..at.min(text.len())].lines().count().max(1));
        let written: MapFile = toml::from_str(text).map_err(|e| MapError::File {
            place: place(e.span().map_or(0, |s| s.start + 1)),
            message: e.message().to_owned(),
        })?;
        let fault = |at: usize, message: String| MapError::File { place: place(at + 1), message };
        let joint = |skeleton: &Skeleton, name: &Spanned<String>| {
            skeleton.find(name.get_ref()).ok_or_else(|| {
                let names = skeleton.joints().iter().map(|j| j.name.as_str());
                fault(name.span().start, unknown("joint", name.get_ref(), names))
            })
        };
        let told = |character: &Character, roles: &BTreeMap<_, Spanned<String>>| {
            let mut assignments: Vec<(Role, Assignment)> =
                character.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
            for (role, name) in roles {
                let role: &Spanned<String> = role;
                let known: Role = role.get_ref().parse().map_err(|m| fault(role.span().start, m))?;
                let id = joint(character.skeleton(), name)?;
                assignments.retain(|(r, a)| *r != known && a.joint != id);
                let reason = "the map file says so".to_owned();
                assignments.push((known, Assignment { joint: id, confidence: 1.0, reason }));
            }
            Ok::<Rig, MapError>(character.rig.with_roles(assignments))
        };
        let source_rig = told(source, &written.source_roles)?;
        let mut target_rig = told(target, &written.target_roles)?;
        for (name, angles) in &written.limits {
            let role: Role = name.get_ref().parse().map_err(|m| fault(name.span().start, m))?;
            let told = angles.iter().map(|(word, degrees)| (word.get_ref().as_str(), *degrees.get_ref()));
            let told = ToldMobility::read(role, told).map_err(|(at, error)| {
                let place = angles.keys().nth(at).unwrap_or(name);
                fault(place.span().start, error.to_string())
            })?;
            target_rig = told.on(target_rig);
        }
        let Some(entries) = written.pair else {
            let with = |character: &Character, rig: &Rig| Character { rig: rig.clone(), ..character.clone() };
            let found = map(&with(source, &source_rig), &with(target, &target_rig))?;
            return Ok((found, source_rig, target_rig));
        };
        let mut pairs: Vec<Pair> = Vec::with_capacity(entries.len());
        for entry in &entries {
            let id = joint(target.skeleton(), &entry.target)?;
            if pairs.iter().any(|p| p.target == id) {
                let message = format!("target joint `{}` is driven twice", entry.target.get_ref());
                return Err(fault(entry.target.span().start, message));
            }
            let role = match &entry.role {
                Some(r) => Some(r.get_ref().parse().map_err(|m| fault(r.span().start, m))?),
                None => None,
            };
            let share = entry.blend_share.as_ref().map_or(0.5, |s| *s.get_ref());
            if !(0.0..=1.0).contains(&share) {
                let at = entry.blend_share.as_ref().map_or(0, |s| s.span().start);
                return Err(fault(at, format!("`blend_share` is {share}, allowed is 0 to 1")));
            }
            let blend = match &entry.blend {
                Some(name) => Some((joint(source.skeleton(), name)?, share)),
                None => None,
            };
            let source = joint(source.skeleton(), &entry.source)?;
            let reason = "the map file says so".to_owned();
            pairs.push(Pair { role, source, blend, target: id, confidence: 1.0, reason });
        }
        let assign = |rig: &Rig, of: &dyn Fn(&Pair) -> JointId| {
            // A role in a pair tells it for both rigs; chains keep what was found.
            let mut all: Vec<(Role, Assignment)> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
            for pair in pairs.iter().filter(|p| !matches!(p.role, Some(Role::Spine(_) | Role::Neck(_)))) {
                if let Some(role) = pair.role {
                    all.retain(|(r, a)| *r != role && a.joint != of(pair));
                    let reason = pair.reason.clone();
                    all.push((role, Assignment { joint: of(pair), confidence: 1.0, reason }));
                }
            }
            rig.with_roles(all)
        };
        let (s, t) = (assign(&source_rig, &|p| p.source), assign(&target_rig, &|p| p.target));
        Ok((JointMap::of(pairs, &s, &t), s, t))
    }
}

/// "no joint `x`; did you mean `y`?"
fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known
        .map(|k| (strsim::jaro_winkler(name, k), k))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, k)) => format!("there is no {what} `{name}`; did you mean `{k}`?"),
        None => format!("there is no {what} `{name}`"),
    }
}
