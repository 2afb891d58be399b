//! What the words of joint names stand for, in the conventions people use.
//!
//! Mixamo, MotionBuilder/HumanIK, Biovision, CMU (ASF), Unreal, Unity and VRM, Rigify, MakeHuman, Biped, DAZ,
//! Quaternius and KayKit rigs were looked at. A word may stand for several parts (`LeftShoulder` is a collar bone
//! here and an upper arm there): each reading has a weight, and the order along the limb decides.

use super::labels::Label;
use crate::model::Finger;

/// A body part without its side: the slots of a limb, from the body outwards, and the parts of the trunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Hips,
    Spine,
    Neck,
    Head,
    Clavicle,
    UpperArm,
    LowerArm,
    Hand,
    UpperLeg,
    LowerLeg,
    Foot,
    Toes,
    Tail,
}

/// Words that mark a joint as a helper of the rig and not a part of the body.
const HELPERS: &[&str] = &[
    "pole",
    "target",
    "ik",
    "ctrl",
    "control",
    "socket",
    "twist",
    "roll",
    "helper",
    "nub",
    "end",
    "eff",
    "breast",
    "ear",
    "eye",
    "brow",
    "lid",
    "lip",
    "jaw",
    "teeth",
    "tongue",
    "nose",
    "cheek",
    "weapon",
    "prop",
    "attach",
    "metacarpal",
    "ff",
    "ffb",
    "hat",
];

/// What the label may stand for, with a weight from 0 to 1 each; nothing for helpers and unknown words.
pub fn readings(label: &Label) -> Vec<(Part, f64)> {
    if label.words.iter().any(|w| HELPERS.contains(&w.as_str())) {
        return Vec::new();
    }
    let (words, limb) = limb_of(label);
    let sided = label.side.is_some();
    use Part::*;
    let found: &[(Part, f64)] = match words.as_str() {
        "hips" | "pelvis" if !sided => &[(Hips, 1.0)],
        "hip" if !sided => &[(Hips, 0.9)],
        "cog" | "centerofgravity" => &[(Hips, 0.7)],
        "bodylow" | "lowerbody" => &[(Hips, 0.6)],
        "spine" | "chest" | "upperchest" | "torso" | "abdomen" | "ab" | "lowerback" | "upperback"
        | "thorax" | "belly" | "bodyup" | "upperbody" | "ribcage" | "stomach" | "waist"
            if !sided =>
        {
            &[(Spine, 1.0)]
        }
        "neck" | "lowerneck" | "upperneck" | "necktop" if !sided => &[(Neck, 1.0)],
        "head" if !sided => &[(Head, 1.0)],
        "tail" if !sided => &[(Tail, 1.0)],
        _ if !sided => &[],
        "clavicle" | "collar" | "collarbone" | "scapula" => &[(Clavicle, 1.0)],
        "shoulder" | "shldr" => &[(Clavicle, 0.6), (UpperArm, 0.6)],
        "upperarm" | "uparm" | "upparm" | "humerus" | "bicep" | "armupper" => &[(UpperArm, 1.0)],
        "arm" => &[(UpperArm, 0.8)],
        "lowerarm" | "loarm" | "lowarm" | "forearm" | "elbow" | "ulna" | "radius" | "armlower" => {
            &[(LowerArm, 1.0)]
        }
        "wrist" => &[(Hand, 0.95)],
        "hand" => &[(Hand, 0.9)],
        "palm" => &[(Hand, 0.7)],
        "upperleg" | "upleg" | "uppleg" | "thigh" | "femur" | "legupper" => &[(UpperLeg, 1.0)],
        "hip" => &[(UpperLeg, 0.8)],
        "lowerleg" | "loleg" | "lowleg" | "shin" | "calf" | "knee" | "tibia" | "leglower" => {
            &[(LowerLeg, 1.0)]
        }
        "leg" => &[(LowerLeg, 0.7), (UpperLeg, 0.3)],
        "ankle" => &[(Foot, 1.0)],
        "foot" | "feet" => &[(Foot, 0.95)],
        "toe" | "toes" | "toebase" | "ball" | "foretoe" => &[(Toes, 1.0)],
        _ => &[],
    };
    found
        .iter()
        .map(|&(part, weight)| (if limb == Limb::Front { part.of_front_leg() } else { part }, weight))
        .collect()
}

/// Which pair of limbs a quadruped's name speaks of.
#[derive(PartialEq)]
enum Limb {
    Any,
    Front,
}

/// The words without `front` and `back`, which tell the legs of a quadruped apart.
fn limb_of(label: &Label) -> (String, Limb) {
    let mut limb = Limb::Any;
    let mut words = Vec::new();
    for word in &label.words {
        match word.as_str() {
            "front" | "fore" if label.words.len() > 1 => limb = Limb::Front,
            "back" | "hind" | "rear" if label.words.len() > 1 => {}
            _ => words.push(word.as_str()),
        }
    }
    let joined = words.concat();
    // `fore arm` and `lower back` are one word each, not a front limb and a hind one.
    match joined.as_str() {
        "arm" | "toe" if limb == Limb::Front && !label.words.iter().any(|w| w == "front") => {
            (format!("fore{joined}"), Limb::Any)
        }
        "lower" | "upper" => (label.joined(), Limb::Any),
        _ => (joined, limb),
    }
}

impl Part {
    /// The front leg of a quadruped is its arm.
    fn of_front_leg(self) -> Part {
        match self {
            Part::UpperLeg => Part::UpperArm,
            Part::LowerLeg => Part::LowerArm,
            Part::Foot => Part::Hand,
            other => other,
        }
    }
}

/// The finger that a label speaks of, if any.
pub fn finger(label: &Label) -> Option<Finger> {
    if label.words.iter().any(|w| HELPERS.contains(&w.as_str())) {
        return None;
    }
    let by_word = label.words.iter().find_map(|w| match w.as_str() {
        "thumb" => Some(Finger::Thumb),
        "index" | "findex" | "pointer" => Some(Finger::Index),
        "middle" | "mid" | "fmiddle" => Some(Finger::Middle),
        "ring" | "fring" => Some(Finger::Ring),
        "pinky" | "little" | "pinkie" | "fpinky" => Some(Finger::Little),
        _ => None,
    });
    // MakeHuman and Biped count the fingers from the thumb: MakeHuman from 1, Biped from 0.
    by_word.or_else(|| match (label.joined().as_str(), label.numbers.as_slice()) {
        ("finger", [n @ 1..=5, _, ..]) => Some(Finger::ALL[*n as usize - 1]),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(name: &str) -> Option<Part> {
        readings(&Label::of(name)).into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|r| r.0)
    }

    #[test]
    fn names_of_many_conventions_find_their_part() {
        for (name, part) in [
            ("mixamorig:LeftUpLeg", Part::UpperLeg),
            ("LeftLeg", Part::LowerLeg),
            ("LeftHip", Part::UpperLeg),
            ("Hips", Part::Hips),
            ("lowerback", Part::Spine),
            ("thigh.l", Part::UpperLeg),
            ("DEF-front_thigh.L", Part::UpperArm),
            ("FrontLowerLeg.R", Part::LowerArm),
            ("BackUpperLeg.L", Part::UpperLeg),
            ("LeftForeArm", Part::LowerArm),
            ("l_foreToe", Part::Toes),
            ("LoArm_L", Part::LowerArm),
            ("J_Bip_C_UpperChest", Part::Spine),
            ("wrist.l", Part::Hand),
            ("RightToeBase", Part::Toes),
        ] {
            assert_eq!(best(name), Some(part), "{name}");
        }
        for name in
            ["PoleTarget.L", "IKBackLeg.L", "pelvis.L", "socket_hand_L", "upperarm_twist_l", "Armature", ""]
        {
            assert_eq!(best(name), None, "{name}");
        }
    }

    #[test]
    fn fingers_are_named_or_counted() {
        let of = |name| finger(&Label::of(name));
        assert_eq!(of("mixamorig:LeftHandThumb1"), Some(Finger::Thumb));
        assert_eq!(of("finger5-2.R"), Some(Finger::Little));
        assert_eq!(of("DEF-f_ring.01.L"), Some(Finger::Ring));
        assert_eq!(of("LeftHand"), None);
    }
}
