//! Reports the parts of a character's file that a new file of another format cannot have.

use crate::gltf_document::{ADDED, Chunks, Json};
use crate::model::{Character, Document, Mesh};
use crate::report::{Warnings, counted, one_line};
use serde_json::Value;

/// Most parts that a message lists: more would be read by nobody.
const MOST_LISTED: usize = 12;

/// Extensions of glTF whose content a new file gets, or whose loss is reported where it is used: those of textures, of compressed
/// meshes, of lights and of variants. So are those whose names begin with [`OF_MATERIALS`].
const KNOWN: &[&str] = &[
    "EXT_meshopt_compression",
    "EXT_texture_avif",
    "EXT_texture_webp",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_mesh_quantization",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "MSFT_texture_dds",
];
const OF_MATERIALS: &str = "KHR_materials_";

/// Warns of what the import of the meshes left out, and of the parts of the file that are no meshes.
pub(super) fn warn_of_omitted(character: &Character, warnings: &mut Warnings) {
    let mut unmoved: &[Mesh] = &[];
    if let Some(document) = &character.document {
        warnings.extend(document.static_meshes.warnings());
        unmoved = document.static_meshes.meshes();
        let parts = parts_of(document).unwrap_or_default();
        if !parts.is_empty() {
            warnings.add("file-parts-omitted", said(&parts), one_line(&character.name));
        }
    }
    let meshes = || character.meshes.iter().chain(unmoved);
    let mut parts: Vec<String> = Vec::new();
    for part in meshes().flat_map(|mesh| &mesh.omitted) {
        if parts.len() <= MOST_LISTED && !parts.contains(part) {
            parts.push(part.clone());
        }
    }
    let said = said(&parts);
    for mesh in meshes().filter(|mesh| !mesh.omitted.is_empty()) {
        warnings.add("surface-omitted", said.clone(), format!("mesh `{}`", one_line(&mesh.name)));
    }
}

fn said(parts: &[String]) -> String {
    let more = if parts.len() > MOST_LISTED { " and more" } else { "" };
    let have = if parts.len() == 1 { "has" } else { "have" };
    let listed = &parts[..parts.len().min(MOST_LISTED)];
    format!("{}{more} {have} no place in this format: left out; GLB keeps all", listed.join(", "))
}

/// The parts of a glTF file that are neither joints, meshes of triangles, materials nor animations; `None` if it is not read.
fn parts_of(document: &Document) -> Option<Vec<String>> {
    let chunks = Chunks::open(&document.bytes).ok()?;
    let json = Json::parse(chunks.json, chunks.json_offset).ok()?;
    let extensions = json.value("extensions").unwrap_or_default();
    let of_extension =
        |name: &str, list: &str| extensions.get(name).map_or(0, |extension| items(extension, list).len());
    let (mut lines, mut targets) = (0, 0);
    for mesh in json.items("meshes").unwrap_or_default() {
        let found = omitted_of_mesh(mesh);
        (lines, targets) = (lines + found.lines, targets + found.targets);
    }
    let counts = [
        (json.items("cameras").map_or(0, |list| list.len()), "camera", ""),
        (of_extension("KHR_lights_punctual", "lights"), "light", ""),
        (of_extension("KHR_materials_variants", "variants"), "material variant", ""),
        (lines, "primitive", " of points or lines"),
        (targets, "morph target", " of texture coordinates or colours"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let mut parts: Vec<String> =
        counts.map(|(count, what, of)| format!("{}{of}", counted(count, what))).collect();
    let used = json.value("extensionsUsed").unwrap_or_default();
    let names = used.as_array().into_iter().flatten().filter_map(Value::as_str);
    let unknown = names.filter(|name| !KNOWN.contains(name) && !name.starts_with(OF_MATERIALS));
    parts.extend(unknown.map(|name| format!("`{}`", one_line(name))));
    Some(parts)
}

/// Parts of a mesh that have no place elsewhere.
#[derive(Default)]
struct OmittedOfMesh {
    /// Primitives of points or lines.
    lines: usize,
    /// Morph targets that move texture coordinates or change colours.
    targets: usize,
}

/// Those of a mesh as JSON; none of the picture of a skeleton that this program adds.
fn omitted_of_mesh(mesh: &str) -> OmittedOfMesh {
    /// The first mode of triangles.
    const TRIANGLES: u64 = 4;
    let mesh: Value = serde_json::from_str(mesh).unwrap_or_default();
    let mut found = OmittedOfMesh::default();
    if mesh.get("extras").and_then(|extras| extras.get(ADDED)).is_some() {
        return found;
    }
    let moved = ["POSITION", "NORMAL", "TANGENT"];
    let more = |target: &Value| {
        target.as_object().is_some_and(|own| own.keys().any(|key| !moved.contains(&key.as_str())))
    };
    let mut targets: Vec<bool> = Vec::new();
    for primitive in items(&mesh, "primitives") {
        let mode = primitive.get("mode").and_then(Value::as_u64).unwrap_or(TRIANGLES);
        found.lines += usize::from(mode < TRIANGLES);
        // The primitives of a mesh have the same targets.
        for (k, target) in items(primitive, "targets").iter().enumerate() {
            targets.resize(targets.len().max(k + 1), false);
            targets[k] |= more(target);
        }
    }
    found.targets = targets.into_iter().filter(|more| *more).count();
    found
}

/// The list of this name; empty if there is none.
fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
