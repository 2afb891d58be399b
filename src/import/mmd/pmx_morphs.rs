//! Morph targets of a PMX file.

use super::byte_cursor::ByteCursor;
use super::mmd_error::MmdError;
use super::pmx_text::PmxLayout;

/// A morph target.
#[derive(Clone, Debug)]
pub(super) struct PmxMorph {
    pub(super) name: String,
    pub(super) content: MorphContent,
}

/// What a morph target changes.
#[derive(Clone, Debug)]
pub(super) enum MorphContent {
    /// Displacements of vertices, in the space and units of the file.
    Vertices(Vec<(u32, [f32; 3])>),
    /// Other targets, and how much of each.
    Group(Vec<(usize, f32)>),
    /// Bones, texture coordinates, materials, physics.
    Other,
}

/// Bytes of a target without texts.
pub(super) const LEAST_MORPH: usize = 14;
const WHAT: &str = "the morph targets";

impl PmxMorph {
    /// Reads a target.
    pub(super) fn read(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<Self, MmdError> {
        let name = layout.text(cursor, WHAT)?;
        let english = layout.text(cursor, WHAT)?;
        let name = if name.is_empty() { english } else { name };
        cursor.byte(WHAT)?;
        let offset = cursor.offset;
        let kind = cursor.byte(WHAT)?;
        // Bytes after the index of each entry: the format's lists of numbers.
        let (index, bytes) = match kind {
            0 | 9 => (layout.morph, 4),
            1 => (layout.vertex, 12),
            2 => (layout.bone, 28),
            3..=7 => (layout.vertex, 16),
            8 => (layout.material, 113),
            10 => (layout.body, 25),
            _ => {
                let reason = format!("a morph target is of the type {kind}, which the format does not have");
                return Err(MmdError::Value { offset, reason });
            }
        };
        let count = cursor.count(usize::from(index) + bytes, WHAT)?;
        let content = match kind {
            0 => {
                let mut group = Vec::with_capacity(count);
                for _ in 0..count {
                    let morph = PmxLayout::index(cursor, index, WHAT)?;
                    let share = cursor.number(WHAT)?;
                    group.extend(morph.map(|morph| (morph, share)));
                }
                MorphContent::Group(group)
            }
            1 => {
                let mut moved = Vec::with_capacity(count);
                for _ in 0..count {
                    moved.push((layout.vertex_index(cursor, WHAT)?, cursor.numbers(WHAT)?));
                }
                MorphContent::Vertices(moved)
            }
            _ => {
                cursor.take(count * (usize::from(index) + bytes), WHAT)?;
                MorphContent::Other
            }
        };
        Ok(Self { name, content })
    }
}
