//! Meshes give a robot the soles and capsules of the shapes that they are.

use super::*;
use crate::model::Form;

/// The shipped robot, its boxes as meshes of these points, for the half sides of each.
fn of_meshes(points: &dyn Fn(Vec3) -> Vec<Vec3>) -> [RobotBody; 2] {
    let plain = robot(&crate::made_walk::shipped("humanoid.xml"));
    let mut other = (*plain).clone();
    let mut boxes = 0;
    for shape in other.links.iter_mut().flat_map(|link| &mut link.shapes) {
        if let Form::Box { half } = shape.form {
            shape.form = Form::Mesh { points: points(half).into() };
            boxes += 1;
        }
    }
    assert_eq!(boxes, 2, "two feet");
    [RobotBody::of(&plain).unwrap(), RobotBody::of(&Arc::new(other)).unwrap()]
}

fn signs(k: usize) -> Vec3 {
    Vec3::new(1.0, 2.0, 4.0).map(|bit| if k & bit as usize == 0 { -1.0 } else { 1.0 })
}

#[test]
fn a_mesh_of_a_box_has_its_sole_and_its_capsules() {
    let [plain, meshes] = of_meshes(&|half| (0..8).map(|k| signs(k).component_mul(&half)).collect());
    for (own, other) in plain.soles.iter().zip(&meshes.soles) {
        assert!(other.measured);
        for (a, b) in own.corners.iter().zip(&other.corners) {
            assert!((a - b).norm() < 1e-12, "{a} {b}");
        }
    }
    for half in [Vec3::new(0.1, 0.05, 0.02), Vec3::new(0.05, 0.2, 0.05), Vec3::new(0.03, 0.1, 0.15)] {
        let points: Vec<Vec3> = (0..8).map(|k| signs(k).component_mul(&half)).collect();
        let [own, other] = [Form::Box { half }, Form::Mesh { points: points.into() }].map(|form| {
            let link_from_shape = crate::math::Transform::identity();
            crate::robot_body::shape_capsules(0, &crate::model::CollisionShape { form, link_from_shape })
        });
        assert_eq!(own.len(), other.len());
        for (a, b) in own.iter().zip(&other) {
            let apart = (a.ends[0] - b.ends[0]).norm().max((a.ends[1] - b.ends[1]).norm());
            assert!((a.radius - b.radius).abs() < 1e-12 && apart < 1e-4, "{a:?}\n{b:?}");
        }
    }
}

/// Edges that are rounded down to half the height: the sole ends where a tilted foot stands.
#[test]
fn a_sole_of_a_mesh_ends_where_its_foot_stands_on_its_edge() {
    // Of each box the upper half, and the lower one narrower by its height.
    let narrower = |half: Vec3| {
        let lower = half - Vec3::new(half.z, half.z, 0.0);
        let upper = (0..8).map(signs).filter(|s| s.z > 0.0);
        upper
            .flat_map(move |s| {
                let up = s.component_mul(&half);
                [up, Vec3::new(up.x, up.y, 0.0), Vec3::new(s.x, s.y, -1.0).component_mul(&lower)]
            })
            .collect::<Vec<_>>()
    };
    let [plain, meshes] = of_meshes(&narrower);
    for (own, other) in plain.soles.iter().zip(&meshes.soles) {
        // The edge of the lower face: that of the middle is as far out as it is high, and touches from 45 degrees on.
        let length = |sole: &crate::robot_body::sole::Sole| (sole.ball - sole.heel).norm();
        assert!((length(own) - length(other) - 0.024).abs() < 1e-9, "{} {}", length(own), length(other));
        assert!((own.height - other.height).abs() < 1e-12);
    }
}

/// All points of a mesh are in its capsules, but for a share of their radius.
#[test]
fn capsules_are_around_the_points_of_a_mesh() {
    let cone = |k: usize| {
        let (sin, cos) = libm::sincos(k as f64);
        let wide = if k.is_multiple_of(2) { 0.05 } else { 0.03 };
        Vec3::new(wide * cos, wide * sin, if k.is_multiple_of(2) { 0.2 } else { -0.2 })
    };
    let plate = |k: usize| {
        let (sin, cos) = libm::sincos(k as f64);
        Vec3::new(0.15 * cos, if k.is_multiple_of(2) { 0.03 } else { -0.03 }, 0.1 * sin)
    };
    let of = |point: &dyn Fn(usize) -> Vec3| (0..80).map(point).collect::<Vec<_>>();
    // Between the capsules of a plate, as between those of a box, a third of a radius is outside.
    for (points, count, most) in [(of(&cone), 1, 0.1), (of(&plate), 4, 0.4)] {
        let form = Form::Mesh { points: points.clone().into() };
        let shape =
            crate::model::CollisionShape { form, link_from_shape: crate::math::Transform::identity() };
        let capsules = crate::robot_body::shape_capsules(0, &shape);
        assert_eq!(capsules.len(), count);
        for p in &points {
            let out = |c: &crate::robot_body::LinkCapsule| {
                ((crate::math::nearest_point_on_segment(&c.ends, p) - p).norm() - c.radius) / c.radius
            };
            let least = capsules.iter().map(out).fold(f64::MAX, f64::min);
            assert!(least < most, "{p} is {least} radii outside");
        }
        // Nor are they much larger than the mesh.
        let far = |at: &dyn Fn(&Vec3) -> f64| points.iter().map(at).fold(f64::MIN, f64::max);
        for axis in 0..3 {
            let reach =
                capsules.iter().flat_map(|c| c.ends.map(|end| end[axis] + c.radius)).fold(f64::MIN, f64::max);
            assert!(reach < far(&|p| p[axis]) + 0.035, "axis {axis}: {reach}");
        }
    }
}
