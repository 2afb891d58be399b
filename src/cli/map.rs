//! `posemill map`: writes the automatic joint map for review and editing, with the joints that it leaves out.

use super::console::Console;
use super::direct_request::not_an_input;
use super::exit::{Exit, Failure};
use super::load_file::load;
use crate::model::{Asset, Character, JointId};
use crate::pipeline::{is_bare_take, is_skinned, write_whole};
use crate::report::{Shown, rounded};
use crate::retarget::{self, Gap, MapDraft, MapEnd, MapError};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// Print which joint of a take drives which joint of a character, and why
///
/// Roles without a joint, doubtful roles and roles that a joint name contradicts come first, with the best candidates as lines
/// whose `#` is to be removed; pairs for bones that nothing moves follow the other pairs. Sides that are exchanged are swapped with
/// `swap_target_sides = true` or `swap_source_sides = true`. If the map lacks hips or legs, the file is written nevertheless, and
/// the exit code is 1.
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
    /// Write the map to this file, which is replaced; `-` is standard output
    #[arg(long, short, value_name = "MAP.toml")]
    output: Option<PathBuf>,
    /// Override how the files are read, e.g. `input.roles.words.zampa=hand` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Print the pairs and what is missing as one JSON document
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// Prints or writes the map.
pub fn run(arguments: &MapArguments, console: &Console) -> Result<Exit, Failure> {
    if let Some(output) = &arguments.output {
        not_an_input(output, [arguments.motion.as_path(), arguments.character.as_path()].into_iter())?;
    }
    let take = load(&arguments.motion, &arguments.sets)?;
    let onto = load(&arguments.character, &arguments.sets)?;
    if let Some(guess) = guess_swapped(&take, &onto, arguments) {
        console.warning(guess);
    }
    console.warnings_of(&arguments.motion.shown(), &take.warnings);
    console.warnings_of(&arguments.character.shown(), &onto.warnings);
    let (source, target) = (&take.character, &onto.character);
    let draft = retarget::draft(source, target);
    let text = draft.to_toml(source, target);
    match &arguments.output {
        Some(path) if path.as_os_str() != "-" => {
            write_whole(path, text.as_bytes())?;
            console.note(format!("wrote {}", path.shown()));
        }
        None if arguments.json => console.json(&document(&draft, source, target)),
        _ => console.data(&text),
    }
    match &draft.refused {
        Some(refused) => {
            console.error(to_do(refused, &draft, arguments));
            Ok(Exit::SomeFailed)
        }
        None => {
            for gap in &draft.gaps {
                console.warning(with_lines(gap, arguments));
            }
            Ok(Exit::Good)
        }
    }
}

const SCHEMA: &str = "posemill.map/1";

/// Which joint of a take drives which joint of a character, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapDocument<'a> {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The name of the take's character.
    source: &'a str,
    /// The name of the character that is driven.
    target: &'a str,
    /// Whether `retarget` can use the map as it is.
    usable: bool,
    /// Why it cannot; null if it can.
    refused: Option<String>,
    /// The pairs of joints.
    pairs: Vec<ListedPair<'a>>,
    /// Roles that are missing or unsure.
    gaps: Vec<ListedGap<'a>>,
    /// Joints of the take that drive nothing.
    source_only: Vec<&'a str>,
    /// Joints of the character that nothing drives: they keep their rest pose.
    target_only: Vec<&'a str>,
}

/// A joint of the character and the joint of the take that drives it.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedPair<'a> {
    /// The common role, such as `left_foot`; null for joints that are paired by name only.
    role: Option<String>,
    /// The joint of the take.
    source: &'a str,
    /// A second joint of the take that is blended in; null if there is none.
    second_source: Option<SecondSource<'a>>,
    /// The joint of the character.
    target: &'a str,
    /// How sure the pair is, from 0 to 1.
    confidence: f64,
    /// The evidence.
    reason: &'a str,
}

/// A second joint of the take.
#[derive(Debug, Serialize, JsonSchema)]
struct SecondSource<'a> {
    /// The joint.
    joint: &'a str,
    /// Its share of the rotation, from 0 to 1.
    share: f64,
}

/// A role that is missing or unsure on one body.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedGap<'a> {
    /// The role.
    role: String,
    /// The body: `source` or `target`.
    body: String,
    /// What is the matter.
    message: &'a str,
    /// Joints that may play the role, the best first.
    candidates: Vec<&'a str>,
    /// The lines of a map file that settle it; null if there are none.
    fix: Option<&'a str>,
}

/// The document of `--json`.
fn document<'a>(draft: &'a MapDraft, source: &'a Character, target: &'a Character) -> MapDocument<'a> {
    let [of_source, of_target] =
        [source, target].map(|body| move |id: JointId| body.skeleton().joint(id).name.as_str());
    let pairs = draft.map.pairs.iter().map(|pair| ListedPair {
        role: pair.role.map(|role| role.to_string()),
        source: of_source(pair.source),
        second_source: pair.blend.map(|(id, share)| SecondSource { joint: of_source(id), share }),
        target: of_target(pair.target),
        confidence: rounded(pair.confidence),
        reason: &pair.reason,
    });
    let gaps = draft.gaps.iter().map(|gap| {
        let name = |id: &JointId| if gap.end == MapEnd::Source { of_source(*id) } else { of_target(*id) };
        ListedGap {
            role: gap.role.to_string(),
            body: gap.end.to_string(),
            message: &gap.message,
            candidates: gap.candidates.iter().map(name).collect(),
            fix: gap.fix.as_deref(),
        }
    });
    MapDocument {
        schema: SCHEMA,
        source: &source.name,
        target: &target.name,
        usable: draft.refused.is_none(),
        refused: draft.refused.as_ref().map(MapError::sentence),
        pairs: pairs.collect(),
        gaps: gaps.collect(),
        source_only: draft.map.source_only.iter().map(|unmapped| of_source(unmapped.joint)).collect(),
        target_only: draft.map.target_only.iter().map(|unmapped| of_target(unmapped.joint)).collect(),
    }
}

/// What a gap means, and the lines of the map file that settle it.
fn with_lines(gap: &Gap, arguments: &MapArguments) -> String {
    match (&gap.fix, &arguments.output) {
        (None, _) => gap.message.clone(),
        (Some(fix), None) => format!("{}\n  hint: remove the # of this line\n{fix}", gap.message),
        (Some(fix), Some(path)) => {
            format!("{}\n  hint: remove the # of this line of `{}`\n{fix}", gap.message, path.shown())
        }
    }
}

/// Why the map is not sufficient, and what has to be added.
fn to_do(refused: &MapError, draft: &MapDraft, arguments: &MapArguments) -> String {
    if let MapError::NoSkeleton { .. } | MapError::OnlyFace { .. } = refused {
        return refused.to_string();
    }
    let file = match &arguments.output {
        Some(path) => format!("`{}`", path.shown()),
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
    format!("{}\n  hint: {hint}", refused.sentence())
}

fn guess_swapped(take: &Asset, onto: &Asset, arguments: &MapArguments) -> Option<String> {
    let (motion, character) = (arguments.motion.shown(), arguments.character.shown());
    // The take has a skin, and the character's file has motion and no skin.
    (is_skinned(take) && is_bare_take(onto)).then(|| {
        format!(
            "`{motion}` has a skin and `{character}` has none: are take and character swapped?\n  hint: \
             try `posemill map {character} {motion}`"
        )
    })
}
