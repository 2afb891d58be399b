//! Reads the sections and stages of a pipeline from their keys.

use super::config_error::ConfigFault;
use super::config_keys::{CollectedKeys, PlacedText};
use super::input_section::{InputSection, WrittenLimits};
use super::output_section::OutputSection;
use super::section_keys::SectionKeys;
use crate::anatomy::{Word, WordError};
use crate::body::MobilityOverride;
use crate::model::{ROBOT_LAYOUTS, Role};
use crate::report::nearest;
use crate::stages::written_keys::{self, ENABLED, listed};
use crate::stages::{StageEntry, WrittenStage};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;
use toml::de::DeValue;

/// The limits of a joint of one character.
#[derive(Debug)]
pub struct CharacterLimit {
    /// The name of the character's file without the extension.
    pub character: String,
    /// The number of the source and the span of the name in it, bytes.
    pub place: (usize, Range<usize>),
    /// The limits.
    pub mobility: MobilityOverride,
}

/// One `[[stage]]`.
#[derive(Debug)]
pub struct WrittenStageConfig {
    /// Its keys, parsed.
    pub stage: Arc<dyn WrittenStage>,
    /// The span of the value of `use` in the pipeline file, bytes.
    pub span: Range<usize>,
    /// Its position in the file, from 1, disabled stages included.
    pub(super) number: usize,
    /// Its name in messages.
    pub(super) label: String,
    /// The strings among its values.
    pub(super) texts: Vec<PlacedText>,
}

/// Reports second stages of a kind that has no effect twice.
pub(super) fn check_repeated_stages(stages: &[WrittenStageConfig], faults: &mut Vec<ConfigFault>) {
    for (k, again) in stages.iter().enumerate() {
        let Some(why) = again.stage.once() else { continue };
        let Some(first) = stages[..k].iter().find(|s| s.stage.name() == again.stage.name()) else { continue };
        let message = format!("{} is the second `{}`: {why}", again.label, first.stage.name());
        faults.push(ConfigFault::at(0, again.span.clone(), message).hint(Some("leave one of them out")));
    }
}

pub(super) fn read_section<T: DeserializeOwned + JsonSchema + Default>(
    section: &SectionKeys<'_>,
    faults: &mut Vec<ConfigFault>,
) -> T {
    written_keys::read(&section.written(), &[]).unwrap_or_else(|found| {
        faults.extend(found.into_iter().map(|f| section.placed(&section.name, f)));
        T::default()
    })
}

/// A fault if a layout or a pose of robots is set, and no format has their motions. The format of a command that states none is known
/// later, from the name of its output.
pub(super) fn idle_robot_options(output: &OutputSection, section: &SectionKeys<'_>) -> Option<ConfigFault> {
    let robot = &output.robot;
    let layout = Some(robot.layout.as_str()).filter(|layout| !layout.is_empty());
    let is_set = layout.is_some() || !robot.default_pose.is_empty();
    let place = section.place_of("robot");
    let is_known = place.0 == 0 || section.keys.iter().any(|key| key.written.name == "formats");
    let has_layouts = |extension: &str| ROBOT_LAYOUTS.iter().any(|known| known.extension == extension);
    if !is_set
        || !is_known
        || layout == Some("none")
        || output.formats.iter().any(|format| has_layouts(format.extension()))
    {
        return None;
    }
    let extension = layout
        .and_then(|layout| ROBOT_LAYOUTS.iter().find(|known| known.name == layout))
        .map_or("csv", |known| known.extension);
    let formats = listed(output.formats.iter().map(|format| format.extension()));
    let what =
        layout.map_or_else(|| "`robot.default_pose`".to_owned(), |layout| format!("the layout `{layout}`"));
    let message = format!("[output]: {what} does nothing, since the format is {formats}");
    let hint = format!("write `formats = [\"{extension}\"]` in [output], or end `-o` with `.{extension}`");
    Some(ConfigFault::at(place.0, place.1, message).hint(Some(hint)))
}

pub(super) fn read_limits(
    written: &WrittenLimits,
    section: &SectionKeys<'_>,
    faults: &mut Vec<ConfigFault>,
) -> Vec<CharacterLimit> {
    let whole = section.place_of("limits");
    // Positions inside the value are known only for the file.
    let place = |span: Range<usize>| if whole.0 == 0 { (0, span) } else { whole.clone() };
    let mut limits = Vec::new();
    for (character, joints) in written {
        for (name, angles) in joints {
            let limits_of_joint =
                angles.iter().map(|(word, degrees)| (word.get_ref().as_str(), *degrees.get_ref()));
            let read = match name.get_ref().parse::<Role>() {
                Ok(role) => MobilityOverride::read(role, limits_of_joint).map_err(|(at, error)| {
                    let word = angles.keys().nth(at).unwrap_or(name);
                    (word.span(), error.to_string())
                }),
                Err(message) => Err((name.span(), message)),
            };
            let role = name.get_ref().parse::<Role>();
            match read {
                Ok(mobility) => {
                    let place = place(character.span());
                    limits.push(CharacterLimit { character: character.get_ref().clone(), place, mobility });
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

/// Checks the words of the file and of `--set`, and adds those of `--set`.
pub(super) fn read_words(
    input: &mut InputSection,
    collected: &CollectedKeys<'_>,
    faults: &mut Vec<ConfigFault>,
) {
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

pub(super) fn read_stage(
    number: usize,
    section: &SectionKeys<'_>,
    registry: &[StageEntry],
    faults: &mut Vec<ConfigFault>,
) -> Option<WrittenStageConfig> {
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
        faults.push(ConfigFault::from_error(Some(place), &format!("{label}: {}", fault.message)));
    }
    // A `--set` of a key has no effect if the file disables the stage: most likely the stage is wanted.
    let off = section.enabled.as_ref().is_some_and(|key| !enabled && key.source == 0);
    for key in section.keys.iter().filter(|key| off && key.source != 0) {
        let message = format!("{label}: `{}` does nothing, since the stage is disabled", key.written.name);
        let hint = format!("enable it: `--set stage.{}.{ENABLED}=true`", entry.name);
        faults.push(ConfigFault::at(key.source, key.span.clone(), message).hint(Some(hint)));
    }
    let texts = section.texts();
    enabled.then(|| WrittenStageConfig { stage, span: section.span.clone(), number, label, texts })
}
