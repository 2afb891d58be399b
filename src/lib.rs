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
//! # A take onto a character
//!
//! [`pipeline::Pipeline::standard`] is what `posemill retarget` does, to the byte where it writes:
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
//! // The same without writing: a motion in, a motion and what there is to say about it out.
//! let (take, _) = pipeline.load("data/walk.bvh")?;
//! let (performed, report) = pipeline.apply(take)?;
//! assert!(report.warnings.is_empty());
//! assert_eq!(performed.character.name, "robot");
//!
//! let options = export::ExportOptions { stem: "robot_walk".into(), ..export::ExportOptions::default() };
//! let (files, warnings) = export::save(&[performed], Format::BVH, &options)?;
//! assert_eq!(files[0].name, "robot_walk.bvh");
//! assert!(warnings.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples/` goes on from there: a stage and a measure of one's own, inverse kinematics, rigid bodies.
//!
//! # Where things are
//!
//! From the ground up; a module imports only what stands above it in this list, and siblings never import each other
//! (`tests/layering.rs` holds the plan).

pub mod math;
pub mod report;
pub(crate) mod memory_budget;
pub mod model;
pub mod kinematics;
pub mod anatomy;
pub mod signal;
pub mod gltf_document;
#[cfg(feature = "fbx")]
pub(crate) mod fbx_document;
pub mod body;
pub mod import;
pub mod export;
pub mod skinning;
pub mod contacts;
pub mod ik;
#[cfg(feature = "physics")]
pub mod dynamics;
pub mod legs;
pub mod retarget;
pub mod repair;
pub mod measure;
pub mod limits;
pub mod placement;
#[cfg(feature = "physics")]
pub mod visible;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "physics")]
pub mod settle;
#[cfg(feature = "render")]
pub(crate) mod page;
pub mod stages;
pub mod pipeline;
pub mod batch;
#[cfg(feature = "cli")]
mod cli;

#[cfg(feature = "cli")]
pub use cli::program;

// What tests of the library share with those in `tests/`, which know the crate by its name.
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
#[path = "../tests/made_bodies/mod.rs"]
mod made_bodies;
#[cfg(test)]
#[path = "../tests/made_figure/mod.rs"]
mod made_figure;
#[cfg(test)]
#[path = "../tests/made_walk/mod.rs"]
mod made_walk;
#[cfg(test)]
#[path = "../tests/perturbed/mod.rs"]
mod perturbed;
#[cfg(test)]
#[path = "../tests/zip_entries/mod.rs"]
mod zip_entries;
