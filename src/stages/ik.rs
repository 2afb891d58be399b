//! Stage `ik`: moves effectors to their targets, frame by frame, with the whole body if needed.

use super::effector::{EffectorConfig, GoalWord, ResolvedEffector};
use super::limits::humanoid;
use super::reach::{EffectorChains, EffectorTasks, Passes};
use super::stage::{KeyFaults, idle};
use super::{Setting, Stage, StageConfig, StageError};
use crate::body::{COMMON_HEIGHT, CharacterBody};
use crate::ik::{Boxed, Ccd, Fabrik, Jacobian, Mechanism, Method, Outcome, Reach, Solver, Stop};
use crate::ik::{Freedom, Task, TreeSolver, TwoBone};
use crate::math::DEGREE;
use crate::measure::metric;
use crate::model::{Character, JointId, Mark, MarkKind, Motion, Pose};
use crate::parallel;
use crate::report::Report;
use crate::signal::with_poses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Moves joints so that effectors reach their targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IkConfig {
    /// Solver: `tree` solves the whole body at once and is the fastest; the others are classic solvers.
    pub solver: SolverName,
    /// Maximum number of iterations per frame; solver `tree` applies it to each of its passes: body, shoulders, arms.
    #[schemars(range(min = 1))]
    pub iterations: usize,
    /// Distance in metres within which a position counts as reached.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tolerance_m: f64,
    /// Weight that holds joints to their original pose (solver `tree` only): larger values keep the performance, smaller
    /// values come closer to the targets.
    #[schemars(range(min = 0))]
    pub posture: f64,
    /// Whether joints stay within the published ranges of motion.
    pub limits: bool,
    /// Whether each frame starts from the solution of the previous frame instead of its original pose (solver `tree` only):
    /// for targets far away.
    pub warm_start: bool,
    /// The effectors. Joints that no effector moves are not changed.
    pub effectors: Vec<EffectorConfig>,
}

/// The solvers by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SolverName {
    /// The whole-body solver.
    #[default]
    Tree,
    /// Closed-form two-bone IK.
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

impl Default for IkConfig {
    fn default() -> Self {
        Self {
            solver: SolverName::Tree,
            iterations: 20,
            tolerance_m: 1e-3,
            posture: 1e-5,
            limits: false,
            warm_start: false,
            effectors: Vec::new(),
        }
    }
}

impl StageConfig for IkConfig {
    const NAME: &'static str = "ik";

    /// Limbs and the trunk go to their targets, feet with a hold keep their place.
    fn meaningless(&self) -> &'static [&'static str] {
        &[
            "foot_orientation_p95",
            "sole_tilt_p50",
            "hand_orientation_p95",
            "limit_violation_added",
            "jerk_ratio",
            "turn_ratio",
            "head_orientation_p95",
            "elbow_pop",
            "knee_pop",
            "self_contact_lost",
            "limb_error_p95",
            "knee_error_max",
            "straight_leg_bend_p90",
            "clearance_error_p95",
            "knee_jerk_ratio",
            "foot_jerk_ratio",
            "trunk_error",
            "loop_seam",
        ]
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults::default();
        faults.need(self.iterations > 0, "iterations", "`iterations` is 0, allowed is 1 and more");
        faults.above_0("tolerance_m", self.tolerance_m);
        let posture = self.posture.is_finite() && self.posture >= 0.0;
        faults.need(posture, "posture", format!("`posture` is {}, allowed is 0 and more", self.posture));
        faults.0.extend(self.effectors.iter().flat_map(EffectorConfig::faults));
        faults.found()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.effectors.iter().filter(|e| !e.csv.is_empty()).map(|e| PathBuf::from(&e.csv)).collect()
    }

    fn foresee(&self, character: &Character, folder: &Path) -> Vec<(String, StageError)> {
        self.effectors.iter().flat_map(|e| e.foresee(character, folder)).collect()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &setting.arriving;
        let find = |e: &EffectorConfig| ResolvedEffector::resolve(e, setting);
        let effectors = self.effectors.iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let mechanism =
            if self.limits { humanoid(character) } else { Mechanism::floating(character.skeleton()) };
        let mechanism = shorten(mechanism, &effectors);
        let chains = EffectorChains::new(character, &mechanism, &effectors);
        let scale = COMMON_HEIGHT / CharacterBody::new(character).height();
        Ok(Box::new(IkStage { mechanism, effectors, chains, scale, config: self.clone() }))
    }
}

/// The mechanism with all joints fixed that are in no effector's chain.
fn shorten(mechanism: Mechanism, effectors: &[ResolvedEffector]) -> Mechanism {
    if effectors.iter().any(|e| e.config.chain == 0) {
        return mechanism;
    }
    let skeleton = mechanism.skeleton().clone();
    let moves =
        |e: &ResolvedEffector| skeleton.path_to_root(e.joint).take(e.config.chain + 1).collect::<Vec<_>>();
    let moving: Vec<JointId> = effectors.iter().flat_map(moves).collect();
    let still = skeleton.ids().filter(|id| !moving.contains(id));
    still.fold(mechanism, |m, id| m.with_freedom(id, Freedom::Fixed))
}

/// Tolerance of angles, radians.
const ANGLE: f64 = 1e-2;

/// The whole-body solver iterates to this share of the tolerances. Frames that stop anywhere within the full tolerance do not
/// form a smooth trajectory.
const EXACT: f64 = 1e-2;

/// The resolved stage.
#[derive(Debug)]
struct IkStage {
    mechanism: Mechanism,
    effectors: Vec<ResolvedEffector>,
    chains: EffectorChains,
    /// From the character's lengths to those of a figure of 1.75 m.
    scale: f64,
    config: IkConfig,
}

/// A target that is missed by more than this many tolerances is reported: less is not visible.
const MISSED: f64 = 10.0;
/// A target that is missed by more than this counts against the result: metres of a figure of 1.75 m, as much as the width of a hand
/// shows, and radians, 10 degrees, as far as limbs may differ from the take's.
const FAR_OFF: [f64; 2] = [0.05, 10.0 * DEGREE];

impl IkStage {
    fn tree(&self) -> TreeSolver {
        TreeSolver { damping: 1e-6, posture: self.config.posture }
    }

    fn solver(&self) -> Box<dyn Solver + Sync> {
        let classic = |method| Box::new(Jacobian::new(method)) as Box<dyn Solver + Sync>;
        match self.config.solver {
            SolverName::Tree => Box::new(self.tree()),
            SolverName::TwoBone => Box::new(TwoBone::default()),
            SolverName::Ccd => Box::new(Ccd::default()),
            SolverName::Fabrik => Box::new(Fabrik),
            SolverName::Transpose => classic(Method::Transpose),
            SolverName::Pseudoinverse => classic(Method::Pseudoinverse),
            SolverName::Damped => classic(Method::Damped { damping: 0.02 }),
            SolverName::SelectivelyDamped => classic(Method::SelectivelyDamped),
            SolverName::Sugihara => classic(Method::Sugihara { bias: 1e-5 }),
            SolverName::Boxed => Box::new(Boxed::default()),
        }
    }

    fn solve(&self, poses: &mut [Pose], asked: &[Vec<EffectorTasks>]) -> Vec<Outcome> {
        let stop =
            Stop { position: self.config.tolerance_m, angle: ANGLE, iterations: self.config.iterations };
        if self.config.solver == SolverName::Tree {
            let exact = Stop { position: EXACT * stop.position, angle: EXACT * stop.angle, ..stop };
            let passes = Passes { solver: self.tree(), warm: self.config.warm_start, stop: exact };
            let steps = self.chains.solve(&passes, poses, asked);
            let judge = |f: usize| Outcome::of(&self.mechanism, &all(&asked[f]), &poses[f], &stop, steps[f]);
            return parallel::map(poses.len(), 1, judge);
        }
        let solver = self.solver();
        parallel::map_mut(poses, 1, |f, pose| {
            self.chains.unlock(pose, &asked[f]);
            solver.solve(&self.mechanism, &self.at_common_size(all(&asked[f])), pose, &stop)
        })
    }
}

impl IkStage {
    /// The tasks with lengths that count as they would on a figure of 1.75 m: damping and the longest step of the classic solvers
    /// are for that size.
    fn at_common_size(&self, mut tasks: Vec<Task>) -> Vec<Task> {
        let lengths = tasks.iter_mut().filter(|task| !task.is_angular());
        lengths.for_each(|task| task.weight *= self.scale * self.scale);
        tasks
    }
}

/// All tasks of a frame.
fn all(asked: &[EffectorTasks]) -> Vec<Task> {
    asked.iter().flat_map(|a| a.tasks.iter().cloned()).collect()
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
        if self.effectors.is_empty() {
            let example = "effectors = [{ joint = \"left_hand\", target = [0.3, 1.2, 0.2] }]";
            let message =
                format!("`ik` has no `effectors` and changes nothing\n  hint: add one: `{example}`");
            idle(report, &motion, message);
        }
        if self.effectors.is_empty() || motion.clip.frames() == 0 {
            return Ok(motion);
        }
        let skeleton = self.mechanism.skeleton();
        let clip = &motion.clip;
        let mut poses = motion.poses();
        let mut model = skeleton.rest_model_pose();
        let mut asked = Vec::with_capacity(poses.len());
        for (frame, pose) in poses.iter().enumerate() {
            model.set(skeleton, pose);
            let time = clip.time(frame) - clip.start;
            let of_effector =
                |e: &ResolvedEffector| EffectorTasks { tasks: e.tasks(time, &model), share: e.share(time) };
            asked.push(self.effectors.iter().map(of_effector).collect::<Vec<_>>());
        }
        for (n, effector) in self.effectors.iter().enumerate() {
            if asked.iter().all(|of_frame| of_frame[n].share == 0.0) {
                let (joint, lasts) = (&effector.config.joint, clip.duration());
                let message = format!(
                    "effector `{joint}` acts in no frame: `from_s` and `until_s` leave none of the {lasts:.3} s of the clip"
                );
                idle(report, &motion, message);
            }
        }
        let outcomes = self.solve(&mut poses, &asked);
        self.report_residuals(&asked, &outcomes, report);
        Ok(with_poses(&motion, &poses))
    }
}

impl IkStage {
    /// Reports the residuals of every effector over all frames.
    fn report_residuals(&self, asked: &[Vec<EffectorTasks>], outcomes: &[Outcome], report: &mut Report) {
        let frames = outcomes.len() as f64;
        let mut far_off = vec![false; outcomes.len()];
        let mut first = 0;
        for (n, effector) in self.effectors.iter().enumerate() {
            let joint = &effector.config.joint;
            // A joint may have several effectors, such as a position and an aim.
            let name = match self.effectors[..n].iter().filter(|e| e.config.joint == *joint).count() {
                0 => joint.clone(),
                before => format!("{joint}_{}", before + 1),
            };
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
            let (tolerance, far) = match unit {
                "m" => (self.config.tolerance_m, FAR_OFF[0] / self.scale),
                _ => (ANGLE, FAR_OFF[1]),
            };
            for ((far_off, asked), by) in far_off.iter_mut().zip(asked).zip(residuals()) {
                *far_off |= asked[n].share >= 1.0 && by > far;
            }
            let acting = asked.iter().zip(residuals()).filter(|(asked, _)| asked[n].share >= 1.0);
            let missed: Vec<f64> = acting.map(|of| of.1).filter(|by| *by > MISSED * tolerance).collect();
            if !missed.is_empty() {
                let most = missed.iter().copied().fold(0.0, f64::max);
                let more = if effector.config.chain == 0 {
                    ""
                } else {
                    ", or raise `chain` so that more joints help"
                };
                let text = format!(
                    "`{name}` misses its target in {} of {} frames, by up to {most:.2} {unit}\n  hint: move the target nearer{more}",
                    missed.len(),
                    outcomes.len()
                );
                report.warnings.add("ik-target-missed", text, "ik");
            }
            first += count;
        }
        let missed = far_off.iter().filter(|off| **off).count() as f64 / frames;
        report.metrics.push(metric("ik_missed", missed));
        let mean =
            |value: fn(&Outcome) -> usize| outcomes.iter().map(|o| value(o) as f64).sum::<f64>() / frames;
        report.measure("ik_mean_iterations", mean(|o| o.iterations), "1");
        report.measure("ik_mean_limited_joints", mean(|o| o.limited), "joints");
    }
}
