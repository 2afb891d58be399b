//! The rest pose of a scene: with a skin the saved pose, since the skin defines the bind pose; without one the first upright
//! candidate.
//!
//! The transforms of an FBX are the pose in which it was saved, often mid-stride. A take without a skin has three candidates:
//! its bind poses, all rotations at zero (a T-pose in Maya's and HumanIK's skeletons), and the saved pose. If none is upright
//! the saved pose is used and the reference pose is estimated from the motion. Space: local. Units: metres.

use super::joint_nodes::{JointNodes, RestPose, index};
use super::scene_to_glb::bare;
use crate::anatomy::Vocabulary;
use crate::import::gltf::GltfFile;
use crate::import::import_error::ImportError;
use crate::import::import_options::{Calibrate, ImportOptions};
use crate::import::rig_detection::{RigClues, detect_rig};
use crate::math::{DEGREE, Vec3, angle_between};
use crate::memory_budget::MemoryBudget;
use crate::model::{ModelPose, Rig, Role, Side};
use crate::report::{Warnings, one_line};
use std::sync::Arc;
use ufbx::{
    AnimOpts, PropOverrideDesc, SceneRoot, Transform, Vec4, create_anim, evaluate_transform,
    matrix_to_transform,
};

/// Largest angle between thighs or shins and straight down, radians: an A-pose with its feet apart has 15 degrees.
const DOWN: f64 = 30.0 * DEGREE;
/// Largest difference between the two sides, radians.
const ALIKE: f64 = 15.0 * DEGREE;
/// Largest bend of an elbow, radians.
const STRAIGHT: f64 = 30.0 * DEGREE;
/// The share of the joints that a bind pose has to contain.
const MOST: f64 = 0.8;

/// The local rest transform of every node.
///
/// # Errors
/// An [`ImportError`] if the nodes do not form a skeleton.
pub(super) fn rest(
    scene: &SceneRoot,
    joints: &JointNodes,
    options: &ImportOptions,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<RestPose, ImportError> {
    let saved: RestPose = scene.nodes.iter().map(|n| n.local_transform).collect();
    if let Some(node) = saved.iter().position(|t| !is_finite(t)) {
        let name = one_line(&scene.nodes[node].element.name);
        let reason = format!("the transform of the node `{name}` is not a finite number");
        return Err(ImportError::Fbx { reason });
    }
    if joints.skinned {
        return Ok(saved);
    }
    let vocabulary = options.vocabulary();
    let candidates = [
        ("its bind pose", bind_pose(scene, joints, &saved)),
        ("all rotations at zero", zero_pose(scene, joints, &saved)),
        ("the pose it was saved in", Some(saved.clone())),
    ];
    let mut body = false;
    for (which, pose) in candidates {
        let Some(pose) = pose else { continue };
        match is_upright(scene, joints, &pose, &vocabulary, budget)? {
            Some(true) => {
                if !same(&pose, &saved) {
                    let said = format!(
                        "without a skin the rest pose is not defined: {which} is upright and was used"
                    );
                    warnings.add("fbx-rest", said, "the file");
                }
                return Ok(pose);
            }
            Some(false) => body = true,
            None => {}
        }
    }
    if body && options.calibration == Calibrate::Auto {
        let said = "without a skin the rest pose is not defined, and neither its bind pose, nor all rotations at zero, nor the pose \
                    it was saved in is upright: it is estimated from the motion. If a limb is wrong, name a frame in which the \
                    figure is in a T-pose (`--set input.calibration.frame=0`) or a file of the same skeleton \
                    (`--set input.calibration.file=rig.fbx`)";
        warnings.add("fbx-no-rest", said, "the file");
    }
    Ok(saved)
}

/// Whether all numbers of a transform are finite as 32-bit floats.
fn is_finite(at: &Transform) -> bool {
    let (t, r, s) = (at.translation, at.rotation, at.scale);
    [t.x, t.y, t.z, r.x, r.y, r.z, r.w, s.x, s.y, s.z].iter().all(|x| (*x as f32).is_finite())
}

/// Whether two poses are the same except for rounding errors.
fn same(a: &RestPose, b: &RestPose) -> bool {
    let cos_half_angle = |a: &Transform, b: &Transform| {
        let (a, b) = (a.rotation, b.rotation);
        (a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w).abs()
    };
    a.iter().zip(b).all(|(a, b)| cos_half_angle(a, b) > 1.0 - 1e-9)
}

/// The pose in the file's bind poses, if they contain most of the joints.
fn bind_pose(scene: &SceneRoot, joints: &JointNodes, saved: &RestPose) -> Option<RestPose> {
    let mut pose = saved.clone();
    let mut listed = vec![false; pose.len()];
    for entry in scene.poses.iter().filter(|p| p.is_bind_pose).flat_map(|p| p.bone_poses.iter()) {
        let node = index(&entry.bone_node);
        if let (Some(slot), Some(listed)) = (pose.get_mut(node), listed.get_mut(node)) {
            let kept = slot.scale;
            *slot = matrix_to_transform(&entry.bone_to_parent);
            slot.scale = kept;
            *listed = true;
        }
    }
    let all = joints.list();
    let found = all.iter().filter(|n| listed[**n]).count();
    (found as f64 >= MOST * all.len() as f64).then_some(pose)
}

/// The pose with all joint rotations zero; joint orients are kept.
fn zero_pose(scene: &SceneRoot, joints: &JointNodes, saved: &RestPose) -> Option<RestPose> {
    let zero = |n: usize| PropOverrideDesc {
        element_id: scene.nodes[n].element.element_id,
        prop_name: "Lcl Rotation".into(),
        value: Vec4::default(),
        ..PropOverrideDesc::default()
    };
    let overrides: Vec<PropOverrideDesc> = joints.list().into_iter().map(zero).collect();
    let options = AnimOpts { prop_overrides: overrides.into(), ..AnimOpts::default() };
    let zero = create_anim(scene, options).ok()?;
    let mut pose = saved.clone();
    for n in joints.list() {
        pose[n].rotation = evaluate_transform(&zero, &scene.nodes[n], 0.0).rotation;
    }
    Some(pose)
}

/// Whether the body is upright in this pose; `None` if no body is detected.
fn is_upright(
    scene: &SceneRoot,
    joints: &JointNodes,
    pose: &RestPose,
    vocabulary: &Vocabulary,
    budget: &MemoryBudget,
) -> Result<Option<bool>, ImportError> {
    let file = GltfFile::read_within(Arc::new(bare(scene, joints, pose)?), None, budget)?;
    let rest = file.skeleton.rest_model_pose();
    let detected = detect_rig(&RigClues {
        skeleton: &file.skeleton,
        rest: &rest,
        bound: false,
        humanoid: &[],
        mass: None,
        rigid: false,
        trees: &file.trees,
        clips: &[],
        up: Some(Vec3::y()),
        vocabulary,
        mirrored: file.mirrored,
        body: None,
    });
    Ok(upright(&detected.rig, &rest))
}

/// Whether legs hang, both sides alike, and arms are straight; `None` without legs.
fn upright(rig: &Rig, pose: &ModelPose) -> Option<bool> {
    let direction = |from: Role, to: Role| -> Option<Vec3> {
        let direction = pose.position(rig.joint(to)?) - pose.position(rig.joint(from)?);
        direction.try_normalize(1e-9)
    };
    let leg = |side: Side| -> Option<[Vec3; 2]> {
        Some([
            direction(Role::UpperLeg(side), Role::LowerLeg(side))?,
            direction(Role::LowerLeg(side), Role::Foot(side))?,
        ])
    };
    let legs = [leg(Side::Left)?, leg(Side::Right)?];
    let down = legs.iter().flatten().all(|bone| angle_between(bone, &-Vec3::y()) < DOWN);
    let lean = |bone: &Vec3| angle_between(bone, &-Vec3::y());
    let alike = (0..2).all(|k| (lean(&legs[0][k]) - lean(&legs[1][k])).abs() < ALIKE);
    let elbow = |side: Side| {
        let upper = direction(Role::UpperArm(side), Role::LowerArm(side))?;
        Some(angle_between(&upper, &direction(Role::LowerArm(side), Role::Hand(side))?))
    };
    let straight = Side::BOTH.into_iter().filter_map(elbow).all(|bend| bend < STRAIGHT);
    Some(down && alike && straight)
}
