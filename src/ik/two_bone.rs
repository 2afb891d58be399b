//! Closed-form two-bone IK: in the plane, in space with a pole vector, one limb at a time or four in lanes.
//!
//! In the plane (law of cosines): `cos t2 = (D^2 - l1^2 - l2^2) / (2 l1 l2)`, and `t1 = atan2(Y, X) - g` for `t2 > 0`,
//! `atan2(Y, X) + g` for `t2 < 0`, with `cos g = (l1^2 + D^2 - l2^2) / (2 l1 D)`. In space the middle joint lies in the
//! half plane through the line to the target and the pole. Soft reach straightens a nearly straight limb gradually, which
//! avoids popping (Harrison 2009). Space: model space. Units: metres, radians.

use super::mechanism::Mechanism;
use super::outcome::{Progress, Solver, Stop};
use super::task::{Goal, Task};
use crate::math::{Mat3, Quat, Real, RealX4, Triple as V, Vec3, difference, dot, from_columns, scaled, sum};
use crate::model::{JointId, ModelPose, Pose, Skeleton};

/// The sign of the second link's angle relative to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elbow {
    /// The second angle is positive.
    Positive,
    /// The second angle is negative.
    Negative,
}

/// The angles of a planar arm, in radians: the first against the X axis, the second against the first link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planar {
    /// Both angles.
    pub angles: [f64; 2],
    /// Whether the tip is at the target; otherwise the arm points at it, stretched or folded.
    pub reached: bool,
}

/// The joint angles of a planar two-link arm at the origin that reaches `(x, y)`.
///
/// For a target at the origin every direction is a solution; the first link is then along the X axis.
pub fn planar(lengths: [f64; 2], target: [f64; 2], elbow: Elbow) -> Planar {
    let ([l1, l2], [x, y]) = (lengths.map(f64::abs), target);
    let distance = libm::hypot(x, y);
    if !(distance.is_finite() && l1.is_finite() && l2.is_finite()) {
        return Planar { angles: [0.0; 2], reached: false };
    }
    let nearest = distance.clamp((l1 - l2).abs(), l1 + l2);
    // The half-angle form stays accurate for a nearly straight or folded arm, where acos loses half the digits.
    let over = (nearest - (l1 - l2)) * (nearest + (l1 - l2));
    let under = (l1 + l2 - nearest) * (l1 + l2 + nearest);
    let sign = if elbow == Elbow::Positive { 1.0 } else { -1.0 };
    let second = 2.0 * libm::atan2(under.max(0.0).sqrt(), over.max(0.0).sqrt());
    // Computed from the second angle, so that rounding errors cancel at the tip.
    let lift =
        if nearest > 0.0 { libm::atan2(l2 * libm::sin(second), l1 + l2 * libm::cos(second)) } else { 0.0 };
    let heading = if distance > 0.0 { libm::atan2(y, x) } else { 0.0 };
    let reached = (nearest - distance).abs() <= 1e-12 * (l1 + l2);
    Planar { angles: [heading - sign * lift, sign * second], reached }
}

/// A limb in space: start, bone lengths and bend direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// The first joint.
    pub root: Vec3,
    /// The lengths of the two bones in metres.
    pub lengths: [f64; 2],
    /// The direction in which the middle joint leaves the line from the first joint to the target.
    pub pole: Vec3,
    /// The fallback where the pole is parallel to that line.
    pub spare_pole: Vec3,
    /// The share of the length over which reach is soft: 0 is exact, 0.02 keeps knees from popping.
    pub softness: f64,
}

/// The resulting joint positions of a limb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoBoneResult {
    /// The middle joint.
    pub middle: Vec3,
    /// The end.
    pub end: Vec3,
    /// Whether the end is at the target.
    pub reached: bool,
}

/// Margin from the straight and from the folded limb, as a share of its length.
const SHY: f64 = 1e-6;

#[inline(always)]
fn bend<T: Real>(
    root: V<T>,
    [l1, l2]: [T; 2],
    poles: [V<T>; 2],
    softness: T,
    target: V<T>,
) -> (V<T>, V<T>, T) {
    let c = T::splat;
    let n = difference(target, root);
    let length = l1 + l2;
    let distance = dot(n, n).sqrt().max(c(1e-12));
    let e = scaled(n, c(1.0) / distance);
    // Soft reach: beyond (1 - softness) of the length, the remaining length is approached exponentially.
    let soft = T::from_lanes(|k| {
        let (d, l, s) = (distance.lane(k), length.lane(k), softness.lane(k) * length.lane(k));
        if s > 0.0 && d > l - s { l - s * libm::exp(-(d - (l - s)) / s) } else { d }
    });
    let shortest = ((l1 - l2).max(l2 - l1)) + length * c(SHY);
    let longest = length * c(1.0 - SHY);
    let reach = -(-(soft.max(shortest))).max(-longest);
    let cosine = (l1 * l1 + reach * reach - l2 * l2) / ((l1 * reach * c(2.0)).max(c(1e-30)));
    let cosine = -(-(cosine.max(c(-1.0)))).max(c(-1.0));
    let sine = (c(1.0) - cosine * cosine).max(c(0.0)).sqrt();
    let across = |p: V<T>| difference(p, scaled(e, dot(p, e)));
    let (first, second) = (across(poles[0]), across(poles[1]));
    let (f2, s2) = (dot(first, first), dot(second, second));
    let lanes = |m: &dyn Fn(usize) -> bool| (0..T::LANES).fold(0, |mask, k| mask | u32::from(m(k)) << k);
    let good = lanes(&|k| f2.lane(k) > 1e-8 * dot(poles[0], poles[0]).lane(k) && f2.lane(k) > 1e-300);
    let spare = lanes(&|k| s2.lane(k) > 1e-8 * dot(poles[1], poles[1]).lane(k) && s2.lane(k) > 1e-300);
    // Last resort: the component perpendicular to the line of the coordinate axis least parallel to it.
    let any: V<T> = {
        let axis = std::array::from_fn(|r| {
            T::from_lanes(|k| {
                let least = (0..3).min_by(|&i, &j| e[i].lane(k).abs().total_cmp(&e[j].lane(k).abs()));
                if least == Some(r) { 1.0 } else { 0.0 }
            })
        });
        across(axis)
    };
    let side: V<T> = std::array::from_fn(|r| first[r].select(good, second[r].select(spare, any[r])));
    let side = scaled(side, c(1.0) / dot(side, side).sqrt());
    let middle = sum(root, scaled(sum(scaled(e, cosine), scaled(side, sine)), l1));
    (middle, sum(root, scaled(e, reach)), (reach - distance).max(distance - reach))
}

impl Limb {
    /// The joint positions for a target: the bones keep their lengths, and an end that cannot reach the target is on the
    /// line to it.
    pub fn bend(&self, target: &Vec3) -> TwoBoneResult {
        let v = |v: Vec3| -> V<f64> { v.into() };
        let (middle, end, miss) =
            bend(v(self.root), self.lengths, [v(self.pole), v(self.spare_pole)], self.softness, v(*target));
        let reached = miss <= 2.0 * SHY * (self.lengths[0] + self.lengths[1]);
        TwoBoneResult { middle: middle.into(), end: end.into(), reached }
    }

    /// As [`Limb::bend`] for many limbs and targets, four in lanes, written to `results`.
    ///
    /// # Panics
    /// If the three lists differ in length.
    pub fn bend_all(limbs: &[Limb], targets: &[Vec3], results: &mut [TwoBoneResult]) {
        assert!(
            limbs.len() == targets.len() && limbs.len() == results.len(),
            "one target and one result per limb"
        );
        /// Limbs that are computed together.
        const LANES: usize = RealX4::LANES;
        for ((limbs, targets), results) in
            limbs.chunks(LANES).zip(targets.chunks(LANES)).zip(results.chunks_mut(LANES))
        {
            let own = |k: usize| &limbs[k.min(limbs.len() - 1)];
            let lanes = |f: &dyn Fn(&Limb) -> f64| RealX4::from_lanes(|k| f(own(k)));
            let vector = |f: &dyn Fn(usize) -> Vec3| -> V<RealX4> {
                std::array::from_fn(|c| RealX4::from_lanes(|k| f(k.min(limbs.len() - 1))[c]))
            };
            let lengths = [lanes(&|l| l.lengths[0]), lanes(&|l| l.lengths[1])];
            let poles = [vector(&|k| limbs[k].pole), vector(&|k| limbs[k].spare_pole)];
            let softness = lanes(&|l| l.softness);
            let (middle, end, miss) =
                bend(vector(&|k| limbs[k].root), lengths, poles, softness, vector(&|k| targets[k]));
            for (k, result) in results.iter_mut().enumerate() {
                let length = limbs[k].lengths[0] + limbs[k].lengths[1];
                *result = TwoBoneResult {
                    middle: Vec3::from(middle.map(|c| c.lane(k))),
                    end: Vec3::from(end.map(|c| c.lane(k))),
                    reached: miss.lane(k) <= 2.0 * SHY * length,
                };
            }
        }
    }
}

/// The rotation that maps a bone and its bend axis to new ones; `None` if either pair is parallel.
pub fn reframe(bone: &Vec3, axis: &Vec3, new_bone: &Vec3, new_axis: &Vec3) -> Option<Quat> {
    let frame = |x: &Vec3, n: &Vec3| {
        let x = x.try_normalize(1e-9)?;
        let n = (n - x * x.dot(n)).try_normalize(1e-9)?;
        Some(Mat3::from_columns(&[x, n, x.cross(&n)]))
    };
    let m = frame(new_bone, new_axis)? * frame(bone, axis)?.transpose();
    Some(from_columns(&m.column(0).into(), &m.column(1).into(), &m.column(2).into()))
}

/// Bends the limb that ends at `end` so that the end is at `target`; the end keeps its world rotation.
///
/// The limb is `end`, its parent and its grandparent. The pole is a direction in model space; without one the limb
/// keeps its bend direction. Returns whether the target is reached; a limb without two bones is not moved.
pub fn bend_limb(
    skeleton: &Skeleton,
    pose: &mut Pose,
    end: JointId,
    target: &Vec3,
    pole: Option<Vec3>,
    softness: f64,
) -> bool {
    let Some(middle) = skeleton.parent(end) else { return false };
    let Some(root) = skeleton.parent(middle) else { return false };
    let model = ModelPose::of(skeleton, pose);
    let [a, b, c] = [root, middle, end].map(|j| model.position(j));
    let (upper, lower) = (b - a, c - b);
    let lengths = [upper.norm(), lower.norm()];
    if lengths[0] < 1e-9 || lengths[1] < 1e-9 || !target.iter().all(|x| x.is_finite()) {
        return false;
    }
    let line = (c - a).try_normalize(1e-9).unwrap_or(upper / lengths[0]);
    let bulge = upper - line * upper.dot(&line);
    // A straight limb has no bend direction: a direction fixed in the upper bone is used.
    let own = model.joint(root).vector(&Vec3::z());
    let spare = if bulge.norm() > 1e-4 * lengths[0] { bulge } else { own };
    let limb = Limb { root: a, lengths, pole: pole.unwrap_or(spare), spare_pole: spare, softness };
    let result = limb.bend(target);
    let axis = if bulge.norm() > 1e-4 * lengths[0] { line.cross(&bulge) } else { line.cross(&limb.pole) };
    let new_line = result.end - a;
    let new_axis = new_line.cross(&(result.middle - a));
    let rotations = (
        reframe(&upper, &axis, &(result.middle - a), &new_axis),
        reframe(&lower, &axis, &(result.end - result.middle), &new_axis),
    );
    let (Some(first), Some(second)) = rotations else { return false };
    let above = skeleton.parent(root).map_or(Quat::identity(), |p| model.joint(p).rotation);
    let worlds = [first * model.joint(root).rotation, second * model.joint(middle).rotation];
    let local = pose.local_mut();
    local[root.index()].rotation = above.inverse() * worlds[0];
    local[middle.index()].rotation = worlds[0].inverse() * worlds[1];
    local[end.index()].rotation = worlds[1].inverse() * model.joint(end).rotation;
    result.reached
}

/// The closed form as a solver: every position task bends the limb that ends at its joint, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TwoBone {
    /// As in [`Limb::softness`].
    pub softness: f64,
}

impl Solver for TwoBone {
    fn name(&self) -> &'static str {
        "two-bone"
    }

    fn keeps_limits(&self) -> bool {
        false
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, _: &Stop) -> Progress {
        let skeleton = mechanism.skeleton();
        let pole_of = |limb_end: JointId, model: &ModelPose| {
            tasks.iter().find_map(|t| match &t.goal {
                Goal::Pole { root, end, target, .. } if *end == limb_end => {
                    Some(target - model.position(*root))
                }
                _ => None,
            })
        };
        for task in tasks {
            let Goal::Position { joint, point, target } = &task.goal else { continue };
            let model = ModelPose::of(skeleton, pose);
            let position = target - model.joint(*joint).vector(point);
            bend_limb(skeleton, pose, *joint, &position, pole_of(*joint, &model), self.softness);
        }
        // Rotating an end joint does not move its ancestors.
        for task in tasks {
            let Goal::Orientation { joint, target } = &task.goal else { continue };
            let model = ModelPose::of(skeleton, pose);
            let above = skeleton.parent(*joint).map_or(Quat::identity(), |p| model.joint(p).rotation);
            pose.local_mut()[joint.index()].rotation = above.inverse() * target;
        }
        Progress { iterations: 1, stationary: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_planar_branches_reach_and_point_otherwise(
            l in [0.1..2.0f64, 0.1..2.0f64], t in [-4.0..4.0f64, -4.0..4.0f64],
        ) {
            for (elbow, sign) in [(Elbow::Positive, 1.0), (Elbow::Negative, -1.0)] {
                let Planar { angles: [a, b], reached } = planar(l, t, elbow);
                prop_assert!(b * sign >= 0.0);
                let tip = [l[0] * a.cos() + l[1] * (a + b).cos(), l[0] * a.sin() + l[1] * (a + b).sin()];
                let (d, r) = (t[0].hypot(t[1]), tip[0].hypot(tip[1]));
                prop_assert!((tip[0] * d - t[0] * r).hypot(tip[1] * d - t[1] * r) < 1e-10);
                prop_assert_eq!(reached, (r - d).abs() < 1e-10);
                prop_assert!((r - d.clamp((l[0] - l[1]).abs(), l[0] + l[1])).abs() < 1e-10);
            }
        }

        #[test]
        fn limbs_keep_their_lengths_and_bend_to_the_pole(
            t in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], p in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64],
            softness in 0.0..0.05f64,
        ) {
            let (target, pole) = (Vec3::from(t), Vec3::from(p));
            let root = Vec3::new(0.1, 0.2, 0.3);
            let limb = Limb { root, lengths: [0.4, 0.35], pole, spare_pole: Vec3::z(), softness };
            let result = limb.bend(&target);
            prop_assert!(((result.middle - root).norm() - 0.4).abs() < 1e-9);
            prop_assert!(((result.end - result.middle).norm() - 0.35).abs() < 1e-9);
            let d = (target - root).norm();
            if (0.0501..0.749 * (1.0 - softness)).contains(&d) {
                prop_assert!(result.reached && (result.end - target).norm() < 1e-9);
            }
            let n = (target - root).cross(&pole);
            if n.norm() > 1e-2 {
                prop_assert!((result.middle - root).dot(&n).abs() < 1e-9);
                prop_assert!(n.cross(&(target - root)).dot(&(result.middle - root)) > -1e-9);
            }
            let limbs = [limb; 6];
            let targets: [Vec3; 6] = std::array::from_fn(|k| target * (k as f64 * 0.3));
            let mut all = [result; 6];
            Limb::bend_all(&limbs, &targets, &mut all);
            for (found, target) in all.iter().zip(&targets) {
                let expected = limb.bend(target);
                prop_assert!((found.middle - expected.middle).norm() < 1e-12);
                prop_assert!((found.end - expected.end).norm() < 1e-12);
                prop_assert_eq!(found.reached, expected.reached);
            }
        }
    }

    #[test]
    fn a_target_at_the_root_has_a_solution() {
        let Planar { angles, reached } = planar([1.0, 1.0], [0.0, 0.0], Elbow::Positive);
        assert!(reached && (angles[1] - std::f64::consts::PI).abs() < 1e-12);
        assert!(!planar([1.0, 0.5], [0.0, 0.0], Elbow::Negative).reached);
        assert!(!planar([1.0, 0.5], [f64::NAN, 0.0], Elbow::Negative).reached);
    }
}
