//! The lowest skin of a body, for any pose.
//!
//! A sampled convex hull of the vertices that each joint moves most, skinned with all of their weights. Joints that lead to no role
//! (capes, tails, weapons) are left out, since they may be in the floor, and so is skin that hangs off trunk and thighs as only
//! cloth does. Space: joint space. Units: metres.

use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Rig, Role, Side, heaviest};

/// A vertex: its position in the space of each joint that moves it, with the weight.
type Bound = Vec<(JointId, Vec3, f64)>;

/// Skin of the trunk farther below the hip joints than this is cloth, thigh lengths: the perineum is at a fifth (Winter 2009: the hip
/// joints of a person of 1.75 m are at 0.93 m, the crotch at 0.83).
const TRUNK_ENDS: f64 = 0.5;
/// Skin of a thigh farther below the hip joints than this is cloth, thigh lengths: the knee and as much of it as a knee is thick.
const THIGH_ENDS: f64 = 1.3;

/// The points that can be the lowest, and how far those of the body reach below the soles as it was bound.
#[derive(Clone, Debug, Default)]
pub struct LowestSkin {
    /// Of the body but its feet.
    points: Vec<Bound>,
    below: f64,
    /// Of the feet, which are what stands on the soles.
    feet: Vec<Bound>,
}

impl LowestSkin {
    /// Of a character that stands as `reference_pose`, on soles at this height, else on 0; empty without skin.
    pub fn of(character: &Character, rig: &Rig, reference_pose: &ModelPose, sole: Option<f64>) -> Self {
        let points = |of_feet: bool| -> Vec<Bound> {
            let by_joint = vertices_by_joint(character, rig, reference_pose, of_feet);
            by_joint.iter().flat_map(|vertices| corners(vertices)).collect()
        };
        let mut made = Self { points: points(false), below: 0.0, feet: points(true) };
        let lowest = made.lowest_point(reference_pose);
        made.below = (sole.unwrap_or(0.0) - lowest).max(0.0);
        if made.points.is_empty() {
            made.below = 0.0;
        }
        made
    }

    /// All vertices of the body but its feet. The corners of each joint alone are not the lowest of skin that joints rotate apart.
    pub fn of_all_vertices(character: &Character, rig: &Rig, reference_pose: &ModelPose) -> Self {
        Self { points: vertices_by_joint(character, rig, reference_pose, false).concat(), ..Self::default() }
    }

    /// The height of the lowest point; points of the body count as higher by the depth to which the body is below the soles in the
    /// reference pose. Infinite without skin.
    pub fn lowest(&self, model: &ModelPose) -> f64 {
        (self.lowest_point(model) + self.below).min(lowest(&self.feet, model))
    }

    /// The height of the lowest point of the body but its feet; infinite without skin.
    pub fn lowest_point(&self, model: &ModelPose) -> f64 {
        lowest(&self.points, model)
    }
}

/// The height of the lowest of these vertices; infinite without any.
fn lowest(vertices: &[Bound], model: &ModelPose) -> f64 {
    let place =
        |bound: &Bound| bound.iter().map(|(joint, at, w)| model.joint(*joint).point(at).y * w).sum::<f64>();
    vertices.iter().map(place).fold(f64::INFINITY, f64::min)
}

/// Those of a joint's vertices that can be the lowest.
fn corners(vertices: &[Bound]) -> impl Iterator<Item = Bound> {
    // In the space of the joint that moves them most.
    let at: Vec<Vec3> = vertices.iter().map(|bound| bound[0].1).collect();
    let mut corners: Vec<usize> = directions().filter_map(|d| furthest(&at, &d)).collect();
    corners.sort_unstable();
    corners.dedup();
    corners.into_iter().map(|k| vertices[k].clone())
}

/// The vertex furthest in a direction.
fn furthest(vertices: &[Vec3], direction: &Vec3) -> Option<usize> {
    let along = |k: &usize| vertices[*k].dot(direction);
    (0..vertices.len()).reduce(|a, b| if along(&b) > along(&a) { b } else { a })
}

/// The faces, edges and corners of a cube: 26 directions, at most 23 degrees from any other.
fn directions() -> impl Iterator<Item = Vec3> {
    let axis = [-1.0, 0.0, 1.0];
    let all = axis
        .into_iter()
        .flat_map(move |x| axis.into_iter().flat_map(move |y| axis.map(|z| Vec3::new(x, y, z))));
    all.filter(|d| d.norm_squared() > 0.0).map(|d| d.normalize())
}

/// The height below which skin that a joint moves is cloth, of a body that stands upright; none for parts but trunk and thighs.
fn ends_of_skin(rig: &Rig, reference_pose: &ModelPose) -> Vec<f64> {
    let skeleton = rig.skeleton();
    let mean = |role: fn(Side) -> Role| {
        let [left, right] =
            Side::BOTH.map(|side| rig.joint(role(side)).map(|id| reference_pose.position(id)));
        Some((left? + right?) * 0.5)
    };
    let legs = mean(Role::UpperLeg).zip(mean(Role::LowerLeg)).filter(|(hips, knees)| {
        let thigh = hips - knees;
        thigh.y > 0.7 * thigh.norm()
    });
    // The role of each joint, else that of the nearest joint above it.
    let mut roles: Vec<Option<Role>> = Vec::with_capacity(skeleton.len());
    for id in skeleton.ids() {
        roles.push(rig.role(id).or_else(|| skeleton.parent(id).and_then(|parent| roles[parent.index()])));
    }
    let ends = |role: Option<Role>| {
        let (hips, knees) = legs?;
        let share = match role? {
            Role::Hips | Role::Spine(_) => TRUNK_ENDS,
            Role::UpperLeg(_) => THIGH_ENDS,
            _ => return None,
        };
        Some(hips.y - share * (hips.y - knees.y))
    };
    roles.into_iter().map(|role| ends(role).unwrap_or(f64::NEG_INFINITY)).collect()
}

/// Whether each joint has a role or is above one that has.
pub(crate) fn leads_to_roles(rig: &Rig) -> Vec<bool> {
    rig.skeleton().above(|id| rig.role(id).is_some())
}

/// The vertices that each joint moves most, the weight of that joint first: those of the feet, or of all else.
fn vertices_by_joint(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    of_feet: bool,
) -> Vec<Vec<Bound>> {
    let skeleton = rig.skeleton();
    let ends = ends_of_skin(rig, reference_pose);
    let leads = leads_to_roles(rig);
    let feet: Vec<JointId> = Side::BOTH.into_iter().filter_map(|s| rig.joint(Role::Foot(s))).collect();
    let of_foot = |id: JointId| feet.iter().any(|foot| *foot == id || skeleton.is_ancestor(*foot, id));
    let mut found: Vec<Vec<Bound>> = vec![Vec::new(); skeleton.len()];
    for mesh in &character.meshes {
        for vertex in mesh.drawn_vertices() {
            let Some((joint, inside)) = mesh.in_heaviest_joint(vertex) else { continue };
            let hangs = reference_pose.joint(joint).point(&inside).y < ends[joint.index()];
            let counts = match of_feet {
                true => of_foot(joint),
                false => leads[joint.index()] && !of_foot(joint) && !hangs,
            };
            if counts {
                let most = heaviest(&mesh.weights[vertex]);
                let order = std::iter::once(most).chain((0..4).filter(|k| *k != most));
                let bound = order.filter_map(|k| mesh.influence(vertex, k)).filter(|b| b.2 > 0.0);
                found[joint.index()].push(bound.collect());
            }
        }
    }
    found.retain(|vertices| !vertices.is_empty());
    found
}
