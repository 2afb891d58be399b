//! Packs the surfaces of a character for the player: vertices, weights, triangles and small textures.
//!
//! Space: mesh space with one matrix for each binding, as in [`Mesh`]. Weights have 8 bits, normals 8 bits a component.

use super::packed::{Prediction, Store};
use crate::model::{Mesh, Motion};
use crate::render::{figure, small_jpeg, surfaces};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The largest side of a texture on a page.
const TEXTURE_SIDE: u32 = 512;
/// Quantisation steps of vertex positions along a body: half a millimetre for a body of two metres, which is one pixel when the
/// body is four screens tall. With half as many, edges look uneven up close; with double, a page is a thirtieth larger.
const PLACES: f32 = 4096.0;
/// Most textures of a page; further surfaces show their plain colour.
const TEXTURES: usize = 8;
/// Most textures decoded, since some may be damaged.
const TRIED: usize = 2 * TEXTURES;

/// The surfaces of a motion's character in at most `most` bytes, and whether they were replaced by a figure.
pub(super) fn skin(motion: &Motion, most: usize, store: &mut Store) -> (Value, bool) {
    let mut meshes = surfaces(motion);
    let too_large = meshes.iter().map(|m| size(m)).sum::<usize>() > most;
    if too_large {
        meshes = vec![Cow::Owned(figure(motion))];
    }
    // Each image is decoded once, also if that fails.
    let mut images: Vec<(Arc<[u8]>, Option<usize>)> = Vec::new();
    let mut textures: Vec<Value> = Vec::new();
    let packed: Vec<Value> = meshes
        .iter()
        .map(|mesh| {
            let mut value = pack(mesh, store);
            let own = mesh.material.texture.as_ref().filter(|_| !mesh.texcoords.is_empty());
            if let Some(texture) = own {
                let known = images.iter().find(|i| Arc::ptr_eq(&i.0, &texture.bytes)).map(|i| i.1);
                let at = known.unwrap_or_else(|| {
                    let jpeg = if images.len() < TRIED && textures.len() < TEXTURES {
                        small_jpeg(texture, TEXTURE_SIDE)
                    } else {
                        None
                    };
                    let at = jpeg.map(|jpeg| {
                        textures.push(json!(format!("data:image/jpeg;base64,{}", STANDARD.encode(&jpeg))));
                        textures.len() - 1
                    });
                    images.push((Arc::clone(&texture.bytes), at));
                    at
                });
                value["texture"] = json!(at);
            }
            value
        })
        .collect();
    (json!({ "meshes": packed, "textures": textures }), too_large)
}

/// Approximate size of a mesh on the page, bytes.
fn size(mesh: &Mesh) -> usize {
    let vertex = 6 + 3 + if rigid(mesh) { 2 } else { 12 } + if mesh.texcoords.is_empty() { 0 } else { 4 };
    let index = if mesh.positions.len() > 1 << 16 { 12 } else { 6 };
    mesh.positions.len() * vertex + mesh.triangles.len() * index
}

/// Whether every vertex is bound to a single joint.
fn rigid(mesh: &Mesh) -> bool {
    mesh.weights.iter().all(|w| w[0] == 1.0)
}

fn pack(mesh: &Mesh, store: &mut Store) -> Value {
    let positions = store.quantised(&mesh.positions, breadth(mesh) / PLACES);
    let matrix = |m: &crate::math::Mat4<f64>| -> Vec<f32> {
        (0..4).flat_map(|c| (0..3).map(move |r| m[(r, c)] as f32)).collect()
    };
    let joints: Vec<usize> = mesh.bindings.iter().map(|b| b.joint.index()).collect();
    // A binding that mirrors reverses the winding of triangles.
    let mirrored = mesh.bindings[0].joint_from_mesh.determinant() < 0.0;
    let corner = |row: usize, k: usize| mesh.triangles[row][if mirrored { [0, 2, 1][k] } else { k }] as i32;
    let base = mesh.material.base_color;
    let mut value = json!({
        "count": mesh.positions.len(),
        "positions": positions.place, "low": positions.low, "step": positions.step,
        "normals": store.directions(&mesh.normals),
        "triangles": store.whole(mesh.triangles.len(), 3, Prediction::Last, corner),
        "bound": joints,
        "bindings": store.f32s(mesh.bindings.iter().flat_map(|b| matrix(&b.joint_from_mesh))),
        "color": [base[0], base[1], base[2]],
        "both": mesh.material.double_sided,
    });
    if rigid(mesh) {
        value["joint"] = store.u16s(mesh.joints.iter().map(|j| j[0]));
    } else {
        value["joints"] = store.u16s(mesh.joints.iter().flatten().copied());
        value["weights"] = store.bytes(&mesh.weights.iter().flat_map(eighths).collect::<Vec<u8>>());
    }
    if !mesh.texcoords.is_empty() && mesh.material.texture.is_some() {
        let uv = store.quantised(&mesh.texcoords, 0.0);
        value["texcoords"] = json!({ "place": uv.place, "low": uv.low, "step": uv.step });
    }
    if !mesh.colors.is_empty() {
        let code = |x: &f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        let rgb: Vec<u8> =
            mesh.colors.iter().flat_map(|c| c[..3].iter().map(code).collect::<Vec<u8>>()).collect();
        value["colors"] = store.bytes(&rgb);
    }
    value
}

/// Extent of most vertices along the longest axis: outliers do not make all others coarse.
fn breadth(mesh: &Mesh) -> f32 {
    let along = |k: usize| {
        let mut places: Vec<f32> = mesh.positions.iter().map(|p| p[k]).filter(|x| x.is_finite()).collect();
        places.sort_by(f32::total_cmp);
        let outside = places.len() / 20;
        places.get(outside).zip(places.iter().nth_back(outside)).map_or(0.0, |(low, high)| high - low)
    };
    (0..3).map(along).fold(0.0, f32::max)
}

/// Four weights in units of 1/255 whose sum is 255: the rounding error is added to the largest.
fn eighths(weights: &[f32; 4]) -> [u8; 4] {
    let mut parts = weights.map(|w| (w.clamp(0.0, 1.0) * 255.0).round() as i32);
    let rest = 255 - parts.iter().sum::<i32>();
    let greatest = (0..4).max_by_key(|&k| (parts[k], 4 - k)).unwrap_or(0);
    parts[greatest] += rest;
    parts.map(|p| p.clamp(0, 255) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_weights_sum_to_one(a in 0.0..1.0f32, b in 0.0..1.0f32, c in 0.0..1.0f32) {
            let sum = a + b + c + 0.1;
            let weights = [a / sum, b / sum, c / sum, 0.1 / sum];
            let parts = eighths(&weights);
            prop_assert_eq!(parts.iter().map(|&p| u32::from(p)).sum::<u32>(), 255);
            for (p, w) in parts.iter().zip(weights) {
                prop_assert!((f32::from(*p) / 255.0 - w).abs() < 0.01);
            }
        }
    }
}
