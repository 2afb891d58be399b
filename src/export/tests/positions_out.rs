//! Positions of points, written in every layout and read again.

use crate::export::npy::{ArrayRate, ArrayRateWord, PointArrayOptions, write};
use crate::import::{ImportOptions, PointLayout, PointOptions, from_bytes};
use crate::math::{Quat, Vec3, exp, median};
use crate::model::{Character, Clip, Motion, Rig, Role, Side, Skeleton};
use crate::report::Warnings;
use std::sync::Arc;

fn load(name: &str) -> Motion {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(format!("{name}.bvh"));
    let bytes = std::fs::read(path).unwrap();
    from_bytes(&bytes, name, Some("bvh"), None, &ImportOptions::default()).unwrap().motion(0).unwrap()
}

fn take() -> Motion {
    load("walk")
}

fn joints(motion: &Motion, role: Role) -> Vec<Vec3> {
    let id = motion.character.rig.joint(role).unwrap();
    (0..motion.clip.frames()).map(|f| motion.model_pose(f).position(id)).collect()
}

const LAYOUTS: [&str; 10] = [
    "humanml3d",
    "smpl24",
    "smplh52",
    "soma77",
    "coco17",
    "h36m17",
    "body25",
    "mediapipe33",
    "kinect25",
    "azure32",
];

#[test]
fn limbs_come_back_through_every_layout() {
    let take = take();
    for layout in LAYOUTS {
        let mut warnings = Warnings::new();
        let bytes =
            write(&take, &PointArrayOptions { layout: layout.into(), ..Default::default() }, &mut warnings)
                .unwrap();
        let points =
            PointOptions { layout: Some(PointLayout::Named(layout.into())), ..PointOptions::default() };
        let written_rate =
            if warnings.has("points-rate-written") { None } else { Some(take.clip.sample_rate) };
        let options = ImportOptions { rate: written_rate, points, ..ImportOptions::default() };
        let found = from_bytes(&bytes, "walk", Some("npy"), None, &options).unwrap().motion(0).unwrap();
        let seconds = |m: &Motion| (m.clip.frames() - 1) as f64 / m.clip.sample_rate;
        assert!((seconds(&found) - seconds(&take)).abs() < 0.051, "{layout}");
        for side in Side::BOTH {
            for role in [Role::LowerLeg(side), Role::Foot(side), Role::LowerArm(side), Role::Hand(side)] {
                let (mine, its) = (joints(&found, role), joints(&take, role));
                let ratio = take.clip.sample_rate / found.clip.sample_rate;
                let off = mine.iter().enumerate().map(|(f, p)| {
                    let place = (f as f64 * ratio).min((its.len() - 1) as f64);
                    let (low, t) = (place as usize, place.fract());
                    (its[low] * (1.0 - t) + its[(low + 1).min(its.len() - 1)] * t - p).norm()
                });
                let off = median(off.collect());
                assert!(off < 5e-3, "{layout} {role}: {off}");
            }
        }
    }
}

/// The number of frames that the head of an array states.
fn rows(bytes: &[u8]) -> usize {
    let head = String::from_utf8_lossy(&bytes[..200]).into_owned();
    let (_, shape) = head.split_once("'shape': (").unwrap();
    shape.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn an_array_is_at_the_rate_that_is_asked_for() {
    let take = take();
    let (frames, own) = (take.clip.frames(), take.clip.sample_rate);
    assert!((own - 20.0).abs() > 1.0, "{own}");
    for (rate, expected, said) in [
        (ArrayRate::default(), 20.0, true),
        (ArrayRate::Word(ArrayRateWord::Take), own, false),
        (ArrayRate::Hz(own), own, false),
        (ArrayRate::Hz(2.0 * own), 2.0 * own, false),
    ] {
        let mut warnings = Warnings::new();
        let bytes = write(&take, &PointArrayOptions { rate, ..Default::default() }, &mut warnings).unwrap();
        let seconds = (frames - 1) as f64 / own;
        assert!((rows(&bytes) as f64 - 1.0 - seconds * expected).abs() < 1.0, "{rate:?}: {}", rows(&bytes));
        assert_eq!(warnings.has("points-rate-written"), said, "{rate:?}");
    }
}

#[test]
fn features_are_read_as_the_same_walk() {
    let (take, mut warnings) = (take(), Warnings::new());
    let options = PointArrayOptions { layout: "humanml3d_features".into(), ..Default::default() };
    let bytes = write(&take, &options, &mut warnings).unwrap();
    let asset = from_bytes(&bytes, "walk", Some("npy"), None, &ImportOptions::default()).unwrap();
    let found = asset.motion(0).unwrap();
    let plain = write(&take, &PointArrayOptions::default(), &mut warnings).unwrap();
    let plain =
        from_bytes(&plain, "walk", Some("npy"), None, &ImportOptions::default()).unwrap().motion(0).unwrap();
    assert_eq!(found.clip.frames() + 1, plain.clip.frames());
    // From another origin: steps are the same.
    for role in [Role::Hand(Side::Left), Role::Foot(Side::Right)] {
        let steps = |m: &Motion| joints(m, role).windows(2).map(|w| (w[1] - w[0]).norm()).collect::<Vec<_>>();
        for (a, b) in steps(&found).iter().zip(steps(&plain)) {
            assert!((a - b).abs() < 2e-3, "{role}: {a} {b}");
        }
    }
}

#[test]
fn layouts_and_bodies_that_are_none_are_refused() {
    let mut take = take();
    let refused = |take: &Motion, layout: &str| {
        write(take, &PointArrayOptions { layout: layout.into(), ..Default::default() }, &mut Warnings::new())
            .unwrap_err()
            .to_string()
    };
    let said = refused(&take, "humanml4d");
    assert!(said.contains("there is no layout `humanml4d`") && said.contains("soma77, coco17"), "{said}");
    let mut character = (*take.character).clone();
    let kept: Vec<_> = (take.character.rig.assignments())
        .filter(|(role, _)| *role != Role::Head)
        .map(|(role, assignment)| (role, assignment.clone()))
        .collect();
    character.rig = crate::model::Rig::new(take.character.skeleton().clone(), kept);
    take.character = std::sync::Arc::new(character);
    assert!(refused(&take, "coco17").contains("were not found: head"));
}

/// The take with its second half a metre aside: nothing in between may be written at another rate.
#[test]
fn nothing_is_interpolated_across_a_cut() {
    let mut take = take();
    let (frames, width) = (take.clip.frames(), take.clip.translated().len());
    let first = take.clip.all_translations()[0];
    for (k, at) in take.clip.all_translations_mut().iter_mut().enumerate() {
        let aside = if k / width > frames / 2 { Vec3::x() } else { Vec3::zeros() };
        *at = if k % width == 0 { Vec3::new(first.x, at.y, first.z) + aside } else { *at };
    }
    // The last two have frames between any two of the take.
    for rate in [20.0, 23.0, 100.0, 250.0] {
        let made = crate::export::file_rate::at_file_rate(&take, rate).unwrap();
        let place = |k: usize| made.clip.translations(k)[0].x - first.x;
        let between: Vec<f64> =
            (0..made.clip.frames()).map(place).filter(|x| (0.01..0.99).contains(x)).collect();
        assert!(between.is_empty(), "{rate} Hz: {between:?}");
    }
    assert!(crate::export::file_rate::at_file_rate(&take, take.clip.sample_rate).is_none());
}

#[test]
fn hands_without_fingers_point_away_from_the_elbow_however_the_arms_rest() {
    let take = load("squat");
    let rig = &take.character.rig;
    let hanging = Side::BOTH.map(|side| {
        let down = exp(&(Vec3::z() * (-80.0_f64.to_radians() * side.sign())));
        (rig.joint(Role::UpperArm(side)).unwrap(), down)
    });
    let joint = |id| {
        let mut joint = rig.skeleton().joint(id).clone();
        let turn = hanging.iter().find(|(arm, _)| *arm == id).map_or_else(Quat::identity, |(_, down)| *down);
        joint.rest.rotation = turn * joint.rest.rotation;
        joint
    };
    let skeleton = Skeleton::new(rig.skeleton().ids().map(joint).collect()).unwrap();
    let roles: Vec<_> = rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let rest: Vec<Quat> = skeleton.ids().map(|id| skeleton.joint(id).rest.rotation).collect();
    let clip = Clip::new("rest", 30.0, skeleton.len(), rest, Vec::new(), Vec::new());
    let still = Motion::new(Arc::new(Character::new("rest", Rig::new(skeleton, roles))), clip);
    let options = PointArrayOptions { layout: "mediapipe33".into(), ..Default::default() };
    let bytes = write(&still, &options, &mut Warnings::new()).unwrap();
    let values = &bytes[bytes.len() - 33 * 12..];
    let number = |k: usize| f64::from(f32::from_le_bytes(values[4 * k..4 * k + 4].try_into().unwrap()));
    let at = |k: usize| Vec3::new(number(3 * k), number(3 * k + 1), number(3 * k + 2));
    // Elbows, wrists, little fingers, index fingers: left, right.
    for side in 0..2 {
        let forearm = at(15 + side) - at(13 + side);
        for knuckle in [17, 19] {
            let bent = forearm.angle(&(at(knuckle + side) - at(15 + side))).to_degrees();
            assert!(bent < 30.0, "{side}, {knuckle}: {bent} degrees");
        }
    }
}
