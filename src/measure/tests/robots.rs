//! Measures of robots: each fault is found by its own measure, and limits of skinned bodies are not theirs.

use crate::contacts::{ContactOptions, detect};
use crate::import::{ImportOptions, load};
use crate::made_walk::{shipped, take, with_rest};
use crate::math::{Quat, Transform, Vec3, exp};
use crate::measure::robot_measures::robot;
use crate::measure::{Judgement, MetricContext, Reading, Verdict, assess, assess_against};
use crate::model::{ContactPart, Contacts, GroundPlane, Hold, Motion, RobotMotion, Side, UnevenGround};
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// The shipped humanoid stands still, its arms off the body, with one change.
fn standing(change: impl Fn(&mut RobotMotion)) -> Motion {
    let character = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character;
    let own = character.robot.clone().unwrap();
    let body = RobotBody::of(&own).unwrap();
    let base = Transform::new(Quat::identity(), Vec3::new(0.0, 0.0, 1.0));
    let out = |name: &str| match name {
        "left_shoulder_roll_joint" => 0.4,
        "right_shoulder_roll_joint" => -0.4,
        _ => 0.0,
    };
    let values: Vec<f64> = own.hinges.iter().map(|hinge| out(&hinge.name)).collect();
    let links = own.links_in_world(base, &values);
    let low = links[body.soles[0].link].point(&body.soles[0].heel).z;
    let base = Transform::new(Quat::identity(), Vec3::new(0.0, 0.0, 1.0 - low));
    let mut made = RobotMotion { rate: 30.0, base: vec![base; 4], values: values.repeat(4) };
    change(&mut made);
    Motion::new(Arc::clone(&character), made.clip("still", &own))
}

/// It lies on its back, its base at this height.
fn lie(made: &mut RobotMotion, height: f64) {
    let back = exp(&(Vec3::y() * -std::f64::consts::FRAC_PI_2));
    made.base.iter_mut().for_each(|base| *base = Transform::new(back, Vec3::new(0.0, 0.0, height)));
}

fn measured(change: impl Fn(&mut RobotMotion)) -> impl Fn(&str) -> f64 {
    let found = robot(&standing(change), None, &[]);
    move |name| found.iter().find(|m| m.name == name).unwrap().value
}

#[test]
fn a_robot_is_judged_by_its_own_measures_and_not_by_those_of_skinned_bodies() {
    // Deeper in the floor than any limit of a body allows.
    let sunk = standing(|m| m.base.iter_mut().for_each(|base| base.translation.z -= 0.5));
    let ground = ContactOptions { ground: Some(0.0), ..ContactOptions::default() };
    let context = MetricContext::new(&sunk.character);
    let made = assess(&context, &sunk, Some(&detect(&sunk, &ground)), None);
    let readings: Vec<Reading> = made.metrics.iter().map(Reading::from).collect();
    assert!(readings.iter().all(|m| m.at_most.is_none() || m.name.starts_with("robot_")));
    let verdict = Verdict::of(&readings);
    assert_eq!(
        (verdict.over, verdict.worst.map(|worst| worst.name.as_str())),
        (1, Some("robot_penetration_max"))
    );
    let still = standing(|_| ());
    let made = assess(&context, &still, Some(&detect(&still, &ground)), None);
    let readings: Vec<Reading> = made.metrics.iter().map(Reading::from).collect();
    assert_eq!((Verdict::of(&readings).judgement(), Verdict::of(&readings).judged), (Judgement::Good, 5));
}

/// The measures over their limits after a change, which is told the number of the hinge of this name.
fn over(hinge: &str, change: impl Fn(&mut RobotMotion, usize)) -> Vec<String> {
    let hinges = standing(|_| ()).character.robot.clone().unwrap().hinges.clone();
    let number = hinges.iter().position(|known| known.name == hinge).unwrap();
    let found = robot(&standing(|made| change(made, number)), None, &[]);
    found.into_iter().filter(|m| m.at_most.is_some_and(|limit| m.value > limit)).map(|m| m.name).collect()
}

#[test]
fn each_limit_of_robots_has_a_fault_that_it_alone_sees() {
    let still = over("left_elbow_joint", |_, _| ());
    assert!(still.is_empty(), "{still:?}");
    // Its range ends at 5 degrees, the middle 98 percent of it at 3.45.
    let bent = over("left_elbow_joint", |made, hinge| {
        let count = made.values.len() / made.base.len();
        made.values.iter_mut().skip(hinge).step_by(count).for_each(|value| *value = 4.5f64.to_radians());
    });
    assert_eq!(bent, ["robot_out_of_range_max"]);
    let sunk = over("left_elbow_joint", |made, _| made.base[2].translation.z -= 0.02);
    assert_eq!(sunk, ["robot_penetration_max"]);
    // It lies on its back, its base 3 cm above the floor: its trunk is thicker.
    let lying = over("left_elbow_joint", |made, _| lie(made, 0.03));
    assert_eq!(lying, ["robot_penetration_max"]);
    // 45 rad/s at 30 Hz.
    let flipped = over("left_wrist_yaw_joint", |made, hinge| made.values[hinge] = 1.5);
    assert_eq!(flipped, ["robot_hinge_speed_max"]);
    // Four frames of 5 Hz, 30 cm above the floor.
    let hovers = over("left_elbow_joint", |made, _| raise(made, |_| 0.3));
    assert_eq!(hovers, ["robot_off_floor_max"]);
}

/// So far above the floor at each of its frames, of which there are 5 a second.
fn raise(made: &mut RobotMotion, height: impl Fn(f64) -> f64) {
    made.rate = 5.0;
    made.base.iter_mut().enumerate().for_each(|(k, base)| base.translation.z += height(k as f64 / 5.0));
}

/// A take that has no contact, or a few frames of it, is judged by its height: a robot in the air falls.
#[test]
fn a_robot_that_hovers_is_over_and_one_that_jumps_or_sits_is_not() {
    let long = |height: &dyn Fn(f64) -> f64, contacts: Option<&Contacts>| {
        let found = robot(&standing(|made| raise(made, height)), contacts, &[]);
        found.iter().find(|m| m.name == "robot_off_floor_max").unwrap().value
    };
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} and {b}");
    near(long(&|_| 0.3, None), 0.8);
    near(long(&|_| 0.09, None), 0.0);
    // One frame on the floor does not excuse the rest.
    near(long(&|t| if t == 0.0 { 0.0 } else { 0.3 }, None), 0.6);
    // 0.6 s of flight, by half of gravity as well: a small robot does as a large body.
    for gravity in [9.81, 4.9] {
        near(long(&|t| 0.2 + gravity / 2.0 * t * (0.6 - t), None), 0.0);
    }
    near(long(&|t| 0.2 + 0.5 * t * (0.6 - t), None), 0.8);
    // On a chair its feet may be off the floor; half a metre above the chair they may not.
    let mut contacts = Contacts::new(0.0, []);
    contacts.set(ContactPart::Pelvis, vec![Hold { frames: 0..4, height: 0.5, slide: 0.0 }]);
    near(long(&|_| 0.3, Some(&contacts)), 0.0);
    near(long(&|_| 1.0, Some(&contacts)), 0.8);
}

/// A wrist turns by 0.2 radians in a frame of 30 Hz, 6 rad/s: any robot may, unless its file says less.
#[test]
fn a_hinge_that_is_faster_than_its_file_allows_is_over() {
    let turned = standing(|made| made.values[20] += 0.2);
    let found = |fastest: Option<f64>| {
        let mut character = (*turned.character).clone();
        let mut own = (**character.robot.as_ref().unwrap()).clone();
        own.hinges[20].speed = fastest;
        character.robot = Some(Arc::new(own));
        let motion = Motion::new(Arc::new(character), turned.clip.clone());
        let found = robot(&motion, None, &[]);
        let ratio = found.iter().find(|m| m.name == "robot_speed_ratio_max").map(|m| m.value);
        let over: Vec<String> = found
            .into_iter()
            .filter(|m| m.at_most.is_some_and(|limit| m.value > limit))
            .map(|m| m.name)
            .collect();
        (ratio, over)
    };
    assert_eq!(found(None), (None, Vec::new()));
    let (ratio, over) = found(Some(7.0));
    assert!((ratio.unwrap() - 6.0 / 7.0).abs() < 1e-9 && over.is_empty(), "{over:?}");
    let (ratio, over) = found(Some(5.0));
    assert!((ratio.unwrap() - 1.2).abs() < 1e-9);
    assert_eq!(over, ["robot_speed_ratio_max"]);
}

/// The first frame is another pose, from which the take is cut, as in many takes of CMU: the file has the jump, and a tracker is trained on
/// the file.
#[test]
fn a_hinge_that_jumps_over_a_cut_of_the_take_is_over_as_it_is_elsewhere() {
    let own = standing(|_| ()).character.robot.clone().unwrap();
    let elbow = own.hinges.iter().position(|hinge| hinge.name == "left_elbow_joint").unwrap();
    let turned = standing(|made| made.values[elbow] = -1.4);
    let fastest = |cuts: &[usize]| {
        let found = robot(&turned, None, cuts);
        ["robot_hinge_speed_max", "robot_jumps"]
            .map(|name| found.iter().find(|m| m.name == name).unwrap().value)
    };
    for cuts in [&[1][..], &[2], &[]] {
        assert!((fastest(cuts)[0] - 42.0).abs() < 1e-9 && fastest(cuts)[1] == 1.0, "{:?}", fastest(cuts));
    }
}

#[test]
fn a_robot_that_stands_is_faultless_and_each_fault_is_found_by_its_measure() {
    let good = measured(|_| ());
    let shares = ["robot_in_range", "robot_above_floor", "robot_collides"].map(&good);
    assert_eq!(shares, [1.0, 1.0, 0.0]);
    assert_eq!((good("robot_jumps"), good("robot_hinge_speed_max")), (0.0, 0.0));
    assert!(good("robot_penetration_max") < 1e-9 && good("robot_out_of_range_max") == 0.0);

    let sunk = measured(|m| m.base[2].translation.z -= 0.02);
    assert_eq!(sunk("robot_above_floor"), 0.75);
    assert!((sunk("robot_penetration_max") - 0.02).abs() < 1e-9);
    // A hip rolls inwards: 25 degrees bring the legs into each other, inside of the range of 30.
    let crossed = measured(|m| m.values[1] = -25f64.to_radians());
    assert_eq!((crossed("robot_collides"), crossed("robot_in_range")), (0.25, 1.0));
    let beyond = measured(|m| m.values[3] = 159.5f64.to_radians());
    assert_eq!((beyond("robot_in_range"), beyond("robot_jumps")), (0.75, 1.0));
    // The range ends at 160 degrees, its usable part 1 percent of 165 earlier: at 158.35.
    assert!((beyond("robot_out_of_range_max") - 1.15f64.to_radians()).abs() < 1e-9);
    assert!((beyond("robot_hinge_speed_max") - 159.5f64.to_radians() * 30.0).abs() < 1e-9);
}

/// A robot in the air, one that slides, and one whose arm does something else than the take's are each over by one measure.
#[test]
fn a_robot_that_does_not_perform_the_take_is_over() {
    let take = standing(|_| ());
    let ground = ContactOptions { ground: Some(0.0), ..ContactOptions::default() };
    let mut labelled = take.clone();
    labelled.contacts = Some(detect(&take, &ground));
    let context = MetricContext::new(&take.character);
    let over = |change: &dyn Fn(&mut RobotMotion)| {
        let result = standing(change);
        let contacts = labelled.contacts.as_ref();
        let made = assess_against(&context, &result, contacts, (&context, &labelled), &take);
        let over = made.metrics.into_iter().filter(|m| m.at_most.is_some_and(|limit| m.value > limit));
        over.map(|m| m.name).collect::<Vec<_>>()
    };
    assert_eq!(over(&|_| ()), [""; 0]);
    let raised = over(&|made| made.base.iter_mut().for_each(|base| base.translation.z += 0.3));
    assert_eq!(raised, ["robot_floating"]);
    let slides = over(&|made| {
        made.base.iter_mut().enumerate().for_each(|(k, base)| base.translation.x += 0.01 * k as f64);
    });
    assert!(
        slides.contains(&"rest_drift".to_owned()) || slides.contains(&"rest_slip_p95".to_owned()),
        "{slides:?}"
    );
    let own = take.character.robot.clone().unwrap();
    let shoulder = own.hinges.iter().position(|hinge| hinge.name == "left_shoulder_pitch_joint").unwrap();
    let arm = over(&|made| {
        let count = made.values.len() / made.base.len();
        made.values.iter_mut().skip(shoulder).step_by(count).for_each(|value| *value = -1.2);
    });
    assert_eq!(arm, ["limb_error_p95"]);
    // It stands as the take does, and faces aside.
    let aside = over(&|made| {
        let turn = exp(&(Vec3::z() * 60f64.to_radians()));
        made.base.iter_mut().for_each(|base| *base = Transform::new(turn, base.translation));
    });
    assert_eq!(aside, ["robot_base_error"]);
}

/// Hinges that are too slow for the take shorten its path.
#[test]
fn a_robot_that_does_not_come_as_far_as_the_take_is_over() {
    // Faster than any foot that is planted.
    let goes = |metres: f64| {
        standing(|made| {
            made.base.iter_mut().enumerate().for_each(|(k, base)| base.translation.x += metres * k as f64)
        })
    };
    let take = goes(0.5);
    let context = MetricContext::new(&take.character);
    let found = |metres: f64| {
        let made = assess_against(&context, &goes(metres), None, (&context, &take), &take);
        let error = made.metrics.iter().find(|m| m.name == "robot_path_error").unwrap().value;
        let over = made.metrics.into_iter().filter(|m| m.at_most.is_some_and(|limit| m.value > limit));
        (error, over.map(|m| m.name).collect::<Vec<_>>())
    };
    assert_eq!(found(0.5), (0.0, Vec::new()));
    let (error, over) = found(0.3);
    assert!((error - 0.4).abs() < 1e-6, "{error}");
    assert_eq!(over, ["robot_path_error"]);
    // Farther than the take is no better.
    assert!((found(0.7).0 - 0.4).abs() < 1e-6);
}

/// The waist is bent, while arms and legs point as in the take; a take that lies is followed by a robot that lies.
#[test]
fn a_robot_that_bends_where_the_take_stands_is_over_and_one_that_lies_with_it_is_not() {
    let own = standing(|_| ()).character.robot.clone().unwrap();
    let hips = RobotBody::of(&own).unwrap().hips_in_pelvis;
    let bend = |made: &mut RobotMotion| {
        let [tilt, bent] = [25f64, 20.0].map(f64::to_radians);
        let turn = exp(&(Vec3::y() * tilt));
        for base in &mut made.base {
            *base = Transform::new(turn, base.translation + hips - turn * hips);
        }
        for values in made.values.chunks_mut(own.hinges.len()) {
            for (hinge, value) in own.hinges.iter().zip(values) {
                *value += match hinge.name.as_str() {
                    "waist_pitch_joint" => bent,
                    name if name.ends_with("hip_pitch_joint") => -tilt,
                    name if name.ends_with("shoulder_pitch_joint") => -tilt - bent,
                    _ => 0.0,
                };
            }
        }
    };
    let lie = |made: &mut RobotMotion| lie(made, 0.3);
    let over = |take: &dyn Fn(&mut RobotMotion), result: &dyn Fn(&mut RobotMotion)| {
        let [mut take, result] = [standing(take), standing(result)];
        take.contacts =
            Some(detect(&take, &ContactOptions { ground: Some(0.0), ..ContactOptions::default() }));
        let context = MetricContext::new(&take.character);
        let made = assess_against(&context, &result, take.contacts.as_ref(), (&context, &take), &take);
        let over = made.metrics.into_iter().filter(|m| m.at_most.is_some_and(|limit| m.value > limit));
        over.map(|m| m.name).collect::<Vec<_>>()
    };
    assert_eq!(over(&|_| (), &bend), ["trunk_error"]);
    assert!(!over(&lie, &lie).contains(&"trunk_error".to_owned()));
    assert!(over(&lie, &|_| ()).contains(&"trunk_error".to_owned()));
}

/// The rest pose of a file is its author's choice: a figure that lies in it and stands in the take says nothing of the robot.
#[test]
fn the_rest_pose_of_a_take_does_not_decide_how_a_robots_trunk_is_judged() {
    let mut take = with_rest(&take("walk.bvh").part(0..4), 0, 90.0);
    take.clip.sample_rate = 30.0;
    let error = |change: &dyn Fn(&mut RobotMotion)| {
        let result = standing(change);
        let [own, of_take] = [&result, &take].map(|motion| MetricContext::new(&motion.character));
        let made = assess_against(&own, &result, None, (&of_take, &take), &result);
        made.metrics.into_iter().find(|m| m.name == "trunk_error").unwrap()
    };
    let (good, lies) = (error(&|_| ()), error(&|made| lie(made, 0.3)));
    assert!(good.value < 0.05, "{}", good.value);
    assert!(lies.value > 1.5 && lies.at_most.is_some_and(|limit| lies.value > limit), "{}", lies.value);
}

/// A robot that lies on its side has its upper foot off the floor where the take's may touch the other one.
#[test]
fn a_robot_that_rests_on_its_body_does_not_float() {
    let mut contacts = Contacts::new(0.0, []);
    for side in Side::BOTH {
        contacts.set(ContactPart::Ball(side), vec![Hold { frames: 0..4, height: 0.0, slide: 0.0 }]);
    }
    let floats = |height: f64| {
        let lying = standing(|made| {
            let aside = Quat::from_axis_angle(&Vec3::x_axis(), std::f64::consts::FRAC_PI_2);
            made.base.iter_mut().for_each(|base| *base = Transform::new(aside, Vec3::new(0.0, 0.0, height)));
        });
        let own = lying.character.robot.clone().unwrap();
        let body = RobotBody::of(&own).unwrap();
        let made = RobotMotion::of(&lying).unwrap();
        let links = own.links_in_world(made.base[0], made.values(0));
        let low =
            |c: &crate::robot_body::LinkCapsule| c.ends.map(|end| links[c.link].point(&end).z - c.radius);
        let lowest = body.capsules.iter().filter(|c| !c.is_foot).flat_map(low).fold(f64::MAX, f64::min);
        let found = robot(&lying, Some(&contacts), &[]);
        (lowest, found.into_iter().find(|m| m.name == "robot_floating").unwrap().value)
    };
    let (lowest, _) = floats(1.0);
    assert_eq!([floats(1.0 - lowest).1, floats(1.1 - lowest).1], [0.0, 1.0]);
}

/// Heels rise about balls that rest, as at the end of a step.
#[test]
fn a_foot_that_rolls_about_its_ball_does_not_skate_and_one_that_slides_does() {
    let own = standing(|_| ()).character.robot.clone().unwrap();
    let sole = RobotBody::of(&own).unwrap().soles[0].clone();
    let mut contacts = Contacts::new(0.0, []);
    for side in Side::BOTH {
        contacts.set(ContactPart::Ball(side), vec![Hold { frames: 0..4, height: 0.0, slide: 0.0 }]);
    }
    let still = |change: &dyn Fn(&mut RobotMotion)| {
        let found = robot(&standing(change), Some(&contacts), &[]);
        found.into_iter().find(|m| m.name == "robot_not_skating").unwrap().value
    };
    let roll = |made: &mut RobotMotion| {
        let ball = own.links_in_world(made.base[0], made.values(0))[sole.link].point(&sole.ball);
        for (k, base) in made.base.iter_mut().enumerate() {
            // 1.8 rad/s at 30 Hz: the middle of the sole moves at 17 cm/s.
            let turn = exp(&(Vec3::y() * (0.06 * k as f64)));
            *base = Transform::new(turn * base.rotation, ball + turn * (base.translation - ball));
        }
    };
    assert_eq!((still(&|_| ()), still(&roll)), (1.0, 1.0));
    let slide = |made: &mut RobotMotion| {
        made.base.iter_mut().enumerate().for_each(|(k, base)| base.translation.x += 0.01 * k as f64);
    };
    assert_eq!(still(&slide), 0.0);
}

#[test]
fn soles_are_judged_by_the_ramp_under_them() {
    // A metre farther to the front, where the ramp is 0.2 m high.
    let on_ramp = |above: f64| {
        standing(|m| m.base.iter_mut().for_each(|base| base.translation += Vec3::new(1.0, 0.0, 0.2 + above)))
    };
    let plane = GroundPlane { through: Vec3::zeros(), slope: [0.0, 0.2] };
    let ground = UnevenGround::new([vec![(0..4, plane)], vec![(0..4, plane)]], 0.0, 0.0, 0.0);
    let contacts = detect(&on_ramp(0.0), &ContactOptions { ground: Some(0.0), ..ContactOptions::default() });
    let mut contacts = Contacts::new(0.0, contacts.parts()).on(ground);
    contacts.set(ContactPart::Ball(Side::Left), vec![Hold { frames: 0..4, height: 0.2, slide: 0.0 }]);
    let measured = |above: f64, name: &str| {
        let found = robot(&on_ramp(above), Some(&contacts), &[]);
        found.iter().find(|m| m.name == name).unwrap().value
    };
    // The balls of its level feet are in the ramp.
    assert!((0.0..0.08).contains(&measured(0.0, "robot_penetration_max")));
    assert!(measured(-0.2, "robot_penetration_max") > 0.2);
    assert_eq!(measured(0.0, "robot_floating"), 0.0);
    assert_eq!(measured(0.15, "robot_floating"), 1.0);
}
