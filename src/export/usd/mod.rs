//! Writes USD: a skeleton with its animations, skinned meshes and materials, as text, binary (a crate) or packed with textures.
//!
//! Everything is written from the program's own joints and meshes, not from the character's file. Clips are separate
//! animations, of which the first is bound. One time code is one frame: Blender plays time code t at its own frame t, 24 per
//! second, whatever rate the file states. A motion without meshes is a skeleton alone, which Blender shows as an armature and
//! usdview as a guide. Space: model space, Y up. Units: metres. Source: UsdSkel schemas, UsdPreviewSurface and usdz
//! specifications (openusd.org).
//!
//! ```text
//! /Root                            Xform
//! /Root/Character                  SkelRoot
//! /Root/Character/Skeleton         Skeleton
//! /Root/Character/Skeleton/CLIP    SkelAnimation
//! /Root/Character/MESH             Mesh, with a GeomSubset for each of several materials
//! /Root/Character/MESH/TARGET      BlendShape
//! /Root/Materials/Material         Material
//! ```

mod usd_format;
mod skeleton_prims;
mod mesh_prims;
mod blend_shapes;
mod preview_materials;
mod usd_layer;
mod prim_names;
mod usda_text;
mod crate_writer;
mod crate_sections;
mod animated_extent;

pub use usd_format::{USD, USDA, USDC, USDZ};
