//! Joint angles compared with the published ranges of motion; the largest violations first.
//!
//! Angles are the two swings and the twist of a joint; the one that leaves its range the furthest is shown. Space: local rotations. Units: radians.

use crate::body::{MotionRange, range_of_motion};
use crate::ik::SwingTwist;
use crate::model::{JointId, Motion, Role, Side};
use crate::parallel;

/// Most joints shown.
const SHOWN: usize = 4;
/// An excess below this is rounding, radians.
const EXACT: f64 = 1e-6;

/// One angle of one joint over the frames of a clip.
#[derive(Clone, Debug)]
pub(super) struct Angle {
    pub(super) role: Role,
    /// Which of the joint's angles: `bend`, `side`, `twist`.
    pub(super) what: &'static str,
    pub(super) values: Vec<f64>,
    pub(super) allowed: [f64; 2],
    /// The largest violation of its range, and its frame.
    pub(super) excess: f64,
    pub(super) worst: usize,
}

/// The worst angle of each joint with a range of motion, those furthest outside first.
pub(super) fn worst_angles(motion: &Motion) -> Vec<Angle> {
    let character = &*motion.character;
    let rig = &character.rig;
    let bind = character.reference_pose();
    let fingers = |role: &Role| matches!(role, Role::Finger(..) | Role::Toes(_));
    let looked_at: Vec<_> = rig
        .assignments()
        .filter(|(role, _)| !fingers(role))
        .filter_map(|(role, a)| Some((role, a.joint, range_of_motion(rig, &bind, a.joint)?)))
        .collect();
    let worst =
        |(role, joint, range): &(Role, JointId, MotionRange)| worst_of(*role, range, motion, joint.index());
    let mut all: Vec<Angle> = parallel::map_each(&looked_at, 1, worst);
    all.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(a.role.cmp(&b.role)));
    all
}

/// The angles to show: those that leave their range, the furthest first; knees and elbows if none does.
pub(super) fn angles(motion: &Motion) -> Vec<Angle> {
    let mut all = worst_angles(motion);
    if all.first().is_some_and(|a| a.excess > EXACT) {
        all.retain(|a| a.excess > EXACT);
    } else {
        let telling = |role| {
            let sides = Side::BOTH;
            sides.iter().any(|&s| role == Role::LowerLeg(s) || role == Role::LowerArm(s))
        };
        all.retain(|a| telling(a.role));
    }
    all.truncate(SHOWN);
    all
}

/// The angle of a joint that leaves its range the furthest, or its bend if none does.
fn worst_of(role: Role, range: &MotionRange, motion: &Motion, joint: usize) -> Angle {
    let limit = SwingTwist::from(*range);
    let frames = motion.clip.frames();
    let mut curves = [Vec::with_capacity(frames), Vec::with_capacity(frames), Vec::with_capacity(frames)];
    for frame in 0..frames {
        let found = limit.angles(&motion.clip.rotations(frame)[joint]);
        for (curve, angle) in curves.iter_mut().zip(found) {
            curve.push(angle);
        }
    }
    let allowed = [range.swing[0], range.swing[1], range.twist];
    let mut worst: Option<Angle> = None;
    for ((what, values), allowed) in ["bend", "side", "twist"].into_iter().zip(curves).zip(allowed) {
        let excess = |x: &f64| (x - allowed[1]).max(allowed[0] - x).max(0.0);
        let (at, most) = values
            .iter()
            .map(excess)
            .enumerate()
            .fold((0, 0.0), |best, (f, e)| if e > best.1 { (f, e) } else { best });
        if worst.as_ref().is_none_or(|w| most > w.excess + EXACT) {
            worst = Some(Angle { role, what, values, allowed, excess: most, worst: at });
        }
    }
    worst.expect("three angles were looked at")
}
