//! Units and axes of MikuMikuDance.
//!
//! The files are left-handed with Y up, and a model faces -Z with its left at +X. The mirror image in the plane z = 0 is
//! right-handed, faces +Z and keeps left at +X. A rotation `(x, y, z, w)` becomes `(-x, -y, z, w)`. The program states no unit:
//! 8 cm, the usual scale of importers (Blender's MMD Tools, option "Scale", default 0.08), makes models of 20 units 1.6 m tall.

use crate::math::{Quat, RawQuat, Vec3};

/// Metres per unit of the files, see above.
pub const METRES_PER_UNIT: f64 = 0.08;
/// Frames per second of every motion, hertz: frame numbers are counted at this rate.
pub const FRAME_RATE: f64 = 30.0;

/// A position or displacement in metres.
pub fn point_from_mmd([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3::new(f64::from(x), f64::from(y), -f64::from(z)) * METRES_PER_UNIT
}

/// A position or displacement in the units of the files.
pub fn point_to_mmd(p: &Vec3) -> [f32; 3] {
    // A zero without a sign.
    [p.x, p.y, -p.z].map(|x| (x / METRES_PER_UNIT + 0.0) as f32)
}

/// A rotation; the identity for a quaternion of length zero.
pub fn rotation_from_mmd([x, y, z, w]: [f32; 4]) -> Quat {
    let raw = RawQuat::new(f64::from(w), -f64::from(x), -f64::from(y), f64::from(z));
    Quat::try_new(raw, f64::MIN_POSITIVE).unwrap_or_else(Quat::identity)
}

/// A rotation as the quaternion of a file: x, y, z, w.
pub fn rotation_to_mmd(q: &Quat) -> [f32; 4] {
    [-q.i, -q.j, q.k, q.w].map(|x| (x + 0.0) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotating_and_mirroring_is_mirroring_and_rotating() {
        let (p, q) = ([1.0, 2.0, 3.0], [0.1f32, 0.2, 0.3, 0.9]);
        // The product in left-handed space has the same formula: v + 2 u x (u x v + w v).
        let norm = q.iter().map(|x| x * x).sum::<f32>().sqrt();
        let [x, y, z, w] = q.map(|x| f64::from(x / norm));
        let (u, v) = (Vec3::new(x, y, z), Vec3::new(1.0, 2.0, 3.0));
        let turned = v + u.cross(&(u.cross(&v) + v * w)) * 2.0;
        let expected = Vec3::new(turned.x, turned.y, -turned.z) * METRES_PER_UNIT;
        assert!((rotation_from_mmd(q) * point_from_mmd(p) - expected).norm() < 1e-7);
        assert_eq!(point_to_mmd(&point_from_mmd(p)), p);
        assert_eq!(rotation_from_mmd([0.0; 4]), Quat::identity());
        let back = rotation_to_mmd(&rotation_from_mmd(q));
        assert!(back.iter().zip(q).all(|(a, b)| (a - b / norm).abs() < 1e-6));
    }
}
