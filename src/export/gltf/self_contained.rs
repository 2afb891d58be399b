//! Makes a `.gltf` document with external files self-contained, as a GLB has to be.

use super::json_splice::{JsonSplice, member, rebuild};
use crate::gltf_document::GltfError;
#[cfg(feature = "cli")]
use crate::gltf_document::{Chunks, Json};
#[cfg(feature = "cli")]
use crate::model::Container;
use crate::model::Document;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

/// The bytes that a URI refers to, and whether they are in a separate file.
type LoadedUri = (bool, Arc<[u8]>);

/// The bytes of a URI of the document; `None` if it has none, or if its file was not found.
fn load(document: &Document, raw: &str, path: String) -> Result<Option<LoadedUri>, GltfError> {
    let Some(uri) = member(raw, "uri").and_then(|u| serde_json::from_str::<String>(u).ok()) else {
        return Ok(None);
    };
    if let Some((_, data)) = uri.split_once(";base64,").filter(|_| uri.starts_with("data:")) {
        let bytes = STANDARD.decode(data).map_err(|e| GltfError::value(path, e.to_string()))?;
        return Ok(Some((false, bytes.into())));
    }
    let known = document.resources.iter().find(|(u, _)| *u == uri);
    Ok(known.map(|(_, bytes)| (true, Arc::clone(bytes))))
}

/// The first buffer, which becomes the binary chunk.
fn first_buffer(document: &Document, raw: &str) -> Result<Arc<[u8]>, GltfError> {
    let path = "buffers[0]";
    let found = load(document, raw, path.to_owned())?;
    found.map(|(_, bytes)| bytes).ok_or_else(|| GltfError::value(path, "its data is missing"))
}

/// Why a document cannot be written as a GLB: the data of its first buffer was not found. Nothing is written to find out.
#[cfg(feature = "cli")]
pub fn lost_buffer(document: &Document) -> Option<GltfError> {
    if document.container == Container::Glb || document.fbx.is_some() {
        return None;
    }
    let chunks = Chunks::open(&document.bytes).ok()?;
    let json = Json::parse(chunks.json, chunks.json_offset).ok()?;
    let buffers = json.items("buffers").ok()?;
    first_buffer(document, buffers.first()?).err()
}

/// Embeds the buffers and images of a `.gltf`. Returns the new binary chunk: the first buffer, followed by the images; other
/// buffers are converted to data URIs.
pub(super) fn embed(out: &mut JsonSplice, document: &Document) -> Result<Vec<u8>, GltfError> {
    let buffers = out.json().items("buffers")?;
    let mut bin = first_buffer(document, buffers[0])?.to_vec();
    for (i, raw) in buffers.iter().enumerate().skip(1) {
        if let Some((true, bytes)) = load(document, raw, format!("buffers[{i}]"))? {
            let uri = serde_json::Value::from(data_uri(&bytes)).to_string();
            out.replace(raw, rebuild(raw, &["uri"], &[("uri", uri)])?);
        }
    }
    for (i, raw) in out.json().items("images")?.into_iter().enumerate() {
        if let Some((_, bytes)) = load(document, raw, format!("images[{i}]"))? {
            bin.resize(bin.len().next_multiple_of(4), 0);
            let (offset, length) = (bin.len(), bytes.len());
            bin.extend_from_slice(&bytes);
            let view = format!("{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":{length}}}");
            let view = out.append("bufferViews", view)?;
            let add = [("mimeType", image_type(raw, &bytes)), ("bufferView", view.to_string())];
            out.replace(raw, rebuild(raw, &["uri", "mimeType"], &add)?);
        }
    }
    Ok(bin)
}

/// The media type of an image, as JSON: by its first bytes, else as the document `raw` of the image states it, else PNG.
fn image_type(raw: &str, bytes: &[u8]) -> String {
    let known = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, ..] => "image/jpeg",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        [0xab, b'K', b'T', b'X', ..] => "image/ktx2",
        _ => return member(raw, "mimeType").unwrap_or("\"image/png\"").to_owned(),
    };
    format!("\"{known}\"")
}

/// The data URI of some bytes.
pub(super) fn data_uri(bytes: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::image_type;

    #[test]
    fn an_image_keeps_its_type() {
        let of = |raw: &str, bytes: &[u8]| image_type(raw, bytes);
        assert_eq!(of("{}", b"\xabKTX 20\xbb\r\n\x1a\n"), "\"image/ktx2\"");
        assert_eq!(of(r#"{"mimeType":"image/png"}"#, b"\xff\xd8\xff"), "\"image/jpeg\"");
        assert_eq!(of(r#"{"mimeType":"image/avif"}"#, b"\0\0\0 ftypavif"), "\"image/avif\"");
        assert_eq!(of("{}", b"?"), "\"image/png\"");
    }
}
