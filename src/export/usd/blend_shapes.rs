//! Writes morph targets as BlendShape prims, and their weights in animations.
//!
//! A weight in an animation is addressed by a name that all meshes of the skeleton share. Meshes whose weights always agree
//! share a name; otherwise it gets a number.
//! Space: model space of the bind pose. Units: metres. Source: UsdSkel, "Blend Shapes", of Pixar's USD.

use super::prim_names::PrimNames;
use super::usd_layer::{ROOT, UsdLayer, UsdValue};
use crate::export::whole_mesh::WholeMesh;
use crate::math::{Mat4, Vec3};
use crate::model::{AnimatedProperty, Clip, Mesh, Motion, PropertyTrack};
use std::collections::{HashMap, HashSet};

/// The names of all morph targets in animations, with where their weights are from.
#[derive(Default)]
pub(super) struct MorphNames<'a> {
    names: Vec<String>,
    sources: Vec<MorphWeights<'a>>,
    /// The place of each name in the lists.
    places: HashMap<String, usize>,
}

/// The weights of a morph target.
#[derive(Clone, Copy)]
struct MorphWeights<'a> {
    mesh: &'a Mesh,
    target: usize,
}

impl MorphWeights<'_> {
    /// The weight in each frame of a clip; one if it is constant.
    fn of(&self, clip: &Clip) -> Vec<f32> {
        let own = |t: &&PropertyTrack| t.property == AnimatedProperty::Weights && t.node == self.mesh.node;
        let Some(track) = clip.property_tracks.iter().find(own) else { return vec![self.rest()] };
        let weight = |frame| track.frame(frame).get(self.target).copied().unwrap_or(0.0);
        (0..clip.frames()).map(weight).collect()
    }

    /// The weight without an animation.
    fn rest(&self) -> f32 {
        self.mesh.morphs.get(self.target).map_or(0.0, |m| m.weight)
    }
}

impl<'a> MorphNames<'a> {
    /// The names of the morph targets of a mesh in the animations of these motions.
    pub(super) fn add(&mut self, mesh: &'a Mesh, motions: &[Motion]) -> Vec<String> {
        let mut names = Vec::with_capacity(mesh.morphs.len());
        // A mesh has every name once: those in use, and the lowest number that may be free behind each plain name.
        let mut used: HashSet<String> = HashSet::new();
        let mut lowest: HashMap<&str, usize> = HashMap::new();
        for (target, morph) in mesh.morphs.iter().enumerate() {
            let weights = MorphWeights { mesh, target };
            let agrees = |known: usize| {
                let known = self.sources[known];
                motions.iter().all(|m| known.of(&m.clip) == weights.of(&m.clip))
            };
            let lowest = lowest.entry(&morph.name).or_insert(1);
            let numbered = |n: usize| match n {
                1 => morph.name.clone(),
                n => format!("{}_{n}", morph.name),
            };
            while used.contains(&numbered(*lowest)) {
                *lowest += 1;
            }
            let free = |name: &String| {
                !used.contains(name) && self.places.get(name).is_none_or(|known| agrees(*known))
            };
            let name = (*lowest..).map(numbered).find(free).unwrap_or_default();
            if !self.places.contains_key(&name) {
                self.places.insert(name.clone(), self.names.len());
                self.names.push(name.clone());
                self.sources.push(weights);
            }
            used.insert(name.clone());
            names.push(name);
        }
        names
    }

    /// Writes the weights of a clip into its animation; `time` is the time code of a frame.
    pub(super) fn write(&self, layer: &mut UsdLayer, clip: &Clip, time: &dyn Fn(usize) -> f64) {
        if self.names.is_empty() {
            return;
        }
        layer.attribute("uniform token[] blendShapes", UsdValue::Tokens(self.names.clone()));
        let weights: Vec<Vec<f32>> = self.sources.iter().map(|source| source.of(clip)).collect();
        let of_frame = |frame: usize| {
            let weights = weights.iter().map(|w| w.get(frame).or(w.first()).copied().unwrap_or(0.0));
            UsdValue::Singles(weights.collect())
        };
        let still = weights.iter().all(|w| w.len() == 1);
        match still && weights.iter().all(|w| w[0] == 0.0) {
            true => layer.attribute("float[] blendShapeWeights", of_frame(0)),
            // Blender reads samples only, and takes a value without time as 0.
            false => {
                let frames = if still { 1 } else { clip.frames() };
                let samples = (0..frames).map(|frame| (time(frame), of_frame(frame)));
                layer.samples("float[] blendShapeWeights", samples);
            }
        }
    }

    /// Whether the character rests with a weight other than 0.
    pub(super) fn rest_away_from_zero(&self) -> bool {
        self.sources.iter().any(|source| source.rest() != 0.0)
    }
}

/// Writes the morph targets of a mesh into its prim `name`; `in_animations` are their names in animations.
pub(super) fn write(
    layer: &mut UsdLayer,
    mesh: &Mesh,
    model_from_mesh: &Mat4<f64>,
    (name, in_animations): (&str, &[String]),
    names: &mut PrimNames,
) {
    if mesh.morphs.is_empty() {
        return;
    }
    let prims: Vec<String> = mesh.morphs.iter().map(|morph| names.fresh(&morph.name)).collect();
    layer.attribute("uniform token[] skel:blendShapes", UsdValue::Tokens(in_animations.to_vec()));
    let path = |prim: &String| format!("{ROOT}/{name}/{prim}");
    layer.relationships("skel:blendShapeTargets", prims.iter().map(path).collect());
    let linear = model_from_mesh.fixed_view::<3, 3>(0, 0).into_owned();
    for (prim, morph) in prims.iter().zip(&mesh.morphs) {
        let moved = morph.offsets.iter().enumerate().filter(|(_, by)| **by != [0.0; 3]);
        let (indices, offsets): (Vec<i32>, Vec<[f32; 3]>) = moved
            .map(|(v, by)| {
                (v as i32, <[f64; 3]>::from(linear * Vec3::from(by.map(f64::from))).map(|x| x as f32))
            })
            .unzip();
        layer.open("BlendShape", prim, &[]);
        layer.attribute("uniform vector3f[] offsets", UsdValue::Triples(offsets));
        layer.attribute("uniform int[] pointIndices", UsdValue::Integers(indices));
        layer.close();
    }
}

/// The names of the morph targets of all meshes, mesh by mesh.
pub(super) fn names<'a>(meshes: &'a [WholeMesh], motions: &[Motion]) -> (MorphNames<'a>, Vec<Vec<String>>) {
    let mut all = MorphNames::default();
    let of_meshes = meshes.iter().map(|whole| all.add(&whole.mesh, motions)).collect();
    (all, of_meshes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MorphTarget;

    #[test]
    fn thousands_of_targets_of_one_name_are_numbered() {
        let named = |name: &str| MorphTarget { name: name.to_owned(), ..MorphTarget::default() };
        let mut face = Mesh { morphs: vec![named("smile_2")], ..Mesh::default() };
        face.morphs.extend((0..50_000).map(|_| named("smile")));
        let mut all = MorphNames::default();
        let names = all.add(&face, &[]);
        assert_eq!(names[..4], ["smile_2", "smile", "smile_3", "smile_4"]);
        assert_eq!(names.last().unwrap(), "smile_50001");
        // Another mesh shares them.
        let teeth = Mesh { morphs: vec![named("smile"), named("smile")], ..Mesh::default() };
        assert_eq!(all.add(&teeth, &[]), ["smile", "smile_2"]);
    }
}
