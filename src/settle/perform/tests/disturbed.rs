//! Laws of a disturbed body: linearity, momentum, cones of friction, symmetry.

use super::scene::{Scene, chest_hit, hit_along, shipped};
use crate::body::COMMON_MASS as MASS;
use crate::kinematics::GRAVITY;
use crate::math::{Quat, Transform, Vec3, exp};
use crate::model::{Character, Clip, Joint, Motion, Rig, Role, Side, Skeleton};
use crate::settle::perform::blow::part_of_blow;
use crate::settle::perform::contact_forces::FRICTION;
use crate::settle::perform::feed_forward::gravity;
use crate::settle::perform::performed_clip::distances;
use crate::settle::perform::performer::{Controls, StepForces};
use crate::settle::perform::{OnFall, PerformOptions, perform};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// What happens in so many steps from one on, with a hit on the chest at the first: distances of the joints, and forces with
/// the impulse of the hit.
fn run(
    scene: &Scene,
    controls: Controls,
    start: usize,
    steps: usize,
    hit: Vec3,
) -> Vec<(Vec<f64>, StepForces, Vec3)> {
    let mut performer = scene.performer(controls, start);
    let (body, at) = scene.chest();
    let h = scene.reference.h;
    let step = |k: usize| {
        let given = part_of_blow(&hit, 0.03, k as f64 * h, (k + 1) as f64 * h);
        let forces = performer.advance(&[(body, at, given)]);
        let there = &scene.reference.states[performer.step];
        (distances(&scene.body, &performer.state, there), forces, given)
    };
    (0..steps).map(step).collect()
}

#[test]
fn small_hits_are_linear() {
    let scene = Scene::of(&shipped("walk.bvh", None));
    let start = scene.reference.steps() / 3;
    let of = |size: f64| run(&scene, Controls::default(), start, 72, Vec3::new(-0.7, 0.0, -0.7) * size);
    let (one, two) = (of(1.0), of(2.0));
    let mut worst = 0.0_f64;
    for ((a, ..), (b, ..)) in one.iter().zip(&two) {
        for (a, b) in a.iter().zip(b).filter(|(a, _)| **a > 1e-4) {
            worst = worst.max((b / a - 2.0).abs() / 2.0);
        }
    }
    println!("{worst:.3}");
    assert!(worst < 0.05, "twice the impulse is not twice the deviation: {worst}");
}

#[test]
fn in_flight_without_help_momentum_changes_by_gravity_and_the_hit() {
    let scene = Scene::of(&shipped("jump.bvh", None));
    let steps = 30;
    let air = |k: &usize| scene.tracks.capacity[*k..k + steps + 10].iter().flatten().all(|c| *c < 1e-3);
    let flights: Vec<usize> = (1..scene.reference.steps() - steps - 10).filter(air).collect();
    let start = flights[flights.len() / 2];
    let mut performer = scene.performer(Controls { assist: 0.0, ..Controls::default() }, start);
    let (body, at) = scene.chest();
    let h = scene.reference.h;
    let momentum = |performer: &super::super::performer::Performer| {
        let placed = scene.body.tree.place(&performer.state);
        scene.body.tree.momentum_and_energy(&placed, &performer.rates).0
    };
    let before = momentum(&performer);
    let (mut given, mut largest) = (Vec3::zeros(), 0.0_f64);
    for k in 0..steps {
        let hit = part_of_blow(&Vec3::new(-14.0, 0.0, -14.0), 0.03, k as f64 * h, (k + 1) as f64 * h);
        let forces = performer.advance(&[(body, at, hit)]);
        assert!(forces.given[0].norm() < 1e-9, "nobody helps");
        given += forces.force.linear * h + hit + forces.contacts.iter().sum::<Vec3>();
        given.y -= MASS * GRAVITY * h;
        largest = largest.max(given.norm());
    }
    let error = (momentum(&performer) - before - given).norm();
    println!("{error:.3} of {largest:.1} N s");
    assert!(largest > 20.0 && error < 2e-3 * largest, "{error} of {largest} N s");
}

#[test]
fn the_recorded_forces_give_the_step() {
    let scene = Scene::of(&shipped("walk.bvh", Some("mannequin.glb")));
    let mass: f64 = scene.body.tree.links().iter().map(|link| link.mass).sum();
    assert!((mass - MASS).abs() < 1e-9);
    let controls = Controls { strength: 0.8, ..Controls::default() };
    let mut performer = scene.performer(controls, scene.reference.steps() / 4);
    let ((body, at), h, tree) = (scene.chest(), scene.reference.h, &scene.body.tree);
    for k in 0..120 {
        let hit = part_of_blow(&Vec3::new(-40.0, 0.0, 20.0), 0.03, k as f64 * h, (k + 1) as f64 * h);
        let placed = tree.place(&performer.state);
        let before = performer.rates.clone();
        let forces = performer.advance(&[(body, at, hit)]);
        let soles = scene.points.iter().zip(&forces.contacts);
        let mut acting: Vec<_> = soles.map(|(p, x)| (p.body, p.place(&placed), x / h)).collect();
        acting.push((body, placed.point(body, &at), hit / h));
        acting.extend(forces.touches.iter().map(|(body, at, push)| (*body, *at, push / h)));
        let mut sum = forces.force.clone();
        sum.add_scaled(&tree.of_forces(&placed, &acting), 1.0);
        let change = performer.rates.zip(&before, |b, a| (b - a) / h);
        let needed = tree.inverse_dynamics(&placed, &before, &change, &gravity());
        let wrong = sum.zip(&needed, |a, b| a - b);
        let wrong = wrong.angular.iter().map(|w| w.norm()).fold(wrong.linear.norm(), f64::max);
        assert!(wrong < 1e-6, "step {k}: {wrong} N or N m of nobody");
    }
}

/// How deep parts come into each other at most beyond the clip and the reference pose, metres, in a second after hits of this size on
/// a limb, with contacts between parts on and off.
fn into_each_other(scene: &Scene, role: Role, hit: Vec3) -> [f64; 2] {
    let (body, at) = scene.body.part(role).map(|part| scene.body.in_body(part, &(part.bone * 0.6))).unwrap();
    [true, false].map(|touch| {
        let mut controls = Controls::default();
        controls.terms.touch = touch;
        let mut deepest = 0.0_f64;
        for start in (0..4).map(|k| scene.reference.steps() * (1 + k) / 8) {
            let (mut performer, h) = (scene.performer(controls, start), scene.reference.h);
            for k in 0..240 {
                let given = part_of_blow(&hit, 0.03, k as f64 * h, (k + 1) as f64 * h);
                performer.advance(&[(body, at, given)]);
                let [now, clip] = [&performer.state, &scene.reference.states[performer.step]]
                    .map(|state| scene.body.tree.place(state));
                let excess = scene.pairs.iter().map(|pair| pair.excess(&now, &clip));
                deepest = excess.fold(deepest, f64::max);
            }
        }
        deepest
    })
}

#[test]
fn limbs_that_are_hit_do_not_pass_through_the_body() {
    for (take, hero) in
        [("walk.bvh", None), ("walk.bvh", Some("mannequin.glb")), ("jump.bvh", Some("robot.glb"))]
    {
        let scene = Scene::of(&shipped(take, hero));
        for (role, hit) in [
            (Role::LowerArm(Side::Left), Vec3::new(-12.0, 0.0, -6.0)),
            (Role::LowerLeg(Side::Right), Vec3::new(15.0, 0.0, 0.0)),
            (Role::UpperLeg(Side::Left), Vec3::new(-25.0, 0.0, 0.0)),
        ] {
            let [with, without] = into_each_other(&scene, role, hit);
            println!("{take} {hero:?} {role}: {:.1} mm, {:.1} mm without", 1e3 * with, 1e3 * without);
            assert!(with < 0.022, "{take} {hero:?} {role}: {with} m");
            assert!(without > 0.05, "the hit does nothing: {without} m");
        }
    }
}

#[test]
fn contacts_push_only_and_stay_in_their_cones() {
    for hero in [None, Some("mannequin.glb")] {
        let scene = Scene::of(&shipped("walk.bvh", hero));
        let start = scene.reference.steps() / 4;
        let steps = run(&scene, Controls::default(), start, 240, Vec3::new(50.0, 0.0, 0.0));
        let all: Vec<Vec3> = steps.iter().flat_map(|(_, forces, _)| forces.contacts.clone()).collect();
        assert!(all.iter().map(|p| p.y).sum::<f64>() > 0.3 * MASS * GRAVITY, "somebody stands");
        for p in all {
            let [a, _, b, _] = scene.body.pyramid.edges.map(|e| (e - Vec3::y()).normalize());
            let sideways = p.dot(&a).abs() + p.dot(&b).abs();
            assert!(p.y >= 0.0 && sideways <= FRICTION * p.y + 1e-12, "{p}");
        }
    }
}

#[test]
fn what_is_not_disturbed_is_the_clip_bit_for_bit() {
    let motion = shipped("walk.bvh", Some("mannequin.glb"));
    let done = chest_hit(&motion, 1.0, 30.0);
    let rate = motion.clip.sample_rate;
    let end = 1.0 + done.hits[0].back_after + 0.8;
    let mut changed = 0;
    for f in 0..motion.clip.frames() {
        let same = motion.clip.rotations(f) == done.motion.clip.rotations(f)
            && motion.clip.translations(f) == done.motion.clip.translations(f);
        let time = f as f64 / rate;
        assert!(same || (1.0..end).contains(&time), "frame {f} at {time} s");
        changed += usize::from(!same);
    }
    assert!(changed > 30, "{changed}");
    // Muscles of no bound in reach simulate the whole clip, and no frame of it changes.
    let controls = Controls { strength: 1e6, ..Controls::default() };
    let options = PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse };
    assert!(perform(&motion, &options).unwrap().motion == motion);
}

/// A motion whose hips are the root, after a change of its root's transforms and of all lengths.
fn changed(motion: &Motion, model_from_old: Transform, scale: f64) -> Motion {
    let old = motion.character.skeleton();
    let joint = |j: &Joint| {
        let mut joint = j.clone();
        joint.rest.translation *= scale;
        joint.tip = joint.tip.map(|tip| tip * scale);
        joint
    };
    let skeleton = Skeleton::new(old.joints().iter().map(joint).collect()).unwrap();
    let roles: Vec<_> = motion.character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let rig = Rig::new(skeleton.clone(), roles);
    let poses: Vec<_> = (0..motion.clip.frames())
        .map(|f| {
            let mut pose = motion.clip.pose(old, f);
            for (k, local) in pose.local_mut().iter_mut().enumerate() {
                local.translation *= scale;
                if k == 0 {
                    *local = model_from_old * *local;
                }
            }
            pose
        })
        .collect();
    let clip = Clip::from_poses("changed", motion.clip.sample_rate, &skeleton, &poses);
    Motion { character: Arc::new(Character::new("changed", rig)), clip, contacts: None }
}

#[test]
fn turned_shifted_and_scaled_takes_give_the_same() {
    let motion = shipped("walk.bvh", None);
    let impulse = Vec3::new(-30.0, 0.0, 20.0);
    let plain = hit_along(&motion, 1.0, impulse, Controls::default());
    // Friction pyramids have four sides: a quarter turn maps them onto themselves.
    let quarter: Quat = exp(&(Vec3::y() * FRAC_PI_2));
    let moved = Transform::new(quarter, Vec3::new(3.0, 0.0, -2.0));
    for (of, scale) in [(moved, 1.0), (Transform::identity(), 0.01), (moved, 2.5)] {
        let other = hit_along(&changed(&motion, of, scale), 1.0, of.rotation * impulse, Controls::default());
        let mut worst = 0.0_f64;
        for f in 0..motion.clip.frames() {
            let [a, b] = [&plain, &other].map(|p| p.motion.model_pose(f));
            for (a, b) in a.joints().iter().zip(b.joints()) {
                worst = worst.max((of.point(&(a.translation * scale)) - b.translation).norm() / scale);
            }
        }
        println!("{scale}: {worst:.1e}");
        assert!(worst < 1e-6, "scaled by {scale}: {worst} m");
        assert!((other.hits[0].peak - plain.hits[0].peak).abs() < 1e-6);
    }
}

#[test]
fn a_body_without_enough_help_falls_or_the_clip_stays() {
    let motion = shipped("walk.bvh", Some("mannequin.glb"));
    let (body, at) = Scene::of(&motion).chest();
    let blow = crate::settle::perform::Blow::Impulse(Vec3::new(-150.0, 0.0, 0.0));
    let hit = crate::settle::perform::Hit { time: 1.0, part: "chest".into(), body, at, blow, duration: 0.03 };
    let controls = Controls { assist: 0.1, ..Controls::default() };
    let fall =
        |on_fall| perform(&motion, &PerformOptions { controls, hits: vec![hit.clone()], on_fall }).unwrap();
    let refused = fall(OnFall::Refuse);
    assert!(refused.motion == motion && refused.fell.is_some() && refused.hits[0].fell);
    let fallen = fall(OnFall::Ragdoll);
    fallen.motion.check().unwrap();
    assert_eq!(fallen.motion.clip.frames(), motion.clip.frames());
    let hips = |m: &Motion| {
        let id = m.character.rig.joint(crate::model::Role::Hips).unwrap();
        m.model_pose(m.clip.frames() - 1).position(id).y
    };
    assert!(hips(&fallen.motion) < 0.5 * hips(&motion), "{} {}", hips(&fallen.motion), hips(&motion));
}

#[test]
fn weak_legs_give_way_and_do_not_explode() {
    let motion = shipped("jump.bvh", None);
    let of = |strength: f64| {
        let controls = Controls { strength, assist: 0.3, ..Controls::default() };
        perform(&motion, &PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse }).unwrap()
    };
    let (strong, weak) = (of(1.5), of(0.6));
    println!("1.5: {:.3} m, 0.6: {:.3} m, bounded {:.2}", strong.largest, weak.largest, weak.bounded);
    assert!(weak.bounded > 0.0 && weak.largest > 2.0 * strong.largest && weak.largest < 0.6);
}
