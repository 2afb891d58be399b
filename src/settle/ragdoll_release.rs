//! Release of a performer as a ragdoll: from one frame on the bodies fall, hit the ground and come to rest.
//!
//! Joints keep their limits and have a little friction; the skin touches the ground ([`ContactHull`]), and the parts of the
//! body touch each other ([`SelfContactRows`]). A hit is an impulse at one part, to which the whole body responds: the velocities are
//! projected onto what the joints allow, orthogonally in the mass metric. A figure of any size falls as one of 1.75 m does, in the same
//! time, as takes keep their time on bodies of any size. Space: model space. Units: SI, of the figure at 1.75 m.

use super::body_trajectory::BodyTrajectory;
use super::contact_hull::ContactHull;
use super::joint_limit_rows::JointLimitRows;
use super::ragdoll::{Ragdoll, RagdollPart};
use super::scaled_motion::scaled;
use super::self_contact_rows::SelfContactRows;
use crate::body::{COMMON_HEIGHT, CharacterBody};
use crate::dynamics::{ArticulationSolver, BallDrive, World, WorldSettings, project_velocities};
use crate::ik::Mechanism;
use crate::kinematics::GRAVITY;
use crate::legs::shifted;
use crate::math::{Quat, Vec3, slerp, smoothstep};
use crate::model::{Clip, ModelPose, Motion, Pose, Role};
use crate::signal::fix_hemispheres;

/// When and how a performer is released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RagdollRelease {
    /// Time of the release, seconds from the first frame.
    pub at: f64,
    /// Duration of the simulation, seconds.
    pub lasts: f64,
    /// The part that is hit at that time, and the impulse in newton seconds.
    pub hit: Option<(Role, Vec3)>,
    /// Friction of the joints: damping in newton metres at one radian a second, for each newton metre of gravity's moment
    /// about the joint.
    pub resistance: f64,
    /// Coefficient of Coulomb friction on the ground.
    pub friction: f64,
    /// The height of the ground, metres of the motion.
    pub ground: f64,
    /// The longest time step, seconds.
    pub step: f64,
}

impl Default for RagdollRelease {
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

/// The fall of a released performer.
#[derive(Clone, Debug)]
pub struct RagdollFall {
    /// The motion: the clip up to the release, then the fall.
    pub motion: Motion,
    /// The first frame of the fall.
    pub from: usize,
    /// Kinetic and potential energy by step, joules.
    pub energy: Vec<f64>,
    /// How deep the skin of the clip is in the ground at the release, metres of the motion, where that is deeper than a body that
    /// stands on it, and whether the body is raised out of it before.
    pub sunk: Option<(f64, bool)>,
    /// The largest depth of a vertex in the ground, metres.
    pub penetration: f64,
    /// The largest depth of a part of the body in another, beyond that at the release, metres.
    pub overlap: f64,
    /// The largest angle of a joint outside its limit, radians.
    pub excess: f64,
    /// Time after the release at which the body was put to rest because it hardly moved, seconds.
    pub rests_after: Option<f64>,
}

/// Extra damping of the toes, N m s/rad: they bear the weight of the body, but are not moved by much of it.
const STIFF_TOES: f64 = 5.0;

/// Kinetic energy at rest, at most, joules per kilogram: that of 0.1 m/s.
const STILL: f64 = 0.005;

/// How long the energy must be that small before the body is put to rest, seconds.
const STILL_FOR: f64 = 0.25;

/// Iterations of the contact solver: a body lying on its skin has more rows than are polished, and with 150 some sink by
/// 6 mm.
const SWEEPS: usize = 400;

/// How often a step is repeated at most because a vertex hit the ground that was not supported.
const REPEATS: usize = 3;

/// Time before the release over which a pose outside its limits is brought inside, and a body in the ground out of it, seconds.
const BRING_IN: f64 = 0.3;

/// A body deeper in the ground than this at the release does not stand on it, metres: skin below the floor is over its limit.
const SUNK: f64 = 0.03;

/// A body that is deeper is not raised, metres: it is behind the ground of another place.
const MOST_RAISED: f64 = 0.3;

/// The fall of the performer of a motion; `None` for a body that no ragdoll can be made of, or a time after the clip.
pub fn release_ragdoll(motion: &Motion, how: &RagdollRelease) -> Option<RagdollFall> {
    fall_of(motion, how, None)
}

/// The same, of a motion that was raised by so many metres at the release.
fn fall_of(motion: &Motion, how: &RagdollRelease, by: Option<f64>) -> Option<RagdollFall> {
    let unscaled = how;
    let factor = COMMON_HEIGHT / CharacterBody::new(&motion.character).height();
    let how = &RagdollRelease { ground: how.ground * factor, ..*how };
    let figure = scaled(motion, factor);
    let character = &figure.character;
    let ragdoll = Ragdoll::of(character)?;
    let (clip, rate) = (&motion.clip, motion.clip.sample_rate);
    let from = (how.at * rate).round() as usize;
    if from >= clip.frames() {
        return None;
    }
    let mechanism = Mechanism::humanoid(&character.rig, &character.reference_pose());
    let mut poses = poses_before(&figure, &mechanism, from);
    let like = poses[from].clone();
    let mut simulation = RagdollSimulation::new(&figure, &ragdoll, &mechanism, how, (from, &like));
    let depth = simulation.hull.look(&simulation.world.states, 0.0);
    if by.is_none() && (SUNK..MOST_RAISED).contains(&depth) {
        let by = depth / factor;
        return fall_of(&raised(motion, from, by), unscaled, Some(by));
    }
    let mut fall = RagdollFall {
        motion: motion.clone(),
        from,
        energy: vec![simulation.world.energy()],
        sunk: by.map(|by| (by, true)).or((depth > SUNK).then_some((depth / factor, false))),
        penetration: 0.0,
        overlap: 0.0,
        excess: simulation.limits.excess(&simulation.world.states),
        rests_after: None,
    };
    let (n, h) = (simulation.steps, simulation.h);
    let mut slow = 0.0;
    for k in 0..(how.lasts * rate).round() as usize * n {
        if k % n == 0 {
            let depth = simulation.hull.look(&simulation.world.states, n as f64 * h);
            fall.penetration = fall.penetration.max(depth);
            fall.overlap = fall.overlap.max(simulation.self_contact.look(&simulation.world.states));
        }
        if fall.rests_after.is_none() {
            simulation.step();
        }
        let world = &simulation.world;
        fall.energy.push(world.energy());
        fall.excess = fall.excess.max(simulation.limits.excess(&world.states));
        // A body that hardly moves is put to rest: the solver's last trembling is no motion.
        let kinetic = world.articulation.kinetic_energy(&world.states);
        slow = if kinetic < STILL * ragdoll.mass { slow + h } else { 0.0 };
        if slow > STILL_FOR {
            fall.rests_after = fall.rests_after.or(Some((k + 1) as f64 * h));
        }
        if (k + 1) % n == 0 {
            poses.push(ragdoll.pose(character.skeleton(), &world.states, &like));
        }
    }
    let skeleton = motion.character.skeleton();
    for (f, pose) in poses.iter_mut().enumerate() {
        for (id, place) in skeleton.ids().zip(pose.local_mut()) {
            let before = f <= from;
            place.translation =
                if before { clip.local(skeleton, f, id).translation } else { place.translation / factor };
        }
    }
    let mut made = Clip::from_poses(clip.name.clone(), rate, skeleton, &poses);
    made.start = clip.start;
    made.property_tracks = clip.property_tracks_in(0..poses.len());
    fix_hemispheres(&mut made);
    fall.motion.contacts = fall.motion.contacts.map(|c| c.changed(|f| f.min(from), |y| y));
    fall.motion.clip = made;
    Some(fall)
}

/// The motion, which rises by so many metres until frame `from` and stays as high.
fn raised(motion: &Motion, from: usize, by: f64) -> Motion {
    let before = |f: usize| from.saturating_sub(f) as f64 / (BRING_IN * motion.clip.sample_rate);
    let offset = |f: usize| Vec3::y() * (by * smoothstep(1.0 - before(f)));
    shifted(motion.clone(), &(0..motion.clip.frames()).map(offset).collect::<Vec<_>>())
}

/// The poses up to frame `from`, brought inside the joint limits towards the end.
fn poses_before(motion: &Motion, mechanism: &Mechanism, from: usize) -> Vec<Pose> {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    let mut poses: Vec<Pose> = (0..=from).map(|f| clip.pose(skeleton, f)).collect();
    for (f, pose) in poses.iter_mut().enumerate() {
        let share = smoothstep(1.0 - (from - f) as f64 / (BRING_IN * clip.sample_rate));
        let mut inside = pose.clone();
        mechanism.enforce(&mut inside);
        for (a, b) in pose.local_mut().iter_mut().zip(inside.local()) {
            a.rotation = slerp(&a.rotation, &b.rotation, share);
        }
    }
    poses
}

/// A ragdoll in its world.
struct RagdollSimulation {
    world: World,
    limits: JointLimitRows,
    self_contact: SelfContactRows,
    hull: ContactHull,
    /// Steps in a frame.
    steps: usize,
    /// Seconds in a step.
    h: f64,
}

impl RagdollSimulation {
    /// The bodies in the pose `like` of frame `from`, with the velocities of the clip and those of the hit.
    fn new(
        motion: &Motion,
        ragdoll: &Ragdoll,
        mechanism: &Mechanism,
        how: &RagdollRelease,
        (from, like): (usize, &Pose),
    ) -> Self {
        let skeleton = motion.character.skeleton();
        let model = ModelPose::of(skeleton, like);
        let trajectory = BodyTrajectory::new(&motion.clip, how.step);
        let (steps, h) = (trajectory.steps, trajectory.h);
        let mut states = ragdoll.states(&model);
        let before = (from * steps).saturating_sub(1);
        let moving = trajectory.states(ragdoll, skeleton, before, before + 1);
        for (state, m) in states.iter_mut().zip(&moving[0]) {
            state.velocity = m.velocity;
            state.angular_velocity = m.angular_velocity;
        }
        let hit = how.hit.and_then(|(role, impulse)| Some((ragdoll.find(role)?, impulse)));
        if let Some((body, impulse)) = hit {
            states[body].velocity += impulse / ragdoll.parts[body].mass;
        }
        let articulation = ragdoll.articulation(skeleton, &model);
        project_velocities(&mut ArticulationSolver::new(&articulation), &articulation, &mut states);
        let limits = JointLimitRows::new(ragdoll, mechanism, skeleton, &model);
        let body = CharacterBody::new(&motion.character);
        let self_contact = SelfContactRows::new(&body, ragdoll, (&model, &states), limits.ids());
        let settings = WorldSettings { erp: 0.05, sweeps: SWEEPS, passive: true, ..WorldSettings::default() };
        let hull = ContactHull::of(&body, ragdoll, &model, &states, (how.ground, how.friction));
        let mut world = World::new(articulation, states, Vec::new(), settings);
        world.drives = joint_friction(ragdoll, how.resistance);
        Self { world, limits, self_contact, hull, steps, h }
    }

    /// One step; repeated where a vertex hit the ground that was not supported.
    fn step(&mut self) {
        let Self { world, limits, self_contact, hull, h, .. } = self;
        world.pulls = limits.rows(&world.states, *h);
        world.pulls.extend(self_contact.rows(&world.states, *h));
        let before = world.states.clone();
        world.supports = hull.supports(&world.states, *h);
        world.advance(*h);
        for _ in 0..REPEATS {
            let missed = hull.missed(&world.states, &before, &world.supports);
            if missed.is_empty() {
                break;
            }
            world.supports.extend(missed);
            world.states.clone_from(&before);
            world.advance(*h);
        }
    }
}

/// Friction in every joint, as implicit damping.
fn joint_friction(ragdoll: &Ragdoll, resistance: f64) -> Vec<BallDrive> {
    let drive = |(k, part): (usize, &RagdollPart)| {
        part.parent?;
        let moment = part.supported_mass * part.bone.norm().max(0.05) * GRAVITY;
        let toes = if matches!(part.role, Role::Toes(_)) { STIFF_TOES } else { 0.0 };
        let damping = resistance * moment + toes;
        Some(BallDrive {
            constraint: k - 1,
            stiffness: 0.0,
            damping,
            target: Quat::identity(),
            rate: Vec3::zeros(),
        })
    };
    ragdoll.parts.iter().enumerate().filter_map(drive).collect()
}
