//! Selects the nodes of a document that are joints, with their order, names and rest transforms.
//!
//! A joint is a node that a skin or a VRM humanoid refers to, or a node between two of these; in a document without either,
//! every node is a joint. Where the skin is on helpers alone (`hips` has the children `hips_DEF` and `spine`), the nodes that these
//! helpers hang on are joints too. Scale is folded: the rest pose in model space is the rigid part of each node's world transform,
//! and the transforms of nodes above the top joints are included in those.
//!
//! Space: the file's own world. Units: metres.

use crate::gltf_document::{GltfError, Json, NodeTree, WorldTransform};
use crate::math::Transform;
use crate::model::{FARTHEST, Joint, JointId, Skeleton, UniqueNames};
use crate::report::{Warnings, one_line};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};

/// The version of a VRM document, which defines the facing direction of its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VrmVersion {
    /// VRM 0.x: the character faces -Z.
    Zero,
    /// VRM 1.0 and VRM animation 1.0: the character faces +Z.
    One,
}

/// The humanoid map of a VRM document.
#[derive(Clone, Debug, PartialEq)]
pub struct VrmHumanoid {
    /// The version of the extension that holds the map.
    pub version: VrmVersion,
    /// The extension's bone names (`hips`, `leftUpperArm`, ...) and their joints, in file order.
    pub bones: Vec<(String, JointId)>,
}

/// The joints of a document and their nodes.
pub(super) struct Joints {
    pub(super) skeleton: Skeleton,
    /// The node of each joint; `None` for an added root.
    pub(super) nodes: Vec<Option<usize>>,
    /// The joint of each node.
    pub(super) of_node: Vec<Option<JointId>>,
    /// The nearest node that is a joint, for each node: itself or an ancestor.
    pub(super) holder: Vec<Option<usize>>,
    pub(super) humanoid: Option<VrmHumanoid>,
    /// The tree of nodes of each joint without a parent in the file, by its first node: the trees hang on the lowest node above all
    /// of these joints.
    pub(super) trees: Vec<Option<usize>>,
    /// Whether more than half of the joints are mirrored.
    pub(super) mirrored: bool,
}

impl Joints {
    /// The joints of the document whose skins name the nodes `skins`.
    pub(super) fn read(
        json: &Json,
        tree: &NodeTree,
        skins: &[Vec<usize>],
        worlds: &[WorldTransform],
        warnings: &mut Warnings,
    ) -> Result<Self, GltfError> {
        if tree.nodes().is_empty() {
            return Err(GltfError::NoNodes);
        }
        let vrm = humanoid_nodes(json, tree.nodes().len(), warnings);
        let named: BTreeSet<usize> =
            skins.iter().flatten().copied().chain(vrm.iter().flat_map(|v| v.1.iter().map(|b| b.1))).collect();
        let members = members(tree, &with_helped(tree, named.clone()));
        let holder = holders(tree, &members);
        let joint_parent = |node: usize| tree.node(node).parent.and_then(|p| holder[p]);
        let order = parents_first(tree, &members, joint_parent);
        let top_nodes: Vec<usize> = order.iter().copied().filter(|&n| joint_parent(n).is_none()).collect();
        let (tops, tree_of) = (top_nodes.len(), trees(tree, &top_nodes));

        let mut of_node = vec![None; tree.nodes().len()];
        let mut nodes = Vec::with_capacity(order.len() + 1);
        let mut taken =
            UniqueNames::new(order.iter().filter_map(|&n| Some(one_line(tree.node(n).name.as_ref()?))));
        let mut used = HashSet::new();
        let mut joints = Vec::with_capacity(order.len() + 1);
        let mut frames: Vec<Transform> = Vec::with_capacity(order.len() + 1);
        let mut mirror_images = 0;
        if tops > 1 {
            let name = taken.fresh("root");
            joints.push(Joint { file_name: None, ..Joint::new(name, None, Transform::identity()) });
            nodes.push(None);
            frames.push(Transform::identity());
        }
        for node in order {
            let (frame, mirrored) = worlds[node].rigid();
            if mirrored {
                mirror_images += 1;
                let said = "a joint is mirrored at rest; its frame is that of the mirror image";
                warnings.add("gltf-mirrored-joint", said, format!("nodes[{node}]"));
            }
            if !(frame.is_finite() && frame.translation.amax() <= FARTHEST) {
                return Err(GltfError::NotFinite { path: format!("nodes[{node}]"), item: 0 });
            }
            let id = JointId::new(joints.len());
            let parent = match joint_parent(node) {
                Some(p) => of_node[p],
                None => (tops > 1).then(|| JointId::new(0)),
            };
            let file_name = tree.node(node).name.clone().unwrap_or_default();
            let name = match one_line(&file_name).as_str() {
                "" => taken.fresh(&format!("joint_{node}")),
                name if used.contains(name) => {
                    let said = "joint names repeat; later ones got a number";
                    warnings.add("gltf-repeated-name", said, format!("nodes[{node}]"));
                    taken.fresh(name)
                }
                name => name.to_owned(),
            };
            used.insert(name.clone());
            let rest = parent.map_or(frame, |p| frames[p.index()].inverse() * frame);
            let tip = tip(tree, node, &members, !named.is_empty())
                .map(|end| frame.inverse().point(&worlds[end].translation));
            joints.push(Joint { name, file_name: Some(file_name), parent, rest, tip });
            of_node[node] = Some(id);
            nodes.push(Some(node));
            frames.push(frame);
        }
        let humanoid = vrm.map(|(version, bones)| VrmHumanoid {
            version,
            bones: bones.into_iter().filter_map(|(bone, n)| Some((bone, of_node[n]?))).collect(),
        });
        // Parents, names and numbers were checked above.
        let skeleton = Skeleton::new(joints).map_err(|e| GltfError::value("nodes", e.to_string()))?;
        let mirrored = 2 * mirror_images > skeleton.len();
        let trees = nodes.iter().map(|node| tree_of.get(&(*node)?).copied()).collect();
        Ok(Self { skeleton, nodes, of_node, holder, humanoid, trees, mirrored })
    }
}

/// The node above each of `tops`, or itself, that is the first one not above all of them.
fn trees(tree: &NodeTree, tops: &[usize]) -> BTreeMap<usize, usize> {
    let mut above = vec![0; tree.nodes().len()];
    tops.iter().flat_map(|&top| tree.path_to_top(top)).for_each(|node| above[node] += 1);
    let first = |top: usize| tree.path_to_top(top).take_while(|&node| above[node] < tops.len()).last();
    tops.iter().map(|&top| (top, first(top).unwrap_or(top))).collect()
}

/// The nearest joint for each node: itself or an ancestor.
fn holders(tree: &NodeTree, members: &[bool]) -> Vec<Option<usize>> {
    let mut holders: Vec<Option<usize>> = vec![None; members.len()];
    for &n in tree.order() {
        holders[n] = if members[n] { Some(n) } else { tree.node(n).parent.and_then(|p| holders[p]) };
    }
    holders
}

/// Which nodes are joints: the named ones and those between them, or all if none is named.
fn members(tree: &NodeTree, named: &BTreeSet<usize>) -> Vec<bool> {
    let mut members = vec![named.is_empty(); tree.nodes().len()];
    named.iter().for_each(|&n| members[n] = true);
    // Parents first, so that the ancestors of a node are processed before it.
    let mut below = vec![false; tree.nodes().len()];
    for &n in tree.order() {
        below[n] = tree.node(n).parent.is_some_and(|p| below[p] || named.contains(&p));
    }
    let mut above = vec![false; tree.nodes().len()];
    for &n in tree.order().iter().rev() {
        if let Some(p) = tree.node(n).parent {
            above[p] |= above[n] || named.contains(&n);
        }
    }
    for n in 0..members.len() {
        members[n] |= below[n] && above[n];
    }
    members
}

/// Fewest nodes of skins on a tree of other nodes for these to be joints: a body with four limbs has more, the eyes of a bare head fewer.
const FEWEST_HELPERS: usize = 6;

/// The named nodes and, where many without a named one above them are helpers that hang on a tree of other nodes, this tree.
fn with_helped(tree: &NodeTree, mut named: BTreeSet<usize>) -> BTreeSet<usize> {
    // Passes over the tree, parents first and children first: a path per node would be quadratic in a chain.
    let count = tree.nodes().len();
    let mut below_named = vec![false; count];
    let mut holds = vec![false; count];
    for &n in tree.order() {
        let Some(p) = tree.node(n).parent else { continue };
        below_named[n] = below_named[p] || named.contains(&p);
        holds[p] |= named.contains(&n) && !below_named[n];
    }
    let mut below_holder = vec![false; count];
    let mut nested = 0;
    for &n in tree.order() {
        let Some(p) = tree.node(n).parent else { continue };
        below_holder[n] = below_holder[p] || holds[p];
        nested += usize::from(named.contains(&n) && !below_named[n] && below_holder[p]);
    }
    if nested < FEWEST_HELPERS {
        return named;
    }
    let mut above_holder = vec![false; count];
    for &n in tree.order().iter().rev() {
        above_holder[n] |= holds[n];
        if above_holder[n] && (holds[n] || below_holder[n]) {
            named.insert(n);
        }
        if let Some(p) = tree.node(n).parent.filter(|_| above_holder[n]) {
            above_holder[p] = true;
        }
    }
    named
}

/// The members, every parent before its children, and otherwise by node index.
fn parents_first(
    tree: &NodeTree,
    members: &[bool],
    joint_parent: impl Fn(usize) -> Option<usize>,
) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    let mut ready = BinaryHeap::new();
    for &n in tree.order() {
        match joint_parent(n) {
            _ if !members[n] => {}
            Some(p) => children[p].push(n),
            None => ready.push(Reverse(n)),
        }
    }
    let mut order = Vec::new();
    while let Some(Reverse(n)) = ready.pop() {
        order.push(n);
        ready.extend(children[n].iter().map(|&c| Reverse(c)));
    }
    order
}

/// The `_end` node that marks the end of a leaf joint's bone.
fn tip(tree: &NodeTree, node: usize, members: &[bool], skinned: bool) -> Option<usize> {
    let children = &tree.node(node).children;
    if !skinned || children.iter().any(|&c| members[c]) {
        return None;
    }
    let ends = |c: &usize| {
        let child = tree.node(*c);
        let named = child.name.as_ref().is_some_and(|n| n.to_ascii_lowercase().ends_with("_end"));
        named && child.children.is_empty() && child.mesh.is_none()
    };
    children.iter().copied().find(ends)
}

/// The nodes in the humanoid map of a VRM extension.
#[allow(clippy::type_complexity, reason = "read in one place")]
fn humanoid_nodes(
    json: &Json,
    count: usize,
    warnings: &mut Warnings,
) -> Option<(VrmVersion, Vec<(String, usize)>)> {
    let extensions = json.value("extensions")?;
    let map = |name: &str| extensions.get(name)?.get("humanoid")?.get("humanBones").cloned();
    let node = |bone: &Value| bone.get("node").and_then(Value::as_u64);
    let (version, named): (_, Vec<(String, Option<u64>)>) =
        if let Some(Value::Object(bones)) = map("VRMC_vrm").or_else(|| map("VRMC_vrm_animation")) {
            (VrmVersion::One, bones.iter().map(|(name, bone)| (name.clone(), node(bone))).collect())
        } else if let Some(Value::Array(bones)) = map("VRM") {
            let name = |b: &Value| b.get("bone").and_then(Value::as_str).unwrap_or_default().to_owned();
            (VrmVersion::Zero, bones.iter().map(|b| (name(b), node(b))).collect())
        } else {
            return None;
        };
    let mut found = Vec::with_capacity(named.len());
    for (name, node) in named {
        match node.and_then(|n| usize::try_from(n).ok()).filter(|&n| n < count) {
            Some(n) => found.push((name, n)),
            None => warnings.add(
                "vrm-bone-without-node",
                "a bone of the humanoid map names no node and was left out",
                name,
            ),
        }
    }
    Some((version, found))
}

/// The nodes of the joints of each skin.
pub(super) fn skin_joints(skins: &[::gltf::json::Skin], count: usize) -> Result<Vec<Vec<usize>>, GltfError> {
    let mut all = Vec::with_capacity(skins.len());
    for (s, skin) in skins.iter().enumerate() {
        let joints: Vec<usize> = skin.joints.iter().map(|j| j.value()).collect();
        if let Some(k) = joints.iter().position(|&j| j >= count) {
            let path = format!("skins[{s}].joints[{k}]");
            return Err(GltfError::OutOfRange { path, list: "nodes", index: joints[k] as u64, count });
        }
        all.push(joints);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    fn joints(text: &str, skins: &[Vec<usize>]) -> Joints {
        let json = Json::parse(text, 0).unwrap();
        let mut warnings = Warnings::new();
        let tree = NodeTree::read(&json, &mut warnings).unwrap();
        Joints::read(&json, &tree, skins, &tree.worlds(), &mut warnings).unwrap()
    }

    fn names(joints: &Joints) -> Vec<&str> {
        joints.skeleton.joints().iter().map(|j| j.name.as_str()).collect()
    }

    #[test]
    fn nodes_between_joints_are_joints_and_those_above_are_folded() {
        let text = r#"{"nodes":[
            {"name":"arm","scale":[100,100,100],"children":[1]},
            {"name":"a","translation":[0,1,0],"children":[2]},
            {"name":"between","children":[3,4]},
            {"name":"b","translation":[0.5,0,0],"children":[5]},
            {"name":"mesh"},
            {"name":"b_end","translation":[0,0.25,0]}]}"#;
        let found = joints(text, &[vec![3, 1]]);
        assert_eq!(names(&found), ["a", "between", "b"]);
        assert_eq!(found.nodes, [Some(1), Some(2), Some(3)]);
        let rest = |k: usize| found.skeleton.joints()[k].rest.translation;
        assert_eq!((rest(0), rest(2)), (Vec3::new(0.0, 100.0, 0.0), Vec3::new(50.0, 0.0, 0.0)));
        assert_eq!(found.skeleton.joints()[2].tip, Some(Vec3::new(0.0, 25.0, 0.0)));
    }

    #[test]
    fn several_tops_get_a_root_and_repeated_names_a_number() {
        let text = r#"{"nodes":[{"name":"a","children":[2]},{"name":"root"},{"name":"a"},{}]}"#;
        let found = joints(text, &[vec![0, 1, 2, 3]]);
        assert_eq!(names(&found), ["root_2", "a", "root", "a_2", "joint_3"]);
        let file = |k: usize| found.skeleton.joints()[k].file_name.as_deref();
        assert_eq!([file(0), file(3), file(4)], [None, Some("a"), Some("")]);
    }

    #[test]
    fn joints_without_a_parent_are_in_the_tree_of_their_character() {
        let text = r#"{"nodes":[{"name":"scene","children":[1,4]},{"name":"rig","children":[2,3]},{},{},
            {"name":"holder","children":[5]},{"name":"rig","children":[6]},{}]}"#;
        let found = joints(text, &[vec![2, 3], vec![6]]);
        assert_eq!(found.nodes, [None, Some(2), Some(3), Some(6)]);
        assert_eq!(found.trees, [None, Some(1), Some(1), Some(4)]);
        // The limbs of one character.
        assert_eq!(joints(text, &[vec![2, 3]]).trees, [None, Some(2), Some(3)]);
    }

    #[test]
    fn nodes_below_which_only_helpers_have_skin_are_joints() {
        let names = ["hips", "spine", "neck", "head", "arm", "hand", "leg", "foot"];
        let parents = [None, Some(0), Some(1), Some(2), Some(1), Some(4), Some(0), Some(6)];
        let node = |n: usize, flat: bool| {
            let own = (!flat).then_some(8 + n);
            let children = (0..8).filter(|&k| parents[k] == Some(n)).chain(own);
            let children: Vec<String> = children.map(|k| k.to_string()).collect();
            let children = if children.is_empty() {
                String::new()
            } else {
                format!(r#","children":[{}]"#, children.join(","))
            };
            format!(r#"{{"name":"{}"{children}}}"#, names[n])
        };
        let text = |flat: bool| {
            let helpers = names.iter().map(|name| format!(r#"{{"name":"{name}_DEF"}}"#));
            let list = (8..16).map(|n: usize| n.to_string()).collect::<Vec<_>>().join(",");
            let list = if flat { format!(",{list}") } else { String::new() };
            let top = format!(r#"{{"name":"rig","children":[0{list}]}}"#);
            let nodes: Vec<String> = (0..8).map(|n| node(n, flat)).chain(helpers).chain([top]).collect();
            format!(r#"{{"nodes":[{}]}}"#, nodes.join(","))
        };
        let skin: Vec<usize> = (8..16).collect();
        let found = joints(&text(false), std::slice::from_ref(&skin));
        let parent = |name: &str| {
            let id = found.skeleton.find(name).unwrap();
            found.skeleton.parent(id).map(|p| found.skeleton.joint(p).name.as_str())
        };
        assert_eq!(found.skeleton.len(), 16);
        assert_eq!([parent("hips"), parent("spine"), parent("hand_DEF")], [None, Some("hips"), Some("hand")]);
        // A list of helpers hangs on no tree.
        assert_eq!(names.len() + 1, joints(&text(true), &[skin]).skeleton.len());
    }

    #[test]
    fn a_humanoid_map_names_joints() {
        let text = r#"{"nodes":[{"name":"x","children":[1]},{"name":"h"}],
            "extensions":{"VRM":{"humanoid":{"humanBones":[{"bone":"hips","node":1},{"bone":"head","node":9}]}}}}"#;
        let humanoid = joints(text, &[]).humanoid.unwrap();
        assert_eq!(humanoid.version, VrmVersion::Zero);
        assert_eq!(humanoid.bones, [("hips".to_owned(), JointId::new(0))]);
    }
}
