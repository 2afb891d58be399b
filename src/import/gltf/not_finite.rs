//! Repairs numbers of meshes and skins that are not finite, in the buffers of a file, wherever they are: the file is kept and
//! written again, and other programs refuse it, or draw nothing, if such a number is left. Exporters write them as tangents and
//! normals of faces without an area.
//!
//! Space and units: those of the accessors. Animations are left as they are: they are refused when they are read.

use super::accessor_elements::all_below;
use super::resources::{BASE64, Resources, data_uri};
use crate::gltf_document::{Chunks, GltfError, Json};
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;
use base64::Engine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Component type of 32-bit floats.
const FLOAT: u64 = 5126;

/// The file with finite numbers: `bytes` themselves if there is nothing to repair in them. Files that hold buffers are replaced
/// in `resources`.
///
/// # Errors
/// A file that is no glTF, or whose copy exceeds the memory limit.
pub(super) fn repaired(
    bytes: Arc<Vec<u8>>,
    resources: &mut Resources<'_>,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Arc<Vec<u8>>, GltfError> {
    let chunks = Chunks::open(&bytes)?;
    let json = Json::parse(chunks.json, chunks.json_offset)?;
    // Byte ranges of the file, and what replaces them.
    let mut edits: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    let lists = std::cell::OnceCell::new();
    // From the last on, so that positions of texts before it stay true.
    for (index, raw) in json.items("buffers").unwrap_or_default().into_iter().enumerate().rev() {
        let buffer: Value = serde_json::from_str(raw).unwrap_or_default();
        let uri = buffer.get("uri").and_then(Value::as_str);
        // Most buffers end here; images may look like numbers that are not finite.
        let repair = |content: &[u8], warnings: &mut Warnings| match usable(content) {
            true => Ok(None),
            false => {
                let lists = lists.get_or_init(|| float_lists(&json));
                repaired_buffer(lists.get(&index).map_or(&[], Vec::as_slice), content, budget, warnings)
            }
        };
        match (uri, uri.and_then(|uri| uri.strip_prefix("data:")), chunks.bin) {
            (None, _, Some(bin)) if index == 0 => {
                let Some(repaired) = repair(bin, warnings)? else { continue };
                let begin = bin.as_ptr() as usize - bytes.as_ptr() as usize;
                edits.push((begin..begin + bin.len(), repaired));
            }
            // The chunk of a GLB states its length; such a text in it is left as it is.
            (Some(_), Some(data), _) if !chunks.glb => {
                let Some(content) = data_uri(data).ok() else { continue };
                let (Some(repaired), Some(at)) = (repair(&content, warnings)?, raw.find(data)) else {
                    continue;
                };
                let at = chunks.json_offset + json.range(raw).start + at;
                let text = format!("application/octet-stream;base64,{}", BASE64.encode(repaired));
                edits.push((at..at + data.len(), text.into_bytes()));
            }
            // A file that cannot be read is reported where it is used.
            (Some(uri), None, _) => {
                let Ok(content) = resources.load(uri, &format!("buffers[{index}]")) else { continue };
                if let Some(repaired) = repair(&content, warnings)? {
                    resources.replace(uri, repaired.into());
                }
            }
            _ => {}
        }
    }
    if edits.is_empty() {
        return Ok(bytes);
    }
    budget.reserve(bytes.len() as u64, || "the repaired file".to_owned())?;
    let mut copy = Vec::with_capacity(bytes.len());
    let mut end = 0;
    for (range, text) in edits.into_iter().rev() {
        copy.extend_from_slice(&bytes[end..range.start]);
        copy.extend(text);
        end = range.end;
    }
    copy.extend_from_slice(&bytes[end..]);
    Ok(Arc::new(copy))
}

/// An accessor of a mesh or a skin: its number, the name of its attribute, and where its numbers are.
type UsedList = (usize, String, FloatList);

/// The accessors of meshes and skins that are plain lists, by the number of their buffer.
fn float_lists(json: &Json) -> BTreeMap<usize, Vec<UsedList>> {
    let parsed = |key| -> Vec<Value> {
        let items = json.items(key).unwrap_or_default();
        items.into_iter().map(|raw| serde_json::from_str(raw).unwrap_or_default()).collect()
    };
    let (accessors, views) = (parsed("accessors"), parsed("bufferViews"));
    let mut found: BTreeMap<usize, Vec<UsedList>> = BTreeMap::new();
    for (index, attribute) in used_accessors(&parsed("meshes"), &parsed("skins")) {
        if let Some((buffer, list)) = accessors.get(index).and_then(|a| FloatList::of(a, &views)) {
            found.entry(buffer).or_default().push((index, attribute, list));
        }
    }
    found
}

/// The content of a buffer with finite numbers; `None` if there is nothing to repair.
fn repaired_buffer(
    lists: &[UsedList],
    content: &[u8],
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Option<Vec<u8>>, GltfError> {
    let mut copy: Option<Vec<u8>> = None;
    for (index, attribute, list) in lists {
        let elements = || list.elements(content);
        let odd = elements().filter(|(_, element)| !usable(element)).count();
        if odd == 0 {
            continue;
        }
        let finite = || elements().map(|(_, element)| element).find(|element| usable(element));
        let usual = usual(attribute, list.width);
        let mut last: &[u8] = finite().filter(|_| attribute != BIND).unwrap_or(&usual);
        if copy.is_none() {
            budget.reserve(content.len() as u64, || "the repaired buffer".to_owned())?;
        }
        let repaired = copy.get_or_insert_with(|| content.to_vec());
        for (at, element) in elements() {
            match usable(element) {
                true if attribute == BIND => {}
                true => last = element,
                false => repaired[at..][..last.len()].copy_from_slice(last),
            }
        }
        let by = if attribute == BIND { "no transform" } else { "the one before it" };
        let message = format!(
            "{odd} values of {attribute} are not finite numbers (or beyond 1e30) and were replaced by {by}"
        );
        warnings.add("gltf-not-finite", message, format!("accessors[{index}]"));
    }
    Ok(copy)
}

/// Largest magnitude that is kept: no unit makes a length, a weight or a colour of it, and its square is no 32-bit float.
const MOST: f32 = 1e30;

/// Whether all numbers are finite and of a magnitude that a mesh can have.
fn usable(floats: &[u8]) -> bool {
    all_below(floats, MOST)
}

/// What the inverse bind matrices of a skin are called here.
const BIND: &str = "inverseBindMatrices";

/// The accessors of meshes and skins, each with the name of its attribute.
fn used_accessors(meshes: &[Value], skins: &[Value]) -> BTreeMap<usize, String> {
    let mut used = BTreeMap::new();
    let mut add = |index: Option<&Value>, name: &str| {
        let index = index.and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        index.into_iter().for_each(|index| {
            used.entry(index).or_insert_with(|| name.to_owned());
        });
    };
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    for primitive in meshes.iter().flat_map(|mesh| list(mesh.get("primitives"))) {
        let attributes = primitive.get("attributes").and_then(Value::as_object);
        attributes.into_iter().flatten().for_each(|(name, index)| add(Some(index), name));
        for target in list(primitive.get("targets")) {
            let moved = target.as_object();
            moved.into_iter().flatten().for_each(|(name, index)| add(Some(index), &format!("target {name}")));
        }
    }
    skins.iter().for_each(|skin| add(skin.get(BIND), BIND));
    used
}

/// A value of an attribute of which no vertex has one.
fn usual(attribute: &str, width: usize) -> Vec<u8> {
    let value = |k: usize| match attribute {
        "NORMAL" => k == 1,
        "TANGENT" => k == 0 || k == 3,
        BIND => k.is_multiple_of(5),
        _ if attribute.starts_with("WEIGHTS_0") => k == 0,
        _ => attribute.starts_with("COLOR_"),
    };
    (0..width).flat_map(|k| f32::from(u8::from(value(k))).to_le_bytes()).collect()
}

/// Where the floats of an accessor are in a buffer.
struct FloatList {
    begin: usize,
    stride: usize,
    count: usize,
    /// Numbers per element.
    width: usize,
}

impl FloatList {
    /// With the number of the buffer; `None` for other numbers, and sparse or compressed ones.
    fn of(accessor: &Value, views: &[Value]) -> Option<(usize, Self)> {
        let number = |value: &Value, key: &str| -> Option<usize> {
            value.get(key).map_or(Some(0), |n| usize::try_from(n.as_u64()?).ok())
        };
        let view = views.get(usize::try_from(accessor.get("bufferView")?.as_u64()?).ok()?)?;
        let width = match accessor.get("type")?.as_str()? {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => return None,
        };
        let plain = accessor.get("componentType")?.as_u64() == Some(FLOAT)
            && accessor.get("sparse").is_none()
            && view.get("extensions").is_none();
        let begin = number(view, "byteOffset")?.checked_add(number(accessor, "byteOffset")?)?;
        let stride = match number(view, "byteStride")? {
            0 => 4 * width,
            stride => stride,
        };
        let list = Self { begin, stride, count: number(accessor, "count")?, width };
        plain.then_some((number(view, "buffer")?, list))
    }

    /// The elements that are in the buffer, each with its offset.
    fn elements<'a>(&self, bin: &'a [u8]) -> impl Iterator<Item = (usize, &'a [u8])> {
        let (begin, stride, size) = (self.begin, self.stride, 4 * self.width);
        (0..self.count).map_while(move |k| {
            let at = k.checked_mul(stride)?.checked_add(begin)?;
            Some((at, bin.get(at..at.checked_add(size)?)?))
        })
    }
}
