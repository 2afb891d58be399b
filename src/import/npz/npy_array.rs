//! Reads one `.npy` array.
//!
//! Versions 1 to 3, little and big endian, C and Fortran order, any number of dimensions. Shapes are compared with the
//! available bytes before memory is allocated, and numbers are converted while they are decompressed. Source: NumPy
//! Enhancement Proposal 1 (the `.npy` format).

use super::npz_error::NpzError;
use crate::import::half_number::half_number;
use crate::memory_budget::MemoryBudget;
use crate::report::shortened;
use std::io::Read;

/// Maximum length of an array's header, bytes; numpy writes less than 200.
const MAX_HEADER: usize = 1 << 16;
/// Maximum number of dimensions, as in numpy.
const MAX_DIMENSIONS: usize = 64;

/// Numbers with their shape, the last index fastest.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct NpyArray {
    pub(in crate::import) shape: Vec<usize>,
    pub(in crate::import) values: Vec<f64>,
}

/// The header of an array.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct NpyHeader {
    pub(in crate::import) shape: Vec<usize>,
    /// The type as numpy writes it: `<f8`.
    pub(in crate::import) kind: String,
    fortran: bool,
    /// The bytes before the first element.
    length: u64,
}

impl NpyHeader {
    /// Reads the header at the start of `input`.
    pub(in crate::import) fn read(input: &mut impl Read) -> Result<Self, String> {
        let mut start = [0; 8];
        input.read_exact(&mut start).map_err(|_| "it ends within its head".to_owned())?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err("it does not start as a numpy array does".into());
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!("version {version} of the format is not known")),
        };
        let mut size = [0; 4];
        input.read_exact(&mut size[..width]).map_err(|_| "it ends within its head".to_owned())?;
        let size = u32::from_le_bytes(size) as usize;
        if size > MAX_HEADER {
            return Err(format!("its head has {size} bytes, at most {MAX_HEADER} are read (`MAX_HEADER`)"));
        }
        let mut text = vec![0; size];
        input.read_exact(&mut text).map_err(|_| "it ends within its head".to_owned())?;
        let text = String::from_utf8_lossy(&text);
        let length = (8 + width + size) as u64;
        Self::parse(&text, length)
            .ok_or_else(|| format!("its head makes no sense: {}", shortened(text.trim())))?
    }

    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (120, 156), }`; `None` if a part is missing.
    fn parse(text: &str, length: u64) -> Option<Result<Self, String>> {
        let after = |key: &str| {
            let at = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|k| {
                let at = text.find(k.as_str())?;
                Some(at + k.len())
            })?;
            text[at..].trim_start().strip_prefix(':').map(str::trim_start)
        };
        let kind = after("descr")?;
        let quote = kind.chars().next()?;
        if !matches!(quote, '\'' | '"') {
            return Some(Err("its elements are records of several fields".into()));
        }
        let (kind, _) = kind[1..].split_once(quote)?;
        let fortran = match after("fortran_order")? {
            order if order.starts_with("True") => true,
            order if order.starts_with("False") => false,
            _ => return None,
        };
        let (shape, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
        let sizes = shape.split(',').map(str::trim).filter(|s| !s.is_empty());
        let shape: Vec<usize> = sizes.map(|s| s.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?;
        if shape.len() > MAX_DIMENSIONS {
            return Some(Err(format!("it has {} dimensions", shape.len())));
        }
        Some(Ok(Self { shape, kind: kind.to_owned(), fortran, length }))
    }

    /// Whether the elements are Python objects.
    pub(in crate::import) fn objects(&self) -> bool {
        self.kind.contains('O')
    }

    /// The number of elements; `None` if it overflows.
    pub(in crate::import) fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size as u64))
    }

    /// The number of values that reading the array allocates: Fortran order needs a second, transposed list.
    pub(in crate::import) fn room(&self) -> u64 {
        self.count().map_or(u64::MAX, |count| count.saturating_mul(1 + u64::from(self.fortran)))
    }

    /// The numbers that follow in `input`, whose entry has `size` bytes with its head.
    pub(in crate::import) fn values(self, input: &mut impl Read, size: u64) -> Result<NpyArray, String> {
        let (big, letters) = match self.kind.split_at_checked(1) {
            Some((">", letters)) => (true, letters),
            Some(("<" | "|" | "=", letters)) => (false, letters),
            _ => (false, self.kind.as_str()),
        };
        let (width, number): (usize, fn([u8; 8]) -> f64) = match letters {
            "f8" => (8, f64::from_le_bytes),
            "f4" => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "f2" => (2, |b| half_number(u16::from_le_bytes([b[0], b[1]]))),
            "i8" => (8, |b| i64::from_le_bytes(b) as f64),
            "u8" => (8, |b| u64::from_le_bytes(b) as f64),
            "i4" => (4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "u4" => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
            "i2" => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
            "u2" => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
            "i1" => (1, |b| f64::from(i8::from_le_bytes([b[0]]))),
            "u1" | "b1" => (1, |b| f64::from(b[0])),
            _ => return Err(format!("its elements are of the type `{}`, numbers are read", self.kind)),
        };
        let bytes = self.count().and_then(|n| n.checked_mul(width as u64)?.checked_add(self.length));
        if bytes != Some(size) {
            return Err(format!("it has {size} bytes, its header states the shape {}", shape(&self.shape)));
        }
        let count = (size - self.length) / width as u64;
        let mut values = Vec::new();
        let mut bytes = [0; 8192];
        let mut left = count as usize;
        while left > 0 {
            let now = left.min(bytes.len() / width);
            let part = &mut bytes[..now * width];
            input.read_exact(part).map_err(|error| format!("it ends too early ({error})"))?;
            values.extend(part.chunks_exact(width).map(|element| {
                let mut raw = [0; 8];
                raw[..width].copy_from_slice(element);
                if big {
                    raw[..width].reverse();
                }
                number(raw)
            }));
            left -= now;
        }
        let values = if self.fortran { last_index_fastest(&self.shape, &values) } else { values };
        Ok(NpyArray { shape: self.shape, values })
    }

    /// The texts that follow in `input`, whose entry has `size` bytes with its head: fixed width, padded with zeros.
    pub(super) fn texts(self, input: &mut impl Read, size: u64) -> Result<Vec<String>, String> {
        let (big, kind) = match self.kind.split_at_checked(1) {
            Some((">", kind)) => (true, kind),
            Some(("<" | "|" | "=", kind)) => (false, kind),
            _ => (false, self.kind.as_str()),
        };
        let unit = match kind.get(..1) {
            Some("U") => 4,
            Some("S") => 1,
            _ => return Err(format!("its elements are of the type `{}`, texts are read", self.kind)),
        };
        let width = kind[1..].parse::<u64>().ok().filter(|w| *w > 0).ok_or("its texts have no width")?;
        let bytes =
            self.count().and_then(|n| n.checked_mul(width)?.checked_mul(unit)?.checked_add(self.length));
        if bytes != Some(size) {
            return Err(format!("it has {size} bytes, its header states the shape {}", shape(&self.shape)));
        }
        let mut content = Vec::new();
        input
            .take(size - self.length)
            .read_to_end(&mut content)
            .map_err(|error| format!("it ends too early ({error})"))?;
        if content.len() as u64 != size - self.length {
            return Err("it ends too early".into());
        }
        let character = |raw: &[u8]| match *raw {
            [a, b, c, d] if big => u32::from_be_bytes([a, b, c, d]),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
            _ => u32::from(raw[0]),
        };
        let text = |element: &[u8]| -> String {
            let characters = element.chunks_exact(unit as usize).map(character);
            let all: String =
                characters.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            all.trim_end_matches('\0').to_owned()
        };
        Ok(content.chunks_exact((width * unit) as usize).map(text).collect())
    }
}

/// The array of a file that holds nothing else.
///
/// # Errors
/// Damage, elements that are not numbers, and more of them than the memory limit allows.
pub(in crate::import) fn read_npy(bytes: &[u8], budget: &MemoryBudget) -> Result<NpyArray, NpzError> {
    let fault = |reason: String| NpzError::ArrayFile { reason };
    let mut input = bytes;
    let header = NpyHeader::read(&mut input).map_err(fault)?;
    if header.objects() {
        return Err(NpzError::ObjectFile);
    }
    budget
        .reserve_list::<f64>(header.room(), || format!("the array of the shape {}", shape(&header.shape)))?;
    header.values(&mut input, bytes.len() as u64).map_err(fault)
}

/// The values of an array in Fortran order, converted to C order.
fn last_index_fastest(shape: &[usize], values: &[f64]) -> Vec<f64> {
    let mut index = vec![0; shape.len()];
    let strides: Vec<usize> =
        shape.iter().scan(1, |stride, &n| Some(std::mem::replace(stride, *stride * n))).collect();
    let mut at = 0;
    let mut reordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        reordered.push(values[at]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= shape[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    reordered
}

/// A shape as numpy prints it.
pub(in crate::import) fn shape(sizes: &[usize]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// The error of an array that has another shape.
pub(super) fn wrong(name: &str, array: &NpyArray, expected: impl Into<String>) -> NpzError {
    NpzError::Shape { array: name.to_owned(), expected: expected.into(), found: shape(&array.shape) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str, data: &[u8]) -> Result<NpyArray, String> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((head.len() as u16).to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.extend(data);
        let mut input = &bytes[..];
        NpyHeader::read(&mut input)?.values(&mut input, bytes.len() as u64)
    }

    #[test]
    fn both_orders_and_both_ends_are_read() {
        let c = read("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", &[1, 2, 3, 4, 5, 6]);
        let f = read("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", &[1, 4, 2, 5, 3, 6]);
        assert_eq!(c.as_ref().unwrap().values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(c, f);
        let big = read("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", &[1, 2]).unwrap();
        assert_eq!(big.values, [258.0]);
        let one =
            read("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", &1.5f32.to_le_bytes()).unwrap();
        assert_eq!((one.shape.len(), one.values[0]), (0, 1.5));
        let half =
            read("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", &[0, 0x3C, 0, 0xC0]).unwrap();
        assert_eq!(half.values, [1.0, -2.0]);
        let none = read("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5), }", &[]).unwrap();
        assert!(none.values.is_empty());
    }

    #[test]
    fn shapes_are_held_against_the_bytes_before_memory_is_taken() {
        let head = |shape: &str| format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
        for shape in ["1000000,", "18446744073709551615, 2", "67108865,", "2,"] {
            assert!(read(&head(shape), &[0; 8]).is_err(), "{shape}");
        }
        assert!(read("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", &[]).is_err());
        assert!(read("((((", &[]).is_err());
    }
}
