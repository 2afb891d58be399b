//! Archives of rotations that state no up axis, and paths of the root under many names.

use super::made_archive::{Content, Walk, read};
use crate::import::{ImportOptions, UpAxis};
use crate::math::{Quat, Vec3};
use std::f64::consts::{FRAC_PI_2, PI};

fn about_x(angle: f64) -> Quat {
    Quat::from_axis_angle(&Vec3::x_axis(), angle)
}

#[test]
fn a_walk_in_a_world_with_another_up_axis_stands_and_that_is_reported() {
    for (angle, axis) in [(FRAC_PI_2, "Z"), (PI, "-Y")] {
        let walk = Walk::new(about_x(angle));
        for held in [("positions", walk.positions()), ("root_positions", walk.path())] {
            let arrays = [walk.skeleton(), vec![("local_rot_mats", walk.matrices()), held.clone()]].concat();
            let asset = read(&arrays, &ImportOptions::default());
            let said = asset.warnings.iter().find(|w| w.code == "up-by-figure");
            let said = said.unwrap_or_else(|| panic!("{axis}, {}", held.0));
            assert!(said.message.contains(&format!("it is {axis}:")), "{}", said.message);
            assert!(walk.distance(&asset) < 1e-6, "{axis}, {}: {}", held.0, walk.distance(&asset));
            // The user's word comes first, and rotates the motion only: the rest pose stands.
            let up = if axis == "Z" { UpAxis::Z } else { UpAxis::MinusY };
            let set = read(&arrays, &ImportOptions { up: Some(up), ..ImportOptions::default() });
            assert!(!set.warnings.has("up-by-figure"));
            assert!(walk.distance(&set) < 1e-6, "{axis}, {}", held.0);
            assert!(set.character.calibration.is_none(), "{axis}");
            let kept = read(&arrays, &ImportOptions { up: Some(UpAxis::Y), ..ImportOptions::default() });
            assert!(walk.distance(&kept) > 0.5);
        }
    }
}

#[test]
fn a_walk_with_y_up_and_axes_that_are_stated_stay() {
    let walk = Walk::new(Quat::identity());
    let arrays =
        [walk.skeleton(), vec![("local_rot_mats", walk.matrices()), ("trans", walk.path())]].concat();
    let asset = read(&arrays, &ImportOptions::default());
    assert!(walk.distance(&asset) < 1e-6 && !asset.warnings.has("up-by-figure"));
    let lying = Walk::new(about_x(FRAC_PI_2));
    let arrays =
        [lying.skeleton(), vec![("local_rot_mats", lying.matrices()), ("trans", lying.path())]].concat();
    let stated = [arrays, vec![("up", Content::Texts(vec!["y".into()]))]].concat();
    let asset = read(&stated, &ImportOptions::default());
    assert!(lying.distance(&asset) > 0.5 && !asset.warnings.has("up-by-figure"));
}

#[test]
fn the_path_of_the_root_has_many_names_and_one_that_is_not_read_is_named() {
    let walk = Walk::new(Quat::identity());
    let with = |name: &'static str| {
        let arrays =
            [walk.skeleton(), vec![("local_rot_mats", walk.matrices()), (name, walk.path())]].concat();
        let asset = read(&arrays, &ImportOptions::default());
        let said = asset.warnings.iter().find(|w| w.code == "npz-in-place").map(|w| w.message.clone());
        (walk.distance(&asset), said)
    };
    for name in [
        "root_positions",
        "root_pos",
        "root_translation",
        "root_transl",
        "root_trans",
        "transl",
        "trans",
        "translation",
        "global_translation",
        "pelvis_trans",
        "root",
    ] {
        let (distance, said) = with(name);
        assert!(distance < 1e-6 && said.is_none(), "{name}: {distance} {said:?}");
    }
    let (distance, said) = with("wanderings");
    assert!(distance > 0.5 && said.is_some_and(|said| said.contains("not read: `wanderings`")));
    let none = [walk.skeleton(), vec![("local_rot_mats", walk.matrices())]].concat();
    let none = read(&none, &ImportOptions::default());
    assert!(none.warnings.iter().any(|w| w.code == "npz-in-place" && w.message.contains("there is no path")));
}
