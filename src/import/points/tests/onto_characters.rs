//! End to end: arrays of captured takes on skinned characters, against the takes themselves on the same characters.

use super::arrayed_takes::{ArrayedTake, takes};
use super::naive_fits::{joints2bvh, motion_of};
use crate::development_data::data;
use crate::import::{ImportOptions, load};
use crate::math::percentile;
use crate::model::{Character, Motion};
use crate::retarget::{Retarget, RootScale, map};
use crate::skinning::{LinearBlend, Skin};
use rayon::prelude::*;
use std::sync::Arc;

/// Two skinned people.
const CHARACTERS: [&str; 2] = ["gltf/quaternius/Casual_man.glb", "gltf/gdquest/mannequiny-0.3.0.glb"];
/// Every so many frames are compared.
const STEP: usize = 10;
/// The height of the figure in which distances are given, metres.
const HEIGHT: f64 = 1.75;

/// A character with its skins and its height.
struct SkinnedBody {
    character: Arc<Character>,
    skins: Vec<LinearBlend>,
    height: f64,
}

impl SkinnedBody {
    fn read(name: &str) -> Option<Self> {
        let character = load(data()?.join(name), &ImportOptions::default()).unwrap().character;
        let skins: Vec<LinearBlend> = character.meshes.iter().map(LinearBlend::new).collect();
        let mut body = Self { character, skins, height: 1.0 };
        let rest = body.character.skeleton().rest_model_pose();
        let heights: Vec<f64> = body.vertices(&rest).iter().map(|p| f64::from(p[1])).collect();
        body.height = percentile(&heights, 1.0) - percentile(&heights, 0.0);
        Some(body)
    }

    fn vertices(&self, pose: &crate::model::ModelPose) -> Vec<[f32; 3]> {
        let mut skin = Skin::default();
        let one = |blend: &LinearBlend| {
            blend.skin(pose, &mut skin);
            skin.positions.clone()
        };
        self.skins.iter().flat_map(one).collect()
    }

    fn performing(&self, motion: &Motion) -> Motion {
        let source = &motion.character;
        let found = map(source, &self.character).unwrap();
        let rigs = (&source.rig, &self.character.rig);
        Retarget::new(source, Arc::clone(&self.character), &found, rigs, RootScale::Legs).apply(motion)
    }

    /// Distances of the vertices, metres of a figure of [`HEIGHT`].
    fn distances(&self, take: &ArrayedTake, fitted: &Motion) -> Vec<f64> {
        let (original, step) = &take.motion;
        let (truth, found) = (self.performing(original), self.performing(fitted));
        let frames = (0..take.frames()).step_by(STEP);
        let of = |f: usize| {
            let (a, b) = (self.vertices(&truth.model_pose(f * step)), self.vertices(&found.model_pose(f)));
            let apart = |(a, b): (&[f32; 3], &[f32; 3])| {
                let squares = (0..3).map(|k| f64::from(a[k] - b[k]).powi(2));
                squares.sum::<f64>().sqrt() * HEIGHT / self.height
            };
            a.iter().zip(&b).map(apart).collect::<Vec<_>>()
        };
        frames.flat_map(of).collect()
    }
}

#[test]
fn arrays_on_characters_are_like_their_takes() {
    let bodies: Vec<SkinnedBody> = CHARACTERS.iter().filter_map(|name| SkinnedBody::read(name)).collect();
    let this = |take: &ArrayedTake| take.fitted().motion(0).unwrap();
    let other = |take: &ArrayedTake| {
        let fitted = take.fitted();
        motion_of(&joints2bvh(&take.array, &fitted), &take.array, &fitted)
    };
    let figures = |layout: &str, noise: f64, fit: &(dyn Fn(&ArrayedTake) -> Motion + Sync)| {
        let takes: Vec<ArrayedTake> = takes(layout).into_iter().map(|take| take.noisy(noise)).collect();
        let of = |take: &ArrayedTake| {
            let motion = fit(take);
            bodies.iter().flat_map(|body| body.distances(take, &motion)).collect::<Vec<_>>()
        };
        let all: Vec<Vec<f64>> = takes.par_iter().map(of).collect();
        let all = all.concat();
        let found = [0.5, 0.9, 0.99].map(|q| 100.0 * percentile(&all, q));
        eprintln!("{layout}, {} mm: {found:.1?} cm", noise * 1e3);
        found
    };
    if takes("humanml3d").is_empty() {
        return;
    }
    let within = |found: [f64; 3], limits: [f64; 3]| {
        assert!(found.iter().zip(limits).all(|(found, limit)| *found <= limit), "{found:?}, {limits:?}");
    };
    let (clean, noisy) = (figures("humanml3d", 0.0, &this), figures("humanml3d", 0.005, &this));
    within(clean, [3.3, 8.0, 15.0]);
    within(noisy, [3.5, 8.5, 16.0]);
    within(figures("mediapipe33", 0.005, &this), [3.5, 11.0, 16.0]);
    within(figures("coco17", 0.005, &this), [4.0, 11.0, 16.0]);
    eprintln!("joints2bvh:");
    within(clean, figures("humanml3d", 0.0, &other));
    within(noisy, figures("humanml3d", 0.005, &other));
}
