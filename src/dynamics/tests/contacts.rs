//! Contacts: stacks rest, nothing passive gains energy, friction and restitution are Coulomb's and Newton's.

use super::support::{Random, largest_speed};
use crate::dynamics::drive::{CoordinateLimit, Motor, Spring};
use crate::dynamics::shape::Collider;
use posemill::dynamics::*;
use posemill::math::{Quat, Transform, Vec3, exp};

const G: f64 = 9.81;

fn floor(friction: f64, restitution: f64) -> Collider {
    // z up, so that the plane's own axes are the world's.
    Collider {
        body: None,
        shape: Shape::Plane,
        body_from_shape: Transform::identity(),
        friction,
        restitution,
    }
}

struct Builder {
    bodies: Vec<Body>,
    states: Vec<BodyState>,
    colliders: Vec<Collider>,
}

impl Builder {
    fn on_floor(friction: f64, restitution: f64) -> Self {
        Self { bodies: vec![], states: vec![], colliders: vec![floor(friction, restitution)] }
    }

    fn add(&mut self, shape: Shape, mass: f64, position: Vec3, rotation: Vec3, friction: f64) -> usize {
        let i = self.bodies.len();
        let inertia = match shape {
            Shape::Sphere { radius } => solid::sphere(mass, radius),
            Shape::Capsule { radius, length } => solid::capsule(mass, radius, length),
            Shape::Cuboid { half } => solid::cuboid(mass, &half),
            _ => panic!("no solid"),
        };
        self.bodies.push(Body::new(format!("b{i}"), mass, inertia).unwrap());
        self.states.push(BodyState::at_rest(position, exp(&rotation)));
        let restitution = self.colliders[0].restitution;
        let body_from_shape = Transform::identity();
        self.colliders.push(Collider { body: Some(i), shape, body_from_shape, friction, restitution });
        i
    }

    fn world(self, constraints: Vec<Constraint>, settings: WorldSettings) -> World {
        let art = Articulation::new(self.bodies, constraints, Vec3::new(0.0, 0.0, -G)).unwrap();
        World::new(art, self.states, self.colliders, settings)
    }
}

fn cube(half: f64) -> Shape {
    Shape::Cuboid { half: Vec3::repeat(half) }
}

fn run(world: &mut World, seconds: f64, h: f64) {
    for _ in 0..(seconds / h).round() as usize {
        world.step(h);
    }
}

#[test]
fn a_pyramid_of_ten_boxes_comes_to_rest_and_stays() {
    let mut b = Builder::on_floor(0.6, 0.0);
    for row in 0..4 {
        for k in 0..4 - row {
            let x = (k as f64 - (3 - row) as f64 / 2.0) * 0.21;
            // Two millimetres of fall each.
            b.add(cube(0.1), 1.0, Vec3::new(x, 0.0, 0.1 + 0.202 * row as f64 + 0.002), Vec3::zeros(), 0.6);
        }
    }
    let mut world = b.world(vec![], WorldSettings::default());
    let h = 1.0 / 240.0;
    run(&mut world, 2.0, h);
    let settled = world.states.clone();
    let speed = largest_speed(&world.states);
    run(&mut world, 3.0, h);
    let moved =
        settled.iter().zip(&world.states).map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
    println!("speed {speed:.1e} after 2 s, moved {moved:.1e} in 3 s");
    assert!(speed < 1e-3 && moved < 1e-3);
    for (i, row) in [0, 0, 0, 0, 1, 1, 1, 2, 2, 3].into_iter().enumerate() {
        assert!((world.states[i].position.z - (0.1 + 0.2 * f64::from(row))).abs() < 2e-3);
    }
}

#[test]
fn a_box_a_thousand_times_as_heavy_rests_on_a_light_one() {
    let mut b = Builder::on_floor(0.6, 0.0);
    b.add(cube(0.1), 0.1, Vec3::new(0.0, 0.0, 0.1), Vec3::zeros(), 0.6);
    b.add(cube(0.1), 100.0, Vec3::new(0.0, 0.0, 0.301), Vec3::zeros(), 0.6);
    let mut world = b.world(vec![], WorldSettings::default());
    run(&mut world, 4.0, 1.0 / 240.0);
    assert!((world.states[1].position.z - 0.3).abs() < 3e-3, "{}", world.states[1].position.z);
    assert!(largest_speed(&world.states) < 1e-3);
}

fn weight_on_a_chain(angle: f64) -> World {
    let mut b = Builder::on_floor(0.6, 0.0);
    let (top, down) = (Vec3::new(0.0, 0.0, 3.0), Vec3::new(angle.sin(), 0.0, -angle.cos()));
    let mut constraints = Vec::new();
    let mut above: (Option<usize>, BodyState) = (None, BodyState::at_rest(Vec3::zeros(), Quat::identity()));
    for k in 0..6 {
        let mass = if k == 5 { 100.0 } else { 0.1 };
        let anchor = top + down * (0.2 * f64::from(k));
        let i = b.add(Shape::Sphere { radius: 0.03 }, mass, anchor + down * 0.1, Vec3::zeros(), 0.5);
        let here = (Some(i), b.states[i]);
        let kind = ConstraintKind::Ball;
        let sides = ((above.0, &above.1), (here.0, &here.1));
        let (name, z) = (format!("c{k}"), Vec3::y());
        constraints.push(Constraint::in_pose(name, kind, sides.0, sides.1, &anchor, &z, &z));
        above = here;
    }
    b.world(constraints, WorldSettings::default())
}

#[test]
fn a_weight_a_thousand_times_as_heavy_swings_on_a_chain_of_light_links() {
    // The fastest sideways mode of the taut links has 440 rad/s: an explicit pose needs steps below 1/220 s, and
    // a millisecond is comfortably inside. At 1/240 s the links flutter, but stay linked and gain nothing.
    for (angle, h, steps, fine) in [(0.5, 1e-3, 3000, true), (1.5, 1.0 / 240.0, 1200, false)] {
        let mut world = weight_on_a_chain(angle);
        let start = world.energy();
        let (mut highest, mut gap): (f64, f64) = (f64::NEG_INFINITY, 0.0);
        for _ in 0..steps {
            world.step(h);
            highest = highest.max(world.energy());
            gap = gap.max(world.articulation.constraint_error(&world.states));
        }
        println!(
            "h {h:.4}: energy {start:.3}, at most {highest:.3}, at last {:.3}; gap {gap:.1e}",
            world.energy()
        );
        assert!(highest < start + 1e-4 * start.abs());
        assert!(!fine || world.energy() > 0.98 * start);
        assert!(gap < 1e-6);
    }
}

#[test]
fn a_passive_scene_never_gains_energy() {
    let mut random = Random::new(4);
    for cone in [false, true] {
        let mut b = Builder::on_floor(0.5, 0.0);
        for k in 0..8 {
            let shape = match k % 3 {
                0 => Shape::Sphere { radius: 0.08 },
                1 => Shape::Capsule { radius: 0.05, length: 0.16 },
                _ => Shape::Cuboid { half: Vec3::new(0.06, 0.08, 0.11) },
            };
            let at = random.vector() * 0.12 + Vec3::new(0.0, 0.0, 0.3 + 0.26 * f64::from(k));
            let i = b.add(shape, 0.3 + random.unit(), at, random.vector() * 2.0, 0.6);
            b.states[i].velocity = random.vector();
            b.states[i].angular_velocity = random.vector() * 5.0;
        }
        let settings = WorldSettings { erp: 0.0, cone, ..Default::default() };
        let mut world = b.world(vec![], settings);
        let mut energy = world.energy();
        let mut worst = f64::NEG_INFINITY;
        let mut touched = 0;
        for _ in 0..480 {
            world.step(1.0 / 240.0);
            let now = world.energy();
            worst = worst.max(now - energy);
            energy = now;
            touched = touched.max(world.contacts().len());
        }
        println!("cone {cone}: largest gain of a step {worst:.1e} J, {touched} contacts");
        assert!(worst < 1e-9 && touched > 10);
    }
}

#[test]
fn a_passive_ragdoll_never_gains_energy() {
    let text = include_str!("../../../pipelines/ragdoll_drop.toml");
    let mut gains = Vec::new();
    for (cone, friction) in [(false, 0.0), (true, 0.05)] {
        let mut world = Scene::parse(text).unwrap().world;
        world.settings = WorldSettings { erp: 0.0, cone, ..world.settings };
        // Springs hold energy that `energy` does not count.
        world.springs.clear();
        let joints = world.articulation.constraints().to_vec();
        let damped = joints.into_iter().map(|c| Constraint { friction, ..c }).collect();
        let bodies = world.articulation.bodies().to_vec();
        world.articulation = Articulation::new(bodies, damped, world.articulation.gravity).unwrap();
        let (mut energy, mut worst, mut touched) = (world.energy(), f64::NEG_INFINITY, 0);
        let start = energy;
        for _ in 0..480 {
            world.step(1.0 / 240.0);
            let now = world.energy();
            (worst, energy) = (worst.max(now - energy), now);
            touched = touched.max(world.contacts().len());
        }
        println!("cone {cone}: largest gain of a step {worst:.1e} J of {start:.0}, {touched} contacts");
        assert!(touched > 20);
        gains.push(worst);
    }
    assert!(gains.iter().all(|g| *g < 1e-9), "{gains:?}");
}

#[test]
fn a_box_on_a_slope_sticks_below_the_friction_angle_and_slides_above() {
    for (angle, friction) in [(0.3f64, 0.4f64), (0.5, 0.4)] {
        for cone in [false, true] {
            let mut b = Builder::on_floor(friction, 0.0);
            b.add(cube(0.1), 1.0, Vec3::new(0.0, 0.0, 0.1), Vec3::zeros(), friction);
            let mut world = b.world(vec![], WorldSettings { cone, ..Default::default() });
            // Along the tangent axis of the pyramid, where it equals the cone.
            world.articulation.gravity = Vec3::new(0.0, angle.sin(), -angle.cos()) * G;
            run(&mut world, 1.0, 1.0 / 240.0);
            let travelled = world.states[0].position.y;
            let a = G * (angle.sin() - friction * angle.cos());
            if angle.tan() < friction {
                assert!(travelled.abs() < 1e-3, "{travelled}");
            } else {
                assert!((travelled - 0.5 * a).abs() < 0.02 * 0.5 * a, "{travelled} instead of {}", 0.5 * a);
            }
        }
    }
}

#[test]
fn a_ball_bounces_with_its_restitution() {
    let mut b = Builder::on_floor(0.0, 0.6);
    b.add(Shape::Sphere { radius: 0.1 }, 1.0, Vec3::new(0.0, 0.0, 1.1), Vec3::zeros(), 0.0);
    let mut world = b.world(vec![], WorldSettings::default());
    let (mut fallen, mut top): (bool, f64) = (false, 0.0);
    for _ in 0..1000 {
        world.step(1.0 / 1000.0);
        fallen |= world.states[0].velocity.z > 0.1;
        if fallen {
            top = top.max(world.states[0].position.z - 0.1);
        }
    }
    assert!((top - 0.36).abs() < 0.01, "{top}");
}

/// What bounces without loss keeps its energy, at any step: it comes back to where it fell from, and no higher.
#[test]
fn a_bounce_without_loss_neither_gains_energy_nor_loses_height() {
    for step in [60.0, 240.0, 1000.0] {
        let mut b = Builder::on_floor(0.0, 1.0);
        b.add(Shape::Sphere { radius: 0.1 }, 1.0, Vec3::new(0.0, 0.0, 1.0), Vec3::zeros(), 0.0);
        let mut world = b.world(vec![], WorldSettings::default());
        let (start, mut last_top) = (world.energy(), 0.0f64);
        for k in 0..(30.0 * step) as usize {
            world.step(1.0 / step);
            assert!(world.energy() <= start * (1.0 + 1e-9), "{} J at step {k} of 1/{step} s", world.energy());
            last_top = if k as f64 > 28.0 * step { last_top.max(world.states[0].position.z) } else { 0.0 };
        }
        println!("1/{step} s: {start} J to {} J, {last_top} m", world.energy());
        // Of two frames, one is within half a step of the top: there it has fallen by g/8 step^2.
        assert!((last_top - 1.0).abs() < 1e-4 + G / 8.0 / (step * step), "{last_top} m at 1/{step} s");
    }
}

/// The same of boxes that tumble, alone and onto each other, with friction and with restitution of any size.
#[test]
fn boxes_that_bounce_never_gain_energy() {
    for step in [60.0, 240.0, 1000.0] {
        for (friction, restitution) in [(0.0, 1.0), (0.5, 1.0), (0.5, 0.5)] {
            let mut b = Builder::on_floor(friction, restitution);
            b.add(cube(0.1), 1.0, Vec3::new(0.0, 0.0, 0.6), Vec3::new(0.3, 0.5, 0.1), friction);
            b.add(cube(0.1), 2.0, Vec3::new(0.05, 0.0, 1.1), Vec3::new(0.9, 0.2, 0.4), friction);
            let mut world = b.world(vec![], WorldSettings::default());
            let (start, mut last) = (world.energy(), world.energy());
            for k in 0..(5.0 * step) as usize {
                world.step(1.0 / step);
                let now = world.energy();
                assert!(
                    now <= last + 1e-6 * start,
                    "{last} to {now} J at step {k} of 1/{step} s, {restitution}"
                );
                last = now;
            }
        }
    }
}

#[test]
fn shapes_rest_at_their_heights_on_planes_and_on_each_other() {
    let mut b = Builder::on_floor(0.6, 0.0);
    // A slab with one of each shape on it.
    b.add(
        Shape::Cuboid { half: Vec3::new(1.0, 1.0, 0.05) },
        5.0,
        Vec3::new(0.0, 0.0, 0.05),
        Vec3::zeros(),
        0.6,
    );
    b.add(Shape::Sphere { radius: 0.1 }, 1.0, Vec3::new(0.5, 0.0, 0.21), Vec3::zeros(), 0.6);
    let lying = Vec3::new(0.0, std::f64::consts::FRAC_PI_2, 0.0);
    let capsule = Shape::Capsule { radius: 0.08, length: 0.3 };
    b.add(capsule, 1.0, Vec3::new(-0.5, 0.0, 0.19), lying, 0.6);
    b.add(capsule, 1.0, Vec3::new(-0.5, 0.0, 0.36), lying, 0.6);
    b.add(cube(0.1), 1.0, Vec3::new(0.0, 0.5, 0.21), Vec3::new(0.0, 0.0, 0.4), 0.6);
    b.add(capsule, 1.0, Vec3::new(3.0, 0.0, 0.1), lying, 0.6);
    let mut world = b.world(vec![], WorldSettings::default());
    run(&mut world, 1.0, 1.0 / 240.0);
    let wanted = [0.05, 0.2, 0.18, 0.34, 0.2, 0.08];
    for (i, z) in wanted.into_iter().enumerate() {
        let found = world.states[i].position.z;
        assert!((found - z).abs() < 2e-3, "body {i} at {found} instead of {z}");
    }
}

#[test]
fn a_motor_holds_within_its_limit_and_yields_beyond() {
    let arm = |limit: f64| {
        let mut b = Builder::on_floor(0.5, 0.0);
        let i = b.add(Shape::Sphere { radius: 0.05 }, 2.0, Vec3::new(0.5, 0.0, 1.0), Vec3::zeros(), 0.5);
        let world_state = BodyState::at_rest(Vec3::zeros(), Quat::identity());
        let state = b.states[i];
        let hinge = Constraint::in_pose(
            "arm",
            ConstraintKind::Hinge,
            (None, &world_state),
            (Some(i), &state),
            &Vec3::new(0.0, 0.0, 1.0),
            &Vec3::y(),
            &Vec3::y(),
        );
        let mut world = b.world(vec![hinge], WorldSettings::default());
        world.motors.push(Motor { constraint: 0, speed: 0.0, limit });
        run(&mut world, 0.2, 1.0 / 240.0);
        world.articulation.constraints()[0].coordinate(&world.states)
    };
    // The weight asks for m g l = 9.81 N m.
    assert!(arm(9.9).abs() < 1e-6);
    assert!(arm(9.7) > 1e-4);
}

#[test]
fn a_limit_stops_a_hinge_without_bouncing() {
    let mut b = Builder::on_floor(0.5, 0.0);
    let i = b.add(Shape::Sphere { radius: 0.05 }, 2.0, Vec3::new(0.5, 0.0, 1.0), Vec3::zeros(), 0.5);
    let world_state = BodyState::at_rest(Vec3::zeros(), Quat::identity());
    let state = b.states[i];
    let sides = ((Some(i), &state), (None, &world_state));
    // Body on side `a`: the signs of the rows must follow.
    let hinge = Constraint::in_pose(
        "arm",
        ConstraintKind::Hinge,
        sides.0,
        sides.1,
        &Vec3::new(0.0, 0.0, 1.0),
        &Vec3::y(),
        &Vec3::y(),
    );
    let mut world = b.world(vec![hinge], WorldSettings::default());
    world.limits.push(CoordinateLimit { constraint: 0, low: -0.4, high: 0.4 });
    let mut beyond: f64 = 0.0;
    for _ in 0..480 {
        world.step(1.0 / 240.0);
        let at = world.articulation.constraints()[0].coordinate(&world.states);
        beyond = beyond.max(at.abs() - 0.4);
    }
    let at = world.articulation.constraints()[0].coordinate(&world.states);
    assert!((at.abs() - 0.4).abs() < 1e-3 && beyond < 1e-3, "{at} {beyond}");
    assert!(largest_speed(&world.states) < 1e-6);
}

#[test]
fn stiff_springs_hold_a_hanging_chain_at_any_stiffness() {
    for stiffness in [50.0, 1e3, 1e6] {
        let mut b = Builder::on_floor(0.5, 0.0);
        let mut constraints = Vec::new();
        let mut above: (Option<usize>, BodyState) =
            (None, BodyState::at_rest(Vec3::zeros(), Quat::identity()));
        for k in 0..6 {
            let anchor = Vec3::new(0.2 * f64::from(k), 0.0, 3.0);
            let i = b.add(Shape::Sphere { radius: 0.03 }, 0.5, anchor + Vec3::x() * 0.1, Vec3::zeros(), 0.5);
            let here = (Some(i), b.states[i]);
            let kind = ConstraintKind::Ball;
            let sides = ((above.0, &above.1), (here.0, &here.1));
            constraints.push(Constraint::in_pose(
                format!("c{k}"),
                kind,
                sides.0,
                sides.1,
                &anchor,
                &Vec3::y(),
                &Vec3::y(),
            ));
            above = here;
        }
        let n = constraints.len();
        let mut world = b.world(constraints, WorldSettings::default());
        for constraint in 0..n {
            let damping = 0.2 * stiffness;
            world.springs.push(Spring { constraint, stiffness, damping, target: 0.0, rate: 0.0 });
        }
        run(&mut world, 6.0, 1.0 / 60.0);
        let angle = |s: &BodyState| s.orientation.angle();
        let deflection = world.states.iter().map(angle).fold(0.0, f64::max);
        println!("stiffness {stiffness}: deflection {deflection:.1e} rad");
        assert!(world.states.iter().all(BodyState::is_finite));
        assert!(largest_speed(&world.states) < 0.05);
        // Static: the first spring holds 6 x 0.5 kg at 0.6 m: 17.7 N m.
        assert!(deflection < 17.66 / stiffness * 3.5 + 1e-9, "{deflection}");
    }
}

#[test]
fn a_point_of_two_bodies_rests_where_their_mean_does() {
    let body = |name: &str| Body::new(name, 1.0, solid::sphere(1.0, 0.1)).unwrap();
    let gravity = Vec3::y() * -9.81;
    let articulation = Articulation::new(vec![body("a"), body("b")], Vec::new(), gravity).unwrap();
    let states = [0.0, 1.0].map(|x| BodyState::at_rest(Vec3::x() * x, Quat::identity()));
    let mut world = World::new(articulation, states.to_vec(), Vec::new(), WorldSettings::default());
    let bodies = vec![(0, 0.25, states[0].position), (1, 0.75, states[1].position)];
    world.supports = vec![Support { id: 0, bodies, normal: Vec3::y(), depth: 0.0, friction: 0.0 }];
    let h = 1e-3;
    world.step(h);
    // 0.25 (0.25 f - g) + 0.75 (0.75 f - g) = 0 with f = 1.6 g: one falls with 0.6 g, the other rises with 0.2 g.
    let [a, b] = [0, 1].map(|k| world.states[k].velocity.y / (9.81 * h));
    assert!((a + 0.6).abs() < 1e-4 && (b - 0.2).abs() < 1e-4, "{a} {b}");
}

#[test]
fn a_passive_world_gains_nothing_from_what_is_pushed_out_of_the_ground() {
    let step = |passive: bool| {
        let body = Body::new("ball", 1.0, solid::sphere(1.0, 0.1)).unwrap();
        let articulation = Articulation::new(vec![body], Vec::new(), Vec3::y() * -9.81).unwrap();
        let mut state = BodyState::at_rest(Vec3::zeros(), Quat::identity());
        state.velocity = Vec3::x();
        let settings = WorldSettings { passive, ..WorldSettings::default() };
        let mut world = World::new(articulation, vec![state], Vec::new(), settings);
        let bodies = vec![(0, 1.0, Vec3::zeros())];
        world.supports = vec![Support { id: 0, bodies, normal: Vec3::y(), depth: 0.05, friction: 0.0 }];
        let before = world.energy();
        world.step(1e-2);
        world.energy() - before
    };
    assert!(step(false) > 0.1, "it is pushed out at 1 m/s");
    let gain = step(true);
    assert!(gain.abs() < 1e-12, "{gain}");
}
