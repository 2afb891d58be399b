//! Skinned vertices, as every picture and page draws them, stand where Blender puts them.

mod development_data;

use development_data::data;
use posemill::import::GltfFile;
use posemill::math::slerp;
use posemill::model::ModelPose;
use posemill::skinning::{Skin, linear_blend};
use std::collections::BTreeMap;
use std::fs;

/// Blender's vertices by file, clip and time.
fn reference() -> BTreeMap<(String, usize, String), Vec<[f64; 3]>> {
    let mut all: BTreeMap<_, Vec<[f64; 3]>> = BTreeMap::new();
    for line in include_str!("skinning_blender.txt").lines().filter(|l| !l.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let key = (words[0].to_owned(), words[1].parse().unwrap(), words[2].to_owned());
        all.entry(key).or_default().push(std::array::from_fn(|k| words[3 + k].parse().unwrap()));
    }
    all
}

#[test]
fn characters_bend_as_they_do_in_blender() {
    let Some(data) = data() else { return };
    let reference = reference();
    let mut files: Vec<&String> = reference.keys().map(|k| &k.0).collect();
    files.dedup();
    assert_eq!((files.len(), reference.values().map(Vec::len).sum::<usize>()), (3, 72));
    let mut misses = Vec::new();
    for ((name, clip, time), expected) in &reference {
        let path = data.join(name);
        let file = GltfFile::read(&fs::read(&path).unwrap(), path.parent()).unwrap();
        let clip = &file.clips[*clip];
        let at = (time.parse::<f64>().unwrap() - clip.start) * clip.sample_rate;
        let mut local = clip.pose(&file.skeleton, at.floor() as usize);
        let later = clip.pose(&file.skeleton, (at.ceil() as usize).min(clip.frames() - 1));
        for (a, b) in local.local_mut().iter_mut().zip(later.local()) {
            a.rotation = slerp(&a.rotation, &b.rotation, at.fract());
            a.translation = a.translation.lerp(&b.translation, at.fract());
        }
        let pose = ModelPose::of(&file.skeleton, &local);
        let mut vertices: Vec<[f64; 3]> = Vec::new();
        let mut skin = Skin::default();
        for mesh in file.meshes.iter().filter(|m| !m.bindings.is_empty()) {
            linear_blend(mesh, &pose, &mut skin);
            vertices.extend(skin.positions.iter().map(|p| p.map(f64::from)));
        }
        let extent = |k: usize| {
            let all = || vertices.iter().map(|v| v[k]);
            all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)
        };
        let size = (0..3).map(extent).fold(0.0, f64::max);
        let apart = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        let nearest = |p: &[f64; 3]| vertices.iter().map(|v| apart(p, v)).fold(f64::MAX, f64::min);
        let worst = expected.iter().map(nearest).fold(0.0, f64::max) / size;
        println!("{name} at {time} s: {worst:.1e} of the size {size:.2}");
        if worst >= 1e-4 {
            misses.push(format!("{name} at {time} s: {worst:e}"));
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}
