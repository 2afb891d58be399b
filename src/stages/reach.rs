//! Whole-body solve of the stage `ik`: which joints move for each effector, how far, and the resulting poses.
//!
//! Each frame is solved in three passes, independently unless `warm_start` starts it from the previous frame. (1) Legs and everything but arms are solved together, with targets
//! brought within reach. (2) Trunk and clavicles move a shoulder towards a target that its arm cannot reach, by a share of
//! the arm's length, and by less if the target stays out of reach. (3) Arms are solved in closed form ([`Reaching`]); the
//! solver changes that only where limits or further effectors of the arm require it. So an arm that reaches its target
//! moves nothing but itself, an arm that does not reach it points at it, and every solution varies smoothly with its
//! target. Space: model space. Units: metres, radians.

use super::effector::{GoalWord, ResolvedEffector};
use crate::body::range_of_motion;
use crate::ik::{
    Freedom, Goal, Mechanism, Outcome, Reaching, Stop, SwingTwist, Task, TreeSolver, soft_reach,
};
use crate::math::{Vec3, nearest_point_on_segment};
use crate::model::{Character, JointId, ModelPose, Pose, Role, Side};
use crate::parallel;

/// How far the joints above a limb extend its reach, as a share of the limb's length. Half leaves more targets unreached;
/// with twice as much the body folds for targets at the feet.
const HELP: f64 = 0.35;
/// How far they move a shoulder whose target is out of reach anyway, as a share of the arm's length: a body does not lean
/// towards what it cannot reach.
const FAR: f64 = 0.15;

/// Weight of the goal of a shoulder relative to effectors of weight 1: effectors hardly move for it.
const SHOULDER: f64 = 0.1;
/// Posture weight while a shoulder is moved. Half moves the trunk wildly for shoulders that cannot reach their goal; twice
/// leaves a larger part of the displacement.
const SHOULDER_POSTURE: f64 = 2e-3;
/// How often the posture reference is renewed: each round reduces the remaining displacement to a fraction.
const SHOULDER_ROUNDS: usize = 2;

/// The share of a limb's length at the end of its range in which reach is softened: for a limb whose parent joints move
/// and make up for it, and for a limb alone, which misses its target by the softening.
const SOFT: [f64; 2] = [0.03, 0.01];

/// The same share in the last pass, for an arm whose parent joints move.
const LAST: f64 = 0.005;

/// Least bend of a knee or an elbow before the solve, radians. The bend direction of a joint straighter than twice this is
/// poorly defined and swings as the joint passes through straight, so it first bends in its anatomical direction.
const STRAIGHT: f64 = 0.12;

/// Directions in the middle of the range of arms and legs: outwards, up, ahead of the body.
const ARM_CENTRE: [f64; 3] = [0.8, -0.3, 0.5];
/// As [`ARM_CENTRE`], of legs.
const LEG_CENTRE: [f64; 3] = [0.1, -0.9, 0.4];

/// The joints that move for an effector, and how far it reaches.
#[derive(Clone, Debug)]
struct EffectorChain {
    /// The effector.
    joint: JointId,
    /// The joint at the start of the chain, and the length of the chain.
    base: JointId,
    length: f64,
    /// How much farther it reaches because its base moves.
    help: f64,
    /// Whether it is solved in the pass of arms.
    arm: bool,
    /// The two-bone limb that ends at it.
    limb: Option<Reaching>,
    /// The knees or elbows above it, with the directions in which they bend.
    bends: Vec<(JointId, SwingTwist)>,
}

/// Adds the iterations of an outcome to those of its frame.
fn count(steps: &mut [usize], frames: impl Iterator<Item = usize>, outcomes: &[Outcome]) {
    frames.zip(outcomes).for_each(|(f, o)| steps[f] += o.iterations);
}

/// The chains of all effectors and the mechanisms of the three passes.
#[derive(Clone, Debug)]
pub(super) struct EffectorChains {
    chains: Vec<EffectorChain>,
    /// Everything but arms, arms alone, and both.
    body: Mechanism,
    arms: Mechanism,
    whole: Mechanism,
}

/// The tasks of an effector in a frame.
#[derive(Clone, Debug)]
pub(super) struct EffectorTasks {
    pub tasks: Vec<Task>,
    /// Its blend weight, 0 to 1.
    pub share: f64,
}

impl EffectorChain {
    fn of(character: &Character, mechanism: &Mechanism, effector: &ResolvedEffector) -> Self {
        let (rig, skeleton) = (&character.rig, character.skeleton());
        let moves = |id: JointId| mechanism.freedom(id) != Freedom::Fixed;
        let limb = limb(character, effector.joint).filter(|limb| moves(limb.root));
        let path: Vec<JointId> = skeleton.path_to_root(effector.joint).collect();
        let upper = Side::BOTH.into_iter().filter_map(|s| rig.joint(Role::UpperArm(s)));
        let upper = upper.into_iter().find(|id| path.contains(id) && moves(*id));
        let hips = rig.joint(Role::Hips).filter(|id| path.contains(id) && moves(*id));
        let top = path.iter().copied().rfind(|id| moves(*id));
        let base = upper.or(limb.map(|l| l.root)).or(hips).or(top).unwrap_or(effector.joint);
        let rest = skeleton.rest_model_pose();
        let below = path.iter().take_while(|id| **id != base).count();
        let bones = path[..=below].windows(2).map(|p| (rest.position(p[0]) - rest.position(p[1])).norm());
        let length: f64 = bones.sum();
        let base_moves =
            path[below + 1..].iter().any(|id| moves(*id)) || mechanism.freedom(base) == Freedom::Free;
        let calibration = character.reference_pose();
        let bends = |id: &JointId| {
            let bends = matches!(rig.role(*id), Some(Role::LowerLeg(_) | Role::LowerArm(_)));
            let joint = || Some((*id, range_of_motion(rig, &calibration, *id)?.into()));
            (bends && moves(*id)).then(joint).flatten()
        };
        let bends = path[1..].iter().filter_map(bends).collect();
        let limb = limb.map(|limb| Reaching { soft: SOFT[usize::from(!base_moves)], ..limb });
        Self {
            joint: effector.joint,
            base,
            length,
            help: if base_moves { HELP * length } else { 0.0 },
            arm: upper.is_some(),
            limb,
            bends,
        }
    }

    /// Bends the knees and elbows that are nearly straight.
    fn unlock(&self, pose: &mut Pose, share: f64) {
        for (id, direction) in &self.bends {
            let local = &mut pose.local_mut()[id.index()].rotation;
            *local = direction.with_least_bend(local, STRAIGHT * share);
        }
    }

    /// A target brought within reach of the chain, whose base other effectors may displace by up to `shifts`.
    fn within(&self, model: &ModelPose, target: &Vec3, shifts: &[Vec3]) -> Vec3 {
        if self.length <= 0.0 {
            return *target;
        }
        let base = model.position(self.base);
        let nearest = |shift: &Vec3| nearest_point_on_segment(&[base, base + shift], target);
        let far = |base: &Vec3| (target - base).norm();
        let from = shifts.iter().map(nearest).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(base);
        let free = self.length.max((model.position(self.joint) - base).norm());
        let wanted = far(&from);
        from + (target - from) * (soft_reach(wanted, free, free + self.help) / wanted.max(1e-12))
    }
}

/// The arm or the leg that ends at a joint.
fn limb(character: &Character, end: JointId) -> Option<Reaching> {
    let (rig, skeleton) = (&character.rig, character.skeleton());
    let rest = character.reference_pose();
    let arm = |s: Side| (Role::UpperArm(s), Role::LowerArm(s), ARM_CENTRE, s);
    let leg = |s: Side| (Role::UpperLeg(s), Role::LowerLeg(s), LEG_CENTRE, s);
    let all = Side::BOTH.into_iter().flat_map(|s| [arm(s), leg(s)]);
    all.into_iter().find_map(|(upper, lower, [out, up, ahead], side)| {
        let (root, middle) = (rig.joint(upper)?, rig.joint(lower)?);
        let hangs = skeleton.is_ancestor(root, middle) && middle != end && skeleton.is_ancestor(middle, end);
        let centre = Vec3::new(out * side.sign(), up, ahead).normalize();
        let above = skeleton.parent(root).map_or(centre, |p| rest.joint(p).rotation.inverse() * centre);
        hangs.then_some(Reaching { root, middle, end, centre: above, soft: SOFT[0] })
    })
}

/// The target position of the first position task.
fn target_position(tasks: &[Task]) -> Option<Vec3> {
    tasks.iter().find_map(|t| match t.goal {
        Goal::Position { target, .. } => Some(target),
        _ => None,
    })
}

/// The tasks with another target position.
fn with_target(tasks: &[Task], position: Vec3) -> Vec<Task> {
    let mut tasks = tasks.to_vec();
    for task in &mut tasks {
        if let Goal::Position { target, .. } = &mut task.goal {
            *target = position;
        }
    }
    tasks
}

impl EffectorChains {
    /// The chains of these effectors on a mechanism.
    pub fn new(character: &Character, mechanism: &Mechanism, effectors: &[ResolvedEffector]) -> Self {
        let skeleton = character.skeleton();
        let chains: Vec<EffectorChain> =
            effectors.iter().map(|e| EffectorChain::of(character, mechanism, e)).collect();
        let fixed = |mechanism: &Mechanism, still: &dyn Fn(JointId) -> bool| {
            skeleton
                .ids()
                .filter(|id| still(*id))
                .fold(mechanism.clone(), |m, id| m.with_freedom(id, Freedom::Fixed))
        };
        let moves_arm =
            |id: JointId| chains.iter().any(|w| w.arm && (id == w.base || skeleton.is_ancestor(w.base, id)));
        // The pelvis stays if all effectors are arms or aims: otherwise feet would slide.
        let others = chains.iter().zip(effectors).any(|(w, e)| !w.arm && e.config.goal != GoalWord::Aim);
        let hips = character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
        let pelvis: Vec<JointId> = skeleton.path_to_root(hips).filter(|_| !others).collect();
        let body = fixed(mechanism, &|id| moves_arm(id) || pelvis.contains(&id));
        let arms = fixed(mechanism, &|id| !moves_arm(id));
        let whole = fixed(mechanism, &|id| pelvis.contains(&id));
        Self { chains, body, arms, whole }
    }

    /// Solves the tasks as well as possible; returns the number of iterations of each frame.
    pub fn solve(&self, passes: &Passes, poses: &mut [Pose], asked: &[Vec<EffectorTasks>]) -> Vec<usize> {
        let mut steps = vec![0; poses.len()];
        let mut bodies = vec![Vec::new(); poses.len()];
        if self.chains.iter().any(|w| !w.arm) {
            bodies = parallel::map_mut(poses, 1, |f, pose| self.start(pose, &asked[f]));
            count(&mut steps, 0.., &passes.run(&self.body, poses, &bodies));
        }
        let goals = parallel::map(poses.len(), 1, |f| (f, self.shoulder_goals(&poses[f], &asked[f])));
        let (frames, goals): (Vec<usize>, Vec<Vec<Task>>) =
            goals.into_iter().filter(|(_, g)| !g.is_empty()).unzip();
        let mut moved: Vec<Pose> = frames.iter().map(|f| poses[*f].clone()).collect();
        let again: Vec<Vec<Task>> = frames.iter().map(|f| bodies[*f].clone()).collect();
        let both: Vec<Vec<Task>> =
            again.iter().zip(goals).map(|(b, g)| [b.as_slice(), &g].concat()).collect();
        let frames = || frames.iter().copied();
        for _ in 0..SHOULDER_ROUNDS {
            count(&mut steps, frames(), &passes.for_shoulders().run(&self.body, &mut moved, &both));
        }
        if again.iter().any(|tasks| !tasks.is_empty()) {
            let alone = Passes { warm: false, ..*passes };
            count(&mut steps, frames(), &alone.run(&self.body, &mut moved, &again));
        }
        frames().zip(moved).for_each(|(f, pose)| poses[f] = pose);
        if self.chains.iter().any(|w| w.arm) {
            let reached = parallel::map_mut(poses, 1, |f, pose| self.reach(pose, &asked[f]));
            let (arms, all): (Vec<_>, Vec<_>) = reached.into_iter().unzip();
            count(&mut steps, 0.., &passes.run(&self.arms, poses, &arms));
            // The joints above the arm close the error that soft reach or the arm's limits leave.
            let all: Vec<_> = bodies.into_iter().zip(all).map(|(b, a)| [b, a].concat()).collect();
            count(&mut steps, 0.., &passes.run(&self.whole, poses, &all));
        }
        steps
    }

    /// Bends knees and elbows that are nearly straight, for solvers that start from the pose.
    pub fn unlock(&self, pose: &mut Pose, asked: &[EffectorTasks]) {
        let acting = self.chains.iter().zip(asked).filter(|(_, a)| a.share > 0.0);
        acting.for_each(|(w, a)| w.unlock(pose, a.share));
    }

    /// Sets the legs in closed form; returns the tasks of the body with their targets within reach.
    fn start(&self, pose: &mut Pose, asked: &[EffectorTasks]) -> Vec<Task> {
        let skeleton = self.body.skeleton();
        let mut model = ModelPose::of(skeleton, pose);
        let input = model.clone();
        let shift = |(n, chain): (usize, &EffectorChain)| {
            Some((n, target_position(&asked[n].tasks)? - input.position(chain.joint))).filter(|_| !chain.arm)
        };
        let shifts: Vec<(usize, Vec3)> = self.chains.iter().enumerate().filter_map(shift).collect();
        let mut all = Vec::new();
        for (n, chain) in self.chains.iter().enumerate().filter(|(_, w)| !w.arm) {
            let Some(target) = target_position(&asked[n].tasks) else {
                all.extend_from_slice(&asked[n].tasks);
                continue;
            };
            let others: Vec<Vec3> = shifts.iter().filter(|(o, _)| *o != n).map(|(_, s)| *s).collect();
            let target = match chain.limb.filter(|_| chain.help == 0.0) {
                Some(limb) => limb.reachable(&input, &target),
                None => chain.within(&input, &target, &others),
            };
            all.extend(with_target(&asked[n].tasks, target));
            if asked[n].share > 0.0 {
                let at = chain.limb.map(|limb| (limb, limb.reachable(&input, &target)));
                chain.unlock(pose, asked[n].share);
                if let Some((limb, at)) = at {
                    model.set(skeleton, pose);
                    limb.bend(skeleton, pose, &model, &at);
                }
            }
        }
        all
    }

    /// The goals of shoulders whose arms do not reach their targets.
    fn shoulder_goals(&self, pose: &Pose, asked: &[EffectorTasks]) -> Vec<Task> {
        let model = ModelPose::of(self.body.skeleton(), pose);
        let mut all = Vec::new();
        for (n, chain) in
            self.chains.iter().enumerate().filter(|(n, w)| w.arm && w.help > 0.0 && asked[*n].share > 0.0)
        {
            let (Some(limb), Some(target)) = (chain.limb, target_position(&asked[n].tasks)) else { continue };
            let beyond = limb.beyond(&model, &target);
            let far = beyond.norm();
            if far > 0.0 {
                let more = (far - chain.help).max(0.0);
                let go = if more > 0.0 {
                    let left = FAR * chain.length;
                    left + (chain.help - left) * libm::exp(-more / chain.help)
                } else {
                    far
                };
                // The weight fades in, so that a target barely out of reach does not outweigh other goals of the trunk.
                let weight = SHOULDER * go / (go + 0.1 * chain.help);
                let to = model.position(limb.root) + beyond * (go / far);
                all.push(Task::position(limb.root, to).weigh(weight));
            }
        }
        all
    }

    /// Sets the arms in closed form; returns the tasks of arms with their targets within soft reach, and within full
    /// reach.
    fn reach(&self, pose: &mut Pose, asked: &[EffectorTasks]) -> (Vec<Task>, Vec<Task>) {
        let skeleton = self.body.skeleton();
        let mut model = ModelPose::of(skeleton, pose);
        let (mut soft, mut all) = (Vec::new(), Vec::new());
        for (chain, asked) in self.chains.iter().zip(asked).filter(|(w, _)| w.arm) {
            let base = model.position(chain.base);
            let within = |target: &Vec3, free: f64| {
                let far = (target - base).norm();
                base + (target - base) * (soft_reach(far, free, chain.length) / far.max(1e-12))
            };
            let places = match (chain.limb, target_position(&asked.tasks)) {
                (Some(limb), Some(target)) if asked.share > 0.0 => {
                    let at = limb.reachable(&model, &target);
                    chain.unlock(pose, asked.share);
                    model.set(skeleton, pose);
                    limb.bend(skeleton, pose, &model, &at);
                    model.set(skeleton, pose);
                    let last = within(&target, (1.0 - LAST) * chain.length);
                    let far = |place: &Vec3| (place - base).norm();
                    let more = chain.help > 0.0 && far(&target) >= far(&at) && far(&last) > far(&at);
                    [at, if more { last } else { at }]
                }
                (None, Some(target)) => [within(&target, chain.length); 2],
                _ => {
                    soft.extend_from_slice(&asked.tasks);
                    all.extend_from_slice(&asked.tasks);
                    continue;
                }
            };
            soft.extend(with_target(&asked.tasks, places[0]));
            all.extend(with_target(&asked.tasks, places[1]));
        }
        (soft, all)
    }
}

/// Settings of the passes of the tree solver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    pub solver: TreeSolver,
    /// Whether a frame starts from the solution of the previous frame.
    pub warm: bool,
    pub stop: Stop,
}

impl Passes {
    fn run(&self, mechanism: &Mechanism, poses: &mut [Pose], tasks: &[Vec<Task>]) -> Vec<Outcome> {
        let of_frame = |frame: usize| tasks[frame].clone();
        match self.warm {
            true => self.solver.follow_frames(mechanism, poses, of_frame, &self.stop),
            false => self.solver.solve_frames(mechanism, poses, of_frame, &self.stop),
        }
    }

    /// The settings for the pass that moves shoulders: each frame on its own, with more posture weight.
    fn for_shoulders(&self) -> Self {
        let posture = self.solver.posture.max(SHOULDER_POSTURE);
        Self { solver: TreeSolver { posture, ..self.solver }, warm: false, ..*self }
    }
}
