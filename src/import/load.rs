//! Bytes of a motion file become an asset: a small reader of plain BVH text, in its own units.
//! Source of the format: the Biovision hierarchy as FORMATS describes it (replace reading of positions).

use crate::math::{Quat, Transform, UnitVec3, Vec3};
use crate::model::{Asset, Character, Clip, Joint, JointId, Pose, Rig, Skeleton};
use crate::report::Warnings;
use std::path::Path;
use std::sync::Arc;

/// The axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// +Y.
    Y,
    /// +Z.
    Z,
}

/// How position channels and offsets of a BVH file go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// The channels replace the offset.
    Replace,
    /// The channels are added to the offset.
    Add,
}

/// What the user says about the files to be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Metres per unit; `None`: guessed.
    pub units: Option<f64>,
    /// The up axis; `None`: guessed.
    pub up: Option<Axis>,
    /// The reading of position channels; `None`: decided from the data.
    pub bvh_positions: Option<Positions>,
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Read(String),
    /// The text is not what the format asks for.
    #[error("expected {0}")]
    Expected(String),
}

/// Reads one file.
///
/// # Errors
/// An [`ImportError`].
pub fn load(path: &Path, options: &Options) -> Result<Asset, ImportError> {
    let text = std::fs::read_to_string(path).map_err(|e| ImportError::Read(e.to_string()))?;
    let unit = options.units.unwrap_or(1.0);
    let mut words = text.split_whitespace();
    let missing = |what: &str| ImportError::Expected(what.to_owned());
    let mut joints: Vec<Joint> = Vec::new();
    let mut channels: Vec<(usize, String)> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    let number = |words: &mut std::str::SplitWhitespace<'_>| -> Result<f64, ImportError> {
        let word = words.next().ok_or_else(|| missing("a number"))?;
        word.parse().map_err(|_| ImportError::Expected(format!("a number, not `{word}`")))
    };
    if words.next() != Some("HIERARCHY") {
        return Err(missing("`HIERARCHY`"));
    }
    loop {
        match words.next().ok_or_else(|| missing("`MOTION`"))? {
            "ROOT" | "JOINT" => {
                let name = words.next().ok_or_else(|| missing("a name"))?;
                let parent = open.iter().rev().find_map(|j| *j).map(JointId::new);
                joints.push(Joint::new(name, parent, Transform::identity()));
                open.push(Some(joints.len() - 1));
            }
            "End" => {
                words.next();
                open.push(None);
            }
            "OFFSET" => {
                let v = Vec3::new(number(&mut words)?, number(&mut words)?, number(&mut words)?) * unit;
                match open.last() {
                    Some(Some(j)) => joints[*j].rest.translation = v,
                    _ => joints.last_mut().ok_or_else(|| missing("`ROOT`"))?.tip = Some(v),
                }
            }
            "CHANNELS" => {
                for _ in 0..number(&mut words)? as usize {
                    let name = words.next().ok_or_else(|| missing("a channel"))?;
                    channels.push((joints.len() - 1, name.to_owned()));
                }
            }
            "}" => {
                open.pop();
            }
            "MOTION" => break,
            _ => {}
        }
    }
    words.next();
    let frames = number(&mut words)? as usize;
    words.next();
    words.next();
    let rate = 1.0 / number(&mut words)?;
    let skeleton = Skeleton::new(joints).map_err(|e| ImportError::Expected(e.to_string()))?;
    let mut poses: Vec<Pose> = Vec::new();
    for _ in 0..frames {
        let mut pose = skeleton.rest_pose();
        for (joint, name) in &channels {
            let x = number(&mut words)?;
            let axis = match &name[..1] {
                "X" => Vec3::x_axis(),
                "Y" => Vec3::y_axis(),
                _ => Vec3::z_axis(),
            };
            let t = &mut pose.local_mut()[*joint];
            if name.ends_with("position") {
                let k = axis.iter().position(|a| *a == 1.0).unwrap_or(0);
                t.translation[k] = x * unit;
            } else {
                let axis: UnitVec3 = axis;
                t.rotation *= Quat::from_axis_angle(&axis, x.to_radians());
            }
        }
        poses.push(pose);
    }
    for k in 1..poses.len() {
        let (before, after) = poses.split_at_mut(k);
        for (a, b) in before[k - 1].local().iter().zip(after[0].local_mut()) {
            if a.rotation.coords.dot(&b.rotation.coords) < 0.0 {
                b.rotation = Quat::new_unchecked(-b.rotation.into_inner());
            }
        }
    }
    let clip = Clip::from_poses("", rate, &skeleton, &poses);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let rig = Rig::new(skeleton, []);
    let character = Character { name, rig, bind: None, meshes: Vec::new(), document: None };
    Ok(Asset { character: Arc::new(character), clips: vec![clip], warnings: Warnings::new() })
}
