//! Joint limits: projection of a joint transform to the nearest one within the limit.
//!
//! Hinges, slides and two-axis joints have intervals, ball joints a swing-twist limit. Space: local transforms. Units:
//! radians, metres.

use super::freedom::Freedom;
use super::range::{Range, nearest_angle};
use super::swing_twist::{SwingTwist, nearest_in_ellipse};
use crate::math::{Quat, Transform, Vec3, exp, twist_angle};

/// The limit of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// The angle of a hinge from the rest rotation, or the displacement of a slide from the rest translation.
    Range(Range),
    /// The two angles of a two-axis joint.
    Ranges([Range; 2]),
    /// Swing and twist of a ball joint, or of the rotation of a free root.
    SwingTwist(SwingTwist),
}

impl Limit {
    /// The nearest transform within the limit; exactly `local` if it is inside, or if the kind of limit does not match
    /// the kind of joint.
    pub fn project(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> Transform {
        let relative = rest.rotation.inverse() * local.rotation;
        let mut nearest = *local;
        match (self, freedom) {
            (Limit::Range(range), Freedom::Hinge(axis)) => {
                let angle = twist_angle(&relative, axis);
                let bounded = nearest_angle(range, angle);
                if bounded != angle {
                    nearest.rotation = local.rotation * exp(&(axis * (bounded - angle)));
                }
            }
            (Limit::Range(range), Freedom::Slide(axis)) => {
                let axis = rest.rotation * axis;
                let offset = axis.dot(&(local.translation - rest.translation));
                nearest.translation += axis * (range.clamp(offset) - offset);
            }
            (Limit::Ranges(ranges), Freedom::TwoAxis(a, b)) => {
                let [first, second] = two_angles(&relative, a, b);
                let bounded = [nearest_angle(&ranges[0], first), nearest_angle(&ranges[1], second)];
                if bounded != [first, second] {
                    let bounded =
                        exp(&(a * (bounded[0] - first))) * relative * exp(&(b * (bounded[1] - second)));
                    nearest.rotation = rest.rotation * bounded;
                }
            }
            (Limit::SwingTwist(limit), Freedom::Ball | Freedom::Free) => {
                nearest.rotation = limit.project(&local.rotation);
            }
            _ => {}
        }
        nearest
    }

    /// The limited coordinates of a local transform: an angle, an offset, two angles, or swing and twist; none if the
    /// kind of limit does not match the kind of joint.
    pub fn coordinates(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> Vec<f64> {
        let (values, count) = self.values(freedom, rest, local);
        values[..count].to_vec()
    }

    /// As [`Limit::coordinates`], as a fixed array with the count.
    fn values(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> ([f64; 3], usize) {
        let relative = rest.rotation.inverse() * local.rotation;
        match (self, freedom) {
            (Limit::Range(_), Freedom::Hinge(axis)) => ([twist_angle(&relative, axis), 0.0, 0.0], 1),
            (Limit::Range(_), Freedom::Slide(axis)) => {
                let offset = (rest.rotation * axis).dot(&(local.translation - rest.translation));
                ([offset, 0.0, 0.0], 1)
            }
            (Limit::Ranges(_), Freedom::TwoAxis(a, b)) => {
                let [first, second] = two_angles(&relative, a, b);
                ([first, second, 0.0], 2)
            }
            (Limit::SwingTwist(limit), Freedom::Ball | Freedom::Free) => (limit.angles(&local.rotation), 3),
            _ => ([0.0; 3], 0),
        }
    }

    /// Whether a transform within the limit is at its edge, to within a microradian or micrometre.
    pub fn at_edge(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> bool {
        /// Tolerance in radians or metres: well above rounding, far below anything visible.
        const EDGE: f64 = 1e-6;
        let at = |r: &Range, x: f64| x <= r.low + EDGE || x >= r.high - EDGE;
        let ([x, y, z], count) = self.values(freedom, rest, local);
        match self {
            _ if count == 0 => false,
            Limit::Range(range) => at(range, x),
            Limit::Ranges([first, second]) => at(first, x) || at(second, y),
            Limit::SwingTwist(limit) => {
                let grown = [x, y].map(|s| s * (1.0 + EDGE) + EDGE.copysign(s));
                at(&limit.twist, z) || nearest_in_ellipse(&limit.swing, grown[0], grown[1]) != grown
            }
        }
    }
}

/// The angles of `relative = exp(a s) exp(b t)` for perpendicular unit axes.
fn two_angles(relative: &Quat, a: &Vec3, b: &Vec3) -> [f64; 2] {
    let rotated = relative * b;
    let first = libm::atan2(a.dot(&b.cross(&rotated)), b.dot(&rotated));
    [first, twist_angle(&(exp(&(a * -first)) * relative), b)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_axis_joints_keep_their_box(s in -3.1..3.1f64, t in -3.1..3.1f64) {
            let (a, b) = (Vec3::z(), Vec3::y());
            let relative = exp(&(a * s)) * exp(&(b * t));
            let found = two_angles(&relative, &a, &b);
            prop_assert!((exp(&(a * found[0])) * exp(&(b * found[1]))).angle_to(&relative) < 1e-9);
            let limit = Limit::Ranges([Range::new(-0.3, 0.5), Range::new(-1.0, 0.1)]);
            let rest = Transform::from_rotation(exp(&Vec3::new(1.0, 0.2, 0.3)));
            let local = Transform::from_rotation(rest.rotation * relative);
            let inside = limit.project(&Freedom::TwoAxis(a, b), &rest, &local);
            let [s, t] = two_angles(&(rest.rotation.inverse() * inside.rotation), &a, &b);
            prop_assert!((-0.3 - 1e-9..=0.5 + 1e-9).contains(&s) && (-1.0 - 1e-9..=0.1 + 1e-9).contains(&t));
        }

        #[test]
        fn hinges_and_slides_keep_their_box(x in -3.0..3.0f64) {
            let rest = Transform::new(exp(&Vec3::new(1.0, 0.2, 0.3)), Vec3::new(0.1, 0.2, 0.3));
            let limit = Limit::Range(Range::new(-0.1, 2.0));
            let hinge = Transform::from_rotation(rest.rotation * exp(&(Vec3::y() * x)));
            let inside = limit.project(&Freedom::Hinge(Vec3::y()), &rest, &hinge);
            let angle = twist_angle(&(rest.rotation.inverse() * inside.rotation), &Vec3::y());
            prop_assert!((-0.1 - 1e-9..=2.0 + 1e-9).contains(&angle));
            prop_assert!(!(-0.1..=2.0).contains(&x) || inside == hinge);
            let slide = Transform::new(rest.rotation, rest.translation + rest.rotation * Vec3::y() * x);
            let inside = limit.project(&Freedom::Slide(Vec3::y()), &rest, &slide);
            let offset = (rest.rotation * Vec3::y()).dot(&(inside.translation - rest.translation));
            prop_assert!((offset - x.clamp(-0.1, 2.0)).abs() < 1e-12);
        }
    }
}
