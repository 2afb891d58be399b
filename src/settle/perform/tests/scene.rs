//! A clip, its body and its reference, as the tests need them.

use crate::contacts::{self, ContactOptions};
use crate::import::{ImportOptions, load};
use crate::math::Vec3;
use crate::model::{Clip, Motion, Role};
use crate::retarget::{Retarget, RootScale, map};
use crate::settle::perform::contact_forces::LoadPoint;
use crate::settle::perform::load_points::{LoadTracks, load_points};
use crate::settle::perform::performer::{Controls, Performer};
use crate::settle::perform::reference::Reference;
use crate::settle::perform::touching_parts::CapsulesApart;
use crate::settle::perform::{Blow, Hit, OnFall, PerformOptions, PerformedClip, PerformingBody, perform};
use std::path::Path;
use std::sync::Arc;

/// A take of `data/`, on a character of it or on itself.
pub fn shipped(take: &str, hero: Option<&str>) -> Motion {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    loaded(&data.join(take), hero.map(|name| data.join(name)).as_deref())
}

/// A take on a character.
pub fn loaded(take: &Path, hero: Option<&Path>) -> Motion {
    let take = load(take, &ImportOptions::default()).unwrap();
    let mut source = take.motion(0).unwrap();
    let Some(hero) = hero else { return source };
    let hero = load(hero, &ImportOptions::default()).unwrap().character;
    source.contacts = Some(contacts::detect(&source, &ContactOptions::default()));
    let joint_map = map(&take.character, &hero).unwrap();
    let rigs = (&take.character.rig, &hero.rig);
    Retarget::new(&take.character, Arc::clone(&hero), &joint_map, rigs, RootScale::Legs).apply(&source)
}

/// A motion ready to be performed.
pub struct Scene {
    pub body: PerformingBody,
    pub points: Vec<LoadPoint>,
    pub pairs: Vec<CapsulesApart>,
    pub reference: Reference,
    pub tracks: LoadTracks,
}

impl Scene {
    pub fn of(motion: &Motion) -> Scene {
        let (body, frames) = PerformingBody::of(&motion.character, &motion.clip).unwrap();
        let rate = motion.clip.sample_rate;
        let points = load_points(&motion.character, &body, &frames, rate);
        let pairs = CapsulesApart::of(&motion.character, &body);
        let reference = Reference::of(&frames, rate).unwrap();
        let tracks = LoadTracks::of(&points, &body, &reference);
        Scene { body, points, pairs, reference, tracks }
    }

    pub fn performer(&self, controls: Controls, step: usize) -> Performer<'_> {
        let load = (&self.points[..], &self.pairs[..]);
        Performer::new(&self.body, load, &self.reference, &self.tracks, controls, step)
    }

    /// The middle of the highest joint of the spine, in its body.
    pub fn chest(&self) -> (usize, Vec3) {
        chest(&self.body)
    }
}

/// The middle of the highest joint of the spine, in its body.
pub fn chest(body: &PerformingBody) -> (usize, Vec3) {
    let high = (0..9).rev().find_map(|n| body.part(Role::Spine(n))).unwrap();
    body.in_body(high, &(high.bone * 0.6))
}

/// The motion hit on its chest at a time, by newton seconds along a direction.
pub fn hit_along(motion: &Motion, time: f64, impulse: Vec3, controls: Controls) -> PerformedClip {
    let (body, _) = PerformingBody::of(&motion.character, &motion.clip).unwrap();
    let (b, at) = chest(&body);
    let hit = Hit { time, part: "chest".into(), body: b, at, blow: Blow::Impulse(impulse), duration: 0.03 };
    let options = PerformOptions { controls, hits: vec![hit], on_fall: OnFall::Refuse };
    perform(motion, &options).unwrap()
}

/// The motion hit on its chest from the left, with the defaults.
pub fn chest_hit(motion: &Motion, time: f64, size: f64) -> PerformedClip {
    hit_along(motion, time, Vec3::new(-size, 0.0, 0.0), Controls::default())
}

/// The part of a motion between two times, seconds.
pub fn cut(motion: &Motion, from: f64, to: f64) -> Motion {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    let frame = |t: f64| ((t * clip.sample_rate) as usize).min(clip.frames() - 1);
    let poses: Vec<_> = (frame(from)..=frame(to)).map(|f| clip.pose(skeleton, f)).collect();
    let clip = Clip::from_poses(clip.name.clone(), clip.sample_rate, skeleton, &poses);
    Motion { clip, contacts: None, ..motion.clone() }
}
