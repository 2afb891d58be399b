//! Reads a table of markers that the user writes: a TOML file.
//!
//! ```toml
//! [markers]
//! WAIST_L = "left_asis"       # a place on the skin, or a point of the body: "left_knee"
//! KNEE_L = "left_knee_lateral"
//! [sizes]                     # metres; omitted ones are an adult's
//! knee_width = 0.1
//! ```

use super::joint_centres::SubjectSizes;
use super::marker_sites::{SiteTable, site, site_names};
use crate::import::points::points_error::PointsError;
use crate::regular_file::read_regular;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest table, bytes: 1,000 markers need 40 kB.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMarkers {
    markers: BTreeMap<String, String>,
    #[serde(default)]
    sizes: BTreeMap<String, f64>,
}

/// The table in a file.
pub(super) fn read(path: &Path) -> Result<(SiteTable, SubjectSizes), PointsError> {
    let fault = |reason: String| PointsError::Table { path: path.to_owned(), reason };
    let bytes = read_regular(path, MAX_BYTES).map_err(|error| fault(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8".into()))?;
    parse(&text, path.file_stem().unwrap_or_default().to_string_lossy().into_owned()).map_err(fault)
}

fn parse(text: &str, name: String) -> Result<(SiteTable, SubjectSizes), String> {
    let written: WrittenMarkers =
        toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
    let mut sites = Vec::new();
    for (label, word) in written.markers {
        let site = site(&word).ok_or_else(|| {
            let word = crate::report::shortened(&word);
            format!("`{word}` is no place of a marker\n  hint: name one of {}", site_names())
        })?;
        if sites.iter().any(|(_, other)| *other == site) {
            return Err(format!("two markers are at `{word}`"));
        }
        sites.push((label, site));
    }
    let mut sizes = SubjectSizes::default();
    for (key, value) in written.sizes {
        if !sizes.set(&key, value) {
            return Err(format!(
                "`sizes.{key} = {value}` is not known, or no size in metres\n  hint: set {} between 0 and 1",
                SubjectSizes::NAMES.join(", ")
            ));
        }
    }
    Ok((SiteTable::new(name, sites), sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_markers_and_sizes() {
        let text = "[markers]\nW1 = \"left_asis\"\nK = \"left_knee\"\n[sizes]\nknee_width = 0.12\n";
        let (table, sizes) = parse(text, "own".into()).unwrap();
        assert_eq!(
            (table.name.as_str(), table.site_of("w1"), table.site_of("K")),
            ("own", site("left_asis"), site("left_knee"))
        );
        assert_eq!(sizes.knee_width, 0.12);
        for (wrong, said) in [
            ("[markers]\nA = \"left_wing\"", "no place of a marker"),
            ("[markers]\nA = \"c7\"\nB = \"c7\"", "two markers are at"),
            ("[markers]\n[sizes]\nknee_width = 7", "no size in metres"),
            ("[markers]\n[sizes]\nnose = 0.1", "not known"),
            ("points = []", "markers"),
        ] {
            let message = parse(wrong, "own".into()).err().unwrap();
            assert!(message.contains(said), "{message}");
        }
    }
}
