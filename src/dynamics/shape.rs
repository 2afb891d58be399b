//! Shapes for collision and display: planes, spheres, capsules, boxes; ellipsoids for display only.
//!
//! Space: a shape is in its own axes; a transform positions it in its body. Units: metres.

use crate::math::{Transform, Vec3};

/// A shape in its own axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The half space below the plane `z = 0`.
    Plane,
    /// A ball about the origin.
    Sphere {
        /// Metres.
        radius: f64,
    },
    /// All points within `radius` of a segment along z, centred on the origin.
    Capsule {
        /// Metres.
        radius: f64,
        /// The length of the segment, without the round ends, metres.
        length: f64,
    },
    /// A box about the origin.
    Cuboid {
        /// Half edges, metres.
        half: Vec3,
    },
    /// An ellipsoid about the origin: displayed, without contacts.
    Ellipsoid {
        /// Semi-axes, metres.
        semi_axes: Vec3,
    },
}

impl Shape {
    /// The distance of the farthest point from the origin; infinite for a plane.
    pub fn reach(&self) -> f64 {
        match self {
            Shape::Plane => f64::INFINITY,
            Shape::Sphere { radius } => *radius,
            Shape::Capsule { radius, length } => radius + length / 2.0,
            Shape::Cuboid { half } => half.norm(),
            Shape::Ellipsoid { semi_axes } => semi_axes.amax(),
        }
    }
}

/// A shape that takes part in contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collider {
    /// The body that it belongs to; `None` for the world.
    pub body: Option<usize>,
    /// The shape.
    pub shape: Shape,
    /// Position of the shape in the body's axes (or the world).
    pub body_from_shape: Transform,
    /// Coulomb's coefficient; a pair uses the geometric mean.
    pub friction: f64,
    /// Restitution of the normal velocity, 0 to 1; a pair uses the larger.
    pub restitution: f64,
}
