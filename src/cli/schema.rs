//! `posemill schema`: JSON Schemas of the JSON documents.

use super::calibrate::CalibrateDocument;
use super::console::Console;
use super::doctor::DoctorDocument;
use super::exit::{Exit, Failure};
use super::formats::FormatsDocument;
use super::inspect_document::InspectDocument;
use super::joints::JointsDocument;
use super::map::MapDocument;
use super::measure::MeasureDocument;
use super::preview::PreviewDocument;
use super::run_document::RunDocument;
use super::simulate::SimulateDocument;
use super::stages::StagesDocument;
use super::start::ErrorDocument;
use super::table::TableRow;
use crate::batch::FolderReport;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Print the JSON Schema of a JSON document, or list the documents
///
/// The schemas are of draft 2020-12 and describe every member: meaning, unit, space. Members can be added in later versions; the
/// number in the member `schema` of a document changes where one is removed or renamed. That of pipeline files is printed by
/// `posemill stages --schema`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill schema\n  \
    posemill schema run > run.schema.json")]
pub struct SchemaArguments {
    /// The document
    #[arg(value_name = "DOCUMENT", value_parser = names())]
    document: Option<String>,
}

/// A JSON document of the program.
struct DocumentSchema {
    name: &'static str,
    /// Who prints or writes it.
    about: &'static str,
    schema: fn() -> Value,
}

const fn document<T: JsonSchema>(name: &'static str, about: &'static str) -> DocumentSchema {
    DocumentSchema { name, about, schema: schema_of::<T> }
}

/// Every JSON document, in the order of the commands.
const DOCUMENTS: [DocumentSchema; 14] = [
    document::<DoctorDocument>("doctor", "posemill doctor --json"),
    document::<InspectDocument>("inspect", "posemill inspect --json"),
    document::<PreviewDocument>("preview", "posemill preview --json"),
    document::<MeasureDocument>("measure", "posemill measure --json"),
    document::<MapDocument>("map", "posemill map --json"),
    document::<CalibrateDocument>("calibrate", "posemill calibrate --json"),
    document::<RunDocument>("run", "posemill run --json, and that of retarget and convert"),
    document::<FolderReport>("report", "report.json in a folder of outputs"),
    document::<TableRow>("table", "each line of posemill table --format jsonl"),
    document::<JointsDocument>("joints", "posemill joints --json"),
    document::<SimulateDocument>("simulate", "posemill simulate --json"),
    document::<StagesDocument>("stages", "posemill stages --json"),
    document::<FormatsDocument>("formats", "posemill formats --json"),
    document::<ErrorDocument>("error", "any command with --json where nothing could start"),
];

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(DOCUMENTS.iter().map(|d| PossibleValue::new(d.name).help(d.about)))
}

/// The JSON Schema of a document as it is printed: members that are always there are required, others can be added.
fn schema_of<T: JsonSchema>() -> Value {
    let open = |schema: &mut Schema| {
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            schema.remove("additionalProperties");
        }
    };
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(RecursiveTransform(open));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Prints the schema, or the list.
///
/// # Errors
/// None; all commands have this signature.
pub fn run(arguments: &SchemaArguments, console: &Console) -> Result<Exit, Failure> {
    match DOCUMENTS.iter().find(|d| arguments.document.as_deref() == Some(d.name)) {
        Some(document) => {
            let mut schema = (document.schema)();
            schema["title"] = document.about.into();
            console.json(&schema);
        }
        None => DOCUMENTS.iter().for_each(|d| console.data(&format!("{:10}{}\n", d.name, d.about))),
    }
    Ok(Exit::Good)
}
