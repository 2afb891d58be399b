//! A performer is let go: from one frame on the bodies fall, hit the ground and come to rest.
//!
//! Joints keep their limits and give way with a little friction; the skin touches the ground ([`Hull`]); the parts of one
//! body pass through each other. A blow is an impulse at one part, answered by the
//! whole (the velocities are projected onto what the joints allow, orthogonally in the mass metric). Space: model
//! space. Units: SI.

use super::bounds::Bounds;
use super::course::Course;
use super::hull::Hull;
use super::ragdoll::{Part, Ragdoll};
use crate::body::COMMON_HEIGHT;
use crate::dynamics::{ArticulationSolver, BallDrive, World, WorldSettings, project_velocities};
use crate::ik::Mechanism;
use crate::math::{Quat, Vec3, slerp, smoothstep};
use crate::measure::GRAVITY;
use crate::model::{Clip, ModelPose, Motion, Pose, Role};
use crate::signal::fix_hemispheres;

/// How a performer is let go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LetGo {
    /// Seconds from the first frame.
    pub at: f64,
    /// Seconds that are simulated from there on.
    pub lasts: f64,
    /// What is hit at that time, and the impulse in newton seconds.
    pub hit: Option<(Role, Vec3)>,
    /// How stiff joints are against turning: newton metres at one radian a second for each newton metre with which gravity
    /// turns what hangs on the joint, in a body of 1.75 m; in a larger one as much more as it falls more slowly.
    pub resistance: f64,
    /// Coulomb's coefficient on the ground.
    pub friction: f64,
    /// The height of the ground.
    pub ground: f64,
    /// Seconds of a step at most.
    pub step: f64,
}

impl Default for LetGo {
    fn default() -> Self {
        Self {
            at: 1.0,
            lasts: 3.0,
            hit: None,
            resistance: 0.1,
            friction: 0.8,
            ground: 0.0,
            step: 1.0 / 480.0,
        }
    }
}

/// A performer that fell.
#[derive(Clone, Debug)]
pub struct Fallen {
    /// The motion: the clip up to the time, then the fall.
    pub motion: Motion,
    /// The first frame of the fall.
    pub from: usize,
    /// By step: kinetic and potential energy, joules.
    pub energy: Vec<f64>,
    /// The deepest that anything was in the ground, metres.
    pub penetration: f64,
    /// The farthest that a joint was outside of its limit, radians.
    pub excess: f64,
    /// Seconds after which the body hardly moved for a while, and was put to rest.
    pub rests_after: Option<f64>,
}

/// Toes bear the body without being lead by it, N m s/rad.
const STIFF_TOES: f64 = 5.0;

/// Less kinetic energy than this in a kilogram and a metre of height (as of 0.1 m/s in a body of 1.75 m), joules, for so
/// many seconds is rest. What is larger falls faster, in proportion to the root of its height.
const STILL: f64 = 0.005 / 1.75;
const STILL_FOR: f64 = 0.25;

/// Rounds of the solver of a step: a body on its skin has more rows than are polished, and with 150 some sink by 6 mm.
const SWEEPS: usize = 400;

/// A step in which something else came down than what was held is taken again so often at most.
const AGAIN: usize = 3;

/// Seconds over which a pose outside of its limits comes back before the fall.
const BRING_IN: f64 = 0.3;

/// Lets the performer of a motion go; `None` for a body that no ragdoll can be made of, or a time behind the clip.
pub fn let_go(motion: &Motion, how: &LetGo) -> Option<Fallen> {
    let character = &motion.character;
    let skeleton = character.skeleton();
    let ragdoll = Ragdoll::of(character)?;
    let clip = &motion.clip;
    let rate = clip.sample_rate;
    let from = (how.at * rate).round() as usize;
    if from >= clip.frames() {
        return None;
    }
    let rest = character.calibration_pose();
    let mechanism = Mechanism::humanoid(&character.rig, &rest);
    let mut poses: Vec<Pose> = (0..=from).map(|f| clip.pose(skeleton, f)).collect();
    for (f, pose) in poses.iter_mut().enumerate() {
        let part = smoothstep(1.0 - (from - f) as f64 / (BRING_IN * rate));
        let mut inside = pose.clone();
        mechanism.enforce(&mut inside);
        for (a, b) in pose.local_mut().iter_mut().zip(inside.local()) {
            a.rotation = slerp(&a.rotation, &b.rotation, part);
        }
    }
    let like = poses[from].clone();
    let model = ModelPose::of(skeleton, &like);
    let course = Course::new(clip, how.step);
    let (n, h) = (course.steps, course.h);
    let mut states = ragdoll.states(&model);
    let before = (from * n).saturating_sub(1);
    let moving = course.states(&ragdoll, skeleton, before, before + 1);
    for (state, m) in states.iter_mut().zip(&moving[0]) {
        state.velocity = m.velocity;
        state.angular_velocity = m.angular_velocity;
    }
    if let Some((body, impulse)) = how.hit.and_then(|(role, impulse)| Some((ragdoll.find(role)?, impulse))) {
        states[body].velocity += impulse / ragdoll.parts[body].mass;
    }
    let articulation = ragdoll.articulation(skeleton, &model);
    project_velocities(&mut ArticulationSolver::new(&articulation), &articulation, &mut states);
    let bounds = Bounds::new(&ragdoll, &mechanism, skeleton, &model);
    let settings = WorldSettings { erp: 0.05, sweeps: SWEEPS, passive: true, ..WorldSettings::default() };
    let mut hull = Hull::of(character, &ragdoll, &model, &states, (how.ground, how.friction));
    let mut world = World::new(articulation, states, Vec::new(), settings);
    world.drives = brakes(&ragdoll, how.resistance);
    let mut fallen = Fallen {
        motion: motion.clone(),
        from,
        energy: vec![world.energy()],
        penetration: 0.0,
        excess: bounds.excess(&world.states),
        rests_after: None,
    };
    let mut slow = 0.0;
    for k in 0..(how.lasts * rate).round() as usize * n {
        if k % n == 0 {
            let depth = hull.look(&world.states, n as f64 * h);
            fallen.penetration = fallen.penetration.max(depth);
        }
        if fallen.rests_after.is_none() {
            world.pulls = bounds.rows(&world.states, h);
            let before = world.states.clone();
            world.supports = hull.supports(&world.states, h);
            world.advance(h);
            for _ in 0..AGAIN {
                let missed = hull.missed(&world.states, &before, &world.supports);
                if missed.is_empty() {
                    break;
                }
                world.supports.extend(missed);
                world.states.clone_from(&before);
                world.advance(h);
            }
        }
        fallen.energy.push(world.energy());
        fallen.excess = fallen.excess.max(bounds.excess(&world.states));
        // What hardly moves is put to rest: a solver's last trembling is no motion.
        let kinetic = world.articulation.kinetic_energy(&world.states);
        slow = if kinetic < STILL * ragdoll.height * ragdoll.mass { slow + h } else { 0.0 };
        if slow > STILL_FOR {
            fallen.rests_after = fallen.rests_after.or(Some((k + 1) as f64 * h));
        }
        if (k + 1) % n == 0 {
            poses.push(ragdoll.pose(skeleton, &world.states, &like));
        }
    }
    let mut made = Clip::from_poses(clip.name.clone(), rate, skeleton, &poses);
    made.start = clip.start;
    made.property_tracks = clip.property_tracks_in(0..poses.len());
    fix_hemispheres(&mut made);
    fallen.motion.contacts = fallen.motion.contacts.map(|c| c.changed(|f| f.min(from), |y| y));
    fallen.motion.clip = made;
    Some(fallen)
}

/// Friction in every joint, as implicit damping. Bodies of any size fall alike, in a time that grows as the root of their
/// height (Froude).
fn brakes(ragdoll: &Ragdoll, resistance: f64) -> Vec<BallDrive> {
    let slower = (ragdoll.height / COMMON_HEIGHT).sqrt();
    let brake = |(k, part): (usize, &Part)| {
        part.parent?;
        let swing = part.carried * part.bone.norm().max(0.05) * GRAVITY;
        let toes = if matches!(part.role, Role::Toes(_)) { STIFF_TOES } else { 0.0 };
        let damping = resistance * swing * slower + toes;
        Some(BallDrive {
            constraint: k - 1,
            stiffness: 0.0,
            damping,
            target: Quat::identity(),
            rate: Vec3::zeros(),
        })
    };
    ragdoll.parts.iter().enumerate().filter_map(brake).collect()
}
