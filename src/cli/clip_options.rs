//! The options `--trim`, `--fps` and `--in-place`, each of which enables a stage.

use crate::import::FORMATS;
use clap::Args;
use std::path::Path;
use std::str::FromStr;

/// The options of `retarget` and `convert`. Each enables a stage that their pipelines hold.
#[derive(Debug, Args)]
pub struct ClipOptions {
    /// Keep a part of the take, in seconds from its first frame: `0.5..2.5`, `2..`, `..3`
    #[arg(long, value_name = "START..END", allow_hyphen_values = true)]
    trim: Option<TrimRange>,
    /// Frames per second of the result [default: those of the take]
    #[arg(long, value_name = "N", value_parser = frame_rate, allow_hyphen_values = true)]
    fps: Option<f64>,
    /// Remove the horizontal travel
    #[arg(long)]
    in_place: bool,
}

impl ClipOptions {
    /// The overrides of a pipeline that ends in `character`. A robot's file has a rate of its own.
    pub fn sets(&self, character: Option<&Path>) -> Vec<String> {
        let mut sets = Vec::new();
        if let Some(TrimRange { start, end }) = self.trim {
            sets.push("stage.trim.enabled=true".to_owned());
            sets.extend(start.map(|s| format!("stage.trim.start_s={s:?}")));
            sets.extend(end.map(|s| format!("stage.trim.end_s={s:?}")));
        }
        match self.fps {
            Some(fps) if character.is_some_and(is_robot) => sets.push(format!("output.robot.rate={fps:?}")),
            Some(fps) => {
                sets.push("stage.resample.enabled=true".to_owned());
                sets.push(format!("stage.resample.rate_hz={fps:?}"));
            }
            None => {}
        }
        if self.in_place {
            sets.push("stage.root_motion.enabled=true".to_owned());
            sets.push("stage.root_motion.mode=in_place".to_owned());
        }
        sets
    }
}

/// Whether a file is a robot's by its name.
pub fn is_robot(path: &Path) -> bool {
    let suffix = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let robots = FORMATS.iter().filter(|format| ["mjcf", "urdf"].contains(&format.name));
    robots.flat_map(|format| format.suffixes).any(|robot| *robot == suffix)
}

fn frame_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && rate.is_finite());
    rate.ok_or_else(|| "write a number above 0, e.g. 30 or 23.976".to_owned())
}

/// A part of a take, in seconds from its first frame; an end that is left out is that of the take.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TrimRange {
    start: Option<f64>,
    end: Option<f64>,
}

impl FromStr for TrimRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hint = || "write seconds: `0.5..2.5`, `2..` or `..3`".to_owned();
        let (start, end) = text.split_once("..").ok_or_else(hint)?;
        let second = |text: &str| match text.trim() {
            "" => Ok(None),
            number => match number.parse::<f64>() {
                Ok(second) if second >= 0.0 && second.is_finite() => Ok(Some(second)),
                _ => Err(hint()),
            },
        };
        match (second(start)?, second(end)?) {
            (None, None) => Err(hint()),
            (Some(start), Some(end)) if start > end => Err("the start is after the end".to_owned()),
            (start, end) => Ok(Self { start, end }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_start_or_an_end_in_their_order() {
        let range = |start, end| Ok(TrimRange { start, end });
        assert_eq!("0.5..2.5".parse(), range(Some(0.5), Some(2.5)));
        assert_eq!("2..".parse(), range(Some(2.0), None));
        assert_eq!("..3".parse(), range(None, Some(3.0)));
        for text in ["..", "", "1", "3..1", "-1..2", "a..2", "1..inf", "nan..", "1..2..3"] {
            assert!(text.parse::<TrimRange>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_a_number_above_zero() {
        assert_eq!(frame_rate("23.976"), Ok(23.976));
        for text in ["0", "-30", "nan", "inf", "fast", ""] {
            assert!(frame_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_is_overridden_without_an_option() {
        let none = ClipOptions { trim: None, fps: None, in_place: false };
        assert!(none.sets(Some(Path::new("hero.glb"))).is_empty());
        let all = ClipOptions { trim: "1..2".parse().ok(), fps: Some(30.0), in_place: true };
        assert_eq!(all.sets(None).len(), 7);
        let robot = all.sets(Some(Path::new("g1.XML")));
        assert!(robot.contains(&"output.robot.rate=30.0".to_owned()), "{robot:?}");
        assert!(!robot.iter().any(|set| set.contains("resample")), "{robot:?}");
    }
}
