//! Refuses positions that are coordinates in an image: keypoints in two dimensions with a score, as OpenPose and YOLO write them, and
//! figures without depth.

use super::point_array::PointArray;
use super::points_error::PointsError;
use crate::anatomy::{BodyPoint, PointsLayout};
use crate::math::Vec3;
use crate::model::Side;

/// Coordinates that span more than this beside a third number of 0 to 1 are pixels or millimetres, and the third is a score.
const PIXELS: f64 = 50.0;
/// Extent of the thinnest axis in every frame, as a share of the largest, below which a figure has no depth: a body that stands
/// upright has a tenth from back to toes.
const FLAT: f64 = 0.005;
/// How far outside of the image trackers place points, as a share of it. Without it one point at the edge hides all others; at the double a
/// body that sits on the floor may be within it.
const OUTSIDE: f64 = 0.05;
/// Distance of the hips from the origin of an axis, as a share of the trunk, below which they are that origin: trackers that count the depth
/// from the hips leave a hundredth, and hips in an image are further from its edges.
const AT_ORIGIN: f64 = 0.05;
/// Share of the frames in which landmarks in an image have their hips inside of it.
const MOSTLY: f64 = 0.9;
/// The names of the axes of a file.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Refuses coordinates in an image. Whoever states the `unit` says that they are positions: a small figure may be within 0 and 1.
///
/// # Errors
/// [`PointsError::Scores`], [`PointsError::Normalised`], [`PointsError::ImageLandmarks`] and [`PointsError::Flat`].
pub(super) fn refuse_image(array: &PointArray, layout: &PointsLayout, unit: bool) -> Result<(), PointsError> {
    let (mut lowest, mut highest) = ([f64::MAX; 3], [f64::MIN; 3]);
    // The largest extent of a frame.
    let mut extent = [0.0f64; 3];
    for frame in array.positions.chunks_exact(array.points) {
        for axis in 0..3 {
            let known = frame.iter().map(|p| p[axis]).filter(|x| x.is_finite());
            let (low, high) = known.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
            extent[axis] = extent[axis].max(high - low);
            (lowest[axis], highest[axis]) = (lowest[axis].min(low), highest[axis].max(high));
        }
    }
    let span = highest[0] - lowest[0];
    let span = span.max(highest[1] - lowest[1]);
    if lowest[2] >= 0.0 && highest[2] <= 1.0 && extent[0].max(extent[1]) > PIXELS {
        return Err(PointsError::Scores { span });
    }
    let within = |axis: usize, outside: f64| lowest[axis] >= -outside && highest[axis] <= 1.0 + outside;
    let within = within(0, OUTSIDE) && within(1, OUTSIDE) && within(2, 0.0);
    if !unit && within && extent[0].min(extent[1]) > 0.0 {
        return Err(PointsError::Normalised);
    }
    if !unit && are_landmarks_in_an_image(array, layout) {
        return Err(PointsError::ImageLandmarks);
    }
    let largest = extent.into_iter().fold(0.0, f64::max);
    match extent.iter().position(|extent| *extent < FLAT * largest) {
        Some(axis) => Err(PointsError::Flat { axis: AXES[axis] }),
        None => Ok(()),
    }
}

/// Whether points are landmarks in an image with a depth, as MediaPipe writes them: shares of its width and height, y down, and z counted
/// from the hips. Hips in space are the origin of all axes or of none.
fn are_landmarks_in_an_image(array: &PointArray, layout: &PointsLayout) -> bool {
    let pair = |part: &'static str| -> Option<[usize; 2]> {
        let [left, right] = Side::BOTH.map(|side| {
            layout.points.iter().position(|point| *point == Some(BodyPoint { side: Some(side), part }))
        });
        Some([left?, right?])
    };
    let (Some(hips), Some(shoulders)) = (pair("hip"), pair("shoulder")) else { return false };
    let (mut frames, mut inside, mut down) = (0.0, 0.0, 0.0);
    for frame in array.positions.chunks_exact(array.points) {
        let middle = |[left, right]: [usize; 2]| -> Vec3 { (frame[left] + frame[right]) / 2.0 };
        let (hips, trunk) = (middle(hips), middle(shoulders) - middle(hips));
        let near = AT_ORIGIN * trunk.xy().norm();
        if near.is_finite() && hips.z.is_finite() {
            let in_image = [hips.x, hips.y].iter().all(|share| (near..=1.0).contains(share));
            frames += 1.0;
            inside += f64::from(u8::from(in_image && hips.z.abs() < near));
            down -= trunk.y;
        }
    }
    down > 0.0 && inside >= MOSTLY * frames
}
