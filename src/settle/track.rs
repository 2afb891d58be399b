//! Bodies follow a course under gravity, contacts and a bounded help at the pelvis: one window of a clip.
//!
//! The velocity-level step of [`World`]: constraints exact, joints driven implicitly with the rate of the course fed
//! forward, contacts as bounded rows. The help is a spring of the pelvis to its course whose forces stay below a part
//! of the body's weight, as nobody holds a body up. Space: model space. Units: SI.

use super::course::Course;
use super::floor::Floor;
use super::ragdoll::{GRAVITY, Ragdoll, relative};
use crate::dynamics::{BodyState, Collider, Contact, Drive, Pull, Shape, World, WorldSettings};
use crate::math::{Transform, Vec3, log};
use crate::model::{ModelPose, Role, Skeleton};

/// How the bodies are driven.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Of the joints: per second squared and kilogram.
    pub stiffness: f64,
    /// Damping of joints and help, as a part of critical.
    pub damping: f64,
    /// The help at the pelvis: each component of its force at most this part of the weight.
    pub assist: f64,
    /// Its torques at most this part of the weight times a metre for a body of 1.75 m, times `assist`.
    pub assist_turn: f64,
    /// Coulomb's coefficient between body and floor.
    pub friction: f64,
}

impl Default for Gains {
    fn default() -> Self {
        Self { stiffness: 480.0, damping: 1.0, assist: 0.1, assist_turn: 0.3, friction: 0.8 }
    }
}

/// The bodies at one frame, and what acted on them since the one before.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The bodies.
    pub states: Vec<BodyState>,
    /// How much of this is physics: 0 where the clip was kept as it was.
    pub physics: f64,
    /// The force of the help at the pelvis, over the weight.
    pub assist_force: f64,
    /// Its torque, over weight times height.
    pub assist_moment: f64,
    /// The normal force of all contacts, over the weight.
    pub carried: f64,
}

/// The body of 1.75 m that lengths are compared with.
const USUAL_HEIGHT: f64 = 1.75;

/// Contacts nearer than this are given to the step, as a part of the height.
const NEAR: f64 = 0.01;

/// The world of a ragdoll above a floor: its sites are the first colliders, the floor the last one.
fn world_of(
    ragdoll: &Ragdoll,
    skeleton: &Skeleton,
    hung: &ModelPose,
    states: Vec<BodyState>,
    friction: f64,
    settings: WorldSettings,
) -> World {
    let articulation = ragdoll.articulation(skeleton, hung);
    let collider = |body, shape, at| Collider {
        body,
        shape,
        body_from_shape: Transform::from_translation(at),
        friction,
        restitution: 0.0,
    };
    let mut colliders: Vec<Collider> = ragdoll
        .sites
        .iter()
        .map(|s| collider(Some(s.body), Shape::Sphere { radius: s.radius }, s.at))
        .collect();
    colliders.push(collider(None, Shape::Plane, Vec3::zeros()));
    World::new(articulation, states, colliders, settings)
}

/// The contacts of the sites with the floor at a frame, where the clip has the bodies as `wanted`.
///
/// What does not rest slides: a swinging foot that grazes the floor does not stumble. What the clip itself has in the
/// floor, such as the edge of a sole that leans, is let be there: nothing is gained by jumping off it.
fn contacts(
    ragdoll: &Ragdoll,
    floor: &Floor,
    frame: usize,
    (world, wanted): (&mut World, &[BodyState]),
    (h, friction): (f64, f64),
) -> Vec<Contact> {
    let plane = ragdoll.sites.len();
    let mut found = Vec::new();
    for (k, site) in ragdoll.sites.iter().enumerate() {
        let state = &world.states[site.body];
        let at = state.point(&site.at);
        let speed = state.velocity.norm() + state.angular_velocity.norm() * site.at.norm();
        let meant = wanted[site.body].point(&site.at).y - site.radius;
        let depth = floor.under(site.part, frame).min(meant) + site.radius - at.y;
        world.colliders[k].friction = if floor.rests(site.part, frame) { friction } else { 0.0 };
        if depth > -NEAR * ragdoll.height - h * speed {
            let point = at - Vec3::y() * site.radius;
            found.push(Contact { first: k, second: plane, feature: 0, point, normal: Vec3::y(), depth });
        }
    }
    found
}

/// Stiffness (N m/rad) and damping (N m s/rad) of the joint above a part.
fn joint_gains(ragdoll: &Ragdoll, part: usize, gains: &Gains) -> (f64, f64) {
    let p = &ragdoll.parts[part];
    // Legs carry what stands on them, not what hangs on them.
    let borne = match p.role {
        Role::UpperLeg(_) | Role::LowerLeg(_) | Role::Foot(_) => 0.3 * ragdoll.mass,
        Role::Toes(_) => 0.1 * ragdoll.mass,
        _ => p.carried + ragdoll.mass / 70.0,
    };
    let size = ragdoll.height / USUAL_HEIGHT;
    let stiffness = gains.stiffness * borne * size;
    let inertia = 0.3 * borne * size * size;
    (stiffness, gains.damping * 2.0 * (stiffness * inertia).sqrt())
}

/// The drives of all joints from one instant of the course to the next.
fn drives(ragdoll: &Ragdoll, from: &[BodyState], to: &[BodyState], h: f64, gains: &Gains) -> Vec<Drive> {
    let drive = |(k, parent): (usize, usize)| {
        let (now, next) = (relative(from, parent, k), relative(to, parent, k));
        let (stiffness, damping) = joint_gains(ragdoll, k, gains);
        Drive { constraint: k - 1, stiffness, damping, target: now, rate: log(&(next * now.inverse())) / h }
    };
    let linked = ragdoll.parts.iter().enumerate().filter_map(|(k, p)| Some((k, p.parent?)));
    linked.map(drive).collect()
}

/// The help at the pelvis: three shifts, then three turns.
fn help(
    ragdoll: &Ragdoll,
    world: &World,
    from: &BodyState,
    to: &BodyState,
    h: f64,
    gains: &Gains,
) -> Vec<Pull> {
    let weight = ragdoll.mass * GRAVITY;
    let size = ragdoll.height / USUAL_HEIGHT;
    let now = &world.states[0];
    let shift = now.position - from.position;
    let turn = log(&(now.orientation * from.orientation.inverse()));
    let shift_rate = (to.position - from.position) / h;
    let turn_rate = log(&(to.orientation * from.orientation.inverse())) / h;
    let pull = |k: usize| {
        let linear = k < 3;
        let axis = Vec3::ith(k % 3, 1.0);
        // A part of the weight for every centimetre off: the same pull for bodies of any size.
        let stiffness = if linear { 16.0 * weight / size } else { 8.0 * weight * size };
        let inertia = if linear { ragdoll.mass } else { ragdoll.mass * (0.25 * ragdoll.height).powi(2) };
        let damping = gains.damping * 2.0 * (stiffness * inertia * 0.3).sqrt();
        let soft = damping + h * stiffness;
        let (error, rate) = if linear { (shift, shift_rate) } else { (turn, turn_rate) };
        let most = gains.assist * weight * if linear { 1.0 } else { gains.assist_turn * size };
        Pull {
            id: k,
            body: 0,
            against: None,
            point: now.position,
            along: if linear { axis } else { Vec3::zeros() },
            about: if linear { Vec3::zeros() } else { axis },
            speed: axis.dot(&rate) - stiffness / soft * axis.dot(&error),
            compliance: 1.0 / (h * soft),
            low: -most,
            high: most,
        }
    };
    (0..6).map(pull).collect()
}

impl Moment {
    /// The bodies where the clip has them, on their own.
    pub fn of_clip(states: Vec<BodyState>) -> Self {
        Self { states, physics: 0.0, assist_force: 0.0, assist_moment: 0.0, carried: 0.0 }
    }
}

/// The bodies from frame `first` to frame `last`, both included, starting on the course.
pub fn track(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    course: &Course,
    floor: &Floor,
    (first, last): (usize, usize),
    hung: &ModelPose,
    gains: &Gains,
) -> Vec<Moment> {
    let (n, h) = (course.steps, course.h);
    let wanted = course.states(ragdoll, skeleton, first * n, last * n);
    let settings = WorldSettings { slop: 5e-4, sweeps: 60, polish: false, ..WorldSettings::default() };
    let mut world = world_of(ragdoll, skeleton, hung, wanted[0].clone(), gains.friction, settings);
    let weight = ragdoll.mass * GRAVITY;
    let mut moments = vec![Moment { physics: 1.0, ..Moment::of_clip(wanted[0].clone()) }];
    let (mut force, mut moment, mut carried) = (0.0, 0.0, 0.0);
    for (k, pair) in wanted.windows(2).enumerate() {
        let frame = first + (k + 1).div_ceil(n).min(last - first);
        let contacts = contacts(ragdoll, floor, frame, (&mut world, &pair[1]), (h, gains.friction));
        world.drives = drives(ragdoll, &pair[0], &pair[1], h, gains);
        world.pulls = help(ragdoll, &world, &pair[0][0], &pair[1][0], h, gains);
        world.set_contacts(contacts);
        world.advance(h);
        let pulled = world.pull_forces();
        let size = |range: std::ops::Range<usize>| {
            pulled.get(range).map_or(0.0, |f| f.iter().map(|x| x * x).sum::<f64>().sqrt())
        };
        force += size(0..3) / weight;
        moment += size(3..6) / (weight * ragdoll.height);
        carried += world.contact_forces().iter().sum::<f64>() / weight;
        if (k + 1) % n == 0 {
            let part = 1.0 / n as f64;
            moments.push(Moment {
                states: world.states.clone(),
                physics: 1.0,
                assist_force: force * part,
                assist_moment: moment * part,
                carried: carried * part,
            });
            (force, moment, carried) = (0.0, 0.0, 0.0);
        }
    }
    if moments.len() > 1 {
        moments[0].carried = moments[1].carried;
    }
    moments
}
