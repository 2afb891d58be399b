//! Characters and takes whose results have a fault that no measure can blame on them: they are reported.

use super::helpers::shipped;
use super::posed::{changed, take};
use posemill::math::Vec3;
use posemill::model::{Character, Motion, Role};
use posemill::report::Report;
use posemill::stages::{RetargetConfig, Setting, StageConfig};
use std::sync::Arc;

/// The codes of the warnings of a retarget.
fn warned(take: Motion, target: Arc<Character>) -> Vec<String> {
    let setting = Setting { target: Some(target), ..Setting::new(Arc::clone(&take.character), "") };
    let stage = RetargetConfig::default().resolve(&setting).unwrap();
    let mut report = Report::default();
    stage.apply(take, &mut report).unwrap();
    report.warnings.iter().map(|w| w.code.to_string()).collect()
}

#[test]
fn a_character_with_one_thick_sole_and_a_take_far_away_are_reported() {
    let (walk, target) = (take("walk.bvh"), shipped("mannequin.glb").character);
    assert_eq!(warned(walk.clone(), Arc::clone(&target)), Vec::<String>::new());
    let mut raised = (*target).clone();
    for position in raised.meshes.iter_mut().flat_map(|mesh| &mut mesh.positions) {
        if position[0] > 0.0 && position[1] < 0.03 {
            position[1] -= 0.05;
        }
    }
    assert_eq!(warned(walk.clone(), Arc::new(raised)), ["uneven-soles"]);
    let hips = walk.character.rig.joint(Role::Hips).unwrap();
    let away = |metres: f64| {
        changed(&walk, |_, pose| pose.local_mut()[hips.index()].translation += Vec3::x() * metres)
    };
    assert_eq!(warned(away(1000.0), Arc::clone(&target)), ["take-far"]);
    assert_eq!(warned(away(200.0), target), Vec::<String>::new());
}
