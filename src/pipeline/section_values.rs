//! Values of pipeline files that may be written in several forms.

use schemars::JsonSchema;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A length unit by name or in metres.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "UnitsSchema")]
pub struct Units {
    /// Metres per unit.
    pub metres: f64,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "stands for `Units` in the schema only")]
enum UnitsSchema {
    Name(String),
    Metres(#[schemars(extend("exclusiveMinimum" = 0, "maximum" = MOST_METRES))] f64),
}

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnitsVisitor)
    }
}

struct UnitsVisitor;

/// Longest unit, metres: a gigametre, a thousandth of the largest coordinate allowed.
const MOST_METRES: f64 = 1e9;

impl Visitor<'_> for UnitsVisitor {
    type Value = Units;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"m\", \"cm\", \"mm\", \"in\", \"ft\" or a positive number of metres per unit")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Units, E> {
        let metres = match name {
            "m" => 1.0,
            "cm" => 0.01,
            "mm" => 0.001,
            "in" => 0.0254,
            "ft" => 0.3048,
            _ => return Err(E::invalid_value(de::Unexpected::Str(name), &self)),
        };
        Ok(Units { metres })
    }

    fn visit_f64<E: de::Error>(self, metres: f64) -> Result<Units, E> {
        if metres > 0.0 && metres <= MOST_METRES {
            Ok(Units { metres })
        } else {
            Err(E::invalid_value(de::Unexpected::Float(metres), &self))
        }
    }

    fn visit_i64<E: de::Error>(self, metres: i64) -> Result<Units, E> {
        self.visit_f64(metres as f64)
    }
}

/// A name or a number, as text.
pub(super) fn name_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct NameOrNumber;

    impl Visitor<'_> for NameOrNumber {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of a clip or its number, 0 or more")
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<Option<String>, E> {
            Ok(Some(name.to_owned()))
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<String>, E> {
            match u32::try_from(number) {
                Ok(number) => Ok(Some(number.to_string())),
                Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
            }
        }
    }

    deserializer.deserialize_any(NameOrNumber)
}

/// The schema of a list, or of one value in place of a list.
pub(super) struct OneOrMany<T>(std::marker::PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

/// A list, or one value in place of a list.
pub(super) fn one_or_many<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Values<T>(std::marker::PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Values<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of strings")
        }

        fn visit_str<E: de::Error>(self, one: &str) -> Result<Vec<T>, E> {
            T::deserialize(de::value::StrDeserializer::new(one)).map(|value| vec![value])
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut many: A) -> Result<Vec<T>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = many.next_element()? {
                values.push(value);
            }
            Ok(values)
        }
    }

    deserializer.deserialize_any(Values(std::marker::PhantomData))
}
