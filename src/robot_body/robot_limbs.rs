//! Arms and legs of a robot, with their segments, from the hinges alone.
//!
//! The middle hinge (knee, elbow) parts a limb best among the hinges that bend it. Segments are directions fixed in links, so that
//! it does not matter in which pose the file has the robot.

use super::hinge_chains::{HingeChain, LimbChains};
use super::rigid_foot::RigidFoot;
use super::robot_names::LinkNames;
use super::zero_pose::ZeroPose;
use crate::math::{Mat3, Vec3};
use crate::model::{Robot, Side};

/// Hinges of a shoulder or a hip; those before them are of a clavicle.
const BALL: usize = 3;
/// Fewest hinges of a leg with toes: hip, knee and ankle.
const BEFORE_TOES: usize = 3;
/// Toes are this near to the ankle, in lengths of the leg up to there: feet of people have 0.25 (Winter 2009).
const TOES: f64 = 0.4;
/// Most hinges of forearm and wrist together; those beyond are of a finger.
const WRIST: usize = 3;
/// The next hinge that counts for the direction of a segment is farther than this, metres: nearer ones are of the same joint.
const APART: f64 = 0.03;
/// A hinge whose axis has a greater cosine than this to the segment twists it: 37 degrees.
const TWIST: f64 = 0.8;
/// A knee or an elbow leaves more than this share of the limb on either side: limbs of people have 0.45 to 0.55 (Winter 2009), and a
/// hinge of the shoulder is no elbow.
const PARTS: f64 = 0.2;
/// Pull of the limb's root to the mean of its anchors, where parallel axes leave it open; axes pull with 1.
const PULL: f64 = 1e-3;

/// An arm or a leg.
#[derive(Clone, Debug)]
pub(crate) struct RobotLimb {
    /// Its side, by its root.
    pub(crate) side: Side,
    /// Its hinges, from the body outwards.
    pub(crate) hinges: Vec<usize>,
    /// The knee or elbow.
    pub(crate) middle: usize,
    /// The link on which the limb hangs.
    pub(crate) base: usize,
    /// The link on which its shoulder or hip is: that before the hinges whose axes meet there, after those of a clavicle.
    pub(crate) shoulder: usize,
    /// The link before the middle hinge, after it, and that of the last hinge.
    pub(crate) upper: usize,
    pub(crate) lower: usize,
    pub(crate) end: usize,
    /// Whether hinges beyond the middle can bend the end: a wrist or an ankle.
    pub(crate) bends: bool,
    /// The point nearest to the axes before the middle, in the zero pose.
    pub(crate) root: Vec3,
    /// Ankle or wrist in the zero pose.
    pub(crate) tip: Vec3,
    /// Direction from root to middle in the space of `upper`, and from middle to tip in that of `lower`.
    pub(crate) upper_direction: Vec3,
    pub(crate) lower_direction: Vec3,
    /// Lengths of the two segments.
    pub(crate) lengths: [f64; 2],
}

/// The limbs of a humanoid: left and right.
#[derive(Clone, Debug)]
pub(crate) struct Limbs {
    pub(crate) legs: [RobotLimb; 2],
    pub(crate) arms: [Option<RobotLimb>; 2],
}

impl RobotLimb {
    /// Whether its last hinge is the knee or elbow: no hinge moves what is at its end.
    pub(crate) fn ends_in_middle(&self) -> bool {
        self.hinges.last() == Some(&self.middle)
    }
}

impl Limbs {
    /// The limbs of a robot.
    pub(crate) fn of(robot: &Robot, zero: &ZeroPose) -> Result<Self, &'static str> {
        let chains = LimbChains::of(robot, zero)?;
        let leg = |chain: &HingeChain| {
            let hinges = without_toes(zero, &chain.hinges, chains.across());
            let with_ankle = limb(robot, zero, hinges, None).filter(|leg| !leg.ends_in_middle());
            with_ankle.map_or_else(|| ending_in_knee(robot, zero, hinges, chain.end), Ok)
        };
        let [first, second] = [leg(&chains.legs[0])?, leg(&chains.legs[1])?];
        let legs = match (first.side, second.side) {
            (Side::Left, Side::Right) => [first, second],
            (Side::Right, Side::Left) => [second, first],
            _ => return Err("both legs are on one side"),
        };
        let names = LinkNames::of(robot);
        let is_arm = |leg: &RobotLimb| names.as_ref().is_some_and(|names| names.is_arm(robot, &leg.hinges));
        if chains.arms.is_empty() && legs.iter().all(is_arm) {
            return Err("its two limbs are arms by their names, and there are no others");
        }
        let mut arms = [None, None];
        let arm = |chain: &HingeChain| {
            let whole = limb(robot, zero, &chain.hinges, Some(chain.end))?;
            let fingers = fingers(robot, &whole, names.as_ref());
            let Some(&first) = fingers.first() else { return Some(whole) };
            let count = chain.hinges.len() - fingers.len();
            limb(robot, zero, &chain.hinges[..count], Some(zero.anchors[first]))
        };
        for arm in chains.arms.iter().filter_map(arm) {
            let slot = arm.side.index();
            arms[slot] = Some(arm);
        }
        Ok(Self { legs, arms })
    }

    /// The link on which the legs hang.
    pub(crate) fn pelvis(&self) -> usize {
        self.legs[0].base
    }

    /// The link on which the arms hang; the pelvis if there are none.
    pub(crate) fn torso(&self) -> usize {
        self.arms.iter().flatten().next().map_or(self.pelvis(), |arm| arm.base)
    }

    /// Mean length of thigh and shin together.
    pub(crate) fn leg_length(&self) -> f64 {
        self.legs.iter().flat_map(|leg| leg.lengths).sum::<f64>() / 2.0
    }
}

/// Puts the joints of thighs and upper arms at the centres of hips and shoulders, as those of people are: the last of their hinges
/// may be 10 cm down the thigh, and a leg that begins there is a sixth too short. A joint may be anywhere on its axis.
pub(crate) fn centre_joints(robot: &mut Robot) {
    let zero = ZeroPose::of(robot);
    let Ok(limbs) = Limbs::of(robot, &zero) else { return };
    for limb in limbs.legs.iter().chain(limbs.arms.iter().flatten()) {
        let last = robot.hinges_of(limb.upper).last().map(|(hinge, _)| hinge);
        let Some(last) = last.filter(|hinge| !robot.hinges[*hinge].slides) else { continue };
        let along = (limb.root - zero.anchors[last]).dot(&zero.axes[last]);
        let hinge = &mut robot.hinges[last];
        hinge.joint = hinge.anchor + hinge.axis * along;
    }
}

/// A leg without an ankle, as the humanoid of Gymnasium has: its foot is the lowest part of the shin.
fn ending_in_knee(
    robot: &Robot,
    zero: &ZeroPose,
    hinges: &[usize],
    end: Vec3,
) -> Result<RobotLimb, &'static str> {
    let knee = |leg: &RobotLimb| leg.ends_in_middle();
    limb(robot, zero, hinges, Some(end)).filter(knee).ok_or("a leg has no knee")?;
    let foot = hinges.last().and_then(|&knee| RigidFoot::of(robot, zero, knee));
    let foot = foot.ok_or("a leg has neither an ankle nor a shape that is its foot")?;
    let leg = limb(robot, zero, hinges, Some(foot.tip)).filter(knee);
    let leg = leg.ok_or("a leg has no ankle, and its foot is not at the end of its shin")?;
    Ok(RobotLimb { end: foot.link, ..leg })
}

/// The hinges of a leg up to the ankle: toes are before the ankle, not far, and bend about `across`, which goes from leg to leg.
fn without_toes<'a>(zero: &ZeroPose, hinges: &'a [usize], across: Vec3) -> &'a [usize] {
    let step = |k: usize| zero.anchors[hinges[k]] - zero.anchors[hinges[k - 1]];
    let mut count = hinges.len();
    while count > BEFORE_TOES {
        let line = step(count - 1);
        let level = libm::hypot(line.x, line.y);
        let leg: f64 = (1..count - 1).map(|k| step(k).norm()).sum();
        let bends = zero.axes[hinges[count - 1]].dot(&across).abs() > TWIST;
        if !(bends && level > APART && level > line.z.abs() && line.norm() < TOES * leg) {
            break;
        }
        count -= 1;
    }
    &hinges[..count]
}

/// The hinges of an arm that are of a finger without a fork before it: those beyond the wrist's, slides, and what is named as one.
fn fingers<'a>(robot: &Robot, arm: &'a RobotLimb, names: Option<&LinkNames>) -> &'a [usize] {
    let middle = arm.hinges.iter().position(|&hinge| hinge == arm.middle).unwrap_or(0);
    let is_finger = |hinge: usize| {
        let own = &robot.hinges[hinge];
        own.slides || names.is_some_and(|names| names.is_finger(own.link))
    };
    let beyond = middle + 1..arm.hinges.len();
    let first = beyond.clone().find(|&k| k > middle + WRIST || is_finger(arm.hinges[k]));
    &arm.hinges[first.unwrap_or(beyond.end)..]
}

/// An arm with its end, or a leg.
fn limb(robot: &Robot, zero: &ZeroPose, hinges: &[usize], end: Option<Vec3>) -> Option<RobotLimb> {
    let (first, last) = (*hinges.first()?, *hinges.last()?);
    let link = |hinge: usize| robot.hinges[hinge].link;
    let at = |hinge: usize| zero.anchors[hinge];
    let end_point = end.unwrap_or(zero.links[link(last)].translation);
    let middle = middle(zero, hinges, end_point)?;
    let (before, after): (Vec<usize>, Vec<usize>) =
        hinges.iter().filter(|hinge| **hinge != middle).partition(|hinge| **hinge < middle);
    let ball = &before[before.len().saturating_sub(BALL)..];
    let root = common_point(zero, ball);
    let bends = |hinge: &&usize| {
        let line = (end_point - at(middle)).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        zero.axes[**hinge].dot(&line).abs() < TWIST
    };
    let wrist = after.iter().find(bends);
    let tip = match (end.is_none(), after.last(), wrist) {
        (true, Some(&ankle), _) => at(ankle),
        (_, _, Some(&wrist)) => at(wrist),
        _ => end_point,
    };
    let (upper, lower) = (link(*before.last()?), link(middle));
    let lengths = [(at(middle) - root).norm(), (tip - at(middle)).norm()];
    if lengths[0].min(lengths[1]) < PARTS * (lengths[0] + lengths[1]) {
        return None;
    }
    let direction = |link: usize, to: Vec3, from: Vec3| {
        Some(zero.links[link].rotation.inverse() * (to - from).try_normalize(1e-6)?)
    };
    Some(RobotLimb {
        side: if root.y > 0.0 { Side::Left } else { Side::Right },
        hinges: hinges.to_vec(),
        middle,
        base: robot.links[link(first)].parent?,
        shoulder: robot.links[link(*ball.first()?)].parent?,
        upper,
        lower,
        end: link(last),
        bends: wrist.is_some(),
        root,
        tip,
        upper_direction: direction(upper, at(middle), root)?,
        lower_direction: direction(lower, tip, at(middle))?,
        lengths,
    })
}

/// The hinge that bends a limb and is farthest from its beginning and its end.
fn middle(zero: &ZeroPose, hinges: &[usize], end: Vec3) -> Option<usize> {
    let at = |hinge: usize| zero.anchors[hinge];
    let mut best = None;
    for &hinge in &hinges[1..] {
        let beyond = hinges.iter().filter(|other| **other > hinge).map(|&other| at(other));
        let next = beyond.chain([end]).find(|point| (point - at(hinge)).norm() > APART);
        let line = next.map(|point| (point - at(hinge)).normalize());
        if line.is_some_and(|line| zero.axes[hinge].dot(&line).abs() > TWIST) {
            continue;
        }
        let parts = (at(hinge) - at(hinges[0])).norm().min((end - at(hinge)).norm());
        if best.is_none_or(|(most, _)| parts > most) {
            best = Some((parts, hinge));
        }
    }
    best.map(|(_, hinge)| hinge)
}

/// The point nearest to the axes of some hinges, least squares.
fn common_point(zero: &ZeroPose, hinges: &[usize]) -> Vec3 {
    let mean = hinges.iter().map(|&hinge| zero.anchors[hinge]).sum::<Vec3>() / hinges.len().max(1) as f64;
    let (mut matrix, mut sum) = (Mat3::identity() * PULL, mean * PULL);
    for &hinge in hinges {
        let across = Mat3::identity() - zero.axes[hinge] * zero.axes[hinge].transpose();
        matrix += across;
        sum += across * zero.anchors[hinge];
    }
    matrix.try_inverse().map_or(mean, |inverse| inverse * sum)
}
