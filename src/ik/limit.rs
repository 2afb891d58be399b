//! Bounds of joints: a transform of a joint becomes the nearest one inside.
//!
//! Hinges, two-axis joints and slides have boxes. Balls have a twist about the bone and a swing away from it
//! (Dobrowolski 2015, eq. 9): the twist angle keeps to an interval, the swing's rotation vector to an ellipse whose
//! half axes differ by quadrant (Baerlocher and Boulic 2000). Space: local transforms. Units: radians, metres.

use super::mechanism::Freedom;
use crate::body::MotionRange;
use crate::math::{Quat, Transform, Vec2, Vec3, exp, log, swing_twist, twist_angle};

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Range {
    /// From one number to another; the two in the wrong order are one point between.
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high {
            Self { low, high }
        } else {
            Self { low: 0.5 * (low + high), high: 0.5 * (low + high) }
        }
    }

    /// The nearest value inside; `low` for what is not a number.
    pub fn clamp(&self, x: f64) -> f64 {
        if x >= self.low { x.min(self.high) } else { self.low }
    }
}

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

/// A bound of one joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// The angle of a hinge away from the rest rotation, or the way of a slide from the rest translation.
    Range(Range),
    /// The two angles of a two-axis joint.
    Ranges([Range; 2]),
    /// Swing and twist of a ball, or of the rotation of a free root.
    SwingTwist(SwingTwist),
}

impl Limit {
    /// The nearest transform inside the bound: exactly `local` where it is inside, and where the kind of limit
    /// does not fit the kind of joint.
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
                let way = axis.dot(&(local.translation - rest.translation));
                nearest.translation += axis * (range.clamp(way) - way);
            }
            (Limit::Ranges(ranges), Freedom::TwoAxis(a, b)) => {
                let [first, second] = two_angles(&relative, a, b);
                let bounded = [nearest_angle(&ranges[0], first), nearest_angle(&ranges[1], second)];
                if bounded != [first, second] {
                    let turned =
                        exp(&(a * (bounded[0] - first))) * relative * exp(&(b * (bounded[1] - second)));
                    nearest.rotation = rest.rotation * turned;
                }
            }
            (Limit::SwingTwist(limit), Freedom::Ball | Freedom::Free) => {
                nearest.rotation = limit.project(&local.rotation);
            }
            _ => {}
        }
        nearest
    }

    /// The bounded numbers of a local transform: an angle, a way, two angles, or swing and twist; none where the kind
    /// of limit does not fit the kind of joint.
    pub fn coordinates(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> Vec<f64> {
        let (values, count) = self.values(freedom, rest, local);
        values[..count].to_vec()
    }

    /// As [`Limit::coordinates`], with how many there are.
    fn values(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> ([f64; 3], usize) {
        let relative = rest.rotation.inverse() * local.rotation;
        match (self, freedom) {
            (Limit::Range(_), Freedom::Hinge(axis)) => ([twist_angle(&relative, axis), 0.0, 0.0], 1),
            (Limit::Range(_), Freedom::Slide(axis)) => {
                let way = (rest.rotation * axis).dot(&(local.translation - rest.translation));
                ([way, 0.0, 0.0], 1)
            }
            (Limit::Ranges(_), Freedom::TwoAxis(a, b)) => {
                let [first, second] = two_angles(&relative, a, b);
                ([first, second, 0.0], 2)
            }
            (Limit::SwingTwist(limit), Freedom::Ball | Freedom::Free) => (limit.angles(&local.rotation), 3),
            _ => ([0.0; 3], 0),
        }
    }

    /// Whether a transform that keeps the bound stands at its edge, to within a microradian or micrometre.
    pub fn at_edge(&self, freedom: &Freedom, rest: &Transform, local: &Transform) -> bool {
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

/// The angle inside the range that is nearest to `angle` on the circle.
fn nearest_angle(range: &Range, angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    // A range may run past half a turn; the angle is the same one a turn further.
    if [angle, angle + turn, angle - turn].iter().any(|a| range.low <= *a && *a <= range.high) {
        return angle;
    }
    let away = |bound: f64| {
        let d = (angle - bound).abs() % turn;
        d.min(turn - d)
    };
    if away(range.low) < away(range.high) { range.low } else { range.high }
}

/// The angles of `relative = exp(a s) exp(b t)` for perpendicular unit axes.
fn two_angles(relative: &Quat, a: &Vec3, b: &Vec3) -> [f64; 2] {
    let turned = relative * b;
    let first = libm::atan2(a.dot(&b.cross(&turned)), b.dot(&turned));
    [first, twist_angle(&(exp(&(a * -first)) * relative), b)]
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
fn nearest_in_ellipse(half: &[Range; 2], x: f64, y: f64) -> [f64; 2] {
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

        /// Bent enough it stays, else it bends by at least the least, and moves on smoothly through straight.
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
            let way = (rest.rotation * Vec3::y()).dot(&(inside.translation - rest.translation));
            prop_assert!((way - x.clamp(-0.1, 2.0)).abs() < 1e-12);
        }
    }
}
