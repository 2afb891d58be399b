//! Files that would overflow the stack, or take gigabytes or minutes, are refused by a named limit.

use super::{fixture, refused};
use crate::import::{ImportOptions, from_bytes, load};

fn model(inside: &str) -> String {
    format!("<mujoco><worldbody><body><joint/>{inside}</body></worldbody></mujoco>")
}

#[test]
fn nesting_is_limited_whatever_looks_like_the_end_of_a_tag() {
    for beside in ["<![CDATA[</a>]]>", "<?x </a>?>", "<!--</a>-->", "<a b='/>'></a>"] {
        let deep = model(&(format!("<frame>{beside}").repeat(1000) + &"</frame>".repeat(1000)));
        assert!(refused("r.xml", &deep).contains("MAX_DEPTH"), "{beside}");
    }
    let wide = model(&"<site name='a>b'/><site name=\"/>\"/>".repeat(300));
    from_bytes(wide.as_bytes(), "r", Some("xml"), Some(&fixture("")), &ImportOptions::default()).unwrap();
}

#[test]
fn nesting_and_bytes_are_limited_across_includes() {
    let folder = tempfile::tempdir().unwrap();
    let load_with = |inside: &str, last: &str| {
        for k in 0..10 {
            let include = if k < 9 { format!("<include file=\"f{}.xml\"/>", k + 1) } else { last.to_owned() };
            let text = inside.replace('|', &include);
            let text = if k == 0 { model(&text) } else { format!("<mujocoinclude>{text}</mujocoinclude>") };
            std::fs::write(folder.path().join(format!("f{k}.xml")), text).unwrap();
        }
        load(folder.path().join("f0.xml"), &ImportOptions::default())
    };
    load_with("<frame>|</frame>", "<frame/>").unwrap();
    let deep = "<frame>".repeat(40) + "|" + &"</frame>".repeat(40);
    assert!(load_with(&deep, "").unwrap_err().to_string().contains("MAX_DEPTH"));
    let long = format!("<!--{}-->|", " ".repeat(2 << 20));
    assert!(load_with(&long, "").unwrap_err().to_string().contains("MAX_BYTES"));
}

#[test]
fn the_number_of_everything_is_limited() {
    let attributes: String = (0..2000).map(|k| format!(" a{k}=\"1\"")).collect();
    let some: String = (0..200).map(|k| format!(" a{k}=\"1\"")).collect();
    let classes: String = (0..6000).map(|k| format!("<default class=\"c{k}\"/>")).collect();
    let defaults = format!("<mujoco><default><geom{some}/>{classes}</default></mujoco>");
    for (text, limit) in [
        (model(&"<joint/>".repeat(5000)), "MAX_HINGES"),
        (model(&"<geom size=\"1\"/>".repeat(3000)), "MAX_SHAPES"),
        (model(&"<body/>".repeat(5000)), "MAX_LINKS"),
        (model(&format!("<site{attributes}/>")), "MAX_ATTRIBUTES"),
        (defaults, "MAX_DEFAULTS"),
    ] {
        assert!(refused("r.xml", &text).contains(limit), "{limit}");
    }
}
