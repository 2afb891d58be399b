//! A compact list of takes, for batches of a hundred thousand files.
//!
//! File names are stored in one string, and a folder once for all its files.

use crate::pipeline::TakeFile;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A list of takes; each is made on request.
#[derive(Clone, Debug, Default)]
pub struct TakeList {
    /// In the order in which they were found.
    folders: Vec<PathBuf>,
    /// The names of all files, concatenated.
    names: String,
    takes: Vec<TakeEntry>,
}

/// One take of the list.
#[derive(Clone, Copy, Debug)]
struct TakeEntry {
    /// Where its name begins in the string of names.
    start: usize,
    /// Bytes of the name; 0 if the folder is the whole path, whose last component is not UTF-8.
    length: u32,
    /// The number of the folder.
    folder: u32,
    /// How many components of its path outputs keep, counted from the end.
    kept: u32,
}

impl TakeList {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.takes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.takes.is_empty()
    }

    /// The take with this number, from 0.
    ///
    /// # Panics
    /// If there is no such take.
    pub fn get(&self, number: usize) -> TakeFile {
        let entry = &self.takes[number];
        let folder = &self.folders[entry.folder as usize];
        let path = if entry.length == 0 { folder.clone() } else { folder.join(self.name(entry)) };
        let names: Vec<Component> = path.components().collect();
        let relative = names[names.len().saturating_sub(entry.kept as usize)..].iter().collect();
        TakeFile { path, relative }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = TakeFile> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Keeps the takes for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&TakeFile) -> bool) {
        let kept = (0..self.len()).filter(|&number| keep(&self.get(number)));
        self.takes = kept.map(|number| self.takes[number]).collect();
    }

    /// Adds the take at `path`, of which outputs keep the last `kept` components.
    pub(super) fn push(&mut self, path: &Path, kept: usize) {
        let (folder, name) = match (path.parent(), path.file_name().and_then(OsStr::to_str)) {
            (Some(folder), Some(name)) => (folder, name),
            _ => (path, ""),
        };
        // Files of one folder are found in succession.
        if self.folders.last().is_none_or(|last| last.as_os_str() != folder.as_os_str()) {
            self.folders.push(folder.to_owned());
        }
        let (start, folder) = (self.names.len(), self.folders.len() as u32 - 1);
        self.names.push_str(name);
        self.takes.push(TakeEntry { start, length: name.len() as u32, folder, kept: kept as u32 });
    }

    /// The list sorted by path and without duplicates; of duplicates the first one stays.
    pub(super) fn sorted(mut self) -> Self {
        let mut takes = std::mem::take(&mut self.takes);
        takes.sort_by(|a, b| self.compared(a, b));
        takes.dedup_by(|later, first| self.compared(later, first).is_eq());
        takes.shrink_to_fit();
        self.names.shrink_to_fit();
        Self { takes, ..self }
    }

    fn name(&self, entry: &TakeEntry) -> &str {
        &self.names[entry.start..][..entry.length as usize]
    }

    /// The order of their paths.
    fn compared(&self, a: &TakeEntry, b: &TakeEntry) -> Ordering {
        if a.folder == b.folder {
            return self.name(a).cmp(self.name(b));
        }
        let [a, b] = [a, b].map(|entry| {
            let folder = self.folders[entry.folder as usize].components();
            folder.chain(Path::new(self.name(entry)).components())
        });
        a.cmp(b)
    }
}

impl FromIterator<TakeFile> for TakeList {
    fn from_iter<I: IntoIterator<Item = TakeFile>>(takes: I) -> Self {
        let mut list = Self::default();
        takes.into_iter().for_each(|take| list.push(&take.path, take.relative.components().count()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_come_back_as_they_went_in_and_in_the_order_of_their_paths() {
        let paths = [
            "b/z.bvh",
            "a.bvh",
            "b.bvh",
            "b/a/x.bvh",
            "/b/c.bvh",
            "b/z.bvh",
            "./b/y.bvh",
            "a/b.c/d.bvh",
            "a/b/d.bvh",
        ];
        let mut list = TakeList::default();
        paths.iter().for_each(|path| list.push(Path::new(path), 1));
        let list = list.sorted();
        let mut sorted: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        sorted.sort();
        sorted.dedup();
        assert_eq!(list.iter().map(|take| take.path).collect::<Vec<_>>(), sorted);
        let takes: Vec<TakeFile> = ["b/a/x.bvh", "a.bvh"]
            .map(|path| TakeFile { path: Path::new("in").join(path), relative: path.into() })
            .into();
        let mut list: TakeList = takes.iter().cloned().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), takes);
        list.retain(|take| take.relative == Path::new("a.bvh"));
        assert_eq!(list.iter().collect::<Vec<_>>(), takes[1..]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_utf_8_comes_back() {
        use std::os::unix::ffi::OsStrExt;
        let path = PathBuf::from(OsStr::from_bytes(b"in/caf\xe9.bvh"));
        let take = TakeFile { relative: path.file_name().unwrap().into(), path };
        let list: TakeList = std::iter::once(take.clone()).collect();
        assert_eq!(list.get(0), take);
    }
}
