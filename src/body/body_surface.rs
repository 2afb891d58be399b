//! The surface of a body for placing arms on it: radii around its parts, and points of the arms with their radii.
//!
//! Both bodies of a retarget are measured alike, so that a distance on one means the same on the other. A body without skin gets
//! the other's, scaled by its own bones: equal bones give an equal surface. If the bodies are too different for that, it gets an
//! adult's radii. Measured in the reference pose. Space: model space; points of hands in joint space. Units: metres.

use super::hand_shape::HandShape;
use super::held_pieces::{Hands, held};
use super::landmarks::{BodyLengths, LandmarkPose, Landmarks};
use super::radius_table::{RadiusSample, RadiusTable};
use super::surface_samples::{SkinSample, samples};
use super::trunk_parts::{PartSegment, TOUCHED_PARTS, TouchedPart};
use crate::anatomy::Figure;
use crate::math::{Vec3, median, smoothstep};
use crate::model::{Character, JointId, ModelPose, Rig, Role, Side};

/// Distance of the samples of the skin, over the length of a leg: about half a cell of the table of the trunk.
const SPACING: f64 = 0.03;
/// The points of the forearm, from elbow to wrist, as shares of its length.
pub const FOREARM_POINTS: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
/// The points of the hand: as far from the wrist as this, over the distance of the middle of the hand's skin.
const HAND_POINTS: [f64; 2] = [0.7, 1.5];
/// Skin of the hand is no farther from the wrist than this, over the forearm: what lies farther is held.
const PROP_DISTANCE: f64 = 0.8;
/// The distance of the middle of a hand from its wrist over the forearm, where there is no skin (Winter 2009, table 4.1: half the
/// hand's length).
const HAND_OF_FOREARM: f64 = 0.37;
/// The span of the forearm's skin around one of its points, over its length.
const SPAN: f64 = 0.17;
/// The radius of an arm without enough skin, over the forearm.
const ARM_OF_FOREARM: f64 = 0.12;
/// The fewest samples that a radius of the arm is taken from.
const FEW: usize = 6;
/// The radius of one arm over the other's above which it holds something: bodies are symmetric to a tenth.
const UNEVEN: f64 = 1.25;

/// Radii of a grown person's [`TOUCHED_PARTS`] over the length of a leg. Round values, not taken from a published table.
const ADULT: [f64; 7] = [0.17, 0.16, 0.12, 0.085, 0.085, 0.06, 0.06];
/// The same of the forearm at its four points.
const ADULT_ARM: [f64; 4] = [0.052, 0.047, 0.04, 0.035];
/// Half the thickness of a grown person's hand over the length of a leg.
const ADULT_HAND: f64 = 0.02;
/// The standard deviation of the logarithms of bone ratios from which on the other body's girths are given up, and at which
/// they are fully.
const UNLIKE: [f64; 2] = [0.15, 0.5];

/// Radii that differ by less than this, over the length of a leg, are those of one skin: files that store positions in few bits differ
/// by a tenth of it, and a hand 5 mm off its place still touches.
const SAME_SKIN: f64 = 0.005;

/// The surface of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodySurface {
    /// The lengths of its bones.
    pub lengths: BodyLengths,
    /// Radii around its [`TOUCHED_PARTS`].
    pub tables: [RadiusTable; 7],
    /// The radii of the forearm at [`FOREARM_POINTS`], metres.
    pub arm: [f64; 4],
    /// The shape of the hands, left and right.
    pub hands: [HandShape; 2],
    /// Palm and fingers, left and right, in the space of the hand joint.
    pub hand_points: [[Vec3; 2]; 2],
}

// The groups of joints by the parts that their skin may belong to: indices. Those of limbs are two, left and right.
/// Hips and spine.
const TRUNK: usize = 0;
/// The neck: trunk or head.
const NECK: usize = 1;
/// Clavicles: trunk.
const CLAVICLE: usize = 2;
/// The head.
const HEAD: usize = 3;
/// The left thigh.
const THIGH: usize = 4;
/// The left shin.
const SHIN: usize = 6;
/// The left upper arm.
const UPPER_ARM: usize = 8;
/// The left forearm.
const FOREARM: usize = 10;
/// The left hand, with its fingers.
const HAND: usize = 12;
/// The number of groups.
const GROUPS: usize = 14;

fn group(role: Role) -> Option<usize> {
    let side = |first: usize, side: Side| first + side.index();
    Some(match role {
        Role::Hips | Role::Spine(_) => TRUNK,
        Role::Neck(_) => NECK,
        Role::Clavicle(_) => CLAVICLE,
        Role::Head => HEAD,
        Role::UpperLeg(s) => side(THIGH, s),
        Role::LowerLeg(s) => side(SHIN, s),
        Role::UpperArm(s) => side(UPPER_ARM, s),
        Role::LowerArm(s) => side(FOREARM, s),
        Role::Hand(s) | Role::Finger(s, ..) => side(HAND, s),
        Role::Foot(_) | Role::Toes(_) | Role::Tail(_) => return None,
    })
}

/// The group of every joint; joints without a role belong to the parent's.
fn groups(rig: &Rig) -> Vec<Option<usize>> {
    let skeleton = rig.skeleton();
    let mut found: Vec<Option<usize>> = vec![None; skeleton.len()];
    for id in skeleton.ids() {
        found[id.index()] = match rig.role(id) {
            Some(role) => group(role),
            None => skeleton.parent(id).and_then(|parent| found[parent.index()]),
        };
    }
    found
}

/// Distance that skin of joints without a role reaches from the topmost of them from which it is no body, as a share of the length of leg
/// and trunk (half a metre of a person): wings, capes and long hair. Bellies with a joint of their own reach half of it.
const APPENDAGE: f64 = 0.4;

/// For each joint, whether it is without a role and, with others without one, has skin that reaches far from the body.
fn appendages(character: &Character, rig: &Rig, reference_pose: &ModelPose, length: f64) -> Vec<bool> {
    let skeleton = rig.skeleton();
    let mut top: Vec<JointId> = skeleton.ids().collect();
    for id in skeleton.ids().filter(|id| rig.role(*id).is_none()) {
        if let Some(parent) = skeleton.parent(id).filter(|parent| rig.role(*parent).is_none()) {
            top[id.index()] = top[parent.index()];
        }
    }
    let mut reaches = vec![false; skeleton.len()];
    for mesh in &character.meshes {
        for (joint, inside) in (0..mesh.positions.len()).filter_map(|v| mesh.in_heaviest_joint(v)) {
            let top = top[joint.index()];
            let reach = (reference_pose.joint(joint).point(&inside) - reference_pose.position(top)).norm();
            reaches[top.index()] |= rig.role(top).is_none() && reach > APPENDAGE * length;
        }
    }
    top.iter().map(|top| reaches[top.index()]).collect()
}

/// The groups whose skin may belong to a part.
fn owners(part: TouchedPart) -> Vec<usize> {
    match part {
        TouchedPart::LowTrunk => vec![TRUNK],
        TouchedPart::HighTrunk => vec![TRUNK, NECK, CLAVICLE],
        TouchedPart::Head => vec![HEAD, NECK],
        TouchedPart::Thigh(k) => vec![THIGH + k],
        TouchedPart::Shin(k) => vec![SHIN + k],
    }
}

/// The skin of a character in its reference pose, by group.
struct GroupedSkin<'a> {
    landmarks: &'a LandmarkPose,
    lengths: BodyLengths,
    groups: Vec<Vec<SkinSample>>,
}

impl BodySurface {
    /// The surface of a character in its reference pose; `None` for one without skin around its trunk.
    pub fn of(
        character: &Character,
        rig: &Rig,
        reference_pose: &ModelPose,
        figure: &Figure,
        landmarks: &Landmarks,
    ) -> Option<BodySurface> {
        let at = landmarks.at(reference_pose);
        let lengths = at.lengths();
        let length = lengths.leg_length() + lengths.low_trunk + lengths.high_trunk;
        let appendages = appendages(character, rig, reference_pose, length);
        let of_body = groups(rig).into_iter().zip(appendages).map(|(group, out)| group.filter(|_| !out));
        let of_body: Vec<Option<usize>> = of_body.collect();
        let hand = |group: &Option<usize>| group.and_then(|group| group.checked_sub(HAND));
        let of_hand: Vec<Option<usize>> = of_body.iter().map(hand).collect();
        let wrists = at.arms.map(|[_, elbow, wrist]| (wrist, PROP_DISTANCE * (wrist - elbow).norm()));
        let held = held(character, rig, reference_pose, &Hands { of_joint: &of_hand, wrists });
        let mut groups = samples(character, reference_pose, SPACING * figure.leg_to_sole, &of_body, &held);
        groups.resize(GROUPS, Vec::new());
        // What hangs from the trunk below the knees is cloth.
        let knees = 0.5 * (at.legs[0][1] + at.legs[1][1]).dot(&figure.up);
        groups[TRUNK].retain(|s| s.at.dot(&figure.up) > knees);
        let skin = GroupedSkin { lengths, landmarks: &at, groups };
        let tables = skin.tables();
        let hand_points = [0, 1].map(|side| skin.hand_points(side, &at));
        (tables[0].largest() > 0.0 || tables[1].largest() > 0.0).then(|| BodySurface {
            arm: std::array::from_fn(|k| skin.radius_of_arms(k)),
            hands: [0, 1].map(|side| skin.hand_shape(side, &hand_points[side])),
            lengths: skin.lengths,
            tables,
            hand_points,
        })
    }

    /// The radius of the skin of a part in a direction from its segment.
    pub fn radius(&self, part: TouchedPart, share: f64, components: &Vec3) -> f64 {
        self.tables[part.index()].radius(share, components)
    }

    /// Whether another body has the same skin around it.
    pub fn has_skin_of(&self, other: &BodySurface) -> bool {
        let tables = self.tables.iter().zip(&other.tables).map(|(a, b)| a.apart(b));
        let arms = self.arm.iter().zip(&other.arm).map(|(a, b)| (a - b).abs());
        let hands = self.hands.iter().zip(&other.hands).map(|(a, b)| (a.largest() - b.largest()).abs());
        tables.chain(arms).chain(hands).all(|apart| apart < SAME_SKIN * self.lengths.leg_length())
    }

    /// This surface on a skeleton of other lengths, every part scaled by its own bones; and how much unlike the two
    /// skeletons are: the standard deviation of the logarithms of the ratios of their lengths.
    pub fn onto(&self, lengths: &BodyLengths) -> (BodySurface, f64) {
        let (to, from) = (lengths, &self.lengths);
        let ratio = |of: fn(&BodyLengths) -> f64| of(to) / of(from).max(1e-9);
        let across = |long: f64, wide: f64| (long * wide).sqrt();
        let (low, high) = (ratio(|l| l.low_trunk), ratio(|l| l.high_trunk));
        let (thigh, shin) = (ratio(|l| l.thigh), ratio(|l| l.shin));
        let (hips, shoulders) = (ratio(|l| l.hips), ratio(|l| l.shoulders));
        let scale = |part: TouchedPart| match part {
            TouchedPart::LowTrunk => across(low, hips),
            TouchedPart::HighTrunk => across(high, shoulders),
            TouchedPart::Head => 0.25 * (thigh + shin + low + high),
            TouchedPart::Thigh(_) => across(thigh, hips),
            TouchedPart::Shin(_) => across(shin, hips),
        };
        let logs: Vec<f64> =
            to.all().iter().zip(from.all()).map(|(a, b)| libm::log(a.max(1e-9) / b.max(1e-9))).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let unlike = (logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / logs.len() as f64).sqrt();
        let adult = smoothstep((unlike - UNLIKE[0]) / (UNLIKE[1] - UNLIKE[0]));
        // In logarithms, so that a part twice as thick and one half as thick count alike; exactly one of both at the ends.
        let blend = |own: f64, of_leg: f64| match adult {
            0.0 => own,
            _ => {
                let grown = of_leg * to.leg_length();
                libm::pow(own.max(1e-6 * to.leg_length()), 1.0 - adult) * libm::pow(grown, adult)
            }
        };
        let table = |part: TouchedPart| match &self.tables[part.index()] {
            none if none.largest() == 0.0 => RadiusTable::none(),
            table => table.map(|r| blend(r * scale(part), ADULT[part.index()])),
        };
        let arm = 0.5 * (ratio(|l| l.upper_arm) + ratio(|l| l.forearm));
        let surface = BodySurface {
            lengths: *lengths,
            tables: TOUCHED_PARTS.map(table),
            arm: std::array::from_fn(|k| blend(self.arm[k] * arm, ADULT_ARM[k])),
            hands: self.hands.each_ref().map(|hand| hand.scaled(arm)),
            hand_points: self.hand_points.map(|hand| hand.map(|p| p * arm)),
        };
        (surface, unlike)
    }

    /// A grown person's surface on a skeleton in its reference pose, with hands along the forearms.
    pub fn adult(rest: &LandmarkPose) -> BodySurface {
        let lengths = rest.lengths();
        BodySurface {
            lengths,
            tables: ADULT.map(|r| RadiusTable::round(r * lengths.leg_length())),
            arm: ADULT_ARM.map(|r| r * lengths.leg_length()),
            hands: [0, 1].map(|_| HandShape::round(ADULT_HAND * lengths.leg_length())),
            hand_points: [0, 1].map(|side| towards(rest, side, &along_forearm(rest, side))),
        }
    }
}

/// The middle of a hand without skin, from its wrist.
fn along_forearm(pose: &LandmarkPose, side: usize) -> Vec3 {
    let [_, elbow, wrist] = pose.arms[side];
    (wrist - elbow) * HAND_OF_FOREARM
}

/// Palm and fingers of a hand whose middle is here, from its wrist, in the space of its joint.
fn towards(pose: &LandmarkPose, side: usize, middle: &Vec3) -> [Vec3; 2] {
    HAND_POINTS.map(|share| pose.hands[side].inverse() * (middle * share))
}

impl GroupedSkin<'_> {
    /// Every sample goes to the nearest of the segments that it may belong to.
    fn tables(&self) -> [RadiusTable; 7] {
        let segments = TOUCHED_PARTS.map(|part| PartSegment::of(part, self.landmarks, &self.lengths));
        let owners = TOUCHED_PARTS.map(owners);
        let mut found: [Vec<RadiusSample>; 7] = Default::default();
        for (group, skin) in self.groups.iter().enumerate() {
            let parts: Vec<usize> = (0..7).filter(|&k| owners[k].contains(&group)).collect();
            for sample in skin {
                let places = parts.iter().map(|&k| (k, segments[k].around(&sample.at)));
                let Some((k, at)) = places.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance)) else {
                    break;
                };
                let direction = segments[k].components(&at.direction);
                let around = [direction.x, direction.z];
                let along = at.share + direction.y;
                found[k].push(RadiusSample { along, around, radius: at.distance, area: sample.area });
            }
        }
        found.map(|samples| RadiusTable::of(&samples))
    }

    /// The radius of both forearms at one of their points; a shield or a staff on one of them is no part of it.
    fn radius_of_arms(&self, point: usize) -> f64 {
        let [left, right] = [0, 1].map(|side| self.arm_radius(side, point));
        0.5 * (left.min(UNEVEN * right) + right.min(UNEVEN * left))
    }

    /// The radius of one forearm at one of its points.
    fn arm_radius(&self, side: usize, point: usize) -> f64 {
        let [_, elbow, wrist] = self.landmarks.arms[side];
        let bone = wrist - elbow;
        let skin = [UPPER_ARM, FOREARM, HAND].map(|first| &self.groups[first + side]);
        let near = skin.into_iter().flatten().filter_map(|s| {
            let off = s.at - elbow;
            let share = off.dot(&bone) / bone.norm_squared();
            let near = (share - FOREARM_POINTS[point]).abs() < SPAN;
            near.then(|| (off - bone * share.clamp(0.0, 1.0)).norm())
        });
        let near: Vec<f64> = near.collect();
        if near.len() < FEW { ARM_OF_FOREARM * bone.norm() } else { median(near) }
    }

    /// The samples of one hand without what it holds.
    fn hand(&self, side: usize) -> impl Iterator<Item = &SkinSample> {
        let [_, elbow, wrist] = self.landmarks.arms[side];
        let reach = PROP_DISTANCE * (wrist - elbow).norm();
        self.groups[HAND + side].iter().filter(move |s| (s.at - wrist).norm() < reach)
    }

    fn hand_shape(&self, side: usize, points: &[Vec3; 2]) -> HandShape {
        let wrist = self.landmarks.arms[side][2];
        let hand_from_model = self.landmarks.hands[side].inverse();
        let skin: Vec<(Vec3, f64)> =
            self.hand(side).map(|s| (hand_from_model * (s.at - wrist), s.area)).collect();
        HandShape::of(&skin, points, self.arm_radius(side, 3))
    }

    /// Palm and fingers of one hand in the space of its joint: towards the middle of its skin, or along the forearm.
    fn hand_points(&self, side: usize, pose: &LandmarkPose) -> [Vec3; 2] {
        let wrist = pose.arms[side][2];
        let (mut sum, mut area) = (Vec3::zeros(), 0.0);
        for s in self.hand(side) {
            (sum, area) = (sum + (s.at - wrist) * s.area, area + s.area);
        }
        let middle = if area > 0.0 { sum / area } else { along_forearm(pose, side) };
        towards(pose, side, &middle)
    }
}
