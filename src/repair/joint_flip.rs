//! Detects joints that flip for some time, or from one frame on, and rotates them back.
//!
//! A flip is a step of one joint by a large rotation while no other joint moves more than around; between two flips the
//! joint moves as ever, with a constant rotation too much. Trackers and exporters that choose one of two rotations do that,
//! mostly about the bone and by half a circle. Flips of one or two frames are spikes. Units: degrees, seconds.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::neighbours;
use super::working_take::{EDGES_PER_TASK, WorkingTake};
use crate::math::{Quat, exp, median, plain_mean_rotation, rotation_between};
use crate::model::JointId;
use crate::parallel;
use std::f64::consts::PI;

/// Least rotation of a flip, degrees. Joints of captures step by up to 66 degrees, of hand-made clips by 124 (a punch); the
/// two rotations that a tracker or an exporter chooses between are half a circle apart, with their errors.
const LEAST: f64 = 150.0;
/// Least multiple of the largest step of the joint around, which is taken as at least [`QUIET`] degrees: a joint that
/// moves by a third of a flip in a frame may have moved by all of it.
const TIMES: f64 = 3.0;
/// The least step around that counts, degrees: a resting joint has none, and any step is a multiple of it.
const QUIET: f64 = 1.0;
/// Steps on either side with which a flip is compared: the next flip is at least three steps away.
const AROUND: usize = 2;
/// Largest share of the other joints that step suddenly over the same edge: with more it is a cut.
const OTHERS: f64 = 0.25;
/// Least sudden step of another joint, degrees, and multiple of its largest step around.
const SUDDEN: (f64, f64) = (3.0, 3.0);
/// Largest difference between the rotations of one joint's flips, degrees: the rate of the joint is not constant over the
/// edge of a flip.
const ALIKE: f64 = 30.0;
/// Least difference of the median rotations from rest before and after the rotation back, degrees, from which the rest pose
/// decides which frames are flipped.
const NEARER: f64 = 60.0;
/// Largest share of the frames that is flipped where the rest pose does not decide: between two flips, and before or after a
/// single one.
const SHORTER: [f64; 2] = [0.5, 0.33];
/// Share of the frames below which the rest pose does not decide that all others are flipped: rest poses of some files are nonsense. At
/// twice that a foot that is flipped in 93 % of a walk would not be found.
const FEW: f64 = 0.03;

/// Longest flip of the joint that moves the whole body, seconds: a body that rotates by half a circle for longer may be another shot, and
/// no shot is shorter.
const BODY_FLIP: f64 = 0.5;

/// Rotates flipped joints back, joint by joint.
pub(super) fn flips(take: &mut WorkingTake, log: &mut FaultLog) {
    log.test("flip", 0.0);
    let fast = take.joints_with(|_, largest| largest > 0.5 * LEAST);
    let seen = |take: &WorkingTake, e: usize| -> Vec<(usize, usize, f64)> {
        let share = |k: &usize| (take.steps(e)[*k] > 0.5 * LEAST).then(|| (*k, e, share(take, *k, e)));
        fast.iter().filter_map(share).collect()
    };
    let edges = if fast.is_empty() { 0 } else { take.edges() };
    let found = parallel::map(edges, EDGES_PER_TASK, |e| seen(take, e));
    let mut of_joint: Vec<Vec<usize>> = vec![Vec::new(); take.rotating.len()];
    for (k, e, share) in found.into_iter().flatten() {
        if log.test("flip", share) {
            of_joint[k].push(e);
        }
    }
    let mut changed = false;
    for (k, at) in of_joint.iter().enumerate().filter(|(_, at)| !at.is_empty()) {
        changed |= rotate_back(take, k, at, log);
    }
    if changed {
        take.fix_signs();
    }
}

/// Share of its limits that a step of the joint in column `k` reaches as a flip.
fn share(take: &WorkingTake, k: usize, e: usize) -> f64 {
    let edges = take.edges();
    let around = |k: usize| neighbours(edges, e, AROUND).map(|e| take.steps(e)[k]).fold(0.0, f64::max);
    let step = take.steps(e)[k];
    let sudden = |other: &usize| {
        let own = take.steps(e)[*other];
        *other != k && own > SUDDEN.0 && own > SUDDEN.1 * around(*other)
    };
    let count = (0..take.rotating.len()).filter(sudden).count() as f64;
    let others = OTHERS * (take.rotating.len() - 1) as f64 / count.max(1e-9);
    all(&[step / LEAST, step / (TIMES * around(k).max(QUIET)), others])
}

/// Rotates a joint back that flips over the steps `at`, if the flips agree and it is known which frames are flipped.
fn rotate_back(take: &mut WorkingTake, k: usize, at: &[usize], log: &mut FaultLog) -> bool {
    let (j, frames) = (take.rotating[k], take.frames());
    let size = at.iter().map(|e| take.steps(*e)[k]).fold(0.0, f64::max);
    let span = at[0] + 1..at.get(1).map_or(frames, |e| e + 1);
    // Frames after an odd number of flips.
    let odd: Vec<bool> = (0..frames).map(|f| at.partition_point(|e| *e < f) % 2 == 1).collect();
    let short = |pair: &[usize]| matches!(pair, [a, b] if (b - a) as f64 * take.dt < BODY_FLIP);
    if take.moves_all(j) && !at.chunks(2).all(short) {
        let why = format!("{}, and with it the whole body, turns by half: a cut, or a flip", take.name(j));
        log.record_unfixed("flip", span, "deg", size, why);
        return false;
    }
    let Some(flip) = flip_rotation(take, j, at) else {
        let why = format!("{} flips, by rotations that differ", take.name(j));
        log.record_unfixed("flip", span, "deg", size, why);
        return false;
    };
    // The rest pose says nothing about the direction that a whole body faces, which flips for a moment only.
    let flipped = match take.moves_all(j) {
        true => Some(true),
        false => flipped_part(take, j, &odd, &flip, at.len()),
    };
    let Some(flipped) = flipped else {
        let why = format!("{} flips once, and which side is right is not known", take.name(j));
        log.record_unfixed("flip", span, "deg", size, why);
        return false;
    };
    let back = if flipped { flip.inverse() } else { flip };
    for f in (0..frames).filter(|f| odd[*f] == flipped) {
        let own = take.rotation(f, j);
        take.set_rotation(f, j, own * back);
    }
    take.measure(0..frames);
    let mut first = 0;
    let ends = at.iter().map(|e| e + 1).chain([frames]);
    for end in ends {
        if odd[first] == flipped {
            let edges = [first.checked_sub(1), (end < frames).then(|| end - 1)];
            let after = edges.into_iter().flatten().map(|e| take.steps(e)[k]).fold(0.0, f64::max);
            log.record_fixed("flip", Some(take.name(j)), first..end, "deg", [size, after]);
        }
        first = end;
    }
    true
}

/// The rotation in the joint's own axes that its odd parts have too much: the mean over all flips of the step less the joint's
/// motion, which goes on at the rate before and after; `None` where the flips differ.
fn flip_rotation(take: &WorkingTake, joint: usize, at: &[usize]) -> Option<Quat> {
    let rotation = |f: usize| take.rotation(f, joint);
    let of = |(n, e): (usize, &usize)| {
        let (from, to) = (rotation(*e), rotation(e + 1));
        // Half of the step before, from before the flip, and half of the one after it.
        let before = e.checked_sub(1).map_or(Quat::identity(), |f| rotation(f).inverse() * from);
        let after = if e + 2 < take.frames() { to.inverse() * rotation(e + 2) } else { Quat::identity() };
        let half = |q: Quat| Quat::identity().slerp(&q, 0.5);
        let step = (from * half(before)).inverse() * to * half(after).inverse();
        if n % 2 == 0 { step } else { step.inverse() }
    };
    let all: Vec<Quat> = at.iter().enumerate().map(of).collect();
    let mean = plain_mean_rotation(&all, &vec![1.0; all.len()]);
    let alike = all.iter().all(|q| rotation_between(q, &mean).to_degrees() < ALIKE);
    alike.then(|| half_circle_about_bone(take, joint, at, &mean).unwrap_or(mean))
}

/// Half a circle about the bone, which leaves the joints below where they are, if the flips are that as far as can be told: the
/// motion within the step of a flip is known to within the steps around it.
fn half_circle_about_bone(take: &WorkingTake, joint: usize, at: &[usize], flip: &Quat) -> Option<Quat> {
    let skeleton = take.motion.character.skeleton();
    let id = JointId::new(joint);
    let ends = skeleton.children(id).iter().map(|child| skeleton.joint(*child).rest.translation);
    let bone = ends.chain(skeleton.joint(id).tip).max_by(|a, b| a.norm().total_cmp(&b.norm()))?;
    let half = exp(&(bone.try_normalize(1e-9)? * PI));
    let k = take.rotating.binary_search(&joint).ok()?;
    let around = |e: &usize| neighbours(take.edges(), *e, AROUND).map(|e| take.steps(e)[k]).sum::<f64>();
    let known_to = at.iter().map(around).fold(f64::INFINITY, f64::min);
    (rotation_between(flip, &half).to_degrees() < known_to).then_some(half)
}

/// Whether the odd parts are flipped (true) or the even ones: those whose rotations are farther from rest than rotated
/// back; where that decides nothing, or one of the two is very short, the shorter ones. `None` where it is not known.
fn flipped_part(take: &WorkingTake, joint: usize, odd: &[bool], flip: &Quat, flips: usize) -> Option<bool> {
    let rest = take.rest(joint);
    let from_rest = |by: &Quat, part: bool| {
        let frames = (0..take.frames()).filter(|f| odd[*f] == part);
        frames
            .map(|f| rotation_between(&rest, &(take.rotation(f, joint) * by)).to_degrees())
            .collect::<Vec<_>>()
    };
    // The take with the odd parts rotated back, and with the even ones.
    let median_of =
        |by: [&Quat; 2]| median(from_rest(by[0], true).into_iter().chain(from_rest(by[1], false)).collect());
    let identity = Quat::identity();
    let [odd_back, even_back] = [[&flip.inverse(), &identity], [&identity, flip]].map(median_of);
    let share = odd.iter().filter(|odd| **odd).count() as f64 / odd.len() as f64;
    let least = share.min(1.0 - share);
    if least >= FEW && (odd_back - even_back).abs() > NEARER {
        return Some(odd_back < even_back);
    }
    (least <= SHORTER[usize::from(flips == 1)]).then_some(share <= 0.5)
}
