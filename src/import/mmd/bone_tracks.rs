//! Keys of bones and morph targets at the frames of a motion.
//!
//! Displacements follow the curve of each axis, rotations the shortest arc by theirs, weights of morph targets a straight line. Before the
//! first key and after the last one a bone stays where the key puts it.

use super::vmd_keys::{VmdKey, VmdKeys};
use crate::math::{Quat, Transform, slerp};
use crate::mmd_document::{MmdBone, NAME_BYTES, encoded, point_from_mmd, rotation_from_mmd};

/// The keys of a bone or a target, which are looked up at ascending frames.
#[derive(Clone, Debug)]
pub(super) struct KeySeries<'a, K> {
    keys: &'a [K],
    /// The number of keys at or before the last frame that was looked up.
    before: usize,
}

impl<'a, K> KeySeries<'a, K> {
    pub(super) fn new(keys: &'a [K]) -> Self {
        Self { keys, before: 0 }
    }

    /// The keys around a frame and the share of the time between them; `None` without keys.
    fn around(&mut self, frame: u32, of: impl Fn(&K) -> u32) -> Option<(&'a K, &'a K, f64)> {
        while self.keys.get(self.before).is_some_and(|key| of(key) <= frame) {
            self.before += 1;
        }
        let a = self.keys.get(self.before.saturating_sub(1))?;
        let b = self.keys.get(self.before).unwrap_or(a);
        let (from, to) = (of(a), of(b));
        let share =
            if to > from && frame > from { f64::from(frame - from) / f64::from(to - from) } else { 0.0 };
        Some((a, b, share))
    }
}

impl KeySeries<'_, VmdKey> {
    /// The rotation and displacement of the bone, in model space.
    pub(super) fn own(&mut self, frame: u32) -> Transform {
        let Some((a, b, share)) = self.around(frame, |key| key.frame) else { return Transform::identity() };
        let [from, to] = [a, b].map(|key| point_from_mmd(key.translation));
        let rotation = rotation_from_mmd(a.rotation);
        if share == 0.0 {
            return Transform::new(rotation, from);
        }
        let axis = |k: usize| from[k] + (to[k] - from[k]) * b.curves[k].at(share);
        let rotation: Quat = slerp(&rotation, &rotation_from_mmd(b.rotation), b.curves[3].at(share));
        Transform::new(rotation, [axis(0), axis(1), axis(2)].into())
    }
}

impl KeySeries<'_, (u32, f32)> {
    /// The weight of the target.
    pub(super) fn weight(&mut self, frame: u32) -> f32 {
        let Some((a, b, share)) = self.around(frame, |key| key.0) else { return 0.0 };
        a.1 + (b.1 - a.1) * share as f32
    }
}

/// The keys of each bone, empty for those without, and the bones of the motion that the model does not have.
pub(super) fn of_bones<'a>(bones: &[MmdBone], keys: &'a VmdKeys) -> (Vec<&'a [VmdKey]>, Vec<&'a [u8]>) {
    let names: Vec<Option<Vec<u8>>> = bones.iter().map(|bone| encoded(&bone.name, NAME_BYTES)).collect();
    let mut known = std::collections::BTreeSet::new();
    let lists = names.iter().map(|name| {
        // The first bone of a name has the motion.
        let name = name.as_ref().filter(|name| known.insert((*name).clone()))?;
        keys.bones.get(name).map(Vec::as_slice)
    });
    let lists = lists.map(Option::unwrap_or_default).collect();
    let strange = keys.bones.keys().filter(|name| !known.contains(*name)).map(Vec::as_slice).collect();
    (lists, strange)
}
