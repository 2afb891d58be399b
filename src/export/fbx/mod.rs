//! Motions become binary FBX: a new file, or the file their character came in with clips added.
//!
//! `records` is the container, `property` what records hold, `document` a new file of `skeleton`, `mesh`,
//! `material` and `clip`; `splice` adds clips to a file that is there.
//!
//! Space: model space, Y up, +Z front, which is what the file says of itself. Units: metres become centimetres.
//! Rates are the nominal ones; every frame has its keys, also where a motion says that some may be left out.

mod clip;
mod document;
mod file;
mod material;
mod mesh;
#[cfg(feature = "fbx")]
mod native;
#[cfg_attr(not(feature = "fbx"), allow(dead_code, reason = "files are read to add clips to them"))]
mod property;
mod rate;
#[cfg_attr(not(feature = "fbx"), allow(dead_code, reason = "files are read to add clips to them"))]
mod records;
mod skeleton;
#[cfg(feature = "fbx")]
mod splice;
mod templates;

pub use file::{FORMAT, FbxOptions};
