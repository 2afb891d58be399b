//! FBX as an import format.
//!
//! Space: metres, Y up, right-handed, converted by the reader; scale and rotation of the conversion are applied to vertices
//! and translations, so that no node keeps a scale of 0.01.

use super::{fbx_rest_pose, joint_nodes, scene_to_glb, stacks};
use crate::fbx_document::{FbxView, open_fbx};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::gltf::{self, GltfFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::math::Vec3;
use crate::model::Asset;
use crate::report::Warnings;
use ufbx::{CoordinateAxes, CoordinateAxis, SceneRoot};

/// Autodesk FBX.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "fbx",
    suffixes: &["fbx"],
    about: "Autodesk FBX 3.0 to 7.7, binary and ASCII: characters and takes, every take of a file a clip",
    loses: "curves between frames, metalness, roughness and separate opacity textures, in-between shapes and normals of blend shapes, hidden meshes, \
            constraints, cameras, lights; nothing on export to FBX unless a number of the file is not finite",
    recognise: |head| {
        let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
        let contains = |word: &[u8]| line.windows(word.len()).any(|w| w == word);
        head.starts_with(b"Kaydara FBX Binary")
            || head.starts_with(b"; FBX")
            || contains(b"FBXHeaderExtension")
    },
    read,
};

fn read(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let budget = options.budget(source.bytes);
    let scene = open_fbx(source.bytes, FbxView::Imported, budget.left())
        .map_err(|reason| ImportError::Fbx { reason })?;
    budget.reserve(scene.metadata.result_memory_used as u64, || "the scene".into())?;
    if is_left_handed(&scene.settings.axes) {
        return Err(ImportError::FbxLeftHanded);
    }
    let mut warnings = Warnings::new();
    warn_of_omissions(&scene, &mut warnings);
    let joints = joint_nodes::joints(&scene);
    let rest = fbx_rest_pose::rest(&scene, &joints, options, &budget, &mut warnings)?;
    let glb = scene_to_glb::build(&scene, &joints, &rest, source.folder, &budget, &mut warnings)?;
    let rate = stacks::exact(scene.settings.frames_per_second);
    // The file itself would bring the numbers along that were replaced.
    let sound = !warnings.has("fbx-not-finite");
    let mut file = GltfFile::of_glb(glb, rate, &budget, warnings)?;
    file.document.fbx = sound.then(|| source.kept());
    gltf::asset(file, source.name, options)
}

/// Whether right, up and front of the file's own axes are a mirror image of X, Y and Z; no if one of them is unknown.
fn is_left_handed(axes: &CoordinateAxes) -> bool {
    let direction = |axis: CoordinateAxis| match axis {
        CoordinateAxis::PositiveX => Vec3::x(),
        CoordinateAxis::NegativeX => -Vec3::x(),
        CoordinateAxis::PositiveY => Vec3::y(),
        CoordinateAxis::NegativeY => -Vec3::y(),
        CoordinateAxis::PositiveZ => Vec3::z(),
        CoordinateAxis::NegativeZ => -Vec3::z(),
        CoordinateAxis::Unknown => Vec3::zeros(),
    };
    direction(axes.right).cross(&direction(axes.up)).dot(&direction(axes.front)) < 0.0
}

/// Warns of what the reader corrected and of what is not imported.
fn warn_of_omissions(scene: &SceneRoot, warnings: &mut Warnings) {
    for warning in &scene.metadata.warnings {
        let times = if warning.count > 1 { format!(", {} times", warning.count) } else { String::new() };
        warnings.add(
            "fbx-bent",
            format!("the FBX reader reports: {}{times}", warning.description),
            "the file",
        );
    }
    let left = [
        (scene.cameras.len(), "cameras"),
        (scene.lights.len(), "lights"),
        (scene.constraints.len(), "constraints"),
        (scene.characters.len(), "character definitions"),
        (scene.nurbs_surfaces.len() + scene.nurbs_curves.len(), "NURBS"),
    ];
    let left: Vec<String> =
        left.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !left.is_empty() {
        warnings.add("fbx-left", format!("{} of the file are not imported", left.join(", ")), "the file");
    }
}
