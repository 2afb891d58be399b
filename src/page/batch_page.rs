//! Many outputs become one table, from the worst clip down, each linked to its own page.

use super::measures::WorstCourse;
use super::quantity::Unit;
use super::shell::document;
use super::text::{Text, address, words};
use super::time_plot::{highest, sparkline};
use crate::measure::{Reading, Verdict};
use std::fmt::Write as _;

/// Rows of the table: a page of a megabyte, which a browser lays out at once. Nobody reads more of the worst clips; at
/// double the report of a batch takes more memory than the batch.
const ROWS: usize = 1000;
/// Columns for measures.
const COLUMNS: usize = 8;

/// What became of one clip.
#[derive(Clone, Debug)]
pub struct BatchRow {
    /// The name of the output, or of the take where there is none.
    pub name: String,
    /// The page of this clip, relative to that of the batch, where it was written.
    pub page: Option<String>,
    /// Why it failed, for those that did.
    pub error: Option<String>,
    /// How many kinds of warnings it has.
    pub warnings: usize,
    /// What was measured.
    pub measures: Vec<Reading>,
    /// How the worst of them went over the frames.
    pub worst_course: Option<WorstCourse>,
}

impl BatchRow {
    /// Worse is greater: what failed, then how many measures are over, then how far the worst is.
    fn rank(&self) -> (bool, usize, f64, usize) {
        let worst = self.measures.iter().filter_map(Reading::part).fold(0.0, f64::max);
        (self.error.is_some(), Verdict::of(&self.measures).over, worst, self.warnings)
    }
}

/// What a batch page shows: all clips counted, the worst of them kept.
#[derive(Clone, Debug)]
pub struct BatchPage {
    title: String,
    rows: Vec<BatchRow>,
    all: usize,
    failed: usize,
    over: usize,
    warned: usize,
}

impl BatchPage {
    /// The page of a pipeline of this name, without clips.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), rows: Vec::new(), all: 0, failed: 0, over: 0, warned: 0 }
    }

    /// Counts a clip, and keeps it while it is among the worst.
    pub fn add(&mut self, row: BatchRow) {
        let fine = row.error.is_none();
        self.all += 1;
        self.failed += usize::from(!fine);
        self.over += usize::from(fine && Verdict::of(&row.measures).over > 0);
        self.warned += usize::from(fine && row.warnings > 0);
        self.rows.push(row);
        // Twice as many, so that sorting is worth its while.
        if self.rows.len() >= 2 * ROWS {
            self.sort();
            self.rows.truncate(ROWS);
        }
    }

    fn sort(&mut self) {
        self.rows.sort_by(|a, b| {
            let (x, y) = (a.rank(), b.rank());
            let known = (y.0, y.1).cmp(&(x.0, x.1)).then(y.2.total_cmp(&x.2)).then(y.3.cmp(&x.3));
            known.then_with(|| a.name.cmp(&b.name))
        });
    }
}

/// The page as one HTML file.
pub fn batch_page(mut page: BatchPage) -> String {
    let columns = columns(&page.rows);
    page.sort();
    let BatchPage { rows, all, failed, over, warned, .. } = &page;
    let (all, failed, over, warned) = (*all, *failed, *over, *warned);
    let tile = |n: usize, class: &str, word: &str| {
        format!("<div class=\"tile {}\"><b>{n}</b> {word}</div>", if n > 0 { class } else { "none" })
    };
    let mut body = format!(
        "<header><h1>{}</h1><p class=\"lead\">{}</p><div class=\"tiles\">{}{}{}{}</div></header>\n<main>\n",
        Text(&page.title),
        summary(all, failed, over),
        tile(all, "all", if all == 1 { "clip" } else { "clips" }),
        tile(failed, "over", "failed"),
        tile(over, "over", "over limits"),
        tile(warned, "warned", "with warnings"),
    );
    body += "<div class=\"filter\" hidden><label>Find <input type=\"search\" id=\"find\" placeholder=\"part of a name\"></label> \
             <label><input type=\"checkbox\" id=\"only-over\"> only failed or over limits</label> <output id=\"found\"></output></div>\n";
    body += "<div class=\"scroll wide\" tabindex=\"0\" role=\"region\" aria-label=\"Clips\"><table class=\"sortable batch\" id=\"clips\">\
             <caption>Clips, the worst first; select a column's head to sort by it</caption><thead><tr><th scope=\"col\">Clip</th>\
             <th scope=\"col\" aria-sort=\"descending\">Verdict</th>";
    let courses = rows.iter().any(|r| r.worst_course.is_some());
    if courses {
        body += "<th scope=\"col\">Worst over time</th>";
    }
    for (name, unit) in &columns {
        let symbol =
            if unit.symbol.is_empty() { String::new() } else { format!(" <small>{}</small>", unit.symbol) };
        let _ = write!(body, "<th scope=\"col\" class=\"n\">{}{symbol}</th>", Text(&words(name)));
    }
    body += "<th scope=\"col\" class=\"n\">Warnings</th></tr></thead><tbody>\n";
    for (k, row) in rows.iter().take(ROWS).enumerate() {
        body += &line(row, &columns, courses, all - k);
    }
    body += "</tbody></table></div>\n";
    if all > ROWS {
        let _ = write!(
            body,
            "<p class=\"cut\">The table has the {ROWS} worst of {all} clips; <code>report.json</code> has all.</p>"
        );
    }
    body += "</main>\n";
    document(&format!("{} – posemill", page.title), &body, &[include_str!("table.js")], None)
}

fn summary(all: usize, failed: usize, over: usize) -> String {
    match (all, failed, over) {
        (0, ..) => "No clip was asked for.".to_owned(),
        (_, 0, 0) => "Nothing failed and no measure is over its limit.".to_owned(),
        (_, 0, n) => format!(
            "{n} of {all} {} over a limit; the worst stands first.",
            if n == 1 { "is" } else { "are" }
        ),
        (_, f, n) => {
            format!("{f} of {all} failed, {n} more {} over a limit.", if n == 1 { "is" } else { "are" })
        }
    }
}

/// The measures that get a column: those with limits, or the first where none has one; with the unit of the column.
fn columns(rows: &[BatchRow]) -> Vec<(String, Unit)> {
    let mut found: Vec<(String, String, f64, bool)> = Vec::new();
    for m in rows.iter().flat_map(|r| &r.measures) {
        let size = if m.value.is_finite() { m.value.abs() } else { 0.0 };
        match found.iter_mut().find(|f| f.0 == m.name) {
            Some(f) => (f.2, f.3) = (f.2.max(size), f.3 || m.limit().is_some()),
            None => found.push((m.name.clone(), m.unit.clone(), size, m.limit().is_some())),
        }
    }
    if found.iter().any(|f| f.3) {
        found.retain(|f| f.3);
    }
    found.truncate(COLUMNS);
    found.into_iter().map(|(name, unit, size, _)| (name, Unit::of(&unit, size))).collect()
}

fn line(row: &BatchRow, columns: &[(String, Unit)], courses: bool, rank: usize) -> String {
    let verdict = Verdict::of(&row.measures);
    let (class, word) = match &row.error {
        Some(_) => ("failed", "failed".to_owned()),
        None if verdict.over > 0 => ("over", format!("{} over", verdict.over)),
        None => (verdict.words().0, verdict.words().1.to_owned()),
    };
    let name = match &row.page {
        Some(page) => format!("<a href=\"{}\">{}</a>", Text(&address(page)), Text(&row.name)),
        None => Text(&row.name).to_string(),
    };
    let mut html = format!("<tr class=\"{class}\"><th scope=\"row\">{name}");
    if let Some(error) = &row.error {
        let _ = write!(html, "<p class=\"error\">{}</p>", Text(error));
    }
    let _ = write!(html, "</th><td data-value=\"{rank}\"><span class=\"badge {class}\">{word}</span></td>");
    if courses {
        let course = row.worst_course.as_ref().map_or_else(String::new, course);
        let _ = write!(html, "<td>{course}</td>");
    }
    for (name, unit) in columns {
        match row.measures.iter().find(|m| m.name == *name) {
            Some(m) => {
                let _ = write!(
                    html,
                    "<td class=\"n{}\" data-value=\"{}\">{}</td>",
                    if m.over() { " over" } else { "" },
                    m.value,
                    unit.number(m.value)
                );
            }
            None => html.push_str("<td class=\"n\" data-value=\"\"></td>"),
        }
    }
    let _ = writeln!(html, "<td class=\"n\" data-value=\"{0}\">{0}</td></tr>", row.warnings);
    html
}

/// The name of a measure and a small line of how it went.
fn course(course: &WorstCourse) -> String {
    let name = words(&course.name);
    let top = highest(&course.values).map_or(f64::NAN, |h| h.1);
    let label = format!("{name} over time, highest {}", Unit::of(&course.unit, top).text(top));
    format!("<small>{}</small><br>{}", Text(&name), sparkline(&course.values, &label))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, value: f64, error: Option<&str>) -> BatchRow {
        let measure = Reading {
            name: "penetration_max".into(),
            value,
            unit: "m".into(),
            copy: None,
            take: None,
            at_most: Some(0.02),
        };
        BatchRow {
            name: name.into(),
            page: Some(format!("{name}.report.html")),
            error: error.map(Into::into),
            warnings: 0,
            measures: if error.is_some() { Vec::new() } else { vec![measure] },
            worst_course: (value > 0.02).then(|| WorstCourse {
                name: "penetration_max".into(),
                unit: "m".into(),
                values: vec![0.0, value, 0.0],
                frame: 1,
                seconds: 0.1,
                of: String::new(),
            }),
        }
    }

    #[test]
    fn the_worst_clip_stands_first_and_every_row_links_to_its_page() {
        let rows = vec![
            row("fine", 0.01, None),
            row("worse", 0.05, None),
            row("bad", 0.03, None),
            row("</b>", 0.0, Some("torn <file>")),
        ];
        let mut page = BatchPage::new("p.toml");
        rows.into_iter().for_each(|row| page.add(row));
        let html = batch_page(page);
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
    fn of_very_many_clips_all_are_counted_and_the_worst_are_shown() {
        let mut page = BatchPage::new("p.toml");
        for k in 0..3 * ROWS {
            page.add(row(&format!("take-{k}-"), if k == 7 { 0.9 } else { k as f64 * 1e-9 }, None));
        }
        let html = batch_page(page);
        assert!(html.contains("The table has the 1000 worst of 3000 clips"));
        assert!(html.contains(">take-7-<") && html.contains(">take-2999-<") && !html.contains(">take-8-<"));
    }
}
