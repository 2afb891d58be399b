//! Places a motion on a ground of given height: removes floating, sinking and drift, and keeps limbs out of the floor.
//!
//! Labelled contacts give the height error of every frame. The whole body is moved by one constant where that suffices, which
//! changes no joint. Where the errors drift, a slow curve is fitted to them, robust against wrong labels (iteratively
//! reweighted least squares with Cauchy weights `1 / (1 + (r / c)^2)`). Then the body is raised for knees in the floor, and
//! feet and hands that are further in the floor than the legs' solve tolerates are raised by IK of their limbs.
//! Space: model space, Y up. Units: metres, hertz, seconds.

use super::envelope::envelope;
use super::limb_chain::LimbChain;
use super::raise_limbs::raise_limbs;
use super::settings::Settings;
use super::timeline::Timeline;
use super::write_clip::{SolvedFrames, write};
use crate::body::CharacterBody;
use crate::kinematics::map_frames_towards;
use crate::math::{Quat, Vec3, percentile};
use crate::model::{ContactPart, ContactPoint, Contacts, ModelPose, Motion, Side};
use crate::signal::{Difference, whittaker, whittaker_penalty};
use std::ops::Range;

/// Cutoff of drift, hertz: height changes within ten seconds are not drift.
const DRIFT: f64 = 0.1;
/// Spread of the height errors (10th to 90th percentile) up to which a constant suffices, metres: stances of captures differ
/// by 2 to 3 centimetres. A curve through them would move the body up and down and raise the lower feet.
const EVEN: f64 = 0.035;
/// Quantile of the height errors that is the constant, as for a clip that floats after retargeting.
const CONSTANT: f64 = 0.35;
/// Scale `c` of the Cauchy weights, metres: errors much larger than this are taken for wrong labels.
const OUTLIER: f64 = 0.02;
/// Rounds of reweighting: the curve moves by less than a tenth of a millimetre after four.
const ROUNDS: usize = 6;
/// Time over which the body is raised for a knee, seconds.
const KNEE: f64 = 0.3;
/// Displacements below this are not applied, metres.
const STILL: f64 = 1e-12;

/// What [`place_on_ground`] changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroundChange {
    /// Mean upward displacement of the body, metres.
    pub lifted: f64,
    /// Difference between its largest and its smallest value.
    pub drift: f64,
    /// Largest height by which the body was raised for knees.
    pub knees: f64,
    /// Largest height by which a foot or a hand was raised.
    pub limbs: f64,
}

/// Places the motion on a ground at `height`; `contacts` are its contact labels. Returns what was changed as well.
pub fn place_on_ground(motion: Motion, contacts: &Contacts, height: f64) -> (Motion, GroundChange) {
    let frames = motion.clip.frames();
    let measured = CharacterBody::new(&motion.character);
    let points = measured.contact_points();
    if frames == 0 || points.is_empty() {
        return (motion, GroundChange::default());
    }
    let time = Timeline::of(&motion);
    let heights = heights(&motion, points);
    let mut offset = misses(contacts, points, &heights, &time);
    let rise = height - contacts.ground;
    offset.iter_mut().for_each(|d| *d = rise - *d);
    let contacts = contacts.changed(|f| f, |h| h + rise);
    let mut work =
        GroundChange { lifted: offset.iter().sum::<f64>() / frames as f64, ..GroundChange::default() };
    let range = |a: (f64, f64), x: &f64| (a.0.min(*x), a.1.max(*x));
    let (low, high) = offset.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    work.drift = high - low;

    let needed = |of: &dyn Fn(ContactPart) -> bool, offset: &[f64], tolerated: f64| -> Vec<f64> {
        let own = || points.iter().zip(&heights).filter(|(p, _)| of(p.part));
        let lowest = |f: usize| own().map(|(_, h)| h[f]).fold(f64::INFINITY, f64::min);
        (0..time.unknowns()).map(|f| (height - lowest(f) - offset[f] - tolerated).max(0.0)).collect()
    };
    // The last frame of a cycle is raised as the first.
    let raise = |needed: &[f64], seconds: f64| -> Vec<f64> {
        let raise = envelope(needed, &time.is_cut, time.cycle, time.reach(seconds));
        (0..frames).map(|f| raise[time.unknown(f)]).collect()
    };
    // The body is raised for knees in the floor.
    let knees = needed(&|part| matches!(part, ContactPart::Knee(_)), &offset, 0.0);
    let lift = raise(&knees, KNEE);
    offset.iter_mut().zip(&lift).for_each(|(d, lift)| *d += lift);
    work.knees = lift.iter().copied().fold(0.0, f64::max);
    let body: Vec<(Vec3, Quat)> = offset.iter().map(|d| (Vec3::y() * *d, Quat::identity())).collect();
    let still = |f: usize| offset[f].abs() < STILL;
    let lifted = write(motion, &SolvedFrames { legs: &[], poses: &[], body: &body, still: &still });
    let lifted = Motion { contacts: Some(contacts), ..lifted };

    let limb = |side: Side| {
        let leg = LimbChain::of(&measured, side)
            .map(|chain| (chain, ContactPart::of_foot as fn(ContactPart) -> bool));
        let arm = LimbChain::arm(&measured, side);
        [leg, arm.map(|arm| (arm, (|p| matches!(p, ContactPart::Hand(_))) as fn(ContactPart) -> bool))]
    };
    let limbs: Vec<_> = Side::BOTH.into_iter().flat_map(limb).flatten().collect();
    let settings = Settings::default();
    let rises: Vec<(&LimbChain, Vec<f64>)> = limbs
        .iter()
        .map(|(chain, of)| {
            let tolerated = settings.penetration * chain.length();
            let needed = needed(&|part| of(part) && part.side() == Some(chain.side), &offset, tolerated);
            (chain, raise(&needed, settings.foot_raise_time))
        })
        .collect();
    work.limbs = rises.iter().flat_map(|(_, r)| r).copied().fold(0.0, f64::max);
    (raise_limbs(lifted, &rises, &settings), work)
}

/// The height of the lowest surface point of every contact point, by point and frame.
fn heights(motion: &Motion, points: &[ContactPoint]) -> Vec<Vec<f64>> {
    let of = |model: &ModelPose| -> Vec<f64> {
        points.iter().map(|p| model.joint(p.joint).point(&p.at).y - p.radius).collect()
    };
    let joints = points.iter().map(|p| p.joint);
    let frames = map_frames_towards(motion.character.skeleton(), &motion.clip, joints, of);
    (0..points.len()).map(|k| frames.iter().map(|heights| heights[k]).collect()).collect()
}

/// The height of contacts above their labelled ground in all frames: a constant where it suffices, else a slow curve in each
/// shot. A cycle has its drift curve where it is repeated before and after itself, so that the curve closes.
fn misses(contacts: &Contacts, points: &[ContactPoint], heights: &[Vec<f64>], time: &Timeline) -> Vec<f64> {
    let frames = heights[0].len();
    let mut lowest = vec![f64::INFINITY; frames];
    for (point, heights) in points.iter().zip(heights).filter(|(p, _)| p.part.of_foot()) {
        for hold in contacts.holds(point.part) {
            for f in hold.frames.start..hold.frames.end.min(frames) {
                lowest[f] = lowest[f].min(heights[f] - hold.height);
            }
        }
    }
    let constant = constant(&lowest);
    if spread(&lowest) < EVEN {
        return vec![constant; frames];
    }
    if time.cycle {
        let n = time.unknowns();
        let curve = drift(&lowest[..n].repeat(3), time.dt);
        return (0..frames).map(|f| curve[n + time.unknown(f)]).collect();
    }
    let of_shot = |shot: Range<usize>| -> Vec<f64> {
        let lowest = &lowest[shot];
        match labelled(lowest).is_empty() {
            true => vec![constant; lowest.len()],
            false if spread(lowest) < EVEN => vec![self::constant(lowest); lowest.len()],
            false => drift(lowest, time.dt),
        }
    };
    time.shots().into_iter().flat_map(of_shot).collect()
}

/// The heights of labelled frames; the others are infinite.
fn labelled(lowest: &[f64]) -> Vec<f64> {
    lowest.iter().copied().filter(|height| height.is_finite()).collect()
}

/// The constant that stands for the heights of labelled frames.
fn constant(lowest: &[f64]) -> f64 {
    percentile(&labelled(lowest), CONSTANT)
}

fn spread(lowest: &[f64]) -> f64 {
    let labelled = labelled(lowest);
    percentile(&labelled, 0.9) - percentile(&labelled, 0.1)
}

/// A slow curve through the heights of labelled frames, some of which are labelled wrongly.
fn drift(lowest: &[f64], dt: f64) -> Vec<f64> {
    let known: Vec<f64> = lowest.iter().map(|x| f64::from(x.is_finite())).collect();
    let values: Vec<f64> = lowest.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect();
    let penalty = whittaker_penalty(Difference::Second, DRIFT, dt.recip());
    let mut weights = known.clone();
    let mut curve = vec![0.0; lowest.len()];
    for _ in 0..ROUNDS {
        curve = whittaker(Difference::Second, &weights, &values, penalty);
        let misfits = values.iter().zip(&curve).map(|(y, x)| (y - x) / OUTLIER);
        for ((weight, known), misfit) in weights.iter_mut().zip(&known).zip(misfits) {
            *weight = known / (1.0 + misfit * misfit);
        }
    }
    curve
}
