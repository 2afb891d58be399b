//! Files that would overflow the stack, or take gigabytes or minutes, are refused by a named limit.

use super::{fixture, refused};
use crate::import::{ImportOptions, from_bytes, load};
use crate::math::Vec3;

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

/// As in MuJoCo, whose default range is 0 to 0; frames of the world hold bodies as frames of bodies do.
#[test]
fn a_range_of_nothing_is_none_and_a_robot_may_stand_in_a_frame() {
    let text = "<mujoco><worldbody><body><joint/></body><frame pos=\"1 0 0\"><frame quat=\"0 1 0 0\"><body name=\"base\" pos=\"0 3 0\">\
        <joint range=\"0 0\"/><joint range=\"0 0\"/></body></frame></frame></worldbody></mujoco>";
    let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
    let robot = asset.character.robot.as_ref().unwrap();
    assert_eq!(robot.hinges.iter().map(|hinge| hinge.range).collect::<Vec<_>>(), [None, None]);
    // The inner frame has half a turn about x.
    let at = robot.links.iter().find(|link| link.name == "base").unwrap().parent_from_link;
    assert!((at.translation - Vec3::new(1.0, -3.0, 0.0)).norm() < 1e-12, "{}", at.translation);
    assert!((at.rotation * Vec3::z() + Vec3::z()).norm() < 1e-12);
}
