//! Ranks the joints that may play a role for which no joint was found.
//!
//! Criteria are the tree (below the parent role, above the child roles), the position compared with the other side of the
//! same body or with the other body, and the similarity of names. Space: model space, in the reference pose; lengths are
//! shares of the body's height.

use crate::anatomy::{JointLabel, parent_joint};
use crate::math::Vec3;
use crate::model::{Assignment, Character, JointId, ModelPose, Rig, Role, Side};
use std::borrow::Cow;

/// Number of candidates that are reported.
const MOST: usize = 3;
/// Position error, as a share of the height, that halves the position score: the width of a limb and the usual difference
/// between two builds. Half of it requires nearly equal bodies, double accepts a neighbour on the same limb.
const SLACK: f64 = 0.1;
/// Least Jaro-Winkler similarity of names that counts: words with the same letters reach 0.6 by chance.
const ALIKE: f64 = 0.7;
/// Score of a child of the joint that plays the parent role, divided by the number of joints between for others: the joints
/// of a limb are usually missing in order. Half of the score of the mirrored position; twice as much would outweigh a name,
/// half as much takes a hand for a forearm.
const NEXT: f64 = 0.5;
/// Score of a joint that has all joints of the limb below it, for parts with descendants that may have no roles: a hand has
/// the fingers, a head the eyes. As [`NEXT`].
const SUBTREE: f64 = 0.5;
/// How far a joint may be on the other side of the middle, as a share of the height: rigs are made by hand.
const ACROSS: f64 = 0.02;

/// A body with the pose and the size in which positions are compared.
#[derive(Clone)]
pub(super) struct CandidateBody<'a> {
    pub(super) character: &'a Character,
    /// The roles of its joints, as far as known.
    pub(super) rig: Cow<'a, Rig>,
    pose: ModelPose,
    low: f64,
    height: f64,
    /// The number of joints above each joint.
    depth: Vec<usize>,
}

impl<'a> CandidateBody<'a> {
    pub(super) fn new(character: &'a Character, rig: &'a Rig) -> Self {
        let pose = character.reference_pose();
        let heights = || pose.joints().iter().map(|t| t.translation.y);
        let low = heights().fold(f64::MAX, f64::min);
        let height = (heights().fold(f64::MIN, f64::max) - low).max(1e-9);
        let skeleton = rig.skeleton();
        let mut depth: Vec<usize> = Vec::with_capacity(skeleton.len());
        for id in skeleton.ids() {
            depth.push(skeleton.parent(id).map_or(0, |parent| depth[parent.index()] + 1));
        }
        Self { character, rig: Cow::Borrowed(rig), pose, low, height, depth }
    }

    pub(super) fn pose(&self) -> &ModelPose {
        &self.pose
    }

    pub(super) fn name(&self, joint: JointId) -> &str {
        &self.rig.skeleton().joint(joint).name
    }

    /// The position of the middle of the body from left to right.
    fn middle(&self) -> f64 {
        self.rig.joint(Role::Hips).map_or(0.0, |hips| self.pose.position(hips).x)
    }

    /// The sign of x on the left side of the body, +1 or -1, from the first pair of joints with known sides.
    fn left(&self) -> f64 {
        let apart = |role: fn(Side) -> Role| {
            let [l, r] = Side::BOTH.map(|s| self.rig.joint(role(s)).map(|id| self.pose.position(id).x));
            Some(l? - r?)
        };
        let pairs = [Role::UpperLeg, Role::UpperArm, Role::Clavicle, Role::Foot];
        pairs.into_iter().find_map(apart).map_or(1.0, f64::signum)
    }

    /// The position of a joint relative to ground and middle, in shares of the height.
    fn position(&self, joint: JointId) -> Vec3 {
        let at = self.pose.position(joint);
        Vec3::new(at.x - self.middle(), at.y - self.low, at.z) / self.height
    }

    /// The distance of a joint from the joint of the parent role, as a share of the height.
    fn reach(&self, role: Role, joint: JointId) -> Option<f64> {
        let from = parent_joint(&self.rig, role)?;
        Some((self.pose.position(joint) - self.pose.position(from)).norm() / self.height)
    }

    /// The joints of `free` that may play `role`, at most [`MOST`], best first.
    pub(super) fn candidates(
        &self,
        role: Role,
        other: Option<&CandidateBody<'_>>,
        free: &dyn Fn(JointId) -> bool,
    ) -> Vec<JointId> {
        let skeleton = self.rig.skeleton();
        let free = |id: &JointId| {
            self.rig.role(*id).is_none() && skeleton.joint(*id).file_name.is_some() && free(*id)
        };
        let fitting = skeleton.ids().filter(free).filter(|&id| self.fits(role, id));
        let mut scored: Vec<(f64, JointId)> = fitting.map(|id| (self.score(role, id, other), id)).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().take(MOST).map(|s| s.1).collect()
    }

    /// Whether a joint may play `role`, by its position in the tree and its side.
    fn fits(&self, role: Role, joint: JointId) -> bool {
        let skeleton = self.rig.skeleton();
        if let Some(side) = role.side()
            && self.position(joint).x * side.sign() * self.left() < -ACROSS
        {
            return false;
        }
        // A head has no limb and is no part of one.
        let limb = |(of, limb): (Role, &Assignment)| {
            matches!(of, Role::Clavicle(_) | Role::UpperArm(_) | Role::UpperLeg(_))
                && (skeleton.is_ancestor(joint, limb.joint) || skeleton.is_ancestor(limb.joint, joint))
        };
        if role == Role::Head && self.rig.assignments().any(limb) {
            return false;
        }
        // The foot of a shin without children is elsewhere in the tree: some rigs have feet under the root.
        let shin = role.side().and_then(|s| self.rig.joint(Role::LowerLeg(s)));
        let detached_foot =
            matches!(role, Role::Foot(_)) && shin.is_some_and(|s| skeleton.children(s).is_empty());
        if detached_foot && shin.is_some_and(|s| self.position(joint).y > self.position(s).y) {
            return false;
        }
        if role != Role::Hips
            && !detached_foot
            && let Some(inner) = parent_joint(&self.rig, role)
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

    /// Whether the parent role and a child role of `role` have joints, so that a candidate is between them.
    pub(super) fn encloses(&self, role: Role) -> bool {
        parent_joint(&self.rig, role).is_some()
            && beyond(role).into_iter().any(|r| self.rig.joint(r).is_some())
    }

    /// The share of the parent role's subtree that is in the subtree of `joint`, itself included.
    fn share(&self, role: Role, joint: JointId) -> f64 {
        let size = |id: JointId| self.rig.skeleton().subtrees()[id.index()].len();
        let all = parent_joint(&self.rig, role).map_or(size(JointId::new(0)), |top| size(top) - 1);
        size(joint) as f64 / all.max(1) as f64
    }

    /// The score, up to 3: position, name, and nearness in the tree.
    fn score(&self, role: Role, joint: JointId, other: Option<&CandidateBody<'_>>) -> f64 {
        let skeleton = self.rig.skeleton();
        let twin = Some(role.mirrored()).filter(|m| *m != role).and_then(|m| self.rig.joint(m));
        let counterpart = other.and_then(|o| Some((o, o.rig.joint(role)?)));
        // Arms have any pose: the length of the bone is more reliable than the position.
        let by_bone = matches!(role, Role::LowerArm(_) | Role::Hand(_));
        let error = match (twin, counterpart) {
            (Some(twin), _) => {
                let at = self.position(twin);
                Some((Vec3::new(-at.x, at.y, at.z) - self.position(joint)).norm())
            }
            (None, Some((other, theirs))) if by_bone => self
                .reach(role, joint)
                .zip(other.reach(role, theirs))
                .map(|(own, theirs)| (own - theirs).abs()),
            (None, Some((other, theirs))) => Some((other.position(theirs) - self.position(joint)).norm()),
            (None, None) => None,
        };
        let place = error.map_or(0.0, |e| 1.0 / (1.0 + (e / SLACK).powi(2)));
        let words = role.to_string().replace("left_", "").replace("right_", "");
        let known = [
            twin.map(|id| self.name(id).to_owned()),
            counterpart.map(|(other, id)| other.name(id).to_owned()),
            Some(words),
        ];
        let own = JointLabel::of(self.name(joint));
        let wrong_side = own.side.is_some_and(|s| Some(s) != role.side());
        let alike = known
            .iter()
            .flatten()
            .map(|name| strsim::jaro_winkler(&own.words.concat(), &JointLabel::of(name).words.concat()));
        let alike = alike.fold(0.0, f64::max);
        let steps = parent_joint(&self.rig, role)
            .filter(|inner| skeleton.is_ancestor(*inner, joint))
            .map(|inner| self.depth[joint.index()] - self.depth[inner.index()])
            .map_or(0.0, |steps| NEXT / steps.max(1) as f64);
        let subtree = match role {
            Role::Head | Role::Hand(_) => SUBTREE * self.share(role, joint),
            _ => 0.0,
        };
        let name = match () {
            () if wrong_side || names_another_part(&own, role) => -1.0,
            () if alike < ALIKE || own.words.is_empty() => 0.0,
            () => alike,
        };
        place + steps + subtree + name
    }
}

/// A role's name without side and number.
fn plain(word: &str) -> String {
    word.replace("left_", "").replace("right_", "").replace(['_', '0'], "")
}

/// Whether a name means the part `role` of the body, apart from its side.
pub(super) fn names_the_part(label: &JointLabel, role: Role) -> bool {
    let part = plain(&role.to_string());
    label.words.concat() == part || label.words.contains(&part)
}

/// Whether a name means another part of the body than `role`: a neck is not a head, a thumb is not a hand.
pub(super) fn names_another_part(label: &JointLabel, role: Role) -> bool {
    let own = plain(&role.to_string());
    let said = |word: &str| label.words.concat() == word || label.words.iter().any(|w| w == word);
    Role::WORDS
        .split('`')
        .skip(1)
        .step_by(2)
        .map(plain)
        .any(|word| !word.is_empty() && !own.contains(&word) && said(&word))
}

/// The roles whose joints must be below the joint of `role`.
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
        // Feet may be children of the root and not of their shins.
        _ => Vec::new(),
    }
}
