//! Pairs of corresponding legs on source and target.

use super::limb_chain::LimbChain;
use crate::anatomy::on_four_legs;
use crate::body::CharacterBody;
use crate::math::{Vec3, horizontal};
use crate::model::{ContactPart, JointId, Side};

/// A leg on both bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct LegPair {
    /// The leg of the source.
    pub source: LimbChain,
    /// The leg of the target.
    pub target: LimbChain,
    /// Support points of the target's foot, in the spaces of its joints; empty for a body without a skin, whose soles are
    /// estimated.
    pub skin: Vec<(JointId, Vec3)>,
    /// Thickness of the target's paw below that skin: see [`crate::body::CharacterBody::contact_points`].
    pub paw: f64,
    /// Support points of the lower half of the target's shin, in the space of the knee joint.
    pub shin: Vec<Vec3>,
    /// The directions up and forwards (from ankle to toes, level) in the space of the target's toes in its reference pose, in which
    /// they lie on the floor; `None` without toes that have skin.
    pub lying_toes: Option<[Vec3; 2]>,
}

impl LegPair {
    /// The legs that both bodies have.
    pub fn of(source: &CharacterBody, target: &CharacterBody) -> Vec<LegPair> {
        let pair = |side: Side| {
            let to = LimbChain::of(target, side)?;
            let has_skin = !target.character().meshes.is_empty();
            let skin = if has_skin { target.foot_support(side).to_vec() } else { Vec::new() };
            // Toes without skin have nothing that could stand on the floor.
            let on_toes = skin.iter().any(|(id, _)| Some(*id) == to.toes);
            let heel = target.sole_points().find(|p| p.part == ContactPart::Heel(side));
            Some(LegPair {
                paw: heel.map_or(0.0, |p| p.radius),
                source: LimbChain::of(source, side).or_else(|| LimbChain::without_foot(source, side))?,
                lying_toes: if on_toes { lying_toes(target, &to) } else { None },
                target: to,
                shin: target.support_points().shins[side.index()].clone(),
                skin,
            })
        };
        Side::BOTH.into_iter().filter_map(pair).collect()
    }

    /// The front legs that both bodies have, if both are quadrupeds.
    pub fn forelegs(source: &CharacterBody, target: &CharacterBody) -> Vec<LegPair> {
        if ![source, target].iter().all(|body| on_four_legs(body.rig(), body.reference_pose())) {
            return Vec::new();
        }
        let pair = |side: Side| {
            let (rig, reference_pose) = (target.rig(), target.reference_pose());
            let to = foreleg(target, side)?;
            let skeleton = rig.skeleton();
            let of_paw = |id: JointId| id == to.foot || (skeleton.is_ancestor(to.foot, id));
            let within = reference_pose.joint(to.foot).inverse();
            let skin = target.support_points().hands[side.index()].iter();
            let skin = skin.filter(|(id, _)| of_paw(*id));
            let skin =
                skin.map(|(id, at)| (to.foot, within.point(&reference_pose.joint(*id).point(at)))).collect();
            let source = foreleg(source, side)?;
            Some(LegPair { paw: 0.0, source, target: to, shin: Vec::new(), skin, lying_toes: None })
        };
        Side::BOTH.into_iter().filter_map(pair).collect()
    }
}

/// See [`LegPair::lying_toes`].
fn lying_toes(body: &CharacterBody, chain: &LimbChain) -> Option<[Vec3; 2]> {
    let reference_pose = body.reference_pose();
    let toes = chain.toes?;
    let ahead = reference_pose.position(toes) - reference_pose.position(chain.foot);
    let ahead = horizontal(&ahead).try_normalize(1e-9)?;
    Some([Vec3::y(), ahead].map(|v| reference_pose.joint(toes).rotation.inverse() * v))
}

/// The front leg of one side of a quadruped, whose paw stands on the ground of the hind paws.
fn foreleg(body: &CharacterBody, side: Side) -> Option<LimbChain> {
    let arm = LimbChain::arm(body, side)?;
    let reference_pose = body.reference_pose();
    let ground = body.sole_points().map(|p| reference_pose.joint(p.joint).point(&p.at).y - p.radius);
    let ground = ground.min_by(f64::total_cmp)?;
    Some(LimbChain { ankle: (reference_pose.position(arm.foot).y - ground).max(0.0), ..arm })
}

/// The ratio of leg lengths, target to source: the factor by which a take is scaled.
pub fn leg_ratio(pairs: &[LegPair]) -> Option<f64> {
    let sum = |of: &dyn Fn(&LegPair) -> &LimbChain| pairs.iter().map(|p| of(p).length()).sum::<f64>();
    (!pairs.is_empty()).then(|| sum(&|p| &p.target) / sum(&|p| &p.source))
}

/// The legs of the source.
pub fn source_legs(pairs: &[LegPair]) -> Vec<&LimbChain> {
    pairs.iter().map(|pair| &pair.source).collect()
}

/// The mean length of the target's legs.
pub fn mean_length(pairs: &[LegPair]) -> f64 {
    pairs.iter().map(|p| p.target.length()).sum::<f64>() / pairs.len() as f64
}
