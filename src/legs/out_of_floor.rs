//! Raises feet and body out of the floor within the solve.

use super::envelope::envelope;
use super::equations::FrameSolution;
use super::settings::Settings;
use super::timeline::Timeline;

/// Most rounds of raising feet out of the floor; each leaves a tenth to a half of the penetration.
const ROUNDS: usize = 6;
/// Smallest penetration that is corrected, leg lengths.
pub const LEAST_RAISE: f64 = 1e-4;

/// Solves the equations of a clip with raised goals: see [`super::equations::Equations::solve`].
type Solve<'a> = dyn Fn(Option<&[Vec<f64>]>) -> Vec<FrameSolution> + 'a;

/// The height of an ankle above the ground, by leg, frame and solution.
type SolvedAnkleHeight<'a> = dyn Fn(usize, usize, &[FrameSolution]) -> f64 + 'a;

/// The solution with feet and body raised out of the floor, and the height by which each foot was raised. Feet that are in the air
/// above hands, head or pelvis are raised with the body, by these `shares` of its raise, by leg and frame. Each raise is a smooth upper
/// envelope of the penetration, added to the goals or to the path of the pelvis: the matrix does not change, and nothing switches
/// between frames. The penetration left after the last round is corrected directly.
pub fn out_of_floor(
    (solve, mut solution): (&Solve<'_>, Vec<FrameSolution>),
    time: &Timeline,
    ankle: &SolvedAnkleHeight<'_>,
    (lowest_feet, lowest_body): (&[Vec<f64>], &[f64]),
    shares: &[Vec<f64>],
    leg_length: f64,
    settings: &Settings,
) -> (Vec<FrameSolution>, Vec<Vec<f64>>) {
    let mut raised = vec![vec![0.0; time.frames]; lowest_feet.len()];
    let mut body_raise = vec![0.0; time.frames];
    // Adds a smooth upper envelope of the remaining penetration to a curve; returns the largest penetration.
    let cover = |needed: Vec<f64>, seconds: f64, channel: &mut [f64]| {
        let most = needed.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            let more = envelope(&needed, &time.is_cut, time.cycle, time.reach(seconds));
            channel.iter_mut().enumerate().for_each(|(f, own)| *own += more[time.unknown(f)]);
        }
        most
    };
    let body_penetration = |body_raise: &[f64], solution: &[FrameSolution]| -> Vec<f64> {
        let sunk = |f: usize| {
            (-lowest_body[f] - body_raise[f] - solution[f][0].y - settings.penetration * leg_length).max(0.0)
        };
        let frames = 0..if lowest_body.is_empty() { 0 } else { time.unknowns() };
        frames.map(sunk).collect()
    };
    let foot_penetration =
        |leg_index: usize, raised: &[f64], body_raise: &[f64], solution: &[FrameSolution]| -> Vec<f64> {
            let sunk = |f: usize| {
                let raised = raised[f] + shares[leg_index][f] * body_raise[f];
                let sole = ankle(leg_index, f, solution) + raised + lowest_feet[leg_index][f];
                (-sole - settings.penetration * leg_length).max(0.0)
            };
            let frames = 0..if lowest_feet[leg_index].is_empty() { 0 } else { time.unknowns() };
            frames.map(sunk).collect()
        };
    for round in 0.. {
        let mut most = 0.0;
        for (leg_index, raised) in raised.iter_mut().enumerate() {
            let needed = foot_penetration(leg_index, raised, &body_raise, &solution);
            most = f64::max(most, cover(needed, settings.foot_raise_time, raised));
        }
        most = most.max(cover(
            body_penetration(&body_raise, &solution),
            settings.body_raise_time,
            &mut body_raise,
        ));
        if round == ROUNDS || most < LEAST_RAISE * leg_length {
            break;
        }
        // The goals rise relative to the direct transfer only by what the body does not rise itself.
        let less = |(raised, shares): (&Vec<f64>, &Vec<f64>)| {
            let frames = raised.iter().zip(&body_raise).zip(shares);
            frames.map(|((raised, body), share)| raised - (1.0 - share) * body).collect()
        };
        solution = solve(Some(&raised.iter().zip(shares).map(less).collect::<Vec<Vec<f64>>>()));
    }
    for (raised, shares) in raised.iter_mut().zip(shares) {
        let with_body = shares.iter().zip(&body_raise).map(|(share, body)| share * body);
        raised.iter_mut().zip(with_body).for_each(|(raised, with_body)| *raised += with_body);
    }
    solution.iter_mut().zip(&body_raise).for_each(|(solution, lift)| solution[0].y += lift);
    (solution, raised)
}
