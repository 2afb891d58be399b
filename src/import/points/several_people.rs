//! Chooses one of several people, or samples, of a file of points, and follows a person whose place in the list changes.

use super::points_error::PointsError;
use crate::math::Vec3;
use crate::report::Warnings;

/// People that a message lists at most.
const LISTED: usize = 12;

/// The person that is read: the one that the user names, else the only one with points. `seen`: for each person, the number of frames
/// with points, of `frames`.
///
/// # Errors
/// Several people without a choice, and a number that nobody has.
pub(super) fn chosen_person(
    seen: &[usize],
    frames: usize,
    wanted: Option<usize>,
) -> Result<usize, PointsError> {
    let listed = || {
        let one = |(k, seen): (usize, &usize)| format!("{k} in {seen} of {frames} frames");
        let mut all: Vec<String> = seen.iter().enumerate().take(LISTED).map(one).collect();
        if seen.len() > LISTED {
            all.push(format!("and {} more", seen.len() - LISTED));
        }
        all.join(", ")
    };
    if let Some(wanted) = wanted {
        let nobody = || PointsError::NoPerson { wanted, listed: listed() };
        return (wanted < seen.len()).then_some(wanted).ok_or_else(nobody);
    }
    let mut with_points = (0..seen.len()).filter(|k| seen[*k] > 0);
    match (with_points.next(), with_points.next()) {
        (Some(_), Some(_)) => Err(PointsError::SeveralPeople { listed: listed() }),
        (only, _) => Ok(only.unwrap_or(0)),
    }
}

/// Mean distance of the points from those of the frame before beyond which a person may be another one, as a share of the size of the
/// body, the mean distance of its points from their middle (0.5 m): 25 cm are 7.5 m/s at 30 frames per second.
const FAR: f64 = 0.5;
/// Another place in the list must have so small a share of that distance.
const NEARER: f64 = 0.5;

/// The place of a person in the list of each frame: the `chosen` one, unless another one fits the frame before much better.
pub(super) fn followed(
    frames: &[Vec<Vec<Vec3>>],
    chosen: usize,
    location: &str,
    warnings: &mut Warnings,
) -> Vec<usize> {
    let (mut place, mut seen): (usize, Option<&[Vec3]>) = (chosen, None);
    let mut changes = Vec::new();
    let mut places = Vec::with_capacity(frames.len());
    for (frame, people) in frames.iter().enumerate() {
        if let Some(seen) = seen {
            let apart = people.iter().map(|points| distance(points, seen)).collect::<Vec<f64>>();
            let own = apart.get(place).copied().unwrap_or(f64::INFINITY);
            let nearest = (0..apart.len()).min_by(|a, b| apart[*a].total_cmp(&apart[*b]));
            if let Some(nearest) = nearest
                && apart[nearest] < (NEARER * own).min(FAR * size(seen))
                && own > FAR * size(seen)
            {
                changes.push((frame, place, nearest));
                place = nearest;
            }
        }
        let points = people.get(place).filter(|points| points.iter().any(|p| p.x.is_finite()));
        seen = points.map(Vec::as_slice).or(seen);
        places.push(place);
    }
    if let [(frame, from, to), ..] = changes[..] {
        let said = format!(
            "person {chosen} was followed, whose place in the list of people changes {} times, first in frame {frame} from {from} to {to}",
            changes.len()
        );
        warnings.add("points-person", said, location);
    }
    places
}

/// The mean distance between points that both frames have; infinite without any.
fn distance(points: &[Vec3], others: &[Vec3]) -> f64 {
    let both = points.iter().zip(others).map(|(a, b)| (a - b).norm()).filter(|d| d.is_finite());
    let (sum, count) = both.fold((0.0, 0), |(sum, count), d| (sum + d, count + 1));
    if count > 0 { sum / f64::from(count) } else { f64::INFINITY }
}

/// The mean distance of points from their middle.
fn size(points: &[Vec3]) -> f64 {
    let known = || points.iter().filter(|p| p.iter().all(|x| x.is_finite()));
    let middle = known().sum::<Vec3>() / known().count().max(1) as f64;
    distance(points, &vec![middle; points.len()])
}
