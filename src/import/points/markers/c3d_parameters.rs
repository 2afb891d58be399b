//! The parameter section of a C3D file: groups of named values. Source: The C3D File Format User Guide (Motion Lab Systems 2008).

use super::c3d_words::Processor;
use crate::memory_budget::{MemoryBudget, OverBudget};
use std::collections::BTreeMap;

/// Bytes of a block, in which a C3D file is counted.
pub(super) const BLOCK: usize = 512;
/// Bytes of a parameter in the map, with its name.
const ENTRY: u64 = 2 * size_of::<(String, C3dParameter)>() as u64;

/// The values of one parameter.
#[derive(Clone, Debug)]
struct C3dParameter {
    /// -1: characters, 1: bytes, 2: words, 4: floats.
    kind: i8,
    dimensions: Vec<usize>,
    /// The first byte of the values in the file.
    at: usize,
}

/// All parameters, by `GROUP:NAME` in capitals.
pub(super) struct C3dParameters<'a> {
    bytes: &'a [u8],
    pub(super) processor: Processor,
    values: BTreeMap<String, C3dParameter>,
}

/// Why a section cannot be read.
pub(super) enum SectionFault {
    Damaged(&'static str),
    Memory(OverBudget),
}

impl<'a> C3dParameters<'a> {
    /// The section that begins at the byte `start`.
    ///
    /// # Errors
    /// No section there, an entry that points outside of the file, more parameters than the memory limit has room for.
    pub(super) fn read(bytes: &'a [u8], start: usize, budget: &MemoryBudget) -> Result<Self, SectionFault> {
        let fault = SectionFault::Damaged;
        let head = bytes
            .get(start..start + 4)
            .ok_or(fault("the pointer to the parameters leads out of the file"))?;
        let processor = Processor::of(head[3]).ok_or(fault(
            "there is no parameter section where its pointer leads, or its processor is unknown",
        ))?;
        let mut groups: BTreeMap<i8, String> = BTreeMap::new();
        let mut listed: Vec<(i8, String, C3dParameter)> = Vec::new();
        let mut at = start + 4;
        let outside = fault("a parameter leads out of the file");
        while let Some([length, group]) = bytes.get(at..at + 2) {
            // A negative length says that the parameter is locked.
            let (length, group) = (usize::from((*length as i8).unsigned_abs()), *group as i8);
            if length == 0 || group == 0 {
                break;
            }
            let Some(name) = bytes.get(at + 2..at + 2 + length) else { return Err(outside) };
            let name = String::from_utf8_lossy(name).trim().to_ascii_uppercase();
            let offset_at = at + 2 + length;
            let Some([a, b]) = bytes.get(offset_at..offset_at + 2) else { return Err(outside) };
            let offset = usize::from(processor.word([*a, *b]));
            budget
                .reserve(ENTRY + length as u64, || "the parameters".to_owned())
                .map_err(SectionFault::Memory)?;
            if group < 0 {
                groups.insert(group, name);
            } else if let Some([kind, count]) = bytes.get(offset_at + 2..offset_at + 4) {
                let first = offset_at + 4;
                let Some(sizes) = bytes.get(first..first + usize::from(*count)) else { return Err(outside) };
                let dimensions = sizes.iter().map(|n| usize::from(*n)).collect();
                let parameter =
                    C3dParameter { kind: *kind as i8, dimensions, at: first + usize::from(*count) };
                listed.push((-group, name, parameter));
            }
            if offset == 0 {
                break;
            }
            at = offset_at + offset;
        }
        let named = |(group, name, parameter): (i8, String, C3dParameter)| {
            Some((format!("{}:{name}", groups.get(&group)?), parameter))
        };
        let values = listed.into_iter().filter_map(named).collect();
        Ok(Self { bytes, processor, values })
    }

    /// The bytes of a parameter whose values have `width` bytes, if all are in the file.
    fn content(&self, parameter: &C3dParameter, width: usize) -> Option<&'a [u8]> {
        let count = parameter.dimensions.iter().try_fold(1_usize, |all, n| all.checked_mul(*n))?;
        self.bytes.get(parameter.at..parameter.at.checked_add(count.checked_mul(width)?)?)
    }

    /// The numbers of a parameter; words have no sign.
    pub(super) fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        let parameter = self.values.get(name)?;
        let word = |b: &[u8]| f64::from(self.processor.word([b[0], b[1]]));
        let float = |b: &[u8]| self.processor.float([b[0], b[1], b[2], b[3]]);
        Some(match parameter.kind {
            1 => self.content(parameter, 1)?.iter().map(|b| f64::from(*b)).collect(),
            2 => self.content(parameter, 2)?.chunks_exact(2).map(word).collect(),
            4 => self.content(parameter, 4)?.chunks_exact(4).map(float).collect(),
            _ => return None,
        })
    }

    /// The first number of a parameter.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.numbers(name)?.first().copied()
    }

    /// The texts of a parameter without the spaces that fill them.
    pub(super) fn texts(&self, name: &str) -> Option<Vec<String>> {
        let parameter = self.values.get(name).filter(|p| p.kind == -1)?;
        let width = parameter.dimensions.first().copied().unwrap_or(1);
        let content = self.content(parameter, 1)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_matches([' ', '\0']).to_owned();
        Some(if width == 0 { Vec::new() } else { content.chunks_exact(width).map(text).collect() })
    }

    /// The texts of a parameter and of its continuations, `NAME2`, `NAME3`: one parameter has 255 at most.
    pub(super) fn long_texts(&self, name: &str) -> Vec<String> {
        let mut all = self.texts(name).unwrap_or_default();
        for more in 2.. {
            let Some(texts) = self.texts(&format!("{name}{more}")) else { break };
            all.extend(texts);
        }
        all
    }

    /// The numbers of every parameter of a group, by name.
    pub(super) fn of_group(&self, group: &str) -> Vec<(String, f64)> {
        let prefix = format!("{group}:");
        let named = |key: &String| Some((key.strip_prefix(&prefix)?.to_owned(), self.number(key)?));
        self.values.keys().filter_map(named).collect()
    }
}
