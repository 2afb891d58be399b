//! Directions and lengths of bones, and rotations that follow from them. Space and units: those of the points.

use crate::math::{Quat, UnitVec3, Vec3, arc, from_columns, slerp};

/// The direction of a vector; zero for the zero vector.
pub(super) fn unit(v: Vec3) -> Vec3 {
    v.try_normalize(1e-12).unwrap_or_else(Vec3::zeros)
}

/// The rotation whose x axis is `x` and whose y axis is nearest to `y`.
pub(super) fn axes(x: Vec3, y: Vec3) -> Quat {
    let Some(x) = x.try_normalize(1e-12) else { return Quat::identity() };
    let y = (y - x * x.dot(&y)).try_normalize(1e-12).unwrap_or_else(|| crate::math::any_perpendicular(&x));
    from_columns(&x, &y, &x.cross(&y))
}

/// `rotation` with the least further rotation that brings the bone `rest` to `direction`.
pub(super) fn swung(rotation: &Quat, rest: &Vec3, direction: &Vec3) -> Quat {
    let bone = rotation * rest;
    arc(&bone, direction, &(rotation * Vec3::z())) * rotation
}

/// Length below which a bone has no direction, metres: in some skeletons joints of the trunk coincide, and 5 mm of noise on 20 mm are 14
/// degrees.
const NO_BONE: f64 = 0.02;

/// Each frame's rotation swung from the bone `rest` to the direction of `bones`; all unchanged if the bone's median length is below [`NO_BONE`].
pub(super) fn swung_along(rotations: &[Quat], rest: &Vec3, bones: &[Vec3]) -> Vec<Quat> {
    if median_length(bones.iter().copied()) < NO_BONE {
        return rotations.to_vec();
    }
    rotations.iter().zip(bones).map(|(q, bone)| swung(q, rest, &unit(*bone))).collect()
}

/// The rotation by `angle` radians about a unit vector.
pub(super) fn about(axis: &Vec3, angle: f64) -> Quat {
    Quat::from_axis_angle(&UnitVec3::new_unchecked(*axis), angle)
}

/// The rotations at the share `t` from `a` to `b`.
pub(super) fn interpolated(a: &[Quat], b: &[Quat], t: f64) -> Vec<Quat> {
    a.iter().zip(b).map(|(a, b)| slerp(a, b, t)).collect()
}

/// The median length.
pub(super) fn median_length(vectors: impl Iterator<Item = Vec3>) -> f64 {
    crate::math::median(vectors.map(|v| v.norm()).collect())
}

/// The differences of two tracks.
pub(super) fn differences<'a>(a: &'a [Vec3], b: &'a [Vec3]) -> impl Iterator<Item = Vec3> + 'a {
    a.iter().zip(b).map(|(a, b)| a - b)
}
