//! A body that gets up from the floor: nothing of it is a fault of the floor.

use super::{repaired, shipped, take, words};
use crate::damages::metre;
use posemill::math::{Vec3, exp};
use posemill::model::{Clip, ModelPose, Motion, Role, Side};
use std::sync::Arc;

/// A body that lies or sits has its heels on the floor and its toes in the air; when it stands, all of its feet are on the floor.
#[test]
fn who_gets_up_from_the_floor_does_not_drift() {
    let still = take(&shipped("wave.bvh"));
    let (skeleton, rig, metre) = (still.character.skeleton(), &still.character.rig, metre(&still));
    let (standing, model, rate) = (still.clip.pose(skeleton, 0), still.model_pose(0), 60.0);
    // Seconds, and degrees to the front of body, thighs, shins and feet: it lies, sits, crouches and stands.
    let keys = [
        (0.0, [-90.0, -12.0, 20.0, 0.0]),
        (0.7, [-90.0, -12.0, 20.0, 0.0]),
        (2.0, [-25.0, -75.0, 25.0, 5.0]),
        (2.6, [-25.0, -75.0, 25.0, 5.0]),
        (3.6, [35.0, -140.0, 135.0, -30.0]),
        (4.0, [35.0, -140.0, 135.0, -30.0]),
        (5.0, [0.0; 4]),
        (5.6, [0.0; 4]),
    ];
    let pose = |f: usize| {
        let time = f as f64 / rate;
        let pair = keys.windows(2).find(|pair| time <= pair[1].0).unwrap();
        let u = (time - pair[0].0) / (pair[1].0 - pair[0].0);
        let turned = |k: usize| {
            let share = u * u * (3.0 - 2.0 * u);
            exp(&(Vec3::x() * (pair[0].1[k] + (pair[1].1[k] - pair[0].1[k]) * share).to_radians()))
        };
        let mut pose = standing.clone();
        pose.local_mut()[0].rotation = turned(0) * pose.local()[0].rotation;
        for side in Side::BOTH {
            for (k, role) in
                [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].into_iter().enumerate()
            {
                let joint = rig.joint(role).unwrap();
                let parent = model.joint(skeleton.joint(joint).parent.unwrap()).rotation;
                let local = &mut pose.local_mut()[joint.index()].rotation;
                *local = parent.inverse() * turned(k + 1) * parent * *local;
            }
        }
        // What is lowest is on the floor: heels, balls, or the seat.
        let (at, thick) = (ModelPose::of(skeleton, &pose), [(Role::Hips, 0.11)]);
        let feet =
            Side::BOTH.into_iter().flat_map(|side| [(Role::Foot(side), 0.09), (Role::Toes(side), 0.02)]);
        let heights =
            feet.chain(thick).map(|(role, thick)| at.position(rig.joint(role).unwrap()).y - thick * metre);
        let lowest = heights.fold(f64::INFINITY, f64::min);
        pose.local_mut()[0].translation.y -= lowest;
        pose
    };
    let poses: Vec<_> = (0..336).map(pose).collect();
    let clip = Clip::from_poses("getting up", rate, skeleton, &poses);
    let rising = Motion::new(Arc::clone(&still.character), clip);
    let found = repaired(&rising);
    assert!(found.motion == rising, "{:?}", words(&found));
    assert!(found.findings.iter().all(|f| f.fault != "vertical_drift"), "{:?}", words(&found));
}
