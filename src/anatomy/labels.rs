//! A joint's name becomes words, a side and a number, whatever the convention it follows.
//!
//! `mixamorig:LeftForeArm`, `DEF-forearm.L.001`, `J_Bip_L_LowerArm`, `LHipJoint`, `bip01 l forearm` all say a side
//! and a body part; namespaces, tool prefixes and separators say nothing.

use crate::model::Side;

/// What a name says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// Lower-case words without sides, numbers and tool prefixes.
    pub words: Vec<String>,
    /// The side that the name claims.
    pub side: Option<Side>,
    /// The numbers of the name in order.
    pub numbers: Vec<u32>,
}

/// Words that name the tool or the kind of node and not the body part.
const PREFIXES: &[&str] = &[
    "mixamorig",
    "bip",
    "bip01",
    "bip001",
    "def",
    "org",
    "jnt",
    "joint",
    "bone",
    "character",
    "cc",
    "base",
    "j",
    "valvebiped",
    "rig",
    "skel",
    "bn",
    "sk",
    "c",
    "b",
];

/// Body words that a glued side letter may stand before, as in `lhand` or `rthumb`.
const GLUED: &[&str] = &[
    "hand", "foot", "arm", "leg", "thigh", "shin", "calf", "toe", "toes", "thumb", "fingers", "hip", "knee",
    "elbow", "wrist", "ankle", "shoulder", "collar", "clavicle", "forearm", "upperarm", "femur", "tibia",
    "humerus", "radius", "shldr", "eye",
];

impl Label {
    /// The label of a joint name.
    pub fn of(name: &str) -> Label {
        let name = name.rsplit([':', '|']).next().unwrap_or(name);
        let mut label = Label::default();
        if name.starts_with("__") {
            // MakeHuman's stubs that only lead to the joint of the same name.
            label.words.push("helper".into());
        }
        for token in tokens(name) {
            if let Ok(number) = token.parse::<u32>() {
                label.numbers.push(number);
                continue;
            }
            match token.as_str() {
                "l" | "left" | "lft" | "lf" | "左" => label.side = label.side.or(Some(Side::Left)),
                "r" | "right" | "rgt" | "rt" | "右" => label.side = label.side.or(Some(Side::Right)),
                _ => label.words.push(token),
            }
        }
        // A lone prefix is the name itself: a joint called `base` or `bone` keeps its word.
        let says_more = label.words.iter().any(|w| !PREFIXES.contains(&w.as_str()));
        // CMU's `LHipJoint` is a stub between the hips and the thigh, not the hip: there `joint` says something.
        let stub = label.words.windows(2).any(|w| w[0] == "hip" && w[1] == "joint");
        if says_more && !stub {
            label.words.retain(|w| !PREFIXES.contains(&w.as_str()));
        }
        if label.side.is_none() {
            label.unglue_side();
        }
        label
    }

    /// Takes the side out of a word such as `lhand`, `leftarm` or `rtoes`.
    fn unglue_side(&mut self) {
        for word in &mut self.words {
            let sides = [("left", Side::Left), ("right", Side::Right), ("l", Side::Left), ("r", Side::Right)];
            let split = sides.iter().find_map(|(prefix, side)| {
                let rest = word.strip_prefix(prefix)?;
                GLUED.contains(&rest).then(|| (rest.to_owned(), *side))
            });
            if let Some((rest, side)) = split {
                *word = rest;
                self.side = Some(side);
                return;
            }
        }
    }

    /// Whether two labels name the same thing: words, side and numbers. Labels without words name nothing.
    pub fn says_the_same(&self, other: &Label) -> bool {
        !self.words.is_empty() && self == other
    }

    /// The words without separators: `upper arm` and `UpperArm` both give `upperarm`.
    pub fn joined(&self) -> String {
        self.words.concat()
    }
}

/// Whether two names say the same: words, side and numbers, in whatever spelling.
pub fn same_words(a: &str, b: &str) -> bool {
    a == b || Label::of(a).says_the_same(&Label::of(b))
}

/// The lower-case tokens of a name: split at separators, at digits, and where the case changes.
fn tokens(name: &str) -> Vec<String> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Lower,
        Upper,
        Digit,
        Other,
    }
    let kind = |c: char| match c {
        c if c.is_ascii_digit() => Kind::Digit,
        c if c.is_uppercase() => Kind::Upper,
        c if c.is_alphabetic() => Kind::Lower,
        _ => Kind::Other,
    };
    let chars: Vec<char> = name.chars().collect();
    let mut tokens: Vec<String> = Vec::new();
    let mut current = String::new();
    for (i, &c) in chars.iter().enumerate() {
        let here = kind(c);
        let before = if i == 0 { Kind::Other } else { kind(chars[i - 1]) };
        let after = chars.get(i + 1).map_or(Kind::Other, |&c| kind(c));
        // `LHip` splits before `Hip`: an upper-case letter followed by a lower-case one starts a word.
        let starts = match (before, here) {
            (Kind::Lower | Kind::Digit, Kind::Upper) => true,
            (Kind::Upper, Kind::Upper) => after == Kind::Lower,
            (Kind::Digit, Kind::Lower) | (Kind::Lower | Kind::Upper, Kind::Digit) => true,
            _ => false,
        };
        if (starts || here == Kind::Other) && !current.is_empty() {
            tokens.push(std::mem::take(&mut current));
        }
        if here != Kind::Other {
            current.extend(c.to_lowercase());
        }
    }
    if !current.is_empty() {
        tokens.push(current);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(name: &str) -> (String, Option<Side>, Vec<u32>) {
        let label = Label::of(name);
        (label.joined(), label.side, label.numbers)
    }

    #[test]
    fn conventions_of_many_tools_say_the_same() {
        let left = Some(Side::Left);
        for name in [
            "mixamorig:LeftForeArm",
            "DEF-forearm.L",
            "l_forearm",
            "Bip01 L Forearm",
            "forearm_l",
            "LForeArm",
        ] {
            let (words, side, _) = say(name);
            assert_eq!((words.as_str(), side), ("forearm", left), "{name}");
        }
        assert_eq!(say("J_Bip_L_UpperArm").0, "upperarm");
        assert_eq!(say("LHipJoint"), ("hipjoint".into(), left, vec![]));
        assert_eq!(say("rhand"), ("hand".into(), Some(Side::Right), vec![]));
        assert_eq!(say("DEF-thigh.R.001"), ("thigh".into(), Some(Side::Right), vec![1]));
        assert_eq!(say("finger2-1.L"), ("finger".into(), left, vec![2, 1]));
        assert_eq!(say("Spine1"), ("spine".into(), None, vec![1]));
        assert_eq!(say("ring_01.r"), ("ring".into(), Some(Side::Right), vec![1]));
        assert_eq!(say("Base"), ("base".into(), None, vec![]));
        assert_eq!(say(""), (String::new(), None, vec![]));
    }

    #[test]
    fn names_in_other_spellings_are_the_same() {
        assert!(same_words("mixamorig:LeftArm", "left_arm"));
        assert!(same_words("odd name", "odd name"));
        assert!(!same_words("LeftArm", "RightArm"));
        assert!(!same_words("Spine1", "Spine2"));
        assert!(!same_words("", "1"));
    }
}
