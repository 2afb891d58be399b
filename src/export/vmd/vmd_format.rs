//! The format `vmd`.

use super::figure_bones::FigureBones;
use super::model_bones::ModelBones;
use super::vmd_writer::{BoneTrack, VmdTrack, WeightTrack, bytes};
use crate::export::file_rate::at_file_rate;
use crate::export::format::Format;
use crate::export::key_reduction::{LEAST_RADIUS, thin};
use crate::export::save::{ExportError, ExportOptions, OutputFile};
use crate::math::{Transform, Vec3};
use crate::mmd_document::{
    FRAME_RATE, MmdBone, NAME_BYTES, encoded, point_from_mmd, point_to_mmd, rotation_from_mmd,
    rotation_to_mmd,
};
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
    write: |motions, options: &ExportOptions| {
        let mut warnings = Warnings::new();
        let mut files = Vec::new();
        for motion in motions {
            files.push(OutputFile { name: options.file("vmd"), bytes: write(motion, &mut warnings)? });
        }
        Ok((files, warnings))
    },
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

// The frames whose keys keep every bone within a tolerance, between which players go in straight lines.
//
// An error of a bone moves all below it: an angle `a` by at most `a r`, with `r` the longest path from it to the end of a chain.
// The errors of the bones of the longest chain, those that a bone copies included, add up to the tolerance. Conservative, as
// `key_reduction` begins. Units: metres, radians.

/// Sets the keys that the tracks, one for each of `bones`, need within `tolerance` metres.
fn reduce(tracks: &mut [BoneTrack], bones: &[MmdBone], tolerance: f64) {
    let differs = |track: &BoneTrack, part: std::ops::Range<usize>| {
        let first = track.values.first();
        usize::from(
            track.values.iter().any(|v| first.is_some_and(|first| v[part.clone()] != first[part.clone()])),
        )
    };
    // What never moves has no error: the displacement of most bones.
    let own: Vec<usize> = tracks.iter().map(|track| differs(track, 0..3) + differs(track, 3..7)).collect();
    let copied = |k: usize| bones[k].append.as_ref().map(|append| append.source);
    // Copies of copies in a circle end after all bones.
    let errors = |k: usize| {
        let sources = std::iter::successors(copied(k), |source| copied(*source)).take(bones.len());
        own[k] + sources.map(|source| own[source]).sum::<usize>()
    };
    let mut reach = vec![LEAST_RADIUS; bones.len()];
    let mut most = 1;
    for k in 0..bones.len() {
        let (mut length, mut count, mut at) = (LEAST_RADIUS, errors(k), k);
        // Parents in a circle end after all bones.
        for _ in 0..bones.len() {
            let Some(parent) = bones[at].parent else { break };
            length += bones[at].offset(bones).norm();
            count += errors(parent);
            reach[parent] = reach[parent].max(length);
            at = parent;
        }
        most = most.max(count);
    }
    let share = tolerance / most as f64;
    for (track, reach) in tracks.iter_mut().zip(reach) {
        let samples: Vec<_> = track
            .values
            .iter()
            .map(|&[x, y, z, i, j, k, w]| {
                Transform::new(rotation_from_mmd([i, j, k, w]), point_from_mmd([x, y, z]))
            })
            .collect();
        let needed = thin(&samples, share, Transform::interpolated, |a, b| {
            (a.translation - b.translation).norm().max(reach * a.rotation.angle_to(&b.rotation))
        });
        track.needed = Some(needed);
    }
}

// The motion that each bone has of its own, from where the bones are.

/// The bones of a model, prepared for [`OwnMotion::of`].
struct OwnMotion {
    bones: Vec<MmdBone>,
    /// The bones by layer, those that copy others last: what is copied may come later in the file.
    order: Vec<usize>,
    /// The lower body, on which the imported skeleton hangs, and the bones above it in the model, up to the bone that moves the model.
    lower_body: Option<(usize, Vec<usize>)>,
    shares: Vec<Transform>,
}

/// A displacement below this is none, metres: a thousandth of a unit of 32-bit numbers at 100 m.
const STILL: f64 = 1e-8;

impl OwnMotion {
    fn new(bones: Vec<MmdBone>) -> Self {
        let mut order: Vec<usize> = (0..bones.len()).collect();
        order.sort_by_key(|&k| (bones[k].append.is_some(), bones[k].order));
        let find = |name: &str| bones.iter().position(|bone| bone.name == name);
        let lower_body = find("下半身").zip(find("センター")).and_then(|(lower, centre)| {
            // A document may have been damaged: parents in a circle end after all bones.
            let above = std::iter::successors(bones[lower].parent, |b| bones[*b].parent).take(bones.len());
            let above: Vec<usize> = above.collect();
            let end = above.iter().position(|b| *b == centre)?;
            Some((lower, above[..=end].to_vec()))
        });
        let shares = vec![Transform::identity(); bones.len()];
        Self { bones, order, lower_body, shares }
    }

    /// The own motion of the bones that are at `placed` in model space, which is changed.
    fn of(&mut self, placed: &mut [Transform]) -> Vec<Transform> {
        let bones = &self.bones;
        let local = |placed: &[Transform], k: usize| {
            bones[k].parent.map_or(placed[k], |p| placed[p].inverse() * placed[k])
        };
        if let Some((lower, above)) = &self.lower_body {
            let parent = bones[*lower].parent.map_or_else(Transform::identity, |p| placed[p]);
            let moved: Vec3 = local(placed, *lower).translation - bones[*lower].offset(bones);
            let moved = parent.vector(&moved);
            if moved.norm() > STILL {
                above.iter().for_each(|&k| placed[k].translation += moved);
            }
        }
        let mut own = vec![Transform::identity(); bones.len()];
        self.shares.fill(Transform::identity());
        for &k in &self.order {
            if let Some(append) = &bones[k].append {
                let copied = match bones[append.source].append {
                    Some(_) => &self.shares[append.source],
                    None => &own[append.source],
                };
                self.shares[k] = append.of(copied);
            }
            own[k] = bones[k].own(bones, &local(placed, k), &self.shares[k]);
            if own[k].translation.norm() < STILL {
                own[k].translation = Vec3::zeros();
            }
        }
        own
    }
}
