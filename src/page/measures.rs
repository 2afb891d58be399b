//! Measurements become a table: the value, its limit, the plain copy's value beside, and its course over the frames.

use super::quantity::Unit;
use super::text::{Text, words};
use super::time_plot::sparkline;
use super::verdict::Measure;
use crate::report::Series;
use std::fmt::Write as _;

/// The table of these measures, those over their limits first; nothing for none.
pub(super) fn measures(measures: &[Measure], series: &[Series]) -> String {
    if measures.is_empty() {
        return "<p class=\"quiet\">Nothing was measured.</p>".to_owned();
    }
    let mut rows: Vec<&Measure> = measures.iter().collect();
    // Stable: measures of one kind keep the order of the report.
    rows.sort_by_key(|m| (!m.over(), m.at_most.is_none()));
    let copies = rows.iter().any(|m| m.copy.is_some());
    let limits = rows.iter().any(|m| m.at_most.is_some());
    let mut html = String::from(
        "<div class=\"scroll\"><table class=\"measures\"><caption>Measures, those over their limits first</caption>\
         <thead><tr><th scope=\"col\">Measure</th><th scope=\"col\" class=\"n\">Value</th>",
    );
    if limits {
        html.push_str("<th scope=\"col\" class=\"n\">At most</th><th scope=\"col\">Part of the limit</th>");
    }
    if copies {
        html.push_str("<th scope=\"col\" class=\"n\"><abbr title=\"The rotations copied joint by joint, nothing else done\">Plain copy</abbr></th>");
    }
    html.push_str("<th scope=\"col\">Over time</th></tr></thead><tbody>");
    for m in rows {
        let largest =
            [Some(m.value), m.copy, m.at_most].into_iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
        let unit = Unit::of(&m.unit, largest);
        let over = m.over();
        let _ = write!(
            html,
            "<tr{}><th scope=\"row\" title=\"{}\">{}{}</th><td class=\"n value\">{}</td>",
            if over { " class=\"over\"" } else { "" },
            Text(&m.name),
            Text(&words(&m.name)),
            if over { " <span class=\"flag\">over</span>" } else { "" },
            unit.text(m.value)
        );
        if limits {
            let limit = m.at_most.map_or_else(String::new, |x| unit.text(x));
            let _ = write!(html, "<td class=\"n\">{limit}</td><td>{}</td>", bar(m));
        }
        if copies {
            let copy = m.copy.map_or_else(String::new, |x| unit.text(x));
            let _ = write!(html, "<td class=\"n copy\">{copy}</td>");
        }
        let course = series_of(&m.name, series).map_or_else(String::new, |s| {
            sparkline(&s.values, &format!("{} over the frames", words(&s.name)))
        });
        let _ = write!(html, "<td>{course}</td></tr>");
    }
    html + "</tbody></table></div>"
}

/// A bar as long as the value is of its limit; the limit is marked at two thirds.
fn bar(m: &Measure) -> String {
    let Some(part) = m.part() else { return String::new() };
    let percent = if part.is_finite() { format!("{:.0} %", 100.0 * part) } else { "over".to_owned() };
    let wide = (part / 1.5).clamp(0.0, 1.0) * 100.0;
    format!(
        "<span class=\"bar\"><span style=\"width:{wide:.1}%\"></span></span> <span class=\"percent\">{percent}</span>"
    )
}

/// The series that a metric was taken from: of the same name, else of the longest name that the metric's begins with.
pub(super) fn series_of<'a>(metric: &str, series: &'a [Series]) -> Option<&'a Series> {
    let related = |s: &&Series| {
        metric.strip_prefix(s.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    series.iter().filter(related).max_by_key(|s| s.name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_comes_first_with_its_course() {
        let measure = |name: &str, value| Measure {
            name: name.into(),
            value,
            unit: "m".into(),
            copy: Some(0.4),
            at_most: Some(0.1),
        };
        let series = Series { name: "skate".into(), unit: "m", values: vec![0.0, 1.0], resting: Vec::new() };
        let html = measures(&[measure("<b>", 0.05), measure("skate_mean", 0.2)], &[series]);
        let (first, second) = (html.find("Skate mean").unwrap(), html.find("&lt;b&gt;").unwrap());
        assert!(first < second && html.contains("20 cm") && html.contains("200 %") && html.contains("40 cm"));
        assert_eq!(html.matches("class=\"spark\"").count(), 1);
    }
}
