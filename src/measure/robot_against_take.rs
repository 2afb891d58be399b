//! How closely trunk, base and path of a robot follow the take's.
//!
//! Positions of joints are compared, so that the rest pose of the take's file does not matter: a figure may lie in it. Space: model space.
//! Units: metres, radians.

use super::limb_comparison::{LimbComparison, with_direct};
use super::limb_frame::LimbFrame;
use crate::math::{Quat, Vec2, Vec3, angle_between, from_columns};
use crate::model::Character;
use crate::report::Metric;

impl LimbComparison {
    /// The measures of a robot against the take.
    pub(super) fn of_robot(&self, robot: &Character) -> Vec<Metric> {
        let zero = LimbFrame::read(&robot.rig, &robot.skeleton().rest_model_pose());
        let trunk = zero.and_then(|zero| self.trunk_error_of_robot(&zero));
        let base = zero.and_then(|zero| self.base_error(&zero));
        trunk.into_iter().chain(base).chain(self.path_error()).collect()
    }

    /// The angle of the robot's line from hips to shoulders to the source's, less that to up in its pose `zero`.
    fn trunk_error_of_robot(&self, zero: &LimbFrame) -> Option<Metric> {
        let own = angle_between(&zero.trunk()?, &Vec3::y());
        self.mean_error("trunk_error", |track, f| {
            Some((angle_between(&self.source[f].trunk()?, &track[f].trunk()?) - own).max(0.0))
        })
    }

    /// The rotation from hip joints and trunk of the source to the robot's base, which faces the front in its pose `zero`.
    fn base_error(&self, zero: &LimbFrame) -> Option<Metric> {
        self.mean_error("robot_base_error", |track, f| {
            Some(upright(&self.source[f])?.angle_to(&(track[f].hips * zero.hips.inverse())))
        })
    }

    /// The greatest difference of horizontal displacements since the first frame, as a share of the source's greatest one.
    fn path_error(&self) -> Option<Metric> {
        let moved = |track: &[LimbFrame], f: usize| level(&track[f]) - level(&track[0]);
        let all = || 0..self.frames;
        let far = all().map(|f| moved(&self.source, f).norm()).fold(self.leg_length, f64::max);
        let error = |track: &[LimbFrame]| {
            all().map(|f| (moved(track, f) - moved(&self.source, f)).norm()).fold(0.0, f64::max) / far
        };
        (self.frames > 0).then(|| with_direct("robot_path_error", error(&self.result), error(&self.direct)))
    }
}

/// The rotation of a body by its hip joints and trunk, from one that is upright and faces +Z; `None` if they have one direction.
fn upright(body: &LimbFrame) -> Option<Quat> {
    let [left, right] = body.legs.map(|leg| leg[0]);
    let across = (left - right).try_normalize(1e-9)?;
    let trunk = body.trunk()?;
    let up = (trunk - across * across.dot(&trunk)).try_normalize(1e-9)?;
    Some(from_columns(&across, &up, &across.cross(&up)))
}

/// Where the middle of the hip joints is on the floor.
fn level(body: &LimbFrame) -> Vec2<f64> {
    let middle = (body.legs[0][0] + body.legs[1][0]) / 2.0;
    Vec2::new(middle.x, middle.z)
}
