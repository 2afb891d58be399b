//! Further bodies of a file are found.

use crate::anatomy::{bodies_apart, second_bodies};
use crate::made_bodies::{ADULT, bones};
use crate::math::{Transform, Vec3};
use crate::model::{Joint, JointId, Rig, Skeleton};

/// A root with made bodies below it, the later ones without roles, each two metres aside.
fn bodies(count: usize) -> Rig {
    bodies_apart_by(2.0, count)
}

/// The same, at this distance.
fn bodies_apart_by(distance: f64, count: usize) -> Rig {
    let made = bones(&ADULT);
    let mut joints = vec![Joint::new("root", None, Transform::identity())];
    let mut roles = Vec::new();
    for body in 0..count {
        let first = joints.len();
        for (id, joint) in made.skeleton().ids().zip(made.skeleton().joints()) {
            let parent = joint.parent.map_or(0, |p| first + p.index());
            let aside = Vec3::x() * if joint.parent.is_none() { distance * body as f64 } else { 0.0 };
            let rest = Transform::new(joint.rest.rotation, joint.rest.translation + aside);
            let name = if body == 0 { joint.name.clone() } else { format!("{}.{body:03}", joint.name) };
            if body == 0 {
                roles.push((
                    made.rig.role(id).unwrap(),
                    crate::model::Assignment::new(JointId::new(joints.len()), 1.0, ""),
                ));
            }
            joints.push(Joint { rest, ..Joint::new(name, Some(JointId::new(parent)), rest) });
        }
    }
    Rig::new(Skeleton::new(joints).unwrap(), roles)
}

#[test]
fn every_further_body_is_named_with_its_hips() {
    for count in 1..4 {
        let rig = bodies(count);
        let found = second_bodies(&rig, &rig.skeleton().rest_model_pose());
        assert_eq!(found.len(), count - 1);
        let hips = found.first().map(|body| rig.skeleton().joint(body.hips).name.as_str());
        assert_eq!(hips, (count > 1).then_some("hips.001"));
    }
}

#[test]
fn clothing_with_a_skeleton_of_its_own_is_no_second_body() {
    for (distance, found) in [(0.0, 0), (0.002, 0), (0.6, 1)] {
        let rig = bodies_apart_by(distance, 2);
        assert_eq!(second_bodies(&rig, &rig.skeleton().rest_model_pose()).len(), found, "{distance} m");
    }
}

#[test]
fn bodies_beside_each_other_are_told_apart_without_roles() {
    for count in 1..4 {
        let rig = bodies(count);
        let skeleton = rig.skeleton();
        let found = bodies_apart(skeleton, &skeleton.rest_model_pose(), &[]);
        // All of a body, none of the others; a file of one body is no case for it.
        let each = (skeleton.len() - 1) / count;
        let sizes: Vec<usize> = found.own.iter().map(Vec::len).collect();
        assert_eq!(sizes, if count > 1 { vec![each; count] } else { Vec::new() });
        assert_eq!(found.shared.len(), usize::from(count > 1));
        for (n, joints) in found.own.iter().enumerate() {
            let own = 1 + n * each..1 + (n + 1) * each;
            assert!(joints.iter().all(|id| own.contains(&id.index())), "{joints:?}");
        }
    }
}

#[test]
fn bodies_whose_limbs_are_branches_of_their_own_are_told_apart() {
    for count in 1..4 {
        let rig = bodies(count);
        let skeleton = rig.skeleton();
        let rest = skeleton.rest_model_pose();
        // Legs and arms hang on the root, as those of Rigify's deform skeleton.
        let loose = |name: &str| ["upper_leg", "upper_arm"].iter().any(|part| name.contains(part));
        let joints = skeleton.ids().zip(skeleton.joints()).map(|(id, joint)| {
            let root = Some(JointId::new(0)).filter(|_| loose(&joint.name));
            Joint {
                parent: root.or(joint.parent),
                rest: root.map_or(joint.rest, |_| *rest.joint(id)),
                ..joint.clone()
            }
        });
        let pieces = Skeleton::new(joints.collect()).unwrap();
        assert!(pieces.children(JointId::new(0)).len() == 5 * count);
        // The arms of neighbours reach into each other: only the file shows whose they are.
        let each = (skeleton.len() - 1) / count;
        let tree = |id: JointId| (pieces.parent(id)?.index() == 0).then(|| (id.index() - 1) / each);
        let trees: Vec<Option<usize>> = pieces.ids().map(tree).collect();
        let found = bodies_apart(&pieces, &rest, &trees);
        let sizes: Vec<usize> = found.own.iter().map(Vec::len).collect();
        assert_eq!(sizes, if count > 1 { vec![each; count] } else { Vec::new() });
        for (n, joints) in found.own.iter().enumerate() {
            assert!(joints.iter().all(|id| (id.index() - 1) / each == n), "{joints:?}");
        }
    }
}
