//! The numbers of a crate, the binary form of USD, for import and export.
//!
//! Source: Pixar's USD, `sdf/crateFile`, `sdf/crateDataTypes` and `sdf/types`.

/// The first bytes of a crate.
pub const MAGIC: &[u8; 8] = b"PXR-USDC";
/// What ends a set of fields.
pub const END: u32 = u32::MAX;
/// Bytes of the name of a section.
pub const SECTION_NAME: usize = 16;

/// Bit of the representation of a value: it is of a list (`ValueRep`).
pub const LIST: u64 = 1 << 63;
/// It is the value itself.
pub const INLINE: u64 = 1 << 62;
/// The list is compressed.
pub const COMPRESSED: u64 = 1 << 61;
/// The lowest bit of the type; those below are of the value or of its position.
pub const TYPE_SHIFT: u32 = 48;
/// The length from which lists of whole numbers are compressed.
pub const COMPRESSED_FROM: usize = 16;

/// Types of values.
pub mod kind {
    /// True or false.
    pub const BOOL: u8 = 1;
    /// A whole number of 32 bits.
    pub const INT: u8 = 3;
    /// A number of 32 bits.
    pub const FLOAT: u8 = 8;
    /// A number of 64 bits.
    pub const DOUBLE: u8 = 9;
    /// A text, as an index of the strings.
    pub const STRING: u8 = 10;
    /// A token, as its index.
    pub const TOKEN: u8 = 11;
    /// The path of a file, as an index of the tokens.
    pub const ASSET_PATH: u8 = 12;
    /// A matrix of 16 numbers of 64 bits.
    pub const MATRIX4D: u8 = 15;
    /// A quaternion: x, y, z, w of 32 bits.
    pub const QUATF: u8 = 17;
    /// Two numbers of 32 bits.
    pub const VEC2F: u8 = 20;
    /// Three numbers of 32 bits.
    pub const VEC3F: u8 = 24;
    /// Three numbers of 16 bits.
    pub const VEC3H: u8 = 25;
    /// Four numbers of 32 bits.
    pub const VEC4F: u8 = 28;
    /// An edited list of tokens.
    pub const TOKEN_LIST_OP: u8 = 32;
    /// An edited list of strings.
    pub const STRING_LIST_OP: u8 = 33;
    /// An edited list of paths.
    pub const PATH_LIST_OP: u8 = 34;
    /// Tokens that are no value of an attribute, such as names of children.
    pub const TOKEN_VECTOR: u8 = 41;
    /// What a prim is; 0 is a definition.
    pub const SPECIFIER: u8 = 42;
    /// Whether a value varies; 1 is uniform.
    pub const VARIABILITY: u8 = 44;
    /// Values over time.
    pub const TIME_SAMPLES: u8 = 46;
    /// Times.
    pub const DOUBLE_VECTOR: u8 = 48;
    /// Texts that are no value of an attribute.
    pub const STRING_VECTOR: u8 = 50;
}

/// Kinds of specs (`SdfSpecType`).
pub mod spec {
    /// An attribute of a prim.
    pub const ATTRIBUTE: u32 = 1;
    /// A prim.
    pub const PRIM: u32 = 6;
    /// The layer itself.
    pub const PSEUDO_ROOT: u32 = 7;
    /// A relationship of a prim.
    pub const RELATIONSHIP: u32 = 8;
}
