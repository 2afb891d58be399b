//! Model-space poses of the frames of a clip, four frames at a time.
//!
//! Lanes are frames, as in [`Forward`](super::Forward), but numbers are `f64`: every bit is that of [`ModelPose::of`], in about a third of
//! the time of frames one by one.

use super::Towards;
use crate::math::{LaneTransform, Real, RealX4, Triple, in_wide_registers};
use crate::model::{Clip, JointId, ModelPose};

/// Frames that are computed together.
const FRAMES: usize = RealX4::LANES;

/// The poses of a clip, of some joints; all others rest.
#[derive(Clone, Debug)]
pub struct FramePoses<'a> {
    clip: &'a Clip,
    /// The joints, each after its parent.
    links: Vec<ExactLink>,
    /// The distance of frames that are computed together.
    step: usize,
    /// The frames that are known.
    frames: [usize; FRAMES],
    poses: [ModelPose; FRAMES],
    lanes: Vec<LaneTransform<RealX4>>,
}

#[derive(Clone, Copy, Debug)]
struct ExactLink {
    joint: JointId,
    parent: Option<JointId>,
    rest: Triple<RealX4>,
    /// The index of its translations in a frame, if it has any.
    track: Option<usize>,
}

impl<'a> FramePoses<'a> {
    /// The poses of the joints of `towards`.
    ///
    /// # Panics
    /// Where the clip has another number of joints than the skeleton.
    pub fn new(towards: &Towards<'_>, clip: &'a Clip) -> Self {
        Self::every(1, towards, clip)
    }

    /// The same, for every `step`-th frame.
    ///
    /// # Panics
    /// Where the clip has another number of joints than the skeleton.
    pub fn every(step: usize, towards: &Towards<'_>, clip: &'a Clip) -> Self {
        let skeleton = towards.skeleton();
        assert_eq!(clip.joints(), skeleton.len(), "a clip belongs to its skeleton");
        let link = |id: &JointId| ExactLink {
            joint: *id,
            parent: skeleton.parent(*id),
            rest: <[f64; 3]>::from(skeleton.joint(*id).rest.translation).map(RealX4::splat),
            track: clip.translated().binary_search(id).ok(),
        };
        let rest = skeleton.rest_model_pose();
        Self {
            clip,
            links: towards.joints().iter().map(link).collect(),
            step,
            frames: [usize::MAX; FRAMES],
            poses: std::array::from_fn(|_| rest.clone()),
            lanes: vec![LaneTransform::identity(); skeleton.len()],
        }
    }

    /// The pose of a frame. Frames are asked for in order, or most of them are computed in vain.
    pub fn at(&mut self, frame: usize) -> &ModelPose {
        let lane = self.frames.iter().position(|known| *known == frame).unwrap_or_else(|| {
            self.frames = std::array::from_fn(|lane| frame + lane * self.step);
            in_wide_registers(
                #[inline(always)]
                || self.compute(),
            );
            0
        });
        &self.poses[lane]
    }

    #[inline(always)]
    fn compute(&mut self) {
        let last = self.clip.frames() - 1;
        let frames = self.frames.map(|frame| frame.min(last));
        let rows = frames.map(|frame| self.clip.rotations(frame));
        let rotations = rows.each_ref().map(|row| &**row);
        let translations = frames.map(|frame| self.clip.translations(frame));
        // In three loops: else the compiler puts numbers of one frame in a register, not those of four.
        for link in &self.links {
            let j = link.joint.index();
            let own = &mut self.lanes[j];
            let rows = rotations.map(|row| row[j].coords);
            own.rotation = [0, 1, 2, 3].map(|c| RealX4::from_lanes(|lane| rows[lane][c]));
            own.translation = match link.track {
                Some(track) => {
                    let rows = translations.map(|row| row[track]);
                    [0, 1, 2].map(|c| RealX4::from_lanes(|lane| rows[lane][c]))
                }
                None => link.rest,
            };
        }
        for link in &self.links {
            if let Some(parent) = link.parent {
                let j = link.joint.index();
                self.lanes[j] = self.lanes[parent.index()] * self.lanes[j];
            }
        }
        for link in &self.links {
            let j = link.joint.index();
            for (lane, pose) in self.poses.iter_mut().enumerate() {
                pose.joints_mut()[j] = self.lanes[j].exact(lane);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, Vec3, exp};
    use crate::model::{Joint, Skeleton};

    #[test]
    fn every_bit_is_that_of_single_frames() {
        let number = |k: usize| (k as f64 * 12.9898).sin() * 3.0;
        let vector = |k: usize| Vec3::new(number(k), number(k + 1), number(k + 2));
        let parent = |k: usize| (k > 0).then(|| JointId::new((k - 1) / 2));
        let joint =
            |k: usize| Joint::new(format!("j{k}"), parent(k), Transform::new(exp(&vector(k)), vector(7 * k)));
        let skeleton = Skeleton::new((0..9).map(joint).collect()).unwrap();
        let rotations = (0..9 * 11).map(|k| exp(&vector(5 * k))).collect();
        let translated = vec![JointId::new(0), JointId::new(4)];
        let clip = Clip::new("", 30.0, 9, rotations, translated, (0..22).map(|k| vector(11 * k)).collect());
        let towards = Towards::new(&skeleton, [JointId::new(8), JointId::new(4)]);
        for step in 1..4 {
            let mut poses = FramePoses::every(step, &towards, &clip);
            for frame in [0, 1, 2, 3, 4, 9, 10, 7, 0] {
                let mut expected = skeleton.rest_model_pose();
                towards.set(&clip.pose(&skeleton, frame), &mut expected);
                for (own, expected) in poses.at(frame).joints().iter().zip(expected.joints()) {
                    assert_eq!(own.rotation.coords, expected.rotation.coords, "frame {frame}, step {step}");
                    assert_eq!(own.translation, expected.translation, "frame {frame}, step {step}");
                }
            }
        }
    }
}
