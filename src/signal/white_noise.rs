//! White noise of a series, by differences: the one estimate of noise for repairs and flights.
//!
//! White noise of deviation `s` has fourth differences of variance `70 s^2` and sixth differences of `924 s^2` per component
//! (sums of the squared binomial coefficients), so that both give the same estimate; motion does not. Both are taken at their
//! first quartile: motion pauses, noise does not. Units: those of the series.

/// The estimates of a series with `K` components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WhiteNoise {
    /// Standard deviation of each component, by fourth differences.
    pub by_fourth: f64,
    /// The same by sixth differences.
    pub by_sixth: f64,
    /// Ratio of the estimates of the squared sixth differences by their lowest tenth and by their quiet quarter: 1 for noise,
    /// less for motion with pauses.
    pub always: f64,
}

/// The sums of the squared binomial coefficients of a fourth and of a sixth difference.
const NORMS: [f64; 2] = [70.0, 924.0];

impl WhiteNoise {
    /// The estimates of a series; zeros where it is too short.
    pub fn of<const K: usize>(values: &[[f64; K]]) -> Self {
        // The first tenth and the first quartile of chi-square with K degrees of freedom.
        let [tenth, quarter] = match K {
            1 => [0.0158, 0.1015],
            3 => [0.5844, 1.2125],
            _ => [1.0636, 1.9226],
        };
        let mut differences = values.to_vec();
        let fourth = quantiles(squares(&mut differences, 4));
        let sixth = quantiles(squares(&mut differences, 2));
        let deviation = |square: f64, norm: f64| (square / (norm * quarter)).sqrt();
        Self {
            by_fourth: deviation(fourth[1], NORMS[0]),
            by_sixth: deviation(sixth[1], NORMS[1]),
            always: (sixth[0] / tenth) / (sixth[1] / quarter).max(f64::MIN_POSITIVE),
        }
    }

    /// Ratio of both estimates: 1 for white noise, less for motion.
    pub fn whiteness(&self) -> f64 {
        self.by_sixth / self.by_fourth.max(1e-12)
    }
}

/// The squared norms of the differences of a series, differentiated `times` more.
fn squares<const K: usize>(values: &mut Vec<[f64; K]>, times: usize) -> Vec<f64> {
    for _ in 0..times {
        for f in 1..values.len() {
            values[f - 1] = std::array::from_fn(|k| values[f][k] - values[f - 1][k]);
        }
        values.pop();
    }
    values.iter().map(|d| d.iter().map(|x| x * x).sum()).collect()
}

/// The first tenth and the first quartile; 0 without values.
fn quantiles(mut values: Vec<f64>) -> [f64; 2] {
    let Some(last) = values.len().checked_sub(1) else { return [0.0; 2] };
    let (below, quarter, _) = values.select_nth_unstable_by(last / 4, f64::total_cmp);
    let quarter = *quarter;
    let tenth = last / 10;
    [
        if below.len() > tenth { *below.select_nth_unstable_by(tenth, f64::total_cmp).1 } else { quarter },
        quarter,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_noise_is_measured_despite_slow_motion_whatever_the_components() {
        // Deterministic normal deviates as sums of twelve uniform ones (xorshift).
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let wave = |f: usize, k: usize| (f as f64 * (0.05 - 0.01 * k as f64)).sin();
        let noisy: Vec<[f64; 4]> =
            (0..3000).map(|f| std::array::from_fn(|k| wave(f, k) + 0.01 * normal())).collect();
        let one: Vec<[f64; 1]> = noisy.iter().map(|v| [v[0]]).collect();
        let three: Vec<[f64; 3]> = noisy.iter().map(|v| [v[0], v[1], v[2]]).collect();
        for found in [WhiteNoise::of(&one), WhiteNoise::of(&three), WhiteNoise::of(&noisy)] {
            for estimate in [found.by_fourth, found.by_sixth] {
                assert!((estimate / 0.01 - 1.0).abs() < 0.12, "{found:?}");
            }
            assert!((found.always - 1.0).abs() < 0.25, "{found:?}");
        }
        let clean: Vec<[f64; 1]> = (0..3000).map(|f| [wave(f, 0)]).collect();
        assert!(WhiteNoise::of(&clean).by_sixth < 1e-8);
        assert_eq!(WhiteNoise::of::<3>(&[]).by_fourth, 0.0);
    }
}
