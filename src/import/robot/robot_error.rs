//! Errors of robot models, each with its file, its line and a hint.

use crate::model::SkeletonError;

/// Why the model of a robot cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RobotError {
    /// The text is no XML, or has a document type definition, through which a few bytes could become gigabytes.
    #[error(
        "{file}: {reason}\n  hint: correct the XML; document type definitions (`<!DOCTYPE`) are not read"
    )]
    Xml {
        /// The name of the file.
        file: String,
        /// The message of the XML parser, with its position.
        reason: String,
    },
    /// An element that means nothing at its place.
    #[error("{file}, line {line}: {reason}\n  hint: {hint}")]
    Element {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file that holds no robot.
    #[error("{file}: {reason}\n  hint: name the file of the robot itself, with its links and hinges")]
    NoRobot {
        /// The name of the file.
        file: String,
        /// What is missing.
        reason: String,
    },
    /// A file that holds no motion of the robot.
    #[error("{file}: {reason}\n  hint: see docs/robots.md for the layouts that are read")]
    NoMotion {
        /// The name of the file.
        file: String,
        /// What it holds instead.
        reason: String,
    },
    /// More than a limit allows.
    #[error(
        "{file}: more than {limit} {what} (`{name}`)\n  hint: check the file: it is damaged, or no robot"
    )]
    Limit {
        /// The name of the file.
        file: String,
        /// What is counted.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// The constant that holds it.
        name: &'static str,
    },
    /// The links do not form a skeleton.
    #[error(transparent)]
    Joints(#[from] SkeletonError),
}
