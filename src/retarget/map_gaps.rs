//! Finds what a joint map leaves out: body parts that only one of two bodies has, doubtful and contradicted roles, and
//! unrecognised joints of hands and feet, each with the lines of a map file that fix it.
//!
//! Reported are undriven parts of the target and limbs of the take whose motion is lost. A neck, a collar bone or toes that a
//! body simply does not have are harmless and not reported.

use super::candidates::CandidateBody;
use super::joint_map::{JointMap, REQUIRED};
use super::toml_string::quoted;
use crate::model::{Assignment, Character, JointId, Rig, Role, Side};
use crate::report::{Warning, Warnings, one_line};
use std::borrow::Cow;
use std::fmt;

/// One of the two bodies of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapEnd {
    /// The body that drives.
    Source,
    /// The body that is driven.
    Target,
}

impl fmt::Display for MapEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == MapEnd::Source { "source" } else { "target" })
    }
}

/// A role that is missing or unsure on one body, and the joints that may play it.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// The role.
    pub role: Role,
    /// The body that lacks it.
    pub end: MapEnd,
    /// The joint that was found, if it is doubtful or contradicted.
    pub guess: Option<Assignment>,
    /// The joints that may play it, best first.
    pub candidates: Vec<JointId>,
    /// The consequence.
    pub message: String,
    /// The lines of a map file that fix it, if lines can.
    pub fix: Option<String>,
}

/// The reported roles: limbs before the roles that may be between them and the hips, so that the latter can be recognised by
/// the joints on both sides.
fn reported_roles() -> Vec<Role> {
    let limbs = |s| {
        [
            Role::UpperArm(s),
            Role::LowerArm(s),
            Role::Hand(s),
            Role::UpperLeg(s),
            Role::LowerLeg(s),
            Role::Foot(s),
        ]
    };
    let between = [Role::Spine(0), Role::Neck(0)].into_iter().chain(Side::BOTH.map(Role::Clavicle));
    let ends = [Role::Hips, Role::Head].into_iter().chain(Side::BOTH.into_iter().flat_map(limbs));
    ends.chain(between).collect()
}

/// The map file line that assigns a role.
pub(super) fn line(end: MapEnd, role: Role, joint: &str) -> String {
    format!("{end}_roles.{role} = {}", quoted(joint))
}

/// Source and target, in the order of [`MapEnd`].
pub(super) struct Pairing<'a> {
    pub(super) bodies: [CandidateBody<'a>; 2],
    map: &'a JointMap,
}

/// Every gap of `map` between characters with these rigs; empty if neither has hips.
pub fn gaps(map: &JointMap, source: (&Character, &Rig), target: (&Character, &Rig)) -> Vec<Gap> {
    if [source.1, target.1].iter().all(|rig| rig.joint(Role::Hips).is_none()) {
        return Vec::new();
    }
    let bodies = [CandidateBody::new(source.0, source.1), CandidateBody::new(target.0, target.1)];
    let mut pairing = Pairing { bodies, map };
    // Fingers are checked before hands are assumed: they are reported below known hands only.
    let digits = [MapEnd::Source, MapEnd::Target].map(|end| pairing.digits(end));
    let mut found: Vec<Gap> =
        [MapEnd::Source, MapEnd::Target].into_iter().filter_map(|end| pairing.exchanged_sides(end)).collect();
    for role in reported_roles() {
        let has = pairing.bodies.each_ref().map(|b| b.rig.joint(role).is_some());
        match has {
            [true, true] if pairing.leaves_out(role) => found.extend(pairing.left_out(role)),
            [true, true] => found.extend(pairing.doubts(role)),
            [false, true] if pairing.driven(MapEnd::Target, role) => {}
            [true, false] if pairing.driven(MapEnd::Source, role) => {}
            [true, false] => pairing.lacks(role, MapEnd::Target, &mut found),
            [false, true] => pairing.lacks(role, MapEnd::Source, &mut found),
            [false, false] => pairing.both_lack(role, &mut found),
        }
    }
    found.extend(pairing.other_doubts(&reported_roles()));
    found.extend([MapEnd::Source, MapEnd::Target].into_iter().filter_map(|end| pairing.exchanged_limbs(end)));
    found.extend(digits.into_iter().flatten());
    found
}

/// The roles required for a map that are missing or unsure on one of the bodies, each with the line that assigns it.
pub(super) fn required(source: &Character, target: &Character) -> Vec<Gap> {
    let unsure = |c: &Character| {
        REQUIRED.map(|role| c.rig.assignment(role).is_none_or(|a| !a.is_sure())).contains(&true)
    };
    if !unsure(source) && !unsure(target) {
        return Vec::new();
    }
    let nothing = JointMap::of(Vec::new(), &source.rig, &target.rig);
    let bodies = [CandidateBody::new(source, &source.rig), CandidateBody::new(target, &target.rig)];
    let mut pairing = Pairing { bodies, map: &nothing };
    let mut found = Vec::new();
    for end in [MapEnd::Source, MapEnd::Target] {
        for role in REQUIRED {
            let (own, _) = pairing.of(end);
            let gap = match own.rig.assignment(role) {
                Some(a) if a.is_sure() => continue,
                Some(a) => pairing.doubt(role, end, a),
                None => {
                    let candidates = pairing.candidates(role, end);
                    let (own, _) = pairing.of(end);
                    let name = one_line(&own.character.name);
                    let fix = candidates.first().map(|&id| line(end, role, own.name(id)));
                    let message = match fix {
                        Some(_) => format!("`{name}` has no joint for `{role}`"),
                        None => format!(
                            "`{name}` has no joint for `{role}`, and none fits: if one does, assign it as `{end}_roles.{role}`"
                        ),
                    };
                    pairing.suppose(role, end, &candidates);
                    Gap { role, end, guess: None, candidates, message, fix }
                }
            };
            found.push(gap);
        }
    }
    found
}

impl Pairing<'_> {
    pub(super) fn of(&self, end: MapEnd) -> (&CandidateBody<'_>, &CandidateBody<'_>) {
        let [source, target] = &self.bodies;
        if end == MapEnd::Source { (source, target) } else { (target, source) }
    }

    /// Whether the joint of `role` drives or is driven in any pair.
    fn driven(&self, end: MapEnd, role: Role) -> bool {
        let Some(joint) = self.of(end).0.rig.joint(role) else { return false };
        self.moves(end, joint)
    }

    pub(super) fn moves(&self, end: MapEnd, joint: JointId) -> bool {
        match end {
            MapEnd::Source => self.map.pairs.iter().any(|p| p.source == joint),
            MapEnd::Target => self.map.driving(joint).is_some(),
        }
    }

    pub(super) fn candidates(&self, role: Role, end: MapEnd) -> Vec<JointId> {
        let (own, other) = self.of(end);
        // A target joint that is already driven, by its name, is no candidate.
        own.candidates(role, Some(other), &|id| end == MapEnd::Source || !self.moves(end, id))
    }

    /// Assumes that the best candidate plays the role while the roles below it are searched.
    fn suppose(&mut self, role: Role, end: MapEnd, candidates: &[JointId]) {
        let Some(&joint) = candidates.first() else { return };
        let body = &mut self.bodies[end as usize];
        let known: Vec<_> = body.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
        let supposed = (role, Assignment::new(joint, 0.0, "supposed"));
        body.rig = Cow::Owned(body.rig.with_roles(known.into_iter().chain([supposed])));
    }

    /// Whether a map from a file has no pair for a bone of a limb that both bodies have.
    fn leaves_out(&self, role: Role) -> bool {
        let bone =
            matches!(role, Role::UpperArm(_) | Role::LowerArm(_) | Role::UpperLeg(_) | Role::LowerLeg(_));
        bone && !self.driven(MapEnd::Source, role) && !self.driven(MapEnd::Target, role)
    }

    /// The gap of such a role.
    fn left_out(&self, role: Role) -> Option<Gap> {
        let joint = |end: MapEnd| self.of(end).0.rig.joint(role);
        let candidates = vec![joint(MapEnd::Target)?];
        let [source, target] = [(MapEnd::Source, joint(MapEnd::Source)?), (MapEnd::Target, candidates[0])]
            .map(|(end, id)| self.of(end).0.name(id));
        let message = format!(
            "the map has no pair for `{role}` of `{}`: `{}` keeps its rest pose",
            one_line(&self.of(MapEnd::Target).0.character.name),
            one_line(target)
        );
        let [source, target] = [source, target].map(quoted);
        let fix = Some(format!("[[pair]]\nrole = \"{role}\"\nsource = {source}\ntarget = {target}"));
        Some(Gap { role, end: MapEnd::Target, guess: None, candidates, message, fix })
    }

    /// One body has a joint for `role` and `end` has none.
    fn lacks(&mut self, role: Role, end: MapEnd, found: &mut Vec<Gap>) {
        let candidates = self.candidates(role, end);
        let (own, other) = self.of(end);
        // An optional part is missing only if a joint is in its position, or the other side has it.
        let optional = match role {
            Role::Clavicle(_) | Role::Neck(_) => true,
            Role::Spine(_) => end == MapEnd::Target,
            _ => false,
        };
        let one_sided = role.mirrored() != role && own.rig.joint(role.mirrored()).is_some();
        if optional && !one_sided && (candidates.is_empty() || !own.encloses(role)) {
            return;
        }
        let names = [&own.character.name, &other.character.name].map(|n| one_line(n));
        let theirs = other.rig.joint(role).map(|id| other.name(id)).unwrap_or_default();
        let message = match end {
            MapEnd::Source => {
                format!(
                    "nothing drives `{theirs}`, `{role}` of `{}`: `{}` has no joint for it",
                    names[1], names[0]
                )
            }
            MapEnd::Target => format!(
                "`{}` has no joint for `{role}`: the motion of `{theirs}` of `{}` is lost",
                names[0], names[1]
            ),
        };
        let fix = match (candidates.first(), end) {
            (Some(&id), _) => Some(line(end, role, own.name(id))),
            // Without a candidate on the source, the joint of the parent role may drive the part.
            (None, MapEnd::Source) => crate::anatomy::parent_joint(&own.rig, role).map(|inner| {
                let pair = [own.name(inner), theirs].map(quoted);
                format!("[[pair]]\nsource = {}\ntarget = {}", pair[0], pair[1])
            }),
            (None, MapEnd::Target) => None,
        };
        self.suppose(role, end, &candidates);
        found.push(Gap { role, end, guess: None, candidates, message, fix });
    }

    /// Neither body has a joint for `role`: reported if a joint of the target is not driven because of that.
    fn both_lack(&mut self, role: Role, found: &mut Vec<Gap>) {
        let optional = matches!(role, Role::Clavicle(_) | Role::Neck(_) | Role::Spine(_));
        let candidates = [MapEnd::Source, MapEnd::Target].map(|end| self.candidates(role, end));
        if optional || candidates[1].is_empty() {
            return;
        }
        let names = self.bodies.each_ref().map(|b| one_line(&b.character.name));
        let message = format!("neither `{}` nor `{}` has a joint for `{role}`", names[0], names[1]);
        let [ours, theirs] = [MapEnd::Source, MapEnd::Target]
            .map(|end| candidates[end as usize].first().map(|&id| line(end, role, self.of(end).0.name(id))));
        let fix = ours.zip(theirs).map(|(ours, theirs)| format!("{ours}\n{theirs}"));
        for end in [MapEnd::Source, MapEnd::Target] {
            self.suppose(role, end, &candidates[end as usize]);
        }
        let [_, candidates] = candidates;
        found.push(Gap { role, end: MapEnd::Target, guess: None, candidates, message, fix });
    }
}

/// The best alternative for a role of a character: the runner-up of its detection, with its confidence, else the best of the
/// joints without a role.
pub fn second_best(character: &Character, role: Role) -> Option<(JointId, Option<f64>)> {
    if let Some((joint, confidence)) = character.rig.assignment(role)?.runner_up {
        return Some((joint, Some(confidence)));
    }
    let body = CandidateBody::new(character, &character.rig);
    body.candidates(role, None, &|_| true).first().map(|&joint| (joint, None))
}

/// The key of a map file that exchanges left and right of one body.
pub(super) fn swap_key(end: MapEnd) -> String {
    format!("swap_{end}_sides")
}

/// One warning for each gap.
pub fn warnings(gaps: &[Gap]) -> Warnings {
    let mut all = Warnings::new();
    for gap in gaps {
        let swap = gap.fix.as_deref().is_some_and(|f| f.starts_with(&swap_key(gap.end)));
        let code = match &gap.guess {
            _ if swap => "retarget-sides",
            Some(_) => "retarget-guess",
            None => "retarget-missing",
        };
        all.push(Warning {
            code,
            message: one_line(&gap.message),
            first: String::new(),
            count: 1,
            sure: false,
            fix: gap.fix.clone(),
        });
    }
    all
}
