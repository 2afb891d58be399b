//! Adds transitions from and to a standing pose, in which a robot is started and stopped.

use super::lead_collisions::{LeadBody, middle};
use crate::export::export_options::LONGEST_LEAD;
use crate::export::save::ExportError;
use crate::math::{Quat, Transform, Vec3, exp, log, same_hemisphere};
use crate::model::{Robot, RobotMotion};
use crate::report::Warnings;
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// A lead in which a hinge is too fast is lengthened by one eighth of its frames at a time.
const LONGER: usize = 8;
/// A speed is not too fast by rounding.
const ROUNDING: f64 = 1.0 + 1e-9;
/// A value may be this far beyond a hinge's range, radians or metres: ranges in files are rounded.
const BEYOND: f64 = 0.01;
/// A direction that is steeper than this has no heading: the sine of 6 degrees.
const LEVEL: f64 = 0.1;

/// The motion from the default pose and back to it in so many seconds each; unchanged without a pose. Parts that come into each other on
/// the way there or back are a warning.
///
/// # Errors
/// A pose with too few or too many values, or with one beyond the range of its hinge.
pub(super) fn led(
    robot: &Arc<Robot>,
    motion: RobotMotion,
    (pose, seconds): (&[f64], f64),
    warnings: &mut Warnings,
) -> Result<RobotMotion, ExportError> {
    let frames = (seconds.clamp(0.0, LONGEST_LEAD) * motion.rate).round() as usize;
    if pose.is_empty() || motion.base.is_empty() {
        return Ok(motion);
    }
    if pose.len() != robot.hinges.len() {
        let (robot, hinges) = (robot.name.clone(), robot.hinges.len());
        return Err(ExportError::RobotPose { robot, given: pose.len(), hinges });
    }
    for (hinge, value) in robot.hinges.iter().zip(pose) {
        let [low, high] = hinge.range.unwrap_or([f64::MIN, f64::MAX]);
        if !(low - BEYOND..=high + BEYOND).contains(value) {
            let hinge = hinge.name.clone();
            return Err(ExportError::RobotPoseRange { hinge, value: *value, low, high });
        }
    }
    let last = motion.base.len() - 1;
    let body = RobotBody::of(robot).ok().map(LeadBody::new);
    let lead = Lead { robot, body, pose, frames };
    let before = lead.lead_into(&motion, 0, 1.min(last), warnings);
    let after = lead.lead_into(&motion, last, last.saturating_sub(1), warnings);
    let mut led = RobotMotion { rate: motion.rate, base: Vec::new(), values: Vec::new() };
    let own = (0..=last).map(|frame| (motion.base[frame], motion.values(frame).to_vec()));
    for (base, values) in before.into_iter().chain(own).chain(after.into_iter().rev()) {
        let sign = led.base.last().map_or(base.rotation, |last: &Transform| last.rotation);
        led.base.push(Transform { rotation: same_hemisphere(base.rotation, &sign), ..base });
        led.values.extend(values);
    }
    Ok(led)
}

struct Lead<'a> {
    robot: &'a Robot,
    body: Option<LeadBody>,
    pose: &'a [f64],
    frames: usize,
}

impl Lead<'_> {
    /// The frames from the default pose to a frame, without it, which arrive with the velocity from that frame to `next`. There are
    /// more of them than asked for if hinges would be faster than their file allows.
    fn lead_into(
        &self,
        motion: &RobotMotion,
        frame: usize,
        next: usize,
        warnings: &mut Warnings,
    ) -> Vec<(Transform, Vec<f64>)> {
        let most = (LONGEST_LEAD * motion.rate) as usize;
        let mut frames = self.frames;
        loop {
            let straight = self.values_of(frames, motion, [frame, next], &vec![0.0; self.pose.len()]);
            let ends = [self.pose, motion.values(frame)];
            let detour = self.body.as_ref().and_then(|body| {
                body.detour(ends, straight.clone(), |aside| {
                    self.values_of(frames, motion, [frame, next], aside)
                })
            });
            let (values, collision) = detour.unwrap_or((straight, None));
            if frames >= most || !self.is_too_fast(&values, motion, [frame, next]) {
                if let Some(message) = collision {
                    warnings.add("robot-lead-collision", message, format!("frame {frame}"));
                }
                return self.bases_of(&values, motion, [frame, next]).into_iter().zip(values).collect();
            }
            frames += frames.div_ceil(LONGER);
        }
    }

    /// Whether a hinge is faster on the way to `frame` than its file allows and than it is beyond it.
    fn is_too_fast(&self, made: &[Vec<f64>], motion: &RobotMotion, [frame, next]: [usize; 2]) -> bool {
        let rows: Vec<&[f64]> = made.iter().map(Vec::as_slice).chain([motion.values(frame)]).collect();
        self.robot.hinges.iter().enumerate().any(|(k, hinge)| {
            let beyond = (motion.values(next)[k] - motion.values(frame)[k]).abs();
            let most = hinge.speed.map_or(f64::INFINITY, |speed| (speed / motion.rate).max(beyond));
            rows.windows(2).any(|pair| (pair[1][k] - pair[0][k]).abs() > most * ROUNDING)
        })
    }

    /// The values of the hinges in a lead of so many frames, without the frame at which it arrives; in its middle they are by `aside`
    /// elsewhere than on the shortest way.
    fn values_of(
        &self,
        frames: usize,
        motion: &RobotMotion,
        [frame, next]: [usize; 2],
        aside: &[f64],
    ) -> Vec<Vec<f64>> {
        let [to, beyond] = [frame, next].map(|frame| motion.values(frame));
        let value = |hinge: usize, k: usize| {
            let (from, to, beyond) = (self.pose[hinge], to[hinge], beyond[hinge]);
            let value = between(from, to, beyond - to, k, frames) + aside[hinge] * middle(k, frames);
            // Inside the range, or as far outside as either end is.
            let [low, high] = self.robot.hinges[hinge].range.unwrap_or([f64::MIN, f64::MAX]);
            value.clamp(low.min(from).min(to), high.max(from).max(to))
        };
        let at = |k: usize| (0..self.robot.hinges.len()).map(|hinge| value(hinge, k)).collect();
        (0..frames).map(at).collect()
    }

    /// The base in a lead with these values of the hinges.
    fn bases_of(&self, rows: &[Vec<f64>], motion: &RobotMotion, [frame, next]: [usize; 2]) -> Vec<Transform> {
        let (to, beyond) = (motion.base[frame], motion.base[next]);
        let stands = self.standing(&to);
        let deviation = |q: &Quat| log(&(stands.rotation.inverse() * q));
        let deviations = [deviation(&to.rotation), deviation(&beyond.rotation)];
        let at = |(k, values): (usize, &Vec<f64>)| {
            let vector = |a: Vec3, b: Vec3, change: Vec3| {
                Vec3::from_fn(|i, _| between(a[i], b[i], change[i], k, rows.len()))
            };
            let rotation =
                stands.rotation * exp(&vector(Vec3::zeros(), deviations[0], deviations[1] - deviations[0]));
            let change = beyond.translation - to.translation;
            let translation = vector(stands.translation, to.translation, change);
            let mut base = Transform { rotation, translation };
            base.translation.z -= self.lowest(&base, values).min(0.0);
            base
        };
        rows.iter().enumerate().map(at).collect()
    }

    /// Where the base is in the default pose: upright below a base, soles on the floor.
    fn standing(&self, at: &Transform) -> Transform {
        let file = self.robot.links.first().map_or_else(Transform::identity, |link| link.parent_from_link);
        let front = at.rotation * (file.rotation.inverse() * Vec3::x());
        let up = at.rotation * (file.rotation.inverse() * Vec3::z());
        // Of a body that lies, the head's or the feet's direction is its heading.
        let level = [front, -up].into_iter().find(|v| libm::hypot(v.x, v.y) > LEVEL).unwrap_or(front);
        let rotation = exp(&(Vec3::z() * libm::atan2(level.y, level.x))) * file.rotation;
        let translation = Vec3::new(at.translation.x, at.translation.y, file.translation.z);
        let mut base = Transform { rotation, translation };
        if self.body.is_some() {
            base.translation.z -= self.lowest(&base, self.pose);
        }
        base
    }

    /// The height of the lowest corner of a sole; 0 for a robot without feet.
    fn lowest(&self, base: &Transform, values: &[f64]) -> f64 {
        let Some(body) = &self.body else { return 0.0 };
        let links = self.robot.links_in_world(*base, values);
        body.soles().iter().map(|sole| sole.lowest(&links[sole.link], |p| p.z)).fold(f64::MAX, f64::min)
    }
}

/// Frame `k` of the `frames` on a way from `a` to `b` (cubic Hermite): at rest in the default pose, with the motion's velocity, a change
/// by `change` in a frame, at its frame.
fn between(a: f64, b: f64, change: f64, k: usize, frames: usize) -> f64 {
    let steps = frames as f64;
    let t = k as f64 / steps;
    let (t2, t3) = (t * t, t * t * t);
    a + (b - a) * (3.0 * t2 - 2.0 * t3) + change * steps * (t3 - t2)
}
