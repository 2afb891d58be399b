//! Terms of sole points for the equations, and detection of flat, low and planted feet.
//!
//! Space: model space, Y up; the source scaled to the target's legs. Units: metres; speeds in leg lengths per second.

use super::equations::SolePoint;
use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, LimbPositions, distinct_poses};
use super::settings::Settings;
use super::timeline::{PLANTED_SPEED, TOGETHER, Timeline};
use super::treadmill::belt;
use crate::contacts::{FLOOR_PERCENTILE, Footing, NEAR_FLOOR, dips_of_feet};
use crate::math::{Quat, Vec3, median, percentile};
use crate::parallel;
use std::ops::Range;

/// Speed (leg lengths per second) and height (leg lengths) of the sole below which a foot may touch the ground: those of the
/// loosest contact labels. With the limits of a planted foot, feet that are labelled as contacts get their tilt back, and when
/// their sliding is removed their jerk is up to 2.1 times the source's instead of 1.9 (raylib's walk, 8Walk on KayKit's manny).
const TOUCHING: [f64; 2] = [0.4, 0.06];

/// When a foot is in contact with the ground, by frame.
#[derive(Debug)]
pub struct FootContact {
    /// Whether it is planted on the ground on which it is flat.
    pub planted: Vec<bool>,
    /// Whether it may touch the ground, or any surface below.
    pub touching: Vec<bool>,
}

/// The trajectory of a point of the scaled source's sole, and the deviation of the target's while its ankle is at the goal.
struct SoleTrajectory {
    positions: Vec<Vec3>,
    misfit: Vec<Vec3>,
}

/// Ground contact of the feet of the scaled source.
#[derive(Debug)]
pub struct SourceFeet {
    /// Whether each foot is flat on the ground, by leg and frame.
    pub flat: Vec<Vec<bool>>,
    /// Whether each foot can stand on the floor, by leg and frame: [`Footing::can_stand`].
    can_stand: Vec<Vec<bool>>,
    /// Whether a frame counts in statistics over the clip: it does not repeat the one before.
    distinct: Vec<bool>,
    /// The belt velocity of a walk on a treadmill, metres per second.
    belt: Option<Vec3>,
    /// By how much each foot was lowered onto level ground, by leg and frame; empty if it was not.
    lowered: Vec<Vec<f64>>,
}

impl SourceFeet {
    /// Detects flat feet and a treadmill from the source's legs, scaled; `leg_length` is the length of the target's. No foot is
    /// flat in a frame that repeats the one before, in a short dip below the floor, or while `is_foot_lying`, by leg and frame
    /// ([`LimbPose::foot_lies`]): its joints are as low then.
    pub fn of(
        time: &Timeline,
        poses: &[Vec<LimbPositions>],
        (legs, is_foot_lying): (&[&LimbChain], &dyn Fn(usize, usize) -> bool),
        footing: &Footing,
        leg_length: f64,
        settings: &Settings,
    ) -> Self {
        let frames_of_leg =
            |chain: &&LimbChain| (0..time.frames).map(|f| footing.can_stand(chain.side, f)).collect();
        let can_stand: Vec<Vec<bool>> = legs.iter().map(frames_of_leg).collect();
        let distinct = distinct_poses(poses);
        let dips = dips(time, poses, leg_length);
        let among = |counted: &[Vec<bool>]| Self::among(counted, time, poses, legs, leg_length, settings);
        let frames_that = |are_counted: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<bool>> {
            let of_leg = |leg_index: usize| {
                (0..time.frames).map(|f| distinct[f] && !dips[f] && are_counted(leg_index, f)).collect()
            };
            (0..legs.len()).map(of_leg).collect()
        };
        let mut counted = frames_that(&|leg_index, f| !is_foot_lying(leg_index, f));
        let mut found = among(&counted);
        // A body that lies or kneels throughout has no other feet.
        if !found.flat.iter().flatten().any(|flat| *flat) {
            counted = frames_that(&|_, _| true);
            found = among(&counted);
        }
        let flat_in_air = |(flat, can_stand): (&Vec<bool>, &Vec<bool>)| {
            flat.iter().zip(can_stand).any(|(flat, can_stand)| *flat && !can_stand)
        };
        // Feet in the air say nothing about the ground of those that stand.
        let found = match found.flat.iter().zip(&can_stand).any(flat_in_air) {
            true => {
                let both = |(can_stand, counted): (&Vec<bool>, &Vec<bool>)| {
                    can_stand.iter().zip(counted).map(|(stands, counts)| *stands && *counts).collect()
                };
                among(&can_stand.iter().zip(&counted).map(both).collect::<Vec<Vec<bool>>>())
            }
            false => found,
        };
        Self { can_stand, distinct, ..found }
    }

    /// The same, among these frames of each leg.
    fn among(
        counted: &[Vec<bool>],
        time: &Timeline,
        poses: &[Vec<LimbPositions>],
        legs: &[&LimbChain],
        leg_length: f64,
        settings: &Settings,
    ) -> Self {
        let lowest = |of: &(dyn Fn(&LimbPositions) -> f64 + Sync)| {
            let counted =
                poses.iter().flatten().zip(counted.iter().flatten()).filter(|(_, counted)| **counted);
            let all: Vec<f64> = counted.map(|(pose, _)| of(pose)).collect();
            percentile(&all, FLOOR_PERCENTILE)
        };
        let (ankles, toes) = parallel::join(|| lowest(&|pose| pose.ankle.y), || lowest(&|pose| pose.toes.y));
        let heights = |chain: &LimbChain, pose: &LimbPositions| {
            let ball = chain.toes.map(|_| pose.toes.y - toes);
            [Some(pose.ankle.y - ankles), ball]
        };
        let highest_of = |chain: &LimbChain, pose: &LimbPositions| {
            heights(chain, pose).into_iter().flatten().fold(f64::NEG_INFINITY, f64::max)
        };
        let lowest_of = |chain: &LimbChain, pose: &LimbPositions| {
            heights(chain, pose).into_iter().flatten().fold(f64::INFINITY, f64::min)
        };
        let unknowns = time.unknowns();
        let flat = poses.iter().zip(legs).zip(counted).map(|((poses, chain), counted)| {
            let flat = |(f, pose): (usize, &LimbPositions)| {
                counted[f] && f < unknowns && highest_of(chain, pose) < settings.flat_band * leg_length
            };
            poses.iter().enumerate().map(flat).collect()
        });
        let mut ground_velocities = Vec::new();
        for ((poses, chain), counted) in poses.iter().zip(legs).zip(counted) {
            let is_near_floor =
                |f: usize| counted[f] && lowest_of(chain, &poses[f]) < NEAR_FLOOR * leg_length;
            let velocity = |f: usize| (poses[f + 1].toes - poses[f].toes) / (time.dt * leg_length);
            ground_velocities
                .extend(time.edges().filter(|f| is_near_floor(*f) && is_near_floor(f + 1)).map(velocity));
        }
        let pelvis = |f: usize| poses.iter().map(|pose| pose[f].hip).sum::<Vec3>() / poses.len() as f64;
        let counted = (0..time.frames).filter(|f| counted.iter().any(|counted| counted[*f])).count();
        let seconds = counted.saturating_sub(1).max(1) as f64 * time.dt;
        let travels = (pelvis(time.frames - 1) - pelvis(0)) / (seconds * leg_length);
        let belt = belt(&ground_velocities, &travels).map(|v| v * leg_length);
        Self { flat: flat.collect(), can_stand: Vec::new(), distinct: Vec::new(), belt, lowered: Vec::new() }
    }

    /// With no foot flat in these frames.
    pub fn without(mut self, shots: &[Range<usize>]) -> Self {
        self.flat.iter_mut().for_each(|flat| shots.iter().for_each(|shot| flat[shot.clone()].fill(false)));
        self
    }

    /// Sets how far each foot was lowered onto level ground, by leg and frame, so that speeds are measured without that.
    pub fn lowered(self, lowered: Vec<Vec<f64>>) -> Self {
        Self { lowered, ..self }
    }

    /// The values of the frames that do not repeat the one before.
    pub fn distinct<'a, T>(&self, values: &'a [T]) -> impl Iterator<Item = &'a T> {
        values.iter().zip(&self.distinct).filter(|(_, distinct)| **distinct).map(|(value, _)| value)
    }

    /// The up direction in the space of the foot of leg `leg_index` while it is flat; `None` if it never is. `poses` may be those of
    /// either body.
    pub fn up(&self, leg_index: usize, poses: &[LimbPose]) -> Option<Vec3> {
        self.up_while_flat(leg_index, poses.iter().map(|pose| *pose.foot_rotation()))
    }

    /// The up direction in the space of a joint with these rotations while foot `leg_index` is flat; `None` if it never is.
    pub fn up_while_flat(&self, leg_index: usize, rotations: impl Iterator<Item = Quat>) -> Option<Vec3> {
        let flat = rotations.zip(&self.flat[leg_index]).filter(|(_, flat)| **flat);
        flat.map(|(q, _)| q.inverse() * Vec3::y()).sum::<Vec3>().try_normalize(1e-9)
    }

    /// The speed of a point over every edge, relative to the world or the belt, whichever is lower, leg lengths per second.
    pub fn speed(&self, time: &Timeline, at: &[Vec3], leg_length: f64, settings: &Settings) -> Vec<f64> {
        let mut speeds = time.speeds(|f| at[f], settings.speed_window);
        if let Some(belt) = self.belt {
            let against = time.speeds(|f| at[f] - belt * (time.dt * f as f64), settings.speed_window);
            speeds.iter_mut().zip(against).for_each(|(v, b)| *v = v.min(b));
        }
        speeds.iter_mut().for_each(|v| *v /= leg_length);
        speeds
    }

    /// The points of the sole of leg `leg_index`, and when it is in contact with the ground. `source` has the positions of the scaled
    /// source's leg, `direct_poses` the transforms of the direct transfer's; `ratio` is the scale between the bodies,
    /// `leg_length` the length of the target's leg.
    pub fn points(
        &self,
        leg_index: usize,
        time: &Timeline,
        source: (&[LimbPositions], &LimbChain),
        direct_poses: (&[LimbPose], &LimbChain),
        (ratio, leg_length): (f64, f64),
        settings: &Settings,
    ) -> (Vec<SolePoint>, FootContact) {
        let mut sole = self.sole(leg_index, source, direct_poses, ratio);
        let heights = self.heights(leg_index, &sole);
        let lowered = self.lowered.get(leg_index).filter(|lowered| !lowered.is_empty());
        let speed = |track: &SoleTrajectory| match lowered {
            None => self.speed(time, &track.positions, leg_length, settings),
            Some(lowered) => {
                let at = track.positions.iter().zip(lowered).map(|(at, by)| at + Vec3::y() * *by);
                self.speed(time, &at.collect::<Vec<Vec3>>(), leg_length, settings)
            }
        };
        let speeds: Vec<Vec<f64>> = sole.iter().map(speed).collect();
        // Frees memory that is large for a long take.
        sole.iter_mut().for_each(|track| track.positions = Vec::new());
        let can_stand = &self.can_stand[leg_index];
        let is_touching = |f: usize| {
            can_stand[f] && slower(&speeds, f, TOUCHING[0]) && lowest(&heights, f) < TOUCHING[1] * leg_length
        };
        let is_planted = |f: usize| {
            can_stand[f]
                && slower(&speeds, f, PLANTED_SPEED)
                && lowest(&heights, f).abs() < NEAR_FLOOR * leg_length
        };
        let (planted, touching) = (0..time.frames).map(|f| (is_planted(f), is_touching(f))).unzip();
        let contact = FootContact { planted, touching };
        let ground = surface_heights(time, &heights, &speeds);
        let point = |((track, point_heights), speed): ((&SoleTrajectory, &Vec<f64>), Vec<f64>)| {
            let misfit = &track.misfit;
            let constant = match self.flat[leg_index].contains(&true) {
                true => self.height_while_flat(leg_index, misfit),
                false => 0.0,
            };
            let misfit = parallel::map_each(misfit, TOGETHER, |q| q - Vec3::y() * constant);
            let nearness = |f: usize| {
                let above =
                    ((point_heights[f] - ground[f]).max(0.0) / (settings.ground_band * leg_length)).powi(2);
                let higher =
                    ((point_heights[f] - lowest(&heights, f)) / (settings.sole_band * leg_length)).powi(2);
                libm::exp(-0.5 * (above + higher))
            };
            SolePoint { misfit, speed, nearness: parallel::map(time.frames, 64, nearness) }
        };
        (sole.iter().zip(&heights).zip(speeds).map(point).collect(), contact)
    }

    /// The trajectories of heel and ball of leg `leg_index`, as far as they are known.
    fn sole(
        &self,
        leg_index: usize,
        (source, from): (&[LimbPositions], &LimbChain),
        (direct_poses, to): (&[LimbPose], &LimbChain),
        ratio: f64,
    ) -> Vec<SoleTrajectory> {
        let ankle = |f: usize| source[f].ankle;
        let frames = 0..source.len();
        // The only point of a foot that is never flat is its ankle.
        let Some(up) = self.up(leg_index, direct_poses) else {
            let misfit = vec![Vec3::zeros(); source.len()];
            return vec![SoleTrajectory { positions: frames.map(ankle).collect(), misfit }];
        };
        // The heel is below the ankle.
        let heights = [ratio * from.ankle, to.ankle];
        let down = |f: usize| -(direct_poses[f].foot_rotation() * up);
        let positions = frames.clone().map(|f| ankle(f) + down(f) * heights[0]).collect();
        let misfit = frames.clone().map(|f| down(f) * (heights[1] - heights[0])).collect();
        let mut sole = vec![SoleTrajectory { positions, misfit }];
        let ball = |pose: LimbPositions| pose.toes - pose.ankle;
        // The ball is the toe joint; if one body has none, that of the other serves both.
        let of = |f: usize| match (from.toes, to.toes) {
            (Some(_), Some(_)) => Some((ball(source[f]), ball(direct_poses[f].positions()))),
            (Some(_), None) => Some((ball(source[f]), ball(source[f]))),
            (None, Some(_)) => Some((ball(direct_poses[f].positions()), ball(direct_poses[f].positions()))),
            (None, None) => None,
        };
        if let Some(balls) = frames.clone().map(of).collect::<Option<Vec<_>>>() {
            let positions = frames.clone().map(|f| ankle(f) + balls[f].0).collect();
            let misfit = frames.clone().map(|f| balls[f].1 - balls[f].0).collect();
            sole.push(SoleTrajectory { positions, misfit });
        }
        sole
    }

    /// The heights of the points of a sole above their level while the foot is flat, by point and frame.
    fn heights(&self, leg_index: usize, sole: &[SoleTrajectory]) -> Vec<Vec<f64>> {
        let above = |track: &SoleTrajectory| {
            let level = self.height_while_flat(leg_index, &track.positions);
            parallel::map_each(&track.positions, TOGETHER, |p| p.y - level)
        };
        sole.iter().map(above).collect()
    }

    /// The height of a point while foot `leg_index` is flat; of a foot that never is, its lowest.
    fn height_while_flat(&self, leg_index: usize, values: &[Vec3]) -> f64 {
        let flat: Vec<f64> =
            values.iter().zip(&self.flat[leg_index]).filter(|(_, flat)| **flat).map(|(v, _)| v.y).collect();
        match flat.is_empty() {
            true => percentile(&self.distinct(values).map(|v| v.y).collect::<Vec<_>>(), FLOOR_PERCENTILE),
            false => median(flat),
        }
    }
}

/// Frames in which ankle or toes of the lower leg are in the floor ([`dips_of_feet`]).
fn dips(time: &Timeline, poses: &[Vec<LimbPositions>], leg_length: f64) -> Vec<bool> {
    let heights = |poses: &Vec<LimbPositions>| -> [Vec<f64>; 2] {
        let of = |at: &dyn Fn(&LimbPositions) -> f64| poses.iter().map(at).collect();
        [of(&|s| s.ankle.y), of(&|s| s.toes.y)]
    };
    let feet: Vec<[Vec<f64>; 2]> = poses.iter().map(heights).collect();
    let [ankles, toes] = dips_of_feet(&feet, &time.shots(), leg_length, time.dt.recip());
    ankles.into_iter().zip(toes).map(|(ankle, toes)| ankle || toes).collect()
}

/// Whether one of several points is slower than this before and after a frame, by its speed over every edge.
fn slower(speeds: &[Vec<f64>], f: usize, limit: f64) -> bool {
    let edges = [f.checked_sub(1), Some(f)].into_iter().flatten();
    let slow = |p: &Vec<f64>| edges.clone().filter_map(|e| p.get(e)).all(|v| *v < limit);
    speeds.iter().any(slow)
}

/// The height of the lower one of several points in a frame.
fn lowest(heights: &[Vec<f64>], f: usize) -> f64 {
    heights.iter().map(|h| h[f]).fold(f64::INFINITY, f64::min)
}

/// The height of the surface under a foot in every frame, above that of the ground where it is flat: while planted, the foot's
/// height; between stances, the lower of the two neighbours, not across a cut; 0 for a foot that is never planted.
fn surface_heights(time: &Timeline, heights: &[Vec<f64>], speeds: &[Vec<f64>]) -> Vec<f64> {
    let resting: Vec<Option<f64>> =
        (0..time.frames).map(|f| slower(speeds, f, PLANTED_SPEED).then(|| lowest(heights, f))).collect();
    let mut surface = vec![f64::INFINITY; time.frames];
    let mut last = None;
    for f in 0..time.frames {
        last = resting[f].or(if f > 0 && time.is_cut[f - 1] { None } else { last });
        surface[f] = last.unwrap_or(f64::INFINITY);
    }
    last = None;
    for f in (0..time.frames).rev() {
        last = resting[f].or(if time.is_cut.get(f) == Some(&true) { None } else { last });
        let height = resting[f].unwrap_or(surface[f].min(last.unwrap_or(f64::INFINITY)));
        surface[f] = if height.is_finite() { height } else { 0.0 };
    }
    surface
}
