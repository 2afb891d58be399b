//! FBX export, judged by an independent reader: skinned points, joints, names, rates, textures; clips added to FBX files.
//!
//! `POSEMILL_KEEP=FOLDER` keeps the files written here, for other programs to look at.

use super::moved_skin::moved;
use crate::development_data::data;
use crate::fbx_reader::{at, corners, open, place};
use posemill::export::{self, FbxOptions, Format};
use posemill::import;
use posemill::kinematics::figure_size;
use posemill::math::{Mat4, Vec3, exp};
use posemill::model::{Asset, Character, Clip, ModelPose, Motion, Role};
use posemill::report::Warnings;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn load(path: &Path) -> Asset {
    import::load(path, &import::ImportOptions::default())
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn ours(name: &str) -> Asset {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name))
}

fn write(motions: &[Motion], options: &export::ExportOptions) -> (Vec<u8>, Warnings) {
    let (mut files, warnings) = export::save(motions, Format::FBX, options).unwrap();
    assert_eq!(files.len(), 1);
    (files.remove(0).bytes, warnings)
}

fn keep(name: &str, bytes: &[u8], character: &[Motion]) {
    let Some(folder) = std::env::var_os("POSEMILL_KEEP").map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.fbx")), bytes).unwrap();
    // The same clip in the character's own glTF file, for judges of skinned points.
    let (glb, _) = export::save(character, Format::GLB, &replaced()).unwrap();
    fs::write(folder.join(format!("{name}.glb")), &glb[0].bytes).unwrap();
}

fn replaced() -> export::ExportOptions {
    export::ExportOptions { replace_animations: true, stem: "x".into(), ..export::ExportOptions::default() }
}

/// The file with another sign of the axis to the right.
fn with_right_axis(mut bytes: Vec<u8>, sign: i32) -> Vec<u8> {
    let name = b"CoordAxisSign";
    let at = bytes.windows(name.len()).position(|w| w == name).unwrap();
    // The value is a 32-bit number behind the letter `I`.
    let value = [b'I', 1, 0, 0, 0];
    let at = at + bytes[at..].windows(value.len()).position(|w| w == value).unwrap();
    bytes[at + 1..at + 5].copy_from_slice(&sign.to_le_bytes());
    bytes
}

#[test]
fn a_file_with_left_handed_axes_is_refused() {
    let walk = ours("walk.bvh").motion(0).unwrap();
    let bytes = write(&[walk], &export::ExportOptions::default()).0;
    let read = |sign: i32| {
        let bytes = with_right_axis(bytes.clone(), sign);
        import::from_bytes(&bytes, "a", Some("fbx"), None, &import::ImportOptions::default())
    };
    assert!(read(1).is_ok());
    let said = "the axes of the FBX file are left-handed, which is not read: left and right would be exchanged\n  hint: export it with \
                right-handed axes, as Maya, Blender and 3ds Max write them";
    assert_eq!(read(-1).unwrap_err().to_string(), said);
}

/// A clip in which every joint sways about an axis of its own and the root walks; some angles pass half a turn.
fn sway(character: &Arc<Character>, frames: usize) -> Motion {
    let skeleton = character.skeleton();
    let poses: Vec<_> = (0..frames)
        .map(|frame| {
            let time = frame as f64 / 30.0;
            let mut pose = skeleton.rest_pose();
            for (n, local) in pose.local_mut().iter_mut().enumerate() {
                let phase = n as f64;
                let axis = Vec3::new(phase.sin(), (1.7 * phase).cos(), (2.3 * phase).sin());
                local.rotation *= exp(&(axis * 0.4 * (2.0 * time + phase).sin()));
            }
            let root = &mut pose.local_mut()[0];
            root.rotation = exp(&(Vec3::y() * 3.0 * time)) * root.rotation;
            root.translation += Vec3::new(0.0, 0.1 * time.sin(), 0.5 * time);
            pose
        })
        .collect();
    Motion::new(Arc::clone(character), Clip::from_poses("sway", 30.0, skeleton, &poses))
}

fn judged(frames: usize) -> [usize; 4] {
    [0, frames / 3, frames / 2, frames - 1]
}

/// The largest distances, relative to the figure, of skinned points and of joints.
fn distances(bytes: &[u8], stack: usize, motion: &Motion) -> (f64, f64) {
    let scene = open(bytes);
    let character = &motion.character;
    let skeleton = character.skeleton();
    let size = figure_size(skeleton);
    let (mut points, mut joints): (f64, f64) = (0.0, 0.0);
    let begin = scene.anim_stacks[stack].time_begin;
    // The file has the rate that is meant, a take may have one that was rounded.
    let rate = (motion.clip.frames() - 1) as f64 / (scene.anim_stacks[stack].time_end - begin);
    assert!((rate / motion.clip.sample_rate - 1.0).abs() < 1e-4);
    for frame in judged(motion.clip.frames()) {
        let there = at(&scene, stack, begin + frame as f64 / rate);
        let pose = ModelPose::of(skeleton, &motion.clip.pose(skeleton, frame));
        let shown = character.meshes.iter().filter(|m| !m.triangles.is_empty() && !there.meshes.is_empty());
        // Primitives of a mesh are one mesh there, whose faces keep their order.
        let skinned = (0..there.meshes.len()).filter(|&index| !there.meshes[index].skin_deformers.is_empty());
        let mut faces = skinned.flat_map(|index| corners(&there, index));
        for mesh in shown {
            let skin = moved(mesh, motion, frame);
            for corner in &mesh.triangles {
                let found = faces.next().expect("as many faces");
                for vertex in corner {
                    let wanted = skin[*vertex as usize];
                    let off = found.iter().map(|p| (p - wanted).norm()).fold(f64::INFINITY, f64::min);
                    points = points.max(off / size);
                }
            }
        }
        assert!(faces.next().is_none());
        // The order of the file, not that of the reader, which goes by depth.
        let mut nodes: Vec<_> = there.nodes.iter().filter(|n| n.bone.is_some()).collect();
        nodes.sort_by_key(|n| n.element.element_id);
        let mut nodes = nodes.into_iter();
        for (joint, wanted) in skeleton.joints().iter().zip(pose.joints()) {
            let node = nodes.next().unwrap();
            assert_eq!(*node.element.name, *joint.file_name.clone().unwrap_or(joint.name.clone()));
            joints = joints.max((place(&node.node_to_world) - wanted.translation).norm() / size);
        }
    }
    (points, joints)
}

/// Every glTF character with a skin: ours and those of the development data, with its number of triangles.
fn characters() -> Vec<(String, Asset)> {
    let mut found: Vec<(String, Asset)> =
        ["robot.glb", "mannequin.glb", "tailed.glb"].map(|name| (name.to_owned(), ours(name))).into();
    let Some(data) = data() else { return found };
    let mut folders = vec![data.join("gltf"), data.join("vrm")];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("glb" | "vrm") => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    for path in paths {
        let Ok(asset) = import::load(&path, &import::ImportOptions::default()) else { continue };
        if asset.character.meshes.iter().any(|m| !m.triangles.is_empty()) {
            found.push((path.file_name().unwrap().to_string_lossy().into_owned(), asset));
        }
    }
    assert!(found.len() > 9);
    found
}

#[test]
fn skinned_points_and_joints_are_where_the_figure_has_them() {
    let mut textures = 0;
    for (name, asset) in characters() {
        let character = &asset.character;
        let motion = sway(character, 48);
        let own = asset.motion(0).filter(|m| m.clip.frames() > 0);
        let motions: Vec<Motion> = std::iter::once(motion).chain(own).collect();
        let (bytes, warnings) = write(&motions, &export::ExportOptions::default());
        assert_eq!(write(&motions, &export::ExportOptions::default()).0, bytes, "the same bytes twice");
        let scene = open(&bytes);
        assert_eq!(scene.anim_stacks.len(), motions.len(), "{name}");
        assert!(scene.metadata.warnings.is_empty(), "{name}");
        for (stack, motion) in motions.iter().enumerate() {
            let (points, joints) = distances(&bytes, stack, motion);
            println!("{name}: clip {stack}: skinned points {points:.1e}, joints {joints:.1e} of the figure");
            assert!(points < 1e-5 && joints < 1e-5, "{name}");
        }
        let pictures: Vec<_> = character.meshes.iter().filter_map(|m| m.material.texture.as_ref()).collect();
        let kept = scene.textures.iter().filter(|t| !t.content.is_empty()).count();
        assert!(warnings.has("fbx-texture") || (kept > 0) != pictures.is_empty(), "{name}");
        textures += kept;
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        keep(stem, &bytes, &motions[..1]);
    }
    println!("{textures} textures");
}

#[test]
fn bind_poses_have_no_scale_where_the_rest_pose_scales_a_joint() {
    let mut character = (*ours("mannequin.glb").character).clone();
    let head = character.rig.joint(Role::Head).unwrap();
    // The head is 1.8 times as large as its mesh.
    let scaled = Mat4::new_scaling(1.8);
    for binding in character.meshes.iter_mut().flat_map(|m| &mut m.bindings).filter(|b| b.joint == head) {
        binding.joint_from_mesh = scaled * binding.joint_from_mesh;
    }
    let motion = sway(&Arc::new(character), 48);
    let bytes = write(std::slice::from_ref(&motion), &export::ExportOptions::default()).0;
    let scene = open(&bytes);
    let scales = scene.skin_clusters.iter().flat_map(|cluster| {
        let m = &cluster.bind_to_world;
        [[m.m00, m.m10, m.m20], [m.m01, m.m11, m.m21], [m.m02, m.m12, m.m22]]
            .map(|axis| Vec3::from(axis).norm())
    });
    let scales: Vec<f64> = scales.collect();
    // All have the scale of the unit of length.
    assert!(
        scales.len() > 3 && scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 1e-4),
        "{scales:?}"
    );
    let (points, joints) = distances(&bytes, 0, &motion);
    // Skin between the neck and the head, in a large sway.
    assert!(points < 0.005 && joints < 1e-5, "{points} {joints}");
}

#[test]
fn a_take_becomes_a_skeleton_and_its_clip() {
    for name in ["walk.bvh", "jump.bvh"] {
        let motion = ours(name).motion(0).unwrap();
        let (bytes, warnings) = write(std::slice::from_ref(&motion), &export::ExportOptions::default());
        assert!(warnings.is_empty());
        let scene = open(&bytes);
        assert_eq!((scene.meshes.len(), scene.poses.len(), scene.anim_stacks.len()), (0, 0, 1));
        let bones = scene.nodes.iter().filter(|n| n.bone.is_some());
        assert_eq!(bones.count(), motion.character.skeleton().len());
        assert_eq!(*scene.anim_stacks[0].element.name, *motion.clip.name);
        assert_eq!(scene.settings.frames_per_second, motion.clip.sample_rate.round());
        assert!(distances(&bytes, 0, &motion).1 < 1e-5);
        let back = import::from_bytes(&bytes, "back", Some("fbx"), None, &import::ImportOptions::default());
        let back = back.unwrap_or_else(|e| panic!("{e}"));
        let names = |a: &Asset| {
            let mut names: Vec<_> = a.character.skeleton().joints().iter().map(|j| j.name.clone()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&back), names(&ours(name)));
        assert_eq!(back.clips[0].frames(), motion.clip.frames());
        let back = back.motion(0).unwrap();
        back.check().unwrap();
        let size = figure_size(motion.character.skeleton());
        for frame in judged(motion.clip.frames()) {
            let pose = |m: &Motion| {
                ModelPose::of(m.character.skeleton(), &m.clip.pose(m.character.skeleton(), frame))
            };
            let (before, after) = (pose(&motion), pose(&back));
            for (joint, there) in back.character.skeleton().joints().iter().zip(after.joints()) {
                let all = motion.character.skeleton();
                let id = all.ids().find(|id| all.joint(*id).name == joint.name).unwrap();
                assert!(
                    (before.position(id) - there.translation).norm() < 1e-5 * size,
                    "{name}: {}",
                    joint.name
                );
            }
        }
    }
}

#[test]
fn without_skin_a_character_is_its_skeleton() {
    let motion = sway(&ours("robot.glb").character, 12);
    let options = export::ExportOptions {
        fbx: FbxOptions { skin: false, ..FbxOptions::default() },
        ..export::ExportOptions::default()
    };
    let scene = open(&write(std::slice::from_ref(&motion), &options).0);
    assert_eq!((scene.meshes.len(), scene.textures.len(), scene.materials.len()), (0, 0, 0));
    assert_eq!(scene.anim_stacks.len(), 1);
}

#[test]
fn several_clips_of_one_name_are_several_stacks() {
    let motion = sway(&ours("mannequin.glb").character, 5);
    let scene = open(&write(&[motion.clone(), motion], &export::ExportOptions::default()).0);
    let names: Vec<String> = scene.anim_stacks.iter().map(|s| s.element.name.to_string()).collect();
    assert_eq!(names, ["sway", "sway_2"]);
}

/// The walk with a joint above its hips, which are at `offset` from it.
fn below_a_reference(offset: &str) -> Motion {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh");
    let text = fs::read_to_string(path).unwrap().replace("ROOT mixamorig:Hips", "JOINT Hips");
    let text = text.replacen("OFFSET 0 0 0", &format!("OFFSET {offset}"), 1);
    let (hierarchy, rows) = text.trim_start_matches("HIERARCHY").split_once("MOTION").unwrap();
    let rows: Vec<String> = rows.lines().skip(3).take(40).map(|row| format!("0 0 0 {row}\n")).collect();
    let head = "HIERARCHY\nROOT Reference\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n";
    let rows = format!("MOTION\nFrames: 40\nFrame Time: 0.008333\n{}", rows.concat());
    let text = format!("{head}{hierarchy}}}\n{rows}");
    let asset =
        import::from_bytes(text.as_bytes(), "x", Some("bvh"), None, &import::ImportOptions::default());
    asset.unwrap_or_else(|e| panic!("{e}")).motion(0).unwrap()
}

/// Blender draws a bone along Y, as long as its children are away, connects a child at its end, and then ignores the child's
/// translation.
#[test]
fn a_joint_that_travels_is_not_at_the_end_of_a_bone() {
    for (offset, least, most) in [("0 95 0", 5e-6, 2e-5), ("3 95 1", 0.03, 0.04), ("0 0 0", 0.0, 0.01)] {
        let motion = below_a_reference(offset);
        let bytes = write(std::slice::from_ref(&motion), &export::ExportOptions::default()).0;
        let scene = open(&bytes);
        let hips = scene.nodes.iter().find(|n| *n.element.name == *"Hips").unwrap();
        assert!(hips.parent.as_ref().is_some_and(|p| *p.element.name == *"Reference"));
        let at = hips.local_transform.translation;
        let at = Vec3::new(at.x, at.y, at.z);
        let off = (at - Vec3::y() * at.norm()).norm() * 0.01;
        assert!((least..=most).contains(&off), "{offset}: {off} m from the end");
        let there =
            ufbx::evaluate_scene(&scene, &scene.anim_stacks[0].anim, 0.1, Default::default()).unwrap();
        for (joint, wanted) in motion.character.skeleton().joints().iter().zip(
            ModelPose::of(motion.character.skeleton(), &motion.clip.pose(motion.character.skeleton(), 12))
                .joints(),
        ) {
            let Some(node) = there.nodes.iter().find(|n| *n.element.name == *joint.name) else { continue };
            let wrong = (place(&node.node_to_world) - wanted.translation).norm();
            assert!(wrong < 2e-4, "{offset}: {} is {wrong} m off", joint.name);
        }
    }
}
