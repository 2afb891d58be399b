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
/// Values before one that its sixth difference needs.
const BACK: usize = 6;
/// Values whose differences are taken together: with those before them they fit the first-level cache, and are more than the
/// registers hold.
const TOGETHER: usize = 128;

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
    /// The last six values, zeros before the first: sixth differences reach as far back.
    last: [[f64; K]; BACK],
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
        Self { fourth: Vec::new(), sixth: Vec::new(), seen: 0, last: [[0.0; K]; BACK] }
    }

    /// Begins another series in the same memory.
    pub fn clear(&mut self) {
        self.fourth.clear();
        self.sixth.clear();
        (self.seen, self.last) = (0, [[0.0; K]; BACK]);
    }

    /// Makes room for so many further values: to grow step by step would copy the squares again and again.
    pub fn reserve(&mut self, values: usize) {
        self.fourth.reserve_exact(values);
        self.sixth.reserve_exact(values);
    }

    /// Continues the series.
    pub fn extend(&mut self, values: &[[f64; K]]) {
        for part in values.chunks(TOGETHER) {
            let first = self.seen;
            self.seen += part.len();
            self.fourth.resize(self.seen.saturating_sub(4), 0.0);
            self.sixth.resize(self.seen.saturating_sub(6), 0.0);
            in_wide_registers(
                #[inline(always)]
                || self.fill(part, first),
            );
        }
    }

    #[inline(always)]
    fn fill(&mut self, values: &[[f64; K]], first: usize) {
        let mut list = [[0.0; K]; BACK + TOGETHER];
        let list = &mut list[..BACK + values.len()];
        list[..BACK].copy_from_slice(&self.last);
        list[BACK..].copy_from_slice(values);
        self.last.copy_from_slice(&list[values.len()..]);
        for order in 1..=6 {
            let count = list.len() - order;
            let numbers = &mut list.as_flattened_mut()[..(count + 1) * K];
            for k in 0..count * K {
                numbers[k] = numbers[k + K] - numbers[k];
            }
            let squares = match order {
                4 => &mut self.fourth[first.saturating_sub(4)..],
                6 => &mut self.sixth[first.saturating_sub(6)..],
                _ => continue,
            };
            // The first values of a series have no such difference.
            let own = &list[count - squares.len()..count];
            squares.iter_mut().zip(own).for_each(|(square, difference)| *square = squared_norm(difference));
        }
    }

    /// The estimates of the noise; zeros of a series that is too short. Leaves the squares in another order: nothing else is known
    /// afterwards.
    pub fn noise(&mut self) -> WhiteNoise {
        let [tenth, quarter] = chi_square(K);
        let (fourth, _) = quartile(&mut self.fourth);
        let least = self.sixth.len().saturating_sub(1) / 10;
        let (sixth, below) = quartile(&mut self.sixth);
        let lowest = if below.len() > least { *nth(below, least).1 } else { sixth };
        let deviation = |square: f64, norm: f64| (square / (norm * quarter)).sqrt();
        WhiteNoise {
            by_fourth: deviation(fourth, NORMS[0]),
            by_sixth: deviation(sixth, NORMS[1]),
            always: (lowest / tenth) / (sixth / quarter).max(f64::MIN_POSITIVE),
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
        // Mostly there are fewer in the whole series.
        if self.sixth.iter().filter(|square| **square > least).count() < wanted {
            return false;
        }
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

/// The first quartile, and the squares below it; 0 without squares.
fn quartile(squares: &mut [f64]) -> (f64, &mut [f64]) {
    let Some(last) = squares.len().checked_sub(1) else { return (0.0, squares) };
    let (below, quarter) = nth(squares, last / 4);
    (*quarter, below)
}

/// The square of this rank, and those below it.
fn nth(squares: &mut [f64], rank: usize) -> (&mut [f64], &f64) {
    // Squares are ordered as their bits.
    let (below, own, _) = squares.select_nth_unstable_by_key(rank, |square| square.to_bits());
    (below, own)
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
