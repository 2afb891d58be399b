//! Errors of arrays of positions, each with a hint.

use crate::model::SkeletonError;
use crate::report::Shown;
use std::path::PathBuf;

/// Why an array of positions cannot be read as a motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// The array is damaged or of a kind that is not read.
    #[error("the array cannot be read: {reason}")]
    Array {
        /// Why.
        reason: String,
    },
    /// Text that is not the JSON of a tracker.
    #[error("the JSON text: {reason}")]
    Json {
        /// Why, with the frame.
        reason: String,
    },
    /// A shape that is none of frames, points, coordinates.
    #[error("the array has the shape {found}\n  hint: save positions as (frames, points, 3)")]
    Shape {
        /// The shape.
        found: String,
    },
    /// Keypoints in an image with a score for each.
    #[error(
        "the third number of every point is within 0 and 1, the others span {span:.0}: these are keypoints in an image with a score, as \
         OpenPose and YOLO write them\n  hint: use positions in space: models such as MotionBERT and VideoPose3D lift keypoints to 3-D"
    )]
    Scores {
        /// The span of the larger coordinate.
        span: f64,
    },
    /// Keypoints in an image whose coordinates are shares of its size.
    #[error(
        "every number is from 0 to 1, as keypoints are that are shares of an image, with a score\n  hint: use positions in \
         space: models such as MotionBERT and VideoPose3D lift keypoints to 3-D; a figure that is this small needs its unit, such as \
         `--set input.units=m`"
    )]
    Normalised,
    /// Landmarks in an image, with a depth.
    #[error(
        "x and y are shares of an image, and z is counted from the hips: these are landmarks in an image, not in space\n  hint: export the \
         world landmarks of MediaPipe (`pose_world_landmarks`, in metres) instead of `pose_landmarks`; positions that are so in space need \
         their unit, such as `--set input.units=m`"
    )]
    ImageLandmarks,
    /// A figure without depth.
    #[error(
        "all points of every frame have the same {axis}: the figure is flat, as keypoints in an image are\n  hint: use positions \
         in space: models such as MotionBERT and VideoPose3D lift keypoints to 3-D"
    )]
    Flat {
        /// The axis of the file in which nothing differs.
        axis: &'static str,
    },
    /// Several people, or samples, of which none is chosen.
    #[error(
        "it holds several people: {listed}\n  hint: name one with `--set input.points.person=0`; the others are read in runs of their own"
    )]
    SeveralPeople {
        /// Their numbers, each with its frames.
        listed: String,
    },
    /// A person that is not there.
    #[error(
        "there is no person {wanted}: it holds {listed}\n  hint: name one with `--set input.points.person=0`"
    )]
    NoPerson {
        /// The number that was asked for.
        wanted: usize,
        /// The numbers that there are, each with its frames.
        listed: String,
    },
    /// The layout is not known, or several fit.
    #[error(
        "{found} points: {candidates}\n  hint: name the layout with `--set input.points.layout=NAME`, or write a table of the points \
         and pass it: `--set input.points.layout=points.toml`"
    )]
    Layout {
        /// The number of points.
        found: String,
        /// What may fit.
        candidates: String,
    },
    /// Another number of points than that of the layout.
    #[error("the layout `{layout}` has {expected} points, the array has the shape {found}")]
    Points {
        /// The layout.
        layout: String,
        /// Its points.
        expected: usize,
        /// The shape of the array.
        found: String,
    },
    /// A layout that does not exist.
    #[error(
        "there is no layout `{name}`\n  hint: name one of {known}, or a table with the extension `.toml`"
    )]
    UnknownLayout {
        /// The name.
        name: String,
        /// The built-in layouts.
        known: String,
    },
    /// A table of points that cannot be used.
    #[error("the layout `{}`: {reason}", path.shown())]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A C3D file that is damaged.
    #[error("the C3D file: {reason}\n  hint: export it again from the program that recorded it")]
    C3d {
        /// The damaged part.
        reason: String,
    },
    /// A TRC table that is damaged.
    #[error(
        "line {line} of the TRC table: {reason}\n  hint: export it again from the program that recorded it"
    )]
    Trc {
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// Labels that are not enough of any set.
    #[error(
        "no motion can be fitted to these markers: {markers} ({known}there is no {missing})\n  hint: write a table of \
         the markers and pass it: `--set input.points.layout=markers.toml`"
    )]
    Markers {
        /// The first labels of the file, and how many more there are.
        markers: String,
        /// The set that has most of them, as the start of a sentence.
        known: String,
        /// The places on the body without a marker.
        missing: String,
    },
    /// Markers in an unknown unit.
    #[error(
        "the unit of the markers, `{unit}`, is not known, and a shin of {shin:.4} fits none\n  hint: set it with `--set input.units=mm`"
    )]
    MarkerUnit {
        /// The unit as it is written.
        unit: String,
        /// The length of a shin in it.
        shin: f64,
    },
    /// A number that is infinite or too large.
    #[error(
        "frame {frame}, point {point}: a coordinate is infinite, or far beyond any body\n  hint: save missing points as NaN"
    )]
    NotFinite {
        /// The frame, from 0.
        frame: usize,
        /// The point, from 0.
        point: usize,
    },
    /// A point farther from the origin than any place on Earth.
    #[error(
        "frame {frame}: `{point}` is far beyond any body\n  hint: check the unit, and save missing points as NaN"
    )]
    TooFar {
        /// The frame, from 0.
        frame: usize,
        /// The name of the point.
        point: String,
    },
    /// Points without which no motion can be fitted.
    #[error(
        "missing in more than half of the frames, or not in the layout: {parts} (left or right)\n  hint: use another take, or another layout: no motion is fitted without them"
    )]
    Missing {
        /// The parts.
        parts: String,
    },
    /// All points of the legs coincide.
    #[error("the legs have no length: hips, knees and ankles coincide")]
    NoLegs,
    /// Offsets that are not finite.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
}
