//! Computes one bind pose, in the space of the skeleton, from the inverse bind matrices of all skins of a document.
//!
//! A skin attaches its vertices in a space of its own: `skin_from_joint = IBM^-1` at the time of binding. The specification
//! ignores the transform of the node with the mesh, and quantised meshes put their dequantisation into the matrices, so skin
//! space and world differ by a similarity that the file does not state. It is estimated from the distances between joints,
//! which no pose changes (scale), and from the spaces that exporters use: where all joints agree on one of them, the rest pose is
//! the bind pose; otherwise the space of the ancestor node whose rotation is closest to the one that most joints imply. A joint is weighted
//! by the length of the bones that start at it: two hands have forty joints, and hands closed at rest would outvote the body.
//!
//! A character saved while it lies or looks back has all of its joints rotated together, however far: the space is then the one in which
//! the legs of the bind pose stand, as the format has Y up.
//!
//! Of several skins, the one with the longest bones is the body. Another one that binds shared joints elsewhere, or pulls a
//! joint off the body (a sword bound at its own origin), is ignored.
//!
//! Space: the file's own world. Units: metres.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::bind_spaces::{BindSpaces, BoundJoint, STANDS};
use super::node_joints::Joints;
use crate::gltf_document::{Affine, GltfError, NodeTree, WorldTransform};
use crate::kinematics::figure_size;
use crate::math::{
    Mat4, Quat, Transform, Vec3, angle_between, median_rotation, nearest_rotation, rotation_between,
};
use crate::memory_budget::MemoryBudget;
use crate::model::{JointId, ModelPose, Skeleton};
use crate::report::Warnings;
use ::gltf::json::accessor::Type;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_3;

/// Agreement of lengths and positions, relative to their size.
const AGREES: f64 = 1e-3;

/// A skin as it is in the document.
pub(super) struct GltfSkin {
    /// The node of each joint.
    pub(super) nodes: Vec<usize>,
    /// Joint from skin space, one for each joint.
    pub(super) joint_from_skin: Vec<Affine>,
    /// Whether the matrices are in the file; without them they are identities.
    pub(super) stated: bool,
}

/// The skins of the document whose joints are `nodes`.
pub(super) fn skins(
    typed: &[::gltf::json::Skin],
    nodes: Vec<Vec<usize>>,
    accessors: &Accessors,
    warnings: &mut Warnings,
) -> Result<Vec<GltfSkin>, GltfError> {
    let mut skins = Vec::with_capacity(typed.len());
    for (s, (skin, nodes)) in typed.iter().zip(nodes).enumerate() {
        let path = format!("skins[{s}].inverseBindMatrices");
        let mut matrices = vec![Affine::identity(); nodes.len()];
        let mut stated = false;
        if let Some(index) = skin.inverse_bind_matrices {
            match accessors.floats(index.value(), &path, Type::Mat4, Numbers::Float) {
                Ok(numbers) if numbers.len() / 16 >= nodes.len() => {
                    for (matrix, m) in matrices.iter_mut().zip(numbers.chunks_exact(16)) {
                        *matrix = Affine::from_matrix(&Mat4::from_iterator(m.iter().map(|&x| x.into())));
                    }
                    stated = true;
                }
                Ok(numbers) => {
                    let said = format!(
                        "{} inverse bind matrices for {} joints were ignored",
                        numbers.len() / 16,
                        nodes.len()
                    );
                    warnings.add("gltf-bind-count", said, path);
                }
                Err(error) => {
                    let error = error.unless_memory()?;
                    let said = format!("inverse bind matrices cannot be read: {error}");
                    warnings.add("gltf-bind-unreadable", said, path);
                }
            }
        }
        skins.push(GltfSkin { nodes, joint_from_skin: matrices, stated });
    }
    Ok(skins)
}

/// The bind pose, or `None`, with a warning where there are matrices, but none that fit the skeleton.
pub(super) fn bind(
    skins: &[GltfSkin],
    tree: &NodeTree,
    worlds: &[WorldTransform],
    joints: &Joints,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Option<ModelPose>, GltfError> {
    let size = figure_size(&joints.skeleton);
    let rest = joints.skeleton.rest_model_pose();
    let mut bound: Vec<Option<Transform>> = vec![None; joints.nodes.len()];
    let stated = skins.iter().enumerate().filter(|(_, skin)| skin.stated);
    let mut stated: Vec<(f64, usize, &GltfSkin)> = stated
        .map(|(s, skin)| {
            let ids: Vec<JointId> = skin.nodes.iter().filter_map(|n| joints.of_node[*n]).collect();
            (bone_lengths(&ids, joints, &rest).iter().sum(), s, skin)
        })
        .collect();
    stated.sort_by(|a, b| b.0.total_cmp(&a.0));
    let spaces = BindSpaces::of(tree, worlds);
    for (_, s, skin) in stated {
        // Every skin is compared with every space.
        budget.reserve_list::<(Affine, Quat)>(spaces.mesh_nodes.len() as u64, || format!("`skins[{s}]`"))?;
        let mut attached = Vec::new();
        for (node, matrix) in skin.nodes.iter().zip(&skin.joint_from_skin) {
            match (joints.of_node[*node], matrix.inverse()) {
                (Some(joint), Some(skin_from_joint)) => attached.push((joint, *node, skin_from_joint)),
                _ => warnings.add(
                    "gltf-singular-bind",
                    "a joint's inverse bind matrix is singular; its bind pose follows its parent",
                    format!("skins[{s}], nodes[{node}]"),
                ),
            }
        }
        let Some(in_world) = bind_in_world(&attached, skin, tree, &spaces, joints, &rest, size) else {
            if !attached.is_empty() {
                let said = "the inverse bind matrices do not fit the skeleton at rest and were ignored";
                warnings.add("gltf-bind-unusable", said, format!("skins[{s}]"));
            }
            continue;
        };
        let apart = |joint: JointId, frame: &Transform| match &bound[joint.index()] {
            Some(known) => (known.translation - frame.translation).norm() > AGREES * size,
            // The distance to a parent that is bound already must be the length of the bone.
            None => joints.skeleton.parent(joint).and_then(|p| Some((p, bound[p.index()]?))).is_some_and(
                |(parent, known)| {
                    let length = (rest.position(joint) - rest.position(parent)).norm();
                    ((frame.translation - known.translation).norm() - length).abs() > AGREES * size
                },
            ),
        };
        if attached.iter().zip(&in_world).any(|((joint, ..), frame)| apart(*joint, frame)) {
            let said = "skins bind joints at different positions; the one with the longest bones is used";
            warnings.add("gltf-skins-disagree", said, format!("skins[{s}]"));
            continue;
        }
        for ((joint, ..), frame) in attached.iter().zip(in_world) {
            bound[joint.index()].get_or_insert(frame);
        }
    }
    if bound.iter().all(Option::is_none) {
        return Ok(None);
    }
    bind_helped(&mut bound, &joints.skeleton);
    let mut pose: Vec<Transform> = Vec::with_capacity(bound.len());
    for (k, joint) in joints.skeleton.joints().iter().enumerate() {
        let follows = match joint.parent {
            Some(p) => pose[p.index()] * joint.rest,
            None => joint.rest,
        };
        pose.push(bound[k].unwrap_or(follows));
    }
    Ok(Some(ModelPose::new(pose)))
}

/// Binds the joints above all bound ones by those of their own helpers that are bound.
fn bind_helped(bound: &mut [Option<Transform>], skeleton: &Skeleton) {
    // Whether a skin binds a joint or one above it: a path per joint would be quadratic in a chain.
    let mut stated: Vec<bool> = Vec::with_capacity(bound.len());
    for id in skeleton.ids() {
        let above = skeleton.parent(id).is_some_and(|p| stated[p.index()]);
        stated.push(above || bound[id.index()].is_some());
        if !stated[id.index()] {
            let helper = helper(skeleton, id, |c| bound[c.index()].is_some());
            bound[id.index()] =
                helper.and_then(|c| Some(bound[c.index()]? * skeleton.joint(c).rest.inverse()));
        }
    }
}

/// The leaf on a joint that is one of `these`: a helper that holds its skin.
fn helper(skeleton: &Skeleton, id: JointId, these: impl Fn(JointId) -> bool) -> Option<JointId> {
    let leaf = |c: &JointId| these(*c) && skeleton.children(*c).is_empty();
    skeleton.children(id).iter().copied().find(leaf)
}

/// The bound joints of one skin in world space; `None` if no similarity maps them there.
fn bind_in_world(
    attached: &[BoundJoint],
    skin: &GltfSkin,
    tree: &NodeTree,
    spaces: &BindSpaces,
    joints: &Joints,
    rest: &ModelPose,
    size: f64,
) -> Option<Vec<Transform>> {
    let worlds = spaces.worlds;
    let frames: Vec<(Quat, bool)> =
        attached.iter().map(|a| nearest_rotation(&a.2.linear)).collect::<Option<_>>()?;
    // If the rest pose is the bind pose, `world * IBM` is the same for all joints.
    let maps: Vec<Affine> =
        attached.iter().filter_map(|a| Some(worlds[a.1].affine() * a.2.inverse()?)).collect();
    let first = maps.first()?;
    let at_rest = || attached.iter().map(|a| worlds[a.1].rigid().0).collect();
    let top = attached.iter().map(|a| a.0).min()?;
    let top = attached.iter().position(|a| a.0 == top)?;
    let (_, top_node, top_bind) = &attached[top];
    // The frames of a mirrored body are those of the mirror image, which is the point reflection of a rotated one.
    let side = if worlds[*top_node].rigid().1 != frames[top].1 { -1.0 } else { 1.0 };
    let candidates = spaces.candidates(*top_node, &skin.nodes, tree);
    let apart = |m: &Affine, p: &Vec3| (m.point(p) - first.point(p)).norm() > AGREES * size;
    // Two affine maps are farthest apart at a corner of the points' box: all points are looked at only where a corner moves.
    let points = || attached.iter().map(|a| a.2.translation);
    let [low, high] = [points().reduce(|a, b| a.inf(&b))?, points().reduce(|a, b| a.sup(&b))?];
    let corner = |k: usize| Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] });
    let corners: [Vec3; 8] = std::array::from_fn(corner);
    let moved = |m: &Affine| corners.iter().any(|p| apart(m, p)) && points().any(|p| apart(m, &p));
    let rigid = !maps.iter().any(moved) && similarity_scale(first).is_some();
    let of_all = rigid.then(|| nearest_rotation(&first.linear)).flatten().map(|found| found.0);
    if of_all.is_some_and(|q| candidates.iter().any(|c| rotation_between(&c.1, &q) < AGREES)) {
        return Some(at_rest());
    }
    let up = spaces.legs_up(attached, joints, rest);
    let stands =
        |c: &(Affine, Quat)| up.is_some_and(|up| angle_between(&(c.1 * up * side), &Vec3::y()) < STANDS);
    if rigid && !candidates.iter().any(stands) {
        return Some(at_rest());
    }
    let scale = length_ratio(attached, joints, rest)?;
    // The rotation of most of the body, and the space of the file that is nearest to it.
    let rotations: Vec<Quat> =
        attached.iter().zip(&frames).map(|(a, q)| worlds[a.1].rigid().0.rotation * q.0.inverse()).collect();
    let ids: Vec<JointId> = attached.iter().map(|a| a.0).collect();
    let body = common_rotation(&rotations, &bone_lengths(&ids, joints, rest))?;
    let nearest = |to: Quat, upright: bool| {
        let off = |c: &(Affine, Quat)| rotation_between(&c.1, &to);
        let open = candidates.iter().copied().filter(|c| !upright || stands(c));
        open.min_by(|a, b| off(a).total_cmp(&off(b))).filter(|c| upright || off(c) <= FRAC_PI_3)
    };
    // If no space is near the rotation of the body (a chain that is curled up), one may be near that of its topmost joint.
    let near = nearest(body, false).or_else(|| nearest(rotations[top], false));
    let (map, rotation) = near.filter(stands).or_else(|| nearest(body, true)).or(near)?;
    let scale = scale * side;
    let shift = match similarity_scale(&map) {
        Some(s) if (s / scale.abs() - 1.0).abs() < AGREES => map.translation,
        // Dequantisation also moves the origin of skin space: then the topmost joint is at its rest position.
        _ => worlds[*top_node].translation - rotation * (top_bind.translation * scale),
    };
    // Bound and rest pose differ by one rotation only: that of the mesh, or that of a body that looks back. The body tells which.
    if rigid && spaces.front_is_nearer_at_rest(attached, joints, rest, &(rotation, side)) {
        return Some(at_rest());
    }
    let in_world = attached.iter().zip(&frames);
    Some(
        in_world
            .map(|(a, q)| Transform::new(rotation * q.0, rotation * (a.2.translation * scale) + shift))
            .collect(),
    )
}

/// The scale of `m` if it is a rotation with uniform scale.
fn similarity_scale(m: &Affine) -> Option<f64> {
    let lengths = Vec3::from_fn(|i, _| m.linear.column(i).norm());
    let even = lengths.max() - lengths.min() <= AGREES * lengths.max();
    (even && lengths.min() > 0.0).then(|| lengths.sum() / 3.0)
}

/// World lengths over skin lengths: the median over pairs of a joint and the nearest one above it, if half of the pairs share it.
fn length_ratio(attached: &[BoundJoint], joints: &Joints, rest: &ModelPose) -> Option<f64> {
    let in_skin: BTreeMap<JointId, Vec3> = attached.iter().map(|a| (a.0, a.2.translation)).collect();
    let parents = nearest_above(joints, |id| in_skin.contains_key(&id));
    let mut ratios = Vec::new();
    for (joint, _, here) in attached {
        let Some(parent) = parents[joint.index()] else { continue };
        let there = in_skin[&parent];
        let (world, skin): (f64, f64) =
            ((rest.position(*joint) - rest.position(parent)).norm(), (here.translation - there).norm());
        if world > 1e-9 && skin > 0.0 {
            ratios.push(world / skin);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let median = *ratios.get(ratios.len() / 2)?;
    let agree = ratios.iter().filter(|r| (**r / median - 1.0).abs() < AGREES).count();
    (2 * agree >= ratios.len()).then_some(median)
}

/// For every joint the nearest of `these` above it: nodes without skin may be between two joints of a skin. Of a joint with none above
/// it, the helper of the nearest joint that has one: the skin may be on helpers alone.
fn nearest_above(joints: &Joints, these: impl Fn(JointId) -> bool) -> Vec<Option<JointId>> {
    let skeleton = &joints.skeleton;
    let mut above: Vec<Option<JointId>> = Vec::with_capacity(joints.nodes.len());
    for parent in skeleton.parents() {
        above.push(parent.and_then(|p| if these(p) { Some(p) } else { above[p.index()] }));
    }
    // Joints with one of `these` above have it for their children too, so that only the tops of the others are searched.
    let mut of_tree: Vec<Option<JointId>> = Vec::with_capacity(above.len());
    for id in skeleton.ids() {
        let parent = skeleton.parent(id);
        let inherited = parent.and_then(|p| of_tree[p.index()]);
        if above[id.index()].is_none() {
            // The helper of its own parent is itself, or moves with it.
            let grandparent = parent.and_then(|p| skeleton.parent(p));
            above[id.index()] = grandparent.and_then(|g| of_tree[g.index()]);
        }
        of_tree.push(helper(skeleton, id, &these).or(inherited));
    }
    above
}

/// The length of the bones that start at each of `ids`, between joints of the list.
fn bone_lengths(ids: &[JointId], joints: &Joints, rest: &ModelPose) -> Vec<f64> {
    let mut lengths: BTreeMap<JointId, f64> = ids.iter().map(|id| (*id, 0.0)).collect();
    let parents = nearest_above(joints, |id| lengths.contains_key(&id));
    for &id in ids {
        if let Some(parent) = parents[id.index()]
            && let Some(length) = lengths.get_mut(&parent)
        {
            *length += (rest.position(id) - rest.position(parent)).norm();
        }
    }
    ids.iter().map(|id| lengths[id]).collect()
}

/// Number of joints, those with the longest bones, among which the start of the search is chosen: the cost is quadratic.
const MOST_STARTS: usize = 64;

/// The rotation of most of the body: the weighted L1 median of `rotations`, started at the medoid of the heaviest.
fn common_rotation(rotations: &[Quat], weights: &[f64]) -> Option<Quat> {
    let heavy = weights.iter().any(|w| *w > 0.0);
    let weights: Vec<f64> = if heavy { weights.to_vec() } else { vec![1.0; rotations.len()] };
    let mut order: Vec<usize> = (0..rotations.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order.truncate(MOST_STARTS);
    let distance = |k: usize| -> f64 {
        order.iter().map(|&j| weights[j] * rotation_between(&rotations[k], &rotations[j])).sum()
    };
    let start = order.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b)))?;
    Some(median_rotation(rotations, &weights, rotations[start]))
}
