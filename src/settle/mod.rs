//! A motion gets weight: its flights fly, a performer falls as a ragdoll, chains swing.
//!
//! [`settle_flights`] mends what the laws of motion know exactly and tells what they cannot explain; `let_go` and
//! `swing` make motion where the clip has none.

mod series;
mod weighed;
mod gravity;
mod lost_flight;
mod hover;
mod unexplained;
mod flights;
mod ragdoll;
mod course;
mod bounds;
mod hull;
mod limp;
mod secondary;

pub use flights::{Settled, settle_flights};
pub(crate) use limp::{LetGo, let_go};
pub(crate) use ragdoll::Ragdoll;
pub(crate) use secondary::{Swing, swing};

#[cfg(test)]
mod tests;
