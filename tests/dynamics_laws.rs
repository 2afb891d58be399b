//! What motion must keep: both O(n) forms equal the note, conservation, orders, power balance, indifference to labels.

mod dynamics_support;

use dynamics_support::*;
use posemill::dynamics::*;
use posemill::math::{Quat, Vec3, exp};

const NOTE_KINDS: &[ConstraintKind] = &[ConstraintKind::Hinge, ConstraintKind::Ball];
const ALL_KINDS: &[ConstraintKind] = &[
    ConstraintKind::Universal,
    ConstraintKind::Hinge,
    ConstraintKind::Slider,
    ConstraintKind::Ball,
    ConstraintKind::Fixed,
];

fn accelerations_differ(a: &[BodyAcceleration], b: &[BodyAcceleration]) -> f64 {
    let scale = b.iter().map(|x| x.linear.amax().max(x.angular.amax())).fold(1e-12, f64::max);
    let each = |(a, b): (&BodyAcceleration, &BodyAcceleration)| {
        (a.linear - b.linear).amax().max((a.angular - b.angular).amax())
    };
    a.iter().zip(b).map(each).fold(0.0, f64::max) / scale
}

#[test]
fn both_linear_forms_equal_the_pseudoinverse_on_random_trees() {
    let mut random = Random::new(1);
    let mut worst_seen = [0.0f64; 3];
    for trial in 0..200 {
        let n = 2 + trial % 14;
        let tree = random.tree(n, NOTE_KINDS, 0.3, trial % 3 == 2);
        let forces = tree.articulation.applied_forces(&tree.states);
        let note = solve_note(&tree.articulation, &tree.states).unwrap();
        let rows: usize = tree.articulation.constraints().iter().map(|c| c.kind.rows()).sum();
        assert_eq!(note.rank, rows);
        let mut solver = Solver::new(&tree.articulation);
        let mut kernel = Vec::new();
        solver.accelerations(&tree.articulation, &tree.states, &forces, &mut kernel);
        let blocks = solve_blocks(&tree.articulation, &tree.states, &forces, None).motions;
        let (c, d) = solver.constraint_forces(&tree.articulation);
        let scale = note.c.iter().chain(&note.d).map(|v| v.amax()).fold(1e-12, f64::max);
        let joint = worst(&c, &note.c).max(worst(&d, &note.d)) / scale;
        let errors = [
            accelerations_differ(&kernel, &note.accelerations),
            accelerations_differ(&blocks, &note.accelerations),
            joint,
        ];
        for (seen, error) in worst_seen.iter_mut().zip(errors) {
            *seen = seen.max(error);
            assert!(error < 1e-10, "tree {trial} of {n} bodies: {errors:?}");
        }
    }
    println!(
        "worst of 200 trees: kernel {:.1e}, blocks {:.1e}, (c, d) {:.1e}",
        worst_seen[0], worst_seen[1], worst_seen[2]
    );
}

#[test]
fn the_two_linear_forms_agree_on_every_kind_and_on_pinned_trees() {
    let mut random = Random::new(2);
    for trial in 0..100 {
        let tree = random.tree(2 + trial % 12, ALL_KINDS, 0.3, trial % 2 == 1);
        let forces = tree.articulation.applied_forces(&tree.states);
        let kernel = accelerations(&tree.articulation, &tree.states);
        let blocks = solve_blocks(&tree.articulation, &tree.states, &forces, None).motions;
        let error = accelerations_differ(&kernel, &blocks);
        assert!(error < 1e-10, "tree {trial}: {error:.1e}");
    }
}

#[test]
fn a_constraint_with_compliance_yields_in_proportion() {
    // One body pinned by a ball at its centre: J u' + C lambda = 0 with J = 1 gives lambda = -g / (1/m + C).
    let (m, g, compliance) = (2.0, 9.81, 0.7);
    let body = Body::new("b", m, solid::sphere(m, 0.1)).unwrap();
    let state = BodyState::at_rest(Vec3::zeros(), Quat::identity());
    let pin = Constraint::in_pose(
        "pin",
        ConstraintKind::Ball,
        (None, &state),
        (Some(0), &state),
        &Vec3::zeros(),
        &Vec3::z(),
        &Vec3::z(),
    );
    let art = Articulation::new(vec![body], vec![pin], Vec3::new(0.0, -g, 0.0)).unwrap();
    let forces = art.applied_forces(&[state]);
    let c = [posemill::math::DMatrix::identity(3, 3) * compliance];
    let soft = solve_blocks(&art, &[state], &forces, Some(&c));
    let wanted = -g * compliance / (1.0 / m + compliance);
    assert!((soft.motions[0].linear.y - wanted).abs() < 1e-12, "{}", soft.motions[0].linear.y);
    assert!(solve_blocks(&art, &[state], &forces, None).motions[0].linear.norm() < 1e-12);
}

#[test]
fn an_axis_slightly_off_changes_the_linear_forms_slightly_and_the_note_wildly() {
    // H3, H4: off the constraints the pseudoinverse meets a nearly singular equation.
    let mut random = Random::new(5);
    let mut jumped = false;
    for _ in 0..10 {
        let mut tree = random.tree(3, &[ConstraintKind::Hinge], 0.0, false);
        let before = accelerations(&tree.articulation, &tree.states);
        let c = &tree.articulation.constraints()[0];
        let (b, axis) = (c.b.unwrap(), c.axis_b.cross(&Vec3::new(0.3, 0.2, 0.9)).normalize());
        let eps = 1e-5;
        tree.states[b].orientation *= exp(&(axis * eps));
        let after = accelerations(&tree.articulation, &tree.states);
        let forces = tree.articulation.applied_forces(&tree.states);
        let blocks = solve_blocks(&tree.articulation, &tree.states, &forces, None).motions;
        assert!(accelerations_differ(&after, &before) < 100.0 * eps);
        assert!(accelerations_differ(&blocks, &before) < 100.0 * eps);
        let note = solve_note(&tree.articulation, &tree.states).unwrap();
        jumped |= accelerations_differ(&note.accelerations, &before) > 0.05;
    }
    assert!(jumped, "the pseudoinverse was expected to jump");
}

/// The passive chain of the bench: straight along x, fixed joint rates.
fn chain(n: usize, kind: ConstraintKind) -> Tree {
    let (length, mass, radius) = (0.3, 1.0, 0.04);
    let across = mass * (length * length / 12.0 + radius * radius / 4.0);
    let inertia =
        posemill::math::Mat3::from_diagonal(&Vec3::new(mass * radius * radius / 2.0, across, across));
    let bodies = (0..=n).map(|i| Body::new(format!("b{i}"), mass, inertia).unwrap()).collect();
    let at = |i: usize| BodyState::at_rest(Vec3::new(length * (i as f64 + 0.5), 0.0, 0.0), Quat::identity());
    let mut states: Vec<BodyState> = (0..=n).map(at).collect();
    let half = Vec3::new(length / 2.0, 0.0, 0.0);
    let mut constraints = Vec::new();
    for i in 1..=n {
        let f = i as f64;
        let hinge = kind == ConstraintKind::Hinge;
        let axis = if i % 2 == 1 { Vec3::z() } else { Vec3::y() };
        let rate = if hinge {
            axis * (0.5 * (f + 1.0).sin())
        } else {
            Vec3::new((f + 1.0).sin(), (2.0 * f).cos(), (3.0 * f).sin()) * 0.5
        };
        let (before, w) = (states[i - 1], states[i - 1].angular_velocity + rate);
        states[i].angular_velocity = w;
        states[i].velocity = before.velocity + before.angular_velocity.cross(&half) + w.cross(&half);
        let anchor = Vec3::new(length * f, 0.0, 0.0);
        constraints.push(Constraint::in_pose(
            format!("c{i}"),
            kind,
            (Some(i - 1), &states[i - 1]),
            (Some(i), &states[i]),
            &anchor,
            &axis,
            &axis,
        ));
    }
    Tree { articulation: Articulation::new(bodies, constraints, Vec3::zeros()).unwrap(), states }
}

/// How far the accelerations are from the equations of motion: momentum balance of every sub-chain cut off at a
/// joint, constraint rows included, relative to the largest term.
fn residual(tree: &Tree) -> f64 {
    let (art, states) = (&tree.articulation, &tree.states);
    let a = accelerations(art, states);
    let anchor = |i: usize, k: &Constraint, b: bool| {
        let (s, l) = (&states[i], if b { &k.anchor_b } else { &k.anchor_a });
        let w = s.angular_velocity;
        let turned = a[i].angular.cross(l) + w.cross(&w.cross(l));
        a[i].linear + s.orientation * turned
    };
    let mut worst: f64 = 0.0;
    let mut scale: f64 = 1e-9;
    for x in &a {
        scale = scale.max(x.linear.amax()).max(x.angular.amax());
    }
    // Rows of the constraints.
    for c in art.constraints() {
        let gap = anchor(c.a.unwrap(), c, false) - anchor(c.b.unwrap(), c, true);
        worst = worst.max(gap.amax());
    }
    // The outer part beyond every joint is moved by a force at the joint, without a torque along its freedoms.
    let mut force = Vec3::zeros();
    let mut moment = Vec3::zeros();
    let mut about = Vec3::zeros();
    for i in (0..states.len()).rev() {
        let (b, s) = (&art.bodies()[i], &states[i]);
        let w = s.angular_velocity;
        let inertial = s.orientation * (b.inertia * a[i].angular + w.cross(&(b.inertia * w)));
        let f = a[i].linear * b.mass;
        moment += (about - s.position).cross(&force) + inertial;
        force += f;
        about = s.position;
        if i > 0 {
            let c = &art.constraints()[i - 1];
            let joint = s.point(&c.anchor_b);
            let at_joint = moment + (about - joint).cross(&force);
            let free = match c.kind {
                ConstraintKind::Hinge => at_joint.dot(&(s.orientation * c.axis_b)).abs(),
                _ => at_joint.amax(),
            };
            worst = worst.max(free);
        }
    }
    // The whole is moved by nothing.
    worst.max(force.amax()).max(moment.amax()) / scale
}

#[test]
fn a_long_chain_of_balls_obeys_the_equations_of_motion() {
    for (n, kind) in [(64, ConstraintKind::Ball), (256, ConstraintKind::Ball), (256, ConstraintKind::Hinge)] {
        let mut tree = chain(n, kind);
        let mut stepper =
            Stepper::new(&tree.articulation, &tree.states, Integrator::RungeKutta4, Stabilization::Project);
        let start = residual(&tree);
        for _ in 0..10 {
            stepper.step(&tree.articulation, &mut tree.states, 5e-3);
        }
        let later = residual(&tree);
        println!("{n} {kind:?}: residual {start:.1e}, after 50 ms {later:.1e}");
        assert!(start < 1e-9 && later < 1e-9, "{n} {kind:?}: {start:.1e}, {later:.1e}");
    }
}

fn momenta_and_energy(art: &Articulation, states: &[BodyState]) -> (Vec3, Vec3, f64) {
    let energy = art.kinetic_energy(states) + art.potential_energy(states);
    (art.linear_momentum(states), art.angular_momentum(states), energy)
}

/// The sizes that momenta and energy are made of: what would be there if nothing cancelled.
fn sizes(art: &Articulation, states: &[BodyState]) -> (f64, f64) {
    let center = art.center_of_mass(states);
    let each = |(b, s): (&Body, &BodyState)| {
        let p = s.velocity.norm() * b.mass;
        (p, (s.position - center).norm() * p + (b.inertia * s.angular_velocity).norm())
    };
    art.bodies().iter().zip(states).map(each).fold((0.0, 0.0), |(p, l), (dp, dl)| (p + dp, l + dl))
}

#[test]
fn restored_free_skeletons_keep_momenta_and_energy_for_thirty_seconds() {
    for r in reference_files() {
        if r.articulation.is_driven() || !r.articulation.floats_as_one() {
            continue;
        }
        let mut states = r.states[0].clone();
        let mut stepper =
            Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Restore);
        let (p, _, e) = momenta_and_energy(&r.articulation, &states);
        // About the centre of mass: about the origin, the way of the centre would be the size.
        let spin = |states: &[BodyState]| {
            let (p, l, _) = momenta_and_energy(&r.articulation, states);
            l - r.articulation.center_of_mass(states).cross(&p)
        };
        let (l, (p_size, l_size)) = (spin(&states), sizes(&r.articulation, &states));
        let mut largest = [0.0f64; 3];
        for _ in 0..30 * 120 {
            stepper.step(&r.articulation, &mut states, 1.0 / 120.0);
            let (p2, _, e2) = momenta_and_energy(&r.articulation, &states);
            largest[0] = largest[0].max((p2 - p).norm() / p_size);
            largest[1] = largest[1].max((spin(&states) - l).norm() / l_size);
            largest[2] = largest[2].max((e2 / e - 1.0).abs());
        }
        println!("{}: {largest:?}, refused {}", r.name, stepper.refused_scalings);
        assert!(largest.iter().all(|x| *x < 1e-12), "{}: {largest:?}", r.name);
        assert!(r.articulation.constraint_error(&states) < 1e-12);
        // What the step itself leaves to be restored is little: no scaling was ever refused.
        assert_eq!(stepper.refused_scalings, 0, "{}", r.name);
    }
}

#[test]
fn what_restoration_puts_right_is_the_error_of_the_step_and_shrinks_with_its_order() {
    // Without restoration momenta and energy drift by what fourth order leaves, not by a fault of the equations.
    for r in reference_files() {
        if r.articulation.is_driven() || !r.articulation.floats_as_one() || r.name.starts_with("15") {
            continue;
        }
        let (_, _, e) = momenta_and_energy(&r.articulation, &r.states[0]);
        let drift = |h: f64| {
            let states = final_states(&r, h, 1.0, Integrator::RungeKutta4, Stabilization::Project);
            (momenta_and_energy(&r.articulation, &states).2 / e - 1.0).abs()
        };
        let (coarse, fine) = (drift(1.0 / 120.0), drift(1.0 / 480.0));
        println!("{}: energy drifts by {coarse:.1e} at 1/120 s, {fine:.1e} at 1/480 s", r.name);
        // Two halvings at order four or better: 256, or rounding.
        assert!(fine < coarse / 100.0 || fine < 1e-12, "{}: {coarse:.1e}, {fine:.1e}", r.name);
    }
}

#[test]
fn a_free_skeleton_in_gravity_falls_on_a_parabola() {
    let mut random = Random::new(9);
    let mut tree = random.tree(6, NOTE_KINDS, 0.0, false);
    tree.articulation.gravity = Vec3::new(0.0, -9.81, 0.0);
    let (p, l, e) = momenta_and_energy(&tree.articulation, &tree.states);
    let (mass, c) = (tree.articulation.total_mass(), tree.articulation.center_of_mass(&tree.states));
    let mut stepper =
        Stepper::new(&tree.articulation, &tree.states, Integrator::RungeKutta4, Stabilization::Restore);
    let steps = 240;
    for _ in 0..steps {
        stepper.step(&tree.articulation, &mut tree.states, 1.0 / 120.0);
    }
    let t = f64::from(steps) / 120.0;
    let center = tree.articulation.center_of_mass(&tree.states);
    let wanted = c + p * (t / mass) + tree.articulation.gravity * (0.5 * t * t);
    assert!((center - wanted).norm() < 1e-11);
    let (p2, l2, e2) = momenta_and_energy(&tree.articulation, &tree.states);
    assert!((p2 - p - tree.articulation.gravity * (mass * t)).norm() < 1e-10);
    assert!((l2 - center.cross(&p2) - (l - c.cross(&p))).norm() < 1e-11);
    assert!((e2 - e).abs() < 1e-11 * e.abs().max(100.0));
}

fn final_states(
    r: &Reference,
    h: f64,
    until: f64,
    integrator: Integrator,
    how: Stabilization,
) -> Vec<BodyState> {
    let mut states = r.states[0].clone();
    let mut stepper = Stepper::new(&r.articulation, &states, integrator, how);
    for _ in 0..(until / h).round() as usize {
        stepper.step(&r.articulation, &mut states, h);
    }
    states
}

#[test]
fn the_notes_step_is_of_first_order() {
    for r in reference_files() {
        if r.articulation.constraints().is_empty() {
            continue;
        }
        let error =
            |h: f64| r.error_at(&final_states(&r, h, 0.5, Integrator::Note, Stabilization::None), 0.5);
        let order = (error(1e-3) / error(5e-4)).log2();
        println!("{}: order {order:.3}", r.name);
        assert!((order - 1.0).abs() < 0.03, "{}: order {order:.3}", r.name);
    }
}

#[test]
fn the_variational_step_is_of_second_order_and_keeps_its_invariants() {
    for r in reference_files() {
        // Passive: with friction the kicks are explicit, and the order is that of the friction.
        if r.articulation.is_driven() || r.articulation.constraints().is_empty() {
            continue;
        }
        let run = |h: f64| final_states(&r, h, 0.5, Integrator::Variational, Stabilization::None);
        let (coarse, fine) = (run(4e-3), run(2e-3));
        let order = (r.error_at(&coarse, 0.5) / r.error_at(&fine, 0.5)).log2();
        println!("{}: order {order:.3}", r.name);
        assert!((order - 2.0).abs() < 0.15, "{}: order {order:.3}", r.name);
        assert!(r.articulation.constraint_error(&fine) < 1e-12);
        if r.articulation.floats_as_one() {
            let (p, l, _) = momenta_and_energy(&r.articulation, &r.states[0]);
            let (p2, l2, _) = momenta_and_energy(&r.articulation, &fine);
            assert!(
                (p2 - p).norm() < 1e-11 * p.norm().max(1.0) && (l2 - l).norm() < 1e-10 * l.norm().max(1.0)
            );
        }
    }
}

#[test]
fn the_variational_steps_energy_error_stays_bounded() {
    let Some(r) = reference_files().into_iter().find(|r| r.name.starts_with("02")) else { return };
    let mut states = r.states[0].clone();
    let mut stepper = Stepper::new(&r.articulation, &states, Integrator::Variational, Stabilization::None);
    let energy = r.articulation.kinetic_energy(&states);
    let mut early: f64 = 0.0;
    let mut late: f64 = 0.0;
    for k in 0..1800 {
        stepper.step(&r.articulation, &mut states, 1.0 / 120.0);
        let drift = (r.articulation.kinetic_energy(&states) / energy - 1.0).abs();
        if k < 360 { early = early.max(drift) } else { late = late.max(drift) }
    }
    println!("energy: first 3 s {early:.1e}, rest {late:.1e}");
    assert!(late < 2.0 * early && late < 1e-3);
}

#[test]
fn pinned_energy_drifts_little() {
    let Some(r) = reference_files().into_iter().find(|r| r.name.starts_with("12")) else { return };
    let mut states = r.states[0].clone();
    let mut stepper = Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Project);
    let energy = |s: &[BodyState]| r.articulation.kinetic_energy(s) + r.articulation.potential_energy(s);
    let start = energy(&states);
    for _ in 0..2000 {
        stepper.step(&r.articulation, &mut states, 1e-3);
    }
    let drift = (energy(&states) / start - 1.0).abs();
    println!("drift {drift:.1e}");
    assert!(drift <= 1e-8, "{drift:.1e}");
}

#[test]
fn friction_takes_what_the_energy_loses() {
    let mut found = 0;
    for r in reference_files() {
        if !r.articulation.is_driven() {
            continue;
        }
        found += 1;
        let (h, steps) = (1e-3, 500);
        let mut states = r.states[0].clone();
        let mut stepper =
            Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Project);
        let energy = |s: &[BodyState]| r.articulation.kinetic_energy(s) + r.articulation.potential_energy(s);
        let start = energy(&states);
        // Simpson's rule over pairs of steps.
        let mut work = 0.0;
        let mut turnover: f64 = start.abs().max(1e-3);
        for _ in 0..steps / 2 {
            let mut power = r.articulation.drive_power(&states);
            for weight in [4.0, 1.0] {
                stepper.step(&r.articulation, &mut states, h);
                power += weight * r.articulation.drive_power(&states);
            }
            work += power * h / 3.0;
            turnover = turnover.max(energy(&states).abs());
        }
        let error = (energy(&states) - start - work).abs() / turnover;
        println!("{}: {error:.1e}", r.name);
        assert!(error < 1e-6, "{}: {error:.1e}", r.name);
        assert!(work.abs() > 1e-4);
    }
    assert!(found == 0 || found >= 6);
}

#[test]
fn later_times_follow_the_references_too() {
    for r in reference_files() {
        // The file's own last time: 1 to 5 s.
        let last = r.times.iter().copied().fold(0.0, f64::max);
        let states = final_states(&r, 2.5e-4, last, Integrator::RungeKutta4, Stabilization::Project);
        let error = r.error_at(&states, last);
        let allowed = (20.0 * r.estimates[r.index_of(last)]).max(1e-8);
        println!("{} at {last} s: {error:.1e}", r.name);
        assert!(error <= allowed, "{} at {last} s: {error:.1e} > {allowed:.1e}", r.name);
    }
}

/// The same skeleton with its bodies and constraints in another order; by new place, the old one of every body.
fn shuffled(random: &mut Random, tree: &Tree) -> (Articulation, Vec<usize>) {
    let n = tree.states.len();
    let order = random.shuffle(n);
    let mut place = vec![0; n];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new;
    }
    let bodies = order.iter().map(|&i| tree.articulation.bodies()[i].clone()).collect();
    let mut constraints: Vec<Constraint> = tree.articulation.constraints().to_vec();
    for c in &mut constraints {
        c.a = c.a.map(|i| place[i]);
        c.b = c.b.map(|i| place[i]);
    }
    let joints = random.shuffle(constraints.len());
    let constraints = joints.iter().map(|&k| constraints[k].clone()).collect();
    (Articulation::new(bodies, constraints, tree.articulation.gravity).unwrap(), order)
}

#[test]
fn labels_change_no_more_than_the_last_digit_of_a_number_does() {
    // Another order of the bodies is another root of the elimination, so numbers are rounded otherwise, and motion
    // carries that on like any other change of the last digit. How far, a skeleton whose velocities are changed in
    // their last digit shows.
    let mut random = Random::new(11);
    let (mut at_once, mut by_labels, mut by_digit) = (0.0f64, 0.0f64, 0.0f64);
    for trial in 0..20 {
        let tree = random.tree(8, ALL_KINDS, 0.2, trial % 2 == 0);
        let art = &tree.articulation;
        let (other, order) = shuffled(&mut random, &tree);
        let back = |moved: &[BodyState]| {
            let mut states = tree.states.clone();
            order.iter().zip(moved).for_each(|(&old, s)| states[old] = *s);
            states
        };
        let moved: Vec<BodyState> = order.iter().map(|&i| tree.states[i]).collect();
        // The equations: one solve in one pose.
        let one = accelerations(art, &tree.states);
        let two = accelerations(&other, &moved);
        let mut two_back = one.clone();
        order.iter().zip(&two).for_each(|(&old, a)| two_back[old] = *a);
        let apart = accelerations_differ(&two_back, &one);
        at_once = at_once.max(apart);
        assert!(apart < 1e-12, "tree {trial}: {apart:.1e} in one solve");
        // The motion.
        let run = |art: &Articulation, start: &[BodyState]| {
            let mut states = start.to_vec();
            let how = (Integrator::RungeKutta4, Stabilization::Project);
            let mut stepper = Stepper::new(art, &states, how.0, how.1);
            (0..20).for_each(|_| stepper.step(art, &mut states, 2e-3));
            states
        };
        let straight = run(art, &tree.states);
        let apart = difference(&back(&run(&other, &moved)), &straight);
        let mut digit: f64 = 0.0;
        for _ in 0..4 {
            let mut nudged = tree.states.clone();
            for s in &mut nudged {
                let nudge = |x: f64, w: f64| if w > 0.0 { x.next_up() } else { x.next_down() };
                s.velocity = s.velocity.zip_map(&random.vector(), nudge);
                s.angular_velocity = s.angular_velocity.zip_map(&random.vector(), nudge);
            }
            digit = digit.max(difference(&run(art, &nudged), &straight));
        }
        by_labels = by_labels.max(apart);
        by_digit = by_digit.max(digit);
        assert!(apart < 1e-8, "tree {trial}: {apart:.1e} by labels, {digit:.1e} by a last digit");
    }
    println!("one solve {at_once:.1e}; 20 steps: {by_labels:.1e} by labels, {by_digit:.1e} by a last digit");
}

#[test]
fn a_loop_and_a_double_edge_are_refused() {
    let tree = Random::new(3).tree(3, NOTE_KINDS, 0.0, false);
    let mut constraints = tree.articulation.constraints().to_vec();
    constraints.push(Constraint { name: "back".into(), ..constraints[0].clone() });
    let bodies = tree.articulation.bodies().to_vec();
    let error = Articulation::new(bodies.clone(), constraints.clone(), Vec3::zeros()).unwrap_err();
    assert!(error.to_string().starts_with("constraint `back` closes a loop"), "{error}");
    constraints[2].a = Some(7);
    let error = Articulation::new(bodies, constraints, Vec3::zeros()).unwrap_err();
    assert_eq!(error.to_string(), "constraint `back` names body 7, there are 3");
}
