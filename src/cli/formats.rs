//! `posemill formats`: the formats that are read and written, and what each loses.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::pipeline::OutputFormat;
use crate::{export, import};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde_json::{Value, json};
use std::fmt::Write;

/// List the formats that are read and written, with what each loses
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill formats\n  \
    posemill convert take.bvh -o take.glb    (the extension names the format)\n  \
    posemill convert 'takes/*.bvh' -o out/ --format gltf")]
pub struct FormatsArguments {
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
}

/// Parses the name of a format that can be written.
pub fn written() -> impl TypedValueParser<Value = OutputFormat> {
    let names = export::FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about));
    PossibleValuesParser::new(names)
        .map(|name| OutputFormat::of_extension(&name).expect("one of the names above"))
}

/// Prints the two registries.
///
/// # Errors
/// None; all commands have this signature.
pub fn run(arguments: &FormatsArguments, console: &Console) -> Result<Exit, Failure> {
    if arguments.json {
        console.json(&as_json());
    } else {
        console.data(&as_text());
    }
    Ok(Exit::Good)
}

fn as_json() -> Value {
    let read = |f: &&import::ReadFormat| json!({ "name": f.name, "extensions": f.suffixes, "about": f.about, "loses": f.loses });
    let written = |f: &export::Format| json!({ "name": f.name, "about": f.about, "several_clips": f.several, "loses": f.loses });
    json!({
        "read": import::FORMATS.iter().map(read).collect::<Vec<_>>(),
        "written": export::FORMATS.iter().map(written).collect::<Vec<_>>(),
    })
}

fn as_text() -> String {
    let mut text = String::from("Read, told apart by their content:\n");
    for f in import::FORMATS {
        let suffixes: Vec<String> = f.suffixes.iter().map(|s| format!(".{s}")).collect();
        let _ = writeln!(
            text,
            "  {:<6} {} ({})\n         loses: {}",
            f.name,
            f.about,
            suffixes.join(" "),
            f.loses
        );
    }
    text += "\nWritten, named by the extension of the output, or by `--format` and `[output] formats` in a folder:\n";
    for f in export::FORMATS {
        let _ = writeln!(text, "  {:<6} {}\n         loses: {}", f.name, f.about, f.loses);
    }
    text
}
