//! Feet that a reference pose pitches are levelled by their skin or by the frames in which they stand, and no others.

use super::super::level_feet::level_feet;
use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use posemill::anatomy::Figure;
use posemill::import::{ImportOptions, load};
use posemill::math::{Vec3, exp, rotation_between};
use posemill::model::{Asset, Joint, ModelPose, Rig, Role, Side, Skeleton};
use std::path::Path;
use std::sync::Arc;

/// A file of `data/`.
fn shipped(name: &str) -> Asset {
    load(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name), &ImportOptions::default()).unwrap()
}

/// Joints and their rotations in model space about X, degrees.
type Pitches = &'static [(Role, f64)];

/// `asset` with joints of its bind or rest pose rotated in model space, with all below them; the motion stays as it is.
fn posed(asset: &Asset, pitches: Pitches) -> Asset {
    let mut asset = asset.clone();
    let character = Arc::make_mut(&mut asset.character);
    let (skeleton, own) = (character.skeleton().clone(), character.calibration_pose());
    let mut model = own.joints().to_vec();
    for (role, degrees) in pitches {
        let joint = character.rig.joint(*role).unwrap();
        let q = exp(&(Vec3::x() * degrees.to_radians()));
        let at = model[joint.index()].translation;
        for (t, _) in model.iter_mut().zip(skeleton.below(&[joint])).filter(|(_, below)| *below) {
            (t.rotation, t.translation) = (q * t.rotation, at + q * (t.translation - at));
        }
    }
    if character.bind.is_some() {
        character.bind = Some(ModelPose::new(model));
        return asset;
    }
    let joint = |id| {
        let parent = skeleton.parent(id);
        let rest = parent.map_or(model[id.index()], |p| model[p.index()].inverse() * model[id.index()]);
        Joint { rest, ..skeleton.joint(id).clone() }
    };
    let joints = Skeleton::new(skeleton.ids().map(joint).collect()).unwrap();
    let roles: Vec<_> = character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    character.rig = Rig::new(joints, roles);
    asset
}

const FEET: [Role; 2] = [Role::Foot(Side::Left), Role::Foot(Side::Right)];

/// The largest angle in degrees between the feet in the reference poses of two files.
fn apart(a: &Asset, b: &Asset) -> f64 {
    let [p, q] = [a, b].map(|asset| asset.character.calibration_pose());
    let angle = |role: &Role| {
        let id = a.character.rig.joint(*role).unwrap();
        rotation_between(&p.joint(id).rotation, &q.joint(id).rotation).to_degrees()
    };
    FEET.iter().map(angle).fold(0.0, f64::max)
}

const POSES: [(&str, Pitches); 4] = [
    ("pitched feet", &[(FEET[0], 25.0), (FEET[1], 25.0)]),
    ("a raised leg", &[(Role::UpperLeg(Side::Left), -40.0)]),
    ("a leg held high", &[(Role::UpperLeg(Side::Left), -80.0)]),
    ("a raised shin", &[(Role::LowerLeg(Side::Left), 60.0)]),
];

#[test]
fn feet_that_a_reference_pose_pitches_are_level_as_takes_stand_and_as_skins_show() {
    for file in ["walk.bvh", "wave.bvh", "turn.bvh", "mannequin.glb", "robot.glb"] {
        let plain = shipped(file);
        for (name, pitches) in POSES {
            let mut asset = posed(&plain, pitches);
            assert!(apart(&asset, &plain) > 20.0);
            level_feet(&mut asset);
            let off = apart(&asset, &plain);
            assert!(off < 2.0, "{file}, {name}: feet are off by {off} degrees");
            assert!(asset.warnings.has("pitched-foot"));
            let leg = |a: &Asset| Figure::of(&a.character.rig, &a.character.calibration_pose()).unwrap().leg;
            let longer = leg(&asset) / leg(&plain) - 1.0;
            assert!(longer.abs() < 0.01, "{file}, {name}: legs of another length: {longer}");
        }
    }
}

#[test]
fn feet_of_raised_knees_and_crouches_stay_where_they_stand() {
    let poses: [Pitches; 2] = [
        &[(Role::UpperLeg(Side::Left), -80.0), (Role::LowerLeg(Side::Left), 80.0)],
        &[(Role::UpperLeg(Side::Left), -60.0), (Role::LowerLeg(Side::Left), 90.0), (FEET[0], -30.0)],
    ];
    for file in ["walk.bvh", "mannequin.glb", "robot.glb"] {
        for pitches in poses {
            let mut asset = posed(&shipped(file), pitches);
            level_feet(&mut asset);
            assert!(asset.character.calibration.is_none(), "{file}: {pitches:?}");
        }
    }
}

#[test]
fn bodies_that_stand_in_their_reference_pose_keep_it_and_so_do_those_of_users() {
    let names = ["walk", "jump", "squat", "turn", "wave"].map(|name| format!("{name}.bvh"));
    let names = names.iter().map(String::as_str);
    let shipped = names.chain(["mannequin.glb", "robot.glb", "tailed.glb"]).map(shipped);
    let real = data().into_iter().flat_map(|folder| {
        let read = move |file: &&str| load(folder.join(file), &ImportOptions::default()).unwrap();
        TAKES.iter().chain(CHARACTERS).map(read)
    });
    for asset in shipped.chain(real) {
        assert!(!asset.warnings.has("pitched-foot"), "{}", asset.character.name);
    }
}
