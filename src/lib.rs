//! posemill carries motion from one skeleton to another: a take (BVH, glTF) and a rigged character (glTF, VRM)
//! go in, the character performing the take comes out.

pub mod anatomy;
pub mod cli;
pub mod dynamics;
pub mod export;
pub mod ik;
pub mod import;
pub mod kinematics;
pub mod math;
pub mod measure;
pub mod model;
pub mod pipeline;
pub mod render;
pub mod report;
pub mod retarget;
pub mod scene;
pub mod signal;
pub mod skinning;
pub mod stages;
