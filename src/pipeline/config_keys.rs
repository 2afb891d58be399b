//! The keys of a pipeline file and its `--set` overrides, before their values are read.

use super::config_error::ConfigFault;
use super::section_keys::{SectionKeys, SourcedKey};
use super::split_stage;
use crate::report::{nearest, split_hint};
use crate::stages::StageEntry;
use crate::stages::written_keys::{KeyFault, WrittenKey, listed};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A string among the values of a section, with the number of its source and its span, bytes.
pub(super) type PlacedText = (String, (usize, Range<usize>));

/// The keys of every section.
#[derive(Default)]
pub(super) struct CollectedKeys<'i> {
    pub(super) input: SectionKeys<'i>,
    pub(super) output: SectionKeys<'i>,
    pub(super) stages: Vec<SectionKeys<'i>>,
    /// The words of `--set input.roles.words.WORD=PART`.
    pub(super) words: Vec<SetWord>,
}

/// A word and its part from a `--set`.
pub(super) struct SetWord {
    pub(super) source: usize,
    pub(super) word: Spanned<String>,
    pub(super) part: Spanned<String>,
}

/// How the entry of a table in a table of `[input]` is overridden.
fn shape_of(parts: &[&str], value: &str) -> Option<String> {
    match parts {
        ["input", "roles", ..] => Some("write `input.roles.words.WORD=PART`".to_owned()),
        ["input", key, inner @ ..] if !inner.is_empty() => {
            let whole =
                inner.iter().rev().fold(value.trim().to_owned(), |value, key| format!("{{{key}={value}}}"));
            Some(format!("write the tables as one value: `--set 'input.{key}={whole}'`"))
        }
        _ => None,
    }
}

impl<'i> CollectedKeys<'i> {
    pub(super) fn of(table: DeTable<'i>, faults: &mut Vec<ConfigFault>) -> Self {
        let mut collected = Self::default();
        collected.input.name = "[input]".to_owned();
        collected.output.name = "[output]".to_owned();
        let scene = table.contains_key("simulation") || table.contains_key("body");
        for (key, value) in table {
            let span = value.span();
            match (key.get_ref().as_ref(), value.into_inner()) {
                (name, _) if scene => {
                    let fault = ConfigFault::at(0, key.span(), format!("unknown section `{name}`"));
                    faults.push(fault.hint(Some("this is a scene: use `posemill simulate`")));
                    break;
                }
                ("input", DeValue::Table(table)) => collected.input.fill(table, span),
                ("output", DeValue::Table(table)) => collected.output.fill(table, span),
                ("stage", DeValue::Array(steps)) => {
                    for step in steps {
                        let span = step.span();
                        match step.into_inner() {
                            DeValue::Table(table) => {
                                let mut section = SectionKeys::default();
                                section.fill(table, span);
                                split_stage::split(collected.stages.len() + 1, &mut section, faults);
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

    /// Overrides a key by one `PATH=VALUE`.
    pub(super) fn set(
        &mut self,
        source: usize,
        text: &'i str,
        registry: &[StageEntry],
        faults: &mut Vec<ConfigFault>,
    ) {
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
            ["input", key @ ("calibration" | "points"), _] | ["input", key] => (&mut self.input, key),
            ["output", key] | ["output", key, _] => (&mut self.output, key),
            ["stage", split_stage::OLD, key] if self.means_old(key, value, registry).is_some() => {
                let Some(at) = self.means_old(key, value, registry) else { return };
                if key == "mode" {
                    return;
                }
                (&mut self.stages[at], key)
            }
            ["stage", stage, key] => match self.stage(source, stage, registry) {
                Ok(section) => (section, key),
                Err(fault) => return faults.push(fault),
            },
            _ => {
                let message = format!("`{path}` is not the path of a key");
                let shape = shape_of(&parts, value).unwrap_or_else(|| shape.to_owned());
                faults.push(ConfigFault::at(source, 0..path.len(), message).hint(Some(&shape)));
                return;
            }
        };
        let value = match DeValue::parse(value.trim()) {
            Ok(value) => value.into_inner(),
            Err(_) => DeValue::String(value.trim().to_owned().into()),
        };
        let value = match parts[..] {
            // One entry of a table: `input.calibration.frame=12`, `output.npz.up=z`. The other entries stay, but for a
            // calibration, which has one.
            ["input", "calibration" | "points", inner] | ["output", _, inner] => {
                let at = path.trim_end().len();
                let known = section.keys.iter().find(|k| k.written.name == key && key != "calibration");
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
        section.keys.push(SourcedKey { written, span: at.saturating_sub(key.len())..at, source });
    }

    /// The stage that is meant by its old name.
    fn means_old(&mut self, key: &str, value: &str, registry: &[StageEntry]) -> Option<usize> {
        split_stage::meant(&mut self.stages, key, value, registry)
    }

    /// The stage of this name or number.
    fn stage(
        &mut self,
        source: usize,
        stage: &str,
        registry: &[StageEntry],
    ) -> Result<&mut SectionKeys<'i>, ConfigFault> {
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
                    true => "it has no stages".to_owned(),
                    false => format!("its stages are {}", listed(names.iter().map(String::as_str))),
                };
                if registry.iter().any(|e| e.name == stage) {
                    hint += &format!(
                        "; add it to a pipeline file for `posemill run`: [[stage]] use = \"{stage}\""
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

impl<'i> SectionKeys<'i> {
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
            self.keys.push(SourcedKey { written, span, source: 0 });
        }
        self.keys.sort_by_key(|k| k.span.start);
    }

    /// The position of the value of a key, or of the header of the section.
    pub(super) fn place_of(&self, key: &str) -> (usize, Range<usize>) {
        match self.keys.iter().find(|k| k.written.name == key) {
            Some(key) => (key.source, key.written.value.span()),
            None => (0, self.span.clone()),
        }
    }

    /// The strings among the values. Positions inside a value are known only for the file.
    pub(super) fn texts(&self) -> Vec<PlacedText> {
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

    pub(super) fn written(&self) -> Vec<WrittenKey<'i>> {
        self.keys.iter().map(|k| k.written.clone()).collect()
    }

    pub(super) fn placed(&self, label: &str, fault: KeyFault) -> ConfigFault {
        let (source, span) = match fault.index.map(|k| &self.keys[k]) {
            None => (0, self.span.clone()),
            Some(key) if fault.at_key => (key.source, key.span.clone()),
            // Positions inside a value are known only for the file: values of `--set` are parsed on their own.
            Some(key) => match fault.span {
                Some(span) if key.source == 0 && !span.is_empty() => (0, span),
                _ => (key.source, key.written.value.span()),
            },
        };
        let (message, hint) = split_hint(&fault.message);
        ConfigFault::at(source, span, format!("{label}: {message}")).label(fault.label).hint(hint)
    }
}
