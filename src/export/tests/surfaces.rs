//! Surfaces in new files of other formats: morph targets, materials, colours, texture coordinates, weights beyond four.

use super::moved_skin::moved;
use crate::fbx_reader::open;
use crate::made_walk::shipped;
use posemill::export::{ExportOptions, Format, save};
use posemill::import::{self, ImportOptions};
use posemill::math::{Vec3, exp};
use posemill::model::{
    AnimatedProperty, Asset, Clip, FurtherInfluence, Material, Mesh, MorphTarget, Motion, PropertyTrack,
    Texture, TextureMap,
};
use std::sync::Arc;

/// Morph targets of the made character: as many as a face has.
const TARGETS: usize = 40;
const FRAMES: usize = 5;

pub(super) fn picture(color: [u8; 3]) -> Texture {
    let pixels = image::RgbImage::from_pixel(2, 2, image::Rgb(color));
    let mut bytes = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    Texture { bytes: bytes.into_inner().into() }
}

/// The shipped mannequin, its first mesh in two primitives with everything that a surface can have.
pub(super) fn rich() -> Motion {
    let asset = import::load(shipped("mannequin.glb"), &ImportOptions::default()).unwrap();
    let mut hero = (*asset.character).clone();
    let mut mesh = hero.meshes[0].clone();
    let n = mesh.positions.len();
    mesh.node = "Face".into();
    mesh.primitive_of = Some(900);
    let grid = |v: usize, k: f32| [(v % 17) as f32 / k, (v % 5) as f32 / k];
    mesh.texcoords = (0..n).map(|v| grid(v, 16.0)).collect();
    mesh.further_texcoords = vec![(0..n).map(|v| grid(v, 32.0)).collect()];
    mesh.colors = (0..n).map(|v| [(v % 3) as f32 / 2.0, 0.5, 0.25, 1.0]).collect();
    mesh.morphs = (0..TARGETS)
        .map(|t| MorphTarget {
            name: format!("shape {t}"),
            weight: 0.0,
            offsets: (0..n)
                .map(|v| if v % TARGETS == t { [0.01, 0.002 * t as f32, -0.01] } else { [0.0; 3] })
                .collect(),
        })
        .collect();
    mesh.further_influences = (0..n as u32)
        .step_by(3)
        .map(|vertex| FurtherInfluence { vertex, binding: 0, weight: 0.125 })
        .collect();
    let half = mesh.triangles.len() / 2;
    let map = |color, set| Some(TextureMap { texture: picture(color), set, wrap: Default::default() });
    let mut skin = mesh.clone();
    skin.triangles.truncate(half);
    skin.material = Material {
        name: "skin".into(),
        texture: Some(picture([200, 10, 10])),
        normal_map: map([128, 128, 255], 0),
        emissive_map: map([1, 2, 3], 1),
        metallic_roughness_map: map([0, 180, 60], 0),
        ..Material::default()
    };
    let mut cloth = mesh;
    cloth.triangles.drain(..half);
    cloth.material = Material {
        name: "cloth".into(),
        base_color: [0.5, 0.25, 0.125, 1.0],
        metallic: 0.5,
        ..Material::default()
    };
    hero.meshes = vec![skin, cloth];
    let skeleton = hero.skeleton().clone();
    let nod = |frame: usize| {
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[3].rotation *= exp(&(Vec3::x() * 0.1 * frame as f64));
        pose
    };
    let poses: Vec<_> = (0..FRAMES).map(nod).collect();
    let mut clip = Clip::from_poses("talk", 30.0, &skeleton, &poses);
    let values =
        (0..FRAMES).flat_map(|f| (0..TARGETS).map(move |t| ((f + t) % FRAMES) as f32 / 4.0)).collect();
    let property = AnimatedProperty::Weights;
    clip.property_tracks = vec![PropertyTrack { node: "Face".into(), property, width: TARGETS, values }];
    Motion::new(Arc::new(hero), clip)
}

fn write(motion: &Motion, format: &str) -> Vec<u8> {
    let options = ExportOptions { stem: "rich".into(), ..ExportOptions::default() };
    let (mut files, warnings) =
        save(std::slice::from_ref(motion), Format::of(format).unwrap(), &options).unwrap();
    assert!(!warnings.has("carried-dropped"), "{warnings:?}");
    files.swap_remove(0).bytes
}

/// The vertices of all meshes in a frame, in order of their coordinates.
fn cloud(motion: &Motion, frame: usize) -> Vec<[i64; 3]> {
    let meshes = motion.character.meshes.iter();
    let corner = |mesh: &Mesh| {
        let skin = moved(mesh, motion, frame);
        mesh.triangles.iter().flatten().map(|v| skin[*v as usize]).collect::<Vec<Vec3>>()
    };
    // Hundredths of a millimetre.
    let rounded = |p: Vec3| [p.x, p.y, p.z].map(|x| (x * 1e5).round() as i64);
    let mut all: Vec<[i64; 3]> = meshes.flat_map(corner).map(rounded).collect();
    all.sort_unstable();
    all
}

#[test]
fn fbx_keeps_targets_materials_colours_and_weights() {
    let motion = rich();
    motion.character.check().unwrap();
    let bytes = write(&motion, "fbx");
    let scene = open(&bytes);
    assert!(scene.metadata.warnings.is_empty());
    assert_eq!(scene.meshes.len(), 1, "two primitives are one mesh");
    let mesh = &scene.meshes[0];
    let names: Vec<String> = mesh.materials.iter().map(|m| m.element.name.to_string()).collect();
    assert_eq!(names, ["skin", "cloth"]);
    let triangles: Vec<usize> = mesh.material_parts.iter().map(|p| p.num_triangles).collect();
    assert_eq!(triangles, motion.character.meshes.iter().map(|m| m.triangles.len()).collect::<Vec<_>>());
    assert_eq!((mesh.uv_sets.len(), mesh.vertex_color.exists), (2, true));
    let skin = &mesh.materials[0];
    assert!(skin.pbr.normal_map.texture.is_some() && skin.pbr.emission_color.texture.is_some());
    assert_eq!(scene.textures.len(), 5, "the colour, normals, light, roughness and metalness");
    assert_eq!(scene.blend_channels.len(), TARGETS);
    let most = mesh.skin_deformers[0].vertices.iter().map(|v| v.num_weights).max().unwrap();
    assert!(most as usize > mesh_most(&motion), "{most}");

    let back: Asset =
        import::from_bytes(&bytes, "back", Some("fbx"), None, &ImportOptions::default()).unwrap();
    let back = back.motion(0).unwrap();
    let (ours, theirs) = (&motion.character.meshes[0], &back.character.meshes[0]);
    let names = |mesh: &Mesh| mesh.morphs.iter().map(|m| m.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(ours), names(theirs));
    assert_eq!(theirs.material.name, "skin");
    assert_eq!(back.clip.property_tracks.len(), 1);
    for frame in 0..FRAMES {
        let (a, b) = (cloud(&motion, frame), cloud(&back, frame));
        assert_eq!(a.len(), b.len());
        let off = a.iter().zip(&b).flat_map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).abs())).max().unwrap();
        assert!(off < 20, "frame {frame}: {off}");
    }
}

#[test]
fn a_clip_added_to_an_fbx_file_moves_its_targets() {
    let read = |bytes: &[u8]| {
        import::from_bytes(bytes, "hero", Some("fbx"), None, &ImportOptions::default()).unwrap()
    };
    let hero = read(&write(&rich(), "fbx"));
    let mut motion = hero.motion(0).unwrap();
    motion.clip.name = "second".into();
    motion.clip.property_tracks[0].values.reverse();
    let back = read(&write(&motion, "fbx"));
    let names: Vec<&str> = back.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["talk", "second"], "the first was in the file");
    let (ours, theirs) = (&motion.clip.property_tracks[0], &back.clips[1].property_tracks[0]);
    assert_eq!((ours.node.as_str(), ours.width), (theirs.node.as_str(), theirs.width));
    let off = ours.values.iter().zip(&theirs.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
}

/// The most influences among the four strongest that a vertex has.
fn mesh_most(motion: &Motion) -> usize {
    let of = |w: &[f32; 4]| w.iter().filter(|w| **w > 0.0).count();
    motion.character.meshes[0].weights.iter().map(of).max().unwrap()
}

#[test]
fn usd_keeps_targets_materials_colours_and_weights() {
    let motion = rich();
    let text = String::from_utf8(write(&motion, "usda")).unwrap();
    assert_eq!(text.matches("def Mesh ").count(), 1);
    assert_eq!(text.matches("def BlendShape ").count(), TARGETS);
    assert_eq!(text.matches("def GeomSubset ").count(), 2);
    for said in [
        "def Material \"skin\"",
        "def Material \"cloth\"",
        "primvars:st = ",
        "primvars:st1 = ",
        "primvars:displayColor = ",
        "inputs:normal.connect",
        "inputs:emissiveColor.connect",
        "inputs:roughness.connect = </Root/Materials/skin/MetallicRoughness.outputs:g>",
        "float inputs:metallic = 0.5",
        "inputs:varname = \"st1\"",
        "blendShapeWeights.timeSamples",
    ] {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn a_face_alone_is_a_clip_in_fbx_and_usd() {
    let mut motion = rich();
    let skeleton = motion.character.skeleton().clone();
    let poses = vec![skeleton.rest_pose(); FRAMES];
    let tracks = std::mem::take(&mut motion.clip.property_tracks);
    motion.clip = Clip::from_poses("talk", 30.0, &skeleton, &poses);
    motion.clip.property_tracks = tracks;
    let bytes = write(&motion, "fbx");
    let back = import::from_bytes(&bytes, "back", Some("fbx"), None, &ImportOptions::default()).unwrap();
    let clip = &back.clips[0];
    assert_eq!((back.clips.len(), clip.frames(), clip.property_tracks.len()), (1, FRAMES, 1));
    let (ours, theirs) = (&motion.clip.property_tracks[0], &clip.property_tracks[0]);
    let off = ours.values.iter().zip(&theirs.values).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 1e-5, "{off}");
    let text = String::from_utf8(write(&motion, "usda")).unwrap();
    assert!(text.contains("blendShapeWeights.timeSamples"));
}

#[test]
fn a_texture_that_cannot_be_written_is_reported_by_material() {
    let mut motion = rich();
    let mut hero = (*motion.character).clone();
    let ktx2 = [b"\xabKTX 20\xbb\r\n\x1a\n".as_slice(), &[0; 68]].concat();
    hero.meshes[0].material.texture = Some(Texture { bytes: ktx2.into() });
    motion.character = Arc::new(hero);
    for (format, code) in [("fbx", "fbx-texture"), ("usda", "usd-texture")] {
        let options = ExportOptions { stem: "rich".into(), ..ExportOptions::default() };
        let (_, warnings) =
            save(std::slice::from_ref(&motion), Format::of(format).unwrap(), &options).unwrap();
        let said = format!("{warnings:?}");
        assert!(warnings.has(code) && said.contains("KTX2") && said.contains("material `skin`"), "{said}");
    }
}
