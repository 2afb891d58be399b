//! What is wrong with a scene file, and on which line.

use crate::dynamics::articulation::ArticulationError;
use crate::dynamics::body::BodyError;
use crate::dynamics::condition::ConditionError;

/// A fault of a scene file and where it stands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct SceneError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: SceneFault,
}

/// What is wrong with a scene file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SceneFault {
    /// Not TOML, an unknown key, a missing key or a value of another kind.
    #[error("{0}")]
    Syntax(String),
    /// A number that cannot be.
    #[error("`{key}` is {value}, it must be {must}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// Two things share a name.
    #[error("the name `{0}` is taken")]
    Taken(String),
    /// A name that nothing has.
    #[error("no {what} is called `{name}`{}", nearest.as_ref().map_or(String::new(), |n| format!("\n  hint: did you mean `{n}`?")))]
    Unknown {
        /// `body` or `motor`.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
    /// A body that cannot be.
    #[error(transparent)]
    Body(BodyError),
    /// A constraint that cannot be.
    #[error(transparent)]
    Constraint(ArticulationError),
    /// A condition that cannot be read.
    #[error("in the condition: {0}")]
    Condition(ConditionError),
    /// The chosen integrator cannot do what the scene asks for.
    #[error("the integrator `{integrator}` knows no {what}\n  hint: {}", if integrator == "world" { "`rk4`, `variational`, `note` and `blocks` do" } else { "`world` does" })]
    Integrator {
        /// Its name.
        integrator: String,
        /// What it cannot do.
        what: &'static str,
    },
}

impl SceneFault {
    /// The fault on its line.
    pub(super) fn on<T>(self, line: usize) -> Result<T, SceneError> {
        Err(SceneError { line, fault: self })
    }
}
