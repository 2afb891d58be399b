//! Finds frames in which left and right are exchanged, and arrays in which all of them are throughout.
//!
//! Arms and legs apart; two states per frame, the cheapest path by dynamic programming (Bellman 1957). Units: metres.

use super::bone_directions::{differences, unit};
use super::point_tracks::PointTracks;
use crate::anatomy::BodyPoint;
use crate::math::{Vec3, median};
use crate::model::Side;

const ARMS: [&str; 9] =
    ["shoulder", "elbow", "wrist", "hand", "index", "pinky", "thumb", "hand_tip", "collar"];
const LEGS: [&str; 8] = ["hip", "knee", "ankle", "toe", "heel", "foot_tip", "big_toe", "small_toe"];

/// Movement of a point from frame to frame that counts at most, metres: more is an outlier or a cut.
const MOST: f64 = 0.3;
/// Cost of a change of state, in median movements of the group.
const CHANGE: f64 = 2.0;
/// Cost of each exchanged frame, in median movements: undecided frames stay as they are.
const EXCHANGED: f64 = 0.02;
/// Share of negative votes above which sides are exchanged throughout.
const AGAINST: f64 = 0.6;
/// Sine of the bend of a knee whose axis has a vote: 15 degrees.
const BENT: f64 = 0.26;
/// Fewest frames with a bent knee for a vote.
const FEWEST: usize = 4;

/// Puts exchanged frames right; per group the number of frames.
pub(super) fn put_right(points: &mut PointTracks) -> Vec<(&'static str, usize)> {
    let mut found = Vec::new();
    for (name, group) in [("arms", &ARMS[..]), ("legs", &LEGS[..])] {
        let exchanged = exchanged(points, group);
        let count = exchanged.iter().filter(|e| **e).count();
        if count > 0 {
            exchange(points, |part| group.contains(&part), |frame| exchanged[frame]);
            found.push((name, count));
        }
    }
    found
}

/// Exchanges left and right of the parts in the frames.
pub(super) fn exchange(points: &mut PointTracks, part: impl Fn(&str) -> bool, frame: impl Fn(usize) -> bool) {
    for k in 0..points.tracks.len() {
        let point = points.tracks[k].0;
        if point.side != Some(Side::Left) || !part(point.part) {
            continue;
        }
        let other = BodyPoint { side: Some(Side::Right), part: point.part };
        let Some(o) = points.tracks.iter().position(|t| t.0 == other) else { continue };
        for f in (0..points.frames).filter(|f| frame(*f)) {
            let left = points.tracks[k].1[f];
            points.tracks[k].1[f] = std::mem::replace(&mut points.tracks[o].1[f], left);
        }
    }
}

fn exchanged(points: &PointTracks, group: &[&str]) -> Vec<bool> {
    let pairs: Vec<(&[Vec3], &[Vec3])> = (group.iter())
        .filter_map(|part| Some((points.of(Side::Left, part)?, points.of(Side::Right, part)?)))
        .collect();
    let capped = |a: &Vec3, b: &Vec3| (a - b).norm().min(MOST);
    let moved = |frame: usize| {
        let one = |(l, r): &(&[Vec3], &[Vec3])| {
            let before = frame - 1;
            let same = capped(&l[frame], &l[before]) + capped(&r[frame], &r[before]);
            (same, capped(&l[frame], &r[before]) + capped(&r[frame], &l[before]))
        };
        pairs.iter().map(one).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let moves: Vec<(f64, f64)> = (1..points.frames).map(moved).collect();
    // A millimetre keeps figures that stand still from changing sides for nothing.
    let usual = median(moves.iter().map(|m| m.0).collect()) + 1e-3;
    let mut cost = [0.0, CHANGE * usual];
    let mut from = vec![[false; 2]; points.frames];
    for (frame, (same, other)) in (1..).zip(&moves) {
        let next = |state: usize| {
            let stay = cost[state] + same;
            let change = cost[1 - state] + other + CHANGE * usual;
            (stay.min(change) + EXCHANGED * usual * state as f64, change < stay)
        };
        let both = [next(0), next(1)];
        from[frame] = both.map(|n| n.1);
        cost = both.map(|n| n.0);
    }
    let mut path = cheapest_path(&from, cost);
    // The state of the first frame is free: the reading with fewer exchanged frames is taken.
    if 2 * path.iter().filter(|e| **e).count() > points.frames {
        path.iter_mut().for_each(|e| *e = !*e);
    }
    path
}

/// Whether left and right are exchanged throughout, or the figure is mirrored: toes, nose and knees point backwards.
pub(super) fn exchanged_throughout(points: &PointTracks) -> bool {
    let hips: Vec<Vec3> =
        differences(points.joint(Side::Left, "hip"), points.joint(Side::Right, "hip")).collect();
    let shoulders = points.between("shoulder").unwrap_or_default();
    let up: Vec<Vec3> = differences(&shoulders, &points.mid_hips()).collect();
    let front: Vec<Vec3> = hips.iter().zip(&up).map(|(h, u)| unit(h.cross(u))).collect();
    let ahead = |tips: Option<Vec<Vec3>>, bases: Option<Vec<Vec3>>| {
        let (tips, bases) = (tips?, bases?);
        let along = differences(&tips, &bases).zip(&front).map(|(d, front)| unit(d).dot(front));
        Some(median(along.collect()))
    };
    let toe = ["toe", "foot_tip", "big_toe"].into_iter().find_map(|part| points.between(part));
    let nose = points.middle("nose").map(<[Vec3]>::to_vec);
    let mut votes: Vec<f64> = ahead(toe, points.between("ankle")).into_iter().collect();
    votes.extend(ahead(nose, points.between("ear")));
    votes.extend(knee_votes(points, &hips));
    let against = votes.iter().filter(|v| **v < 0.0).count();
    votes.len() >= 2 && against as f64 > AGAINST * votes.len() as f64
}

/// How far the knees that bend do so forwards, as cosines of their axes and the line of the hips.
pub(super) fn knee_votes(points: &PointTracks, hips: &[Vec3]) -> Vec<f64> {
    let vote = |side: Side| {
        let [hip, knee, ankle] = ["hip", "knee", "ankle"].map(|part| points.of(side, part));
        let (hip, knee, ankle) = (hip?, knee?, ankle?);
        let (mut along, mut total, mut bent) = (0.0, 0.0, 0);
        for frame in 0..points.frames {
            let axis = unit(knee[frame] - hip[frame]).cross(&unit(ankle[frame] - knee[frame]));
            along += axis.dot(&unit(hips[frame]));
            total += axis.norm();
            bent += usize::from(axis.norm() > BENT);
        }
        (bent >= FEWEST).then(|| along / total)
    };
    Side::BOTH.into_iter().filter_map(vote).collect()
}

/// The second state or not in every frame of the cheapest path through two states: `from` tells whether the best path to each state of a
/// frame comes from the other one, `cost` is that of both paths (Viterbi 1967).
pub(super) fn cheapest_path(from: &[[bool; 2]], cost: [f64; 2]) -> Vec<bool> {
    let mut state = usize::from(cost[1] < cost[0]);
    let mut path = vec![false; from.len()];
    for (second, other) in path.iter_mut().zip(from).rev() {
        *second = state == 1;
        state = if other[state] { 1 - state } else { state };
    }
    path
}
