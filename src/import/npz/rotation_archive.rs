//! Reads archives that hold the local rotations of named joints: posemill's own, those of the motion models Kimodo and
//! HY-Motion, and others with rotations, parents and offsets under common names.
//!
//! Rest offsets are stated, or follow from positions in space: the median over the frames in the frame of the parent.
//! Space: Y up, Z up if the archive says so. Units: metres, radians.
//! Sources: `export/npz.rs`; nv-tlabs/kimodo, `skeleton/definitions.py`; HY-Motion's output.

use super::known_skeletons::KnownSkeleton;
use super::npy_array::{NpyArray, shape, wrong};
use super::npz_archive::NpzArchive;
use super::npz_error::NpzError;
use super::six_numbers::six_numbers;
use crate::import::format::SourceFile;
use crate::import::import_error::ImportError;
use crate::import::import_options::{ImportOptions, UpAxis};
use crate::import::known_axes::KnownAxesFile;
use crate::math::{Mat3, Quat, RawQuat, Transform, Vec3, median_of, nearest_rotation, same_hemisphere};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Clip, FARTHEST_ON_EARTH, Joint, JointId, Skeleton};
use crate::report::Warnings;
use std::f64::consts::FRAC_PI_2;

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
const ROOT: &[&str] =
    &["root_positions", "root_position", "root_translations", "root_trans", "transl", "trans"];

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
    let z_up = match options.up {
        Some(up) => up == UpAxis::Z,
        None => {
            archive.has(&["up"]).map(|name| archive.texts(name)).transpose()?.is_some_and(|up| up == ["z"])
        }
    };
    let up = if z_up { Quat::from_axis_angle(&Vec3::x_axis(), -FRAC_PI_2) } else { Quat::identity() };
    let (skeleton, clip) = arrays.clip(up, rate, source.name)?;
    if archive.has(&["contacts", "foot_contacts"]).is_some() {
        warnings.guess("npz-contacts", "contact labels are not read", PLACE);
    }
    let stated = KnownAxesFile {
        skeleton,
        clip,
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
    let rotations = rotations(archive, name, &array, frames, warnings)?;
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
    let (rest, translations) = (Vec::new(), Vec::new());
    let mut arrays = Arrays { frames, joints, rotations, names, parents, rest, tips, translations };
    arrays.place(archive)?;
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

/// The rotation that a row of numbers means; `None` where it is none.
type Rotation = Box<dyn Fn(&[f64]) -> Option<Quat>>;

/// The local rotations of an array of quaternions, matrices or six numbers.
fn rotations(
    archive: &mut NpzArchive,
    name: &str,
    array: &NpyArray,
    frames: usize,
    warnings: &mut Warnings,
) -> Result<Vec<Quat>, NpzError> {
    let width = match array.shape.last() {
        Some(3) => 9,
        Some(n) => *n,
        None => 0,
    };
    let rows = array.values.chunks_exact(width);
    let read: Rotation = match width {
        4 => {
            let w_first = name != "rotations" && w_first(array);
            if name != "rotations" {
                let order = if w_first { "w, x, y, z" } else { "x, y, z, w" };
                warnings.add("npz-quaternions", format!("quaternions are read as {order}"), PLACE);
            }
            Box::new(move |v| {
                let q = if w_first {
                    RawQuat::new(v[0], v[1], v[2], v[3])
                } else {
                    RawQuat::new(v[3], v[0], v[1], v[2])
                };
                (q.norm() > 1e-6 && q.norm().is_finite()).then(|| Quat::new_normalize(q))
            })
        }
        9 => Box::new(|v| {
            nearest_rotation(&Mat3::from_row_slice(v)).filter(|(_, mirrored)| !mirrored).map(|(q, _)| q)
        }),
        _ => {
            let order = six_numbers(archive, array, frames)?;
            Box::new(move |v| order.rotation(v))
        }
    };
    let mut found = Vec::with_capacity(array.values.len() / width);
    for (k, row) in rows.enumerate() {
        let row_of_frame = || k * frames * width / array.values.len();
        found.push(
            read(row).ok_or_else(|| NpzError::NotFinite { array: name.to_owned(), row: row_of_frame() })?,
        );
    }
    Ok(found)
}

/// Whether the first number of quaternions is the scalar: that of small rotations is the largest.
fn w_first(array: &NpyArray) -> bool {
    let (first, last) = array
        .values
        .chunks_exact(4)
        .fold((0.0, 0.0), |(first, last), v| (first + v[0] * v[0], last + v[3] * v[3]));
    first > last
}

impl Arrays {
    /// Reads rest transforms and translations.
    fn place(&mut self, archive: &mut NpzArchive) -> Result<(), NpzError> {
        let (frames, joints) = (self.frames, self.joints);
        let positions = match archive.has(POSITIONS) {
            Some(name) => Some(vectors(archive, name, &[frames, joints])?),
            None => None,
        };
        let offsets = match (archive.has(OFFSETS), &positions) {
            (Some(name), _) => vectors(archive, name, &[joints])?,
            (None, Some(positions)) => self.offsets(positions),
            (None, None) => {
                return Err(NpzError::NoOffsets { names: OFFSETS.join("`, `") });
            }
        };
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
        self.translations = match (archive.has(&["translations"]), archive.has(ROOT)) {
            (Some(name), _) => vectors(archive, name, &[frames, joints])?,
            (None, root) => {
                let of_joints: Option<Vec<Vec3>> = positions.map(|p| p.into_iter().step_by(joints).collect());
                let stated = root.map(|name| vectors(archive, name, &[frames])).transpose()?;
                root_path(of_joints, stated).unwrap_or_else(|| vec![self.rest[0].translation; frames])
            }
        };
        Ok(())
    }

    /// Rest offsets by positions in space, with identity rest rotations; the root at the origin.
    fn offsets(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let mut global: Vec<Quat> = Vec::with_capacity(self.rotations.len());
        for k in 0..self.rotations.len() {
            let (frame, joint) = (k / self.joints, k % self.joints);
            let parent = self.parents[joint].map(|p| global[frame * self.joints + p]);
            global.push(parent.map_or(self.rotations[k], |p| p * self.rotations[k]));
        }
        let offset = |(joint, parent): (usize, &Option<usize>)| {
            parent.map_or_else(Vec3::zeros, |parent| {
                let frame = |f: usize| {
                    let (at, from) = (f * self.joints + joint, f * self.joints + parent);
                    global[from].inverse_transform_vector(&(positions[at] - positions[from]))
                };
                median_of((0..self.frames).map(frame))
            })
        };
        self.parents.iter().enumerate().map(offset).collect()
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

/// The path of the root: its positions in space, else the stated ones; both, where the positions stay at the origin.
fn root_path(positions: Option<Vec<Vec3>>, stated: Option<Vec<Vec3>>) -> Option<Vec<Vec3>> {
    let still = |path: &[Vec3]| path.iter().all(|p| (p - path[0]).norm() < STILL);
    match (positions, stated) {
        (Some(own), Some(stated)) if still(&own) && !still(&stated) => {
            Some(own.iter().zip(&stated).map(|(p, by)| p + by).collect())
        }
        (Some(own), _) => Some(own),
        (None, stated) => stated,
    }
}
