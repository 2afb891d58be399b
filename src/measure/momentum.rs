//! Forces of a motion that its contacts cannot supply, from centre of mass and angular momentum.
//!
//! `F = m (c'' - g)` and `N = dL_c/dt`, low-passed at 8 Hz, have to come from forces at the labelled contact points, each
//! inside a friction pyramid of four edges; what the best non-negative combination leaves over is an external force on the
//! root. Without contacts all but gravity is left over. In flight the centre of mass has to follow a parabola, and the
//! angular momentum to be constant. Space: model space. Units: the figure's own metres, since gravity does not scale; forces in
//! parts of the body's weight.

use super::catalogue::metric;
use super::contact_series::ContactSeries;
use super::metric_context::MetricContext;
use super::nonnegative_least_squares::{Row6, residual};
use super::samples::Samples;
use super::statistics::rms;
use crate::kinematics::GRAVITY;
use crate::math::{Vec3, percentile};
use crate::parallel;
use crate::report::{Metric, Series};
use crate::signal::{Butterworth, Parabola};

/// The friction coefficient of the pyramids.
const FRICTION: f64 = 0.8;
/// Low-pass cutoff of force and moment, hertz: faster changes are noise of the capture.
const CUTOFF: f64 = 8.0;
/// The shortest time without a label that is a flight, seconds.
const FLIGHT: f64 = 0.08;
/// Height of the lowest contact point that a flight reaches, leg lengths: a foot of a walk between two labels is lower.
const CLEAR: f64 = 0.03;

/// The measures of flights.
pub const FLIGHTS: [&str; 2] = ["flight_error", "flight_spin_drift"];

/// The measures and their time series; none without masses or with fewer than five frames. A body whose path is scaled falls with
/// a scaled `gravity`, m/s^2.
pub fn momentum(
    context: &MetricContext,
    samples: &Samples,
    contact_series: &[ContactSeries],
    gravity: f64,
) -> Option<(Vec<Metric>, Vec<Series>)> {
    let frames = samples.frames;
    if samples.centres.is_empty() || frames < 5 {
        return None;
    }
    let (forces, torques) = wrenches(samples);
    let left = |columns: &mut Vec<Row6>, frame: usize| {
        columns.clear();
        for (k, series) in contact_series.iter().enumerate().filter(|(_, c)| c.rests[frame]) {
            debug_assert_eq!(series.part, context.points()[k].part);
            let arm = (samples.point(frame, k) / context.scale - samples.centres[frame]) / context.height;
            for (x, z) in [(FRICTION, 0.0), (-FRICTION, 0.0), (0.0, FRICTION), (0.0, -FRICTION)] {
                columns.push(row(&Vec3::new(x, 1.0, z), &arm));
            }
        }
        let force = forces[frame] / GRAVITY + Vec3::y();
        let torque = torques[frame] / (GRAVITY * context.height);
        let rest = residual(columns, &[force.x, force.y, force.z, torque.x, torque.y, torque.z]);
        rest.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    let left: Vec<f64> = parallel::map_with(frames, 64, Vec::new, left);
    let mut found = vec![metric("momentum_residual", rms(left.iter().map(|x| x * x)))];
    found.push(metric("momentum_residual_p95", percentile(&left, 0.95)));
    let mut series = vec![series("momentum_residual", left)];
    if let Some((metrics, flights)) = flight(samples, contact_series, gravity, CLEAR * context.leg_to_sole())
    {
        found.extend(metrics);
        series.extend(flights);
    }
    Some((found, series))
}

fn series(name: &str, values: Vec<f64>) -> Series {
    Series { name: name.to_owned(), unit: "1", values, resting: Vec::new() }
}

/// A force direction with its moment.
fn row(force: &Vec3, arm: &Vec3) -> Row6 {
    let moment = arm.cross(force);
    [force.x, force.y, force.z, moment.x, moment.y, moment.z]
}

/// The acceleration of the centre and the change of angular momentum, low-passed; the ends repeat their neighbours.
fn wrenches(samples: &Samples) -> (Vec<Vec3>, Vec<Vec3>) {
    let (c, rate) = (&samples.centres, samples.rate);
    let inner = (1..samples.frames - 1).map(|f| (c[f - 1] + c[f + 1] - c[f] * 2.0) * (rate * rate));
    let mut forces: Vec<Vec3> = inner.collect();
    let mut torques = samples.torques[1..samples.frames - 1].to_vec();
    if let Some(filter) = Butterworth::new(CUTOFF, rate) {
        for list in [&mut forces, &mut torques] {
            for axis in 0..3 {
                let mut channel: Vec<f64> = list.iter().map(|v| v[axis]).collect();
                filter.apply(&mut channel);
                list.iter_mut().zip(channel).for_each(|(v, x)| v[axis] = x);
            }
        }
    }
    for list in [&mut forces, &mut torques] {
        let ends = (list[0], list[list.len() - 1]);
        list.insert(0, ends.0);
        list.push(ends.1);
    }
    (forces, torques)
}

/// How far flights are from a parabola of this gravity and a constant angular momentum, and in which frames; none without a flight in
/// which all contact points are higher than `clear` at some time.
fn flight(
    samples: &Samples,
    contact_series: &[ContactSeries],
    gravity: f64,
    clear: f64,
) -> Option<([Metric; 2], [Series; 2])> {
    // A body without feet has no contacts, and is not in flight for that.
    if !contact_series.iter().any(|c| c.part.of_foot()) {
        return None;
    }
    let free = |f: &usize| contact_series.iter().all(|c| !c.rests[*f]);
    // Three samples are on a parabola whatever they are.
    let least = ((FLIGHT * samples.rate).ceil() as usize).max(4);
    let mut drifts = Vec::new();
    // NaN where there is no flight.
    let mut over_time = [vec![f64::NAN; samples.frames], vec![f64::NAN; samples.frames]];
    let (mut start, mut flies) = (0, false);
    while start < samples.frames {
        let end = (start..samples.frames).find(|f| !free(f)).unwrap_or(samples.frames);
        let length = end - start;
        let lowest = |f: usize| contact_series.iter().map(|c| c.clearance[f]).fold(f64::INFINITY, f64::min);
        if length >= least {
            flies |= (start..end).any(|f| lowest(f) > clear);
            let bend = Parabola::through(&samples.centres[start..end]).acceleration();
            let error = (bend * (samples.rate * samples.rate) + Vec3::y() * gravity).norm() / gravity;
            over_time[0][start..end].fill(error);
            let spins = &samples.spins[start..end];
            let mean = spins.iter().sum::<Vec3>() / length as f64;
            let size = rms(spins.iter().map(|l| l.norm_squared()));
            if size > 0.0 {
                drifts.push((rms(spins.iter().map(|l| (l - mean).norm_squared())) / size).powi(2));
                let parts = spins.iter().map(|l| (l - mean).norm() / size);
                over_time[1][start..end].iter_mut().zip(parts).for_each(|(x, part)| *x = part);
            }
        }
        start = end + 1;
    }
    if !flies {
        return None;
    }
    let errors = over_time[0].iter().filter(|x| x.is_finite()).map(|x| x * x);
    let metrics = [metric(FLIGHTS[0], rms(errors)), metric(FLIGHTS[1], rms(drifts.into_iter()))];
    let [errors, spins] = over_time;
    Some((metrics, [series("flight_error", errors), series("flight_spin_drift", spins)]))
}
