//! A small walking character for the tests of the stages.

use crate::math::{Transform, Vec3, exp};
use crate::model::{Assignment, Character, Clip, Joint, JointId, Motion, Rig, Role, Side, Skeleton};
use crate::report::Report;
use crate::signal::fix_hemispheres;
use crate::stages::{Setting, StageConfig, StageError};
use std::sync::Arc;

/// Resolves and applies a stage, and checks the result with [`Motion::check`].
pub fn run(config: &impl StageConfig, motion: Motion) -> Result<Motion, StageError> {
    let arriving = Arc::clone(&motion.character);
    let setting = Setting::new(arriving, "");
    let stage = config.resolve(&setting)?;
    let leaving = stage.leaving(&motion.character);
    let result = stage.apply(motion, &mut Report::default())?;
    result.check().unwrap();
    assert!(Arc::ptr_eq(&leaving, &result.character) || leaving == result.character);
    Ok(result)
}

/// A character of seventeen joints with unsymmetric rest axes walks a curve at 30 Hz, its clock starting late.
pub fn walker(frames: usize) -> Motion {
    walk(frames, true)
}

/// Name, parent (a leading `_` stands for the own side), offset in model axes, role.
type JointPlan = (String, &'static str, [f64; 3], Option<Role>);

/// The same with or without a joint above the hips.
pub fn walk(frames: usize, root: bool) -> Motion {
    let v = |s: f64| Vec3::new(libm::sin(3.1 * s), libm::cos(5.3 * s), libm::sin(7.7 * s));
    let mut plan: Vec<JointPlan> = Vec::new();
    if root {
        plan.push(("root".into(), "", [0.0; 3], None));
    }
    plan.push(("hips".into(), "root", [0.0, 0.95, 0.0], Some(Role::Hips)));
    plan.push(("spine".into(), "hips", [0.0, 0.15, 0.0], Some(Role::Spine(0))));
    plan.push(("head".into(), "spine", [0.0, 0.5, 0.0], Some(Role::Head)));
    for (side, name) in [(Side::Left, "left"), (Side::Right, "right")] {
        let s = side.sign();
        let mut add = |part: &str, parent: &'static str, o: [f64; 3], role: Option<Role>| {
            plan.push((format!("{name}_{part}"), parent, [o[0] * s, o[1], o[2]], role));
        };
        add("upper_arm", "spine", [0.2, 0.4, 0.0], Some(Role::UpperArm(side)));
        add("hand", "_upper_arm", [0.5, 0.0, 0.0], Some(Role::Hand(side)));
        add("prop", "_hand", [0.1, 0.0, 0.05], None);
        add("upper_leg", "hips", [0.1, 0.0, 0.0], Some(Role::UpperLeg(side)));
        add("foot", "_upper_leg", [0.0, -0.9, 0.02], Some(Role::Foot(side)));
    }
    plan.push(("camera".into(), "root", [0.3, 1.5, -2.0], None));
    // The offsets above are in model axes; the rest axes of every joint are rotated arbitrarily.
    let find = |name: &str, parent: &str, plan: &[JointPlan]| {
        let side = name.split('_').next().unwrap_or("");
        let full = if parent.starts_with('_') { format!("{side}{parent}") } else { parent.to_owned() };
        plan.iter().position(|p| p.0 == full)
    };
    let mut joints = Vec::new();
    let mut axes = Vec::new();
    for (i, (name, parent, offset, _)) in plan.iter().enumerate() {
        let parent = find(name, parent, &plan).or((i > 0).then_some(0));
        let above = parent.map_or(crate::math::Quat::identity(), |p: usize| axes[p]);
        let own = if i == 0 { crate::math::Quat::identity() } else { exp(&(v(i as f64) * 1.5)) };
        let rest = Transform::new(above.inverse() * own, above.inverse() * Vec3::from(*offset));
        axes.push(own);
        joints.push(Joint::new(name.clone(), parent.map(JointId::new), rest));
    }
    let n = joints.len();
    let skeleton = Skeleton::new(joints).unwrap();
    let assign = |(i, p): (usize, &JointPlan)| {
        let joint = JointId::new(i);
        Some((p.3?, Assignment::new(joint, 1.0, "by construction")))
    };
    let rig = Rig::new(skeleton.clone(), plan.iter().enumerate().filter_map(assign));
    let hips = skeleton.find("hips").unwrap();
    let mut rotations = Vec::new();
    let mut translations = Vec::new();
    for frame in 0..frames {
        let time = frame as f64 / 30.0;
        for (i, joint) in skeleton.joints().iter().enumerate() {
            let swing = exp(&(v(i as f64 * 3.0) * 0.4 * libm::sin(2.0 * time + i as f64)));
            // The hips rotate to the left by more than a full turn.
            let heading = exp(&Vec3::new(0.0, if i == hips.index() { 2.5 * time } else { 0.0 }, 0.0));
            let still = root && i == 0 || joint.name == "camera";
            rotations.push(if still { joint.rest.rotation } else { heading * joint.rest.rotation * swing });
        }
        translations.push(Vec3::new(
            2.0 * libm::sin(time),
            0.95 + 0.03 * libm::sin(6.0 * time),
            1.3 * time + 0.4,
        ));
    }
    let mut clip = Clip::new("walk", 30.0, n, rotations, vec![hips], translations);
    clip.start = 0.5;
    fix_hemispheres(&mut clip);
    let character = Character::new("walker", rig);
    Motion::new(Arc::new(character), clip)
}
