//! Joints outside of their limits come inside without a kink.
//!
//! What a joint is outside by is a rotation vector that sets in suddenly; taken off as it is, it would bend the curve
//! where the limit is met. It is spread over neighbouring frames and taken off, again and again, until little is left;
//! that little is clamped. Units: radians, seconds.

use crate::ik::Mechanism;
use crate::math::{Vec3, exp, log};
use crate::model::{JointId, Pose};
use rayon::prelude::*;

/// How far a correction reaches into neighbouring frames, seconds.
const REACH: f64 = 0.12;

/// Rounds of spreading.
const ROUNDS: usize = 6;

/// Brings every joint of `poses` into its limit.
pub fn keep_limits(mechanism: &Mechanism, poses: &mut [Pose], rate: f64) {
    let reach = (REACH * rate).round() as usize;
    for id in mechanism.skeleton().ids().filter(|&id| mechanism.limit(id).is_some()) {
        for _ in 0..ROUNDS {
            let outside: Vec<Vec3> = poses.par_iter().map(|p| outside(mechanism, id, p)).collect();
            if outside.iter().all(|v| v.norm() < 1e-9) {
                break;
            }
            let spread = spread(&outside, reach);
            poses.iter_mut().zip(spread).for_each(|(p, v)| p.local_mut()[id.index()].rotation *= exp(&v));
        }
        poses.par_iter_mut().for_each(|p| {
            let inside = mechanism.limited(id, p.joint(id));
            p.local_mut()[id.index()] = inside;
        });
    }
}

/// The turn that brings a joint inside, in its own axes.
fn outside(mechanism: &Mechanism, id: JointId, pose: &Pose) -> Vec3 {
    let local = pose.joint(id);
    log(&(local.rotation.inverse() * mechanism.limited(id, local).rotation))
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
    use crate::math::{Quat, Transform};
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
