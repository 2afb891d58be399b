//! Skinned triangle meshes with their materials, as far as rendering, body measurements and new files of other formats need them.

use super::JointId;
use crate::math::{Mat4, Vec3};

/// Skin binding of one joint: `model_from_joint * joint_from_mesh` maps a bound vertex to model space.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Binding {
    /// The joint.
    pub joint: JointId,
    /// Joint space (metres, rigid) from mesh space (as stored in the file): the inverse bind matrix, including the
    /// scale of the joint's ancestor nodes.
    pub joint_from_mesh: Mat4<f64>,
}

/// An encoded image file of the document.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Texture {
    /// The encoded bytes (PNG, JPEG or WebP).
    pub bytes: std::sync::Arc<[u8]>,
}

impl Texture {
    /// Whether the image has an alpha channel, by its header; `false` for images other than PNG and WebP.
    pub fn has_alpha(&self) -> bool {
        has_alpha(&self.bytes)
    }
}

/// Whether an encoded image has an alpha channel.
pub(crate) fn has_alpha(image: &[u8]) -> bool {
    match image {
        // The kind of colour of the header; a palette has alpha if a `tRNS` chunk follows.
        [0x89, b'P', b'N', b'G', ..] => match image.get(25) {
            Some(4 | 6) => true,
            _ => {
                let end = image.windows(4).position(|w| w == b"IDAT").unwrap_or(image.len());
                image[..end].windows(4).any(|w| w == b"tRNS")
            }
        },
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', b'V', b'P', b'8', kind, ..] => {
            let bit = |at: usize| image.get(at).is_some_and(|byte| byte & 0x10 != 0);
            (*kind == b'X' && bit(20)) || (*kind == b'L' && bit(24))
        }
        _ => false,
    }
}

/// How a texture continues outside of 0 to 1, along one axis of its coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum TextureWrap {
    /// It repeats.
    #[default]
    Repeat,
    /// Its edge continues.
    Clamp,
    /// It repeats, every other time mirrored.
    Mirror,
}

/// What alpha does (glTF 2.0, section 3.9.4).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum AlphaMode {
    /// Nothing.
    #[default]
    Opaque,
    /// The surface is drawn where the alpha of the texture is at least this.
    Mask(f32),
    /// The surface is blended with what is behind it.
    Blend,
}

/// A texture, and the texture coordinates that place it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct TextureMap {
    /// The image.
    pub texture: Texture,
    /// The set of texture coordinates: 0 is `Mesh::texcoords`, others count `Mesh::further_texcoords` from 1.
    pub set: usize,
    /// How it continues along U and V.
    pub wrap: [TextureWrap; 2],
}

/// Surface appearance: the metallic-roughness model of glTF 2.0 (section 3.9), of which previews draw the base colour.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Material {
    /// The name in the file; empty if it has none.
    pub name: String,
    /// Linear red, green, blue and alpha, 0 to 1.
    pub base_color: [f32; 4],
    /// The base-colour texture, placed by `Mesh::texcoords`.
    pub texture: Option<Texture>,
    /// How the base-colour texture continues along U and V.
    pub texture_wrap: [TextureWrap; 2],
    /// What alpha does; 1 in `base_color` unless it is blended.
    pub alpha_mode: AlphaMode,
    /// Metalness, 0 to 1; a factor of the blue channel of `metallic_roughness_map` if there is one.
    pub metallic: f32,
    /// Roughness, 0 to 1; a factor of the green channel of `metallic_roughness_map` if there is one.
    pub roughness: f32,
    /// Linear emitted colour, also above 1; a factor of `emissive_map` if there is one.
    pub emissive: [f32; 3],
    /// Metalness in blue, roughness in green, linear.
    pub metallic_roughness_map: Option<TextureMap>,
    /// Normals in tangent space, linear.
    pub normal_map: Option<TextureMap>,
    /// The emitted colour, sRGB.
    pub emissive_map: Option<TextureMap>,
    /// Share of indirect light that arrives, in red, linear.
    pub occlusion_map: Option<TextureMap>,
    /// Whether the back of a triangle is drawn.
    pub double_sided: bool,
}

impl Default for Material {
    /// Light grey paint: the base colour and roughness with which other programs show a mesh without material.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [0.8, 0.8, 0.8, 1.0],
            texture: None,
            texture_wrap: [TextureWrap::Repeat; 2],
            alpha_mode: AlphaMode::Opaque,
            metallic: 0.0,
            roughness: 0.7,
            emissive: [0.0; 3],
            metallic_roughness_map: None,
            normal_map: None,
            emissive_map: None,
            occlusion_map: None,
            double_sided: false,
        }
    }
}

/// A morph target (shape key, blend shape) of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct MorphTarget {
    /// The name, unique in its mesh.
    pub name: String,
    /// The weight without animation.
    pub weight: f32,
    /// The displacement of every vertex at weight 1, mesh space.
    pub offsets: Vec<[f32; 3]>,
}

/// The start of the names of morph targets that have none in their file; the number of the target follows.
pub(crate) const UNNAMED_TARGET: &str = "target_";

impl MorphTarget {
    /// Whether the target has no name in its file.
    pub(crate) fn is_unnamed(&self) -> bool {
        let number = self.name.strip_prefix(UNNAMED_TARGET);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    }
}

/// The influence of a joint beyond the four strongest of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct FurtherInfluence {
    /// The vertex.
    pub vertex: u32,
    /// An index into `Mesh::bindings`.
    pub binding: u16,
    /// The share of all weights of the vertex, above 0.
    pub weight: f32,
}

/// One primitive of a skinned mesh. Vertex data is `f32` and in mesh space; every list has one entry per vertex.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Mesh {
    /// The name of the mesh or of its node.
    pub name: String,
    /// The name of the node that draws it, by which weights of morph targets are addressed; empty if it has none.
    pub node: String,
    /// The number of the node. Meshes with the same number are primitives of one mesh, which differ in their material; `None`
    /// for a mesh that is not from a file.
    pub primitive_of: Option<usize>,
    /// Positions in mesh space.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals in mesh space; empty where the file has none.
    pub normals: Vec<[f32; 3]>,
    /// Texture coordinates of the base colour, (0, 0) at the upper left; empty if the file has none.
    pub texcoords: Vec<[f32; 2]>,
    /// The other sets of texture coordinates, in the order of the file.
    pub further_texcoords: Vec<Vec<[f32; 2]>>,
    /// Linear vertex colours; empty where the file has none.
    pub colors: Vec<[f32; 4]>,
    /// Per vertex, up to four indices into `bindings`.
    pub joints: Vec<[u16; 4]>,
    /// Per vertex, the weights of `joints`, each at least 0, their sum 1.
    pub weights: Vec<[f32; 4]>,
    /// Weights beyond four, ordered by vertex; the program itself skins with the four strongest.
    pub further_influences: Vec<FurtherInfluence>,
    /// Corner indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The joints that move this mesh.
    pub bindings: Vec<Binding>,
    /// The morph targets.
    pub morphs: Vec<MorphTarget>,
    /// The material.
    pub material: Material,
    /// Parts of the file's own surface that have no place here, by name, for messages of files written anew.
    pub omitted: Vec<String>,
}

/// The index of the greatest of four weights, the last of several.
pub(crate) fn heaviest(weights: &[f32; 4]) -> usize {
    (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0)
}

impl Mesh {
    /// The vertices that are corners of a triangle; all of a mesh without triangles. Files have vertices that nothing draws.
    pub(crate) fn drawn_vertices(&self) -> impl Iterator<Item = usize> {
        let mut drawn = vec![self.triangles.is_empty(); self.positions.len()];
        for corner in self.triangles.iter().flatten() {
            if let Some(drawn) = drawn.get_mut(*corner as usize) {
                *drawn = true;
            }
        }
        drawn.into_iter().enumerate().filter_map(|(vertex, drawn)| drawn.then_some(vertex))
    }

    /// The joint that moves a vertex most, and the vertex in the space of that joint, metres; `None` without a skin.
    pub(crate) fn in_heaviest_joint(&self, vertex: usize) -> Option<(JointId, Vec3)> {
        let (joint, at, _) = self.influence(vertex, heaviest(self.weights.get(vertex)?))?;
        Some((joint, at))
    }

    /// One of the four joints that move a vertex, the vertex in the space of that joint, metres, and the weight; `None` without a
    /// skin.
    pub(crate) fn influence(&self, vertex: usize, which: usize) -> Option<(JointId, Vec3, f64)> {
        let binding = self.bindings.get(usize::from(self.joints.get(vertex)?[which]))?;
        let [x, y, z] = self.positions[vertex].map(f64::from);
        let at = binding.joint_from_mesh.transform_point(&Vec3::new(x, y, z).into()).coords;
        Some((binding.joint, at, f64::from(self.weights.get(vertex)?[which])))
    }

    /// The influences of a vertex beyond its four strongest.
    pub fn further(&self, vertex: usize) -> &[FurtherInfluence] {
        let at = |end: usize| self.further_influences.partition_point(|f| (f.vertex as usize) < end);
        &self.further_influences[at(vertex)..at(vertex + 1)]
    }

    /// All influences of a vertex, further ones included: indices into `bindings` and weights, which sum to 1.
    pub fn influences(&self, vertex: usize) -> Vec<(u16, f64)> {
        let further = self.further(vertex);
        let share = 1.0 - further.iter().map(|f| f64::from(f.weight)).sum::<f64>();
        let four =
            std::iter::zip(self.joints[vertex], self.weights[vertex]).filter(|(_, weight)| *weight > 0.0);
        let four = four.map(|(binding, weight)| (binding, f64::from(weight) * share));
        four.chain(further.iter().map(|f| (f.binding, f64::from(f.weight)))).collect()
    }

    /// The set of texture coordinates that a [`TextureMap`] names; empty if the mesh has none.
    pub fn texture_set(&self, set: usize) -> &[[f32; 2]] {
        match set.checked_sub(1) {
            None => &self.texcoords,
            Some(k) => self.further_texcoords.get(k).map_or(&[], Vec::as_slice),
        }
    }
}
