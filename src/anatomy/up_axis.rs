//! Decides whether a motion proves that another axis than the expected one is up.
//!
//! A pose is no evidence: a body that lies looks like one that stands along another axis. The ground is: something of the body is
//! near it at nearly all times, and rests on it. The expected axis is only given up if the body has no ground along it and has
//! one along the other. Space: the world of the clips. Lengths are shares of the body's size, the mean distance from its middle
//! to its farthest joint, 0.9 m for an adult.

use crate::math::{Vec3, median, percentile};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};

/// Pairs of consecutive frames that are sampled: the result does not change with more.
const SAMPLES: usize = 128;
/// The range (10th to 90th percentile) of the height of the lowest joint above which a body keeps no ground: joints of a
/// person who rolls on the ground are at 2 to 12 cm, 0.13 sizes. With half of it rolling bodies are set upright, with double
/// half of the captures of 4 s with another up axis are not.
const UNEVEN: f64 = 0.15;
/// The same where the origin of the world is a second witness: a body that lies still moves its lowest joint by less.
const SLIGHTLY_UNEVEN: f64 = 0.05;
/// The range along the other axis must be smaller by this factor: along a true up axis it is 0.02 for walks, 0.2 for leaps.
const EVENER: f64 = 2.0;
/// The largest height of the lowest joint over the origin for which the ground is at height 0: ankles and toes of captures are
/// below it.
const AT_ORIGIN: f64 = 0.1;
/// The distance of the lowest joint from height 0 above which the ground is elsewhere: a standing body reaches this far to all
/// sides of the origin, so that nearer tells nothing.
const OFF_ORIGIN: f64 = 0.5;
/// The distance that the middle of the body travels across the expected axis, from which what it travels on must rest: less is
/// a shift of weight. With double the value a tenth of the captures of 2 s with another up axis is missed.
const TRAVELS: f64 = 0.25;
/// The height above the lowest joint up to which a joint may rest on the ground. The result hardly changes from 0.06 to 0.15.
const NEAR_GROUND: f64 = 0.1;
/// The median speed of the slowest joint near the ground, in mean speeds of all joints, above which a travelling body does not
/// rest on the ground: 0 to 0.26 along a true up axis, mostly 0.5 to 1.7 along others.
const SLIPS: f64 = 0.4;
/// The same along the other axis must be smaller by this factor.
const SLIPS_LESS: f64 = 3.0;

/// Whether clips on the skeleton of `rig` prove that `other` is up and not `expected`.
///
/// The height of the lowest joint must be even along `other` and uneven along `expected` (slightly, where the ground along
/// `other` is at height 0, as in captures, and along `expected` is nowhere near); or the body travels, and what is lowest along
/// `other` rests while what is lowest along `expected` moves as all the body does. A single pose proves nothing, nor does a body that is
/// upside down: it is below the ground along `other`.
pub(super) fn proves_up(rig: &Rig, clips: &[&Clip], expected: &Vec3, other: &Vec3) -> bool {
    let Some(body) = MovingBody::of(rig, clips) else { return false };
    !body.is_below(expected, other) && (body.is_even(expected, other) || body.rests(expected, other))
}

/// The positions of the joints of a body in pairs of consecutive frames, of which the first is the middle of its hip joints.
struct MovingBody {
    pairs: Vec<[Vec<Vec3>; 2]>,
    size: f64,
}

impl MovingBody {
    /// Samples of clips; `None` without hip joints or frames.
    fn of(rig: &Rig, clips: &[&Clip]) -> Option<Self> {
        let skeleton = rig.skeleton();
        let thighs = [rig.joint(Role::UpperLeg(Side::Left))?, rig.joint(Role::UpperLeg(Side::Right))?];
        // Joints that have no role and are not below the hips may be anywhere: pole targets, props.
        let hips = rig.joint(Role::Hips);
        let below_hips = |id| hips.is_some_and(|hips| skeleton.is_ancestor(hips, id));
        let joints: Vec<JointId> =
            skeleton.ids().filter(|id| rig.role(*id).is_some() || below_hips(*id)).collect();
        let mut pose = skeleton.rest_pose();
        let mut positions = |clip: &Clip, frame: usize| -> Vec<Vec3> {
            clip.read_pose(frame.min(clip.frames() - 1), &mut pose);
            let model = ModelPose::of(skeleton, &pose);
            let middle = (model.position(thighs[0]) + model.position(thighs[1])) * 0.5;
            std::iter::once(middle).chain(joints.iter().map(|id| model.position(*id))).collect()
        };
        let step = (clips.iter().map(|clip| clip.frames()).sum::<usize>() / SAMPLES).max(1);
        let mut pairs = Vec::new();
        for clip in clips {
            pairs.extend(
                (0..clip.frames()).step_by(step).map(|f| [positions(clip, f), positions(clip, f + 1)]),
            );
        }
        let reach = |[at, _]: &[Vec<Vec3>; 2]| at.iter().map(|p| (p - at[0]).norm()).fold(0.0, f64::max);
        let size = pairs.iter().map(reach).sum::<f64>() / pairs.len().max(1) as f64;
        (size > 0.0).then_some(Self { pairs, size })
    }

    /// The height of the lowest joint along an axis in every sample.
    fn lowest(&self, axis: &Vec3) -> Vec<f64> {
        self.pairs.iter().map(|[at, _]| lowest(at, axis) / self.size).collect()
    }

    /// Whether all of the body is below height 0 along `other` at all times, and on or above it along `expected`.
    fn is_below(&self, expected: &Vec3, other: &Vec3) -> bool {
        let below = |[at, _]: &[Vec<Vec3>; 2]| at.iter().all(|p| p.dot(other) < 0.0);
        self.pairs.iter().all(below) && median(self.lowest(expected)) > -AT_ORIGIN
    }

    fn is_even(&self, expected: &Vec3, other: &Vec3) -> bool {
        let [along_expected, along_other] = [expected, other].map(|axis| self.lowest(axis));
        let range = |heights: &[f64]| percentile(heights, 0.9) - percentile(heights, 0.1);
        let uneven = range(&along_expected);
        let evener = EVENER * range(&along_other) < uneven;
        let [expected, other] = [along_expected, along_other].map(|heights| median(heights).abs());
        let stands_on_origin = other < AT_ORIGIN && expected > OFF_ORIGIN;
        evener && uneven > if stands_on_origin { SLIGHTLY_UNEVEN } else { UNEVEN }
    }

    fn rests(&self, expected: &Vec3, other: &Vec3) -> bool {
        // Along the expected axis a body rises and sinks; where it travels along it, its ground is uneven.
        let [low, high] = [Vec3::inf, Vec3::sup].map(|bound: fn(&Vec3, &Vec3) -> Vec3| {
            let level = self.pairs.iter().map(|[at, _]| at[0] - expected * at[0].dot(expected));
            level.reduce(|a, b| bound(&a, &b)).unwrap_or_default()
        });
        let [slips, slips_less] = [expected, other].map(|axis| self.slip(axis));
        (high - low).amax() > TRAVELS * self.size && slips > SLIPS && SLIPS_LESS * slips_less < slips
    }

    /// The median over the samples of the speed of the slowest joint near the ground, in mean speeds of all joints.
    fn slip(&self, axis: &Vec3) -> f64 {
        let of = |[at, next]: &[Vec<Vec3>; 2]| {
            let ground = lowest(at, axis) + NEAR_GROUND * self.size;
            let steps = || at.iter().zip(next).map(|(a, b)| (a, (b - a).norm()));
            let on_ground = steps().filter(|(a, _)| a.dot(axis) < ground).map(|step| step.1);
            let mean = steps().map(|step| step.1).sum::<f64>() / at.len() as f64;
            on_ground.fold(f64::INFINITY, f64::min) / mean.max(1e-12 * self.size)
        };
        median(self.pairs.iter().map(of).collect())
    }
}

fn lowest(joints: &[Vec3], axis: &Vec3) -> f64 {
    joints.iter().map(|p| p.dot(axis)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of one joint whose lowest other joint is at these places in ten frames, in sizes of the body.
    fn body(place: impl Fn(f64) -> Vec3) -> MovingBody {
        let joints = |f: u32| {
            let low = place(f.into());
            vec![low + Vec3::new(0.5, 0.7, 0.5).normalize(), low]
        };
        MovingBody { pairs: (0..10).map(|f| [joints(f), joints(f + 1)]).collect(), size: 1.0 }
    }

    #[test]
    fn only_the_ground_is_a_proof() {
        let proved = |y: fn(f64) -> f64, z: fn(f64) -> f64| {
            body(|f| Vec3::new(0.0, y(f), z(f))).is_even(&Vec3::y(), &Vec3::z())
        };
        assert!(!proved(|_| 0.05, |_| 0.05), "one pose");
        assert!(!proved(|f| 0.01 * f, |_| 0.0), "a body that rolls");
        assert!(!proved(|f| 0.1 * f, |f| 0.1 * f), "ground along neither axis");
        assert!(proved(|f| 0.1 * f, |_| 0.3), "a walk");
        assert!(!proved(|_| 2.0, |_| 0.05), "one pose beside the origin");
        assert!(proved(|f| 2.0 + 0.01 * f, |_| 0.05), "the ground is at height 0");
        assert!(!proved(|f| 2.0 + 0.01 * f, |_| 0.3), "the origin is somewhere else");
    }

    #[test]
    fn a_body_that_is_upside_down_is_below_the_other_ground() {
        let upside_down = body(|f| Vec3::new(0.0, 0.1 + 0.01 * f, 0.0));
        assert!(upside_down.is_below(&Vec3::y(), &-Vec3::y()));
        // A world whose up is -Y has its bodies there.
        let stands = body(|f| Vec3::new(0.0, -1.7 + 0.01 * f, 0.0));
        assert!(!stands.is_below(&Vec3::y(), &-Vec3::y()) && !upside_down.is_below(&Vec3::y(), &Vec3::z()));
    }

    #[test]
    fn what_a_travelling_body_stands_on_rests() {
        // A body that goes along X: its foot is lowest along Z and rests in nine of ten frames, its hand is lowest along Y.
        let joints = |f: f64, next: f64| {
            let (body, foot) = (Vec3::new(0.2 * f, 0.5, 1.0), Vec3::new(0.2 * next.floor(), 0.4, 0.0));
            vec![body, foot, body - Vec3::y() * 0.4]
        };
        let pairs = (0..10).map(f64::from).map(|f| [joints(f, 0.1 * f), joints(f + 1.0, 0.1 * f)]).collect();
        let body = MovingBody { pairs, size: 1.0 };
        assert!(body.rests(&Vec3::y(), &Vec3::z()) && !body.rests(&Vec3::z(), &Vec3::y()));
    }
}
