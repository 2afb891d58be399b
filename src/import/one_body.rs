//! Detects the rig of one of several bodies in a file, without the joints of the others.
//!
//! Names and shape of two people who are detected together are exchanged: the toes of one become those of the other. Space and
//! units: those of the skeleton.

use super::rig_detection::RigClues;
use crate::anatomy::DetectedRig;
use crate::model::{Assignment, Clip, Joint, JointId, ModelPose, Rig, Skeleton};

/// What `detect` finds in the part of a file with these joints, ascending and with all their ancestors; the others have no roles.
pub(super) fn detect_in(
    file: &RigClues<'_>,
    joints: &[JointId],
    detect: impl Fn(&RigClues<'_>) -> DetectedRig,
) -> Option<DetectedRig> {
    let inside = |id: JointId| joints.binary_search(&id).ok().map(JointId::new);
    let part = joints.iter().map(|&id| {
        let joint = file.skeleton.joint(id);
        Joint { parent: joint.parent.and_then(inside), ..joint.clone() }
    });
    let skeleton = Skeleton::new(part.collect()).ok()?;
    let rest = ModelPose::new(joints.iter().map(|id| *file.rest.joint(*id)).collect());
    let mass: Option<Vec<f64>> = file.mass.map(|mass| joints.iter().map(|id| mass[id.index()]).collect());
    let clips: Vec<Clip> = file.clips.iter().map(|clip| part_of(clip, joints)).collect();
    let clips: Vec<&Clip> = clips.iter().collect();
    let clues = RigClues {
        skeleton: &skeleton,
        rest: &rest,
        mass: mass.as_deref(),
        trees: &[],
        clips: &clips,
        ..*file
    };
    let DetectedRig { rig, warnings } = detect(&clues);
    let roles =
        rig.assignments().map(|(role, a)| (role, Assignment { joint: joints[a.joint.index()], ..a.clone() }));
    let rig = Rig::new(file.skeleton.clone(), roles.collect::<Vec<_>>());
    Some(DetectedRig { rig, warnings })
}

/// The clip with these joints only.
fn part_of(clip: &Clip, joints: &[JointId]) -> Clip {
    let inside = |id: &JointId| joints.binary_search(id).ok();
    let slots: Vec<usize> =
        (0..clip.translated().len()).filter(|k| inside(&clip.translated()[*k]).is_some()).collect();
    let translated = slots.iter().filter_map(|k| inside(&clip.translated()[*k]).map(JointId::new)).collect();
    let frames = || 0..clip.frames();
    let rotations = frames().flat_map(|f| joints.iter().map(move |id| clip.rotations(f)[id.index()]));
    let translations = frames().flat_map(|f| slots.iter().map(move |k| clip.translations(f)[*k]));
    Clip::new(
        clip.name.clone(),
        clip.sample_rate,
        joints.len(),
        rotations.collect(),
        translated,
        translations.collect(),
    )
}
