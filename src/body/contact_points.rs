//! The places of a body that can rest on something: soles from the skin where there is one, else from the bones.
//!
//! The pose measured is the bind pose, else the rest pose. Space: model space in, joint space out. Units: metres.

use crate::anatomy::Figure;
use crate::math::Vec3;
use crate::model::{Character, ContactPart, ContactPoint, Finger, JointId, ModelPose, Rig, Role, Side};

/// The leg that the radii below belong to, metres.
const LEG: f64 = 0.9;

/// The part of the foot's length, from its back, that is heel, and from its front that is toe tip.
const END: f64 = 0.2;

/// Where the ball of a foot lies whose toe joint is at no likely place, as a part of its length from the back.
const BALL: f64 = 0.7;

/// How far the underside of the heel lies behind the ankle, as a part of the way from the ankle to the ball, where there
/// is no skin to tell.
const HEEL: f64 = 0.35;

/// Skin this far above the lowest point of a foot, as a part of its length, belongs to its sole.
const SOLE: f64 = 0.15;

/// The places of `character` that can rest on something, in the order of [`ContactPart`]; none of a body without
/// legs.
///
/// Points of the foot lie on the sole; those of hands, elbows, knees, pelvis and head lie at the joint or in the middle
/// of the hand, with the thickness of the body around them.
pub fn contact_points(character: &Character, rig: &Rig) -> Vec<ContactPoint> {
    let bind = character.calibration_pose();
    let Some(figure) = Figure::of(rig, &bind) else { return Vec::new() };
    let skin =
        skin_of_feet(character, rig, &bind).map(|of| of.into_iter().map(|(_, p)| p).collect::<Vec<_>>());
    let mut points = Vec::new();
    for side in Side::BOTH {
        points.extend(sole(rig, &bind, &figure, side, &skin[usize::from(side == Side::Right)]));
        let mut round = |part: ContactPart, role: Role, at: Option<Vec3>, radius: f64| {
            let Some(joint) = rig.joint(role) else { return };
            let at = at.map_or(Vec3::zeros(), |p| bind.joint(joint).inverse().point(&p));
            points.push(ContactPoint { part, joint, at, radius: radius * figure.leg / LEG });
        };
        let wrist = rig.joint(Role::Hand(side)).map(|id| bind.position(id));
        let knuckle = rig.joint(Role::Finger(side, Finger::Middle, 0)).map(|id| bind.position(id));
        let palm = wrist.zip(knuckle).map(|(a, b)| (a + b) * 0.5);
        round(ContactPart::Hand(side), Role::Hand(side), palm, 0.02);
        round(ContactPart::Elbow(side), Role::LowerArm(side), None, 0.04);
        round(ContactPart::Knee(side), Role::LowerLeg(side), None, 0.05);
        if side == Side::Right {
            round(ContactPart::Pelvis, Role::Hips, Some(figure.pelvis), 0.1);
            round(ContactPart::Head, Role::Head, None, 0.1);
        }
    }
    points.sort_by_key(|p| p.part);
    points
}

/// The skin of the left and of the right foot in model space: vertices that a joint of the foot moves most, with it.
pub(super) fn skin_of_feet(character: &Character, rig: &Rig, bind: &ModelPose) -> [Vec<(JointId, Vec3)>; 2] {
    let skeleton = character.skeleton();
    let mut of_foot = vec![None; skeleton.len()];
    for (k, side) in Side::BOTH.into_iter().enumerate() {
        let tops = [Role::Foot(side), Role::Toes(side)].map(|role| rig.joint(role));
        for id in skeleton.ids() {
            let own = tops.contains(&Some(id));
            if own || skeleton.parent(id).is_some_and(|p| of_foot[p.index()] == Some(k)) {
                of_foot[id.index()] = Some(k);
            }
        }
    }
    let mut skin = [Vec::new(), Vec::new()];
    for mesh in &character.meshes {
        for ((p, joints), weights) in mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights) {
            let heaviest = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
            let Some(binding) = mesh.bindings.get(usize::from(joints[heaviest])) else { continue };
            let Some(k) = of_foot[binding.joint.index()] else { continue };
            let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
            let inside = binding.joint_from_mesh.transform_point(&p.into()).coords;
            skin[k].push((binding.joint, bind.joint(binding.joint).point(&inside)));
        }
    }
    skin
}

/// Heel, ball and toe tip of one foot.
fn sole(rig: &Rig, bind: &ModelPose, figure: &Figure, side: Side, skin: &[Vec3]) -> Vec<ContactPoint> {
    let Some(foot) = rig.joint(Role::Foot(side)) else { return Vec::new() };
    let skeleton = rig.skeleton();
    let toes = rig.joint(Role::Toes(side));
    let ankle = bind.position(foot);
    let tip_of = |id: JointId| skeleton.joint(id).tip.map(|tip| bind.joint(id).point(&tip));
    let up = figure.up;
    let ahead = |p: &Vec3| (p - ankle) - up * (p - ankle).dot(&up);
    let end = toes.and_then(tip_of).or_else(|| toes.map(|t| bind.position(t))).or_else(|| tip_of(foot));
    let front = end.and_then(|p| ahead(&p).try_normalize(1e-6)).unwrap_or_else(|| figure.left.cross(&up));
    let across = up.cross(&front);
    let along = |p: &Vec3| (p - ankle).dot(&front);
    let height = |p: &Vec3| (p - ankle).dot(&up);
    let place = |x: f64, y: f64, z: f64| ankle + front * x + up * y + across * z;
    let ball_joint = toes.unwrap_or(foot);
    let point = |part, joint: JointId, p: Vec3| ContactPoint {
        part,
        joint,
        at: bind.joint(joint).inverse().point(&p),
        radius: 0.0,
    };
    let parts = [ContactPart::Heel(side), ContactPart::Ball(side), ContactPart::Toe(side)];
    let joints = [foot, ball_joint, ball_joint];

    if skin.len() >= 8 {
        let range = |of: &dyn Fn(&Vec3) -> f64| {
            skin.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
        };
        let (low, _) = range(&height);
        // The shaft of a boot lies behind no heel: only what is near the ground counts.
        let near = |p: &&Vec3| height(p) < low + 0.25 * figure.leg;
        let (back, tip) = skin
            .iter()
            .filter(near)
            .map(along)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let length = tip - back;
        if length > 0.02 * figure.leg {
            let ball = toes
                .map(|t| along(&bind.position(t)))
                .filter(|x| (0.4..0.9).contains(&((x - back) / length)));
            // A foot without a toe joint does not bend: it rolls off over its tip.
            let stiff = if toes.is_none() { tip } else { back + BALL * length };
            let ball = ball.unwrap_or(stiff);
            let front_end = (tip - END * length, tip);
            let around = (ball - 0.5 * END * length, ball + 0.5 * END * length);
            let spans =
                [(back, back + END * length), if ball == tip { front_end } else { around }, front_end];
            let lowest = |(from, to): (f64, f64)| {
                let within = || skin.iter().filter(move |p| (from..=to).contains(&along(p)));
                let bottom = within().map(height).fold(f64::INFINITY, f64::min);
                let sole: Vec<&Vec3> = within().filter(|p| height(p) < bottom + SOLE * length).collect();
                let mean =
                    sole.iter().map(|p| (*p - ankle).dot(&across)).sum::<f64>() / sole.len().max(1) as f64;
                // Box-like feet have no skin in the middle, or none low enough at an end: they stand on the plane
                // of what is lowest.
                let bottom = if bottom < low + SOLE * length { bottom } else { low };
                let x = match (from == back, to == tip) {
                    (true, _) => from + 0.25 * (to - from),
                    (_, true) => to,
                    _ => 0.5 * (from + to),
                };
                place(x, bottom, mean)
            };
            let found = spans.map(lowest).into_iter().zip(parts).zip(joints);
            return found.map(|((p, part), joint)| point(part, joint, p)).collect();
        }
    }

    // Bones only: the sole lies at the foot's own lowest joint or tip, the heel behind the ankle.
    // The feet of captured skeletons are not at one height, and each of them stands on its own.
    let below = skeleton.below(&[foot]);
    let of_foot = skeleton.ids().filter(|id| below[id.index()]);
    let ends = of_foot.flat_map(|id| [Some(bind.position(id)), tip_of(id)]).flatten();
    let bottom = ends.map(|p| height(&p)).fold(f64::INFINITY, f64::min);
    let bottom = if bottom < 0.0 { bottom } else { figure.sole - ankle.dot(&up) };
    let ball = toes.map(|t| bind.position(t)).or_else(|| tip_of(foot));
    let Some(ball) = ball else { return vec![point(parts[0], foot, place(0.0, bottom, 0.0))] };
    let length = along(&ball);
    let side_of = |p: &Vec3| (p - ankle).dot(&across);
    let tip = toes.and_then(tip_of).filter(|p| along(p) > length).unwrap_or(ball);
    vec![
        point(parts[0], foot, place(-HEEL * length, bottom, 0.0)),
        point(parts[1], ball_joint, place(length, bottom, side_of(&ball))),
        point(parts[2], ball_joint, place(along(&tip), bottom, side_of(&tip))),
    ]
}
