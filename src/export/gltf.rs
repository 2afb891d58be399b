//! Clips are added to the glTF document of their character; everything else in it leaves as it came.
//!
//! The new keys go behind the bytes of the GLB's binary buffer, or into one more buffer of a `.gltf`; accessors,
//! buffer views and animations are appended to the text. A character without a document (from BVH) becomes a
//! GLB with a visible skeleton first.
//!
//! Space: back from model space into the file's own world. Units: metres, seconds; `f32` in the file.
//! Source: glTF 2.0 specification (Khronos, ISO/IEC 12113:2022).

use super::gltf_beside;
use super::gltf_carried::{Channel, Places};
use super::gltf_local::{self, GROUP};
use super::gltf_nodes::{Values, tracks};
use super::gltf_splice::{Splice, member, rebuild};
use super::gltf_thin::{KeyFrames, thin};
use super::gltf_visible;
use super::reduce::reduce;
use crate::gltf_document::{
    ADDED, Chunks, GltfError, Json, LocalTransform, NodeTree, glb_with_room, write_glb,
};
use crate::model::{Character, Clip, Container, Document};
use crate::report::Warnings;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// What the output shall be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GltfOptions {
    /// Whether the animations of the document make way for the new ones.
    pub replace: bool,
    /// Another container than that of the document.
    pub container: Option<Container>,
    /// The folder of the files beside it, relative to it; empty: they are called as the document calls them.
    pub files: String,
    /// What made the file, as JSON, for `asset.extras.posemill`; empty: nothing is told.
    pub made_by: String,
}

/// A glTF file and what has to lie beside it.
#[derive(Clone, Debug)]
pub struct GltfOutput {
    /// The file.
    pub bytes: Vec<u8>,
    /// What it is.
    pub container: Container,
    /// Files that its URIs name, by relative path with `/`.
    pub beside: Vec<(String, Arc<[u8]>)>,
    /// What could not be kept as it was.
    pub warnings: Warnings,
}

/// The character's document with these clips as animations.
///
/// # Errors
/// A [`GltfError`] where the document cannot be read, or the result would not fit its container.
pub fn write<C: Borrow<Clip>>(
    character: &Character,
    clips: &[C],
    options: &GltfOptions,
) -> Result<GltfOutput, GltfError> {
    let clips: Vec<&Clip> = clips.iter().map(Borrow::borrow).collect();
    match &character.document {
        Some(document) => splice(character, document, &clips, options),
        None => {
            let document = gltf_visible::document(character)?;
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
    let mut unsaid = Warnings::new();
    let tree = NodeTree::read(&Json::parse(chunks.json, chunks.json_offset)?, &mut unsaid)?;
    // The spaces that fill up the chunk of a GLB are no part of the text.
    let text = if chunks.glb { chunks.json.trim_end_matches(' ') } else { chunks.json };
    let mut out = Splice::new(Json::parse(text, chunks.json_offset)?);
    if options.replace {
        out.replace_list("animations");
    }
    let container = options.container.unwrap_or(document.container);
    let mut buffer = Buffer::find(&mut out, document, &chunks, container, &mut warnings)?;
    let file_from_model = document.model_from_file.inverse();
    let places = Places::of(out.json(), &tree, &document.nodes)?;
    let mut animated = vec![false; tree.nodes().len()];
    for clip in clips.iter().filter(|c| c.frames() > 0) {
        let tracks = tracks(&tree, &document.nodes, character.skeleton(), clip, file_from_model);
        tracks.iter().for_each(|t| animated[t.node] = true);
        let keys = clip.tolerance.map(|t| reduce(character.skeleton(), clip, t)).unwrap_or_default();
        let thinned = tracks.into_iter().map(|t| thin(t, &document.nodes, &keys, clip.frames()));
        let mut channels: Vec<Channel> = thinned.map(Channel::of_joint).collect();
        channels.extend(places.channels(clip, &mut warnings));
        append(&mut out, &mut buffer, clip, channels)?;
    }
    for (node, raw) in out.json().items("nodes")?.into_iter().enumerate() {
        let local = &tree.node(node).local;
        let Some(matrix) = local.matrix.filter(|_| animated[node]) else { continue };
        let place = format!("nodes[{node}]");
        let said = "a node with a matrix is animated, which the format forbids; \
                    the matrix became translation, rotation and scale";
        warnings.add("gltf-matrix-replaced", said, place.clone());
        let parts = LocalTransform { matrix: None, ..*local };
        if (parts.linear() - matrix).norm() > 1e-5 * matrix.norm() {
            warnings.add(
                "gltf-shear-lost",
                "the matrix of an animated node shears; the shear was dropped",
                place,
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
    let beside = match container == Container::Gltf || chunks.glb {
        true => gltf_beside::place(&mut out, &document.resources, &options.files)?,
        false => Vec::new(),
    };
    if !options.made_by.is_empty() {
        gltf_beside::sign(&mut out, &options.made_by)?;
    }
    let bytes = buffer.file(out, container, chunks.others)?;
    Ok(GltfOutput { bytes, container, beside, warnings })
}

/// A number of `f32` precision as JSON: what a reader parses into `f64` is the `f32`, widened.
fn number(x: f32) -> String {
    serde_json::Value::from(f64::from(x)).to_string()
}

/// Where new bytes go: behind the binary chunk, or into a buffer of their own.
///
/// The places of all numbers are given out before one is made, so that each is written once, into the file itself.
struct Buffer<'a> {
    index: usize,
    /// What lies before the new bytes in the same buffer.
    before: Cow<'a, [u8]>,
    /// The numbers behind it, with their places, ascending.
    new: Vec<(Range<usize>, Values<'a>)>,
    length: usize,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// The binary chunk, `byteLength` of `buffers[0]` to be written.
    Chunk,
    /// The binary chunk, with `buffers[0]` new in the document.
    NewChunk,
    /// A data URI in a buffer of its own; the binary chunk stays as it is.
    DataUri(Option<&'a [u8]>),
}

fn data_uri(bytes: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes))
}

impl<'a> Buffer<'a> {
    fn find(
        out: &mut Splice,
        document: &Document,
        chunks: &Chunks<'a>,
        container: Container,
        warnings: &mut Warnings,
    ) -> Result<Self, GltfError> {
        let buffers = out.json().items("buffers")?;
        let make = |index, before: Cow<'a, [u8]>, kind| Self {
            index,
            length: before.len(),
            before,
            new: Vec::new(),
            kind,
        };
        let own = |index, chunk| make(index, Cow::default(), Kind::DataUri(chunk));
        match (container, chunks.glb) {
            (Container::Glb, _) if buffers.is_empty() => Ok(make(0, Cow::default(), Kind::NewChunk)),
            (Container::Glb, true) => {
                let bin = chunks.bin;
                let length = member(buffers[0], "byteLength").and_then(|l| l.parse::<u64>().ok());
                let fits = bin.as_ref().is_some_and(|b| length.is_some_and(|l| l <= b.len() as u64));
                match bin {
                    Some(bin) if fits && member(buffers[0], "uri").is_none() => {
                        Ok(make(0, bin.into(), Kind::Chunk))
                    }
                    bin => Ok(own(buffers.len(), bin)),
                }
            }
            (Container::Glb, false) => {
                let first = embed(out, document)?;
                Ok(make(0, first.into(), Kind::Chunk))
            }
            (Container::Gltf, false) => Ok(own(buffers.len(), None)),
            (Container::Gltf, true) => {
                if let (Some(bin), Some(first)) = (chunks.bin, buffers.first())
                    && member(first, "uri").is_none()
                {
                    let uri = serde_json::Value::from(data_uri(bin)).to_string();
                    out.replace(first, rebuild(first, &[], &[("uri", uri)])?);
                }
                if !chunks.others.is_empty() {
                    let said = "further chunks of the GLB have no place in a `.gltf` and were dropped";
                    warnings.add("gltf-chunks-dropped", said, "the end of the file");
                }
                Ok(own(buffers.len(), None))
            }
        }
    }

    /// The next free place.
    fn align(&mut self) -> usize {
        self.length = self.length.next_multiple_of(4);
        self.length
    }

    /// Adds the first `count` numbers of `values` and gives their offset in the buffer.
    fn push(&mut self, values: Values<'a>, count: usize) -> usize {
        let offset = self.align();
        self.length += 4 * count;
        self.new.push((offset..self.length, values));
        offset
    }

    /// Writes everything to `bytes`, which are zeros.
    fn fill(&self, mut bytes: &mut [u8]) {
        bytes[..self.before.len()].copy_from_slice(&self.before);
        let mut rotations = Vec::new();
        let mut at = 0;
        for (place, values) in &self.new {
            let (part, rest) = bytes.split_at_mut(place.end - at);
            let part = &mut part[place.start - at..];
            (bytes, at) = (rest, place.end);
            match values {
                Values::Ready(values) => {
                    for (bytes, x) in part.chunks_exact_mut(4).zip(values) {
                        bytes.copy_from_slice(&x.to_le_bytes());
                    }
                }
                Values::Local(track) => rotations.push((track, part)),
            }
        }
        rotations.par_chunks_mut(GROUP).for_each(gltf_local::write);
    }

    /// The whole file.
    fn file(self, mut out: Splice, container: Container, others: &[u8]) -> Result<Vec<u8>, GltfError> {
        let length = self.length;
        match self.kind {
            Kind::Chunk => {
                let buffers = out.json().items("buffers")?;
                if member(buffers[0], "uri").is_some() {
                    let byte_length = ("byteLength", length.to_string());
                    out.replace(buffers[0], rebuild(buffers[0], &["uri", "byteLength"], &[byte_length])?);
                } else if length > self.before.len()
                    && let Some(part) = member(buffers[0], "byteLength")
                {
                    out.replace(part, length.to_string());
                }
            }
            Kind::NewChunk if length == 0 => return write_glb(&out.finish()?, None, others),
            Kind::NewChunk => {
                out.append("buffers", format!("{{\"byteLength\":{length}}}"))?;
            }
            Kind::DataUri(chunk) => {
                if length > 0 {
                    let mut bytes = vec![0; length];
                    self.fill(&mut bytes);
                    let uri = data_uri(&bytes);
                    out.append("buffers", format!("{{\"byteLength\":{length},\"uri\":\"{uri}\"}}"))?;
                }
                return match container {
                    Container::Glb => write_glb(&out.finish()?, chunk, others),
                    Container::Gltf => Ok(out.finish()?.into_bytes()),
                };
            }
        }
        let (mut file, room) = glb_with_room(&out.finish()?, Some(length), others)?;
        self.fill(&mut file[room]);
        Ok(file)
    }
}

/// Bytes behind a URI, and whether they lie in a file of their own.
type Found = (bool, Arc<[u8]>);

/// Makes a `.gltf` self-contained: the bytes of its first buffer, which becomes the binary chunk with the images
/// behind it; further buffers become data URIs.
fn embed(out: &mut Splice, document: &Document) -> Result<Vec<u8>, GltfError> {
    let load = |raw: &str, path: String| -> Result<Option<Found>, GltfError> {
        let Some(uri) = member(raw, "uri").and_then(|u| serde_json::from_str::<String>(u).ok()) else {
            return Ok(None);
        };
        if let Some((_, data)) = uri.split_once(";base64,").filter(|_| uri.starts_with("data:")) {
            let bytes = STANDARD.decode(data).map_err(|e| GltfError::value(path, e.to_string()))?;
            return Ok(Some((false, bytes.into())));
        }
        let known = document.resources.iter().find(|(u, _)| *u == uri);
        Ok(known.map(|(_, bytes)| (true, Arc::clone(bytes))))
    };
    let buffers = out.json().items("buffers")?;
    let first = load(buffers[0], "buffers[0]".into())?;
    let (_, first) = first.ok_or_else(|| GltfError::value("buffers[0]", "its data is missing"))?;
    let mut bin = first.to_vec();
    for (i, raw) in buffers.iter().enumerate().skip(1) {
        if let Some((true, bytes)) = load(raw, format!("buffers[{i}]"))? {
            let uri = serde_json::Value::from(data_uri(&bytes)).to_string();
            out.replace(raw, rebuild(raw, &["uri"], &[("uri", uri)])?);
        }
    }
    for (i, raw) in out.json().items("images")?.into_iter().enumerate() {
        if let Some((_, bytes)) = load(raw, format!("images[{i}]"))? {
            bin.resize(bin.len().next_multiple_of(4), 0);
            let (offset, length) = (bin.len(), bytes.len());
            bin.extend_from_slice(&bytes);
            let view = format!("{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":{length}}}");
            let view = out.append("bufferViews", view)?;
            let mime = match &bytes[..] {
                [0xff, 0xd8, ..] => "image/jpeg",
                [b'R', b'I', b'F', b'F', ..] => "image/webp",
                _ => "image/png",
            };
            let add = [("mimeType", format!("\"{mime}\"")), ("bufferView", view.to_string())];
            out.replace(raw, rebuild(raw, &["uri", "mimeType"], &add)?);
        }
    }
    Ok(bin)
}

/// Adds one clip: its buffer view, accessors and animation.
fn append<'a>(
    out: &mut Splice,
    buffer: &mut Buffer<'a>,
    clip: &Clip,
    all: Vec<Channel<'a>>,
) -> Result<(), GltfError> {
    let begin = buffer.align();
    // The index that the view will have; it is appended when its length is known.
    let view = out.append("bufferViews", String::new())?;
    let accessor = |out: &mut Splice, kind: &str, offset: usize, count: usize, bounds: String| {
        let item = format!(
            "{{\"bufferView\":{view},\"byteOffset\":{},\"componentType\":5126,\"count\":{count},\"type\":\"{kind}\"{bounds}}}",
            offset - begin
        );
        out.append("accessors", item)
    };
    // Tracks with keys at the same frames share their times.
    let mut times_at: BTreeMap<KeyFrames, usize> = BTreeMap::new();
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for Channel { node, path, kind, elements, width, values, frames } in all {
        let count = frames.len();
        let input = match times_at.get(&frames) {
            Some(&input) => input,
            None => {
                let times: Vec<f32> = (0..count).map(|key| clip.time(frames.get(key)) as f32).collect();
                let bounds =
                    format!(",\"min\":[{}],\"max\":[{}]", number(times[0]), number(times[count - 1]));
                let offset = buffer.push(Values::Ready(times), count);
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
    let name = match clip.name.as_str() {
        "" => String::new(),
        name => format!("\"name\":{},", serde_json::Value::from(name)),
    };
    let animation = format!(
        "{{{name}\"samplers\":[{}],\"channels\":[{}],\"extras\":{{\"{ADDED}\":true}}}}",
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
