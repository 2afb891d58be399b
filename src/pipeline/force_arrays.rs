//! Forces of a motion as NumPy arrays: `NAME.forces.npz`.
//!
//! Space: model space (Y up), except for torques of joints. Units: metres of the motion, seconds, kilograms, newton, newton metres,
//! joules, watts. All numbers are `f8`.
//!
//! | array | shape | |
//! | --- | --- | --- |
//! | `time` | frames | s |
//! | `joint_names` | joints | text: the joints that rotate, without the hips |
//! | `joint_torques` | frames, joints, 3 | N m, in the joint's own axes |
//! | `foot_forces` | frames, 2, 3 | N, of the floor on the left and the right foot |
//! | `other_parts` | 8 | text: hands, elbows, knees, pelvis, head |
//! | `other_forces` | frames, 8, 3 | N, of the floor on each of them |
//! | `center_of_pressure` | frames, 3 | m; NaN where nothing is on the floor |
//! | `unexplained_force`, `unexplained_torque` | frames, 3 | N, and N m about the hips: what no contact explains |
//! | `unexplained_share` | frames | both over the weight, the torque over 0.25 m |
//! | `kinetic_energy`, `potential_energy` | frames | J; potential energy is 0 at height 0 |
//! | `power` | frames | W, of all joints |
//! | `mass` | | kg |
//! | `body_names`, `body_masses` | joints + 1 | text, kg: what moves with the hips, then with each joint |
//! | `schema` | | 1 |

use crate::export::ExportError;
use crate::export::numpy_arrays::{archived, doubles, integers, texts};
use crate::math::Vec3;
use crate::model::Motion;
use crate::settle::{ClipForces, FrameForces, OTHER_PARTS};

/// Version of the array layout; raised on incompatible changes.
const SCHEMA: i32 = 1;

/// The arrays as the bytes of a `.npz` file.
///
/// # Errors
/// [`ExportError::Archive`] if they exceed the limits of a zip file.
pub(super) fn force_arrays(motion: &Motion, forces: &ClipForces) -> Result<Vec<u8>, ExportError> {
    let name = |id: &crate::model::JointId| motion.character.skeleton().joint(*id).name.as_str();
    let joints: Vec<&str> = forces.joints.iter().map(name).collect();
    let bodies: Vec<&str> = std::iter::once(name(&forces.hips)).chain(joints.iter().copied()).collect();
    let parts = OTHER_PARTS.map(|part| part.to_string());
    let parts = parts.each_ref().map(String::as_str);
    let frames = forces.frames.len();
    let numbers = |file: &str, of: &dyn Fn(&FrameForces) -> f64| {
        doubles(file, &[frames], forces.frames.iter().map(of).collect())
    };
    let vectors = |file: &str, shape: &[usize], of: &dyn Fn(&FrameForces) -> Vec<Vec3>| {
        let all = forces.frames.iter().flat_map(of).flat_map(|v| [v.x, v.y, v.z]).collect();
        doubles(file, shape, all)
    };
    let nowhere = Vec3::repeat(f64::NAN);
    archived(&[
        doubles("time", &[frames], (0..frames).map(|f| motion.clip.time(f)).collect()),
        texts("joint_names", &[joints.len()], &joints),
        vectors("joint_torques", &[frames, joints.len(), 3], &|f| f.torques.clone()),
        vectors("foot_forces", &[frames, 2, 3], &|f| f.feet.to_vec()),
        texts("other_parts", &[parts.len()], &parts),
        vectors("other_forces", &[frames, parts.len(), 3], &|f| f.others.to_vec()),
        vectors("center_of_pressure", &[frames, 3], &|f| vec![f.pressure.unwrap_or(nowhere)]),
        vectors("unexplained_force", &[frames, 3], &|f| vec![f.unexplained[0]]),
        vectors("unexplained_torque", &[frames, 3], &|f| vec![f.unexplained[1]]),
        numbers("unexplained_share", &|f| f.unexplained_share),
        numbers("kinetic_energy", &|f| f.energy[0]),
        numbers("potential_energy", &|f| f.energy[1]),
        numbers("power", &|f| f.power),
        doubles("mass", &[], vec![forces.mass]),
        texts("body_names", &[bodies.len()], &bodies),
        doubles("body_masses", &[bodies.len()], forces.masses.clone()),
        integers("schema", &[], vec![SCHEMA]),
    ])
}
