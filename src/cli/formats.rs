//! `posemill formats`: the formats that are read and written, and what each loses.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::model::{ROBOT_LAYOUTS, RobotLayout};
use crate::pipeline::OutputFormat;
use crate::{export, import};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::Serialize;
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

/// A format that can be written, or a layout of robots in one.
#[derive(Clone, Copy, Debug)]
pub struct FormatName {
    /// The format.
    pub format: OutputFormat,
    layout: Option<&'static str>,
}

impl FormatName {
    /// The override of the pipeline that chooses the layout.
    pub fn set(self) -> Option<String> {
        self.layout.map(|name| format!("output.robot.layout=\"{name}\""))
    }
}

/// Parses the name of a format that can be written, or of a layout of robots.
pub fn written() -> impl TypedValueParser<Value = FormatName> {
    let formats = export::FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.about));
    let layouts = ROBOT_LAYOUTS.iter().map(|l| PossibleValue::new(l.name).help(l.about));
    PossibleValuesParser::new(formats.chain(layouts)).map(|name| {
        let layout = RobotLayout::of(&name);
        let extension = layout.map_or(name.as_str(), |layout| layout.extension);
        let format = export::Format::of(extension).expect("one of the names above");
        FormatName { format: OutputFormat(format), layout: layout.map(|layout| layout.name) }
    })
}

/// Prints the two registries.
///
/// # Errors
/// None; all commands have this signature.
pub fn run(arguments: &FormatsArguments, console: &Console) -> Result<Exit, Failure> {
    if arguments.json {
        console.json(&document());
    } else {
        console.data(&as_text());
    }
    Ok(Exit::Good)
}

const SCHEMA: &str = "posemill.formats/1";

/// The formats that are read and written.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FormatsDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The formats that are read.
    read: Vec<FormatRead>,
    /// The formats that are written.
    written: Vec<FormatWritten>,
}

/// A format that is read.
#[derive(Debug, Serialize, JsonSchema)]
struct FormatRead {
    /// The name, as in `format` of other documents.
    name: &'static str,
    /// The extensions of its files, lower case, without a dot. The content decides first.
    extensions: &'static [&'static str],
    /// Its content in a sentence.
    about: &'static str,
    /// What is not read.
    loses: &'static str,
}

/// A format that is written.
#[derive(Debug, Serialize, JsonSchema)]
struct FormatWritten {
    /// The name, which is the extension of its files too.
    name: &'static str,
    /// Its content in a sentence.
    about: &'static str,
    /// Whether one file holds several clips; else each clip has a file of its own.
    several_clips: bool,
    /// What is not written.
    loses: &'static str,
}

fn document() -> FormatsDocument {
    let read = |f: &&import::ReadFormat| FormatRead {
        name: f.name,
        extensions: f.suffixes,
        about: f.about,
        loses: f.loses,
    };
    let written = |f: &export::Format| FormatWritten {
        name: f.name,
        about: f.about,
        several_clips: f.several,
        loses: f.loses,
    };
    FormatsDocument {
        schema: SCHEMA,
        read: import::FORMATS.iter().map(read).collect(),
        written: export::FORMATS.iter().map(written).collect(),
    }
}

fn as_text() -> String {
    let mut text = String::from("Read (detected by content):\n");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_named_by_its_extension_or_by_a_layout_of_robots() {
        let argument = clap::Arg::new("format").value_parser(written());
        let command = clap::Command::new("x").arg(argument);
        let parsed = |name: &str| {
            let matches = command.clone().try_get_matches_from(["x", name]).ok()?;
            let found: FormatName = *matches.get_one("format")?;
            Some((found.format.extension(), found.set()))
        };
        assert_eq!(parsed("bvh"), Some(("bvh", None)));
        assert_eq!(parsed("seed_csv"), Some(("csv", Some("output.robot.layout=\"seed_csv\"".to_owned()))));
        assert_eq!(parsed("sead_csv"), None);
    }
}
