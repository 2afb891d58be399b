//! One output becomes its page: the verdict, the player, measures, plots, warnings and what was mapped to what.

use super::mapping::mapping;
use super::measures::{measures, series_of};
use super::plots::plots;
use super::quantity::{Unit, duration};
use super::ranges::{Angle, angles};
use super::scene::scene;
use super::shell::document;
use super::text::{Text, address, words};
use super::time_plot::highest;
use super::verdict::{Measure, Verdict};
use crate::model::Motion;
use crate::report::{Report, Series, Warnings};
use base64::Engine as _;
use std::fmt::Write as _;

/// Clips of one page: more do not fit into its size.
const CLIPS: usize = 6;
/// Moments that are pointed at.
const MOMENTS: usize = 8;

/// One clip of a page: what came in and what came out.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The take, where it is another body's.
    pub source: Option<&'a Motion>,
    /// The result.
    pub result: &'a Motion,
}

/// What a clip page shows.
#[derive(Clone, Debug)]
pub struct ClipPage<'a> {
    /// The name of the output.
    pub title: String,
    /// The takes.
    pub inputs: Vec<String>,
    /// The clips in the order of the output.
    pub clips: Vec<Shown<'a>>,
    /// What the run had to say.
    pub report: &'a Report,
    /// A contact sheet as PNG, where one could be drawn.
    pub picture: Option<&'a [u8]>,
    /// The page of the whole batch, relative to this one, where there is one.
    pub batch: Option<String>,
}

/// The page as one HTML file.
pub fn clip_page(page: &ClipPage) -> String {
    let clips: Vec<Shown> =
        page.clips.iter().copied().filter(|s| s.result.clip.frames() > 0).take(CLIPS).collect();
    let all: Vec<Measure> = page.report.metrics.iter().map(Measure::from).collect();
    let verdict = Verdict::of(&all);
    let angles: Vec<Vec<Angle>> = clips.iter().map(|s| angles(s.result)).collect();
    let mut scene = scene(&clips);
    if page.clips.len() > clips.len() {
        scene.cuts.push(format!("The page shows {} of {} clips.", clips.len(), page.clips.len()));
    }

    let mut body = header(page, verdict);
    let _ = write!(body, "<main>\n{}", moments(page.report, &all, angles.first()));
    if !clips.is_empty() {
        body += &player(&scene.cuts);
    }
    if let Some(png) = page.picture {
        let data = base64::engine::general_purpose::STANDARD.encode(png);
        let _ = write!(
            body,
            "<section aria-labelledby=\"h-poses\"><h2 id=\"h-poses\">Poses</h2><img class=\"sheet\" alt=\"Poses of {} from the \
             first frame to the last\" src=\"data:image/png;base64,{data}\"></section>\n",
            Text(&page.title)
        );
    }
    let _ = write!(
        body,
        "<section aria-labelledby=\"h-measures\"><h2 id=\"h-measures\">Measures</h2>{}</section>\n",
        measures(&all, &page.report.series)
    );
    let alone = clips.len() == 1;
    for (k, (shown, angles)) in clips.iter().zip(&angles).enumerate() {
        let title =
            if alone { "Over time".to_owned() } else { format!("Over time: {}", shown.result.clip.name) };
        let frames = shown.result.clip.frames();
        let fits = |s: &&Series| alone && s.values.len() == frames;
        let series: Vec<Series> = page.report.series.iter().filter(fits).cloned().collect();
        let _ = write!(
            body,
            "<section aria-labelledby=\"h-time-{k}\" data-take=\"{k}\"><h2 id=\"h-time-{k}\">{}</h2>{}</section>\n",
            Text(&title),
            plots(shown, angles, &series)
        );
    }
    body += &warnings(&page.report.warnings);
    if !page.report.mappings.is_empty() {
        body += "<section aria-labelledby=\"h-map\"><h2 id=\"h-map\">What was mapped to what</h2>";
        body.extend(page.report.mappings.iter().map(mapping));
        body += "</section>\n";
    }
    body += "</main>\n";
    let scripts = [
        include_str!("table.js"),
        include_str!("figure.js"),
        include_str!("draw_3d.js"),
        include_str!("draw_2d.js"),
        include_str!("player.js"),
    ];
    document(&format!("{} – posemill", page.title), &body, &scripts, Some(&scene.value))
}

fn header(page: &ClipPage, verdict: Verdict) -> String {
    let (class, word) = verdict.badge();
    let back = page.batch.as_ref().map_or_else(String::new, |link| {
        format!("<nav aria-label=\"Batch\"><a href=\"{}\">← All clips</a></nav>", Text(&address(link)))
    });
    let mut facts = Vec::new();
    if let Some(Shown { result, .. }) = page.clips.first() {
        let clip = &result.clip;
        let several = page.clips.len();
        facts.push(format!("<dt>Character</dt><dd>{}</dd>", Text(&result.character.name)));
        if several > 1 {
            facts.push(format!("<dt>Clips</dt><dd>{several}</dd>"));
        } else {
            facts.push(format!(
                "<dt>Length</dt><dd>{}, {} frames at {} Hz</dd>",
                duration(clip.duration()),
                clip.frames(),
                Unit::of("1", 1.0).number(clip.sample_rate)
            ));
        }
    }
    let inputs: Vec<String> = page.inputs.iter().map(|i| format!("<code>{}</code>", Text(i))).collect();
    facts.push(format!("<dt>From</dt><dd>{}</dd>", inputs.join(", ")));
    format!(
        "<header>{back}<h1>{} <span class=\"badge {class}\">{word}</span></h1><p class=\"lead\">{}</p><dl class=\"facts\">{}</dl></header>\n",
        Text(&page.title),
        verdict.sentence(),
        facts.iter().map(|f| format!("<div>{f}</div>")).collect::<String>()
    )
}

/// Where to look first: the peaks of what is over its limit, and the joints that leave their ranges.
fn moments(report: &Report, all: &[Measure], angles: Option<&Vec<Angle>>) -> String {
    let mut found: Vec<(usize, String)> = Vec::new();
    for m in all.iter().filter(|m| m.over()) {
        if let Some((frame, value)) = series_of(&m.name, &report.series).and_then(|s| highest(&s.values)) {
            let text = Unit::of(&m.unit, value).text(value);
            found.push((frame, format!("{}: {text}", words(&m.name))));
        }
    }
    for angle in angles.into_iter().flatten().filter(|a| a.excess > 0.01) {
        let (role, by) = (words(&angle.role.to_string()), angle.excess.to_degrees());
        found.push((angle.worst, format!("{role} leaves its range by {by:.0}°")));
    }
    found.truncate(MOMENTS);
    found.sort_by_key(|m| m.0);
    if found.is_empty() {
        return String::new();
    }
    let item = |(frame, text): &(usize, String)| {
        format!(
            "<li><button type=\"button\" class=\"moment\" data-frame=\"{frame}\">frame {frame}</button> {}</li>",
            Text(text)
        )
    };
    format!(
        "<section aria-labelledby=\"h-look\"><h2 id=\"h-look\">Where to look</h2><ul class=\"moments\">{}</ul></section>\n",
        found.iter().map(item).collect::<String>()
    )
}

/// The player; its controls work once its script runs.
fn player(cuts: &[String]) -> String {
    let cuts: String = cuts.iter().map(|c| format!("<p class=\"cut\">{}</p>", Text(c))).collect();
    format!(
        "<section class=\"player\" id=\"player\" aria-labelledby=\"h-player\" hidden>{}{cuts}</section>\n\
         <noscript><p class=\"quiet\">The player needs JavaScript; everything else on this page does not.</p></noscript>\n",
        include_str!("player.html")
    )
}

fn warnings(all: &Warnings) -> String {
    let mut html =
        String::from("<section aria-labelledby=\"h-warnings\"><h2 id=\"h-warnings\">Warnings</h2>");
    if all.is_empty() {
        return html + "<p class=\"quiet\">None: nothing had to be bent.</p></section>\n";
    }
    html += "<div class=\"scroll\"><table><caption>What had to be bent, in the order it was met</caption><thead><tr><th scope=\"col\">\
             What</th><th scope=\"col\">First met</th><th scope=\"col\" class=\"n\">Times</th></tr></thead><tbody>";
    for w in all.iter() {
        let _ = write!(
            html,
            "<tr><td>{} <code class=\"quiet\">{}</code></td><td>{}</td><td class=\"n\">{}</td></tr>",
            Text(&w.message),
            Text(w.code),
            Text(&w.first),
            w.count
        );
    }
    html + "</tbody></table></div></section>\n"
}
