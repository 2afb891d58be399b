//! A skinned character becomes the bytes of a GLB file.
//!
//! Written by hand and not by the library's exporter, so that the files of this folder test the reader and the
//! writer instead of agreeing with them. Numbers are rounded to about 1e-6 before they are written, so that the
//! last digit of a sine shows nowhere.

use super::loft::Surface;
use posemill::math::{Mat4, Transform};
use serde_json::{Value, json};

/// One joint of a character as the file has it.
pub struct Joint {
    /// The node's name.
    pub name: String,
    /// The parent in the list of joints.
    pub parent: Option<usize>,
    /// The rest transform, in the file's own units.
    pub parent_from_joint: Transform,
}

/// A surface with its look.
pub struct Part {
    /// The name of the material.
    pub material: &'static str,
    /// Linear base colour.
    pub colour: [f64; 3],
    /// Metallic and roughness factors.
    pub finish: [f64; 2],
    /// The triangles, in the space of the inverse bind matrices.
    pub surface: Surface,
}

/// How weights are stored.
#[derive(Clone, Copy, PartialEq)]
pub enum Weights {
    /// As `f32`.
    Float,
    /// As normalised bytes that sum to 255.
    Byte,
}

/// Everything that goes into one file.
pub struct Figure {
    /// The name of the scene, the mesh and the skin.
    pub name: &'static str,
    /// The node above the joints: name, rotation `xyzw`, scale.
    pub armature: Option<(&'static str, [f64; 4], f64)>,
    /// Parents first.
    pub joints: Vec<Joint>,
    /// One primitive each.
    pub parts: Vec<Part>,
    /// How weights are stored.
    pub weights: Weights,
    /// A PNG, the base colour of every part.
    pub texture: Option<Vec<u8>>,
}

/// Rounded to 1e-6, and never a negative zero.
fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6 + 0.0
}

/// Rounded to 2^-20, which an `f32` holds exactly up to 16 and which keeps the sum of weights.
fn stepped(x: f64) -> f32 {
    let steps = f64::from(1 << 20);
    ((x * steps).round() / steps + 0.0) as f32
}

/// The binary chunk with its views and accessors.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    fn accessor(&mut self, view: usize, component: u32, count: usize, shape: &str) -> usize {
        self.accessors
            .push(json!({"bufferView": view, "componentType": component, "count": count, "type": shape}));
        self.accessors.len() - 1
    }

    /// An accessor of `f32` rows.
    fn floats<const N: usize>(&mut self, rows: &[[f64; N]], shape: &str, target: Option<u32>) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|&x| stepped(x).to_le_bytes()).collect();
        let view = self.view(&bytes, target);
        self.accessor(view, 5126, rows.len(), shape)
    }
}

const ARRAY: Option<u32> = Some(34962);
const ELEMENTS: Option<u32> = Some(34963);

/// The whole file.
pub fn write(figure: &Figure) -> Vec<u8> {
    let mut buffer = Buffer::default();
    let primitives: Vec<Value> = figure
        .parts
        .iter()
        .enumerate()
        .map(|(i, part)| primitive(&mut buffer, part, i, figure.weights))
        .collect();
    let inverse_bind = inverse_bind_matrices(figure);
    let inverse_bind = buffer.floats(&inverse_bind, "MAT4", None);

    let above = usize::from(figure.armature.is_some());
    let mut nodes = vec![json!({"name": figure.name, "mesh": 0, "skin": 0})];
    if let Some((name, rotation, scale)) = figure.armature {
        nodes.push(json!({
            "name": name,
            "rotation": rotation.map(|x| f64::from(x as f32)),
            "scale": [scale, scale, scale],
            "children": [1 + above],
        }));
    }
    for (i, joint) in figure.joints.iter().enumerate() {
        let t = joint.parent_from_joint;
        let mut node = json!({"name": joint.name, "translation": t.translation.map(rounded).as_slice()});
        if t.rotation.angle() > 1e-9 {
            node["rotation"] = json!(t.rotation.coords.map(rounded).as_slice());
        }
        let children: Vec<usize> = (0..figure.joints.len())
            .filter(|&c| figure.joints[c].parent == Some(i))
            .map(|c| c + 1 + above)
            .collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        nodes.push(node);
    }
    let mut skin = json!({
        "name": figure.name,
        "inverseBindMatrices": inverse_bind,
        "joints": (0..figure.joints.len()).map(|i| i + 1 + above).collect::<Vec<_>>(),
    });
    if above == 1 {
        skin["skeleton"] = json!(1);
    }
    let materials: Vec<Value> = figure.parts.iter().map(|p| material(p, figure.texture.is_some())).collect();
    let mut file = json!({
        "asset": {"version": "2.0", "generator": "posemill make_data"},
        "scene": 0,
        "scenes": [{"name": figure.name, "nodes": [0, 1]}],
        "nodes": nodes,
        "meshes": [{"name": figure.name, "primitives": primitives}],
        "skins": [skin],
        "materials": materials,
    });
    if let Some(png) = &figure.texture {
        let view = buffer.view(png, None);
        file["textures"] = json!([{"source": 0, "sampler": 0}]);
        file["samplers"] = json!([{"magFilter": 9729, "minFilter": 9987, "wrapS": 33071, "wrapT": 33071}]);
        file["images"] = json!([{"name": "paint", "mimeType": "image/png", "bufferView": view}]);
    }
    file["accessors"] = json!(buffer.accessors);
    file["bufferViews"] = json!(buffer.views);
    file["buffers"] = json!([{"byteLength": buffer.bytes.len()}]);
    container(file.to_string(), &buffer.bytes)
}

fn material(part: &Part, textured: bool) -> Value {
    let [r, g, b] = part.colour;
    let mut look = json!({
        "baseColorFactor": [r, g, b, 1.0],
        "metallicFactor": part.finish[0],
        "roughnessFactor": part.finish[1],
    });
    if textured {
        look["baseColorTexture"] = json!({"index": 0});
    }
    json!({"name": part.material, "pbrMetallicRoughness": look})
}

fn primitive(buffer: &mut Buffer, part: &Part, material: usize, weights: Weights) -> Value {
    let s = &part.surface;
    let rows = |list: &[posemill::math::Vec3]| -> Vec<[f64; 3]> { list.iter().map(|&p| p.into()).collect() };
    let positions = rows(&s.positions);
    let position = buffer.floats(&positions, "VEC3", ARRAY);
    let bound = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..3)
            .map(|k| positions.iter().map(|p| f64::from(stepped(p[k]))).reduce(pick).unwrap_or(0.0))
            .collect()
    };
    buffer.accessors[position]["min"] = json!(bound(f64::min));
    buffer.accessors[position]["max"] = json!(bound(f64::max));
    let normal = buffer.floats(&rows(&s.normals), "VEC3", ARRAY);
    let mut attributes = json!({"POSITION": position, "NORMAL": normal});
    if !s.texcoords.is_empty() {
        attributes["TEXCOORD_0"] = json!(buffer.floats(&s.texcoords, "VEC2", ARRAY));
    }
    let joints: Vec<u8> = s.joints.iter().flatten().map(|&j| j as u8).collect();
    let view = buffer.view(&joints, ARRAY);
    attributes["JOINTS_0"] = json!(buffer.accessor(view, 5121, s.joints.len(), "VEC4"));
    attributes["WEIGHTS_0"] = json!(match weights {
        Weights::Float => buffer.floats(&s.weights, "VEC4", ARRAY),
        Weights::Byte => {
            let bytes: Vec<u8> = s.weights.iter().flat_map(bytes_of_weights).collect();
            let view = buffer.view(&bytes, ARRAY);
            let accessor = buffer.accessor(view, 5121, s.weights.len(), "VEC4");
            buffer.accessors[accessor]["normalized"] = json!(true);
            accessor
        }
    });
    let indices: Vec<u8> = s.triangles.iter().flatten().flat_map(|&i| (i as u16).to_le_bytes()).collect();
    let view = buffer.view(&indices, ELEMENTS);
    let indices = buffer.accessor(view, 5123, 3 * s.triangles.len(), "SCALAR");
    json!({"attributes": attributes, "indices": indices, "material": material})
}

/// The weights in 255ths; the first, which is the largest, takes up the rounding.
fn bytes_of_weights(weights: &[f64; 4]) -> [u8; 4] {
    let mut bytes = weights.map(|w| (w * 255.0).round() as u8);
    bytes[0] = 255 - bytes[1] - bytes[2] - bytes[3];
    bytes
}

/// The joints' inverse bind matrices, column by column, in the space of the mesh.
fn inverse_bind_matrices(figure: &Figure) -> Vec<[f64; 16]> {
    let mut mesh_from_joint: Vec<Transform> = Vec::new();
    for joint in &figure.joints {
        let parent = joint.parent.map_or(Transform::identity(), |p| mesh_from_joint[p]);
        mesh_from_joint.push(parent * joint.parent_from_joint);
    }
    let columns = |t: &Transform| -> [f64; 16] {
        let m: Mat4<f64> = t.inverse().to_matrix();
        std::array::from_fn(|k| m[(k % 4, k / 4)])
    };
    mesh_from_joint.iter().map(columns).collect()
}

/// The two chunks of a GLB behind their header.
fn container(json: String, binary: &[u8]) -> Vec<u8> {
    let mut text = json.into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut file = Vec::new();
    let mut word = |x: usize| file.extend_from_slice(&(x as u32).to_le_bytes());
    word(0x4654_6C67);
    word(2);
    word(12 + 8 + text.len() + 8 + binary.len());
    word(text.len());
    word(0x4E4F_534A);
    file.extend_from_slice(&text);
    file.extend_from_slice(&(binary.len() as u32).to_le_bytes());
    file.extend_from_slice(b"BIN\0");
    file.extend_from_slice(binary);
    file
}
