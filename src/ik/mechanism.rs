//! A skeleton with degrees of freedom and joint limits: the model that every solver moves.
//!
//! Increments are relative to the current pose, in model axes where an axis is needed, so that no parametrisation is
//! singular: a ball joint rotates by a rotation vector, `R <- exp(delta) R`; a hinge by an angle about an axis fixed in
//! joint space; a two-axis joint about one axis fixed in the parent and one fixed in the joint. Limited coordinates are
//! computed from the current rotation. Space: local poses, model-space axes. Units: metres, radians.

use super::freedom::Freedom;
use super::limit::Limit;
use crate::body::range_of_motion;
use crate::math::{Quat, Transform, Vec3, exp};
use crate::model::{JointId, ModelPose, Pose, Rig, Skeleton};

/// The effect of a unit step of one degree of freedom: angular velocity, and linear velocity of the joint's position,
/// in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DofAxis {
    /// Radians per unit.
    pub angular: Vec3,
    /// Metres per unit.
    pub linear: Vec3,
}

/// A skeleton with a freedom, and perhaps a limit, for every joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    skeleton: Skeleton,
    freedoms: Vec<Freedom>,
    limits: Vec<Option<Limit>>,
    first_dof: Vec<usize>,
    dofs: usize,
}

impl Mechanism {
    /// A mechanism of these freedoms, in joint order, without limits; joints beyond the list are fixed.
    ///
    /// Axes are normalised; a hinge or slide with a zero axis becomes fixed.
    pub fn new(skeleton: &Skeleton, freedoms: impl IntoIterator<Item = Freedom>) -> Self {
        let unit = |v: Vec3| v.try_normalize(1e-12);
        let mut freedoms: Vec<Freedom> = freedoms.into_iter().take(skeleton.len()).collect();
        freedoms.resize(skeleton.len(), Freedom::Fixed);
        for (j, freedom) in freedoms.iter_mut().enumerate() {
            *freedom = match *freedom {
                Freedom::Hinge(a) => unit(a).map_or(Freedom::Fixed, Freedom::Hinge),
                Freedom::Slide(a) => unit(a).map_or(Freedom::Fixed, Freedom::Slide),
                Freedom::TwoAxis(a, b) => match (unit(a), unit(b - a * (a.dot(&b) / a.norm_squared()))) {
                    (Some(a), Some(b)) => Freedom::TwoAxis(a, b),
                    (Some(a), None) => Freedom::Hinge(a),
                    _ => Freedom::Fixed,
                },
                Freedom::Free if j > 0 => Freedom::Ball,
                other => other,
            };
        }
        let mut dofs = 0;
        let mut first_dof = Vec::with_capacity(freedoms.len());
        for freedom in &freedoms {
            first_dof.push(dofs);
            dofs += freedom.dofs();
        }
        Self { skeleton: skeleton.clone(), limits: vec![None; freedoms.len()], freedoms, first_dof, dofs }
    }

    /// A free root and ball joints everywhere else.
    pub fn floating(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, std::iter::once(Freedom::Free).chain(std::iter::repeat(Freedom::Ball)))
    }

    /// Ball joints everywhere, including the root, which rotates but does not translate.
    pub fn anchored(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, std::iter::repeat(Freedom::Ball))
    }

    /// A free root and ball joints, with the published ranges of motion for every role that has one.
    ///
    /// `rest` is the reference pose in model space.
    pub fn humanoid(rig: &Rig, rest: &ModelPose) -> Self {
        let free = Self::floating(rig.skeleton());
        rig.skeleton().ids().fold(free, |mechanism, id| match range_of_motion(rig, rest, id) {
            Some(range) => mechanism.with_limit(id, Limit::SwingTwist(range.into())),
            None => mechanism,
        })
    }

    /// The same mechanism with another freedom and no limit at one joint.
    #[must_use]
    pub fn with_freedom(self, id: JointId, freedom: Freedom) -> Self {
        let Self { skeleton, mut freedoms, mut limits, .. } = self;
        freedoms[id.index()] = freedom;
        limits[id.index()] = None;
        let made = Self::new(&skeleton, freedoms);
        Self { limits, ..made }
    }

    /// The same mechanism with a limit at one joint.
    #[must_use]
    pub fn with_limit(mut self, id: JointId, limit: Limit) -> Self {
        self.limits[id.index()] = Some(limit);
        self
    }

    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The freedom of a joint.
    pub fn freedom(&self, id: JointId) -> Freedom {
        self.freedoms[id.index()]
    }

    /// The limit of a joint.
    pub fn limit(&self, id: JointId) -> Option<&Limit> {
        self.limits[id.index()].as_ref()
    }

    /// Total number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.dofs
    }

    /// The indices of one joint's degrees of freedom in a step.
    pub fn dofs_of(&self, id: JointId) -> std::ops::Range<usize> {
        let first = self.first_dof[id.index()];
        first..first + self.freedoms[id.index()].dofs()
    }

    /// The degrees of freedom of one joint at the pose `model`, in the order of [`Mechanism::dofs_of`].
    pub(crate) fn axes(&self, model: &ModelPose, id: JointId) -> impl Iterator<Item = DofAxis> + use<> {
        let world = model.joint(id).rotation;
        let unit = |k: usize| Vec3::from_fn(|r, _| if r == k { 1.0 } else { 0.0 });
        let zero = Vec3::zeros();
        let mut axes = [DofAxis { angular: zero, linear: zero }; 6];
        match self.freedoms[id.index()] {
            Freedom::Fixed => {}
            Freedom::Hinge(a) => axes[0].angular = world * a,
            Freedom::TwoAxis(a, b) => {
                axes[0].angular = self.rest_in_model(model, id) * a;
                axes[1].angular = world * b;
            }
            Freedom::Slide(a) => axes[0].linear = self.rest_in_model(model, id) * a,
            Freedom::Ball => (0..3).for_each(|k| axes[k].angular = unit(k)),
            Freedom::Free => (0..3).for_each(|k| {
                axes[k].angular = unit(k);
                axes[3 + k].linear = unit(k);
            }),
        }
        axes.into_iter().take(self.freedoms[id.index()].dofs())
    }

    /// Model space from the joint's rest frame attached to its current parent.
    fn rest_in_model(&self, model: &ModelPose, id: JointId) -> Quat {
        let rest = self.skeleton.joint(id).rest.rotation;
        self.skeleton.parent(id).map_or(rest, |p| model.joint(p).rotation * rest)
    }

    /// Moves `pose` by `step`, the coefficients of the axes at `model` (the same pose in model space).
    ///
    /// # Panics
    /// If the length of `step` is not [`Mechanism::dofs`], or a pose belongs to another skeleton.
    pub fn step(&self, pose: &mut Pose, model: &ModelPose, step: &[f64]) {
        assert_eq!(step.len(), self.dofs, "a step belongs to its mechanism");
        for id in self.skeleton.ids() {
            let s = &step[self.dofs_of(id)];
            let rest = self.skeleton.joint(id).rest.rotation;
            let local = &mut pose.local_mut()[id.index()];
            match self.freedoms[id.index()] {
                Freedom::Fixed => {}
                Freedom::Hinge(a) => local.rotation *= exp(&(a * s[0])),
                Freedom::TwoAxis(a, b) => {
                    local.rotation = exp(&(rest * a * s[0])) * local.rotation * exp(&(b * s[1]));
                }
                Freedom::Slide(a) => local.translation += rest * a * s[0],
                Freedom::Ball | Freedom::Free => {
                    let parent =
                        self.skeleton.parent(id).map_or(Quat::identity(), |p| model.joint(p).rotation);
                    let delta = exp(&(parent.inverse() * Vec3::new(s[0], s[1], s[2])));
                    local.rotation = delta * local.rotation;
                    if s.len() == 6 {
                        local.translation += Vec3::new(s[3], s[4], s[5]);
                    }
                }
            }
            local.rotation.renormalize_fast();
        }
    }

    /// The nearest local transform of one joint within its limit; the same if it is inside.
    pub fn limited(&self, id: JointId, local: &Transform) -> Transform {
        let rest = &self.skeleton.joint(id).rest;
        match &self.limits[id.index()] {
            Some(limit) => limit.project(&self.freedoms[id.index()], rest, local),
            None => *local,
        }
    }

    /// The joints that have a limit, in joint order.
    pub fn joints_with_limits(&self) -> impl Iterator<Item = JointId> {
        self.skeleton.ids().filter(|id| self.limits[id.index()].is_some())
    }

    /// Distance of one joint from its limit range, in radians (metres for slides); 0 inside.
    pub fn excess(&self, id: JointId, local: &Transform) -> f64 {
        let nearest = self.limited(id, local);
        nearest.rotation.angle_to(&local.rotation).max((nearest.translation - local.translation).norm())
    }

    /// Brings every joint of `pose` into its limit and returns how many were outside by more than a nanoradian.
    pub fn enforce(&self, pose: &mut Pose) -> usize {
        let mut outside = 0;
        for id in self.joints_with_limits() {
            let local = pose.joint(id);
            if self.excess(id, local) > 1e-9 {
                outside += 1;
                pose.local_mut()[id.index()] = self.limited(id, &pose.local()[id.index()]);
            }
        }
        outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Joint;

    #[test]
    fn a_step_moves_points_along_the_axes() {
        let mut joints =
            vec![Joint::new("a", None, Transform::new(exp(&Vec3::new(0.1, 0.2, 0.3)), Vec3::x()))];
        for (i, name) in ["b", "c", "d", "e"].into_iter().enumerate() {
            let rest = Transform::new(exp(&Vec3::new(0.4, -0.3, 0.2 * i as f64)), Vec3::new(0.1, 0.5, -0.2));
            joints.push(Joint::new(name, Some(JointId::new(i)), rest));
        }
        let skeleton = Skeleton::new(joints).unwrap();
        let freedoms = [
            Freedom::Free,
            Freedom::Hinge(Vec3::new(1.0, 2.0, 0.0)),
            Freedom::TwoAxis(Vec3::x(), Vec3::new(0.5, 1.0, 0.0)),
            Freedom::Slide(Vec3::new(0.0, 3.0, 4.0)),
            Freedom::Ball,
        ];
        let mechanism = Mechanism::new(&skeleton, freedoms);
        let mut pose = skeleton.rest_pose();
        let start = skeleton.rest_model_pose();
        mechanism.step(&mut pose, &start, &vec![0.3; mechanism.dofs()]);
        let model = ModelPose::of(&skeleton, &pose);
        let (tip, point, h) = (JointId::new(4), Vec3::new(0.2, 0.1, 0.7), 1e-6);
        for id in skeleton.ids() {
            for (dof, axis) in mechanism.dofs_of(id).zip(mechanism.axes(&model, id)) {
                let moved = |h: f64| {
                    let (mut pose, mut step) = (pose.clone(), vec![0.0; mechanism.dofs()]);
                    step[dof] = h;
                    mechanism.step(&mut pose, &model, &step);
                    ModelPose::of(&skeleton, &pose).joint(tip).point(&point)
                };
                let expected =
                    axis.linear + axis.angular.cross(&(model.joint(tip).point(&point) - model.position(id)));
                assert!(((moved(h) - moved(-h)) / (2.0 * h) - expected).norm() < 1e-8, "dof {dof}");
            }
        }
    }
}
