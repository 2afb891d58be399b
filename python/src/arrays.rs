//! Makes a motion from arrays.
//!
//! The arrays are read as an archive of arrays (`.npz`) is: one reader finds the roles of joints, the front of the body and the
//! pose in which it is compared with others, and checks the skeleton and the numbers.

use crate::error::{fault, released};
use crate::motion::Motion;
use crate::view::numbers;
use crate::words::{sets, value};
use posemill::import;
use posemill::model::{Character, Role, Side};
use posemill::pipeline::PipelineConfig;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::Path;

/// The arrays of a motion, as Python has them.
pub struct Arrays<'a, 'py> {
    /// Names of the joints.
    pub names: Vec<String>,
    /// The index of each joint's parent, -1 for the root.
    pub parents: Vec<i64>,
    /// Joints, 3.
    pub rest_translations: &'a Bound<'py, PyAny>,
    /// Frames, joints, 4 or 3, 3.
    pub rotations: &'a Bound<'py, PyAny>,
    /// Frames, 3, the root's; or frames, joints, 3.
    pub translations: Option<&'a Bound<'py, PyAny>>,
    /// Joints, 4.
    pub rest_rotations: Option<&'a Bound<'py, PyAny>>,
    /// Frames per second.
    pub rate: f64,
    /// The name of the motion.
    pub name: String,
    /// The unit of lengths; `None`: metres, and legs must be as long as those of a body.
    pub units: Option<&'a Bound<'py, PyAny>>,
    /// The order of quaternions; `None`: `xyzw`, unless the numbers say otherwise.
    pub order: Option<String>,
}

/// Leg lengths of a body, metres, from the hip joint to the ankle: those of a toddler and of a giant. Lengths in another unit are
/// off by a factor of 10 or more (of 2.5 for inches).
const LEGS: std::ops::RangeInclusive<f64> = 0.2..=2.5;

impl Arrays<'_, '_> {
    /// The motion, with further options of `[input]`.
    pub fn motion(self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Motion> {
        let mut options = sets("input", options)?;
        if let Some(units) = self.units {
            options.push(format!("input.units={}", value(units)?));
        }
        let config = PipelineConfig::parse("options", "", &options, &[]).map_err(fault)?;
        let options = config.input.options(Path::new(""));
        let archive = self.archive(py, options.units.unwrap_or(1.0))?;
        let bytes = archive.as_bytes();
        let (name, rate) = (self.name, self.rate);
        let asset = released(py, || import::from_bytes(bytes, &name, Some("npz"), None, &options))?;
        if self.units.is_none() {
            check_lengths(&asset.character)?;
        }
        let mut motion = asset.motion(asset.meant).ok_or_else(|| fault("the arrays hold no motion"))?;
        motion.clip.sample_rate = rate;
        Ok(Motion::new(motion, &asset.warnings))
    }

    /// The arrays as the bytes of an archive, lengths in metres.
    fn archive<'py>(&self, py: Python<'py>, metres: f64) -> PyResult<Bound<'py, PyBytes>> {
        let joints = self.names.len();
        if self.parents.len() != joints {
            return Err(fault(format!(
                "`parents` has {} entries, `names` has {joints}\ngive one for each joint",
                self.parents.len()
            )));
        }
        if !(self.rate > 0.0 && self.rate.is_finite()) {
            return Err(fault(format!("`rate` is {} frames per second\ngive a positive number", self.rate)));
        }
        let numpy = py.import("numpy")?;
        let found = PyDict::new(py);
        let scaled = |values: Vec<f64>| values.into_iter().map(|x| x * metres).collect::<Vec<f64>>();
        let array = |values: Vec<f64>, shape: &[usize]| {
            numpy.call_method1("array", (values,))?.call_method1("reshape", (shape.to_vec(),))
        };
        let (rest, shape) = numbers("rest_translations", self.rest_translations, &[Some(joints), Some(3)])?;
        found.set_item("rest_translations", array(scaled(rest), &shape)?)?;
        let matrices =
            self.rotations.getattr("ndim").and_then(|n| n.extract::<usize>()).is_ok_and(|n| n == 4);
        let shape: &[Option<usize>] =
            if matrices { &[None, Some(joints), Some(3), Some(3)] } else { &[None, Some(joints), Some(4)] };
        let (mut rotations, shape) = numbers("rotations", self.rotations, shape)?;
        let frames = shape[0];
        if frames == 0 {
            return Err(fault("`rotations` has no frames\ngive one at least"));
        }
        let width = if matrices { 9 } else { 4 };
        self.check_rotations("rotations", &rotations, width, true)?;
        let last = self.scalar_last(&rotations, matrices)?;
        if !matrices && !last {
            rotations.chunks_exact_mut(4).for_each(|q| q.rotate_left(1));
        }
        // Matrices have a name of their own in the archive.
        found.set_item(if matrices { "local_rot_mats" } else { "rotations" }, array(rotations, &shape)?)?;
        if let Some(rest) = self.rest_rotations {
            let (mut rest, shape) = numbers("rest_rotations", rest, &[Some(joints), Some(4)])?;
            self.check_rotations("rest_rotations", &rest, 4, false)?;
            if !last {
                rest.chunks_exact_mut(4).for_each(|q| q.rotate_left(1));
            }
            found.set_item("rest_rotations", array(rest, &shape)?)?;
        }
        if let Some(translations) = self.translations {
            let of_root =
                translations.getattr("ndim").and_then(|n| n.extract::<usize>()).is_ok_and(|n| n == 2);
            let shape: &[Option<usize>] =
                if of_root { &[Some(frames), Some(3)] } else { &[Some(frames), Some(joints), Some(3)] };
            let (values, shape) = numbers("translations", translations, shape)?;
            found.set_item(
                if of_root { "root_positions" } else { "translations" },
                array(scaled(values), &shape)?,
            )?;
        }
        found.set_item("names", numpy.call_method1("array", (&self.names,))?)?;
        found.set_item("parents", numpy.call_method1("array", (&self.parents,))?)?;
        found.set_item("rate", self.rate)?;
        let file = py.import("io")?.call_method0("BytesIO")?;
        numpy.call_method("savez", (&file,), Some(&found))?;
        Ok(file.call_method0("getvalue")?.cast_into()?)
    }

    /// Refuses quaternions that are far from unit length and matrices that are far from rotations, in an argument of this name, whose
    /// rows are those of joints, for each frame if it has `frames`.
    fn check_rotations(&self, argument: &str, values: &[f64], width: usize, frames: bool) -> PyResult<()> {
        let joints = self.names.len().max(1);
        match values.chunks_exact(width).enumerate().find(|(_, rotation)| !is_rotation(rotation)) {
            Some((k, rotation)) => {
                let frame = frames.then_some(k / joints);
                Err(no_rotation(argument, frame, &self.names[k % joints], rotation))
            }
            None => Ok(()),
        }
    }

    /// Whether quaternions are x, y, z, w.
    ///
    /// # Errors
    /// An unknown order, and numbers that look like the other order where none is given.
    fn scalar_last(&self, rotations: &[f64], matrices: bool) -> PyResult<bool> {
        match self.order.as_deref() {
            Some("xyzw") => Ok(true),
            Some("wxyz") => Ok(false),
            Some(other) => Err(fault(format!("`order` is `{other}`\nwrite \"xyzw\" or \"wxyz\""))),
            // Without rest rotations most joints are near the identity, whose largest number is the scalar.
            None if !matrices && self.rest_rotations.is_none() => {
                let square = |k: usize| rotations.chunks_exact(4).map(|q| q[k] * q[k]).sum::<f64>();
                if square(0) > square(3) {
                    return Err(fault(
                        "`rotations` look like quaternions w, x, y, z\nwrite `order=\"wxyz\"`, or `order=\"xyzw\"` if they are not",
                    ));
                }
                Ok(true)
            }
            None => Ok(true),
        }
    }
}

/// Deviation of a quaternion's length from 1, or of the product of a matrix with its transpose from the identity, that blending and
/// rounding do not reach: numbers beyond it are no rotations.
const FAR_FROM_UNIT: f64 = 0.1;

/// Whether numbers are about a rotation: a quaternion of unit length, or a matrix with orthonormal rows that mirrors nothing.
pub fn is_rotation(numbers: &[f64]) -> bool {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    if numbers.len() == 4 {
        return (product(numbers, numbers).sqrt() - 1.0).abs() <= FAR_FROM_UNIT;
    }
    let rows: Vec<&[f64]> = numbers.chunks_exact(3).collect();
    let pairs = (0..3).flat_map(|i| (i..3).map(move |j| (i, j)));
    let orthonormal = pairs
        .into_iter()
        .all(|(i, j)| (product(rows[i], rows[j]) - f64::from(u8::from(i == j))).abs() <= FAR_FROM_UNIT);
    orthonormal && determinant(numbers) > 0.0
}

fn determinant(m: &[f64]) -> f64 {
    m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
        + m[2] * (m[3] * m[7] - m[4] * m[6])
}

/// The error for numbers that are no rotation, by the name of the argument and its own indices.
pub fn no_rotation(argument: &str, frame: Option<usize>, joint: &str, numbers: &[f64]) -> PyErr {
    let frame = frame.map_or_else(String::new, |frame| format!("frame {frame}, "));
    let reason = match numbers.len() {
        _ if numbers.iter().any(|x| !x.is_finite()) => "a value that is not finite".to_owned(),
        4 => {
            let length = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
            format!("a quaternion of length {length:.3}, not of unit length")
        }
        _ if determinant(numbers) < 0.0 => "a matrix that mirrors, not a rotation".to_owned(),
        _ => "a matrix without orthonormal rows, not a rotation".to_owned(),
    };
    fault(format!("`{argument}`, {frame}joint `{joint}`: {reason}"))
}

/// Refuses a body whose legs are too long or too short for lengths in metres.
fn check_lengths(character: &Character) -> PyResult<()> {
    let (rig, rest) = (&character.rig, character.skeleton().rest_model_pose());
    let leg = |side: Side| {
        let at = |role: Role| rig.joint(role).map(|id| rest.joints()[id.index()].translation);
        let (hip, knee, ankle) =
            (at(Role::UpperLeg(side))?, at(Role::LowerLeg(side))?, at(Role::Foot(side))?);
        Some((hip - knee).norm() + (knee - ankle).norm())
    };
    match Side::BOTH.into_iter().find_map(leg).filter(|leg| !LEGS.contains(leg)) {
        Some(leg) => Err(fault(format!(
            "the legs are {leg:.3} long, in metres\nwrite the unit of your lengths, `units=\"cm\"`, or `units=\"m\"` if they are \
             that long"
        ))),
        None => Ok(()),
    }
}
