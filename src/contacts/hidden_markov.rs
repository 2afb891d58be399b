//! Labels contacts by a hidden Markov model of height and speed with two states, free and in contact.
//!
//! The emissions are normal densities of `(log(z + 1 cm), log(s + 5 cm/s))`, fitted to the clip by expectation
//! maximisation (Dempster, Laird and Rubin 1977) under conjugate priors, so that a clip in which nothing ever
//! rests, or nothing ever moves, does not tear one state in two. The most likely labels with no state shorter than a
//! given time are found by dynamic programming (Viterbi 1967; explicit durations after Ferguson 1980):
//! `V_a(t) = max(V_a(t-1) + e_a(t), V_b(t-n) + sum e_a(t-n+1..t) - cost)`, the sums by differences of running sums.
//! Units: metres and metres per second at a leg of 0.9 m, frames.

/// Added to heights so that logarithms stay finite, metres: heights far below it do not differ. With half the mean F1 score of hand
/// labels is 0.005 lower, with double 0.003 higher.
const HEIGHT_FLOOR: f64 = 0.01;
/// The same of speeds, m/s. With half F1 is 0.004 higher, with double 0.011 lower.
const SPEED_FLOOR: f64 = 0.05;
/// Prior of the contact state: usual height (m) and speed (m/s), and the standard deviation of their logarithms. With double the speed
/// F1 is 0.022 lower, with half 0.007 higher; with half or double the deviation 0.002 and 0.029 lower.
const RESTING: ([f64; 2], f64) = ([0.005, 0.06], 0.5);
/// Prior of the free state. With half and double the height F1 is 0.007 higher and 0.008 lower, with half the deviation 0.028 lower.
const FREE: ([f64; 2], f64) = ([0.10, 1.0], 0.9);
/// Weight of the prior for each sample of the clip. F1 changes by less than 0.001 within half and double.
const PRIOR_SHARE: f64 = 2.0;
/// Weight of the prior in samples, added once: for short clips. Half and double label the takes with hand labels the same.
const PRIOR_SAMPLES: f64 = 10.0;
/// The smallest standard deviation of a logarithm. Half and double label the takes with hand labels the same.
const LEAST_SPREAD: f64 = 0.15;
/// The most rounds of expectation maximisation. Half as many label the takes with hand labels the same.
const ROUNDS: usize = 20;
/// The most samples of the fit, evenly spaced. With half and double F1 changes by less than 0.001.
const SAMPLES: usize = 1024;
/// The cost of a change of state, nats. F1 changes by less than 0.002 within half and double.
const CHANGE: f64 = 2.0;
/// Frames closer in time than this, in seconds, are not independent: each counts by its share of that time. F1 changes by less than 0.002
/// within half and double.
const NEWS_S: f64 = 1.0 / 30.0;

/// A normal density of two independent logarithms.
#[derive(Clone, Copy, Debug)]
struct HmmState {
    mean: [f64; 2],
    variance: [f64; 2],
}

impl HmmState {
    fn prior((usual, spread): ([f64; 2], f64)) -> Self {
        Self { mean: logs(usual[0], usual[1]), variance: [spread * spread; 2] }
    }

    /// The logarithm of the density, but for a constant.
    fn log_density(&self, x: [f64; 2]) -> f64 {
        let term = |c: usize| (x[c] - self.mean[c]).powi(2) / self.variance[c] + libm::log(self.variance[c]);
        -0.5 * (term(0) + term(1))
    }

    /// The density of these samples by their weights, and of the prior by its own.
    fn fitted(
        samples: &[[f64; 2]],
        weights: impl Fn(usize) -> f64,
        prior: &HmmState,
        weight: f64,
    ) -> (Self, f64) {
        let mut total = weight;
        let mut sum = prior.mean.map(|m| weight * m);
        let mut squares = [0, 1].map(|c| weight * (prior.variance[c] + prior.mean[c].powi(2)));
        for (k, x) in samples.iter().enumerate() {
            let w = weights(k);
            total += w;
            for c in 0..2 {
                sum[c] += w * x[c];
                squares[c] += w * x[c] * x[c];
            }
        }
        let mean = sum.map(|s| s / total);
        let variance =
            [0, 1].map(|c: usize| (squares[c] / total - mean[c].powi(2)).max(LEAST_SPREAD * LEAST_SPREAD));
        (Self { mean, variance }, total)
    }
}

fn logs(height: f64, speed: f64) -> [f64; 2] {
    [libm::log(height.max(0.0) + HEIGHT_FLOOR), libm::log(speed + SPEED_FLOOR)]
}

/// The two states as they are in one clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    free: HmmState,
    resting: HmmState,
}

impl Model {
    /// Fits the states to heights and speeds of which `rests` says what they look like at first sight.
    pub fn fit(signals: &[(f64, f64)], rests: impl Fn(f64, f64) -> bool) -> Self {
        let (free, resting) = (HmmState::prior(FREE), HmmState::prior(RESTING));
        let step = signals.len().div_ceil(SAMPLES).max(1);
        let chosen = || signals.iter().step_by(step);
        let samples: Vec<[f64; 2]> = chosen().map(|&(z, s)| logs(z, s)).collect();
        let mut share: Vec<f64> = chosen().map(|&(z, s)| f64::from(u8::from(rests(z, s)))).collect();
        let weight = PRIOR_SHARE * samples.len() as f64 + PRIOR_SAMPLES;
        let mut model = Self { free, resting };
        for _ in 0..ROUNDS {
            let (resting_now, n) = HmmState::fitted(&samples, |k| share[k], &resting, weight);
            let (free_now, m) = HmmState::fitted(&samples, |k| 1.0 - share[k], &free, weight);
            model = Self { free: free_now, resting: resting_now };
            let odds = libm::log(n / m);
            let mut moved: f64 = 0.0;
            for (x, share) in samples.iter().zip(&mut share) {
                let gain = model.resting.log_density(*x) - model.free.log_density(*x) + odds;
                let now = 1.0 / (1.0 + libm::exp(-gain));
                moved = moved.max((now - *share).abs());
                *share = now;
            }
            if moved < 1e-4 {
                break;
            }
        }
        model
    }

    /// By how much resting is likelier than being free, in nats. Lower and slower than the usual rest, or higher and
    /// faster than the usual flight, is as good as usual.
    fn gain(&self, height: f64, speed: f64) -> f64 {
        let x = logs(height, speed);
        let low = [0, 1].map(|c: usize| x[c].max(self.resting.mean[c]));
        let high = [0, 1].map(|c: usize| x[c].min(self.free.mean[c]));
        self.resting.log_density(low) - self.free.log_density(high)
    }

    /// The most likely labels of a point with no state shorter than `shortest` frames, but at the ends of the clip;
    /// frames that `possible` refuses are free. Signals as in [`Model::fit`], `rate` in hertz.
    pub fn labels(
        &self,
        signals: &[(f64, f64)],
        possible: impl Fn(f64, f64) -> bool,
        shortest: usize,
        rate: f64,
    ) -> Vec<bool> {
        // A hand of one who walks never comes near the ground.
        if !signals.iter().any(|&(z, s)| possible(z, s)) {
            return vec![false; signals.len()];
        }
        let news = (1.0 / (NEWS_S * rate)).min(1.0);
        let gains =
            signals.iter().map(|&(z, s)| if possible(z, s) { news * self.gain(z, s) } else { IMPOSSIBLE });
        likeliest(gains, shortest.max(1))
    }
}

/// The gain of a frame that cannot rest: a finite one, so that sums can be subtracted.
const IMPOSSIBLE: f64 = -1e6;

/// The labels with the largest sum of gains where labelled, less the cost of the changes.
fn likeliest(gains: impl Iterator<Item = f64>, n: usize) -> Vec<bool> {
    let mut sums = vec![0.0];
    sums.extend(gains.scan(0.0, |sum, gain| {
        *sum += gain;
        Some(*sum)
    }));
    let frames = sums.len() - 1;
    // What the frames from a to b are worth in a state, 0 free, 1 resting.
    let worth = |state: usize, a: usize, b: usize| if state == 1 { sums[b] - sums[a] } else { 0.0 };
    // The best of the first t frames that ends in a state, and where that state began.
    let mut best = vec![[0.0, 0.0]; frames + 1];
    let mut began = vec![[0, 0]; frames + 1];
    for t in 1..=frames {
        for state in 0..2 {
            let mut found = (worth(state, 0, t), 0);
            if t > 1 {
                let stay = best[t - 1][state] + worth(state, t - 1, t);
                if stay > found.0 {
                    found = (stay, began[t - 1][state]);
                }
            }
            // The last state of the clip may be cut short by its end.
            let starts = if t == frames { (t + 1).saturating_sub(n).max(1)..t } else { 0..0 };
            for start in starts.chain(t.checked_sub(n).filter(|s| *s > 0)) {
                let change = best[start][1 - state] + worth(state, start, t) - CHANGE;
                if change > found.0 {
                    found = (change, start);
                }
            }
            (best[t][state], began[t][state]) = found;
        }
    }
    let mut labels = vec![false; frames];
    let mut state = usize::from(best[frames][1] > best[frames][0]);
    let mut t = frames;
    while t > 0 {
        let start = began[t][state];
        labels[start..t].fill(state == 1);
        (t, state) = (start, 1 - state);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The best sum over all labels whose inner states last for `n` frames or more.
    fn by_trial(gains: &[f64], n: usize) -> f64 {
        let worth = |labels: u32| {
            let state = |f: usize| labels >> f & 1;
            let mut sum = 0.0;
            let mut since = 0;
            for (f, gain) in gains.iter().enumerate() {
                if f > 0 && state(f) != state(f - 1) {
                    if since > 0 && f - since < n {
                        return f64::NEG_INFINITY;
                    }
                    since = f;
                    sum -= CHANGE;
                }
                sum += gain * f64::from(state(f));
            }
            sum
        };
        (0..1u32 << gains.len()).map(worth).fold(f64::NEG_INFINITY, f64::max)
    }

    fn total(gains: &[f64], labels: &[bool]) -> f64 {
        let changes = labels.windows(2).filter(|w| w[0] != w[1]).count() as f64;
        gains.iter().zip(labels).map(|(g, l)| g * f64::from(u8::from(*l))).sum::<f64>() - CHANGE * changes
    }

    proptest! {
        #[test]
        fn the_labels_are_the_best_of_all(
            gains in proptest::collection::vec(-4.0..4.0f64, 0..12), n in 1..5usize,
        ) {
            let labels = likeliest(gains.iter().copied(), n);
            prop_assert!((total(&gains, &labels) - by_trial(&gains, n)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_clip_that_only_rests_or_only_flies_is_all_of_one_kind() {
        let wobble = |k: usize| (k as f64 * 0.7).sin();
        let rest: Vec<_> = (0..200).map(|k| (0.004 * wobble(k), 0.03 + 0.02 * wobble(3 * k))).collect();
        let fly: Vec<_> = (0..200).map(|k| (0.4 + 0.3 * wobble(k), 2.0 + wobble(3 * k))).collect();
        let labels = |signals: &[(f64, f64)]| {
            let model = Model::fit(signals, |z, s| z < 0.03 && s < 0.3);
            model.labels(signals, |z, s| z < 0.07 && s < 0.9, 3, 30.0)
        };
        assert!(labels(&rest).into_iter().all(|l| l));
        assert!(!labels(&fly).into_iter().any(|l| l));
        assert!(labels(&[]).is_empty());
    }
}
