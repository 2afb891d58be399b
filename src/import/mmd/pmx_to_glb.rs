//! Converts a model to a GLB: a node for every bone, with its number, then a node for the mesh of every material.

use super::pmx_meshes::mesh;
use super::pmx_model::PmxModel;
use super::pmx_textures::PmxTextures;
use super::pmx_vertices::PmxMaterial;
use super::vmd_animation::animation;
use super::vmd_keys::VmdKeys;
use crate::gltf_document::{FLOAT, GlbBuilder};
use crate::import::import_error::ImportError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::bone_extras;
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// Brightness of MikuMikuDance's default light, by which the diffuse colour is multiplied: 154 / 255.
const LIGHT: f32 = 154.0 / 255.0;
/// Roughness of painted surfaces.
const ROUGH: f64 = 0.8;

/// The document of a model, whose textures are in `folder`, with a motion and its name.
pub(super) fn document(
    model: &PmxModel,
    folder: Option<&Path>,
    motion: Option<(&VmdKeys, &str)>,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, ImportError> {
    let mut binary = GlbBuilder::default();
    let mut used = vec![false; model.textures.len()];
    for texture in model.materials.iter().filter_map(|m| m.texture) {
        used.get_mut(texture).into_iter().for_each(|used| *used = true);
    }
    let textures = PmxTextures::read(&model.textures, &used, folder, &mut binary, budget, warnings)?;
    let count = model.bones.len();
    let mut nodes = bone_nodes(model);
    let mut tops: Vec<usize> = (0..count).filter(|k| model.bones[*k].above.is_none()).collect();
    let mut taken: HashMap<String, usize> = model.bones.iter().map(|b| (one_line(&b.name), 1)).collect();
    let (mut meshes, mut faces, mut first) = (Vec::new(), Vec::new(), 0_usize);
    for (k, material) in model.materials.iter().enumerate() {
        if let Some(made) = mesh(model, k, first, &mut binary, budget)? {
            let name = fresh(&mut taken, &material.name);
            tops.push(nodes.len());
            if !made.targets.is_empty() {
                faces.push((nodes.len(), made.targets));
            }
            nodes.push(json!({"name": name, "mesh": meshes.len(), "skin": 0}));
            meshes.push(made.mesh);
        }
        first = first.saturating_add(material.corners);
    }
    let mut json = json!({
        "scene": 0,
        "scenes": [{"nodes": tops}],
        "nodes": nodes,
        "skins": [skin(model, &mut binary)],
    });
    let animations = match motion {
        Some((keys, name)) => vec![animation(model, keys, &faces, name, &mut binary, budget, warnings)?],
        None => Vec::new(),
    };
    let materials: Vec<Value> = model.materials.iter().map(|m| look(m, &textures)).collect();
    let lists = [
        ("materials", materials),
        ("textures", textures.textures),
        ("images", textures.images),
        ("meshes", meshes),
        ("animations", animations),
    ];
    for (name, list) in lists {
        if !list.is_empty() {
            json[name] = list.into();
        }
    }
    Ok(binary.glb(json)?)
}

/// A name that no node has: the given one, else with a number. `taken` has the last number of each name.
fn fresh(taken: &mut HashMap<String, usize>, name: &str) -> String {
    let name = one_line(name);
    let name = if name.is_empty() { "mesh".to_owned() } else { name };
    let mut last = taken.get(&name).copied().unwrap_or(0);
    let mut free = name.clone();
    while taken.contains_key(&free) {
        last = last.max(1) + 1;
        free = format!("{name}_{last}");
    }
    taken.insert(name, last.max(1));
    taken.entry(free.clone()).or_insert(1);
    free
}

fn bone_nodes(model: &PmxModel) -> Vec<Value> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); model.bones.len()];
    for (k, bone) in model.bones.iter().enumerate() {
        bone.above.into_iter().for_each(|above| children[above].push(k));
    }
    let node = |(bone, children): (&crate::mmd_document::MmdBone, Vec<usize>)| {
        let above = bone.above.map_or_else(Vec3::zeros, |k| model.bones[k].position);
        let t = bone.position - above;
        let mut node = json!({
            "name": one_line(&bone.name), "translation": [t.x, t.y, t.z], "extras": bone_extras(bone),
        });
        if !children.is_empty() {
            node["children"] = children.into();
        }
        node
    };
    model.bones.iter().zip(children).map(node).collect()
}

fn skin(model: &PmxModel, binary: &mut GlbBuilder) -> Value {
    let matrices = model.bones.iter().flat_map(|bone| {
        let p = -bone.position;
        let columns = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, p.x, p.y, p.z, 1.0];
        columns.into_iter().flat_map(|x| (x as f32).to_le_bytes())
    });
    let matrices: Vec<u8> = matrices.collect();
    let accessor = json!({"componentType": FLOAT, "count": model.bones.len(), "type": "MAT4"});
    let matrices = binary.push(&matrices, None, accessor);
    json!({"joints": (0..model.bones.len()).collect::<Vec<_>>(), "inverseBindMatrices": matrices})
}

/// The material: what the default light of MikuMikuDance shows of it.
fn look(material: &PmxMaterial, textures: &PmxTextures) -> Value {
    let [r, g, b] = [0, 1, 2].map(|k| {
        let lit = material.diffuse[k] * LIGHT + material.ambient[k];
        linear(lit.clamp(0.0, 1.0))
    });
    let opacity = material.diffuse[3].clamp(0.0, 1.0);
    let mut surface = json!({
        "baseColorFactor": [r, g, b, opacity], "metallicFactor": 0.0, "roughnessFactor": ROUGH,
    });
    let texture = material.texture.and_then(|t| textures.index.get(t).copied().flatten());
    if let Some((index, _)) = texture {
        surface["baseColorTexture"] = json!({"index": index});
    }
    let mut look = json!({
        "name": material.name, "pbrMetallicRoughness": surface, "doubleSided": material.double_sided,
    });
    match texture {
        _ if opacity < 1.0 => look["alphaMode"] = "BLEND".into(),
        Some((_, true)) => look["alphaMode"] = "MASK".into(),
        _ => {}
    }
    look
}

/// A linear component of an sRGB one (IEC 61966-2-1).
fn linear(x: f32) -> f32 {
    if x <= 0.04045 { x / 12.92 } else { libm::powf((x + 0.055) / 1.055, 2.4) }
}
