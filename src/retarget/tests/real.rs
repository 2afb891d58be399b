//! Every humanoid take on every humanoid character of the development data, measured on the written file after reading it
//! back: limb directions, trunk, facing, bone lengths, and completeness of limbs.

use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use posemill::anatomy::Figure;
use posemill::export::{GltfOptions, write_gltf};
use posemill::import::{ImportOptions, from_bytes, load};
use posemill::math::{Quat, Vec3, angle_between, from_columns, percentile};
use posemill::model::{
    Asset, Character, Clip, Container, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton,
};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn read(folder: &Path, file: &str) -> Asset {
    load(folder.join(file), &ImportOptions::default()).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// At most `most` frames of a clip, spread evenly.
fn thinned(motion: Motion, most: usize) -> Motion {
    let clip = &motion.clip;
    let step = clip.frames().div_ceil(most).max(1);
    let frames: Vec<usize> = (0..clip.frames()).step_by(step).collect();
    let mut rotations: Vec<_> = frames.iter().flat_map(|&f| clip.rotations(f).to_vec()).collect();
    let translations = frames.iter().flat_map(|&f| clip.translations(f).to_vec()).collect();
    for at in clip.joints()..rotations.len() {
        rotations[at] = posemill::math::same_hemisphere(rotations[at], &rotations[at - clip.joints()]);
    }
    // The rate is arbitrary, but its key times are exact in a file.
    let thin = Clip::new("take", 30.0, clip.joints(), rotations, clip.translated().to_vec(), translations);
    Motion::new(motion.character, thin)
}

/// A take on a character, through the bytes of the written file.
fn perform(motion: &Motion, target: &Arc<Character>) -> (Motion, Motion) {
    let source = &motion.character;
    let found = map(source, target).unwrap_or_else(|e| panic!("{} onto {}: {e}", source.name, target.name));
    let ready =
        Retarget::new(source, Arc::clone(target), &found, (&source.rig, &target.rig), RootScale::Legs);
    let result = ready.direct_transfer(motion);
    result.check().unwrap();
    let options = GltfOptions { replace: true, container: Some(Container::Glb), ..GltfOptions::default() };
    let written = write_gltf(target, &[&result.clip], &options).unwrap();
    let back =
        from_bytes(&written.bytes, &target.name, Some("glb"), None, &ImportOptions::default()).unwrap();
    let back =
        back.motion(0).unwrap_or_else(|| panic!("{} onto {}: no clip came back", source.name, target.name));
    (result, back)
}

fn limbs() -> Vec<(Role, Role)> {
    let of = |s| {
        [
            (Role::UpperArm(s), Role::LowerArm(s)),
            (Role::LowerArm(s), Role::Hand(s)),
            (Role::UpperLeg(s), Role::LowerLeg(s)),
            (Role::LowerLeg(s), Role::Foot(s)),
        ]
    };
    Side::BOTH.into_iter().flat_map(of).collect()
}

/// The largest deviations over the frames of a take (of the trunk the mean), in degrees and relative lengths.
#[derive(Debug, Default)]
struct Deviation {
    limbs: f64,
    facing: f64,
    trunk: f64,
    length: f64,
}

/// The left-right axis of the hip joints, or of the legs if both start at one point, as moved by the hips.
fn pelvis_axis(motion: &Motion, pose: &ModelPose) -> Option<Vec3> {
    let character = &motion.character;
    let rest = character.reference_pose();
    let figure = Figure::of(&character.rig, &rest)?;
    let hips = character.rig.joint(Role::Hips)?;
    Some(pose.joint(hips).rotation * (rest.joint(hips).rotation.inverse() * figure.left))
}

/// The line from the middle of the hip joints to the middle of the shoulders.
fn trunk_line(character: &Character, pose: &ModelPose) -> Option<Vec3> {
    let middle = |role: fn(Side) -> Role| {
        let [a, b] = Side::BOTH.map(|s| character.rig.joint(role(s)).map(|id| pose.position(id)));
        Some((a? + b?) * 0.5)
    };
    Some(middle(Role::UpperArm)? - middle(Role::UpperLeg)?)
}

/// The axes left, up and front of a body whose up direction is `up`.
fn standing(up: Vec3, left: Vec3) -> Option<Quat> {
    let up = up.try_normalize(1e-9)?;
    let left = (left - up * left.dot(&up)).try_normalize(1e-9)?;
    Some(from_columns(&left, &up, &left.cross(&up)))
}

/// The mean angle over the frames between the trunk of the result and its reference direction rotated as the source's trunk,
/// in degrees; each body keeps the lean that it has in the reference pose.
fn trunk(source: &Motion, result: &Motion) -> Option<f64> {
    let (s, t) = (&source.character, &result.character);
    let (s_rest, t_rest) = (s.reference_pose(), t.reference_pose());
    let (s_figure, t_figure) = (Figure::of(&s.rig, &s_rest)?, Figure::of(&t.rig, &t_rest)?);
    let base = standing(s_figure.up, s_figure.left)? * standing(t_figure.up, t_figure.left)?.inverse();
    let at_rest = standing(trunk_line(s, &s_rest)?, s_figure.left)?.inverse();
    let line = base * trunk_line(t, &t_rest)?;
    let miss = |frame: usize| {
        let from = source.model_pose(frame);
        let turn = standing(trunk_line(s, &from)?, pelvis_axis(source, &from)?)? * at_rest;
        let got = trunk_line(t, &result.model_pose(frame))?;
        Some(angle_between(&got, &(turn * line)).to_degrees())
    };
    let misses: Option<Vec<f64>> = (0..source.clip.frames()).map(miss).collect();
    misses.map(|m| m.iter().sum::<f64>() / m.len() as f64)
}

/// From joint to joint in model space; where the second does not hang below the first (a paw beside its leg, on a target
/// of IK), the direction that the two have at rest, as the first is rotated.
fn direction(motion: &Motion, pose: &ModelPose, from: JointId, to: JointId) -> Vec3 {
    if motion.character.skeleton().is_ancestor(from, to) {
        return pose.position(to) - pose.position(from);
    }
    let rest = motion.character.reference_pose();
    let along = rest.position(to) - rest.position(from);
    pose.joint(from).rotation * (rest.joint(from).rotation.inverse() * along)
}

/// Whether the thigh of a leg without a foot points more to its side than down at rest: that of a toy, which keeps its rest.
fn is_thigh_of_toy(character: &Character, from: Role, to: Role) -> bool {
    let (rig, rest) = (&character.rig, character.reference_pose());
    let Role::LowerLeg(side) = to else { return false };
    let ends = rig.joint(from).zip(rig.joint(to)).filter(|_| rig.joint(Role::Foot(side)).is_none());
    let thigh = ends.map(|(from, to)| rest.position(to) - rest.position(from));
    thigh.is_some_and(|thigh| thigh.x.abs() > -thigh.y)
}

fn compare(source: &Motion, result: &Motion) -> Deviation {
    let mut worst = Deviation::default();
    let (s, t) = (&source.character.rig, &result.character.rig);
    let of_toys: Vec<_> =
        limbs().into_iter().filter(|(from, to)| is_thigh_of_toy(&result.character, *from, *to)).collect();
    let rest = result.character.skeleton().rest_model_pose();
    assert_eq!(source.clip.frames(), result.clip.frames());
    for frame in 0..source.clip.frames() {
        let (a, b) = (source.model_pose(frame), result.model_pose(frame));
        for (from, to) in limbs() {
            let ends = |rig: &posemill::model::Rig| Some((rig.joint(from)?, rig.joint(to)?));
            let Some((t0, t1)) = ends(t) else { continue };
            if let Some((s0, s1)) = ends(s).filter(|_| !of_toys.contains(&(from, to))) {
                let directions = (direction(source, &a, s0, s1), direction(result, &b, t0, t1));
                let angle = angle_between(&directions.0, &directions.1).to_degrees();
                worst.limbs = worst.limbs.max(angle);
            }
            // Every bone of the segment, including twist joints. A foot that is not below its shin has no bone of a fixed
            // length.
            let skeleton = result.character.skeleton();
            if skeleton.is_ancestor(t0, t1) {
                for joint in skeleton.path_to_root(t1).take_while(|&j| j != t0) {
                    let parent = skeleton.parent(joint).unwrap();
                    let length = |p: &ModelPose| (p.position(joint) - p.position(parent)).norm();
                    worst.length = worst.length.max((length(&b) / length(&rest) - 1.0).abs());
                }
            }
        }
        let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        if let (Some(x), Some(y)) = (pelvis_axis(source, &a), pelvis_axis(result, &b)) {
            // A nearly vertical axis has no facing.
            if flat(x).norm() > 0.5 {
                worst.facing = worst.facing.max(angle_between(&flat(x), &flat(y)).to_degrees());
            }
        }
    }
    worst.trunk = trunk(source, result).unwrap_or(0.0);
    worst
}

#[test]
fn every_take_on_every_character_points_where_its_source_points() {
    let Some(folder) = data() else { return };
    let characters: Vec<Arc<Character>> = CHARACTERS.iter().map(|c| read(&folder, c).character).collect();
    let mut worst = Deviation::default();
    let mut trunks = Vec::new();
    for take in TAKES {
        let asset = read(&folder, take);
        let motion = thinned(asset.motion(0).unwrap(), 12);
        motion.check().unwrap();
        for (file, target) in CHARACTERS.iter().zip(&characters) {
            let (_, back) = perform(&motion, target);
            let d = compare(&motion, &back);
            println!(
                "{:60} limbs {:7.4} deg  facing {:7.4} deg  trunk {:7.4} deg  length {:.1e}",
                format!("{} on {}", take.rsplit('/').next().unwrap(), file.rsplit('/').next().unwrap()),
                d.limbs,
                d.facing,
                d.trunk,
                d.length
            );
            // The remaining trunk deviation is due to collar bones that only one of the two has.
            trunks.push(d.trunk);
            // A character's own clips may stretch its bones.
            let d = if take == file { Deviation { length: 0.0, ..d } } else { d };
            assert!(
                d.limbs <= 1.0 && d.facing <= 3.0 && d.trunk <= 5.0 && d.length <= 1e-6,
                "{take} on {file}: {d:?}"
            );
            worst.limbs = worst.limbs.max(d.limbs);
            worst.facing = worst.facing.max(d.facing);
            worst.trunk = worst.trunk.max(d.trunk);
            worst.length = worst.length.max(d.length);
        }
    }
    let [median, most] = [0.5, 0.9].map(|q| percentile(&trunks, q));
    println!("worst: {worst:?}, trunk median {median:.2} and nine of ten {most:.2}");
    assert!(median <= 1.0 && most <= 3.0, "{median}, {most}");
}

#[test]
fn every_limb_that_a_character_has_is_mapped_without_help() {
    let Some(folder) = data() else { return };
    let take = read(&folder, "bvh/cmu/01_01.bvh");
    for file in CHARACTERS {
        let target = read(&folder, file).character;
        let found = map(&take.character, &target).unwrap();
        for side in Side::BOTH {
            let mut wanted = vec![Role::UpperLeg(side), Role::LowerLeg(side), Role::Hand(side)];
            if !file.contains("greenman") {
                wanted.extend([Role::Foot(side), Role::UpperArm(side), Role::LowerArm(side)]);
            }
            for role in wanted {
                assert!(found.pairs.iter().any(|p| p.role == Some(role)), "{file}: {role} is not mapped");
            }
        }
    }
}

#[test]
fn a_quadruped_goes_onto_a_quadruped_and_not_onto_a_person() {
    let Some(folder) = data() else { return };
    let wolf = read(&folder, "gltf/quaternius/Wolf.glb");
    let other = read(&folder, "derived/rigify-wolf-deform.glb").character;
    for (k, clip) in wolf.clips.iter().enumerate() {
        let motion = thinned(wolf.motion(k).unwrap(), 12);
        let (_, back) = perform(&motion, &other);
        let d = compare(&motion, &back);
        println!("{}: {d:?}", clip.name);
        // Shoulder blades move a wolf's shoulders more than its spine does, so its trunk line is not checked.
        assert!(d.limbs <= 0.01 && d.facing <= 3.0, "{}: {d:?}", clip.name);
    }
    let person = read(&folder, "gltf/quaternius/Casual_man.glb").character;
    let refusal = map(&wolf.character, &person).unwrap_err().to_string();
    assert!(refusal.starts_with("`Wolf` goes on four legs and `Casual_man` on two"), "{refusal}");
    let ray = read(&folder, "gltf/quaternius/Manta_ray.glb").character;
    let refusal = map(&ray, &person).unwrap_err().to_string();
    assert!(refusal.contains("source_roles.hips"), "{refusal}");
}

/// The same body with another skeleton, so that its legs are solved.
fn twin(character: &Character) -> Arc<Character> {
    let skeleton = character.skeleton();
    let mut joints: Vec<Joint> = skeleton.ids().map(|id| skeleton.joint(id).clone()).collect();
    joints.iter_mut().for_each(|joint| joint.name = format!("twin_{}", joint.name));
    let roles = character.rig.assignments().map(|(role, a)| (role, a.clone()));
    let rig = Rig::new(Skeleton::new(joints).unwrap(), roles);
    Arc::new(Character { rig, ..character.clone() })
}

#[test]
fn a_quadruped_stands_as_high_on_a_body_like_its_own() {
    let Some(folder) = data() else { return };
    // Its paws hang on targets of IK, beside the legs.
    let wolf = read(&folder, "gltf/quaternius/Wolf.glb");
    let other = twin(&wolf.character);
    let hips = wolf.character.rig.joint(Role::Hips).unwrap();
    let found = map(&wolf.character, &other).unwrap();
    let rigs = (&wolf.character.rig, &other.rig);
    let ready = Retarget::new(&wolf.character, Arc::clone(&other), &found, rigs, RootScale::Legs);
    for (clip, name) in wolf.clips.iter().enumerate().map(|(k, clip)| (k, &clip.name)) {
        if !["Walk", "Idle", "Eating"].iter().any(|known| name.ends_with(&format!("|{known}"))) {
            continue;
        }
        let take = wolf.motion(clip).unwrap();
        let result = ready.apply(&take);
        let height = |m: &Motion, f: usize| m.model_pose(f).position(hips).y;
        let apart = (0..take.clip.frames()).map(|f| height(&result, f) - height(&take, f));
        let furthest = apart.fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        // Of 1.7 m; 12 to 22 cm too low where the end of the shin is taken for the sole.
        assert!(furthest.abs() < 0.05, "{name}: {furthest} m");
    }
}

#[test]
fn a_real_rig_onto_itself_is_the_identity() {
    let Some(folder) = data() else { return };
    for file in [
        "gltf/kaykit/Med_MovementBasic.glb",
        "gltf/gdquest/mannequiny-0.3.0.glb",
        "gltf/raylib/robot.glb",
        "gltf/quaternius/KnightCharacter.glb",
        "gltf/quaternius/Wolf.glb",
        "bvh/cmu/01_01.bvh",
        "bvh/makehuman/walk1.bvh",
        "gltf/raylib/greenman.glb",
    ] {
        let asset = read(&folder, file);
        let motion = thinned(asset.motion(0).unwrap(), 12);
        let source = &motion.character;
        let found = map(source, source).unwrap();
        let ready =
            Retarget::new(source, Arc::clone(source), &found, (&source.rig, &source.rig), RootScale::Legs);
        let result = ready.apply(&motion);
        let (mut turn, mut shift, mut where_) = (0.0_f64, 0.0_f64, String::new());
        let mut size = 0.0_f64;
        for frame in 0..motion.clip.frames() {
            let (a, b) = (motion.model_pose(frame), result.model_pose(frame));
            for (k, (x, y)) in a.joints().iter().zip(b.joints()).enumerate() {
                let d = (x.translation - y.translation).norm();
                if d > shift {
                    where_ = source.skeleton().joints()[k].name.clone();
                }
                turn = turn.max(x.rotation.angle_to(&y.rotation));
                shift = shift.max(d);
                size = size.max((x.translation - a.joints()[0].translation).norm());
            }
        }
        println!("{file}: {turn:.2e} rad, {:.2e} of the size at {where_}", shift / size);
        assert!(turn < 1e-5 && shift < 1e-6 * size, "{file}: {turn} rad, {shift} m of {size} at {where_}");
    }
}

#[test]
fn channel_order_up_axis_heading_and_unit_of_the_file_do_not_matter() {
    use posemill::export::bvh::{BvhWriteOptions, Decimals, RotationOrder, write};
    use posemill::math::{Transform, exp};
    use posemill::model::Skeleton;
    let Some(folder) = data() else { return };
    let target = read(&folder, "gltf/quaternius/Casual_man.glb").character;
    // The first figure is slightly rotated against the axes of its file.
    for (take, heading) in [
        ("bvh/mocapbank/test_mocapbank.bvh", [90.0, 180.0]),
        ("bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh", [77.0, -130.0]),
    ] {
        let motion = thinned(read(&folder, take).motion(0).unwrap(), 10);
        let performed = |order, turn: Quat, metres_per_unit| {
            // The whole file is rotated: rest pose and motion.
            let turn = Transform::from_rotation(turn);
            let mut joints = motion.character.skeleton().joints().to_vec();
            joints[0].rest = turn * joints[0].rest;
            let rig = posemill::model::Rig::new(Skeleton::new(joints).unwrap(), []);
            let mut clip = motion.clip.clone();
            for frame in 0..clip.frames() {
                let root = turn * clip.local(motion.character.skeleton(), frame, JointId::new(0));
                clip.rotations_mut(frame)[0] = root.rotation;
                clip.translations_mut(frame)[0] = root.translation;
            }
            let character = Arc::new(Character { rig, ..(*motion.character).clone() });
            let options = BvhWriteOptions { order, decimals: Decimals::Shortest, metres_per_unit };
            let text = write(&Motion::new(character, clip), &options);
            let asset = from_bytes(&text, "turned", Some("bvh"), None, &ImportOptions::default()).unwrap();
            let motion = asset.motion(0).unwrap();
            perform(&motion, &target).0
        };
        let x = |degrees: f64| exp(&(Vec3::x() * degrees.to_radians()));
        let y = |degrees: f64| exp(&(Vec3::y() * degrees.to_radians()));
        let plain = performed(RotationOrder::Zxy, Quat::identity(), 0.01);
        for (what, other) in [
            ("channel order", performed(RotationOrder::Xyz, Quat::identity(), 0.01)),
            ("Z up", performed(RotationOrder::Zyx, x(90.0), 0.01)),
            ("heading", performed(RotationOrder::Zxy, y(heading[0]), 0.01)),
            ("Z up and heading", performed(RotationOrder::Yxz, x(90.0) * y(heading[1]), 0.01)),
            ("unit", performed(RotationOrder::Zxy, Quat::identity(), 0.0254)),
        ] {
            let mut worst: f64 = 0.0;
            for frame in 0..plain.clip.frames() {
                for (a, b) in plain.model_pose(frame).joints().iter().zip(other.model_pose(frame).joints()) {
                    worst = worst.max((a.translation - b.translation).norm());
                }
            }
            println!("{take}, {what}: {worst:.1e} m");
            assert!(worst < 1e-6 * 1.7, "{take}, {what}: {worst} m");
        }
    }
}
