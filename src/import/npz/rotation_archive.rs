//! Reads archives that hold the local rotations of named joints: posemill's own, those of the motion models Kimodo and
//! HY-Motion, and others with rotations, parents and offsets under common names.
//!
//! Rest offsets are stated, or follow from positions in space: the median over the frames in the frame of the parent.
//! Space: Y up; Z up if the archive states it, or if figure and ground show it. Units: metres, radians.
//! Sources: `export/npz.rs`; nv-tlabs/kimodo, `skeleton/definitions.py`; HY-Motion's output.

use super::archive_rotations::{HeldPositions, RotationOrder, median_offsets};
use super::known_skeletons::KnownSkeleton;
use super::npy_array::{NpyArray, shape, wrong};
use super::npz_archive::NpzArchive;
use super::npz_error::NpzError;
use super::six_numbers::six_numbers;
use crate::import::format::SourceFile;
use crate::import::import_error::ImportError;
use crate::import::import_options::{ImportOptions, UpAxis};
use crate::import::known_axes::{KnownAxesFile, MotionUp};
use crate::math::{Quat, RawQuat, Transform, Vec3, same_hemisphere};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Clip, FARTHEST_ON_EARTH, Joint, JointId, Skeleton};
use crate::report::Warnings;

const ROTATIONS: &[&str] = &[
    "rotations",
    "local_rot_mats",
    "local_rotations",
    "local_rotation_matrices",
    "local_quats",
    "local_quaternions",
    "rot6d",
];
const OFFSETS: &[&str] = &["rest_translations", "rest_offsets", "offsets", "local_offsets"];
const POSITIONS: &[&str] = &["posed_joints", "positions", "joints", "keypoints3d", "global_positions"];
/// The ends of leaves, as posemill writes them.
const TIPS: &[&str] = &["rest_tips"];
const NAMES: &[&str] = &["names", "joint_names", "bone_names"];
const PARENTS: &[&str] = &["parents", "joint_parents"];
const ROOT: &[&str] = &[
    "root_positions",
    "root_position",
    "root_pos",
    "root_translations",
    "root_translation",
    "root_transl",
    "root_trans",
    "transl",
    "trans",
];
/// Names of the path of the root that may mean other arrays too: one is read where its shape is that of a path.
const PATH: &[&str] = &["translation", "global_translation", "pelvis_translation", "pelvis_trans", "root"];
/// The version of posemill's own archives.
const SCHEMA: &[&str] = &["schema"];

/// A joint is translated if it leaves its rest offset by more than the precision of 32-bit numbers: this share of a metre
/// plus the offset.
const PRECISION: f64 = 1e-6;
/// Extent of a path that is none, metres.
const STILL: f64 = 1e-3;

/// The arrays of a motion with local rotations.
struct Arrays {
    frames: usize,
    joints: usize,
    /// Local rotations, frame by frame.
    rotations: Vec<Quat>,
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    rest: Vec<Transform>,
    /// The ends of leaves, 0 where there is none; empty where the archive has none.
    tips: Vec<Vec3>,
    /// Local translations, frame by frame; of the root alone, or of every joint.
    translations: Vec<Vec3>,
}

/// The motion of an archive with local rotations; `None` if it has none.
///
/// # Errors
/// Arrays that do not belong together.
pub(super) fn import(
    archive: &mut NpzArchive,
    rate: Option<f64>,
    source: &SourceFile,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<Option<Asset>, ImportError> {
    let Some(name) = archive.has(ROTATIONS) else { return Ok(None) };
    let mut warnings = Warnings::new();
    let Some(arrays) = read(archive, name, budget, &mut warnings)? else { return Ok(None) };
    let rate = rate.or(options.rate).unwrap_or_else(|| {
        let said =
            format!("no rate is stated: {USUAL_RATE} frames per second were assumed (`input.rate` sets it)");
        warnings.add("npz-rate", said, PLACE);
        USUAL_RATE
    });
    // In archives that state it, the axis is also that of the rest pose.
    let (up, motion_up) = match (archive.has(&["up"]), options.up) {
        (Some(_), Some(user)) => (user, MotionUp::Y),
        (Some(name), None) if archive.texts(name)? == ["z"] => (UpAxis::Z, MotionUp::Y),
        (Some(_), None) => (UpAxis::Y, MotionUp::Y),
        (None, Some(user)) => (UpAxis::Y, MotionUp::User(user)),
        (None, None) if archive.has(SCHEMA).is_some() => (UpAxis::Y, MotionUp::Y),
        (None, None) => (UpAxis::Y, MotionUp::Unstated),
    };
    let (skeleton, clip) = arrays.clip(up.to_y_up(), rate, source.name)?;
    if archive.has(&["contacts", "foot_contacts"]).is_some() {
        warnings.guess("npz-contacts", "contact labels are not read", PLACE);
    }
    let stated = KnownAxesFile {
        skeleton,
        clip,
        motion_up,
        states_rest: true,
        metres_per_unit: Some(1.0),
        place: PLACE,
        warnings,
    };
    stated.asset(source.name, options).map(Some)
}

/// Frame rate of archives that do not state it, Hz: that of Kimodo and HY-Motion.
const USUAL_RATE: f64 = 30.0;
/// The location that warnings name.
const PLACE: &str = "the arrays";

/// The sizes of an array without a first dimension of one (a batch of one).
fn sizes(array: &NpyArray, dimensions: usize) -> Vec<usize> {
    match array.shape.split_first() {
        Some((1, rest)) if rest.len() == dimensions => rest.to_vec(),
        _ => array.shape.clone(),
    }
}

/// An array of vectors of three of these leading sizes.
fn vectors(archive: &mut NpzArchive, name: &str, leading: &[usize]) -> Result<Vec<Vec3>, NpzError> {
    let array = archive.array(name)?;
    let expected: Vec<usize> = leading.iter().copied().chain([3]).collect();
    if sizes(&array, expected.len()) != expected {
        return Err(wrong(name, &array, shape(&expected)));
    }
    if let Some(k) = array.values.iter().position(|x| x.is_nan() || x.abs() > FARTHEST_ON_EARTH) {
        return Err(NpzError::NotFinite {
            array: name.to_owned(),
            row: k / (array.values.len() / leading[0]).max(1),
        });
    }
    Ok(array.values.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect())
}

fn read(
    archive: &mut NpzArchive,
    name: &'static str,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Option<Arrays>, NpzError> {
    let array = archive.array(name)?;
    // Matrices have a dimension more.
    let dimensions = if name.contains("mat") { 4 } else { 3 };
    let (frames, joints) = match sizes(&array, dimensions)[..] {
        [frames, joints, 4] | [frames, joints, 3, 3] | [frames, joints, 6] if frames > 0 && joints > 0 => {
            (frames, joints)
        }
        _ => return Err(wrong(name, &array, "(frames, joints, 4) or (frames, joints, 3, 3)")),
    };
    let known = KnownSkeleton::of(joints);
    let stated = archive.has(PARENTS);
    if stated.is_none() && known.is_none() {
        // Rotations whose joints nobody knows; the archive may have positions.
        return Ok(None);
    }
    budget.reserve_list::<(Quat, Vec3)>((frames * joints) as u64, || {
        format!("{frames} frames of {joints} joints")
    })?;
    let parents = match stated {
        Some(name) => parents(archive, name, joints)?,
        None => known.as_ref().map_or_else(Vec::new, |known| known.parents.clone()),
    };
    let names = match archive.has(NAMES) {
        Some(name) => archive.texts(name)?,
        None => {
            known.map_or_else(|| (0..joints).map(|k| format!("joint_{k}")).collect(), |known| known.names)
        }
    };
    if names.len() != joints {
        let found = format!("{} names", names.len());
        return Err(NpzError::Shape { array: "names".into(), expected: format!("{joints} names"), found });
    }
    let tips =
        archive.has(TIPS).map(|name| vectors(archive, name, &[joints])).transpose()?.unwrap_or_default();
    let positions =
        archive.has(POSITIONS).map(|name| vectors(archive, name, &[frames, joints])).transpose()?;
    let offsets = archive.has(OFFSETS).map(|name| vectors(archive, name, &[joints])).transpose()?;
    // What posemill has written is read as it is.
    let held = positions.as_deref().filter(|_| archive.has(SCHEMA).is_none());
    let held =
        held.map(|positions| HeldPositions { parents: &parents, offsets: offsets.as_deref(), positions });
    let rotations = rotations(archive, name, &array, frames, held.as_ref(), warnings)?;
    let offsets = match (offsets, &positions) {
        (Some(offsets), _) => offsets,
        (None, Some(positions)) => median_offsets(&parents, &rotations, positions),
        (None, None) => return Err(NpzError::NoOffsets { names: OFFSETS.join("`, `") }),
    };
    let (rest, translations) = (Vec::new(), Vec::new());
    let mut arrays = Arrays { frames, joints, rotations, names, parents, rest, tips, translations };
    arrays.place(archive, offsets, positions, warnings)?;
    Ok(Some(arrays))
}

/// Indices of the parents; those below 0 are roots.
fn parents(archive: &mut NpzArchive, name: &str, joints: usize) -> Result<Vec<Option<usize>>, NpzError> {
    let array = archive.array(name)?;
    if array.values.len() != joints {
        return Err(wrong(name, &array, format!("({joints},)")));
    }
    let mut found = Vec::with_capacity(joints);
    for (k, x) in array.values.iter().enumerate() {
        found.push(match *x {
            x if x < 0.0 => None,
            // Some files have the root as its own parent.
            x if x == k as f64 && k == 0 => None,
            x if x < k as f64 => Some(x as usize),
            _ => {
                return Err(NpzError::Array {
                    array: name.to_owned(),
                    reason: format!("joint {k} precedes its parent"),
                });
            }
        });
    }
    Ok(found)
}

/// The local rotations of an array of quaternions, matrices or six numbers. `held`: the positions by which their order is found.
fn rotations(
    archive: &mut NpzArchive,
    name: &str,
    array: &NpyArray,
    frames: usize,
    held: Option<&HeldPositions>,
    warnings: &mut Warnings,
) -> Result<Vec<Quat>, NpzError> {
    let usual = match array.shape.last() {
        // As posemill writes them.
        Some(4) if name == "rotations" => RotationOrder::ScalarLast,
        Some(4) => RotationOrder::of_quaternions(array),
        Some(3) => RotationOrder::Rows,
        _ => RotationOrder::Six(six_numbers(archive, array, frames)?),
    };
    let order = held.map_or(usual, |held| held.order(usual, array, PLACE, warnings));
    if order == usual && array.shape.last() == Some(&4) && name != "rotations" {
        warnings.add("npz-quaternions", order.said(), PLACE);
    }
    order.rotations(name, array, frames)
}

impl Arrays {
    /// Reads rest transforms and translations. `offsets`: of the joints. `positions`: of the joints in space, frame by frame.
    fn place(
        &mut self,
        archive: &mut NpzArchive,
        offsets: Vec<Vec3>,
        positions: Option<Vec<Vec3>>,
        warnings: &mut Warnings,
    ) -> Result<(), NpzError> {
        let (frames, joints) = (self.frames, self.joints);
        let rest_rotations = match archive.has(&["rest_rotations"]) {
            Some(name) => {
                let array = archive.array(name)?;
                if array.values.len() != 4 * joints {
                    return Err(wrong(name, &array, format!("({joints}, 4)")));
                }
                let quat = |v: &[f64]| Quat::try_new(RawQuat::new(v[3], v[0], v[1], v[2]), 1e-6);
                let found: Option<Vec<Quat>> = array.values.chunks_exact(4).map(quat).collect();
                let finite = array.values.iter().all(|x| x.is_finite());
                found
                    .filter(|_| finite)
                    .ok_or_else(|| NpzError::NotFinite { array: name.to_owned(), row: 0 })?
            }
            None => vec![Quat::identity(); joints],
        };
        self.rest = offsets.into_iter().zip(rest_rotations).map(|(t, q)| Transform::new(q, t)).collect();
        let paths = archive.of_shape(&[frames, 3]);
        let path = PATH.iter().find(|name| paths.iter().any(|path| path == *name)).copied();
        self.translations = match (archive.has(&["translations"]), archive.has(ROOT).or(path)) {
            (Some(name), _) => vectors(archive, name, &[frames, joints])?,
            (None, root) => {
                let of_joints: Option<Vec<Vec3>> = positions.map(|p| p.into_iter().step_by(joints).collect());
                let stated = root.map(|name| vectors(archive, name, &[frames])).transpose()?;
                if stated.is_none() && of_joints.as_deref().is_none_or(is_still) {
                    tell_no_path(paths, of_joints.is_some(), warnings);
                }
                root_path(of_joints, stated).unwrap_or_else(|| vec![self.rest[0].translation; frames])
            }
        };
        Ok(())
    }

    /// The skeleton and the clip, rotated by `up` to Y up.
    fn clip(self, up: Quat, rate: f64, name: &str) -> Result<(Skeleton, Clip), NpzError> {
        let Self { frames, joints, mut rotations, names, parents, mut rest, tips, mut translations } = self;
        let to_y_up = Transform::from_rotation(up);
        rest[0] = to_y_up * rest[0];
        let all = translations.len() / frames;
        for frame in 0..frames {
            rotations[frame * joints] = up * rotations[frame * joints];
            translations[frame * all] = up * translations[frame * all];
        }
        for k in joints..rotations.len() {
            rotations[k] = same_hemisphere(rotations[k], &rotations[k - joints]);
        }
        let moves = |joint: usize| {
            let at = rest[joint].translation;
            let most = PRECISION * (1.0 + at.norm());
            joint == 0 || translations.iter().skip(joint).step_by(all).any(|t| (t - at).amax() > most)
        };
        let moving: Vec<usize> = (0..all).filter(|joint| moves(*joint)).collect();
        let mut kept = Vec::with_capacity(frames * moving.len());
        for frame in 0..frames {
            kept.extend(moving.iter().map(|joint| translations[frame * all + joint]));
        }
        let joint = |(k, ((name, parent), rest)): (usize, ((String, Option<usize>), Transform))| {
            let tip = tips.get(k).copied().filter(|tip| *tip != Vec3::zeros());
            Joint { tip, ..Joint::new(name, parent.map(JointId::new), rest) }
        };
        let joints_list = names.into_iter().zip(parents).zip(rest).enumerate().map(joint).collect();
        let skeleton = Skeleton::new(joints_list)?;
        let moving = moving.into_iter().map(JointId::new).collect();
        Ok((skeleton, Clip::new(name, rate, joints, rotations, moving, kept)))
    }
}

/// Whether a path stays at one place.
fn is_still(path: &[Vec3]) -> bool {
    path.iter().all(|p| (p - path[0]).norm() < STILL)
}

/// Reports that no path of the root was found, with the arrays of the shape of one. `has_positions`: the root stays in place by the
/// positions of the joints, which is no fault where there is no such array.
fn tell_no_path(mut unread: Vec<String>, has_positions: bool, warnings: &mut Warnings) {
    unread.retain(|name| !OFFSETS.iter().chain(TIPS).any(|known| known == name));
    let said = match unread.is_empty() {
        true if has_positions => return,
        true => "there is no path of the root: the body stays in place".to_owned(),
        false => format!(
            "no path of the root is read: the body stays in place; not read: `{}` (a path is called `{}`)",
            unread.join("`, `"),
            ROOT.join("`, `")
        ),
    };
    warnings.add("npz-in-place", said, PLACE);
}

/// The path of the root: its positions in space, else the stated ones; both, where the positions stay at the origin.
fn root_path(positions: Option<Vec<Vec3>>, stated: Option<Vec<Vec3>>) -> Option<Vec<Vec3>> {
    match (positions, stated) {
        (Some(own), Some(stated)) if is_still(&own) && !is_still(&stated) => {
            Some(own.iter().zip(&stated).map(|(p, by)| p + by).collect())
        }
        (Some(own), _) => Some(own),
        (None, stated) => stated,
    }
}
