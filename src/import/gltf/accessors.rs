//! Reads accessors of a glTF document as lists of numbers; every range is checked before it is read.
//!
//! Source: glTF 2.0 specification, section 3.6.2 (accessors, sparse accessors, normalised integers). The accessor readers of
//! the `gltf` crate panic on data that a hostile file can contain, so this one is our own.

use super::accessor_elements::{ElementLayout, Numbers, all_finite, shape_name};
use super::meshopt::{self, PackedView};
use super::resources::Resources;
use crate::gltf_document::{GltfError, Json};
use crate::memory_budget::MemoryBudget;
use ::gltf::json::accessor::{ComponentType, Type};
use ::gltf::json::validation::Checked;
use ::gltf::json::{Accessor, Buffer, buffer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The accessors of a document with their bytes.
pub(super) struct Accessors<'a> {
    budget: &'a MemoryBudget,
    accessors: Vec<Accessor>,
    views: Vec<buffer::View>,
    buffers: Vec<Result<BufferBytes<'a>, GltfError>>,
    /// The decompressed bytes of compressed views.
    unpacked: Vec<Option<Result<Vec<u8>, GltfError>>>,
    /// The content of accessors that a compressed mesh states.
    decoded: BTreeMap<usize, Vec<u8>>,
}

/// The content of one accessor.
#[cfg_attr(not(feature = "draco"), allow(dead_code, reason = "only the decoder makes one"))]
pub(super) struct DecodedList {
    pub(super) accessor: usize,
    pub(super) count: u64,
    pub(super) bytes: Vec<u8>,
}

enum BufferBytes<'a> {
    Borrowed(&'a [u8]),
    Shared(Arc<[u8]>),
}

impl std::ops::Deref for BufferBytes<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            BufferBytes::Borrowed(b) => b,
            BufferBytes::Shared(b) => b,
        }
    }
}

impl<'a> Accessors<'a> {
    /// The accessors of `json`; `bin` is the binary chunk of a GLB.
    ///
    /// A missing buffer is only an error if it is used.
    pub(super) fn read(
        json: &Json,
        bin: Option<&'a [u8]>,
        resources: &mut Resources,
        budget: &'a MemoryBudget,
    ) -> Result<Self, GltfError> {
        let load = |(i, buffer): (usize, Buffer)| {
            let path = format!("buffers[{i}]");
            let bytes = match (&buffer.uri, bin) {
                (Some(uri), _) => BufferBytes::Shared(resources.load(uri, &path)?),
                (None, Some(bin)) if i == 0 => BufferBytes::Borrowed(bin),
                (None, _) => return Err(GltfError::value(path, "the buffer has no data")),
            };
            let (end, length) = (buffer.byte_length.0, bytes.len() as u64);
            if end > length {
                return Err(GltfError::Bounds { path, end, length });
            }
            Ok(bytes)
        };
        let buffers = json.list::<Buffer>("buffers")?.into_iter().enumerate().map(load).collect();
        let mut all = Self {
            budget,
            accessors: json.list("accessors")?,
            views: json.list("bufferViews")?,
            buffers,
            unpacked: Vec::new(),
            decoded: BTreeMap::new(),
        };
        for view in 0..all.views.len() {
            let unpacked = match all.unpack(view) {
                Some(Err(error @ GltfError::Memory(_))) => return Err(error),
                unpacked => unpacked,
            };
            all.unpacked.push(unpacked);
        }
        Ok(all)
    }

    /// The decompressed bytes of a compressed view; `None` for any other.
    fn unpack(&self, view: usize) -> Option<Result<Vec<u8>, GltfError>> {
        let here = format!("bufferViews[{view}]");
        let others = self.views[view].extensions.as_ref()?.others.iter();
        let (extension, packed) = meshopt::packed(others, &here)?;
        let plain = |packed: &PackedView| {
            let bytes = self.bytes(packed.buffer, packed.byte_offset, packed.byte_length, &here)?;
            meshopt::unpack(packed, extension, bytes, &here, self.budget)
        };
        Some(packed.as_ref().map_err(Clone::clone).and_then(plain))
    }

    /// Some bytes of a buffer; `path` is the position of the reference, for errors.
    fn bytes(&self, buffer: usize, begin: u64, length: u64, path: &str) -> Result<&[u8], GltfError> {
        let found = self.buffers.get(buffer).ok_or_else(|| GltfError::OutOfRange {
            path: format!("{path}.buffer"),
            list: "buffers",
            index: buffer as u64,
            count: self.buffers.len(),
        })?;
        let found = found.as_ref().map_err(Clone::clone)?;
        let (end, length) = (begin.saturating_add(length), found.len() as u64);
        slice(found, begin, end).ok_or_else(|| GltfError::Bounds { path: path.into(), end, length })
    }

    /// Gives an accessor its content from a compressed mesh.
    pub(super) fn set_decoded(&mut self, list: DecodedList) {
        if let Some(accessor) = self.accessors.get_mut(list.accessor) {
            (accessor.count.0, accessor.buffer_view) = (list.count, None);
            self.decoded.insert(list.accessor, list.bytes);
        }
    }

    /// Whether an accessor has its content from a compressed mesh.
    pub(super) fn is_decoded(&self, index: usize) -> bool {
        self.decoded.contains_key(&index)
    }

    /// The accessors as in the file.
    pub(super) fn list(&self) -> &[Accessor] {
        &self.accessors
    }

    /// The remaining memory budget of the file.
    pub(super) fn budget(&self) -> &'a MemoryBudget {
        self.budget
    }

    /// The bytes of a buffer view, which `path` names.
    pub(super) fn view(&self, index: usize, path: &str) -> Result<&[u8], GltfError> {
        let count = self.views.len();
        let view = self.views.get(index).ok_or_else(|| GltfError::OutOfRange {
            path: path.into(),
            list: "bufferViews",
            index: index as u64,
            count,
        })?;
        if let Some(Some(unpacked)) = self.unpacked.get(index) {
            return unpacked.as_deref().map_err(Clone::clone);
        }
        let begin = view.byte_offset.map_or(0, |o| o.0);
        self.bytes(view.buffer.value(), begin, view.byte_length.0, &format!("bufferViews[{index}]"))
    }

    fn layout(
        &self,
        index: usize,
        path: &str,
        shape: Type,
        use_: Numbers,
    ) -> Result<ElementLayout<'_>, GltfError> {
        let count = self.accessors.len();
        let accessor = self.accessors.get(index).ok_or_else(|| GltfError::OutOfRange {
            path: path.into(),
            list: "accessors",
            index: index as u64,
            count,
        })?;
        let here = || format!("accessors[{index}]");
        let wrong = |expected, found: String| GltfError::Element { path: here(), expected, found };
        let component = match &accessor.component_type {
            Checked::Valid(c) => c.0,
            Checked::Invalid => return Err(wrong(use_.name(), "an unknown component type".into())),
        };
        if !use_.takes(component, accessor.normalized) {
            let normalized = if accessor.normalized { "normalized " } else { "" };
            return Err(wrong(use_.name(), format!("{normalized}{component:?}")));
        }
        match &accessor.type_ {
            Checked::Valid(t) if *t == shape => {}
            Checked::Valid(t) => return Err(wrong(shape_name(shape), format!("{t:?}"))),
            Checked::Invalid => return Err(wrong(shape_name(shape), "an unknown type".into())),
        }
        let components = shape.multiplicity();
        let element = (components * component.size()) as u64;
        let count = accessor.count.0;
        let mut stride = element;
        let mut bytes = self.decoded.get(&index).map(Vec::as_slice);
        if let Some(view) = accessor.buffer_view {
            let data = self.view(view.value(), &format!("{}.bufferView", here()))?;
            if let Some(s) = self.views[view.value()].byte_stride {
                stride = s.0 as u64;
                if stride < element {
                    return Err(GltfError::value(
                        here(),
                        format!("a stride of {stride} for {element} bytes"),
                    ));
                }
            }
            let begin = accessor.byte_offset.map_or(0, |o| o.0);
            let end = match count.checked_sub(1) {
                Some(before) => before
                    .checked_mul(stride)
                    .and_then(|n| n.checked_add(element))
                    .and_then(|n| n.checked_add(begin))
                    .unwrap_or(u64::MAX),
                None => begin,
            };
            let length = data.len() as u64;
            bytes = Some(slice(data, begin, end).ok_or(GltfError::Bounds { path: here(), end, length })?);
        }
        // Elements without data take no bytes in the file, so only the budget limits their number.
        self.budget
            .reserve_list::<f32>(count.saturating_mul(components as u64), || format!("`{}`", here()))?;
        Ok(ElementLayout {
            bytes,
            stride: stride as usize,
            count: count as usize,
            component,
            components,
            normalized: accessor.normalized,
        })
    }

    /// The sparse part: positions in the accessor, and the layout of the values that go there.
    fn sparse(
        &self,
        index: usize,
        base: &ElementLayout,
    ) -> Result<Option<(Vec<u32>, ElementLayout<'_>)>, GltfError> {
        let Some(sparse) = &self.accessors[index].sparse else { return Ok(None) };
        let here = format!("accessors[{index}].sparse");
        let component = match &sparse.indices.component_type {
            Checked::Valid(c) => c.0,
            Checked::Invalid => {
                let found = "an unknown component type".into();
                return Err(GltfError::Element { path: here, expected: "unsigned integers", found });
            }
        };
        let layout = |view: usize, begin: u64, component: ComponentType, components: usize| {
            let data = self.view(view, &here)?;
            let element = (component.size() * components) as u64;
            let end = sparse.count.0.checked_mul(element).and_then(|n| n.checked_add(begin));
            let end = end.unwrap_or(u64::MAX);
            let length = data.len() as u64;
            let bytes =
                slice(data, begin, end).ok_or(GltfError::Bounds { path: here.clone(), end, length })?;
            self.budget.reserve_list::<f32>(sparse.count.0 * components as u64, || format!("`{here}`"))?;
            Ok::<_, GltfError>(ElementLayout {
                bytes: Some(bytes),
                stride: element as usize,
                count: sparse.count.0 as usize,
                component,
                components,
                normalized: base.normalized,
            })
        };
        let indices = &sparse.indices;
        let places = layout(indices.buffer_view.value(), indices.byte_offset.0, component, 1)?.unsigned();
        if let Some(item) = places.iter().position(|&p| p as usize >= base.count) {
            return Err(GltfError::value(format!("{here}.indices"), format!("item {item} is out of range")));
        }
        let values = &sparse.values;
        let values =
            layout(values.buffer_view.value(), values.byte_offset.0, base.component, base.components)?;
        Ok(Some((places, values)))
    }

    /// The elements of an accessor as `f32`, components adjacent.
    pub(super) fn floats(
        &self,
        index: usize,
        path: &str,
        shape: Type,
        numbers: Numbers,
    ) -> Result<Vec<f32>, GltfError> {
        self.decoded(index, &self.layout(index, path, shape, numbers)?)
    }

    fn decoded(&self, index: usize, layout: &ElementLayout) -> Result<Vec<f32>, GltfError> {
        let mut values = layout.floats();
        if let Some((places, replaced)) = self.sparse(index, layout)? {
            let n = layout.components;
            for (&place, element) in places.iter().zip(replaced.floats().chunks_exact(n)) {
                values[place as usize * n..][..n].copy_from_slice(element);
            }
        }
        match values.iter().position(|x| !x.is_finite()) {
            Some(k) => {
                let item = k / layout.components;
                Err(GltfError::NotFinite { path: format!("accessors[{index}]"), item })
            }
            None => Ok(values),
        }
    }

    /// The elements of an accessor as the bytes of `f32`, components adjacent: borrowed from the file if they are stored so.
    pub(super) fn float_bytes(
        &self,
        index: usize,
        path: &str,
        shape: Type,
        numbers: Numbers,
    ) -> Result<Cow<'_, [u8]>, GltfError> {
        let plain = |layout: &ElementLayout| {
            layout.component == ComponentType::F32
                && layout.stride == 4 * layout.components
                && self.accessors[index].sparse.is_none()
        };
        let layout = self.layout(index, path, shape, numbers)?;
        match layout.bytes.filter(|_| plain(&layout)) {
            Some(bytes) if all_finite(bytes) => Ok(bytes.into()),
            // `floats` reports the position of the invalid number.
            _ => {
                Ok(self.floats(index, path, shape, numbers)?.into_iter().flat_map(f32::to_le_bytes).collect())
            }
        }
    }

    /// The elements of an accessor as unsigned integers, components adjacent.
    pub(super) fn unsigned(&self, index: usize, path: &str, shape: Type) -> Result<Vec<u32>, GltfError> {
        let layout = self.layout(index, path, shape, Numbers::Unsigned)?;
        let mut values = layout.unsigned();
        if let Some((places, replaced)) = self.sparse(index, &layout)? {
            let n = layout.components;
            for (&place, element) in places.iter().zip(replaced.unsigned().chunks_exact(n)) {
                values[place as usize * n..][..n].copy_from_slice(element);
            }
        }
        Ok(values)
    }
}

fn slice(bytes: &[u8], begin: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(begin).ok()?..usize::try_from(end).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(accessor: &str, view: &str, bytes: &[u8]) -> Result<Vec<f32>, GltfError> {
        let text = format!(
            r#"{{"accessors":[{accessor}],"bufferViews":[{view}],"buffers":[{{"byteLength":{}}}]}}"#,
            bytes.len()
        );
        let json = Json::parse(&text, 0)?;
        let budget = MemoryBudget::new(0, None);
        let mut resources = Resources::new(None, &budget);
        let accessors = Accessors::read(&json, Some(bytes), &mut resources, &budget)?;
        let values = accessors.floats(0, "here", Type::Vec2, Numbers::Unit);
        // What the tracks of animations borrow from the file is refused for the same reasons.
        let borrowed = accessors.float_bytes(0, "here", Type::Vec2, Numbers::Unit);
        assert_eq!(borrowed.is_err(), values.is_err(), "{:?}", values.as_ref().err());
        values
    }

    #[test]
    fn normalised_integers_with_a_stride_become_units() {
        let accessor = r#"{"bufferView":0,"byteOffset":1,"count":2,"componentType":5120,"type":"VEC2","normalized":true}"#;
        let view = r#"{"buffer":0,"byteLength":7,"byteStride":4}"#;
        let values = read(accessor, view, &[0, 127, 0x80, 9, 9, 0, 0x81, 9]).unwrap();
        assert_eq!(values, [1.0, -1.0, 0.0, -1.0]);
    }

    #[test]
    fn a_sparse_accessor_without_a_view_starts_from_zeros() {
        let accessor = r#"{"count":3,"componentType":5126,"type":"VEC2","sparse":{"count":1,
            "indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0,"byteOffset":4}}}"#;
        let mut bytes = vec![2, 0, 0, 0];
        bytes.extend([1.5f32, -2.0].iter().flat_map(|x| x.to_le_bytes()));
        let view = r#"{"buffer":0,"byteLength":12}"#;
        assert_eq!(read(accessor, view, &bytes).unwrap(), [0.0, 0.0, 0.0, 0.0, 1.5, -2.0]);
        bytes[0] = 3;
        assert!(matches!(read(accessor, view, &bytes), Err(GltfError::Value { .. })));
    }

    #[test]
    fn a_reach_past_the_bytes_is_refused_without_overflow() {
        let view = r#"{"buffer":0,"byteLength":16}"#;
        for (count, offset) in
            [("3", "0"), ("2", "8"), ("18446744073709551615", "0"), ("2", "18446744073709551615")]
        {
            let accessor = format!(
                r#"{{"bufferView":0,"byteOffset":{offset},"count":{count},"componentType":5126,"type":"VEC2"}}"#
            );
            let error = read(&accessor, view, &[0; 16]).unwrap_err();
            assert!(matches!(error, GltfError::Bounds { .. }), "{count} {offset}: {error}");
        }
        let fill = r#"{"count":99999999999,"componentType":5126,"type":"VEC2"}"#;
        assert!(matches!(read(fill, view, &[0; 16]), Err(GltfError::Memory(_))));
        let wide = r#"{"bufferView":0,"count":2,"componentType":5126,"type":"VEC3"}"#;
        assert!(matches!(read(wide, view, &[0; 16]), Err(GltfError::Element { .. })));
        let nan = [f32::NAN.to_le_bytes(), [0; 4]].concat();
        let one = r#"{"bufferView":0,"count":1,"componentType":5126,"type":"VEC2"}"#;
        assert!(matches!(
            read(one, r#"{"buffer":0,"byteLength":8}"#, &nan),
            Err(GltfError::NotFinite { .. })
        ));
    }
}
