//! A custom stage in a pipeline file: holds poses, as in drawn animation "on twos".
//! `cargo run --example own_stage`.

use posemill::model::Motion;
use posemill::pipeline::{Pipeline, PipelineConfig, save};
use posemill::report::Report;
use posemill::stages::{STAGES, Setting, Stage, StageConfig, StageEntry, StageError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::Path;

/// The stage as written: a field for every key, with its default. The comments become its help and its schema.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct HoldConfig {
    /// For how many frames each pose is held.
    frames: usize,
}

impl Default for HoldConfig {
    fn default() -> Self {
        Self { frames: 2 }
    }
}

impl StageConfig for HoldConfig {
    const NAME: &'static str = "hold";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        match self.frames {
            0 => Err(vec![StageError::key("frames", "a pose is held for 1 frame or more")]),
            _ => Ok(()),
        }
    }

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Hold { frames: self.frames }))
    }
}

/// The resolved stage: a pure function of the motion.
#[derive(Debug)]
struct Hold {
    frames: usize,
}

impl Stage for Hold {
    fn apply(&self, mut motion: Motion, _: &mut Report) -> Result<Motion, StageError> {
        for frame in 0..motion.clip.frames() {
            let held = frame - frame % self.frames;
            let (rotations, places) =
                (motion.clip.rotations(held).to_vec(), motion.clip.translations(held).to_vec());
            motion.clip.rotations_mut(frame).copy_from_slice(&rotations);
            motion.clip.translations_mut(frame).copy_from_slice(&places);
        }
        Ok(motion)
    }
}

const PIPELINE: &str = r#"
[[stage]]
use = "resample"
rate_hz = 24.0

[[stage]]
use = "retarget"

[[stage]]
use = "hold"
frames = 2
"#;

fn main() -> Result<(), Box<dyn Error>> {
    example(Path::new("out/examples"))
}

/// Writes into `out`.
pub fn example(out: &Path) -> Result<(), Box<dyn Error>> {
    let stages: Vec<StageEntry> = STAGES.iter().copied().chain([StageEntry::of::<HoldConfig>()]).collect();
    let config = PipelineConfig::parse("on twos", PIPELINE, &[], &stages)?;
    let pipeline = Pipeline::new(&config, Path::new(""), Some("data/robot.glb"))?;
    let (held, _) = pipeline.apply(pipeline.load("data/walk.bvh")?.0)?;
    let changes = (1..held.clip.frames()).filter(|&f| held.clip.rotations(f) != held.clip.rotations(f - 1));
    println!("{} frames, {} poses", held.clip.frames(), 1 + changes.count());
    save(&[held], out.join("on_twos.glb"), &Default::default())?;
    Ok(())
}
