//! Contact points of a ragdoll's skin with the ground.
//!
//! Every vertex is at its position under linear blend skinning: the weighted mean of its positions on the bodies that move
//! it. Heads, hair, packs and skirts therefore lie on their own skin, and nothing visible is in the ground. All vertices are
//! checked once a frame, and in the steps of the frame only those that may reach the ground. A body without skin has
//! spheres at the ends of its capsules, and the points of its soles. Space: model space; `held` in the axes of a body,
//! from its centre of mass. Units: metres.

use super::ragdoll::Ragdoll;
use crate::body::CharacterBody;
use crate::dynamics::{BodyState, Support};
use crate::math::{Mat3, Vec3};
use crate::model::{Binding, Mesh, ModelPose};

/// The most contact points of a body at once: a plate stands on four, and two more are about to touch.
const AT_ONCE: usize = 6;

/// The largest gain of speed within a frame for which no vertex is missed, m/s: where one end of a limb lands, the other
/// is thrown down.
const HASTE: f64 = 15.0;

/// A step that brings an unsupported vertex deeper than this is repeated, metres.
const MISSED: f64 = 1e-3;

/// The radius of a point of a sole without skin, metres.
const SOLE: f64 = 0.005;

/// A sphere that may touch the ground; of radius 0 for a vertex of the skin.
#[derive(Clone, Debug, Default, PartialEq)]
struct ContactVertex {
    /// The bodies that move it: index, weight, and the position on it times the weight. The largest weight first.
    held: Vec<(usize, f64, Vec3)>,
    /// The fixed part: the position on joints that no body moves, times their weight.
    still: Vec3,
    radius: f64,
    /// The depth that it may have: that at the release, until it has been higher.
    allowed: f64,
}

/// The vertices of all bodies, and which of them may touch the ground within a frame.
#[derive(Clone, Debug)]
pub struct ContactHull {
    vertices: Vec<ContactVertex>,
    near: Vec<usize>,
    ground: f64,
    friction: f64,
}

impl ContactHull {
    /// The hull of a body in the pose of the release; vertices in the ground there may stay as deep.
    pub fn of(
        body: &CharacterBody,
        ragdoll: &Ragdoll,
        model: &ModelPose,
        states: &[BodyState],
        (ground, friction): (f64, f64),
    ) -> Self {
        let meshes = &body.character().meshes;
        let skin = meshes.iter().flat_map(|mesh| of_skin(mesh, ragdoll, model, states));
        let mut vertices: Vec<ContactVertex> = skin.collect();
        if vertices.is_empty() {
            vertices = of_bones(body, ragdoll, model, states, ground);
        }
        vertices.iter_mut().for_each(|vertex| vertex.allowed = f64::INFINITY);
        Self { vertices, near: Vec::new(), ground, friction }
    }

    /// Finds the vertices that may touch the ground in the next `time` seconds; returns the largest depth.
    pub fn look(&mut self, states: &[BodyState], time: f64) -> f64 {
        let placed = placed(states);
        let mut deepest = f64::NEG_INFINITY;
        self.near.clear();
        for (k, vertex) in self.vertices.iter_mut().enumerate() {
            let depth = self.ground + vertex.radius - vertex.place(&placed).y;
            vertex.allowed = vertex.allowed.min(depth.max(0.0));
            deepest = deepest.max(depth);
            let speed = |&(body, share, place): &(usize, f64, Vec3)| {
                let s = &states[body];
                share * (s.velocity.norm() + HASTE) + s.angular_velocity.norm() * place.norm()
            };
            if depth > -time * vertex.held.iter().map(speed).sum::<f64>() {
                self.near.push(k);
            }
        }
        deepest
    }

    /// The contact points of a step of `h` seconds.
    pub fn supports(&self, states: &[BodyState], h: f64) -> Vec<Support> {
        let placed = placed(states);
        let mut of_body: Vec<Vec<(f64, usize, Vec3)>> = vec![Vec::new(); states.len()];
        for &k in &self.near {
            let vertex = &self.vertices[k];
            let (at, velocity) = vertex.motion(&placed, states);
            let depth = self.ground + vertex.radius - at.y - vertex.allowed;
            let (body, _, place) = &vertex.held[0];
            let speed = states[*body].velocity.norm() + states[*body].angular_velocity.norm() * place.norm();
            if depth + h * speed > -MARGIN {
                of_body[vertex.held[0].0].push((depth - h * velocity.y, k, at));
            }
        }
        of_body.into_iter().flat_map(spread).map(|(_, k, at)| self.support(k, at, &placed)).collect()
    }

    /// The vertices that a step brought into the ground without support, as they were `before` it.
    pub fn missed(&self, states: &[BodyState], before: &[BodyState], held: &[Support]) -> Vec<Support> {
        let (placed, start) = (placed(states), self::placed(before));
        let mut of_body: Vec<Vec<(f64, usize, Vec3)>> = vec![Vec::new(); states.len()];
        for &k in &self.near {
            let vertex = &self.vertices[k];
            let depth = self.ground + vertex.radius - vertex.place(&placed).y - vertex.allowed;
            if depth > MISSED && held.iter().all(|support| support.id != k) {
                of_body[vertex.held[0].0].push((depth, k, vertex.place(&start)));
            }
        }
        let deepest =
            |vertices: Vec<(f64, usize, Vec3)>| vertices.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        of_body.into_iter().filter_map(deepest).map(|(_, k, at)| self.support(k, at, &start)).collect()
    }

    /// Vertex `k`, which is at `at`, as a support.
    fn support(&self, k: usize, at: Vec3, placed: &[(Vec3, Mat3<f64>)]) -> Support {
        let vertex = &self.vertices[k];
        let share_of = |&(body, share, place): &(usize, f64, Vec3)| {
            let (centre, axes) = &placed[body];
            (body, share, centre + axes * (place / share) - Vec3::y() * vertex.radius)
        };
        Support {
            id: k,
            bodies: vertex.held.iter().map(share_of).collect(),
            normal: Vec3::y(),
            depth: self.ground + vertex.radius - at.y - vertex.allowed,
            friction: self.friction,
        }
    }
}

/// Vertices that could come nearer to the ground than this within a step, in any direction, are supported: where
/// one lands, others are thrown down.
const MARGIN: f64 = 1e-3;

/// Where bodies are, and their axes.
fn placed(states: &[BodyState]) -> Vec<(Vec3, Mat3<f64>)> {
    states.iter().map(|s| (s.position, s.orientation.to_rotation_matrix().into_inner())).collect()
}

impl ContactVertex {
    fn place(&self, placed: &[(Vec3, Mat3<f64>)]) -> Vec3 {
        let add = |sum: Vec3, &(body, share, place): &(usize, f64, Vec3)| {
            sum + placed[body].0 * share + placed[body].1 * place
        };
        self.held.iter().fold(self.still, add)
    }

    /// Its position and velocity.
    fn motion(&self, placed: &[(Vec3, Mat3<f64>)], states: &[BodyState]) -> (Vec3, Vec3) {
        let add = |(at, speed): (Vec3, Vec3), &(body, share, place): &(usize, f64, Vec3)| {
            let (centre, axes) = &placed[body];
            let turning = axes * states[body].angular_velocity.cross(&place);
            (at + centre * share + axes * place, speed + states[body].velocity * share + turning)
        };
        self.held.iter().fold((self.still, Vec3::zeros()), add)
    }
}

/// The vertex that will be deepest of some with their future depths, and those farthest from the ones chosen before.
fn spread(mut near: Vec<(f64, usize, Vec3)>) -> Vec<(f64, usize, Vec3)> {
    let mut apart = vec![f64::INFINITY; near.len()];
    for chosen in 0..AT_ONCE.min(near.len()) {
        let rank = |k: usize| if chosen == 0 { near[k].0 } else { apart[k] };
        let next = (chosen..near.len()).max_by(|&a, &b| rank(a).total_cmp(&rank(b))).unwrap_or(chosen);
        near.swap(chosen, next);
        apart.swap(chosen, next);
        for k in chosen + 1..near.len() {
            apart[k] = apart[k].min((near[k].2 - near[chosen].2).norm());
        }
    }
    near.truncate(AT_ONCE);
    // In their own order, so that the deepest one does not change the order.
    near.sort_by_key(|(_, vertex, _)| *vertex);
    near
}

/// The vertices of a mesh on the bodies that move them.
fn of_skin(mesh: &Mesh, ragdoll: &Ragdoll, model: &ModelPose, states: &[BodyState]) -> Vec<ContactVertex> {
    let held_by = |binding: &Binding| {
        let part = ragdoll.part_of(binding.joint);
        (part, model.joint(binding.joint).to_matrix() * binding.joint_from_mesh)
    };
    let bindings: Vec<_> = mesh.bindings.iter().map(held_by).collect();
    let vertex = |v: usize| {
        let position = Vec3::from(mesh.positions[v].map(f64::from));
        let mut vertex = ContactVertex::default();
        for (joint, weight) in mesh.joints[v].iter().zip(mesh.weights[v]).filter(|of| of.1 > 0.0) {
            let (body, model_from_mesh) = &bindings[usize::from(*joint)];
            let (share, place) =
                (f64::from(weight), model_from_mesh.transform_point(&position.into()).coords);
            let Some(body) = *body else {
                vertex.still += place * share;
                continue;
            };
            let state = &states[body];
            let held = state.orientation.inverse_transform_vector(&(place - state.position)) * share;
            match vertex.held.iter_mut().find(|held| held.0 == body) {
                Some(known) => (known.1, known.2) = (known.1 + share, known.2 + held),
                None => vertex.held.push((body, share, held)),
            }
        }
        vertex.held.sort_by(|a, b| b.1.total_cmp(&a.1));
        (!vertex.held.is_empty()).then_some(vertex)
    };
    (0..mesh.positions.len()).filter_map(vertex).collect()
}

/// Balls at the ends of capsules along the bones, and the points of the soles.
fn of_bones(
    character: &CharacterBody,
    ragdoll: &Ragdoll,
    model: &ModelPose,
    states: &[BodyState],
    ground: f64,
) -> Vec<ContactVertex> {
    let vertex = |body: usize, at: Vec3, radius: f64| ContactVertex {
        held: vec![(body, 1.0, at)],
        radius,
        ..ContactVertex::default()
    };
    let mut vertices: Vec<ContactVertex> = Vec::new();
    for point in character.sole_points() {
        let Some(body) = ragdoll.part_of(point.joint) else { continue };
        let place = model.joint(point.joint).point(&point.at) - states[body].position;
        vertices.push(vertex(body, states[body].orientation.inverse_transform_vector(&place), SOLE));
    }
    let soles = vertices.len();
    for (body, (part, state)) in ragdoll.parts.iter().zip(states).enumerate() {
        if vertices[..soles].iter().any(|sole| sole.held[0].0 == body) {
            continue;
        }
        let ends = [Vec3::zeros(), part.bone].map(|end| end - part.centre);
        let low = ends.iter().map(|end| state.point(end).y - ground).fold(f64::INFINITY, f64::min);
        // As thick as its mass requires, no thicker than it is long, and not in the ground yet.
        let radius = part.radius.min(0.5 * part.bone.norm()).min(low).max(SOLE);
        let along = part.bone * (1.0 - (radius / part.bone.norm()).min(0.8));
        let middle = part.bone * 0.5 - part.centre;
        vertices.extend([-0.5, 0.5].map(|share| vertex(body, middle + along * share, radius)));
    }
    vertices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plate_stands_on_its_corners() {
        // The corner that comes down first.
        let soon = |k: usize| if k == 20 { 1e-3 } else { 0.0 };
        let at = |k: usize| Vec3::new((k % 5) as f64, 0.0, (k / 5) as f64);
        let near = (0..25).map(|k| (soon(k), k, at(k))).collect();
        let chosen: Vec<usize> = spread(near).iter().map(|of| of.1).collect();
        assert!([0, 4, 20, 24].iter().all(|k| chosen.contains(k)), "{chosen:?}");
        assert_eq!(chosen.len(), AT_ONCE);
    }
}
