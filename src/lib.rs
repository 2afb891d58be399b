//! posemill retargets motion from one skeleton to another: from a take (such as BVH or glTF) and a rigged character (such
//! as glTF or VRM) it produces an animation of the character.
//!
//! # The flow
//!
//! ```text
//! bytes --import--> Asset --> Motion --stage--> Motion --stage--> Motion --export--> bytes
//! ```
//!
//! [`import::load`] reads a file into a [`model::Asset`]: one [`model::Character`] and any number of [`model::Clip`]s,
//! in normal form (metres, seconds, radians; right-handed, Y up, facing +Z; one root, parents first, unique names,
//! uniform frames). A character and a clip that plays on it form a [`model::Motion`], which is passed from stage to stage.
//! Every stage is a pure function from motion to motion; [`export::save`] serialises the result. Every change that had to
//! be made to the data is recorded as a [`report::Warning`] with a count and its first location.
//!
//! # Retargeting a take
//!
//! [`pipeline::Pipeline::standard`] is the pipeline of `posemill retarget` and writes the same bytes:
//!
//! ```
//! use posemill::export::{self, Format};
//! use posemill::pipeline::Pipeline;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let out = tempfile::tempdir()?;
//! # let output = out.path().join("robot_walk.glb");
//! let pipeline = Pipeline::standard("data/robot.glb")?;
//!
//! // posemill retarget data/walk.bvh --onto data/robot.glb -o robot_walk.glb
//! pipeline.run("data/walk.bvh", &output)?;
//!
//! // The same without writing: from a motion to a motion and a report.
//! let (take, _) = pipeline.load("data/walk.bvh")?;
//! let (motion, report) = pipeline.apply(take)?;
//! assert!(report.warnings.is_empty());
//! assert_eq!(motion.character.name, "robot");
//!
//! let options = export::ExportOptions { stem: "robot_walk".into(), ..export::ExportOptions::default() };
//! let (files, warnings) = export::save(&[motion], Format::BVH, &options)?;
//! assert_eq!(files[0].name, "robot_walk.bvh");
//! assert!(warnings.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples/` has more: custom stages and measures, inverse kinematics, rigid bodies.
//!
//! # Modules
//!
//! Modules form layers, listed in `docs/ARCHITECTURE.md` and below from the lowest to the highest. A module imports only
//! from lower layers, never from its own; `tests/layering.rs` checks it.

pub mod math;
pub mod report;
pub(crate) mod memory_budget;
pub(crate) mod parallel;
pub(crate) mod regular_file;
pub mod model;
pub mod kinematics;
pub mod anatomy;
pub mod signal;
pub mod gltf_document;
#[cfg(feature = "formats")]
pub(crate) mod mmd_document;
#[cfg(feature = "formats")]
pub(crate) mod usd_document;
#[cfg(feature = "fbx")]
pub(crate) mod fbx_document;
pub mod body;
pub(crate) mod robot_body;
pub mod import;
pub mod export;
pub mod skinning;
pub mod contacts;
pub mod ik;
#[cfg(feature = "physics")]
pub mod dynamics;
pub mod legs;
pub mod measure;
pub mod limits;
pub mod placement;
#[cfg(feature = "physics")]
pub mod simulation_view;
#[cfg(feature = "render")]
pub mod render;
pub mod retarget;
pub mod robot_retarget;
pub mod repair;
#[cfg(feature = "render")]
pub(crate) mod page;
#[cfg(feature = "physics")]
pub mod settle;
pub mod stages;
pub mod pipeline;
pub mod batch;
#[cfg(feature = "cli")]
mod cli;

#[cfg(feature = "cli")]
pub use cli::program;

// Helpers shared by unit tests and the tests in `tests/`, which refer to the crate by its name.
#[cfg(test)]
extern crate self as posemill;
#[cfg(test)]
#[path = "../tests/damages/mod.rs"]
mod damages;
#[cfg(test)]
#[path = "../tests/development_data/mod.rs"]
mod development_data;
#[cfg(all(test, feature = "fbx"))]
#[path = "../tests/fbx_reader/mod.rs"]
mod fbx_reader;
#[cfg(test)]
#[path = "../tests/humanoids/mod.rs"]
mod humanoids;
#[cfg(test)]
#[path = "../tests/ik_scenes/mod.rs"]
mod ik_scenes;
#[cfg(test)]
#[path = "../tests/lowest_skin/mod.rs"]
mod lowest_skin;
#[cfg(test)]
#[path = "../tests/made_bodies/mod.rs"]
mod made_bodies;
#[cfg(test)]
#[path = "../tests/made_figure/mod.rs"]
mod made_figure;
#[cfg(test)]
#[path = "../tests/made_walk/mod.rs"]
mod made_walk;
#[cfg(test)]
#[path = "../tests/named_body/mod.rs"]
mod named_body;
#[cfg(test)]
#[path = "../tests/perturbed/mod.rs"]
mod perturbed;
#[cfg(test)]
#[path = "../tests/seeds/mod.rs"]
mod seeds;
#[cfg(test)]
#[path = "../tests/zip_entries/mod.rs"]
mod zip_entries;
