//! Members of tar archives, read as files in a folder with the name of the archive: `shard-000.tar/walk.bvh`.
//!
//! Nothing is unpacked: the headers of an archive are read once, a member is a part of its file. The layout is that of POSIX
//! (ustar and pax) and GNU tar, read by the crate `tar`. A `.tar.zst` cannot be read at any place: it is decompressed once into a
//! temporary file that has no name. Other compressed archives are not read.

use super::zst_archive;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How names of archives that are read end.
const ARCHIVES: [&str; 2] = [".tar", COMPRESSED_TAR];
/// How the name of an archive ends that is decompressed.
const COMPRESSED_TAR: &str = ".tar.zst";
/// How names of compressed archives end.
const COMPRESSED: [&str; 5] = [".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.lz4"];
/// Longest header of one member with its extended names, bytes. Paths have at most 4,096; a hostile header could claim any size.
const MAX_HEADER: u64 = 1 << 20;
/// Most members of one archive. Shards of data sets have a thousand to a hundred thousand.
const MAX_MEMBERS: usize = 1 << 22;
/// Archives whose members are kept in memory: threads work on one or two archives at a time.
const KEPT: usize = 8;

/// The members of an archive.
#[derive(Debug)]
pub struct TarIndex {
    /// By name, with `/`: the first byte of the content and its length.
    members: BTreeMap<String, (u64, u64)>,
    /// Names of members that are not read, each with the reason.
    left_out: Vec<(String, &'static str)>,
    /// The content of a compressed archive.
    decompressed: Option<Arc<File>>,
}

impl TarIndex {
    /// The names of the members, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The members that are not read, and why.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.left_out.iter().map(|(name, reason)| (name.as_str(), *reason))
    }

    fn read(file: &File) -> io::Result<Self> {
        let (length, left) = (file.metadata()?.len(), Cell::new(MAX_HEADER));
        let mut archive = tar::Archive::new(Headers { file, left: &left });
        let (mut members, mut left_out) = (BTreeMap::new(), Vec::new());
        for entry in archive.entries_with_seek()? {
            let entry = entry?;
            left.set(MAX_HEADER);
            if members.len() + left_out.len() >= MAX_MEMBERS {
                return Err(io::Error::other(format!("it has more than {MAX_MEMBERS} members")));
            }
            let kind = entry.header().entry_type();
            if kind.is_dir() || kind.is_pax_global_extensions() {
                continue;
            }
            let (start, size) = (entry.raw_file_position(), entry.size());
            if start.checked_add(size).is_none_or(|end| end > length) {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the archive ends inside a member"));
            }
            match plain_name(&entry.path_bytes()) {
                Err((name, reason)) => left_out.push((name, reason)),
                Ok(name) if !kind.is_file() => {
                    left_out.push((name, "it is a link, a sparse file or a device"))
                }
                // As `tar -x` does, the last member of a name wins.
                Ok(name) => _ = members.insert(name, (start, size)),
            }
        }
        Ok(Self { members, left_out, decompressed: None })
    }
}

/// The name with `/` between its components; the reason if it is no name of a file in the archive.
fn plain_name(bytes: &[u8]) -> Result<String, (String, &'static str)> {
    let shown = || String::from_utf8_lossy(bytes).into_owned();
    let name = std::str::from_utf8(bytes).map_err(|_| (shown(), "its name is not UTF-8"))?;
    let mut parts = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().expect("a part of UTF-8")),
            _ => return Err((shown(), "its name leads out of the archive")),
        }
    }
    if parts.is_empty() { Err((shown(), "it has no name")) } else { Ok(parts.join("/")) }
}

/// The file of an archive; reading more than `left` bytes at once is an error, so that no header takes all memory.
struct Headers<'a> {
    file: &'a File,
    left: &'a Cell<u64>,
}

impl Read for Headers<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("the header of a member is too long"))?);
        Ok(read)
    }
}

impl Seek for Headers<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Whether a name is that of an archive that is read.
pub fn has_extension(name: &Path) -> bool {
    without_extension(name).is_some()
}

/// The name of an archive without its extension; `None` for other files.
fn without_extension(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    ARCHIVES.iter().find_map(|end| {
        let at = name.len().checked_sub(end.len()).filter(|at| *at > 0 && name.is_char_boundary(*at))?;
        name[at..].eq_ignore_ascii_case(end).then_some(&name[..at])
    })
}

/// What to do with `path`, if it is a compressed archive or a place in one.
pub fn compressed_hint(path: &Path) -> Option<String> {
    let name = |part: &Path| part.file_name().map(|name| name.to_string_lossy().into_owned());
    let known = |name: &String| COMPRESSED.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    let archive = path.ancestors().filter_map(name).find(known)?;
    Some(format!("decompress `{archive}`: a `.tar` is read without unpacking it"))
}

/// The relative path of what is made of the file at `path`: the folder of an archive has its name without its extension.
pub fn unarchived(path: &Path) -> PathBuf {
    let folders = path.components().count().saturating_sub(1);
    let name = |(at, part): (usize, Component<'_>)| {
        let name = Path::new(part.as_os_str()).to_owned();
        match without_extension(&name).filter(|_| at < folders) {
            Some(stem) => PathBuf::from(stem),
            None => name,
        }
    };
    path.components().enumerate().map(name).collect()
}

/// The archive that `path` is or leads into, and the rest of the path; `None` if no part of it is one.
pub fn split(path: &Path) -> Option<(&Path, &Path)> {
    let archive = path.ancestors().find(|part| has_extension(part) && part.is_file())?;
    Some((archive, path.strip_prefix(archive).ok()?))
}

/// The members of an archive.
///
/// # Errors
/// The error of the system; a file that is cut or that is no archive.
pub fn index(archive: &Path) -> io::Result<Arc<TarIndex>> {
    index_of(archive, &File::open(archive)?)
}

/// A part of a file that is read at a place of its own: several readers may share the file.
#[derive(Debug)]
struct Member {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Member {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(into.len());
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, &mut into[..most], self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, &mut into[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Opens the member at `path`, with its size in bytes; `None` if no part of the path is an archive.
///
/// # Errors
/// The error of the system; no member of that name.
pub fn open(path: &Path) -> Option<io::Result<(Box<dyn Read>, u64)>> {
    let (archive, rest) = split(path)?;
    Some(open_member(archive, rest))
}

fn open_member(archive: &Path, rest: &Path) -> io::Result<(Box<dyn Read>, u64)> {
    let mut file = File::open(archive)?;
    let index = index_of(archive, &file)?;
    let name = plain_name(rest.as_os_str().as_encoded_bytes()).ok();
    let (start, size) = name
        .and_then(|name| index.members.get(&name).copied())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the archive has no member of that name"))?;
    if let Some(content) = &index.decompressed {
        let member = Member { file: Arc::clone(content), at: start, end: start + size };
        return Ok((Box::new(member), size));
    }
    file.seek(SeekFrom::Start(start))?;
    Ok((Box::new(file.take(size)), size))
}

/// What the system knows of the file at `path`, of a member: of its archive.
///
/// # Errors
/// The error of the system.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    std::fs::metadata(path).or_else(|error| match split(path) {
        Some((archive, _)) => std::fs::metadata(archive),
        None => Err(error),
    })
}

/// The members of the open archive; those of the last few archives are remembered while their files stay the same.
fn index_of(path: &Path, file: &File) -> io::Result<Arc<TarIndex>> {
    type IndexedArchive = (PathBuf, u64, Option<SystemTime>, Arc<TarIndex>);
    static KNOWN: Mutex<Vec<IndexedArchive>> = Mutex::new(Vec::new());
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is a folder, a pipe or a device, not an archive"));
    }
    let (length, time) = (found.len(), found.modified().ok());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |k: &IndexedArchive| k.0 == path && k.1 == length && k.2 == time && time.is_some();
    if let Some(at) = known.iter().position(same) {
        let this = known.remove(at);
        known.push(this);
        return Ok(Arc::clone(&known.last().expect("it was just added").3));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let index = match name.ends_with(COMPRESSED_TAR) {
        true => {
            let content = zst_archive::decompressed(file)?;
            TarIndex { decompressed: Some(Arc::new(content.try_clone()?)), ..TarIndex::read(&content)? }
        }
        false => TarIndex::read(file)?,
    };
    let index = Arc::new(index);
    known.retain(|k| k.0 != path);
    if known.len() >= KEPT {
        known.remove(0);
    }
    known.push((path.to_owned(), length, time, Arc::clone(&index)));
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An archive of members with these names and contents.
    fn archive(folder: &Path, members: &[(&str, &[u8])]) -> PathBuf {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        let path = folder.join("a.tar");
        fs::write(&path, builder.into_inner().unwrap()).unwrap();
        path
    }

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        let (mut file, size) = open(path).expect("the path leads into an archive")?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        assert_eq!(bytes.len() as u64, size);
        Ok(bytes)
    }

    /// Header of a member whose name is written as it is.
    fn raw_header(name: &[u8], size: u64, kind: tar::EntryType) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_entry_type(kind);
        header.set_cksum();
        header.as_bytes().to_vec()
    }

    #[test]
    fn members_are_read_as_they_went_in_and_the_last_of_a_name_wins() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("{}/b.bvh", "deep/".repeat(60).trim_end_matches('/'));
        let big = vec![7; 5000];
        let path =
            archive(folder.path(), &[("x.bvh", b"old"), (&long, &big), ("./x.bvh", b"new"), ("empty", b"")]);
        let names: Vec<String> = index(&path).unwrap().names().map(str::to_owned).collect();
        assert_eq!(names, [long.as_str(), "empty", "x.bvh"]);
        assert_eq!(read(&path.join("x.bvh")).unwrap(), b"new");
        assert_eq!(read(&path.join("./x.bvh")).unwrap(), b"new");
        assert_eq!(read(&path.join(&long)).unwrap(), big);
        assert_eq!(read(&path.join("empty")).unwrap(), b"");
        assert_eq!(read(&path.join("y.bvh")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(open(&folder.path().join("none.tar/x.bvh")).is_none());
        // An archive that was replaced is read anew.
        archive(folder.path(), &[("y.bvh", b"another")]);
        assert_eq!(read(&path.join("y.bvh")).unwrap(), b"another");
        assert!(read(&path.join("x.bvh")).is_err());
    }

    #[test]
    fn members_of_a_compressed_archive_are_read_side_by_side() {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        let folder = tempfile::tempdir().unwrap();
        let members: [(&str, &[u8]); 3] = [("a.bvh", &[1; 5000]), ("deep/b.bvh", &[2; 700]), ("c.bvh", b"")];
        let plain = archive(folder.path(), &members);
        let path = folder.path().join("shard.000.tar.zst");
        fs::write(&path, compress_to_vec(&fs::read(&plain).unwrap()[..], CompressionLevel::Fastest)).unwrap();
        let names: Vec<String> = index(&path).unwrap().names().map(str::to_owned).collect();
        assert_eq!(names, ["a.bvh", "c.bvh", "deep/b.bvh"]);
        let (mut one, _) = open(&path.join("a.bvh")).unwrap().unwrap();
        let mut start = [0; 10];
        one.read_exact(&mut start).unwrap();
        for (name, bytes) in members {
            assert_eq!(read(&path.join(name)).unwrap(), bytes);
        }
        let mut rest = Vec::new();
        one.read_to_end(&mut rest).unwrap();
        assert_eq!((start.as_slice(), rest.len()), (&[1; 10][..], 4990));
        assert!(has_extension(Path::new("x.TAR.ZST")) && !has_extension(Path::new("x.zst")));
    }

    #[test]
    fn names_that_lead_out_and_links_are_left_out_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar");
        let mut bytes = Vec::new();
        for name in [&b"../a.bvh"[..], b"/etc/a.bvh", b"caf\xe9.bvh"] {
            bytes.extend(raw_header(name, 0, tar::EntryType::Regular));
        }
        bytes.extend(raw_header(b"link.bvh", 0, tar::EntryType::Symlink));
        bytes.extend(raw_header(b"folder/", 0, tar::EntryType::Directory));
        bytes.extend(raw_header(b"good.bvh", 0, tar::EntryType::Regular));
        fs::write(&path, bytes).unwrap();
        let index = index(&path).unwrap();
        assert_eq!(index.names().collect::<Vec<_>>(), ["good.bvh"]);
        let reasons: Vec<&str> = index.left_out().map(|(_, reason)| reason).collect();
        let out = "its name leads out of the archive";
        assert_eq!(reasons, [out, out, "its name is not UTF-8", "it is a link, a sparse file or a device"]);
        assert!(read(&path.join("../a.bvh")).is_err());
    }

    #[test]
    fn an_archive_that_is_cut_or_lies_about_its_sizes_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), &[("x.bvh", &[1; 700]), ("y.bvh", &[2; 700])]);
        let whole = fs::read(&path).unwrap();
        let (first, second) = (512 + 700, 512 + 1024 + 512 + 700);
        for cut in 1..second {
            fs::write(&path, &whole[..cut]).unwrap();
            let found = TarIndex::read(&File::open(&path).unwrap()).map(|index| index.members.len());
            // A cut between two members is the archive of those before it.
            let expected = [(first..=1536).contains(&cut)];
            assert_eq!([found.is_ok()], expected, "{cut}: {found:?}");
        }
        for size in [1 << 20, u64::MAX >> 1, 1 << 62] {
            let mut bytes = raw_header(b"x.bvh", size, tar::EntryType::Regular);
            bytes.extend([0; 512]);
            fs::write(&path, &bytes).unwrap();
            assert!(TarIndex::read(&File::open(&path).unwrap()).is_err(), "{size}");
        }
        // The name of a member as long as a film.
        let file = File::create(&path).unwrap();
        io::Write::write_all(&mut &file, &raw_header(b"././@LongLink", 1 << 30, tar::EntryType::GNULongName))
            .unwrap();
        file.set_len(1 << 31).unwrap();
        let error = TarIndex::read(&File::open(&path).unwrap()).unwrap_err().to_string();
        assert!(error.contains("too long"), "{error}");
    }

    #[test]
    fn outputs_lie_in_folders_and_compressed_archives_have_a_hint() {
        for (path, expected) in [
            ("s/000.tar/x/a.bvh", "s/000/x/a.bvh"),
            ("a.tar", "a.tar"),
            ("b.TAR/c.tar", "b/c.tar"),
            ("c.d.Tar.zst/e.bvh", "c.d/e.bvh"),
        ] {
            assert_eq!(unarchived(Path::new(path)), Path::new(expected));
        }
        let hint = compressed_hint(Path::new("s/000.tar.gz/a.bvh")).unwrap();
        assert_eq!(hint, "decompress `000.tar.gz`: a `.tar` is read without unpacking it");
        assert!(compressed_hint(Path::new("s/000.gz/a.bvh")).is_none());
    }
}
