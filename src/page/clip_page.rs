//! Page of one output: verdict, player, measures, plots, warnings and joint map.

use super::changes::changes;
use super::findings::findings;
use super::html_text::{Text, address, words};
use super::mapping::mapping;
use super::measures::{measures, series_of, side};
use super::plots::{measures_stem, plots, whose};
use super::quantity::{Unit, duration};
use super::ranges::{Angle, angles, worst_angles};
use super::scene::scene;
use super::shell::{Later, document};
use super::shown_clip::ShownClip;
use super::slides::slides;
use super::time_plot::highest;
use crate::measure::{Reading, Verdict};
use crate::report::{Report, Series, Warnings};
use base64::Engine as _;
use std::fmt::Write as _;

/// Most clips on one page: more do not fit into its size.
pub const CLIPS: usize = 6;
/// Most frames that are linked to.
const MOMENTS: usize = 8;
/// An angle this much further outside its range than in the take is linked to, radians: half a degree, which nobody sees.
const OUTSIDE: f64 = 0.01;
/// Most measures listed with the verdict: more would push the player off the screen, and all are in the table.
const BLAMED: usize = 4;
/// Series plotted only if a measure of them exceeds its limit: the plot then shows where, and otherwise it would be an
/// uninteresting fifth of a page.
const IF_OVER: [&str; 7] =
    ["float", "flight_error", "flight_spin_drift", "rest_slip", "clearance_error", "knee_jerk", "foot_jerk"];
/// Changes by a stage above this are listed with the verdict, metres and degrees: changes that are obvious to the eye. At half
/// of it the ankles of every take with `foot_lock` are listed; at double a raised hand is not.
const LARGE: (f64, f64) = (0.1, 30.0);

/// What a clip page shows.
#[derive(Clone, Debug)]
pub struct ClipPage<'a> {
    /// The name of the output.
    pub title: String,
    /// The takes.
    pub inputs: Vec<String>,
    /// The clips in the order of the output.
    pub clips: Vec<ShownClip<'a>>,
    /// Warnings and measurements of the run.
    pub report: &'a Report,
    /// A contact sheet as JPEG, if one could be drawn.
    pub picture: Option<&'a [u8]>,
    /// The page of the whole batch, relative to this one, if there is one.
    pub batch: Option<String>,
}

/// The page as one HTML file.
pub fn clip_page(page: &ClipPage) -> String {
    let clips: Vec<ShownClip> =
        page.clips.iter().copied().filter(|s| s.result.clip.frames() > 0).take(CLIPS).collect();
    let all: Vec<Reading> = page.report.metrics.iter().map(Reading::from).collect();
    let verdict = Verdict::of(&all);
    let angles: Vec<Vec<Angle>> = clips.iter().map(|s| angles(s.result)).collect();
    let mut scene = scene(&clips);
    if page.clips.len() > clips.len() {
        scene.cuts.push(format!("The page shows {} of {} clips.", clips.len(), page.clips.len()));
    }

    let alone = page.clips.len() == 1;
    let of_clip: Vec<Vec<Series>> =
        clips.iter().map(|s| series_of_clip(page.report, s, alone, &all)).collect();

    let none = Vec::new();
    let only = if alone { of_clip.first().unwrap_or(&none) } else { &none };
    let mut body = header(page, verdict, &all, only);
    let mut later = Later::default();
    let of_take = clips.first().and_then(|s| s.source).map(worst_angles).unwrap_or_default();
    let _ = write!(body, "<main>\n{}", moments(angles.first().filter(|_| alone), &of_take));
    if !clips.is_empty() {
        body += &player(&scene.cuts);
    }
    if let Some(jpeg) = page.picture {
        let data = base64::engine::general_purpose::STANDARD.encode(jpeg);
        let _ = writeln!(
            body,
            "<section aria-labelledby=\"h-poses\"><h2 id=\"h-poses\">Poses</h2><img class=\"sheet\" alt=\"Poses of {} from the \
             first frame to the last\" src=\"data:image/jpeg;base64,{data}\"></section>",
            Text(&page.title)
        );
    }
    let _ = writeln!(
        body,
        "<section aria-labelledby=\"h-measures\"><h2 id=\"h-measures\">Measures</h2>{}</section>",
        measures(&all, only, &mut later)
    );
    for (k, (shown, angles)) in clips.iter().zip(&angles).enumerate() {
        let title =
            if alone { "Over time".to_owned() } else { format!("Over time: {}", shown.result.clip.name) };
        let _ = writeln!(
            body,
            "<section aria-labelledby=\"h-time-{k}\" data-take=\"{k}\"><h2 id=\"h-time-{k}\">{}</h2>{}</section>",
            Text(&title),
            later.put(plots(shown, angles, &of_clip[k], &all))
        );
    }
    body += &findings(&page.report.findings);
    body += &changes(&page.report.changes);
    body += &warnings(&page.report.warnings);
    if !page.report.mappings.is_empty() {
        body += "<section aria-labelledby=\"h-map\"><h2 id=\"h-map\">What was mapped to what</h2>";
        body.extend(page.report.mappings.iter().map(mapping));
        body += "</section>\n";
    }
    body += "</main>\n";
    let scripts = [include_str!("table.js"), include_str!("open.js")];
    document(&format!("{} – posemill", page.title), &body, &scripts, Some(&scene.text(&later)))
}

fn header(page: &ClipPage, verdict: Verdict, all: &[Reading], series: &[Series]) -> String {
    let (class, word) = verdict.words();
    let back = page.batch.as_ref().map_or_else(String::new, |link| {
        format!("<nav aria-label=\"Batch\"><a href=\"{}\">← All clips</a></nav>", Text(&address(link)))
    });
    let mut facts = Vec::new();
    if let Some(ShownClip { result, .. }) = page.clips.first() {
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
        "<header>{back}<h1>{} <span class=\"badge {class}\">{word}</span></h1><p class=\"lead\">{}</p>{}<dl class=\"facts\">{}</dl></header>\n",
        Text(&page.title),
        verdict.sentence(),
        blame(page, all, series),
        facts.iter().map(|f| format!("<div>{f}</div>")).collect::<String>()
    )
}

/// The series of one clip, and how its feet slide; if there are several clips, the series of a clip begin with its name.
fn series_of_clip(report: &Report, shown: &ShownClip, alone: bool, readings: &[Reading]) -> Vec<Series> {
    let clip = &shown.result.clip;
    let over = |stem: &str| readings.iter().any(|r| r.over() && measures_stem(&r.name, stem));
    let own = |s: &Series| {
        let name =
            if alone { Some(s.name.as_str()) } else { s.name.strip_prefix(&format!("{}: ", clip.name)) };
        let name = name.filter(|_| s.values.len() == clip.frames())?.to_owned();
        let stem = whose(&name).1;
        if IF_OVER.contains(&stem.as_str()) && !over(&stem) {
            return None;
        }
        Some(Series { name, ..s.clone() })
    };
    let given: Vec<Series> = report.series.iter().filter_map(own).collect();
    let mut all = slides(&given);
    all.extend(given);
    all
}

/// Measures over their limits, their values for the take and its direct transfer, the time and the side, and what to try;
/// and the obvious changes by stages.
fn blame(page: &ClipPage, all: &[Reading], series: &[Series]) -> String {
    let rate = page.clips.first().map_or(1.0, |shown| shown.result.clip.sample_rate);
    let moment = |frame: usize, of: &str| {
        let of = if of.is_empty() { String::new() } else { format!("{of}, ") };
        let seconds = frame as f64 / rate;
        format!("<button type=\"button\" class=\"moment\" data-frame=\"{frame}\">{of}{seconds:.2} s</button>")
    };
    let mut over: Vec<&Reading> = all.iter().filter(|m| m.over()).collect();
    over.sort_by(|a, b| b.part().unwrap_or(0.0).total_cmp(&a.part().unwrap_or(0.0)));
    let mut items: Vec<String> = Vec::new();
    for m in over.iter().take(BLAMED) {
        let sizes = [Some(m.value), m.limit(), m.direct, m.take].into_iter().flatten();
        let unit = Unit::of(&m.unit, sizes.fold(0.0, |a: f64, b| a.max(b.abs())));
        let references = [("at most", m.limit()), ("direct transfer", m.direct), ("take", m.take)];
        let references =
            references.into_iter().filter_map(|(word, x)| Some(format!("{word} {}", unit.text(x?))));
        let worst = series_of(&m.name, series).and_then(|s| Some((highest(&s.values)?.0, side(s))));
        let place = worst.map_or_else(String::new, |(frame, of)| moment(frame, of));
        let hint = page.report.hints.iter().find(|hint| hint.measure == m.name);
        let hint = hint.map_or_else(String::new, |hint| {
            let (stage, before, after) = (hint.stage, unit.text(hint.before), unit.text(hint.after));
            format!("<small>The stage <code>{stage}</code> at the end of the pipeline changes it from {before} to {after} (tried on this clip).</small>")
        });
        items.push(format!(
            "<b>{}</b> {} <span class=\"quiet\">({})</span> {place}{hint}",
            Text(&words(&m.name)),
            unit.text(m.value),
            references.collect::<Vec<_>>().join(", "),
        ));
    }
    for change in &page.report.changes {
        let (far, wide) = (change.metres.max > LARGE.0, change.degrees.max > LARGE.1);
        let (what, largest, unit) = match (wide, far) {
            (true, _) => ("rotated", &change.degrees, "deg"),
            (_, true) => ("moved", &change.metres, "m"),
            _ => continue,
        };
        items.push(format!(
            "The stage <code>{}</code> {what} <code>{}</code> by {} {}",
            Text(&change.stage),
            Text(&largest.joint),
            Unit::of(unit, largest.max).text(largest.max),
            moment(largest.frame, "")
        ));
    }
    let items: String = items.iter().map(|item| format!("<li>{item}</li>")).collect();
    if items.is_empty() { items } else { format!("<ul class=\"blame\">{items}</ul>") }
}

/// Links to the frames in which joints are outside their ranges, further than in the take.
fn moments(angles: Option<&Vec<Angle>>, of_take: &[Angle]) -> String {
    let mut found: Vec<(usize, String)> = Vec::new();
    for angle in angles.into_iter().flatten() {
        let take = of_take.iter().find(|a| a.role == angle.role).map_or(0.0, |a| a.excess);
        if angle.excess > take + OUTSIDE {
            let (role, by) = (words(&angle.role.to_string()), angle.excess.to_degrees());
            let take = match take > OUTSIDE {
                true => format!(" (take {:.0}°)", take.to_degrees()),
                false => String::new(),
            };
            found.push((angle.worst, format!("{role} is {by:.0}° outside its range of motion{take}")));
        }
    }
    found.dedup();
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

/// The player; its controls are enabled by its script.
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
        return html + "<p class=\"quiet\">None: the importer changed nothing.</p></section>\n";
    }
    html += "<div class=\"scroll\"><table><caption>Changes made by the importer and problems found, in order</caption><thead><tr><th scope=\"col\">\
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, Vec3, exp};
    use crate::model::{Character, Clip, Joint, JointId, Motion, Rig, Skeleton};
    use crate::report::{Change, Largest, MappedJoint, Mapping, Metric};
    use std::sync::Arc;

    const EVIL: &str = "</script><script>x</script>";

    /// A chain of `joints` joints that all rotate, `frames` long.
    fn motion(joints: usize, frames: usize) -> Motion {
        let joint = |k: usize| {
            let parent = k.checked_sub(1).map(JointId::new);
            Joint::new(format!("{EVIL}{k}"), parent, Transform::from_translation(Vec3::y() * 0.1))
        };
        let skeleton = Skeleton::new((0..joints).map(joint).collect()).unwrap();
        let rotation = |k: usize| exp(&(Vec3::x() * (0.3 * (k as f64 * 0.7).sin())));
        let rotations = (0..joints * frames).map(rotation).collect();
        let clip = Clip::new(EVIL, 100.0, joints, rotations, Vec::new(), Vec::new());
        let rig = Rig::new(skeleton, []);
        let character = Character::new(EVIL, rig);
        Motion::new(Arc::new(character), clip)
    }

    fn report() -> Report {
        let mut report = Report::default();
        report.warnings.add("odd", EVIL, EVIL);
        let metric = |name: &str, value, at_most| Metric {
            name: name.into(),
            value,
            unit: "m/s",
            direct: Some(0.2),
            at_most,
            ..Metric::default()
        };
        report.metrics = vec![metric("foot_skate_p95", 0.3, Some(0.01)), metric(EVIL, 1.0, None)];
        report.series = vec![Series {
            name: "left_heel_speed".into(),
            unit: "m/s",
            values: (0..50).map(|f| if f == 33 { 0.4 } else { 0.1 }).collect(),
            resting: vec![[10, 40]],
        }];
        let joint = MappedJoint {
            role: "hips".into(),
            source: EVIL.into(),
            target: "a".into(),
            confidence: 0.5,
            reason: "it is so".into(),
        };
        let mapping = Mapping {
            source: "s".into(),
            target: "t".into(),
            joints: vec![joint],
            source_only: vec![EVIL.into()],
            target_only: Vec::new(),
        };
        report.mapped(&mapping);
        report.mapped(&mapping);
        let largest = |joint: &str, max| Largest { max, mean: 0.0, joint: joint.into(), frame: 7 };
        report.changes = [("arm", 46.0), ("toe", 12.0)]
            .map(|(joint, most)| {
                let (metres, degrees) = (largest(joint, 0.05), largest(joint, most));
                Change { stage: "limits".into(), metres, degrees }
            })
            .into();
        report
    }

    fn page(source: Option<&Motion>, result: &Motion, report: &Report) -> String {
        clip_page(&ClipPage {
            title: EVIL.into(),
            inputs: vec![EVIL.into()],
            clips: vec![ShownClip { source, unperformed: None, result }],
            report,
            picture: None,
            batch: None,
        })
    }

    #[test]
    fn the_page_says_what_is_wrong_where_and_lets_no_name_become_markup() {
        let result = motion(3, 50);
        let report = report();
        let html = page(Some(&motion(4, 50)), &result, &report);
        assert!(html.contains("1 of 1 measures is over its limit"));
        let expected = "<b>Foot skate p95</b> 30 cm/s <span class=\"quiet\">(at most 1 cm/s, direct transfer 20 cm/s)</span> \
                    <button type=\"button\" class=\"moment\" data-frame=\"33\">left, 0.33 s</button></li>";
        assert!(html.contains(expected), "{html}");
        assert!(html.contains("rotated <code>arm</code> by 46° <button"), "{html}");
        assert!(!html.contains("rotated <code>toe</code>"));
        assert_eq!(html.matches("least sure pair has 50 %").count(), 1);
        // Two scripts and the scene; nothing from names.
        assert_eq!(html.matches("</script>").count(), 3);
        assert!(!html.contains(EVIL));
        assert_eq!(html, page(Some(&motion(4, 50)), &result, &report));
    }

    #[test]
    fn a_page_of_a_long_clip_stays_small_and_says_what_it_left_out() {
        let long = motion(60, 20_000);
        let html = page(None, &long, &Report::default());
        assert!(html.len() < 8_000_000, "{} bytes", html.len());
        assert!(html.contains("The player keeps every 5th frame of the clip."));
        let empty = page(None, &motion(2, 0), &Report::default());
        assert!(empty.contains("Nothing was measured."));
    }
}
