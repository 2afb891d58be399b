//! Measures of robots: each fault is found by its own measure, and limits of skinned bodies are not theirs.

use crate::contacts::{ContactOptions, detect};
use crate::import::{ImportOptions, load};
use crate::made_walk::shipped;
use crate::math::{Quat, Transform, Vec3};
use crate::measure::robot_measures::robot;
use crate::measure::{MetricContext, assess};
use crate::model::{Motion, RobotMotion};
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// The shipped humanoid stands still, with one change.
fn standing(change: impl Fn(&mut RobotMotion)) -> Motion {
    let character = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character;
    let own = character.robot.clone().unwrap();
    let body = RobotBody::of(&own).unwrap();
    let base = Transform::new(Quat::identity(), Vec3::new(0.0, 0.0, 1.0));
    let zeros = vec![0.0; own.hinges.len()];
    let links = own.links_in_world(base, &zeros);
    let low = links[body.soles[0].link].point(&body.soles[0].heel).z;
    let base = Transform::new(Quat::identity(), Vec3::new(0.0, 0.0, 1.0 - low));
    let mut made = RobotMotion { rate: 30.0, base: vec![base; 4], values: zeros.repeat(4) };
    change(&mut made);
    Motion::new(Arc::clone(&character), made.clip("still", &own))
}

fn measured(change: impl Fn(&mut RobotMotion)) -> impl Fn(&str) -> f64 {
    let found = robot(&standing(change), None);
    move |name| found.iter().find(|m| m.name == name).unwrap().value
}

#[test]
fn a_robot_is_not_judged_by_the_limits_of_skinned_bodies() {
    // Deeper in the floor than any limit of a body allows.
    let sunk = standing(|m| m.base.iter_mut().for_each(|base| base.translation.z -= 0.5));
    let ground = ContactOptions { ground: Some(0.0), ..ContactOptions::default() };
    let context = MetricContext::new(&sunk.character);
    let made = assess(&context, &sunk, Some(&detect(&sunk, &ground)), None);
    assert!(made.metrics.iter().any(|m| m.name == "robot_penetration_max" && m.value > 0.4));
    assert!(made.metrics.iter().all(|m| m.at_most.is_none()));
}

#[test]
fn a_robot_that_stands_is_faultless_and_each_fault_is_found_by_its_measure() {
    let good = measured(|_| ());
    let shares = ["robot_in_range", "robot_above_floor", "robot_collides"].map(&good);
    assert_eq!(shares, [1.0, 1.0, 0.0]);
    assert_eq!((good("robot_jumps"), good("robot_hinge_speed_max")), (0.0, 0.0));
    assert!(good("robot_penetration_max") < 1e-9);

    let sunk = measured(|m| m.base[2].translation.z -= 0.02);
    assert_eq!(sunk("robot_above_floor"), 0.75);
    assert!((sunk("robot_penetration_max") - 0.02).abs() < 1e-9);
    // A hip rolls inwards: 25 degrees bring the legs into each other, inside of the range of 30.
    let crossed = measured(|m| m.values[1] = -25f64.to_radians());
    assert_eq!((crossed("robot_collides"), crossed("robot_in_range")), (0.25, 1.0));
    let beyond = measured(|m| m.values[3] = 159.5f64.to_radians());
    assert_eq!((beyond("robot_in_range"), beyond("robot_jumps")), (0.75, 1.0));
    assert!((beyond("robot_hinge_speed_max") - 159.5f64.to_radians() * 30.0).abs() < 1e-9);
}
