//! Chooses one of several people, or samples, of a file of points.

use super::points_error::PointsError;

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
