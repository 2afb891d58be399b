//! Legs that had to leave their limits for a foot on the ground come inside again: the ball stays, the heel gives way.
//!
//! A foot that is put flat may ask more of the ankle than an ankle can. People raise the heel then. Hip, knee, ankle
//! and toes are solved within their limits ([`TreeSolver`]), under a pelvis that stays. Space: model space. Units:
//! metres, radians.

use crate::feet::Leg;
use crate::ik::{Freedom, Goal, Mechanism, Stop, Task, TreeSolver};
use crate::model::{Character, JointId, ModelPose, Pose};
use rayon::prelude::*;

/// Joints farther outside than this are brought inside.
const OUTSIDE: f64 = 1e-3;

/// How much the ball matters, the tip of the toes, and the heel.
const WEIGHTS: [f64; 3] = [30.0, 3.0, 0.3];

/// A ball that moves by more than this, or a sole that sinks by it, does not stay, metres.
const MOVED: f64 = 5e-4;

/// How much the legs are held to how they arrive.
const POSTURE: f64 = 1e-3;

/// Brings the legs of `poses` into the limits of `mechanism`.
pub fn legs_inside(character: &Character, mechanism: &Mechanism, poses: &mut [Pose]) {
    let skeleton = mechanism.skeleton();
    // What does not hang together in the file cannot be solved together.
    let whole =
        |leg: &Leg| skeleton.is_ancestor(leg.upper, leg.lower) && skeleton.is_ancestor(leg.lower, leg.foot);
    let legs: Vec<Leg> = Leg::of(character).into_iter().filter(whole).collect();
    let moving: Vec<JointId> =
        legs.iter().flat_map(|l| [Some(l.upper), Some(l.lower), Some(l.foot), l.toes]).flatten().collect();
    let still = skeleton.ids().filter(|id| !moving.contains(id));
    let solved = still.fold(mechanism.clone(), |m, id| m.with_freedom(id, Freedom::Fixed));
    let outside = |pose: &Pose| moving.iter().any(|&id| mechanism.excess(id, pose.joint(id)) > OUTSIDE);
    let frames: Vec<usize> = (0..poses.len()).into_par_iter().filter(|&f| outside(&poses[f])).collect();
    let mut changed: Vec<Pose> = frames.iter().map(|&f| poses[f].clone()).collect();
    let tasks: Vec<Vec<Task>> = changed
        .par_iter()
        .map(|pose| {
            let model = ModelPose::of(skeleton, pose);
            let of_leg = |leg: &Leg| {
                let front = leg.toes.unwrap_or(leg.foot);
                let points = [(front, leg.front[0]), (front, leg.front[1]), (leg.foot, leg.heel)];
                points.map(|(joint, at)| {
                    Task::new(Goal::Position { joint, point: at, target: model.joint(joint).point(&at) })
                })
            };
            let weighed =
                |tasks: [Task; 3]| tasks.into_iter().zip(WEIGHTS).map(|(task, weight)| task.weigh(weight));
            legs.iter().map(of_leg).flat_map(weighed).collect()
        })
        .collect();
    changed.par_iter_mut().for_each(|pose| {
        solved.enforce(pose);
    });
    let solver = TreeSolver { posture: POSTURE, ..TreeSolver::default() };
    let stop = Stop { position: 1e-5, angle: 1e-5, iterations: 40 };
    solver.solve_frames(&solved, &mut changed, |k| tasks[k].clone(), &stop);
    // A leg that cannot have both keeps its foot where it is: all the way, since half of it would be a jump.
    for leg in &legs {
        let joints = [Some(leg.upper), Some(leg.lower), Some(leg.foot), leg.toes];
        let moved = |(f, new): (&usize, &Pose)| {
            let [old, new] = [&poses[*f], new].map(|p| leg.sole(&leg.step(&ModelPose::of(skeleton, p))));
            let sunk = old.iter().zip(&new).map(|(a, b)| a.y - b.y).fold(0.0, f64::max);
            (old[1] - new[1]).norm().max(sunk)
        };
        let farthest = frames.par_iter().zip(&changed).map(moved).reduce(|| 0.0, f64::max);
        if farthest > MOVED {
            continue;
        }
        for (f, new) in frames.iter().zip(&changed) {
            for id in joints.iter().flatten() {
                poses[*f].local_mut()[id.index()].rotation = new.joint(*id).rotation;
            }
        }
    }
}
