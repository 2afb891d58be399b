//! Levels feet that a bind or rest pose pitches, with the leg or alone: bodies are compared as if they stood on level feet, so that
//! another pitch would be an error of the whole clip.
//!
//! The sole of a skin shows where down is; of a take without skin the frames in which it stands. Space: model space, Y up.

use crate::anatomy::{Figure, Posture, posture, standing_soles, tilt};
use crate::body::skin_soles;
use crate::math::{Quat, Transform, Vec3, exp};
use crate::model::{Asset, Calibration, Character, Clip, ModelPose, Role, Side};
use std::sync::Arc;

/// Pitch of a sole above which it is the pose's, radians (12 degrees): that of the development takes is up to 6, that of
/// people, toys and robots up to 2.
const POSED: f64 = 0.21;
/// The least share of a sole that is horizontal while its leg hangs: of a steeper one the direction ahead is not known.
const LEVEL: f64 = 0.5;

/// Sets the reference pose of a body whose bind or rest pose pitches its feet, with a warning. Bodies on four legs, those that lie, and
/// robots stay as they are.
pub(super) fn level_feet(asset: &mut Asset) {
    let character = &asset.character;
    if character.calibration.is_some() || character.robot.is_some() {
        return;
    }
    let (rig, own) = (&character.rig, character.calibration_pose());
    // A body that is tilted as a whole is stood up with its feet.
    let stands = |f: &Figure| f.up == Vec3::y() && tilt(rig, &own, f) == Quat::identity();
    let Some(figure) = Figure::of(rig, &own).filter(stands) else { return };
    if posture(rig, &own) != Posture::Upright {
        return;
    }
    let soles = if character.meshes.is_empty() {
        standing_soles(rig, &own, &asset.clips.iter().collect::<Vec<&Clip>>())
    } else {
        skin_soles(character, rig, &own)
    };
    let mut joints = own.joints().to_vec();
    for (side, sole) in Side::BOTH.into_iter().zip(soles) {
        let joints_of_leg = rig.joint(Role::LowerLeg(side)).zip(rig.joint(Role::Foot(side)));
        let Some(((knee, foot), sole)) = joints_of_leg.zip(sole) else { continue };
        let at = own.position(foot);
        let Some(level) = levelling(&sole, &(at - own.position(knee)), &figure.left) else { continue };
        let about = Transform::new(level, at - level * at);
        for (transform, below) in joints.iter_mut().zip(rig.skeleton().below(&[foot])) {
            if below {
                *transform = about * *transform;
            }
        }
        let said = format!(
            "the reference pose pitches the {} by {:.0} degrees: it was levelled (`--set input.calibration=bind` keeps it)",
            Role::Foot(side),
            level.angle().to_degrees()
        );
        asset.warnings.add("pitched-foot", said, "reference pose");
    }
    let pose = ModelPose::new(joints);
    if pose != own {
        let calibration = Calibration { pose, from: character.calibration_source(), joints: Vec::new() };
        asset.character = Arc::new(Character { calibration: Some(calibration), ..(**character).clone() });
    }
}

/// The rotation that levels a foot: with its shin about the axis across the body until that hangs, then about the axis across the foot;
/// `None` of a foot that is level.
fn levelling(sole: &Vec3, shin: &Vec3, left: &Vec3) -> Option<Quat> {
    let hang: Quat = exp(&(left * libm::atan2(shin.dot(&left.cross(&Vec3::y())), -shin.y)));
    let ahead = hang * sole;
    let flat = Vec3::new(ahead.x, 0.0, ahead.z);
    let axis = Vec3::y().cross(&flat.try_normalize(LEVEL * sole.norm())?);
    let level = exp(&(axis * libm::atan2(ahead.y, flat.norm()))) * hang;
    (level.angle() > POSED).then_some(level)
}
