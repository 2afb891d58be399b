//! A performance knows no side, no direction and no place: mirrored and turned takes give mirrored and turned results.

use super::real::takes;
use super::scene::{hit_along, shipped};
use crate::math::{Quat, RawQuat, Transform, Vec3, exp};
use crate::model::{Assignment, Character, Clip, Joint, Motion, Pose, Rig, Skeleton};
use crate::settle::perform::performer::Controls;
use crate::settle::perform::{ClipForces, PerformedClip};
use std::sync::Arc;

/// The mirror image in the plane x = 0.
fn mirror(v: &Vec3) -> Vec3 {
    Vec3::new(-v.x, v.y, v.z)
}

fn mirrored_rotation(q: &Quat) -> Quat {
    Quat::new_unchecked(RawQuat::new(q.w, q.i, -q.j, -q.k))
}

fn mirrored_transform(t: &Transform) -> Transform {
    Transform::new(mirrored_rotation(&t.rotation), mirror(&t.translation))
}

/// The bare body of a motion, with its transforms changed, and its roles exchanged if `mirrored`.
fn bare(motion: &Motion, mirrored: bool, pose_of: impl Fn(&Pose) -> Pose) -> Motion {
    let old = motion.character.skeleton();
    let joint = |j: &Joint| {
        let mut joint = j.clone();
        if mirrored {
            joint.rest = mirrored_transform(&joint.rest);
            joint.tip = joint.tip.map(|tip| mirror(&tip));
        }
        joint
    };
    let skeleton = Skeleton::new(old.joints().iter().map(joint).collect()).unwrap();
    let role = |(role, a): (crate::model::Role, &Assignment)| {
        (if mirrored { role.mirrored() } else { role }, a.clone())
    };
    let rig = Rig::new(skeleton.clone(), motion.character.rig.assignments().map(role).collect::<Vec<_>>());
    let poses: Vec<Pose> = (0..motion.clip.frames()).map(|f| pose_of(&motion.clip.pose(old, f))).collect();
    let clip = Clip::from_poses("changed", motion.clip.sample_rate, &skeleton, &poses);
    Motion { character: Arc::new(Character::new("changed", rig)), clip, contacts: None }
}

fn mirrored(motion: &Motion) -> Motion {
    bare(motion, true, |pose| {
        let mut pose = pose.clone();
        pose.local_mut().iter_mut().for_each(|t| *t = mirrored_transform(t));
        pose
    })
}

fn turned(motion: &Motion, by: &Transform) -> Motion {
    bare(motion, false, |pose| {
        let mut pose = pose.clone();
        pose.local_mut()[0] = *by * pose.local_mut()[0];
        pose
    })
}

/// The largest distance of a joint of `other` from where `of` puts that of `plain`.
fn apart(plain: &PerformedClip, other: &PerformedClip, of: impl Fn(&Vec3) -> Vec3) -> f64 {
    let mut worst = 0.0_f64;
    for f in 0..plain.motion.clip.frames() {
        let [a, b] = [plain, other].map(|p| p.motion.model_pose(f));
        for (a, b) in a.joints().iter().zip(b.joints()) {
            worst = worst.max((of(&a.translation) - b.translation).norm());
        }
    }
    worst
}

/// Made and recorded takes, without skin.
fn all_takes() -> Vec<(&'static str, Motion)> {
    let mut all =
        vec![("shipped walk", shipped("walk.bvh", None)), ("shipped squat", shipped("squat.bvh", None))];
    if let Some(data) = crate::development_data::data() {
        all.extend(takes(&data));
    }
    all.into_iter().map(|(name, motion)| (name, turned(&motion, &Transform::identity()))).collect()
}

/// A hit of these newton seconds in the middle of the clip.
fn hit(motion: &Motion, impulse: Vec3) -> PerformedClip {
    hit_along(motion, 0.45 * motion.clip.duration(), impulse, Controls::default())
}

/// Rounding grows over a second of contacts that switch: measured 2e-12 m at most.
const ROUNDING: f64 = 1e-9;

#[test]
fn a_mirrored_take_with_a_mirrored_hit_gives_the_mirrored_result() {
    for (name, motion) in all_takes() {
        let blow = Vec3::new(-24.0, 3.0, 11.0);
        let other = mirrored(&motion);
        let (plain, image) = (hit(&motion, blow), hit(&other, mirror(&blow)));
        let worst = apart(&plain, &image, mirror);
        let peaks = [plain.hits[0].peak, image.hits[0].peak];
        println!("{name}: {worst:.1e} m, peak {:.3} m", peaks[0]);
        assert!(peaks[0] > 0.02 && worst < ROUNDING, "{name}: {worst} m");
        let [a, b] = [&motion, &other].map(|m| ClipForces::of(m).unwrap());
        for (a, b) in a.frames.iter().zip(&b.frames) {
            let feet = [mirror(&b.feet[1]), mirror(&b.feet[0])];
            let wrong = a.feet.iter().zip(feet).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            assert!(wrong < 1e-3, "{name}: {wrong} N");
        }
    }
}

#[test]
fn a_take_turned_about_the_vertical_by_any_angle_gives_the_turned_result() {
    for (name, motion) in all_takes() {
        let blow = Vec3::new(-24.0, 3.0, 11.0);
        let plain = hit(&motion, blow);
        for angle in [0.3, 0.785, -2.1] {
            let by = Transform::new(exp(&(Vec3::y() * angle)), Vec3::new(2.0, 0.0, -1.0));
            let other = hit(&turned(&motion, &by), by.rotation * blow);
            let worst = apart(&plain, &other, |p| by.point(p));
            println!("{name} by {angle}: {worst:.1e} m");
            assert!(worst < ROUNDING, "{name} turned by {angle}: {worst} m");
        }
    }
}
