//! Decodes primitives that are compressed with Draco: their accessors get the decoded vertices and corners.
//!
//! The file itself is kept as it is. Space and units: those of the accessors. Source: the glTF extension
//! KHR_draco_mesh_compression; the bitstream is decoded by the crate `draco-core`, behind the feature `draco`.

use super::accessors::{Accessors, DecodedList};
use crate::gltf_document::{GltfError, Json};
use crate::report::Warnings;
use serde_json::Value;

/// The name of the extension.
pub(super) const DRACO: &str = "KHR_draco_mesh_compression";

/// Decodes the compressed primitives of a document into `accessors`. One that cannot be decoded is a warning, and its
/// accessors stay empty.
pub(super) fn unpack(
    json: &Json,
    accessors: &mut Accessors,
    warnings: &mut Warnings,
) -> Result<(), GltfError> {
    if !json.raw("meshes").is_some_and(|meshes| meshes.contains(DRACO)) {
        return Ok(());
    }
    for (m, mesh) in json.items("meshes").unwrap_or_default().iter().enumerate() {
        let mesh: Value = serde_json::from_str(mesh).unwrap_or_default();
        let primitives = mesh.get("primitives").and_then(Value::as_array);
        for (p, primitive) in primitives.into_iter().flatten().enumerate() {
            let Some(packed) = primitive.get("extensions").and_then(|e| e.get(DRACO)) else { continue };
            let path = format!("meshes[{m}].primitives[{p}]");
            match decode(primitive, packed, accessors, &path) {
                Ok(decoded) => decoded.into_iter().for_each(|list| accessors.set_decoded(list)),
                Err(error) => {
                    let said = format!(
                        "a Draco-compressed mesh cannot be decoded: {}; a glTF output keeps it, other outputs and previews lack \
                         it. Decode it first: `gltf-transform copy IN.glb OUT.glb`",
                        error.unless_memory()?
                    );
                    warnings.add("gltf-draco-mesh", said, path);
                }
            }
        }
    }
    Ok(())
}

#[cfg(not(feature = "draco"))]
fn decode(_: &Value, _: &Value, _: &Accessors, path: &str) -> Result<Vec<DecodedList>, GltfError> {
    Err(GltfError::value(path, "this build of posemill lacks the feature `draco`"))
}

#[cfg(feature = "draco")]
use codec::decode;

#[cfg(feature = "draco")]
mod codec {
    use super::super::accessors::Accessors;
    use super::DecodedList;
    use crate::gltf_document::GltfError;
    use ::gltf::json::accessor::ComponentType;
    use ::gltf::json::validation::Checked;
    use draco_core::{DataType, DecodeLimits, DecoderBuffer, Mesh, MeshDecoder, PointAttribute, PointIndex};
    use serde_json::Value;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Memory of the decoder for each byte of decoded attributes: the values before and after prediction, and their order.
    const WORKING_COPIES: u64 = 4;
    /// Memory of the decoder for each triangle, bytes: three corners in the tables of neighbours, seams and vertices.
    const TRIANGLE: u64 = 128;

    /// The accessors of one primitive.
    pub(super) fn decode(
        primitive: &Value,
        packed: &Value,
        accessors: &Accessors,
        path: &str,
    ) -> Result<Vec<DecodedList>, GltfError> {
        let wrong = |reason: String| GltfError::value(path, reason);
        let index =
            |value: Option<&Value>| value.and_then(Value::as_u64).and_then(|i| usize::try_from(i).ok());
        let view = index(packed.get("bufferView")).ok_or_else(|| wrong("it names no bufferView".into()))?;
        let stream = accessors.view(view, path)?;
        let budget = accessors.budget();
        let limits = DecodeLimits::default()
            .with_max_points(budget.left() / TRIANGLE)
            .with_max_faces(budget.left() / TRIANGLE)
            .with_max_decoded_bytes(budget.left() / WORKING_COPIES);
        let mut mesh = Mesh::new();
        let mut stream = DecoderBuffer::new(stream).with_limits(limits);
        // The library is young: a panic in it is a fault of this mesh, not of the file.
        let decoded = catch_unwind(AssertUnwindSafe(|| MeshDecoder::new().decode(&mut stream, &mut mesh)));
        match decoded {
            Ok(result) => result.map_err(|error| wrong(error.to_string()))?,
            Err(_) => return Err(wrong("the decoder failed".into())),
        }
        let ids = packed.get("attributes").and_then(Value::as_object);
        let points = mesh.num_points();
        let mut lists = Vec::new();
        for (name, id) in ids.into_iter().flatten() {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
            let attribute = id.and_then(|id| mesh.attribute_by_unique_id(id));
            let attribute = attribute.ok_or_else(|| wrong(format!("`{name}` is not in the stream")))?;
            let Some(accessor) = index(primitive.get("attributes").and_then(|a| a.get(name))) else {
                continue;
            };
            let (component, width) = element(accessors, accessor, path)?;
            let size = component.size() * width;
            budget.reserve((points * size) as u64, || format!("`{path}` decoded"))?;
            let bytes = values(attribute, points, component, width)
                .ok_or_else(|| wrong(format!("`{name}` differs from its accessor")))?;
            lists.push(DecodedList { accessor, count: points as u64, bytes });
        }
        if let Some(accessor) = index(primitive.get("indices")) {
            let (component, _) = element(accessors, accessor, path)?;
            let corners = mesh.faces().as_flattened();
            budget.reserve((corners.len() * component.size()) as u64, || format!("`{path}` decoded"))?;
            let mut bytes = Vec::with_capacity(corners.len() * component.size());
            corners.iter().for_each(|corner| push(&mut bytes, component, corner.0.into()));
            lists.push(DecodedList { accessor, count: corners.len() as u64, bytes });
        }
        Ok(lists)
    }

    /// The component type of an accessor and the number of components.
    fn element(accessors: &Accessors, index: usize, path: &str) -> Result<(ComponentType, usize), GltfError> {
        let accessor = accessors.list().get(index);
        match accessor.map(|a| (&a.component_type, &a.type_)) {
            Some((Checked::Valid(component), Checked::Valid(shape))) => {
                Ok((component.0, shape.multiplicity()))
            }
            _ => Err(GltfError::value(path, format!("accessors[{index}] is invalid or not there"))),
        }
    }

    /// The values of an attribute for each point, as in the accessor; `None` if it has another number of components.
    fn values(
        attribute: &PointAttribute,
        points: usize,
        component: ComponentType,
        width: usize,
    ) -> Option<Vec<u8>> {
        let kind = attribute.data_type();
        let stride = usize::try_from(attribute.byte_stride()).ok()?;
        if usize::from(attribute.num_components()) != width {
            return None;
        }
        let data = attribute.buffer().data();
        let mut bytes = Vec::with_capacity(points * width * component.size());
        for point in 0..points {
            let value = attribute.mapped_index(PointIndex(point as u32)).0 as usize;
            let begin = value.checked_mul(stride)?;
            let element = data.get(begin..begin.checked_add(width * kind.byte_length())?)?;
            for number in element.chunks_exact(kind.byte_length().max(1)) {
                push(&mut bytes, component, read(number, kind)?);
            }
        }
        Some(bytes)
    }

    /// A number of the stream: 32-bit integers and floats are exact.
    fn read(bytes: &[u8], kind: DataType) -> Option<f64> {
        Some(match kind {
            DataType::Int8 => i8::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Uint8 | DataType::Bool => u8::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Int16 => i16::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Uint16 => u16::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Int32 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Uint32 => u32::from_le_bytes(bytes.try_into().ok()?).into(),
            DataType::Float32 => f32::from_le_bytes(bytes.try_into().ok()?).into(),
            _ => return None,
        })
    }

    fn push(bytes: &mut Vec<u8>, component: ComponentType, number: f64) {
        match component {
            ComponentType::I8 => bytes.extend((number as i8).to_le_bytes()),
            ComponentType::U8 => bytes.extend((number as u8).to_le_bytes()),
            ComponentType::I16 => bytes.extend((number as i16).to_le_bytes()),
            ComponentType::U16 => bytes.extend((number as u16).to_le_bytes()),
            ComponentType::U32 => bytes.extend((number as u32).to_le_bytes()),
            ComponentType::F32 => bytes.extend((number as f32).to_le_bytes()),
        }
    }
}
