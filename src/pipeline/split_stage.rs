//! The old stage `settle`, which is now one stage for each of its modes.
//!
//! A pipeline that still says `settle` is read as what it means, with a warning that names the stage; keys of another mode are
//! unknown to that stage and refused.

use super::config_error::ConfigFault;
use super::section_keys::SectionKeys;
use crate::report::nearest;
use crate::stages::StageEntry;
use crate::stages::written_keys::{ENABLED, listed};
use toml::de::DeValue;

/// The old name.
pub(super) const OLD: &str = "settle";

/// The key that chose what it did.
const MODE: &str = "mode";

/// The stages that it was; the first is what it did without the key.
const MODES: [&str; 3] = ["flights", "ragdoll", "secondary"];

/// Gives a stage `number` that is still called `settle` the name of the stage that it means.
pub(super) fn split(number: usize, section: &mut SectionKeys<'_>, faults: &mut Vec<ConfigFault>) {
    if section.name != OLD {
        return;
    }
    section.was = Some(OLD);
    section.name = MODES[0].to_owned();
    let Some(at) = section.keys.iter().position(|key| key.written.name == MODE) else { return };
    let mode = section.keys.remove(at);
    match named(mode.written.value.get_ref()) {
        Ok(name) => section.name = name.to_owned(),
        Err((message, label, hint)) => {
            let span = mode.written.value.span();
            let fault = ConfigFault::at(mode.source, span, format!("stage {number} (`{OLD}`): {message}"));
            faults.push(fault.label(label).hint(hint));
        }
    }
}

/// The stage of a mode, or what is wrong with it: a message, what may be meant, and what to do.
fn named(mode: &DeValue<'_>) -> Result<&'static str, (String, Option<String>, Option<&'static str>)> {
    let DeValue::String(word) = mode else {
        return Err((format!("`{MODE}` must be one of {}", listed(MODES.into_iter())), None, None));
    };
    if word == "track" {
        let message = "`mode`: `track` was removed: it changed clean takes and fixed few errors";
        let hint = "use `flights` for jumps and landings, `perform` for a body that performs the clip, the stages `repair`, `foot_lock`, `ground` and `limits` for the rest";
        return Err((message.to_owned(), None, Some(hint)));
    }
    MODES.into_iter().find(|name| name == word).ok_or_else(|| {
        let near = nearest(word, MODES.into_iter()).map(|name| format!("did you mean `{name}`?"));
        (format!("`{MODE}` must be one of {}, not `{word}`", listed(MODES.into_iter())), near, None)
    })
}

/// Which of these stages a `--set stage.settle.KEY=VALUE` is for; a `mode` renames it.
pub(super) fn meant(
    stages: &mut [SectionKeys<'_>],
    key: &str,
    value: &str,
    registry: &[StageEntry],
) -> Option<usize> {
    let knows = |name: &str| {
        let entry = registry.iter().find(|entry| entry.name == name);
        key == ENABLED || entry.is_some_and(|entry| entry.schema()["properties"][key].is_object())
    };
    let first =
        |stages: &[SectionKeys<'_>], fits: &dyn Fn(&SectionKeys<'_>) -> bool| stages.iter().position(fits);
    if key == MODE {
        let at = first(stages, &|s| MODES.contains(&s.name.as_str()))?;
        let word = DeValue::String(value.trim().trim_matches(['"', '\'']).to_owned().into());
        stages[at].name = named(&word).ok()?.to_owned();
        stages[at].was = Some(OLD);
        return Some(at);
    }
    let of_physics = |name: &str| name == "perform" || MODES.contains(&name);
    let at = first(stages, &|s| of_physics(&s.name) && knows(&s.name))
        .or_else(|| first(stages, &|s| s.was == Some(OLD)))?;
    stages[at].was = Some(OLD);
    Some(at)
}
