//! Where a rig's axes follow the body, every turn is one of 24, and a rough estimate becomes exact.
//!
//! A rig follows a convention if the lines that are known exactly (left of the hips, left of the chest) lie along
//! coordinate axes of their joints, and so do the axes that elbows and knees bend about. Of 450 files with random axes none
//! passes; LAFAN1, Rokoko, Bandai-Namco, KayKit and Mixamo rigs do. No table of rigs is needed.

use super::estimate::PartialEstimate;
use super::motion_samples::{MotionSamples, across, frame};
use super::t_pose_limbs::{ENDS, bend_axis, bending};
use crate::anatomy::figure::nearest_axis;
use crate::math::{Mat3, Quat, Vec3, from_columns, rotation_between};
use crate::model::{Role, Side};

/// Degrees within which an exactly known line lies along a coordinate axis.
const AXIS: f64 = 1.5;
/// The same for an axis of bending, which is measured.
const BEND_AXIS: f64 = 6.0;
/// The spread of an axis of bending, degrees, up to which it counts, and the share of frames that must show it.
const BEND_SPREAD: f64 = 20.0;
const BEND_SHARE: f64 = 0.02;
/// Degrees up to which a joint is taken to have its axes as the joint above has them.
pub(super) const ALIKE: f64 = 70.0;

/// Degrees up to which a line is taken to the nearest axis: how far the estimates of 70 takes lie from the truth.
#[derive(Clone, Copy)]
pub(super) enum LineKind {
    Hinge,
    WeakHinge,
    Trunk,
    Up,
    Clavicle,
    Foot,
}

impl LineKind {
    fn near(self) -> f64 {
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

/// `v`, or the nearest axis of its joint where the rig follows its axes and `v` is near enough to one.
pub(super) fn snapped(found: &PartialEstimate, v: Vec3, line: LineKind) -> Vec3 {
    if found.conventional && off_axis(&v) < line.near() { nearest_axis(&v) } else { v }
}

/// The line of the collar bones' (or arms') joints in the axes of the chest, where they are fixed to it and apart.
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

/// Whether the rig follows a convention: at least two elbows or knees bend about axes of their joints; where fewer bend,
/// both exact lines must be known.
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
            let bends_here = bending(e, [upper, lower, end]);
            let shown = bends_here.shown.iter().filter(|s| **s).count() as f64;
            if shown < (BEND_SHARE * e.count as f64).max(super::t_pose_limbs::FEW as f64) {
                continue;
            }
            let seen = e.seen_from(upper, |f| bends_here.normal[f]);
            if let Some((n, spread)) = bend_axis(&seen, &bends_here.weights())
                && spread < BEND_SPREAD
            {
                bends.push(off_axis(&n) < BEND_AXIS);
            }
        }
    }
    if bends.len() >= 2 { bends.iter().filter(|b| **b).count() >= 2 } else { known.len() == 2 }
}

/// A joint without a bone of its own, where the rig follows its axes: the lines that run along and across the joint
/// above lie along axes, and here they do too, the same ones if the average allows it, else those nearest to it.
///
/// `along` and `across` are where the two lines point in the T-pose; `None` where the average must do.
pub(super) fn like_above(
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
    (rotation_between(&cube, &away).to_degrees() < LineKind::Trunk.near()).then(|| same * cube)
}

/// The one of the 24 rotations of a cube that a rotation rounds to, where it rounds to one.
fn nearest_cube(q: &Quat) -> Option<Quat> {
    let m: Mat3<f64> = q.to_rotation_matrix().into_inner().map(f64::round);
    let proper = (m * m.transpose() - Mat3::identity()).norm() < 1e-9 && m.determinant() > 0.0;
    let column = |k: usize| -> Vec3 { m.column(k).into_owned() };
    proper.then(|| from_columns(&column(0), &column(1), &column(2)))
}
