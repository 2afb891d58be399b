//! Swing-twist limits of ball joints.
//!
//! A rotation is decomposed into a twist about the bone and a swing away from it (Dobrowolski 2015, eq. 9). The twist
//! angle is limited to an interval, the rotation vector of the swing to an ellipse whose half axes differ by quadrant
//! (Baerlocher and Boulic 2000). Space: local rotations. Units: radians.

use super::range::{Range, nearest_angle};
use crate::body::MotionRange;
use crate::math::{Quat, Vec2, Vec3, exp, log, swing_twist, twist_angle};

/// The limit of a ball joint: its swing away from the bone axis and its twist about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwingTwist {
    /// The local rotation from which swing and twist are measured: parent space from joint space.
    pub reference: Quat,
    /// The bone, a unit vector in joint space.
    pub axis: Vec3,
    /// The first swing axis, a unit vector in joint space perpendicular to the bone; the second one is
    /// `axis x first`.
    pub first: Vec3,
    /// Swing about the first and the second axis: `low <= 0 <= high`, radians.
    pub swing: [Range; 2],
    /// Twist, radians.
    pub twist: Range,
    /// Whether the twist comes before the swing: the swing axes are then rotated by the twist.
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
    /// Swing about the first and second axis, and twist, of a local rotation; radians.
    pub fn angles(&self, local: &Quat) -> [f64; 3] {
        let relative = self.reference.inverse() * local;
        let (swing, twist) = swing_twist(&relative, &self.axis);
        let mut swing = log(&swing);
        if self.twist_first {
            swing = twist.inverse() * swing;
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

    /// The rotation with a swing of at least `least` radians about the first axis; exactly `local` from `2 least` on.
    ///
    /// Below that the swing is increased smoothly and the swing about the second axis fades out: a nearly straight joint
    /// has no well-defined bend direction, which would jump when the joint bends further.
    pub fn with_least_bend(&self, local: &Quat, least: f64) -> Quat {
        let [first, second, twist] = self.angles(local);
        if first >= 2.0 * least {
            return *local;
        }
        let share = (first / (2.0 * least)).max(0.0);
        let bend = least * (1.0 + share * share);
        let aside = second * share * share * (3.0 - 2.0 * share);
        self.rotation([bend, aside, twist])
    }

    /// The nearest angles within the limit, in the form of [`SwingTwist::angles`]; the twist is not wrapped at 180 degrees.
    pub fn nearest(&self, [first, second, twist]: [f64; 3]) -> [f64; 3] {
        let [first, second] = nearest_in_ellipse(&self.swing, first, second);
        [first, second, self.twist.clamp(twist)]
    }

    /// The nearest rotation within the limit, twist and swing separately; exactly `local` if it is inside.
    pub fn project(&self, local: &Quat) -> Quat {
        if self.plainly_holds(local) { *local } else { self.nearest_to(local) }
    }

    /// Fast conservative test that the rotation is inside, by upper bounds on its angles; false near the limit.
    fn plainly_holds(&self, local: &Quat) -> bool {
        let relative = self.reference.inverse() * local;
        let (w, v) = (relative.w, relative.imag());
        let along = v.dot(&self.axis);
        // The cosine of half the swing; near a swing of 180 degrees the twist is undefined.
        let square = w * w + along * along;
        let cosine = square.sqrt();
        if cosine < 1e-3 {
            return false;
        }
        // Half an angle is the arc sine of `s`, which is at least s and at most s + K s^3. Both sides of each comparison are
        // multiplied by powers of the cosine, in place of divisions.
        const K: f64 = std::f64::consts::FRAC_PI_2 - 1.0;
        let half = along.abs();
        let (low, high) = match (along < 0.0) == (w < 0.0) {
            true => (self.twist.low, self.twist.high),
            false => (-self.twist.high, -self.twist.low),
        };
        let most = 2.0 * half * (square + K * half * half);
        if most >= (high - ROUNDED) * square * cosine || (low + ROUNDED) * cosine >= 2.0 * half {
            return false;
        }
        // The sine of half the swing about each axis, as of swing_twist.
        let second = self.axis.cross(&self.first);
        let (a, b) = (v.dot(&self.first), v.dot(&second));
        let (mut x, mut y) = (w * a - along * b, w * b + along * a);
        let most = 2.0 * (square + K * (x * x + y * y));
        let mut scale = square * square * square;
        if self.twist_first {
            let (c, s) = (w * w - along * along, 2.0 * w * along);
            (x, y) = (x * c + y * s, y * c - x * s);
            scale *= square * square;
        }
        let side = |s: f64, r: &Range| if s < 0.0 { r.low * r.low } else { r.high * r.high };
        let (p, q) = (side(x, &self.swing[0]), side(y, &self.swing[1]));
        (x * x * q + y * y * p) * most * most < (1.0 - ROUNDED) * p * q * scale
    }

    /// The nearest rotation within the limit.
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

/// Larger than the rounding error of an angle (radians) or a share.
const ROUNDED: f64 = 1e-9;

/// The point nearest to `(x, y)` of an ellipse whose half axes differ by quadrant; the point itself if inside.
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
    // The remaining error of the iteration is removed along the ray from the centre.
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

        /// The fast test agrees with the angles, and accepts rotations well inside.
        #[test]
        fn what_plainly_holds_is_its_own_nearest(
            x in -1.5..1.5f64, y in -0.9..0.9f64, t in -3.1..3.1f64, share in 0.0..0.8f64, direction in 0.0..6.3f64,
            twist_first: bool, negated: bool,
        ) {
            let limit = SwingTwist { twist_first, ..shoulder() };
            let sign = |q: Quat| if negated { Quat::new_unchecked(-q.into_inner()) } else { q };
            let q = sign(limit.rotation([x, y, t]));
            if limit.plainly_holds(&q) {
                prop_assert_eq!(limit.nearest_to(&q), q);
            }
            let (a, b) = (share * direction.cos(), share * direction.sin());
            let (x, y) = (a * if a < 0.0 { 0.4 } else { 1.3 }, b * if b < 0.0 { 0.2 } else { 0.7 });
            let t = if t < 0.0 { 0.45 * t / 3.1 } else { 0.75 * t / 3.1 };
            prop_assert!(limit.plainly_holds(&sign(limit.rotation([x, y, t]))));
        }

        /// A joint bent far enough is unchanged, else it gets the minimum bend, smoothly through straight.
        #[test]
        fn straight_joints_get_a_least_bend_towards_their_side(x in -0.6..0.6f64, y in -0.3..0.3f64, t in -0.4..0.8f64) {
            let limit = shoulder();
            let at = |x: f64| limit.rotation([x, y, t]);
            let bend = |x: f64| limit.with_least_bend(&at(x), 0.1);
            let [first, second, twist] = limit.angles(&bend(x));
            prop_assert!(first > 0.1 - 1e-9 && second.abs() <= y.abs() + 1e-9 && (twist - t).abs() < 1e-9);
            prop_assert!(x < 0.2 || bend(x) == at(x));
            prop_assert!(x > 0.0 || second.abs() < 1e-9);
            prop_assert!(bend(x).angle_to(&bend(x + 1e-3)) < 5e-3);
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
