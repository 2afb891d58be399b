//! Determines the reference pose in which a file's body is compared with others: its bind or rest pose, one estimated from
//! the motion, or a user-specified one.
//!
//! A degenerate rest pose is detected by comparison with the motion, and the pose is then estimated
//! (`anatomy::rest_from_motion`). Never fails where it can estimate: a pose with a warning is more useful than an error.
//! Space: the file's own world, then Y up and facing +Z. Units: those of the skeleton.

use super::import_error::ImportError;
use super::import_options::{Calibrate, ImportOptions};
use crate::anatomy::{
    CONTRADICTED, Estimate, Figure, RestFault, UNSURE, folded_arms, motion_up, orientation, posed_rest,
    rest_fault, rest_from_motion, with_estimated_arms,
};
use crate::math::{Quat, Transform, Vec3, arc};
use crate::model::{Calibration, CalibrationSource, Character, Clip, ModelPose, Rig, Role, Side, Skeleton};
use crate::report::{Shown, Warnings};
use std::path::Path;

/// A reference pose that replaces bind and rest pose, and the rotation of the file's world to Y up.
pub(super) struct Calibrated {
    /// The pose: Y up, facing +Z, in the skeleton's unit.
    pub(super) calibration: Calibration,
    /// Y up from the world of the clips; their heading is kept.
    pub(super) y_up_from_world: Quat,
}

/// The properties of a file from which its reference pose is determined.
pub(super) struct UncalibratedBody<'a> {
    pub(super) rig: &'a Rig,
    /// The bind or rest pose, in the file's own axes.
    pub(super) rest: &'a ModelPose,
    /// Whether that is a bind pose: it is never a frame of a clip.
    pub(super) bound: bool,
    pub(super) clips: &'a [&'a Clip],
    /// The up axis of its world, if the format or the user specifies it.
    pub(super) up: Option<Vec3>,
    /// The location that warnings name.
    pub(super) place: &'static str,
}

impl UncalibratedBody<'_> {
    /// The reference pose that `options` select; `None` if it is the bind or rest pose.
    ///
    /// # Errors
    /// A frame that is not there, a file that cannot be read or has no joint in common.
    pub(super) fn calibrate(
        &self,
        options: &ImportOptions,
        warnings: &mut Warnings,
    ) -> Result<Option<Calibrated>, ImportError> {
        match &options.calibration {
            Calibrate::Auto => Ok(self.found(warnings)),
            Calibrate::Bind | Calibrate::Rest => Ok(None),
            Calibrate::Motion => {
                let estimate = self.estimate();
                if estimate.is_none() {
                    let said =
                        "there is no motion of a body with hips and legs to estimate a reference pose from";
                    warnings.add("rest-from-motion-none", said, self.place);
                }
                Ok(estimate.map(|estimate| self.calibrated(estimate, None, warnings)))
            }
            Calibrate::Frame(frame) => self.frame(*frame, warnings).map(Some),
            Calibrate::File(path) => self.file(path, options, warnings).map(Some),
        }
    }

    /// The pose estimated from the motion, if the file's own pose is degenerate.
    fn found(&self, warnings: &mut Warnings) -> Option<Calibrated> {
        let posed = || posed_rest(self.rig, self.rest, self.clips).filter(|_| !self.bound);
        let fault = fault(self.rig, self.rest, self.bound, self.clips).or_else(posed);
        let Some(fault) = fault else { return self.folded_arms(warnings) };
        let mut estimate = self.estimate();
        if is_frame(&fault) && estimate.as_ref().is_some_and(|estimate| !estimate.sure_of_up) {
            // A posed figure stands in the world of the motion.
            let up = self.up_at_rest();
            estimate = up.and_then(|up| rest_from_motion(self.rig, self.clips, Some(up))).or(estimate);
        }
        match estimate {
            Some(estimate) => Some(self.calibrated(estimate, Some(fault), warnings)),
            None => {
                let said = format!("{fault}, and there is no motion to estimate a reference pose from");
                warnings.add("rest-says-nothing", said, self.place);
                None
            }
        }
    }

    /// The up axis of the motion that the rest pose suggests.
    fn up_at_rest(&self) -> Option<Vec3> {
        let stands = orientation(self.rig, self.rest, self.up, false)?;
        Some(motion_up(self.rig, self.clips.first()?, &stands).inverse() * Vec3::y())
    }

    /// The rest pose with arms estimated from the motion where it folds them as no body does and the motion contradicts their roll.
    fn folded_arms(&self, warnings: &mut Warnings) -> Option<Calibrated> {
        if self.bound || self.clips.iter().all(|clip| clip.frames() == 0) {
            return None;
        }
        let sides = folded_arms(self.rig, self.rest);
        if sides.is_empty() {
            return None;
        }
        let stands =
            Transform::from_rotation(orientation(self.rig, self.rest, self.up, false)?.normal_from_rest);
        let rest = ModelPose::new(self.rest.joints().iter().map(|t| stands * *t).collect());
        let estimate = self.estimate()?;
        let pose = with_estimated_arms(self.rig, &rest, &estimate, &sides)?;
        let said = "the rest pose folds the arms as no body does: their roll was estimated from the motion";
        warnings.add("rest-arms", said, self.place);
        let calibration = Calibration { pose, from: CalibrationSource::Motion, joints: Vec::new() };
        Some(Calibrated { calibration, y_up_from_world: estimate.y_up_from_world })
    }

    /// The rotation to +Z of a body whose format specifies its axes: a multiple of 90 degrees; deviations below 45 degrees belong to the body.
    pub(super) fn facing(&self, calibrated: Option<&Calibrated>) -> Quat {
        let seen = || orientation(self.rig, self.rest, self.up, true);
        calibrated
            .map_or_else(|| seen().map_or_else(Quat::identity, |o| o.normal_from_rest), |c| c.y_up_from_world)
    }

    fn estimate(&self) -> Option<Estimate> {
        rest_from_motion(self.rig, self.clips, self.up)
    }

    /// An estimate as a calibration, with its warnings.
    fn calibrated(
        &self,
        estimate: Estimate,
        fault: Option<RestFault>,
        warnings: &mut Warnings,
    ) -> Calibrated {
        let posed = fault.as_ref().is_some_and(is_frame);
        let mut said = "the reference pose was estimated from the motion".to_owned();
        if let Some(fault) = fault {
            said += &format!(" ({fault})");
        }
        if estimate.conventional {
            said += "; joint axes are aligned with the body, so rotations were snapped to them";
        }
        warnings.add(if posed { "rest-posed" } else { "rest-from-motion" }, said, self.place);
        if !estimate.sure_of_up {
            let said =
                "on average the figure is aligned with no axis: the up axis is a guess (`input.up` sets it)";
            warnings.add("rest-from-motion-up", said, self.place);
        }
        let unsure: Vec<String> = (estimate.joints.iter())
            .filter(|j| j.confidence < UNSURE)
            .filter_map(|j| self.rig.role(j.joint))
            .filter(|role| !matches!(role, Role::Finger(..) | Role::Toes(_)))
            .map(|role| role.to_string())
            .collect();
        if !unsure.is_empty() {
            let said = format!(
                "{}: the rotation about the bone is a guess (record a take in which it bends and stands, or set \
                 `input.calibration.file`)",
                unsure.join(", ")
            );
            warnings.add("rest-from-motion-unsure", said, self.place);
        }
        let calibration =
            Calibration { pose: estimate.pose, from: CalibrationSource::Motion, joints: estimate.joints };
        Calibrated { calibration, y_up_from_world: estimate.y_up_from_world }
    }

    /// One frame of the first clip, rotated upright and to face +Z.
    fn frame(&self, frame: usize, warnings: &mut Warnings) -> Result<Calibrated, ImportError> {
        let frames = self.clips.first().map_or(0, |c| c.frames());
        let Some(clip) = self.clips.first().filter(|c| frame < c.frames()) else {
            return Err(ImportError::CalibrationFrame { frame, frames });
        };
        let skeleton = self.rig.skeleton();
        let pose = ModelPose::of(skeleton, &clip.pose(skeleton, frame));
        let stands = orientation(self.rig, &pose, self.up, false);
        if stands.is_none() {
            let said = "no legs were detected in the reference frame: it is used without rotation";
            warnings.add("rest-frame-unsure", said, self.place);
        }
        let up = stands.as_ref().map_or_else(|| self.up.unwrap_or_else(Vec3::y), |o| o.up);
        let facing = stands.map_or_else(Quat::identity, |o| o.normal_from_rest);
        let facing_from_world = Transform::from_rotation(facing);
        let pose = grounded(self.rig, pose.joints().iter().map(|t| facing_from_world * *t).collect());
        let from = CalibrationSource::Frame(frame);
        Ok(Calibrated {
            calibration: Calibration { pose, from, joints: Vec::new() },
            y_up_from_world: arc(&up, &Vec3::y(), &Vec3::x()),
        })
    }

    /// The pose of another file: its bind pose if it has a skin; else its frame if it has one, else an estimate from its motion.
    fn file(
        &self,
        path: &Path,
        options: &ImportOptions,
        warnings: &mut Warnings,
    ) -> Result<Calibrated, ImportError> {
        let read = |calibration: Calibrate| {
            let inner = ImportOptions { calibration, ..options.clone() };
            super::load::load(path, &inner)
                .map_err(|error| ImportError::Calibration { path: path.to_owned(), error: Box::new(error) })
        };
        let asset = read(Calibrate::Auto)?;
        let long = asset.clips.iter().map(Clip::frames).sum::<usize>() > 1;
        let other_pose = match asset.motion(0) {
            _ if asset.character.bind.is_some() => asset.character.reference_pose(),
            None => asset.character.reference_pose(),
            Some(motion) if !long => motion.model_pose(0),
            Some(_) => read(Calibrate::Motion)?.character.reference_pose(),
        };
        let (rig, skeleton, other) = (self.rig, self.rig.skeleton(), asset.character.skeleton());
        let name = |id| skeleton.joint(id).name.as_str();
        let matched = skeleton.ids().filter(|id| other.find(name(*id)).is_some()).count();
        if matched == 0 {
            return Err(ImportError::CalibrationFile { path: path.to_owned() });
        }
        let mut joints: Vec<Transform> = Vec::with_capacity(skeleton.len());
        for id in skeleton.ids() {
            let rest = skeleton.joint(id).rest;
            let mut at = skeleton.parent(id).map_or(rest, |p| joints[p.index()] * rest);
            if let Some(found) = other.find(name(id)) {
                at.rotation = other_pose.joint(found).rotation;
            }
            joints.push(at);
        }
        // The pose is in the world of its own file, whose up and front are detected from the figure.
        let pose = ModelPose::new(joints);
        let stands = orientation(rig, &pose, None, false).map_or_else(Quat::identity, |o| o.normal_from_rest);
        let stands = Transform::from_rotation(stands);
        let joints = pose.joints().iter().map(|t| stands * *t).collect();
        let pose = grounded(rig, joints);
        let estimate = self.estimate();
        // Joint names and bone lengths may match another export of the rig with other joint axes.
        let off = estimate.as_ref().map_or_else(Vec::new, |estimate| estimate.contradicted_by(&pose));
        if let [first, ..] = off[..] {
            let said = format!(
                "{} joints of the pose in `{}` are more than {:.0} degrees from the estimate from the motion: it is an \
                 export with other joint axes, or its frame is no T-pose",
                off.len(),
                path.shown(),
                CONTRADICTED.to_degrees()
            );
            warnings.add("calibration-differs", said, format!("joint {}", name(first)));
        }
        let y_up_from_world = match (self.up, estimate) {
            (None, Some(estimate)) => estimate.y_up_from_world,
            (up, _) => arc(&up.unwrap_or_else(Vec3::y), &Vec3::y(), &Vec3::x()),
        };
        let calibration = Calibration { pose, from: CalibrationSource::File, joints: Vec::new() };
        Ok(Calibrated { calibration, y_up_from_world })
    }
}

/// Why a bind or rest pose is degenerate.
///
/// A bind pose is a pose of the body, whatever the joints do in a clip: it is only rejected if the figure is folded onto one
/// line (the skin of bones of a converted BVH). Animals are folded too, but upright.
pub(super) fn fault(rig: &Rig, rest: &ModelPose, bound: bool, clips: &[&Clip]) -> Option<RestFault> {
    rest_fault(rig, rest, clips).filter(|fault| !bound || *fault == RestFault::Folded && is_a_line(rest))
}

/// Whether the rest pose is a frame of some motion.
fn is_frame(fault: &RestFault) -> bool {
    matches!(fault, RestFault::Posed(_) | RestFault::Crouched(_))
}

/// A figure is a line if its second largest extent is below this fraction of the largest; animals reach 0.4.
const LINE: f64 = 0.25;

fn is_a_line(pose: &ModelPose) -> bool {
    let places = || pose.joints().iter().map(|t| t.translation);
    let high = places().fold(Vec3::repeat(f64::MIN), |a, b| a.sup(&b));
    let low = places().fold(Vec3::repeat(f64::MAX), |a, b| a.inf(&b));
    let mut extents = [0, 1, 2].map(|k| (high - low)[k]);
    extents.sort_by(f64::total_cmp);
    extents[1] < LINE * extents[2]
}

/// The location that warnings about a BVH file's rest pose name.
pub(super) const BVH: &str = "HIERARCHY";

/// The pose with the lowest joint of the feet at height 0; as it is where there are no feet.
fn grounded(rig: &Rig, mut joints: Vec<Transform>) -> ModelPose {
    let roles = Side::BOTH.into_iter().flat_map(|s| [Role::Foot(s), Role::Toes(s)]);
    let feet = roles.filter_map(|role| rig.joint(role));
    let low = feet.map(|id| joints[id.index()].translation.y).fold(f64::INFINITY, f64::min);
    if low.is_finite() {
        joints.iter_mut().for_each(|t| t.translation.y -= low);
    }
    ModelPose::new(joints)
}

impl Calibrated {
    /// The same in metres.
    pub(super) fn scaled(mut self, metres_per_unit: f64) -> Calibration {
        let joints = self.calibration.pose.joints().iter();
        let scaled = joints.map(|t| Transform::new(t.rotation, t.translation * metres_per_unit));
        self.calibration.pose = ModelPose::new(scaled.collect());
        self.calibration
    }
}

/// Radians (15 degrees) from an axis of the file up to which a body lies along it: no body is exactly straight.
const ALONG_AXIS: f64 = 0.26;

/// The reference pose of a character that lies as a whole in its bind or rest pose, stood up: soles and toes are measured as they
/// stand. `None` of one that stands.
pub(super) fn stood_up(character: &Character, warnings: &mut Warnings) -> Option<Calibration> {
    let lying = character.reference_pose();
    let up = Figure::of(&character.rig, &lying)?.up;
    if up == Vec3::y() {
        return None;
    }
    let mut axis = Vec3::zeros();
    axis[up.iamax()] = up[up.iamax()].signum();
    let up = if up.angle(&axis) < ALONG_AXIS { axis } else { up };
    let stands = Transform::from_rotation(arc(&up, &Vec3::y(), &Vec3::x()));
    let said = "the character lies in its reference pose: it is compared as if it stood";
    warnings.add("rest-lies", said, "nodes");
    let pose = ModelPose::new(lying.joints().iter().map(|t| stands * *t).collect());
    Some(Calibration { pose, from: character.calibration_source(), joints: Vec::new() })
}

/// The calibration of a character: the one found, else its rest pose if that was requested, else none.
pub(super) fn kept(
    found: Option<Calibration>,
    options: &ImportOptions,
    skeleton: &Skeleton,
) -> Option<Calibration> {
    let from = CalibrationSource::Rest;
    let rest = || Calibration { pose: skeleton.rest_model_pose(), from, joints: Vec::new() };
    found.or_else(|| (options.calibration == Calibrate::Rest).then(rest))
}
