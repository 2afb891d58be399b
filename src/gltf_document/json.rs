//! Parses the JSON text of a glTF document: raw values by top-level key, typed items, and errors with JSON paths.
//!
//! Raw values are borrowed slices of the text, so that export can replace some and preserve every other byte.

use super::GltfError;
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// The member of `extras` that marks an animation as added by this program, and a mesh as its picture of a skeleton.
pub const ADDED: &str = "posemill";

/// Whether the `extras` of an animation or a mesh have the member [`ADDED`].
pub fn is_added(extras: &gltf::json::Extras) -> bool {
    // Asked for each node that shows the mesh: most texts end here.
    let named = extras.as_ref().filter(|extras| extras.get().contains(ADDED));
    let members = named.map(|extras| serde_json::from_str(extras.get()));
    matches!(members, Some(Ok(Value::Object(members))) if members.contains_key(ADDED))
}

/// The member of `extras` that states the rate of an animation whose keys do not tell it, Hz: a single one, or some left out of a
/// rate that is no whole number.
pub const RATE: &str = "rate_hz";

/// The rate that the `extras` of an animation state as [`RATE`].
pub fn stated_rate(extras: &gltf::json::Extras) -> Option<f64> {
    let members: Value = serde_json::from_str(extras.as_ref()?.get()).ok()?;
    members.get(RATE)?.as_f64().filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Properties that contain indices, or lists or maps of indices. They are checked as `u64` before the typed parsing, which would
/// silently keep the lower 32 bits.
const INDICES: &[&str] = &[
    "attributes",
    "buffer",
    "bufferView",
    "children",
    "index",
    "indices",
    "input",
    "inverseBindMatrices",
    "joints",
    "material",
    "mesh",
    "node",
    "output",
    "sampler",
    "skeleton",
    "skin",
    "source",
];

/// A parsed top level of a glTF document.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    text: &'a str,
    top: IndexMap<String, &'a RawValue>,
}

impl<'a> Json<'a> {
    /// Parses the top level of `text`, which begins at byte `offset` of its file.
    ///
    /// # Errors
    /// [`GltfError::Json`] if the text is not a JSON object.
    pub fn parse(text: &'a str, offset: usize) -> Result<Self, GltfError> {
        let top =
            serde_json::from_str(text).map_err(|e| GltfError::Json { offset, reason: e.to_string() })?;
        Ok(Self { text, top })
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The raw text of one top-level value.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.top.get(key).map(|v| v.get())
    }

    /// The byte range of `part`, which is a slice of the text.
    pub fn range(&self, part: &str) -> std::ops::Range<usize> {
        let begin = part.as_ptr() as usize - self.text.as_ptr() as usize;
        begin..begin + part.len()
    }

    /// The raw texts of the items of the list `key`; empty if the key is missing.
    ///
    /// # Errors
    /// [`GltfError::Value`] if it is not a list.
    pub fn items(&self, key: &'static str) -> Result<Vec<&'a str>, GltfError> {
        let Some(raw) = self.raw(key) else { return Ok(Vec::new()) };
        let list: Vec<&'a RawValue> =
            serde_json::from_str(raw).map_err(|e| GltfError::value(key, e.to_string()))?;
        Ok(list.into_iter().map(RawValue::get).collect())
    }

    /// One top-level value; `None` if the key is missing or its value does not parse.
    pub fn value(&self, key: &str) -> Option<Value> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    /// The items of the list `key`, parsed as `T` after `edit` was applied.
    ///
    /// # Errors
    /// [`GltfError::Value`] with the path of the first item that is not a `T` or contains an index of more than 32 bits.
    pub fn list_with<T: DeserializeOwned>(
        &self,
        key: &'static str,
        mut edit: impl FnMut(&str, &mut Value),
    ) -> Result<Vec<T>, GltfError> {
        let item = |(i, raw): (usize, &str)| {
            let path = format!("{key}[{i}]");
            let bad = |e: serde_json::Error| GltfError::value(path.clone(), e.to_string());
            let mut value: Value = serde_json::from_str(raw).map_err(bad)?;
            edit(&path, &mut value);
            check_indices(&value).map_err(|(below, number)| {
                GltfError::value(format!("{path}{below}"), format!("{number} is not a valid index"))
            })?;
            serde_json::from_value(value).map_err(bad)
        };
        self.items(key)?.into_iter().enumerate().map(item).collect()
    }

    /// The items of the list `key`, each a `T`.
    ///
    /// # Errors
    /// As `Json::list_with`.
    pub fn list<T: DeserializeOwned>(&self, key: &'static str) -> Result<Vec<T>, GltfError> {
        self.list_with(key, |_, _| {})
    }
}

/// A number that is no index, and the path to it; the path is only written where there is one: names may be long and many.
type InvalidIndex = (String, String);

fn check_indices(value: &Value) -> Result<(), InvalidIndex> {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(k, _)| *k != "extras" && *k != "extensions") {
                let below = |(path, number): InvalidIndex| (format!(".{key}{path}"), number);
                if INDICES.contains(&key.as_str()) {
                    check_index(value).map_err(|number| below((String::new(), number)))?;
                }
                check_indices(value).map_err(below)?;
            }
            Ok(())
        }
        Value::Array(list) if list.iter().any(|v| v.is_object() || v.is_array()) => {
            let of_item =
                |(k, item)| check_indices(item).map_err(|(path, number)| (format!("[{k}]{path}"), number));
            list.iter().enumerate().try_for_each(of_item)
        }
        _ => Ok(()),
    }
}

/// The first number in `value` that is no index.
fn check_index(value: &Value) -> Result<(), String> {
    match value {
        Value::Number(n) if n.as_u64().is_none_or(|n| n >= u64::from(u32::MAX)) => Err(n.to_string()),
        Value::Array(list) => list.iter().try_for_each(check_index),
        Value::Object(map) => map.values().try_for_each(check_index),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_more_than_32_bits_is_refused_with_its_path() {
        let json = Json::parse(r#"{"nodes":[{},{"children":[4294967297]}]}"#, 0).unwrap();
        let error = json.list::<gltf::json::Node>("nodes").unwrap_err();
        assert_eq!(error, GltfError::value("nodes[1].children", "4294967297 is not a valid index"));
    }

    #[test]
    fn raw_values_are_slices_of_the_text() {
        let text = r#"{ "asset" : {"version": "2.0"}, "x":[ 1 ,2] }"#;
        let json = Json::parse(text, 0).unwrap();
        assert_eq!(json.raw("x"), Some("[ 1 ,2]"));
        assert_eq!(json.items("x").unwrap(), ["1", "2"]);
        assert!(Json::parse("[1]", 20).is_err());
    }
}
