//! Detects rigs whose joint axes are aligned with the body, and rounds estimated rotations to the nearest axes there:
//! each is one of 24.
//!
//! A rig follows a convention if the exactly known lines (left of the hips, left of the chest) are along coordinate
//! axes of their joints, and so are the flexion axes of elbows and knees. Of 450 files with random axes none passes;
//! LAFAN1, Rokoko, Bandai-Namco, KayKit and Mixamo rigs do. No table of rigs is needed.

use super::flexion_axis::{ENDS, FEW, flexion, mean_axis};
use super::motion_samples::{MotionSamples, across, frame};
use super::partial_estimate::PartialEstimate;
use crate::anatomy::orientation::nearest_axis;
use crate::math::{Mat3, Quat, Vec3, from_columns, rotation_between};
use crate::model::{Role, Side};

/// Degrees within which an exactly known line is along a coordinate axis: allows for rounding in files.
const AXIS: f64 = 1.5;
/// The same for a flexion axis, which is measured.
const BEND_AXIS: f64 = 6.0;
/// Largest spread of a flexion axis that counts, degrees.
const BEND_SPREAD: f64 = 20.0;
/// Least share of the frames that must show a flexion axis.
const BEND_SHARE: f64 = 0.02;
/// Degrees up to which a joint is assumed to have the axes of its parent.
pub(super) const ALIKE: f64 = 70.0;

/// The kind of an estimated line, which determines how far it may be rounded.
#[derive(Clone, Copy)]
pub(super) enum LineKind {
    /// A flexion axis.
    Hinge,
    /// A flexion axis shown by few frames.
    WeakHinge,
    /// The left axis of a trunk joint.
    Trunk,
    /// The up axis of the hips.
    Up,
    /// The up axis of a collar bone.
    Clavicle,
    /// The left axis of a foot or of toes.
    Foot,
}

impl LineKind {
    /// Degrees up to which a line is rounded to the nearest axis: the errors of the estimates on 70 takes.
    fn tolerance(self) -> f64 {
        match self {
            LineKind::Hinge => 20.0,
            LineKind::WeakHinge => 44.0,
            LineKind::Trunk => 40.0,
            LineKind::Up | LineKind::Foot => 15.0,
            LineKind::Clavicle => 35.0,
        }
    }
}

fn off_axis(v: &Vec3) -> f64 {
    v.angle(&nearest_axis(v)).to_degrees()
}

pub(super) fn on_axis(v: &Vec3) -> bool {
    off_axis(v) < AXIS
}

/// `v`, or the nearest axis of its joint where the rig is conventional and `v` is near enough to one.
pub(super) fn snapped(found: &PartialEstimate, v: Vec3, line: LineKind) -> Vec3 {
    if found.conventional && off_axis(&v) < line.tolerance() { nearest_axis(&v) } else { v }
}

/// The line between the collar bones (or upper arms) in the axes of the chest, where both are its children and apart.
pub(super) fn exact_left_of_chest(e: &MotionSamples, size: f64) -> Option<Vec3> {
    let kinds: [fn(Side) -> Role; 2] = [Role::Clavicle, Role::UpperArm];
    let role = kinds.into_iter().find(|role| e.has(&Side::BOTH.map(role)))?;
    let (chest, [left, right]) = (e.chest(), Side::BOTH.map(role));
    if [left, right].iter().any(|r| e.skeleton().parent(e.joint(*r)) != e.rig.joint(chest)) {
        return None;
    }
    let v = e.line(chest, right, left);
    (v.norm() > 0.02 * size).then(|| v.normalize())
}

/// Whether the rig's axes follow the body: at least two elbows or knees bend about axes of their joints; where fewer
/// bend, both exact lines must be known.
pub(super) fn follows_axes(e: &MotionSamples, found: &PartialEstimate) -> bool {
    let mut known = vec![found.c[&Role::Hips].inverse() * Vec3::x()];
    known.extend(exact_left_of_chest(e, found.size));
    if !known.iter().all(on_axis) {
        return false;
    }
    let mut bends = Vec::new();
    for side in Side::BOTH {
        for ends in ENDS {
            let [upper, lower, end] = ends.map(|role| role(side));
            if !e.has(&[upper, lower, end]) {
                continue;
            }
            let flexion_here = flexion(e, [upper, lower, end]);
            let shown = flexion_here.shown.iter().filter(|s| **s).count() as f64;
            if shown < (BEND_SHARE * e.count as f64).max(FEW as f64) {
                continue;
            }
            let seen = e.seen_from(upper, |f| flexion_here.normal[f]);
            if let Some((n, spread)) = mean_axis(&seen, &flexion_here.weights())
                && spread < BEND_SPREAD
            {
                bends.push(off_axis(&n) < BEND_AXIS);
            }
        }
    }
    if bends.len() >= 2 { bends.iter().filter(|b| **b).count() >= 2 } else { known.len() == 2 }
}

/// The orientation of a joint without a bone of its own in a conventional rig: its parent's, if the average
/// orientation is near it, else the nearest one whose axes are along those of the parent.
///
/// `along` and `aside` are the directions along and across the parent in the T-pose; `None` where the average must be
/// used.
pub(super) fn oriented_as_parent(
    e: &MotionSamples,
    found: &PartialEstimate,
    role: Role,
    average: &Quat,
    along: &Vec3,
    aside: &Vec3,
) -> Option<Quat> {
    if !found.conventional {
        return None;
    }
    let above = e.rig.role(e.skeleton().parent(e.joint(role))?)?;
    let c = found.c.get(&above)?;
    let bone = nearest_axis(&(c.inverse() * found.bones.get(&above).unwrap_or(along)));
    let side = c.inverse() * aside;
    let side = nearest_axis(&across(&side, &bone));
    let same = frame(along, aside) * frame(&bone, &side).inverse();
    let away = same.inverse() * average;
    if away.angle().to_degrees() < ALIKE {
        return Some(same);
    }
    let cube = nearest_cube(&away)?;
    (rotation_between(&cube, &away).to_degrees() < LineKind::Trunk.tolerance()).then(|| same * cube)
}

/// The rotation of the cube group that `q` rounds to, if any.
fn nearest_cube(q: &Quat) -> Option<Quat> {
    let m: Mat3<f64> = q.to_rotation_matrix().into_inner().map(f64::round);
    let proper = (m * m.transpose() - Mat3::identity()).norm() < 1e-9 && m.determinant() > 0.0;
    let column = |k: usize| -> Vec3 { m.column(k).into_owned() };
    proper.then(|| from_columns(&column(0), &column(1), &column(2)))
}
