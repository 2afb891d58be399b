//! Reads the arrays of an AMASS take to a skeleton and a clip.
//!
//! Rotations are axis times angle, joint by joint, from a rest frame in which all are the identity. The body rotates about
//! its rest pelvis `J0`, so the pelvis is at `J0 + trans`, rotated to Y up with the world. Joints that the take animates and
//! the body model lacks are left out, with their number in a warning.
//!
//! Space: a world with Z up (another axis with `input.up`, and where the body stands in the coordinates of a camera) is converted
//! to Y up; the rest frame already is Y up, facing +Z. Units: metres, radians. Source: Mahmood et al. 2019 (AMASS); Loper et al. 2015 (SMPL).

use super::npy_array::{NpyArray, shape};
use super::npz_archive::NpzArchive;
use super::npz_error::NpzError;
use super::rest_joints::RestJoints;
use super::rotation_archive;
use super::smpl_joints;
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::{ImportOptions, UpAxis};
use crate::import::known_axes::{KnownAxesFile, MotionUp};
use crate::import::points;
use crate::math::{Quat, Transform, Vec3, exp, median, percentile, same_hemisphere};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Clip, FARTHEST_ON_EARTH, Joint, JointId, Skeleton, is_frame_rate};
use crate::report::Warnings;

/// Archives of numpy arrays with SMPL motion.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "npz",
    suffixes: &["npz"],
    about: "posemill's own, SMPL motion as in AMASS and Motion-X, Kimodo, HY-Motion, positions of points: takes",
    loses: "the body's surface, soft tissue (dmpls), the face but for jaw and eyes",
    recognise: |head| {
        let name = head.get(26..28).map_or(0, |n| usize::from(u16::from_le_bytes([n[0], n[1]])));
        head.starts_with(b"PK\x03\x04") && head.get(30..30 + name).is_some_and(|name| name.ends_with(b".npy"))
    },
    read: |source, options| import(source, options),
};

/// Frame rate of takes that do not state it, Hz: the usual rate of estimates from video.
const USUAL_RATE: f64 = 30.0;
/// The largest angle that is accepted, radians: beyond it `f64` no longer resolves a rotation.
const MAX_ANGLE: f64 = 1e6;
/// Mean Y component of the pelvis's up direction beyond which the body stands along Y or, where it is negative, along -Y.
const STANDS: f64 = 0.8;
/// Height of the pelvis over the ground of a world with Z up below which a body along -Y lies, also on a mattress, metres.
const LIES: f64 = 0.4;
/// Range of that height (10th to 90th percentile) beyond which the body does not lie but moves along Z, metres.
const LIES_STILL: f64 = 0.1;

/// Median height of the pelvis from which `trans` is in another unit, metres: only climbers and fliers are as high.
const HIGH: f64 = 10.0;
/// Median height of the pelvis from which `trans` is in millimetres rather than centimetres, units.
const HIGH_IN_MILLIMETRES: f64 = 300.0;

/// The alternative names of an array of rotations, and its joints in order.
type PoseArrays = (&'static [&'static str], &'static [&'static [&'static str]]);

const ROOT: &[&str] = &["root_orient", "global_orient"];
const BODY: &[&str] = &["pose_body", "body_pose"];
const TRANS: &[&str] = &["trans", "transl"];
const POSES: &[&str] = &["poses"];
const RATE: &[&str] =
    &["mocap_framerate", "mocap_frame_rate", "mocap_frame_rates", "fps", "rate", "framerate", "frame_rate"];
/// Names of arrays that mean nothing: numpy's own and those of datasets of motions.
const UNNAMED: &[&str] = &["arr_0", "motion", "data"];
/// Arrays that may accompany `root_orient` and `pose_body`.
const PARTS: &[PoseArrays] = &[
    (&["pose_jaw", "jaw_pose"], &[&["jaw"]]),
    (&["pose_eye"], &[&["left_eye", "right_eye"]]),
    (&["leye_pose"], &[&["left_eye"]]),
    (&["reye_pose"], &[&["right_eye"]]),
    (&["pose_hand"], &[&smpl_joints::FINGERS]),
];

/// The rotations of one joint: which array, and which row of three in each frame.
struct JointColumns {
    joint: &'static str,
    array: usize,
    column: usize,
}

/// The arrays of an SMPL motion.
struct SmplMotion {
    arrays: Vec<NpyArray>,
    animated: Vec<JointColumns>,
    /// The coefficients of the body shape, used with a body model.
    betas: Vec<f64>,
    trans: Option<Vec<Vec3>>,
    rate: Option<f64>,
    /// Whether the up axis is by the figure: the format has no convention.
    any_up: bool,
}

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let budget = options.budget(source.bytes);
    let mut archive = NpzArchive::open(source.bytes, &budget)?;
    let smpl = archive.has(POSES).is_some() || archive.has(ROOT).is_some() && archive.has(BODY).is_some();
    if !smpl {
        let rate = stated_rate(&mut archive)?;
        if let Some(asset) = rotation_archive::import(&mut archive, rate, source, options, &budget)? {
            return Ok(asset);
        }
        if let Some(name) = archive.has(&points::ARCHIVED) {
            let array = archive.array(name)?;
            return points::archived(&array, rate, source, options, &budget);
        }
        if let Some(name) = archive.has(UNNAMED) {
            let array = archive.array(name)?;
            return match is_motion_x(&array) {
                true => motion_x(array, source, options, &budget),
                false => points::archived(&array, rate, source, options, &budget),
            };
        }
    }
    let (arrays, animated) = rotations(&mut archive)?;
    let frames = arrays[0].shape[0];
    let betas = match archive.has(&["betas"]) {
        Some(name) if options.body_model.is_some() => {
            let betas = archive.array(name)?;
            check(name, &betas, 1, MAX_ANGLE)?;
            // Some tools repeat them in each frame; only the first row is used.
            let width = betas.shape.last().copied().unwrap_or(1);
            betas.values.get(..width).unwrap_or_default().to_vec()
        }
        _ => Vec::new(),
    };
    let rate = stated_rate(&mut archive)?;
    let trans = match archive.has(TRANS) {
        Some(name) => {
            let trans = archive.array(name)?;
            if !matches!(trans.shape[..], [n, 3] if n == frames) {
                let (array, found) = (name.to_owned(), shape(&trans.shape));
                return Err(NpzError::Shape { array, expected: format!("({frames}, 3)"), found }.into());
            }
            check(name, &trans, 3, FARTHEST_ON_EARTH)?;
            Some(trans.values.chunks_exact(3).map(|t| Vec3::new(t[0], t[1], t[2])).collect())
        }
        None => None,
    };
    let motion = SmplMotion { arrays, animated, betas, trans, rate, any_up: false };
    motion.asset(Warnings::new(), source, options, &budget)
}

/// Numbers of a row of Motion-X: SMPL-X root, body, hands and jaw as rotations, expression, face shape, translation, betas.
const MOTION_X: usize = 322;
/// The first numbers of its expression, translation and betas.
const MOTION_X_PARTS: [usize; 3] = [159, 309, 312];

/// Whether an array is a motion of Motion-X (Lin et al. 2023).
pub(in crate::import) fn is_motion_x(array: &NpyArray) -> bool {
    matches!(array.shape[..], [frames, MOTION_X] if frames > 0)
}

/// The motion of an array of Motion-X.
pub(in crate::import) fn motion_x(
    array: NpyArray,
    source: &SourceFile,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<Asset, ImportError> {
    check("the array", &array, MOTION_X, MAX_ANGLE)?;
    let mut warnings = Warnings::new();
    let said = "Motion-X: expression and face shape are not read; of the face only the jaw is";
    warnings.add("motion-x-face", said, "the array");
    let joints = smpl_joints::BODY.iter().chain(&smpl_joints::FINGERS).chain(&smpl_joints::FACE[..1]);
    let columns = |(column, joint): (usize, &&'static str)| JointColumns { joint, array: 0, column };
    let animated = joints.enumerate().map(columns).collect();
    let [_, trans, betas] = MOTION_X_PARTS;
    let at = |row: &[f64]| Vec3::new(row[trans], row[trans + 1], row[trans + 2]);
    let path = array.values.chunks_exact(MOTION_X).map(at).collect();
    let betas = match options.body_model {
        Some(_) => array.values[betas..MOTION_X].to_vec(),
        None => Vec::new(),
    };
    let motion =
        SmplMotion { arrays: vec![array], animated, betas, trans: Some(path), rate: None, any_up: true };
    motion.asset(warnings, source, options, budget)
}

impl SmplMotion {
    /// The asset of the motion.
    fn asset(
        self,
        mut warnings: Warnings,
        source: &SourceFile,
        options: &ImportOptions,
        budget: &MemoryBudget,
    ) -> Result<Asset, ImportError> {
        let Self { arrays, animated, betas, trans, rate, any_up } = self;
        let frames = arrays[0].shape[0];
        let (skeleton, animated, pelvis) = skeleton(&betas, animated, options, &mut warnings)?;
        let samples = frames as u64 * animated.len() as u64;
        let what = || format!("{frames} frames of {} joints", animated.len());
        budget.reserve_list::<(Quat, Vec3)>(samples.max(frames as u64), what)?;
        let rate = known_rate(rate, options, &mut warnings);
        let row = |frame: usize, entry: &JointColumns| {
            let array = &arrays[entry.array];
            let v = &array.values[frame * (array.values.len() / frames) + 3 * entry.column..][..3];
            exp(&Vec3::new(v[0], v[1], v[2]))
        };
        let stands = (0..frames).map(|f| (row(f, &animated[0]) * Vec3::y()).y).sum::<f64>() / frames as f64;
        let path = trans.as_ref().map(|trans| trans.iter().map(|t| pelvis + t).collect());
        let upright = up_axis(stands, path, any_up, options, &mut warnings).to_y_up();
        let stays = trans.is_none();
        let mut places = trans.unwrap_or_else(|| vec![Vec3::zeros(); frames]);
        if stays {
            warnings.add("smpl-in-place", "there is no `trans`: the body stays in place", "the arrays");
        }
        places.iter_mut().for_each(|place| *place = upright * (pelvis + *place));
        let height = median(places.iter().map(|place| place.y.abs()).collect());
        if height > HIGH {
            let unit = if height > HIGH_IN_MILLIMETRES { "millimetres" } else { "centimetres" };
            let said = format!(
                "the pelvis is {height:.0} m high: `trans` is probably in {unit}, and is read as metres"
            );
            warnings.add("smpl-unit", said, "the arrays");
        }
        let mut all: Vec<Quat> = Vec::with_capacity(samples as usize);
        for frame in 0..frames {
            for (k, entry) in animated.iter().enumerate() {
                let q = row(frame, entry);
                let q = if k == 0 { upright * q } else { q };
                let before = all.len().checked_sub(animated.len()).filter(|_| frame > 0);
                all.push(before.map_or(q, |before| same_hemisphere(q, &all[before])));
            }
        }
        let clip = Clip::new(source.name, rate, animated.len(), all, vec![JointId::new(0)], places);
        let stated = KnownAxesFile {
            skeleton,
            clip,
            motion_up: MotionUp::Y,
            states_rest: true,
            metres_per_unit: Some(1.0),
            place: "the arrays",
            warnings,
        };
        stated.asset(source.name, options)
    }
}

/// The axis that points up: the user's; that of a camera, where the body stands along -Y; else the format's. `stands`: the mean Y component
/// of the pelvis's up direction. `path`: the pelvis, frame by frame, if it is known.
fn up_axis(
    stands: f64,
    path: Option<Vec<Vec3>>,
    any_up: bool,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> UpAxis {
    if let Some(up) = options.up {
        return up;
    }
    let lies = || {
        let heights: Vec<f64> = path.unwrap_or_default().iter().map(|p| p.z).collect();
        let [low, high] = [0.1, 0.9].map(|share| percentile(&heights, share));
        !heights.is_empty() && low > 0.0 && high < LIES && high - low < LIES_STILL
    };
    let (up, said) = match stands {
        y if y > STANDS && any_up => return UpAxis::Y,
        y if y > STANDS => (
            UpAxis::Z,
            "the body stands along Y, but takes in AMASS have Z up: it was rotated to lie down \
             (`input.up=y` keeps it upright)",
        ),
        y if y < -STANDS && !any_up && lies() => (
            UpAxis::Z,
            "the body is along -Y, just above the ground of a world with Z up: it lies \
             (`input.up=-y` stands it up, if the coordinates are those of a camera)",
        ),
        y if y < -STANDS => (
            UpAxis::MinusY,
            "the body stands along -Y, as in the coordinates of a camera: it was rotated by 180 degrees about X \
             (`input.up=z` is for a body that lies in a world with Z up, `input.up=y` for one that is upside down)",
        ),
        _ => return UpAxis::Z,
    };
    warnings.add("smpl-up", said, "the arrays");
    up
}

/// The arrays of rotations, and the joint that each row of three rotates; the pelvis first.
fn rotations(archive: &mut NpzArchive) -> Result<(Vec<NpyArray>, Vec<JointColumns>), NpzError> {
    let animated = |joints: &[&'static str], array: usize, first: usize| {
        let one = |(k, joint): (usize, &&'static str)| JointColumns { joint, array, column: first + k };
        joints.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    if let (Some(root), Some(body)) = (archive.has(ROOT), archive.has(BODY)) {
        let mut arrays = vec![angles(archive, root, None, &[3])?];
        let mut joints = animated(&smpl_joints::BODY[..1], 0, 0);
        let frames = arrays[0].shape[0];
        let array = angles(archive, body, Some(frames), &[63, 69])?;
        let rest: Vec<_> = smpl_joints::BODY[1..].iter().chain(&smpl_joints::HANDS).copied().collect();
        joints.extend(animated(&rest[..array.values.len() / frames.max(1) / 3], 1, 0));
        arrays.push(array);
        for (aliases, parts) in PARTS {
            let Some(name) = archive.has(aliases) else { continue };
            let part = parts.concat();
            arrays.push(angles(archive, name, Some(frames), &[3 * part.len()])?);
            for entry in animated(&part, arrays.len() - 1, 0) {
                if joints.iter().all(|known| known.joint != entry.joint) {
                    joints.push(entry);
                }
            }
        }
        return Ok((arrays, joints));
    }
    let Some(name) = archive.has(POSES) else {
        return Err(NpzError::NoMotion { found: archive.contents() });
    };
    let array = angles(archive, name, None, &[66, 72, 156, 165])?;
    let width = array.values.len() / array.shape[0].max(1);
    let joints = smpl_joints::joints(width / 3).unwrap_or_default();
    Ok((vec![array], animated(&joints, 0, 0)))
}

/// An array of angles: a row a frame, of one of these widths, in one dimension more or in several.
fn angles(
    archive: &mut NpzArchive,
    name: &'static str,
    frames: Option<usize>,
    widths: &[usize],
) -> Result<NpyArray, NpzError> {
    let array = archive.array(name)?;
    let width = array.shape.get(1..).map_or(0, |sizes| sizes.iter().product());
    let fits = array.shape.first().is_some_and(|&n| n > 0 && frames.is_none_or(|f| f == n));
    if !fits || !widths.contains(&width) {
        let rows = frames.map_or_else(|| "frames, 1 or more".to_owned(), |n| n.to_string());
        let widths = widths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ");
        let (array, found) = (name.to_owned(), shape(&array.shape));
        return Err(NpzError::Shape { array, expected: format!("({rows}; {widths})"), found });
    }
    check(name, &array, width, MAX_ANGLE)?;
    Ok(array)
}

/// Whether all values are finite and none is beyond `most`.
fn check(name: &str, array: &NpyArray, width: usize, most: f64) -> Result<(), NpzError> {
    match array.values.iter().position(|x| x.is_nan() || x.abs() > most) {
        Some(k) => Err(NpzError::NotFinite { array: name.to_owned(), row: k / width.max(1) }),
        None => Ok(()),
    }
}

/// The skeleton of the animated joints whose rest position is known, their columns, and the rest position of the pelvis in the
/// model's frame. The rest pose of the skeleton stands on the ground.
fn skeleton(
    betas: &[f64],
    animated: Vec<JointColumns>,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<(Skeleton, Vec<JointColumns>, Vec3), NpzError> {
    let rest = RestJoints::read(options.body_model.as_deref(), betas, options.memory, warnings)?;
    let all = animated.len();
    let animated: Vec<JointColumns> =
        animated.into_iter().filter(|t| rest.place(t.joint).is_some()).collect();
    if animated.len() < all {
        let said = format!(
            "{} joints of the take are not in the body model and were left out: it is of another kind",
            all - animated.len()
        );
        warnings.add("smpl-model-joints", said, "the body model");
    }
    let place = |name: &str| rest.place(name).unwrap_or_else(Vec3::zeros);
    let lowest = animated.iter().map(|t| place(t.joint).y).fold(f64::INFINITY, f64::min);
    let ground = Vec3::new(0.0, lowest, 0.0);
    let mut joints: Vec<Joint> = Vec::with_capacity(animated.len());
    for entry in &animated {
        let parent = smpl_joints::parent(entry.joint);
        let above = parent.and_then(|name| joints.iter().position(|j| j.name == name));
        let offset = place(entry.joint) - parent.map_or(ground, place);
        let rest = Transform::from_translation(offset);
        joints.push(Joint::new(entry.joint, above.map(JointId::new), rest));
    }
    Ok((Skeleton::new(joints)?, animated, place(smpl_joints::BODY[0])))
}

/// Frames per second: stated, set or usual.
fn known_rate(stated: Option<f64>, options: &ImportOptions, warnings: &mut Warnings) -> f64 {
    stated.or(options.rate).unwrap_or_else(|| {
        let said =
            format!("no rate is stated: {USUAL_RATE} frames per second were assumed (`input.rate` sets it)");
        warnings.add("smpl-rate", said, "the arrays");
        USUAL_RATE
    })
}

/// Frames per second, if the archive states it.
fn stated_rate(archive: &mut NpzArchive) -> Result<Option<f64>, NpzError> {
    let Some(name) = archive.has(RATE) else { return Ok(None) };
    let array = archive.array(name)?;
    match array.values[..] {
        [rate] if is_frame_rate(rate) => Ok(Some(rate)),
        [_] => Err(NpzError::NotFinite { array: name.to_owned(), row: 0 }),
        _ => {
            let (array, found) = (name.to_owned(), shape(&array.shape));
            Err(NpzError::Shape { array, expected: "() or (1,)".into(), found })
        }
    }
}
