//! Edits the JSON text of a glTF document: replaces values and extends lists; every other byte is preserved.
//!
//! The document is not parsed into a model and written again, so unknown keys, number formatting and order are kept.

use crate::gltf_document::{GltfError, Json};
use indexmap::IndexMap;
use serde_json::value::RawValue;
use std::ops::Range;

/// A document and its pending edits.
pub(super) struct JsonSplice<'a> {
    json: Json<'a>,
    /// Byte ranges of the text and what replaces them.
    edits: Vec<(Range<usize>, String)>,
    /// By list: the number of existing items, and the new items.
    appended: IndexMap<&'static str, (usize, Vec<String>)>,
    /// The lists whose existing items are dropped.
    replaced: Vec<&'static str>,
}

impl<'a> JsonSplice<'a> {
    pub(super) fn new(json: Json<'a>) -> Self {
        Self { json, edits: Vec::new(), appended: IndexMap::new(), replaced: Vec::new() }
    }

    pub(super) fn json(&self) -> &Json<'a> {
        &self.json
    }

    /// Appends an item to the list `key` and returns its index.
    pub(super) fn append(&mut self, key: &'static str, item: String) -> Result<usize, GltfError> {
        if !self.appended.contains_key(key) {
            let existing = if self.replaced.contains(&key) { 0 } else { self.json.items(key)?.len() };
            self.appended.insert(key, (existing, Vec::new()));
        }
        let (existing, new) = &mut self.appended[key];
        new.push(item);
        Ok(*existing + new.len() - 1)
    }

    /// Replaces the last item that was appended to the list `key`.
    pub(super) fn amend(&mut self, key: &'static str, item: String) {
        if let Some(last) = self.appended.get_mut(key).and_then(|(_, l)| l.last_mut()) {
            *last = item;
        }
    }

    /// Drops the existing items of the list `key`.
    pub(super) fn replace_list(&mut self, key: &'static str) {
        self.replaced.push(key);
    }

    /// Replaces `part`, a slice of the document's text.
    pub(super) fn replace(&mut self, part: &str, text: String) {
        self.edits.push((self.json.range(part), text));
    }

    /// The new text.
    pub(super) fn finish(mut self) -> Result<String, GltfError> {
        let text = self.json.text();
        let mut tail = String::new();
        for (key, (existing, items)) in std::mem::take(&mut self.appended) {
            let items = items.join(",");
            let Some(raw) = self.json.raw(key) else {
                tail.push_str(&format!(",\"{key}\":[{items}]"));
                continue;
            };
            let range = self.json.range(raw);
            if self.replaced.contains(&key) {
                self.edits.push((range, format!("[{items}]")));
                continue;
            }
            let comma = if existing == 0 { "" } else { "," };
            let end = range.end - 1;
            self.edits.push((end..end, format!("{comma}{items}")));
        }
        let end = text.trim_end().len() - 1;
        self.edits.push((end..end, tail));
        self.edits.sort_by_key(|e| e.0.start);
        let mut out = String::with_capacity(text.len() + self.edits.iter().map(|e| e.1.len()).sum::<usize>());
        let mut at = 0;
        for (range, new) in &self.edits {
            out.push_str(&text[at..range.start]);
            out.push_str(new);
            at = range.end;
        }
        out.push_str(&text[at..]);
        Ok(out)
    }
}

/// The object `raw` without the members `drop` and with the members `add`, each a name and its JSON text.
pub(super) fn rebuild(raw: &str, drop: &[&str], add: &[(&str, String)]) -> Result<String, GltfError> {
    let members: IndexMap<String, &RawValue> =
        serde_json::from_str(raw).map_err(|e| GltfError::value("nodes", e.to_string()))?;
    let kept = members.iter().filter(|(k, _)| !drop.contains(&k.as_str()));
    let kept = kept.map(|(k, v)| format!("{}:{}", serde_json::Value::from(k.as_str()), v.get()));
    let added = add.iter().map(|(k, v)| format!("\"{k}\":{v}"));
    Ok(format!("{{{}}}", kept.chain(added).collect::<Vec<_>>().join(",")))
}

/// One member of the object `raw`, as a slice of it.
pub(super) fn member<'a>(raw: &'a str, key: &str) -> Option<&'a str> {
    let members: IndexMap<String, &'a RawValue> = serde_json::from_str(raw).ok()?;
    members.get(key).map(|v| v.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spliced(text: &str, change: impl FnOnce(&mut JsonSplice)) -> String {
        let mut splice = JsonSplice::new(Json::parse(text, 0).unwrap());
        change(&mut splice);
        splice.finish().unwrap()
    }

    #[test]
    fn only_the_edited_ranges_change() {
        let text = "{ \"a\" : [ 1.50 ],\n \"buffers\":[{\"byteLength\": 7, \"x\":1e2}] , \"e\":[ ] }\n";
        let out = spliced(text, |s| {
            assert_eq!(s.append("a", "2".into()), Ok(1));
            assert_eq!(s.append("a", "3".into()), Ok(2));
            assert_eq!(s.append("e", "4".into()), Ok(0));
            assert_eq!(s.append("new", "5".into()), Ok(0));
            let part = member(s.json().items("buffers").unwrap()[0], "byteLength").unwrap();
            s.replace(part, "9".into());
        });
        let want = "{ \"a\" : [ 1.50 ,2,3],\n \"buffers\":[{\"byteLength\": 9, \"x\":1e2}] , \"e\":[ 4] ,\"new\":[5]}\n";
        assert_eq!(out, want);
        assert_eq!(spliced(text, |_| {}), text);
        let replaced = spliced("{\"a\":[1,2]}", |s| {
            s.replace_list("a");
            assert_eq!(s.append("a", "7".into()), Ok(0));
        });
        assert_eq!(replaced, "{\"a\":[7]}");
    }

    #[test]
    fn an_object_is_rebuilt_from_its_own_texts() {
        let raw = r#"{"na\u006de":"x", "matrix":[1], "k":1.0}"#;
        assert_eq!(
            rebuild(raw, &["matrix"], &[("scale", "[1]".into())]).unwrap(),
            r#"{"name":"x","k":1.0,"scale":[1]}"#
        );
    }
}
