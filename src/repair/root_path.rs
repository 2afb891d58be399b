//! The path of the joint that moves the whole body, and displacements of that joint.

use crate::math::{Transform, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, Motion, Skeleton};

/// The joint that moves everything with a role, and its translation track in the clip.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RootPath {
    joint: JointId,
    track: usize,
    /// Whether the track was added here.
    added: bool,
    /// Its ancestors, from the root on.
    above: Vec<JointId>,
}

impl RootPath {
    /// Finds the lowest joint with a translation track that is an ancestor of all roles, else uses the root, which
    /// then gets a track.
    pub fn of(motion: &mut Motion) -> Self {
        let rig = &motion.character.rig;
        let skeleton = rig.skeleton();
        let moves_all = |id: JointId| rig.assignments().all(|(_, a)| skeleton.is_ancestor(id, a.joint));
        let known = rig.assignments().next().is_some();
        let mut tracks = motion.clip.translated().iter().copied();
        let lowest = if known { tracks.rfind(|id| moves_all(*id)) } else { tracks.next() };
        let joint = lowest.unwrap_or(JointId::new(0));
        let added = lowest.is_none();
        if added {
            add_track(&mut motion.clip, skeleton, joint);
        }
        let track = motion.clip.translated().binary_search(&joint).expect("the joint has a track");
        let mut above: Vec<JointId> = motion.character.skeleton().path_to_root(joint).skip(1).collect();
        above.reverse();
        Self { joint, track, added, above }
    }

    /// The motion without the added track, which has not been changed.
    pub fn applied_to(&self, mut motion: Motion) -> Motion {
        if self.added {
            remove_track(&mut motion.clip, self.track);
        }
        motion
    }

    /// The transform of the parent, model space from its space.
    fn base(&self, motion: &Motion, frame: usize) -> Transform {
        let skeleton = motion.character.skeleton();
        self.above.iter().fold(Transform::identity(), |at, id| at * motion.clip.local(skeleton, frame, *id))
    }

    /// The positions of the joint in all frames.
    pub fn positions(&self, motion: &Motion) -> Vec<Vec3> {
        let own = |f: usize| motion.clip.translations(f)[self.track];
        match self.above.is_empty() {
            true => (0..motion.clip.frames()).map(own).collect(),
            false => (0..motion.clip.frames()).map(|f| self.base(motion, f).point(&own(f))).collect(),
        }
    }

    /// Displaces the body in one frame; rotations stay.
    pub fn shift(&self, motion: &mut Motion, frame: usize, displacement: &Vec3) {
        let base = self.base(motion, frame);
        motion.clip.translations_mut(frame)[self.track] += base.rotation.inverse() * displacement;
    }

    /// Applies a transform of model space to the body in one frame.
    pub fn transform(&self, motion: &mut Motion, frame: usize, by: &Transform) {
        let base = self.base(motion, frame);
        let j = self.joint.index();
        let own =
            Transform::new(motion.clip.rotations(frame)[j], motion.clip.translations(frame)[self.track]);
        let new = base.inverse() * *by * base * own;
        motion.clip.rotations_mut(frame)[j] = same_hemisphere(new.rotation, &own.rotation);
        motion.clip.translations_mut(frame)[self.track] = new.translation;
    }
}

/// Adds a translation track of the rest translation to `joint`, which has none.
fn add_track(clip: &mut Clip, skeleton: &Skeleton, joint: JointId) {
    let mut translated = clip.translated().to_vec();
    let at = translated.binary_search(&joint).unwrap_or_else(|at| at);
    translated.insert(at, joint);
    let mut translations = Vec::with_capacity(translated.len() * clip.frames());
    for f in 0..clip.frames() {
        let row = clip.translations(f);
        translations.extend_from_slice(&row[..at]);
        translations.push(skeleton.joint(joint).rest.translation);
        translations.extend_from_slice(&row[at..]);
    }
    clip.set_translations(translated, translations);
}

/// Removes a translation track.
fn remove_track(clip: &mut Clip, track: usize) {
    let mut translated = clip.translated().to_vec();
    let width = translated.len();
    translated.remove(track);
    let others = clip.all_translations().iter().enumerate().filter(|(k, _)| k % width != track);
    let translations = others.map(|(_, translation)| *translation).collect();
    clip.set_translations(translated, translations);
}
