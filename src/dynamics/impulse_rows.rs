//! The auxiliary rows of a world: motors, limits, contacts and supports as single velocities with bounded impulses.
//!
//! Source: Durikovic and Numata 2004, section III, with the rows that the paper omits (motors, limits, contact
//! normal and friction, restitution) in the form of the Open Dynamics Engine. Space: world; wrenches about the
//! reference points of the links. Units: SI.

use super::constraint::{ConstraintKind, of};
use super::contact_point::Contact;
use super::drive::{CoordinateLimit, Motor, Pull, Spring, Support};
use super::lcp::ImpulseBound;
use super::rigid_body::Body;
use super::spatial::Wrench;
use super::world::{RowKey, World, WorldSettings};
use crate::math::Vec3;

/// One velocity with its target and the bounds of the impulse that drives it.
#[derive(Clone, Debug)]
pub(super) struct ImpulseRow {
    /// The links that the row acts on, with the wrench of a unit impulse on each.
    pub(super) ends: Vec<(usize, Wrench)>,
    pub(super) target: f64,
    pub(super) compliance: f64,
    pub(super) bound: ImpulseBound,
    pub(super) key: RowKey,
    /// Whether its target is that of a bounce.
    pub(super) bounces: bool,
}

/// Friction of constraints is explicit in a variational step: up to this fraction of the velocity per step it is accurate;
/// the step becomes unstable near 1.
const EXPLICIT_FRICTION: f64 = 0.1;

/// Key of a contact's normal row; its two friction rows have the next two numbers.
const CONTACT_NORMAL: u8 = 2;

/// Keys of all rows of a contact.
pub(super) const CONTACT_KEYS: std::ops::Range<u8> = CONTACT_NORMAL..CONTACT_NORMAL + 3;

/// Key of a pull's row.
const PULL: u8 = 5;

/// Key of a support's normal row; its two friction rows have the next two numbers.
const SUPPORT_NORMAL: u8 = 6;

/// Key of the row of a spring in a loop.
const LOOP_SPRING: u8 = 9;

/// Key of the row of friction in a loop.
const LOOP_FRICTION: u8 = 10;

/// Limits nearer than this (rad or m) get a row even where the velocity would not reach them within the step, because
/// other rows of the step may accelerate the coordinate.
const LIMIT_NEARNESS: f64 = 0.05;

/// Unit impulses on `a` and `b` along the free motion; `None` where the constraint has not exactly one.
fn coordinate_ends(world: &World, k: usize) -> Option<Vec<(usize, Wrench)>> {
    let c = &world.articulation.constraints()[k];
    let (a, b) = (of(&world.states, c.a), of(&world.states, c.b));
    let axis = a.orientation * c.axis_a;
    let point = b.point(&c.anchor_b);
    let end = |body: Option<usize>, sign: f64| {
        let (moment, force) = match c.kind {
            ConstraintKind::Hinge => (axis * sign, Vec3::zeros()),
            _ => (Vec3::zeros(), axis * sign),
        };
        body.map(|i| world.at_link(i, &point, moment, force))
    };
    matches!(c.kind, ConstraintKind::Hinge | ConstraintKind::Slider)
        .then(|| [end(c.a, -1.0), end(c.b, 1.0)].into_iter().flatten().collect())
}

/// The row of a motor: drives the velocity to its set-point within the limit of torque or force.
pub(super) fn motor_row(world: &World, motor: &Motor, h: f64) -> Option<ImpulseRow> {
    let ends = coordinate_ends(world, motor.constraint)?;
    let most = motor.limit * h;
    Some(ImpulseRow {
        ends,
        target: motor.speed,
        compliance: world.settings.compliance,
        bound: ImpulseBound::Box { low: -most, high: most },
        key: (0, motor.constraint, 0, 0),
        bounces: false,
    })
}

/// The row of a spring whose constraint closes a loop, where it is no resistance of the tree: the same implicit spring as a
/// row with compliance.
pub(super) fn loop_spring_row(world: &World, spring: &Spring, h: f64) -> Option<ImpulseRow> {
    let ends = coordinate_ends(world, spring.constraint)?;
    let gain = h * (spring.damping + h * spring.stiffness);
    let error = world.articulation.constraints()[spring.constraint].coordinate(&world.states) - spring.target;
    (gain > 0.0).then(|| ImpulseRow {
        ends,
        target: spring.rate - h * spring.stiffness * error / gain,
        compliance: 1.0 / gain,
        bound: ImpulseBound::Box { low: f64::NEG_INFINITY, high: f64::INFINITY },
        key: (LOOP_SPRING, spring.constraint, 0, 0),
        bounces: false,
    })
}

/// The row of the friction of a constraint that closes a loop.
pub(super) fn loop_friction_row(world: &World, constraint: usize, h: f64) -> Option<ImpulseRow> {
    let gain = h * world.articulation.constraints()[constraint].friction;
    let ends = coordinate_ends(world, constraint).filter(|_| gain > 0.0)?;
    Some(ImpulseRow {
        ends,
        target: 0.0,
        compliance: 1.0 / gain,
        bound: ImpulseBound::Box { low: f64::NEG_INFINITY, high: f64::INFINITY },
        key: (LOOP_FRICTION, constraint, 0, 0),
        bounces: false,
    })
}

/// The rows of a limit: the coordinate may reach the bound within the step, and is driven back from beyond it.
pub(super) fn limit_rows(world: &World, limit: &CoordinateLimit, h: f64) -> Vec<ImpulseRow> {
    let c = &world.articulation.constraints()[limit.constraint];
    let Some(ends) = coordinate_ends(world, limit.constraint) else { return Vec::new() };
    let (at, rate) = (c.coordinate(&world.states), c.rate(&world.states));
    let near = LIMIT_NEARNESS + h * rate.abs();
    // The velocity that stays within, or returns to, the allowed range: `room` is negative beyond the limit.
    let velocity = |room: f64| if room < 0.0 { -world.settings.erp / h * room } else { -room / h };
    let row = |target, low, high, side| ImpulseRow {
        ends: ends.clone(),
        target,
        compliance: world.settings.compliance,
        bound: ImpulseBound::Box { low, high },
        key: (1, limit.constraint, side, 0),
        bounces: false,
    };
    let mut rows = Vec::new();
    if at - limit.low < near {
        rows.push(row(velocity(at - limit.low), 0.0, f64::INFINITY, 0));
    }
    if limit.high - at < near {
        rows.push(row(-velocity(limit.high - at), f64::NEG_INFINITY, 0.0, 1));
    }
    rows
}

/// One normal and two friction rows.
pub(super) fn contact_rows(world: &World, contact: &Contact, h: f64, rows: &mut Vec<ImpulseRow>) {
    let (first, second) = (&world.colliders[contact.first], &world.colliders[contact.second]);
    let settings = &world.settings;
    let n = contact.normal;
    let speed = |body: Option<usize>| {
        let s = of(&world.states, body);
        s.velocity + s.world_angular_velocity().cross(&(contact.point - s.position))
    };
    let approach = n.dot(&(speed(first.body) - speed(second.body)));
    let restitution = first.restitution.max(second.restitution);
    let friction = (first.friction * second.friction).sqrt();
    let ends = |direction: Vec3| {
        let end = |body: Option<usize>, sign: f64| {
            body.map(|i| world.at_link(i, &contact.point, Vec3::zeros(), direction * sign))
        };
        [end(first.body, 1.0), end(second.body, -1.0)].into_iter().flatten().collect::<Vec<_>>()
    };
    // The velocity at the end of the step without contacts.
    let free = world.rate_of(&ends(n));
    let mut target = depth_target(settings, contact.depth, h);
    // A body bounces in the step in which it would touch.
    let bounces = restitution > 0.0 && approach < -settings.bounce_speed && free < target;
    if bounces {
        target = target.max(rebound([approach, free], contact.depth, restitution, h));
    }
    let key = (CONTACT_NORMAL, contact.first, contact.second, contact.feature);
    touch_rows(settings, (n, friction, target, bounces), ends, key, rows);
}

/// The velocity at the end of a step in which a body bounces. Before the step the surfaces approach with a velocity, after it they would with
/// another, by an acceleration that is taken as constant. On a path of the step's length at the velocity that is wanted, this
/// acceleration leaves as much energy as restitution does of that at the moment of contact.
fn rebound([approach, free]: [f64; 2], depth: f64, restitution: f64, h: f64) -> f64 {
    let pull = approach - free;
    // Twice the energy by unit of mass, above the height of contact.
    let above = -2.0 * depth * pull / h;
    let at_contact = (approach * approach + above).max(0.0);
    let left = restitution * restitution * at_contact - above + pull * pull;
    left.max(0.0).sqrt() - pull
}

/// One normal and two friction rows of a support.
pub(super) fn support_rows(world: &World, support: &Support, h: f64, rows: &mut Vec<ImpulseRow>) {
    let target = depth_target(&world.settings, support.depth, h);
    let ends = |direction: Vec3| {
        let end = |&(body, share, at): &(usize, f64, Vec3)| {
            world.at_link(body, &at, Vec3::zeros(), direction * share)
        };
        support.bodies.iter().map(end).collect()
    };
    let key = (SUPPORT_NORMAL, support.id, 0, 0);
    touch_rows(&world.settings, (support.normal, support.friction, target, false), ends, key, rows);
}

/// The row of a pull.
pub(super) fn pull_row(world: &World, pull: &Pull, h: f64) -> ImpulseRow {
    let end = |body: usize, sign: f64| world.at_link(body, &pull.point, pull.about * sign, pull.along * sign);
    ImpulseRow {
        ends: [Some(end(pull.body, 1.0)), pull.against.map(|i| end(i, -1.0))].into_iter().flatten().collect(),
        target: pull.speed,
        compliance: pull.compliance,
        bound: ImpulseBound::Box { low: pull.low * h, high: pull.high * h },
        key: (PULL, pull.id, 0, 0),
        bounces: false,
    }
}

/// The target normal velocity of a contact: overlap is corrected gradually (error reduction parameter, above the slop); a
/// gap may close within the step.
fn depth_target(settings: &WorldSettings, depth: f64, h: f64) -> f64 {
    if depth > 0.0 { settings.erp / h * (depth - settings.slop).max(0.0) } else { depth / h }
}

/// One normal and two friction rows; `key` is that of the normal row, the others have the next two numbers.
fn touch_rows(
    settings: &WorldSettings,
    (n, friction, target, bounces): (Vec3, f64, f64, bool),
    ends: impl Fn(Vec3) -> Vec<(usize, Wrench)>,
    key: RowKey,
    rows: &mut Vec<ImpulseRow>,
) {
    let helper = if n.x.abs() < 0.7 { Vec3::x() } else { Vec3::y() };
    let along = n.cross(&helper).normalize();
    let normal_row = rows.len();
    for (k, direction) in [n, along, n.cross(&along)].into_iter().enumerate() {
        if k > 0 && friction == 0.0 {
            continue;
        }
        let partner = if k == 1 { normal_row + 2 } else { normal_row + 1 };
        let bound = if k == 0 {
            ImpulseBound::Box { low: 0.0, high: f64::INFINITY }
        } else {
            let partner = Some(partner).filter(|_| settings.cone);
            ImpulseBound::Friction { normal: normal_row, coefficient: friction, partner }
        };
        rows.push(ImpulseRow {
            ends: ends(direction),
            target: if k == 0 { target } else { 0.0 },
            compliance: settings.compliance,
            bound,
            key: (key.0 + k as u8, key.1, key.2, key.3),
            bounces: bounces && k == 0,
        });
    }
}

impl World {
    /// For each tree whether nothing but gravity, constant motor torques and light friction acts on it in a step of `h`
    /// seconds, given the rows and their impulses. A passive world has no such tree: its energy must not rise by rounding.
    pub(super) fn free_trees(&self, rows: &[ImpulseRow], impulses: &[f64], h: f64) -> Vec<bool> {
        let mut free = vec![!self.settings.passive; self.trees.len()];
        let articulation = &self.articulation;
        let mut take = |body: Option<usize>| {
            if let Some(body) = body {
                free[self.tree_of[articulation.link_of(body)]] = false;
            }
        };
        let driven =
            self.drives.iter().map(|d| d.constraint).chain(self.springs.iter().map(|s| s.constraint));
        for k in driven {
            let c = &articulation.constraints()[k];
            take(c.a.or(c.b));
        }
        for c in articulation.constraints() {
            let inertia = |body: usize| {
                let body: &Body = &articulation.bodies()[body];
                match c.kind {
                    ConstraintKind::Slider => body.mass,
                    _ => body.smallest_moment(),
                }
            };
            let least = [c.a, c.b].into_iter().flatten().map(inertia).fold(f64::INFINITY, f64::min);
            if h * c.friction > EXPLICIT_FRICTION * least {
                take(c.a.or(c.b));
            }
        }
        for (row, _) in rows.iter().zip(impulses).filter(|(_, x)| **x != 0.0) {
            for (link, _) in &row.ends {
                free[self.tree_of[*link]] = false;
            }
        }
        free
    }
}
