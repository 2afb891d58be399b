//! Chains of hinges that can be limbs, and which of them are legs and arms.
//!
//! A chain begins where the body parts and ends at its last hinge, or at the fork of a hand or foot: what grows there is shorter
//! than the chain. Legs are the lowest pair of chains that mirror each other and reach down, arms the longest such pair above the
//! hips. Eyes are a pair that is short, a neck, a tail and an antenna are alone.

use super::zero_pose::ZeroPose;
use crate::math::Vec3;
use crate::model::{Form, Robot};

/// Fewest hinges of a limb: a hip or a shoulder has two or three, and the middle is one.
const FEWEST: usize = 3;
/// Most hinges of an arm without a wrist: three of the shoulder and the elbow.
const WITHOUT_WRIST: usize = 4;
/// A chain that ends this near to its last hinge, metres, ends in that hinge.
const APART: f64 = 0.03;
/// Limbs of a pair begin farther apart than this, in their lengths: hips of robots are 0.2 apart, what is in the middle 0.
const ASIDE: f64 = 0.08;
/// The line between the beginnings of a pair is less steep than this (sine): 17 degrees.
const LEVEL: f64 = 0.3;
/// The mirrored end of one limb of a pair is nearer to the other's than this, in their lengths: a zero pose need not be exact.
const MIRRORED: f64 = 0.3;
/// Legs reach down by this share of their length: those of a robot that sits by half.
const DOWN: f64 = 0.5;
/// An arm is longer than this share of a leg: arms of the shortest that are known (OP3) have half, eyes and antennae a tenth.
const ARM: f64 = 0.3;
/// An arm that is alone is longer than this share of a leg: no twin confirms it.
const LONE_ARM: f64 = 0.5;
/// The lines across legs and across arms have a greater cosine than this: 26 degrees.
const PARALLEL: f64 = 0.9;
/// The middle of arms is this near to the plane between the legs, in lengths of a leg; an arm that is alone is farther.
const CENTRED: f64 = 0.1;
/// Four limbs that begin and end within this height, in lengths of a leg, are four legs.
const SAME_HEIGHT: f64 = 0.25;

/// A chain of hinges.
#[derive(Clone, Debug)]
pub(super) struct HingeChain {
    /// Its hinges, from the body outwards.
    pub(super) hinges: Vec<usize>,
    /// Where it ends.
    pub(super) end: Vec3,
    /// The hinge before the first one.
    before: Option<usize>,
    /// Where it begins.
    root: Vec3,
    /// The mean of its hinges.
    centre: Vec3,
    length: f64,
}

/// Two chains that mirror each other.
#[derive(Clone, Copy)]
struct ChainPair<'a> {
    chains: [&'a HingeChain; 2],
    /// From the beginning of the second to that of the first, of length one.
    across: Vec3,
    middle: Vec3,
    length: f64,
}

/// The chains of a humanoid.
pub(super) struct LimbChains {
    pub(super) legs: [HingeChain; 2],
    /// None, one or two.
    pub(super) arms: Vec<HingeChain>,
}

impl LimbChains {
    /// The limbs of a robot.
    pub(super) fn of(robot: &Robot, zero: &ZeroPose) -> Result<Self, &'static str> {
        let chains = chains(robot, zero);
        let pairs: Vec<ChainPair<'_>> = (0..chains.len())
            .flat_map(|a| (a + 1..chains.len()).map(move |b| (a, b)))
            .filter_map(|(a, b)| ChainPair::of([&chains[a], &chains[b]]))
            .collect();
        let down = |pair: &&ChainPair<'_>| pair.chains.iter().all(|c| c.root.z - c.end.z > DOWN * c.length);
        let legs = pairs.iter().filter(down).min_by(|a, b| a.ends().total_cmp(&b.ends()));
        let legs = legs.ok_or("no two limbs of three hinges each mirror each other and reach down")?;
        let others = |chain: &HingeChain| legs.chains.iter().all(|leg| leg.hinges[0] != chain.hinges[0]);
        let lateral = |pair: &&ChainPair<'_>| {
            let off = legs.across.dot(&(pair.middle - legs.middle)).abs();
            pair.across.dot(&legs.across).abs() > PARALLEL
                && off < CENTRED * legs.length
                && pair.length > ARM * legs.length
                && pair.chains.iter().all(|chain| others(chain))
        };
        let rise = |pair: &ChainPair<'_>| pair.middle.z - legs.middle.z;
        let near = SAME_HEIGHT * legs.length;
        let four = |pair: &ChainPair<'_>| rise(pair).abs() < near && (pair.ends() - legs.ends()).abs() < near;
        if pairs.iter().filter(lateral).any(four) {
            return Err("four of its limbs begin and end at one height: it goes on four legs");
        }
        let arms = pairs.iter().filter(lateral).filter(|pair| rise(pair) > 0.0);
        let arms = arms.max_by(|a, b| a.length.total_cmp(&b.length)).map(|pair| pair.chains.to_vec());
        let alone = |chain: &&HingeChain| {
            others(chain)
                && chain.length > LONE_ARM * legs.length
                && chain.root.z > legs.middle.z
                && legs.across.dot(&(chain.root - legs.middle)).abs() > CENTRED * legs.length
        };
        let alone = || chains.iter().filter(alone).max_by(|a, b| a.length.total_cmp(&b.length));
        let arms = arms.unwrap_or_else(|| alone().into_iter().collect());
        Ok(Self { legs: legs.chains.map(Clone::clone), arms: arms.into_iter().cloned().collect() })
    }

    /// The direction from one leg to the other, of length one.
    pub(super) fn across(&self) -> Vec3 {
        (self.legs[0].root - self.legs[1].root).try_normalize(0.0).unwrap_or_else(Vec3::y)
    }
}

impl<'a> ChainPair<'a> {
    fn of([a, b]: [&'a HingeChain; 2]) -> Option<Self> {
        let length = a.length.max(b.length);
        // Clavicles may begin at one point, in the middle of the chest.
        let at_roots = (a.root - b.root).norm() > ASIDE * length;
        let [from, to] = [a, b].map(|chain| if at_roots { chain.root } else { chain.centre });
        let across = (from - to).try_normalize(ASIDE * length)?;
        let middle = (from + to) / 2.0;
        let mirrored = a.end - across * (2.0 * across.dot(&(a.end - middle)));
        let alike = a.before == b.before
            && across.z.abs() < LEVEL
            && (mirrored - b.end).norm() < MIRRORED * length
            && (a.length - b.length).abs() < MIRRORED * length;
        alike.then_some(Self { chains: [a, b], across, middle, length })
    }

    /// Mean height of the ends.
    fn ends(&self) -> f64 {
        (self.chains[0].end.z + self.chains[1].end.z) / 2.0
    }
}

/// The chains of a robot, in the order of the file.
fn chains(robot: &Robot, zero: &ZeroPose) -> Vec<HingeChain> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); robot.hinges.len()];
    let mut before = vec![None; robot.hinges.len()];
    let mut open = Vec::new();
    for (hinge, own) in robot.hinges.iter().enumerate() {
        let chain = &zero.chains[own.link];
        before[hinge] = chain.iter().position(|&h| h == hinge).filter(|&k| k > 0).map(|k| chain[k - 1]);
        match before[hinge] {
            Some(parent) => next[parent].push(hinge),
            None => open.push(hinge),
        }
    }
    open.reverse();
    let apart = |a: usize, b: usize| (zero.anchors[a] - zero.anchors[b]).norm();
    // How far what hangs on a hinge reaches, along the hinges. Parents are before their children.
    let mut below = vec![0.0f64; robot.hinges.len()];
    for hinge in (0..robot.hinges.len()).rev() {
        if let Some(parent) = before[hinge] {
            below[parent] = below[parent].max(apart(parent, hinge) + below[hinge]);
        }
    }
    let mut chains = Vec::new();
    while let Some(first) = open.pop() {
        let (mut hinges, mut last, mut length) = (vec![first], first, 0.0);
        while let [only] = next[last][..] {
            length += apart(last, only);
            last = only;
            hinges.push(only);
        }
        if hinges.len() >= FEWEST && length >= below[last] {
            let end = end(robot, zero, &hinges);
            let length = length + (end - zero.anchors[last]).norm();
            let sum: Vec3 = hinges.iter().map(|&hinge| zero.anchors[hinge]).sum();
            let centre = sum / hinges.len() as f64;
            chains.push(HingeChain {
                centre,
                hinges,
                end,
                before: before[first],
                root: zero.anchors[first],
                length,
            });
        } else {
            open.extend(next[last].iter().rev());
        }
    }
    chains
}

/// The end of a chain: the origin of the farthest link that its last hinge moves; where a chain without a wrist has its elbow
/// there, the far end of that link's shapes, or, where these are meshes that are not read, as far beyond the centre of its mass as
/// that is beyond the elbow: mass is spread along a forearm.
fn end(robot: &Robot, zero: &ZeroPose, hinges: &[usize]) -> Vec3 {
    let hinge = hinges[hinges.len() - 1];
    let (link, last) = (robot.hinges[hinge].link, zero.anchors[hinge]);
    let rigid = |k: &usize| zero.chains[*k] == zero.chains[link];
    let inner: Vec<usize> =
        (link..robot.links.len()).filter(rigid).filter_map(|k| robot.links[k].parent).collect();
    let reach = |k: usize| (zero.links[k].translation - last).norm();
    let mut leaf = None;
    for k in (link..robot.links.len()).filter(rigid).filter(|k| !inner.contains(k)) {
        if leaf.is_none_or(|leaf| reach(k) > reach(leaf)) {
            leaf = Some(k);
        }
    }
    let leaf = leaf.unwrap_or(link);
    let world_from_leaf = zero.links[leaf];
    let far = |a: &Vec3, b: &Vec3| (a - last).norm().total_cmp(&(b - last).norm());
    let ends = robot.links[leaf].shapes.iter().flat_map(|shape| {
        let of_box = |half: Vec3| {
            let long = half.imax();
            Vec3::ith(long, half[long])
        };
        let along = match &shape.form {
            Form::Sphere { .. } => Vec3::zeros(),
            Form::Capsule { half, .. } | Form::Cylinder { half, .. } => Vec3::z() * *half,
            Form::Box { half } => of_box(*half),
            Form::Mesh { points } => of_box(points.iter().fold(Vec3::zeros(), |half, p| half.sup(&p.abs()))),
        };
        [along, -along].map(|end| (world_from_leaf * shape.link_from_shape).point(&end))
    });
    let at_elbow = hinges.len() <= WITHOUT_WRIST && (world_from_leaf.translation - last).norm() < APART;
    let beyond_centre = |centre: Vec3| last + (world_from_leaf.point(&centre) - last) * 2.0;
    let end = || ends.max_by(far).or_else(|| robot.links[leaf].centre.map(beyond_centre));
    at_elbow.then(end).flatten().unwrap_or(world_from_leaf.translation)
}
