//! Bodies that sit, kneel and lie: skin rests on the floor, and cloth that hangs from hips or trunk is no body.

use crate::development_data::data;
use crate::lowest_skin::lowest_skin;
use posemill::import::{ImportOptions, load};
use posemill::math::{Mat4, Vec3, exp, smoothstep};
use posemill::measure::MetricContext;
use posemill::model::{Binding, Character, Mesh, Motion, Role, Side};
use posemill::pipeline::assess_alone;
use posemill::report::Report;
use posemill::retarget::{Retarget, RootScale, map};
use posemill::stages::{RetargetConfig, Setting, StageConfig};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

fn shipped(file: &str) -> posemill::model::Asset {
    load(format!("{}/data/{file}", env!("CARGO_MANIFEST_DIR")), &ImportOptions::default()).unwrap()
}

fn take(file: &str) -> Motion {
    let asset = shipped(file);
    Motion::new(Arc::clone(&asset.character), asset.clips[0].clone())
}

fn onto(source: &Motion, target: &Arc<Character>) -> Motion {
    let found = map(&source.character, target).unwrap();
    let rigs = (&source.character.rig, &target.rig);
    Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs).apply(source)
}

/// The height of a joint in every frame.
fn heights(motion: &Motion, role: Role) -> Vec<f64> {
    let joint = motion.character.rig.joint(role).unwrap();
    (0..motion.clip.frames()).map(|f| motion.model_pose(f).position(joint).y).collect()
}

/// A tube of rings about the vertical, from `ring(0)` to `ring(1)` (middle and radius), that turns with the joint of a role.
fn tube(character: &Character, role: Role, ring: impl Fn(f64) -> (Vec3, f64)) -> Mesh {
    const ROWS: usize = 9;
    const AROUND: usize = 24;
    let vertex = |k: usize| {
        let (middle, radius) = ring((k / AROUND) as f64 / (ROWS - 1) as f64);
        let angle = TAU * (k % AROUND) as f64 / AROUND as f64;
        let p = middle + Vec3::new(radius * angle.cos(), 0.0, radius * angle.sin());
        [p.x as f32, p.y as f32, p.z as f32]
    };
    let corner = |row: usize, k: usize| (row * AROUND + k % AROUND) as u32;
    let quad = |k: usize| {
        let (row, k) = (k / AROUND, k % AROUND);
        let [a, b, c, d] = [corner(row, k), corner(row, k + 1), corner(row + 1, k), corner(row + 1, k + 1)];
        [[a, b, c], [b, d, c]]
    };
    let joint = character.rig.joint(role).unwrap();
    let joint_from_mesh: Mat4<f64> = character.reference_pose().joint(joint).inverse().to_matrix();
    Mesh {
        positions: (0..ROWS * AROUND).map(vertex).collect(),
        joints: vec![[0; 4]; ROWS * AROUND],
        weights: vec![[1.0, 0.0, 0.0, 0.0]; ROWS * AROUND],
        triangles: (0..(ROWS - 1) * AROUND).flat_map(quad).collect(),
        bindings: vec![Binding { joint, joint_from_mesh }],
        ..Mesh::default()
    }
}

fn at(character: &Character, role: Role) -> Vec3 {
    character.reference_pose().position(character.rig.joint(role).unwrap())
}

/// A frustum about the hips, between two heights above the hip joints and with a radius at either end, all in thigh lengths.
fn frustum(character: &Character, role: Role, heights: [f64; 2], radii: [f64; 2]) -> Mesh {
    let [left, right, knee] =
        [Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right), Role::LowerLeg(Side::Left)]
            .map(|role| at(character, role));
    let (hip, thigh) = ((left + right) * 0.5, (left - knee).norm());
    let between = |[a, b]: [f64; 2], share: f64| thigh * (a + share * (b - a));
    tube(character, role, |share| (hip + Vec3::y() * between(heights, share), between(radii, share)))
}

/// A ball about a joint's position, moved by an offset, metres.
fn ball(character: &Character, role: Role, offset: Vec3, radius: f64) -> Mesh {
    let middle = at(character, role) + offset;
    tube(character, role, |share| {
        let (sin, cos) = (PI * share).sin_cos();
        (middle + Vec3::y() * (radius * cos), radius * sin)
    })
}

fn with(character: &Arc<Character>, mesh: Mesh) -> Arc<Character> {
    let mut dressed = (**character).clone();
    dressed.meshes.push(mesh);
    Arc::new(dressed)
}

#[test]
fn a_robe_does_not_lift_a_body_that_sits() {
    let (take, bare) = (take("squat.bvh"), shipped("mannequin.glb").character);
    let path = heights(&onto(&take, &bare), Role::Hips);
    // From above the hips to the ankles, to the floor and below it, or to the knees; of hips, trunk and thigh.
    for (role, heights_of, radii) in [
        (Role::Hips, [0.2, -1.9], [0.4, 0.9]),
        (Role::Hips, [0.2, -2.3], [0.4, 0.9]),
        (Role::Hips, [0.2, -1.0], [0.4, 0.7]),
        (Role::Spine(0), [0.6, -1.9], [0.4, 0.9]),
        (Role::UpperLeg(Side::Left), [0.0, -1.9], [0.4, 0.9]),
    ] {
        let dressed = with(&bare, frustum(&bare, role, heights_of, radii));
        let robed = heights(&onto(&take, &dressed), Role::Hips);
        let apart = path.iter().zip(&robed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(
            apart < 1e-9,
            "a robe on {role} to {} thigh lengths lifts the hips by {apart} m",
            -heights_of[1]
        );
    }
}

#[test]
fn cloth_in_the_floor_is_no_body_in_it() {
    let (take, bare) = (take("squat.bvh"), shipped("mannequin.glb").character);
    let depth = |character: &Arc<Character>| {
        let result = onto(&take, character);
        let made = assess_alone(&MetricContext::new(character), &result, 0.0);
        made.metrics.iter().find(|m| m.name == "body_skin_below_floor").unwrap().value
    };
    let own = depth(&bare);
    for (role, heights_of, radii) in [
        (Role::Hips, [0.2, -1.9], [0.4, 0.9]),
        (Role::Hips, [0.2, -1.0], [0.4, 0.7]),
        (Role::UpperLeg(Side::Left), [0.0, -1.9], [0.4, 0.9]),
    ] {
        let robed = depth(&with(&bare, frustum(&bare, role, heights_of, radii)));
        assert!(robed < own + 0.01, "a robe on {role}: {robed} m, without it {own} m");
    }
}

#[test]
fn a_vertex_that_nothing_draws_does_not_lift_the_body() {
    let (take, bare) = (take("squat.bvh"), shipped("mannequin.glb").character);
    let foot = bare.rig.joint(Role::Foot(Side::Left)).unwrap();
    let mut stray = (*bare).clone();
    for mesh in &mut stray.meshes {
        let Some(binding) = mesh.bindings.iter().position(|b| b.joint == foot) else { continue };
        mesh.positions.push([0.1, -1.7, 0.0]);
        mesh.joints.push([binding as u16, 0, 0, 0]);
        mesh.weights.push([1.0, 0.0, 0.0, 0.0]);
        mesh.normals.extend((!mesh.normals.is_empty()).then_some([0.0, 1.0, 0.0]));
        mesh.texcoords.extend((!mesh.texcoords.is_empty()).then_some([0.0, 0.0]));
        mesh.colors.extend((!mesh.colors.is_empty()).then_some([1.0; 4]));
    }
    assert_ne!(stray, *bare);
    let [own, lifted] = [bare, Arc::new(stray)].map(|hero| heights(&onto(&take, &hero), Role::Hips));
    let apart = own.iter().zip(&lifted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "the hips are lifted by {apart} m");
}

/// The first pose of the squat for two seconds: it stands, falls on its back about its ankles, and rests there.
fn lies_down() -> Motion {
    let standing = take("squat.bvh");
    let (rate, joints) = (30.0, standing.clip.joints());
    let foot = standing.character.rig.joint(Role::Foot(Side::Left)).unwrap();
    let ankle = standing.model_pose(0).position(foot);
    let (mut rotations, mut positions) = (Vec::new(), Vec::new());
    for f in 0..61 {
        let down = exp(&(Vec3::x() * (-FRAC_PI_2 * smoothstep((f as f64 - 20.0) / 25.0))));
        let mut own = standing.clip.rotations(0).to_vec();
        own[0] = down * own[0];
        rotations.extend(own);
        let mut own = standing.clip.translations(0).to_vec();
        own[0] = ankle + down * (own[0] - ankle);
        positions.extend(own);
    }
    let translated = standing.clip.translated().to_vec();
    let clip = posemill::model::Clip::new("lies", rate, joints, rotations, translated, positions);
    Motion::new(standing.character, clip)
}

/// One that kneels and props itself on its hands: the arms are placed on a body with short legs and big hands.
#[test]
fn hands_that_are_placed_on_the_body_stay_out_of_the_floor() {
    let Some(data) = data() else { return };
    let read = |file: &str| load(data.join(file), &ImportOptions::default()).unwrap();
    let take = read("bvh/mocapbank/test_mocapbank.bvh").motion(0).unwrap();
    let target = read("gltf/kaykit/manny_med_mod.gltf").character;
    let setting = Setting { target: Some(target), ..Setting::new(Arc::clone(&take.character), "") };
    let stage = RetargetConfig::default().resolve(&setting).unwrap();
    let result = stage.apply(take, &mut Report::default()).unwrap();
    let lowest = (0..result.clip.frames()).step_by(3).map(|f| lowest_skin(&result, f));
    let low = lowest.fold(f64::INFINITY, f64::min);
    assert!(low > -0.012, "the skin is {} m in the floor", -low);
}

/// One that sits, with the toes of a foot on the floor and its heel up, in a part of the take in which no foot is flat.
#[test]
fn toes_bend_in_a_part_of_a_take_without_flat_feet() {
    let Some(data) = data() else { return };
    let asset = load(data.join("bvh/mocapbank/test_mocapbank.bvh"), &ImportOptions::default());
    let (take, hero) = (asset.unwrap().motion(0).unwrap(), shipped("mannequin.glb").character);
    let toes = hero.rig.joint(Role::Toes(Side::Right)).unwrap();
    let [whole, part] = [180..420, 210..270].map(|frames| onto(&take.part(frames), &hero));
    let bend = |motion: &Motion, f: usize| motion.clip.rotations(f)[toes.index()].angle().to_degrees();
    for f in [10, 30, 50] {
        let (of_whole, of_part) = (bend(&whole, 30 + f), bend(&part, f));
        assert!(of_whole > 40.0 && (of_whole - of_part).abs() < 5.0, "frame {f}: {of_whole}, {of_part}");
    }
}

#[test]
fn bodies_that_lie_rest_on_the_floor_with_head_and_calves() {
    let (take, bare) = (lies_down(), shipped("mannequin.glb").character);
    let slim = heights(&onto(&take, &bare), Role::Hips);
    for (what, mesh, raised) in [
        ("a large head", ball(&bare, Role::Head, Vec3::y() * 0.15, 0.4), 0.05),
        ("a head that the neck raises", ball(&bare, Role::Head, Vec3::y() * 0.12, 0.2), -0.01),
        ("a thick calf", ball(&bare, Role::LowerLeg(Side::Left), Vec3::y() * -0.33, 0.13), -0.01),
        ("a belly and a seat", frustum(&bare, Role::Hips, [0.8, -0.7], [0.5, 0.7]), 0.1),
    ] {
        let result = onto(&take, &with(&bare, mesh));
        let low = (0..61).map(|f| lowest_skin(&result, f)).fold(f64::INFINITY, f64::min);
        assert!(low > -0.012, "{what} is {} m in the floor", -low);
        let path = heights(&result, Role::Hips);
        assert!(path[60] > slim[60] + raised, "{what}: {} {}", path[60], slim[60]);
        // It stands as it does without, and rises smoothly: no faster than the take sinks.
        assert!((0..8).all(|f| (path[f] - slim[f]).abs() < 2e-3), "{what}");
        let bend =
            |path: &[f64]| path.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).abs()).fold(0.0, f64::max);
        assert!(bend(&path) < 4.0 * bend(&slim), "{what}: {} {}", bend(&path), bend(&slim));
    }
}

#[test]
fn long_hair_does_not_lift_a_body_that_lies() {
    let (take, bare) = (lies_down(), shipped("mannequin.glb").character);
    let slim = heights(&onto(&take, &bare), Role::Hips);
    let nape = at(&bare, Role::Neck(0)) - at(&bare, Role::Head) - Vec3::new(0.0, 0.2, 0.25);
    let path = heights(&onto(&take, &with(&bare, ball(&bare, Role::Head, nape, 0.1))), Role::Hips);
    assert!(path.iter().zip(&slim).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn a_short_thick_body_lies_on_the_floor_and_not_above_it() {
    let Some(data) = data() else { return };
    // Its legs are 0.38 m long with ankles 0.12 m above the soles; on its back hips and ankles are 0.4 and 0.33 m high.
    let takes = load(data.join("gltf/kaykit/Med_General.glb"), &ImportOptions::default()).unwrap();
    let target = shipped("mannequin.glb").character;
    // The first two lie throughout; the third stands before it falls.
    for name in ["Rig_Medium|Death_A_Pose", "Rig_Medium|Death_B_Pose", "Rig_Medium|Death_B"] {
        let take = (0..takes.clips.len()).filter_map(|k| takes.motion(k)).find(|take| take.clip.name == name);
        let low = lowest_skin(&onto(&take.unwrap(), &target), 0);
        assert!(low < 0.05, "{name}: the lowest skin is {low} m above the floor");
    }
}
