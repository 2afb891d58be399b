//! The stage `ik` on made and real bodies.

mod ik;
mod ik_real;
