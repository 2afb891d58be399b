//! Checks the skin of a result: torn skin and arms inside of the body in a few frames, and arms that are deep in it for a moment.
//!
//! The body is the skin of trunk, head and thighs, the arms are forearms and hands; joints that lead to no role (capes, weapons)
//! are neither. A vertex of an arm is inside if a point below it, nearer to the bone by a hundredth of the height, is: skin that
//! touches skin overlaps by less. Space: model space. Units: metres, the figure's own.

use super::arm_moments::ArmMoments;
use super::winding::{Clusters, PosedSkin};
use crate::body::{BodyPart, Capsule, leads_to_roles};
use crate::kinematics::forward;
use crate::math::{Vec3, nearest_point_on_segment};
use crate::model::{Character, JointId, ModelPose, Motion, Rig, Role, Side, heaviest};
use crate::parallel;
use crate::skinning::{LinearBlend, Skin};

/// The fewest and the most frames that are looked at: each takes about a millisecond.
const FRAMES: [usize; 2] = [6, 32];
/// Seconds for each frame in long clips, where the cost is spread over many frames.
const SECONDS: f64 = 4.0;
/// The most vertices that stand for both arms: a per cent of them is one vertex.
const VERTICES: usize = 96;
/// The most triangles of a body; larger ones are not measured.
const TRIANGLES: usize = 100_000;
/// How far an arm's skin overlaps the body's where they touch, over the height: also the precision of capsules.
const DEEP: f64 = 0.01;
/// How far an arm is in the body where it passes through it, over the height: 5 cm of a grown person, about the thickness of a forearm.
/// Arms that hang beside broad hips, and hands on cheeks and hips, are less deep.
const THROUGH: f64 = 0.03;
/// Around a capsule grown by this factor lies all of the skin that it stands for.
const GROWN: f64 = 1.4;
/// The least length of an edge that can be seen to be torn, over the height.
const SEEN: f64 = 0.02;
/// Edges are at least this long at rest, over the height: shorter ones are noise of the mesh.
const SHORTEST: f64 = 0.002;
/// The number of edges, the most stretched ones, that are left out: a few vertices are wrongly weighted in many files.
const SPARED: usize = 10;

/// A vertex of an arm.
#[derive(Clone, Copy, Debug)]
struct ArmVertex {
    /// Its number among the vertices of all meshes.
    vertex: usize,
    side: usize,
    /// Whether it belongs to the hand, else to the forearm.
    of_hand: bool,
}

/// The bones of one arm: elbow, wrist, and the middle of the hand in the hand's space.
#[derive(Clone, Copy, Debug)]
struct ArmBones {
    elbow: JointId,
    wrist: JointId,
    palm: Vec3,
}

/// The skin of a character, prepared.
#[derive(Clone, Debug, Default)]
pub struct SkinCheck {
    meshes: Vec<LinearBlend>,
    height: f64,
    body: Clusters,
    /// The capsules of the body: what is far from them is not inside.
    capsules: Vec<Capsule>,
    bones: [Option<ArmBones>; 2],
    arms: Vec<ArmVertex>,
    moments: ArmMoments,
    /// Edges, with their lengths at rest.
    edges: Vec<([u32; 2], f64)>,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkinFaults {
    /// The mean share of the arms' vertices inside of the body; `None` without arms or body.
    pub inside: Option<f64>,
    /// The greatest share of them that is deep inside at one moment; `None` without arms or body.
    pub through: Option<f64>,
    /// The greatest length over that at rest.
    pub stretch: f64,
}

impl SkinCheck {
    /// The skin of `character`, bound as `reference_pose`; empty for a character without skin.
    pub fn of(
        character: &Character,
        rig: &Rig,
        capsules: &[Capsule],
        reference_pose: &ModelPose,
        height: f64,
    ) -> Self {
        if character.meshes.is_empty() {
            return Self::default();
        }
        let meshes: Vec<LinearBlend> = character.meshes.iter().map(LinearBlend::new).collect();
        let mut made = Self { meshes, height, ..Self::default() };
        let at = made.posed(reference_pose);
        let parts = parts_of_joints(rig);
        let mut parts_of_vertices = Vec::with_capacity(at.len());
        let (mut triangles, mut first) = (Vec::new(), 0_u32);
        for mesh in &character.meshes {
            parts_of_vertices.extend(mesh.joints.iter().zip(&mesh.weights).map(|(joints, weights)| {
                parts[mesh.bindings.get(usize::from(joints[heaviest(weights)]))?.joint.index()]
            }));
            triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
            first += mesh.positions.len() as u32;
        }
        let length = |[a, b]: [u32; 2]| (at[a as usize] - at[b as usize]).norm();
        let edges = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).filter(|[a, b]| a < b);
        made.edges = edges.map(|edge| (edge, length(edge).max(SHORTEST * height))).collect();
        let of_body = |t: &[u32; 3]| t.iter().all(|v| parts_of_vertices[*v as usize] == Some(SkinPart::Body));
        triangles.retain(of_body);
        if triangles.len() > TRIANGLES {
            return made;
        }
        made.body = Clusters::new(triangles, &at);
        use BodyPart::{Chest, Head, Neck, Pelvis, Ribs, UpperLeg, Waist};
        let core = |c: &&Capsule| matches!(c.part, Pelvis | Waist | Ribs | Chest | Neck | Head | UpperLeg(_));
        made.capsules = capsules.iter().filter(core).copied().collect();
        made.add_arms(rig, &parts_of_vertices, &at, reference_pose);
        made.moments = ArmMoments::new(character, made.arms.iter().map(|arm| arm.vertex), &made.capsules);
        made
    }

    /// The vertices of the arms that are not inside of the body at rest.
    fn add_arms(&mut self, rig: &Rig, parts: &[Option<SkinPart>], at: &[Vec3], reference_pose: &ModelPose) {
        for (k, side) in Side::BOTH.into_iter().enumerate() {
            let joints = (rig.joint(Role::LowerArm(side)), rig.joint(Role::Hand(side)));
            let (Some(elbow), Some(wrist)) = joints else { continue };
            let hand = |v: &usize| parts[*v] == Some(SkinPart::Hand(k));
            let of_hand: Vec<usize> = (0..at.len()).filter(hand).collect();
            let middle = of_hand.iter().map(|v| at[*v]).sum::<Vec3>() / of_hand.len().max(1) as f64;
            let palm = if of_hand.is_empty() {
                Vec3::zeros()
            } else {
                reference_pose.joint(wrist).inverse().point(&middle)
            };
            self.bones[k] = Some(ArmBones { elbow, wrist, palm });
        }
        let mut arms: Vec<ArmVertex> = (parts.iter().enumerate())
            .filter_map(|(vertex, part)| match part {
                Some(SkinPart::Forearm(side)) => Some(ArmVertex { vertex, side: *side, of_hand: false }),
                Some(SkinPart::Hand(side)) => Some(ArmVertex { vertex, side: *side, of_hand: true }),
                _ => None,
            })
            .collect();
        // Twice as many as wanted are tested at rest: some are left out.
        let step = arms.len().div_ceil(2 * VERTICES).max(1);
        arms = arms.into_iter().step_by(step).collect();
        let skin = self.body.posed(at);
        arms.retain(|arm| !self.is_inside(arm, DEEP, at, reference_pose, &skin));
        let step = arms.len().div_ceil(VERTICES).max(1);
        self.arms = arms.into_iter().step_by(step).collect();
    }

    /// What a motion of the character shows.
    pub fn faults(&self, motion: &Motion) -> Option<SkinFaults> {
        let frames = motion.clip.frames();
        if self.meshes.is_empty() || frames == 0 {
            return None;
        }
        let [fewest, most] = FRAMES;
        let wanted = (frames as f64 / motion.clip.sample_rate / SECONDS) as usize;
        let count = wanted.clamp(fewest, most).min(frames);
        let skeleton = motion.character.skeleton();
        let posed = |frame: usize| {
            let (mut pose, mut model) = (skeleton.rest_pose(), skeleton.rest_model_pose());
            forward(skeleton, &motion.clip, frame, &mut pose, &mut model);
            (self.posed(&model), model)
        };
        let look = |k: usize| {
            let (at, model) = posed((2 * k + 1) * frames / (2 * count));
            (self.share_inside(DEEP, &at, &model), self.stretch(&at))
        };
        let seen: Vec<(f64, f64)> = parallel::map(count, 1, look);
        let mean = seen.iter().map(|s| s.0).sum::<f64>() / count as f64;
        let measured = !self.arms.is_empty() && !self.body.is_empty();
        let stretch = seen.iter().map(|s| s.1).fold(0.0, f64::max);
        let through = measured.then(|| {
            let share = |frame: &usize| {
                let (at, model) = posed(*frame);
                self.share_inside(THROUGH, &at, &model)
            };
            parallel::map_each(&self.moments.likeliest(motion), 1, share).into_iter().fold(0.0, f64::max)
        });
        Some(SkinFaults { inside: measured.then_some(mean), through, stretch })
    }

    /// All vertices in one pose.
    fn posed(&self, model: &ModelPose) -> Vec<Vec3> {
        let mut skin = Skin::default();
        let mut at = Vec::new();
        for mesh in &self.meshes {
            mesh.skin(model, &mut skin);
            at.extend(skin.positions.iter().map(|p| Vec3::new(p[0].into(), p[1].into(), p[2].into())));
        }
        at
    }

    /// The share of the arms' vertices that are this far inside of the body, over the height.
    fn share_inside(&self, depth: f64, at: &[Vec3], model: &ModelPose) -> f64 {
        let ends: Vec<([Vec3; 2], f64)> =
            self.capsules.iter().map(|c| (c.ends(model), GROWN * c.radius + DEEP * self.height)).collect();
        let near = |p: &Vec3| {
            ends.iter().any(|(ends, radius)| {
                (nearest_point_on_segment(ends, p) - p).norm_squared() < radius * radius
            })
        };
        let near: Vec<&ArmVertex> = self.arms.iter().filter(|arm| near(&at[arm.vertex])).collect();
        if near.is_empty() {
            return 0.0;
        }
        let skin = self.body.posed(at);
        let count = near.iter().filter(|arm| self.is_inside(arm, depth, at, model, &skin)).count();
        count as f64 / self.arms.len() as f64
    }

    fn is_inside(
        &self,
        arm: &ArmVertex,
        depth: f64,
        at: &[Vec3],
        model: &ModelPose,
        skin: &PosedSkin,
    ) -> bool {
        let Some(bones) = &self.bones[arm.side] else { return false };
        let (p, wrist) = (at[arm.vertex], model.position(bones.wrist));
        let bone = match arm.of_hand {
            true => [wrist, model.joint(bones.wrist).point(&bones.palm)],
            false => [model.position(bones.elbow), wrist],
        };
        let inwards = nearest_point_on_segment(&bone, &p) - p;
        let deep = (depth * self.height / inwards.norm().max(1e-9)).min(1.0);
        skin.contains(&(p + inwards * deep))
    }

    /// How far edges are stretched, the [`SPARED`] most stretched ones left out; 1 where nothing is seen to be.
    fn stretch(&self, at: &[Vec3]) -> f64 {
        let seen = SEEN * self.height;
        let stretched = self.edges.iter().filter_map(|([a, b], rest)| {
            let length = (at[*a as usize] - at[*b as usize]).norm();
            (length > seen && length > *rest).then(|| length / rest)
        });
        let mut all: Vec<f64> = stretched.collect();
        if all.len() <= SPARED {
            return 1.0;
        }
        *all.select_nth_unstable_by(SPARED, |a, b| b.total_cmp(a)).1
    }
}

/// The part of the skin that a joint moves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SkinPart {
    Body,
    Forearm(usize),
    Hand(usize),
}

/// The part of every joint; none of upper arms, shins and feet, and of joints that lead to no role.
fn parts_of_joints(rig: &Rig) -> Vec<Option<SkinPart>> {
    let skeleton = rig.skeleton();
    let leads = leads_to_roles(rig);
    let below =
        |role: Role, id: JointId| rig.joint(role).is_some_and(|of| of == id || skeleton.is_ancestor(of, id));
    let part = |id: JointId| {
        for (k, side) in Side::BOTH.into_iter().enumerate() {
            if below(Role::Hand(side), id) {
                return Some(SkinPart::Hand(k));
            }
            if below(Role::LowerArm(side), id) {
                return Some(SkinPart::Forearm(k));
            }
            if below(Role::UpperArm(side), id) || below(Role::LowerLeg(side), id) {
                return None;
            }
        }
        below(Role::Hips, id).then_some(SkinPart::Body)
    };
    skeleton.ids().map(|id| part(id).filter(|_| leads[id.index()])).collect()
}
