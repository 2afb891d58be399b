//! Shapes touch where they should, and the bounded problem of their impulses has Dantzig's answer.

use super::support::Random;
use crate::dynamics::contact_point::Contact;
use crate::dynamics::lcp::{BoxedProblem, ImpulseBound};
use crate::dynamics::shape::Collider;
use crate::dynamics::shape_contact::contacts_of_pair;
use posemill::dynamics::*;
use posemill::math::{DMatrix, DVector, Quat, Transform, Vec3, exp};

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
    let pair = |at: Vec3, rotation: Quat, other: Quat| {
        let mut found = Vec::new();
        let (a, b) = (collider(0), collider(1));
        let (ta, tb) = (Transform::new(rotation, at), Transform::from_rotation(other));
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
            bounds: low.iter().zip(&high).map(|(l, h)| ImpulseBound::Box { low: *l, high: *h }).collect(),
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
fn sweeps_alone_find_the_friction_of_a_sliding_point() {
    // One point of unit mass with a normal load of 2, pushed sideways by (3, 4) against a coefficient of 0.5.
    let rows = || (0..3).map(|i| vec![(i, 1.0)]).collect();
    let sliding = |partner: fn(usize) -> Option<usize>| {
        let tangent = |k| ImpulseBound::Friction { normal: 0, coefficient: 0.5, partner: partner(k) };
        let bounds = vec![ImpulseBound::Box { low: 0.0, high: f64::INFINITY }, tangent(1), tangent(2)];
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

/// Dantzig's algorithm for constant boxes (D. Baraff, "Fast contact force computation for nonpenetrating rigid bodies",
/// 1994): rows are driven to their condition one by one, and rows that reach a bound meanwhile change sides.
/// `low <= 0 <= high` is needed, as for all impulses. `None` where a pivot fails (a singular free set).
fn dantzig(a: &DMatrix<f64>, b: &[f64], low: &[f64], high: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut x = DVector::zeros(n);
    let mut w = DVector::from_column_slice(b);
    let mut free: Vec<usize> = Vec::new();
    let mut state = vec![None::<i8>; n];
    for d in 0..n {
        // A row may change sides often, but never without x getting nearer; the bound only stops rounding loops.
        for _ in 0..50 * (n + 1) {
            if w[d].abs() <= 1e-14 {
                state[d] = Some(0);
                free.push(d);
                break;
            }
            let direction = if w[d] < 0.0 { 1.0 } else { -1.0 };
            if (direction > 0.0 && x[d] >= high[d]) || (direction < 0.0 && x[d] <= low[d]) {
                state[d] = Some(direction as i8);
                break;
            }
            // The free rows answer a unit push of row d so that their residuals stay zero.
            let k = free.len();
            let mut dx = DVector::zeros(n);
            dx[d] = direction;
            if k > 0 {
                let inner = DMatrix::from_fn(k, k, |i, j| a[(free[i], free[j])]);
                let push = DVector::from_fn(k, |i, _| -a[(free[i], d)] * direction);
                let answer = inner.cholesky()?.solve(&push);
                for (i, &row) in free.iter().enumerate() {
                    dx[row] = answer[i];
                }
            }
            let dw = a * &dx;
            if dw[d] * direction <= 0.0 {
                return None;
            }
            // The largest step until a row changes sides.
            let mut step = -w[d] / dw[d];
            let mut event: Option<(usize, Option<i8>)> = None;
            let mut limit = |t: f64, row: usize, next: Option<i8>, step: &mut f64| {
                if t < *step {
                    *step = t.max(0.0);
                    event = Some((row, next));
                }
            };
            let room = if direction > 0.0 { high[d] - x[d] } else { x[d] - low[d] };
            limit(room, d, Some(direction as i8), &mut step);
            for i in 0..d {
                match state[i] {
                    Some(0) if dx[i] < 0.0 => limit((low[i] - x[i]) / dx[i], i, Some(-1), &mut step),
                    Some(0) if dx[i] > 0.0 => limit((high[i] - x[i]) / dx[i], i, Some(1), &mut step),
                    Some(-1) if dw[i] < 0.0 => limit(-w[i] / dw[i], i, Some(0), &mut step),
                    Some(1) if dw[i] > 0.0 => limit(-w[i] / dw[i], i, Some(0), &mut step),
                    _ => {}
                }
            }
            x += &dx * step;
            w += &dw * step;
            match event {
                None => {
                    w[d] = 0.0;
                    state[d] = Some(0);
                    free.push(d);
                    break;
                }
                Some((row, next)) if row == d => {
                    state[d] = next;
                    x[d] = if direction > 0.0 { high[d] } else { low[d] };
                    break;
                }
                Some((row, Some(0))) => {
                    w[row] = 0.0;
                    state[row] = Some(0);
                    free.push(row);
                }
                Some((row, next)) => {
                    x[row] = if next == Some(-1) { low[row] } else { high[row] };
                    state[row] = next;
                    free.retain(|&f| f != row);
                }
            }
        }
        state[d]?;
    }
    Some(x.iter().copied().collect())
}
