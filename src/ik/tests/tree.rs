//! Laws of the whole-body solver: the tree recursion, lanes, limits, pins, frames that follow each other.

use crate::ik::tree_run::{Problem, TreeRun};
use crate::ik_scenes::*;
use posemill::ik::*;
use posemill::math::Vec3;
use posemill::model::{ModelPose, Pose};

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

#[test]
fn limited_bodies_keep_their_limits_and_still_reach() {
    let mut random = Random(77);
    let (skeleton, effectors) = body(false);
    let mut mechanism = Mechanism::floating(&skeleton);
    for j in 1..skeleton.len() {
        let axis = if skeleton.joint(id(j)).rest.translation.x.abs() > 0.06 { Vec3::x() } else { Vec3::y() };
        let limit = SwingTwist {
            reference: skeleton.joint(id(j)).rest.rotation,
            axis,
            first: Vec3::z(),
            swing: [Range::new(-0.5, 0.7), Range::new(-0.6, 0.4)],
            twist: Range::new(-0.3, 0.3),
            twist_first: j % 2 == 0,
        };
        mechanism = mechanism.with_limit(id(j), Limit::SwingTwist(limit));
    }
    let mut reached = 0;
    for _ in 0..20 {
        let mut goal = shaken(&skeleton, 0.4, &mut random);
        mechanism.enforce(&mut goal);
        let model = ModelPose::of(&skeleton, &goal);
        let tasks: Vec<Task> =
            effectors.iter().map(|&e| Task::position(id(e), model.position(id(e)))).collect();
        for solver in solvers() {
            let mut pose = skeleton.rest_pose();
            let outcome =
                solver.solve(&mechanism, &tasks, &mut pose, &Stop { iterations: 20, ..Stop::default() });
            for joint in skeleton.ids() {
                let excess = mechanism.excess(joint, pose.joint(joint));
                assert!(!solver.keeps_limits() || excess < 1e-9, "{} {joint:?}: {excess:e}", solver.name());
            }
            reached += usize::from(solver.name() == "tree" && outcome.converged);
        }
    }
    assert!(reached >= 16, "{reached} of 20");
}

/// A pinned task is reached where softer ones pull, however strongly: an elbow against its hand, and feet against a hand that
/// stretches the whole body, where no leg can yield any more and the last tenths of a millimetre converge slowly.
#[test]
fn pins_are_reached_whatever_softer_tasks_say() {
    let (skeleton, effectors) = body(false);
    let mechanism = Mechanism::floating(&skeleton);
    let rest = skeleton.rest_model_pose();
    let [hand, left, right] = [1, 2, 5].map(|k| id(effectors[k]));
    let elbow = skeleton.parent(hand).unwrap();
    let away = Vec3::new(2.0, 1.0, 0.5);
    let stop = Stop { iterations: 60, ..Stop::default() };
    let solver = TreeSolver { damping: 1e-6, posture: 1e-3 };
    let worst = |o: &Outcome, from: usize| o.effectors[from..].iter().map(|e| e.residual).fold(0.0, f64::max);
    let stay = |j| Task::position(j, rest.position(j) + Vec3::new(0.0, 0.02, 0.05));
    let pull = Task::position(hand, rest.position(hand) + away);
    let cases = [
        ([vec![pull.clone().weigh(30.0)], [elbow, left, right].map(stay).to_vec()].concat(), 1e-4),
        ([vec![pull], [left, right].map(|j| stay(j).weigh(30.0)).to_vec()].concat(), 1e-4),
    ];
    for (soft, within) in cases {
        let mut hard = soft.clone();
        hard[1..].iter_mut().for_each(|t| t.hard = true);
        let missed = [soft, hard].map(|tasks| {
            let one = solver.solve(&mechanism, &tasks, &mut skeleton.rest_pose(), &stop);
            let mut frames = vec![skeleton.rest_pose(); 4];
            let wide = solver.solve_chunk(&mechanism, &mut frames, &vec![tasks; 4], &stop);
            assert!((worst(&one, 0) - worst(&wide[3], 0)).abs() < 1e-9);
            assert!(one.effectors[0].residual > 0.1, "the hand cannot get there");
            worst(&one, 1)
        });
        assert!(missed[0] > 1e-2 && missed[1] < within, "soft and hard: {missed:?} m");
    }
}

#[test]
fn frames_that_follow_each_other_are_the_same_for_every_number_of_threads() {
    let (skeleton, effectors) = body(false);
    let mechanism = Mechanism::floating(&skeleton);
    let rest = skeleton.rest_model_pose();
    let hand = id(effectors[1]);
    // A hand that circles far from where it hangs, over a good two chunks.
    let tasks = |frame: usize| {
        let (sin, cos) = (frame as f64 * 0.05).sin_cos();
        let target = rest.position(hand) + Vec3::new(-0.3 + 0.2 * cos, 0.3 * sin, 0.4);
        vec![Task::position(hand, target)]
    };
    let solver = TreeSolver { damping: 1e-6, posture: 1e-5 };
    let stop = Stop { position: 1e-5, ..Stop::default() };
    let follow = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut frames = vec![skeleton.rest_pose(); 150];
        let outcomes = pool.install(|| solver.follow_frames(&mechanism, &mut frames, tasks, &stop));
        (frames, outcomes)
    };
    let (frames, outcomes) = follow(1);
    assert_eq!((&frames, &outcomes), (&follow(2).0, &follow(3).1));
    assert!(outcomes.iter().all(|o| o.converged));
    // No seam: the rotation from frame to frame at the ends of chunks is similar to that elsewhere.
    let jump = |f: usize| {
        let pairs = frames[f].local().iter().zip(frames[f - 1].local());
        pairs.map(|(a, b)| a.rotation.angle_to(&b.rotation)).fold(0.0, f64::max)
    };
    let usual = (10..60).map(jump).fold(0.0, f64::max);
    assert!((10..150).all(|f| jump(f) < 1.5 * usual), "{usual}");
    let mut alone = vec![skeleton.rest_pose(); 150];
    let from_rest = solver.solve_frames(&mechanism, &mut alone, tasks, &stop);
    let steps = |o: &[Outcome]| o.iter().map(|o| o.iterations).sum::<usize>();
    assert!(steps(&outcomes) < steps(&from_rest));
}

/// Stopping a joint changes the elimination of its ancestors only; its siblings are passed up again unchanged.
#[test]
fn what_is_not_eliminated_again_is_as_it_was() {
    let (skeleton, effectors) = body(false);
    let kinds =
        |j: usize| if j.is_multiple_of(2) { Freedom::Ball } else { Freedom::Hinge(Vec3::new(0.6, 0.0, 0.8)) };
    let freedoms = std::iter::once(Freedom::Free).chain((1..skeleton.len()).map(kinds));
    let mechanism = Mechanism::new(&skeleton, freedoms);
    let rest = skeleton.rest_model_pose();
    let place = |e: &usize| Task::position(id(*e), rest.position(id(*e)) + Vec3::new(0.1, -0.05, 0.2));
    let tasks: Vec<Task> = effectors.iter().map(place).collect();
    let (solver, stop) = (TreeSolver::default(), Stop::default());
    let problem = Problem {
        damping: solver.damping,
        posture: solver.posture,
        mechanism: &mechanism,
        tasks: &[&tasks],
        stop: &stop,
    };
    let mut run = TreeRun::<f64>::new(&mechanism, &tasks);
    run.load(&[skeleton.rest_pose()], None, problem.tasks);
    run.assemble(problem, true);
    run.linear_step(1e-6);
    let free: Vec<_> = run.step.slots.iter().map(|s| s.twist).collect();
    for i in 1..run.plan.joints.len() {
        let mut run = run.clone();
        run.step.lock(&run.plan, i, 1, [0.1, -0.2, 0.3]);
        let mut whole = run.clone();
        whole.step.stale.fill(true);
        run.linear_step(1e-6);
        whole.linear_step(1e-6);
        let [part, whole] =
            [&run, &whole].map(|run| run.step.slots.iter().map(|s| (s.twist, s.delta)).collect::<Vec<_>>());
        assert_eq!(part, whole);
        assert!(part.iter().zip(&free).any(|(a, b)| a.0 != *b), "it stops slot {i}");
    }
}
