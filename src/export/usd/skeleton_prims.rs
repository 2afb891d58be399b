//! Writes a skeleton and its clips as a Skeleton prim with SkelAnimations.
//!
//! Joints are paths of prim names, parents first; `jointNames` are the names in the skeleton. Bind transforms are in model
//! space, rest transforms and animations local. Units: metres, time codes (frames of the first clip).

use super::blend_shapes::MorphNames;
use super::prim_names::PrimNames;
use super::usd_layer::{ROOT, UsdLayer, UsdValue};
use crate::export::nominal_rate::nominal;
use crate::math::Mat4;
use crate::model::{Clip, Motion, Skeleton};

/// The animation of a character without clips, which holds its resting weights.
const REST: &str = "Rest";

/// The clips of a skeleton.
pub(super) struct ClipsInSkeleton<'a> {
    /// All motions of the file, whose clips are in the prim `Skeleton`; the first is the animation of every skeleton.
    pub(super) motions: &'a [Motion],
    /// The motions whose clips are written into the prim.
    pub(super) contained: &'a [Motion],
    /// The morph targets of all meshes.
    pub(super) morphs: &'a MorphNames<'a>,
    /// Time codes per second.
    pub(super) rate: f64,
}

/// Writes the prim `name` of a skeleton with the bind transforms `bind`.
pub(super) fn write(
    layer: &mut UsdLayer,
    skeleton: &Skeleton,
    name: &str,
    bind: &[Mat4<f64>],
    clips: &ClipsInSkeleton,
) {
    let joints = UsdValue::Tokens(paths(skeleton));
    layer.open("Skeleton", name, &["SkelBindingAPI"]);
    layer.attribute("uniform token[] joints", joints.clone());
    let names = skeleton.joints().iter().map(|j| j.name.clone()).collect();
    layer.attribute("uniform token[] jointNames", UsdValue::Tokens(names));
    layer.attribute("uniform matrix4d[] bindTransforms", UsdValue::Matrices(bind.to_vec()));
    let rest = skeleton.joints().iter().map(|j| j.rest.to_matrix()).collect();
    layer.attribute("uniform matrix4d[] restTransforms", UsdValue::Matrices(rest));
    let mut names = PrimNames::default();
    let named = |m: &Motion| {
        let name = if m.clip.name.is_empty() { "clip" } else { m.clip.name.as_str() };
        (m.clip.frames() > 0).then(|| names.fresh(name))
    };
    let names: Vec<Option<String>> = clips.motions.iter().map(named).collect();
    // Weights have no place but an animation.
    let resting = names.iter().all(Option::is_none) && clips.morphs.rest_away_from_zero();
    if resting {
        layer.relationship("skel:animationSource", format!("{ROOT}/Skeleton/{REST}"));
    }
    if let Some(motion) = clips.contained.first().filter(|_| resting) {
        layer.open("SkelAnimation", REST, &[]);
        clips.morphs.write(layer, &motion.clip, &|_| 0.0);
        layer.close();
    }
    if let Some(first) = names.iter().flatten().next() {
        layer.relationship("skel:animationSource", format!("{ROOT}/Skeleton/{first}"));
    }
    for (motion, name) in clips.contained.iter().zip(&names) {
        if let Some(name) = name {
            animation(layer, skeleton, &motion.clip, name, &joints, clips);
        }
    }
    layer.close();
}

/// Writes a clip in time codes: translations, rotations and scales, which are ignored unless all three are present.
fn animation(
    layer: &mut UsdLayer,
    skeleton: &Skeleton,
    clip: &Clip,
    name: &str,
    joints: &UsdValue,
    clips: &ClipsInSkeleton,
) {
    let step = clips.rate / nominal(clip.sample_rate);
    let time = |frame: usize| frame as f64 * step;
    let translations = |frame: usize| {
        let pose = clip.pose(skeleton, frame);
        let all = pose.local().iter().map(|t| <[f64; 3]>::from(t.translation).map(|x| x as f32));
        UsdValue::Triples(all.collect())
    };
    let rotations = |frame: usize| {
        let row = clip.rotations(frame);
        let wxyz = row.iter().map(|q| [q.w, q.i, q.j, q.k].map(|x| x as f32));
        UsdValue::Quaternions(wxyz.collect())
    };
    layer.open("SkelAnimation", name, &[]);
    layer.display_name(&clip.name);
    layer.attribute("uniform token[] joints", joints.clone());
    match clip.translated() {
        [] => layer.attribute("float3[] translations", translations(0)),
        _ => layer.samples("float3[] translations", (0..clip.frames()).map(|f| (time(f), translations(f)))),
    }
    layer.samples("quatf[] rotations", (0..clip.frames()).map(|f| (time(f), rotations(f))));
    layer.attribute("half3[] scales", UsdValue::UnitScales(skeleton.len()));
    clips.morphs.write(layer, clip, &time);
    layer.close();
}

/// The bytes of the paths of all joints, without numbers that distinguish siblings: n^2 for a chain of n joints.
pub(super) fn bytes_of_paths(skeleton: &Skeleton) -> u64 {
    let mut lengths: Vec<u64> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let above = joint.parent.map_or(0, |p| lengths[p.index()] + 1);
        lengths.push(above + joint.name.len() as u64);
    }
    lengths.iter().sum()
}

/// The path of every joint.
fn paths(skeleton: &Skeleton) -> Vec<String> {
    let mut siblings: Vec<PrimNames> = skeleton.ids().map(|_| PrimNames::default()).collect();
    let mut paths: Vec<String> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        paths.push(match joint.parent.map(|p| p.index()) {
            Some(p) => format!("{}/{}", paths[p], siblings[p].fresh(&joint.name)),
            None => PrimNames::default().fresh(&joint.name),
        });
    }
    paths
}
