//! `posemill stages`: the stages as help, as a reference pipeline, as a JSON Schema.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::pipeline::{reference, schema, stage_help, stage_list};
use crate::report::nearest;
use crate::stages::written_keys::listed;
use crate::stages::{STAGES, StageEntry};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// List the stages of pipelines, or explain one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill stages resample\n  \
    posemill stages --reference > pipeline.toml\n  \
    posemill stages --schema > pipeline.schema.json")]
pub struct StagesArguments {
    /// The stage to explain
    #[arg(value_name = "NAME", conflicts_with_all = ["reference", "schema"])]
    name: Option<String>,
    /// Print a complete pipeline with every key at its default
    #[arg(long, conflicts_with = "schema")]
    reference: bool,
    /// Print the JSON Schema of pipeline files
    #[arg(long)]
    schema: bool,
    /// Print the stages with their keys and defaults as one JSON document
    #[arg(long, conflicts_with_all = ["reference", "schema"])]
    json: bool,
}

/// Prints what is asked for.
pub fn run(arguments: &StagesArguments, console: &Console) -> Result<Exit, Failure> {
    match &arguments.name {
        _ if arguments.reference => console.data(&reference(STAGES)),
        _ if arguments.schema => console.json(&schema(STAGES)),
        None if arguments.json => console.json(&document(STAGES)),
        None => console.data(&stage_list(STAGES)),
        Some(name) => match STAGES.iter().find(|e| e.name == name) {
            Some(entry) if arguments.json => console.json(&document(std::slice::from_ref(entry))),
            Some(entry) => console.data(&stage_help(entry)),
            None => {
                let names = || STAGES.iter().map(|e| e.name);
                let hint = match nearest(name, names()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("stages are {}", listed(names())),
                };
                return Err(Failure::Argument(format!("there is no stage `{name}`\n  hint: {hint}")));
            }
        },
    }
    Ok(Exit::Good)
}

const SCHEMA: &str = "posemill.stages/1";

/// The stages of pipelines, with their keys and defaults.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StagesDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The stages, in the order in which pipelines commonly use them.
    stages: Vec<DescribedStage>,
}

/// A stage.
#[derive(Debug, Serialize, JsonSchema)]
struct DescribedStage {
    /// The name, as of `use` in a pipeline.
    name: &'static str,
    /// What the stage does.
    #[schemars(with = "String")]
    description: Value,
    /// The JSON Schema of each key, by its name; null for a stage without keys.
    #[schemars(with = "Option<Map<String, Value>>")]
    keys: Value,
    /// The default of each key, by its name.
    #[schemars(with = "Map<String, Value>")]
    defaults: Value,
}

/// The document of `--json`.
fn document(entries: &[StageEntry]) -> StagesDocument {
    let stage = |entry: &StageEntry| {
        let schema = entry.schema();
        DescribedStage {
            name: entry.name,
            description: schema["description"].clone(),
            keys: schema["properties"].clone(),
            defaults: entry.defaults(),
        }
    };
    StagesDocument { schema: SCHEMA, stages: entries.iter().map(stage).collect() }
}
