//! Stages that do nothing because of their keys say so, and name the key; the motion is returned as it was.

use super::super::{FilterConfig, IkConfig, LimitsConfig, Setting, StageConfig, TrimConfig};
use super::scenes::walker;
use crate::report::Report;
use serde_json::json;
use std::sync::Arc;

/// The warning of a stage that changes nothing, if it gives one.
fn said<C: StageConfig>(keys: serde_json::Value) -> Option<String> {
    let motion = walker(40);
    let config: C = serde_json::from_value(keys).unwrap();
    let stage = config.resolve(&Setting::new(Arc::clone(&motion.character), "")).unwrap();
    let mut report = Report::default();
    stage.apply(motion, &mut report).unwrap();
    report.warnings.iter().find(|warning| warning.code == "stage-idle").map(|warning| warning.message.clone())
}

#[test]
fn a_stage_that_its_keys_leave_nothing_to_do_names_them() {
    let effector =
        |from: f64| json!({ "effectors": [{ "joint": "left_hand", "target": [0, 1, 0], "from_s": from }] });
    for (message, words) in [
        (said::<IkConfig>(json!({})), "`ik` has no `effectors`"),
        (said::<IkConfig>(effector(1e3)), "effector `left_hand` acts in no frame: `from_s`"),
        (
            said::<LimitsConfig>(json!({ "except": ["spine_9"] })),
            "`except` names roles that the character does not have: `spine_9`",
        ),
        (
            said::<FilterConfig>(json!({ "cutoff_hz": 1e3, "extremity_cutoff_hz": 1e3 })),
            "`cutoff_hz` and `extremity_cutoff_hz`",
        ),
        (said::<TrimConfig>(json!({})), "`trim` has neither a start nor an end"),
    ] {
        assert!(message.as_deref().is_some_and(|message| message.contains(words)), "{words}: {message:?}");
    }
    for silent in [
        said::<IkConfig>(effector(-1.0)),
        said::<LimitsConfig>(json!({ "except": ["left_hand"] })),
        said::<FilterConfig>(json!({ "extremity_cutoff_hz": 1e3 })),
        said::<TrimConfig>(json!({ "start_frame": 0 })),
    ] {
        assert_eq!(silent, None);
    }
}
