//! Meshes of a document that no joint moves, decoded when they are asked for: only few formats write them.

use super::Mesh;
use crate::report::Warnings;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The meshes, and faults of those that cannot be read.
type Decoded = (Vec<Mesh>, Warnings);
/// Decodes the meshes.
type Decode = Box<dyn FnOnce() -> Decoded + Send + Sync>;

/// Meshes that no joint moves, each with one binding whose matrix is the file's own world space from mesh space, metres.
#[derive(Clone, Default)]
pub struct StaticMeshes(Option<Arc<LazyLock<Decoded, Decode>>>);

impl StaticMeshes {
    /// The meshes that `decode` returns, called at the first request. It must not use other threads.
    pub(crate) fn new(decode: impl FnOnce() -> Decoded + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(LazyLock::new(Box::new(decode)))))
    }

    /// The meshes.
    pub fn meshes(&self) -> &[Mesh] {
        self.0.as_ref().map_or(&[], |made| &made.0)
    }

    /// Faults of meshes that cannot be read.
    #[cfg(feature = "formats")]
    pub(crate) fn warnings(&self) -> Warnings {
        self.0.as_ref().map_or_else(Warnings::new, |made| made.1.clone())
    }
}

impl fmt::Debug for StaticMeshes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaticMeshes")
    }
}

impl PartialEq for StaticMeshes {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Option<Arc<_>>, b: &Option<Arc<_>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same(&self.0, &other.0) || self.meshes() == other.meshes()
    }
}

#[cfg(feature = "serialize")]
impl serde::Serialize for StaticMeshes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.meshes().serialize(serializer)
    }
}

#[cfg(feature = "serialize")]
impl<'de> serde::Deserialize<'de> for StaticMeshes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let meshes: Vec<Mesh> = Vec::deserialize(deserializer)?;
        Ok(if meshes.is_empty() { Self::default() } else { Self::new(|| (meshes, Warnings::new())) })
    }
}
