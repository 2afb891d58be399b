//! Feet that a rest pose with spread legs rolls to a side.
//!
//! Skeletons of captures are often defined with legs spread wide and the feet square to the shins (ASF); a skinned character stands on
//! flat feet however its legs are spread. Space: model space, Y up. Units: radians.

use super::figure_measures::Figure;
use crate::math::{DEGREE, Vec3};
use crate::model::{Character, ModelPose, Rig, Role, Side};

/// Angle of a shin from the vertical above which a skeleton is defined with spread legs.
const SPREAD: f64 = 12.0 * DEGREE;
/// The share of a shin that points ahead or back above which the pose raises it (20 degrees): characters stand with up to 14.
const RAISED_SHIN: f64 = 0.34;

/// The roll of a foot about the body's forward axis in its reference pose: 0 of a body with skin, and of legs that are not spread.
pub(crate) fn foot_roll(
    character: &Character,
    (rig, pose): (&Rig, &ModelPose),
    figure: &Figure,
    side: Side,
) -> f64 {
    if !character.meshes.is_empty() || character.bind.is_some() {
        return 0.0;
    }
    let at = |role: Role| rig.joint(role).map(|id| pose.position(id));
    let shin = at(Role::LowerLeg(side)).zip(at(Role::Foot(side)));
    let shin = shin.and_then(|(knee, ankle)| (ankle - knee).try_normalize(1e-9));
    let spread = shin.map_or(0.0, |shin| spread(&shin, &figure.left));
    if spread.abs() > SPREAD { spread } else { 0.0 }
}

/// The angle of a shin from the plane that is vertical and ahead; a shin that the pose raises hangs.
fn spread(shin: &Vec3, left: &Vec3) -> f64 {
    let ahead = shin.dot(&left.cross(&Vec3::y()));
    let down = if ahead.abs() > RAISED_SHIN { libm::hypot(ahead, shin.y) } else { -shin.y };
    libm::atan2(shin.dot(left), down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, exp};

    #[test]
    fn a_raised_shin_is_no_more_spread_than_one_that_hangs() {
        let hanging = Vec3::new(0.2, -1.0, 0.0).normalize();
        for degrees in [-120.0, -80.0, -40.0, 0.0, 60.0, 100.0_f64] {
            let raised: Quat = exp(&(Vec3::x() * degrees.to_radians()));
            let off = spread(&(raised * hanging), &Vec3::x()) - spread(&hanging, &Vec3::x());
            assert!(off.abs() < 1e-9, "{degrees}: {} degrees", off.to_degrees());
        }
    }
}
