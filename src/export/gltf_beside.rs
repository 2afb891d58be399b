//! The files that a glTF document names lie beside it where the document says; and the document says what made it.

use super::gltf_splice::{Splice, member, rebuild};
use crate::gltf_document::{Chunks, GltfError, Json};
use crate::model::Document;
use std::fmt::Write;
use std::sync::Arc;

/// The key of `asset.extras` that tells what made a file.
pub const MADE_BY: &str = "posemill";

/// A relative path with `/`, and the content.
type Beside = (String, Arc<[u8]>);

/// Gives every resource of a document its path below the document, in `folder` where that is not empty, and writes it
/// into the URIs where they say something else: a URI may lead out of the folder and back into it, which only works in
/// the folder that the document came from.
pub(super) fn place(out: &mut Splice, resources: &[Beside], folder: &str) -> Result<Vec<Beside>, GltfError> {
    let mut placed: Vec<Beside> = Vec::with_capacity(resources.len());
    let mut named: Vec<(&str, String)> = Vec::new();
    for (uri, bytes) in resources {
        let mut path = inside(&decoded_uri(uri));
        // Two ways to write one path are two files where their content is not the same.
        while placed.iter().any(|(known, other)| *known == joined(folder, &path) && other != bytes) {
            path.insert(0, '_');
        }
        let path = joined(folder, &path);
        if path != decoded_uri(uri) {
            named.push((uri, serde_json::Value::from(encoded(&path)).to_string()));
        }
        placed.push((path, Arc::clone(bytes)));
    }
    for list in ["buffers", "images"] {
        let items = if named.is_empty() { Vec::new() } else { out.json().items(list)? };
        for raw in items {
            let uri = member(raw, "uri").and_then(|u| serde_json::from_str::<String>(u).ok());
            if let Some((_, new)) = named.iter().find(|(old, _)| uri.as_deref() == Some(*old)) {
                out.replace(raw, rebuild(raw, &["uri"], &[("uri", new.clone())])?);
            }
        }
    }
    Ok(placed)
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// Writes what made the file into `asset.extras`, beside what others keep there.
pub(super) fn sign(out: &mut Splice, made_by: &str) -> Result<(), GltfError> {
    let Some(asset) = out.json().raw("asset") else { return Ok(()) };
    let told = (MADE_BY, made_by.to_owned());
    let extras = match member(asset, "extras") {
        // What is no object has no place for it.
        Some(extras) if !extras.starts_with('{') => return Ok(()),
        Some(extras) => rebuild(extras, &[MADE_BY], &[told])?,
        None => rebuild("{}", &[], &[told])?,
    };
    out.replace(asset, rebuild(asset, &["extras"], &[("extras", extras)])?);
    Ok(())
}

/// What made a glTF document, as it says itself.
pub fn made_by(document: &Document) -> Option<serde_json::Value> {
    let chunks = Chunks::open(&document.bytes).ok()?;
    let asset = Json::parse(chunks.json, chunks.json_offset).ok()?.value("asset")?;
    asset.get("extras")?.get(MADE_BY).cloned()
}

/// A URI without its percent signs.
pub fn decoded_uri(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| b == b'%').and_then(|d| std::str::from_utf8(d).ok());
        match escaped.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &tail[2..];
            }
            None => {
                bytes.push(b);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path as a URI (RFC 3986): what is neither unreserved nor `/` gets a percent sign.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) {
            uri.push(char::from(b));
        } else {
            let _ = write!(uri, "%{b:02X}");
        }
    }
    uri
}

/// A relative path that stays in its folder.
fn inside(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_become_paths_inside_the_folder() {
        assert_eq!(inside(&decoded_uri("a%20b/./c/../d.bin")), "a b/d.bin");
        assert_eq!(inside(&decoded_uri("../../x.bin")), "x.bin");
        assert_eq!(decoded_uri("100%.bin"), "100%.bin");
        for path in ["a b/\u{e9}.bin", "100%.bin", "a#?.bin"] {
            assert_eq!(decoded_uri(&encoded(path)), path);
        }
    }

    #[test]
    fn uris_say_where_files_lie_and_change_only_where_they_must() {
        let text = r#"{"buffers":[{"uri":"a%20b.bin","x":1.50},{"uri":"../in/b.bin"},{"uri":"in/b.bin"}]}"#;
        let bytes = |k: u8| Arc::<[u8]>::from(vec![k]);
        let resources = [
            ("a%20b.bin".to_owned(), bytes(1)),
            ("../in/b.bin".into(), bytes(2)),
            ("in/b.bin".into(), bytes(3)),
        ];
        let placed = |folder: &str| {
            let mut splice = Splice::new(Json::parse(text, 0).unwrap());
            let names: Vec<String> =
                place(&mut splice, &resources, folder).unwrap().into_iter().map(|b| b.0).collect();
            (names, splice.finish().unwrap())
        };
        let (names, text) = placed("");
        assert_eq!(names, ["a b.bin", "in/b.bin", "_in/b.bin"]);
        let want = r#"{"buffers":[{"uri":"a%20b.bin","x":1.50},{"uri":"in/b.bin"},{"uri":"_in/b.bin"}]}"#;
        assert_eq!(text, want);
        assert_eq!(placed("t.files").0, ["t.files/a b.bin", "t.files/in/b.bin", "t.files/_in/b.bin"]);
        assert!(placed("t.files").1.contains(r#"{"x":1.50,"uri":"t.files/a%20b.bin"}"#));
    }

    #[test]
    fn what_made_a_file_stands_beside_what_others_keep() {
        let signed = |text: &str| {
            let mut splice = Splice::new(Json::parse(text, 0).unwrap());
            sign(&mut splice, "{\"v\":1}").unwrap();
            splice.finish().unwrap()
        };
        let want = r#"{"asset":{"version":"2.0","extras":{"posemill":{"v":1}}}}"#;
        assert_eq!(signed(r#"{"asset":{"version":"2.0"}}"#), want);
        assert_eq!(signed(want), want);
        let kept = signed(r#"{"asset":{"extras":{"a":1.50}, "version":"2.0"}}"#);
        assert_eq!(kept, r#"{"asset":{"version":"2.0","extras":{"a":1.50,"posemill":{"v":1}}}}"#);
    }
}
