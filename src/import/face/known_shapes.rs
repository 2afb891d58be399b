//! Names of morph targets by which a table is recognised as a face take.

/// Fewest known names by which a table is a face take: a table of something else may have a column `neutral` or `oh`.
const FEWEST: usize = 3;

/// The 52 blend shapes of a face (Apple, ARKit, `ARFaceAnchor.BlendShapeLocation`), in lower case.
const ARKIT: &[&str] = &[
    "eyeblinkleft",
    "eyelookdownleft",
    "eyelookinleft",
    "eyelookoutleft",
    "eyelookupleft",
    "eyesquintleft",
    "eyewideleft",
    "eyeblinkright",
    "eyelookdownright",
    "eyelookinright",
    "eyelookoutright",
    "eyelookupright",
    "eyesquintright",
    "eyewideright",
    "jawforward",
    "jawright",
    "jawleft",
    "jawopen",
    "mouthclose",
    "mouthfunnel",
    "mouthpucker",
    "mouthright",
    "mouthleft",
    "mouthsmileleft",
    "mouthsmileright",
    "mouthfrownleft",
    "mouthfrownright",
    "mouthdimpleleft",
    "mouthdimpleright",
    "mouthstretchleft",
    "mouthstretchright",
    "mouthrolllower",
    "mouthrollupper",
    "mouthshruglower",
    "mouthshrugupper",
    "mouthpressleft",
    "mouthpressright",
    "mouthlowerdownleft",
    "mouthlowerdownright",
    "mouthupperupleft",
    "mouthupperupright",
    "browdownleft",
    "browdownright",
    "browinnerup",
    "browouterupleft",
    "browouterupright",
    "cheekpuff",
    "cheeksquintleft",
    "cheeksquintright",
    "nosesneerleft",
    "nosesneerright",
    "tongueout",
];

/// Expressions of VRM 1.0 (VRM Consortium, `VRMC_vrm`), in lower case.
const VRM: &[&str] = &[
    "happy",
    "angry",
    "sad",
    "relaxed",
    "surprised",
    "neutral",
    "aa",
    "ih",
    "ou",
    "ee",
    "oh",
    "blink",
    "blinkleft",
    "blinkright",
    "lookup",
    "lookdown",
    "lookleft",
    "lookright",
];

/// How the names of visemes begin (Oculus Lipsync: `viseme_sil` to `viseme_ou`).
const VISEME: &str = "viseme";

/// The rotations of head and eyes that Live Link Face writes next to the weights: no morph targets.
const ROTATIONS: &[&str] = &[
    "headyaw",
    "headpitch",
    "headroll",
    "lefteyeyaw",
    "lefteyepitch",
    "lefteyeroll",
    "righteyeyaw",
    "righteyepitch",
    "righteyeroll",
];

/// The compared part of a name: its letters and digits, in lower case.
pub(super) fn key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a column holds a rotation of the head or an eye.
pub(super) fn is_rotation(key: &str) -> bool {
    ROTATIONS.contains(&key)
}

/// Whether these names, as [`key`]s, are those of a face.
pub(super) fn are_of_a_face<'a>(keys: impl Iterator<Item = &'a str>) -> bool {
    let known = |key: &&str| ARKIT.contains(key) || VRM.contains(key) || key.starts_with(VISEME);
    keys.filter(known).take(FEWEST).count() == FEWEST
}
