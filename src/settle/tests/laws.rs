//! Weight on the project's own characters and takes: clean takes stay, what physics knows exactly comes right, what falls
//! comes to rest.

use posemill::contacts::{self, ContactOptions};
use posemill::import;
use posemill::legs::shifted;
use posemill::math::{Quat, Transform, Vec3, exp, smoothstep};
use posemill::measure::MetricContext;
use posemill::model::{Character, Clip, ContactPart, Contacts, Hold, JointId, ModelPose, Motion, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::scaled_motion::scaled;
use posemill::settle::{Ragdoll, RagdollRelease, Settled, Swing, release_ragdoll, settle_flights, swing};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn character(name: &str) -> Arc<Character> {
    import::load(shipped(name), &import::ImportOptions::default()).unwrap().character
}

/// A take on a character, with the contacts of the take.
fn performed(take: &str, name: &str) -> Motion {
    let take = import::load(shipped(take), &import::ImportOptions::default()).unwrap();
    let hero = character(name);
    let mut source = take.motion(0).unwrap();
    source.contacts = Some(contacts::detect(&source, &ContactOptions::default()));
    let joint_map = map(&take.character, &hero).unwrap();
    let rigs = (&take.character.rig, &hero.rig);
    Retarget::new(&take.character, Arc::clone(&hero), &joint_map, rigs, RootScale::Legs).apply(&source)
}

fn hips(motion: &Motion, frame: usize) -> Vec3 {
    place(motion, frame, Role::Hips)
}

fn place(motion: &Motion, frame: usize, role: Role) -> Vec3 {
    let model = motion.model_pose(frame);
    model.position(motion.character.rig.joint(role).unwrap())
}

#[test]
fn a_pose_goes_into_bodies_and_comes_back() {
    for name in ["mannequin.glb", "robot.glb"] {
        let motion = performed("walk.bvh", name);
        let skeleton = motion.character.skeleton();
        let ragdoll = Ragdoll::of(&motion.character).unwrap();
        assert!((15..=25).contains(&ragdoll.parts.len()), "{name}: {} bodies", ragdoll.parts.len());
        let sum: f64 = ragdoll.parts.iter().map(|p| p.mass).sum();
        assert!((sum - ragdoll.mass).abs() < 1e-9 * sum);
        assert!(ragdoll.parts.iter().enumerate().all(|(k, p)| p.parent.is_none_or(|q| q < k)));
        for frame in (0..motion.clip.frames()).step_by(37) {
            let pose = motion.clip.pose(skeleton, frame);
            let states = ragdoll.states(&ModelPose::of(skeleton, &pose));
            let back = ragdoll.pose(skeleton, &states, &pose);
            for (a, b) in pose.local().iter().zip(back.local()) {
                assert!(a.rotation.angle_to(&b.rotation) < 1e-9, "{name} {frame}");
                assert!((a.translation - b.translation).norm() < 1e-9, "{name} {frame}");
            }
        }
    }
}

/// Takes on characters of different size, each with the labels of its take.
fn performances() -> Vec<(String, Motion)> {
    let mut all = Vec::new();
    for take in ["walk.bvh", "jump.bvh", "turn.bvh"] {
        for name in ["mannequin.glb", "robot.glb"] {
            all.push((format!("{take} on {name}"), performed(take, name)));
        }
        let own = import::load(shipped(take), &import::ImportOptions::default()).unwrap();
        all.push((take.into(), own.motion(0).unwrap()));
    }
    all
}

fn labels(motion: &Motion) -> Contacts {
    motion.contacts.clone().unwrap_or_else(|| contacts::detect(motion, &ContactOptions::default()))
}

fn settled(motion: &Motion) -> Settled {
    let settled = settle_flights(motion, &labels(motion)).unwrap();
    settled.motion.iter().for_each(|changed| changed.check().unwrap());
    settled
}

/// The motion that comes out where something is mended.
fn mended(motion: &Motion) -> Motion {
    settled(motion).motion.expect("something is mended")
}

fn faults(settled: &Settled) -> Vec<&str> {
    settled.findings.iter().filter(|f| f.left.is_none()).map(|f| f.fault).collect()
}

/// The largest distance between the joints of two motions over some frames.
fn apart(a: &Motion, b: &Motion, frames: Range<usize>) -> f64 {
    let off = |f: usize| {
        let (x, y) = (a.model_pose(f), b.model_pose(f));
        let joints = x.joints().iter().zip(y.joints());
        joints.map(|(x, y)| (x.translation - y.translation).norm()).fold(0.0, f64::max)
    };
    frames.map(off).fold(0.0, f64::max)
}

/// The frames between which the jump is in the air, by its feet.
const AIR: Range<usize> = 120..170;

/// The jump with its hips on a straight line from take-off to landing.
fn on_a_line(jump: &Motion) -> Motion {
    let (off, on) = (hips(jump, AIR.start), hips(jump, AIR.end));
    let share = |f: usize| (f - AIR.start) as f64 / AIR.len() as f64;
    let way = |f: usize| match f {
        f if AIR.contains(&f) => Vec3::y() * (off.y + (on.y - off.y) * share(f) - hips(jump, f).y),
        _ => Vec3::zeros(),
    };
    shifted(jump.clone(), &(0..jump.clip.frames()).map(way).collect::<Vec<_>>())
}

/// The height of the centre of mass.
fn centre_of_mass(motion: &Motion, frame: usize) -> f64 {
    let (gauge, model) = (MetricContext::new(&motion.character), motion.model_pose(frame));
    gauge.particles().iter().map(|p| model.joint(p.joint).point(&p.at).y * p.mass).sum()
}

/// The motion carried down over half a second from a height at which it arrives late at `frame`.
fn late(motion: &Motion, frame: usize, height: f64) -> Motion {
    let way = |f: usize| {
        let t = (f as f64 - frame as f64) / motion.clip.sample_rate;
        Vec3::y() * (height * if t < 0.0 { smoothstep(1.0 + t / 0.15) } else { 1.0 - smoothstep(t / 0.5) })
    };
    shifted(motion.clone(), &(0..motion.clip.frames()).map(way).collect::<Vec<_>>())
}

#[test]
fn clean_takes_come_out_bit_for_bit() {
    for (name, motion) in performances() {
        let settled = settled(&motion);
        assert_eq!(faults(&settled), [""; 0], "{name}");
        assert!(settled.motion.is_none(), "{name}");
    }
}

#[test]
fn a_jump_on_a_line_flies_again() {
    for (name, clean) in performances().into_iter().filter(|(name, _)| name.starts_with("jump")) {
        let damaged = on_a_line(&clean);
        let settled = settled(&damaged);
        assert_eq!(faults(&settled), ["lost_flight"], "{name}");
        let frames = clean.clip.frames();
        let after = settled.motion.unwrap();
        let [was, is] = [&damaged, &after].map(|m| apart(m, &clean, 0..frames));
        println!("{name}: {was:.4} m -> {is:.4} m");
        // Within a tenth where the metres are those of the take; a body of another size has its gravity from the rates
        // before and after the flight.
        let most = if name.ends_with("robot.glb") { 0.15 } else { 0.1 };
        assert!(is < most * was, "{name}: {was} -> {is} m");
        // The centre of mass flies, not the hips: its arch is that of the fall of the take, which its hips tell.
        let sag =
            |at: &dyn Fn(usize) -> f64| at(AIR.start + AIR.len() / 2) - 0.5 * (at(AIR.start) + at(AIR.end));
        let wanted = sag(&|f| hips(&clean, f).y);
        let flown = sag(&|f| centre_of_mass(&after, f));
        println!("{name}: an arch of {flown:.4} m, {wanted:.4} m are right");
        assert!((flown - wanted).abs() < 0.01, "{name}: {flown} {wanted}");
        // A second pass finds nothing, and keeps every bit.
        let again = settle_flights(&after, &labels(&damaged)).unwrap();
        assert!(again.motion.is_none(), "{name}");
    }
}

#[test]
fn where_a_jump_was_made_and_which_way_it_went_changes_nothing() {
    let damaged = on_a_line(&performed("jump.bvh", "mannequin.glb"));
    let here = mended(&damaged);
    let carried = |motion: &Motion| {
        let turn: Quat = exp(&(Vec3::y() * 1.1));
        let mut moved = motion.clone();
        let id = motion.character.rig.joint(Role::Hips).unwrap();
        assert_eq!(moved.clip.translated(), [id]);
        for f in 0..moved.clip.frames() {
            let hips = motion.model_pose(f);
            let above =
                motion.character.skeleton().parent(id).map_or(Quat::identity(), |p| hips.joint(p).rotation);
            let at = turn * hips.position(id) + Vec3::new(3.0, 0.4, -2.0);
            let rotation = &mut moved.clip.rotations_mut(f)[id.index()];
            *rotation = above.inverse() * turn * above * *rotation;
            let parent =
                motion.character.skeleton().parent(id).map_or(Transform::identity(), |p| *hips.joint(p));
            moved.clip.translations_mut(f)[0] = parent.inverse().point(&at);
        }
        moved.contacts = motion.contacts.as_ref().map(|c| c.changed(|f| f, |y| y + 0.4));
        moved
    };
    let there = mended(&carried(&damaged));
    assert!(apart(&carried(&here), &there, 0..here.clip.frames()) < 1e-9);
}

#[test]
fn a_body_that_lands_late_comes_down() {
    for (name, clean) in performances().into_iter().filter(|(name, _)| name.starts_with("walk")) {
        let frames = clean.clip.frames();
        let damaged = late(&clean, frames / 2, 0.06);
        let settled = settled(&damaged);
        assert_eq!(faults(&settled), ["hover"], "{name}");
        let mean = |m: &Motion| {
            (0..frames).map(|f| (hips(m, f) - hips(&clean, f)).norm()).sum::<f64>() / frames as f64
        };
        let after = settled.motion.unwrap();
        let [was, is] = [&damaged, &after].map(mean);
        println!("{name}: {was:.4} m -> {is:.4} m");
        assert!(is < 0.6 * was, "{name}: {was} -> {is} m");
        let again = settle_flights(&after, &labels(&damaged)).unwrap();
        assert!(again.motion.is_none(), "{name}");
    }
}

#[test]
fn what_rests_on_a_hand_does_not_hover_and_higher_ground_is_left() {
    let clean = performed("walk.bvh", "mannequin.glb");
    let frames = clean.clip.frames();
    let mut held = late(&clean, frames / 2, 0.06);
    let mut contacts = labels(&held);
    contacts.set(ContactPart::Hand(Side::Left), vec![Hold { frames: 0..frames, height: 1.0, slide: 0.0 }]);
    held.contacts = Some(contacts);
    assert!(settled(&held).motion.is_none());
    let high = late(&clean, frames / 2, 0.2);
    let settled = settled(&high);
    assert!(settled.motion.is_none());
    assert!(settled.findings.iter().any(|f| f.fault == "hover" && f.left.is_some()));
}

#[test]
fn nothing_reaches_across_a_cut() {
    // The landing of the jump is somewhere else: no flight joins the two shots.
    let jump = on_a_line(&performed("jump.bvh", "mannequin.glb"));
    let away = |f: usize| if f < 145 { Vec3::zeros() } else { Vec3::new(2.0, 0.0, 1.0) };
    let cut = shifted(jump.clone(), &(0..jump.clip.frames()).map(away).collect::<Vec<_>>());
    assert_eq!(posemill::kinematics::cuts(&cut), [145]);
    assert!(settled(&cut).motion.is_none());
}

#[test]
fn what_no_contact_explains_is_told_and_left() {
    // Nobody stops in the air: a body that is carried aside at once at 3 m/s.
    let clean = performed("walk.bvh", "mannequin.glb");
    let (rate, frames) = (clean.clip.sample_rate, clean.clip.frames());
    let aside = |f: usize| Vec3::x() * (3.0 * (f as f64 - 0.5 * frames as f64).max(0.0) / rate).min(0.6);
    let pushed = shifted(clean.clone(), &(0..frames).map(aside).collect::<Vec<_>>());
    let settled = settled(&pushed);
    assert!(settled.motion.is_none());
    let told: Vec<_> = settled.findings.iter().filter(|f| f.fault == "unexplained_force").collect();
    assert!(
        told.iter().any(|f| f.frames[0] < frames / 2 + 5 && frames / 2 < f.frames[1] && f.left.is_some())
    );
}

#[test]
fn flights_that_agree_about_another_gravity_are_reported() {
    let jump = performed("jump.bvh", "mannequin.glb");
    let skeleton = jump.character.skeleton();
    // One flight alone may be a hop of a body that is caught.
    let played = [
        (3, 1.0, false),
        (3, 1.25, true),
        (2, 1.0, false),
        (2, 1.25, true),
        (2, 1.2, true),
        (2, 0.8, true),
        (1, 1.25, false),
    ];
    for (times, factor, reported) in played {
        let frames = jump.clip.frames();
        let poses: Vec<_> = (0..times * frames).map(|f| jump.clip.pose(skeleton, f % frames)).collect();
        let clip = Clip::from_poses("again", jump.clip.sample_rate * factor, skeleton, &poses);
        let motion = Motion { clip, contacts: None, ..jump.clone() };
        let settled = settled(&motion);
        assert!(settled.motion.is_none());
        let found = settled.findings.iter().find(|f| f.fault == "gravity");
        assert_eq!(found.is_some(), reported, "{times} times, {factor}: {found:?}");
        let why = found.and_then(|f| f.left.clone()).unwrap_or_default();
        // The rate at which the jump was made.
        let usual = why.split_once("(usual: ").map_or("", |(_, usual)| usual);
        assert_eq!(usual.contains("100"), reported, "{times} times, {factor}: {why}");
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    let motion = on_a_line(&performed("jump.bvh", "mannequin.glb"));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settled = pool.install(|| settled(&motion));
        (settled.motion, settled.unexplained)
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_performer_who_is_let_go_falls_and_rests() {
    let motion = performed("walk.bvh", "mannequin.glb");
    let how = RagdollRelease {
        hit: Some((Role::Spine(2), Vec3::new(10.0, 0.0, -80.0))),
        lasts: 4.0,
        ..RagdollRelease::default()
    };
    let fallen = release_ragdoll(&motion, &how).unwrap();
    fallen.motion.check().unwrap();
    let grown = fallen.energy.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
    println!(
        "energy {} -> {}, grown by at most {grown}, penetration {}, limits {} deg, rests after {:?}",
        fallen.energy[0],
        fallen.energy.last().unwrap(),
        fallen.penetration,
        fallen.excess.to_degrees(),
        fallen.rests_after
    );
    let last = fallen.motion.clip.frames() - 1;
    assert!(hips(&fallen.motion, last).y < 0.35, "it lies at {}", hips(&fallen.motion, last).y);
    assert!(fallen.rests_after.is_some_and(|t| t < 3.0), "{:?}", fallen.rests_after);
    assert!(fallen.penetration < 5e-3, "{}", fallen.penetration);
    let (bones, which) = super::nearest_bones(&fallen.motion, fallen.from);
    assert!(bones > super::PASSING, "{bones} radii apart: {which}");
    assert!(fallen.overlap < 2e-3, "{}", fallen.overlap);
    assert!(fallen.excess.to_degrees() < 1.0, "{}", fallen.excess.to_degrees());
    assert!(grown < 1e-9 * fallen.energy[0], "{grown}");
}

#[test]
fn a_performer_in_the_floor_is_raised_out_of_it_before_the_fall() {
    let deep = 0.12;
    let motion = performed("walk.bvh", "mannequin.glb");
    let sunk = shifted(motion.clone(), &vec![Vec3::y() * -deep; motion.clip.frames()]);
    let how = RagdollRelease { lasts: 3.0, ..RagdollRelease::default() };
    let fallen = release_ragdoll(&sunk, &how).unwrap();
    let (depth, raised) = fallen.sunk.expect("it is in the floor");
    assert!(raised && (depth - deep).abs() < 0.01, "{depth}");
    assert!(fallen.penetration < 5e-3, "{}", fallen.penetration);
    // What is far before the release stays, and nothing jumps.
    let early = fallen.from - (0.3 * motion.clip.sample_rate) as usize - 1;
    assert!(apart(&fallen.motion, &sunk, 0..early) < 1e-12);
    let step = |f: usize| (hips(&fallen.motion, f + 1) - hips(&fallen.motion, f)).norm();
    let quickest = (0..fallen.from).map(step).fold(0.0, f64::max) * motion.clip.sample_rate;
    assert!(quickest < 3.0, "{quickest} m/s");
    // Ground of another place is reported, and nobody flies onto it.
    let how = RagdollRelease { ground: 1.0, lasts: 0.1, ..RagdollRelease::default() };
    assert!(
        release_ragdoll(&motion, &how).unwrap().sunk.is_some_and(|(depth, raised)| !raised && depth > 0.9)
    );
}

/// Powers of two, so that a figure of any size is the same to the bit once it is scaled to the common height.
#[test]
fn a_figure_of_any_size_falls_alike_in_the_same_time() {
    let motion = performed("walk.bvh", "mannequin.glb");
    let fall = |motion: &Motion| {
        let hit = Some((Role::Spine(2), Vec3::new(10.0, 0.0, -80.0)));
        let how = RagdollRelease { hit, lasts: 1.0, ..RagdollRelease::default() };
        release_ragdoll(motion, &how).unwrap()
    };
    let one = fall(&motion);
    for factor in [64.0, 0.5] {
        let other = fall(&scaled(&motion, factor));
        assert_eq!(other.energy, one.energy, "{factor}");
        let (a, b) = (&one.motion, &other.motion);
        assert_eq!(a.clip.frames(), b.clip.frames());
        for (a, b) in a.poses().iter().zip(b.poses()) {
            for (a, b) in a.local().iter().zip(b.local()) {
                assert_eq!(a.rotation, b.rotation, "{factor}");
                assert_eq!(a.translation * factor, b.translation, "{factor}");
            }
        }
    }
}

#[test]
fn a_tail_swings_as_a_whole_and_the_body_stays() {
    let motion = performed("turn.bvh", "tailed.glb");
    let skeleton = motion.character.skeleton();
    let top = skeleton.find("tail_01").unwrap();
    let (swung, farthest) = swing(&motion, &[top], &Swing::default());
    swung.check().unwrap();
    println!("largest rotation of a joint of the tail {} deg", farthest.to_degrees());
    let bend = |id: JointId| {
        let angle =
            |f| swung.clip.local(skeleton, f, id).rotation.angle_to(&skeleton.joint(id).rest.rotation);
        (0..motion.clip.frames()).map(angle).fold(0.0, f64::max)
    };
    let tail: Vec<f64> = skeleton.ids().filter(|&id| skeleton.is_ancestor(top, id)).map(bend).collect();
    println!("{:.1?} deg", tail.iter().map(|bend| bend.to_degrees()).collect::<Vec<_>>());
    let [least, most] = [f64::min, f64::max].map(|of| tail.iter().copied().reduce(of).unwrap());
    assert!(most < 3.0 * least && tail.iter().sum::<f64>() > 0.3, "{tail:?}");
    for frame in 0..motion.clip.frames() {
        for id in skeleton.ids().filter(|&id| !skeleton.is_ancestor(top, id)) {
            assert_eq!(swung.clip.local(skeleton, frame, id), motion.clip.local(skeleton, frame, id));
        }
    }
}

#[test]
fn a_tail_swings_alike_on_a_figure_of_any_size() {
    let motion = performed("turn.bvh", "tailed.glb");
    let top = motion.character.skeleton().find("tail_01").unwrap();
    let (one, farthest) = swing(&motion, &[top], &Swing::default());
    assert!(farthest > 0.1, "{farthest}");
    for factor in [64.0, 1.0 / 64.0] {
        let (other, _) = swing(&scaled(&motion, factor), &[top], &Swing::default());
        for (a, b) in one.poses().iter().zip(other.poses()) {
            for (a, b) in a.local().iter().zip(b.local()) {
                assert!(
                    a.rotation.angle_to(&b.rotation) < 1e-6,
                    "{factor}: {}",
                    a.rotation.angle_to(&b.rotation)
                );
            }
        }
    }
}
