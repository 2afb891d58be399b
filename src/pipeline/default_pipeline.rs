//! The pipeline of `posemill retarget`.

/// The pipeline with these stages of the feature `physics` before `loop`: what a body does with its travel, it does before that is
/// removed.
macro_rules! with_physics {
    ($stages:literal) => {
        concat!(
            r#"
[output]
report = false

[[stage]]
use = "trim"
enabled = false

[[stage]]
use = "repair"

[[stage]]
use = "resample"
enabled = false

[[stage]]
use = "contacts"

[[stage]]
use = "retarget"

[[stage]]
use = "face"
enabled = false

[[stage]]
use = "ground"
enabled = false

[[stage]]
use = "foot_lock"

[[stage]]
use = "limits"
enabled = false
"#,
            $stages,
            r#"
[[stage]]
use = "loop"
enabled = false

[[stage]]
use = "root_motion"
enabled = false
"#
        )
    };
}

/// The name of [`DEFAULT_PIPELINE`], in place of the path of a file.
pub const DEFAULT_NAME: &str = "default pipeline";
/// The name of the pipeline without stages of `posemill convert`, likewise.
pub const CONVERT_NAME: &str = "convert";

/// The pipeline of `posemill retarget`.
///
/// `repair` returns a take without capture errors unchanged, bit for bit. Stages that are not enabled run only on request,
/// `--set stage.ground.enabled=true`. That includes joint limits: a take that exceeds the ranges of motion of people does so
/// deliberately, and is not changed. `perform` does nothing until it is given a hit.
#[cfg(feature = "physics")]
pub const DEFAULT_PIPELINE: &str =
    with_physics!("\n[[stage]]\nuse = \"flights\"\nenabled = false\n\n[[stage]]\nuse = \"perform\"\n");
/// The pipeline of `posemill retarget`, without the stages that need the feature `physics`.
#[cfg(not(feature = "physics"))]
pub const DEFAULT_PIPELINE: &str = with_physics!("");
