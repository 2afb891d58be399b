//! Finds frames in which the labels of two markers are exchanged, and puts them right; and pairs of one side that are exchanged throughout.
//!
//! Two witnesses: distances to the markers that keep theirs (each label has its own), and a start and an end of the exchange at
//! which both markers jump to each other's place or come back after a gap. Two states per frame, the cheapest path by dynamic
//! programming (Bellman 1957). Units: metres.

use crate::anatomy::BodyPoint;
use crate::import::points::bone_directions::unit;
use crate::import::points::side_swaps::cheapest_path;
use crate::math::{Vec3, median};
use crate::model::Side;

/// Markers whose distances are compared: those on the same bone keep theirs, and a bone has up to four others.
const MATES: usize = 4;
/// Frames from which usual distances are taken.
const SAMPLES: usize = 300;
/// Misplacement that counts at most in a frame, metres.
const MOST: f64 = 0.1;
/// Misplacement of both markers from which a pair is looked at, metres: several times the movement of skin.
const LOOKED_AT: f64 = 0.02;
/// Cost of an exchanged frame, metres: undecided frames stay as they are.
const EXCHANGED: f64 = 5e-4;
/// Cost of a change where both markers jump or were not seen, and elsewhere, metres.
const CHANGE: (f64, f64) = (0.05, 1.0);
/// Jump of a pair that counts at most, metres.
const JUMP: f64 = 0.3;
/// Most pairs that are put right: more is no recording of one body.
const PAIRS: usize = 16;

/// Distances that vary by less, metres, are compared between left and right: those of markers on one bone or on two next to each other.
const RIGID: f64 = 0.03;
/// Fewest such distances of a pair.
const RIGID_FEWEST: usize = 6;
/// Mean difference between left and right that an exchange takes away, metres, and the largest share of it that may remain. In 24 made
/// takes without an exchange, whose markers are off by a deviation of up to 2 cm, the former is 5 mm at most.
const UNEVEN: (f64, f64) = (0.015, 0.5);

type MarkerTrack = Vec<Vec3>;

/// One marker's usual distances.
struct Mates {
    /// The other marker, its usual distance and how far that varies.
    others: Vec<(usize, f64, f64)>,
}

fn known(p: &Vec3) -> bool {
    p.iter().all(|x| x.is_finite())
}

fn mates(tracks: &[MarkerTrack], marker: usize) -> Mates {
    let frames = tracks[marker].len();
    let step = (frames / SAMPLES).max(1);
    let of = |other: usize| {
        let both = tracks[marker].iter().zip(&tracks[other]).step_by(step);
        let distances: Vec<f64> = both.map(|(a, b)| (a - b).norm()).filter(|d| d.is_finite()).collect();
        if other == marker || distances.is_empty() {
            return None;
        }
        let usual = median(distances.clone());
        Some((other, usual, median(distances.iter().map(|d| (d - usual).abs()).collect())))
    };
    let mut others: Vec<(usize, f64, f64)> = (0..tracks.len()).filter_map(of).collect();
    others.sort_by(|a, b| a.2.total_cmp(&b.2));
    Mates { others }
}

/// How far the position `at` in a frame is from where the marker should be, by its distances; without the marker `except`.
fn misplaced(tracks: &[MarkerTrack], mates: &Mates, at: &Vec3, frame: usize, except: usize) -> Option<f64> {
    let off = |(other, usual, varies): &(usize, f64, f64)| {
        let seen = &tracks[*other][frame];
        known(seen).then(|| (((seen - at).norm() - usual).abs() - 2.0 * varies).max(0.0))
    };
    let (mut sum, mut count) = (0.0, 0);
    for off in mates.others.iter().filter(|m| m.0 != except).filter_map(off).take(MATES) {
        (sum, count) = (sum + off, count + 1);
    }
    (count > 1 && known(at)).then(|| (sum / f64::from(count)).min(MOST))
}

/// Whether both markers jump to each other's place between two frames, in which both are seen.
fn flips(before: (Vec3, Vec3), now: (Vec3, Vec3)) -> bool {
    let (d, e) = (before.0 - before.1, now.0 - now.1);
    // Half of the opposite direction: a bone does not rotate by a third of a circle in a frame.
    unit(d).dot(&unit(e)) < -0.5
}

/// The exchanged frames of a pair, with what they gain, metres.
fn exchanged(tracks: &[MarkerTrack], all: &[Mates], a: usize, b: usize) -> (Vec<bool>, f64) {
    let frames = tracks[a].len();
    let seen = |f: usize| known(&tracks[a][f]) && known(&tracks[b][f]);
    let pair = |f: usize| (tracks[a][f], tracks[b][f]);
    let gain = |f: usize| {
        let of = |marker: usize, at: usize, other: usize| {
            misplaced(tracks, &all[marker], &tracks[at][f], f, other)
        };
        match (of(a, a, b), of(b, b, a), of(a, b, b), of(b, a, a)) {
            (Some(p), Some(q), Some(r), Some(s)) => p + q - r - s - EXCHANGED,
            _ => 0.0,
        }
    };
    let gains: Vec<f64> = (0..frames).map(gain).collect();
    let mut cost = [0.0, CHANGE.0];
    let mut as_it_is = 0.0;
    let mut from = vec![[false; 2]; frames];
    for f in 1..frames {
        // Two markers that lie alike among the others (both sides of the wrist) are told apart by their jumps alone.
        let (stay, change) = match (seen(f - 1) && seen(f)).then(|| (pair(f - 1), pair(f))) {
            None => (0.0, CHANGE.0),
            Some((before, now)) if flips(before, now) => {
                let (d, e) = (before.0 - before.1, now.0 - now.1);
                ((e - d).norm().min(JUMP), (e + d).norm().min(JUMP) + CHANGE.0)
            }
            Some(_) => (0.0, CHANGE.1),
        };
        as_it_is += stay;
        let next = |state: usize| {
            let (same, other) = (cost[state] + stay, cost[1 - state] + change);
            (same.min(other) - gains[f] * state as f64, other < same)
        };
        let both = [next(0), next(1)];
        from[f] = both.map(|n| n.1);
        cost = both.map(|n| n.0);
    }
    (cheapest_path(&from, cost), as_it_is - cost[0].min(cost[1]))
}

/// Puts exchanged labels right; the pairs with their numbers of frames.
pub(super) fn put_right(tracks: &mut [MarkerTrack]) -> Vec<(usize, usize, usize)> {
    let all: Vec<Mates> = (0..tracks.len()).map(|k| mates(tracks, k)).collect();
    let mut found = Vec::new();
    while found.len() < PAIRS {
        let suspect = |k: usize| -> Vec<bool> {
            let off = |(f, at): (usize, &Vec3)| misplaced(tracks, &all[k], at, f, k);
            tracks[k].iter().enumerate().map(|place| off(place).is_some_and(|off| off > LOOKED_AT)).collect()
        };
        let suspects: Vec<Vec<bool>> = (0..tracks.len()).map(suspect).collect();
        let mut best: Option<(usize, usize, Vec<bool>, f64)> = None;
        for a in 0..tracks.len() {
            for b in a + 1..tracks.len() {
                let misplaced = suspects[a].iter().zip(&suspects[b]).any(|(a, b)| *a && *b);
                let pairs = || tracks[a].iter().zip(&tracks[b]).map(|(a, b)| (*a, *b));
                if !misplaced && !pairs().zip(pairs().skip(1)).any(|(before, now)| flips(before, now)) {
                    continue;
                }
                let (path, gained) = exchanged(tracks, &all, a, b);
                if path.contains(&true) && best.as_ref().is_none_or(|best| gained > best.3) {
                    best = Some((a, b, path, gained));
                }
            }
        }
        let Some((a, b, path, _)) = best else { break };
        for f in (0..path.len()).filter(|f| path[*f]) {
            let at = tracks[a][f];
            tracks[a][f] = std::mem::replace(&mut tracks[b][f], at);
        }
        found.push((a, b, path.iter().filter(|e| **e).count()));
    }
    found
}

/// The pair of one side whose exchange makes the distances of left and right alike, of the left side. Which side it is cannot be told.
pub(super) fn uneven(points: &[BodyPoint], tracks: &[MarkerTrack]) -> Option<(usize, usize)> {
    let mirrored: Vec<usize> = (points.iter().enumerate())
        .map(|(k, point)| {
            let other = point.side.map(|side| BodyPoint { side: Some(side.other()), ..*point });
            points.iter().position(|p| Some(*p) == other).unwrap_or(k)
        })
        .collect();
    let all: Vec<Mates> = (0..tracks.len()).map(|k| mates(tracks, k)).collect();
    let mut usual = vec![vec![None; tracks.len()]; tracks.len()];
    for (k, mates) in all.iter().enumerate() {
        for (other, distance, _) in mates.others.iter().filter(|m| m.2 < RIGID) {
            usual[k][*other] = Some(*distance);
        }
    }
    let lefts: Vec<usize> =
        (0..points.len()).filter(|k| points[*k].side == Some(Side::Left) && mirrored[*k] != *k).collect();
    let mut best = None;
    for (i, a) in lefts.iter().enumerate() {
        for b in &lefts[i + 1..] {
            let swapped = |k: usize| {
                if k == *a {
                    *b
                } else if k == *b {
                    *a
                } else {
                    k
                }
            };
            let difference = |p: usize, q: usize, at: &dyn Fn(usize) -> usize| {
                let other = usual[at(mirrored[p])][at(mirrored[q])]?;
                Some((usual[at(p)][at(q)]? - other).abs())
            };
            let pairs = [*a, *b].into_iter().flat_map(|p| (0..points.len()).map(move |q| (p, q)));
            let both: Vec<(f64, f64)> = pairs
                .filter(|(_, q)| q != a && q != b)
                .filter_map(|(p, q)| Some((difference(p, q, &|k| k)?, difference(p, q, &swapped)?)))
                .collect();
            let mean = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>() / both.len() as f64;
            if both.len() < RIGID_FEWEST {
                continue;
            }
            let (before, after) = (mean(|d| d.0), mean(|d| d.1));
            let gain = before - after;
            if gain > UNEVEN.0 && after < UNEVEN.1 * before && best.is_none_or(|(_, most)| gain > most) {
                best = Some(((*a, *b), gain));
            }
        }
    }
    best.map(|(pair, _)| pair)
}
