//! A pipeline as written: TOML text, and what was set on top of it, becomes sections and stages.
//!
//! The text is parsed with the place of every key and value; then each section and each stage is read on its
//! own, so that a fault is shown where it stands and all faults are found at once.

use super::fault::{ConfigError, ConfigFault, Source};
use super::plan::{Pipeline, PlanError, named};
use super::sections::{Calibration, Input, Output, WrittenLimits};
use super::takes::{Takes, TakesError, find_all};
use crate::anatomy::{Word, WordError};
use crate::body::ToldMobility;
use crate::model::Role;
use crate::stages::keys::{self, KeyFault, WrittenKey, listed, nearest};
use crate::stages::{Entry, WrittenStage};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A pipeline as written, each part sound in itself.
#[derive(Debug)]
pub struct PipelineConfig {
    /// The texts it was read from; the pipeline file first.
    pub sources: Vec<Source>,
    /// What goes in.
    pub input: Input,
    /// What comes out.
    pub output: Output,
    /// Whether somebody said if there shall be a report.
    pub says_report: bool,
    /// The texts among the values of `[input]`.
    pub(super) texts: Vec<Told>,
    /// What `[input]` tells of how far joints turn.
    pub limits: Vec<ToldLimit>,
    /// The steps, in order.
    pub stages: Vec<StageAsWritten>,
}

/// How far a joint of one character turns.
#[derive(Debug)]
pub struct ToldLimit {
    /// The character, by the name of its file without the extension.
    pub character: String,
    /// The text that it stands in, and where.
    pub place: (usize, Range<usize>),
    /// What is told.
    pub told: ToldMobility,
}

/// A text among the values of a section, with the source and the place in it.
pub(super) type Told = (String, (usize, Range<usize>));

/// One `[[stage]]`.
#[derive(Debug)]
pub struct StageAsWritten {
    /// Its keys, understood.
    pub stage: Arc<dyn WrittenStage>,
    /// Where its `use = "..."` stands in the pipeline file.
    pub span: Range<usize>,
    /// What messages call it.
    pub(super) label: String,
    /// The texts among its values.
    pub(super) texts: Vec<Told>,
}

/// The key that every stage has, besides its own: whether it runs.
pub(super) const ENABLED: &str = "enabled";

/// A key, its value, and the text both stand in.
struct Key<'i> {
    written: WrittenKey<'i>,
    span: Range<usize>,
    source: usize,
}

/// A section or a stage while its keys are collected.
#[derive(Default)]
struct Section<'i> {
    /// `[input]`, `[output]`, or the word behind `use`.
    name: String,
    keys: Vec<Key<'i>>,
    /// The key [`ENABLED`] of a stage, once it is taken from the others.
    enabled: Option<Key<'i>>,
    /// The header, or the value of `use`.
    span: Range<usize>,
}

impl PipelineConfig {
    /// The pipeline of `text`, which people know as `name`; each of `sets` is a `PATH=VALUE` on top of it.
    ///
    /// # Errors
    /// Every fault of the text and of `sets`.
    pub fn parse(name: &str, text: &str, sets: &[String], registry: &[Entry]) -> Result<Self, ConfigError> {
        let (config, faults) = Self::understood(name, text, sets, registry)?;
        if faults.is_empty() { Ok(config) } else { Err(config.error(faults)) }
    }

    /// As [`PipelineConfig::parse`], of a file in `folder`: with the faults of the text come the files that it names and that
    /// are not there.
    ///
    /// # Errors
    /// Every fault of the text and of `sets`, and then every such file.
    pub fn parse_in(
        folder: &Path,
        name: &str,
        text: &str,
        sets: &[String],
        registry: &[Entry],
    ) -> Result<Self, ConfigError> {
        let (config, mut faults) = Self::understood(name, text, sets, registry)?;
        if faults.is_empty() {
            return Ok(config);
        }
        faults.extend(config.unfound(folder, &folder.join(&config.output.dir)).1);
        let of_input = config.files().into_iter().chain(&config.input.character);
        let of_input = of_input.map(|path| (path.clone(), &config.texts));
        let of_stages = config.stages.iter().flat_map(|s| {
            s.stage.files().into_iter().map(move |path| (path.to_string_lossy().into_owned(), &s.texts))
        });
        for (path, texts) in of_input.chain(of_stages) {
            // A name that stands nowhere in the text is told once the text is sound.
            let _ = named(folder, &path, texts, &mut faults);
        }
        Err(config.error(faults))
    }

    /// The pipeline as far as it is understood, and every fault.
    fn understood(
        name: &str,
        text: &str,
        sets: &[String],
        registry: &[Entry],
    ) -> Result<(Self, Vec<ConfigFault>), ConfigError> {
        let file = Source { name: name.to_owned(), text: text.to_owned() };
        let set = |text: &String| Source { name: "--set".to_owned(), text: text.clone() };
        let sources: Vec<Source> = std::iter::once(file).chain(sets.iter().map(set)).collect();
        let (table, errors) = DeTable::parse_recoverable(&sources[0].text);
        if !errors.is_empty() {
            let fault =
                |e: &toml::de::Error| ConfigFault::at(0, e.span().unwrap_or(0..0), e.message().to_owned());
            let faults = errors.iter().take(SYNTAX).map(fault).collect();
            return Err(ConfigError { sources, faults });
        }

        let mut faults = Vec::new();
        let mut collected = Collected::of(table.into_inner(), &mut faults);
        for (k, set) in sources.iter().enumerate().skip(1) {
            collected.set(k, &set.text, registry, &mut faults);
        }
        let mut input = read_section::<Input>(&collected.input, &mut faults);
        read_words(&mut input, &collected, &mut faults);
        let output = read_section::<Output>(&collected.output, &mut faults);
        if output.formats.is_empty() {
            let place = collected.output.place_of("formats");
            faults.push(ConfigFault::at(place.0, place.1, "`formats` names no format"));
        }
        let limits = read_limits(&input.limits, &collected.input, &mut faults);
        for section in &mut collected.stages {
            let place = section.keys.iter().position(|k| k.written.name == ENABLED);
            section.enabled = place.map(|k| section.keys.remove(k));
        }
        let stages: Vec<StageAsWritten> = (collected.stages.iter().enumerate())
            .filter_map(|(k, section)| read_stage(k + 1, section, registry, &mut faults))
            .collect();

        let says_report = collected.output.keys.iter().any(|k| k.written.name == "report");

        told_twice(&stages, &mut faults);
        let texts = collected.input.texts();
        drop(collected);
        Ok((Self { sources, input, output, says_report, texts, limits, stages }, faults))
    }

    /// The takes of `[input]`, and a fault for each pattern that gives none.
    fn unfound(&self, folder: &Path, except: &Path) -> (Takes, Vec<ConfigFault>) {
        let (takes, errors) = find_all(folder, &self.input.motion, Some(except));
        let fault = |(pattern, error): (String, TakesError)| {
            let place = self.texts.iter().find(|t| t.0 == pattern).map(|t| t.1.clone());
            ConfigFault::told(place, &error.to_string())
        };
        (takes, errors.into_iter().map(fault).collect())
    }

    /// The files that `[input]` names besides takes and characters.
    pub(super) fn files(&self) -> Vec<&String> {
        let calibration = match &self.input.calibration {
            Calibration::File(named) => Some(&named.file),
            _ => None,
        };
        [calibration, self.input.body_model.as_ref(), self.input.skeleton.as_ref()]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The takes of `[input]`, with relative paths from `folder`; outputs below `except` are none.
    ///
    /// # Errors
    /// Every pattern that gives no take, and with them all that is wrong with what else the pipeline names: files that are
    /// not there, names that a character lacks.
    pub fn takes(&self, folder: &Path, except: &Path) -> Result<Takes, ConfigError> {
        let (takes, faults) = self.unfound(folder, except);
        if faults.is_empty() {
            return Ok(takes);
        }
        let mut found = self.error(faults);
        let characters: Vec<Option<&str>> = match self.input.character.as_slice() {
            [] => vec![None],
            all => all.iter().map(|c| Some(c.as_str())).collect(),
        };
        for character in characters {
            if let Err(PlanError::Config(more)) = Pipeline::new(self, folder, character) {
                found = found.and(more.faults);
            }
        }
        Err(found)
    }

    /// Faults that showed once what it names was looked for.
    pub(super) fn error(&self, faults: Vec<ConfigFault>) -> ConfigError {
        ConfigError { sources: self.sources.clone(), faults: Vec::new() }.and(faults)
    }
}

/// Faults of syntax that are told at once: later ones are mostly what the first left open, and a file that is no TOML at all
/// has one in every line.
const SYNTAX: usize = 3;

/// The keys of every section, before any of them is understood.
#[derive(Default)]
struct Collected<'i> {
    input: Section<'i>,
    output: Section<'i>,
    stages: Vec<Section<'i>>,
    /// What `--set input.roles.words.WORD=PART` tells.
    words: Vec<SetWord>,
}

/// A word and its part that were set on top of the file.
struct SetWord {
    source: usize,
    word: Spanned<String>,
    part: Spanned<String>,
}

impl<'i> Collected<'i> {
    fn of(table: DeTable<'i>, faults: &mut Vec<ConfigFault>) -> Self {
        let mut collected = Self::default();
        collected.input.name = "[input]".to_owned();
        collected.output.name = "[output]".to_owned();
        let scene = table.contains_key("simulation") || table.contains_key("body");
        for (key, value) in table {
            let span = value.span();
            match (key.get_ref().as_ref(), value.into_inner()) {
                (name, _) if scene => {
                    let fault = ConfigFault::at(0, key.span(), format!("unknown section `{name}`"));
                    faults.push(fault.hint(Some("this is a scene: `posemill simulate` carries it out")));
                    break;
                }
                ("input", DeValue::Table(table)) => collected.input.fill(table, span),
                ("output", DeValue::Table(table)) => collected.output.fill(table, span),
                ("stage", DeValue::Array(steps)) => {
                    for step in steps {
                        let span = step.span();
                        match step.into_inner() {
                            DeValue::Table(table) => {
                                let mut section = Section::default();
                                section.fill(table, span);
                                collected.stages.push(section);
                            }
                            _ => {
                                faults.push(ConfigFault::at(0, span, "a stage must be a table: `[[stage]]`"))
                            }
                        }
                    }
                }
                (name @ ("input" | "output"), _) => {
                    let message = format!("`{name}` must be a section: `[{name}]`");
                    faults.push(ConfigFault::at(0, span, message));
                }
                ("stage", _) => {
                    let fault = ConfigFault::at(0, span, "`stage` must be a list of tables");
                    faults.push(fault.label(Some("write `[[stage]]`, with two brackets")));
                }
                (name, _) => {
                    let sections = ["input", "output", "stage"];
                    let near = nearest(name, sections.into_iter());
                    let message =
                        format!("unknown section `{name}`, known are {}", listed(sections.into_iter()));
                    let label = near.map(|n| format!("did you mean `{n}`?"));
                    faults.push(ConfigFault::at(0, key.span(), message).label(label));
                }
            }
        }
        collected
    }

    /// Puts one `PATH=VALUE` on top.
    fn set(&mut self, source: usize, text: &'i str, registry: &[Entry], faults: &mut Vec<ConfigFault>) {
        let whole = 0..text.len();
        let shape = "write `input.KEY=VALUE`, `output.KEY=VALUE` or `stage.NAME.KEY=VALUE`";
        let Some((path, value)) = text.split_once('=') else {
            let message = format!("`{text}` has no `=`");
            faults.push(ConfigFault::at(source, whole, message).hint(Some(shape)));
            return;
        };
        let start = path.len() + 1 + (value.len() - value.trim_start().len());
        let span = start..(start + value.trim().len()).max(start);
        let parts: Vec<&str> = path.trim().split('.').collect();
        let (section, key) = match parts[..] {
            ["input", "roles", "words", ref word @ ..] if !word.is_empty() => {
                let word = word.join(".");
                let at = path.trim_end().len();
                let part = value.trim().trim_matches(['"', '\'']).to_owned();
                return self.words.push(SetWord {
                    source,
                    word: Spanned::new(at - word.len()..at, word),
                    part: Spanned::new(span, part),
                });
            }
            ["input", key @ "calibration", _] | ["input", key] => (&mut self.input, key),
            ["output", key] | ["output", key, _] => (&mut self.output, key),
            ["stage", stage, key] => match self.stage(source, stage, registry) {
                Ok(section) => (section, key),
                Err(fault) => return faults.push(fault),
            },
            _ => {
                let message = format!("`{path}` is not the path of a key");
                let roles = parts.starts_with(&["input", "roles"]);
                let shape = if roles { "write `input.roles.words.WORD=PART`" } else { shape };
                faults.push(ConfigFault::at(source, 0..path.len(), message).hint(Some(shape)));
                return;
            }
        };
        let value = match DeValue::parse(value.trim()) {
            Ok(value) => value.into_inner(),
            Err(_) => DeValue::String(value.trim().to_owned().into()),
        };
        let value = match parts[..] {
            // One entry of a table: `input.calibration.frame=12`, `output.npz.up=z`; the others of a format stay.
            ["input", "calibration", inner] | ["output", _, inner] => {
                let at = path.trim_end().len();
                let known = section.keys.iter().find(|k| k.written.name == key && parts[0] == "output");
                let mut table = match known.map(|k| k.written.value.get_ref()) {
                    Some(DeValue::Table(table)) => table.clone(),
                    _ => DeTable::new(),
                };
                table.insert(
                    Spanned::new(at - inner.len()..at, inner.into()),
                    Spanned::new(span.clone(), value),
                );
                DeValue::Table(table)
            }
            _ => value,
        };
        let written = WrittenKey { name: key.to_owned(), value: Spanned::new(span, value) };
        section.keys.retain(|k| k.written.name != key);
        let at = path.trim_end().len();
        section.keys.push(Key { written, span: at.saturating_sub(key.len())..at, source });
    }

    /// The stage of this name or number.
    fn stage(
        &mut self,
        source: usize,
        stage: &str,
        registry: &[Entry],
    ) -> Result<&mut Section<'i>, ConfigFault> {
        let at = "stage.".len()..("stage.".len() + stage.len());
        let names: Vec<String> = self.stages.iter().map(|s| s.name.clone()).collect();
        let matching: Vec<usize> = match stage.parse::<usize>() {
            Ok(number) => (1..=names.len()).filter(|n| *n == number).map(|n| n - 1).collect(),
            Err(_) => (0..names.len()).filter(|k| names[*k] == stage).collect(),
        };
        match matching[..] {
            [only] => Ok(&mut self.stages[only]),
            [] => {
                let known = match registry.iter().any(|e| e.name == stage) {
                    true => format!("this pipeline has no stage `{stage}`"),
                    false => format!("there is no stage `{stage}`"),
                };
                let near = nearest(stage, names.iter().map(String::as_str));
                let mut hint = match names.is_empty() {
                    true => "it has no stages at all".to_owned(),
                    false => format!("its stages are {}", listed(names.iter().map(String::as_str))),
                };
                if registry.iter().any(|e| e.name == stage) {
                    hint += &format!(
                        "; a file for `posemill run` takes another one: [[stage]] use = \"{stage}\""
                    );
                }
                let label = near.map(|n| format!("did you mean `{n}`?"));
                Err(ConfigFault::at(source, at, known).label(label).hint(Some(hint)))
            }
            _ => {
                let message = format!("this pipeline has {} stages `{stage}`", matching.len());
                let numbers: Vec<String> = matching.iter().map(|k| format!("stage.{}", k + 1)).collect();
                let numbers = listed(numbers.iter().map(String::as_str));
                Err(ConfigFault::at(source, at, message)
                    .hint(Some(format!("say which by number: {numbers}"))))
            }
        }
    }
}

impl<'i> Section<'i> {
    fn fill(&mut self, table: DeTable<'i>, span: Range<usize>) {
        self.span = span;
        for (key, value) in table {
            if let ("use", true, DeValue::String(name)) =
                (key.get_ref().as_ref(), self.name.is_empty(), value.get_ref())
            {
                self.name = name.to_string();
                self.span = value.span();
                continue;
            }
            let span = key.span();
            let written = WrittenKey { name: key.into_inner().into_owned(), value };
            self.keys.push(Key { written, span, source: 0 });
        }
        self.keys.sort_by_key(|k| k.span.start);
    }

    /// Where the value of a key stands, or the header of the section.
    fn place_of(&self, key: &str) -> (usize, Range<usize>) {
        match self.keys.iter().find(|k| k.written.name == key) {
            Some(key) => (key.source, key.written.value.span()),
            None => (0, self.span.clone()),
        }
    }

    /// The texts among the values. Places inside a value are known for the file only.
    fn texts(&self) -> Vec<Told> {
        let mut found = Vec::new();
        for key in &self.keys {
            let whole = key.written.value.span();
            let mut open = vec![(whole.clone(), key.written.value.get_ref())];
            while let Some((span, value)) = open.pop() {
                let span = if key.source == 0 { span } else { whole.clone() };
                match value {
                    DeValue::String(text) => found.push((text.to_string(), (key.source, span))),
                    DeValue::Array(all) => open.extend(all.iter().map(|v| (v.span(), v.get_ref()))),
                    DeValue::Table(all) => open.extend(all.values().map(|v| (v.span(), v.get_ref()))),
                    _ => {}
                }
            }
        }
        found
    }

    fn written(&self) -> Vec<WrittenKey<'i>> {
        self.keys.iter().map(|k| k.written.clone()).collect()
    }

    fn placed(&self, label: &str, fault: KeyFault) -> ConfigFault {
        let (source, span) = match fault.index.map(|k| &self.keys[k]) {
            None => (0, self.span.clone()),
            Some(key) if fault.at_key => (key.source, key.span.clone()),
            // A place inside the value is known for the file only: values of `--set` are parsed on their own.
            Some(key) => match fault.span {
                Some(span) if key.source == 0 && !span.is_empty() => (0, span),
                _ => (key.source, key.written.value.span()),
            },
        };
        let (message, hint) = match fault.message.split_once('\n') {
            Some((message, hint)) => (message, Some(hint)),
            None => (fault.message.as_str(), None),
        };
        ConfigFault::at(source, span, format!("{label}: {message}")).label(fault.label).hint(hint)
    }
}

/// Stages of which a second one does nothing, or undoes the first.
fn told_twice(stages: &[StageAsWritten], faults: &mut Vec<ConfigFault>) {
    for (k, again) in stages.iter().enumerate() {
        let Some(why) = again.stage.once() else { continue };
        let Some(first) = stages[..k].iter().find(|s| s.stage.name() == again.stage.name()) else { continue };
        let message = format!("{} is the second `{}`: {why}", again.label, first.stage.name());
        faults.push(ConfigFault::at(0, again.span.clone(), message).hint(Some("leave one of them out")));
    }
}

fn read_section<T: DeserializeOwned + JsonSchema + Default>(
    section: &Section<'_>,
    faults: &mut Vec<ConfigFault>,
) -> T {
    keys::read(&section.written()).unwrap_or_else(|found| {
        faults.extend(found.into_iter().map(|f| section.placed(&section.name, f)));
        T::default()
    })
}

fn read_limits(
    written: &WrittenLimits,
    section: &Section<'_>,
    faults: &mut Vec<ConfigFault>,
) -> Vec<ToldLimit> {
    let whole = section.place_of("limits");
    // A place inside the value is known for the file only.
    let place = |span: Range<usize>| if whole.0 == 0 { (0, span) } else { whole.clone() };
    let mut limits = Vec::new();
    for (character, joints) in written {
        for (name, angles) in joints {
            let told = angles.iter().map(|(word, degrees)| (word.get_ref().as_str(), *degrees.get_ref()));
            let read = match name.get_ref().parse::<Role>() {
                Ok(role) => ToldMobility::read(role, told).map_err(|(at, error)| {
                    let word = angles.keys().nth(at).unwrap_or(name);
                    (word.span(), error.to_string())
                }),
                Err(message) => Err((name.span(), message)),
            };
            let role = name.get_ref().parse::<Role>();
            match read {
                Ok(told) => {
                    let place = place(character.span());
                    limits.push(ToldLimit { character: character.get_ref().clone(), place, told });
                }
                Err((span, message)) => {
                    let (source, span) = place(span);
                    let fault = ConfigFault::at(source, span, format!("[input]: `limits`: {message}"));
                    faults.push(fault.hint(role.is_err().then(|| format!("roles are {}", Role::WORDS))));
                }
            }
        }
    }
    limits
}

/// Checks the words that the file tells, and puts those of `--set` on top of them.
fn read_words(input: &mut Input, collected: &Collected<'_>, faults: &mut Vec<ConfigFault>) {
    let whole = collected.input.place_of("roles");
    let written = input.roles.words.iter().map(|(word, part)| (whole.0, word, part));
    let set = collected.words.iter().map(|set| (set.source, &set.word, &set.part));
    for (source, word, part) in written.chain(set) {
        let Err(error) = Word::new(word.get_ref(), part.get_ref()) else { continue };
        let (at, near) = match &error {
            WordError::Empty(_) => (word.span(), None),
            WordError::UnknownPart { found } => (part.span(), nearest(found, Word::parts().into_iter())),
        };
        let at = if source == 0 || source != whole.0 { at } else { whole.1.clone() };
        let label = near.map(|n| format!("did you mean `{n}`?"));
        let hint = matches!(error, WordError::UnknownPart { .. })
            .then(|| format!("known are {}", listed(Word::parts().into_iter())));
        let fault = ConfigFault::at(source, at, format!("[input]: `roles.words`: {error}"));
        faults.push(fault.label(label).hint(hint));
    }
    for set in &collected.words {
        input.roles.words.remove(&set.word);
        input.roles.words.insert(set.word.clone(), set.part.clone());
    }
}

fn read_stage(
    number: usize,
    section: &Section<'_>,
    registry: &[Entry],
    faults: &mut Vec<ConfigFault>,
) -> Option<StageAsWritten> {
    let names = || registry.iter().map(|e| e.name);
    if section.name.is_empty() {
        let place = section.place_of("use");
        let hint = format!("write `use = \"NAME\"`; stages are {}", listed(names()));
        let message = format!("stage {number}: `use` must name a stage");
        faults.push(ConfigFault::at(place.0, place.1, message).hint(Some(hint)));
        return None;
    }
    let Some(entry) = registry.iter().find(|e| e.name == section.name) else {
        let near = nearest(&section.name, names()).map(|n| format!("did you mean `{n}`?"));
        let message = format!("stage {number}: there is no stage `{}`", section.name);
        let hint = format!("stages are {}", listed(names()));
        faults.push(ConfigFault::at(0, section.span.clone(), message).label(near).hint(Some(hint)));
        return None;
    };
    let label = format!("stage {number} (`{}`)", entry.name);
    let enabled = match &section.enabled {
        None => true,
        Some(key) => match key.written.value.get_ref() {
            DeValue::Boolean(enabled) => *enabled,
            _ => {
                let message = format!("{label}: `{ENABLED}` must be true or false");
                faults.push(ConfigFault::at(key.source, key.written.value.span(), message));
                true
            }
        },
    };
    let stage: Arc<dyn WrittenStage> = match entry.read(&section.written()) {
        Ok(stage) => Arc::from(stage),
        Err(found) => {
            faults.extend(found.into_iter().map(|f| section.placed(&label, f)));
            return None;
        }
    };
    for fault in stage.validate().err().unwrap_or_default() {
        let place = section.place_of(fault.key.unwrap_or_default());
        let (message, hint) = match fault.message.split_once('\n') {
            Some((message, hint)) => (message, Some(hint.trim())),
            None => (fault.message.as_str(), None),
        };
        faults.push(ConfigFault::at(place.0, place.1, format!("{label}: {message}")).hint(hint));
    }
    // Who sets a key of a stage that the file has switched off wants the stage.
    let off = section.enabled.as_ref().is_some_and(|key| !enabled && key.source == 0);
    for key in section.keys.iter().filter(|key| off && key.source != 0) {
        let message =
            format!("{label}: `{}` does nothing, since the stage is switched off", key.written.name);
        let hint = format!("switch it on: `--set stage.{}.{ENABLED}=true`", entry.name);
        faults.push(ConfigFault::at(key.source, key.span.clone(), message).hint(Some(hint)));
    }
    let texts = section.texts();
    enabled.then(|| StageAsWritten { stage, span: section.span.clone(), label, texts })
}
