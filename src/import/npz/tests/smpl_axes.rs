//! SMPL motions in the coordinates of a camera, and bodies that lie.

use super::made_archive::{Content, read};
use crate::import::{ImportOptions, UpAxis};
use crate::math::{Quat, Vec3, exp, log};
use crate::model::{Asset, Role};
use std::f64::consts::{FRAC_PI_2, PI};

const FRAMES: usize = 20;

/// A body that leans and looks about, in a world rotated by `world` about X from Y up, at `path` of each frame.
fn smpl(world: f64, path: impl Fn(f64) -> Option<Vec3>) -> Vec<(&'static str, Content)> {
    let world = Quat::from_axis_angle(&Vec3::x_axis(), world);
    let mut poses = vec![0.0; FRAMES * 72];
    let mut trans = Vec::new();
    for (f, row) in poses.chunks_exact_mut(72).enumerate() {
        let time = f as f64 / 10.0;
        let root = world * exp(&Vec3::new(0.1, 0.6 * time, 0.05 * time));
        row[..3].copy_from_slice(log(&root).as_slice());
        row[3 * 16 + 2] = -1.0;
        trans.extend(path(time).iter().flat_map(|p| [p.x, p.y, p.z]));
    }
    let mut arrays = vec![
        ("poses", Content::Numbers(vec![FRAMES, 72], poses)),
        ("fps", Content::Numbers(vec![], vec![30.0])),
    ];
    if !trans.is_empty() {
        arrays.push(("trans", Content::Numbers(vec![FRAMES, 3], trans)));
    }
    arrays
}

fn with_up(up: Option<UpAxis>) -> ImportOptions {
    ImportOptions { up, ..ImportOptions::default() }
}

/// The mean direction from hips to head, and what is said of the axes.
fn stands(asset: &Asset) -> (Vec3, Option<String>) {
    let motion = asset.motion(0).unwrap();
    let [hips, head] = [Role::Hips, Role::Head].map(|role| motion.character.rig.joint(role).unwrap());
    let trunk = |f: usize| {
        let pose = motion.model_pose(f);
        (pose.position(head) - pose.position(hips)).normalize()
    };
    let said = asset.warnings.iter().find(|w| w.code == "smpl-up").map(|w| w.message.clone());
    ((0..FRAMES).map(trunk).sum::<Vec3>() / FRAMES as f64, said)
}

#[test]
fn a_body_in_the_coordinates_of_a_camera_stands() {
    let before_camera = |time: f64| Some(Vec3::new(0.3 * time, 0.2, 3.0));
    let about_origin = |time: f64| Some(Vec3::new(0.3 * time, -0.9, -0.7 + 0.5 * time));
    for arrays in [smpl(PI, before_camera), smpl(PI, about_origin), smpl(PI, |_| None)] {
        let asset = read(&arrays, &ImportOptions::default());
        let (trunk, said) = stands(&asset);
        assert!(trunk.y > 0.95, "{trunk}");
        assert!(said.is_some_and(|said| said.contains("along -Y") && said.contains("180 degrees")));
        let set = read(&arrays, &with_up(Some(UpAxis::MinusY)));
        assert_eq!((set.clips, set.warnings.has("smpl-up")), (asset.clips, false));
        assert!(stands(&read(&arrays, &with_up(Some(UpAxis::Y)))).0.y < -0.95);
        assert!(stands(&read(&arrays, &with_up(Some(UpAxis::Z)))).0.y.abs() < 0.3);
    }
}

#[test]
fn a_body_that_lies_on_the_ground_of_amass_lies() {
    let arrays = smpl(PI, |time| Some(Vec3::new(0.0, 0.05 * time, 0.15)));
    let (trunk, said) = stands(&read(&arrays, &ImportOptions::default()));
    assert!(trunk.y.abs() < 0.3, "{trunk}");
    assert!(said.is_some_and(|said| said.contains("it lies") && said.contains("input.up=-y")));
    // Z up is the rule, and no word is said of it.
    let (trunk, said) = stands(&read(&smpl(FRAC_PI_2, |_| Some(Vec3::z())), &ImportOptions::default()));
    assert!(trunk.y > 0.95 && said.is_none());
}
