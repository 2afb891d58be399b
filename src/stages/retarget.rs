//! Stage `retarget`: transfers the motion from its own skeleton to the pipeline's character.

use super::face::FaceRetarget;
use super::onto_robot::RetargetRobotStage;
use super::take_cuts::warn_of_cuts;
use super::{Setting, Stage, StageConfig, StageError};
use crate::body::CharacterBody;
use crate::kinematics::cuts;
use crate::legs::Timeline;
use crate::math::Vec3;
use crate::measure::rounding;
use crate::model::{Character, Motion};
use crate::placement::ArmPlacement;
use crate::regular_file::read_text;
use crate::report::{Mapping, Report, Shown, Warnings, io_reason};
use crate::retarget::{FileFault, JointMap, PART, Retarget, RootScale, gaps, map, postures_differ, warnings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Distance from the origin from which a motion is reported, metres: 32-bit translations are then 0.06 mm apart, and the third
/// differences of their rounding are 14 times the least step that the measure of jerk takes for motion.
const FAR: f64 = 512.0;

/// Transfers the motion to the pipeline's character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetargetConfig {
    /// Joint map file as written by `posemill map`, relative to the pipeline file. Omitted: the joint map is found
    /// automatically.
    pub map: String,
    /// Scale of the root's path: `legs` scales it by the ratio of leg lengths, so that strides fit; a number scales it by
    /// that factor (1.0 keeps the path). Heights are always scaled by the ratio of leg lengths.
    pub scale: PathScale,
    /// Whether hands near the body, or near each other, keep their distance from the skin on bodies of other
    /// proportions (a hand on the hip stays on the hip), arms go no deeper into the body than on the source, and hands that
    /// rest on the floor keep their place on it. Other arms are not changed; `false` leaves all arms as directly transferred.
    pub hands: bool,
}

impl Default for RetargetConfig {
    fn default() -> Self {
        Self { map: String::new(), scale: PathScale::default(), hands: true }
    }
}

/// The scale of the root's path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a scale is `legs` or a number")]
pub enum PathScale {
    /// A named scale.
    Word(NamedScale),
    /// A factor.
    Factor(#[schemars(extend("exclusiveMinimum" = 0))] f64),
}

/// The named scales.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedScale {
    /// The ratio of leg lengths.
    Legs,
}

impl Default for PathScale {
    fn default() -> Self {
        PathScale::Word(NamedScale::Legs)
    }
}

impl StageConfig for RetargetConfig {
    const NAME: &'static str = "retarget";
    const ONCE: Option<&'static str> = Some("a pipeline has one target character");

    fn validate(&self) -> Result<(), Vec<StageError>> {
        match self.scale {
            PathScale::Factor(f) if !(f.is_finite() && f > 0.0) => Err(vec![StageError::key(
                "scale",
                format!("`scale` is {f}, allowed is `legs` or a number above 0"),
            )]),
            _ => Ok(()),
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        if self.map.is_empty() { Vec::new() } else { vec![PathBuf::from(&self.map)] }
    }

    fn foresee(&self, character: &Character, folder: &Path) -> Vec<(String, StageError)> {
        let path = folder.join(&self.map);
        let Some(text) = read_text(&path).ok().filter(|_| !self.map.is_empty()) else {
            return Vec::new();
        };
        let fault = |FileFault { message, span, .. }: FileFault| {
            let error = StageError { place: Some((path.clone(), span)), ..StageError::key("map", message) };
            (self.map.clone(), error)
        };
        let faults = JointMap::check(&text, &path.shown(), character).err();
        faults.into_iter().flatten().map(fault).collect()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let Some(target) = &setting.target else {
            return Err(StageError::new(
                "there is no character to retarget onto\n  hint: name one in `[input] character = \"hero.glb\"`",
            ));
        };
        if let Some(robot) = &target.robot {
            return Ok(Box::new(RetargetRobotStage::new(target, robot)?));
        }
        let source = &setting.arriving;
        if self.map.is_empty() && FaceRetarget::fits(source, target) {
            return Ok(Box::new(FaceRetarget { target: Arc::clone(target) }));
        }
        let fault = |e: crate::retarget::MapError| StageError::key("map", e.to_string());
        let (map, s_rig, t_rig) = if self.map.is_empty() {
            (map(source, target).map_err(fault)?, source.rig.clone(), target.rig.clone())
        } else {
            let path = setting.folder.join(&self.map);
            let text = read_text(&path).map_err(|e| {
                StageError::key("map", format!("`{}` cannot be read: {}", path.shown(), io_reason(&e)))
            })?;
            JointMap::read(&text, &path.shown(), source, target).map_err(fault)?
        };
        let travel = match self.scale {
            PathScale::Word(NamedScale::Legs) => RootScale::Legs,
            PathScale::Factor(factor) => RootScale::Factor(factor),
        };
        // Roles and limits in the map file also apply to the stages that follow.
        let target = match t_rig == target.rig {
            true => Arc::clone(target),
            false => Arc::new(Character { rig: t_rig.clone(), ..(**target).clone() }),
        };
        let body = match &setting.body {
            Some(body) if Arc::ptr_eq(body.character(), &target) => Arc::clone(body),
            _ => Arc::new(CharacterBody::new(&target)),
        };
        body.prepare();
        let from = CharacterBody::of(source, &s_rig);
        let retarget = Retarget::between(&from, &body, &map, travel);
        let retarget = if self.hands { retarget } else { retarget.with_free_hands() };
        let sure = map.pairs.iter().map(|p| p.confidence).fold(1.0, f64::min);
        let mut left_out = warnings(&gaps(&map, (source, &s_rig), (&target, &t_rig)));
        if let Some(message) = postures_differ((source, &s_rig), (&target, &t_rig)) {
            left_out.add("retarget-posture", message, "");
        }
        if retarget.without_feet() {
            let message = "the character's legs have no ankle joints: its body is placed by its lowest skin, no foot is planted, \
                 and no measure judges its steps";
            left_out.add("character-without-feet", message, "");
        }
        // Equal bones need no correction of arms unless both bodies have skin, and not the same.
        let same_skin = from.surface().zip(body.surface()).is_none_or(|(a, b)| a.has_skin_of(b));
        let placed = self.hands && !(retarget.has_same_bones() && same_skin);
        let placement = placed.then(|| ArmPlacement::new(&from, &body)).flatten();
        Ok(Box::new(RetargetStage {
            retarget,
            mapping: map.mapping(source, &target),
            left_out,
            sure,
            placement,
        }))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct RetargetStage {
    retarget: Retarget,
    mapping: Mapping,
    /// Warnings on what the map leaves out.
    left_out: Warnings,
    sure: f64,
    placement: Option<ArmPlacement>,
}

impl Stage for RetargetStage {
    fn leaving(&self, _: &Arc<Character>) -> Arc<Character> {
        Arc::clone(self.retarget.target())
    }

    fn direct_transfer(&self, motion: &Motion) -> Option<Motion> {
        Some(self.retarget.direct_transfer(motion))
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        report.measure("retarget_mapped_joints", self.mapping.joints.len() as f64, "joints");
        report.measure("retarget_resting_joints", self.mapping.target_only.len() as f64, "joints");
        report.measure("retarget_lowest_confidence", self.sure, "1");
        report.measure("retarget_leg_ratio", self.retarget.scale(), "1");
        report.mapped(&self.mapping);
        for warning in self.left_out.iter() {
            report.warnings.push(warning.clone());
        }
        let cuts = cuts(&motion);
        warn_of_cuts(&motion, &cuts, report);
        let time = Timeline::with_cuts(&motion, &cuts);
        let mut performance = self.retarget.prepare(&motion, &time);
        if performance.off_floor {
            let message = "no foot stands on the floor in this take: the body keeps the take's height, scaled, or lies on the floor";
            report.warnings.add("take-off-floor", message, motion.clip.name.clone());
        }
        let none = performance.part(&motion.part(0..0), 0).clip;
        let mut arms = self.placement.as_ref().map(|placement| placement.prepare(&motion, time.shots()));
        let Motion { character: source, clip, .. } = motion;
        let frames = clip.frames();
        let mut first = 0;
        // Each part of the source is freed once it is transferred: a take and its result are never in memory together.
        let mut parts = clip.into_parts(PART).map(|part| {
            let part = Motion::new(Arc::clone(&source), part);
            let performed = performance.part(&part, first);
            first += part.clip.frames();
            if let Some(arms) = &mut arms {
                arms.record(&part);
            }
            performed.clip
        });
        let whole = match parts.next() {
            Some(start) => start.followed_by(parts, frames),
            None => none,
        };
        let far = whole.all_translations().iter().map(|at| at.amax()).fold(0.0, f64::max);
        if far > FAR {
            let message = format!(
                "the motion is {far:.0} m from the origin: files of 32-bit numbers (glTF, FBX) keep its positions to {:.2} mm, so that slow motion shakes; move the take to the origin first",
                1e3 * rounding(&Vec3::new(far, 0.0, 0.0))
            );
            report.warnings.add("take-far", message, whole.name.clone());
        }
        if let Some((low, by)) = self.retarget.uneven_soles() {
            let message = format!(
                "the sole of the {low} foot of the character is {:.1} cm thicker than the other one: while it stands, the other foot is off the floor",
                100.0 * by
            );
            report.warnings.add("uneven-soles", message, whole.name.clone());
        }
        let performed = performance.finished(Motion::new(Arc::clone(self.retarget.target()), whole));
        let (Some(placement), Some(arms)) = (&self.placement, arms) else {
            return Ok(performance.raised_hands(performed));
        };
        let (performed, placed) = placement.place(&arms, performed);
        report.measure("hands_placed_frames", placed.frames as f64, "frames");
        report.measure("hands_placed_largest", placed.largest, "m");
        report.measure("hands_placed_missed", placed.missed, "m");
        Ok(performance.raised_hands(performed))
    }
}
