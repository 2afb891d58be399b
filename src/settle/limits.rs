//! Joints outside of their limits come inside without a kink.
//!
//! What a joint is outside by is a rotation vector that sets in suddenly; taken off as it is, it would bend the curve
//! where the limit is met. It is spread over neighbouring frames and taken off, again and again, until little is left;
//! that little is clamped. Units: radians, seconds.

use super::windows::smoothstep;
use crate::ik::Mechanism;
use crate::math::{Transform, Vec3, exp, log, slerp};
use crate::model::{JointId, Pose};
use rayon::prelude::*;

/// How far a correction reaches into neighbouring frames, seconds.
const REACH: f64 = 0.12;

/// Rounds of spreading.
const ROUNDS: usize = 24;

/// How much more than what is spread is taken off at a time.
const MORE: f64 = 1.0;

/// A turn from frame to frame that is not fast, radians.
const LEAST_STEP: f64 = 0.05;

/// Brings every joint of `poses` into its limit.
pub fn keep_limits(mechanism: &Mechanism, poses: &mut [Pose], rate: f64) {
    let reach = (REACH * rate).round() as usize;
    let limited = mechanism.joints_with_limits();
    let ways: Vec<(JointId, Vec<Transform>)> =
        limited.map(|id| (id, poses.iter().map(|p| *p.joint(id)).collect())).collect();
    let kept = |(id, way): (JointId, Vec<Transform>)| (id, kept(mechanism, id, way, reach));
    let ways: Vec<(JointId, Vec<Transform>)> = ways.into_par_iter().map(kept).collect();
    for (id, way) in ways {
        poses.iter_mut().zip(way).for_each(|(pose, local)| pose.local_mut()[id.index()] = local);
    }
}

/// One joint over time, inside.
fn kept(mechanism: &Mechanism, id: JointId, mut way: Vec<Transform>, reach: usize) -> Vec<Transform> {
    // In the joint's own axes.
    let outside =
        |local: &Transform| log(&(local.rotation.inverse() * mechanism.limited(id, local).rotation));
    let fastest = way.windows(2).map(|w| w[0].rotation.angle_to(&w[1].rotation)).fold(LEAST_STEP, f64::max);
    for _ in 0..ROUNDS {
        let outside: Vec<Vec3> = way.iter().map(outside).collect();
        if outside.iter().all(|v| v.norm() < 1e-9) {
            break;
        }
        way.iter_mut().zip(spread(&outside, reach)).for_each(|(local, v)| local.rotation *= exp(&(v * MORE)));
    }
    way.iter_mut().for_each(|local| *local = mechanism.limited(id, local));
    bridge(&mut way, fastest);
    way.iter_mut().for_each(|local| *local = mechanism.limited(id, local));
    way
}

/// Puts a way that is no faster than it may be where what is far outside came in on one side and then on another.
fn bridge(way: &mut [Transform], fastest: f64) {
    let mut f = 1;
    while f < way.len() {
        let jump = way[f - 1].rotation.angle_to(&way[f].rotation);
        if jump > 1.5 * fastest {
            let half = (0.75 * jump / fastest).ceil() as usize;
            let (from, to) = ((f - 1).saturating_sub(half), (f + half).min(way.len() - 1));
            let (a, b) = (way[from].rotation, way[to].rotation);
            for (k, local) in way[from..to].iter_mut().enumerate().skip(1) {
                local.rotation = slerp(&a, &b, smoothstep(k as f64 / (to - from) as f64));
            }
            f = to;
        }
        f += 1;
    }
}

/// The mean over a window whose weights fall towards its ends like a cosine.
fn spread(values: &[Vec3], reach: usize) -> Vec<Vec3> {
    let weight = |d: usize| 1.0 + (std::f64::consts::PI * d as f64 / (reach + 1) as f64).cos();
    let mean = |f: usize| {
        let window = f.saturating_sub(reach)..(f + reach + 1).min(values.len());
        let (mut sum, mut weights) = (Vec3::zeros(), 0.0);
        for g in window {
            sum += values[g] * weight(g.abs_diff(f));
            weights += weight(g.abs_diff(f));
        }
        sum / weights
    };
    (0..values.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ik::{Limit, Range, SwingTwist};
    use crate::math::Quat;
    use crate::model::{Joint, Skeleton};

    #[test]
    fn a_joint_that_goes_too_far_comes_inside_without_a_kink() {
        let skeleton = Skeleton::new(vec![Joint::new("root", None, Transform::identity())]).unwrap();
        let limit = SwingTwist {
            reference: Quat::identity(),
            axis: Vec3::y(),
            first: Vec3::x(),
            swing: [Range::new(-0.5, 0.5), Range::new(-0.5, 0.5)],
            twist: Range::new(-0.3, 0.3),
            twist_first: false,
        };
        let root = JointId::new(0);
        let mechanism = Mechanism::floating(&skeleton).with_limit(root, Limit::SwingTwist(limit));
        let pose = |f: usize| {
            let mut pose = skeleton.rest_pose();
            let angle = 0.8 * (f as f64 * 0.05).sin();
            pose.local_mut()[0].rotation = exp(&(Vec3::x() * angle));
            pose
        };
        let mut poses: Vec<Pose> = (0..120).map(pose).collect();
        let angles =
            |poses: &[Pose]| -> Vec<f64> { poses.iter().map(|p| log(&p.local()[0].rotation).x).collect() };
        let kink = |a: &[f64]| a.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f64::max);
        let clamped: Vec<f64> = angles(&poses).iter().map(|a| a.clamp(-0.5, 0.5)).collect();
        keep_limits(&mechanism, &mut poses, 60.0);
        assert!(poses.iter().all(|p| mechanism.excess(root, p.joint(root)) < 1e-9));
        assert!(kink(&angles(&poses)) < 0.5 * kink(&clamped), "{} {}", kink(&angles(&poses)), kink(&clamped));
    }
}
