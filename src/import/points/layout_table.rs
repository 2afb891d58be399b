//! Reads a layout that the user writes: a TOML file.
//!
//! ```toml
//! points = ["pelvis", "left_hip", "right_hip", "-"]   # the columns in order; "-" is not used
//! axes = "y_up"      # or "z_up", "camera" (x right, y down, z away), "sensor" (x left, y up, z away)
//! unit = 0.001       # metres per unit; omitted: by the length of the legs
//! rate = 30          # frames per second, if the file does not state it
//! ```

use super::points_error::PointsError;
use crate::anatomy::{ArrayAxes, BodyPoint, PointsLayout};
use crate::regular_file::read_regular;
use crate::report::shortened;
use serde::Deserialize;
use std::path::Path;

/// Largest table, bytes: 1,000 points need 20 kB.
const MAX_BYTES: u64 = 1 << 20;
/// Largest number of columns.
const MAX_POINTS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutEntries {
    points: Vec<String>,
    axes: Option<String>,
    unit: Option<f64>,
    rate: Option<f64>,
}

/// The layout in a file.
pub(super) fn read(path: &Path) -> Result<PointsLayout, PointsError> {
    let fault = |reason: String| PointsError::Table { path: path.to_owned(), reason };
    let bytes = read_regular(path, MAX_BYTES).map_err(|error| fault(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| fault("it is not UTF-8".into()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    parse(&text, name).map_err(fault)
}

fn parse(text: &str, name: String) -> Result<PointsLayout, String> {
    let written: LayoutEntries = toml::from_str(text).map_err(in_short)?;
    if written.points.len() > MAX_POINTS {
        return Err(format!("{} points, at most {MAX_POINTS} are read (`MAX_POINTS`)", written.points.len()));
    }
    let mut points: Vec<Option<BodyPoint>> = Vec::with_capacity(written.points.len());
    for (k, word) in written.points.iter().enumerate() {
        let point = match word.as_str() {
            "-" => None,
            word => Some(BodyPoint::named(word).ok_or_else(|| {
                format!(
                    "point {k}, `{}`, is not known\n  hint: points are {}; `-` is not used",
                    shortened(word),
                    BodyPoint::names()
                )
            })?),
        };
        if point.is_some() && points.contains(&point) {
            return Err(format!("point {k}, `{word}`, is there twice"));
        }
        points.push(point);
    }
    let axes = written.axes.as_deref().unwrap_or("y_up");
    let axes =
        ArrayAxes::named(axes).ok_or_else(|| "`axes` is one of y_up, z_up, camera and sensor".to_owned())?;
    let positive = |key: &str, value: Option<f64>| match value {
        Some(x) if !(x > 0.0 && x < 1e6) => Err(format!("`{key}` is {x}, expected a positive number")),
        other => Ok(other),
    };
    let (unit, rate) = (positive("unit", written.unit)?, positive("rate", written.rate)?);
    Ok(PointsLayout { name: name.into(), points, axes, unit, rate })
}

/// The message of an error of the text, with the line that it is in unless that is endless.
fn in_short(error: toml::de::Error) -> String {
    /// Longest message with its line, bytes: a line of sixty points has 1,000, and the mark below it as many.
    const LONGEST: usize = 3000;
    let text = error.to_string();
    let text = text.trim();
    match text.len() <= LONGEST {
        true => text.to_owned(),
        false => format!("{}: {}", text.lines().next().unwrap_or_default(), shortened(error.message())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_line_is_not_repeated() {
        let message = |text: &str| parse(text, "mine".into()).unwrap_err();
        let (word, line) = ("a".repeat(200_000), "points = [ 1 ".to_owned() + &" ".repeat(200_000) + "! ]");
        for text in [line, format!("{word} = 1")] {
            let said = message(&text);
            assert!(
                said.starts_with("TOML parse error at line 1, column") && said.len() < 300,
                "{}",
                said.len()
            );
        }
        assert!(message("points = [").contains("1 | points = ["));
    }

    #[test]
    fn a_table_is_a_layout() {
        let text = "points = [\"left_hip\", \"-\", \"neck\"]\naxes = \"camera\"\nunit = 0.001\nrate = 25\n";
        let layout = parse(text, "mine".into()).unwrap();
        assert_eq!((layout.points.len(), layout.axes), (3, ArrayAxes::Camera));
        assert_eq!((layout.points[1], layout.unit, layout.rate), (None, Some(0.001), Some(25.0)));
        for wrong in [
            "points = [\"left_wing\"]",
            "points = [\"neck\", \"neck\"]",
            "points = []\naxes = \"up\"",
            "points = []\nunit = 0",
            "points = []\nrate = nan",
            "axes = \"y_up\"",
            "points = []\nname = \"x\"",
        ] {
            assert!(parse(wrong, "mine".into()).is_err(), "{wrong}");
        }
    }
}
