//! An FBX file opened by the reader `ufbx`, the same way for import and export: node n is node n at both ends.
//!
//! Space: metres, Y up, right-handed. Units: metres.

use ufbx::{
    AllocatorOpts, CoordinateAxes, GeometryTransformHandling, InheritModeHandling, LoadOpts, PivotHandling,
    SceneRoot, SpaceConversion,
};

/// How deep nodes may be nested.
const DEPTH: u32 = 2000;

/// How the nodes of an FBX file are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FbxView {
    /// As they are imported: units and axes are worked into vertices and translations, so that no node is left with a
    /// scale of 0.01.
    Imported,
    /// The same, with the records that each node came from.
    ImportedWithRecords,
    /// With the file's own local transforms below one root that turns and scales, and with records.
    Own,
}

/// The scene of a file.
///
/// `memory` is what may be taken while it is read, and as much again for what stays of it, bytes.
///
/// # Errors
/// What the reader says.
pub fn open_fbx(bytes: &[u8], view: FbxView, memory: u64) -> Result<SceneRoot, String> {
    let memory_limit = usize::try_from(memory).unwrap_or(usize::MAX);
    let limit = || AllocatorOpts { memory_limit, ..AllocatorOpts::default() };
    let (space, geometry, inherit) = match view {
        FbxView::Own => (
            SpaceConversion::TransformRoot,
            GeometryTransformHandling::Preserve,
            InheritModeHandling::Preserve,
        ),
        // Bones that do not inherit scale: exact, with a nameless node added only where scale is animated or uneven.
        _ => (
            SpaceConversion::ModifyGeometry,
            GeometryTransformHandling::ModifyGeometry,
            InheritModeHandling::Compensate,
        ),
    };
    let how = LoadOpts {
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
    ufbx::load_memory(bytes, how).map_err(|error| {
        let info = error.info();
        let info = if info.is_empty() { String::new() } else { format!(" ({info})") };
        format!("{}{info}", error.description.to_lowercase())
    })
}
