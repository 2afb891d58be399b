//! Reference poses that are poses: feet are levelled by their skin or by the frames in which they stand, trunks are straightened by the
//! motion, and no others.

use super::super::neutral_pose::neutralize;
use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use posemill::anatomy::Figure;
use posemill::import::{ImportOptions, load};
use posemill::math::{Vec3, exp, rotation_between};
use posemill::model::{Asset, Clip, Joint, ModelPose, Rig, Role, Side, Skeleton};
use std::path::Path;
use std::sync::Arc;

/// A file of `data/`.
fn shipped(name: &str) -> Asset {
    load(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name), &ImportOptions::default()).unwrap()
}

/// Joints and their rotations in model space about X, Y or Z, degrees.
type Rotations = &'static [(Role, [f64; 3])];

/// `asset` with joints of its bind or rest pose rotated in model space, with all below them; the motion stays as it is.
fn posed(asset: &Asset, rotations: &[(Role, [f64; 3])]) -> Asset {
    let mut asset = asset.clone();
    let character = Arc::make_mut(&mut asset.character);
    let (skeleton, own) = (character.skeleton().clone(), character.reference_pose());
    let mut model = own.joints().to_vec();
    for (role, degrees) in rotations {
        let joint = character.rig.joint(*role).unwrap();
        let q = exp(&(Vec3::from(*degrees) * 1.0_f64.to_radians()));
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

/// The largest angle in degrees between these joints in the reference poses of two files.
fn apart(a: &Asset, b: &Asset, roles: &[Role]) -> f64 {
    let [p, q] = [a, b].map(|asset| asset.character.reference_pose());
    let angle = |role: &Role| {
        let id = a.character.rig.joint(*role).unwrap();
        rotation_between(&p.joint(id).rotation, &q.joint(id).rotation).to_degrees()
    };
    roles.iter().map(angle).fold(0.0, f64::max)
}

/// Poses of legs and feet.
const POSES: [(&str, Rotations); 4] = [
    ("pitched feet", &[(FEET[0], [25.0, 0.0, 0.0]), (FEET[1], [25.0, 0.0, 0.0])]),
    ("a raised leg", &[(Role::UpperLeg(Side::Left), [-40.0, 0.0, 0.0])]),
    ("a leg held high", &[(Role::UpperLeg(Side::Left), [-80.0, 0.0, 0.0])]),
    ("a raised shin", &[(Role::LowerLeg(Side::Left), [60.0, 0.0, 0.0])]),
];

#[test]
fn feet_that_a_reference_pose_pitches_are_level_as_takes_stand_and_as_skins_show() {
    for file in ["walk.bvh", "wave.bvh", "turn.bvh", "mannequin.glb", "robot.glb"] {
        let plain = shipped(file);
        for (name, rotations) in POSES {
            let mut asset = posed(&plain, rotations);
            assert!(apart(&asset, &plain, &FEET) > 20.0);
            neutralize(&mut asset);
            let off = apart(&asset, &plain, &FEET);
            assert!(off < 2.0, "{file}, {name}: feet are off by {off} degrees");
            assert!(asset.warnings.has("pitched-foot"));
            let leg =
                |a: &Asset| Figure::of(&a.character.rig, &a.character.reference_pose()).unwrap().leg_to_sole;
            let longer = leg(&asset) / leg(&plain) - 1.0;
            assert!(longer.abs() < 0.01, "{file}, {name}: legs of another length: {longer}");
        }
    }
}

#[test]
fn bodies_that_a_reference_pose_tilts_as_a_whole_are_stood_up_with_their_feet() {
    let tilts: [(Rotations, f64); 8] = [
        (&[(Role::Hips, [0.0, 0.0, 5.0])], 1.0),
        (&[(Role::Hips, [0.0, 0.0, -10.0])], 1.0),
        (&[(Role::Hips, [0.0, 0.0, 20.0])], 1.0),
        (&[(Role::Hips, [0.0, 0.0, -30.0])], 1.0),
        // Up to what the body leans by build.
        (&[(Role::Hips, [20.0, 0.0, 0.0])], 5.0),
        (&[(Role::Hips, [-30.0, 0.0, 0.0])], 5.0),
        (&[(Role::Hips, [0.0, 0.0, 50.0])], 5.0),
        (&[(Role::Hips, [-90.0, 0.0, 0.0])], 5.0),
    ];
    let body = [FEET[0], FEET[1], Role::Hips, Role::Head, Role::UpperArm(Side::Left)];
    for file in ["walk.bvh", "wave.bvh", "turn.bvh", "mannequin.glb", "robot.glb"] {
        let plain = shipped(file);
        for (rotations, most) in tilts {
            let mut asset = posed(&plain, rotations);
            assert!(apart(&asset, &plain, &body) > 4.9);
            neutralize(&mut asset);
            let off = apart(&asset, &plain, &body);
            assert!(off < most, "{file}, {rotations:?}: off by {off} degrees");
            assert!(asset.warnings.has("rest-tilted"));
        }
    }
}

#[test]
fn a_body_that_sways_its_hips_is_not_tilted_as_a_whole() {
    let sway: Rotations = &[
        (Role::Hips, [0.0, 0.0, 14.0]),
        (Role::Spine(0), [0.0, 0.0, -9.0]),
        (Role::UpperLeg(Side::Left), [0.0, 0.0, -9.0]),
        (Role::UpperLeg(Side::Right), [0.0, 0.0, -9.0]),
    ];
    for file in ["walk.bvh", "mannequin.glb"] {
        let mut asset = posed(&shipped(file), sway);
        neutralize(&mut asset);
        assert!(!asset.warnings.has("rest-tilted"), "{file}");
    }
}

#[test]
fn feet_of_raised_knees_and_crouches_stay_where_they_stand() {
    let poses: [Rotations; 2] = [
        &[(Role::UpperLeg(Side::Left), [-80.0, 0.0, 0.0]), (Role::LowerLeg(Side::Left), [80.0, 0.0, 0.0])],
        &[
            (Role::UpperLeg(Side::Left), [-60.0, 0.0, 0.0]),
            (Role::LowerLeg(Side::Left), [90.0, 0.0, 0.0]),
            (FEET[0], [-30.0, 0.0, 0.0]),
        ],
    ];
    for file in ["walk.bvh", "mannequin.glb", "robot.glb"] {
        for rotations in poses {
            let mut asset = posed(&shipped(file), rotations);
            neutralize(&mut asset);
            assert!(asset.character.calibration.is_none(), "{file}: {rotations:?}");
        }
    }
}

#[test]
fn trunks_that_a_rest_pose_bends_or_twists_are_straight_if_the_motion_is_upright() {
    let bends: [Rotations; 4] = [
        &[(Role::Spine(0), [30.0, 0.0, 0.0])],
        &[(Role::Spine(0), [55.0, 0.0, 0.0])],
        &[(Role::Spine(0), [0.0, 0.0, 30.0])],
        &[(Role::Spine(1), [0.0, 40.0, 0.0])],
    ];
    let trunk = [Role::Spine(0), Role::Spine(1), Role::UpperArm(Side::Left), Role::Head];
    let plain = shipped("walk.bvh");
    for rotations in bends {
        let mut asset = posed(&plain, rotations);
        assert!(apart(&asset, &plain, &trunk) > 20.0);
        neutralize(&mut asset);
        let off = apart(&asset, &plain, &trunk);
        assert!(off < 3.0, "{rotations:?}: the trunk is off by {off} degrees");
        assert!(asset.warnings.has("bent-trunk"));
        // Without a motion it may be the body's own.
        let mut still = posed(&plain, rotations);
        still.clips.clear();
        neutralize(&mut still);
        assert!(still.character.calibration.is_none());
    }
}

#[test]
fn trunks_that_a_rest_pose_leans_forwards_are_straight_if_the_motion_holds_chest_and_head_back() {
    let thighs = |degrees: f64| Side::BOTH.map(|side| (Role::UpperLeg(side), [-degrees, 0.0, 0.0]));
    let trunk = [Role::Hips, Role::Spine(0), Role::Spine(1), Role::UpperArm(Side::Left), Role::Head, FEET[0]];
    // The first joint of the spine of the second is higher, so that less of the line of the trunk leans.
    for (file, leans) in [("walk.bvh", [12.0, 15.0, 19.0]), ("wave.bvh", [16.0, 18.0, 19.0])] {
        let plain = shipped(file);
        for degrees in leans {
            let from_spine = vec![(Role::Spine(0), [degrees, 0.0, 0.0])];
            let from_hips = [vec![(Role::Hips, [degrees, 0.0, 0.0])], thighs(degrees).to_vec()].concat();
            for rotations in [from_spine, from_hips] {
                let mut asset = posed(&plain, &rotations);
                assert!(apart(&asset, &plain, &trunk) > degrees - 0.1);
                neutralize(&mut asset);
                let off = apart(&asset, &plain, &trunk);
                assert!(off < 5.0, "{file}, {rotations:?}: the trunk is off by {off} degrees");
                assert_eq!(warnings_of(&asset), [false, true, false]);
            }
            // A motion that leans as the pose does shows a body that is built so.
            let mut leaning = plain.clone();
            leaning.character = posed(&plain, &[(Role::Spine(0), [degrees, 0.0, 0.0])]).character;
            let skeleton = leaning.character.skeleton().clone();
            let pose = skeleton.rest_pose();
            leaning.clips = vec![Clip::from_poses("rest", 30.0, &skeleton, &vec![pose; 10])];
            neutralize(&mut leaning);
            assert_eq!(warnings_of(&leaning), [false; 3]);
        }
    }
}

/// Whether the reference pose counts as one with pitched feet, with a bent trunk, and with a tilted body.
fn warnings_of(asset: &Asset) -> [bool; 3] {
    ["pitched-foot", "bent-trunk", "rest-tilted"].map(|code| asset.warnings.has(code))
}

#[test]
fn pieces_of_takes_keep_their_reference_pose_however_they_stand() {
    let Some(folder) = data() else { return };
    // The boxer stands on the balls of the feet for seconds.
    for file in TAKES {
        let whole = load(folder.join(file), &ImportOptions::default()).unwrap();
        let motion = whole.motion(0).unwrap();
        let frames = motion.clip.frames();
        for length in [0.15, 0.3, 1.0, 4.0].map(|seconds| (seconds * motion.clip.sample_rate) as usize) {
            for start in (0..frames.saturating_sub(length)).step_by((frames / 24).max(1)) {
                let mut piece = whole.clone();
                piece.clips = vec![motion.part(start..start + length.max(2)).clip];
                neutralize(&mut piece);
                assert_eq!(warnings_of(&piece), [false; 3], "{file}: {length} frames from {start}");
            }
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
        assert_eq!(warnings_of(&asset), [false; 3], "{}", asset.character.name);
    }
}
