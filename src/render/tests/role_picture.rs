//! The picture of roles: every role has its colour, doubts are red.

use crate::made_bodies::{ADULT, bones};
use crate::model::{Assignment, Character, Role, Side};
use crate::render::picture::Picture;
use crate::render::role_picture::{DOUBT, NONE, RolePicture, color};
use std::sync::Arc;

fn drawn(character: &Character) -> Picture {
    RolePicture::of(&Arc::new(character.clone()), "made").unwrap().0
}

fn has(picture: &Picture, color: [u8; 3]) -> bool {
    picture.pixels.iter().filter(|p| **p == color).count() > 20
}

#[test]
fn every_role_has_its_colour_and_what_has_none_is_grey() {
    let made = bones(&ADULT);
    let picture = drawn(&made);
    for (role, _) in made.rig.assignments() {
        assert!(has(&picture, color(Some(role))), "{role}");
    }
    assert!(!has(&picture, DOUBT) && !has(&picture, NONE));
    let kept = made.rig.assignments().filter(|(r, _)| *r != Role::Hand(Side::Left));
    let handless: Vec<_> = kept.map(|(r, a)| (r, a.clone())).collect();
    let picture = drawn(&Character { rig: made.rig.with_roles(handless), ..made.clone() });
    assert!(!has(&picture, color(Some(Role::Hand(Side::Left)))) && has(&picture, NONE));
}

#[test]
fn a_doubtful_role_is_red_in_the_legend() {
    let made = bones(&ADULT);
    let doubt = |(r, a): (Role, &Assignment)| {
        (r, Assignment { confidence: if r == Role::Head { 0.5 } else { 1.0 }, ..a.clone() })
    };
    let roles: Vec<_> = made.rig.assignments().map(doubt).collect();
    assert!(has(&drawn(&Character { rig: made.rig.with_roles(roles), ..made }), DOUBT));
}
