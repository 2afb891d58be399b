//! A take onto a humanoid robot: calibration, goals, first guess, one solve over the whole take.

use super::ramp::{Ramp, uneven_ground};
use super::robot_goals::Goals;
use super::robot_settings::SolveSettings;
use super::robot_state::{RobotState, Unknowns};
use super::same_robot::motion_of_same;
use super::starting_poses::first_guess;
use super::take_body::TakeBody;
use super::time_levels::{TimeLevel, solved};
use crate::anatomy::on_four_legs;
use crate::math::{Quat, Transform, Vec3, median_of, same_hemisphere};
use crate::model::{Motion, Robot, RobotMotion, UnevenGround};
use crate::report::one_line;
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// Share of where the first guess holds shoulders beyond their zero pose that the solve leaves: with all of it walks onto dm_control's CMU
/// humanoid lean back by up to 3 degrees, with none of it forward by 5 to 8.
const HELD: f64 = 0.85;

/// Why a take cannot be retargeted onto a robot.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RobotRetargetError {
    /// The robot has no two legs to stand on.
    #[error(
        "`{robot}` is no humanoid: {reason}\n  hint: name the model of a robot with two legs that bend at hip and knee"
    )]
    NoHumanoid {
        /// Its name.
        robot: String,
        /// What of it is not as it is of a humanoid.
        reason: &'static str,
    },
    /// The take lacks a joint of a leg.
    #[error(
        "the take has no {role}, which a robot's legs need\n  hint: see the detected roles with `posemill inspect`, and name the joint with `posemill map`"
    )]
    NoLeg {
        /// The missing role.
        role: String,
    },
    /// The take is of a body on four legs.
    #[error(
        "`{quadruped}` goes on four legs and `{biped}` on two\n  hint: name a take of a body on two legs"
    )]
    FourLegs {
        /// The character of the take.
        quadruped: String,
        /// The robot.
        biped: String,
    },
}

/// Retargets takes onto one robot.
#[derive(Clone, Debug)]
pub struct RobotRetarget {
    unknowns: Unknowns,
}

impl RobotRetarget {
    /// For a robot.
    ///
    /// # Errors
    /// A robot that is no humanoid.
    pub fn new(robot: &Arc<Robot>) -> Result<Self, RobotRetargetError> {
        let no_humanoid = |reason| RobotRetargetError::NoHumanoid { robot: robot.name.clone(), reason };
        let body = RobotBody::of(robot).map_err(no_humanoid)?;
        Ok(Self { unknowns: Unknowns::of(&Arc::new(body)) })
    }

    /// Whether the soles were measured from shapes.
    pub fn has_soles(&self) -> bool {
        self.unknowns.body.soles.iter().all(|sole| sole.measured)
    }

    /// The robot's motion for a take, at the take's rate, on level ground or on the take's ramp. `cuts` are the frames that follow a
    /// cut.
    ///
    /// # Errors
    /// A take without legs, and one of a body on four.
    pub fn apply(&self, take: &Motion, cuts: &[usize]) -> Result<RobotMotion, RobotRetargetError> {
        self.apply_on(take, cuts, uneven_ground(take).as_ref())
    }

    /// The same for a take whose ground is known: see [`uneven_ground`].
    pub(crate) fn apply_on(
        &self,
        take: &Motion,
        cuts: &[usize],
        ground: Option<&UnevenGround>,
    ) -> Result<RobotMotion, RobotRetargetError> {
        let rate = take.clip.sample_rate;
        let unknowns = &self.unknowns;
        if let Some(own) = motion_of_same(&unknowns.body.robot, take) {
            return Ok(own);
        }
        let no_leg = |role: crate::model::Role| RobotRetargetError::NoLeg { role: role.to_string() };
        let ramp = ground.and_then(Ramp::of);
        let levels = ramp.map_or(Quat::identity(), |ramp| ramp.levels);
        let body = TakeBody::of(take, &levels).map_err(no_leg)?;
        if on_four_legs(&take.character.rig, &take.character.reference_pose()) {
            let (quadruped, biped) = (one_line(&take.character.name), one_line(&unknowns.body.robot.name));
            return Err(RobotRetargetError::FourLegs { quadruped, biped });
        }
        let mut goals = Goals::of(&body, &unknowns.body, rate, cuts);
        let coarse = TimeLevel::coarse(&goals);
        let guess = first_guess(unknowns, &coarse.goals(&goals), &SolveSettings::FINAL);
        if let Some(shoulders) = usual_shoulders(&unknowns.body, &guess) {
            goals = goals.with_shoulders(&body, &unknowns.body, shoulders);
        }
        let mut motion = RobotMotion { rate, base: Vec::new(), values: Vec::new() };
        for state in solved(unknowns, &goals, &coarse, &guess) {
            let base = ramp.map_or(state.base, |ramp| ramp.inclined(&state.base, goals.scale));
            let last = motion.base.last().map_or(base.rotation, |base: &Transform| base.rotation);
            motion.base.push(Transform { rotation: same_hemisphere(base.rotation, &last), ..base });
            motion.values.extend(state.values);
        }
        Ok(motion)
    }
}

/// Where clavicles hold the middle of the shoulders in the space of the torso, the median over frames; `None` without clavicles. Arms that
/// cannot hang from upper arms alone hold them at an end of their range.
fn usual_shoulders(body: &RobotBody, states: &[RobotState]) -> Option<Vec3> {
    if !body.has_clavicles() {
        return None;
    }
    let seen = states
        .iter()
        .map(|state| body.shoulders_in_torso(&body.robot.links_in_world(state.base, &state.values)));
    let usual = median_of(seen.collect::<Option<Vec<_>>>()?.into_iter());
    Some(body.shoulders_in_torso(&body.zero.links)?.lerp(&usual, HELD))
}
