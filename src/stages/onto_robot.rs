//! The stage `retarget` where the character is a robot.

use super::take_cuts::warn_of_jumps;
use super::{Stage, StageError};
use crate::kinematics::cuts;
use crate::measure::{ROBOT, of_bodies};
use crate::model::{Character, Motion, Robot};
use crate::report::Report;
use crate::robot_retarget::{RobotRetarget, uneven_ground};
use std::sync::Arc;

/// The resolved stage.
#[derive(Debug)]
pub(super) struct RetargetRobotStage {
    target: Arc<Character>,
    robot: Arc<Robot>,
    retarget: RobotRetarget,
}

impl RetargetRobotStage {
    /// For a robot, which is the character `target`.
    ///
    /// # Errors
    /// A robot that is no humanoid.
    pub(super) fn new(target: &Arc<Character>, robot: &Arc<Robot>) -> Result<Self, StageError> {
        let retarget = RobotRetarget::new(robot).map_err(|error| StageError::new(error.to_string()))?;
        Ok(Self { target: Arc::clone(target), robot: Arc::clone(robot), retarget })
    }
}

impl Stage for RetargetRobotStage {
    fn leaving(&self, _: &Arc<Character>) -> Arc<Character> {
        Arc::clone(&self.target)
    }

    fn not_judged(&self) -> Option<(&'static str, Vec<&'static str>)> {
        Some((ROBOT, of_bodies()))
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        if !self.retarget.has_soles() {
            let message =
                "the feet have no shapes that are read: soles are guessed from the length of the legs";
            report.warnings.add("robot-soles", message, self.robot.name.clone());
        }
        let ground = uneven_ground(&motion);
        if ground.as_ref().is_some_and(|ground| ground.plane().is_none()) {
            let message = "the take is on stairs, or on a slope that begins on the way: the robot's ground is level, and its feet are above or below it; cut the take to the part that is on one ramp or level";
            report.warnings.add("robot-ground", message, motion.clip.name.clone());
        }
        let cuts = cuts(&motion);
        let performed = self.retarget.apply_on(&motion, &cuts, ground.as_ref());
        let performed = performed.map_err(|error| StageError::new(error.to_string()))?;
        warn_of_jumps(&motion, &performed, &cuts, report);
        let mut clip = performed.clip(&motion.clip.name, &self.robot);
        clip.start = motion.clip.start;
        Ok(Motion::new(Arc::clone(&self.target), clip))
    }
}
