//! Monotone cubic interpolation of keyframes: never overshoots two neighbouring keys.
//!
//! Cubic Hermite pieces; the slope at a key is the weighted harmonic mean of the slopes on both sides, or zero where these
//! differ in sign (Fritsch and Butland 1984, SIAM Journal on Scientific and Statistical Computing 5:300); at the ends it is
//! that of a parabola. Constant before the first key and after the last. Units: seconds; the value in any unit.

/// The value at `time` between keys (time, value), whose times ascend; `None` without keys.
pub fn monotone<const N: usize>(keys: &[(f64, [f64; N])], time: f64) -> Option<[f64; N]> {
    let behind = keys.partition_point(|key| key.0 <= time);
    let (Some(before), Some(behind_key)) = (behind.checked_sub(1), keys.get(behind)) else {
        return keys.get(behind.saturating_sub(1)).map(|key| key.1);
    };
    let (from, values) = keys[before];
    let (to, next) = *behind_key;
    let (h, u) = (to - from, (time - from) / (to - from));
    Some(std::array::from_fn(|axis| {
        let [a, b] = [before, behind].map(|k| slope(keys, k, axis) * h);
        let (x, y) = (values[axis], next[axis]);
        x + u * (a + u * (3.0 * (y - x) - 2.0 * a - b + u * (2.0 * (x - y) + a + b)))
    }))
}

/// The slope at a key.
fn slope<const N: usize>(keys: &[(f64, [f64; N])], k: usize, axis: usize) -> f64 {
    // Duration and slope of the piece that starts at a key.
    let piece = |k: usize| {
        let (from, to) = (keys.get(k)?, keys.get(k + 1)?);
        let h = to.0 - from.0;
        (h > 0.0).then(|| (h, (to.1[axis] - from.1[axis]) / h))
    };
    let (before, behind) = (k.checked_sub(1).and_then(piece), piece(k));
    match (before, behind) {
        (Some((g, a)), Some((h, b))) if a * b > 0.0 => {
            let weight = (g + 2.0 * h) / (3.0 * (g + h));
            a * b / (weight * b + (1.0 - weight) * a)
        }
        (Some(_), Some(_)) | (None, None) => 0.0,
        (None, Some(first)) => end_slope(first, piece(k + 1)),
        (Some(last), None) => end_slope(last, k.checked_sub(2).and_then(piece)),
    }
}

/// The slope at the outer end of a piece: that of the parabola through it and its neighbour, limited to avoid overshoot.
fn end_slope((h, a): (f64, f64), next: Option<(f64, f64)>) -> f64 {
    let Some((g, b)) = next else { return a };
    let found = ((2.0 * h + g) * a - h * b) / (h + g);
    if found * a <= 0.0 { 0.0 } else { found.abs().min(3.0 * a.abs()).copysign(a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_met_and_nothing_goes_beyond_them(
            steps in proptest::collection::vec((0.01..2.0f64, -1.0..1.0f64), 1..12), u in 0.0..1.0f64,
        ) {
            let mut time = 0.0;
            let keys: Vec<(f64, [f64; 1])> = steps.iter().map(|&(step, value)| {
                time += step;
                (time, [value])
            }).collect();
            for key in &keys {
                prop_assert!((monotone(&keys, key.0).unwrap()[0] - key.1[0]).abs() < 1e-12);
            }
            for pair in keys.windows(2) {
                let [x] = monotone(&keys, pair[0].0 + u * (pair[1].0 - pair[0].0)).unwrap();
                let (low, high) = (pair[0].1[0].min(pair[1].1[0]), pair[0].1[0].max(pair[1].1[0]));
                prop_assert!((low - 1e-12..=high + 1e-12).contains(&x), "{} {} {}", low, x, high);
            }
        }
    }

    /// Fritsch and Butland 1984, equation 4: slopes 1 over one second and 1/2 over two meet with weights 5/9 and 4/9.
    #[test]
    fn the_slope_at_a_key_is_the_harmonic_mean_weighted_by_the_pieces() {
        let keys = [(0.0, [0.0]), (1.0, [1.0]), (3.0, [2.0])];
        let at = |t: f64| monotone(&keys, t).unwrap()[0];
        for (near, far) in [(1.0 - 1e-6, 1.0), (1.0, 1.0 + 1e-6)] {
            let slope = (at(far) - at(near)) / 1e-6;
            assert!((slope - 9.0 / 13.0).abs() < 1e-5, "{slope}");
        }
    }

    #[test]
    fn keys_on_a_line_stay_on_it_and_the_speed_does_not_jump() {
        let keys: Vec<(f64, [f64; 1])> =
            (0..9).map(|k| (f64::from(k), [(0.4 * f64::from(k)).sin()])).collect();
        let at = |t: f64| monotone(&keys, t).unwrap()[0];
        for k in 1..8 {
            let t = f64::from(k);
            let (before, behind) = ((at(t) - at(t - 1e-6)) / 1e-6, (at(t + 1e-6) - at(t)) / 1e-6);
            assert!((before - behind).abs() < 1e-4, "{k}: {before} {behind}");
        }
        let line = [(0.0, [1.0]), (1.0, [2.0]), (3.0, [4.0]), (4.0, [5.0])];
        assert!((monotone(&line, 2.0).unwrap()[0] - 3.0).abs() < 1e-12);
        assert_eq!(monotone(&line, -1.0), Some([1.0]));
        assert_eq!(monotone(&line, 9.0), Some([5.0]));
        assert_eq!(monotone::<1>(&[], 0.0), None);
    }
}
