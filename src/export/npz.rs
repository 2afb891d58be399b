//! Writes a motion as NumPy arrays in one `.npz` file: joint positions, rotations, and the skeleton.
//!
//! Space: model space, Y up and facing +Z, or rotated so that Z is up and the front is -Y, as Blender imports files with Y up.
//! `positions` are in model space, `rotations` relative to the parent joint. Units: metres, hertz; quaternions x, y, z, w.
//!
//! | array | shape | |
//! | --- | --- | --- |
//! | `positions` | frames, joints, 3 | `f4`, model space |
//! | `rotations`, `translations` | frames, joints, 4 and 3 | `f4`, local; quaternions do not change their sign |
//! | `root_position`, `root_rotation` | frames, 3 and 4 | `f4`, the first joint |
//! | `rest_translations`, `rest_rotations` | joints, 3 and 4 | `f4`, local |
//! | `rest_tips` | joints, 3 | `f4`, the end of a leaf relative to it (an end site of BVH), 0 where there is none |
//! | `parents` | joints | `i4`, -1 for the first |
//! | `names` | joints | text |
//! | `rate` | | `f8`, frames per second |
//! | `up` | | `y` or `z` |
//! | `contacts`, `contact_parts` | frames, parts | whether each part is in contact, if known |
//! | `schema` | | `i4`, 1 |

pub use super::export_options::{NpzOptions, NpzUpAxis};
use super::nominal_rate::nominal;
use super::numpy_arrays::{archived, floats, integers, npy, texts};
use super::robot::robot_bytes;
use super::save::{ExportError, Format, one_each};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{JointId, ModelPose, Motion};
use std::f64::consts::FRAC_PI_2;

/// NumPy arrays.
pub const FORMAT: Format = Format {
    name: "npz",
    about: "NumPy arrays: positions, rotations, rest, names, contacts; metres",
    loses: "skin, materials, morph targets, and animation of nodes that are no joints; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        one_each("npz", motions, options, |motion, warnings| {
            let robot = robot_bytes(motion, "npz", &options.robot, warnings)?;
            robot.map_or_else(|| write(motion, &options.npz), Ok)
        })
    },
};

/// Version of the array layout; raised on incompatible changes.
const SCHEMA: i32 = 1;

impl NpzUpAxis {
    /// The file's space from model space.
    fn file_from_model(self) -> Quat {
        match self {
            NpzUpAxis::Y => Quat::identity(),
            NpzUpAxis::Z => Quat::from_axis_angle(&Vec3::x_axis(), FRAC_PI_2),
        }
    }
}

/// The arrays of a motion as the bytes of a `.npz` file.
///
/// # Errors
/// [`ExportError::Archive`] if they exceed the limits of a zip file.
pub fn write(motion: &Motion, options: &NpzOptions) -> Result<Vec<u8>, ExportError> {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let (frames, joints) = (clip.frames(), clip.joints());
    let file_from_model = Transform::from_rotation(options.up.file_from_model());
    let mut rest = skeleton.rest_pose();
    transform_root(rest.local_mut(), file_from_model);
    let mut model = ModelPose::new(Vec::with_capacity(joints));
    let (mut positions, mut rotations, mut translations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut root_position, mut root_rotation) = (Vec::new(), Vec::new());
    for frame in 0..frames {
        let mut pose = clip.pose(skeleton, frame);
        transform_root(pose.local_mut(), file_from_model);
        model.set(skeleton, &pose);
        positions.extend(model.joints().iter().flat_map(|t| single(t.translation.as_slice())));
        rotations.extend(pose.local().iter().flat_map(|t| single(t.rotation.coords.as_slice())));
        translations.extend(pose.local().iter().flat_map(|t| single(t.translation.as_slice())));
        if let Some(first) = pose.local().first() {
            root_position.extend(single(first.translation.as_slice()));
            root_rotation.extend(single(first.rotation.coords.as_slice()));
        }
    }
    let locals = rest.local().iter();
    let rest_translations = locals.clone().flat_map(|t| single(t.translation.as_slice())).collect();
    let rest_rotations = locals.flat_map(|t| single(t.rotation.coords.as_slice())).collect();
    let tips = skeleton.joints().iter().map(|joint| joint.tip.unwrap_or_else(Vec3::zeros));
    let tips = tips.flat_map(|tip| <[f64; 3]>::from(tip).map(|x| x as f32)).collect();
    let parent = |p: &Option<JointId>| p.map_or(-1, |p| i32::try_from(p.index()).unwrap_or(-1));
    let names: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    let up = if options.up == NpzUpAxis::Y { "y" } else { "z" };
    let mut files = vec![
        floats("positions", &[frames, joints, 3], positions),
        floats("rotations", &[frames, joints, 4], rotations),
        floats("translations", &[frames, joints, 3], translations),
        floats("root_position", &[frames, 3], root_position),
        floats("root_rotation", &[frames, 4], root_rotation),
        floats("rest_translations", &[joints, 3], rest_translations),
        floats("rest_rotations", &[joints, 4], rest_rotations),
        floats("rest_tips", &[joints, 3], tips),
        integers("parents", &[joints], skeleton.parents().iter().map(parent).collect()),
        texts("names", &[joints], &names),
        npy("rate", "<f8", &[], &nominal(clip.sample_rate).to_le_bytes()),
        texts("up", &[], &[up]),
    ];
    if let Some(contacts) = &motion.contacts {
        let in_contact = (0..frames).flat_map(|f| contacts.parts().map(move |part| contacts.rests(part, f)));
        let in_contact: Vec<u8> = in_contact.map(u8::from).collect();
        let parts: Vec<String> = contacts.parts().map(|part| part.to_string()).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        files.push(npy("contacts", "|b1", &[frames, parts.len()], &in_contact));
        files.push(texts("contact_parts", &[parts.len()], &parts));
    }
    files.push(integers("schema", &[], vec![SCHEMA]));
    archived(&files)
}

/// Transforms the root joint, and thereby the whole figure.
fn transform_root(local: &mut [Transform], transform: Transform) {
    if let Some(first) = local.first_mut() {
        *first = transform * *first;
    }
}

fn single(numbers: &[f64]) -> impl Iterator<Item = f32> {
    numbers.iter().map(|x| *x as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_up_keeps_left_and_faces_minus_y() {
        let rotation = NpzUpAxis::Z.file_from_model();
        assert!((rotation * Vec3::y() - Vec3::z()).norm() < 1e-12);
        assert!((rotation * Vec3::z() + Vec3::y()).norm() < 1e-12);
        assert!((rotation * Vec3::x() - Vec3::x()).norm() < 1e-12);
    }
}
