//! Errors in a scene file, with their line.

use crate::dynamics::articulation::ArticulationError;
use crate::dynamics::condition::ConditionError;
use crate::dynamics::rigid_body::BodyError;

/// An error in a scene file and its line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct SceneError {
    /// Counted from 1.
    pub line: usize,
    /// The error.
    pub fault: SceneFault,
}

/// An error in a scene file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneFault {
    /// Invalid TOML, an unknown key, a missing key or a value of the wrong type.
    #[error("{0}")]
    Syntax(String),
    /// An invalid value.
    #[error("`{key}` is {value}, it must be {must}")]
    Value {
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// The requirement.
        must: &'static str,
    },
    /// A name that is used twice or reserved.
    #[error("the name `{0}` is taken")]
    Taken(String),
    /// An unknown name.
    #[error("no {what} is called `{name}`{}", nearest.as_ref().map_or(String::new(), |n| format!("\n  hint: did you mean `{n}`?")))]
    Unknown {
        /// `body` or `motor`.
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
    },
    /// An invalid body.
    #[error(transparent)]
    Body(BodyError),
    /// Invalid constraints.
    #[error(transparent)]
    Constraint(ArticulationError),
    /// An invalid condition of a rule.
    #[error("in the condition: {0}")]
    Condition(ConditionError),
    /// The integrator does not support a feature of the scene.
    #[error("the integrator `{integrator}` knows no {what}\n  hint: {}", if integrator == "world" { "`rk4`, `variational`, `note` and `blocks` do" } else { "`world` does" })]
    Integrator {
        /// Its name.
        integrator: String,
        /// The unsupported feature.
        what: &'static str,
    },
}

impl SceneFault {
    /// An error with this fault on a line.
    pub(super) fn on<T>(self, line: usize) -> Result<T, SceneError> {
        Err(SceneError { line, fault: self })
    }
}
