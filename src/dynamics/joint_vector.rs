//! Joint coordinates of a tree of bodies, and their rates: see [`BallTree`](super::ball_tree::BallTree) for layout, space and units.

use crate::math::{Quat, Vec3, exp, log};

/// Position and rotations of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct JointState {
    /// The root's origin, world, metres.
    pub position: Vec3,
    /// Root to world, then child to parent, by body.
    pub rotations: Vec<Quat>,
}

/// Rates, differences, accelerations or generalised forces of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct JointVector {
    /// Of the root's origin, world axes.
    pub linear: Vec3,
    /// By body, in its own axes.
    pub angular: Vec<Vec3>,
}

impl JointVector {
    /// Zero, for so many bodies.
    pub fn zeros(bodies: usize) -> Self {
        Self { linear: Vec3::zeros(), angular: vec![Vec3::zeros(); bodies] }
    }

    /// Each entry from the entries of two vectors.
    pub fn zip(&self, other: &Self, of: impl Fn(&Vec3, &Vec3) -> Vec3) -> Self {
        let angular = self.angular.iter().zip(&other.angular).map(|(a, b)| of(a, b)).collect();
        Self { linear: of(&self.linear, &other.linear), angular }
    }

    /// Adds `scale` times another vector.
    pub fn add_scaled(&mut self, other: &Self, scale: f64) {
        self.linear += other.linear * scale;
        self.angular.iter_mut().zip(&other.angular).for_each(|(a, b)| *a += b * scale);
    }
}

impl JointState {
    /// The difference to `from`: displacement of the root, and rotation vectors in the axes of the bodies.
    pub fn minus(&self, from: &Self) -> JointVector {
        let angular = from.rotations.iter().zip(&self.rotations).map(|(a, b)| log(&(a.inverse() * b)));
        JointVector { linear: self.position - from.position, angular: angular.collect() }
    }

    /// The state after moving with constant rates for `time` seconds: the inverse of [`JointState::minus`] over `time`.
    pub fn moved(&self, rates: &JointVector, time: f64) -> Self {
        let turned = |(q, w): (&Quat, &Vec3)| Quat::new_normalize((q * exp(&(w * time))).into_inner());
        Self {
            position: self.position + rates.linear * time,
            rotations: self.rotations.iter().zip(&rates.angular).map(turned).collect(),
        }
    }
}
