//! Suggestions for measures over their limits.

/// A suggestion for a measure over its limit: a stage to add to the pipeline, and other advice.
#[derive(Clone, Copy)]
struct Remedy {
    /// The stage and its position; not suggested where the pipeline has it already.
    stage: Option<(&'static str, &'static str)>,
    /// Other advice; empty where there is none.
    besides: &'static str,
}

const fn stage(name: &'static str, place: &'static str, besides: &'static str) -> Remedy {
    Remedy { stage: Some((name, place)), besides }
}

const fn other(besides: &'static str) -> Remedy {
    Remedy { stage: None, besides }
}

const HOLD: Remedy = other(
    "look at the labels (`contacts = true` in [output] writes them, a corrected table is read back), and \
     keep the stages `contacts` and `foot_lock` around `retarget`",
);
const SINK: Remedy = stage("ground", "behind `retarget`", "");
const SMOOTH: Remedy = other(
    "leave stages behind `retarget` out one by one to see which does it; `filter` smooths what the take itself has",
);
const LEAN: Remedy = other(
    "look at what was mapped to what and how surely (`posemill map`); where the rest pose of the take says nothing \
     try `input.calibration=motion`",
);
const LENGTH: Remedy = other("the legs are of other lengths than the take's: try `stage.retarget.scale`");

/// The suggestion for each measure that has a limit.
const REMEDIES: &[(&str, Remedy)] = &[
    ("foot_skate_p95", HOLD),
    ("contact_slide_p95", HOLD),
    ("penetration_max", SINK),
    ("penetration_share", SINK),
    ("body_skin_below_floor", SINK),
    ("float_share", SINK),
    (
        "limit_violation_max",
        stage("limits", "behind `retarget`", "`[input.limits]` gives ranges that differ"),
    ),
    ("bone_stretch", other("the take moves joints apart: give it with rotations alone")),
    ("jerk_ratio", SMOOTH),
    ("turn_ratio", SMOOTH),
    ("hands_error", other("keep `stage.retarget.hands`; the stage `ik` brings a hand where it has to be")),
    (
        "limb_error_p95",
        other(
            "arms reach where hands touch the body: `stage.retarget.hands=false` leaves them as in the take; else look \
             at what was mapped to what (`posemill map`)",
        ),
    ),
    ("knee_error_max", LENGTH),
    ("straight_leg_bend_p90", LENGTH),
    ("rest_slip_p95", HOLD),
    ("clearance_error_p95", LENGTH),
    ("knee_jerk_ratio", SMOOTH),
    ("foot_jerk_ratio", SMOOTH),
    ("loop_seam", stage("loop", "at the end", "")),
    ("trunk_error", LEAN),
    ("flight_error", stage("settle", "at the end", "")),
    // `settle` moves the body as a whole and leaves its rotation.
    (
        "flight_spin_drift",
        other("no stage fixes how a body rotates in the air: check whether the take does the same"),
    ),
];

/// What to try where the measure of this name is over its limit, after a pipeline of these stages; nothing where they
/// are all that there is to try.
pub fn remedy(name: &str, stages: &[&str]) -> Option<String> {
    let remedy = REMEDIES.iter().find(|r| r.0 == name)?.1;
    let missing = remedy.stage.filter(|(stage, _)| !stages.contains(stage)).map(|(stage, place)| {
        format!("put the stage `{stage}` {place}; `posemill retarget` has it ready: `--set stage.{stage}.enabled=true`")
    });
    let said: Vec<String> =
        missing.into_iter().chain((!remedy.besides.is_empty()).then(|| remedy.besides.to_owned())).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::MEASURES;

    #[test]
    fn a_measure_with_a_limit_says_what_to_try() {
        let limited = MEASURES.iter().filter(|m| m.at_most.is_some()).map(|m| m.name);
        assert!(limited.eq(REMEDIES.iter().map(|r| r.0)), "one line each, in the order of the measures");
        for (name, _) in REMEDIES {
            assert!(remedy(name, &[]).is_some(), "{name}");
        }
        let expected = "put the stage `limits` behind `retarget`; `posemill retarget` has it ready: \
                    `--set stage.limits.enabled=true`; `[input.limits]` gives ranges that differ";
        assert_eq!(remedy("limit_violation_max", &["retarget"]).as_deref(), Some(expected));
        // What is there already is not asked for again.
        let expected = "`[input.limits]` gives ranges that differ";
        assert_eq!(remedy("limit_violation_max", &["retarget", "limits"]).as_deref(), Some(expected));
        assert_eq!(remedy("penetration_max", &["retarget", "ground"]), None);
    }
}
