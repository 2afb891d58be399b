//! A motion, the take that it came from and its plain copy become how far legs and trunk do what the take's do.
//!
//! The take is scaled by the ratio of thigh and shin and compared as it is: no contact labels take part, so nothing that a
//! stage does to labels can change an answer. A foot rests where the slower of ankle and toe joint of the scaled take does
//! not move and is as low as it gets. Units: metres of the common height, radians, seconds.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use super::statistics::{mean, rms};
use crate::kinematics::{is_cycle, map_frames};
use crate::math::{Quat, Vec3, angle_between, arc, percentile, percentile_in_place};
use crate::model::{ModelPose, Motion, Rig, Role, Side};
use crate::report::{Metric, Series};

/// A point of a foot rests below this speed, leg lengths a second...
const SLOW: f64 = 0.15;
/// ... within this height above its lowest, leg lengths...
const LOW: f64 = 0.03;
/// ... which is that of the lowest frames, this share of all.
const LOWEST: f64 = 0.03;
/// A knee bent by less is straight, radians.
const STRAIGHT: f64 = 10.0 * std::f64::consts::PI / 180.0;
/// Fewer frames tell no percentile.
const FEWEST: usize = 5;

/// The joints of one frame that are compared.
#[derive(Clone, Copy, Debug)]
struct Instant {
    /// Hip, knee, ankle and toe joint (the ankle without one), by side.
    legs: [[Vec3; 4]; 2],
    /// Shoulder, elbow and wrist, by side; zeros of a body without arms.
    arms: [[Vec3; 3]; 2],
    /// The turn of the hips.
    hips: Quat,
    /// Whether each foot has a toe joint.
    toes: [bool; 2],
}

impl Instant {
    fn read(rig: &Rig, pose: &ModelPose) -> Option<Instant> {
        let at = |role: Role| rig.joint(role).map(|id| pose.position(id));
        let leg = |s: Side| {
            let ankle = at(Role::Foot(s))?;
            Some([at(Role::UpperLeg(s))?, at(Role::LowerLeg(s))?, ankle, at(Role::Toes(s)).unwrap_or(ankle)])
        };
        let arm = |s: Side| Some([at(Role::UpperArm(s))?, at(Role::LowerArm(s))?, at(Role::Hand(s))?]);
        let [left, right] = Side::BOTH.map(leg);
        Some(Instant {
            legs: [left?, right?],
            arms: Side::BOTH.map(|s| arm(s).unwrap_or_default()),
            hips: pose.joint(rig.joint(Role::Hips)?).rotation,
            toes: Side::BOTH.map(|s| rig.joint(Role::Toes(s)).is_some()),
        })
    }

    fn scaled(mut self, k: f64) -> Instant {
        self.legs.iter_mut().flatten().chain(self.arms.iter_mut().flatten()).for_each(|p| *p *= k);
        self
    }

    /// The directions of thighs, shins, upper arms and forearms.
    fn limbs(&self) -> [Vec3; 8] {
        let [l, r] = self.legs;
        let [a, b] = self.arms;
        let of = |p: &[Vec3], k: usize| p[k + 1] - p[k];
        [of(&l, 0), of(&l, 1), of(&r, 0), of(&r, 1), of(&a, 0), of(&a, 1), of(&b, 0), of(&b, 1)]
    }

    fn bend(&self, side: usize) -> f64 {
        let [hip, knee, ankle, _] = self.legs[side];
        angle_between(&(knee - hip), &(ankle - knee))
    }

    /// From the middle of the hip joints to that of the shoulders.
    fn trunk(&self) -> Vec3 {
        let [a, b] = self.arms.map(|arm| arm[0]);
        let [l, r] = self.legs.map(|leg| leg[0]);
        if a == b { Vec3::zeros() } else { (a + b - l - r) * 0.5 }
    }

    fn leg(&self) -> f64 {
        let of = |[hip, knee, ankle, _]: [Vec3; 4]| (knee - hip).norm() + (ankle - knee).norm();
        0.5 * (of(self.legs[0]) + of(self.legs[1]))
    }
}

fn instants(motion: &Motion) -> Option<Vec<Instant>> {
    let rig = &motion.character.rig;
    map_frames(rig.skeleton(), &motion.clip, |pose: &ModelPose| Instant::read(rig, pose))
        .into_iter()
        .collect()
}

/// How far `motion`, which plays on the character of `context`, does with legs and trunk what `source` does, beside `copy`,
/// the plain rotation copy of `source`, and how limbs and knees went over the frames; nothing of bodies without two whole
/// legs, or where the three are not in step.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn legs(
    context: &MetricContext,
    source: &Motion,
    copy: &Motion,
    motion: &Motion,
) -> (Vec<Metric>, Vec<Series>) {
    let rate = motion.clip.sample_rate;
    let step = [source, copy].iter().all(|m| (m.clip.sample_rate - rate).abs() < 1e-6);
    let tracks = [source, copy, motion].map(|m| instants(m).filter(|_| step));
    let [Some(from), Some(plain), Some(own)] = tracks else { return Default::default() };
    let frames = from.len().min(plain.len()).min(own.len());
    let (Some(first), Some(to)) = (from.first(), plain.first()) else { return Default::default() };
    let k = to.leg() / first.leg().max(1e-9);
    let leg = to.leg();
    let from: Vec<Instant> = from.into_iter().map(|i| i.scaled(k)).collect();
    let mut found = Vec::new();
    let mut add = |name: &str, value: f64, of_copy: Option<f64>| {
        found.push(Metric { copy: of_copy, ..metric(name, value) });
    };

    // Against the copy, whose limbs and knees are the take's.
    let mut errors: Vec<f64> = Vec::with_capacity(8 * frames);
    let (mut knees, mut straight) = ([Vec::with_capacity(frames), Vec::with_capacity(frames)], Vec::new());
    let mut limbs = knees.clone();
    for (own, plain) in own.iter().zip(&plain).take(frames) {
        let pairs = own.limbs().into_iter().zip(plain.limbs());
        let apart = pairs.map(|(a, b)| (b.norm() > 0.0).then(|| angle_between(&a, &b))).collect::<Vec<_>>();
        errors.extend(apart.iter().flatten());
        for side in 0..2 {
            let of_side =
                [2 * side, 2 * side + 1, 2 * side + 4, 2 * side + 5].map(|k| apart[k].unwrap_or(0.0));
            limbs[side].push(of_side.into_iter().fold(0.0, f64::max));
            let (bend, before) = (own.bend(side), plain.bend(side));
            knees[side].push((bend - before).abs());
            if before < STRAIGHT {
                straight.push(bend - before);
            }
        }
    }
    add("limb_error_p95", percentile_in_place(&mut errors, 0.95), Some(0.0));
    add("knee_error_max", knees.iter().flatten().copied().fold(0.0, f64::max), Some(0.0));
    if straight.len() >= FEWEST {
        add("straight_leg_bend_p90", percentile_in_place(&mut straight, 0.9), Some(0.0));
    }

    // Against the scaled take, where its feet rest.
    let common = context.scale * rate;
    let (mut slips, mut heights) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    // How it went over the frames, by side; no number where the foot does not rest.
    let nowhere = || [vec![f64::NAN; frames], vec![f64::NAN; frames]];
    let (mut slipping, mut clearing) = (nowhere(), nowhere());
    for side in 0..2 {
        let mut away: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let low: Vec<f64> = [2, 3]
            .iter()
            .map(|&p| {
                percentile_in_place(&mut from.iter().map(|i| i.legs[side][p].y).collect::<Vec<_>>(), LOWEST)
            })
            .collect();
        for f in 1..frames {
            let way = |track: &[Instant], p: usize| track[f].legs[side][p] - track[f - 1].legs[side][p];
            let both = from[f].toes[side] && own[f].toes[side];
            let p = if both && way(&from, 3).norm() < way(&from, 2).norm() { 3 } else { 2 };
            let rests =
                way(&from, p).norm() * rate < SLOW * leg && from[f].legs[side][p].y - low[p - 2] < LOW * leg;
            if !rests {
                continue;
            }
            for (n, track) in [&own, &plain].into_iter().enumerate() {
                slips[n].push((way(track, p) - way(&from, p)).norm() * common);
                // Only where both bodies have the joint do its heights compare.
                away[n].push((track[f].legs[side][2].y - from[f].legs[side][2].y) * context.scale);
            }
            slipping[side][f] = slips[0][slips[0].len() - 1];
        }
        let before = heights[0].len();
        for (away, heights) in away.iter().zip(&mut heights) {
            let middle = percentile(away, 0.5);
            heights.extend(away.iter().map(|x| (x - middle).abs()));
        }
        let resting = slipping[side].iter().zip(&mut clearing[side]).filter(|(slip, _)| slip.is_finite());
        resting.zip(&heights[0][before..]).for_each(|((_, clearing), height)| *clearing = *height);
    }
    if slips[0].len() >= FEWEST {
        let [own, plain] = slips.each_mut().map(|s| percentile_in_place(s, 0.95));
        add("rest_slip_p95", own, Some(plain));
        let [own, plain] = heights.each_mut().map(|h| percentile_in_place(h, 0.95));
        add("clearance_error_p95", own, Some(plain));
    }

    let thirds = |track: &[Instant], p: usize, side: usize| {
        let third = |w: &[Instant]| {
            let at = |n: usize| w[n].legs[side][p];
            (at(3) - at(2) * 3.0 + at(1) * 3.0 - at(0)).norm()
        };
        track[..frames].windows(4).map(third).collect::<Vec<f64>>()
    };
    let jerk = |track: &[Instant], p: usize| {
        let both = [0, 1].map(|side| thirds(track, p, side));
        rms(both.iter().flatten().map(|x| x * x))
    };
    let mut jerks = Vec::new();
    for (name, p) in [("knee_jerk", 1), ("foot_jerk", 2)] {
        let of_take = jerk(&from, p);
        if frames > FEWEST && of_take > 1e-9 * leg {
            add(&format!("{name}_ratio"), jerk(&own, p) / of_take, Some(jerk(&plain, p) / of_take));
            // What the motion adds to the take's, in parts of what that has on the whole.
            let added = |side: usize| {
                let both = thirds(&own, p, side).into_iter().zip(thirds(&from, p, side));
                let parts = both.map(|(own, take)| ((own - take) / of_take).max(0.0));
                [f64::NAN].into_iter().chain(parts).chain([f64::NAN; 2]).collect()
            };
            jerks.push((name, [0, 1].map(added)));
        }
    }

    let seam = |m: &Motion| {
        let last = m.clip.frames() - 1;
        let pairs = m.clip.rotations(0).iter().zip(m.clip.rotations(last));
        pairs.map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max)
    };
    if is_cycle(source) && motion.clip.frames() == source.clip.frames() {
        let of_take = seam(source);
        add("loop_seam", (seam(motion) - of_take).max(0.0), Some((seam(copy) - of_take).max(0.0)));
    }

    // The line from hips to shoulders, away from where the copy's would be if it leaned as the take's does.
    let lean = |m: &Motion| {
        let rest = m.character.calibration_pose();
        Instant::read(&m.character.rig, &rest).map(|i| (i.trunk(), i.hips))
    };
    if let (Some((u0, s0)), Some((v0, t0))) = (lean(source), lean(copy))
        && u0.norm() > 0.0
        && v0.norm() > 0.0
    {
        // The target stands turned as its hips in the copy say.
        let turned = |track: &[Instant], f: usize| {
            let away = from[f].hips * s0.inverse();
            let facing = plain[f].hips * t0.inverse();
            let wanted = arc(&(away * u0), &from[f].trunk(), &Vec3::x()) * facing * v0;
            angle_between(&wanted, &track[f].trunk())
        };
        let of = |track: &[Instant]| mean(&(0..frames).map(|f| turned(track, f)).collect::<Vec<_>>());
        add("trunk_error", of(&own), Some(of(&plain)));
    }
    let course = |name: &str, unit: &'static str, values: [Vec<f64>; 2]| {
        let of = move |(side, values): (&str, Vec<f64>)| {
            let name = format!("{side}_{name}");
            values.iter().any(|x| x.is_finite()).then(|| Series { name, unit, values, resting: Vec::new() })
        };
        ["left", "right"].into_iter().zip(values).filter_map(of).collect::<Vec<_>>()
    };
    let mut series = [course("limb_error", "rad", limbs), course("knee_error", "rad", knees)].concat();
    series.extend(course("rest_slip", "m/s", slipping));
    series.extend(course("clearance_error", "m", clearing));
    series.extend(jerks.into_iter().flat_map(|(name, values)| course(name, "1", values)));
    (found, series)
}
