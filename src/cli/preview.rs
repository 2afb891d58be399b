//! `posemill preview`: pictures of motions, side by side and synchronised.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::load_file::{clip, load};
use crate::model::{Asset, Clip, Motion};
use crate::pipeline::write_whole;
use crate::render::{PictureFormat, PreviewOptions, Size, Subject, View, preview};
use crate::report::{Shown, Warnings};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Draw a contact sheet or an animation; several files side by side, synchronised
///
/// Skinned characters are drawn with their textures, bare skeletons as a figure: its left is blue, its right orange. A
/// file without a clip shows its rest pose. The points of an array and the markers of a laboratory are dots on the figure that was
/// fitted to them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill preview take.bvh -o take.png\n  \
    posemill preview take.bvh hero.glb -o both.gif --camera side\n  \
    posemill preview hero.glb --clip Run -o run.apng --size 640x360 --fps 30")]
pub struct PreviewArguments {
    /// Motion files or characters; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture: `.png` or `.jpg` for a contact sheet, `.gif` or `.apng` for an animation
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,
    /// The camera: front, side, three-quarter, top (fixed) or follow
    #[arg(long, value_name = "VIEW", default_value = "follow")]
    camera: View,
    /// Size in pixels of one pose of a sheet, or of each file in an animation, e.g. `480` or `640x360`
    /// [default: 240x320 for a sheet, 480 for an animation]
    #[arg(long, value_name = "SIZE")]
    size: Option<Size>,
    /// Frames per second of an animation, up to 50
    #[arg(long, value_name = "N", default_value_t = 25.0)]
    fps: f64,
    /// Number of poses or frames [default: 12 poses, or duration times frame rate]
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// The clip, by name or number from 0 [default: the first that posemill added, else the first]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Draw lines between the joints as well
    #[arg(long)]
    skeleton: bool,
    /// Leave out names, times, the path on the ground and the dots of points
    #[arg(long)]
    plain: bool,
    /// Override how files are read, e.g. `input.units=cm` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Print what was drawn, with the warnings of reading, as one JSON document
    #[arg(long)]
    json: bool,
}

const SCHEMA: &str = "posemill.preview/1";

/// What was drawn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The picture that was written.
    output: String,
    /// The motions, from left to right.
    files: Vec<DrawnFile>,
}

/// One motion of the picture.
#[derive(Debug, Serialize, JsonSchema)]
struct DrawnFile {
    /// The file.
    file: String,
    /// The name of the clip; of a file without clips, that of its rest pose.
    clip: String,
    /// Number of frames.
    frames: usize,
    /// Frames per second.
    rate_hz: f64,
    /// Warnings of reading the file, in order of first occurrence.
    warnings: Warnings,
}

/// Draws the preview.
pub fn run(arguments: &PreviewArguments, console: &Console) -> Result<Exit, Failure> {
    let extension = arguments.output.extension().unwrap_or_default().to_string_lossy();
    let format: PictureFormat = extension.parse().map_err(|_| {
        let out = arguments.output.shown();
        Failure::Argument(format!(
            "`{out}` is no preview\n  hint: end it with `.png`, `.jpg`, `.gif` or `.apng`"
        ))
    })?;
    let (mut motions, mut files) = (Vec::new(), Vec::new());
    for file in &arguments.files {
        let asset = load(file, &arguments.sets)?;
        console.warnings_of(&file.shown(), &asset.warnings);
        let observed = asset.observed.clone().filter(|_| !arguments.plain);
        let motion = motion(&asset, arguments.clip.as_deref())?;
        files.push(DrawnFile {
            file: file.shown(),
            clip: motion.clip.name.clone(),
            frames: motion.clip.frames(),
            rate_hz: motion.clip.sample_rate,
            warnings: asset.warnings,
        });
        motions.push((label(file), motion, observed));
    }
    let subjects: Vec<Subject> = motions
        .iter()
        .map(|(label, motion, observed)| Subject {
            motion,
            label: label.clone(),
            marks: Vec::new(),
            observed: observed.as_ref(),
        })
        .collect();
    let options = PreviewOptions {
        size: arguments.size,
        view: arguments.camera,
        fps: arguments.fps,
        frames: arguments.frames,
        skeleton: arguments.skeleton,
        path: !arguments.plain,
        labels: !arguments.plain,
    };
    let bar = console.progress(0, "{wide_bar} {pos}/{len} pictures, {eta} left");
    let done = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let drawn = preview(&subjects, &options, format, &done);
    bar.finish_and_clear();
    write_whole(&arguments.output, &drawn.map_err(|e| Failure::Argument(e.to_string()))?)?;
    if arguments.json {
        let output = arguments.output.shown();
        console.json(&PreviewDocument { schema: SCHEMA, output, files });
    }
    console.note(format!("wrote {}", arguments.output.shown()));
    Ok(Exit::Good)
}

fn label(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The wanted clip of an asset as a motion; its rest pose if it has none.
fn motion(asset: &Asset, wanted: Option<&str>) -> Result<Motion, Failure> {
    let character = Arc::clone(&asset.character);
    let clip = match clip(asset, wanted)? {
        Some(clip) => clip.clone(),
        None => {
            let skeleton = character.skeleton();
            Clip::from_poses("rest", 1.0, skeleton, &[skeleton.rest_pose()])
        }
    };
    Ok(Motion::new(character, clip))
}
