//! Writes rotations of arms into a clip: joints along the bones keep their local transforms, hands their world rotation.
//!
//! Space: local. Units: metres.

use super::arm_equations::{SolvedArms, limited_straightening};
use super::direct_arm::bend;
use crate::kinematics::Towards;
use crate::math::{Quat, Vec3, exp, same_hemisphere};
use crate::model::{JointId, ModelPose, Motion, Pose, Skeleton};
use crate::signal::fix_hemispheres;

/// Rotations below this are none, radians: frames that only the decay of a distant correction reaches keep every bit.
const NOTHING: f64 = 1e-9;

/// Solved rotation of both arms in one frame, where zero means unchanged, and the axes of the elbows in the space of the upper arms.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmTurn {
    pub solved: SolvedArms,
    pub axes: [Vec3; 2],
}

/// How far hands were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovedHands {
    /// Frames in which a hand moved by a millimetre or more.
    pub frames: usize,
    /// The largest displacement of a hand, metres.
    pub largest: f64,
    /// The largest distance across the skin of a touching hand from its place, metres.
    pub missed: f64,
}

impl MovedHands {
    fn and(self, other: MovedHands) -> MovedHands {
        MovedHands {
            frames: self.frames + other.frames,
            largest: self.largest.max(other.largest),
            missed: self.missed.max(other.missed),
        }
    }
}

/// The motion with the arms of every frame rotated.
pub(super) fn write_arms(
    mut motion: Motion,
    arms: &[[JointId; 3]; 2],
    solutions: &[ArmTurn],
) -> (Motion, MovedHands) {
    let skeleton = motion.character.skeleton().clone();
    let joints = skeleton.len();
    let towards = Towards::new(&skeleton, arms.iter().flatten().copied());
    let translated = motion.clip.translated().to_vec();
    let frame =
        |row: &mut [Quat], translations: &[Vec3], pose: &mut Pose, model: &mut ModelPose, f: usize| {
            let solution = &solutions[f];
            if solution.solved.state.iter().all(|x| x.abs() < NOTHING) {
                return 0.0;
            }
            pose.local_mut().iter_mut().zip(row.iter()).for_each(|(t, q)| t.rotation = *q);
            for (id, v) in translated.iter().zip(translations) {
                pose.local_mut()[id.index()].translation = *v;
            }
            towards.set(pose, model);
            let sides = [0, 1].map(|side| rotate(&skeleton, model, &arms[side], solution, side, row));
            sides[0].max(sides[1])
        };
    let blocks = motion.clip.change_rotations(|first, rows, translations| {
        let (mut pose, mut model) = (skeleton.rest_pose(), skeleton.rest_model_pose());
        let rows = rows.chunks_mut(joints).enumerate();
        let moved = rows.map(|(n, row)| {
            let f = first + n;
            let largest = frame(row, &translations[n * translated.len()..], &mut pose, &mut model, f);
            MovedHands { frames: usize::from(largest >= 1e-3), largest, missed: solutions[f].solved.missed }
        });
        moved.fold(MovedHands::default(), MovedHands::and)
    });
    fix_hemispheres(&mut motion.clip);
    (motion, blocks.into_iter().fold(MovedHands::default(), MovedHands::and))
}

/// Rotates one arm of a frame and returns how far its wrist moves.
fn rotate(
    skeleton: &Skeleton,
    model: &ModelPose,
    [upper, lower, hand]: &[JointId; 3],
    solution: &ArmTurn,
    side: usize,
    row: &mut [Quat],
) -> f64 {
    let state = &solution.solved.state[4 * side..4 * side + 4];
    let world = |id: JointId| model.joint(id).rotation;
    let above = |id: JointId| skeleton.parent(id).map_or_else(Quat::identity, world);
    let [a, b, c] = [*upper, *lower, *hand].map(|id| model.position(id));
    let axis = world(*upper) * solution.axes[side];
    let whole = exp(&Vec3::new(state[0], state[1], state[2]));
    let bend = exp(&(axis * limited_straightening(bend(&(b - a), &(c - b), &axis), state[3])));
    // Below the upper arm the rotation of the whole arm is that of the parent.
    let rotations = [
        (*upper, above(*upper).inverse() * whole * world(*upper)),
        (*lower, above(*lower).inverse() * bend * world(*lower)),
        (*hand, (whole * bend * above(*hand)).inverse() * world(*hand)),
    ];
    for (id, q) in rotations {
        row[id.index()] = same_hemisphere(q, &row[id.index()]);
    }
    (whole * (b - a + bend * (c - b)) - (c - a)).norm()
}
