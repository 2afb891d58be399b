//! The fingerprint of a pipeline: a hash of everything that its outputs depend on, apart from the takes.

use super::config::PipelineConfig;
use super::input_section::{
    BvhPositions, CalibrationChoice, CalibrationWord, InputSection, PointsSection, Up,
};
#[cfg(feature = "physics")]
use super::output_section::ForceFiles;
use super::output_section::OutputSection;
#[cfg(feature = "formats")]
use crate::export::FbxBind;
use crate::export::RobotOptions;
#[cfg(feature = "formats")]
use crate::export::npy::{ArrayRate, PointArrayOptions};
#[cfg(feature = "physics")]
use crate::model::MassShares;

/// Collects what a fingerprint depends on, each part with its length, so that no two lists of parts are alike.
pub(super) struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// The version of this program and the sections of the pipeline.
    pub(super) fn new(config: &PipelineConfig) -> Self {
        let mut fingerprint = Self(blake3::Hasher::new());
        fingerprint.add(env!("CARGO_PKG_VERSION").as_bytes());
        fingerprint.add(sections(config).as_bytes());
        fingerprint
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The hash, hexadecimal.
    pub(super) fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// The options of `[input]` and `[output]` as text. Outputs hold the fingerprint, so that every change of this text changes
/// all of them: it is written out here and follows no type. Of the files that `[input]` names the content is hashed, not the
/// path, so that a pipeline has the same fingerprint wherever it is run from.
fn sections(config: &PipelineConfig) -> String {
    let OutputSection { report, contacts, .. } = config.output;
    #[cfg(feature = "physics")]
    let forces = match config.output.forces {
        ForceFiles::Flag(false) => String::new(),
        ForceFiles::Flag(true) => ", forces".to_owned(),
        ForceFiles::Word(word) => format!(", forces {word:?}"),
    };
    #[cfg(not(feature = "physics"))]
    let forces = "";
    let output = output_text(&config.output);
    format!("({}, {output}, {report}, {contacts}{forces})", input_text(&config.input))
}

fn input_text(input: &InputSection) -> String {
    let calibration = match &input.calibration {
        CalibrationChoice::Word(CalibrationWord::Auto) => "Auto".to_owned(),
        CalibrationChoice::Word(CalibrationWord::Bind) => "Bind".to_owned(),
        CalibrationChoice::Word(CalibrationWord::Rest) => "Rest".to_owned(),
        CalibrationChoice::Word(CalibrationWord::Motion) => "Motion".to_owned(),
        CalibrationChoice::Frame(frame) => format!("Frame({})", frame.frame),
        CalibrationChoice::File(_) => "File".to_owned(),
    };
    let up = match input.up {
        None => "None",
        Some(Up::Y) => "Some(Y)",
        Some(Up::Z) => "Some(Z)",
        Some(Up::MinusY) => "Some(MinusY)",
    };
    let positions = match input.bvh_positions {
        None => "None",
        Some(BvhPositions::Replace) => "Some(Replace)",
        Some(BvhPositions::Add) => "Some(Add)",
    };
    let words: Vec<String> = (input.roles.words.iter())
        .map(|(word, part)| format!("{:?}: {:?}", word.get_ref(), part.get_ref()))
        .collect();
    let points = match &input.points {
        none if *none == PointsSection::default() => String::new(),
        points => {
            let layout = points.table().map_or(points.layout.as_deref(), |_| Some("File"));
            let person = points.person.map_or_else(String::new, |person| format!(" {person}"));
            format!(", points: {layout:?} {}{person}", points.swap_sides)
        }
    };
    let robot = input.robot.as_ref().map_or("", |_| ", robot");
    let body = input.body.as_ref().map_or_else(String::new, |name| format!(", body: {name:?}"));
    #[cfg(feature = "physics")]
    let mass = match (input.mass_kg, input.mass_shares) {
        (None, MassShares::Table) => String::new(),
        (kilograms, shares) => format!(", mass: {:?} {shares:?}", kilograms.map(|mass| mass.0)),
    };
    #[cfg(not(feature = "physics"))]
    let mass = "";
    format!(
        "Options {{ units: {:?}, up: {up}, bvh_positions: {positions}, calibration: {calibration}, words: [{}], rate: {:?}, \
         skeleton: {:?}, body_model: {:?}, memory: {:?}{points}{robot}{body}{mass} }}",
        input.units.as_ref().map(|units| units.metres),
        words.join(", "),
        input.rate.map(|rate| rate.0),
        input.skeleton.as_ref().map(|_| ()),
        input.body_model.as_ref().map(|_| ()),
        input.memory.map(|memory| memory.bytes),
    )
}

fn output_text(output: &OutputSection) -> String {
    let mut text = format!(
        "Options {{ replace_animations: {}, clips_inside: false, stem: \"\", files: \"\", made_by: \"\", ",
        output.replace_animations
    );
    #[cfg(feature = "formats")]
    {
        text += &format!("npz: NpzOptions {{ up: {:?} }}, ", output.npz.up);
        if output.points != PointArrayOptions::default() {
            let PointArrayOptions { layout, rate } = &output.points;
            let rate =
                if *rate == ArrayRate::default() { String::new() } else { format!(", rate: {rate:?}") };
            text += &format!("points: PointArrayOptions {{ layout: {layout:?}{rate} }}, ");
        }
    }
    text += &format!("csv: CsvOptions {{ layout: {:?} }}, ", output.csv.layout);
    if output.robot != RobotOptions::default() {
        text += &format!("robot: {:?}, ", output.robot);
    }
    text += &format!("vrma: VrmaOptions {{ upper_chest: {} }}", output.vrma.upper_chest);
    #[cfg(feature = "formats")]
    {
        text += &format!(", fbx: FbxOptions {{ skin: {} }}", output.fbx.skin);
        if output.fbx.bind != FbxBind::default() {
            text += &format!(", fbx_bind: {:?}", output.fbx.bind);
        }
        if output.fbx.tolerance != 0.0 {
            text += &format!(", fbx_tolerance: {}", output.fbx.tolerance);
        }
    }
    text + " }"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash in outputs changes with this text.
    #[cfg(feature = "formats")]
    #[test]
    fn the_text_of_the_sections_stays_as_it_is() {
        let config = PipelineConfig::parse("p.toml", "", &[], &[]).unwrap();
        let expected = "(Options { units: None, up: None, bvh_positions: None, calibration: Auto, words: [], rate: None, \
            skeleton: None, body_model: None, memory: None }, Options { replace_animations: false, clips_inside: false, \
            stem: \"\", files: \"\", made_by: \"\", npz: NpzOptions { up: Y }, csv: CsvOptions { layout: Wide }, \
            vrma: VrmaOptions { upper_chest: true }, fbx: FbxOptions { skin: true } }, true, false)";
        assert_eq!(sections(&config), expected);
        let sets = ["input.units=cm", "input.up=z", "input.memory=2GB", "input.rate=30"].map(str::to_owned);
        let config = PipelineConfig::parse("p.toml", "", &sets, &[]).unwrap();
        let text = sections(&config);
        assert!(text.starts_with("(Options { units: Some(0.01), up: Some(Z), "), "{text}");
        assert!(text.contains("rate: Some(30.0), ") && text.contains("memory: Some(2000000000) }"), "{text}");
    }
}
