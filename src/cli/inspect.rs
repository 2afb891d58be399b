//! `posemill inspect`: the content of a file, how it was interpreted, and capture errors of its clips.

use super::console::Console;
use super::direct_request::not_an_input;
use super::exit::{Exit, Failure};
use super::inspect_document::{FileDocument, InspectDocument, Inspected};
use super::inspect_page::{findings_page, page};
use super::load_file::{load_and_name, only};
use crate::batch::find_takes;
use crate::model::{Asset, Clip, Container, Motion};
use crate::pipeline::write_whole;
use crate::render::{PictureFormat, RolePicture};
use crate::repair::{Faults, repair_motion};
use crate::report::{Finding, Shown};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Print the content of a file: skeleton, roles, clips, meshes, warnings, capture errors
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill inspect hero.glb\n  \
    posemill inspect hero.glb -o roles.png\n  \
    posemill inspect 'takes/**/*.bvh'\n  \
    posemill inspect take.bvh --json\n  \
    posemill inspect g1-walk.npz --onto g1.xml")]
pub struct InspectArguments {
    /// Motion files, characters or globs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// One clip of a file that holds several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Print one JSON document: of several files, an array, with an `error` for one whose content cannot be read
    #[arg(long)]
    json: bool,
    /// Draw the skeleton with its roles in colours, front and side, to this `.png` or `.jpg`, which is replaced
    #[arg(long, short, value_name = "PICTURE")]
    output: Option<PathBuf>,
    /// Check a robot's motion: print the layout of the file, and what contradicts this robot (MJCF or URDF)
    #[arg(long, value_name = "ROBOT")]
    onto: Option<PathBuf>,
    /// Override how the file is read, e.g. `input.units=cm` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

/// Prints what each file holds; a file that cannot be read does not hide the others.
pub fn run(arguments: &InspectArguments, console: &Console) -> Result<Exit, Failure> {
    let files = files(&arguments.files, console)?;
    let picture = match (arguments.output.as_deref(), files.as_slice()) {
        (None, _) => None,
        (Some(path), [file]) => Some((path, picture_format(path, file)?)),
        (Some(path), _) => {
            let message = format!(
                "`{}` is a picture of one file, {} are named\n  hint: name one file",
                path.shown(),
                files.len()
            );
            return Err(Failure::Argument(message));
        }
    };
    let mut sets = arguments.sets.clone();
    if let Some(robot) = &arguments.onto {
        sets.push(format!("input.robot={}", toml::Value::String(robot.display().to_string())));
    }
    let unused = |file: &Path, asset: &Asset| {
        if arguments.onto.is_some() && asset.character.robot.is_none() {
            console.warning(format!(
                "{}: `--onto` is not used: the file holds no motion of the robot\n  hint: `posemill retarget` puts a take onto a robot",
                file.shown()
            ));
        }
    };
    if let [file] = files.as_slice() {
        let (mut asset, read_as) = read(file, &sets, arguments)?;
        unused(file, &asset);
        if arguments.json {
            console.json(&InspectDocument::One(document_of(file, &mut asset, read_as)));
        } else {
            console.data(&page_of(file, &mut asset, read_as));
        }
        if let Some((path, format)) = picture {
            draw_roles(&asset, file, path, format)?;
            console.note(format!("wrote {}", path.shown()));
        }
        // The process ends: to free a long take page by page would take longer than to print it.
        std::mem::forget(asset);
        return Ok(Exit::Good);
    }
    let mut exit = Exit::Good;
    let mut documents = Vec::new();
    for file in &files {
        match read(file, &sets, arguments) {
            Ok((mut asset, read_as)) if arguments.json => {
                unused(file, &asset);
                documents.push(Inspected::Read(document_of(file, &mut asset, read_as)));
            }
            Ok((mut asset, read_as)) => {
                unused(file, &asset);
                console.data(&(page_of(file, &mut asset, read_as) + "\n"));
            }
            Err(failure) => {
                if arguments.json {
                    let file = file.display().to_string();
                    documents.push(Inspected::Unread { file, error: failure.to_string() });
                }
                console.error(failure);
                exit = Exit::SomeFailed;
            }
        }
    }
    if arguments.json {
        console.json(&InspectDocument::Several(documents));
    }
    Ok(exit)
}

/// The files that paths and globs name; standard input as it is.
fn files(named: &[String], console: &Console) -> Result<Vec<PathBuf>, Failure> {
    if let [only] = named
        && only == "-"
    {
        return Ok(vec![PathBuf::from("-")]);
    }
    let found = find_takes(Path::new(""), named, None)?;
    found.unseen.iter().for_each(|line| console.warning(line));
    Ok(found.takes.iter().map(|take| take.path).collect())
}

fn read(
    file: &Path,
    sets: &[String],
    arguments: &InspectArguments,
) -> Result<(Asset, &'static str), Failure> {
    let (asset, read_as) = load_and_name(file, sets)?;
    Ok((only(asset, arguments.clip.as_deref())?, read_as))
}

fn page_of(file: &Path, asset: &mut Asset, read_as: &'static str) -> String {
    let text = page(asset, &file.display().to_string(), format(asset, file, read_as));
    let errors = capture_errors(asset);
    text + &findings_page(asset, &errors)
}

fn document_of(file: &Path, asset: &mut Asset, read_as: &'static str) -> Box<FileDocument> {
    let errors = capture_errors(asset);
    Box::new(FileDocument::new(asset, file.display().to_string(), format(asset, file, read_as), errors))
}

fn draw_roles(asset: &Asset, file: &Path, path: &Path, format: PictureFormat) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let drawn = RolePicture::of(&asset.character, &name);
    let bytes = drawn.and_then(|p| if format == PictureFormat::Png { p.to_png() } else { p.to_jpeg() });
    write_whole(path, &bytes.map_err(|e| Failure::Argument(e.to_string()))?)?;
    Ok(())
}

/// The format of the picture of roles, by the extension of its file.
fn picture_format(path: &Path, input: &Path) -> Result<PictureFormat, Failure> {
    not_an_input(path, std::iter::once(input))?;
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    extension.parse().ok().filter(|f| [PictureFormat::Png, PictureFormat::Jpeg].contains(f)).ok_or_else(
        || {
            Failure::Argument(format!(
                "`{}` is no picture of roles\n  hint: end it with `.png` or `.jpg`",
                path.shown()
            ))
        },
    )
}

fn format(asset: &Asset, file: &Path, read_as: &'static str) -> &'static str {
    let document = asset.character.document.as_ref();
    if document.is_some_and(|d| d.fbx.is_some()) {
        return "fbx";
    }
    // Documents of other formats, such as USD, are kept as glTF.
    match document.map(|d| d.container).filter(|_| read_as == "gltf") {
        Some(Container::Glb)
            if file.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("vrma")) =>
        {
            "vrma"
        }
        Some(Container::Glb) => "glb",
        Some(Container::Gltf) => "gltf",
        None => read_as,
    }
}

/// The capture errors of every clip, as the stage `repair` finds them. The clips are repaired in place: a copy of a long one
/// would take more time than reading it.
pub(super) fn capture_errors(asset: &mut Asset) -> Vec<Vec<Finding>> {
    let character = &asset.character;
    let judged = |clip: Clip| {
        let repaired = repair_motion(Motion::new(Arc::clone(character), clip), &Faults::default());
        (repaired.motion.clip, repaired.findings)
    };
    let findings;
    (asset.clips, findings) = std::mem::take(&mut asset.clips).into_iter().map(judged).unzip();
    findings
}
