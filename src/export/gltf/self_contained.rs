//! Makes a `.gltf` document with external files self-contained, as a GLB has to be.

use super::json_splice::{JsonSplice, member, rebuild};
use crate::gltf_document::GltfError;
#[cfg(feature = "cli")]
use crate::gltf_document::{Chunks, Json};
use crate::memory_budget::MemoryBudget;
#[cfg(feature = "cli")]
use crate::model::Container;
use crate::model::Document;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::{HashMap, HashSet};
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

/// Embeds the buffers and images of a `.gltf`, a file of several images once. Returns the new binary chunk: the first buffer,
/// followed by the images; other buffers are converted to data URIs.
pub(super) fn embed(out: &mut JsonSplice, document: &Document) -> Result<Vec<u8>, GltfError> {
    let buffers = out.json().items("buffers")?;
    let files: u64 = document.resources.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    // For buffers that name a file which another has embedded.
    let room = MemoryBudget::new(document.bytes.len() as u64 + files, None);
    let mut embedded: HashSet<&str> =
        buffers.first().and_then(|raw| member(raw, "uri")).into_iter().collect();
    let mut bin = first_buffer(document, buffers[0])?.to_vec();
    for (i, raw) in buffers.iter().enumerate().skip(1) {
        if let Some((true, bytes)) = load(document, raw, format!("buffers[{i}]"))? {
            // Their text is in memory three times: the edit, the document and the file.
            let size =
                if embedded.insert(member(raw, "uri").unwrap_or_default()) { 0 } else { 4 * bytes.len() };
            room.reserve(size as u64, String::new).map_err(|_| {
                let reason = "too many buffers name the same file for a copy in each\n  hint: let them share one buffer, or write `.gltf`";
                GltfError::value(format!("buffers[{i}]"), reason)
            })?;
            let uri = serde_json::Value::from(data_uri(&bytes)).to_string();
            out.replace(raw, rebuild(raw, &["uri"], &[("uri", uri)])?);
        }
    }
    let mut views: HashMap<&str, usize> = HashMap::new();
    for (i, raw) in out.json().items("images")?.into_iter().enumerate() {
        let uri = member(raw, "uri").unwrap_or_default();
        if let Some((_, bytes)) = load(document, raw, format!("images[{i}]"))? {
            let view = match views.get(uri) {
                Some(known) => *known,
                None => {
                    bin.resize(bin.len().next_multiple_of(4), 0);
                    let (offset, length) = (bin.len(), bytes.len());
                    bin.extend_from_slice(&bytes);
                    let view = format!("{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":{length}}}");
                    out.append("bufferViews", view)?
                }
            };
            views.insert(uri, view);
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
    use super::*;
    use crate::gltf_document::Json;
    use crate::math::Quat;
    use crate::model::{Container, StaticMeshes};

    /// The chunk and the text of a document of these buffers and images, all of one file of 100 kB.
    fn embedded(buffers: usize, images: usize) -> Result<(usize, String), GltfError> {
        let list = |n: usize, item: &str| vec![item; n].join(",");
        let [buffer, image] = [r#"{"byteLength":100000,"uri":"a"}"#, r#"{"uri":"a"}"#];
        let text = format!(r#"{{"buffers":[{}],"images":[{}]}}"#, list(buffers, buffer), list(images, image));
        let document = Document {
            container: Container::Gltf,
            bytes: Arc::new(text.clone().into_bytes()),
            resources: vec![("a".to_owned(), vec![0; 100_000].into())],
            nodes: Vec::new(),
            fbx: None,
            static_meshes: StaticMeshes::default(),
            model_from_file: Quat::identity(),
        };
        let mut out = JsonSplice::new(Json::parse(&text, 0)?);
        let chunk = embed(&mut out, &document)?.len();
        Ok((chunk, out.finish()?))
    }

    #[test]
    fn a_file_that_thousands_name_is_not_copied_for_each() {
        let (chunk, text) = embedded(2, 500).unwrap();
        assert_eq!((chunk, text.matches("byteOffset").count()), (200_000, 1));
        assert_eq!(text.matches(r#""bufferView":0"#).count(), 500);
        let error = embedded(2000, 0).unwrap_err().to_string();
        assert!(error.contains("too many buffers name the same file"), "{error}");
    }

    #[test]
    fn an_image_keeps_its_type() {
        let of = |raw: &str, bytes: &[u8]| image_type(raw, bytes);
        assert_eq!(of("{}", b"\xabKTX 20\xbb\r\n\x1a\n"), "\"image/ktx2\"");
        assert_eq!(of(r#"{"mimeType":"image/png"}"#, b"\xff\xd8\xff"), "\"image/jpeg\"");
        assert_eq!(of(r#"{"mimeType":"image/avif"}"#, b"\0\0\0 ftypavif"), "\"image/avif\"");
        assert_eq!(of("{}", b"?"), "\"image/png\"");
    }
}
