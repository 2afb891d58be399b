//! posemill carries motion from one skeleton to another: a take (BVH, glTF) and a rigged character (glTF, VRM)
//! go in, the character performing the take comes out.
//!
//! # The flow
//!
//! ```text
//! bytes --import--> Asset --> Motion --stage--> Motion --stage--> Motion --export--> bytes
//! ```
//!
//! [`import::load`] turns a file into a [`model::Asset`]: one [`model::Character`] and any number of [`model::Clip`]s,
//! in normal form (metres, seconds, radians; right-handed, Y up, facing +Z; one root, parents first, unique names,
//! uniform frames). A character and a clip that plays on it are a [`model::Motion`], the one value that flows.
//! Every stage is a pure function from motion to motion; [`export::save`] makes bytes again. Whatever had to be bent on the
//! way is a [`report::Warning`] with a count and the first place.
//!
//! # A pipeline, end to end
//!
//! ```
//! use posemill::export::{self, Format};
//! use posemill::import::{self, Options};
//! use posemill::retarget::{Retarget, RootScale, map};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let take = import::load("data/walk.bvh".as_ref(), &Options::default())?;
//! let hero = import::load("data/robot.glb".as_ref(), &Options::default())?;
//! let motion = take.motion(0).ok_or("the take holds no clip")?;
//!
//! let joint_map = map(&take.character, &hero.character)?;
//! let rigs = (&take.character.rig, &hero.character.rig);
//! let retarget =
//!     Retarget::new(&take.character, Arc::clone(&hero.character), &joint_map, rigs, RootScale::Legs);
//! let performed = retarget.apply(&motion);
//!
//! let options = export::Options { stem: "robot_walk".into(), ..export::Options::default() };
//! let (files, warnings) = export::save(&[performed], Format::GLB, &options)?;
//! assert_eq!(files[0].name, "robot_walk.glb");
//! assert!(warnings.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! From the ground up; a module imports only what stands above it in this list, and siblings never import each other
//! (`tests/layering.rs` holds the plan).

pub mod math;
pub mod report;
pub mod model;
pub mod kinematics;
pub mod anatomy;
pub mod signal;
pub mod scene;
pub mod import;
pub mod export;
pub mod skinning;
pub mod contacts;
pub mod ik;
pub mod dynamics;
pub mod legs;
pub mod retarget;
pub mod repair;
pub mod measure;
pub mod limits;
pub mod placement;
pub mod visible;
pub mod render;
pub mod settle;
pub mod page;
pub mod stages;
pub mod pipeline;
pub mod cli;
