//! Packs lists of numbers for the player: little-endian, as narrow as possible, in one buffer that is compressed once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
    /// Equal to the last one.
    Last,
    /// Linear extrapolation from the last two.
    Linear,
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

    pub(super) fn u16s(&mut self, values: impl IntoIterator<Item = u16>) -> Value {
        self.bytes(&values.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
    }

    /// Directions, 127 steps per component on either side.
    pub(super) fn directions(&mut self, values: &[[f32; 3]]) -> Value {
        let code = |row: usize, k: usize| (values[row][k].clamp(-1.0, 1.0) * 127.0).round() as i32;
        self.whole(values.len(), 3, Prediction::Last, code)
    }

    /// Vectors of `N` numbers, each component between its own bounds, in steps of at least `least`.
    pub(super) fn quantised<const N: usize>(&mut self, values: &[[f32; N]], least: f32) -> Quantised {
        let mut low = vec![f32::INFINITY; N];
        let mut high = vec![f32::NEG_INFINITY; N];
        for v in values {
            for ((l, h), x) in low.iter_mut().zip(&mut high).zip(v) {
                (*l, *h) = (l.min(*x), h.max(*x));
            }
        }
        let step: Vec<f32> = (0..N).map(|k| ((high[k] - low[k]) / 65535.0).max(least)).collect();
        let code = |k: usize, x: f32| if step[k] > 0.0 { ((x - low[k]) / step[k]).round() as u16 } else { 0 };
        let place =
            self.whole(values.len(), N, Prediction::Last, |row, k| i32::from(code(k, values[row][k])));
        Quantised { low, step, place }
    }

    /// Numbers from -1 to 1 that change smoothly from row to row, in steps of [`ROTATION_STEP`], as [`Store::whole`].
    pub(super) fn smooth_columns(
        &mut self,
        rows: usize,
        columns: usize,
        value: impl Fn(usize, usize) -> f64,
    ) -> Value {
        let code =
            |row: usize, column: usize| (value(row, column).clamp(-1.0, 1.0) / ROTATION_STEP).round() as i32;
        self.whole(rows, columns, Prediction::Linear, code)
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
                last = now;
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
        STANDARD.encode(encoder.finish().expect(sure))
    }
}

/// Step of rotation components: half of it moves the end of a limb of one metre by a tenth of a millimetre.
pub(super) const ROTATION_STEP: f64 = 1.0 / 8191.0;

#[cfg(test)]
mod tests {
    use super::*;

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
                last = now;
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
        let packed = store.quantised(&values, 0.0);
        let codes = unfolded(taken(&store, &packed.place), (100, 3), Prediction::Last);
        for (i, v) in values.iter().enumerate() {
            for k in 0..3 {
                let back = packed.low[k] + packed.step[k] * codes[3 * i + k] as f32;
                assert!((back - v[k]).abs() <= 0.51 * packed.step[k] + 1e-5, "{back} {}", v[k]);
            }
        }
    }

    #[test]
    fn columns_come_back_within_half_a_step() {
        let (rows, columns) = (50, 3);
        let value = |row: usize, column: usize| match column {
            0 => (row as f64 * 0.2).sin(),
            1 => {
                if row.is_multiple_of(2) {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => 0.25,
        };
        let mut store = Store::default();
        let place = store.smooth_columns(rows, columns, value);
        let bytes = taken(&store, &place);
        assert_eq!(bytes.len(), 3 * rows * columns);
        for (k, code) in unfolded(bytes, (rows, columns), Prediction::Linear).into_iter().enumerate() {
            let off = f64::from(code) * ROTATION_STEP - value(k / columns, k % columns);
            assert!(off.abs() <= 0.51 * ROTATION_STEP, "{k}: {off}");
        }
    }

    #[test]
    fn a_scene_and_its_numbers_are_one_text() {
        let mut store = Store::default();
        store.bytes(&[7; 1000]);
        let text = store.with(&json!({ "a": 1 }));
        assert!(text.len() < 100, "{}", text.len());
        let mut bytes = Vec::new();
        let packed = STANDARD.decode(text).unwrap();
        std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(packed.as_slice()), &mut bytes)
            .unwrap();
        assert_eq!(bytes[..4], 7_u32.to_le_bytes());
        assert_eq!((&bytes[4..11], bytes.len()), (&b"{\"a\":1}"[..], 1011));
    }
}
