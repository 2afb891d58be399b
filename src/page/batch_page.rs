//! Page of a batch: one table of all outputs, the worst first, each linked to its own page.
//!
//! The worst are rows of the HTML. All others follow as data, from which a script makes rows when they are scrolled to, searched
//! for or sorted up.

use super::html_text::{Text, address, words};
use super::measures::WorstSeries;
use super::quantity::Unit;
use super::shell::document;
use super::time_plot::{highest, sparkline};
use crate::measure::{Judgement, MEASURES, Reading, Verdict};
use serde_json::json;
use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Most clips that the page lists: a megabyte of text, which a browser reads in a tenth of a second. At double the report
/// of a batch takes more memory than the batch; at half a library of ordinary size does not fit.
const LISTED: usize = 10_000;
/// Rows in the HTML, with a small plot each, which a browser lays out at once: more than anybody reads without sorting. The
/// script adds as many at a time.
const ROWS: usize = 200;
/// Most columns for measures.
const COLUMNS: usize = 8;

/// The result of one clip.
#[derive(Clone, Debug)]
pub struct BatchRow {
    /// The name of the output, or of the take if there is none.
    pub name: String,
    /// The page of this clip, relative to that of the batch, if it was written.
    pub page: Option<String>,
    /// The error, if it failed.
    pub error: Option<String>,
    /// The number of kinds of warnings, without guesses that are almost certainly right.
    pub warnings: usize,
    /// Its measures.
    pub measures: Vec<Reading>,
    /// The worst of them as a time series.
    pub worst_series: Option<WorstSeries>,
}

/// Sort key of a clip: a worse clip compares as less, so that the worst come first.
#[derive(Clone, Copy, Debug)]
struct Rank {
    failed: bool,
    /// The number of measures over their limits and worse than the take.
    over: u32,
    /// The number of measures over their limits and no worse than the take.
    as_recorded: u32,
    /// The worst ratio of a measure to its limit.
    worst: f64,
    warnings: u32,
    number: u32,
}

impl Rank {
    fn of(row: &BatchRow, number: usize) -> Self {
        let worst = row.measures.iter().filter_map(Reading::part).fold(0.0, f64::max);
        let verdict = Verdict::of(&row.measures);
        let (over, as_recorded) = (verdict.over as u32, verdict.as_recorded as u32);
        let (warnings, number) = (row.warnings as u32, number as u32);
        Self { failed: row.error.is_some(), over, as_recorded, worst, warnings, number }
    }

    fn before(&self, other: &Self) -> std::cmp::Ordering {
        let worse =
            (other.failed, other.over, other.as_recorded).cmp(&(self.failed, self.over, self.as_recorded));
        let worse = worse.then(other.worst.total_cmp(&self.worst)).then(other.warnings.cmp(&self.warnings));
        worse.then(self.number.cmp(&other.number))
    }
}

/// A measure that some clip has.
#[derive(Clone, Debug)]
struct MeasureColumn {
    name: String,
    unit: String,
    largest: f64,
    limited: bool,
    /// The number of clips over its limit.
    over: usize,
}

/// Content of a batch page: all clips counted and ranked. The clips themselves are requested again when the page is written, so
/// that they are not kept in memory.
#[derive(Clone, Debug)]
pub struct BatchPage {
    title: String,
    ranks: Vec<Rank>,
    columns: Vec<MeasureColumn>,
    has_series: bool,
    failed: usize,
    over: usize,
    as_recorded: usize,
    warned: usize,
}

impl BatchPage {
    /// The page of a pipeline of this name, without clips.
    pub fn new(title: impl Into<String>) -> Self {
        let (title, ranks, columns) = (title.into(), Vec::new(), Vec::new());
        Self { title, ranks, columns, has_series: false, failed: 0, over: 0, as_recorded: 0, warned: 0 }
    }

    /// Counts and ranks the next clip.
    pub fn add(&mut self, row: &BatchRow) {
        let fine = row.error.is_none();
        self.failed += usize::from(!fine);
        let judgement = Verdict::of(&row.measures).judgement();
        self.over += usize::from(fine && judgement == Judgement::Over);
        self.as_recorded += usize::from(fine && judgement == Judgement::AsRecorded);
        self.warned += usize::from(fine && row.warnings > 0);
        self.has_series |= row.worst_series.is_some();
        self.ranks.push(Rank::of(row, self.ranks.len()));
        for m in &row.measures {
            let size = if m.value.is_finite() { m.value.abs() } else { 0.0 };
            let at = self.columns.iter().position(|c| c.name == m.name).unwrap_or_else(|| {
                let (name, unit) = (m.name.clone(), m.unit.clone());
                self.columns.push(MeasureColumn { name, unit, largest: 0.0, limited: false, over: 0 });
                self.columns.len() - 1
            });
            let column = &mut self.columns[at];
            column.largest = column.largest.max(size);
            column.limited |= m.limit().is_some();
            column.over += usize::from(m.over());
        }
    }

    /// The measures that get a column, with its unit: those that are over in most clips, then those with limits, or all if
    /// none has one, in the order of the catalogue, followed by measurements of stages.
    fn shown(&self) -> Vec<(&str, Unit)> {
        let limits = self.columns.iter().any(|c| c.limited);
        let mut shown: Vec<&MeasureColumn> = self.columns.iter().filter(|c| c.limited || !limits).collect();
        let known =
            |c: &MeasureColumn| MEASURES.iter().position(|m| m.name == c.name).unwrap_or(MEASURES.len());
        shown.sort_by_key(|c| (Reverse(c.over), known(c)));
        shown.iter().take(COLUMNS).map(|c| (c.name.as_str(), Unit::of(&c.unit, c.largest))).collect()
    }
}

/// Writes the page as one HTML file; `clip` returns the clip with an index, in the order in which they were added.
///
/// # Errors
/// Those of `clip` and of `out`.
pub fn batch_page(
    mut page: BatchPage,
    mut clip: impl FnMut(usize) -> io::Result<BatchRow>,
    out: &mut impl Write,
) -> io::Result<()> {
    page.ranks.sort_by(Rank::before);
    let (all, columns) = (page.ranks.len(), page.shown());
    let (failed, over, recorded, warned) = (page.failed, page.over, page.as_recorded, page.warned);
    let tile = |n: usize, class: &str, word: &str| {
        format!("<div class=\"tile {}\"><b>{n}</b> {word}</div>", if n > 0 { class } else { "none" })
    };
    let mut body = format!(
        "<header><h1>{}</h1><p class=\"lead\">{}</p><div class=\"tiles\">{}{}{}{}{}</div></header>\n<main>\n",
        Text(&page.title),
        summary(all, failed, over),
        tile(all, "all", if all == 1 { "clip" } else { "clips" }),
        tile(failed, "over", "failed"),
        tile(over, "over", "over"),
        tile(recorded, "recorded", "as recorded"),
        tile(warned, "warned", "with warnings"),
    );
    body += "<div class=\"filter\" hidden><label>Find <input type=\"search\" id=\"find\" placeholder=\"part of a name\"></label> \
             <label><input type=\"checkbox\" id=\"only-over\"> only failed or over</label> <output id=\"found\"></output></div>\n";
    body += "<div class=\"scroll wide\" tabindex=\"0\" role=\"region\" aria-label=\"Clips\"><table class=\"batch\" id=\"clips\">\
             <caption>Clips, the worst first; select a column's head to sort by it</caption><thead><tr><th scope=\"col\">Clip</th>\
             <th scope=\"col\" aria-sort=\"descending\">Verdict</th>";
    if page.has_series {
        body += "<th scope=\"col\">Worst over time</th>";
    }
    for (name, unit) in &columns {
        let symbol =
            if unit.symbol.is_empty() { String::new() } else { format!(" <small>{}</small>", unit.symbol) };
        let _ = write!(body, "<th scope=\"col\" class=\"n\">{}{symbol}</th>", Text(&words(name)));
    }
    body += "<th scope=\"col\" class=\"n\">Warnings</th></tr></thead><tbody>\n";
    for rank in page.ranks.iter().take(ROWS) {
        body += &line(&clip(rank.number as usize)?, &columns, page.has_series);
    }
    let _ = write!(
        body,
        "</tbody></table><button type=\"button\" id=\"more\" hidden></button></div>\n\
         <script type=\"application/json\" id=\"list\" data-rows=\"{ROWS}\" data-courses=\"{}\">[{HERE}]</script>\n",
        u8::from(page.has_series)
    );
    if all > ROWS {
        let _ = writeln!(
            body,
            "<noscript><p class=\"cut\">Without scripts the table ends after {ROWS} clips.</p></noscript>"
        );
    }
    if all > LISTED {
        let _ = write!(
            body,
            "<p class=\"cut\">The table has the {LISTED} worst of {all} clips; <code>report.json</code> has all.</p>"
        );
    }
    body += "</main>\n";
    let scripts = [include_str!("table.js"), include_str!("clips.js")];
    let html = document(&format!("{} – posemill", page.title), &body, &scripts, None);
    let (before, behind) = html.split_once(HERE).expect("the page has one place for its list");
    out.write_all(before.as_bytes())?;
    for (k, rank) in page.ranks.iter().take(LISTED).enumerate() {
        out.write_all(if k == 0 { b"\n" } else { b",\n" })?;
        out.write_all(listed(&clip(rank.number as usize)?, &columns).as_bytes())?;
    }
    out.write_all(behind.as_bytes())
}

/// Placeholder for the list, which is streamed: this character occurs in no text of a page.
const HERE: char = '\0';

fn summary(all: usize, failed: usize, over: usize) -> String {
    match (all, failed, over) {
        (0, ..) => "No clip was asked for.".to_owned(),
        (_, 0, 0) => "Nothing failed, and no clip is over a limit and worse than its take.".to_owned(),
        (_, 0, n) => format!(
            "{n} of {all} {} over a limit; the worst stands first.",
            if n == 1 { "is" } else { "are" }
        ),
        (_, f, n) => {
            format!("{f} of {all} failed, {n} more {} over a limit.", if n == 1 { "is" } else { "are" })
        }
    }
}

/// The class for the style sheet and the word to show.
fn verdict(row: &BatchRow) -> (&'static str, String) {
    let verdict = Verdict::of(&row.measures);
    match &row.error {
        Some(_) => ("failed", "failed".to_owned()),
        None => (verdict.words().0, verdict.words().1.to_owned()),
    }
}

fn line(row: &BatchRow, columns: &[(&str, Unit)], has_series: bool) -> String {
    let (class, word) = verdict(row);
    let name = match &row.page {
        Some(page) => format!("<a href=\"{}\">{}</a>", Text(&address(page)), Text(&row.name)),
        None => Text(&row.name).to_string(),
    };
    let mut html = format!("<tr class=\"{class}\"><th scope=\"row\">{name}");
    if let Some(error) = &row.error {
        let _ = write!(html, "<p class=\"error\">{}</p>", Text(error));
    }
    let _ = write!(html, "</th><td><span class=\"badge {class}\">{word}</span></td>");
    if has_series {
        let series = row.worst_series.as_ref().map_or_else(String::new, series_cell);
        let _ = write!(html, "<td>{series}</td>");
    }
    for (name, unit) in columns {
        let m = row.measures.iter().find(|m| m.name == *name);
        let over = if m.is_some_and(Reading::over) { " over" } else { "" };
        let number = m.map_or_else(String::new, |m| unit.number(m.value));
        let _ = write!(html, "<td class=\"n{over}\">{number}</td>");
    }
    let _ = writeln!(html, "<td class=\"n\">{}</td></tr>", row.warnings);
    html
}

/// The row as data for the script: name, URL of the page, class and word of the verdict, error, the worst time series, the
/// measures (with a mark on those over their limits), and warnings.
fn listed(row: &BatchRow, columns: &[(&str, Unit)]) -> String {
    let (class, word) = verdict(row);
    let values: Vec<String> = columns
        .iter()
        .map(|(name, unit)| match row.measures.iter().find(|m| m.name == *name) {
            Some(m) => format!("{}{}", if m.over() { "!" } else { "" }, unit.number(m.value)),
            None => String::new(),
        })
        .collect();
    let page = row.page.as_deref().map(address);
    let series = row.worst_series.as_ref().map(|series| words(&series.name));
    let row = json!([row.name, page, class, word, row.error, series, values, row.warnings]);
    // No text may end the script element.
    row.to_string().replace('<', "\\u003c")
}

/// The name of a measure and its sparkline.
fn series_cell(series: &WorstSeries) -> String {
    let name = words(&series.name);
    let top = highest(&series.values).map_or(f64::NAN, |h| h.1);
    let label = format!("{name} over time, highest {}", Unit::of(&series.unit, top).text(top));
    format!("<small>{}</small><br>{}", Text(&name), sparkline(&series.values, &label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: f64, error: Option<&str>) -> BatchRow {
        let measure = Reading {
            name: "penetration_max".into(),
            value,
            unit: "m".into(),
            direct: None,
            take: None,
            at_most: Some(0.02),
            not_judged: None,
        };
        BatchRow {
            name: name.into(),
            page: Some(format!("{name}.report.html")),
            error: error.map(Into::into),
            warnings: 0,
            measures: if error.is_some() { Vec::new() } else { vec![measure] },
            worst_series: (value > 0.02).then(|| WorstSeries {
                name: "penetration_max".into(),
                unit: "m".into(),
                values: vec![0.0, value, 0.0],
                frame: 1,
                seconds: 0.1,
                of: String::new(),
            }),
        }
    }

    fn page(clips: usize, of: impl Fn(usize) -> BatchRow) -> String {
        let mut page = BatchPage::new("p.toml");
        (0..clips).for_each(|k| page.add(&of(k)));
        let mut html = Vec::new();
        batch_page(page, |k| Ok(of(k)), &mut html).unwrap();
        String::from_utf8(html).unwrap()
    }

    #[test]
    fn the_worst_clip_stands_first_and_every_row_links_to_its_page() {
        let rows = [
            row("fine", 0.01, None),
            row("worse", 0.05, None),
            row("bad", 0.03, None),
            row("</b>", 0.0, Some("torn <file>")),
        ];
        let html = page(rows.len(), |k| rows[k].clone());
        let at = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
        let order = [at("torn &lt;file&gt;"), at(">worse<"), at(">bad<"), at(">fine<")];
        assert!(order.is_sorted(), "{order:?}");
        assert!(
            html.contains("href=\"./worse.report.html\"")
                && html.contains("1 of 4 failed, 2 more are over a limit.")
        );
        assert!(!html.contains("</b>.report") && html.contains("%3C/b%3E.report.html"));
        assert_eq!(html.matches("class=\"spark\"").count(), 2);
        assert!(html.contains("Penetration max over time, highest 5 cm"));
    }

    #[test]
    fn what_is_over_in_this_run_has_a_column() {
        let limited: Vec<&crate::measure::Measure> =
            MEASURES.iter().filter(|m| m.at_most.is_some()).collect();
        let clip = |over: &[usize]| {
            let reading = |(k, m): (usize, &&crate::measure::Measure)| Reading {
                name: m.name.into(),
                value: if over.contains(&k) { 1e9 } else { 0.0 },
                unit: m.unit.into(),
                direct: None,
                take: None,
                at_most: m.at_most,
                not_judged: None,
            };
            BatchRow { measures: limited.iter().enumerate().map(reading).collect(), ..row("a", 0.0, None) }
        };
        let last = limited.len() - 1;
        let mut page = BatchPage::new("p.toml");
        [clip(&[last, 1]), clip(&[last]), clip(&[])].iter().for_each(|row| page.add(row));
        let shown: Vec<&str> = page.shown().iter().map(|c| c.0).collect();
        let wanted = [last, 1, 0, 2, 3, 4, 5, 6].map(|k| limited[k].name);
        assert_eq!(shown, wanted);
    }

    #[test]
    fn of_very_many_clips_all_are_counted_and_the_worst_are_listed() {
        let of = |k: usize| row(&format!("take-{k}-"), if k == 7 { 0.9 } else { k as f64 * 1e-9 }, None);
        let html = page(LISTED + 300, of);
        assert!(html.contains(&format!("The table has the {LISTED} worst of {} clips", LISTED + 300)));
        let list = html.split_once("id=\"list\"").unwrap().1;
        assert!(
            list.contains("[\"take-7-\"")
                && list.contains("[\"take-10299-\"")
                && !list.contains("[\"take-8-\"")
        );
        // Only a few are rows from the start.
        assert_eq!(html.matches("<tr class=").count(), ROWS);
        assert!(html.contains(">take-7-</a>") && !html.contains(">take-10000-</a>"));
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
    }
}
