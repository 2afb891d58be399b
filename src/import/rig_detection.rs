//! What the joints of a file are for, also where its rest pose says nothing.
//!
//! JointNames are read first. The shape of the body is read in the rest pose where that is one of a body, else in the pose that
//! the motion gives; where neither names nor the rest pose show a body, single frames are tried.
//!
//! Space: any, Y up. Units: those of the skeleton.

use super::reference_pose::fault;
use crate::anatomy::{
    DetectedRig, HumanoidMap, JointNames, ShapeEvidence, Vocabulary, detect_roles_from, rest_from_motion,
};
use crate::math::{Transform, Vec3, arc};
use crate::model::{Clip, ModelPose, Role, Skeleton};

/// What a file brings.
pub(super) struct File<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The pose that would calibrate the body, turned so that Y is up if the file keeps to the usual axes.
    pub(super) rest: &'a ModelPose,
    /// Whether that is a bind pose.
    pub(super) bound: bool,
    pub(super) humanoid: &'a HumanoidMap,
    pub(super) mass: Option<&'a [f64]>,
    pub(super) clips: &'a [&'a Clip],
    /// The up axis of the clips' world, where format or user say it.
    pub(super) up: Option<Vec3>,
    pub(super) vocabulary: &'a Vocabulary,
}

/// The rig of a file and what had to be guessed for it.
pub(super) fn understand(file: &File<'_>) -> DetectedRig {
    // Once for all poses.
    let names = JointNames::of(file.skeleton, file.vocabulary);
    let by = |pose: &ModelPose, evidence: Option<&ShapeEvidence>| {
        detect_roles_from(&names, file.skeleton.clone(), pose, file.humanoid, evidence)
    };
    let evidence = ShapeEvidence { mass: file.mass, clip: file.clips.first().copied() };
    if file.clips.is_empty() || !file.humanoid.is_empty() {
        return by(file.rest, Some(&evidence));
    }
    let is_body = |u: &DetectedRig| u.rig.joint(Role::Hips).is_some();
    let faulty = |u: &DetectedRig| fault(&u.rig, file.rest, file.bound, file.clips).is_some();
    let seen = by(file.rest, Some(&evidence));
    if is_body(&seen) && !faulty(&seen) {
        return seen;
    }
    let named = by(file.rest, None);
    if faulty(&named) {
        // The pose that the motion gives faces as the names say, which the shape then holds against the body.
        return match rest_from_motion(&named.rig, file.clips, file.up) {
            Some(estimate) => by(&estimate.pose, Some(&evidence)),
            None => named,
        };
    }
    match in_a_frame(file, |pose| Some(by(pose, Some(&evidence))).filter(is_body)) {
        Some(mut found) => {
            let said = "neither the names of the joints nor the rest pose show a body: what joints are for was read off a \
                        single frame (`posemill map` writes it down to be put right)";
            found.warnings.add("roles-from-frame", said, "the joints");
            found
        }
        None => seen,
    }
}

/// What is understood in the first or the middle frame, whichever of the usual axes it stands along.
fn in_a_frame(file: &File<'_>, read: impl Fn(&ModelPose) -> Option<DetectedRig>) -> Option<DetectedRig> {
    let clip = file.clips.first()?;
    let ups = file.up.map_or_else(|| vec![Vec3::y(), Vec3::z()], |up| vec![up]);
    let frames = [0, clip.frames() / 2];
    frames.into_iter().find_map(|frame| {
        let pose = ModelPose::of(file.skeleton, &clip.pose(file.skeleton, frame));
        ups.iter().find_map(|up| {
            let turn = Transform::from_rotation(arc(up, &Vec3::y(), &Vec3::x()));
            read(&ModelPose::new(pose.joints().iter().map(|t| turn * *t).collect()))
        })
    })
}
