//! A skeleton at rest becomes a tree of places, as far as the shape of a body can be read off it: reach, skin and who
//! lies below whom are found in single sweeps.
//!
//! Space: that of the rest pose. Units: any, the same for all.

use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Skeleton};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Children of one joint that are looked at, the ones that reach furthest: bodies part into a handful of branches, and a
/// heap of a thousand loose joints must not cost a million comparisons.
const MOST_BRANCHES: usize = 16;

/// Two joints nearer to each other than this share of the figure's size lie in one place.
const SAME_PLACE: f64 = 0.005;

/// The joints by their places. Joints are numbers here, as in the skeleton.
pub(super) struct Tree {
    /// Where each joint lies.
    pub at: Vec<Vec3>,
    /// The joint above.
    pub parent: Vec<Option<usize>>,
    /// The branches below, without bare ends, the ones that reach furthest first.
    pub children: Vec<Vec<usize>>,
    /// How far a joint lies from the one above.
    pub bone: Vec<f64>,
    /// How far it goes on from a joint outwards, tips included.
    pub reach: Vec<f64>,
    /// Where the bone of an end joint ends, as far as that is known.
    pub tip: Vec<Option<Vec3>>,
    /// The share of the skin that each joint moves; `None` where there is no skin to weigh.
    pub skin: Option<Vec<f64>>,
    /// The share of the skin that a joint and all below it move; 0 without skin.
    pub below: Vec<f64>,
    /// The places of all joints in some frames of a clip; empty without one.
    pub frames: Vec<Vec<Vec3>>,
    /// Whether a joint is an end that only tells where the bone before it ends.
    pub bare: Vec<bool>,
    /// Of joints with more children than are looked at, those that are.
    looked_at: BTreeMap<usize, Vec<usize>>,
    enter: Vec<usize>,
    leave: Vec<usize>,
    /// What [`Tree::bends`] has found of a joint, the one above it and the one above that: many limbs ask for it.
    bent: Vec<OnceCell<f64>>,
}

impl Tree {
    /// The tree of `skeleton` at rest. `mass` is the summed weight of the vertices of each joint.
    pub fn new(skeleton: &Skeleton, rest: &ModelPose, mass: Option<&[f64]>, frames: Vec<Vec<Vec3>>) -> Tree {
        let n = skeleton.len();
        let at: Vec<Vec3> = skeleton.ids().map(|id| rest.position(id)).collect();
        let parent: Vec<Option<usize>> = skeleton.parents().iter().map(|p| p.map(JointId::index)).collect();
        let bone = (0..n).map(|k| parent[k].map_or(0.0, |p| (at[k] - at[p]).norm())).collect();
        let total = mass.map_or(0.0, |m| m.iter().sum::<f64>());
        let skin = mass.filter(|_| total > 0.0).map(|m| m.iter().map(|x| x / total).collect::<Vec<f64>>());
        let tip = skeleton.ids().map(|id| Some(rest.joint(id).point(&skeleton.joint(id).tip?))).collect();
        let mut tree = Tree {
            at,
            parent,
            children: skeleton.ids().map(|id| ids(skeleton.children(id))).collect(),
            bone,
            reach: vec![0.0; n],
            tip,
            skin,
            below: vec![0.0; n],
            frames,
            bare: vec![false; n],
            looked_at: BTreeMap::new(),
            enter: vec![0; n],
            leave: vec![0; n],
            bent: vec![OnceCell::new(); n],
        };
        tree.take_bare_ends();
        tree.sweep();
        tree
    }

    /// Takes out ends that are no body parts. Joints without skin at the end of a chain that has skin only say where the
    /// chain ends; without any skin, so do those without a tip where other ends have one. An end in the place of the
    /// joint above carries that joint's rigid mesh, or nothing.
    fn take_bare_ends(&mut self) {
        let tips = self.tip.iter().any(Option::is_some);
        let size = self.at.iter().map(|p| (p - self.at[0]).norm()).fold(0.0, f64::max);
        for k in (1..self.at.len()).rev() {
            let Some(p) = self.parent[k] else { continue };
            if !self.children[k].is_empty() || self.tip[k].is_some() {
                continue;
            }
            let carries = self.skin.is_some() && self.bone[k] < SAME_PLACE * size;
            let bare = match &self.skin {
                Some(skin) => skin[k] <= 0.0 && skin[p] > 0.0,
                None => tips,
            };
            self.bare[k] = carries || bare;
            if let Some(skin) = self.skin.as_mut().filter(|_| carries) {
                skin[p] += skin[k];
                skin[k] = 0.0;
            } else if bare && self.children[p].len() == 1 {
                self.tip[p] = Some(self.at[k]);
            }
        }
        for list in &mut self.children {
            list.retain(|&c| !self.bare[c]);
        }
    }

    /// Reach and skin from the ends inwards, the order of branches, and the spans that tell who is below whom.
    fn sweep(&mut self) {
        let n = self.at.len();
        let mut count = vec![1; n];
        for k in (0..n).rev() {
            let end = self.tip[k].map_or(0.0, |tip| (tip - self.at[k]).norm());
            let through = |&c: &usize| self.bone[c] + self.reach[c];
            self.reach[k] = self.children[k].iter().map(through).fold(end, f64::max);
            self.below[k] += self.skin.as_ref().map_or(0.0, |s| s[k]);
            if let Some(p) = self.parent[k] {
                self.below[p] += self.below[k];
                count[p] += count[k];
            }
        }
        let (bone, reach) = (&self.bone, &self.reach);
        for list in &mut self.children {
            list.sort_by(|&a, &b| (bone[b] + reach[b]).total_cmp(&(bone[a] + reach[a])));
        }
        for (k, all) in self.children.iter().enumerate().filter(|(_, all)| all.len() > MOST_BRANCHES) {
            let mut some = all.clone();
            some.sort_by(|&a, &b| reach[b].total_cmp(&reach[a]).then(bone[b].total_cmp(&bone[a])));
            some.truncate(MOST_BRANCHES);
            self.looked_at.insert(k, some);
        }
        // Parents first: each joint hands out the next free span to its children.
        let mut next = vec![0; n];
        for k in 0..n {
            let start = self.parent[k].map_or(0, |p| next[p]);
            self.enter[k] = start;
            self.leave[k] = start + count[k];
            next[k] = start + 1;
            if let Some(p) = self.parent[k] {
                next[p] = self.leave[k];
            }
        }
    }

    /// Whether `k` is `above` or lies below it.
    pub fn is_below(&self, k: usize, above: usize) -> bool {
        self.enter[above] <= self.enter[k] && self.enter[k] < self.leave[above]
    }

    /// The branches of a joint that are looked at: of a heap of loose joints those with the longest chains.
    pub fn branches(&self, k: usize) -> &[usize] {
        self.looked_at.get(&k).unwrap_or(&self.children[k])
    }

    /// The joints from `k` up to the root, `k` first.
    pub fn upwards(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(k), |&j| self.parent[j])
    }

    /// The joints from `k` outwards along the branch that reaches furthest, `k` first.
    pub fn outwards(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(k), |&j| self.children[j].first().copied())
    }

    /// The last joint that is at or above both.
    pub fn meet(&self, a: usize, b: usize) -> usize {
        self.upwards(a).find(|&k| self.is_below(b, k)).unwrap_or(0)
    }

    /// The joints below `above` on the way to `k`, from `above` outwards, `above` left out.
    pub fn way(&self, above: usize, k: usize) -> Vec<usize> {
        let mut way: Vec<usize> = self.upwards(k).take_while(|&j| j != above).collect();
        way.reverse();
        way
    }

    /// How much the bone at `b` turns against the one before it over the frames, in radians: 0 for a joint that only
    /// twists, or without a clip.
    pub fn bends(&self, a: usize, b: usize, c: usize) -> f64 {
        match self.parent[c] == Some(b) && self.parent[b] == Some(a) {
            true => *self.bent[c].get_or_init(|| self.bending(a, b, c)),
            false => self.bending(a, b, c),
        }
    }

    fn bending(&self, a: usize, b: usize, c: usize) -> f64 {
        let cosine = |p: &Vec<Vec3>| {
            let (first, second) = (p[b] - p[a], p[c] - p[b]);
            let lengths = first.norm() * second.norm();
            if lengths > 0.0 { (first.dot(&second) / lengths).clamp(-1.0, 1.0) } else { 1.0 }
        };
        let (least, most) = (self.frames.iter().map(cosine))
            .fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
        if least < most { libm::acos(least) - libm::acos(most) } else { 0.0 }
    }
}

fn ids(list: &[JointId]) -> Vec<usize> {
    list.iter().map(|id| id.index()).collect()
}
