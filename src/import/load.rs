//! Reads a file into an asset.

use super::bvh;
use super::format::{HEAD, SourceFile, format_of};
use super::import_error::ImportError;
use super::import_options::{Calibrate, ImportOptions};
use super::neutral_pose::neutralize;
use super::robot::{import_motion, make_robot};
use crate::memory_budget::{MemoryBudget, OverWork};
use crate::model::{Asset, BodyMass};
use crate::regular_file::open_regular;
use crate::report::{counted, io_reason};
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
    let Some(asset) = bvh::import_blocks(&mut file, size, &stem(path), options, seen) else {
        return Ok(None);
    };
    let asset = asset?;
    check_work(&asset, size, options)?;
    finished(asset, options).map(Some)
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
    Ok(format_of(&head(path)?, extension(path))?.name)
}

/// The first bytes of a file, at most [`HEAD`].
fn head(path: &Path) -> Result<Vec<u8>, ImportError> {
    let unreadable =
        |reason: std::io::Error| ImportError::Read { path: path.to_owned(), reason: io_reason(&reason) };
    let mut head = Vec::new();
    open(path)?.0.take(HEAD as u64).read_to_end(&mut head).map_err(unreadable)?;
    Ok(head)
}

/// By what the format of a file is known, the least certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FormatKnownBy {
    /// It is not known, or the file cannot be read.
    Nothing,
    /// The extension alone.
    Extension,
    /// The first bytes.
    Content,
}

impl FormatKnownBy {
    /// How that of this file is known.
    pub(crate) fn of(path: &Path) -> Self {
        let Ok(head) = head(path) else { return Self::Nothing };
        match format_of(&head, extension(path)) {
            Ok(format) if (format.recognise)(&head) => Self::Content,
            Ok(_) => Self::Extension,
            Err(_) => Self::Nothing,
        }
    }
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
    let of_robot = ["csv", "npz"].iter().any(|known| known.eq_ignore_ascii_case(extension));
    let robot = options.robot.as_ref().filter(|_| of_robot);
    let asset = match robot {
        Some(robot) => import_motion(source, robot, options)?,
        None => (format_of(source.bytes, extension)?.read)(source, options)?,
    };
    check_work(&asset, source.bytes.len() as u64, options)?;
    if robot.is_some() { Ok(asset) } else { finished(asset, options) }
}

/// Steps of work that a frame may need once it is read: retargeting one takes up to 180 microseconds of processor time. The
/// smallest file may so have eleven minutes at 60 Hz.
const STEPS_PER_FRAME: u64 = 200;

/// Steps of work that a clip may need besides its frames: preparing the bodies for one takes 5 milliseconds.
const STEPS_PER_CLIP: u64 = 10_000;

/// Refuses a file of `bytes` bytes with more frames and clips than it may have: keys days apart, frames of two bytes.
fn check_work(asset: &Asset, bytes: u64, options: &ImportOptions) -> Result<(), OverWork> {
    let resources = asset.character.document.iter().flat_map(|document| &document.resources);
    let beside = resources.chain(&asset.companions).map(|(_, content)| content.len() as u64).sum::<u64>();
    let frames = asset.clips.iter().map(|clip| clip.frames() as u64).sum::<u64>();
    let clips = asset.clips.len() as u64;
    let steps = frames.saturating_mul(STEPS_PER_FRAME).saturating_add(clips * STEPS_PER_CLIP);
    let what =
        || format!("a file of {} and {}", counted(frames as usize, "frame"), counted(clips as usize, "clip"));
    MemoryBudget::new(bytes + beside, options.memory).work(steps, what)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_two_bytes_are_refused_where_they_are_too_many() {
        let text = |frames: usize| {
            let head = "HIERARCHY ROOT hips { OFFSET 0 0 0 CHANNELS 1 Xrotation End Site { OFFSET 0 1 0 } }";
            format!("{head}\nMOTION\nFrames: {frames}\nFrame Time: 0.01\n{}", "0\n".repeat(frames))
        };
        let read = |frames: usize, memory: Option<u64>| {
            let options = ImportOptions { memory, ..ImportOptions::default() };
            from_bytes(text(frames).as_bytes(), "still", Some("bvh"), None, &options)
        };
        assert!(read(36_000, None).is_ok());
        let error = read(200_000, None).unwrap_err();
        assert!(matches!(error, ImportError::Work(_)), "{error}");
        let said = error.to_string();
        assert!(said.starts_with("a file of 200000 frames and 1 clip needs "), "{said}");
        let enough = said.split("input.memory=").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
        assert_eq!(enough, "2GB");
        assert!(read(200_000, Some(2_000_000_000)).is_ok());
    }
}
