//! Joints brought into their ranges over time: laws on a made figure, and every humanoid take on every humanoid character
//! of the development data.

mod development_data;
mod humanoids;
mod made_figure;

use development_data::data;
use humanoids::{CHARACTERS, TAKES, end_jerk};
use made_figure::figure;
use posemill::ik::{Limit, Mechanism};
use posemill::import::{ImportOptions, load};
use posemill::limits::{LimitOptions, keep};
use posemill::math::{Quat, Vec3, angle_between, exp, log};
use posemill::model::{Character, Clip, JointId, ModelPose, Motion, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

const FRAMES: usize = 240;
const RATE: f64 = 60.0;

/// The made figure, four seconds long, with the turns that `turn` gives for a role and a time in seconds.
fn performance(turn: impl Fn(Role, f64) -> Quat) -> Motion {
    let rig = figure();
    let skeleton = rig.skeleton().clone();
    let rotations = (0..FRAMES)
        .flat_map(|f| skeleton.ids().map(move |id| (f, id)).collect::<Vec<_>>())
        .map(|(f, id)| rig.role(id).map_or(Quat::identity(), |role| turn(role, f as f64 / RATE)))
        .collect();
    let clip = Clip::new("made", RATE, skeleton.len(), rotations, Vec::new(), Vec::new());
    let character = Character::new("made", rig);
    Motion::new(Arc::new(character), clip)
}

fn kept(motion: &Motion) -> (Motion, posemill::limits::LimitReport, Mechanism) {
    let mechanism = mechanism(&motion.character);
    let joints: Vec<JointId> = limited(&mechanism);
    let (result, kept) = keep(motion.clone(), &mechanism, &joints, &LimitOptions::default());
    result.check().unwrap();
    (result, kept, mechanism)
}

fn mechanism(character: &Character) -> Mechanism {
    Mechanism::humanoid(&character.rig, &character.reference_pose())
}

fn limited(mechanism: &Mechanism) -> Vec<JointId> {
    let ball = |id: &JointId| matches!(mechanism.limit(*id), Some(Limit::SwingTwist(_)));
    mechanism.skeleton().ids().filter(ball).collect()
}

/// How far the joint that is furthest outside is outside, radians.
fn excess(mechanism: &Mechanism, motion: &Motion) -> f64 {
    excess_but(mechanism, motion, &[])
}

/// The same without some joints.
fn excess_but(mechanism: &Mechanism, motion: &Motion, left: &[JointId]) -> f64 {
    let skeleton = mechanism.skeleton();
    let of = |f: usize| {
        limited(mechanism)
            .into_iter()
            .filter(|id| !left.contains(id))
            .map(move |id| mechanism.excess(id, &motion.clip.local(skeleton, f, id)))
            .fold(0.0, f64::max)
    };
    (0..motion.clip.frames()).map(of).fold(0.0, f64::max)
}

/// How jerkily hands, feet, toes and head move.
fn jerk(motion: &Motion) -> f64 {
    let poses: Vec<_> = (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect();
    end_jerk(&motion.character.rig, &poses)
}

/// How far an elbow turns about other axes than one at most, degrees; none for elbows that hardly turn.
fn off_hinge(motion: &Motion, side: Side) -> Option<f64> {
    let rig = &motion.character.rig;
    let (upper, lower) = (rig.joint(Role::UpperArm(side))?, rig.joint(Role::LowerArm(side))?);
    let between = |f: usize| {
        let pose = motion.model_pose(f);
        pose.joint(upper).rotation.inverse() * pose.joint(lower).rotation
    };
    let first = between(0).inverse();
    let turns: Vec<Vec3> = (0..motion.clip.frames()).map(|f| log(&(between(f) * first))).collect();
    let axis = turns.iter().max_by(|a, b| a.norm().total_cmp(&b.norm()))?.try_normalize(0.1)?;
    Some(turns.iter().map(|v| (v - axis * v.dot(&axis)).norm().to_degrees()).fold(0.0, f64::max))
}

/// How far the upper arms point elsewhere at most, degrees.
fn arms_turned(before: &Motion, after: &Motion) -> f64 {
    let rig = &before.character.rig;
    let arms = Side::BOTH.map(|s| Some((rig.joint(Role::UpperArm(s))?, rig.joint(Role::LowerArm(s))?)));
    let of = |f: usize| {
        let (a, b) = (before.model_pose(f), after.model_pose(f));
        let turned = move |(upper, lower): (JointId, JointId)| {
            let along = |p: &ModelPose| p.position(lower) - p.position(upper);
            angle_between(&along(&a), &along(&b)).to_degrees()
        };
        arms.into_iter().flatten().map(turned).fold(0.0, f64::max)
    };
    (0..before.clip.frames()).step_by(5).map(of).fold(0.0, f64::max)
}

#[test]
fn what_is_inside_stays_to_the_bit() {
    let motion = performance(|role, t| match role {
        Role::LowerArm(s) => exp(&(Vec3::y() * (-s.sign() * (1.0 + t.sin())))),
        Role::UpperLeg(_) => exp(&(Vec3::x() * -t.sin().abs())),
        _ => Quat::identity(),
    });
    let (result, work, mechanism) = kept(&motion);
    assert!(excess(&mechanism, &motion) < 1e-12);
    assert_eq!(result.clip, motion.clip);
    assert!(work.joints.is_empty() && work.frames == 0);
}

#[test]
fn an_elbow_that_bends_sideways_rolls_and_the_hand_stays() {
    // The forearm bends up instead of ahead, by up to 80 degrees.
    let motion = performance(|role, t| match role {
        Role::LowerArm(s) => exp(&(Vec3::z() * (s.sign() * (0.7 - 0.7 * t.cos())))),
        _ => Quat::identity(),
    });
    let (result, work, mechanism) = kept(&motion);
    assert!(excess(&mechanism, &motion) > 1.0 && excess(&mechanism, &result) < 1e-6);
    assert!(work.rolled > 1.0 && work.left.is_empty(), "{work:?}");
    let rig = &motion.character.rig;
    for f in 0..FRAMES {
        let (before, after) = (motion.model_pose(f), result.model_pose(f));
        for id in
            Side::BOTH.iter().flat_map(|&s| [Role::LowerArm(s), Role::Hand(s)]).filter_map(|r| rig.joint(r))
        {
            let away = (before.position(id) - after.position(id)).norm();
            assert!(away < 0.02, "{away} m in frame {f}");
        }
    }
    assert!(jerk(&result) < 1.5 * jerk(&motion));
}

#[test]
fn an_elbow_that_is_a_hinge_stays_one_whichever_way_it_bends() {
    let motion = performance(|role, t| match role {
        // About an axis that is rolled by 50 degrees from the one that people have.
        Role::LowerArm(s) => {
            let axis =
                Vec3::y() * -s.sign() * 50_f64.to_radians().cos() + Vec3::z() * 50_f64.to_radians().sin();
            exp(&(axis * (0.7 - 0.7 * t.cos())))
        }
        _ => Quat::identity(),
    });
    let (result, work, mechanism) = kept(&motion);
    assert!(excess(&mechanism, &motion) > 0.5 && excess(&mechanism, &result) < 1e-6);
    assert!(work.rolled > 0.5, "{work:?}");
    for side in Side::BOTH {
        assert!(off_hinge(&result, side).unwrap() < 1e-6);
    }
}

#[test]
fn a_collar_bone_or_a_spine_that_is_turned_leaves_arms_and_head_as_they_were() {
    // A shrug beyond any shoulder for a moment, and a bow beyond any spine.
    let swell = |t: f64| (-((t - 2.0) / 0.4).powi(2)).exp();
    for shrug in [true, false] {
        let motion = performance(|role, t| match role {
            Role::Clavicle(s) if shrug => exp(&(Vec3::z() * (s.sign() * 1.2 * swell(t)))),
            Role::Spine(0) if !shrug => exp(&(Vec3::x() * (1.6 * swell(t)))),
            Role::UpperArm(s) => exp(&(Vec3::y() * (-s.sign() * 0.3))),
            _ => Quat::identity(),
        });
        let (result, work, mechanism) = kept(&motion);
        let (before, after) = (excess(&mechanism, &motion), excess(&mechanism, &result));
        assert!(before > 0.2 && after < 1e-6, "shrug {shrug}: {before} > {after}");
        assert!(work.rotated > 0.2 && work.left.is_empty(), "{work:?}");
        let rig = &motion.character.rig;
        for role in
            [Role::UpperArm(Side::Left), Role::UpperArm(Side::Right), Role::Hand(Side::Left), Role::Head]
        {
            let id = rig.joint(role).unwrap();
            for f in 0..FRAMES {
                let turn = |m: &Motion| m.model_pose(f).joint(id).rotation;
                let away = turn(&motion).angle_to(&turn(&result));
                assert!(away < 1e-7, "{role} turned by {away} in frame {f}");
            }
        }
        assert!(jerk(&result) < 1.5 * jerk(&motion));
    }
}

#[test]
fn a_moment_outside_is_mended_around_it_and_not_elsewhere() {
    // The head turns by 100 degrees for a quarter of a second, 60 are allowed.
    let turn = |t: f64| 1.75 * (-((t - 2.0) / 0.125).powi(2)).exp();
    let motion = performance(|role, t| match role {
        Role::Head => exp(&(Vec3::y() * turn(t))),
        _ => Quat::identity(),
    });
    let (result, work, mechanism) = kept(&motion);
    assert!(excess(&mechanism, &result) < 1e-6 && work.joints.len() == 1);
    let head = motion.character.rig.joint(Role::Head).unwrap().index();
    let angle = |m: &Motion, f: usize| m.clip.rotations(f)[head].angle();
    assert!((angle(&result, 120) - std::f64::consts::FRAC_PI_3).abs() < 1e-3);
    for f in (0..60).chain(180..FRAMES) {
        assert_eq!(result.clip.rotations(f), motion.clip.rotations(f), "frame {f}");
    }
    // The head still turns at its own moment, as a whole, with less jerk than it had and far less than when it is stopped.
    let third = |values: &[f64]| -> f64 {
        let of = |w: &[f64]| (w[3] - 3.0 * w[2] + 3.0 * w[1] - w[0]).abs();
        values.windows(4).map(of).fold(0.0, f64::max)
    };
    let own: Vec<f64> = (0..FRAMES).map(|f| angle(&motion, f)).collect();
    let mended: Vec<f64> = (0..FRAMES).map(|f| angle(&result, f)).collect();
    let stopped: Vec<f64> = own.iter().map(|a| a.min(std::f64::consts::FRAC_PI_3)).collect();
    assert!(third(&mended) < third(&own) && third(&mended) < 0.3 * third(&stopped));
}

#[test]
fn every_take_on_every_character_keeps_its_limits_without_jerks() {
    let Some(folder) = data() else { return };
    let characters: Vec<Arc<Character>> = CHARACTERS
        .iter()
        .map(|c| load(folder.join(c), &ImportOptions::default()).unwrap().character)
        .collect();
    let mut hinges: Vec<f64> = Vec::new();
    let (mut pairs, mut outside, mut left, mut worst_jerk) = (0, 0, 0, 0.0_f64);
    for file in TAKES {
        let asset = load(folder.join(file), &ImportOptions::default()).unwrap();
        let Some(whole) = asset.motion(0) else { continue };
        let source = whole.part(0..whole.clip.frames().min(900));
        for (name, target) in CHARACTERS.iter().zip(&characters) {
            let found = map(&source.character, target).unwrap();
            let rigs = (&source.character.rig, &target.rig);
            let ready = Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs);
            let direct = ready.direct_transfer(&source);
            let (result, work, mechanism) = kept(&direct);
            let (before, after) = (excess(&mechanism, &direct), excess_but(&mechanism, &result, &work.left));
            let (jerk_before, jerk_after) = (jerk(&direct), jerk(&result));
            let pair = format!("{file} on {name}");
            // A hinge of the take is a hinge of the direct transfer, and most stay so; where no single roll serves, ranges come first.
            for side in Side::BOTH {
                if off_hinge(&source, side).is_some_and(|off| off < 0.5)
                    && let (Some(direct_off), Some(off)) =
                        (off_hinge(&direct, side), off_hinge(&result, side))
                {
                    assert!(
                        direct_off < 0.5,
                        "{pair}: the elbow of the direct transfer leaves its axis by {direct_off} degrees"
                    );
                    hinges.push(off);
                }
            }
            let arms = arms_turned(&direct, &result);
            assert!(arms < 1.0 || !work.left.is_empty(), "{pair}: upper arms turned by {arms} degrees");
            println!(
                "{pair}: outside by {:.1} > {:.1e} degrees, turned {:.1}, rolled {:.1}, jerk x{:.2}",
                before.to_degrees(),
                after.to_degrees(),
                work.rotated.to_degrees(),
                work.rolled.to_degrees(),
                jerk_after / jerk_before.max(1e-9),
            );
            // A robot's neck and arms, and heads that animators bent right back.
            let odd = ["gltf/raylib/robot.glb", "gltf/gdquest/mannequiny-0.3.0.glb"].contains(file);
            // The thighs of this toy lie to the side at rest and stay there, out of the ranges of people: its legs are left.
            let of_legs =
                |id: &JointId| matches!(target.rig.role(*id), Some(Role::UpperLeg(_) | Role::LowerLeg(_)));
            let odd = odd || (*name == "gltf/raylib/greenman.glb" && work.left.iter().all(of_legs));
            assert!(after < 1e-6 && (odd || work.left.is_empty()), "{pair}: {after}, left {:?}", work.left);
            left += work.left.len();
            assert!(jerk_after <= 1.2 * jerk_before + 1e-9, "{pair}: {jerk_after} of {jerk_before}");
            pairs += 1;
            outside += usize::from(before > 5.0_f64.to_radians());
            worst_jerk = worst_jerk.max(jerk_after / jerk_before.max(1e-9));
        }
    }
    let whole = hinges.iter().filter(|off| **off < 0.5).count();
    println!("{whole} of {} hinges stay hinges", hinges.len());
    assert!(whole * 10 >= hinges.len() * 9);
    println!(
        "{pairs} pairs, {outside} of them more than 5 degrees outside before, {left} joints left, jerk at most \
         x{worst_jerk:.2}"
    );
}
