//! A PMX file as it is: vertices, triangles, materials, bones and morph targets.

use super::byte_cursor::ByteCursor;
use super::mmd_error::MmdError;
use super::pmx_bones::{self, LEAST_BONE};
use super::pmx_morphs::{LEAST_MORPH, MorphContent, PmxMorph};
use super::pmx_text::PmxLayout;
use super::pmx_vertices::{LEAST_MATERIAL, LEAST_VERTEX, PmxMaterial, PmxVertex};
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::{MmdBone, attach, standard_bones};
use crate::report::Warnings;

/// A model.
#[derive(Clone, Debug, Default)]
pub(super) struct PmxModel {
    pub(super) vertices: Vec<PmxVertex>,
    /// Corners of triangles.
    pub(super) corners: Vec<u32>,
    /// Paths of textures, as written.
    pub(super) textures: Vec<String>,
    pub(super) materials: Vec<PmxMaterial>,
    pub(super) bones: Vec<MmdBone>,
    pub(super) morphs: Vec<PmxMorph>,
    /// Rigid bodies of its physics.
    pub(super) bodies: usize,
    /// Whether it is the standard figure, whose morph targets move nothing.
    pub(super) is_figure: bool,
}

impl PmxModel {
    /// Reads a file.
    pub(super) fn read(
        bytes: &[u8],
        budget: &MemoryBudget,
        warnings: &mut Warnings,
    ) -> Result<Self, ImportError> {
        let mut cursor = ByteCursor::new(bytes);
        let cursor = &mut cursor;
        let layout = PmxLayout::read(cursor)?;
        let mut model = Self::default();
        // Names and comments of the model, in Japanese and English.
        for _ in 0..4 {
            layout.text(cursor, "the name of the model")?;
        }
        let count = cursor.count(LEAST_VERTEX, "the vertices")?;
        budget.reserve_list::<PmxVertex>(count as u64, || "the vertices".to_owned())?;
        for _ in 0..count {
            model.vertices.push(PmxVertex::read(cursor, &layout)?);
        }
        let count = cursor.count(usize::from(layout.vertex), "the triangles")?;
        budget.reserve_list::<u32>(count as u64, || "the triangles".to_owned())?;
        for _ in 0..count {
            model.corners.push(layout.vertex_index(cursor, "the triangles")?);
        }
        let count = cursor.count(4, "the textures")?;
        budget.reserve_list::<String>(count as u64, || "the textures".to_owned())?;
        for _ in 0..count {
            model.textures.push(layout.text(cursor, "the textures")?);
        }
        let count = cursor.count(LEAST_MATERIAL, "the materials")?;
        budget.reserve_list::<PmxMaterial>(count as u64, || "the materials".to_owned())?;
        for _ in 0..count {
            model.materials.push(PmxMaterial::read(cursor, &layout)?);
        }
        let offset = cursor.offset;
        let count = cursor.count(LEAST_BONE, "the bones")?;
        budget.reserve_list::<[MmdBone; 2]>(count as u64, || "the bones".to_owned())?;
        let mut bones = Vec::new();
        for _ in 0..count {
            bones.push(pmx_bones::bone(cursor, &layout)?);
        }
        model.bones = pmx_bones::checked(bones, offset)?;
        let count = cursor.count(LEAST_MORPH, "the morph targets")?;
        budget.reserve_list::<PmxMorph>(count as u64, || "the morph targets".to_owned())?;
        for _ in 0..count {
            model.morphs.push(PmxMorph::read(cursor, &layout)?);
        }
        frames(cursor, &layout)?;
        model.bodies = physics(cursor, &layout)?;
        if model.bones.is_empty() {
            return Err(MmdError::NoBones.into());
        }
        attach(&mut model.bones);
        model.warn(cursor, warnings);
        Ok(model)
    }

    /// The standard figure, with morph targets of these names that move nothing.
    pub(super) fn standard(morphs: impl Iterator<Item = String>) -> Self {
        let morphs: Vec<PmxMorph> =
            morphs.map(|name| PmxMorph { name, content: MorphContent::Vertices(Vec::new()) }).collect();
        let mut model = Self { bones: standard_bones(), is_figure: true, ..Self::default() };
        if !morphs.is_empty() {
            // The triangle that has them: nobody sees it, 0.01 units.
            let corners = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.0, 0.01, 0.0]];
            let vertex = |position| PmxVertex { position, ..PmxVertex::default() };
            model.vertices = corners.map(vertex).into();
            model.corners = vec![0, 1, 2];
            model.materials =
                vec![PmxMaterial { name: "Face".to_owned(), corners: 3, ..PmxMaterial::default() }];
            model.morphs = morphs;
        }
        model
    }

    fn warn(&self, cursor: &ByteCursor, warnings: &mut Warnings) {
        if let Some((count, first)) = cursor.odd {
            let said = format!("{count} numbers are not finite and were read as 0");
            warnings.add("mmd-not-finite", said, format!("byte {first}"));
        }
        if self.bodies > 0 {
            let said = format!("{} rigid bodies of the physics are not read", self.bodies);
            warnings.add("mmd-physics", said, "the model");
        }
        let other = self.morphs.iter().filter(|m| matches!(m.content, MorphContent::Other));
        if let Some(first) = other.clone().next() {
            let count = other.count();
            let said =
                format!("{count} morph targets of bones, texture coordinates and materials are not read");
            warnings.add("mmd-morphs", said, crate::report::one_line(&first.name));
        }
    }
}

/// Skips the groups of bones and targets that the editor shows.
fn frames(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<(), MmdError> {
    let what = "the display groups";
    for _ in 0..cursor.count(13, what)? {
        layout.text(cursor, what)?;
        layout.text(cursor, what)?;
        cursor.byte(what)?;
        for _ in 0..cursor.count(2, what)? {
            let size = if cursor.byte(what)? == 0 { layout.bone } else { layout.morph };
            PmxLayout::index(cursor, size, what)?;
        }
    }
    Ok(())
}

/// Skips rigid bodies and their joints; returns how many bodies there are. Soft bodies (2.1), which come after, are not looked at.
fn physics(cursor: &mut ByteCursor, layout: &PmxLayout) -> Result<usize, MmdError> {
    let what = "the rigid bodies";
    let bodies = cursor.count(69, what)?;
    for _ in 0..bodies {
        layout.text(cursor, what)?;
        layout.text(cursor, what)?;
        PmxLayout::index(cursor, layout.bone, what)?;
        // Group, mask, shape, size, place, rotation, mass, damping, restitution, friction and kind.
        cursor.take(1 + 2 + 1 + 36 + 20 + 1, what)?;
    }
    let what = "the joints of the physics";
    for _ in 0..cursor.count(105, what)? {
        layout.text(cursor, what)?;
        layout.text(cursor, what)?;
        cursor.byte(what)?;
        PmxLayout::index(cursor, layout.body, what)?;
        PmxLayout::index(cursor, layout.body, what)?;
        // Place, rotation, four limits and two springs, of three numbers each.
        cursor.take(8 * 12, what)?;
    }
    Ok(bodies)
}
