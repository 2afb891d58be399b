//! Feet that are low and do not stand: for a moment in the floor, or on their insteps, as those of a body that kneels.

use super::helpers::shipped;
use super::posed::{changed, lowest, moved, position, take, transfer};
use crate::lowest_skin::lowest_skin;
use posemill::math::{Quat, Vec3, exp, smoothstep};
use posemill::model::{Motion, Role, Side};
use std::sync::Arc;

/// The take raised by so much in each frame.
fn raised(take: &Motion, by: impl Fn(usize) -> f64) -> Motion {
    moved(take, |f| (Quat::identity(), Vec3::zeros(), by(f)))
}

#[test]
fn a_moment_in_the_floor_does_not_lift_the_rest_of_a_take() {
    let (walk, target) = (take("walk.bvh"), shipped("mannequin.glb").character);
    let rate = walk.clip.sample_rate;
    let hips = |take: &Motion| transfer(take, &target).apply(take);
    let level = hips(&walk);
    for (seconds, depth) in [(0.1, 0.08), (0.3, 0.06), (0.5, 0.12)] {
        // From 1.6 seconds on, within a twentieth of a second.
        let share = |f: usize, at: f64| smoothstep((f as f64 / rate - at) / 0.05);
        let dip = raised(&walk, |f| -depth * (share(f, 1.6) - share(f, 1.65 + seconds)));
        let result = hips(&dip);
        let higher = |f: usize| position(&result, f, Role::Hips).y - position(&level, f, Role::Hips).y;
        let far = |f: &usize| (*f as f64 / rate - 1.9).abs() > 1.2;
        let most = (0..walk.clip.frames()).filter(far).map(|f| higher(f).abs()).fold(0.0, f64::max);
        assert!(most < 0.005, "{seconds} s, {depth} m: hips are {most} m from where they are without");
    }
}

/// A body that stands for a second, kneels down within one and a half, and stays, its insteps on the floor: 30 frames a second.
fn kneels() -> Motion {
    let standing = take("walk.bvh");
    let mut still = standing.part(0..1);
    still.clip.sample_rate = 30.0;
    let rotations = still.clip.all_rotations().repeat(150);
    let translations = still.clip.all_translations().repeat(150);
    let translated = still.clip.translated().to_vec();
    let joints = still.clip.joints();
    let clip = posemill::model::Clip::new("kneels", 30.0, joints, rotations, translated, translations);
    let still = Motion::new(Arc::clone(&still.character), clip);
    let rig = &still.character.rig;
    let down = |f: usize| smoothstep((f as f64 - 30.0) / 45.0);
    let bent = changed(&still, |f, pose| {
        for side in Side::BOTH {
            let mut model = still.model_pose(f);
            let angles = [(Role::LowerLeg(side), 90.0_f64), (Role::Foot(side), 60.0)];
            for (role, degrees) in angles {
                let joint = rig.joint(role).unwrap();
                let own = model.joint(joint).rotation;
                let turn = exp(&(own.inverse() * Vec3::x() * (degrees.to_radians() * down(f))));
                pose.local_mut()[joint.index()].rotation *= turn;
                model.set(still.character.skeleton(), pose);
            }
        }
    });
    let low = lowest(&still.model_pose(0));
    raised(&bent, |f| low - lowest(&bent.model_pose(f)))
}

#[test]
fn toes_of_a_body_that_kneels_lie_on_their_back() {
    let (take, hero) = (kneels(), shipped("mannequin.glb").character);
    let transfer = transfer(&take, &hero);
    let (result, direct) = (transfer.apply(&take), transfer.direct_transfer(&take));
    for side in Side::BOTH {
        let toes = hero.rig.joint(Role::Toes(side)).unwrap().index();
        let bend = |f: usize| result.clip.rotations(f)[toes].angle_to(&direct.clip.rotations(f)[toes]);
        let bends: Vec<f64> = (0..150).map(|f| bend(f).to_degrees()).collect();
        let most = bends.iter().copied().fold(0.0, f64::max);
        let step = bends.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
        assert!(bends[149] < 5.0, "{side:?}: they are bent by {} degrees while it kneels", bends[149]);
        assert!(most < 80.0 && step < 25.0, "{side:?}: {most} degrees, {step} between two frames");
    }
    // It stands on the floor meanwhile, not as high above it as its insteps need.
    let low = lowest_skin(&result, 0);
    assert!(low.abs() < 0.01, "it stands {low} m above the floor");
}
