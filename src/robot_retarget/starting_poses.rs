//! A first guess of every frame: base from the pelvis, then the waist, then each limb alone from several starts, and the path
//! through the starts that changes least (Viterbi 1967). Without it, elbows and knees flip, and kneeling is not found.

use super::robot_goals::Goals;
use super::robot_settings::{RATE, SolveSettings};
use super::robot_state::{Placed, RobotState, Unknowns};
use super::small_system::SmallSystem;
use super::trunk_start::{SETTLED, rotation_of, trunk};
use crate::math::{Quat, Vec3, log};
use crate::parallel;
use crate::robot_body::RobotLimb;
use std::ops::Range;

/// Most steps for a limb.
const LIMB_STEPS: usize = 14;
/// Largest change of a hinge in a step, radians: directions are linear in it that far.
const LARGEST_STEP: f64 = 0.6;
/// Damping of a limb's steps, whose residuals are of the order 1.
const DAMPING: f64 = 4e-3;
/// Pull to the neutral pose, which decides what nothing else does.
const PULL: f64 = 1e-3;
/// Starts, besides the neutral pose: the first hinge at these shares of its range ...
const FIRST: [f64; 3] = [0.15, 0.5, 0.85];
/// ... times the one before the middle at these shares of its own.
const BEFORE_MIDDLE: [f64; 3] = [0.2, 0.5, 0.8];
/// Cost of a path per square radian from neutral: it only decides between equals.
const NEUTRAL: f64 = 0.05;
/// Every so many frames a limb is solved from all starts; between two of them their solutions are followed forwards, and backwards
/// those that no solution led to. Followed from one side only, a dance jumps 7 instead of 4 times.
const TRACKED: usize = 16;
/// Solutions nearer to each other than this in every hinge are one, radians: both are within `SETTLED` of the same.
const SAME: f64 = 1e-2;
/// A frame whose best solution is farther off than this is solved from all starts: 20 degrees of one direction, squared.
const LOST: f64 = 0.12;
/// Width of a change within 1/30 s, radians: with less, fast limbs are held back.
const CHANGE: f64 = 0.3;

/// The first guess of all frames.
pub(super) fn first_guess(unknowns: &Unknowns, goals: &Goals, settings: &SolveSettings) -> Vec<RobotState> {
    let base = |axes: &mut Vec<Vec3>, frame: usize| trunk(unknowns, goals, frame, axes);
    let mut states: Vec<RobotState> = parallel::map_with(goals.frames, 1, Vec::new, base);
    let limbs = &unknowns.body.limbs;
    let all = limbs.legs.iter().map(Some).chain(limbs.arms.iter().map(Option::as_ref));
    for (k, limb) in all.enumerate() {
        let Some(limb) = limb.filter(|_| goals.limbs[k].is_some()) else { continue };
        limb_path(unknowns, goals, settings, k, limb, &mut states);
    }
    let body = &unknowns.body;
    parallel::for_each(&mut states, 1, |frame, state| {
        let mut placed = Placed::default();
        unknowns.couple(&mut state.values);
        unknowns.place(state, &mut placed);
        let hips = placed.links[body.limbs.pelvis()].point(&body.hips_in_pelvis);
        state.base.translation += goals.hips[frame] - hips;
    });
    states
}

/// What a limb is solved for in one frame.
struct LimbGoal {
    /// Rotation of the link on which it hangs.
    base: Quat,
    directions: [Vec3; 2],
    /// Rotation of its last link, if that is a goal.
    end: Option<Quat>,
    /// Weight of the end's rotation against directions.
    end_weight: f64,
}

/// A limb of hinges that are solved alone.
struct LimbSolve<'a> {
    unknowns: &'a Unknowns,
    limb: &'a RobotLimb,
    /// The hinges that are solved.
    hinges: Vec<usize>,
    /// The links from the base to the last.
    links: Vec<usize>,
}

/// A solution of a limb in one frame, and its cost.
#[derive(Clone, Debug)]
struct LimbSolution {
    values: Vec<f64>,
    cost: f64,
    /// The squared distances of both directions from their goals.
    off: f64,
}

/// Scratch space of a limb.
#[derive(Debug, Default)]
struct LimbScratch {
    axes: Vec<Vec3>,
    columns: Vec<Vec3>,
    system: SmallSystem,
}

/// Solves one limb in all frames.
fn limb_path(
    unknowns: &Unknowns,
    goals: &Goals,
    settings: &SolveSettings,
    k: usize,
    limb: &RobotLimb,
    states: &mut [RobotState],
) {
    let (is_leg, side) = (k < 2, k % 2);
    let sole = || Some(&goals.feet[side].sole).filter(|_| !limb.ends_in_middle());
    let ends = if is_leg { sole() } else { goals.hands[side].as_ref() };
    let last = if ends.is_some() { limb.end } else { limb.lower };
    let robot = &unknowns.body.robot;
    let mut links: Vec<usize> = std::iter::successors(Some(last), |&link| robot.links[link].parent)
        .take_while(|&l| l != limb.base)
        .collect();
    links.reverse();
    let hinges = limb.hinges.iter().copied().filter(|&h| ends.is_some() || h <= limb.middle);
    let solve = LimbSolve { unknowns, limb, hinges: hinges.collect(), links };
    let (sigma, end_sigma) =
        if is_leg { (settings.leg, settings.sole) } else { (settings.arm, settings.hand) };
    let starts = solve.starts();
    let directions = goals.limbs[k].as_ref().expect("a limb with goals");
    let zero_end = unknowns.body.zero.links[limb.end].rotation;
    let goal = |scratch: &mut LimbScratch, frame: usize| LimbGoal {
        base: rotation_of(unknowns, limb.base, &states[frame], &mut scratch.axes),
        directions: [directions[0][frame], directions[1][frame]],
        end: ends.map(|ends| ends[frame] * zero_end),
        end_weight: sigma / end_sigma,
    };
    let spans = spans(&goals.cut);
    let first_of = |scratch: &mut LimbScratch, k: usize| {
        solve.candidates(&goal(scratch, spans[k].start), &starts, sigma, scratch)
    };
    let firsts: Vec<Vec<LimbSolution>> = parallel::map_with(spans.len(), 1, LimbScratch::default, first_of);
    // Between two frames that are solved from all starts, those of both are followed.
    let between = |scratch: &mut LimbScratch, k: usize| {
        let span = spans[k].clone();
        let mut found = vec![firsts[k].clone()];
        for frame in span.start + 1..span.end {
            let goal = goal(scratch, frame);
            let before = found[found.len() - 1].iter().map(|candidate| &candidate.values);
            let mut candidates = solve.candidates(&goal, before, sigma, scratch);
            if candidates.iter().all(|candidate| candidate.off > LOST) {
                candidates.extend(solve.candidates(&goal, &starts, sigma, scratch));
            }
            found.push(candidates);
        }
        let Some(mut after) = firsts.get(k + 1).filter(|_| !goals.cut[span.end]).cloned() else {
            return found;
        };
        // Those that the solutions found so far lead to are not followed back.
        let last = found[found.len() - 1].iter().map(|candidate| &candidate.values);
        let reached = solve.candidates(&goal(scratch, span.end), last, sigma, scratch);
        after.retain(|new| !reached.iter().any(|other| is_same(other, new)));
        for frame in (span.start + 1..span.end).rev() {
            let from = after.iter().map(|candidate| &candidate.values);
            after = solve.candidates(&goal(scratch, frame), from, sigma, scratch);
            after.iter().for_each(|candidate| keep(&mut found[frame - span.start], candidate.clone()));
        }
        found
    };
    let found: Vec<Vec<Vec<LimbSolution>>> =
        parallel::map_with(spans.len(), 1, LimbScratch::default, between);
    let candidates: Vec<Vec<LimbSolution>> = found.into_iter().flatten().collect();
    let chosen = cheapest_path(&candidates, &goals.cut, goals.rate / RATE);
    for ((state, candidates), chosen) in states.iter_mut().zip(candidates).zip(chosen) {
        for (&hinge, value) in solve.hinges.iter().zip(&candidates[chosen].values) {
            state.values[hinge] = *value;
        }
    }
}

impl LimbSolve<'_> {
    fn limits(&self, hinge: usize) -> (f64, f64) {
        (self.unknowns.low[hinge], self.unknowns.high[hinge])
    }

    /// The starts of every frame.
    fn starts(&self) -> Vec<Vec<f64>> {
        let neutral: Vec<f64> = self.hinges.iter().map(|&h| self.unknowns.neutral[h]).collect();
        let at = |hinge: usize, share: f64| {
            let (low, high) = self.limits(hinge);
            low + (high - low) * share
        };
        let middle = self.hinges.iter().position(|&h| h == self.limb.middle).unwrap_or(0);
        let mut starts = vec![neutral.clone()];
        for first in FIRST {
            for before in BEFORE_MIDDLE {
                let mut start: Vec<f64> = self.hinges.iter().map(|&h| at(h, 0.5)).collect();
                start[middle + 1..].copy_from_slice(&neutral[middle + 1..]);
                start[0] = at(self.hinges[0], first);
                if middle > 0 {
                    start[middle - 1] = at(self.hinges[middle - 1], before);
                }
                // The second hinge of a raised or lowered limb is neutral.
                if first != FIRST[1] && middle != 2 && start.len() > 1 {
                    start[1] = neutral[1];
                }
                starts.push(start);
            }
        }
        starts
    }

    /// Axes, both directions and the rotation of the last link.
    fn place(&self, goal: &LimbGoal, values: &[f64], axes: &mut Vec<Vec3>) -> ([Vec3; 2], Quat) {
        let robot = &self.unknowns.body.robot;
        let mut rotation = goal.base;
        let mut directions = [Vec3::zeros(); 2];
        axes.clear();
        for &link in &self.links {
            rotation *= robot.links[link].parent_from_link.rotation;
            while let Some(hinge) =
                self.hinges.get(axes.len()).map(|&h| &robot.hinges[h]).filter(|h| h.link == link)
            {
                let value = values[axes.len()];
                axes.push(if hinge.slides { Vec3::zeros() } else { rotation * hinge.axis });
                if !hinge.slides {
                    rotation *= hinge.rotation(value);
                }
            }
            if link == self.limb.upper {
                directions[0] = rotation * self.limb.upper_direction;
            }
            if link == self.limb.lower {
                directions[1] = rotation * self.limb.lower_direction;
            }
        }
        (directions, rotation)
    }

    /// Solutions of a frame from some starts, without those that are the same.
    fn candidates<'a>(
        &self,
        goal: &LimbGoal,
        starts: impl IntoIterator<Item = &'a Vec<f64>>,
        sigma: f64,
        scratch: &mut LimbScratch,
    ) -> Vec<LimbSolution> {
        let mut found = Vec::new();
        for start in starts {
            keep(&mut found, self.solved(goal, start, sigma, scratch));
        }
        found
    }

    /// The hinges after some steps from a start.
    fn solved(&self, goal: &LimbGoal, start: &[f64], sigma: f64, scratch: &mut LimbScratch) -> LimbSolution {
        let mut values = start.to_vec();
        let LimbScratch { axes, columns, system, .. } = scratch;
        let neutral = |k: usize| self.unknowns.neutral[self.hinges[k]];
        let upper = self.hinges.iter().filter(|&&h| h < self.limb.middle).count();
        let bending = self.hinges.iter().filter(|&&h| h <= self.limb.middle).count();
        let error_of_end =
            |rotation: &Quat| goal.end.map(|end| log(&(rotation * end.inverse())) * goal.end_weight);
        for _ in 0..LIMB_STEPS {
            let (directions, rotation) = self.place(goal, &values, axes);
            system.clear(values.len(), DAMPING);
            for (segment, reach) in [(0, upper), (1, bending)] {
                let u = directions[segment];
                columns.clear();
                columns.extend(axes[..reach].iter().map(|axis| axis.cross(&u)));
                system.add(columns, &(u - goal.directions[segment]));
            }
            if let Some(error) = error_of_end(&rotation) {
                columns.clear();
                columns.extend(axes.iter().map(|axis| axis * goal.end_weight));
                system.add(columns, &error);
            }
            for (k, value) in values.iter().enumerate() {
                system.pull(k, value - neutral(k), PULL);
            }
            let at_limit = |k: usize, gradient: f64| {
                let (low, high) = self.limits(self.hinges[k]);
                values[k] <= low + 1e-3 && gradient > 0.0 || values[k] >= high - 1e-3 && gradient < 0.0
            };
            let step = system.step(at_limit);
            let mut largest = 0.0f64;
            for (k, (value, step)) in values.iter_mut().zip(step).enumerate() {
                let (low, high) = self.limits(self.hinges[k]);
                let moved = (*value + step.clamp(-LARGEST_STEP, LARGEST_STEP)).clamp(low, high);
                largest = largest.max((moved - *value).abs());
                *value = moved;
            }
            if largest < SETTLED {
                break;
            }
        }
        let (directions, rotation) = self.place(goal, &values, axes);
        let off: f64 = (0..2).map(|k| (directions[k] - goal.directions[k]).norm_squared()).sum();
        let end = error_of_end(&rotation).map_or(0.0, |error| error.norm_squared());
        let far: f64 = values.iter().enumerate().map(|(k, v)| (v - neutral(k)) * (v - neutral(k))).sum();
        let cost = (off + end) / (sigma * sigma) + NEUTRAL * far;
        LimbSolution { values, cost, off }
    }
}

/// Frames that begin with one that is solved from all starts; none reaches across a cut.
fn spans(cut: &[bool]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    for (frame, cut) in cut.iter().enumerate() {
        if *cut || starts.last().is_none_or(|last| frame - last == TRACKED) {
            starts.push(frame);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([cut.len()]);
    starts.iter().zip(ends).map(|(&start, end)| start..end).collect()
}

/// Whether two solutions of a frame are one.
fn is_same(one: &LimbSolution, other: &LimbSolution) -> bool {
    one.values.iter().zip(&other.values).all(|(a, b)| (a - b).abs() < SAME)
}

/// Adds a candidate, unless it is one of those that are there.
fn keep(found: &mut Vec<LimbSolution>, new: LimbSolution) {
    match found.iter_mut().find(|other| is_same(other, &new)) {
        Some(other) if new.cost < other.cost => *other = new,
        Some(_) => {}
        None => found.push(new),
    }
}

/// The cheapest choice of a candidate for every frame. `dense` times as many frames as at the rate at which the widths were found: costs
/// of frames count as integrals over time, costs of changes as those of speeds.
fn cheapest_path(candidates: &[Vec<LimbSolution>], cut: &[bool], dense: f64) -> Vec<usize> {
    let Some(first) = candidates.first() else { return Vec::new() };
    let mut costs: Vec<f64> = first.iter().map(|c| c.cost / dense).collect();
    let mut before: Vec<Vec<usize>> = Vec::with_capacity(candidates.len());
    for (frame, pair) in candidates.windows(2).enumerate() {
        let change = |a: &[f64], b: &[f64]| {
            let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
            if cut[frame + 1] { 0.0 } else { square / (CHANGE * CHANGE) * dense }
        };
        let cheapest = |candidate: &LimbSolution| {
            let change = |other: &LimbSolution| change(&other.values, &candidate.values);
            let from = pair[0].iter().zip(&costs).map(|(other, cost)| cost + change(other));
            let (k, cost) = from.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).expect("several starts");
            (k, cost + candidate.cost / dense)
        };
        let (back, next): (Vec<usize>, Vec<f64>) = pair[1].iter().map(cheapest).unzip();
        before.push(back);
        costs = next;
    }
    let mut at = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
    let mut chosen = vec![at];
    for back in before.iter().rev() {
        at = back[at];
        chosen.push(at);
    }
    chosen.reverse();
    chosen
}
