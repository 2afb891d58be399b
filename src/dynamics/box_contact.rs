//! Contact points of two boxes: clipped faces, or the closest points of two edges.
//!
//! Sources: separating axes (Gottschalk 1996), face clipping (Sutherland, Hodgman 1974). Space: world. Units: metres.

use super::contact_point::Touch;
use crate::math::{Transform, Vec3};

/// The overlap along an edge direction must be smaller than along the best face by this much, metres: faces give more
/// stable contacts.
const FACE_PREFERENCE: f64 = 1e-4;

type PlacedBox<'a> = (&'a Transform, &'a Vec3);

fn axes(t: &Transform) -> [Vec3; 3] {
    [t.rotation * Vec3::x(), t.rotation * Vec3::y(), t.rotation * Vec3::z()]
}

/// Half the extent of a box along a direction.
fn extent(axes: &[Vec3; 3], half: &Vec3, along: &Vec3) -> f64 {
    (0..3).map(|i| (axes[i].dot(along) * half[i]).abs()).sum()
}

/// Contacts of box `a` on box `b`, normals from `b` to `a`.
pub(super) fn cuboid_cuboid(a: PlacedBox, b: PlacedBox, margin: f64, out: &mut Vec<Touch>) {
    let (axes_a, axes_b) = (axes(a.0), axes(b.0));
    let apart = a.0.translation - b.0.translation;
    let depth = |n: &Vec3| extent(&axes_a, a.1, n) + extent(&axes_b, b.1, n) - apart.dot(n).abs();
    let mut best: Option<(f64, usize, Vec3)> = None;
    let mut consider = |code: usize, n: &Vec3, handicap: f64| -> bool {
        let d = depth(n);
        if d <= -margin {
            return false;
        }
        if best.is_none_or(|(least, _, _)| d + handicap < least) {
            let towards_a = if apart.dot(n) < 0.0 { -n } else { *n };
            best = Some((d, code, towards_a));
        }
        true
    };
    for (i, axis) in axes_a.iter().enumerate() {
        if !consider(i, axis, 0.0) {
            return;
        }
    }
    for (i, axis) in axes_b.iter().enumerate() {
        // Of equal overlaps the face of `a` is chosen, whatever the rounding.
        if !consider(3 + i, axis, 1e-9) {
            return;
        }
    }
    for (i, edge_a) in axes_a.iter().enumerate() {
        for (j, edge_b) in axes_b.iter().enumerate() {
            let Some(n) = edge_a.cross(edge_b).try_normalize(1e-6) else { continue };
            if !consider(6 + 3 * i + j, &n, FACE_PREFERENCE) {
                return;
            }
        }
    }
    let Some((depth, code, normal)) = best else { return };
    match code {
        0..=2 => faces((a, &axes_a), (b, &axes_b), code, &-normal, 0, margin, &normal, out),
        3..=5 => faces((b, &axes_b), (a, &axes_a), code - 3, &normal, 64, margin, &normal, out),
        _ => edges((a, &axes_a), (b, &axes_b), code - 6, &normal, depth, out),
    }
}

/// The face of the incident box that is most opposed to the reference face, clipped to the sides of the reference face.
///
/// `outward` is the outward direction of the reference face, `normal` the contact normal from b to a.
#[allow(clippy::too_many_arguments)]
fn faces(
    (reference, ref_axes): (PlacedBox, &[Vec3; 3]),
    (incident, inc_axes): (PlacedBox, &[Vec3; 3]),
    axis: usize,
    outward: &Vec3,
    base: u32,
    margin: f64,
    normal: &Vec3,
    out: &mut Vec<Touch>,
) {
    let facing = |i: usize| inc_axes[i].dot(outward);
    let k = (0..3).max_by(|&i, &j| facing(i).abs().total_cmp(&facing(j).abs())).unwrap_or(0);
    let inward = if facing(k) > 0.0 { -1.0 } else { 1.0 };
    let (u, v) = ((k + 1) % 3, (k + 2) % 3);
    let centre = incident.0.translation + inc_axes[k] * (inward * incident.1[k]);
    let (eu, ev) = (inc_axes[u] * incident.1[u], inc_axes[v] * incident.1[v]);
    // Every vertex has the id of the feature it came from, which identifies it in the next step.
    let mut polygon: Vec<(Vec3, u32)> =
        vec![(centre - eu - ev, 0), (centre + eu - ev, 1), (centre + eu + ev, 2), (centre - eu + ev, 3)];
    for (side, i) in [(axis + 1) % 3, (axis + 2) % 3].into_iter().enumerate() {
        for (half_side, sign) in [1.0, -1.0].into_iter().enumerate() {
            let plane = ref_axes[i] * sign;
            let limit = plane.dot(&reference.0.translation) + reference.1[i];
            let id = 4 + 2 * side as u32 + half_side as u32;
            polygon = clip(&polygon, &plane, limit, id);
        }
    }
    let level = outward.dot(&reference.0.translation) + reference.1[axis];
    for (p, id) in polygon {
        let depth = level - outward.dot(&p);
        if depth > -margin {
            let point = p + outward * (depth / 2.0);
            out.push(Touch { feature: base + id, point, normal: *normal, depth });
        }
    }
}

/// The part of a polygon with `plane . p <= limit`; the ids of new vertices derive from the edge they cut.
fn clip(polygon: &[(Vec3, u32)], plane: &Vec3, limit: f64, id: u32) -> Vec<(Vec3, u32)> {
    let mut kept = Vec::with_capacity(polygon.len() + 2);
    for (i, (p, tag)) in polygon.iter().enumerate() {
        let (q, _) = &polygon[(i + 1) % polygon.len()];
        let (dp, dq) = (plane.dot(p) - limit, plane.dot(q) - limit);
        if dp <= 0.0 {
            kept.push((*p, *tag));
        }
        if (dp < 0.0 && dq > 0.0) || (dp > 0.0 && dq < 0.0) {
            kept.push((p + (q - p) * (dp / (dp - dq)), id * 16 + tag % 16 * 128));
        }
    }
    kept
}

/// The closest points of the two crossing edges.
fn edges(
    (a, axes_a): (PlacedBox, &[Vec3; 3]),
    (b, axes_b): (PlacedBox, &[Vec3; 3]),
    code: usize,
    normal: &Vec3,
    depth: f64,
    out: &mut Vec<Touch>,
) {
    let (i, j) = (code / 3, code % 3);
    // Midpoint of the edge of each box that is nearest to the other box.
    let middle = |placed_box: &PlacedBox, axes: &[Vec3; 3], skip: usize, towards: &Vec3| {
        let side = |k: usize| {
            let sign = if axes[k].dot(towards) > 0.0 { 1.0 } else { -1.0 };
            axes[k] * (placed_box.1[k] * sign)
        };
        placed_box.0.translation + (0..3).filter(|&k| k != skip).map(side).sum::<Vec3>()
    };
    let (p, q) = (middle(&a, axes_a, i, &-normal), middle(&b, axes_b, j, normal));
    let (d, e, r) = (axes_a[i], axes_b[j], p - q);
    let de = d.dot(&e);
    let denominator = 1.0 - de * de;
    let s = (de * e.dot(&r) - d.dot(&r)) / denominator;
    let t = (e.dot(&r) - de * d.dot(&r)) / denominator;
    let point = (p + d * s + q + e * t) * 0.5;
    out.push(Touch { feature: 100_000 + code as u32, point, normal: *normal, depth });
}
