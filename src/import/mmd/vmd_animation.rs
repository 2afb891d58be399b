//! A motion on the bones of a model as an animation of glTF: every frame evaluated, since nothing else solves chains and copies.

use super::bone_tracks::{KeySeries, of_bones};
use super::pmx_model::PmxModel;
use super::pmx_morphs::MorphContent;
use super::pose_solver::PoseSolver;
use super::vmd_keys::VmdKeys;
use crate::gltf_document::{FLOAT, GlbBuilder, floats};
use crate::import::import_error::ImportError;
use crate::math::{Quat, Transform, Vec3, same_hemisphere, single};
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::{FRAME_RATE, MmdBone, NAME_BYTES, decoded, encoded};
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The values of a bone's node.
#[derive(Default)]
struct NodeValues {
    rotations: Vec<[f32; 4]>,
    translations: Vec<[f32; 3]>,
}

/// The animation of a motion; the node of a bone has its number, `faces` are the nodes of meshes with
/// morph targets, with the numbers of their targets in the model.
pub(super) fn animation(
    model: &PmxModel,
    keys: &VmdKeys,
    faces: &[(usize, Vec<usize>)],
    name: &str,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Value, ImportError> {
    let frames = u64::from(keys.last) + 1;
    let what = || format!("{frames} frames of {} bones", model.bones.len());
    budget.reserve_list::<[f32; 8]>(frames.saturating_mul(model.bones.len() as u64), what)?;
    budget.work(frames.saturating_mul(PoseSolver::new(&model.bones).steps()), what)?;
    let values = bone_values(model, keys, warnings);
    let times: Vec<[f32; 1]> =
        (0..=keys.last).map(|frame| [(f64::from(frame) / FRAME_RATE) as f32]).collect();
    let mut input = json!({"componentType": FLOAT, "count": times.len(), "type": "SCALAR"});
    (input["min"], input["max"]) = (json!([0.0]), json!(times[times.len() - 1]));
    let input = binary.push(&floats(&times), None, input);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut add = |node: usize, path: &str, output: usize| {
        channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
        samplers.push(json!({"input": input, "output": output}));
    };
    for (k, values) in values.iter().enumerate() {
        let bone = &model.bones[k];
        let above = bone.above.map_or_else(Vec3::zeros, |above| model.bones[above].position);
        let rest = single(&(bone.position - above));
        if values.rotations.iter().any(|q| *q != [0.0, 0.0, 0.0, 1.0]) {
            let accessor = json!({"componentType": FLOAT, "count": times.len(), "type": "VEC4"});
            add(k, "rotation", binary.push(&floats(&values.rotations), None, accessor));
        }
        if values.translations.iter().any(|t| *t != rest) {
            let accessor = json!({"componentType": FLOAT, "count": times.len(), "type": "VEC3"});
            add(k, "translation", binary.push(&floats(&values.translations), None, accessor));
        }
    }
    let movers = movers(model);
    for (node, face) in faces {
        if let Some(weights) = weights(model, keys, face, &movers, budget)? {
            let accessor = json!({"componentType": FLOAT, "count": weights.len(), "type": "SCALAR"});
            add(*node, "weights", binary.push(&floats(&weights), None, accessor));
        }
    }
    // A clip is as long as its keys, also if nothing moves.
    if channels.is_empty() {
        let still = vec![[0.0_f32, 0.0, 0.0, 1.0]; times.len()];
        let accessor = json!({"componentType": FLOAT, "count": times.len(), "type": "VEC4"});
        let output = binary.push(&floats(&still), None, accessor);
        channels.push(json!({"sampler": 0, "target": {"node": 0, "path": "rotation"}}));
        samplers.push(json!({"input": input, "output": output}));
    }
    Ok(json!({"name": name, "samplers": samplers, "channels": channels}))
}

/// The rotations of every bone, and the translations of those that may be displaced, in what each is attached to.
fn bone_values(model: &PmxModel, keys: &VmdKeys, warnings: &mut Warnings) -> Vec<NodeValues> {
    let bones = &model.bones;
    let (lists, strange) = of_bones(bones, keys);
    if let Some(first) = strange.first() {
        let said = format!("{} bones of the motion are not in the model", strange.len());
        warnings.add("vmd-bones", said, one_line(&decoded(first)));
    }
    let displaced: Vec<bool> = bones
        .iter()
        .zip(&lists)
        .map(|(bone, list)| {
            // What is attached elsewhere than in the file may be displaced from there.
            list.iter().any(|key| key.translation != [0.0; 3])
                || bone.append.as_ref().is_some_and(|a| a.moves)
                || bone.above != bone.parent
        })
        .collect();
    let chains = chains(bones, keys);
    let mut solver = PoseSolver::new(bones);
    let mut tracks: Vec<_> = lists.into_iter().map(KeySeries::new).collect();
    let mut own = vec![Transform::identity(); bones.len()];
    let mut before = vec![Quat::identity(); bones.len()];
    let mut values: Vec<NodeValues> = bones.iter().map(|_| NodeValues::default()).collect();
    for frame in 0..=keys.last {
        for (own, track) in own.iter_mut().zip(&mut tracks) {
            *own = track.own(frame);
        }
        let on = |k: usize| {
            let switched = chains.get(&k).map_or(&[][..], |list| list);
            let begun = switched.partition_point(|(from, _)| *from <= frame);
            begun.checked_sub(1).is_none_or(|k| switched[k].1)
        };
        let placed = solver.pose(&own, on);
        for (k, bone) in bones.iter().enumerate() {
            let local = bone.above.map_or(placed[k], |above| placed[above].inverse() * placed[k]);
            before[k] = same_hemisphere(local.rotation, &before[k]);
            let q = before[k];
            values[k].rotations.push([q.i, q.j, q.k, q.w].map(|x| (x as f32).clamp(-1.0, 1.0)));
            if displaced[k] {
                values[k].translations.push(single(&local.translation));
            }
        }
    }
    values
}

/// When chains are switched on and off, by their bones.
fn chains<'a>(bones: &[MmdBone], keys: &'a VmdKeys) -> HashMap<usize, &'a [(u32, bool)]> {
    let with_chain = bones.iter().enumerate().filter(|(_, bone)| bone.ik.is_some());
    let switched = with_chain
        .filter_map(|(k, bone)| Some((k, keys.chains.get(&encoded(&bone.name, NAME_BYTES)?)?.as_slice())));
    switched.collect()
}

/// For each morph target that groups move: the groups, and how much each does.
fn movers(model: &PmxModel) -> HashMap<usize, Vec<(usize, f32)>> {
    let mut movers: HashMap<usize, Vec<(usize, f32)>> = HashMap::new();
    for (k, morph) in model.morphs.iter().enumerate() {
        let MorphContent::Group(group) = &morph.content else { continue };
        for (target, share) in group {
            movers.entry(*target).or_default().push((k, *share));
        }
    }
    movers
}

/// Frames whose weights are computed target by target.
const BLOCK: usize = 64;

/// The weights of a mesh's morph targets, frame by frame: their own, and their share of groups; `None` if no key moves them.
fn weights(
    model: &PmxModel,
    keys: &VmdKeys,
    face: &[usize],
    movers: &HashMap<usize, Vec<(usize, f32)>>,
    budget: &MemoryBudget,
) -> Result<Option<Vec<[f32; 1]>>, ImportError> {
    let list = |k: usize| keys.morphs.get(&encoded(&model.morphs[k].name, NAME_BYTES)?);
    // For each target the keys that move it, and by how much.
    let mut columns = Vec::new();
    for &target in face {
        let groups = movers.get(&target).into_iter().flatten().copied();
        let all = std::iter::once((target, 1.0)).chain(groups);
        let moved: Vec<(KeySeries<(u32, f32)>, f32)> =
            all.filter_map(|(k, share)| Some((KeySeries::new(list(k)?), share))).collect();
        columns.push(moved);
    }
    let series: usize = columns.iter().map(Vec::len).sum();
    if series == 0 {
        return Ok(None);
    }
    let frames = u64::from(keys.last) + 1;
    let what = || "the weights of morph targets".to_owned();
    budget.reserve_list::<[f32; 2]>(frames.saturating_mul(face.len() as u64), what)?;
    // Some sixteen lookups take a microsecond.
    budget.work(frames.saturating_mul(series.div_ceil(16) as u64), what)?;
    let mut values = vec![[0.0]; frames as usize * face.len()];
    // Keys of a target stay in the cache for a block of frames: thousands of targets miss it frame by frame.
    for begin in (0..=keys.last).step_by(BLOCK) {
        let block = begin..=keys.last.min(begin + BLOCK as u32 - 1);
        for (k, column) in columns.iter_mut().enumerate() {
            for frame in block.clone() {
                let sum: f32 = column.iter_mut().map(|(track, share)| track.weight(frame) * *share).sum();
                values[frame as usize * face.len() + k] = [if sum.is_finite() { sum } else { 0.0 }];
            }
        }
    }
    Ok(Some(values))
}
