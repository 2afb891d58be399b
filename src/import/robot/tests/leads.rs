//! A motion is led in from a default pose and out to it.

use super::motion::swaying;
use crate::export::{ExportOptions, Format, RobotOptions, save};
use crate::model::{Motion, RobotMotion};
use crate::robot_body::RobotBody;

fn rows(motion: &Motion, pose: &[f64], lead: f64) -> Result<Vec<Vec<f64>>, String> {
    let robot = RobotOptions { rate: 50.0, default_pose: pose.to_vec(), lead, ..RobotOptions::default() };
    let options = ExportOptions { robot, ..ExportOptions::default() };
    let saved = save(std::slice::from_ref(motion), Format::of("csv").unwrap(), &options);
    let file = saved.map_err(|error| error.to_string())?.0.remove(0);
    let text = String::from_utf8(file.bytes).unwrap();
    let numbers = |line: &str| line.split(',').map(|x| x.parse().unwrap()).collect();
    Ok(text.lines().map(numbers).collect())
}

#[test]
fn a_motion_is_led_from_the_default_pose_on_the_floor_and_back_without_a_jump() {
    let motion = swaying();
    let robot = motion.character.robot.clone().unwrap();
    let expected = RobotMotion::of(&motion).unwrap();
    // Bent knees, so that the height of the base follows from the soles.
    let knee = |name: &str| if name.ends_with("knee_joint") { 0.6 } else { 0.0 };
    let pose: Vec<f64> = robot.hinges.iter().map(|hinge| knee(&hinge.name)).collect();
    let alone = rows(&motion, &[], 0.5).unwrap();
    let led = rows(&motion, &pose, 0.5).unwrap();
    assert_eq!((alone.len(), led.len()), (expected.frames(), expected.frames() + 2 * 25));
    assert_eq!(led[25..led.len() - 25], alone, "the motion itself stays as it is");
    let body = RobotBody::of(&robot).unwrap();
    for (end, near) in [(&led[0], 0), (&led[led.len() - 1], expected.frames() - 1)] {
        assert_eq!(end[7..], pose);
        let turned =
            crate::math::Quat::new_normalize(crate::math::RawQuat::new(end[6], end[3], end[4], end[5]));
        let base = crate::math::Transform::new(turned, crate::math::Vec3::new(end[0], end[1], end[2]));
        assert!((turned * crate::math::Vec3::z()).z > 1.0 - 1e-9, "it stands upright");
        let off = base.translation.xy() - expected.base[near].translation.xy();
        assert!(off.norm() < 1e-5);
        let links = robot.links_in_world(base, &end[7..]);
        let low = body.soles.iter().flat_map(|s| s.corners.map(|corner| links[s.link].point(&corner).z));
        assert!(low.fold(f64::MAX, f64::min).abs() < 1e-5, "the lowest sole is on the floor");
    }
    // The change of speed from frame to frame is that of the motion itself at most, twice over: no jump at the seams.
    let bend = |rows: &[Vec<f64>], hinge: usize| {
        let second = |w: &[Vec<f64>]| (w[0][hinge] - 2.0 * w[1][hinge] + w[2][hinge]).abs();
        rows.windows(3).map(second).fold(0.0, f64::max)
    };
    for hinge in 7..led[0].len() {
        // A lead of 25 frames by at most 3 radians bends by 6 * 3 / 25^2 per frame squared.
        assert!(bend(&led, hinge) < bend(&alone, hinge).max(6.0 * 3.0 / 625.0) + 1e-5, "{hinge}");
    }
}

#[test]
fn a_default_pose_has_a_value_for_each_hinge() {
    let error = rows(&swaying(), &[0.0; 3], 0.5).unwrap_err();
    assert!(error.contains("`output.robot.default_pose` has 3 values, the robot"), "{error}");
}

#[test]
fn a_lead_is_longer_where_hinges_are_slow() {
    let mut motion = swaying();
    let mut character = (*motion.character).clone();
    let mut robot = (**character.robot.as_ref().unwrap()).clone();
    robot.hinges.iter_mut().for_each(|hinge| hinge.speed = Some(2.0));
    let own = RobotMotion::of(&motion).unwrap();
    let fastest = |values: &dyn Fn(usize) -> f64, frames: std::ops::Range<usize>| {
        frames.map(|f| (values(f + 1) - values(f)).abs() * 50.0).fold(0.0, f64::max)
    };
    let most: Vec<f64> = (0..robot.hinges.len())
        .map(|k| fastest(&|f| own.values(f)[k], 0..own.frames() - 1).max(2.0))
        .collect();
    let pose = vec![0.0; robot.hinges.len()];
    character.robot = Some(std::sync::Arc::new(robot));
    motion.character = std::sync::Arc::new(character);
    let led = rows(&motion, &pose, 0.1).unwrap();
    assert!(led.len() > own.frames() + 2 * 5, "{}", led.len());
    for (k, most) in most.iter().enumerate() {
        let speed = fastest(&|f| led[f][7 + k], 0..led.len() - 1);
        assert!(speed < most + 1e-3, "hinge {k}: {speed} rad/s");
    }
    assert_eq!(rows(&motion, &pose, 0.0).unwrap().len(), own.frames(), "no lead is asked for");
}

#[test]
fn a_default_pose_beyond_the_range_of_a_hinge_is_refused() {
    let motion = swaying();
    let robot = motion.character.robot.clone().unwrap();
    let mut pose = vec![0.0; robot.hinges.len()];
    // 40 degrees, written as such.
    pose[3] = 40.0;
    let error = rows(&motion, &pose, 0.5).unwrap_err();
    let told = format!(
        "`output.robot.default_pose` has 40 for the hinge `{}`, whose range is",
        robot.hinges[3].name
    );
    assert!(error.contains(&told), "{error}");
    pose[3] = f64::NAN;
    assert!(rows(&motion, &pose, 0.5).is_err());
}
