//! Every humanoid take onto every humanoid character of the development data with its feet planted: no joint of a leg
//! flips from one frame to the next, and what becomes of the ranges of motion.

mod development_data;
mod humanoids;
mod planted;

use development_data::data;
use humanoids::{CHARACTERS, TAKES};
use planted::planted;
use posemill::contacts::{Options as Detection, detect};
use posemill::ik::Mechanism;
use posemill::import::{Options, load};
use posemill::model::{Character, JointId, Motion, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

/// Long takes are judged by their first part.
const FRAMES: usize = 600;

fn joints(character: &Character, roles: fn(Side) -> [Role; 2]) -> Vec<JointId> {
    Side::BOTH.into_iter().flat_map(roles).filter_map(|r| character.rig.joint(r)).collect()
}

fn thigh_and_shin(side: Side) -> [Role; 2] {
    [Role::UpperLeg(side), Role::LowerLeg(side)]
}

fn foot_and_toes(side: Side) -> [Role; 2] {
    [Role::Foot(side), Role::Toes(side)]
}

/// By how much more than those of `other` these joints turn from one frame to the next, at most, in degrees; and where.
fn flip(motion: &Motion, other: &Motion, joints: &[JointId]) -> (f64, usize) {
    let turn = |m: &Motion, f: usize, id: JointId| {
        let at = |f: usize| m.clip.rotations(f)[id.index()];
        at(f).angle_to(&at(f - 1)).to_degrees()
    };
    let more = |f: usize| joints.iter().map(move |&id| (turn(motion, f, id) - turn(other, f, id), f));
    (1..motion.clip.frames()).flat_map(more).fold((0.0, 0), |worst, x| if x.0 > worst.0 { x } else { worst })
}

/// The greatest excess of a leg's joint over its range of motion, degrees.
fn excess(motion: &Motion, mechanism: &Mechanism, joints: &[JointId]) -> f64 {
    let skeleton = motion.character.skeleton();
    let frames = 0..motion.clip.frames();
    let all = frames.flat_map(|f| joints.iter().map(move |id| (f, *id)));
    all.map(|(f, id)| mechanism.excess(id, &motion.clip.local(skeleton, f, id)).to_degrees())
        .fold(0.0, f64::max)
}

/// How much more than in the plain copy a joint may turn in one frame, in degrees: thigh and shin, foot and toes. A foot
/// that is set down where it arrives askew is laid flat within a frame or two.
const MOST: [f64; 2] = [50.0, 100.0];

/// On how many pairs a joint of a leg is further outside its range than in the copy, by more than 10 degrees. This
/// number may only become smaller.
const OUTSIDE: usize = 7;

#[test]
fn no_joint_of_a_leg_flips() {
    let Some(folder) = data() else { return };
    let characters: Vec<Arc<Character>> =
        CHARACTERS.iter().map(|c| load(&folder.join(c), &Options::default()).unwrap().character).collect();
    let (mut flips, mut outside) = (Vec::new(), 0);
    for file in TAKES {
        let asset = load(&folder.join(file), &Options::default()).unwrap();
        let Some(motion) = asset.motion(0) else { continue };
        let mut source = motion.part(0..motion.clip.frames().min(FRAMES));
        source.contacts = Some(detect(&source, &Detection::default()));
        for (name, target) in CHARACTERS.iter().zip(&characters) {
            let found = map(&source.character, target).unwrap();
            let rigs = (&source.character.rig, &target.rig);
            let ready = Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs);
            let copy = ready.apply(&source);
            let mechanism = Mechanism::humanoid(&target.rig, &target.calibration_pose());
            let locked = planted(&copy).0;
            let parts = [joints(target, thigh_and_shin), joints(target, foot_and_toes)];
            let turns = parts.each_ref().map(|joints| flip(&locked, &copy, joints));
            let legs = parts.concat();
            let (before, after) = (excess(&copy, &mechanism, &legs), excess(&locked, &mechanism, &legs));
            let pair =
                format!("{} on {}", file.rsplit('/').next().unwrap(), name.rsplit('/').next().unwrap());
            println!(
                "{pair:55} thigh and shin {:4.1} degrees in frame {}, foot and toes {:4.1} in {}; outside by {before:.1} before, {after:.1} after",
                turns[0].0, turns[0].1, turns[1].0, turns[1].1,
            );
            if turns.iter().zip(MOST).any(|(turn, most)| turn.0 > most) {
                flips.push(format!("{pair}: {turns:?}"));
            }
            outside += usize::from(after > before + 10.0);
        }
    }
    println!(
        "{outside} pairs are further outside the ranges of motion than the copy by more than 10 degrees"
    );
    assert!(flips.is_empty(), "{}", flips.join("\n"));
    assert!(outside <= OUTSIDE, "{outside} pairs");
}
