//! Tables and scenes of a robot's joints, which know no hinges, onto the same robot.

use super::*;
use crate::export::{ExportOptions, Format, csv, save};
use crate::import::from_bytes;
use crate::robot_retarget::same_robot::motion_of_same;

/// The table that posemill writes of a motion, read again.
fn table_of(motion: &Motion) -> Motion {
    let table = csv::write(motion, &csv::CsvOptions::default());
    from_bytes(table.as_bytes(), "t", Some("csv"), None, &ImportOptions::default())
        .unwrap()
        .motion(0)
        .unwrap()
}

/// The scene that posemill writes of a motion, read again. Its joints have the axes of the world in the rest pose.
fn bvh_of(motion: &Motion) -> Motion {
    let format = Format::of("bvh").unwrap();
    let bytes =
        save(std::slice::from_ref(motion), format, &ExportOptions::default()).unwrap().0.remove(0).bytes;
    from_bytes(&bytes, "t", Some("bvh"), None, &ImportOptions::default()).unwrap().motion(0).unwrap()
}

#[test]
fn a_table_or_a_scene_of_a_robot_onto_itself_is_the_same() {
    for (robot, written) in [robot(), with_bent_elbows(&robot())].iter().flat_map(|robot| {
        [table_of, bvh_of].map(|written: fn(&Motion) -> Motion| (Arc::clone(robot), written))
    }) {
        let own = take_of(&robot, &slow("walk.bvh", 30));
        let (plain, table) = (RobotMotion::of(&own).unwrap(), written(&own));
        assert!(table.character.robot.is_none());
        let again = RobotRetarget::new(&robot).unwrap().apply(&table, &[]).unwrap();
        let off = plain.values.iter().zip(&again.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "a hinge is {off} rad off");
        for (a, b) in plain.base.iter().zip(&again.base) {
            assert!((a.translation - b.translation).norm() < 1e-4 && a.rotation.angle_to(&b.rotation) < 1e-4);
        }
    }
}

/// The same names on a longer shin, and a forearm that is bent aside.
#[test]
fn a_table_of_another_robot_or_another_motion_is_none_of_its_own() {
    let robot = robot();
    let table = table_of(&take_of(&robot, &slow("walk.bvh", 12)));
    assert!(motion_of_same(&robot, &table).is_some());
    let mut longer = (*robot).clone();
    let ankle = longer.links.iter_mut().find(|link| link.name == "left_ankle").unwrap();
    ankle.parent_from_link.translation *= 1.1;
    assert!(motion_of_same(&Arc::new(longer), &table).is_none());
    let mut bent = table;
    let hand = bent.character.skeleton().find("left_hand").unwrap().index();
    for axis in [Vec3::x_axis(), Vec3::y_axis(), Vec3::z_axis()] {
        bent.clip.rotations_mut(7)[hand] *= Quat::from_axis_angle(&axis, 0.2);
    }
    assert!(motion_of_same(&robot, &bent).is_none());
}
