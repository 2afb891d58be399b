//! Two-bone IK with a soft knee: near full extension the foot yields instead of the knee popping.
//!
//! A straight knee would have to bend by degrees for millimetres of the foot. The length from hip to ankle therefore
//! minimises `((bend - bend_0) / knee_bend)^2 + (e / foot_compliance)^2 (1 + (e / foot_stiffening)^2 / 2)` over the bend of the
//! knee, `e` the length less the wanted one, between the original bend and the one that reaches the goal (Kovar, Schreiner and
//! Gleicher 2002 allow the bones to stretch instead). The second part keeps a soft knee from missing distant goals. The error that
//! is left is one of height more than one over the ground, which would be a slip (`slip_weight`). The leg swings by the shortest
//! rotation and its knee keeps its side. Space: model space. Units: metres, radians.

use super::limb_chain::LimbChain;
use super::limb_pose::LimbPose;
use super::settings::Settings;
use super::timeline::TOGETHER;
use crate::ik::reframe;
use crate::math::{DEGREE, Transform, Vec3, arc};
use crate::parallel;

/// Bisection steps for the bend: to 1e-10 of the interval.
const BISECTIONS: usize = 34;
/// Most iterations of Newton's method; four or five reach rounding error.
const NEWTON: usize = 12;
/// Accuracy of the root, radians: bisection is no more accurate.
const CLOSE: f64 = 1e-10;
/// Rounding error of a slope, relative to its coefficients: some hundred units in the last place.
const ROUNDING: f64 = 1e-13;

/// The mean direction in which the knee points, in the space of the upper leg: added bend goes to this side.
pub fn knee_direction(poses: &[LimbPose]) -> Vec3 {
    let side = |pose: &LimbPose| pose.upper.rotation.inverse() * knee_offset(pose);
    let knee_directions: Vec<Vec3> = parallel::map_each(poses, TOGETHER, side);
    knee_directions.iter().sum::<Vec3>().try_normalize(1e-12).unwrap_or_default()
}

/// The [`knee_direction`] of each leg.
pub fn knee_directions(poses: &[Vec<LimbPose>]) -> Vec<Vec3> {
    poses.iter().map(|poses| knee_direction(poses)).collect()
}

/// The offset of the knee from the line between hip and ankle.
pub fn knee_offset(pose: &LimbPose) -> Vec3 {
    let [hip, knee, ankle] = pose.hip_knee_ankle();
    let line = (ankle - hip).try_normalize(1e-12);
    line.map_or(Vec3::zeros(), |e| (knee - hip) - e * e.dot(&(knee - hip)))
}

/// Largest bend that a knee or an elbow may be given, radians: heel to seat, hand to shoulder. A larger original bend is
/// kept. With 150 degrees feet stay up to 25 mm in the floor in a deep crouch.
pub const MAX_BEND: f64 = 160.0 * DEGREE;

/// Solves every leg in every frame for the hip and ankle positions that `hip_and_ankle` returns (for leg, frame and original
/// transforms); a leg without does not change. `knee_directions` is from [`knee_directions`], `largest_bend` the largest bend
/// that a knee may be given.
pub fn solve_limbs(
    legs: &[&LimbChain],
    poses: &mut [Vec<LimbPose>],
    knee_directions: &[Vec3],
    largest_bend: f64,
    settings: &Settings,
    hip_and_ankle: impl Fn(usize, usize, &LimbPose) -> Option<[Vec3; 2]> + Sync,
) {
    for (k, ((chain, poses), knee_direction)) in legs.iter().zip(poses).zip(knee_directions).enumerate() {
        let limits = [chain.length(), largest_bend];
        parallel::for_each(poses, 32, |f, pose| {
            if let Some([hip, goal]) = hip_and_ankle(k, f, pose) {
                *pose = solve_limb(pose, &hip, &goal, knee_direction, limits, settings);
            }
        });
    }
}

/// The leg of `pose` with its hip at `hip` and its ankle as near to `goal` as the soft knee allows; foot and toes keep their
/// rotations. `knee_direction` is from [`knee_directions`], `length` is that of the leg, `largest_bend` the largest bend that
/// the knee may be given.
fn solve_limb(
    pose: &LimbPose,
    hip: &Vec3,
    goal: &Vec3,
    knee_direction: &Vec3,
    [length, largest_bend]: [f64; 2],
    settings: &Settings,
) -> LimbPose {
    let [old_hip, knee, ankle] = pose.hip_knee_ankle();
    let bones = [(knee - old_hip).norm(), (ankle - knee).norm()];
    let (line, new_line) = (ankle - old_hip, goal - hip);
    let (Some(direction_now), Some(new_direction)) =
        (line.try_normalize(1e-12), new_line.try_normalize(1e-12))
    else {
        return pose.translated(&(hip - old_hip));
    };
    let distance = soft_length(new_line.norm(), line.norm(), bones, length, largest_bend, settings);
    let new_direction = direction(&new_direction, [new_line.norm(), distance], settings.slip_weight);
    let [l1, l2] = bones;
    let along = (l1 * l1 + distance * distance - l2 * l2) / (2.0 * distance);
    let height = (l1 * l1 - along * along).max(0.0).sqrt();
    let knee_offset_now = knee_offset(pose);
    let knee_side_now = pose.upper.rotation * knee_direction;
    let knee_side_now = (knee_side_now - direction_now * direction_now.dot(&knee_side_now))
        .try_normalize(1e-12)
        .unwrap_or_default();
    // The small term gives a straight leg a side.
    let pole = knee_offset_now + knee_side_now * ((height - knee_offset_now.norm()).max(0.0) + 1e-6 * length);
    let swing = arc(&direction_now, &new_direction, &Vec3::x());
    let Some(new_pole) = (swing * pole).try_normalize(1e-12) else {
        return pose.translated(&(hip - old_hip));
    };
    let new_knee = hip + new_direction * along + new_pole * height;
    let new_ankle = hip + new_direction * distance;
    let axes = [direction_now.cross(&pole), new_direction.cross(&new_pole)];
    let deltas = [(knee - old_hip, new_knee - hip), (ankle - knee, new_ankle - new_knee)]
        .map(|(old, new)| reframe(&old, &axes[0], &new, &axes[1]));
    let [Some(thigh), Some(shin)] = deltas else { return pose.translated(&(hip - old_hip)) };
    let offset = new_ankle - ankle;
    let translated = |t: &Transform| Transform::new(t.rotation, t.translation + offset);
    LimbPose {
        upper: Transform::new(thigh * pose.upper.rotation, *hip),
        lower: Transform::new(shin * pose.lower.rotation, new_knee),
        foot: translated(&pose.foot),
        toes: translated(&pose.toes),
    }
}

/// The direction from the hip in which a leg of this length leaves the least cost of the foot's error: `e` leads to the goal, at the
/// wanted distance, and errors over the ground cost `slip_weight` times as much as errors of height.
pub fn direction(e: &Vec3, [wanted, distance]: [f64; 2], slip_weight: f64) -> Vec3 {
    let error = Vec3::new(e.x / slip_weight, e.y, e.z / slip_weight);
    let error = error * ((distance - wanted) / error.dot(e));
    (e * wanted + error).try_normalize(1e-12).unwrap_or(*e)
}

/// The cost of the bend of a knee, and the interval of its minimum.
struct Cost {
    bones: [f64; 2],
    wanted: f64,
    bend_before: f64,
    bend_at_goal: f64,
    /// Weight of the knee's error.
    knee_weight: f64,
    /// Weight of the foot's error.
    foot_weight: f64,
    /// The error of the foot at which its slope is doubled.
    stiffening: f64,
}

impl Cost {
    fn new(
        wanted: f64,
        distance_before: f64,
        bones: [f64; 2],
        length: f64,
        largest_bend: f64,
        settings: &Settings,
    ) -> Self {
        let [l1, l2] = bones;
        let bend = |d: f64| {
            let cosine = (l1 * l1 + l2 * l2 - d * d) / (2.0 * l1 * l2);
            std::f64::consts::PI - libm::acos(cosine.clamp(-1.0, 1.0))
        };
        let bend_before = bend(distance_before);
        let bend_at_goal = bend(wanted.min(l1 + l2)).min(largest_bend.max(bend_before));
        let (knee_weight, foot_weight) =
            (settings.knee_bend.powi(-2), (settings.foot_compliance * length).powi(-2));
        let stiffening = settings.foot_stiffening * length;
        Self { bones, wanted, bend_before, bend_at_goal, knee_weight, foot_weight, stiffening }
    }

    /// The distance from hip to ankle.
    fn distance(&self, cosine: f64) -> f64 {
        let [l1, l2] = self.bones;
        (l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * cosine).max(0.0).sqrt()
    }

    /// First and second derivative (halved) of the cost by the bend, and a bound on the rounding error of the first, which changes
    /// its sign between the ends of the interval.
    fn slope(&self, bend: f64) -> Slope {
        let Self { bones: [l1, l2], wanted, bend_before, knee_weight, foot_weight, .. } = *self;
        let (sin, cos) = libm::sincos(bend);
        let d = self.distance(cos);
        let off = d - wanted;
        let d = d.max(1e-9);
        // The length shrinks by `shrinks` per radian.
        let (product, shrinks) = (l1 * l2, l1 * l2 * sin / d);
        let stiffer = (off / self.stiffening).powi(2);
        let pull = off * (1.0 + stiffer);
        let growth =
            pull * (product * cos + shrinks * shrinks) / d - (1.0 + 3.0 * stiffer) * shrinks * shrinks;
        Slope {
            value: (bend - bend_before) * knee_weight - foot_weight * pull * shrinks,
            growth: knee_weight - foot_weight * growth,
            rounding: ROUNDING * (knee_weight + foot_weight * product * (1.0 + 3.0 * stiffer)),
        }
    }
}

/// The slope of a cost.
struct Slope {
    value: f64,
    /// Its derivative by the bend.
    growth: f64,
    /// Bound on the rounding error of the value.
    rounding: f64,
}

/// The distance from hip to ankle of least cost, between the original one and the wanted one.
fn soft_length(
    wanted: f64,
    distance_before: f64,
    bones: [f64; 2],
    length: f64,
    largest_bend: f64,
    settings: &Settings,
) -> f64 {
    if (wanted - distance_before).abs() < 1e-12 {
        return distance_before;
    }
    let cost = Cost::new(wanted, distance_before, bones, length, largest_bend, settings);
    let (mut low, mut high) =
        (cost.bend_before.min(cost.bend_at_goal), cost.bend_before.max(cost.bend_at_goal));
    if low == high {
        // The knee may not bend any further.
        return cost.distance(libm::cos(low));
    }
    let single = high <= std::f64::consts::FRAC_PI_2;
    if let Some(root) = single.then(|| root(&cost, [low, high], wanted > distance_before)).flatten() {
        return cost.distance(libm::cos(root));
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if cost.slope(middle).value > 0.0 { high = middle } else { low = middle }
    }
    cost.distance(libm::cos(0.5 * (low + high)))
}

/// The root of the slope of a cost between `low` and `high`; `None` if there may be several or Newton's method does not
/// converge. Up to a right angle the slope of a leg that becomes longer grows at least by the knee's share. Of a leg that becomes
/// shorter the foot's part over the gain in bend falls, so that it equals the knee's in one bend beyond the original one: a root
/// at which the slope grows is the last one.
fn root(cost: &Cost, [low, high]: [f64; 2], longer: bool) -> Option<f64> {
    let least_growth = 0.5 * cost.knee_weight;
    // Start at the root of the chord between both ends.
    let [at_low, at_high] = [low, high].map(|end| cost.slope(end).value);
    let share = at_low / (at_low - at_high).min(-f64::MIN_POSITIVE);
    let mut root = (low + (high - low) * share).clamp(low, high);
    for _ in 0..NEWTON {
        let Slope { value, growth, rounding } = cost.slope(root);
        if value.abs() + rounding < CLOSE * growth.max(least_growth) {
            return (longer || (at_low <= 0.0 && growth >= least_growth)).then_some(root);
        }
        root = (root - value / growth.max(least_growth)).clamp(low, high);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, exp};
    use proptest::prelude::*;

    /// A leg of half a metre each that hangs down with its knee bent forwards.
    fn leg(bend: f64) -> LimbPose {
        let about_x = |angle: f64| exp(&(Vec3::x() * angle));
        let upper = Transform::new(about_x(-0.5 * bend), Vec3::new(0.0, 1.0, 0.0));
        let knee = upper.point(&(Vec3::y() * -0.5));
        let lower = Transform::new(about_x(0.5 * bend), knee);
        let foot = Transform::new(Quat::identity(), lower.point(&(Vec3::y() * -0.5)));
        LimbPose { upper, lower, foot, toes: foot }
    }

    fn bend(pose: &LimbPose) -> f64 {
        let [hip, knee, ankle] = pose.hip_knee_ankle();
        crate::math::angle_between(&(knee - hip), &(ankle - knee))
    }

    fn solved(pose: &LimbPose, hip: Vec3, goal: Vec3) -> LimbPose {
        solve_limb(
            pose,
            &hip,
            &goal,
            &knee_directions(&[vec![leg(0.4)]])[0],
            [1.0, 2.7],
            &Settings::default(),
        )
    }

    proptest! {
        #[test]
        fn a_reached_goal_moves_nothing(bend in 0.0..2.0f64) {
            let pose = leg(bend);
            let [hip, _, ankle] = pose.hip_knee_ankle();
            let same = solved(&pose, hip, ankle);
            for (a, b) in pose.hip_knee_ankle().iter().zip(same.hip_knee_ankle()) {
                prop_assert!((a - b).norm() < 1e-9);
            }
            prop_assert!(pose.upper.rotation.angle_to(&same.upper.rotation) < 1e-7);
        }

        #[test]
        fn bones_keep_their_length_and_the_knee_its_side(
            angle in 0.02..2.0f64, offset in proptest::array::uniform3(-0.2..0.2f64),
        ) {
            let pose = leg(angle);
            let [hip, _, ankle] = pose.hip_knee_ankle();
            let moved = solved(&pose, hip, ankle + Vec3::from(offset));
            let [h, k, a] = moved.hip_knee_ankle();
            prop_assert!(((k - h).norm() - 0.5).abs() < 1e-9 && ((a - k).norm() - 0.5).abs() < 1e-9);
            prop_assert!((moved.upper.point(&(Vec3::y() * -0.5)) - k).norm() < 1e-9);
            // A bent knee that does not become nearly straight brings the foot to within its compliance.
            let wanted = (ankle + Vec3::from(offset) - hip).norm();
            if angle > 0.6 && wanted < 0.97 {
                prop_assert!((a - ankle - Vec3::from(offset)).norm() < 0.02);
            }
        }
    }

    proptest! {
        #[test]
        fn newton_and_bisection_agree(
            bend in prop_oneof![0.0..0.01f64, 0.0..2.6f64], share in 0.6..1.2f64, part in 0.35..0.65f64,
            fold in prop_oneof![Just(0.0), Just(2.6)],
        ) {
            let settings = Settings::default();
            let bones = [part, 1.0 - part];
            let [l1, l2] = bones;
            let arriving = (l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * bend.cos()).sqrt();
            let wanted = arriving * share;
            let found = soft_length(wanted, arriving, bones, 1.0, fold, &settings);
            prop_assert!((found - bisected(wanted, arriving, bones, fold, &settings)).abs() < 2e-10);
        }
    }

    /// [`soft_length`] of a leg of 1 m by bisection alone.
    fn bisected(wanted: f64, arriving: f64, bones: [f64; 2], fold: f64, settings: &Settings) -> f64 {
        if (wanted - arriving).abs() < 1e-12 {
            return arriving;
        }
        let cost = Cost::new(wanted, arriving, bones, 1.0, fold, settings);
        let (mut low, mut high) =
            (cost.bend_before.min(cost.bend_at_goal), cost.bend_before.max(cost.bend_at_goal));
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if cost.slope(middle).value > 0.0 { high = middle } else { low = middle }
        }
        cost.distance((0.5 * (low + high)).cos())
    }

    #[test]
    fn a_foot_that_gives_way_keeps_its_position_over_the_ground() {
        let pose = leg(0.001);
        let [hip, _, ankle] = pose.hip_knee_ankle();
        // Hip and goal of a straight leg at 22 degrees, 3 mm nearer to each other than the leg is long.
        let line = Vec3::new(0.0, -1.0, 0.4).normalize() * 0.997;
        let goal = hip + line;
        let moved = solved(&pose, hip, goal);
        let error = moved.hip_knee_ankle()[2] - goal;
        assert!(error.y.abs() > 0.001, "{error:?}");
        // Along the leg it would be 0.4 of the error of height.
        assert!(error.xz().norm() < 0.1 * error.y.abs(), "{error:?}");
        let [h, k, a] = moved.hip_knee_ankle();
        assert!(((k - h).norm() - 0.5).abs() < 1e-9 && ((a - k).norm() - 0.5).abs() < 1e-9 && a != ankle);
    }

    #[test]
    fn near_extension_the_foot_gives_way() {
        let pose = leg(0.001);
        let [hip, _, ankle] = pose.hip_knee_ankle();
        let moved = solved(&pose, hip, ankle + Vec3::y() * 0.003);
        // Exact IK bends by 8.9 degrees.
        assert!(bend(&moved).to_degrees() < 4.0, "{}", bend(&moved).to_degrees());
        let far = solved(&pose, hip, ankle + Vec3::y() * 0.1);
        // A distant goal is missed by less than a seventh of the distance.
        assert!((far.hip_knee_ankle()[2] - ankle - Vec3::y() * 0.1).norm() < 0.015);
    }
}
