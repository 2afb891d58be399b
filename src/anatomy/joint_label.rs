//! Parses a joint name of any naming convention into words, a side and numbers.
//!
//! `mixamorig:LeftForeArm`, `DEF-forearm.L.001`, `J_Bip_L_LowerArm`, `LFArm`, `lForearmBend`, `左ひじ` all contain a
//! side and a body part; namespaces, tool prefixes and separators are dropped. Words written without a separator are
//! split with the vocabulary; words that have a meaning only together are joined.

use super::spelling::{CharRun, runs, usual_width};
use super::vocabulary::{Sense, Vocabulary};
use crate::model::Side;

/// A parsed joint name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointLabel {
    /// Lower-case words without sides, numbers and tool prefixes.
    pub words: Vec<String>,
    /// The side in the name.
    pub side: Option<Side>,
    /// The numbers of the name in order.
    pub numbers: Vec<u32>,
}

/// Words of a name that may form one vocabulary word: `upper`, `arm`; `colonne`, `vertebrale`.
const MOST_JOINED: usize = 4;

/// A word of a name and the index of its run.
struct Token {
    word: String,
    run: usize,
}

impl JointLabel {
    /// Parses a joint name with the built-in vocabulary.
    pub fn of(name: &str) -> JointLabel {
        JointLabel::with(Vocabulary::built_in(), name)
    }

    /// Parses a joint name with the words of `vocabulary`.
    pub fn with(vocabulary: &Vocabulary, name: &str) -> JointLabel {
        let local = name.rsplit([':', '|']).next().unwrap_or(name);
        // Bethesda's short names in brackets repeat the long ones: `NPC L Thigh [LThg]`.
        let local = local.split_once('[').map(|l| l.0).filter(|l| !l.trim().is_empty()).unwrap_or(local);
        let runs = runs(&usual_width(local));
        let mut label = JointLabel::default();
        if local.starts_with("__") {
            // MakeHuman's stubs, which only lead to the joint of the same name.
            label.words.push("helper".into());
        }
        // The whole name with its digits may be a word: Xsens' `L5` and `T12`, and words that the user adds.
        if runs.iter().any(|r| r.digits) {
            let whole: String = runs.iter().map(|r| r.text.as_str()).collect();
            if vocabulary.knows(&whole) {
                label.words.push(whole);
                return label;
            }
        }
        let mut tokens: Vec<Token> = Vec::new();
        let mut tool_numbers = 0;
        for (run, found) in runs.iter().enumerate() {
            if found.digits {
                // A word may include digits: `zampa1`, added by the user.
                if let Some(token) = tokens.last_mut().filter(|t| found.glued && t.word.chars().count() > 1) {
                    let word = format!("{}{}", token.word, found.text);
                    if vocabulary.knows(&word) {
                        token.word = word;
                        continue;
                    }
                }
                let only_tool = tokens.iter().all(|t| vocabulary.is_noise(&t.word));
                if found.glued && only_tool && !tokens.is_empty() {
                    tool_numbers += 1;
                }
                // UMA's `Finger04_01` is finger 4, joint 1; `FingerL51` is finger 5, joint 1.
                let more = runs[run + 1..].iter().any(|r| r.digits && !is_copy(r));
                let of_run = tokens.iter().filter(|t| t.run + 1 == run);
                let after_finger = found.glued && !(more && found.text.starts_with('0'));
                let after_finger =
                    after_finger && of_run.into_iter().any(|t| is_any_finger(vocabulary, &t.word));
                label.numbers.extend(numbers(&found.text, after_finger));
            } else {
                tokens.extend(words_of(vocabulary, found).into_iter().map(|word| Token { word, run }));
            }
        }
        label.take_side(vocabulary, &mut tokens);
        label.words.extend(join(vocabulary, tokens));
        // A name made only of tool words keeps them and its numbers: a joint called `base` or `bone`.
        if label.words.iter().any(|w| !vocabulary.is_noise(w)) {
            label.words.retain(|w| !vocabulary.is_noise(w));
            label.numbers.drain(..tool_numbers.min(label.numbers.len()));
        }
        label
    }

    /// Removes the words that denote a side from `tokens`; the first one counts.
    ///
    /// Short words such as the `g` of `bras.g` denote a side only in a name with a word of the same language.
    fn take_side(&mut self, vocabulary: &Vocabulary, tokens: &mut Vec<Token>) {
        let has_language = |language: &String| {
            let others = tokens.iter().filter(|t| vocabulary.side(&t.word).is_none());
            others.flat_map(|t| vocabulary.meanings(&t.word)).any(|m| m.languages.contains(language))
        };
        let is_side = |token: &Token| {
            let (side, languages) = vocabulary.side(&token.word)?;
            let long = token.word.chars().count() > 2 || !token.word.chars().all(char::is_lowercase);
            let fits = |l: &String| l == "en" || has_language(l);
            (long || languages.is_empty() || languages.iter().any(fits)).then_some(side)
        };
        let sides: Vec<Option<Side>> = tokens.iter().map(is_side).collect();
        self.side = sides.iter().find_map(|s| *s);
        let mut keep = sides.iter().map(Option::is_none);
        tokens.retain(|_| keep.next().unwrap_or(true));
    }

    /// Whether two labels have equal words, side and numbers. Labels without words are equal to none.
    pub fn is_same(&self, other: &JointLabel) -> bool {
        !self.words.is_empty() && self == other
    }
}

/// Whether two names have equal words, side and numbers, in whatever spelling.
pub fn same_words(a: &str, b: &str) -> bool {
    a == b || JointLabel::of(a).is_same(&JointLabel::of(b))
}

fn is_any_finger(vocabulary: &Vocabulary, word: &str) -> bool {
    vocabulary.meanings(word).iter().any(|m| m.sense == Sense::AnyFinger)
}

/// Whether a number is Blender's mark of a copy: `.001`.
fn is_copy(run: &CharRun) -> bool {
    !run.glued && run.text.len() == 3
}

/// The number in `digits`; two numbers directly after the word `finger`: Biped's `Finger01` is finger 0, joint 1.
fn numbers(digits: &str, after_finger: bool) -> Vec<u32> {
    match digits.as_bytes() {
        [finger, joint] if after_finger => vec![u32::from(finger - b'0'), u32::from(joint - b'0')],
        _ => digits.parse().into_iter().collect(),
    }
}

/// Splits a run of letters into words.
fn words_of(vocabulary: &Vocabulary, run: &CharRun) -> Vec<String> {
    if vocabulary.knows(&run.text) {
        return vec![run.text.clone()];
    }
    // A side letter before a word with a capital of its own: `LFArm` is `l` and `farm`, not `lf` and `arm`.
    if run.led
        && let Some(rest) = run.text.strip_prefix(['l', 'r'])
        && vocabulary.knows(rest)
    {
        return vec![run.text[..1].to_owned(), rest.to_owned()];
    }
    if run.words.iter().all(|w| vocabulary.knows(w)) {
        return run.words.clone();
    }
    if let Some(words) = vocabulary.split(&run.text) {
        return words;
    }
    if run.words.len() == 1 {
        return run.words.clone();
    }
    let split = |word: &String| vocabulary.split(word).unwrap_or_else(|| vec![word.clone()]);
    run.words.iter().flat_map(split).collect()
}

/// Joins neighbouring tokens that form one vocabulary word, the longest sequence first: `upper`, `arm` are
/// `upperarm`.
///
/// A helper word is joined within one run only: `LHipJoint` is CMU's stub above the thigh, `left_hip_joint` is a hip.
fn join(vocabulary: &Vocabulary, tokens: Vec<Token>) -> Vec<String> {
    let (mut words, mut joined) = (Vec::new(), String::new());
    let mut at = 0;
    while at < tokens.len() {
        let part = &tokens[at..tokens.len().min(at + MOST_JOINED)];
        joined.clear();
        // Where the joined word of so many tokens ends.
        let mut ends = [0; MOST_JOINED];
        for (end, token) in ends.iter_mut().zip(part) {
            joined.push_str(&token.word);
            *end = joined.len();
        }
        let known = (2..=part.len()).rev().find(|count| {
            let one_run = part[..*count].iter().all(|t| t.run == part[0].run);
            let word = &joined[..ends[count - 1]];
            vocabulary.knows(word) && (one_run || !vocabulary.is_helper(word))
        });
        let count = known.unwrap_or(1);
        let word = joined[..ends[count - 1]].to_owned();
        words.push(word);
        at += count;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> (String, Option<Side>, Vec<u32>) {
        let label = JointLabel::of(name);
        (label.words.join(" "), label.side, label.numbers)
    }

    #[test]
    fn conventions_of_many_tools_give_the_same_label() {
        let left = Some(Side::Left);
        for name in [
            "mixamorig:LeftForeArm",
            "mixamorig1:LeftForeArm",
            "mixamorigLeftForeArm",
            "Character1_LeftForeArm",
            "DEF-forearm.L",
            "l_forearm",
            "Bip01 L Forearm",
            "Bip001_L_Forearm",
            "ValveBiped.Bip01_L_Forearm",
            "forearm_l",
            "LForeArm",
            "lForearmBend",
            "FullBody_Left_Forearm",
            "left_forearm_joint",
            "LEFT_FOREARM",
            "LEFTFOREARM",
            "Bone.ForearmLeft",
            "ForeArmL",
        ] {
            assert_eq!(parsed(name), ("forearm".into(), left, vec![]), "{name}");
        }
        assert_eq!(parsed("J_Bip_L_UpperArm").0, "upperarm");
        assert_eq!(parsed("LUArm"), ("uarm".into(), left, vec![]));
        assert_eq!(parsed("LFArm"), ("farm".into(), left, vec![]));
        assert_eq!(parsed("lf_arm"), ("arm".into(), left, vec![]));
        assert_eq!(parsed("ltoes"), ("toes".into(), left, vec![]));
        assert_eq!(parsed("lThighTwist"), ("thigh twist".into(), left, vec![]));
        assert_eq!(parsed("mShoulderLeft"), ("shoulder".into(), left, vec![]));
        assert_eq!(parsed("LHipJoint"), ("hipjoint".into(), left, vec![]));
        assert_eq!(parsed("lhipjoint"), ("hipjoint".into(), left, vec![]));
        assert_eq!(parsed("left_hip_joint"), ("hip".into(), left, vec![]));
        assert_eq!(parsed("upper body2"), ("upperbody".into(), None, vec![2]));
        assert_eq!(parsed("LEFT_TOE_BASE"), ("toebase".into(), left, vec![]));
        assert_eq!(parsed("rhand"), ("hand".into(), Some(Side::Right), vec![]));
        assert_eq!(parsed("DEF-thigh.R.001"), ("thigh".into(), Some(Side::Right), vec![1]));
        assert_eq!(parsed("finger2-1.L"), ("finger".into(), left, vec![2, 1]));
        assert_eq!(parsed("Bip01 L Finger01"), ("finger".into(), left, vec![0, 1]));
        assert_eq!(parsed("Bip01 L Finger1"), ("finger".into(), left, vec![1]));
        assert_eq!(parsed("left_handIndex_1_joint"), ("hand index".into(), left, vec![1]));
        assert_eq!(parsed("Spine1_M"), ("spine".into(), None, vec![1]));
        assert_eq!(parsed("ring_01.r"), ("ring".into(), Some(Side::Right), vec![1]));
        assert_eq!(parsed("L5"), ("l5".into(), None, vec![]));
        assert_eq!(parsed("Base"), ("base".into(), None, vec![]));
        assert_eq!(parsed("Bone01"), ("bone".into(), None, vec![1]));
        assert_eq!(parsed(""), (String::new(), None, vec![]));
    }

    #[test]
    fn names_in_many_languages_are_split() {
        let left = Some(Side::Left);
        assert_eq!(parsed("左ひざ"), ("ひざ".into(), left, vec![]));
        assert_eq!(parsed("腕.L"), ("腕".into(), left, vec![]));
        assert_eq!(parsed("左人指１"), ("人指".into(), left, vec![1]));
        assert_eq!(parsed("左足ＩＫ"), ("足 ik".into(), left, vec![]));
        assert_eq!(parsed("左大腿"), ("大腿".into(), left, vec![]));
        assert_eq!(parsed("왼쪽 발목"), ("발목".into(), left, vec![]));
        assert_eq!(parsed("Левое_Предплечье"), ("предплечье".into(), left, vec![]));
        assert_eq!(parsed("Épaule.G"), ("epaule".into(), left, vec![]));
        assert_eq!(parsed("Oberschenkel links"), ("oberschenkel".into(), left, vec![]));
        assert_eq!(parsed("Muslo_Izq"), ("muslo".into(), left, vec![]));
        // `g` is no side next to an English word, nor is MikuMikuDance's `D` for duplicate joints.
        assert_eq!(parsed("hand.g"), ("hand g".into(), None, vec![]));
        assert_eq!(parsed("左足D"), ("足 d".into(), left, vec![]));
    }

    #[test]
    fn names_in_other_spellings_are_the_same() {
        assert!(same_words("mixamorig:LeftArm", "left_arm"));
        assert!(same_words("Upper Arm.L", "LeftUpperArm"));
        assert!(same_words("odd name", "odd name"));
        assert!(!same_words("LeftArm", "RightArm"));
        assert!(!same_words("Spine1", "Spine2"));
        assert!(!same_words("Bone01", "Bone02"));
        assert!(!same_words("", "1"));
    }
}
