//! Labelled points over time, as a file of markers has them.

use crate::import::import_options::UpAxis;
use crate::import::points::point_array::PointArray;
use crate::model::is_frame_rate;

/// What a C3D or TRC file holds.
#[derive(Clone, Debug)]
pub(super) struct MarkerRecording {
    /// A label for every point; of points without one, empty.
    pub(super) labels: Vec<String>,
    /// Positions in units of the file; gaps are NaN.
    pub(super) array: PointArray,
    /// Frames per second, if stated.
    pub(super) rate: Option<f64>,
    /// The unit as it is written.
    pub(super) unit: String,
    /// The axis that points up, if stated.
    pub(super) up: Option<UpAxis>,
    /// The axis that points up in most files of the format.
    pub(super) usual_up: UpAxis,
    /// What to report of frames that the file leaves out, in which no marker is seen.
    pub(super) missing: Option<String>,
    /// What to report of numbers of frames that contradict each other.
    pub(super) count_doubt: Option<String>,
    /// What to report of a rate that contradicts the times of the frames.
    pub(super) rate_doubt: Option<String>,
    /// Measures of the subject by name, in units of the file.
    pub(super) measures: Vec<(String, f64)>,
}

impl MarkerRecording {
    /// Metres per unit, if the unit is known.
    pub(super) fn metres(&self) -> Option<f64> {
        Some(match self.unit.trim().to_ascii_lowercase().as_str() {
            "m" | "meter" | "meters" | "metre" | "metres" => 1.0,
            "dm" => 0.1,
            "cm" | "centimeters" => 0.01,
            "mm" | "millimeters" => 0.001,
            "in" | "inch" | "inches" => 0.0254,
            "ft" | "feet" => 0.3048,
            _ => return None,
        })
    }
}

/// The rate, if it can be one.
pub(in crate::import::points) fn plausible_rate(rate: f64) -> Option<f64> {
    is_frame_rate(rate).then_some(rate)
}
