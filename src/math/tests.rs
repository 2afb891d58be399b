//! Laws of averages, quantiles, rotations and small matrices, on random numbers with fixed seeds.

use super::*;
use crate::perturbed::Noise;
use crate::seeds::{below, for_seeds};

fn rotation(noise: &mut Noise) -> Quat {
    exp(&noise.vector(1.2))
}

fn numbers(noise: &mut Noise, count: usize) -> Vec<f64> {
    (0..count).map(|_| noise.normal()).collect()
}

#[test]
fn medians_and_quantiles_are_those_of_the_sorted_list() {
    for_seeds(200, |noise| {
        let count = 1 + below(noise, 40);
        let values = numbers(noise, count);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
        assert!((median(values.clone()) - middle).abs() < 1e-15);
        assert!((percentile(&values, 0.5) - middle).abs() < 1e-12);
        let q = noise.even();
        let rank = q * (count - 1) as f64;
        let (low, part) = (rank.floor() as usize, rank.fract());
        let high = (low + 1).min(count - 1);
        let expected = sorted[low] + part * (sorted[high] - sorted[low]);
        assert!((percentile(&values, q) - expected).abs() < 1e-12);
        assert_eq!(nearest_rank(&mut values.clone(), q), Some(sorted[rank.round() as usize]));
        assert_eq!(percentile(&values, -1.0), sorted[0]);
        assert_eq!(percentile(&values, 2.0), sorted[count - 1]);
    });
}

#[test]
fn quantiles_rise_with_the_share_and_follow_shifts_and_scales() {
    for_seeds(100, |noise| {
        let count = 1 + below(noise, 30);
        let values = numbers(noise, count);
        let (a, b) = (noise.even(), noise.even());
        let (p, q) = (a.min(b), a.max(b));
        assert!(percentile(&values, p) <= percentile(&values, q));
        let (shift, scale) = (noise.normal(), 0.1 + noise.even());
        let changed: Vec<f64> = values.iter().map(|x| scale * x + shift).collect();
        assert!((percentile(&changed, q) - (scale * percentile(&values, q) + shift)).abs() < 1e-12);
        assert!((median(changed) - (scale * median(values) + shift)).abs() < 1e-12);
    });
}

#[test]
fn equal_weights_weigh_as_none_and_a_weight_counts_as_copies() {
    for_seeds(100, |noise| {
        let count = 1 + below(noise, 12);
        let values = numbers(noise, count);
        let copies: Vec<usize> = (0..count).map(|_| 1 + below(noise, 4)).collect();
        let weights: Vec<f64> = copies.iter().map(|&n| n as f64).collect();
        let repeated: Vec<f64> = values.iter().zip(&copies).flat_map(|(&v, &n)| vec![v; n]).collect();
        // Shares between the steps: at a step rounding decides.
        let total: usize = copies.iter().sum();
        let q = (below(noise, total) as f64 + 0.5) / total as f64;
        let ones = vec![1.0; repeated.len()];
        assert_eq!(weighted_quantile(&values, &weights, q), weighted_quantile(&repeated, &ones, q));
        let doubled: Vec<f64> = weights.iter().map(|w| 2.0 * w).collect();
        assert_eq!(weighted_quantile(&values, &weights, q), weighted_quantile(&values, &doubled, q));
    });
}

#[test]
fn averages_rotate_with_what_they_average_and_ignore_order_and_signs() {
    for_seeds(60, |noise| {
        let count = 2 + below(noise, 8);
        let centre = rotation(noise);
        let near = |noise: &mut Noise| centre * exp(&noise.vector(0.2));
        let q: Vec<Quat> = (0..count).map(|_| near(noise)).collect();
        let w: Vec<f64> = (0..count).map(|_| 0.1 + noise.even()).collect();
        let turn = rotation(noise);
        let turned: Vec<Quat> = q.iter().map(|q| turn * q).collect();
        let signs: Vec<Quat> = q
            .iter()
            .map(|q| if noise.even() < 0.5 { *q } else { Quat::new_unchecked(-q.into_inner()) })
            .collect();
        let (back, weights): (Vec<Quat>, Vec<f64>) = q.iter().copied().zip(w.iter().copied()).rev().unzip();
        for mean in [mean_rotation, plain_mean_rotation] {
            let m = mean(&q, &w);
            assert!(rotation_between(&mean(&turned, &w), &(turn * m)) < 1e-7);
            assert!(rotation_between(&mean(&signs, &w), &m) < 1e-9);
            assert!(rotation_between(&mean(&back, &weights), &m) < 1e-9);
            let farthest = q.iter().map(|q| rotation_between(q, &m)).fold(0.0, f64::max);
            let pairs = q.iter().flat_map(|a| q.iter().map(|b| rotation_between(a, b)));
            assert!(farthest <= pairs.fold(0.0, f64::max) + 1e-9);
        }
        let v: Vec<Vec3> = q.iter().map(|q| q * Vec3::y()).collect();
        let turned: Vec<Vec3> = v.iter().map(|v| turn * v).collect();
        let (a, b) = (mean_direction(&v, &w).unwrap(), mean_direction(&turned, &w).unwrap());
        assert!((turn * a - b).norm() < 1e-9 && (a.norm() - 1.0).abs() < 1e-12);
    });
}

#[test]
fn the_angle_between_rotations_is_a_metric() {
    for_seeds(200, |noise| {
        let (a, b, c) = (rotation(noise), rotation(noise), rotation(noise));
        let (ab, bc, ac) = (rotation_between(&a, &b), rotation_between(&b, &c), rotation_between(&a, &c));
        assert!((ab - rotation_between(&b, &a)).abs() < 1e-12);
        assert!(ac <= ab + bc + 1e-9);
        assert!((0.0..=std::f64::consts::PI + 1e-12).contains(&ab));
        let turn = rotation(noise);
        assert!((rotation_between(&(turn * a), &(turn * b)) - ab).abs() < 1e-9);
        assert!((rotation_between(&(a * turn), &(b * turn)) - ab).abs() < 1e-9);
        assert!((rotation_between(&a, &b) - log(&(a.inverse() * b)).norm()).abs() < 1e-7);
    });
}

#[test]
fn slerp_goes_at_constant_speed_along_the_shorter_arc() {
    for_seeds(100, |noise| {
        let (a, b) = (rotation(noise), rotation(noise));
        let b = same_hemisphere(b, &a);
        let (t, whole) = (noise.even(), rotation_between(&a, &b));
        let between = slerp(&a, &b, t);
        assert!((rotation_between(&a, &between) - t * whole).abs() < 1e-7);
        assert!((rotation_between(&between, &b) - (1.0 - t) * whole).abs() < 1e-7);
        assert!(rotation_between(&slerp(&b, &a, 1.0 - t), &between) < 1e-7);
        assert!(rotation_between(&slerp(&a, &b, 0.0), &a) < 1e-12);
        assert!(rotation_between(&slerp(&a, &b, 1.0), &b) < 1e-12);
    });
}

#[test]
fn columns_of_a_rotation_give_the_rotation_back() {
    for_seeds(300, |noise| {
        let q = if noise.even() < 0.5 {
            rotation(noise)
        } else {
            exp(&(noise.vector(1.0).normalize() * (std::f64::consts::PI - 1e-5)))
        };
        let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| q * axis);
        assert!(rotation_between(&from_columns(&x, &y, &z), &q) < 1e-9);
        let p = any_perpendicular(&x);
        assert!(p.dot(&x).abs() < 1e-12 && (p.norm() - 1.0).abs() < 1e-12);
        let v = noise.vector(1.0);
        assert!((hat(&x) * v - x.cross(&v)).norm() < 1e-12);
    });
}

#[test]
fn transforms_form_a_group_and_their_matrices_multiply() {
    for_seeds(100, |noise| {
        let mut transform = || Transform::new(rotation(noise), noise.vector(2.0));
        let (a, b, c) = (transform(), transform(), transform());
        let p = noise.vector(1.0);
        assert!(((a * b).point(&p) - a.point(&b.point(&p))).norm() < 1e-12);
        let (left, right) = ((a * b) * c, a * (b * c));
        assert!((left.point(&p) - right.point(&p)).norm() < 1e-12);
        assert!(((a * b).inverse().point(&p) - (b.inverse() * a.inverse()).point(&p)).norm() < 1e-12);
        assert!(((a * b).to_matrix() - a.to_matrix() * b.to_matrix()).norm() < 1e-12);
        assert!((a.vector(&p) - (a.point(&p) - a.translation)).norm() < 1e-12);
        assert!((a.vector(&p).norm() - p.norm()).abs() < 1e-12);
    });
}

#[test]
fn nearest_points_of_segments_do_not_depend_on_their_order_or_direction() {
    for_seeds(200, |noise| {
        let mut segment = || [noise.vector(1.0), noise.vector(1.0)];
        let (a, b) = (segment(), segment());
        let apart = |a: &[Vec3; 2], b: &[Vec3; 2]| {
            let [p, q] = nearest_points_of_segments(a, b);
            (p - q).norm()
        };
        let d = apart(&a, &b);
        let back = |s: &[Vec3; 2]| [s[1], s[0]];
        assert!((apart(&b, &a) - d).abs() < 1e-9);
        assert!((apart(&back(&a), &b) - d).abs() < 1e-9 && (apart(&a, &back(&b)) - d).abs() < 1e-9);
        let place = Transform::new(rotation(noise), noise.vector(3.0));
        let moved = |s: &[Vec3; 2]| s.map(|p| place.point(&p));
        assert!((apart(&moved(&a), &moved(&b)) - d).abs() < 1e-9);
        let t = nearest_on_segment(&a, &b[0]);
        assert!((0.0..=1.0).contains(&t));
        assert!(
            (a[0].lerp(&a[1], t) - b[0]).norm() <= (a[0] - b[0]).norm().min((a[1] - b[0]).norm()) + 1e-12
        );
    });
}

#[test]
fn smoothstep_rises_and_is_symmetric_about_its_middle() {
    let all: Vec<f64> = (-10..=30).map(|k| smoothstep(f64::from(k) / 20.0)).collect();
    assert!(all.is_sorted());
    assert_eq!((all[0], all[40]), (0.0, 1.0));
    for k in 0..=20 {
        let t = f64::from(k) / 20.0;
        assert!((smoothstep(t) + smoothstep(1.0 - t) - 1.0).abs() < 1e-15);
    }
    assert!(smoothstep(1e-4) < 1e-7 && 1.0 - smoothstep(1.0 - 1e-4) < 1e-7);
}

#[test]
fn triples_are_vectors() {
    for_seeds(50, |noise| {
        let (a, b, s) = (noise.vector(1.0), noise.vector(1.0), noise.normal());
        let t = |v: &Vec3| [v.x, v.y, v.z];
        let near = |x: [f64; 3], y: Vec3| (Vec3::from(x) - y).norm() < 1e-12;
        assert!(near(sum(t(&a), t(&b)), a + b) && near(difference(t(&a), t(&b)), a - b));
        assert!(near(scaled(t(&a), s), a * s) && near(cross(t(&a), t(&b)), a.cross(&b)));
        assert!((dot(t(&a), t(&b)) - a.dot(&b)).abs() < 1e-12);
    });
}

#[cfg(feature = "physics")]
#[test]
fn symmetric_matrices_compute_what_full_ones_do() {
    for_seeds(100, |noise| {
        let mut matrix =
            || Symmetric3(std::array::from_fn(|k| noise.normal() + if k < 3 { 5.0 } else { 0.0 }));
        let (m, n) = (matrix(), matrix());
        let (v, d) = (noise.vector(1.0), noise.normal());
        let near = |a: &Symmetric3, b: Mat3<f64>| (a.full() - b).norm() < 1e-9;
        assert!(near(&m.plus(&n), m.full() + n.full()));
        assert!(near(&m.plus_diagonal(d), m.full() + Mat3::identity() * d));
        assert!(near(&Symmetric3::diagonal(d), Mat3::identity() * d));
        assert!((m.apply(&v) - m.full() * v).norm() < 1e-9);
        assert!(near(&m.inverse(), m.full().try_inverse().unwrap()));
        assert_eq!(Symmetric3::upper(&m.full()), m);
        let t = [v.x, v.y, v.z];
        assert!(near(&m.plus_outer(scaled(t, d), t), m.full() + v * v.transpose() * d));
        let mut less = m.plus(&Symmetric3::outer(t, t));
        less.subtract_outer(&v, &v);
        assert!(near(&less, m.full()));
        let r = rotation(noise).to_rotation_matrix().into_inner();
        assert!(near(&m.rotated(&r), r * m.full() * r.transpose()));
    });
}
