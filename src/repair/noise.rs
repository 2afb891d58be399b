//! Detects white noise in joint rotations and root motion, and removes it with a smoother chosen per frame.
//!
//! White noise has the same variance by fourth and by sixth differences ([`WhiteNoise`]). Noisy channels pass a bank of
//! smoothers (`whittaker_penalty`), and in every frame those count whose risk, by an unbiased estimate (Stein 1981), is near the least. Quick motion at a low rate
//! looks like noise; its second witness are the feet: those that rest must not come to slip. For a single arm no foot speaks: below
//! [`SURE_RATE`] it is filtered where its noise exceeds what accelerations leave in differences, and in a short take quick motion, else reported. Units: degrees,
//! metres of 0.86 m legs, hertz.

use super::fault_log::{FaultLog, all, own};
use super::noise_burst::{SURE_RATE, may_tremble};
use super::stances::{FootTrajectories, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::math::{Quat, RawQuat, Vec3};
use crate::parallel;
use crate::signal::{
    Bands, Difference, FactoredBands, JERK, LEAST_WHITENESS, WhiteNoise, gaussian, whittaker_penalty,
};
use std::ops::Range;

/// Noise of a joint from which it is filtered, degrees: wrists of clean takes at 30 frames per second have 0.6; at
/// half of this limit two of 13 clean takes would be filtered.
const NOISY_JOINT: f64 = 0.7;
/// Share of the joints from which the noise is that of the whole body. By quick motion alone, at 20 Hz, 4 of 31 joints of
/// jumping jacks and 3 of 23 of a walk seem noisy.
const WHOLE_BODY: f64 = 0.5;
/// A shorter part needs more noise before a few joints are filtered, as the square root of its share of this time, seconds: quick
/// hands of clean takes do not pause in it. Wrists of a boxer cut to 1.5 s have 0.86 degrees at 100 Hz, hands of a dab cut to 3 s 2.9
/// degrees at 30 Hz; whole, for 31 and 10 s, both are below the limit.
const LONG_ENOUGH: f64 = 10.0;
/// Noise of the root position from which it is filtered, metres.
const NOISY_ROOT: f64 = 0.0012;
/// Noise of the height of the root alone from which it is filtered, metres: clean takes at 24 to 120 frames per second have up to 0.5 mm.
const NOISY_HEIGHT: f64 = 0.002;
/// Noise of the height and of the place on the floor are filtered apart where one exceeds the other by this factor.
const UNLIKE: f64 = 2.0;
/// Cutoffs of the smoothers, hertz; quiet frames use the first, foot strikes the last, or none.
const BANK: [f64; 9] = [0.7, 1.0, 1.5, 2.2, 3.3, 5.0, 7.0, 10.0, 15.0];
/// Highest cutoff as a share of the sample rate: above it a smoother has no effect.
const HIGHEST: f64 = 0.35;
/// Window of the mean risk and of the weights, seconds, and at least so many frames.
const WINDOW: [(f64, f64); 2] = [(0.12, 3.0), (0.04, 1.0)];
/// A smoother has the weight `exp(-excess of its risk / (SHARP * noise variance))`.
const SHARP: f64 = 0.15;
/// Least frames between cuts: in shorter parts noise and quick motion are indistinguishable.
const SHORTEST: usize = 48;
/// Least ratio of the lowest tenth of the squared sixth differences to its expectation from the quiet quarter: noise
/// is constant, motion pauses.
const ALWAYS: f64 = 0.35;

/// Removes noise between cuts, where feet that rest do not come to slip by it. Returns which rotating joints may tremble for a
/// while, if that is known: of a take without cuts and noise.
pub(super) fn noise(take: &mut WorkingTake, cut: &[bool], log: &mut FaultLog) -> Option<Vec<bool>> {
    let starts = (0..cut.len()).filter(|e| cut[*e]).map(|e| e + 1);
    let mut bounds: Vec<usize> = std::iter::once(0).chain(starts).collect();
    bounds.push(take.frames());
    let parts = bounds.windows(2).map(|w| w[0]..w[1]).filter(|frames| frames.len() >= SHORTEST);
    let mut trembling = None;
    let mut find = |frames: Range<usize>| {
        let whole = frames.len() == take.frames();
        let noises = take.map_differences(&frames, |differences| {
            (whole && may_tremble(take, differences), differences.noise())
        });
        let (may, noises): (Vec<bool>, Vec<WhiteNoise>) = noises.into_iter().unzip();
        trembling = whole.then_some(may);
        NoisyPart::find(take, frames, noises, log)
    };
    let noisy: Vec<NoisyPart> = parts.filter_map(&mut find).collect();
    if noisy.is_empty() {
        return trembling;
    }
    let before = take.clone();
    let fixed: Vec<Vec<FilteredChannel>> = noisy.iter().map(|part| part.filter(take)).collect();
    let feet = [&before, &*take].map(|take| FootTrajectories::of(take, cut));
    for (part, channels) in noisy.iter().zip(fixed) {
        let frames = part.frames.clone();
        match &feet {
            [Some(before_feet), Some(after_feet)] if slips_more(before_feet, after_feet, &frames) => {
                for f in frames.clone() {
                    let (clip, old) = (&mut take.motion.clip, &before.motion.clip);
                    clip.rotations_mut(f).copy_from_slice(&old.rotations(f));
                    clip.translations_mut(f).copy_from_slice(old.translations(f));
                }
                take.measure(frames.clone());
                let why = "quick motion explains it as well: without it feet that rest would slip more";
                log.refute("noise");
                log.record_unfixed("noise", frames, "frames", part.frames.len() as f64, why);
            }
            _ => channels
                .into_iter()
                .for_each(|c| log.record_fixed("noise", c.joint, frames.clone(), c.unit, c.sizes)),
        }
    }
    None
}

/// Whether the feet that rest in the filtered take rest more quietly without the filter.
fn slips_more(before: &FootTrajectories, after: &FootTrajectories, frames: &Range<usize>) -> bool {
    let inside = |stance: &Stance| frames.start <= stance.frames.start && stance.frames.end <= frames.end;
    let path = |at: &[Vec3]| at.windows(2).map(|w| (w[1] - w[0]).norm()).sum::<f64>();
    let resting: Vec<Stance> = after.stances(SLOW).into_iter().filter(inside).collect();
    let [was, is] =
        [before, after].map(|feet| resting.iter().map(|stance| path(feet.at(stance))).sum::<f64>());
    is > was
}

/// A channel that was filtered.
struct FilteredChannel {
    joint: Option<String>,
    unit: &'static str,
    /// Its noise before and after.
    sizes: [f64; 2],
}

/// What is noisy between two cuts.
struct NoisyPart {
    frames: Range<usize>,
    joints: Vec<(usize, WhiteNoise)>,
    root: Option<RootNoise>,
}

impl NoisyPart {
    /// `noises` are those of the rotating joints.
    fn find(
        take: &WorkingTake,
        frames: Range<usize>,
        noises: Vec<WhiteNoise>,
        log: &mut FaultLog,
    ) -> Option<Self> {
        let share = |noise: &WhiteNoise, size: f64, least: f64| {
            all(&[size / least, noise.whiteness() / LEAST_WHITENESS, noise.always / ALWAYS])
        };
        let mut joints = Vec::new();
        for (j, noise) in take.rotating.iter().zip(noises) {
            if log.test("noise", share(&noise, degrees(&noise), NOISY_JOINT)) {
                joints.push((*j, noise));
            }
        }
        if (joints.len() as f64) < WHOLE_BODY * take.rotating.len() as f64 {
            let short = (LONG_ENOUGH / (frames.len() as f64 * take.dt)).max(1.0).sqrt();
            let sure = NOISY_JOINT * (SURE_RATE * take.dt).max(1.0).powi(2) * short;
            let (certain, doubtful): (Vec<_>, Vec<_>) =
                joints.into_iter().partition(|(_, noise)| degrees(noise) >= sure);
            for (j, noise) in doubtful {
                let why = "at this rate or in so short a time quick motion looks the same, and only a part of the body shows it";
                log.record_doubtful("noise", take.name(j), frames.clone(), "deg", degrees(&noise), why);
            }
            if certain.is_empty() {
                log.refute("noise");
            }
            joints = certain;
        }
        let positions = path(take, &frames);
        let shaken = RootNoise::of(&positions);
        let everywhere =
            log.test("noise", share(&shaken.whole, 3f64.sqrt() * shaken.whole.by_sixth, NOISY_ROOT));
        let up = log.test("noise", share(&shaken.height, shaken.height.by_sixth, NOISY_HEIGHT));
        let root = (everywhere || up).then_some(shaken);
        (!joints.is_empty() || root.is_some()).then_some(Self { frames, joints, root })
    }

    /// Filters what is noisy.
    fn filter(&self, take: &mut WorkingTake) -> Vec<FilteredChannel> {
        let frames = &self.frames;
        let bank = Bank::new(frames.len(), take.dt);
        let filtered =
            |(j, noise): &(usize, WhiteNoise)| bank.filter(&take.rotations(frames, *j), noise.by_sixth);
        let filtered: Vec<Vec<[f64; 4]>> = parallel::map_each(&self.joints, 1, filtered);
        let calm = self.root.map(|shaken| (shaken, shaken.filtered(&bank, &path(take, frames))));
        let mut channels = Vec::new();
        for ((j, noise), values) in self.joints.iter().zip(&filtered) {
            for (f, q) in frames.clone().zip(values) {
                take.set_rotation(f, *j, Quat::new_normalize(RawQuat::from(*q)));
            }
            let sizes = [noise, &WhiteNoise::of(values)].map(degrees);
            channels.push(FilteredChannel { joint: Some(take.name(*j)), unit: "deg", sizes });
        }
        take.fix_signs();
        take.measure(frames.clone());
        if let Some((shaken, calm)) = calm {
            for ((f, old), new) in frames.clone().zip(path(take, frames)).zip(&calm) {
                take.shift(f, &(Vec3::from(*new) - Vec3::from(old)));
            }
            let sizes = [&shaken, &RootNoise::of(&calm)].map(|n| own(take, n.metres()));
            channels.push(FilteredChannel { joint: None, unit: "m", sizes });
        }
        channels
    }
}

/// The noise of a rotation, degrees.
fn degrees(noise: &WhiteNoise) -> f64 {
    2.0 * (2.0 * noise.by_sixth).to_degrees()
}

/// The noise of the root, and of its height and its place on the floor: one may be noisy and the other not.
#[derive(Clone, Copy)]
struct RootNoise {
    whole: WhiteNoise,
    height: WhiteNoise,
    floor: WhiteNoise,
}

impl RootNoise {
    fn of(path: &[[f64; 3]]) -> Self {
        let (up, flat) = divided(path);
        Self { whole: WhiteNoise::of(path), height: WhiteNoise::of(&up), floor: WhiteNoise::of(&flat) }
    }

    /// Whether height and place are filtered apart.
    fn apart(&self) -> bool {
        let [height, floor] = [self.height.by_sixth, self.floor.by_sixth];
        height > UNLIKE * floor || floor > UNLIKE * height
    }

    /// The noise in all directions together, metres.
    fn metres(&self) -> f64 {
        if self.apart() {
            libm::hypot(self.height.by_sixth, 2f64.sqrt() * self.floor.by_sixth)
        } else {
            3f64.sqrt() * self.whole.by_sixth
        }
    }

    /// The path without it.
    fn filtered(&self, bank: &Bank, path: &[[f64; 3]]) -> Vec<[f64; 3]> {
        if !self.apart() {
            return bank.filter(path, self.whole.by_sixth);
        }
        let (up, flat) = divided(path);
        let up = bank.filter(&up, self.height.by_sixth);
        let flat = bank.filter(&flat, self.floor.by_sixth);
        up.iter().zip(&flat).map(|([y], [x, z])| [*x, *y, *z]).collect()
    }
}

/// The heights of a path, and its places on the floor.
fn divided(path: &[[f64; 3]]) -> (Vec<[f64; 1]>, Vec<[f64; 2]>) {
    path.iter().map(|[x, y, z]| ([*y], [*x, *z])).unzip()
}

fn path(take: &WorkingTake, frames: &Range<usize>) -> Vec<[f64; 3]> {
    take.root_positions()[frames.clone()].iter().map(|p| (*p).into()).collect()
}

/// Smoothers for one number of frames, from low to high cutoff.
struct Bank {
    /// The factorised system of each, and the weight of a sample in its own smoothed value.
    members: Vec<(FactoredBands<4>, f64)>,
    windows: [f64; 2],
}

impl Bank {
    fn new(frames: usize, dt: f64) -> Self {
        let member = |cutoff: &f64| {
            let penalty = whittaker_penalty(Difference::Third, *cutoff, dt.recip());
            let mut bands = Bands::<4>::diagonal(vec![1.0; frames]);
            (0..frames - 3).for_each(|f| bands.add(f as isize, JERK, penalty));
            let factored = bands.factored();
            let mut pulse = vec![[0.0]; frames];
            pulse[frames / 2] = [1.0];
            factored.solve(&mut pulse);
            (factored, pulse[frames / 2][0])
        };
        let members = BANK.iter().filter(|c| **c * dt <= HIGHEST).map(member).collect();
        Self { members, windows: WINDOW.map(|(seconds, least)| (seconds / dt).max(least)) }
    }

    /// In every frame the weighted mean of the members whose risk `mean(|y - s|^2) + K sigma^2 (2 h - 1)` is near the
    /// least, the unfiltered channel included.
    fn filter<const K: usize>(&self, values: &[[f64; K]], deviation: f64) -> Vec<[f64; K]> {
        let variance = K as f64 * deviation * deviation;
        if variance <= 0.0 {
            return values.to_vec();
        }
        let mut fits = vec![values.to_vec()];
        let mut risks = vec![vec![variance; values.len()]];
        for (factored, own) in &self.members {
            let mut fit = values.to_vec();
            factored.solve(&mut fit);
            let off = |(y, s): (&[f64; K], &[f64; K])| (0..K).map(|k| (y[k] - s[k]).powi(2)).sum::<f64>();
            let off: Vec<f64> = values.iter().zip(&fit).map(off).collect();
            let risk = |mean: f64| (mean + variance * (2.0 * own - 1.0)).max(variance * own);
            risks.push(gaussian(&off, self.windows[0]).into_iter().map(risk).collect());
            fits.push(fit);
        }
        let least = |f: usize| risks.iter().map(|r| r[f]).fold(f64::INFINITY, f64::min);
        let least: Vec<f64> = (0..values.len()).map(least).collect();
        let mut sum = vec![[0.0; K]; values.len()];
        let mut total = vec![0.0; values.len()];
        for (fit, risk) in fits.iter().zip(&risks) {
            let weight = |(r, least): (&f64, &f64)| libm::exp(-(r - least) / (SHARP * variance));
            let weights: Vec<f64> = risk.iter().zip(&least).map(weight).collect();
            for (f, w) in gaussian(&weights, self.windows[1]).into_iter().enumerate() {
                total[f] += w;
                (0..K).for_each(|k| sum[f][k] += w * fit[f][k]);
            }
        }
        sum.iter().zip(&total).map(|(sum, total)| sum.map(|s| s / total)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic normal deviates as sums of twelve uniform ones (xorshift).
    fn noise(n: usize, deviation: f64) -> Vec<[f64; 3]> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || deviation * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0);
        (0..n).map(|_| std::array::from_fn(|_| normal())).collect()
    }

    fn wave(n: usize) -> Vec<[f64; 3]> {
        (0..n).map(|f| [(f as f64 * 0.05).sin(), (f as f64 * 0.03).cos(), 0.0]).collect()
    }

    #[test]
    fn two_thirds_of_the_noise_are_removed_and_the_motion_is_kept() {
        let clean = wave(1200);
        let noisy: Vec<[f64; 3]> =
            clean.iter().zip(noise(1200, 0.01)).map(|(a, b)| std::array::from_fn(|k| a[k] + b[k])).collect();
        let found = Bank::new(1200, 1.0 / 120.0).filter(&noisy, 0.01);
        let error = |x: &[[f64; 3]]| {
            let off = x.iter().zip(&clean).map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>());
            (off.sum::<f64>() / 3600.0).sqrt()
        };
        assert!(error(&found) < 0.35 * error(&noisy), "{} of {}", error(&found), error(&noisy));
    }
}
