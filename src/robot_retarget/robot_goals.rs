//! What the robot should do, frame by frame: the take's directions and frames, and its paths scaled by the ratio of legs.
//!
//! Space: the robot's world, floor at height 0. Units: metres, seconds.

use super::raised_stance::raised_stance;
use super::robot_settings::{LOWER, NEAR, RATE, SLOW};
use super::take_body::{FootPath, LimbPath, TakeBody};
use crate::kinematics::shots_between;
use crate::math::{Quat, Vec3, exp, median, slerp};
use crate::robot_body::RobotBody;
use crate::signal::hermite;
use std::ops::Range;

/// Time on either side of a frame over which a point's speed is measured, seconds: that of a frame at the rate at which the widths were
/// found. From frame to frame, what a take of 120 Hz trembles counts as speed, and feet that rest slide.
const SPEED_SPAN: f64 = 1.0 / RATE;
/// A line from hips to shoulders that is seen from the chest's left within 30 degrees (this sine) does not show how the chest leans.
const SEEN: f64 = 0.5;
/// The chest makes up for a pelvis that leans otherwise by at most 30 degrees (this sine).
const MADE_UP: f64 = 0.5;

/// A point of a sole over time.
#[derive(Clone, Debug)]
pub(super) struct SoleGoal {
    /// Where it is in the scaled take, height 0 where the foot is flat.
    pub(super) at: Vec<Vec3>,
    /// Its speed.
    pub(super) speed: Vec<f64>,
    /// How much it rests on the floor, 0 to 1.
    pub(super) rests: Vec<f64>,
    /// How much its height counts, 0 to 1.
    pub(super) near: Vec<f64>,
}

/// The goals of a leg.
#[derive(Clone, Debug)]
pub(super) struct FootGoals {
    pub(super) sole: Vec<Quat>,
    pub(super) ankle: Vec<Vec3>,
    /// Heel and ball.
    pub(super) points: [SoleGoal; 2],
}

/// The goals of all frames.
#[derive(Clone, Debug)]
pub(super) struct Goals {
    pub(super) frames: usize,
    pub(super) rate: f64,
    /// The take's lengths times this are the robot's.
    pub(super) scale: f64,
    /// For each frame, whether the take is cut before it.
    pub(super) cut: Vec<bool>,
    /// The middle of the hip joints.
    pub(super) hips: Vec<Vec3>,
    /// Rotations of links away from the zero pose.
    pub(super) pelvis: Vec<Quat>,
    pub(super) torso: Vec<Quat>,
    pub(super) hands: [Option<Vec<Quat>>; 2],
    /// Directions of the two segments of each limb: left leg, right leg, left arm, right arm.
    pub(super) limbs: [Option<[Vec<Vec3>; 2]>; 4],
    pub(super) feet: [FootGoals; 2],
}

impl Goals {
    /// The goals of a take for a robot. `cuts` are the frames that follow a cut.
    pub(super) fn of(take: &TakeBody, body: &RobotBody, rate: f64, cuts: &[usize]) -> Self {
        let scale = body.leg_length / take.leg_length.max(f64::MIN_POSITIVE);
        let seen = take.feet.each_ref().map(FootPath::level);
        let level = |k: usize| seen[k].or(seen[1 - k]).unwrap_or_else(|| take.assumed_level());
        let ground = (level(0) + level(1)) / 2.0;
        let ankle_height = body.soles.iter().map(|sole| sole.height).sum::<f64>() / 2.0;
        let mut cut = vec![false; take.frames];
        cuts.iter().for_each(|&frame| cut[frame] = true);
        let soles = [0, 1].map(|k| sole_paths(&take.feet[k], level(k), [scale, body.soles[k].back / scale]));
        let shots = shots(&cut);
        let stands = raised_stance(&soles, &shots, body.leg_length, rate);
        let moved =
            |(f, p): (usize, Vec3)| (p - Vec3::z() * ground) * scale + Vec3::z() * (ankle_height - stands[f]);
        let [left, right] = &take.legs;
        let middles = left.root.at.iter().zip(&right.root.at).map(|(a, b)| (a + b) / 2.0);
        let hips = middles.enumerate().map(moved).collect();
        let hands = [0, 1].map(|k| {
            let zero = body.hand_at_zero(k)?.inverse();
            Some(take.hands[k].as_ref()?.iter().map(|hand| hand * zero).collect())
        });
        let arm = |k: usize| body.limbs.arms[k].as_ref().and(take.arms[k].as_ref()).map(directions);
        let limbs = [Some(directions(left)), Some(directions(right)), arm(0), arm(1)];
        let feet = [0, 1].map(|k| FootGoals {
            sole: take.feet[k].sole.iter().map(|sole| sole * body.soles[k].level).collect(),
            ankle: take.feet[k].ankle.iter().copied().enumerate().map(moved).collect(),
            points: points(&soles[k], &stands, &shots, body.leg_length, rate),
        });
        let (frames, pelvis, torso) = (
            take.frames,
            take.pelvis.clone(),
            leaning_torso(take, body, body.shoulders_in_torso(&body.zero.links)),
        );
        Self { frames, rate, scale, cut, hips, pelvis, torso, hands, limbs, feet }
    }

    /// The goals for shoulders that clavicles hold elsewhere on the torso than in the zero pose.
    pub(super) fn with_shoulders(self, take: &TakeBody, body: &RobotBody, in_torso: Vec3) -> Self {
        Self { torso: leaning_torso(take, body, Some(in_torso)), ..self }
    }

    /// The goals of some frames.
    pub(super) fn part(&self, frames: Range<usize>) -> Self {
        self.at(&frames.map(|frame| frame as f64).collect::<Vec<_>>(), self.rate)
    }

    /// The goals at these times, in frames, of which there are `rate` in a second; none lies between the last frame of a shot and the next.
    pub(super) fn at(&self, times: &[f64], rate: f64) -> Self {
        let points = |path: &[Vec3]| sampled(path, times, |a, b, t| a.lerp(b, t));
        let rotations = |path: &[Quat]| sampled(path, times, slerp);
        let shares = |path: &[f64]| sampled(path, times, |a, b, t| a + (b - a) * t);
        let directions = |path: &Vec<Vec3>| directions_at(path, &self.cut, times);
        let point = |p: &SoleGoal| SoleGoal {
            at: points(&p.at),
            speed: shares(&p.speed),
            rests: shares(&p.rests),
            near: shares(&p.near),
        };
        let foot = |foot: &FootGoals| FootGoals {
            sole: rotations(&foot.sole),
            ankle: points(&foot.ankle),
            points: foot.points.each_ref().map(point),
        };
        Self {
            frames: times.len(),
            rate,
            scale: self.scale,
            cut: times.iter().map(|&time| is_cut(&self.cut, time)).collect(),
            hips: points(&self.hips),
            pelvis: rotations(&self.pelvis),
            torso: rotations(&self.torso),
            hands: self.hands.each_ref().map(|hand| hand.as_deref().map(rotations)),
            limbs: self.limbs.each_ref().map(|limb| limb.as_ref().map(|l| l.each_ref().map(directions))),
            feet: self.feet.each_ref().map(foot),
        }
    }
}

/// Values at some times, in frames.
fn sampled<T: Copy>(values: &[T], times: &[f64], between: impl Fn(&T, &T, f64) -> T) -> Vec<T> {
    let at = |time: &f64| {
        let (before, share) = (*time as usize, time.fract());
        match values.get(before + 1) {
            Some(after) if share > 0.0 => between(&values[before], after, share),
            _ => values[before],
        }
    };
    times.iter().map(at).collect()
}

/// Directions at some times, in frames, on the curve through those of the frames around (Catmull and Rom 1974). On the
/// straight line between two of them an arm that swings would be elsewhere than at another rate.
pub(super) fn directions_at(path: &[Vec3], cut: &[bool], times: &[f64]) -> Vec<Vec3> {
    let slope = |k: usize| {
        let before = if k > 0 && !cut[k] { k - 1 } else { k };
        let after = if cut.get(k + 1) == Some(&false) { k + 1 } else { k };
        (path[after] - path[before]) / (after - before).max(1) as f64
    };
    let at = |time: &f64| {
        let (k, share) = (*time as usize, time.fract());
        if share == 0.0 || k + 1 == path.len() {
            return path[k];
        }
        let curve = hermite(&path[k], &slope(k), &path[k + 1], &slope(k + 1), share);
        curve.try_normalize(1e-9).unwrap_or(path[k])
    };
    times.iter().map(at).collect()
}

/// Rotations of the torso with which the robot's line from hips to shoulders leans as the take's: the chest's, rotated about its left.
/// Skeletons have hips up to 13 degrees before shoulders in their reference pose; a robot would lean forward by as much more than the take.
fn leaning_torso(take: &TakeBody, body: &RobotBody, shoulders: Option<Vec3>) -> Vec<Quat> {
    let (Some(lines), Some(shoulders)) = (&take.trunk_line, shoulders) else {
        return take.chest.clone();
    };
    let [lower, upper] = body.trunk_at_zero(shoulders);
    // About the left, from up to the front.
    let lean = |v: Vec3| libm::atan2(v.x, v.z);
    let leaning = |((chest, pelvis), line): ((&Quat, &Quat), &Vec3)| {
        let wanted = chest.inverse() * line;
        if wanted.xz().norm() < SEEN * wanted.norm() {
            return *chest;
        }
        let wanted = lean(wanted);
        let below = chest.inverse() * (pelvis * lower);
        // What the part below the waist is off the wanted line, the part above it makes up for.
        let off = below.x * libm::cos(wanted) - below.z * libm::sin(wanted);
        let made_up = libm::asin((-off / upper.xz().norm()).clamp(-MADE_UP, MADE_UP));
        chest * exp(&(Vec3::y() * (wanted + made_up - lean(upper))))
    };
    take.chest.iter().zip(&take.pelvis).zip(lines).map(leaning).collect()
}

/// The directions of both segments of a limb.
fn directions(limb: &LimbPath) -> [Vec<Vec3>; 2] {
    let [root, middle, end] = [&limb.root.at, &limb.middle.at, &limb.end.at];
    let along = |from: &[Vec3], to: &[Vec3]| {
        let mut last = -Vec3::z();
        let pair = |(a, b): (&Vec3, &Vec3)| {
            last = (b - a).try_normalize(1e-9).unwrap_or(last);
            last
        };
        from.iter().zip(to).map(pair).collect()
    };
    [along(root, middle), along(middle, end)]
}

/// The paths of heel and ball of a foot in the scaled take, whose ankle is at `level` where it is flat: height 0 where the foot is flat.
fn sole_paths(foot: &FootPath, level: f64, [scale, back]: [f64; 2]) -> [Vec<Vec3>; 2] {
    let heel =
        foot.ankle.iter().zip(&foot.sole).map(|(ankle, sole)| ankle + sole * Vec3::new(back, 0.0, 0.0));
    let paths = [(heel.collect(), level), (foot.ball.clone(), level - foot.rise.unwrap_or(0.0))];
    paths.map(|(path, level): (Vec<Vec3>, f64)| {
        let mut path: Vec<Vec3> = path.iter().map(|p| p * scale).collect();
        let flat = path.iter().zip(&foot.flat).filter(|(_, flat)| **flat);
        let ground = match foot.rise {
            None => median(flat.map(|(p, _)| p.z).collect()),
            Some(_) => level * scale,
        };
        path.iter_mut().for_each(|p| p.z -= ground);
        path
    })
}

/// Heel and ball of a foot, without the height at which the take stands.
fn points(
    paths: &[Vec<Vec3>; 2],
    stands: &[f64],
    shots: &[Range<usize>],
    leg_length: f64,
    rate: f64,
) -> [SoleGoal; 2] {
    let [heel, ball] = paths.each_ref().map(|path| -> Vec<Vec3> {
        path.iter().zip(stands).map(|(p, height)| p - Vec3::z() * *height).collect()
    });
    let lower: Vec<f64> = heel.iter().zip(&ball).map(|(a, b)| a.z.min(b.z)).collect();
    [heel, ball].map(|at| {
        let in_shot =
            |shot: &Range<usize>| shot.clone().map(|f| speed(&at, shot, f, rate)).collect::<Vec<_>>();
        let speed: Vec<f64> = shots.iter().flat_map(in_shot).collect();
        let share = |x: f64| libm::exp(-x * x / 2.0);
        let low = |p: &Vec3| share(p.z.max(0.0) / (NEAR * leg_length));
        let rests = at.iter().zip(&speed).map(|(p, v)| low(p) * share(v / (SLOW * leg_length))).collect();
        let near =
            at.iter().zip(&lower).map(|(p, l)| low(p) * share((p.z - l) / (LOWER * leg_length))).collect();
        SoleGoal { at, speed, rests, near }
    })
}

/// The spans of frames between cuts; `cut` is whether the take is cut before a frame.
pub(super) fn shots(cut: &[bool]) -> Vec<Range<usize>> {
    shots_between((1..cut.len()).filter(|&frame| cut[frame]), cut.len())
}

/// Whether the take is cut at a time in frames.
pub(super) fn is_cut(cut: &[bool], time: f64) -> bool {
    time.fract() == 0.0 && cut[time as usize]
}

/// The speed of a point in a frame of a shot, from where it is `SPEED_SPAN` before and after, or at the ends of the shot.
pub(super) fn speed(path: &[Vec3], shot: &Range<usize>, frame: usize, rate: f64) -> f64 {
    let (frame, span) = (frame as f64, (SPEED_SPAN * rate).max(1.0));
    let from = (frame - span).max(shot.start as f64);
    let to = (frame + span).min((shot.end - 1) as f64);
    let ends = sampled(path, &[from, to], |a, b, t| a.lerp(b, t));
    if from < to { (ends[1] - ends[0]).norm() * rate / (to - from) } else { 0.0 }
}
