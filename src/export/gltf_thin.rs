//! A track with a value for every frame becomes one with the keys that it needs.
//!
//! What holds still keeps two keys, so that the clip keeps its length; what may lose keys (`Clip::tolerance`) keeps
//! those that [`super::reduce`] chose; everything else keeps all.

use super::gltf_local;
use super::gltf_nodes::{NodeTrack, Values};
use super::reduce::Keys;

/// The frames of keys, ascending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum KeyFrames {
    /// All of so many.
    All(usize),
    /// These.
    At(Vec<usize>),
}

impl KeyFrames {
    /// These of so many, which may be all of them.
    pub(super) fn of(at: Vec<usize>, frames: usize) -> Self {
        if at.len() == frames { KeyFrames::All(frames) } else { KeyFrames::At(at) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            KeyFrames::All(frames) => *frames,
            KeyFrames::At(at) => at.len(),
        }
    }

    /// One of them.
    pub(super) fn get(&self, key: usize) -> usize {
        match self {
            KeyFrames::All(_) => key,
            KeyFrames::At(at) => at[key],
        }
    }
}

/// The track and the frames of its keys. `nodes` are the nodes of the joints, `keys` theirs, empty to keep all.
pub(super) fn thin<'a>(
    track: NodeTrack<'a>,
    nodes: &[Option<usize>],
    keys: &[Keys],
    frames: usize,
) -> (NodeTrack<'a>, KeyFrames) {
    if track.constant && frames > 2 {
        return (track, KeyFrames::At(vec![0, frames - 1]));
    }
    let joint = nodes.iter().position(|n| *n == Some(track.node));
    let wanted =
        joint.and_then(|j| keys.get(j)).map(|k| if track.rotation { &k.rotation } else { &k.translation });
    match wanted {
        Some(wanted) if !wanted.is_empty() && wanted.len() < frames => {
            let width = if track.rotation { 4 } else { 3 };
            let all = numbers(track.values, frames);
            // One frame stands for all: it is written at both ends.
            let at: Vec<usize> = if wanted.len() == 1 { vec![wanted[0]; 2] } else { wanted.clone() };
            let values = at.iter().flat_map(|&f| all[f * width..][..width].to_vec()).collect();
            let keyed = if wanted.len() == 1 { vec![0, frames - 1] } else { at };
            (NodeTrack { values: Values::Ready(values), ..track }, KeyFrames::of(keyed, frames))
        }
        _ => (track, KeyFrames::All(frames)),
    }
}

/// The numbers of a track, for every frame.
pub(super) fn numbers(values: Values, frames: usize) -> Vec<f32> {
    match values {
        Values::Ready(values) => values,
        Values::Local(rotations) => {
            let mut bytes = vec![0; 16 * frames];
            gltf_local::write(&mut [(&rotations, &mut bytes)]);
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        }
    }
}
