//! Corrections that are known in some frames become corrections of all frames, smoothly and no wider than needed.
//!
//! Units: frames.

use crate::math::Vec3;

/// Continues a correction that is `known` in some frames into the others: it falls to zero within `reach` frames of
/// where it is known, or by the next known frame where that is nearer.
///
/// With `u` from 0 to 1 over the fall, `c(u) = c0 (1 - 10u^3 + 15u^4 - 6u^5) + c0' (u - 6u^3 + 8u^4 - 3u^5)` (quintic
/// Hermite with vanishing second derivatives, the path of least jerk): value and slope continue. Falls from both sides
/// add up, so between near holds one value becomes the other.
pub fn ramps(values: &mut [Vec3], known: &[bool], reach: f64) {
    let n = values.len();
    let mut f = 0;
    while f < n {
        if known[f] {
            f += 1;
            continue;
        }
        let from = f;
        while f < n && !known[f] {
            f += 1;
        }
        let (gap, before, behind) = (from..f, from.checked_sub(1), (f < n).then_some(f));
        let fall = match (before, behind) {
            (Some(_), Some(_)) => reach.min((gap.len() + 1) as f64),
            _ => reach,
        };
        let sides = [
            before.map(|k| (k, values[k], slope(values, known, k, -1))),
            behind.map(|k| (k, values[k], slope(values, known, k, 1))),
        ];
        for g in gap {
            let of = |(k, value, slope): (usize, Vec3, Vec3)| {
                let u = g.abs_diff(k) as f64 / fall;
                if u >= 1.0 {
                    return Vec3::zeros();
                }
                let keep = 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u));
                value * keep + slope * (fall * u * (1.0 - u * u * (6.0 - u * (8.0 - 3.0 * u))))
            };
            values[g] = sides.iter().flatten().map(|&side| of(side)).sum();
        }
    }
}

/// The change per frame at the end `k` of known frames, seen on the way out of them; `inwards` is the step into them.
fn slope(values: &[Vec3], known: &[bool], k: usize, inwards: isize) -> Vec3 {
    let inside = |steps: isize| {
        let at = k.checked_add_signed(inwards * steps)?;
        known.get(at).is_some_and(|&b| b).then(|| values[at])
    };
    match (inside(1), inside(2)) {
        (Some(_), Some(b)) => (values[k] - b) * 0.5,
        (Some(a), None) => values[k] - a,
        _ => Vec3::zeros(),
    }
}

/// A smooth channel nowhere below `needed` (which is not negative), zero where `pinned`, and not touched further than
/// `reach` frames away from where something is needed.
///
/// The mean over a window of the running maximum over the same window, the window shrinking towards pinned frames.
pub fn envelope(needed: &[f64], pinned: impl Fn(usize) -> bool, reach: usize) -> Vec<f64> {
    let n = needed.len();
    let mut result = vec![0.0; n];
    if needed.iter().all(|&x| x <= 0.0) {
        return result;
    }
    // How far the nearest pinned frame is.
    let mut room = vec![usize::MAX; n];
    let mut sweep = |frames: &mut dyn Iterator<Item = usize>| {
        let mut distance = usize::MAX;
        for f in frames {
            distance = if pinned(f) { 0 } else { distance.saturating_add(1) };
            room[f] = room[f].min(distance);
        }
    };
    sweep(&mut (0..n));
    sweep(&mut (0..n).rev());
    for f in 0..n {
        let r = room[f].min(reach);
        let (from, to) = (f.saturating_sub(r), (f + r).min(n - 1));
        let (wide_from, wide_to) = (from.saturating_sub(r), (to + r).min(n - 1));
        if needed[wide_from..=wide_to].iter().all(|&x| x <= 0.0) {
            continue;
        }
        let highest = |g: usize| {
            let window = &needed[g.saturating_sub(r)..=(g + r).min(n - 1)];
            window.iter().copied().fold(0.0, f64::max)
        };
        // The window's weights fall towards its ends like a cosine.
        let weight = |g: usize| 1.0 + (std::f64::consts::PI * g.abs_diff(f) as f64 / (r + 1) as f64).cos();
        let (mut sum, mut weights) = (0.0, 0.0);
        for g in from..=to {
            sum += weight(g) * highest(g);
            weights += weight(g);
        }
        result[f] = sum / weights;
    }
    result
}

/// From 1 at a distance of 0 frames to 0 at `reach`, with the smoothstep.
pub fn fall(distance: f64, reach: f64) -> f64 {
    let u = (distance / reach).clamp(0.0, 1.0);
    1.0 - u * u * (3.0 - 2.0 * u)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn x(values: &[Vec3]) -> Vec<f64> {
        values.iter().map(|v| v.x).collect()
    }

    #[test]
    fn a_ramp_without_slope_falls_evenly_and_ends_in_time() {
        let known: Vec<bool> = (0..40).map(|f| (10..15).contains(&f)).collect();
        let mut values: Vec<Vec3> = known.iter().map(|&k| Vec3::x() * f64::from(u8::from(k))).collect();
        ramps(&mut values, &known, 8.0);
        for (f, x) in x(&values).into_iter().enumerate() {
            let distance = 10usize.saturating_sub(f).max(f.saturating_sub(14)) as f64;
            let u = (distance / 8.0).min(1.0);
            let back = 1.0 - x;
            assert!((x == 0.0) == (u >= 1.0) && (u != 0.5 || (x - 0.5).abs() < 1e-12), "{u} {x}");
            assert!((0.0..=1.0).contains(&back));
        }
    }

    #[test]
    fn between_near_holds_one_value_becomes_the_other() {
        let known = [true, true, true, false, false, false, true, true, true];
        let mut values: Vec<Vec3> =
            [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 3.0, 3.0, 3.0].map(|x| Vec3::x() * x).into();
        ramps(&mut values, &known, 100.0);
        let x = x(&values);
        assert!(x.is_sorted() && (x[4] - 2.0).abs() < 1e-12, "{x:?}");
    }

    proptest! {
        #[test]
        fn ramps_continue_the_slope(slope in -1.0..1.0f64, reach in 6.0..30.0f64) {
            let known: Vec<bool> = (0..80).map(|f| f < 20).collect();
            let mut values: Vec<Vec3> = (0..80).map(|f| Vec3::x() * slope * f as f64).collect();
            ramps(&mut values, &known, reach);
            let x = x(&values);
            // The second difference over the seam is one of the curve, which falls with the square of the reach.
            let seam = (x[18] - 2.0 * x[19] + x[20]).abs();
            prop_assert!(seam <= (60.0 * x[19].abs() + 36.0 * slope.abs() * reach) / (reach * reach * reach), "{}", seam);
            prop_assert!(x[20 + reach as usize + 1..].iter().all(|&v| v == 0.0));
        }

        #[test]
        fn an_envelope_covers_and_keeps_away_from_pins(
            needed in proptest::collection::vec(prop_oneof![Just(0.0), 0.0..1.0f64], 2..80),
            pins in proptest::collection::vec(any::<bool>(), 80), reach in 0..12usize,
        ) {
            let needed: Vec<f64> =
                needed.iter().enumerate().map(|(f, &x)| if pins[f] { 0.0 } else { x }).collect();
            let found = envelope(&needed, |f| pins[f], reach);
            for f in 0..needed.len() {
                prop_assert!(found[f] >= needed[f] - 1e-12);
                prop_assert!(!pins[f] || found[f] == 0.0);
                let near = &needed[f.saturating_sub(2 * reach)..(f + 2 * reach + 1).min(needed.len())];
                prop_assert!(found[f] == 0.0 || near.iter().any(|&x| x > 0.0));
            }
        }
    }
}
