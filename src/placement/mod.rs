//! Arms on a body: hands keep their place on the skin, and arms stay out of it, over the whole clip.

mod block_chain;
mod direct_arm;
mod elbow_axis;
mod surface_pair;
mod goals;
mod arm_equations;
mod sampled_frames;
mod write_arms;
mod arm_placement;
mod push_out;

pub use arm_placement::ArmPlacement;
pub use push_out::PushOut;

#[cfg(test)]
mod tests;
