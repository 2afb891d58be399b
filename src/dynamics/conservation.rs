//! Restores momenta and energy of a free articulation after a step.
//!
//! The velocity is split into the rigid motion of the whole, as if its constraints were locked, and an internal
//! remainder. The rigid part has all of the momenta; the internal part is scaled to reach the energy. Every constraint
//! still holds.
//! Space and units as in [`BodyState`].

use super::articulation::Articulation;
use super::rigid_body::{Body, BodyState};
use crate::math::{Mat3, Symmetric3, Vec3, exp, hat};

/// The conserved quantities of a free articulation at the start, and the time since then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Conserved {
    linear: Vec3,
    /// About the centre of mass.
    angular: Vec3,
    centre: Vec3,
    energy: Option<f64>,
    elapsed: f64,
}

impl Conserved {
    /// The quantities of `states`.
    pub(super) fn of(articulation: &Articulation, states: &[BodyState]) -> Self {
        let centre = articulation.centre_of_mass(states);
        let linear = articulation.linear_momentum(states);
        let energy = articulation.kinetic_energy(states) + articulation.potential_energy(states);
        Self {
            linear,
            angular: articulation.angular_momentum(states) - centre.cross(&linear),
            centre,
            energy: (!articulation.is_driven()).then_some(energy),
            elapsed: 0.0,
        }
    }

    /// Sets momenta and energy to their conserved values. Every constraint still holds: a rigid motion of the whole
    /// satisfies all of them, and the internal part is only scaled.
    ///
    /// Returns whether the energy was left as it was because the velocity scale was outside 0.9 to 1.1.
    pub(super) fn restore(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) -> bool {
        let (bodies, mass, gravity) =
            (articulation.bodies(), articulation.total_mass(), articulation.gravity);
        self.elapsed += h;
        let (mut wanted, t) = (*self, self.elapsed);
        let mut refused = false;
        // The parabola is evaluated from the start: step by step, rounding would accumulate.
        wanted.centre += wanted.linear * (t / mass) + gravity * (0.5 * t * t);
        wanted.linear += gravity * (t * mass);
        let moved = wanted.centre - articulation.centre_of_mass(states);
        for s in states.iter_mut() {
            s.position += moved;
        }
        let centre = articulation.centre_of_mass(states);
        let momentum = articulation.linear_momentum(states);
        let angular = articulation.angular_momentum(states) - centre.cross(&momentum);
        let Some(inverse) = locked_inertia(articulation, states, &centre).try_inverse() else {
            return refused;
        };
        let rigid = |v: Vec3, w: Vec3, s: &BodyState| {
            (v + w.cross(&(s.position - centre)), s.orientation.inverse_transform_vector(&w))
        };
        let (v, w) = (momentum / mass, inverse * angular);
        let v_wanted = wanted.linear / mass;
        let mut internal: Vec<(Vec3, Vec3)> = states
            .iter()
            .map(|s| {
                let (linear, angular) = rigid(v, w, s);
                (s.velocity - linear, s.angular_velocity - angular)
            })
            .collect();
        if let Some(energy) = wanted.energy {
            let square =
                |b: &Body, (v, w): &(Vec3, Vec3)| 0.5 * (b.mass * v.norm_squared() + w.dot(&(b.inertia * w)));
            let of_internal: f64 = bodies.iter().zip(&internal).map(|(b, x)| square(b, x)).sum();
            let kinetic = energy - articulation.potential_energy(states);
            let of_linear = 0.5 * wanted.linear.dot(&v_wanted);
            if of_internal <= 1e-12 * kinetic {
                rotate_to_energy(articulation, states, &centre, &wanted.angular, kinetic - of_linear);
            } else {
                let of_rigid = of_linear + 0.5 * wanted.angular.dot(&(inverse * wanted.angular));
                let scale = ((kinetic - of_rigid).max(0.0) / of_internal).sqrt();
                if (0.9..=1.1).contains(&scale) {
                    for (v, w) in &mut internal {
                        *v *= scale;
                        *w *= scale;
                    }
                } else {
                    refused = true;
                }
            }
        }
        let Some(inverse) = locked_inertia(articulation, states, &centre).try_inverse() else {
            return refused;
        };
        let w_wanted = inverse * wanted.angular;
        for (s, (linear, angular)) in states.iter_mut().zip(internal) {
            let (v, w) = rigid(v_wanted, w_wanted, s);
            s.velocity = v + linear;
            s.angular_velocity = w + angular;
        }
        refused
    }
}

/// The inertia of all bodies with locked constraints, about `centre`, world axes.
fn locked_inertia(articulation: &Articulation, states: &[BodyState], centre: &Vec3) -> Mat3<f64> {
    let of_body = |(b, s): (&Body, &BodyState)| {
        let r = s.position - centre;
        let rotated = Symmetric3::upper(&b.inertia).rotated(&s.orientation.to_rotation_matrix().into_inner());
        rotated.full() - hat(&r) * hat(&r) * b.mass
    };
    articulation.bodies().iter().zip(states).map(of_body).sum()
}

/// Without internal motion, angular momentum and orientation determine the energy: applies the smallest rotation of the
/// whole about `centre` that gives the target energy.
fn rotate_to_energy(
    articulation: &Articulation,
    states: &mut [BodyState],
    centre: &Vec3,
    angular: &Vec3,
    energy: f64,
) {
    for _ in 0..3 {
        let Some(inverse) = locked_inertia(articulation, states, centre).try_inverse() else { return };
        let w = inverse * angular;
        let missing = energy - 0.5 * w.dot(angular);
        // The energy grows by theta . (w x L) when the whole rotates by theta.
        let slope = w.cross(angular);
        let rotation = slope * (missing / slope.norm_squared());
        // Near a steady rotation the slope vanishes, and no small rotation changes the energy.
        let small = rotation.norm() < 1e-3;
        if missing.abs() <= 1e-15 * energy || !small {
            return;
        }
        let rotation = exp(&rotation);
        for s in states.iter_mut() {
            s.position = centre + rotation * (s.position - centre);
            s.orientation = rotation * s.orientation;
            s.orientation.renormalize();
        }
    }
}
