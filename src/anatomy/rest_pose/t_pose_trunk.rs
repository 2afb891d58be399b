//! T-pose orientation of hips, spine, neck and head.
//!
//! The left axis of the hips is the line of the thighs, exactly; their up axis comes from gravity in upright frames
//! and from the line to the neck. Trunk bones are given the directions of good rest poses: the average posture has
//! twice the error, since people slump and skeletons do not.

use super::axis_convention::{LineKind, exact_left_of_chest, on_axis, oriented_as_parent, snapped};
use super::motion_samples::{MotionSamples, across, frame};
use super::partial_estimate::PartialEstimate;
use crate::anatomy::orientation::nearest_axis;
use crate::math::{Vec3, mean_direction, weighted_quantile};
use crate::model::{Role, Side};

/// Standard deviation of gravity as the up axis of an upright trunk, degrees.
const GRAVITY: f64 = 5.0;
/// Standard deviation of the line to the neck as the up axis, degrees.
const NECK_LINE: f64 = 8.0;

/// Inclination of the first spine bone at rest, degrees forward of vertical. This and the following are medians of 17
/// good rest poses; their spread is 6, 5, 9, 13 and, at the head, 2 degrees.
const LUMBAR: f64 = -5.0;
/// The same of the middle spine bones.
const THORACIC: f64 = -5.0;
/// The same of the chest, the last of several spine bones.
const CHEST: f64 = 0.0;
/// The same of the first neck bone.
const NECK: f64 = 8.0;
/// The same of further neck bones.
const UPPER_NECK: f64 = 0.0;
/// The same of the head.
const HEAD: f64 = 0.0;

/// The hips, on which all other parts depend.
pub(super) fn hips(e: &MotionSamples, found: &mut PartialEstimate) {
    let [left, right] = Side::BOTH.map(Role::UpperLeg);
    let aside = e.line(Role::Hips, right, left).try_normalize(1e-12).unwrap_or_else(Vec3::x);
    let weights = &found.weights;
    let gravity = mean_direction(&e.seen_from(Role::Hips, |_| Vec3::y()), weights);
    let neck = e.chain(Role::Neck).first().copied().or(e.has(&[Role::Head]).then_some(Role::Head));
    let top: Option<Vec<Vec3>> = match neck {
        Some(neck) => Some(e.at(neck).iter().map(|t| t.translation).collect()),
        None => e.middle(Role::UpperArm),
    };
    let thighs = e.middle(Role::UpperLeg);
    let line = top.zip(thighs).and_then(|(top, thighs)| {
        let v = |f: usize| (top[f] - thighs[f]).try_normalize(1e-12).unwrap_or_default();
        mean_direction(&e.seen_from(Role::Hips, v), weights)
    });
    let gravity = across(&gravity.unwrap_or_else(Vec3::y), &aside);
    let line = line.map_or(gravity, |line| across(&line, &aside));
    let lean = weighted_quantile(&found.lean, weights, 0.5);
    let sigma = libm::hypot(GRAVITY, lean);
    let up = gravity / (sigma * sigma) + line / (NECK_LINE * NECK_LINE);
    let apart = gravity.angle(&line).to_degrees();
    let c = frame(&aside, &up).inverse();
    let sure = (1.0 - (lean + apart) / 60.0).clamp(0.3, 0.9);
    found.set(Role::Hips, c, sure, "the line of the thighs; upright on average");
}

/// Rounds the hips of a conventional rig to their axes if they are near.
fn hips_on_axes(found: &mut PartialEstimate) {
    let c = found.c[&Role::Hips];
    let left = nearest_axis(&(c.inverse() * Vec3::x()));
    let up = snapped(found, c.inverse() * Vec3::y(), LineKind::Up);
    found.c.insert(Role::Hips, frame(&left, &up).inverse());
    if on_axis(&up) {
        found.how.insert(Role::Hips, (0.95, "the line of the thighs; the joint's own upright axis".into()));
    }
}

/// Spine, neck and head, from the hips upwards.
pub(super) fn trunk(e: &MotionSamples, found: &mut PartialEstimate) {
    if found.conventional {
        hips_on_axes(found);
    }
    found.bones.insert(Role::Hips, Vec3::y());
    found.hips = found.rotation_from_t_pose(e, Role::Hips);
    found.chest = found.hips.clone();
    let (spine, neck) = (e.chain(Role::Spine), e.chain(Role::Neck));
    let mut line: Vec<Role> = spine.iter().chain(&neck).copied().collect();
    line.extend(e.has(&[Role::Head]).then_some(Role::Head));
    let mut below = found.hips.clone();
    for (i, &role) in line.iter().enumerate() {
        let (relative, rigid) = found.relative_rotation(e, &below, role);
        if rigid {
            found.set(role, relative, 0.9, "it never rotates against the joint below");
        } else {
            let inclined = match role {
                Role::Head => HEAD,
                Role::Neck(0) => NECK,
                Role::Neck(_) => UPPER_NECK,
                _ if role == e.chest() && spine.len() > 1 => CHEST,
                _ if i == 0 => LUMBAR,
                _ => THORACIC,
            };
            vertebra(e, found, role, &line[i + 1..], inclined);
        }
        below = found.rotation_from_t_pose(e, role);
        if role == e.chest() {
            found.chest.clone_from(&below);
        }
    }
}

/// A trunk joint that rotates, its bone `inclined` degrees forward of vertical.
fn vertebra(e: &MotionSamples, found: &mut PartialEstimate, role: Role, after: &[Role], inclined: f64) {
    let of_spine = matches!(role, Role::Spine(_));
    let above = if of_spine { &found.hips } else { &found.chest };
    let (average, _) = found.relative_rotation(e, above, role);
    let is_chest = role == e.chest();
    let exact = if is_chest { exact_left_of_chest(e, found.size) } else { None };
    let shoulders = || {
        let [left, right] = Side::BOTH.map(Role::UpperArm);
        if !is_chest || !e.has(&[left, right]) {
            return None;
        }
        let (l, r) = (e.at(left), e.at(right));
        let v = |f: usize| (l[f].translation - r[f].translation).try_normalize(1e-12).unwrap_or_default();
        mean_direction(&e.seen_from(role, v), &found.weights)
    };
    let left = exact.or_else(shoulders).unwrap_or_else(|| average.inverse() * Vec3::x());
    let left = snapped(found, left, LineKind::Trunk);
    let faces = match (exact.is_some(), of_spine) {
        (true, _) => "the line of the shoulders",
        (false, true) => "facing the hips on average",
        (false, false) => "facing as the chest on average",
    };
    let sure = if exact.is_some() || found.conventional && on_axis(&left) { 0.9 } else { 0.6 };
    let angle = inclined.to_radians();
    let up = Vec3::new(0.0, libm::cos(angle), libm::sin(angle));
    if let Some(bone) = bone_of(e, found, role, after) {
        let c = frame(&Vec3::x(), &up) * frame(&across(&left, &bone), &bone).inverse();
        found.bones.insert(role, up);
        found.set(role, c, sure, format!("its bone upright; {faces}"));
    } else if let Some(c) = oriented_as_parent(e, found, role, &average, &up, &Vec3::x()) {
        found.set(role, c, 0.7, "its axes as those of the joint below");
    } else {
        let above = left.cross(&(average.inverse() * Vec3::y())).cross(&left);
        let c = frame(&Vec3::x(), &(average * above)) * frame(&left, &above).inverse();
        found.set(role, c, sure.min(0.5), "the average posture");
    }
}

/// The bone of a trunk joint in its axes: to the next trunk joint that is its child and apart, else to its tip.
fn bone_of(e: &MotionSamples, found: &PartialEstimate, role: Role, after: &[Role]) -> Option<Vec3> {
    let here = Some(e.joint(role));
    match after.iter().find(|r| e.skeleton().parent(e.joint(**r)) == here) {
        Some(next) => {
            let v = e.line(role, role, *next);
            (v.norm() > 0.02 * found.size).then(|| v.normalize())
        }
        None if after.is_empty() => e.tip(role, found.size, &found.weights),
        None => None,
    }
}
