//! The buffer of a glTF document that receives the keys of new animations, and the file that contains it.

use super::json_splice::{JsonSplice, member, rebuild};
use super::local_tracks::{self, GROUP};
use super::node_tracks::TrackValues;
use super::self_contained::{self, data_uri};
use crate::gltf_document::{Chunks, GltfError, glb_with_room, write_glb};
use crate::model::{Container, Document};
use crate::parallel;
use crate::report::Warnings;
use std::borrow::Cow;
use std::ops::Range;

/// The buffer that receives the keys: the binary chunk, which is extended, or a new buffer.
///
/// The offsets of all numbers are assigned before any is computed, so that each is written only once, directly into the file.
pub(super) struct AnimationBuffer<'a> {
    /// The index in the list `buffers`.
    pub(super) index: usize,
    /// The existing bytes of the buffer.
    before: Cow<'a, [u8]>,
    /// The new numbers and their byte ranges, ascending.
    new: Vec<(Range<usize>, TrackValues<'a>)>,
    /// The length with the new numbers, bytes.
    pub(super) length: usize,
    target: BufferTarget<'a>,
}

/// Where the buffer is stored.
enum BufferTarget<'a> {
    /// In the binary chunk; `byteLength` of `buffers[0]` is updated.
    Chunk,
    /// In the binary chunk; the document gets `buffers[0]`.
    NewChunk,
    /// In a new buffer with a data URI; this binary chunk is kept as it is.
    DataUri(Option<&'a [u8]>),
}

impl<'a> AnimationBuffer<'a> {
    /// Selects the buffer for the container to write, and embeds external buffers if that is a GLB.
    pub(super) fn find(
        out: &mut JsonSplice,
        document: &Document,
        chunks: &Chunks<'a>,
        container: Container,
        warnings: &mut Warnings,
    ) -> Result<Self, GltfError> {
        let buffers = out.json().items("buffers")?;
        let make = |index, before: Cow<'a, [u8]>, target| Self {
            index,
            length: before.len(),
            before,
            new: Vec::new(),
            target,
        };
        let own = |index, chunk| make(index, Cow::default(), BufferTarget::DataUri(chunk));
        match (container, chunks.glb) {
            (Container::Glb, _) if buffers.is_empty() => Ok(make(0, Cow::default(), BufferTarget::NewChunk)),
            (Container::Glb, true) => {
                let bin = chunks.bin;
                let length = member(buffers[0], "byteLength").and_then(|l| l.parse::<u64>().ok());
                let fits = bin.as_ref().is_some_and(|b| length.is_some_and(|l| l <= b.len() as u64));
                match bin {
                    Some(bin) if fits && member(buffers[0], "uri").is_none() => {
                        Ok(make(0, bin.into(), BufferTarget::Chunk))
                    }
                    bin => Ok(own(buffers.len(), bin)),
                }
            }
            (Container::Glb, false) => {
                let first = self_contained::embed(out, document)?;
                Ok(make(0, first.into(), BufferTarget::Chunk))
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
                    let message = "a `.gltf` cannot hold the additional chunks of the GLB; they were dropped";
                    warnings.add("gltf-chunks-dropped", message, "the end of the file");
                }
                Ok(own(buffers.len(), None))
            }
        }
    }

    /// The next free offset, a multiple of four.
    pub(super) fn align(&mut self) -> usize {
        self.length = self.length.next_multiple_of(4);
        self.length
    }

    /// Adds the first `count` numbers of `values` and returns their offset in the buffer.
    pub(super) fn push(&mut self, values: TrackValues<'a>, count: usize) -> usize {
        let offset = self.align();
        self.length += 4 * count;
        self.new.push((offset..self.length, values));
        offset
    }

    /// The bytes of the whole file.
    pub(super) fn into_file(
        self,
        mut out: JsonSplice,
        container: Container,
        others: &[u8],
    ) -> Result<Vec<u8>, GltfError> {
        let length = self.length;
        match self.target {
            BufferTarget::Chunk => {
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
            BufferTarget::NewChunk if length == 0 => return write_glb(&out.finish()?, None, others),
            BufferTarget::NewChunk => {
                out.append("buffers", format!("{{\"byteLength\":{length}}}"))?;
            }
            BufferTarget::DataUri(chunk) => {
                if length > 0 {
                    let mut bytes = vec![0; length];
                    fill(&self.before, self.new, &mut bytes);
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
        fill(&self.before, self.new, &mut file[room]);
        Ok(file)
    }
}

/// Writes the existing bytes and the new numbers to `bytes`, which are zeros. Numbers are freed as they are written: those of a
/// long clip take as much memory as the file.
fn fill(before: &[u8], new: Vec<(Range<usize>, TrackValues)>, mut bytes: &mut [u8]) {
    bytes[..before.len()].copy_from_slice(before);
    let mut rotations = Vec::new();
    let mut at = 0;
    for (range, values) in new {
        let (part, rest) = bytes.split_at_mut(range.end - at);
        let part = &mut part[range.start - at..];
        (bytes, at) = (rest, range.end);
        match values {
            TrackValues::Ready(values) => {
                for (bytes, x) in part.chunks_exact_mut(4).zip(values) {
                    bytes.copy_from_slice(&x.to_le_bytes());
                }
            }
            TrackValues::Local(track) => rotations.push((track, part)),
        }
    }
    parallel::for_blocks(&mut rotations, GROUP, |_, group| local_tracks::write(group));
}
