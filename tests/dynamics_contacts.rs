//! Contacts: stacks rest, nothing passive gains energy, friction and restitution are Coulomb's and Newton's, and the
//! solver's answer is Dantzig's.

mod dynamics_support;

use dynamics_support::Random;
use posemill::dynamics::*;
use posemill::math::{DMatrix, Quat, Transform, Vec3, exp};

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

    fn add(&mut self, shape: Shape, mass: f64, position: Vec3, turn: Vec3, friction: f64) -> usize {
        let i = self.bodies.len();
        let inertia = match shape {
            Shape::Sphere { radius } => solid::sphere(mass, radius),
            Shape::Capsule { radius, length } => solid::capsule(mass, radius, length),
            Shape::Cuboid { half } => solid::cuboid(mass, &half),
            _ => panic!("no solid"),
        };
        self.bodies.push(Body::new(format!("b{i}"), mass, inertia).unwrap());
        self.states.push(BodyState::at_rest(position, exp(&turn)));
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

/// A weight on a chain of light links, straight, at `angle` from the vertical.
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
    // The fastest sideways mode of the taut links turns 440 rad/s: an explicit pose needs steps below 1/220 s, and
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
    let text = include_str!("../pipelines/ragdoll_drop.toml");
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

#[test]
fn shapes_rest_at_their_heights_on_planes_and_on_each_other() {
    let mut b = Builder::on_floor(0.6, 0.0);
    // A slab carries a ball's worth of each shape.
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
fn box_corners_edges_and_faces_touch_where_they_should() {
    let half = Vec3::repeat(0.1);
    let shape = Shape::Cuboid { half };
    let collider = |i| Collider {
        body: Some(i),
        shape,
        body_from_shape: Transform::identity(),
        friction: 0.5,
        restitution: 0.0,
    };
    let quarter = std::f64::consts::FRAC_PI_4;
    let pair = |at: Vec3, turn: Quat, other: Quat| {
        let mut found = Vec::new();
        let (a, b) = (collider(0), collider(1));
        let (ta, tb) = (Transform::new(turn, at), Transform::from_rotation(other));
        contacts_of_pair((0, (&a, &ta)), (1, (&b, &tb)), 1e-3, &mut found);
        found
    };
    let still = Quat::identity();
    let faces = pair(Vec3::new(0.05, 0.0, 0.199), still, still);
    assert_eq!(faces.len(), 4);
    assert!(faces.iter().all(|c| (c.depth - 0.001).abs() < 1e-12 && (c.normal - Vec3::z()).norm() < 1e-12));
    let xs: f64 = faces.iter().map(|c| c.point.x).fold(f64::INFINITY, f64::min);
    assert!((xs + 0.05).abs() < 1e-12);
    // An edge along y on an edge along x.
    let (a, b) = (exp(&(Vec3::y() * quarter)), exp(&(Vec3::x() * quarter)));
    let reach = 0.1 * 2.0f64.sqrt();
    let edges = pair(Vec3::new(0.02, 0.01, 2.0 * reach - 0.001), a, b);
    assert_eq!(edges.len(), 1);
    assert!((edges[0].depth - 0.001).abs() < 1e-9 && (edges[0].normal - Vec3::z()).norm() < 1e-9);
    assert!((edges[0].point - Vec3::new(0.02, 0.0, reach - 0.0005)).norm() < 1e-9);
    // Apart by more than the margin.
    assert!(pair(Vec3::new(0.0, 0.0, 0.2011), still, still).is_empty());
    // The normal always points from the second to the first.
    assert!((pair(Vec3::new(0.0, 0.0, -0.199), still, still)[0].normal + Vec3::z()).norm() < 1e-12);
}

#[test]
fn swapping_a_pair_mirrors_its_contacts() {
    let mut random = Random::new(8);
    let shapes = [
        Shape::Sphere { radius: 0.1 },
        Shape::Capsule { radius: 0.07, length: 0.2 },
        Shape::Cuboid { half: Vec3::new(0.1, 0.07, 0.12) },
        Shape::Plane,
    ];
    let mut touching = 0;
    for _ in 0..300 {
        let place = |r: &mut Random| Transform::new(r.rotation(), r.vector() * 0.1);
        let (i, j) = (random.below(4), random.below(4));
        let collider = |shape| Collider {
            body: None,
            shape,
            body_from_shape: Transform::identity(),
            friction: 0.5,
            restitution: 0.0,
        };
        let (a, b) = (collider(shapes[i]), collider(shapes[j]));
        let (ta, tb) = (place(&mut random), place(&mut random));
        let (mut one, mut two) = (Vec::new(), Vec::new());
        contacts_of_pair((0, (&a, &ta)), (1, (&b, &tb)), 1e-3, &mut one);
        contacts_of_pair((1, (&b, &tb)), (0, (&a, &ta)), 1e-3, &mut two);
        assert_eq!(one.len(), two.len(), "{i} {j}");
        for c in &one {
            touching += 1;
            assert!((c.normal.norm() - 1.0).abs() < 1e-9 && c.depth > -1e-3);
            let mirrored = |d: &Contact| {
                (d.normal + c.normal).norm() < 1e-6 && (d.point - c.point).norm() < 1e-3 + c.depth.abs()
            };
            assert!(two.iter().any(mirrored), "{i} {j}: {c:?} in {two:?}");
        }
    }
    assert!(touching > 100);
}

/// A random symmetric positive definite problem with boxes around zero.
fn problem(random: &mut Random, n: usize) -> (DMatrix<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let m = DMatrix::from_fn(n, n, |_, _| 2.0 * random.unit() - 1.0);
    let a = &m * m.transpose() + DMatrix::identity(n, n) * 0.1;
    let b = (0..n).map(|_| 4.0 * random.unit() - 2.0).collect();
    let low = (0..n).map(|i| if i % 3 == 0 { f64::NEG_INFINITY } else { -random.unit() }).collect();
    let high = (0..n).map(|i| if i % 4 == 0 { f64::INFINITY } else { random.unit() }).collect();
    (a, b, low, high)
}

#[test]
fn gauss_seidel_with_polish_finds_dantzigs_answer() {
    let mut random = Random::new(6);
    let mut at_bound = 0;
    for trial in 0..200 {
        let n = 1 + trial % 25;
        let (a, b, low, high) = problem(&mut random, n);
        let wanted = dantzig(&a, &b, &low, &high).unwrap_or_else(|| panic!("problem {trial} of {n}"));
        let sparse = BoxedProblem {
            rows: (0..n).map(|i| (0..n).map(|j| (j, a[(i, j)])).collect()).collect(),
            b: b.clone(),
            bounds: low.iter().zip(&high).map(|(l, h)| Bound::Box { low: *l, high: *h }).collect(),
        };
        let mut x = vec![0.0; n];
        let polished = sparse.solve(&mut x, 400);
        assert!(polished, "problem {trial} of {n}");
        for i in 0..n {
            assert!((x[i] - wanted[i]).abs() < 1e-9, "problem {trial} of {n}: {} {}", x[i], wanted[i]);
            let w = sparse.residual(i, &x);
            let inside = x[i] > low[i] + 1e-9 && x[i] < high[i] - 1e-9;
            at_bound += usize::from(!inside);
            assert!(if inside {
                w.abs() < 1e-9
            } else if x[i] <= low[i] + 1e-9 {
                w > -1e-9
            } else {
                w < 1e-9
            });
        }
    }
    assert!(at_bound > 200);
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
        let bent = world.states.iter().map(angle).fold(0.0, f64::max);
        println!("stiffness {stiffness}: bent by {bent:.1e} rad");
        assert!(world.states.iter().all(BodyState::is_finite));
        assert!(largest_speed(&world.states) < 0.05);
        // Static: the first spring carries 6 x 0.5 kg at 0.6 m: 17.7 N m.
        assert!(bent < 17.66 / stiffness * 3.5 + 1e-9, "{bent}");
    }
}

#[test]
fn sweeps_alone_find_the_friction_of_a_sliding_point() {
    // One point of unit mass with a normal load of 2, pushed sideways by (3, 4) against a coefficient of 0.5.
    let rows = || (0..3).map(|i| vec![(i, 1.0)]).collect();
    let sliding = |partner: fn(usize) -> Option<usize>| {
        let tangent = |k| Bound::Friction { normal: 0, coefficient: 0.5, partner: partner(k) };
        let bounds = vec![Bound::Box { low: 0.0, high: f64::INFINITY }, tangent(1), tangent(2)];
        let problem = BoxedProblem { rows: rows(), b: vec![-2.0, 3.0, 4.0], bounds };
        let mut x = vec![0.0; 3];
        problem.gauss_seidel(&mut x, 100, 1e-12);
        x
    };
    let close = |x: Vec<f64>, wanted: [f64; 3]| x.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(close(sliding(|_| None), [2.0, -1.0, -1.0]));
    assert!(close(sliding(|k| Some(3 - k)), [2.0, -0.6, -0.8]));
}

#[test]
fn parallel_capsules_touch_at_both_ends_of_their_overlap() {
    let shape = Shape::Capsule { radius: 0.1, length: 1.0 };
    let collider = |body| Collider {
        body: Some(body),
        shape,
        body_from_shape: Transform::identity(),
        friction: 0.5,
        restitution: 0.0,
    };
    let (a, b) = (collider(0), collider(1));
    let mut found = Vec::new();
    let raised = Transform::from_translation(Vec3::new(0.199, 0.0, 0.4));
    contacts_of_pair((0, (&a, &raised)), (1, (&b, &Transform::identity())), 1e-3, &mut found);
    let heights: Vec<f64> = found.iter().map(|c| c.point.z).collect();
    assert!(heights.len() == 2 && (heights[0] + 0.1).abs() < 1e-12 && (heights[1] - 0.5).abs() < 1e-12);
    assert!(found.iter().all(|c| (c.depth - 0.001).abs() < 1e-12 && (c.normal - Vec3::x()).norm() < 1e-12));
}
