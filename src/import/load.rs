//! Reads a file into an asset.

use super::asf_amc::AsfError;
use super::bvh::BvhError;
use super::bvh::Positions;
use super::format::{HEAD, SourceFile, format_of};
#[cfg(feature = "formats")]
use super::npz::NpzError;
use super::reference_pose::Calibrate;
use crate::anatomy::{Vocabulary, Word};
use crate::gltf_document::GltfError;
use crate::math::Vec3;
use crate::memory_budget::{MemoryBudget, OverBudget};
use crate::model::Asset;
use crate::report::io_reason;
use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpAxis {
    /// +Y.
    Y,
    /// +Z.
    Z,
}

impl UpAxis {
    pub(super) fn vector(self) -> Vec3 {
        match self {
            UpAxis::Y => Vec3::y(),
            UpAxis::Z => Vec3::z(),
        }
    }
}

/// User-specified properties of files, for formats that do not state them (BVH), and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Metres per unit; `None`: estimated from the figure.
    pub units: Option<f64>,
    /// The up axis of rest pose and motion; `None`: detected from both.
    pub up: Option<UpAxis>,
    /// How position channels and offsets are combined; `None`: decided from the data.
    pub bvh_positions: Option<Positions>,
    /// The reference pose, in which the body is compared with others.
    pub calibration: Calibrate,
    /// Words of joint names, in addition to the built-in ones.
    pub words: Vec<Word>,
    /// Frames per second of files that do not state it (AMC), positive; `None`: the format's usual rate.
    pub rate: Option<f64>,
    /// The ASF file of AMC files; `None`: looked up in the folder of each.
    pub skeleton: Option<PathBuf>,
    /// The body model of SMPL motions; `None`: a neutral figure.
    pub body_model: Option<PathBuf>,
    /// What reading one file may take of memory, bytes; `None`: an amount that grows with the file's size, up to
    /// `memory_budget::MAX_MEMORY`.
    pub memory: Option<u64>,
}

impl ImportOptions {
    /// The words by which joint names are parsed.
    pub(super) fn vocabulary(&self) -> Cow<'static, Vocabulary> {
        let built_in = Vocabulary::built_in();
        // Copies some hundred words per file, only if there are words to add.
        if self.words.is_empty() { Cow::Borrowed(built_in) } else { Cow::Owned(built_in.with(&self.words)) }
    }

    /// What a file of these bytes may take of memory.
    pub(super) fn budget(&self, bytes: &[u8]) -> MemoryBudget {
        MemoryBudget::new(bytes.len() as u64, self.memory)
    }
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("`{}` cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// More memory than the file may take.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// The content is of no known format.
    #[error("`{name}` cannot be read: {what}")]
    Unknown {
        /// The name of the file.
        name: String,
        /// What it appears to be, by its first bytes and its extension, and what to do.
        what: String,
    },
    /// The frame to calibrate by is not there.
    #[error(
        "there is no frame {frame} to calibrate by: the take has {frames} frames, counted from 0\n  hint: `input.calibration.frame` is the number of a frame in which the figure stands in a T-pose"
    )]
    CalibrationFrame {
        /// The frame that was asked for.
        frame: usize,
        /// Frames of the take.
        frames: usize,
    },
    /// The file to calibrate by cannot be read.
    #[error("`{}`, the file to calibrate by: {error}", path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<ImportError>,
    },
    /// The file to calibrate by is of another skeleton.
    #[error(
        "no joint of the take has the name of a joint in `{}`\n  hint: `input.calibration.file` is a take of the same skeleton", path.display()
    )]
    CalibrationFile {
        /// The file.
        path: PathBuf,
    },
    /// A fault of an archive of arrays.
    #[cfg(feature = "formats")]
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// A fault of an ASF or AMC file.
    #[error(transparent)]
    Asf(#[from] AsfError),
    /// A fault of a BVH file.
    #[error(transparent)]
    Bvh(#[from] BvhError),
    /// An FBX file that cannot be read.
    #[error(
        "the FBX reader says: {reason}\n  hint: FBX 3.0 to 7.7 are read, binary and ASCII; save the file anew where it opens"
    )]
    Fbx {
        /// The message of the reader.
        reason: String,
    },
    /// A fault of a glTF file.
    #[error(transparent)]
    Gltf(#[from] GltfError),
}

/// Reads one file.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub fn load(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Asset, ImportError> {
    let path = path.as_ref();
    from_shared(&Arc::new(read(path)?), path, options)
}

/// The name of the format of one file, by its first bytes and its extension.
///
/// # Errors
/// A file that cannot be read, and one of no known format.
pub fn format_name(path: &Path) -> Result<&'static str, ImportError> {
    let unreadable =
        |reason: std::io::Error| ImportError::Read { path: path.to_owned(), reason: io_reason(&reason) };
    let mut head = Vec::new();
    open(path)?.0.take(HEAD as u64).read_to_end(&mut head).map_err(unreadable)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    Ok(format_of(&head, &path.file_name().unwrap_or_default().to_string_lossy(), extension)?.name)
}

/// The bytes of one file.
///
/// # Errors
/// [`ImportError::Read`] with the message of the operating system.
pub fn read(path: &Path) -> Result<Vec<u8>, ImportError> {
    let fault = |reason: String| ImportError::Read { path: path.to_owned(), reason };
    let (file, size) = open(path)?;
    let mut bytes = Vec::with_capacity(size as usize);
    // A file may grow while it is read.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fault(io_reason(&error)))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(fault(too_large(bytes.len() as u64)));
    }
    Ok(bytes)
}

/// The largest file that is read, bytes: what a GLB can hold. A take of three hours at 120 Hz has a tenth of it as text.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

fn too_large(size: u64) -> String {
    format!("it has {size} bytes, at most {MAX_FILE_BYTES} are read (`MAX_FILE_BYTES`)")
}

/// Opens a regular file, with its size; pipes and devices, which may never end, are errors.
fn open(path: &Path) -> Result<(File, u64), ImportError> {
    let fault = |reason: String| ImportError::Read { path: path.to_owned(), reason };
    let unreadable = |error: std::io::Error| fault(io_reason(&error));
    // Checked before opening: opening a pipe blocks until something writes to it.
    let size = std::fs::metadata(path).map_err(unreadable)?;
    if !size.is_file() {
        let what = if size.is_dir() { "it is a folder" } else { "it is a pipe or a device, not a file" };
        return Err(fault(what.into()));
    }
    match size.len() {
        size if size > MAX_FILE_BYTES => Err(fault(too_large(size))),
        size => Ok((File::open(path).map_err(unreadable)?, size)),
    }
}

/// Reads `bytes`, which were read from the file at `path`.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub fn from_file(bytes: &[u8], path: &Path, options: &ImportOptions) -> Result<Asset, ImportError> {
    of_path(bytes, None, path, options)
}

/// As [`from_file`], where a glTF or FBX document keeps the bytes without a copy.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub(crate) fn from_shared(
    bytes: &Arc<Vec<u8>>,
    path: &Path,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    of_path(bytes, Some(bytes), path, options)
}

fn of_path(
    bytes: &[u8],
    shared: Option<&Arc<Vec<u8>>>,
    path: &Path,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    let name = &path.file_stem().unwrap_or_default().to_string_lossy();
    let source = SourceFile { bytes, shared, name, folder: path.parent() };
    from_source(&source, path.extension().and_then(|e| e.to_str()), options)
}

/// Reads the content of one file called `name`. Relative URIs of a glTF are resolved in `folder`.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub fn from_bytes(
    bytes: &[u8],
    name: &str,
    extension: Option<&str>,
    folder: Option<&Path>,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    from_source(&SourceFile { bytes, shared: None, name, folder }, extension, options)
}

fn from_source(
    source: &SourceFile,
    extension: Option<&str>,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    let (name, extension) = (source.name, extension.unwrap_or_default());
    let file = if extension.is_empty() { name.to_owned() } else { format!("{name}.{extension}") };
    (format_of(source.bytes, &file, extension)?.read)(source, options)
}
