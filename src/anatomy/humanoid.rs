//! Roles from the humanoid map of a VRM 0.x or 1.0 file.

use crate::model::{Finger, JointId, Role, Side};

/// A file's humanoid map (VRM): the format's name of each humanoid bone, and the joint.
pub type HumanoidMap = [(String, JointId)];

/// The roles of the map.
pub(super) fn roles(map: &HumanoidMap) -> Vec<(Role, JointId)> {
    compact_spine(map.iter().filter_map(|(word, joint)| Some((vrm_role(word)?, *joint))).collect())
}

/// The role of a VRM humanoid bone, version 0.x or 1.0.
fn vrm_role(word: &str) -> Option<Role> {
    let (side, rest) = match (word.strip_prefix("left"), word.strip_prefix("right")) {
        (Some(rest), _) => (Side::Left, rest),
        (_, Some(rest)) => (Side::Right, rest),
        _ => {
            return match word {
                "hips" => Some(Role::Hips),
                "spine" => Some(Role::Spine(0)),
                "chest" => Some(Role::Spine(1)),
                "upperChest" => Some(Role::Spine(2)),
                "neck" => Some(Role::Neck(0)),
                "head" => Some(Role::Head),
                _ => None,
            };
        }
    };
    let finger = |f: Finger, segment: &str| match segment {
        // VRM 1.0 numbers the thumb from its metacarpal, 0.x from the proximal bone.
        "Metacarpal" => Some(Role::Finger(side, f, 0)),
        "Proximal" => Some(Role::Finger(side, f, 0)),
        "Intermediate" => Some(Role::Finger(side, f, 1)),
        "Distal" => Some(Role::Finger(side, f, 2)),
        _ => None,
    };
    match rest {
        "Shoulder" => Some(Role::Clavicle(side)),
        "UpperArm" => Some(Role::UpperArm(side)),
        "LowerArm" => Some(Role::LowerArm(side)),
        "Hand" => Some(Role::Hand(side)),
        "UpperLeg" => Some(Role::UpperLeg(side)),
        "LowerLeg" => Some(Role::LowerLeg(side)),
        "Foot" => Some(Role::Foot(side)),
        "Toes" => Some(Role::Toes(side)),
        _ => {
            let names = [
                ("Thumb", Finger::Thumb),
                ("Index", Finger::Index),
                ("Middle", Finger::Middle),
                ("Ring", Finger::Ring),
                ("Little", Finger::Little),
            ];
            names.iter().find_map(|(name, f)| finger(*f, rest.strip_prefix(name)?))
        }
    }
}

/// Renumbers chains with optional bones: a chest without an upper chest, and the thumb of VRM 1.0, whose proximal
/// joint is the second one where it has a metacarpal.
fn compact_spine(mut roles: Vec<(Role, JointId)>) -> Vec<(Role, JointId)> {
    for side in Side::BOTH {
        let thumb = |n| Role::Finger(side, Finger::Thumb, n);
        let first: Vec<usize> = (0..roles.len()).filter(|&i| roles[i].0 == thumb(0)).collect();
        if let [a, b] = first[..] {
            let later = if roles[a].1 < roles[b].1 { b } else { a };
            roles[later].0 = thumb(1);
        }
    }
    let mut spine: Vec<usize> = (0..roles.len()).filter(|&i| matches!(roles[i].0, Role::Spine(_))).collect();
    spine.sort_by_key(|&i| roles[i].0);
    for (n, i) in (0u8..).zip(spine) {
        roles[i].0 = Role::Spine(n);
    }
    roles
}
