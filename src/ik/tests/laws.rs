//! Laws of inverse kinematics: Jacobians, solvers on one table of scenes, the tree recursion, limits.

use crate::ik::stacked_jacobian::stack;
use crate::ik_scenes::*;
use posemill::ik::*;
use posemill::math::{DMatrix, DVector, Vec2, Vec3, exp};
use posemill::model::{JointId, ModelPose, Pose, Skeleton};
use std::sync::Arc;

/// One of every goal, on the made body.
fn every_task(skeleton: &Skeleton, random: &mut Random) -> Vec<Task> {
    let find = |x: f64| {
        skeleton.ids().max_by(|a, b| {
            let at = |id: &JointId| skeleton.rest_model_pose().position(*id).x * x;
            at(a).total_cmp(&at(b))
        })
    };
    let (left, right) = (find(1.0).unwrap(), find(-1.0).unwrap());
    let up = |j: JointId| skeleton.parent(j).unwrap();
    let masses: Arc<[PointMass]> = skeleton
        .ids()
        .map(|joint| PointMass { joint, at: Vec3::new(0.01, 0.05, 0.0), mass: 1.0 + joint.index() as f64 })
        .collect();
    let far: Arc<[Vec2<f64>]> = Arc::new([(1.0, 1.0), (2.0, 1.0), (1.5, 2.0)].map(|(x, z)| Vec2::new(x, z)));
    let side: Arc<[Vec2<f64>]> =
        Arc::new([(0.3, -9.0), (2.0, -9.0), (0.4, 9.0)].map(|(x, z)| Vec2::new(x, z)));
    let posture = (shaken(skeleton, 0.5, random), vec![0.5; skeleton.len()]);
    vec![
        Task::new(Goal::Position { joint: left, point: random.vector(0.1), target: random.vector(1.0) }),
        Task::orientation(right, exp(&random.vector(1.2))),
        Task::new(Goal::Aim {
            joint: left,
            point: random.vector(0.1),
            axis: Vec3::z(),
            target: random.vector(2.0),
        }),
        Task::new(Goal::Pole { root: up(up(left)), middle: up(left), end: left, target: random.vector(1.0) }),
        Task::new(Goal::Relative {
            placed: (left, random.vector(0.1)),
            against: (right, random.vector(0.1)),
            offset: random.vector(0.3),
        }),
        Task::new(Goal::CentreOfMass { masses: Arc::clone(&masses), target: random.vector(1.0) }),
        Task::new(Goal::Balance { masses: Arc::clone(&masses), support: far }),
        Task::new(Goal::Balance { masses, support: side }),
        Task::new(Goal::Posture { reference: Arc::new(posture.0), stiffness: posture.1.into() }),
    ]
}

/// A mechanism of the made body that has every kind of freedom.
fn every_freedom(skeleton: &Skeleton) -> Mechanism {
    let mut mechanism = Mechanism::floating(skeleton);
    for j in (3..skeleton.len()).step_by(5) {
        mechanism = mechanism.with_freedom(id(j), Freedom::Hinge(Vec3::new(1.0, 0.3, -0.2)));
    }
    for j in (4..skeleton.len()).step_by(7) {
        mechanism = mechanism.with_freedom(id(j), Freedom::TwoAxis(Vec3::x(), Vec3::z()));
    }
    mechanism.with_freedom(id(2), Freedom::Slide(Vec3::y())).with_freedom(id(7), Freedom::Fixed)
}

#[test]
fn every_jacobian_is_the_finite_difference_of_its_error() {
    let mut random = Random(88_172_645_463_325_252);
    let (skeleton, _) = body(false);
    let mechanism = every_freedom(&skeleton);
    for _ in 0..5 {
        let pose = shaken(&skeleton, 0.4, &mut random);
        let model = ModelPose::of(&skeleton, &pose);
        for task in every_task(&skeleton, &mut random) {
            let tasks = [task];
            let found = stack(&mechanism, &tasks, &pose, &model);
            assert!(found.jacobian.nrows() > 0, "{:?} has no rows", tasks[0].goal);
            let h = 1e-5;
            for dof in 0..mechanism.dofs() {
                let error = |h: f64| {
                    let (mut moved, mut step) = (pose.clone(), vec![0.0; mechanism.dofs()]);
                    step[dof] = h;
                    mechanism.step(&mut moved, &model, &step);
                    stack(&mechanism, &tasks, &moved, &ModelPose::of(&skeleton, &moved)).error
                };
                let difference = (error(-h) - error(h)) / (2.0 * h);
                let gap = (found.jacobian.column(dof) - difference).amax();
                assert!(
                    gap < 1e-7 * (1.0 + found.jacobian.amax()),
                    "{:?}, dof {dof}: {gap:e}",
                    tasks[0].goal
                );
            }
        }
    }
}

#[test]
fn the_tree_recursion_solves_the_dense_normal_equations() {
    let mut random = Random(1_234_567);
    for (fingers, general) in [(false, false), (true, false), (false, true)] {
        let (skeleton, effectors) = body(fingers);
        for mechanism in
            [Mechanism::floating(&skeleton), every_freedom(&skeleton), Mechanism::anchored(&skeleton)]
        {
            let pose = shaken(&skeleton, 0.4, &mut random);
            let model = ModelPose::of(&skeleton, &pose);
            let mut tasks = Vec::new();
            for &e in &effectors {
                let at = model.joint(id(e));
                tasks.push(Task::position(id(e), at.translation + random.vector(0.1)).weigh(2.0));
                tasks.push(Task::orientation(id(e), exp(&random.vector(0.3)) * at.rotation).weigh(0.3));
            }
            if general {
                tasks.extend(every_task(&skeleton, &mut random));
            }
            let solver = TreeSolver { damping: 1e-3, posture: 0.0 };
            let tree = DVector::from_vec(solver.single_step(&mechanism, &tasks, &pose));
            let s = stack(&mechanism, &tasks, &pose, &model);
            let n = mechanism.dofs();
            let normal = s.jacobian.transpose() * &s.jacobian + DMatrix::identity(n, n) * solver.damping;
            let dense = normal.cholesky().unwrap().solve(&(s.jacobian.transpose() * &s.error));
            let gap = (&tree - &dense).amax();
            assert!(gap < 1e-9, "fingers {fingers}, general {general}: {gap:e} of {}", dense.amax());
            assert!(dense.amax() > 1e-3);
        }
    }
}

/// The distance that forward kinematics finds between an effector and its target.
fn found_distance(scene: &Scene, pose: &Pose, task: &Task) -> f64 {
    let model = ModelPose::of(scene.mechanism.skeleton(), pose);
    match &task.goal {
        Goal::Position { joint, point, target } => (model.joint(*joint).point(point) - target).norm(),
        Goal::Orientation { joint, target } => model.joint(*joint).rotation.angle_to(target),
        other => panic!("no such task in the table: {other:?}"),
    }
}

#[test]
fn every_outcome_tells_what_forward_kinematics_finds() {
    let stop = Stop { iterations: 300, ..Stop::default() };
    for scene in scenes() {
        for solver in solvers() {
            let case = format!("{} on {}", solver.name(), scene.name);
            let mut pose = scene.start.clone();
            let outcome = solver.solve(&scene.mechanism, &scene.tasks, &mut pose, &stop);
            assert!(pose.local().iter().all(|t| t.is_finite()) && outcome.residual.is_finite(), "{case}");
            assert!(outcome.iterations <= stop.iterations, "{case}");
            for (task, effector) in scene.tasks.iter().zip(&outcome.effectors) {
                let distance = found_distance(&scene, &pose, task);
                assert!((distance - effector.residual).abs() < 1e-9, "{case}: {distance} {effector:?}");
                assert_eq!(effector.reach == Reach::Reached, distance <= stop.tolerance(task), "{case}");
            }
            assert!(scene.solvable || !outcome.converged, "{case} claims what cannot be");
            for joint in scene.mechanism.skeleton().ids() {
                let excess = scene.mechanism.excess(joint, pose.joint(joint));
                assert!(!solver.keeps_limits() || excess < 1e-9, "{case}: limit of {joint:?}");
            }
            for (rest, local) in scene.mechanism.skeleton().joints().iter().zip(pose.local()).skip(1) {
                assert!((rest.rest.translation - local.translation).norm() < 1e-12, "{case}: a bone changed");
            }
        }
    }
}

#[test]
fn solvers_solve_what_they_are_known_to_solve() {
    let stop = Stop { iterations: 300, ..Stop::default() };
    let mut missed = Vec::new();
    for scene in scenes().iter().filter(|s| s.solvable) {
        for solver in solvers() {
            let mut pose = scene.start.clone();
            let outcome = solver.solve(&scene.mechanism, &scene.tasks, &mut pose, &stop);
            if !outcome.converged && reason(solver.name(), scene.name).is_none() {
                missed.push(format!(
                    "{} on {}: {:.2e}, {} it",
                    solver.name(),
                    scene.name,
                    outcome.residual,
                    outcome.iterations
                ));
            }
        }
    }
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
}

#[test]
fn the_planar_arm_agrees_with_the_closed_form() {
    let scene = scenes().remove(0);
    let target = [0.9, 0.7];
    let closed = planar([1.0, 0.8], target, Elbow::Positive);
    let stop = Stop { position: 1e-13, angle: 1e-13, iterations: 60 };
    for solver in
        [Box::new(TreeSolver { damping: 1e-12, posture: 0.0 }) as Box<dyn Solver>, Box::new(Boxed::default())]
    {
        let mut pose = scene.start.clone();
        solver.solve(&scene.mechanism, &scene.tasks, &mut pose, &stop);
        for (j, angle) in closed.angles.iter().enumerate() {
            let expected = exp(&(Vec3::z() * *angle));
            let gap = pose.joint(id(j)).rotation.angle_to(&expected);
            assert!(gap < 1e-10, "{} joint {j}: {gap:e}", solver.name());
        }
    }
}

#[test]
fn what_is_not_finite_stays_as_it_is() {
    for solver in solvers() {
        let scene = scenes().remove(0);
        let mut pose = scene.start.clone();
        let tasks = [Task::position(id(2), Vec3::new(f64::NAN, 0.0, 0.0))];
        let outcome = solver.solve(&scene.mechanism, &tasks, &mut pose, &Stop::default());
        assert_eq!(pose, scene.start);
        assert!(!outcome.converged && outcome.residual == f64::INFINITY);
    }
}

#[test]
fn unreachable_targets_are_called_so_and_pointed_at() {
    for scene in scenes().iter().filter(|s| s.name == "chain of 20 balls, out of reach") {
        let mut pose = scene.start.clone();
        let stop = Stop { iterations: 200, ..Stop::default() };
        let outcome = TreeSolver::default().solve(&scene.mechanism, &scene.tasks, &mut pose, &stop);
        assert_eq!(outcome.effectors[0].reach, Reach::Unreachable, "{outcome:?}");
        let shortfall = 10f64.sqrt() - 2.0;
        assert!((outcome.effectors[0].residual - shortfall).abs() < 1e-2, "{outcome:?}");
    }
}

#[test]
fn later_priorities_do_not_disturb_earlier_ones() {
    let skeleton = chain(&[0.3; 6]);
    let mechanism = Mechanism::anchored(&skeleton);
    let mut pose = shaken(&skeleton, 0.3, &mut Random(5));
    let tasks = [
        Task::position(id(6), Vec3::new(0.8, 0.6, 0.0)),
        Task::position(id(3), Vec3::new(-0.9, 0.0, 0.0)).after(1),
    ];
    let solver = Jacobian::new(Method::Priority { damping: 0.01 });
    let outcome = solver.solve(&mechanism, &tasks, &mut pose, &Stop { iterations: 200, ..Stop::default() });
    assert!(outcome.effectors[0].residual < 2e-2, "{outcome:?}");
    assert!(outcome.effectors[1].residual > 1e-2);
}

#[test]
fn balance_brings_the_mass_over_the_support() {
    let (skeleton, _) = body(false);
    let mechanism = Mechanism::floating(&skeleton);
    let mass = |joint| PointMass { joint, at: Vec3::zeros(), mass: 1.0 };
    let masses: Arc<[PointMass]> = skeleton.ids().map(mass).collect();
    let corners = [(0.3, -0.1), (0.5, -0.1), (0.5, 0.1), (0.3, 0.1)].map(|(x, z)| Vec2::new(x, z));
    let tasks = [Task::new(Goal::Balance { masses: Arc::clone(&masses), support: Arc::new(corners) })];
    for solver in [Box::new(TreeSolver::default()) as Box<dyn Solver>, Box::new(Boxed::default())] {
        let mut pose = skeleton.rest_pose();
        let outcome = solver.solve(&mechanism, &tasks, &mut pose, &Stop::default());
        assert!(outcome.converged, "{}: {outcome:?}", solver.name());
        let model = ModelPose::of(&skeleton, &pose);
        let x = skeleton.ids().map(|j| model.position(j).x).sum::<f64>() / skeleton.len() as f64;
        assert!((0.3 - 1e-4..=0.5).contains(&x), "{}: {x}", solver.name());
    }
}

/// The page of the documentation is the bench's; what no machine changes is compared.
#[test]
fn the_documented_table_is_what_the_solvers_do() {
    let page = include_str!("../scenes.md");
    let rows: Vec<Vec<&str>> = page.lines().map(|l| l.split('|').map(str::trim).collect()).collect();
    for scene in scenes() {
        for solver in solvers() {
            let mut pose = scene.start.clone();
            let outcome = solver.solve(&scene.mechanism, &scene.tasks, &mut pose, &Stop::default());
            let ([name, by, reached, ..], why) = cells(&scene, solver.as_ref(), &outcome);
            let row = rows.iter().find(|r| r.len() > 7 && r[1] == name && r[2] == by);
            let row = row.unwrap_or_else(|| panic!("no row of {by} on {name}"));
            let again = "run `cargo bench --bench ik -- --table > src/ik/scenes.md`";
            assert_eq!((row[3], row[7]), (reached.as_str(), why), "{by} on {name}: {again}");
            let steps: usize = row[4].parse().unwrap();
            let near = steps.abs_diff(outcome.iterations) <= 1 + steps / 20;
            assert!(near, "{by} on {name}: {steps} steps, now {}: {again}", outcome.iterations);
        }
    }
}
