//! Rotations in another order than the usual one, beside positions that show it.

use super::made_archive::{Content, Walk, read};
use crate::import::ImportOptions;
use crate::math::Quat;
use crate::model::Asset;

fn wxyz(q: &Quat) -> Vec<f64> {
    vec![q.w, q.i, q.j, q.k]
}

fn xyzw(q: &Quat) -> Vec<f64> {
    vec![q.i, q.j, q.k, q.w]
}

/// The numbers of a matrix, column by column.
fn transposed(q: &Quat) -> Vec<f64> {
    q.to_rotation_matrix().into_inner().as_slice().to_vec()
}

/// The asset of rotations, with positions or a path alone.
fn asset(walk: &Walk, name: &'static str, rotations: Content, positions: bool) -> Asset {
    let held = if positions { ("positions", walk.positions()) } else { ("root_positions", walk.path()) };
    read(&[walk.skeleton(), vec![(name, rotations), held]].concat(), &ImportOptions::default())
}

#[test]
fn positions_show_the_order_of_rotations() {
    let walk = Walk::new(Quat::identity());
    let six = |q: &Quat| transposed(q)[..6].to_vec();
    for (name, rotations, said) in [
        ("rotations", walk.rotations(&[4], wxyz), "w, x, y, z"),
        ("local_rot_mats", walk.rotations(&[3, 3], transposed), "transposed"),
        ("rot6d", walk.rotations(&[6], six), "two columns of a matrix, one after the other"),
    ] {
        let found = asset(&walk, name, rotations.clone(), true);
        let warned = found.warnings.iter().find(|w| w.code == "npz-rotation-order");
        assert!(warned.is_some_and(|w| w.message.contains(said)), "{name}");
        assert!(walk.distance(&found) < 1e-6, "{name}: {}", walk.distance(&found));
        if name != "rot6d" {
            let alone = asset(&walk, name, rotations, false);
            assert!(!alone.warnings.has("npz-rotation-order") && walk.distance(&alone) > 0.1, "{name}");
        }
    }
}

#[test]
fn rotations_in_the_usual_order_are_not_doubted() {
    let walk = Walk::new(Quat::identity());
    for (name, rotations) in [
        ("rotations", walk.rotations(&[4], xyzw)),
        ("local_quats", walk.rotations(&[4], wxyz)),
        ("local_quats", walk.rotations(&[4], xyzw)),
        ("local_rot_mats", walk.matrices()),
    ] {
        let found = asset(&walk, name, rotations, true);
        assert!(!found.warnings.has("npz-rotation-order") && !found.warnings.has("npz-positions"), "{name}");
        assert!(walk.distance(&found) < 1e-6, "{name}: {}", walk.distance(&found));
    }
}

#[test]
fn positions_that_are_not_those_of_the_rotations_are_reported() {
    let walk = Walk::new(Quat::identity());
    let Content::Numbers(shape, mut positions) = walk.positions() else { unreachable!() };
    positions.iter_mut().for_each(|x| *x *= 100.0);
    let arrays = [
        walk.skeleton(),
        vec![("local_rot_mats", walk.matrices()), ("positions", Content::Numbers(shape, positions))],
    ];
    let arrays = arrays.concat();
    assert!(read(&arrays, &ImportOptions::default()).warnings.has("npz-positions"));
    // What posemill has written is read as it is.
    let own = [arrays, vec![("schema", Content::Numbers(vec![], vec![1.0]))]].concat();
    assert!(!read(&own, &ImportOptions::default()).warnings.has("npz-positions"));
}
