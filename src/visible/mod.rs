//! A recording of rigid bodies becomes a motion of visible solids, for export and for pictures.
//!
//! Dynamics knows no skeletons and export no bodies; here every body becomes a joint with a mesh bound to it alone, so
//! that whatever plays skinned characters plays simulations.

mod performance;
mod solid;

pub use performance::motion;
