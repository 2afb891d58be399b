//! Reads `KHR_texture_transform` and applies it to texture coordinates, since other formats have no such transform everywhere.
//!
//! Texture coordinates start at the upper left. Source: the glTF extension `KHR_texture_transform` (Khronos), whose rotation is
//! counter-clockwise as the texture is seen, as in Blender's importer.

use serde_json::Value;

/// The transform of a texture: `offset + rotation * scale * uv`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TextureTransform {
    offset: [f64; 2],
    /// Radians, counter-clockwise.
    rotation: f64,
    scale: [f64; 2],
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] }
    }
}

impl TextureTransform {
    /// The transform of a `textureInfo`, and the set of texture coordinates that it selects instead of that of the `textureInfo`.
    pub(super) fn of(info: &Value) -> (Self, Option<u64>) {
        let Some(own) = info.get("extensions").and_then(|e| e.get("KHR_texture_transform")) else {
            return (Self::default(), None);
        };
        let pair = |name: &str, usual: f64| {
            let number = |k: usize| own.get(name).and_then(|list| list.get(k)).and_then(Value::as_f64);
            [0, 1].map(|k| number(k).unwrap_or(usual))
        };
        let rotation = own.get("rotation").and_then(Value::as_f64).unwrap_or(0.0);
        let found = Self { offset: pair("offset", 0.0), rotation, scale: pair("scale", 1.0) };
        (found, own.get("texCoord").and_then(Value::as_u64))
    }

    /// Transforms texture coordinates.
    pub(super) fn apply(&self, coordinates: &mut [[f32; 2]]) {
        if *self == Self::default() {
            return;
        }
        let (sin, cos) = (libm::sin(self.rotation), libm::cos(self.rotation));
        for uv in coordinates {
            let [u, v] = [0, 1].map(|k| f64::from(uv[k]) * self.scale[k]);
            let moved = [self.offset[0] + cos * u + sin * v, self.offset[1] - sin * u + cos * v];
            // Factors near the largest number give infinity.
            *uv = moved.map(|x| if (x as f32).is_finite() { x as f32 } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn moved(transform: Value, uv: [f32; 2]) -> [f32; 2] {
        let info = json!({ "extensions": { "KHR_texture_transform": transform } });
        let mut list = [uv];
        TextureTransform::of(&info).0.apply(&mut list);
        list[0]
    }

    #[test]
    fn coordinates_are_scaled_then_rotated_then_moved() {
        assert_eq!(moved(json!({}), [0.25, 0.5]), [0.25, 0.5]);
        assert_eq!(moved(json!({ "scale": [2, 4], "offset": [0.5, 0] }), [0.25, 0.5]), [1.0, 2.0]);
        // A quarter turn counter-clockwise moves what is right of the origin up, where V is 0 at the top.
        let turned = moved(json!({ "rotation": std::f64::consts::FRAC_PI_2, "scale": [2, 1] }), [0.5, 0.0]);
        assert!(turned[0].abs() < 1e-6 && (turned[1] + 1.0).abs() < 1e-6, "{turned:?}");
        assert_eq!(moved(json!({ "scale": [1e300, 1] }), [0.5, 0.5]), [0.0, 0.5]);
    }

    #[test]
    fn the_transform_may_select_another_set() {
        let info = json!({ "texCoord": 0, "extensions": { "KHR_texture_transform": { "texCoord": 1 } } });
        assert_eq!(TextureTransform::of(&info), (TextureTransform::default(), Some(1)));
    }
}
