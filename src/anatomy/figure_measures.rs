//! Measurements of a body in a pose: pelvis, up axis, sole height, leg length, left axis; two legs or four.

use crate::math::{Quat, Vec3, arc, exp};
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// Distance of two joints, as a share of the figure's size, below which they coincide.
const COINCIDENT: f64 = 1e-3;
/// Least cosine between shin and up axis that is assumed (60 degrees): bounds the ankle height of a leg that lies flat.
const FLATTEST_SHIN: f64 = 0.5;
/// An ankle that is higher than the other by more than this, over thigh and shin, is raised: those of bodies that stand differ by
/// up to 0.03.
const RAISED: f64 = 0.1;
/// Shin and foot over the thigh, (0.246 + 0.039) / 0.245 (Winter 1990, table 4.1): where a leg ends at its knee joint.
const BELOW_KNEE: f64 = 1.16;
/// Cosine between trunk and legs (45 degrees) above which they are in line.
const IN_LINE: f64 = 0.7;
/// Cosine of 40 degrees: trunks and legs nearer to vertical than this are upright.
const UPRIGHT: f64 = 0.77;
/// Radians (10 degrees): lines from ankles to shoulders that are nearer to vertical are the build of a figure. Those of the
/// development characters and takes are within 6 degrees where they stand.
const TILTED: f64 = 0.175;
/// Radians (3 degrees): hips and shoulders that are level slope by less. Those of the development takes slope by up to 1.7.
const ROLLED: f64 = 0.052;
/// Radians (2 degrees): hips, shoulders and the line from ankles to shoulders of a body that is rolled as a whole slope alike up to this.
const ALIKE: f64 = 0.035;
/// The angle between trunk and legs of a body that is tilted and not bent is at most this share of the tilt.
const STRAIGHT: f64 = 0.5;

/// The measurements by which motion is retargeted, taken from a reference pose, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The midpoint of the hip joints: the point that root motion moves.
    pub pelvis: Vec3,
    /// The body's up axis: +Y, unless a biped lies or leans in the reference pose.
    pub up: Vec3,
    /// Height of the lowest point of the feet along `up`.
    pub sole: f64,
    /// Length of a straight leg from hip joint to sole: thigh plus shin plus the height of the ankle.
    pub leg_to_sole: f64,
    /// Unit vector from the right hip joint to the left one, perpendicular to `up`.
    pub left: Vec3,
}

impl Figure {
    /// The unit vector forwards, perpendicular to `up` and `left`.
    pub(crate) fn front(&self) -> Vec3 {
        self.left.cross(&self.up)
    }

    /// Measures a rig in `rest` (model space, Y up); `None` without two thighs.
    pub fn of(rig: &Rig, rest: &ModelPose) -> Option<Figure> {
        let thighs = [rig.joint(Role::UpperLeg(Side::Left))?, rig.joint(Role::UpperLeg(Side::Right))?];
        let [left, right] = thighs.map(|id| rest.position(id));
        let pelvis = (left + right) * 0.5;
        let up = upright(rig, rest, &pelvis);
        // In some rigs both thighs start at one point: then the knees define the left axis.
        let mut across = left - right;
        let size = rest.joints().iter().map(|t| (t.translation - left).norm()).fold(0.0, f64::max);
        if across.norm() < COINCIDENT * size {
            let knee = |s| rig.joint(Role::LowerLeg(s)).map(|id| rest.position(id));
            across = knee(Side::Left)? - knee(Side::Right)?;
        }
        across -= up * across.dot(&up);
        let across = across.try_normalize(1e-12)?;
        let sole = lowest(rig, rest, &up);
        let height = |p: &Vec3| p.dot(&up) - sole;
        let length = |side: Side| -> Option<f64> {
            let at = |role: Role| rig.joint(role).map(|id| rest.position(id));
            let hip = at(Role::UpperLeg(side))?;
            let Some(knee) = at(Role::LowerLeg(side)) else { return Some(height(&hip)) };
            let thigh = (knee - hip).norm();
            let Some(ankle) = at(Role::Foot(side)) else { return Some(thigh + height(&knee).max(0.0)) };
            // An ankle is not higher for a leg that the pose raises.
            let lowest = Side::BOTH.iter().filter_map(|s| at(Role::Foot(*s))).map(|p| height(&p));
            let lowest = lowest.fold(f64::INFINITY, f64::min);
            let bones = thigh + (ankle - knee).norm();
            if height(&ankle) > lowest + RAISED * bones {
                return Some(bones + lowest.max(0.0));
            }
            // The height of the ankle is measured along the shin, so that spread legs do not shorten it.
            let slope =
                (knee - ankle).try_normalize(1e-12).map_or(1.0, |d| d.dot(&up).abs().max(FLATTEST_SHIN));
            Some(bones + height(&ankle).max(0.0) / slope)
        };
        let leg_to_sole = 0.5 * (length(Side::Left)? + length(Side::Right)?);
        (leg_to_sole > 0.0).then_some(Figure { pelvis, up, sole, leg_to_sole, left: across })
    }
}

/// The midpoint of the joints of both sides.
pub(super) fn middle(rig: &Rig, rest: &ModelPose, role: fn(Side) -> Role) -> Option<Vec3> {
    let [a, b] = Side::BOTH.map(|s| rig.joint(role(s)).map(|id| rest.position(id)));
    Some((a? + b?) * 0.5)
}

/// Length of the arms, as a share of the legs, from which they are forelegs: those of dogs and horses are about as long as
/// the hind legs, those of a Tyrannosaurus a quarter.
const FORELEG: f64 = 0.5;

/// How the trunk of a body is on its legs in a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posture {
    /// The trunk continues the line of the legs, or there is not enough of a body to tell.
    Upright,
    /// The trunk is across the legs, and the arms do not reach the ground: birds and many dinosaurs.
    LevelTrunk,
    /// The trunk is across the legs, and the arms are long enough to stand on.
    FourLegs,
}

/// Whether a rig is a quadruped.
pub fn on_four_legs(rig: &Rig, rest: &ModelPose) -> bool {
    posture(rig, rest) == Posture::FourLegs
}

/// The posture of a rig in `rest`.
pub fn posture(rig: &Rig, rest: &ModelPose) -> Posture {
    let middle = |role| middle(rig, rest, role);
    let feet = middle(Role::Foot).or_else(|| middle(Role::LowerLeg));
    let (Some(hips), Some(shoulders), Some(feet)) = (middle(Role::UpperLeg), middle(Role::UpperArm), feet)
    else {
        return Posture::Upright;
    };
    let (trunk, legs) = (shoulders - hips, hips - feet);
    // Where the forelegs end before a hand, the forearm is about as long as the upper arm.
    let arm = match (middle(Role::Hand), middle(Role::LowerArm)) {
        (Some(hands), _) => Some((shoulders - hands).norm()),
        (None, Some(elbows)) => Some(2.0 * (shoulders - elbows).norm()),
        _ => None,
    };
    let stands = arm.is_none_or(|arm| arm > FORELEG * legs.norm());
    // Trunk and legs of a deep squat lean apart, and each is upright.
    if trunk.y > UPRIGHT * trunk.norm() && legs.y > UPRIGHT * legs.norm() {
        return Posture::Upright;
    }
    match trunk.dot(&legs) < IN_LINE * trunk.norm() * legs.norm() {
        false => Posture::Upright,
        true if stands => Posture::FourLegs,
        true => Posture::LevelTrunk,
    }
}

/// The up axis of a body: +Y, or the line from feet to shoulders where legs and trunk are in line and both more than 40
/// degrees from vertical.
fn upright(rig: &Rig, rest: &ModelPose, pelvis: &Vec3) -> Vec3 {
    let Some([trunk, legs]) = trunk_and_legs(rig, rest, pelvis) else { return Vec3::y() };
    let stands = trunk.y > UPRIGHT || legs.y > UPRIGHT;
    if stands || trunk.dot(&legs) < IN_LINE { Vec3::y() } else { (trunk + legs).normalize() }
}

/// The directions from the hip joints to the shoulders and from the ankles to the hip joints.
fn trunk_and_legs(rig: &Rig, rest: &ModelPose, pelvis: &Vec3) -> Option<[Vec3; 2]> {
    let (shoulders, feet) = (middle(rig, rest, Role::UpperArm)?, middle(rig, rest, Role::Foot)?);
    Some([(shoulders - pelvis).try_normalize(1e-9)?, (pelvis - feet).try_normalize(1e-9)?])
}

/// The rotation from upright to `rest` of a body that is tilted as a whole, its trunk and its legs alike; the identity for all others,
/// and for bodies whose own axis is their [`Figure::up`].
pub fn tilt(rig: &Rig, rest: &ModelPose, figure: &Figure) -> Quat {
    let ends = trunk_and_legs(rig, rest, &figure.pelvis).filter(|_| figure.up == Vec3::y());
    let Some([trunk, legs]) = ends else { return Quat::identity() };
    let tilt = arc(&Vec3::y(), &(trunk + legs), &Vec3::x());
    if tilt.angle() > TILTED && trunk.angle(&legs) < STRAIGHT * tilt.angle() {
        tilt
    } else {
        Quat::identity()
    }
}

/// The rotation to upright of a body that `rest` tilts as a whole, or lays down; `None` of one that is upright. What it leans by build,
/// forwards or backwards, stays where it is only rolled to a side.
pub fn uprighting(rig: &Rig, rest: &ModelPose, figure: &Figure) -> Option<Quat> {
    if figure.up != Vec3::y() {
        return Some(arc(&figure.up, &Vec3::y(), &Vec3::x()));
    }
    let [trunk, legs] = trunk_and_legs(rig, rest, &figure.pelvis)?;
    let tilt = tilt(rig, rest, figure);
    let (front, line) = (figure.left.cross(&Vec3::y()), trunk + legs);
    // The slopes of the lines through hip joints and shoulders, and the lean of the line through their middles.
    let slope = |role: fn(Side) -> Role| {
        let [a, b] = Side::BOTH.map(|s| rig.joint(role(s)).map(|id| rest.position(id)));
        let across = a? - b?;
        Some(libm::atan2(across.y, across.dot(&figure.left)))
    };
    let rolls =
        [slope(Role::UpperLeg)?, slope(Role::UpperArm)?, libm::atan2(-line.dot(&figure.left), line.y)];
    let least = rolls.into_iter().fold(f64::INFINITY, |least, roll| least.min(roll.abs()));
    let alike = rolls.iter().all(|roll| (roll - rolls[0]).abs() < ALIKE);
    let mut upright = match alike && least > ROLLED {
        true => exp(&(front * -rolls[0])),
        false if tilt == Quat::identity() => return None,
        false => Quat::identity(),
    };
    let left = arc(&(upright * line), &Vec3::y(), &Vec3::x());
    if left.angle() > TILTED && trunk.angle(&legs) < STRAIGHT * left.angle() {
        upright = left * upright;
    }
    Some(upright)
}

/// Height along `up` of the lowest joint or tip of the legs; of the whole skeleton without legs. A leg whose last joint is the
/// knee has a shin and a foot all the same.
fn lowest(rig: &Rig, rest: &ModelPose, up: &Vec3) -> f64 {
    let skeleton = rig.skeleton();
    let thighs: Vec<JointId> = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::UpperLeg(s))).collect();
    let feet: Vec<JointId> = Side::BOTH.iter().filter_map(|&s| rig.joint(Role::Foot(s))).collect();
    let below = skeleton.below(&[thighs.as_slice(), &feet].concat());
    let of_leg = |id: &JointId| thighs.is_empty() || below[id.index()];
    let mut low = f64::INFINITY;
    for id in skeleton.ids().filter(of_leg) {
        let joint = rest.joint(id);
        low = low.min(joint.translation.dot(up));
        if let Some(tip) = skeleton.joint(id).tip {
            low = low.min(joint.point(&tip).dot(up));
        }
    }
    for side in Side::BOTH {
        let [hip, knee] = [Role::UpperLeg(side), Role::LowerLeg(side)].map(|role| rig.joint(role));
        if let (Some(hip), Some(knee)) = (hip, knee)
            && skeleton.joint(knee).tip.is_none()
            && !skeleton.parents().contains(&Some(knee))
        {
            let [hip, knee] = [hip, knee].map(|id| rest.position(id));
            low = low.min(knee.dot(up) - BELOW_KNEE * (knee - hip).norm());
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::{Assignment, Joint, Skeleton};

    /// The posture of a body with these hips, shoulders, hands and feet, all in its middle plane: height and front.
    fn of(hips: [f64; 2], shoulders: [f64; 2], hands: [f64; 2], feet: [f64; 2]) -> Posture {
        type RoleOfSide = fn(Side) -> Role;
        let roles: [(RoleOfSide, [f64; 2]); 4] =
            [(Role::UpperLeg, hips), (Role::Foot, feet), (Role::UpperArm, shoulders), (Role::Hand, hands)];
        let all = Side::BOTH.into_iter().flat_map(|side| roles.map(|(role, at)| (role(side), side, at)));
        let all: Vec<(Role, Side, [f64; 2])> = all.collect();
        let root = Joint::new("root", None, Transform::identity());
        let joint = |(role, side, [y, z]): &(Role, Side, [f64; 2])| {
            let at = Transform::from_translation(Vec3::new(0.1 * side.sign(), *y, *z));
            Joint::new(role.to_string(), Some(JointId::new(0)), at)
        };
        let skeleton = Skeleton::new(std::iter::once(root).chain(all.iter().map(joint)).collect()).unwrap();
        let rest = skeleton.rest_model_pose();
        let assigned = all.iter().enumerate();
        let assigned =
            assigned.map(|(k, (role, ..))| (*role, Assignment::new(JointId::new(k + 1), 1.0, "made")));
        posture(&Rig::new(skeleton, assigned.collect::<Vec<_>>()), &rest)
    }

    #[test]
    fn a_squat_is_upright_and_a_dog_is_not() {
        assert_eq!(of([0.9, 0.0], [1.4, 0.0], [0.8, 0.0], [0.1, 0.0]), Posture::Upright);
        // Hips behind the feet, trunk forwards by 30 degrees, arms forwards.
        assert_eq!(of([0.5, -0.2], [0.93, 0.05], [0.93, 0.6], [0.1, 0.0]), Posture::Upright);
        assert_eq!(of([0.5, -0.4], [0.5, 0.4], [0.05, 0.4], [0.05, -0.4]), Posture::FourLegs);
        // A dog in a file whose up axis is not known: its trunk is vertical, its legs are level.
        assert_eq!(of([0.4, 0.0], [1.2, 0.0], [1.2, 0.45], [0.4, 0.45]), Posture::FourLegs);
    }

    #[test]
    fn legs_that_end_at_the_knee_are_as_long_as_those_with_feet() {
        type RoleOfSide = fn(Side) -> Role;
        let leg = |joints: &[(RoleOfSide, f64)]| {
            let root = Joint::new("root", None, Transform::identity());
            let (mut all, mut roles) = (vec![root], Vec::new());
            for side in Side::BOTH {
                let mut parent = 0;
                for (role, y) in joints {
                    let from = joints.iter().take_while(|j| j.1 > *y).last().map_or(0.0, |j| j.1);
                    let x = if parent == 0 { 0.1 * side.sign() } else { 0.0 };
                    let at = Transform::from_translation(Vec3::new(x, y - from, 0.0));
                    roles.push((role(side), Assignment::new(JointId::new(all.len()), 1.0, "made")));
                    all.push(Joint::new(role(side).to_string(), Some(JointId::new(parent)), at));
                    parent = all.len() - 1;
                }
            }
            let rig = Rig::new(Skeleton::new(all).unwrap(), roles);
            let figure = Figure::of(&rig, &rig.skeleton().rest_model_pose()).unwrap();
            [figure.leg_to_sole, figure.sole]
        };
        let whole = leg(&[(Role::UpperLeg, 0.98), (Role::LowerLeg, 0.49), (Role::Foot, 0.0)]);
        assert!((whole[0] - 0.98).abs() < 1e-12 && whole[1] == 0.0, "{whole:?}");
        let cut = leg(&[(Role::UpperLeg, 0.98), (Role::LowerLeg, 0.49)]);
        assert!(
            (cut[0] - 0.49 * 2.16).abs() < 1e-12 && (cut[1] - 0.49 * (1.0 - 1.16)).abs() < 1e-12,
            "{cut:?}"
        );
    }
}
