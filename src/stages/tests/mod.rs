//! The stages `ik` and `limits` on made and real bodies, falls and hits, `retarget` on bodies with the same bones, and laws of all stages.

mod falls;
mod idle;
mod ik;
mod ik_real;
mod laws;
mod limits;
mod same_bones;
pub(super) mod scenes;
