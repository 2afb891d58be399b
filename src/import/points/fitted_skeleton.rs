//! Joins the fitted parts to a skeleton in T-pose and a clip.
//!
//! Offsets are medians over the frames, made symmetric; the bones of limbs lie along the axes of the T-pose. All rotations of
//! the rest pose are the identity. Roles are known. Space: Y up, facing +Z. Units: metres.

use super::bone_directions::{differences, swung_along, unit};
use super::extremities::{Feet, feet, hand, has_fingers};
use super::limbs::{ARM, FittedLimb, LEG, LimbParts, Sampling, fit};
use super::point_tracks::PointTracks;
use super::trunk::{self, Trunk};
use crate::math::{DEGREE, Quat, Transform, Vec3, median_of, percentile};
use crate::model::{Assignment, Clip, Joint, JointId, Rig, Role, Side, Skeleton, SkeletonError};
use crate::parallel;
use crate::signal::fix_hemispheres;

/// A joint with its rotations relative to the T-pose and its positions in space.
struct Part {
    name: String,
    role: Role,
    parent: usize,
    positions: Vec<Vec3>,
    rotations: Vec<Quat>,
    /// The offset from the parent, where it is known.
    offset: Option<Vec3>,
    /// The end of a leaf's bone.
    tip: Option<Vec3>,
    measured: Measured,
}

/// How far the rotation of a part is in the positions.
#[derive(Clone, Copy)]
enum Measured {
    Whole,
    /// The rotation about the bone, in this share of the frames.
    Twist(f64),
    /// A guess, in words.
    Guess(&'static str),
}

/// Confidence of a rotation that is a guess: below it a role would count as doubtful, and the role is certain.
const GUESSED: f64 = 0.7;

impl Measured {
    /// Confidence and reason of a role whose layout is known.
    fn assignment(self, joint: JointId) -> Assignment {
        let layout = "the layout of the array";
        let (share, reason) = match self {
            Measured::Whole => (1.0, layout.to_owned()),
            Measured::Twist(share) => (
                share,
                format!(
                    "{layout}; the rotation about the bone is measured in {:.0} % of the frames",
                    100.0 * share
                ),
            ),
            Measured::Guess(what) => (0.0, format!("{layout}; {what} is a guess")),
        };
        Assignment::new(joint, GUESSED + (1.0 - GUESSED) * share, reason)
    }
}

/// A fitted motion.
pub(super) struct Fitted {
    pub(super) rig: Rig,
    pub(super) clip: Clip,
    /// Limbs whose rotation about the upper bone is a guess, with their largest bend, radians.
    pub(super) unsure: Vec<(Role, f64)>,
    /// Whether the rotation of the head is measured.
    pub(super) face: bool,
    /// Distance of the joints from the filtered points, metres: median and 95 percent.
    pub(super) distance: (f64, f64),
}

/// Slope of the clavicles at rest, radians: 5 degrees down from the shoulder to the neck are those of a T-pose.
const CLAVICLE: f64 = 5.0 * DEGREE;
/// Position of added clavicles, as a share of the way from the middle to the shoulder.
const ADDED_CLAVICLE: f64 = 0.15;
/// Ends of bones without a point at their end, metres: the sizes of an adult's head, hand, foot and toes.
const HEAD_TIP: [f64; 3] = [0.0, 0.18, 0.02];
/// Along the arm.
const HAND_TIP: f64 = 0.09;
/// For feet without toes.
const FOOT_TIP: [f64; 3] = [0.0, -0.05, 0.15];
/// For toes.
const TOE_TIP: [f64; 3] = [0.0, 0.0, 0.06];

/// Fits a motion to filtered points.
///
/// # Errors
/// Points so far apart that offsets are not finite.
pub(super) fn fitted(points: &PointTracks, by: Sampling, name: &str) -> Result<Fitted, SkeletonError> {
    let trunk = trunk::fit(points, by.noise);
    let tasks = [(&ARM, Side::Left), (&ARM, Side::Right), (&LEG, Side::Left), (&LEG, Side::Right)];
    let limb = |&(kind, side): &(&LimbParts, Side)| {
        let mut limb = fit(kind, side, points, &trunk, by);
        let hand = kind.is_arm().then(|| hand(side, points, &mut limb, by));
        (limb, hand)
    };
    let limbs: Vec<(FittedLimb, Option<Vec<Quat>>)> = parallel::map_each(&tasks, 1, limb);
    let feet = feet(points, [&limbs[2].0, &limbs[3].0], by.dt);
    let roles = [
        Role::UpperArm(Side::Left),
        Role::UpperArm(Side::Right),
        Role::UpperLeg(Side::Left),
        Role::UpperLeg(Side::Right),
    ];
    let unsure = roles.into_iter().zip(&limbs).filter_map(|(role, (l, _))| Some((role, l.unsure?))).collect();
    let mut parts = trunk_parts(points, &trunk);
    let chest = trunk.spine.len();
    for (side, (arm, hand)) in Side::BOTH.into_iter().zip(&limbs) {
        arm_parts(&mut parts, chest, side, points, &trunk, arm, hand.as_deref().unwrap_or(&arm.lower));
    }
    for (side, (leg, _)) in Side::BOTH.into_iter().zip(&limbs[2..]) {
        leg_parts(&mut parts, side, points, &trunk, leg, &feet);
    }
    assembled(parts, by.dt, name).map(|(rig, clip, distance)| Fitted {
        rig,
        clip,
        unsure,
        face: trunk.face,
        distance,
    })
}

fn part(name: impl Into<String>, role: Role, parent: usize, positions: &[Vec3], rotations: &[Quat]) -> Part {
    let (positions, rotations) = (positions.to_vec(), rotations.to_vec());
    Part {
        name: name.into(),
        role,
        parent,
        positions,
        rotations,
        offset: None,
        tip: None,
        measured: Measured::Whole,
    }
}

/// Positions fixed to a rotating frame.
fn attached(at: &[Vec3], rotations: &[Quat], offset: Vec3) -> Vec<Vec3> {
    at.iter().zip(rotations).map(|(p, q)| p + q * offset).collect()
}

fn trunk_parts(points: &PointTracks, trunk: &Trunk) -> Vec<Part> {
    debug_assert_eq!(points.frames, trunk.hips.len());
    let hips = attached(&trunk.hips_at, &trunk.hips, trunk.pelvis.unwrap_or_else(Vec3::zeros));
    let mut parts = vec![part("Hips", Role::Hips, 0, &hips, &trunk.hips)];
    for (k, joint) in trunk.spine.iter().enumerate() {
        let name = if k == 0 { "Spine".to_owned() } else { format!("Spine{k}") };
        parts.push(part(name, Role::Spine(k as u8), k, &joint.positions, &joint.rotations));
    }
    let chest = parts.len() - 1;
    parts.push(part("Neck", Role::Neck(0), chest, &trunk.neck_at, &trunk.neck));
    if let Some((positions, rotations)) = &trunk.head {
        let head = part("Head", Role::Head, chest + 1, positions, rotations);
        let measured = if trunk.face { Measured::Whole } else { Measured::Guess("where it looks") };
        parts.push(Part { tip: Some(HEAD_TIP.into()), measured, ..head });
    }
    parts
}

fn prefix(side: Side) -> &'static str {
    if side == Side::Left { "Left" } else { "Right" }
}

#[allow(clippy::too_many_arguments, reason = "the parts of one arm, each used once")]
fn arm_parts(
    parts: &mut Vec<Part>,
    chest: usize,
    side: Side,
    points: &PointTracks,
    trunk: &Trunk,
    arm: &FittedLimb,
    hand: &[Quat],
) {
    let k = usize::from(side == Side::Right);
    let shoulder = trunk.shoulders[k];
    let (collar, at) = match (trunk.collars, points.of(side, "collar")) {
        (Some(collars), Some(track)) => (collars[k], track.to_vec()),
        _ => {
            let collar = Vec3::new(ADDED_CLAVICLE * shoulder.x, shoulder.y, shoulder.z);
            (collar, attached(&trunk.chest_at, &trunk.chest, collar))
        }
    };
    let rest = unit(unit(shoulder - collar) + Vec3::y() * libm::sin(CLAVICLE));
    let shoulders = points.joint(side, "shoulder");
    let bones: Vec<Vec3> = differences(shoulders, &at).collect();
    let clavicle = swung_along(&trunk.chest, &rest, &bones);
    let s = prefix(side);
    let first = parts.len();
    let (bone, [upper, lower]) = (ARM.bone(side), ARM.lengths(points));
    parts.push(part(format!("{s}Shoulder"), Role::Clavicle(side), chest, &at, &clavicle));
    let upper_arm = part(format!("{s}Arm"), Role::UpperArm(side), first, shoulders, &arm.upper);
    parts.push(Part { measured: Measured::Twist(arm.seen), ..upper_arm });
    let elbow = points.joint(side, "elbow");
    let forearm = part(format!("{s}ForeArm"), Role::LowerArm(side), first + 1, elbow, &arm.lower);
    let fingers = has_fingers(points, side);
    let measured = if fingers { Measured::Whole } else { Measured::Guess("the rotation about the forearm") };
    parts.push(Part { offset: Some(bone * upper), measured, ..forearm });
    let wrist = points.joint(side, "wrist");
    let hand = part(format!("{s}Hand"), Role::Hand(side), first + 2, wrist, hand);
    parts.push(Part { offset: Some(bone * lower), tip: Some(bone * HAND_TIP), measured, ..hand });
}

fn leg_parts(
    parts: &mut Vec<Part>,
    side: Side,
    points: &PointTracks,
    trunk: &Trunk,
    leg: &FittedLimb,
    feet: &Feet,
) {
    let k = usize::from(side == Side::Right);
    let (s, first) = (prefix(side), parts.len());
    let (bone, [upper, lower]) = (LEG.bone(side), LEG.lengths(points));
    let hip = attached(&trunk.hips_at, &trunk.hips, trunk.hip_joints[k]);
    let thigh = part(format!("{s}UpLeg"), Role::UpperLeg(side), 0, &hip, &leg.upper);
    parts.push(Part { measured: Measured::Twist(leg.seen), ..thigh });
    let knee = points.joint(side, "knee");
    let shin = part(format!("{s}Leg"), Role::LowerLeg(side), first, knee, &leg.lower);
    parts.push(Part { offset: Some(bone * upper), ..shin });
    let ankle = points.joint(side, "ankle");
    let foot = part(format!("{s}Foot"), Role::Foot(side), first + 1, ankle, &feet.rotations[k]);
    let tip = feet.toes.is_none().then(|| FOOT_TIP.into());
    parts.push(Part { offset: Some(bone * lower), tip, ..foot });
    if let Some(toes) = &feet.toes {
        let at: Vec<Vec3> = ankle.iter().zip(&toes[k]).map(|(a, toe)| a + toe).collect();
        let toe = part(format!("{s}ToeBase"), Role::Toes(side), first + 2, &at, &feet.rotations[k]);
        parts.push(Part { tip: Some(TOE_TIP.into()), ..toe });
    }
}

/// The offset of each part from its parent: known, or the median over the frames; the same on both sides.
fn offsets(parts: &[Part]) -> Vec<Vec3> {
    let median = |k: usize| match parts[k].offset {
        Some(offset) => offset,
        None if k == 0 => Vec3::zeros(),
        None => {
            let part = &parts[k];
            let parent = &parts[part.parent];
            let frames = part.positions.iter().zip(&parent.positions).zip(&parent.rotations);
            median_of(frames.map(|((p, at), q)| q.inverse_transform_vector(&(p - at))))
        }
    };
    let found: Vec<Vec3> = parallel::map(parts.len(), 1, median);
    let symmetric = |(k, part): (usize, &Part)| {
        let mirrored = parts.iter().position(|p| p.role == part.role.mirrored()).unwrap_or(k);
        let flip = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
        (found[k] + flip(found[mirrored])) * 0.5
    };
    parts.iter().enumerate().map(symmetric).collect()
}

type Assembled = (Rig, Clip, (f64, f64));

fn assembled(parts: Vec<Part>, dt: f64, name: &str) -> Result<Assembled, SkeletonError> {
    let offsets = offsets(&parts);
    // The rest pose stands on the ground.
    let mut rest: Vec<Vec3> = Vec::with_capacity(parts.len());
    for (part, offset) in parts.iter().zip(&offsets) {
        let parent = rest.get(part.parent).copied().unwrap_or_else(Vec3::zeros);
        rest.push(parent + offset);
    }
    let ground = rest.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let joint = |(k, part): (usize, &Part)| {
        let parent = (k > 0).then(|| JointId::new(part.parent));
        let offset = if k == 0 { Vec3::new(0.0, -ground, 0.0) } else { offsets[k] };
        Joint { tip: part.tip, ..Joint::new(&part.name, parent, Transform::from_translation(offset)) }
    };
    let skeleton = Skeleton::new(parts.iter().enumerate().map(joint).collect())?;
    let frames = parts[0].positions.len();
    let mut rotations = Vec::with_capacity(frames * parts.len());
    let mut distances = Vec::with_capacity(frames * parts.len());
    let mut at = vec![Vec3::zeros(); parts.len()];
    for f in 0..frames {
        for (k, part) in parts.iter().enumerate() {
            let parent = &parts[part.parent].rotations[f];
            rotations.push(if k == 0 { part.rotations[f] } else { parent.inverse() * part.rotations[f] });
            at[k] = if k == 0 { part.positions[f] } else { at[part.parent] + parent * offsets[k] };
            distances.push((at[k] - part.positions[f]).norm());
        }
    }
    let assign = |(k, part): (usize, &Part)| (part.role, part.measured.assignment(JointId::new(k)));
    let roles: Vec<_> = parts.iter().enumerate().map(assign).collect();
    let hips = parts.into_iter().next().map_or_else(Vec::new, |part| part.positions);
    let mut clip = Clip::new(name, 1.0 / dt, skeleton.len(), rotations, vec![JointId::new(0)], hips);
    fix_hemispheres(&mut clip);
    let distance = (percentile(&distances, 0.5), percentile(&distances, 0.95));
    Ok((Rig::new(skeleton, roles), clip, distance))
}
