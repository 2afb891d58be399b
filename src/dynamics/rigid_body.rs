//! Rigid bodies: mass, inertia, state, acceleration, force.
//!
//! Space: positions and velocities of the centre of mass in world axes; orientation maps object to world;
//! angular velocity, inertia and torque in object axes about the centre of mass, as in Hakenberg,
//! "Animation of Skeletons with Hinges and Spherical Joints". Units: SI.

use crate::math::{Mat3, Quat, RawQuat, Vec3, exp, from_columns};

/// The constant properties of a rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Name in messages and outputs.
    pub name: String,
    /// Mass in kilograms, above zero.
    pub mass: f64,
    /// Inertia in kg m^2, object axes, about the centre of mass: symmetric, positive definite.
    pub inertia: Mat3<f64>,
    pub(super) inverse_inertia: Mat3<f64>,
}

/// Why the mass or the inertia of a body is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The mass is zero, negative or not a number.
    #[error("the mass of body `{body}` is {mass} kg\n  hint: write a finite number above 0")]
    Mass {
        /// The body's name.
        body: String,
        /// The given mass, kilograms.
        mass: f64,
    },
    /// The inertia is not finite, not symmetric, not positive definite or breaks the triangle inequality.
    #[error(
        "the inertia of body `{body}` has the principal moments {moments:?} kg m^2\n  hint: write a \
         symmetric matrix with three moments above 0, none larger than the sum of the other two"
    )]
    Inertia {
        /// The body's name.
        body: String,
        /// The principal moments, ascending; NaN where the matrix is not finite or not symmetric.
        moments: [f64; 3],
    },
}

impl Body {
    /// A body of the given mass (kg) and inertia (kg m^2, object axes, about the centre of mass).
    ///
    /// # Errors
    /// [`BodyError`] where no physical body has this mass or inertia.
    pub fn new(name: impl Into<String>, mass: f64, inertia: Mat3<f64>) -> Result<Self, BodyError> {
        let name = name.into();
        if !(mass.is_finite() && mass > 0.0) {
            return Err(BodyError::Mass { body: name, mass });
        }
        let symmetric = (inertia - inertia.transpose()).norm() <= 1e-9 * inertia.norm();
        if !inertia.iter().all(|x| x.is_finite()) || !symmetric {
            return Err(BodyError::Inertia { body: name, moments: [f64::NAN; 3] });
        }
        let inertia = (inertia + inertia.transpose()) * 0.5;
        let moments = principal_moments(&inertia);
        // The triangle inequality holds with equality for a flat body; the slack is for rounding.
        let impossible = moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9);
        match inertia.try_inverse() {
            Some(inverse) if moments[0] > 0.0 && !impossible => {
                let inverse_inertia = (inverse + inverse.transpose()) * 0.5;
                Ok(Self { name, mass, inertia, inverse_inertia })
            }
            _ => Err(BodyError::Inertia { body: name, moments }),
        }
    }

    /// The smallest principal moment of inertia, kg m^2.
    pub(super) fn smallest_moment(&self) -> f64 {
        principal_moments(&self.inertia)[0]
    }

    /// The solid ellipsoid of the same mass and inertia: semi-axes in metres, and its axes in object space.
    ///
    /// The semi-axis along the principal moment `Ia` is `sqrt(5 (Ib + Ic - Ia) / (2 m))`. The note uses the moments
    /// themselves as semi-axes, which draws a rod as a disc.
    pub fn ellipsoid_of_inertia(&self) -> (Vec3, Quat) {
        let eigen = self.inertia.symmetric_eigen();
        let sum: f64 = eigen.eigenvalues.sum();
        let axis = |i: usize| -> Vec3 { eigen.eigenvectors.column(i).into_owned() };
        let semi = eigen.eigenvalues.map(|moment| (2.5 * (sum - 2.0 * moment).max(0.0) / self.mass).sqrt());
        (semi, from_columns(&axis(0), &axis(1), &axis(0).cross(&axis(1))))
    }
}

fn principal_moments(inertia: &Mat3<f64>) -> [f64; 3] {
    let mut moments: [f64; 3] = inertia.symmetric_eigenvalues().into();
    moments.sort_by(f64::total_cmp);
    moments
}

/// Position, orientation and velocities of a body at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass, world, metres.
    pub position: Vec3,
    /// Object to world.
    pub orientation: Quat,
    /// Velocity of the centre of mass, world, m/s.
    pub velocity: Vec3,
    /// Angular velocity, object axes, rad/s.
    pub angular_velocity: Vec3,
}

impl BodyState {
    /// A body at rest.
    pub fn at_rest(position: Vec3, orientation: Quat) -> Self {
        Self { position, orientation, velocity: Vec3::zeros(), angular_velocity: Vec3::zeros() }
    }

    /// The world position of the point `p` of the body (object axes, from the centre of mass).
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.position + self.orientation * p
    }

    /// The angular velocity in world axes.
    pub fn world_angular_velocity(&self) -> Vec3 {
        self.orientation * self.angular_velocity
    }

    /// Moves the body with constant velocities for `h` seconds: `p + h v`, `R exp(h omega)`.
    #[inline(always)]
    pub fn advance(&mut self, h: f64) {
        self.position += self.velocity * h;
        self.orientation *= small_rotation(&(self.angular_velocity * h));
        self.orientation.renormalize_fast();
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.position
            .iter()
            .chain(self.orientation.coords.iter())
            .chain(self.velocity.iter())
            .chain(self.angular_velocity.iter())
            .all(|x| x.is_finite())
    }
}

/// [`exp`], by the series of sine and cosine for small rotations, where it is exact to rounding; steps rarely make others.
#[inline(always)]
fn small_rotation(v: &Vec3) -> Quat {
    let square = 0.25 * v.norm_squared();
    if square > 0.01 {
        return exp(v);
    }
    // sin(x) / x and cos(x) of the half angle x <= 0.1; the first terms left out are below 1e-17.
    let x = square;
    let sine = 0.5 - x * (1.0 / 12.0 - x * (1.0 / 240.0 - x * (1.0 / 10_080.0 - x * (1.0 / 725_760.0))));
    let cosine = 1.0
        - x * (0.5 - x * (1.0 / 24.0 - x * (1.0 / 720.0 - x * (1.0 / 40_320.0 - x * (1.0 / 3_628_800.0)))));
    Quat::new_unchecked(RawQuat::from_parts(cosine, v * sine))
}

/// The acceleration of a body: the solution of the equations of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyAcceleration {
    /// Of the centre of mass, world, m/s^2.
    pub linear: Vec3,
    /// Derivative of the angular velocity, object axes, rad/s^2.
    pub angular: Vec3,
}

/// A force and a torque on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyForce {
    /// At the centre of mass, world, newtons.
    pub force: Vec3,
    /// About the centre of mass, object axes, N m.
    pub torque: Vec3,
}

impl BodyForce {
    /// The force `force` (world) acting at the world point `at` of a body in the given state.
    pub fn at_point(state: &BodyState, at: &Vec3, force: Vec3) -> Self {
        let moment = (at - state.position).cross(&force);
        Self { force, torque: state.orientation.inverse_transform_vector(&moment) }
    }
}

/// Inertia of solids of uniform density, kg m^2, object axes, about the centre of mass.
pub mod solid {
    use crate::math::{Mat3, Vec3};

    /// A ball.
    pub fn sphere(mass: f64, radius: f64) -> Mat3<f64> {
        Mat3::from_diagonal_element(0.4 * mass * radius * radius)
    }

    /// A box with the given half edges.
    pub fn cuboid(mass: f64, half: &Vec3) -> Mat3<f64> {
        let s = half.component_mul(half) * (mass / 3.0);
        Mat3::from_diagonal(&Vec3::new(s.y + s.z, s.x + s.z, s.x + s.y))
    }

    /// A cylinder along z, of the given length and radius, with hemispheres on both ends.
    pub fn capsule(mass: f64, radius: f64, length: f64) -> Mat3<f64> {
        let (r, l) = (radius, length);
        // Volumes divided by pi; the two hemispheres together are one ball.
        let (cylinder, ball) = (r * r * l, 4.0 / 3.0 * r * r * r);
        let mc = mass * cylinder / (cylinder + ball);
        let mb = mass * ball / (cylinder + ball);
        let across = mc * (3.0 * r * r + l * l) / 12.0 + mb * (0.4 * r * r + l * l / 4.0 + 3.0 * l * r / 8.0);
        let along = mc * r * r / 2.0 + mb * 0.4 * r * r;
        Mat3::from_diagonal(&Vec3::new(across, across, along))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_bodies_are_refused_with_their_numbers() {
        let inertia = Mat3::identity();
        assert_eq!(
            Body::new("a", 0.0, inertia).unwrap_err().to_string(),
            "the mass of body `a` is 0 kg\n  hint: write a finite number above 0"
        );
        assert!(matches!(Body::new("a", f64::NAN, inertia), Err(BodyError::Mass { .. })));
        let flat = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 2.1));
        assert!(matches!(Body::new("a", 1.0, flat), Err(BodyError::Inertia { .. })));
        assert!(Body::new("a", 1.0, Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 2.0))).is_ok());
        let negative = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0));
        assert!(matches!(Body::new("a", 1.0, negative), Err(BodyError::Inertia { .. })));
        let skew = Mat3::new(1.0, 0.5, 0.0, -0.5, 1.0, 0.0, 0.0, 0.0, 1.0);
        assert!(matches!(Body::new("a", 1.0, skew), Err(BodyError::Inertia { .. })));
    }

    #[test]
    fn a_rod_is_drawn_as_a_rod_and_a_box_keeps_its_proportions() {
        let half = Vec3::new(0.02, 0.03, 0.5);
        let rod = Body::new("rod", 3.0, solid::cuboid(3.0, &half)).unwrap();
        let (semi, axes) = rod.ellipsoid_of_inertia();
        let longest = semi.imax();
        assert!((axes * Vec3::ith(longest, 1.0)).z.abs() > 1.0 - 1e-12);
        // An ellipsoid with semi-axes a has the moments of a box with half edges a sqrt(3/5).
        assert!((semi[longest] - 0.5 * (5.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn small_rotations_are_those_of_the_exponential() {
        for angle in [0.0, 1e-9, 1e-3, 0.1, 0.1999, 0.2001, 2.0] {
            let v = Vec3::new(2.0, -1.0, 2.0) / 3.0 * angle;
            assert!((small_rotation(&v).into_inner() - exp(&v).into_inner()).norm() < 3e-16, "{angle}");
        }
    }

    #[test]
    fn a_capsule_without_length_is_a_ball() {
        assert!((solid::capsule(2.0, 0.3, 0.0) - solid::sphere(2.0, 0.3)).norm() < 1e-15);
    }
}
