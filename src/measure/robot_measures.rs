//! The measures of robots: ranges and speeds of hinges, jumps, soles on the floor, parts in each other.
//!
//! Definitions follow PHUMA (arXiv 2510.26236: ranges, floating, penetration and skating of feet), NMR (2603.22201: collisions, jumps).
//! Unlike other measures, lengths are the robot's own. Collisions are those of capsules around the robot's shapes.

use super::catalogue::metric;
use crate::math::{Transform, Vec3, nearest_points_of_segments};
use crate::model::{ContactPart, Contacts, Hinge, Motion, RobotMotion, Side, model_from_world};
use crate::parallel;
use crate::report::Metric;
use crate::robot_body::{LinkCapsule, RobotBody, Sole};

/// Share of a hinge's range that a tracker can use (PHUMA).
const USABLE: f64 = 0.98;
/// A sole farther from the floor than this floats, or penetrates it, metres (PHUMA).
const OFF_FLOOR: f64 = 0.01;
/// A planted sole faster than this skates, m/s (PHUMA).
const SKATES: f64 = 0.1;
/// Parts that are deeper in each other than this collide, metres (NMR).
const COLLIDES: f64 = 0.001;
/// A hinge that moves more than this in 1/30 s jumps, radians (NMR).
const JUMPS: f64 = 0.5;
/// The rate at which jumps are defined, Hz.
const JUMP_RATE: f64 = 30.0;

/// What one frame says.
struct FrameState {
    in_range: bool,
    /// The largest angle of a hinge beyond the usable part of its range, radians.
    beyond: f64,
    collides: bool,
    /// Height of the lowest point of each sole above the ground, and where its link is.
    soles: [(f64, Transform); 2],
    /// The same of the lowest point of the capsules of other parts.
    others: f64,
}

/// The measures of a robot's motion; none for other characters. `cuts` are the frames that follow a cut of the take: nothing that moves
/// over one is judged.
pub(super) fn robot(motion: &Motion, contacts: Option<&Contacts>, cuts: &[usize]) -> Vec<Metric> {
    let Some(robot) = &motion.character.robot else { return Vec::new() };
    let (Ok(body), Ok(own)) = (RobotBody::of(robot), RobotMotion::of(motion)) else { return Vec::new() };
    let frames = own.frames();
    if frames == 0 {
        return Vec::new();
    }
    let states: Vec<FrameState> = parallel::map(frames, 1, |f| state(&body, &own, contacts, f));
    let share = |of: &dyn Fn(&FrameState) -> bool| {
        states.iter().filter(|state| of(state)).count() as f64 / frames as f64
    };
    let lowest = |state: &FrameState| state.soles[0].0.min(state.soles[1].0);
    let deepest = states.iter().map(|state| -lowest(state).min(state.others)).fold(0.0, f64::max);
    let beyond = states.iter().map(|state| state.beyond).fold(0.0, f64::max);
    let mut found = vec![
        metric("robot_in_range", share(&|state| state.in_range)),
        metric("robot_above_floor", share(&|state| lowest(state) > -OFF_FLOOR)),
        metric("robot_out_of_range_max", beyond),
        metric("robot_penetration_max", deepest),
        metric("robot_collides", share(&|state| state.collides)),
    ];
    let step = |frame: usize| {
        let (before, now) = (own.values(frame - 1), own.values(frame));
        before.iter().zip(now).map(|(a, b)| (b - a).abs() * own.rate).fold(0.0, f64::max)
    };
    let steps: Vec<usize> = (1..frames).filter(|frame| !cuts.contains(frame)).collect();
    let speeds: Vec<f64> = steps.iter().map(|&frame| step(frame)).collect();
    found.push(metric("robot_hinge_speed_max", speeds.iter().copied().fold(0.0, f64::max)));
    found.extend(speed_ratio(&body, &own, &steps).map(|ratio| metric("robot_speed_ratio_max", ratio)));
    let jumps = speeds.iter().filter(|speed| **speed > JUMPS * JUMP_RATE).count();
    found.push(metric("robot_jumps", jumps as f64));
    found.extend(
        contacts.map(|labels| planted(&body.soles, &states, labels, &steps, own.rate)).into_iter().flatten(),
    );
    found
}

/// The greatest speed of a hinge since the frames before `steps` over the highest speed that the robot's file states for it; `None` if it
/// states none.
fn speed_ratio(body: &RobotBody, own: &RobotMotion, steps: &[usize]) -> Option<f64> {
    let fastest: Vec<(usize, f64)> =
        (body.robot.hinges.iter().enumerate()).filter_map(|(k, hinge)| Some((k, hinge.speed?))).collect();
    let ratio = |&frame: &usize| {
        let (before, now) = (own.values(frame - 1), own.values(frame));
        fastest.iter().map(|(k, most)| (now[*k] - before[*k]).abs() * own.rate / most).fold(0.0, f64::max)
    };
    (!fastest.is_empty()).then(|| steps.iter().map(ratio).fold(0.0, f64::max))
}

fn state(body: &RobotBody, own: &RobotMotion, contacts: Option<&Contacts>, frame: usize) -> FrameState {
    let values = own.values(frame);
    let links = body.robot.links_in_world(own.base[frame], values);
    let beyond = |(hinge, value): (&Hinge, &f64)| {
        hinge.range.map_or(0.0, |[low, high]| {
            ((value - (low + high) / 2.0).abs() - (high - low) / 2.0 * USABLE).max(0.0)
        })
    };
    let all = || body.robot.hinges.iter().zip(values);
    let in_range = all().map(beyond).all(|beyond| beyond <= f64::from(f32::EPSILON));
    // A slide is in range or not; its excess is no angle.
    let beyond = all().filter(|(hinge, _)| !hinge.slides).map(beyond).fold(0.0, f64::max);
    // Above the ramp or stairs of the take, else above the floor at height 0.
    let above = |part: ContactPart, p: Vec3| {
        let ground = contacts.and_then(|own| own.height_under(part, frame, &(model_from_world() * p)));
        p.z - ground.unwrap_or(0.0)
    };
    let sole = |k: usize| {
        let sole = &body.soles[k];
        let at = links[sole.link];
        let part = ContactPart::Ball(Side::BOTH[k]);
        (sole.lowest(&at, |point| above(part, point)), at)
    };
    let low =
        |c: &LinkCapsule| c.ends.map(|end| above(ContactPart::Pelvis, links[c.link].point(&end)) - c.radius);
    let others = body.capsules.iter().filter(|c| !c.is_foot).flat_map(low).fold(f64::MAX, f64::min);
    FrameState { in_range, beyond, collides: collides(body, &links), soles: [sole(0), sole(1)], others }
}

fn collides(body: &RobotBody, links: &[Transform]) -> bool {
    let ends: Vec<[Vec3; 2]> =
        body.capsules.iter().map(|c| c.ends.map(|end| links[c.link].point(&end))).collect();
    body.near(&ends, 0.0).any(|[a, b]| {
        let [p, q] = nearest_points_of_segments(&ends[a], &ends[b]);
        (p - q).norm() < body.capsules[a].radius + body.capsules[b].radius - COLLIDES
    })
}

/// Shares of the frames in contact in which the foot is on the floor, and of those in which heel or ball rests without sliding. A foot
/// that rolls rests on one of them, and the rest of it moves.
fn planted(
    soles: &[Sole; 2],
    states: &[FrameState],
    contacts: &Contacts,
    steps: &[usize],
    rate: f64,
) -> Vec<Metric> {
    let (mut feet, mut on_floor, mut floats, mut points, mut still) = (0, 0, 0, 0, 0);
    for (k, side) in Side::BOTH.into_iter().enumerate() {
        let parts = [ContactPart::Heel(side), ContactPart::Ball(side)];
        for &frame in steps {
            let [(_, before), (low, now)] = [&states[frame - 1], &states[frame]].map(|state| state.soles[k]);
            let rests = parts.map(|part| contacts.rests(part, frame) && contacts.rests(part, frame - 1));
            feet += usize::from(rests.contains(&true));
            on_floor += usize::from(rests.contains(&true) && low < OFF_FLOOR);
            floats += usize::from(rests.contains(&true) && low.min(states[frame].others) >= OFF_FLOOR);
            for point in [0, 1].into_iter().filter(|&point| rests[point]) {
                points += 1;
                let own = [&soles[k].heel, &soles[k].ball][point];
                let slide = soles[k].slide(own, [&before, &now]);
                still += usize::from(slide.xy().norm() * rate < SKATES);
            }
        }
    }
    if feet == 0 {
        return Vec::new();
    }
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    vec![
        metric("robot_not_floating", share(on_floor, feet)),
        metric("robot_floating", share(floats, feet)),
        metric("robot_not_skating", share(still, points)),
    ]
}
