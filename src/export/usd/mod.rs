//! Motions become USD: a skeleton with its animations, skinned meshes and their materials, as text or packed with textures.
//!
//! Everything comes from the program's own joints and meshes, not from the file that the character came in. Clips are
//! animations side by side, the first is bound. One time code is one frame: Blender plays time code t at its own frame t,
//! 24 a second, whatever the file says. A motion without meshes is a skeleton alone: Blender shows it as an armature, usdview as
//! a guide. Space: model space, Y up. Units: metres. Source: UsdSkel schemas, UsdPreviewSurface and usdz
//! specifications (openusd.org).
//!
//! ```text
//! /Root                            Xform
//! /Root/Character                  SkelRoot
//! /Root/Character/Skeleton         Skeleton
//! /Root/Character/Skeleton/CLIP    SkelAnimation
//! /Root/Character/MESH             Mesh
//! /Root/Materials/Material         Material
//! ```

mod bounds;
mod look;
mod mesh;
mod skeleton;
mod stage;
mod text;

pub use stage::{USDA, USDZ};
