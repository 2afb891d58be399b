//! Robust weighted means (geometric medians) of directions and rotations, by iterative reweighting.
//!
//! They minimise the weighted sum of distances, not of squared distances (Weiszfeld 1937, on the sphere and on the
//! rotations), and tolerate a third of outliers. Each iteration is a weighted L2 mean; for rotations that of Markley and
//! others (2007): the eigenvector of the largest eigenvalue of `sum w q q^T`.

use super::{DEGREE, Quat, RawQuat, Vec3};
use nalgebra::{Matrix4, SymmetricEigen, Vector4};

/// Iterations: each about halves the remaining error, and after 15 it is below that of measurements.
const ROUNDS: usize = 15;
/// Distance of unit vectors below which the weight no longer grows: smaller distances are noise.
const DIRECTION_FLOOR: f64 = 0.03;
/// The same for rotations, in radians (2 degrees).
const ROTATION_FLOOR: f64 = 2.0 * DEGREE;

/// The robust mean of the unit vectors `v` with the weights `w`; `None` if they cancel out.
pub fn mean_direction(v: &[Vec3], w: &[f64]) -> Option<Vec3> {
    let weighted = |near: Option<&Vec3>| {
        let mut sum = Vec3::zeros();
        for (v, w) in v.iter().zip(w) {
            sum += v * near.map_or(*w, |m| w / (v - m).norm().max(DIRECTION_FLOOR));
        }
        sum.try_normalize(1e-12)
    };
    let mut mean = weighted(None)?;
    for _ in 0..ROUNDS {
        let next = weighted(Some(&mean))?;
        let change = (next - mean).norm_squared();
        mean = next;
        if change < 1e-20 {
            break;
        }
    }
    Some(mean)
}

/// The robust mean of the rotations `q` with the weights `w`; the identity without rotations.
pub fn mean_rotation(q: &[Quat], w: &[f64]) -> Quat {
    median_rotation(q, w, plain_mean_rotation(q, w))
}

/// As [`mean_rotation`] with an initial guess: if the values form clusters, the result is in the cluster of the guess.
pub fn median_rotation(q: &[Quat], w: &[f64], start: Quat) -> Quat {
    let mut mean = start;
    let mut weights = vec![0.0; w.len()];
    for _ in 0..ROUNDS {
        for ((weight, q), w) in weights.iter_mut().zip(q).zip(w) {
            *weight = w / rotation_between(&mean, q).max(ROTATION_FLOOR);
        }
        let next = plain_mean_rotation(q, &weights);
        let change = rotation_between(&mean, &next);
        mean = next;
        if change < 1e-9 {
            break;
        }
    }
    mean
}

/// The L2 mean: least squares of the rotation matrices.
pub fn plain_mean_rotation(q: &[Quat], w: &[f64]) -> Quat {
    let mut sum = Matrix4::zeros();
    for (q, w) in q.iter().zip(w) {
        let c = &q.coords;
        sum.ger(*w, c, c, 1.0);
    }
    if sum.trace() <= 0.0 || !sum.trace().is_finite() {
        return Quat::identity();
    }
    let eigen = SymmetricEigen::new(sum);
    let axis: Vector4<f64> = eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned();
    // A definite sign, so that equal inputs give equal outputs.
    let axis = if axis.w < 0.0 { -axis } else { axis };
    Quat::new_normalize(RawQuat::from(axis))
}

/// The angle between two rotations in radians, 0 to pi.
///
/// Uses the sine for small angles, where the cosine loses precision.
pub fn rotation_between(a: &Quat, b: &Quat) -> f64 {
    let cosine = a.coords.dot(&b.coords);
    if cosine.abs() < 0.9 {
        return 2.0 * libm::acos(cosine.abs());
    }
    // The shorter chord: `b` and `-b` are the same rotation.
    let chord = if cosine > 0.0 { a.coords - b.coords } else { a.coords + b.coords };
    4.0 * libm::asin((0.5 * chord.norm()).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    #[test]
    fn a_third_of_the_values_may_be_outliers() {
        let near = Vec3::new(0.1, 1.0, 0.0).normalize();
        let v = [near, near, Vec3::x()];
        assert!((mean_direction(&v, &[1.0; 3]).unwrap() - near).norm() < 0.02);
        let q = exp(&Vec3::new(0.3, -0.2, 0.5));
        let far = exp(&Vec3::new(0.0, 2.5, 0.0));
        assert!(rotation_between(&mean_rotation(&[q, q, far], &[1.0; 3]), &q) < 0.03);
    }

    #[test]
    fn the_mean_of_one_rotation_is_that_rotation_in_either_sign() {
        let q = exp(&Vec3::new(2.0, 1.0, -1.5));
        let minus = Quat::new_unchecked(-q.into_inner());
        assert!(rotation_between(&mean_rotation(&[q, minus], &[0.3, 0.7]), &q) < 1e-12);
        assert_eq!(mean_rotation(&[], &[]), Quat::identity());
        assert!(mean_direction(&[Vec3::x(), -Vec3::x()], &[1.0, 1.0]).is_none());
    }

    #[test]
    fn angles_between_rotations_keep_their_digits() {
        for angle in [1e-9, 1e-3, 0.5, 1.0, 2.0, 3.1] {
            let found = rotation_between(&Quat::identity(), &exp(&Vec3::new(0.0, angle, 0.0)));
            assert!((found - angle).abs() < 1e-12 + 1e-9 * angle, "{angle} {found}");
        }
    }
}
