//! Reads joint map files, as `posemill map` writes them for editing and `--map` takes them.
//!
//! ```toml
//! swap_target_sides = true                     # exchanges left and right of all detected roles and pairs of the target
//! source_roles.left_upper_leg = "LeftHip"     # only for roles that are not detected, or detected on another joint
//!
//! [[pair]]
//! role = "left_upper_arm"
//! source = "LeftArm"
//! target = "UpperArm.L"
//!
//! [limits.left_lower_arm]                     # the target's range of motion, in degrees, if it differs from a human's
//! flexion = 120
//! ```

use super::find_map::map;
use super::joint_map::{JointMap, JointPair};
use super::map_error::{FileFault, MapError};
use crate::anatomy::JointLabel;
use crate::body::MobilityOverride;
use crate::model::{Assignment, Character, JointId, Rig, Role};
use crate::report::one_line;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// Joint names by role, as written.
type NamedRoles = BTreeMap<Spanned<String>, Spanned<String>>;
/// Degrees by name of the movement, as written.
type NamedAngles = BTreeMap<Spanned<String>, Spanned<f64>>;

/// The file as written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct MapFile {
    #[serde(default)]
    swap_source_sides: bool,
    #[serde(default)]
    swap_target_sides: bool,
    #[serde(default)]
    source_roles: NamedRoles,
    #[serde(default)]
    target_roles: NamedRoles,
    #[serde(default)]
    limits: BTreeMap<Spanned<String>, NamedAngles>,
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
    /// Written by `posemill map`: such a pair yields to a role that the user assigns.
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    #[allow(dead_code, reason = "written for people, ignored on reading")]
    reason: Option<String>,
}

/// Resolves a map file and collects its errors.
struct MapReader<'a> {
    text: &'a str,
    file: &'a str,
    /// Each error: start and end in bytes, message.
    faults: Vec<(usize, usize, String)>,
}

impl MapReader<'_> {
    /// Adds an error at a byte range of the text.
    fn fault(&mut self, at: Range<usize>, message: String) {
        self.faults.push((at.start, at.end, message));
    }

    /// The value; an error is added at its byte range.
    fn value<T>(&mut self, at: Range<usize>, value: Result<T, String>) -> Option<T> {
        value.map_err(|message| self.fault(at, message)).ok()
    }

    fn written(&mut self) -> MapFile {
        toml::from_str(self.text).unwrap_or_else(|error: toml::de::Error| {
            self.fault(error.span().unwrap_or(0..0), error.message().to_owned());
            MapFile::default()
        })
    }

    fn joint(&mut self, character: &Character, name: &Spanned<String>) -> Option<JointId> {
        let found = character.skeleton().find(name.get_ref());
        self.value(name.span(), found.ok_or_else(|| unknown(name.get_ref(), character)))
    }

    fn role(&mut self, name: &Spanned<String>) -> Option<Role> {
        let near = || nearest(name.get_ref(), Role::words().iter().map(String::as_str));
        let parsed = name.get_ref().parse();
        self.value(name.span(), parsed.map_err(|said: String| format!("{said}{}", near())))
    }

    /// The character's rig with the assigned roles, and the assignments.
    fn assigned(
        &mut self,
        character: &Character,
        roles: &NamedRoles,
        swap: bool,
    ) -> (Rig, Vec<(Role, JointId)>) {
        let mut assigned = Vec::new();
        for (role, name) in roles {
            let (role, joint) = (self.role(role), self.joint(character, name));
            assigned.extend(role.zip(joint));
        }
        let rig = if swap { with_sides_swapped(&character.rig) } else { character.rig.clone() };
        (with_assigned(&rig, &assigned), assigned)
    }

    fn limits(&mut self, limits: &BTreeMap<Spanned<String>, NamedAngles>, mut rig: Rig) -> Rig {
        for (name, angles) in limits {
            let Some(role) = self.role(name) else { continue };
            let words = angles.iter().map(|(word, degrees)| (word.get_ref().as_str(), *degrees.get_ref()));
            match MobilityOverride::read(role, words) {
                Ok(range) => rig = range.on(rig),
                Err((at, error)) => {
                    let place = angles.keys().nth(at).unwrap_or(name);
                    self.fault(place.span(), error.to_string());
                }
            }
        }
        rig
    }

    fn pair(&mut self, entry: &PairEntry, source: &Character, target: &Character) -> Option<JointPair> {
        let role = match &entry.role {
            Some(role) => Some(self.role(role)?),
            None => None,
        };
        let share = entry.blend_share.as_ref().map_or(0.5, |s| *s.get_ref());
        if let Some(at) = entry.blend_share.as_ref().filter(|_| !(0.0..=1.0).contains(&share)) {
            self.fault(at.span(), format!("`blend_share` is {share}, allowed is 0 to 1"));
        }
        let blend = entry.blend.as_ref().map(|name| self.joint(source, name));
        let from = self.joint(source, &entry.source);
        let target = self.joint(target, &entry.target);
        let blend = match blend {
            Some(joint) => Some((joint?, share)),
            None => None,
        };
        let reason = FROM_FILE.to_owned();
        Some(JointPair { role, source: from?, blend, target: target?, confidence: 1.0, reason })
    }

    /// The pairs as written, after the exchange of sides. Pairs that `posemill map` wrote yield to assigned roles; of others it
    /// is checked that none contradicts one. Checks that each target joint occurs once.
    fn pairs(
        &mut self,
        written: &MapFile,
        source: AssignedRoles<'_>,
        target: AssignedRoles<'_>,
    ) -> Vec<JointPair> {
        let entries = written.pair.as_deref().unwrap_or_default();
        let read = entries.iter().map(|e| Some((e, self.pair(e, source.character, target.character)?)));
        let mut read: Vec<(&PairEntry, JointPair)> = read.collect::<Vec<_>>().into_iter().flatten().collect();
        let mut swapped: Vec<&mut JointPair> = read.iter_mut().map(|r| &mut r.1).collect();
        if written.swap_source_sides {
            swap_sides(&mut swapped, source.character, |pair| &mut pair.source);
        }
        if written.swap_target_sides {
            swap_sides(&mut swapped, target.character, |pair| &mut pair.target);
        }
        let mut pairs: Vec<JointPair> = Vec::with_capacity(read.len());
        for (entry, mut pair) in read {
            if entry.confidence.is_some() && !yields(&mut pair, source.assigned, target.assigned) {
                continue;
            }
            if pairs.iter().any(|p| p.target == pair.target) {
                let name = one_line(entry.target.get_ref());
                let own = pair.role.and_then(|role| Some((role, target.character.rig.joint(role)?)));
                let meant = own.filter(|(_, id)| *id != pair.target).map(|(role, id)| {
                    let joint = one_line(&target.character.skeleton().joint(id).name);
                    format!(", or write `{joint}`, the `{role}` of `{}`", one_line(&target.character.name))
                });
                let message = format!(
                    "target joint `{name}` is driven twice: remove one of the two pairs{}",
                    meant.unwrap_or_default()
                );
                self.fault(entry.target.span(), message);
            }
            for (assigned, joint, name) in
                [(source.assigned, pair.source, &entry.source), (target.assigned, pair.target, &entry.target)]
            {
                let against = assigned.iter().any(|(role, id)| Some(*role) == pair.role && *id != joint);
                if let Some(role) = pair.role.filter(|_| against) {
                    let name_of = one_line(name.get_ref());
                    let message = format!(
                        "`{role}` is assigned to another joint than `{name_of}` above: remove one of the two"
                    );
                    self.fault(name.span(), message);
                }
            }
            pairs.push(pair);
        }
        pairs
    }

    /// All errors in the order of the text.
    fn done(mut self) -> Result<(), Vec<FileFault>> {
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort();
        let (text, file) = (self.text, self.file);
        let line = |at: usize| text.get(..(at + 1).min(text.len())).unwrap_or(text).lines().count().max(1);
        let fault = |(start, end, message)| FileFault {
            place: format!("{file}:{}", line(start)),
            span: start..end,
            message,
        };
        Err(self.faults.into_iter().map(fault).collect())
    }
}

/// A character and the roles that the user assigned to its joints.
#[derive(Clone, Copy)]
struct AssignedRoles<'a> {
    character: &'a Character,
    assigned: &'a [(Role, JointId)],
}

/// Exchanges the joints of the left and right pairs, by role or, without one, by the sides in the joints' names; a pair without
/// its counterpart on the other side keeps its joint.
fn swap_sides(
    pairs: &mut [&mut JointPair],
    character: &Character,
    joint: fn(&mut JointPair) -> &mut JointId,
) {
    let before: Vec<(Option<Role>, JointId)> = pairs.iter_mut().map(|p| (p.role, *joint(p))).collect();
    for pair in pairs {
        let other = match pair.role.map(Role::mirrored) {
            None => named_on_the_other_side(character, *joint(pair)),
            mirrored => before.iter().find(|(role, _)| *role == mirrored).map(|b| b.1),
        };
        if let Some(other) = other {
            *joint(pair) = other;
        }
    }
}

/// The joint whose name differs only by its side.
fn named_on_the_other_side(character: &Character, joint: JointId) -> Option<JointId> {
    let skeleton = character.skeleton();
    let mut wanted = JointLabel::of(&skeleton.joint(joint).name);
    wanted.side = Some(wanted.side?.other());
    skeleton.ids().find(|&id| JointLabel::of(&skeleton.joint(id).name).is_same(&wanted))
}

/// Moves a pair to the joints that the user assigned to its role. Returns whether the pair is still wanted: not if one of its
/// joints was assigned another role.
fn yields(pair: &mut JointPair, source: &[(Role, JointId)], target: &[(Role, JointId)]) -> bool {
    for (assigned, joint) in [(source, &mut pair.source), (target, &mut pair.target)] {
        match assigned.iter().find(|(role, _)| Some(*role) == pair.role) {
            Some((_, id)) => *joint = *id,
            None if assigned.iter().any(|(_, id)| id == joint) => return false,
            None => {}
        }
    }
    true
}

/// The rig with left and right exchanged.
fn with_sides_swapped(rig: &Rig) -> Rig {
    rig.with_roles(rig.assignments().map(|(role, a)| (role.mirrored(), a.clone())).collect::<Vec<_>>())
}

/// The reason of roles and pairs from a file.
const FROM_FILE: &str = "assigned in the map file";

/// The rig with these roles assigned.
fn with_assigned(rig: &Rig, assigned: &[(Role, JointId)]) -> Rig {
    let mut all: Vec<(Role, Assignment)> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    for (role, joint) in assigned {
        all.retain(|(r, a)| r != role && a.joint != *joint);
        all.push((*role, Assignment::new(*joint, 1.0, FROM_FILE)));
    }
    rig.with_roles(all)
}

impl JointMap {
    /// Reads a map file. Its roles replace detected roles, its limits replace earlier overrides. Without any `[[pair]]` the
    /// map is then found as usual; otherwise only the joints of the pairs and of the assigned roles are driven.
    ///
    /// Returns the map and both characters' rigs with the assigned roles, the target's with the limits as well.
    ///
    /// # Errors
    /// A [`MapError`] with all errors, each with its line and the nearest joint or role.
    pub fn read(
        text: &str,
        file: &str,
        source: &Character,
        target: &Character,
    ) -> Result<(JointMap, Rig, Rig), MapError> {
        let mut reader = MapReader { text, file, faults: Vec::new() };
        let written = reader.written();
        let (source_rig, assigned_source) =
            reader.assigned(source, &written.source_roles, written.swap_source_sides);
        let (target_rig, assigned_target) =
            reader.assigned(target, &written.target_roles, written.swap_target_sides);
        let target_rig = reader.limits(&written.limits, target_rig);
        let pairs = reader.pairs(
            &written,
            AssignedRoles { character: source, assigned: &assigned_source },
            AssignedRoles { character: target, assigned: &assigned_target },
        );
        reader.done().map_err(MapError::File)?;
        if written.pair.is_none() {
            let with = |character: &Character, rig: &Rig| Character { rig: rig.clone(), ..character.clone() };
            let mut found = map(&with(source, &source_rig), &with(target, &target_rig))?;
            // Pairs with a role have the exchanged rigs; of those that were paired by equal names both sides are known.
            let mut by_name: Vec<&mut JointPair> =
                found.pairs.iter_mut().filter(|p| p.role.is_none()).collect();
            if written.swap_source_sides != written.swap_target_sides {
                swap_sides(&mut by_name, source, |pair| &mut pair.source);
            }
            return Ok((JointMap::of(found.pairs, &source_rig, &target_rig), source_rig, target_rig));
        }
        let assign = |rig: &Rig, of: &dyn Fn(&JointPair) -> JointId| {
            // The role of a pair is assigned on both rigs; chains keep their detected roles.
            let chain = |role: &Role| matches!(role, Role::Spine(_) | Role::Neck(_));
            let roles = pairs.iter().filter_map(|p| Some((p.role.filter(|r| !chain(r))?, of(p))));
            with_assigned(rig, &roles.collect::<Vec<_>>())
        };
        let (s, t) = (assign(&source_rig, &|p| p.source), assign(&target_rig, &|p| p.target));
        let mut all = pairs;
        for (role, _) in assigned_source.iter().chain(&assigned_target) {
            let Some((source, target)) = s.joint(*role).zip(t.joint(*role)) else { continue };
            if all.iter().all(|p| p.target != target) {
                let (role, reason) = (Some(*role), FROM_FILE.to_owned());
                all.push(JointPair { role, source, blend: None, target, confidence: 1.0, reason });
            }
        }
        Ok((JointMap::of(all, &s, &t), s, t))
    }

    /// Checks a map file before a take is read: everything but joints of the source.
    ///
    /// # Errors
    /// All errors.
    pub fn check(text: &str, file: &str, target: &Character) -> Result<(), Vec<FileFault>> {
        let mut reader = MapReader { text, file, faults: Vec::new() };
        let written = reader.written();
        reader.assigned(target, &written.target_roles, false);
        for role in written.source_roles.keys() {
            reader.role(role);
        }
        reader.limits(&written.limits, target.rig.clone());
        for entry in written.pair.iter().flatten() {
            if let Some(role) = &entry.role {
                reader.role(role);
            }
            reader.joint(target, &entry.target);
        }
        reader.done()
    }
}

/// "there is no joint `x` in `hero`; did you mean `y`?"
fn unknown(name: &str, character: &Character) -> String {
    let near = nearest(name, character.skeleton().joints().iter().map(|j| j.name.as_str()));
    format!("there is no joint `{}` in `{}`{near}", one_line(name), one_line(&character.name))
}

/// "; did you mean `y`?", if one of `known` is similar.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    near.map_or(String::new(), |(_, near)| format!("; did you mean `{}`?", one_line(near)))
}
