//! Errors of rotations on captured takes, beside the fits that other programs use, and faults that were put in.
//!
//! A figure is the median over the takes of their medians, and the mean over the takes of their 90 percents, in degrees, after the one constant
//! rotation is taken off that a rest pose may define otherwise. Jumps: limbs that turn 15 degrees or more beyond the truth from one
//! frame to the next, of 1,000. The figures of each table are printed.

use super::arrayed_takes::{ArrayedTake, PARTS, PartRotations, fitted_parts, takes};
use super::naive_fits::{joints2bvh, of_one_frame, parts_of, world_arcs};
use crate::math::{Quat, mean_rotation, median, percentile};
use rayon::prelude::*;

/// A turn beyond the truth that is a jump, degrees.
const JUMP: f64 = 15.0;

/// Limits of a row by part, degrees.
type PartLimits = [(f64, f64); 7];

/// Noise in metres, and what the method's prototype has on these takes with other noise of this size, rounded up; arms with 10 mm are better.
const ROWS: [(f64, PartLimits); 3] = [
    (0.0, [(0.1, 1.1), (0.8, 3.8), (1.6, 7.5), (2.1, 8.4), (2.0, 6.1), (2.5, 6.6), (4.0, 11.4)]),
    (0.005, [(2.3, 3.8), (2.2, 5.3), (3.2, 9.4), (4.0, 10.1), (2.7, 6.5), (3.2, 7.0), (5.0, 12.2)]),
    (0.01, [(4.0, 6.4), (3.1, 6.5), (5.2, 12.1), (5.6, 12.7), (3.2, 7.4), (3.7, 7.8), (6.3, 13.4)]),
];

/// One row of a table.
#[derive(Debug)]
pub(super) struct ErrorRow {
    /// The median over takes of the medians, by part.
    medians: Vec<f64>,
    /// The mean over takes of 90 percents.
    pub(super) highs: Vec<f64>,
    /// Jumps of arms and thighs in 1,000 frames.
    pub(super) jumps: [f64; 2],
}

/// Errors of a track in degrees, without the constant rotation.
fn own_errors(found: &[Quat], truth: &[Quat]) -> Vec<f64> {
    let apart: Vec<Quat> = found.iter().zip(truth).map(|(a, b)| a.inverse() * b).collect();
    let rest = mean_rotation(&apart, &vec![1.0; apart.len()]);
    apart.iter().map(|q| q.angle_to(&rest).to_degrees()).collect()
}

fn jumps(found: &[Quat], truth: &[Quat]) -> usize {
    let step = |w: &[Quat]| w[0].angle_to(&w[1]).to_degrees();
    found.windows(2).zip(truth.windows(2)).filter(|(a, b)| step(a) - step(b) >= JUMP).count()
}

/// The figures of a fit.
pub(super) fn row(takes: &[ArrayedTake], fit: impl Fn(&ArrayedTake) -> PartRotations + Sync) -> ErrorRow {
    let of = |take: &ArrayedTake| {
        let found = fit(take);
        let errors: Vec<(f64, f64)> = (found.iter().zip(&take.truth))
            .map(|(found, truth)| {
                let all: Vec<f64> = found.iter().zip(truth).flat_map(|(a, b)| own_errors(a, b)).collect();
                (median(all.clone()), percentile(&all, 0.9))
            })
            .collect();
        let count = |part: usize| -> usize {
            found[part].iter().zip(&take.truth[part]).map(|(a, b)| jumps(a, b)).sum()
        };
        (errors, [count(2), count(4)], take.frames() * 2)
    };
    let all: Vec<_> = takes.par_iter().map(of).collect();
    let frames: usize = all.iter().map(|a| a.2).sum();
    ErrorRow {
        medians: (0..PARTS.len()).map(|k| median(all.iter().map(|a| a.0[k].0).collect())).collect(),
        highs: (0..PARTS.len())
            .map(|k| all.iter().map(|a| a.0[k].1).sum::<f64>() / all.len() as f64)
            .collect(),
        jumps: [0, 1].map(|k| 1e3 * all.iter().map(|a| a.1[k]).sum::<usize>() as f64 / frames as f64),
    }
}

impl ErrorRow {
    pub(super) fn print(&self, name: &str) {
        let pairs: Vec<String> =
            self.medians.iter().zip(&self.highs).map(|(m, h)| format!("{m:.1} / {h:.1}")).collect();
        eprintln!("{name}: {}; jumps {:.1}, {:.1}", pairs.join(" | "), self.jumps[0], self.jumps[1]);
    }

    /// Asserts that no figure is above its limit: a median and a 90 percent by part, those of `PARTS`.
    pub(super) fn within(&self, limits: PartLimits, name: &str) {
        for (k, (median, high)) in limits.into_iter().enumerate() {
            let found = (self.medians[k], self.highs[k]);
            assert!(found.0 <= median && found.1 <= high, "{name}, {}: {found:.2?}", PARTS[k]);
        }
    }
}

fn this(take: &ArrayedTake) -> PartRotations {
    fitted_parts(&take.fitted())
}

#[test]
fn rotations_are_nearer_to_the_truth_than_those_of_other_fits() {
    let takes = takes("humanml3d");
    if takes.is_empty() {
        return;
    }
    eprintln!("{}", PARTS.join(" | "));
    for (noise, limits) in ROWS {
        let noisy: Vec<ArrayedTake> = takes.iter().map(|take| take.clone().noisy(noise)).collect();
        let found = row(&noisy, this);
        found.print(&format!("{} mm, this", noise * 1e3));
        found.within(limits, &format!("{noise} m"));
        let others = [
            ("world arcs", row(&noisy, |take| world_arcs(&take.tracks()))),
            ("joints2bvh", row(&noisy, |take| parts_of(&joints2bvh(&take.array, &take.fitted())))),
            ("carried arcs", row(&noisy, |take| of_one_frame(&take.tracks(), false))),
            ("bend plane", row(&noisy, |take| of_one_frame(&take.tracks(), true))),
        ];
        // No limb jumps, and in nine of ten frames each is nearer than by any of the others.
        assert_eq!(found.jumps, [0.0; 2], "{noise} m");
        for (name, other) in others {
            other.print(name);
            for (k, part) in PARTS.iter().enumerate().skip(2) {
                assert!(found.highs[k] < other.highs[k], "{noise} m, {part}, {name}");
            }
        }
    }
}
