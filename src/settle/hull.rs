//! The skin of a character becomes the points of its bodies that may touch the ground.
//!
//! Only the outermost points of a body ever touch a plane: those farthest along many directions. A vertex belongs to the
//! bodies whose joints move it; heads, hair, packs and skirts lie on their own skin so. A body of which nothing is
//! known but bones has balls at the ends of its capsule, and the points of its soles. Space: the axes of the body,
//! from its centre of mass. Units: metres.

use super::ragdoll::Ragdoll;
use crate::anatomy::contact_points;
use crate::dynamics::{BodyState, Contact};
use crate::math::Vec3;
use crate::model::{Character, Mesh, ModelPose};
use crate::skinning::{Skin, linear_blend};

/// Directions along which the outermost points are looked for: a ball of 10 cm is met within 2 mm by 200, 4 mm by 100.
const DIRECTIONS: usize = 200;

/// A body touches the ground with so many points at once: a plate stands on four, and two more are on their way.
const AT_ONCE: usize = 6;

/// A vertex belongs to every body that moves it by so much: between two bodies it lies between its places on both.
const SHARE: f32 = 0.25;

/// The radius of a point of a sole without skin.
const SOLE: f64 = 0.005;

/// A ball of a body that may touch the ground; of radius 0 on the skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knob {
    at: Vec3,
    radius: f64,
}

/// The knobs of every body.
#[derive(Clone, Debug)]
pub struct Hull(Vec<Vec<Knob>>);

impl Hull {
    /// The hull of a character in the pose in which it is let go; what is in the ground there already stands on it.
    pub fn of(
        character: &Character,
        ragdoll: &Ragdoll,
        model: &ModelPose,
        states: &[BodyState],
        ground: f64,
    ) -> Self {
        let mut knobs = of_skin(character, ragdoll, model, states);
        if knobs.iter().all(Vec::is_empty) {
            knobs = of_bones(character, ragdoll, model, states, ground);
        }
        for (knobs, state) in knobs.iter_mut().zip(states) {
            for knob in knobs {
                let depth = ground + knob.radius - state.point(&knob.at).y;
                knob.at += state.orientation.inverse_transform_vector(&(Vec3::y() * depth.max(0.0)));
            }
        }
        Self(knobs)
    }

    /// The contacts with the ground that a step of `h` seconds may bring; body `k` is collider `k`, the ground the last.
    pub fn contacts(&self, states: &[BodyState], ground: f64, margin: f64, h: f64) -> Vec<Contact> {
        let mut all = Vec::new();
        for (body, (knobs, state)) in self.0.iter().zip(states).enumerate() {
            let spin = state.world_angular_velocity();
            let mut near: Vec<(f64, Contact)> = Vec::new();
            for (k, knob) in knobs.iter().enumerate() {
                let at = state.point(&knob.at);
                let depth = ground + knob.radius - at.y;
                let velocity = state.velocity + spin.cross(&(at - state.position));
                let speed = state.velocity.norm() + spin.norm() * knob.at.norm();
                if depth > -margin - h * speed {
                    let (point, normal) = (at - Vec3::y() * knob.radius, Vec3::y());
                    let (first, second, feature) = (body, states.len(), k as u32);
                    near.push((
                        depth - h * velocity.y,
                        Contact { first, second, feature, point, normal, depth },
                    ));
                }
            }
            all.extend(spread(near));
        }
        all
    }

    /// How deep anything is in the ground; negative above it.
    pub fn depth(&self, states: &[BodyState], ground: f64) -> f64 {
        let knobs = self.0.iter().zip(states).flat_map(|(knobs, s)| knobs.iter().map(move |k| (k, s)));
        knobs.map(|(knob, s)| ground + knob.radius - s.point(&knob.at).y).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Of some contacts, each with how deep it will be, the one that will be deepest, and those farthest from the ones chosen
/// before.
fn spread(mut near: Vec<(f64, Contact)>) -> Vec<Contact> {
    for chosen in 0..AT_ONCE.min(near.len()) {
        let rank = |(soon, contact): &(f64, Contact)| {
            let others = near[..chosen].iter().map(|(_, other)| (contact.point - other.point).norm());
            if chosen == 0 { *soon } else { others.fold(f64::INFINITY, f64::min) }
        };
        let ranked = (chosen..near.len()).map(|k| (rank(&near[k]), k));
        let next = ranked.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(chosen, |(_, k)| k);
        near.swap(chosen, next);
    }
    near.truncate(AT_ONCE);
    // In the order of their knobs: who is deepest changes nothing else.
    near.sort_by_key(|(_, contact)| contact.feature);
    near.into_iter().map(|(_, contact)| contact).collect()
}

/// The outermost vertices of every body.
fn of_skin(
    character: &Character,
    ragdoll: &Ragdoll,
    model: &ModelPose,
    states: &[BodyState],
) -> Vec<Vec<Knob>> {
    let mut skins: Vec<Vec<Vec3>> = vec![Vec::new(); states.len()];
    let mut moved = Skin::default();
    for mesh in &character.meshes {
        linear_blend(mesh, model, &mut moved);
        for (v, position) in moved.positions.iter().enumerate() {
            let place = Vec3::from(position.map(f64::from));
            for body in bodies_of(mesh, ragdoll, v) {
                let state = &states[body];
                skins[body].push(state.orientation.inverse_transform_vector(&(place - state.position)));
            }
        }
    }
    skins.iter().map(|skin| outermost(skin)).collect()
}

/// The bodies whose joints move a vertex.
fn bodies_of(mesh: &Mesh, ragdoll: &Ragdoll, vertex: usize) -> impl Iterator<Item = usize> {
    let mut sums = [(None, 0.0_f32); 4];
    for (joint, weight) in mesh.joints[vertex].iter().zip(mesh.weights[vertex]) {
        let body = ragdoll.carrier(mesh.bindings[usize::from(*joint)].joint);
        if let Some(sum) = sums.iter_mut().find(|sum| sum.0 == body || sum.1 == 0.0) {
            *sum = (body, sum.1 + weight);
        }
    }
    sums.into_iter().filter(|sum| sum.1 >= SHARE).filter_map(|sum| sum.0)
}

/// The points that lie farthest along directions all around, each once.
fn outermost(points: &[Vec3]) -> Vec<Knob> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let farthest = |k: usize| {
        let up = 1.0 - (2 * k + 1) as f64 / DIRECTIONS as f64;
        let (sin, cos) = (golden * k as f64).sin_cos();
        let wide = (1.0 - up * up).sqrt();
        let along = Vec3::new(wide * cos, up, wide * sin);
        (0..points.len()).max_by(|a, b| along.dot(&points[*a]).total_cmp(&along.dot(&points[*b])))
    };
    let mut found: Vec<usize> = (0..DIRECTIONS).filter_map(farthest).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|k| Knob { at: points[k], radius: 0.0 }).collect()
}

/// Balls at the ends of capsules along the bones, and the points of the soles.
fn of_bones(
    character: &Character,
    ragdoll: &Ragdoll,
    model: &ModelPose,
    states: &[BodyState],
    ground: f64,
) -> Vec<Vec<Knob>> {
    let mut knobs: Vec<Vec<Knob>> = vec![Vec::new(); states.len()];
    for point in contact_points(character, &character.rig).into_iter().filter(|p| p.part.of_foot()) {
        let Some(body) = ragdoll.carrier(point.joint) else { continue };
        let place = model.joint(point.joint).point(&point.at) - states[body].position;
        let at = states[body].orientation.inverse_transform_vector(&place);
        knobs[body].push(Knob { at, radius: SOLE });
    }
    for ((knobs, part), state) in
        knobs.iter_mut().zip(&ragdoll.parts).zip(states).filter(|of| of.0.0.is_empty())
    {
        let ends = [Vec3::zeros(), part.bone].map(|end| end - part.center);
        let low = ends.iter().map(|end| state.point(end).y - ground).fold(f64::INFINITY, f64::min);
        // As thick as its weight wants, no thicker than it is long, and not in the ground yet.
        let radius = part.radius.min(0.5 * part.bone.norm()).min(low).max(SOLE);
        let along = part.bone * (1.0 - (radius / part.bone.norm()).min(0.8));
        let middle = part.bone * 0.5 - part.center;
        knobs.extend([-0.5, 0.5].map(|share| Knob { at: middle + along * share, radius }));
    }
    knobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What the knobs leave out of a cloud of points is less than what a ball of its size leaves out.
        #[test]
        fn no_point_lies_far_beyond_the_knobs(
            points in proptest::collection::vec(proptest::array::uniform3(-1.0..1.0f64), 1..200),
            along in proptest::array::uniform3(-1.0..1.0f64),
        ) {
            let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
            let knobs = outermost(&points);
            prop_assume!(Vec3::from(along).norm() > 0.1);
            let along = Vec3::from(along).normalize();
            let reach = |all: &mut dyn Iterator<Item = Vec3>| all.map(|p| along.dot(&p)).fold(f64::NEG_INFINITY, f64::max);
            let missed = reach(&mut points.iter().copied()) - reach(&mut knobs.iter().map(|k| k.at));
            // No direction is farther than 0.16 rad from one of 200; two unit-cube corners are 3.5 apart.
            prop_assert!(missed < 0.16 * 3.5, "{}", missed);
        }
    }

    #[test]
    fn a_plate_stands_on_its_corners() {
        let contact = |k: usize| Contact {
            first: 0,
            second: 1,
            feature: k as u32,
            point: Vec3::new((k % 5) as f64, 0.0, (k / 5) as f64),
            normal: Vec3::y(),
            depth: 0.0,
        };
        // The corner that comes down first.
        let soon = |k: usize| if k == 20 { 1e-3 } else { 0.0 };
        let near = (0..25).map(|k| (soon(k), contact(k))).collect();
        let chosen: Vec<u32> = spread(near).iter().map(|c| c.feature).collect();
        assert!([0, 4, 20, 24].iter().all(|k| chosen.contains(k)), "{chosen:?}");
        assert_eq!(chosen.len(), AT_ONCE);
    }
}
