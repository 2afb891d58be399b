//! Errors of glTF files, with their location.

/// Why a glTF file cannot be read or written back.
///
/// Locations are JSON paths such as `nodes[3].children[0]`, or byte offsets from the start of the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GltfError {
    /// The file is a Git LFS pointer, a placeholder for the content.
    #[error(
        "this is a Git LFS pointer, not the model\n  hint: run `git lfs pull` in the repository of the file"
    )]
    LfsPointer,
    /// Neither a GLB nor JSON.
    #[error(
        "byte 0: neither `glTF` nor a JSON object begins here\n  hint: check that it is a glTF file, then copy or export it again"
    )]
    NotGltf,
    /// The file is shorter than stated in it.
    #[error(
        "byte {offset}: the {what} needs {expected} bytes, the file has {found}\n  hint: copy or export the file again: its end is missing"
    )]
    Truncated {
        /// The offset of the part.
        offset: usize,
        /// Which part.
        what: &'static str,
        /// Its length as stated.
        expected: u64,
        /// What is left of the file.
        found: u64,
    },
    /// A GLB with a stated length below that of its header.
    #[error("byte 8: the header states a length of {stated} bytes, and the header alone needs {needed}")]
    Length {
        /// The stated length.
        stated: u64,
        /// The minimum length.
        needed: u64,
    },
    /// A GLB whose first chunk is not JSON.
    #[error("byte 16: the first chunk is not `JSON`")]
    FirstChunk,
    /// Another version of the format.
    #[error("glTF version `{found}` is not supported, only 2.x")]
    Version {
        /// The version as written.
        found: String,
    },
    /// JSON that does not parse.
    #[error("byte {offset}: {reason}")]
    Json {
        /// Where the JSON text begins in the file.
        offset: usize,
        /// The message of the parser, with line and column within that text.
        reason: String,
    },
    /// A value that violates the specification.
    #[error("`{path}`: {reason}")]
    Value {
        /// The JSON path.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// An index past the end of the list it points into.
    #[error("`{path}`: there is no `{list}[{index}]`, only {count}")]
    OutOfRange {
        /// The JSON path of the index.
        path: String,
        /// The list it points into.
        list: &'static str,
        /// The index.
        index: u64,
        /// The length of the list.
        count: usize,
    },
    /// A node that is its own ancestor.
    #[error("`nodes[{node}]` is its own ancestor")]
    Cycle {
        /// The node.
        node: usize,
    },
    /// A node with two parents, or twice with the same parent.
    #[error("`nodes[{node}]` is a child of `nodes[{first}]` and of `nodes[{second}]`")]
    TwoParents {
        /// The child.
        node: usize,
        /// The first parent.
        first: usize,
        /// The second parent.
        second: usize,
    },
    /// An accessor or a buffer view beyond the end of its bytes.
    #[error("`{path}`: it ends at byte {end} of {length}")]
    Bounds {
        /// The JSON path.
        path: String,
        /// One past its last byte; `u64::MAX` on overflow.
        end: u64,
        /// The number of bytes available.
        length: u64,
    },
    /// An accessor of another type than its use requires.
    #[error("`{path}`: {found} where {expected} is needed")]
    Element {
        /// The JSON path of the accessor.
        path: String,
        /// The required type.
        expected: &'static str,
        /// The type found.
        found: String,
    },
    /// A number that is infinite or not a number.
    #[error("`{path}`: item {item} is not finite")]
    NotFinite {
        /// The JSON path of the accessor or property.
        path: String,
        /// The element within it.
        item: usize,
    },
    /// A limit of this program was exceeded.
    #[error("`{path}`: {found} exceeds the limit {limit_name} of {limit}")]
    Limit {
        /// The JSON path.
        path: String,
        /// The constant's name.
        limit_name: &'static str,
        /// Its value.
        limit: u64,
        /// The number found.
        found: u64,
    },
    /// The memory budget of the file was exceeded.
    #[error(transparent)]
    Memory(#[from] crate::memory_budget::OverBudget),
    /// A file that the document names and that cannot be read.
    #[error("`{path}`: `{uri}` {reason}")]
    Resource {
        /// The JSON path.
        path: String,
        /// The URI, shortened.
        uri: String,
        /// The reason.
        reason: String,
    },
    /// Data in a compression that this program does not decode.
    #[error(
        "`{path}`: compressed with `{extension}`\n  hint: decompress the file first, for example with `gltf-transform copy`"
    )]
    Compressed {
        /// The JSON path of the buffer view.
        path: String,
        /// The extension's name.
        extension: &'static str,
    },
    /// The file has no nodes.
    #[error("`nodes`: the file has no nodes")]
    NoNodes,
}

impl GltfError {
    /// `Err` if the error is about memory, else `Ok`: other errors may be tolerated, but this one has to end the reading.
    ///
    /// # Errors
    /// Itself.
    pub fn unless_memory(self) -> Result<Self, Self> {
        if matches!(self, Self::Memory(_)) { Err(self) } else { Ok(self) }
    }

    /// A [`GltfError::Value`]. JSON parsers quote what they found, which may be a buffer of megabytes: a long reason is shortened to
    /// its start and end.
    pub fn value(path: impl Into<String>, reason: impl Into<String>) -> Self {
        let mut reason: String = reason.into();
        let cut = |n: usize| reason.char_indices().nth(n).map(|at| at.0);
        let letters = reason.chars().count();
        if let (true, Some(start), Some(end)) = (letters > 300, cut(150), cut(letters.saturating_sub(100))) {
            reason = format!("{}...{}", &reason[..start], &reason[end..]);
        }
        Self::Value { path: path.into(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_does_not_grow_with_the_quoted_text() {
        let message = |n: usize| {
            let quoted = "\u{e4}".repeat(n);
            let reason = format!("invalid type: string \"{quoted}\", expected struct Buffer");
            GltfError::value("buffers[0]", reason).to_string()
        };
        assert!(message(100).contains(&"\u{e4}".repeat(100)));
        assert!(
            message(100_000).chars().count() < 400
                && message(100_000).starts_with("`buffers[0]`: invalid type: ")
        );
        assert!(message(100_000).ends_with("\u{e4}\", expected struct Buffer"));
    }
}
