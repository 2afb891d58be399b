//! Detects the roles of a skeleton's joints from names, tree shape and a humanoid map, and builds the rig.

use super::detached_paws::detached_paws;
use super::fingers::fingers;
use super::group_nodes::grouped_joints;
use super::humanoid::{self, HumanoidMap};
use super::joint_names::JointNames;
use super::named_limbs::{self, ARM, GAP_CONFIDENCE, LEG, LimbSlot, limb_role};
use super::named_sides::{ExchangedHalf, SidesByShape};
use super::shape::{self, BodyShape, ShapeEvidence};
use super::shape_gaps;
use super::trunk_chains;
use super::vocabulary::Vocabulary;
use crate::model::{Assignment, JointId, ModelPose, Rig, Role, Side, Skeleton};
use crate::report::Warnings;

/// A rig, with warnings about guesses and corrections.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectedRig {
    /// The skeleton with its roles.
    pub rig: Rig,
    /// Contradictions between names and shape, and guesses.
    pub warnings: Warnings,
}

/// Detects the roles of all joints, with the built-in vocabulary and the rest pose.
pub fn detect_roles(skeleton: Skeleton, rest: &ModelPose, humanoid: &HumanoidMap) -> Rig {
    let names = JointNames::of(&skeleton, Vocabulary::built_in());
    detect_roles_from(&names, skeleton, rest, humanoid, Some(&ShapeEvidence::default())).rig
}

/// Detects the roles of all joints, whose names have been parsed.
///
/// `rest` is the reference pose in model space, Y up, any unit: the bind pose where there is one, else the rest
/// pose. `humanoid` is the map in the file, empty where there is none; it overrides detection. `evidence` is the
/// file's skin and clip; `None` where `rest` is no pose of a body, so that only names are used. A skeleton that is no
/// body yields a rig without roles.
pub fn detect_roles_from(
    names: &JointNames,
    skeleton: Skeleton,
    rest: &ModelPose,
    humanoid: &HumanoidMap,
    evidence: Option<&ShapeEvidence>,
) -> DetectedRig {
    let mut found = FoundRoles::default();
    let mut warnings = Warnings::new();
    let guessed = evidence.filter(|_| humanoid.is_empty());
    let grouped = guessed.map(|evidence| grouped_joints(&skeleton, names, evidence));
    let any = grouped.as_ref().filter(|grouped| grouped.iter().any(Option::is_some));
    let without_groups = any.map(|grouped| names.without_groups(grouped));
    let names = without_groups.as_ref().unwrap_or(names);
    if humanoid.is_empty() {
        let shape = evidence.and_then(|evidence| shape::find(&skeleton, rest, evidence));
        let shape = shape.map(|shape| shape.below_groups(grouped.as_deref().unwrap_or_default()));
        guess(&skeleton, rest, names, (evidence, shape), &mut found, &mut warnings);
    } else {
        for (role, joint) in humanoid::roles(humanoid) {
            found.add(role, joint, 1.0, "the file's humanoid map".into());
        }
    }
    let mut rig = Rig::new(skeleton, found.0);
    let paws = detached_paws(&rig, names, rest, evidence.and_then(|e| e.mass));
    if !paws.is_empty() {
        let known = rig.assignments().map(|(role, a)| (role, a.clone()));
        rig = rig.with_roles(known.chain(paws).collect::<Vec<_>>());
    }
    DetectedRig { rig, warnings }
}

/// Assignments in the order of detection; the first one of a role or a joint stays.
#[derive(Default)]
struct FoundRoles(Vec<(Role, Assignment)>);

impl FoundRoles {
    fn add(&mut self, role: Role, joint: JointId, confidence: f64, reason: String) {
        if !self.0.iter().any(|(r, a)| *r == role || a.joint == joint) {
            self.0.push((role, Assignment::new(joint, confidence, reason)));
        }
    }

    fn chain(&mut self, role: impl Fn(u8) -> Role, joints: &[JointId], confidence: f64, reason: &str) {
        for (n, &joint) in (0..=u8::MAX).zip(joints) {
            self.add(role(n), joint, confidence, reason.into());
        }
    }
}

/// Reason for a role detected by shape alone.
const BY_SHAPE: &str = "the shape of the joint tree";
/// Reason for a role that the shape adds to those of the names.
const GAP: &str = "not its name, but the shape of the joint tree";

/// Roles from names and shape together; from the shape alone where no name denotes a limb.
fn guess(
    skeleton: &Skeleton,
    rest: &ModelPose,
    names: &JointNames,
    (evidence, shape): (Option<&ShapeEvidence>, Option<BodyShape>),
    found: &mut FoundRoles,
    warnings: &mut Warnings,
) {
    let named = [LEG, ARM].iter().flatten().any(|&part| {
        skeleton
            .ids()
            .any(|id| !names.is_vague(id) && names.side(id).is_some() && names.weight(id, part) > 0.0)
    });
    if !named {
        if let Some(mut shape) = shape {
            // Names of other things than limbs are witnesses too: no arm is a beak.
            for limb in shape.legs.iter_mut().chain(&mut shape.arms) {
                if limb.iter().flatten().any(|slot| names.is_helper(slot.0)) {
                    *limb = [None; 4];
                }
            }
            by_shape(skeleton, &shape, found, warnings);
        } else {
            add_trunk(found, &trunk_chains::without_limbs(skeleton, names), "tail and head, by their names");
        }
        return;
    }
    let (sides, shape) = SidesByShape::of(shape, names);
    let [mut legs, mut arms] = limbs(skeleton, rest, names, shape.as_ref());
    let knees = evidence.and_then(|e| shape::knees(skeleton, &legs, e));
    let mirrored = evidence.is_some_and(|evidence| evidence.mirrored);
    let (exchanged, warning) = sides.judge(shape.as_ref(), (rest, &legs), knees, mirrored);
    if exchanged {
        legs.reverse();
        arms.reverse();
    }
    if let Some((word, said)) = warning {
        warnings.add(word, said, thigh_name(skeleton, &legs));
    }
    let half = exchange_half((skeleton, rest), &mut legs, &mut arms, warnings);
    let arms_exchanged = exchanged != (half == Some(ExchangedHalf::Arms));

    let first = |limb: &[LimbSlot; 4]| limb.iter().flatten().next().map(|s| s.0);
    let thighs: Vec<JointId> = legs.iter().filter_map(first).collect();
    let shoulders: Vec<JointId> = arms.iter().filter_map(first).collect();
    let trunk =
        trunk_chains::find(skeleton, names, rest, (&thighs, &shoulders), evidence.and_then(|e| e.clip));
    if let Some((hips, confidence, why)) = trunk.hips {
        found.add(Role::Hips, hips, confidence, why.into());
    }
    add_limbs(found, &legs, &arms, |joint| {
        if names.side(joint).is_some() && !names.readings(joint).is_empty() { "its name" } else { GAP }
    });
    add_trunk(found, &trunk, "the hips and the arms");
    warn_of_guesses(skeleton, found, warnings);
    for (n, (side, arm)) in shape::SIDES.into_iter().zip(&arms).enumerate() {
        let Some((hand, _)) = arm[3] else { continue };
        let seen =
            shape.as_ref().map_or(&[][..], |shape| &shape.fingers[if arms_exchanged { 1 - n } else { n }]);
        for (finger, chain) in fingers(skeleton, names, rest, hand, seen) {
            let role = |n| Role::Finger(side, finger, n);
            found.chain(role, &chain, 0.9, "its name, below the hand");
        }
    }
    let Some(shape) = shape.filter(|shape| shape_gaps::witnesses(shape, names).is_some()) else { return };
    let sure = GAP_CONFIDENCE.min(shape.sure);
    for (role, joint) in [(Role::Hips, Some(shape.hips)), (Role::Head, shape.head)] {
        if let Some(joint) = joint.filter(|&joint| !names.is_helper(joint)) {
            found.add(role, joint, sure, GAP.into());
        }
    }
}

/// Exchanges the sides of legs or arms whose names contradict those of the other half, with a warning.
fn exchange_half(
    (skeleton, rest): (&Skeleton, &ModelPose),
    legs: &mut [[LimbSlot; 4]; 2],
    arms: &mut [[LimbSlot; 4]; 2],
    warnings: &mut Warnings,
) -> Option<ExchangedHalf> {
    let half = ExchangedHalf::of((skeleton, rest), legs, arms)?;
    match half {
        ExchangedHalf::Legs => legs.reverse(),
        ExchangedHalf::Arms => arms.reverse(),
        ExchangedHalf::Unknown => {}
    }
    let (word, said) = half.warning();
    warnings.add(word, said, thigh_name(skeleton, legs));
    Some(half)
}

/// Confidence below which a role by a name is a guess: another joint is as likely.
const GUESS: f64 = 0.5;

/// Warns of roles that names only guess: a helper may have the name of the limb.
fn warn_of_guesses(skeleton: &Skeleton, found: &FoundRoles, warnings: &mut Warnings) {
    for (role, guess) in found.0.iter().filter(|(_, assigned)| assigned.confidence < GUESS) {
        let joint = &skeleton.joint(guess.joint).name;
        let said =
            format!("its name hardly fits {role} (confidence {:.2}): check the roles", guess.confidence);
        warnings.add("roles-doubtful", said, format!("joint {joint}"));
    }
}

/// The innermost joint of the left leg, as the place of a warning.
fn thigh_name(skeleton: &Skeleton, legs: &[[LimbSlot; 4]; 2]) -> String {
    let thigh = legs[0].iter().flatten().next();
    format!("joint {}", thigh.map_or("", |slot| skeleton.joint(slot.0).name.as_str()))
}

/// Adds the roles of a trunk by names, whose spine lies between two parts.
fn add_trunk(found: &mut FoundRoles, trunk: &trunk_chains::TrunkChains, between: &str) {
    found.chain(Role::Spine, &trunk.spine, 0.9, &format!("it lies between {between}"));
    found.chain(Role::Neck, &trunk.neck, 0.9, "it lies between the arms and the head");
    if let Some(head) = trunk.head {
        found.add(Role::Head, head, 0.9, "the trunk ends in it".into());
    }
    found.chain(Role::Tail, &trunk.tail, 0.9, "its name");
}

/// Legs and arms by the sides of the names.
fn limbs(
    skeleton: &Skeleton,
    rest: &ModelPose,
    names: &JointNames,
    shape: Option<&BodyShape>,
) -> [[[LimbSlot; 4]; 2]; 2] {
    let seen = shape.and_then(|shape| shape_gaps::witnesses(shape, names));
    let of = |kind: usize, slots| {
        [0, 1]
            .map(|s| named_limbs::limb(skeleton, names, Side::BOTH[s], slots, seen.map(|seen| seen[kind][s])))
    };
    let (mut legs, mut arms) = (of(0, &LEG), of(1, &ARM));
    for leg in &mut legs {
        named_limbs::shift_hind_leg_inwards(skeleton, names, leg);
        named_limbs::ball_of_foot(skeleton, names, rest, leg);
    }
    named_limbs::match_collar_bones(names, &mut arms);
    [legs, arms]
}

/// All roles from the shape alone.
fn by_shape(skeleton: &Skeleton, shape: &BodyShape, found: &mut FoundRoles, warnings: &mut Warnings) {
    found.add(Role::Hips, shape.hips, shape.sure, "legs and trunk branch from it".into());
    add_limbs(found, &shape.legs, &shape.arms, |_| BY_SHAPE);
    found.chain(Role::Spine, &shape.spine, shape.trunk_sure, "it lies between the hips and the arms");
    found.chain(Role::Neck, &shape.neck, shape.trunk_sure, "it lies between the arms and the head");
    if let Some(head) = shape.head {
        found.add(Role::Head, head, shape.sure, "the trunk ends in it".into());
    }
    found.chain(Role::Tail, &shape.tail, shape.sure.min(GAP_CONFIDENCE), "it continues behind the hips");
    for (side, hand) in shape::SIDES.into_iter().zip(&shape.fingers) {
        for (finger, chain) in hand {
            // Two branches may be a thumb and a mitten.
            let sure = if hand.len() < 3 { shape.sure.min(MITTEN) } else { shape.sure };
            let role = |n| Role::Finger(side, *finger, n);
            found.chain(role, chain, sure, "its position in the palm");
        }
    }
    if shape.sure < DOUBTFUL {
        let hips = &skeleton.joint(shape.hips).name;
        let said = format!(
            "joint names say nothing, and the shape is no clear body (confidence {:.2}): check the roles",
            shape.sure
        );
        warnings.add("roles-doubtful", said, format!("joint {hips}"));
    }
    if shape.sides_sure < 0.5 {
        let hips = &skeleton.joint(shape.hips).name;
        warnings.add(
            "sides-guessed",
            "neither names, feet, knees nor hands show the front of the body: +Z is assumed",
            format!("joint {hips}"),
        );
    }
}

/// Confidence of a body without names below which a warning asks to check it: of those above, all development bodies are
/// right.
const DOUBTFUL: f64 = 0.7;

/// Confidence of the fingers of a hand with two branches, which may be a mitten: below 0.5, so a guess.
const MITTEN: f64 = 0.45;

/// Adds the roles of all four limbs.
fn add_limbs(
    found: &mut FoundRoles,
    legs: &[[LimbSlot; 4]; 2],
    arms: &[[LimbSlot; 4]; 2],
    reason: impl Fn(JointId) -> &'static str,
) {
    for (leg, limb_pair) in [(true, legs), (false, arms)] {
        for (side, limb) in shape::SIDES.into_iter().zip(limb_pair) {
            for (slot, filled) in limb.iter().enumerate() {
                if let Some((joint, confidence)) = filled {
                    found.add(limb_role(leg, slot, side), *joint, *confidence, reason(*joint).into());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, Vec3};
    use crate::model::Joint;

    /// A skeleton from `(name, parent, x, y, z)` in model space.
    fn skeleton(joints: &[(&str, &str, [f64; 3])]) -> Skeleton {
        let at = |name: &str| joints.iter().position(|j| j.0 == name).map(JointId::new);
        let list = joints.iter().map(|(name, parent, p)| {
            let parent = at(parent);
            let origin = parent.map_or(Vec3::zeros(), |id| Vec3::from(joints[id.index()].2));
            Joint::new(*name, parent, Transform::from_translation(Vec3::from(*p) - origin))
        });
        Skeleton::new(list.collect()).unwrap()
    }

    fn roles(s: Skeleton) -> Vec<(String, String)> {
        let rest = s.rest_model_pose();
        let rig = detect_roles(s, &rest, &[]);
        rig.assignments().map(|(r, a)| (r.to_string(), rig.skeleton().joint(a.joint).name.clone())).collect()
    }

    fn assert_role(roles: &[(String, String)], role: &str, joint: &str) {
        let found = roles.iter().find(|r| r.0 == role).map(|r| r.1.as_str());
        assert_eq!(found, Some(joint), "{role} in {roles:?}");
    }

    /// A figure in the convention where `LeftShoulder` is the upper arm and `LeftHip` the thigh.
    fn biovision() -> Skeleton {
        skeleton(&[
            ("Hips", "", [0.0, 1.0, 0.0]),
            ("LHipJoint", "Hips", [0.0, 1.0, 0.0]),
            ("LeftHip", "LHipJoint", [0.1, 0.9, 0.0]),
            ("LeftKnee", "LeftHip", [0.1, 0.5, 0.0]),
            ("LeftAnkle", "LeftKnee", [0.1, 0.1, 0.0]),
            ("RightHip", "Hips", [-0.1, 0.9, 0.0]),
            ("RightKnee", "RightHip", [-0.1, 0.5, 0.0]),
            ("RightAnkle", "RightKnee", [-0.1, 0.1, 0.0]),
            ("Chest", "Hips", [0.0, 1.2, 0.0]),
            ("Chest2", "Chest", [0.0, 1.4, 0.0]),
            ("LeftCollar", "Chest2", [0.05, 1.4, 0.0]),
            ("LeftShoulder", "LeftCollar", [0.2, 1.4, 0.0]),
            ("LeftElbow", "LeftShoulder", [0.5, 1.4, 0.0]),
            ("LeftWrist", "LeftElbow", [0.8, 1.4, 0.0]),
            ("RightCollar", "Chest2", [-0.05, 1.4, 0.0]),
            ("RightShoulder", "RightCollar", [-0.2, 1.4, 0.0]),
            ("RightElbow", "RightShoulder", [-0.5, 1.4, 0.0]),
            ("RightWrist", "RightElbow", [-0.8, 1.4, 0.0]),
            ("Neck", "Chest2", [0.0, 1.5, 0.0]),
            ("Head", "Neck", [0.0, 1.6, 0.0]),
        ])
    }

    #[test]
    fn ambiguous_words_are_resolved_by_their_order_along_the_limb() {
        let roles = roles(biovision());
        assert_role(&roles, "left_clavicle", "LeftCollar");
        assert_role(&roles, "left_upper_arm", "LeftShoulder");
        assert_role(&roles, "right_lower_arm", "RightElbow");
        assert_role(&roles, "left_upper_leg", "LeftHip");
        assert_role(&roles, "right_foot", "RightAnkle");
        assert_role(&roles, "spine_1", "Chest2");
        assert_role(&roles, "neck_0", "Neck");
        assert_role(&roles, "hips", "Hips");
    }

    #[test]
    fn the_common_parent_of_legs_and_trunk_is_the_hips_whatever_its_name() {
        let mut joints = biovision().joints().to_vec();
        joints[0].name = "thing".into();
        assert_role(&roles(Skeleton::new(joints).unwrap()), "hips", "thing");
    }

    #[test]
    fn a_tree_without_names_is_detected_by_its_shape() {
        // Without the stub above the left thigh, which only its name distinguishes from a thigh.
        let mut joints = biovision().joints().to_vec();
        joints.remove(1);
        for joint in &mut joints {
            let shifted = |p: JointId| JointId::new(p.index().saturating_sub(1));
            joint.parent = joint.parent.map(shifted);
        }
        // Toes, so that front and back differ.
        for (side, ankle) in [("a", 3), ("b", 6)] {
            let toes = Transform::from_translation(Vec3::new(0.0, -0.08, 0.12));
            joints.push(Joint::new(format!("toe{side}"), Some(JointId::new(ankle)), toes));
        }
        let named = joints.clone();
        for (n, joint) in joints.iter_mut().enumerate() {
            joint.name = format!("node_{n}");
        }
        let blind = roles(Skeleton::new(joints).unwrap());
        let name = |role: &str| {
            let found = blind.iter().find(|r| r.0 == role).unwrap_or_else(|| panic!("{role} in {blind:?}"));
            let n: usize = found.1.trim_start_matches("node_").parse().unwrap();
            named[n].name.clone()
        };
        assert_eq!(name("hips"), "Hips");
        assert_eq!(name("right_upper_leg"), "RightHip");
        assert_eq!(name("right_foot"), "RightAnkle");
        assert_eq!(name("head"), "Head");
        assert_eq!(name("left_lower_arm"), "LeftElbow");
        assert_eq!(name("left_hand"), "LeftWrist");
    }

    #[test]
    fn a_humanoid_map_overrides_names() {
        let s = biovision();
        let map: Vec<(String, JointId)> = [("hips", "Hips"), ("chest", "Chest2"), ("leftHand", "LeftElbow")]
            .map(|(w, j)| (w.to_owned(), s.find(j).unwrap()))
            .to_vec();
        let rest = s.rest_model_pose();
        let rig = detect_roles(s, &rest, &map);
        assert_eq!(rig.joint(Role::Spine(0)), rig.skeleton().find("Chest2"));
        assert_eq!(rig.joint(Role::Hand(Side::Left)), rig.skeleton().find("LeftElbow"));
        assert_eq!(rig.joint(Role::Head), None);
    }

    #[test]
    fn an_object_that_is_no_body_gets_no_roles() {
        let chain =
            skeleton(&[("a", "", [0.0, 0.0, 0.0]), ("b", "a", [0.0, 1.0, 0.0]), ("c", "b", [0.0, 2.0, 0.0])]);
        assert!(roles(chain).is_empty());
    }
}
