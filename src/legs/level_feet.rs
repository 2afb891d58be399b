//! Maps feet on uneven ground to level ground and back.
//!
//! Soles are solved on level ground: heights are those above the plane under each foot, and feet are rotated with that plane. The
//! resulting rotations are rotated back. On level ground nothing is rotated and no bit changes. Space: model space, Y up. Units:
//! metres.

use super::leg_pair::LegPair;
use super::limb_pose::{FootDelta, LimbPose, LimbPositions};
use crate::contacts::Footing;
use crate::math::{Quat, Vec3, arc};
use std::borrow::Cow;

/// The ground under an ankle in a frame: a point of its plane, and the direction away from it.
#[derive(Clone, Copy, Debug)]
pub struct GroundUnderFoot {
    /// The point below the goal of the ankle.
    pub at: Vec3,
    up: Vec3,
}

impl GroundUnderFoot {
    /// The ground under the ankles of the scaled source, by leg and frame; empty on level ground. Displaces the source so that the
    /// lowest of it is at height 0.
    pub fn of_all(
        footing: &Footing,
        pairs: &[LegPair],
        scaled: &mut [Vec<LimbPositions>],
        ratio: f64,
    ) -> Vec<Vec<GroundUnderFoot>> {
        let Some(ground) = &footing.uneven else { return vec![Vec::new(); pairs.len()] };
        scaled.iter_mut().flatten().for_each(|pose| {
            let points = [&mut pose.hip, &mut pose.knee, &mut pose.ankle, &mut pose.toes];
            points.into_iter().for_each(|p| p.y -= ratio * ground.base);
        });
        let of_leg = |(pair, poses): (&LegPair, &Vec<LimbPositions>)| {
            let side = pair.source.side;
            let under = |(f, pose): (usize, &LimbPositions)| {
                let at = pose.ankle;
                let height = ratio * ground.height(side, f, &(at / ratio));
                GroundUnderFoot { at: Vec3::new(at.x, height, at.z), up: ground.up(side, f) }
            };
            poses.iter().enumerate().map(under).collect()
        };
        pairs.iter().zip(scaled.iter()).map(of_leg).collect()
    }

    /// The rotation from level ground.
    fn tilt(&self) -> Quat {
        arc(&Vec3::y(), &self.up, &Vec3::x())
    }

    /// A delta rotation that was found on level ground.
    fn tilted(&self, delta: &Quat) -> Quat {
        let tilt = self.tilt();
        tilt * delta * tilt.inverse()
    }
}

/// The height of an ankle above the ground under it: above height 0 on level ground.
pub fn above_ground(under: &[GroundUnderFoot], frame: usize, ankle: &Vec3) -> f64 {
    under.get(frame).map_or(ankle.y, |ground| ground.up.dot(&(ankle - ground.at)))
}

/// The source's legs on level ground, rotated about their ankles; `None` if the ground is level.
pub fn levelled(
    under: &[Vec<GroundUnderFoot>],
    scaled: &[Vec<LimbPositions>],
) -> Option<Vec<Vec<LimbPositions>>> {
    let of_leg = |(under, poses): (&Vec<GroundUnderFoot>, &Vec<LimbPositions>)| {
        let of = |(f, (ground, pose)): (usize, (&GroundUnderFoot, &LimbPositions))| {
            let (level, at) = (ground.tilt().inverse(), pose.ankle);
            let ankle = Vec3::new(at.x, above_ground(under, f, &at), at.z);
            let about = |p: &Vec3| ankle + level * (p - at);
            LimbPositions { hip: about(&pose.hip), knee: about(&pose.knee), ankle, toes: about(&pose.toes) }
        };
        under.iter().zip(poses).enumerate().map(of).collect()
    };
    under.iter().any(|own| !own.is_empty()).then(|| under.iter().zip(scaled).map(of_leg).collect())
}

/// By how much the ankles of the source are lowered onto level ground, by leg and frame.
pub fn lowered(under: &[Vec<GroundUnderFoot>], scaled: &[Vec<LimbPositions>]) -> Vec<Vec<f64>> {
    let of_leg = |(under, poses): (&Vec<GroundUnderFoot>, &Vec<LimbPositions>)| {
        let own = under.iter().zip(poses).enumerate();
        own.map(|(f, (_, pose))| pose.ankle.y - above_ground(under, f, &pose.ankle)).collect()
    };
    under.iter().zip(scaled).map(of_leg).collect()
}

/// Rotates the feet of the direct transfer, about their ankles, as if the ground were level.
pub fn level_feet(under: &[Vec<GroundUnderFoot>], direct_poses: &mut [Vec<LimbPose>]) {
    for (under, poses) in under.iter().zip(direct_poses) {
        let of = |(pose, ground): (&mut LimbPose, &GroundUnderFoot)| {
            *pose = pose.with_foot_rotated(&ground.tilt().inverse());
        };
        poses.iter_mut().zip(under).for_each(of);
    }
}

/// The ankles of a leg at their heights above the ground.
pub fn on_level_ground<'a>(under: &[GroundUnderFoot], ankles: &'a [Vec3]) -> Cow<'a, [Vec3]> {
    let level = |(f, at): (usize, &Vec3)| Vec3::new(at.x, above_ground(under, f, at), at.z);
    if under.is_empty() { ankles.into() } else { ankles.iter().enumerate().map(level).collect() }
}

/// Rotates deviations that were found on level ground back to the ground under the foot, and adds displacements.
pub fn displace(under: &[GroundUnderFoot], by: &[Vec3], offsets: &mut [Vec3]) {
    offsets.iter_mut().zip(under).for_each(|(offset, ground)| *offset = ground.tilt() * *offset);
    offsets.iter_mut().zip(by).for_each(|(offset, by)| *offset += by);
}

/// Rotates the delta rotations of feet back to the ground under them, by leg and frame.
pub fn tilt_feet_back(under: &[Vec<GroundUnderFoot>], feet: &mut [Vec<FootDelta>]) {
    for (under, deltas) in under.iter().zip(feet) {
        for (delta, ground) in deltas.iter_mut().zip(under) {
            *delta = FootDelta { foot: ground.tilted(&delta.foot), toes: ground.tilted(&delta.toes) };
        }
    }
}

/// The same of the delta rotations of toes.
pub fn tilt_toes_back(under: &[Vec<GroundUnderFoot>], toes: &mut [Vec<Quat>]) {
    for (under, deltas) in under.iter().zip(toes) {
        deltas.iter_mut().zip(under).for_each(|(delta, ground)| *delta = ground.tilted(delta));
    }
}
