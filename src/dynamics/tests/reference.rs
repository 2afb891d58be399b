//! Accelerations, joint forces and trajectories against the reference files, and both O(n) forms against the note.

use super::support::{reference_files, worst};
use posemill::dynamics::*;

#[test]
fn accelerations_and_joint_forces_are_those_of_every_reference_file() {
    for r in reference_files() {
        let states = &r.states[0];
        let forces = r.articulation.applied_forces(states);
        let mut solver = ArticulationSolver::new(&r.articulation);
        let mut kernel = Vec::new();
        solver.accelerations(&r.articulation, states, &forces, &mut kernel);
        let blocks = solve_blocks(&r.articulation, states, &forces, None).motions;
        let tolerance = 1e-10;
        let mut found = vec![("kernel", kernel), ("blocks", blocks)];
        if let Some(note) = solve_note(&r.articulation, states) {
            assert_eq!(note.rank, r.rank, "{}", r.name);
            found.push(("note", note.accelerations));
            if let Some((c, d)) = &r.joint_forces {
                let scale = c.iter().chain(d).map(|v| v.amax()).fold(0.0, f64::max);
                let (kc, kd) = solver.constraint_forces(&r.articulation);
                for (how, (fc, fd)) in [("kernel", (&kc, &kd)), ("note", (&note.c, &note.d))] {
                    let error = worst(fc, c).max(worst(fd, d)) / scale;
                    println!("{}: {how} (c, d) {error:.1e}", r.name);
                    assert!(error < tolerance, "{}: {how}: (c, d) differ by {error:.1e}", r.name);
                }
            }
        }
        for (how, accelerations) in found {
            let linear: Vec<_> = accelerations.iter().map(|a| a.linear).collect();
            let angular: Vec<_> = accelerations.iter().map(|a| a.angular).collect();
            let scale = r.linear.iter().chain(&r.angular).map(|v| v.amax()).fold(0.0, f64::max);
            let error = worst(&linear, &r.linear).max(worst(&angular, &r.angular)) / scale;
            println!("{}: {how} {error:.1e}", r.name);
            assert!(error < tolerance, "{}: {how}: accelerations differ by {error:.1e}", r.name);
        }
    }
}

#[test]
fn the_system_of_the_note_is_that_of_the_files() {
    let mut found = 0;
    for r in reference_files() {
        let Some((matrix, rhs)) = &r.system else { continue };
        found += 1;
        let note = solve_note(&r.articulation, &r.states[0]).unwrap();
        let scale = matrix.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        for (i, row) in matrix.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                assert!((note.matrix[(i, j)] - value).abs() < 1e-12 * scale, "{}: {i}, {j}", r.name);
            }
            assert!((note.rhs[i] - rhs[i]).abs() < 1e-10, "{}: {i}", r.name);
        }
        // Symmetric and negative semidefinite, as -J M^-1 J^T is.
        assert!((&note.matrix - note.matrix.transpose()).amax() < 1e-12 * scale);
        assert!(note.matrix.clone().symmetric_eigenvalues().max() < 1e-12 * scale);
    }
    assert!(found == 4 || reference_files().is_empty());
}

#[test]
fn runge_kutta_follows_every_reference_and_is_of_fourth_order() {
    for r in reference_files() {
        let error = |h: f64| r.error_at(&r.run(h, 0.5, Integrator::RungeKutta4, Stabilization::Project), 0.5);
        let fine = error(1e-3);
        println!("{}: {fine:.2e}", r.name);
        assert!(fine <= 1e-8, "{}: {fine:.2e} at 1 ms", r.name);
        if fine > 1e-10 && !r.name.starts_with("15") {
            let order = (error(2e-3) / fine).log2();
            assert!((order - 4.0).abs() < 0.3, "{}: order {order:.2}", r.name);
        }
    }
}
