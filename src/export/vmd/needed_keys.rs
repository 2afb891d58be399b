//! The frames whose keys keep every bone within a tolerance, between which players go in straight lines.
//!
//! An error of a bone moves all below it: an angle `a` by at most `a r`, with `r` the longest path from it to the end of a chain.
//! The errors of the bones of the longest chain, those that a bone copies included, add up to the tolerance. Conservative, as
//! `key_reduction` begins. Units: metres, radians.

use super::vmd_writer::BoneTrack;
use crate::export::key_reduction::{LEAST_RADIUS, thin};
use crate::math::Transform;
use crate::mmd_document::{MmdBone, point_from_mmd, rotation_from_mmd};

/// Sets the keys that the tracks, one for each of `bones`, need within `tolerance` metres.
pub(super) fn reduce(tracks: &mut [BoneTrack], bones: &[MmdBone], tolerance: f64) {
    let differs = |track: &BoneTrack, part: std::ops::Range<usize>| {
        let first = track.values.first();
        usize::from(
            track.values.iter().any(|v| first.is_some_and(|first| v[part.clone()] != first[part.clone()])),
        )
    };
    // What never moves has no error: the displacement of most bones.
    let own: Vec<usize> = tracks.iter().map(|track| differs(track, 0..3) + differs(track, 3..7)).collect();
    let copied = |k: usize| bones[k].append.as_ref().map(|append| append.source);
    // Copies of copies in a circle end after all bones.
    let errors = |k: usize| {
        let sources = std::iter::successors(copied(k), |source| copied(*source)).take(bones.len());
        own[k] + sources.map(|source| own[source]).sum::<usize>()
    };
    let mut reach = vec![LEAST_RADIUS; bones.len()];
    let mut most = 1;
    for k in 0..bones.len() {
        let (mut length, mut count, mut at) = (LEAST_RADIUS, errors(k), k);
        // Parents in a circle end after all bones.
        for _ in 0..bones.len() {
            let Some(parent) = bones[at].parent else { break };
            length += bones[at].offset(bones).norm();
            count += errors(parent);
            reach[parent] = reach[parent].max(length);
            at = parent;
        }
        most = most.max(count);
    }
    let share = tolerance / most as f64;
    for (track, reach) in tracks.iter_mut().zip(reach) {
        let samples: Vec<_> = track
            .values
            .iter()
            .map(|&[x, y, z, i, j, k, w]| {
                Transform::new(rotation_from_mmd([i, j, k, w]), point_from_mmd([x, y, z]))
            })
            .collect();
        let needed = thin(&samples, share, Transform::interpolated, |a, b| {
            (a.translation - b.translation).norm().max(reach * a.rotation.angle_to(&b.rotation))
        });
        track.needed = Some(needed);
    }
}
