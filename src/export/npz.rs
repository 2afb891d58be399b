//! Writes a motion as NumPy arrays in one `.npz` file: joint positions, rotations, and the skeleton.
//!
//! Space: model space, Y up and facing +Z, or rotated so that Z is up and the front is -Y, as Blender imports files with Y up.
//! `positions` are in model space, `rotations` relative to the parent joint. Units: metres, hertz; quaternions x, y, z, w.
//! Source: NEP 1 (the `.npy` format, version 1.0); a `.npz` is a zip of them.
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

use super::format::Format;
use super::nominal_rate::nominal;
use super::robot::{RobotFile, written};
use super::save::{ExportError, OutputFile};
use super::zip_archive::{Packing, archive};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{JointId, ModelPose, Motion};
use crate::report::Warnings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// NumPy arrays.
pub const FORMAT: Format = Format {
    name: "npz",
    about: "NumPy arrays: positions, rotations, rest, names, contacts; metres",
    loses: "skin, materials, morph targets, and animation of nodes that are no joints; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        let mut warnings = Warnings::new();
        let file = |motion| -> Result<OutputFile, ExportError> {
            match written(motion, "npz", &options.robot, &options.stem, &mut warnings)? {
                RobotFile::Robot(file) => Ok(file),
                RobotFile::NoRobot => {
                    Ok(OutputFile { name: options.file("npz"), bytes: write(motion, &options.npz)? })
                }
            }
        };
        let files = motions.iter().map(file).collect::<Result<_, _>>()?;
        Ok((files, warnings))
    },
};

/// Version of the array layout; raised on incompatible changes.
const SCHEMA: i32 = 1;

/// Options of arrays (`[output.npz]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NpzOptions {
    /// The axis that points up in `.npz` files: "y", facing +Z, or "z", facing -Y.
    pub up: NpzUpAxis,
}

/// The axis that points up in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "UpAxis")]
pub enum NpzUpAxis {
    /// +Y, facing +Z.
    #[default]
    Y,
    /// +Z, facing -Y.
    Z,
}

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

pub(super) fn floats(name: &str, shape: &[usize], numbers: Vec<f32>) -> OutputFile {
    npy(name, "<f4", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

pub(crate) fn integers(name: &str, shape: &[usize], numbers: Vec<i32>) -> OutputFile {
    npy(name, "<i4", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Numbers in full precision.
#[cfg(any(feature = "physics", test))]
pub(crate) fn doubles(name: &str, shape: &[usize], numbers: Vec<f64>) -> OutputFile {
    npy(name, "<f8", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Arrays as the bytes of a `.npz` file.
///
/// # Errors
/// [`ExportError::Archive`] if they exceed the limits of a zip file.
pub(crate) fn archived(arrays: &[OutputFile]) -> Result<Vec<u8>, ExportError> {
    archive(arrays, Packing::Deflated)
}

/// Text of fixed width: 32 bits per character, padded with zeros.
pub(crate) fn texts(name: &str, shape: &[usize], texts: &[&str]) -> OutputFile {
    let width = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1);
    let padded = |t: &&str| t.chars().chain(std::iter::repeat('\0')).take(width).collect::<Vec<_>>();
    let bytes = texts.iter().flat_map(padded).flat_map(|c| u32::from(c).to_le_bytes());
    npy(name, &format!("<U{width}"), shape, &bytes.collect::<Vec<u8>>())
}

/// One array. Its header is a Python literal, padded so that the content starts at a multiple of 64 bytes.
pub(super) fn npy(name: &str, kind: &str, shape: &[usize], content: &[u8]) -> OutputFile {
    /// Length of what precedes the header text, bytes: magic, version and header length.
    const BEFORE: usize = 10;
    let mut dimensions = shape.iter().map(|n| format!("{n},")).collect::<Vec<_>>().join(" ");
    if shape.len() > 1 {
        dimensions.pop();
    }
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dimensions}), }}");
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(format!("{header:<0$}\n", length - 1).bytes());
    bytes.extend(content);
    OutputFile { name: format!("{name}.npy"), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_equal_those_of_numpy() {
        let header = |shape: &[usize]| {
            let file = npy("x", "<f4", shape, b"body");
            assert!(file.bytes.ends_with(b" \nbody") && (file.bytes.len() - 4).is_multiple_of(64));
            String::from_utf8_lossy(&file.bytes[10..]).split(" }").next().unwrap().to_owned()
        };
        assert_eq!(header(&[]), "{'descr': '<f4', 'fortran_order': False, 'shape': (),");
        assert_eq!(header(&[7]), "{'descr': '<f4', 'fortran_order': False, 'shape': (7,),");
        assert_eq!(header(&[7, 3]), "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 3),");
    }

    #[test]
    fn z_up_keeps_left_and_faces_minus_y() {
        let rotation = NpzUpAxis::Z.file_from_model();
        assert!((rotation * Vec3::y() - Vec3::z()).norm() < 1e-12);
        assert!((rotation * Vec3::z() + Vec3::y()).norm() < 1e-12);
        assert!((rotation * Vec3::x() - Vec3::x()).norm() < 1e-12);
    }
}
