//! The stages `ik` and `limits` on made and real bodies, and laws of all stages.

mod ik;
mod ik_real;
mod laws;
mod limits;
