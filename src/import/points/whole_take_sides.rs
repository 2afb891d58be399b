//! Finds points whose left and right are exchanged through a whole take, and so without a jump between frames.
//!
//! Two rules. Along a limb: with the sides of its end exchanged a pair of bones is shorter in nearly all frames, and its lengths
//! vary less. Across the body: the lines from right to left (hips, shoulders, ears) run one way; which of them are wrong is told by the
//! most witnesses, among them what is in front (toes, nose, bent knees). Units: metres.

use super::bone_directions::unit;
use super::point_tracks::PointTracks;
use super::side_swaps::{exchange, knee_votes};
use crate::anatomy::BodyPoint;
use crate::math::{Vec3, median};
use crate::model::Side;

/// The points and markers of a limb, from the body outwards.
struct SidedLimb {
    /// Names of its three joints: of a joint, the first that there is.
    joints: [&'static [&'static str]; 3],
    /// What else moves with each joint.
    beside: [&'static [&'static str]; 3],
    /// Share of its upper bones' length that the distances to the other sides' ends hardly ever have: both knees or both elbows would be
    /// 5 cm beyond the middle of the body. With exchanged sides whole captured takes have 0.79 to 0.93 (thighs) and 0.44 to 0.59 (arms).
    hardly: f64,
}

const LIMBS: [SidedLimb; 2] = [
    SidedLimb {
        joints: [&["hip"], &["knee", "knee_lateral"], &["ankle", "ankle_lateral"]],
        beside: [
            &[],
            &["knee_lateral", "knee_medial"],
            &[
                "ankle_lateral",
                "ankle_medial",
                "toe",
                "heel",
                "foot_tip",
                "big_toe",
                "small_toe",
                "heel_back",
                "toe_top",
                "toe_medial",
                "toe_lateral",
            ],
        ],
        hardly: 0.94,
    },
    SidedLimb {
        joints: [
            &["shoulder", "acromion"],
            &["elbow", "elbow_lateral"],
            &["wrist", "wrist_thumb", "wrist_little"],
        ],
        beside: [
            &["acromion"],
            &["elbow_lateral", "elbow_medial"],
            &["wrist_thumb", "wrist_little", "hand", "index", "pinky", "thumb", "hand_tip", "knuckle"],
        ],
        hardly: 0.75,
    },
];
/// Pairs whose lines run from right to left. Collars and eyes are no witnesses: who mistakes shoulders or ears mistakes them too.
const LINES: [&str; 10] =
    ["hip", "asis", "psis", "shoulder", "acromion", "collar", "ear", "eye", "temple", "head_back"];
const NO_WITNESS: [&str; 2] = ["collar", "eye"];
/// What is in front of what, in the middle between both sides.
const FRONTS: [(&[&str], &[&str]); 4] = [
    (&["toe", "toe_top", "foot_tip", "big_toe"], &["ankle", "heel_back"]),
    (&["asis"], &["psis", "sacrum"]),
    (&["nose"], &["ear"]),
    (&["temple"], &["head_back"]),
];

/// Nearly all frames. In 3,183 windows of 19 captured takes, with up to 3 cm of noise, the bones of the other sides were shorter
/// in so many frames in none, and of exchanged points in more than 96 of 100.
const NEARLY: f64 = 0.9;
/// Share of the own sides' length below which that of the other sides is shorter: less is a tie (collars at one place).
const SHORTER: f64 = 0.98;
/// The variation of lengths over that with the sides exchanged from which an exchange is certain, and from which it is told. Whole captured
/// takes with 5 mm of noise have 1.2 and more. Limbs that are crossed throughout have less than 1, since their bones are rigid.
const VARIES: (f64, f64) = (1.5, 1.2);
/// Variation of lengths that is none, metres: that of rounded files.
const STILL: f64 = 5e-4;
/// Fewest frames that are judged: of fewer, variations mean nothing.
const FEWEST: usize = 10;
/// Cosine from which something is in front: that of captured takes is 0.63 and more.
const AHEAD: f64 = 0.2;
/// Fewest witnesses for an exchange across the body.
const WITNESSES: usize = 2;

/// Parts with exchanged sides.
#[derive(Debug, Default, PartialEq)]
pub(super) struct WholeTakeSides {
    /// Those that were put right.
    pub(super) put_right: Vec<&'static str>,
    /// Those of which it is not certain.
    pub(super) perhaps: Vec<&'static str>,
}

impl WholeTakeSides {
    fn flip(&mut self, points: &mut PointTracks, parts: &[&'static str]) {
        exchange(points, |part| parts.contains(&part), |_| true);
        for part in parts.iter().filter(|part| both(points, part).is_some()) {
            match self.put_right.iter().position(|known| known == part) {
                // Twice is as it was.
                Some(k) => drop(self.put_right.remove(k)),
                None => self.put_right.push(part),
            }
        }
    }
}

/// A point and where it is, frame by frame.
type NamedTrack = (BodyPoint, Vec<Vec3>);

/// Puts sides right that are exchanged throughout; `hips` finds the hips where they are no points of the take.
pub(super) fn put_right(
    points: &mut PointTracks,
    hips: fn(&PointTracks) -> Vec<NamedTrack>,
) -> WholeTakeSides {
    let mut found = WholeTakeSides::default();
    across(points, &mut found, false);
    let given = points.tracks.len();
    points.tracks.extend(hips(points));
    for limb in &LIMBS {
        along(points, limb, &mut found);
    }
    points.tracks.truncate(given);
    across(points, &mut found, true);
    found
}

fn both<'a>(points: &'a PointTracks, part: &str) -> Option<[&'a [Vec3]; 2]> {
    Some([points.of(Side::Left, part)?, points.of(Side::Right, part)?])
}

/// The first part that is there on both sides.
fn first(points: &PointTracks, parts: &[&'static str]) -> Option<&'static str> {
    parts.iter().copied().find(|part| both(points, part).is_some())
}

impl SidedLimb {
    /// Everything from a joint outwards.
    fn outwards(&self, level: usize) -> Vec<&'static str> {
        let mut parts: Vec<&'static str> = Vec::new();
        for part in self.joints[level..].iter().chain(&self.beside[level..]).copied().flatten() {
            if !parts.contains(part) {
                parts.push(part);
            }
        }
        parts
    }
}

/// Joint after joint from the body outwards, and what is beside each.
fn along(points: &mut PointTracks, limb: &SidedLimb, found: &mut WholeTakeSides) {
    for level in 0..limb.joints.len() {
        let Some(joint) = first(points, limb.joints[level]) else { continue };
        if level > 0
            && let Some(base) = first(points, limb.joints[level - 1])
        {
            match crossed(points, base, joint, (level == 1).then_some(limb.hardly)) {
                Some(true) => found.flip(points, &limb.outwards(level)),
                Some(false) => found.perhaps.push(joint),
                None => {}
            }
        }
        for part in limb.beside[level].iter().copied().filter(|part| *part != joint) {
            match crossed(points, joint, part, None) {
                Some(true) => found.flip(points, &[part]),
                Some(false) => found.perhaps.push(part),
                None => {}
            }
        }
    }
}

/// Whether the bones from `base` to `end` go to the other side throughout: certainly (true), or perhaps.
fn crossed(points: &PointTracks, base: &str, end: &str, hardly: Option<f64>) -> Option<bool> {
    let ([base_l, base_r], [end_l, end_r]) = (both(points, base)?, both(points, end)?);
    let lengths = |f: usize| {
        [base_l[f] - end_l[f], base_r[f] - end_r[f], base_l[f] - end_r[f], base_r[f] - end_l[f]]
            .map(|v| v.norm())
    };
    let seen = (0..points.frames).map(lengths).filter(|l| l.iter().all(|x| x.is_finite()));
    let seen: Vec<[f64; 4]> = seen.collect();
    if seen.len() < FEWEST {
        return None;
    }
    let share = |below: f64| {
        let short = seen.iter().filter(|[a, b, c, d]| c + d < below * (a + b)).count();
        short as f64 / seen.len() as f64
    };
    if share(SHORTER) < NEARLY {
        return None;
    }
    let variation = |bone: usize| {
        let usual = median(seen.iter().map(|l| l[bone]).collect());
        median(seen.iter().map(|l| (l[bone] - usual).abs()).collect())
    };
    let of = |bone: usize| variation(bone) + variation(bone + 1) + STILL;
    let varies = of(0) / of(2);
    if varies >= VARIES.0 {
        return Some(true);
    }
    let far = hardly.is_some_and(|hardly| share(hardly) >= NEARLY);
    (far || varies >= VARIES.1).then_some(false)
}

/// The lines that run as that of the hips, and those that run against it, with the number of witnesses of either.
struct CrossLines {
    with: Vec<&'static str>,
    against: Vec<&'static str>,
    witnesses: [usize; 2],
}

/// The direction of a vector; that of a gap is a gap.
fn direction(v: Vec3) -> Vec3 {
    unit(v) + v * 0.0
}

fn finite_dot(a: Vec3, b: Vec3) -> Option<f64> {
    Some(a.dot(&b)).filter(|x| x.is_finite())
}

fn cross_lines(points: &PointTracks) -> Option<CrossLines> {
    let hip = first(points, &["hip", "asis"]).filter(|_| points.frames >= FEWEST)?;
    let low = points.between(hip)?;
    let high = points.between(first(points, &["shoulder", "acromion"])?)?;
    let up: Vec<Vec3> = low.iter().zip(&high).map(|(low, high)| direction(high - low)).collect();
    let line = |part: &str| -> Option<Vec<Vec3>> {
        let [left, right] = both(points, part)?;
        let level = |(f, up): (usize, &Vec3)| {
            let across = left[f] - right[f];
            direction(across - up * up.dot(&across))
        };
        Some(up.iter().enumerate().map(level).collect())
    };
    let hips = line(hip)?;
    let mut lines = CrossLines { with: Vec::new(), against: Vec::new(), witnesses: [0; 2] };
    for part in LINES {
        let Some(line) = line(part) else { continue };
        let cosines: Vec<f64> = line.iter().zip(&hips).filter_map(|(a, b)| finite_dot(*a, *b)).collect();
        let share = |sign: f64| {
            cosines.iter().filter(|c| **c * sign > 0.0).count() as f64 / cosines.len().max(1) as f64
        };
        let (side, list) = match (share(1.0) >= NEARLY, share(-1.0) >= NEARLY) {
            (true, _) => (0, &mut lines.with),
            (_, true) => (1, &mut lines.against),
            _ => continue,
        };
        list.push(part);
        lines.witnesses[side] += usize::from(!NO_WITNESS.contains(&part));
    }
    if lines.against.is_empty() {
        return None;
    }
    let front: Vec<Vec3> = hips.iter().zip(&up).map(|(hips, up)| hips.cross(up)).collect();
    for vote in front_votes(points, &front).into_iter().chain(knee_votes(points, &hips)) {
        if vote.abs() > AHEAD {
            lines.witnesses[usize::from(vote < 0.0)] += 1;
        }
    }
    Some(lines)
}

/// How far ahead of the body what should be in front is, as cosines.
fn front_votes(points: &PointTracks, front: &[Vec3]) -> Vec<f64> {
    let place = |parts: &[&str]| {
        parts
            .iter()
            .find_map(|part| points.middle(part).map(<[Vec3]>::to_vec).or_else(|| points.between(part)))
    };
    let vote = |(tips, bases): &(&[&str], &[&str])| {
        let (tips, bases) = (place(tips)?, place(bases)?);
        let ahead = tips.iter().zip(&bases).zip(front);
        let ahead: Vec<f64> =
            ahead.filter_map(|((tip, base), front)| finite_dot(direction(tip - base), *front)).collect();
        (!ahead.is_empty()).then(|| median(ahead))
    };
    FRONTS.iter().filter_map(vote).collect()
}

/// Exchanges the lines that the fewer witnesses have: pairs of points, or whole limbs.
fn across(points: &mut PointTracks, found: &mut WholeTakeSides, limbs: bool) {
    let Some(lines) = cross_lines(points) else { return };
    let [with, against] = lines.witnesses;
    if with.max(against) < WITNESSES || with == against {
        if limbs {
            found.perhaps.extend(lines.against);
        }
        return;
    }
    let wrong = if with > against { lines.against } else { lines.with };
    for part in wrong {
        match LIMBS.iter().find(|limb| limb.joints[0].contains(&part)) {
            Some(limb) if limbs && first(points, limb.joints[0]) == Some(part) => {
                found.flip(points, &limb.outwards(0));
            }
            None if !limbs => found.flip(points, &[part]),
            _ => {}
        }
    }
}
