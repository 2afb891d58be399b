//! Skeletons side by side move as each of them alone.

use super::support::*;
use posemill::dynamics::*;

const NOTE_KINDS: &[ConstraintKind] = &[ConstraintKind::Hinge, ConstraintKind::Ball];

/// Instants of one skeleton, each further on its way.
fn instants(tree: &Tree, count: usize) -> Vec<Vec<BodyState>> {
    let how = (Integrator::RungeKutta4, Stabilization::Project);
    let mut states = tree.states.clone();
    let mut stepper = Stepper::new(&tree.articulation, &states, how.0, how.1);
    let next = |_| {
        stepper.step(&tree.articulation, &mut states, 5e-3);
        states.clone()
    };
    (0..count).map(next).collect()
}

#[test]
fn every_skeleton_of_a_batch_moves_as_it_would_alone() {
    let mut random = Random::new(21);
    let mut worst: f64 = 0.0;
    for trial in 0..60 {
        // Free and pinned with gravity, without and with friction and motors; groups of four, full and not.
        let drive = if trial % 4 < 2 { 0.0 } else { 0.3 };
        let tree = random.tree(1 + trial % 15, NOTE_KINDS, drive, trial % 2 == 1);
        let starts = instants(&tree, 1 + trial % 7);
        let mut batch = Batch::new(&tree.articulation, &starts).unwrap();
        assert_eq!(batch.skeletons(), starts.len());
        let (h, steps) = (1e-3, 10);
        for _ in 0..steps {
            batch.step(h);
        }
        for (k, start) in starts.iter().enumerate() {
            let mut states = start.clone();
            let mut stepper =
                Stepper::new(&tree.articulation, &states, Integrator::Note, Stabilization::None);
            for _ in 0..steps {
                stepper.step(&tree.articulation, &mut states, h);
            }
            let apart = difference(&batch.states(k), &states);
            worst = worst.max(apart);
            assert!(apart < 1e-12, "tree {trial}, skeleton {k}: {apart:.1e}");
        }
    }
    println!("worst {worst:.1e}");
}

#[test]
fn fast_spins_take_the_way_round_of_the_series() {
    // Half a turn a step: far outside of what the series of small turns can do.
    let mut tree = Random::new(5).tree(1, NOTE_KINDS, 0.0, false);
    tree.states[0].angular_velocity *= 100.0;
    let mut batch = Batch::new(&tree.articulation, std::slice::from_ref(&tree.states)).unwrap();
    let mut stepper = Stepper::new(&tree.articulation, &tree.states, Integrator::Note, Stabilization::None);
    batch.step(0.01);
    stepper.step(&tree.articulation, &mut tree.states, 0.01);
    assert!(difference(&batch.states(0), &tree.states) < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let tree = Random::new(6).tree(4, &[ConstraintKind::Slider], 0.0, false);
    let error = Batch::new(&tree.articulation, std::slice::from_ref(&tree.states)).unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("constraint `c") && said.contains("is neither a hinge nor a ball\n  hint: "),
        "{said}"
    );
    let tree = Random::new(6).tree(4, NOTE_KINDS, 0.0, false);
    let few = vec![tree.states.clone(), tree.states[..3].to_vec()];
    let error = Batch::new(&tree.articulation, &few).unwrap_err();
    assert_eq!(error.to_string(), "skeleton 1 has 3 bodies, the articulation 4");
    assert_eq!(Batch::new(&tree.articulation, &[]).unwrap().skeletons(), 0);
}
