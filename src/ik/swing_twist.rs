//! Swing-twist limits of ball joints.
//!
//! A rotation is decomposed into a twist about the bone and a swing away from it (Dobrowolski 2015, eq. 9). The twist
//! angle is limited to an interval, the rotation vector of the swing to an ellipse whose half axes differ by quadrant
//! (Baerlocher and Boulic 2000). Space: local rotations. Units: radians.

use super::range::{Range, nearest_angle};
use crate::body::MotionRange;
use crate::math::twist_angle;
use crate::math::{Quat, Vec2, Vec3, exp, log, swing_twist};

/// The bound of a ball: how far it may swing off its bone axis, and twist about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingTwist {
    /// The local rotation from which swing and twist are measured: parent space from joint space.
    pub reference: Quat,
    /// The bone, a unit vector in joint space.
    pub axis: Vec3,
    /// The first swing axis, a unit vector in joint space perpendicular to the bone; the second one is
    /// `axis x first`.
    pub first: Vec3,
    /// How far it swings about the first and the second axis: `low <= 0 <= high`, radians.
    pub swing: [Range; 2],
    /// How far it twists, radians.
    pub twist: Range,
    /// Whether it twists before it swings: the swing axes are then those that the twist has turned.
    pub twist_first: bool,
}

impl From<MotionRange> for SwingTwist {
    fn from(range: MotionRange) -> Self {
        let MotionRange { reference, axis, first, swing, twist, twist_first } = range;
        let range = |[low, high]: [f64; 2]| Range::new(low, high);
        Self { reference, axis, first, swing: swing.map(range), twist: range(twist), twist_first }
    }
}

impl SwingTwist {
    /// Swing about the first and second axis, and twist, of a local rotation, in radians.
    pub fn angles(&self, local: &Quat) -> [f64; 3] {
        let relative = self.reference.inverse() * local;
        let (swing, turned) = swing_twist(&relative, &self.axis);
        let mut swing = log(&swing);
        if self.twist_first {
            swing = turned.inverse() * swing;
        }
        let second = self.axis.cross(&self.first);
        [swing.dot(&self.first), swing.dot(&second), twist_angle(&relative, &self.axis)]
    }

    /// The local rotation of these angles.
    pub fn rotation(&self, [first, second, twist]: [f64; 3]) -> Quat {
        let swing = exp(&(self.first * first + self.axis.cross(&self.first) * second));
        let twist = exp(&(self.axis * twist));
        self.reference * if self.twist_first { twist * swing } else { swing * twist }
    }

    /// The rotation with a swing of at least `least` radians about the first axis; exactly `local` from twice that on.
    ///
    /// In between it bends more and more, and the swing aside fades out: what is nearly straight has no side of its own, and
    /// whatever bends it on would throw its side about.
    pub fn bent(&self, local: &Quat, least: f64) -> Quat {
        let [first, second, twist] = self.angles(local);
        if first >= 2.0 * least {
            return *local;
        }
        let share = (first / (2.0 * least)).max(0.0);
        let bend = least * (1.0 + share * share);
        let aside = second * share * share * (3.0 - 2.0 * share);
        self.rotation([bend, aside, twist])
    }

    /// The nearest angles inside, those of [`SwingTwist::angles`]; the twist counts on past half a turn.
    pub fn nearest(&self, [first, second, twist]: [f64; 3]) -> [f64; 3] {
        let [first, second] = nearest_in_ellipse(&self.swing, first, second);
        [first, second, self.twist.clamp(twist)]
    }

    /// The nearest rotation inside, twist and swing each on its own; exactly `local` where it is inside.
    pub fn project(&self, local: &Quat) -> Quat {
        if self.plainly_holds(local) { *local } else { self.nearest_to(local) }
    }

    /// Whether the rotation is inside, told without angles: where it is so by what they are at most. What is near the bound
    /// is not told.
    fn plainly_holds(&self, local: &Quat) -> bool {
        let relative = self.reference.inverse() * local;
        let (w, v) = (relative.w, relative.imag());
        let along = v.dot(&self.axis);
        // The cosine of half the swing; near half a turn nothing tells the twist.
        let cosine = (w * w + along * along).sqrt();
        if cosine < 1e-3 {
            return false;
        }
        // Half an angle is the arc sine of `s`, which is at most s + (pi / 2 - 1) s^3.
        let most = |s: f64| 2.0 * s * (1.0 + (std::f64::consts::FRAC_PI_2 - 1.0) * s * s);
        let half = along / cosine * w.signum();
        let twist = [2.0 * half.abs(), most(half.abs())];
        let [low, high] = if half < 0.0 { [-twist[1], -twist[0]] } else { twist };
        // The sine of half the swing about either axis, as swing_twist has it.
        let second = self.axis.cross(&self.first);
        let (a, b) = (v.dot(&self.first), v.dot(&second));
        let (mut x, mut y) = ((w * a - along * b) / cosine, (w * b + along * a) / cosine);
        if self.twist_first {
            let (c, s) = ((w * w - along * along) / (cosine * cosine), 2.0 * w * along / (cosine * cosine));
            (x, y) = (x * c + y * s, y * c - x * s);
        }
        let sine = (x * x + y * y).sqrt();
        let grown = if sine > 0.0 { most(sine.min(1.0)) / sine } else { 2.0 };
        let share = |way: f64, r: &Range| way * grown / if way < 0.0 { -r.low } else { r.high };
        let (x, y) = (share(x, &self.swing[0]), share(y, &self.swing[1]));
        x * x + y * y < 1.0 - ROUNDED && self.twist.low < low - ROUNDED && high + ROUNDED < self.twist.high
    }

    /// The nearest rotation inside.
    fn nearest_to(&self, local: &Quat) -> Quat {
        let [first, second, twist] = self.angles(local);
        let swing = nearest_in_ellipse(&self.swing, first, second);
        let bounded = nearest_angle(&self.twist, twist);
        if swing == [first, second] && bounded == twist {
            return *local;
        }
        self.rotation([swing[0], swing[1], bounded])
    }
}

/// More than rounding can make of an angle or a share.
const ROUNDED: f64 = 1e-9;

/// The point of an ellipse with half axes by quadrant that is nearest to `(x, y)`; the point itself inside.
///
/// One coordinate's multiplier `t` solves `(a x / (t + a^2))^2 + (b y / (t + b^2))^2 = 1`; the left side falls and is
/// convex for `t >= 0`, so Newton's method from 0 climbs to the root without overshooting.
pub(super) fn nearest_in_ellipse(half: &[Range; 2], x: f64, y: f64) -> [f64; 2] {
    let side = |r: &Range, v: f64| if v < 0.0 { -r.low } else { r.high }.max(0.0);
    let (a, b) = (side(&half[0], x), side(&half[1], y));
    if a < 1e-9 || b < 1e-9 {
        // A flat ellipse is a segment.
        return [if a < 1e-9 { 0.0 } else { x.clamp(-a, a) }, if b < 1e-9 { 0.0 } else { y.clamp(-b, b) }];
    }
    let size = |p: Vec2<f64>| (p.x / a).powi(2) + (p.y / b).powi(2);
    if size(Vec2::new(x, y)) <= 1.0 + 1e-12 {
        return [x, y];
    }
    let mut t = 0.0;
    for _ in 0..60 {
        let (p, q) = (a * x / (t + a * a), b * y / (t + b * b));
        let value = p * p + q * q - 1.0;
        let slope = -2.0 * (p * p / (t + a * a) + q * q / (t + b * b));
        let step = -value / slope;
        t += step;
        if step <= 1e-15 * (1.0 + t) {
            break;
        }
    }
    let p = Vec2::new(a * a * x / (t + a * a), b * b * y / (t + b * b));
    // What is left of the iteration's error is taken out along the ray from the middle.
    let p = p / size(p).sqrt();
    [p.x, p.y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shoulder() -> SwingTwist {
        SwingTwist {
            reference: exp(&Vec3::new(0.3, -0.2, 0.5)),
            axis: Vec3::x(),
            first: Vec3::y(),
            swing: [Range::new(-0.4, 1.3), Range::new(-0.2, 0.7)],
            twist: Range::new(-0.5, 0.9),
            twist_first: false,
        }
    }

    proptest! {
        #[test]
        fn angles_are_those_of_their_rotation(x in -1.5..1.5f64, y in -1.5..1.5f64, t in -3.1..3.1f64, twist_first: bool) {
            let limit = SwingTwist { twist_first, ..shoulder() };
            let found = limit.angles(&limit.rotation([x, y, t]));
            prop_assert!(found.iter().zip([x, y, t]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }

        #[test]
        fn projected_balls_are_inside_and_stay(v in [-3.0..3.0f64, -3.0..3.0f64, -3.0..3.0f64], twist_first: bool) {
            let limit = SwingTwist { twist_first, ..shoulder() };
            let q = exp(&Vec3::from(v));
            let inside = limit.project(&q);
            let [a, b, t] = limit.angles(&inside);
            let (ha, hb) = (if a < 0.0 { 0.4 } else { 1.3 }, if b < 0.0 { 0.2 } else { 0.7 });
            prop_assert!((a / ha).powi(2) + (b / hb).powi(2) <= 1.0 + 1e-9);
            prop_assert!((-0.5 - 1e-9..=0.9 + 1e-9).contains(&t));
            prop_assert!(limit.project(&inside).angle_to(&inside) < 1e-9);
        }

        /// What is told without angles is what the angles tell, and rotations well inside are told.
        #[test]
        fn what_plainly_holds_is_its_own_nearest(
            x in -1.5..1.5f64, y in -0.9..0.9f64, t in -3.1..3.1f64, share in 0.0..0.8f64, turn in 0.0..6.3f64,
            twist_first: bool, negated: bool,
        ) {
            let limit = SwingTwist { twist_first, ..shoulder() };
            let sign = |q: Quat| if negated { Quat::new_unchecked(-q.into_inner()) } else { q };
            let q = sign(limit.rotation([x, y, t]));
            if limit.plainly_holds(&q) {
                prop_assert_eq!(limit.nearest_to(&q), q);
            }
            let (a, b) = (share * turn.cos(), share * turn.sin());
            let (x, y) = (a * if a < 0.0 { 0.4 } else { 1.3 }, b * if b < 0.0 { 0.2 } else { 0.7 });
            let t = if t < 0.0 { 0.45 * t / 3.1 } else { 0.75 * t / 3.1 };
            prop_assert!(limit.plainly_holds(&sign(limit.rotation([x, y, t]))));
        }

        /// LimbPose enough it stays, else it bends by at least the least, and moves on smoothly through straight.
        #[test]
        fn straight_joints_start_bent_the_way_they_bend(x in -0.6..0.6f64, y in -0.3..0.3f64, t in -0.4..0.8f64) {
            let limit = shoulder();
            let at = |x: f64| limit.rotation([x, y, t]);
            let bent = |x: f64| limit.bent(&at(x), 0.1);
            let [first, second, twist] = limit.angles(&bent(x));
            prop_assert!(first > 0.1 - 1e-9 && second.abs() <= y.abs() + 1e-9 && (twist - t).abs() < 1e-9);
            prop_assert!(x < 0.2 || bent(x) == at(x));
            prop_assert!(x > 0.0 || second.abs() < 1e-9);
            prop_assert!(bent(x).angle_to(&bent(x + 1e-3)) < 5e-3);
        }

        #[test]
        fn no_sampled_point_of_the_ellipse_is_nearer(x in -4.0..4.0f64, y in -4.0..4.0f64) {
            let half = shoulder().swing;
            let [p, q] = nearest_in_ellipse(&half, x, y);
            let found = (p - x).hypot(q - y);
            let (a, b) = (if x < 0.0 { 0.4 } else { 1.3 }, if y < 0.0 { 0.2 } else { 0.7 });
            for k in 0..=200 {
                let (s, c) = (f64::from(k) * std::f64::consts::FRAC_PI_2 / 200.0).sin_cos();
                let other = ((a * c).copysign(x) - x).hypot((b * s).copysign(y) - y);
                prop_assert!(found <= other + 1e-9);
            }
        }
    }
}
