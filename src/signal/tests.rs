//! Laws of filters, interpolation and sequences of rotations, on random numbers with fixed seeds.

use super::*;
use crate::math::{Quat, Vec3, exp};
use crate::perturbed::Noise;
use crate::seeds::{below, for_seeds};

fn numbers(noise: &mut Noise, count: usize) -> Vec<f64> {
    (0..count).map(|_| noise.normal()).collect()
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, x| most.max(x.abs()))
}

type Filter = Box<dyn Fn(&[f64]) -> Vec<f64>>;
type InPlace = Box<dyn Fn(&mut [f64])>;

/// Every filter of a list of numbers, by name.
fn filters() -> Vec<(&'static str, Filter)> {
    let in_place = |apply: InPlace| {
        move |x: &[f64]| {
            let mut x = x.to_vec();
            apply(&mut x);
            x
        }
    };
    let butterworth = Butterworth::new(6.0, 60.0).unwrap();
    let polynomial = SavitzkyGolay::new(9, 3).unwrap();
    let second = whittaker_penalty(Difference::Second, 4.0, 60.0);
    vec![
        ("butterworth", Box::new(in_place(Box::new(move |x| butterworth.apply(x))))),
        ("savitzky-golay", Box::new(in_place(Box::new(move |x| polynomial.apply(x))))),
        ("gaussian", Box::new(|x: &[f64]| gaussian(x, 2.5))),
        (
            "whittaker",
            Box::new(move |x: &[f64]| whittaker(Difference::Second, &vec![1.0; x.len()], x, second)),
        ),
    ]
}

#[test]
fn filters_are_linear_keep_constants_and_have_no_direction() {
    for (name, filter) in filters() {
        for_seeds(30, |noise| {
            let count = 30 + below(noise, 40);
            let (x, y) = (numbers(noise, count), numbers(noise, count));
            let (a, b) = (noise.normal(), noise.normal());
            let both: Vec<f64> = x.iter().zip(&y).map(|(x, y)| a * x + b * y).collect();
            let (fx, fy, fboth) = (filter(&x), filter(&y), filter(&both));
            let off = (0..count).map(|k| fboth[k] - a * fx[k] - b * fy[k]);
            assert!(largest(off) < 1e-7, "{name}");
            assert!(largest(filter(&vec![a; count]).iter().map(|x| x - a)) < 1e-7, "{name}");
            if name != "butterworth" {
                // The ends of the recursive filter differ between directions.
                let backwards: Vec<f64> = x.iter().rev().copied().collect();
                let off =
                    filter(&backwards).into_iter().rev().zip(&fx).map(|(p, q)| p - q).collect::<Vec<_>>();
                assert!(largest(off.into_iter()) < 1e-7, "{name}");
            }
        });
    }
}

#[test]
fn filters_remove_variation_and_never_add_any_in_the_middle() {
    for (name, filter) in filters() {
        for_seeds(20, |noise| {
            let x = numbers(noise, 200);
            let roughness = |x: &[f64]| x[20..180].windows(2).map(|w| (w[1] - w[0]).powi(2)).sum::<f64>();
            let (before, after) = (roughness(&x), roughness(&filter(&x)));
            assert!(after < before, "{name}: {after} {before}");
        });
    }
}

#[test]
fn hermite_pieces_meet_their_ends_and_slopes_and_reproduce_cubics() {
    for_seeds(100, |noise| {
        let c: [Vec3; 4] = std::array::from_fn(|_| noise.vector(1.0));
        let at = |t: f64| c[0] + (c[1] + (c[2] + c[3] * t) * t) * t;
        let slope = |t: f64| c[1] + (c[2] * 2.0 + c[3] * (3.0 * t)) * t;
        let t = noise.even();
        let found = hermite(&at(0.0), &slope(0.0), &at(1.0), &slope(1.0), t);
        assert!((found - at(t)).norm() < 1e-12, "{found:?} {:?}", at(t));
    });
}

#[test]
fn hemispheres_of_a_sequence_change_signs_only_and_once() {
    for_seeds(50, |noise| {
        let count = 1 + below(noise, 50);
        let mut q = Quat::identity();
        let random: Vec<Quat> = (0..count)
            .map(|_| {
                q *= exp(&noise.vector(0.4));
                if noise.even() < 0.5 { q } else { Quat::new_unchecked(-q.into_inner()) }
            })
            .collect();
        let mut fixed = random.clone();
        fix_sequence(&mut fixed);
        for (a, b) in fixed.iter().zip(&random) {
            assert!(a == b || a.coords == -b.coords);
        }
        assert!(fixed.windows(2).all(|w| w[0].coords.dot(&w[1].coords) >= 0.0));
        let once = fixed.clone();
        fix_sequence(&mut fixed);
        assert_eq!(fixed, once);
    });
}

#[test]
fn smoothed_rotations_follow_a_constant_rotation_before_and_after() {
    for_seeds(20, |noise| {
        let mut q = exp(&noise.vector(1.0));
        let mut all: Vec<Quat> = (0..60)
            .map(|_| {
                q *= exp(&noise.vector(0.05));
                q
            })
            .collect();
        fix_sequence(&mut all);
        let filter = |x: &mut [f64]| {
            let calm = gaussian(x, 2.0);
            x.copy_from_slice(&calm);
        };
        let turn = exp(&noise.vector(1.0));
        let smooth = |mut q: Vec<Quat>| {
            smooth_rotations(&mut q, 60.0, filter);
            q
        };
        let plain = smooth(all.clone());
        let turned = smooth(all.iter().map(|q| turn * q).collect());
        for (a, b) in plain.iter().zip(&turned) {
            assert!((turn * a).angle_to(b) < 1e-6 && (a.norm() - 1.0).abs() < 1e-9);
        }
        let farthest = plain.iter().zip(&all).map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max);
        assert!(farthest < 0.5, "{farthest}");
    });
}

#[test]
fn spans_partition_the_frames() {
    for_seeds(100, |noise| {
        let count = below(noise, 40);
        let labels: Vec<bool> = (0..count).map(|_| noise.even() < 0.6).collect();
        let (on, off) = (spans(0..count, |f| labels[f]), spans(0..count, |f| !labels[f]));
        let mut all: Vec<_> = on.iter().chain(&off).cloned().collect();
        all.sort_by_key(|s| s.start);
        assert!(all.windows(2).all(|w| w[0].end == w[1].start));
        assert_eq!(all.iter().map(|s| s.len()).sum::<usize>(), count);
        assert!(on.iter().all(|s| s.clone().all(|f| labels[f])));
        assert!(on.windows(2).all(|w| w[0].end < w[1].start));
    });
}

#[test]
fn monotone_curves_follow_shifts_scales_and_reversed_time() {
    for_seeds(100, |noise| {
        let mut time = 0.0;
        let keys: Vec<(f64, [f64; 2])> = (0..2 + below(noise, 8))
            .map(|_| {
                time += 0.1 + noise.even();
                (time, [noise.normal(), noise.normal()])
            })
            .collect();
        let t = noise.even() * (time + 0.5);
        let at = monotone(&keys, t).unwrap();
        let (shift, scale) = (noise.normal(), noise.normal());
        let changed: Vec<_> = keys.iter().map(|(t, v)| (*t, v.map(|x| scale * x + shift))).collect();
        let there = monotone(&changed, t).unwrap();
        let later: Vec<_> = keys.iter().map(|(t, v)| (2.0 * t + 7.0, *v)).collect();
        let slower = monotone(&later, 2.0 * t + 7.0).unwrap();
        let reversed: Vec<_> = keys.iter().rev().map(|(t, v)| (-t, *v)).collect();
        let back = monotone(&reversed, -t).unwrap();
        for k in 0..2 {
            assert!((there[k] - (scale * at[k] + shift)).abs() < 1e-9);
            assert!((slower[k] - at[k]).abs() < 1e-9 && (back[k] - at[k]).abs() < 1e-9);
        }
    });
}

#[test]
fn rates_locate_frames_in_order_and_their_own_frames_exactly() {
    for_seeds(100, |noise| {
        let rate = |noise: &mut Noise| Rate::from_hz(1.0 + (noise.even() * 2000.0).round() / 8.0).unwrap();
        let (a, b) = (rate(noise), rate(noise));
        let k = below(noise, 1_000_000);
        assert_eq!(a.locate(k, a), (k, 0.0));
        let (frame, part) = a.locate(k, b);
        let seconds = k as f64 / a.hz();
        assert!(((frame as f64 + part) / b.hz() - seconds).abs() <= 1e-9 * (1.0 + seconds));
        assert!(a.locate(k + 1, b) > (frame, part));
        let frames = 1 + below(noise, 5000);
        assert!(b.count(a.count(frames, b), a) <= frames);
        assert_eq!(a.count(frames, a), frames);
    });
}
