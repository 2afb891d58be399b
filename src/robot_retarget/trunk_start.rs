//! The first guess of base and waist, and rotations along chains of links.

use super::robot_goals::Goals;
use super::robot_state::{RobotState, Unknowns};
use super::small_system::SmallSystem;
use crate::math::{Quat, Transform, Vec3, log};

/// Steps for the waist: it has settled after half of them.
const WAIST_STEPS: usize = 12;
/// Damping of the waist's steps, whose residuals are of the order 1.
const WAIST_DAMPING: f64 = 1e-2;
/// A step below this ends the solve of waist or limb, radians: a tenth of a degree, which the solve over the clip makes good.
pub(super) const SETTLED: f64 = 2e-3;

/// Base and waist of a frame: base at the origin.
pub(super) fn trunk(unknowns: &Unknowns, goals: &Goals, frame: usize, axes: &mut Vec<Vec3>) -> RobotState {
    let (body, zero) = (&unknowns.body, &unknowns.body.zero);
    let (pelvis, torso) = (body.limbs.pelvis(), body.limbs.torso());
    let goal = |link: usize| if link == pelvis { goals.pelvis[frame] } else { goals.torso[frame] };
    let (top, other) = if zero.chains[pelvis].is_empty() { (pelvis, torso) } else { (torso, pelvis) };
    let base = Transform::from_rotation(goal(top) * zero.links[0].rotation);
    let mut state = RobotState { base, values: unknowns.neutral.clone() };
    let chain = &unknowns.chains[other];
    if chain.is_empty() || other == top {
        return state;
    }
    let mut system = SmallSystem::default();
    for _ in 0..WAIST_STEPS {
        let rotation = rotation_of(unknowns, other, &state, axes);
        let error = log(&(rotation * zero.links[other].rotation.inverse() * goal(other).inverse()));
        system.clear(chain.len(), WAIST_DAMPING);
        system.add(axes, &error);
        let step = system.step(|_, _| false);
        let mut largest = 0.0f64;
        for (&hinge, step) in chain.iter().zip(&step) {
            let value = state.values[hinge];
            let moved = (value + step).clamp(unknowns.low[hinge], unknowns.high[hinge]);
            largest = largest.max((moved - value).abs());
            state.values[hinge] = moved;
        }
        if largest < SETTLED {
            break;
        }
    }
    state
}

/// The rotation of a link, and the axes of the hinges from the base to it.
pub(super) fn rotation_of(
    unknowns: &Unknowns,
    link: usize,
    state: &RobotState,
    axes: &mut Vec<Vec3>,
) -> Quat {
    let robot = &unknowns.body.robot;
    let mut rotation = state.base.rotation;
    match robot.links[link].parent {
        Some(parent) => {
            rotation =
                rotation_of(unknowns, parent, state, axes) * robot.links[link].parent_from_link.rotation;
        }
        None => axes.clear(),
    }
    // Those of the parent are there.
    for &hinge in &unknowns.chains[link][axes.len()..] {
        let (own, value) = (&robot.hinges[hinge], state.values[hinge]);
        axes.push(if own.slides { Vec3::zeros() } else { rotation * own.axis });
        if !own.slides {
            rotation *= own.rotation(value);
        }
    }
    rotation
}
