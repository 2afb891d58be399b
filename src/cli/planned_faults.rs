//! Why a planned run would fail: what its first takes and its characters lack, found without running a stage.

use super::planned_run::PlannedRun;
use crate::export::lost_buffer;
use crate::import;
use crate::pipeline::find_clip;
use crate::report::Shown;

/// Most files that are read or compared to give one piece of advice: each is in memory at once.
pub const MOST_TRIED: usize = 12;
/// Formats that hold all data of a character's document in one file.
const WHOLE: [&str; 2] = ["glb", "vrm"];

/// The first error that `posemill run` would end with, with the file that causes it.
pub fn first_fault(runs: &[PlannedRun]) -> Option<String> {
    runs.iter().find_map(of_character).or_else(|| {
        let first = runs.first()?;
        let takes = first.jobs.iter().take(MOST_TRIED).flat_map(|job| job.takes);
        takes.map(|take| take.path).find_map(|path| {
            let error = match import::load(&path, &first.pipeline.import) {
                Err(error) => error.to_string(),
                Ok(asset) => {
                    let clip = first.pipeline.clip.as_deref().and_then(|clip| find_clip(&asset, clip).err());
                    let refused = || {
                        let mut errors = runs.iter().map(|run| run.pipeline.check_take(&asset.character));
                        errors.find_map(|error| Some(error.err()?.to_string()))
                    };
                    clip.or_else(refused)?
                }
            };
            Some(format!("{}: {error}", path.shown()))
        })
    })
}

/// What the file of the character lacks to be written.
fn of_character(run: &PlannedRun) -> Option<String> {
    let (file, character) = run.pipeline.character_file.as_ref().zip(run.pipeline.character.as_ref())?;
    let whole = run.jobs.outputs(0).any(|(format, _)| WHOLE.contains(&format.extension()));
    let error = lost_buffer(character.document.as_ref().filter(|_| whole)?)?;
    Some(format!("the file of the character, `{}`: {error}", file.shown()))
}
