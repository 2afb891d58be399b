//! Contact sensors on bodies.
//!
//! Units: metres, seconds.

use super::contact_point::Contact;
use super::world::World;

/// Detects whether some bodies touch others.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Name in rules.
    pub name: String,
    /// The bodies that have the sensor.
    pub bodies: Vec<usize>,
    /// The bodies that it detects; empty for all, including the world.
    pub with: Vec<usize>,
    /// The distance below which it counts as touching, metres.
    pub margin: f64,
    /// Whether it touches now.
    pub on: bool,
    /// Time of the first touch, seconds.
    pub first_touch: Option<f64>,
}

/// Whether the sensor detects a contact.
pub(super) fn feels(sensor: &Sensor, world: &World, contact: &Contact) -> bool {
    let body = |collider: usize| world.colliders[collider].body;
    let side = |feeling: Option<usize>, felt: Option<usize>| {
        let feels = feeling.is_some_and(|b| sensor.bodies.contains(&b));
        feels && (sensor.with.is_empty() || felt.is_some_and(|b| sensor.with.contains(&b)))
    };
    let (a, b) = (body(contact.first), body(contact.second));
    contact.depth > -sensor.margin && (side(a, b) || side(b, a))
}
