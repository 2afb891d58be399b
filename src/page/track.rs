//! Packs the movements of a clip for the player: rotations and translations of the animated joints, to a tolerance.
//!
//! Rotations are rotation vectors from those of the first frame, translations are relative to it. Their steps are such that the
//! farthest point of the skin that a joint moves is off by equally much for each. A clip that exceeds its share of the page has
//! larger steps, and if that is not enough, only every n-th frame; the page reports both. Units: metres, seconds, radians.

use super::packed::Store;
use crate::math::{Quat, Vec3, log};
use crate::model::{Clip, Mesh, Rig, Role};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Steps of movements as parts of the distance from the hips to the farthest point of the skin: 1 mm for an adult. Frames are off
/// by half of that for each joint, 1.5 mm in all (99th percentile), which is half a pixel when the body is as tall as a screen.
const STEP: f64 = 1.0 / 1250.0;
/// Tolerances that are tried until a clip fits, in [`STEP`]s.
const TOLERANCES: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];
/// Tolerance that nobody sees, in [`STEP`]s: one pixel when the body is as tall as a screen.
const UNSEEN: f64 = 2.0;
/// Share of the page of all clips together if they take [`LENGTH`], bytes: a sixth of 300 kB.
const SIZE: f64 = 50_000.0;
/// Duration for which [`SIZE`] is meant, seconds; longer clips have more in proportion.
const LENGTH: f64 = 10.0;
/// Frames that have the smaller steps, per second; those between have double ones, since each is seen for a sixtieth of a second.
const STEADY: f64 = 30.0;
/// Weight from which a vertex counts as moved by a joint: below, the error is a quarter of that of the joint.
const HELD: f32 = 0.25;
/// Least reach of a joint as a part of that of the hips: 2 cm on an adult, the last part of a finger.
const LEAST: f64 = 1.0 / 64.0;
/// Most steps of a translation along an axis, so that packed differences fit into 23 bits; longer paths have larger steps.
const MOST_STEPS: f64 = (1 << 20) as f64;

/// How far the skin reaches from the joints of a character.
#[derive(Debug)]
pub(super) struct Reach {
    parents: Vec<Option<usize>>,
    /// The distance of each joint from its parent, rest pose.
    lengths: Vec<f64>,
    /// The distance from each joint to the farthest vertex that it moves itself.
    skin: Vec<f64>,
    hips: usize,
}

impl Reach {
    pub(super) fn of(rig: &Rig, meshes: &[Cow<Mesh>]) -> Self {
        let skeleton = rig.skeleton();
        let mut skin = vec![0.0; skeleton.len()];
        for mesh in meshes {
            for (v, position) in mesh.positions.iter().enumerate() {
                let held = (0..4).filter(|&k| mesh.weights[v][k] >= HELD);
                for binding in held.map(|k| &mesh.bindings[usize::from(mesh.joints[v][k])]) {
                    let far = binding.joint_from_mesh.transform_point(&position.map(f64::from).into());
                    let own: &mut f64 = &mut skin[binding.joint.index()];
                    *own = Some(far.coords.norm())
                        .filter(|far| far.is_finite())
                        .map_or(*own, |far| own.max(far));
                }
            }
        }
        Self {
            parents: skeleton.parents().iter().map(|p| p.map(|id| id.index())).collect(),
            lengths: skeleton.joints().iter().map(|j| j.rest.translation.norm()).collect(),
            skin,
            hips: rig.joint(Role::Hips).map_or(0, |id| id.index()),
        }
    }

    /// The reach of each joint with these distances from their parents; joints come after their parents.
    fn with(&self, lengths: &[f64]) -> Vec<f64> {
        let mut reach = self.skin.clone();
        for joint in (0..reach.len()).rev() {
            if let Some(parent) = self.parents[joint] {
                reach[parent] = reach[parent].max(lengths[joint] + reach[joint]);
            }
        }
        reach
    }

    /// The reach of each joint in a clip, and that of the hips in the rest pose.
    fn in_clip(&self, clip: &Clip) -> (Vec<f64>, f64) {
        let mut lengths = self.lengths.clone();
        for (k, id) in clip.translated().iter().enumerate() {
            let far = (0..clip.frames()).map(|f| clip.translations(f)[k].norm());
            lengths[id.index()] = far.fold(0.0, f64::max);
        }
        let size = self.with(&self.lengths)[self.hips];
        (self.with(&lengths).into_iter().map(|reach| reach.max(size * LEAST)).collect(), size)
    }
}

/// What the player leaves out of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// One of so many frames is kept.
    stride: usize,
    /// Steps in millimetres, if they can be seen.
    rounded: Option<f64>,
}

impl Cut {
    /// It as a sentence on a clip with this label.
    pub(super) fn of(self, label: &str) -> String {
        let rounded = self.rounded.map(|mm| format!("moves the {label} in steps of {mm:.1} mm"));
        let kept =
            (self.stride > 1).then(|| format!("keeps every {} frame of the {label}", ordinal(self.stride)));
        let parts: Vec<String> = rounded.into_iter().chain(kept).collect();
        format!("The player {}.", parts.join(" and "))
    }
}

fn ordinal(n: usize) -> String {
    match n {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
}

/// A clip for the player in at most `most` bytes before compression, as one of `of` on the page.
pub(super) fn packed_track(
    clip: &Clip,
    reach: &Reach,
    (most, of): (usize, usize),
    store: &mut Store,
) -> (Value, Option<Cut>) {
    let track = Track::new(clip, reach);
    let share = SIZE * (clip.duration() / LENGTH).max(1.0) / of.clamp(1, 2) as f64;
    let fits = |stride, tolerance| {
        let mut alone = Store::default();
        track.pack(stride, tolerance, &mut alone);
        alone.size() as f64 <= share
    };
    let least =
        (clip.frames() * 12 * (track.turning.len() + track.moving.len())).div_ceil(most.max(1)).max(1);
    let coarsest = TOLERANCES[TOLERANCES.len() - 1];
    let first = TOLERANCES.into_iter().map(|tolerance| (least, tolerance));
    let further = (least + 1..clip.frames()).map(|stride| (stride, coarsest));
    let (stride, tolerance) = first
        .chain(further)
        .find(|&(stride, tolerance)| fits(stride, tolerance))
        .unwrap_or((least, coarsest));
    let rounded = Some(1e3 * tolerance * track.step).filter(|_| tolerance > UNSEEN);
    let cut = Cut { stride, rounded };
    (track.pack(stride, tolerance, store), Some(cut).filter(|cut| cut.stride > 1 || cut.rounded.is_some()))
}

/// The animated joints of a clip.
struct Track<'a> {
    clip: &'a Clip,
    /// Joints whose rotation changes, with their rotation vectors and their steps.
    turning: Vec<(usize, Vec<Vec3>, f64)>,
    /// Joints whose translation changes, as indices of `clip.translated()`.
    moving: Vec<usize>,
    /// The step at the farthest point, metres.
    step: f64,
}

impl<'a> Track<'a> {
    fn new(clip: &'a Clip, reach: &Reach) -> Self {
        let (reach, size) = reach.in_clip(clip);
        let step = STEP * size;
        let turning = turning(clip).into_iter().map(|j| {
            let vectors = rotation_vectors((0..clip.frames()).map(|f| clip.rotations(f)[j]));
            (j, vectors, step / reach[j])
        });
        Self { clip, turning: turning.collect(), moving: moving(clip), step }
    }

    fn pack(&self, stride: usize, tolerance: f64, store: &mut Store) -> Value {
        let (clip, turning, moving) = (self.clip, &self.turning, &self.moving);
        let rows = clip.frames().div_ceil(stride);
        let from = |row: usize, c: usize| {
            let at = |frame: usize| clip.translations(frame)[moving[c / 3]][c % 3];
            at(row * stride) - at(0)
        };
        let farthest = (0..3 * moving.len()).flat_map(|c| (0..rows).map(move |row| from(row, c).abs()));
        // Half of a step of rotations, since it has three axes more and no lever.
        let step = (0.5 * tolerance * self.step).max(farthest.fold(0.0, f64::max) / MOST_STEPS);
        let steps: Vec<f32> = turning.iter().map(|(_, _, step)| (tolerance * step) as f32).collect();
        let rotation = |row: usize, c: usize| turning[c / 3].1[row * stride][c % 3] / f64::from(steps[c / 3]);
        let four = |q: &Quat| [q.coords.x, q.coords.y, q.coords.z, q.coords.w];
        let three = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
        // Rates of files are not exact.
        let fine = 1 + (1.01 * clip.sample_rate / stride as f64 / (2.0 * STEADY)) as usize;
        json!({
            "rate": clip.sample_rate, "frames": clip.frames(), "stride": stride, "fine": fine,
            "turning": turning.iter().map(|t| t.0).collect::<Vec<_>>(), "steps": store.f32s(steps.iter().copied()),
            "rotations": store.curves(rows, 3 * turning.len(), fine, rotation),
            // Constant values are written once.
            "still": store.f32s(clip.rotations(0).iter().flat_map(four).map(|x| x as f32)),
            "placed": clip.translated().iter().map(|id| id.index()).collect::<Vec<_>>(),
            "places": store.f32s(clip.translations(0).iter().flat_map(three)),
            "moving": moving.iter().map(|&k| clip.translated()[k].index()).collect::<Vec<_>>(),
            "translations": store.curves(rows, 3 * moving.len(), fine, |row, c| from(row, c) / step),
            "step": step,
        })
    }
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
    use super::super::packed::tests::unpacked_curves;
    use super::*;
    use crate::made_bodies::{ADULT, bones};
    use crate::math::{exp, same_hemisphere};
    use crate::model::{Motion, Pose};
    use crate::perturbed::Noise;
    use crate::render::surfaces;
    use std::sync::Arc;

    /// An adult whose joints all rotate, as quickly as people do and with the noise of a capture.
    fn dancer(rate: f64, frames: usize, noise: f64) -> Motion {
        let mut random = Noise(1);
        let body = Arc::new(bones(&ADULT));
        let joints = body.skeleton().len();
        let rotation = |k: usize| {
            let (frame, joint) = (k / joints, k % joints);
            let time = frame as f64 / rate;
            let angle = 0.6 * (time * (2.0 + 0.1 * joint as f64)).sin() + noise * random.normal();
            exp(&(Vec3::new(0.6, 0.2, 0.77) * angle))
        };
        let rotations = (0..joints * frames).map(rotation).collect();
        Motion::new(body, Clip::new("dance", rate, joints, rotations, Vec::new(), Vec::new()))
    }

    /// The largest error of a joint in the frames that the player has, metres, and the packed clip.
    fn error(motion: &Motion) -> (f64, Value, Option<Cut>, usize) {
        let skeleton = motion.character.skeleton();
        let reach = Reach::of(&motion.character.rig, &surfaces(motion));
        let mut store = Store::default();
        let (value, cut) = packed_track(&motion.clip, &reach, (3_000_000, 2), &mut store);
        let whole = |key: &str| value[key].as_u64().unwrap() as usize;
        let (stride, fine) = (whole("stride"), whole("fine"));
        let turning: Vec<usize> = serde_json::from_value(value["turning"].clone()).unwrap();
        let rows = motion.clip.frames().div_ceil(stride);
        let curves = unpacked_curves(&store, &value["rotations"], (rows, 3 * turning.len()), fine);
        let track = Track::new(&motion.clip, &reach);
        let tolerance = cut.and_then(|cut| cut.rounded).map_or(1.0, |mm| mm / 1e3 / track.step);
        let mut worst: f64 = 0.0;
        for row in 0..rows {
            let pose = motion.clip.pose(skeleton, row * stride);
            let mut local = pose.local().to_vec();
            for (k, (joint, _, step)) in track.turning.iter().enumerate() {
                let at = 3 * (row * turning.len() + k);
                let vector = Vec3::new(curves[at], curves[at + 1], curves[at + 2]) * (step * tolerance);
                local[*joint].rotation = motion.clip.rotations(0)[*joint] * exp(&vector);
            }
            let model = |pose: &Pose| crate::model::ModelPose::of(skeleton, pose);
            let (a, b) = (model(&pose), model(&Pose::new(local)));
            let off = skeleton.ids().map(|id| (a.position(id) - b.position(id)).norm());
            worst = off.fold(worst, f64::max);
        }
        (worst, value, cut, store.size())
    }

    #[test]
    fn every_frame_of_ten_seconds_is_kept_to_two_millimetres_at_any_rate() {
        for rate in [30.0, 60.0, 120.00005] {
            let (worst, value, cut, size) = error(&dancer(rate, (10.0 * rate) as usize, 0.0));
            println!("{rate} Hz: {:.2} mm, {size} bytes", worst * 1e3);
            assert_eq!((value["stride"].as_u64(), cut), (Some(1), None));
            assert!(worst < 0.003 && size < 25_000, "{worst} {size}");
        }
    }

    #[test]
    fn a_clip_that_exceeds_its_share_is_coarser_and_the_page_reports_it() {
        let (worst, _, cut, size) = error(&dancer(120.0, 1200, 0.01));
        let cut = cut.expect("noise does not pack");
        println!("{:.2} mm, {size} bytes: {}", worst * 1e3, cut.of("clip"));
        assert!(cut.rounded.is_some() && size < 27_000, "{cut:?} {size}");
        let several = Cut { stride: 3, rounded: Some(3.96) };
        let text = "The player moves the take in steps of 4.0 mm and keeps every third frame of the take.";
        assert_eq!(several.of("take"), text);
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
