//! Plot over time: values per frame as lines, the allowed band, and contact spans.
//!
//! A line with more frames than pixels keeps the minimum and maximum of every pixel, so that no peak is lost.
//! Units: values in those of the report, displayed in the unit that suits their size.

use super::html_text::Text;
use super::quantity::{Unit, duration};
use super::scale::Scale;
use std::fmt::Write as _;

/// Width of a plot in its own pixels; it is scaled to the width of its column.
const WIDTH: f64 = 440.0;
/// Height of a plot, pixels.
const HEIGHT: f64 = 176.0;
/// Left edge of the plotted area, pixels.
const LEFT: f64 = 40.0;
/// Right edge of the plotted area, pixels.
const RIGHT: f64 = 432.0;
/// Upper edge of the plotted area, pixels.
const TOP: f64 = 10.0;
/// Lower edge of the plotted area, pixels.
const BOTTOM: f64 = 150.0;
/// Height of a strip that shows the contacts of a part, pixels.
const STRIP: f64 = 5.0;

/// Which motion a line belongs to; the style sheet gives each a colour and a dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Left,
    Right,
    Main,
    /// The take.
    Take,
}

impl Who {
    pub(super) fn class(self) -> &'static str {
        match self {
            Who::Left => "left",
            Who::Right => "right",
            Who::Main => "main",
            Who::Take => "before",
        }
    }
}

/// One line of a plot.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) name: String,
    pub(super) who: Who,
    pub(super) values: &'a [f64],
    /// Frames in which the part is in contact, as half-open ranges.
    pub(super) resting: &'a [[usize; 2]],
}

/// Lines over time with one axis.
#[derive(Clone, Debug)]
pub(super) struct TimePlot<'a> {
    pub(super) title: String,
    /// One sentence on how to read it.
    pub(super) note: String,
    pub(super) unit: &'a str,
    /// Frames per second.
    pub(super) rate: f64,
    pub(super) lines: Vec<Line<'a>>,
    /// The smallest and largest allowed value, if there is a limit.
    pub(super) allowed: Option<[f64; 2]>,
}

impl TimePlot<'_> {
    fn frames(&self) -> usize {
        self.lines.iter().map(|l| l.values.len()).max().unwrap_or(0)
    }

    /// The plot as a figure with its caption; nothing for less than two frames.
    pub(super) fn html(&self) -> String {
        let frames = self.frames();
        if frames < 2 || self.rate <= 0.0 {
            return String::new();
        }
        let values = || self.lines.iter().flat_map(|l| l.values.iter().copied());
        let rests = self.lines.iter().filter(|l| !l.resting.is_empty()).count();
        let floor = BOTTOM - if rests > 0 { (STRIP + 2.0) * rests as f64 + 2.0 } else { 0.0 };
        let limits = self.allowed.into_iter().flatten();
        let y = Scale::around(values().chain(limits), floor, TOP);
        let x = Scale { low: 0.0, high: (frames - 1) as f64, from: LEFT, to: RIGHT };
        let unit = Unit::of(self.unit, y.low.abs().max(y.high.abs()));

        let mut svg = String::new();
        self.frame(&mut svg, &x, &y, &unit, floor);
        let mut strip = BOTTOM - STRIP - 1.0;
        for line in self.lines.iter().rev().filter(|l| !l.resting.is_empty()) {
            for [from, to] in line.resting {
                let (a, b) = (x.at(*from as f64 - 0.5).max(LEFT), x.at(*to as f64 - 0.5).min(RIGHT));
                let (class, wide) = (line.who.class(), (b - a).max(0.5));
                let tall = floor - TOP;
                let _ = write!(
                    svg,
                    "<rect class=\"rests {class}\" x=\"{a:.1}\" y=\"{TOP}\" width=\"{wide:.1}\" height=\"{tall:.1}\"/>\
                     <rect class=\"strip {class}\" x=\"{a:.1}\" y=\"{strip:.1}\" width=\"{wide:.1}\" height=\"{STRIP}\"/>"
                );
            }
            strip -= STRIP + 2.0;
        }
        for line in &self.lines {
            let points = envelope(line.values, (RIGHT - LEFT) as usize);
            let class = format!("line {}", line.who.class());
            polylines(&mut svg, &class, &points, &x, &y);
        }
        let _ = write!(
            svg,
            "<line class=\"playhead\" x1=\"{LEFT}\" x2=\"{LEFT}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>"
        );
        self.figure(&svg, frames, &unit)
    }

    /// Axes, marks and the allowed band.
    fn frame(&self, svg: &mut String, x: &Scale, y: &Scale, unit: &Unit, floor: f64) {
        if let Some([low, high]) = self.allowed {
            let (top, bottom) = (y.at(high).max(TOP), y.at(low).min(floor));
            let _ = write!(
                svg,
                "<rect class=\"allowed\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                RIGHT - LEFT,
                (bottom - top).max(0.0)
            );
            for (edge, at) in [(high, top), (low, bottom)] {
                if edge > y.low && edge < y.high {
                    let _ = write!(
                        svg,
                        "<line class=\"limit\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
                    );
                }
            }
        }
        let shown = Scale { low: y.low * unit.factor, high: y.high * unit.factor, ..*y };
        for tick in shown.ticks(4) {
            let at = shown.at(tick);
            let text = Unit::of("1", 1.0).number(tick);
            let _ = write!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{text}</text>",
                LEFT - 6.0,
                at + 3.5
            );
        }
        let seconds = Scale { low: 0.0, high: x.high / self.rate, ..*x };
        for tick in seconds.ticks(6) {
            let at = seconds.at(tick);
            let text = Unit::of("1", 1.0).number(tick);
            let _ = write!(
                svg,
                "<line class=\"tick\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{BOTTOM}\" y2=\"{:.1}\"/>\
                 <text class=\"x\" x=\"{at:.1}\" y=\"{:.1}\">{text}</text>",
                BOTTOM + 3.0,
                BOTTOM + 15.0
            );
        }
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{BOTTOM}\" y2=\"{BOTTOM}\"/>"
        );
    }

    fn figure(&self, svg: &str, frames: usize, unit: &Unit) -> String {
        let mut said = String::new();
        for line in &self.lines {
            if let Some((frame, value)) = highest(line.values) {
                let (name, text) = (&line.name, unit.text(value));
                let at = duration(frame as f64 / self.rate);
                let _ = write!(said, "{name}: highest {text} in frame {frame}, at {at}. ");
            }
        }
        let mut html = String::new();
        let symbol = match unit.symbol {
            "" => String::new(),
            "°" => " <small>degrees</small>".to_owned(),
            symbol => format!(" <small>{symbol}</small>"),
        };
        let _ = write!(
            html,
            "<figure class=\"plot\"><figcaption><strong>{}</strong>{symbol} <span class=\"note\">{}</span>",
            Text(&self.title),
            Text(&self.note)
        );
        if self.lines.len() > 1 {
            html.push_str("<span class=\"legend\">");
            for line in &self.lines {
                let _ = write!(html, "<span class=\"key {}\">{}</span> ", line.who.class(), Text(&line.name));
            }
            html.push_str("</span>");
        }
        let label = format!("{}. {said}", self.title);
        let _ = write!(
            html,
            "</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\" data-frames=\"{frames}\" \
             data-from=\"{LEFT}\" data-to=\"{RIGHT}\">{svg}</svg></figure>",
            Text(label.trim())
        );
        html
    }
}

/// The frame with the largest value.
pub(super) fn highest(values: &[f64]) -> Option<(usize, f64)> {
    let finite = values.iter().copied().enumerate().filter(|v| v.1.is_finite());
    finite.fold(None, |best, v| if best.is_none_or(|b: (usize, f64)| v.1 > b.1) { Some(v) } else { best })
}

/// The frames and values to draw on `pixels`: all of them, or the minimum and maximum of every pixel in frame order.
pub(super) fn envelope(values: &[f64], pixels: usize) -> Vec<(usize, f64)> {
    if values.len() <= 2 * pixels {
        return values.iter().copied().enumerate().collect();
    }
    let mut points = Vec::with_capacity(2 * pixels);
    for k in 0..pixels {
        let span = k * values.len() / pixels..(k + 1) * values.len() / pixels;
        let inside = || span.clone().map(|f| (f, values[f]));
        let least = inside().filter(|p| p.1.is_finite()).min_by(|a, b| a.1.total_cmp(&b.1));
        let most = inside().filter(|p| p.1.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1));
        let mut both: Vec<(usize, f64)> = least.into_iter().chain(most).collect();
        if both.is_empty() {
            both.push((span.start, f64::NAN));
        }
        both.sort_by_key(|p| p.0);
        both.dedup();
        points.extend(both);
    }
    points
}

/// Largest error of a simplified line, pixels: much less than a line is wide.
const OFF: f64 = 0.15;

/// Simplifies a line so that it passes within [`OFF`] of all points (Douglas and Peucker 1973).
pub(super) fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut kept = vec![false; points.len()];
    let ends = [0, points.len().saturating_sub(1)];
    ends.iter().filter(|&&k| k < points.len()).for_each(|&k| kept[k] = true);
    let mut open = vec![ends];
    while let Some([a, b]) = open.pop() {
        let off = |k: usize| away(points[k], points[a], points[b]);
        let most = (a + 1..b).map(|k| (off(k), k)).max_by(|p, q| p.0.total_cmp(&q.0));
        if let Some((_, k)) = most.filter(|most| most.0 > OFF) {
            kept[k] = true;
            open.extend([[a, k], [k, b]]);
        }
    }
    points.iter().zip(kept).filter_map(|(p, kept)| kept.then_some(*p)).collect()
}

/// Distance of a point from the segment from `a` to `b`.
fn away(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (segment, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = segment[0] * segment[0] + segment[1] * segment[1];
    let part =
        if square > 0.0 { ((to[0] * segment[0] + to[1] * segment[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    libm::hypot(to[0] - part * segment[0], to[1] - part * segment[1])
}

/// Lines through points; NaN values leave gaps.
fn polylines(svg: &mut String, class: &str, points: &[(usize, f64)], x: &Scale, y: &Scale) {
    let runs = points.chunk_by(|a, b| a.1.is_finite() == b.1.is_finite());
    for run in runs.filter(|r| r[0].1.is_finite()) {
        let places: Vec<[f64; 2]> =
            run.iter().map(|(frame, value)| [x.at(*frame as f64), y.at(*value)]).collect();
        let mut places = thinned(&places);
        if let [[x, y]] = places[..] {
            // A line of one point would be invisible.
            places.push([x + 0.8, y]);
        }
        let _ = write!(svg, "<path class=\"{class}\" d=\"{}\"/>", path(places));
    }
}

/// A compact path through points: the first position, then the displacements, in quarters of a pixel, which the style sheet
/// scales to pixels. Plots take a third of a page.
pub(super) fn path(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut data = String::new();
    let mut last = [0; 2];
    for point in points {
        let quarters = point.map(|x| (4.0 * x).round() as i64);
        data += if data.is_empty() { "M" } else { "l" };
        for (k, step) in [quarters[0] - last[0], quarters[1] - last[1]].into_iter().enumerate() {
            // A minus sign separates numbers like a space.
            if k == 1 && step >= 0 {
                data.push(' ');
            }
            let _ = write!(data, "{step}");
        }
        last = quarters;
    }
    data
}

/// A line for a table cell, without axes.
pub(super) fn sparkline(values: &[f64], label: &str) -> String {
    let (wide, high) = (110.0, 22.0);
    if values.len() < 2 {
        return String::new();
    }
    let y = Scale::around(values.iter().copied(), high - 1.0, 1.0);
    let x = Scale { low: 0.0, high: (values.len() - 1) as f64, from: 1.0, to: wide - 1.0 };
    let mut html = format!(
        "<svg class=\"spark\" viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{}\" data-frames=\"{}\" data-from=\"1\" \
         data-to=\"{}\">",
        Text(label),
        values.len(),
        wide - 1.0
    );
    polylines(&mut html, "course", &envelope(values, 108), &x, &y);
    if let Some((frame, value)) = highest(values) {
        let _ = write!(html, "<circle r=\"2\" cx=\"{:.1}\" cy=\"{:.1}\"/>", x.at(frame as f64), y.at(value));
    }
    html + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_through_its_points() {
        assert_eq!(path([[10.0, 20.04], [10.52, 19.0], [9.0, 19.3]]), "M40 80l2-4l-6 1");
        assert_eq!(path([]), "");
    }

    #[test]
    fn a_thinned_line_passes_by_every_point() {
        let points: Vec<[f64; 2]> =
            (0..300).map(|k| [f64::from(k), 40.0 * (f64::from(k) * 0.05).sin()]).collect();
        let thin = thinned(&points);
        assert!(thin.len() < 120 && thin[0] == points[0] && thin.last() == points.last(), "{}", thin.len());
        for p in &points {
            let off = thin.windows(2).map(|w| away(*p, w[0], w[1])).fold(f64::INFINITY, f64::min);
            assert!(off <= OFF, "{p:?}");
        }
        assert_eq!(away([3.0, 1.0], [0.0, 0.0], [2.0, 0.0]), 2.0_f64.sqrt());
        assert_eq!(thinned(&[[1.0, 2.0]]), [[1.0, 2.0]]);
    }

    #[test]
    fn no_peak_is_lost_when_frames_outnumber_pixels() {
        let mut values = vec![0.0; 50_000];
        (values[31_777], values[31_778]) = (5.0, -3.0);
        let points = envelope(&values, 400);
        assert!(points.len() <= 800 && points.is_sorted_by_key(|p| p.0));
        assert!(points.contains(&(31_777, 5.0)) && points.contains(&(31_778, -3.0)));
        assert_eq!(envelope(&[1.0, 2.0], 400), [(0, 1.0), (1, 2.0)]);
    }

    #[test]
    fn a_plot_says_where_it_is_highest_and_escapes_its_words() {
        let values = [0.1, 0.4, f64::NAN, 0.2];
        let line = Line { name: "</svg>".into(), who: Who::Left, values: &values, resting: &[[1, 3]] };
        let plot = TimePlot {
            title: "Height".into(),
            note: String::new(),
            unit: "m",
            rate: 10.0,
            lines: vec![line],
            allowed: Some([0.0, 0.3]),
        };
        let html = plot.html();
        assert!(html.contains("highest 40 cm in frame 1, at 0.1 s"), "{html}");
        assert!(html.contains("class=\"rests left\"") && html.contains("class=\"allowed\""));
        assert_eq!(html.matches("</svg>").count(), 1);
        // The gap of a NaN value stays a gap.
        assert_eq!(html.matches("<path").count(), 2);
        assert!(!html.contains("NaN"));
    }
}
