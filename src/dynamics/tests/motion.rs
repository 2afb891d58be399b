//! What motion keeps: momenta and energy, the order of every integrator, and the balance of power.

use super::support::*;
use posemill::dynamics::*;
use posemill::math::Vec3;

const NOTE_KINDS: &[ConstraintKind] = &[ConstraintKind::Hinge, ConstraintKind::Ball];

fn momenta_and_energy(art: &Articulation, states: &[BodyState]) -> (Vec3, Vec3, f64) {
    let energy = art.kinetic_energy(states) + art.potential_energy(states);
    (art.linear_momentum(states), art.angular_momentum(states), energy)
}

fn sizes(art: &Articulation, states: &[BodyState]) -> (f64, f64) {
    let centre = art.centre_of_mass(states);
    let each = |(b, s): (&Body, &BodyState)| {
        let p = s.velocity.norm() * b.mass;
        (p, (s.position - centre).norm() * p + (b.inertia * s.angular_velocity).norm())
    };
    art.bodies().iter().zip(states).map(each).fold((0.0, 0.0), |(p, l), (dp, dl)| (p + dp, l + dl))
}

#[test]
fn restored_free_skeletons_keep_momenta_and_energy_for_thirty_seconds() {
    for r in reference_files() {
        if r.articulation.is_driven() || !r.articulation.floats_as_one() {
            continue;
        }
        let mut states = r.states[0].clone();
        let mut stepper =
            Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Restore);
        let (p, _, e) = momenta_and_energy(&r.articulation, &states);
        // About the centre of mass: about the origin, the distance travelled by the centre would dominate.
        let spin = |states: &[BodyState]| {
            let (p, l, _) = momenta_and_energy(&r.articulation, states);
            l - r.articulation.centre_of_mass(states).cross(&p)
        };
        let (l, (p_size, l_size)) = (spin(&states), sizes(&r.articulation, &states));
        let mut largest = [0.0f64; 3];
        for _ in 0..30 * 120 {
            stepper.step(&r.articulation, &mut states, 1.0 / 120.0);
            let (p2, _, e2) = momenta_and_energy(&r.articulation, &states);
            largest[0] = largest[0].max((p2 - p).norm() / p_size);
            largest[1] = largest[1].max((spin(&states) - l).norm() / l_size);
            largest[2] = largest[2].max((e2 / e - 1.0).abs());
        }
        println!("{}: {largest:?}, refused {}", r.name, stepper.refused_scalings);
        assert!(largest.iter().all(|x| *x < 1e-12), "{}: {largest:?}", r.name);
        assert!(r.articulation.constraint_error(&states) < 1e-12);
        // What the step itself leaves to be restored is little: no scaling was ever refused.
        assert_eq!(stepper.refused_scalings, 0, "{}", r.name);
    }
}

#[test]
fn what_restoration_puts_right_is_the_error_of_the_step_and_shrinks_with_its_order() {
    // Without restoration momenta and energy drift by what fourth order leaves, not by a fault of the equations.
    for r in reference_files() {
        if r.articulation.is_driven() || !r.articulation.floats_as_one() || r.name.starts_with("15") {
            continue;
        }
        let (_, _, e) = momenta_and_energy(&r.articulation, &r.states[0]);
        let drift = |h: f64| {
            let states = r.run(h, 1.0, Integrator::RungeKutta4, Stabilization::Project);
            (momenta_and_energy(&r.articulation, &states).2 / e - 1.0).abs()
        };
        let (coarse, fine) = (drift(1.0 / 120.0), drift(1.0 / 480.0));
        println!("{}: energy drifts by {coarse:.1e} at 1/120 s, {fine:.1e} at 1/480 s", r.name);
        // Two halvings at order four or better: 256, or rounding.
        assert!(fine < coarse / 100.0 || fine < 1e-12, "{}: {coarse:.1e}, {fine:.1e}", r.name);
    }
}

#[test]
fn a_free_skeleton_in_gravity_falls_on_a_parabola() {
    let mut random = Random::new(9);
    let mut tree = random.tree(6, NOTE_KINDS, 0.0, false);
    tree.articulation.gravity = Vec3::new(0.0, -9.81, 0.0);
    let (p, l, e) = momenta_and_energy(&tree.articulation, &tree.states);
    let (mass, c) = (tree.articulation.total_mass(), tree.articulation.centre_of_mass(&tree.states));
    let mut stepper =
        Stepper::new(&tree.articulation, &tree.states, Integrator::RungeKutta4, Stabilization::Restore);
    let steps = 240;
    for _ in 0..steps {
        stepper.step(&tree.articulation, &mut tree.states, 1.0 / 120.0);
    }
    let t = f64::from(steps) / 120.0;
    let centre = tree.articulation.centre_of_mass(&tree.states);
    let wanted = c + p * (t / mass) + tree.articulation.gravity * (0.5 * t * t);
    assert!((centre - wanted).norm() < 1e-11);
    let (p2, l2, e2) = momenta_and_energy(&tree.articulation, &tree.states);
    assert!((p2 - p - tree.articulation.gravity * (mass * t)).norm() < 1e-10);
    assert!((l2 - centre.cross(&p2) - (l - c.cross(&p))).norm() < 1e-11);
    assert!((e2 - e).abs() < 1e-11 * e.abs().max(100.0));
}

#[test]
fn the_notes_step_is_of_first_order() {
    for r in reference_files() {
        if r.articulation.constraints().is_empty() {
            continue;
        }
        let error = |h: f64| r.error_at(&r.run(h, 0.5, Integrator::Note, Stabilization::None), 0.5);
        let order = (error(1e-3) / error(5e-4)).log2();
        println!("{}: order {order:.3}", r.name);
        assert!((order - 1.0).abs() < 0.03, "{}: order {order:.3}", r.name);
    }
}

#[test]
fn the_variational_step_is_of_second_order_and_keeps_its_invariants() {
    for r in reference_files() {
        // Passive: with friction the kicks are explicit, and the order is that of the friction.
        if r.articulation.is_driven() || r.articulation.constraints().is_empty() {
            continue;
        }
        let run = |h: f64| r.run(h, 0.5, Integrator::Variational, Stabilization::None);
        let (coarse, fine) = (run(4e-3), run(2e-3));
        let order = (r.error_at(&coarse, 0.5) / r.error_at(&fine, 0.5)).log2();
        println!("{}: order {order:.3}", r.name);
        assert!((order - 2.0).abs() < 0.15, "{}: order {order:.3}", r.name);
        assert!(r.articulation.constraint_error(&fine) < 1e-12);
        if r.articulation.floats_as_one() {
            let (p, l, _) = momenta_and_energy(&r.articulation, &r.states[0]);
            let (p2, l2, _) = momenta_and_energy(&r.articulation, &fine);
            assert!(
                (p2 - p).norm() < 1e-11 * p.norm().max(1.0) && (l2 - l).norm() < 1e-10 * l.norm().max(1.0)
            );
        }
    }
}

#[test]
fn the_variational_steps_energy_error_stays_bounded() {
    let Some(r) = reference_files().into_iter().find(|r| r.name.starts_with("02")) else { return };
    let mut states = r.states[0].clone();
    let mut stepper = Stepper::new(&r.articulation, &states, Integrator::Variational, Stabilization::None);
    let energy = r.articulation.kinetic_energy(&states);
    let mut early: f64 = 0.0;
    let mut late: f64 = 0.0;
    for k in 0..1800 {
        stepper.step(&r.articulation, &mut states, 1.0 / 120.0);
        let drift = (r.articulation.kinetic_energy(&states) / energy - 1.0).abs();
        if k < 360 { early = early.max(drift) } else { late = late.max(drift) }
    }
    println!("energy: first 3 s {early:.1e}, rest {late:.1e}");
    assert!(late < 2.0 * early && late < 1e-3);
}

#[test]
fn pinned_energy_drifts_little() {
    let Some(r) = reference_files().into_iter().find(|r| r.name.starts_with("12")) else { return };
    let mut states = r.states[0].clone();
    let mut stepper = Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Project);
    let energy = |s: &[BodyState]| r.articulation.kinetic_energy(s) + r.articulation.potential_energy(s);
    let start = energy(&states);
    for _ in 0..2000 {
        stepper.step(&r.articulation, &mut states, 1e-3);
    }
    let drift = (energy(&states) / start - 1.0).abs();
    println!("drift {drift:.1e}");
    assert!(drift <= 1e-8, "{drift:.1e}");
}

#[test]
fn friction_takes_what_the_energy_loses() {
    let mut found = 0;
    for r in reference_files() {
        if !r.articulation.is_driven() {
            continue;
        }
        found += 1;
        let (h, steps) = (1e-3, 500);
        let mut states = r.states[0].clone();
        let mut stepper =
            Stepper::new(&r.articulation, &states, Integrator::RungeKutta4, Stabilization::Project);
        let energy = |s: &[BodyState]| r.articulation.kinetic_energy(s) + r.articulation.potential_energy(s);
        let start = energy(&states);
        // Simpson's rule over pairs of steps.
        let mut work = 0.0;
        let mut turnover: f64 = start.abs().max(1e-3);
        for _ in 0..steps / 2 {
            let mut power = r.articulation.drive_power(&states);
            for weight in [4.0, 1.0] {
                stepper.step(&r.articulation, &mut states, h);
                power += weight * r.articulation.drive_power(&states);
            }
            work += power * h / 3.0;
            turnover = turnover.max(energy(&states).abs());
        }
        let error = (energy(&states) - start - work).abs() / turnover;
        println!("{}: {error:.1e}", r.name);
        assert!(error < 1e-6, "{}: {error:.1e}", r.name);
        assert!(work.abs() > 1e-4);
    }
    assert!(found == 0 || found >= 6);
}

#[test]
fn later_times_follow_the_references_too() {
    for r in reference_files() {
        // The file's own last time: 1 to 5 s.
        let last = r.times.iter().copied().fold(0.0, f64::max);
        let states = r.run(2.5e-4, last, Integrator::RungeKutta4, Stabilization::Project);
        let error = r.error_at(&states, last);
        let allowed = (20.0 * r.estimates[r.index_of(last)]).max(1e-8);
        println!("{} at {last} s: {error:.1e}", r.name);
        assert!(error <= allowed, "{} at {last} s: {error:.1e} > {allowed:.1e}", r.name);
    }
}
