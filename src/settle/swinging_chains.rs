//! Secondary motion: simulates chains that hang on a body, such as tails, hair, straps and capes; the body is unchanged.
//!
//! Every joint of a chain is a rod drawn to its animated rotation by a spring with damping, under a share of gravity. A chain tapers:
//! its springs are as stiff as what hangs on them is heavy, so that all joints bend alike. The frequency is that of the first joint
//! with all below it. The joint that the chain hangs on moves as animated: its body is so heavy that nothing moves it. The rest
//! pose of the character was drawn in gravity: springs bear the weight of the chain in that pose, so that it does not sag. A
//! cycle starts in its periodic state, so that it stays a cycle. Chains swing alike on figures of any size, as takes keep their time on
//! them: gravity is that of a figure of 1.75 m. Space: model space. Units: SI.

use super::body_trajectory::BodyTrajectory;
use crate::body::{COMMON_HEIGHT, CharacterBody};
use crate::dynamics::{
    Articulation, BallDrive, Body, BodyState, Constraint, ConstraintKind, World, WorldSettings, solid,
};
use crate::kinematics::GRAVITY;
use crate::kinematics::is_cycle;
use crate::math::{Quat, Transform, Vec3, arc, exp, log};
use crate::model::{JointId, ModelPose, Motion, Skeleton};
use crate::signal::with_poses;

/// How chains swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// The natural frequency of a chain on its first joint, hertz.
    pub frequency: f64,
    /// Damping as a share of critical damping.
    pub damping: f64,
    /// The share of gravity that bends the chain.
    pub gravity: f64,
    /// The longest time step, seconds.
    pub step: f64,
}

impl Default for Swing {
    fn default() -> Self {
        Self { frequency: 1.5, damping: 0.3, gravity: 0.3, step: 1.0 / 120.0 }
    }
}

/// The mass of a body that chains hang on, over that of the chains.
const IMMOVABLE: f64 = 1e6;

/// Mass per length of a chain, kg/m: only ratios matter.
const LINE: f64 = 1.0;
/// The radius of a rod over its length.
const THICKNESS: f64 = 0.15;

/// The time simulated before the first frame so that chains come to rest, seconds.
const HANG: f64 = 2.0;
/// The time for which a cycle is simulated before it is recorded, seconds, in whole cycles: at the default damping a
/// disturbance falls to a hundred-thousandth.
const PERIODIC: f64 = 4.0;

/// One rod.
struct Rod {
    joint: JointId,
    /// The body above: a rod, or what the chain hangs on.
    above: usize,
    centre: Vec3,
    length: f64,
    mass: f64,
    /// Of the rod and all below, about the joint.
    inertia: f64,
    /// The stiffness of the joint over the square of the angular frequency, kg m^2.
    stiffness: f64,
    /// The moment of the weight of the rod and all below about the joint in the rest pose, in the axes of what is above.
    weight: Vec3,
}

/// The joints of the chains that start at `tops`, tops first; every joint once.
pub fn chain_joints(skeleton: &Skeleton, tops: &[JointId]) -> Vec<JointId> {
    let within = |id: &JointId| tops.iter().any(|&top| skeleton.is_ancestor(top, *id));
    skeleton.ids().filter(within).collect()
}

/// Simulates the chains that start at `tops`; returns the motion and the largest angle from the clip.
pub fn swing(motion: &Motion, tops: &[JointId], how: &Swing) -> (Motion, f64) {
    let size = CharacterBody::new(&motion.character).height() / COMMON_HEIGHT;
    swing_under(motion, tops, &Swing { gravity: how.gravity * size, ..*how })
}

/// Chains under a gravity in the motion's own metres.
fn swing_under(motion: &Motion, tops: &[JointId], how: &Swing) -> (Motion, f64) {
    let skeleton = motion.character.skeleton();
    let clip = &motion.clip;
    let joints: Vec<JointId> =
        chain_joints(skeleton, tops).into_iter().filter(|&id| skeleton.parent(id).is_some()).collect();
    if joints.is_empty() || clip.frames() < 2 {
        return (motion.clone(), 0.0);
    }
    let trajectory = BodyTrajectory::new(clip, how.step);
    let (n, h) = (trajectory.steps, trajectory.h);
    let start = trajectory.model(skeleton, 0);
    let mut bases: Vec<JointId> = joints.iter().filter_map(|&id| skeleton.parent(id)).collect();
    bases.retain(|id| !joints.contains(id));
    bases.sort();
    bases.dedup();
    let rods = rods(skeleton, &start, &joints, &bases);
    let mut world = world(&start, &bases, &rods, how);
    let animated = |model: &ModelPose, rod: &Rod| {
        let above = rod.above.checked_sub(bases.len()).map_or_else(|| bases[rod.above], |k| rods[k].joint);
        model.joint(above).rotation.inverse() * model.joint(rod.joint).rotation
    };
    let omega = std::f64::consts::TAU * how.frequency;
    let step = |world: &mut World, from: &ModelPose, to: &ModelPose| {
        let fall = world.articulation.gravity * h;
        for (k, &base) in bases.iter().enumerate() {
            let (a, b) = (from.joint(base), to.joint(base));
            let state = &mut world.states[k];
            *state = BodyState::at_rest(a.translation, a.rotation);
            // Gravity acts on it too, and is taken off beforehand.
            state.velocity = (b.translation - a.translation) / h - fall;
            state.angular_velocity = log(&(a.rotation.inverse() * b.rotation)) / h;
        }
        let drive = |(k, rod): (usize, &Rod)| {
            let (now, next) = (animated(from, rod), animated(to, rod));
            let stiffness = rod.stiffness * omega * omega;
            // The spring is wound by what bears the weight of the rest pose.
            let wound = exp(&(rod.weight * (-how.gravity / stiffness)));
            BallDrive {
                constraint: k,
                stiffness,
                damping: 2.0 * how.damping * (stiffness * rod.inertia).sqrt(),
                target: wound * now,
                rate: log(&(next * now.inverse())) / h,
            }
        };
        world.drives = rods.iter().enumerate().map(drive).collect();
        world.advance(h);
    };
    for _ in 0..(HANG / h) as usize {
        step(&mut world, &start, &start);
    }
    if is_cycle(motion) {
        let cycle: Vec<_> = (0..=(clip.frames() - 1) * n).map(|k| trajectory.model(skeleton, k)).collect();
        let back = *start.joint(bases[0]) * cycle[cycle.len() - 1].joint(bases[0]).inverse();
        repeat_cycle(&mut world, &cycle, h, &back, &step);
    }
    let (mut poses, mut farthest) = (Vec::with_capacity(clip.frames()), 0.0_f64);
    let mut now = start;
    for f in 0..clip.frames() {
        let mut pose = clip.pose(skeleton, f);
        let mut model = ModelPose::of(skeleton, &pose);
        for (rod, state) in rods.iter().zip(&world.states[bases.len()..]) {
            let above = skeleton.parent(rod.joint).map_or(Quat::identity(), |p| model.joint(p).rotation);
            let local = &mut pose.local_mut()[rod.joint.index()].rotation;
            let swung = above.inverse() * state.orientation;
            farthest = farthest.max(swung.angle_to(local));
            *local = swung;
            model.set(skeleton, &pose);
        }
        poses.push(pose);
        if f + 1 < clip.frames() {
            for k in f * n..(f + 1) * n {
                let next = trajectory.model(skeleton, k + 1);
                step(&mut world, &now, &next);
                now = next;
            }
        }
    }
    (with_poses(motion, &poses), farthest)
}

/// Simulates a cycle, whose steps last `h` seconds, until it repeats; after each, all bodies are moved `back` to where it began.
fn repeat_cycle(
    world: &mut World,
    cycle: &[ModelPose],
    h: f64,
    back: &Transform,
    step: &impl Fn(&mut World, &ModelPose, &ModelPose),
) {
    let seconds = (cycle.len() - 1) as f64 * h;
    for _ in 0..(PERIODIC / seconds).ceil() as usize {
        for two in cycle.windows(2) {
            step(world, &two[0], &two[1]);
        }
        for state in &mut world.states {
            state.position = back.point(&state.position);
            state.orientation = back.rotation * state.orientation;
            state.velocity = back.rotation * state.velocity;
        }
    }
}

fn rods(skeleton: &Skeleton, model: &ModelPose, joints: &[JointId], bases: &[JointId]) -> Vec<Rod> {
    let lengths = joints.iter().filter_map(|&id| {
        let child = *skeleton.children(id).first()?;
        Some((model.position(child) - model.position(id)).norm())
    });
    let usual = lengths.fold(0.0, f64::max).max(1e-3);
    let mut rods: Vec<Rod> = Vec::new();
    for &joint in joints {
        let parent = skeleton.parent(joint).expect("the root is no chain");
        let rod = joints.iter().position(|&id| id == parent).map(|k| k + bases.len());
        let above =
            rod.or_else(|| bases.iter().position(|&id| id == parent)).expect("a chain hangs on a base");
        let child = skeleton.children(joint).first().map(|&c| skeleton.joint(c).rest.translation);
        let along = skeleton.joint(joint).rest.translation.try_normalize(1e-9).unwrap_or_else(Vec3::y);
        let bone = child.or(skeleton.joint(joint).tip).filter(|v| v.norm() > 0.05 * usual);
        let bone = bone.unwrap_or(along * (0.5 * usual));
        let (length, mass) = (bone.norm(), LINE * bone.norm());
        let (inertia, stiffness, weight) = (0.0, 0.0, Vec3::zeros());
        rods.push(Rod { joint, above, centre: bone * 0.5, length, mass, inertia, stiffness, weight });
    }
    load(&mut rods, bases.len(), skeleton, model);
    rods
}

/// Fills in what hangs on each rod, and the stiffness that bears it: `model` is the pose in which they begin.
fn load(rods: &mut [Rod], bases: usize, skeleton: &Skeleton, model: &ModelPose) {
    let rest = skeleton.rest_model_pose();
    // The inertia of the first joint of the rod's chain over the moment of its mass.
    let mut firsts: Vec<f64> = Vec::with_capacity(rods.len());
    for k in 0..rods.len() {
        let below = || rods.iter().filter(|r| skeleton.is_ancestor(rods[k].joint, r.joint));
        let arm = |r: &Rod| model.joint(r.joint).point(&r.centre) - model.position(rods[k].joint);
        let inertia = |r: &Rod| r.mass * (arm(r).norm_squared() + r.length * r.length / 12.0);
        let inertia: f64 = below().map(inertia).sum();
        let moment: f64 = below().map(|r| r.mass * arm(r).norm()).sum();
        firsts.push(rods[k].above.checked_sub(bases).map_or(inertia / moment, |above| firsts[above]));
        let pivot = rest.position(rods[k].joint);
        let weight = |r: &Rod| {
            (rest.joint(r.joint).point(&r.centre) - pivot).cross(&(Vec3::y() * (-GRAVITY * r.mass)))
        };
        let weight: Vec3 = below().map(weight).sum();
        let above = skeleton.parent(rods[k].joint).map_or(Quat::identity(), |p| rest.joint(p).rotation);
        let stiffness = firsts[k] * moment;
        (rods[k].inertia, rods[k].stiffness, rods[k].weight) = (inertia, stiffness, above.inverse() * weight);
    }
}

fn world(model: &ModelPose, bases: &[JointId], rods: &[Rod], how: &Swing) -> World {
    let all: f64 = rods.iter().map(|r| r.mass).sum();
    let size: f64 = rods.iter().map(|r| r.length).sum();
    let heavy = all * IMMOVABLE;
    let body = |name: String, mass, inertia| Body::new(name, mass, inertia).expect("a solid has an inertia");
    let mut bodies: Vec<Body> = bases
        .iter()
        .map(|id| body(format!("base {}", id.index()), heavy, solid::sphere(heavy, size)))
        .collect();
    let mut states: Vec<BodyState> =
        bases.iter().map(|&id| BodyState::at_rest(model.position(id), model.joint(id).rotation)).collect();
    let mut links = Vec::new();
    for rod in rods {
        let joint = model.joint(rod.joint);
        let state = BodyState::at_rest(joint.point(&rod.centre), joint.rotation);
        let rotation = arc(&Vec3::z(), &rod.centre, &Vec3::x()).to_rotation_matrix().into_inner();
        let inertia =
            rotation * solid::capsule(rod.mass, THICKNESS * rod.length, rod.length) * rotation.transpose();
        bodies.push(body(
            format!("rod {}", rod.joint.index()),
            rod.mass,
            (inertia + inertia.transpose()) * 0.5,
        ));
        states.push(state);
        links.push(Constraint::in_pose(
            format!("rod {}", rod.joint.index()),
            ConstraintKind::Ball,
            (Some(rod.above), &states[rod.above]),
            (Some(states.len() - 1), &state),
            &joint.translation,
            &Vec3::zeros(),
            &Vec3::zeros(),
        ));
    }
    let gravity = Vec3::new(0.0, -GRAVITY * how.gravity, 0.0);
    let articulation = Articulation::new(bodies, links, gravity).expect("chains form trees");
    World::new(articulation, states, Vec::new(), WorldSettings::default())
}
