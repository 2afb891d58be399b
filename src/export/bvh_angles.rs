//! A rotation becomes three angles in degrees about the joint's axes, near those of the frame before.
//!
//! `R = A(a) B(b) C(c)` for the listed axes `i, j, k`. The first angle comes from the direction that `C` leaves
//! alone; the other two from `A(a)^-1 R = B(b) C(c)`, which holds whatever the first one is, so that a first
//! angle known badly (near gimbal lock) costs no precision of the product. Source: Shoemake (1994), "Euler
//! angle conversion", Graphics Gems IV, with the choice among his solutions made by continuity.

use crate::math::{Quat, Vec3};

/// The order in which a joint's rotation channels are listed and multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationOrder {
    /// X, then Y, then Z.
    Xyz,
    /// X, then Z, then Y.
    Xzy,
    /// Y, then X, then Z.
    Yxz,
    /// Y, then Z, then X.
    Yzx,
    /// Z, then X, then Y: what most capture software writes.
    #[default]
    Zxy,
    /// Z, then Y, then X.
    Zyx,
}

impl RotationOrder {
    /// All orders.
    pub const ALL: [Self; 6] = [Self::Xyz, Self::Xzy, Self::Yxz, Self::Yzx, Self::Zxy, Self::Zyx];

    /// The axes in order, X = 0.
    pub fn axes(self) -> [usize; 3] {
        match self {
            Self::Xyz => [0, 1, 2],
            Self::Xzy => [0, 2, 1],
            Self::Yxz => [1, 0, 2],
            Self::Yzx => [1, 2, 0],
            Self::Zxy => [2, 0, 1],
            Self::Zyx => [2, 1, 0],
        }
    }
}

/// Where the second angle is this near to a quarter turn (its cosine below this), the first and the third turn
/// about the same axis, and the noise of a unit quaternion is all that tells them apart.
const LOCK: f64 = 1e-8;

/// The angles of `q` in degrees, in the order listed, nearest to `before`.
pub(super) fn angles(q: &Quat, order: RotationOrder, before: Option<&[f64; 3]>) -> [f64; 3] {
    let [i, j, k] = order.axes();
    let sign = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
    // Column k of R, and the columns that B(b) C(c) is read from.
    let axis = |n: usize| {
        let mut axis = Vec3::zeros();
        axis[n] = 1.0;
        q * axis
    };
    let (column_j, column_k) = (axis(j), axis(k));
    let a = if column_k[j] * column_k[j] + column_k[k] * column_k[k] < LOCK * LOCK {
        before.map_or(0.0, |b| b[0].to_radians())
    } else {
        (-sign * column_k[j]).atan2(column_k[k])
    };
    let (sin, cos) = a.sin_cos();
    // Row k of A^-1 R at column k; row i is that of R.
    let b = (sign * column_k[i]).atan2(cos * column_k[k] - sign * sin * column_k[j]);
    // Row j of A^-1 R is (0, cos c, sin c) at (k, j, i).
    let column_i = axis(i);
    let row_j = |column: &Vec3| cos * column[j] + sign * sin * column[k];
    let c = (sign * row_j(&column_i)).atan2(row_j(&column_j));
    let found = [a, b, c].map(f64::to_degrees);
    let Some(before) = before else { return found };
    let other = [found[0] + 180.0, 180.0 - found[1], found[2] + 180.0];
    let unrolled = |angles: [f64; 3]| {
        let mut near = angles;
        for (angle, before) in near.iter_mut().zip(before) {
            *angle += 360.0 * ((before - *angle) / 360.0).round();
        }
        let distance: f64 = near.iter().zip(before).map(|(a, b)| (a - b).abs()).sum();
        (near, distance)
    };
    let (found, near) = unrolled(found);
    let (other, far) = unrolled(other);
    // A margin: two solutions equally near must not be chosen between by rounding.
    if far < near - 1e-3 { other } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    fn product(angles: [f64; 3], order: RotationOrder) -> Quat {
        let mut q = Quat::identity();
        for (angle, axis) in angles.into_iter().zip(order.axes()) {
            let mut v = Vec3::zeros();
            v[axis] = angle.to_radians();
            q *= exp(&v);
        }
        q
    }

    proptest! {
        #[test]
        fn the_product_of_the_angles_is_the_rotation(v in prop::array::uniform3(-3.0..3.0f64), order in 0usize..6) {
            let (q, order) = (exp(&Vec3::from(v)), RotationOrder::ALL[order]);
            prop_assert!(product(angles(&q, order, None), order).angle_to(&q) < 1e-12);
        }

        #[test]
        fn at_gimbal_lock_the_product_holds_and_the_first_angle_stays(
            a in -170.0..170.0f64, c in -170.0..170.0f64, up in any::<bool>(), order in 0usize..6
        ) {
            let order = RotationOrder::ALL[order];
            let q = product([a, if up { 90.0 } else { -90.0 }, c], order);
            let before = [a + 1.0, 80.0, c];
            let found = angles(&q, order, Some(&before));
            prop_assert!(product(found, order).angle_to(&q) < 3e-8);
            prop_assert!((found[0] - before[0]).abs() < 1e-9);
        }

        #[test]
        fn small_steps_give_small_steps_over_many_turns(
            start in prop::array::uniform3(-60.0..60.0f64), step in prop::array::uniform3(-4.0..4.0f64), order in 0usize..6
        ) {
            let order = RotationOrder::ALL[order];
            // The second angle swings, clear of the lock; the others may wind up without bound.
            let at = |n: f64| [start[0] + n * step[0], start[1] * (n * 0.1).cos(), start[2] + n * step[2]];
            let mut before = at(0.0);
            for n in 1..200 {
                let exact = at(f64::from(n));
                before = angles(&product(exact, order), order, Some(&before));
                for (found, exact) in before.iter().zip(exact) {
                    prop_assert!((found - exact).abs() < 1e-9, "frame {}: {:?} for {:?}", n, before, exact);
                }
            }
        }
    }
}
