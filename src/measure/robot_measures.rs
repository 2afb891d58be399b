//! The measures of robots: ranges and speeds of hinges, jumps, soles on the floor, time above it, parts in each other.
//!
//! Definitions follow PHUMA (arXiv 2510.26236: ranges, floating, penetration and skating of feet), NMR (2603.22201: collisions, jumps).
//! Unlike other measures, lengths are the robot's own. Collisions are those of capsules around the robot's shapes.

use super::catalogue::metric;
use crate::kinematics::GRAVITY;
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
/// A robot whose lowest part is farther from the floor than this has nothing to stand on, metres (ProtoMotions).
const OFF_GROUND: f64 = 0.1;
/// The base of a robot in flight falls with more than this share of gravity, in the mean over the flight: the path of a robot of half a
/// person's size falls half as fast, and tucked legs take as much again from its base.
const FALLS: f64 = 0.25;

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

/// The measures of a robot's motion; none for other characters. `cuts` are the frames that follow a cut of the take: planted feet may be
/// elsewhere after one. Hinges may not: a tracker has to follow what is in the file.
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
    let speeds: Vec<f64> = (1..frames).map(step).collect();
    found.push(metric("robot_hinge_speed_max", speeds.iter().copied().fold(0.0, f64::max)));
    found.extend(speed_ratio(&body, &own).map(|ratio| metric("robot_speed_ratio_max", ratio)));
    let jumps = speeds.iter().filter(|speed| **speed > JUMPS * JUMP_RATE).count();
    found.push(metric("robot_jumps", jumps as f64));
    found.push(metric("robot_off_floor_max", off_floor(&own, &states, contacts)));
    let steps: Vec<usize> = (1..frames).filter(|frame| !cuts.contains(frame)).collect();
    found.extend(
        contacts.map(|labels| planted(&body.soles, &states, labels, &steps, own.rate)).into_iter().flatten(),
    );
    found
}

/// The longest time, seconds, in which no part of the robot is near the floor, nor near what holds a part of the take, while its base does
/// not fall.
fn off_floor(own: &RobotMotion, states: &[FrameState], contacts: Option<&Contacts>) -> f64 {
    // Heights above uneven ground are above what holds the feet already.
    let level = contacts.filter(|contacts| contacts.uneven().is_none());
    let mut support = vec![0.0f64; states.len()];
    for hold in level.iter().flat_map(|contacts| contacts.parts().flat_map(|part| contacts.holds(part))) {
        let frames = hold.frames.start.min(states.len())..hold.frames.end.min(states.len());
        support[frames].iter_mut().for_each(|height| *height = height.max(hold.height));
    }
    let off = |frame: usize| {
        let [left, right] = states[frame].soles;
        left.0.min(right.0).min(states[frame].others) - support[frame] > OFF_GROUND
    };
    let frames: Vec<usize> = (0..states.len()).collect();
    let spans = frames.chunk_by(|&a, &b| off(a) == off(b)).filter(|span| off(span[0]));
    let hovers = spans.filter(|span| {
        let heights: Vec<f64> = span.iter().map(|&frame| own.base[frame].translation.z).collect();
        mean_acceleration(&heights, own.rate) > -FALLS * GRAVITY
    });
    hovers.map(|span| span.len() as f64 / own.rate).fold(0.0, f64::max)
}

/// The acceleration of the parabola that is nearest to these heights, metres per second squared; 0 of fewer than three.
fn mean_acceleration(heights: &[f64], rate: f64) -> f64 {
    // Against the parabola without mean and slope: the second of the orthogonal polynomials.
    let middle = (heights.len() as f64 - 1.0) / 2.0;
    let square = |k: usize| (k as f64 - middle).powi(2);
    let mean = (0..heights.len()).map(square).sum::<f64>() / heights.len() as f64;
    let (sum, norm) = heights.iter().enumerate().fold((0.0, 0.0), |(sum, norm), (k, height)| {
        let weight = square(k) - mean;
        (sum + weight * height, norm + weight * weight)
    });
    if norm > 0.0 { 2.0 * sum / norm * rate * rate } else { 0.0 }
}

/// The greatest speed of a hinge over the highest speed that the robot's file states for it; `None` if it states none.
fn speed_ratio(body: &RobotBody, own: &RobotMotion) -> Option<f64> {
    let fastest: Vec<(usize, f64)> =
        (body.robot.hinges.iter().enumerate()).filter_map(|(k, hinge)| Some((k, hinge.speed?))).collect();
    let ratio = |frame: usize| {
        let (before, now) = (own.values(frame - 1), own.values(frame));
        fastest.iter().map(|(k, most)| (now[*k] - before[*k]).abs() * own.rate / most).fold(0.0, f64::max)
    };
    (!fastest.is_empty()).then(|| (1..own.frames()).map(ratio).fold(0.0, f64::max))
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
