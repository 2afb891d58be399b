//! Deserialises the keys of a table, with their positions in the text, into a struct and reports all errors at once.
//!
//! Each key is deserialised alone into the struct, whose other fields take their defaults. So every invalid key gives an
//! error of its own at the position of that key, whatever position the parser of the struct reports.

use crate::report::nearest;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// The key that every stage has besides its own: whether it runs.
pub const ENABLED: &str = "enabled";

/// One key with its value, as written.
#[derive(Clone, Debug)]
pub struct WrittenKey<'i> {
    /// The key.
    pub name: String,
    /// The value and its position in the text.
    pub value: Spanned<DeValue<'i>>,
}

/// An error in one key of several.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyFault {
    /// The position of the key in the list; `None` for the list as a whole.
    pub index: Option<usize>,
    /// Whether the key itself is at fault rather than its value.
    pub at_key: bool,
    /// The byte range inside the value, if the error concerns only a part of it.
    pub span: Option<Range<usize>>,
    /// One sentence: the key, its value, what is allowed.
    pub message: String,
    /// The nearest name, or another short hint to show at the position.
    pub label: Option<String>,
}

/// Deserialises the struct from these keys; those of `beside` are read elsewhere, and only named.
///
/// # Errors
/// All errors: unknown keys with the nearest known one, values of the wrong kind.
pub fn read<T: DeserializeOwned + JsonSchema>(
    keys: &[WrittenKey<'_>],
    beside: &[&str],
) -> Result<T, Vec<KeyFault>> {
    let schema = inlined_schema::<T>();
    let known: Vec<&str> = properties(&schema).map(|p| p.0).collect();
    let faults = faults(keys, [&known, beside], &|key| T::deserialize(deserializer([key])).err());
    if !faults.is_empty() {
        return Err(faults);
    }
    T::deserialize(deserializer(keys)).map_err(|error| {
        let message = error.message().to_owned();
        vec![KeyFault { index: None, at_key: false, span: None, message, label: None }]
    })
}

/// The errors of single keys; `invalid` is the error of a known key.
fn faults(
    keys: &[WrittenKey<'_>],
    [own, beside]: [&[&str]; 2],
    invalid: &dyn Fn(&WrittenKey<'_>) -> Option<toml::de::Error>,
) -> Vec<KeyFault> {
    let known = || own.iter().chain(beside).copied();
    let mut faults = Vec::new();
    for (index, key) in keys.iter().enumerate() {
        if own.contains(&key.name.as_str()) {
            if let Some(error) = invalid(key) {
                let (message, label) = say(&key.name, error.message());
                let span = error.span();
                faults.push(KeyFault { index: Some(index), at_key: false, span, message, label });
            }
        } else {
            let label = nearest(&key.name, known()).map(|n| format!("did you mean `{n}`?"));
            let message = format!("unknown key `{}`, known are {}", key.name, listed(known()));
            faults.push(KeyFault { index: Some(index), at_key: true, span: None, message, label });
        }
    }
    faults
}

fn deserializer<'k, 'i: 'k>(keys: impl IntoIterator<Item = &'k WrittenKey<'i>>) -> ValueDeserializer<'i> {
    let mut table = DeTable::new();
    for key in keys {
        let name = Spanned::new(key.value.span(), key.name.clone().into());
        table.insert(name, key.value.clone());
    }
    ValueDeserializer::from(Spanned::new(0..0, DeValue::Table(table)))
}

/// The JSON Schema of a type, with all subschemas inlined.
pub fn inlined_schema<T: JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// The properties of an object's schema, in order.
pub fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(k, v)| (k.as_str(), v))
}

/// Names in backticks, with commas.
pub fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Rewrites a message of the parser (`invalid type: string "fast", expected f64`) as a sentence about the key, with the
/// nearest allowed value.
fn say(key: &str, words: &str) -> (String, Option<String>) {
    if let Some((found, expected)) =
        words.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected "))
    {
        let allowed: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        let label = nearest(found, allowed.iter().copied()).map(|n| format!("did you mean `{n}`?"));
        let one = if allowed.len() > 1 { "one of " } else { "" };
        return (format!("`{key}` must be {one}{}, not `{found}`", listed(allowed.into_iter())), label);
    }
    let rest = words.strip_prefix("invalid type: ").or_else(|| words.strip_prefix("invalid value: "));
    match rest.and_then(|rest| rest.split_once(", expected ")) {
        Some((found, expected)) => (format!("`{key}` must be {}, not {found}", kind(expected)), None),
        None => (format!("`{key}`: {words}"), None),
    }
}

/// A Rust type in plain words.
fn kind(expected: &str) -> &str {
    match expected {
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other => other,
    }
}
