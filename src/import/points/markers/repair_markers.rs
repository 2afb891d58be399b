//! Corrects markers before joints are found from them: exchanged labels, gaps; and says what was corrected and what is missing.
//!
//! Space: Y up. Units: metres, seconds.

use super::exchanged_markers::{put_right, uneven};
use super::joint_centres::hips;
use super::rigid_groups;
use crate::anatomy::BodyPoint;
use crate::import::points::point_tracks::PointTracks;
use crate::import::points::whole_take_sides;
use crate::math::Vec3;
use crate::model::Side;
use crate::report::{Warnings, shortened};

/// The location that warnings name.
pub(super) const PLACE: &str = "the markers";

/// Markers that sit on one bone: their parts, in the middle or on both sides.
const BONES: [&[&str]; 3] =
    [&["asis", "psis", "sacrum"], &["temple", "head_back"], &["c7", "t10", "clavicle", "sternum"]];

/// Exchanged labels, then gaps of markers whose bone has others.
pub(super) fn repair(markers: &mut PointTracks, labels: &[&str], dt: f64, warnings: &mut Warnings) {
    let (points, mut tracks): (Vec<BodyPoint>, Vec<Vec<Vec3>>) =
        std::mem::take(&mut markers.tracks).into_iter().unzip();
    let swapped: Vec<String> = (put_right(&mut tracks).into_iter())
        .map(|(a, b, frames)| format!("{} and {} in {frames} frames", points[a], points[b]))
        .collect();
    if !swapped.is_empty() {
        let said = format!("exchanged labels are put right: {}", swapped.join("; "));
        warnings.add("points-marker-swap", said, PLACE);
    }
    let uneven = uneven(&points, &tracks);
    markers.tracks = points.iter().copied().zip(tracks).collect();
    if let Some((a, b)) = uneven {
        let ([left_a, right_a], [left_b, right_b]) =
            (pair(&points, labels, points[a].part), pair(&points, labels, points[b].part));
        let said = format!(
            "the distances of left and right markers differ as if {left_a} and {left_b} were exchanged throughout, or {right_a} and \
             {right_b} (exchange them in the file)"
        );
        warnings.add("points-marker-uneven", said, PLACE);
    } else {
        // An exchange of both sides keeps their distances alike; one of a single side looks like it across the pelvis.
        put_right_throughout(markers, labels, warnings);
    }
    let mut tracks: Vec<Vec<Vec3>> =
        std::mem::take(&mut markers.tracks).into_iter().map(|(_, track)| track).collect();
    let gap = |(point, track): (&BodyPoint, &Vec<Vec3>)| {
        let missing: Vec<bool> = track.iter().map(|p| !p.x.is_finite()).collect();
        let count = missing.iter().filter(|m| **m).count();
        let longest = missing.split(|m| !m).map(<[bool]>::len).max().unwrap_or(0) as f64 * dt;
        (count > 0).then(|| format!("{point}: {count}, the longest gap {longest:.2} s"))
    };
    let said: Vec<String> = points.iter().zip(&tracks).filter_map(gap).collect();
    if !said.is_empty() {
        warnings.add(
            "points-marker-gap",
            format!("markers were not seen in frames ({})", said.join("; ")),
            PLACE,
        );
    }
    for bone in BONES {
        let of_bone = points.iter().zip(&mut tracks).filter(|(point, _)| bone.contains(&point.part));
        rigid_groups::fill(&mut of_bone.map(|(_, track)| track).collect::<Vec<_>>());
    }
    markers.tracks = points.into_iter().zip(tracks).collect();
}

/// The labels of a part on the left and on the right.
fn pair(points: &[BodyPoint], labels: &[&str], part: &str) -> [String; 2] {
    Side::BOTH.map(|side| {
        let of_side = |point: &&BodyPoint| point.part == part && point.side == Some(side);
        let known = points.iter().zip(labels).find(|(point, _)| of_side(point));
        known.map_or_else(|| part.to_owned(), |(_, label)| shortened(label))
    })
}

/// Labels whose left and right are exchanged in the whole take.
fn put_right_throughout(markers: &mut PointTracks, labels: &[&str], warnings: &mut Warnings) {
    let found = whole_take_sides::put_right(markers, hips);
    let points: Vec<BodyPoint> = markers.tracks.iter().map(|(point, _)| *point).collect();
    let named = |parts: &[&str]| -> String {
        let pairs = parts.iter().map(|part| pair(&points, labels, part).join(" and "));
        pairs.collect::<Vec<_>>().join("; ")
    };
    if !found.put_right.is_empty() {
        let said = format!("labels exchanged throughout are put right: {}", named(&found.put_right));
        warnings.add("points-marker-swap-throughout", said, PLACE);
    }
    if !found.perhaps.is_empty() {
        let said = format!(
            "labels may be exchanged throughout, or limbs are crossed: {} (if so, exchange them in the file)",
            named(&found.perhaps)
        );
        warnings.add("points-marker-sides-unsure", said, PLACE);
    }
}

/// Says which markers of the head are missing, where others are there but its rotation is not found without them.
pub(super) fn tell_head(markers: &PointTracks, labels: &[&str], warnings: &mut Warnings) {
    let head = ["temple", "head_back", "forehead"];
    let seen = |track: &[Vec3]| 2 * track.iter().filter(|p| p.x.is_finite()).count() >= markers.frames;
    let of_head: Vec<BodyPoint> =
        markers.tracks.iter().map(|(point, _)| *point).filter(|point| head.contains(&point.part)).collect();
    let there: Vec<BodyPoint> = (markers.tracks.iter())
        .filter(|(point, track)| of_head.contains(point) && seen(track))
        .map(|(point, _)| *point)
        .collect();
    let both = |part: &str| there.iter().filter(|point| point.part == part).count() == 2;
    let forehead = there.iter().any(|point| point.part == "forehead");
    // A set with a crown and a forehead alone was never meant to have more.
    if of_head.iter().all(|point| point.part == "forehead")
        || both("temple") && (both("head_back") || forehead)
    {
        return;
    }
    let mut known: Vec<String> = (markers.tracks.iter().zip(labels))
        .filter(|((point, _), _)| there.contains(point))
        .map(|(_, label)| shortened(label))
        .collect();
    if known.is_empty() {
        known.push("none".to_owned());
    }
    let said = format!(
        "no rotation of the head is found: of its markers only {} are seen in most frames, and it needs both at the temples and two at \
         the back, or one on the forehead",
        known.join(", ")
    );
    warnings.add("points-marker-head", said, PLACE);
}
