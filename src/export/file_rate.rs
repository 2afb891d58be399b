//! A motion at the frame rate that a file has by its format.

use super::nominal_rate::nominal;
use crate::kinematics::cuts;
use crate::model::Motion;
use crate::signal::{Rate, Resampling, resample};

/// The motion at `hz` frames per second; `None` if it has that rate already, or if there is no such rate.
///
/// Nothing is interpolated across a cut, and positions are not low-pass filtered: frames that coincide are kept exactly, as data
/// sets that drop frames do. The stage `resample` offers the choice.
pub(super) fn at_file_rate(motion: &Motion, hz: f64) -> Option<Motion> {
    if nominal(hz) == nominal(motion.clip.sample_rate) {
        return None;
    }
    let how = Resampling { band_limit: false, ..Resampling::default() };
    let clip = resample(&motion.clip, Rate::from_hz(hz)?, how, &cuts(motion));
    Some(Motion { clip, contacts: None, ..motion.clone() })
}
