//! `posemill calibrate`: a T-pose for takes with a degenerate rest pose.

use super::console::Console;
use super::direct_request::not_an_input;
use super::exit::{Exit, Failure};
use super::load_file::{load, only};
use crate::anatomy::{Estimate, UNSURE, rest_from_motion};
use crate::batch::find_takes;
use crate::export::{self, Format};
use crate::math::{Quat, Transform, Vec3, rotation_between};
use crate::model::{Asset, Character, Clip, Joint, Motion, Rig, Role, Skeleton};
use crate::pipeline::{TakeFile, write_whole};
use crate::report::{Shown, Warnings, rounded};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Estimate a T-pose from the motion of takes with a degenerate rest pose
///
/// The pose is written as one frame on the skeleton of the first take. Results for takes of one skeleton are more consistent if
/// all are read with one pose, estimated from six or more of them: `--set input.calibration.file=rig.pose.bvh`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill calibrate 'lafan1/*.bvh' -o lafan1.pose.bvh\n  \
    posemill retarget dance.bvh --onto hero.glb -o dance.glb --set input.calibration.file=lafan1.pose.bvh")]
pub struct CalibrateArguments {
    /// Takes of one skeleton, files or globs
    #[arg(required = true, value_name = "TAKE")]
    takes: Vec<String>,
    /// The pose file, `.bvh` or `.glb`, which is replaced
    #[arg(long, short, value_name = "POSE")]
    output: PathBuf,
    /// One clip of takes that hold several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Override how takes are read, e.g. `input.up=z` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Print the pose's joints with their confidence as one JSON document
    #[arg(long)]
    json: bool,
}

/// How the codes of warnings about rest poses begin, which a calibration replaces.
const REST: &str = "rest-";

/// Writes the pose.
pub fn run(arguments: &CalibrateArguments, console: &Console) -> Result<Exit, Failure> {
    let extension = arguments.output.extension().unwrap_or_default().to_string_lossy();
    let format = Format::of(&extension).filter(|f| ["bvh", "glb"].contains(&f.name)).ok_or_else(|| {
        Failure::Argument(format!(
            "`{}` has no extension of a pose file\n  hint: write `.bvh` for BVH takes, `.glb` for glTF takes",
            arguments.output.shown()
        ))
    })?;
    let found = find_takes(Path::new(""), &arguments.takes, None)?;
    found.unseen.iter().for_each(|line| console.warning(line));
    let takes: Vec<TakeFile> = found.takes.iter().collect();
    not_an_input(&arguments.output, takes.iter().map(|t| t.path.as_path()))?;
    let mut assets: Vec<(PathBuf, Asset)> = Vec::new();
    let mut warnings = Warnings::new();
    for take in &takes {
        let asset = only(load(&take.path, &arguments.sets)?, arguments.clip.as_deref())?;
        if let Some((first, known)) = assets.first()
            && tree(&known.character) != tree(&asset.character)
        {
            return Err(Failure::Argument(format!(
                "`{}` and `{}` have different joints\n  hint: calibrate takes of one skeleton at a time",
                first.shown(),
                take.path.shown()
            )));
        }
        let mut found = Warnings::new();
        asset.warnings.iter().filter(|w| !w.code.starts_with(REST)).for_each(|w| found.push(w.clone()));
        warnings.extend_from(found, &take.path.shown());
        assets.push((take.path.clone(), asset));
    }
    console.warnings_of("", &warnings);
    leave_out_unsure(&mut assets).iter().for_each(|line| console.warning(line));
    let Some((path, first)) = assets.first() else { return Ok(Exit::NoStart) };
    let clips: Vec<&Clip> = assets.iter().flat_map(|(_, asset)| &asset.clips).collect();
    let rig = &first.character.rig;
    let Some(estimate) = rest_from_motion(rig, &clips, Some(Vec3::y())) else {
        return Err(Failure::Argument(format!(
            "`{}` shows no body in motion: hips, both thighs and something above them are needed\n  hint: \
             list the detected roles with `posemill inspect`",
            path.shown()
        )));
    };
    compare_takes(&assets, &estimate, console)?;
    let bvh = format.name == "bvh";
    if first.character.document.is_some() == bvh {
        return Err(Failure::Argument(format!(
            "`{}` is no pose file for `{}`: the joint axes of the formats differ\n  hint: write `{}`",
            arguments.output.shown(),
            path.shown(),
            arguments.output.with_extension(if bvh { "glb" } else { "bvh" }).shown()
        )));
    }
    let skeleton = as_in_the_file(&first.character);
    let pose = estimate.pose.to_local(&skeleton);
    let clip = Clip::from_poses("T-pose", 30.0, &skeleton, &[pose]);
    let roles: Vec<_> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    let character = Character::new(&first.character.name, Rig::new(skeleton, roles));
    let (files, _) =
        export::save(&[Motion::new(Arc::new(character), clip)], format, &export::ExportOptions::default())
            .map_err(|e| Failure::Argument(e.to_string()))?;
    for file in &files {
        write_whole(&arguments.output, &file.bytes)?;
    }
    if arguments.json {
        console.json(&document(&estimate, &assets, &warnings, &arguments.output));
    }
    console.note(format!("wrote {}: {}", arguments.output.shown(), sentence(&estimate, assets.len())));
    Ok(Exit::Good)
}

const SCHEMA: &str = "posemill.calibrate/1";

/// A T-pose estimated from the motion of takes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CalibrateDocument<'a> {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The pose file that was written.
    output: String,
    /// The takes that the pose was estimated from.
    takes: Vec<String>,
    /// Whether rotations were snapped to the axes of the joints, since these are aligned with the body.
    snapped_to_axes: bool,
    /// The joints that were estimated.
    joints: Vec<EstimatedJoint<'a>>,
    /// Warnings of reading the takes, in order of first occurrence.
    warnings: &'a Warnings,
}

/// A joint of the pose.
#[derive(Debug, Serialize, JsonSchema)]
struct EstimatedJoint<'a> {
    /// The name.
    joint: &'a str,
    /// How sure its rotation is, from 0 to 1.
    confidence: f64,
    /// Whether the confidence is so low that the rotation is a guess.
    guess: bool,
    /// The evidence.
    reason: &'a str,
}

/// The document of `--json`.
fn document<'a>(
    estimate: &'a Estimate,
    assets: &'a [(PathBuf, Asset)],
    warnings: &'a Warnings,
    output: &Path,
) -> CalibrateDocument<'a> {
    let rig = &assets[0].1.character.rig;
    let joints = estimate.joints.iter().map(|joint| EstimatedJoint {
        joint: &rig.skeleton().joint(joint.joint).name,
        confidence: rounded(joint.confidence),
        guess: joint.confidence < UNSURE,
        reason: &joint.reason,
    });
    CalibrateDocument {
        schema: SCHEMA,
        output: output.shown(),
        takes: assets.iter().map(|(path, _)| path.shown()).collect(),
        snapped_to_axes: estimate.conventional,
        joints: joints.collect(),
        warnings,
    }
}

/// What was estimated from how many takes.
fn sentence(estimate: &Estimate, takes: usize) -> String {
    let unsure = estimate.joints.iter().filter(|j| j.confidence < UNSURE).count();
    let sure = match unsure {
        0 => String::new(),
        1 => "; one joint is a guess".to_owned(),
        n => format!("; {n} joints are guesses"),
    };
    let axes = if estimate.conventional {
        "; joint axes are aligned with the body, so rotations were snapped to them"
    } else {
        ""
    };
    let of = if takes == 1 { "one take".to_owned() } else { format!("{takes} takes") };
    format!("the T-pose of {of}{axes}{sure}")
}

/// Leaves out takes whose up axis is only a guess if others show theirs, since a pose of two worlds is none. Returns a warning for
/// each.
fn leave_out_unsure(assets: &mut Vec<(PathBuf, Asset)>) -> Vec<String> {
    let (unsure, sure): (Vec<_>, Vec<_>) =
        std::mem::take(assets).into_iter().partition(|(_, asset)| asset.warnings.has("rest-from-motion-up"));
    if sure.is_empty() {
        *assets = unsure;
        return Vec::new();
    }
    *assets = sure;
    let warning = |(path, _): &(PathBuf, Asset)| {
        format!(
            "`{}` does not show its up axis and is left out: read it with `--set input.up=` and the axis of the other takes",
            path.display()
        )
    };
    unsure.iter().map(warning).collect()
}

/// Difference of a take's own estimate from that of all takes above which it is reported, degrees. Takes of one skeleton differ by
/// up to 3 (collar bones, feet); half of it reports every second library, double hides the feet of one take in nine.
const DIFFERS: f64 = 5.0;

/// Refuses a take with other joint axes than the first one, and reports takes whose own estimate differs from that of all.
fn compare_takes(assets: &[(PathBuf, Asset)], of_all: &Estimate, console: &Console) -> Result<(), Failure> {
    let Some((_, first)) = assets.first().filter(|_| assets.len() > 1) else { return Ok(()) };
    let rig = &first.character.rig;
    let alone =
        |asset: &Asset| rest_from_motion(rig, &asset.clips.iter().collect::<Vec<_>>(), Some(Vec3::y()));
    let first = alone(first);
    for (path, asset) in assets {
        let Some(own) = alone(asset) else { continue };
        if let Some(first) = &first
            && own.contradicted_by(&first.pose).len().min(first.contradicted_by(&own.pose).len()) >= 2
        {
            return Err(Failure::Argument(format!(
                "`{}` has other joint axes than the takes before it\n  hint: calibrate takes of one export at a time",
                path.shown()
            )));
        }
        let apart = differences(rig, &own, of_all);
        if let Some((role, degrees)) = apart.first() {
            let more = if apart.len() > 1 {
                format!(" (and {} more joints)", apart.len() - 1)
            } else {
                String::new()
            };
            console.warning(format!(
                "`{}` alone gives another pose than all takes: {degrees:.0} degrees at `{role}`{more}; the pose of all is written",
                path.shown()
            ));
        }
    }
    Ok(())
}

/// The roles whose rotations differ by more than [`DIFFERS`], in degrees, largest first. Joints that the take alone can only guess
/// contradict nothing (a foot that it never plants); fingers and toes are small.
fn differences(rig: &Rig, own: &Estimate, of_all: &Estimate) -> Vec<(Role, f64)> {
    let guessed = |joint| own.joints.iter().any(|j| j.joint == joint && j.confidence < UNSURE);
    let body = rig.assignments().filter(|(role, _)| !matches!(role, Role::Finger(..) | Role::Toes(_)));
    let body = body.filter(|(_, a)| !guessed(a.joint));
    let rotation = |estimate: &Estimate, id| estimate.pose.joint(id).rotation;
    let apart = body.map(|(role, a)| {
        (role, rotation_between(&rotation(own, a.joint), &rotation(of_all, a.joint)).to_degrees())
    });
    let mut apart: Vec<(Role, f64)> = apart.filter(|(_, degrees)| *degrees > DIFFERS).collect();
    apart.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    apart
}

/// Names and parents of the joints, which are equal for takes of one skeleton.
fn tree(character: &Character) -> Vec<(&str, Option<usize>)> {
    let joints = character.skeleton().joints().iter();
    joints.map(|j| (j.name.as_str(), j.parent.map(|p| p.index()))).collect()
}

/// The skeleton with the axes of its file; the joints of a BVH file rest without rotation.
fn as_in_the_file(character: &Character) -> Skeleton {
    let mut joints: Vec<Joint> = character.skeleton().joints().to_vec();
    if character.document.is_none() {
        let rest = joints[0].rest;
        joints[0].rest = Transform::new(Quat::identity(), rest.rotation.inverse() * rest.translation);
    }
    Skeleton::new(joints).expect("rotating the root keeps the skeleton valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportOptions, load};
    use crate::math::exp;
    use crate::model::{ModelPose, Side};

    fn take(name: &str) -> (PathBuf, Asset) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        let asset = load(&path, &ImportOptions::default()).unwrap();
        (path, asset)
    }

    #[test]
    fn cuts_of_one_take_give_about_the_pose_of_all_and_guesses_contradict_nothing() {
        let (_, asset) = take("walk.bvh");
        let (rig, motion) = (&asset.character.rig, asset.motion(0).unwrap());
        let cuts = [0..40, 20..60, 40..80].map(|frames| motion.part(frames).clip);
        let estimate = |clips: &[&Clip]| rest_from_motion(rig, clips, Some(Vec3::y())).unwrap();
        let all = estimate(&cuts.iter().collect::<Vec<_>>());
        for cut in &cuts {
            let apart = differences(rig, &estimate(&[cut]), &all);
            assert!(apart.iter().all(|(_, degrees)| *degrees < 2.0 * DIFFERS), "{apart:?}");
        }
        let foot = rig.joint(Role::Foot(Side::Left)).unwrap();
        for (confidence, warning) in [(0.9, true), (UNSURE, true), (0.3, false)] {
            let mut joints = all.pose.joints().to_vec();
            joints[foot.index()].rotation = exp(&Vec3::x()) * joints[foot.index()].rotation;
            let mut own = Estimate { pose: ModelPose::new(joints), ..all.clone() };
            own.joints.iter_mut().filter(|j| j.joint == foot).for_each(|j| j.confidence = confidence);
            let apart = differences(rig, &own, &all);
            assert_eq!(apart.first().map(|(role, _)| *role), warning.then_some(Role::Foot(Side::Left)));
        }
    }

    #[test]
    fn takes_that_do_not_show_their_up_axis_do_not_spoil_the_pose_of_the_others() {
        let guessed = |mut take: (PathBuf, Asset)| {
            take.1.warnings.add("rest-from-motion-up", "a guess", "the take");
            take
        };
        let mut takes = vec![guessed(take("turn.bvh")), take("walk.bvh")];
        assert_eq!(leave_out_unsure(&mut takes).len(), 1);
        assert!(takes.len() == 1 && takes[0].0.ends_with("walk.bvh"));
        // Without another one it is all there is.
        let mut takes = vec![guessed(take("turn.bvh"))];
        assert!(leave_out_unsure(&mut takes).is_empty() && takes.len() == 1);
    }
}
