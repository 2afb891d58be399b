//! Bones in a glTF document: what its nodes do not have is in `extras.mmd` of each, so that a motion can be written as `.vmd` later,
//! also from a GLB that was exported before.

use super::mmd_bones::{Append, MmdBone};
use crate::gltf_document::{Chunks, GltfError, Json};
use crate::math::Vec3;
use serde_json::{Value, json};

/// The member of a node's `extras`.
const KEY: &str = "mmd";

/// The `extras` of a bone's node; the node of a bone has its number.
pub fn bone_extras(bone: &MmdBone) -> Value {
    let p = &bone.position;
    let mut said = json!({"name": bone.name, "at": [p.x, p.y, p.z], "order": bone.order});
    if let Some(parent) = bone.parent {
        said["parent"] = parent.into();
    }
    if let Some(a) = &bone.append {
        said["append"] = json!([a.source, a.ratio, a.rotates, a.moves]);
    }
    if bone.ik.is_some() {
        said["ik"] = true.into();
    }
    json!({ KEY: said })
}

/// The bones of a document's nodes, `None` for other nodes, and whether each has a chain; `None` if no node is a bone.
///
/// # Errors
/// A document that cannot be opened.
#[allow(clippy::type_complexity)]
pub fn bones_of_document(bytes: &[u8]) -> Result<Option<Vec<Option<(MmdBone, bool)>>>, GltfError> {
    let chunks = Chunks::open(bytes)?;
    let json = Json::parse(chunks.json, chunks.json_offset)?;
    let nodes = json.items("nodes")?;
    let read = |text: &&str| -> Option<(MmdBone, bool)> {
        // Most documents are none of a model.
        if !text.contains("\"mmd\"") {
            return None;
        }
        let node: Value = serde_json::from_str(text).ok()?;
        bone(node.get("extras")?.get(KEY)?, nodes.len())
    };
    let mut bones: Vec<Option<(MmdBone, bool)>> = nodes.iter().map(read).collect();
    // Others may have removed nodes: what is named has to be a bone.
    let is_bone: Vec<bool> = bones.iter().map(Option::is_some).collect();
    for bone in bones.iter_mut().flatten() {
        let bone = &mut bone.0;
        bone.parent = bone.parent.filter(|p| is_bone[*p]);
        bone.append = bone.append.take().filter(|a| is_bone[a.source]);
    }
    Ok(is_bone.contains(&true).then_some(bones))
}

/// A bone of a document of `count` nodes.
fn bone(said: &Value, count: usize) -> Option<(MmdBone, bool)> {
    let index = |value: &Value| value.as_u64().map(|k| k as usize).filter(|k| *k < count);
    let at = |k: usize| said.get("at")?.get(k)?.as_f64();
    let order = said.get("order");
    let order = order.and_then(|o| Some((o.get(0)?.as_bool()?, o.get(1)?.as_i64()? as i32)));
    let append = |list: &Value| {
        Some(Append {
            source: index(list.get(0)?)?,
            ratio: list.get(1)?.as_f64()?,
            rotates: list.get(2)?.as_bool()?,
            moves: list.get(3)?.as_bool()?,
        })
    };
    let bone = MmdBone {
        name: said.get("name")?.as_str()?.to_owned(),
        parent: said.get("parent").and_then(index),
        above: None,
        position: Vec3::new(at(0)?, at(1)?, at(2)?),
        order: order.unwrap_or_default(),
        append: said.get("append").and_then(append),
        ik: None,
    };
    Some((bone, said.get("ik").is_some()))
}
