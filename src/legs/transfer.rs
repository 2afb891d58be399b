//! Corrects the legs of a rotation copy so that its feet follow the source's feet.
//!
//! The source is scaled by one factor, the ratio of leg lengths. The trajectories of its ankles and soles are goals for the
//! target, the bends of its knees as well, and [`Equations`] balance the two. Contact labels are not used. Space: model
//! space, Y up. Units: metres, seconds, radians.

use super::closure::{FOLDED, close_all, knee_side};
use super::envelope::envelope;
use super::equations::{Answer, Equations, LegTerms, stiff};
use super::foot_tilt::foot_tilt;
use super::hip_tilt::hip_tilt;
use super::leg::{Jointed, Leg, Places, Step, steps};
use super::raise::raise;
use super::settings::Settings;
use super::soles::Feet;
use super::timeline::{TOGETHER, Timeline};
use super::toes::{self, Sole};
use super::write::{Placed, placed};
use crate::body::{CharacterBody, SupportPoints};
use crate::kinematics::map_frames_towards;
use crate::math::{Quat, Vec3, median, percentile};
use crate::model::{JointId, ModelPose, Motion, Side};
use rayon::prelude::*;
use std::sync::Arc;

/// Most rounds of raising feet out of the floor; each leaves a tenth to a half of the penetration.
const RAISES: usize = 6;
/// Most rounds of raising hands: a straight elbow allows little per round, and clips with hands in the floor are few.
const HAND_RAISES: usize = 8;
/// Smallest penetration that is corrected, leg lengths.
const RAISED: f64 = 1e-4;
/// Share of the frames with flat feet in which the feet are not in the floor. With a half every noise of the take's feet
/// raises them, contact heights are off by 3.2 (8.8) mm instead of 1.3 (4.5), and bodies stand 3 to 10 mm lower; with three
/// quarters by 2.1 (6.1); 95 of 100 gain nothing.
const UPPER: f64 = 0.9;

/// One leg on both bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct LegPair {
    /// On the source.
    pub source: Leg,
    /// On the target.
    pub target: Leg,
    /// Support points of the target's foot, in the spaces of its joints; empty for a body without a skin, whose soles are
    /// estimated.
    pub skin: Vec<(JointId, Vec3)>,
}

impl LegPair {
    /// The legs that both bodies have.
    pub fn of(source: &CharacterBody, target: &CharacterBody) -> Vec<LegPair> {
        let pair = |side: Side| {
            let skin = || target.foot_support(side).to_vec();
            Some(LegPair {
                source: Leg::of(source, side)?,
                target: Leg::of(target, side)?,
                skin: if !target.character().meshes.is_empty() { skin() } else { Vec::new() },
            })
        };
        Side::BOTH.into_iter().filter_map(pair).collect()
    }
}

/// The ratio of leg lengths, target to source: the factor by which a take is scaled.
pub fn leg_ratio(pairs: &[LegPair]) -> Option<f64> {
    let sum = |of: &dyn Fn(&LegPair) -> &Leg| pairs.iter().map(|p| of(p).length()).sum::<f64>();
    (!pairs.is_empty()).then(|| sum(&|p| &p.target) / sum(&|p| &p.source))
}

/// The trajectories of a target's legs and body over a clip.
#[derive(Clone, Debug)]
pub struct Course {
    settings: Settings,
    /// The direction of the knee of each leg: see [`knee_side`].
    sides: Vec<Vec3>,
    /// The displacement of the whole copy and the delta rotation of the pelvis before the solve.
    base: Vec<Vec3>,
    tilts: Vec<Quat>,
    /// The delta rotations of each foot that is longer than the source's; empty for other feet.
    feet: Vec<Vec<Quat>>,
    /// The delta rotations of the toes of each foot; empty for toes that do not change.
    toes: Vec<Vec<Quat>>,
    /// The further displacement of the hips, and the position of the ankle of each leg.
    further: Vec<Vec3>,
    ankles: Vec<Vec<Vec3>>,
}

impl Course {
    /// Applies the trajectories to a part of the rotation copy that starts at frame `first`; `pairs` must be those of the
    /// solve. Quaternion signs may flip between frames.
    pub fn write(&self, part: Motion, first: usize, pairs: &[LegPair]) -> Motion {
        let frames = first..first + part.clip.frames();
        let (base, tilts) = (&self.base[frames.clone()], &self.tilts[frames.clone()]);
        let further = &self.further[frames.clone()];
        let legs: Vec<&Leg> = pairs.iter().map(|p| &p.target).collect();
        let mut steps = steps(&part, &legs);
        tilt(&mut steps, tilts);
        for (steps, turns) in steps.iter_mut().zip(&self.feet).filter(|(_, turns)| !turns.is_empty()) {
            turn(steps, &turns[frames.clone()]);
        }
        for (steps, turns) in steps.iter_mut().zip(&self.toes).filter(|(_, turns)| !turns.is_empty()) {
            each(steps, &turns[frames.clone()], |step, turn| *step = step.toes_turned(turn));
        }
        steps.iter_mut().for_each(|steps| moved(steps, base));
        let ends = |k: usize, f: usize, step: &Step| {
            Some([step.upper.translation + further[f], self.ankles[k][first + f]])
        };
        close_all(&legs, &mut steps, &self.sides, FOLDED, &self.settings, ends);
        let body: Vec<(Vec3, Quat)> =
            base.iter().zip(further).zip(tilts).map(|((base, more), tilt)| (base + more, *tilt)).collect();
        placed(part, &Placed { legs: &legs, steps: &steps, body: &body, still: |_| false })
    }
}

/// Changes the transforms of every frame by that frame's element of `by`.
fn each<T: Sync>(steps: &mut [Step], by: &[T], change: impl Fn(&mut Step, &T) + Sync) {
    steps.par_iter_mut().zip(by).with_min_len(TOGETHER).for_each(|(step, by)| change(step, by));
}

/// Rotates the foot of a leg.
fn turn(steps: &mut [Step], turns: &[Quat]) {
    each(steps, turns, |step, turn| *step = step.foot_turned(turn));
}

/// Translates a leg.
fn moved(steps: &mut [Step], ways: &[Vec3]) {
    each(steps, ways, |step, way| *step = step.moved(way));
}

/// The mean length of the target's legs.
fn mean_length(pairs: &[LegPair]) -> f64 {
    pairs.iter().map(|p| p.target.length()).sum::<f64>() / pairs.len() as f64
}

/// Solves for the trajectories of legs and body: the legs of the rotation copy follow the source's, the body stands on height
/// 0, feet and seat are out of the floor. `scaled` and `copied` are the legs of source and copy, by leg and frame; `seat` is
/// the lowest height of the copy's trunk and thighs; `across` is the scale of the path over the ground, by default
/// [`leg_ratio`]. `None` without legs.
pub fn course(
    time: &Timeline,
    mut scaled: Vec<Vec<Places>>,
    mut copied: Vec<Vec<Step>>,
    seat: &[f64],
    pairs: &[LegPair],
    across: f64,
    settings: &Settings,
) -> Option<Course> {
    let ratio = leg_ratio(pairs).filter(|_| time.frames > 0)?;
    let (from, to): (Vec<&Leg>, Vec<&Leg>) = pairs.iter().map(|p| (&p.source, &p.target)).unzip();
    let leg = mean_length(pairs);
    scaled.par_iter_mut().flatten().for_each(|step| *step = step.scaled(ratio));
    let tilts = tilts(&scaled, &copied);
    tilt(&mut copied, &tilts);

    // The position of the pelvis before the solve: the scaled path over the ground, at the height given by the soles.
    let feet = Feet::of(time, &scaled, &from, leg, settings);
    let turns: Vec<Vec<Quat>> = (0..to.len())
        .map(|k| {
            let share = ratio * from[k].sole / to[k].sole.max(1e-9);
            let up = feet.up(k, &copied[k]).filter(|_| from[k].sole > 0.0 && share < 1.0);
            let steps = copied[k].par_iter().with_min_len(64);
            let of = |up: Vec3| steps.map(|s| foot_tilt(&(s.turned() * up), share)).collect();
            up.map_or_else(Vec::new, of)
        })
        .collect();
    copied.iter_mut().zip(&turns).for_each(|(steps, turns)| turn(steps, turns));
    let mut soles: Vec<Vec<Sole>> = pairs.iter().zip(&copied).map(|(p, steps)| Sole::of(p, steps)).collect();
    let level: Vec<Option<Vec3>> = copied
        .iter()
        .enumerate()
        .map(|(k, steps)| feet.level(k, steps.iter().map(|step| step.toes.rotation)))
        .collect();
    let rise = rise(pairs, &feet, &scaled, &copied, &soles, &level);
    let further = Vec3::new(across / ratio - 1.0, 0.0, across / ratio - 1.0);
    fn middle(steps: &[Vec<impl Jointed>], f: usize) -> Vec3 {
        steps.iter().map(|s| s[f].joints().hip).sum::<Vec3>() / steps.len() as f64
    }
    let frames = (0..time.frames).into_par_iter().with_min_len(TOGETHER);
    let aside: Vec<Vec3> = frames.clone().map(|f| middle(&scaled, f).component_mul(&further)).collect();
    let base: Vec<Vec3> =
        frames.map(|f| middle(&scaled, f) + aside[f] + Vec3::y() * rise - middle(&copied, f)).collect();
    copied.iter_mut().for_each(|steps| moved(steps, &base));

    let mut goals: Vec<Vec<Vec3>> = Vec::new();
    let mut sides: Vec<Vec3> = Vec::new();
    let terms: Vec<LegTerms> = (0..pairs.len())
        .map(|k| {
            // The legs of a long take are large: each is freed when its terms are known.
            let (scaled, copied) = (std::mem::take(&mut scaled[k]), std::mem::take(&mut copied[k]));
            let ends = ((&scaled[..], from[k]), (&copied[..], to[k]));
            let mut points = feet.points(k, time, ends.0, ends.1, (ratio, leg), settings);
            for point in &mut points {
                point.misfit.iter_mut().zip(&aside).for_each(|(q, aside)| *q += aside);
            }
            let goal = |(s, aside): (&Places, &Vec3)| s.ankle + aside + Vec3::y() * rise;
            let own: Vec<Vec3> = scaled.par_iter().zip(&aside).with_min_len(TOGETHER).map(goal).collect();
            let missed = |(s, goal): (&Step, &Vec3)| s.foot.translation - goal;
            let shape = copied.par_iter().zip(&own).with_min_len(TOGETHER).map(missed).collect();
            goals.push(own);
            sides.push(knee_side(&copied));
            LegTerms {
                shape,
                stiff: copied
                    .par_iter()
                    .with_min_len(64)
                    .map(|s| stiff(s.places(), settings.stiffest))
                    .collect(),
                follow: scaled
                    .par_iter()
                    .with_min_len(64)
                    .map(|s| follow(s, from[k].length() * ratio, settings))
                    .collect(),
                points,
            }
        })
        .collect();
    let seat: Vec<f64> = seat.iter().zip(&base).map(|(low, base)| low + base.y).collect();
    // The matrix of a long take is large: what is no longer needed is freed before it, and its terms together with it.
    drop((feet, aside));
    let equations = Equations::new(time, &terms, leg, settings);
    let answer = equations.solve(None);
    let mut toes = vec![Vec::new(); pairs.len()];
    for (k, level) in level.iter().enumerate() {
        let Some(level) = level.filter(|_| !soles[k].is_empty() && pairs[k].target.toes.is_some()) else {
            continue;
        };
        let ankle = |f: usize| goals[k][f].y + answer[f][k + 1].y;
        toes[k] = toes::turns(time, &pairs[k], &mut soles[k], &level, ankle, leg, settings);
    }
    let lowest: Vec<Vec<f64>> = soles.iter().map(|s| s.iter().map(Sole::lowest).collect()).collect();
    drop(soles);
    let (answer, raised) = out_of_floor((&equations, answer), time, &goals, &lowest, &seat, leg, settings);
    drop(equations);
    drop((terms, lowest));

    let mut ankles = goals;
    for (k, ankles) in ankles.iter_mut().enumerate() {
        ankles.par_iter_mut().with_min_len(TOGETHER).enumerate().for_each(|(f, ankle)| {
            *ankle = *ankle + answer[f][k + 1] + Vec3::y() * raised[k][f];
        });
    }
    let further = answer.iter().map(|answer| answer[0]).collect();
    Some(Course { settings: *settings, sides, base, tilts, feet: turns, toes, further, ankles })
}

/// The motion with hands raised out of the floor by IK of the arms.
pub fn hands_out_of_floor(
    mut motion: Motion,
    skin: &SupportPoints,
    time: &Timeline,
    pairs: &[LegPair],
    settings: &Settings,
) -> Motion {
    if skin.hands.iter().all(Vec::is_empty) {
        return motion;
    }
    let leg = mean_length(pairs);
    let character = Arc::clone(&motion.character);
    let body = CharacterBody::new(&character);
    let arms = Side::BOTH.map(|side| Leg::arm(&body, side));
    let reach = time.reach(settings.seat);
    for _ in 0..HAND_RAISES {
        let joints = skin.hands.iter().flatten().map(|(joint, _)| *joint);
        let of = |model: &ModelPose| skin.lowest_of_hands(model);
        let low = map_frames_towards(character.skeleton(), &motion.clip, joints, of);
        let rise = |k: usize| {
            let sunk = |f: usize| (-low[f][k] - settings.depth * leg).max(0.0);
            let needed: Vec<f64> = (0..time.unknowns()).map(sunk).collect();
            let rise = envelope(&needed, &time.cut, time.cycle, reach);
            (0..time.frames).map(|f| rise[time.unknown(f)]).collect::<Vec<f64>>()
        };
        let rises: Vec<(&Leg, Vec<f64>)> =
            arms.iter().enumerate().filter_map(|(k, arm)| Some((arm.as_ref()?, rise(k)))).collect();
        if rises.iter().flat_map(|(_, rise)| rise).all(|rise| *rise < RAISED * leg) {
            break;
        }
        motion = raise(motion, &rises, settings);
    }
    motion
}

/// The delta rotations of the pelvis that make hip joints rise and fall as the source's do: see [`hip_tilt`].
fn tilts(scaled: &[Vec<Places>], copied: &[Vec<Step>]) -> Vec<Quat> {
    let [left, right] = copied else { return vec![Quat::identity(); copied[0].len()] };
    let widths = [
        median(scaled[0].iter().zip(&scaled[1]).map(|(a, b)| across(a, b).norm()).collect()),
        median(left.iter().zip(right).map(|(a, b)| across(a, b).norm()).collect()),
    ];
    let share = widths[0] / widths[1].max(1e-9);
    left.par_iter().zip(right).with_min_len(64).map(|(l, r)| hip_tilt(&across(l, r), share)).collect()
}

/// The vector from the right hip joint to the left one.
fn across(left: &impl Jointed, right: &impl Jointed) -> Vec3 {
    left.joints().hip - right.joints().hip
}

/// Moves the legs of the copy with the rotation of the pelvis about the middle of the hip joints.
fn tilt(copied: &mut [Vec<Step>], tilts: &[Quat]) {
    let [left, right] = copied else { return };
    left.par_iter_mut().zip(right).zip(tilts).with_min_len(TOGETHER).for_each(|((left, right), turn)| {
        let way = across(left, right);
        let half = (turn * way - way) * 0.5;
        (*left, *right) = (left.moved(&half), right.moved(&-half));
    });
}

/// The height by which the scaled source is raised so that the target's soles are on the floor while the source's are flat;
/// if they never are, the height of the rotation copy. Toes count as level, because toes bend before the body is raised.
fn rise(
    pairs: &[LegPair],
    feet: &Feet,
    scaled: &[Vec<Places>],
    copied: &[Vec<Step>],
    soles: &[Vec<Sole>],
    level: &[Option<Vec3>],
) -> f64 {
    let mut ways = Vec::new();
    for (k, pair) in pairs.iter().enumerate() {
        let skin = toes::skin_of_toes(pair);
        let level = level[k].filter(|_| !skin.is_empty());
        let lowest = |sole: &Sole| level.map_or(sole.lowest(), |up| sole.lowest_with_level_toes(&skin, &up));
        let above = |f: usize| soles[k].get(f).map_or(pair.target.ankle, |sole| -lowest(sole));
        let flat = (0..scaled[k].len()).into_par_iter().with_min_len(64).filter(|f| feet.flat[k][*f]);
        ways.par_extend(flat.map(|f| above(f) - scaled[k][f].ankle.y));
    }
    if !ways.is_empty() {
        return percentile(&ways, UPPER);
    }
    fn low(steps: &[Vec<impl Jointed>], f: usize) -> f64 {
        steps.iter().map(|s| s[f].joints().ankle.y).fold(f64::INFINITY, f64::min)
    }
    median((0..scaled[0].len()).map(|f| low(copied, f) - low(scaled, f)).collect())
}

/// The weight with which a source leg of this length is followed, 0 to 1: less where it is stretched.
fn follow(&Places { hip, ankle, .. }: &Places, length: f64, settings: &Settings) -> f64 {
    let excess = ((ankle - hip).norm() / length - settings.stretched).max(0.0);
    libm::exp(-0.5 * (excess / settings.stretch).powi(2))
}

/// The solution with feet and seat raised out of the floor, and the height by which each foot was raised. Each raise is a
/// smooth upper envelope of the penetration, added to the goals or to the path of the pelvis: the matrix does not change, and
/// nothing switches between frames. The penetration left after the last round is corrected directly.
fn out_of_floor(
    (equations, mut answer): (&Equations<'_>, Vec<Answer>),
    time: &Timeline,
    goals: &[Vec<Vec3>],
    lowest: &[Vec<f64>],
    seat: &[f64],
    leg: f64,
    settings: &Settings,
) -> (Vec<Answer>, Vec<Vec<f64>>) {
    let mut raised = vec![vec![0.0; time.frames]; goals.len()];
    let mut lifted = vec![0.0; time.frames];
    // Adds a smooth upper envelope of the remaining penetration to a curve; returns the largest penetration.
    let cover = |needed: Vec<f64>, seconds: f64, channel: &mut [f64]| {
        let most = needed.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            let more = envelope(&needed, &time.cut, time.cycle, time.reach(seconds));
            channel.iter_mut().enumerate().for_each(|(f, own)| *own += more[time.unknown(f)]);
        }
        most
    };
    let sitting = |lifted: &[f64], answer: &[Answer]| -> Vec<f64> {
        let sunk = |f: usize| (-seat[f] - lifted[f] - answer[f][0].y - settings.depth * leg).max(0.0);
        let frames = 0..if seat.is_empty() { 0 } else { time.unknowns() };
        frames.into_par_iter().with_min_len(TOGETHER).map(sunk).collect()
    };
    let standing = |k: usize, raised: &[f64], answer: &[Answer]| -> Vec<f64> {
        let sunk = |f: usize| {
            let sole = goals[k][f].y + answer[f][k + 1].y + raised[f] + lowest[k][f];
            (-sole - settings.depth * leg).max(0.0)
        };
        let frames = 0..if lowest[k].is_empty() { 0 } else { time.unknowns() };
        frames.into_par_iter().with_min_len(TOGETHER).map(sunk).collect()
    };
    for round in 0.. {
        let mut most = 0.0;
        for (k, raised) in raised.iter_mut().enumerate() {
            most = f64::max(most, cover(standing(k, raised, &answer), settings.ramp, raised));
        }
        most = most.max(cover(sitting(&lifted, &answer), settings.seat, &mut lifted));
        if round == RAISES || most < RAISED * leg {
            break;
        }
        // Relative to the copy the goals are raised, less the height by which the body is raised.
        let less = |raised: &Vec<f64>| raised.iter().zip(&lifted).map(|(a, b)| a - b).collect();
        answer = equations.solve(Some(&raised.iter().map(less).collect::<Vec<Vec<f64>>>()));
    }
    answer.iter_mut().zip(&lifted).for_each(|(answer, lift)| answer[0].y += lift);
    (answer, raised)
}
