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
use blake3::{Hash, Hasher};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The names of all morph targets in animations, with where their weights are from.
#[derive(Default)]
pub(super) struct MorphNames<'a> {
    names: Vec<String>,
    sources: Vec<MorphWeights<'a>>,
    /// The names in the list.
    known: HashSet<String>,
    /// By a plain name and a hash of weights, the numbers of the names behind it that have these weights.
    numbers: HashMap<(String, Hash), BTreeSet<usize>>,
    /// For each plain name the lowest number that may be free.
    lowest: HashMap<String, usize>,
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

    /// A hash of the weights in all motions.
    fn hash(&self, motions: &[Motion]) -> Hash {
        let mut hasher = Hasher::new();
        for motion in motions {
            let weights = self.of(&motion.clip);
            hasher.update(&weights.len().to_le_bytes());
            // Zeros of both signs are equal.
            weights.iter().for_each(|weight| _ = hasher.update(&(weight + 0.0).to_le_bytes()));
        }
        hasher.finalize()
    }

    /// The weight without an animation.
    fn rest(&self) -> f32 {
        self.mesh.morphs.get(self.target).map_or(0.0, |m| m.weight)
    }
}

/// A plain name with its number, from 1.
fn numbered(plain: &str, number: usize) -> String {
    match number {
        1 => plain.to_owned(),
        number => format!("{plain}_{number}"),
    }
}

/// The plain names and numbers that [`numbered`] makes a name of.
fn readings(name: &str) -> impl Iterator<Item = (&str, usize)> {
    let split = name.rsplit_once('_').and_then(|(plain, number)| Some((plain, number.parse().ok()?)));
    let split = split.filter(|(plain, number)| *number > 1 && numbered(plain, *number) == name);
    std::iter::once((name, 1)).chain(split)
}

impl<'a> MorphNames<'a> {
    /// The names of the morph targets of a mesh in the animations of these motions: for each the lowest number behind its plain name
    /// that the mesh does not use, and that is new or has the same weights.
    pub(super) fn add(&mut self, mesh: &'a Mesh, motions: &[Motion]) -> Vec<String> {
        let mut names = Vec::with_capacity(mesh.morphs.len());
        // A mesh has every name once: those in use, and behind each plain name, by weights, the number tried last.
        let mut used: HashSet<String> = HashSet::new();
        let mut tried: HashMap<(&str, Hash), usize> = HashMap::new();
        for (target, morph) in mesh.morphs.iter().enumerate() {
            let plain = morph.name.as_str();
            let weights = MorphWeights { mesh, target };
            let hash = weights.hash(motions);
            let lowest = self.lowest.entry(plain.to_owned()).or_insert(1);
            while self.known.contains(&numbered(plain, *lowest)) {
                *lowest += 1;
            }
            let tried = tried.entry((plain, hash)).or_insert(0);
            let alike = self.numbers.get(&(plain.to_owned(), hash));
            let from = *tried + 1;
            let mut alike = alike.into_iter().flat_map(|numbers| numbers.range(from..));
            let free = alike.find(|number| {
                let in_use = used.contains(&numbered(plain, **number));
                *tried = if in_use { **number } else { *tried };
                !in_use
            });
            let name = numbered(plain, free.map_or(*lowest, |free| *free.min(lowest)));
            if self.known.insert(name.clone()) {
                for (plain, number) in readings(&name) {
                    self.numbers.entry((plain.to_owned(), hash)).or_default().insert(number);
                }
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
        layer.display_name(&morph.name);
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
    use crate::math::{Quat, Transform};
    use crate::model::{Character, Joint, MorphTarget, Rig, Skeleton};
    use std::sync::Arc;

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

    #[test]
    fn thousands_of_targets_that_disagree_are_numbered() {
        let named =
            |name: &str, weight: f32| MorphTarget { name: name.into(), weight, ..MorphTarget::default() };
        let of = |count, weight| Mesh {
            morphs: (0..count).map(|_| named("smile", weight)).collect(),
            ..Mesh::default()
        };
        let skeleton = Skeleton::new(vec![Joint::new("hips", None, Transform::identity())]).unwrap();
        let character = Arc::new(Character::new("face", Rig::new(skeleton, [])));
        let clip = Clip::new("still", 30.0, 1, vec![Quat::identity()], Vec::new(), Vec::new());
        let motions = [Motion::new(character, clip)];
        let mut all = MorphNames::default();
        // Each name was compared with every other: with these, for minutes.
        let many = 60_000;
        let (face, teeth, both) = (of(many, 0.0), of(many, 0.5), of(2, 0.5));
        assert_eq!(all.add(&face, &motions)[many - 1], "smile_60000");
        let names = all.add(&teeth, &motions);
        assert_eq!([&*names[0], &*names[many - 1]], ["smile_60001", "smile_120000"]);
        // The lowest that agree; a number in a name counts.
        assert_eq!(all.add(&both, &motions), ["smile_60001", "smile_60002"]);
        let mixed = ["smile_60001", "smile", "smile", "smile_007", "smile"];
        let weights = [0.5, 0.5, -0.0, 0.5, 0.25];
        let mixed =
            Mesh { morphs: mixed.iter().zip(weights).map(|(n, w)| named(n, w)).collect(), ..Mesh::default() };
        let found = all.add(&mixed, &motions);
        assert_eq!(found, ["smile_60001", "smile_60002", "smile", "smile_007", "smile_120001"]);
        // A new name of a lower number comes before a known one that agrees.
        let brow = |names: &[&str], weight| Mesh {
            morphs: names.iter().map(|name| named(name, weight)).collect(),
            ..Mesh::default()
        };
        let (first, other) = (brow(&["brow", "brow_5"], 0.0), brow(&["brow"], 0.5));
        let known = brow(&["brow", "brow"], 0.0);
        all.add(&first, &motions);
        assert_eq!(all.add(&known, &motions), ["brow", "brow_2"]);
        assert_eq!(all.add(&other, &motions), ["brow_3"]);
    }
}
