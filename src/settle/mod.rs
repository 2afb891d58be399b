//! A motion gets weight: its flights fly, a performer falls as a ragdoll, chains swing.
//!
//! [`settle_flights`] mends what the laws of motion know exactly and tells what they cannot explain; `release_ragdoll` and
//! `swing` make motion where the clip has none.

mod derivatives;
mod whole_body_dynamics;
mod gravity;
mod missing_flights;
mod floating;
mod unexplained_force;
mod flights;
mod ragdoll;
mod body_trajectory;
mod joint_limit_rows;
mod contact_hull;
mod ragdoll_release;
mod swinging_chains;

pub use flights::{Settled, settle_flights};
pub(crate) use ragdoll::Ragdoll;
pub(crate) use ragdoll_release::{RagdollRelease, release_ragdoll};
pub(crate) use swinging_chains::{Swing, swing};

#[cfg(test)]
mod tests;
