//! The mass of a body and its distribution over the parts, as far as the user specifies them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the physics of a body assumes about its mass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
pub struct BodyMass {
    /// The mass in kilograms, above 0; `None`: the usual one of each kind of physics.
    pub kilograms: Option<f64>,
    /// How it is distributed.
    pub shares: MassShares,
}

/// How the mass of a body is distributed over its parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MassShares {
    /// As in people: Winter's table of segments.
    #[default]
    Table,
    /// As the volume inside of the skin, where the skin is closed.
    Skin,
}
