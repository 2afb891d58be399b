//! Poses at a uniform rate, stored frame by frame.

use super::rotation_rows::{RotationRow, RotationRows};
use super::{JointId, Pose, PropertyTrack, Skeleton};
use crate::math::{Quat, Transform, Vec3};
use std::ops::Range;

/// Lowest and highest valid frame rate, Hz: well beyond those of any capture.
pub(crate) const FRAME_RATES: [f64; 2] = [0.1, 10_000.0];

/// Whether a number can be a frame rate.
pub(crate) fn is_frame_rate(rate: f64) -> bool {
    (FRAME_RATES[0]..=FRAME_RATES[1]).contains(&rate)
}

/// Poses of one skeleton at a uniform rate.
///
/// Shape: `rotations` holds `frames x joints` local rotations, frame-major, those of long takes in a temporary file; `translations`
/// holds `frames x translated.len()` local translations for the joints listed in `translated` (ascending). Every
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
    rotations: RotationRows,
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
        Self::of_rows(name, sample_rate, RotationRows::of(joints, rotations), translated, translations)
    }

    /// As [`Clip::new`], of rows of rotations.
    pub(crate) fn of_rows(
        name: impl Into<String>,
        sample_rate: f64,
        rotations: RotationRows,
        translated: Vec<JointId>,
        translations: Vec<Vec3>,
    ) -> Self {
        let (name, start, tolerance, property_tracks) = (name.into(), 0.0, None, Vec::new());
        let mut clip = Self {
            name,
            sample_rate,
            start,
            tolerance,
            property_tracks,
            rotations,
            translated: Vec::new(),
            translations: Vec::new(),
        };
        clip.set_translations(translated, translations);
        clip
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

    /// A range of frames; its start time is that of the whole clip.
    ///
    /// # Panics
    /// If the range exceeds the clip.
    pub fn part(&self, frames: Range<usize>) -> Clip {
        let tracks = self.translated.len();
        Clip {
            name: self.name.clone(),
            property_tracks: self.property_tracks_in(frames.clone()),
            rotations: self.rotations.part(frames.clone()),
            translated: self.translated.clone(),
            translations: self.translations[frames.start * tracks..frames.end * tracks].to_vec(),
            ..*self
        }
    }

    /// The property tracks at these frames.
    pub fn property_tracks_in(&self, frames: Range<usize>) -> Vec<PropertyTrack> {
        self.property_tracks.iter().map(|c| c.picked(frames.clone())).collect()
    }

    /// The number of frames; may be 0.
    pub fn frames(&self) -> usize {
        self.rotations.frames()
    }

    /// The number of joints of a frame.
    pub fn joints(&self) -> usize {
        self.rotations.width()
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
    pub fn rotations(&self, frame: usize) -> RotationRow<'_> {
        self.rotations.row(frame)
    }

    /// The local rotations of one frame, mutable.
    pub fn rotations_mut(&mut self, frame: usize) -> &mut [Quat] {
        self.rotations.row_mut(frame)
    }

    /// The local rotations of one joint, in all frames.
    pub fn rotations_of(&self, joint: usize) -> Vec<Quat> {
        (0..self.frames()).map(|f| self.rotations(f)[joint]).collect()
    }

    /// All local rotations, frame-major, where they are in memory: not those of long takes.
    pub fn rotations_in_memory(&self) -> Option<&[Quat]> {
        self.rotations.in_memory()
    }

    /// A copy of all local rotations, frame-major.
    pub fn all_rotations(&self) -> Vec<Quat> {
        self.rotations.to_vec()
    }

    /// Changes rotations in parallel, a block of consecutive frames at a time: `change` gets the number of the first frame, the
    /// rotations of the block and its translations, both frame-major. The values that it returns, in order.
    pub(crate) fn change_rotations<T: Send>(
        &mut self,
        change: impl Fn(usize, &mut [Quat], &[Vec3]) -> T + Sync,
    ) -> Vec<T> {
        let (joints, tracks, translations) = (self.joints(), self.translated.len(), &self.translations);
        self.rotations.change_blocks(|first, rotations| {
            let frames = first..first + rotations.len() / joints;
            change(first, rotations, &translations[frames.start * tracks..frames.end * tracks])
        })
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

    /// Consecutive parts of `frames` frames, without property tracks; memory is released with each.
    ///
    /// # Panics
    /// If `frames` is 0.
    pub fn into_parts(self, frames: usize) -> impl Iterator<Item = Clip> {
        let Self { name, sample_rate, start, tolerance, rotations, translated, translations, .. } = self;
        let mut first = 0;
        rotations.into_parts(frames).map(move |rotations| {
            let (from, to) = (first, first + rotations.frames());
            first = to;
            let own = translations[from * translated.len()..to * translated.len()].to_vec();
            let mut part = Self::of_rows(name.clone(), sample_rate, rotations, translated.clone(), own);
            (part.start, part.tolerance) = (start + from as f64 / sample_rate, tolerance);
            part
        })
    }

    /// Appends the frames of other clips of the same skeleton and translated joints; `frames` is the expected total, for
    /// preallocation.
    ///
    /// # Panics
    /// If the joints differ.
    pub fn followed_by(mut self, others: impl Iterator<Item = Clip>, frames: usize) -> Clip {
        let more = frames.saturating_sub(self.frames());
        self.rotations.reserve(more);
        self.translations.reserve_exact(more * self.translated.len());
        for other in others {
            let alike = self.joints() == other.joints() && self.translated == other.translated;
            assert!(alike, "the same joints");
            self.rotations.append(&other.rotations);
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
        let few = |clip: &Clip| (clip.sample_rate, clip.start, clip.tolerance, clip.joints(), clip.frames());
        let alike = |f: usize| {
            let (own, theirs) = (self.rotations(f), other.rotations(f));
            own.iter().map(|q| q.coords).eq(theirs.iter().map(|q| q.coords))
        };
        few(self) == few(other)
            && self.name == other.name
            && self.translated == other.translated
            && self.translations == other.translations
            && self.property_tracks == other.property_tracks
            && (0..self.frames()).all(alike)
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
        assert_eq!(pose.local().len(), self.joints(), "a clip belongs to its skeleton");
        for (t, q) in pose.local_mut().iter_mut().zip(self.rotations(frame).iter()) {
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
            let parts = (0..frames).step_by(width).map(|first| clip.part(first..frames.min(first + width)));
            let mut parts = parts.collect::<Vec<_>>().into_iter();
            let freed: Vec<Clip> = clip.clone().into_parts(width).map(|part| Clip { start: 0.0, ..part }).collect();
            prop_assert_eq!(parts.as_slice(), &freed[..]);
            if let Some(first) = parts.next() {
                prop_assert_eq!(first.followed_by(parts, frames), clip);
            }
        }
    }
}
