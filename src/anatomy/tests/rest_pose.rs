//! Takes with a degenerate rest pose, made from good ones by giving every joint other axes, which changes no world
//! position, so that estimates can be compared with the truth.

use crate::development_data::data;
use posemill::anatomy::{RestFault, posed_rest, rest_fault, rest_from_motion};
use posemill::import::{self, Calibrate, ImportError, ImportOptions};
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{
    Asset, CalibrationSource, Character, Clip, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton,
};
use posemill::retarget::{Retarget, RootScale, map};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// A take that the project made.
fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn load(path: &std::path::Path) -> Asset {
    import::load(path, &ImportOptions::default()).unwrap()
}

/// The new axes of joints.
#[derive(Clone, Copy, Debug)]
pub(super) enum Axes {
    /// As rigs have them: X along the bone, the rest by the body.
    Rig,
    /// X along the bone, -X on the right.
    Mirrored,
    /// X along the bone, with an arbitrary rotation about it.
    Random,
}

/// The new axes of every joint, seen in the reference pose: `C'_j = C_j A_j`.
pub(super) fn axes(character: &Character, kind: Axes) -> Vec<Quat> {
    let (skeleton, rest) = (character.skeleton(), character.reference_pose());
    let mut found: Vec<Quat> = Vec::new();
    for id in skeleton.ids() {
        let children = skeleton.children(id);
        let next = children.iter().max_by(|a, b| {
            let length = |id: JointId| skeleton.joint(id).rest.translation.norm();
            length(**a).total_cmp(&length(**b))
        });
        let bone = next.map(|n| rest.position(*n) - rest.position(id));
        let bone = bone.or_else(|| skeleton.joint(id).tip.map(|t| rest.joint(id).rotation * t));
        let above = skeleton.parent(id).map_or_else(Quat::identity, |p| found[p.index()]);
        let Some(bone) = bone.and_then(|b| b.try_normalize(1e-6)) else {
            found.push(above);
            continue;
        };
        let right = rest.position(id).x < -0.01;
        let x = if right && matches!(kind, Axes::Mirrored) { -bone } else { bone };
        let z = if x.x.abs() > 0.7 { Vec3::y() } else { Vec3::x() };
        let z = (z - x * z.dot(&x)).normalize();
        let made = posemill::math::from_columns(&x, &z.cross(&x), &z);
        let angle = match kind {
            // Golden angles: no two joints alike, and the same in every run.
            Axes::Random => 2.399_963 * id.index() as f64,
            _ => 0.0,
        };
        found.push(made * exp(&(Vec3::x() * angle)));
    }
    found
}

/// The same motion for joints whose axes are `A`: `R' = A_p^-1 R A`, with offsets, translations and tips converted.
pub(super) fn rewritten(motion: &Motion, a: &[Quat]) -> Motion {
    let skeleton = motion.character.skeleton();
    let above = |id: JointId| skeleton.parent(id).map_or_else(Quat::identity, |p| a[p.index()]);
    let joint = |id: JointId| {
        let joint = skeleton.joint(id);
        Joint {
            rest: Transform::new(Quat::identity(), above(id).inverse() * joint.rest.translation),
            tip: joint.tip.map(|t| a[id.index()].inverse() * t),
            ..joint.clone()
        }
    };
    let tree = Skeleton::new(skeleton.ids().map(joint).collect()).unwrap();
    let clip = &motion.clip;
    let mut rotations = Vec::new();
    let mut translations = Vec::new();
    for f in 0..clip.frames() {
        rotations.extend(
            skeleton.ids().map(|id| above(id).inverse() * clip.rotations(f)[id.index()] * a[id.index()]),
        );
        let pairs = clip.translated().iter().zip(clip.translations(f));
        translations.extend(pairs.map(|(id, t)| above(*id).inverse() * t));
    }
    let translated = clip.translated().to_vec();
    let new = Clip::new(&clip.name, clip.sample_rate, skeleton.len(), rotations, translated, translations);
    let roles: Vec<_> = motion.character.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    Motion::new(Arc::new(Character::new("rewritten", Rig::new(tree, roles))), new)
}

/// The part of a clip.
fn cut(motion: &Motion, frames: std::ops::Range<usize>) -> Motion {
    motion.part(frames.start..frames.end.min(motion.clip.frames()))
}

/// A take that stands upright in its own rest pose, root included.
fn take(path: &std::path::Path) -> Option<Motion> {
    let motion = load(path).motion(0)?;
    let upright = motion.character.skeleton().rest_model_pose().joint(JointId::new(0)).rotation;
    (upright.angle() < 1e-6).then_some(motion)
}

const TAKES: [&str; 9] = [
    "bvh/cmu/01_01.bvh",
    "bvh/cmu/jumping_jacks.bvh",
    "bvh/mixamo-names/test_freebvh.bvh",
    "bvh/mocapbank/test_mocapbank.bvh",
    "bvh/fair1/dab.bvh",
    "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
    "bvh/bvh-toolbox/walk01.bvh",
    "bvh/assimp/Boxing_Toes.bvh",
    "bvh/xia/angry_13_000.bvh",
];

/// The angle in degrees between where a bone points in two poses.
fn apart(poses: [(&Rig, &ModelPose); 2], from: Role, to: Role) -> Option<f64> {
    let bone = |(rig, pose): (&Rig, &ModelPose)| {
        Some(pose.position(rig.joint(to)?) - pose.position(rig.joint(from)?))
    };
    Some(bone(poses[0])?.angle(&bone(poses[1])?).to_degrees())
}

#[test]
fn a_small_yaw_of_the_performer_keeps_the_world_of_the_take() {
    let text = fs::read_to_string(shipped("walk.bvh")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let turned_by = |degrees: f64| {
        let line = |line: &str| {
            let Some(offset) = line.trim_start().strip_prefix("OFFSET") else { return line.to_owned() };
            let [x, y, z] =
                [0, 1, 2].map(|k| offset.split_whitespace().nth(k).unwrap().parse::<f64>().unwrap());
            let (sin, cos) = degrees.to_radians().sin_cos();
            format!("OFFSET {} {y} {}", cos * x + sin * z, cos * z - sin * x)
        };
        let path = folder.path().join("turned.bvh");
        fs::write(&path, text.lines().map(line).collect::<Vec<_>>().join("\n")).unwrap();
        load(&path).motion(0).unwrap()
    };
    let root = |motion: &Motion| motion.clip.translations(motion.clip.frames() - 1)[0];
    let straight = root(&turned_by(0.0));
    for degrees in [1.2, -4.0] {
        let off = (root(&turned_by(degrees)) - straight).norm();
        assert!(off < 1e-9, "{degrees} degrees: {off} m");
    }
    // A figure that faces along no axis of its file stands in a scene: it is rotated to the front, and the take with
    // it.
    assert!((root(&turned_by(30.0)) - straight).norm() > 0.1);
}

#[test]
fn a_rest_pose_along_one_axis_is_detected_in_all_frames_and_in_one() {
    let Some(data) = data() else { return };
    let mut tried = 0;
    for motion in TAKES.iter().filter_map(|t| take(&data.join(t))) {
        for kind in [Axes::Rig, Axes::Mirrored, Axes::Random] {
            let other = rewritten(&motion, &axes(&motion.character, kind));
            let n = other.clip.frames();
            for frames in [0..n, n / 2..n / 2 + 1, n / 3..n / 3 + 30] {
                let part = cut(&other, frames.clone());
                let rest = part.character.skeleton().rest_model_pose();
                let fault = rest_fault(&part.character.rig, &rest, &[&part.clip]);
                assert!(fault.is_some(), "{} {kind:?} {frames:?}", motion.clip.name);
                tried += 1;
            }
        }
    }
    println!("{tried} parts of takes over a rest pose along X, all found out");
    assert!(tried >= 54, "{tried}");
}

#[test]
fn good_rest_poses_are_left_alone() {
    let Some(data) = data() else { return };
    let mut files = Vec::new();
    let mut folders = vec![data.join("bvh"), data.join("gltf"), data.join("derived"), data.join("vrm")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let known =
                |e: &std::ffi::OsStr| ["bvh", "glb", "gltf", "vrm", "vrma"].contains(&&*e.to_string_lossy());
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(known) {
                files.push(path);
            }
        }
    }
    let mut bodies = 0;
    for path in files {
        let Ok(asset) = import::load(&path, &ImportOptions::default()) else { continue };
        let character = &asset.character;
        bodies += usize::from(character.rig.joint(Role::Hips).is_some());
        let from = character.calibration_source();
        assert_ne!(from, CalibrationSource::Motion, "{}: {:?}", path.display(), asset.warnings);
    }
    println!("{bodies} bodies, none of them calibrated by its motion");
    assert!(bodies >= 30, "{bodies}");
}

#[test]
fn the_estimate_does_not_depend_on_the_axes_and_points_where_a_t_pose_does() {
    let Some(data) = data() else { return };
    for motion in TAKES.iter().filter_map(|t| take(&data.join(t))) {
        let name = &motion.clip.name;
        let rig = &motion.character.rig;
        let own = rest_from_motion(rig, &[&motion.clip], Some(Vec3::y())).unwrap();
        let a = axes(&motion.character, Axes::Random);
        let other = rewritten(&motion, &a);
        let found = rest_from_motion(&other.character.rig, &[&other.clip], Some(Vec3::y())).unwrap();
        let poses = [(rig, &own.pose), (&other.character.rig, &found.pose)];
        for s in Side::BOTH {
            let t_pose = [
                (Role::UpperArm(s), Role::LowerArm(s), Vec3::x() * s.sign()),
                (Role::LowerArm(s), Role::Hand(s), Vec3::x() * s.sign()),
                (Role::UpperLeg(s), Role::LowerLeg(s), -Vec3::y()),
                (Role::LowerLeg(s), Role::Foot(s), -Vec3::y()),
            ];
            for (from, to, direction) in t_pose {
                let (rig, pose) = poses[1];
                let bone = pose.position(rig.joint(to).unwrap()) - pose.position(rig.joint(from).unwrap());
                // Joints that the file itself moves miss by what they move.
                assert!(bone.angle(&direction).to_degrees() < 1.0, "{name}: {from} points {bone:?}");
                let off = apart(poses, from, to).unwrap();
                assert!(off < 1.0, "{name}: {from} differs by {off}");
            }
        }
        // With the same convention on both sides (none), the axes follow: C' = C A.
        if own.conventional == found.conventional {
            for (role, assignment) in rig.assignments().filter(|(r, _)| !matches!(r, Role::Finger(..))) {
                let j = assignment.joint;
                let expected = own.pose.joint(j).rotation * a[j.index()];
                let off = expected.angle_to(&found.pose.joint(j).rotation).to_degrees();
                assert!(off < 1.5, "{name}: {role} is rotated by {off}");
            }
        }
        let lowest = found.pose.joints().iter().map(|t| t.translation.y).fold(f64::INFINITY, f64::min);
        assert!(lowest > -0.02, "{name} stands {lowest} m under its floor");
    }
}

#[test]
fn each_part_may_be_missing() {
    let motion = take(&shipped("walk.bvh")).expect("the made walk stands upright");
    let without = |lost: &dyn Fn(&Role) -> bool| {
        let rig = &motion.character.rig;
        let roles = rig.assignments().filter(|(r, _)| !lost(r)).map(|(r, a)| (r, a.clone()));
        Rig::new(rig.skeleton().clone(), roles)
    };
    let cases: [(&str, Rig); 6] = [
        ("toes", without(&|r| matches!(r, Role::Toes(_)))),
        ("hands", without(&|r| matches!(r, Role::Hand(_) | Role::Finger(..)))),
        ("feet", without(&|r| matches!(r, Role::Foot(_) | Role::Toes(_)))),
        ("spine", without(&|r| matches!(r, Role::Spine(_)))),
        ("head and neck", without(&|r| matches!(r, Role::Head | Role::Neck(_)))),
        (
            "arms",
            without(&|r| {
                matches!(r, Role::UpperArm(_) | Role::LowerArm(_) | Role::Hand(_) | Role::Clavicle(_))
            }),
        ),
    ];
    for (name, rig) in &cases {
        let found = rest_from_motion(rig, &[&motion.clip], Some(Vec3::y()));
        let found = found.unwrap_or_else(|| panic!("no pose without {name}"));
        assert!(found.pose.joints().iter().all(Transform::is_finite), "without {name}");
    }
    let legless = without(&|r| matches!(r, Role::UpperLeg(_)));
    assert!(rest_from_motion(&legless, &[&motion.clip], None).is_none());
    assert!(rest_from_motion(&motion.character.rig, &[], None).is_none());
    let still = cut(&motion, 3..4);
    assert!(rest_from_motion(&motion.character.rig, &[&still.clip], None).is_some());
}

#[test]
fn nodes_posed_as_in_a_frame_of_a_clip_are_no_rest_pose() {
    let motion = take(&shipped("walk.bvh")).expect("the made walk stands upright");
    let rig = &motion.character.rig;
    let posed = |rest: &ModelPose| posed_rest(rig, rest, &[&motion.clip]);
    assert_eq!(posed(&rig.skeleton().rest_model_pose()), None);
    let fault = (0..motion.clip.frames()).find_map(|f| posed(&motion.model_pose(f)));
    assert!(matches!(fault, Some(RestFault::Posed(_))), "{fault:?}");
}

/// The same motion over a rest pose that is its frame `frame`, read from BVH text with this reference pose.
fn posed_at_rest(motion: &Motion, frame: usize, calibration: Calibrate) -> Asset {
    let axes: Vec<Quat> = motion.model_pose(frame).joints().iter().map(|t| t.rotation.inverse()).collect();
    let text = posemill::export::bvh::write(&rewritten(motion, &axes), &Default::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("posed.bvh");
    fs::write(&path, text).unwrap();
    import::load(&path, &ImportOptions { calibration, ..ImportOptions::default() }).unwrap()
}

/// The mean angle in degrees by which joints of two motions of a character differ, without fingers and toes.
fn joints_apart(a: &Motion, b: &Motion) -> f64 {
    let rig = &a.character.rig;
    let of_body = |(role, _): &(Role, _)| !matches!(role, Role::Finger(..) | Role::Toes(_));
    let joints: Vec<JointId> = rig.assignments().filter(of_body).map(|(_, found)| found.joint).collect();
    let of_frame = |f: usize| {
        let [a, b] = [a, b].map(|motion| motion.model_pose(f));
        joints.iter().map(|j| a.joint(*j).rotation.angle_to(&b.joint(*j).rotation)).sum::<f64>()
    };
    let frames: Vec<usize> = (0..a.clip.frames()).step_by(5).collect();
    let total: f64 = frames.iter().map(|f| of_frame(*f)).sum();
    (total / (frames.len() * joints.len()) as f64).to_degrees()
}

#[test]
fn a_rest_pose_that_is_a_frame_of_the_motion_is_replaced_by_one_from_the_motion() {
    let target = load(&shipped("mannequin.glb")).character;
    let onto = |take: &Motion| {
        let found = map(&take.character, &target).unwrap();
        let rigs = (&take.character.rig, &target.rig);
        Retarget::new(&take.character, Arc::clone(&target), &found, rigs, RootScale::Legs)
            .direct_transfer(take)
    };
    let made = ["walk.bvh", "squat.bvh", "jump.bvh", "turn.bvh"].map(shipped);
    let data = data().into_iter().flat_map(|data| TAKES.map(|t| data.join(t)));
    let mut all = [0.0; 2];
    for motion in made.into_iter().chain(data).filter_map(|t| take(&t)) {
        let name = &motion.clip.name;
        let motion = cut(&motion, 0..300);
        let expected = onto(&motion);
        for frame in [motion.clip.frames() / 5, motion.clip.frames() / 3] {
            if posed_rest(&motion.character.rig, &motion.model_pose(frame), &[&motion.clip]).is_none() {
                continue;
            }
            let found = posed_at_rest(&motion, frame, Calibrate::Auto);
            assert!(found.warnings.has("rest-posed"), "{name} {frame}: {:?}", found.warnings);
            let kept = posed_at_rest(&motion, frame, Calibrate::Rest);
            let apart = [found, kept].map(|asset| joints_apart(&onto(&asset.motion(0).unwrap()), &expected));
            println!(
                "{name}, at rest as in frame {frame}: {:.1} degrees off, {:.1} without",
                apart[0], apart[1]
            );
            assert!(apart[0] < 18.0, "{name} {frame}: {apart:?}");
            all = [all[0] + apart[0], all[1] + apart[1]];
        }
    }
    assert!(all[0] < 0.5 * all[1], "{all:?}");
}

#[test]
fn a_body_that_crouches_or_sits_throughout_keeps_its_rest_pose() {
    let motion = take(&shipped("squat.bvh")).expect("the made squat stands upright");
    let rig = &motion.character.rig;
    let knee = |f: usize| {
        let [hip, knee, foot] =
            [Role::UpperLeg(Side::Left), Role::LowerLeg(Side::Left), Role::Foot(Side::Left)]
                .map(|role| motion.model_pose(f).position(rig.joint(role).unwrap()));
        (knee - hip).angle(&(foot - knee))
    };
    let deepest = (0..motion.clip.frames()).max_by(|a, b| knee(*a).total_cmp(&knee(*b))).unwrap();
    let rest = motion.model_pose(deepest);
    let whole = posed_rest(rig, &rest, &[&motion.clip]);
    assert!(matches!(whole, Some(RestFault::Crouched(_))), "{whole:?}");
    let down = cut(&motion, deepest - 5..deepest + 5);
    assert_eq!(posed_rest(rig, &rest, &[&down.clip]), None);
}

/// The made walk over a rest pose along X, as BVH text.
fn baked(folder: &std::path::Path) -> PathBuf {
    let motion = take(&shipped("walk.bvh")).expect("the made walk stands upright");
    let other = rewritten(&motion, &axes(&motion.character, Axes::Rig));
    let text = posemill::export::bvh::write(&other, &Default::default());
    let path = folder.join("baked.bvh");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_take_is_read_with_the_requested_pose() {
    let folder = tempfile::tempdir().unwrap();
    let path = baked(folder.path());
    let read = |calibration: Calibrate| {
        import::load(&path, &ImportOptions { calibration, ..ImportOptions::default() })
    };
    let found = read(Calibrate::Auto).unwrap();
    assert_eq!(found.character.calibration_source(), CalibrationSource::Motion);
    assert!(found.warnings.has("rest-from-motion"), "{:?}", found.warnings);
    assert!(!found.warnings.has("sides-swapped"), "{:?}", found.warnings);
    assert_eq!(read(Calibrate::Rest).unwrap().character.calibration_source(), CalibrationSource::Rest);
    let frame = read(Calibrate::Frame(5)).unwrap();
    assert_eq!(frame.character.calibration_source(), CalibrationSource::Frame(5));
    let error = read(Calibrate::Frame(100_000)).unwrap_err();
    assert!(matches!(error, ImportError::CalibrationFrame { frame: 100_000, .. }), "{error}");
    assert!(
        error.to_string().starts_with("there is no frame 100000 to calibrate by: the take has "),
        "{error}"
    );

    // The pose of another take of the same skeleton: here of the same one.
    let from_file = read(Calibrate::File(path.clone())).unwrap();
    assert_eq!(from_file.character.calibration_source(), CalibrationSource::File);
    let (a, b) = (found.character.reference_pose(), from_file.character.reference_pose());
    let roles = found.character.rig.assignments();
    let most = roles.map(|(_, r)| a.joint(r.joint).rotation.angle_to(&b.joint(r.joint).rotation));
    assert!(most.fold(0.0, f64::max) < 1e-6);
    let foreign = read(Calibrate::File(shipped("robot.glb"))).unwrap_err();
    assert!(matches!(foreign, ImportError::CalibrationFile { .. }), "{foreign}");
}

#[test]
fn a_baked_take_performs_as_the_good_one_does() {
    use posemill::retarget::{Retarget, RootScale, map};
    let folder = tempfile::tempdir().unwrap();
    let (good, other) = (load(&shipped("walk.bvh")), load(&baked(folder.path())));
    let target = load(&shipped("mannequin.glb")).character;
    let perform = |asset: &Asset| {
        let motion = asset.motion(0).unwrap();
        let source = &motion.character;
        let map = map(source, &target).unwrap();
        let rigs = (&source.rig, &target.rig);
        Retarget::new(source, Arc::clone(&target), &map, rigs, RootScale::Legs).apply(&motion)
    };
    let (a, b) = (perform(&good), perform(&other));
    let mut off = Vec::new();
    for f in 0..a.clip.frames() {
        let (p, q) = (a.model_pose(f), b.model_pose(f));
        let hips = target.rig.joint(Role::Hips).unwrap();
        off.extend(target.rig.assignments().map(|(_, r)| {
            let place = |pose: &ModelPose| pose.position(r.joint) - pose.position(hips);
            (place(&p) - place(&q)).norm()
        }));
    }
    off.sort_by(f64::total_cmp);
    let median = off[off.len() / 2];
    println!("joints of the baked walk lie {:.1} cm from those of the good one (median)", 100.0 * median);
    assert!(median < 0.03, "{median}");
}

#[test]
fn offsets_of_zero_take_the_lengths_of_bones_from_the_position_channels() {
    let motion = take(&shipped("walk.bvh")).expect("the made walk stands upright");
    let skeleton = motion.character.skeleton();
    let ids: Vec<JointId> = skeleton.ids().collect();
    let rests: Vec<Vec3> = skeleton.joints().iter().map(|j| j.rest.translation).collect();
    let frames = motion.clip.frames();
    let mut translations = Vec::new();
    for f in 0..frames {
        let root = motion.clip.translations(f)[0];
        translations.extend(ids.iter().map(|id| if id.index() == 0 { root } else { rests[id.index()] }));
    }
    let rotations = motion.clip.all_rotations().to_vec();
    let clip = Clip::new("zero", motion.clip.sample_rate, ids.len(), rotations, ids, translations);
    let whole = Motion::new(Arc::clone(&motion.character), clip);
    let text = String::from_utf8(posemill::export::bvh::write(&whole, &Default::default())).unwrap();
    let zero: String = text
        .lines()
        .map(|line| match line.trim_start().starts_with("OFFSET") {
            true => "OFFSET 0 0 0\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    let asset =
        import::from_bytes(zero.as_bytes(), "zero", Some("bvh"), None, &ImportOptions::default()).unwrap();
    assert!(asset.warnings.has("bvh-offsets-zero"), "{:?}", asset.warnings);
    let (found, wanted) = (asset.motion(0).unwrap(), motion);
    for f in [0, frames / 2] {
        let (a, b) = (found.model_pose(f), wanted.model_pose(f));
        let bone = |pose: &ModelPose, rig: &Rig| {
            let at = |role| pose.position(rig.joint(role).unwrap());
            at(Role::LowerLeg(Side::Left)) - at(Role::UpperLeg(Side::Left))
        };
        let off = bone(&a, &found.character.rig) - bone(&b, &wanted.character.rig);
        assert!(off.norm() < 0.01, "{off:?}");
    }
}

#[test]
fn a_baked_take_stays_what_it_is_in_another_format() {
    use posemill::export::{self, Format};
    let folder = tempfile::tempdir().unwrap();
    let asset = load(&baked(folder.path()));
    let motion = asset.motion(0).unwrap();
    let (files, _) =
        export::save(std::slice::from_ref(&motion), Format::GLB, &export::ExportOptions::default()).unwrap();
    let back =
        import::from_bytes(&files[0].bytes, "back", Some("glb"), None, &ImportOptions::default()).unwrap();
    // Its bind pose is the folded rest pose, and as unusable.
    assert_eq!(back.character.calibration_source(), CalibrationSource::Motion);
    let again = back.motion(0).unwrap();
    for f in [0, motion.clip.frames() / 2] {
        let (a, b) = (motion.model_pose(f), again.model_pose(f));
        for id in motion.character.skeleton().ids() {
            let name = &motion.character.skeleton().joint(id).name;
            let there = again.character.skeleton().find(name).unwrap();
            assert!((a.position(id) - b.position(there)).norm() < 1e-4, "{name} in frame {f}");
        }
    }
}

#[test]
fn a_foot_that_rests_on_its_toes_or_instep_does_not_show_its_sole() {
    // The right foot of a kneeling figure: low, still, and its sole at the back.
    for name in ["walk.bvh", "squat.bvh"] {
        let motion = load(&shipped(name)).motion(0).unwrap();
        let (rig, skeleton) = (&motion.character.rig, motion.character.skeleton());
        let [left, right] = Side::BOTH.map(|side| rig.joint(Role::Foot(side)).unwrap());
        let mut clip = motion.clip.clone();
        for f in 0..clip.frames() {
            clip.rotations_mut(f)[right.index()] *= exp(&(Vec3::x() * 1.8));
        }
        let estimate = rest_from_motion(rig, &[&clip], Some(Vec3::y())).unwrap();
        let rest = skeleton.rest_model_pose();
        for foot in [left, right] {
            let away = estimate.pose.joint(foot).rotation.angle_to(&rest.joint(foot).rotation).to_degrees();
            assert!(away < 30.0, "{name}: {away} degrees at {}", skeleton.joint(foot).name);
        }
        let sure = estimate.joints.iter().find(|j| j.joint == right).unwrap().confidence;
        assert!(sure < 0.45, "{name}: {sure}");
    }
}
