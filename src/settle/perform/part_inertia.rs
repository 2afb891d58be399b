//! Mass, centre and inertia of the parts of a performing body: centres and gyration from Winter's table (`body::segment_of`).

use super::part_kind::PartJoint;
use crate::body::{COMMON_MASS, segment_of};
use crate::dynamics::BallLink;
use crate::math::{Mat3, Transform, Vec3};
use std::f64::consts::PI;

/// Density of a body of the usual mass, kg/m^3: about that of water.
const DENSITY: f64 = 1000.0;

/// Radius of gyration over the length of a part without a segment in the table.
const LINK_GYRATION: f64 = 0.4;

/// Least moment of inertia in a body of the usual mass, kg m^2: that of a bone of 0.1 kg and 2 cm; keeps matrices far from singular.
const LEAST: f64 = 1e-5;

/// Mass properties of one part, in the axes of its joint.
#[derive(Clone, Debug)]
pub struct PartMass {
    mass: f64,
    centre: Vec3,
    inertia: Mat3<f64>,
}

impl PartMass {
    /// The parts with their shares of a body of `mass` kilograms.
    pub fn of_parts(parts: &[PartJoint], shares: &[f64], mass: f64) -> Vec<PartMass> {
        parts.iter().zip(shares).map(|(part, share)| PartMass::of(part, *share, mass)).collect()
    }

    /// A capsule-like solid along the bone, as thick as in a body of the usual mass: another mass is another density, so that forces
    /// are in proportion to it.
    fn of(part: &PartJoint, share: f64, of_mass: f64) -> PartMass {
        let mass = of_mass * share;
        let segment = part.role.and_then(segment_of);
        let length = part.bone.norm();
        let axis = part.bone / length;
        let square = COMMON_MASS * share / (PI * length * DENSITY);
        let along = 0.5 * mass * square;
        let gyration = segment.map_or(LINK_GYRATION, |s| s.gyration) * length;
        // No solid is flatter across its long axis than a disc; the rest is the thickness.
        let across = (mass * gyration * gyration).max(0.6 * along) + 0.25 * mass * square;
        let of_axis = axis * axis.transpose();
        PartMass {
            mass,
            centre: part.bone * segment.map_or(0.5, |s| s.centre),
            inertia: Mat3::identity() * (across + LEAST * (of_mass / COMMON_MASS))
                + of_axis * (along - across),
        }
    }
}

/// One body of these segments, each with its place in the axes of the body.
pub fn link(name: String, parent: Option<usize>, offset: Vec3, own: &[(PartMass, Transform)]) -> BallLink {
    let mass: f64 = own.iter().map(|(segment, _)| segment.mass).sum();
    let placed = |(segment, at): &(PartMass, Transform)| at.point(&segment.centre) * segment.mass;
    let centre = own.iter().map(placed).sum::<Vec3>() / mass;
    let about_centre = |(segment, at): &(PartMass, Transform)| {
        let r = at.rotation.to_rotation_matrix().into_inner();
        let d = at.point(&segment.centre) - centre;
        let away = Mat3::identity() * d.norm_squared() - d * d.transpose();
        r * segment.inertia * r.transpose() + away * segment.mass
    };
    BallLink { name, parent, offset, mass, centre, inertia: own.iter().map(about_centre).sum() }
}
