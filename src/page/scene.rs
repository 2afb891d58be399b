//! Content of the player: characters once, and for each clip the animated joints, frame by frame.
//!
//! Local rotations are rotation vectors from the first frame's, translations are relative to the least of each axis; both are in
//! steps and interpolated between frames. If a clip would take more than its share of the page, only every n-th frame is kept, and
//! the page reports it. Units: metres, seconds, radians.

use super::packed::{Prediction, Store};
use super::shell::{Later, bare};
use super::shown_clip::ShownClip;
use super::skin::skin;
use crate::math::{Quat, Vec3, log};
use crate::model::{Character, Clip, Motion, Role};
use serde_json::{Value, json};
use std::sync::Arc;

/// Step of translations, metres: a fifth of a pixel when the body is four screens tall.
const TRANSLATION_STEP: f64 = 1e-4;
/// Most steps of a translation along an axis, so that differences of differences fit into 23 bits; paths of more than 100 m have
/// larger steps.
const MOST_STEPS: f64 = (1 << 20) as f64;
/// Limit of all clips together before compression, bytes; a quarter of that remains.
const CLIPS: usize = 3_000_000;
/// Size before compression above which a clip keeps no more frames than a screen shows, bytes: 10 s of a body at 60 frames a second.
const SMOOTH: usize = 250_000;
/// Frames that a screen shows, per second.
const SCREEN: f64 = 60.0;
/// Limit of all skins together before compression, bytes; half of that remains.
const SKINS: usize = 2_600_000;

/// Step of rotation vectors, radians: half of it moves the end of a limb of one metre by a quarter of a millimetre, which is half
/// a pixel when the body is four screens tall.
const ROTATION_STEP: f64 = 1.0 / 2048.0;

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

/// The n so that every n-th frame is kept: the smallest that fits into `most` bytes, and for clips above [`SMOOTH`] one that leaves
/// the frames that a screen shows.
fn stride(clip: &Clip, most: usize) -> usize {
    let bytes = clip.frames() * (turning(clip).len() * 12 + moving(clip).len() * 12);
    // Rates of files are not exact.
    let shown = (1.01 * clip.sample_rate / SCREEN) as usize;
    bytes.div_ceil(most.max(1)).max(bytes.div_ceil(SMOOTH).min(shown)).max(1)
}

fn track(clip: &Clip, stride: usize, store: &mut Store) -> Value {
    let (turning, moving) = (turning(clip), moving(clip));
    let kept = || (0..clip.frames()).step_by(stride);
    let four = |q: &Quat| [q.coords.x, q.coords.y, q.coords.z, q.coords.w];
    let vectors: Vec<Vec<Vec3>> =
        turning.iter().map(|&j| rotation_vectors(kept().map(|f| clip.rotations(f)[j]))).collect();
    let three = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
    let at = |row: usize, c: usize| clip.translations(row * stride)[moving[c / 3]][c % 3];
    let rows = kept().count();
    let ends =
        |c: usize| (0..rows).map(|r| at(r, c)).fold((f64::MAX, f64::MIN), |e, x| (e.0.min(x), e.1.max(x)));
    let ends: Vec<(f64, f64)> = (0..3 * moving.len()).map(ends).collect();
    let step = ends.iter().map(|e| (e.1 - e.0) / MOST_STEPS).fold(TRANSLATION_STEP, f64::max);
    let translation = |row: usize, c: usize| ((at(row, c) - ends[c].0) / step).round() as i32;
    let rotation = |row: usize, c: usize| (vectors[c / 3][row][c % 3] / ROTATION_STEP).round() as i32;
    let first_translations = clip.translations(0).iter().flat_map(three);
    json!({
        "rate": clip.sample_rate, "frames": clip.frames(), "stride": stride,
        "turning": turning, "rotations": store.whole(rows, 3 * turning.len(), Prediction::Linear, rotation),
        // Constant values are written once.
        "still": store.f32s(clip.rotations(0).iter().flat_map(four).map(|x| x as f32)),
        "placed": clip.translated().iter().map(|id| id.index()).collect::<Vec<_>>(),
        "places": store.f32s(first_translations),
        "moving": moving.iter().map(|&k| clip.translated()[k].index()).collect::<Vec<_>>(),
        "translations": store.whole(rows, 3 * moving.len(), Prediction::Linear, translation),
        "low": ends.iter().map(|e| e.0 as f32).collect::<Vec<_>>(), "step": step,
    })
}

/// The rotation vectors of rotations from the first one: of the two of each rotation, the one nearer to that before.
fn rotation_vectors(rotations: impl Iterator<Item = Quat>) -> Vec<Vec3> {
    let (mut first, mut last) = (None, Vec3::zeros());
    rotations
        .map(|q| {
            let short = log(&(first.get_or_insert(q).inverse() * q));
            let long = short - short.try_normalize(0.0).unwrap_or_default() * std::f64::consts::TAU;
            last = if (short - last).norm() <= (long - last).norm() { short } else { long };
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{exp, same_hemisphere};

    const JOINTS: usize = 20;

    /// A clip of `frames` whose joints all rotate.
    fn turned(rate: f64, frames: usize) -> Clip {
        let rotation = |k: usize| exp(&(Vec3::x() * (0.01 * (k / JOINTS) as f64)));
        Clip::new(
            "turned",
            rate,
            JOINTS,
            (0..JOINTS * frames).map(rotation).collect(),
            Vec::new(),
            Vec::new(),
        )
    }

    #[test]
    fn a_long_clip_keeps_the_frames_that_a_screen_shows_and_a_short_one_all() {
        let long = turned(120.00005, 3000);
        assert_eq!(stride(&long, CLIPS), 2);
        assert_eq!(stride(&turned(120.00005, 100), CLIPS), 1);
        assert_eq!(stride(&turned(60.0, 3000), CLIPS), 1);
        assert!(stride(&long, 1000) > 100);
    }

    #[test]
    fn rotation_vectors_give_the_rotations_back_without_jumps() {
        // Two whole rotations about an axis that wavers.
        let at = |k: usize| {
            let wave = 0.1 * (k as f64 * 0.2).sin();
            exp(&Vec3::new(0.3, wave, 1.0)) * exp(&(Vec3::new(wave, 1.0, 0.2).normalize() * (k as f64 * 0.1)))
        };
        let vectors = rotation_vectors((0..126).map(at));
        for (k, v) in vectors.iter().enumerate() {
            let back = at(0) * exp(v);
            assert!((back.coords - same_hemisphere(at(k), &back).coords).amax() < 1e-9, "{k}");
        }
        let steps = vectors.windows(2).map(|w| (w[1] - w[0]).norm());
        assert!(steps.take(40).all(|step| step < 0.3));
    }
}
