//! Text of the BVH line `Frame Time`, seconds.

/// Seconds for each frame: nine significant digits, or as many more as the rate needs; at least six decimals.
///
/// A rate that was read from `0.0083333` is printed as that again; 120 Hz is printed as `0.00833333333333333`.
pub(super) fn frame_time(sample_rate: f64) -> String {
    let seconds = 1.0 / sample_rate;
    let leading = (-libm::log10(seconds).floor()).max(0.0) as usize;
    let text = (9..=17)
        .map(|digits| format!("{seconds:.*}", digits - 1 + leading))
        .find(|text| text.parse::<f64>().is_ok_and(|t| 1.0 / t == sample_rate))
        .unwrap_or_else(|| seconds.to_string());
    let decimals = text.len() - text.find('.').map_or(text.len(), |point| point + 1);
    let zeros = text.bytes().rev().take_while(|&b| b == b'0').count();
    text[..text.len() - zeros.min(decimals.saturating_sub(6))].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_times_stay_as_they_were_read() {
        for text in ["0.0083333", "0.033333", "0.0417083750417", "0.010000", "2.500000"] {
            let seconds: f64 = text.parse().unwrap();
            assert_eq!(frame_time(1.0 / seconds), text);
        }
        for rate in [24.0, 30.0, 59.94, 120.0, 1e-2, 1e5] {
            assert!((1.0 / frame_time(rate).parse::<f64>().unwrap() / rate - 1.0).abs() < 1e-15);
        }
    }
}
