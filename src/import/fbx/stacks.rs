//! Converts every animation stack of a scene to an animation, sampled at the file's frame rate, or at the rate of its keys if
//! these are on every frame of another rate: a clip of 120 Hz may have been imported into a file of 30.
//!
//! Frame f is at `begin + f / rate`, or at the key next to it where a stepped curve jumps, so the reader evaluates layers, tangents, extrapolation and Euler angles. Nodes that
//! stay in their rest pose get no channel. Space: local, as the nodes. Units: metres, seconds.

use super::joint_nodes::{JointNodes, RestPose};
use super::mesh::GlbMeshes;
use crate::gltf_document::{FLOAT, GlbBuilder, floats};
use crate::import::gltf::LEAST_BAKED;
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::parallel;
use crate::report::{Warnings, one_line};
use crate::signal::Rate;
use serde_json::{Value, json};
use std::collections::HashSet;
use ufbx::{
    AnimCurve, AnimStack, Interpolation, Keyframe, SceneRoot, Transform, evaluate_blend_weight,
    evaluate_transform,
};

/// Memory of a node in one frame until it is written: as returned by the reader, as numbers, as bytes.
type BakedSample = (Transform, [f32; 10]);
/// Memory of a morph weight in one frame until it is written, bytes: as number, as bytes, in the binary chunk, in the file.
const MORPH_SAMPLE: u64 = 16;

/// Layers without animation of a node that the reader passes in one step of work.
const LAYERS_PER_STEP: usize = 64;
/// Keys that are read in one step of work: several stacks may share a layer.
const KEYS_PER_STEP: u64 = 8;
/// Highest rate of baked takes, Hz: denser keys are not frames.
const MOST_BAKED: f64 = 240.0;
/// Largest distance of a key from its frame, in frames: times are whole ticks of a 46186158000th of a second.
const ON_FRAME: f64 = 0.01;

/// The channels of one node in one stack that differ from its rest pose.
#[derive(Default)]
struct NodeSamples {
    /// Frames whose transform is not finite, and the first of them.
    repaired: usize,
    first_repaired: usize,
    translations: Vec<[f32; 3]>,
    rotations: Vec<[f32; 4]>,
    scales: Vec<[f32; 3]>,
}

/// The animations of the scene, those with motion first: old files store their bind pose as a take, too.
pub(super) fn animations(
    scene: &SceneRoot,
    joints: &JointNodes,
    rest: &RestPose,
    meshes: &GlbMeshes,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Vec<Value>, ImportError> {
    let mut still = Vec::new();
    let mut moving = Vec::new();
    for (s, stack) in scene.anim_stacks.iter().enumerate() {
        let keys: u64 = curves(stack).map(|curve| curve.keyframes.len() as u64).sum();
        budget.work(keys / KEYS_PER_STEP, || {
            format!("the keys of the take `{}`", one_line(&stack.element.name))
        })?;
        let rate = rate(stack, exact(scene.settings.frames_per_second));
        let frames = frames(stack, rate);
        let samples = frames.saturating_mul(scene.nodes.len() as u64);
        let name = one_line(&stack.element.name);
        budget.reserve_list::<BakedSample>(samples, || format!("the take `{name}` of {frames} frames"))?;
        let animated: usize = stack.layers.iter().map(|layer| layer.anim_props.len()).sum();
        let passed = scene.nodes.len() * stack.layers.len() / LAYERS_PER_STEP;
        let steps = frames.saturating_mul((scene.nodes.len() + animated + passed) as u64);
        budget.work(steps, || format!("the take `{name}` of {frames} frames"))?;
        let frames = frames as usize;
        let times = sample_times(stack, rate, frames);
        let tracks: Vec<NodeSamples> =
            parallel::map(scene.nodes.len(), 1, |n| track(scene, s, n, &times, &rest[n]));
        report_repairs(scene, &name, &tracks, warnings);
        let (animation, moves) =
            animation(scene, (s, rate), &times, &tracks, (joints, meshes), binary, budget)?;
        match animation {
            Some(animation) if moves => moving.push(animation),
            Some(animation) => still.push(animation),
            None => {}
        }
    }
    moving.append(&mut still);
    Ok(moving)
}

/// A rate of television as what it is rounded from: at 29.97 in place of 30000 / 1001 an hour ends a tenth of a frame early.
pub(super) fn exact(hz: f64) -> f64 {
    Rate::from_hz(hz).map_or(hz, Rate::hz)
}

/// The rate of the keys, where they stand in every frame of one: finer than the file's, or coarser and joined by lines; else
/// that of the file.
fn rate(stack: &AnimStack, of_file: f64) -> f64 {
    let curves = || curves(stack);
    let Some(longest) = curves().max_by_key(|curve| curve.keyframes.len()) else { return of_file };
    let keys = &longest.keyframes;
    let [first, .., last] = keys.as_ref() else { return of_file };
    let (first, count) = (first.time, keys.len() as f64 - 1.0);
    let even = exact((count / (last.time - first) * 1e3).round() / 1e3);
    let on_frame = |time: f64| {
        let frame = (time - first) * even;
        (frame - frame.round()).abs() < ON_FRAME
    };
    let every =
        keys.iter().enumerate().all(|(k, key)| ((key.time - first) * even - k as f64).abs() < ON_FRAME);
    let all = || curves().flat_map(|curve| curve.keyframes.iter());
    if !(LEAST_BAKED..=MOST_BAKED).contains(&even) || !every || !all().all(|key| on_frame(key.time)) {
        return of_file;
    }
    let lines = || all().all(|key| key.interpolation == Interpolation::Linear);
    if even > of_file || lines() { even } else { of_file }
}

/// All animation curves of a stack, each once: many values may share one.
fn curves(stack: &AnimStack) -> impl Iterator<Item = &AnimCurve> {
    let mut seen = HashSet::new();
    let values = stack.layers.iter().flat_map(|layer| layer.anim_values.iter());
    let all = values.flat_map(|value| value.curves.iter().flatten().map(|curve| &**curve));
    all.filter(move |curve| seen.insert(curve.element.element_id))
}

/// The times at which the frames of a stack are read: a frame next to the end of a step is read at it, since rates are rounded
/// and a moment earlier the value of the step is that of the frame before.
fn sample_times(stack: &AnimStack, rate: f64, frames: usize) -> Vec<f64> {
    let steps = |pair: &[Keyframe]| {
        let stepped =
            matches!(pair[0].interpolation, Interpolation::ConstantPrev | Interpolation::ConstantNext);
        stepped.then_some(pair[1].time)
    };
    let mut jumps: Vec<f64> =
        curves(stack).flat_map(|curve| curve.keyframes.windows(2).filter_map(steps)).collect();
    jumps.sort_by(f64::total_cmp);
    jumps.dedup();
    let of_frame = |frame: usize| {
        let time = stack.time_begin + frame as f64 / rate;
        let until = jumps.partition_point(|jump| (jump - time) * rate < ON_FRAME);
        let last = jumps[..until].last().filter(|jump| (time - **jump) * rate < ON_FRAME);
        last.map_or(time, |jump| jump.max(time))
    };
    (0..frames).map(of_frame).collect()
}

/// Number of frames of a stack; saturates for a damaged time.
fn frames(stack: &AnimStack, rate: f64) -> u64 {
    let last = ((stack.time_end - stack.time_begin) * rate).round();
    if last.is_nan() { u64::MAX } else { (last as u64).saturating_add(1) }
}

fn single<const N: usize>(numbers: [f64; N]) -> [f32; N] {
    numbers.map(|x| x as f32)
}

fn parts(at: &Transform) -> ([f32; 3], [f32; 4], [f32; 3]) {
    let (t, r, s) = (at.translation, at.rotation, at.scale);
    (single([t.x, t.y, t.z]), single([r.x, r.y, r.z, r.w]), single([s.x, s.y, s.z]))
}

fn track(scene: &SceneRoot, stack: usize, node: usize, times: &[f64], rest: &Transform) -> NodeSamples {
    let (stack, node) = (&scene.anim_stacks[stack], &scene.nodes[node]);
    let mut track = NodeSamples::default();
    let mut last = [0.0f32; 4];
    let mut last_finite = parts(rest);
    for (f, &time) in times.iter().enumerate() {
        let at = evaluate_transform(&stack.anim, node, time);
        let (mut t, mut r, mut s) = parts(&at);
        if t.iter().chain(&r).chain(&s).all(|x| x.is_finite()) {
            last_finite = (t, r, s);
        } else {
            if track.repaired == 0 {
                track.first_repaired = f;
            }
            track.repaired += 1;
            (t, r, s) = last_finite;
        }
        if r.iter().zip(&last).map(|(a, b)| a * b).sum::<f32>() < 0.0 {
            r = r.map(|x| -x);
        }
        last = r;
        track.translations.push(t);
        track.rotations.push(r);
        track.scales.push(s);
    }
    let (t, r, s) = parts(rest);
    let rests = |q: &[f32; 4]| *q == r || q.map(|x| -x) == r;
    if track.translations.iter().all(|x| *x == t) {
        track.translations.clear();
    }
    if track.rotations.iter().all(rests) {
        track.rotations.clear();
    }
    if track.scales.iter().all(|x| *x == s) {
        track.scales.clear();
    }
    track
}

/// Warns of transforms that are not finite and were replaced by those of the previous frame.
fn report_repairs(scene: &SceneRoot, take: &str, tracks: &[NodeSamples], warnings: &mut Warnings) {
    let repaired: usize = tracks.iter().map(|t| t.repaired).sum();
    let Some(node) = tracks.iter().position(|t| t.repaired > 0) else { return };
    let said = format!(
        "{repaired} transforms of the take `{take}` are not finite numbers and were replaced by those of the previous frame"
    );
    let joint = one_line(&scene.nodes[node].element.name);
    warnings.add(
        "fbx-not-finite",
        said,
        format!("the joint `{joint}`, frame {}", tracks[node].first_repaired),
    );
}

/// The animation of one stack and whether anything moves in it; `None` if it is the rest pose of a character.
fn animation(
    scene: &SceneRoot,
    (stack, rate): (usize, f64),
    sampled: &[f64],
    tracks: &[NodeSamples],
    (joints, meshes): (&JointNodes, &GlbMeshes),
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
) -> Result<(Option<Value>, bool), ImportError> {
    let (stack, frames) = (&scene.anim_stacks[stack], sampled.len());
    let times: Vec<[f32; 1]> = (0..frames).map(|f| [(f as f64 / rate) as f32]).collect();
    let mut channels: Vec<(usize, &str, &str, Vec<u8>, usize)> = Vec::new();
    let mut moves = false;
    for (node, track) in tracks.iter().enumerate() {
        moves |= changes(&track.translations) || changes(&track.rotations) || changes(&track.scales);
        let mut add = |path, kind, bytes: Vec<u8>| {
            if !bytes.is_empty() {
                channels.push((node, path, kind, bytes, frames));
            }
        };
        add("translation", "VEC3", floats(&track.translations));
        add("rotation", "VEC4", floats(&track.rotations));
        add("scale", "VEC3", floats(&track.scales));
    }
    for (node, entry) in scene.nodes.iter().enumerate() {
        let Some((mesh, body)) = node_morphs(entry, meshes) else { continue };
        let channels_of = || mesh.blend_deformers.iter().flat_map(|d| d.channels.iter());
        let targets = || channels_of().filter(|c| c.target_shape.is_some()).take(body.targets);
        let values = (frames as u64).saturating_mul(targets().count() as u64);
        budget.reserve(values.saturating_mul(MORPH_SAMPLE), || {
            let name = one_line(&stack.element.name);
            format!("the morph weights of the take `{name}` of {frames} frames")
        })?;
        budget
            .work(values, || format!("the morph weights of the take `{}`", one_line(&stack.element.name)))?;
        let mut weights: Vec<[f32; 1]> = Vec::with_capacity(values as usize);
        for &time in sampled {
            let finite = |weight: f64| if (weight as f32).is_finite() { weight as f32 } else { 0.0 };
            weights.extend(targets().map(|c| [finite(evaluate_blend_weight(&stack.anim, c, time))]));
        }
        let usual: Vec<[f32; 1]> = targets().map(|c| [c.weight as f32]).collect();
        if weights.chunks_exact(usual.len().max(1)).any(|now| now != usual) {
            moves = true;
            channels.push((node, "weights", "SCALAR", floats(&weights), weights.len()));
        }
    }
    if channels.is_empty() && !joints.skinned {
        // In a file without a body a pose may be its only content.
        let first = joints.list().first().copied().unwrap_or(0);
        let at = evaluate_transform(&stack.anim, &scene.nodes[first], stack.time_begin);
        channels.push((first, "rotation", "VEC4", floats(&vec![parts(&at).1; frames]), frames));
    }
    if channels.is_empty() {
        return Ok((None, false));
    }
    let end = times.last().map_or(0.0, |t| t[0]);
    let list =
        json!({ "componentType": FLOAT, "count": frames, "type": "SCALAR", "min": [0.0], "max": [end] });
    let input = binary.push(&floats(&times), None, list);
    let (mut samplers, mut targets) = (Vec::new(), Vec::new());
    for (node, path, kind, bytes, count) in channels {
        let list = json!({ "componentType": FLOAT, "count": count, "type": kind });
        let output = binary.push(&bytes, None, list);
        targets.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
    }
    let name: &str = stack.element.name.as_ref();
    Ok((Some(json!({ "name": name, "channels": targets, "samplers": samplers })), moves))
}

fn changes<const N: usize>(values: &[[f32; N]]) -> bool {
    values.iter().any(|v| *v != values[0])
}

/// The mesh of a node, if it has morph targets.
fn node_morphs<'a>(
    node: &'a ufbx::Node,
    meshes: &'a GlbMeshes,
) -> Option<(&'a ufbx::Mesh, &'a super::mesh::GlbMesh)> {
    let body = meshes.of_node(node).filter(|b| b.targets > 0)?;
    Some((node.mesh.as_ref()?, body))
}
