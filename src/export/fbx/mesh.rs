//! Writes skinned meshes as geometry in the bind pose, with one cluster for each joint.
//!
//! Each mesh may have been bound in another pose. With `P` the transform from mesh space to model space when the joint with the
//! most weight was bound, and `B` the matrix from mesh space to a joint, vertices are written as `P v`, `TransformLink = P B^-1`
//! (where the joint was when this mesh was bound) and `Transform = B P^-1`: in every pose a vertex is at `model_from_joint B v`. Where
//! joints of one mesh were bound with different scales, the mesh is written as it stands in the bind pose instead.
//!
//! Meshes that no joint moves have no clusters. Morph targets are shapes of a blend shape deformer.
//!
//! Space: model space. Units: metres are converted to centimetres; matrices are in column-major order.

use super::bound_mesh::{BoundMesh, inverse};
use super::fbx_builder::{FbxBuilder, METRES_PER_UNIT, SCENE};
use super::geometry;
use super::limb_nodes::{LimbNodes, name};
use super::material::FbxMaterials;
use super::morph_channels::MorphChannels;
use super::record_properties::{int_row, properties, row};
use super::records::FbxRecord;
use crate::export::whole_mesh::WholeMesh;
use crate::math::{Mat4, Transform, nearest_rotation};
use std::collections::{HashMap, HashSet};

/// Deviation from a rotation that counts as rounding noise of 32-bit bind matrices; larger deviations are kept.
const NOISE: f64 = 1e-4;

/// Adds the meshes, and the pose in which they were bound.
pub(super) fn write<'a>(
    document: &mut FbxBuilder,
    meshes: &'a [WholeMesh<'a>],
    bones: &LimbNodes,
    materials: &mut FbxMaterials<'a>,
) -> Vec<MorphChannels> {
    let mut nodes: Vec<(i64, [f64; 16])> = Vec::new();
    let mut morphs = Vec::new();
    let mut names_in_use: HashSet<String> = HashSet::new();
    // The number to try next behind each name: numbers below it are in use.
    let mut next: HashMap<&str, usize> = HashMap::new();
    for whole in meshes.iter().filter(|w| !w.mesh.triangles.is_empty() && !w.mesh.bindings.is_empty()) {
        let mesh = &*whole.mesh;
        // Weights of morph targets are addressed by the name of the node.
        let own = if mesh.node.is_empty() { &mesh.name } else { &mesh.node };
        let number = next.entry(own).or_insert(0);
        let mut name = own.clone();
        while name.is_empty() || !names_in_use.insert(name.clone()) {
            *number += 1;
            name = format!("{own}_{number}");
        }
        match BoundMesh::of(whole, &bones.bind) {
            Some(placed) => {
                let (model, channels) = placed.write(document, &name, bones, materials);
                nodes.push((model, column(&Mat4::identity())));
                morphs.extend(channels);
            }
            None => {
                let message = "a mesh with singular bind matrices was omitted";
                materials.warnings.add("fbx-mesh-flat", message, format!("mesh `{name}`"));
            }
        }
    }
    if nodes.is_empty() {
        return morphs;
    }
    for (model, at) in bones.models.iter().zip(bones.bind.joints()) {
        nodes.extend(model.map(|model| (model, column(&at.to_matrix()))));
    }
    let id = document.id();
    let count = FbxRecord::new("NbPoseNodes").int(nodes.len() as i32);
    let pose = FbxBuilder::object("Pose", id, "BindPose", "Pose", "BindPose")
        .add(FbxRecord::new("Type").string("BindPose"))
        .add(FbxRecord::new("Version").int(100))
        .add(count);
    let nodes = nodes.into_iter().map(|(node, matrix)| {
        FbxRecord::new("PoseNode")
            .add(FbxRecord::new("Node").long(node))
            .add(FbxRecord::new("Matrix").doubles(&matrix))
    });
    document.add(pose.all(nodes));
    morphs
}

/// A matrix with its translation converted to the unit of the file, in column-major order.
fn column(matrix: &Mat4<f64>) -> [f64; 16] {
    let mut numbers = [0.0; 16];
    numbers.copy_from_slice(matrix.as_slice());
    for length in &mut numbers[12..15] {
        *length /= METRES_PER_UNIT;
    }
    numbers
}

/// The nearest rigid transform, if the difference is noise. Some readers extract the rotation themselves, and then noise is
/// amplified by the distance of the joint from the origin.
fn orthonormalised(matrix: &Mat4<f64>) -> Mat4<f64> {
    let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
    match nearest_rotation(&linear) {
        Some((rotation, false)) if (rotation.to_rotation_matrix().matrix() - linear).amax() < NOISE => {
            let translation = matrix.fixed_view::<3, 1>(0, 3).into_owned();
            Transform::new(rotation, translation).to_matrix()
        }
        _ => *matrix,
    }
}

impl<'a> BoundMesh<'a> {
    fn write(
        &self,
        document: &mut FbxBuilder,
        mesh_name: &str,
        bones: &LimbNodes,
        materials: &mut FbxMaterials<'a>,
    ) -> (i64, Option<MorphChannels>) {
        let (geometry, model) = (document.id(), document.id());
        document.add(geometry::mesh(self, geometry, mesh_name));
        let rows =
            [int_row("InheritType", "enum", "", 1), int_row("DefaultAttributeIndex", "int", "Integer", 0)];
        document.add_model(model, mesh_name, "Mesh", rows);
        document.connect(geometry, model);
        document.connect(model, SCENE);
        for (material, _) in self.whole.materials() {
            let material = materials.material(document, material, mesh_name);
            document.connect(material, model);
        }
        if self.whole.unmoved.is_none() {
            self.skin(document, geometry, mesh_name, bones);
        }
        (model, self.morphs(document, geometry, mesh_name))
    }

    /// Adds the skin of a geometry.
    fn skin(&self, document: &mut FbxBuilder, geometry: i64, mesh_name: &str, bones: &LimbNodes) {
        let skin = document.id();
        document.add(
            FbxBuilder::object("Deformer", skin, mesh_name, "Deformer", "Skin")
                .add(FbxRecord::new("Version").int(101))
                // This is the spelling in the format.
                .add(FbxRecord::new("Link_DeformAcuracy").double(50.0)),
        );
        document.connect(skin, geometry);
        for (index, (indices, weights)) in self.influences().into_iter().enumerate() {
            let binding = &self.mesh.bindings[index];
            let Some(joint) = bones.models[binding.joint.index()].filter(|_| !indices.is_empty()) else {
                continue;
            };
            let at = bones.bind.joint(binding.joint).to_matrix();
            let transform = binding.joint_from_mesh * self.mesh_from_model;
            let link = inverse(&transform).map_or(at, |link| orthonormalised(&link));
            let cluster = document.id();
            let joint_name = name(bones.skeleton.joint(binding.joint));
            document.add(
                FbxBuilder::object("Deformer", cluster, joint_name, "SubDeformer", "Cluster")
                    .add(FbxRecord::new("Version").int(100))
                    .add(FbxRecord::new("UserData").string("").string(""))
                    .add(FbxRecord::new("Indexes").ints(&indices))
                    .add(FbxRecord::new("Weights").doubles(&weights))
                    .add(FbxRecord::new("Transform").doubles(&column(&transform)))
                    .add(FbxRecord::new("TransformLink").doubles(&column(&link))),
            );
            document.connect(cluster, skin);
            document.connect(joint, cluster);
        }
    }

    /// Adds the morph targets to a geometry.
    fn morphs(&self, document: &mut FbxBuilder, geometry: i64, mesh_name: &str) -> Option<MorphChannels> {
        if self.mesh.morphs.is_empty() {
            return None;
        }
        let deformer = document.id();
        document.add(
            FbxBuilder::object("Deformer", deformer, mesh_name, "Deformer", "BlendShape")
                .add(FbxRecord::new("Version").int(100)),
        );
        document.connect(deformer, geometry);
        let mut channels = Vec::with_capacity(self.mesh.morphs.len());
        for morph in &self.mesh.morphs {
            let (channel, shape) = (document.id(), document.id());
            let percent = 100.0 * f64::from(morph.weight);
            document.add(
                FbxBuilder::object("Deformer", channel, &morph.name, "SubDeformer", "BlendShapeChannel")
                    .add(FbxRecord::new("Version").int(100))
                    .add(properties([row("DeformPercent", "Number", "", "A").double(percent)]))
                    .add(FbxRecord::new("DeformPercent").double(percent))
                    .add(FbxRecord::new("FullWeights").doubles(&[100.0])),
            );
            document.add(geometry::shape(self, shape, morph));
            document.connect(channel, deformer);
            document.connect(shape, channel);
            channels.push(channel);
        }
        Some(MorphChannels { node: self.mesh.node.clone(), channels })
    }

    /// For each binding, the points that it influences and their weights.
    fn influences(&self) -> Vec<(Vec<i32>, Vec<f64>)> {
        let mut all = vec![(Vec::new(), Vec::new()); self.mesh.bindings.len()];
        for (point, &vertex) in self.firsts.iter().enumerate() {
            for (joint, weight) in self.mesh.influences(vertex) {
                let Some((indices, weights)) = all.get_mut(usize::from(joint)) else { continue };
                match indices.last() {
                    // A vertex may list a joint twice.
                    Some(&last) if last == point as i32 => *weights.last_mut().unwrap_or(&mut 0.0) += weight,
                    _ => {
                        indices.push(point as i32);
                        weights.push(weight);
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    #[test]
    fn translations_are_in_the_unit_of_the_file() {
        let moved = Transform::from_translation(Vec3::new(1.0, 2.0, 3.0)).to_matrix();
        assert_eq!(column(&moved)[12..15], [100.0, 200.0, 300.0]);
    }
}
