//! What stages make of the reference by which a result is judged: the direct transfer, and the measures that are left.

use crate::import::{self, ImportOptions};
use crate::math::{Vec3, exp, smoothstep};
use crate::model::{Motion, Role, Side};
use crate::pipeline::{Pipeline, PipelineConfig};
use crate::stages::STAGES;
use std::path::{Path, PathBuf};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn take(name: &str) -> Motion {
    import::load(data(name), &ImportOptions::default()).unwrap().motion(0).unwrap()
}

/// The motion after these stages, on the mannequin if one retargets.
fn after(take: &Motion, stages: &[&str]) -> Motion {
    let retargets = stages.iter().any(|stage| stage.contains("retarget"));
    let stages: String = stages.iter().map(|stage| format!("[[stage]]\nuse = {stage}\n")).collect();
    let config = PipelineConfig::parse("p.toml", &stages, &[], STAGES).unwrap();
    let character = data("mannequin.glb");
    let pipeline = Pipeline::new(&config, Path::new(""), character.to_str().filter(|_| retargets)).unwrap();
    pipeline.apply(take.clone()).unwrap().0
}

/// The squat with its left knee bent backwards at the beginning, as its performer did it.
fn backwards() -> Motion {
    let mut take = take("squat.bvh");
    let knee = take.character.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
    let squat = take.clone();
    for f in 0..squat.clip.frames().min(120) {
        let world = squat.model_pose(f).joint(knee).rotation;
        let forwards = exp(&(Vec3::x() * (-0.8 * (1.0 - smoothstep(f as f64 / 119.0)))));
        take.clip.rotations_mut(f)[knee.index()] *= world.inverse() * forwards * world;
    }
    take
}

#[test]
fn limits_after_a_change_of_frames_or_sides_allow_what_the_performer_did() {
    let take = backwards();
    let (retarget, limits) = ("\"retarget\"", "\"limits\"");
    for stage in ["\"mirror\"", "\"trim\"\nstart_s = 0.1", "\"resample\"\nrate_hz = 25"] {
        let [before, behind] =
            [[retarget, limits, stage], [retarget, stage, limits]].map(|s| after(&take, &s));
        let pairs = before.clip.all_rotations().iter().zip(behind.clip.all_rotations());
        let apart = pairs.map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max);
        assert!(apart < 0.02, "{stage}: {apart} rad");
    }
    // Without the direct transfer the stage would not.
    let plain = after(&take, &[retarget]);
    let limited = after(&plain, &[limits]);
    let pairs = plain.clip.all_rotations().iter().zip(limited.clip.all_rotations());
    assert!(pairs.map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max) > 0.1);
}

#[test]
fn a_take_that_needs_no_repair_is_judged_by_all_measures() {
    let report = Pipeline::standard(data("mannequin.glb")).unwrap().apply(take("walk.bvh")).unwrap().1;
    assert!(report.findings.iter().all(|finding| finding.left.is_some()), "{:?}", report.findings);
    assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
}
