//! Hand placement: distances of hands from the body are kept, and arms are pushed out of the body.

mod arm_ik;
mod move_palms;
mod hand_placement;
mod push_out;

pub use hand_placement::HandPlacement;
pub use push_out::PushOut;
