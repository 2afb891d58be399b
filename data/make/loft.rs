//! Closed solids swept along a path, and the skin weights that let them bend.
//!
//! A loft is a stack of superelliptic sections closed by round caps. Space: the character's model space,
//! metres. Faces are turned outward by the sign of the solid's volume (divergence theorem), so a path may run
//! in any direction.

use posemill::math::Vec3;
use std::collections::BTreeMap;

/// A section of a loft before interpolation: where it is, and its two radii.
#[derive(Clone, Copy)]
pub struct Key {
    centre: Vec3,
    lateral: f64,
    other: f64,
}

/// A section at `centre`, `lateral` wide along the loft's lateral direction and `other` across it.
pub fn key(centre: [f64; 3], lateral: f64, other: f64) -> Key {
    Key { centre: Vec3::from(centre), lateral, other }
}

/// A plane where the influence passes from the joints before it to `joint`, over twice `half_width`.
#[derive(Clone, Copy)]
pub struct Border {
    /// The joint that holds what lies beyond.
    pub joint: usize,
    /// A point of the plane.
    pub at: Vec3,
    /// The unit direction towards `joint`.
    pub towards: Vec3,
    /// Half of the blended length, in metres.
    pub half_width: f64,
}

/// What a surface is held by: the joint of its beginning and the borders along it.
#[derive(Clone)]
pub struct Chain {
    /// The joint before the first border.
    pub first: usize,
    /// The borders in order.
    pub borders: Vec<Border>,
}

impl Chain {
    /// Everything held by one joint.
    pub fn rigid(joint: usize) -> Self {
        Self { first: joint, borders: Vec::new() }
    }

    /// The joints and weights of a point: the four largest, in steps of 1/1024 that sum to 1 exactly.
    pub fn weigh(&self, p: &Vec3) -> ([usize; 4], [f64; 4]) {
        let mut by_joint: BTreeMap<usize, f64> = BTreeMap::new();
        let mut left = 1.0;
        for border in self.borders.iter().rev() {
            let d = (p - border.at).dot(&border.towards) / border.half_width;
            let t = ((d + 1.0) / 2.0).clamp(0.0, 1.0);
            let t = t * t * (3.0 - 2.0 * t);
            *by_joint.entry(border.joint).or_default() += left * t;
            left *= 1.0 - t;
        }
        *by_joint.entry(self.first).or_default() += left;
        let mut sorted: Vec<(usize, i64)> =
            by_joint.into_iter().map(|(j, w)| (j, (w * 1024.0).round() as i64)).collect();
        sorted.sort_by_key(|&(j, w)| (-w, j));
        sorted.truncate(4);
        // An influence below 1 % would vanish when weights are stored as bytes.
        sorted.retain(|&(_, w)| w >= 10);
        let rest: i64 = sorted.iter().skip(1).map(|s| s.1).sum();
        sorted[0].1 = 1024 - rest;
        let mut found = ([0; 4], [0.0; 4]);
        for (k, (joint, weight)) in sorted.into_iter().enumerate() {
            found.0[k] = joint;
            found.1[k] = weight as f64 / 1024.0;
        }
        found
    }
}

/// How a loft is swept.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The direction of the first radius, made perpendicular to the path.
    pub lateral: Vec3,
    /// Vertices around.
    pub sides: usize,
    /// Sections between two keys.
    pub steps: usize,
    /// The exponent of the superellipse: 2 is an ellipse, larger is boxier.
    pub exponent: f64,
    /// How far the caps bulge, as a share of the smaller radius.
    pub bulge: f64,
    /// The texture rectangle `[u0, v0, u1, v1]` that is wrapped around, or none.
    pub texture: Option<[f64; 4]>,
}

/// Triangles of one material.
#[derive(Default)]
pub struct Surface {
    /// Model space, metres.
    pub positions: Vec<Vec3>,
    /// Unit length, outward.
    pub normals: Vec<Vec3>,
    /// Empty for a surface without texture.
    pub texcoords: Vec<[f64; 2]>,
    /// Joint indices of each vertex.
    pub joints: Vec<[usize; 4]>,
    /// Weights of each vertex, summing to 1.
    pub weights: Vec<[f64; 4]>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

impl Surface {
    /// Sweeps `keys` with `shape` and skins the result to `chain`.
    pub fn loft(&mut self, keys: &[Key], shape: Shape, chain: &Chain) {
        let sections = capped(&interpolated(keys, shape.steps), shape.bulge);
        let (first, last) = (sections[0], sections[sections.len() - 1]);
        let columns = shape.sides + usize::from(shape.texture.is_some());
        let uv =
            |a: f64, b: f64| shape.texture.map(|[u0, v0, u1, v1]| [u0 + (u1 - u0) * a, v0 + (v1 - v0) * b]);
        let start = self.positions.len();
        let mut texcoords = Vec::new();
        let length = (last.centre - first.centre).norm();
        let inner = &sections[1..sections.len() - 1];
        self.positions.push(first.centre);
        texcoords.extend(uv(0.5, 0.0));
        for (i, section) in inner.iter().enumerate() {
            let along = sections[i + 2].centre - sections[i].centre;
            let u = (shape.lateral - along * (shape.lateral.dot(&along) / along.norm_squared())).normalize();
            let v = along.normalize().cross(&u);
            for c in 0..columns {
                let a = std::f64::consts::TAU * (c % shape.sides) as f64 / shape.sides as f64;
                let bent = |x: f64| x.signum() * x.abs().powf(2.0 / shape.exponent);
                let (x, y) = (bent(a.cos()) * section.lateral, bent(a.sin()) * section.other);
                self.positions.push(section.centre + u * x + v * y);
                let b = (section.centre - first.centre).norm() / length;
                texcoords.extend(uv(c as f64 / shape.sides as f64, b));
            }
        }
        self.positions.push(last.centre);
        texcoords.extend(uv(0.5, 1.0));
        self.texcoords.extend(texcoords);

        let at = |row: usize, c: usize| start + 1 + row * columns + c % columns;
        let pole = self.positions.len() - 1;
        let mut triangles = Vec::new();
        for c in 0..shape.sides {
            triangles.push([start, at(0, c + 1), at(0, c)]);
            for row in 1..inner.len() {
                triangles.push([at(row - 1, c), at(row - 1, c + 1), at(row, c)]);
                triangles.push([at(row - 1, c + 1), at(row, c + 1), at(row, c)]);
            }
            let row = inner.len() - 1;
            triangles.push([at(row, c), at(row, c + 1), pole]);
        }
        let corner = |t: &[usize; 3], k: usize| self.positions[t[k]];
        let volume: f64 =
            triangles.iter().map(|t| corner(t, 0).dot(&corner(t, 1).cross(&corner(t, 2)))).sum();
        if volume < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        self.shade(start, &triangles);
        self.triangles.extend(triangles);
        for p in &self.positions[start..] {
            let (joints, weights) = chain.weigh(p);
            self.joints.push(joints);
            self.weights.push(weights);
        }
    }

    /// An ellipsoid about `centre` with the given radii along the axes.
    pub fn ellipsoid(&mut self, centre: [f64; 3], radii: [f64; 3], shape: Shape, chain: &Chain) {
        let c = Vec3::from(centre);
        let keys: Vec<Key> = [-0.75, -0.4, 0.0, 0.4, 0.75]
            .iter()
            .map(|&t: &f64| {
                let r = (1.0 - t * t).sqrt();
                Key { centre: c + Vec3::y() * (t * radii[1]), lateral: radii[0] * r, other: radii[2] * r }
            })
            .collect();
        // The caps of a loft bulge by a share of the smaller radius; here they have to end at the pole.
        let cap = 0.25 * radii[1] / keys[0].lateral.min(keys[0].other);
        self.loft(&keys, Shape { lateral: Vec3::x(), steps: 1, bulge: cap, ..shape }, chain);
    }

    /// Area-weighted normals of the vertices from `start`; vertices that share a position share the normal.
    fn shade(&mut self, start: usize, triangles: &[[usize; 3]]) {
        let cell = |p: &Vec3| {
            let q = p * 1e7;
            [q.x.round() as i64, q.y.round() as i64, q.z.round() as i64]
        };
        let mut sums: BTreeMap<[i64; 3], Vec3> = BTreeMap::new();
        for t in triangles {
            let [a, b, c] = t.map(|i| self.positions[i]);
            let area = (b - a).cross(&(c - a));
            for p in [a, b, c] {
                *sums.entry(cell(&p)).or_insert_with(Vec3::zeros) += area;
            }
        }
        let normals: Vec<Vec3> = self.positions[start..].iter().map(|p| sums[&cell(p)].normalize()).collect();
        self.normals.extend(normals);
    }
}

/// Catmull-Rom through the keys, `steps` sections per span.
fn interpolated(keys: &[Key], steps: usize) -> Vec<Key> {
    let last = keys.len() - 1;
    let mut sections = Vec::new();
    for i in 0..last {
        let [a, b, c, d] = [keys[i.saturating_sub(1)], keys[i], keys[i + 1], keys[(i + 2).min(last)]];
        for step in 0..steps {
            let t = step as f64 / steps as f64;
            let (t2, t3) = (t * t, t * t * t);
            let w = [
                (-t3 + 2.0 * t2 - t) / 2.0,
                (3.0 * t3 - 5.0 * t2 + 2.0) / 2.0,
                (-3.0 * t3 + 4.0 * t2 + t) / 2.0,
                (t3 - t2) / 2.0,
            ];
            let mix = |f: &dyn Fn(&Key) -> f64| w[0] * f(&a) + w[1] * f(&b) + w[2] * f(&c) + w[3] * f(&d);
            sections.push(Key {
                centre: a.centre * w[0] + b.centre * w[1] + c.centre * w[2] + d.centre * w[3],
                lateral: mix(&|k| k.lateral),
                other: mix(&|k| k.other),
            });
        }
    }
    sections.push(keys[last]);
    sections
}

/// The sections between two round caps; the first and the last are the poles.
fn capped(sections: &[Key], bulge: f64) -> Vec<Key> {
    const RINGS: usize = 3;
    let n = sections.len();
    let cap = |end: Key, next: Key| -> Vec<Key> {
        let out = (end.centre - next.centre).normalize() * end.lateral.min(end.other) * bulge;
        let ring = |i: usize| {
            let angle = std::f64::consts::FRAC_PI_2 * i as f64 / RINGS as f64;
            let r = angle.cos();
            Key { centre: end.centre + out * angle.sin(), lateral: end.lateral * r, other: end.other * r }
        };
        (1..=RINGS).map(ring).collect()
    };
    let mut all: Vec<Key> = cap(sections[0], sections[1]).into_iter().rev().collect();
    all.extend_from_slice(sections);
    all.extend(cap(sections[n - 1], sections[n - 2]));
    all
}
