//! Packs lists of numbers for the player: little-endian, as narrow as possible, in one buffer that is compressed once.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write as _;

/// Between frames this far apart all others are predicted, half way each time.
const COARSE: usize = 16;
/// Added before numbers are cut off to integers: the prediction holds up to 0.65 steps, where 0.5 would round to the nearest.
/// Clips are then a fifteenth smaller and the mean error is the same; at 0.75 joints that turn slowly stand still and jump.
const ROUNDING: f64 = 0.35;

/// A buffer of concatenated lists; the scene refers to each by offset and length in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    bytes: Vec<u8>,
    /// Where each list is: equal ones are kept once.
    places: HashMap<Vec<u8>, usize>,
}

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
        let at = *self.places.entry(bytes.to_vec()).or_insert_with(|| {
            self.bytes.extend_from_slice(bytes);
            self.bytes.len() - bytes.len()
        });
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
            let mut last = 0;
            for row in 0..rows {
                let now = value(row, column);
                let off = now - last;
                last = if near == Prediction::Nothing { 0 } else { now };
                let folded = ((off << 1) ^ (off >> 31)) as u32;
                lows.push(folded as u8);
                highs.push((folded >> 8) as u16);
            }
        }
        lows.extend(highs.into_iter().flat_map(u16::to_le_bytes));
        self.bytes(&lows)
    }

    /// Curves, sampled in rows and given in steps, as what they differ from the cubic between the rows around them: first every
    /// [`COARSE`]-th row, then those half way, and so on. Rows less than `fine` from their neighbours have steps of double size.
    pub(super) fn curves(
        &mut self,
        rows: usize,
        columns: usize,
        fine: usize,
        value: impl Fn(usize, usize) -> f64,
    ) -> Value {
        let order = refinement(rows);
        let mut codes = vec![0; rows * columns];
        let mut known = vec![0.0; rows];
        for column in 0..columns {
            for (k, &(row, half)) in order.iter().enumerate() {
                let near = predicted(&known, row, half);
                let step = if half < fine { 2.0 } else { 1.0 };
                let off = (value(row, column) - near) / step;
                let code = off.signum() * (off.abs() + ROUNDING).floor();
                known[row] = near + step * code;
                codes[k * columns + column] = code as i32;
            }
        }
        self.whole(rows, columns, Prediction::Nothing, |row, column| codes[row * columns + column])
    }

    /// The size of this buffer on a page, bytes.
    pub(super) fn size(&self) -> usize {
        digits(&compressed(&[&self.bytes])).len()
    }

    /// `scene` and this buffer as one compressed text: the length of the JSON in 4 bytes, the JSON, the numbers.
    pub(super) fn with(self, scene: &Value) -> String {
        let json = scene.to_string();
        digits(&compressed(&[&(json.len() as u32).to_le_bytes(), json.as_bytes(), &self.bytes]))
    }
}

/// The rows of curves in the order in which they are packed, with their distance from those that predict them.
fn refinement(rows: usize) -> Vec<(usize, usize)> {
    let halves = std::iter::successors(Some(COARSE / 2), |h| Some(h / 2)).take_while(|&h| h > 0);
    let others = halves.flat_map(|h| (h..rows).step_by(2 * h).map(move |row| (row, h)));
    (0..rows).step_by(COARSE).map(|row| (row, COARSE)).chain(others).collect()
}

/// A row of a curve from those `half` before and after it and the next ones.
fn predicted(known: &[f64], row: usize, half: usize) -> f64 {
    let before = |far: usize| row.checked_sub(far).map(|k| known[k]);
    let after = |far: usize| known.get(row + far).filter(|_| half < COARSE);
    match (before(half), after(half), before(3 * half), after(3 * half)) {
        (Some(a), Some(b), Some(c), Some(d)) => (9.0 * (a + b) - (c + d)) / 16.0,
        (Some(a), Some(b), ..) => (a + b) / 2.0,
        (a, ..) => a.unwrap_or(0.0),
    }
}

fn compressed(parts: &[&[u8]]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let sure = "memory takes all that is written";
    for part in parts {
        encoder.write_all(part).expect(sure);
    }
    encoder.finish().expect(sure)
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

/// The bytes of a list.
#[cfg(test)]
fn taken<'a>(store: &'a Store, place: &Value) -> &'a [u8] {
    let [at, length] = [0, 1].map(|k| place[k].as_u64().unwrap() as usize);
    &store.bytes[at..at + length]
}

/// Decodes what [`Store::whole`] packed, row by row, as the player does.
#[cfg(test)]
fn unfolded(bytes: &[u8], (rows, columns): (usize, usize), near: Prediction) -> Vec<i32> {
    let n = rows * columns;
    let mut out = vec![0; n];
    for column in 0..columns {
        let mut last = 0;
        for row in 0..rows {
            let k = column * rows + row;
            let high = u16::from_le_bytes([bytes[n + 2 * k], bytes[n + 2 * k + 1]]);
            let folded = u32::from(bytes[k]) | u32::from(high) << 8;
            let now = last + ((folded >> 1) as i32 ^ -((folded & 1) as i32));
            last = if near == Prediction::Nothing { 0 } else { now };
            out[row * columns + column] = now;
        }
    }
    out
}

/// Decodes what [`Store::curves`] packed, row by row, as the player does.
#[cfg(test)]
pub(super) fn unpacked_curves(
    store: &Store,
    place: &Value,
    (rows, columns): (usize, usize),
    fine: usize,
) -> Vec<f64> {
    let codes = unfolded(taken(store, place), (rows, columns), Prediction::Nothing);
    let mut out = vec![0.0; rows * columns];
    for column in 0..columns {
        let mut known = vec![0.0; rows];
        for (k, (row, half)) in refinement(rows).into_iter().enumerate() {
            let step = if half < fine { 2.0 } else { 1.0 };
            known[row] = predicted(&known, row, half) + step * f64::from(codes[k * columns + column]);
            out[row * columns + column] = known[row];
        }
    }
    out
}

#[cfg(test)]
pub(super) fn unpacked_f32s(store: &Store, place: &Value) -> Vec<f32> {
    taken(store, place).chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        for near in [Prediction::Nothing, Prediction::Last] {
            let mut store = Store::default();
            let place = store.whole(rows, columns, near, value);
            let bytes = taken(&store, &place);
            assert_eq!(bytes.len(), 3 * rows * columns);
            let back = unfolded(bytes, (rows, columns), near);
            assert!((0..rows * columns).all(|k| back[k] == value(k / columns, k % columns)), "{near:?}");
        }
    }

    /// The largest error of a curve after packing, and its size.
    fn curve_error(rows: usize, fine: usize, curve: impl Fn(usize) -> f64) -> (f64, usize) {
        let mut store = Store::default();
        let place = store.curves(rows, 2, fine, |row, column| if column == 0 { 5.0 } else { curve(row) });
        let back = unpacked_curves(&store, &place, (rows, 2), fine);
        let worst = (0..rows).map(|row| (back[2 * row + 1] - curve(row)).abs()).fold(0.0, f64::max);
        (worst, store.size())
    }

    #[test]
    fn curves_come_back_within_their_steps_and_smooth_ones_are_small() {
        let jump = |row: usize| if row < 77 { 0.0 } else { 1000.3 };
        let smooth = |row: usize| 300.0 * (row as f64 * 0.05).sin();
        let noise = |row: usize| smooth(row) + f64::from((row * row % 23) as u32);
        for rows in [1, 2, 15, 16, 17, 33, 1000] {
            for fine in [0, 2, 16] {
                let step = if fine == 0 { 1.0 } else { 2.0 };
                for curve in [&jump as &dyn Fn(usize) -> f64, &smooth, &noise] {
                    let (worst, _) = curve_error(rows, fine, curve);
                    assert!(worst <= 0.65 * step + 1e-9, "{worst} {rows} {fine}");
                }
            }
        }
        let size = |curve: &dyn Fn(usize) -> f64| curve_error(1000, 0, curve).1;
        assert!(2 * size(&smooth) < size(&noise), "{} {}", size(&smooth), size(&noise));
    }

    #[test]
    fn equal_lists_are_kept_once() {
        let mut store = Store::default();
        let first = store.f32s([1.0, 2.0]);
        let other = store.f32s([1.0, 3.0]);
        assert_eq!(store.f32s([1.0, 2.0]), first);
        assert_ne!(other, first);
        assert_eq!(store.bytes.len(), 16);
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
