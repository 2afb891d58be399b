//! Stage `root_motion`: moves travel and heading from the hips to the root joint, or removes them.
//!
//! The ground frame of an instant is `X = translate(x, 0, z) rotate_y(heading)`: the hips' position on the ground, and the
//! twist about the vertical of their rotation from rest (swing-twist; forward is +Z at rest). The twist is also defined
//! while the character lies on the floor, where the forward direction has no horizontal part.
//! Space: model space. Units: metres, radians, hertz.

use super::{Setting, Stage, StageConfig, StageError};
use crate::math::{Quat, Transform, Vec3, exp, horizontal, twist_angle};
use crate::model::{JointId, ModelPose, Motion, Pose, Role};
use crate::report::Report;
use crate::retarget::skinned_above;
use crate::signal::{Butterworth, with_poses};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Handling of travel and heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RootMotionMode {
    /// No change.
    #[default]
    Keep,
    /// The character stays above its starting position.
    InPlace,
    /// The root joint travels and the hips move relative to it; the other joints keep their model-space transforms.
    Extract,
}

/// Keeps root motion, removes it, or moves it to the root joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RootMotionConfig {
    /// `keep` (no change), `in_place` (removes the horizontal travel) or `extract` (moves the horizontal travel from the hips to the
    /// root joint, which has to be above the hips).
    pub mode: RootMotionMode,
    /// Whether the heading is removed or moved too. Omitted: `true` for `extract`, `false` for `in_place`.
    pub yaw: Option<bool>,
    /// For `extract`: cutoff frequency of the root's heading, in hertz; faster rotation stays at the hips. 0: no cutoff.
    #[schemars(range(min = 0))]
    pub yaw_cutoff_hz: f64,
}

impl Default for RootMotionConfig {
    fn default() -> Self {
        Self { mode: RootMotionMode::Keep, yaw: None, yaw_cutoff_hz: 1.5 }
    }
}

impl StageConfig for RootMotionConfig {
    const NAME: &'static str = "root_motion";

    /// In place feet slide under the body, and its flight has no path; `extract` moves no joint.
    fn meaningless(&self) -> &'static [&'static str] {
        match self.mode {
            RootMotionMode::InPlace => &[
                "foot_slide_p95",
                "rest_slip_p95",
                "rest_drift",
                "robot_path_error",
                "jerk_ratio",
                "knee_jerk_ratio",
                "foot_jerk_ratio",
                "limb_error_p95",
                "foot_orientation_p95",
                "head_orientation_p95",
                "hand_orientation_p95",
                "trunk_error",
                "knee_pop",
                "elbow_pop",
                "loop_seam",
                "flight_error",
            ],
            RootMotionMode::Keep | RootMotionMode::Extract => &[],
        }
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let hz = self.yaw_cutoff_hz;
        if hz >= 0.0 && hz.is_finite() {
            return Ok(());
        }
        Err(vec![StageError::key("yaw_cutoff_hz", format!("a cutoff of {hz} Hz is not 0 Hz or more"))])
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        if self.mode == RootMotionMode::Keep {
            return Ok(Box::new(Keep));
        }
        let rig = &setting.arriving.rig;
        let hips = rig.joint(Role::Hips).ok_or_else(|| {
            StageError::new(
                "no joint of the character is known to be the hips\n  hint: name it in the joint map",
            )
        })?;
        let skeleton = rig.skeleton();
        // A root that the import added, above several in the file, is in no output.
        let added = setting.arriving.document.as_ref().is_some_and(|d| d.nodes.first() == Some(&None));
        if self.mode == RootMotionMode::Extract && (skeleton.parent(hips).is_none() || added) {
            let hips = &skeleton.joint(hips).name;
            let text = if added {
                "`extract` needs one joint above all others, and the file has several roots".to_owned()
            } else {
                format!("`extract` needs a joint above the hips, and `{hips}` is the root")
            };
            return Err(StageError::key("mode", format!("{text}\n  hint: use `in_place` or `keep`")));
        }
        let rest = setting.arriving.reference_pose().joint(hips).rotation;
        let skinned = skinned_above(&setting.arriving, hips);
        Ok(Box::new(MoveTravel { config: self.clone(), hips, rest, skinned }))
    }
}

#[derive(Debug)]
struct Keep;

impl Stage for Keep {
    fn apply(&self, motion: Motion, _report: &mut Report) -> Result<Motion, StageError> {
        Ok(motion)
    }
}

#[derive(Debug)]
struct MoveTravel {
    config: RootMotionConfig,
    hips: JointId,
    /// The hips' model rotation in the reference pose.
    rest: Quat,
    /// The joints above the hips that have skin, which must not stay behind.
    skinned: Vec<JointId>,
}

impl MoveTravel {
    /// The ground frame of every instant.
    fn ground(&self, models: &[ModelPose], rate: f64) -> Vec<Transform> {
        let up = Vec3::y();
        let mut headings = vec![0.0; models.len()];
        if self.config.yaw.unwrap_or(self.config.mode == RootMotionMode::Extract) {
            let mut before = 0.0;
            for (heading, model) in headings.iter_mut().zip(models) {
                let angle = twist_angle(&(model.joint(self.hips).rotation * self.rest.inverse()), &up);
                // Unwrapped: the equivalent angle nearest to the previous one.
                *heading = angle + TAU * ((before - angle) / TAU).round();
                before = *heading;
            }
            if self.config.mode == RootMotionMode::Extract
                && let Some(filter) = Butterworth::new(self.config.yaw_cutoff_hz, rate)
            {
                filter.apply(&mut headings);
            }
        }
        let frame = |(model, heading): (&ModelPose, &f64)| {
            Transform::new(exp(&(up * *heading)), horizontal(&model.position(self.hips)))
        };
        models.iter().zip(&headings).map(frame).collect()
    }
}

impl Stage for MoveTravel {
    fn apply(&self, motion: Motion, _report: &mut Report) -> Result<Motion, StageError> {
        let clip = &motion.clip;
        let skeleton = motion.character.skeleton();
        if clip.frames() == 0 {
            return Ok(motion);
        }
        let poses = motion.poses();
        let models: Vec<ModelPose> = poses.iter().map(|pose| ModelPose::of(skeleton, pose)).collect();
        let ground = self.ground(&models, clip.sample_rate);
        let root = JointId::new(0);
        let root_rest = skeleton.joint(root).rest;
        // Other children of the joints above the hips, and those of these joints that have skin, keep their model-space
        // transform (extract, but for the root itself) or move with the hips (in place).
        let above: Vec<JointId> = skeleton.path_to_root(self.hips).skip(1).collect();
        let extracted = |id: JointId| id == root && self.config.mode == RootMotionMode::Extract;
        let skinned = |id: JointId| self.skinned.contains(&id) && !extracted(id);
        let hangs = |id: &JointId| {
            let below = skeleton.parent(*id).is_some_and(|p| above.contains(&p));
            skinned(*id) || below && !above.contains(id)
        };
        let siblings: Vec<JointId> = skeleton.ids().filter(hangs).collect();
        let change = |(f, mut pose): (usize, Pose)| {
            let (correction, new_root) = match self.config.mode {
                RootMotionMode::InPlace => (ground[0] * ground[f].inverse(), poses[0].local()[0]),
                RootMotionMode::Extract | RootMotionMode::Keep => {
                    (Transform::identity(), ground[f] * root_rest)
                }
            };
            if above.is_empty() {
                pose.local_mut()[0] = correction * pose.local()[0];
                return pose;
            }
            pose.local_mut()[0] = new_root;
            let mut parents = ModelPose::of(skeleton, &pose);
            for &id in &siblings {
                let parent = skeleton.parent(id).map_or(Transform::identity(), |p| *parents.joint(p));
                pose.local_mut()[id.index()] = parent.inverse() * correction * *models[f].joint(id);
                if skinned(id) {
                    parents.set(skeleton, &pose);
                }
            }
            pose
        };
        let mut changed: Vec<Pose> = poses.iter().cloned().enumerate().map(change).collect();
        for local in changed.iter_mut().flat_map(|p| p.local_mut()) {
            local.rotation = Quat::new_normalize(local.rotation.into_inner());
        }
        Ok(with_poses(&motion, &changed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walk, walker};
    use super::*;
    use crate::model::{Character, Container, Document, Rig, StaticMeshes};
    use std::sync::Arc;

    fn config(mode: RootMotionMode) -> RootMotionConfig {
        RootMotionConfig { mode, ..RootMotionConfig::default() }
    }

    #[test]
    fn keep_changes_nothing_and_short_clips_pass() {
        for frames in [0, 1, 30] {
            let motion = walker(frames);
            assert_eq!(run(&config(RootMotionMode::Keep), motion.clone()).unwrap(), motion);
            for mode in [RootMotionMode::InPlace, RootMotionMode::Extract] {
                assert_eq!(run(&config(mode), motion.clone()).unwrap().clip.frames(), frames);
            }
        }
    }

    #[test]
    fn extraction_moves_the_root_and_no_other_joint() {
        for yaw_cutoff_hz in [0.0, 1.5] {
            let motion = walker(90);
            let config = RootMotionConfig { yaw_cutoff_hz, ..config(RootMotionMode::Extract) };
            let new = run(&config, motion.clone()).unwrap();
            let hips = motion.character.rig.joint(Role::Hips).unwrap();
            for frame in 0..90 {
                let (before, after) = (motion.model_pose(frame), new.model_pose(frame));
                for id in motion.character.skeleton().ids().skip(1) {
                    assert!((before.joint(id).to_matrix() - after.joint(id).to_matrix()).norm() < 1e-12);
                }
                let root = after.position(JointId::new(0));
                let under = before.position(hips);
                assert!((root - Vec3::new(under.x, 0.0, under.z)).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn the_extracted_heading_is_all_of_it_and_unwrapped() {
        let exact = RootMotionConfig { yaw_cutoff_hz: 0.0, ..config(RootMotionMode::Extract) };
        let new = run(&exact, walker(90)).unwrap();
        let hips = new.character.rig.joint(Role::Hips).unwrap();
        let local_rest = new.character.skeleton().joint(hips).rest.rotation;
        let mut total = 0.0;
        for frame in 0..90 {
            let left = new.clip.rotations(frame)[hips.index()] * local_rest.inverse();
            assert!(twist_angle(&left, &Vec3::y()).abs() < 1e-12);
            if frame > 0 {
                let step = new.clip.rotations(frame)[0] * new.clip.rotations(frame - 1)[0].inverse();
                total += twist_angle(&step, &Vec3::y());
            }
        }
        // 2.5 rad/s over 89 frames at 30 Hz, give or take the sway of the hips.
        assert!((total - 2.5 * 89.0 / 30.0).abs() < 0.8, "{total}");
    }

    #[test]
    fn in_place_stays_over_its_start_and_keeps_the_pose() {
        for (root, yaw) in [(true, Some(true)), (true, None), (false, Some(true)), (false, None)] {
            let motion = walk(60, root);
            let new =
                run(&RootMotionConfig { yaw, ..config(RootMotionMode::InPlace) }, motion.clone()).unwrap();
            let hips = motion.character.rig.joint(Role::Hips).unwrap();
            let start = motion.model_pose(0).position(hips);
            for frame in 0..60 {
                let (before, after) = (motion.model_pose(frame), new.model_pose(frame));
                let (p, q) = (before.position(hips), after.position(hips));
                assert!((q - Vec3::new(start.x, p.y, start.z)).norm() < 1e-12);
                // What moved is the whole character, about the vertical, or not at all where turns stay.
                let correction = *after.joint(hips) * before.joint(hips).inverse();
                assert!((correction.vector(&Vec3::y()) - Vec3::y()).norm() < 1e-12);
                assert!(yaw.is_some() || correction.rotation.angle() < 1e-7);
                for id in motion.character.skeleton().ids().filter(|id| !root || id.index() > 0) {
                    let expected = correction * *before.joint(id);
                    assert!((expected.to_matrix() - after.joint(id).to_matrix()).norm() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn a_character_without_hips_or_root_is_refused_with_the_reason() {
        let error = run(&config(RootMotionMode::Extract), walk(3, false)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`extract` needs a joint above the hips, and `hips` is the root\n  hint: use `in_place` or `keep`"
        );
        let mut motion = walk(3, true);
        let document = Document {
            container: Container::Glb,
            bytes: Arc::default(),
            resources: Vec::new(),
            nodes: vec![None; motion.character.skeleton().len()],
            fbx: None,
            static_meshes: StaticMeshes::default(),
            model_from_file: Quat::identity(),
        };
        motion.character = Arc::new(Character { document: Some(document), ..(*motion.character).clone() });
        let error = run(&config(RootMotionMode::Extract), motion).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`extract` needs one joint above all others, and the file has several roots\n  hint: use `in_place` or `keep`"
        );
        let mut motion = walker(3);
        let rig = Rig::new(motion.character.skeleton().clone(), []);
        motion.character = Arc::new(Character { rig, ..(*motion.character).clone() });
        let error = run(&config(RootMotionMode::InPlace), motion).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no joint of the character is known to be the hips\n  hint: name it in the joint map"
        );
    }
}
