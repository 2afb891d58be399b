//! A squat on feet that a robot cannot turn as far.

use super::{performed, robot, slow};
use crate::math::{Vec3, angle_between, exp};
use crate::model::{Role, Side};
use crate::robot_body::RobotBody;

/// The ankle of a robot does not yaw, and where the knee is bent the hip cannot do it for the ankle: thighs point as those of the take
/// all the same, and feet as far in as that leaves.
#[test]
fn thighs_of_a_squat_do_not_follow_feet_that_are_turned_in() {
    let mut motion = slow("squat.bvh", 60);
    for frame in 0..60 {
        let pose = motion.model_pose(frame);
        for side in Side::BOTH {
            let foot = motion.character.rig.joint(Role::Foot(side)).unwrap();
            let shin = motion.character.rig.joint(Role::LowerLeg(side)).unwrap();
            let model_from_shin = pose.joint(shin).rotation;
            let turned = exp(&(Vec3::y() * -35f64.to_radians() * side.sign()));
            let local = &mut motion.clip.rotations_mut(frame)[foot.index()];
            *local = model_from_shin.inverse() * turned * model_from_shin * *local;
        }
    }
    let (robot, body) = (robot(), RobotBody::of(&robot()).unwrap());
    let result = performed(&motion);
    let mut low_frames = 0;
    for frame in 0..60 {
        let links = robot.links_in_world(result.base[frame], result.values(frame));
        let pose = motion.model_pose(frame);
        for (leg, sole) in body.limbs.legs.iter().zip(&body.soles) {
            let at = |role: Role| pose.position(motion.character.rig.joint(role).unwrap());
            let goal = at(Role::LowerLeg(leg.side)) - at(Role::UpperLeg(leg.side));
            if goal.y.abs() > 0.6 * goal.norm() {
                continue;
            }
            low_frames += 1;
            let thigh = links[leg.upper].rotation * leg.upper_direction;
            let off = angle_between(&thigh, &Vec3::new(goal.z, goal.x, goal.y)).to_degrees();
            let lowest = sole.lowest(&links[sole.link], |p| p.z);
            assert!(off < 6.0, "frame {frame}: a thigh is {off} degrees off");
            assert!(lowest.abs() < 0.005, "frame {frame}: a foot is at {lowest} m");
        }
    }
    assert!(low_frames > 10, "{low_frames} deep legs");
}
