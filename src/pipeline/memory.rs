//! Amounts of memory with units, as in `input.memory` and `--memory`.

use crate::import::ImportError;
use crate::math::Transform;
use crate::memory_budget::{MemoryBudget, OverBudget};
use crate::model::{Asset, Character, Clip};
use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Bytes that any take may have: forty minutes of a hundred joints at 30 Hz have 400 MB. Stages hold two copies.
const LEAST: u64 = 500_000_000;
/// Allowed ratio of the character's joints to the take's: 300 joints against about 20.
const SHARE: u64 = 16;

/// An amount of memory: "2GB", "500MB", or a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Memory {
    /// The amount, bytes.
    pub bytes: u64,
}

/// Units in bytes. If one unit ends with another, it comes first.
const UNITS: [(&str, f64); 7] = [
    ("GiB", 1_073_741_824.0),
    ("MiB", 1_048_576.0),
    ("kiB", 1024.0),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("B", 1.0),
];

impl Memory {
    fn of(text: &str) -> Option<Self> {
        let lower = text.trim().to_ascii_lowercase();
        let unit = UNITS
            .iter()
            .find_map(|(unit, size)| Some((lower.strip_suffix(unit.to_ascii_lowercase().as_str())?, *size)));
        let (number, size) = unit.unwrap_or((lower.as_str(), 1.0));
        let bytes = number.trim().parse::<f64>().ok()? * size;
        (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(Self { bytes: bytes as u64 })
    }
}

/// In the unit with the smallest whole number.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = UNITS.iter().filter(|(_, size)| self.bytes.is_multiple_of(*size as u64));
        let counts = whole.map(|(unit, size)| (self.bytes / *size as u64, unit));
        let (count, unit) = counts.min_by_key(|(count, _)| *count).expect("bytes are whole");
        write!(f, "{count}{unit}")
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let amount = Self::of(text).filter(|_| !text.trim().ends_with(|c: char| c.is_ascii_digit()));
        amount.ok_or_else(|| "an amount of memory has a unit: `2GB`, `500MB`".to_owned())
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}B", self.bytes))
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemoryVisitor;

        impl Visitor<'_> for MemoryVisitor {
            type Value = Memory;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of memory: \"2GB\", \"500MB\", or a number of bytes")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Memory, E> {
                text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Memory, E> {
                let positive = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
                let bytes = positive.ok_or_else(|| E::invalid_value(de::Unexpected::Signed(bytes), &self))?;
                Ok(Memory { bytes })
            }
        }

        deserializer.deserialize_any(MemoryVisitor)
    }
}

/// Refuses a take whose frames take memory out of proportion on the joints of the character; `memory` is what the user allows.
pub(super) fn fits_on(
    take: &Asset,
    character: Option<&Character>,
    memory: Option<u64>,
) -> Result<(), ImportError> {
    let frames: usize = take.clips.iter().map(Clip::frames).sum();
    let joints = |character: &Character| character.skeleton().len();
    character.map_or(Ok(()), |c| Ok(fits(frames, joints(&take.character), joints(c), memory)?))
}

fn fits(frames: usize, own: usize, joints: usize, memory: Option<u64>) -> Result<(), OverBudget> {
    let bytes = |joints: usize| frames.saturating_mul(joints).saturating_mul(size_of::<Transform>()) as u64;
    let most = LEAST.max(SHARE.saturating_mul(bytes(own))).max(memory.unwrap_or(0));
    MemoryBudget::new(0, Some(most))
        .reserve(bytes(joints), || format!("the take on the {joints} joints of the character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_has_room_on_the_joints_of_usual_characters_only() {
        // A walk, an hour of a body on a character with fingers and hair, twenty minutes of a face.
        for (frames, own, joints) in [(545, 31, 8000), (216_000, 22, 300), (72_000, 1, 120)] {
            assert_eq!(fits(frames, own, joints, None), Ok(()), "{frames} {joints}");
        }
        let over = fits(545, 31, 20_019, None).unwrap_err().to_string();
        assert!(over.starts_with("the take on the 20019 joints of the character needs 611 MB"), "{over}");
        assert!(over.contains("--set input.memory="), "{over}");
        assert_eq!(fits(545, 31, 20_019, Some(2_000_000_000)), Ok(()));
        assert!(fits(545, 31, 20_019, Some(1_000)).is_err());
    }

    #[test]
    fn amounts_are_read_with_their_units() {
        let bytes = |text| Memory::of(text).map(|m| m.bytes);
        assert_eq!(bytes("2GB"), Some(2_000_000_000));
        assert_eq!(bytes("1.5 gib"), Some(1_610_612_736));
        assert_eq!(bytes("500MB"), Some(500_000_000));
        assert_eq!(bytes("64kB"), Some(64_000));
        assert_eq!(bytes("4096"), bytes("4096B"));
        for text in ["2GB", "1GiB", "1500MB", "64kB", "7B"] {
            assert_eq!(text.parse::<Memory>().unwrap().to_string(), text);
        }
        assert!("4096".parse::<Memory>().is_err());
        assert!(
            toml::Value::from("2").try_into::<Memory>().is_err(),
            "two bytes are no amount that anybody means"
        );
        assert_eq!(toml::Value::Integer(4096).try_into::<Memory>().unwrap().bytes, 4096);
        for text in ["", "GB", "-1GB", "0", "inf", "nan", "1e30GB", "2TB", "two"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
