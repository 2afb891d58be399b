//! Measures that a stage made meaningless on purpose: they are shown, and not judged.
//!
//! Stages declare them ([`crate::stages::StageConfig::meaningless`]); outputs record them, so that a result that is measured
//! later gets the same verdict.

use super::acceptable;
use crate::report::{Metric, NotJudged};

/// Measures that compare a result with its take frame by frame, or by the take's contacts: all of those with a limit, except
/// the ones in [`OF_THE_RESULT`]. They mean nothing once frames were cut, moved or mirrored.
pub const AGAINST_THE_TAKE: &[&str] = &[
    "foot_slide_p95",
    "penetration_max",
    "float_share",
    "limit_violation_added",
    "jerk_ratio",
    "turn_ratio",
    "foot_orientation_p95",
    "sole_tilt_p50",
    "head_orientation_p95",
    "finger_error_p95",
    "hand_orientation_p95",
    "elbow_pop",
    "knee_pop",
    "self_contact_lost",
    "limb_error_p95",
    "knee_error_max",
    "straight_leg_bend_p90",
    "rest_slip_p95",
    "rest_drift",
    "clearance_error_p95",
    "knee_jerk_ratio",
    "foot_jerk_ratio",
    "loop_seam",
    "trunk_error",
    "flight_error",
    "flight_height_p95",
    "robot_base_error",
    "robot_path_error",
];

/// Measures with a limit of the result by itself.
pub const OF_THE_RESULT: &[&str] = &[
    "body_skin_below_floor",
    "bone_stretch",
    "arm_in_body",
    "arm_through_body",
    "skin_stretch",
    "ik_missed",
];

/// Measures with a limit of robots, by their own shapes and hinges.
#[cfg(test)]
pub const OF_ROBOTS: &[&str] = &[
    "robot_out_of_range_max",
    "robot_penetration_max",
    "robot_floating",
    "robot_hinge_speed_max",
    "robot_speed_ratio_max",
    "robot_off_floor_max",
];

/// Measures against the take that robots have too, with the limits of robots: what goes elsewhere, or does something else, is no
/// performance of the take.
const LIMITS_OF_ROBOTS: [(&str, f64); 6] = [
    ("limb_error_p95", acceptable::ROBOT_LIMB),
    ("trunk_error", acceptable::ROBOT_TRUNK),
    ("rest_slip_p95", acceptable::SLIP),
    ("rest_drift", acceptable::ROBOT_DRIFT),
    ("robot_base_error", acceptable::ROBOT_BASE),
    ("robot_path_error", acceptable::ROBOT_PATH),
];

/// Key in records of the measures that are not judged because a robot has no limits in them; other keys are names of stages.
pub const ROBOT: &str = "robot";

/// The limit that a robot has in a measure of bodies; `None` if it has none.
fn limit_of_robots(measure: &str) -> Option<f64> {
    LIMITS_OF_ROBOTS.iter().find(|(name, _)| *name == measure).map(|(_, limit)| *limit)
}

/// The measures with a limit of bodies with skins alone: a robot's soles are those of its shapes, and its hinges cannot follow limbs
/// everywhere.
pub fn of_bodies() -> Vec<&'static str> {
    let all = AGAINST_THE_TAKE.iter().chain(OF_THE_RESULT).copied();
    all.filter(|name| limit_of_robots(name).is_none()).collect()
}

/// The measures against the take that have a limit of robots.
pub fn with_a_limit_of_robots() -> impl Iterator<Item = &'static str> {
    LIMITS_OF_ROBOTS.iter().map(|(name, _)| *name)
}

/// Gives the measures of a body with a skin the limits of robots, which most have not.
pub fn with_limits_of_robots(metrics: &mut [Metric]) {
    let bodies = [AGAINST_THE_TAKE, OF_THE_RESULT].concat();
    for metric in metrics.iter_mut().filter(|metric| bodies.contains(&metric.name.as_str())) {
        metric.at_most = metric.at_most.and(limit_of_robots(&metric.name));
    }
}

/// Marks the measures that are not judged, with the stages that made them meaningless.
pub fn mark(metrics: &mut [Metric], not_judged: &NotJudged) {
    for metric in metrics.iter_mut().filter(|m| m.at_most.is_some()) {
        let stages: Vec<&str> = (not_judged.iter())
            .filter(|(_, names)| names.contains(&metric.name))
            .map(|(stage, _)| stage.as_str())
            .collect();
        metric.not_judged = (!stages.is_empty()).then(|| stages.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::MEASURES;
    use std::collections::BTreeSet;

    #[test]
    fn every_measure_with_a_limit_is_of_the_result_or_against_the_take_or_of_robots() {
        let limited: BTreeSet<&str> =
            MEASURES.iter().filter(|m| m.at_most.is_some()).map(|m| m.name).collect();
        let all = AGAINST_THE_TAKE.iter().chain(OF_THE_RESULT).chain(OF_ROBOTS);
        assert_eq!(limited, all.copied().collect());
    }

    #[test]
    fn a_measure_names_the_stages_that_made_it_meaningless() {
        let metric = |name: &str| Metric { name: name.into(), at_most: Some(1.0), ..Metric::default() };
        let mut metrics = [metric("rest_slip_p95"), metric("arm_in_body")];
        let of = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let all = [("mirror", AGAINST_THE_TAKE), ("root_motion", &["rest_slip_p95"])];
        mark(&mut metrics, &all.map(|(stage, names)| (stage.to_owned(), of(names))).into());
        assert_eq!(metrics.map(|m| m.not_judged), [Some("mirror, root_motion".to_owned()), None]);
    }
}
