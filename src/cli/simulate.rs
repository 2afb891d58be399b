//! `posemill simulate`: simulates a scene of rigid bodies and writes an animation and a table.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::load_file::{clip, load};
use crate::batch::{Manifest, OutputRecord, OutputState};
use crate::dynamics::{Recording, SCENE_KEYS, Scene, SceneError, SceneFault, Simulation};
use crate::export::{self, Format};
use crate::model::Motion;
use crate::pipeline::{
    ConfigError, ConfigFault, ConfigSource, FileHash, PlanError, TakeFile, hash_of, write_whole,
};
use crate::regular_file::read_text;
use crate::report::{Metric, Shown, Warning, one_line, printable, split_hint};
use crate::simulation_view;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "Examples:\n  \
    posemill simulate pipelines/hand_grasp.toml -o hand.glb\n  \
    posemill simulate pipelines/chain.toml -o chain.csv --fps 240\n  \
    posemill simulate pipelines/three_bodies.toml -o three.csv --integrator variational\n  \
    posemill simulate pipelines/ragdoll_drop.toml -o out/ --json\n\n\
    `posemill simulate --help` lists every key of a scene.";

/// Simulate a scene of rigid bodies: chains, ragdolls, a grasping hand
///
/// OUT is a `.glb` or `.gltf` with every body visible, next to which a `.csv` of energies, momenta, constraint error and
/// contacts is written; or a `.csv` alone; or a folder, if it ends with `/` or exists as one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(after_long_help = keys())]
pub struct SimulateArguments {
    /// The scene
    #[arg(value_name = "SCENE.toml")]
    scene: PathBuf,
    /// A file, which is replaced, or a folder
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// Use this integrator instead of that of the scene: `world` (contacts, motors), `rk4`, `variational`, `note` (the
    /// dense system and the step of Hakenberg's note), `blocks` (Runge-Kutta on block elimination)
    #[arg(long, value_name = "NAME", value_parser = ["world", "rk4", "variational", "note", "blocks"])]
    integrator: Option<String>,
    /// Frames per second of animation and table instead of the scene's `output_rate`
    #[arg(long, value_name = "N")]
    fps: Option<f64>,
    /// In a folder: make the outputs again, and replace files that posemill did not write
    #[arg(long, short)]
    force: bool,
    /// Print one JSON document with the report
    #[arg(long)]
    json: bool,
}

/// The examples, and every key of a scene.
fn keys() -> String {
    let mut text = EXAMPLES.split("\n\n").next().unwrap_or_default().to_owned();
    text.push_str("\n\nA scene is a TOML file, in metres, kilograms, seconds and radians. Its keys:\n");
    for (section, keys) in SCENE_KEYS {
        let _ = write!(text, "{}{section}", if section.is_empty() { "" } else { "\n" });
        let _ = writeln!(text);
        for (key, meaning) in keys {
            let _ = writeln!(text, "  {key:16}  {meaning}");
        }
    }
    text
}

/// The files to be written.
struct Outputs {
    /// The animation, with its format.
    animation: Option<(PathBuf, Format)>,
    table: PathBuf,
    /// The folder, if OUT is one.
    folder: Option<PathBuf>,
}

/// Simulates the scene.
pub fn run(arguments: &SimulateArguments, console: &Console) -> Result<Exit, Failure> {
    let path = &arguments.scene;
    let name = path.shown();
    let outputs = outputs(arguments)?;
    let text = read_text(path).map_err(|e| PlanError::unread(&name, path, &e))?;
    let integrator = arguments.integrator.as_deref();
    let mut scene =
        Scene::parse_with(&text, integrator).map_err(|e| Failure::Scene(scene_error(&name, &text, &e)))?;
    if let Some(fps) = arguments.fps {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Failure::Argument(format!("a frame rate of {fps} Hz: allowed is above 0")));
        }
        scene.output_rate = fps;
    }
    if scene.name.is_empty() {
        scene.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let motions = follow_clips(&mut scene, path)?;
    let by = integrator.map_or(String::new(), |name| format!(" {name}"));
    let made_with = format!("simulate {} {}{by}{motions}", env!("CARGO_PKG_VERSION"), scene.output_rate);
    let manifest = outputs.folder.as_deref().map(Manifest::open).transpose()?;
    if let Some(manifest) = manifest.as_ref().filter(|_| !arguments.force)
        && let Some(report) = fresh(manifest, &outputs, &made_with, path)?
    {
        print_report(&name, &outputs, "up_to_date", &report, arguments.json, console);
        return Ok(Exit::Good);
    }
    let recording = recorded(&scene, &name, console)?;
    let report = serde_json::to_value(recording.report()).expect("a report is plain data");
    let mut files: Vec<(&Path, Vec<u8>)> = Vec::new();
    if let Some((path, format)) = &outputs.animation {
        files.push((path, animation(&recording, *format)?));
    }
    files.push((&outputs.table, recording.to_csv().into_bytes()));
    let hash = |(path, bytes): &(&Path, Vec<u8>)| FileHash {
        path: path.to_string_lossy().into_owned(),
        blake3: blake3::hash(bytes).to_hex().to_string(),
    };
    let hashes: Vec<FileHash> = files.iter().map(hash).collect();
    if let Some(manifest) = &manifest {
        manifest.intend(files[0].0, &hashes)?;
    }
    for (path, bytes) in &files {
        write_whole(path, bytes)?;
    }
    if let Some(manifest) = &manifest {
        let source =
            hash_of(path).map(|read| FileHash { path: take_of(path).relative.display().to_string(), ..read });
        manifest.add(
            OutputRecord {
                files: hashes,
                planned: String::new(),
                pipeline: made_with,
                pipeline_file: String::new(),
                sources: source.into_iter().collect(),
                origin: None,
                report: report.clone(),
            },
            None,
        )?;
        manifest.finish()?;
    }
    print_report(&name, &outputs, "written", &report, arguments.json, console);
    Ok(Exit::Good)
}

/// The files that OUT stands for.
fn outputs(arguments: &SimulateArguments) -> Result<Outputs, Failure> {
    let out = &arguments.output;
    let folder =
        out.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]) || out.is_dir();
    if folder {
        let stem = out.join(arguments.scene.file_stem().unwrap_or_default());
        let file = |extension: &str| PathBuf::from(format!("{}.{extension}", stem.display()));
        let animation = Some((file("glb"), Format::GLB));
        return Ok(Outputs { animation, table: file("csv"), folder: Some(out.clone()) });
    }
    let extension = out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let animation = match extension.as_str() {
        "glb" => Some((out.clone(), Format::GLB)),
        "gltf" => Some((out.clone(), Format::GLTF)),
        "csv" => None,
        _ => {
            let message = format!(
                "`{}` is no animation\n  hint: end it with `.glb`, `.gltf`, `.csv` or `/`",
                out.shown()
            );
            return Err(Failure::Argument(message));
        }
    };
    let table = if animation.is_some() { out.with_extension("csv") } else { out.clone() };
    Ok(Outputs { animation, table, folder: None })
}

/// The scene as the input of its outputs.
fn take_of(scene: &Path) -> TakeFile {
    TakeFile { path: scene.to_owned(), relative: scene.file_name().unwrap_or_default().into() }
}

/// The report of outputs that are up to date; an error for a file that this program did not write.
fn fresh(
    manifest: &Manifest,
    outputs: &Outputs,
    made_with: &str,
    scene: &Path,
) -> Result<Option<Value>, Failure> {
    let animation = outputs.animation.as_ref().map(|a| &a.0);
    let main = animation.unwrap_or(&outputs.table);
    let foreign =
        |path: &Path| Failure::Argument(crate::pipeline::RunError::Foreign(path.to_owned()).to_string());
    match manifest.state(main, made_with, &take_of(scene)) {
        OutputState::UpToDate(report, _) => return Ok(Some(report)),
        OutputState::Foreign(path) => return Err(foreign(&path)),
        OutputState::Stale => {}
    }
    match [main, &outputs.table].into_iter().find(|p| !manifest.may_replace(p)) {
        Some(path) => Err(foreign(path)),
        None => Ok(None),
    }
}

/// Reads the clips that bodies follow, relative to the scene. Returns their hashes, as text.
fn follow_clips(scene: &mut Scene, path: &Path) -> Result<String, Failure> {
    let mut hashes = String::new();
    for target in &mut scene.targets {
        let file = path.parent().unwrap_or(Path::new("")).join(&target.motion);
        let asset = load(&file, &[])?;
        let rig = &asset.character.rig;
        let by_role = || rig.joint(target.joint.parse().ok()?);
        let Some(joint) = rig.skeleton().find(&target.joint).or_else(by_role) else {
            let message = format!(
                "`{}` has no joint `{}`\n  hint: `posemill joints {}` lists them",
                file.shown(),
                one_line(&target.joint),
                file.shown()
            );
            return Err(Failure::Argument(message));
        };
        let Some(clip) = clip(&asset, target.clip.as_deref())? else {
            return Err(Failure::Argument(format!("`{}` has no clip to follow", file.shown())));
        };
        let motion = Motion::new(asset.character.clone(), clip.clone());
        let track = (0..clip.frames()).map(|frame| *motion.model_pose(frame).joint(joint)).collect();
        target.set_track(track, clip.sample_rate);
        let hash = hash_of(&file).map(|h| h.blake3).unwrap_or_default();
        let _ = write!(hashes, " {hash}");
    }
    Ok(hashes)
}

fn recorded(scene: &Scene, name: &str, console: &Console) -> Result<Recording, Failure> {
    let mut simulation = Simulation::new(scene);
    let bar = console.progress(simulation.progress().1, "{wide_bar} {pos}/{len} steps, {eta} left");
    let outcome = loop {
        match simulation.advance() {
            Ok(true) => bar.set_position(simulation.progress().0 as u64),
            Ok(false) => break Ok(()),
            Err(error) => break Err(Failure::Simulation { scene: name.to_owned(), error }),
        }
    };
    bar.finish_and_clear();
    outcome.map(|()| simulation.finish())
}

/// The bytes of the animation, one self-contained file.
fn animation(recording: &Recording, format: Format) -> Result<Vec<u8>, Failure> {
    let motion = simulation_view::motion(recording).map_err(|e| Failure::Argument(e.to_string()))?;
    let options = export::ExportOptions::default();
    let (mut files, _) =
        export::save(&[motion], format, &options).map_err(|e| Failure::Argument(e.to_string()))?;
    Ok(files.swap_remove(0).bytes)
}

/// A fault with its line of the scene file.
pub(super) fn scene_error(name: &str, text: &str, error: &SceneError) -> ConfigError {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|m| m.0 + 1));
    let start = starts.take(error.line).last().unwrap_or(0);
    let line = text[start..].lines().next().unwrap_or_default();
    let indent = line.len() - line.trim_start().len();
    let message = error.fault.to_string();
    let pipeline =
        ["input", "output", "stage"].iter().any(|s| message.starts_with(&format!("unknown field `{s}`")));
    // Names of a scene are free text: they may contain line breaks.
    let escaped = |text: &str| match error.fault {
        SceneFault::Syntax(_) => printable(text),
        _ => one_line(text),
    };
    let (message, hint) = match split_hint(&message) {
        _ if pipeline => (message.clone(), Some("this is a pipeline: use `posemill run`".to_owned())),
        (message, hint) => (escaped(message), hint.map(escaped)),
    };
    let fault = ConfigFault::at(0, start + indent..start + line.trim_end().len(), message).hint(hint);
    ConfigError {
        sources: vec![ConfigSource { name: name.to_owned(), text: text.to_owned() }],
        faults: vec![fault],
    }
}

const SCHEMA: &str = "posemill.simulate/1";

/// The report of a simulation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimulateDocument<'a> {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The scene file.
    scene: &'a str,
    /// Whether outputs were written, or existed and were up to date.
    #[schemars(extend("enum" = ["written", "up_to_date"]))]
    status: &'a str,
    /// The animation, if one was asked for, and the table.
    outputs: Vec<&'a Path>,
    /// Warnings, in order of first occurrence.
    #[schemars(with = "Vec<Warning>")]
    warnings: &'a Value,
    /// Measurements: energies, momenta, errors of constraints, contacts.
    #[schemars(with = "Vec<Metric>")]
    metrics: &'a Value,
}

/// The report: a document on stdout, or a table for people on stderr.
fn print_report(
    scene: &str,
    outputs: &Outputs,
    status: &str,
    report: &Value,
    as_json: bool,
    console: &Console,
) {
    let files: Vec<&Path> =
        outputs.animation.iter().map(|a| a.0.as_path()).chain([outputs.table.as_path()]).collect();
    if as_json {
        let (warnings, metrics) = (&report["warnings"], &report["metrics"]);
        console.json(&SimulateDocument { schema: SCHEMA, scene, status, outputs: files, warnings, metrics });
        return;
    }
    for warning in report["warnings"].as_array().into_iter().flatten() {
        let text = |key: &str| warning[key].as_str().unwrap_or_default().to_owned();
        let (message, first) = (text("message"), text("first"));
        let place = if first.is_empty() { String::new() } else { format!(", first at {first}") };
        let times =
            warning["count"].as_u64().filter(|n| *n > 1).map_or(String::new(), |n| format!(" ({n} times)"));
        console.warning(format!("{message}{times}{place}"));
    }
    let mut text = String::new();
    let metrics = report["metrics"].as_array().map_or(&[][..], Vec::as_slice);
    let name = |m: &Value| one_line(m["name"].as_str().unwrap_or_default());
    let width = metrics.iter().map(|m| name(m).chars().count()).max().unwrap_or(0);
    for metric in metrics {
        let value = metric["value"].as_f64().unwrap_or_default();
        let _ = writeln!(
            text,
            "{:width$}  {:>10} {}",
            name(metric),
            figure(value),
            metric["unit"].as_str().unwrap_or_default()
        );
    }
    let files: Vec<String> = files.iter().map(|f| f.shown()).collect();
    let word = if status == "written" { "wrote" } else { "up to date:" };
    console.note(format!("{text}{word} {}", files.join(" and ")));
}

/// A number with five significant decimals.
fn figure(x: f64) -> String {
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.5}") } else { format!("{x:.3e}") }
}
