//! Hands go where they belong on the body: surface distances of the source kept, bodies pushed out of themselves.

mod arm;
mod arms;
mod place;
mod push_out;

pub use place::Placement;
pub use push_out::PushOut;
