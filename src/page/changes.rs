//! Table of what each stage changed: displacement and rotation of joints, mean and largest.

use super::html_text::Text;
use super::quantity::Unit;
use crate::report::Change;
use std::fmt::Write as _;

/// The section of these changes; nothing if no stage changed anything.
pub(super) fn changes(all: &[Change]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section aria-labelledby=\"h-changes\"><h2 id=\"h-changes\">What each stage changed</h2><div class=\"scroll\"><table>\
         <caption>Joints before and after each stage, the mean over all frames and the largest</caption><thead><tr>\
         <th scope=\"col\">Stage</th><th scope=\"col\" class=\"n\">Moved, mean</th><th scope=\"col\" class=\"n\">Moved, most</th>\
         <th scope=\"col\">Where</th><th scope=\"col\" class=\"n\">Rotated, mean</th><th scope=\"col\" class=\"n\">Rotated, most</th>\
         <th scope=\"col\">Where</th></tr></thead><tbody>",
    );
    for change in all {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", Text(&change.stage));
        for (largest, unit) in [(&change.metres, "m"), (&change.degrees, "deg")] {
            let unit = Unit::of(unit, largest.max);
            let _ = write!(
                html,
                "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                unit.text(largest.mean),
                unit.text(largest.max)
            );
            let place = format!(
                "<td><code>{}</code> <button type=\"button\" class=\"moment\" data-frame=\"{1}\">frame {1}</button></td>",
                Text(&largest.joint),
                largest.frame
            );
            html += if largest.max > 0.0 { place.as_str() } else { "<td></td>" };
        }
        html += "</tr>";
    }
    html + "</tbody></table></div></section>\n"
}
