//! Corrects the lean of the trunk: the line from the hip joints to the shoulders rotates as the source's does.
//!
//! Rotations alone give a different lean, because rigs bend at different heights: the same rotation of a low and of a
//! high chest moves the shoulders to different positions. The joints of the trunk are therefore rotated a little more or less,
//! all about one axis perpendicular to the line, until the line has the direction `v = arc(H u0, u) H v0`, with `H` the
//! rotation of the source's hips from the reference pose, `u` the source's line and `u0`, `v0` the lines of both bodies in the
//! reference pose. The weighted sum of squared angles is minimal: each joint rotates in proportion to the length of its piece of
//! the line, the chest by a third of that. Hips, head and arms keep their rotations.
//!
//! The line ends at the middle of the shoulders as moved by the chest alone, without collar bones: bodies differ in their
//! length, and a trunk that compensated for it would bend in a shrug.
//!
//! Space: model space, Y up. Units of length cancel. A function of the frame alone.

use super::joint_map::JointMap;
use super::rest_alignment::ReferenceBody;
use crate::math::{Quat, Transform, Vec3, angle_between, arc, exp};
use crate::model::{JointId, ModelPose, Role, Side};

/// Iterations of Newton's method: less than a thousandth of the error is left if the joints have enough leverage.
const ROUNDS: usize = 4;
/// Damping: the leverage of the joints, as a sum of squared lengths in lengths of the line, at which an iteration corrects
/// half of the error. A trunk whose only joint is 70 % up has it. With half such a joint rotates by up to 2.5 degrees per
/// degree of error, with double trunks of five short pieces lean less than their source.
const DAMPING: f64 = 0.03;

/// Cost of rotating the chest relative to a joint below it: neck and both arms bend with it.
const CHEST: f64 = 3.0;

/// The line of a trunk.
#[derive(Clone, Debug)]
struct TrunkLine {
    /// The joint called hips, and the middle of the hip joints in its space.
    hips: JointId,
    pelvis: Vec3,
    /// The parent joint of the shoulders, and their middle in its space.
    chest: JointId,
    shoulders: Vec3,
    /// From one to the other in the reference pose.
    at_rest: Vec3,
}

impl TrunkLine {
    fn of(body: &ReferenceBody, chest: JointId) -> Option<TrunkLine> {
        let middle = |role: fn(Side) -> Role| {
            let [left, right] =
                Side::BOTH.map(|s| body.rig.joint(role(s)).map(|id| body.tree_pose.position(id)));
            Some((left? + right?) * 0.5)
        };
        let (pelvis, shoulders) = (middle(Role::UpperLeg)?, middle(Role::UpperArm)?);
        let hips = body.rig.joint(Role::Hips)?;
        let within = |joint: JointId, p: &Vec3| body.tree_pose.joint(joint).inverse().point(p);
        Some(TrunkLine {
            hips,
            pelvis: within(hips, &pelvis),
            chest,
            shoulders: within(chest, &shoulders),
            at_rest: shoulders - pelvis,
        })
    }
}

/// The correction of one body's trunk by another's.
#[derive(Clone, Debug)]
pub(super) struct TrunkLean {
    source: TrunkLine,
    target: TrunkLine,
    /// The inverse of the reference rotation of the source's hips.
    inverse_reference: Quat,
    /// The driven joints of the target's spine, from the hips up.
    links: Vec<JointId>,
    /// The cost of rotating a link: the number of joints that bend with it.
    weights: Vec<f64>,
}

impl TrunkLean {
    /// The trunks of two bodies that both have legs, arms and hips; `aligned` is the alignment of the target's reference pose.
    pub fn of(
        map: &JointMap,
        source: &ReferenceBody,
        target: &ReferenceBody,
        aligned: &[Option<Quat>],
    ) -> Option<TrunkLean> {
        let links: Vec<JointId> =
            target.rig.chain(Role::Spine).into_iter().filter(|&id| map.driving(id).is_some()).collect();
        let mut to = TrunkLine::of(target, *links.last()?)?;
        to.at_rest = aligned[to.hips.index()]? * to.at_rest;
        let chest = source.rig.chain(Role::Spine).last().copied().or(source.rig.joint(Role::Hips))?;
        let from = TrunkLine::of(source, chest)?;
        let inverse_reference = source.tree_pose.joint(from.hips).rotation.inverse();
        let mut weights = vec![1.0; links.len()];
        weights[links.len() - 1] = CHEST;
        Some(TrunkLean { source: from, target: to, inverse_reference, links, weights })
    }

    /// The joints of the target whose transforms the correction needs.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.links.iter().copied().chain([self.target.hips])
    }

    /// Whether one of these joints of the target is a link, and so is rotated.
    pub fn rotates_any(&self, joints: &[JointId]) -> bool {
        self.links.iter().any(|link| joints.contains(link))
    }

    /// The delta rotation of each link in the target's pose `model`, whose trunk transforms are set.
    pub fn rotations(&self, from: &ModelPose, model: &[Transform]) -> Vec<(JointId, Quat)> {
        let (s, t) = (&self.source, &self.target);
        let u = from.joint(s.chest).point(&s.shoulders) - from.joint(s.hips).point(&s.pelvis);
        let delta_from_reference = from.joint(s.hips).rotation * self.inverse_reference;
        let wanted =
            arc(&(delta_from_reference * s.at_rest), &u, &Vec3::x()) * delta_from_reference * t.at_rest;

        let at = |id: JointId| model[id.index()].translation;
        let pelvis = model[t.hips.index()].point(&t.pelvis);
        let shoulders = model[t.chest.index()].point(&t.shoulders);
        let ends = self.links.iter().skip(1).map(|&id| at(id)).chain([shoulders]);
        let mut pieces: Vec<Vec3> = self.links.iter().zip(ends).map(|(&id, end)| end - at(id)).collect();
        let below = at(self.links[0]) - pelvis;
        let mut deltas: Vec<(JointId, Quat)> = self.links.iter().map(|&id| (id, Quat::identity())).collect();
        for _ in 0..ROUNDS {
            let line = below + pieces.iter().sum::<Vec3>();
            let (length, miss) = (line.norm(), angle_between(&line, &wanted));
            let Some(axis) = line.cross(&wanted).try_normalize(1e-12 * length * wanted.norm()) else { break };
            let along = |piece: &Vec3| piece.dot(&line) / length.powi(2);
            let lever = |(piece, weight): (&Vec3, &f64)| along(piece) * (along(piece) / weight);
            let leverage: f64 = pieces.iter().zip(&self.weights).map(lever).sum();
            // The damped Newton step.
            let angle = miss * leverage / (leverage.powi(2) + DAMPING.powi(2));
            for ((piece, (_, delta)), weight) in pieces.iter_mut().zip(&mut deltas).zip(&self.weights) {
                let more = exp(&(axis * (angle * (along(piece) / weight))));
                *piece = more * *piece;
                *delta = more * *delta;
            }
        }
        deltas
    }
}
