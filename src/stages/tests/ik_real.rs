//! Real takes on real characters: the pelvis is lowered by 5 cm, hands and feet keep the places that the transfer gave
//! them, and nothing jumps.

use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use posemill::import::{ImportOptions, load};
use posemill::math::{Quat, Vec3};
use posemill::model::{Asset, Character, Clip, JointId, ModelPose, Motion, Role, Side};
use posemill::report::Report;
use posemill::retarget::{Retarget, RootScale, map};
use posemill::stages::{IkConfig, Setting, StageConfig};
use std::path::Path;
use std::sync::Arc;

/// How far the pelvis goes down, in metres.
const LOWERED: f64 = 0.05;

fn read(folder: &Path, file: &str) -> Asset {
    load(folder.join(file), &ImportOptions::default()).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// An effector, the joint that starts its limb, and how many joints above the effector help it.
struct Limb {
    end: JointId,
    start: JointId,
    chain: usize,
    length: f64,
}

fn limbs(character: &Character) -> Vec<Limb> {
    let (rig, skeleton) = (&character.rig, character.skeleton());
    let rest = skeleton.rest_model_pose();
    let limb = |end: Role, start: Role, helper: Option<Role>| {
        let (end, start) = (rig.joint(end)?, rig.joint(start)?);
        let top = helper.and_then(|r| rig.joint(r)).unwrap_or(start);
        let path: Vec<JointId> = skeleton.path_to_root(end).collect();
        let chain = path.iter().position(|j| *j == top)?;
        let below = path.iter().position(|j| *j == start)?;
        let hips = rig.joint(Role::Hips)?;
        let bones = path[..=below].windows(2).map(|p| (rest.position(p[0]) - rest.position(p[1])).norm());
        path.contains(&hips).then(|| Limb { end, start, chain, length: bones.sum() })
    };
    let of = |s| {
        [
            limb(Role::Hand(s), Role::UpperArm(s), Some(Role::Clavicle(s))),
            limb(Role::Foot(s), Role::UpperLeg(s), None),
        ]
    };
    Side::BOTH.into_iter().flat_map(of).flatten().collect()
}

/// The motion with its hips 5 cm further down.
fn lowered(motion: &Motion) -> Motion {
    let skeleton = motion.character.skeleton();
    let hips = motion.character.rig.joint(Role::Hips).unwrap();
    let pose = |frame| {
        let mut pose = motion.clip.pose(skeleton, frame);
        let model = ModelPose::of(skeleton, &pose);
        let above = skeleton.parent(hips).map_or(Quat::identity(), |p| model.joint(p).rotation);
        pose.local_mut()[hips.index()].translation += above.inverse() * Vec3::new(0.0, -LOWERED, 0.0);
        pose
    };
    let poses: Vec<_> = (0..motion.clip.frames()).map(pose).collect();
    let clip = Clip::from_poses("lowered", motion.clip.sample_rate, skeleton, &poses);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// The largest turn of any joint from one frame to the next, in degrees.
fn jump(motion: &Motion) -> f64 {
    let turns = |f: usize| {
        let (here, before) = (motion.clip.rotations(f), motion.clip.rotations(f - 1));
        here.iter().zip(before.iter()).map(|(a, b)| a.angle_to(b).to_degrees()).fold(0.0, f64::max)
    };
    (1..motion.clip.frames()).map(turns).fold(0.0, f64::max)
}

/// What became of one take on one character.
struct Found {
    /// Distances from the held places, in metres, where the limb is long enough.
    misses: Vec<f64>,
    /// Held places that a limb is too short for.
    out_of_reach: usize,
    /// The largest jump of the transferred motion and of the result, in degrees.
    jumps: [f64; 2],
}

fn hold(transferred: &Motion) -> Found {
    let character = &transferred.character;
    let skeleton = character.skeleton();
    let arriving = lowered(transferred);
    let limbs = limbs(character);
    let effector = |l: &Limb| {
        let (name, chain) = (&skeleton.joint(l.end).name, l.chain);
        format!(
            "[[effectors]]\njoint = {name:?}\ngoal = \"hold\"\ntarget = [0.0, {LOWERED}, 0.0]\nchain = {chain}\n"
        )
    };
    let effectors: String = limbs.iter().map(effector).collect();
    let config: IkConfig = toml::from_str(&format!("tolerance_m = 1e-4\n{effectors}")).unwrap();
    config.validate().unwrap();
    let setting = Setting::new(Arc::clone(character), "");
    let stage = config.resolve(&setting).unwrap();
    let result = stage.apply(arriving.clone(), &mut Report::default()).unwrap();
    result.check().unwrap();
    let mut found = Found { misses: Vec::new(), out_of_reach: 0, jumps: [jump(transferred), jump(&result)] };
    for frame in 0..result.clip.frames() {
        let [wanted, low, made] = [transferred, &arriving, &result].map(|m| m.model_pose(frame));
        for limb in &limbs {
            let target = wanted.position(limb.end);
            if (target - low.position(limb.start)).norm() > limb.length {
                found.out_of_reach += 1;
            } else {
                found.misses.push((made.position(limb.end) - target).norm());
            }
        }
    }
    found.misses.sort_by(f64::total_cmp);
    found
}

#[test]
fn hands_and_feet_keep_their_places_under_a_lowered_pelvis() {
    let Some(folder) = data() else { return };
    let characters: Vec<Arc<Character>> =
        CHARACTERS.iter().map(|file| Arc::clone(&read(&folder, file).character)).collect();
    let (mut faults, mut tried) = (Vec::new(), 0);
    for file in TAKES {
        let take = read(&folder, file).motion(0).unwrap();
        for target in &characters {
            let found = map(&take.character, target).unwrap();
            let rigs = (&take.character.rig, &target.rig);
            let retarget = Retarget::new(&take.character, Arc::clone(target), &found, rigs, RootScale::Legs);
            let Found { misses, out_of_reach, jumps: [before, after] } = hold(&retarget.apply(&take));
            let case = format!("{file} on {}", target.name);
            if misses.is_empty() {
                println!("{case}: no limb of it hangs on its hips");
                continue;
            }
            tried += 1;
            let median = misses[misses.len() / 2] * 1e3;
            let far = misses[misses.len() * 99 / 100] * 1e3;
            println!(
                "{case}: median {median:.3} mm, 99 % {far:.3} mm of {}, {out_of_reach} out of reach; \
                 jumps {before:.2} to {after:.2} degrees",
                misses.len()
            );
            if median >= 1.0 || after > 1.5 * before.max(1e-6) {
                faults.push(case);
            }
        }
    }
    println!("{tried} pairs");
    assert!(faults.is_empty() && tried > 0, "{faults:#?}");
}

/// Some takes and characters, at 30 frames a second or so.
const SOME_TAKES: [&str; 3] =
    ["bvh/bvh-toolbox/walk01.bvh", "bvh/cmu/jumping_jacks.bvh", "bvh/assimp/Boxing_Toes.bvh"];
const SOME_CHARACTERS: [&str; 3] = [
    "gltf/quaternius/Casual_man.glb",
    "derived/makehuman-base-default-rig.glb",
    "gltf/gdquest/mannequiny-0.3.0.glb",
];

/// The motion with about 30 of its frames a second, five seconds at most.
fn thinned(motion: &Motion) -> Motion {
    let skeleton = motion.character.skeleton();
    let step = (motion.clip.sample_rate / 30.0).round().max(1.0) as usize;
    let frames = (0..motion.clip.frames()).step_by(step).take(150);
    let poses: Vec<_> = frames.map(|f| motion.clip.pose(skeleton, f)).collect();
    let clip = Clip::from_poses("thinned", motion.clip.sample_rate / step as f64, skeleton, &poses);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// A hand told to go three metres ahead, or from the knee into the floor, while the feet stay: nothing flickers, the
/// hand goes no faster than the take and a slow target, and whoever is not asked stays near the take.
#[test]
fn hands_that_cannot_reach_do_not_flicker() {
    let Some(folder) = data() else { return };
    for (file, onto) in SOME_TAKES.iter().flat_map(|t| SOME_CHARACTERS.map(|c| (*t, c))) {
        let take = read(&folder, file).motion(0).unwrap();
        let target = Arc::clone(&read(&folder, onto).character);
        let found = map(&take.character, &target).unwrap();
        let rigs = (&take.character.rig, &target.rig);
        let retarget = Retarget::new(&take.character, Arc::clone(&target), &found, rigs, RootScale::Legs);
        let before = thinned(&retarget.apply(&take));
        let joint = |role: Role| target.rig.joint(role).unwrap();
        let right = |role: fn(Side) -> Role| joint(role(Side::Right));
        let first = before.model_pose(0);
        let shoulder = first.position(right(Role::UpperArm));
        let rest = target.skeleton().rest_model_pose();
        let bone = |a, b| (rest.position(right(a)) - rest.position(right(b))).norm();
        let arm = bone(Role::UpperArm, Role::LowerArm) + bone(Role::LowerArm, Role::Hand);
        let left = first.position(joint(Role::UpperArm(Side::Left))) - shoulder;
        let ahead = Vec3::new(left.x, 0.0, left.z).normalize().cross(&Vec3::y());
        let far = shoulder - first.position(joint(Role::Hips)) + ahead * 3.0;
        let knee = first.position(right(Role::LowerLeg)) + ahead * 0.3;
        let last = (before.clip.frames() - 1) as f64 / before.clip.sample_rate;
        let (x, z) = (knee.x, knee.z);
        for source in [
            format!("follow = \"hips\"\ntarget = [{}, {}, {}]", far.x, far.y, far.z),
            format!("keys = [[0.0, {x}, {}, {z}], [{last}, {x}, -0.3, {z}]]", knee.y),
        ] {
            let hold =
                |foot: &str| format!("[[effectors]]\njoint = \"{foot}\"\ngoal = \"hold\"\nhard = true\n");
            let feet = [hold("left_foot"), hold("right_foot")].concat();
            let text = format!("[[effectors]]\njoint = \"right_hand\"\n{source}\n{feet}");
            let config: IkConfig = toml::from_str(&text).unwrap();
            let setting = Setting::new(Arc::clone(&target), "");
            let stage = config.resolve(&setting).unwrap();
            let after = stage.apply(before.clone(), &mut Report::default()).unwrap();
            let case = format!("{file} on {}, {source}", target.name);
            let at = |motion: &Motion, f: usize, role: Role| motion.model_pose(f).position(joint(role));
            for f in 0..before.clip.frames() {
                let moved = |role: Role| (at(&after, f, role) - at(&before, f, role)).norm();
                assert!(moved(Role::Hand(Side::Left)) < 0.45 * arm, "{case}: frame {f}");
                assert!(moved(Role::Head) < 0.35 * arm, "{case}: frame {f}");
                assert!(Side::BOTH.iter().all(|s| moved(Role::Foot(*s)) < 1e-3), "{case}: frame {f}");
                let Some(g) = f.checked_sub(1) else { continue };
                let turn = |m: &Motion, j: usize| m.clip.rotations(f)[j].angle_to(&m.clip.rotations(g)[j]);
                let more = |j: usize| (turn(&after, j) - turn(&before, j)).to_degrees();
                let most = (0..target.skeleton().len()).map(more).fold(0.0, f64::max);
                assert!(most < 10.0, "{case}: frame {f} turns a joint by {most} degrees more than the take");
                let step = |m: &Motion| {
                    (at(m, f, Role::Hand(Side::Right)) - at(m, g, Role::Hand(Side::Right))).norm()
                };
                assert!(step(&after) - step(&before) < 0.06, "{case}: frame {f}");
            }
        }
    }
}

/// A target is told where `posemill joints` prints it, for files that look along -Z, too.
#[test]
fn targets_are_told_in_the_world_of_the_file() {
    let Some(folder) = data() else { return };
    let mut turned = 0;
    for file in ["vrm/basic_armature_vrm0.vrm", "vrm/basic_armature_vrm1.vrm", "vrm/debug_robot.vrm"] {
        let character = Arc::clone(&read(&folder, file).character);
        let skeleton = character.skeleton();
        let file_from_model =
            character.document.as_ref().map_or(Quat::identity(), |d| d.model_from_file.inverse());
        turned += usize::from(file_from_model.angle() > 3.0);
        let [shoulder, elbow, hand] = [Role::UpperArm, Role::LowerArm, Role::Hand]
            .map(|role| character.rig.joint(role(Side::Left)).unwrap());
        let rest = skeleton.rest_model_pose();
        let place = |model: &ModelPose, id: JointId| file_from_model * model.position(id);
        let upper = place(&rest, elbow) - place(&rest, shoulder);
        let target = place(&rest, shoulder) + (upper * 0.4 + Vec3::y() * upper.norm());
        let [x, y, z] = [target.x, target.y, target.z];
        let clip = Clip::from_poses("rest", 30.0, skeleton, &[skeleton.rest_pose()]);
        let motion = Motion::new(Arc::clone(&character), clip);
        for source in [format!("target = [{x}, {y}, {z}]"), format!("keys = [[0.0, {x}, {y}, {z}]]")] {
            let config: IkConfig =
                toml::from_str(&format!("[[effectors]]\njoint = \"left_hand\"\n{source}\n")).unwrap();
            let setting = Setting::new(Arc::clone(&character), "");
            let stage = config.resolve(&setting).unwrap();
            let after = stage.apply(motion.clone(), &mut Report::default()).unwrap();
            let miss = (place(&after.model_pose(0), hand) - target).norm();
            assert!(miss < 1e-3, "{file}: {source}: {miss}");
        }
    }
    assert!(turned > 0, "none of them is turned");
}
