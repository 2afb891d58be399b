//! Face takes as an import format: a glTF document with one mesh that has the morph targets, without a shape of their own, and an
//! animation of their weights, which the glTF reader then reads.

use super::face_weights::FaceWeights;
use super::{csv_weights, json_weights};
use crate::gltf_document::{FLOAT, GlbBuilder, floats};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::gltf::{self, GltfFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::model::Asset;
use crate::report::Warnings;
use serde_json::{Value, json};

/// Weights of morph targets per frame.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "face",
    // Tables of faces are recognised by their first row: other `.csv` files hold joints.
    suffixes: &["json"],
    about: "weights of morph targets per frame, as Live Link Face (`.csv`) and Audio2Face (`.json`) write them: takes of a face",
    loses: "rotations of head and eyes",
    recognise: |head| csv_weights::is_table(head) || json_weights::is_document(head),
    read: |source, options| import(source, options),
};

/// The name of the node and the mesh.
const NODE: &str = "Face";
/// The length of the sides of the triangle that has the morph targets, metres: nobody sees it.
const SIDE: f32 = 1e-3;

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let mut warnings = Warnings::new();
    let budget = options.budget(source.bytes);
    let text = String::from_utf8_lossy(source.bytes);
    let weights = match text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']) {
        true => json_weights::read(text.trim_start_matches('\u{feff}'), &budget)?,
        false => {
            budget.reserve(2 * source.bytes.len() as u64, || "the weights".to_owned())?;
            csv_weights::read(&text, options, &mut warnings)?
        }
    };
    let (weights, rate) = weights.uniform(options, &budget, &mut warnings)?;
    budget.reserve_list::<f32>(weights.values.len() as u64, || "the animation".to_owned())?;
    let file = GltfFile::of_glb(glb(&weights, rate)?, rate, &budget, warnings)?;
    gltf::asset(file, source.name, options)
}

/// The document of the weights.
fn glb(weights: &FaceWeights, rate: f64) -> Result<Vec<u8>, ImportError> {
    let mut binary = GlbBuilder::default();
    let accessor = |kind: &str, count: usize| json!({"componentType": FLOAT, "count": count, "type": kind});
    let (width, frames) = (weights.names.len(), weights.values.len() / weights.names.len());
    let mut shape = accessor("VEC3", 3);
    (shape["min"], shape["max"]) = (json!([0.0, 0.0, 0.0]), json!([SIDE, SIDE, 0.0]));
    let corners = [[0.0, 0.0, 0.0], [SIDE, 0.0, 0.0], [0.0, SIDE, 0.0]];
    let shape = binary.push(&floats(&corners), None, shape);
    let mut still = accessor("VEC3", 3);
    (still["min"], still["max"]) = (json!([0.0, 0.0, 0.0]), json!([0.0, 0.0, 0.0]));
    let still = binary.push(&floats(&[[0.0_f32; 3]; 3]), None, still);
    let times: Vec<[f32; 1]> = (0..frames).map(|frame| [(frame as f64 / rate) as f32]).collect();
    let mut input = accessor("SCALAR", frames);
    (input["min"], input["max"]) = (json!([0.0]), json!(times[frames - 1]));
    let input = binary.push(&floats(&times), None, input);
    let values: Vec<u8> = weights.values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let output = binary.push(&values, None, accessor("SCALAR", frames * width));
    let targets: Vec<Value> = weights.names.iter().map(|_| json!({"POSITION": still})).collect();
    let primitive = json!({"attributes": {"POSITION": shape}, "targets": targets});
    Ok(binary.glb(json!({
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": NODE, "mesh": 0}],
        "meshes": [{
            "name": NODE, "primitives": [primitive], "weights": vec![0.0; width],
            "extras": {"targetNames": weights.names},
        }],
        "animations": [{
            "samplers": [{"input": input, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
        }],
    }))?)
}
