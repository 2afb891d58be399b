//! Arrays and tables: what is written reads back as the same motion.

mod development_data;
mod made_walk;
mod zip_entries;

use made_walk::{carried, take, walk};
use posemill::export::csv::{CsvOptions, Layout};
use posemill::export::npz::{NpzOptions, NpzUpAxis};
use posemill::export::{ExportOptions, Format, OutputFile, save};
use posemill::import::{ImportOptions, load};
use posemill::math::{Quat, RawQuat, Transform, Vec3};
use posemill::model::{ContactPart, ModelPose, Motion, Pose};
use std::collections::BTreeMap;
use zip_entries::entries;

fn written(motion: &Motion, format: &str, options: ExportOptions) -> OutputFile {
    let options = ExportOptions { stem: "clip".into(), ..options };
    save(std::slice::from_ref(motion), Format::of(format).unwrap(), &options).unwrap().0.swap_remove(0)
}

/// An array: its type, its shape, its bytes.
struct Array {
    kind: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    fn floats(&self) -> Vec<f64> {
        assert_eq!(self.kind, "<f4");
        self.bytes.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
    }

    fn texts(&self) -> Vec<String> {
        let width: usize = self.kind.strip_prefix("<U").unwrap().parse().unwrap();
        let letters: Vec<u32> = self.bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let text = |t: &[u32]| t.iter().filter(|c| **c > 0).filter_map(|c| char::from_u32(*c)).collect();
        letters.chunks(width).map(text).collect()
    }
}

fn arrays(file: &OutputFile) -> BTreeMap<String, Array> {
    let mut found = BTreeMap::new();
    for entry in entries(&file.bytes) {
        let mut bytes = entry.bytes;
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((length + 10) % 64, 0);
        let header = String::from_utf8(bytes[10..10 + length].to_vec()).unwrap();
        assert!(header.ends_with('\n') && header.contains("'fortran_order': False"));
        let kind = header.split('\'').nth(3).unwrap().to_owned();
        let sides = header.split(['(', ')']).nth(1).unwrap().split(',').map(str::trim);
        let shape: Vec<usize> = sides.filter(|s| !s.is_empty()).map(|s| s.parse().unwrap()).collect();
        let name = entry.name.strip_suffix(".npy").unwrap().to_owned();
        let bytes = bytes.split_off(10 + length);
        let size = kind.trim_start_matches(['<', '|', 'f', 'i', 'b', 'U']).parse::<usize>().unwrap();
        let size = if kind.starts_with("<U") { 4 * size } else { size };
        assert_eq!(bytes.len(), size * shape.iter().product::<usize>(), "{name}");
        found.insert(name, Array { kind, shape, bytes });
    }
    found
}

/// The greatest way of a joint between the motion and what the local rotations and the positions of a file tell.
fn off(motion: &Motion, arrays: &BTreeMap<String, Array>, turn: Quat) -> f64 {
    let skeleton = motion.character.skeleton();
    let (frames, joints) = (motion.clip.frames(), skeleton.len());
    assert_eq!(arrays["positions"].shape, [frames, joints, 3]);
    assert_eq!(arrays["rotations"].shape, [frames, joints, 4]);
    let (positions, rotations) = (arrays["positions"].floats(), arrays["rotations"].floats());
    let translations = arrays["translations"].floats();
    let roots = arrays["root_position"].floats();
    let rest = arrays["rest_translations"].floats();
    let vector = |list: &[f64], k: usize| Vec3::from_column_slice(&list[3 * k..][..3]);
    let mut worst: f64 = 0.0;
    for frame in 0..frames {
        let local = (0..joints).map(|j| {
            let q = &rotations[4 * (frame * joints + j)..][..4];
            let rotation = Quat::from_quaternion(RawQuat::new(q[3], q[0], q[1], q[2]));
            let moved = motion.clip.translated().iter().any(|t| t.index() == j);
            let translation = vector(&translations, frame * joints + j);
            match j {
                0 => assert_eq!(translation, vector(&roots, frame)),
                _ => assert!(moved || translation == vector(&rest, j)),
            }
            Transform::new(rotation, translation)
        });
        let found = ModelPose::of(skeleton, &Pose::new(local.collect()));
        let ours = motion.model_pose(frame);
        for id in skeleton.ids() {
            let wanted = turn * ours.position(id);
            worst = worst.max((found.position(id) - wanted).norm());
            worst = worst.max((vector(&positions, frame * joints + id.index()) - wanted).norm());
        }
    }
    worst
}

#[test]
fn arrays_hold_the_motion() {
    for motion in [take("walk.bvh"), carried(&take("turn.bvh"))] {
        let file = written(&motion, "npz", ExportOptions::default());
        assert_eq!(file, written(&motion, "npz", ExportOptions::default()));
        let found = arrays(&file);
        assert!(off(&motion, &found, Quat::identity()) < 2e-6);
        let skeleton = motion.character.skeleton();
        assert!(found["names"].texts().iter().eq(skeleton.joints().iter().map(|j| &j.name)));
        let parents: Vec<i32> =
            found["parents"].bytes.as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
        let ours = skeleton.parents().iter().map(|p| p.map_or(-1, |p| p.index() as i32));
        assert!(parents.into_iter().eq(ours));
        let rate = f64::from_le_bytes(found["rate"].bytes.as_slice().try_into().unwrap());
        assert!((rate / motion.clip.sample_rate - 1.0).abs() < 1e-5);
        assert_eq!((found["up"].texts(), found["schema"].bytes[0]), (vec!["y".to_owned()], 1));
        assert!(!found.contains_key("contacts"));
    }
}

#[test]
fn up_may_be_z() {
    let motion = take("walk.bvh");
    let options = ExportOptions { npz: NpzOptions { up: NpzUpAxis::Z }, ..ExportOptions::default() };
    let found = arrays(&written(&motion, "npz", options));
    let turn = Quat::from_axis_angle(&Vec3::x_axis(), std::f64::consts::FRAC_PI_2);
    assert!(off(&motion, &found, turn) < 2e-6);
    assert_eq!(found["up"].texts(), ["z"]);
}

#[test]
fn a_body_on_four_legs_is_not_written_as_points_of_a_person_without_a_word() {
    let warned = |motion: Motion| {
        save(&[motion], Format::of("npy").unwrap(), &ExportOptions::default())
            .unwrap()
            .1
            .has("points-four-legs")
    };
    assert!(!warned(take("walk.bvh")));
    let Some(folder) = development_data::data() else { return };
    let wolf = load(folder.join("gltf/quaternius/Wolf.glb"), &ImportOptions::default()).unwrap();
    assert!(warned(wolf.motion(0).unwrap()));
}

#[test]
fn contacts_are_told_where_they_are_known() {
    let motion = walk(|m| m);
    let found = arrays(&written(&motion, "npz", ExportOptions::default()));
    let contacts = motion.contacts.as_ref().unwrap();
    let parts: Vec<ContactPart> = found["contact_parts"].texts().iter().map(|t| t.parse().unwrap()).collect();
    assert!(parts.iter().copied().eq(contacts.parts()));
    assert_eq!(found["contacts"].shape, [motion.clip.frames(), parts.len()]);
    for (k, rests) in found["contacts"].bytes.iter().enumerate() {
        assert_eq!(*rests == 1, contacts.rests(parts[k % parts.len()], k / parts.len()));
    }
    assert!(found["contacts"].bytes.contains(&1) && found["contacts"].bytes.contains(&0));
}

/// Rows of fields; no field of these tests has a comma in it.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn tables_hold_the_motion_wide_and_long() {
    let motion = carried(&take("wave.bvh"));
    let skeleton = motion.character.skeleton();
    let long = ExportOptions { csv: CsvOptions { layout: Layout::Long }, ..ExportOptions::default() };
    let [wide, long] = [ExportOptions::default(), long].map(|o| written(&motion, "csv", o));
    let [wide, long] = [&wide, &long].map(|file| rows(std::str::from_utf8(&file.bytes).unwrap()));
    let (frames, joints) = (motion.clip.frames(), skeleton.len());
    assert_eq!((wide.len(), long.len()), (frames + 1, frames * joints + 1));
    assert!(wide.iter().all(|row| row.len() == 1 + 7 * joints) && long.iter().all(|row| row.len() == 10));
    assert_eq!(long[0].join(","), "frame,time,joint,px,py,pz,qx,qy,qz,qw");
    let mut before: Option<Vec<Quat>> = None;
    for frame in 0..frames {
        let ours = motion.model_pose(frame);
        let time: f64 = wide[frame + 1][0].parse().unwrap();
        assert_eq!(time, motion.clip.time(frame));
        let mut turns = Vec::new();
        for id in skeleton.ids() {
            let (name, j) = (&skeleton.joint(id).name, id.index());
            let row = &long[1 + frame * joints + j];
            assert_eq!((row[0], row[2]), (frame.to_string().as_str(), name.as_str()));
            assert_eq!(row[3..], wide[frame + 1][1 + 7 * j..][..7]);
            assert_eq!(wide[0][1 + 7 * j], format!("{name}.px"));
            let n: Vec<f64> = row[3..].iter().map(|x| x.parse().unwrap()).collect();
            assert!((Vec3::new(n[0], n[1], n[2]) - ours.position(id)).norm() < 1e-6);
            let turn = Quat::from_quaternion(RawQuat::new(n[6], n[3], n[4], n[5]));
            assert!(turn.angle_to(&ours.joint(id).rotation) < 1e-6);
            turns.push(turn);
        }
        if let Some(before) = before.replace(turns.clone()) {
            assert!(turns.iter().zip(before).all(|(a, b)| a.coords.dot(&b.coords) > 0.0));
        }
    }
}

#[test]
fn one_clip_a_file() {
    let motion = take("walk.bvh");
    for format in ["npz", "csv", "vrma"] {
        let two = [motion.clone(), motion.clone()];
        let error =
            save(&two, Format::of(format).unwrap(), &ExportOptions::default()).unwrap_err().to_string();
        assert!(error.contains("holds one clip"), "{error}");
    }
}

#[test]
fn options_of_formats_are_set_in_the_file_and_on_the_command_line() {
    let place = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let walk = made_walk::shipped("walk.bvh");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_posemill"))
            .current_dir(place.path())
            .args(["convert", walk.to_str().unwrap()])
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["-o", "walk.npz", "--set", "output.npz.up=z"]);
    assert_eq!(code, Some(0), "{said}");
    let bytes = std::fs::read(place.path().join("walk.npz")).unwrap();
    assert_eq!(arrays(&OutputFile { name: String::new(), bytes })["up"].texts(), ["z"]);
    let (code, said) = run(&["-o", "walk.csv", "--set", "output.csv.layout=tall"]);
    assert!(code == Some(2) && said.contains("`csv` must be one of `wide`, `long`"), "{said}");
    let (code, said) = run(&["-o", "walk.csv", "--set", "output.csv.rows=long"]);
    assert!(code == Some(2) && said.contains("unknown field `rows`"), "{said}");
}
