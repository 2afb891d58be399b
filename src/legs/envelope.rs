//! Smooth upper envelope of a per-frame requirement.
//!
//! Units: those of the requirement; frames.

use crate::parallel;
use std::iter::successors;

/// A smooth curve that is nowhere below `needed` (not negative) and zero at more than twice `reach` frames from any positive
/// value: the raised-cosine weighted mean of the running maximum over the same window. With `round` windows wrap around the
/// ends of a cycle; they stop at a cut, which `cut` marks for the frame before it.
pub fn envelope(needed: &[f64], cut: &[bool], round: bool, reach: usize) -> Vec<f64> {
    let n = needed.len();
    if needed.iter().all(|&x| x <= 0.0) {
        return vec![0.0; n];
    }
    let after = |f: usize| match f + 1 < n {
        true => (!cut.get(f).copied().unwrap_or(false)).then_some(f + 1),
        false => round.then_some(0),
    };
    let before = |f: usize| match f {
        0 => round.then_some(n - 1),
        f => (!cut.get(f - 1).copied().unwrap_or(false)).then_some(f - 1),
    };
    // A window that would extend over an end repeats the end.
    let window = |f: usize| {
        let ahead = successors(Some((f, 0)), move |&(g, k)| Some((after(g).unwrap_or(g), k + 1)));
        let back = successors(Some((f, 0)), move |&(g, k)| Some((before(g).unwrap_or(g), k + 1)));
        ahead.take(reach + 1).chain(back.skip(1).take(reach))
    };
    let highest = parallel::map(n, 64, |f| window(f).map(|(g, _)| needed[g]).fold(0.0, f64::max));
    let of = |k: usize| 1.0 + libm::cos(std::f64::consts::PI * k as f64 / (reach + 1) as f64);
    let weight: Vec<f64> = (0..=reach).map(of).collect();
    let mean = |f: usize| {
        let add =
            |(sum, all): (f64, f64), (g, k): (usize, usize)| (sum + weight[k] * highest[g], all + weight[k]);
        let (sum, all) = window(f).fold((0.0, 0.0), add);
        sum / all
    };
    parallel::map(n, 64, mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_covers_keeps_near_and_stops_at_cuts(
            needed in proptest::collection::vec(prop_oneof![4 => Just(0.0), 1 => 0.0..1.0f64], 2..80),
            reach in 0..12usize, at in 0..80usize, round in any::<bool>(),
        ) {
            let n = needed.len();
            let mut cut = vec![false; n - 1];
            if at < n - 1 && !round {
                cut[at] = true;
            }
            let found = envelope(&needed, &cut, round, reach);
            let joined = |a: usize, b: usize| !(cut.contains(&true) && a <= at && at < b);
            for f in 0..n {
                prop_assert!(found[f] >= needed[f] - 1e-12);
                let near = |g: usize| {
                    let apart = f.abs_diff(g);
                    apart <= 2 * reach && joined(f.min(g), f.max(g)) || round && n - apart <= 2 * reach
                };
                prop_assert!(found[f] == 0.0 || (0..n).any(|g| needed[g] > 0.0 && near(g)), "{} {:?}", f, found);
            }
        }

        #[test]
        fn a_cycle_may_start_anywhere(
            needed in proptest::collection::vec(0.0..1.0f64, 4..40), shift in 0..40usize, reach in 0..9usize,
        ) {
            let n = needed.len();
            let cut = vec![false; n - 1];
            let mut rotated = needed.clone();
            rotated.rotate_left(shift % n);
            let (mut a, b) = (envelope(&needed, &cut, true, reach), envelope(&rotated, &cut, true, reach));
            a.rotate_left(shift % n);
            prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}
