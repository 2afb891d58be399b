//! The sections `[input]` and `[output]` as written: one field per key, each with its default.

use super::memory::Memory;
use crate::anatomy::Word;
#[cfg(feature = "formats")]
use crate::export::FbxOptions;
use crate::export::csv::CsvOptions;
#[cfg(feature = "formats")]
use crate::export::npz::NpzOptions;
use crate::export::vrma::VrmaOptions;
use crate::measure::Threshold;
use crate::{export, import};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use toml::Spanned;

/// What goes in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Input {
    /// Motion files or globs (`takes/**/*.bvh`), relative to this file. Has to be given.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<String>")]
    pub motion: Vec<String>,
    /// The rigged character (glTF, GLB, VRM) that shall perform the motion, relative to this file; several may be
    /// listed, each then gets a sub-folder of the outputs that is named after it. Left out:
    /// the motion keeps its own skeleton.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<String>")]
    pub character: Vec<String>,
    /// How far joints of a character turn, in degrees, where that is not as far as people's joints do:
    /// `[input.limits.hero.left_lower_arm]` with `flexion = 120` for the character `hero.glb`. The stages `ik` and
    /// `limits` keep to it. A joint map may tell the same.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>")]
    pub limits: WrittenLimits,
    /// What joints are for, where their names do not say so in a word that is known. `[input.roles.words]` with
    /// `zampa = "hand"` adds the word `zampa`, in names of motion files and characters; `--set
    /// input.roles.words.zampa=hand` does the same. A word may stand for `hips`, `spine`, `neck`, `head`, `tail`,
    /// `clavicle`, `upper_arm`, `lower_arm`, `hand`, `upper_leg`, `lower_leg`, `foot`, `toes`, `thumb`, `index`,
    /// `middle`, `ring`, `little`, `finger` (told apart by number), `first` to `fifth`, `metacarpal`, `left`, `right`, `front`, `hind`,
    /// `helper` (no part of the body) or `noise` (says nothing).
    pub roles: Roles,
    /// The length unit of the motion files: "m", "cm", "mm", "in", "ft", or metres per unit. Left out: guessed
    /// from the size of the figure.
    pub units: Option<Units>,
    /// The axis that points up in the motion files. Left out: found from the figure.
    pub up: Option<Up>,
    /// How many frames a second the motion files have, where they do not say it (AMC).
    pub rate: Option<Rate>,
    /// The ASF file that tells the skeleton of AMC files, relative to this file. Left out: `01.asf` beside `01_01.amc`.
    pub skeleton: Option<String>,
    /// The file of the body model (`SMPLH_NEUTRAL.npz`) that SMPL motions were fitted with, relative to this file: it
    /// gives the bodies of the motion files their lengths. Left out: a neutral figure of 1.70 m.
    pub body_model: Option<String>,
    /// What reading one file may take of memory ("2GB", "500MB"). Left out: what its size asks for, at most 4 GB. A
    /// small file that asks for more is most likely damaged.
    pub memory: Option<Memory>,
    /// Which clip of a motion file that holds several, by name or number from 0. Left out: all of them.
    #[serde(deserialize_with = "name_or_number")]
    #[schemars(with = "Option<String>")]
    pub clip: Option<String>,
    /// How position channels of a BVH file go together with the offset of their joint. Left out: decided from
    /// the data of each file.
    pub bvh_positions: Option<BvhPositions>,
    /// The pose in which the motion files are compared with a character: "auto" takes the bind pose, else the rest pose
    /// unless it says nothing of the body, else one that is read off the motion; "bind", "rest" and "motion" insist on
    /// one; `{ frame = 12 }` takes that frame of each take as it is, `{ file = "rig.pose.bvh" }` the pose of that file
    /// (as `posemill calibrate` writes it), matched by joint names.
    pub calibration: Calibration,
}

/// The pose in which motion files are compared with a character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`auto`, `bind`, `rest`, `motion`, `{ frame = 12 }` or `{ file = \"rig.pose.bvh\" }`"
)]
pub enum Calibration {
    /// By a word.
    Word(CalibrationWord),
    /// A frame of each take.
    Frame(CalibrationFrame),
    /// A file.
    File(CalibrationFile),
}

/// Where a calibration pose is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationWord {
    /// What says something of the body.
    Auto,
    /// Where the skin was attached.
    Bind,
    /// The rest pose.
    Rest,
    /// The motion.
    Motion,
}

/// A frame to calibrate by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFrame {
    /// The number of the frame, from 0.
    pub frame: usize,
}

/// A file to calibrate by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    /// The file, relative to the pipeline.
    pub file: String,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration::Word(CalibrationWord::Auto)
    }
}

impl Calibration {
    /// What the importer calls it, files seen from `folder`.
    fn calibrate(&self, folder: &Path) -> import::Calibrate {
        match self {
            Calibration::Word(CalibrationWord::Auto) => import::Calibrate::Auto,
            Calibration::Word(CalibrationWord::Bind) => import::Calibrate::Bind,
            Calibration::Word(CalibrationWord::Rest) => import::Calibrate::Rest,
            Calibration::Word(CalibrationWord::Motion) => import::Calibrate::Motion,
            Calibration::Frame(frame) => import::Calibrate::Frame(frame.frame),
            Calibration::File(file) => import::Calibrate::File(folder.join(&file.file)),
        }
    }
}

/// Angles by their words, by the role of a joint, by the name of a character.
pub type WrittenLimits =
    BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<f64>>>>;

/// What joints are for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Roles {
    /// Words in the names of joints, and the part that each stands for.
    #[schemars(with = "BTreeMap<String, String>")]
    pub words: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// What comes out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// The folder of the outputs, relative to this file. Outputs are named after their inputs, sub-folders kept.
    pub dir: String,
    /// The formats to write.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<OutputFormat>")]
    pub formats: Vec<OutputFormat>,
    /// The kind of preview picture to write beside each output.
    pub preview: Preview,
    /// Whether to measure every result and write `report.json` and `report.html`, with the warnings and measurements of
    /// every file, and a page with player and plots beside each output (`walk.report.html`).
    pub report: bool,
    /// Measures that no result may pass, such as `foot_skate_p95>1cm/s`: the run ends with exit code 1 where one does.
    /// `posemill measure --help` lists them.
    #[serde(deserialize_with = "thresholds")]
    #[schemars(with = "OneOrMany<Threshold>")]
    pub fail_on: Vec<Threshold>,
    /// Whether to write the contact labels of a motion that carries them beside each output, as `NAME.contacts.csv`:
    /// the table that the stage `contacts` reads.
    pub contacts: bool,
    /// Whether the animations that the character's file came with are replaced rather than kept.
    pub replace_animations: bool,
    /// What FBX files hold.
    #[cfg(feature = "formats")]
    pub fbx: FbxOptions,
    /// How `.npz` files are written: NumPy arrays.
    #[cfg(feature = "formats")]
    pub npz: NpzOptions,
    /// How `.csv` files are written: tables.
    pub csv: CsvOptions,
    /// How `.vrma` files are written: VRM animations.
    pub vrma: VrmaOptions,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            dir: "out".to_owned(),
            formats: vec![OutputFormat(&export::FORMATS[0])],
            preview: Preview::None,
            report: true,
            fail_on: Vec::new(),
            contacts: false,
            replace_animations: false,
            #[cfg(feature = "formats")]
            fbx: FbxOptions::default(),
            #[cfg(feature = "formats")]
            npz: NpzOptions::default(),
            csv: CsvOptions::default(),
            vrma: VrmaOptions::default(),
        }
    }
}

impl Output {
    /// What the exporter wants to know, but for what depends on the file at hand.
    pub fn options(&self) -> export::ExportOptions {
        export::ExportOptions {
            replace_animations: self.replace_animations,
            #[cfg(feature = "formats")]
            fbx: self.fbx,
            #[cfg(feature = "formats")]
            npz: self.npz,
            csv: self.csv,
            vrma: self.vrma,
            ..export::ExportOptions::default()
        }
    }
}

impl Input {
    /// What is told of words in names; faulty ones were told when the section was read.
    fn words(&self) -> Vec<Word> {
        let told = self.roles.words.iter();
        told.filter_map(|(word, part)| Word::new(word.get_ref(), part.get_ref()).ok()).collect()
    }

    /// What the importer wants to know; files are seen from `folder`, that of the pipeline.
    pub fn options(&self, folder: &Path) -> import::ImportOptions {
        import::ImportOptions {
            calibration: self.calibration.calibrate(folder),
            units: self.units.as_ref().map(|u| u.metres),
            up: self.up.map(|up| match up {
                Up::Y => import::UpAxis::Y,
                Up::Z => import::UpAxis::Z,
            }),
            bvh_positions: self.bvh_positions.map(|p| match p {
                BvhPositions::Replace => import::Positions::Replace,
                BvhPositions::Add => import::Positions::Add,
            }),
            words: self.words(),
            rate: self.rate.map(|rate| rate.0),
            skeleton: self.skeleton.as_ref().map(|path| folder.join(path)),
            body_model: self.body_model.as_ref().map(|path| folder.join(path)),
            memory: self.memory.map(|memory| memory.bytes),
        }
    }
}

/// Frames a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(with = "f64")]
pub struct Rate(pub f64);

impl TryFrom<f64> for Rate {
    type Error = String;

    fn try_from(rate: f64) -> Result<Self, String> {
        if (LEAST_RATE..=MOST_RATE).contains(&rate) {
            return Ok(Rate(rate));
        }
        Err(format!("{rate} frames a second, expected {LEAST_RATE} to {MOST_RATE}"))
    }
}

/// The rates that captures have, Hz, with room on both sides.
const LEAST_RATE: f64 = 0.1;
const MOST_RATE: f64 = 10_000.0;

/// The axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// +Y.
    Y,
    /// +Z.
    Z,
}

/// How position channels and offsets of a BVH file go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BvhPositions {
    /// The channels replace the offset.
    Replace,
    /// The channels are added to the offset.
    Add,
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
pub struct OutputFormat(pub &'static export::Format);

impl OutputFormat {
    /// The extension of its files, without the dot.
    pub fn extension(self) -> &'static str {
        self.0.name
    }

    /// The format of a file name's extension, in any case.
    pub fn of_extension(extension: &str) -> Option<Self> {
        export::FORMATS.iter().find(|f| f.name.eq_ignore_ascii_case(extension)).map(Self)
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
        known().map(Self).ok_or_else(|| {
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

/// A length unit by name or in metres.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "UnitsSchema")]
pub struct Units {
    /// Metres per unit.
    pub metres: f64,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "stands for `Units` in the schema only")]
enum UnitsSchema {
    Name(String),
    Metres(f64),
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnitsVisitor)
    }
}

struct UnitsVisitor;

/// The longest unit, metres: a gigametre, a thousandth of the farthest that anything may be.
const MOST_METRES: f64 = 1e9;

impl Visitor<'_> for UnitsVisitor {
    type Value = Units;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"m\", \"cm\", \"mm\", \"in\", \"ft\" or a positive number of metres per unit")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Units, E> {
        let metres = match name {
            "m" => 1.0,
            "cm" => 0.01,
            "mm" => 0.001,
            "in" => 0.0254,
            "ft" => 0.3048,
            _ => return Err(E::invalid_value(de::Unexpected::Str(name), &self)),
        };
        Ok(Units { metres })
    }

    fn visit_f64<E: de::Error>(self, metres: f64) -> Result<Units, E> {
        if metres > 0.0 && metres <= MOST_METRES {
            Ok(Units { metres })
        } else {
            Err(E::invalid_value(de::Unexpected::Float(metres), &self))
        }
    }

    fn visit_i64<E: de::Error>(self, metres: i64) -> Result<Units, E> {
        self.visit_f64(metres as f64)
    }
}

/// A name, or a number that stands for one.
fn name_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct NameOrNumber;

    impl Visitor<'_> for NameOrNumber {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of a clip or its number, 0 or more")
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<Option<String>, E> {
            Ok(Some(name.to_owned()))
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<String>, E> {
            match u32::try_from(number) {
                Ok(number) => Ok(Some(number.to_string())),
                Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
            }
        }
    }

    deserializer.deserialize_any(NameOrNumber)
}

/// What editors are told of a list, or one value that stands for a list of one.
struct OneOrMany<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

/// A list, or one value that stands for a list of one.
fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Values<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of strings")
        }

        fn visit_str<E: de::Error>(self, one: &str) -> Result<Vec<T>, E> {
            T::deserialize(de::value::StrDeserializer::new(one)).map(|value| vec![value])
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut many: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = many.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }

    deserializer.deserialize_any(Values(std::marker::PhantomData))
}

/// Thresholds, every bad one told.
fn thresholds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Threshold>, D::Error> {
    let lines: Vec<String> = one_or_many(deserializer)?;
    Threshold::all(&lines).map_err(de::Error::custom)
}
