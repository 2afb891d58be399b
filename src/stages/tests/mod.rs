//! The stages `ik` and `limits` on made and real bodies, `retarget` on bodies with the same bones, and laws of all stages.

mod ik;
mod ik_real;
mod laws;
mod limits;
mod same_bones;
