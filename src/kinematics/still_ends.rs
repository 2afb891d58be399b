//! Finds the frames of a clip between poses that it holds at its ends.

use crate::model::Clip;
use std::ops::Range;

/// Difference of translations, metres, and of components of quaternions up to which a frame repeats another: rounding of a clip that
/// was resampled.
const SAME: f64 = 1e-9;
/// Fewest frames between held ends; a clip with fewer is a still pose as a whole.
const FEWEST: usize = 10;

/// The frames without those at either end that repeat the next one inwards; all of a clip that hardly moves.
pub fn without_still_ends(clip: &Clip) -> Range<usize> {
    let frames = clip.frames();
    let repeats = |a: usize, b: usize| {
        let rows = [a, b].map(|frame| clip.rotations(frame));
        let mut rotations = rows[0].iter().zip(rows[1].iter()).map(|(a, b)| (a.coords - b.coords).amax());
        let translations = clip.translations(a).iter().zip(clip.translations(b));
        rotations.all(|apart| apart < SAME) && translations.map(|(a, b)| (a - b).amax()).all(|d| d < SAME)
    };
    let mut kept = 0..frames;
    while kept.len() > 1 && repeats(kept.end - 1, kept.end - 2) {
        kept.end -= 1;
    }
    while kept.len() > 1 && repeats(kept.start, kept.start + 1) {
        kept.start += 1;
    }
    if kept.len() < FEWEST { 0..frames } else { kept }
}
