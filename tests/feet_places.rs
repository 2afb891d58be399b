//! Feet on stairs, in a jump, on all fours and in a roll: made motions whose answer is known.

mod made_walk;
mod planted;

use made_walk::{carried, models, shipped, take};
use planted::planted;
use posemill::anatomy::contact_points;
use posemill::contacts::{Options as Detection, detect, read};
use posemill::math::{Vec3, exp};
use posemill::model::{ContactPart, Contacts, Hold, Motion, Role, Side};

/// The way of every point of the soles.
fn soles(motion: &Motion) -> Vec<(ContactPart, Vec<Vec3>)> {
    let points = contact_points(&motion.character, &motion.character.rig);
    let poses = models(motion);
    let feet = points.iter().filter(|p| p.part.of_foot());
    feet.map(|p| (p.part, poses.iter().map(|m| m.joint(p.joint).point(&p.at)).collect())).collect()
}

fn way(motion: &Motion, role: Role) -> Vec<Vec3> {
    let joint = motion.character.rig.joint(role).unwrap();
    models(motion).iter().map(|m| m.position(joint)).collect()
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The greatest turn of a leg's joint from frame to frame, degrees.
fn fastest_turn(motion: &Motion) -> f64 {
    let roles = |s: Side| [Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s), Role::Toes(s)];
    let joints = Side::BOTH.into_iter().flat_map(roles).filter_map(|r| motion.character.rig.joint(r));
    let turn = |id: posemill::model::JointId, f: usize| {
        motion.clip.rotations(f)[id.index()].angle_to(&motion.clip.rotations(f - 1)[id.index()])
    };
    let all = joints.flat_map(|id| (1..motion.clip.frames()).map(move |f| turn(id, f).to_degrees()));
    all.fold(0.0, f64::max)
}

/// The made walk up a stair of so many metres a step: the body climbs evenly, the labels know the steps.
fn climb(step: f64) -> Motion {
    const STRIDE: f64 = 136.0;
    let mut motion = take("walk.bvh");
    let text = std::fs::read_to_string(shipped("walk.contacts.csv")).unwrap();
    let labels = read(&text).unwrap().on(&motion, None);
    let mut contacts = labels.clone();
    for part in labels.parts().collect::<Vec<_>>() {
        let raised = |hold: &Hold| {
            let middle = (hold.frames.start + hold.frames.end) as f64 / 2.0;
            // Feet land at every half stride; the first contact of the right one began before the clip.
            let half = if part.side() == Some(Side::Right) { 0.5 } else { 0.0 };
            let landed = ((middle / STRIDE - half).floor() + half) * 2.0 + 1.0;
            Hold { height: labels.ground + step * landed, ..hold.clone() }
        };
        contacts.set(part, labels.holds(part).iter().map(raised).collect());
    }
    for f in 0..motion.clip.frames() {
        motion.clip.translations_mut(f)[0].y += step * (2.0 * (f as f64 / STRIDE - 0.3) + 1.0);
    }
    motion.contacts = Some(contacts);
    motion
}

#[test]
fn feet_stand_on_the_steps_of_a_stair() {
    for motion in [climb(0.05), carried(&climb(0.05))] {
        let result = planted(&motion).0;
        result.check().unwrap();
        let contacts = result.contacts.as_ref().unwrap();
        let (mut off, mut fastest, mut deepest) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (part, at) in soles(&result) {
            let holds = contacts.holds(part);
            for hold in holds {
                for f in hold.frames.clone() {
                    off = off.max((at[f].y - hold.height).abs());
                    if f > hold.frames.start {
                        fastest = fastest.max((at[f] - at[f - 1]).norm() * result.clip.sample_rate);
                    }
                }
            }
            // Between two steps the foot is above the lower one.
            for pair in holds.windows(2) {
                for at in &at[pair[0].frames.end..pair[1].frames.start] {
                    deepest = deepest.max(pair[0].height.min(pair[1].height) - at.y);
                }
            }
        }
        println!("stair: {:.2} mm off, {:.3} cm/s, {:.2} mm deep", off * 1e3, fastest * 1e2, deepest * 1e3);
        assert!(off < 5e-3 && fastest < 0.01 && deepest < 5e-3, "{off} m, {fastest} m/s, {deepest} m");
    }
}

#[test]
fn a_jump_lands_and_its_flight_stays() {
    let mut motion = take("jump.bvh");
    motion.contacts = Some(detect(&motion, &Detection::default()));
    let copy = carried(&motion);
    let result = planted(&copy).0;
    let contacts = result.contacts.as_ref().unwrap();
    for (part, at) in soles(&result) {
        for hold in contacts.holds(part) {
            let steps = hold.frames.clone().skip(1).map(|f| (at[f] - at[f - 1]).norm());
            assert!(steps.fold(0.0, f64::max) * result.clip.sample_rate < 0.01, "{part}");
        }
        let low = at.iter().map(|p| p.y - contacts.ground).fold(f64::INFINITY, f64::min);
        assert!(low > -5e-3, "{part}: {low} m");
    }
    for side in Side::BOTH {
        let top = |m: &Motion| way(m, Role::Foot(side)).iter().map(|p| p.y).fold(0.0, f64::max);
        assert!((top(&copy) - top(&result)).abs() < 0.02, "{} {}", top(&copy), top(&result));
    }
    let head = farthest(&way(&copy, Role::Head), &way(&result, Role::Head));
    assert!(head < 0.05, "the head moved by {head} m");
}

/// The walk bent forward by so many degrees about its hips, at so many metres above the ground.
fn bent(degrees: impl Fn(f64) -> f64, height: f64) -> Motion {
    let mut motion = take("walk.bvh");
    let frames = motion.clip.frames();
    for f in 0..frames {
        let turn = exp(&(Vec3::x() * degrees(f as f64 / frames as f64).to_radians()));
        motion.clip.rotations_mut(f)[0] = turn * motion.clip.rotations(f)[0];
        motion.clip.translations_mut(f)[0].y = height;
    }
    motion
}

#[test]
fn hands_and_knees_that_carry_a_crawl_stay() {
    // On all fours, the feet behind swing through the floor.
    let mut motion = bent(|_| 80.0, 0.3);
    let mut contacts = Contacts::new(0.0, []);
    let frames = motion.clip.frames();
    for side in Side::BOTH {
        for part in [ContactPart::Hand(side), ContactPart::Knee(side)] {
            contacts.set(part, vec![Hold { frames: 0..frames, height: 0.0 }]);
        }
    }
    motion.contacts = Some(contacts);
    // Toes that point down and back are bent up by a right angle and no more.
    let deepest = |m: &Motion| {
        let soles = soles(m).into_iter().filter(|(part, _)| !matches!(part, ContactPart::Toe(_)));
        soles.flat_map(|(_, at)| at).map(|p| -p.y).fold(f64::MIN, f64::max)
    };
    let result = planted(&motion).0;
    result.check().unwrap();
    let before = deepest(&motion);
    println!("crawl: {:.1} mm deep before, {:.2} after", before * 1e3, deepest(&result) * 1e3);
    assert!(before > 0.05 && deepest(&result) < 5e-3, "{before} m, {} m", deepest(&result));
    for role in [Role::Hips, Role::Head, Role::Hand(Side::Left), Role::Hand(Side::Right)] {
        assert!(farthest(&way(&motion, role), &way(&result, role)) < 1e-9, "{role}");
    }
    // Toes come out of a floor 30 cm above them within a few frames.
    let made = fastest_turn(&result);
    assert!(made < 45.0, "a joint turns by {made} degrees a frame");
}

#[test]
fn a_roll_has_no_flip() {
    let mut motion = bent(|t| 360.0 * t, 0.6);
    motion.contacts = Some(detect(&motion, &Detection { ground: Some(0.0), ..Detection::default() }));
    let result = planted(&motion).0;
    result.check().unwrap();
    let (own, made) = (fastest_turn(&motion), fastest_turn(&result));
    println!("roll: {own:.1} degrees a frame before, {made:.1} after");
    assert!(made < own + 15.0, "a joint turns by {made} degrees a frame, by {own} before");
    let low = soles(&result).iter().flat_map(|(_, at)| at.iter().map(|p| p.y)).fold(f64::INFINITY, f64::min);
    println!("roll: {:.1} mm deep", -low * 1e3);
    assert!(low > -5e-3, "{low} m");
}
