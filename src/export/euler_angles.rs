//! Converts rotations to Euler angles in degrees that are continuous from frame to frame.
//!
//! `R = A(a) B(b) C(c)` for the listed axes `i, j, k`. The first angle is computed from the axis of `C`, which `C` leaves
//! unchanged; the other two from `A(a)^-1 R = B(b) C(c)`. That holds for any first angle, so that an inaccurate first angle (near
//! gimbal lock) does not reduce the precision of the product. Source: Shoemake (1994), "Euler angle conversion", Graphics Gems
//! IV; the choice among his solutions is made by continuity.
//!
//! The angles of many frames are computed in parallel vector lanes, by plain arithmetic without branches or calls; only the
//! choice is sequential, and for small steps there is none. The arc tangent is that of FreeBSD's `s_atan.c` (Sun 1993): the same
//! on every machine.

use crate::math::{Quat, in_wide_registers, quat_product};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The order in which the rotation channels of a joint are listed and multiplied.
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
    /// Z, then X, then Y: the order that most capture software writes.
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

/// Gimbal lock: if the cosine of the second angle is below this, the first and the third angle have the same axis, and only
/// the rounding noise of the quaternion distinguishes them.
const LOCK: f64 = 1e-8;

/// Rotations that are converted together.
pub(super) const BLOCK: usize = 256;

/// The angles of `q` in degrees, in the listed order, nearest to `before`.
#[cfg(any(test, feature = "formats"))]
pub(super) fn angles(q: &Quat, order: RotationOrder, before: Option<&[f64; 3]>) -> [f64; 3] {
    let axes = AxisOrder::of(order);
    let parts = axes.parts(q);
    axes.near(axes.principal(parts), parts, before)
}

/// The angles of up to [`BLOCK`] rotations, each multiplied by `between` from the left and the right, nearest to the `printed`
/// angles of the frame before. `before` holds the angles before the first frame, and on return those of the last.
pub(super) fn angles_of_block(
    rotations: impl Iterator<Item = Quat>,
    between: [&Quat; 2],
    order: RotationOrder,
    before: &mut Option<[f64; 3]>,
    printed: impl Fn(f64) -> f64,
    out: &mut [[f64; 3]],
) {
    let axes = AxisOrder::of(order);
    let [left, right] = between.map(|q| [q.i, q.j, q.k, q.w]);
    let mut products = [[0.0; BLOCK]; 4];
    for (n, q) in rotations.take(BLOCK).enumerate() {
        [products[0][n], products[1][n], products[2][n], products[3][n]] = [q.i, q.j, q.k, q.w];
    }
    let (mut found, mut degrees) = ([[0.0; BLOCK]; 4], [[0.0; BLOCK]; 3]);
    // The printed angles, and the distance from those of the frame before to the angles found.
    let (mut seen, mut steps) = ([[0.0; BLOCK]; 3], [0.0; BLOCK]);
    in_wide_registers(
        #[inline(always)]
        || {
            let [x, y, z, w] = &mut products;
            for n in 0..BLOCK {
                let q = quat_product(quat_product(left, [x[n], y[n], z[n], w[n]]), right);
                [x[n], y[n], z[n], w[n]] = q;
            }
            let [i, j, k] = axes.order.map(|axis| &products[axis]);
            for n in 0..BLOCK {
                let principal = axes.principal([i[n], j[n], k[n], axes.sign * products[3][n]]);
                [found[0][n], found[1][n], found[2][n], found[3][n]] = principal;
            }
            for (degrees, (seen, found)) in degrees.iter_mut().zip(seen.iter_mut().zip(&found)) {
                for n in 0..BLOCK {
                    degrees[n] = found[n].to_degrees();
                    seen[n] = printed(degrees[n]);
                }
                for n in 1..BLOCK {
                    steps[n] += (seen[n - 1] - degrees[n]).abs();
                }
            }
        },
    );
    let three = |of: &[[f64; BLOCK]; 3], n: usize| [of[0][n], of[1][n], of[2][n]];
    // Whether the frame before has the principal angles that were found for it.
    let mut as_found = false;
    for (n, out) in out.iter_mut().enumerate().take(BLOCK) {
        if as_found && steps[n] < 180.0 && found[3][n] >= LOCK * LOCK {
            (*out, *before) = (three(&degrees, n), Some(three(&seen, n)));
            continue;
        }
        let parts = [products[axes.order[0]][n], products[axes.order[1]][n], products[axes.order[2]][n]];
        let parts = [parts[0], parts[1], parts[2], axes.sign * products[3][n]];
        *out = axes.near([0, 1, 2, 3].map(|k| found[k][n]), parts, before.as_ref());
        *before = Some(out.map(&printed));
        as_found = *out == three(&degrees, n);
    }
}

/// The axes in the listed order, and 1 if this is a cyclic permutation of X, Y, Z, else -1.
#[derive(Clone, Copy)]
struct AxisOrder {
    order: [usize; 3],
    sign: f64,
}

impl AxisOrder {
    fn of(order: RotationOrder) -> Self {
        let order = order.axes();
        Self { order, sign: if (order[0] + 1) % 3 == order[1] { 1.0 } else { -1.0 } }
    }

    /// The imaginary parts in the order of the axes, and the real part with the sign that compensates for the order.
    #[cfg(any(test, feature = "formats"))]
    fn parts(&self, q: &Quat) -> [f64; 4] {
        let [i, j, k] = self.order.map(|axis| q.coords[axis]);
        [i, j, k, self.sign * q.w]
    }

    /// The angles in radians, the second within +-pi/2, and the squared cosine of the second.
    #[inline(always)]
    fn principal(&self, parts: [f64; 4]) -> [f64; 4] {
        let [ik, jk, kk, jj, kj, ji, ki] = matrix(parts);
        let squared = jk * jk + kk * kk;
        // Cosine and sine of the first angle are kk and -jk over the cosine of the second; row j of A^-1 R is
        // (0, cos c, sin c), here times that cosine, at (k, j, i).
        [
            atan2(-self.sign * jk, kk),
            atan2(self.sign * ik, squared.sqrt()),
            atan2(self.sign * (kk * ji - jk * ki), kk * jj - jk * kj),
            squared,
        ]
    }

    /// The angles in degrees nearest to `before`, from the result of [`AxisOrder::principal`].
    #[inline(always)]
    fn near(&self, found: [f64; 4], parts: [f64; 4], before: Option<&[f64; 3]>) -> [f64; 3] {
        let [a, b, c, squared] = found;
        let first = before.map_or(0.0, |before| before[0].to_radians());
        let radians = if squared < LOCK * LOCK { self.locked(parts, first) } else { [a, b, c] };
        let found = radians.map(f64::to_degrees);
        before.map_or(found, |before| nearest(found, before))
    }

    /// The angles in radians for a given first angle.
    #[cold]
    fn locked(&self, parts: [f64; 4], first: f64) -> [f64; 3] {
        let (sin, cos) = (self.sign * libm::sin(first), libm::cos(first));
        let [ik, jk, kk, jj, kj, ji, ki] = matrix(parts);
        let second = atan2(self.sign * ik, cos * kk - sin * jk);
        [first, second, atan2(self.sign * (cos * ji + sin * ki), cos * jj + sin * kj)]
    }
}

/// Elements of the rotation matrix by row and column: column k, which C leaves unchanged, and the others that `A^-1 R` needs.
#[inline(always)]
fn matrix([i, j, k, w]: [f64; 4]) -> [f64; 7] {
    let (ik, jk, kk) = (2.0 * (i * k + w * j), 2.0 * (j * k - w * i), 1.0 - 2.0 * (i * i + j * j));
    let (jj, kj) = (1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k + w * i));
    let (ji, ki) = (2.0 * (i * j + w * k), 2.0 * (i * k - w * j));
    [ik, jk, kk, jj, kj, ji, ki]
}

/// The angles of the same rotation that are nearest to `before`, degrees.
#[inline(always)]
fn nearest(found: [f64; 3], before: &[f64; 3]) -> [f64; 3] {
    let unrolled = |angles: [f64; 3]| {
        let mut near = angles;
        for (angle, before) in near.iter_mut().zip(before) {
            let off = before - *angle;
            // Below that, the quotient rounds to 0.
            if off.abs() >= 180.0 {
                *angle += 360.0 * (off / 360.0).round();
            }
        }
        let distance: f64 = near.iter().zip(before).map(|(a, b)| (a - b).abs()).sum();
        (near, distance)
    };
    let other = [found[0] + 180.0, 180.0 - found[1], found[2] + 180.0];
    let (found, near) = unrolled(found);
    // The other solution differs by 180 degrees in the first angle and in the third, 360 in total.
    if near <= 180.0 {
        return found;
    }
    let (other, far) = unrolled(other);
    // A margin, so that rounding does not choose between two solutions that are equally near.
    if far < near - 1e-3 { other } else { found }
}

/// The angle of the direction (`x`, `y`) in radians, equal to [`f64::atan2`] except for the last bits.
#[inline(always)]
#[allow(clippy::excessive_precision, reason = "the constants are those of the source")]
fn atan2(y: f64, x: f64) -> f64 {
    /// Difference between pi and its `f64`, radians.
    const LOW: f64 = 1.22464679914735317720e-16;
    let steep = y.abs() > x.abs();
    let (small, large) = if steep { (x.abs(), y.abs()) } else { (y.abs(), x.abs()) };
    // Above the tangent of pi/8 the angle is measured from pi/4.
    let far = small > 0.414_213_562_373_095_05 * large;
    let (n, d) = if far { (small - large, small + large) } else { (small, large) };
    let t = n / if d > 0.0 { d } else { 1.0 };
    let z = t * t;
    let w = z * z;
    let even = z
        * (3.33333333333329318027e-01
            + w * (1.42857142725034663711e-01
                + w * (9.09088713343650656196e-02
                    + w * (6.66107313738753120669e-02
                        + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
    let odd = w
        * (-1.99999999998764832476e-01
            + w * (-1.11111104054623557880e-01
                + w * (-7.69187620504482999495e-02
                    + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
    let (high, low) = if far { (FRAC_PI_4, 0.25 * LOW) } else { (0.0, 0.0) };
    let angle = high - ((t * (even + odd) - low) - t);
    let angle = if steep { FRAC_PI_2 - (angle - 0.5 * LOW) } else { angle };
    let angle = if x < 0.0 { PI - (angle - LOW) } else { angle };
    angle.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, exp};
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
        fn the_arc_tangent_is_that_of_the_library(y in -2.0..2.0f64, x in -2.0..2.0f64, small in 0..20i32) {
            for (y, x) in [(y, x), (y * 10f64.powi(-small), x), (y, x * 10f64.powi(-small)), (y, y), (0.0, x), (y, 0.0)] {
                let (found, expected) = (atan2(y, x), y.atan2(x));
                prop_assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{} {}", y, x);
                prop_assert_eq!(found.is_sign_negative(), expected.is_sign_negative());
            }
        }

        #[test]
        fn a_block_equals_single_conversions(
            step in prop::array::uniform3(-0.2..0.2f64), order in 0usize..6, count in 1usize..=BLOCK,
            locks in any::<bool>()
        ) {
            let order = RotationOrder::ALL[order];
            let at = |n: usize| match locks && n % 5 == 4 {
                true => product([n as f64, 90.0, 20.0], order),
                false => exp(&(Vec3::from(step) * n as f64)) * exp(&(Vec3::y() * (0.1 * n as f64))),
            };
            let printed = |x: f64| (x * 1e3).round() / 1e3;
            let (mut block, mut before) = (vec![[0.0; 3]; count], None);
            let rotations: Vec<Quat> = (0..count).map(at).collect();
            let still = Quat::identity();
            angles_of_block(rotations.iter().copied(), [&still; 2], order, &mut before, printed, &mut block);
            let mut last = None;
            for (n, found) in block.iter().enumerate() {
                prop_assert_eq!(*found, angles(&at(n), order, last.as_ref()));
                last = Some(found.map(printed));
            }
            prop_assert_eq!(before, last);
        }

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
        fn small_steps_give_small_steps_over_many_revolutions(
            start in prop::array::uniform3(-60.0..60.0f64), step in prop::array::uniform3(-4.0..4.0f64), order in 0usize..6
        ) {
            let order = RotationOrder::ALL[order];
            // The second angle oscillates away from gimbal lock; the others may grow without bound.
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
