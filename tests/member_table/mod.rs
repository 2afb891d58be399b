//! Tables of the members of JSON documents, made from their JSON Schemas.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A cell of a table, in which nothing is markup.
pub fn cell(text: &str) -> String {
    text.chars().fold(String::new(), |mut cell, c| {
        if "|_*<>`[]\\".contains(c) {
            cell.push('\\');
        }
        cell.push(c);
        cell
    })
}

/// The text with its quoted words as code.
pub fn prose(text: &str) -> String {
    let part = |(k, part): (usize, &str)| if k % 2 == 1 { format!("`{part}`") } else { cell(part) };
    text.split('`').enumerate().map(part).collect()
}

/// The table of a document's members, by its schema.
pub struct Members<'a> {
    root: &'a Value,
    /// Where a definition is described.
    described: BTreeMap<&'a str, String>,
    text: String,
}

impl<'a> Members<'a> {
    /// The table of the document with this schema, and the names of its versions.
    pub fn of(root: &'a Value) -> (String, Vec<String>) {
        let mut members = Self { root, described: BTreeMap::new(), text: String::new() };
        members.expand("", root);
        let one = members.resolved(Self::alternatives(root)[0]).0;
        let versions = members.words(&one["properties"]["schema"]);
        (members.text, versions.iter().map(|word| word.trim_matches('`').to_owned()).collect())
    }

    /// The schema that a reference stands for, and its name.
    fn resolved(&self, schema: &'a Value) -> (&'a Value, Option<&'a str>) {
        match schema["$ref"].as_str() {
            Some(path) => (self.root.pointer(&path[1..]).unwrap(), path.rsplit('/').next()),
            None => (schema, None),
        }
    }

    /// The schemas of which one holds; the schema itself if there is no choice.
    fn alternatives(schema: &'a Value) -> Vec<&'a Value> {
        let all = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        all.map_or_else(|| vec![schema], |all| all.iter().collect())
    }

    fn kind(&self, schema: &'a Value) -> String {
        let (schema, _) = self.resolved(schema);
        let mut kinds: Vec<String> = Vec::new();
        for one in Self::alternatives(schema) {
            if !std::ptr::eq(one, schema) {
                kinds.push(self.kind(one));
                continue;
            }
            let types = match &one["type"] {
                Value::Array(types) => types.iter().collect(),
                one => vec![one],
            };
            kinds.extend(types.iter().map(|kind| match kind.as_str() {
                Some("array") => format!("array of {}", self.kind(&one["items"])),
                kind => kind.unwrap_or("any").to_owned(),
            }));
        }
        let mut once = BTreeSet::new();
        kinds.retain(|kind| once.insert(kind.clone()));
        kinds.join(" or ")
    }

    /// The words that a text can be.
    fn words(&self, schema: &'a Value) -> Vec<String> {
        let schema = self.resolved(schema).0;
        let mut words: Vec<String> = Vec::new();
        for one in Self::alternatives(schema) {
            let constants = one["const"].as_str().into_iter();
            let constants =
                constants.chain(one["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
            let about = if std::ptr::eq(one, schema) { None } else { one["description"].as_str() };
            words.extend(constants.map(|word| match about {
                Some(about) => format!("`{word}`: {}", about.trim_end_matches('.')),
                None => format!("`{word}`"),
            }));
        }
        words
    }

    fn expand(&mut self, path: &str, schema: &'a Value) {
        let (schema, name) = self.resolved(schema);
        if let Some(name) = name.filter(|_| schema["properties"].is_object()) {
            if let Some(first) = self.described.get(name) {
                if !first.is_empty() {
                    let note = format!(" Members as those of `{first}`. |\n");
                    self.text.truncate(self.text.trim_end_matches(" |\n").len());
                    self.text += &note;
                }
                return;
            }
            self.described.insert(name, path.to_owned());
        }
        for one in Self::alternatives(schema) {
            if !std::ptr::eq(one, schema) {
                self.expand(path, one);
                continue;
            }
            if one["items"].is_object() {
                self.expand(&format!("{path}[]"), &one["items"]);
            }
            if one["additionalProperties"].is_object() {
                self.expand(&format!("{path}.NAME"), &one["additionalProperties"]);
            }
            for (name, member) in one["properties"].as_object().into_iter().flatten() {
                let path = format!("{path}{}{name}", if path.is_empty() { "" } else { "." });
                // The only member of one of several forms is described by the form.
                let of_form = (one["properties"].as_object().unwrap().len() == 1).then_some(one);
                let mut described =
                    [Some(member), Some(self.resolved(member).0), of_form].into_iter().flatten();
                let about = described.find_map(|schema| schema["description"].as_str());
                let about = about.unwrap_or_else(|| panic!("`{path}` has no description"));
                assert!(!about.contains("[`") && !about.contains("`None`"), "`{path}` names Rust: {about}");
                let optional = !one["required"].as_array().is_some_and(|all| all.iter().any(|r| r == name));
                self.row(&path, member, about, optional);
            }
        }
    }

    fn row(&mut self, path: &str, member: &'a Value, about: &str, optional: bool) {
        let mut meaning = about.replace('\n', " ");
        let words = self.words(member);
        if !words.is_empty() && !words.iter().all(|word| meaning.contains(word)) {
            meaning += &format!(" {}.", words.join("; "));
        }
        let kind = self.kind(member) + if optional { ", optional" } else { "" };
        let _ = writeln!(self.text, "| `{path}` | {kind} | {} |", prose(&meaning));
        self.expand(path, member);
    }
}
