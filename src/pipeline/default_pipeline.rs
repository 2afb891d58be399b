//! The pipeline of `posemill retarget`.

/// The pipeline without the stages that need the feature `physics`.
macro_rules! without_physics {
    () => {
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

[[stage]]
use = "loop"
enabled = false

[[stage]]
use = "root_motion"
enabled = false
"#
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
pub const DEFAULT_PIPELINE: &str = concat!(
    without_physics!(),
    "\n[[stage]]\nuse = \"flights\"\nenabled = false\n\n[[stage]]\nuse = \"perform\"\n"
);
/// The pipeline of `posemill retarget`, without the stage that needs the feature `physics`.
#[cfg(not(feature = "physics"))]
pub const DEFAULT_PIPELINE: &str = without_physics!();
