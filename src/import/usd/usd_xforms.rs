//! Transforms of prims (`xformOpOrder`), for column vectors. Units: the file's; degrees.

use super::usda_layer::{Layer, Prim};
use crate::math::{Mat4, Quat, RawQuat, Transform, Vec3};
use std::f64::consts::PI;

/// The transform of a prim in the one above it; without operations the identity.
fn local(prim: &Prim) -> Mat4<f64> {
    let ops = prim.words("xformOpOrder").iter();
    ops.fold(Mat4::identity(), |all, op| match op.strip_prefix("!invert!") {
        Some(op) => all * operation(prim, op).try_inverse().unwrap_or_else(Mat4::identity),
        None => all * operation(prim, op),
    })
}

/// The world from a prim, whose transforms are taken without time.
pub(super) fn world(layer: &Layer, prim: &Prim) -> Mat4<f64> {
    layer.upwards(prim).fold(Mat4::identity(), |below, prim| local(prim) * below)
}

/// Whether a prim or one above it moves over time.
pub(super) fn moves(layer: &Layer, prim: &Prim) -> bool {
    layer.upwards(prim).any(|prim| {
        let ops = prim.properties.iter().filter(|(name, _)| name.starts_with("xformOp:"));
        ops.into_iter().any(|(_, property)| property.samples.len() > 1)
    })
}

fn operation(prim: &Prim, name: &str) -> Mat4<f64> {
    let numbers = prim.numbers(name);
    let kind = name.split(':').nth(1).unwrap_or_default();
    let about = |axis: char, degrees: f64| {
        let axis = match axis {
            'X' => Vec3::x_axis(),
            'Y' => Vec3::y_axis(),
            _ => Vec3::z_axis(),
        };
        Quat::from_axis_angle(&axis, degrees * PI / 180.0)
    };
    let rotated = |rotation: Quat| Transform::from_rotation(rotation).to_matrix();
    match (kind, numbers) {
        ("translate", [x, y, z]) => Mat4::new_translation(&Vec3::new(*x, *y, *z)),
        ("scale", [x, y, z]) => Mat4::new_nonuniform_scaling(&Vec3::new(*x, *y, *z)),
        ("orient", [w, x, y, z]) => rotated(unit(*w, [*x, *y, *z])),
        ("transform", m) if m.len() == 16 => Mat4::from_column_slice(m),
        (kind, numbers) => {
            // The first axis of `rotateXYZ` is applied first.
            let axes = kind.strip_prefix("rotate").unwrap_or_default().chars();
            let turns = axes.zip(numbers).map(|(axis, degrees)| about(axis, *degrees));
            rotated(turns.fold(Quat::identity(), |all, turn| turn * all))
        }
    }
}

/// A quaternion of any length above zero, normalised.
pub(super) fn unit(w: f64, [x, y, z]: [f64; 3]) -> Quat {
    Quat::try_new(RawQuat::new(w, x, y, z), f64::MIN_POSITIVE).unwrap_or_else(Quat::identity)
}
