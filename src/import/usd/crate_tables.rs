//! Reads the tables of a crate: tokens, strings, fields, sets of fields, paths and specs.
//!
//! A crate is a list of specs (prims, attributes, relationships). Each has a path and a set of fields; a field is a name and
//! the representation of a value, which is in the file at another place. Source: Pixar's USD, `sdf/crateFile`, versions
//! [`VERSIONS`].

use super::crate_bytes::{CrateBytes, count};
use super::usd_error::UsdError;
use crate::memory_budget::MemoryBudget;
use crate::usd_document::{END, MAGIC, SECTION_NAME};
use std::ops::RangeInclusive;

/// The versions 0.4, the first with compressed tables, to 0.13, that of usd-core 26.
const VERSIONS: RangeInclusive<u8> = 4..=13;
/// Bytes of a word in a list.
const WORD: u64 = size_of::<String>() as u64;
/// Bytes of a section's row in the table of contents: its name, where it begins, its length.
const SECTION: usize = SECTION_NAME + 16;
/// Most sections; there are six.
const MOST_SECTIONS: u64 = 64;

/// An element of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CratePath {
    /// The path above; `None` for the root.
    pub(super) parent: Option<u32>,
    /// The token of its last element.
    pub(super) token: u32,
    /// Whether this element is a property.
    pub(super) property: bool,
}

/// A prim, an attribute or a relationship.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrateSpec {
    pub(super) path: u32,
    /// Where its fields begin.
    pub(super) fields: u32,
    pub(super) kind: u32,
}

/// The name of a field, as a token, and the representation of its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrateField {
    name: u32,
    value: u64,
}

/// The tables of a crate.
pub(super) struct CrateTables<'a> {
    pub(super) bytes: CrateBytes<'a>,
    /// The minor version.
    pub(super) version: u8,
    tokens: Vec<String>,
    strings: Vec<u32>,
    fields: Vec<CrateField>,
    sets: Vec<u32>,
    pub(super) paths: Vec<Option<CratePath>>,
    pub(super) specs: Vec<CrateSpec>,
}

impl<'a> CrateTables<'a> {
    /// # Errors
    /// A [`UsdError`] for tables that are damaged, of another version, or larger than the memory limit allows.
    pub(super) fn read(file: &'a [u8], budget: &'a MemoryBudget) -> Result<Self, UsdError> {
        let mut head = CrateBytes::new(file, "header", budget);
        if head.take(MAGIC.len())? != MAGIC {
            return Err(head.fault("it does not begin as a crate"));
        }
        let version = head.take(8)?;
        let (major, version) = (version[0], version[1]);
        if major != 0 || !VERSIONS.contains(&version) {
            return Err(head.fault(format!(
                "it is of version {major}.{version}; 0.{} to 0.{} are read",
                VERSIONS.start(),
                VERSIONS.end()
            )));
        }
        let contents = count(head.u64()?);
        let sections = Sections::read(head.at(contents))?;
        let tokens = tokens(sections.at("TOKENS")?)?;
        let mut strings = sections.at("STRINGS")?;
        let number = count(strings.u64()?);
        let strings = words(strings.list(number, 4)?, budget)?;
        let fields = fields(sections.at("FIELDS")?)?;
        let mut sets = sections.at("FIELDSETS")?;
        let number = count(sets.u64()?);
        let sets = unsigned(sets.integers(number)?);
        let paths = paths(sections.at("PATHS")?)?;
        let specs = specs(sections.at("SPECS")?)?;
        let bytes = CrateBytes::new(file, "values", budget);
        Ok(Self { bytes, version, tokens, strings, fields, sets, paths, specs })
    }

    pub(super) fn token(&self, index: u32) -> Result<&str, UsdError> {
        let token = self.tokens.get(index as usize);
        token.map(String::as_str).ok_or_else(|| self.bytes.fault(format!("there is no token {index}")))
    }

    pub(super) fn string(&self, index: u32) -> Result<&str, UsdError> {
        let token = self.strings.get(index as usize);
        self.token(*token.ok_or_else(|| self.bytes.fault(format!("there is no string {index}")))?)
    }

    pub(super) fn path(&self, index: u32) -> Result<CratePath, UsdError> {
        let path = self.paths.get(index as usize).copied().flatten();
        path.ok_or_else(|| self.bytes.fault(format!("there is no path {index}")))
    }

    /// The fields of a spec: names and representations of values.
    pub(super) fn fields(&self, spec: &CrateSpec) -> Result<Vec<(&str, u64)>, UsdError> {
        let own = self.sets.get(spec.fields as usize..).unwrap_or_default();
        let length = own.iter().position(|field| *field == END).unwrap_or(own.len());
        self.bytes.budget.work(1 + length as u64, || "the fields of prims and properties".to_owned())?;
        let field = |index: &u32| {
            let field = self.fields.get(*index as usize);
            let field = field.ok_or_else(|| self.bytes.fault(format!("there is no field {index}")))?;
            Ok((self.token(field.name)?, field.value))
        };
        own[..length].iter().map(field).collect()
    }
}

/// Where sections begin.
struct Sections<'a> {
    bytes: CrateBytes<'a>,
    rows: &'a [u8],
}

impl<'a> Sections<'a> {
    fn read(mut contents: CrateBytes<'a>) -> Result<Self, UsdError> {
        contents.part = "table of contents";
        let number = contents.u64()?;
        if number > MOST_SECTIONS {
            return Err(contents.fault(format!("{number} sections are more than a crate has")));
        }
        let rows = contents.list(count(number), SECTION)?;
        Ok(Self { bytes: contents, rows })
    }

    fn at(&self, name: &'static str) -> Result<CrateBytes<'a>, UsdError> {
        let named = |row: &&[u8]| row[..SECTION_NAME].split(|b| *b == 0).next() == Some(name.as_bytes());
        let row = self.rows.chunks_exact(SECTION).find(named);
        let row = row.ok_or_else(|| self.bytes.fault(format!("the section {name} is missing")))?;
        let mut begin = CrateBytes::new(row, name, self.bytes.budget).at(SECTION_NAME);
        let mut section = self.bytes.at(count(begin.u64()?));
        section.part = name;
        Ok(section)
    }
}

fn unsigned(numbers: Vec<i32>) -> Vec<u32> {
    numbers.into_iter().map(|n| n as u32).collect()
}

/// Numbers of four bytes.
fn words(bytes: &[u8], budget: &MemoryBudget) -> Result<Vec<u32>, UsdError> {
    budget.reserve(bytes.len() as u64, || "the strings".to_owned())?;
    Ok(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// The tokens: texts that end with a zero.
fn tokens(mut section: CrateBytes<'_>) -> Result<Vec<String>, UsdError> {
    let number = count(section.u64()?);
    let length = count(section.u64()?);
    let packed = count(section.u64()?);
    let text = section.unpacked(packed, length)?;
    if text.len() != length || number > length {
        return Err(section.fault("its tokens are cut off"));
    }
    section.budget.reserve(number as u64 * WORD + length as u64, || "the tokens".to_owned())?;
    let tokens: Vec<String> = text
        .split(|b| *b == 0)
        .take(number)
        .map(|token| String::from_utf8_lossy(token).into_owned())
        .collect();
    match tokens.len() == number {
        true => Ok(tokens),
        false => Err(section.fault("it has fewer tokens than it says")),
    }
}

fn fields(mut section: CrateBytes<'_>) -> Result<Vec<CrateField>, UsdError> {
    let number = count(section.u64()?);
    let names = unsigned(section.integers(number)?);
    let packed = count(section.u64()?);
    let values = section.unpacked(packed, number.saturating_mul(8))?;
    if values.len() / 8 != number {
        return Err(section.fault("its values are cut off"));
    }
    section.budget.reserve_list::<CrateField>(number as u64, || "the fields".to_owned())?;
    let values = values.as_chunks().0.iter().map(|value| u64::from_le_bytes(*value));
    Ok(names.into_iter().zip(values).map(|(name, value)| CrateField { name, value }).collect())
}

/// The paths, as a tree that is written in depth first: every element with the distance to its next sibling.
fn paths(mut section: CrateBytes<'_>) -> Result<Vec<Option<CratePath>>, UsdError> {
    let number = count(section.u64()?);
    let written = count(section.u64()?);
    let [indices, tokens, jumps] = [0; 3].map(|_| section.integers(written));
    let (indices, tokens, jumps) = (indices?, tokens?, jumps?);
    // A path is written once.
    if number > written {
        return Err(section.fault(format!("{number} paths, of which {written} are written")));
    }
    section.budget.reserve_list::<Option<CratePath>>(number as u64, || "the paths".to_owned())?;
    let mut paths = vec![None; number];
    // Where siblings begin whose elder sibling has children.
    let mut later = Vec::new();
    let (mut at, mut parent) = (0_usize, None);
    while at < written {
        let index = indices[at] as u32;
        let path = paths
            .get_mut(index as usize)
            .ok_or_else(|| section.fault(format!("there is no path {index}")))?;
        // The sign of the token says whether it is a property.
        let found = CratePath { parent, token: tokens[at].unsigned_abs(), property: tokens[at] < 0 };
        if path.replace(found).is_some() {
            return Err(section.fault(format!("the path {index} is written twice")));
        }
        // -2: neither child nor sibling follows; -1: a child; 0: a sibling; n: a child, and a sibling n further.
        let jump = jumps[at];
        if jump > 0 {
            later.push((at.saturating_add(jump as usize), parent));
        }
        if jump > 0 || jump == -1 {
            parent = Some(index);
        }
        if jump >= -1 {
            at += 1;
        } else {
            match later.pop() {
                Some(next) => (at, parent) = next,
                None => return Ok(paths),
            }
        }
    }
    match written {
        0 => Ok(paths),
        _ => Err(section.fault("its paths lead beyond their end")),
    }
}

fn specs(mut section: CrateBytes<'_>) -> Result<Vec<CrateSpec>, UsdError> {
    let number = count(section.u64()?);
    let [paths, fields, kinds] = [0; 3].map(|_| section.integers(number));
    let (paths, fields, kinds) = (unsigned(paths?), unsigned(fields?), unsigned(kinds?));
    section.budget.reserve_list::<CrateSpec>(number as u64, || "the specs".to_owned())?;
    let rows = paths.into_iter().zip(fields).zip(kinds);
    Ok(rows.map(|((path, fields), kind)| CrateSpec { path, fields, kind }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compressed list of numbers: every difference as a whole one.
    fn packed(numbers: &[i32]) -> Vec<u8> {
        let mut list = 7_i32.to_le_bytes().to_vec();
        list.extend(vec![0xFF; numbers.len().div_ceil(4)]);
        let mut last = 0;
        numbers
            .iter()
            .for_each(|n| list.extend(n.wrapping_sub(std::mem::replace(&mut last, *n)).to_le_bytes()));
        let block = lz4_flex::block::compress(&list);
        let mut bytes = (1 + block.len() as u64).to_le_bytes().to_vec();
        bytes.push(0);
        bytes.extend(block);
        bytes
    }

    fn tree(rows: &[[i32; 3]]) -> Result<Vec<Option<CratePath>>, UsdError> {
        let mut bytes = [rows.len() as u64; 2].map(u64::to_le_bytes).concat();
        (0..3).for_each(|k| bytes.extend(packed(&rows.iter().map(|row| row[k]).collect::<Vec<_>>())));
        let budget = MemoryBudget::new(0, None);
        paths(CrateBytes::new(&bytes, "PATHS", &budget))
    }

    #[test]
    fn paths_are_a_tree_in_depth_first_order() {
        // The root; below it a prim with a property, and its sibling.
        let found = tree(&[[0, 1, -1], [1, 2, 2], [3, -4, -2], [2, 3, -2]]).unwrap();
        let path = |parent, token, property| Some(CratePath { parent, token, property });
        let expected =
            [path(None, 1, false), path(Some(0), 2, false), path(Some(0), 3, false), path(Some(1), 4, true)];
        assert_eq!(found, expected);
        assert_eq!(tree(&[]).unwrap(), []);
    }

    #[test]
    fn paths_that_go_in_circles_or_nowhere_are_refused() {
        for (rows, said) in [
            (&[[0, 1, -1], [0, 2, -2]][..], "the path 0 is written twice"),
            (&[[0, 1, -1], [1, 2, 1], [2, 3, -2]], "the path 2 is written twice"),
            (&[[0, 1, -1], [7, 2, -2]], "there is no path 7"),
            (&[[0, 1, -1], [-1, 2, -2]], "there is no path 4294967295"),
            (&[[0, 1, i32::MAX], [1, 2, -2]], "lead beyond their end"),
            (&[[0, 1, -1], [1, 2, 0]], "lead beyond their end"),
        ] {
            let Err(UsdError::Crate { reason, .. }) = tree(rows) else { panic!("{rows:?}") };
            assert!(reason.contains(said), "{reason}, expected: {said}");
        }
    }
}
