//! Raises feet and seat out of the floor within the solve.

use super::envelope::envelope;
use super::equations::FrameSolution;
use super::settings::Settings;
use super::timeline::{TOGETHER, Timeline};
use crate::math::Vec3;
use rayon::prelude::*;

/// Most rounds of raising feet out of the floor; each leaves a tenth to a half of the penetration.
const ROUNDS: usize = 6;
/// Smallest penetration that is corrected, leg lengths.
pub const LEAST_RAISE: f64 = 1e-4;

/// Solves the equations of a clip with raised goals: see [`super::equations::Equations::solve`].
type Solve<'a> = dyn Fn(Option<&[Vec<f64>]>) -> Vec<FrameSolution> + 'a;

/// The solution with feet and seat raised out of the floor, and the height by which each foot was raised. Each raise is a
/// smooth upper envelope of the penetration, added to the goals or to the path of the pelvis: the matrix does not change, and
/// nothing switches between frames. The penetration left after the last round is corrected directly.
pub fn out_of_floor(
    (solve, mut solution): (&Solve<'_>, Vec<FrameSolution>),
    time: &Timeline,
    goals: &[Vec<Vec3>],
    lowest: &[Vec<f64>],
    seat: &[f64],
    leg: f64,
    settings: &Settings,
) -> (Vec<FrameSolution>, Vec<Vec<f64>>) {
    let mut raised = vec![vec![0.0; time.frames]; goals.len()];
    let mut body_raise = vec![0.0; time.frames];
    // Adds a smooth upper envelope of the remaining penetration to a curve; returns the largest penetration.
    let cover = |needed: Vec<f64>, seconds: f64, channel: &mut [f64]| {
        let most = needed.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            let more = envelope(&needed, &time.cut, time.cycle, time.reach(seconds));
            channel.iter_mut().enumerate().for_each(|(f, own)| *own += more[time.unknown(f)]);
        }
        most
    };
    let sitting = |body_raise: &[f64], solution: &[FrameSolution]| -> Vec<f64> {
        let sunk =
            |f: usize| (-seat[f] - body_raise[f] - solution[f][0].y - settings.penetration * leg).max(0.0);
        let frames = 0..if seat.is_empty() { 0 } else { time.unknowns() };
        frames.into_par_iter().with_min_len(TOGETHER).map(sunk).collect()
    };
    let standing = |k: usize, raised: &[f64], solution: &[FrameSolution]| -> Vec<f64> {
        let sunk = |f: usize| {
            let sole = goals[k][f].y + solution[f][k + 1].y + raised[f] + lowest[k][f];
            (-sole - settings.penetration * leg).max(0.0)
        };
        let frames = 0..if lowest[k].is_empty() { 0 } else { time.unknowns() };
        frames.into_par_iter().with_min_len(TOGETHER).map(sunk).collect()
    };
    for round in 0.. {
        let mut most = 0.0;
        for (k, raised) in raised.iter_mut().enumerate() {
            most = f64::max(most, cover(standing(k, raised, &solution), settings.foot_raise_time, raised));
        }
        most = most.max(cover(sitting(&body_raise, &solution), settings.body_raise_time, &mut body_raise));
        if round == ROUNDS || most < LEAST_RAISE * leg {
            break;
        }
        // Relative to the direct transfer the goals are raised, less the height by which the body is raised.
        let less = |raised: &Vec<f64>| raised.iter().zip(&body_raise).map(|(a, b)| a - b).collect();
        solution = solve(Some(&raised.iter().map(less).collect::<Vec<Vec<f64>>>()));
    }
    solution.iter_mut().zip(&body_raise).for_each(|(solution, lift)| solution[0].y += lift);
    (solution, raised)
}
