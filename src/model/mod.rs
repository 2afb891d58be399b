//! Data types shared by all modules, without algorithms.
//!
//! A [`Skeleton`] is an immutable joint tree; a [`Pose`] is one instant of it in local space and a
//! [`ModelPose`] the same instant in model space; a [`Clip`] is poses at a uniform rate. A [`Rig`] assigns roles to
//! joints, a [`Character`] adds meshes and the source document, and a [`Motion`] is a character with a clip that
//! plays on it: the value that passes through every stage.
//!
//! Space: model space is right-handed, Y up, the character facing +Z. Units: metres, seconds, radians.

mod asset;
mod body_mass;
mod calibration;
mod character;
mod clip;
mod contacts;
mod document;
mod mark;
mod mesh;
mod mobility;
mod motion;
mod observed_points;
mod pose;
mod property_track;
mod rig;
mod robot;
mod robot_layout;
mod robot_motion;
mod role;
mod rotation_rows;
mod skeleton;
mod static_meshes;
mod stored_rows;
mod uneven_ground;
mod unique_names;

pub use asset::Asset;
pub use body_mass::{BodyMass, MassShares};
pub(crate) use calibration::CalibratedJoint;
pub use calibration::{Calibration, CalibrationSource};
pub use character::Character;
pub use clip::Clip;
pub(crate) use clip::{FRAME_RATES, is_frame_rate};
pub(crate) use contacts::ContactPoint;
pub use contacts::{ContactPart, Contacts, Hold};
pub use document::{Container, Document};
pub use mark::{Mark, MarkKind};
#[cfg(feature = "fbx")]
pub(crate) use mesh::has_alpha;
pub use mesh::{
    AlphaMode, Binding, FurtherInfluence, Material, Mesh, MorphTarget, Texture, TextureMap, TextureWrap,
};
pub(crate) use mesh::{UNNAMED_TARGET, heaviest};
pub(crate) use mobility::Mobility;
pub use motion::{Fault, Motion};
pub use observed_points::ObservedPoints;
pub use pose::{ModelPose, Pose};
pub use property_track::AnimatedProperty;
pub(crate) use property_track::PropertyTrack;
pub use rig::{Assignment, Rig};
pub(crate) use robot::model_from_world;
pub use robot::{CollisionShape, Coupling, Form, Hinge, Link, Robot};
pub use robot_layout::{ROBOT_LAYOUTS, RobotField, RobotLayout, RotationForm};
pub use robot_motion::{NoRobotMotion, RobotMotion};
pub use role::{Finger, Role, Side};
pub use rotation_rows::RotationRow;
pub(crate) use rotation_rows::RotationRows;
pub(crate) use skeleton::NO_TIP;
pub(crate) use skeleton::{FARTHEST, FARTHEST_ON_EARTH};
pub use skeleton::{Joint, JointId, Skeleton, SkeletonError};
pub use static_meshes::StaticMeshes;
pub(crate) use uneven_ground::{GroundPlane, UnevenGround};
pub(crate) use unique_names::UniqueNames;

#[cfg(test)]
mod tests;
