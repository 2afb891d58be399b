//! The lowest skin of a character in motion, by every vertex.

use posemill::model::Motion;
use posemill::skinning::{Skin, linear_blend};

/// The height of the lowest skin in a frame, metres.
pub fn lowest_skin(motion: &Motion, frame: usize) -> f64 {
    let pose = motion.model_pose(frame);
    let mut skin = Skin::default();
    let mut low = f64::INFINITY;
    for mesh in &motion.character.meshes {
        linear_blend(mesh, &pose, &mut skin);
        low = skin.positions.iter().map(|p| f64::from(p[1])).fold(low, f64::min);
    }
    low
}
