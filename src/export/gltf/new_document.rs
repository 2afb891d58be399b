//! Builds a GLB for a character without a document: its meshes, or an octahedral solid for each bone.
//!
//! glTF has no lengths of bones: the end of a leaf is a node `NAME_end` below its joint, as other exporters write it.
//!
//! A skin needs vertices, and viewers show meshes, not joints. The solid of a bone extends from a joint to a child or to the
//! tip, is widest at a fifth of its length, has flat normals and is bound to its joint alone.
//!
//! Space: model space. Units: metres.

use crate::export::surface_hash::{MaterialNumbers, SurfaceHashes};
use crate::gltf_document::{ADDED, FLOAT, GlbBuilder, GltfError, UNSIGNED_INT, UNSIGNED_SHORT, floats};
use crate::kinematics::figure_size;
use crate::math::{Quat, Vec3};
use crate::model::{
    Binding, Character, Container, Document, JointId, Material, Mesh, Skeleton, StaticMeshes,
};
use serde_json::{Value, json};

/// Half width of a solid, relative to its length.
const WIDTH: f64 = 0.09;
/// Position of the widest ring along a solid, relative to its length.
const RING: f64 = 0.2;
/// The length of a leaf bone without a tip, relative to the size of the figure.
const LEAF_LENGTH: f64 = 0.02;
/// Colour of the solids, linear RGBA.
const BONE_COLOR: [f32; 4] = [0.75, 0.72, 0.62, 1.0];

/// The GLB of the rest pose with the meshes of the character, or a visible skeleton if it has none. Its first nodes are the
/// joints, in their order. Positions, normals and plain materials of meshes are written, textures are not.
pub(super) fn document(character: &Character) -> Result<Document, GltfError> {
    let skeleton = character.skeleton();
    let solids;
    let meshes = match character.meshes.as_slice() {
        [] => {
            solids = [bones(skeleton)];
            &solids
        }
        meshes => meshes,
    };
    let n = skeleton.len();
    let mut buffer = GlbBuilder::default();
    let mut nodes: Vec<Value> = skeleton.ids().map(|id| node(skeleton, id)).collect();
    let (mut materials, mut hashes) = (MaterialNumbers::default(), SurfaceHashes::default());
    let mut bound: Vec<&[Binding]> = Vec::new();
    let (mut shapes, mut skins) = (Vec::new(), Vec::new());
    for (index, mesh) in meshes.iter().enumerate() {
        let material = materials.of(&mesh.material, &mut hashes);
        let primitive = primitive(&mut buffer, mesh, material);
        let mut shape = json!({"name": mesh.name, "primitives": [primitive]});
        if character.meshes.is_empty() {
            shape["extras"] = json!({ADDED: true});
        }
        shapes.push(shape);
        // Meshes with equal bindings share their skin.
        let skin = bound.iter().position(|b| **b == mesh.bindings).unwrap_or_else(|| {
            bound.push(&mesh.bindings);
            skins.push(skin(&mut buffer, &mesh.bindings));
            bound.len() - 1
        });
        nodes.push(json!({"name": mesh.name, "mesh": index, "skin": skin}));
    }
    let scene: Vec<usize> = std::iter::once(0).chain(n..nodes.len()).collect();
    for (joint, tip) in ends(skeleton) {
        let end = nodes.len();
        nodes[joint.index()]["children"] = json!([end]);
        let name = format!("{}_end", written_name(skeleton, joint));
        nodes.push(json!({"name": name, "translation": single(tip.as_slice())}));
    }
    let json = json!({
        "scene": 0,
        "scenes": [{"nodes": scene}],
        "nodes": nodes,
        "meshes": shapes,
        "materials": materials.found.iter().map(|m| material_json(m)).collect::<Vec<_>>(),
        "skins": skins,
    });
    Ok(Document {
        container: Container::Glb,
        bytes: buffer.glb(json)?.into(),
        resources: Vec::new(),
        nodes: (0..n).map(Some).collect(),
        fbx: None,
        static_meshes: StaticMeshes::default(),
        model_from_file: Quat::identity(),
    })
}

/// The triangles of a mesh as a glTF primitive.
fn primitive(buffer: &mut GlbBuilder, mesh: &Mesh, material: usize) -> Value {
    /// Buffer view target `ARRAY_BUFFER`: vertex attributes (glTF 2.0, 5.11.5).
    const VERTICES: Option<u32> = Some(34962);
    /// Buffer view target `ELEMENT_ARRAY_BUFFER`: vertex indices.
    const CORNERS: Option<u32> = Some(34963);
    let count = mesh.positions.len();
    let mut attributes = json!({"POSITION": buffer.positions(&mesh.positions, VERTICES)});
    if !mesh.normals.is_empty() {
        attributes["NORMAL"] = buffer.tuples(&mesh.normals, VERTICES).into();
    }
    let joints: Vec<u8> = mesh.joints.iter().flatten().flat_map(|j| j.to_le_bytes()).collect();
    let accessor = json!({"componentType": UNSIGNED_SHORT, "count": count, "type": "VEC4"});
    attributes["JOINTS_0"] = buffer.push(&joints, VERTICES, accessor).into();
    attributes["WEIGHTS_0"] = buffer.tuples(&mesh.weights, VERTICES).into();
    let mut primitive = json!({"attributes": attributes, "material": material});
    // No indices are needed if the corners of the triangles are the vertices in order.
    let corners = mesh.triangles.as_flattened();
    if !(corners.len() == count && (0..).zip(corners).all(|(k, c): (u32, &u32)| k == *c)) {
        let bytes: Vec<u8> = corners.iter().flat_map(|c| c.to_le_bytes()).collect();
        let accessor = json!({"componentType": UNSIGNED_INT, "count": corners.len(), "type": "SCALAR"});
        primitive["indices"] = buffer.push(&bytes, CORNERS, accessor).into();
    }
    primitive
}

fn skin(buffer: &mut GlbBuilder, bindings: &[Binding]) -> Value {
    let matrices: Vec<[f32; 16]> =
        bindings.iter().map(|b| std::array::from_fn(|k| b.joint_from_mesh.as_slice()[k] as f32)).collect();
    let accessor = json!({"componentType": FLOAT, "count": bindings.len(), "type": "MAT4"});
    let matrices = buffer.push(&floats(&matrices), None, accessor);
    let joints: Vec<usize> = bindings.iter().map(|b| b.joint.index()).collect();
    json!({"joints": joints, "inverseBindMatrices": matrices, "skeleton": 0})
}

fn material_json(material: &Material) -> Value {
    let color: Vec<Value> = material.base_color.iter().map(|c| short(*c)).collect();
    let mut json = json!({
        "pbrMetallicRoughness": {"baseColorFactor": color, "metallicFactor": 0.0, "roughnessFactor": 0.7}});
    if material.double_sided {
        json["doubleSided"] = true.into();
    }
    json
}

/// The shortest decimal number that reads back as the same `f32`.
fn short(x: f32) -> Value {
    x.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

/// Leaf joints with the end of their bone, in the frame of the joint.
fn ends(skeleton: &Skeleton) -> impl Iterator<Item = (JointId, Vec3)> {
    skeleton
        .ids()
        .filter(|&id| skeleton.children(id).is_empty())
        .filter_map(|id| Some((id, skeleton.joint(id).tip.filter(|tip| *tip != Vec3::zeros())?)))
}

/// Numbers as single precision holds them.
fn single(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|x| f64::from(*x as f32)).collect()
}

fn written_name(skeleton: &Skeleton, id: JointId) -> &str {
    let joint = skeleton.joint(id);
    joint.file_name.as_ref().filter(|n| !n.is_empty()).unwrap_or(&joint.name)
}

fn node(skeleton: &Skeleton, id: JointId) -> Value {
    let joint = skeleton.joint(id);
    let mut node = json!({
        "name": written_name(skeleton, id),
        "translation": single(joint.rest.translation.as_slice()),
        "rotation": single(joint.rest.rotation.coords.as_slice()),
    });
    let children: Vec<usize> = skeleton.children(id).iter().map(|c| c.index()).collect();
    if !children.is_empty() {
        node["children"] = children.into();
    }
    node
}

/// One solid for each bone, in model space in the rest pose.
fn bones(skeleton: &Skeleton) -> Mesh {
    let leaf_length = LEAF_LENGTH * figure_size(skeleton);
    let rest = skeleton.rest_model_pose();
    let mut mesh = Mesh {
        name: "skeleton".into(),
        bindings: skeleton
            .ids()
            .map(|joint| Binding { joint, joint_from_mesh: rest.joint(joint).inverse().to_matrix() })
            .collect(),
        material: Material { base_color: BONE_COLOR, ..Material::default() },
        ..Mesh::default()
    };
    for id in skeleton.ids() {
        let frame = rest.joint(id);
        let joint = u16::try_from(id.index()).unwrap_or(u16::MAX);
        let mut ends: Vec<Vec3> = skeleton.children(id).iter().map(|c| rest.position(*c)).collect();
        if ends.is_empty() {
            let direction = match skeleton.parent(id) {
                Some(p) => (frame.translation - rest.position(p)).try_normalize(1e-9).unwrap_or(Vec3::y()),
                None => Vec3::y(),
            };
            let tip = skeleton.joint(id).tip.map(|t| frame.point(&t));
            ends.push(tip.unwrap_or(frame.translation + direction * leaf_length));
        }
        for end in ends {
            solid(&mut mesh, joint, &frame.translation, &end);
        }
    }
    if mesh.joints.is_empty() {
        solid(&mut mesh, 0, &Vec3::zeros(), &(Vec3::y() * leaf_length));
    }
    mesh
}

/// Adds the solid of a bone.
fn solid(mesh: &mut Mesh, joint: u16, from: &Vec3, to: &Vec3) {
    let along = to - from;
    let length = along.norm();
    let Some(axis) = along.try_normalize(1e-9) else { return };
    let mut helper = Vec3::zeros();
    helper[axis.iamin()] = 1.0;
    let side = axis.cross(&helper).normalize() * (WIDTH * length);
    let other = axis.cross(&side);
    let middle = from + along * RING;
    // The ring goes around the axis from `side` to `other`: counter-clockwise seen from the far end.
    let ring = [middle + side, middle + other, middle - side, middle - other];
    let single = |v: &Vec3| <[f64; 3]>::from(*v).map(|x| x as f32);
    for k in 0..4 {
        let (a, b) = (ring[k], ring[(k + 1) % 4]);
        for corners in [[a, b, *to], [b, a, *from]] {
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
            let first = mesh.positions.len() as u32;
            mesh.triangles.push([first, first + 1, first + 2]);
            mesh.positions.extend(corners.iter().map(single));
            mesh.normals.extend([single(&normal); 3]);
            mesh.joints.extend([[joint, 0, 0, 0]; 3]);
            mesh.weights.extend([[1.0, 0.0, 0.0, 0.0]; 3]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solids_face_outwards() {
        let mut mesh = Mesh::default();
        let (from, to) = (Vec3::new(0.3, 1.0, -2.0), Vec3::new(0.1, 2.0, -1.0));
        solid(&mut mesh, 3, &from, &to);
        assert_eq!((mesh.triangles.len(), mesh.positions.len()), (8, 24));
        let inside = from + (to - from) * RING;
        for (p, n) in mesh.positions.iter().zip(&mesh.normals) {
            let vector = |v: &[f32; 3]| Vec3::from(v.map(f64::from));
            assert!((vector(p) - inside).dot(&vector(n)) > 0.0);
        }
    }
}
