//! Transfers the weights of morph targets to a character by the names of the targets.
//!
//! A face of 52 ARKit shapes plays on every character that has shapes of these names, whatever its nodes are called and in
//! whatever order it lists them. Letter case, separators and what stands before a dot do not count: `eyeBlinkLeft`,
//! `EyeBlinkLeft`, `Face.eyeBlink_Left`; but a side or a number behind a dot is no name (`Blink.L`, `Key.001`). Targets of MikuMikuDance also play by their meaning. Without names the weights go to the
//! node of the same name, as animated nodes do.

use super::morph_meanings::by_meaning;
use crate::model::{AnimatedProperty, Character, Mesh, MorphTarget, PropertyTrack};
use crate::report::{counted, one_line};
use std::collections::{BTreeMap, BTreeSet};

/// The property tracks of a clip of `source` for `target`.
pub(crate) fn transferred(
    tracks: &[PropertyTrack],
    source: &Character,
    target: &Character,
) -> Vec<PropertyTrack> {
    let weights = |t: &&PropertyTrack| t.property == AnimatedProperty::Weights;
    let (faces, mut all): (Vec<&PropertyTrack>, Vec<&PropertyTrack>) = tracks.iter().partition(weights);
    let named: Vec<(&PropertyTrack, Vec<String>)> =
        faces.iter().filter_map(|t| Some((*t, names(source, t)?))).collect();
    let mut made: Vec<PropertyTrack> = Vec::new();
    for mesh in target.meshes.iter().filter(|m| !m.morphs.is_empty() && !m.node.is_empty()) {
        if !made.iter().any(|t| t.node == mesh.node) && !plays(&faces, source, mesh) {
            made.extend(by_name(&named, mesh));
        }
    }
    // A track whose node is there, or that fits nowhere, stays: export reports what it cannot write.
    let stays = |t: &&PropertyTrack| {
        let named = names(source, t).unwrap_or_default();
        target.meshes.iter().any(|mesh| plays(&[*t], source, mesh))
            || !target.meshes.iter().any(|mesh| named.iter().any(|name| has(mesh, name)))
    };
    all.extend(faces.into_iter().filter(stays));
    let mut all: Vec<PropertyTrack> = all.into_iter().cloned().collect();
    all.append(&mut made);
    all
}

/// Whether a morph target of one has the name of one of the other.
pub(crate) fn shares_targets(source: &Character, target: &Character) -> bool {
    let named = source.meshes.iter().filter(|mesh| !mesh.morphs.iter().all(MorphTarget::is_unnamed));
    let names: BTreeSet<String> = named.flat_map(keys_of).collect();
    target.meshes.iter().any(|mesh| names.iter().any(|name| has(mesh, name)))
}

/// Whether a mesh has a target of this name, or of its meaning.
fn has(mesh: &Mesh, name: &str) -> bool {
    let targets = keys_of(mesh);
    targets.iter().any(|target| target == name) || !by_meaning(name, &targets).is_empty()
}

/// A sentence about the weights that move in these tracks of `source` and have no morph target on `target`; `None` if there are none.
pub(crate) fn lost_weights(
    tracks: &[PropertyTrack],
    source: &Character,
    target: &Character,
) -> Option<String> {
    let mut lost = Vec::new();
    for track in tracks.iter().filter(|t| t.property == AnimatedProperty::Weights) {
        let Some(mesh) = mesh_of(source, track) else { continue };
        if target.meshes.iter().any(|mesh| plays(&[track], source, mesh)) {
            continue;
        }
        for (k, (name, morph)) in keys_of(mesh).iter().zip(&mesh.morphs).enumerate() {
            let moves = track.values.iter().skip(k).step_by(track.width.max(1)).any(|weight| *weight != 0.0);
            if moves && !target.meshes.iter().any(|mesh| has(mesh, name)) {
                lost.push(format!("`{}`", one_line(&morph.name)));
            }
        }
    }
    let first = lost.get(..LISTED).unwrap_or(&lost).join(", ");
    let more = if lost.len() > LISTED { ", ..." } else { "" };
    let lost = counted(lost.len(), "weight");
    (!first.is_empty())
        .then(|| format!("`{}` has no morph target for {lost}: {first}{more}", one_line(&target.name)))
}

/// The compared parts of the names of a mesh's targets.
fn keys_of(mesh: &Mesh) -> Vec<String> {
    let names = || mesh.morphs.iter().map(|morph| morph.name.as_str());
    let short: Vec<String> = names().map(|name| plain(behind_the_dot(name))).collect();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for key in &short {
        *times.entry(key).or_default() += 1;
    }
    let key = |(name, key): (&str, &String)| if times[key.as_str()] > 1 { plain(name) } else { key.clone() };
    names().zip(&short).map(key).collect()
}

/// The part after the last dot of a name, if it is long enough to be a name.
fn behind_the_dot(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((_, own)) if own.chars().filter(|c| c.is_alphabetic()).count() >= SHORTEST_NAME => own,
        _ => name,
    }
}

/// A name without separators, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Most morph targets that a message lists.
const LISTED: usize = 8;
/// Fewest letters of a name: of a side there are at most two (`Lf`), of a number none.
const SHORTEST_NAME: usize = 3;

/// The first morph targets of a character by name, for a message.
pub(crate) fn listed_targets(character: &Character) -> String {
    let all = character.meshes.iter().flat_map(|mesh| &mesh.morphs);
    let listed: Vec<String> = all.take(LISTED).map(|morph| format!("`{}`", one_line(&morph.name))).collect();
    if listed.is_empty() { "no morph targets".to_owned() } else { listed.join(", ") }
}

/// Whether one of the tracks plays on a mesh as it is.
fn plays(faces: &[&PropertyTrack], source: &Character, mesh: &Mesh) -> bool {
    let same = |t: &PropertyTrack| names(source, t).is_none_or(|names| names == keys_of(mesh));
    faces.iter().any(|t| t.node == mesh.node && t.width == mesh.morphs.len() && same(t))
}

/// The mesh with named targets whose weights a track has.
fn mesh_of<'s>(source: &'s Character, track: &PropertyTrack) -> Option<&'s Mesh> {
    let of = source.meshes.iter().find(|m| m.node == track.node && m.morphs.len() == track.width)?;
    (!of.morphs.iter().all(MorphTarget::is_unnamed)).then_some(of)
}

/// The names of the targets whose weights a track has; `None` if the source does not have them.
fn names(source: &Character, track: &PropertyTrack) -> Option<Vec<String>> {
    mesh_of(source, track).map(keys_of)
}

/// The weights for a mesh, by the names of its targets; `None` if the tracks have none of them.
fn by_name(named: &[(&PropertyTrack, Vec<String>)], mesh: &Mesh) -> Option<PropertyTrack> {
    let mut known: BTreeMap<&str, (&PropertyTrack, usize)> = BTreeMap::new();
    for (track, names) in named {
        for (k, name) in names.iter().enumerate() {
            known.entry(name).or_insert((track, k));
        }
    }
    let targets = keys_of(mesh);
    let mut sources: Vec<Vec<(&PropertyTrack, usize)>> =
        targets.iter().map(|name| known.get(name.as_str()).copied().into_iter().collect()).collect();
    let exact: Vec<bool> = sources.iter().map(|found| !found.is_empty()).collect();
    for (name, source) in &known {
        for k in by_meaning(name, &targets).into_iter().filter(|k| !exact[*k]) {
            sources[k].push(*source);
        }
    }
    let first = sources.iter().flatten().next()?.0;
    let frames = first.values.len() / first.width.max(1);
    // Of several, a blink and a wink, the greatest counts.
    let weight = |frame: usize, k: usize| {
        let own =
            |(track, from): &(&PropertyTrack, usize)| track.frame(frame).get(*from).copied().unwrap_or(0.0);
        sources[k].iter().map(own).reduce(f32::max).unwrap_or(mesh.morphs[k].weight)
    };
    let width = mesh.morphs.len();
    let values = (0..frames).flat_map(|frame| (0..width).map(move |k| (frame, k)));
    let values = values.map(|(frame, k)| weight(frame, k)).collect();
    Some(PropertyTrack { node: mesh.node.clone(), property: AnimatedProperty::Weights, width, values })
}
