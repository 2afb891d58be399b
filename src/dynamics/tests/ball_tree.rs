//! A tree of balls in joint coordinates against MuJoCo, and its steps against its own inverse dynamics.

use crate::dynamics::{BallLink, BallTree, JointState, JointVector};
use crate::math::{Mat3, Quat, RawQuat, Vec3};

/// The tree of the reference file: state, rates, acceleration, force.
struct Reference {
    tree: BallTree,
    state: JointState,
    rates: JointVector,
    acceleration: JointVector,
    force: JointVector,
}

fn reference() -> Reference {
    let text = include_str!("ball_tree_mujoco.txt");
    let numbers = |line: &str| line.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let mut rows = text.lines().filter(|line| !line.starts_with('#')).map(numbers);
    let vector = |row: &[f64], k: usize| Vec3::new(row[k], row[k + 1], row[k + 2]);
    let root = rows.next().unwrap();
    let mut links = Vec::new();
    let mut state = JointState { position: vector(&root, 0), rotations: Vec::new() };
    let [mut rates, mut acceleration, mut force] =
        [3, 6, 9].map(|k| JointVector { linear: vector(&root, k), angular: Vec::new() });
    for row in rows {
        let i = &row[8..14];
        links.push(BallLink {
            name: format!("b{}", links.len()),
            parent: (row[0] >= 0.0).then_some(row[0] as usize),
            offset: vector(&row, 1),
            mass: row[4],
            centre: vector(&row, 5),
            inertia: Mat3::new(i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]),
        });
        state.rotations.push(Quat::new_normalize(RawQuat::new(row[14], row[15], row[16], row[17])));
        rates.angular.push(vector(&row, 18));
        acceleration.angular.push(vector(&row, 21));
        force.angular.push(vector(&row, 24));
    }
    Reference { tree: BallTree::new(links).unwrap(), state, rates, acceleration, force }
}

fn largest(a: &JointVector) -> f64 {
    a.angular.iter().map(|v| v.norm()).fold(a.linear.norm(), f64::max)
}

fn apart(a: &JointVector, b: &JointVector) -> f64 {
    largest(&a.zip(b, |a, b| a - b)) / largest(b)
}

#[test]
fn inverse_dynamics_are_those_of_mujoco() {
    let r = reference();
    let placed = r.tree.place(&r.state);
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let force = r.tree.inverse_dynamics(&placed, &r.rates, &r.acceleration, &gravity);
    assert!(apart(&force, &r.force) < 1e-9, "{:.1e}", apart(&force, &r.force));
}

#[test]
fn a_step_with_resistance_undoes_inverse_dynamics() {
    let mut r = reference();
    let placed = r.tree.place(&r.state);
    let still = JointVector::zeros(r.rates.angular.len());
    for most in [0.0, 3.0] {
        let gains: Vec<f64> =
            (0..r.rates.angular.len()).map(|k| if k == 0 { 0.0 } else { most * k as f64 }).collect();
        let mut impulse = r.tree.inverse_dynamics(&placed, &still, &r.rates, &Vec3::zeros());
        for (k, gain) in gains.iter().enumerate() {
            impulse.angular[k] += r.rates.angular[k] * *gain;
        }
        let change = r.tree.step(&placed, &gains, &impulse);
        assert!(apart(&change, &r.rates) < 1e-9, "gain {most}: {:.1e}", apart(&change, &r.rates));
        // Responses to impulses at points are symmetric, and those of the same matrix.
        let (p, q) = ((3, Vec3::new(0.3, -0.2, 0.5)), (6, Vec3::new(-0.4, 0.1, 0.2)));
        let (u, v) = (Vec3::new(1.0, 2.0, -1.0), Vec3::new(0.5, -0.3, 0.8));
        r.tree.respond(&placed, std::iter::once((p.0, p.1, u)));
        let (there, rates) = (r.tree.velocity_at(&placed, q.0, &q.1).dot(&v), r.tree.rates(&placed));
        let generalised = r.tree.of_forces(&placed, &[(p.0, p.1, u)]);
        let at = r.tree.point_velocities(&placed, &rates, &[q])[0].dot(&v);
        // The motion of some bodies is the same bits without the others.
        let paths = r.tree.paths([p.0, q.0].into_iter());
        assert!(paths.len() > 1 && paths.iter().map(|path| path.len()).sum::<usize>() < gains.len());
        let moving = |tree: &BallTree| [p, q].map(|(body, at)| tree.velocity_at(&placed, body, &at));
        for (body, at, push) in [(p.0, p.1, u), (q.0, q.1, v)] {
            r.tree.respond(&placed, std::iter::once((body, at, push)));
            let with_all = moving(&r.tree);
            r.tree.respond(&placed, std::iter::once((0, at, u)));
            r.tree.respond_on(&paths, &placed, std::iter::once((body, at, push)));
            assert_eq!(moving(&r.tree), with_all);
        }
        r.tree.respond(&placed, std::iter::once((q.0, q.1, v)));
        let back = r.tree.velocity_at(&placed, p.0, &p.1).dot(&u);
        assert!((there - back).abs() < 1e-9 * there.abs() && (there - at).abs() < 1e-9 * there.abs());
        let same = r.tree.step(&placed, &gains, &generalised);
        assert!(apart(&same, &rates) < 1e-9, "gain {most}: {:.1e}", apart(&same, &rates));
    }
}

#[test]
fn moving_undoes_a_difference() {
    let r = reference();
    let moved = r.state.moved(&r.rates, 0.1);
    let rates = moved.minus(&r.state).zip(&r.rates, |d, _| d / 0.1);
    assert!(apart(&rates, &r.rates) < 1e-12);
}
