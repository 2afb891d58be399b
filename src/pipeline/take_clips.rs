//! The clips of a take that a job works on, and their names.

use super::clip_choice::{find_clip, is_skinned};
use super::plan::Pipeline;
use super::run_error::RunError;
use crate::model::{Asset, Clip, Motion};
use crate::report::{Report, Shown};
use std::path::Path;
use std::sync::Arc;

/// Keeps the clips of the asset that the pipeline asks for.
///
/// # Errors
/// A [`RunError`] if there is none, with a guess why.
pub(super) fn choose_clips(
    pipeline: &Pipeline,
    asset: &mut Asset,
    path: &Path,
    report: &mut Report,
) -> Result<(), RunError> {
    let take = path.shown();
    match &pipeline.bare_take {
        Some(character) if is_skinned(asset) && asset.clips.is_empty() => {
            return Err(RunError::Swapped { take, character: character.clone() });
        }
        Some(character) if is_skinned(asset) => {
            let message = format!("`{character}` has no skin and the take has one: are the two swapped?");
            report.warnings.add("swapped", message, &take);
        }
        _ => {}
    }
    if asset.clips.is_empty() {
        // A character or a skeleton without a clip can change its format, but no stage can work on it.
        let only_converts = pipeline.stages.is_empty() && pipeline.clip.is_none();
        let joints = asset.character.skeleton().len();
        if !only_converts || (asset.character.meshes.is_empty() && joints < 2) {
            return Err(RunError::NoClip);
        }
        if asset.character.meshes.is_empty() {
            let message = "the file has no frames: its rest pose alone is written";
            report.warnings.add("no-clip", message, &take);
        }
        asset.clips = vec![Clip::new("", 30.0, joints, Vec::new(), Vec::new(), Vec::new())];
    }
    if let Some(wanted) = &pipeline.clip {
        let found = find_clip(asset, wanted).map_err(RunError::Clip)?;
        asset.clips = vec![asset.clips.swap_remove(found)];
        asset.meant = 0;
    }
    Ok(())
}

/// The clips of an asset as motions. Clips without a name, and merged clips, are named after the take.
pub(super) fn named_motions(asset: Asset, take: &Path, merged: bool) -> Vec<Motion> {
    let stem = take.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let several = asset.clips.len() > 1;
    let motion = |clip: Clip| {
        let mut motion = Motion::new(Arc::clone(&asset.character), clip);
        let name = &mut motion.clip.name;
        *name = match (name.is_empty(), merged && several, merged) {
            (true, _, _) | (false, false, true) => stem.clone(),
            (false, true, _) => format!("{stem} {name}"),
            (false, false, false) => std::mem::take(name),
        };
        motion
    };
    asset.clips.into_iter().map(motion).collect()
}

/// The rest poses of motions without frames, each as one frame, for formats that hold a take and no character; `None` for others.
pub(super) fn rest_as_frame(motions: &[Motion]) -> Option<Vec<Motion>> {
    let still = motions.iter().all(|motion| motion.clip.frames() == 0);
    let one = |motion: &Motion| {
        let skeleton = motion.character.skeleton();
        let rotations = skeleton.joints().iter().map(|joint| joint.rest.rotation).collect();
        let (name, rate) = (motion.clip.name.clone(), motion.clip.sample_rate);
        Motion {
            clip: Clip::new(name, rate, skeleton.len(), rotations, Vec::new(), Vec::new()),
            ..motion.clone()
        }
    };
    still.then(|| motions.iter().map(one).collect())
}

/// The names of the clips as parts of file names, without repetitions.
pub(super) fn clip_names(motions: &[Motion]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(motions.len());
    for motion in motions {
        let kept = |c: char| if c.is_alphanumeric() || "-_ ()".contains(c) { c } else { '_' };
        let name: String = motion.clip.name.trim().chars().map(kept).take(LONGEST_NAME).collect();
        let name = if name.is_empty() { "clip".to_owned() } else { name };
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let taken = |n: &String| names.iter().any(|t| t.eq_ignore_ascii_case(n));
        let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken(n));
        names.extend(free);
    }
    names
}

/// Most characters of a clip's name in a file name: file systems end at 255 bytes.
const LONGEST_NAME: usize = 60;
