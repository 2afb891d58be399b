//! Joints become nodes with limbs, and clips what these nodes do.
//!
//! Nodes stand in the bind pose, in the rest pose where there is none. The rotation of that pose is `PreRotation`, so
//! that every joint has the angles 0 there: `local = Rz Ry Rx(PreRotation) Rz Ry Rx(Lcl Rotation)`.
//!
//! A leaf gets no end node: it would be one more joint, and engines take two skeletons for one by their joints.
//! Blender draws a leaf as long as its parent, Maya and MotionBuilder a ball; its size is told by the file.
//!
//! Space: each joint in its parent. Units: metres become centimetres, radians degrees.

use super::animation_stack::{self, AnimationStack, JointCurves, STEADY_METRES};
use super::fbx_builder::{FbxBuilder, METRES_PER_UNIT, SCENE};
use super::record_properties::{int_row, local_row, properties, row, vector_row};
use super::records::FbxRecord;
use super::ticks;
use crate::export::euler_angles::RotationOrder;
use crate::math::{Transform, Vec3};
use crate::model::{Character, Clip, Joint, JointId, ModelPose, Skeleton};

/// How large a joint is drawn, relative to the bones that start there.
const BALL: f64 = 0.1;
/// How large a joint without length is drawn, metres.
const SMALLEST_BALL: f64 = 0.002;
/// The file's order of multiplication, listed from the left.
const ORDER: RotationOrder = RotationOrder::Zyx;
const UNITS_PER_METRE: f64 = 1.0 / METRES_PER_UNIT;

/// The skeleton of a file in the making.
pub(super) struct LimbNodes<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The object of each joint; `None` for a root that says nothing and is left out.
    pub(super) models: Vec<Option<i64>>,
    /// Where the joints stand, in model space.
    pub(super) bind: ModelPose,
    local: Vec<Transform>,
}

/// A place in the unit of the file.
pub(super) fn place(metres: &Vec3) -> [f64; 3] {
    (metres * UNITS_PER_METRE).into()
}

/// The name as the character's file had it.
pub(super) fn name(joint: &Joint) -> &str {
    joint.file_name.as_deref().filter(|n| !n.is_empty()).unwrap_or(&joint.name)
}

/// Adds the joints.
pub(super) fn write<'a>(
    document: &mut FbxBuilder,
    character: &'a Character,
    left_out: bool,
) -> LimbNodes<'a> {
    let skeleton = character.skeleton();
    let bind = character.bind.clone().unwrap_or_else(|| skeleton.rest_model_pose());
    let local = bind.to_local(skeleton).local().to_vec();
    let mut bones = LimbNodes { skeleton, models: Vec::with_capacity(skeleton.len()), bind, local };
    for id in skeleton.ids() {
        if left_out && id.index() == 0 {
            bones.models.push(None);
            continue;
        }
        let (attribute, model) = (document.id(), document.id());
        let name = name(skeleton.joint(id));
        let at = &bones.local[id.index()];
        let turned = animation_stack::degrees(std::iter::once(at.rotation), ORDER, [0.0; 3]);
        let limb = [("Size", bones.ball(id)), ("LimbLength", 1.0)];
        let limb = limb.map(|(name, value)| row(name, "double", "Number", "").double(value));
        document.add(
            FbxBuilder::object("NodeAttribute", attribute, name, "NodeAttribute", "LimbNode")
                .add(properties(limb))
                .add(FbxRecord::new("TypeFlags").string("Skeleton")),
        );
        let rows = [
            int_row("RotationActive", "bool", "", 1),
            int_row("InheritType", "enum", "", 1),
            vector_row("ScalingMax", [0.0; 3]),
            int_row("DefaultAttributeIndex", "int", "Integer", 0),
            vector_row("PreRotation", turned.first().copied().unwrap_or_default()),
            local_row("Lcl Translation", place(&at.translation)),
            local_row("Lcl Rotation", [0.0; 3]),
            local_row("Lcl Scaling", [1.0; 3]),
        ];
        document.add_model(model, name, "LimbNode", rows);
        document.connect(attribute, model);
        let parent = skeleton.parent(id).and_then(|p| bones.models[p.index()]);
        document.connect(model, parent.unwrap_or(SCENE));
        bones.models.push(Some(model));
    }
    bones
}

impl LimbNodes<'_> {
    /// How large a joint is drawn, in the unit of the file.
    fn ball(&self, id: JointId) -> f64 {
        let children = self.skeleton.children(id);
        let sum: f64 = children.iter().map(|c| self.local[c.index()].translation.norm()).sum();
        let length = match children.len() {
            0 => self.skeleton.joint(id).tip.unwrap_or(self.local[id.index()].translation).norm(),
            n => sum / n as f64,
        };
        (BALL * length).max(SMALLEST_BALL) * UNITS_PER_METRE
    }

    /// What the nodes do in a clip of this skeleton with at least one frame.
    pub(super) fn stack(&self, clip: &Clip, name: String) -> AnimationStack {
        let nodes = self.skeleton.ids().filter_map(|id| Some((id, self.models[id.index()]?)));
        let tracks = nodes.map(|(id, model)| self.track(clip, id, model)).collect();
        AnimationStack {
            name,
            rate: ticks::nominal(clip.sample_rate),
            ticks: ticks::frame_ticks(clip),
            tracks,
        }
    }

    fn track(&self, clip: &Clip, id: JointId, model: i64) -> JointCurves {
        let at = &self.local[id.index()];
        let frames = 0..clip.frames();
        let turned = frames.clone().map(|f| at.rotation.inverse() * clip.rotations(f)[id.index()]);
        let degrees = animation_stack::degrees(turned, ORDER, [0.0; 3]);
        let places: Vec<Vec3> = frames.map(|f| clip.local(self.skeleton, f, id).translation).collect();
        // A root is keyed even where it rests: programs take its place from the keys.
        let root = self.skeleton.parent(id).is_none_or(|p| self.models[p.index()].is_none());
        let moved = root || places.iter().any(|p| (p - at.translation).amax() > STEADY_METRES);
        JointCurves { model, degrees, places: moved.then(|| places.iter().map(place).collect()) }
    }
}
