//! Effectors of the stage `ik`: their keys, the resolved form, and the IK tasks for one instant.

use super::stage::KeyFaults;
use super::{Setting, StageError};
use crate::ik::{Goal, Task};
use crate::math::{Quat, Vec3, smoothstep};
use crate::model::{Character, JointId, ModelPose, Role};
use crate::regular_file::read_text;
use crate::report::{Shown, shortened};
use crate::signal::monotone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One effector: a joint and its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EffectorConfig {
    /// A role, such as `left_hand`, or the name of a joint.
    pub joint: String,
    /// Kind of goal: `position` (the joint reaches the target), `aim` (the joint points at the target), or `hold` (the
    /// joint keeps its original position and orientation).
    pub goal: GoalWord,
    /// For `aim`: the direction that points at the target, in the axes of the character at rest: +Z is ahead, +Y up, +X to
    /// its left.
    pub axis: [f64; 3],
    /// The target: a point `[x, y, z]` in metres, Y up, in the world space of the character's own file, as printed by
    /// `posemill joints` for the file and for outputs made from it. With `follow` or `hold` it is an offset in metres along
    /// the same axes. A limb that cannot reach its target points at it.
    pub target: Option<[f64; 3]>,
    /// Animated target: keys `[time in seconds, x, y, z]` in ascending order, positions as for `target`. The target moves
    /// smoothly between keys without overshoot.
    pub keys: Vec<[f64; 4]>,
    /// A role or a joint whose position, before this stage, is the target.
    pub follow: String,
    /// A CSV file with the columns time, x, y, z (seconds and metres, positions as for `target`), relative to the pipeline
    /// file.
    pub csv: String,
    /// Weight relative to other effectors.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// Whether the effector has priority: its weight counts a hundred times as much, and solver `tree` iterates until its
    /// position is reached, regardless of effectors without priority.
    pub hard: bool,
    /// Number of joints above the effector that move; 0 for all up to the root.
    pub chain: usize,
    /// Time from which it acts, in seconds; negative: from the start of the clip.
    pub from_s: f64,
    /// Time until which it acts, in seconds; negative: to the end of the clip.
    pub until_s: f64,
    /// Duration of the blend in and of the blend out, in seconds.
    #[schemars(range(min = 0))]
    pub blend_s: f64,
}

/// The kind of goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoalWord {
    /// The joint reaches the target.
    #[default]
    Position,
    /// The joint points at the target.
    Aim,
    /// The joint keeps its original position and orientation, offset by the target.
    Hold,
}

impl Default for EffectorConfig {
    fn default() -> Self {
        Self {
            joint: String::new(),
            goal: GoalWord::Position,
            axis: [0.0, 0.0, 1.0],
            target: None,
            keys: Vec::new(),
            follow: String::new(),
            csv: String::new(),
            weight: 1.0,
            hard: false,
            chain: 0,
            from_s: -1.0,
            until_s: -1.0,
            blend_s: 0.2,
        }
    }
}

impl EffectorConfig {
    /// The errors that can be found without a rig.
    pub(super) fn faults(&self) -> Vec<StageError> {
        let mut faults = KeyFaults::default();
        let mut need = |good: bool, text: String| faults.need(good, "effectors", text);
        let joint = &self.joint;
        need(
            !joint.is_empty(),
            "an effector has no `joint`\n  hint: name one: `joint = \"left_hand\"`".into(),
        );
        let weight = self.weight.is_finite() && self.weight > 0.0;
        need(weight, format!("`weight` of effector `{joint}` is {}, allowed is above 0", self.weight));
        let blend = self.blend_s.is_finite() && self.blend_s >= 0.0;
        need(blend, format!("`blend_s` of effector `{joint}` is {}, allowed is 0 and more", self.blend_s));
        for (key, time) in [("from_s", self.from_s), ("until_s", self.until_s)] {
            need(
                time.is_finite(),
                format!("`{key}` of effector `{joint}` is {time}, allowed is a finite number"),
            );
        }
        let lasts = self.from_s < 0.0 || self.until_s < 0.0 || self.from_s < self.until_s;
        need(
            lasts,
            format!(
                "`until_s` of effector `{joint}` is {}, not after `from_s` {}",
                self.until_s, self.from_s
            ),
        );
        let sources = [!self.keys.is_empty(), !self.follow.is_empty(), !self.csv.is_empty()];
        let given = sources.iter().filter(|s| **s).count();
        let holds = self.goal == GoalWord::Hold;
        let place = self.target.is_some() && !holds && self.follow.is_empty();
        need(
            given + usize::from(place) == usize::from(!holds),
            format!(
                "effector `{joint}` needs exactly one of `target`, `keys`, `follow` and `csv`; the goal `hold` takes `target` only"
            ),
        );
        let finite = self.target.iter().flatten().chain(self.keys.iter().flatten()).all(|x| x.is_finite());
        need(finite, format!("a target of effector `{joint}` is not finite"));
        let looks = self.axis.iter().all(|x| x.is_finite()) && Vec3::from(self.axis).norm() > 1e-6;
        need(looks, format!("the `axis` of effector `{joint}` has no direction"));
        let ascending = self.keys.is_sorted_by(|a, b| a[0] < b[0]);
        need(ascending, format!("the keys of effector `{joint}` do not ascend in time"));
        faults.0
    }

    /// Errors in its names and its file, each with the name. Roles that the rig lacks are no error: a joint map may assign
    /// them, which is known only when a take has been read.
    pub(super) fn foresee(&self, character: &Character, folder: &Path) -> Vec<(String, StageError)> {
        let names = [&self.joint, &self.follow].into_iter().filter(|word| !word.is_empty());
        let unknown = names.filter(|word| word.parse::<Role>().is_err()).filter_map(|word| {
            let error = find(character, word).err()?;
            Some((word.clone(), error))
        });
        let table = folder.join(&self.csv);
        let bad = if table.is_file() { read_targets(&table).err() } else { None };
        unknown.chain(bad.map(|error| (self.csv.clone(), error))).collect()
    }
}

/// Factor on the weight of a hard effector.
const HARD: f64 = 100.0;

/// The joint of a role or a name.
fn find(character: &Character, word: &str) -> Result<JointId, StageError> {
    let skeleton = character.skeleton();
    let by_role = word.parse::<Role>().ok().and_then(|r| character.rig.joint(r));
    by_role.or_else(|| skeleton.find(word)).ok_or_else(|| {
        let names = character.rig.assignments().map(|(r, _)| r.to_string());
        let names = names.chain(skeleton.joints().iter().map(|j| j.name.clone()));
        let near =
            names.max_by(|a, b| strsim::jaro_winkler(a, word).total_cmp(&strsim::jaro_winkler(b, word)));
        let hint = near.map(|n| format!("\n  hint: the nearest name is `{n}`")).unwrap_or_default();
        StageError::key(
            "effectors",
            format!("`{word}` is neither a role nor a joint of `{}`{hint}", character.name),
        )
    })
}

/// Reads the target positions of a CSV file, one per line: time, x, y, z. A header line is skipped.
pub(crate) fn read_targets(path: &Path) -> Result<Vec<[f64; 4]>, StageError> {
    let fault = |text: String| StageError::key("effectors", format!("`{}`: {text}", path.shown()));
    let text = read_text(path).map_err(|e| fault(e.to_string()))?;
    let mut keys: Vec<[f64; 4]> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    for (number, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let cells: Vec<Option<f64>> = line.split(',').map(|c| c.trim().parse().ok()).collect();
        match cells.as_slice() {
            [Some(t), Some(x), Some(y), Some(z)] if [t, x, y, z].iter().all(|v| v.is_finite()) => {
                if keys.last().is_some_and(|k| k[0] >= *t) {
                    return Err(fault(format!("line {}: the time does not ascend", number + 1)));
                }
                keys.push([*t, *x, *y, *z]);
            }
            words if number == 0 && words.iter().all(Option::is_none) => {}
            _ => {
                return Err(fault(format!(
                    "line {}: `{}` is not four finite numbers: time, x, y, z",
                    number + 1,
                    shortened(line)
                )));
            }
        }
    }
    if keys.is_empty() { Err(fault("it has no line of numbers".into())) } else { Ok(keys) }
}

/// The source of a target.
#[derive(Clone, Debug)]
enum TargetSource {
    Constant,
    Keys(Vec<(f64, [f64; 3])>),
    Joint(JointId),
}

/// Pairs of time and position, with `rotation` applied to the positions.
fn timed(rows: &[[f64; 4]], rotation: &Quat) -> Vec<(f64, [f64; 3])> {
    rows.iter().map(|&[time, x, y, z]| (time, (rotation * Vec3::new(x, y, z)).into())).collect()
}

/// A resolved effector.
#[derive(Clone, Debug)]
pub(super) struct ResolvedEffector {
    /// The joint.
    pub joint: JointId,
    source: TargetSource,
    offset: Vec3,
    /// For `aim`: the direction that points at the target, in joint space.
    axis: Vec3,
    /// The keys as written.
    pub config: EffectorConfig,
}

impl ResolvedEffector {
    /// Resolves the names of an effector on the character that will arrive, and reads its file.
    pub fn resolve(config: &EffectorConfig, setting: &Setting) -> Result<Self, StageError> {
        let character = &setting.arriving;
        let joint = find(character, &config.joint)?;
        // A character in a VRM 0 file faces -Z, in model space +Z; targets are given in the world space of the file.
        let model_from_file = character.document.as_ref().map_or_else(Quat::identity, |d| d.model_from_file);
        let source = if !config.follow.is_empty() {
            TargetSource::Joint(find(character, &config.follow)?)
        } else if !config.csv.is_empty() {
            TargetSource::Keys(timed(&read_targets(&setting.folder.join(&config.csv))?, &model_from_file))
        } else if !config.keys.is_empty() {
            TargetSource::Keys(timed(&config.keys, &model_from_file))
        } else if config.goal == GoalWord::Hold {
            TargetSource::Joint(joint)
        } else {
            TargetSource::Constant
        };
        let offset = model_from_file * Vec3::from(config.target.unwrap_or_default());
        let rest = character.reference_pose();
        let axis = rest.joint(joint).rotation.inverse() * Vec3::from(config.axis).normalize();
        Ok(Self { joint, source, offset, axis, config: config.clone() })
    }

    /// The target at a time; `model` is the pose that arrives.
    pub fn target(&self, time: f64, model: &ModelPose) -> Vec3 {
        match &self.source {
            TargetSource::Constant => self.offset,
            TargetSource::Joint(id) => model.position(*id) + self.offset,
            TargetSource::Keys(keys) => monotone(keys, time).map_or(self.offset, Vec3::from),
        }
    }

    /// Blend weight at a time, 0 to 1, with smooth ends.
    pub fn share(&self, time: f64) -> f64 {
        let ramp = |inside: f64| {
            let t = if self.config.blend_s > 0.0 { inside / self.config.blend_s } else { inside.signum() };
            smoothstep(t)
        };
        let into = if self.config.from_s < 0.0 { 1.0 } else { ramp(time - self.config.from_s + 1e-9) };
        let out = if self.config.until_s < 0.0 { 1.0 } else { ramp(self.config.until_s - time + 1e-9) };
        into * out
    }

    /// The IK tasks at a time. As the effector blends in, the target moves from the joint's original position to the goal.
    pub fn tasks(&self, time: f64, model: &ModelPose) -> Vec<Task> {
        let share = self.share(time);
        let weight = self.config.weight * if self.config.hard { HARD } else { 1.0 };
        let hard = |task: Task| if self.config.hard { task.pinned() } else { task };
        let here = model.joint(self.joint);
        let target = self.target(time, model);
        let blended = here.translation.lerp(&target, share);
        match self.config.goal {
            GoalWord::Position => vec![hard(Task::position(self.joint, blended).weigh(weight))],
            GoalWord::Hold => vec![
                hard(Task::position(self.joint, blended).weigh(weight)),
                Task::orientation(self.joint, here.rotation).weigh(0.1 * weight),
            ],
            GoalWord::Aim => {
                let ahead = here.translation + here.vector(&self.axis) * (target - here.translation).norm();
                let goal = Goal::Aim {
                    joint: self.joint,
                    point: Vec3::zeros(),
                    axis: self.axis,
                    target: ahead.lerp(&target, share),
                };
                vec![Task::new(goal).weigh(0.1 * weight)]
            }
        }
    }
}
