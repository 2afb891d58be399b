//! Feet planted as the stage plants them by default: within the ranges of a person's joints.

use posemill::feet;
use posemill::ik::Mechanism;
use posemill::model::Motion;

/// The motion with its feet planted, and what was done.
pub fn planted(motion: &Motion) -> (Motion, feet::Work) {
    let mechanism = Mechanism::humanoid(&motion.character.rig, &motion.character.calibration_pose());
    let joints: Vec<_> = mechanism.joints_with_limits().collect();
    let ranges = feet::Ranges { mechanism: &mechanism, joints: &joints };
    feet::plant_within(motion, &feet::Options::default(), &ranges)
}
