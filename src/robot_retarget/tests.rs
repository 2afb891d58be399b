//! Laws of the solve.

mod between_states;
mod limits;
mod planted_feet;
mod raised_stance;
mod ramp;
mod rates;
mod rigid_feet;
mod same_robot;
mod trunk;
mod turned_feet;

use super::normal_equations::NormalEquations;
use super::robot_equations::RobotEquations;
use super::robot_goals::Goals;
use super::robot_settings::{RANGE, SolveSettings};
use super::robot_state::{Placed, RobotState, Unknowns};
use super::starting_poses::first_guess;
use super::take_body::TakeBody;
use super::window_seams::{FrameSpan, joined};
use super::{RobotRetarget, RobotRetargetError};
use crate::import::{ImportOptions, load};
use crate::made_walk::{shipped, take};
use crate::math::{Quat, Transform, Vec3, angle_between, exp};
use crate::model::{Character, Motion, Robot, RobotMotion, Role, Side};
use crate::robot_body::{RobotBody, robot_roles};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::ops::Range;
use std::sync::Arc;

fn robot() -> Arc<Robot> {
    load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character.robot.clone().unwrap()
}

fn unknowns() -> Unknowns {
    Unknowns::of(&Arc::new(RobotBody::of(&robot()).unwrap()))
}

/// Every 4th frame of a shipped take, at a quarter of its rate.
fn slow(name: &str, frames: usize) -> Motion {
    let motion = take(name);
    let poses: Vec<_> = (0..frames).map(|f| motion.clip.pose(motion.character.skeleton(), 4 * f)).collect();
    let rate = motion.clip.sample_rate / 4.0;
    let clip = crate::model::Clip::from_poses("slow", rate, motion.character.skeleton(), &poses);
    Motion::new(Arc::clone(&motion.character), clip)
}

fn performed(motion: &Motion) -> RobotMotion {
    performed_on(&robot(), motion)
}

fn performed_on(robot: &Arc<Robot>, motion: &Motion) -> RobotMotion {
    RobotRetarget::new(robot).unwrap().apply(motion, &[]).unwrap()
}

#[test]
fn the_gradient_is_that_of_the_cost() {
    gradient_is_that_of_the_cost(5, 0..5);
}

/// The equations of frames before 64 and of those from it on are set apart from each other.
#[test]
fn the_gradient_is_that_of_the_cost_where_frames_are_set_apart() {
    gradient_is_that_of_the_cost(67, 61..67);
}

/// All terms are active: hinges are bent at random, so that parts are in each other and in the floor, and move fast.
fn gradient_is_that_of_the_cost(count: usize, frames: Range<usize>) {
    let unknowns = unknowns();
    let take = slow("walk.bvh", count);
    let body = TakeBody::of(&take, &Quat::identity()).unwrap();
    let goals = Goals::of(&body, &unknowns.body, 30.0, &[]);
    let mut random = 7u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let states: Vec<RobotState> = first_guess(&unknowns, &goals, &SolveSettings::FINAL)
        .into_iter()
        .map(|mut state| {
            state.values.iter_mut().for_each(|value| *value += 2.0 * next());
            let off = Vec3::new(next(), next(), next());
            state.base =
                Transform::new(exp(&(off * 0.1)) * state.base.rotation, state.base.translation + off * 0.3);
            state.base.translation.z -= 0.2;
            state
        })
        .collect();
    let settings = SolveSettings::FINAL;
    let equations = RobotEquations { unknowns: &unknowns, goals: &goals, settings, cutoff: 4.0 };
    let mut system = NormalEquations::new(states.len(), unknowns.count);
    let mut set = |states: &[RobotState]| {
        let mut placed = vec![Placed::default(); states.len()];
        states.iter().zip(&mut placed).for_each(|(state, placed)| unknowns.place(state, placed));
        equations.set(states, &placed, &mut system);
        (system.gradient.clone(), system.cost())
    };
    let gradient = set(&states).0;
    let size = gradient.iter().fold(0.0f64, |most, g| most.max(g.abs()));
    let mut cost_at = |frame: usize, unknown: usize, by: f64| {
        let mut moved = states.clone();
        let mut step = vec![0.0; unknowns.count];
        step[unknown] = by;
        let state = &states[frame];
        // Without limits, which a random state is beyond.
        let turn = exp(&Vec3::new(step[3], step[4], step[5])) * state.base.rotation;
        let place = state.base.translation + Vec3::new(step[0], step[1], step[2]);
        moved[frame].base = Transform::new(turn, place);
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            moved[frame].values[hinge] += step[6 + k];
        }
        set(&moved).1
    };
    let h = 1e-6;
    for frame in frames {
        for unknown in 0..unknowns.count {
            let numeric = (cost_at(frame, unknown, h) - cost_at(frame, unknown, -h)) / (2.0 * h);
            let analytic = 2.0 * gradient[frame * unknowns.count + unknown];
            assert!(
                (numeric - analytic).abs() < 1e-5 * size,
                "frame {frame}, unknown {unknown}: {numeric} {analytic}"
            );
        }
    }
}

#[test]
fn a_walk_points_its_limbs_as_the_take_does_inside_all_limits() {
    let motion = slow("walk.bvh", 60);
    let result = performed(&motion);
    assert_eq!(result.frames(), 60);
    let (robot, body) = (robot(), RobotBody::of(&robot()).unwrap());
    let (mut sum, mut count) = (0.0, 0);
    let mut lowest = f64::MAX;
    for frame in 0..result.frames() {
        for (hinge, value) in robot.hinges.iter().zip(result.values(frame)) {
            let [low, high] = hinge.range.unwrap();
            let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 * RANGE);
            assert!((value - middle).abs() <= half + 1e-12, "{}", hinge.name);
        }
        let links = robot.links_in_world(result.base[frame], result.values(frame));
        let pose = motion.model_pose(frame);
        for leg in &body.limbs.legs {
            let at = |role: Role| pose.position(motion.character.rig.joint(role).unwrap());
            let side = leg.side;
            for (from, to, link, own) in [
                (Role::UpperLeg(side), Role::LowerLeg(side), leg.upper, leg.upper_direction),
                (Role::LowerLeg(side), Role::Foot(side), leg.lower, leg.lower_direction),
            ] {
                let goal = at(to) - at(from);
                let goal = Vec3::new(goal.z, goal.x, goal.y);
                sum += angle_between(&(links[link].rotation * own), &goal).to_degrees();
                count += 1;
            }
        }
        for sole in &body.soles {
            let low = sole.corners.iter().map(|corner| links[sole.link].point(corner).z);
            lowest = low.fold(lowest, f64::min);
        }
    }
    let mean = sum / f64::from(count);
    assert!(mean < 2.0, "legs are {mean} degrees off");
    assert!((-0.005..0.005).contains(&lowest), "the lowest sole is at {lowest} m");
}

/// The walk moves hips and knees by 4 rad/s: motors that are half as fast are late, and not overrun.
#[test]
fn hinges_stay_below_the_speed_that_a_slow_robots_file_states() {
    let mut own = (*robot()).clone();
    own.hinges.iter_mut().for_each(|hinge| hinge.speed = Some(2.0));
    let found = RobotRetarget::new(&Arc::new(own)).unwrap().apply(&slow("walk.bvh", 60), &[]).unwrap();
    let fastest = fastest(&found);
    assert!(fastest < 2.0, "{fastest}");
}

/// The highest speed of a hinge, radians per second.
fn fastest(found: &RobotMotion) -> f64 {
    let speed = |frame: usize| {
        let pairs = found.values(frame - 1).iter().zip(found.values(frame));
        pairs.map(|(a, b)| (b - a).abs() * found.rate).fold(0.0, f64::max)
    };
    (1..found.frames()).map(speed).fold(0.0, f64::max)
}

/// At twice its speed the jump would swing the arms by 20 rad/s.
#[test]
fn no_hinge_jumps_where_the_file_states_no_speed() {
    let mut fast = slow("jump.bvh", 60);
    fast.clip.sample_rate *= 2.0;
    let fastest = fastest(&performed(&fast));
    assert!((9.0..15.0).contains(&fastest), "{fastest}");
}

/// The robot's legs decide its size, and the world has no preferred place or direction.
#[test]
fn a_take_that_is_larger_and_elsewhere_gives_the_same_hinges() {
    let motion = slow("walk.bvh", 40);
    let mut moved = motion.clone();
    let turned = Transform::new(Quat::from_axis_angle(&Vec3::y_axis(), 0.7), Vec3::new(3.0, 0.0, -2.0));
    for frame in 0..40 {
        let root = moved.clip.translations(frame)[0];
        moved.clip.translations_mut(frame)[0] = turned.point(&root);
        let q = moved.clip.rotations(frame)[0];
        moved.clip.rotations_mut(frame)[0] = turned.rotation * q;
    }
    let [one, two] = [performed(&motion), performed(&moved)];
    let off = one.values.iter().zip(&two.values).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    // The solve ends when a step gains less than 0.02 percent.
    assert!(off < 0.01, "{off}");
}

/// A foot that is put down or lifted does not push the base along the floor, as no force would. The hips of the made walk have hardly any
/// acceleration there.
#[test]
fn contacts_do_not_push_the_base_along_the_floor() {
    let found = performed(&slow("walk.bvh", 60));
    let at = |frame: usize| found.base[frame].translation.xy();
    let bends = (1..59).map(|f| (at(f + 1) - at(f) * 2.0 + at(f - 1)).norm_squared());
    let acceleration = (bends.sum::<f64>() / 58.0).sqrt() * found.rate * found.rate;
    assert!(acceleration < 1.2, "{acceleration} m/s^2");
}

/// A cut in the middle of frames that are solved from one another.
#[test]
fn the_first_guess_of_both_sides_of_a_cut_is_that_of_each_alone() {
    let (unknowns, take) = (unknowns(), slow("walk.bvh", 60));
    let body = TakeBody::of(&take, &Quat::identity()).unwrap();
    let goals = Goals::of(&body, &unknowns.body, 30.0, &[23]);
    let guess = |goals: &Goals| -> Vec<Vec<f64>> {
        let states = first_guess(&unknowns, goals, &SolveSettings::FINAL);
        states.into_iter().map(|state| state.values).collect()
    };
    let alone = [goals.part(0..23), goals.part(23..60)].map(|part| guess(&part)).concat();
    assert_eq!(guess(&goals), alone);
}

/// A robot with the elbows of another at a right angle in its zero pose, forearms to the front.
fn with_bent_elbows(robot: &Robot) -> Arc<Robot> {
    let mut bent = robot.clone();
    for link in bent.links.iter_mut().filter(|link| link.name.ends_with("forearm")) {
        link.parent_from_link.rotation *= Quat::from_axis_angle(&Vec3::y_axis(), -FRAC_PI_2);
    }
    for hinge in bent.hinges.iter_mut().filter(|hinge| hinge.name.ends_with("elbow_joint")) {
        hinge.range = Some([-60f64.to_radians(), 95f64.to_radians()]);
    }
    Arc::new(bent)
}

/// A robot with its arms to the sides in its zero pose.
fn with_arms_out(robot: &Robot) -> Arc<Robot> {
    let mut out = robot.clone();
    for (side, sign) in [("left", 1.0), ("right", -1.0)] {
        let link = out.links.iter_mut().find(|link| link.name == format!("{side}_shoulder_roll")).unwrap();
        link.parent_from_link.rotation *= Quat::from_axis_angle(&Vec3::x_axis(), sign * FRAC_PI_2);
        let hinge = out.hinges.iter_mut().find(|hinge| hinge.name == format!("{side}_shoulder_roll_joint"));
        hinge.unwrap().range.as_mut().unwrap().iter_mut().for_each(|end| *end -= sign * FRAC_PI_2);
    }
    Arc::new(out)
}

/// A robot does the same whatever pose its file calls zero: only its neutral hinges, which have little weight, are others. Arms that
/// hang in it touch the trunk.
#[test]
fn the_zero_pose_of_a_file_does_not_matter() {
    let (plain, take) = (robot(), slow("walk.bvh", 30));
    let own = RobotRetarget::new(&plain).unwrap().apply(&take, &[]).unwrap();
    for (name, robot) in [("bent elbows", with_bent_elbows(&plain)), ("arms out", with_arms_out(&plain))] {
        let made = RobotRetarget::new(&robot).unwrap().apply(&take, &[]).unwrap();
        for frame in 0..made.frames() {
            let [a, b] = [(&plain, &own), (&robot, &made)]
                .map(|(robot, motion)| robot.links_in_world(motion.base[frame], motion.values(frame)));
            for link in 0..plain.links.len() {
                // The shoulder's first links have other frames.
                if plain.links[link].name.contains("shoulder") {
                    continue;
                }
                let off = a[link].rotation.angle_to(&b[link].rotation).to_degrees();
                assert!(
                    off < 5.0,
                    "{name}, frame {frame}: `{}` is {off} degrees off",
                    plain.links[link].name
                );
            }
        }
    }
}

/// A short piece of a walk, in which one foot swings and is flat in no frame: its sole is known from the reference pose.
#[test]
fn a_piece_of_a_take_is_as_the_same_frames_of_the_whole() {
    let whole = take("walk.bvh");
    let made = performed(&slow("walk.bvh", 120));
    let skeleton = whole.character.skeleton();
    for first in [19, 38, 57, 77] {
        let poses: Vec<_> = (first..first + 2).map(|f| whole.clip.pose(skeleton, 4 * f)).collect();
        let rate = whole.clip.sample_rate / 4.0;
        let clip = crate::model::Clip::from_poses("piece", rate, skeleton, &poses);
        let piece = performed(&Motion::new(Arc::clone(&whole.character), clip));
        for frame in 0..2 {
            let pairs = made.values(first + frame).iter().zip(piece.values(frame));
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max).to_degrees();
            assert!(off < 25.0, "from {first}: a hinge is {off} degrees off");
            let tilt = |motion: &RobotMotion, frame: usize| {
                (motion.base[frame].rotation * Vec3::z()).z.acos().to_degrees()
            };
            let off = (tilt(&made, first + frame) - tilt(&piece, frame)).abs();
            assert!(off < 8.0, "from {first}: the base leans by {off} degrees more or less");
        }
    }
}

/// A body upside down in the air: no foot is flat, and the feet are no floor.
#[test]
fn a_body_upside_down_stays_above_the_floor() {
    let plain = slow("walk.bvh", 12);
    let skeleton = plain.character.skeleton().clone();
    let half = Quat::from_axis_angle(&Vec3::x_axis(), std::f64::consts::PI);
    let turned = |frame: usize| {
        let mut pose = plain.clip.pose(&skeleton, frame);
        let root = &mut pose.local_mut()[0];
        root.rotation = half * root.rotation;
        root.translation.y = 0.9;
        pose
    };
    let poses: Vec<_> = (0..12).map(turned).collect();
    let clip = crate::model::Clip::from_poses("down", plain.clip.sample_rate, &skeleton, &poses);
    let made = performed(&Motion::new(Arc::clone(&plain.character), clip));
    let body = RobotBody::of(&robot()).unwrap();
    for frame in 0..made.frames() {
        let links = body.robot.links_in_world(made.base[frame], made.values(frame));
        let low = body.capsules.iter().flat_map(|c| c.ends.map(|end| links[c.link].point(&end).z - c.radius));
        let lowest = low.fold(f64::MAX, f64::min);
        assert!(lowest > -0.01, "frame {frame}: {lowest} m");
        assert!((made.base[frame].rotation * Vec3::z()).z < -0.9, "frame {frame}: it is upside down");
    }
}

/// A take onto `robot`, as a take of it.
fn take_of(robot: &Arc<Robot>, take: &Motion) -> Motion {
    let made = RobotRetarget::new(robot).unwrap().apply(take, &[]).unwrap();
    let rig = crate::model::Rig::new(robot.skeleton().unwrap(), robot_roles(robot));
    let character = Character { robot: Some(Arc::clone(robot)), ..Character::new("robot", rig) };
    Motion::new(Arc::new(character), made.clip("walk", robot))
}

#[test]
fn a_robots_motion_onto_itself_is_the_same() {
    for robot in [robot(), with_bent_elbows(&robot())] {
        let own = take_of(&robot, &slow("walk.bvh", 30));
        let again = RobotRetarget::new(&robot).unwrap().apply(&own, &[]).unwrap();
        assert_eq!(again, RobotMotion::of(&own).unwrap());
    }
}

/// Read from quaternions, an angle is known but for whole circles.
#[test]
fn a_hinge_that_turns_past_half_a_circle_goes_on_inside_of_its_range() {
    let mut own = (*robot()).clone();
    own.hinges[20].range = Some([-TAU, TAU]);
    let own = Arc::new(own);
    let turned = |frame: usize| {
        let mut values = vec![0.0; own.hinges.len()];
        values[20] = 2.9 + 0.1 * frame as f64;
        values
    };
    let values: Vec<f64> = (0..8).flat_map(turned).collect();
    let made = RobotMotion { rate: 30.0, base: vec![Transform::identity(); 8], values };
    let rig = crate::model::Rig::new(own.skeleton().unwrap(), robot_roles(&own));
    let character = Character { robot: Some(Arc::clone(&own)), ..Character::new("robot", rig) };
    let read = RobotMotion::of(&Motion::new(Arc::new(character), made.clip("turn", &own))).unwrap();
    let off = read.values.iter().zip(&made.values).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(off < 1e-9, "a hinge is {off} rad off");
}

/// What its hands do does not depend on the zero pose of its file.
#[test]
fn a_robots_hands_are_those_of_a_robot_with_another_zero_pose() {
    let (robot, bent) = (robot(), with_bent_elbows(&robot()));
    let own = take_of(&bent, &slow("walk.bvh", 30));
    let onto = RobotRetarget::new(&robot).unwrap().apply(&own, &[]).unwrap();
    let from = RobotMotion::of(&own).unwrap();
    let hands =
        ["left_hand", "right_hand"].map(|name| robot.links.iter().position(|l| l.name == name).unwrap());
    for frame in 0..onto.frames() {
        let [a, b] = [(&bent, &from), (&robot, &onto)]
            .map(|(robot, motion)| robot.links_in_world(motion.base[frame], motion.values(frame)));
        for hand in hands {
            let off = a[hand].rotation.angle_to(&b[hand].rotation).to_degrees();
            assert!(off < 15.0, "frame {frame}: a hand is {off} degrees off");
        }
    }
}

/// The take asks for more than its hinges can do, so that what they do depends on frames of other windows.
#[test]
fn hinges_keep_the_speed_that_their_file_states_where_windows_meet_too() {
    let mut robot = (*robot()).clone();
    robot.hinges.iter_mut().for_each(|hinge| hinge.speed = Some(2.0));
    let take = take("jump.bvh");
    let made = RobotRetarget::new(&Arc::new(robot)).unwrap().apply(&take, &[]).unwrap();
    assert!(made.frames() > 256, "one window shows no seam");
    for frame in 1..made.frames() {
        let pairs = made.values(frame - 1).iter().zip(made.values(frame));
        let fastest = pairs.map(|(a, b)| (b - a).abs() * made.rate).fold(0.0, f64::max);
        assert!(fastest <= 2.0, "frame {frame}: {fastest} rad/s");
    }
}

/// At 120 Hz windows overlap by an eighth of a second only.
#[test]
fn nothing_jumps_where_windows_meet() {
    let made = performed(&take("walk.bvh"));
    let bend = |frame: usize| {
        let [a, b, c] = [frame - 2, frame - 1, frame].map(|f| made.values(f));
        (0..b.len()).map(|k| (a[k] - 2.0 * b[k] + c[k]).abs()).fold(0.0, f64::max)
    };
    let mut bends: Vec<f64> = (2..made.frames()).map(bend).collect();
    // All frames are solved in windows of two seconds.
    let windows = made.frames().div_ceil(2 * made.rate as usize);
    assert!(windows > 2);
    let seams: Vec<f64> = (1..windows)
        .flat_map(|k| [0, 1, 2].map(|after| k * made.frames() / windows + after))
        .map(bend)
        .collect();
    bends.sort_by(f64::total_cmp);
    let usual = bends[bends.len() * 99 / 100];
    assert!(seams.iter().all(|bend| *bend < 1.5 * usual), "{seams:?} beside {usual}");
}

/// Of two windows only the speed of a planted foot is held, so that their places differ by millimetres.
#[test]
fn windows_that_are_millimetres_apart_are_blended() {
    let (unknowns, take) = (unknowns(), slow("walk.bvh", 60));
    let goals = Goals::of(&TakeBody::of(&take, &Quat::identity()).unwrap(), &unknowns.body, 30.0, &[]);
    let still = first_guess(&unknowns, &goals, &SolveSettings::FINAL)[0].clone();
    let mut moved = still.clone();
    moved.base.translation.x += 0.004;
    let span = |from, to, first, end| FrameSpan { from, to, first, end };
    let solved = vec![vec![still.clone(); 40], vec![moved; 40]];
    let all = joined(&unknowns, &goals, &[span(0, 40, 0, 30), span(20, 60, 30, 60)], solved, true);
    let off: Vec<f64> = all.iter().map(|s| s.base.translation.x - still.base.translation.x).collect();
    assert_eq!((all.len(), off[19]), (60, 0.0));
    assert!((off[40] - 0.004).abs() < 1e-12);
    let step = off.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!(step < 0.0005, "a foot that is planted steps by {step} m");
}

/// Feet of legs that are spread in the zero pose are not level in it.
#[test]
fn feet_that_the_zero_pose_tilts_move_as_level_ones() {
    let plain = RobotBody::of(&robot()).unwrap();
    let mut tilted = (*plain.robot).clone();
    for sole in &plain.soles {
        tilted.links[sole.link].parent_from_link.rotation *= Quat::from_axis_angle(&Vec3::y_axis(), 0.2);
    }
    let tilted = Arc::new(tilted);
    let take = slow("walk.bvh", 60);
    let made = RobotRetarget::new(&tilted).unwrap().apply(&take, &[]).unwrap();
    let own = RobotRetarget::new(&plain.robot).unwrap().apply(&take, &[]).unwrap();
    for frame in 0..made.frames() {
        let [a, b] = [(&plain.robot, &own), (&tilted, &made)]
            .map(|(robot, motion)| robot.links_in_world(motion.base[frame], motion.values(frame)));
        for sole in &plain.soles {
            let off = a[sole.link].rotation.angle_to(&b[sole.link].rotation).to_degrees();
            assert!(off < 4.0, "frame {frame}: a foot is {off} degrees off");
        }
    }
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let motion = slow("walk.bvh", 50);
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| performed(&motion))
    };
    assert_eq!(by(1), by(2));
}

#[test]
fn what_has_no_legs_is_refused() {
    let odd = shipped("../tests/fixtures/robots/odd.xml");
    let odd = load(odd, &ImportOptions::default()).unwrap().character.robot.clone().unwrap();
    assert!(matches!(RobotRetarget::new(&odd), Err(RobotRetargetError::NoHumanoid { .. })));
    let mut motion = slow("walk.bvh", 3);
    let mut character = (*motion.character).clone();
    let roles: Vec<_> = character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let kept = roles.into_iter().filter(|(role, _)| *role != Role::Foot(Side::Left));
    character.rig = character.rig.with_roles(kept.collect::<Vec<_>>());
    motion.character = Arc::new(character);
    let error = RobotRetarget::new(&robot()).unwrap().apply(&motion, &[]).unwrap_err();
    assert_eq!(error, RobotRetargetError::NoLeg { role: "left_foot".into() });
}
