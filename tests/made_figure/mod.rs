//! A figure with legs, arms, spine and head, whose joints rest unturned in a T-pose: model axes are joint axes.

use posemill::anatomy::detect_roles;
use posemill::math::{Transform, Vec3};
use posemill::model::{Joint, JointId, Rig, Skeleton};

/// The figure, understood.
pub fn figure() -> Rig {
    let mut joints: Vec<Joint> = Vec::new();
    let mut add = |name: &str, parent: Option<usize>, at: [f64; 3]| {
        let rest = Transform::from_translation(Vec3::from(at));
        joints.push(Joint::new(name, parent.map(JointId::new), rest));
        joints.len() - 1
    };
    let hips = add("Hips", None, [0.0, 0.95, 0.0]);
    let spine = add("Spine", Some(hips), [0.0, 0.2, 0.0]);
    let chest = add("Spine1", Some(spine), [0.0, 0.2, 0.0]);
    let neck = add("Neck", Some(chest), [0.0, 0.2, 0.0]);
    add("Head", Some(neck), [0.0, 0.1, 0.0]);
    for (name, s) in [("Left", 1.0), ("Right", -1.0)] {
        let clavicle = add(&format!("{name}Shoulder"), Some(chest), [0.05 * s, 0.15, 0.0]);
        let arm = add(&format!("{name}Arm"), Some(clavicle), [0.15 * s, 0.0, 0.0]);
        let fore = add(&format!("{name}ForeArm"), Some(arm), [0.28 * s, 0.0, 0.0]);
        add(&format!("{name}Hand"), Some(fore), [0.26 * s, 0.0, 0.0]);
        let thigh = add(&format!("{name}UpLeg"), Some(hips), [0.1 * s, 0.0, 0.0]);
        let shin = add(&format!("{name}Leg"), Some(thigh), [0.0, -0.43, 0.0]);
        let foot = add(&format!("{name}Foot"), Some(shin), [0.0, -0.43, 0.0]);
        add(&format!("{name}ToeBase"), Some(foot), [0.0, -0.08, 0.15]);
    }
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    detect_roles(skeleton, &rest, &[])
}
