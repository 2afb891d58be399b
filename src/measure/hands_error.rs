//! Distance of hands near the body from their targets.
//!
//! The formula is that of [`HandTargets`]; a hand in free air has no weight. Units: shares of the height.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use crate::body::{CharacterBody, HandTargets};
use crate::kinematics::{FramePoses, Towards};
use crate::model::Motion;
use crate::report::Metric;

/// The least sum of nearness that the measure is taken on: that of one hand in one frame.
const ENOUGH: f64 = 1.0;

/// The distance of the hands of `motion`, which plays on the character of `context`, from their targets after `source`,
/// with that of `direct`, the direct transfer of `source`; `None` where there are no hands, none is ever near the
/// body, or the three are not in step.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn hands(context: &MetricContext, source: &Motion, direct: &Motion, motion: &Motion) -> Option<Metric> {
    let same = direct.character.skeleton().parents() == context.character().skeleton().parents();
    let step = [direct, motion].iter().all(|m| (m.clip.sample_rate - source.clip.sample_rate).abs() < 1e-6);
    if !same || !step {
        return None;
    }
    let places = HandTargets::new(&CharacterBody::new(&source.character), &context.body)?;
    let all = [source, direct, motion];
    let frames = all.iter().map(|m| m.clip.frames()).min().unwrap_or(0);
    let [from, to] = places.joints();
    let towards = [(source, &from), (direct, &to), (motion, &to)]
        .map(|(m, joints)| Towards::new(m.character.skeleton(), joints.iter().copied()));
    let mut poses = [0, 1, 2].map(|k| FramePoses::new(&towards[k], &all[k].clip));
    let (mut result_sum, mut direct_sum, mut nearness_sum) = (0.0, 0.0, 0.0);
    for frame in 0..frames {
        let [from, direct, result] = poses.each_mut().map(|poses| poses.at(frame));
        for (distance, direct_distance, nearness) in places.errors(from, direct, result) {
            (result_sum, direct_sum, nearness_sum) = (
                result_sum + distance * nearness,
                direct_sum + direct_distance * nearness,
                nearness_sum + nearness,
            );
        }
    }
    let share = |sum: f64| sum / (nearness_sum * places.height());
    (nearness_sum > ENOUGH)
        .then(|| Metric { direct: Some(share(direct_sum)), ..metric("hands_error", share(result_sum)) })
}
