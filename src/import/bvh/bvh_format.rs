//! BVH as an import format.
//!
//! BVH files state neither units nor axes: size, up and front are detected from the figure and reported; the user can
//! override them.

use super::raw_bvh::{self, BvhReadOptions, Normalization};
use crate::anatomy::{motion_up, orientation};
use crate::import::format::ReadFormat;
use crate::import::length_unit::{doubted_unit, guessed_unit};
use crate::import::load::{ImportError, ImportOptions};
use crate::import::reference_pose::{BVH, Calibrated, UncalibratedBody};
use crate::import::rig_detection::{RigClues, detect_rig};
use crate::math::{Quat, Transform, Vec3, arc};
use crate::model::{Asset, Character, Clip, ModelPose, Rig, Skeleton};
use crate::report::Warnings;
use std::sync::Arc;

/// Biovision hierarchy.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "bvh",
    suffixes: &["bvh"],
    about: "Biovision hierarchy: takes, any rotation order, units and up axis found from the figure",
    loses: "scale channels",
    recognise: |head| {
        let json = head.trim_ascii_start().starts_with(b"{");
        !json && head.to_ascii_uppercase().windows(9).any(|w| w == b"HIERARCHY")
    },
    read: |source, options| import_bvh(source.bytes, source.name, options),
};

/// A rest pose that faces off an axis of its file by less than this, radians, is a performer who stood a little turned:
/// the axes of the file are those of its world, and the take stays where it was recorded. Measured: takes whose figures
/// stand along their files' axes are off by up to 1.2 degrees.
const OWN_TURN: f64 = 0.09;

/// Reads a BVH file and finds its units and axes.
fn import_bvh(bytes: &[u8], name: &str, options: &ImportOptions) -> Result<Asset, ImportError> {
    let mut raw = raw_bvh::read_within(
        bytes,
        &BvhReadOptions { positions: options.bvh_positions },
        &options.budget(bytes),
    )?;
    let (rig, normalization, calibrated) =
        understand_bvh(&raw.skeleton, &raw.clip, options, &mut raw.warnings)?;
    let mut raw = raw.normalize(&normalization);
    raw.clip.name = name.to_owned();
    let roles = rig.assignments().map(|(r, a)| (r, a.clone()));
    let mut character = Character::new(name, Rig::new(raw.skeleton, roles));
    character.calibration = calibrated.map(|c| c.scaled(normalization.metres_per_unit));
    // A clip without frames is a file without a clip: its rest pose is all there is.
    let clips = if raw.clip.frames() > 0 { vec![raw.clip] } else { Vec::new() };
    Ok(Asset { character: Arc::new(character), clips, meant: 0, warnings: raw.warnings, beside: Vec::new() })
}

/// Roles, units and axes of a BVH file.
fn understand_bvh(
    skeleton: &Skeleton,
    clip: &Clip,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<(Rig, Normalization, Option<Calibrated>), ImportError> {
    let rest = skeleton.rest_model_pose();
    let told = options.up_vector();
    let vocabulary = options.vocabulary();
    let clips = [clip];
    let clips: &[&Clip] = if clip.frames() > 0 { &clips } else { &[] };
    // Names need no up axis, shapes do: where a figure standing along Y shows no legs, one along Z may.
    let upright = |up: Vec3| {
        let turn = Transform::from_rotation(arc(&up, &Vec3::y(), &Vec3::x()));
        let turned = ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect());
        let file = RigClues {
            skeleton,
            rest: &turned,
            bound: false,
            humanoid: &[],
            mass: None,
            clips,
            up: told,
            vocabulary: &vocabulary,
        };
        let understood = detect_rig(&file);
        let stands = [false, true].map(|snap| orientation(&understood.rig, &rest, told, snap));
        let stands = match stands {
            [Some(exact), Some(axis)]
                if exact.normal_from_rest.angle_to(&axis.normal_from_rest) < OWN_TURN =>
            {
                Some(axis)
            }
            [exact, _] => exact,
        };
        (understood, stands)
    };
    let first = upright(told.unwrap_or_else(Vec3::y));
    let (understood, stands) = if first.1.is_some() || told.is_some() {
        first
    } else {
        let second = upright(Vec3::z());
        if second.1.is_some() { second } else { first }
    };
    warnings.extend(understood.warnings);
    let rig = understood.rig;
    let body = UncalibratedBody { rig: &rig, rest: &rest, bound: false, clips, up: told, place: BVH };
    let calibrated = body.calibrate(options, warnings)?;
    let (rest_from_file, world_from_file) = match (&stands, told) {
        _ if calibrated.is_some() => {
            let turn = calibrated.as_ref().map_or_else(Quat::identity, |c| c.turn);
            (turn, turn)
        }
        (Some(o), None) => (o.normal_from_rest, motion_up(&rig, clip, o)),
        (Some(o), Some(_)) => (o.normal_from_rest, o.normal_from_rest),
        (None, up) => {
            let turn = arc(&up.unwrap_or_else(Vec3::y), &Vec3::y(), &Vec3::x());
            (turn, turn)
        }
    };
    if stands.is_none() && calibrated.is_none() {
        warnings.add(
            "bvh-no-figure",
            "no legs were recognised: up is taken to be the file's own and the front +Z",
            "HIERARCHY",
        );
    } else if rest_from_file.angle_to(&world_from_file) > 1e-3 {
        warnings.add(
            "bvh-two-worlds",
            "rest pose and motion stand along different axes; both are turned upright",
            "MOTION",
        );
    }
    let upright = match &calibrated {
        Some(calibrated) => calibrated.calibration.pose.clone(),
        None => {
            let turn = Transform::from_rotation(rest_from_file);
            ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect())
        }
    };
    let metres_per_unit = match options.units {
        Some(told) => {
            doubted_unit(told, &rig, &upright, warnings);
            told
        }
        None => guessed_unit(&rig, &upright, "HIERARCHY", warnings),
    };
    Ok((rig, Normalization { metres_per_unit, rest_from_file, world_from_file }, calibrated))
}
