//! Retargets legs so that feet are planted whenever the source's are and knees bend as the source's do.
//!
//! `solve_legs` retargets legs without contact labels; [`remove_foot_sliding`] removes foot sliding during labelled contacts. Both solve a
//! linear system over the whole clip, in a few rounds ([`Settings`] lists the tuned parameters), and then every leg by two-bone IK. A
//! character's own clip does not change, planted feet stay planted, cycles stay cycles, and no term spans a cut.
//! [`place_on_ground`] places a motion on the floor. After Hodgins and Pollard (1997, scaling of motions), Gleicher (1998, the whole
//! clip at once), Kovar, Schreiner and Gleicher (2002, foot planting without popping knees), Perona and Malik (1990,
//! edge-weighted diffusion).
//! Space: model space, Y up. Units: metres, seconds, radians; speeds in leg lengths per second.

mod settings;
mod limb_chain;
mod limb_pose;
mod timeline;
mod leg_pair;
mod soft_knee;
mod write_clip;
mod raise_limbs;
mod envelope;
mod equations;
mod continuation;
mod treadmill;
mod soles;
mod level_feet;
mod foot_tilt;
mod floor_tilt;
mod raise_shots;
mod hip_tilt;
mod toe_rest;
mod toes;
mod leg_trajectories;
mod body_height;
mod out_of_floor;
mod leg_solve;
mod forelegs;
mod raise_head;
mod planted_hands;
mod raise_hands;
mod foot_sliding;
mod keep_ends;
mod ground_placement;

pub use foot_sliding::remove_foot_sliding;
pub(crate) use foot_sliding::with_slides;
pub use ground_placement::place_on_ground;
pub(crate) use keep_ends::keep_ends;
pub(crate) use leg_pair::{LegPair, leg_ratio, mean_length};
pub(crate) use leg_solve::solve_legs;
pub(crate) use leg_trajectories::LegTrajectories;
pub(crate) use limb_chain::LimbChain;
pub(crate) use limb_pose::{LimbPose, LimbPositions};
pub(crate) use planted_hands::{ArmPair, PlantedHands};
pub(crate) use raise_hands::raise_hands;
pub(crate) use raise_head::raise_head;
pub use settings::Settings;
pub(crate) use timeline::Timeline;
pub(crate) use write_clip::shifted;

#[cfg(test)]
mod tests;
