//! Fills gaps in the observed points.
//!
//! The vector from the point that it hangs on (knee from hip, hand from wrist) is interpolated by monotone cubics and held at
//! the ends; lengths become right when the limbs are fitted. Units: metres, seconds.

use super::point_tracks::{INDISPENSABLE, PointTracks};
use super::points_error::PointsError;
use crate::anatomy::BodyPoint;
use crate::math::Vec3;
use crate::signal::monotone;

/// A point that is missing in more than this share of the frames is left out: most of it would be invented.
const MISSING: f64 = 0.5;

/// Corrections of gaps.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Points with the number of filled frames and the longest gap, frames.
    pub(super) filled: Vec<(BodyPoint, usize, usize)>,
    /// The same points, with whether each frame was filled.
    pub(super) frames: Vec<(BodyPoint, Vec<bool>)>,
    /// Points that are left out, with the share of frames in which they are missing.
    pub(super) left_out: Vec<(BodyPoint, f64)>,
}

/// The part from which a part of the same side hangs.
fn parent(part: &str) -> Option<&'static str> {
    Some(match part {
        "knee" => "hip",
        "ankle" => "knee",
        "toe" | "heel" | "foot_tip" | "big_toe" | "small_toe" => "ankle",
        "elbow" => "shoulder",
        "wrist" => "elbow",
        "hand" | "index" | "pinky" | "thumb" | "hand_tip" => "wrist",
        _ => return None,
    })
}

/// The order in which points are filled: those that others hang on first.
fn rank(point: BodyPoint) -> usize {
    const ORDER: [&str; 6] = ["hip", "shoulder", "knee", "elbow", "ankle", "wrist"];
    match (point.side, ORDER.iter().position(|part| *part == point.part)) {
        (Some(_), Some(0)) => 0,
        (None, _) => 1,
        (Some(_), Some(rank)) => 1 + rank,
        (Some(_), None) => 1 + ORDER.len(),
    }
}

fn finite(p: &Vec3) -> bool {
    p.iter().all(|x| x.is_finite())
}

/// Fills every gap. Afterwards all positions are finite, and sided points are on both sides.
///
/// # Errors
/// An indispensable point that is missing in most frames.
pub(super) fn fill(points: &mut PointTracks) -> Result<Gaps, PointsError> {
    let mut gaps = Gaps::default();
    let frames = points.frames as f64;
    points.tracks.sort_by_key(|(point, _)| rank(*point));
    points.tracks.retain(|(point, track)| {
        let share = track.iter().filter(|p| !finite(p)).count() as f64 / frames;
        if share > MISSING {
            gaps.left_out.push((*point, share));
        }
        share <= MISSING
    });
    let known: Vec<BodyPoint> = points.tracks.iter().map(|t| t.0).collect();
    points.tracks.retain(|(point, _)| {
        let other = point.side.map(|side| BodyPoint { side: Some(side.other()), ..*point });
        other.is_none_or(|other| known.contains(&other))
    });
    let lost: Vec<&str> = (INDISPENSABLE.into_iter())
        .filter(|part| !points.tracks.iter().any(|(p, _)| p.side.is_some() && p.part == *part))
        .collect();
    if !lost.is_empty() {
        return Err(PointsError::Missing { parts: lost.join(", ") });
    }
    for k in 0..points.tracks.len() {
        let (point, track) = &points.tracks[k];
        let missing: Vec<bool> = track.iter().map(|p| !finite(p)).collect();
        let count = missing.iter().filter(|m| **m).count();
        if count == 0 {
            continue;
        }
        let longest = missing.split(|m| !m).map(<[bool]>::len).max().unwrap_or(0);
        gaps.filled.push((*point, count, longest));
        let base = match (point.side, parent(point.part)) {
            (Some(side), Some(part)) => points.of(side, part).map(<[Vec3]>::to_vec),
            _ if point.part == "hip" => None,
            _ => points.between("hip"),
        };
        let base = base.filter(|track| track.iter().all(finite));
        let base = base.unwrap_or_else(|| vec![Vec3::zeros(); track.len()]);
        let keys: Vec<(f64, [f64; 3])> = (0..track.len())
            .filter(|f| !missing[*f])
            .map(|f| (f as f64, (track[f] - base[f]).into()))
            .collect();
        let fill = |f: usize| base[f] + Vec3::from(monotone(&keys, f as f64).unwrap_or_default());
        let whole = (0..track.len()).map(|f| if missing[f] { fill(f) } else { track[f] }).collect();
        gaps.frames.push((*point, missing));
        points.tracks[k].1 = whole;
    }
    Ok(gaps)
}
