//! Stage `loop`: cuts out the part of a motion that loops best and closes its seam.
//!
//! The cut is the pair of frames that are nearest to each other in pose and velocity, in a frame on the floor below the hips
//! (Kovar, Gleicher and Pighin 2002); the same contacts are preferred. At the seam half of the difference is added to each
//! side and fades out by a cubic that matches pose and velocity; rotations are blended as rotation vectors. Path and heading
//! over the ground are kept: a looped walk keeps travelling. Units: seconds, metres, radians.

use super::stage::KeyFaults;
use super::{Setting, Stage, StageConfig, StageError};
use crate::kinematics::Forward;
use crate::math::{Quat, Transform, Vec3, exp, horizontal, log, twist_angle};
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{Clip, Contacts, JointId, ModelPose, Motion, Pose, Role, Skeleton};
use crate::report::Report;
use crate::signal::with_poses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps the part of a motion that loops best and closes its seam: the last frame repeats the first, offset by the distance
/// travelled and rotated by the change of heading.
///
/// After a stage `contacts` the cut prefers frames with the same contacts. Use `foot_lock` after this stage to remove foot
/// sliding at the seam.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoopConfig {
    /// Shortest loop, in seconds. Larger values keep more strides, but the seam fits less well. Of loops with a seam
    /// below 1 mm the shortest is kept.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shortest_s: f64,
    /// Longest loop, in seconds. Omitted: the whole clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub longest_s: Option<f64>,
    /// Duration of the blend on each side of the seam, in seconds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub blend_s: f64,
}

impl Default for LoopConfig {
    fn default() -> Self {
        Self { shortest_s: 0.5, longest_s: None, blend_s: 0.3 }
    }
}

/// Number of evenly spaced frames in the first pass of the search for a cut; the second pass searches around the best pair.
const COARSE: usize = 300;
/// Weight of velocity differences, seconds: a difference counts as the distance it makes in this time.
const VELOCITY_S: f64 = 0.1;
/// Cost of a part that is in contact on one side of the cut only, metres.
const CONTACT: f64 = 0.05;
/// Distance of two poses that nobody sees, metres: of loops that fit so well the shortest is kept, the first of equal ones.
/// Without it noise decides how many strides of a regular walk are kept.
const UNSEEN: f64 = 1e-3;

impl StageConfig for LoopConfig {
    const NAME: &'static str = "loop";
    const ONCE: Option<&'static str> = Some("the first closes the clip");

    /// Frames of the result are other frames of the take.
    fn meaningless(&self) -> &'static [&'static str] {
        AGAINST_THE_TAKE
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults::default();
        faults.above_0("shortest_s", self.shortest_s);
        faults.above_0("longest_s", self.longest_s.unwrap_or(1.0));
        faults.above_0("blend_s", self.blend_s);
        if let Some(longest) = self.longest_s.filter(|l| *l < self.shortest_s) {
            let message = format!("`longest_s` is {longest}, below `shortest_s` {}", self.shortest_s);
            faults.need(false, "longest_s", message);
        }
        faults.found()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let rig = &setting.arriving.rig;
        // Fingers are left out: their number would outweigh the body.
        let counts = |role: Role| !matches!(role, Role::Finger(..));
        let joints = rig.assignments().filter(|(role, _)| counts(*role)).map(|(_, a)| a.joint).collect();
        let hips = rig.joint(Role::Hips).unwrap_or(JointId::new(0));
        Ok(Box::new(LoopStage { config: self.clone(), joints, hips }))
    }
}

#[derive(Debug)]
struct LoopStage {
    config: LoopConfig,
    /// The joints that are compared.
    joints: Vec<JointId>,
    hips: JointId,
}

impl Stage for LoopStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
        let rate = clip.sample_rate;
        let shortest = ((self.config.shortest_s * rate).ceil() as usize).max(4);
        if clip.frames() <= shortest {
            return Err(StageError::key(
                "shortest_s",
                format!(
                    "the clip lasts {:.3} s, a loop at least {} s",
                    clip.duration(),
                    self.config.shortest_s
                ),
            ));
        }
        let longest = self.config.longest_s.map_or(clip.frames(), |s| ((s * rate) as usize).max(shortest));
        let frames = GroundFrames::of(&motion, &self.joints, self.hips);
        let (start, end, miss) = cut(&frames, motion.contacts.as_ref(), shortest, longest);
        report.measure("loop_start", clip.time(start), "s");
        report.measure("loop_duration", (end - start) as f64 / rate, "s");
        report.measure("loop_ends_apart", miss, "m");

        let mut poses: Vec<Pose> = (start..=end).map(|f| clip.pose(skeleton, f)).collect();
        let blend = ((self.config.blend_s * rate).round() as usize).clamp(2, poses.len() / 2);
        close(skeleton, &mut poses, mover(skeleton, clip, self.hips), blend);
        let frame = |f: usize| f.clamp(start, end + 1) - start;
        let contacts = motion.contacts.as_ref().map(|c| c.changed(frame, |height| height));
        let mut looped = Motion { contacts, ..with_poses(&motion, &poses) };
        looped.clip.property_tracks = clip.property_tracks_in(start..end + 1);
        Ok(looped)
    }
}

/// The joint that moves the figure over the ground: the topmost translated one of the hips and their ancestors, else the
/// hips.
fn mover(skeleton: &Skeleton, clip: &Clip, hips: JointId) -> JointId {
    let moves = |id: &JointId| clip.translated().contains(id);
    skeleton.path_to_root(hips).filter(moves).last().unwrap_or(hips)
}

/// Positions and velocities of some joints in every frame, relative to the ground frame below the hips.
struct GroundFrames {
    positions: Vec<Vec<Vec3>>,
    velocities: Vec<Vec<Vec3>>,
}

impl GroundFrames {
    fn of(motion: &Motion, joints: &[JointId], hips: JointId) -> Self {
        let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
        let rest = motion.character.reference_pose().joint(hips).rotation.inverse();
        let mut positions: Vec<Vec<Vec3>> = Vec::with_capacity(clip.frames());
        let mut grounds = Vec::with_capacity(clip.frames());
        Forward::new(skeleton, clip).for_each(|block| {
            for lane in 0..block.frames() {
                let at = block.joint(lane, hips);
                let heading = twist_angle(&(at.rotation * rest), &Vec3::y());
                let below = horizontal(&at.translation);
                grounds.push(Transform::new(exp(&(Vec3::y() * heading)), below));
                positions.push(joints.iter().map(|&id| block.position(lane, id)).collect());
            }
        });
        let last = clip.frames() - 1;
        let velocity = |f: usize| {
            let (a, b) = (f.saturating_sub(1), (f + 1).min(last));
            let to_ground = grounds[f].rotation.inverse();
            let per_second = clip.sample_rate / (b - a).max(1) as f64;
            positions[a].iter().zip(&positions[b]).map(|(p, q)| to_ground * (q - p) * per_second).collect()
        };
        let velocities = (0..=last).map(velocity).collect();
        for (ground, positions) in grounds.iter().zip(&mut positions) {
            let from_model = ground.inverse();
            positions.iter_mut().for_each(|p| *p = from_model.point(p));
        }
        Self { positions, velocities }
    }

    /// The mean squared distance between two frames, square metres.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let sum = |x: &[Vec<Vec3>]| x[a].iter().zip(&x[b]).map(|(p, q)| (p - q).norm_squared()).sum::<f64>();
        let n = self.positions[a].len().max(1) as f64;
        (sum(&self.positions) + VELOCITY_S * VELOCITY_S * sum(&self.velocities)) / n
    }
}

/// The first and the last frame of the loop, and their distance in metres.
fn cut(
    frames: &GroundFrames,
    contacts: Option<&Contacts>,
    shortest: usize,
    longest: usize,
) -> (usize, usize, f64) {
    let last = frames.positions.len() - 1;
    let cost = |a: usize, b: usize| {
        let differ = contacts.map_or(0, |c| c.parts().filter(|p| c.rests(*p, a) != c.rests(*p, b)).count());
        (frames.distance(a, b) + differ as f64 * CONTACT * CONTACT).max(UNSEEN * UNSEEN)
    };
    let mut best = (f64::INFINITY, 0, last);
    let look = |best: &mut (f64, usize, usize), a: usize, b: usize| {
        if (shortest..=longest).contains(&(b - a)) {
            let found = cost(a, b);
            if found < best.0 || (found == best.0 && b - a < best.2 - best.1) {
                *best = (found, a, b);
            }
        }
    };
    let step = last.div_ceil(COARSE).max(1);
    for a in (0..=last - shortest).step_by(step) {
        for b in (a + shortest..=last).step_by(step) {
            look(&mut best, a, b);
        }
    }
    let (_, a, b) = best;
    for a in a.saturating_sub(step)..=(a + step).min(last) {
        for b in b.saturating_sub(step).max(a)..=(b + step).min(last) {
            look(&mut best, a, b);
        }
    }
    (best.1, best.2, frames.distance(best.1, best.2).sqrt())
}

/// A cubic that starts with a value and a slope (per frame) and reaches zero with slope zero after `n` frames (at least
/// two), evaluated at frame `k`. The slope is scaled so that the first frame-to-frame difference matches it rather than the
/// tangent, because clips are sampled.
fn fading(value: Vec3, slope: Vec3, k: usize, n: usize) -> Vec3 {
    let u = k as f64 / n as f64;
    if u >= 1.0 {
        return Vec3::zeros();
    }
    value * ((1.0 + 2.0 * u) * (1.0 - u).powi(2))
        + slope * (k as f64 * ((1.0 - u) / (1.0 - 1.0 / n as f64)).powi(2))
}

/// Closes the seam between the last and the first pose; `mover` keeps its path and heading, and so do joints beside it that travel with
/// it: limbs of rigs in pieces.
fn close(skeleton: &Skeleton, poses: &mut [Pose], mover: JointId, blend: usize) {
    let last = poses.len() - 1;
    let ends = [0, 1, last - 1, last].map(|f| poses[f].clone());
    let [model_first, model_last] = [&ends[0], &ends[3]].map(|pose| ModelPose::of(skeleton, pose));
    // The transform over the ground from the first pose to the last.
    let (first, end) = (*model_first.joint(mover), *model_last.joint(mover));
    let yaw = exp(&(Vec3::y() * twist_angle(&(end.rotation * first.rotation.inverse()), &Vec3::y())));
    let mut travel = end.translation - yaw * first.translation;
    travel.y = 0.0;
    let over_ground = Transform::new(yaw, travel);
    let above_mover = skeleton.above(|id| id == mover);
    let mut travels = vec![false; skeleton.len()];
    for id in skeleton.ids() {
        let parent = skeleton.parent(id);
        let under = parent.is_some_and(|parent| travels[parent.index()]);
        let [from, to] = [&model_first, &model_last].map(|model| model.position(id));
        let nearer = (over_ground.point(&from) - to).norm() < (from - to).norm();
        travels[id.index()] = under || id == mover || !above_mover[id.index()] && nearer;
        let moved = travels[id.index()] && !under;
        let [parent_first, parent_last] = [&model_first, &model_last]
            .map(|model| parent.map_or(Transform::identity(), |parent| *model.joint(parent)));
        let on = parent_last.inverse() * over_ground * parent_first;
        let [a, a_next, b_before, b] = [0, 1, 2, 3].map(|k| {
            let local = ends[k].local()[id.index()];
            if moved && k < 2 { on * local } else { local }
        });
        let to_last = if moved { on.rotation.inverse() } else { Quat::identity() };
        let rotation = log(&(b.rotation.inverse() * a.rotation));
        let spin =
            log(&(a.rotation.inverse() * a_next.rotation)) - log(&(b_before.rotation.inverse() * b.rotation));
        let shift = a.translation - b.translation;
        let speed = (a_next.translation - a.translation) - (b.translation - b_before.translation);
        if rotation.norm() + spin.norm() + shift.norm() + speed.norm() == 0.0 {
            continue;
        }
        for k in 0..=blend.min(last) {
            let local = &mut poses[k].local_mut()[id.index()];
            local.rotation = Quat::new_normalize(
                (local.rotation * exp(&fading(rotation * -0.5, spin * -0.5, k, blend))).into_inner(),
            );
            local.translation += to_last * fading(shift * -0.5, speed * -0.5, k, blend);
            let local = &mut poses[last - k].local_mut()[id.index()];
            local.rotation = Quat::new_normalize(
                (local.rotation * exp(&fading(rotation * 0.5, spin * -0.5, k, blend))).into_inner(),
            );
            local.translation += fading(shift * 0.5, speed * -0.5, k, blend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walk, walker};
    use super::*;
    use crate::model::Joint;

    fn frames(motion: &Motion) -> GroundFrames {
        let skeleton = motion.character.skeleton();
        let joints: Vec<JointId> = skeleton.ids().filter(|id| skeleton.joint(*id).name != "camera").collect();
        GroundFrames::of(motion, &joints[1..], motion.character.rig.joint(Role::Hips).unwrap())
    }

    fn apart(a: &[Vec3], b: &[Vec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
    }

    #[test]
    fn the_last_frame_is_the_first_one_again() {
        for motion in [walker(200), walk(150, false)] {
            let config = LoopConfig { shortest_s: 1.0, ..LoopConfig::default() };
            let looped = run(&config, motion.clone()).unwrap();
            assert!(looped.clip.frames() > 30);
            let (before, after) = (frames(&motion), frames(&looped));
            let last = looped.clip.frames() - 1;
            let miss = apart(&after.positions[0], &after.positions[last]);
            assert!(miss < 1e-4, "{miss} m");
            // The velocity changes at the seam by no more than between frames of the motion.
            let jolt = apart(&after.velocities[0], &after.velocities[last]);
            let steps = before.velocities.windows(2).map(|v| apart(&v[0], &v[1]));
            let usual = steps.fold(0.0, f64::max);
            assert!(jolt < 1.5 * usual, "{jolt} m/s, usually {usual}");
        }
    }

    #[test]
    fn of_equal_cycles_one_is_kept_whatever_the_noise() {
        const PERIOD: usize = 40;
        let (motion, there) = (walker(4 * PERIOD + 7), walker(PERIOD));
        let skeleton = motion.character.skeleton();
        // Every second cycle is a little off, so that two cycles fit better than one.
        for odd in 0..2 {
            let pose = |f: usize| {
                let mut pose = there.clip.pose(skeleton, (f % PERIOD).min(PERIOD - f % PERIOD));
                let shake = if (f / PERIOD) % 2 == odd { 1e-5 } else { 0.0 };
                for local in pose.local_mut() {
                    local.rotation *= exp(&(Vec3::x() * shake));
                }
                pose
            };
            let poses: Vec<Pose> = (0..motion.clip.frames()).map(pose).collect();
            let looped = run(&LoopConfig::default(), with_poses(&motion, &poses)).unwrap();
            assert_eq!(looped.clip.frames(), PERIOD + 1);
        }
    }

    #[test]
    fn away_from_the_seam_nothing_changes() {
        let motion = walker(200);
        let looped = run(&LoopConfig { shortest_s: 3.0, ..LoopConfig::default() }, motion.clone()).unwrap();
        let middle = looped.clip.frames() / 2;
        let here = looped.clip.rotations(middle);
        assert!(
            (0..200).any(|f| motion
                .clip
                .rotations(f)
                .iter()
                .zip(here.iter())
                .all(|(a, b)| a.angle_to(b) < 1e-9))
        );
    }

    #[test]
    fn fading_starts_with_value_and_slope_and_ends_at_zero() {
        let (value, slope) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.1, 0.2, -0.3));
        assert_eq!(fading(value, slope, 0, 1000), value);
        assert!((fading(value, slope, 1, 1000) - value - slope).norm() < 1e-2);
        assert!(fading(value, slope, 999, 1000).norm() < 1e-3);
        assert_eq!(fading(value, slope, 1000, 1000), Vec3::zeros());
    }

    #[test]
    fn clips_that_are_too_short_and_faulty_keys_are_refused() {
        let error = run(&LoopConfig::default(), walker(10)).unwrap_err();
        assert_eq!(error.to_string(), "the clip lasts 0.300 s, a loop at least 0.5 s");
        let config = LoopConfig { shortest_s: 2.0, longest_s: Some(1.0), blend_s: 0.0 };
        let keys: Vec<_> = config.validate().unwrap_err().into_iter().map(|e| e.key.unwrap()).collect();
        assert_eq!(keys, ["blend_s", "longest_s"]);
    }

    #[test]
    fn limbs_beside_the_hips_travel_with_them_over_the_seam() {
        let joint = |name: &str, parent: Option<usize>| {
            Joint::new(name, parent.map(JointId::new), Transform::identity())
        };
        let skeleton =
            Skeleton::new(vec![joint("root", None), joint("hips", Some(0)), joint("thigh", Some(0))])
                .unwrap();
        let pose = |f: usize| {
            let hips = Vec3::new(0.0, 1.0 + 0.001 * (f % 7) as f64, 0.02 * f as f64);
            let mut pose = skeleton.rest_pose();
            pose.local_mut()[1].translation = hips;
            pose.local_mut()[2].translation = hips + Vec3::x() * 0.3;
            pose
        };
        let mut poses: Vec<Pose> = (0..40).map(pose).collect();
        close(&skeleton, &mut poses, JointId::new(1), 10);
        for (f, pose) in poses.iter().enumerate() {
            let apart = pose.local()[2].translation - pose.local()[1].translation;
            assert!((apart - Vec3::x() * 0.3).norm() < 1e-9, "frame {f}: {apart:?}");
        }
        assert!((poses[39].local()[1].translation.z - 0.78).abs() < 0.02);
    }
}
