//! Contact points of a body: soles from the skin where there is one, else from the bones, and hands, knees and the like.
//!
//! Measured in the reference pose. Space: model space in, joint space out. Units: metres.

use super::support_points::all_around;
use crate::anatomy::{Figure, on_four_legs};
use crate::math::Vec3;
use crate::model::{Character, ContactPart, ContactPoint, Finger, JointId, ModelPose, Rig, Role, Side};

/// The length of the leg that the radii below belong to, metres.
const LEG: f64 = 0.9;
/// Heel and toe tip are this share of the foot's length, from its back and from its front.
const END: f64 = 0.2;
/// Position of the ball as a share of the foot's length from its back, where the toe joint is at no likely position.
const BALL: f64 = 0.7;
/// Distance of the heel's underside behind the ankle, as a share of the distance from ankle to ball, without skin.
const HEEL: f64 = 0.35;
/// Skin up to this height above the lowest point of a foot, as a share of its length, belongs to its sole.
const SOLE: f64 = 0.15;
/// A quadruped whose lowest skin is further below a hind foot than this, leg lengths, stands on paws that the foot does not
/// move: soles of one animal differ by less in height.
const PAW: f64 = 0.05;
/// A foot with fewer vertices than this counts as one without skin.
const FEWEST: usize = 8;

/// The contact points of `character` with the roles of `rig` in its reference pose `reference_pose`, in the order of [`ContactPart`].
///
/// Points of the foot lie on the sole, or above it by the thickness of a paw that the foot's joint does not move; those of
/// hands, elbows, knees, pelvis and head lie at the joint or in the middle of the hand, with the thickness of the body around
/// them.
pub fn contact_points(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    figure: &Figure,
) -> Vec<ContactPoint> {
    let lowest = lowest_skin(character, rig, reference_pose, figure);
    let skin = skin_of_feet(character, rig, reference_pose)
        .map(|of| of.into_iter().map(|(_, p)| p).collect::<Vec<_>>());
    let mut points = Vec::new();
    for (side, skin) in Side::BOTH.into_iter().zip(&skin) {
        points.extend(rig.joint(Role::Foot(side)).into_iter().flat_map(|foot| {
            let foot = Foot::of(rig, reference_pose, figure, side, foot);
            foot.sole_of_skin(skin).map_or_else(|| foot.sole_of_bones(), |sole| foot.on_paw(sole, lowest))
        }));
        points.extend(shin_end(rig, side));
        let mut round = |part: ContactPart, role: Role, at: Option<Vec3>, radius: f64| {
            let Some(joint) = rig.joint(role) else { return };
            let at = at.map_or(Vec3::zeros(), |p| reference_pose.joint(joint).inverse().point(&p));
            points.push(ContactPoint { part, joint, at, radius: radius * figure.leg_to_sole / LEG });
        };
        let wrist = rig.joint(Role::Hand(side)).map(|id| reference_pose.position(id));
        let knuckle = rig.joint(Role::Finger(side, Finger::Middle, 0)).map(|id| reference_pose.position(id));
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

/// The heel of a leg without an ankle joint: the end of its shin, on which it stands.
fn shin_end(rig: &Rig, side: Side) -> Option<ContactPoint> {
    let joint = rig.joint(Role::LowerLeg(side)).filter(|_| rig.joint(Role::Foot(side)).is_none())?;
    let at = rig.skeleton().joint(joint).tip?;
    Some(ContactPoint { part: ContactPart::Heel(side), joint, at, radius: 0.0 })
}

/// The height of the lowest skin of a body on four legs, whose paws may hang on joints of their own, such as the targets of
/// IK; `None` for other bodies.
fn lowest_skin(character: &Character, rig: &Rig, reference_pose: &ModelPose, figure: &Figure) -> Option<f64> {
    if !on_four_legs(rig, reference_pose) {
        return None;
    }
    let vertices = character.meshes.iter().flat_map(|mesh| {
        let bound = mesh.drawn_vertices().filter_map(|vertex| mesh.in_heaviest_joint(vertex));
        bound.map(|(joint, inside)| reference_pose.joint(joint).point(&inside).dot(&figure.up))
    });
    vertices.min_by(f64::total_cmp)
}

/// The skin of the left and of the right foot in model space: vertices that a joint of the foot moves most, with it.
pub(super) fn skin_of_feet(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
) -> [Vec<(JointId, Vec3)>; 2] {
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
        for (joint, inside) in mesh.drawn_vertices().filter_map(|vertex| mesh.in_heaviest_joint(vertex)) {
            if let Some(k) = of_foot[joint.index()] {
                skin[k].push((joint, reference_pose.joint(joint).point(&inside)));
            }
        }
    }
    // The feet of a robot are its shapes.
    let Some(robot) = &character.robot else { return skin };
    let (_, of_links) = robot.joints();
    for (link, joint) in of_links.into_iter().enumerate() {
        let Some(k) = of_foot[joint.index()] else { continue };
        for shape in &robot.links[link].shapes {
            let model_from_joint = reference_pose.joint(joint);
            skin[k].extend(all_around().map(|direction| {
                let furthest = shape.furthest(&(model_from_joint.rotation.inverse() * direction));
                (joint, model_from_joint.point(&(furthest - robot.joint_in_link(link))))
            }));
        }
    }
    skin
}

/// One foot in the reference pose, with axes from its ankle: forwards along the ground, up, and across.
struct Foot<'a> {
    rig: &'a Rig,
    reference_pose: &'a ModelPose,
    figure: &'a Figure,
    side: Side,
    joint: JointId,
    toes: Option<JointId>,
    ankle: Vec3,
    front: Vec3,
    across: Vec3,
}

impl<'a> Foot<'a> {
    fn of(
        rig: &'a Rig,
        reference_pose: &'a ModelPose,
        figure: &'a Figure,
        side: Side,
        joint: JointId,
    ) -> Foot<'a> {
        let toes = rig.joint(Role::Toes(side));
        let (ankle, up) = (reference_pose.position(joint), figure.up);
        let tip_of =
            |id: JointId| rig.skeleton().joint(id).tip.map(|tip| reference_pose.joint(id).point(&tip));
        let ahead = |p: &Vec3| (p - ankle) - up * (p - ankle).dot(&up);
        let end = toes
            .and_then(tip_of)
            .or_else(|| toes.map(|t| reference_pose.position(t)))
            .or_else(|| tip_of(joint));
        let front = end.and_then(|p| ahead(&p).try_normalize(1e-6));
        let front = front.unwrap_or_else(|| figure.front());
        Foot { rig, reference_pose, figure, side, joint, toes, ankle, front, across: up.cross(&front) }
    }

    fn tip_of(&self, id: JointId) -> Option<Vec3> {
        self.rig.skeleton().joint(id).tip.map(|tip| self.reference_pose.joint(id).point(&tip))
    }

    fn along(&self, p: &Vec3) -> f64 {
        (p - self.ankle).dot(&self.front)
    }

    fn height(&self, p: &Vec3) -> f64 {
        (p - self.ankle).dot(&self.figure.up)
    }

    fn position(&self, x: f64, y: f64, z: f64) -> Vec3 {
        self.ankle + self.front * x + self.figure.up * y + self.across * z
    }

    /// Heel, ball or toe tip (0, 1 or 2) at a position in model space; ball and tip move with the toes where there are any.
    fn point(&self, which: usize, p: Vec3) -> ContactPoint {
        let part = [ContactPart::Heel, ContactPart::Ball, ContactPart::Toe][which](self.side);
        let joint = if which == 0 { self.joint } else { self.toes.unwrap_or(self.joint) };
        ContactPoint { part, joint, at: self.reference_pose.joint(joint).inverse().point(&p), radius: 0.0 }
    }

    /// Heel, ball and toe tip of a foot with this skin in model space; `None` where there is not enough of it.
    fn sole_of_skin(&self, skin: &[Vec3]) -> Option<Vec<ContactPoint>> {
        if skin.len() < FEWEST {
            return None;
        }
        let range = |range: (f64, f64), x: f64| (range.0.min(x), range.1.max(x));
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        let low = skin.iter().map(|p| self.height(p)).fold(f64::INFINITY, f64::min);
        // Only skin near the ground counts: the shaft of a boot may reach behind the heel.
        let near = |p: &&Vec3| self.height(p) < low + 0.25 * self.figure.leg_to_sole;
        let (back, tip) = skin.iter().filter(near).map(|p| self.along(p)).fold(nothing, range);
        let length = tip - back;
        let long_enough = length > 0.02 * self.figure.leg_to_sole;
        if !long_enough {
            return None;
        }
        let ball = self
            .toes
            .map(|t| self.along(&self.reference_pose.position(t)))
            .filter(|x| (0.4..0.9).contains(&((x - back) / length)));
        // A foot without a toe joint does not bend: it rolls off over its tip.
        let stiff = if self.toes.is_none() { tip } else { back + BALL * length };
        let ball = ball.unwrap_or(stiff);
        let front_end = (tip - END * length, tip);
        let around = (ball - 0.5 * END * length, ball + 0.5 * END * length);
        let spans = [(back, back + END * length), if ball == tip { front_end } else { around }, front_end];
        let lowest = |(from, to): (f64, f64)| {
            let within = || skin.iter().filter(move |p| (from..=to).contains(&self.along(p)));
            let bottom = within().map(|p| self.height(p)).fold(f64::INFINITY, f64::min);
            let sole: Vec<&Vec3> = within().filter(|p| self.height(p) < bottom + SOLE * length).collect();
            let mean = sole.iter().map(|p| (*p - self.ankle).dot(&self.across)).sum::<f64>()
                / sole.len().max(1) as f64;
            // Box-like feet have no skin in the middle, or none low enough at an end: they stand on the plane of the
            // lowest vertex.
            let bottom = if bottom < low + SOLE * length { bottom } else { low };
            let x = match (from == back, to == tip) {
                (true, _) => from + 0.25 * (to - from),
                (_, true) => to,
                _ => 0.5 * (from + to),
            };
            self.position(x, bottom, mean)
        };
        Some(spans.map(lowest).into_iter().enumerate().map(|(k, p)| self.point(k, p)).collect())
    }

    /// The points of a sole on the thickness of the paw below it, down to this height.
    fn on_paw(&self, sole: Vec<ContactPoint>, lowest: Option<f64>) -> Vec<ContactPoint> {
        let height = |p: &ContactPoint| self.reference_pose.joint(p.joint).point(&p.at).dot(&self.figure.up);
        let bottom = sole.iter().map(height).fold(f64::INFINITY, f64::min);
        let thickness = lowest.map_or(0.0, |lowest| bottom - lowest);
        let radius = if thickness > PAW * self.figure.leg_to_sole { thickness } else { 0.0 };
        sole.into_iter().map(|point| ContactPoint { radius, ..point }).collect()
    }

    /// Heel, ball and toe tip from bones only: the sole lies at the foot's own lowest joint or tip, the heel behind the
    /// ankle. The feet of captured skeletons may differ in height, and each stands on its own; a foot without anything in
    /// front of the ankle has a heel only.
    fn sole_of_bones(&self) -> Vec<ContactPoint> {
        let below = self.rig.skeleton().below(&[self.joint]);
        let of_foot = self.rig.skeleton().ids().filter(|id| below[id.index()]);
        let ends = of_foot.flat_map(|id| [Some(self.reference_pose.position(id)), self.tip_of(id)]).flatten();
        let bottom = ends.map(|p| self.height(&p)).fold(f64::INFINITY, f64::min);
        let bottom = if bottom < 0.0 { bottom } else { self.figure.sole - self.ankle.dot(&self.figure.up) };
        let ball = self.toes.map(|t| self.reference_pose.position(t)).or_else(|| self.tip_of(self.joint));
        let Some(ball) = ball else { return vec![self.point(0, self.position(0.0, bottom, 0.0))] };
        let length = self.along(&ball);
        let side_of = |p: &Vec3| (p - self.ankle).dot(&self.across);
        let tip = self.toes.and_then(|t| self.tip_of(t)).filter(|p| self.along(p) > length).unwrap_or(ball);
        vec![
            self.point(0, self.position(-HEEL * length, bottom, 0.0)),
            self.point(1, self.position(length, bottom, side_of(&ball))),
            self.point(2, self.position(self.along(&tip), bottom, side_of(&tip))),
        ]
    }
}
