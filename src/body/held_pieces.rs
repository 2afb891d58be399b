//! Finds what hands hold: swords, staffs and tools whose skin moves with the joint of a hand.
//!
//! A piece of a mesh (vertices joined by triangles) on one hand alone, without skin of its fingers, that reaches far beyond the hand is
//! held. Where all of a hand is such a piece it is a hand: the mitten of a toy. Space: model space. Units: metres.

use super::hanging_cloth::pieces_of;
use crate::math::Vec3;
use crate::model::{Character, Mesh, ModelPose, Rig, Role};

/// The hands of a body: for each joint the one that it belongs to (0 left, 1 right), and the positions of the wrists with the distance
/// from there beyond which nothing is hand.
pub(super) struct Hands<'a> {
    pub of_joint: &'a [Option<usize>],
    pub wrists: [(Vec3, f64); 2],
}

/// A piece of a mesh, as far as its vertices are read.
#[derive(Clone, Copy, Default)]
struct Piece {
    /// How many vertices each hand has of it.
    on_hands: [usize; 2],
    /// Whether some are on a finger or on no hand.
    other: bool,
    /// Whether some are beyond the hand.
    reaches: bool,
}

impl Piece {
    fn is_held(&self) -> bool {
        self.reaches && !self.other && self.on_hands.contains(&0)
    }
}

/// For each vertex of each mesh, whether a hand holds it; a mesh of which nothing is held has no entries.
pub(super) fn held(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    hands: &Hands,
) -> Vec<Vec<bool>> {
    let hand_of = |mesh: &Mesh, v: usize| {
        let (joint, inside) = mesh.in_heaviest_joint(v)?;
        let hand = hands.of_joint[joint.index()]?;
        let (wrist, reach) = hands.wrists[hand];
        let far = (reference_pose.joint(joint).point(&inside) - wrist).norm() > reach;
        Some((hand, far, matches!(rig.role(joint), Some(Role::Finger(..)))))
    };
    let mut free = [0; 2];
    let found = character.meshes.iter().map(|mesh| {
        let vertices: Vec<_> = (0..mesh.positions.len()).map(|v| hand_of(mesh, v)).collect();
        let mut held = Vec::new();
        if vertices.iter().flatten().any(|(_, far, finger)| *far && !finger) {
            let number = pieces_of(mesh);
            let mut pieces = vec![Piece::default(); number.iter().max().map_or(0, |last| last + 1)];
            for (vertex, number) in vertices.iter().zip(&number) {
                let piece = &mut pieces[*number];
                match vertex {
                    Some((hand, far, false)) => {
                        piece.on_hands[*hand] += 1;
                        piece.reaches |= far;
                    }
                    _ => piece.other = true,
                }
            }
            held = number.iter().map(|number| pieces[*number].is_held()).collect();
        }
        let is_free = |v: usize| !held.get(v).copied().unwrap_or_default();
        for (hand, ..) in
            vertices.iter().enumerate().filter(|(v, _)| is_free(*v)).filter_map(|(_, vertex)| *vertex)
        {
            free[hand] += 1;
        }
        held
    });
    let mut found: Vec<Vec<bool>> = found.collect();
    for (mesh, held) in character.meshes.iter().zip(&mut found) {
        for (v, held) in held.iter_mut().enumerate() {
            *held = *held && hand_of(mesh, v).is_some_and(|(hand, ..)| free[hand] > 0);
        }
    }
    found
}
