//! Content of the player: characters once, and for each clip the animated joints, frame by frame.
//!
//! Units: metres, seconds, radians.

use super::packed::Store;
use super::shell::{Later, bare};
use super::shown_clip::ShownClip;
use super::skin::skin;
use super::track::{SkinReach, packed_track};
use crate::model::{Character, Motion, Role};
use crate::render::surfaces;
use serde_json::{Value, json};
use std::sync::Arc;

/// Limit of all clips together before compression, bytes; a quarter of that remains.
const CLIPS: usize = 3_000_000;
/// Share of the page of the skins of all characters, bytes: a fifth of 300 kB.
const SKINS: usize = 60_000;
/// Share of the page of skins and clips together if the clips take [`LENGTH`], bytes. Measures, plots, pictures and the scripts take
/// up to 185,000 of 300,000.
const PLAYER: usize = 110_000;
/// Duration for which [`PLAYER`] is meant, seconds; what skins leave of it grows with longer clips.
const LENGTH: f64 = 10.0;

/// The player's script, which is compressed with its content: half of it is white space and names.
const SCRIPTS: [&str; 4] = [
    include_str!("figure.js"),
    include_str!("draw_3d.js"),
    include_str!("draw_2d.js"),
    include_str!("player.js"),
];

/// The content of the player, and sentences on what had to be omitted.
#[derive(Clone, Debug)]
pub(super) struct PageScene {
    store: Store,
    content: Value,
    pub(super) cuts: Vec<String>,
}

impl PageScene {
    /// The scene, the script and other parts of the page as [`Store::with`] packs them.
    pub(super) fn text(mut self, later: &Later) -> String {
        self.content["script"] = json!(SCRIPTS.map(bare).concat());
        self.content["later"] = json!(later.0);
        self.store.with(&self.content)
    }
}

/// The scene of these motions.
pub(super) fn scene(shown: &[ShownClip]) -> PageScene {
    let clips = shown.iter().flat_map(|s| s.source.into_iter().chain(s.unperformed).chain([s.result]));
    let motions: Vec<&Motion> = clips.collect();
    let mut characters: Vec<&Arc<Character>> = Vec::new();
    for motion in &motions {
        if !characters.iter().any(|c| Arc::ptr_eq(c, &motion.character)) {
            characters.push(&motion.character);
        }
    }
    let mut cuts = Vec::new();
    let mut store = Store::default();
    let mut reaches = Vec::new();
    let skinned = characters.iter().filter(|c| !c.meshes.is_empty()).count().max(1);
    let packed: Vec<Value> = characters
        .iter()
        .map(|c| {
            let motion =
                motions.iter().find(|m| Arc::ptr_eq(&m.character, c)).expect("taken from the motions");
            let meshes = surfaces(motion);
            reaches.push(SkinReach::of(&c.rig, &meshes));
            let (skin, replaced) = skin(motion, meshes, SKINS / skinned, &mut store);
            if replaced {
                let name = &c.name;
                cuts.push(format!("The skin of {name} is too large for a page; a figure stands in for it."));
            }
            character(motion, skin, &mut store)
        })
        .collect();
    let most = CLIPS / motions.len().max(1);
    let textures = |c: &Value| {
        c["skin"]["textures"].as_array().map_or(0, |all| all.iter().map(|t| t.to_string().len()).sum())
    };
    let skins = store.size() + packed.iter().map(textures).sum::<usize>();
    let shown_for: f64 = shown.iter().map(|s| s.result.clip.duration()).sum();
    let mut left = PLAYER.saturating_sub(skins).max(PLAYER / 4) as f64 * (shown_for / LENGTH).max(1.0);
    let mut lengths = motions.iter().map(|m| m.clip.duration().max(f64::MIN_POSITIVE)).sum::<f64>();
    let mut actor = |motion: &Motion, label: &str| {
        let at = characters.iter().position(|c| Arc::ptr_eq(c, &motion.character)).expect("all are there");
        let own = motion.clip.duration().max(f64::MIN_POSITIVE);
        let share = left * own / lengths;
        let before = store.size();
        let (mut value, cut) = packed_track(&motion.clip, &reaches[at], (share as usize, most), &mut store);
        // What a clip leaves is for those after it.
        left -= (store.size() - before) as f64;
        lengths -= own;
        cuts.extend(cut.map(|cut| cut.of(label)));
        value["character"] = json!(at);
        value["label"] = json!(label);
        value
    };
    let takes: Vec<Value> = shown
        .iter()
        .map(|s| {
            let source = s.source.map(|m| actor(m, "take"));
            let ghost = s.unperformed.map(|m| {
                let mut ghost = actor(m, "clip before its performance");
                ghost["ghost"] = json!(true);
                ghost
            });
            let result = actor(s.result, if source.is_some() { "result" } else { "clip" });
            let actors: Vec<Value> = source.into_iter().chain(ghost).chain([result]).collect();
            json!({ "name": s.result.clip.name, "actors": actors })
        })
        .collect();
    cuts.dedup();
    PageScene { store, content: json!({ "characters": packed, "takes": takes }), cuts }
}

fn character(motion: &Motion, skin: Value, store: &mut Store) -> Value {
    let character = &*motion.character;
    let skeleton = character.skeleton();
    let parents: Vec<i64> = skeleton
        .parents()
        .iter()
        .map(|p| p.map_or(-1, |id| i64::try_from(id.index()).unwrap_or(-1)))
        .collect();
    let rest = skeleton.joints().iter().flat_map(|j| {
        let (q, t) = (&j.rest.rotation.coords, &j.rest.translation);
        [t.x, t.y, t.z, q.x, q.y, q.z, q.w].map(|x| x as f32)
    });
    let names: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    let hips = character.rig.joint(Role::Hips).map_or(0, |id| id.index());
    let side = |id: crate::model::JointId| match character.rig.role(id).and_then(Role::side) {
        Some(crate::model::Side::Left) => 1,
        Some(crate::model::Side::Right) => 2,
        None => 0,
    };
    let sides: Vec<i32> = skeleton.ids().map(side).collect();
    json!({
        "name": character.name, "parents": parents, "rest": store.f32s(rest), "names": names, "hips": hips,
        "sides": sides, "skin": skin,
    })
}
