//! White noise of a series, by differences: the one estimate of noise for repairs and flights.
//!
//! White noise of deviation `s` has fourth differences of variance `70 s^2` and sixth differences of `924 s^2` per component
//! (sums of the squared binomial coefficients), so that both give the same estimate; motion does not. Both are taken at their
//! first quartile: motion pauses, noise does not. Units: those of the series.

use crate::math::in_wide_registers;

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

/// Ratio of both estimates below which a series is motion and not noise.
pub(crate) const LEAST_WHITENESS: f64 = 0.7;
/// The sums of the squared binomial coefficients of a fourth and of a sixth difference.
const NORMS: [f64; 2] = [70.0, 924.0];

impl WhiteNoise {
    /// The estimates of a series; zeros where it is too short.
    pub fn of<const K: usize>(values: &[[f64; K]]) -> Self {
        SquaredDifferences::of(values).noise()
    }

    /// Ratio of both estimates: 1 for white noise, less for motion.
    pub fn whiteness(&self) -> f64 {
        self.by_sixth / self.by_fourth.max(1e-12)
    }
}

/// The first tenth and the first quartile of chi-square with these degrees of freedom: 1 to 4.
fn chi_square(degrees: usize) -> [f64; 2] {
    match degrees {
        1 => [0.0158, 0.1015],
        2 => [0.2107, 0.5754],
        3 => [0.5844, 1.2125],
        _ => [1.0636, 1.9226],
    }
}

/// The squared norms of the fourth and of the sixth differences of a series with `K` components.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SquaredDifferences<const K: usize> {
    fourth: Vec<f64>,
    sixth: Vec<f64>,
    /// The number of values.
    seen: usize,
    /// The last value, and its differences of orders 1 to 5.
    last: [[f64; K]; 6],
}

impl<const K: usize> SquaredDifferences<K> {
    /// Of a series, in one pass.
    pub fn of(values: &[[f64; K]]) -> Self {
        let mut all = Self::new();
        all.extend(values);
        all
    }

    /// Of no values.
    pub const fn new() -> Self {
        Self { fourth: Vec::new(), sixth: Vec::new(), seen: 0, last: [[0.0; K]; 6] }
    }

    /// Begins another series in the same memory.
    pub fn clear(&mut self) {
        self.fourth.clear();
        self.sixth.clear();
        (self.seen, self.last) = (0, [[0.0; K]; 6]);
    }

    /// Makes room for so many further values: to grow step by step would copy the squares again and again.
    pub fn reserve(&mut self, values: usize) {
        self.fourth.reserve_exact(values);
        self.sixth.reserve_exact(values);
    }

    /// Continues the series.
    pub fn extend(&mut self, values: &[[f64; K]]) {
        let first = self.seen;
        self.seen += values.len();
        self.fourth.resize(self.seen.saturating_sub(4), 0.0);
        self.sixth.resize(self.seen.saturating_sub(6), 0.0);
        in_wide_registers(
            #[inline(always)]
            || self.fill(values, first),
        );
    }

    #[inline(always)]
    fn fill(&mut self, values: &[[f64; K]], first: usize) {
        let mut last = self.last;
        for (f, value) in (first..).zip(values) {
            let mut differences = [*value; 7];
            for order in 0..6 {
                for k in 0..K {
                    differences[order + 1][k] = differences[order][k] - last[order][k];
                }
            }
            last.copy_from_slice(&differences[..6]);
            if let Some(place) = f.checked_sub(4).and_then(|f| self.fourth.get_mut(f)) {
                *place = squared_norm(&differences[4]);
            }
            if let Some(place) = f.checked_sub(6).and_then(|f| self.sixth.get_mut(f)) {
                *place = squared_norm(&differences[6]);
            }
        }
        self.last = last;
    }

    /// The estimates of the noise; zeros of a series that is too short. Leaves the squares in another order: nothing else is known
    /// afterwards.
    pub fn noise(&mut self) -> WhiteNoise {
        let [tenth, quarter] = chi_square(K);
        let [fourth, sixth] = [&mut self.fourth, &mut self.sixth].map(|squares| quantiles(squares));
        let deviation = |square: f64, norm: f64| (square / (norm * quarter)).sqrt();
        WhiteNoise {
            by_fourth: deviation(fourth[1], NORMS[0]),
            by_sixth: deviation(sixth[1], NORMS[1]),
            always: (sixth[0] / tenth) / (sixth[1] / quarter).max(f64::MIN_POSITIVE),
        }
    }

    /// Whether the noise by sixth differences of any `length` values in a row may exceed `deviation`: it is a quartile, so that
    /// three quarters of the differences have to.
    pub fn may_exceed(&self, length: usize, deviation: f64) -> bool {
        // The limit is rounded differently from the estimate.
        const NEARLY: f64 = 1.0 - 1e-9;
        let least = NEARLY * deviation * deviation * NORMS[1] * chi_square(K)[1];
        let window = length.saturating_sub(6);
        let wanted = window - window.saturating_sub(1) / 4;
        let mut above = 0;
        self.sixth.iter().enumerate().any(|(f, square)| {
            above += usize::from(*square > least);
            above -= usize::from(f >= window && self.sixth[f - window] > least);
            above >= wanted
        })
    }
}

#[inline(always)]
fn squared_norm<const K: usize>(v: &[f64; K]) -> f64 {
    let mut sum = 0.0;
    for x in v {
        sum += x * x;
    }
    sum
}

/// The first tenth and the first quartile; 0 without values.
fn quantiles(values: &mut [f64]) -> [f64; 2] {
    let Some(last) = values.len().checked_sub(1) else { return [0.0; 2] };
    // Squares are ordered as their bits.
    let (below, quarter, _) = values.select_nth_unstable_by_key(last / 4, |square| square.to_bits());
    let quarter = *quarter;
    let tenth = last / 10;
    [
        if below.len() > tenth {
            *below.select_nth_unstable_by_key(tenth, |square| square.to_bits()).1
        } else {
            quarter
        },
        quarter,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_pass_gives_the_differences_of_differences(
            values in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 0..40), part in 1..9usize,
        ) {
            let mut differences = values.clone();
            let mut expected = Vec::new();
            for order in 1..=6 {
                let pair = |w: &[[f64; 3]]| std::array::from_fn(|k| w[1][k] - w[0][k]);
                differences = differences.windows(2).map(pair).collect();
                if [4, 6].contains(&order) {
                    expected.push(differences.iter().map(|d| d.iter().map(|x| x * x).sum()).collect::<Vec<f64>>());
                }
            }
            let squares = SquaredDifferences::of(&values);
            let mut parts = SquaredDifferences::of(&values[..values.len() / 2]);
            parts.clear();
            values.chunks(part).for_each(|part| parts.extend(part));
            prop_assert_eq!(&squares, &parts);
            prop_assert_eq!(vec![squares.fourth, squares.sixth], expected);
        }

        #[test]
        fn no_run_exceeds_what_none_may_exceed(
            values in prop::collection::vec(prop::array::uniform4(-1.0..1.0f64), 20..80),
            calm in 0..60usize, length in 7..20usize, share in 0.2..1.2f64,
        ) {
            let mut values = values;
            values.iter_mut().take(calm).flatten().for_each(|x| *x *= 0.01);
            let most = values.windows(length).map(|run| WhiteNoise::of(run).by_sixth).fold(0.0, f64::max);
            let deviation = share * most;
            prop_assert_eq!(SquaredDifferences::of(&values).may_exceed(length, deviation), most > deviation);
        }
    }

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
        let two: Vec<[f64; 2]> = noisy.iter().map(|v| [v[0], v[1]]).collect();
        let three: Vec<[f64; 3]> = noisy.iter().map(|v| [v[0], v[1], v[2]]).collect();
        for found in
            [WhiteNoise::of(&one), WhiteNoise::of(&two), WhiteNoise::of(&three), WhiteNoise::of(&noisy)]
        {
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
