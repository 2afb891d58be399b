//! Fits pelvis, chest, spine, neck and head.
//!
//! Pelvis, chest and, where there is a face, the head are rigid sets of points: their shape is the median over the frames, their
//! rotation a least-squares fit per frame. Spine and neck follow their bones exactly. The pitch of the pelvis is a compromise
//! of gravity and the line to the neck, that of the chest is upright at rest; neither is in the data.
//!
//! Space: Y up; rotations relative to the T-pose. Units: metres.

use super::bone_directions::{about, axes, differences, interpolated, median_length, swung_along, unit};
use super::point_tracks::PointTracks;
use super::rigid_set::RigidSet;
use crate::anatomy::BodyPoint;
use crate::math::{DEGREE, Quat, Vec3, mean_direction, percentile};
use crate::model::Side;

/// Lean of an upright trunk at most, degrees; and in leans of the most upright tenth.
const UPRIGHT: (f64, f64) = (10.0, 1.5);
/// Uncertainty of gravity and of the line to the neck, degrees.
const UNSURE: (f64, f64) = (5.0, 8.0);

/// A joint of the spine.
pub(super) struct SpineJoint {
    pub(super) positions: Vec<Vec3>,
    pub(super) rotations: Vec<Quat>,
}

/// The fitted trunk. Pairs are left and right.
pub(super) struct Trunk {
    pub(super) hips: Vec<Quat>,
    pub(super) hips_at: Vec<Vec3>,
    /// The pelvis point in the frame of the hips, if observed.
    pub(super) pelvis: Option<Vec3>,
    /// The hip joints in the frame of the hips.
    pub(super) hip_joints: [Vec3; 2],
    /// From the hips up; the last one is the chest.
    pub(super) spine: Vec<SpineJoint>,
    pub(super) chest: Vec<Quat>,
    pub(super) chest_at: Vec<Vec3>,
    /// The shoulders in the frame of the chest.
    pub(super) shoulders: [Vec3; 2],
    /// The collars in the frame of the chest, if observed.
    pub(super) collars: Option<[Vec3; 2]>,
    pub(super) neck_at: Vec<Vec3>,
    pub(super) neck: Vec<Quat>,
    /// Positions and rotations of the head, if there is one.
    pub(super) head: Option<(Vec<Vec3>, Vec<Quat>)>,
    /// Whether the rotation of the head is measured.
    pub(super) face: bool,
}

/// Slope at rest of the lower spine, radians: backwards by 5 degrees (the mean of captured people).
const LUMBAR: f64 = -5.0 * DEGREE;
/// Slope at rest of the neck, radians: forwards.
const NECK: f64 = 8.0 * DEGREE;
/// The nose is below the ears by this angle when a person looks ahead, radians.
const NOSE: f64 = 10.3 * DEGREE;
/// Height of a substitute for the first spine joint over the hips, metres.
const SUBSTITUTE: f64 = 0.2;
/// Distance of a spine joint from the neck at which it tells the chest's slope, metres; in some skeletons they coincide.
const BELOW_NECK: f64 = 0.08;
/// Distance of the collars at which they tell the chest's left, metres.
const COLLARS: f64 = 0.06;
/// Share of the noise that counts for the weights of the chest's points: the filter has removed the rest.
const NOISE: f64 = 0.6;
/// Movement of shoulders against the chest, metres: several times that of other points.
const SHOULDERS: f64 = 0.02;
/// Movement of the other points, metres: joints are found to some millimetres.
const FIXED: f64 = 0.003;
/// Uncertainty of a substitute for the spine below the neck, metres.
const SUBSTITUTE_BASE: f64 = 0.01;
/// Uncertainty of the middle of the shoulders as the neck, metres: shoulders rise together.
const SUBSTITUTE_NECK: f64 = 0.005;
/// Distance of the substitute for the spine below the neck, metres.
const BASE: f64 = 0.25;
/// Positions of the two added spine joints, as shares of the trunk: over the hips and below the neck.
const ADDED: (f64, f64) = (0.2, 0.45);
/// Rounds of the fit of the chest: its shape and its rotation depend on each other.
const ROUNDS: usize = 3;

/// The direction up, sloped forwards by the angle.
fn sloped(angle: f64) -> Vec3 {
    let (sin, cos) = libm::sincos(angle);
    Vec3::new(0.0, cos, sin)
}

/// A pair of rest positions made symmetric.
fn symmetric(left: Vec3, right: Vec3) -> (Vec3, Vec3) {
    let half = (left + Vec3::new(-right.x, right.y, right.z)) * 0.5;
    (half, Vec3::new(-half.x, half.y, half.z))
}

/// The fitted trunk of points with this noise.
pub(super) fn fit(points: &PointTracks, noise: f64) -> Trunk {
    let (hips_mid, neck_at) = (points.mid_hips(), points.neck());
    let pelvis = fit_pelvis(points, &hips_mid, &neck_at);
    let chest = fit_chest(points, &hips_mid, &neck_at, noise);
    let spine = spine(points, &hips_mid, &neck_at, &pelvis.rotations, &chest.rotations);
    let (neck, head, face) = neck_and_head(points, &neck_at, &chest.rotations);
    Trunk {
        hips: pelvis.rotations,
        hips_at: pelvis.positions,
        pelvis: pelvis.pelvis,
        hip_joints: pelvis.hip_joints,
        spine,
        neck: neck.unwrap_or_else(|| chest.rotations.clone()),
        chest: chest.rotations,
        chest_at: chest.positions,
        shoulders: chest.shoulders,
        collars: chest.collars,
        neck_at,
        head,
        face,
    }
}

struct Pelvis {
    rotations: Vec<Quat>,
    positions: Vec<Vec3>,
    pelvis: Option<Vec3>,
    hip_joints: [Vec3; 2],
}

fn fit_pelvis(points: &PointTracks, hips: &[Vec3], neck: &[Vec3]) -> Pelvis {
    let (left, right) = (points.joint(Side::Left, "hip"), points.joint(Side::Right, "hip"));
    let low = points.middle("spine1").or_else(|| points.middle("spine_mid")).unwrap_or(neck);
    let start: Vec<Quat> = (0..points.frames).map(|f| axes(left[f] - right[f], low[f] - hips[f])).collect();
    let substitute: Vec<Vec3> = hips.iter().zip(low).map(|(h, l)| h + unit(l - h) * SUBSTITUTE).collect();
    let mut observed = vec![left, right];
    observed.extend(points.middle("pelvis"));
    observed.push(points.middle("spine1").unwrap_or(&substitute));
    let mut set = RigidSet::median(&observed, &start, hips);
    (set.rest[0], set.rest[1]) = symmetric(set.rest[0], set.rest[1]);
    // The middle of the hips is the origin.
    let half = Vec3::new(set.rest[0].x, 0.0, 0.0);
    (set.rest[0], set.rest[1]) = (half, -half);
    set.rest[2..].iter_mut().for_each(|p| p.x = 0.0);
    let (fitted, positions) = set.fitted(&observed, &vec![1.0; observed.len()]);
    let pitch = pelvis_pitch(&fitted, hips, neck);
    let rest = |k: usize| pitch.inverse_transform_vector(&set.rest[k]);
    Pelvis {
        rotations: fitted.iter().map(|q| q * pitch).collect(),
        positions,
        pelvis: points.middle("pelvis").map(|_| rest(2)),
        hip_joints: [rest(0), rest(1)],
    }
}

/// The rotation about the left axis from the fitted set to the pelvis of the T-pose: gravity against the line to the neck,
/// each by its uncertainty, in the frames in which the trunk is most upright.
fn pelvis_pitch(fitted: &[Quat], hips: &[Vec3], neck: &[Vec3]) -> Quat {
    let trunk: Vec<Vec3> = differences(neck, hips).map(unit).collect();
    let lean: Vec<f64> = trunk.iter().map(|t| libm::acos(t.y.clamp(-1.0, 1.0)).to_degrees()).collect();
    let upright = UPRIGHT.0.max(UPRIGHT.1 * percentile(&lean, 0.1));
    // A weight above zero keeps figures that never stand.
    let weights: Vec<f64> = lean.iter().map(|l| libm::exp(-(l / upright) * (l / upright)) + 1e-6).collect();
    let mean = |direction: &dyn Fn(usize) -> Vec3| {
        let local: Vec<Vec3> =
            (fitted.iter().enumerate()).map(|(f, q)| q.inverse_transform_vector(&direction(f))).collect();
        let mean = mean_direction(&local, &weights).unwrap_or_else(Vec3::y);
        unit(Vec3::new(0.0, mean.y, mean.z))
    };
    let (gravity, line) = (mean(&|_| Vec3::y()), mean(&|f| trunk[f]));
    let mut sorted = lean;
    sorted.sort_by(f64::total_cmp);
    let lean = sorted[sorted.len() / 4];
    let unsure = UNSURE.0 * UNSURE.0 + lean * lean;
    axes(Vec3::x(), gravity / unsure + line / (UNSURE.1 * UNSURE.1))
}

struct Chest {
    rotations: Vec<Quat>,
    positions: Vec<Vec3>,
    shoulders: [Vec3; 2],
    collars: Option<[Vec3; 2]>,
}

fn fit_chest(points: &PointTracks, hips: &[Vec3], neck: &[Vec3], noise: f64) -> Chest {
    let both = |part| Some((points.of(Side::Left, part)?, points.of(Side::Right, part)?));
    let (left, right) = (points.joint(Side::Left, "shoulder"), points.joint(Side::Right, "shoulder"));
    let collars = both("collar");
    let wide = collars.filter(|(l, r)| median_length(differences(l, r)) > COLLARS);
    let far = |part: &&str| {
        points.middle(part).is_some_and(|track| median_length(differences(neck, track)) > BELOW_NECK)
    };
    let found = ["spine3", "spine2", "spine1", "spine_mid"].into_iter().find(far);
    let base = found.and_then(|part| points.middle(part)).unwrap_or(hips);
    let lateral = |f: usize| left[f] - right[f] + wide.map_or_else(Vec3::zeros, |(l, r)| l[f] - r[f]);
    let start: Vec<Quat> = (0..points.frames).map(|f| axes(lateral(f), neck[f] - base[f])).collect();
    let weight = |m: f64| 1.0 / (m * m + (NOISE * noise) * (NOISE * noise) + 1e-6);
    let (below, base_weight) = match found.filter(|part| *part != "spine_mid") {
        // Lower spine joints move more against the chest.
        Some(part) => (
            base.to_vec(),
            weight(
                FIXED
                    * if part == "spine3" {
                        1.0
                    } else if part == "spine2" {
                        2.0
                    } else {
                        4.0
                    },
            ),
        ),
        None => {
            let below = neck.iter().zip(base).map(|(n, b)| n - unit(n - b) * BASE).collect();
            (below, 1.0 / (SUBSTITUTE_BASE * SUBSTITUTE_BASE))
        }
    };
    let neck_weight = match points.middle("neck") {
        Some(_) => weight(FIXED),
        None => 1.0 / (SUBSTITUTE_NECK * SUBSTITUTE_NECK),
    };
    let mut observed: Vec<&[Vec3]> = vec![&below, neck, left, right];
    let mut weights = vec![base_weight, neck_weight, weight(SHOULDERS), weight(SHOULDERS)];
    if let Some((l, r)) = collars {
        observed.extend([l, r]);
        weights.extend([weight(FIXED); 2]);
    }
    let (mut rotations, mut positions) = (start, neck.to_vec());
    let mut rest = Vec::new();
    for _ in 0..ROUNDS {
        let mut set = RigidSet::median(&observed, &rotations, &positions);
        set.rest[..2].iter_mut().for_each(|p| p.x = 0.0);
        for pair in set.rest[2..].chunks_exact_mut(2) {
            (pair[0], pair[1]) = symmetric(pair[0], pair[1]);
        }
        (rotations, positions) = set.fitted(&observed, &weights);
        rest = set.rest;
    }
    // The bone below the neck is upright in the T-pose.
    let upright = crate::math::arc(&unit(rest[1] - rest[0]), &Vec3::y(), &Vec3::z());
    let rest: Vec<Vec3> = rest.iter().map(|p| upright * p).collect();
    Chest {
        rotations: rotations.iter().map(|q| q * upright.inverse()).collect(),
        positions,
        shoulders: [rest[2], rest[3]],
        collars: collars.map(|_| [rest[4], rest[5]]),
    }
}

/// The joints of the spine: the observed ones, else two added ones that share the bend.
fn spine(
    points: &PointTracks,
    hips_mid: &[Vec3],
    neck: &[Vec3],
    hips: &[Quat],
    chest: &[Quat],
) -> Vec<SpineJoint> {
    let observed: Vec<&[Vec3]> =
        ["spine1", "spine2", "spine3"].iter().filter_map(|part| points.middle(part)).collect();
    let along = |rest: Vec3, rotations: Vec<Quat>, from: &[Vec3], to: &[Vec3]| -> Vec<Quat> {
        swung_along(&rotations, &rest, &differences(to, from).collect::<Vec<_>>())
    };
    if observed.is_empty() {
        let long = median_length(differences(neck, hips_mid));
        let (over, under) = (Vec3::y() * (ADDED.0 * long), Vec3::y() * (ADDED.1 * long));
        let low: Vec<Vec3> = hips_mid.iter().zip(hips).map(|(p, q)| p + q * over).collect();
        let high: Vec<Vec3> = neck.iter().zip(chest).map(|(p, q)| p - q * under).collect();
        let rotations = along(Vec3::y(), interpolated(hips, chest, 0.5), &low, &high);
        let chest = SpineJoint { positions: high, rotations: chest.to_vec() };
        return vec![SpineJoint { positions: low, rotations }, chest];
    }
    let last = observed.len() - 1;
    let joint = |(k, track): (usize, &&[Vec3])| {
        let share = (k + 1) as f64 / observed.len() as f64;
        let rotations = match observed.get(k + 1) {
            Some(next) => along(sloped(LUMBAR), interpolated(hips, chest, share), track, next),
            None => chest.to_vec(),
        };
        debug_assert!(k <= last);
        SpineJoint { positions: track.to_vec(), rotations }
    };
    observed.iter().enumerate().map(joint).collect()
}

type NeckAndHead = (Option<Vec<Quat>>, Option<(Vec<Vec3>, Vec<Quat>)>, bool);

fn neck_and_head(points: &PointTracks, neck: &[Vec3], chest: &[Quat]) -> NeckAndHead {
    let middle = |part| points.middle(part).map(<[Vec3]>::to_vec);
    let measured = face_rotations(points);
    let ears = points.between("ear");
    let tops = ["head", "head_centre", "head_top"].into_iter().find_map(middle);
    // The nose alone is in front of the head: it tells no direction of the neck.
    let nose_only = middle("nose").is_some() && middle("head").is_none() && middle("head_top").is_none();
    let towards = match (&measured, tops.or_else(|| ears.clone())) {
        (None, _) if nose_only => None,
        (_, towards) => towards,
    };
    let Some(towards) = towards else { return (None, None, false) };
    let bones: Vec<Vec3> = differences(&towards, neck).collect();
    let rest = match points.middle("head") {
        Some(_) => sloped(NECK),
        None => {
            let local: Vec<Vec3> =
                bones.iter().zip(chest).map(|(b, q)| q.inverse_transform_vector(&unit(*b))).collect();
            let mean = mean_direction(&local, &vec![1.0; local.len()]).unwrap_or_else(Vec3::y);
            unit(Vec3::new(0.0, mean.y, mean.z))
        }
    };
    let base = measured.as_ref().map_or_else(|| chest.to_vec(), |head| interpolated(chest, head, 0.5));
    let rotations = swung_along(&base, &rest, &bones);
    let at = middle("head").or_else(|| middle("head_centre")).or(ears).or_else(|| middle("head_top"));
    let face = measured.is_some();
    let head = at.map(|at| (at, measured.unwrap_or_else(|| rotations.clone())));
    (Some(rotations), head, face)
}

/// The rotations of the head by all points of the face; needs both ears and the nose.
fn face_rotations(points: &PointTracks) -> Option<Vec<Quat>> {
    let (left, right) = (points.of(Side::Left, "ear")?, points.of(Side::Right, "ear")?);
    let (nose, ears) = (points.middle("nose")?, points.between("ear")?);
    let of_face = |point: &BodyPoint| match point.side {
        Some(_) => ["eye", "ear", "mouth"].contains(&point.part),
        None => ["nose", "head", "head_top", "head_centre"].contains(&point.part),
    };
    let observed: Vec<&[Vec3]> =
        points.tracks.iter().filter(|(point, _)| of_face(point)).map(|(_, track)| &track[..]).collect();
    let mean = |f: usize| observed.iter().map(|t| t[f]).sum::<Vec3>() / observed.len() as f64;
    let origins: Vec<Vec3> = (0..points.frames).map(mean).collect();
    let start = |f: usize| {
        let left = left[f] - right[f];
        axes(left, (nose[f] - ears[f]).cross(&left))
    };
    let start: Vec<Quat> = (0..points.frames).map(start).collect();
    let set = RigidSet::median(&observed, &start, &origins);
    let (rotations, _) = set.fitted(&observed, &vec![1.0; observed.len()]);
    let level = about(&Vec3::x(), -NOSE);
    Some(rotations.iter().map(|q| q * level).collect())
}
