//! Table of the joint map, with confidence and reason of each pair, and the unmapped parts.

use super::html_text::{Text, words};
use crate::report::Mapping;
use std::fmt::Write as _;

/// The table of one mapping.
pub(super) fn mapping(map: &Mapping) -> String {
    let least = map.joints.iter().map(|j| j.confidence).fold(1.0, f64::min);
    let mut html = format!(
        "<p>{} joints of <b>{}</b> follow <b>{}</b>; the least sure pair has {:.0} %.</p>\
         <div class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Joint map\">\
         <table class=\"sortable\"><caption>Joint map; select a column's head to sort by it</caption><thead><tr>{}</tr></thead><tbody>",
        map.joints.len(),
        Text(&map.target),
        Text(&map.source),
        100.0 * least,
        ["Role", "Source", "Target", "Confidence", "Why"]
            .map(|h| format!("<th scope=\"col\">{h}</th>"))
            .concat(),
    );
    for j in &map.joints {
        let sure = j.confidence.clamp(0.0, 1.0);
        let _ = write!(
            html,
            "<tr{}><td>{}</td><td><code>{}</code></td><td><code>{}</code></td>\
             <td class=\"n\" data-value=\"{sure:.4}\"><span class=\"sure\"><span style=\"width:{:.0}%\"></span></span> {:.0} %</td>\
             <td class=\"why\">{}</td></tr>",
            if sure < 0.7 { " class=\"unsure\"" } else { "" },
            Text(&words(&j.role)),
            Text(&j.source),
            Text(&j.target),
            100.0 * sure,
            100.0 * sure,
            Text(&j.reason)
        );
    }
    html.push_str("</tbody></table></div>");
    for (names, what) in [
        (&map.source_only, "joints of the take drive nothing"),
        (&map.target_only, "joints of the character rest"),
    ] {
        if !names.is_empty() {
            let list: String = names.iter().map(|n| format!("<code>{}</code> ", Text(n))).collect();
            let _ = write!(
                html,
                "<details><summary>{} {what}</summary><p class=\"names\">{list}</p></details>",
                names.len()
            );
        }
    }
    html
}
