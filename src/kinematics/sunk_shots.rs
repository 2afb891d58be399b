//! Finds parts of a take that are far below the floor of the rest.
//!
//! Some exporters begin a take with frames in which all channels are zero: a T-pose with its pelvis on the floor, a leg below the
//! motion. Such frames are a shot of their own; a floor that they counted for would be a leg too deep.

use std::ops::Range;

/// Depth below the floor, leg lengths, from which a shot is sunk. No stairs go as deep in one cut; a zero pose is one leg deep.
pub const SUNK: f64 = 0.5;

/// The shots that are sunk, and by how much: `lowest` is the height of the floor of a shot, that of the take is the one of most frames.
/// None without cuts. `leg_length` is the length of the legs, in the unit of heights.
pub fn sunk_shots(
    shots: &[Range<usize>],
    lowest: impl Fn(&Range<usize>) -> f64,
    leg_length: f64,
) -> Vec<(Range<usize>, f64)> {
    if shots.len() < 2 {
        return Vec::new();
    }
    let own: Vec<(f64, &Range<usize>)> = shots.iter().map(|shot| (lowest(shot), shot)).collect();
    let mut sorted = own.clone();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let frames: usize = shots.iter().map(Range::len).sum();
    let mut below = 0;
    let middle = sorted.iter().find(|(_, shot)| {
        below += shot.len();
        2 * below >= frames
    });
    let floor = middle.map_or(0.0, |(height, _)| *height);
    let depths = own.into_iter().map(|(height, shot)| (shot.clone(), floor - height));
    depths.filter(|(_, depth)| *depth > SUNK * leg_length).collect()
}
