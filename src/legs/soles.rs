//! Terms of sole points for the equations, and detection of flat, low and planted feet.
//!
//! Space: model space, Y up; the source scaled to the target's legs. Units: metres; speeds in leg lengths per second.

use super::equations::SolePoint;
use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, LimbPositions, distinct_poses};
use super::settings::Settings;
use super::timeline::{RESTING, TOGETHER, Timeline};
use super::treadmill::belt;
use crate::contacts::{FLOOR_PERCENTILE, Footing, NEAR_FLOOR, short_dips};
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
    at: Vec<Vec3>,
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
    /// flat in a frame that repeats the one before, for a moment in the floor, nor while it `lies`, by leg and frame
    /// ([`LimbPose::foot_lies`]): its joints are as low then.
    pub fn of(
        time: &Timeline,
        poses: &[Vec<LimbPositions>],
        (legs, lies): (&[&LimbChain], &dyn Fn(usize, usize) -> bool),
        footing: &Footing,
        leg_length: f64,
        settings: &Settings,
    ) -> Self {
        let able = |l: &&LimbChain| (0..time.frames).map(|f| footing.can_stand(l.side, f)).collect();
        let can_stand: Vec<Vec<bool>> = legs.iter().map(able).collect();
        let distinct = distinct_poses(poses);
        let dips = dips(time, poses, leg_length);
        let among = |counted: &[Vec<bool>]| Self::among(counted, time, poses, legs, leg_length, settings);
        let counted = |counts: &dyn Fn(usize, usize) -> bool| -> Vec<Vec<bool>> {
            let of_leg =
                |k: usize| (0..time.frames).map(|f| distinct[f] && !dips[f] && counts(k, f)).collect();
            (0..legs.len()).map(of_leg).collect()
        };
        let mut everywhere = counted(&|k, f| !lies(k, f));
        let mut found = among(&everywhere);
        // A body that lies or kneels throughout has no other feet.
        if !found.flat.iter().flatten().any(|flat| *flat) {
            everywhere = counted(&|_, _| true);
            found = among(&everywhere);
        }
        let in_air = |(flat, able): (&Vec<bool>, &Vec<bool>)| flat.iter().zip(able).any(|(f, a)| *f && !a);
        // Feet in the air say nothing about the ground of those that stand.
        let found = match found.flat.iter().zip(&can_stand).any(in_air) {
            true => {
                let counted = |(able, stands): (&Vec<bool>, &Vec<bool>)| {
                    able.iter().zip(stands).map(|(able, stands)| *able && *stands).collect()
                };
                among(&can_stand.iter().zip(&everywhere).map(counted).collect::<Vec<Vec<bool>>>())
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
            let able = poses.iter().flatten().zip(counted.iter().flatten()).filter(|(_, able)| **able);
            let all: Vec<f64> = able.map(|(s, _)| of(s)).collect();
            percentile(&all, FLOOR_PERCENTILE)
        };
        let (ankles, toes) = parallel::join(|| lowest(&|s| s.ankle.y), || lowest(&|s| s.toes.y));
        let heights = |chain: &LimbChain, s: &LimbPositions| {
            let ball = chain.toes.map(|_| s.toes.y - toes);
            [Some(s.ankle.y - ankles), ball]
        };
        let most = |chain: &LimbChain, s: &LimbPositions| {
            heights(chain, s).into_iter().flatten().fold(f64::NEG_INFINITY, f64::max)
        };
        let least = |chain: &LimbChain, s: &LimbPositions| {
            heights(chain, s).into_iter().flatten().fold(f64::INFINITY, f64::min)
        };
        let unknowns = time.unknowns();
        let flat = poses.iter().zip(legs).zip(counted).map(|((poses, chain), able)| {
            let flat = |(f, s): (usize, &LimbPositions)| {
                able[f] && f < unknowns && most(chain, s) < settings.flat_band * leg_length
            };
            poses.iter().enumerate().map(flat).collect()
        });
        let mut low = Vec::new();
        for ((poses, chain), able) in poses.iter().zip(legs).zip(counted) {
            let down = |f: usize| able[f] && least(chain, &poses[f]) < NEAR_FLOOR * leg_length;
            let velocity = |f: usize| (poses[f + 1].toes - poses[f].toes) / (time.dt * leg_length);
            low.extend(time.edges().filter(|f| down(*f) && down(f + 1)).map(velocity));
        }
        let middle = |f: usize| poses.iter().map(|s| s[f].hip).sum::<Vec3>() / poses.len() as f64;
        let counted = (0..time.frames).filter(|f| counted.iter().any(|counted| counted[*f])).count();
        let seconds = counted.saturating_sub(1).max(1) as f64 * time.dt;
        let travels = (middle(time.frames - 1) - middle(0)) / (seconds * leg_length);
        let belt = belt(&low, &travels).map(|v| v * leg_length);
        Self { flat: flat.collect(), can_stand: Vec::new(), distinct: Vec::new(), belt, lowered: Vec::new() }
    }

    /// With no foot flat in these frames.
    pub fn without(mut self, shots: &[Range<usize>]) -> Self {
        self.flat.iter_mut().for_each(|flat| shots.iter().for_each(|shot| flat[shot.clone()].fill(false)));
        self
    }

    /// With feet that were lowered onto level ground by this much, by leg and frame: they are not faster for that.
    pub fn lowered(self, lowered: Vec<Vec<f64>>) -> Self {
        Self { lowered, ..self }
    }

    /// The values of the frames that do not repeat the one before.
    pub fn distinct<'a, T>(&self, values: &'a [T]) -> impl Iterator<Item = &'a T> {
        values.iter().zip(&self.distinct).filter(|(_, distinct)| **distinct).map(|(value, _)| value)
    }

    /// The up direction in the space of the foot of leg `k` while it is flat; `None` if it never is. `poses` may be those of
    /// either body.
    pub fn up(&self, k: usize, poses: &[LimbPose]) -> Option<Vec3> {
        self.level(k, poses.iter().map(|pose| *pose.foot_rotation()))
    }

    /// The up direction in the space of a joint with these rotations while foot `k` is flat; `None` if it never is.
    pub fn level(&self, k: usize, rotations: impl Iterator<Item = Quat>) -> Option<Vec3> {
        let flat = rotations.zip(&self.flat[k]).filter(|(_, flat)| **flat);
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

    /// The points of the sole of leg `k`, and when it is in contact with the ground. `source` has the positions of the scaled
    /// source's leg, `direct_poses` the transforms of the direct transfer's; `ratio` is the scale between the bodies,
    /// `leg_length` the length of the target's leg.
    pub fn points(
        &self,
        k: usize,
        time: &Timeline,
        source: (&[LimbPositions], &LimbChain),
        direct_poses: (&[LimbPose], &LimbChain),
        (ratio, leg_length): (f64, f64),
        settings: &Settings,
    ) -> (Vec<SolePoint>, FootContact) {
        let mut sole = self.sole(k, source, direct_poses, ratio);
        let heights = self.heights(k, &sole);
        let speed = |track: &SoleTrajectory| match self.lowered.get(k).filter(|own| !own.is_empty()) {
            None => self.speed(time, &track.at, leg_length, settings),
            Some(lowered) => {
                let at = track.at.iter().zip(lowered).map(|(at, by)| at + Vec3::y() * *by);
                self.speed(time, &at.collect::<Vec<Vec3>>(), leg_length, settings)
            }
        };
        let speeds: Vec<Vec<f64>> = sole.iter().map(speed).collect();
        // Frees memory that is large for a long take.
        sole.iter_mut().for_each(|track| track.at = Vec::new());
        let able = &self.can_stand[k];
        let touch = |f: usize| {
            able[f] && slower(&speeds, f, TOUCHING[0]) && lowest(&heights, f) < TOUCHING[1] * leg_length
        };
        let plant = |f: usize| {
            able[f] && slower(&speeds, f, RESTING) && lowest(&heights, f).abs() < NEAR_FLOOR * leg_length
        };
        let (planted, touching) = (0..time.frames).map(|f| (plant(f), touch(f))).unzip();
        let contact = FootContact { planted, touching };
        let ground = levels(time, &heights, &speeds);
        let point = |((track, own), speed): ((&SoleTrajectory, &Vec<f64>), Vec<f64>)| {
            let misfit = &track.misfit;
            let constant = if self.flat[k].contains(&true) { self.level_height(k, misfit) } else { 0.0 };
            let misfit = parallel::map_each(misfit, TOGETHER, |q| q - Vec3::y() * constant);
            let nearness = |f: usize| {
                let above = ((own[f] - ground[f]).max(0.0) / (settings.ground_band * leg_length)).powi(2);
                let higher = ((own[f] - lowest(&heights, f)) / (settings.sole_band * leg_length)).powi(2);
                libm::exp(-0.5 * (above + higher))
            };
            SolePoint { misfit, speed, nearness: parallel::map(time.frames, 64, nearness) }
        };
        (sole.iter().zip(&heights).zip(speeds).map(point).collect(), contact)
    }

    /// The trajectories of heel and ball of leg `k`, as far as they are known.
    fn sole(
        &self,
        k: usize,
        (source, from): (&[LimbPositions], &LimbChain),
        (direct_poses, to): (&[LimbPose], &LimbChain),
        ratio: f64,
    ) -> Vec<SoleTrajectory> {
        let ankle = |f: usize| source[f].ankle;
        let frames = 0..source.len();
        // The only point of a foot that is never flat is its ankle.
        let Some(up) = self.up(k, direct_poses) else {
            let misfit = vec![Vec3::zeros(); source.len()];
            return vec![SoleTrajectory { at: frames.map(ankle).collect(), misfit }];
        };
        // The heel is below the ankle.
        let heights = [ratio * from.ankle, to.ankle];
        let down = |f: usize| -(direct_poses[f].foot_rotation() * up);
        let at = frames.clone().map(|f| ankle(f) + down(f) * heights[0]).collect();
        let misfit = frames.clone().map(|f| down(f) * (heights[1] - heights[0])).collect();
        let mut sole = vec![SoleTrajectory { at, misfit }];
        let ball = |at: LimbPositions| at.toes - at.ankle;
        // The ball is the toe joint; if one body has none, that of the other serves both.
        let of = |f: usize| match (from.toes, to.toes) {
            (Some(_), Some(_)) => Some((ball(source[f]), ball(direct_poses[f].positions()))),
            (Some(_), None) => Some((ball(source[f]), ball(source[f]))),
            (None, Some(_)) => Some((ball(direct_poses[f].positions()), ball(direct_poses[f].positions()))),
            (None, None) => None,
        };
        if let Some(balls) = frames.clone().map(of).collect::<Option<Vec<_>>>() {
            let at = frames.clone().map(|f| ankle(f) + balls[f].0).collect();
            let misfit = frames.clone().map(|f| balls[f].1 - balls[f].0).collect();
            sole.push(SoleTrajectory { at, misfit });
        }
        sole
    }

    /// The heights of the points of a sole above their level while the foot is flat, by point and frame.
    fn heights(&self, k: usize, sole: &[SoleTrajectory]) -> Vec<Vec<f64>> {
        let above = |track: &SoleTrajectory| {
            let level = self.level_height(k, &track.at);
            parallel::map_each(&track.at, TOGETHER, |p| p.y - level)
        };
        sole.iter().map(above).collect()
    }

    /// The height of a point while foot `k` is flat; of a foot that never is, its lowest.
    fn level_height(&self, k: usize, values: &[Vec3]) -> f64 {
        let flat: Vec<f64> =
            values.iter().zip(&self.flat[k]).filter(|(_, flat)| **flat).map(|(v, _)| v.y).collect();
        match flat.is_empty() {
            true => percentile(&self.distinct(values).map(|v| v.y).collect::<Vec<_>>(), FLOOR_PERCENTILE),
            false => median(flat),
        }
    }
}

/// In which frames ankle or toes of the lower leg are for a moment in the floor.
fn dips(time: &Timeline, poses: &[Vec<LimbPositions>], leg_length: f64) -> Vec<bool> {
    let of_joint = |at: &dyn Fn(&LimbPositions) -> f64| {
        let lowest = |f: usize| poses.iter().map(|poses| at(&poses[f])).fold(f64::INFINITY, f64::min);
        short_dips(
            &(0..time.frames).map(lowest).collect::<Vec<f64>>(),
            &time.shots(),
            leg_length,
            time.dt.recip(),
        )
    };
    let (ankles, toes) = parallel::join(|| of_joint(&|s| s.ankle.y), || of_joint(&|s| s.toes.y));
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

/// The height of the surface under a foot in every frame, above that of the ground where it is flat: the foot's own while it
/// is planted, in between the lower one of before and after, not across a cut; 0 for a foot that is never planted.
fn levels(time: &Timeline, heights: &[Vec<f64>], speeds: &[Vec<f64>]) -> Vec<f64> {
    let resting: Vec<Option<f64>> =
        (0..time.frames).map(|f| slower(speeds, f, RESTING).then(|| lowest(heights, f))).collect();
    let mut levels = vec![f64::INFINITY; time.frames];
    let mut last = None;
    for f in 0..time.frames {
        last = resting[f].or(if f > 0 && time.cut[f - 1] { None } else { last });
        levels[f] = last.unwrap_or(f64::INFINITY);
    }
    last = None;
    for f in (0..time.frames).rev() {
        last = resting[f].or(if time.cut.get(f) == Some(&true) { None } else { last });
        let level = resting[f].unwrap_or(levels[f].min(last.unwrap_or(f64::INFINITY)));
        levels[f] = if level.is_finite() { level } else { 0.0 };
    }
    levels
}
