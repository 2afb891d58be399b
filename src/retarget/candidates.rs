//! A body part that no joint was found for becomes the joints that may be it, the likeliest first.
//!
//! Judged by the tree (below what it hangs from, above what hangs from it), by the place against the other side of the
//! same body or against the other body, and by how alike the names are. Space: model, in the calibration pose; lengths
//! are shares of the body's height.

use crate::anatomy::{Label, body_parent};
use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Rig, Role, Side};

/// How many candidates are told.
const MOST: usize = 3;
/// The error of place, as a share of the height, that halves a candidate's worth: the width of a limb and of the slack
/// between two builds. Half of it asks for twins, double takes a neighbour on the same limb.
const SLACK: f64 = 0.1;
/// Names less alike than this say nothing (Jaro-Winkler): words of the same letters reach 0.6 by chance.
const ALIKE: f64 = 0.7;
/// What the joint next to the one that a role hangs from is worth more, each step less: limbs are missed joint by joint.
/// Half of what a twin's place is worth; twice as much would beat a name, half as little lets a hand be a forearm.
const NEXT: f64 = 0.5;
/// What it is worth to carry all that lies below, for parts that others hang from without being roles: a hand carries
/// the fingers, a head the eyes. As [`NEXT`].
const CARRIES: f64 = 0.5;
/// How far a joint of one side may lie on the other, as a share of the height: rigs are drawn by hand.
const ACROSS: f64 = 0.02;

/// One body with the pose and the size that places are compared in.
#[derive(Clone)]
pub(super) struct Body<'a> {
    pub(super) character: &'a Character,
    /// What its joints are for, as far as known.
    pub(super) rig: Rig,
    pose: ModelPose,
    low: f64,
    height: f64,
    /// How many joints hang from each, itself counted.
    carried: Vec<usize>,
}

impl<'a> Body<'a> {
    pub(super) fn new(character: &'a Character, rig: &Rig) -> Self {
        let pose = character.calibration_pose();
        let heights = || pose.joints().iter().map(|t| t.translation.y);
        let low = heights().fold(f64::MAX, f64::min);
        let height = (heights().fold(f64::MIN, f64::max) - low).max(1e-9);
        let skeleton = rig.skeleton();
        let mut carried = vec![1; skeleton.len()];
        for id in skeleton.ids().rev() {
            if let Some(parent) = skeleton.parent(id) {
                carried[parent.index()] += carried[id.index()];
            }
        }
        Self { character, rig: rig.clone(), pose, low, height, carried }
    }

    pub(super) fn name(&self, joint: JointId) -> &str {
        &self.rig.skeleton().joint(joint).name
    }

    /// Where the middle of the body lies, left to right.
    fn middle(&self) -> f64 {
        self.rig.joint(Role::Hips).map_or(0.0, |hips| self.pose.position(hips).x)
    }

    /// On which side of the middle the left of the body lies, +1 or -1, as far as its joints say.
    fn left(&self) -> f64 {
        let apart = |role: fn(Side) -> Role| {
            let [l, r] = Side::BOTH.map(|s| self.rig.joint(role(s)).map(|id| self.pose.position(id).x));
            Some(l? - r?)
        };
        let pairs = [Role::UpperLeg, Role::UpperArm, Role::Clavicle, Role::Foot];
        pairs.into_iter().find_map(apart).map_or(1.0, f64::signum)
    }

    /// The place of a joint over the ground and beside the middle, in shares of the height.
    fn place(&self, joint: JointId) -> Vec3 {
        let at = self.pose.position(joint);
        Vec3::new(at.x - self.middle(), at.y - self.low, at.z) / self.height
    }

    /// How far a joint lies from what `role` hangs from, as a share of the height.
    fn reach(&self, role: Role, joint: JointId) -> Option<f64> {
        let from = body_parent(&self.rig, role)?;
        Some((self.pose.position(joint) - self.pose.position(from)).norm() / self.height)
    }

    /// The joints of `free` that may be `role`, the likeliest first; few.
    pub(super) fn candidates(
        &self,
        role: Role,
        other: Option<&Body<'_>>,
        free: &dyn Fn(JointId) -> bool,
    ) -> Vec<JointId> {
        let skeleton = self.rig.skeleton();
        let free = |id: &JointId| {
            self.rig.role(*id).is_none() && skeleton.joint(*id).file_name.is_some() && free(*id)
        };
        let fitting = skeleton.ids().filter(free).filter(|&id| self.fits(role, id));
        let mut scored: Vec<(f64, JointId)> = fitting.map(|id| (self.worth(role, id, other), id)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().take(MOST).map(|s| s.1).collect()
    }

    /// Whether a joint may be `role` by its place in the tree and its side.
    fn fits(&self, role: Role, joint: JointId) -> bool {
        let skeleton = self.rig.skeleton();
        if let Some(side) = role.side()
            && self.place(joint).x * side.sign() * self.left() < -ACROSS
        {
            return false;
        }
        // A foot hangs elsewhere where nothing hangs from its shin: rigs keep feet under the root.
        let shin = role.side().and_then(|s| self.rig.joint(Role::LowerLeg(s)));
        let astray = matches!(role, Role::Foot(_)) && shin.is_some_and(|s| skeleton.children(s).is_empty());
        if astray && shin.is_some_and(|s| self.place(joint).y > self.place(s).y) {
            return false;
        }
        if role != Role::Hips
            && !astray
            && let Some(inner) = body_parent(&self.rig, role)
            && !skeleton.is_ancestor(inner, joint)
        {
            return false;
        }
        let outer: Vec<JointId> = beyond(role).into_iter().filter_map(|r| self.rig.joint(r)).collect();
        let ends = matches!(
            role,
            Role::Head
                | Role::LowerArm(_)
                | Role::Hand(_)
                | Role::LowerLeg(_)
                | Role::Foot(_)
                | Role::Toes(_)
        );
        (ends || !skeleton.children(joint).is_empty())
            && outer.iter().all(|&outer| skeleton.is_ancestor(joint, outer))
    }

    /// Whether joints of the body stand on both sides of `role`, so that a candidate lies between them.
    pub(super) fn encloses(&self, role: Role) -> bool {
        body_parent(&self.rig, role).is_some()
            && beyond(role).into_iter().any(|r| self.rig.joint(r).is_some())
    }

    /// How much of what hangs from the joint that `role` hangs from hangs from `joint`, itself counted.
    fn share(&self, role: Role, joint: JointId) -> f64 {
        let all = body_parent(&self.rig, role).map_or(self.carried[0], |top| self.carried[top.index()] - 1);
        self.carried[joint.index()] as f64 / all.max(1) as f64
    }

    /// Up to 3: place, name, and nearness in the tree.
    fn worth(&self, role: Role, joint: JointId, other: Option<&Body<'_>>) -> f64 {
        let skeleton = self.rig.skeleton();
        let twin = Some(role.mirrored()).filter(|m| *m != role).and_then(|m| self.rig.joint(m));
        let counterpart = other.and_then(|o| Some((o, o.rig.joint(role)?)));
        // Arms hang as they like: there the length of the bone says more than the place.
        let by_bone = matches!(role, Role::LowerArm(_) | Role::Hand(_));
        let error = match (twin, counterpart) {
            (Some(twin), _) => {
                let at = self.place(twin);
                Some((Vec3::new(-at.x, at.y, at.z) - self.place(joint)).norm())
            }
            (None, Some((other, theirs))) if by_bone => self
                .reach(role, joint)
                .zip(other.reach(role, theirs))
                .map(|(own, theirs)| (own - theirs).abs()),
            (None, Some((other, theirs))) => Some((other.place(theirs) - self.place(joint)).norm()),
            (None, None) => None,
        };
        let place = error.map_or(0.0, |e| 1.0 / (1.0 + (e / SLACK).powi(2)));
        let words = role.to_string().replace("left_", "").replace("right_", "");
        let known = [
            twin.map(|id| self.name(id).to_owned()),
            counterpart.map(|(other, id)| other.name(id).to_owned()),
            Some(words),
        ];
        let own = Label::of(self.name(joint));
        let wrong_side = own.side.is_some_and(|s| Some(s) != role.side());
        let alike = known
            .iter()
            .flatten()
            .map(|name| strsim::jaro_winkler(&own.words.concat(), &Label::of(name).words.concat()));
        let alike = alike.fold(0.0, f64::max);
        let steps = body_parent(&self.rig, role)
            .and_then(|inner| skeleton.path_to_root(joint).position(|id| id == inner))
            .map_or(0.0, |steps| NEXT / steps.max(1) as f64);
        let carried = match role {
            Role::Head | Role::Hand(_) => CARRIES * self.share(role, joint),
            _ => 0.0,
        };
        let name = match () {
            () if wrong_side || says_another_part(&own, role) => -1.0,
            () if alike < ALIKE || own.words.is_empty() => 0.0,
            () => alike,
        };
        place + steps + carried + name
    }
}

/// Whether a name says a part of the body that is not `role`: a neck is no head, and a thumb no hand.
fn says_another_part(label: &Label, role: Role) -> bool {
    let plain = |word: &str| word.replace("left_", "").replace("right_", "").replace(['_', '0'], "");
    let own = plain(&role.to_string());
    let said = |word: &str| label.words.concat() == word || label.words.iter().any(|w| w == word);
    Role::WORDS
        .split('`')
        .skip(1)
        .step_by(2)
        .map(plain)
        .any(|word| !word.is_empty() && !own.contains(&word) && said(&word))
}

/// The roles that hang from `role`, directly or further out: their joints lie below its joint.
fn beyond(role: Role) -> Vec<Role> {
    let arm = |s: Side| vec![Role::UpperArm(s), Role::LowerArm(s), Role::Hand(s)];
    let leg = |s: Side| vec![Role::UpperLeg(s), Role::LowerLeg(s)];
    match role {
        Role::Hips => {
            let trunk = vec![Role::Spine(0), Role::Head];
            Side::BOTH.into_iter().flat_map(leg).chain(trunk).collect()
        }
        Role::Spine(_) => Side::BOTH.into_iter().flat_map(arm).chain([Role::Neck(0), Role::Head]).collect(),
        Role::Neck(_) => vec![Role::Head],
        Role::Clavicle(s) => arm(s),
        Role::UpperArm(s) => arm(s)[1..].to_vec(),
        Role::LowerArm(s) => arm(s)[2..].to_vec(),
        Role::UpperLeg(s) => leg(s)[1..].to_vec(),
        // Feet may hang from the root and not from their shins.
        _ => Vec::new(),
    }
}
