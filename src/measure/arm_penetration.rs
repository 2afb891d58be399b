//! The share of the arms' skin that lies inside the rest of the body.
//!
//! After the penetration rate of Zhang et al., Skinned Motion Retargeting with Residual Perception of Motion Semantics and
//! Geometry (2023): the share of limb vertices inside the body. Assumed here: the body is the capsules of trunk, head and
//! thighs, and inside is deeper than a hundredth of the height; arms are forearms and hands; at most 256 vertices stand
//! for all; vertices inside when the skin was bound are left out. Space: model space. Units: the figure's own metres.

use crate::body::{BodyPart, Capsule};
use crate::math::Vec3;
use crate::model::{Character, JointId, Mesh, ModelPose, Role, Side};

/// The most vertices that represent both arms.
const VERTICES: usize = 256;
/// The depth that counts as inside, over the height, since capsules only approximate the skin.
const DEEP: f64 = 0.01;

/// A vertex of an arm: its position in the space of each joint that moves it, with the weight.
#[derive(Clone, Debug)]
pub struct BoundVertex {
    bound: Vec<(JointId, Vec3, f64)>,
}

impl BoundVertex {
    /// A vertex of `mesh`.
    pub fn of(mesh: &Mesh, vertex: usize) -> Self {
        Self { bound: (0..4).filter_map(|k| mesh.influence(vertex, k)).filter(|b| b.2 > 0.0).collect() }
    }

    /// Its position in a pose.
    pub fn place(&self, model: &ModelPose) -> Vec3 {
        self.bound.iter().map(|(joint, at, weight)| model.joint(*joint).point(at) * *weight).sum()
    }
}

/// The arms' vertices and the body's capsules.
#[derive(Clone, Debug, Default)]
pub struct ArmSkin {
    arms: Vec<BoundVertex>,
    body: Vec<Capsule>,
}

impl ArmSkin {
    /// The skin of `character`, bound as `reference_pose`, on a body of these capsules; nothing for those without skin or arms.
    pub fn of(character: &Character, capsules: &[Capsule], reference_pose: &ModelPose, height: f64) -> Self {
        let rig = &character.rig;
        let skeleton = rig.skeleton();
        let mut of_arm = vec![false; skeleton.len()];
        for id in skeleton.ids() {
            let starts = Side::BOTH.into_iter().any(|s| rig.joint(Role::LowerArm(s)) == Some(id));
            of_arm[id.index()] = starts || skeleton.parent(id).is_some_and(|p| of_arm[p.index()]);
        }
        let core = |c: &&Capsule| {
            use BodyPart::{Chest, Head, Pelvis, Ribs, UpperLeg, Waist};
            matches!(c.part, Pelvis | Waist | Ribs | Chest | Head | UpperLeg(_))
        };
        let thinner = |c: &Capsule| Capsule { radius: c.radius - DEEP * height, ..*c };
        let body: Vec<Capsule> =
            capsules.iter().filter(core).map(thinner).filter(|c| c.radius > 0.0).collect();
        let mut arms = Vec::new();
        for mesh in &character.meshes {
            for vertex in 0..mesh.positions.len() {
                if mesh.in_heaviest_joint(vertex).is_some_and(|(joint, _)| of_arm[joint.index()]) {
                    arms.push(BoundVertex::of(mesh, vertex));
                }
            }
        }
        let standing_body: Vec<BodySegment> =
            body.iter().map(|capsule| BodySegment::of(capsule, reference_pose)).collect();
        arms.retain(|v| !inside(&standing_body, &v.place(reference_pose)));
        let stride = arms.len().div_ceil(VERTICES).max(1);
        Self { arms: arms.into_iter().step_by(stride).collect(), body }
    }

    /// Whether there is nothing to measure.
    pub fn is_empty(&self) -> bool {
        self.arms.is_empty() || self.body.is_empty()
    }

    /// The share of the arms' vertices inside the body.
    pub fn share_inside(&self, model: &ModelPose) -> f64 {
        let body: Vec<BodySegment> =
            self.body.iter().map(|capsule| BodySegment::of(capsule, model)).collect();
        let count = self.arms.iter().filter(|v| inside(&body, &v.place(model))).count();
        count as f64 / self.arms.len().max(1) as f64
    }
}

/// A capsule in a pose: its segment in model space.
struct BodySegment {
    from: Vec3,
    along: Vec3,
    radius: f64,
}

impl BodySegment {
    fn of(capsule: &Capsule, model: &ModelPose) -> Self {
        let [from, to] = capsule.ends(model);
        Self { from, along: to - from, radius: capsule.radius }
    }

    fn contains(&self, p: &Vec3) -> bool {
        let Self { from, along, radius } = self;
        let share = ((p - from).dot(along) / along.norm_squared().max(1e-12)).clamp(0.0, 1.0);
        (p - from - along * share).norm_squared() < radius * radius
    }
}

fn inside(body: &[BodySegment], p: &Vec3) -> bool {
    body.iter().any(|segment| segment.contains(p))
}
