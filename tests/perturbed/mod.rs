//! Motions spoilt on purpose: noise from a seed, and bodies of another size.

use posemill::math::{Transform, Vec3};
use posemill::model::{Assignment, Character, Joint, Motion, Rig, Role, Skeleton};
use std::sync::Arc;

/// Equally distributed and normal numbers from a seed (Steele, Lea and Flood 2014: SplitMix64).
pub struct Noise(pub u64);

impl Noise {
    /// From 0 to 1.
    pub fn even(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }

    /// Of this deviation on each axis.
    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::from_fn(|_, _| size * self.normal())
    }
}

/// The same motion of a body that is `k` times as large.
pub fn scaled(motion: &Motion, k: f64) -> Motion {
    let skeleton = motion.character.skeleton();
    let larger = |joint: &Joint| {
        let rest = Transform::new(joint.rest.rotation, joint.rest.translation * k);
        let mut larger = Joint::new(joint.name.clone(), joint.parent, rest);
        larger.tip = joint.tip.map(|tip| tip * k);
        larger
    };
    let skeleton = Skeleton::new(skeleton.joints().iter().map(larger).collect()).unwrap();
    let roles: Vec<(Role, Assignment)> =
        motion.character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let character = Character {
        rig: Rig::new(skeleton, roles),
        bind: None,
        calibration: None,
        document: None,
        meshes: vec![],
        ..(*motion.character).clone()
    };
    let mut clip = motion.clip.clone();
    clip.all_translations_mut().iter_mut().for_each(|t| *t *= k);
    Motion::new(Arc::new(character), clip)
}
