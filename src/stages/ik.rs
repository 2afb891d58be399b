//! Stage `ik`: effectors reach their targets, frame by frame, and the rest of the body helps.

use super::limits::{body, follow};
use super::{Setting, Stage, StageConfig, StageError};
use crate::ik::{Boxed, Ccd, Fabrik, Goal, Jacobian, Mechanism, Method, Outcome, Reach, Solver, Stop};
use crate::ik::{Freedom, Task, TreeSolver, TwoBone};
use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Motion, Pose, Role};
use crate::render::{Mark, MarkKind};
use crate::report::Report;
use crate::retarget::calibration_pose;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Moves joints so that effectors reach their targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IkConfig {
    /// How the pose is found: `tree` moves the whole body at once and is the fastest; the others are the classics.
    pub solver: SolverWord,
    /// The most steps a frame.
    pub iterations: usize,
    /// When a position counts as reached, in metres.
    pub tolerance_m: f64,
    /// How strongly joints are held to the pose they came with (solver `tree` only): more keeps the performance, less
    /// reaches nearer.
    pub posture: f64,
    /// Whether joints keep the published ranges of motion.
    pub limits: bool,
    /// The effectors; joints that none of them moves stay as they are.
    pub effectors: Vec<EffectorConfig>,
}

/// One effector: a joint and where it shall be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EffectorConfig {
    /// A role, such as `left_hand`, or the name of a joint.
    pub joint: String,
    /// What is reached: `position`, `aim` (the joint looks at the target), or `hold` (the joint keeps the place and the
    /// orientation it came with).
    pub goal: GoalWord,
    /// Of `aim`: which way the joint looks, in the axes of the character at rest: +Z is ahead, +Y up, +X to its left.
    pub axis: [f64; 3],
    /// The target: a point in metres, `[x, y, z]`. With `follow` or `hold` it is an offset in metres.
    pub target: Option<[f64; 3]>,
    /// Keys `[time in seconds, x, y, z]`, ascending: the target moves along straight lines between them.
    pub keys: Vec<[f64; 4]>,
    /// A role or a joint that the target is taken from, as it moves before this stage.
    pub follow: String,
    /// A CSV file with the columns time, x, y, z (seconds and metres), relative to the pipeline file.
    pub csv: String,
    /// How much it matters against other effectors.
    pub weight: f64,
    /// Hard effectors count a hundred times as much, so that soft ones give way.
    pub hard: bool,
    /// How many joints above the effector move; 0 for all up to the root.
    pub chain: usize,
    /// From when on it acts, in seconds, negative for the whole clip.
    pub from_s: f64,
    /// Until when it acts, in seconds, negative for the whole clip.
    pub until_s: f64,
    /// How long it takes to blend in and out at the two ends, in seconds.
    pub blend_s: f64,
}

/// The solvers by word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SolverWord {
    /// The whole-body solver.
    #[default]
    Tree,
    /// The closed form for limbs of two bones.
    TwoBone,
    /// Cyclic coordinate descent.
    Ccd,
    /// Forward and backward reaching.
    Fabrik,
    /// Jacobian transpose.
    Transpose,
    /// Pseudoinverse.
    Pseudoinverse,
    /// Damped least squares.
    Damped,
    /// Selectively damped least squares.
    SelectivelyDamped,
    /// Levenberg-Marquardt after Sugihara.
    Sugihara,
    /// Optimisation with bounds.
    Boxed,
}

/// What an effector does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoalWord {
    /// The joint is at the target.
    #[default]
    Position,
    /// The joint looks at the target.
    Aim,
    /// The joint keeps its place and its orientation, moved by the target as an offset.
    Hold,
}

impl Default for IkConfig {
    fn default() -> Self {
        Self {
            solver: SolverWord::Tree,
            iterations: 20,
            tolerance_m: 1e-3,
            posture: 1e-5,
            limits: false,
            effectors: Vec::new(),
        }
    }
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

/// How much more a hard effector counts.
const HARD: f64 = 100.0;

impl StageConfig for IkConfig {
    const NAME: &'static str = "ik";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        let mut need = |good: bool, key: &'static str, text: String| {
            if !good {
                faults.push(StageError::key(key, text));
            }
        };
        let above = |x: f64| x.is_finite() && x > 0.0;
        need(self.iterations > 0, "iterations", "`iterations` is 0, allowed is 1 and more".into());
        need(
            above(self.tolerance_m),
            "tolerance_m",
            format!("`tolerance_m` is {}, allowed is above 0", self.tolerance_m),
        );
        let posture = self.posture.is_finite() && self.posture >= 0.0;
        need(posture, "posture", format!("`posture` is {}, allowed is 0 and more", self.posture));
        for e in &self.effectors {
            need(!e.joint.is_empty(), "effectors", "an effector names no `joint`".into());
            need(above(e.weight), "effectors", format!("`weight` is {}, allowed is above 0", e.weight));
            let blend = e.blend_s.is_finite() && e.blend_s >= 0.0;
            need(blend, "effectors", format!("`blend_s` is {}, allowed is 0 and more", e.blend_s));
            let sources = [!e.keys.is_empty(), !e.follow.is_empty(), !e.csv.is_empty()];
            let given = sources.iter().filter(|s| **s).count();
            let offset = e.goal == GoalWord::Hold || !e.follow.is_empty();
            let one =
                given + usize::from(e.target.is_some() && !offset) == usize::from(e.goal != GoalWord::Hold);
            let text = format!(
                "effector `{}` needs exactly one of `target`, `keys`, `follow` and `csv`, or the goal `hold` without",
                e.joint
            );
            need(one, "effectors", text);
            let finite = e.target.iter().flatten().chain(e.keys.iter().flatten()).all(|x| x.is_finite());
            need(finite, "effectors", format!("a target of effector `{}` is not finite", e.joint));
            let looks = e.axis.iter().all(|x| x.is_finite()) && Vec3::from(e.axis).norm() > 1e-6;
            need(looks, "effectors", format!("the `axis` of effector `{}` has no direction", e.joint));
            let ascending = e.keys.is_sorted_by(|a, b| a[0] < b[0]);
            need(ascending, "effectors", format!("the keys of effector `{}` do not ascend in time", e.joint));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn files(&self) -> Vec<PathBuf> {
        self.effectors.iter().filter(|e| !e.csv.is_empty()).map(|e| PathBuf::from(&e.csv)).collect()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &setting.arriving;
        let rest = calibration_pose(character);
        let mut effectors = Vec::new();
        for config in &self.effectors {
            let joint = find(character, &config.joint)?;
            let source = if !config.follow.is_empty() {
                Source::Joint(find(character, &config.follow)?)
            } else if !config.csv.is_empty() {
                Source::Keys(read_csv(&setting.folder.join(&config.csv))?)
            } else if !config.keys.is_empty() {
                Source::Keys(config.keys.clone())
            } else if config.goal == GoalWord::Hold {
                Source::Joint(joint)
            } else {
                Source::Constant
            };
            let offset = Vec3::from(config.target.unwrap_or_default());
            let axis = rest.joint(joint).rotation.inverse() * Vec3::from(config.axis).normalize();
            effectors.push(Aimed { joint, source, offset, axis, config: config.clone() });
        }
        let mechanism = if self.limits { body(character) } else { Mechanism::floating(character.skeleton()) };
        let mechanism = shorten(mechanism, &effectors);
        Ok(Box::new(IkStage { mechanism, effectors, config: self.clone() }))
    }
}

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

/// The keys of a CSV file: time, x, y, z a line; a first line of words is skipped.
fn read_csv(path: &std::path::Path) -> Result<Vec<[f64; 4]>, StageError> {
    let fault = |text: String| StageError::key("effectors", format!("`{}`: {text}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| fault(e.to_string()))?;
    let mut keys: Vec<[f64; 4]> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let cells: Vec<Option<f64>> = line.split(',').map(|c| c.trim().parse().ok()).collect();
        match cells.as_slice() {
            [Some(t), Some(x), Some(y), Some(z)] if [t, x, y, z].iter().all(|v| v.is_finite()) => {
                if keys.last().is_some_and(|k| k[0] >= *t) {
                    return Err(fault(format!("line {}: the time does not ascend", number + 1)));
                }
                keys.push([*t, *x, *y, *z]);
            }
            _ if number == 0 => {}
            _ => return Err(fault(format!("line {}: expected four numbers: time, x, y, z", number + 1))),
        }
    }
    if keys.is_empty() { Err(fault("it has no line of numbers".into())) } else { Ok(keys) }
}

/// The mechanism in which joints beyond every effector's chain are fixed.
fn shorten(mechanism: Mechanism, effectors: &[Aimed]) -> Mechanism {
    if effectors.iter().any(|e| e.config.chain == 0) {
        return mechanism;
    }
    let skeleton = mechanism.skeleton().clone();
    let moves = |e: &Aimed| skeleton.path_to_root(e.joint).take(e.config.chain + 1).collect::<Vec<_>>();
    let moving: Vec<JointId> = effectors.iter().flat_map(moves).collect();
    let still = skeleton.ids().filter(|id| !moving.contains(id));
    still.fold(mechanism, |m, id| m.with_freedom(id, Freedom::Fixed))
}

/// Where a target comes from.
#[derive(Clone, Debug)]
enum Source {
    Constant,
    Keys(Vec<[f64; 4]>),
    Joint(JointId),
}

/// An effector with its joint found.
#[derive(Clone, Debug)]
struct Aimed {
    joint: JointId,
    source: Source,
    offset: Vec3,
    /// Of aims: the way it looks, in joint space.
    axis: Vec3,
    config: EffectorConfig,
}

impl Aimed {
    /// The target at a time, for the pose that arrived.
    fn target(&self, time: f64, model: &ModelPose) -> Vec3 {
        match &self.source {
            Source::Constant => self.offset,
            Source::Joint(id) => model.position(*id) + self.offset,
            Source::Keys(keys) => {
                let place = |k: &[f64; 4]| Vec3::new(k[1], k[2], k[3]);
                let after = keys.partition_point(|k| k[0] <= time);
                match (after.checked_sub(1).map(|i| &keys[i]), keys.get(after)) {
                    (Some(a), Some(b)) => place(a).lerp(&place(b), (time - a[0]) / (b[0] - a[0])),
                    (Some(only), None) | (None, Some(only)) => place(only),
                    (None, None) => self.offset,
                }
            }
        }
    }

    /// How much it acts at a time, 0 to 1, with smooth ends.
    fn share(&self, time: f64) -> f64 {
        let ramp = |inside: f64| {
            let x = if self.config.blend_s > 0.0 { inside / self.config.blend_s } else { inside.signum() };
            let x = x.clamp(0.0, 1.0);
            x * x * (3.0 - 2.0 * x)
        };
        let into = if self.config.from_s < 0.0 { 1.0 } else { ramp(time - self.config.from_s + 1e-9) };
        let out = if self.config.until_s < 0.0 { 1.0 } else { ramp(self.config.until_s - time + 1e-9) };
        into * out
    }

    /// The tasks at a time: the target moves from where the effector arrived to where it shall be as it blends in.
    fn tasks(&self, time: f64, model: &ModelPose) -> Vec<Task> {
        let share = self.share(time);
        let weight = self.config.weight * if self.config.hard { HARD } else { 1.0 };
        let here = model.joint(self.joint);
        let target = self.target(time, model);
        let blended = here.translation.lerp(&target, share);
        match self.config.goal {
            GoalWord::Position => vec![Task::position(self.joint, blended).weigh(weight)],
            GoalWord::Hold => vec![
                Task::position(self.joint, blended).weigh(weight),
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

/// The stage, ready.
#[derive(Debug)]
struct IkStage {
    mechanism: Mechanism,
    effectors: Vec<Aimed>,
    config: IkConfig,
}

impl IkStage {
    fn solver(&self) -> Box<dyn Solver + Sync> {
        let classic = |method| Box::new(Jacobian::new(method)) as Box<dyn Solver + Sync>;
        match self.config.solver {
            SolverWord::Tree => Box::new(TreeSolver { damping: 1e-6, posture: self.config.posture }),
            SolverWord::TwoBone => Box::new(TwoBone::default()),
            SolverWord::Ccd => Box::new(Ccd::default()),
            SolverWord::Fabrik => Box::new(Fabrik),
            SolverWord::Transpose => classic(Method::Transpose),
            SolverWord::Pseudoinverse => classic(Method::Pseudoinverse),
            SolverWord::Damped => classic(Method::Damped { damping: 0.02 }),
            SolverWord::SelectivelyDamped => classic(Method::SelectivelyDamped),
            SolverWord::Sugihara => classic(Method::Sugihara { bias: 1e-5 }),
            SolverWord::Boxed => Box::new(Boxed::default()),
        }
    }

    fn solve(&self, poses: &mut [Pose], tasks: &[Vec<Task>]) -> Vec<Outcome> {
        let stop =
            Stop { position: self.config.tolerance_m, angle: 1e-2, iterations: self.config.iterations };
        if self.config.solver == SolverWord::Tree {
            let solver = TreeSolver { damping: 1e-6, posture: self.config.posture };
            return solver.solve_frames(&self.mechanism, poses, |frame| tasks[frame].clone(), &stop);
        }
        let solver = self.solver();
        let one = |(pose, tasks): (&mut Pose, &Vec<Task>)| solver.solve(&self.mechanism, tasks, pose, &stop);
        poses.par_iter_mut().zip(tasks).map(one).collect()
    }
}

impl Stage for IkStage {
    fn marks(&self, arriving: &Motion) -> Vec<Mark> {
        let (clip, skeleton) = (&arriving.clip, self.mechanism.skeleton());
        let mut model = skeleton.rest_model_pose();
        let mut marks = Vec::new();
        for frame in 0..clip.frames() {
            model.set(skeleton, &clip.pose(skeleton, frame));
            let from = clip.time(frame);
            let (since, to) = (from - clip.start, from + 1.0 / clip.sample_rate);
            let shown = self.effectors.iter().filter(|e| e.config.goal != GoalWord::Hold);
            let acting = shown.filter(|e| e.share(since) > 0.0);
            marks.extend(acting.map(|e| {
                let at = e.target(since, &model);
                Mark { kind: MarkKind::Target, at, from, to }
            }));
        }
        marks
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        if self.effectors.is_empty() || motion.clip.frames() == 0 {
            return Ok(motion);
        }
        let skeleton = self.mechanism.skeleton();
        let clip = &motion.clip;
        let mut poses: Vec<Pose> = (0..clip.frames()).map(|f| clip.pose(skeleton, f)).collect();
        let mut tasks = Vec::with_capacity(poses.len());
        let mut model = skeleton.rest_model_pose();
        for (frame, pose) in poses.iter().enumerate() {
            model.set(skeleton, pose);
            let time = clip.time(frame) - clip.start;
            tasks.push(self.effectors.iter().flat_map(|e| e.tasks(time, &model)).collect::<Vec<_>>());
        }
        let outcomes = self.solve(&mut poses, &tasks);
        self.tell(&outcomes, report);
        let mut made = crate::model::Clip::from_poses(clip.name.clone(), clip.sample_rate, skeleton, &poses);
        made.start = clip.start;
        let mut motion = Motion { clip: made, ..motion };
        follow(&mut motion);
        Ok(motion)
    }
}

impl IkStage {
    /// Measures every effector over all frames.
    fn tell(&self, outcomes: &[Outcome], report: &mut Report) {
        let frames = outcomes.len() as f64;
        let mut first = 0;
        for effector in &self.effectors {
            let name = &effector.config.joint;
            let (unit, count) = match effector.config.goal {
                GoalWord::Position => ("m", 1),
                GoalWord::Hold => ("m", 2),
                GoalWord::Aim => ("rad", 1),
            };
            let all =
                |o: &Outcome| o.effectors[first..first + count].iter().all(|e| e.reach == Reach::Reached);
            let residuals = || outcomes.iter().map(|o| o.effectors[first].residual);
            let reached = outcomes.iter().filter(|o| all(o)).count() as f64 / frames;
            report.measure(format!("ik_reached_{name}"), reached, "1");
            report.measure(format!("ik_mean_residual_{name}"), residuals().sum::<f64>() / frames, unit);
            report.measure(format!("ik_max_residual_{name}"), residuals().fold(0.0, f64::max), unit);
            first += count;
        }
        let mean =
            |value: fn(&Outcome) -> usize| outcomes.iter().map(|o| value(o) as f64).sum::<f64>() / frames;
        report.measure("ik_mean_iterations", mean(|o| o.iterations), "1");
        report.measure("ik_mean_limited_joints", mean(|o| o.limited), "joints");
    }
}
