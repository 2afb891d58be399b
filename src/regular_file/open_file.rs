//! Opens regular files only, with a limit on their size.
//!
//! A pipe may never be written to, and a device may never end: both are refused before they are opened. A member of a tar
//! archive is a regular file.

use super::tar_archive;
use crate::report::{Shown, nearest};
use std::ffi::OsString;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest text that is read whole, bytes: pipelines, joint maps, scenes, tables of contacts and effectors, lists of takes. An
/// hour of effector keys at 240 Hz has 50 MB, a list of a million takes 100 MB.
pub const MAX_TEXT_BYTES: u64 = 1 << 28;

/// Most names of a folder that are compared with one that is not there: more would keep the user waiting for a message.
const MOST_COMPARED: usize = 10_000;

/// Opens a regular file or a member of an archive, with its size in bytes. Symbolic links are followed.
///
/// # Errors
/// The error of the system; a folder, a pipe and a device.
pub fn open_regular(path: &Path) -> io::Result<(Box<dyn Read>, u64)> {
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) => return tar_archive::open(path).unwrap_or(Err(error)),
    };
    refuse_others(found.file_type())?;
    let file = File::open(path)?;
    let found = file.metadata()?;
    refuse_others(found.file_type())?;
    // A file may grow while it is read: its end is where it is then.
    Ok((Box::new(file), found.len()))
}

/// Whether there is a file at `path`, or a member of an archive.
pub fn is_there(path: &Path) -> bool {
    path.is_file() || tar_archive::open(path).is_some_and(|opened| opened.is_ok())
}

/// "did you mean `walk.bvh`?" as the hint of a message that there is no file at `path`, which the user called `written`; empty if
/// no file of this extension beside it has a similar name.
pub fn similar_file(path: &Path, written: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MOST_COMPARED).flatten();
    let files = entries.map(|entry| PathBuf::from(entry.file_name()));
    // The extension that all of them share says nothing of how similar they are.
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut stems: Vec<String> =
        files.filter(|file| file.extension() == path.extension()).map(|file| stem(&file)).collect();
    stems.sort();
    let Some(near) = nearest(&stem(path), stems.iter().map(String::as_str)) else { return String::new() };
    let mut name = OsString::from(near);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    format!("\n  hint: did you mean `{}`?", written.with_file_name(name).shown())
}

/// The bytes of a regular file of at most `most` bytes.
///
/// # Errors
/// Those of [`open_regular`], and a larger file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_regular(path)?;
    let too_large = |size: u64| io::Error::other(format!("it has {size} bytes, at most {most} are read"));
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // A file may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

/// The text of a regular file of at most [`MAX_TEXT_BYTES`].
///
/// # Errors
/// Those of [`read_regular`], and a text that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_regular(path, MAX_TEXT_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text: save it as UTF-8"))
}

/// Opens a file of the program's own in an output folder. A symbolic link is refused, so that no file elsewhere is changed.
///
/// # Errors
/// The error of the system; a symbolic link, a folder, a pipe and a device.
pub fn open_own(path: &Path, how: &OpenOptions) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => refuse_others(found.file_type())?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    how.open(path)
}

fn refuse_others(kind: FileType) -> io::Result<()> {
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "it is a folder",
        kind if kind.is_symlink() => "it is a symbolic link, not a file",
        _ => "it is a pipe or a device, not a file",
    };
    Err(io::Error::other(what))
}

/// A folder by a name that the system knows: the folder of a bare file name is an empty path.
pub fn named_folder(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// The path of a regular file in `folder` or below, after symbolic links are resolved; `None` for any other.
#[cfg_attr(not(feature = "fbx"), allow(dead_code))]
pub fn regular_inside(folder: &Path, relative: &Path) -> Option<PathBuf> {
    let whole = std::fs::canonicalize(named_folder(folder)).ok()?;
    let path = std::fs::canonicalize(whole.join(relative)).ok()?;
    (path.starts_with(&whole) && path.is_file()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), b"12345").unwrap();
        assert_eq!(read_regular(&at("a"), 5).unwrap(), b"12345");
        assert_eq!(read_regular(&at("a"), 4).unwrap_err().to_string(), "it has 5 bytes, at most 4 are read");
        assert_eq!(read_text(folder.path()).unwrap_err().to_string(), "it is a folder");
        std::fs::write(at("b"), [0xff]).unwrap();
        assert_eq!(read_text(&at("b")).unwrap_err().to_string(), "it is not UTF-8 text: save it as UTF-8");
        assert_eq!(read_text(&at("c")).unwrap_err().kind(), io::ErrorKind::NotFound);
        #[cfg(unix)]
        {
            let device = read_text(Path::new("/dev/zero")).unwrap_err();
            assert_eq!(device.to_string(), "it is a pipe or a device, not a file");
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_own_file_is_no_link_and_a_file_inside_does_not_leave_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, outside) = (folder.path().join("in"), folder.path().join("secret"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(&outside, b"no").unwrap();
        std::fs::write(inner.join("a"), b"yes").unwrap();
        for (link, to) in [("out", &outside), ("same", &inner.join("a"))] {
            std::os::unix::fs::symlink(to, inner.join(link)).unwrap();
        }
        let mut how = OpenOptions::new();
        how.create(true).read(true).append(true);
        assert!(open_own(&inner.join("out"), &how).is_err() && open_own(&inner.join("new"), &how).is_ok());
        let inside = |name: &str| regular_inside(&inner, Path::new(name));
        assert!(inside("a").is_some() && inside("same").is_some());
        assert!(inside("out").is_none() && inside("../secret").is_none() && inside(".").is_none());
    }
}
