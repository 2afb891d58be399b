//! Both O(n) forms equal the note, long chains obey the equations of motion, and labels do not matter.

#[path = "../../../benches/scenes/chain.rs"]
mod chain;

use super::support::*;
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
        let mut solver = ArticulationSolver::new(&tree.articulation);
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

fn residual(tree: &Tree) -> f64 {
    let (art, states) = (&tree.articulation, &tree.states);
    let a = accelerations(art, states);
    let anchor = |i: usize, k: &Constraint, b: bool| {
        let (s, l) = (&states[i], if b { &k.anchor_b } else { &k.anchor_a });
        let w = s.angular_velocity;
        let relative = a[i].angular.cross(l) + w.cross(&w.cross(l));
        a[i].linear + s.orientation * relative
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
        let (articulation, states) = chain::chain(n, kind);
        let mut tree = Tree { articulation, states };
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
fn labels_do_not_matter() {
    // Another order of the bodies is another root of the elimination: only the rounding may differ.
    let mut random = Random::new(11);
    let (mut at_once, mut later) = (0.0f64, 0.0f64);
    for trial in 0..40 {
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
        at_once = at_once.max(accelerations_differ(&two_back, &one));
        // The motion: the stages of a step open the constraints a little, and which side is the child must not show.
        let step = |art: &Articulation, start: &[BodyState]| {
            let mut states = start.to_vec();
            let how = (Integrator::RungeKutta4, Stabilization::Project);
            let mut stepper = Stepper::new(art, &states, how.0, how.1);
            (0..20).for_each(|_| stepper.step(art, &mut states, 2e-3));
            states
        };
        // And that of a world, with friction implicit.
        let world = |art: &Articulation, start: &[BodyState]| {
            let mut world = World::new(art.clone(), start.to_vec(), Vec::new(), WorldSettings::default());
            (0..20).for_each(|_| world.step(2e-3));
            world.states
        };
        for run in [&step as &dyn Fn(&Articulation, &[BodyState]) -> Vec<BodyState>, &world] {
            let apart = difference(&back(&run(&other, &moved)), &run(art, &tree.states));
            later = later.max(apart);
            assert!(apart < 1e-12, "tree {trial}: {apart:.1e}");
        }
    }
    println!("one solve {at_once:.1e}, 20 steps {later:.1e}");
    assert!(at_once < 1e-12);
}

#[test]
fn impossible_constraints_are_refused() {
    let tree = Random::new(3).tree(3, NOTE_KINDS, 0.0, false);
    let mut constraints = tree.articulation.constraints().to_vec();
    let mut back = Constraint { name: "back".into(), ..constraints[0].clone() };
    back.a = back.b;
    constraints.push(back);
    let bodies = tree.articulation.bodies().to_vec();
    let error = Articulation::new(bodies.clone(), constraints.clone(), Vec3::zeros()).unwrap_err();
    assert!(error.to_string().starts_with("constraint `back` joins a body to itself"), "{error}");
    constraints[2].a = Some(7);
    let impossible = |change: &dyn Fn(&mut Constraint)| {
        let mut changed = constraints[0].clone();
        change(&mut changed);
        let name = format!("constraint `{}` has an impossible ", changed.name);
        let error = Articulation::new(bodies.clone(), vec![changed], Vec3::zeros()).unwrap_err().to_string();
        error.strip_prefix(&name).unwrap_or(&error).to_owned()
    };
    assert_eq!(impossible(&|c| c.anchor_a.x = f64::NAN), "anchor");
    assert_eq!(
        impossible(&|c| (c.kind, c.axis_a) = (ConstraintKind::Hinge, Vec3::zeros())),
        "axis (unit length is needed)"
    );
    assert_eq!(impossible(&|c| c.friction = -1.0), "friction");
    assert_eq!(impossible(&|c| c.motor = f64::INFINITY), "motor torque");
    let error = Articulation::new(bodies, constraints, Vec3::zeros()).unwrap_err();
    assert_eq!(error.to_string(), "constraint `back` names body 7, there are 3");
}
