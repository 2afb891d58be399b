//! Arrays of positions as an import format: reads, corrects, fits, and reports every correction.
//!
//! Space: the layout's axes are rotated to Y up; positions in the world are kept. Units: metres.

use super::fitted_skeleton::{Fitted, fitted};
use super::image_points::refuse_image;
use super::limbs::Sampling;
use super::noise_filter::{FilteredPoints, cutoff, filtered};
use super::point_array::PointArray;
use super::point_tracks::PointTracks;
use super::points_error::PointsError;
use super::repair_points::Gaps;
use super::{
    humanml_vectors, json_points, layout_table, path_from_feet, repair_points, side_swaps, whole_take_sides,
};
use crate::anatomy::{BodyPoint, PointsLayout};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::{ImportOptions, PointLayout, UpAxis};
use crate::import::npz::{NpyArray, is_motion_x, motion_x, read_npy};
use crate::math::{Vec3, median};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Character, FARTHEST_ON_EARTH, ObservedPoints, Side};
use crate::report::Warnings;

/// Arrays of positions.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "points",
    suffixes: &["npy"],
    about: "positions of points of the body from motion models, trackers and cameras (also in .npz and .json): takes, with \
            rotations fitted",
    loses: "people beside the chosen one, fingers",
    recognise: |head| head.starts_with(b"\x93NUMPY") || is_tracker_json(head),
    read: |source, options| {
        let budget = options.budget(source.bytes);
        let layout = chosen(options)?;
        let (array, rate, warnings) = match source.bytes.starts_with(b"\x93NUMPY") {
            true => {
                let array = read_npy(source.bytes, &budget)?;
                if layout.is_none() && is_motion_x(&array) {
                    return motion_x(array, source, options, &budget);
                }
                (positions(&array, layout.as_ref(), options)?, None, Warnings::new())
            }
            // A file that is named as an array and is none is a damaged array, not a damaged text.
            false if source.bytes.is_empty() => {
                return Err(PointsError::Array { reason: "the file is empty".into() }.into());
            }
            false if !matches!(source.bytes.trim_ascii_start().first(), Some(b'{' | b'[')) => {
                let reason = "it does not begin as the arrays of NumPy do (`np.save` writes them)";
                return Err(PointsError::Array { reason: reason.into() }.into());
            }
            false => {
                let file = json_points::read(source.bytes, options.points.person, &budget)?;
                (file.array, file.rate.or(options.rate).or(file.rate_of_times), file.warnings)
            }
        };
        asset(&array, layout, rate, warnings, source, options, &budget)
    },
};

/// Frames per second of arrays whose layout has no usual rate, Hz.
pub(super) const USUAL_RATE: f64 = 30.0;
/// Bytes that fitting needs for each point of a frame: tracks, their copies while they are filtered and for previews, and the grid of
/// the solver.
pub(super) const BYTES_PER_POINT: u64 = 420;
/// Names of arrays of positions in archives, in the order in which they are looked for.
pub(in crate::import) const ARCHIVED: [&str; 8] =
    ["joints", "positions", "posed_joints", "joints3d", "joints_3d", "poses3d", "keypoints", "keypoints3d"];
/// Mean height of the neck over the hips, in distances, below which the figure does not stand along Y.
const STANDS: f64 = 0.5;
/// Lengths of legs by unit: name, metres, shortest and longest leg in the unit (0.4 to 1.3 m; centimetres from 52, where inches end).
const UNITS: [(&str, f64, f64, f64); 4] = [
    ("m", 1.0, 0.4, 1.3),
    ("cm", 0.01, 52.0, 130.0),
    ("inch", 0.0254, 15.7, 51.9),
    ("mm", 0.001, 400.0, 1300.0),
];
/// The leg of a figure of no usual unit, metres: that of a person of 1.7 m.
const USUAL_LEG: f64 = 0.85;

/// Whether the first bytes are those of JSON with frames of points.
fn is_tracker_json(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let contains = |word: &[u8]| text.windows(word.len()).any(|w| w == word);
    let landmarks = contains(b"andmarks\"") || contains(b"\"frames\"") || contains(b"\"keypoints");
    let start: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).take(3).collect();
    match start.first() {
        Some(b'{') => landmarks && !contains(b"\"asset\""),
        Some(b'[') => landmarks || start == *b"[[[" || start == *b"[[{",
        _ => false,
    }
}

/// A motion from the positions of an archive, which states its `rate` or does not.
pub(in crate::import) fn archived(
    array: &NpyArray,
    rate: Option<f64>,
    source: &SourceFile,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<Asset, ImportError> {
    let layout = chosen(options)?;
    let array = positions(array, layout.as_ref(), options)?;
    asset(&array, layout, rate, Warnings::new(), source, options, budget)
}

fn positions(
    array: &NpyArray,
    layout: Option<&PointsLayout>,
    options: &ImportOptions,
) -> Result<PointArray, PointsError> {
    let person = options.points.person;
    if humanml_vectors::is_one(array) {
        return humanml_vectors::positions(array, person);
    }
    PointArray::new(array, layout, person)
}

/// The layout that the user names.
fn chosen(options: &ImportOptions) -> Result<Option<PointsLayout>, PointsError> {
    match &options.points.layout {
        None => Ok(None),
        Some(PointLayout::File(path)) => layout_table::read(path).map(Some),
        Some(PointLayout::Named(name)) => PointsLayout::named(name).map(Some).ok_or_else(|| {
            let (name, known) = (crate::report::shortened(name), PointsLayout::names().join(", "));
            PointsError::UnknownLayout { name, known }
        }),
    }
}

/// The layout of an array: the user's, else the only one of its number of points.
fn recognised(array: &PointArray, chosen: Option<PointsLayout>) -> Result<PointsLayout, PointsError> {
    if let Some(layout) = chosen {
        if layout.points.len() == array.points {
            return Ok(layout);
        }
        let found = format!("({}, {}, 3)", array.frames(), array.points);
        let layout_name = layout.name.into_owned();
        return Err(PointsError::Points { layout: layout_name, expected: layout.points.len(), found });
    }
    let mut fitting = PointsLayout::of_size(array.points);
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        n => {
            let names: Vec<&str> = fitting.iter().map(|l| &*l.name).collect();
            let candidates = match n {
                0 => format!("no known layout has so many; there are {}", PointsLayout::names().join(", ")),
                _ => format!("{}?", names.join(" or ")),
            };
            Err(PointsError::Layout { found: array.points.to_string(), candidates })
        }
    }
}

fn asset(
    array: &PointArray,
    chosen: Option<PointsLayout>,
    stated_rate: Option<f64>,
    mut warnings: Warnings,
    source: &SourceFile,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<Asset, ImportError> {
    let layout = recognised(array, chosen)?;
    refuse_image(array, &layout, options.units.is_some())?;
    let samples = array.positions.len() as u64;
    budget.reserve(samples.saturating_mul(BYTES_PER_POINT), || format!("{} frames", array.frames()))?;
    let rate = stated_rate.or(options.rate).or(layout.rate).unwrap_or(USUAL_RATE);
    if stated_rate.is_none() && options.rate.is_none() {
        let of = if layout.rate.is_some() { "the layout's usual rate" } else { "none is stated" };
        let said = format!("{rate} frames per second were assumed ({of}; `input.rate` sets it)");
        warnings.add("points-rate", said, PLACE);
    }
    let dt = 1.0 / rate;
    let mut points = tracks(array, &layout, options);
    let unit = unit(&points, &layout, options, &mut warnings)?;
    points.tracks.iter_mut().flat_map(|(_, track)| track).for_each(|p| *p *= unit);
    let recorded = points.observed();
    FittedPoints { points, recorded, dt, layout: &layout.name, name: source.name }.asset(options, warnings)
}

/// Points in metres, Y up, to which a motion is fitted.
pub(super) struct FittedPoints<'a> {
    pub(super) points: PointTracks,
    /// What the file states: these points, or markers.
    pub(super) recorded: Vec<Vec<Option<[f32; 3]>>>,
    /// Seconds per frame.
    pub(super) dt: f64,
    pub(super) layout: &'a str,
    /// The name of the take.
    pub(super) name: &'a str,
}

impl FittedPoints<'_> {
    /// Corrects the points, fits a motion, and adds to the warnings what was corrected and what is a guess.
    ///
    /// # Errors
    /// Points beyond any body, and those without which nothing is fitted.
    pub(super) fn asset(self, options: &ImportOptions, mut warnings: Warnings) -> Result<Asset, ImportError> {
        let Self { mut points, mut recorded, dt, layout, name } = self;
        let far = |p: &Vec3| p.amax() > FARTHEST_ON_EARTH;
        for (point, track) in &points.tracks {
            if let Some(frame) = track.iter().position(far) {
                return Err(PointsError::TooFar { frame, point: point.to_string() }.into());
            }
        }
        let gaps = repair_points::fill(&mut points)?;
        tell_gaps(&gaps, dt, &mut warnings);
        correct_sides(&mut points, options, &mut warnings);
        if path_from_feet::is_missing(&points, dt) {
            let (by, flights) = path_from_feet::displacements(&points, dt);
            points = points.moved(&by);
            for (p, by) in recorded.iter_mut().flat_map(|track| track.iter_mut().zip(&by)) {
                *p = p.map(|p| std::array::from_fn(|k| p[k] + by[k] as f32));
            }
            let by_gravity = match flights {
                0 => String::new(),
                1 => ", and by gravity in a flight".to_owned(),
                n => format!(", and by gravity in {n} flights"),
            };
            let said = format!(
                "the pelvis is the origin of each frame: the path was estimated from the feet{by_gravity}"
            );
            warnings.add("points-path", said, PLACE);
        }
        let FilteredPoints { points, noise, moved } = filtered(points, dt, true);
        if let Some(moved) = moved {
            let said = format!(
                "the points have noise of {:.1} mm: they were low-passed at {:.1} Hz, which moved them by up to {:.1} cm",
                1e3 * noise,
                cutoff(noise, dt),
                100.0 * moved
            );
            warnings.add("points-filtered", said, PLACE);
        }
        tell_up(&points, &mut warnings);
        let fitted =
            fitted(&points, Sampling { noise, dt, filled: &gaps.frames }, name).map_err(PointsError::from)?;
        tell_fit(&fitted, layout, noise, &mut warnings);
        let observed = Some(ObservedPoints { rate: 1.0 / dt, tracks: recorded });
        let character = Character::new(name, fitted.rig);
        Ok(Asset { observed, ..Asset::new(character, vec![fitted.clip], warnings) })
    }
}

/// The location that warnings name.
const PLACE: &str = "the points";

/// The named points of an array, Y up, in units of the file.
fn tracks(array: &PointArray, layout: &PointsLayout, options: &ImportOptions) -> PointTracks {
    let up = options.up.map_or(layout.axes, UpAxis::array_axes).to_y_up();
    let named = |(k, point): (usize, &Option<BodyPoint>)| {
        let track = array.positions.iter().skip(k).step_by(array.points).map(|p| up * p);
        let mut track: Vec<Vec3> = track.collect();
        let point = (*point)?;
        // A pelvis may be the origin of every frame; a point of a side that is was never seen, if any was.
        let unseen = |p: &Vec3| *p == Vec3::zeros();
        if point.side.is_some() && track.iter().all(unseen) && !array.positions.iter().all(unseen) {
            track.fill(Vec3::repeat(f64::NAN));
        }
        Some((point, track))
    };
    let tracks = layout.points.iter().enumerate().filter_map(named).collect();
    PointTracks { frames: array.frames(), tracks }
}

/// Metres per unit: stated, or by the length of the legs.
fn unit(
    points: &PointTracks,
    layout: &PointsLayout,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<f64, PointsError> {
    let legs: Vec<f64> = (Side::BOTH.into_iter())
        .filter_map(|side| {
            let length = |a, b| {
                let (a, b) = (points.of(side, a)?, points.of(side, b)?);
                let lengths = a.iter().zip(b).map(|(a, b)| (a - b).norm());
                let known: Vec<f64> = lengths.filter(|l| l.is_finite()).collect();
                (!known.is_empty()).then(|| median(known))
            };
            Some(length("hip", "knee")? + length("knee", "ankle")?)
        })
        .collect();
    if legs.is_empty() {
        return Err(PointsError::Missing { parts: "hip, knee or ankle".into() });
    }
    let leg = median(legs);
    if leg <= f64::MIN_POSITIVE {
        return Err(PointsError::NoLegs);
    }
    if let Some(metres) = options.units.or(layout.unit) {
        return Ok(metres);
    }
    match UNITS.iter().find(|(_, _, shortest, longest)| (*shortest..=*longest).contains(&leg)) {
        Some((_, metres, ..)) if *metres == 1.0 => Ok(*metres),
        Some((name, metres, ..)) => {
            warnings.guess("points-unit", format!("the unit is {name}: a leg is {leg:.4} long"), PLACE);
            Ok(*metres)
        }
        None => {
            let said = format!(
                "a leg is {leg:.4} long, which fits no unit: it was scaled to {USUAL_LEG} m (`input.units` sets the unit)"
            );
            warnings.add("points-unit", said, PLACE);
            Ok(USUAL_LEG / leg)
        }
    }
}

fn tell_gaps(gaps: &Gaps, dt: f64, warnings: &mut Warnings) {
    if !gaps.filled.is_empty() {
        let one = |(point, frames, longest): &(_, usize, usize)| {
            let s = if *frames == 1 { "" } else { "s" };
            format!("{point}: {frames} frame{s}, the longest gap {:.2} s", *longest as f64 * dt)
        };
        let said: Vec<String> = gaps.filled.iter().map(one).collect();
        warnings.add("points-gap", format!("gaps were filled ({})", said.join("; ")), PLACE);
    }
    if !gaps.left_out.is_empty() {
        let one = |(point, share): &(_, f64)| format!("{point} in {:.0} %", 100.0 * share);
        let said: Vec<String> = gaps.left_out.iter().map(one).collect();
        let said = format!("points missing in most frames were left out ({})", said.join(", "));
        warnings.add("points-left-out", said, PLACE);
    }
}

fn correct_sides(points: &mut PointTracks, options: &ImportOptions, warnings: &mut Warnings) {
    for (group, frames) in side_swaps::put_right(points) {
        let code = if group == "arms" { "points-swap-arms" } else { "points-swap-legs" };
        let said = format!("{group}: left and right were exchanged in {frames} frames and are put right");
        warnings.add(code, said, PLACE);
    }
    let throughout = whole_take_sides::put_right(points, |_| Vec::new());
    if !throughout.put_right.is_empty() {
        let parts = throughout.put_right.join(", ");
        let said = format!("left and right were exchanged throughout and are put right: {parts}");
        warnings.add("points-swap-throughout", said, PLACE);
    }
    if !throughout.perhaps.is_empty() {
        let parts = throughout.perhaps.join(", ");
        let said = format!(
            "left and right may be exchanged throughout, or limbs are crossed: {parts} (a table of the points, \
             `input.points.layout`, names them otherwise)"
        );
        warnings.add("points-sides-unsure", said, PLACE);
    }
    if options.points.swap_sides {
        side_swaps::exchange(points, |_| true, |_| true);
    }
    if side_swaps::exchanged_throughout(points) {
        let said = "knees, toes or nose point backwards: left and right are exchanged throughout, or the figure is mirrored \
                    (`input.points.swap_sides=true` exchanges them; or it is another layout)";
        warnings.add("points-sides", said, PLACE);
    }
}

fn tell_up(points: &PointTracks, warnings: &mut Warnings) {
    let trunk = points.neck().into_iter().zip(points.mid_hips()).map(|(a, b)| a - b);
    let trunk = trunk.fold((Vec3::zeros(), 0.0), |(sum, long), v| (sum + v, long + v.norm()));
    if trunk.0.y < STANDS * trunk.1 {
        let said = "on average the figure does not stand upright along Y: it lies, or the axes are others \
                    (`input.up` sets the axis that points up)";
        warnings.add("points-up", said, PLACE);
    }
}

fn tell_fit(fitted: &Fitted, layout: &str, noise: f64, warnings: &mut Warnings) {
    let said = format!(
        "layout {}, noise {:.1} mm; the joints are within {:.1} mm (median) and {:.1} mm (95 %) of the filtered points",
        layout,
        1e3 * noise,
        1e3 * fitted.distance.0,
        1e3 * fitted.distance.1
    );
    warnings.guess("points-fit", said, PLACE);
    if !fitted.unsure.is_empty() {
        let one =
            |(role, bend): &(_, f64)| format!("{role} (bends by {:.0} degrees at most)", bend.to_degrees());
        let said: Vec<String> = fitted.unsure.iter().map(one).collect();
        let said = format!("the rotation about the bone is the average of people: {}", said.join(", "));
        warnings.add("points-twist-unsure", said, PLACE);
    }
    let head = if fitted.face { "" } else { "where the head looks, " };
    let said = format!(
        "not in the positions, and a guess: {head}the pitch of the pelvis, the rotation of hands and forearms without fingers"
    );
    warnings.guess("points-guess", said, PLACE);
}
