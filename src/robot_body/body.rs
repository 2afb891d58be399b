//! A humanoid robot, measured once for all takes.

use super::link_capsules::{LinkCapsule, colliding_pairs, link_capsules};
use super::robot_limbs::{Limbs, RobotLimb};
use super::sole::Sole;
use super::spread_pose::spread;
use super::zero_pose::ZeroPose;
use crate::math::{Quat, Transform, Vec3, exp, from_columns};
use crate::model::Robot;
use std::sync::Arc;

/// A forearm that is steeper than this (cosine to the vertical) has its Z to the front.
const STEEP: f64 = 0.8;
/// An elbow whose one end of the range is this much more flexed than the other (difference of cosines) bends to it: 10 degrees
/// about a straight arm have a tenth of it.
const MORE_FLEXED: f64 = 0.15;

/// The body of a robot.
#[derive(Clone, Debug)]
pub(crate) struct RobotBody {
    pub(crate) robot: Arc<Robot>,
    pub(crate) zero: ZeroPose,
    pub(crate) limbs: Limbs,
    /// Left and right.
    pub(crate) soles: [Sole; 2],
    pub(crate) capsules: Vec<LinkCapsule>,
    /// Indices of capsules that may collide.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Per pair the distance of their middles beyond which they are apart in any pose.
    far: Vec<f64>,
    /// Mean length of thigh and shin together.
    pub(crate) leg_length: f64,
    /// The middle between the hip joints in the space of the pelvis.
    pub(crate) hips_in_pelvis: Vec3,
}

impl RobotBody {
    /// The body of a robot.
    pub(crate) fn of(robot: &Arc<Robot>) -> Result<Self, &'static str> {
        let zero = ZeroPose::of(robot);
        let limbs = Limbs::of(robot, &zero)?;
        let leg_length = limbs.leg_length();
        let soles = [0, 1].map(|k| Sole::of(robot, &zero, &limbs.legs[k], leg_length));
        let capsules = link_capsules(robot, &zero, &limbs, &soles);
        let pairs = colliding_pairs(robot, &zero, &capsules, &spread(robot, &zero, &limbs));
        let reach = |k: usize| {
            let [a, b] = capsules[k].ends;
            capsules[k].radius + (b - a).norm() / 2.0
        };
        let far = pairs.iter().map(|&[a, b]| reach(a) + reach(b)).collect();
        let hips = (limbs.legs[0].root + limbs.legs[1].root) / 2.0;
        let hips_in_pelvis = zero.links[limbs.pelvis()].inverse().point(&hips);
        Ok(Self {
            robot: Arc::clone(robot),
            zero,
            limbs,
            soles,
            capsules,
            pairs,
            far,
            leg_length,
            hips_in_pelvis,
        })
    }

    /// The pairs of capsules with these ends that are not farther apart than `margin` by their lengths alone.
    pub(crate) fn near(&self, ends: &[[Vec3; 2]], margin: f64) -> impl Iterator<Item = [usize; 2]> {
        let near = move |&(&[a, b], far): &(&[usize; 2], &f64)| {
            // Twice the distance of the middles.
            let apart = ends[a][0] + ends[a][1] - ends[b][0] - ends[b][1];
            apart.norm_squared() <= 4.0 * (far + margin) * (far + margin)
        };
        self.pairs.iter().zip(&self.far).filter(near).map(|(&pair, _)| pair)
    }

    /// In the zero pose from the middle of the hips to the waist that bends forward, and from there to a point of the torso. Without such a
    /// waist the first is zero.
    pub(crate) fn trunk_at_zero(&self, in_torso: Vec3) -> [Vec3; 2] {
        let (pelvis, torso) = (self.limbs.pelvis(), self.limbs.torso());
        let hips = self.zero.links[pelvis].point(&self.hips_in_pelvis);
        let [a, b] = [pelvis, torso].map(|link| &self.zero.chains[link]);
        let between = a.iter().filter(|hinge| !b.contains(hinge)).chain(b.iter().filter(|h| !a.contains(h)));
        let bends = |&hinge: &usize| (self.zero.anchors[hinge], self.zero.axes[hinge].y.powi(2));
        let add = |(sum, whole): (Vec3, f64), (at, bends): (Vec3, f64)| (sum + at * bends, whole + bends);
        let (sum, whole) = between.map(bends).fold((Vec3::zeros(), 0.0), add);
        let waist = if whole > 0.0 { sum / whole } else { hips };
        [waist - hips, self.zero.links[torso].point(&in_torso) - waist]
    }

    /// The middle of the shoulders in the space of the torso, for links anywhere; `None` of robots without both arms.
    pub(crate) fn shoulders_in_torso(&self, links: &[Transform]) -> Option<Vec3> {
        let at = |arm: &RobotLimb| {
            links[arm.shoulder].point(&self.zero.links[arm.shoulder].inverse().point(&arm.root))
        };
        let [left, right] = self.limbs.arms.each_ref().map(Option::as_ref);
        let middle = (at(left?) + at(right?)) / 2.0;
        Some(links[self.limbs.torso()].inverse().point(&middle))
    }

    /// Whether hinges of clavicles move the shoulders against the torso.
    pub(crate) fn has_clavicles(&self) -> bool {
        self.limbs.arms.iter().flatten().any(|arm| arm.shoulder != arm.base)
    }

    /// The frame of a hand in the zero pose, by its index (left, right): X along the forearm, Z to the thumb's side, which is the axis
    /// of the world to which the elbow bends; up, or to the front of a steep forearm, if the elbow bends to both sides.
    pub(crate) fn hand_at_zero(&self, side: usize) -> Option<Quat> {
        let arm = self.limbs.arms[side].as_ref().filter(|arm| arm.bends)?;
        let along = self.zero.links[arm.lower].rotation * arm.lower_direction;
        let plain = if along.z.abs() < STEEP { Vec3::z() } else { Vec3::x() };
        let other = self.elbow_bends_to(arm, along).map_or(plain, |to| {
            let axis = to.iamax();
            Vec3::ith(axis, to[axis].signum())
        });
        let up = (other - along * along.dot(&other)).normalize();
        Some(from_columns(&along, &up.cross(&along), &up))
    }

    /// The direction to which a forearm along `along` moves in the zero pose while its elbow bends; `None` if it bends to both sides alike.
    fn elbow_bends_to(&self, arm: &RobotLimb, along: Vec3) -> Option<Vec3> {
        let hinge = &self.robot.hinges[arm.middle];
        let (axis, upper) =
            (self.zero.axes[arm.middle], self.zero.links[arm.upper].rotation * arm.upper_direction);
        let bend = |value: f64| -upper.dot(&(exp(&(axis * (value - hinge.zero))) * along));
        let [low, high] = hinge.range?.map(bend);
        ((high - low).abs() > MORE_FLEXED).then(|| axis.cross(&along) * (high - low).signum())
    }
}
