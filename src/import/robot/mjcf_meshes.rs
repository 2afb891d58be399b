//! The meshes of an MJCF file: `asset/mesh`.

use super::mjcf_defaults::MjcfDefaults;
use super::robot_meshes::MeshUse;
use super::xml_files::XmlTree;
use crate::math::{Quat, RawQuat, Transform, Vec3};
use roxmltree::Node;
use std::collections::HashMap;
use std::path::Path;

/// Meshes by their names, each as one of a link without place.
#[derive(Debug, Default)]
pub(super) struct MjcfMeshes<'d> {
    meshes: HashMap<&'d str, MeshUse>,
}

impl<'d> MjcfMeshes<'d> {
    /// The meshes of a file; those whose numbers mean nothing are left out.
    pub(super) fn read(
        tree: &'d XmlTree<'_>,
        defaults: &'d MjcfDefaults<'d>,
        sections: &[Node<'d, '_>],
    ) -> Self {
        let compilers = sections.iter().rev().filter(|node| node.has_tag_name("compiler"));
        let folder = |node: &Node<'d, '_>| node.attribute("meshdir").or(node.attribute("assetdir"));
        let folder = compilers.clone().find_map(folder).unwrap_or_default();
        let strips = compilers.clone().any(|node| node.attribute("strippath") == Some("true"));
        let mut found = Self::default();
        let assets = sections.iter().filter(|node| node.has_tag_name("asset"));
        for node in assets.flat_map(|section| tree.children(*section)).filter(|n| n.has_tag_name("mesh")) {
            let mesh = defaults.element(tree, node, None);
            let Some(written) = mesh.text("file") else { continue };
            let path = Path::new(written);
            let own = if strips { path.file_name().and_then(|name| name.to_str()) } else { Some(written) };
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let (Some(file), Some(name)) = (own, node.attribute("name").or(stem)) else { continue };
            let file = Path::new(folder).join(file).to_string_lossy().into_owned();
            let numbers = || {
                let at = mesh.vector("refpos", Vec3::zeros()).ok()?;
                let [w, x, y, z] = mesh.array::<4>("refquat").ok()?.unwrap_or([1.0, 0.0, 0.0, 0.0]);
                let rotation = Quat::try_new(RawQuat::new(w, x, y, z), 0.0)?;
                let scale = mesh.vector("scale", Vec3::repeat(1.0)).ok()?;
                Some((scale, Transform::new(rotation, at).inverse()))
            };
            let Some((scale, moved)) = numbers() else { continue };
            let link_from_mesh = Transform::identity();
            found
                .meshes
                .insert(name, MeshUse { link: 0, collides: true, file, scale, moved, link_from_mesh });
        }
        found
    }

    /// The mesh `name` of a link.
    pub(super) fn of_link(
        &self,
        name: &str,
        link: usize,
        place: Transform,
        collides: bool,
    ) -> Option<MeshUse> {
        Some(MeshUse { link, collides, link_from_mesh: place, ..self.meshes.get(name)?.clone() })
    }
}
