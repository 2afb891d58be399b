//! Detects frames in which the limbs of both sides are exchanged, and exchanges them back.
//!
//! Rotations are compared and exchanged as delta rotations from the rest pose in model axes, so the axes of both
//! sides may differ. Units: degrees, seconds.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::median_around;
use super::working_take::{EDGES_PER_TASK, WorkingTake};
use crate::math::{Quat, rotation_between};
use crate::model::{JointId, Role, Side};
use crate::parallel;

/// Least multiple of the median step around...
const TIMES: f64 = 4.0;
/// ... which is taken as at least this, degrees...
const QUIET: f64 = 0.3;
/// ... least step, degrees...
const LEAST: f64 = 4.0;
/// ... and the share of the step that remains when the sides are exchanged.
const GAIN: f64 = 0.5;
/// Steps on either side of which the median is taken.
const AROUND: usize = 4;
/// Longest time of an exchange, seconds: labels of markers are exchanged for moments. At half, exchanges of 0.3 s are not found.
const LONGEST: f64 = 0.5;

/// Relative margin for rounding errors of the cached steps.
const NEARLY: f64 = 1.0 - 1e-6;

type OfSide = fn(Side) -> Role;
/// The roles of a leg, exchanged together.
const LEG: [OfSide; 4] = [Role::UpperLeg, Role::LowerLeg, Role::Foot, Role::Toes];
/// The roles of an arm, exchanged together.
const ARM: [OfSide; 3] = [Role::UpperArm, Role::LowerArm, Role::Hand];

/// Two joints of the same role, and the rotations that convert a local rotation from right to left: `left = a right
/// b`.
struct MirrorPair {
    left: usize,
    right: usize,
    a: Quat,
    b: Quat,
}

impl MirrorPair {
    fn of(take: &WorkingTake, role: OfSide) -> Option<Self> {
        let rig = &take.motion.character.rig;
        let [left, right] = Side::BOTH.map(|side| rig.joint(role(side)));
        let (left, right) = (left?, right?);
        let rest = rig.skeleton().rest_model_pose();
        let own = |id: JointId| rest.joint(id).rotation;
        let above = |id: JointId| rig.skeleton().parent(id).map_or(Quat::identity(), own);
        let a = above(left).inverse() * above(right);
        let b = own(right).inverse() * own(left);
        Some(Self { left: left.index(), right: right.index(), a, b })
    }

    fn to_left(&self, right: &Quat) -> Quat {
        self.a * right * self.b
    }

    fn to_right(&self, left: &Quat) -> Quat {
        self.a.inverse() * left * self.b.inverse()
    }
}

/// Exchanges the sides back, limb by limb.
pub(super) fn swaps(take: &mut WorkingTake, log: &mut FaultLog) {
    for roles in [&LEG[..], &ARM[..]] {
        let pairs: Vec<MirrorPair> = roles.iter().filter_map(|role| MirrorPair::of(take, *role)).collect();
        if !pairs.is_empty() {
            of_limb(take, &pairs, log);
        }
    }
}

fn of_limb(take: &mut WorkingTake, pairs: &[MirrorPair], log: &mut FaultLog) {
    let edges = take.edges();
    let mean = |angle: &dyn Fn(&MirrorPair) -> f64| {
        pairs.iter().map(angle).sum::<f64>().to_degrees() / (2 * pairs.len()) as f64
    };
    let plain = |e: usize| {
        mean(&|p| {
            let step = |j| rotation_between(&take.rotation(e, j), &take.rotation(e + 1, j));
            step(p.left) + step(p.right)
        })
    };
    let across = |e: usize| {
        mean(&|p| {
            let [left, right] = [p.left, p.right].map(|j| take.rotation(e + 1, j));
            rotation_between(&take.rotation(e, p.left), &p.to_left(&right))
                + rotation_between(&take.rotation(e, p.right), &p.to_right(&left))
        })
    };
    let joints = pairs.iter().flat_map(|p| [p.left, p.right]);
    let columns: Vec<usize> = joints.filter_map(|j| take.rotating.binary_search(&j).ok()).collect();
    // The same from the cached steps, up to rounding.
    let nearly = |e: usize| {
        let known = take.steps(e);
        columns.iter().map(|k| known[*k]).sum::<f64>() / (2 * pairs.len()) as f64
    };
    let share = |e: usize| {
        if nearly(e) < 0.5 * LEAST * NEARLY {
            return 0.0;
        }
        let step = plain(e);
        if step < 0.5 * LEAST {
            return 0.0;
        }
        let around = median_around(plain, edges, e, AROUND).max(QUIET);
        let gain = GAIN * step / across(e).max(1e-9);
        all(&[step / (TIMES * around), step / LEAST, gain])
    };
    // Shares from half of the limit are reported.
    let shares = parallel::map(edges, EDGES_PER_TASK, share).into_iter().enumerate();
    let jumps: Vec<(usize, f64)> = shares.filter(|jump| jump.1 > 0.5).collect();
    let longest = ((LONGEST / take.dt).round() as usize).max(1);
    let mut k = 0;
    let mut found = Vec::new();
    while k + 1 < jumps.len() {
        let [(a, one), (b, other)] = [jumps[k], jumps[k + 1]];
        let near = if b - a <= longest { one.min(other) } else { 0.0 };
        let fires = log.test("swap", near);
        if fires {
            found.push((a + 1, b + 1, plain(a).max(plain(b))));
        }
        k += if fires { 2 } else { 1 };
    }
    if jumps.len() < 2 {
        log.test("swap", 0.0);
    }
    let changed = !found.is_empty();
    for (first, end, before) in found {
        for f in first..end {
            for p in pairs {
                let (left, right) = (take.rotation(f, p.left), take.rotation(f, p.right));
                take.set_rotation(f, p.left, p.to_left(&right));
                take.set_rotation(f, p.right, p.to_right(&left));
            }
        }
        take.measure(first..end);
        let of_pair = |e: usize, p: &MirrorPair| {
            let step = |j| rotation_between(&take.rotation(e, j), &take.rotation(e + 1, j));
            step(p.left) + step(p.right)
        };
        let of_edge = |e: usize| pairs.iter().map(|p| of_pair(e, p)).sum::<f64>() / (2 * pairs.len()) as f64;
        let after = of_edge(first - 1).max(of_edge(end - 1)).to_degrees();
        let joint = Some(format!("{}, {}", take.name(pairs[0].left), take.name(pairs[0].right)));
        log.record_fixed("swap", joint, first..end, "deg", [before, after]);
    }
    if changed {
        take.fix_signs();
    }
}
