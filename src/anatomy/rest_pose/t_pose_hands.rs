//! Hands and fingers in the T-pose: along the knuckles, palms down, fingers straight.

use super::axis_convention::{LineKind, like_above, snapped};
use super::estimate::PartialEstimate;
use super::motion_samples::{MotionSamples, across, frame};
use crate::math::{Quat, Vec3, arc};
use crate::model::{Finger, Role, Side};
use std::f64::consts::{FRAC_PI_2, TAU};

/// The hand of a side and its fingers; without knuckles the hand is turned as the forearm on average.
pub(super) fn hand(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let (role, lower) = (Role::Hand(side), Role::LowerArm(side));
    if !e.has(&[role]) {
        return;
    }
    let along = Vec3::x() * side.sign();
    let above = if found.c.contains_key(&lower) { found.away(e, lower) } else { found.chest.clone() };
    let knuckles: Vec<Role> =
        Finger::ALL[1..].iter().map(|f| Role::Finger(side, *f, 0)).filter(|r| e.has(&[*r])).collect();
    let points: Vec<Vec3> = knuckles.iter().map(|r| e.line(role, role, *r)).collect();
    let (relative, rigid) = found.turns(e, &above, role);
    if points.len() >= 2 {
        let mean = points.iter().sum::<Vec3>() / points.len() as f64;
        let c = frame(&along, &Vec3::z()) * frame(&mean, &(points[0] - points[points.len() - 1])).inverse();
        found.set(role, c, 0.9, "its knuckles");
    } else {
        // The child of a hand with a thumb alone is no middle finger.
        let has_thumb = e.has(&[Role::Finger(side, Finger::Thumb, 0)]);
        let tip = if has_thumb { None } else { e.tip(role, found.size, &found.weights) };
        let knuckle = points.first().filter(|p| p.norm() > 0.02 * found.size).map(|p| p.normalize());
        if rigid {
            found.set(role, relative, 0.7, "it never turns against the forearm");
        } else {
            let made = like_above(e, found, role, &relative, &along, &Vec3::y());
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
                        None => found.set(role, c, 0.4, "turned as the forearm on average"),
                    }
                }
            }
        }
    }
    fingers(e, found, side);
}

/// Fingers: the average in the hand, the curl taken back, the rest by the shortest arc. Thumbs stay as they are on
/// average.
fn fingers(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let hand = found.away(e, Role::Hand(side));
    for finger in Finger::ALL {
        let mut bone: Option<Vec3> = None;
        for n in 0..=u8::MAX {
            let (role, after) = (Role::Finger(side, finger, n), Role::Finger(side, finger, n + 1));
            if !e.has(&[role]) {
                break;
            }
            let (relative, _) = found.turns(e, &hand, role);
            let here = match e.has(&[after]) {
                true => e.line(role, role, after).try_normalize(1e-12),
                false => e.tip(role, found.size, &found.weights),
            };
            // A last joint without a tip lies like the one before.
            bone = here.or(bone);
            let c = match bone.filter(|_| finger != Finger::Thumb) {
                Some(bone) => straightened(&(relative * bone), side.sign()) * relative,
                None => relative,
            };
            found.set(role, c, 0.5, "straightened from its average");
        }
    }
}

/// Takes a finger's direction in the T-pose hand back to the hand's: its curl first, then by the shortest arc, since a
/// fist is more than half a turn and an arc alone would take it the short way.
fn straightened(bone: &Vec3, k: f64) -> Quat {
    // Towards the palm is positive.
    let curl = libm::atan2(-bone.y, k * bone.x);
    let curl = if curl < -FRAC_PI_2 { curl + TAU } else { curl };
    let back = Quat::from_axis_angle(&Vec3::z_axis(), k * curl);
    arc(&(back * bone), &(Vec3::x() * k), &Vec3::y()) * back
}
