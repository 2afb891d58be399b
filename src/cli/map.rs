//! `posemill map`: writes the automatic joint map for review and editing, with the joints that it leaves out.

use super::console::Console;
use super::direct_request::not_an_input;
use super::exit::{Exit, Failure};
use super::load_file::load;
use crate::model::Asset;
use crate::pipeline::{is_bare_take, is_skinned, write_whole};
use crate::retarget::{self, MapDraft, MapError};
use clap::Args;
use std::path::PathBuf;

/// Print which joint of a take drives which joint of a character, and why
///
/// Roles without a joint come first, with the best candidates as lines to be uncommented. If the map is not sufficient for
/// retargeting, the file is written nevertheless, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill map take.bvh hero.glb\n  \
    posemill map take.bvh hero.glb -o map.toml\n  \
    posemill retarget take.bvh --onto hero.glb --map map.toml -o out.glb")]
pub struct MapArguments {
    /// A motion file; `-` is standard input
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
/// A [`Failure`] if a file cannot be read or written.
pub fn run(arguments: &MapArguments, console: &Console) -> Result<Exit, Failure> {
    if let Some(output) = &arguments.output {
        not_an_input(output, [arguments.motion.as_path(), arguments.character.as_path()].into_iter())?;
    }
    let take = load(&arguments.motion, &[])?;
    let onto = load(&arguments.character, &[])?;
    if let Some(guess) = guess_swapped(&take, &onto, arguments) {
        console.warning(guess);
    }
    let (source, target) = (&take.character, &onto.character);
    let draft = retarget::draft(source, target);
    let text = draft.to_toml(source, target);
    match &arguments.output {
        Some(path) => {
            write_whole(path, text.as_bytes())?;
            console.note(format!("wrote {}", path.display()));
        }
        None => console.data(&text),
    }
    match &draft.refused {
        Some(refused) => {
            console.error(to_do(refused, &draft, arguments));
            Ok(Exit::SomeFailed)
        }
        None => {
            for gap in &draft.gaps {
                console.warning(&gap.message);
            }
            Ok(Exit::Good)
        }
    }
}

/// Why the map is not sufficient, and what has to be added.
fn to_do(refused: &MapError, draft: &MapDraft, arguments: &MapArguments) -> String {
    let file = match &arguments.output {
        Some(path) => format!("`{}`", path.display()),
        None => "what was printed".to_owned(),
    };
    let hint = match refused {
        MapError::Missing(wanted) => {
            let lines: String = wanted.iter().map(|w| format!("\n{}", w.line)).collect();
            format!(
                "{file} has these lines and the candidate joints: fill in the right ones, and pass it with `--map`{lines}"
            )
        }
        _ => format!(
            "{file} has {} pairs as comments: uncomment the right ones, and pass it with `--map`",
            draft.map.pairs.len()
        ),
    };
    format!("{}\nhint: {hint}", refused.sentence())
}

fn guess_swapped(take: &Asset, onto: &Asset, arguments: &MapArguments) -> Option<String> {
    let (motion, character) = (arguments.motion.display(), arguments.character.display());
    // The take has a skin, and the character's file has motion and no skin.
    (is_skinned(take) && is_bare_take(onto)).then(|| {
        format!(
            "`{motion}` has a skin and `{character}` has none: are take and character swapped?\n\
             hint: try `posemill map {character} {motion}`"
        )
    })
}
