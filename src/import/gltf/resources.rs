//! Loads the URIs of a glTF document: data URIs, and files inside the document's own folder.
//!
//! Source: RFC 3986 for percent-encoding, RFC 2397 for data URIs. A document may come from anywhere, so a URI never reaches a
//! file outside the folder, whatever dots, schemes or symbolic links it uses.

use crate::gltf_document::GltfError;
use crate::memory_budget::MemoryBudget;
use crate::regular_file::{named_folder, open_regular, read_regular, tar_archive};
use crate::report::{io_reason, shortened};
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use indexmap::IndexMap;
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Largest external file, bytes: enough for a whole scene, and well below the memory of a machine that runs batches.
const MAX_RESOURCE_BYTES: u64 = 1 << 30;

/// What is wrong with a path to another folder.
const LEAVES: &str = "leaves the folder of the document";

/// Writers disagree about the padding of base64; all of it is read.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The files that a document refers to, each read once.
pub(super) struct Resources<'a> {
    folder: Option<&'a Path>,
    budget: &'a MemoryBudget,
    read: IndexMap<String, Arc<[u8]>>,
    /// One file may have several URIs.
    by_path: HashMap<PathBuf, Arc<[u8]>>,
}

impl<'a> Resources<'a> {
    /// Files are read from `folder`; without a folder only data URIs resolve.
    pub(super) fn new(folder: Option<&'a Path>, budget: &'a MemoryBudget) -> Self {
        Self { folder, budget, read: IndexMap::new(), by_path: HashMap::new() }
    }

    /// The files of a document that was read before, by their URIs.
    pub(super) fn of(files: Vec<(String, Arc<[u8]>)>, budget: &'a MemoryBudget) -> Self {
        Self { read: files.into_iter().collect(), ..Self::new(None, budget) }
    }

    /// The external files read so far: URI and content, in first-use order.
    pub(super) fn into_read(self) -> Vec<(String, Arc<[u8]>)> {
        self.read.into_iter().collect()
    }

    /// Replaces the content of the file that `uri` names, under every URI of it.
    pub(super) fn replace(&mut self, uri: &str, bytes: Arc<[u8]>) {
        let Some(old) = self.read.get(uri).cloned() else { return };
        let known = self.read.values_mut().chain(self.by_path.values_mut());
        known.filter(|known| Arc::ptr_eq(known, &old)).for_each(|known| *known = Arc::clone(&bytes));
    }

    /// The content of `uri`, which is at `path` in the document.
    pub(super) fn load(&mut self, uri: &str, path: &str) -> Result<Arc<[u8]>, GltfError> {
        let bad = |reason: String| GltfError::Resource { path: path.into(), uri: shortened(uri), reason };
        if let Some(data) = uri.strip_prefix("data:") {
            self.budget.reserve(data.len() as u64, || format!("`{path}`"))?;
            return data_uri(data).map(Arc::from).map_err(bad);
        }
        if let Some(bytes) = self.read.get(uri) {
            return Ok(Arc::clone(bytes));
        }
        let folder = self.folder.ok_or_else(|| bad("cannot be looked up: the file has no folder".into()))?;
        let file = inside(folder, uri).map_err(bad)?;
        if let Some(bytes) = self.by_path.get(&file) {
            self.read.insert(uri.to_owned(), Arc::clone(bytes));
            return Ok(Arc::clone(bytes));
        }
        let unreadable = |e: std::io::Error| bad(format!("cannot be read: {}", io_reason(&e)));
        let (_, size) = open_regular(&file).map_err(unreadable)?;
        if size > MAX_RESOURCE_BYTES {
            return Err(GltfError::Limit {
                path: path.into(),
                limit_name: "MAX_RESOURCE_BYTES",
                limit: MAX_RESOURCE_BYTES,
                found: size,
            });
        }
        let bytes: Arc<[u8]> = read_regular(&file, MAX_RESOURCE_BYTES).map_err(unreadable)?.into();
        self.budget.grow(bytes.len() as u64);
        self.read.insert(uri.to_owned(), Arc::clone(&bytes));
        self.by_path.insert(file, Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// The content of a data URI, without its scheme.
pub(super) fn data_uri(data: &str) -> Result<Vec<u8>, String> {
    let (head, body) = data.split_once(',').ok_or("has no comma")?;
    if !head.ends_with(";base64") {
        return percent_decode(body);
    }
    BASE64.decode(body.trim()).map_err(|e| format!("is no base64: {e}"))
}

fn percent_decode(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b != b'%' {
            bytes.push(b);
            continue;
        }
        let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16));
        match (digit(), digit()) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return Err("has a `%` without two digits".into()),
        }
    }
    Ok(bytes)
}

/// The canonical path of the relative `uri`, which has to stay inside `folder`.
fn inside(folder: &Path, uri: &str) -> Result<PathBuf, String> {
    let decoded = String::from_utf8(percent_decode(uri)?).map_err(|_| "is not UTF-8".to_owned())?;
    let first = decoded.split('/').next().unwrap_or_default();
    if decoded.is_empty() || decoded.starts_with('/') || first.contains(':') {
        return Err("is not relative; only files in the folder of the document are read".into());
    }
    if decoded.contains(['\0', '\\']) {
        return Err("has a character that no relative URI has".into());
    }
    if tar_archive::split(folder).is_some() {
        // Members have no links.
        let file = below(folder, Path::new(&decoded));
        return if file.starts_with(folder) { Ok(file) } else { Err(LEAVES.into()) };
    }
    let folder = fs::canonicalize(named_folder(folder))
        .map_err(|e| format!("cannot be looked up: {}", io_reason(&e)))?;
    let file =
        fs::canonicalize(folder.join(&decoded)).map_err(|e| format!("cannot be read: {}", io_reason(&e)))?;
    if !file.starts_with(&folder) {
        return Err(LEAVES.into());
    }
    Ok(file)
}

/// The relative path from `folder`, where `..` leads back.
fn below(folder: &Path, relative: &Path) -> PathBuf {
    let mut file = folder.to_owned();
    for part in relative.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = file.pop(),
            part => file.push(part),
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_uris_decode_with_and_without_padding() {
        assert_eq!(data_uri("application/octet-stream;base64,AQI="), Ok(vec![1, 2]));
        assert_eq!(data_uri(";base64,AQI"), Ok(vec![1, 2]));
        assert_eq!(data_uri("text/plain,a%20b"), Ok(b"a b".to_vec()));
        assert!(data_uri("no comma").is_err());
    }

    #[test]
    fn a_uri_never_leaves_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("asset");
        fs::create_dir_all(folder.join("deep")).unwrap();
        fs::write(outer.path().join("secret.bin"), b"no").unwrap();
        fs::write(folder.join("my file.bin"), b"yes").unwrap();
        let budget = MemoryBudget::new(0, None);
        let mut resources = Resources::new(Some(&folder), &budget);
        assert_eq!(&*resources.load("my%20file.bin", "buffers[0]").unwrap(), b"yes");
        assert_eq!(&*resources.load("deep/../my%20file.bin", "buffers[1]").unwrap(), b"yes");
        let absolute = outer.path().join("secret.bin").display().to_string();
        let mut refused =
            vec!["../secret.bin", "deep/../../secret.bin", "%2e%2e/secret.bin", "C:/secret.bin"];
        refused.extend(["file:///etc/hostname", "http://example.org/a", "a%00b", "..\\secret.bin", "", "%f"]);
        refused.extend(["deep", &absolute]);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret.bin"), folder.join("link.bin")).unwrap();
            refused.push("link.bin");
        }
        for uri in refused {
            assert!(resources.load(uri, "buffers[0]").is_err(), "{uri}");
        }
        assert_eq!(resources.by_path.len(), 1);
        assert_eq!(resources.into_read().len(), 2);
        assert!(Resources::new(None, &budget).load("my%20file.bin", "buffers[0]").is_err());
    }
}
