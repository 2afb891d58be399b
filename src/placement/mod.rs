//! Hands go where they belong on the body: surface distances of the source kept, bodies pushed out of themselves.

mod arm_ik;
mod move_palms;
mod hand_placement;
mod push_out;

pub use hand_placement::HandPlacement;
pub use push_out::PushOut;
