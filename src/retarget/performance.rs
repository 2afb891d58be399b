//! Result of a transfer for one motion, computed in parts so that a long take need not be in memory twice.

use super::direct_transfer::DirectTransfer;
use super::on_skin::OnSkin;
use super::skinned_roots::SkinnedRoots;
use crate::body::{SupportPoints, follow};
use crate::legs::{
    LegPair, LegTrajectories, PlantedHands, Settings, Timeline, mean_length, raise_hands, raise_head,
    shifted, with_slides,
};
use crate::math::Vec3;
use crate::model::{Clip, Contacts, Motion, PropertyTrack};
use crate::signal::fix_hemispheres;
use std::sync::Arc;

/// The transfer of one motion whose leg trajectories are solved; its frames are computed part by part.
#[derive(Clone, Debug)]
pub struct Performance<'a> {
    pub(super) direct: DirectTransfer,
    /// The clip of the direct transfer, if it is known already; the first part takes it.
    pub(super) direct_clip: Option<Clip>,
    pub(super) legs: &'a [LegPair],
    pub(super) skin: &'a SupportPoints,
    pub(super) trajectories: Option<LegTrajectories>,
    /// Hands that rest on the floor in the take; none where legs are not solved.
    pub(super) planted_hands: Option<PlantedHands>,
    pub(super) time: Timeline,
    /// Whether no foot of the take stands on the floor, so that the body keeps the take's height, scaled.
    pub off_floor: bool,
    /// The height of the lowest ground: all is solved above it.
    pub(super) lowest: f64,
    pub(super) contacts: Option<Contacts>,
    pub(super) property_tracks: Vec<PropertyTrack>,
    pub(super) roots: Option<&'a SkinnedRoots>,
    /// Of a body without feet, the heights of its lowest skin, by frame.
    pub(super) on_skin: Option<(&'a OnSkin, Vec<f64>)>,
}

impl Performance<'_> {
    /// Transfers a part of the source's frames that starts at frame `first`; quaternion signs may flip between frames.
    ///
    /// # Panics
    /// If there are no such frames.
    pub fn part(&mut self, part: &Motion, first: usize) -> Motion {
        let known = self.direct_clip.take_if(|clip| clip.frames() == part.clip.frames());
        let clip = known.unwrap_or_else(|| self.direct.clip(part.character.skeleton(), &part.clip));
        let direct = Motion::new(Arc::clone(&self.direct.joints.target), clip);
        match &self.trajectories {
            Some(trajectories) => trajectories.apply(direct, first, self.legs),
            None => direct,
        }
    }

    /// Finishes the joined parts: continuous quaternion signs, the head out of the floor, joints above the hips that have skin,
    /// tracks of properties other than joints, and contact labels, with the sliding speeds of the solved feet as the allowance.
    pub fn finished(&self, mut whole: Motion) -> Motion {
        fix_hemispheres(&mut whole.clip);
        if self.trajectories.is_some() {
            whole = raise_head(whole, self.skin, &self.time, self.legs, &Settings::default());
        }
        if let Some(roots) = self.roots {
            whole = roots.applied_to(whole);
        }
        if let Some((skin, heights)) = &self.on_skin {
            whole = skin.placed(whole, heights, &self.time);
        }
        whole.clip.property_tracks.clone_from(&self.property_tracks);
        let contacts = self.contacts.clone();
        whole.contacts = contacts.map(|contacts| with_slides(&whole, contacts, &self.time));
        whole
    }

    /// The finished motion with its hands planted where the take's are, and out of the floor; must run last of all steps that move
    /// arms. Then joints apart from the body follow it, and a ramp or stairs are lowered to where the take has them.
    pub fn raised_hands(&self, mut whole: Motion) -> Motion {
        let settings = Settings::default();
        if let Some(hands) = &self.planted_hands {
            whole = hands.planted(whole, &self.time, mean_length(self.legs), &settings);
        }
        if self.trajectories.is_some() {
            whole = raise_hands(whole, self.skin, &self.time, self.legs, &settings);
        }
        let whole = follow(whole, &self.direct.joints.loose, None);
        if self.trajectories.is_none() || self.lowest == 0.0 {
            return whole;
        }
        let offsets = vec![Vec3::y() * self.lowest; whole.clip.frames()];
        shifted(whole, &offsets)
    }
}
