//! Poses at a uniform rate, stored as flat frame-major arrays.

use super::{JointId, Pose, PropertyTrack, Skeleton};
use crate::math::{Quat, Transform, Vec3};

/// Lowest and highest valid frame rate, Hz: well beyond those of any capture.
pub(crate) const FRAME_RATES: [f64; 2] = [0.1, 10_000.0];

/// Whether a number can be a frame rate.
pub(crate) fn is_frame_rate(rate: f64) -> bool {
    (FRAME_RATES[0]..=FRAME_RATES[1]).contains(&rate)
}

/// Poses of one skeleton at a uniform rate.
///
/// Shape: `rotations` holds `frames x joints` local rotations, frame-major; `translations` holds
/// `frames x translated.len()` local translations for the joints listed in `translated` (ascending). Every
/// other joint keeps the translation of its rest transform. Units: metres, seconds, hertz.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Clip {
    /// The name of the clip; empty if the file has none.
    pub name: String,
    /// Frames per second; positive and finite.
    pub sample_rate: f64,
    /// The time of the first frame in seconds (glTF clips may start late; 0 otherwise).
    pub start: f64,
    /// Largest joint displacement in metres that an exporter may cause by dropping keys; `None` keeps every frame.
    pub tolerance: Option<f64>,
    /// Animation of other properties than joints; usually empty.
    pub property_tracks: Vec<PropertyTrack>,
    joints: usize,
    rotations: Vec<Quat>,
    translated: Vec<JointId>,
    translations: Vec<Vec3>,
}

impl Clip {
    /// A clip of `rotations` (`frames x joints`) and of `translations` (`frames x translated`), frame-major.
    ///
    /// # Panics
    /// If the lengths do not match or `translated` is not ascending: the caller guarantees both.
    pub fn new(
        name: impl Into<String>,
        sample_rate: f64,
        joints: usize,
        rotations: Vec<Quat>,
        translated: Vec<JointId>,
        translations: Vec<Vec3>,
    ) -> Self {
        assert!(joints > 0 && rotations.len().is_multiple_of(joints), "whole frames of rotations");
        let frames = rotations.len() / joints;
        assert_eq!(translations.len(), frames * translated.len(), "whole frames of translations");
        assert!(translated.is_sorted_by(|a, b| a < b), "translated joints ascend");
        let (name, start, tolerance, property_tracks) = (name.into(), 0.0, None, Vec::new());
        Self {
            name,
            sample_rate,
            start,
            tolerance,
            property_tracks,
            joints,
            rotations,
            translated,
            translations,
        }
    }

    /// A clip of these poses. Joints whose translation differs from rest by more than `1e-12` metres are translated.
    pub fn from_poses(
        name: impl Into<String>,
        sample_rate: f64,
        skeleton: &Skeleton,
        poses: &[Pose],
    ) -> Self {
        let leaves = |id: &JointId| {
            let rest = skeleton.joint(*id).rest.translation;
            poses.iter().any(|p| (p.joint(*id).translation - rest).amax() > 1e-12)
        };
        let translated: Vec<JointId> = skeleton.ids().filter(leaves).collect();
        let rotations = poses.iter().flat_map(|p| p.local().iter().map(|t| t.rotation)).collect();
        let translations =
            poses.iter().flat_map(|p| translated.iter().map(|&id| p.joint(id).translation)).collect();
        Self::new(name, sample_rate, skeleton.len(), rotations, translated, translations)
    }

    /// The property tracks at these frames.
    pub fn property_tracks_in(&self, frames: std::ops::Range<usize>) -> Vec<PropertyTrack> {
        self.property_tracks.iter().map(|c| c.picked(frames.clone())).collect()
    }

    /// The number of frames; may be 0.
    pub fn frames(&self) -> usize {
        self.rotations.len() / self.joints
    }

    /// The number of joints of a frame.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// From the first frame to the last, in seconds.
    pub fn duration(&self) -> f64 {
        self.frames().saturating_sub(1) as f64 / self.sample_rate
    }

    /// The time of a frame in seconds.
    pub fn time(&self, frame: usize) -> f64 {
        self.start + frame as f64 / self.sample_rate
    }

    /// The local rotations of one frame, in joint order.
    pub fn rotations(&self, frame: usize) -> &[Quat] {
        &self.rotations[frame * self.joints..][..self.joints]
    }

    /// The local rotations of one frame, mutable.
    pub fn rotations_mut(&mut self, frame: usize) -> &mut [Quat] {
        &mut self.rotations[frame * self.joints..][..self.joints]
    }

    /// All local rotations, frame-major.
    pub fn all_rotations(&self) -> &[Quat] {
        &self.rotations
    }

    /// All local rotations, frame-major, mutable.
    pub fn all_rotations_mut(&mut self) -> &mut [Quat] {
        &mut self.rotations
    }

    /// All local rotations, mutable, with the translated joints and their translations (frame-major), read-only.
    pub fn rotations_and_translations(&mut self) -> (&mut [Quat], &[JointId], &[Vec3]) {
        (&mut self.rotations, &self.translated, &self.translations)
    }

    /// The clip with other translations.
    ///
    /// # Panics
    /// As [`Clip::new`].
    pub fn translating(mut self, translated: Vec<JointId>, translations: Vec<Vec3>) -> Self {
        self.set_translations(translated, translations);
        self
    }

    /// Replaces the translations.
    ///
    /// # Panics
    /// As [`Clip::new`].
    pub fn set_translations(&mut self, translated: Vec<JointId>, translations: Vec<Vec3>) {
        assert_eq!(translations.len(), self.frames() * translated.len(), "whole frames of translations");
        assert!(translated.is_sorted_by(|a, b| a < b), "translated joints ascend");
        (self.translated, self.translations) = (translated, translations);
    }

    /// Splits the clip into consecutive parts of `frames` frames, without property tracks. Each part's memory is
    /// released from the clip, so that converting a clip part by part needs little more memory than one clip.
    ///
    /// # Panics
    /// If `frames` is 0.
    pub fn into_parts(mut self, frames: usize) -> Parts {
        assert!(frames > 0, "parts of some frames");
        let several = self.frames() > frames;
        if several {
            // A vector can release memory only at its end.
            self.rotations.reverse();
            self.translations.reverse();
        }
        Parts { clip: self, frames, reversed: several }
    }

    /// Appends the frames of other clips of the same skeleton and translated joints; `frames` is the expected total, for
    /// preallocation.
    ///
    /// # Panics
    /// If the joints differ.
    pub fn followed_by(mut self, others: impl Iterator<Item = Clip>, frames: usize) -> Clip {
        let more = frames.saturating_sub(self.frames());
        self.rotations.reserve_exact(more * self.joints);
        self.translations.reserve_exact(more * self.translated.len());
        for other in others {
            assert!(self.joints == other.joints && self.translated == other.translated, "the same joints");
            self.rotations.extend(other.rotations);
            self.translations.extend(other.translations);
        }
        self
    }

    /// The joints with animated translation, ascending.
    pub fn translated(&self) -> &[JointId] {
        &self.translated
    }

    /// The local translations of one frame, one for each of [`Clip::translated`], in metres.
    pub fn translations(&self, frame: usize) -> &[Vec3] {
        let n = self.translated.len();
        &self.translations[frame * n..][..n]
    }

    /// The local translations of one frame, mutable.
    pub fn translations_mut(&mut self, frame: usize) -> &mut [Vec3] {
        let n = self.translated.len();
        &mut self.translations[frame * n..][..n]
    }

    /// All local translations, frame-major.
    pub fn all_translations(&self) -> &[Vec3] {
        &self.translations
    }

    /// All local translations, frame-major, mutable.
    pub fn all_translations_mut(&mut self) -> &mut [Vec3] {
        &mut self.translations
    }

    /// Whether two clips hold the same numbers; `==` takes a rotation for its negative.
    pub(crate) fn has_numbers_of(&self, other: &Clip) -> bool {
        let few = |clip: &Clip| (clip.sample_rate, clip.start, clip.tolerance, clip.joints);
        few(self) == few(other)
            && self.name == other.name
            && self.translated == other.translated
            && self.translations == other.translations
            && self.property_tracks == other.property_tracks
            && self.rotations.iter().map(|q| q.coords).eq(other.rotations.iter().map(|q| q.coords))
    }

    /// One frame as a pose of `skeleton`.
    ///
    /// # Panics
    /// If the skeleton has another number of joints, or the frame does not exist.
    pub fn pose(&self, skeleton: &Skeleton, frame: usize) -> Pose {
        let mut pose = skeleton.rest_pose();
        self.read_pose(frame, &mut pose);
        pose
    }

    /// Writes one frame into `pose`, which must hold the skeleton's rest translations.
    ///
    /// # Panics
    /// If the pose has another number of joints, or the frame does not exist.
    pub fn read_pose(&self, frame: usize, pose: &mut Pose) {
        assert_eq!(pose.local().len(), self.joints, "a clip belongs to its skeleton");
        for (t, q) in pose.local_mut().iter_mut().zip(self.rotations(frame)) {
            t.rotation = *q;
        }
        for (id, v) in self.translated.iter().zip(self.translations(frame)) {
            pose.local_mut()[id.index()].translation = *v;
        }
    }

    /// The local transform of one joint in one frame.
    pub fn local(&self, skeleton: &Skeleton, frame: usize, id: JointId) -> Transform {
        let translation = match self.translated.binary_search(&id) {
            Ok(k) => self.translations(frame)[k],
            Err(_) => skeleton.joint(id).rest.translation,
        };
        Transform::new(self.rotations(frame)[id.index()], translation)
    }
}

/// The frames of a clip in parts: see [`Clip::into_parts`].
#[derive(Clone, Debug)]
pub struct Parts {
    /// The remaining frames.
    clip: Clip,
    frames: usize,
    /// Whether each list is reversed.
    reversed: bool,
}

impl Iterator for Parts {
    type Item = Clip;

    fn next(&mut self) -> Option<Clip> {
        fn taken<T>(list: &mut Vec<T>, count: usize, reversed: bool) -> Vec<T> {
            if !reversed {
                return std::mem::take(list);
            }
            let mut taken = list.split_off(list.len().saturating_sub(count));
            list.shrink_to_fit();
            taken.reverse();
            taken
        }
        let (clip, reversed) = (&mut self.clip, self.reversed);
        let frames = self.frames.min(clip.frames());
        if frames == 0 {
            return None;
        }
        let rotations = taken(&mut clip.rotations, frames * clip.joints, reversed);
        let translations = taken(&mut clip.translations, frames * clip.translated.len(), reversed);
        let translated = clip.translated.clone();
        let mut part =
            Clip::new(clip.name.clone(), clip.sample_rate, clip.joints, rotations, translated, translations);
        (part.start, part.tolerance) = (clip.start, clip.tolerance);
        clip.start += frames as f64 / clip.sample_rate;
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_in_order_are_the_clip(
            joints in 1..4usize, frames in 0..40usize, width in 1..20usize, moving in any::<bool>(),
        ) {
            let rotations = (0..joints * frames).map(|k| exp(&Vec3::new(0.01 * k as f64, 0.3, 0.0))).collect();
            let translated = if moving { vec![JointId::new(0)] } else { Vec::new() };
            let translations = (0..frames * translated.len()).map(|k| Vec3::y() * k as f64).collect();
            let clip = Clip::new("walk", 60.0, joints, rotations, translated, translations);
            let mut parts = clip.clone().into_parts(width);
            prop_assert!(parts.clone().all(|part| (1..=width).contains(&part.frames())));
            if let Some(first) = parts.next() {
                prop_assert_eq!(first.followed_by(parts, frames), clip);
            } else {
                prop_assert_eq!(frames, 0);
            }
        }
    }
}
