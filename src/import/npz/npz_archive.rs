//! A zip of `.npy` files, read by name: only requested arrays are decompressed.

use super::npy_array::{NpyArray, NpyHeader, shape};
use super::npz_error::NpzError;
use crate::memory_budget::MemoryBudget;
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Maximum number of entries in an archive: AMASS files have ten.
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of arrays named in a message.
const MAX_LISTED: usize = 12;

/// An open archive.
pub(in crate::import) struct NpzArchive<'a> {
    budget: &'a MemoryBudget,
    zip: ZipArchive<Cursor<&'a [u8]>>,
    names: Vec<String>,
}

impl<'a> NpzArchive<'a> {
    /// The archive in `bytes`.
    ///
    /// # Errors
    /// A damaged zip, or one that exceeds a limit.
    pub(in crate::import) fn open(bytes: &'a [u8], budget: &'a MemoryBudget) -> Result<Self, NpzError> {
        let damaged = |error: zip::result::ZipError| NpzError::Archive { reason: error.to_string() };
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        let limit = |what: &str, found: u64, limit: u64, name| {
            let what = what.to_owned();
            if found > limit { Err(NpzError::Limit { what, found, limit, name }) } else { Ok(()) }
        };
        limit("entries of the archive", zip.len() as u64, MAX_ENTRIES as u64, "MAX_ENTRIES")?;
        let mut names = Vec::with_capacity(zip.len());
        for i in 0..zip.len() {
            let entry = zip.by_index_raw(i).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?;
            names.push(name.strip_suffix(".npy").unwrap_or(&name).to_owned());
        }
        Ok(Self { budget, zip, names })
    }

    /// The first of `names` that exists.
    pub(in crate::import) fn has(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().find(|name| self.names.iter().any(|n| n == *name)).copied()
    }

    /// The names of the arrays of this shape, also with a first dimension of one.
    pub(in crate::import) fn of_shape(&mut self, shape: &[usize]) -> Vec<String> {
        let mut found = Vec::new();
        for (i, name) in self.names.iter().enumerate() {
            let header = self.zip.by_index(i).ok().and_then(|mut entry| NpyHeader::read(&mut entry).ok());
            let is = |sizes: &[usize]| sizes == shape || sizes.strip_prefix(&[1]) == Some(shape);
            if header.is_some_and(|header| is(&header.shape)) {
                found.push(name.clone());
            }
        }
        found
    }

    /// The header of the array called `name`, its content and the content's length in bytes.
    fn entry(&mut self, name: &str) -> Result<(NpyHeader, impl Read, u64), NpzError> {
        let fault = |reason| wrong(name, reason);
        let at = self.names.iter().position(|n| n == name).ok_or_else(|| fault("it is not there".into()))?;
        let mut entry = self.zip.by_index(at).map_err(|error| fault(error.to_string()))?;
        let header = NpyHeader::read(&mut entry).map_err(fault)?;
        if header.objects() {
            return Err(NpzError::Objects { array: name.to_owned() });
        }
        let size = entry.size();
        Ok((header, entry, size))
    }

    /// The array called `name`.
    ///
    /// # Errors
    /// A missing or damaged array, elements that are not numbers, and more of them than the memory limit allows.
    pub(in crate::import) fn array(&mut self, name: &str) -> Result<NpyArray, NpzError> {
        let budget = self.budget;
        let (header, mut entry, size) = self.entry(name)?;
        let listed = || format!("the array `{name}` of the shape {}", shape(&header.shape));
        budget.reserve_list::<f64>(header.room(), listed)?;
        let array = header.values(&mut entry, size).map_err(|reason| wrong(name, reason))?;
        Ok(array)
    }

    /// The array of texts called `name`.
    ///
    /// # Errors
    /// A missing or damaged array, elements that are no texts, and more of them than the memory limit allows.
    pub(in crate::import) fn texts(&mut self, name: &str) -> Result<Vec<String>, NpzError> {
        let budget = self.budget;
        let (header, mut entry, size) = self.entry(name)?;
        // The bytes, and a text of each element.
        budget.reserve(size.saturating_mul(2), || format!("the texts `{name}`"))?;
        budget.reserve_list::<String>(header.room(), || format!("the texts `{name}`"))?;
        header.texts(&mut entry, size).map_err(|reason| wrong(name, reason))
    }

    /// The names and shapes of the arrays, for a message.
    pub(in crate::import) fn contents(&mut self) -> String {
        let mut listed: Vec<String> = Vec::new();
        for (i, name) in self.names.iter().enumerate().take(MAX_LISTED) {
            let header = self.zip.by_index(i).ok().and_then(|mut entry| NpyHeader::read(&mut entry).ok());
            listed.push(match header {
                Some(header) => format!("`{name}` {}", shape(&header.shape)),
                None => format!("`{name}`, no array"),
            });
        }
        match (listed.len(), self.names.len() - listed.len()) {
            (0, _) => "no arrays".to_owned(),
            (_, 0) => listed.join(", "),
            (_, more) => format!("{} and {more} more", listed.join(", ")),
        }
    }
}

/// The error of the array called `name`.
fn wrong(name: &str, reason: String) -> NpzError {
    NpzError::Array { array: name.to_owned(), reason }
}
