//! The roles of a robot's joints, so that it is measured, drawn and mapped as other characters are.

use super::robot_limbs::Limbs;
use super::zero_pose::ZeroPose;
use crate::model::{Assignment, Robot, Role};

/// Confidence of a role that is read off the tree of hinges: as that of an unambiguous shape.
const BY_SHAPE: f64 = 0.9;

/// The roles of a humanoid robot; none for other robots.
pub(crate) fn robot_roles(robot: &Robot) -> Vec<(Role, Assignment)> {
    let Ok(limbs) = Limbs::of(robot, &ZeroPose::of(robot)) else { return Vec::new() };
    let (_, joints) = robot.joints();
    let role =
        |role: Role, link: usize, reason: &str| (role, Assignment::new(joints[link], BY_SHAPE, reason));
    // The base has the root motion, also where it is the torso and the pelvis hangs below it.
    let (pelvis, torso) = (limbs.pelvis(), limbs.torso());
    let mut roles = vec![role(Role::Hips, if torso == 0 { torso } else { pelvis }, "carries the legs")];
    if torso != pelvis && torso != 0 {
        roles.push(role(Role::Spine(0), torso, "carries the arms"));
    }
    for leg in &limbs.legs {
        roles.push(role(Role::UpperLeg(leg.side), leg.upper, "link before the knee"));
        roles.push(role(Role::LowerLeg(leg.side), leg.lower, "link of the hinge that parts the leg best"));
        if leg.end != leg.lower {
            roles.push(role(Role::Foot(leg.side), leg.end, "end of the leg"));
        }
    }
    for arm in limbs.arms.iter().flatten() {
        roles.push(role(Role::UpperArm(arm.side), arm.upper, "link before the elbow"));
        roles.push(role(Role::LowerArm(arm.side), arm.lower, "link of the hinge that parts the arm best"));
        if arm.bends && arm.end != arm.lower {
            roles.push(role(Role::Hand(arm.side), arm.end, "end of the arm"));
        }
    }
    roles
}
