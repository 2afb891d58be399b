//! Arms and legs of a robot, with their segments, from the hinges alone.
//!
//! Hinges from the base to each leaf form chains; a limb is what at least three hinges of a chain share with no other. The two
//! limbs that end lowest are legs. The middle hinge (knee, elbow) parts a limb best among the hinges that bend it. Segments are
//! directions fixed in links, so that it does not matter in which pose the file has the robot.

use super::zero_pose::ZeroPose;
use crate::math::{Mat3, Vec3};
use crate::model::{Form, Robot, Side};
use std::collections::{BTreeMap, BTreeSet};

/// Fewest hinges of a limb: a hip or a shoulder has two or three, and the middle is one.
const FEWEST: usize = 3;
/// Most hinges of an arm without a wrist: three of the shoulder and the elbow.
const WITHOUT_WRIST: usize = 4;
/// Arms begin farther than this beside the middle, metres: a neck does not.
const BESIDE: f64 = 0.03;
/// The next hinge that counts for the direction of a segment is farther than this, metres: nearer ones are of the same joint.
const APART: f64 = 0.03;
/// A hinge whose axis has a greater cosine than this to the segment twists it: 37 degrees.
const TWIST: f64 = 0.8;
/// Pull of the limb's root to the mean of its anchors, where parallel axes leave it open; axes pull with 1.
const PULL: f64 = 1e-3;

/// An arm or a leg.
#[derive(Clone, Debug)]
pub(crate) struct Limb {
    /// Its side, by where it begins.
    pub(crate) side: Side,
    /// Its hinges, from the body outwards.
    pub(crate) hinges: Vec<usize>,
    /// The knee or elbow.
    pub(crate) middle: usize,
    /// The link that carries the limb.
    pub(crate) carrier: usize,
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
    pub(crate) legs: [Limb; 2],
    pub(crate) arms: [Option<Limb>; 2],
}

/// A chain's own hinges and its end.
struct Branch {
    hinges: Vec<usize>,
    leaf: usize,
}

impl Limbs {
    /// The limbs of a robot; `None` if it has no two legs of three hinges.
    pub(crate) fn of(robot: &Robot, zero: &ZeroPose) -> Option<Self> {
        let mut branches = branches(robot, zero);
        let height = |branch: &Branch| {
            branch.hinges.last().map_or(f64::MAX, |&last| zero.links[robot.hinges[last].link].translation.z)
        };
        branches.sort_by(|a, b| height(a).total_cmp(&height(b)));
        let mut rest = branches.split_off(branches.len().min(2));
        rest.retain(|branch| zero.anchors[branch.hinges[0]].y.abs() > BESIDE);
        let limb = |branch: &Branch, leg: bool| limb(robot, zero, branch, leg);
        let legs: Vec<Limb> = branches.iter().filter_map(|branch| limb(branch, true)).collect();
        let mut arms = [None, None];
        for branch in rest.iter().skip(rest.len().saturating_sub(2)) {
            let found = limb(branch, false)?;
            let slot = usize::from(found.side == Side::Right);
            arms[slot] = Some(found);
        }
        let [first, second] = <[Limb; 2]>::try_from(legs).ok()?;
        let legs = match (first.side, second.side) {
            (Side::Left, Side::Right) => [first, second],
            (Side::Right, Side::Left) => [second, first],
            _ => return None,
        };
        Some(Self { legs, arms })
    }

    /// The link that carries the legs.
    pub(crate) fn pelvis(&self) -> usize {
        self.legs[0].carrier
    }

    /// The link that carries the arms; the pelvis if there are none.
    pub(crate) fn torso(&self) -> usize {
        self.arms.iter().flatten().next().map_or(self.pelvis(), |arm| arm.carrier)
    }

    /// Mean length of thigh and shin together.
    pub(crate) fn leg_length(&self) -> f64 {
        self.legs.iter().flat_map(|leg| leg.lengths).sum::<f64>() / 2.0
    }
}

/// The hinges of every chain that no other chain has.
fn branches(robot: &Robot, zero: &ZeroPose) -> Vec<Branch> {
    let parents: BTreeSet<usize> = robot.links.iter().filter_map(|link| link.parent).collect();
    let mut ends: BTreeMap<&[usize], usize> = BTreeMap::new();
    for leaf in (0..robot.links.len()).filter(|link| !parents.contains(link)) {
        let chain = zero.chains[leaf].as_slice();
        let Some(&last) = chain.last().filter(|_| chain.len() >= FEWEST) else { continue };
        let reach = |link: usize| (zero.links[link].translation - zero.anchors[last]).norm();
        let end = ends.entry(chain).or_insert(leaf);
        if reach(leaf) > reach(*end) {
            *end = leaf;
        }
    }
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    ends.keys().flat_map(|chain| chain.iter()).for_each(|&hinge| *uses.entry(hinge).or_default() += 1);
    let own = |(chain, leaf): (&&[usize], &usize)| Branch {
        hinges: chain.iter().copied().filter(|hinge| uses[hinge] == 1).collect(),
        leaf: *leaf,
    };
    ends.iter().map(own).filter(|branch| branch.hinges.len() >= FEWEST).collect()
}

fn limb(robot: &Robot, zero: &ZeroPose, branch: &Branch, leg: bool) -> Option<Limb> {
    let hinges = &branch.hinges;
    let (first, last) = (*hinges.first()?, *hinges.last()?);
    let link = |hinge: usize| robot.hinges[hinge].link;
    let at = |hinge: usize| zero.anchors[hinge];
    let end_point =
        if leg { zero.links[link(last)].translation } else { tip_of_arm(robot, zero, branch, at(last)) };
    let middle = middle(zero, hinges, end_point)?;
    let (before, after): (Vec<usize>, Vec<usize>) =
        hinges.iter().filter(|hinge| **hinge != middle).partition(|hinge| **hinge < middle);
    let root = common_point(zero, &before);
    let bends = |hinge: &&usize| {
        let line = (end_point - at(middle)).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        zero.axes[**hinge].dot(&line).abs() < TWIST
    };
    let wrist = after.iter().find(bends);
    let tip = match (leg, after.last(), wrist) {
        (true, Some(&ankle), _) => at(ankle),
        (_, _, Some(&wrist)) => at(wrist),
        _ => end_point,
    };
    let (upper, lower) = (link(*before.last()?), link(middle));
    let direction = |link: usize, to: Vec3, from: Vec3| {
        Some(zero.links[link].rotation.inverse() * (to - from).try_normalize(1e-6)?)
    };
    Some(Limb {
        side: if at(first).y > 0.0 { Side::Left } else { Side::Right },
        hinges: hinges.clone(),
        middle,
        carrier: robot.links[link(first)].parent?,
        upper,
        lower,
        end: link(last),
        bends: wrist.is_some(),
        root,
        tip,
        upper_direction: direction(upper, at(middle), root)?,
        lower_direction: direction(lower, tip, at(middle))?,
        lengths: [(at(middle) - root).norm(), (tip - at(middle)).norm()],
    })
}

/// The end of an arm: the origin of its last link; where an arm without a wrist has its elbow there, the far end of that link's
/// shapes.
fn tip_of_arm(robot: &Robot, zero: &ZeroPose, branch: &Branch, last: Vec3) -> Vec3 {
    let leaf = zero.links[branch.leaf];
    let far = |a: &Vec3, b: &Vec3| (a - last).norm().total_cmp(&(b - last).norm());
    let ends = robot.links[branch.leaf].shapes.iter().flat_map(|shape| {
        let along = match shape.form {
            Form::Sphere { .. } => Vec3::zeros(),
            Form::Capsule { half, .. } | Form::Cylinder { half, .. } => Vec3::z() * half,
            Form::Box { half } => {
                let long = half.imax();
                Vec3::ith(long, half[long])
            }
        };
        [along, -along].map(|end| (leaf * shape.link_from_shape).point(&end))
    });
    let at_elbow = branch.hinges.len() <= WITHOUT_WRIST && (leaf.translation - last).norm() < APART;
    ends.filter(|_| at_elbow).max_by(far).unwrap_or(leaf.translation)
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
