//! Reports the parts of a character's surfaces that a new file of another format cannot have.

use crate::model::Character;
use crate::report::{Warnings, one_line};

/// Warns of what the import of the meshes left out.
pub(super) fn warn_of_omitted(character: &Character, warnings: &mut Warnings) {
    if let Some(document) = &character.document {
        warnings.extend(document.static_meshes.warnings());
    }
    let unmoved = character.document.iter().flat_map(|document| document.static_meshes.meshes());
    for mesh in character.meshes.iter().chain(unmoved) {
        for what in &mesh.omitted {
            let said = format!("{what} has no place in this format and was left out; GLB keeps it");
            warnings.add("surface-omitted", said, format!("mesh `{}`", one_line(&mesh.name)));
        }
    }
}
