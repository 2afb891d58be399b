//! Foot sliding, penetration and floating during labelled contacts, and the published variants of these measures.
//!
//! The formulas are those of [`MEASURES`](super::MEASURES). Where published evaluations read mesh vertices or joints of
//! one body model, the contact points of this one stand for them.

use super::catalogue::metric;
use super::contact_series::ContactSeries;
use super::statistics::{greatest, mean};
use crate::math::percentile_in_place;
use crate::model::{ContactPart, Side};
use crate::report::Metric;

/// Penetration below this is ignored, metres: it is noise of files and meshes.
const INSIDE: f64 = 0.001;
/// A labelled point higher than this floats, metres: about the thickness of a sole.
const AFLOAT: f64 = 0.03;
/// The height below which sliding counts in the weighted measure, metres.
const WEIGHTED: f64 = 0.025;

/// The measures of feet and other points against the ground; none without points.
pub fn contact(contact_series: &[ContactSeries], frames: usize) -> Vec<Metric> {
    let feet: Vec<&ContactSeries> = contact_series.iter().filter(|c| c.part.of_foot()).collect();
    if feet.is_empty() || frames == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |name: &str, value: f64| found.push(metric(name, value));
    let slides = |contact_series: &mut dyn Iterator<Item = &ContactSeries>| {
        let of =
            |c: &ContactSeries| (0..frames).filter(|f| c.stays(*f)).map(|f| c.speed[f]).collect::<Vec<_>>();
        contact_series.flat_map(of).collect::<Vec<f64>>()
    };
    let mut speeds = slides(&mut feet.iter().copied());
    add("foot_skate", mean(&speeds));
    add("foot_skate_p95", percentile_in_place(&mut speeds, 0.95));
    let slowest = foot_slides(contact_series, frames).into_iter().flatten();
    let mut slowest: Vec<f64> = slowest.filter(|v| v.is_finite()).collect();
    add("foot_slide_p95", percentile_in_place(&mut slowest, 0.95));
    add("foot_skate_max", greatest(&speeds));
    let weighted: Vec<f64> = (feet.iter())
        .flat_map(|c| (1..frames).filter(|f| c.clearance[*f] < WEIGHTED).map(|f| weight(c, f)))
        .collect();
    add("foot_skate_weighted", mean(&weighted));
    add("contact_slide_p95", percentile_in_place(&mut slides(&mut contact_series.iter()), 0.95));

    let depths = depths(&mut feet.iter().copied(), frames);
    add("penetration_max", greatest(&depths));
    add("penetration_mean", mean(&depths));
    add("penetration_share", share(&depths, |d| *d > INSIDE));
    let others = depths_of_others(contact_series, frames);
    if let Some(others) = others {
        add("body_penetration_max", greatest(&others));
    }

    let floats: Vec<f64> = floats(contact_series, frames).into_iter().filter(|z| z.is_finite()).collect();
    add("float_max", greatest(&floats));
    add("float_share", share(&floats, |z| *z > AFLOAT));
    found
}

/// The smallest speed of the points of each foot in every frame: a foot that rolls has a point at rest. NaN where none of them
/// stays.
pub fn foot_slides(contact_series: &[ContactSeries], frames: usize) -> [Vec<f64>; 2] {
    Side::BOTH.map(|side| {
        let of_foot = |c: &&ContactSeries| c.part.of_foot() && c.part.side() == Some(side);
        let own: Vec<&ContactSeries> = contact_series.iter().filter(of_foot).collect();
        let slide = |f: usize| {
            let stays = own.iter().any(|c| c.stays(f));
            own.iter().map(|c| c.speed[f]).reduce(f64::min).filter(|_| stays).unwrap_or(f64::NAN)
        };
        (0..frames).map(slide).collect()
    })
}

/// The depth of the lowest foot point in every frame.
pub fn foot_depths(contact_series: &[ContactSeries], frames: usize) -> Vec<f64> {
    depths(&mut contact_series.iter().filter(|c| c.part.of_foot()), frames)
}

/// The height of the lowest labelled point in every frame; NaN where none is. Of a foot all points count: one that stands on its
/// ball does not float because its heel is labelled.
pub fn floats(contact_series: &[ContactSeries], frames: usize) -> Vec<f64> {
    let lowest = |f: usize| {
        let touches = |c: &ContactSeries| {
            let same = |o: &&ContactSeries| o.part.of_foot() && o.part.side() == c.part.side();
            c.rests[f] || (c.part.of_foot() && contact_series.iter().filter(same).any(|o| o.rests[f]))
        };
        let labelled = contact_series.iter().filter(|c| touches(c)).map(|c| c.clearance[f]);
        labelled.min_by(f64::total_cmp).unwrap_or(f64::NAN)
    };
    (0..frames).map(lowest).collect()
}

fn depths_of_others(contact_series: &[ContactSeries], frames: usize) -> Option<Vec<f64>> {
    let others = || contact_series.iter().filter(|c| !c.part.of_foot());
    others().next().map(|_| depths(&mut others(), frames))
}

fn depths(contact_series: &mut dyn Iterator<Item = &ContactSeries>, frames: usize) -> Vec<f64> {
    let mut depths = vec![0.0_f64; frames];
    for series in contact_series {
        for (depth, z) in depths.iter_mut().zip(&series.clearance) {
            *depth = depth.max(-z);
        }
    }
    depths
}

/// The speed of one frame, weighted down to 0 at the height of [`WEIGHTED`].
fn weight(series: &ContactSeries, frame: usize) -> f64 {
    series.speed[frame] * (2.0 - libm::exp2(series.clearance[frame].max(0.0) / WEIGHTED))
}

fn share<T>(values: &[T], is: impl Fn(&T) -> bool) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().filter(|v| is(v)).count() as f64 / values.len() as f64 }
}

/// The measures that others publish; none without points.
pub fn published(contact_series: &[ContactSeries], frames: usize, rate: f64) -> Vec<Metric> {
    if contact_series.iter().all(|c| !c.part.of_foot()) || frames < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |name: &str, value: f64| found.push(metric(name, value));
    let balls: Vec<&ContactSeries> =
        contact_series.iter().filter(|c| matches!(c.part, ContactPart::Ball(_))).collect();

    let window = ((0.25 * rate).round() as usize).max(1);
    let averages: Vec<Vec<f64>> = balls.iter().map(|c| average(&c.speed[1..], window)).collect();
    let skates = |f: usize| {
        let one = |(c, mean): (&&ContactSeries, &Vec<f64>)| {
            c.height[f - 1] < 0.05 && c.height[f] < 0.05 && c.speed[f] > 0.5 && mean[f - 1] > 0.5
        };
        balls.iter().zip(&averages).any(one)
    };
    add("gmd_skating_ratio", (1..frames).filter(|f| skates(*f)).count() as f64 / (frames - 1) as f64);

    let sticks = (0..frames).filter(|f| balls.iter().any(|c| c.rests[*f])).count();
    let slides = |f: &usize| balls.iter().any(|c| c.rests[*f] && c.speed[*f] / 30.0 > 0.01);
    add("holosoma_sliding", (0..frames).filter(slides).count() as f64 / sticks.max(1) as f64);
    let deepest = depths(&mut contact_series.iter(), frames);
    add("holosoma_penetration", share(&deepest, |d| *d > 0.01));
    add("holosoma_penetration_max", Some(greatest(&deepest)).filter(|d| *d > 0.01).unwrap_or(0.0));

    let lowest = |f: usize| contact_series.iter().map(|c| c.clearance[f]).fold(f64::INFINITY, f64::min);
    let lowest: Vec<f64> = (0..frames).map(lowest).collect();
    let over = |sign: f64| {
        let values: Vec<f64> = lowest.iter().map(|z| if sign * z > 0.005 { sign * z } else { 0.0 }).collect();
        mean(&values)
    };
    let skate: Vec<f64> = (1..frames)
        .map(|f| {
            let down = |c: &&ContactSeries| {
                c.part.of_foot() && c.clearance[f - 1] <= 0.005 && c.clearance[f] <= 0.005
            };
            mean(&contact_series.iter().filter(down).map(|c| c.speed[f] / 20.0).collect::<Vec<_>>())
        })
        .collect();
    let (penetrate, float, skate) = (over(-1.0), over(1.0), mean(&skate));
    add("physdiff_penetrate", penetrate);
    add("physdiff_float", float);
    add("physdiff_skate", skate);
    add("physdiff_error", penetrate + float + skate);
    found
}

/// The mean over a window around each value; zeros beyond the ends, as the published code has it.
fn average(values: &[f64], window: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0);
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    let before = window / 2;
    let at = |k: usize| {
        let (from, to) = (k.saturating_sub(before), (k + window - before).min(values.len()));
        (sums[to] - sums[from]) / window as f64
    };
    (0..values.len()).map(at).collect()
}
