//! A pipeline as written: TOML text and `--set` overrides, parsed into sections and stages.
//!
//! The text is parsed with the position of every key and value, then each section and each stage is read on its own. So
//! every fault is shown at its position, and all faults are found at once.

use super::config_error::{ConfigError, ConfigFault, ConfigSource};
use super::config_keys::{CollectedKeys, PlacedText};
use super::config_parts::{
    CharacterLimit, WrittenStageConfig, check_repeated_stages, idle_robot_options, read_limits, read_section,
    read_stage, read_words,
};
use super::input_section::{CalibrationChoice, InputSection};
use super::output_section::OutputSection;
use super::section_keys::SectionKeys;
use crate::stages::StageEntry;
use crate::stages::written_keys::ENABLED;
use std::ops::Range;
use toml::de::DeTable;

/// A pipeline as written, each part valid on its own.
#[derive(Debug)]
pub struct PipelineConfig {
    /// The texts that it was read from; the pipeline file first.
    pub sources: Vec<ConfigSource>,
    /// The section `[input]`.
    pub input: InputSection,
    /// The section `[output]`.
    pub output: OutputSection,
    /// Whether the file or a `--set` has the key `output.report`.
    pub says_report: bool,
    /// The strings among the values of `[input]`.
    pub(super) texts: Vec<PlacedText>,
    /// The joint limits in `[input]`.
    pub limits: Vec<CharacterLimit>,
    /// The stages, in order.
    pub stages: Vec<WrittenStageConfig>,
    /// Stages that are written by an old name: their numbers, that name, and theirs.
    pub(super) renamed: Vec<(usize, &'static str, String)>,
}

/// Most syntax errors that are reported: later ones mostly follow from the first, and a file that is not TOML has one in
/// every line.
const MOST_SYNTAX_ERRORS: usize = 3;

impl PipelineConfig {
    /// The pipeline of `text`, which messages call `name`; each of `sets` is a `PATH=VALUE` that overrides a key.
    ///
    /// # Errors
    /// Every fault of the text and of `sets`.
    pub fn parse(
        name: &str,
        text: &str,
        sets: &[String],
        registry: &[StageEntry],
    ) -> Result<Self, ConfigError> {
        let (config, faults) = Self::parse_partly(name, text, sets, registry)?;
        if faults.is_empty() { Ok(config) } else { Err(config.error(faults)) }
    }

    /// The valid parts of the pipeline, and every fault.
    ///
    /// # Errors
    /// A text that is not TOML.
    pub(crate) fn parse_partly(
        name: &str,
        text: &str,
        sets: &[String],
        registry: &[StageEntry],
    ) -> Result<(Self, Vec<ConfigFault>), ConfigError> {
        let file = ConfigSource { name: name.to_owned(), text: text.to_owned() };
        let set = |text: &String| ConfigSource { name: "--set".to_owned(), text: text.clone() };
        let sources: Vec<ConfigSource> = std::iter::once(file).chain(sets.iter().map(set)).collect();
        let (table, errors) = DeTable::parse_recoverable(&sources[0].text);
        if !errors.is_empty() {
            let fault =
                |e: &toml::de::Error| ConfigFault::at(0, e.span().unwrap_or(0..0), e.message().to_owned());
            let faults = errors.iter().take(MOST_SYNTAX_ERRORS).map(fault).collect();
            return Err(ConfigError { sources, faults });
        }

        let mut faults = Vec::new();
        let mut keys = CollectedKeys::of(table.into_inner(), &mut faults);
        for (k, set) in sources.iter().enumerate().skip(1) {
            keys.set(k, &set.text, registry, &mut faults);
        }
        let mut input = read_section::<InputSection>(&keys.input, &mut faults);
        read_words(&mut input, &keys, &mut faults);
        let output = read_section::<OutputSection>(&keys.output, &mut faults);
        if output.formats.is_empty() {
            let place = keys.output.place_of("formats");
            faults.push(ConfigFault::at(place.0, place.1, "`formats` names no format"));
        } else {
            faults.extend(idle_robot_options(&output, &keys.output));
        }
        let limits = read_limits(&input.limits, &keys.input, &mut faults);
        for section in &mut keys.stages {
            let place = section.keys.iter().position(|k| k.written.name == ENABLED);
            section.enabled = place.map(|k| section.keys.remove(k));
        }
        let stages: Vec<WrittenStageConfig> = (keys.stages.iter().enumerate())
            .filter_map(|(k, section)| read_stage(k + 1, section, registry, &mut faults))
            .collect();
        let renamed =
            |(k, section): (usize, &SectionKeys<'_>)| Some((k + 1, section.was?, section.name.clone()));
        let renamed = keys.stages.iter().enumerate().filter_map(renamed).collect();
        let says_report = keys.output.keys.iter().any(|k| k.written.name == "report");
        check_repeated_stages(&stages, &mut faults);
        let texts = keys.input.texts();
        drop(keys);
        Ok((Self { sources, input, output, says_report, texts, limits, stages, renamed }, faults))
    }

    /// The files that `[input]` names besides takes and characters.
    pub(super) fn files(&self) -> Vec<&String> {
        let calibration = match &self.input.calibration {
            CalibrationChoice::File(named) => Some(&named.file),
            _ => None,
        };
        let input = &self.input;
        let [body, skeleton, robot] = [&input.body_model, &input.skeleton, &input.robot].map(Option::as_ref);
        [calibration, body, skeleton, robot, input.points.table()].into_iter().flatten().collect()
    }

    /// Where `[input]` has this string as a value.
    pub(crate) fn place_of_text(&self, text: &str) -> Option<(usize, Range<usize>)> {
        self.texts.iter().find(|t| t.0 == text).map(|t| t.1.clone())
    }

    /// An error with the sources of this pipeline.
    pub(crate) fn error(&self, faults: Vec<ConfigFault>) -> ConfigError {
        ConfigError { sources: self.sources.clone(), faults: Vec::new() }.and(faults)
    }
}
