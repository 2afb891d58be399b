//! The joint tree at rest with the quantities that shape detection needs: positions, reach, skin share, ancestry.
//!
//! All are computed in single passes. Space: that of the rest pose. Units: any, the same for all.

use super::shape_evidence::ShapeEvidence;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Skeleton};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Children of a joint that are compared, those with the longest reach: bodies have a handful of branches per joint,
/// and a thousand loose joints must not cost a million comparisons.
const MOST_BRANCHES: usize = 16;

/// Two joints nearer than this share of the figure's size are at one position.
const SAME_PLACE: f64 = 0.005;

/// The joints by index, as in the skeleton.
pub(super) struct Tree {
    /// Position of each joint.
    pub at: Vec<Vec3>,
    /// Parent joint.
    pub parent: Vec<Option<usize>>,
    /// Children without end markers, those with the longest reach first.
    pub children: Vec<Vec<usize>>,
    /// Distance to the parent.
    pub bone: Vec<f64>,
    /// Length of the longest chain from a joint outwards, tips included.
    pub reach: Vec<f64>,
    /// Where the bone of a leaf joint ends, if known.
    pub tip: Vec<Option<Vec3>>,
    /// Whether `tip` is the position of a node without skin, which any tool may have moved.
    pub bare_tip: Vec<bool>,
    /// Share of the skin that each joint moves; `None` without a skin.
    pub skin: Option<Vec<f64>>,
    /// Whether the skin is rigid parts.
    rigid: bool,
    /// Share of the skin that a joint and its descendants move; 0 without skin.
    pub below: Vec<f64>,
    /// Positions of all joints in sampled frames of a clip; empty without one.
    pub frames: Vec<Vec<Vec3>>,
    /// Whether a joint is an end marker, which only gives the end of its parent's bone.
    pub bare: Vec<bool>,
    /// The compared children of joints with more than [`MOST_BRANCHES`].
    compared: BTreeMap<usize, Vec<usize>>,
    enter: Vec<usize>,
    leave: Vec<usize>,
    /// Cache of [`Tree::flexion`] of a joint, its parent and grandparent: many limb candidates need it.
    flexions: Vec<OnceCell<f64>>,
}

impl Tree {
    /// The tree of `skeleton` at rest.
    pub fn new(
        skeleton: &Skeleton,
        rest: &ModelPose,
        evidence: &ShapeEvidence,
        frames: Vec<Vec<Vec3>>,
    ) -> Tree {
        let (n, mass) = (skeleton.len(), evidence.mass);
        let at: Vec<Vec3> = skeleton.ids().map(|id| rest.position(id)).collect();
        let parent: Vec<Option<usize>> = skeleton.parents().iter().map(|p| p.map(JointId::index)).collect();
        let bone = (0..n).map(|k| parent[k].map_or(0.0, |p| (at[k] - at[p]).norm())).collect();
        let total = mass.map_or(0.0, |m| m.iter().sum::<f64>());
        let skin = mass.filter(|_| total > 0.0).map(|m| m.iter().map(|x| x / total).collect::<Vec<f64>>());
        let tip: Vec<_> =
            skeleton.ids().map(|id| Some(rest.joint(id).point(&skeleton.joint(id).tip?))).collect();
        let bare_tip = tip.iter().map(|t| t.is_some() && skin.is_some() && !evidence.rigid).collect();
        let mut tree = Tree {
            at,
            parent,
            children: skeleton.ids().map(|id| ids(skeleton.children(id))).collect(),
            bone,
            reach: vec![0.0; n],
            tip,
            bare_tip,
            skin,
            rigid: evidence.rigid,
            below: vec![0.0; n],
            frames,
            bare: vec![false; n],
            compared: BTreeMap::new(),
            enter: vec![0; n],
            leave: vec![0; n],
            flexions: vec![OnceCell::new(); n],
        };
        tree.remove_bare_ends();
        tree.sweep();
        tree
    }

    /// Removes leaf joints that are no body parts. A leaf without skin after a joint with skin is only its tip;
    /// without any skin, so is a leaf without a tip where other leaves have one. A leaf at the position of its parent
    /// has the parent's rigid mesh, or nothing.
    fn remove_bare_ends(&mut self) {
        let tips = self.tip.iter().any(Option::is_some);
        let size = self.at.iter().map(|p| (p - self.at[0]).norm()).fold(0.0, f64::max);
        for k in (1..self.at.len()).rev() {
            let Some(p) = self.parent[k] else { continue };
            if !self.children[k].is_empty() || self.tip[k].is_some() {
                continue;
            }
            let coincides = self.skin.is_some() && self.bone[k] < SAME_PLACE * size;
            let bare = match &self.skin {
                Some(skin) => !self.rigid && skin[k] <= 0.0 && skin[p] > 0.0,
                None => tips,
            };
            self.bare[k] = coincides || bare;
            if let Some(skin) = self.skin.as_mut().filter(|_| coincides) {
                skin[p] += skin[k];
                skin[k] = 0.0;
            } else if bare && self.children[p].len() == 1 {
                self.tip[p] = Some(self.at[k]);
                self.bare_tip[p] = self.skin.is_some();
            }
        }
        for list in &mut self.children {
            list.retain(|&c| !self.bare[c]);
        }
    }

    /// Computes reach and skin from the leaves inwards, sorts branches, and assigns the depth-first intervals for
    /// ancestry tests.
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
            self.compared.insert(k, some);
        }
        // Parents first: each joint assigns the next free interval to its children.
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

    /// Whether `k` is `above` or a descendant of it.
    pub fn is_below(&self, k: usize, above: usize) -> bool {
        self.enter[above] <= self.enter[k] && self.enter[k] < self.leave[above]
    }

    /// The children of a joint to compare: of a heap of loose joints those with the longest chains.
    pub fn branches(&self, k: usize) -> &[usize] {
        self.compared.get(&k).unwrap_or(&self.children[k])
    }

    /// Whether a joint or one below it moves skin; true for all without a skin or of rigid parts, which not every joint has.
    pub fn has_skin(&self, k: usize) -> bool {
        self.skin.is_none() || self.rigid || self.below[k] > 0.0
    }

    /// The joints from `k` to the root, `k` first.
    pub fn upwards(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(k), |&j| self.parent[j])
    }

    /// The joints from `k` outwards along the child with the longest reach, `k` first.
    pub fn outwards(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(k), |&j| self.children[j].first().copied())
    }

    /// The lowest common ancestor.
    pub fn meet(&self, a: usize, b: usize) -> usize {
        self.upwards(a).find(|&k| self.is_below(b, k)).unwrap_or(0)
    }

    /// The joints on the path from `above` (excluded) to `k`.
    pub fn path(&self, above: usize, k: usize) -> Vec<usize> {
        let mut path: Vec<usize> = self.upwards(k).take_while(|&j| j != above).collect();
        path.reverse();
        path
    }

    /// Range of the angle at `b` between the bones `ab` and `bc` over the frames, radians: 0 for a joint that only
    /// twists, or without a clip.
    pub fn flexion(&self, a: usize, b: usize, c: usize) -> f64 {
        match self.parent[c] == Some(b) && self.parent[b] == Some(a) {
            true => *self.flexions[c].get_or_init(|| self.flexion_of(a, b, c)),
            false => self.flexion_of(a, b, c),
        }
    }

    fn flexion_of(&self, a: usize, b: usize, c: usize) -> f64 {
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
