//! Solving allocates nothing once there is room: counted by an allocator of this program's own.

mod ik_scenes;

use ik_scenes::*;
use posemill::ik::*;
use posemill::math::Vec3;
use posemill::model::ModelPose;

/// From the second frame on, a solve in a workspace allocates nothing, one by one and in lanes, limits and pins included.
#[test]
fn frames_after_the_first_allocate_nothing() {
    let mut random = Random(5);
    let (skeleton, effectors) = body(true);
    let mut mechanism = Mechanism::floating(&skeleton);
    for j in 1..skeleton.len() {
        let limit = SwingTwist {
            reference: skeleton.joint(id(j)).rest.rotation,
            axis: Vec3::x(),
            first: Vec3::z(),
            swing: [Range::new(-0.5, 0.7), Range::new(-0.6, 0.4)],
            twist: Range::new(-0.3, 0.3),
            twist_first: false,
        };
        mechanism = mechanism.with_limit(id(j), Limit::SwingTwist(limit));
    }
    let frame = |_| {
        let model = ModelPose::of(&skeleton, &shaken(&skeleton, 0.4, &mut random));
        let both = |&e: &usize| {
            let at = model.joint(id(e));
            [Task::position(id(e), at.translation).pinned(), Task::orientation(id(e), at.rotation).weigh(0.1)]
        };
        effectors.iter().flat_map(both).collect::<Vec<Task>>()
    };
    let tasks: Vec<Vec<Task>> = (0..6).map(frame).collect();
    let solver = TreeSolver { damping: 1e-4, posture: 1e-4 };
    let stop = Stop { iterations: 8, ..Stop::default() };
    let mut room = Workspace::new(&mechanism);
    let mut solve = || {
        let mut frames = vec![skeleton.rest_pose(); 6];
        let mut outcomes =
            vec![Outcome { effectors: Vec::with_capacity(tasks[0].len()), ..Outcome::default() }; 6];
        outcomes.iter_mut().for_each(|o| o.effectors.reserve(tasks[0].len()));
        let counted = allocation_counter::measure(|| {
            solver.solve_chunk_in(&mut room, &mut frames, &tasks, &stop, &mut outcomes);
        });
        assert!(outcomes.iter().all(|o| o.iterations > 1 && o.residual.is_finite()));
        assert!(outcomes.iter().any(|o| o.limited > 0));
        counted.count_total
    };
    assert!(solve() > 0, "the first frame makes room");
    assert_eq!(solve(), 0);
}
