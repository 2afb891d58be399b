//! Corrects bind and rest poses that are poses: stands up bodies that they tilt as a whole, levels feet that they pitch, with the leg or
//! alone, and straightens the trunks of takes.
//!
//! Bodies are compared as if they stood alike in their reference poses, so that what one of them does in addition would be an error of
//! the whole clip. The sole of a skin shows where down is; of a take without skin the frames in which it stands. Space: model space, Y up.

use crate::anatomy::{
    Figure, Posture, posture, rotate_below, standing_soles, straightened_trunk, uprighting,
};
use crate::body::skin_soles;
use crate::math::{Quat, Transform, Vec3, exp};
use crate::model::{Asset, Calibration, Character, Clip, ModelPose, Rig, Role, Side};
use crate::report::Warnings;
use std::sync::Arc;

/// Pitch of a sole above which it is the pose's, radians (12 degrees): that of the development takes is up to 6, that of
/// people, toys and robots up to 2.
const POSED: f64 = 0.21;
/// The least share of a sole that is horizontal while its leg hangs: of a steeper one the direction ahead is not known.
const LEVEL: f64 = 0.5;

/// The location that the warnings name.
const PLACE: &str = "reference pose";
/// How to keep the pose as it is.
const KEEP: &str = "(`--set input.calibration=bind` keeps it)";

/// Sets the reference pose of a body whose bind or rest pose is a pose, with warnings. Robots stay as they are, and so do feet and
/// trunks of bodies on four legs.
pub(super) fn neutralize(asset: &mut Asset) {
    let character = &asset.character;
    if character.calibration.is_some() || character.robot.is_some() {
        return;
    }
    let (rig, own) = (&character.rig, character.reference_pose());
    let Some(figure) = Figure::of(rig, &own) else { return };
    let clips: Vec<&Clip> = asset.clips.iter().collect();
    let mut pose = stood_upright(rig, &own, &figure, &mut asset.warnings);
    let Some(figure) = Figure::of(rig, &pose) else { return };
    let trunk =
        if character.meshes.is_empty() { straightened_trunk(rig, &pose, &clips, &figure.left) } else { None };
    if let Some((straight, angle)) = trunk {
        let said = format!(
            "the reference pose bends or twists the trunk by {:.0} degrees, and the motion does not: it was straightened {KEEP}",
            angle.to_degrees()
        );
        asset.warnings.add("bent-trunk", said, PLACE);
        pose = straight;
    }
    if posture(rig, &pose) == Posture::Upright {
        pose = with_level_feet(character, pose, &clips, &figure.left, &mut asset.warnings);
    }
    if pose != own {
        let calibration = Calibration { pose, from: character.calibration_source(), joints: Vec::new() };
        asset.character = Arc::new(Character { calibration: Some(calibration), ..(**character).clone() });
    }
}

/// The pose with the body rotated about the pelvis until it is upright, if it is tilted as a whole.
fn stood_upright(rig: &Rig, pose: &ModelPose, figure: &Figure, warnings: &mut Warnings) -> ModelPose {
    let Some(upright) = uprighting(rig, pose, figure) else { return pose.clone() };
    let said = format!(
        "the reference pose tilts the whole body by {:.0} degrees: it was stood up {KEEP}",
        upright.angle().to_degrees()
    );
    warnings.add("rest-tilted", said, PLACE);
    let about = Transform::new(upright, figure.pelvis - upright * figure.pelvis);
    ModelPose::new(pose.joints().iter().map(|t| about * *t).collect())
}

/// The pose with its feet levelled; `left` points to the left across the hips.
fn with_level_feet(
    character: &Character,
    pose: ModelPose,
    clips: &[&Clip],
    left: &Vec3,
    warnings: &mut Warnings,
) -> ModelPose {
    let rig = &character.rig;
    let soles = match character.meshes.is_empty() {
        true => standing_soles(rig, &pose, clips),
        false => skin_soles(character, rig, &pose),
    };
    let mut joints = pose.joints().to_vec();
    for (side, sole) in Side::BOTH.into_iter().zip(soles) {
        let joints_of_leg = rig.joint(Role::LowerLeg(side)).zip(rig.joint(Role::Foot(side)));
        let Some(((knee, foot), sole)) = joints_of_leg.zip(sole) else { continue };
        let shin = pose.position(foot) - pose.position(knee);
        let Some(level) = levelling(&sole, &shin, left) else { continue };
        rotate_below(rig, &mut joints, foot, &level);
        let said = format!(
            "the reference pose pitches the {} by {:.0} degrees: it was levelled {KEEP}",
            Role::Foot(side),
            level.angle().to_degrees()
        );
        warnings.add("pitched-foot", said, PLACE);
    }
    ModelPose::new(joints)
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
