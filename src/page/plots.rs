//! Plots of one clip: feet, path, joint angles with their ranges, other series.
//!
//! Series of both sides share a plot. Space: model space.

use super::html_text::words;
use super::path_plot::{PlottedPath, path_plot};
use super::ranges::Angle;
use super::shown_clip::ShownClip;
use super::time_plot::{Line, TimePlot, Who};
use crate::math::Transform;
use crate::measure::Reading;
use crate::model::{JointId, Motion, Role};
use crate::report::Series;

/// Most plots on a page; the others are in the table of measures.
const MOST: usize = 16;

/// The plots of one clip, `series` being those of this clip.
pub(super) fn plots(shown: &ShownClip, angles: &[Angle], series: &[Series], readings: &[Reading]) -> String {
    let rate = shown.result.clip.sample_rate;
    let mut html = String::from("<div class=\"plots\">");
    // The height of the hips is shown next to that of the source below.
    let series: Vec<&Series> = series.iter().filter(|s| s.name != "root_height").collect();
    for plot in grouped(&series, rate, readings).iter().take(MOST) {
        html += &plot.html();
    }
    for angle in angles {
        html += &angle_plot(angle, rate).html();
    }
    let hips: Vec<[f64; 3]> = hips(shown.result);
    let height: Vec<f64> = hips.iter().map(|p| p[1]).collect();
    let before = shown.source.map(|source| {
        let at = |f: usize| shown.result.clip.time(f) - source.clip.start;
        let there = self::hips(source);
        let last = there.len().saturating_sub(1) as f64;
        let frame = |f: usize| (at(f) * source.clip.sample_rate).round().clamp(0.0, last) as usize;
        (0..hips.len()).filter_map(|f| there.get(frame(f)).copied()).collect::<Vec<[f64; 3]>>()
    });
    let before_height: Vec<f64> = before.iter().flatten().map(|p| p[1]).collect();
    let mut lines = Vec::new();
    if !before_height.is_empty() {
        lines.push(line("take", Who::Take, &before_height));
    }
    lines.push(line("result", Who::Main, &height));
    html += &TimePlot {
        title: "Hip height".into(),
        note: "Above the origin; a longer-legged body is higher throughout.".into(),
        unit: "m",
        rate,
        lines,
        allowed: None,
    }
    .html();
    let path = |name: &str, who, points: &[[f64; 3]]| PlottedPath {
        name: name.into(),
        who,
        points: points.iter().map(|p| [p[0], p[2]]).collect(),
    };
    let mut paths: Vec<PlottedPath> = before.iter().map(|points| path("take", Who::Take, points)).collect();
    paths.push(path("result", Who::Main, &hips));
    html += &path_plot(&paths);
    html + "</div>"
}

fn line<'a>(name: &str, who: Who, values: &'a [f64]) -> Line<'a> {
    Line { name: name.into(), who, values, resting: &[] }
}

/// One plot for each quantity: `left_heel_height` and `right_heel_height` share one.
fn grouped<'a>(series: &[&'a Series], rate: f64, readings: &[Reading]) -> Vec<TimePlot<'a>> {
    let mut plots: Vec<(String, TimePlot)> = Vec::new();
    for s in series {
        let (who, stem) = whose(&s.name);
        let entry = Line { name: words(who_word(who)), who, values: &s.values, resting: &s.resting };
        let at = plots.iter().position(|(known, plot)| *known == stem && plot.unit == s.unit);
        match at {
            Some(k) => plots[k].1.lines.push(entry),
            None => {
                let note = note(&stem, !s.resting.is_empty());
                // The limit of what a result adds is none of the quantity itself.
                let limits = readings.iter().filter(|r| {
                    r.unit == s.unit && measures_stem(&r.name, &stem) && !r.name.ends_with("_added")
                });
                let limit = limits.filter_map(|r| r.at_most).reduce(f64::min);
                let plot = TimePlot {
                    title: words(&stem),
                    note: note.into(),
                    unit: s.unit,
                    rate,
                    lines: vec![entry],
                    allowed: limit.map(|most| [0.0, most]),
                };
                plots.push((stem, plot));
            }
        }
    }
    plots.into_iter().map(|p| p.1).collect()
}

/// Whether a measure is one of the quantity of this stem: `foot_skate_p95` of `foot_skate`.
pub(super) fn measures_stem(measure: &str, stem: &str) -> bool {
    measure.strip_prefix(stem).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// One sentence on how to read a plot.
fn note(stem: &str, rests: bool) -> &'static str {
    match stem {
        "foot_skate" => "The fastest resting point of each foot; gaps are steps.",
        "penetration" => "How deep the deepest foot is under the ground.",
        "limit_violation" => "The joint that is furthest outside its range of motion.",
        "jerk" => "How suddenly hands, feet and head change their acceleration.",
        "correction" => "How far joints are from the direct transfer on average.",
        "float" => "How high the lowest part is of those that should rest.",
        "rest_slip" => "Against the take's foot while that rests.",
        "clearance_error" => "How far from its usual height above the take's, while that rests.",
        "knee_jerk" | "foot_jerk" => "What it has more than the take, in parts of what that has.",
        "flight_error" => "Acceleration in flight, away from gravity's, in parts of it.",
        "flight_spin_drift" => "Angular momentum in flight, away from its mean, in parts of its size.",
        "momentum_residual" => "Force that the contacts cannot give, as a part of the weight.",
        _ if rests => "Bands: it rests.",
        _ => "",
    }
}

/// Which line of which plot a series is.
pub(super) fn whose(name: &str) -> (Who, String) {
    for (word, who) in [("left", Who::Left), ("right", Who::Right)] {
        if let Some(rest) = name.strip_prefix(word).and_then(|r| r.strip_prefix('_')) {
            return (who, rest.to_owned());
        }
        if let Some(at) = name.find(&format!("_{word}")) {
            let behind = &name[at + 1 + word.len()..];
            if behind.is_empty() || behind.starts_with('_') {
                return (who, format!("{}{behind}", &name[..at]));
            }
        }
    }
    (Who::Main, name.to_owned())
}

fn who_word(who: Who) -> &'static str {
    match who {
        Who::Left => "left",
        Who::Right => "right",
        Who::Main => "result",
        Who::Take => "take",
    }
}

fn angle_plot(angle: &Angle, rate: f64) -> TimePlot<'_> {
    let note = match angle.excess {
        e if e > 1e-6 => {
            format!("Leaves its range by up to {:.0}°, in frame {}.", e.to_degrees(), angle.worst)
        }
        _ => "Inside its range throughout.".to_owned(),
    };
    TimePlot {
        title: format!("{}, {}", words(&angle.role.to_string()), angle.what),
        note,
        unit: "rad",
        rate,
        lines: vec![line("angle", Who::Main, &angle.values)],
        allowed: Some(angle.allowed),
    }
}

/// Where the hips are in every frame, model space; the first joint of bodies without hips.
fn hips(motion: &Motion) -> Vec<[f64; 3]> {
    let skeleton = motion.character.skeleton();
    let joint = motion.character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
    let path: Vec<JointId> = skeleton.path_to_root(joint).collect();
    let at = |frame: usize| {
        let local = |id: &JointId| motion.clip.local(skeleton, frame, *id);
        let model = path.iter().rev().map(local).fold(Transform::identity(), |above, t| above * t);
        [model.translation.x, model.translation.y, model.translation.z]
    };
    (0..motion.clip.frames()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_share_the_plot_of_their_quantity() {
        let names = ["left_heel_height", "right_heel_height", "knee_left", "lefty"];
        let found: Vec<_> = names.iter().map(|n| whose(n)).collect();
        let expected = [
            (Who::Left, "heel_height"),
            (Who::Right, "heel_height"),
            (Who::Left, "knee"),
            (Who::Main, "lefty"),
        ];
        assert_eq!(found, expected.map(|(w, s)| (w, s.to_owned())));
        let one =
            |name: &str| Series { name: name.into(), unit: "m", values: vec![0.0], resting: Vec::new() };
        let series = names.map(one);
        let readings = [("heel_height_max", 0.5), ("heel_height_added", 0.1)].map(|(name, most)| Reading {
            name: name.into(),
            value: 1.0,
            unit: "m".into(),
            direct: None,
            take: None,
            at_most: Some(most),
            not_judged: None,
        });
        let plots = grouped(&series.iter().collect::<Vec<_>>(), 30.0, &readings);
        assert_eq!(plots.iter().map(|p| p.allowed).collect::<Vec<_>>(), [Some([0.0, 0.5]), None, None]);
        assert_eq!(plots.iter().map(|p| p.lines.len()).collect::<Vec<_>>(), [2, 1, 1]);
    }
}
