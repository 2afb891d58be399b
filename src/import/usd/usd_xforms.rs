//! Transforms of prims (`xformOpOrder`), for column vectors. Units: the file's; degrees.

use super::usda_layer::{Layer, Prim};
use crate::math::{DEGREE, Mat4, Quat, RawQuat, Transform, Vec3};

/// The transform of a prim in the one above it; without operations the identity.
fn local(prim: &Prim) -> Mat4<f64> {
    let ops = prim.words("xformOpOrder").iter();
    ops.fold(Mat4::identity(), |all, op| match op.strip_prefix("!invert!") {
        Some(op) => all * operation(prim, op).try_inverse().unwrap_or_else(Mat4::identity),
        None => all * operation(prim, op),
    })
}

/// A prim and those above it that move it: up to one that resets its transforms.
fn movers<'a>(layer: &'a Layer, prim: &'a Prim) -> impl Iterator<Item = &'a Prim> {
    let resets = |prim: &Prim| prim.words("xformOpOrder").first().is_some_and(|op| op == "!resetXformStack!");
    let mut fixed = false;
    layer.upwards(prim).take_while(move |prim| !std::mem::replace(&mut fixed, resets(prim)))
}

/// The world from a prim, whose transforms are taken without time.
pub(super) fn world(layer: &Layer, prim: &Prim) -> Mat4<f64> {
    movers(layer, prim).fold(Mat4::identity(), |below, prim| local(prim) * below)
}

/// Whether a prim or one above it moves over time.
pub(super) fn moves(layer: &Layer, prim: &Prim) -> bool {
    movers(layer, prim).any(|prim| {
        let ops = prim.properties.iter().filter(|(name, _)| name.starts_with("xformOp:"));
        ops.into_iter().any(|(_, property)| property.samples.len() > 1)
    })
}

/// The numbers of an operation by axis: all three, or that of its only axis (`translateX`) among `others`.
fn by_axis(axes: &str, numbers: &[f64], others: f64) -> Vec3 {
    match (axes, numbers) {
        ("X", [x]) => Vec3::new(*x, others, others),
        ("Y", [y]) => Vec3::new(others, *y, others),
        ("Z", [z]) => Vec3::new(others, others, *z),
        (_, [x, y, z]) => Vec3::new(*x, *y, *z),
        _ => Vec3::repeat(others),
    }
}

fn operation(prim: &Prim, name: &str) -> Mat4<f64> {
    let numbers = prim.numbers(name);
    let kind = name.split(':').nth(1).unwrap_or_default();
    let rotated = |rotation: Quat| Transform::from_rotation(rotation).to_matrix();
    if let Some(axes) = kind.strip_prefix("translate") {
        return Mat4::new_translation(&by_axis(axes, numbers, 0.0));
    }
    if let Some(axes) = kind.strip_prefix("scale") {
        return Mat4::new_nonuniform_scaling(&by_axis(axes, numbers, 1.0));
    }
    if let Some(axes) = kind.strip_prefix("rotate") {
        // The angles of `rotateZXY` are those of X, Y and Z as well; the axis that is named first is applied first.
        let angles = by_axis(axes, numbers, 0.0) * DEGREE;
        return rotated(axes.chars().fold(Quat::identity(), |all, axis| {
            let (axis, angle) = match axis {
                'X' => (Vec3::x_axis(), angles.x),
                'Y' => (Vec3::y_axis(), angles.y),
                _ => (Vec3::z_axis(), angles.z),
            };
            Quat::from_axis_angle(&axis, angle) * all
        }));
    }
    match (kind, numbers) {
        ("orient", [w, x, y, z]) => rotated(unit(*w, [*x, *y, *z])),
        ("transform", m) if m.len() == 16 => Mat4::from_column_slice(m),
        _ => Mat4::identity(),
    }
}

/// A quaternion of any length above zero, normalised.
pub(super) fn unit(w: f64, [x, y, z]: [f64; 3]) -> Quat {
    Quat::try_new(RawQuat::new(w, x, y, z), f64::MIN_POSITIVE).unwrap_or_else(Quat::identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::usd::usda_parser::parse;
    use crate::memory_budget::MemoryBudget;

    /// Points at (1, 2, 3) of a prim below one that is moved by (10, 20, 30), as `UsdGeom.XformCache` of usd-core 26.11 has them.
    #[test]
    fn points_are_where_usd_core_has_them() {
        for (ops, order, expected) in [
            (
                "float3 xformOp:rotateXYZ = (10, 40, -20)",
                "'xformOp:rotateXYZ'",
                [13.209634803, 20.373431918, 31.886476354],
            ),
            (
                "float3 xformOp:rotateZXY = (10, 40, -20)",
                "'xformOp:rotateZXY'",
                [13.314517232, 20.993064535, 31.424007847],
            ),
            (
                "float3 xformOp:rotateYXZ = (10, 40, -20)",
                "'xformOp:rotateYXZ'",
                [13.107249882, 20.659179049, 31.977493654],
            ),
            (
                "double xformOp:translateY = 7 float xformOp:rotateX = 90 double xformOp:scaleZ = 2",
                "'xformOp:translateY', 'xformOp:rotateX', 'xformOp:scaleZ'",
                [11.0, 21.0, 32.0],
            ),
            (
                "double3 xformOp:translate:pivot = (1, 0, 0) float xformOp:rotateZ = 90",
                "'xformOp:translate:pivot', 'xformOp:rotateZ', '!invert!xformOp:translate:pivot'",
                [9.0, 20.0, 33.0],
            ),
            (
                "double3 xformOp:translate = (1, 2, 3)",
                "'!resetXformStack!', 'xformOp:translate'",
                [2.0, 4.0, 6.0],
            ),
        ] {
            let text = format!(
                "def Xform 'Top' {{
                    double3 xformOp:translate = (10, 20, 30)
                    uniform token[] xformOpOrder = ['xformOp:translate']
                    def Xform 'P' {{ {ops} uniform token[] xformOpOrder = [{order}] }}
                }}"
            );
            let layer = parse(&text, &MemoryBudget::new(text.len() as u64, None)).unwrap();
            let point = world(&layer, &layer.prims[1]).transform_point(&Vec3::new(1.0, 2.0, 3.0).into());
            let off = (point.coords - Vec3::from(expected)).norm();
            assert!(off < 1e-8, "{order}: {point}, expected {expected:?}");
        }
    }
}
