//! Legs that had to leave their limits for a foot on the ground come inside again: the ball stays, the heel gives way.
//!
//! What feet that give way leave: thighs that stand too wide, mostly. Hip, knee, ankle and toes are solved within their
//! limits ([`TreeSolver`]), under a pelvis that stays, and the turns spread over time. Space: model space. Units: metres,
//! radians.

use super::floor::Floor;
use crate::feet::{Leg, Sole};
use crate::ik::{Freedom, Goal, Mechanism, Stop, Task, TreeSolver};
use crate::math::{Vec3, exp, log};
use crate::model::{ContactPart, JointId, ModelPose, Motion, Pose, Skeleton};
use crate::signal::{corrections, with_poses};
use rayon::prelude::*;

/// Joints farther outside than this are brought inside.
const OUTSIDE: f64 = 2e-3;

/// How much the ball matters, the tip of the toes, and the heel.
const WEIGHTS: [f64; 3] = [30.0, 3.0, 0.3];

/// A ball that moves by more than this, or a sole that sinks by it, does not stay, metres.
const MOVED: f64 = 5e-4;

/// Rounds in which what strays matters more.
const ROUNDS: usize = 5;

/// By how much more.
const HARDER: f64 = 8.0;

/// Changes that are smooth over time are no quicker than this, hertz.
const CUTOFF: f64 = 6.0;

/// How much the legs are held to how they arrive.
const POSTURE: f64 = 1e-2;

/// The motion with the legs inside the limits of `mechanism`, over the floor of its labels, by changes that are smooth
/// over time, which take feet off their places; nothing where there is nothing to bring.
pub fn legs_inside(motion: &Motion, mechanism: &Mechanism) -> Option<Motion> {
    let skeleton = mechanism.skeleton();
    // What does not hang together in the file cannot be solved together.
    let whole =
        |leg: &Leg| skeleton.is_ancestor(leg.upper, leg.lower) && skeleton.is_ancestor(leg.lower, leg.foot);
    let legs: Vec<Leg> = Leg::of(&motion.character).into_iter().filter(whole).collect();
    let moving: Vec<JointId> =
        legs.iter().flat_map(|l| [Some(l.upper), Some(l.lower), Some(l.foot), l.toes]).flatten().collect();
    let still = skeleton.ids().filter(|id| !moving.contains(id));
    let solved = still.fold(mechanism.clone(), |m, id| m.with_freedom(id, Freedom::Fixed));
    let outside = |pose: &Pose| moving.iter().any(|&id| mechanism.excess(id, pose.joint(id)) > OUTSIDE);
    let arrived = motion.poses();
    let frames: Vec<usize> = (0..arrived.len()).into_par_iter().filter(|&f| outside(&arrived[f])).collect();
    let floor = Floor::new(motion.contacts.clone().filter(|_| !frames.is_empty())?);
    let mut all: Vec<Inside> = frames
        .par_iter()
        .map(|&f| {
            let feet = legs.iter().map(|leg| Foot::of(leg, skeleton, &arrived[f], &floor, f)).collect();
            let mut start = arrived[f].clone();
            solved.enforce(&mut start);
            Inside { pose: start.clone(), start, feet, done: false }
        })
        .collect();
    let solver = TreeSolver { posture: POSTURE, ..TreeSolver::default() };
    let stop = Stop { position: 1e-5, angle: 1e-5, iterations: 40 };
    for _ in 0..ROUNDS {
        let open: Vec<usize> = (0..all.len()).filter(|&k| !all[k].done).collect();
        let mut found: Vec<Pose> = open.iter().map(|&k| all[k].start.clone()).collect();
        solver.solve_frames(&solved, &mut found, |n| all[open[n]].tasks(&legs), &stop);
        for (k, pose) in open.into_iter().zip(found) {
            all[k].pose = pose;
            all[k].judge(&legs, skeleton);
        }
    }
    // Where a leg cannot have both it keeps its foot: for as long as it is outside, since half of that would be a jump.
    let starts = (0..frames.len()).filter(|&k| k == 0 || frames[k - 1] + 1 < frames[k]);
    let starts: Vec<usize> = starts.chain([frames.len()]).collect();
    let mut poses = arrived.clone();
    for (n, leg) in legs.iter().enumerate() {
        let joints = [Some(leg.upper), Some(leg.lower), Some(leg.foot), leg.toes];
        for run in starts.windows(2).map(|w| w[0]..w[1]) {
            if !all[run.clone()].iter().all(|frame| frame.feet[n].stays) {
                continue;
            }
            for k in run {
                for id in joints.iter().flatten() {
                    poses[frames[k]].local_mut()[id.index()].rotation = all[k].pose.joint(*id).rotation;
                }
            }
        }
        spread(&joints, &arrived, &mut poses, motion.clip.sample_rate);
    }
    Some(with_poses(motion, &poses))
}

/// The numbers of the turns of a leg.
const TURNS: usize = 12;

/// Replaces what has changed since the poses `arrived` by the least and smoothest change that goes at least as far.
fn spread(joints: &[Option<JointId>; 4], arrived: &[Pose], poses: &mut [Pose], rate: f64) {
    let turn =
        |a: &Pose, b: &Pose, id: JointId| log(&(a.joint(id).rotation.inverse() * b.joint(id).rotation));
    let change = |(a, b): (&Pose, &Pose)| -> [f64; TURNS] {
        let turns = joints.map(|id| id.map_or(Vec3::zeros(), |id| turn(a, b, id)));
        std::array::from_fn(|k| turns[k / 3][k % 3])
    };
    let changes: Vec<[f64; TURNS]> = arrived.iter().zip(&*poses).map(change).collect();
    let dot = |a: &[f64; TURNS], b: &[f64; TURNS]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let needed: Vec<usize> = (0..changes.len()).filter(|&f| changes[f] != [0.0; TURNS]).collect();
    let spread = corrections(&needed, poses.len(), CUTOFF, rate, |f, wish: [f64; TURNS]| {
        // The nearest change that is as long along the one that is needed.
        let size = dot(&changes[f], &changes[f]);
        let more = if size > 0.0 { (1.0 - dot(&wish, &changes[f]) / size).max(0.0) } else { 0.0 };
        std::array::from_fn(|k| wish[k] + changes[f][k] * more)
    });
    for (f, turns) in spread {
        for (k, id) in joints.iter().enumerate().filter_map(|(k, id)| Some((3 * k, (*id)?))) {
            let turn = exp(&Vec3::new(turns[k], turns[k + 1], turns[k + 2]));
            poses[f].local_mut()[id.index()].rotation = arrived[f].joint(id).rotation * turn;
        }
    }
}

/// A frame whose legs come inside.
struct Inside {
    /// What is solved from.
    start: Pose,
    /// What is found.
    pose: Pose,
    feet: Vec<Foot>,
    done: bool,
}

/// What a foot of a frame shall keep to.
struct Foot {
    /// Where ball, tip and heel are.
    sole: Sole,
    /// How much that matters.
    weights: [f64; 3],
    /// The height of the floor.
    ground: f64,
    /// Whether anything of it rests.
    rests: bool,
    /// Whether it kept to it.
    stays: bool,
}

impl Foot {
    fn of(leg: &Leg, skeleton: &Skeleton, pose: &Pose, floor: &Floor, frame: usize) -> Self {
        let rests = |part: ContactPart| floor.contacts().rests(part, frame);
        Self {
            sole: front_first(leg.sole(&leg.step(&ModelPose::of(skeleton, pose)))),
            weights: WEIGHTS,
            ground: floor.under(Some(ContactPart::Ball(leg.side)), frame),
            rests: rests(ContactPart::Heel(leg.side)) || rests(ContactPart::Ball(leg.side)),
            stays: true,
        }
    }

    /// Judges what was found; what strays matters more in the next round.
    fn judge(&mut self, found: &Sole) {
        self.stays = true;
        for (k, (old, new)) in self.sole.iter_mut().zip(found).enumerate() {
            let sunk = old.y.min(self.ground) - new.y;
            let strays = sunk > MOVED || (k == 0 && self.rests && (*old - new).norm() > MOVED);
            if strays {
                self.stays = false;
                self.weights[k] = (self.weights[k] * HARDER).max(WEIGHTS[0]);
                old.y = old.y.max(self.ground);
            }
        }
    }
}

/// Ball, tip and heel.
fn front_first([heel, ball, tip]: Sole) -> Sole {
    [ball, tip, heel]
}

impl Inside {
    fn tasks(&self, legs: &[Leg]) -> Vec<Task> {
        let of_leg = |(leg, foot): (&Leg, &Foot)| {
            let front = leg.toes.unwrap_or(leg.foot);
            let points = [(front, leg.front[0]), (front, leg.front[1]), (leg.foot, leg.heel)];
            let goal = |k: usize| {
                let (joint, point) = points[k];
                Task::new(Goal::Position { joint, point, target: foot.sole[k] }).weigh(foot.weights[k])
            };
            [goal(0), goal(1), goal(2)]
        };
        legs.iter().zip(&self.feet).flat_map(of_leg).collect()
    }

    fn judge(&mut self, legs: &[Leg], skeleton: &Skeleton) {
        let model = ModelPose::of(skeleton, &self.pose);
        for (leg, foot) in legs.iter().zip(&mut self.feet) {
            foot.judge(&front_first(leg.sole(&leg.step(&model))));
        }
        self.done = self.feet.iter().all(|foot| foot.stays);
    }
}
