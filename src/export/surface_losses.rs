//! Reports the parts of a character's surfaces that a new file of another format cannot have.

use crate::model::{Character, Mesh};
use crate::report::{Warnings, one_line};

/// Most parts that a message lists: more would be read by nobody.
const MOST_LISTED: usize = 12;

/// Warns of what the import of the meshes left out.
pub(super) fn warn_of_omitted(character: &Character, warnings: &mut Warnings) {
    let mut unmoved: &[Mesh] = &[];
    if let Some(document) = &character.document {
        warnings.extend(document.static_meshes.warnings());
        unmoved = document.static_meshes.meshes();
    }
    let meshes = || character.meshes.iter().chain(unmoved);
    let mut parts: Vec<&str> = Vec::new();
    for part in meshes().flat_map(|mesh| &mesh.omitted) {
        if parts.len() <= MOST_LISTED && !parts.contains(&part.as_str()) {
            parts.push(part);
        }
    }
    let more = if parts.len() > MOST_LISTED { " and more" } else { "" };
    parts.truncate(MOST_LISTED);
    let have = if parts.len() == 1 { "has" } else { "have" };
    let said = format!("{}{more} {have} no place in this format: left out; GLB keeps all", parts.join(", "));
    for mesh in meshes().filter(|mesh| !mesh.omitted.is_empty()) {
        warnings.add("surface-omitted", said.clone(), format!("mesh `{}`", one_line(&mesh.name)));
    }
}
