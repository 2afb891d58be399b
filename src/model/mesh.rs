//! Skinned triangle meshes, as far as rendering, contacts and body measurements need them.

use super::JointId;
use crate::math::Mat4;

/// Skin binding of one joint: `model_from_joint * joint_from_mesh` maps a bound vertex to model space.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The joint.
    pub joint: JointId,
    /// Joint space (metres, rigid) from mesh space (as stored in the file): the inverse bind matrix, including the
    /// scale of the joint's ancestor nodes.
    pub joint_from_mesh: Mat4<f64>,
}

/// An encoded image file of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// The encoded bytes (PNG, JPEG or WebP).
    pub bytes: std::sync::Arc<[u8]>,
}

/// Surface appearance, as far as previews draw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Linear red, green, blue and alpha, 0 to 1.
    pub base_color: [f32; 4],
    /// The base-colour texture.
    pub texture: Option<Texture>,
    /// Whether the back of a triangle is drawn.
    pub double_sided: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self { base_color: [0.8, 0.8, 0.8, 1.0], texture: None, double_sided: false }
    }
}

/// One primitive of a skinned mesh. Vertex data is `f32` and in mesh space; every list has one entry per vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// The name of the mesh or of its node.
    pub name: String,
    /// Positions in mesh space.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals in mesh space; empty where the file has none.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates, (0, 0) at the upper left; empty if the file has none.
    pub texcoords: Vec<[f32; 2]>,
    /// Linear vertex colours; empty where the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Per vertex, up to four indices into `bindings`.
    pub joints: Vec<[u16; 4]>,
    /// Per vertex, the weights of `joints`, each at least 0, their sum 1.
    pub weights: Vec<[f32; 4]>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The joints that move this mesh.
    pub bindings: Vec<Binding>,
    /// The material.
    pub material: Material,
}
