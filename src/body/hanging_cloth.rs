//! Finds skirts, robes and coats that are skinned rigidly to the trunk or the thighs: cloth may be in the floor, and a
//! body that sits is not lifted for it.
//!
//! Skin of the trunk that reaches below the knees of the standing body is cloth, and so is skin of a thigh that reaches
//! well beyond its knee. With it goes the rest of its piece of the mesh (vertices joined by triangles): all of it if another
//! piece is the seat of the body, else the part below the seat. Space: model space. Units: metres, thigh lengths.

use crate::anatomy::{Figure, on_four_legs};
use crate::math::Vec3;
use crate::model::{Mesh, ModelPose, Rig, Role, Side};
use std::collections::HashMap;

/// How far below the hip joints skin of the trunk is cloth, thigh lengths: seats end at 0.1 to 0.35, the deepest rigid pelvis
/// of the development characters at 0.63, skirts that end at the knees at 1. With half, that pelvis is cloth.
const TRUNK_REACHES: f64 = 0.8;
/// The same for skin of the thighs: boots and stiff trousers reach 0.22 beyond the knee.
const THIGH_REACHES: f64 = 1.4;
/// Where the seat ends below the hip joints, thigh lengths: people's skin there is at 0.25, the stoutest knight's at 0.34.
const SEAT: f64 = 0.35;

/// Whether each vertex of each mesh is cloth; `None` if nothing is. `positions` are the vertices in the reference pose `reference_pose`,
/// by mesh, and `parts` the body parts that they belong to.
pub fn hanging_cloth(
    meshes: &[Mesh],
    rig: &Rig,
    reference_pose: &ModelPose,
    positions: &[Vec<Vec3>],
    parts: &[Vec<Option<Role>>],
) -> Option<Vec<Vec<bool>>> {
    let figure = Figure::of(rig, reference_pose).filter(|_| !on_four_legs(rig, reference_pose))?;
    let knees = Side::BOTH.map(|side| rig.joint(Role::LowerLeg(side)).map(|id| reference_pose.position(id)));
    let thigh = (figure.pelvis - (knees[0]? + knees[1]?) * 0.5).dot(&figure.up);
    if thigh <= 0.0 {
        return None;
    }
    let depth = |p: &Vec3| (figure.pelvis - p).dot(&figure.up) / thigh;
    let of_trunk = |part: &Option<Role>| matches!(part, Some(Role::Hips | Role::Spine(_)));
    let hangs = |part: &Option<Role>, p: &Vec3| match part {
        Some(Role::UpperLeg(_)) => depth(p) > THIGH_REACHES,
        part => of_trunk(part) && depth(p) > TRUNK_REACHES,
    };
    let vertices = |mesh: usize| parts[mesh].iter().zip(&positions[mesh]);
    if (0..meshes.len()).all(|mesh| !vertices(mesh).any(|(part, p)| hangs(part, p))) {
        return None;
    }
    // Pieces are counted over all meshes.
    let mut pieces: Vec<Vec<usize>> = Vec::new();
    let (mut garment, mut seated) = (Vec::new(), Vec::new());
    for (k, mesh) in meshes.iter().enumerate() {
        let first = garment.len();
        let own: Vec<usize> = pieces_of(mesh).into_iter().map(|piece| first + piece).collect();
        let count = own.iter().max().map_or(first, |last| last + 1);
        garment.resize(count, false);
        seated.resize(count, false);
        for ((part, p), piece) in vertices(k).zip(&own) {
            garment[*piece] |= hangs(part, p);
            seated[*piece] |= of_trunk(part) && (0.0..SEAT).contains(&depth(p));
        }
        pieces.push(own);
    }
    let covers_a_seat = garment.iter().zip(&seated).any(|(garment, seated)| *seated && !garment);
    let cloth = |mesh: usize| {
        let of = |(p, piece): (&Vec3, &usize)| garment[*piece] && (covers_a_seat || depth(p) > SEAT);
        positions[mesh].iter().zip(&pieces[mesh]).map(of).collect()
    };
    Some((0..meshes.len()).map(cloth).collect())
}

/// The connected piece of the mesh that each vertex is in, numbered from 0. Vertices at one position are joined: seams of
/// texture and normals split them.
pub(super) fn pieces_of(mesh: &Mesh) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..mesh.positions.len()).collect();
    fn top(parent: &mut [usize], mut k: usize) -> usize {
        while parent[k] != k {
            parent[k] = parent[parent[k]];
            k = parent[k];
        }
        k
    }
    let mut at: HashMap<[u32; 3], usize> = HashMap::new();
    for (k, p) in mesh.positions.iter().enumerate() {
        let first = *at.entry(p.map(f32::to_bits)).or_insert(k);
        parent[k] = first;
    }
    for &[a, b, c] in &mesh.triangles {
        for other in [b, c] {
            let (a, b) = (top(&mut parent, a as usize), top(&mut parent, other as usize));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut number = vec![usize::MAX; parent.len()];
    let mut count = 0;
    for k in 0..parent.len() {
        let top = top(&mut parent, k);
        // The top of a piece is its first vertex, so it is numbered before the others.
        if top == k {
            number[k] = count;
            count += 1;
        }
        number[k] = number[top];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_by_triangles_and_by_equal_positions() {
        let at = |x: f32| [x, 0.0, 0.0];
        let mesh = Mesh {
            positions: vec![at(0.0), at(1.0), at(2.0), at(5.0), at(6.0), at(7.0), at(2.0), at(3.0), at(4.0)],
            triangles: vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]],
            ..Mesh::default()
        };
        assert_eq!(pieces_of(&mesh), [0, 0, 0, 1, 1, 1, 0, 0, 0]);
    }
}
