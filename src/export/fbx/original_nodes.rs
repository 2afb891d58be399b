//! Computes the animation of the nodes of the character's own FBX file from a motion in model space.
//!
//! The file is opened twice: as the importer opens it, to find the joint of each node and its rotation, and with the file's own
//! local transforms. With `N` the constant linear part of a node relative to its joint, the node has the linear part `R N` in a
//! frame where its joint has the rotation `R`. From the top down, relative to the parent node, this gives
//! `Lcl Rotation = Pre^-1 local Post` in the node's own rotation order; the position minus offsets and pivots gives
//! `Lcl Translation`. Nodes that are not joints keep the transforms of the file.
//!
//! Space: world, metres, Y up; then each node in its parent. Units: those of the file, degrees.
//! Source: the transform of a node in `ufbx`, `T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1`, and its modes of scale inheritance.

use super::animation_stack::{self, AnimationStack, JointCurves, STEADY_METRES};
use super::morph_channels::{MorphChannels, object_id};
use super::ticks;
use crate::export::euler_angles::RotationOrder;
use crate::fbx_document::{FbxView, open_fbx};
use crate::math::{Mat3, Quat, RawQuat, Vec3, nearest_rotation};
use crate::memory_budget::MAX_MEMORY;
use crate::model::{Character, Clip, Document, ModelPose};
use std::collections::BTreeMap;
use ufbx::{EvaluateOpts, InheritMode, Matrix, Node};

/// Unit of a file that states none, metres.
const CENTIMETRE: f64 = 0.01;
/// A smaller scale hides the node and cannot be inverted.
const NO_SCALE: f64 = 1e-9;
/// Tolerance for joint positions, relative to the size of the figure.
const POSITION_TOLERANCE: f64 = 1e-4;

/// The FBX file of a character, with its node hierarchy.
pub(super) struct OriginalFile {
    nodes: Vec<OriginalNode>,
    morphs: Vec<MorphChannels>,
    /// Metres in one unit of the file.
    pub(super) metres_per_unit: f64,
    /// Frames per second.
    pub(super) rate: f64,
    /// The size of the figure, metres.
    size: f64,
}

/// A node of the file.
struct OriginalNode {
    id: i64,
    name: String,
    parent: Option<usize>,
    mode: InheritMode,
    /// The node whose scale is inherited component by component.
    scale_from: Option<usize>,
    translation: Vec3,
    rotation: Quat,
    scale: Vec3,
    /// Rotations by which the local rotation is multiplied from the left and the right to get the animated rotation.
    before: Quat,
    after: Quat,
    order: RotationOrder,
    /// The angles in the file.
    degrees: [f64; 3],
    offset: Vec3,
    /// The part of the translation that is rotated before the offset is added.
    arm: Vec3,
    joint: Option<Driven>,
}

/// The joint that drives a node.
struct Driven {
    joint: usize,
    /// The node's linear part relative to its joint.
    linear: Mat3<f64>,
}

/// The world transform of a node in a frame.
#[derive(Clone)]
struct NodePlacement {
    linear: Mat3<f64>,
    /// The linear part without the node's own scale.
    unscaled: Mat3<f64>,
    position: Vec3,
    /// The scale that child nodes inherit.
    inherited: Vec3,
}

fn vec3(v: &ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

fn quat(q: &ufbx::Quat) -> Quat {
    Quat::new_normalize(RawQuat::new(q.w, q.x, q.y, q.z))
}

fn linear(m: &Matrix) -> Mat3<f64> {
    Mat3::new(m.m00, m.m01, m.m02, m.m10, m.m11, m.m12, m.m20, m.m21, m.m22)
}

fn translation(m: &Matrix) -> Vec3 {
    Vec3::new(m.m03, m.m13, m.m23)
}

fn index(node: &Node) -> usize {
    node.element.typed_id as usize
}

fn property(node: &Node, name: &str) -> Vec3 {
    let found = node.element.props.find_prop(name).map(|p| p.value_vec4);
    found.map_or(Vec3::zeros(), |v| Vec3::new(v.x, v.y, v.z))
}

/// The rotation about X, then Y, then Z.
fn from_euler_degrees(degrees: Vec3) -> Quat {
    let [x, y, z] = degrees.map(f64::to_radians).into();
    Quat::from_euler_angles(x, y, z)
}

fn order(order: ufbx::RotationOrder) -> RotationOrder {
    // The file lists the axes in the order of application, `RotationOrder` in the order of multiplication.
    match order {
        ufbx::RotationOrder::Xyz | ufbx::RotationOrder::Spheric => RotationOrder::Zyx,
        ufbx::RotationOrder::Xzy => RotationOrder::Yzx,
        ufbx::RotationOrder::Yzx => RotationOrder::Xzy,
        ufbx::RotationOrder::Yxz => RotationOrder::Zxy,
        ufbx::RotationOrder::Zxy => RotationOrder::Yxz,
        ufbx::RotationOrder::Zyx => RotationOrder::Xyz,
    }
}

impl OriginalFile {
    /// Opens the file of a character.
    pub(super) fn open(bytes: &[u8], document: &Document) -> Result<Self, String> {
        let own = open_fbx(bytes, FbxView::Own, MAX_MEMORY)?;
        let imported = open_fbx(bytes, FbxView::ImportedWithRecords, MAX_MEMORY)?;
        let mut joints = BTreeMap::new();
        for (joint, node) in document.nodes.iter().enumerate() {
            let node = node.and_then(|n| imported.nodes.get(n));
            let Some((node, id)) = node.and_then(|node| Some((node, object_id(&node.element)?))) else {
                continue;
            };
            joints.entry(id).or_insert((
                joint,
                linear(&node.node_to_world),
                translation(&node.node_to_world),
            ));
        }
        if joints.is_empty() {
            return Err("none of its nodes is a joint".to_owned());
        }
        let mut low = Vec3::repeat(f64::INFINITY);
        let mut high = -low;
        for (_, _, at) in joints.values() {
            (low, high) = (low.inf(at), high.sup(at));
        }
        // A single joint has no size.
        let size = Some((high - low).norm()).filter(|size| *size > 0.0).unwrap_or(1.0);
        let mut nodes = Vec::with_capacity(own.nodes.len());
        for node in own.nodes.iter() {
            let known = object_id(&node.element).and_then(|id| joints.get(&id));
            nodes.push(OriginalNode::of(node, known, size)?);
        }
        let settings = &own.settings;
        let stated = settings.original_unit_meters;
        let metres_per_unit = if stated > 0.0 { stated } else { CENTIMETRE };
        let morphs = own.nodes.iter().filter_map(|node| MorphChannels::of_node(node)).collect();
        Ok(Self { nodes, morphs, metres_per_unit, rate: settings.frames_per_second, size })
    }

    /// The animation of the nodes in a clip of the character, which has at least one frame.
    pub(super) fn stack(
        &self,
        character: &Character,
        document: &Document,
        clip: &Clip,
        name: String,
    ) -> Result<AnimationStack, String> {
        let mut rotations = vec![Vec::with_capacity(clip.frames()); self.nodes.len()];
        let mut translations =
            rotations.iter().map(|_| Vec::with_capacity(clip.frames())).collect::<Vec<Vec<Vec3>>>();
        let mut placements: Vec<NodePlacement> = Vec::with_capacity(self.nodes.len());
        for frame in 0..clip.frames() {
            let wanted = wanted(character, document, clip, frame);
            placements.clear();
            for (n, node) in self.nodes.iter().enumerate() {
                let above = node.parent.and_then(|p| placements.get(p));
                let inherited = node
                    .scale_from
                    .and_then(|n| placements.get(n))
                    .map_or(Vec3::repeat(1.0), |s| s.inherited);
                let (rotation, translation) = match &node.joint {
                    Some(driven) => {
                        let (rotation, position) = wanted[driven.joint];
                        let local = node.local(
                            above,
                            &inherited,
                            &(rotation.to_rotation_matrix() * driven.linear),
                            &position,
                        );
                        let local = local
                            .ok_or_else(|| format!("the node `{}` has a singular transform", node.name))?;
                        rotations[n].push(local.0);
                        translations[n].push(local.1);
                        local
                    }
                    None => (node.rotation, node.translation),
                };
                placements.push(node.placement(above, &inherited, &rotation, &translation));
            }
        }
        let driven =
            self.nodes.iter().zip(rotations).zip(translations).filter(|((node, _), _)| node.joint.is_some());
        let tracks = driven
            .map(|((node, rotations), translations)| {
                node.track(&rotations, &translations, self.metres_per_unit)
            })
            .collect();
        Ok(AnimationStack {
            name,
            rate: ticks::nominal(clip.sample_rate),
            ticks: ticks::frame_ticks(clip),
            tracks,
            morphs: self.morphs.iter().flat_map(|mesh| mesh.curves(clip)).collect(),
            cuts: Vec::new(),
            tolerance: 0.0,
        })
    }

    /// Compares joint positions in four frames of each added clip with the wanted ones; in the first alone where keys are not `exact` in others.
    pub(super) fn check(
        &self,
        bytes: &[u8],
        character: &Character,
        document: &Document,
        clips: &[(&Clip, String)],
        exact: bool,
    ) -> Result<(), String> {
        let scene = open_fbx(bytes, FbxView::Own, MAX_MEMORY)?;
        for (clip, name) in clips {
            let stack = scene.anim_stacks.iter().find(|s| *s.element.name == **name);
            let stack =
                stack.ok_or_else(|| format!("the clip `{name}` is missing when the file is read again"))?;
            let last = clip.frames() - 1;
            for frame in if exact { vec![0, last / 3, last / 2, last] } else { vec![0] } {
                let time = ticks::seconds(ticks::frame_ticks(clip)[frame]);
                let evaluated = ufbx::evaluate_scene(&scene, &stack.anim, time, EvaluateOpts::default());
                let evaluated = evaluated.map_err(|error| error.description.to_lowercase())?;
                let wanted = wanted(character, document, clip, frame);
                for (own, node) in self.nodes.iter().zip(evaluated.nodes.iter()) {
                    let Some(driven) = &own.joint else { continue };
                    let off = (translation(&node.node_to_world) - wanted[driven.joint].1).norm();
                    // NaN is an error too.
                    if off.is_nan() || off > POSITION_TOLERANCE * self.size {
                        return Err(format!("the joint `{}` would be {:.1} cm off", own.name, 100.0 * off));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The rotations and positions of the joints in a frame, in the file's world, metres.
fn wanted(character: &Character, document: &Document, clip: &Clip, frame: usize) -> Vec<(Quat, Vec3)> {
    let skeleton = character.skeleton();
    let file_from_model = document.model_from_file.inverse();
    let pose = ModelPose::of(skeleton, &clip.pose(skeleton, frame));
    pose.joints().iter().map(|t| (file_from_model * t.rotation, file_from_model * t.translation)).collect()
}

impl OriginalNode {
    fn of(node: &Node, joint: Option<&(usize, Mat3<f64>, Vec3)>, size: f64) -> Result<Self, String> {
        let name = node.element.name.to_string();
        let local = &node.local_transform;
        let (pre, post) = match node.use_rotation_space {
            true => (
                from_euler_degrees(property(node, "PreRotation")),
                from_euler_degrees(property(node, "PostRotation")),
            ),
            false => (Quat::identity(), Quat::identity()),
        };
        let scale = vec3(&local.scale);
        let [offset, pivot, scaling_offset, scaling_pivot] =
            ["RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot"]
                .map(|name| property(node, name));
        let driven = match joint {
            None => None,
            Some((joint, seen, at)) => {
                let own = linear(&node.node_to_world);
                let (rotation, _) =
                    nearest_rotation(seen).ok_or_else(|| format!("the joint `{name}` has a scale of 0"))?;
                if scale.iter().any(|s| s.abs() < NO_SCALE) {
                    return Err(format!("the joint `{name}` has a scale of 0"));
                }
                if node.has_adjust_transform {
                    return Err(format!("the joint `{name}` has an adjust transform, which has no keys"));
                }
                if (translation(&node.node_to_world) - at).norm() > POSITION_TOLERANCE * size {
                    return Err(format!("the joint `{name}` has another position than the importer read"));
                }
                Some(Driven { joint: *joint, linear: rotation.inverse().to_rotation_matrix() * own })
            }
        };
        Ok(Self {
            id: object_id(&node.element).unwrap_or_default(),
            name,
            parent: node.parent.as_ref().map(|p| index(p)),
            mode: node.inherit_mode,
            scale_from: node.inherit_scale_node.as_ref().map(|n| index(n)),
            translation: vec3(&local.translation),
            rotation: quat(&local.rotation),
            scale,
            before: pre.inverse(),
            after: post,
            order: if node.use_rotation_space { order(node.rotation_order) } else { RotationOrder::Zyx },
            degrees: vec3(&node.euler_rotation).into(),
            offset: offset + pivot,
            arm: scaling_offset + scaling_pivot - pivot - scale.component_mul(&scaling_pivot),
            joint: driven,
        })
    }

    /// The rotation and translation of the node in its parent, for a linear part and a position in the world.
    fn local(
        &self,
        above: Option<&NodePlacement>,
        inherited: &Vec3,
        linear: &Mat3<f64>,
        position: &Vec3,
    ) -> Option<(Quat, Vec3)> {
        let Some(above) = above else { return Some((nearest_rotation(linear)?.0, *position)) };
        let (parent, scale) = match self.mode {
            InheritMode::Normal => (&above.linear, self.scale),
            _ => (&above.unscaled, self.scale.component_mul(inherited)),
        };
        let inverse = parent.try_inverse()?;
        let unscaled = inverse * linear * Mat3::from_diagonal(&scale.map(f64::recip));
        let mut translation = inverse * (position - above.position);
        if self.mode != InheritMode::Normal {
            translation.component_div_assign(&above.inherited);
        }
        let finite = translation.iter().all(|x| x.is_finite());
        nearest_rotation(&unscaled).filter(|_| finite).map(|(rotation, _)| (rotation, translation))
    }

    /// The world transform of the node, as `ufbx` evaluates it.
    fn placement(
        &self,
        above: Option<&NodePlacement>,
        inherited: &Vec3,
        rotation: &Quat,
        translation: &Vec3,
    ) -> NodePlacement {
        let linear = rotation.to_rotation_matrix().into_inner();
        let scaled = |scale: &Vec3| linear * Mat3::from_diagonal(scale);
        let Some(above) = above else {
            return NodePlacement {
                linear: scaled(&self.scale),
                unscaled: linear,
                position: *translation,
                inherited: self.scale,
            };
        };
        let (parent, scale, translation) = match self.mode {
            InheritMode::Normal => (&above.linear, self.scale, *translation),
            _ => (
                &above.unscaled,
                self.scale.component_mul(inherited),
                translation.component_mul(&above.inherited),
            ),
        };
        NodePlacement {
            linear: parent * scaled(&scale),
            unscaled: parent * linear,
            position: above.position + parent * translation,
            inherited: scale,
        }
    }

    fn track(&self, rotations: &[Quat], translations: &[Vec3], metres_per_unit: f64) -> JointCurves {
        let animated = rotations.iter().map(|rotation| self.before * rotation * self.after);
        let degrees = animation_stack::degrees(animated, self.order, self.degrees);
        // `Lcl Translation` is the translation minus offset and rotated pivot; with the rotation in the file it is the file's own.
        let moved: Vec<Vec3> = translations
            .iter()
            .zip(rotations)
            .map(|(translation, rotation)| translation - self.offset - rotation * self.arm)
            .collect();
        let still = self.translation - self.offset - self.rotation * self.arm;
        let steady = STEADY_METRES / metres_per_unit;
        let moves = moved.iter().any(|translation| (translation - still).amax() > steady);
        JointCurves {
            model: self.id,
            degrees,
            translations: moves.then(|| moved.iter().map(|p| (*p).into()).collect()),
        }
    }
}
