//! Reads the nodes of a glTF document as trees with local transforms; indices out of range, cycles, second parents and numbers
//! that are not finite are errors.
//!
//! Space: `local` is parent from node, `world` is the file's world from node. Units: metres.

use super::{GltfError, Json, LocalTransform, WorldTransform};
use crate::math::{Mat4, Quat, RawQuat, Vec3};
use crate::report::Warnings;

/// Maximum number of nodes in a file: far more than any character has, and small enough to bound the cost of a hostile file.
const MAX_NODES: usize = 1 << 18;

/// One node.
#[derive(Clone, Debug)]
pub struct GltfNode {
    /// The name, if the file states one.
    pub name: Option<String>,
    /// The parent node.
    pub parent: Option<usize>,
    /// The child nodes in file order.
    pub children: Vec<usize>,
    /// Parent from node.
    pub local: LocalTransform,
    /// The index of its mesh.
    pub mesh: Option<usize>,
    /// The index of the skin of that mesh.
    pub skin: Option<usize>,
}

/// The nodes of a document, without cycles and with one parent each.
#[derive(Clone, Debug)]
pub struct NodeTree {
    nodes: Vec<GltfNode>,
    order: Vec<usize>,
}

impl NodeTree {
    /// Reads the tree of a document.
    ///
    /// # Errors
    /// A [`GltfError`] for an index out of range, a cycle, a second parent or a number that is not finite.
    pub fn read(json: &Json, warnings: &mut Warnings) -> Result<Self, GltfError> {
        let count = json.items("nodes")?.len();
        if count > MAX_NODES {
            return Err(GltfError::Limit {
                path: "nodes".into(),
                limit_name: "MAX_NODES",
                limit: MAX_NODES as u64,
                found: count as u64,
            });
        }
        // Cameras, extensions and morph weights are irrelevant for the tree; errors in them are ignored here.
        let strip = |_: &str, value: &mut serde_json::Value| {
            if let Some(map) = value.as_object_mut() {
                for key in ["camera", "extensions", "extras", "weights"] {
                    map.remove(key);
                }
            }
        };
        let typed: Vec<gltf::json::Node> = json.list_with("nodes", strip)?;
        let mut nodes = Vec::with_capacity(count);
        for (i, node) in typed.into_iter().enumerate() {
            let local = local(&node, i, warnings)?;
            let children: Vec<usize> = node.children.unwrap_or_default().iter().map(|c| c.value()).collect();
            nodes.push(GltfNode {
                name: node.name,
                parent: None,
                children,
                local,
                mesh: node.mesh.map(|m| m.value()),
                skin: node.skin.map(|s| s.value()),
            });
        }
        for parent in 0..nodes.len() {
            for k in 0..nodes[parent].children.len() {
                let node = nodes[parent].children[k];
                if node >= count {
                    let path = format!("nodes[{parent}].children[{k}]");
                    return Err(GltfError::OutOfRange { path, list: "nodes", index: node as u64, count });
                }
                if let Some(first) = nodes[node].parent.replace(parent) {
                    return Err(GltfError::TwoParents { node, first, second: parent });
                }
            }
        }
        let mut order: Vec<usize> = (0..count).filter(|&i| nodes[i].parent.is_none()).collect();
        let mut next = 0;
        while let Some(&i) = order.get(next) {
            order.extend_from_slice(&nodes[i].children);
            next += 1;
        }
        if order.len() < count {
            // A node that is not below a top node is on a cycle or below one.
            let mut reached = vec![false; count];
            order.iter().for_each(|&i| reached[i] = true);
            let mut node = reached.iter().position(|r| !r).unwrap_or(0);
            let mut seen = vec![false; count];
            while !std::mem::replace(&mut seen[node], true) {
                node = nodes[node].parent.unwrap_or(node);
            }
            return Err(GltfError::Cycle { node });
        }
        Ok(Self { nodes, order })
    }

    /// All nodes, by index.
    pub fn nodes(&self) -> &[GltfNode] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, i: usize) -> &GltfNode {
        &self.nodes[i]
    }

    /// All node indices, parents first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The node and its ancestors, the node first.
    pub fn path_to_top(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(i), |&i| self.nodes[i].parent)
    }

    /// The world transform of every node in the rest pose.
    pub fn worlds(&self) -> Vec<WorldTransform> {
        let mut worlds = vec![WorldTransform::identity(); self.nodes.len()];
        for &i in &self.order {
            let parent = self.nodes[i].parent.map_or(WorldTransform::identity(), |p| worlds[p]);
            worlds[i] = parent.child(&self.nodes[i].local);
        }
        worlds
    }
}

/// The local transform of a node.
fn local(node: &gltf::json::Node, i: usize, warnings: &mut Warnings) -> Result<LocalTransform, GltfError> {
    let finite = |values: &[f32], property: &str| match values.iter().position(|x| !x.is_finite()) {
        Some(item) => Err(GltfError::NotFinite { path: format!("nodes[{i}].{property}"), item }),
        None => Ok(()),
    };
    if let Some(m) = &node.matrix {
        finite(m, "matrix")?;
        if [node.translation.is_some(), node.rotation.is_some(), node.scale.is_some()].contains(&true) {
            warnings.add(
                "gltf-matrix-and-trs",
                "a node has a matrix and other transforms; the matrix was used",
                format!("nodes[{i}]"),
            );
        }
        return Ok(LocalTransform::from_matrix(&Mat4::from_iterator(m.iter().map(|&x| f64::from(x)))));
    }
    let vector = |v: [f32; 3]| Vec3::new(v[0].into(), v[1].into(), v[2].into());
    let translation = node.translation.unwrap_or_default();
    let scale = node.scale.unwrap_or([1.0; 3]);
    let rotation = node.rotation.unwrap_or_default().0;
    finite(&translation, "translation")?;
    finite(&scale, "scale")?;
    finite(&rotation, "rotation")?;
    let [x, y, z, w] = rotation.map(f64::from);
    let raw = RawQuat::new(w, x, y, z);
    let length = raw.norm();
    if (length - 1.0).abs() > 1e-3 {
        warnings.add(
            "gltf-rotation-not-unit",
            format!("a rotation of length {length:.4} was normalised"),
            format!("nodes[{i}].rotation"),
        );
    }
    let rotation = if length > 1e-9 { Quat::new_normalize(raw) } else { Quat::identity() };
    Ok(LocalTransform { translation: vector(translation), rotation, scale: vector(scale), matrix: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NodeTree, GltfError> {
        NodeTree::read(&Json::parse(text, 0)?, &mut Warnings::new())
    }

    #[test]
    fn a_file_with_too_many_nodes_is_refused_with_the_limit() {
        let nodes = vec!["{}"; MAX_NODES + 1].join(",");
        let error = read(&format!("{{\"nodes\":[{nodes}]}}")).unwrap_err();
        assert_eq!(error.to_string(), "`nodes`: 262145 exceeds the limit MAX_NODES of 262144");
    }

    #[test]
    fn parents_come_first_in_any_file_order() {
        let tree = read(r#"{"nodes":[{},{"children":[0]},{"children":[1]}]}"#).unwrap();
        assert_eq!(tree.order(), [2, 1, 0]);
        assert_eq!(tree.path_to_top(0).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn invalid_trees_are_refused() {
        let two = read(r#"{"nodes":[{},{"children":[0]},{"children":[0]}]}"#).unwrap_err();
        assert_eq!(two, GltfError::TwoParents { node: 0, first: 1, second: 2 });
        let cycle = read(r#"{"nodes":[{"children":[1]},{"children":[0]},{}]}"#).unwrap_err();
        assert!(matches!(cycle, GltfError::Cycle { .. }), "{cycle}");
        let range = read(r#"{"nodes":[{"children":[7]}]}"#).unwrap_err();
        assert!(matches!(range, GltfError::OutOfRange { index: 7, count: 1, .. }), "{range}");
    }
}
