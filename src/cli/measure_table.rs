//! Tables of measures for people: centimetres and degrees, values of the direct rotation transfer, limits.

use crate::measure::{Judgement, Reading, Summary, Verdict, VerdictMember, find, shown};
use crate::report::{Hint, Metric, one_line};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// One clip of one result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeasuredClip {
    /// The file.
    pub file: String,
    /// The name of the clip.
    pub clip: String,
    /// Number of its frames.
    pub frames: usize,
    /// Number of frames of the source at that rate, if it has another number: what both have is judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub source_frames: Option<usize>,
    /// Its frames per second.
    pub sample_rate: f64,
    /// Where the contact labels come from: `source` or `result`.
    #[schemars(extend("enum" = ["source", "result"]))]
    pub contacts: &'static str,
    /// The verdict: its word and the numbers of measures behind it.
    #[schemars(with = "VerdictMember")]
    pub verdict: Value,
    /// The measures.
    pub metrics: Vec<Metric>,
    /// Stages that were tried and help; only of a single result for people.
    #[serde(skip)]
    pub hints: Vec<Hint>,
}

/// The columns of the table of many clips.
const COLUMNS: [&str; 8] = [
    "foot_skate_p95",
    "penetration_max",
    "float_share",
    "hands_error",
    "limit_violation_max",
    "jerk",
    "jerk_ratio",
    "momentum_residual",
];

/// A table of text; the first column is aligned left, the others right.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let _ = match c {
                0 => write!(line, "{cell:<w$}", w = widths[c]),
                _ => write!(line, "  {cell:>w$}", w = widths[c]),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The table of all measures of one clip; those in `fails` exceed a threshold.
pub fn single(measured: &MeasuredClip, fails: &[&str]) -> String {
    let mut rows =
        vec![["measure", "value", "direct transfer", "take", "at most", ""].map(str::to_owned).to_vec()];
    let readings: Vec<Reading> = measured.metrics.iter().map(Reading::from).collect();
    let mut verdict = Verdict::of(&readings).line(None);
    if let Some(frames) = measured.source_frames {
        verdict += &match measured.frames {
            own if own < frames => format!("; {own} of the source's {frames} frames are judged"),
            own => format!("; {frames} of the result's {own} frames have a source"),
        };
    }
    let has_direct = measured.metrics.iter().any(|m| m.direct.is_some());
    for metric in &measured.metrics {
        let optional = |value: Option<f64>| value.map_or(String::new(), |v| shown(v, metric.unit));
        let judgement = Reading::from(metric).judgement();
        rows.push(vec![
            metric.name.clone(),
            shown(metric.value, metric.unit),
            optional(metric.direct),
            optional(metric.take),
            optional(metric.at_most),
            match judgement {
                _ if fails.contains(&metric.name.as_str()) => "fails".to_owned(),
                Judgement::Good => String::new(),
                Judgement::NotJudged if metric.not_judged.is_none() => String::new(),
                word => word.word().to_owned(),
            },
        ]);
    }
    if !has_direct {
        rows.iter_mut().for_each(|row| drop(row.drain(2..4)));
    }
    let clip =
        if measured.clip.is_empty() { String::new() } else { format!(" ({})", one_line(&measured.clip)) };
    let contacts = match measured.contacts {
        "source" => "contacts of the take",
        _ => "contacts detected on the result itself",
    };
    let hint = |h: &Hint| {
        let (before, after) = (shown(h.before, h.unit), shown(h.after, h.unit));
        format!(
            "hint: the stage `{}` changes {} from {before} to {after} (tried on this clip)\n",
            h.stage, h.measure
        )
    };
    let hints: String = measured.hints.iter().map(hint).collect();
    format!(
        "{}{clip}: {} frames at {:.3} Hz, {contacts}; lengths scaled to a height of 1.75 m, except `height`\nverdict: {verdict}\n{hints}\n{}",
        one_line(&measured.file),
        measured.frames,
        measured.sample_rate,
        table(&rows)
    )
}

/// A table with one row for each clip, then one with median and worst of every measure.
pub fn batch(labels: &[String], many: &[MeasuredClip], summary: &[Summary]) -> String {
    let there: Vec<&str> =
        COLUMNS.into_iter().filter(|c| many.iter().any(|m| m.metrics.iter().any(|k| k.name == *c))).collect();
    let mut rows = vec![
        ["clip", "verdict"].into_iter().chain(there.iter().copied()).map(str::to_owned).collect::<Vec<_>>(),
    ];
    for (label, measured) in labels.iter().zip(many) {
        let cell = |name: &&str| {
            let metric = measured.metrics.iter().find(|m| m.name == *name);
            metric.map_or("-".to_owned(), |m| shown(m.value, m.unit))
        };
        let readings: Vec<Reading> = measured.metrics.iter().map(Reading::from).collect();
        let word = Verdict::of(&readings).words().1.to_owned();
        rows.push([label.clone(), word].into_iter().chain(there.iter().map(cell)).collect());
    }
    let mut sums = vec![["measure", "median", "worst", "at most", "worst of"].map(str::to_owned).to_vec()];
    for line in summary {
        let limit = find(&line.name).and_then(|m| m.at_most);
        sums.push(vec![
            line.name.clone(),
            shown(line.median, &line.unit),
            shown(line.worst, &line.unit),
            limit.map_or(String::new(), |v| shown(v, &line.unit)),
            line.of.clone(),
        ]);
    }
    format!("{}\n{}", table(&rows), table(&sums))
}
