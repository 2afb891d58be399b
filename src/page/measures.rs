//! Table of measures: value, limit, value of the direct transfer, and time series.

use super::html_text::{Text, words};
use super::plots::whose;
use super::quantity::Unit;
use super::shell::Later;
use super::slides::slides;
use super::time_plot::{Who, highest, sparkline};
use crate::measure::{Judgement, Reading, Verdict, find};
use crate::report::{Report, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;

/// The tables of these measures: those with limits, the worst first, and all others in a collapsed section.
pub(super) fn measures(all: &[Reading], series: &[Series], later: &mut Later) -> String {
    let (mut judged, others): (Vec<&Reading>, Vec<&Reading>) = all.iter().partition(|m| m.limit().is_some());
    let part = |m: &Reading| m.part().unwrap_or(0.0);
    judged.sort_by(|a, b| part(b).total_cmp(&part(a)));
    let mut html = String::new();
    if all.is_empty() {
        html += "<p class=\"quiet\">Nothing was measured.</p>";
    }
    if all.iter().any(|m| find(&m.name).is_some()) {
        html += "<p class=\"note\">Lengths are those of the figure scaled to 1.75 m, so that bodies can be compared.</p>";
    }
    if !judged.is_empty() {
        html += &table(&judged, series, "Measures with a limit, the worst first");
    }
    if !others.is_empty() {
        let open = if judged.is_empty() { " open" } else { "" };
        let _ = write!(
            html,
            "<details{open}><summary>{} measures without a limit</summary>{}</details>",
            others.len(),
            later.put(table(&others, series, "Measures without a limit"))
        );
    }
    html
}

fn table(rows: &[&Reading], series: &[Series], caption: &str) -> String {
    let has_direct = rows.iter().any(|m| m.direct.is_some());
    let takes = rows.iter().any(|m| m.take.is_some());
    let limits = rows.iter().any(|m| m.at_most.is_some());
    let has_series = rows.iter().any(|m| series_of(&m.name, series).is_some());
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"measures\"><caption>{caption}</caption><thead><tr>\
         <th scope=\"col\">Measure</th><th scope=\"col\" class=\"n\">Value</th>"
    );
    if limits {
        html += "<th scope=\"col\" class=\"n\">At most</th><th scope=\"col\">Part of the limit</th>";
    }
    if has_direct {
        html += "<th scope=\"col\" class=\"n\"><abbr title=\"The same measure of the take's rotations on this body, without \
                 any correction\">Direct transfer</abbr></th>";
    }
    if takes {
        html += "<th scope=\"col\" class=\"n\"><abbr title=\"The same measure of the take itself, on its own body\">Take</abbr></th>";
    }
    if has_series {
        html += "<th scope=\"col\">Over time</th>";
    }
    html += "</tr></thead><tbody>";
    for m in rows {
        let sizes = [Some(m.value), m.direct, m.take, m.at_most].into_iter().flatten();
        let unit = Unit::of(&m.unit, sizes.fold(0.0, |a: f64, b| a.max(b.abs())));
        let over = m.over();
        let flag = match m.judgement() {
            _ if m.limit().is_none() => "",
            Judgement::Good => "",
            judgement => judgement.word(),
        };
        let formula = find(&m.name).map_or_else(String::new, |known| {
            format!("<span class=\"formula\">{}</span>", Text(known.formula))
        });
        let _ = write!(
            html,
            "<tr{}><th scope=\"row\">{}{}{formula}</th><td class=\"n value\">{}</td>",
            if over { " class=\"over\"" } else { "" },
            Text(&words(&m.name)),
            if flag.is_empty() { String::new() } else { format!(" <span class=\"flag\">{flag}</span>") },
            unit.text(m.value)
        );
        if limits {
            let limit = m.at_most.map_or_else(String::new, |x| unit.text(x));
            let _ = write!(html, "<td class=\"n\">{limit}</td><td class=\"part\">{}</td>", bar(m));
        }
        if has_direct {
            let direct = m.direct.map_or_else(String::new, |x| unit.text(x));
            let _ = write!(html, "<td class=\"n copy\">{direct}</td>");
        }
        if takes {
            let take = m.take.map_or_else(String::new, |x| unit.text(x));
            let _ = write!(html, "<td class=\"n copy\">{take}</td>");
        }
        if has_series {
            let trace = series_of(&m.name, series).map_or_else(String::new, |s| {
                sparkline(&s.values, &format!("{} over the frames", words(&s.name)))
            });
            let _ = write!(html, "<td>{trace}</td>");
        }
        html += "</tr>";
    }
    html + "</tbody></table></div>"
}

/// A bar for the ratio of a value to its limit; the limit is marked at two thirds.
fn bar(m: &Reading) -> String {
    let Some(part) = m.part() else { return String::new() };
    let percent = if part.is_finite() { format!("{:.0} %", 100.0 * part) } else { "over".to_owned() };
    let wide = (part / 1.5).clamp(0.0, 1.0) * 100.0;
    format!(
        "<span class=\"bar\"><span style=\"width:{wide:.1}%\"></span></span> <span class=\"percent\">{percent}</span>"
    )
}

/// The series of a measure: the one whose name is the longest prefix of the measure's name; of two sides the one with the
/// larger maximum.
pub(super) fn series_of<'a>(measure: &str, series: &'a [Series]) -> Option<&'a Series> {
    let stem = |s: &Series| whose(&s.name).1;
    let related = |s: &&Series| {
        measure.strip_prefix(stem(s).as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let top = |s: &Series| highest(&s.values).map_or(f64::NEG_INFINITY, |h| h.1);
    let better = |a: &&Series, b: &&Series| stem(a).len().cmp(&stem(b).len()).then(top(a).total_cmp(&top(b)));
    series.iter().filter(related).max_by(better)
}

/// Downsampled time series of a measure: the maximum of each of at most [`WorstSeries::PARTS`] equal parts of the clip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorstSeries {
    /// The measure.
    pub name: String,
    /// Its unit, such as `m`, `rad` or `m/s`; `1` for ratios.
    pub unit: String,
    /// The greatest value of each of at most 60 equal parts of the clip, in `unit`.
    pub values: Vec<f64>,
    /// The frame of the maximum, from 0.
    #[serde(default)]
    pub frame: usize,
    /// The time of that frame since the first frame, seconds.
    #[serde(default)]
    pub seconds: f64,
    /// The side, if there are two: `left` or `right`; else empty.
    #[serde(default)]
    pub of: String,
}

impl WorstSeries {
    /// Most values kept.
    pub const PARTS: usize = 60;

    /// Where this measure is worst, if this is its series: `at 0.63 s (frame 38), left`.
    pub fn place(&self, measure: &str) -> Option<String> {
        let of = if self.of.is_empty() { String::new() } else { format!(", {}", self.of) };
        (self.name == measure).then(|| format!("at {:.2} s (frame {}){of}", self.seconds, self.frame))
    }

    /// Reads the serialised form; `None` for anything else.
    pub fn of_json(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }
}

/// The side that a series is of: `left`, `right`, or nothing.
pub(super) fn side(series: &Series) -> &'static str {
    match whose(&series.name).0 {
        Who::Left => "left",
        Who::Right => "right",
        _ => "",
    }
}

/// The series of the measure that exceeds its limit the most, among those that have a series, at `rate` frames per second.
pub fn worst_series(report: &Report, rate: f64) -> Option<WorstSeries> {
    let readings: Vec<Reading> = report.metrics.iter().map(Reading::from).collect();
    let slides = slides(&report.series);
    let series_at = |m: &Reading| series_of(&m.name, &slides).or_else(|| series_of(&m.name, &report.series));
    // If the worst measure has no series, no other series may stand in for it.
    let judgement = Verdict::of(&readings).judgement();
    let of_verdict = readings.iter().filter(|m| m.limit().is_some() && m.judgement() == judgement);
    let judged = of_verdict.filter_map(|m| Some((m, m.part()?, series_at(m)?)));
    let (measure, _, series) = judged.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let parts = series.values.len().min(WorstSeries::PARTS);
    let part =
        |k: usize| &series.values[k * series.values.len() / parts..(k + 1) * series.values.len() / parts];
    let most = |k: usize| part(k).iter().copied().filter(|v| v.is_finite()).fold(f64::MIN, f64::max);
    let values = (0..parts).map(most).filter(|v| *v > f64::MIN).collect();
    let frame = highest(&series.values).map_or(0, |h| h.0);
    Some(WorstSeries {
        name: measure.name.clone(),
        unit: series.unit.to_owned(),
        values,
        frame,
        seconds: frame as f64 / rate,
        of: side(series).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_the_worst_measure_keeps_its_peak() {
        let mut values = vec![0.0; 500];
        values[333] = 2.0;
        let series =
            |name: &str| Series { name: name.into(), unit: "m", values: values.clone(), resting: Vec::new() };
        let mut report =
            Report { series: vec![series("foot_skate"), series("penetration")], ..Report::default() };
        for (name, limit) in [("foot_skate_p95", 4.0), ("penetration_max", 1.0), ("jerk_ratio", 0.1)] {
            report.measure(name, 2.0, "m");
            report.metrics.last_mut().unwrap().at_most = Some(limit);
        }
        let worst = worst_series(&report, 100.0).unwrap();
        assert_eq!(worst.place("penetration_max"), Some("at 3.33 s (frame 333)".into()));
        assert_eq!((worst.name.as_str(), worst.values.len()), ("penetration_max", WorstSeries::PARTS));
        assert_eq!((worst.values.iter().position(|v| *v == 2.0), worst.frame), (Some(40), 333));
        assert_eq!(WorstSeries::of_json(&serde_json::to_value(&worst).unwrap()), Some(worst));
        assert_eq!(worst_series(&Report::default(), 100.0), None);
    }

    #[test]
    fn what_is_over_comes_first_with_its_series() {
        let measure = |name: &str, value| Reading {
            name: name.into(),
            value,
            unit: "m".into(),
            direct: Some(0.1),
            take: Some(0.4 / 3.0),
            at_most: Some(0.1),
            not_judged: None,
        };
        let series =
            Series { name: "foot_skate".into(), unit: "m", values: vec![0.0, 1.0], resting: Vec::new() };
        let mut later = Later::default();
        let html = measures(&[measure("<b>", 0.05), measure("foot_skate_p95", 0.2)], &[series], &mut later);
        let html = html + &later.0.concat();
        let (first, second) = (html.find("Foot skate p95").unwrap(), html.find("&lt;b&gt;").unwrap());
        assert!(
            first < second
                && html.contains("20 cm")
                && html.contains("200 %")
                && html.contains("10 cm")
                && html.contains("13.3 cm")
        );
        assert_eq!(html.matches("class=\"spark\"").count(), 1);
    }
}
