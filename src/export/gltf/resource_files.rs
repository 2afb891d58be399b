//! Paths of the files that a glTF document names: they stay inside the folder of the document.

use super::json_splice::{JsonSplice, member, rebuild};
use crate::gltf_document::GltfError;
use std::fmt::Write;
use std::sync::Arc;

/// A relative path with `/`, and the content of the file.
type ResourceFile = (String, Arc<[u8]>);

/// Assigns every resource of a document a path relative to the document, inside `folder` if that is not empty, and updates
/// URIs that differ. A URI may lead out of the folder and back into it, which works only in the original folder.
pub(super) fn set_paths(
    out: &mut JsonSplice,
    resources: &[ResourceFile],
    folder: &str,
) -> Result<Vec<ResourceFile>, GltfError> {
    let mut files: Vec<ResourceFile> = Vec::with_capacity(resources.len());
    let mut renamed: Vec<(&str, String)> = Vec::new();
    for (uri, bytes) in resources {
        let mut path = inside(&decoded_uri(uri));
        // Two spellings of one path with different content are two files.
        while files.iter().any(|(known, other)| *known == joined(folder, &path) && other != bytes) {
            path.insert(0, '_');
        }
        let path = joined(folder, &path);
        if path != decoded_uri(uri) {
            renamed.push((uri, serde_json::Value::from(encoded(&path)).to_string()));
        }
        files.push((path, Arc::clone(bytes)));
    }
    for list in ["buffers", "images"] {
        let items = if renamed.is_empty() { Vec::new() } else { out.json().items(list)? };
        for raw in items {
            let uri = member(raw, "uri").and_then(|u| serde_json::from_str::<String>(u).ok());
            if let Some((_, new)) = renamed.iter().find(|(old, _)| uri.as_deref() == Some(*old)) {
                out.replace(raw, rebuild(raw, &["uri"], &[("uri", new.clone())])?);
            }
        }
    }
    Ok(files)
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// A URI with percent-encoding decoded; invalid escapes are kept.
pub fn decoded_uri(uri: &str) -> String {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|d| b == b'%' && d.iter().all(u8::is_ascii_hexdigit));
        let escaped = escaped.and_then(|d| std::str::from_utf8(d).ok());
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

/// A path as a URI (RFC 3986): bytes that are neither unreserved nor `/` are percent-encoded.
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

/// A relative path without `.` and `..`, inside its folder.
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
    use crate::gltf_document::Json;

    #[test]
    fn uris_are_decoded_to_paths_inside_the_folder() {
        assert_eq!(inside(&decoded_uri("a%20b/./c/../d.bin")), "a b/d.bin");
        assert_eq!(inside(&decoded_uri("../../x.bin")), "x.bin");
        for kept in ["100%.bin", "a%+5.bin"] {
            assert_eq!(decoded_uri(kept), kept);
        }
        for path in ["a b/\u{e9}.bin", "100%.bin", "a#?.bin"] {
            assert_eq!(decoded_uri(&encoded(path)), path);
        }
    }

    #[test]
    fn uris_are_rewritten_only_if_the_path_changes() {
        let text = r#"{"buffers":[{"uri":"a%20b.bin","x":1.50},{"uri":"../in/b.bin"},{"uri":"in/b.bin"}]}"#;
        let bytes = |k: u8| Arc::<[u8]>::from(vec![k]);
        let resources = [
            ("a%20b.bin".to_owned(), bytes(1)),
            ("../in/b.bin".into(), bytes(2)),
            ("in/b.bin".into(), bytes(3)),
        ];
        let with_paths = |folder: &str| {
            let mut splice = JsonSplice::new(Json::parse(text, 0).unwrap());
            let names: Vec<String> =
                set_paths(&mut splice, &resources, folder).unwrap().into_iter().map(|b| b.0).collect();
            (names, splice.finish().unwrap())
        };
        let (names, text) = with_paths("");
        assert_eq!(names, ["a b.bin", "in/b.bin", "_in/b.bin"]);
        let want = r#"{"buffers":[{"uri":"a%20b.bin","x":1.50},{"uri":"in/b.bin"},{"uri":"_in/b.bin"}]}"#;
        assert_eq!(text, want);
        assert_eq!(with_paths("t.files").0, ["t.files/a b.bin", "t.files/in/b.bin", "t.files/_in/b.bin"]);
        assert!(with_paths("t.files").1.contains(r#"{"x":1.50,"uri":"t.files/a%20b.bin"}"#));
    }
}
