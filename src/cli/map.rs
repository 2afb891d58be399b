//! `posemill map`: the automatic joint map, to be read, edited and fed back.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::load::load;
use crate::pipeline::write_whole;
use crate::retarget;
use clap::Args;
use std::path::PathBuf;

/// Print which joint of a take drives which joint of a character, and why
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill map take.bvh hero.glb\n  \
    posemill map take.bvh hero.glb -o map.toml\n  \
    posemill retarget take.bvh --onto hero.glb --map map.toml -o out.glb")]
pub struct Arguments {
    /// A motion file
    #[arg(value_name = "MOTION")]
    motion: PathBuf,
    /// The rigged character
    #[arg(value_name = "CHARACTER")]
    character: PathBuf,
    /// Write the map to this file, which is replaced
    #[arg(long, short, value_name = "MAP.toml")]
    output: Option<PathBuf>,
}

/// Prints or writes the map.
///
/// # Errors
/// A [`Failure`] where a file cannot be read or written.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Exit, Failure> {
    let source = load(&arguments.motion, &[])?;
    let target = load(&arguments.character, &[])?;
    let (source, target) = (&source.character, &target.character);
    let text = retarget::map(source, target)?.to_toml(source, target);
    match &arguments.output {
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            console.note(format!("wrote {}", path.display()));
        }
        None => console.data(&text),
    }
    Ok(Exit::Good)
}
