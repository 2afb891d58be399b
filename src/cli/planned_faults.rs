//! Why a planned run would fail: what its first takes and its characters lack, found without running a stage.

use super::planned_run::PlannedRun;
use crate::export::lost_buffer;
use crate::import;
use crate::pipeline::find_clip;
use crate::report::Shown;
use std::path::Path;

/// Most files that are read or compared to give one piece of advice: each is in memory at once.
pub const MOST_TRIED: usize = 12;
/// Formats that hold all data of a character's document in one file.
const WHOLE: [&str; 2] = ["glb", "vrm"];

/// The first error that `posemill run` would end with, with the file that causes it.
pub fn first_fault(runs: &[PlannedRun]) -> Option<String> {
    runs.iter().find_map(of_character).or_else(|| {
        let takes = runs.first()?.jobs.iter().take(MOST_TRIED).flat_map(|job| job.takes);
        takes
            .map(|take| take.path)
            .find_map(|path| Some(format!("{}: {}", path.shown(), of_take(&path, runs)?)))
    })
}

/// Why a take cannot be read, or does not fit a character.
fn of_take(path: &Path, runs: &[PlannedRun]) -> Option<String> {
    let pipeline = &runs.first()?.pipeline;
    let asset = match import::load(path, &pipeline.import) {
        Ok(asset) => asset,
        Err(error) => return Some(error.to_string()),
    };
    if let Some(Err(error)) = pipeline.clip.as_deref().map(|clip| find_clip(&asset, clip)) {
        return Some(error);
    }
    runs.iter().find_map(|run| Some(run.pipeline.check_take(&asset.character).err()?.to_string()))
}

/// What the file of the character lacks to be written.
fn of_character(run: &PlannedRun) -> Option<String> {
    let (file, character) = run.pipeline.character_file.as_ref().zip(run.pipeline.character.as_ref())?;
    let whole = run.jobs.outputs(0).any(|(format, _)| WHOLE.contains(&format.extension()));
    let error = lost_buffer(character.document.as_ref().filter(|_| whole)?)?;
    Some(format!("the file of the character, `{}`: {error}", file.shown()))
}
