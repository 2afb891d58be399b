//! Text about the stages: help for one stage, a complete commented pipeline, a JSON Schema. All of it is generated from the doc
//! comments and defaults of the configuration structs.

use super::input_section::InputSection;
use super::output_section::OutputSection;
use crate::stages::StageEntry;
use crate::stages::written_keys::{ENABLED, inlined_schema, properties};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Width of comments and help, characters.
const WIDTH: usize = 96;

/// The first sentence of every stage.
pub fn stage_list(registry: &[StageEntry]) -> String {
    let width = registry.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let line = |e: &StageEntry| format!("{:width$}  {}\n", e.name, first_sentence(&describe(&e.schema())));
    registry.iter().map(line).collect()
}

/// What a stage does and what each of its keys means.
pub fn stage_help(entry: &StageEntry) -> String {
    let schema = entry.schema();
    let mut text = String::new();
    paragraph(&mut text, "", &format!("{}: {}", entry.name, describe(&schema)));
    for (key, property) in properties(&schema) {
        let default = literal(entry.defaults().get(key));
        let default = default.map_or("left out by default".to_owned(), |d| format!("default {d}"));
        let _ = writeln!(text, "\n{key} ({default})");
        paragraph(&mut text, "    ", &key_text(property));
        for (key, property) in inner(property) {
            let _ = writeln!(text, "\n    {key}{}", or_default(property));
            paragraph(&mut text, "        ", &key_text(property));
        }
    }
    let _ = writeln!(text, "\n{ENABLED} (default true)");
    paragraph(&mut text, "    ", "Whether the stage runs. Every stage has this key.");
    text
}

/// The keys of a table that is the value of a key, or of each table in a list that is.
fn inner(property: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let alternatives = property.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let schemas = std::iter::once(property).chain(property.get("items")).chain(alternatives);
    schemas.filter_map(|s| s.get("properties").and_then(Value::as_object)).flatten()
}

/// The default of an inner key, in brackets.
fn or_default(property: &Value) -> String {
    literal(property.get("default")).map_or(String::new(), |default| format!(" (default {default})"))
}

/// A pipeline with every section, stage and key at its default, each with its comment.
pub fn reference(registry: &[StageEntry]) -> String {
    let mut text = String::new();
    let opening = "Every section, stage and key of a pipeline, each at its default. Stages run in the order of \
        the file; a pipeline lists the stages it needs, as often as it needs them.";
    paragraph(&mut text, "# ", opening);
    paragraph(
        &mut text,
        "# ",
        &format!("Every stage also has the key `{ENABLED}`: with `{ENABLED} = false` it is left out."),
    );
    text += "# Made by `posemill stages --reference`.\n";
    let input = serde_json::to_value(InputSection::default()).expect("a configuration is plain data");
    let output = serde_json::to_value(OutputSection::default()).expect("a configuration is plain data");
    section(&mut text, "[input]", &inlined_schema::<InputSection>(), &input);
    section(&mut text, "[output]", &inlined_schema::<OutputSection>(), &output);
    for entry in registry {
        let header = format!("[[stage]]\nuse = \"{}\"", entry.name);
        section(&mut text, &header, &entry.schema(), &entry.defaults());
    }
    text
}

/// The JSON Schema of a pipeline file.
pub fn schema(registry: &[StageEntry]) -> Value {
    let part = |mut schema: Value| {
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("$schema");
        }
        schema
    };
    let stage = |entry: &StageEntry| {
        let mut schema = part(entry.schema());
        schema["title"] = json!(entry.name);
        schema["required"] = json!(["use"]);
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        schema["properties"]["use"] = json!({ "const": entry.name });
        schema["properties"][ENABLED] =
            json!({ "type": "boolean", "default": true, "description": "Whether the stage runs." });
        schema
    };
    let mut items = json!({ "type": "object" });
    if !registry.is_empty() {
        items["oneOf"] = Value::Array(registry.iter().map(stage).collect());
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "posemill pipeline",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "input": part(inlined_schema::<InputSection>()),
            "output": part(inlined_schema::<OutputSection>()),
            "stage": { "type": "array", "items": items },
        },
    })
}

fn section(text: &mut String, header: &str, schema: &Value, defaults: &Value) {
    text.push('\n');
    paragraph(text, "# ", &describe(schema));
    let _ = writeln!(text, "{header}");
    for (key, property) in properties(schema) {
        text.push('\n');
        paragraph(text, "# ", &key_text(property));
        let _ = match literal(defaults.get(key)) {
            Some(value) => writeln!(text, "{key} = {value}"),
            None => writeln!(text, "# {key} = ..."),
        };
        for (inner, property) in inner(property) {
            let _ = writeln!(text, "#\n# {key}: {inner}{}", or_default(property));
            paragraph(text, "#     ", &key_text(property));
        }
    }
}

fn describe(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |s| s.0).trim_end_matches('.')
}

/// The description of a key, and the words that it may be.
fn key_text(property: &Value) -> String {
    let mut words = Vec::new();
    collect_words(property, &mut words);
    // A value that may be one word or a list of words has the words twice.
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(word.clone()));
    let mut text = describe(property);
    if words.len() > 1 {
        let _ = write!(text, " One of {}.", words.join(", "));
    }
    text
}

fn collect_words(schema: &Value, words: &mut Vec<String>) {
    if let Some(word) = schema.get("const") {
        words.push(word.to_string());
    }
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    words.extend(listed.filter(|w| !w.is_null()).map(Value::to_string));
    for inner in ["oneOf", "anyOf"] {
        for schema in schema.get(inner).and_then(Value::as_array).into_iter().flatten() {
            collect_words(schema, words);
        }
    }
    if let Some(items) = schema.get("items") {
        collect_words(items, words);
    }
}

/// A default as TOML; `None` where the key is left out.
fn literal(value: Option<&Value>) -> Option<String> {
    let value = toml::Value::try_from(value.filter(|v| !v.is_null())?).ok()?;
    Some(value.to_string())
}

fn paragraph(text: &mut String, indent: &str, words: &str) {
    let mut line = String::new();
    for word in words.split_whitespace() {
        if !line.is_empty() && indent.len() + line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::PipelineConfig;
    use crate::stages::STAGES;

    /// What a number needs beside it to be allowed, by the path of its key or the start of it.
    const BESIDE: [(&str, &str); 6] = [
        ("filter.window_frames", "degree = 0"),
        ("filter.degree", "window_frames = 721"),
        ("loop.longest_s", "shortest_s = 1e-12"),
        ("ik.effectors", "joint = \"left_hand\"\ntarget = [0.0, 1.0, 0.0]"),
        ("perform.hits.mass_kg", "part = \"chest\"\nvelocity_m_s = [0.0, 0.0, 1e-9]"),
        ("perform.hits", "part = \"chest\"\nimpulse_n_s = [0.0, 0.0, 10.0]"),
    ];

    /// The keys that may be numbers: their table as it is written, their path, and the schema of the number.
    fn numbers(header: &str, table: &str, path: &str, schema: &Value) -> Vec<(String, String, Value)> {
        let mut found = Vec::new();
        for (key, property) in properties(schema) {
            let path = format!("{path}.{key}");
            let mut parts = vec![property];
            while let Some(part) = parts.pop() {
                parts.extend(part.get("anyOf").and_then(Value::as_array).into_iter().flatten());
                if ["\"number\"", "\"integer\""].iter().any(|kind| part["type"].to_string().contains(kind)) {
                    found.push((header.to_owned(), path.clone(), part.clone()));
                }
                let inner = format!("{header}\n[{table}.{key}]");
                found.extend(numbers(&inner, &format!("{table}.{key}"), &path, part));
                if let Some(items) = part.get("items") {
                    let inner = format!("{header}\n[[{table}.{key}]]");
                    found.extend(numbers(&inner, &format!("{table}.{key}"), &path, items));
                }
            }
        }
        found
    }

    #[test]
    fn the_schema_allows_the_numbers_that_the_program_allows() {
        let schema = schema(STAGES);
        let mut keys = Vec::new();
        for section in ["input", "output"] {
            keys.extend(numbers(&format!("[{section}]"), section, section, &schema["properties"][section]));
        }
        for stage in schema["properties"]["stage"]["items"]["oneOf"].as_array().unwrap() {
            let name = stage["title"].as_str().unwrap();
            keys.extend(numbers(&format!("[[stage]]\nuse = \"{name}\""), "stage", name, stage));
        }
        assert!(keys.len() > 50, "{}", keys.len());
        let mut faults = Vec::new();
        for (header, path, number) in keys {
            let bound = |name: &str| number[name].as_f64();
            let whole = number["type"].to_string().contains("integer");
            let mut tried = vec![-1e12, -1e3, -1.0, -0.01, 0.0, 1e-6, 0.01, 0.5, 1.0, 3.0, 1e3, 1e7, 1e12];
            for at in ["minimum", "exclusiveMinimum", "maximum"].into_iter().filter_map(bound) {
                let step = if whole { 1.0 } else { 1e-3 * at.abs().max(1e-3) };
                tried.extend([at - step, at, at + step]);
            }
            tried.sort_by(f64::total_cmp);
            tried.retain(|x| !whole || x.fract() == 0.0);
            let beside = BESIDE.iter().find(|(start, _)| path.starts_with(start)).map_or("", |b| b.1);
            let key = path.rsplit('.').next().unwrap();
            let runs = |x: f64| {
                let value = if whole { format!("{x:.0}") } else { format!("{x:?}") };
                let text = format!("{header}\n{beside}\n{key} = {value}\n");
                PipelineConfig::parse("p.toml", &text, &[], STAGES).is_ok()
            };
            let fits = |x: f64| {
                bound("minimum").is_none_or(|low| x >= low)
                    && bound("exclusiveMinimum").is_none_or(|low| x > low)
                    && bound("maximum").is_none_or(|high| x <= high)
            };
            let run: Vec<f64> = tried.iter().copied().filter(|x| runs(*x)).collect();
            let allows = |x: f64| run.first().is_some_and(|low| *low <= x) && x <= run[run.len() - 1];
            let other: Vec<f64> = tried.into_iter().filter(|x| fits(*x) != allows(*x)).collect();
            if run.is_empty() || !other.is_empty() {
                faults.push(format!("{path} = {other:?}: the program allows {run:?}, the schema {number}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
