//! Reduced tilt for feet much longer than the source's, so that an ankle rises over the planted ball as much as the source's,
//! scaled. Where such a foot is clear of the floor, it has its tilt back.
//!
//! The tilt `phi` of a foot from flat is changed to `phi - (1 - f) phi s(phi)`; `f` is the ratio of forefoot lengths over that of
//! leg lengths, 1 for feet up to 49 % longer; `s` falls from 1 at 45 degrees to 0 at 100, so that feet of bodies that lie or
//! kneel keep their tilt. Toes tilt less in the same proportion, by their own tilt: toes that lie on the ground while the heel rises
//! stay there. Space: model space, Y up. Units: radians.

use super::envelope::envelope;
use super::leg_pair::LegPair;
use super::limb_pose::{FootDelta, LimbPose};
use super::settings::Settings;
use super::soles::SourceFeet;
use super::timeline::Timeline;
use super::toes::{SoleHeights, toe_rotations};
use crate::math::{DEGREE, Quat, Vec3, angle_between, arc, exp, log, smoothstep};
use crate::model::JointId;
use crate::parallel;

/// Tilts, radians, up to which a foot stands or rolls off and from which it lies: toes that point down have 100 degrees. In a
/// narrower interval the foot would rotate at more than twice the source's speed.
const LIES: [f64; 2] = [45.0 * DEGREE, 100.0 * DEGREE];

/// Lengths of the source's forefoot relative to the target's below which a foot tilts less in full, and from which it keeps
/// its tilt. With 0.4 and 0.65 the p90 of foot rotations in the air is 0.5 degrees off the take's instead of 2.9 (175 pairs),
/// but the jerk of knees 1.33 times the take's instead of 1.30 and the largest knee error 8.0 degrees instead of 7.9; with 0.5
/// and 0.75 rotations are 4.9 degrees off, with 0.5 and 0.67 2.4.
const LONG: [f64; 2] = [0.5, 0.67];

/// Time over which a foot has its tilt back before and after it is clear of the floor, seconds. With half of it feet rotate by
/// up to 6 degrees per frame more than the take's at 30 Hz (raylib's walk on KayKit's manny) instead of 3.
const RETURN_TIME: f64 = 0.05;

/// The delta rotations of feet that are much longer than the source's, and of their toes, by leg and frame; empty for other feet,
/// which keep the rotation of the direct transfer. `ratio` is that of leg lengths.
pub fn foot_deltas(
    feet: &SourceFeet,
    direct_poses: &[Vec<LimbPose>],
    pairs: &[LegPair],
    ratio: f64,
) -> Vec<Vec<FootDelta>> {
    let of_leg = |(k, pair): (usize, &LegPair)| {
        let LegPair { source, target, .. } = pair;
        let share = ratio * source.forefoot / target.forefoot.max(1e-9);
        let share = share + (1.0 - share) * smoothstep((share - LONG[0]) / (LONG[1] - LONG[0]));
        let Some(up) = feet.up(k, &direct_poses[k]).filter(|_| source.forefoot > 0.0 && share < 1.0) else {
            return Vec::new();
        };
        let toes_up =
            feet.up_while_flat(k, direct_poses[k].iter().map(|pose| pose.toes.rotation)).unwrap_or(up);
        let delta = |pose: &LimbPose| FootDelta {
            foot: foot_tilt(&(pose.foot_rotation() * up), share),
            toes: foot_tilt(&(pose.toes.rotation * toes_up), share),
        };
        parallel::map_each(&direct_poses[k], 64, delta)
    };
    pairs.iter().enumerate().map(of_leg).collect()
}

/// The delta rotation of a foot about its ankle. `up` is the direction of the foot that is vertical while it is flat; `share`
/// is the length of the source's forefoot relative to the target's. The identity for 1 and more.
fn foot_tilt(up: &Vec3, share: f64) -> Quat {
    let tilt = angle_between(up, &Vec3::y());
    let Some(axis) = up.cross(&Vec3::y()).try_normalize(1e-9) else { return Quat::identity() };
    let stands = 1.0 - smoothstep((tilt - LIES[0]) / (LIES[1] - LIES[0]));
    exp(&(axis * ((1.0 - share).max(0.0) * tilt * stands)))
}

/// Bisection steps for an angle: to a hundredth of a degree.
const BISECTIONS: usize = 13;

/// A leg whose foot is much longer than the source's, when the trajectory of its ankle is known.
pub struct LongFoot<'a> {
    /// The leg.
    pub pair: &'a LegPair,
    /// Its poses in the direct transfer, with the delta rotations of [`foot_deltas`].
    pub poses: Vec<LimbPose>,
    /// Whether the source's foot touches the ground, by frame.
    pub touching: Vec<bool>,
    /// The length of the legs.
    pub leg_length: f64,
}

impl LongFoot<'_> {
    /// Restores the foot's tilt (shrinks `deltas`) in frames in which the foot then stays clear of the floor. Returns the delta
    /// rotations of the toes, which bend towards level rather than touch the floor. The ankle stays at `ankles`, and the knee with
    /// it; `toe_up` is the up direction in the space of the toes while the foot is flat.
    pub fn give_back(
        mut self,
        deltas: &mut [FootDelta],
        time: &Timeline,
        ankles: &[Vec3],
        toe_up: Option<Vec3>,
        settings: &Settings,
    ) -> Vec<Quat> {
        let tolerance = settings.penetration * self.leg_length;
        let smallest_angles = |f: usize| {
            let height =
                |delta: &FootDelta| self.lowest(&self.poses[f].with_foot_tilted(delta), toe_up) + ankles[f].y;
            self.least(f, &deltas[f], |delta| height(delta) - tolerance)
        };
        let smallest_angles: Vec<f64> = parallel::map(time.unknowns(), 64, smallest_angles);
        let angles = envelope(&smallest_angles, &time.is_cut, time.cycle, time.reach(RETURN_TIME));
        let mut poses: Vec<_> = self.poses.iter_mut().zip(deltas).collect();
        parallel::for_each(&mut poses, 64, |f, (pose, delta)| {
            let (kept_angle, full_angle) = (angles[time.unknown(f)], log(&delta.foot).norm());
            if kept_angle < full_angle {
                **pose = pose.with_foot_tilted(&delta.times(kept_angle / full_angle - 1.0));
                **delta = delta.times(kept_angle / full_angle);
            }
        });
        let mut soles = SoleHeights::of(self.pair, &self.poses);
        let Some(up) = toe_up.filter(|_| !soles.is_empty() && self.pair.target.toes.is_some()) else {
            return Vec::new();
        };
        toe_rotations(time, self.pair, &mut soles, &up, |f| ankles[f].y, self.leg_length, settings)
    }

    /// The smallest angle of the delta rotation `reduced` of a frame that keeps the foot clear of the floor; the full angle while the
    /// source's foot touches the ground. `clear` is the clearance after an additional delta rotation.
    fn least(&self, f: usize, reduced: &FootDelta, clear: impl Fn(&FootDelta) -> f64) -> f64 {
        let full_angle = log(&reduced.foot).norm();
        let (mut in_floor, mut clear_of_floor) = (0.0, full_angle);
        if self.touching[f] || clear_of_floor < 1e-9 {
            return clear_of_floor;
        }
        let clear = |kept_angle: f64| clear(&reduced.times(kept_angle / full_angle - 1.0)) >= 0.0;
        if clear(in_floor) {
            return in_floor;
        }
        for _ in 0..if clear(clear_of_floor) { BISECTIONS } else { 0 } {
            let middle = 0.5 * (in_floor + clear_of_floor);
            if clear(middle) { clear_of_floor = middle } else { in_floor = middle }
        }
        clear_of_floor
    }

    /// The lowest height of the foot in a pose, relative to the ankle, with toes that point down rotated to level.
    fn lowest(&self, pose: &LimbPose, toe_up: Option<Vec3>) -> f64 {
        let target = &self.pair.target;
        let toe_up = toe_up.map(|up| arc(&(pose.toes.rotation * up), &Vec3::y(), &Vec3::x()));
        let low = |pose: &LimbPose, toes: bool| {
            let height = |joint: JointId, at: &Vec3| {
                let own = (Some(joint) == target.toes) == toes;
                if own { pose.sole(target, joint, at).y } else { f64::INFINITY }
            };
            // The soles of a body without a skin are estimated.
            let skin = self.pair.skin.iter().map(|(joint, at)| height(*joint, at));
            let soles = target.soles.iter().filter(|_| self.pair.skin.is_empty());
            skin.chain(soles.map(|(_, joint, at)| height(*joint, at))).fold(f64::INFINITY, f64::min)
        };
        let toes = low(pose, true);
        let toes = toe_up.map_or(toes, |toe_up| toes.max(low(&pose.with_toes_rotated(&toe_up), true)));
        low(pose, false).min(toes) - pose.foot.translation.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toes_on_the_floor_stay_there_while_the_heel_rises() {
        let long = |degrees: f64| {
            let tilt = |degrees: f64| foot_tilt(&(exp(&(Vec3::x() * degrees.to_radians())) * Vec3::y()), 0.5);
            FootDelta { foot: tilt(degrees), toes: tilt(0.0) }
        };
        let heel_off = long(30.0);
        assert!(
            (log(&heel_off.foot).x.to_degrees() + 15.0).abs() < 1e-6 && heel_off.toes == Quat::identity()
        );
        let toes = crate::math::Transform::new(Quat::identity(), Vec3::new(0.0, -0.05, 0.1));
        let at = crate::math::Transform::new(exp(&(Vec3::x() * 30.0_f64.to_radians())), Vec3::zeros());
        let pose = LimbPose { upper: at, lower: at, foot: at, toes };
        let rolled = pose.with_foot_tilted(&heel_off);
        assert_eq!(rolled.toes.rotation, toes.rotation);
        // Their joint moves with the foot.
        let joint = |pose: &LimbPose| pose.foot.inverse().point(&pose.toes.translation);
        assert!((joint(&rolled) - joint(&pose)).norm() < 1e-12);
        let half = heel_off.times(0.5);
        assert!((log(&half.foot).x.to_degrees() + 7.5).abs() < 1e-6);
    }

    #[test]
    fn a_sole_twice_as_long_tilts_half_as_much() {
        let up = |degrees: f64| exp(&(Vec3::new(0.6, 0.0, 0.8) * degrees.to_radians())) * Vec3::y();
        for degrees in [0.0, 5.0, 20.0, 44.0] {
            let left = angle_between(&(foot_tilt(&up(degrees), 0.5) * up(degrees)), &Vec3::y());
            assert!((left.to_degrees() - 0.5 * degrees).abs() < 1e-6, "{degrees}");
            assert_eq!(foot_tilt(&up(degrees), 1.1), Quat::identity());
        }
        assert_eq!(foot_tilt(&up(120.0), 0.5), Quat::identity(), "a foot that lies stays");
        let tilts: Vec<f64> = (0..180)
            .map(|d| angle_between(&(foot_tilt(&up(d.into()), 0.3) * up(d.into())), &Vec3::y()))
            .collect();
        assert!(tilts.windows(2).all(|w| w[0] <= w[1]), "what tilts more is left with more");
    }
}
