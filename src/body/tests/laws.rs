//! Laws of body measurements: they do not depend on where a body stands, grow with it and are symmetric.

use crate::made_bodies::{ADULT, Build, body, bones};
use crate::perturbed::Noise;
use crate::seeds::for_seeds;
use posemill::body::{BodyPart, CharacterBody};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Character, Joint, ModelPose, Rig, Role, Side, Skeleton};
use std::sync::Arc;

fn build(noise: &mut Noise) -> Build {
    let mut factor = || 0.8 + 0.4 * noise.even();
    Build { legs: factor(), arms: factor(), trunk: factor(), girth: factor() }
}

/// The character with other rest transforms.
fn with_rest(character: &Character, change: impl Fn(usize, &Joint) -> Transform) -> Character {
    let joints = character.skeleton().joints().iter().enumerate();
    let joint = |(k, joint): (usize, &Joint)| Joint::new(joint.name.clone(), joint.parent, change(k, joint));
    let skeleton = Skeleton::new(joints.map(joint).collect()).unwrap();
    let roles: Vec<_> = character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    Character { rig: Rig::new(skeleton, roles), ..character.clone() }
}

fn placed(character: &Character, place: Transform) -> Character {
    with_rest(character, |k, joint| if k == 0 { place * joint.rest } else { joint.rest })
}

fn scaled(character: &Character, factor: f64) -> Character {
    let mut scaled =
        with_rest(character, |_, joint| Transform::new(joint.rest.rotation, joint.rest.translation * factor));
    for mesh in &mut scaled.meshes {
        mesh.positions.iter_mut().flatten().for_each(|x| *x *= factor as f32);
        for binding in &mut mesh.bindings {
            (0..3).for_each(|row| binding.joint_from_mesh[(row, 3)] *= factor);
        }
    }
    scaled
}

fn both(build: &Build) -> [Character; 2] {
    [bones(build), body(build)]
}

/// Compares everything that is measured; lengths of `b` are `factor` times those of `a`.
fn assert_similar(a: Character, b: Character, factor: f64, tolerance: f64) {
    let [a, b] = [a, b].map(|c| CharacterBody::new(&Arc::new(c)));
    assert!((b.height() - factor * a.height()).abs() < tolerance, "{} {}", a.height(), b.height());
    assert_eq!(a.capsules().len(), b.capsules().len());
    for (x, y) in a.capsules().iter().zip(b.capsules()) {
        assert_eq!((x.part, x.joint), (y.part, y.joint));
        assert!((y.radius - factor * x.radius).abs() < tolerance, "{x:?} {y:?}");
        assert!((y.from - x.from * factor).norm() < tolerance, "{x:?} {y:?}");
        assert!((y.to - x.to * factor).norm() < tolerance, "{x:?} {y:?}");
    }
    assert_eq!(a.contact_points().len(), b.contact_points().len());
    for (x, y) in a.contact_points().iter().zip(b.contact_points()) {
        assert_eq!((x.part, x.joint), (y.part, y.joint));
        assert!((y.at - x.at * factor).norm() < tolerance, "{x:?} {y:?}");
    }
    assert_eq!(a.point_masses().len(), b.point_masses().len());
    for (x, y) in a.point_masses().iter().zip(b.point_masses()) {
        assert!(x.joint == y.joint && (x.mass - y.mass).abs() < 1e-12);
        assert!((y.at - x.at * factor).norm() < tolerance, "{x:?} {y:?}");
    }
}

#[test]
fn where_a_body_stands_and_faces_changes_nothing_that_is_measured_in_its_joints() {
    for_seeds(4, |noise| {
        let build = build(noise);
        let place = Transform::new(
            exp(&(Vec3::y() * noise.normal())),
            Vec3::new(noise.normal(), 0.0, noise.normal()),
        );
        for character in both(&build) {
            let there = placed(&character, place);
            assert_similar(character, there, 1.0, 1e-4);
        }
    });
}

#[test]
fn a_body_twice_as_large_measures_twice_as_much() {
    for_seeds(3, |noise| {
        let build = build(noise);
        for factor in [0.5, 2.0] {
            for character in both(&build) {
                let large = scaled(&character, factor);
                assert_similar(character, large, factor, 1e-4);
            }
        }
    });
}

#[test]
fn both_sides_of_a_symmetric_body_measure_the_same() {
    for_seeds(4, |noise| {
        for character in both(&build(noise)) {
            let body = CharacterBody::new(&Arc::new(character));
            let pose = body.reference_pose().clone();
            let mirrored = |p: Vec3| Vec3::new(-p.x, p.y, p.z);
            for capsule in body.capsules().iter().filter(|c| c.part.side() == Some(Side::Left)) {
                let other = |c: &&posemill::body::Capsule| {
                    c.part.side() == Some(Side::Right)
                        && c.part.to_string().replace("right", "left") == capsule.part.to_string()
                };
                let partner = body.capsules().iter().find(other).unwrap();
                assert!((partner.radius - capsule.radius).abs() < 1e-4, "{}", capsule.part);
                for (a, b) in capsule.ends(&pose).into_iter().zip(partner.ends(&pose)) {
                    assert!((mirrored(a) - b).norm() < 1e-3, "{}: {a:?} {b:?}", capsule.part);
                }
            }
            for point in body.contact_points().iter().filter(|p| p.part.side() == Some(Side::Left)) {
                let partner = body.contact_points().iter().find(|p| p.part == point.part.mirrored()).unwrap();
                let [a, b] = [point, partner].map(|p| pose.joint(p.joint).point(&p.at));
                assert!((mirrored(a) - b).norm() < 1e-3, "{}: {a:?} {b:?}", point.part);
            }
        }
    });
}

#[test]
fn the_masses_are_one_body_whose_centre_is_inside_it() {
    for_seeds(6, |noise| {
        for character in both(&build(noise)) {
            let body = CharacterBody::new(&Arc::new(character));
            let pose = body.reference_pose();
            let masses = body.point_masses();
            assert!(masses.iter().all(|m| m.mass > 0.0));
            assert!((masses.iter().map(|m| m.mass).sum::<f64>() - 1.0).abs() < 1e-12);
            let centre: Vec3 = masses.iter().map(|m| pose.joint(m.joint).point(&m.at) * m.mass).sum();
            assert!(centre.x.abs() < 1e-9, "{centre:?}");
            // The centre of mass of an adult who stands is at 0.5 to 0.65 of the height; arms to the sides raise it.
            let share = (centre.y - body.figure().unwrap().sole) / body.height();
            assert!((0.45..0.7).contains(&share), "{share}");
        }
    });
}

#[test]
fn no_skin_of_a_foot_is_lower_than_its_support_points_in_any_pose() {
    for_seeds(6, |noise| {
        let mut character = body(&build(noise));
        let rest = character.skeleton().rest_model_pose();
        let joint = |role| character.rig.joint(role).unwrap();
        let feet = Side::BOTH.map(|s| {
            let [foot, toes] = [Role::Foot(s), Role::Toes(s)].map(joint);
            let heel = rest.position(foot) - Vec3::new(0.0, 0.05, 0.06);
            crate::made_bodies::tube(&character, foot, heel, rest.position(toes), [0.04, 0.03])
        });
        character.meshes.extend(feet.iter().cloned());
        let character = Arc::new(character);
        let body = CharacterBody::new(&character);
        for _ in 0..20 {
            let place = Transform::new(exp(&noise.vector(3.0)), noise.vector(1.0));
            let pose = ModelPose::new(rest.joints().iter().map(|t| place * *t).collect());
            for (side, mesh) in Side::BOTH.into_iter().zip(&feet) {
                let binding = &mesh.bindings[0];
                let matrix = pose.joint(binding.joint).to_matrix() * binding.joint_from_mesh;
                let skin = mesh.positions.iter().map(|p| {
                    let p = Vec3::from(p.map(f64::from));
                    (matrix * p.push(1.0)).y
                });
                let support = body.foot_support(side).iter().map(|(id, at)| pose.joint(*id).point(at).y);
                let [skin, support] =
                    [skin.fold(f64::INFINITY, f64::min), support.fold(f64::INFINITY, f64::min)];
                // A sampled hull: a point between the sampled directions may be missing.
                assert!(skin > support - 0.006, "skin at {skin} m, support at {support} m");
            }
        }
    });
}

#[test]
fn longer_legs_and_more_girth_raise_what_they_should_and_nothing_else() {
    let of = |build: Build| CharacterBody::new(&Arc::new(body(&build)));
    let adult = of(ADULT);
    let tall = of(Build { legs: 1.2, ..ADULT });
    let stout = of(Build { girth: 1.3, ..ADULT });
    assert!(
        (tall.height() - adult.height() - 0.2 * 0.9).abs() < 0.02,
        "{} {}",
        adult.height(),
        tall.height()
    );
    assert!((stout.height() - adult.height()).abs() < 0.02);
    let radius = |body: &CharacterBody, part: BodyPart| {
        body.capsules().iter().find(|c| c.part == part).map(|c| c.radius).unwrap()
    };
    for part in [BodyPart::Waist, BodyPart::UpperLeg(Side::Left), BodyPart::UpperArm(Side::Right)] {
        assert!(radius(&stout, part) > radius(&adult, part) + 1e-3, "{part}");
    }
    for part in [BodyPart::Head, BodyPart::LowerArm(Side::Left)] {
        assert!((radius(&stout, part) - radius(&adult, part)).abs() < 1e-3, "{part}");
    }
}

/// A robot has no skin: its soles are those of its shapes.
#[test]
fn a_robot_stands_on_the_shapes_of_its_feet() {
    let path = crate::made_walk::shipped("humanoid.xml");
    let robot = posemill::import::load(path, &posemill::import::ImportOptions::default()).unwrap().character;
    let body = CharacterBody::new(&robot);
    let soles: Vec<_> = body.contact_points().iter().filter(|point| point.part.of_foot()).collect();
    assert_eq!(soles.len(), 6, "heel, ball and tip of both feet");
    for point in soles {
        let height = body.reference_pose().joint(point.joint).point(&point.at).y;
        assert!(height.abs() < 1e-6, "{:?}: {height} m", point.part);
    }
}
