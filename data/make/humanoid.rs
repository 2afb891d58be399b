//! `humanoid.xml`: a robot of 29 hinges, 1.3 m tall, from a table; MJCF.
//!
//! Proportions are those of people after Drillis and Contini (as in the mannequin), rounded to centimetres; ranges are those
//! that robots of this kind commonly have. Shapes are capsules, spheres and boxes: no mesh is needed.

use std::fmt::Write;

/// A link: its depth in the tree, name, place in its parent, and its hinge (name, axis, range in degrees).
struct Link(
    usize,
    &'static str,
    [f64; 3],
    Option<(&'static str, [i32; 3], [i32; 2])>,
    &'static [&'static str],
);

const X: [i32; 3] = [1, 0, 0];
const Y: [i32; 3] = [0, 1, 0];
const Z: [i32; 3] = [0, 0, 1];

/// The trunk. Legs hang from `pelvis`, arms from `chest`.
const TRUNK: [Link; 4] = [
    Link(0, "pelvis", [0.0, 0.0, 0.74], None, &[r#"type="capsule" size="0.08" fromto="0 -0.05 0 0 0.05 0""#]),
    Link(1, "waist_yaw", [0.0, 0.0, 0.06], Some(("waist_yaw", Z, [-150, 150])), &[]),
    Link(2, "waist_roll", [0.0, 0.0, 0.03], Some(("waist_roll", X, [-30, 30])), &[]),
    Link(
        3,
        "chest",
        [0.0, 0.0, 0.02],
        Some(("waist_pitch", Y, [-30, 30])),
        &[
            r#"type="capsule" size="0.08" fromto="0 -0.06 0.22 0 0.06 0.22""#,
            r#"type="capsule" size="0.09" fromto="0 0 0.08 0 0 0.16""#,
            r#"type="sphere" size="0.08" pos="0.01 0 0.42""#,
        ],
    ),
];

/// The left leg.
const LEG: [Link; 6] = [
    Link(1, "hip_pitch", [0.0, 0.07, -0.06], Some(("hip_pitch", Y, [-150, 150])), &[]),
    Link(2, "hip_roll", [0.0, 0.04, 0.0], Some(("hip_roll", X, [-30, 150])), &[]),
    Link(
        3,
        "thigh",
        [0.0, 0.0, -0.1],
        Some(("hip_yaw", Z, [-150, 150])),
        &[r#"type="capsule" size="0.055" fromto="0 0 0.05 0 0 -0.15""#],
    ),
    Link(
        4,
        "shin",
        [0.0, 0.0, -0.22],
        Some(("knee", Y, [-5, 160])),
        &[r#"type="capsule" size="0.045" fromto="0 0 -0.05 0 0 -0.24""#],
    ),
    Link(5, "ankle", [0.0, 0.0, -0.31], Some(("ankle_pitch", Y, [-50, 35])), &[]),
    Link(
        6,
        "foot",
        [0.0, 0.0, -0.02],
        Some(("ankle_roll", X, [-20, 20])),
        &[r#"type="box" size="0.095 0.035 0.012" pos="0.045 0 -0.018""#],
    ),
];

/// The left arm, which hangs down: its shoulder is so far out that the hand is 15 mm beside the thigh.
const ARM: [Link; 7] = [
    Link(4, "shoulder_pitch", [0.0, 0.16, 0.24], Some(("shoulder_pitch", Y, [-175, 150])), &[]),
    Link(5, "shoulder_roll", [0.0, 0.05, 0.0], Some(("shoulder_roll", X, [-90, 130])), &[]),
    Link(
        6,
        "upper_arm",
        [0.0, 0.0, -0.06],
        Some(("shoulder_yaw", Z, [-150, 150])),
        &[r#"type="capsule" size="0.04" fromto="0 0 0.03 0 0 -0.1""#],
    ),
    Link(
        7,
        "forearm",
        [0.0, 0.0, -0.13],
        Some(("elbow", Y, [-150, 5])),
        &[r#"type="capsule" size="0.035" fromto="0 0 -0.02 0 0 -0.13""#],
    ),
    Link(8, "wrist_yaw", [0.0, 0.0, -0.17], Some(("wrist_yaw", Z, [-110, 110])), &[]),
    Link(9, "wrist_roll", [0.0, 0.0, -0.02], Some(("wrist_roll", X, [-60, 60])), &[]),
    Link(
        10,
        "hand",
        [0.0, 0.0, -0.02],
        Some(("wrist_pitch", Y, [-60, 60])),
        &[r#"type="capsule" size="0.03" fromto="0 0 -0.03 0 0 -0.09""#],
    ),
];

/// The file.
pub fn file() -> Vec<u8> {
    let mut text = String::from(
        "<mujoco model=\"humanoid\">\n  <compiler angle=\"degree\" autolimits=\"true\"/>\n  <default>\n    \
         <geom density=\"900\"/>\n    <joint armature=\"0.01\" damping=\"1\"/>\n  </default>\n  <worldbody>\n",
    );
    let mut open = 0;
    write_link(&mut text, &TRUNK[0], "", &mut open);
    for mirrored in [false, true] {
        LEG.iter().for_each(|link| write_link(&mut text, &sided(link, mirrored), side(mirrored), &mut open));
    }
    TRUNK[1..].iter().for_each(|link| write_link(&mut text, link, "", &mut open));
    for mirrored in [false, true] {
        ARM.iter().for_each(|link| write_link(&mut text, &sided(link, mirrored), side(mirrored), &mut open));
    }
    close(&mut text, &mut open, 0);
    text += "  </worldbody>\n</mujoco>\n";
    text.into_bytes()
}

fn side(mirrored: bool) -> &'static str {
    if mirrored { "right_" } else { "left_" }
}

/// The link on its own side: a right one is the mirror image, so rolls and yaws have reversed ranges.
fn sided(link: &Link, mirrored: bool) -> Link {
    let Link(depth, name, [x, y, z], hinge, shapes) = *link;
    let sign = if mirrored { -1.0 } else { 1.0 };
    let hinge = hinge.map(|(name, axis, [low, high])| match mirrored && axis != Y {
        true => (name, axis, [-high, -low]),
        false => (name, axis, [low, high]),
    });
    Link(depth, name, [x, sign * y, z], hinge, shapes)
}

fn write_link(text: &mut String, link: &Link, prefix: &str, open: &mut usize) {
    let Link(depth, name, [x, y, z], hinge, shapes) = link;
    close(text, open, *depth);
    let indent = "  ".repeat(depth + 2);
    let _ = writeln!(text, "{indent}<body name=\"{prefix}{name}\" pos=\"{x} {y} {z}\">");
    match hinge {
        None => {
            let _ = writeln!(text, "{indent}  <freejoint name=\"base\"/>");
        }
        Some((name, [x, y, z], [low, high])) => {
            let _ = writeln!(
                text,
                "{indent}  <joint name=\"{prefix}{name}_joint\" axis=\"{x} {y} {z}\" range=\"{low} {high}\"/>"
            );
        }
    }
    if shapes.is_empty() {
        // MuJoCo wants a mass for every link that moves.
        let _ = writeln!(
            text,
            "{indent}  <inertial pos=\"0 0 0\" mass=\"0.3\" diaginertia=\"0.001 0.001 0.001\"/>"
        );
    }
    for shape in *shapes {
        let _ = writeln!(text, "{indent}  <geom {shape}/>");
    }
    *open = depth + 1;
}

/// Closes the bodies that are open from `depth` on.
fn close(text: &mut String, open: &mut usize, depth: usize) {
    for depth in (depth..*open).rev() {
        let _ = writeln!(text, "{}</body>", "  ".repeat(depth + 2));
    }
    *open = depth;
}
