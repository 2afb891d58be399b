//! `world` against closed forms: pendulums, slopes, stacks, linkages, long chains.

use super::support::largest_speed;
use crate::dynamics::shape::Collider;
use posemill::dynamics::*;
use posemill::math::{Quat, Transform, Vec3};
use std::fmt::Write;

const G: f64 = 9.81;
const STEP: f64 = 1.0 / 240.0;

/// Capsules of 0.5 m, pinned to the world at the height of 2 m and lying along x, linked by constraints of one kind.
fn pendulum(links: usize, kind: &str, integrator: &str, seconds: f64) -> Recording {
    let mut text =
        format!("[simulation]\nstep = {STEP}\nduration = {seconds}\n{integrator}\noutput_rate = 240.0\n");
    for k in 0..links {
        let (before, at) = (0.5 * k as f64, 0.5 * k as f64 + 0.25);
        let a = if k == 0 { "world".to_owned() } else { format!("b{}", k - 1) };
        let _ = write!(
            text,
            "[[body]]\nname = \"b{k}\"\nmass = 1.0\nposition = [{at}, 2.0, 0.0]\n\
             rotation = [0.7071067811865476, 0.0, 0.7071067811865476, 0.0]\ncapsule = [0.03, 0.44]\ncollide = false\n\
             [[constraint]]\nname = \"c{k}\"\nkind = \"{kind}\"\na = \"{a}\"\nb = \"b{k}\"\nanchor = [{before}, 2.0, 0.0]\n\
             axis = [0.0, 0.0, 1.0]\n"
        );
    }
    simulate(&Scene::parse(&text).unwrap()).unwrap()
}

/// The largest change of the energy, as a share of the largest kinetic energy.
fn energy_error(recording: &Recording) -> f64 {
    let energy = |f: &Frame| f.kinetic_energy + f.potential_energy;
    let start = energy(&recording.frames[0]);
    let change = recording.frames.iter().map(|f| (energy(f) - start).abs()).fold(0.0, f64::max);
    change / recording.frames.iter().map(|f| f.kinetic_energy).fold(0.0, f64::max)
}

#[test]
fn a_pendulum_keeps_its_energy_for_a_minute() {
    for (links, kind) in [(1, "hinge"), (1, "ball"), (2, "hinge"), (3, "ball")] {
        let recording = pendulum(links, kind, "", 60.0);
        let error = energy_error(&recording);
        println!("{links} {kind}: energy changes by {error:.1e} of the largest kinetic energy");
        assert!(error < 0.01, "{links} {kind}: {error}");
        assert!(recording.largest_constraint_error < 1e-9 && recording.warnings.is_empty());
    }
}

#[test]
fn long_chains_of_balls_are_solved_or_fall_back_with_a_warning() {
    for links in [40, 100] {
        let recording = pendulum(links, "ball", "integrator = \"variational\"", 3.0);
        let fallen = recording.warnings.has("variational-fallback");
        println!(
            "{links} links: energy {:.1e}, constraints {:.1e}, fell back {fallen}",
            energy_error(&recording),
            recording.largest_constraint_error
        );
        assert!(recording.largest_constraint_error < 1e-8 && energy_error(&recording) < 0.02);
    }
}

fn boxes(half: f64, heights: &[f64], friction: f64) -> World {
    let shape = Shape::Cuboid { half: Vec3::repeat(half) };
    let collider = |body: Option<usize>, shape| Collider {
        body,
        shape,
        body_from_shape: Transform::identity(),
        friction,
        restitution: 0.0,
    };
    let mut colliders = vec![collider(None, Shape::Plane)];
    let (mut bodies, mut states) = (Vec::new(), Vec::new());
    for (i, height) in heights.iter().enumerate() {
        let inertia = solid::cuboid(1.0, &Vec3::repeat(half));
        bodies.push(Body::new(format!("b{i}"), 1.0, inertia).unwrap());
        states.push(BodyState::at_rest(Vec3::z() * *height, Quat::identity()));
        colliders.push(collider(Some(i), shape));
    }
    let articulation = Articulation::new(bodies, Vec::new(), Vec3::z() * -G).unwrap();
    World::new(articulation, states, colliders, WorldSettings::default())
}

#[test]
fn a_box_slides_down_a_slope_as_coulomb_says_in_every_direction() {
    let (friction, seconds): (f64, f64) = (0.5, 2.0);
    let mut worst: f64 = 0.0;
    for degrees in [15.0f64, 26.0, 27.0, 30.0, 35.0] {
        for eighth in 0..8 {
            let (slope, turn) = (degrees.to_radians(), f64::from(eighth) * std::f64::consts::FRAC_PI_4);
            let mut world = boxes(0.1, &[0.1], friction);
            let down = Vec3::new(turn.cos(), turn.sin(), 0.0);
            world.articulation.gravity = (down * slope.sin() - Vec3::z() * slope.cos()) * G;
            for _ in 0..(seconds / STEP) as usize {
                world.step(STEP);
            }
            let travelled = world.states[0].position - Vec3::z() * 0.1;
            let a = G * (slope.sin() - friction * slope.cos());
            if a < 0.0 {
                assert!(travelled.norm() < 1e-3, "{degrees} at {eighth}: {travelled}");
                continue;
            }
            let wanted = down * (0.5 * a * seconds * seconds);
            let error = (travelled - wanted).norm() / wanted.norm();
            worst = worst.max(error);
            assert!(error < 0.01, "{degrees} at {eighth}: {travelled} instead of {wanted}");
        }
    }
    println!("worst {worst:.1e} of the distance");
}

#[test]
fn stacks_stand_still() {
    for count in [10, 20] {
        let heights: Vec<f64> = (0..count).map(|k| 0.1 + 0.2 * f64::from(k)).collect();
        let mut world = boxes(0.1, &heights, 0.6);
        let started = std::time::Instant::now();
        let mut moved: f64 = 0.0;
        for _ in 0..2400 {
            world.step(STEP);
            for (state, height) in world.states.iter().zip(&heights) {
                moved = moved.max((state.position - Vec3::z() * *height).norm());
            }
        }
        println!(
            "{count} boxes: moved {moved:.1e} m in 10 s, speed {:.1e}, took {:.2} s",
            largest_speed(&world.states),
            started.elapsed().as_secs_f64()
        );
        assert!(moved < 1e-3, "{count} boxes moved {moved} m");
        assert!(world.asleep.iter().all(|asleep| *asleep), "{count} boxes do not sleep");
    }
}

#[test]
fn a_stack_that_sleeps_wakes_when_it_is_hit() {
    let heights: Vec<f64> = (0..6).map(|k| 0.1 + 0.2 * f64::from(k)).collect();
    let mut world = boxes(0.1, &heights, 0.6);
    for _ in 0..480 {
        world.step(STEP);
    }
    assert!(world.asleep.iter().all(|asleep| *asleep));
    // One in the middle is pushed: it moves, and those on it.
    let before = world.states.clone();
    world.states[3].velocity = Vec3::x();
    for _ in 0..240 {
        world.step(STEP);
    }
    let moved = |k: usize| (world.states[k].position - before[k].position).norm();
    // As far as in a stack that never sleeps (7.5 mm); those on it are taken along a little.
    assert!((moved(3) - 0.0075).abs() < 0.001, "{}", moved(3));
    assert!((4..6).all(|k| moved(k) > 5e-5), "{:?}", [4, 5].map(moved));
    // What it stood on is taken away: it falls.
    let mut world = boxes(0.1, &heights, 0.6);
    (0..480).for_each(|_| world.step(STEP));
    world.states[0].position.x = 5.0;
    (0..240).for_each(|_| world.step(STEP));
    assert!((1..6).all(|k| world.states[k].position.z < heights[k] - 0.15));
}

/// A crank of 0.3 m, a coupler of 0.9 m and a rocker of 0.7 m on a base of 1 m, hinged about z; gravity acts along -y.
fn four_bar(motor: &str, seconds: f64) -> Recording {
    let (crank, coupler, rocker, base) = (0.3, 0.9, 0.7, 1.0);
    let a = Vec3::new(0.0, crank, 0.0);
    let b = meeting(&a, coupler, &(Vec3::x() * base), rocker, 1.0);
    let bar = |name: &str, from: &Vec3, to: &Vec3| {
        let (middle, along) = ((from + to) * 0.5, (to - from).y.atan2((to - from).x));
        let (w, z) = ((0.5 * along).cos(), (0.5 * along).sin());
        let length = (to - from).norm();
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1.0\nposition = [{}, {}, 0.0]\nrotation = [{w}, 0.0, 0.0, {z}]\n\
             box = [{length}, 0.05, 0.05]\ncollide = false\n",
            middle.x, middle.y
        )
    };
    let hinge = |name: &str, a: &str, b: &str, at: &Vec3, more: &str| {
        format!(
            "[[constraint]]\nname = \"{name}\"\nkind = \"hinge\"\na = \"{a}\"\nb = \"{b}\"\n\
             anchor = [{}, {}, 0.0]\naxis = [0.0, 0.0, 1.0]\n{more}\n",
            at.x, at.y
        )
    };
    let (o, d) = (Vec3::zeros(), Vec3::x() * base);
    let text = format!(
        "[simulation]\nstep = {STEP}\nduration = {seconds}\noutput_rate = 240.0\n{}{}{}{}{}{}{}",
        bar("crank", &o, &a),
        bar("coupler", &a, &b),
        bar("rocker", &d, &b),
        hinge("base", "world", "crank", &o, motor),
        hinge("pin", "crank", "coupler", &a, ""),
        hinge("joint", "coupler", "rocker", &b, ""),
        hinge("pivot", "world", "rocker", &d, ""),
    );
    simulate(&Scene::parse(&text).unwrap()).unwrap()
}

/// The point at the distance `r` from `p` and `s` from `q` in the plane z = 0, on the side of `sign` of the line p-q.
fn meeting(p: &Vec3, r: f64, q: &Vec3, s: f64, sign: f64) -> Vec3 {
    let apart = (q - p).norm();
    let along = (apart * apart + r * r - s * s) / (2.0 * apart);
    let u = (q - p) / apart;
    p + u * along + Vec3::z().cross(&u) * (sign * (r * r - along * along).sqrt())
}

#[test]
fn a_four_bar_linkage_follows_its_closed_form_and_keeps_its_energy() {
    let driven = four_bar("motor = { speed = 2.0, limit = 100.0 }", 10.0);
    let free = four_bar("", 60.0);
    for (name, recording) in [("driven", &driven), ("free", &free)] {
        let (mut worst, mut round): (f64, f64) = (0.0, 0.0);
        let mut last = recording.frames[0].bodies[0].rotation;
        for frame in &recording.frames {
            let [crank, _, rocker] = &frame.bodies[..] else { panic!("three bodies") };
            let pin = crank.point(&(Vec3::x() * 0.15));
            let closed = meeting(&pin, 0.9, &Vec3::x(), 0.7, 1.0);
            worst = worst.max((rocker.point(&(Vec3::x() * 0.35)) - closed).norm());
            round += last.angle_to(&crank.rotation);
            last = crank.rotation;
        }
        println!("{name}: {worst:.1e} m from the closed form, the crank turned by {round:.2} rad");
        assert!(worst < 1e-6, "{name}: {worst}");
        assert!(recording.largest_constraint_error < 1e-6 && round > 6.0);
    }
    let error = energy_error(&free);
    println!("free: energy changes by {error:.1e} in 60 s");
    assert!(error < 0.01);
}

#[test]
fn loops_have_the_accelerations_of_the_dense_system() {
    // A ring of four balls, and two balls between the same two bodies, against the pseudoinverse of all rows.
    let mut random = super::support::Random::new(12);
    for trial in 0..20 {
        let tree = random.tree(5, &[ConstraintKind::Ball], 0.2, trial % 2 == 0);
        let mut constraints = tree.articulation.constraints().to_vec();
        let ends = if trial % 3 == 0 { (0, 1) } else { (4, 2) };
        let (a, b) = ((Some(ends.0), &tree.states[ends.0]), (Some(ends.1), &tree.states[ends.1]));
        let (at, z) = (random.vector(), Vec3::z());
        constraints.insert(trial % 3, Constraint::in_pose("loop", ConstraintKind::Ball, a, b, &at, &z, &z));
        let bodies = tree.articulation.bodies().to_vec();
        let art = Articulation::new(bodies, constraints, tree.articulation.gravity).unwrap();
        let mut states = tree.states.clone();
        project_velocities(&mut ArticulationSolver::new(&art), &art, &mut states);
        let wanted = solve_note(&art, &states).unwrap().accelerations;
        let found = accelerations(&art, &states);
        let size = wanted.iter().map(|a| a.linear.amax().max(a.angular.amax())).fold(1.0, f64::max);
        for (w, f) in wanted.iter().zip(&found) {
            let error = (w.linear - f.linear).amax().max((w.angular - f.angular).amax()) / size;
            assert!(error < 1e-8, "trial {trial}: {error:.1e}");
        }
    }
}

#[test]
fn a_body_follows_a_clip_within_its_force() {
    let scene = |force: f64| {
        let text = format!(
            "[simulation]\nstep = {STEP}\nduration = 1.0\n[[body]]\nname = \"hand\"\nmass = 2.0\n\
             position = [1.0, 2.0, 0.0]\nsphere = 0.05\n[[target]]\nbody = \"hand\"\nmotion = \"take.bvh\"\n\
             joint = \"LeftHand\"\nforce = {force}\ntorque = 10.0\n"
        );
        let mut scene = Scene::parse(&text).unwrap();
        let pose = |k: usize| {
            let t = k as f64 / 30.0;
            Transform::new(posemill::math::exp(&(Vec3::x() * t)), Vec3::new(0.2 * t, 0.3 * t * t, 0.0))
        };
        scene.targets[0].set_track((0..31).map(pose).collect(), 30.0);
        simulate(&scene).unwrap().last[0]
    };
    // At the end of the clip: moved by (0.2, 0.3, 0), rotated by 1 rad.
    let strong = scene(100.0);
    assert!((strong.position - Vec3::new(1.2, 2.3, 0.0)).norm() < 1e-4, "{}", strong.position);
    assert!((strong.orientation.angle() - 1.0).abs() < 1e-4);
    // Less than its weight: it falls, slowed by the force.
    let weak = scene(0.5 * 2.0 * G);
    assert!((weak.position.y - (2.0 - 0.25 * G)).abs() < 0.02, "{}", weak.position);
}
