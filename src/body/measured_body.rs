//! What is measured of a body, most of it on its skin: once for all who ask.

use super::armed_body::ArmedBody;
use super::body_skin::BodySkin;
use super::capsules::{Capsule, capsules};
use crate::model::{Character, Rig};

/// A body that has been measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredBody {
    /// Its parts.
    pub capsules: Vec<Capsule>,
    /// How far its hands reach; nothing of a body without arms or on four legs.
    pub arms: Option<ArmedBody>,
    /// What of it can be in the floor.
    pub skin: BodySkin,
}

impl MeasuredBody {
    /// Measures `character`, the roles of `rig`.
    pub fn of(character: &Character, rig: &Rig) -> MeasuredBody {
        let (capsules, skin) = rayon::join(|| capsules(character, rig), || BodySkin::of(character, rig));
        let arms = ArmedBody::from_capsules(character, rig, capsules.clone());
        MeasuredBody { capsules, arms, skin }
    }
}
