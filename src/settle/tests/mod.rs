//! Laws of flights, falls and chains, and what becomes of real takes.

mod laws;
mod real;

use posemill::math::nearest_points_of_segments;
use posemill::model::{ModelPose, Motion, Role};
use posemill::settle::Ragdoll;

/// Bones nearer than this share of the thinner one's radius pass through each other: limbs that lie against each other are
/// two radii apart.
const PASSING: f64 = 0.5;

/// The bones of two limbs that come nearest to each other in the frames from `from` on: the distance between the bones in
/// shares of the thinner one's radius, that of a cylinder of its mass and water's density. Pairs that are as near in frame
/// `from` are left out, as are bones that share a joint.
fn nearest_bones(motion: &Motion, from: usize) -> (f64, String) {
    let ragdoll = Ragdoll::of(&motion.character).unwrap();
    let is_bone = |role: Role| {
        use Role::{Hips, LowerArm, LowerLeg, Spine, UpperArm, UpperLeg};
        matches!(role, Hips | Spine(_) | UpperArm(_) | LowerArm(_) | UpperLeg(_) | LowerLeg(_))
    };
    let bones: Vec<_> = ragdoll.parts.iter().filter(|part| is_bone(part.role)).collect();
    let bone = |k: usize, model: &ModelPose| {
        let joint = model.joint(bones[k].joint);
        [joint.translation, joint.point(&bones[k].bone)]
    };
    let apart = |[a, b]: [usize; 2], model: &ModelPose| {
        let (a, b) = (bone(a, model), bone(b, model));
        let [p, q] = nearest_points_of_segments(&a, &b);
        (p - q).norm()
    };
    let start = motion.model_pose(from);
    let mut least = (f64::INFINITY, String::new());
    for a in 0..bones.len() {
        for b in 0..a {
            let thin = bones[a].radius.min(bones[b].radius);
            if apart([a, b], &start) < thin {
                continue;
            }
            for f in from..motion.clip.frames() {
                let share = apart([a, b], &motion.model_pose(f)) / thin;
                if share < least.0 {
                    least = (share, format!("{} and {} in frame {f}", bones[a].role, bones[b].role));
                }
            }
        }
    }
    least
}
