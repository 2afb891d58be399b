//! Converts a SkelAnimation prim to an animation of glTF. Units: seconds, the file's lengths.

use super::usd_error::UsdError;
use super::usd_skeleton::UsdSkeleton;
use super::usd_xforms::unit;
use super::usda_layer::{Layer, Prim, Value};
use crate::gltf_document::{FLOAT, GlbBuilder, RATE, floats};
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Largest deviation from 1 of a scale that is not written: 16-bit floats have 1e-3.
const STILL: f64 = 1e-3;

/// Time codes per second up to which they are frames: beyond it they are parts of a second.
const HIGHEST_RATE: f64 = 240.0;

/// A glTF mesh node with the names of its morph targets.
pub(super) struct MorphedNode {
    pub(super) node: usize,
    pub(super) mesh: usize,
    pub(super) targets: Vec<String>,
}

/// The samplers and channels of one animation.
struct AnimationBuilder<'a> {
    binary: &'a mut GlbBuilder,
    samplers: Vec<Json>,
    channels: Vec<Json>,
}

impl AnimationBuilder<'_> {
    fn times(&mut self, times: &[f32]) -> usize {
        let keys: Vec<[f32; 1]> = times.iter().map(|t| [*t]).collect();
        let accessor = json!({
            "componentType": FLOAT, "count": keys.len(), "type": "SCALAR",
            "min": [times[0]], "max": [times[times.len() - 1]],
        });
        self.binary.push(&floats(&keys), None, accessor)
    }

    fn add(&mut self, (node, path): (usize, &str), input: usize, kind: &str, count: usize, values: &[u8]) {
        let accessor = json!({"componentType": FLOAT, "count": count, "type": kind});
        let output = self.binary.push(values, None, accessor);
        self.channels.push(json!({"sampler": self.samplers.len(), "target": {"node": node, "path": path}}));
        self.samplers.push(json!({"input": input, "output": output}));
    }
}

/// The attributes of an animation that move something.
const MOVING: [&str; 4] = ["translations", "rotations", "scales", "blendShapeWeights"];

/// The time codes of an animation.
#[derive(Clone, Copy, Debug)]
struct TimeCodes {
    /// The first sample of any of its attributes: a value without time holds from there on.
    first: f64,
    /// The beginning and the end of the stage, where it belongs to this animation: exporters leave out samples that repeat the one
    /// before, so that a held pose at either end has none.
    stage: Option<[f64; 2]>,
}

impl TimeCodes {
    fn of(layer: &Layer, prim: &Prim) -> Self {
        let sampled = || {
            let properties = MOVING.iter().filter_map(|name| prim.properties.get(*name));
            properties.flat_map(|property| property.samples.iter().map(|(time, _)| *time))
        };
        let [first, last] = [sampled().reduce(f64::min), sampled().reduce(f64::max)];
        let alone = || layer.of_kind("SkelAnimation").take(2).count() == 1;
        let stage = layer.start.zip(layer.end).filter(|(start, end)| {
            let around = first.zip(last).is_some_and(|(first, last)| *start <= first && last <= *end);
            around && start.is_finite() && end.is_finite() && alone()
        });
        let stage = stage.map(<[f64; 2]>::from);
        Self { first: stage.map_or(first.unwrap_or(0.0), |stage| stage[0]), stage }
    }
}

/// The samples of an attribute in seconds: of its value without time a single one.
fn samples<'a>(
    layer: &Layer,
    prim: &'a Prim,
    name: &str,
    codes: &TimeCodes,
) -> Result<Vec<(f32, &'a [f64])>, UsdError> {
    let Some(property) = prim.properties.get(name) else { return Ok(Vec::new()) };
    let numbers = |value: &'a Value| match value {
        Value::Numbers(numbers) => numbers.as_slice(),
        _ => &[],
    };
    let seconds = |time: f64| (time / layer.rate) as f32;
    let mut sampled: Vec<_> =
        property.samples.iter().map(|(time, value)| (seconds(*time), numbers(value))).collect();
    if !sampled.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(UsdError::Prim {
            prim: prim.path.clone(),
            reason: format!("the times of `{name}` do not ascend"),
        });
    }
    let [Some(first), Some(last)] = [sampled.first(), sampled.last()].map(|sample| sample.copied()) else {
        let constant = property.value.iter().map(|value| (seconds(codes.first), numbers(value)));
        return Ok(constant.collect());
    };
    if let Some([start, end]) = codes.stage.map(|stage| stage.map(seconds)) {
        if start < first.0 {
            sampled.insert(0, (start, first.1));
        }
        if end > last.0 {
            sampled.push((end, last.1));
        }
    }
    Ok(sampled)
}

/// The weights of an animation that moves no joint and has a single sample: those of a character at rest.
pub(super) fn resting_weights<'a>(layer: &Layer, prim: &'a Prim) -> Result<HashMap<&'a str, f64>, UsdError> {
    let moves =
        ["translations", "rotations", "scales"].iter().any(|name| prim.properties.contains_key(*name));
    let samples = samples(layer, prim, "blendShapeWeights", &TimeCodes { first: 0.0, stage: None })?;
    let [(_, weights)] = samples[..] else { return Ok(HashMap::new()) };
    let names = prim.words("blendShapes").iter().map(String::as_str);
    Ok(if moves { HashMap::new() } else { names.zip(weights.iter().copied()).collect() })
}

/// The animation of a prim; `None` if it moves nothing of the skeleton. `first` is the node of the first joint.
///
/// # Errors
/// Samples of other lengths than the list of joints, and more of them than the memory limit allows.
pub(super) fn animation(
    layer: &Layer,
    prim: &Prim,
    (skeleton, first): (&UsdSkeleton, usize),
    faces: &[MorphedNode],
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Option<Json>, ImportError> {
    let order = skeleton.order(prim.words("joints"));
    let foreign = order.iter().filter(|joint| joint.is_none()).count();
    if foreign > 0 {
        let said = format!("{foreign} joints of an animation are not in the skeleton and were left out");
        warnings.add("usd-foreign-joints", said, prim.path.clone());
    }
    let codes = TimeCodes::of(layer, prim);
    let mut made = AnimationBuilder { binary, samplers: Vec::new(), channels: Vec::new() };
    for (name, path, width) in
        [("translations", "translation", 3), ("rotations", "rotation", 4), ("scales", "scale", 3)]
    {
        let samples = samples(layer, prim, name, &codes)?;
        let Some(keys) = std::num::NonZero::new(samples.len()).map(std::num::NonZero::get) else { continue };
        if let Some((_, odd)) = samples.iter().find(|(_, numbers)| numbers.len() != width * order.len()) {
            let reason = format!(
                "a sample of `{name}` has {} numbers, its {} joints need {}",
                odd.len(),
                order.len(),
                width * order.len()
            );
            return Err(UsdError::Prim { prim: prim.path.clone(), reason }.into());
        }
        let still = |n: &f64| (n - 1.0).abs() < STILL;
        if name == "scales" && samples.iter().all(|(_, numbers)| numbers.iter().all(still)) {
            continue;
        }
        budget.reserve_list::<f32>((keys * width * order.len()) as u64, || format!("the {name}"))?;
        let times: Vec<f32> = samples.iter().map(|sample| sample.0).collect();
        let input = made.times(&times);
        for (k, joint) in order.iter().enumerate().filter_map(|(k, joint)| Some((k, (*joint)?))) {
            let mut values: Vec<u8> = Vec::with_capacity(4 * width * keys);
            for (_, numbers) in &samples {
                let own = &numbers[width * k..][..width];
                let own = match *own {
                    [w, x, y, z] => unit(w, [x, y, z]).coords.iter().map(|x| *x as f32).collect::<Vec<_>>(),
                    _ => own.iter().map(|x| *x as f32).collect(),
                };
                values.extend(own.iter().flat_map(|x| x.to_le_bytes()));
            }
            made.add((first + joint, path), input, if width == 4 { "VEC4" } else { "VEC3" }, keys, &values);
        }
    }
    weights(layer, prim, faces, &codes, budget, &mut made)?;
    let AnimationBuilder { samplers, channels, .. } = made;
    let moves = !channels.is_empty();
    let mut found = json!({"name": prim.name(), "samplers": samplers, "channels": channels});
    if layer.rate <= HIGHEST_RATE {
        found["extras"] = json!({ RATE: layer.rate });
    }
    Ok(moves.then_some(found))
}

/// Adds the weights of morph targets; targets that the animation does not name have the weight 0.
fn weights(
    layer: &Layer,
    prim: &Prim,
    faces: &[MorphedNode],
    codes: &TimeCodes,
    budget: &MemoryBudget,
    made: &mut AnimationBuilder<'_>,
) -> Result<(), ImportError> {
    let names = prim.words("blendShapes");
    let samples = samples(layer, prim, "blendShapeWeights", codes)?;
    if names.is_empty() || samples.is_empty() {
        return Ok(());
    }
    if samples.iter().any(|(_, numbers)| numbers.len() != names.len()) {
        let reason = "`blendShapeWeights` and `blendShapes` differ in length".to_owned();
        return Err(UsdError::Prim { prim: prim.path.clone(), reason }.into());
    }
    let times: Vec<f32> = samples.iter().map(|sample| sample.0).collect();
    let input = made.times(&times);
    let column: HashMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
    for MorphedNode { node, targets, .. } in faces {
        budget.reserve_list::<f32>((samples.len() * targets.len()) as u64, || "the weights".to_owned())?;
        let from: Vec<Option<usize>> = targets.iter().map(|t| column.get(t.as_str()).copied()).collect();
        let of = |numbers: &[f64], k: Option<usize>| k.map_or(0.0, |k| numbers[k] as f32);
        let values = samples.iter().flat_map(|(_, numbers)| from.iter().map(move |k| of(numbers, *k)));
        let values: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        made.add((*node, "weights"), input, "SCALAR", samples.len() * targets.len(), &values);
    }
    Ok(())
}
