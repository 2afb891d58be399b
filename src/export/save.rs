//! Entry point of export: writes motions to the files of a format.

use super::export_options::ExportOptions;
use super::gltf::DROPPED;
use crate::gltf_document::{Chunks, GltfError, Json};
use crate::model::{AnimatedProperty, Document, Mesh, Motion, NoRobotMotion, PropertyTrack};
use crate::report::{Warnings, counted, one_line};
use std::fmt;

/// One file to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFile {
    /// The name, relative to the folder of the main file, which is the first in a list.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The files of some motions, the main file first, and warnings about losses.
pub type Written = (Vec<OutputFile>, Warnings);

/// A format that can be written.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name, which is also the file extension.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Short list of what a file does not store of a motion and its character.
    pub loses: &'static str,
    /// Whether a new file has morph targets and their weights.
    pub morphs: bool,
    /// Whether a file can hold several clips.
    pub several: bool,
    /// Writes motions that share one character: at least one, and only one if a file cannot hold several.
    pub write: fn(&[Motion], &ExportOptions) -> Result<Written, ExportError>,
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Why motions cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// No motion was given.
    #[error("there is no motion to write")]
    Empty,
    /// Several clips for a format with one clip per file.
    #[error(
        "a file of the format {format} holds one clip, but {} were given\n  hint: name a folder to get a file for each, select one with `--clip NAME` (here {}), or write GLB",
        clips.len(),
        clips.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
    )]
    OneClip {
        /// The format.
        format: &'static str,
        /// Their names.
        clips: Vec<String>,
    },
    /// The character is not a VRM.
    #[error(
        "only a VRM character can be written as `.vrm`\n  hint: write `.vrma`, an animation that any VRM plays, or `.glb`"
    )]
    NotVrm,
    /// The character lacks bones that a VRM animation requires.
    #[error(
        "a VRM animation needs human bones that were not found: {missing}\n  hint: see the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`"
    )]
    HumanBones {
        /// Their names.
        missing: String,
    },
    /// A format for robots only.
    #[error(
        "{format} files hold motions of robots, and the character is none\n  hint: use a robot model (MJCF or URDF), or write `.npz`"
    )]
    NoRobot {
        /// The format.
        format: &'static str,
    },
    /// A layout of robots for a character that is none.
    #[error(
        "the layout `{layout}` holds motions of robots, and the character `{character}` is none\n  hint: \
         use a robot model (MJCF or URDF), or leave the layout out for arrays of joints"
    )]
    LayoutWithoutRobot {
        /// The layout.
        layout: String,
        /// The character.
        character: String,
    },
    /// A layout that the format does not have.
    #[error(
        "`{layout}` is no layout of {format} files for robots: {known}\n  hint: set `output.robot.layout`"
    )]
    RobotLayout {
        /// Its name.
        layout: String,
        /// The format.
        format: &'static str,
        /// The layouts of the format.
        known: String,
    },
    /// A default pose that is not one of the robot.
    #[error(
        "`output.robot.default_pose` has {given} values, the robot `{robot}` has {hinges} hinges\n  hint: give a value for each hinge, in the order of `posemill inspect`"
    )]
    RobotPose {
        /// The robot.
        robot: String,
        /// The number of values.
        given: usize,
        /// The number of hinges.
        hinges: usize,
    },
    /// A default pose beyond the range of a hinge.
    #[error(
        "`output.robot.default_pose` has {value} for the hinge `{hinge}`, whose range is {low:.3} to {high:.3}\n  hint: give radians, in the order of `posemill inspect`"
    )]
    RobotPoseRange {
        /// The hinge.
        hinge: String,
        /// Its value, radians or metres.
        value: f64,
        /// The low end of its range.
        low: f64,
        /// The high end of its range.
        high: f64,
    },
    /// A layout of points that does not exist.
    #[error("there is no layout `{layout}` of points\n  hint: set `output.points.layout` to one of {known}")]
    PointLayout {
        /// Its name.
        layout: String,
        /// The layouts that there are.
        known: String,
    },
    /// The character lacks joints whose positions a layout has.
    #[error(
        "positions of points need joints that were not found: {missing}\n  hint: see the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`"
    )]
    PointRoles {
        /// Their names.
        missing: String,
    },
    /// A clip of one frame, whose features have no rows.
    #[error(
        "the layout {layout} needs two frames at least\n  hint: write the layout humanml3d, or a longer clip"
    )]
    FewFrames {
        /// The layout.
        layout: &'static str,
    },
    /// The motion is none of the robot.
    #[error(transparent)]
    Robot(NoRobotMotion),
    /// The content exceeds the limits of an archive.
    #[error("the files cannot be packed into one: {reason}\n  hint: trim the clip, or write another format")]
    Archive {
        /// Which limit.
        reason: String,
    },
    /// The clips cannot be added to the character's document.
    #[error(transparent)]
    Gltf(#[from] GltfError),
    /// The skeleton is nested too deeply for USD.
    #[error("the USD file cannot be written: {reason}\n  hint: write GLB")]
    Usd {
        /// Which limit.
        reason: String,
    },
    /// The file would exceed the size limit of its format.
    #[error("the FBX file cannot be written: {reason}\n  hint: write fewer clips into one file, or GLB")]
    Fbx {
        /// Which limit.
        reason: String,
    },
}

/// Writes motions that share one character.
///
/// # Errors
/// An [`ExportError`].
pub fn save(motions: &[Motion], format: Format, options: &ExportOptions) -> Result<Written, ExportError> {
    if motions.is_empty() {
        return Err(ExportError::Empty);
    }
    if motions.len() > 1 && !format.several {
        let clips = motions.iter().map(|m| one_line(&m.clip.name)).collect();
        return Err(ExportError::OneClip { format: format.name, clips });
    }
    let (files, mut warnings) = (format.write)(motions, options)?;
    let first = files.first().map(|file| &file.bytes);
    let own = |m: &Motion| {
        m.character.document.as_ref().and_then(|d| d.fbx.as_deref()).is_some_and(|own| first == Some(own))
    };
    let unchanged = format.name == "fbx" && options.clips_inside && motions.iter().all(own);
    let preserved = unchanged || [Format::GLB, Format::GLTF, Format::VRM].contains(&format);
    if format.morphs && !preserved && !options.clips_inside && !options.replace_animations {
        warn_of_own_clips(motions, format, &mut warnings);
    }
    let dropped = |m: &Motion| -> Vec<String> {
        m.clip.property_tracks.iter().filter(|t| !keeps(format, m, t)).map(|t| t.node.clone()).collect()
    };
    for node in motions.iter().filter(|_| !preserved).flat_map(dropped) {
        let what = match format.morphs {
            true => "animation of nodes that are not joints is",
            false => "morph weights and animation of nodes that are not joints are",
        };
        warnings.add(DROPPED, format!("{what} not written to {}", format.name), format!("the node {node}"));
    }
    Ok((files, warnings))
}

/// Warns of the clips of a character's own file, which a new file of another format does not get.
fn warn_of_own_clips(motions: &[Motion], format: Format, warnings: &mut Warnings) {
    let character = &motions[0].character;
    let added_to = |d: &&Document| format.name != "fbx" || d.fbx.is_none();
    let Some(own) = character.document.as_ref().filter(added_to).and_then(clip_names) else { return };
    // Clips that are written are of this file.
    if own.is_empty() || motions.iter().any(|m| own.contains(&m.clip.name)) {
        return;
    }
    let (own, name) = (counted(own.len(), "own clip"), format.name);
    let message = format!("{own} of the character are not written to {name}: glTF keeps them");
    warnings.add("own-clips-dropped", message, one_line(&character.name));
}

/// The names of the animations of a file.
fn clip_names(document: &Document) -> Option<Vec<String>> {
    let chunks = Chunks::open(&document.bytes).ok()?;
    let animations = Json::parse(chunks.json, chunks.json_offset).ok()?.value("animations")?;
    Some(animations.as_array()?.iter().filter_map(|a| Some(a.get("name")?.as_str()?.to_owned())).collect())
}

/// One file for each motion, with the content that `bytes` makes of it.
pub(super) fn one_each(
    extension: &str,
    motions: &[Motion],
    options: &ExportOptions,
    mut bytes: impl FnMut(&Motion, &mut Warnings) -> Result<Vec<u8>, ExportError>,
) -> Result<Written, ExportError> {
    let mut warnings = Warnings::new();
    let file =
        |motion| Ok(OutputFile { name: options.file(extension), bytes: bytes(motion, &mut warnings)? });
    let files = motions.iter().map(file).collect::<Result<_, ExportError>>()?;
    Ok((files, warnings))
}

/// Whether a new file has a property track.
fn keeps(format: Format, motion: &Motion, track: &PropertyTrack) -> bool {
    let has_targets = |m: &Mesh| m.node == track.node && !m.morphs.is_empty();
    format.morphs
        && track.property == AnimatedProperty::Weights
        && motion.character.meshes.iter().any(has_targets)
}
