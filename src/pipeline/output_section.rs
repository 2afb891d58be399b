//! The section `[output]` as written: one field per key, each with its default.

use super::section_values::{OneOrMany, one_or_many};
use crate::export;
#[cfg(feature = "formats")]
use crate::export::FbxOptions;
use crate::export::RobotOptions;
use crate::export::csv::CsvOptions;
#[cfg(feature = "formats")]
use crate::export::npy::PointArrayOptions;
#[cfg(feature = "formats")]
use crate::export::npz::NpzOptions;
use crate::export::vrma::VrmaOptions;
use crate::measure::Threshold;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// The outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Output")]
pub struct OutputSection {
    /// The folder of the outputs, relative to this file. An output is named by the path of its input below the fixed part of the
    /// glob: of `takes/**/*.bvh`, `takes/a/walk.bvh` is written to `a/walk.glb`.
    pub dir: String,
    /// The formats to write.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<OutputFormat>")]
    pub formats: Vec<OutputFormat>,
    /// The kind of preview picture next to each output.
    pub preview: Preview,
    /// Whether to measure every result and write `report.json` and `report.html`, with the warnings and measurements of
    /// every file, and a page with player and plots next to each output (`walk.report.html`).
    pub report: bool,
    /// Limits of measures, such as `rest_slip_p95>5cm/s`: the run ends with exit code 1 if a result exceeds one, or
    /// if its measure was not measured. `posemill measure --help` lists them.
    #[serde(deserialize_with = "thresholds")]
    #[schemars(with = "OneOrMany<Threshold>")]
    pub fail_on: Vec<Threshold>,
    /// Whether to write the contact labels of a motion next to each output, as `NAME.contacts.csv`, the table that the stage
    /// `contacts` reads.
    pub contacts: bool,
    /// The files of forces to write next to each output: `true` or "csv" for a table, `NAME.forces.csv`, "npz" for NumPy arrays,
    /// `NAME.forces.npz`, "both". They contain torques of the joints, forces of the floor, centre of pressure, the force not explained
    /// by contacts, and energy, for a body of `input.mass_kg` (70).
    #[cfg(feature = "physics")]
    pub forces: ForceFiles,
    /// Whether the animations in the character's file are replaced rather than kept.
    pub replace_animations: bool,
    /// What FBX files contain.
    #[cfg(feature = "formats")]
    pub fbx: FbxOptions,
    /// How `.npz` files are written: NumPy arrays.
    #[cfg(feature = "formats")]
    pub npz: NpzOptions,
    /// How `.npy` files are written: positions of points of the body.
    #[cfg(feature = "formats")]
    pub points: PointArrayOptions,
    /// How `.csv` files are written: tables.
    pub csv: CsvOptions,
    /// How motions of robots are written: `.csv`, `.npz`, `.pkl`; a layout's name alone is `{ layout = NAME }`.
    #[serde(deserialize_with = "robot_options")]
    #[schemars(schema_with = "robot_schema")]
    pub robot: RobotOptions,
    /// How `.vrma` files are written: VRM animations.
    pub vrma: VrmaOptions,
}

impl Default for OutputSection {
    fn default() -> Self {
        Self {
            dir: "out".to_owned(),
            formats: vec![OutputFormat(export::FORMATS[0])],
            preview: Preview::None,
            report: true,
            fail_on: Vec::new(),
            contacts: false,
            #[cfg(feature = "physics")]
            forces: ForceFiles::Flag(false),
            replace_animations: false,
            #[cfg(feature = "formats")]
            fbx: FbxOptions::default(),
            #[cfg(feature = "formats")]
            npz: NpzOptions::default(),
            #[cfg(feature = "formats")]
            points: PointArrayOptions::default(),
            csv: CsvOptions::default(),
            robot: RobotOptions::default(),
            vrma: VrmaOptions::default(),
        }
    }
}

impl OutputSection {
    /// The options of the exporter, without those that depend on the file.
    pub fn options(&self) -> export::ExportOptions {
        export::ExportOptions {
            replace_animations: self.replace_animations,
            #[cfg(feature = "formats")]
            fbx: self.fbx,
            #[cfg(feature = "formats")]
            npz: self.npz,
            #[cfg(feature = "formats")]
            points: self.points.clone(),
            csv: self.csv,
            robot: self.robot.clone(),
            vrma: self.vrma,
            ..export::ExportOptions::default()
        }
    }
}

/// Files of forces next to an output.
#[cfg(feature = "physics")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "files of forces are `true`, `false`, `csv`, `npz` or `both`")]
pub enum ForceFiles {
    /// A table, or none.
    Flag(bool),
    /// By name.
    Word(ForceWord),
}

/// A kind of files of forces.
#[cfg(feature = "physics")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForceWord {
    /// A table.
    Csv,
    /// NumPy arrays.
    #[cfg(feature = "formats")]
    Npz,
    /// A table and NumPy arrays.
    #[cfg(feature = "formats")]
    Both,
}

#[cfg(feature = "physics")]
impl ForceFiles {
    /// Whether a table is written.
    pub fn table(self) -> bool {
        #[cfg(feature = "formats")]
        if self == Self::Word(ForceWord::Both) {
            return true;
        }
        matches!(self, Self::Flag(true) | Self::Word(ForceWord::Csv))
    }

    /// Whether NumPy arrays are written.
    #[cfg(feature = "formats")]
    pub fn arrays(self) -> bool {
        matches!(self, Self::Word(ForceWord::Npz | ForceWord::Both))
    }

    /// Whether any file is written.
    pub fn any(self) -> bool {
        self != Self::Flag(false)
    }
}

/// The kind of preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preview {
    /// No preview.
    None,
    /// A contact sheet.
    Png,
    /// An animation.
    Gif,
    /// An animation as PNG, for browsers.
    Apng,
}

impl Preview {
    /// The extension of the picture; `None` where there is none.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Preview::None => None,
            Preview::Png => Some("png"),
            Preview::Gif => Some("gif"),
            Preview::Apng => Some("apng"),
        }
    }
}

/// A format that can be written, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputFormat(pub export::Format);

impl OutputFormat {
    /// The extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        self.0.name
    }
}

impl Serialize for OutputFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for OutputFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = || export::FORMATS.iter().find(|f| f.name == name);
        known().copied().map(Self).ok_or_else(|| {
            let names: Vec<String> = export::FORMATS.iter().map(|f| format!("`{}`", f.name)).collect();
            de::Error::custom(format!("unknown format `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

impl JsonSchema for OutputFormat {
    fn schema_name() -> Cow<'static, str> {
        "OutputFormat".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = export::FORMATS.iter().map(|f| f.name).collect();
        schemars::json_schema!({ "description": "A format that can be written.", "enum": names })
    }
}

/// Parses the options of robots, or the name of a layout alone.
fn robot_options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RobotOptions, D::Error> {
    struct Options;
    impl<'de> Visitor<'de> for Options {
        type Value = RobotOptions;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("the name of a layout, or a table of options")
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<RobotOptions, E> {
            Ok(RobotOptions { layout: name.to_owned(), ..RobotOptions::default() })
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RobotOptions, A::Error> {
            RobotOptions::deserialize(MapAccessDeserializer::new(map))
        }
    }
    deserializer.deserialize_any(Options)
}

/// What [`robot_options`] parses.
fn robot_schema(generator: &mut SchemaGenerator) -> Schema {
    let options = generator.subschema_for::<RobotOptions>();
    schemars::json_schema!({ "anyOf": [{ "type": "string", "description": "The name of a layout." }, options] })
}

/// Parses thresholds; reports every invalid one.
fn thresholds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Threshold>, D::Error> {
    let lines: Vec<String> = one_or_many(deserializer)?;
    Threshold::all(&lines).map_err(de::Error::custom)
}
