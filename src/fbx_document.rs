//! Opens FBX files with `ufbx`, with the same settings for import and export, so that node indices agree.
//!
//! Space: right-handed, Y up. Units: metres.

use ufbx::{
    AllocatorOpts, CoordinateAxes, Exporter, GeometryTransformHandling, InheritModeHandling, LoadOpts,
    PivotHandling, SceneRoot, SpaceConversion,
};

/// Maximum nesting depth of nodes.
const DEPTH: u32 = 2000;

/// How the transforms of an FBX file are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FbxView {
    /// As for import: units and axes are applied to vertices and translations, so that no node keeps a scale of 0.01.
    Imported,
    /// The same, with the source records of each node.
    ImportedWithRecords,
    /// The file's own local transforms, below one root with the conversion of axes and units, and with source records.
    Own,
}

/// Reads the scene of a file.
///
/// `memory` limits the temporary memory, bytes, and separately the memory of the result.
///
/// # Errors
/// The message of the reader.
pub fn open_fbx(bytes: &[u8], view: FbxView, memory: u64) -> Result<SceneRoot, String> {
    let memory_limit = usize::try_from(memory).unwrap_or(usize::MAX);
    let limit = || AllocatorOpts { memory_limit, ..AllocatorOpts::default() };
    let (space, geometry, inherit) = match view {
        FbxView::Own => (
            SpaceConversion::TransformRoot,
            GeometryTransformHandling::Preserve,
            InheritModeHandling::Preserve,
        ),
        // For bones that do not inherit scale: exact; an unnamed node is added only if scale is animated or non-uniform.
        _ => (
            SpaceConversion::ModifyGeometry,
            GeometryTransformHandling::ModifyGeometry,
            InheritModeHandling::Compensate,
        ),
    };
    let options = LoadOpts {
        target_axes: CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        space_conversion: space,
        geometry_transform_handling: geometry,
        inherit_mode_handling: inherit,
        pivot_handling: PivotHandling::Retain,
        generate_missing_normals: true,
        clean_skin_weights: true,
        load_external_files: false,
        retain_dom: view != FbxView::Imported,
        node_depth_limit: DEPTH,
        temp_allocator: limit(),
        result_allocator: limit(),
        ..LoadOpts::default()
    };
    ufbx::load_memory(bytes, options).map_err(|error| {
        let info = error.info();
        let info = if info.is_empty() { String::new() } else { format!(" ({info})") };
        format!("{}{info}", error.description.to_lowercase())
    })
}

/// Whether the materials and colours of a file are as Blender's exporter writes them, as this program does: metalness as reflection,
/// opacity as transparency alone, colours of vertices as sRGB.
pub fn follows_blender(scene: &SceneRoot) -> bool {
    let metadata = &scene.metadata;
    let blender = metadata.exporter == Exporter::BlenderBinary && metadata.exporter_version >= BLENDER;
    blender || metadata.creator.starts_with(OWN)
}

/// The first version of Blender's exporter, as `ufbx` numbers it, whose materials are metallic-roughness surfaces: 4.12.
const BLENDER: u32 = 4_012_000;
/// The name of this program in the header of the FBX files that it writes.
const OWN: &str = "posemill";
