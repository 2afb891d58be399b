//! Encodes and decodes the properties of FBX records.
//!
//! A property is a type letter and a little-endian value; long arrays are deflated. Texts are UTF-8. Compression is done in pure
//! Rust, so that equal input gives equal bytes on every machine.

use super::records::FbxRecord;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::borrow::Cow;
use std::io::Write;

/// Arrays longer than this are deflated, bytes.
const DEFLATED_ABOVE: usize = 128;
/// Compression level, 0 to 10.
const EFFORT: u32 = 6;
/// Separator between the name of an object and its class.
const CLASS: &str = "\0\u{1}";

/// The name of an object with its class. Control characters, which would end the name, are replaced by underscores.
pub(super) fn object(name: &str, class: &str) -> String {
    format!("{}{CLASS}{class}", plain(name))
}

/// A name with control characters replaced.
pub(super) fn plain(name: &str) -> String {
    name.replace(char::is_control, "_")
}

/// An array of numbers as one property.
fn array<const N: usize>(letter: u8, values: impl ExactSizeIterator<Item = [u8; N]>) -> Vec<u8> {
    let count = values.len() as u32;
    let raw: Vec<u8> = values.flatten().collect();
    let deflated = raw.len() > DEFLATED_ABOVE;
    let content = if deflated { packed(&raw) } else { raw };
    let mut out = vec![letter];
    for number in [count, u32::from(deflated), content.len() as u32] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&content);
    out
}

/// The bytes deflated.
fn packed(raw: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::with_capacity(raw.len() / 2), Compression::new(EFFORT));
    // Writing to memory does not fail.
    packer.write_all(raw).and_then(|()| packer.finish()).unwrap_or_default()
}

/// An array of 64-bit integers as one property, encoded once for arrays that many records share.
pub(super) fn longs(values: &[i64]) -> Vec<u8> {
    array(b'l', values.iter().map(|v| v.to_le_bytes()))
}

impl FbxRecord<'static> {
    /// A record without properties.
    pub(super) fn new(name: &'static str) -> Self {
        FbxRecord { name: Cow::Borrowed(name.as_bytes()), ..FbxRecord::default() }
    }

    /// Adds an encoded property.
    #[must_use]
    pub(super) fn property(mut self, bytes: &[u8]) -> Self {
        self.properties.to_mut().extend_from_slice(bytes);
        self.count += 1;
        self
    }

    fn valued(self, letter: u8, value: &[u8]) -> Self {
        let mut one = self.property(&[letter]);
        one.properties.to_mut().extend_from_slice(value);
        one
    }

    fn counted(self, letter: u8, value: &[u8]) -> Self {
        let mut one = self.valued(letter, &(value.len() as u32).to_le_bytes());
        one.properties.to_mut().extend_from_slice(value);
        one
    }

    /// Adds a boolean.
    #[must_use]
    pub(super) fn boolean(self, value: bool) -> Self {
        self.valued(b'C', &[u8::from(value)])
    }

    /// Adds a 32-bit integer.
    #[must_use]
    pub(super) fn int(self, value: i32) -> Self {
        self.valued(b'I', &value.to_le_bytes())
    }

    /// Adds a 64-bit integer.
    #[must_use]
    pub(super) fn long(self, value: i64) -> Self {
        self.valued(b'L', &value.to_le_bytes())
    }

    /// Adds a 64-bit number.
    #[must_use]
    pub(super) fn double(self, value: f64) -> Self {
        self.valued(b'D', &value.to_le_bytes())
    }

    /// Adds a text.
    #[must_use]
    pub(super) fn string(self, value: &str) -> Self {
        self.counted(b'S', value.as_bytes())
    }

    /// Adds raw bytes.
    #[must_use]
    pub(super) fn raw(self, value: &[u8]) -> Self {
        self.counted(b'R', value)
    }

    /// Adds an array of 64-bit numbers.
    #[must_use]
    pub(super) fn doubles(self, values: &[f64]) -> Self {
        self.property(&array(b'd', values.iter().map(|v| v.to_le_bytes())))
    }

    /// With a list of numbers of single precision.
    #[must_use]
    pub(super) fn floats(self, values: &[f32]) -> Self {
        self.property(&array(b'f', values.iter().map(|v| v.to_le_bytes())))
    }

    /// Adds an array of 32-bit integers.
    #[must_use]
    pub(super) fn ints(self, values: &[i32]) -> Self {
        self.property(&array(b'i', values.iter().map(|v| v.to_le_bytes())))
    }

    /// Adds a child record.
    #[must_use]
    pub(super) fn add(mut self, child: FbxRecord<'static>) -> Self {
        self.children.push(child);
        self.block = true;
        self
    }

    /// Adds child records.
    #[must_use]
    pub(super) fn all(mut self, children: impl IntoIterator<Item = FbxRecord<'static>>) -> Self {
        self.children.extend(children);
        self.block = true;
        self
    }

    /// Adds the end of child records, even without children.
    #[must_use]
    pub(super) fn block(mut self) -> Self {
        self.block = true;
        self
    }
}

/// One entry of `Properties70`; its values are added by the caller.
pub(super) fn row(name: &str, kind: &str, label: &str, flags: &str) -> FbxRecord<'static> {
    FbxRecord::new("P").string(name).string(kind).string(label).string(flags)
}

/// An entry with an integer.
pub(super) fn int_row(name: &str, kind: &str, label: &str, value: i32) -> FbxRecord<'static> {
    row(name, kind, label, "").int(value)
}

/// An entry with three numbers.
pub(super) fn triple_row(
    name: &str,
    kind: &str,
    label: &str,
    flags: &str,
    v: [f64; 3],
) -> FbxRecord<'static> {
    row(name, kind, label, flags).double(v[0]).double(v[1]).double(v[2])
}

/// An entry with a vector.
pub(super) fn vector_row(name: &str, v: [f64; 3]) -> FbxRecord<'static> {
    triple_row(name, "Vector3D", "Vector", "", v)
}

/// A line with a vector that can be animated; its type is its name.
pub(super) fn local_row(name: &str, v: [f64; 3]) -> FbxRecord<'static> {
    triple_row(name, name, "", "A", v)
}

/// An entry with a time.
pub(super) fn time_row(name: &str, ticks: i64) -> FbxRecord<'static> {
    row(name, "KTime", "Time", "").long(ticks)
}

/// A `Properties70` record with these entries.
pub(super) fn properties(rows: impl IntoIterator<Item = FbxRecord<'static>>) -> FbxRecord<'static> {
    FbxRecord::new("Properties70").all(rows)
}

/// A property of a record that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Property<'a> {
    /// An integer or a boolean.
    Int(i64),
    /// A number.
    Number(f64),
    /// A text or raw bytes.
    Text(&'a [u8]),
    /// An array, not decoded.
    List,
}

impl FbxRecord<'_> {
    /// The property at an index; `None` if it does not exist or cannot be read.
    pub(super) fn get(&self, index: usize) -> Option<Property<'_>> {
        let mut rest: &[u8] = &self.properties;
        for _ in 0..index {
            rest = next(rest)?.1;
        }
        next(rest).map(|(property, _)| property)
    }

    /// The integer at an index.
    pub(super) fn get_int(&self, index: usize) -> Option<i64> {
        match self.get(index)? {
            Property::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The text at an index.
    pub(super) fn get_text(&self, index: usize) -> Option<&[u8]> {
        match self.get(index)? {
            Property::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The first property and the bytes after it.
fn next(bytes: &[u8]) -> Option<(Property<'_>, &[u8])> {
    fn fixed<const N: usize>(bytes: &[u8]) -> Option<([u8; N], &[u8])> {
        bytes.split_first_chunk::<N>().map(|(value, rest)| (*value, rest))
    }
    let length = |bytes: &[u8]| bytes.first_chunk().map(|l| u32::from_le_bytes(*l) as usize);
    let (letter, rest) = bytes.split_first()?;
    match letter {
        b'Y' => fixed(rest).map(|(v, rest)| (Property::Int(i16::from_le_bytes(v).into()), rest)),
        b'C' | b'B' | b'Z' => fixed::<1>(rest).map(|(v, rest)| (Property::Int(v[0].into()), rest)),
        b'I' => fixed(rest).map(|(v, rest)| (Property::Int(i32::from_le_bytes(v).into()), rest)),
        b'L' => fixed(rest).map(|(v, rest)| (Property::Int(i64::from_le_bytes(v)), rest)),
        b'F' => fixed(rest).map(|(v, rest)| (Property::Number(f32::from_le_bytes(v).into()), rest)),
        b'D' => fixed(rest).map(|(v, rest)| (Property::Number(f64::from_le_bytes(v)), rest)),
        b'S' | b'R' => {
            let text = rest.get(4..)?.split_at_checked(length(rest)?)?;
            Some((Property::Text(text.0), text.1))
        }
        b'f' | b'd' | b'l' | b'i' | b'b' | b'c' => {
            let width = match letter {
                b'd' | b'l' => 8,
                b'f' | b'i' => 4,
                _ => 1,
            };
            let packed = length(rest.get(4..)?)? != 0;
            let size = if packed { length(rest.get(8..)?)? } else { length(rest)?.checked_mul(width)? };
            Some((Property::List, rest.get(12..)?.get(size..)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_found_after_others() {
        let record = FbxRecord::new("X")
            .int(-3)
            .longs_for_test(&[1; 30])
            .string("a")
            .boolean(true)
            .double(0.5)
            .raw(b"zz");
        assert_eq!(record.count, 6);
        assert_eq!((record.get_int(0), record.get(1)), (Some(-3), Some(Property::List)));
        assert_eq!((record.get_text(2), record.get_int(3)), (Some(&b"a"[..]), Some(1)));
        assert_eq!((record.get(4), record.get_text(5)), (Some(Property::Number(0.5)), Some(&b"zz"[..])));
        assert_eq!((record.get(6), record.get_int(2)), (None, None));
    }

    #[test]
    fn cut_properties_are_none() {
        let record = FbxRecord::new("X").floats(&[1.0; 3]).string("abc").long(9);
        for length in 0..record.properties.len() {
            let cut =
                FbxRecord { properties: Cow::Borrowed(&record.properties[..length]), ..FbxRecord::default() };
            assert_eq!(cut.get(2), None, "{length}");
        }
    }

    #[test]
    fn names_cannot_contain_the_separator() {
        assert_eq!(object("a\0\u{1}Model", "Geometry"), "a__Model\0\u{1}Geometry");
    }

    impl FbxRecord<'static> {
        fn longs_for_test(self, values: &[i64]) -> Self {
            self.property(&longs(values))
        }
    }
}
