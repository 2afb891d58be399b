//! The made walk, whose contacts are known: without labels nothing changes, the ground goes where it is wanted, and no
//! knee is in it.

mod made_walk;
mod planted;

use made_walk::{difference, models, walk};
use planted::planted;
use posemill::anatomy::contact_points;
use posemill::feet::ground;
use posemill::model::{ContactPart, ContactPoint, Contacts, Hold, ModelPose, Role};

#[test]
fn a_ground_is_put_where_it_is_wanted_and_a_clean_one_stays() {
    let motion = walk(|m| m);
    let labels = motion.contacts.clone().unwrap();
    let (same, _) = ground(&motion, &labels, labels.ground);
    let (way, _) = difference(&motion, &same, 0);
    println!("clean ground: {:.3} mm", way * 1000.0);
    let (raised, work) = ground(&motion, &labels, labels.ground + 0.25);
    raised.check().unwrap();
    assert_eq!(raised.contacts.as_ref().unwrap().ground, labels.ground + 0.25);
    assert!((work.lifted - 0.25).abs() < 2e-3, "{work:?}");
    assert!(way < 2e-3, "{way}");
}

#[test]
fn knees_that_rest_in_the_floor_lift_the_body() {
    let motion = walk(|m| m);
    let points = contact_points(&motion.character, &motion.character.rig);
    let knees: Vec<_> = points.iter().filter(|p| matches!(p.part, ContactPart::Knee(_))).collect();
    let hips = motion.character.rig.joint(Role::Hips).unwrap();
    // As the legs are: feet that a floor at the knees lifts move the knees as well.
    let lowest = |model: &ModelPose| -> f64 {
        let of = |p: &&ContactPoint| model.joint(p.joint).point(&p.at).y - p.radius;
        knees.iter().map(of).fold(f64::INFINITY, f64::min)
    };
    let before = models(&motion);
    let floor = before.iter().map(lowest).fold(f64::INFINITY, f64::min) + 0.05;
    let mut labels = Contacts::new(floor, knees.iter().map(|p| p.part));
    knees.iter().for_each(|p| labels.set(p.part, vec![Hold { frames: 0..before.len(), height: floor }]));
    let (lifted, work) = ground(&motion, &labels, floor);
    assert!(knees.len() == 2 && (work.knees - 0.05).abs() < 1e-9, "{work:?}");
    for (before, after) in before.iter().zip(models(&lifted)) {
        let rise = after.position(hips).y - before.position(hips).y;
        assert!(lowest(before) + rise > floor - 1e-9, "{rise}");
    }
}

#[test]
fn nothing_changes_without_contacts() {
    let mut motion = walk(|m| m);
    motion.contacts = None;
    assert_eq!(planted(&motion).0, motion);
    motion.contacts = Some(Contacts::new(-10.0, []));
    assert_eq!(planted(&motion).0.clip, motion.clip);
}
