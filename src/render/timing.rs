//! Frame times and delays in whole hundredths of a second, whose sum is the clip's duration.

/// When each of `count` frames is shown: the time of the clip, evenly spread, the last frame as long as the others.
pub(super) fn times(duration: f64, count: usize) -> Vec<f64> {
    (0..count).map(|k| duration * k as f64 / count as f64).collect()
}

/// Poses of a sheet: the first frame, the last frame, and evenly between them.
pub(super) fn poses(duration: f64, count: usize) -> Vec<f64> {
    let last = count.saturating_sub(1).max(1) as f64;
    (0..count).map(|k| duration * k as f64 / last).collect()
}

/// How long each frame is shown, in hundredths of a second. The rounding error is added to the next frame, so that
/// the sum is the rounded duration; a still picture lasts a second.
pub(super) fn delays(duration: f64, count: usize) -> Vec<u16> {
    if count < 2 {
        let still = if duration > 0.0 { duration } else { 1.0 };
        return vec![(still * 100.0).round().clamp(1.0, f64::from(u16::MAX)) as u16];
    }
    let end = |k: usize| (duration * 100.0 * k as f64 / count as f64).round() as u64;
    (0..count).map(|k| u16::try_from(end(k + 1) - end(k)).unwrap_or(u16::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn delays_add_up_to_the_length_of_the_clip(duration in 0.1..600.0f64, fps in 1.0..50.0f64) {
            let count = ((duration * fps).round() as usize).clamp(1, (duration * 50.0) as usize);
            let all = delays(duration, count);
            prop_assert_eq!(all.len(), count);
            let sum: u64 = all.iter().map(|&d| u64::from(d)).sum();
            prop_assert_eq!(sum, (duration * 100.0).round() as u64);
            let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
            prop_assert!(most - least <= 1);
            prop_assert!(count == 1 || *least >= 2);
        }
    }

    #[test]
    fn thirty_frames_a_second_are_three_three_four() {
        assert_eq!(delays(0.2, 6), [3, 4, 3, 3, 4, 3]);
        assert_eq!(delays(0.0, 1), [100]);
        assert_eq!(poses(2.0, 3), [0.0, 1.0, 2.0]);
        assert_eq!(poses(2.0, 1), [0.0]);
    }
}
