//! C3D and TRC as import formats: reads, corrects, finds the joints, and fits them as arrays of positions.

use super::joint_centres::{SubjectSizes, centres, missing, unseen};
use super::marker_recording::MarkerRecording;
use super::marker_sites::{SiteTable, nearest_set, set_named, set_names};
use super::repair_markers::{PLACE, repair, tell_head};
use super::{c3d_file, marker_table, trc_file};
use crate::anatomy::{ArrayAxes, BodyPoint};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::{ImportOptions, PointLayout, UpAxis};
use crate::import::points::point_tracks::PointTracks;
use crate::import::points::points_error::PointsError;
use crate::import::points::points_format::{BYTES_PER_POINT, FittedPoints, USUAL_RATE};
use crate::math::{Vec3, median};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Side};
use crate::report::{Warnings, shortened};

/// C3D files.
pub const C3D: ReadFormat = ReadFormat {
    name: "c3d",
    suffixes: &["c3d"],
    about: "markers of a laboratory: takes, with joint centres and rotations fitted",
    loses: "analog samples, forces, other people than the one with most markers",
    recognise: c3d_file::is_one,
    read: |source, options| {
        let budget = options.budget(source.bytes);
        asset(c3d_file::read(source.bytes, &budget)?, source, options, &budget)
    },
};

/// TRC files.
pub const TRC: ReadFormat = ReadFormat {
    name: "trc",
    suffixes: &["trc"],
    about: "markers as a table (Motion Analysis, OpenSim): takes, with joint centres and rotations fitted",
    loses: "other people than the one with most markers",
    recognise: |head| head.starts_with(trc_file::START),
    read: |source, options| {
        let budget = options.budget(source.bytes);
        asset(trc_file::read(source.bytes, &budget)?, source, options, &budget)
    },
};

/// Labels that a message lists at most: enough to recognise the set of a laboratory.
const LISTED: usize = 8;
/// Labels of a second body from which it is told: fewer are stray names.
const SECOND: usize = 6;
/// Units with the shortest and the longest shin in them, 0.25 to 0.6 m, between the outer markers of knee and ankle.
const SHINS: [(f64, f64, f64); 4] =
    [(1.0, 0.25, 0.6), (0.01, 25.0, 60.0), (0.0254, 9.8, 23.6), (0.001, 250.0, 600.0)];
/// Shins of bodies that there may be, toys and giants among them, metres; beyond it the stated unit is another one.
const POSSIBLE_SHIN: std::ops::RangeInclusive<f64> = 0.05..=5.0;
/// Share of the figure's height along an axis from which it stands along it: a lean of 37 degrees.
const STANDS: f64 = 0.8;
/// Share of the frames that count: a cartwheel or a bow passes the other axis in fewer.
const COUNTS: f64 = 0.05;
fn asset(
    recording: MarkerRecording,
    source: &SourceFile,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<Asset, ImportError> {
    let mut warnings = Warnings::new();
    if let Some(said) = &recording.missing {
        warnings.add("markers-missing-frames", said.as_str(), PLACE);
    }
    if let Some(said) = &recording.count_doubt {
        warnings.add("markers-frames", said.as_str(), PLACE);
    }
    if let Some(said) = &recording.rate_doubt {
        warnings.add("markers-rate", said.as_str(), PLACE);
    }
    let (table, sizes) = chosen_table(&recording, options)?;
    let columns = columns(&recording, &table, &mut warnings);
    let found: Vec<BodyPoint> = columns.iter().map(|c| c.0).collect();
    let lost = missing(&found);
    if !lost.is_empty() {
        return Err(unknown_labels(&recording, &table, lost).into());
    }
    let frames = recording.array.frames();
    let samples = (frames as u64).saturating_mul(found.len() as u64);
    budget.reserve(samples.saturating_mul(BYTES_PER_POINT), || format!("{frames} frames"))?;
    let track = |column: usize| -> Vec<Vec3> {
        recording.array.positions.iter().skip(column).step_by(recording.array.points).copied().collect()
    };
    let tracks = columns.iter().map(|(point, column)| (*point, track(*column))).collect();
    let mut markers = PointTracks { frames, tracks };
    let metres = match options.units {
        Some(metres) => metres,
        None => unit(&recording, &markers, &mut warnings)?,
    };
    let rate = recording.rate.or(options.rate).unwrap_or(USUAL_RATE);
    if recording.rate.is_none() && options.rate.is_none() {
        let said = format!("{rate} frames per second were assumed (none is stated; `input.rate` sets it)");
        warnings.add("points-rate", said, PLACE);
    }
    let said = format!(
        "{} of {} markers are used, of the set {}; {frames} frames at {rate} Hz, in {}",
        found.len(),
        recording.array.points,
        table.name,
        if recording.unit.is_empty() { "no stated unit" } else { recording.unit.as_str() }
    );
    warnings.guess("markers", said, PLACE);
    markers.tracks.iter_mut().flat_map(|(_, track)| track).for_each(|p| *p *= metres);
    let axes = axes(&recording, &markers, options, &mut warnings).to_y_up();
    markers.tracks.iter_mut().flat_map(|(_, track)| track).for_each(|p| *p = axes * *p);
    let recorded = markers.observed();
    let labels: Vec<&str> = columns.iter().map(|(_, column)| recording.labels[*column].as_str()).collect();
    repair(&mut markers, &labels, 1.0 / rate, &mut warnings);
    let gone = unseen(&markers, &labels);
    if !gone.is_empty() {
        return Err(PointsError::Missing { parts: gone.join(", ") }.into());
    }
    tell_head(&markers, &labels, &mut warnings);
    let sizes = sizes.measured(&recording.measures, metres);
    let points = centres(&markers, &sizes, 1.0 / rate)?;
    let fitted = FittedPoints { points, recorded, dt: 1.0 / rate, layout: &table.name, name: source.name };
    fitted.asset(options, warnings)
}

/// The labels that the user names, else the built-in ones of the nearest set; and sizes.
fn chosen_table(
    recording: &MarkerRecording,
    options: &ImportOptions,
) -> Result<(SiteTable, SubjectSizes), PointsError> {
    match &options.points.layout {
        None => Ok((nearest_set(&recording.labels), SubjectSizes::default())),
        Some(PointLayout::File(path)) => marker_table::read(path),
        Some(PointLayout::Named(name)) => match set_named(name) {
            Some(table) => Ok((table, SubjectSizes::default())),
            None => Err(PointsError::UnknownLayout { name: shortened(name), known: set_names() }),
        },
    }
}

/// The column of each site, of the body with most of them.
fn columns(
    recording: &MarkerRecording,
    table: &SiteTable,
    warnings: &mut Warnings,
) -> Vec<(BodyPoint, usize)> {
    let body = |label: &str| label.rsplit_once(':').map(|(body, _)| body.to_owned()).unwrap_or_default();
    let known: Vec<(String, BodyPoint, usize)> = (recording.labels.iter().enumerate())
        .filter_map(|(column, label)| Some((body(label), table.site_of(label)?, column)))
        .collect();
    let mut bodies: Vec<(&str, usize)> = Vec::new();
    for (body, ..) in &known {
        match bodies.iter_mut().find(|(name, _)| name == body) {
            Some((_, count)) => *count += 1,
            None => bodies.push((body, 1)),
        }
    }
    bodies.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if let [(first, _), (second, count), ..] = bodies[..]
        && count >= SECOND
    {
        let said = format!("markers of `{first}` are read, those of `{}` are not", shortened(second));
        warnings.add("points-second-body", said, PLACE);
    }
    let chosen = bodies.first().map(|(name, _)| *name).unwrap_or_default();
    let mut columns: Vec<(BodyPoint, usize)> = Vec::new();
    for (body, point, column) in &known {
        if body == chosen && columns.iter().all(|(other, _)| other != point) {
            columns.push((*point, *column));
        }
    }
    columns
}

fn unknown_labels(recording: &MarkerRecording, table: &SiteTable, lost: Vec<String>) -> PointsError {
    let named: Vec<&String> = recording.labels.iter().filter(|label| !label.is_empty()).collect();
    let first: Vec<String> = named.iter().take(LISTED).map(|label| shortened(label)).collect();
    let more = match named.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let count = recording.array.points;
    let (markers, known) = match named.iter().any(|label| table.site_of(label).is_some()) {
        _ if named.is_empty() => (format!("{count} markers without labels"), String::new()),
        true => (first.join(", ") + &more, format!("of {}, the nearest set, ", table.name)),
        false => (first.join(", ") + &more, "no label is one of a known set, ".to_owned()),
    };
    PointsError::Markers { markers, known, missing: lost.join(", ") }
}

/// Metres per unit: as stated, unless the shins are those of another unit.
fn unit(
    recording: &MarkerRecording,
    markers: &PointTracks,
    warnings: &mut Warnings,
) -> Result<f64, PointsError> {
    let mut lengths = Vec::new();
    for side in Side::BOTH {
        let either = |a, b| markers.of(side, a).or_else(|| markers.of(side, b));
        let (knee, ankle) = (either("knee_lateral", "knee"), either("ankle_lateral", "ankle"));
        let pairs = knee.unwrap_or_default().iter().zip(ankle.unwrap_or_default());
        lengths.extend(pairs.map(|(a, b)| (a - b).norm()).filter(|l| l.is_finite()));
    }
    let shin = if lengths.is_empty() { 0.0 } else { median(lengths) };
    let fitting = SHINS.iter().find(|(_, shortest, longest)| (*shortest..=*longest).contains(&shin));
    let stated = recording.metres();
    let contradicted = |stated: f64| !POSSIBLE_SHIN.contains(&(shin * stated));
    match (stated, fitting) {
        (Some(stated), Some((metres, ..))) if contradicted(stated) => {
            let said = format!(
                "the unit is taken as {metres} m and not as the stated `{}`, in which a shin is {shin:.4} long (`input.units` sets it)",
                shortened(&recording.unit)
            );
            warnings.guess("points-unit", said, PLACE);
            Ok(*metres)
        }
        (Some(stated), _) => Ok(stated),
        (None, Some((metres, ..))) => {
            let said = format!("the unit is taken as {metres} m: a shin is {shin:.4} long");
            warnings.guess("points-unit", said, PLACE);
            Ok(*metres)
        }
        (None, None) => Err(PointsError::MarkerUnit { unit: shortened(&recording.unit), shin }),
    }
}

/// The axis that points up: the user's, else the one that the file states, else the one along which the figure stands on average,
/// which is a guess; else Z.
fn axes(
    recording: &MarkerRecording,
    markers: &PointTracks,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> ArrayAxes {
    // A pose is no witness against a statement: the figure may lie.
    let stated = options.up.or(recording.up);
    let guessed = if stated.is_none() { standing(markers) } else { None };
    if let Some((axis, lies_too)) = guessed {
        let (letter, other) = if axis == UpAxis::Y { ("Y", "z") } else { ("Z", "y") };
        let mut said = format!(
            "{letter} is taken as up: the figure stands along it, and no axis is stated (`input.up` sets it)"
        );
        if lies_too || axis != recording.usual_up {
            said += &format!("; if that is a figure that lies, set `input.up={other}`");
            warnings.add("points-up-guess", said, PLACE);
        } else {
            warnings.guess("points-up-guess", said, PLACE);
        }
    }
    stated.or(guessed.map(|(axis, _)| axis)).map_or(ArrayAxes::ZUp, UpAxis::array_axes)
}

/// The axis along which the figure stands, and whether it is along another one as well. Then it lies in a part of the take: the axis is
/// that of its first frames.
fn standing(markers: &PointTracks) -> Option<(UpAxis, bool)> {
    let either = |side, a, b| markers.of(side, a).or_else(|| markers.of(side, b)).unwrap_or_default();
    let sides =
        Side::BOTH.map(|side| (either(side, "acromion", "shoulder"), either(side, "knee_lateral", "knee")));
    let height = |f: usize| -> Vec3 {
        let of =
            |(high, low): &(&[Vec3], &[Vec3])| Some(high.get(f)? - low.get(f)?).filter(|h| h.x.is_finite());
        sides.iter().filter_map(of).sum()
    };
    let heights: Vec<Vec3> = (0..markers.frames).map(height).collect();
    let along = |axis: Vec3| {
        let stands = |h: &Vec3| h.dot(&axis) > STANDS * h.norm();
        let count = heights.iter().filter(|h| stands(h)).count();
        let first = heights.iter().position(stands)?;
        (count as f64 > COUNTS * heights.len() as f64).then_some(first)
    };
    match (along(Vec3::y()), along(Vec3::z())) {
        (Some(y), Some(z)) => Some((if y < z { UpAxis::Y } else { UpAxis::Z }, true)),
        (Some(_), None) => Some((UpAxis::Y, false)),
        (None, Some(_)) => Some((UpAxis::Z, false)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::points::point_array::PointArray;

    /// Shoulders and knees of a figure whose head is towards `heads`, frame by frame.
    fn figure(heads: &[Vec3]) -> PointTracks {
        let track = |side: Side, part: &'static str, height: f64| {
            (BodyPoint { side: Some(side), part }, heads.iter().map(|head| head * height).collect())
        };
        let of_side = |side| [track(side, "acromion", 1.4), track(side, "knee_lateral", 0.5)];
        PointTracks { frames: heads.len(), tracks: Side::BOTH.into_iter().flat_map(of_side).collect() }
    }

    /// The axes of a figure, and the warning of them: none, a guess (false), one for certain (true).
    fn axes_of(up: Option<UpAxis>, usual_up: UpAxis, heads: &[Vec3]) -> (ArrayAxes, Option<bool>) {
        let recording = MarkerRecording {
            labels: Vec::new(),
            array: PointArray { points: 0, positions: Vec::new() },
            rate: None,
            unit: String::new(),
            up,
            usual_up,
            missing: None,
            count_doubt: None,
            rate_doubt: None,
            measures: Vec::new(),
        };
        let mut warnings = Warnings::new();
        let axes = axes(&recording, &figure(heads), &ImportOptions::default(), &mut warnings);
        (axes, warnings.iter().find(|w| w.code == "points-up-guess").map(|w| !w.sure))
    }

    #[test]
    fn a_figure_that_lies_does_not_overrule_the_axis_that_the_file_states() {
        let of = |up, head: Vec3| axes_of(up, UpAxis::Z, &[head; 3]);
        assert_eq!(of(Some(UpAxis::Z), Vec3::y()), (ArrayAxes::ZUp, None));
        assert_eq!(of(Some(UpAxis::Y), Vec3::z()), (ArrayAxes::YUp, None));
        assert_eq!(of(None, Vec3::y()), (ArrayAxes::YUp, Some(true)));
        assert_eq!(of(None, Vec3::z()), (ArrayAxes::ZUp, Some(false)));
        assert_eq!(of(None, Vec3::x()), (ArrayAxes::ZUp, None));
    }

    #[test]
    fn an_axis_that_the_format_seldom_has_is_told_and_one_of_frames_that_lie_is_not_taken() {
        let of = |heads: &[Vec3]| axes_of(None, UpAxis::Y, heads);
        assert_eq!(of(&[Vec3::y(); 9]), (ArrayAxes::YUp, Some(false)));
        assert_eq!(of(&[Vec3::z(); 9]), (ArrayAxes::ZUp, Some(true)));
        // Stands in the first frames, and lies down for the rest.
        let mut heads = vec![Vec3::y(); 2];
        heads.extend([Vec3::z(); 8]);
        assert_eq!(of(&heads), (ArrayAxes::YUp, Some(true)));
        let turned: Vec<Vec3> = heads.iter().map(|head| head.xzy()).collect();
        assert_eq!(of(&turned), (ArrayAxes::ZUp, Some(true)));
    }
}
