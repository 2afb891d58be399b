//! Fast test whether a limited joint is well inside its limit, for one frame or several in lanes.
//!
//! Most joints are, and only the others need their angles.
//! For a rotation `q = (w, v)` away from the middle of a twist range about the unit axis `a`, with `n^2 = w^2 + (v . a)^2`:
//! the twist is inside `+-d` where `w^2 >= cos^2(d / 2) n^2`, and the swing is at most `s` where `n^2 >= cos^2(s / 2)`; the
//! ellipse of swings holds the circle of its shortest half axis. Units: radians.

use super::freedom::Freedom;
use super::limit::Limit;
use super::mechanism::Mechanism;
use super::range::Range;
use super::tree_algebra::{Q, multiply};
use crate::math::{Quat, Real, Vec3};
use crate::model::JointId;

/// Distance from the limit that counts as well inside, radians.
const MARGIN: f64 = 1e-5;

/// The test of one limited joint.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    /// Its slot.
    pub slot: usize,
    /// The joint.
    pub joint: JointId,
    test: Option<Test>,
}

#[derive(Clone, Debug)]
struct Test {
    /// Inverse of the rotation at the middle of the twist range.
    unreference: [f64; 4],
    axis: [f64; 3],
    /// Squared cosines of half the twist and half the swing.
    twist: f64,
    swing: f64,
}

impl Gate {
    /// The test of a joint that has a limit.
    pub fn new(mechanism: &Mechanism, slot: usize, joint: JointId) -> Self {
        let rest = mechanism.skeleton().joint(joint).rest.rotation;
        let test = match (mechanism.limit(joint), mechanism.freedom(joint)) {
            (Some(Limit::Range(range)), Freedom::Hinge(axis)) => Test::new(rest, axis, range, None),
            (Some(Limit::SwingTwist(limit)), Freedom::Ball | Freedom::Free) => {
                let ends = limit.swing.iter().flat_map(|r| [-r.low, r.high]);
                let shortest = ends.fold(f64::INFINITY, f64::min);
                Test::new(limit.reference, limit.axis, &limit.twist, Some(shortest))
            }
            _ => None,
        };
        Self { slot, joint, test }
    }

    /// The lanes in which a local rotation is well inside.
    pub fn inside<T: Real>(&self, q: Q<T>) -> u32 {
        let Some(test) = &self.test else { return 0 };
        let r = multiply(test.unreference.map(T::splat), q);
        let along =
            r[1] * T::splat(test.axis[0]) + r[2] * T::splat(test.axis[1]) + r[3] * T::splat(test.axis[2]);
        let ww = r[0] * r[0];
        let nn = ww + along * along;
        let out = ww.less(nn * T::splat(test.twist)) | nn.less(T::splat(test.swing));
        !out & ((1 << T::LANES) - 1)
    }
}

impl Test {
    fn new(reference: Quat, axis: Vec3, twist: &Range, swing: Option<f64>) -> Option<Self> {
        let half = 0.5 * (twist.high - twist.low) - MARGIN;
        let swing = swing.map_or(std::f64::consts::PI, |s| s - MARGIN);
        if half <= 0.0 || swing <= 0.0 {
            return None;
        }
        // Removing the middle of the twist on the left rotates the swing axis and leaves the swing angle unchanged.
        let middle = crate::math::exp(&(axis * (0.5 * (twist.low + twist.high))));
        let cosine = |angle: f64| libm::cos(0.5 * angle).powi(2);
        let q = (reference * middle).inverse();
        Some(Self {
            unreference: [q.w, q.i, q.j, q.k],
            axis: axis.into(),
            twist: if half < std::f64::consts::PI { cosine(half) } else { 0.0 },
            // At a swing of 180 degrees the twist is undefined.
            swing: if swing < std::f64::consts::PI { cosine(swing).max(1e-12) } else { 1e-12 },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::SwingTwist;
    use crate::math::{RealX4, Transform, exp};
    use crate::model::{Joint, Skeleton};
    use proptest::prelude::*;

    proptest! {
        /// A joint that passes the test is inside its limit, and most joints inside pass.
        #[test]
        fn joints_that_pass_are_inside(v in [-3.0..3.0f64, -3.0..3.0f64, -3.0..3.0f64], low in -2.0..0.0f64, high in 0.1..2.5f64) {
            let rest = Transform::from_rotation(exp(&Vec3::new(0.3, -0.2, 0.5)));
            let skeleton = Skeleton::new(vec![Joint::new("a", None, rest)]).unwrap();
            let joint = JointId::new(0);
            let ball = SwingTwist {
                reference: exp(&Vec3::new(0.1, 0.9, -0.4)),
                axis: Vec3::x(),
                first: Vec3::y(),
                swing: [Range::new(-0.5, 1.3), Range::new(-0.4, high)],
                twist: Range::new(low, high),
                twist_first: false,
            };
            let cases = [
                (Freedom::Ball, Limit::SwingTwist(ball), exp(&Vec3::from(v))),
                (Freedom::Hinge(Vec3::z()), Limit::Range(Range::new(low, high)), rest.rotation * exp(&(Vec3::z() * v[0]))),
            ];
            for (freedom, limit, q) in cases {
                let mechanism = Mechanism::new(&skeleton, [freedom]).with_limit(joint, limit);
                let gate = Gate::new(&mechanism, 0, joint);
                let passes = gate.inside::<f64>([q.w, q.i, q.j, q.k]) == 1;
                let local = Transform::from_rotation(q);
                prop_assert!(!passes || mechanism.limited(joint, &local) == local);
                prop_assert!(!passes || !limit.at_edge(&freedom, &rest, &local));
                let hinge_inside = (low + 1e-4..high - 1e-4).contains(&v[0]);
                prop_assert!(passes || !matches!(freedom, Freedom::Hinge(_)) || !hinge_inside);
                let lanes = gate.inside([q.w, q.i, q.j, q.k].map(RealX4::splat));
                prop_assert_eq!(lanes, if passes { 0b1111 } else { 0 });
            }
        }
    }
}
