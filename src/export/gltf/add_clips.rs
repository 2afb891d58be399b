//! Adds clips to the glTF document of their character; everything else in the document is preserved.
//!
//! New keyframes are appended to the binary buffer of a GLB, or written to an additional buffer of a `.gltf`; accessors, buffer
//! views and animations are appended to the JSON text. For a character without a document (from BVH), a GLB with a visible
//! skeleton is built first.
//!
//! Space: from model space back to the file's own world. Units: metres, seconds; `f32` in the file.
//! Source: glTF 2.0 specification (Khronos, ISO/IEC 12113:2022).

use super::animation_buffer::AnimationBuffer;
use super::json_splice::{JsonSplice, rebuild};
use super::property_channels::{AnimationChannel, PropertyTargets};
use super::thin_tracks::{KeyFrames, thin};
use super::{made_by, new_document, node_tracks, resource_files};
use crate::export::key_reduction::reduce;
use crate::export::nominal_rate::nominal;
use crate::gltf_document::{ADDED, Chunks, GltfError, Json, LocalTransform, NodeTree, RATE};
use crate::model::{Character, Clip, Container, Document, UniqueNames};
use crate::report::{Warnings, one_line};
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Options of [`write()`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GltfOptions {
    /// Whether the new animations replace those of the document.
    pub replace: bool,
    /// The container to write; `None`: that of the document.
    pub container: Option<Container>,
    /// The folder of the resource files, relative to the document; empty: the paths in the document are kept.
    pub files: String,
    /// Provenance of the file as JSON, for `asset.extras.posemill`; empty: none is written.
    pub made_by: String,
}

/// A glTF file and its resource files.
#[derive(Clone, Debug)]
pub struct GltfOutput {
    /// The file.
    pub bytes: Vec<u8>,
    /// Its container.
    pub container: Container,
    /// The files that its URIs name: relative path with `/`, and content.
    pub resources: Vec<(String, Arc<[u8]>)>,
    /// Changes to the document and losses.
    pub warnings: Warnings,
}

/// Writes the character's document with `clips` as animations.
///
/// # Errors
/// A [`GltfError`] if the document cannot be read or the result does not fit its container.
pub fn write<C: Borrow<Clip>>(
    character: &Character,
    clips: &[C],
    options: &GltfOptions,
) -> Result<GltfOutput, GltfError> {
    let clips: Vec<&Clip> = clips.iter().map(Borrow::borrow).collect();
    match &character.document {
        Some(document) => splice(character, document, &clips, options),
        None => {
            let document = new_document::document(character)?;
            splice(character, &document, &clips, options)
        }
    }
}

fn splice(
    character: &Character,
    document: &Document,
    clips: &[&Clip],
    options: &GltfOptions,
) -> Result<GltfOutput, GltfError> {
    let chunks = Chunks::open(&document.bytes)?;
    let mut warnings = Warnings::new();
    // The importer has reported these already.
    let mut reported = Warnings::new();
    let tree = NodeTree::read(&Json::parse(chunks.json, chunks.json_offset)?, &mut reported)?;
    // Trailing spaces pad the JSON chunk of a GLB.
    let text = if chunks.glb { chunks.json.trim_end_matches(' ') } else { chunks.json };
    let mut out = JsonSplice::new(Json::parse(text, chunks.json_offset)?);
    if options.replace {
        out.replace_list("animations");
    }
    let container = options.container.unwrap_or(document.container);
    let mut buffer = AnimationBuffer::find(&mut out, document, &chunks, container, &mut warnings)?;
    let file_from_model = document.model_from_file.inverse();
    let targets = PropertyTargets::of(out.json(), &tree, &document.nodes)?;
    let joint_of = node_tracks::joint_of(&tree, &document.nodes);
    let mut animated = vec![false; tree.nodes().len()];
    let mut names = UniqueNames::new(animation_names(out.json(), options.replace));
    for clip in clips.iter().filter(|c| c.frames() > 0) {
        let tracks = node_tracks::tracks(&tree, &document.nodes, character.skeleton(), clip, file_from_model);
        tracks.iter().for_each(|t| animated[t.node] = true);
        let keys = clip.tolerance.map(|t| reduce(character.skeleton(), clip, t)).unwrap_or_default();
        let thinned = tracks.into_iter().map(|t| thin(t, &joint_of, &keys, clip.frames()));
        let mut channels: Vec<AnimationChannel> = thinned.map(AnimationChannel::of_joint).collect();
        channels.extend(targets.channels(clip, &mut warnings));
        let name = free_name(&clip.name, &mut names, &mut warnings);
        append(&mut out, &mut buffer, clip, &name, channels)?;
    }
    for (node, raw) in out.json().items("nodes")?.into_iter().enumerate() {
        let local = &tree.node(node).local;
        let Some(matrix) = local.matrix.filter(|_| animated[node]) else { continue };
        let path = format!("nodes[{node}]");
        let message = "a node with a matrix is animated, which glTF forbids; \
                       the matrix was converted to translation, rotation and scale";
        warnings.add("gltf-matrix-replaced", message, path.clone());
        let parts = LocalTransform { matrix: None, ..*local };
        if (parts.linear() - matrix).norm() > 1e-5 * matrix.norm() {
            warnings.add(
                "gltf-shear-lost",
                "the matrix of an animated node shears; the shear was dropped",
                path,
            );
        }
        let numbers = |v: &[f64]| {
            let texts: Vec<String> = v.iter().map(|x| number(*x as f32)).collect();
            format!("[{}]", texts.join(","))
        };
        let add = [
            ("translation", numbers(local.translation.as_slice())),
            ("rotation", numbers(local.rotation.coords.as_slice())),
            ("scale", numbers(local.scale.as_slice())),
        ];
        out.replace(raw, rebuild(raw, &["matrix", "translation", "rotation", "scale"], &add)?);
    }
    let resources = match container == Container::Gltf || chunks.glb {
        true => resource_files::set_paths(&mut out, &document.resources, &options.files)?,
        false => Vec::new(),
    };
    if !options.made_by.is_empty() {
        made_by::write(&mut out, &options.made_by)?;
    }
    let bytes = buffer.into_file(out, container, chunks.others)?;
    Ok(GltfOutput { bytes, container, resources, warnings })
}

/// The names of the animations that the document keeps.
fn animation_names(json: &Json, replace: bool) -> Vec<String> {
    let kept = json.value("animations").filter(|_| !replace).unwrap_or_default();
    let names = kept.as_array().into_iter().flatten().filter_map(|animation| animation["name"].as_str());
    names.map(str::to_owned).collect()
}

/// The name of an animation in the file: programs choose animations by their names.
fn free_name(name: &str, names: &mut UniqueNames, warnings: &mut Warnings) -> String {
    if name.is_empty() {
        return String::new();
    }
    let free = names.fresh(name);
    if free != name {
        let said = format!(
            "the file already has an animation of this name: the clip is named `{}` in it",
            one_line(&free)
        );
        warnings.add("gltf-clip-renamed", said, format!("clip `{}`", one_line(name)));
    }
    free
}

/// JSON text of an `f32`: a reader that parses it as `f64` gets exactly the widened `f32`.
fn number(x: f32) -> String {
    serde_json::Value::from(f64::from(x)).to_string()
}

/// Appends one clip: its buffer view, accessors and animation.
fn append<'a>(
    out: &mut JsonSplice,
    buffer: &mut AnimationBuffer<'a>,
    clip: &Clip,
    name: &str,
    all: Vec<AnimationChannel<'a>>,
) -> Result<(), GltfError> {
    let begin = buffer.align();
    // Reserves the index of the view; its text follows when its length is known.
    let view = out.append("bufferViews", String::new())?;
    let accessor = |out: &mut JsonSplice, kind: &str, offset: usize, count: usize, bounds: String| {
        let item = format!(
            "{{\"bufferView\":{view},\"byteOffset\":{},\"componentType\":5126,\"count\":{count},\"type\":\"{kind}\"{bounds}}}",
            offset - begin
        );
        out.append("accessors", item)
    };
    // Tracks with keys at the same frames share their times.
    let mut times_at: BTreeMap<KeyFrames, usize> = BTreeMap::new();
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for AnimationChannel { node, path, kind, elements, width, values, frames } in all {
        let count = frames.len();
        let input = match times_at.get(&frames) {
            Some(&input) => input,
            None => {
                let times: Vec<f32> = (0..count).map(|key| clip.time(frames.get(key)) as f32).collect();
                let bounds =
                    format!(",\"min\":[{}],\"max\":[{}]", number(times[0]), number(times[count - 1]));
                let offset = buffer.push(node_tracks::TrackValues::Ready(times), count);
                let input = accessor(out, "SCALAR", offset, count, bounds)?;
                times_at.insert(frames, input);
                input
            }
        };
        let offset = buffer.push(values, width * count);
        let output = accessor(out, kind, offset, elements * count, String::new())?;
        channels.push(format!(
            "{{\"sampler\":{},\"target\":{{\"node\":{node},\"path\":\"{path}\"}}}}",
            samplers.len()
        ));
        samplers.push(format!("{{\"input\":{input},\"output\":{output}}}"));
    }
    out.amend(
        "bufferViews",
        format!(
            "{{\"buffer\":{},\"byteOffset\":{begin},\"byteLength\":{}}}",
            buffer.index,
            buffer.length - begin
        ),
    );
    let name = match name {
        "" => String::new(),
        name => format!("\"name\":{},", serde_json::Value::from(name)),
    };
    // One key has no rate, and keys that are left out have a multiple of one that is no whole number.
    let rate = match clip.frames() == 1 || nominal(clip.sample_rate).fract() != 0.0 {
        true => format!(",\"{RATE}\":{}", clip.sample_rate),
        false => String::new(),
    };
    let animation = format!(
        "{{{name}\"samplers\":[{}],\"channels\":[{}],\"extras\":{{\"{ADDED}\":true{rate}}}}}",
        samplers.join(","),
        channels.join(",")
    );
    out.append("animations", animation)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_exact_single_precision_value() {
        assert_eq!(number(0.1), "0.10000000149011612");
        assert_eq!(number(2.0), "2.0");
    }
}
