//! Real takes on real characters: the pelvis is lowered by 5 cm, hands and feet keep the places that the transfer gave
//! them, and nothing jumps.

mod development_data;
mod humanoids;

use development_data::data;
use humanoids::{CHARACTERS, TAKES};
use posemill::import::{Options, load};
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
    load(&folder.join(file), &Options::default()).unwrap_or_else(|e| panic!("{file}: {e}"))
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
        here.iter().zip(before).map(|(a, b)| a.angle_to(b).to_degrees())
    };
    (1..motion.clip.frames()).flat_map(turns).fold(0.0, f64::max)
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
    let setting = Setting { arriving: Arc::clone(character), target: None, folder: "".into() };
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
