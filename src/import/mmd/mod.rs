//! Reads files of MikuMikuDance: characters (`.pmx`) and motions (`.vmd`).
//!
//! A character becomes a glTF document, which the glTF reader then reads. A motion plays on the character of the same name in its
//! folder, or on a standard figure; bones that copy others and chains of inverse kinematics are evaluated for every frame. Sources:
//! the description of PMX 2.0 and 2.1 that comes with PMX Editor; for `.vmd`, which has no specification, the tables of the
//! MikuMikuDance Wiki ("VMD file format") and of T. Iseki's VMD page.

mod mmd_error;
mod byte_cursor;
mod pmx_model;
mod pmx_text;
mod pmx_vertices;
mod pmx_bones;
mod pmx_morphs;
mod pmx_textures;
mod pmx_meshes;
mod vmd_keys;
mod pose_solver;
mod vmd_animation;
mod pmx_to_glb;
mod mmd_formats;

pub use mmd_error::MmdError;
pub use mmd_formats::{PMX, VMD};

#[cfg(test)]
mod tests;
mod bone_tracks;
mod ease_curve;
