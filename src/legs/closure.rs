//! Two-bone IK with a soft knee: near full extension the foot gives way instead of the knee popping.
//!
//! A straight knee would have to bend by degrees for millimetres of the foot. The length from hip to ankle therefore
//! minimises `((bend - bend_0) / knee)^2 + ((length - wanted) / give)^2` over the bend of the knee, between the original bend
//! and the one that reaches the goal (Kovar, Schreiner and Gleicher 2002 allow the bones to stretch instead). The leg swings
//! by the shortest rotation and its knee keeps its side. Space: model space. Units: metres, radians.

use super::leg::{Leg, Step};
use super::settings::Settings;
use super::timeline::TOGETHER;
use crate::ik::reframe;
use crate::math::{Transform, Vec3, arc};
use rayon::prelude::*;

/// Bisection steps for the bend: to 1e-10 of the interval.
const HALVINGS: usize = 34;
/// Most iterations of Newton's method; four or five reach rounding error.
const NEWTON: usize = 12;
/// Accuracy of the root, radians: bisection is no more accurate.
const CLOSE: f64 = 1e-10;
/// Bound on the rounding error of a slope, relative to its coefficients: some hundred units in the last place.
const ROUNDED: f64 = 1e-13;

/// The mean direction in which the knee points, in the space of the upper leg: added bend goes to this side.
pub fn knee_side(steps: &[Step]) -> Vec3 {
    let side = |step: &Step| step.upper.rotation.inverse() * beside(step);
    let sides: Vec<Vec3> = steps.par_iter().with_min_len(TOGETHER).map(side).collect();
    sides.iter().sum::<Vec3>().try_normalize(1e-12).unwrap_or_default()
}

/// The [`knee_side`] of each leg.
pub fn knee_sides(steps: &[Vec<Step>]) -> Vec<Vec3> {
    steps.iter().map(|steps| knee_side(steps)).collect()
}

/// The offset of the knee from the line between hip and ankle.
fn beside(step: &Step) -> Vec3 {
    let [hip, knee, ankle] = step.places();
    let line = (ankle - hip).try_normalize(1e-12);
    line.map_or(Vec3::zeros(), |e| (knee - hip) - e * e.dot(&(knee - hip)))
}

/// Largest bend that a knee or an elbow may be given, radians: heel to seat, hand to shoulder. A larger original bend is
/// kept. With 150 degrees feet stay up to 25 mm in the floor in a deep crouch.
pub const FOLDED: f64 = 160.0 * std::f64::consts::PI / 180.0;

/// Solves every leg in every frame for the hip and ankle positions that `ends` returns (for leg, frame and original
/// transforms); a leg without does not change. `sides` is from [`knee_sides`], `fold` the largest bend that a knee may be
/// given.
pub fn close_all(
    legs: &[&Leg],
    steps: &mut [Vec<Step>],
    sides: &[Vec3],
    fold: f64,
    settings: &Settings,
    ends: impl Fn(usize, usize, &Step) -> Option<[Vec3; 2]> + Sync,
) {
    for (k, ((leg, steps), side)) in legs.iter().zip(steps).zip(sides).enumerate() {
        let limits = [leg.length(), fold];
        steps.par_iter_mut().with_min_len(32).enumerate().for_each(|(f, step)| {
            if let Some([hip, goal]) = ends(k, f, step) {
                *step = close(step, &hip, &goal, side, limits, settings);
            }
        });
    }
}

/// The leg of `step` with its hip at `hip` and its ankle as near to `goal` as the soft knee allows; foot and toes keep their
/// rotations. `side` is from [`knee_sides`], `length` is that of the leg, `fold` the largest bend that the knee may be
/// given.
fn close(
    step: &Step,
    hip: &Vec3,
    goal: &Vec3,
    side: &Vec3,
    [length, fold]: [f64; 2],
    settings: &Settings,
) -> Step {
    let [old_hip, knee, ankle] = step.places();
    let bones = [(knee - old_hip).norm(), (ankle - knee).norm()];
    let (line, new_line) = (ankle - old_hip, goal - hip);
    let (Some(e), Some(new_e)) = (line.try_normalize(1e-12), new_line.try_normalize(1e-12)) else {
        return step.moved(&(hip - old_hip));
    };
    let distance = soft_length(new_line.norm(), line.norm(), bones, length, fold, settings);
    let [l1, l2] = bones;
    let along = (l1 * l1 + distance * distance - l2 * l2) / (2.0 * distance);
    let height = (l1 * l1 - along * along).max(0.0).sqrt();
    let out = beside(step);
    let ahead = step.upper.rotation * side;
    let ahead = (ahead - e * e.dot(&ahead)).try_normalize(1e-12).unwrap_or_default();
    // The small term gives a straight leg a side.
    let pole = out + ahead * ((height - out.norm()).max(0.0) + 1e-6 * length);
    let swing = arc(&e, &new_e, &Vec3::x());
    let Some(new_pole) = (swing * pole).try_normalize(1e-12) else { return step.moved(&(hip - old_hip)) };
    let new_knee = hip + new_e * along + new_pole * height;
    let new_ankle = hip + new_e * distance;
    let axes = [e.cross(&pole), new_e.cross(&new_pole)];
    let turned = [(knee - old_hip, new_knee - hip), (ankle - knee, new_ankle - new_knee)]
        .map(|(old, new)| reframe(&old, &axes[0], &new, &axes[1]));
    let [Some(thigh), Some(shin)] = turned else { return step.moved(&(hip - old_hip)) };
    let way = new_ankle - ankle;
    let carried = |t: &Transform| Transform::new(t.rotation, t.translation + way);
    Step {
        upper: Transform::new(thigh * step.upper.rotation, *hip),
        lower: Transform::new(shin * step.lower.rotation, new_knee),
        foot: carried(&step.foot),
        toes: carried(&step.toes),
    }
}

/// The cost of the bend of a knee, and the interval of its minimum.
struct Cost {
    bones: [f64; 2],
    wanted: f64,
    /// The original bend and the one that reaches the goal.
    first: f64,
    last: f64,
    /// The weights of the knee's error and of the foot's.
    knee: f64,
    give: f64,
}

impl Cost {
    fn new(wanted: f64, arriving: f64, bones: [f64; 2], length: f64, fold: f64, settings: &Settings) -> Self {
        let [l1, l2] = bones;
        let bend = |d: f64| {
            let cosine = (l1 * l1 + l2 * l2 - d * d) / (2.0 * l1 * l2);
            std::f64::consts::PI - libm::acos(cosine.clamp(-1.0, 1.0))
        };
        let first = bend(arriving);
        let last = bend(wanted.min(l1 + l2)).min(fold.max(first));
        let (knee, give) = (settings.knee.powi(-2), (settings.give * length).powi(-2));
        Self { bones, wanted, first, last, knee, give }
    }

    /// The distance from hip to ankle.
    fn distance(&self, cosine: f64) -> f64 {
        let [l1, l2] = self.bones;
        (l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * cosine).max(0.0).sqrt()
    }

    /// First and second derivative (halved) of the cost by the bend; the first changes its sign between the ends of the
    /// interval.
    fn slope(&self, bend: f64) -> (f64, f64) {
        let Self { bones: [l1, l2], wanted, first, knee, give, .. } = *self;
        let (sin, cos) = libm::sincos(bend);
        let d = self.distance(cos);
        let foot = (d - wanted) * give * l1 * l2 * sin / d.max(1e-9);
        let d = d.max(1e-9);
        let growth = (1.0 - wanted / d) * cos - l1 * l2 * wanted * sin * sin / (d * d * d);
        ((bend - first) * knee - foot, knee - give * l1 * l2 * growth)
    }
}

/// The distance from hip to ankle of least cost, between the original one and the wanted one.
fn soft_length(
    wanted: f64,
    arriving: f64,
    bones: [f64; 2],
    length: f64,
    fold: f64,
    settings: &Settings,
) -> f64 {
    if (wanted - arriving).abs() < 1e-12 {
        return arriving;
    }
    let cost = Cost::new(wanted, arriving, bones, length, fold, settings);
    let (mut low, mut high) = (cost.first.min(cost.last), cost.first.max(cost.last));
    if low == high {
        // The knee may not bend any further.
        return cost.distance(libm::cos(low));
    }
    let single = high <= std::f64::consts::FRAC_PI_2;
    if let Some(root) = single.then(|| root(&cost, [low, high], wanted > arriving)).flatten() {
        return cost.distance(libm::cos(root));
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if cost.slope(middle).0 > 0.0 { high = middle } else { low = middle }
    }
    cost.distance(libm::cos(0.5 * (low + high)))
}

/// The root of the slope of a cost between `low` and `high`; `None` if there may be several or Newton's method does not
/// converge. Up to a right angle the slope of a leg that becomes longer grows at least by the knee's share; that of one that
/// becomes shorter is convex, so a root at which it grows is the last one.
fn root(cost: &Cost, [low, high]: [f64; 2], longer: bool) -> Option<f64> {
    let least = 0.5 * cost.knee;
    let rounded = ROUNDED * (cost.knee + cost.give * cost.bones[0] * cost.bones[1]);
    // Start at the root of the chord between both ends.
    let [at_low, at_high] = [low, high].map(|end| cost.slope(end).0);
    let share = at_low / (at_low - at_high).min(-f64::MIN_POSITIVE);
    let mut root = (low + (high - low) * share).clamp(low, high);
    for _ in 0..NEWTON {
        let (off, growth) = cost.slope(root);
        if off.abs() + rounded < CLOSE * least {
            return (longer || (at_low <= 0.0 && growth >= least)).then_some(root);
        }
        root = (root - off / growth.max(least)).clamp(low, high);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, exp};
    use proptest::prelude::*;

    /// A leg of half a metre each that hangs down with its knee bent forwards.
    fn leg(bend: f64) -> Step {
        let turned = |angle: f64| exp(&(Vec3::x() * angle));
        let upper = Transform::new(turned(-0.5 * bend), Vec3::new(0.0, 1.0, 0.0));
        let knee = upper.point(&(Vec3::y() * -0.5));
        let lower = Transform::new(turned(0.5 * bend), knee);
        let foot = Transform::new(Quat::identity(), lower.point(&(Vec3::y() * -0.5)));
        Step { upper, lower, foot, toes: foot }
    }

    fn bend(step: &Step) -> f64 {
        let [hip, knee, ankle] = step.places();
        crate::math::angle_between(&(knee - hip), &(ankle - knee))
    }

    fn closed(step: &Step, hip: Vec3, goal: Vec3) -> Step {
        close(step, &hip, &goal, &knee_sides(&[vec![leg(0.4)]])[0], [1.0, 2.7], &Settings::default())
    }

    proptest! {
        #[test]
        fn what_need_not_move_does_not(bend in 0.0..2.0f64) {
            let step = leg(bend);
            let [hip, _, ankle] = step.places();
            let same = closed(&step, hip, ankle);
            for (a, b) in step.places().iter().zip(same.places()) {
                prop_assert!((a - b).norm() < 1e-9);
            }
            prop_assert!(step.upper.rotation.angle_to(&same.upper.rotation) < 1e-7);
        }

        #[test]
        fn bones_keep_their_length_and_the_knee_its_side(
            angle in 0.02..2.0f64, way in proptest::array::uniform3(-0.2..0.2f64),
        ) {
            let step = leg(angle);
            let [hip, _, ankle] = step.places();
            let moved = closed(&step, hip, ankle + Vec3::from(way));
            let [h, k, a] = moved.places();
            prop_assert!(((k - h).norm() - 0.5).abs() < 1e-9 && ((a - k).norm() - 0.5).abs() < 1e-9);
            prop_assert!((moved.upper.point(&(Vec3::y() * -0.5)) - k).norm() < 1e-9);
            // A bent knee that does not become nearly straight brings the foot to within its compliance.
            let wanted = (ankle + Vec3::from(way) - hip).norm();
            if angle > 0.6 && wanted < 0.97 {
                prop_assert!((a - ankle - Vec3::from(way)).norm() < 0.02);
            }
        }
    }

    proptest! {
        /// Newton's method and bisection agree.
        #[test]
        fn a_root_is_where_halvings_end(
            bend in prop_oneof![0.0..0.01f64, 0.0..2.6f64], share in 0.6..1.2f64, part in 0.35..0.65f64,
            fold in prop_oneof![Just(0.0), Just(2.6)],
        ) {
            let settings = Settings::default();
            let bones = [part, 1.0 - part];
            let [l1, l2] = bones;
            let arriving = (l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * bend.cos()).sqrt();
            let wanted = arriving * share;
            let found = soft_length(wanted, arriving, bones, 1.0, fold, &settings);
            prop_assert!((found - halved(wanted, arriving, bones, fold, &settings)).abs() < 2e-10);
        }
    }

    /// [`soft_length`] of a leg of 1 m by bisection alone.
    fn halved(wanted: f64, arriving: f64, bones: [f64; 2], fold: f64, settings: &Settings) -> f64 {
        if (wanted - arriving).abs() < 1e-12 {
            return arriving;
        }
        let cost = Cost::new(wanted, arriving, bones, 1.0, fold, settings);
        let (mut low, mut high) = (cost.first.min(cost.last), cost.first.max(cost.last));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if cost.slope(middle).0 > 0.0 { high = middle } else { low = middle }
        }
        cost.distance((0.5 * (low + high)).cos())
    }

    #[test]
    fn a_straight_knee_lets_the_foot_give() {
        let step = leg(0.001);
        let [hip, _, ankle] = step.places();
        let moved = closed(&step, hip, ankle + Vec3::y() * 0.003);
        // Exact IK bends by 8.9 degrees.
        assert!(bend(&moved).to_degrees() < 4.0, "{}", bend(&moved).to_degrees());
        let far = closed(&step, hip, ankle + Vec3::y() * 0.1);
        // A distant goal is missed by less than a seventh of the distance.
        assert!((far.places()[2] - ankle - Vec3::y() * 0.1).norm() < 0.015);
    }
}
