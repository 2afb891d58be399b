//! The auxiliary rows of a world: motors, limits and contacts as single velocities with bounded impulses.
//!
//! Source: Durikovic and Numata 2004, section III, with the rows that the paper leaves out (motors, limits, contact
//! normal and friction, restitution) in the form of the Open Dynamics Engine. Space: world; wrenches about the
//! reference points of the links. Units: SI.

use super::constraint::{ConstraintKind, of};
use super::contact::Contact;
use super::drive::{CoordinateLimit, Motor};
use super::lcp::Bound;
use super::spatial::Wrench;
use super::world::{RowKey, World};
use crate::math::Vec3;

/// One velocity: what it should be, and how hard it may be pushed there.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) first: Option<(usize, Wrench)>,
    pub(super) second: Option<(usize, Wrench)>,
    pub(super) target: f64,
    pub(super) compliance: f64,
    pub(super) bound: Bound,
    pub(super) key: RowKey,
}

impl Row {
    /// The links that the row moves, with a unit impulse on each.
    pub(super) fn ends(&self) -> impl Iterator<Item = (usize, Wrench)> + '_ {
        self.first.iter().chain(self.second.iter()).copied()
    }
}

/// The kind of a contact's normal row; its two friction rows count on from there.
pub(super) const CONTACT_NORMAL: u8 = 2;

/// Limits nearer than this (rad or m) get a row even where the rate would not reach them within the step.
const LIMIT_NEARNESS: f64 = 0.05;

/// The rate of `b` against `a` as unit impulses on both; `None` where the constraint has no single freedom.
fn coordinate_ends(world: &World, k: usize) -> Option<[Option<(usize, Wrench)>; 2]> {
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
    matches!(c.kind, ConstraintKind::Hinge | ConstraintKind::Slider).then(|| [end(c.a, -1.0), end(c.b, 1.0)])
}

/// A motor drives the rate to its set-point within its torque or force.
pub(super) fn motor_row(world: &World, motor: &Motor, h: f64) -> Option<Row> {
    let [first, second] = coordinate_ends(world, motor.constraint)?;
    let most = motor.limit * h;
    Some(Row {
        first,
        second,
        target: motor.speed,
        compliance: world.settings.compliance,
        bound: Bound::Box { low: -most, high: most },
        key: (0, motor.constraint, 0, 0),
    })
}

/// A limit lets the coordinate come as near as the step allows, and drives it back from beyond.
pub(super) fn limit_rows(world: &World, limit: &CoordinateLimit, h: f64) -> Vec<Row> {
    let c = &world.articulation.constraints()[limit.constraint];
    let Some([first, second]) = coordinate_ends(world, limit.constraint) else { return Vec::new() };
    let (at, rate) = (c.coordinate(&world.states), c.rate(&world.states));
    let near = LIMIT_NEARNESS + h * rate.abs();
    // The velocity that keeps, or returns to, the allowed side: `room` is negative beyond the limit.
    let velocity = |room: f64| if room < 0.0 { -world.settings.erp / h * room } else { -room / h };
    let row = |target, low, high, side| Row {
        first,
        second,
        target,
        compliance: world.settings.compliance,
        bound: Bound::Box { low, high },
        key: (1, limit.constraint, side, 0),
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
pub(super) fn contact_rows(world: &World, contact: &Contact, h: f64, rows: &mut Vec<Row>) {
    let (first, second) = (&world.colliders[contact.first], &world.colliders[contact.second]);
    let settings = &world.settings;
    let n = contact.normal;
    let speed = |body: Option<usize>| {
        let s = of(&world.states, body);
        s.velocity + s.world_angular_velocity().cross(&(contact.point - s.position))
    };
    let approach = n.dot(&(speed(first.body) - speed(second.body)));
    let restitution = first.restitution.max(second.restitution);
    let mut target = if contact.depth > 0.0 {
        settings.erp / h * (contact.depth - settings.slop).max(0.0)
    } else {
        contact.depth / h
    };
    // A body bounces in the step in which it would arrive.
    if restitution > 0.0 && approach < -settings.bounce_speed && approach < target {
        target = target.max(-restitution * approach);
    }
    let friction = (first.friction * second.friction).sqrt();
    let helper = if n.x.abs() < 0.7 { Vec3::x() } else { Vec3::y() };
    let along = n.cross(&helper).normalize();
    let normal_row = rows.len();
    for (k, direction) in [n, along, n.cross(&along)].into_iter().enumerate() {
        let end = |body: Option<usize>, sign: f64| {
            body.map(|i| world.at_link(i, &contact.point, Vec3::zeros(), direction * sign))
        };
        let partner = match k {
            1 => Some(normal_row + 2),
            _ => Some(normal_row + 1),
        };
        let bound = if k == 0 {
            Bound::Box { low: 0.0, high: f64::INFINITY }
        } else {
            let partner = partner.filter(|_| settings.cone);
            Bound::Friction { normal: normal_row, coefficient: friction, partner }
        };
        if k > 0 && friction == 0.0 {
            continue;
        }
        rows.push(Row {
            first: end(first.body, 1.0),
            second: end(second.body, -1.0),
            target: if k == 0 { target } else { 0.0 },
            compliance: settings.compliance,
            bound,
            key: (CONTACT_NORMAL + k as u8, contact.first, contact.second, contact.feature),
        });
    }
}
