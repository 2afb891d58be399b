//! Properties of leg retargeting for any two bodies, on synthetic bodies and takes: a body like the source's moves as it does,
//! planted feet stay planted, cycles close, frames after a cut do not affect those before it, and equivalent inputs give equal
//! results.

use crate::lowest_skin::lowest_skin;
use posemill::anatomy::detect_roles;
use posemill::body::CharacterBody;
use posemill::import::{ImportOptions, load};

use posemill::legs::{LimbChain, Settings, Timeline, place_on_ground, remove_foot_sliding, with_slides};
use posemill::math::{Quat, Transform, Vec3, angle_between, exp, smoothstep};
use posemill::model::{
    Character, Clip, ContactPart, Contacts, Hold, Joint, JointId, Motion, Pose, Role, Side, Skeleton,
};
use posemill::retarget::{Retarget, RootScale, map};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// The lengths of a body, metres.
#[derive(Clone, Copy, Debug)]
struct Build {
    thigh: f64,
    shin: f64,
    /// From the middle to a hip joint.
    hip: f64,
    /// From the ankle to the toe joint, ahead.
    foot: f64,
    /// From the toe joint to the sole, and from the ankle to the toe joint, downwards.
    sole: [f64; 2],
    /// The prefix of joint names.
    prefix: &'static str,
}

const PERSON: Build =
    Build { thigh: 0.44, shin: 0.42, hip: 0.09, foot: 0.14, sole: [0.02, 0.06], prefix: "" };

fn character(b: &Build) -> Arc<Character> {
    let floor = b.sole[0] + b.sole[1];
    let hips = b.thigh + b.shin + floor;
    let mut list: Vec<(String, Option<usize>, Vec3)> = Vec::new();
    let mut add = |name: &str, parent: Option<usize>, p: [f64; 3]| {
        list.push((format!("{}{name}", b.prefix), parent, Vec3::from(p)));
        list.len() - 1
    };
    let root = add("Hips", None, [0.0, hips + 0.03, 0.0]);
    let spine = add("Spine", Some(root), [0.0, hips + 0.15, 0.0]);
    let chest = add("Spine1", Some(spine), [0.0, hips + 0.35, 0.0]);
    let neck = add("Neck", Some(chest), [0.0, hips + 0.52, 0.0]);
    add("Head", Some(neck), [0.0, hips + 0.6, 0.0]);
    for (side, s) in [("Left", 1.0), ("Right", -1.0)] {
        let arm = add(&format!("{side}Arm"), Some(chest), [s * 0.18, hips + 0.48, 0.0]);
        let fore = add(&format!("{side}ForeArm"), Some(arm), [s * 0.45, hips + 0.48, -0.01]);
        add(&format!("{side}Hand"), Some(fore), [s * 0.7, hips + 0.48, 0.0]);
        let thigh = add(&format!("{side}UpLeg"), Some(root), [s * b.hip, hips, 0.0]);
        let shin = add(&format!("{side}LimbChain"), Some(thigh), [s * b.hip, floor + b.shin, 0.0]);
        let foot = add(&format!("{side}Foot"), Some(shin), [s * b.hip, floor, 0.0]);
        add(&format!("{side}ToeBase"), Some(foot), [s * b.hip, b.sole[0], b.foot]);
    }
    let joint = |(name, parent, p): &(String, Option<usize>, Vec3)| {
        let local = parent.map_or(*p, |k| p - list[k].2);
        let mut joint = Joint::new(name, parent.map(JointId::new), Transform::from_translation(local));
        if name.ends_with("ToeBase") {
            joint.tip = Some(Vec3::new(0.0, -b.sole[0], 0.06));
        }
        joint
    };
    let skeleton = Skeleton::new(list.iter().map(joint).collect()).unwrap();
    let rest = skeleton.rest_model_pose();
    Arc::new(Character::new("body", detect_roles(skeleton, &rest, &[])))
}

/// A frame of a take: displacement of the hips from rest, rotation of the pelvis, and for each leg the angles of thigh, knee
/// and foot in the world's sagittal plane (forward swing, bend, heel up), radians.
#[derive(Clone, Copy, Debug, Default)]
struct Instant {
    way: Vec3,
    turn: Vec3,
    legs: [[f64; 3]; 2],
}

fn perform(who: &Arc<Character>, rate: f64, frames: usize, of: impl Fn(usize) -> Instant) -> Motion {
    let skeleton = who.skeleton();
    let id = |role: Role| who.rig.joint(role).unwrap();
    let pose = |f: usize| {
        let now = of(f);
        let mut pose = skeleton.rest_pose();
        let hips = &mut pose.local_mut()[id(Role::Hips).index()];
        hips.translation += now.way;
        hips.rotation = exp(&now.turn);
        let mut turn = |role: Role, q: Quat| pose.local_mut()[id(role).index()].rotation = q;
        let about = |angle: f64| exp(&(Vec3::x() * angle));
        turn(Role::Spine(0), exp(&now.turn).inverse());
        // Arms hang.
        turn(Role::UpperArm(Side::Left), exp(&(Vec3::z() * -1.3)));
        turn(Role::UpperArm(Side::Right), exp(&(Vec3::z() * 1.3)));
        for (side, [swing, bend, heel]) in Side::BOTH.into_iter().zip(now.legs) {
            turn(Role::UpperLeg(side), exp(&now.turn).inverse() * about(-swing));
            turn(Role::LowerLeg(side), about(bend));
            turn(Role::Foot(side), about(swing - bend + heel));
            turn(Role::Toes(side), about(-heel));
        }
        pose
    };
    let poses: Vec<Pose> = (0..frames).map(pose).collect();
    Motion::new(Arc::clone(who), Clip::from_poses("take", rate, skeleton, &poses))
}

/// A walk of `cycle` frames per stride. Leg angles are prescribed, so feet slide; the pelvis travels at their mean speed.
fn walk(who: &Arc<Character>, frames: usize, cycle: usize, phase: usize, travels: bool) -> Motion {
    let leg = |p: f64| {
        let swing = 0.4 * (TAU * p).cos();
        let lift = (-(TAU * p).sin()).max(0.0);
        [swing, 0.1 + 0.9 * lift * lift, 0.3 * lift]
    };
    perform(who, 60.0, frames, |f| {
        let p = ((f + phase) % cycle) as f64 / cycle as f64;
        let ahead = if travels { 1.2 * f as f64 / 60.0 } else { 0.0 };
        let way = Vec3::new(0.02 * (TAU * p).sin(), -0.05 + 0.02 * (2.0 * TAU * p).cos(), ahead);
        Instant {
            way,
            turn: Vec3::new(0.0, 0.1 * (TAU * p).sin(), 0.05 * (TAU * p).cos()),
            legs: [leg(p), leg(p + 0.5)],
        }
    })
}

fn ready(source: &Motion, target: &Arc<Character>) -> Retarget {
    let found = map(&source.character, target).unwrap();
    let rigs = (&source.character.rig, &target.rig);
    Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs)
}

fn onto(source: &Motion, target: &Arc<Character>) -> Motion {
    let result = ready(source, target).apply(source);
    result.check().unwrap();
    result
}

fn place(motion: &Motion, f: usize, role: Role) -> Vec3 {
    motion.model_pose(f).position(motion.character.rig.joint(role).unwrap())
}

/// The bend of a knee, radians.
fn bend(motion: &Motion, f: usize, side: Side) -> f64 {
    let [hip, knee, ankle] =
        [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|r| place(motion, f, r));
    angle_between(&(knee - hip), &(ankle - knee))
}

/// The largest joint distance between two motions of one skeleton over some frames.
fn apart(a: &Motion, b: &Motion, frames: impl Iterator<Item = usize>) -> f64 {
    let far = |f: usize| {
        let (a, b) = (a.model_pose(f), b.model_pose(f));
        let ways = a.joints().iter().zip(b.joints()).map(|(a, b)| (a.translation - b.translation).norm());
        ways.fold(0.0, f64::max)
    };
    frames.map(far).fold(0.0, f64::max)
}

/// The same body with other joint names, which is solved, unlike a character onto itself.
fn twin() -> Arc<Character> {
    character(&Build { prefix: "mixamorig:", ..PERSON })
}

fn other() -> Arc<Character> {
    character(&Build { thigh: 0.36, shin: 0.38, hip: 0.14, foot: 0.2, sole: [0.03, 0.05], prefix: "b_" })
}

#[test]
fn a_body_like_the_source_s_does_what_it_does() {
    let person = character(&PERSON);
    for travels in [true, false] {
        let take = walk(&person, 90, 40, 0, travels);
        let result = onto(&take, &twin());
        // The floor is at 0 whatever the take's: the height differs by a constant.
        let rise = place(&result, 0, Role::Hips) - place(&take, 0, Role::Hips);
        assert!(rise.x.hypot(rise.z) < 1e-6, "{rise:?}");
        for f in 0..90 {
            for role in [
                Role::Hips,
                Role::Head,
                Role::Foot(Side::Left),
                Role::Toes(Side::Right),
                Role::LowerLeg(Side::Left),
            ] {
                let way = place(&result, f, role) - place(&take, f, role) - rise;
                assert!(way.norm() < 1e-6, "frame {f} {role} {way:?}");
            }
        }
        let itself = onto(&take, &person);
        assert!(apart(&itself, &take, 0..90) < 1e-9, "a character onto itself");
    }
}

#[test]
fn the_source_may_be_of_any_size() {
    let person = character(&PERSON);
    let take = walk(&person, 90, 40, 0, true);
    let larger = |t: &Transform| Transform::new(t.rotation, t.translation * 3.0);
    let joints = person.skeleton().ids().map(|id| {
        let joint = person.skeleton().joint(id);
        Joint { rest: larger(&joint.rest), tip: joint.tip.map(|t| t * 3.0), ..joint.clone() }
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let rest = skeleton.rest_model_pose();
    let giant = Arc::new(Character::new("giant", detect_roles(skeleton, &rest, &[])));
    let poses: Vec<Pose> =
        take.poses().iter().map(|p| Pose::new(p.local().iter().map(larger).collect())).collect();
    let again = Motion::new(Arc::clone(&giant), Clip::from_poses("take", 60.0, giant.skeleton(), &poses));
    let (a, b) = (onto(&take, &other()), onto(&again, &other()));
    assert!(apart(&a, &b, 0..90) < 1e-6, "{}", apart(&a, &b, 0..90));
}

#[test]
fn zeros_before_a_take_do_not_raise_it() {
    let person = character(&PERSON);
    let take = walk(&person, 90, 40, 0, true);
    let mut zero = person.skeleton().rest_pose();
    zero.local_mut()[0].translation = Vec3::zeros();
    let poses: Vec<Pose> = vec![zero; 30].into_iter().chain(take.poses()).collect();
    let whole = Motion::new(Arc::clone(&person), Clip::from_poses("take", 60.0, person.skeleton(), &poses));
    let (alone, behind) = (onto(&take, &other()), onto(&whole, &other()));
    for f in 0..90 {
        let off = place(&behind, 30 + f, Role::Hips) - place(&alone, f, Role::Hips);
        assert!(off.y.abs() < 0.01, "frame {f}: {off:?}");
    }
    let foot = |motion: &Motion| place(motion, 10, Role::Foot(Side::Left)).y;
    assert!((foot(&behind) - foot(&alone)).abs() < 0.05, "the zeros stand on the floor");
}

#[test]
fn a_turned_and_shifted_take_comes_out_turned_and_shifted() {
    let take = walk(&character(&PERSON), 90, 40, 0, true);
    let (turn, way) = (exp(&(Vec3::y() * 1.1)), Vec3::new(3.0, 0.0, -5.0));
    let mut moved = take.clone();
    let hips = take.character.rig.joint(Role::Hips).unwrap();
    let slot = take.clip.translated().binary_search(&hips).unwrap();
    for f in 0..90 {
        let at = moved.clip.translations(f)[slot];
        moved.clip.translations_mut(f)[slot] = turn * at + way;
        let q = moved.clip.rotations(f)[hips.index()];
        moved.clip.rotations_mut(f)[hips.index()] = turn * q;
    }
    let target = other();
    let (a, b) = (onto(&take, &target), onto(&moved, &target));
    let scale = ready(&take, &target).scale();
    for f in 0..90 {
        for (a, b) in a.model_pose(f).joints().iter().zip(b.model_pose(f).joints()) {
            assert!((turn * a.translation + way * scale - b.translation).norm() < 1e-6, "frame {f}");
        }
    }
}

#[test]
fn straight_legs_under_wider_hips_stay_straight() {
    let sway = |f: usize| Instant {
        turn: Vec3::new(0.0, 0.0, 5.0_f64.to_radians() * (TAU * f as f64 / 60.0).sin()),
        ..Instant::default()
    };
    let take = perform(&character(&PERSON), 60.0, 120, sway);
    let wide = character(&Build { hip: PERSON.hip + 0.03, prefix: "w_", ..PERSON });
    let result = onto(&take, &wide);
    for f in 0..120 {
        for side in Side::BOTH {
            let added = bend(&result, f, side) - bend(&take, f, side);
            assert!(added.to_degrees() < 1.0, "frame {f}: {} degrees", added.to_degrees());
        }
    }
}

#[test]
fn a_cycle_closes_and_may_start_anywhere() {
    let person = character(&PERSON);
    for travels in [false, true] {
        let target = other();
        let [a, b] = [0, 20].map(|phase| onto(&walk(&person, 41, 40, phase, travels), &target));
        let hips = |m: &Motion, f: usize| place(m, f, Role::Hips);
        let closed = |role: Role| (place(&a, 40, role) - hips(&a, 40)) - (place(&a, 0, role) - hips(&a, 0));
        for side in Side::BOTH {
            assert!(closed(Role::Foot(side)).norm() < 1e-6 && closed(Role::LowerLeg(side)).norm() < 1e-6);
        }
        let later = |f: usize, role: Role| {
            let (own, other) = (place(&a, (f + 20) % 40, role), place(&b, f, role));
            (own - hips(&a, (f + 20) % 40)) - (other - hips(&b, f))
        };
        for f in 0..40 {
            let most = later(f, Role::Foot(Side::Left)).norm();
            assert!(most < 1e-6, "frame {f} travels {travels}: {most}");
        }
    }
}

#[test]
fn nothing_reaches_across_a_cut() {
    let person = character(&PERSON);
    let take = walk(&person, 80, 40, 0, false);
    // The last pose rotated and displaced, the limbs as in a crouch.
    let crouch = |f: usize| Instant {
        way: Vec3::new(1.5, -0.25, 0.7),
        turn: Vec3::new(0.0, 2.0 + 0.001 * f as f64, 0.0),
        legs: [[0.9, 1.6, 0.0]; 2],
    };
    let other_take = perform(&person, 60.0, 40, crouch);
    let joined = |first: &Motion, second: &Motion| {
        let poses: Vec<Pose> = first.poses().into_iter().chain(second.poses()).collect();
        Motion::new(Arc::clone(&person), Clip::from_poses("cut", 60.0, person.skeleton(), &poses))
    };
    let cut = joined(&take, &other_take);
    assert_eq!(posemill::kinematics::cuts(&cut), [80]);
    assert!(posemill::kinematics::cuts(&take).is_empty());
    // Frames after a cut change nothing before it but the one height offset of the clip.
    let still = perform(&person, 60.0, 40, |_| crouch(0));
    let [a, b] = [&cut, &joined(&take, &still)].map(|m| onto(m, &other()));
    assert!(apart(&a, &b, 0..80) < 1e-3, "{}", apart(&a, &b, 0..80));
}

#[test]
fn a_t_pose_as_first_frame_changes_nothing_behind_it() {
    let person = character(&PERSON);
    let take = walk(&person, 60, 40, 7, true);
    let rest = Motion::new(
        Arc::clone(&person),
        Clip::from_poses("rest", 60.0, person.skeleton(), &[person.skeleton().rest_pose()]),
    );
    let poses: Vec<Pose> = rest.poses().into_iter().chain(take.poses()).collect();
    let led = Motion::new(Arc::clone(&person), Clip::from_poses("led", 60.0, person.skeleton(), &poses));
    let target = other();
    let (with, without) = (onto(&led, &target), onto(&take, &target));
    let height = place(&with, 30, Role::Hips) - place(&without, 29, Role::Hips);
    for f in 0..60 {
        for side in Side::BOTH {
            for role in [Role::Foot(side), Role::LowerLeg(side), Role::UpperLeg(side)] {
                let way = place(&with, f + 1, role) - place(&without, f, role) - Vec3::y() * height.y;
                assert!(way.norm() < 1e-3, "frame {f} {role} {}", way.norm());
            }
        }
    }
}

#[test]
fn the_toes_of_a_longer_foot_stay_while_its_heel_rises() {
    let person = character(&PERSON);
    // The ankle rotates about the toe joint, which does not move.
    let arm = Vec3::new(0.0, PERSON.sole[1], -PERSON.foot);
    let take = perform(&person, 60.0, 90, |f| {
        let heel = 0.6 * (0.5 - 0.5 * (PI * f as f64 / 60.0).cos()).min(1.0);
        let rise = exp(&(Vec3::x() * heel)) * arm - arm;
        // Both legs at once, the hips over them.
        let reach = PERSON.thigh * 0.25_f64.cos() + PERSON.shin * 0.25_f64.cos();
        let drop = reach - PERSON.thigh - PERSON.shin;
        Instant { way: rise + Vec3::y() * drop, legs: [[0.25, 0.5, heel]; 2], ..Instant::default() }
    });
    let toes = |m: &Motion, f: usize| place(m, f, Role::Toes(Side::Left));
    let moved = |m: &Motion| (0..90).map(|f| (toes(m, f) - toes(m, 0)).norm()).fold(0.0, f64::max);
    let own = moved(&take);
    let long = character(&Build { foot: 0.2, prefix: "l_", ..PERSON });
    let result = onto(&take, &long);
    assert!(own < 0.01 && moved(&result) < own + 2e-3, "{own} {}", moved(&result));
}

#[test]
fn a_knee_that_passes_through_straight_does_not_pop() {
    let person = character(&PERSON);
    let take = perform(&person, 60.0, 120, |f| {
        // From 20 degrees through straight to 5 beyond, as captures do.
        let bend = (7.5 + 12.5 * (TAU * f as f64 / 60.0).cos()).to_radians();
        Instant { legs: [[0.1, bend, 0.0], [0.0; 3]], ..Instant::default() }
    });
    let result = onto(&take, &other());
    let jerk = |m: &Motion| {
        let shins: Vec<Vec3> = (0..120)
            .map(|f| place(m, f, Role::Foot(Side::Left)) - place(m, f, Role::LowerLeg(Side::Left)))
            .collect();
        let third = |w: &[Vec3]| (w[3] - w[2] * 3.0 + w[1] * 3.0 - w[0]).norm_squared();
        (shins.windows(4).map(third).sum::<f64>()).sqrt()
    };
    let scale = ready(&take, &other()).scale();
    assert!(jerk(&result) < 1.3 * scale * jerk(&take), "{} {}", jerk(&result), scale * jerk(&take));
}

#[test]
fn feet_on_a_treadmill_keep_their_stride() {
    let take = walk(&character(&PERSON), 161, 40, 0, false);
    let target = other();
    let (result, direct) = (onto(&take, &target), ready(&take, &target).direct_transfer(&take));
    let stride = |m: &Motion| {
        let z = |f: usize| (place(m, f, Role::Foot(Side::Left)) - place(m, f, Role::Hips)).z;
        let all: Vec<f64> = (0..160).map(z).collect();
        all.iter().copied().fold(f64::MIN, f64::max) - all.iter().copied().fold(f64::MAX, f64::min)
    };
    let ratio = stride(&result) / stride(&direct);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// A person who climbs steps of `rise` metres, and the middle frame of every contact with its side.
fn climb(rise: f64) -> (Motion, Vec<(usize, Side)>) {
    const CYCLE: usize = 90;
    let b = PERSON;
    let who = character(&b);
    let hips = b.thigh + b.shin + b.sole[0] + b.sole[1];
    // Steps climbed by a foot that is planted for three fifths of its cycle.
    let steps = |cycles: f64| 2.0 * (cycles.floor() + smoothstep((cycles.fract() - 0.6) / 0.4));
    let tread = |steps: f64| Vec3::new(0.0, rise * steps, 0.3 * steps);
    let take = perform(&who, 60.0, 5 * CYCLE, |f| {
        let cycles = f as f64 / CYCLE as f64;
        let way = tread(2.0 * cycles - 0.3) - Vec3::y() * (0.06 + 0.9 * rise);
        let leg = |side: f64| {
            let over = 0.1 * (PI * ((cycles + side).fract() - 0.6).max(0.0) / 0.4).sin();
            let ankle = tread(steps(cycles + side) - 2.0 * side) + Vec3::y() * (b.sole[0] + b.sole[1] + over);
            let off = ankle - way - Vec3::y() * hips;
            let d = off.norm();
            assert!(d < b.thigh + b.shin, "the leg reaches");
            let bend = PI - ((b.thigh.powi(2) + b.shin.powi(2) - d * d) / (2.0 * b.thigh * b.shin)).acos();
            let at_hip = ((b.thigh.powi(2) + d * d - b.shin.powi(2)) / (2.0 * b.thigh * d)).acos();
            [off.z.atan2(-off.y) + at_hip, bend, 0.0]
        };
        Instant { way, legs: [leg(0.0), leg(0.5)], ..Instant::default() }
    });
    let middle = |cycle: usize| {
        let at = |side: f64| ((cycle as f64 + 0.3 + side) * CYCLE as f64) as usize;
        [(at(0.0), Side::Left), (at(0.5), Side::Right)]
    };
    (take, (0..4).flat_map(middle).collect())
}

#[test]
fn feet_stand_on_the_steps_of_stairs() {
    for rise in [0.0, 0.12, 0.18] {
        let (take, stands) = climb(rise);
        let target = other();
        let result = onto(&take, &target);
        let ratio = (0.36 + 0.38) / (PERSON.thigh + PERSON.shin);
        let ankle = |m: &Motion, f: usize, side| place(m, f, Role::Foot(side));
        let (first, side) = stands[0];
        let start = ankle(&result, first, side).y - ratio * ankle(&take, first, side).y;
        for &(f, side) in &stands {
            let wanted = ratio * ankle(&take, f, side).y + start;
            let off = ankle(&result, f, side).y - wanted;
            assert!(off.abs() < 0.005, "{rise} m, frame {f}: {off} m above its step");
            let way = ankle(&result, f + 12, side) - ankle(&result, f - 12, side);
            assert!(way.norm() < 0.006, "{rise} m, frame {f}: slips by {} m in 0.4 s", way.norm());
        }
    }
}

/// A standing body whose left foot slides forwards by 10 cm in a second, labelled as in contact.
fn drifting() -> Motion {
    let person = character(&PERSON);
    let mut motion = perform(&person, 60.0, 90, |f| {
        let swing = 0.12 * (f as f64 / 60.0).min(1.0);
        Instant {
            way: Vec3::y() * -0.03,
            legs: [[0.3 + swing, 0.5, 0.0], [0.3, 0.5, 0.0]],
            ..Instant::default()
        }
    });
    let mut contacts = Contacts::new(0.0, []);
    for side in Side::BOTH {
        for part in [ContactPart::Heel(side), ContactPart::Ball(side)] {
            contacts.set(part, vec![Hold { frames: 0..90, height: 0.0, slide: 0.0 }]);
        }
    }
    motion.contacts = Some(contacts);
    motion
}

#[test]
fn drift_of_labelled_feet_is_taken_away_and_nothing_else_is_touched() {
    let motion = drifting();
    let (held, feet, _) = remove_foot_sliding(motion.clone(), &Settings::default());
    let way = |m: &Motion, side: Side| {
        let level = |v: Vec3| v.x.hypot(v.z);
        level(place(m, 89, Role::Foot(side)) - place(m, 0, Role::Foot(side)))
    };
    assert!(way(&motion, Side::Left) > 0.08, "{}", way(&motion, Side::Left));
    assert!(way(&held, Side::Left) < 0.015, "{}", way(&held, Side::Left));
    assert!(way(&held, Side::Right) < 0.01, "{}", way(&held, Side::Right));
    assert!(feet.iter().any(|foot| foot.pinned > 60));
    // Heights and the directions of feet stay.
    for f in 0..90 {
        let foot =
            |m: &Motion| *m.model_pose(f).joint(m.character.rig.joint(Role::Foot(Side::Left)).unwrap());
        assert!(foot(&held).rotation.angle_to(&foot(&motion).rotation) < 1e-6);
        assert!((foot(&held).translation.y - foot(&motion).translation.y).abs() < 4e-3);
    }
    // Planted feet and feet without labels are unchanged, bit for bit.
    let free = Motion { contacts: Some(Contacts::new(0.0, [])), ..motion.clone() };
    assert_eq!(remove_foot_sliding(free.clone(), &Settings::default()).0.clip, motion.clip);
    let resting = perform(&character(&PERSON), 60.0, 90, |_| Instant::default());
    let resting = Motion { contacts: motion.contacts.clone(), ..resting };
    assert_eq!(remove_foot_sliding(resting.clone(), &Settings::default()).0.clip, resting.clip);
}

#[test]
fn a_foot_that_slides_as_in_the_take_is_not_held_and_a_held_one_is_held_once() {
    let motion = drifting();
    let free = motion.contacts.clone().unwrap().sliding(|_, _| f64::INFINITY);
    let contacts = with_slides(&motion, free, &Timeline::of(&motion));
    let drifts = contacts.holds(ContactPart::Ball(Side::Left))[0].slide;
    assert!((0.08..0.16).contains(&drifts), "{drifts} leg lengths per second");
    let (same, _, _) =
        remove_foot_sliding(Motion { contacts: Some(contacts), ..motion.clone() }, &Settings::default());
    assert_eq!(same.clip, motion.clip);
    // Half of the drift is the take's.
    let half = motion.contacts.clone().unwrap().sliding(|_, _| 0.5 * drifts);
    let (halved, _, _) =
        remove_foot_sliding(Motion { contacts: Some(half), ..motion.clone() }, &Settings::default());
    let way = |m: &Motion| (place(m, 89, Role::Foot(Side::Left)) - place(m, 0, Role::Foot(Side::Left))).z;
    let left = way(&halved) / way(&motion);
    assert!((0.4..0.65).contains(&left), "{left} of the drift");
    for once in [halved, remove_foot_sliding(motion, &Settings::default()).0] {
        let (twice, _, _) = remove_foot_sliding(once.clone(), &Settings::default());
        let turn = |(a, b): (&Quat, &Quat)| a.angle_to(b).to_degrees();
        let most =
            once.clip.all_rotations().iter().zip(&twice.clip.all_rotations()).map(turn).fold(0.0, f64::max);
        assert!(most < 0.1, "{most} degrees");
    }
}

#[test]
fn nobody_sits_in_the_floor() {
    let person = character(&PERSON);
    // It stands, sits down on the floor with its legs ahead and its arms down, and stands up.
    let down = |f: usize| 1.0 - smoothstep((f as f64 - 40.0).abs() / 20.0 - 0.5);
    let take = perform(&person, 30.0, 81, |f| {
        let leg = [0.5 * PI * down(f), 0.0, 0.0];
        Instant { way: Vec3::y() * -(0.86 * down(f)), legs: [leg, leg], ..Instant::default() }
    });
    let mannequin =
        load(concat!(env!("CARGO_MANIFEST_DIR"), "/data/mannequin.glb"), &ImportOptions::default());
    let mannequin = mannequin.unwrap().character;
    let direct = ready(&take, &mannequin).direct_transfer(&take);
    let result = onto(&take, &mannequin);
    let low = |motion: &Motion| (0..81).map(|f| lowest_skin(motion, f)).fold(f64::INFINITY, f64::min);
    // Skin with several joints is approximated by one of them: half a centimetre.
    assert!(low(&direct) < -0.05 && low(&result) > -0.015, "{} {}", low(&direct), low(&result));
    // While it stands nothing is raised: hips rise no sooner than a fifth of a second before the contact.
    let hips = |f: usize| place(&result, f, Role::Hips).y;
    assert!((0..8).all(|f| (hips(f) - hips(0)).abs() < 2e-3));
}

#[test]
fn a_long_foot_tilts_less_and_its_body_does_not_hop() {
    let person = character(&PERSON);
    let clown = character(&Build { foot: 0.35, prefix: "b_", ..PERSON });
    // The heels rise about the balls and come down again.
    let take = perform(&person, 60.0, 90, |f| {
        let heel = 0.5 * (PI * (f as f64 / 89.0)).sin().powi(2);
        let legs = [[0.0, 0.0, heel]; 2];
        let [ahead, down] = [PERSON.foot, PERSON.sole[1]];
        // The toe joint does not move.
        let up = ahead * heel.sin() + down * (heel.cos() - 1.0);
        let fore = ahead * (1.0 - heel.cos()) + down * heel.sin();
        Instant { way: Vec3::new(0.0, up, fore), legs, ..Instant::default() }
    });
    let result = onto(&take, &clown);
    let rise = |m: &Motion| place(m, 45, Role::Foot(Side::Left)).y - place(m, 0, Role::Foot(Side::Left)).y;
    let (own, other) = (rise(&result), rise(&take));
    assert!(
        own < 1.4 * other && own > 0.7 * other,
        "{own} {other}: copied as it is the ankle rises by 2.5 times as much"
    );
}

/// Heels rise about the balls by `most` radians, then the legs are drawn up, and back.
fn heel_off(who: &Arc<Character>, most: f64) -> Motion {
    perform(who, 60.0, 120, |f| {
        let there = 1.0 - (f as f64 / 59.5 - 1.0).abs();
        let (heel, drawn) = (smoothstep(there / 0.5), smoothstep((there - 0.5) / 0.5));
        let heel = heel * most;
        let [ahead, down] = [PERSON.foot, PERSON.sole[1]];
        let up = ahead * heel.sin() + down * (heel.cos() - 1.0);
        let fore = ahead * (1.0 - heel.cos()) + down * heel.sin();
        // The pelvis stays where the legs are straight: the feet leave the ground by the bend of the knees.
        let legs = [[0.9 * drawn, 1.8 * drawn, heel]; 2];
        Instant { way: Vec3::new(0.0, up, fore), legs, ..Instant::default() }
    })
}

/// The largest angle between the rotations of the left foot in take and result over some frames, degrees.
fn feet_apart(take: &Motion, result: &Motion, frames: impl Iterator<Item = usize>) -> f64 {
    let foot = |m: &Motion, f: usize| {
        let id = m.character.rig.joint(Role::Foot(Side::Left)).unwrap();
        m.model_pose(f).joint(id).rotation
    };
    frames.map(|f| foot(take, f).angle_to(&foot(result, f)).to_degrees()).fold(0.0, f64::max)
}

#[test]
fn a_foot_of_common_length_is_rotated_exactly_as_the_take_s() {
    let take = heel_off(&character(&PERSON), 1.2);
    for longer in [0.8, 1.0, 1.3] {
        let foot = PERSON.foot * longer;
        let result = onto(&take, &character(&Build { foot, prefix: "b_", ..PERSON }));
        let apart = feet_apart(&take, &result, 0..120);
        assert!(apart < 0.1, "{longer}: {apart} degrees");
    }
}

#[test]
fn skin_and_bones_agree_about_the_length_of_a_foot() {
    let asset = load(concat!(env!("CARGO_MANIFEST_DIR"), "/data/mannequin.glb"), &ImportOptions::default());
    let skinned = asset.unwrap().character;
    let bare = Arc::new(Character { meshes: Vec::new(), ..(*skinned).clone() });
    let forefoot = |c: &Arc<Character>| LimbChain::of(&CharacterBody::new(c), Side::Left).unwrap().forefoot;
    let (skin, bones) = (forefoot(&skinned), forefoot(&bare));
    assert!((skin / bones - 1.0).abs() < 0.05, "{skin} {bones}");
}

#[test]
fn a_foot_that_is_a_third_longer_keeps_its_heel_off() {
    let take = heel_off(&character(&PERSON), 1.2);
    let result = onto(&take, &character(&Build { foot: 1.3 * PERSON.foot, prefix: "b_", ..PERSON }));
    let apart = feet_apart(&take, &result, 0..120);
    assert!(apart < 0.1, "{apart} degrees");
}

#[test]
fn a_long_foot_gets_its_tilt_back_while_it_is_clear_of_the_floor() {
    let take = heel_off(&character(&PERSON), 1.2);
    let result = onto(&take, &character(&Build { foot: 2.0 * PERSON.foot, prefix: "b_", ..PERSON }));
    let apart = |frames: std::ops::Range<usize>| feet_apart(&take, &result, frames);
    assert!(apart(28..32) > 20.0, "{} degrees on the ball", apart(28..32));
    assert!(apart(50..70) < 0.1, "{} degrees in the air", apart(50..70));
    // Not at once: what it tilts less changes by no more than 8 degrees in a sixtieth of a second.
    let steps = (1..120).map(|f| (apart(f..f + 1) - apart(f - 1..f)).abs());
    let most = steps.fold(0.0, f64::max);
    assert!(most < 8.0, "{most} degrees from frame to frame");
}

#[test]
fn a_clip_that_floats_evenly_is_placed_on_the_ground_by_a_constant() {
    let person = character(&PERSON);
    // Two centimetres above the ground, more or less, on straight legs.
    let take = perform(&person, 60.0, 120, |f| Instant {
        way: Vec3::y() * (0.02 + 0.008 * (0.9 * f as f64).sin()),
        ..Instant::default()
    });
    let (result, change) = place_on_ground(take.clone(), &always_on_the_ground(120), 0.0);
    let height = |m: &Motion, f: usize| place(m, f, Role::Hips).y;
    let lifted = height(&result, 0) - height(&take, 0);
    assert!((-0.022..-0.012).contains(&lifted) && change.drift == 0.0, "{lifted} {change:?}");
    for f in 0..120 {
        assert!((height(&result, f) - height(&take, f) - lifted).abs() < 1e-9, "{f}: the same displacement");
    }
}

#[test]
fn a_body_that_kneels_on_toes_in_the_floor_stands_on_the_floor_before_and_after() {
    // The left foot stays where it is; the right knee goes to the ground, and the toes behind it into it.
    let share = |f: usize| smoothstep(f as f64 / 60.0 - 1.0) * (1.0 - smoothstep(f as f64 / 60.0 - 3.0));
    let person = character(&PERSON);
    let take = perform(&person, 60.0, 300, |f| {
        let down = share(f);
        let bend = 1.0 * down;
        let reach = PERSON.thigh * bend.cos() + PERSON.shin * bend.cos();
        Instant {
            way: Vec3::y() * (reach - PERSON.thigh - PERSON.shin),
            legs: [[bend, 2.0 * bend, 0.0], [0.1 * down, 1.62 * down, 1.3 * down]],
            ..Instant::default()
        }
    });
    let lowest = (0..300).map(|f| place(&take, f, Role::Toes(Side::Right)).y).fold(f64::INFINITY, f64::min);
    let standing = place(&take, 0, Role::Toes(Side::Right)).y;
    assert!((0.03..0.1).contains(&(standing - lowest)), "{standing} {lowest}");
    let build = Build { thigh: 1.1 * PERSON.thigh, prefix: "b_", ..PERSON };
    let result = onto(&take, &character(&build));
    for f in [0, 40, 280] {
        let toes = place(&result, f, Role::Toes(Side::Left)).y;
        assert!((toes - standing).abs() < 0.005, "{f}: {toes} instead of {standing}");
    }
}

/// Contacts of both feet in all frames, on the ground.
fn always_on_the_ground(frames: usize) -> Contacts {
    let mut contacts = Contacts::new(0.0, []);
    for side in Side::BOTH {
        for part in [ContactPart::Heel(side), ContactPart::Ball(side)] {
            contacts.set(part, vec![Hold { frames: 0..frames, height: 0.0, slide: 0.0 }]);
        }
    }
    contacts
}

#[test]
fn each_shot_is_placed_on_the_ground_by_itself() {
    // Two shots, three metres from each other, of which one floats and one is in the floor.
    let way = |f: usize| if f < 60 { Vec3::y() * 0.05 } else { Vec3::new(3.0, -0.05, 0.0) };
    let take = perform(&character(&PERSON), 60.0, 120, |f| Instant { way: way(f), ..Instant::default() });
    let (result, _) = place_on_ground(take.clone(), &always_on_the_ground(120), 0.0);
    let lift = |f: usize| place(&result, f, Role::Hips).y - place(&take, f, Role::Hips).y;
    for f in 0..120 {
        let wanted = if f < 60 { -0.05 } else { 0.05 };
        assert!((lift(f) - wanted).abs() < 0.002, "{f}: {} for {wanted}", lift(f));
    }
}

#[test]
fn a_cycle_that_drifts_stays_a_cycle_on_the_ground() {
    let height = |f: usize| 0.05 * (std::f64::consts::TAU * f as f64 / 1200.0).sin();
    let take = perform(&character(&PERSON), 60.0, 1201, |f| Instant {
        way: Vec3::y() * height(f % 1200),
        ..Instant::default()
    });
    let (result, change) = place_on_ground(take, &always_on_the_ground(1201), 0.0);
    let hips = |f: usize| place(&result, f, Role::Hips).y;
    assert!(change.drift > 0.08, "{change:?}");
    assert!((hips(1200) - hips(0)).abs() < 1e-9, "{} {}", hips(0), hips(1200));
    // The step over the seam is as the others.
    assert!((hips(1) - hips(0) - (hips(1200) - hips(1199))).abs() < 1e-4);
}

#[test]
fn a_labelled_foot_that_goes_somewhere_is_left_to_go() {
    let person = character(&PERSON);
    // Fifteen centimetres in a second.
    let take = perform(&person, 60.0, 60, |f| Instant {
        way: Vec3::z() * (0.15 * f as f64 / 59.0),
        ..Instant::default()
    });
    let mut contacts = Contacts::new(0.0, []);
    for part in [ContactPart::Heel(Side::Left), ContactPart::Ball(Side::Left)] {
        contacts.set(part, vec![Hold { frames: 0..60, height: 0.0, slide: 0.0 }]);
    }
    let (held, _, _) =
        remove_foot_sliding(Motion { contacts: Some(contacts), ..take.clone() }, &Settings::default());
    assert_eq!(apart(&held, &take, 0..60), 0.0);
}

/// The largest distance of hips, knees and ankles of `part` from where `whole` has them `start` frames later, metres; `frame` of
/// the part is at the same place.
fn off_whole(
    whole: &Motion,
    part: &Motion,
    start: usize,
    frame: usize,
    frames: std::ops::Range<usize>,
) -> f64 {
    let hips = |motion: &Motion, f: usize| place(motion, f, Role::Hips);
    let travelled = (hips(whole, frame + start) - hips(part, frame)).z * Vec3::z();
    let roles = |s: Side| [Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s)];
    let roles: Vec<Role> = Side::BOTH.into_iter().flat_map(roles).collect();
    let of = |f: usize| {
        let away = |role: &Role| (place(part, f, *role) + travelled - place(whole, f + start, *role)).norm();
        roles.iter().map(away).fold(0.0, f64::max)
    };
    frames.map(of).fold(0.0, f64::max)
}

/// A person with legs of other proportions, whose feet the copied rotations move at another speed than the source's.
fn short_shins() -> Arc<Character> {
    character(&Build { thigh: 0.6, shin: 0.3, hip: 0.14, foot: 0.25, sole: [0.03, 0.1], prefix: "b_" })
}

#[test]
fn a_stride_without_its_last_frame_is_the_stride() {
    let person = character(&PERSON);
    for travels in [false, true] {
        for phase in [0, 7, 15, 30] {
            let [cycle, open] = [41, 40].map(|frames| walk(&person, frames, 40, phase, travels));
            let [cycle, open] = [cycle, open].map(|take| onto(&take, &short_shins()));
            let off = off_whole(&cycle, &open, 0, 20, 0..40);
            assert!(off < 0.015, "phase {phase} travels {travels}: {off}");
        }
    }
}

#[test]
fn frames_of_a_walk_half_a_second_from_a_cut_do_not_depend_on_it() {
    let person = character(&PERSON);
    let whole = onto(&walk(&person, 321, 40, 0, true), &short_shins());
    for (start, frames) in [(80, 90), (93, 100), (107, 75)] {
        let part = onto(&walk(&person, frames, 40, start, true), &short_shins());
        let off = |of: std::ops::Range<usize>| off_whole(&whole, &part, start, frames / 2, of);
        let (inside, all) = (off(30..frames - 30), off(0..frames));
        assert!(inside < 0.01 && all < 0.06, "{start}: {inside} {all}");
    }
}
