//! Joint centres from markers on the skin.
//!
//! Hips by the regressions of Harrington et al. 2007 (Prediction of the hip joint centre in adults, children, and patients with cerebral palsy
//! based on magnetic resonance imaging), the base of the spine by Dumas et al. 2007 (Adjustments to McConville et al. and Young et al.
//! body segment inertial parameters). Knees, ankles, elbows and wrists are the middle between the two markers across the joint; where
//! there is only the outer one, the centre is half a width inwards along the axis about which the joint bends, which the solver of the
//! limbs finds over all frames.
//!
//! Space: Y up. Units: metres.

use super::marker_sites::site;
use crate::anatomy::BodyPoint;
use crate::import::points::bone_directions::{differences, unit};
use crate::import::points::limbs::{ARM, FittedLimb, LEG, Sampling, fit};
use crate::import::points::point_tracks::PointTracks;
use crate::import::points::points_error::PointsError;
use crate::import::points::repair_points;
use crate::import::points::trunk::{self, Trunk};
use crate::math::{Vec3, median};
use crate::model::Side;

/// Sizes of the subject, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SubjectSizes {
    pub(super) knee_width: f64,
    pub(super) ankle_width: f64,
    pub(super) elbow_width: f64,
    /// From the marker on the shoulder down to its centre, without the marker.
    pub(super) shoulder_offset: f64,
    /// The diameter of a marker.
    pub(super) marker: f64,
}

impl Default for SubjectSizes {
    /// Breadths of an adult's joints and the usual marker of 14 mm, as gait laboratories measure them.
    fn default() -> Self {
        Self { knee_width: 0.1, ankle_width: 0.07, elbow_width: 0.07, shoulder_offset: 0.045, marker: 0.014 }
    }
}

impl SubjectSizes {
    /// The names of the sizes in tables.
    pub(super) const NAMES: [&str; 5] =
        ["knee_width", "ankle_width", "elbow_width", "shoulder_offset", "marker"];

    /// Sets a size by its name; whether there is one, and the value can be that of a body.
    pub(super) fn set(&mut self, name: &str, value: f64) -> bool {
        let size = match name {
            "knee_width" => &mut self.knee_width,
            "ankle_width" => &mut self.ankle_width,
            "elbow_width" => &mut self.elbow_width,
            "shoulder_offset" => &mut self.shoulder_offset,
            "marker" => &mut self.marker,
            _ => return false,
        };
        let plausible = value > 0.0 && value < 1.0;
        if plausible {
            *size = value;
        }
        plausible
    }

    /// With the measures that Plug-in Gait writes into its files, `LKneeWidth` and others, in units of `metres`.
    pub(super) fn measured(mut self, measures: &[(String, f64)], metres: f64) -> Self {
        let names = [
            ("LKNEEWIDTH", "knee_width"),
            ("LANKLEWIDTH", "ankle_width"),
            ("LELBOWWIDTH", "elbow_width"),
            ("LSHOULDEROFFSET", "shoulder_offset"),
            ("MARKERDIAMETER", "marker"),
        ];
        for (key, value) in measures {
            if let Some((_, name)) = names.iter().find(|(known, _)| known == key) {
                // A measure that was left at zero is none.
                self.set(name, value * metres);
            }
        }
        self
    }
}

/// Sites without which there are no joint centres: alternatives of which one has to be there, on both sides.
const NEEDED: [(&str, &[&str]); 7] = [
    ("hip", &["asis"]),
    ("hip", &["psis", "sacrum"]),
    ("knee", &["knee_lateral", "knee"]),
    ("ankle", &["ankle_lateral", "ankle"]),
    ("shoulder", &["acromion", "shoulder"]),
    ("elbow", &["elbow_lateral", "elbow"]),
    ("wrist", &["wrist_thumb", "wrist_little", "wrist"]),
];

/// The sites that are missing, for messages; none if a motion can be fitted.
pub(super) fn missing(found: &[BodyPoint]) -> Vec<String> {
    let has = |part: &str| {
        let count = found.iter().filter(|point| point.part == part).count();
        count == 2 || count == 1 && site(part).is_some()
    };
    let lost = NEEDED.iter().filter(|(joint, sites)| !has(joint) && !sites.iter().any(|part| has(part)));
    lost.map(|(_, sites)| sites.join(" or ")).collect()
}

/// Harrington et al. 2007, table 4, single variables: factors of the depth (forwards) and the width (up, outwards) of the pelvis, and
/// constants in metres, from the middle of the front spines.
const HIP: [(f64, f64); 3] = [(-0.24, -0.0099), (-0.30, -0.0109), (0.33, 0.0073)];
/// Dumas et al. 2007, mean of women and men: the base of the spine forwards and up from the middle of the front spines, in widths.
const LUMBAR: (f64, f64) = (-0.277, 0.149);
/// The nose is below the ears by this angle when a person looks ahead, radians; that of the fit of the head.
const NOSE: f64 = 10.3 * crate::math::DEGREE;
/// Movement of skin against bone, metres: that of thighs, which move most.
const SKIN: f64 = 0.005;
/// Rounds of inner offsets and limbs: each needs the other, and the second changes centres by a millimetre.
const ROUNDS: usize = 2;

/// A joint that is found from a marker on its outer side, and one on the inner side where there is one.
struct SidedJoint {
    joint: &'static str,
    outer: &'static str,
    inner: &'static str,
    width: fn(&SubjectSizes) -> f64,
    inwards: fn(&FittedLimb, usize, f64) -> Vec3,
}

const SIDED: [SidedJoint; 3] = [
    SidedJoint {
        joint: "knee",
        outer: "knee_lateral",
        inner: "knee_medial",
        width: |sizes| sizes.knee_width,
        inwards: |leg, f, k| leg.upper[f] * (Vec3::x() * -k),
    },
    SidedJoint {
        joint: "ankle",
        outer: "ankle_lateral",
        inner: "ankle_medial",
        width: |sizes| sizes.ankle_width,
        inwards: |leg, f, k| leg.lower[f] * (Vec3::x() * -k),
    },
    SidedJoint {
        // In a T-pose with the palms down the outer side of the elbow is above.
        joint: "elbow",
        outer: "elbow_lateral",
        inner: "elbow_medial",
        width: |sizes| sizes.elbow_width,
        inwards: |arm, f, _| arm.upper[f] * -Vec3::y(),
    },
];

/// The points of the body from markers; points of the body among the markers are kept.
///
/// # Errors
/// A joint that is missing in most frames.
pub(super) fn centres(
    markers: &PointTracks,
    sizes: &SubjectSizes,
    dt: f64,
) -> Result<PointTracks, PointsError> {
    let mut points = PointTracks { frames: markers.frames, tracks: Vec::new() };
    let given = markers.tracks.iter().filter(|(point, _)| BodyPoint::named(&point.to_string()).is_some());
    points.tracks.extend(given.cloned());
    pelvis(markers, &mut points);
    trunk_points(markers, &mut points);
    for side in Side::BOTH {
        extremities(markers, side, &mut points);
    }
    let mut pose: Option<(Trunk, [[FittedLimb; 2]; 2])> = None;
    for round in 0..=ROUNDS {
        for (s, side) in Side::BOTH.into_iter().enumerate() {
            for joint in &SIDED {
                let limb = pose.as_ref().map(|(_, limbs)| &limbs[s][usize::from(joint.joint != "elbow")]);
                if let Some(track) = joint.centres(markers, side, sizes, limb) {
                    put(&mut points, Some(side), joint.joint, track);
                }
            }
            if let Some(track) = shoulder(markers, side, sizes, pose.as_ref().map(|p| &p.0), &points) {
                put(&mut points, Some(side), "shoulder", track);
            }
        }
        if round < ROUNDS {
            let mut whole = points.clone();
            repair_points::fill(&mut whole)?;
            let (trunk, by) = (trunk::fit(&whole, SKIN), Sampling { noise: SKIN, dt, filled: &[] });
            let limbs = Side::BOTH.map(|side| [&ARM, &LEG].map(|kind| fit(kind, side, &whole, &trunk, by)));
            pose = Some((trunk, limbs));
        }
    }
    Ok(points)
}

/// Sets the track of a point, unless the file gives the point itself.
fn put(points: &mut PointTracks, side: Option<Side>, part: &str, track: Vec<Vec3>) {
    let name = match side {
        Some(Side::Left) => format!("left_{part}"),
        Some(Side::Right) => format!("right_{part}"),
        None => part.to_owned(),
    };
    let Some(point) = BodyPoint::named(&name) else { return };
    match points.tracks.iter_mut().find(|(other, _)| *other == point) {
        Some((_, known)) => *known = track,
        None => points.tracks.push((point, track)),
    }
}

/// The middle of two tracks; a gap where one is missing.
fn between(a: &[Vec3], b: &[Vec3]) -> Vec<Vec3> {
    a.iter().zip(b).map(|(a, b)| (a + b) * 0.5).collect()
}

fn finite_median(lengths: impl Iterator<Item = f64>) -> Option<f64> {
    let known: Vec<f64> = lengths.filter(|l| l.is_finite()).collect();
    (!known.is_empty()).then(|| median(known))
}

impl SidedJoint {
    /// The centres: the middle of both markers, else inwards of the outer one, else outwards of the inner one.
    fn centres(
        &self,
        markers: &PointTracks,
        side: Side,
        sizes: &SubjectSizes,
        limb: Option<&FittedLimb>,
    ) -> Option<Vec<Vec3>> {
        let (outer, inner) = (markers.of(side, self.outer), markers.of(side, self.inner));
        let outer = outer.or(inner)?;
        let across = inner.and_then(|inner| finite_median(differences(outer, inner).map(|d| d.norm())));
        let half = 0.5 * across.filter(|d| *d > 0.0).unwrap_or((self.width)(sizes) + sizes.marker);
        let one = |f: usize| {
            let inwards = limb.map_or_else(Vec3::zeros, |limb| (self.inwards)(limb, f, side.sign()) * half);
            let outer = outer[f];
            match inner.map(|inner| inner[f]) {
                Some(inner) if inner.x.is_finite() && outer.x.is_finite() => (outer + inner) * 0.5,
                Some(inner) if inner.x.is_finite() => inner - inwards,
                _ => outer + inwards,
            }
        };
        Some((0..markers.frames).map(one).collect())
    }
}

/// Below the marker on the shoulder, along the chest.
fn shoulder(
    markers: &PointTracks,
    side: Side,
    sizes: &SubjectSizes,
    trunk: Option<&Trunk>,
    points: &PointTracks,
) -> Option<Vec<Vec3>> {
    let acromion = markers.of(side, "acromion")?;
    let below = sizes.shoulder_offset + 0.5 * sizes.marker;
    let hips = points.mid_hips();
    let one = |(f, at): (usize, &Vec3)| {
        let down = match (trunk, hips.get(f)) {
            (Some(trunk), _) => trunk.chest[f] * -Vec3::y(),
            (None, Some(hips)) => unit(hips - at),
            (None, None) => -Vec3::y(),
        };
        at + down * below
    };
    Some(acromion.iter().enumerate().map(one).collect())
}

/// Hips, the middle of the pelvis and the base of the spine.
fn pelvis(markers: &PointTracks, points: &mut PointTracks) {
    let both = |part| Some((markers.of(Side::Left, part)?, markers.of(Side::Right, part)?));
    let Some((left, right)) = both("asis") else { return };
    let back =
        both("psis").map(|(l, r)| between(l, r)).or_else(|| markers.middle("sacrum").map(<[Vec3]>::to_vec));
    let Some(back) = back else { return };
    let front = between(left, right);
    let width = finite_median(differences(left, right).map(|d| d.norm())).unwrap_or(0.0);
    let depth = finite_median(differences(&front, &back).map(|d| d.norm())).unwrap_or(0.0);
    let at = |forwards: f64, up: f64, left_by: f64| -> Vec<Vec3> {
        let one = |f: usize| {
            let across = unit(left[f] - right[f]);
            let ahead = front[f] - back[f];
            let ahead = unit(ahead - across * ahead.dot(&across));
            front[f] + ahead * forwards + ahead.cross(&across) * up + across * left_by
        };
        (0..markers.frames).map(one).collect()
    };
    let of = |k: usize, size: f64| HIP[k].0 * size + HIP[k].1;
    for side in Side::BOTH {
        let outwards = side.sign() * of(2, width);
        put(points, Some(side), "hip", at(of(0, depth), of(1, width), outwards));
    }
    put(points, None, "pelvis", at(-0.5 * depth, 0.0, 0.0));
    put(points, None, "spine1", at(LUMBAR.0 * width, LUMBAR.1 * width, 0.0));
}

/// The hips, as markers of the pelvis tell them; none where the file gives them or lacks such markers.
pub(super) fn hips(markers: &PointTracks) -> Vec<(BodyPoint, Vec<Vec3>)> {
    let mut points = PointTracks { frames: markers.frames, tracks: Vec::new() };
    if Side::BOTH.iter().all(|side| markers.of(*side, "hip").is_none()) {
        pelvis(markers, &mut points);
        points.tracks.retain(|(point, _)| point.part == "hip");
    }
    points.tracks
}

/// The labels of markers that are seen in too few frames, where a joint lacks them.
pub(super) fn unseen(markers: &PointTracks, labels: &[&str]) -> Vec<String> {
    let seen = |track: &[Vec3]| 2 * track.iter().filter(|p| p.x.is_finite()).count() >= markers.frames;
    let (there, gone): (Vec<_>, Vec<_>) =
        markers.tracks.iter().zip(labels).partition(|((_, track), _)| seen(track));
    let there: Vec<BodyPoint> = there.into_iter().map(|((point, _), _)| *point).collect();
    let lost = missing(&there).join(" or ");
    let needed = |part: &str| lost.split(" or ").any(|site| site == part);
    gone.into_iter()
        .filter(|((point, _), _)| needed(point.part))
        .map(|(_, label)| (*label).to_owned())
        .collect()
}

/// Neck, spine and head.
fn trunk_points(markers: &PointTracks, points: &mut PointTracks) {
    let middle = |part| markers.middle(part);
    if let (Some(c7), Some(clavicle)) = (middle("c7"), middle("clavicle").or(middle("sternum"))) {
        put(points, None, "neck", between(c7, clavicle));
    }
    if let (Some(back), Some(sternum)) = (middle("t10"), middle("sternum")) {
        put(points, None, "spine2", between(back, sternum));
    }
    let sides = |part| Some((markers.of(Side::Left, part)?, markers.of(Side::Right, part)?));
    let crown = middle("crown");
    if let Some(crown) = crown {
        put(points, None, "head_top", crown.to_vec());
    }
    let Some((left, right)) = sides("temple") else { return };
    let (ears, brow) = match (sides("head_back"), middle("forehead")) {
        (Some((l, r)), _) => ([between(left, l), between(right, r)], between(left, right)),
        (None, Some(forehead)) => ([left.to_vec(), right.to_vec()], forehead.to_vec()),
        (None, None) => return,
    };
    let nose = |f: usize| {
        let ahead = brow[f] - (ears[0][f] + ears[1][f]) * 0.5;
        brow[f] - unit(ahead.cross(&(ears[0][f] - ears[1][f]))) * (ahead.norm() * libm::tan(NOSE))
    };
    let nose: Vec<Vec3> = (0..markers.frames).map(nose).collect();
    put(points, None, "head_centre", between(&ears[0], &ears[1]));
    put(points, None, "nose", nose);
    for (side, ear) in Side::BOTH.into_iter().zip(ears) {
        put(points, Some(side), "ear", ear);
    }
}

/// Wrist, hand, heel and toes.
fn extremities(markers: &PointTracks, side: Side, points: &mut PointTracks) {
    let of = |part| markers.of(side, part);
    let mut set = |part, track| put(points, Some(side), part, track);
    let (thumb, little) = (of("wrist_thumb"), of("wrist_little"));
    match (thumb, little) {
        (Some(a), Some(b)) => set("wrist", between(a, b)),
        (Some(one), None) | (None, Some(one)) => set("wrist", one.to_vec()),
        (None, None) => {}
    }
    if let Some(knuckle) = of("knuckle") {
        set("hand", knuckle.to_vec());
        if let (Some(thumb), Some(little)) = (thumb, little) {
            // The knuckles lie across the hand as the markers across the wrist do.
            let beside = |share: f64| -> Vec<Vec3> {
                let across = thumb.iter().zip(little).zip(knuckle);
                across.map(|((thumb, little), at)| at + (thumb - little) * share).collect()
            };
            set("index", beside(0.5));
            set("pinky", beside(-0.5));
        }
    }
    if let Some(heel) = of("heel_back") {
        set("heel", heel.to_vec());
    }
    let toes = match (of("toe_top"), of("toe_medial"), of("toe_lateral")) {
        (Some(top), ..) => Some(top.to_vec()),
        (None, Some(a), Some(b)) => Some(between(a, b)),
        (None, a, b) => a.or(b).map(<[Vec3]>::to_vec),
    };
    if let Some(toes) = toes {
        set("toe", toes);
    }
}
