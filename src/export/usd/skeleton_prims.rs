//! Writes a skeleton and its clips as a Skeleton prim with SkelAnimations.
//!
//! Joints are paths of prim names, parents first; `jointNames` are the names in the skeleton. Bind transforms are in model
//! space, rest transforms and animations local. Units: metres, time codes (frames of the first clip).

use super::blend_shapes::MorphNames;
use super::usda_text::{PrimNames, ROOT, UsdaText, list, matrix, tokens, tuples};
use crate::export::nominal_rate::nominal;
use crate::math::Mat4;
use crate::model::{Clip, Motion, Skeleton};

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
    text: &mut UsdaText,
    skeleton: &Skeleton,
    name: &str,
    bind: &[Mat4<f64>],
    clips: &ClipsInSkeleton,
) {
    let joints = tokens(paths(skeleton));
    text.open(&format!("def Skeleton \"{name}\""), &[r#"prepend apiSchemas = ["SkelBindingAPI"]"#]);
    text.line(&format!("uniform token[] joints = {joints}"));
    text.line(&format!(
        "uniform token[] jointNames = {}",
        tokens(skeleton.joints().iter().map(|j| j.name.as_str()))
    ));
    text.line(&format!("uniform matrix4d[] bindTransforms = {}", list(bind.iter().map(matrix))));
    let rest = skeleton.joints().iter().map(|j| matrix(&j.rest.to_matrix()));
    text.line(&format!("uniform matrix4d[] restTransforms = {}", list(rest)));
    let mut names = PrimNames::default();
    let named = |m: &Motion| {
        let name = if m.clip.name.is_empty() { "clip" } else { m.clip.name.as_str() };
        (m.clip.frames() > 0).then(|| names.fresh(name))
    };
    let names: Vec<Option<String>> = clips.motions.iter().map(named).collect();
    if let Some(first) = names.iter().flatten().next() {
        text.line(&format!("rel skel:animationSource = <{ROOT}/Skeleton/{first}>"));
    }
    for (motion, name) in clips.contained.iter().zip(&names) {
        if let Some(name) = name {
            animation(text, skeleton, &motion.clip, name, &joints, clips);
        }
    }
    text.close();
}

/// Writes a clip in time codes: translations, rotations and scales, which are ignored unless all three are present.
fn animation(
    text: &mut UsdaText,
    skeleton: &Skeleton,
    clip: &Clip,
    name: &str,
    joints: &str,
    clips: &ClipsInSkeleton,
) {
    let step = clips.rate / nominal(clip.sample_rate);
    let time = |frame: usize| frame as f64 * step;
    let translations = |frame: usize| {
        let pose = clip.pose(skeleton, frame);
        tuples(pose.local().iter().map(|t| <[f64; 3]>::from(t.translation).map(|x| x as f32)))
    };
    let rotations = |frame: usize| {
        let wxyz = clip.rotations(frame).iter().map(|q| [q.w, q.i, q.j, q.k].map(|x| x as f32));
        tuples(wxyz)
    };
    text.open(&format!("def SkelAnimation \"{name}\""), &[]);
    text.line(&format!("uniform token[] joints = {joints}"));
    match clip.translated() {
        [] => text.line(&format!("float3[] translations = {}", translations(0))),
        _ => text.samples("float3[] translations", (0..clip.frames()).map(|f| (time(f), translations(f)))),
    }
    text.samples("quatf[] rotations", (0..clip.frames()).map(|f| (time(f), rotations(f))));
    text.line(&format!("half3[] scales = {}", tuples(skeleton.ids().map(|_| [1.0; 3]))));
    clips.morphs.write(text, clip, &time);
    text.close();
}

/// The bytes of the paths of all joints, without numbers that tell siblings apart: n^2 for a chain of n joints.
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
