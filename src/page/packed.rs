//! Lists of numbers become base64 text for the player: little-endian, as wide as they need to be.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Numbers of a list, quantised to 16 bits between the least and the greatest of each component.
#[derive(Clone, Debug)]
pub(super) struct Quantised {
    pub(super) low: Vec<f32>,
    pub(super) step: Vec<f32>,
    pub(super) text: String,
}

/// Bytes as base64.
pub(super) fn bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn f32s(values: impl IntoIterator<Item = f32>) -> String {
    bytes(&values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}

pub(super) fn u32s(values: impl IntoIterator<Item = u32>) -> String {
    bytes(&values.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
}

pub(super) fn u16s(values: impl IntoIterator<Item = u16>) -> String {
    bytes(&values.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
}

/// Numbers from -1 to 1 as 16 bits.
pub(super) fn units16(values: impl IntoIterator<Item = f64>) -> String {
    let code = |x: f64| (x.clamp(-1.0, 1.0) * 32767.0).round() as i16;
    bytes(&values.into_iter().flat_map(|x| code(x).to_le_bytes()).collect::<Vec<u8>>())
}

/// Numbers from -1 to 1 as 8 bits.
pub(super) fn units8(values: impl IntoIterator<Item = f32>) -> String {
    let code = |x: f32| (x.clamp(-1.0, 1.0) * 127.0).round() as i8;
    bytes(&values.into_iter().flat_map(|x| code(x).to_le_bytes()).collect::<Vec<u8>>())
}

/// Vectors of `N` numbers, each component between its own bounds.
pub(super) fn quantised<const N: usize>(values: &[[f32; N]]) -> Quantised {
    let mut low = vec![f32::INFINITY; N];
    let mut high = vec![f32::NEG_INFINITY; N];
    for v in values {
        for ((l, h), x) in low.iter_mut().zip(&mut high).zip(v) {
            (*l, *h) = (l.min(*x), h.max(*x));
        }
    }
    let step: Vec<f32> = (0..N).map(|k| ((high[k] - low[k]) / 65535.0).max(0.0)).collect();
    let code = |k: usize, x: f32| if step[k] > 0.0 { ((x - low[k]) / step[k]).round() as u16 } else { 0 };
    let text = u16s(values.iter().flat_map(|v| (0..N).map(|k| code(k, v[k])).collect::<Vec<u16>>()));
    Quantised { low, step, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn u16_list(text: &str) -> Vec<u16> {
        STANDARD.decode(text).unwrap().as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b)).collect()
    }

    #[test]
    fn quantised_vectors_come_back_within_half_a_step() {
        let values: Vec<[f32; 3]> = (0..100).map(|k| [k as f32, (k as f32 * 0.3).sin(), 7.0]).collect();
        let packed = quantised(&values);
        let codes = u16_list(&packed.text);
        for (i, v) in values.iter().enumerate() {
            for k in 0..3 {
                let back = packed.low[k] + packed.step[k] * f32::from(codes[3 * i + k]);
                assert!((back - v[k]).abs() <= 0.51 * packed.step[k] + 1e-5, "{back} {}", v[k]);
            }
        }
    }

    #[test]
    fn unit_numbers_are_whole_at_their_ends() {
        let codes: Vec<i16> =
            u16_list(&units16([1.0, -1.0, 0.0, 2.0])).into_iter().map(|c| c.cast_signed()).collect();
        assert_eq!(codes, [32767, -32767, 0, 32767]);
    }
}
