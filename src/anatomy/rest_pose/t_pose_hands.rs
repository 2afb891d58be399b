//! T-pose orientation of hands and fingers: along the knuckles, palms down, fingers straight.

use super::axis_convention::{LineKind, oriented_as_parent, snapped};
use super::motion_samples::{MotionSamples, across, frame};
use super::partial_estimate::PartialEstimate;
use crate::math::{Quat, Vec3, arc};
use crate::model::{Finger, Role, Side};
use std::f64::consts::{FRAC_PI_2, TAU};

/// The hand of a side and its fingers; without knuckles the hand has its average orientation relative to the forearm.
pub(super) fn hand(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let (role, lower) = (Role::Hand(side), Role::LowerArm(side));
    if !e.has(&[role]) {
        return;
    }
    let along = Vec3::x() * side.sign();
    let above =
        if found.c.contains_key(&lower) { found.rotation_from_t_pose(e, lower) } else { found.chest.clone() };
    let knuckles: Vec<Role> =
        Finger::ALL[1..].iter().map(|f| Role::Finger(side, *f, 0)).filter(|r| e.has(&[*r])).collect();
    let points: Vec<Vec3> = knuckles.iter().map(|r| e.line(role, role, *r)).collect();
    let (relative, rigid) = found.relative_rotation(e, &above, role);
    if points.len() >= 2 {
        let mean = points.iter().sum::<Vec3>() / points.len() as f64;
        let c = frame(&along, &Vec3::z()) * frame(&mean, &(points[0] - points[points.len() - 1])).inverse();
        found.set(role, c, 0.9, "its knuckles");
    } else {
        // The only child of a hand with just a thumb is no middle finger.
        let has_thumb = e.has(&[Role::Finger(side, Finger::Thumb, 0)]);
        let tip = if has_thumb { None } else { e.tip(role, found.size, &found.weights) };
        let knuckle = points.first().filter(|p| p.norm() > 0.02 * found.size).map(|p| p.normalize());
        if rigid {
            found.set(role, relative, 0.7, "it never rotates against the forearm");
        } else {
            let made = oriented_as_parent(e, found, role, &relative, &along, &Vec3::y());
            match knuckle.or(tip) {
                None => match made {
                    Some(c) => found.set(role, c, 0.6, "its axes as the forearm's"),
                    None => found.set(role, relative, 0.3, "as the forearm on average"),
                },
                Some(bone) => {
                    let n = across(&(made.unwrap_or(relative).inverse() * Vec3::y()), &bone);
                    let n = if made.is_some() { n } else { snapped(found, n, LineKind::Hinge) };
                    let c = frame(&along, &Vec3::y()) * frame(&bone, &n).inverse();
                    match made {
                        Some(_) => found.set(role, c, 0.6, "its axes as the forearm's"),
                        None => found.set(role, c, 0.4, "its average rotation against the forearm"),
                    }
                }
            }
        }
    }
    fingers(e, found, side);
}

/// Fingers: the average in the hand, with the curl removed and the rest aligned by the shortest arc. Thumbs keep
/// their average.
fn fingers(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let hand = found.rotation_from_t_pose(e, Role::Hand(side));
    for finger in Finger::ALL {
        let mut bone: Option<Vec3> = None;
        for n in 0..=u8::MAX {
            let role = Role::Finger(side, finger, n);
            let after = role.next().filter(|next| e.has(&[*next]));
            if !e.has(&[role]) {
                break;
            }
            let (relative, _) = found.relative_rotation(e, &hand, role);
            let here = match after {
                Some(after) => e.line(role, role, after).try_normalize(1e-12),
                None => e.tip(role, found.size, &found.weights),
            };
            // A last joint without a tip has the direction of the one before it.
            bone = here.or(bone);
            let c = match bone.filter(|_| finger != Finger::Thumb) {
                Some(bone) => straightened(&(relative * bone), side.sign()) * relative,
                None => relative,
            };
            found.set(role, c, 0.5, "straightened from its average");
        }
    }
}

/// The rotation that aligns a finger with the hand: first its curl, then the shortest arc, since a fist is curled by
/// more than 180 degrees and the shortest arc alone would rotate in the other direction.
fn straightened(bone: &Vec3, k: f64) -> Quat {
    // Positive towards the palm.
    let curl = libm::atan2(-bone.y, k * bone.x);
    let curl = if curl < -FRAC_PI_2 { curl + TAU } else { curl };
    let back = Quat::from_axis_angle(&Vec3::z_axis(), k * curl);
    arc(&(back * bone), &(Vec3::x() * k), &Vec3::y()) * back
}
