//! A motion in model space becomes what the nodes of its character's own FBX file have to do.
//!
//! The file is opened twice: as the importer opens it, to know which node became which joint and how it was turned, and
//! with its own local transforms. With `N` the linear part of a node relative to its joint, which never changes, a
//! node's is `R N` in a frame where its joint is turned `R`; from the top down that, taken into the node above, gives
//! `Lcl Rotation = Pre^-1 local Post` in the node's own order, and what is left of the place after offsets and pivots
//! `Lcl Translation`. Nodes that are no joints stand as the file has them.
//!
//! Space: world, metres, Y up; then each node in the one above. Units: those of the file, degrees.
//! Source: the transform of a node as `ufbx` evaluates it, `T Roff Rp Rpre R Rpost^-1 Rp^-1 Soff Sp S Sp^-1`, and its
//! three ways to inherit scale.

use super::animation_stack::{self, AnimationStack, JointCurves, STEADY_METRES};
use super::ticks;
use crate::export::euler_angles::RotationOrder;
use crate::fbx_document::{FbxView, open_fbx};
use crate::math::{Mat3, Quat, RawQuat, Vec3, nearest_rotation};
use crate::memory_budget::MAX_MEMORY;
use crate::model::{Character, Clip, Document, ModelPose};
use std::collections::BTreeMap;
use ufbx::{EvaluateOpts, InheritMode, Matrix, Node};

/// The unit of a file that tells none.
const CENTIMETRE: f64 = 0.01;
/// A scale below this hides what it scales, and cannot be divided by.
const NO_SCALE: f64 = 1e-9;
/// How far joints may be from where they should be, relative to the size of the figure.
const WRONG: f64 = 1e-4;

/// The FBX file of a character, and how its nodes hang.
pub(super) struct OriginalFile {
    nodes: Vec<OriginalNode>,
    /// Metres in one unit of the file, and its frames a second.
    pub(super) metres_per_unit: f64,
    pub(super) rate: f64,
    size: f64,
}

/// A node as the file has it.
struct OriginalNode {
    id: i64,
    name: String,
    parent: Option<usize>,
    mode: InheritMode,
    /// The node whose scale is taken over component by component.
    scale_from: Option<usize>,
    place: Vec3,
    rotation: Quat,
    scale: Vec3,
    /// What is multiplied around the animated rotation.
    before: Quat,
    after: Quat,
    order: RotationOrder,
    /// The angles of the file.
    degrees: [f64; 3],
    offset: Vec3,
    /// What the rotation turns before the offset is added.
    arm: Vec3,
    joint: Option<Driven>,
}

/// What drives a node.
struct Driven {
    joint: usize,
    /// The node's linear part relative to its joint.
    linear: Mat3<f64>,
}

/// Where a node is in a frame.
#[derive(Clone)]
struct NodePlacement {
    linear: Mat3<f64>,
    unscaled: Mat3<f64>,
    place: Vec3,
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

fn place(m: &Matrix) -> Vec3 {
    Vec3::new(m.m03, m.m13, m.m23)
}

fn index(node: &Node) -> usize {
    node.element.typed_id as usize
}

/// The number by which the file's records name the node.
fn id(node: &Node) -> Option<i64> {
    node.element.dom_node.as_ref()?.values.first().map(|value| value.value_int)
}

fn property(node: &Node, name: &str) -> Vec3 {
    let found = node.element.props.find_prop(name).map(|p| p.value_vec4);
    found.map_or(Vec3::zeros(), |v| Vec3::new(v.x, v.y, v.z))
}

/// The rotation of angles about X, then Y, then Z.
fn turned(degrees: Vec3) -> Quat {
    let [x, y, z] = degrees.map(f64::to_radians).into();
    Quat::from_euler_angles(x, y, z)
}

fn order(order: ufbx::RotationOrder) -> RotationOrder {
    // A file lists what is applied first, the model what is multiplied first.
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
    /// The file of a character.
    ///
    /// # Errors
    /// A sentence, where nodes cannot be driven.
    pub(super) fn open(bytes: &[u8], document: &Document) -> Result<Self, String> {
        let own = open_fbx(bytes, FbxView::Own, MAX_MEMORY)?;
        let seen = open_fbx(bytes, FbxView::ImportedWithRecords, MAX_MEMORY)?;
        let mut joints = BTreeMap::new();
        for (joint, node) in document.nodes.iter().enumerate() {
            let node = node.and_then(|n| seen.nodes.get(n));
            let Some((node, id)) = node.and_then(|node| Some((node, id(node)?))) else { continue };
            joints.entry(id).or_insert((joint, linear(&node.node_to_world), place(&node.node_to_world)));
        }
        if joints.is_empty() {
            return Err("none of its nodes is a joint".to_owned());
        }
        let mut low = Vec3::repeat(f64::INFINITY);
        let mut high = -low;
        for (_, _, at) in joints.values() {
            (low, high) = (low.inf(at), high.sup(at));
        }
        // One joint alone has no size.
        let size = Some((high - low).norm()).filter(|size| *size > 0.0).unwrap_or(1.0);
        let mut nodes = Vec::with_capacity(own.nodes.len());
        for node in own.nodes.iter() {
            let known = id(node).and_then(|id| joints.get(&id));
            nodes.push(OriginalNode::of(node, known, size)?);
        }
        let settings = &own.settings;
        let told = settings.original_unit_meters;
        let metres_per_unit = if told > 0.0 { told } else { CENTIMETRE };
        Ok(Self { nodes, metres_per_unit, rate: settings.frames_per_second, size })
    }

    /// A clip of the character, which has at least one frame, in the file's terms.
    ///
    /// # Errors
    /// A sentence, where a node has no inverse.
    pub(super) fn stack(
        &self,
        character: &Character,
        document: &Document,
        clip: &Clip,
        name: String,
    ) -> Result<AnimationStack, String> {
        let mut turns = vec![Vec::with_capacity(clip.frames()); self.nodes.len()];
        let mut places = turns.iter().map(|_| Vec::with_capacity(clip.frames())).collect::<Vec<Vec<Vec3>>>();
        let mut stands: Vec<NodePlacement> = Vec::with_capacity(self.nodes.len());
        for frame in 0..clip.frames() {
            let wanted = wanted(character, document, clip, frame);
            stands.clear();
            for (n, hang) in self.nodes.iter().enumerate() {
                let above = hang.parent.and_then(|p| stands.get(p));
                let taken =
                    hang.scale_from.and_then(|n| stands.get(n)).map_or(Vec3::repeat(1.0), |s| s.inherited);
                let (rotation, place) = match &hang.joint {
                    Some(driven) => {
                        let (turn, at) = wanted[driven.joint];
                        let local =
                            hang.local(above, &taken, &(turn.to_rotation_matrix() * driven.linear), &at);
                        let local = local.ok_or_else(|| format!("the node `{}` lies flat", hang.name))?;
                        turns[n].push(local.0);
                        places[n].push(local.1);
                        local
                    }
                    None => (hang.rotation, hang.place),
                };
                stands.push(hang.stand(above, &taken, &rotation, &place));
            }
        }
        let driven = self.nodes.iter().zip(turns).zip(places).filter(|((hang, _), _)| hang.joint.is_some());
        let tracks =
            driven.map(|((hang, turns), places)| hang.track(&turns, &places, self.metres_per_unit)).collect();
        Ok(AnimationStack {
            name,
            rate: ticks::nominal(clip.sample_rate),
            ticks: ticks::frame_ticks(clip),
            tracks,
        })
    }

    /// Holds a file to which clips were added against what they should be.
    ///
    /// # Errors
    /// A sentence that names the joint that is farthest off.
    pub(super) fn check(
        &self,
        bytes: &[u8],
        character: &Character,
        document: &Document,
        clips: &[(&Clip, String)],
    ) -> Result<(), String> {
        let scene = open_fbx(bytes, FbxView::Own, MAX_MEMORY)?;
        for (clip, name) in clips {
            let stack = scene.anim_stacks.iter().find(|s| *s.element.name == **name);
            let stack = stack.ok_or_else(|| format!("the clip `{name}` is not found in it again"))?;
            let last = clip.frames() - 1;
            for frame in [0, last / 3, last / 2, last] {
                let time = ticks::seconds(ticks::frame_ticks(clip)[frame]);
                let there = ufbx::evaluate_scene(&scene, &stack.anim, time, EvaluateOpts::default());
                let there = there.map_err(|error| error.description.to_lowercase())?;
                let wanted = wanted(character, document, clip, frame);
                for (hang, node) in self.nodes.iter().zip(there.nodes.iter()) {
                    let Some(driven) = &hang.joint else { continue };
                    let off = (place(&node.node_to_world) - wanted[driven.joint].1).norm();
                    // Not a number is wrong, too.
                    if off.is_nan() || off > WRONG * self.size {
                        return Err(format!("the joint `{}` would be {:.1} cm off", hang.name, 100.0 * off));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Where the joints are in a frame, in the file's world, metres.
fn wanted(character: &Character, document: &Document, clip: &Clip, frame: usize) -> Vec<(Quat, Vec3)> {
    let skeleton = character.skeleton();
    let back = document.model_from_file.inverse();
    let pose = ModelPose::of(skeleton, &clip.pose(skeleton, frame));
    pose.joints().iter().map(|t| (back * t.rotation, back * t.translation)).collect()
}

impl OriginalNode {
    fn of(node: &Node, joint: Option<&(usize, Mat3<f64>, Vec3)>, size: f64) -> Result<Self, String> {
        let name = node.element.name.to_string();
        let local = &node.local_transform;
        let (pre, post) = match node.use_rotation_space {
            true => (turned(property(node, "PreRotation")), turned(property(node, "PostRotation"))),
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
                    nearest_rotation(seen).ok_or_else(|| format!("the joint `{name}` has no scale"))?;
                if scale.iter().any(|s| s.abs() < NO_SCALE) || node.has_adjust_transform {
                    return Err(format!("the joint `{name}` has no scale"));
                }
                if (place(&node.node_to_world) - at).norm() > WRONG * size {
                    return Err(format!("the joint `{name}` is not where it was read"));
                }
                Some(Driven { joint: *joint, linear: rotation.inverse().to_rotation_matrix() * own })
            }
        };
        Ok(Self {
            id: id(node).unwrap_or_default(),
            name,
            parent: node.parent.as_ref().map(|p| index(p)),
            mode: node.inherit_mode,
            scale_from: node.inherit_scale_node.as_ref().map(|n| index(n)),
            place: vec3(&local.translation),
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

    /// The turn and place in the node above of a node that stands so in the world.
    fn local(
        &self,
        above: Option<&NodePlacement>,
        taken: &Vec3,
        stands: &Mat3<f64>,
        at: &Vec3,
    ) -> Option<(Quat, Vec3)> {
        let Some(above) = above else { return Some((nearest_rotation(stands)?.0, *at)) };
        let (holder, scale) = match self.mode {
            InheritMode::Normal => (&above.linear, self.scale),
            _ => (&above.unscaled, self.scale.component_mul(taken)),
        };
        let back = holder.try_inverse()?;
        let unscaled = back * stands * Mat3::from_diagonal(&scale.map(f64::recip));
        let mut place = back * (at - above.place);
        if self.mode != InheritMode::Normal {
            place.component_div_assign(&above.inherited);
        }
        let whole = place.iter().all(|x| x.is_finite());
        nearest_rotation(&unscaled).filter(|_| whole).map(|(rotation, _)| (rotation, place))
    }

    /// Where the node is, as the reader evaluates it.
    fn stand(
        &self,
        above: Option<&NodePlacement>,
        taken: &Vec3,
        rotation: &Quat,
        place: &Vec3,
    ) -> NodePlacement {
        let turn = rotation.to_rotation_matrix().into_inner();
        let scaled = |scale: &Vec3| turn * Mat3::from_diagonal(scale);
        let Some(above) = above else {
            return NodePlacement {
                linear: scaled(&self.scale),
                unscaled: turn,
                place: *place,
                inherited: self.scale,
            };
        };
        let (holder, scale, place) = match self.mode {
            InheritMode::Normal => (&above.linear, self.scale, *place),
            _ => (&above.unscaled, self.scale.component_mul(taken), place.component_mul(&above.inherited)),
        };
        NodePlacement {
            linear: holder * scaled(&scale),
            unscaled: holder * turn,
            place: above.place + holder * place,
            inherited: scale,
        }
    }

    fn track(&self, turns: &[Quat], places: &[Vec3], metres_per_unit: f64) -> JointCurves {
        let animated = turns.iter().map(|turn| self.before * turn * self.after);
        let degrees = animation_stack::degrees(animated, self.order, self.degrees);
        // The file's translation is what is left of the place; with its static rotation that is the file's own.
        let moved: Vec<Vec3> =
            places.iter().zip(turns).map(|(place, turn)| place - self.offset - turn * self.arm).collect();
        let still = self.place - self.offset - self.rotation * self.arm;
        let steady = STEADY_METRES / metres_per_unit;
        let moves = moved.iter().any(|place| (place - still).amax() > steady);
        JointCurves {
            model: self.id,
            degrees,
            places: moves.then(|| moved.iter().map(|p| (*p).into()).collect()),
        }
    }
}
