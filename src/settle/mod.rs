//! Physics of a clip: ballistic flights, performances by a body, ragdolls, swinging chains.
//!
//! [`settle_flights`] fixes what the laws of motion determine exactly and reports what they cannot explain; `release_ragdoll`
//! and `swing` simulate motion that the clip does not have.

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
mod capsule_gap;
mod self_contact_rows;
mod scaled_motion;
mod ragdoll_release;
mod swinging_chains;
mod perform;

pub use flights::{Settled, settle_flights};
pub(crate) use perform::{
    Blow, ClipForces, Controls as PerformControls, FrameForces, Hit, HitRecord, OTHER_PARTS, OnFall,
    PerformOptions, PerformedClip, PerformingBody, perform,
};
pub(crate) use ragdoll::Ragdoll;
pub(crate) use ragdoll_release::{RagdollRelease, release_ragdoll};
pub(crate) use swinging_chains::{Swing, swing};

#[cfg(test)]
mod tests;
