//! Provenance of a glTF file in `asset.extras.posemill`.

use super::json_splice::{JsonSplice, member, rebuild};
use crate::gltf_document::{Chunks, GltfError, Json};
use crate::model::Document;

/// The key in `asset.extras`.
const MADE_BY: &str = "posemill";

/// Writes the provenance into `asset.extras`; other members are kept.
pub(super) fn write(out: &mut JsonSplice, made_by: &str) -> Result<(), GltfError> {
    let Some(asset) = out.json().raw("asset") else { return Ok(()) };
    let provenance = (MADE_BY, made_by.to_owned());
    let extras = match member(asset, "extras") {
        // Extras that are not an object cannot take a member.
        Some(extras) if !extras.starts_with('{') => return Ok(()),
        Some(extras) => rebuild(extras, &[MADE_BY], &[provenance])?,
        None => rebuild("{}", &[], &[provenance])?,
    };
    out.replace(asset, rebuild(asset, &["extras"], &[("extras", extras)])?);
    Ok(())
}

/// The provenance that a glTF document states.
pub fn made_by(document: &Document) -> Option<serde_json::Value> {
    let chunks = Chunks::open(&document.bytes).ok()?;
    let asset = Json::parse(chunks.json, chunks.json_offset).ok()?.value("asset")?;
    asset.get("extras")?.get(MADE_BY).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provenance_is_added_to_the_extras_of_other_programs() {
        let signed = |text: &str| {
            let mut splice = JsonSplice::new(Json::parse(text, 0).unwrap());
            write(&mut splice, "{\"v\":1}").unwrap();
            splice.finish().unwrap()
        };
        let want = r#"{"asset":{"version":"2.0","extras":{"posemill":{"v":1}}}}"#;
        assert_eq!(signed(r#"{"asset":{"version":"2.0"}}"#), want);
        assert_eq!(signed(want), want);
        let kept = signed(r#"{"asset":{"extras":{"a":1.50}, "version":"2.0"}}"#);
        assert_eq!(kept, r#"{"asset":{"version":"2.0","extras":{"a":1.50,"posemill":{"v":1}}}}"#);
    }
}
