//! A motion becomes one that weighs something: bodies follow the clip under gravity and contacts, and say what changed.

mod ballistic;
mod bounds;
mod course;
mod criteria;
mod flight;
mod floor;
mod following;
mod kinematic;
mod limp;
mod ragdoll;
mod secondary;
mod segments;
mod stand;
mod track;
mod tracking;
mod windows;

pub use course::Course;
pub use criteria::{Criteria, Judge, TARGETS};
pub use flight::{Flight, flights};
pub use floor::Floor;
pub use limp::{Fallen, LetGo, let_go};
pub use ragdoll::{GRAVITY, Part, Ragdoll, Site};
pub use secondary::{Swing, chain_joints, swing};
pub use segments::{Segment, body_mass, segment_of};
pub use track::{Gains, Moment, track};
pub use tracking::{Settled, Tracking, settle};
