//! Sampled frames of some clips, by role, in a world with Y up.

use crate::anatomy::body_hierarchy::last;
use crate::math::{
    DEGREE, Quat, Transform, Vec3, any_perpendicular, from_columns, mean_direction, median_of,
};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side, Skeleton};

/// Sampled frames, evenly spread: the estimates do not improve with more.
pub(super) const SAMPLES: usize = 512;

/// The sampled transforms of all joints.
pub(super) struct MotionSamples<'a> {
    pub(super) rig: &'a Rig,
    pub(super) clips: &'a [&'a Clip],
    /// Rotation from the world of the clips to Y up.
    pub(super) y_up_from_world: Quat,
    /// Number of sampled frames.
    pub(super) count: usize,
    /// Model space from joint, joint-major: all frames of the first joint, then of the next.
    samples: Vec<Transform>,
}

impl<'a> MotionSamples<'a> {
    /// At most `most` frames of the clips, which play on the skeleton of `rig` one after the other.
    pub(super) fn new(rig: &'a Rig, clips: &'a [&'a Clip], y_up_from_world: Quat, most: usize) -> Self {
        let skeleton = rig.skeleton();
        let total: usize = clips.iter().map(|c| c.frames()).sum();
        let count = total.min(most);
        let mut samples = vec![Transform::identity(); skeleton.len() * count];
        let mut pose = skeleton.rest_pose();
        let mut model = ModelPose::of(skeleton, &pose);
        let world = Transform::from_rotation(y_up_from_world);
        let (mut clip, mut before) = (0, 0);
        for n in 0..count {
            let frame = if count > 1 { n * (total - 1) / (count - 1) } else { 0 };
            while frame - before >= clips[clip].frames() {
                before += clips[clip].frames();
                clip += 1;
            }
            clips[clip].read_pose(frame - before, &mut pose);
            model.set(skeleton, &pose);
            for (j, joint) in model.joints().iter().enumerate() {
                samples[j * count + n] = world * *joint;
            }
        }
        Self { rig, clips, y_up_from_world, count, samples }
    }

    pub(super) fn skeleton(&self) -> &'a Skeleton {
        self.rig.skeleton()
    }

    pub(super) fn has(&self, roles: &[Role]) -> bool {
        roles.iter().all(|r| self.rig.joint(*r).is_some())
    }

    /// The joint of a role that exists, see [`MotionSamples::has`].
    pub(super) fn joint(&self, role: Role) -> JointId {
        self.rig.joint(role).expect("asked for only after `has`")
    }

    /// The transforms of a joint.
    pub(super) fn of_joint(&self, joint: JointId) -> &[Transform] {
        &self.samples[joint.index() * self.count..][..self.count]
    }

    /// The transforms of a role's joint.
    pub(super) fn at(&self, role: Role) -> &[Transform] {
        self.of_joint(self.joint(role))
    }

    /// The midpoint of both sides in each frame; `None` where one is missing.
    pub(super) fn middle(&self, role: fn(Side) -> Role) -> Option<Vec<Vec3>> {
        let [left, right] = Side::BOTH.map(role);
        self.has(&[left, right]).then(|| {
            let pairs = self.at(left).iter().zip(self.at(right));
            pairs.map(|(a, b)| (a.translation + b.translation) * 0.5).collect()
        })
    }

    /// The vector between two joints that are fixed to the joint of `role`, in its axes: the median over the frames,
    /// since translation channels of such joints are noise.
    pub(super) fn line(&self, role: Role, from: Role, to: Role) -> Vec3 {
        let (s, a, b) = (self.at(role), self.at(from), self.at(to));
        let seen = |f: usize| s[f].rotation.inverse() * (b[f].translation - a[f].translation);
        median_of((0..self.count).map(seen))
    }

    /// World directions in the axes of a joint.
    pub(super) fn seen_from(&self, role: Role, v: impl Fn(usize) -> Vec3) -> Vec<Vec3> {
        self.at(role).iter().enumerate().map(|(f, s)| s.rotation.inverse() * v(f)).collect()
    }

    /// All roles of a numbered chain (spine, neck).
    pub(super) fn chain(&self, role: fn(u8) -> Role) -> Vec<Role> {
        (0..=u8::MAX).map(role).take_while(|r| self.has(&[*r])).collect()
    }

    /// The parent role of the arms: the last joint of the spine, else the hips.
    pub(super) fn chest(&self) -> Role {
        last(self.rig, Role::Spine).unwrap_or(Role::Hips)
    }

    /// Direction of a last joint in its axes: to its tip, or its only child; `None` where that deviates from the bone
    /// before it. Exporters invent tips along an axis, whatever is there: a head's tip may be at an ear.
    pub(super) fn tip(&self, role: Role, size: f64, weights: &[f64]) -> Option<Vec3> {
        let (joint, skeleton) = (self.joint(role), self.skeleton());
        let stated = skeleton.joint(joint).tip.filter(|t| *t != Vec3::zeros());
        let tip = stated.or_else(|| match skeleton.children(joint) {
            [only] => {
                let pairs = self.of_joint(joint).iter().zip(self.of_joint(*only));
                let inside =
                    |(s, c): (&Transform, &Transform)| s.rotation.inverse() * (c.translation - s.translation);
                Some(median_of(pairs.map(inside)))
            }
            _ => None,
        });
        let tip = tip.filter(|t| t.norm() >= NEAR * size)?.normalize();
        let Some(parent) = skeleton.parent(joint) else { return Some(tip) };
        let (here, above) = (self.of_joint(joint), self.of_joint(parent));
        let before = |f: usize| here[f].translation - above[f].translation;
        let length = crate::math::median((0..self.count).map(|f| before(f).norm()).collect());
        if length > NEAR * size {
            let seen = self.seen_from(role, |f| before(f).try_normalize(1e-12).unwrap_or_default());
            if mean_direction(&seen, weights).is_some_and(|v| v.angle(&tip) > ASIDE) {
                return None;
            }
        }
        Some(tip)
    }
}

/// Share of the trunk length below which a joint's tip coincides with it.
const NEAR: f64 = 0.005;
/// Radians (60 degrees): largest deviation of a valid tip from the bone before it; heads of real files reach 40
/// degrees.
const ASIDE: f64 = 60.0 * DEGREE;

/// `F[x, y]`: the rotation whose first column is the direction of `x` and whose second is that of `y`, made
/// perpendicular to it.
pub(super) fn frame(x: &Vec3, y: &Vec3) -> Quat {
    let x = x.try_normalize(1e-12).unwrap_or_else(Vec3::x);
    let y = (y - x * y.dot(&x)).try_normalize(1e-12).unwrap_or_else(|| any_perpendicular(&x));
    from_columns(&x, &y, &x.cross(&y))
}

/// `v` without its part along the unit vector `axis`, of length 1 where it has one.
pub(super) fn across(v: &Vec3, axis: &Vec3) -> Vec3 {
    (v - axis * v.dot(axis)).try_normalize(1e-12).unwrap_or_else(|| any_perpendicular(axis))
}
