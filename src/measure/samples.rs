//! Samples of a motion for its measures: positions of contact points and end joints, momentum, joint extremes.
//!
//! Taken in one pass over the frames, in parallel blocks. Space: model space. Units: metres of the common height for positions, the figure's own for momentum; radians, seconds.

use super::metric_context::MetricContext;
use super::statistics::{mean, rounding};
use crate::body::BodyPart;
use crate::kinematics::{FramePoses, Towards};
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Motion, Role};
use crate::parallel;
use std::ops::Range;

/// Sampling rate of the skin, hertz: limbs that meet stay together for longer than its period.
const SKIN_SAMPLE_RATE: f64 = 10.0;

/// The samples of one motion; lists are frame-major.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// How many frames.
    pub frames: usize,
    /// Frames a second.
    pub rate: f64,
    /// The lowest position of every contact point.
    pub points: Vec<Vec3>,
    /// The lowest point of the body, by frame; infinite for a body without legs.
    pub lowest: Vec<f64>,
    /// Every end joint.
    pub ends: Vec<Vec3>,
    /// The hips.
    pub root: Vec<Vec3>,
    /// The masses' centre in every frame, the figure's own metres; empty without masses.
    pub centres: Vec<Vec3>,
    /// The angular momentum about it for a mass of 1 kg, and how it changes (m^2/s, m^2/s^2).
    pub spins: Vec<Vec3>,
    /// Its change in time; the first and last frame repeat their neighbours.
    pub torques: Vec<Vec3>,
    /// The greatest angle outside the ranges of motion, by frame.
    pub excess: Vec<f64>,
    /// Its mean over frames and joints.
    pub mean_excess: f64,
    /// The greatest rotation of a joint from one frame to the next.
    pub largest_rotation: f64,
    /// The greatest relative change of a bone's length.
    pub stretch: f64,
    /// The share of the arms' skin inside the body, ten times a second; `None` without skin.
    pub inside: Option<f64>,
    /// The lowest skin, ten times a second; infinite without skin.
    pub lowest_skin: f64,
}

impl Samples {
    /// Reads `motion`, which plays on the character of `context`.
    pub fn of(context: &MetricContext, motion: &Motion) -> Self {
        let frames = motion.clip.frames();
        let bones = bones(context, motion);
        let parts: Vec<SampleBlock> = parallel::map(frames.div_ceil(BLOCK), 1, |block| {
            let block = block * BLOCK..frames.min((block + 1) * BLOCK);
            SampleBlock::of(context, motion, &bones, block)
        });
        let mut made = Self { frames, rate: motion.clip.sample_rate, ..Self::empty(context, frames) };
        let (mut least, mut outside, mut inside) = (1.0_f64, 0.0, Vec::new());
        for mut part in parts {
            made.followed_by(part.samples);
            inside.append(&mut part.inside);
            outside += part.outside;
            least = least.min(part.smallest_cosine);
        }
        let checks = frames * context.limited.len();
        made.mean_excess = if checks == 0 { 0.0 } else { outside / checks as f64 };
        made.inside = (!inside.is_empty()).then(|| mean(&inside));
        made.largest_rotation = 2.0 * libm::acos(least.min(1.0));
        for list in [&mut made.spins, &mut made.torques] {
            if let (Some(&first), Some(&last)) = (list.first(), list.last()) {
                list.insert(0, first);
                list.push(last);
            }
        }
        made
    }

    /// Room for so many frames.
    fn empty(context: &MetricContext, frames: usize) -> Self {
        Self {
            points: Vec::with_capacity(frames * context.points().len()),
            ends: Vec::with_capacity(frames * context.ends.len()),
            lowest_skin: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Adds the samples of the frames after these.
    fn followed_by(&mut self, mut next: Self) {
        self.points.append(&mut next.points);
        self.lowest.append(&mut next.lowest);
        self.ends.append(&mut next.ends);
        self.root.append(&mut next.root);
        self.centres.append(&mut next.centres);
        self.spins.append(&mut next.spins);
        self.torques.append(&mut next.torques);
        self.excess.append(&mut next.excess);
        self.stretch = self.stretch.max(next.stretch);
        self.lowest_skin = self.lowest_skin.min(next.lowest_skin);
    }

    /// The greatest step of translations of 32 bits where the body is, metres of the common height; `scale` leads to those.
    pub fn rounding(&self, scale: f64) -> f64 {
        scale * self.root.iter().map(|at| rounding(&(at / scale))).fold(0.0, f64::max)
    }

    /// The position of contact point `point` in one frame.
    pub fn point(&self, frame: usize, point: usize) -> &Vec3 {
        let width = self.points.len() / self.frames.max(1);
        &self.points[frame * width + point]
    }
}

/// The frames of one parallel task.
const BLOCK: usize = 256;

/// The samples of some frames.
struct SampleBlock {
    /// Spins and torques are those of the frames that have two neighbours; values over all frames are still missing.
    samples: Samples,
    /// The sum of the angles outside the ranges of motion.
    outside: f64,
    /// The smallest |cos| of half a rotation angle, which is the greatest rotation.
    smallest_cosine: f64,
    /// The share of the arms' skin inside the body, by sample.
    inside: Vec<f64>,
}

impl SampleBlock {
    fn of(context: &MetricContext, motion: &Motion, bones: &[(JointId, f64)], block: Range<usize>) -> Self {
        let (skeleton, clip) = (context.character().skeleton(), &motion.clip);
        let mut made = Samples::empty(context, block.len());
        let (mut outside, mut smallest_cosine, mut inside) = (0.0, 1.0_f64, Vec::new());
        // The change of a momentum takes the frames on either side.
        let frames_with_neighbours = block.start.saturating_sub(1)..clip.frames().min(block.end + 1);
        let mut masses = Masses::new(context, clip.sample_rate, frames_with_neighbours.len());
        let (mut pose, mut whole) = (skeleton.rest_pose(), skeleton.rest_model_pose());
        let mut excess = vec![None; context.limited.len()];
        let skin_stride = (clip.sample_rate / SKIN_SAMPLE_RATE).ceil().max(1.0) as usize;
        let mut sampled = FramePoses::new(&Towards::new(skeleton, sampled(context, bones)), clip);
        for frame in frames_with_neighbours.clone() {
            clip.read_pose(frame, &mut pose);
            let model = match frame % skin_stride {
                0 => {
                    whole.set(skeleton, &pose);
                    &whole
                }
                // No skin sample in this frame.
                _ => sampled.at(frame),
            };
            masses.add(context, model);
            if !block.contains(&frame) {
                continue;
            }
            for point in context.points() {
                let mut at = model.joint(point.joint).point(&point.at);
                at.y -= point.radius;
                made.points.push(at * context.scale);
            }
            made.lowest.push(lowest(context, model) * context.scale);
            made.ends.extend(context.ends.iter().map(|id| model.position(*id) * context.scale));
            made.root.push(model.position(context.root) * context.scale);
            if frame % skin_stride == 0 && !context.skin.is_empty() {
                inside.push(context.skin.share_inside(model));
            }
            if frame % skin_stride == 0 {
                made.lowest_skin = made.lowest_skin.min(context.lowest.lowest(model) * context.scale);
            }
            let mut most = 0.0_f64;
            for (&id, known) in context.limited.iter().zip(&mut excess) {
                let local = pose.joint(id);
                // Fingers of most takes do not move: the result for an unchanged rotation is kept.
                let angle = match *known {
                    Some((rotation, angle)) if rotation == local.rotation => angle,
                    _ => {
                        let nearest = context.mechanism.limited(id, local).rotation;
                        let is_inside = nearest == local.rotation;
                        if is_inside { 0.0 } else { nearest.angle_to(&local.rotation) }
                    }
                };
                *known = Some((local.rotation, angle));
                most = most.max(angle);
                outside += angle;
            }
            made.excess.push(most);
            if frame > 0 {
                for (a, b) in clip.rotations(frame - 1).iter().zip(clip.rotations(frame).iter()) {
                    smallest_cosine = smallest_cosine.min(a.coords.dot(&b.coords).abs());
                }
            }
            for &(id, length) in bones {
                let stretch = (pose.joint(id).translation.norm() / length - 1.0).abs();
                // Far from the origin files round each end of a bone by half a step along each axis.
                let rounded = rounding(&model.position(id)) * 3f64.sqrt() / length;
                made.stretch = made.stretch.max(stretch - rounded);
            }
        }
        if !masses.centres.is_empty() {
            let first = block.start - frames_with_neighbours.start;
            made.centres = masses.centres[first..first + block.len()].to_vec();
            (made.spins, made.torques) = (masses.spins, masses.torques);
        }
        SampleBlock { samples: made, outside, smallest_cosine, inside }
    }
}

/// The joints whose positions are sampled in every frame, with the bones.
fn sampled(context: &MetricContext, bones: &[(JointId, f64)]) -> impl Iterator<Item = JointId> {
    let points = context.points().iter().map(|point| point.joint);
    let masses = context.particles().iter().map(|particle| particle.joint);
    let capsules = context.body.capsules().iter().map(|capsule| capsule.joint);
    let ends = context.ends.iter().copied().chain([context.root]);
    points.chain(masses).chain(capsules).chain(ends).chain(bones.iter().map(|bone| bone.0))
}

/// The joints whose length the clip can change, with their length at rest: translated ones below the hips.
fn bones(context: &MetricContext, motion: &Motion) -> Vec<(JointId, f64)> {
    let rig = &context.character().rig;
    let skeleton = rig.skeleton();
    let Some(hips) = rig.joint(Role::Hips) else { return Vec::new() };
    let length = |id: JointId| skeleton.joint(id).rest.translation.norm();
    let below =
        |id: &JointId| skeleton.is_ancestor(hips, *id) && *id != hips && length(*id) > 1e-3 * context.height;
    motion.clip.translated().iter().copied().filter(below).map(|id| (id, length(id))).collect()
}

/// The masses of three consecutive frames, and the results of the earlier ones.
struct Masses {
    per_second: f64,
    /// Positions of three frames, the newest last.
    recent: [Vec<Vec3>; 3],
    seen: usize,
    centres: Vec<Vec3>,
    spins: Vec<Vec3>,
    torques: Vec<Vec3>,
}

impl Masses {
    fn new(context: &MetricContext, rate: f64, frames: usize) -> Self {
        let empty = || Vec::with_capacity(context.particles().len());
        let list = || Vec::with_capacity(frames);
        Self {
            per_second: rate,
            recent: [empty(), empty(), empty()],
            seen: 0,
            centres: list(),
            spins: list(),
            torques: list(),
        }
    }

    /// The next frame.
    fn add(&mut self, context: &MetricContext, model: &ModelPose) {
        if context.particles().is_empty() {
            return;
        }
        self.recent.rotate_left(1);
        let newest = &mut self.recent[2];
        newest.clear();
        newest.extend(context.particles().iter().map(|p| model.joint(p.joint).point(&p.at)));
        let weighted = newest.iter().zip(context.particles()).map(|(x, p)| x * p.mass);
        self.centres.push(weighted.sum());
        self.seen += 1;
        if self.seen < 3 {
            return;
        }
        // L = sum m (x - c) x v by central differences; dL/dt = sum m (x - c) x a, exactly the difference of the
        // discrete momenta sum m x(f) x x(f+1) / dt.
        let [before, here, after] = &self.recent;
        let centre = self.centres[self.seen - 2];
        let (mut spin, mut torque) = (Vec3::zeros(), Vec3::zeros());
        for (((a, x), b), particle) in before.iter().zip(here).zip(after).zip(context.particles()) {
            let arm = (x - centre) * particle.mass;
            spin += arm.cross(&(b - a));
            torque += arm.cross(&(a + b - x * 2.0));
        }
        self.spins.push(spin * (0.5 * self.per_second));
        self.torques.push(torque * (self.per_second * self.per_second));
    }
}

/// The height of the lowest sole, or other part of the body, of a pose, metres; infinite for a body without legs.
fn lowest(context: &MetricContext, model: &ModelPose) -> f64 {
    let soles = context.points().iter().map(|p| model.joint(p.joint).point(&p.at).y - p.radius);
    // The capsule of a foot is thicker than the foot.
    let others = context.body.capsules().iter().filter(|c| !matches!(c.part, BodyPart::Foot(_)));
    let others = others.flat_map(|c| c.ends(model).map(|end| end.y - c.radius));
    soles.chain(others).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, ImportOptions};

    #[test]
    fn where_blocks_of_frames_meet_is_like_anywhere_else() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh");
        let mut motion = import::load(path, &ImportOptions::default()).unwrap().motion(0).unwrap();
        let walk = motion.clip.clone();
        motion.clip = walk.clone().followed_by(std::iter::repeat_n(walk, 4), 0);
        let frames = motion.clip.frames();
        assert!(frames > 2 * BLOCK + 10);
        let context = MetricContext::new(&motion.character);
        let all = Samples::of(&context, &motion);
        let lengths = [&all.root, &all.centres, &all.spins, &all.torques].map(Vec::len);
        assert_eq!((lengths, all.excess.len()), ([frames; 4], frames));
        let (points, ends) = (context.points().len(), context.ends.len());
        for frame in [1, 254, 255, 256, 257, 510, 511, 512, 513, frames - 2] {
            let three = Samples::of(&context, &motion.part(frame - 1..frame + 2));
            assert_eq!(three.centres[1], all.centres[frame], "frame {frame}");
            assert_eq!(three.spins[1], all.spins[frame], "frame {frame}");
            assert_eq!(three.torques[1], all.torques[frame], "frame {frame}");
            assert_eq!(three.root[1], all.root[frame], "frame {frame}");
            assert_eq!(three.excess[1], all.excess[frame], "frame {frame}");
            assert_eq!(three.points[points..2 * points], all.points[frame * points..][..points]);
            assert_eq!(three.ends[ends..2 * ends], all.ends[frame * ends..][..ends]);
        }
    }
}
