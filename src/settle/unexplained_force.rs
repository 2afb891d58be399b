//! The part of the forces on a body that is not explained by contacts.
//!
//! The wrench that a frame needs, `(c'' + g, L' / 0.25 m)` for a mass of 1 kg, is compared with the nearest one that
//! forces inside friction pyramids at the support points can give (non-negative least squares). The rest over the weight,
//! root mean square over 0.15 s, is reported above a limit and never changed: a wrong contact explains it as well as a wrong
//! body. Frames of ballistic flights need nothing. Units: of [`WholeBodyDynamics`]; shares of the weight.

use super::derivatives::line_residual;
use super::gravity::{Gravity, SHORTEST};
use super::whole_body_dynamics::WholeBodyDynamics;
use crate::math::{Vec3, percentile};
use crate::measure::{Row6, unreached};
use crate::parallel;
use crate::signal::{gaussian, spans};
use std::ops::Range;

/// The limit above which forces are reported: clean takes stay below 0.2 in 19 of 20 frames, one reaches 0.75.
pub const LIMIT: f64 = 0.35;

/// The lever arm by which moments count as forces, metres.
const ARM: f64 = 0.25;

/// Coulomb's coefficient of the pyramids.
const FRICTION: f64 = 0.8;

/// Half the edge of the square that a point of a sole stands on, metres.
const HALF_SOLE: f64 = 0.035;

/// Standard deviation of the averaging of the residual, seconds.
const OVER: f64 = 0.15;

/// The time around a flight in which the residual is not reliable, seconds.
const NEAR_FLIGHT: f64 = 0.06;
/// The same at a cut, seconds.
const NEAR_CUT: f64 = 0.2;
/// The same at the ends of the clip, seconds.
const NEAR_END: f64 = 0.1;

/// The largest deviation of a ballistic flight from its parabola, as a share of the parabola's from a line.
const FLIES: f64 = 0.35;

/// The least total time that is reported, seconds.
const LEAST: f64 = 0.1;

/// The unexplained force of every frame, over the weight, averaged over time.
pub fn unexplained_force(body: &WholeBodyDynamics, gravity: Gravity) -> Vec<f64> {
    let lowest = |f: usize| {
        let soles = body.supports.iter().filter(|c| c.of_sole());
        soles.map(|c| c.at[f].y).fold(f64::INFINITY, f64::min)
    };
    let ground = percentile(&(0..body.frames()).map(lowest).collect::<Vec<_>>(), 0.1);
    let of_frame = |columns: &mut Vec<Row6>, f: usize| residual(body, f, ground, gravity.value, columns);
    let mut left: Vec<f64> = parallel::map_with(body.frames(), 1, Vec::new, of_frame);
    let near = body.frames_of(NEAR_FLIGHT) as usize;
    for air in body.flights(SHORTEST).into_iter().filter(|air| flies(body, air.clone(), gravity.value)) {
        left[air.start.saturating_sub(near)..(air.end + near).min(body.frames())].fill(0.0);
    }
    let squares: Vec<f64> = left.iter().map(|x| x * x).collect();
    let sigma = body.frames_of(OVER);
    let mut over = body.by_shot(|shot| gaussian(&squares[shot], sigma).into_iter().map(f64::sqrt).collect());
    for shot in &body.shots {
        let ends = [(0, shot.start), (body.frames(), shot.end)];
        let [first, last] = ends.map(|(end, at)| if at == end { NEAR_END } else { NEAR_CUT });
        let [first, last] = [first, last].map(|s| (body.frames_of(s) as usize).min(shot.len()));
        over[shot.start..shot.start + first].fill(0.0);
        over[shot.end - last..shot.end].fill(0.0);
    }
    over
}

/// The spans above the limit, where they last long enough in all.
pub fn reported(body: &WholeBodyDynamics, over: &[f64]) -> Vec<Range<usize>> {
    let found = spans(0..over.len(), |f| over[f] > LIMIT);
    let lasts: usize = found.iter().map(|r| r.len()).sum();
    if lasts as f64 >= body.frames_of(LEAST) { found } else { Vec::new() }
}

/// The force that the supports of a frame cannot give, over the weight; `columns` is room for what they can.
fn residual(body: &WholeBodyDynamics, frame: usize, ground: f64, g: f64, columns: &mut Vec<Row6>) -> f64 {
    let centre = body.centre[frame];
    columns.clear();
    for track in body.supports.iter().filter(|c| c.low[frame] || c.rests[frame]) {
        let at = track.at[frame];
        // A low sole has the size of a sole and is on the ground, a higher one on its stair.
        let (half, height) = match track.of_sole() {
            true if track.low[frame] => (HALF_SOLE, ground),
            true => (HALF_SOLE, at.y),
            false => (0.0, at.y),
        };
        for (x, z) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            let arm = Vec3::new(at.x + x * half, height, at.z + z * half) - centre;
            for (x, z) in [(FRICTION, 0.0), (-FRICTION, 0.0), (0.0, FRICTION), (0.0, -FRICTION)] {
                columns.push(row(&Vec3::new(x, 1.0, z), &arm.cross(&Vec3::new(x, 1.0, z))));
            }
            if half == 0.0 {
                break;
            }
        }
    }
    let needed = row(&(body.acceleration[frame] + Vec3::y() * g), &body.torque[frame]);
    unreached(columns, &needed).iter().map(|x| x * x).sum::<f64>().sqrt() / g
}

fn row(force: &Vec3, moment: &Vec3) -> Row6 {
    [force.x, force.y, force.z, moment.x / ARM, moment.y / ARM, moment.z / ARM]
}

/// Whether a flight is on a parabola.
fn flies(body: &WholeBodyDynamics, air: Range<usize>, g: f64) -> bool {
    let fall = |k: usize| 0.5 * g * (k as f64 / body.rate).powi(2);
    let straight: Vec<f64> =
        body.centre[air.clone()].iter().enumerate().map(|(k, c)| c.y + fall(k)).collect();
    let arch: Vec<f64> = (0..air.len()).map(fall).collect();
    air.len() > 3 && line_residual(&straight) < FLIES * line_residual(&arch)
}
