//! A character without a document becomes a GLB whose skeleton can be seen: one tapered solid for each bone.
//!
//! A skin needs vertices, and viewers show meshes, not joints. Each solid is an octahedron from a joint to a
//! child or to the tip, its widest ring a fifth of the way along, with flat normals, bound to its joint alone.
//!
//! Space: model space. Units: metres.

use crate::math::{Quat, Vec3};
use crate::model::{Character, Container, Document, Skeleton};
use crate::scene::{GltfError, figure_size, write_glb};
use serde_json::{Value, json};

/// The half width of a solid, relative to its length, and the place of its widest ring.
const WIDTH: f64 = 0.09;
const RING: f64 = 0.2;
/// The length of a bone whose end the file does not say, relative to the size of the figure.
const KNOB: f64 = 0.02;

struct Shape {
    positions: Vec<f32>,
    normals: Vec<f32>,
    joints: Vec<u16>,
}

/// The GLB of the rest pose with its visible skeleton; its nodes are the joints, in their order.
pub(super) fn document(character: &Character) -> Result<Document, GltfError> {
    let skeleton = character.skeleton();
    let shape = shape(skeleton);
    let vertices = shape.joints.len();
    let mut bin = Vec::new();
    let mut views = Vec::new();
    let mut push = |bytes: Vec<u8>, target: Option<u32>| {
        let mut view = json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        views.push(view);
        bin.extend(bytes);
    };
    let floats = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    const ARRAY_BUFFER: u32 = 34962;
    push(floats(&shape.positions), Some(ARRAY_BUFFER));
    push(floats(&shape.normals), Some(ARRAY_BUFFER));
    let four = |j: &u16| [*j, 0, 0, 0].into_iter().flat_map(u16::to_le_bytes);
    push(shape.joints.iter().flat_map(four).collect(), Some(ARRAY_BUFFER));
    push(floats(&[1.0, 0.0, 0.0, 0.0].repeat(vertices)), Some(ARRAY_BUFFER));
    let rest = skeleton.rest_model_pose();
    let inverse_binds = rest.joints().iter().flat_map(|t| {
        let m = t.inverse().to_matrix();
        m.iter().map(|x| *x as f32).collect::<Vec<f32>>()
    });
    push(floats(&inverse_binds.collect::<Vec<f32>>()), None);

    let bound = |fold: fn(f32, f32) -> f32| -> Vec<f32> {
        (0..3)
            .map(|k| shape.positions.iter().skip(k).step_by(3).copied().reduce(fold).unwrap_or(0.0))
            .collect()
    };
    let n = skeleton.len();
    let mut nodes: Vec<Value> = skeleton.ids().map(|id| node(skeleton, id.index())).collect();
    nodes.push(json!({"name": "skeleton", "mesh": 0, "skin": 0}));
    let json = json!({
        "asset": {"version": "2.0", "generator": concat!("posemill ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0, n]}],
        "nodes": nodes,
        "meshes": [{"name": "skeleton", "primitives": [{
            "attributes": {"POSITION": 0, "NORMAL": 1, "JOINTS_0": 2, "WEIGHTS_0": 3}, "material": 0}]}],
        "materials": [{"name": "bone", "pbrMetallicRoughness": {
            "baseColorFactor": [0.75, 0.72, 0.62, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}}],
        "skins": [{"joints": (0..n).collect::<Vec<_>>(), "inverseBindMatrices": 4, "skeleton": 0}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": vertices, "type": "VEC3",
                "min": bound(f32::min), "max": bound(f32::max)},
            {"bufferView": 1, "componentType": 5126, "count": vertices, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5123, "count": vertices, "type": "VEC4"},
            {"bufferView": 3, "componentType": 5126, "count": vertices, "type": "VEC4"},
            {"bufferView": 4, "componentType": 5126, "count": n, "type": "MAT4"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": bin.len()}],
    });
    Ok(Document {
        container: Container::Glb,
        bytes: write_glb(&json.to_string(), Some(&bin), &[])?.into(),
        resources: Vec::new(),
        nodes: (0..n).map(Some).collect(),
        model_from_file: Quat::identity(),
    })
}

fn node(skeleton: &Skeleton, index: usize) -> Value {
    let joint = &skeleton.joints()[index];
    let name = joint.file_name.as_ref().filter(|n| !n.is_empty()).unwrap_or(&joint.name);
    let single = |v: &[f64]| v.iter().map(|x| f64::from(*x as f32)).collect::<Vec<f64>>();
    let mut node = json!({
        "name": name,
        "translation": single(joint.rest.translation.as_slice()),
        "rotation": single(joint.rest.rotation.coords.as_slice()),
    });
    let children: Vec<usize> =
        skeleton.children(crate::model::JointId::new(index)).iter().map(|c| c.index()).collect();
    if !children.is_empty() {
        node["children"] = children.into();
    }
    node
}

/// One solid for each bone, in model space at rest.
fn shape(skeleton: &Skeleton) -> Shape {
    let knob = KNOB * figure_size(skeleton);
    let rest = skeleton.rest_model_pose();
    let mut shape = Shape { positions: Vec::new(), normals: Vec::new(), joints: Vec::new() };
    for id in skeleton.ids() {
        let frame = rest.joint(id);
        let joint = u16::try_from(id.index()).unwrap_or(u16::MAX);
        let mut ends: Vec<Vec3> = skeleton.children(id).iter().map(|c| rest.position(*c)).collect();
        if ends.is_empty() {
            let onward = match skeleton.parent(id) {
                Some(p) => (frame.translation - rest.position(p)).try_normalize(1e-9).unwrap_or(Vec3::y()),
                None => Vec3::y(),
            };
            ends.push(
                joint_tip(skeleton, id.index())
                    .map_or(frame.translation + onward * knob, |t| frame.point(&t)),
            );
        }
        for end in ends {
            solid(&mut shape, joint, &frame.translation, &end);
        }
    }
    if shape.joints.is_empty() {
        solid(&mut shape, 0, &Vec3::zeros(), &(Vec3::y() * knob));
    }
    shape
}

fn joint_tip(skeleton: &Skeleton, index: usize) -> Option<Vec3> {
    skeleton.joints()[index].tip
}

fn solid(shape: &mut Shape, joint: u16, from: &Vec3, to: &Vec3) {
    let along = to - from;
    let length = along.norm();
    let Some(axis) = along.try_normalize(1e-9) else { return };
    let mut helper = Vec3::zeros();
    helper[axis.iamin()] = 1.0;
    let side = axis.cross(&helper).normalize() * (WIDTH * length);
    let other = axis.cross(&side);
    let middle = from + along * RING;
    // The ring turns about the axis from `side` to `other`: counter-clockwise seen from the far end.
    let ring = [middle + side, middle + other, middle - side, middle - other];
    for k in 0..4 {
        let (a, b) = (ring[k], ring[(k + 1) % 4]);
        for corners in [[a, b, *to], [b, a, *from]] {
            let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
            for corner in corners {
                shape.positions.extend(corner.iter().map(|x| *x as f32));
                shape.normals.extend(normal.iter().map(|x| *x as f32));
                shape.joints.push(joint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solids_face_outwards() {
        let mut shape = Shape { positions: vec![], normals: vec![], joints: vec![] };
        let (from, to) = (Vec3::new(0.3, 1.0, -2.0), Vec3::new(0.1, 2.0, -1.0));
        solid(&mut shape, 3, &from, &to);
        assert_eq!((shape.joints.len(), shape.positions.len()), (24, 72));
        let inside = from + (to - from) * RING;
        for (p, n) in shape.positions.chunks(3).zip(shape.normals.chunks(3)) {
            let vector = |v: &[f32]| Vec3::new(v[0].into(), v[1].into(), v[2].into());
            assert!((vector(p) - inside).dot(&vector(n)) > 0.0);
        }
    }
}
