//! Content of the player: characters once, and for each clip the animated joints, frame by frame.
//!
//! Local rotations have 14 bits per component and are interpolated between frames, translations 32 bits. If a clip would take
//! more than its share of the page, only every n-th frame is kept, and the page reports it. Units: metres, seconds.

use super::packed::Store;
use super::shell::bare;
use super::shown_clip::ShownClip;
use super::skin::skin;
use crate::math::{Quat, Vec3};
use crate::model::{Character, Clip, Motion, Role};
use serde_json::{Value, json};
use std::sync::Arc;

/// Limit of all clips together before compression, bytes; a quarter of that remains.
const CLIPS: usize = 3_000_000;
/// Limit of all skins together before compression, bytes; half of that remains.
const SKINS: usize = 2_600_000;

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
    /// As [`Store::with`] packs it.
    pub(super) text: String,
    pub(super) cuts: Vec<String>,
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
    let packed: Vec<Value> = characters
        .iter()
        .map(|c| {
            let motion =
                motions.iter().find(|m| Arc::ptr_eq(&m.character, c)).expect("taken from the motions");
            let (skin, replaced) = skin(motion, SKINS / characters.len(), &mut store);
            if replaced {
                let name = &c.name;
                cuts.push(format!("The skin of {name} is too large for a page; a figure stands in for it."));
            }
            character(motion, skin, &mut store)
        })
        .collect();
    let share = CLIPS / motions.len().max(1);
    let mut actor = |motion: &Motion, label: &str| {
        let at = characters.iter().position(|c| Arc::ptr_eq(c, &motion.character));
        let stride = stride(&motion.clip, share);
        if stride > 1 {
            cuts.push(format!("The player keeps every {} frame of the {label}.", ordinal(stride)));
        }
        let mut value = track(&motion.clip, stride, &mut store);
        value["character"] = json!(at);
        value["label"] = json!(label);
        value
    };
    let takes: Vec<Value> = shown
        .iter()
        .map(|s| {
            let source = s.source.map(|m| actor(m, "source"));
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
    let script: String = SCRIPTS.map(bare).concat();
    PageScene { text: store.with(&json!({ "characters": packed, "takes": takes, "script": script })), cuts }
}

fn ordinal(n: usize) -> String {
    match n {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
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

/// Joints whose rotation changes at all.
fn turning(clip: &Clip) -> Vec<usize> {
    let differs = |j: &usize| {
        let first = clip.rotations(0)[*j].coords;
        (1..clip.frames()).any(|f| (clip.rotations(f)[*j].coords - first).amax() > 2e-5)
    };
    if clip.frames() == 0 { Vec::new() } else { (0..clip.joints()).filter(differs).collect() }
}

/// Joints whose translation changes at all, as indices of `clip.translated()`.
fn moving(clip: &Clip) -> Vec<usize> {
    let differs = |k: &usize| {
        let first = clip.translations(0)[*k];
        (1..clip.frames()).any(|f| (clip.translations(f)[*k] - first).amax() > 1e-6)
    };
    if clip.frames() == 0 { Vec::new() } else { (0..clip.translated().len()).filter(differs).collect() }
}

/// The smallest n so that every n-th frame fits into `most` bytes.
fn stride(clip: &Clip, most: usize) -> usize {
    let frame = turning(clip).len() * 12 + moving(clip).len() * 12;
    (clip.frames() * frame).div_ceil(most.max(1)).max(1)
}

fn track(clip: &Clip, stride: usize, store: &mut Store) -> Value {
    let (turning, moving) = (turning(clip), moving(clip));
    let kept = || (0..clip.frames()).step_by(stride);
    let four = |q: &Quat| [q.coords.x, q.coords.y, q.coords.z, q.coords.w];
    // A rotation and its negative are the same: the one nearer to the frame before changes less.
    let signs: Vec<Vec<f64>> =
        turning.iter().map(|&j| near_signs(kept().map(|f| clip.rotations(f)[j]))).collect();
    let three = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
    let component =
        |row: usize, c: usize| signs[c / 4][row] * four(&clip.rotations(row * stride)[turning[c / 4]])[c % 4];
    let translations = kept().flat_map(|f| moving.iter().flat_map(move |&k| three(&clip.translations(f)[k])));
    let first_translations = clip.translations(0).iter().flat_map(three);
    json!({
        "rate": clip.sample_rate, "frames": clip.frames(), "stride": stride,
        "turning": turning, "rotations": store.smooth_columns(kept().count(), 4 * turning.len(), component),
        // Constant values are written once.
        "still": store.f32s(clip.rotations(0).iter().flat_map(four).map(|x| x as f32)),
        "placed": clip.translated().iter().map(|id| id.index()).collect::<Vec<_>>(),
        "places": store.f32s(first_translations),
        "moving": moving.iter().map(|&k| clip.translated()[k].index()).collect::<Vec<_>>(),
        "translations": store.f32s(translations),
    })
}

/// For each rotation the sign, 1 or -1, that makes it nearer to the one before than its negative.
fn near_signs(rotations: impl Iterator<Item = Quat>) -> Vec<f64> {
    let mut last: Option<Quat> = None;
    let mut sign = 1.0;
    rotations
        .map(|q| {
            if last.is_some_and(|l| l.coords.dot(&q.coords) < 0.0) {
                sign = -sign;
            }
            last = Some(q);
            sign
        })
        .collect()
}
