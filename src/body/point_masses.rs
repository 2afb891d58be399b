//! A character becomes point masses that move with its joints and stand for its segments.
//!
//! Each limb segment is two equal masses on its bone, `rho` of its length to either side of its centre of mass: such a
//! pair has the mass, the centre and the moment of inertia of a rod with radius of gyration `rho`. Masses, centres and
//! radii are those of Winter, Biomechanics and Motor Control of Human Movement, table 4.1, with the trunk split into
//! pelvis (.142 of the body's mass) and chest with abdomen (.355). Assumed where the table's landmarks are no joints: the
//! pelvis' mass lies in the hip joints; half of the chest's at the shoulders, half at the lowest joint of the spine; the
//! head with the neck is a uniform rod. Space: joint space. Units: metres, parts of the body's mass.

use super::capsules::capsules;
use super::height;
use crate::anatomy::{Figure, on_four_legs};
use crate::math::Vec3;
use crate::model::{Character, Finger, JointId, ModelPose, Role, Side};

/// A mass that moves with a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// The joint that carries it.
    pub joint: JointId,
    /// Where, in the joint's space.
    pub at: Vec3,
    /// Its part of the body's mass; all parts sum to 1.
    pub mass: f64,
}

/// One limb segment of the table: mass, centre of mass from the near end, radius of gyration about it.
struct Limb {
    from: Role,
    to: Option<Vec3>,
    mass: f64,
    center: f64,
    rho: f64,
}

/// The masses that stand for the body of `character`, as measures use them.
#[cfg(feature = "physics")]
pub fn masses(character: &Character) -> Vec<Particle> {
    let standing = character.calibration_pose();
    let capsules = capsules(character, &character.rig);
    particles(character, &standing, height::height(character, &capsules, &standing))
}

/// The masses of `character`, which is of this height; none of bodies that do not go on two legs, which the table does not
/// describe.
pub fn particles(character: &Character, standing: &ModelPose, height: f64) -> Vec<Particle> {
    let rig = &character.rig;
    let Some(figure) = Figure::of(rig, standing).filter(|_| !on_four_legs(rig, standing)) else {
        return Vec::new();
    };
    let place = |role: Role| rig.joint(role).map(|id| standing.position(id));
    let mut found = Vec::new();
    let mut add = |joint: Option<JointId>, at: Option<Vec3>, mass: f64| {
        let Some((joint, at)) = joint.zip(at) else { return };
        found.push(Particle { joint, at: standing.joint(joint).inverse().point(&at), mass });
    };

    let spine = rig.chain(Role::Spine);
    let hips = rig.joint(Role::Hips).or(spine.first().copied());
    let (low, high) = (spine.first().copied().or(hips), spine.last().copied().or(hips));
    add(low, low.map(|id| standing.position(id)), 0.5 * 0.355);
    for side in Side::BOTH {
        add(hips, place(Role::UpperLeg(side)), 0.5 * 0.142);
        add(high, place(Role::UpperArm(side)), 0.25 * 0.355);
        let tip = |role: Role| {
            let id = rig.joint(role)?;
            Some(standing.joint(id).point(&character.skeleton().joint(id).tip?))
        };
        let knuckle = place(Role::Finger(side, Finger::Middle, 0)).or_else(|| tip(Role::Hand(side)));
        let ball = place(Role::Toes(side)).or_else(|| tip(Role::Foot(side)));
        let limb = |from, to, mass, center, rho| Limb { from, to, mass, center, rho };
        let limbs = [
            limb(Role::UpperArm(side), place(Role::LowerArm(side)), 0.028, 0.436, 0.322),
            limb(Role::LowerArm(side), place(Role::Hand(side)), 0.016, 0.430, 0.303),
            limb(Role::Hand(side), knuckle, 0.006, 0.506, 0.297),
            limb(Role::UpperLeg(side), place(Role::LowerLeg(side)), 0.100, 0.433, 0.323),
            limb(Role::LowerLeg(side), place(Role::Foot(side)), 0.0465, 0.433, 0.302),
            limb(Role::Foot(side), ball, 0.0145, 0.500, 0.475),
        ];
        for Limb { from, to, mass, center, rho } in limbs {
            let Some(start) = place(from) else { continue };
            // A hand or foot whose length is not known is a point.
            let along = to.map_or(Vec3::zeros(), |to| to - start);
            for share in [center - rho, center + rho] {
                add(rig.joint(from), Some(start + along * share), 0.5 * mass);
            }
        }
    }
    let head = rig.joint(Role::Head);
    let neck = place(Role::Neck(0)).or_else(|| place(Role::Head));
    let top = height + figure.sole;
    if let (Some(head), Some(neck)) = (head, neck) {
        let reach = top - neck.dot(&figure.up);
        let uniform = 1.0 / 12f64.sqrt();
        for share in [0.5 - uniform, 0.5 + uniform] {
            add(Some(head), Some(neck + figure.up * (reach * share)), 0.5 * 0.081);
        }
    }
    let whole: f64 = found.iter().map(|p| p.mass).sum();
    found.iter_mut().for_each(|p| p.mass /= whole);
    found
}
