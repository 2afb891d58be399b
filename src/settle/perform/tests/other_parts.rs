//! Hands and knees bear the body: what rests on them is explained by forces of the floor.

use super::scene::{Scene, shipped};
use crate::kinematics::GRAVITY;
use crate::math::{Quat, Vec3, exp, log};
use crate::model::{Clip, ContactPart, ModelPose, Motion, Pose, Role, Side};
use crate::settle::perform::feed_forward::FeedForward;
use crate::settle::perform::performer::Controls;
use crate::settle::perform::{ClipForces, OnFall, PerformOptions, perform};

/// The body of the shipped walk in a pose that it holds for a second; `bend` gives rotations in model space by role, on top of
/// standing.
fn held(bend: impl Fn(Role) -> Option<Vec3>) -> Motion {
    let walk = shipped("walk.bvh", None);
    let skeleton = walk.character.skeleton();
    let reference_pose = walk.character.reference_pose();
    let rig = &walk.character.rig;
    let mut pose: Pose = skeleton.rest_pose();
    let mut turns: Vec<Quat> = Vec::new();
    for id in skeleton.ids() {
        let above = skeleton.parent(id).map_or(Quat::identity(), |p| turns[p.index()]);
        let own = rig.role(id).and_then(&bend).map_or(Quat::identity(), |v| exp(&v));
        turns.push(above * own);
        let in_model = turns[id.index()] * reference_pose.joint(id).rotation;
        let parent = skeleton
            .parent(id)
            .map_or(Quat::identity(), |p| turns[p.index()] * reference_pose.joint(p).rotation);
        pose.local_mut()[id.index()].rotation = parent.inverse() * in_model;
    }
    let clip = Clip::from_poses("held", 60.0, skeleton, &vec![pose; 60]);
    Motion { character: walk.character.clone(), clip, contacts: None }
}

/// The mean share of the weight that no contact explains, with all points and with soles alone.
fn unexplained(motion: &Motion) -> [f64; 2] {
    let scene = Scene::of(motion);
    let mut soles = scene.tracks.clone();
    for capacity in &mut soles.capacity {
        capacity.iter_mut().zip(&scene.points).filter(|(_, p)| !p.part.of_foot()).for_each(|(c, _)| *c = 0.0);
    }
    let steps = scene.reference.steps();
    [&scene.tracks, &soles].map(|tracks| {
        let of = |k| {
            FeedForward::at(k, &scene.body, &scene.points, &scene.reference, tracks, true)
                .unexplained(scene.body.weight())
        };
        (0..steps).map(of).sum::<f64>() / steps as f64
    })
}

/// Upright on the knees, shins on the floor, sitting back a little.
fn kneeling() -> Motion {
    held(|role| match role {
        Role::Hips => Some(Vec3::x() * -0.1),
        Role::LowerLeg(_) => Some(Vec3::x() * 1.67),
        Role::Foot(_) => Some(Vec3::x() * 1.45),
        _ => None,
    })
}

/// On hands and knees: the trunk level, thighs and arms upright.
fn on_all_fours(lean: f64) -> Motion {
    held(|role| match role {
        Role::Hips => Some(Vec3::x() * lean),
        Role::UpperLeg(_) => Some(Vec3::x() * -lean),
        Role::LowerLeg(_) => Some(Vec3::x() * 1.57),
        Role::Foot(_) => Some(Vec3::x() * 1.45),
        Role::UpperArm(side) => Some(arm_down(side, lean)),
        _ => None,
    })
}

/// The rotation that brings the arm of the standing body straight down while the trunk leans.
fn arm_down(side: Side, lean: f64) -> Vec3 {
    let walk = shipped("walk.bvh", None);
    let reference_pose = walk.character.reference_pose();
    let at = |role| reference_pose.position(walk.character.rig.joint(role).unwrap());
    let arm = at(Role::LowerArm(side)) - at(Role::UpperArm(side));
    let wanted = exp(&(Vec3::x() * -lean)) * -Vec3::y();
    log(&Quat::rotation_between(&arm, &wanted).unwrap())
}

fn lowest(pose: &ModelPose, motion: &Motion, role: fn(Side) -> Role) -> f64 {
    let id = motion.character.rig.joint(role(Side::Left)).unwrap();
    pose.position(id).y
}

#[test]
fn a_kneeling_body_is_borne_by_its_knees() {
    let motion = kneeling();
    let [all, soles] = unexplained(&motion);
    println!("{all:.3}, by soles alone {soles:.3}");
    assert!(all < 0.02 && soles > 0.3, "{all} of the weight unexplained, by soles alone {soles}");
    let forces = ClipForces::of(&motion).unwrap();
    for frame in &forces.frames {
        let others: f64 = frame.others.iter().map(|f| f.y).sum();
        let all = others + frame.feet[0].y + frame.feet[1].y;
        assert!((all / (70.0 * GRAVITY) - 1.0).abs() < 0.02, "{all} N");
        assert!(others > 0.5 * all, "{others} of {all} N");
    }
}

#[test]
fn a_body_on_all_fours_is_borne_by_hands_and_knees() {
    // The lean with which hands and knees are on one floor.
    let gap = |lean: f64| {
        let motion = on_all_fours(lean);
        let pose = motion.model_pose(0);
        lowest(&pose, &motion, Role::Hand) + 0.03 - lowest(&pose, &motion, Role::LowerLeg)
    };
    let (mut low, mut high) = (0.5, 1.8);
    assert!(gap(low) * gap(high) < 0.0, "{} {}", gap(low), gap(high));
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if gap(low) * gap(middle) <= 0.0 { high = middle } else { low = middle }
    }
    let motion = on_all_fours(low);
    let [all, soles] = unexplained(&motion);
    println!("lean {low:.2}: {all:.3}, by soles alone {soles:.3}");
    assert!(all < 0.05 && soles > 0.3, "{all} of the weight unexplained, by soles alone {soles}");
    let forces = ClipForces::of(&motion).unwrap();
    let hands: f64 = forces.frames[30].others[..2].iter().map(|f| f.y).sum();
    assert!(hands > 0.1 * 70.0 * GRAVITY, "{hands} N on the hands");
    // The law of identity.
    let controls = Controls { strength: 1e6, ..Controls::default() };
    let options = PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse };
    assert!(perform(&motion, &options).unwrap().motion == motion);
}

#[test]
fn hands_and_knees_of_a_walk_bear_nothing() {
    for hero in [None, Some("mannequin.glb")] {
        let scene = Scene::of(&shipped("walk.bvh", hero));
        let parts = |of_foot: bool| scene.points.iter().filter(move |p| p.part.of_foot() == of_foot).count();
        assert!(parts(true) == 8 && parts(false) == 8, "{} {}", parts(true), parts(false));
        for capacity in &scene.tracks.capacity {
            let bears = scene.points.iter().zip(capacity).find(|(p, c)| !p.part.of_foot() && **c > 0.0);
            assert!(bears.is_none(), "{:?}", bears.map(|(p, _)| p.part));
        }
        assert!(scene.points.iter().any(|p| p.part == ContactPart::Knee(Side::Left)));
    }
}
