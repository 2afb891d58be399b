//! Reduces a track with a value for every frame to the keys that it needs.
//!
//! A constant track keeps two keys, so that the clip keeps its duration. With `Clip::tolerance`, a track keeps the keys that
//! [`crate::export::key_reduction`] selected; otherwise it keeps all.

use super::node_tracks::{NodeTrack, TrackValues};
use crate::export::key_reduction::JointKeys;

/// The frames of keys, ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyFrames {
    /// All of this many frames.
    All(usize),
    /// These frames.
    At(Vec<usize>),
}

impl KeyFrames {
    /// The frames `at` of `frames`, which may be all.
    pub(super) fn of(at: Vec<usize>, frames: usize) -> Self {
        if at.len() == frames { KeyFrames::All(frames) } else { KeyFrames::At(at) }
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        match self {
            KeyFrames::All(frames) => *frames,
            KeyFrames::At(at) => at.len(),
        }
    }

    /// The frame of a key.
    pub(super) fn get(&self, key: usize) -> usize {
        match self {
            KeyFrames::All(_) => key,
            KeyFrames::At(at) => at[key],
        }
    }
}

/// The reduced track and the frames of its keys. `joint_of` is the joint of each node, `keys` the keys of the joints; empty to
/// keep all.
pub(super) fn thin<'a>(
    track: NodeTrack<'a>,
    joint_of: &[Option<usize>],
    keys: &[JointKeys],
    frames: usize,
) -> (NodeTrack<'a>, KeyFrames) {
    if track.constant && frames > 2 {
        return (track, KeyFrames::At(vec![0, frames - 1]));
    }
    let joint = joint_of[track.node];
    let wanted =
        joint.and_then(|j| keys.get(j)).map(|k| if track.rotation { &k.rotation } else { &k.translation });
    match wanted {
        Some(wanted) if !wanted.is_empty() && wanted.len() < frames => {
            let width = if track.rotation { 4 } else { 3 };
            let all = track.values.into_numbers(frames);
            // One frame represents all: it is written at both ends.
            let at: Vec<usize> = if wanted.len() == 1 { vec![wanted[0]; 2] } else { wanted.clone() };
            let values = at.iter().flat_map(|&f| all[f * width..][..width].to_vec()).collect();
            let keyed = if wanted.len() == 1 { vec![0, frames - 1] } else { at };
            (NodeTrack { values: TrackValues::Ready(values), ..track }, KeyFrames::of(keyed, frames))
        }
        _ => (track, KeyFrames::All(frames)),
    }
}
