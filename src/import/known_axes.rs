//! Builds the asset of a skeleton and clip whose format specifies its axes: roles, reference pose, facing.
//!
//! Unlike in BVH, Y is up in rest pose and motion alike, unless the user sets another axis, or the format does not state its own and
//! the figure and its ground prove another one. The figure is only rotated to face +Z if it does not, by a multiple of 90 degrees.
//! Space: the file's, Y up. Units: metres.

use super::bvh::{Normalization, Positions, RawBvh};
use super::file_unit::{estimate_unit, warn_of_size};
use super::import_error::ImportError;
use super::import_options::{ImportOptions, UpAxis};
use super::reference_pose::{self, UncalibratedBody};
use super::rig_detection::{RigClues, detect_rig};
use crate::anatomy::{Orientation, motion_up, orientation};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{Asset, Character, Clip, ModelPose, Rig, Skeleton};
use crate::report::Warnings;
use std::sync::Arc;

/// A rotation by less is none: those to axes of the file are quarter turns.
const ROUNDING: f64 = 1e-6;
/// Component along Y of an up axis that is Y: axes are coordinate axes.
const UPRIGHT: f64 = 0.5;

/// The up axis of a motion; its rest pose has Y up, or the same.
#[derive(Clone, Copy)]
pub(super) enum MotionUp {
    /// Y, by the format.
    Y,
    /// The axis that the user sets.
    #[cfg_attr(not(feature = "formats"), allow(dead_code))]
    User(UpAxis),
    /// Not stated: Y, unless figure and ground prove another axis.
    #[cfg_attr(not(feature = "formats"), allow(dead_code))]
    Unstated,
}

/// The content of a file, Y up.
pub(super) struct KnownAxesFile {
    pub(super) motion_up: MotionUp,
    pub(super) skeleton: Skeleton,
    /// The motion; without frames where the file has none.
    pub(super) clip: Clip,
    /// Whether the file states the rest pose; else its axes are unknown, and the figure is set upright, facing +Z.
    pub(super) states_rest: bool,
    /// Metres per unit of the file; `None` if it does not state that.
    pub(super) metres_per_unit: Option<f64>,
    /// The location that warnings about the rest pose name.
    pub(super) place: &'static str,
    pub(super) warnings: Warnings,
}

impl KnownAxesFile {
    /// The asset called `name`.
    ///
    /// # Errors
    /// A requested reference pose that does not exist.
    pub(super) fn asset(self, name: &str, options: &ImportOptions) -> Result<Asset, ImportError> {
        let Self { motion_up, mut skeleton, mut clip, states_rest, metres_per_unit, place, mut warnings } =
            self;
        let up = Some(Vec3::y());
        let vocabulary = options.vocabulary();
        let detect = |skeleton: &Skeleton, rest: &ModelPose, clip: &Clip| {
            let clips: &[&Clip] = if clip.frames() > 0 { &[clip] } else { &[] };
            detect_rig(&RigClues {
                skeleton,
                rest,
                bound: false,
                humanoid: &[],
                mass: None,
                rigid: false,
                trees: &[],
                clips,
                up,
                vocabulary: &vocabulary,
                mirrored: false,
                body: options.body.as_deref(),
            })
        };
        let mut rest = skeleton.rest_model_pose();
        let mut detected = detect(&skeleton, &rest, &clip);
        let y_up = y_up_from_motion(motion_up, &detected.rig, &clip, place, &mut warnings);
        if y_up.angle() > ROUNDING {
            (skeleton, clip) = stood_up(skeleton, clip, &detected.rig, &rest, y_up);
            rest = skeleton.rest_model_pose();
            detected = detect(&skeleton, &rest, &clip);
        }
        if !states_rest && let Some(upright) = upright(&detected.rig, &rest) {
            skeleton = upright;
            rest = skeleton.rest_model_pose();
            detected = detect(&skeleton, &rest, &clip);
        }
        let clips: &[&Clip] = if clip.frames() > 0 { &[&clip] } else { &[] };
        warnings.extend(detected.warnings);
        let rig = detected.rig;
        let body = UncalibratedBody { rig: &rig, rest: &rest, bound: false, clips, up, place };
        let calibrated = body.calibrate(options, &mut warnings)?;
        let facing = body.facing(calibrated.as_ref());
        let unit_is_stated = metres_per_unit.is_some();
        let rotated = Transform::from_rotation(facing);
        let metres_per_unit = metres_per_unit.unwrap_or_else(|| {
            let upright = ModelPose::new(rest.joints().iter().map(|t| rotated * *t).collect());
            estimate_unit(&rig, &upright, place, &mut warnings)
        });
        let roles: Vec<_> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
        let raw = RawBvh { skeleton, clip, positions: Positions::Replace, warnings };
        let mut raw = raw.normalize(&Normalization {
            metres_per_unit,
            rest_from_file: facing,
            world_from_file: facing,
        });
        raw.clip.name = name.to_owned();
        let found = calibrated.map(|c| c.scaled(metres_per_unit));
        let calibration = reference_pose::kept(found, options, &raw.skeleton);
        let mut character = Character::new(name, Rig::new(raw.skeleton, roles));
        character.calibration = calibration;
        let clips = if raw.clip.frames() > 0 { vec![raw.clip] } else { Vec::new() };
        let (character, mut warnings) = (Arc::new(character), raw.warnings);
        if unit_is_stated {
            warn_of_size(&character, &mut warnings);
        }
        Ok(Asset { character, clips, meant: 0, warnings, companions: Vec::new(), observed: None })
    }
}

/// The rotation of the motion to Y up, with a warning where figure and ground show another axis and the file states none.
fn y_up_from_motion(up: MotionUp, rig: &Rig, clip: &Clip, place: &str, warnings: &mut Warnings) -> Quat {
    match up {
        MotionUp::Y => Quat::identity(),
        MotionUp::User(axis) => axis.to_y_up(),
        MotionUp::Unstated => {
            let y_up = Orientation { normal_from_rest: Quat::identity(), up: Vec3::y() };
            let rotation = motion_up(rig, clip, &y_up);
            let axis = rotation.inverse() * Vec3::y();
            if rotation.angle() > ROUNDING {
                let axis = match axis {
                    a if a.z > UPRIGHT => "Z",
                    a if a.y < -UPRIGHT => "-Y",
                    _ => "another axis than Y",
                };
                let said = format!(
                    "no up axis is stated, and figure and ground show that it is {axis}: the take was rotated to Y up (`input.up=y` keeps \
                     the axes of the file)"
                );
                warnings.add("up-by-figure", said, place);
            }
            rotation
        }
    }
}

/// Skeleton and clip rotated to Y up; the rest pose only if it has not Y up already.
fn stood_up(skeleton: Skeleton, clip: Clip, rig: &Rig, rest: &ModelPose, y_up: Quat) -> (Skeleton, Clip) {
    let lies = orientation(rig, rest, None, true).is_some_and(|o| (y_up * o.up).y > UPRIGHT);
    let normalization = Normalization {
        metres_per_unit: 1.0,
        rest_from_file: if lies { y_up } else { Quat::identity() },
        world_from_file: y_up,
    };
    let raw = RawBvh { skeleton, clip, positions: Positions::Replace, warnings: Warnings::new() };
    let raw = raw.normalize(&normalization);
    (raw.skeleton, raw.clip)
}

/// The skeleton with its root rotated so that the figure stands upright and faces +Z; `None` if it does.
fn upright(rig: &Rig, rest: &ModelPose) -> Option<Skeleton> {
    let stands = orientation(rig, rest, None, true)?.normal_from_rest;
    let mut joints = rig.skeleton().joints().to_vec();
    joints[0].rest.rotation = stands * joints[0].rest.rotation;
    (stands.angle() > ROUNDING).then(|| Skeleton::new(joints).ok()).flatten()
}
