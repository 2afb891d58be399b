//! The format `vmd`.

use super::figure_bones::FigureBones;
use super::model_bones::ModelBones;
use super::needed_keys::reduce;
use super::own_motion::OwnMotion;
use super::vmd_writer::{BoneTrack, VmdTrack, WeightTrack, bytes};
use crate::export::file_rate::at_file_rate;
use crate::export::save::{ExportError, Format, one_each};
use crate::math::Transform;
use crate::mmd_document::{FRAME_RATE, NAME_BYTES, encoded, point_to_mmd, rotation_to_mmd};
use crate::model::{AnimatedProperty, Character, ModelPose, Motion};
use crate::report::{Warnings, one_line};
use std::borrow::Cow;

/// MikuMikuDance motions.
pub const FORMAT: Format = Format {
    name: "vmd",
    about: "MikuMikuDance motion at 30 frames per second",
    loses: "the character; other frame rates; joints that are no bones of MikuMikuDance; one clip a file",
    morphs: true,
    several: false,
    write: |motions, options| one_each("vmd", motions, options, write),
};

/// The bones that a character moves.
enum Mover {
    Model(ModelBones),
    Figure(FigureBones),
}

impl Mover {
    fn of(character: &Character, warnings: &mut Warnings) -> Result<Self, ExportError> {
        if let Some(model) = ModelBones::of(character)? {
            return Ok(Self::Model(model));
        }
        let missing = || ExportError::HumanBones { missing: "hips, leftUpperLeg, rightUpperLeg".to_owned() };
        let figure = FigureBones::of(character).ok_or_else(missing)?;
        let said = "the motion is that of a standard figure of MikuMikuDance, 1.6 m tall; retarget onto a `.pmx` character for the \
                    proportions of that one";
        warnings.add("vmd-figure", said, "the character");
        Ok(Self::Figure(figure))
    }

    fn placed(&self, pose: &ModelPose) -> Vec<Transform> {
        match self {
            Self::Model(model) => model.placed(pose),
            Self::Figure(figure) => figure.placed(pose),
        }
    }
}

fn write(motion: &Motion, warnings: &mut Warnings) -> Result<Vec<u8>, ExportError> {
    if motion.clip.frames() == 0 {
        return Err(ExportError::Empty);
    }
    let mover = Mover::of(&motion.character, warnings)?;
    let motion = at_frame_rate(motion, warnings);
    let (bones, chains) = match &mover {
        Mover::Model(model) => (model.bones.clone(), model.chains.clone()),
        Mover::Figure(figure) => {
            let chains = figure.bones.iter().filter(|bone| bone.ik.is_some());
            (figure.bones.clone(), chains.map(|bone| bone.name.clone()).collect())
        }
    };
    let names: Vec<Option<Vec<u8>>> = bones.iter().map(|bone| encoded(&bone.name, NAME_BYTES)).collect();
    if let Some(k) = names.iter().position(Option::is_none) {
        let said = "bones whose names Shift-JIS does not have are not written";
        warnings.add("vmd-names", said, one_line(&bones[k].name));
    }
    let name = |name: &Option<Vec<u8>>| BoneTrack {
        name: name.clone().unwrap_or_default(),
        values: Vec::new(),
        needed: None,
    };
    let mut tracks: Vec<BoneTrack> = names.iter().map(name).collect();
    let mut own_motion = OwnMotion::new(bones.clone());
    for frame in 0..motion.clip.frames() {
        let mut placed = mover.placed(&motion.model_pose(frame));
        for (track, own) in tracks.iter_mut().zip(own_motion.of(&mut placed)) {
            let ([x, y, z], q) = (point_to_mmd(&own.translation), rotation_to_mmd(&own.rotation));
            // The sign that is nearer to the frame before; +1 for the identity.
            let before = track.values.last().map_or([0.0, 0.0, 0.0, 1.0], |v| [v[3], v[4], v[5], v[6]]);
            let near: f32 = before.iter().zip(q).map(|(a, b)| a * b).sum();
            let [i, j, k, w] = if near < 0.0 { q.map(|x| 0.0 - x) } else { q };
            track.values.push([x, y, z, i, j, k, w]);
        }
    }
    if let Some(tolerance) = motion.clip.tolerance {
        reduce(&mut tracks, &bones, tolerance);
    }
    tracks.retain(|track| !track.name.is_empty());
    Ok(bytes(&motion.character.name, &tracks, &weights(&motion), &chains))
}

/// The motion at the frame rate of the format.
fn at_frame_rate<'a>(motion: &'a Motion, warnings: &mut Warnings) -> Cow<'a, Motion> {
    let Some(made) = at_file_rate(motion, FRAME_RATE) else { return Cow::Borrowed(motion) };
    let said = format!(
        "frames of a VMD are 1/30 s: the clip was resampled from {:.3} frames per second (the stage `resample` lets you choose how)",
        motion.clip.sample_rate
    );
    warnings.add("vmd-rate", said, one_line(&motion.clip.name));
    Cow::Owned(made)
}

/// The weights of morph targets, each name once.
fn weights(motion: &Motion) -> Vec<WeightTrack> {
    let mut made: Vec<WeightTrack> = Vec::new();
    let tracks = motion.clip.property_tracks.iter().filter(|t| t.property == AnimatedProperty::Weights);
    for track in tracks {
        let mesh = motion.character.meshes.iter().find(|m| m.node == track.node && !m.morphs.is_empty());
        let targets = mesh.into_iter().flat_map(|mesh| mesh.morphs.iter().enumerate()).take(track.width);
        for (column, target) in targets {
            let name = encoded(&target.name, NAME_BYTES);
            let Some(name) = name.filter(|name| made.iter().all(|known| known.name != *name)) else {
                continue;
            };
            let frames = 0..motion.clip.frames();
            let weight = |frame| [track.frame(frame).get(column).copied().unwrap_or_default()];
            made.push(VmdTrack { name, values: frames.map(weight).collect(), needed: None });
        }
    }
    made
}
