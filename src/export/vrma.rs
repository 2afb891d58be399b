//! Writes a VRM animation: a GLB of human bones with a T-pose without rotations as rest pose.
//!
//! With `T` the rotation of a bone in the T-pose and `W` that in a frame, both in model space, `D = W T^-1` is the rotation
//! from the T-pose. The file gets `D(parent)^-1 D(bone)`, with the nearest ancestor that is in the file as parent, and the
//! position of the hips. The rest pose of a VRM is a T-pose by definition; other characters are brought into it limb by limb
//! (`anatomy::TPose`). Space: model space, Y up, facing +Z; if the T-pose is computed here, its soles are at height 0 and its
//! hips above the origin. Units: metres, seconds. Source: VRMC_vrm_animation 1.0 (VRM Consortium).

pub use super::export_options::VrmaOptions;
use super::gltf::has_extension;
use super::key_reduction::{JointKeys, reduce};
use super::save::{ExportError, Format, one_each};
use crate::anatomy::{TPose, parent_role};
use crate::body::CharacterBody;
use crate::gltf_document::{FLOAT, GlbBuilder, GltfError, floats};
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{Character, Clip, Finger, Joint, JointId, ModelPose, Motion, Role, Side, Skeleton};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// VRM animation.
pub const FORMAT: Format = Format {
    name: "vrma",
    about: "VRM animation, playable by any VRM",
    loses: "bones outside the VRM humanoid, translations of joints other than the hips, skin, morph targets; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| one_each("vrma", motions, options, |motion, _| write(motion, &options.vrma)),
};

/// Bones that every VRM animation must have.
const REQUIRED: [&str; 15] = [
    "hips",
    "spine",
    "head",
    "leftUpperLeg",
    "leftLowerLeg",
    "leftFoot",
    "rightUpperLeg",
    "rightLowerLeg",
    "rightFoot",
    "leftUpperArm",
    "leftLowerArm",
    "leftHand",
    "rightUpperArm",
    "rightLowerArm",
    "rightHand",
];

/// glTF extensions whose specification requires a T-pose as rest pose.
const T_POSE_EXTENSIONS: [&str; 3] = ["VRM", "VRMC_vrm", "VRMC_vrm_animation"];

/// The VRM animation of a motion.
///
/// # Errors
/// [`ExportError::HumanBones`] if required bones are missing, [`ExportError::Empty`] for a clip without frames.
pub fn write(motion: &Motion, options: &VrmaOptions) -> Result<Vec<u8>, ExportError> {
    if motion.clip.frames() == 0 {
        return Err(ExportError::Empty);
    }
    let bones = bones(&motion.character, options)?;
    let (skeleton, clip) = human(motion, &bones)?;
    glb(&skeleton, &clip)
}

/// A bone of the file.
struct HumanBone {
    name: String,
    role: Role,
    joint: JointId,
    /// The index of the nearest ancestor bone.
    parent: Option<usize>,
}

/// The bones that a character has, parents first.
fn bones(character: &Character, options: &VrmaOptions) -> Result<Vec<HumanBone>, ExportError> {
    let rig = &character.rig;
    let spine = rig.chain(Role::Spine).len();
    let named = |role| Some((role, bone_name(role, spine, options.upper_chest)?));
    let names: BTreeMap<Role, String> = rig.assignments().filter_map(|(role, _)| named(role)).collect();
    let missing: Vec<&str> =
        REQUIRED.iter().copied().filter(|bone| !names.values().any(|name| name == bone)).collect();
    if !missing.is_empty() {
        return Err(ExportError::HumanBones { missing: missing.join(", ") });
    }
    let above = |role: Role| {
        std::iter::successors(parent_role(rig, role), |r| parent_role(rig, *r))
            .find(|r| names.contains_key(r))
    };
    // Sorted by the number of ancestors.
    let depth = |role: &Role| std::iter::successors(Some(*role), |r| above(*r)).count();
    let mut ordered: Vec<Role> = names.keys().copied().collect();
    ordered.sort_by_key(|role| (depth(role), *role));
    let bone = |role: &Role| {
        let parent = above(*role).and_then(|up| ordered.iter().position(|r| *r == up));
        Some(HumanBone { name: names.get(role)?.clone(), role: *role, joint: rig.joint(*role)?, parent })
    };
    Ok(ordered.iter().filter_map(bone).collect())
}

/// The bone name of a role, in a body with `spine` spine joints.
pub(super) fn bone_name(role: Role, spine: usize, upper_chest: bool) -> Option<String> {
    Some(match role {
        Role::Hips => "hips".to_owned(),
        Role::Spine(n) => match usize::from(n) {
            0 => "spine".to_owned(),
            // Of more joints than the format has: the first, the middle and the last.
            n if n == spine / 2 => "chest".to_owned(),
            n if n + 1 == spine && upper_chest => "upperChest".to_owned(),
            _ => return None,
        },
        Role::Neck(0) => "neck".to_owned(),
        Role::Head => "head".to_owned(),
        Role::Clavicle(s) => format!("{}Shoulder", s.word()),
        Role::UpperArm(s) => format!("{}UpperArm", s.word()),
        Role::LowerArm(s) => format!("{}LowerArm", s.word()),
        Role::Hand(s) => format!("{}Hand", s.word()),
        Role::UpperLeg(s) => format!("{}UpperLeg", s.word()),
        Role::LowerLeg(s) => format!("{}LowerLeg", s.word()),
        Role::Foot(s) => format!("{}Foot", s.word()),
        Role::Toes(s) => format!("{}Toes", s.word()),
        Role::Finger(s, finger, n) => {
            let (finger, parts) = match finger {
                Finger::Thumb => ("Thumb", ["Metacarpal", "Proximal", "Distal"]),
                Finger::Index => ("Index", ["Proximal", "Intermediate", "Distal"]),
                Finger::Middle => ("Middle", ["Proximal", "Intermediate", "Distal"]),
                Finger::Ring => ("Ring", ["Proximal", "Intermediate", "Distal"]),
                Finger::Little => ("Little", ["Proximal", "Intermediate", "Distal"]),
            };
            format!("{}{finger}{}", s.word(), parts.get(usize::from(n))?)
        }
        Role::Neck(_) | Role::Tail(_) => return None,
    })
}

/// The motion of the bones, relative to the T-pose.
fn human(motion: &Motion, bones: &[HumanBone]) -> Result<(Skeleton, Clip), ExportError> {
    let (character, clip) = (&motion.character, &motion.clip);
    let pose = character.reference_pose();
    let t_pose = if rest_pose_is_t_pose(character)? { None } else { TPose::of(character, &pose) };
    let t_rotations: Vec<Quat> =
        bones.iter().map(|b| t_pose.as_ref().map_or_else(Quat::identity, |t| t.rotation(b.role))).collect();
    let mut positions = positions(bones, &t_rotations, &pose);
    let shift = match (&t_pose, bones.first()) {
        (Some(_), _) => Vec3::y() * -lowest(character, bones, &positions, &t_rotations, &pose),
        // Players scale by the height of the hips of the avatar in its rest pose.
        (None, first) => first.map_or_else(Vec3::zeros, |hips| pose.position(hips.joint)),
    };
    positions.iter_mut().for_each(|p| *p += shift);
    let joint = |(bone, position): (&HumanBone, &Vec3)| {
        let above = bone.parent.map_or_else(Vec3::zeros, |up| positions[up]);
        let rest = Transform::from_translation(position - above);
        Joint::new(bone.name.clone(), bone.parent.map(JointId::new), rest)
    };
    let skeleton = Skeleton::new(bones.iter().zip(&positions).map(joint).collect())
        .map_err(|e| GltfError::value("nodes", e.to_string()))?;

    let model_from_t: Vec<Quat> =
        bones.iter().zip(&t_rotations).map(|(b, t)| (t * pose.joint(b.joint).rotation).inverse()).collect();
    let mut rotations: Vec<Quat> = Vec::with_capacity(clip.frames() * bones.len());
    let mut hips = Vec::with_capacity(clip.frames());
    for frame in 0..clip.frames() {
        let now = motion.model_pose(frame);
        let deltas: Vec<Quat> =
            bones.iter().zip(&model_from_t).map(|(b, t)| now.joint(b.joint).rotation * t).collect();
        for (bone, d) in bones.iter().zip(&deltas) {
            let local = bone.parent.map_or(*d, |up| deltas[up].inverse() * d);
            let before = rotations.len().checked_sub(bones.len()).map(|k| rotations[k]);
            rotations.push(before.map_or(local, |before| same_hemisphere(local, &before)));
        }
        hips.extend(bones.first().map(|b| now.position(b.joint)));
    }
    let moved = vec![JointId::new(0)];
    let mut human = Clip::new(clip.name.clone(), clip.sample_rate, bones.len(), rotations, moved, hips);
    human.tolerance = clip.tolerance;
    Ok((skeleton, human))
}

fn rest_pose_is_t_pose(character: &Character) -> Result<bool, ExportError> {
    let document = character.document.as_ref();
    Ok(document.map(|d| has_extension(&d.bytes, &T_POSE_EXTENSIONS)).transpose()?.unwrap_or(false))
}

/// The positions of the bones in the T-pose, relative to the hips.
fn positions(bones: &[HumanBone], t_rotations: &[Quat], pose: &ModelPose) -> Vec<Vec3> {
    let mut positions: Vec<Vec3> = Vec::with_capacity(bones.len());
    for bone in bones {
        positions.push(bone.parent.map_or_else(Vec3::zeros, |up| {
            let offset = pose.position(bone.joint) - pose.position(bones[up].joint);
            positions[up] + t_rotations[up] * offset
        }));
    }
    positions
}

/// The height of the lowest point of the feet in the T-pose.
fn lowest(
    character: &Arc<Character>,
    bones: &[HumanBone],
    positions: &[Vec3],
    t_rotations: &[Quat],
    pose: &ModelPose,
) -> f64 {
    let body = CharacterBody::new(character);
    let soles = Side::BOTH.into_iter().flat_map(|side| body.foot_support(side));
    let height = |&(joint, point): &(JointId, Vec3)| {
        let k = bones.iter().position(|b| b.joint == joint)?;
        Some((positions[k] + t_rotations[k] * (pose.joint(joint).rotation * point)).y)
    };
    let feet = bones.iter().zip(positions).filter(|(b, _)| matches!(b.role, Role::Foot(_) | Role::Toes(_)));
    let joints = feet.map(|(_, position)| position.y);
    let low = soles.filter_map(height).chain(joints).fold(f64::INFINITY, f64::min);
    if low.is_finite() { low } else { 0.0 }
}

/// The GLB of a clip of bones.
fn glb(skeleton: &Skeleton, clip: &Clip) -> Result<Vec<u8>, ExportError> {
    let single = |numbers: &[f64]| numbers.iter().map(|x| f64::from(*x as f32)).collect::<Vec<f64>>();
    let node = |id: JointId| {
        let joint = skeleton.joint(id);
        let mut node = json!({"name": joint.name, "translation": single(joint.rest.translation.as_slice())});
        let children: Vec<usize> = skeleton.children(id).iter().map(|c| c.index()).collect();
        if !children.is_empty() {
            node["children"] = children.into();
        }
        node
    };
    let all = || (0..clip.frames()).collect::<Vec<usize>>();
    let keys: Vec<JointKeys> = match clip.tolerance {
        Some(tolerance) => reduce(skeleton, clip, tolerance),
        None => skeleton.ids().map(|_| JointKeys { rotation: all(), translation: all() }).collect(),
    };
    let mut tracks =
        VrmaTracks { buffer: GlbBuilder::default(), times: BTreeMap::new(), clip, list: Vec::new() };
    for (id, keys) in skeleton.ids().zip(&keys) {
        tracks.add::<4>(id, "rotation", &keys.rotation, |f| clip.rotations(f)[id.index()].coords.into());
    }
    for (track, id) in clip.translated().iter().enumerate() {
        let frames = keys.get(id.index()).map_or(&[][..], |k| &k.translation);
        tracks.add::<3>(*id, "translation", frames, |f| clip.translations(f)[track].into());
    }
    let VrmaTracks { buffer, list, .. } = tracks;
    let (samplers, channels): (Vec<Value>, Vec<Value>) = list.into_iter().unzip();
    let bones: Map<String, Value> =
        skeleton.ids().map(|id| (skeleton.joint(id).name.clone(), json!({"node": id.index()}))).collect();
    let json = json!({
        "extensionsUsed": ["VRMC_vrm_animation"],
        "extensions": {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": skeleton.ids().map(node).collect::<Vec<_>>(),
        "animations": [{"name": clip.name, "samplers": samplers, "channels": channels}],
    });
    Ok(buffer.glb(json)?)
}

/// The tracks of an animation; tracks with equal key times share them.
struct VrmaTracks<'a> {
    buffer: GlbBuilder,
    times: BTreeMap<Vec<usize>, usize>,
    clip: &'a Clip,
    /// Samplers and channels.
    list: Vec<(Value, Value)>,
}

impl VrmaTracks<'_> {
    /// Adds the values of `node` at these frames; a constant value is written at both ends.
    fn add<const N: usize>(
        &mut self,
        node: JointId,
        path: &str,
        frames: &[usize],
        value: impl Fn(usize) -> [f64; N],
    ) {
        let ends = [0, self.clip.frames().saturating_sub(1)];
        let frames = if frames.len() < 2 && ends[1] > 0 { &ends[..] } else { frames };
        let rate = self.clip.sample_rate;
        let buffer = &mut self.buffer;
        let input = *self.times.entry(frames.to_vec()).or_insert_with(|| {
            let times: Vec<[f32; 1]> = frames.iter().map(|f| [(*f as f64 / rate) as f32]).collect();
            let bound = |t: Option<&[f32; 1]>| t.map_or(0.0, |t| t[0]);
            let accessor = json!({"componentType": FLOAT, "count": times.len(), "type": "SCALAR",
                "min": [bound(times.first())], "max": [bound(times.last())]});
            buffer.push(&floats(&times), None, accessor)
        });
        let values: Vec<[f32; N]> = frames.iter().map(|f| value(*f).map(|x| x as f32)).collect();
        let kind = if N == 3 { "VEC3" } else { "VEC4" };
        let accessor = json!({"componentType": FLOAT, "count": values.len(), "type": kind});
        let output = self.buffer.push(&floats(&values), None, accessor);
        let sampler = json!({"input": input, "output": output, "interpolation": "LINEAR"});
        let target = json!({"node": node.index(), "path": path});
        self.list.push((sampler, json!({"sampler": self.list.len(), "target": target})));
    }
}
