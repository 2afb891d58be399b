//! Many takes become a few bytes each: a batch of a hundred thousand holds their names and little else.
//!
//! Names lie one behind the other in one text, and a folder is held once for all that lies in it.

use super::takes::Take;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Takes, each made when it is asked for.
#[derive(Clone, Debug, Default)]
pub struct TakeList {
    /// In the order in which they were met.
    folders: Vec<PathBuf>,
    /// The names of all files.
    names: String,
    takes: Vec<Entry>,
}

/// Where the name of a take stands.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    /// Bytes; none where the folder is the whole path, whose last name is no text.
    length: u32,
    folder: u32,
    /// How many names of its path, from the last one on, outputs keep.
    kept: u32,
}

impl TakeList {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.takes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.takes.is_empty()
    }

    /// The take of this number, from 0.
    ///
    /// # Panics
    /// Where there is no such take.
    pub fn get(&self, number: usize) -> Take {
        let entry = &self.takes[number];
        let folder = &self.folders[entry.folder as usize];
        let path = if entry.length == 0 { folder.clone() } else { folder.join(self.name(entry)) };
        let names: Vec<Component> = path.components().collect();
        let relative = names[names.len().saturating_sub(entry.kept as usize)..].iter().collect();
        Take { path, relative }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Take> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Keeps those for which `stays` says so.
    pub fn retain(&mut self, mut stays: impl FnMut(&Take) -> bool) {
        let kept = (0..self.len()).filter(|&number| stays(&self.get(number)));
        self.takes = kept.map(|number| self.takes[number]).collect();
    }

    /// Adds the take at `path`, of which outputs keep so many names.
    pub(super) fn push(&mut self, path: &Path, kept: usize) {
        let (folder, name) = match (path.parent(), path.file_name().and_then(OsStr::to_str)) {
            (Some(folder), Some(name)) => (folder, name),
            _ => (path, ""),
        };
        // Files of one folder are found one after the other.
        if self.folders.last().is_none_or(|last| last.as_os_str() != folder.as_os_str()) {
            self.folders.push(folder.to_owned());
        }
        let (start, folder) = (self.names.len(), self.folders.len() as u32 - 1);
        self.names.push_str(name);
        self.takes.push(Entry { start, length: name.len() as u32, folder, kept: kept as u32 });
    }

    /// The same in the order of their paths and each once, under the name that it was found by first.
    pub(super) fn sorted(mut self) -> Self {
        let mut takes = std::mem::take(&mut self.takes);
        takes.sort_by(|a, b| self.compared(a, b));
        takes.dedup_by(|later, first| self.compared(later, first).is_eq());
        takes.shrink_to_fit();
        self.names.shrink_to_fit();
        Self { takes, ..self }
    }

    fn name(&self, entry: &Entry) -> &str {
        &self.names[entry.start..][..entry.length as usize]
    }

    /// As their paths compare.
    fn compared(&self, a: &Entry, b: &Entry) -> Ordering {
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

impl FromIterator<Take> for TakeList {
    fn from_iter<I: IntoIterator<Item = Take>>(takes: I) -> Self {
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
        let takes: Vec<Take> = ["b/a/x.bvh", "a.bvh"]
            .map(|path| Take { path: Path::new("in").join(path), relative: path.into() })
            .into();
        let mut list: TakeList = takes.iter().cloned().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), takes);
        list.retain(|take| take.relative == Path::new("a.bvh"));
        assert_eq!(list.iter().collect::<Vec<_>>(), takes[1..]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_no_text_comes_back() {
        use std::os::unix::ffi::OsStrExt;
        let path = PathBuf::from(OsStr::from_bytes(b"in/caf\xe9.bvh"));
        let take = Take { relative: path.file_name().unwrap().into(), path };
        let list: TakeList = std::iter::once(take.clone()).collect();
        assert_eq!(list.get(0), take);
    }
}
