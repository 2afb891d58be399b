//! A leg bends so that its foot is where it shall be, exactly and in closed form.
//!
//! The two-bone limb of [`crate::ik::Limb`], for legs that may have twist joints between hip, knee and ankle: those
//! keep their turns against the joint that they hang on. The knee keeps the side to which it is bent. Space: model
//! space. Units: metres.

use crate::ik::Limb;
use crate::math::{Quat, Transform, Vec3, from_columns};
use crate::model::{JointId, ModelPose, Pose, Rig, Role, Side, Skeleton};

/// The joints of one leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Which leg.
    pub side: Side,
    /// Where the thigh turns.
    pub hip: JointId,
    /// Where the shin turns.
    pub knee: JointId,
    /// Where the foot turns.
    pub foot: JointId,
    /// Where the toes turn.
    pub toes: Option<JointId>,
    /// Whether the foot hangs somewhere else than on the shin.
    pub apart: bool,
}

/// The rotation that takes a bone and the axis that it bends about to new ones.
fn reframe(bone: &Vec3, axis: &Vec3, new_bone: &Vec3, new_axis: &Vec3) -> Option<Quat> {
    let frame = |x: &Vec3, n: &Vec3| {
        let x = x.try_normalize(1e-9)?;
        let n = (n - x * x.dot(n)).try_normalize(1e-9)?;
        Some(from_columns(&x, &n, &x.cross(&n)))
    };
    Some(frame(new_bone, new_axis)? * frame(bone, axis)?.inverse())
}

impl Leg {
    /// The legs of a rig, left first; none where hip, knee or foot is missing.
    pub fn all(rig: &Rig) -> Vec<Leg> {
        let leg = |side: Side| {
            let [hip, knee, foot] =
                [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|role| rig.joint(role));
            let (hip, knee, foot) = (hip?, knee?, foot?);
            let skeleton = rig.skeleton();
            let apart = !skeleton.is_ancestor(knee, foot);
            skeleton.is_ancestor(hip, knee).then_some(Leg {
                side,
                hip,
                knee,
                foot,
                toes: rig.joint(Role::Toes(side)),
                apart,
            })
        };
        Side::BOTH.into_iter().filter_map(leg).collect()
    }

    /// The length of the stretched leg in a pose.
    pub fn length(&self, model: &ModelPose) -> f64 {
        let [a, b, c] = [self.hip, self.knee, self.foot].map(|j| model.position(j));
        (b - a).norm() + (c - b).norm()
    }

    /// Puts the foot of `pose` to `target`; a foot out of reach comes as near as the leg is long, turned as wanted.
    pub fn put(&self, skeleton: &Skeleton, pose: &mut Pose, model: &mut ModelPose, target: &Transform) {
        let [a, b, c] = [self.hip, self.knee, self.foot].map(|j| model.position(j));
        let (upper, lower) = (b - a, c - b);
        let straight = (c - a).try_normalize(1e-9).unwrap_or_else(|| -Vec3::y());
        let bend = upper - straight * upper.dot(&straight);
        // A straight knee bends to where the shin's own axes say that it bent last: forwards of the foot.
        let ahead = model.joint(self.foot).vector(&Vec3::z());
        let pole =
            if bend.norm() > 1e-4 * upper.norm() { bend } else { ahead - straight * ahead.dot(&straight) };
        let limb =
            Limb { root: a, lengths: [upper.norm(), lower.norm()], pole, spare_pole: ahead, softness: 0.0 };
        let bent = limb.bend(&target.translation);
        let axis = straight.cross(&pole);
        let line = (bent.end - a).try_normalize(1e-9).unwrap_or(straight);
        let new_pole = (bent.middle - a) - line * line.dot(&(bent.middle - a));
        let new_axis = if new_pole.norm() > 1e-9 { line.cross(&new_pole) } else { axis };
        let turns = (
            reframe(&upper, &axis, &(bent.middle - a), &new_axis),
            reframe(&lower, &axis, &(bent.end - bent.middle), &new_axis),
        );
        let (Some(thigh), Some(shin)) = turns else { return };
        let wanted = [
            (self.hip, thigh * model.joint(self.hip).rotation),
            (self.knee, shin * model.joint(self.knee).rotation),
            (self.foot, target.rotation),
        ];
        for (joint, rotation) in wanted {
            let above = skeleton.parent(joint).map_or(Transform::identity(), |p| *model.joint(p));
            let local = &mut pose.local_mut()[joint.index()];
            local.rotation = above.rotation.inverse() * rotation;
            if joint == self.foot && self.apart {
                local.translation = above.inverse().point(&bent.end);
            }
            model.set(skeleton, pose);
        }
    }
}
