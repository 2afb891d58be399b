//! Height of a body above the floor in frames without contact, beyond that of its take: no other measure sees a result that floats
//! through a roll.
//!
//! Heights are those of the lowest point of soles and capsules, measured alike on both bodies; the take's are scaled by the ratio
//! of leg lengths, as its path is. Units: metres of the common height.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use super::samples::Samples;
use crate::math::percentile;
use crate::model::Contacts;
use crate::report::{Metric, Series};

/// The fewest frames that a percentile is taken of.
const FEWEST: usize = 5;

/// The measure and its time series, NaN where something rests; none where the body is never in the air.
pub fn flight_height(
    context: &MetricContext,
    (own, labels): (&Samples, &Contacts),
    take_context: &MetricContext,
    (take, take_labels): (&Samples, &Contacts),
) -> Option<(Metric, Series)> {
    // A body without feet has no contacts, and is not in the air for that.
    if !context.points().iter().any(|p| p.part.of_foot()) {
        return None;
    }
    let ratio = context.leg_to_sole() * context.scale / (take_context.leg_to_sole() * take_context.scale);
    let height = |samples: &Samples, labels: &Contacts, scale: f64, f: usize| {
        samples.lowest[f] - labels.ground * scale
    };
    let free = |f: usize| context.points().iter().all(|p| !labels.rests(p.part, f));
    let higher = |f: usize| {
        let theirs = ratio * height(take, take_labels, take_context.scale, f).max(0.0);
        (height(own, labels, context.scale, f) - theirs).max(0.0)
    };
    let frames = own.frames.min(take.frames);
    let values: Vec<f64> = (0..frames).map(|f| if free(f) { higher(f) } else { f64::NAN }).collect();
    let found: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    let series = Series { name: "flight_height".to_owned(), unit: "m", values, resting: Vec::new() };
    (found.len() >= FEWEST).then(|| (metric("flight_height_p95", percentile(&found, 0.95)), series))
}
