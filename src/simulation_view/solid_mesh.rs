//! Triangle meshes of shapes: surfaces of revolution about z, and boxes.
//!
//! Space: the shape's own axes. Units: metres. Triangles are counter-clockwise seen from outside.

use crate::dynamics::Shape;
use crate::math::Vec3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Segments around the axis of a round shape: looks round at the size of a limb.
const AROUND: usize = 24;
/// Segments from pole to equator: the same angle per segment as around the axis.
const TO_EQUATOR: usize = 6;

/// A closed surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Solid {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// A point of the profile of a surface of revolution about z: radius, height, and the normal in the same two directions.
type Profile = (f64, f64, f64, f64);

impl Solid {
    /// The surface of a shape; empty for a plane, which is infinite.
    pub(super) fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Plane => Self::default(),
            Shape::Sphere { radius } => Self::capsule(*radius, 0.0),
            Shape::Capsule { radius, length } => Self::capsule(*radius, *length),
            Shape::Cuboid { half } => Self::cuboid(half),
            Shape::Ellipsoid { semi_axes } => {
                let mut solid = Self::capsule(1.0, 0.0);
                for (p, n) in solid.positions.iter_mut().zip(&mut solid.normals) {
                    *p = p.component_mul(semi_axes);
                    *n = n.component_div(semi_axes).normalize();
                }
                solid
            }
        }
    }

    fn capsule(radius: f64, length: f64) -> Self {
        let arc = |k: usize, shift: f64| {
            let (sine, cosine) = libm::sincos(k as f64 / TO_EQUATOR as f64 * FRAC_PI_2);
            // A pole is exactly on the axis; the cosine of a rounded right angle is not exactly zero.
            let cosine = if k == TO_EQUATOR { 0.0 } else { cosine };
            let s = shift.signum();
            (radius * cosine, shift + s * radius * sine, cosine, s * sine)
        };
        let below = (0..=TO_EQUATOR).rev().map(|k| arc(k, -length / 2.0));
        let above = (usize::from(length == 0.0)..=TO_EQUATOR).map(|k| arc(k, length / 2.0));
        Self::revolved(&below.chain(above).collect::<Vec<_>>())
    }

    /// A cylinder along z.
    pub(super) fn cylinder(radius: f64, length: f64) -> Self {
        let (r, h) = (radius, length / 2.0);
        Self::revolved(&[
            (0.0, -h, 0.0, -1.0),
            (r, -h, 0.0, -1.0),
            (r, -h, 1.0, 0.0),
            (r, h, 1.0, 0.0),
            (r, h, 0.0, 1.0),
            (0.0, h, 0.0, 1.0),
        ])
    }

    /// The surface of revolution of a profile from bottom to top.
    fn revolved(profile: &[Profile]) -> Self {
        let mut solid = Self::default();
        for &(r, z, nr, nz) in profile {
            for j in 0..AROUND {
                let (sine, cosine) = libm::sincos(j as f64 / AROUND as f64 * TAU);
                solid.positions.push(Vec3::new(r * cosine, r * sine, z));
                solid.normals.push(Vec3::new(nr * cosine, nr * sine, nz));
            }
        }
        for (i, pair) in profile.windows(2).enumerate() {
            // Two points at the same position with different normals are a sharp edge, not a band.
            if pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1 {
                continue;
            }
            for j in 0..AROUND {
                let [low, high] = [i, i + 1].map(|ring| (ring * AROUND) as u32);
                let [here, next] = [j, (j + 1) % AROUND].map(|k| k as u32);
                if pair[0].0 > 0.0 {
                    solid.triangles.push([low + here, low + next, high + next]);
                }
                if pair[1].0 > 0.0 {
                    solid.triangles.push([low + here, high + next, high + here]);
                }
            }
        }
        solid
    }

    /// A box about the origin.
    pub(super) fn cuboid(half: &Vec3) -> Self {
        let mut solid = Self::default();
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let unit = |k: usize| Vec3::from_fn(|i, _| if i == k { half[k] } else { 0.0 });
                let (out, u) = (unit(axis) * side, unit((axis + 1) % 3));
                let v = unit((axis + 2) % 3) * side;
                let first = solid.positions.len() as u32;
                solid.positions.extend([out - u - v, out + u - v, out + u + v, out - u + v]);
                solid.normals.extend([out.normalize(); 4]);
                solid.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
            }
        }
        solid
    }

    /// A square of the plane z = 0, seen from above.
    pub(super) fn square(half: f64) -> Self {
        let corner = |x: f64, y: f64| Vec3::new(x * half, y * half, 0.0);
        Self {
            positions: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
            normals: vec![Vec3::z(); 4],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// The volume inside, by the divergence theorem: negative where triangles face inwards.
    fn volume(s: &Solid) -> f64 {
        let corner = |i: u32| s.positions[i as usize];
        s.triangles.iter().map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))) / 6.0).sum()
    }

    #[test]
    fn solids_hold_the_volume_of_their_shape_and_face_outwards() {
        let axes = Vec3::new(0.3, 0.2, 0.5);
        let ball = 4.0 / 3.0 * PI;
        let cases = [
            (Solid::of(&Shape::Sphere { radius: 0.4 }), ball * 0.064),
            (Solid::of(&Shape::Capsule { radius: 0.1, length: 0.5 }), ball * 0.001 + PI * 0.005),
            (Solid::of(&Shape::Ellipsoid { semi_axes: axes }), ball * 0.03),
            (Solid::of(&Shape::Cuboid { half: axes }), 8.0 * 0.03),
            (Solid::cylinder(0.2, 0.3), PI * 0.012),
        ];
        for (solid, expected) in cases {
            assert!((volume(&solid) / expected - 1.0).abs() < 0.03, "{} {expected}", volume(&solid));
            for (p, n) in solid.positions.iter().zip(&solid.normals) {
                assert!((n.norm() - 1.0).abs() < 1e-12 && n.dot(p) > 0.0);
            }
            for t in &solid.triangles {
                let [a, b, c] = t.map(|i| solid.positions[i as usize]);
                assert!((b - a).cross(&(c - a)).norm() > 1e-6, "no triangle without a face");
            }
        }
    }
}
