//! Table of capture errors: what was fixed and what was left, where, and its size before and after.

use super::html_text::{Text, words};
use super::quantity::Unit;
use crate::report::Finding;
use std::fmt::Write as _;

/// The section of these findings; nothing if there are none.
pub(super) fn findings(all: &[Finding]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let fixed = all.iter().filter(|f| f.left.is_none()).count();
    let mut html = format!(
        "<section aria-labelledby=\"h-findings\"><h2 id=\"h-findings\">Capture errors: what was fixed and what was left</h2>\
         <p>{fixed} fixed, {} left as they are.</p><div class=\"scroll tall\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Faults of the take\"><table><caption>Faults of the take, in the order in which they were looked for\
         </caption><thead><tr><th scope=\"col\">Fault</th><th scope=\"col\">Joint</th><th scope=\"col\">When</th>\
         <th scope=\"col\" class=\"n\">Was</th><th scope=\"col\" class=\"n\">Is</th><th scope=\"col\">Left because</th>\
         </tr></thead><tbody>",
        all.len() - fixed
    );
    for finding in all {
        let [first, end] = finding.frames;
        let unit = Unit::of(finding.unit, finding.before.abs().max(finding.after.abs()));
        let joint = finding.joint.as_ref().map_or_else(String::new, |j| format!("<code>{}</code>", Text(j)));
        let last = if end > first + 1 { format!(" to {}", end - 1) } else { String::new() };
        let _ = write!(
            html,
            "<tr><th scope=\"row\">{}</th><td>{joint}</td>\
             <td><button type=\"button\" class=\"moment\" data-frame=\"{first}\">frame {first}</button>{last}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"why\">{}</td></tr>",
            Text(&words(&finding.name())),
            unit.text(finding.before),
            unit.text(finding.after),
            Text(finding.left.as_deref().unwrap_or_default())
        );
    }
    html + "</tbody></table></div></section>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_joint_its_moment_and_its_sizes() {
        let spike = Finding {
            fault: "root_step",
            joint: Some("a<b".into()),
            frames: [12, 14],
            unit: "m",
            before: 0.08,
            after: 0.0,
            left: None,
        };
        let cut = Finding { fault: "cut", joint: None, left: Some("not known".into()), ..spike.clone() };
        let html = findings(&[spike, cut]);
        for part in
            ["a&lt;b", "data-frame=\"12\">frame 12</button> to 13", "8 cm", "1 fixed, 1 left", "not known"]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(findings(&[]), "");
    }
}
