//! Capsules of made bodies and of all real ones: the sizes that their skin has, or that adults have.

use crate::made_bodies::{ADULT, bones, capsule, tube};
use posemill::anatomy::Figure;
use posemill::body::{BodyPart, capsules};
use posemill::import::{ImportOptions, load};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Character, Rig, Role, Side, Skeleton};

#[test]
fn a_body_without_skin_has_all_parts_at_the_sizes_of_an_adult() {
    let body = bones(&ADULT);
    let all = capsules(&body, &body.rig);
    assert_eq!(all.len(), 18);
    assert!(all.is_sorted_by(|a, b| a.part < b.part));
    let near = |part, metres: f64| {
        let radius = capsule(&all, part).radius;
        assert!((radius / metres - 1.0).abs() < 0.25, "{part}: {radius} m");
    };
    near(BodyPart::Chest, 0.12);
    near(BodyPart::Head, 0.085);
    near(BodyPart::UpperLeg(Side::Left), 0.085);
    near(BodyPart::LowerLeg(Side::Left), 0.055);
    near(BodyPart::LowerArm(Side::Right), 0.04);
    near(BodyPart::Hand(Side::Right), 0.021);
    // The soles touch the ground.
    let rest = body.skeleton().rest_model_pose();
    let foot = capsule(&all, BodyPart::Foot(Side::Left));
    assert!(foot.ends(&rest).iter().all(|p| (p.y - foot.radius).abs() < 1e-9));
}

#[test]
fn skin_is_measured_around_its_own_middle() {
    let mut body = bones(&ADULT);
    let at = |role| body.rig.joint(role).unwrap();
    let rest = body.skeleton().rest_model_pose();
    let arm = at(Role::LowerArm(Side::Left));
    let shift = Vec3::new(0.0, 0.02, 0.0);
    let a = rest.position(arm) + shift;
    let b = rest.position(at(Role::Hand(Side::Left))) + shift;
    let trunk = tube(&body, at(Role::Spine(0)), Vec3::y() * 0.8, Vec3::y() * 1.5, [0.2, 0.13]);
    body.meshes = vec![tube(&body, arm, a, b, [0.05, 0.05]), trunk];
    let all = capsules(&body, &body.rig);
    let lower = capsule(&all, BodyPart::LowerArm(Side::Left));
    assert!((lower.radius - 0.05).abs() < 1e-3, "{lower:?}");
    assert!((lower.ends(&rest)[0] - a).norm() < 1e-3, "{lower:?}");
    let chest = capsule(&all, BodyPart::Chest);
    assert!((chest.radius - 0.13).abs() < 0.01, "{chest:?}");
    assert!((0.5 * (chest.to - chest.from).norm() + chest.radius - 0.19).abs() < 0.015, "{chest:?}");
}

#[test]
fn a_shield_on_one_arm_does_not_thicken_it() {
    let mut body = bones(&ADULT);
    let rest = body.skeleton().rest_model_pose();
    let arms = Side::BOTH.map(|s| {
        let radius = if s == Side::Left { 0.05 } else { 0.14 };
        let [elbow, wrist] = [Role::LowerArm(s), Role::Hand(s)].map(|r| body.rig.joint(r).unwrap());
        tube(&body, elbow, rest.position(elbow), rest.position(wrist), [radius; 2])
    });
    body.meshes = arms.to_vec();
    let all = capsules(&body, &body.rig);
    let [left, right] = Side::BOTH.map(|s| capsule(&all, BodyPart::LowerArm(s)).radius);
    assert_eq!(left, right);
}

#[test]
fn capsules_turn_and_grow_with_the_body() {
    let small = bones(&ADULT);
    let turned = exp(&Vec3::new(0.0, 0.7, 0.0));
    let grown = small.skeleton().joints().iter().enumerate().map(|(k, joint)| {
        let mut joint = joint.clone();
        joint.rest.translation *= 2.0;
        if k == 0 {
            joint.rest = Transform::from_rotation(turned) * joint.rest;
        }
        joint
    });
    let roles: Vec<_> = small.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    let rig = Rig::new(Skeleton::new(grown.collect()).unwrap(), roles);
    let large = Character { rig, ..small.clone() };
    let (a, b) = (capsules(&small, &small.rig), capsules(&large, &large.rig));
    for (a, b) in a.iter().zip(&b) {
        assert!(
            (b.radius - 2.0 * a.radius).abs() < 1e-9 && (b.from - a.from * 2.0).norm() < 1e-9,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn every_real_body_has_capsules_of_sane_size() {
    let Some(folder) = crate::development_data::data() else { return };
    let files = [
        ("gltf/quaternius/Casual_man.glb", 18),
        ("gltf/gdquest/mannequiny-0.3.0.glb", 18),
        ("gltf/quaternius/KnightCharacter.glb", 18),
        ("gltf/raylib/robot.glb", 18),
        ("gltf/kaykit/manny_med_mod.gltf", 17),
        ("gltf/khronos/cesium_man.gltf", 18),
        ("derived/cesium-man-gltfpack-quantized.glb", 18),
        ("derived/makehuman-base-default-rig.glb", 18),
        ("derived/rigify-human-deform.glb", 18),
        ("vrm/debug_robot.vrm", 18),
        ("vrm/basic_armature_vrm0.vrm", 18),
        ("bvh/cmu/01_01.bvh", 18),
        ("bvh/fair1/dab.bvh", 18),
        ("bvh/mocapbank/test_mocapbank.bvh", 18),
        // With its four paws, which are joints beside its legs.
        ("gltf/quaternius/Wolf.glb", 18),
    ];
    for (file, count) in files {
        let character = load(folder.join(file), &ImportOptions::default()).unwrap().character;
        let bind = character.reference_pose();
        let leg = Figure::of(&character.rig, &bind).unwrap().leg_to_sole;
        let all = capsules(&character, &character.rig);
        assert_eq!(all.len(), count, "{file}");
        for c in &all {
            let (length, radius) = ((c.to - c.from).norm(), c.radius);
            assert!((0.005 * leg..1.3 * leg).contains(&radius) && length < 1.5 * leg, "{file}: {c:?}");
        }
        for side in [BodyPart::UpperArm, BodyPart::LowerArm, BodyPart::UpperLeg, BodyPart::LowerLeg] {
            let both = Side::BOTH.map(|s| all.iter().find(|c| c.part == side(s)).map(|c| c.radius));
            if let [Some(a), Some(b)] = both {
                assert!(a.max(b) < 1.5 * a.min(b) + 1e-9, "{file}: {} {a} {b}", side(Side::Left));
            }
        }
    }
    // The same body in other bytes has the same capsules.
    let [plain, packed] =
        ["gltf/khronos/cesium_man.gltf", "derived/cesium-man-gltfpack-quantized.glb"].map(|file| {
            let character = load(folder.join(file), &ImportOptions::default()).unwrap().character;
            capsules(&character, &character.rig)
        });
    for (a, b) in plain.iter().zip(&packed) {
        assert!((a.radius - b.radius).abs() < 0.01, "{}: {} {}", a.part, a.radius, b.radius);
    }
}
