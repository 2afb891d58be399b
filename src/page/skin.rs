//! Packs the surfaces of a character for the player: vertices, weights, triangles and small textures.
//!
//! Space: mesh space with one matrix for each binding, as in [`Mesh`]. Weights have 8 bits, normals 5 bits a component.

use super::packed::{Grid, Prediction, Store};
use super::surface::PackedSurface;
use crate::model::{Mesh, Motion};
use crate::render::{figure, small_jpeg};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The largest sides of textures on a page: the first one whose images take no more than half of the skin's share, or the last.
const TEXTURE_SIDES: [u32; 3] = [512, 384, 256];
/// Errors that are tried until a surface fits, as parts of the body's extent. The first is the step of positions; at the last an
/// edge is one pixel off when the body is as tall as a screen of 500 pixels.
const ERRORS: [f32; 7] =
    [1.0 / 4000.0, 1.0 / 2800.0, 1.0 / 2000.0, 1.0 / 1400.0, 1.0 / 1000.0, 1.0 / 700.0, 1.0 / 500.0];
/// Limit of a skin before compression, bytes; half of that remains.
const LARGEST: usize = 2_600_000;
/// Quantisation steps of vertex positions along a body: half a millimetre for a body of two metres, which is one pixel when the
/// body is four screens tall. With half as many, edges look uneven up close; with double, a page is a thirtieth larger.
const PLACES: f32 = 4096.0;
/// Steps of a unit in which a normal differs from the mean of its triangles: 0.9 degrees, which no shade of a surface shows.
const NORMAL_STEPS: f64 = 32.0;
/// Angle below which normals of triangles cancel out, radians: their mean has no direction.
const CANCELLED: f64 = 1e-3;
/// Most textures of a page; further surfaces show their plain colour.
const TEXTURES: usize = 8;
/// Most textures decoded, since some may be damaged.
const TRIED: usize = 2 * TEXTURES;

/// The surfaces of a motion's character in about `most` bytes of a page, and whether they were replaced by a figure.
pub(super) fn skin(
    motion: &Motion,
    mut meshes: Vec<Cow<Mesh>>,
    most: usize,
    store: &mut Store,
) -> (Value, bool) {
    let sides = TEXTURE_SIDES.into_iter().map(|side| textures(&meshes, side));
    let (jpegs, places) = sides
        .reduce(|large, small| if bytes_of(&large.0) > most / 2 { small } else { large })
        .expect("sides");
    let most = most - bytes_of(&jpegs).min(most / 2);
    if packed_size(&meshes) > most {
        let thin = |&error: &f32| thinned(motion, &meshes, error);
        let fits = |thin: &Vec<Cow<Mesh>>| packed_size(thin) <= most;
        let fitting = ERRORS.iter().map(thin).find(fits);
        meshes = fitting.unwrap_or_else(|| thinned(motion, &meshes, ERRORS[ERRORS.len() - 1]));
    }
    let too_large = meshes.iter().map(|m| size(m)).sum::<usize>() > LARGEST;
    if too_large {
        meshes = vec![Cow::Owned(figure(motion))];
    }
    let packed = meshes.iter().enumerate().map(|(m, mesh)| {
        let mut value = pack(mesh, store);
        if let Some(Some(texture)) = places.get(m).filter(|_| !too_large) {
            value["texture"] = json!(texture);
        }
        value
    });
    (json!({ "meshes": packed.collect::<Vec<_>>(), "textures": jpegs }), too_large)
}

/// The surfaces with an error of a part of the body's extent; without the feature `meshopt` they stay as they are.
fn thinned<'a>(motion: &Motion, meshes: &[Cow<'a, Mesh>], error: f32) -> Vec<Cow<'a, Mesh>> {
    #[cfg(feature = "meshopt")]
    return super::thinned::thinned(motion, meshes, error);
    #[cfg(not(feature = "meshopt"))]
    {
        let _ = (motion, error);
        meshes.to_vec()
    }
}

fn bytes_of(texts: &[String]) -> usize {
    texts.iter().map(String::len).sum()
}

/// The size of surfaces on the page, bytes.
fn packed_size(meshes: &[Cow<Mesh>]) -> usize {
    let mut alone = Store::default();
    for mesh in meshes {
        pack(mesh, &mut alone);
    }
    alone.size()
}

/// The textures of surfaces as data URLs with at most `side` pixels a side, and which of them each surface has.
fn textures(meshes: &[Cow<Mesh>], side: u32) -> (Vec<String>, Vec<Option<usize>>) {
    // Each image is decoded once, also if that fails.
    let mut images: Vec<(Arc<[u8]>, Option<usize>)> = Vec::new();
    let mut jpegs = Vec::new();
    let place = |mesh: &Cow<Mesh>| {
        let texture = mesh.material.texture.as_ref().filter(|_| !mesh.texcoords.is_empty())?;
        if let Some(known) = images.iter().find(|i| Arc::ptr_eq(&i.0, &texture.bytes)) {
            return known.1;
        }
        let wanted = images.len() < TRIED && jpegs.len() < TEXTURES;
        let jpeg = if wanted { small_jpeg(texture, side) } else { None };
        let at = jpeg.map(|jpeg| {
            jpegs.push(format!("data:image/jpeg;base64,{}", STANDARD.encode(&jpeg)));
            jpegs.len() - 1
        });
        images.push((Arc::clone(&texture.bytes), at));
        at
    };
    let places = meshes.iter().map(place).collect();
    (jpegs, places)
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

/// A vertex as the page knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PackedVertex {
    point: usize,
    normal: [u32; 3],
    texcoord: [u32; 2],
    color: [u8; 3],
}

/// A position in steps with up to four joints in ascending order and their weights, as of [`eighths`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PackedPoint {
    code: [i32; 3],
    joints: [u16; 4],
    weights: [u8; 4],
}

/// The number of each distinct value, and the values in that order.
fn numbered<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> (Vec<usize>, Vec<T>) {
    let (mut known, mut all) = (HashMap::new(), Vec::new());
    let mut number = |value: T| {
        *known.entry(value).or_insert_with(|| {
            all.push(value);
            all.len() - 1
        })
    };
    (values.map(&mut number).collect(), all)
}

fn pack(mesh: &Mesh, store: &mut Store) -> Value {
    let grid = Grid::around(&mesh.positions, breadth(mesh) / PLACES);
    let rigid = rigid(mesh);
    let point = |v: usize| {
        let (joints, weights) = if rigid {
            ([mesh.joints[v][0], 0, 0, 0], [255, 0, 0, 0])
        } else {
            in_order(mesh.joints[v], eighths(&mesh.weights[v]))
        };
        PackedPoint { code: grid.code(&mesh.positions[v]), joints, weights }
    };
    let count = mesh.positions.len();
    let (point_of, points) = numbered((0..count).map(point));
    let textured = !mesh.texcoords.is_empty() && mesh.material.texture.is_some();
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let vertex = |v: usize| PackedVertex {
        point: point_of[v],
        normal: mesh.normals.get(v).map_or([0; 3], |n| n.map(f32::to_bits)),
        texcoord: mesh.texcoords.get(v).filter(|_| textured).map_or([0; 2], |t| t.map(f32::to_bits)),
        color: mesh.colors.get(v).map_or([0; 3], |c| [byte(c[0]), byte(c[1]), byte(c[2])]),
    };
    let (vertex_of, vertices) = numbered((0..count).map(vertex));
    let point_of: Vec<usize> = vertices.iter().map(|v| v.point).collect();
    let codes: Vec<[i32; 3]> = points.iter().map(|p| p.code).collect();
    // A binding that mirrors reverses the winding of triangles.
    let mirrored = mesh.bindings[0].joint_from_mesh.determinant() < 0.0;
    let turned = |t: &[u32; 3]| if mirrored { [t[0], t[2], t[1]] } else { *t };
    let triangles: Vec<[usize; 3]> =
        mesh.triangles.iter().map(|t| turned(t).map(|v| vertex_of[v as usize])).collect();

    let surface = PackedSurface::of(&triangles, &point_of, &codes);
    let normals = smooth_normals(&triangles, &vertices.iter().map(|v| codes[v.point]).collect::<Vec<_>>());
    let ordered: Vec<&PackedVertex> = surface.vertices.iter().map(|&v| &vertices[v]).collect();
    let normal = |row: usize, k: usize| {
        let off = f64::from(f32::from_bits(ordered[row].normal[k])) - normals[surface.vertices[row]][k];
        (off.clamp(-2.0, 2.0) * NORMAL_STEPS).round() as i32
    };
    let matrix = |m: &crate::math::Mat4<f64>| -> Vec<f32> {
        (0..4).flat_map(|c| (0..3).map(move |r| m[(r, c)] as f32)).collect()
    };
    let joints: Vec<usize> = mesh.bindings.iter().map(|b| b.joint.index()).collect();
    let base = mesh.material.base_color;
    let mut value = json!({
        "count": ordered.len(),
        "corners": store.bytes(&surface.corners.iter().map(|&c| c as u8).collect::<Vec<_>>()),
        "back": store.whole(surface.back.len(), 1, Prediction::Last, |row, _| surface.back[row]),
        "uses": store.whole(surface.uses.len(), 1, Prediction::Nothing, |row, _| surface.uses[row]),
        "positions": store.whole(surface.points.len(), 3, Prediction::Nothing, |row, k| surface.points[row].residual[k]),
        "low": grid.low, "step": grid.step,
        "normals": store.whole(ordered.len(), 3, Prediction::Nothing, normal),
        "bound": joints,
        "bindings": store.f32s(mesh.bindings.iter().flat_map(|b| matrix(&b.joint_from_mesh))),
        "color": [base[0], base[1], base[2]],
        "both": mesh.material.double_sided,
    });
    pack_weights(&surface, &points, rigid, store, &mut value);
    if textured {
        let texcoords: Vec<[f32; 2]> = ordered.iter().map(|v| v.texcoord.map(f32::from_bits)).collect();
        let uv = store.quantised(&texcoords);
        value["texcoords"] = json!({ "place": uv.place, "low": uv.low, "step": uv.step });
    }
    if !mesh.colors.is_empty() {
        value["colors"] = store.bytes(&ordered.iter().flat_map(|v| v.color).collect::<Vec<u8>>());
    }
    value
}

/// The joints and weights of points as differences from those of the points that they resemble.
fn pack_weights(
    surface: &PackedSurface,
    points: &[PackedPoint],
    rigid: bool,
    store: &mut Store,
    value: &mut Value,
) {
    let own = |row: usize| &points[surface.points[row].point];
    let parent = |row: usize| surface.points[row].parent.map(own);
    let joint = |row: usize, k: usize| {
        i32::from(own(row).joints[k]) - parent(row).map_or(0, |p| i32::from(p.joints[k]))
    };
    let count = surface.points.len();
    value["joints"] = store.whole(count, if rigid { 1 } else { 4 }, Prediction::Nothing, joint);
    if !rigid {
        // All but the first, which is the rest.
        let weight = |row: usize, k: usize| {
            let same = parent(row).filter(|p| p.joints == own(row).joints);
            i32::from(own(row).weights[k + 1]) - same.map_or(0, |p| i32::from(p.weights[k + 1]))
        };
        value["weights"] = store.whole(count, 3, Prediction::Nothing, weight);
    }
}

/// Joints in ascending order with their weights, those without weight last and as joint 0.
fn in_order(joints: [u16; 4], weights: [u8; 4]) -> ([u16; 4], [u8; 4]) {
    let mut order = [0, 1, 2, 3];
    order.sort_by_key(|&k| (weights[k] == 0, joints[k]));
    (order.map(|k| if weights[k] == 0 { 0 } else { joints[k] }), order.map(|k| weights[k]))
}

/// Unit normals of vertices at `places`: the mean of the triangles around each, weighted by their angles (Thurmer and
/// Wuthrich 1998). Zero where they cancel out.
fn smooth_normals(triangles: &[[usize; 3]], places: &[[i32; 3]]) -> Vec<[f64; 3]> {
    let dot = |u: [f64; 3], v: [f64; 3]| u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
    let mut sums = vec![[0.0; 3]; places.len()];
    for corners in triangles {
        for k in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|i| places[corners[(k + i) % 3]]);
            let to = |p: [i32; 3]| [0, 1, 2].map(|i| f64::from(p[i] - a[i]));
            let (u, v) = (to(b), to(c));
            // Steps are integers: triangles without area give zero exactly.
            let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
            let area = dot(cross, cross).sqrt();
            if area > 0.0 {
                let weight = libm::atan2(area, dot(u, v)) / area;
                let sum = &mut sums[corners[k]];
                *sum = [0, 1, 2].map(|i| sum[i] + weight * cross[i]);
            }
        }
    }
    let unit = |sum: [f64; 3]| {
        let length = dot(sum, sum).sqrt();
        if length > CANCELLED { sum.map(|x| x / length) } else { [0.0; 3] }
    };
    sums.into_iter().map(unit).collect()
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
