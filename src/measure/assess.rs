//! Computes all measures of a motion and their time series.

use super::catalogue::metric;
use super::comparison::comparison;
use super::contact_series::{ContactSeries, contact_series};
use super::flight_height::flight_height;
use super::foot_contact::{contact, floats, foot_depths, foot_slides, published};
use super::hands_error::hands;
use super::label_agreement::agreement;
use super::legs::{LEAST_STEP, legs};
use super::limb_comparison::both_sides;
use super::metric_context::MetricContext;
use super::momentum::{FLIGHTS, momentum};
use super::not_judged::with_limits_of_robots;
use super::robot_measures::robot;
use super::samples::Samples;
use super::statistics::{rms, rounding_of_thirds};
use crate::kinematics::{GRAVITY, cuts};
use crate::model::{Contacts, Motion};
use crate::parallel;
use crate::report::{Metric, Series};

/// The measures of one motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// The measures, in the order of [`MEASURES`](super::MEASURES); those that do not apply to the motion are
    /// missing.
    pub metrics: Vec<Metric>,
    /// Time series, by frame.
    pub series: Vec<Series>,
}

impl Assessment {
    /// Adds measures, in the order of the catalogue.
    fn add(&mut self, metrics: impl IntoIterator<Item = Metric>) {
        self.metrics.extend(metrics);
        self.metrics.sort_by_key(|m| super::MEASURES.iter().position(|k| k.name == m.name));
    }
}

/// Measures `motion`, which plays on the character of `context`.
///
/// `contacts` are the labels of the motion; without them feet and forces are not measured. `direct` is the direct
/// transfer: it is measured with the same labels, and the motion is compared with it where both have the same skeleton
/// and rate.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn assess(
    context: &MetricContext,
    motion: &Motion,
    contacts: Option<&Contacts>,
    direct: Option<&Motion>,
) -> Assessment {
    assess_as(context, motion, direct, &Conditions { contacts, gravity: GRAVITY, cuts: &[] }).0
}

/// What is known of a motion besides its frames.
struct Conditions<'a> {
    contacts: Option<&'a Contacts>,
    /// The acceleration of bodies that fall, m/s^2.
    gravity: f64,
    /// The frames that follow a cut of the take.
    cuts: &'a [usize],
}

/// The rotation from one frame to the next that a still joint may have, radians: files with three digits of degrees keep 2e-5.
const LEAST_ROTATION: f64 = 1e-3;

/// As [`assess`], under these conditions.
fn assess_as(
    context: &MetricContext,
    motion: &Motion,
    direct: Option<&Motion>,
    conditions: &Conditions,
) -> (Assessment, Samples) {
    let of_direct = |direct| alone(context, direct, conditions);
    let compare = |direct| parallel::join(|| of_direct(direct), || comparison(context, motion, direct));
    let ((mut made, samples), compared) =
        parallel::join(|| alone(context, motion, conditions), || direct.map(compare));
    if let Some(((of_direct, direct_samples), distances)) = compared {
        for metric in &mut made.metrics {
            metric.direct = of_direct.metrics.iter().find(|m| m.name == metric.name).map(|m| m.value);
        }
        if let Some((metrics, apart)) = distances {
            made.metrics.extend(metrics);
            made.series.push(series("correction", "m", apart));
            made.metrics.extend(roughness(&samples, &direct_samples));
            if !context.limited.is_empty() {
                let both = samples.excess.iter().zip(&direct_samples.excess);
                let added = both.map(|(result, direct)| result - direct).fold(0.0, f64::max);
                made.metrics.push(metric("limit_violation_added", added));
            }
        }
        // Far from the origin a file's numbers of 32 bits shake: that is no fault of the motion.
        let rounding = rounding_of_thirds(samples.rounding(context.scale));
        let least_jerk = rounding.max(LEAST_STEP) * samples.rate.powi(3);
        for (ratio, of, least) in
            [("jerk_ratio", "jerk", least_jerk), ("turn_ratio", "turn_max", LEAST_ROTATION)]
        {
            let value = |m: &Metric| Some(m.value).zip(m.direct);
            if let Some((result, direct)) = made.metrics.iter().find(|m| m.name == of).and_then(value) {
                made.metrics.push(metric(ratio, result / direct.max(least)));
            }
        }
    }
    made.add([]);
    (made, samples)
}

/// As [`assess`] with `direct`, the direct transfer of `take`, and with how closely hands, legs and trunk follow those of
/// the take. The take, which plays on the character of `take_context`, is measured too, with its own labels, so that its faults
/// excuse the same faults of the result.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn assess_against(
    context: &MetricContext,
    motion: &Motion,
    contacts: Option<&Contacts>,
    (take_context, take): (&MetricContext, &Motion),
    direct: &Motion,
) -> Assessment {
    let same_frames = motion.clip.frames() == take.clip.frames();
    let cuts = if same_frames && motion.character.robot.is_some() { cuts(take) } else { Vec::new() };
    let labels = take.contacts.as_ref();
    let of_take =
        || alone(take_context, take, &Conditions { contacts: labels, gravity: GRAVITY, cuts: &cuts });
    // The path is scaled by the legs, so a body half as tall falls half as fast as the take.
    let gravity = GRAVITY * context.leg_to_sole() / take_context.leg_to_sole();
    let of_limbs = || {
        parallel::join(
            || legs(context, (take_context, take), direct, motion, contacts),
            || hands(context, take, direct, motion),
        )
    };
    let ((mut made, samples), ((of_take, of_take_samples), ((measures, series), hands))) = parallel::join(
        || assess_as(context, motion, Some(direct), &Conditions { contacts, gravity, cuts: &cuts }),
        || parallel::join(of_take, of_limbs),
    );
    for metric in &mut made.metrics {
        metric.take = of_take.metrics.iter().find(|m| m.name == metric.name).map(|m| m.value);
    }
    // Without a flight in the take, measures of flights are dropped.
    if of_take.metrics.iter().all(|m| !FLIGHTS.contains(&m.name.as_str())) {
        made.metrics.retain(|m| !FLIGHTS.contains(&m.name.as_str()));
    }
    let higher = contacts.zip(labels).and_then(|(own, theirs)| {
        flight_height(context, (&samples, own), take_context, (&of_take_samples, theirs))
    });
    let (higher, heights) = higher.unzip();
    made.series.extend(series.into_iter().chain(heights));
    made.add(measures.into_iter().chain(hands).chain(higher));
    // Feet without toes roll about another point than the take's: planted joints say more than points of the sole.
    if made.metrics.iter().any(|m| m.name == "rest_slip_p95") {
        made.metrics.iter_mut().filter(|m| m.name == "foot_slide_p95").for_each(|m| m.at_most = None);
    }
    if motion.character.robot.is_some() {
        with_limits_of_robots(&mut made.metrics);
    }
    made
}

/// The measures that need no direct transfer.
fn alone(context: &MetricContext, motion: &Motion, conditions: &Conditions) -> (Assessment, Samples) {
    let Conditions { contacts, gravity, cuts } = *conditions;
    let samples = Samples::of(context, motion);
    let mut made = Assessment::default();
    made.metrics.push(metric("height", context.height));
    made.metrics.extend(context.rest_height().map(|height| metric("rest_height", height)));
    if samples.frames == 0 {
        return (made, samples);
    }
    if let Some(contacts) = contacts {
        let contact_series = contact_series(context, &samples, contacts);
        made.metrics.extend(contact(&contact_series, samples.frames));
        if contact_series.iter().any(|c| c.part.of_foot()) {
            made.metrics.extend(agreement(context, motion, contacts));
        }
        if samples.lowest_skin.is_finite() {
            // Where skin is below the ground of some frame it may be above that of its own.
            let ground = contact_series.iter().map(|c| c.lowest_ground).fold(f64::INFINITY, f64::min);
            let ground = ground.min(contacts.ground * context.scale);
            let depth = (ground - samples.lowest_skin).max(0.0);
            made.metrics.push(metric("body_skin_below_floor", depth));
        }
        made.metrics.extend(published(&contact_series, samples.frames, samples.rate));
        made.series.extend(ground_series(&contact_series, &samples));
        if let Some((metrics, over_time)) = momentum(context, &samples, &contact_series, gravity) {
            made.metrics.extend(metrics);
            made.series.extend(over_time);
        }
        let ground = contacts.ground * context.scale;
        made.series.push(series("root_height", "m", samples.root.iter().map(|p| p.y - ground).collect()));
    }
    if !context.limited.is_empty() {
        let most = samples.excess.iter().copied().fold(0.0, f64::max);
        made.metrics.push(metric("limit_violation_max", most));
        made.metrics.push(metric("limit_violation_mean", samples.mean_excess));
        if most > 0.0 {
            made.series.push(series("limit_violation", "rad", samples.excess.clone()));
        }
    }
    made.metrics.extend(robot(motion, contacts, cuts));
    made.metrics.push(metric("bone_stretch", samples.stretch));
    made.metrics.extend(samples.inside.map(|share| metric("skin_penetration", share)));
    if let Some(faults) = context.check.faults(motion) {
        made.metrics.extend(faults.inside.map(|share| metric("arm_in_body", share)));
        made.metrics.extend(faults.through.map(|share| metric("arm_through_body", share)));
        made.metrics.push(metric("skin_stretch", faults.stretch));
    }
    made.metrics.push(metric("turn_max", samples.largest_rotation));
    if !context.ends.is_empty() && samples.frames > 3 {
        let over_time = jerk(&samples, context.ends.len());
        // Frames without a third difference repeat their neighbours.
        made.metrics.push(metric("jerk", rms(over_time[1..samples.frames - 2].iter().map(|j| j * j))));
        made.series.push(series("jerk", "m/s^3", over_time));
    }
    if motion.character.robot.is_some() {
        with_limits_of_robots(&mut made.metrics);
    }
    (made, samples)
}

fn series(name: &str, unit: &'static str, values: Vec<f64>) -> Series {
    Series { name: name.to_owned(), unit, values, resting: Vec::new() }
}

/// Height and speed of the points of the feet and of other points in contact, and depth of the feet.
fn ground_series(contact_series: &[ContactSeries], samples: &Samples) -> Vec<Series> {
    let mut found = Vec::new();
    for series in contact_series.iter().filter(|c| c.part.of_foot() || !c.holds.is_empty()) {
        let resting: Vec<[usize; 2]> = series.holds.iter().map(|h| [h.frames.start, h.frames.end]).collect();
        for (what, unit, values) in [("height", "m", &series.height), ("speed", "m/s", &series.speed)] {
            let name = format!("{}_{what}", series.part);
            found.push(Series { name, unit, values: values.clone(), resting: resting.clone() });
        }
    }
    if contact_series.iter().any(|c| c.part.of_foot()) {
        found.push(series("penetration", "m", foot_depths(contact_series, samples.frames)));
        found.extend(both_sides("foot_slide", "m/s", foot_slides(contact_series, samples.frames)));
        found.push(series("float", "m", floats(contact_series, samples.frames)));
    }
    found
}

/// The root mean square over the end joints of the third differences, by frame.
fn jerk(samples: &Samples, width: usize) -> Vec<f64> {
    let at = |f: usize, e: usize| samples.ends[f * width + e];
    let third = |f: usize, e: usize| at(f + 2, e) - at(f + 1, e) * 3.0 + at(f, e) * 3.0 - at(f - 1, e);
    let of = |f: usize| rms((0..width).map(|e| third(f, e).norm_squared())) * samples.rate.powi(3);
    (0..samples.frames).map(|f| of(f.clamp(1, samples.frames - 3))).collect()
}

/// The RMS of the second differences of the corrections at the end joints.
fn roughness(result: &Samples, direct: &Samples) -> Option<Metric> {
    let width = result.ends.len() / result.frames.max(1);
    let frames = result.frames.min(direct.frames);
    if width == 0 || frames < 3 {
        return None;
    }
    let away = |f: usize, e: usize| result.ends[f * width + e] - direct.ends[f * width + e];
    let second = |f: usize, e: usize| away(f + 1, e) - away(f, e) * 2.0 + away(f - 1, e);
    let inner = (1..frames - 1).flat_map(|f| (0..width).map(move |e| (f, e)));
    let size = rms(inner.map(|(f, e)| second(f, e).norm_squared())) * result.rate * result.rate;
    Some(metric("correction_roughness", size))
}
