//! The text of `posemill inspect`: the page about a file, and the capture errors of its clips.

use super::inspect_robot::robot_page;
use crate::body::CharacterBody;
use crate::export;
use crate::model::{Asset, Assignment, Character, JointId};
use crate::report::{Finding, counted, one_line, printable};
use crate::retarget::second_best;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

/// Most levels of indentation, more than any body has: a thousand spaces make no readable line.
const DEEPEST: usize = 64;

/// The capture errors as text; empty if there are none.
pub(super) fn findings_page(asset: &Asset, faults: &[Vec<Finding>]) -> String {
    let mut text = String::new();
    for (k, (clip, findings)) in asset.clips.iter().zip(faults).enumerate() {
        for f in findings {
            if text.is_empty() {
                text += "\ncapture errors (the stage `repair` fixes what can be fixed)\n";
            }
            let [first, end] = f.frames;
            let joint = f.joint.as_ref().map_or_else(String::new, |j| format!(" of `{}`", one_line(j)));
            let frames = if end > first + 1 {
                format!("frames {first} to {}", end - 1)
            } else {
                format!("frame {first}")
            };
            let seconds = clip.time(first);
            let _ = write!(text, "  clip {k}, {frames} ({seconds:.2} s): {}{joint}", f.name());
            let _ = match &f.left {
                None => writeln!(text, ", {:.3} {}, {:.3} after repair", f.before, f.unit, f.after),
                Some(why) if f.unit == "1" => writeln!(text, ", not fixed: {why}"),
                Some(why) => writeln!(text, ", {:.3} {}, not fixed: {why}", f.before, f.unit),
            };
        }
    }
    text
}

/// One line about what made the file, with shortened hashes.
fn made_by_line(record: &Value) -> String {
    let text = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let short = |value: &Value| text(value).chars().take(12).collect::<String>();
    let inputs = record["inputs"].as_array().into_iter().flatten();
    let inputs: Vec<String> =
        inputs.map(|i| format!("{} ({})", text(&i["name"]), short(&i["blake3"]))).collect();
    let version = text(&record["version"]);
    // A motion that was saved from Python has neither.
    match inputs.as_slice() {
        [] => format!("made by: posemill {version}\n"),
        _ => format!(
            "made by: posemill {version}, pipeline {}, from {}\n",
            short(&record["pipeline"]),
            inputs.join(", ")
        ),
    }
}

/// The first lines: format, size, origin of the reference pose.
fn page_head(asset: &Asset, file: &str, format: &str) -> String {
    let character = &asset.character;
    let skeleton = character.skeleton();
    let mut text = format!("{}: {format}, {}", one_line(file), counted(skeleton.len(), "joint"));
    if let Some(stature) = stature(character) {
        let _ = write!(text, ", {stature:.3} m tall (soles to top of head)");
    }
    let _ = writeln!(text, ", joints span {:.3} m", height_of_joints(character));
    if let Some(calibration) = &character.calibration {
        let of = if calibration.joints.is_empty() { "" } else { " (confidence, evidence)" };
        let _ = writeln!(text, "reference pose: from the {}{of}", calibration.from);
        let name = |id: JointId| one_line(&skeleton.joint(id).name);
        let widths = calibration.joints.iter().map(|j| name(j.joint).chars().count());
        let widest = widths.max().unwrap_or(0).min(WIDEST);
        for j in &calibration.joints {
            let _ = writeln!(text, "  {:widest$}  {:.2}  {}", name(j.joint), j.confidence, j.reason);
        }
    } else if character.bind.is_some() {
        text += "reference pose: bind pose (from the inverse bind matrices)\n";
    }
    if let Some(record) = made_by(asset) {
        text += &made_by_line(&record);
    }
    text
}

/// The widest column of names: longer ones run over it. A damaged file may have names of megabytes.
pub(super) const WIDEST: usize = 100;

/// The page about a file, without capture errors.
pub(super) fn page(asset: &Asset, file: &str, format: &str) -> String {
    let character = &asset.character;
    let skeleton = character.skeleton();
    let mut text = page_head(asset, file, format);
    let _ = writeln!(text, "\nskeleton (role, confidence; below {:.2} a guess)", Assignment::DOUBTFUL);
    let mut depths: Vec<usize> = Vec::with_capacity(skeleton.len());
    for parent in skeleton.parents() {
        depths.push(parent.map_or(1, |p| depths[p.index()] + 1));
    }
    let depth = |id: JointId| depths[id.index()].min(DEEPEST);
    let name = |id: JointId| one_line(&skeleton.joint(id).name);
    let width = |id: JointId| 2 * depth(id) + name(id).chars().count();
    let widest = skeleton.ids().map(width).max().unwrap_or(0).min(WIDEST);
    // Depth first, so that the text reads as a tree for any order of the joints.
    let mut open = vec![JointId::new(0)];
    while let Some(id) = open.pop() {
        open.extend(skeleton.children(id).iter().rev());
        let label = format!("{:indent$}{}", "", name(id), indent = 2 * depth(id));
        let line = match character.rig.role(id).and_then(|r| Some((r, character.rig.assignment(r)?))) {
            Some((role, a)) if !a.is_doubtful() => format!("{label:widest$}  {role} ({:.2})", a.confidence),
            Some((role, a)) => {
                let second = second_best(character, role).map_or_else(String::new, |(id, confidence)| {
                    let sure = confidence.map_or_else(String::new, |c| format!(" ({c:.2})"));
                    format!(", second-best `{}`{sure}", name(id))
                });
                format!("{label:widest$}  {role} ({:.2}), only a guess{second}", a.confidence)
            }
            None => label,
        };
        let _ = writeln!(text, "{line}");
    }

    if let Some(robot) = &character.robot {
        text += &robot_page(robot);
    }

    let _ = writeln!(text, "\n{}", counted(asset.clips.len(), "clip"));
    for (k, clip) in asset.clips.iter().enumerate() {
        let name = if clip.name.is_empty() { "(no name)".to_owned() } else { one_line(&clip.name) };
        let (frames, rate) = (counted(clip.frames(), "frame"), clip.sample_rate);
        let _ = writeln!(text, "  {k}: {name}, {frames} at {rate:.6} Hz, {:.3} s", clip.duration());
    }
    let _ = writeln!(text, "\n{}", counted(character.meshes.len(), "mesh part"));
    for mesh in &character.meshes {
        let (vertices, triangles) = (mesh.positions.len(), mesh.triangles.len());
        let _ = writeln!(text, "  {}: {vertices} vertices, {triangles} triangles", one_line(&mesh.name));
    }
    if !asset.warnings.is_empty() {
        text += "\nwarnings\n";
        for w in asset.warnings.iter() {
            let times = if w.count > 1 { format!(", {} times", w.count) } else { String::new() };
            let _ = writeln!(
                text,
                "  {}: {} (first: {}{times})",
                w.code,
                printable(&w.message),
                one_line(&w.first)
            );
        }
    }
    text
}

/// Height from the lowest joint to the highest in the reference pose, metres.
pub(super) fn height_of_joints(character: &Character) -> f64 {
    let pose = character.reference_pose();
    let heights = pose.joints().iter().map(|t| t.translation.y);
    heights.clone().fold(f64::MIN, f64::max) - heights.fold(f64::MAX, f64::min)
}

/// Height from the soles to the top of the head in the reference pose, metres, as `measure` scales by; `None` without legs.
pub(super) fn stature(character: &Arc<Character>) -> Option<f64> {
    let body = CharacterBody::new(character);
    body.figure().is_some().then(|| body.height())
}

/// What made the file, if it is recorded in it.
pub(super) fn made_by(asset: &Asset) -> Option<Value> {
    export::made_by(asset.character.document.as_ref()?)
}
