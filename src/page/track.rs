//! Packs the movements of a clip for the player: rotations and translations of the animated joints, to a tolerance.
//!
//! Rotations are rotation vectors from those of the first frame, translations are relative to it. Their steps are such that the
//! farthest point of the skin that a joint moves is off by equally much for each. A clip that exceeds its share of the page has
//! larger steps, and if that is not enough, only every n-th frame; the page reports both. Units: metres, seconds, radians.

use super::packed::Store;
use crate::math::{Quat, Vec3, log};
use crate::model::{Clip, Mesh, ModelPose, Pose, Rig, Role, Skeleton};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Steps of movements as parts of the distance from the hips to the farthest point of the skin: 1 mm for an adult. Frames are off
/// by half of that for each joint, 1.5 mm in all (99th percentile), which is half a pixel when the body is as tall as a screen.
const STEP: f64 = 1.0 / 1250.0;
/// Tolerances that are tried until a clip fits, in [`STEP`]s; then fewer frames, as long as they are [`STEADY`], then [`COARSE`].
const TOLERANCES: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 4.0];
/// Tolerances that are tried after that, before frames become fewer still: they blur contacts, but no movement is lost.
const COARSE: [f64; 4] = [6.0, 8.0, 12.0, 16.0];
/// Poses of a clip in which the reach of joints is looked for.
const POSES: usize = 24;
/// Tolerance that nobody sees, in [`STEP`]s: one pixel when the body is as tall as a screen.
const UNSEEN: f64 = 2.0;
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
pub(super) struct SkinReach<'a> {
    skeleton: &'a Skeleton,
    /// The distance from each joint to the farthest vertex that it moves itself.
    skin: Vec<f64>,
    hips: usize,
}

impl<'a> SkinReach<'a> {
    pub(super) fn of(rig: &'a Rig, meshes: &[Cow<Mesh>]) -> Self {
        let skeleton = rig.skeleton();
        let mut skin = vec![0.0; skeleton.len()];
        for mesh in meshes {
            for (v, position) in mesh.positions.iter().enumerate() {
                let held = (0..4).filter(|&k| mesh.weights[v][k] >= HELD);
                for binding in held.map(|k| &mesh.bindings[usize::from(mesh.joints[v][k])]) {
                    let far = binding.joint_from_mesh.transform_point(&position.map(f64::from).into());
                    let far = Some(far.coords.norm()).filter(|far| far.is_finite()).unwrap_or(0.0);
                    let own: &mut f64 = &mut skin[binding.joint.index()];
                    *own = own.max(far);
                }
            }
        }
        Self { skeleton, skin, hips: rig.joint(Role::Hips).map_or(0, |id| id.index()) }
    }

    /// Widens the reach of each joint to what it and those below it hold in a pose.
    fn widen(&self, pose: &Pose, reach: &mut [f64]) {
        let model = ModelPose::of(self.skeleton, pose);
        for id in self.skeleton.ids() {
            let mut above = Some(id);
            while let Some(joint) = above {
                let far = (model.position(id) - model.position(joint)).norm() + self.skin[id.index()];
                reach[joint.index()] = reach[joint.index()].max(far);
                above = self.skeleton.parents()[joint.index()];
            }
        }
    }

    /// The reach of each joint in a clip, and that of the hips in the rest pose.
    fn in_clip(&self, clip: &Clip) -> (Vec<f64>, f64) {
        let mut rest = self.skin.clone();
        self.widen(&self.skeleton.rest_pose(), &mut rest);
        let size = rest[self.hips];
        let mut reach = vec![size * LEAST; self.skin.len()];
        for k in 0..POSES {
            self.widen(&clip.pose(self.skeleton, (clip.frames() - 1) * k / (POSES - 1)), &mut reach);
        }
        (reach, size)
    }
}

/// What the player leaves out of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    /// One of so many frames is kept.
    pub(in crate::page) stride: usize,
    /// Steps in millimetres, if they can be seen.
    pub(in crate::page) rounded: Option<f64>,
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

/// A clip for the player in at most `share` bytes of the page and `most` bytes before compression.
pub(super) fn packed_track(
    clip: &Clip,
    reach: &SkinReach,
    (share, most): (usize, usize),
    store: &mut Store,
) -> (Value, Option<Cut>) {
    let track = AnimatedJoints::new(clip, reach);
    let fits = |&(stride, tolerance): &(usize, f64)| {
        let mut alone = Store::default();
        track.pack(stride, tolerance, &mut alone);
        alone.size() <= share
    };
    let bytes = clip.frames() * 12 * (track.turning.len() + track.moving.len());
    let least = bytes.div_ceil(most.max(1)).max(1);
    // Rates of files are not exact.
    let steady = ((1.01 * clip.sample_rate / STEADY) as usize).max(least);
    let (visible, coarsest) = (TOLERANCES[TOLERANCES.len() - 1], COARSE[COARSE.len() - 1]);
    let fine = TOLERANCES.into_iter().map(|tolerance| (least, tolerance));
    let fewer = (least + 1..=steady).map(|stride| (stride, visible));
    let coarse = COARSE.into_iter().map(|tolerance| (steady, tolerance));
    let further = (steady + 1..clip.frames()).map(|stride| (stride, coarsest));
    let mut all = fine.chain(fewer).chain(coarse).chain(further);
    let (stride, tolerance) = all.find(fits).unwrap_or((steady, coarsest));
    let rounded = Some(1e3 * tolerance * track.step).filter(|_| tolerance > UNSEEN);
    let cut = Some(Cut { stride, rounded }).filter(|cut| cut.stride > 1 || cut.rounded.is_some());
    (track.pack(stride, tolerance, store), cut)
}

/// The animated joints of a clip.
struct AnimatedJoints<'a> {
    clip: &'a Clip,
    /// Joints whose rotation changes, with their rotation vectors and their steps.
    turning: Vec<(usize, Vec<Vec3>, f64)>,
    /// Joints whose translation changes, as indices of `clip.translated()`.
    moving: Vec<usize>,
    /// The step at the farthest point, metres.
    step: f64,
}

impl<'a> AnimatedJoints<'a> {
    fn new(clip: &'a Clip, reach: &SkinReach) -> Self {
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
    use super::*;
    use crate::math::{exp, same_hemisphere};

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
