//! Linear least-squares problem for the positions of pelvis and ankles in all frames of a clip.
//!
//! The unknowns of a frame are the displacement `d` of the pelvis and the offsets `o_i` of the ankles from their goals.
//! With lengths in leg lengths, the parameters of [`Settings`] and `w = 2 pi cutoff`, the cost is
//!
//! ```text
//!   sum dt sum_i   |K_i (o_i - d - r_i)|^2 / limb_direction^2                            shape
//! + sum dt sum_i,p |D(o_i + q_p)|^2 contact_weight / (v_p^2 + rest_speed^2)              contact
//! + sum dt sum_i,p n_p (y . (o_i + q_p))^2 / contact_height^2                            ground
//! + sum dt |d|^2 / root_displacement^2 + (5 / limb_direction)^2 |D D d|^2 / w^4          pelvis
//! + sum dt sum_i   (1 / limb_direction)^2 |D D (o_i - r_i)|^2 / w^4                      feet
//! ```
//!
//! `r` is the offset of the direct transfer from the goals; `K = 1 + (kappa - 1) e e'` weights a change along the leg `e`, for
//! which the knee rotates, more than one across it, for which the leg swings; `q_p` is the deviation of a point of the sole
//! from its goal, `v_p` its speed, `n_p` its nearness to the ground; `D` is the difference of neighbouring frames over their
//! time. The matrix is positive definite and banded, so one factorisation solves it ([`Bands`]); a cycle is folded, with its
//! two halves interleaved, which only doubles the bandwidth. Units: metres.

use super::limb_pose::{LimbPose, LimbPositions};
use super::settings::Settings;
use super::timeline::{TOGETHER, Timeline};
use crate::math::{Mat3, Vec3};
use crate::parallel;
use crate::signal::{BEND, Bands, FactoredBands, solve_once};
use std::ops::Range;

/// A point of a sole.
#[derive(Clone, Debug, PartialEq)]
pub struct SolePoint {
    /// Its deviation from its goal while the ankle is at the ankle's goal, for every frame: `q`.
    pub misfit: Vec<Vec3>,
    /// Its speed over every edge, leg lengths per second: `v`.
    pub speed: Vec<f64>,
    /// Its nearness to the ground in every frame, 0 to 1: `n`.
    pub nearness: Vec<f64>,
}

/// The terms of a leg.
#[derive(Clone, Debug, PartialEq)]
pub struct LegTerms {
    /// The offset from the goal of the ankle to its position in the direct transfer: `r`.
    pub direct_offset: Vec<Vec3>,
    /// The direction from hip to ankle times the root of `kappa^2 - 1`, so that `K'K = 1 + s s'`.
    pub stiffness: Vec<Vec3>,
    /// The weight of the contact and ground terms in every frame, 0 to 1.
    pub weight: Vec<f64>,
    /// The points of its sole.
    pub points: Vec<SolePoint>,
}

/// The solution of a frame: displacement of the pelvis, offsets of the ankles of the first and the second leg.
pub type FrameSolution = [Vec3; 3];

/// Unknowns of a frame: three vectors of three components.
const UNKNOWNS_PER_FRAME: usize = 9;
/// The bands of an open clip, in which a frame is coupled with the next two.
const OPEN_BANDS: usize = 2 * UNKNOWNS_PER_FRAME + 1;
/// The bands of a folded cycle, in which neighbouring frames are twice as far apart.
const FOLDED_BANDS: usize = 4 * UNKNOWNS_PER_FRAME + 1;

/// [`LegTerms::stiffness`] of a leg with these positions of hip, knee and ankle. For a change of the length `d` the knee rotates
/// `kappa = d^2 / (l1 l2 sin knee)` times as much as the leg does for a change across it; `kappa` is at most `most`.
pub fn stiffness([hip, knee, ankle]: [Vec3; 3], most: f64) -> Vec3 {
    let (l1, l2, line) = ((knee - hip).norm(), (ankle - knee).norm(), ankle - hip);
    let cosine = ((l1 * l1 + l2 * l2 - line.norm_squared()) / (2.0 * l1 * l2)).clamp(-1.0, 1.0);
    let sine = (1.0 - cosine * cosine).sqrt().max(1e-6);
    let kappa = (line.norm_squared() / (l1 * l2 * sine)).min(most);
    line.try_normalize(1e-12).unwrap_or_default() * (kappa * kappa - 1.0).max(0.0).sqrt()
}

/// The equations of a clip.
#[derive(Debug)]
pub struct Equations<'a> {
    time: &'a Timeline,
    legs: &'a [LegTerms],
    weights: Weights,
    matrix: SystemMatrix,
}

/// The matrix of a clip.
#[derive(Debug)]
enum SystemMatrix {
    /// The factored matrix of a cycle.
    Folded(FactoredBands<FOLDED_BANDS>),
    /// The factored matrix of an open clip.
    Open(FactoredBands<OPEN_BANDS>),
    /// The matrix of a long open clip is assembled and factored for every solve: stored, it would be as large as the
    /// rotations of thirty joints.
    Reassembled,
}

/// Largest stored factor of an open clip, bytes: 3,000 frames, which few takes exceed. If it were stored for all clips, the
/// default pipeline would need 3,995 bytes per frame instead of 2,859 (`tests/long_takes.rs`).
const LARGEST_STORED_MATRIX: usize = 4 << 20;

/// The constant factors of the terms.
#[derive(Clone, Copy, Debug)]
struct Weights {
    limb: f64,
    contact: f64,
    rest_speed: f64,
    ground: f64,
    root: f64,
    bend: f64,
    foot: f64,
}

impl Weights {
    /// The factors for legs of length `leg_length`, metres.
    fn new(settings: &Settings, time: &Timeline, leg_length: f64) -> Self {
        let per = |x: f64| time.dt / (x * leg_length).powi(2);
        let slow = (2.0 * std::f64::consts::PI * settings.cutoff).powi(2) * time.dt * time.dt;
        Self {
            limb: per(settings.limb_direction),
            contact: settings.contact_weight / (leg_length * leg_length * time.dt),
            rest_speed: settings.rest_speed,
            ground: per(settings.contact_height),
            root: per(settings.root_displacement),
            bend: per(settings.limb_direction) * (5.0 / slow).powi(2),
            foot: per(settings.limb_direction) / slow.powi(2),
        }
    }

    fn contact(&self, leg: &LegTerms, point: &SolePoint, edge: usize) -> f64 {
        let weight = leg.weight[edge].min(leg.weight[edge + 1]);
        self.contact * weight * weight / (point.speed[edge].powi(2) + self.rest_speed * self.rest_speed)
    }

    fn ground(&self, leg: &LegTerms, point: &SolePoint, frame: usize) -> f64 {
        self.ground * (leg.weight[frame] * point.nearness[frame]).powi(2)
    }
}

/// The index of the first unknown of a frame: in order, or with the two halves of a cycle interleaved.
fn first_index(time: &Timeline, unknown: usize) -> usize {
    let n = time.unknowns();
    match (time.cycle, 2 * unknown < n) {
        (false, _) => UNKNOWNS_PER_FRAME * unknown,
        (true, true) => UNKNOWNS_PER_FRAME * (2 * unknown),
        (true, false) => UNKNOWNS_PER_FRAME * (2 * (n - unknown) - 1),
    }
}

impl<'a> Equations<'a> {
    /// The equations of one or two legs of `length` metres.
    pub fn new(time: &'a Timeline, legs: &'a [LegTerms], length: f64, settings: &Settings) -> Self {
        let weights = Weights::new(settings, time, length);
        let matrix = match time.cycle {
            true => SystemMatrix::Folded(assembled(time, legs, &weights).factored()),
            false
                if time.unknowns() * size_of::<[[f64; OPEN_BANDS]; UNKNOWNS_PER_FRAME]>()
                    <= LARGEST_STORED_MATRIX =>
            {
                SystemMatrix::Open(assembled(time, legs, &weights).factored())
            }
            false => SystemMatrix::Reassembled,
        };
        Self { time, legs, weights, matrix }
    }

    /// The solution in every frame of the clip. `raised` is added to the height of each ankle goal, by leg and frame: deviations
    /// of sole points stay, and the direct transfer is that much further below the goals.
    pub fn solve(&self, raised: Option<&[Vec<f64>]>) -> Vec<FrameSolution> {
        let time = self.time;
        let second_differences = self.second_differences(raised);
        let mut x: Vec<[f64; UNKNOWNS_PER_FRAME]> =
            parallel::map(time.unknowns(), 64, |f| self.right_hand_side(f, raised, &second_differences));
        drop(second_differences);
        match &self.matrix {
            SystemMatrix::Reassembled => {
                solve_once(x.as_flattened_mut(), UNKNOWNS_PER_FRAME, |rows: Range<usize>| {
                    self.assemble_rows(rows)
                })
            }
            SystemMatrix::Open(matrix) => matrix.solve(x.as_flattened_mut().as_chunks_mut::<1>().0),
            SystemMatrix::Folded(matrix) => {
                let mut folded = vec![[0.0]; UNKNOWNS_PER_FRAME * time.unknowns()];
                let of_frame = |f: usize| first_index(time, f)..first_index(time, f) + UNKNOWNS_PER_FRAME;
                for (f, x) in x.iter().enumerate() {
                    folded[of_frame(f)].as_flattened_mut().copy_from_slice(x);
                }
                matrix.solve(&mut folded);
                for (f, x) in x.iter_mut().enumerate() {
                    x.copy_from_slice(folded[of_frame(f)].as_flattened());
                }
            }
        }
        let of_frame = |x: [f64; UNKNOWNS_PER_FRAME]| [0, 3, 6].map(|k| Vec3::new(x[k], x[k + 1], x[k + 2]));
        let mut solution: Vec<FrameSolution> = x.into_iter().map(of_frame).collect();
        (solution.len()..time.frames).for_each(|f| solution.push(solution[time.unknown(f)]));
        solution
    }

    /// Assembles rows of the matrix of an open clip, of whole frames.
    fn assemble_rows(&self, rows: Range<usize>) -> Vec<[f64; OPEN_BANDS]> {
        let mut assembled = vec![[0.0; OPEN_BANDS]; rows.len()];
        fill(
            &mut assembled,
            self.time,
            self.legs,
            &self.weights,
            rows.start / UNKNOWNS_PER_FRAME..rows.end / UNKNOWNS_PER_FRAME,
        );
        assembled
    }

    /// The offset of the direct transfer from the goal of a leg.
    fn direct_offset(&self, leg_index: usize, f: usize, raised: Option<&[Vec<f64>]>) -> Vec3 {
        self.legs[leg_index].direct_offset[f] - Vec3::y() * raised.map_or(0.0, |raised| raised[leg_index][f])
    }

    /// The second difference of that offset in every frame with two neighbours, by leg.
    fn second_differences(&self, raised: Option<&[Vec<f64>]>) -> Vec<Vec<Vec3>> {
        let of = |leg_index: usize| {
            let mut second_differences = vec![Vec3::zeros(); self.time.unknowns()];
            for triple in self.time.triples(0..self.time.frames) {
                let parts =
                    triple.iter().zip(BEND).map(|(f, part)| self.direct_offset(leg_index, *f, raised) * part);
                second_differences[triple[1]] = parts.sum();
            }
            second_differences
        };
        parallel::map(self.legs.len(), 1, of)
    }

    /// The right-hand side of one frame.
    fn right_hand_side(
        &self,
        f: usize,
        raised: Option<&[Vec<f64>]>,
        second_differences: &[Vec<Vec3>],
    ) -> [f64; UNKNOWNS_PER_FRAME] {
        let (time, w) = (self.time, &self.weights);
        let mut right_hand_side = [0.0; UNKNOWNS_PER_FRAME];
        let mut add =
            |at: usize, v: &Vec3| v.iter().enumerate().for_each(|(a, x)| right_hand_side[at + a] += x);
        // The edges that touch it, the earlier one first.
        let before = if f > 0 { Some(f - 1) } else { None };
        let closing_edge = (time.cycle && f == 0).then(|| time.is_cut.len() - 1);
        let edges = [before, Some(f).filter(|f| *f < time.is_cut.len()), closing_edge];
        let n = time.unknowns();
        let around = match time.cycle {
            true => [Some((f + n - 1) % n), Some(f), Some((f + 1) % n)],
            false => [before, Some(f), Some(f + 1).filter(|f| *f < n)],
        };
        for (leg_index, leg) in self.legs.iter().enumerate() {
            let first_unknown = 3 * (leg_index + 1);
            let offset = self.direct_offset(leg_index, f, raised);
            let pull = (offset + leg.stiffness[f] * leg.stiffness[f].dot(&offset)) * w.limb;
            add(first_unknown, &pull);
            add(0, &-pull);
            let bend: Vec3 = around
                .iter()
                .zip(BEND)
                .filter_map(|(f, part)| Some(second_differences[leg_index][(*f)?] * part))
                .sum();
            add(first_unknown, &(bend * w.foot));
            for point in &leg.points {
                add(first_unknown, &(Vec3::y() * (-w.ground(leg, point, f) * point.misfit[f].y)));
            }
            for edge in edges.into_iter().flatten().filter(|edge| !time.is_cut[*edge]) {
                for point in &leg.points {
                    let pull = (point.misfit[edge + 1] - point.misfit[edge]) * w.contact(leg, point, edge);
                    add(first_unknown, &if edge == f { pull } else { -pull });
                }
            }
        }
        right_hand_side
    }
}

/// Frames per parallel task of the assembly.
const FRAMES_PER_TASK: usize = 64;

/// Assembles the matrix.
fn assembled<const B: usize>(time: &Timeline, legs: &[LegTerms], w: &Weights) -> Bands<B> {
    let frames = time.unknowns();
    let mut rows = vec![[0.0; B]; UNKNOWNS_PER_FRAME * frames];
    let together = if time.cycle { frames } else { FRAMES_PER_TASK };
    parallel::for_blocks(&mut rows, UNKNOWNS_PER_FRAME * together.max(1), |block, rows| {
        let first = block * together;
        fill(rows, time, legs, w, first..first + rows.len() / UNKNOWNS_PER_FRAME);
    });
    Bands::from(rows)
}

/// Adds the terms to the rows of these frames; a folded clip is assembled at once.
fn fill<const B: usize>(
    rows: &mut [[f64; B]],
    time: &Timeline,
    legs: &[LegTerms],
    w: &Weights,
    frames: Range<usize>,
) {
    let first = UNKNOWNS_PER_FRAME * frames.start;
    // Rows of other frames are filled by other calls.
    let mut add = |i: usize, j: usize, weight: f64| {
        let (row, other) = (i.min(j), i.max(j));
        if let Some(own) = row.checked_sub(first).and_then(|row| rows.get_mut(row)) {
            own[other - row] += weight;
        }
    };
    for f in frames.clone() {
        let at = first_index(time, f);
        (0..3).for_each(|a| add(at + a, at + a, w.root));
        // The unknowns of a missing leg are zero.
        (3 * (legs.len() + 1)..UNKNOWNS_PER_FRAME).for_each(|k| add(at + k, at + k, 1.0));
    }
    let touching = |edges: usize| frames.start.saturating_sub(edges)..frames.end.min(time.is_cut.len());
    for (i, leg) in legs.iter().enumerate() {
        for f in frames.clone() {
            let (d, o) = (first_index(time, f), first_index(time, f) + 3 * (i + 1));
            let shape = (Mat3::identity() + leg.stiffness[f] * leg.stiffness[f].transpose()) * w.limb;
            for a in 0..3 {
                for b in a..3 {
                    add(d + a, d + b, shape[(a, b)]);
                    add(o + a, o + b, shape[(a, b)]);
                }
                for b in 0..3 {
                    add(d + a, o + b, -shape[(a, b)]);
                }
            }
            let ground: f64 = leg.points.iter().map(|p| w.ground(leg, p, f)).sum();
            add(o + 1, o + 1, ground);
        }
        for edge in touching(1).filter(|edge| !time.is_cut[*edge]) {
            let [a, b] = [edge, edge + 1].map(|f| first_index(time, time.unknown(f)) + 3 * (i + 1));
            let contact: f64 = leg.points.iter().map(|p| w.contact(leg, p, edge)).sum();
            for k in 0..3 {
                add(a + k, a + k, contact);
                add(b + k, b + k, contact);
                add(a + k, b + k, -contact);
            }
        }
    }
    for triple in time.triples(frames.start.saturating_sub(1)..frames.end + 1) {
        let at = triple.map(|f| first_index(time, f));
        for k in 0..3 {
            for (i, x) in BEND.iter().enumerate() {
                for (j, y) in BEND.iter().enumerate().skip(i) {
                    add(at[i] + k, at[j] + k, w.bend * x * y);
                    for o in (1..=legs.len()).map(|leg_index| 3 * leg_index + k) {
                        add(at[i] + o, at[j] + o, w.foot * x * y);
                    }
                }
            }
        }
    }
}

/// The terms of a leg with these sole points; `length` is that of the scaled source's leg.
pub(super) fn leg_terms(
    points: Vec<SolePoint>,
    source_poses: &[LimbPositions],
    direct_poses: &[LimbPose],
    goals: &[Vec3],
    length: f64,
    settings: &Settings,
) -> LegTerms {
    let offset = |(pose, goal): (&LimbPose, &Vec3)| pose.foot.translation - goal;
    let stiffness = |pose: &LimbPose| stiffness(pose.hip_knee_ankle(), settings.stiffness_cap);
    LegTerms {
        direct_offset: direct_poses.iter().zip(goals).map(offset).collect(),
        stiffness: parallel::map_each(direct_poses, 64, stiffness),
        weight: parallel::map_each(source_poses, 64, |pose| weight(pose, length, settings)),
        points,
    }
}

/// The weight with which a source leg of this length is followed, 0 to 1: less where it is stretched.
fn weight(&LimbPositions { hip, ankle, .. }: &LimbPositions, length: f64, settings: &Settings) -> f64 {
    let excess = ((ankle - hip).norm() / length - settings.stretch_onset).max(0.0);
    libm::exp(-0.5 * (excess / settings.stretch_scale).powi(2))
}

/// The trajectories of the ankles: their goals, displaced by the solution and raised out of the floor.
pub(super) fn solved_ankles(
    mut ankles: Vec<Vec<Vec3>>,
    solution: &[FrameSolution],
    raised: &[Vec<f64>],
) -> Vec<Vec<Vec3>> {
    for (k, ankles) in ankles.iter_mut().enumerate() {
        parallel::for_each(ankles, TOGETHER, |f, ankle| {
            *ankle = *ankle + solution[f][k + 1] + Vec3::y() * raised[k][f];
        });
    }
    ankles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legs::Settings;
    use proptest::prelude::*;

    /// Arbitrary terms of two legs with one and two points.
    fn terms(frames: usize, numbers: &[f64]) -> Vec<LegTerms> {
        let number = |k: usize| numbers[k % numbers.len()];
        let vector = |k: usize| Vec3::new(number(k), number(3 * k + 1), number(7 * k + 2));
        let point = |p: usize| SolePoint {
            misfit: (0..frames).map(|f| vector(f + p) * 0.02).collect(),
            speed: (0..frames - 1).map(|f| number(5 * f + p).abs()).collect(),
            nearness: (0..frames).map(|f| number(f + 11 * p).abs()).collect(),
        };
        let leg = |i: usize| LegTerms {
            direct_offset: (0..frames).map(|f| vector(f + 3 * i) * 0.1).collect(),
            stiffness: (0..frames).map(|f| vector(f + 5 * i) * 4.0).collect(),
            weight: (0..frames).map(|f| number(f + i).abs()).collect(),
            points: (0..=i).map(point).collect(),
        };
        vec![leg(0), leg(1)]
    }

    proptest! {
        /// The stored factor gives the same bits as the whole matrix; assembly by blocks differs by rounding only, also with
        /// a cut.
        #[test]
        fn parts_of_the_matrix_are_the_matrix(
            frames in prop_oneof![9..40usize, 120..300usize], cut in 0..300usize, legs in 1..3usize,
            numbers in proptest::collection::vec(-1.0..1.0f64, 50),
        ) {
            let mut time = Timeline { frames, cycle: false, is_cut: vec![false; frames - 1], dt: 0.01 };
            if let Some(cut) = time.is_cut.get_mut(cut) {
                *cut = true;
            }
            let terms = &terms(frames, &numbers)[..legs];
            let settings = Settings::default();
            let mut equations = Equations::new(&time, terms, 0.8, &settings);
            let kept = equations.solve(None);
            equations.matrix = SystemMatrix::Reassembled;
            let whole = assembled::<OPEN_BANDS>(&time, terms, &equations.weights).factored();
            let right_hand_side = (0..frames).flat_map(|f| equations.right_hand_side(f, None, &equations.second_differences(None)));
            let mut expected: Vec<[f64; 1]> = right_hand_side.map(|x| [x]).collect();
            whole.solve(&mut expected);
            let found = equations.solve(None);
            for (found, (kept, expected)) in found.iter().zip(kept.iter().zip(expected.chunks(UNKNOWNS_PER_FRAME))) {
                for (k, found) in found.iter().flat_map(|v| v.iter()).enumerate() {
                    prop_assert_eq!(kept[k / 3][k % 3].to_bits(), expected[k][0].to_bits());
                    prop_assert!((found - expected[k][0]).abs() < 1e-9, "{found} {}", expected[k][0]);
                }
            }
        }
    }

    /// A foot 2 cm below the ground, whose nearness weight rises within two frames, is raised over several.
    #[test]
    fn what_the_ground_asks_for_at_once_comes_without_a_jerk() {
        let (frames, dt) = (240, 1.0 / 120.0);
        let time = Timeline { frames, cycle: false, is_cut: vec![false; frames - 1], dt };
        let near = |f: usize| [0.0, 0.2, 0.9, 1.0][f.saturating_sub(118).min(3)];
        let point = SolePoint {
            misfit: vec![Vec3::y() * -0.02; frames],
            speed: vec![1.0; frames - 1],
            nearness: (0..frames).map(near).collect(),
        };
        let leg = LegTerms {
            direct_offset: vec![Vec3::zeros(); frames],
            stiffness: vec![Vec3::zeros(); frames],
            weight: vec![1.0; frames],
            points: vec![point],
        };
        let solution = Equations::new(&time, &[leg], 0.9, &Settings::default()).solve(None);
        let height = |f: usize| solution[f][1].y;
        assert!((height(200) - 0.02).abs() < 1e-3, "it stands: {}", height(200));
        let third = |f: usize| (height(f + 3) - 3.0 * height(f + 2) + 3.0 * height(f + 1) - height(f)).abs();
        let jerk = (0..frames - 3).map(third).fold(0.0, f64::max);
        // 0.03 mm; 0.4 mm without the term of the feet.
        assert!(jerk < 1e-4, "{jerk}");
    }
}
