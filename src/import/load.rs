//! Reads a file into an asset.

use super::bvh;
use super::format::{HEAD, SourceFile, format_of};
use super::import_error::ImportError;
use super::import_options::{Calibrate, ImportOptions};
use super::neutral_pose::neutralize;
use super::robot::{import_motion, make_robot};
use crate::model::{Asset, BodyMass};
use crate::regular_file::open_regular;
use crate::report::io_reason;
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Reads one file.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub fn load(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Asset, ImportError> {
    let path = path.as_ref();
    match load_blocks(path, options, &mut |_| ())? {
        Some(asset) => Ok(asset),
        None => from_shared(&Arc::new(read(path)?), path, options),
    }
}

/// Reads a long text block by block, so that it is never in memory with its frames; `seen` gets all of its bytes. `None` for
/// any other file, which is read whole.
///
/// # Errors
/// An [`ImportError`] with the position in the file.
pub(crate) fn load_blocks(
    path: &Path,
    options: &ImportOptions,
    seen: &mut dyn FnMut(&[u8]),
) -> Result<Option<Asset>, ImportError> {
    if !extension(path).eq_ignore_ascii_case("bvh") {
        return Ok(None);
    }
    let (mut file, size) = open(path)?;
    if !(LONG..=MAX_FILE_BYTES).contains(&size) {
        return Ok(None);
    }
    let asset = bvh::import_blocks(&mut file, size, &stem(path), options, seen);
    asset.map(|asset| finished(asset?, options)).transpose()
}

/// Bytes of a text from which it is read block by block: a minute of 60 joints at 120 Hz. With half of it the blocks of short
/// takes are most of their files; with double, texts of 25 MB are next to their frames.
const LONG: u64 = 12 << 20;

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default()
}

fn stem(path: &Path) -> Cow<'_, str> {
    path.file_stem().unwrap_or_default().to_string_lossy()
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
    Ok(format_of(&head, extension(path))?.name)
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

/// Largest file that is read, bytes: the limit of GLB. A text file of three hours at 120 Hz is a tenth of it.
pub const MAX_FILE_BYTES: u64 = u32::MAX as u64;

fn too_large(size: u64) -> String {
    format!("it has {size} bytes, at most {MAX_FILE_BYTES} are read (`MAX_FILE_BYTES`)")
}

/// Opens a regular file, with its size; pipes and devices, which may never end, are errors.
fn open(path: &Path) -> Result<(Box<dyn Read>, u64), ImportError> {
    let fault = |reason: String| ImportError::Read { path: path.to_owned(), reason };
    let unreadable = |error: std::io::Error| fault(io_reason(&error));
    match open_regular(path).map_err(unreadable)? {
        (_, size) if size > MAX_FILE_BYTES => Err(fault(too_large(size))),
        opened => Ok(opened),
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
    let (name, extension) = (&stem(path), extension(path));
    from_source(&SourceFile { bytes, shared, name, extension, folder: path.parent() }, options)
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
    let extension = extension.unwrap_or_default();
    from_source(&SourceFile { bytes, shared: None, name, extension, folder }, options)
}

fn from_source(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let extension = source.extension;
    if let Some(robot) = &options.robot
        && ["csv", "npz"].iter().any(|known| known.eq_ignore_ascii_case(extension))
    {
        return import_motion(source, robot, options);
    }
    finished((format_of(source.bytes, extension)?.read)(source, options)?, options)
}

/// The content of a file of any format, as the options ask for it.
fn finished(mut asset: Asset, options: &ImportOptions) -> Result<Asset, ImportError> {
    if options.calibration == Calibrate::Auto {
        neutralize(&mut asset);
    }
    if let Some(robot) = &options.robot {
        make_robot(&mut asset, robot, options)?;
    }
    if options.mass != BodyMass::default() {
        Arc::make_mut(&mut asset.character).mass = options.mass;
    }
    Ok(asset)
}
