//! The one solve: where the pelvis and the ankles of every frame go.
//!
//! Unknown in every frame are the way `d` of the pelvis and the offsets `o_i` of the ankles from their goals. Minimised,
//! with all lengths over the leg's, is
//!
//! ```text
//!   sum dt sum_i   |K_i (o_i - d - r_i)|^2 / limb^2                       shape
//! + sum dt sum_i,p |D(o_i + q_p)|^2 rest / (v_p^2 + still^2)              rest
//! + sum dt sum_i,p n_p (y . (o_i + q_p))^2 / height^2                     ground
//! + sum dt |d|^2 / far^2 + (5 / limb)^2 |D D d|^2 / (2 pi cutoff)^4       pelvis
//! ```
//!
//! `r` is by how much the rotation copy misses the goals, `K = 1 + (kappa - 1) e e'` how much more a knee turns for a
//! change along the leg `e` than the leg for one across, `q_p` by how much a point of the sole misses what it shall do,
//! `v_p` its speed, `n_p` how near the ground it is; `D` is the difference of neighbouring frames over their time. The
//! matrix is positive and has few bands, so one factorisation answers ([`Bands`]); a cycle is folded, both of its halves
//! side by side, which doubles the bands and nothing else. Units: metres.

use super::settings::Settings;
use super::timeline::Timeline;
use crate::math::{Mat3, Vec3};
use crate::signal::{BEND, Bands, FactoredBands};

/// A point of a sole.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// By how much it misses what it shall do while its ankle is at the goal, for every frame: `q`.
    pub misfit: Vec<Vec3>,
    /// Its speed over every edge, leg lengths per second: `v`.
    pub pace: Vec<f64>,
    /// How near the ground it is in every frame, 0 to 1: `n`.
    pub near: Vec<f64>,
}

/// A leg.
#[derive(Clone, Debug, PartialEq)]
pub struct LegTerms {
    /// The way from the goal of the ankle to where the rotation copy has it: `r`.
    pub shape: Vec<Vec3>,
    /// The direction from hip to ankle times the root of `kappa^2 - 1`, so that `K'K = 1 + s s'`.
    pub stiff: Vec<Vec3>,
    /// How much of rest and ground counts, 0 to 1, in every frame.
    pub follow: Vec<f64>,
    /// The points of its sole.
    pub points: Vec<Point>,
}

/// The answer: in every frame the pelvis, and the ankles of the first and the second leg.
pub type Answer = [Vec3; 3];

/// Unknowns of a frame: three ways in three axes.
const WIDTH: usize = 9;
/// The bands of an open clip, whose pelvis meets that of the next frame but one, and of a folded cycle.
const OPEN: usize = 2 * WIDTH + 1;
const FOLDED: usize = 4 * WIDTH + 1;

/// [`LegTerms::stiff`] of a leg whose hip, knee and ankle are at these places: its knee turns `kappa = d^2 / (l1 l2 sin
/// knee)` times as much for a change of its length `d` as the leg for one across, counted up to `most` times.
pub fn stiff([hip, knee, ankle]: [Vec3; 3], most: f64) -> Vec3 {
    let (l1, l2, line) = ((knee - hip).norm(), (ankle - knee).norm(), ankle - hip);
    let cosine = ((l1 * l1 + l2 * l2 - line.norm_squared()) / (2.0 * l1 * l2)).clamp(-1.0, 1.0);
    let sine = (1.0 - cosine * cosine).sqrt().max(1e-6);
    let kappa = (line.norm_squared() / (l1 * l2 * sine)).min(most);
    line.try_normalize(1e-12).unwrap_or_default() * (kappa * kappa - 1.0).max(0.0).sqrt()
}

/// The factored matrix of a clip: it serves every right-hand side.
#[derive(Debug)]
pub struct Equations<'a> {
    time: &'a Timeline,
    legs: &'a [LegTerms],
    weights: Weights,
    matrix: Matrix,
}

#[derive(Debug)]
enum Matrix {
    Open(FactoredBands<OPEN>),
    Folded(FactoredBands<FOLDED>),
}

/// The constants in front of the terms.
#[derive(Clone, Copy, Debug)]
struct Weights {
    limb: f64,
    rest: f64,
    still: f64,
    ground: f64,
    far: f64,
    bend: f64,
}

impl Weights {
    /// For legs of this length, metres.
    fn new(settings: &Settings, time: &Timeline, leg: f64) -> Self {
        let per = |x: f64| time.dt / (x * leg).powi(2);
        let slow = (2.0 * std::f64::consts::PI * settings.cutoff).powi(2) * time.dt * time.dt;
        Self {
            limb: per(settings.limb),
            rest: settings.rest / (leg * leg * time.dt),
            still: settings.still,
            ground: per(settings.height),
            far: per(settings.far),
            bend: per(settings.limb) * (5.0 / slow).powi(2),
        }
    }

    fn rest(&self, leg: &LegTerms, point: &Point, edge: usize) -> f64 {
        let follow = leg.follow[edge].min(leg.follow[edge + 1]);
        self.rest * follow * follow / (point.pace[edge].powi(2) + self.still * self.still)
    }

    fn ground(&self, leg: &LegTerms, point: &Point, frame: usize) -> f64 {
        self.ground * (leg.follow[frame] * point.near[frame]).powi(2)
    }
}

/// Where the unknowns of a frame stand among all: in order, or a cycle's two halves side by side.
fn place(time: &Timeline, unknown: usize) -> usize {
    let n = time.unknowns();
    match (time.cycle, 2 * unknown < n) {
        (false, _) => WIDTH * unknown,
        (true, true) => WIDTH * (2 * unknown),
        (true, false) => WIDTH * (2 * (n - unknown) - 1),
    }
}

impl<'a> Equations<'a> {
    /// Assembles and factors the matrix for one or two legs of `length` metres.
    pub fn new(time: &'a Timeline, legs: &'a [LegTerms], length: f64, settings: &Settings) -> Self {
        let weights = Weights::new(settings, time, length);
        let matrix = match time.cycle {
            true => Matrix::Folded(assembled::<FOLDED>(time, legs, &weights).factored()),
            false => Matrix::Open(assembled::<OPEN>(time, legs, &weights).factored()),
        };
        Self { time, legs, weights, matrix }
    }

    /// The answer where goals are raised by `raised` (by leg and frame): points still miss what they missed, and the copy
    /// misses the goals by as much more. In every frame of the clip.
    pub fn solve(&self, raised: Option<&[Vec<f64>]>) -> Vec<Answer> {
        let (time, w) = (self.time, &self.weights);
        let mut side = vec![[0.0]; WIDTH * time.unknowns()];
        let mut add = |at: usize, v: &Vec3| v.iter().enumerate().for_each(|(a, x)| side[at + a][0] += x);
        for (i, leg) in self.legs.iter().enumerate() {
            for f in 0..time.unknowns() {
                let at = place(time, f);
                let raise = raised.map_or(0.0, |r| r[i][f]);
                let r = leg.shape[f] - Vec3::y() * raise;
                let pull = (r + leg.stiff[f] * leg.stiff[f].dot(&r)) * w.limb;
                add(at + 3 * (i + 1), &pull);
                add(at, &-pull);
                for point in &leg.points {
                    add(at + 3 * (i + 1), &(Vec3::y() * (-w.ground(leg, point, f) * point.misfit[f].y)));
                }
            }
            for edge in time.edges() {
                let ends = [edge, edge + 1].map(|f| place(time, time.unknown(f)) + 3 * (i + 1));
                for point in &leg.points {
                    let pull = (point.misfit[edge + 1] - point.misfit[edge]) * w.rest(leg, point, edge);
                    add(ends[0], &pull);
                    add(ends[1], &-pull);
                }
            }
        }
        match &self.matrix {
            Matrix::Open(matrix) => matrix.solve(&mut side),
            Matrix::Folded(matrix) => matrix.solve(&mut side),
        }
        let answer = |f: usize| {
            let at = place(time, time.unknown(f));
            [0, 3, 6].map(|k| Vec3::new(side[at + k][0], side[at + k + 1][0], side[at + k + 2][0]))
        };
        (0..time.frames).map(answer).collect()
    }
}

fn assembled<const B: usize>(time: &Timeline, legs: &[LegTerms], w: &Weights) -> Bands<B> {
    let n = time.unknowns();
    let mut matrix = Bands::<B>::diagonal(std::iter::repeat_n(0.0, WIDTH * n));
    for f in 0..n {
        let at = place(time, f);
        (0..3).for_each(|a| matrix.add_entry(at + a, at + a, w.far));
        // A leg that is not there stays where it is.
        (3 * (legs.len() + 1)..WIDTH).for_each(|k| matrix.add_entry(at + k, at + k, 1.0));
    }
    for (i, leg) in legs.iter().enumerate() {
        for f in 0..n {
            let (d, o) = (place(time, f), place(time, f) + 3 * (i + 1));
            let shape = (Mat3::identity() + leg.stiff[f] * leg.stiff[f].transpose()) * w.limb;
            for a in 0..3 {
                for b in a..3 {
                    matrix.add_entry(d + a, d + b, shape[(a, b)]);
                    matrix.add_entry(o + a, o + b, shape[(a, b)]);
                }
                for b in 0..3 {
                    matrix.add_entry(d + a, o + b, -shape[(a, b)]);
                }
            }
            let ground: f64 = leg.points.iter().map(|p| w.ground(leg, p, f)).sum();
            matrix.add_entry(o + 1, o + 1, ground);
        }
        for edge in time.edges() {
            let [a, b] = [edge, edge + 1].map(|f| place(time, time.unknown(f)) + 3 * (i + 1));
            let rest: f64 = leg.points.iter().map(|p| w.rest(leg, p, edge)).sum();
            for k in 0..3 {
                matrix.add_entry(a + k, a + k, rest);
                matrix.add_entry(b + k, b + k, rest);
                matrix.add_entry(a + k, b + k, -rest);
            }
        }
    }
    for triple in time.triples() {
        let at = triple.map(|f| place(time, f));
        for k in 0..3 {
            for (i, x) in BEND.iter().enumerate() {
                for (j, y) in BEND.iter().enumerate().skip(i) {
                    matrix.add_entry(at[i] + k, at[j] + k, w.bend * x * y);
                }
            }
        }
    }
    matrix
}
