//! A motion on the bones of a model as an animation of glTF: every frame evaluated, since nothing else solves chains and copies.

use super::pmx_model::PmxModel;
use super::pmx_morphs::MorphContent;
use super::pose_solver::PoseSolver;
use super::vmd_keys::{VmdKey, VmdKeys};
use crate::gltf_document::{FLOAT, GlbBuilder, floats};
use crate::import::import_error::ImportError;
use crate::math::{Quat, Transform, Vec3, same_hemisphere, slerp};
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::{
    FRAME_RATE, MmdBone, NAME_BYTES, decoded, encoded, point_from_mmd, rotation_from_mmd,
};
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

fn single(v: &Vec3) -> [f32; 3] {
    <[f64; 3]>::from(*v).map(|x| x as f32)
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
    // Some twenty lookups take a microsecond.
    budget.work(frames.saturating_mul(series as u64 / 16), what)?;
    let mut values = Vec::new();
    for frame in 0..=keys.last {
        for column in &mut columns {
            let sum: f32 = column.iter_mut().map(|(track, share)| track.weight(frame) * *share).sum();
            values.push([if sum.is_finite() { sum } else { 0.0 }]);
        }
    }
    Ok(Some(values))
}

// Keys of bones and morph targets at the frames of a motion.
//
// Displacements follow the curve of each axis, rotations the shortest arc by theirs, weights of morph targets a straight line. Before the
// first key and after the last one a bone stays where the key puts it.

/// The keys of a bone or a target, which are looked up at ascending frames.
#[derive(Clone, Debug)]
struct KeySeries<'a, K> {
    keys: &'a [K],
    /// The number of keys at or before the last frame that was looked up.
    before: usize,
}

impl<'a, K> KeySeries<'a, K> {
    fn new(keys: &'a [K]) -> Self {
        Self { keys, before: 0 }
    }

    /// The keys around a frame and the share of the time between them; `None` without keys.
    fn around(&mut self, frame: u32, of: impl Fn(&K) -> u32) -> Option<(&'a K, &'a K, f64)> {
        while self.keys.get(self.before).is_some_and(|key| of(key) <= frame) {
            self.before += 1;
        }
        let a = self.keys.get(self.before.saturating_sub(1))?;
        let b = self.keys.get(self.before).unwrap_or(a);
        let (from, to) = (of(a), of(b));
        let share =
            if to > from && frame > from { f64::from(frame - from) / f64::from(to - from) } else { 0.0 };
        Some((a, b, share))
    }
}

impl KeySeries<'_, VmdKey> {
    /// The rotation and displacement of the bone, in model space.
    fn own(&mut self, frame: u32) -> Transform {
        let Some((a, b, share)) = self.around(frame, |key| key.frame) else { return Transform::identity() };
        let [from, to] = [a, b].map(|key| point_from_mmd(key.translation));
        let rotation = rotation_from_mmd(a.rotation);
        if share == 0.0 {
            return Transform::new(rotation, from);
        }
        let axis = |k: usize| from[k] + (to[k] - from[k]) * b.curves[k].at(share);
        let rotation: Quat = slerp(&rotation, &rotation_from_mmd(b.rotation), b.curves[3].at(share));
        Transform::new(rotation, [axis(0), axis(1), axis(2)].into())
    }
}

impl KeySeries<'_, (u32, f32)> {
    /// The weight of the target.
    fn weight(&mut self, frame: u32) -> f32 {
        let Some((a, b, share)) = self.around(frame, |key| key.0) else { return 0.0 };
        a.1 + (b.1 - a.1) * share as f32
    }
}

/// The keys of each bone, empty for those without, and the bones of the motion that the model does not have.
fn of_bones<'a>(bones: &[MmdBone], keys: &'a VmdKeys) -> (Vec<&'a [VmdKey]>, Vec<&'a [u8]>) {
    let names: Vec<Option<Vec<u8>>> = bones.iter().map(|bone| encoded(&bone.name, NAME_BYTES)).collect();
    let mut known = std::collections::BTreeSet::new();
    let lists = names.iter().map(|name| {
        // The first bone of a name has the motion.
        let name = name.as_ref().filter(|name| known.insert((*name).clone()))?;
        keys.bones.get(name).map(Vec::as_slice)
    });
    let lists = lists.map(Option::unwrap_or_default).collect();
    let strange = keys.bones.keys().filter(|name| !known.contains(*name)).map(Vec::as_slice).collect();
    (lists, strange)
}
