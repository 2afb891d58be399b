//! Two-bone IK of an arm whose palm moves by an offset: the shoulder is fixed, the hand keeps its world rotation.
//!
//! The elbow stays on its side. Joints along the bones keep their local transforms. Near full extension the reach is
//! softened instead of snapping, but never below the current reach. Space: model space. Units: metres.

use crate::anatomy::Figure;
use crate::ik::{Limb, soft_reach};
use crate::math::{Quat, Vec3, from_columns, smoothstep};
use crate::model::{JointId, ModelPose, Rig, Role, Side, Skeleton};

/// The joints of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arm {
    upper: JointId,
    lower: JointId,
    hand: JointId,
    /// Where the elbow points when the arm is straight, in the space of the upper arm.
    spare: Vec3,
}

/// The share of the arm's length over which the reach is softened.
const SOFT: f64 = 0.03;
/// An elbow farther off the line from shoulder to wrist than this, over the length of the arm, defines its side itself.
const BENT: f64 = 0.04;
/// A straight arm takes the side of its elbow hinge once it moves by more than this, over its length.
const MOVED: f64 = 0.02;

/// New local rotations of upper arm, forearm and hand, and how far the wrist stays away from where it should be.
pub(super) struct Bend {
    pub rotations: [(JointId, Quat); 3],
    pub miss: f64,
}

impl Arm {
    /// The arm of one side; `None` where it does not hang together.
    pub(super) fn of(rig: &Rig, rest: &ModelPose, figure: &Figure, side: Side) -> Option<Arm> {
        let [upper, lower, hand] =
            [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)].map(|role| rig.joint(role));
        let (upper, lower, hand) = (upper?, lower?, hand?);
        let skeleton = rig.skeleton();
        let hangs = skeleton.is_ancestor(upper, lower) && skeleton.is_ancestor(lower, hand);
        let [a, b, c] = [upper, lower, hand].map(|id| rest.position(id));
        let long = (b - a).norm().min((c - b).norm()) > 1e-3 * (c - a).norm() && (c - a).norm() > 1e-6;
        // Elbows bend forwards: the elbow itself goes back.
        let back = -figure.left.cross(&figure.up);
        let bulge = (b - a) - (c - a) * ((b - a).dot(&(c - a)) / (c - a).norm_squared());
        let straight = bulge.norm() < 0.02 * (c - a).norm();
        let spare = rest.joint(upper).rotation.inverse() * if straight { back } else { bulge.normalize() };
        (hangs && long).then_some(Arm { upper, lower, hand, spare })
    }

    /// The joints that bend it.
    pub(super) fn joints(&self) -> [JointId; 3] {
        [self.upper, self.lower, self.hand]
    }

    /// The arm of `pose` with its wrist moved by `offset`.
    pub(super) fn bend(&self, skeleton: &Skeleton, pose: &ModelPose, offset: &Vec3) -> Option<Bend> {
        let [a, b, c] = [self.upper, self.lower, self.hand].map(|id| pose.position(id));
        let (upper, lower) = (b - a, c - b);
        let lengths = [upper.norm(), lower.norm()];
        let length = lengths[0] + lengths[1];
        let now = c - a;
        let line = now.try_normalize(1e-9)?;
        let bulge = upper - line * upper.dot(&line);
        let spare = pose.joint(self.upper).vector(&self.spare);
        let spare = (spare - line * spare.dot(&line)).try_normalize(1e-6).unwrap_or(bulge);
        let bent = (bulge.norm() / (BENT * length)).min(1.0);
        let moved = offset.norm_squared() / (offset.norm_squared() + (MOVED * length).powi(2));
        let habit = (1.0 - smoothstep(bent)) * moved;
        let pole = bulge.try_normalize(1e-9).unwrap_or(spare).lerp(&spare, habit);
        let wanted = now + offset;
        let free = now.norm().max(length * (1.0 - SOFT));
        let target = a + wanted * (soft_reach(wanted.norm(), free, length) / wanted.norm().max(1e-12));
        let limb = Limb { root: a, lengths, pole, spare_pole: bulge, softness: 0.0 };
        let bent = limb.bend(&target);
        // Both frames share the pole: without an offset nothing rotates.
        let before = frames(&a, &b, &c, &pole)?;
        let after = frames(&a, &bent.middle, &bent.end, &pole)?;
        let deltas = [after[0] * before[0].inverse(), after[1] * before[1].inverse()];
        let world = |id: JointId| pose.joint(id).rotation;
        let above = |id: JointId| skeleton.parent(id).map_or_else(Quat::identity, world);
        let rotations = [
            (self.upper, above(self.upper).inverse() * deltas[0] * world(self.upper)),
            (self.lower, (deltas[0] * above(self.lower)).inverse() * deltas[1] * world(self.lower)),
            (self.hand, (deltas[1] * above(self.hand)).inverse() * world(self.hand)),
        ];
        Some(Bend { rotations, miss: (bent.end - (c + offset)).norm() })
    }
}

/// The orientations of the two bones of an arm, each with the axis of the elbow as its second column.
fn frames(a: &Vec3, b: &Vec3, c: &Vec3, pole: &Vec3) -> Option<[Quat; 2]> {
    let axis = (c - a).cross(pole);
    let frame = |bone: Vec3| {
        let x = bone.try_normalize(1e-9)?;
        let n = (axis - x * x.dot(&axis)).try_normalize(1e-12)?;
        Some(from_columns(&x, &n, &x.cross(&n)))
    };
    Some([frame(b - a)?, frame(c - b)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, exp};
    use crate::model::{Assignment, Joint, Pose};
    use proptest::prelude::*;

    /// An arm with a twist joint in each bone, bent by `elbow` radians.
    fn arm(elbow: f64) -> (Arm, Skeleton, Pose) {
        let names = ["shoulder", "twist", "elbow", "roll", "wrist"];
        let joints = names.iter().enumerate().map(|(k, name)| {
            let at = Vec3::new([0.2, 0.15, 0.15, 0.12, 0.13][k], if k == 0 { 1.4 } else { 0.0 }, 0.0);
            Joint::new(*name, k.checked_sub(1).map(JointId::new), Transform::from_translation(at))
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let roles =
            [(Role::UpperArm(Side::Left), 0), (Role::LowerArm(Side::Left), 2), (Role::Hand(Side::Left), 4)];
        let roles = roles.map(|(role, k)| (role, Assignment::new(JointId::new(k), 1.0, "")));
        let rig = Rig::new(skeleton.clone(), roles);
        let figure = Figure { pelvis: Vec3::zeros(), up: Vec3::y(), sole: 0.0, leg: 0.9, left: Vec3::x() };
        let found = Arm::of(&rig, &skeleton.rest_model_pose(), &figure, Side::Left).unwrap();
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[0].rotation = exp(&Vec3::new(0.3, -0.4, -0.9));
        pose.local_mut()[1].rotation = exp(&Vec3::new(0.2, 0.0, 0.0));
        pose.local_mut()[2].rotation = exp(&Vec3::new(0.0, -elbow, 0.0));
        pose.local_mut()[4].rotation = exp(&Vec3::new(0.5, 0.2, 0.1));
        (found, skeleton, pose)
    }

    fn bent(arm: &Arm, skeleton: &Skeleton, pose: &Pose, offset: &Vec3) -> (ModelPose, f64) {
        let model = ModelPose::of(skeleton, pose);
        let bend = arm.bend(skeleton, &model, offset).unwrap();
        let mut pose = pose.clone();
        for (id, q) in bend.rotations {
            pose.local_mut()[id.index()].rotation = q;
        }
        (ModelPose::of(skeleton, &pose), bend.miss)
    }

    proptest! {
        #[test]
        fn the_wrist_moves_by_the_offset_and_the_hand_keeps_its_rotation(
            v in [-0.04..0.04f64, -0.04..0.04f64, -0.04..0.04f64], elbow in 1.2..2.0f64,
        ) {
            let (arm, skeleton, pose) = arm(elbow);
            let offset = Vec3::from(v);
            let before = ModelPose::of(&skeleton, &pose);
            let (after, miss) = bent(&arm, &skeleton, &pose, &offset);
            let wrist = JointId::new(4);
            prop_assert!((after.position(wrist) - before.position(wrist) - offset).norm() < 1e-9 && miss < 1e-9);
            prop_assert!(after.joint(wrist).rotation.angle_to(&before.joint(wrist).rotation) < 1e-9);
            let elbow = JointId::new(2);
            prop_assert!((after.position(elbow) - before.position(elbow)).norm() < 0.35);
        }

        #[test]
        fn nothing_turns_without_an_offset(elbow in prop_oneof![0.0..0.01f64, 0.0..2.5f64]) {
            let (arm, skeleton, pose) = arm(elbow);
            let before = ModelPose::of(&skeleton, &pose);
            let (after, _) = bent(&arm, &skeleton, &pose, &Vec3::zeros());
            // The closed form keeps a millionth of its length from straight, which bends an elbow by 0.16 degrees.
            let shy = if elbow < 3e-3 { 3e-3 } else { 1e-5 };
            for (a, b) in before.joints().iter().zip(after.joints()) {
                prop_assert!(a.rotation.angle_to(&b.rotation) < shy && (a.translation - b.translation).norm() < shy);
            }
        }
    }

    #[test]
    fn a_hand_that_cannot_reach_comes_near_smoothly() {
        let (arm, skeleton, pose) = arm(0.8);
        let model = ModelPose::of(&skeleton, &pose);
        let out = (model.position(JointId::new(4)) - model.position(JointId::new(0))).normalize();
        let reached = |x: f64| {
            let (after, _) = bent(&arm, &skeleton, &pose, &(out * x));
            (after.position(JointId::new(4)) - after.position(JointId::new(0))).norm()
        };
        let steps: Vec<f64> = (0..200).map(|k| reached(0.002 * k as f64)).collect();
        assert!(steps.windows(2).all(|w| w[1] >= w[0] - 1e-9 && w[1] - w[0] < 0.00201));
        assert!(steps[199] <= 0.55 + 1e-9 && steps[199] > 0.549);
    }
}
