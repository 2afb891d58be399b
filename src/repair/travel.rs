//! Stances that all travel, in proportion to the body or with one velocity, become stances that stay.
//!
//! A path that is scaled moves what rests by a share of the body's own velocity, a drift by one velocity. On a straight
//! even walk both are the same, so the scale is asked first, and a drift along the way must be more than feet roll. Units: metres of 0.86 m legs, seconds.

use super::ledger::{Ledger, all, own};
use super::robust::{middle, mode, weighted_median};
use super::stances::{Feet, Kind, SLOW, Stance};
use super::take::Take;
use crate::math::Vec3;
use rayon::prelude::*;

/// The inner part of a stance that is shorter tells no velocity; longer ones count as several, seconds.
const LONG: (f64, f64) = (0.1, 1.0);
/// A body slower than this tells no scale, metres a second.
const FAST: f64 = 0.15;
/// The share of the body's velocity that stances of clean takes may have: they roll by up to this.
const SCALE: f64 = 0.06;
/// So many stances of a body that moves are asked for.
const MOVING: usize = 6;
/// And so large a share of them agrees, to within half.
const AGREE_SCALE: f64 = 0.7;
/// Stances within this of the common velocity count in full while the scale is refined, metres a second.
const NEAR: f64 = 0.03;
/// The slowest and the fastest drift, metres a second: clean takes stray by up to 3 cm/s, in no common direction.
const DRIFT: (f64, f64) = (0.015, 0.25);
/// So large a share of the time of stances agrees about a drift, to within half.
const AGREE_DRIFT: f64 = 0.6;
/// So many stances are asked for.
const FEWEST: usize = 3;
/// A body that travels by less than this share of the drift walks on the spot: its floor moves, not the take.
const ON_THE_SPOT: f64 = 0.15;

/// Takes the scale of the path, or a horizontal drift, away, and says whether there was one.
pub(super) fn travel(take: &mut Take, feet: &Feet, ledger: &mut Ledger) -> bool {
    let places = take.places();
    let (mut of_feet, mut of_body, mut weights): (Vec<Vec3>, Vec<Vec3>, Vec<f64>) = (vec![], vec![], vec![]);
    let piece = take.frames_in(LONG.1 / 0.6, 1);
    let pieces = |s: Stance| {
        let end = s.frames.end;
        let part = move |a: usize| Stance { track: s.track, frames: a..(a + piece).min(end) };
        s.frames.step_by(piece).map(part)
    };
    let looked = |stance: Stance| {
        let ends = stance.frames.len() / 5;
        let frames = stance.frames.start + ends..stance.frames.end - ends;
        let seconds = (frames.len().max(1) - 1) as f64 * take.dt;
        (seconds >= LONG.0 && feet.tracks[stance.track].kind == Kind::Ball).then(|| {
            let at = &feet.tracks[stance.track].at[frames.clone()];
            (velocity(at, take.dt), velocity(&places[frames], take.dt), seconds.min(LONG.1))
        })
    };
    let stances = feet.stances(2.0 * SLOW).into_par_iter().flat_map_iter(pieces);
    for (foot, body, weight) in stances.filter_map(looked).collect::<Vec<_>>() {
        of_feet.push(foot);
        of_body.push(body);
        weights.push(weight);
    }
    let total: f64 = weights.iter().sum();
    if total < 1.0 {
        return false;
    }
    let share = |agrees: &dyn Fn(usize) -> bool, among: &[usize]| {
        let sum = |k: &[usize]| k.iter().map(|k| weights[*k]).sum::<f64>();
        let agreeing: Vec<usize> = among.iter().copied().filter(|k| agrees(*k)).collect();
        sum(&agreeing) / sum(among).max(1e-9)
    };
    let every: Vec<usize> = (0..weights.len()).collect();
    let fast: Vec<usize> = every.iter().copied().filter(|k| of_body[*k].norm() > FAST).collect();
    let (mut ratios, mut of_fast) = (vec![], vec![]);
    for k in &fast {
        ratios.push(of_feet[*k].dot(&of_body[*k]) / of_body[*k].norm_squared());
        of_fast.push(weights[*k]);
    }
    let mut scale = weighted_median(&ratios, &of_fast);
    let follows = |k: usize| (of_feet[k] - of_body[k] * scale).norm() < 0.5 * scale.abs() * of_body[k].norm();
    let scaled = share(&follows, &fast);
    let start = middle(&of_feet);
    let drift = mode(&of_feet, &weights, start, (0.5 * start.norm()).max(0.01));
    let drifts = |k: usize| (of_feet[k] - drift).norm() < 0.5 * drift.norm();
    let drifting = share(&drifts, &every);
    let frames = 0..take.frames();

    let agreed = all(&[scaled / AGREE_SCALE, fast.len() as f64 / MOVING as f64]);
    let first = if scaled > drifting - 0.1 { f64::INFINITY } else { 0.0 };
    if ledger.near("path_scale", all(&[scale.abs() / SCALE, agreed, first])) {
        for _ in 0..10 {
            let (mut up, mut down) = (0.0, 0.0);
            for k in &fast {
                let off = (of_feet[*k] - of_body[*k] * scale).norm_squared() / (NEAR * NEAR);
                let weight = weights[*k] / (1.0 + off).powi(2);
                up += weight * of_body[*k].dot(&of_feet[*k]);
                down += weight * of_body[*k].norm_squared();
            }
            scale = up / down.max(f64::MIN_POSITIVE);
        }
        for f in frames.clone() {
            let way = (places[f] - places[0]) * -scale;
            take.shift(f, &Vec3::new(way.x, 0.0, way.z));
        }
        ledger.mend("path_scale", None, frames, "1", [1.0 / (1.0 - scale), 1.0]);
        return true;
    }
    let seconds = take.time(take.edges());
    let way = (places[take.edges()] - places[0]) / seconds;
    let travels = libm::hypot(way.x, way.z) / (ON_THE_SPOT * drift.norm()).max(1e-9);
    let share = all(&[
        drift.norm() / DRIFT.0,
        DRIFT.1 / drift.norm().max(1e-9),
        drifting / AGREE_DRIFT,
        weights.len() as f64 / FEWEST as f64,
        travels,
        drift.norm_squared() / (SCALE * way.dot(&drift).abs()).max(1e-9),
    ]);
    let fires = ledger.near("drift", share);
    if fires {
        frames.clone().for_each(|f| take.shift(f, &(drift * -take.time(f))));
        ledger.mend("drift", None, frames, "m/s", [own(take, drift.norm()), 0.0]);
    }
    fires
}

/// The horizontal velocity from the first third of some places to the last.
fn velocity(at: &[Vec3], dt: f64) -> Vec3 {
    let third = (at.len() / 3).max(1);
    let way = middle(&at[at.len() - third..]) - middle(&at[..third]);
    Vec3::new(way.x, 0.0, way.z) / ((at.len() - third).max(1) as f64 * dt)
}
