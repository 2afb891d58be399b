//! The motion of a robot as trackers use it: place of the base and values of the hinges; from and to a clip of its skeleton.
//!
//! Space: the robot's world, X to the front, Z up. Units: metres, radians, hertz.

use super::robot::{Robot, model_from_world};
use super::{Clip, JointId, Motion};
use crate::math::{Quat, Transform, Vec3, same_hemisphere, twist_angle};
use crate::parallel;
use std::f64::consts::TAU;

/// Largest rotation of a joint that its hinge does not explain, radians: a thousand times the rounding of files in `f32`.
/// Stages that rotate joints freely exceed it at once.
const OFF_HINGE: f64 = 1e-3;

/// A motion of a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotMotion {
    /// Frames per second.
    pub rate: f64,
    /// The base in the world, per frame; the signs of its quaternions do not flip.
    pub base: Vec<Transform>,
    /// The values of the hinges, frame by frame.
    pub values: Vec<f64>,
}

/// Why a motion is none of a robot.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRobotMotion {
    /// The character is none.
    #[error("the character is no robot\n  hint: use a robot model (MJCF or URDF)")]
    NoRobot,
    /// A joint rotates otherwise than its hinge.
    #[error(
        "frame {frame}: the joint `{joint}` rotates by {degrees:.2} degrees beside its hinge\n  hint: leave out the stages after `retarget` that move joints freely"
    )]
    OffHinge {
        /// The frame.
        frame: usize,
        /// The joint.
        joint: String,
        /// The rotation that is left, degrees.
        degrees: f64,
    },
}

impl RobotMotion {
    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.base.len()
    }

    /// The values of the hinges in one frame.
    pub fn values(&self, frame: usize) -> &[f64] {
        let count = self.values.len() / self.base.len().max(1);
        &self.values[frame * count..][..count]
    }

    /// Base and hinges of a motion whose character is a robot.
    ///
    /// # Errors
    /// A character that is no robot, a joint that does not move about its hinge.
    pub fn of(motion: &Motion) -> Result<Self, NoRobotMotion> {
        let robot = motion.character.robot.as_deref().ok_or(NoRobotMotion::NoRobot)?;
        let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
        let (joints, _) = robot.joints();
        let world_from_model = Transform::from_rotation(model_from_world().inverse());
        let anchor = Transform::from_translation(-robot.joint_in_link(0));
        let slides: Vec<JointId> =
            robot.hinges.iter().zip(&joints).filter(|(h, _)| h.slides).map(|(_, j)| *j).collect();
        let rigid: Vec<JointId> = skeleton.ids().skip(1).filter(|id| !joints.contains(id)).collect();
        let in_frame = |frame: usize| -> Result<(Transform, Vec<f64>), NoRobotMotion> {
            let local = |id: JointId| clip.local(skeleton, frame, id);
            let base = world_from_model * local(JointId::new(0)) * anchor;
            let value = |(hinge, &joint): (&super::Hinge, &JointId)| {
                let moved = skeleton.joint(joint).rest.inverse() * local(joint);
                let angle = twist_angle(&moved.rotation, &hinge.axis);
                let deviation = (hinge.rotation(hinge.zero + angle).inverse() * moved.rotation).angle();
                let free = if slides.contains(&joint) { moved.rotation.angle() } else { deviation };
                if free > OFF_HINGE {
                    let joint = skeleton.joint(joint).name.clone();
                    return Err(NoRobotMotion::OffHinge { frame, joint, degrees: free.to_degrees() });
                }
                Ok(match hinge.slides {
                    true => hinge.zero + moved.translation.dot(&hinge.axis),
                    false => within(hinge.zero + angle, hinge.range),
                })
            };
            for &joint in &rigid {
                let degrees = (skeleton.joint(joint).rest.rotation.inverse() * local(joint).rotation)
                    .angle()
                    .to_degrees();
                if degrees > OFF_HINGE.to_degrees() {
                    let joint = skeleton.joint(joint).name.clone();
                    return Err(NoRobotMotion::OffHinge { frame, joint, degrees });
                }
            }
            let values = robot.hinges.iter().zip(&joints).map(value).collect::<Result<_, _>>()?;
            Ok((base, values))
        };
        let frames = parallel::map(clip.frames(), 1, in_frame).into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut result = Self { rate: clip.sample_rate, base: Vec::new(), values: Vec::new() };
        for (base, values) in frames {
            result.push(robot, base, &values);
        }
        Ok(result)
    }

    /// Appends a frame: the base's quaternion in the hemisphere of the last, hinges within half a circle of it where their ranges allow
    /// that.
    fn push(&mut self, robot: &Robot, base: Transform, values: &[f64]) {
        let last = self.base.last().map_or(Quat::identity(), |b| b.rotation);
        self.base.push(Transform { rotation: same_hemisphere(base.rotation, &last), ..base });
        let before = self.values.len().checked_sub(values.len()).filter(|_| self.base.len() > 1);
        for (k, (&value, hinge)) in values.iter().zip(&robot.hinges).enumerate() {
            let known = before.filter(|_| !hinge.slides).map(|b| self.values[b + k]);
            self.values.push(known.map_or(value, |known| near(value, known, hinge.range)));
        }
    }

    /// The clip of the robot's skeleton that moves so.
    ///
    /// # Panics
    /// If the values are not those of this robot.
    pub fn clip(&self, name: &str, robot: &Robot) -> Clip {
        let skeleton = robot.skeleton().expect("a robot that was read has a skeleton");
        let (joints, _) = robot.joints();
        let model_from_world = Transform::from_rotation(model_from_world());
        let anchor = Transform::from_translation(robot.joint_in_link(0));
        let mut translated = vec![JointId::new(0)];
        translated
            .extend(robot.hinges.iter().zip(&joints).filter(|(h, _)| h.slides).map(|(_, joint)| *joint));
        translated.sort_unstable();
        translated.dedup();
        let (mut rotations, mut translations): (Vec<Quat>, Vec<Vec3>) = (Vec::new(), Vec::new());
        for (frame, base) in self.base.iter().enumerate() {
            let mut pose = skeleton.rest_pose();
            pose.local_mut()[0] = model_from_world * *base * anchor;
            for ((hinge, joint), value) in robot.hinges.iter().zip(&joints).zip(self.values(frame)) {
                let rest = skeleton.joint(*joint).rest;
                pose.local_mut()[joint.index()] = match hinge.slides {
                    true => rest * Transform::from_translation(hinge.axis * (value - hinge.zero)),
                    false => rest * Transform::from_rotation(hinge.rotation(*value)),
                };
            }
            for local in pose.local() {
                let before = rotations.len().checked_sub(skeleton.len()).map(|before| rotations[before]);
                rotations
                    .push(before.map_or(local.rotation, |before| same_hemisphere(local.rotation, &before)));
            }
            translations.extend(translated.iter().map(|id| pose.joint(*id).translation));
        }
        Clip::new(name, self.rate, skeleton.len(), rotations, translated, translations)
    }
}

/// The angle that differs by whole circles from `angle` and is nearest to `known`, unless that leaves the range.
fn near(angle: f64, known: f64, range: Option<[f64; 2]>) -> f64 {
    let circles = ((angle - known) / TAU).round();
    let nearest = known + (angle - known) - TAU * circles;
    match range {
        Some([low, high]) if circles == 0.0 || !(low..=high).contains(&nearest) => angle,
        _ => nearest,
    }
}

/// The angle, or one that differs by whole circles, that is inside of the range if there is one.
fn within(angle: f64, range: Option<[f64; 2]>) -> f64 {
    let Some([low, high]) = range else { return angle };
    let equivalent = [angle, angle - TAU, angle + TAU];
    let outside = |a: &f64| (low - a).max(a - high).max(0.0);
    equivalent.into_iter().min_by(|a, b| outside(a).total_cmp(&outside(b))).unwrap_or(angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_angle_is_near_the_one_before_inside_of_its_range() {
        // From 3.2 rad on, a quaternion is read as an angle below zero.
        let read = 3.2 - TAU;
        assert!((near(read, 3.1, Some([-TAU, TAU])) - 3.2).abs() < 1e-12);
        assert!((near(read, 3.1, None) - 3.2).abs() < 1e-12);
        // The hinge ends at 3.15 rad.
        assert_eq!(near(read, 3.1, Some([-3.15, 3.15])), read);
        assert_eq!(near(0.3, 0.2, Some([-1.0, 1.0])), 0.3);
    }
}
