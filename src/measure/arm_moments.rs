//! Chooses the moments of a motion in which an arm may be deep in the body, by capsules.
//!
//! The skin itself says how deep, and takes far longer; capsules only say where to look. Space: model space. Units: metres.

use super::arm_penetration::BoundVertex;
use crate::body::Capsule;
use crate::kinematics::forward;
use crate::math::{Vec3, nearest_point_on_segment};
use crate::model::{Character, ModelPose, Motion};
use crate::parallel;
use std::cmp::Reverse;

/// Moments per second that are compared: an arm that is in the body for a tenth of a second is in it at one of them.
const RATE: f64 = 10.0;
/// The most moments that are chosen, of clips of more seconds one for each. In 111 motions of 2 to 12 s the greatest share of vertices
/// that are deep in the body is found among them but for 0.033 at most; with 24 it is not in three motions.
const MOST: usize = 48;
/// The factors by which capsules grow, each of which counts once: the skin is around the capsules, of heads and hips far around.
const GROWN: [f64; 2] = [1.0, 1.2];

/// The arms and the body of a character.
#[derive(Clone, Debug, Default)]
pub struct ArmMoments {
    arms: Vec<BoundVertex>,
    capsules: Vec<Capsule>,
}

impl ArmMoments {
    /// The arms are the vertices of these numbers among those of all meshes, in ascending order; the body is these capsules.
    pub fn new(
        character: &Character,
        vertices: impl IntoIterator<Item = usize>,
        capsules: &[Capsule],
    ) -> Self {
        let bound = |mut vertex: usize| {
            let mesh = character.meshes.iter().find(|mesh| {
                let within = vertex < mesh.positions.len();
                vertex -= if within { 0 } else { mesh.positions.len() };
                within
            })?;
            Some(BoundVertex::of(mesh, vertex))
        };
        Self { arms: vertices.into_iter().filter_map(bound).collect(), capsules: capsules.to_vec() }
    }

    /// The frames in which most of the arms' vertices are near the body; none where no arm is near it.
    pub fn likeliest(&self, motion: &Motion) -> Vec<usize> {
        let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
        let frames = clip.frames();
        let count = ((frames as f64 / clip.sample_rate * RATE).ceil() as usize).clamp(1, frames.max(1));
        let frame = |k: usize| (2 * k + 1) * frames / (2 * count);
        let scratch = || (skeleton.rest_pose(), skeleton.rest_model_pose());
        let near = parallel::map_with(count, 16, scratch, |(pose, model), k| {
            forward(skeleton, clip, frame(k), pose, model);
            self.near(model)
        });
        let mut likeliest: Vec<usize> = (0..count).filter(|k| near[*k] > 0).collect();
        likeliest.sort_by_key(|k| Reverse(near[*k]));
        likeliest.truncate(MOST.max((frames as f64 / clip.sample_rate) as usize));
        likeliest.into_iter().map(frame).collect()
    }

    /// How many vertices are in the capsules, for each factor of [`GROWN`].
    fn near(&self, model: &ModelPose) -> usize {
        let placed: Vec<([Vec3; 2], f64)> = self.capsules.iter().map(|c| (c.ends(model), c.radius)).collect();
        let of_vertex = |vertex: &BoundVertex| {
            let p = vertex.place(model);
            // The distance from the nearest capsule's axis over its radius, squared.
            let distance = |(ends, radius): &([Vec3; 2], f64)| {
                (nearest_point_on_segment(ends, &p) - p).norm_squared() / (radius * radius).max(1e-12)
            };
            let least = placed.iter().map(distance).fold(f64::INFINITY, f64::min);
            GROWN.iter().filter(|grown| least < *grown * *grown).count()
        };
        self.arms.iter().map(of_vertex).sum()
    }
}
