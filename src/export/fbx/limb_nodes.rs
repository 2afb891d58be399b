//! Writes joints as limb nodes, and the animation of these nodes from clips.
//!
//! Nodes are written in the bind pose, or, if there is none, in the rest pose, or in the reference pose where the rest pose
//! is degenerate: engines take the pose of the nodes as a T-pose. The rotation of that pose is `PreRotation`, so that
//! all angles are 0 in it: `local = Rz Ry Rx(PreRotation) Rz Ry Rx(Lcl Rotation)`.
//!
//! A leaf gets no end node: it would be an additional joint, and engines compare skeletons by their joints. Blender draws a leaf
//! as long as its parent, Maya and MotionBuilder draw a ball whose size is stated in the file.
//!
//! Blender's importer draws a bone along the Y axis of its joint, as long as its children are away on average, and ignores the
//! translation of a child at its end. A joint with translations is therefore written beside that point ([`ASIDE`]).
//!
//! Space: each joint in its parent. Units: metres are converted to centimetres, radians to degrees.

use super::animation_stack::{self, AnimationStack, JointCurves, STEADY_METRES};
use super::fbx_builder::{FbxBuilder, METRES_PER_UNIT, SCENE};
use super::morph_channels::MorphChannels;
use super::record_properties::{int_row, local_row, properties, row, vector_row};
use super::records::FbxRecord;
use super::ticks;
use crate::export::euler_angles::RotationOrder;
use crate::export::export_options::FbxBind;
use crate::math::{Transform, Vec3};
use crate::model::{Calibration, CalibrationSource, Character, Clip, Joint, JointId, ModelPose, Skeleton};

/// Displayed size of a joint, relative to the length of the bones that start there.
const BALL: f64 = 0.1;
/// Minimum displayed size of a joint, metres.
const SMALLEST_BALL: f64 = 0.002;
/// Order in which the file multiplies rotations, from the left.
const ORDER: RotationOrder = RotationOrder::Zyx;
/// Distance from the end of the parent's bone of a joint with translations, relative to its distance from the origin: 0.01 mm for
/// hips at 1 m. Blender connects bones up to 1e-6 of each coordinate; at a tenth of this value rounding decides.
const ASIDE: f64 = 1e-5;
/// Shortest bone that Blender draws, in the unit of the file.
const SHORTEST_BONE: f64 = 0.01;
/// Units of the file per metre.
const UNITS_PER_METRE: f64 = 1.0 / METRES_PER_UNIT;

/// The skeleton of a new file.
pub(super) struct LimbNodes<'a> {
    pub(super) skeleton: &'a Skeleton,
    /// The object id of each joint; `None` for a synthetic root that is omitted.
    pub(super) models: Vec<Option<i64>>,
    /// The pose of the joints, in model space.
    pub(super) bind: ModelPose,
    /// The same, relative to the parent joints.
    local: Vec<Transform>,
}

/// A translation in the unit of the file.
fn file_units(metres: &Vec3) -> [f64; 3] {
    (metres * UNITS_PER_METRE).into()
}

/// The name in the character's file.
pub(super) fn name(joint: &Joint) -> &str {
    joint.file_name.as_deref().filter(|n| !n.is_empty()).unwrap_or(&joint.name)
}

/// Adds the joints, which `clips` will animate.
pub(super) fn write<'a>(
    document: &mut FbxBuilder,
    character: &'a Character,
    clips: &[&Clip],
    pose: FbxBind,
    omit_root: bool,
) -> LimbNodes<'a> {
    let skeleton = character.skeleton();
    let bind = nodes_pose(character, pose, omit_root);
    let local = bind.to_local(skeleton).local().to_vec();
    let mut bones = LimbNodes { skeleton, models: Vec::with_capacity(skeleton.len()), bind, local };
    bones.move_aside(clips, omit_root);
    for id in skeleton.ids() {
        if omit_root && id.index() == 0 {
            bones.models.push(None);
            continue;
        }
        let (attribute, model) = (document.id(), document.id());
        let name = name(skeleton.joint(id));
        let at = &bones.local[id.index()];
        let angles = animation_stack::degrees(std::iter::once(at.rotation), ORDER, [0.0; 3]);
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
            vector_row("PreRotation", angles.first().copied().unwrap_or_default()),
            local_row("Lcl Translation", file_units(&at.translation)),
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

/// The pose of the nodes, in model space.
fn nodes_pose(character: &Character, pose: FbxBind, omit_root: bool) -> ModelPose {
    let estimated = |c: &&Calibration| !matches!(c.from, CalibrationSource::Bind | CalibrationSource::Rest);
    let found = character.calibration.as_ref().filter(estimated).filter(|_| pose == FbxBind::TPose);
    match (&character.bind, found) {
        (Some(bind), _) => bind.clone(),
        (None, None) => character.skeleton().rest_model_pose(),
        // A root that is not written stays at the origin.
        (None, Some(found)) if omit_root => {
            let from_model = found.pose.joints().first().map_or_else(Transform::identity, Transform::inverse);
            ModelPose::new(found.pose.joints().iter().map(|joint| from_model * *joint).collect())
        }
        (None, Some(found)) => found.pose.clone(),
    }
}

impl LimbNodes<'_> {
    /// Displayed size of a joint, in the unit of the file.
    fn ball(&self, id: JointId) -> f64 {
        let children = self.skeleton.children(id);
        let sum: f64 = children.iter().map(|c| self.local[c.index()].translation.norm()).sum();
        let length = match children.len() {
            0 => self.skeleton.joint(id).tip.unwrap_or(self.local[id.index()].translation).norm(),
            n => sum / n as f64,
        };
        (BALL * length).max(SMALLEST_BALL) * UNITS_PER_METRE
    }

    /// The animation of the nodes and morph targets in a clip of this skeleton with at least one frame.
    pub(super) fn stack(&self, clip: &Clip, name: String, morphs: &[MorphChannels]) -> AnimationStack {
        let nodes = self.skeleton.ids().filter_map(|id| Some((id, self.models[id.index()]?)));
        let tracks = nodes.map(|(id, model)| self.track(clip, id, model)).collect();
        AnimationStack {
            name,
            rate: ticks::nominal(clip.sample_rate),
            ticks: ticks::frame_ticks(clip),
            tracks,
            morphs: morphs.iter().flat_map(|mesh| mesh.curves(clip)).collect(),
            cuts: Vec::new(),
            tolerance: 0.0,
        }
    }

    /// Moves joints with translations off the end of the parent's bone, with all that is below them.
    fn move_aside(&mut self, clips: &[&Clip], omit_root: bool) {
        let skeleton = self.skeleton;
        let mut joints = self.bind.joints().to_vec();
        let mut shifts = vec![Vec3::zeros(); skeleton.len()];
        // Once for each joint: a joint may have thousands of children. A shift changes them by 1e-10.
        let bone_lengths: Vec<f64> = skeleton.ids().map(|id| self.bone_length(id)).collect();
        for id in skeleton.ids() {
            let Some(parent) = skeleton.parent(id) else { continue };
            shifts[id.index()] = shifts[parent.index()];
            let at = self.local[id.index()].translation;
            let aside = ASIDE * joints[id.index()].translation.norm().max(at.norm());
            let written = !(omit_root && parent.index() == 0);
            let at_end = (at - Vec3::y() * bone_lengths[parent.index()]).norm() < 0.5 * aside;
            if written && at_end && clips.iter().any(|clip| self.moves(clip, id)) {
                let shift = Vec3::x() * aside;
                self.local[id.index()].translation += shift;
                shifts[id.index()] += joints[parent.index()].rotation * shift;
            }
        }
        if shifts.iter().any(|shift| *shift != Vec3::zeros()) {
            joints.iter_mut().zip(shifts).for_each(|(joint, shift)| joint.translation += shift);
            self.bind = ModelPose::new(joints);
        }
    }

    /// Length of the bone that Blender draws for a joint with children, metres; NaN without children.
    fn bone_length(&self, id: JointId) -> f64 {
        let children = self.skeleton.children(id);
        let sum: f64 = children.iter().map(|c| self.local[c.index()].translation.norm()).sum();
        (sum / children.len() as f64).max(SHORTEST_BONE * METRES_PER_UNIT)
    }

    /// Whether the translation of a joint differs from that of its node in some frame.
    fn moves(&self, clip: &Clip, id: JointId) -> bool {
        let at = self.local[id.index()].translation;
        let moved = |f| (clip.local(self.skeleton, f, id).translation - at).amax() > STEADY_METRES;
        (0..clip.frames()).any(moved)
    }

    fn track(&self, clip: &Clip, id: JointId, model: i64) -> JointCurves {
        let at = &self.local[id.index()];
        let frames = 0..clip.frames();
        let rotations = frames.clone().map(|f| at.rotation.inverse() * clip.rotations(f)[id.index()]);
        let degrees = animation_stack::degrees(rotations, ORDER, [0.0; 3]);
        let translations = frames.map(|f| file_units(&clip.local(self.skeleton, f, id).translation));
        // A root is keyed even if it is at rest: programs take its position from the keys.
        let root = self.skeleton.parent(id).is_none_or(|p| self.models[p.index()].is_none());
        let moved = root || self.moves(clip, id);
        JointCurves { model, degrees, translations: moved.then(|| translations.collect()) }
    }
}
