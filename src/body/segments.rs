//! What the parts of a body weigh and where their weight lies, as shares of the whole.
//!
//! Source: D. A. Winter, *Biomechanics and Motor Control of Human Movement*, table of anthropometric data: mass of a
//! segment over the body's, distance of its centre of mass from the near end and radius of gyration about that
//! centre, over the segment's length. Trunk and head are shared out over the joints that a rig has for them.

use crate::model::Role;

/// The shares of one part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Of the body's mass.
    pub mass: f64,
    /// Of the part's length: from its joint to its centre of mass.
    pub center: f64,
    /// Of the part's length: its radius of gyration across, about the centre of mass.
    pub gyration: f64,
}

const fn segment(mass: f64, center: f64, gyration: f64) -> Segment {
    Segment { mass, center, gyration }
}

/// What is known of a part by its role; chest and abdomen, and head and neck, as a whole.
pub fn segment_of(role: Role) -> Option<Segment> {
    Some(match role {
        Role::Hips => segment(0.142, 0.3, 0.5),
        Role::Spine(_) => segment(0.355, 0.5, 0.4),
        // Taken out of chest and abdomen.
        Role::Clavicle(_) => segment(0.015, 0.5, 0.35),
        Role::Neck(_) => segment(0.021, 0.5, 0.35),
        Role::Head => segment(0.06, 0.6, 0.495),
        Role::UpperArm(_) => segment(0.028, 0.436, 0.322),
        Role::LowerArm(_) => segment(0.016, 0.43, 0.303),
        Role::Hand(_) => segment(0.006, 0.506, 0.297),
        Role::UpperLeg(_) => segment(0.1, 0.433, 0.323),
        Role::LowerLeg(_) => segment(0.0465, 0.433, 0.302),
        Role::Foot(_) => segment(0.0115, 0.5, 0.475),
        // Taken out of the foot.
        Role::Toes(_) => segment(0.003, 0.5, 0.475),
        Role::Finger(..) | Role::Tail(_) => return None,
    })
}

/// Kilograms of a body of this height in metres: a body mass index of 22.5.
pub fn body_mass(height: f64) -> f64 {
    22.5 * height * height
}
