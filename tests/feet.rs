//! The made walk, whose contacts are known: without labels nothing changes, and the ground goes where it is wanted.

mod made_walk;
mod planted;

use made_walk::{difference, walk};
use planted::planted;
use posemill::feet::ground;
use posemill::model::Contacts;

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
fn nothing_changes_without_contacts() {
    let mut motion = walk(|m| m);
    motion.contacts = None;
    assert_eq!(planted(&motion).0, motion);
    motion.contacts = Some(Contacts::new(-10.0, []));
    assert_eq!(planted(&motion).0.clip, motion.clip);
}
