//! Feet that give way to the ranges of a body's joints: the made walk performed by someone with stiff ankles.

mod made_walk;

use made_walk::{models, walk};
use posemill::anatomy::contact_points;
use posemill::contacts::{Options as Detection, detect};
use posemill::feet::{self, Ranges};
use posemill::ik::{Limit, Mechanism, Range};
use posemill::limits::{self, keep};
use posemill::math::Vec3;
use posemill::model::{ContactPart, JointId, Motion, Role, Side};

/// The walk, its contacts found, and a body whose ankles bend up by so many degrees at most.
fn walk_with_ankles(most: f64) -> (Motion, Mechanism, Vec<JointId>) {
    let mut motion = walk(|motion| motion);
    motion.contacts = Some(detect(&motion, &Detection::default()));
    let rig = &motion.character.rig;
    let mut mechanism = Mechanism::humanoid(rig, &motion.character.calibration_pose());
    for foot in Side::BOTH.into_iter().filter_map(|side| rig.joint(Role::Foot(side))) {
        let Some(Limit::SwingTwist(mut limit)) = mechanism.limit(foot).copied() else {
            panic!("ankles have ranges")
        };
        limit.swing[0] = Range::new(limit.swing[0].low, most.to_radians());
        mechanism = mechanism.with_limit(foot, Limit::SwingTwist(limit));
    }
    let joints = mechanism.joints_with_limits().collect();
    (motion, mechanism, joints)
}

/// How far the joint that is furthest outside its range is outside, degrees.
fn outside(motion: &Motion, mechanism: &Mechanism, joints: &[JointId]) -> f64 {
    let excess = |f: usize, id: &JointId| {
        mechanism.excess(*id, &motion.clip.local(mechanism.skeleton(), f, *id)).to_degrees()
    };
    let frames = 0..motion.clip.frames();
    frames.flat_map(|f| joints.iter().map(move |id| (f, id))).map(|(f, id)| excess(f, id)).fold(0.0, f64::max)
}

/// The places of a part over all frames.
fn places(motion: &Motion, part: ContactPart) -> Vec<Vec3> {
    let points = contact_points(&motion.character, &motion.character.rig);
    let point = points.iter().find(|p| p.part == part).unwrap();
    models(motion).iter().map(|model| model.joint(point.joint).point(&point.at)).collect()
}

#[test]
fn ankles_that_have_room_change_nothing() {
    let (motion, mechanism, joints) = walk_with_ankles(40.0);
    let ranges = Ranges { mechanism: &mechanism, joints: &joints };
    let (free, _) = feet::plant(&motion, &feet::Options::default());
    let (within, work) = feet::plant_within(&motion, &feet::Options::default(), &ranges);
    assert!(outside(&free, &mechanism, &joints) < 0.2);
    assert_eq!(within.clip, free.clip);
    assert_eq!(within.contacts, free.contacts);
    assert!(work.feet.iter().all(|foot| foot.gave_way.0 == 0));
}

#[test]
fn stiff_ankles_raise_their_heels_and_the_balls_stay() {
    let (motion, mechanism, joints) = walk_with_ankles(8.0);
    let (arriving, _) = keep(motion.clone(), &mechanism, &joints, &limits::Options::default());
    let ranges = Ranges { mechanism: &mechanism, joints: &joints };
    let (free, _) = feet::plant(&arriving, &feet::Options::default());
    let (within, work) = feet::plant_within(&arriving, &feet::Options::default(), &ranges);
    within.check().unwrap();
    let [before, after] = [&free, &within].map(|motion| outside(motion, &mechanism, &joints));
    assert!(before > 3.0 && after < 0.2, "{before} degrees outside, then {after}");
    let labels = within.contacts.as_ref().unwrap();
    let all = arriving.contacts.as_ref().unwrap();
    for (side, foot) in Side::BOTH.into_iter().zip(&work.feet) {
        let (heel, ball) = (ContactPart::Heel(side), ContactPart::Ball(side));
        let ways = |part| -> Vec<f64> {
            places(&free, part).iter().zip(places(&within, part)).map(|(a, b)| (a - b).norm()).collect()
        };
        let resting = |part, f: usize| labels.rests(part, f);
        // What is still labelled has not moved, and the balls are still labelled.
        for part in [heel, ball] {
            for (f, way) in ways(part).iter().enumerate().filter(|(f, _)| resting(part, *f)) {
                assert!(*way < 1e-3, "{part} moved by {way} m in frame {f}");
            }
        }
        let frames = 0..arriving.clip.frames();
        let count = |labels: &posemill::model::Contacts, part| {
            frames.clone().filter(|f| labels.rests(part, *f)).count()
        };
        assert!(count(labels, heel) < count(all, heel) && foot.gave_way.0 > 0);
        // Before a heel rises the smoothest turn dips it, and the foot stands on it for a moment: the ball moves by
        // 2 mm there.
        let dipped = |(f, way): (usize, f64)| all.rests(ball, f) && way > 0.003;
        assert!(!ways(ball).into_iter().enumerate().any(dipped));
        assert!(4 * count(labels, ball) >= 3 * count(all, ball));
        // Heels rise, nothing sinks.
        let low = places(&within, heel).iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!(low > labels.ground - 1e-3, "{low}");
    }
}
