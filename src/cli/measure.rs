//! `posemill measure`: quality of motions, as numbers with published formulas.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::load_file::{clip, load};
use super::measure_table::{MeasuredClip, batch, single};
use crate::export::made_by;
use crate::measure::{self, MEASURES, MetricContext, Reading, Summary, Threshold, Verdict, shown};
use crate::model::{Asset, Motion};
use crate::pipeline::{ReferenceMotion, assess_alone, hash_of, hints, lacks_its_robot};
use crate::report::{Metric, Shown, one_line};
#[cfg(feature = "physics")]
use crate::settle::ClipForces;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the words of a verdict mean, for helps.
pub(super) const VERDICTS: &str = "Verdicts: good is within all limits; as recorded is over a limit, but at most 5 % worse than the take itself; over is \
    worse than that.";

/// Measure the quality of motions: feet, limits, smoothness, forces
///
/// With `--source`, contacts are those of the take, and its direct rotation transfer is measured for comparison. Without it,
/// contacts are detected on the result itself, errors included. Lengths and speeds are scaled to a height of 1.75 m.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill measure hero-walk.glb\n  \
    posemill measure hero-walk.glb --source walk.bvh --fail-on 'rest_slip_p95>5cm/s'\n  \
    posemill measure out/*.glb --source walk.bvh --json > quality.json\n\n\
    `posemill measure --help` lists every measure with its formula.\n\n".to_owned() + VERDICTS)]
#[command(after_long_help = formulas())]
pub struct MeasureArguments {
    /// Motion files; `-` is standard input
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// The take that the results were made from
    #[arg(long, value_name = "MOTION")]
    source: Option<PathBuf>,
    /// The clip of the results, by name or number from 0 [default: those named as clips of the take, else all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Height of the floor below the results, metres; not used with `--source` [default: 0]
    #[arg(long, value_name = "HEIGHT", allow_negative_numbers = true)]
    ground: Option<f64>,
    /// Add inverse dynamics for a body of 70 kg (`--set input.mass_kg=85`): unexplained force, torque, force of the floor, power
    #[cfg(feature = "physics")]
    #[arg(long)]
    physics: bool,
    /// Exit with code 1 if a measure exceeds this value, e.g. `rest_slip_p95>5cm/s`, or was not measured
    #[arg(long, value_name = "CONDITION")]
    fail_on: Vec<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Override how files are read, e.g. `input.units=cm` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

const SCHEMA: &str = "posemill.measure/1";

/// The quality of motions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeasureDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The take of `--source`; null without it.
    source: Option<String>,
    /// The clips that were measured.
    results: Vec<MeasuredClip>,
    /// Each measure over all clips that have it.
    summary: Vec<Summary>,
    /// The thresholds of `--fail-on` that clips exceed, or have no measure for.
    exceeded: Vec<ExceededThreshold>,
    /// The earlier name of `exceeded`.
    passed: Vec<ExceededThreshold>,
}

/// A threshold that a clip exceeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ExceededThreshold {
    /// The threshold as written, with its unit.
    threshold: String,
    /// The file.
    file: String,
    /// The name of the clip.
    clip: String,
    /// The value, in the unit of the measure; null if the clip has no such measure, or if it is not finite.
    value: Option<f64>,
    #[serde(skip)]
    measure: String,
    #[serde(skip)]
    sentence: String,
}

/// Measures every result.
pub fn run(arguments: &MeasureArguments, console: &Console) -> Result<Exit, Failure> {
    let fail_on = Threshold::all(&arguments.fail_on).map_err(|e| Failure::Argument(e.to_string()))?;
    let source = arguments.source.as_deref().map(|path| take(path, arguments, console)).transpose()?;
    // A calibration belongs to the take: the joints of the results may have other names and another rest pose.
    let of_take = |set: &&String| source.is_some() && set.trim_start().starts_with("input.calibration");
    let sets: Vec<String> = arguments.sets.iter().filter(|set| !of_take(set)).cloned().collect();
    let mut results: Vec<MeasuredClip> = Vec::new();
    let mut failed = false;
    for file in &arguments.results {
        let measured = load(file, &sets).and_then(|asset| {
            if source.is_none() && arguments.results.len() == 1 {
                name_take(&asset, &file.shown(), console);
            }
            of_file(file, asset, source.as_ref(), arguments, console)
        });
        match measured {
            Err(failure) if arguments.results.len() > 1 && failure.exit() == Exit::SomeFailed => {
                console.error(failure);
                failed = true;
            }
            measured => results.extend(measured?),
        }
    }
    let exceeded = exceeded(&results, &fail_on);
    let label = |m: &MeasuredClip| {
        if m.clip.is_empty() { m.file.clone() } else { format!("{}: {}", m.file, one_line(&m.clip)) }
    };
    for fault in &exceeded {
        console.error(format!("{}: {}", fault.file, fault.sentence));
    }
    let labels: Vec<String> = results.iter().map(label).collect();
    let all = labels.iter().zip(&results).flat_map(|(label, m)| {
        m.metrics.iter().map(move |k| (label.as_str(), k.name.as_str(), k.unit, k.value))
    });
    let summary = measure::summaries(all);
    let bad = failed || !exceeded.is_empty();
    if arguments.json {
        let source = arguments.source.as_ref().map(|p| p.display().to_string());
        let passed = exceeded.clone();
        console.json(&MeasureDocument { schema: SCHEMA, source, results, summary, exceeded, passed });
    } else {
        match results.as_slice() {
            [one] => console.data(&single(one, &fails_of(one, &exceeded))),
            many => {
                if console.verbose {
                    many.iter()
                        .for_each(|one| console.data(&(single(one, &fails_of(one, &exceeded)) + "\n")));
                }
                console.data(&batch(&labels, many, &summary));
            }
        }
    }
    Ok(if bad { Exit::SomeFailed } else { Exit::Good })
}

/// The take of `--source`.
fn take(path: &Path, arguments: &MeasureArguments, console: &Console) -> Result<Asset, Failure> {
    let asset = load(path, &arguments.sets)?;
    console.warnings_of(&path.shown(), &asset.warnings);
    if arguments.ground.is_some() {
        console.warning("`--ground` is not used with `--source`");
    }
    let swapped = recorded_take(&asset)
        .and_then(|recorded| arguments.results.iter().find(|result| is_take(&recorded, result)));
    if let Some(take) = swapped {
        let (take, shown) = (take.shown(), path.shown());
        return Err(Failure::Argument(format!(
            "{shown} was made from {take}: the take and the result are swapped\n  hint: posemill measure {shown} --source {take}"
        )));
    }
    Ok(asset)
}

/// Whether a file is the recorded take, by content: folders of a batch have files of the same names.
pub(super) fn is_take(recorded: &Value, file: &Path) -> bool {
    hash_of(file).is_some_and(|f| recorded["blake3"] == f.blake3)
}

/// The take that a file of posemill was made from, as its record has it: `name` and `blake3`.
pub(super) fn recorded_take(asset: &Asset) -> Option<Value> {
    let record = asset.character.document.as_ref().and_then(made_by)?;
    record.pointer("/inputs/0").cloned()
}

/// Names the take that a character's file was made from, if the file does: without it the verdict is another one.
fn name_take(asset: &Asset, shown: &str, console: &Console) {
    let take = recorded_take(asset).filter(|_| !asset.character.meshes.is_empty());
    if let Some(take) = take.as_ref().and_then(|take| take["name"].as_str()) {
        console.warning(format!(
            "{shown} is measured without its take, by limits alone\n  hint: add `--source` with {} for the verdict of the run",
            one_line(take)
        ));
    }
}

/// The clips of one file.
fn of_file(
    file: &Path,
    mut asset: Asset,
    source: Option<&Asset>,
    arguments: &MeasureArguments,
    console: &Console,
) -> Result<Vec<MeasuredClip>, Failure> {
    console.warnings_of(&file.shown(), &asset.warnings);
    let (name, shown) = (file.display().to_string(), file.shown());
    if asset.clips.is_empty() {
        return Err(Failure::NoMotion(shown));
    }
    warn_without_robot(&asset, &shown, console);
    let context = MetricContext::new(&asset.character);
    let takes: Vec<String> = source.map_or_else(Vec::new, |s| take_names(s, arguments.source.as_deref()));
    let chosen: Vec<usize> = match &arguments.clip {
        Some(_) => {
            let wanted = clip(&asset, arguments.clip.as_deref())?;
            (0..asset.clips.len())
                .filter(|k| wanted.is_some_and(|c| std::ptr::eq(c, &asset.clips[*k])))
                .collect()
        }
        None => {
            let named: Vec<usize> =
                (0..asset.clips.len()).filter(|k| takes.contains(&asset.clips[*k].name)).collect();
            if named.is_empty() { (0..asset.clips.len()).collect() } else { named }
        }
    };
    let mut found = Vec::new();
    for k in chosen {
        // Moves the clip out: a long clip is not copied.
        let Some(motion) = asset.take_motion(k) else { continue };
        let take = takes.iter().position(|t| *t == motion.clip.name).unwrap_or(0);
        let take = match source {
            Some(source) => Some(source.motion(take).ok_or_else(|| {
                Failure::Argument(
                    "the source holds no motion\n  hint: list its content with `posemill inspect`".to_owned(),
                )
            })?),
            None => None,
        };
        let forces = forces_of(&motion, arguments, console);
        let mut source_frames = None;
        let (from, made, hints) = match take {
            Some(take) => {
                let source = ReferenceMotion::of(take, &motion)?;
                let guessed = guessed_soles(&source, &motion, &shown, console);
                let (own, theirs) = (motion.clip.frames(), source.frames());
                if own.abs_diff(theirs) > 1 {
                    source_frames = Some(theirs);
                    console.warning(format!(
                        "{shown}: the result has {own} frames, the source {theirs} at its rate: they are compared from their starts"
                    ));
                }
                let made = source.assess(&context, &motion);
                // Trying stages takes as long as the stages do: for one result that somebody looks at.
                let alone = arguments.results.len() == 1 && !arguments.json && !guessed;
                let judge = |motion: &Motion| source.assess(&context, motion);
                let direct = alone.then(|| source.direct_transfer());
                let tried = direct
                    .map(|direct| hints(&motion, Some(&direct), &made, &[], &judge))
                    .unwrap_or_default();
                ("source", made, tried)
            }
            None => ("result", assess_alone(&context, &motion, arguments.ground.unwrap_or(0.0)), Vec::new()),
        };
        found.push(MeasuredClip {
            file: name.clone(),
            clip: motion.clip.name.clone(),
            frames: motion.clip.frames(),
            source_frames,
            sample_rate: motion.clip.sample_rate,
            contacts: from,
            verdict: verdict_of(&made.metrics),
            metrics: made.metrics.into_iter().chain(forces).collect(),
            hints,
        });
    }
    Ok(found)
}

/// Warns of a robot's result in a file that does not hold the robot.
fn warn_without_robot(asset: &Asset, shown: &str, console: &Console) {
    if lacks_its_robot(&asset.character) {
        console.warning(format!(
            "{shown} is a robot's motion in a file without the robot: it is not judged\n  hint: give the robot with `--set \
             input.robot=ROBOT.xml`"
        ));
    }
}

/// Whether the soles of a result on another character than its take are guessed from joints, for want of skin; reports it.
fn guessed_soles(source: &ReferenceMotion, motion: &Motion, shown: &str, console: &Console) -> bool {
    // The soles of a robot are shapes of its file.
    let robot = motion.character.robot.is_some() || lacks_its_robot(&motion.character);
    let guessed = source.has_another_character() && motion.character.meshes.is_empty() && !robot;
    if guessed {
        console.warning(format!(
            "{shown} has no skin: soles are estimated from joints, so heights of feet are uncertain by centimetres\n  hint: \
             measure the result as glTF, VRM, FBX or USD for the verdict of the run"
        ));
    }
    guessed
}

/// The measures of inverse dynamics, if they are asked for and known.
#[cfg(feature = "physics")]
fn forces_of(motion: &Motion, arguments: &MeasureArguments, console: &Console) -> Vec<Metric> {
    let forces = arguments.physics.then(|| ClipForces::of(motion)).flatten();
    if let Some(text) = forces.as_ref().and_then(|forces| forces.doubt.as_ref()) {
        console.warning(format!("{}: {text}", motion.character.name));
    }
    forces.map(|forces| forces.metrics()).unwrap_or_default()
}

/// No inverse dynamics without the feature `physics`.
#[cfg(not(feature = "physics"))]
fn forces_of(_: &Motion, _: &MeasureArguments, _: &Console) -> Vec<Metric> {
    Vec::new()
}

/// The verdict on a clip with these measures, as a member of the document.
fn verdict_of(metrics: &[Metric]) -> Value {
    let readings: Vec<Reading> = metrics.iter().map(Reading::from).collect();
    Verdict::of(&readings).json()
}

/// The names of the clips in outputs of this take.
fn take_names(source: &Asset, path: Option<&Path>) -> Vec<String> {
    let stem = path.and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned();
    let name =
        |clip: &crate::model::Clip| if clip.name.is_empty() { stem.clone() } else { clip.name.clone() };
    source.clips.iter().map(name).collect()
}

/// Every threshold that a clip exceeds, or has no measure for.
fn exceeded(results: &[MeasuredClip], thresholds: &[Threshold]) -> Vec<ExceededThreshold> {
    let of = |result: &MeasuredClip| {
        let (file, clip) = (result.file.clone(), result.clip.clone());
        let metrics = &result.metrics;
        let one = move |threshold: &Threshold| {
            let value = metrics.iter().find(|m| m.name == threshold.name).map(|m| m.value);
            let sentence = threshold.failure_message(value)?;
            let (file, clip, measure) = (file.clone(), clip.clone(), threshold.name.clone());
            Some(ExceededThreshold { threshold: threshold.to_string(), file, clip, value, measure, sentence })
        };
        thresholds.iter().filter_map(one).collect::<Vec<_>>()
    };
    results.iter().flat_map(of).collect()
}

/// The measures of one clip that exceed a threshold.
fn fails_of<'a>(one: &MeasuredClip, exceeded: &'a [ExceededThreshold]) -> Vec<&'a str> {
    let of = |p: &&ExceededThreshold| p.file == one.file && p.clip == one.clip;
    exceeded.iter().filter(of).map(|p| p.measure.as_str()).collect()
}

/// Every measure with its formula, for the long help and the manual.
fn formulas() -> String {
    let mut text = VERDICTS.to_owned()
        + "\n\nMeasures, with lengths and speeds of the figure scaled to 1.75 m (momentum and flight: the figure's own metres). f \
         is the frame, dt the time between two frames, v the horizontal speed of a contact point since the frame before, z its \
         height above its support, H the figure's height, the direct transfer the rotations of --source without any \
         correction, x_direct its positions:\n";
    for measure in MEASURES {
        let bound =
            measure.at_most.map_or(String::new(), |m| format!(" Good: at most {}.", shown(m, measure.unit)));
        text += &format!("  {} [{}]: {}.{bound}\n", measure.name, measure.unit, measure.formula);
    }
    text
}
