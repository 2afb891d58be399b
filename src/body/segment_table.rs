//! Masses, centres of mass and radii of gyration of body segments, as shares of the whole.
//!
//! Source: D. A. Winter, *Biomechanics and Motor Control of Human Movement* (2009), table 4.1: mass of a segment over the
//! body's, distance of its centre of mass from the near end and radius of gyration about that centre, both over the
//! segment's length. The trunk is split into pelvis (.142 of the body's mass) and chest with abdomen (.355).

#[cfg(feature = "physics")]
use crate::model::Role;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Share of the body's mass.
    pub mass: f64,
    /// Distance from the near end to the centre of mass, as a share of the segment's length.
    pub centre: f64,
    /// Radius of gyration across the segment about its centre of mass, as a share of its length.
    pub gyration: f64,
}

const fn segment(mass: f64, centre: f64, gyration: f64) -> Segment {
    Segment { mass, centre, gyration }
}

/// The pelvis. Centre and gyration are estimates: its ends are no joints of a rig.
pub const PELVIS: Segment = segment(0.142, 0.3, 0.5);
/// Chest and abdomen as a whole. Centre and gyration are estimates.
pub const CHEST_AND_ABDOMEN: Segment = segment(0.355, 0.5, 0.4);
/// Head and neck as a whole; only the mass is used.
pub const HEAD_AND_NECK: f64 = 0.081;
/// The upper arm.
pub const UPPER_ARM: Segment = segment(0.028, 0.436, 0.322);
/// The forearm.
pub const FOREARM: Segment = segment(0.016, 0.430, 0.303);
/// The hand.
pub const HAND: Segment = segment(0.006, 0.506, 0.297);
/// The thigh.
pub const THIGH: Segment = segment(0.100, 0.433, 0.323);
/// The shin.
pub const SHIN: Segment = segment(0.0465, 0.433, 0.302);
/// The foot with its toes.
pub const FOOT: Segment = segment(0.0145, 0.500, 0.475);

/// The part of head and neck that is neck, as a share of the body's mass: an estimate.
#[cfg(feature = "physics")]
const NECK: f64 = 0.021;
/// The part of the foot that is toes, as a share of the body's mass: an estimate.
#[cfg(feature = "physics")]
const TOES: f64 = 0.003;

/// The segment of a role, for bodies with a joint for each: the mass of chest and abdomen is for all joints of the spine
/// together; fingers and tails have none of their own.
#[cfg(feature = "physics")]
pub fn segment_of(role: Role) -> Option<Segment> {
    Some(match role {
        Role::Hips => PELVIS,
        Role::Spine(_) => CHEST_AND_ABDOMEN,
        // Estimates: the table has no shoulder girdle, neck and head are split, and so are foot and toes.
        Role::Clavicle(_) => segment(0.015, 0.5, 0.35),
        Role::Neck(_) => segment(NECK, 0.5, 0.35),
        Role::Head => segment(HEAD_AND_NECK - NECK, 0.6, 0.495),
        Role::UpperArm(_) => UPPER_ARM,
        Role::LowerArm(_) => FOREARM,
        Role::Hand(_) => HAND,
        Role::UpperLeg(_) => THIGH,
        Role::LowerLeg(_) => SHIN,
        Role::Foot(_) => Segment { mass: FOOT.mass - TOES, ..FOOT },
        Role::Toes(_) => Segment { mass: TOES, ..FOOT },
        Role::Finger(..) | Role::Tail(_) => return None,
    })
}

/// The mass of a body that states none, kilograms: at a height of 1.75 m a body mass index of 22.9 kg/m^2, in the middle of the
/// normal range.
#[cfg(feature = "physics")]
pub const COMMON_MASS: f64 = 70.0;

#[cfg(all(test, feature = "physics"))]
mod tests {
    use super::*;
    use crate::model::Side;

    #[test]
    fn parts_that_are_split_have_the_mass_of_the_whole() {
        let mass = |role| segment_of(role).unwrap().mass;
        assert!((mass(Role::Foot(Side::Left)) + mass(Role::Toes(Side::Left)) - FOOT.mass).abs() < 1e-12);
        assert!((mass(Role::Neck(0)) + mass(Role::Head) - HEAD_AND_NECK).abs() < 1e-12);
        assert_eq!((mass(Role::Foot(Side::Left)), mass(Role::Head)), (0.0115, 0.06));
    }
}
