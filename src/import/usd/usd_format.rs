//! USD as an import format: a glTF document of its first skeleton, which the glTF reader then reads.

use super::crate_layer;
use super::usd_animation::{MorphedNode, animation, resting_weights};
use super::usd_error::UsdError;
use super::usd_mesh::mesh;
use super::usd_skeleton::UsdSkeleton;
use super::usd_xforms::{moves, world};
use super::usda_layer::{Layer, Prim, USUAL_RATE};
use super::usda_parser::parse;
use crate::gltf_document::{FLOAT, GlbBuilder, LocalTransform};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::gltf::{self, GltfFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::math::{Mat4, Quat, Transform, Vec3};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, UniqueNames, is_frame_rate};
use crate::report::{Warnings, one_line};
use crate::usd_document::MAGIC;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};
use std::f64::consts::FRAC_PI_2;

/// USD as text and as a crate.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "usd",
    suffixes: &["usda", "usdz", "usd", "usdc"],
    about: "USD as text or binary, alone or in a `.usdz`: skeletons with their animations and meshes",
    loses: "materials, further UV sets, references to other files, variants, animated transforms, cameras, lights",
    recognise: |head| {
        let zipped = zip_entry(head).is_some_and(|entry| is_layer(entry.name));
        head.starts_with(b"#usda") || head.starts_with(MAGIC) || zipped
    },
    read: |source, options| import(source, options),
};

/// Bytes of a parsed layer for each byte of its text: a number of one digit and its comma become eight.
const PARSED: u64 = 8;
/// The node of the first joint; the skeleton's own node is before it.
const FIRST: usize = 1;

/// The first file of an archive.
struct ZipEntry<'a> {
    name: &'a [u8],
    /// How it is compressed; 0 as it is, as the format asks for.
    method: u16,
    /// Bytes of it, and where it begins.
    size: usize,
    begin: usize,
}

/// The first file of a zip, by its local header (PKWARE, APPNOTE 4.3.7).
fn zip_entry(bytes: &[u8]) -> Option<ZipEntry<'_>> {
    let short = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let length = |at: usize| short(at).map(usize::from);
    let size = length(18)? | length(20)? << 16;
    let (name, extra) = (length(26)?, length(28)?);
    let method = short(8)?;
    let found = ZipEntry { name: bytes.get(30..30 + name)?, method, size, begin: 30 + name + extra };
    bytes.starts_with(b"PK\x03\x04").then_some(found)
}

/// Whether a file of this name is a layer.
fn is_layer(name: &[u8]) -> bool {
    [&b".usda"[..], b".usdc", b".usd"].into_iter().any(|suffix| name.ends_with(suffix))
}

/// The layer of a file, which is text or a crate: the whole file, or the first file of an archive.
fn layer(bytes: &[u8], budget: &MemoryBudget) -> Result<Layer, UsdError> {
    let layer = match zip_entry(bytes) {
        Some(entry) if entry.method == 0 => {
            bytes.get(entry.begin..).and_then(|rest| rest.get(..entry.size)).unwrap_or_default()
        }
        Some(_) => &[],
        None => bytes,
    };
    if layer.starts_with(MAGIC) {
        return crate_layer::read(layer, budget);
    }
    // Text of another writer may lack the first line.
    if layer.is_empty() || layer.contains(&0) {
        return Err(UsdError::NoLayer);
    }
    budget.reserve(PARSED * layer.len() as u64, || "the numbers".to_owned())?;
    parse(&String::from_utf8_lossy(layer), budget)
}

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let budget = options.budget(source.bytes);
    let layer = layer(source.bytes, &budget)?;
    let mut warnings = Warnings::new();
    let glb = glb(&layer, &budget, &mut warnings)?;
    let rate = frame_rate(layer.rate, &mut warnings);
    let file = GltfFile::of_glb(glb, rate, &budget, warnings)?;
    gltf::asset(file, source.name, options)
}

/// The rate of the frames, Hz: time codes need be none.
fn frame_rate(codes: f64, warnings: &mut Warnings) -> f64 {
    if is_frame_rate(codes) {
        return codes;
    }
    let message =
        format!("{codes} time codes per second are no frame rate: frames are {USUAL_RATE} per second");
    warnings.add("usd-rate", message, "timeCodesPerSecond");
    USUAL_RATE
}

/// The document of the first skeleton of a layer.
fn glb(layer: &Layer, budget: &MemoryBudget, warnings: &mut Warnings) -> Result<Vec<u8>, ImportError> {
    let of_kind = |kind: &'static str| layer.of_kind(kind);
    let prim = first_skeleton(layer).ok_or(UsdError::NoSkeleton {
        referenced: match (layer.refers, layer.variants.first()) {
            (true, _) => ", and refers to other files, which are not read".to_owned(),
            (false, Some(set)) => {
                format!(", and has variants (the set `{}`), which are not read", one_line(set))
            }
            (false, None) => String::new(),
        },
    })?;
    warn_of_references(layer, warnings);
    let others = of_kind("Skeleton").count() - 1;
    if others > 0 {
        let said =
            format!("of several skeletons `{}` was read; {others} more are left out", one_line(&prim.path));
        warnings.add("usd-skeletons", said, prim.path.clone());
    }
    if moves(layer, prim) {
        let said = "transforms above the skeleton move over time, which is not read";
        warnings.add("usd-moving-prims", said, prim.path.clone());
    }
    let skeleton = UsdSkeleton::read(prim)?;
    let mut binary = GlbBuilder::default();
    let mut nodes = nodes(layer, prim, &skeleton);
    let by_path: HashMap<&str, &Prim> = layer.prims.iter().map(|prim| (prim.path.as_str(), prim)).collect();
    let (mut meshes, mut skins, mut tops, mut faces) = (Vec::new(), Vec::new(), vec![0], Vec::new());
    // A file all of whose meshes are hidden is read as if they were not.
    let drawn = of_kind("Mesh").any(|body| !is_hidden(layer, body));
    let has_materials = of_kind("Material").next().is_some();
    for body in of_kind("Mesh") {
        let bound = layer.inherited(body, "skel:skeleton").is_none_or(|path| path == prim.path);
        if !bound
            || body.numbers("primvars:skel:jointIndices").is_empty()
            || body.numbers("faceVertexIndices").is_empty()
        {
            warnings.add(
                "usd-mesh-left",
                "meshes that the skeleton does not move are left out",
                body.path.clone(),
            );
            continue;
        }
        if drawn && is_hidden(layer, body) {
            let said = "meshes that are not drawn (`visibility`, `purpose`) are left out";
            warnings.add("usd-hidden-mesh", said, body.path.clone());
            continue;
        }
        warn_of_surface(has_materials, body, warnings);
        let made = mesh(&by_path, body, &skeleton, &mut binary, budget, warnings)?;
        let node = nodes.len();
        nodes.push(json!({"name": body.name(), "mesh": meshes.len(), "skin": skins.len()}));
        skins.push(skin(&skeleton, body, &mut binary, budget)?);
        meshes.push(made.mesh);
        tops.push(node);
        if !made.targets.is_empty() {
            faces.push(MorphedNode { node, mesh: meshes.len() - 1, targets: made.targets });
        }
    }
    // A skeleton without a mesh is one all the same.
    if skins.is_empty() {
        skins.push(json!({"joints": joints(&skeleton)}));
    }
    let mut animations = Vec::new();
    let mut names = UniqueNames::new([]);
    for clip in moving_clips(layer, prim, &faces, &mut meshes)? {
        let found = animation(layer, clip, (&skeleton, FIRST), &faces, &mut binary, budget, warnings)?;
        animations.extend(found.map(|mut found| {
            found["name"] = names.fresh(found["name"].as_str().unwrap_or_default()).into();
            found
        }));
    }
    let mut json = json!({"scene": 0, "scenes": [{"nodes": tops}], "nodes": nodes});
    for (name, list) in [("meshes", meshes), ("skins", skins), ("animations", animations)] {
        if !list.is_empty() {
            json[name] = list.into();
        }
    }
    Ok(binary.glb(json)?)
}

/// Whether a mesh is not drawn: invisible, or for other purposes than rendering.
fn is_hidden(layer: &Layer, body: &Prim) -> bool {
    matches!(layer.inherited(body, "purpose"), Some("proxy" | "guide"))
        || layer.upwards(body).any(|prim| prim.words("visibility") == ["invisible"])
}

/// Warns of the parts of a mesh's surface that are not read.
fn warn_of_surface(has_materials: bool, body: &Prim, warnings: &mut Warnings) {
    if has_materials {
        let said = "materials and their textures are not read: retarget onto the glTF or FBX file of the character to keep them";
        warnings.add("usd-materials", said, body.path.clone());
    }
    let left = |name: &&String| {
        let further =
            name.strip_prefix("primvars:st").is_some_and(|rest| !rest.is_empty() && !rest.contains(':'));
        further || *name == "primvars:displayColor"
    };
    if let Some(name) = body.properties.keys().filter(left).min() {
        let said =
            format!("vertex colours and further texture coordinates are not read (`{}`)", one_line(name));
        warnings.add("usd-primvars", said, body.path.clone());
    }
}

/// Warns of what other files and variants hold, which is not read.
fn warn_of_references(layer: &Layer, warnings: &mut Warnings) {
    if layer.refers {
        warnings.add("usd-references", "references and payloads are not read", "the layer");
    }
    for set in &layer.variants {
        let said = format!(
            "variants are not read: what the set `{}` selects is left out (flatten the file: `usdcat --flatten IN -o OUT.usdc`)",
            one_line(set)
        );
        warnings.add("usd-variants", said, "the layer");
    }
}

/// The animation that a skeleton binds.
fn source<'a>(layer: &'a Layer, skeleton: &'a Prim) -> Option<&'a str> {
    layer.inherited(skeleton, "skel:animationSource")
}

/// The first skeleton that binds an animation, else the first one.
fn first_skeleton(layer: &Layer) -> Option<&Prim> {
    let clips: HashSet<&str> = layer.of_kind("SkelAnimation").map(|clip| clip.path.as_str()).collect();
    let bound = |skeleton: &&Prim| source(layer, skeleton).is_some_and(|path| clips.contains(path));
    layer.of_kind("Skeleton").find(bound).or_else(|| layer.of_kind("Skeleton").next())
}

/// The animations of a skeleton: the one that it binds comes first, those that only other skeletons bind are left out.
fn clips_of<'a>(layer: &'a Layer, skeleton: &'a Prim) -> Vec<&'a Prim> {
    let own = source(layer, skeleton);
    let bound: HashSet<&str> = layer.of_kind("Skeleton").filter_map(|other| source(layer, other)).collect();
    let is_own = |clip: &&Prim| Some(clip.path.as_str()) == own;
    let mut clips: Vec<&Prim> = layer.of_kind("SkelAnimation").collect();
    clips.retain(|clip| is_own(clip) || !bound.contains(clip.path.as_str()));
    clips.sort_by_key(|clip| !is_own(clip));
    clips
}

/// The animations of a skeleton, but for one that it binds which holds the resting weights of its meshes only: they get these.
fn moving_clips<'a>(
    layer: &'a Layer,
    skeleton: &'a Prim,
    faces: &[MorphedNode],
    meshes: &mut [Json],
) -> Result<Vec<&'a Prim>, UsdError> {
    let mut clips = clips_of(layer, skeleton);
    let own = clips.first().copied().filter(|clip| source(layer, skeleton) == Some(clip.path.as_str()));
    let resting = own.map_or(Ok(HashMap::new()), |own| resting_weights(layer, own))?;
    if resting.is_empty() {
        return Ok(clips);
    }
    for face in faces {
        let weight = |name: &String| {
            let weight = resting.get(name.as_str()).map(|weight| *weight as f32);
            weight.filter(|weight| weight.is_finite()).unwrap_or(0.0)
        };
        meshes[face.mesh]["weights"] = face.targets.iter().map(weight).collect::<Vec<f32>>().into();
    }
    clips.remove(0);
    Ok(clips)
}

fn joints(skeleton: &UsdSkeleton) -> Vec<usize> {
    (FIRST..FIRST + skeleton.joints.len()).collect()
}

/// The nodes of the skeleton and its joints: metres, Y up.
fn nodes(layer: &Layer, prim: &Prim, skeleton: &UsdSkeleton) -> Vec<Json> {
    let upright = match layer.z_up {
        true => Quat::from_axis_angle(&Vec3::x_axis(), -FRAC_PI_2),
        false => Quat::identity(),
    };
    let stage = Transform::from_rotation(upright).to_matrix() * Mat4::new_scaling(layer.metres_per_unit);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); 1 + skeleton.joints.len()];
    for (k, parent) in skeleton.parents.iter().enumerate() {
        children[parent.map_or(0, |p| p + FIRST)].push(k + FIRST);
    }
    let names = std::iter::once(prim.name()).chain(skeleton.names.iter().map(String::as_str));
    let top = stage * world(layer, prim);
    let locals = std::iter::once(&top).chain(&skeleton.rest);
    let node = |((name, local), children): ((&str, &Mat4<f64>), Vec<usize>)| {
        let LocalTransform { translation: t, rotation: r, scale: s, .. } = LocalTransform::from_matrix(local);
        // Rounding may put a component of a unit quaternion beyond 1, which the format forbids.
        let rotation = [r.i, r.j, r.k, r.w].map(|x| x.clamp(-1.0, 1.0));
        let mut node = json!({
            "name": name,
            "translation": [t.x, t.y, t.z],
            "rotation": rotation,
        });
        if s.iter().any(|x| (x - 1.0).abs() > 1e-9) {
            node["scale"] = json!([s.x, s.y, s.z]);
        }
        if !children.is_empty() {
            node["children"] = children.into();
        }
        node
    };
    names.zip(locals).zip(children).map(node).collect()
}

/// The skin of a mesh: the bind transforms of the skeleton.
fn skin(
    skeleton: &UsdSkeleton,
    body: &Prim,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
) -> Result<Json, ImportError> {
    budget.reserve_list::<[f32; 16]>(skeleton.bind.len() as u64, || "bind matrices".to_owned())?;
    let mut matrices: Vec<u8> = Vec::with_capacity(64 * skeleton.bind.len());
    for (bind, name) in skeleton.bind.iter().zip(&skeleton.names) {
        let mut inverse = bind.try_inverse().ok_or_else(|| UsdError::Prim {
            prim: body.path.clone(),
            reason: format!("the bind transform of the joint `{name}` has no inverse"),
        })?;
        inverse.row_mut(3).copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
        matrices.extend(inverse.iter().flat_map(|x| (*x as f32).to_le_bytes()));
    }
    let accessor = json!({"componentType": FLOAT, "count": skeleton.bind.len(), "type": "MAT4"});
    let matrices = binary.push(&matrices, None, accessor);
    Ok(json!({"joints": joints(skeleton), "inverseBindMatrices": matrices}))
}
