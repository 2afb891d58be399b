//! Frames that count once in statistics over a clip: those that do not repeat the one before.
//!
//! A pose that is held says no more about floor and feet than it does once.

/// Fewest distinct frames; a clip with fewer is a still pose, of which every frame counts.
const FEWEST: usize = 10;

/// Whether each frame differs from the last one that does; `same` compares two frames.
pub fn distinct_frames(frames: usize, same: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    let mut last = None;
    let differs = |f: usize| {
        let differs = last.is_none_or(|last| !same(last, f));
        if differs {
            last = Some(f);
        }
        differs
    };
    let distinct: Vec<bool> = (0..frames).map(differs).collect();
    match distinct.iter().filter(|distinct| **distinct).count() < FEWEST {
        true => vec![true; frames],
        false => distinct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_frame_counts_once_and_a_slow_drift_counts_every_step() {
        let of = |values: &[f64]| distinct_frames(values.len(), |a, b| (values[a] - values[b]).abs() < 1.0);
        let moves: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(of(&moves), [true; 20]);
        let held: Vec<f64> = moves.iter().copied().chain([19.0; 5]).collect();
        assert_eq!(of(&held), [[true; 20].as_slice(), &[false; 5]].concat());
        let drift: Vec<f64> = (0..40).map(|f| 0.5 * f64::from(f)).collect();
        assert_eq!(of(&drift), (0..40).map(|f| f % 2 == 0).collect::<Vec<_>>());
        assert_eq!(of(&[3.0; 30]), [true; 30], "a still pose");
    }
}
