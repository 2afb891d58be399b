//! The pose of a model from the own motion of its bones: bones that copy others, and chains.
//!
//! Bones are evaluated by layer, then in their order. The rotation of a bone is that of its chain, its own and its share of another
//! bone's, applied from the last to the first. A leg (a knee with one axis and a thigh without limits) is solved in closed form: the
//! knee bends until the ankle has the distance of the goal from the hip joint, then the thigh swings onto the goal along the shortest
//! arc. Other chains are solved by cyclic coordinate descent (Wang and Chen 1991), as MikuMikuDance does, with its number of passes
//! and its largest rotation in each. Space: model space. Units: metres, radians.

use crate::math::{Quat, Transform, Vec3, arc, exp, log, twist_angle};
use crate::mmd_document::{IkChain, IkLink, MmdBone};
use std::f64::consts::{PI, TAU};

/// A target closer than this to its goal has reached it, metres: a hundredth of a millimetre.
const REACHED: f64 = 1e-5;

/// The state of a model in one frame.
pub(super) struct PoseSolver<'a> {
    bones: &'a [MmdBone],
    /// The bones by layer, and parents first.
    order: Vec<usize>,
    parents_first: Vec<usize>,
    own: Vec<Transform>,
    shares: Vec<Transform>,
    /// What chains add to the bones.
    solved: Vec<Quat>,
    locals: Vec<Transform>,
    model: Vec<Transform>,
}

impl<'a> PoseSolver<'a> {
    pub(super) fn new(bones: &'a [MmdBone]) -> Self {
        let mut order: Vec<usize> = (0..bones.len()).collect();
        order.sort_by_key(|&k| bones[k].order);
        let depths = depths(bones);
        let mut parents_first: Vec<usize> = (0..bones.len()).collect();
        parents_first.sort_by_key(|&k| depths[k]);
        let rest = vec![Transform::identity(); bones.len()];
        let solved = vec![Quat::identity(); bones.len()];
        let (own, shares, locals, model) = (rest.clone(), rest.clone(), rest.clone(), rest);
        Self { bones, order, parents_first, own, shares, solved, locals, model }
    }

    /// Steps of work for a pose: one for a few transforms.
    pub(super) fn steps(&self) -> u64 {
        let depths = depths(self.bones);
        // The products that place a bone: the target and the link are placed for each rotation of a link, the goal once.
        let placing = |k: usize| depths[k] as u64 + 1;
        let chain = |(goal, bone): (usize, &MmdBone)| {
            let Some(chain) = &bone.ik else { return 0 };
            let links = chain.links.iter().map(|link| placing(chain.target) + placing(link.bone));
            let pass = placing(chain.target) + links.sum::<u64>();
            (u64::from(chain.loops) + 1).saturating_mul(pass).saturating_add(placing(goal))
        };
        let chains = self.bones.iter().enumerate().map(chain).fold(0, u64::saturating_add);
        // Sixteen products of transforms take a microsecond.
        chains.saturating_add(self.bones.len() as u64) / 16 + 1
    }

    /// The bones in model space where they move by `own`, with the chains that are `on`.
    pub(super) fn pose(&mut self, own: &[Transform], on: impl Fn(usize) -> bool) -> &[Transform] {
        self.own.copy_from_slice(own);
        self.shares.fill(Transform::identity());
        self.solved.fill(Quat::identity());
        for k in 0..self.bones.len() {
            self.locals[k] = self.local(k);
        }
        for index in 0..self.order.len() {
            let k = self.order[index];
            let bones = self.bones;
            if let Some(append) = &bones[k].append {
                let source = append.source;
                let copied = match bones[source].append {
                    Some(_) => self.shares[source],
                    None => self.own[source],
                };
                let copied = Transform::new(self.solved[source] * copied.rotation, copied.translation);
                self.shares[k] = append.of(&copied);
                self.locals[k] = self.local(k);
            }
            if let Some(chain) = bones[k].ik.as_ref().filter(|_| on(k)) {
                self.solve(chain, self.placed(k).translation);
            }
        }
        for &k in &self.parents_first {
            let parent = self.bones[k].parent.map(|p| self.model[p]);
            self.model[k] = parent.map_or(self.locals[k], |parent| parent * self.locals[k]);
        }
        &self.model
    }

    fn local(&self, k: usize) -> Transform {
        let (own, share) = (&self.own[k], &self.shares[k]);
        let offset = self.bones[k].offset(self.bones);
        Transform::new(
            self.solved[k] * own.rotation * share.rotation,
            offset + own.translation + share.translation,
        )
    }

    /// The transform of a bone in model space, with the locals as they are.
    fn placed(&self, k: usize) -> Transform {
        let above = std::iter::successors(self.bones[k].parent, |p| self.bones[*p].parent);
        above.fold(self.locals[k], |placed, p| self.locals[p] * placed)
    }

    fn parent(&self, k: usize) -> Transform {
        self.bones[k].parent.map_or_else(Transform::identity, |p| self.placed(p))
    }

    /// Gives a link this rotation in its parent.
    fn set(&mut self, k: usize, rotation: Quat) {
        let other = self.own[k].rotation * self.shares[k].rotation;
        self.solved[k] = rotation * other.inverse();
        self.locals[k] = self.local(k);
    }

    fn solve(&mut self, chain: &IkChain, goal: Vec3) {
        if let [knee, thigh] = &chain.links[..]
            && thigh.limit.is_none()
            && let Some((axis, range)) = hinge(knee)
            && self.is_below(knee.bone, thigh.bone)
            && self.is_below(chain.target, knee.bone)
        {
            self.bend(knee.bone, thigh.bone, chain.target, (axis, range), &goal);
            return self.swing(thigh, chain.target, &goal, PI);
        }
        for _ in 0..chain.loops {
            for link in &chain.links {
                if (self.placed(chain.target).translation - goal).norm() < REACHED {
                    return;
                }
                self.swing(link, chain.target, &goal, chain.step);
            }
        }
    }

    fn is_below(&self, k: usize, top: usize) -> bool {
        std::iter::successors(self.bones[k].parent, |p| self.bones[*p].parent).any(|p| p == top)
    }

    /// Rotates a link so that the target comes nearer to the goal, by at most `step`.
    fn swing(&mut self, link: &IkLink, target: usize, goal: &Vec3, step: f64) {
        let k = link.bone;
        let (parent, at) = (self.parent(k), self.placed(k).translation);
        let (from, to) = (self.placed(target).translation - at, goal - at);
        if from.norm() < REACHED || to.norm() < REACHED {
            return;
        }
        let full = log(&arc(&from, &to, &Vec3::x()));
        let rotation_step = exp(&(full * (step / full.norm().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)));
        let inside = parent.rotation.inverse() * rotation_step * parent.rotation;
        self.set(k, within(&(inside * self.locals[k].rotation), link));
    }

    /// Bends a knee until the target has the distance of the goal from the thigh's joint.
    fn bend(&mut self, knee: usize, thigh: usize, target: usize, hinge: (Vec3, [f64; 2]), goal: &Vec3) {
        let (axis, [low, high]) = hinge;
        let (hip, parent) = (self.placed(thigh).translation, self.parent(knee));
        let placed = self.placed(knee);
        // In the space of the knee's parent, rotated by q: distance^2 = |v|^2 + |w|^2 + 2 w.(q v).
        let v = placed.inverse().point(&self.placed(target).translation);
        let w = parent.rotation.inverse() * (placed.translation - hip);
        let along = axis * axis.dot(&v);
        let (a, b) = (w.dot(&(v - along)), w.dot(&axis.cross(&v)));
        let still = v.norm_squared() + w.norm_squared() + 2.0 * w.dot(&along);
        let wanted = (goal - hip).norm_squared();
        let size = 2.0 * libm::hypot(a, b);
        if size < f64::MIN_POSITIVE {
            return;
        }
        let off = |angle: f64| (still + 2.0 * (a * libm::cos(angle) + b * libm::sin(angle)) - wanted).abs();
        let (middle, half) = (libm::atan2(b, a), libm::acos(((wanted - still) / size).clamp(-1.0, 1.0)));
        let candidates = [middle + half, middle - half].map(|angle| {
            // The same angle within half a circle of the middle of the range.
            let centre = 0.5 * (low + high);
            let angle = angle - TAU * ((angle - centre) / TAU).round();
            angle.clamp(low, high)
        });
        let [first, second] = candidates;
        let better = off(second) + 1e-9 < off(first)
            || (off(second) - off(first)).abs() <= 1e-9 && second.abs() < first.abs();
        self.set(knee, exp(&(axis * if better { second } else { first })));
    }
}

/// The bones above each.
fn depths(bones: &[MmdBone]) -> Vec<usize> {
    let mut depths: Vec<Option<usize>> = vec![None; bones.len()];
    for k in 0..bones.len() {
        let unknown = |b: &usize| depths[*b].is_none();
        let path: Vec<usize> =
            std::iter::successors(Some(k), |b| bones[*b].parent).take_while(unknown).collect();
        for b in path.into_iter().rev() {
            depths[b] = Some(bones[b].parent.and_then(|p| depths[p]).map_or(0, |depth| depth + 1));
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// The axis of a link that may rotate about one axis of the model only, and the range of its angle.
fn hinge(link: &IkLink) -> Option<(Vec3, [f64; 2])> {
    let [low, high] = link.limit?;
    let mut free = (0..3).filter(|k| low[*k] != 0.0 || high[*k] != 0.0);
    let k = free.next()?;
    free.next().is_none().then(|| (Vec3::ith(k, 1.0), [low[k], high[k]]))
}

/// A rotation within the limits of a link; angles are components of the rotation vector.
fn within(rotation: &Quat, link: &IkLink) -> Quat {
    let Some([low, high]) = link.limit else { return *rotation };
    match hinge(link) {
        Some((axis, [low, high])) => exp(&(axis * twist_angle(rotation, &axis).clamp(low, high))),
        None => {
            let angles = log(rotation);
            exp(&Vec3::new(
                angles.x.clamp(low.x, high.x),
                angles.y.clamp(low.y, high.y),
                angles.z.clamp(low.z, high.z),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bone(parent: Option<usize>, ik: Option<IkChain>) -> MmdBone {
        let (name, position, order) = (String::new(), Vec3::zeros(), (false, 0));
        MmdBone { name, parent, above: parent, position, order, append: None, ik }
    }

    #[test]
    fn deep_links_and_goals_are_counted() {
        let chain = |links: usize, loops| {
            let link = IkLink { bone: 999, limit: None };
            Some(IkChain { target: 0, loops, step: 1.0, links: vec![link; links] })
        };
        let steps = |goal: Option<usize>, links: usize, loops: u32| {
            let mut bones: Vec<MmdBone> = (0..1000).map(|k: usize| bone(k.checked_sub(1), None)).collect();
            bones.push(bone(goal, chain(links, loops)));
            PoseSolver::new(&bones).steps()
        };
        assert!(steps(None, 0, 0) < 100);
        // A link is placed for each rotation, a goal for each frame.
        assert!(steps(None, 10, 99) > 100 * 10 * 1000 / 16);
        assert!(steps(Some(999), 0, 0) > 1000 / 16 + steps(None, 0, 0) - 2);
        assert!(steps(None, 1000, u32::MAX) > 1 << 40);
    }
}
