//! A body that stands above or in the floor comes to stand on it.
//!
//! A skin tells where its soles are. Bones alone tell it as well as soles are thick and ankles high: both are asked, and
//! their mean is taken. A character that stands as high as its rest pose stands right; of a skeleton, a rest pose that
//! stands on the floor says by how much the body is off. Units: metres of 0.86 m legs.

use super::ledger::{Ledger, all, own};
use super::stances::{Feet, Kind, SLOW, Stance};
use super::take::Take;
use crate::math::{Vec3, median, percentile};
use std::ops::Range;

/// The height of the lowest joint of a body that stands, and that of its lower ankle, metres: clean takes have 0 to 8 cm
/// and 7 to 11 cm.
const BONES: [f64; 2] = [0.03, 0.095];
/// How far bodies of bones and of skin may stand off the floor, metres: 12 clean takes have up to 3 cm by their bones, one
/// of unknown units 5.
const OFF: [f64; 2] = [0.06, 0.02];
/// The lowest joint of a rest pose that stands, metres: that of clean takes. One that hangs from its root has it a leg below.
const STANDS: Range<f64> = -0.02..0.06;
/// Quartiles of the height lie within this: it is one floor.
const SPREAD: f64 = 0.03;
/// So many seconds of contact are asked for.
const SHORTEST: f64 = 0.2;

/// Sets the level of the floor to 0, and says whether it was not.
pub(super) fn level(take: &mut Take, feet: &Feet, ledger: &mut Ledger) -> bool {
    let stances = feet.stances(SLOW);
    let on = feet.resting(&stances);
    let heights: Vec<f64> = feet.lowest.iter().zip(&on).filter(|h| *h.1).map(|h| *h.0).collect();
    if heights.len() as f64 * take.dt <= SHORTEST {
        return false;
    }
    let spread = percentile(&heights, 0.75) - percentile(&heights, 0.25);
    let skinned = !take.motion.character.meshes.is_empty();
    let lowest = median(heights);
    let height = match ankle(feet, &stances).filter(|_| !skinned) {
        Some(ankle) => 0.5 * (lowest - BONES[0] + ankle - BONES[1]),
        None if skinned => lowest,
        None => lowest - BONES[0],
    };
    let like_rest = lowest - feet.lowest_at_rest;
    let (height, least) = match take.motion.character.bind.is_some() {
        // The rest pose of a skeleton that was bound to a skin stands where its clips do.
        true if like_rest.abs() < height.abs() => (like_rest, like_rest),
        // Both are to say that the body is off; the rest pose knows better how far, whatever its soles.
        false if STANDS.contains(&feet.lowest_at_rest) => (like_rest, nearer(like_rest, height)),
        _ => (height, height),
    };
    let off = least.abs() / OFF[usize::from(skinned)];
    let fires = ledger.near("level", all(&[off, SPREAD / spread.max(1e-9)]));
    let frames = 0..take.frames();
    if fires {
        frames.clone().for_each(|f| take.shift(f, &(Vec3::y() * -height)));
        ledger.mend("level", None, frames, "m", [own(take, height), 0.0]);
    } else if off > 1.0 {
        let why = "what rests has no one height: stairs, a slope or a drift";
        ledger.leave("level", frames, "m", own(take, height), why);
    }
    fires
}

/// The one nearer to 0; 0 where they do not agree on which side of it they are.
fn nearer(a: f64, b: f64) -> f64 {
    if a * b <= 0.0 {
        0.0
    } else if a.abs() < b.abs() {
        a
    } else {
        b
    }
}

/// The height of the lower one of the two ankles while it rests.
fn ankle(feet: &Feet, stances: &[Stance]) -> Option<f64> {
    let of_track = |k: usize| {
        let own = stances.iter().filter(|s| s.track == k).flat_map(|s| feet.at(s));
        let heights: Vec<f64> = own.map(|p| p.y).collect();
        (!heights.is_empty()).then(|| median(heights))
    };
    let ankles = (0..feet.tracks.len()).filter(|k| feet.tracks[*k].kind == Kind::Ankle);
    ankles.filter_map(of_track).min_by(f64::total_cmp)
}
