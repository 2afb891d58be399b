//! Names the extensions that a file requires and that are not read.
//!
//! By the specification (3.12) a reader must not load such a file. Skeletons and animations of almost all of them are those of
//! plain glTF, and glTF outputs keep the file as it is, so they are read with a warning.

use crate::gltf_document::Json;
use crate::report::{Warnings, one_line};
use serde_json::Value;

/// Required extensions with which skeletons, skins, meshes and animations are read correctly.
const KNOWN: &[&str] = &[
    "EXT_meshopt_compression",
    "EXT_texture_avif",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "KHR_xmp_json_ld",
    "MSFT_texture_dds",
    "VRM",
];
/// Families of extensions that change surfaces or name what is there.
const KNOWN_FAMILIES: &[&str] = &["KHR_materials_", "VRMC_"];

/// Warns of required extensions that are not known.
pub(super) fn warn_of_required(json: &Json, warnings: &mut Warnings) {
    let required = json.value("extensionsRequired").unwrap_or_default();
    let names = required.as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in names {
        if KNOWN.contains(&name) || KNOWN_FAMILIES.iter().any(|family| name.starts_with(family)) {
            continue;
        }
        let said = format!(
            "the file requires the extension `{}`, which is not known: what it changes is not read, and a glTF output keeps it",
            one_line(name)
        );
        warnings.add("gltf-required-extension", said, "extensionsRequired");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_extensions_that_are_required_are_named() {
        let said = |required: &str| {
            let mut warnings = Warnings::new();
            let text = format!(r#"{{"extensionsRequired":{required}}}"#);
            warn_of_required(&Json::parse(&text, 0).unwrap(), &mut warnings);
            format!("{warnings:?}")
        };
        assert!(said(r#"["KHR_mesh_quantization","ACME_curves"]"#).contains("`ACME_curves`"));
        for known in KNOWN.iter().copied().chain(["KHR_materials_unlit", "VRMC_vrm"]) {
            assert_eq!(said(&format!(r#"["{known}"]"#)), said("[]"), "{known}");
        }
        assert_eq!(said("7"), said("[]"));
    }
}
