//! BVH as an import format.
//!
//! BVH files state neither units nor axes: size, up and front are detected from the figure and reported; the user can
//! override them.

use super::raw_bvh::{self, BvhReadOptions, Normalization, RawBvh};
use super::text_blocks::read_blocks;
use crate::anatomy::{DetectedRig, Orientation, motion_up, orientation};
use crate::import::file_unit::{check_unit, estimate_unit};
use crate::import::format::ReadFormat;
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::import::reference_pose::{BVH, Calibrated, UncalibratedBody};
use crate::import::rig_detection::{RigClues, detect_rig};
use crate::math::{Quat, Transform, Vec3, arc};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Character, Clip, ModelPose, Rig, Skeleton};
use crate::report::Warnings;
use std::io::Read;

/// Biovision hierarchy.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "bvh",
    suffixes: &["bvh"],
    about: "Biovision hierarchy: takes, any rotation order, units and up axis found from the figure",
    loses: "scale channels",
    recognise: |head| {
        let json = head.trim_ascii_start().starts_with(b"{");
        let upper = head.to_ascii_uppercase();
        // A short Acclaim skeleton has the key `:hierarchy`.
        let word = |at: usize| upper[at..].starts_with(b"HIERARCHY") && (at == 0 || upper[at - 1] != b':');
        !json && (0..upper.len()).any(word)
    },
    read: |source, options| import(source.bytes, source.name, options),
};

/// If the rest pose deviates from facing along an axis of its file by less than this, radians, the performer did not face exactly
/// forward: the axes of the file are those of its world, and the heading of the take is kept. Measured: figures aligned with their
/// files' axes deviate by up to 1.2 degrees.
const MAX_HEADING_DEVIATION: f64 = 0.09;

/// Reads a BVH file and detects its units and axes.
fn import(bytes: &[u8], name: &str, options: &ImportOptions) -> Result<Asset, ImportError> {
    let wanted = BvhReadOptions { positions: options.bvh_positions };
    let raw = raw_bvh::read_within(bytes, &wanted, &options.budget(bytes))?;
    asset(raw, name, options)
}

/// As [`import`], block by block: see [`read_blocks`]; `seen` gets all bytes. `None` for a text that has to be read whole.
pub(in crate::import) fn import_blocks(
    text: &mut dyn Read,
    size: u64,
    name: &str,
    options: &ImportOptions,
    seen: &mut dyn FnMut(&[u8]),
) -> Option<Result<Asset, ImportError>> {
    let wanted = BvhReadOptions { positions: options.bvh_positions };
    let raw = read_blocks(text, size, &wanted, &MemoryBudget::new(size, options.memory), seen)?;
    Some(asset(raw, name, options))
}

/// The take of a file, with its units and axes detected.
fn asset(mut raw: RawBvh, name: &str, options: &ImportOptions) -> Result<Asset, ImportError> {
    let (rig, normalization, calibrated) =
        detect_rig_and_axes(&raw.skeleton, &raw.clip, options, &mut raw.warnings)?;
    let mut raw = raw.normalize(&normalization);
    raw.clip.name = name.to_owned();
    let roles = rig.assignments().map(|(r, a)| (r, a.clone()));
    let mut character = Character::new(name, Rig::new(raw.skeleton, roles));
    character.calibration = calibrated.map(|c| c.scaled(normalization.metres_per_unit));
    // A file without frames has a rest pose and no clip.
    let clips = if raw.clip.frames() > 0 { vec![raw.clip] } else { Vec::new() };
    Ok(Asset::new(character, clips, raw.warnings))
}

/// Roles, units and axes of a BVH file.
fn detect_rig_and_axes(
    skeleton: &Skeleton,
    clip: &Clip,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<(Rig, Normalization, Option<Calibrated>), ImportError> {
    let rest = skeleton.rest_model_pose();
    let user_up = options.up_vector();
    let clips = [clip];
    let clips: &[&Clip] = if clip.frames() > 0 { &clips } else { &[] };
    let (detected, facing) = detect_rig_and_facing(skeleton, &rest, clips, options);
    warnings.extend(detected.warnings);
    let rig = detected.rig;
    let body = UncalibratedBody { rig: &rig, rest: &rest, bound: false, clips, up: user_up, place: BVH };
    let calibrated = body.calibrate(options, warnings)?;
    let (rest_from_file, world_from_file) = match (&facing, user_up) {
        _ if calibrated.is_some() => {
            let rotation = calibrated.as_ref().map_or_else(Quat::identity, |c| c.y_up_from_world);
            (rotation, rotation)
        }
        (Some(o), None) => (o.normal_from_rest, motion_up(&rig, clip, o)),
        (Some(o), Some(_)) => (o.normal_from_rest, o.normal_from_rest),
        (None, up) => {
            let rotation = arc(&up.unwrap_or_else(Vec3::y), &Vec3::y(), &Vec3::x());
            (rotation, rotation)
        }
    };
    if facing.is_none() && calibrated.is_none() {
        warnings.add(
            "bvh-no-figure",
            "no legs were detected: the file's own up axis and the front +Z are assumed",
            "HIERARCHY",
        );
    } else if rest_from_file.angle_to(&world_from_file) > 1e-3 {
        let up = if rest_from_file == Quat::identity() { "y" } else { "z" };
        let said = format!(
            "rest pose and motion have different up axes: the motion is stood up (`--set input.up={up}` keeps it as it is: a body that \
             lies throughout)"
        );
        warnings.add("bvh-two-worlds", said, "MOTION");
    }
    // The angle to the nearest axis of the file.
    let front = rest_from_file.inverse() * Vec3::z();
    let aside = libm::acos(front.amax().min(1.0)).to_degrees();
    if calibrated.is_none() && aside > 0.1 {
        let said = format!(
            "the rest pose faces {aside:.0} degrees aside from the axes of the file: the take was rotated with it"
        );
        warnings.add("bvh-faces-aside", said, "HIERARCHY");
    }
    let upright = match &calibrated {
        Some(calibrated) => calibrated.calibration.pose.clone(),
        None => rotated(&rest, rest_from_file),
    };
    let metres_per_unit = match options.units {
        Some(metres) => {
            check_unit(metres, &rig, &upright, warnings);
            metres
        }
        None => estimate_unit(&rig, &upright, "HIERARCHY", warnings),
    };
    Ok((rig, Normalization { metres_per_unit, rest_from_file, world_from_file }, calibrated))
}

/// The roles of the joints, and up and front of the rest pose if legs are found. Shape detection needs the up axis: if the user
/// does not specify it and no legs are found with Y up, Z up is tried.
fn detect_rig_and_facing(
    skeleton: &Skeleton,
    rest: &ModelPose,
    clips: &[&Clip],
    options: &ImportOptions,
) -> (DetectedRig, Option<Orientation>) {
    let user_up = options.up_vector();
    let vocabulary = options.vocabulary();
    let with_up = |up: Vec3| {
        let detected = detect_rig(&RigClues {
            skeleton,
            rest: &rotated(rest, arc(&up, &Vec3::y(), &Vec3::x())),
            bound: false,
            humanoid: &[],
            mass: None,
            rigid: false,
            trees: &[],
            clips,
            up: user_up,
            vocabulary: &vocabulary,
            mirrored: false,
            body: options.body.as_deref(),
        });
        let facing = [false, true].map(|snap| orientation(&detected.rig, rest, user_up, snap));
        let facing = match facing {
            [Some(exact), Some(axis)]
                if exact.normal_from_rest.angle_to(&axis.normal_from_rest) < MAX_HEADING_DEVIATION =>
            {
                Some(axis)
            }
            [exact, _] => exact,
        };
        (detected, facing)
    };
    let first = with_up(user_up.unwrap_or_else(Vec3::y));
    if first.1.is_some() || user_up.is_some() {
        return first;
    }
    let second = with_up(Vec3::z());
    if second.1.is_some() { second } else { first }
}

/// The pose rotated about the origin.
fn rotated(pose: &ModelPose, rotation: Quat) -> ModelPose {
    let rotation = Transform::from_rotation(rotation);
    ModelPose::new(pose.joints().iter().map(|t| rotation * *t).collect())
}
