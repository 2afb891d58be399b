//! Builds a GLB: binary chunk, buffer views and accessors.
//!
//! Source: glTF 2.0 specification (Khronos, ISO/IEC 12113:2022), sections 3.6 and 4.

use super::{GltfError, write_glb};
use serde_json::{Value, json};

/// The component type of 32-bit floats.
pub const FLOAT: u32 = 5126;
/// The component type of 16-bit unsigned integers.
pub const UNSIGNED_SHORT: u32 = 5123;
/// The component type of 32-bit unsigned integers.
pub const UNSIGNED_INT: u32 = 5125;
/// The wrap mode that continues the edge of a texture.
pub const CLAMP: u32 = 33071;
/// The wrap mode that repeats a texture and mirrors every other copy.
pub const MIRROR: u32 = 33648;
/// The extension that makes emitted light brighter than 1.
pub const EMISSIVE_STRENGTH: &str = "KHR_materials_emissive_strength";

/// The accessor types of tuples of one to four numbers.
const TUPLES: [&str; 4] = ["SCALAR", "VEC2", "VEC3", "VEC4"];

/// The binary chunk with its buffer views and accessors.
#[derive(Debug, Default)]
pub struct GlbBuilder {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl GlbBuilder {
    /// Adds bytes as a new buffer view, aligned to four bytes; `target` is the intended use of a view in the format. Returns the
    /// index of the view.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Adds bytes as a new view and accessor; `accessor` is complete except for the view. Returns the index of the accessor.
    pub fn push(&mut self, bytes: &[u8], target: Option<u32>, mut accessor: Value) -> usize {
        accessor["bufferView"] = self.view(bytes, target).into();
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Adds tuples of one to four floats. Returns the index of the accessor.
    pub fn tuples<const N: usize>(&mut self, values: &[[f32; N]], target: Option<u32>) -> usize {
        let accessor = json!({"componentType": FLOAT, "count": values.len(), "type": TUPLES[N - 1]});
        self.push(&floats(values), target, accessor)
    }

    /// Adds positions, which have bounds. Returns the index of the accessor.
    pub fn positions(&mut self, points: &[[f32; 3]], target: Option<u32>) -> usize {
        let [min, max] = bounds(points);
        let accessor =
            json!({"componentType": FLOAT, "count": points.len(), "type": "VEC3", "min": min, "max": max});
        self.push(&floats(points), target, accessor)
    }

    /// The GLB of the document `json`; buffers, views, accessors and `asset` are added.
    ///
    /// # Errors
    /// A [`GltfError`] if it exceeds the size limit of the format.
    pub fn glb(self, mut json: Value) -> Result<Vec<u8>, GltfError> {
        json["asset"] =
            json!({"version": "2.0", "generator": concat!("posemill ", env!("CARGO_PKG_VERSION"))});
        if self.bytes.is_empty() {
            return write_glb(&json.to_string(), None, &[]);
        }
        json["accessors"] = self.accessors.into();
        json["bufferViews"] = self.views.into();
        json["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        write_glb(&json.to_string(), Some(&self.bytes), &[])
    }
}

/// The lowest and the highest coordinates of points. Which of 0 and -0 is the lower one is not defined: both are 0 here.
pub fn bounds(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let bound = |fold: fn(f32, f32) -> f32| {
        std::array::from_fn(|k| points.iter().map(|p| p[k]).reduce(fold).unwrap_or(0.0) + 0.0)
    };
    [bound(f32::min), bound(f32::max)]
}

/// Tuples of floats as little-endian bytes.
pub fn floats<const N: usize>(values: &[[f32; N]]) -> Vec<u8> {
    values.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_of_zeros_is_zero_without_a_sign() {
        for (a, b) in [(-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)] {
            let mut builder = GlbBuilder::default();
            builder.positions(&[[a; 3], [b; 3]], None);
            for bound in ["min", "max"] {
                assert_eq!(builder.accessors[0][bound].to_string(), "[0.0,0.0,0.0]", "{a:?} {b:?}");
            }
        }
    }
}
