//! Vertices and materials of a PMX file.

use super::byte_cursor::ByteCursor;
use super::mmd_error::MmdError;
use super::pmx_text::PmxLayout;

/// A vertex, in the space and units of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct PmxVertex {
    pub(super) position: [f32; 3],
    pub(super) normal: [f32; 3],
    pub(super) uv: [f32; 2],
    /// Bones, and their weights as written.
    pub(super) bones: [Option<usize>; 4],
    pub(super) weights: [f32; 4],
}

/// A material; its triangles follow those of the material before it.
#[derive(Clone, Debug, Default)]
pub(super) struct PmxMaterial {
    pub(super) name: String,
    /// Red, green, blue and opacity, sRGB.
    pub(super) diffuse: [f32; 4],
    pub(super) ambient: [f32; 3],
    pub(super) double_sided: bool,
    pub(super) texture: Option<usize>,
    /// Corners of its triangles.
    pub(super) corners: usize,
}

/// Bytes of a vertex without its bones: position, normal, texture coordinates, a byte and the scale of its outline.
pub(super) const LEAST_VERTEX: usize = 37;
/// Bytes of a material without texts and indices.
pub(super) const LEAST_MATERIAL: usize = 80;
const WHAT: &str = "the vertices";

impl PmxVertex {
    /// Reads a vertex. Spherical deformation is read as a linear blend of its two bones, dual quaternions as one of four.
    pub(super) fn read(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<Self, MmdError> {
        let [position, normal] = [cursor.numbers::<3>(WHAT)?, cursor.numbers::<3>(WHAT)?];
        let uv = cursor.numbers::<2>(WHAT)?;
        cursor.take(16 * usize::from(layout.further_uvs), WHAT)?;
        let offset = cursor.offset;
        let kind = cursor.byte(WHAT)?;
        let (mut bones, mut weights) = ([None; 4], [0.0; 4]);
        let count = match kind {
            0 => 1,
            1 | 3 => 2,
            2 | 4 => 4,
            _ => {
                let reason =
                    format!("a vertex is deformed in the way {kind}, which the format does not have");
                return Err(MmdError::Value { offset, reason });
            }
        };
        for bone in &mut bones[..count] {
            *bone = PmxLayout::index(cursor, layout.bone, WHAT)?;
        }
        match count {
            1 => weights[0] = 1.0,
            2 => {
                let first = cursor.number(WHAT)?;
                weights = [first, 1.0 - first, 0.0, 0.0];
            }
            _ => weights = cursor.numbers(WHAT)?,
        }
        if kind == 3 {
            // The centre and two radii of the sphere.
            cursor.take(36, WHAT)?;
        }
        cursor.number(WHAT)?;
        Ok(Self { position, normal, uv, bones, weights })
    }

    /// The bones of the vertex in a model of `count` bones, each once, the strongest first; their weights sum to 1.
    pub(super) fn influences(&self, count: usize) -> Vec<(u16, f32)> {
        let mut found: Vec<(u16, f32)> = Vec::new();
        for (bone, weight) in self.bones.iter().zip(self.weights) {
            let bone = bone.filter(|b| *b < count).and_then(|b| u16::try_from(b).ok());
            let Some(bone) = bone.filter(|_| weight > 0.0) else { continue };
            match found.iter_mut().find(|(known, _)| *known == bone) {
                Some(known) => known.1 += weight,
                None => found.push((bone, weight)),
            }
        }
        let total: f32 = found.iter().map(|(_, w)| w).sum();
        if !(total > 0.0 && total.is_finite()) {
            return vec![(0, 1.0)];
        }
        found.iter_mut().for_each(|(_, w)| *w /= total);
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}

impl PmxMaterial {
    /// Reads a material.
    pub(super) fn read(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<Self, MmdError> {
        let what = "the materials";
        let name = layout.text(cursor, what)?;
        layout.text(cursor, what)?;
        let diffuse = cursor.numbers(what)?;
        // Specular colour and exponent.
        cursor.take(16, what)?;
        let ambient = cursor.numbers(what)?;
        let double_sided = cursor.byte(what)? & 1 == 1;
        // Colour and width of the outline.
        cursor.take(20, what)?;
        let texture = PmxLayout::index(cursor, layout.texture, what)?;
        PmxLayout::index(cursor, layout.texture, what)?;
        cursor.byte(what)?;
        match cursor.byte(what)? {
            0 => drop(PmxLayout::index(cursor, layout.texture, what)?),
            _ => drop(cursor.byte(what)?),
        }
        layout.text(cursor, what)?;
        let corners = cursor.unsigned(what)? as usize;
        Ok(Self { name, diffuse, ambient, double_sided, texture, corners })
    }
}
