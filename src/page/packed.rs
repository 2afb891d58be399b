//! Packs lists of numbers for the player: little-endian, as narrow as possible, in one buffer that is compressed once.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use std::io::Write as _;

/// A buffer of concatenated lists; the scene refers to each by offset and length in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Store(Vec<u8>);

/// A list quantised to at most 16 bits between the minimum and maximum of each component.
#[derive(Clone, Debug)]
pub(super) struct Quantised {
    pub(super) low: Vec<f32>,
    pub(super) step: Vec<f32>,
    pub(super) place: Value,
}

/// Prediction of the next number of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prediction {
    /// Zero: the numbers are differences already.
    Nothing,
    /// Equal to the last one.
    Last,
    /// Linear extrapolation from the last two.
    Linear,
}

/// Positions in whole steps from their least corner.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) low: [f32; 3],
    pub(super) step: f32,
}

impl Grid {
    /// The grid of these positions with steps of at least `least`, and of at most 65,536 along each axis.
    pub(super) fn around(positions: &[[f32; 3]], least: f32) -> Self {
        let ends = |pick: fn(f32, f32) -> f32, start| {
            [0, 1, 2].map(|k| positions.iter().map(|p| p[k]).fold(start, pick))
        };
        let (low, high) = (ends(f32::min, f32::INFINITY), ends(f32::max, f32::NEG_INFINITY));
        let step = (0..3).map(|k| (high[k] - low[k]) / 65535.0).fold(least, f32::max);
        Self { low, step }
    }

    /// A position in steps.
    pub(super) fn code(&self, position: &[f32; 3]) -> [i32; 3] {
        let code = |k: usize| ((position[k] - self.low[k]) / self.step).round() as u16;
        [0, 1, 2].map(|k| if self.step > 0.0 { i32::from(code(k)) } else { 0 })
    }
}

impl Store {
    /// Bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Value {
        let at = self.0.len();
        self.0.extend_from_slice(bytes);
        json!([at, bytes.len()])
    }

    pub(super) fn f32s(&mut self, values: impl IntoIterator<Item = f32>) -> Value {
        self.bytes(&values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
    }

    /// Vectors of `N` numbers, each component between its own bounds.
    pub(super) fn quantised<const N: usize>(&mut self, values: &[[f32; N]]) -> Quantised {
        let mut low = vec![f32::INFINITY; N];
        let mut high = vec![f32::NEG_INFINITY; N];
        for v in values {
            for ((l, h), x) in low.iter_mut().zip(&mut high).zip(v) {
                (*l, *h) = (l.min(*x), h.max(*x));
            }
        }
        let step: Vec<f32> = (0..N).map(|k| (high[k] - low[k]) / 65535.0).collect();
        let code = |k: usize, x: f32| if step[k] > 0.0 { ((x - low[k]) / step[k]).round() as u16 } else { 0 };
        let place =
            self.whole(values.len(), N, Prediction::Last, |row, k| i32::from(code(k, values[row][k])));
        Quantised { low, step, place }
    }

    /// Integers below 2^23 in rows and columns: column by column the difference from the prediction, with the sign in the lowest
    /// bit, so that most are small; first all low bytes, then the others, which are mostly zero and compress well.
    pub(super) fn whole(
        &mut self,
        rows: usize,
        columns: usize,
        near: Prediction,
        value: impl Fn(usize, usize) -> i32,
    ) -> Value {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for column in 0..columns {
            let (mut last, mut change) = (0, 0);
            for row in 0..rows {
                let now = value(row, column);
                let off = now - last - change;
                change = if row > 0 && near == Prediction::Linear { now - last } else { 0 };
                last = if near == Prediction::Nothing { 0 } else { now };
                let folded = ((off << 1) ^ (off >> 31)) as u32;
                lows.push(folded as u8);
                highs.push((folded >> 8) as u16);
            }
        }
        lows.extend(highs.into_iter().flat_map(u16::to_le_bytes));
        self.bytes(&lows)
    }

    /// `scene` and this buffer as one compressed text: the length of the JSON in 4 bytes, the JSON, the numbers.
    pub(super) fn with(self, scene: &Value) -> String {
        let json = scene.to_string();
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let sure = "memory takes all that is written";
        for part in [&(json.len() as u32).to_le_bytes()[..], json.as_bytes(), &self.0] {
            encoder.write_all(part).expect(sure);
        }
        digits(&encoder.finish().expect(sure))
    }
}

/// Bytes as digits to base 85, five for each four bytes (Ascii85), which is a sixteenth less than base 64. The digits are `#` to `w`,
/// with `x` for `<`, which could end a script.
fn digits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() / 4 * 5 + 5);
    for chunk in bytes.chunks(4) {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        let value = u32::from_be_bytes(word);
        for power in [52_200_625, 614_125, 7225, 85, 1].into_iter().take(chunk.len() + 1) {
            let digit = b'#' + (value / power % 85) as u8;
            text.push(char::from(if digit == b'<' { b'x' } else { digit }));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes of a list.
    fn taken<'a>(store: &'a Store, place: &Value) -> &'a [u8] {
        let [at, length] = [0, 1].map(|k| place[k].as_u64().unwrap() as usize);
        &store.0[at..at + length]
    }

    /// Decodes what [`Store::whole`] packed, row by row, as the player does.
    fn unfolded(bytes: &[u8], (rows, columns): (usize, usize), near: Prediction) -> Vec<i32> {
        let n = rows * columns;
        let mut out = vec![0; n];
        for column in 0..columns {
            let (mut last, mut change) = (0, 0);
            for row in 0..rows {
                let k = column * rows + row;
                let high = u16::from_le_bytes([bytes[n + 2 * k], bytes[n + 2 * k + 1]]);
                let folded = u32::from(bytes[k]) | u32::from(high) << 8;
                let now = last + change + ((folded >> 1) as i32 ^ -((folded & 1) as i32));
                change = if row > 0 && near == Prediction::Linear { now - last } else { 0 };
                last = if near == Prediction::Nothing { 0 } else { now };
                out[row * columns + column] = now;
            }
        }
        out
    }

    #[test]
    fn quantised_vectors_come_back_within_half_a_step() {
        let values: Vec<[f32; 3]> = (0..100).map(|k| [k as f32, (k as f32 * 0.3).sin(), 7.0]).collect();
        let mut store = Store::default();
        store.bytes(b"before");
        let packed = store.quantised(&values);
        let codes = unfolded(taken(&store, &packed.place), (100, 3), Prediction::Last);
        for (i, v) in values.iter().enumerate() {
            for k in 0..3 {
                let back = packed.low[k] + packed.step[k] * codes[3 * i + k] as f32;
                assert!((back - v[k]).abs() <= 0.51 * packed.step[k] + 1e-5, "{back} {}", v[k]);
            }
        }
    }

    #[test]
    fn columns_come_back_exactly() {
        let (rows, columns) = (50, 3);
        let value = |row: usize, column: usize| match column {
            0 => (1000.0 * (row as f64 * 0.2).sin()) as i32,
            1 => {
                if row.is_multiple_of(2) {
                    1 << 20
                } else {
                    -(1 << 20)
                }
            }
            _ => 7,
        };
        for near in [Prediction::Nothing, Prediction::Last, Prediction::Linear] {
            let mut store = Store::default();
            let place = store.whole(rows, columns, near, value);
            let bytes = taken(&store, &place);
            assert_eq!(bytes.len(), 3 * rows * columns);
            let back = unfolded(bytes, (rows, columns), near);
            assert!((0..rows * columns).all(|k| back[k] == value(k / columns, k % columns)), "{near:?}");
        }
    }

    /// Bytes from their digits, as the page does.
    fn bytes_of(text: &str) -> Vec<u8> {
        let digit = |&c: &u8| u64::from(if c == b'x' { b'<' } else { c } - b'#');
        let word = |digits: &[u8]| {
            let value = (0..5).fold(0, |value, k| value * 85 + digits.get(k).map_or(84, digit));
            (value as u32).to_be_bytes()[..digits.len() - 1].to_vec()
        };
        text.as_bytes().chunks(5).flat_map(word).collect()
    }

    proptest! {
        #[test]
        fn digits_come_back_as_bytes_and_open_no_tag(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let text = digits(&bytes);
            prop_assert!(text.bytes().all(|c| (b'#'..=b'x').contains(&c) && c != b'<'));
            prop_assert_eq!(bytes_of(&text), bytes);
        }
    }

    #[test]
    fn a_scene_and_its_numbers_are_one_text() {
        let mut store = Store::default();
        store.bytes(&[7; 1000]);
        let text = store.with(&json!({ "a": 1 }));
        assert!(text.len() < 100, "{}", text.len());
        let mut bytes = Vec::new();
        let packed = bytes_of(&text);
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(packed.as_slice()), &mut bytes)
            .unwrap();
        assert_eq!(bytes[..4], 7_u32.to_le_bytes());
        assert_eq!((&bytes[4..11], bytes.len()), (&b"{\"a\":1}"[..], 1011));
    }
}
