//! Laws of inverse kinematics: Jacobians, solvers on one table of scenes, the tree recursion, limits.

use posemill::ik::*;
use posemill::math::{DMatrix, DVector, Transform, Vec2, Vec3, exp};
use posemill::model::{Joint, JointId, ModelPose, Pose, Skeleton};
use std::sync::Arc;

/// A small deterministic random source (xorshift), numbers from -1 to 1.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number()) * size
    }
}

fn id(j: usize) -> JointId {
    JointId::new(j)
}

fn skeleton_of(joints: &[(Option<usize>, Vec3)]) -> Skeleton {
    let joint = |(i, (parent, offset)): (usize, &(Option<usize>, Vec3))| {
        Joint::new(format!("j{i}"), parent.map(JointId::new), Transform::from_translation(*offset))
    };
    Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap()
}

fn chain(lengths: &[f64]) -> Skeleton {
    let mut joints = vec![(None, Vec3::zeros())];
    joints.extend(lengths.iter().enumerate().map(|(i, l)| (Some(i), Vec3::x() * *l)));
    skeleton_of(&joints)
}

/// A made body of pelvis, spine, head, arms and legs, with fingers or without, and its effectors.
fn body(fingers: bool) -> (Skeleton, Vec<usize>) {
    let mut joints = vec![(None, Vec3::new(0.0, 0.9, 0.0))];
    let mut add = |parent: usize, x: f64, y: f64, z: f64| {
        joints.push((Some(parent), Vec3::new(x, y, z)));
        joints.len() - 1
    };
    let mut spine = 0;
    for _ in 0..3 {
        spine = add(spine, 0.0, 0.13, 0.0);
    }
    let neck = add(spine, 0.0, 0.1, 0.0);
    let mut effectors = vec![add(neck, 0.0, 0.12, 0.0)];
    for side in [1.0, -1.0] {
        let clavicle = add(spine, 0.05 * side, 0.05, 0.0);
        let shoulder = add(clavicle, 0.13 * side, 0.0, 0.0);
        let elbow = add(shoulder, 0.28 * side, 0.0, 0.0);
        let wrist = add(elbow, 0.26 * side, 0.0, 0.0);
        effectors.push(wrist);
        if fingers {
            for f in 0..5 {
                let mut knuckle = wrist;
                for k in 0..3 {
                    let (reach, spread) = if k == 0 { (0.09, 0.02 * (f as f64 - 2.0)) } else { (0.03, 0.0) };
                    knuckle = add(knuckle, reach * side, 0.0, spread);
                }
                effectors.push(knuckle);
            }
        }
        let hip = add(0, 0.1 * side, -0.05, 0.0);
        let knee = add(hip, 0.0, -0.42, 0.0);
        let ankle = add(knee, 0.0, -0.42, 0.0);
        let toes = add(ankle, 0.0, -0.06, 0.14);
        effectors.extend([ankle, toes]);
        if fingers {
            effectors.extend([elbow, knee]);
        }
    }
    (skeleton_of(&joints), effectors)
}

fn shaken(skeleton: &Skeleton, size: f64, random: &mut Random) -> Pose {
    let mut pose = skeleton.rest_pose();
    for local in pose.local_mut() {
        local.rotation *= exp(&random.vector(size));
    }
    pose
}

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
        .map(|joint| PointMass { joint, point: Vec3::new(0.01, 0.05, 0.0), mass: 1.0 + joint.index() as f64 })
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

#[test]
fn lanes_give_the_scalar_answer() {
    let mut random = Random(99);
    let (skeleton, effectors) = body(true);
    let mechanism = Mechanism::floating(&skeleton);
    let goals: Vec<Pose> = (0..10).map(|_| shaken(&skeleton, 0.3, &mut random)).collect();
    let tasks = |frame: usize| -> Vec<Task> {
        let model = ModelPose::of(&skeleton, &goals[frame]);
        let reach = |&e: &usize| Task::position(id(e), model.position(id(e)));
        let mut tasks: Vec<Task> = effectors.iter().map(reach).collect();
        tasks.push(Task::orientation(id(effectors[0]), model.joint(id(effectors[0])).rotation));
        tasks
    };
    let solver = TreeSolver { damping: 1e-4, posture: 1e-3 };
    let stop = Stop { position: 1e-9, angle: 1e-9, iterations: 4 };
    let mut frames = vec![skeleton.rest_pose(); goals.len()];
    let outcomes = solver.solve_frames(&mechanism, &mut frames, tasks, &stop);
    for (k, (frame, outcome)) in frames.iter().zip(&outcomes).enumerate() {
        let mut alone = skeleton.rest_pose();
        let expected = solver.solve(&mechanism, &tasks(k), &mut alone, &stop);
        assert_eq!(expected.iterations, outcome.iterations);
        for (a, b) in alone.local().iter().zip(frame.local()) {
            assert!(a.rotation.angle_to(&b.rotation) < 1e-12, "{:e}", a.rotation.angle_to(&b.rotation));
            assert!((a.translation - b.translation).norm() < 1e-12);
        }
    }
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut again = vec![skeleton.rest_pose(); goals.len()];
    one_thread.install(|| solver.solve_frames(&mechanism, &mut again, tasks, &stop));
    assert_eq!(frames, again);
}
