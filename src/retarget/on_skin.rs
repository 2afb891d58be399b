//! Height of bodies whose legs have no feet: they stand on their lowest skin as the take stands on its soles.
//!
//! Legs without ankle joints are not solved, and only the skin knows where they end. Where it is depends on how its vertices are
//! blended, so that all weights count. Space: model space, Y up. Units: metres, seconds.

use crate::body::{CharacterBody, LowestSkin};
use crate::kinematics::{map_frames, map_frames_towards};
use crate::legs::{Timeline, shifted};
use crate::math::Vec3;
use crate::model::{ContactPoint, ModelPose, Motion, Role, Side};
use crate::signal::gaussian;

/// Standard deviation of the filter of the displacement, seconds: a foot is put down in a tenth of one, and the lowest skin
/// changes its speed where another foot becomes the lowest.
const SMOOTH: f64 = 0.05;

/// Places bodies without feet.
#[derive(Clone, Debug)]
pub struct OnSkin {
    skin: LowestSkin,
    /// The points on which the source can rest.
    source: Vec<ContactPoint>,
}

impl OnSkin {
    /// That of a body with two legs without feet, and with skin; `None` for other bodies, and for a source without soles.
    pub fn of(source: &CharacterBody, target: &CharacterBody) -> Option<OnSkin> {
        let (rig, pose) = (target.rig(), target.reference_pose());
        let ends_in_shin = |side: &Side| {
            rig.joint(Role::LowerLeg(*side)).is_some() && rig.joint(Role::Foot(*side)).is_none()
        };
        if !Side::BOTH.iter().all(ends_in_shin) || source.sole_points().next().is_none() {
            return None;
        }
        let skin = LowestSkin::of_all_vertices(target.character(), rig, pose);
        let lowest = skin.lowest_point(pose);
        lowest.is_finite().then(|| OnSkin { skin, source: source.contact_points().to_vec() })
    }

    /// The height of the lowest point of a take above its ground, by frame.
    pub fn heights(&self, take: &Motion) -> Vec<f64> {
        let ground = take.contacts.as_ref().map_or(0.0, |contacts| contacts.zero());
        let height = |model: &ModelPose, p: &ContactPoint| model.joint(p.joint).point(&p.at).y - p.radius;
        let lowest = |model: &ModelPose| {
            self.source.iter().map(|p| height(model, p)).fold(f64::INFINITY, f64::min) - ground
        };
        let joints = self.source.iter().map(|p| p.joint);
        map_frames_towards(take.character.skeleton(), &take.clip, joints, lowest)
    }

    /// The motion with its lowest skin at these heights, smoothly over time but for cuts.
    pub fn placed(&self, motion: Motion, heights: &[f64], time: &Timeline) -> Motion {
        let lowest = |model: &ModelPose| self.skin.lowest_point(model);
        let own = map_frames(motion.character.skeleton(), &motion.clip, lowest);
        let apart: Vec<f64> = heights.iter().zip(&own).map(|(wanted, own)| wanted - own).collect();
        let smooth = |shot| gaussian(&apart[shot], SMOOTH / time.dt);
        let offsets: Vec<Vec3> = time.shots().into_iter().flat_map(smooth).map(|by| Vec3::y() * by).collect();
        shifted(motion, &offsets)
    }
}
