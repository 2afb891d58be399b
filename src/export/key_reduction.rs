//! Key reduction: the frames of a uniform clip that need keys, with an error bound in metres.
//!
//! Between keys, rotations follow the shortest arc and translations a straight line, as glTF's `LINEAR` does. An angular
//! error `a` at joint `j` moves a point below it by at most `a r_j`, with `r_j` the longest path from the joint to the end of a
//! chain. With `N_j` errors on the longest chain through `j`, `a_j <= e / (r_j N_j)` keeps every end within `e` (triangle
//! inequality). This bound is conservative, so it is widened as long as forward kinematics of the reduced clip finds every joint
//! within `e` in every frame. Keys are chosen top-down (Douglas and Peucker 1973). Units: metres, radians.

use crate::math::{Vec3, slerp};
use crate::model::{Clip, JointId, ModelPose, Skeleton};
use crate::parallel;

/// The frames at which one joint needs keys, ascending; a single frame means that the values are constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JointKeys {
    /// The frames whose rotations are needed; empty only for a clip without frames.
    pub rotation: Vec<usize>,
    /// The frames whose translations are needed; empty for joints that the clip does not translate.
    pub translation: Vec<usize>,
}

/// Minimum radius of a joint without children or tip, metres: a hand or a foot has flesh around it.
pub(super) const LEAST_RADIUS: f64 = 0.1;
/// Maximum number of times that the conservative tolerance is doubled.
const WIDENINGS: usize = 5;

/// The keys that every joint of `clip` needs, in joint order, so that interpolation between them keeps every joint, and a point
/// 0.1 m beyond every end, within `tolerance` (metres) of its original position in every frame.
///
/// # Panics
/// Where the clip belongs to another skeleton.
pub fn reduce(skeleton: &Skeleton, clip: &Clip, tolerance: f64) -> Vec<JointKeys> {
    assert_eq!(clip.joints(), skeleton.len(), "a clip belongs to its skeleton");
    let reach = ChainReach::of(skeleton, clip);
    let mut best = choose(clip, &reach, tolerance, 1.0);
    if clip.frames() < 3 || tolerance <= 0.0 {
        return best;
    }
    for step in 1..=WIDENINGS {
        let wider = choose(clip, &reach, tolerance, 2f64.powi(step as i32));
        if error(skeleton, clip, &wider, &reach) > tolerance {
            break;
        }
        best = wider;
    }
    best
}

/// How far an error of each joint propagates.
struct ChainReach {
    /// The longest path from each joint to the end of a chain, metres.
    radius: Vec<f64>,
    /// The number of rotations and translations with an error on the longest chain through each joint.
    errors: Vec<f64>,
    /// The ends of chains.
    ends: Vec<usize>,
}

impl ChainReach {
    fn of(skeleton: &Skeleton, clip: &Clip) -> Self {
        let n = skeleton.len();
        let mut length: Vec<f64> = skeleton.joints().iter().map(|j| j.rest.translation.norm()).collect();
        for (track, id) in clip.translated().iter().enumerate() {
            let all = clip.all_translations().iter().skip(track).step_by(clip.translated().len());
            length[id.index()] = all.map(|v| v.norm()).fold(0.0, f64::max);
        }
        let tip = |id: JointId| skeleton.joint(id).tip.map_or(0.0, |t| t.norm());
        let mut radius: Vec<f64> = skeleton.ids().map(|id| tip(id).max(LEAST_RADIUS)).collect();
        let own = |id: JointId| 1.0 + f64::from(u8::from(clip.translated().binary_search(&id).is_ok()));
        let mut below: Vec<f64> = skeleton.ids().map(own).collect();
        for id in skeleton.ids().rev() {
            if let Some(p) = skeleton.parent(id) {
                let (j, p_index) = (id.index(), p.index());
                radius[p_index] = radius[p_index].max(length[j] + radius[j]);
                below[p_index] = below[p_index].max(own(p) + below[j]);
            }
        }
        let mut above = vec![0.0; n];
        let mut errors = vec![0.0; n];
        for id in skeleton.ids() {
            let j = id.index();
            above[j] = skeleton.parent(id).map_or(0.0, |p| above[p.index()] + own(p));
            errors[j] = above[j] + below[j];
        }
        let ends =
            skeleton.ids().filter(|&id| skeleton.children(id).is_empty()).map(JointId::index).collect();
        Self { radius, errors, ends }
    }
}

/// The keys for `widening` times the conservative tolerance.
fn choose(clip: &Clip, reach: &ChainReach, tolerance: f64, widening: f64) -> Vec<JointKeys> {
    let keys = |j: usize| {
        let share = widening * tolerance / reach.errors[j];
        let rotation = thin(&clip.rotations_of(j), share / reach.radius[j], slerp, |a, b| a.angle_to(b));
        let track = clip.translated().iter().position(|id| id.index() == j);
        let translation = track.map_or_else(Vec::new, |track| {
            let all = clip.all_translations().iter().skip(track).step_by(clip.translated().len());
            let values: Vec<Vec3> = all.copied().collect();
            thin(&values, share, |a, b, t| a.lerp(b, t), |a, b| (a - b).norm())
        });
        JointKeys { rotation, translation }
    };
    parallel::map(clip.joints(), 1, keys)
}

/// The samples that keep all others within `tolerance` of the interpolation: one if the first is close to all, else the first, the
/// last, and recursively the worst of each span.
pub(super) fn thin<T>(
    samples: &[T],
    tolerance: f64,
    between: impl Fn(&T, &T, f64) -> T,
    distance: impl Fn(&T, &T) -> f64,
) -> Vec<usize> {
    let Some(last) = samples.len().checked_sub(1) else { return Vec::new() };
    // Equal samples have to pass any tolerance, although rounding gives them a small distance.
    let rounding = 1e-7;
    let tolerance = tolerance.max(rounding);
    if samples.iter().all(|s| distance(&samples[0], s) <= tolerance) {
        return vec![0];
    }
    let mut kept = vec![false; samples.len()];
    (kept[0], kept[last]) = (true, true);
    let mut spans = vec![(0, last)];
    while let Some((from, to)) = spans.pop() {
        let mut worst = (tolerance, None);
        for k in from + 1..to {
            let t = (k - from) as f64 / (to - from) as f64;
            let d = distance(&samples[k], &between(&samples[from], &samples[to], t));
            if d > worst.0 {
                worst = (d, Some(k));
            }
        }
        if let Some(k) = worst.1 {
            kept[k] = true;
            spans.extend([(from, k), (k, to)]);
        }
    }
    (0..samples.len()).filter(|&k| kept[k]).collect()
}

/// The value of a track at a frame, interpolated between its keys.
fn sample<T: Copy>(
    keys: &[usize],
    frame: usize,
    value: impl Fn(usize) -> T,
    between: impl Fn(&T, &T, f64) -> T,
) -> T {
    let next = keys.partition_point(|&k| k <= frame);
    let from = keys[next.saturating_sub(1)];
    match keys.get(next) {
        Some(&to) if from != frame => {
            between(&value(from), &value(to), (frame - from) as f64 / (to - from) as f64)
        }
        _ => value(from),
    }
}

/// The clip interpolated between the keys.
fn played(clip: &Clip, keys: &[JointKeys]) -> Clip {
    let mut thinned = clip.clone();
    for frame in 0..clip.frames() {
        for (j, keys) in keys.iter().enumerate() {
            thinned.rotations_mut(frame)[j] = sample(&keys.rotation, frame, |f| clip.rotations(f)[j], slerp);
        }
        for (track, id) in clip.translated().iter().enumerate() {
            let keys = &keys[id.index()].translation;
            thinned.translations_mut(frame)[track] =
                sample(keys, frame, |f| clip.translations(f)[track], |a, b, t| a.lerp(b, t));
        }
    }
    thinned
}

/// The largest displacement of a joint, or of a point at the radius of an end, metres.
fn error(skeleton: &Skeleton, clip: &Clip, keys: &[JointKeys], reach: &ChainReach) -> f64 {
    let thinned = played(clip, keys);
    let worst = |frame: usize| {
        let before = ModelPose::of(skeleton, &clip.pose(skeleton, frame));
        let after = ModelPose::of(skeleton, &thinned.pose(skeleton, frame));
        let moved = |j: usize| (before.joints()[j].translation - after.joints()[j].translation).norm();
        let end = |&j: &usize| {
            moved(j) + reach.radius[j] * before.joints()[j].rotation.angle_to(&after.joints()[j].rotation)
        };
        let joints = (0..keys.len()).map(moved).fold(0.0, f64::max);
        reach.ends.iter().map(end).fold(joints, f64::max)
    };
    parallel::map(clip.frames(), 1, worst).into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, Transform, exp};
    use crate::model::Joint;
    use proptest::prelude::*;

    /// A spine of three joints with two arms of three, in smooth motion with noise of this size (radians).
    fn scene(frames: usize, shake: f64) -> (Skeleton, Clip) {
        let v = |s: f64| Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin());
        let parents = [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(2), Some(6), Some(7)];
        let joint = |(i, p): (usize, &Option<usize>)| {
            let rest = Transform::new(exp(&v(i as f64)), v(i as f64 + 5.0) * 0.3);
            Joint::new(format!("j{i}"), p.map(JointId::new), rest)
        };
        let skeleton = Skeleton::new(parents.iter().enumerate().map(joint).collect()).unwrap();
        let rotation = |k: usize| {
            let (time, j) = ((k / 9) as f64 / 30.0, (k % 9) as f64);
            // The last joint never moves.
            if k % 9 == 8 {
                return exp(&v(8.0));
            }
            exp(&(v(j) * (time + j).sin())) * exp(&(v(k as f64 * 0.77) * shake))
        };
        let translations = (0..frames).map(|f| v(2.0) * (f as f64 / 40.0).sin()).collect();
        let rotations = (0..frames * 9).map(rotation).collect();
        (skeleton, Clip::new("", 30.0, 9, rotations, vec![JointId::new(0)], translations))
    }

    fn worst(skeleton: &Skeleton, clip: &Clip, keys: &[JointKeys]) -> f64 {
        let thinned = played(clip, keys);
        let of = |clip: &Clip, f| ModelPose::of(skeleton, &clip.pose(skeleton, f));
        let moved = |f: usize| {
            let (a, b) = (of(clip, f), of(&thinned, f));
            skeleton.ids().map(|id| (a.position(id) - b.position(id)).norm()).fold(0.0, f64::max)
        };
        (0..clip.frames()).map(moved).fold(0.0, f64::max)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_joint_leaves_the_tolerance(
            frames in 0..80usize, tolerance in 0.0..0.05f64, shake in 0.0..0.02f64,
        ) {
            let (skeleton, clip) = scene(frames, shake);
            let keys = reduce(&skeleton, &clip, tolerance);
            prop_assert!(worst(&skeleton, &clip, &keys) <= tolerance + 1e-6);
            // The conservative tolerance needs no check.
            let conservative = choose(&clip, &ChainReach::of(&skeleton, &clip), tolerance, 1.0);
            prop_assert!(worst(&skeleton, &clip, &conservative) <= tolerance + 1e-6);
            for keys in &keys {
                prop_assert!(keys.rotation.is_sorted_by(|a, b| a < b) && keys.rotation.is_empty() == (frames == 0));
            }
        }
    }

    #[test]
    fn constants_need_one_key_lines_two_and_smooth_motion_few() {
        let (skeleton, clip) = scene(300, 0.0);
        let keys = reduce(&skeleton, &clip, 0.005);
        assert_eq!(keys[8], JointKeys { rotation: vec![0], translation: vec![] });
        let all: usize = keys.iter().map(|k| k.rotation.len() + k.translation.len()).sum();
        assert!(all < 300 * 10 / 3, "{all} of 3000");
        let spin: Vec<Quat> = (0..50).map(|k| exp(&Vec3::new(0.0, 0.02 * k as f64, 0.0))).collect();
        assert_eq!(thin(&spin, 1e-6, slerp, |a, b| a.angle_to(b)), [0, 49]);
    }

    #[test]
    fn without_tolerance_only_redundant_keys_are_removed() {
        let (skeleton, clip) = scene(40, 0.01);
        let keys = reduce(&skeleton, &clip, 0.0);
        assert!(keys[..8].iter().all(|k| k.rotation.len() == 40));
        assert_eq!(keys[8].rotation, [0]);
    }
}
