//! Reads values of a crate: numbers and words, alone or in lists, and samples over time.
//!
//! A representation of eight bytes says type, whether it is a list, and either the value itself or where it is. Source: Pixar's
//! USD, `sdf/crateFile`, `sdf/crateDataTypes` and `sdf/crateValueInliners`.

use super::crate_bytes::{CrateBytes, count};
use super::crate_tables::CrateTables;
use super::usd_error::UsdError;
use super::usda_layer::{SAMPLE, Value, WORD};
use crate::import::half_number::half_number;
use crate::usd_document::{COMPRESSED, COMPRESSED_FROM, INLINE, LIST, TYPE_SHIFT, kind};

/// The bits of the value or of its position.
const PAYLOAD: u64 = (1 << TYPE_SHIFT) - 1;

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    Byte,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    Half,
    Single,
    Double,
}

impl Component {
    fn size(self) -> usize {
        match self {
            Component::Byte => 1,
            Component::Half => 2,
            Component::Int | Component::Unsigned | Component::Single => 4,
            Component::Long | Component::UnsignedLong | Component::Double => 8,
        }
    }

    /// A number of as many bytes.
    fn number(self, bytes: &[u8]) -> f64 {
        let bits = bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        match self {
            Component::Byte | Component::Unsigned | Component::UnsignedLong => bits as f64,
            Component::Int => f64::from(bits as i32),
            Component::Long => bits as i64 as f64,
            Component::Half => half_number(bits as u16),
            Component::Single => f64::from(f32::from_bits(bits as u32)),
            Component::Double => f64::from_bits(bits),
        }
    }
}

/// The numbers of a value of a type: how each is stored, how many there are, and whether they are a quaternion.
fn shape(kind: u8) -> Option<(Component, usize, bool)> {
    use Component::{Byte, Double, Half, Int, Long, Single, Unsigned, UnsignedLong};
    Some(match kind {
        1 | 2 => (Byte, 1, false),
        3 => (Int, 1, false),
        4 => (Unsigned, 1, false),
        5 => (Long, 1, false),
        6 => (UnsignedLong, 1, false),
        7 => (Half, 1, false),
        8 => (Single, 1, false),
        // 56 is a time code.
        9 | 56 => (Double, 1, false),
        // Matrices of two, three and four rows.
        13 => (Double, 4, false),
        14 => (Double, 9, false),
        15 => (Double, 16, false),
        16 => (Double, 4, true),
        17 => (Single, 4, true),
        18 => (Half, 4, true),
        // Vectors of two, three and four numbers.
        19..=30 => {
            let stored = [Double, Single, Half, Int][usize::from(kind - 19) % 4];
            (stored, 2 + usize::from(kind - 19) / 4, false)
        }
        _ => return None,
    })
}

/// A value of eight bytes that says what it is.
#[derive(Clone, Copy)]
struct Representation(u64);

impl Representation {
    fn is(self, bit: u64) -> bool {
        self.0 & bit != 0
    }

    fn kind(self) -> u8 {
        (self.0 >> TYPE_SHIFT) as u8
    }

    fn payload(self) -> u64 {
        self.0 & PAYLOAD
    }
}

/// The number that a field holds in place of an offset: specifiers, true and false.
pub(super) fn inline(value: u64) -> u64 {
    Representation(value).payload()
}

impl CrateTables<'_> {
    /// The value of a field that has no time.
    pub(super) fn value(&self, value: u64) -> Result<Value, UsdError> {
        let found = Representation(value);
        let at = || self.bytes.at(count(found.payload()));
        match found.kind() {
            kind::TOKEN | kind::STRING if found.is(LIST) => match found.payload() {
                0 => Ok(Value::Words(Vec::new())),
                _ => {
                    let mut list = at();
                    let number = self.length(&mut list)?;
                    self.words(&mut list, number, found.kind() == kind::TOKEN)
                }
            },
            kind::TOKEN | kind::STRING => {
                let index = if found.is(INLINE) { found.payload() as u32 } else { at().u32()? };
                let word = if found.kind() == kind::TOKEN { self.token(index)? } else { self.string(index)? };
                self.reserve_word(word)?;
                Ok(Value::Words(vec![word.to_owned()]))
            }
            kind::TOKEN_VECTOR | kind::STRING_VECTOR => {
                let mut list = at();
                let number = count(list.u64()?);
                self.words(&mut list, number, found.kind() == kind::TOKEN_VECTOR)
            }
            kind::TOKEN_LIST_OP | kind::STRING_LIST_OP => {
                let tokens = found.kind() == kind::TOKEN_LIST_OP;
                self.edited(at(), |list, number| match self.words(list, number, tokens)? {
                    Value::Words(words) => Ok(words),
                    _ => Ok(Vec::new()),
                })
            }
            kind::PATH_LIST_OP => self.edited(at(), |list, number| {
                let indices = list.list(number, 4)?.as_chunks().0;
                indices.iter().map(|index| self.path_text(u32::from_le_bytes(*index))).collect()
            }),
            _ => self.numbers(found),
        }
    }

    /// The length of a list.
    fn length(&self, list: &mut CrateBytes<'_>) -> Result<usize, UsdError> {
        // 0.4 has the number of dimensions first, which is one; lengths have four bytes before 0.7.
        if self.version < 5 {
            list.u32()?;
        }
        Ok(if self.version < 7 { list.u32()? as usize } else { count(list.u64()?) })
    }

    fn reserve_word(&self, word: &str) -> Result<(), UsdError> {
        Ok(self.bytes.budget.reserve(WORD + word.len() as u64, || "the words".to_owned())?)
    }

    /// Tokens or strings, by their indices.
    fn words(&self, list: &mut CrateBytes<'_>, number: usize, tokens: bool) -> Result<Value, UsdError> {
        let indices = list.list(number, 4)?.as_chunks().0;
        let word = |index: &[u8; 4]| {
            let index = u32::from_le_bytes(*index);
            let word = if tokens { self.token(index)? } else { self.string(index)? };
            self.reserve_word(word)?;
            Ok(word.to_owned())
        };
        Ok(Value::Words(indices.iter().map(word).collect::<Result<_, UsdError>>()?))
    }

    /// The items of an edited list: those that are given, prepended, added or appended, in the order of the file.
    fn edited<'b>(
        &self,
        mut list: CrateBytes<'b>,
        items: impl Fn(&mut CrateBytes<'b>, usize) -> Result<Vec<String>, UsdError>,
    ) -> Result<Value, UsdError> {
        /// Bits of the lists that follow each other: given, added, prepended, appended. Deleted and reordered ones follow.
        const LISTS: [u8; 4] = [2, 4, 32, 64];
        let header = list.u8()?;
        let mut all = Vec::new();
        for _ in LISTS.into_iter().filter(|bit| header & bit != 0) {
            let number = count(list.u64()?);
            all.extend(items(&mut list, number)?);
        }
        Ok(Value::Words(all))
    }

    /// A path as text.
    pub(super) fn path_text(&self, index: u32) -> Result<String, UsdError> {
        let mut elements = Vec::new();
        let mut next = Some(index);
        while let Some(index) = next {
            let path = self.path(index)?;
            next = path.parent;
            if next.is_some() {
                let token = self.token(path.token)?;
                self.bytes.budget.reserve(WORD + token.len() as u64, || "the paths".to_owned())?;
                elements.push((token, path.property));
            }
        }
        let mut text = String::new();
        for (token, property) in elements.into_iter().rev() {
            text.push(if property { '.' } else { '/' });
            text.push_str(token);
        }
        Ok(text)
    }

    /// Numbers, alone or in a list.
    fn numbers(&self, found: Representation) -> Result<Value, UsdError> {
        if found.kind() == kind::DOUBLE_VECTOR {
            let mut list = self.bytes.at(count(found.payload()));
            let number = count(list.u64()?);
            return self.stored(&mut list, number, (Component::Double, 1, false));
        }
        let Some(shape) = shape(found.kind()) else { return Ok(Value::Other) };
        if found.is(LIST) {
            if found.payload() == 0 {
                return Ok(Value::Numbers(Vec::new()));
            }
            let mut list = self.bytes.at(count(found.payload()));
            let number = self.length(&mut list)?;
            return match found.is(COMPRESSED) && number >= COMPRESSED_FROM {
                true => self.compressed(&mut list, number, shape.0).map(Value::Numbers),
                false => self.stored(&mut list, number, shape),
            };
        }
        if !found.is(INLINE) {
            return self.stored(&mut self.bytes.at(count(found.payload())), 1, shape);
        }
        let bytes = found.payload().to_le_bytes();
        Ok(Value::Numbers(match shape {
            (Component::Double, 1, _) => vec![Component::Single.number(&bytes[..4])],
            (Component::Long, 1, _) => vec![Component::Int.number(&bytes[..4])],
            (Component::UnsignedLong, 1, _) => vec![Component::Unsigned.number(&bytes[..4])],
            (stored, 1, _) => vec![stored.number(&bytes[..stored.size()])],
            (_, _, true) => return Err(self.bytes.fault("a quaternion is no value of four bytes")),
            // Vectors and the diagonals of matrices of small whole numbers.
            (_, numbers, _) if (19..=30).contains(&found.kind()) => {
                bytes[..numbers].iter().map(|b| f64::from(*b as i8)).collect()
            }
            (_, numbers, _) => {
                let rows = numbers.isqrt();
                let cell = |k: usize| {
                    if k.is_multiple_of(rows + 1) { f64::from(bytes[k / (rows + 1)] as i8) } else { 0.0 }
                };
                (0..numbers).map(cell).collect()
            }
        }))
    }

    /// Numbers as they are stored.
    fn stored(
        &self,
        list: &mut CrateBytes<'_>,
        values: usize,
        (component, width, quaternion): (Component, usize, bool),
    ) -> Result<Value, UsdError> {
        let size = component.size();
        let bytes = list.list(values, width * size)?;
        self.bytes.budget.reserve_list::<f64>((bytes.len() / size) as u64, || "the numbers".to_owned())?;
        let mut numbers: Vec<f64> = bytes.chunks_exact(size).map(|b| component.number(b)).collect();
        if quaternion {
            // The real part is the last one here, and the first in text.
            numbers.chunks_exact_mut(4).for_each(|q| q.rotate_right(1));
        }
        Ok(Value::Numbers(numbers))
    }

    /// A compressed list of whole numbers, or of others that are whole or few.
    fn compressed(
        &self,
        list: &mut CrateBytes<'_>,
        numbers: usize,
        component: Component,
    ) -> Result<Vec<f64>, UsdError> {
        self.bytes.budget.reserve_list::<f64>(numbers as u64, || "the numbers".to_owned())?;
        let integers = |list: &mut CrateBytes<'_>| list.integers(numbers);
        Ok(match component {
            Component::Int => integers(list)?.into_iter().map(f64::from).collect(),
            Component::Unsigned => integers(list)?.into_iter().map(|n| f64::from(n as u32)).collect(),
            Component::Long => list.long_integers(numbers)?.into_iter().map(|n| n as f64).collect(),
            Component::UnsignedLong => {
                list.long_integers(numbers)?.into_iter().map(|n| n as u64 as f64).collect()
            }
            Component::Byte => return Err(self.bytes.fault("a list of bytes is not compressed")),
            _ => match list.u8()? {
                b'i' => integers(list)?.into_iter().map(f64::from).collect(),
                b't' => {
                    let length = list.u32()? as usize;
                    let size = component.size();
                    let table: Vec<f64> =
                        list.list(length, size)?.chunks_exact(size).map(|b| component.number(b)).collect();
                    let at = |index: i32| table.get(index as u32 as usize).copied();
                    let found: Option<Vec<f64>> = integers(list)?.into_iter().map(at).collect();
                    found.ok_or_else(|| self.bytes.fault("a number is not in the table of its list"))?
                }
                other => {
                    return Err(self
                        .bytes
                        .fault(format!("a list is compressed in an unknown way ({other})")));
                }
            },
        })
    }

    /// The samples of an attribute over time.
    pub(super) fn samples(&self, value: u64) -> Result<Vec<(f64, Value)>, UsdError> {
        let found = Representation(value);
        if found.kind() != kind::TIME_SAMPLES || found.is(INLINE) {
            return Err(self.bytes.fault("samples over time are none"));
        }
        let mut here = self.bytes.at(count(found.payload()));
        let mut times = here.at(here.clone().jump()?);
        let written = times.u64()?;
        let Value::Numbers(written) = self.numbers(Representation(written))? else {
            return Err(self.bytes.fault("the times of samples are no numbers"));
        };
        here = times.at(times.position());
        let mut values = here.at(here.clone().jump()?);
        let number = count(values.u64()?);
        let values = values.list(number, 8)?.as_chunks().0;
        if values.len() != written.len() {
            return Err(self.bytes.fault(format!("{} samples have {} times", values.len(), written.len())));
        }
        self.bytes.budget.reserve(number as u64 * SAMPLE, || "the samples".to_owned())?;
        let sample = |(time, value): (f64, &[u8; 8])| Ok((time, self.value(u64::from_le_bytes(*value))?));
        written.into_iter().zip(values).map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_have_the_numbers_that_their_types_say() {
        assert_eq!(shape(24), Some((Component::Single, 3, false)));
        assert_eq!(shape(19), Some((Component::Double, 2, false)));
        assert_eq!(shape(30), Some((Component::Int, 4, false)));
        assert_eq!(shape(17), Some((Component::Single, 4, true)));
        assert_eq!(shape(31), None);
    }
}
