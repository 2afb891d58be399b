//! The dictionary of words in joint names: the table `words.txt`, and words that the user adds.
//!
//! The table covers Mixamo, MotionBuilder (HumanIK), Biovision, CMU (ASF), Unreal, Unity and VRM, Rigify, MakeHuman,
//! Biped, Daz, Kinect, MikuMikuDance and others, in a dozen languages. A word may denote several parts
//! (`LeftShoulder` is a collar bone in one convention, an upper arm in another): each meaning has a weight from 0 to
//! 1, and the order along the limb decides.

use super::spelling::{plain, runs, usual_width};
use crate::model::{Finger, Side};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// A body part without its side: the parts of a limb, from the body outwards, and those of the trunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedPart {
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

impl NamedPart {
    /// Whether the part is in the middle of the body, so that its names have no side.
    pub fn is_trunk(self) -> bool {
        matches!(
            self,
            NamedPart::Hips | NamedPart::Spine | NamedPart::Neck | NamedPart::Head | NamedPart::Tail
        )
    }

    /// The role of a quadruped's front leg is the arm; its toes have no role.
    pub fn of_front_leg(self) -> Option<NamedPart> {
        match self {
            NamedPart::UpperLeg => Some(NamedPart::UpperArm),
            NamedPart::LowerLeg => Some(NamedPart::LowerArm),
            NamedPart::Foot => Some(NamedPart::Hand),
            NamedPart::Toes => None,
            other => Some(other),
        }
    }
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sense {
    /// A part of the body.
    Body(NamedPart),
    /// A finger.
    Finger(Finger),
    /// A finger that its number identifies.
    AnyFinger,
    /// The number of a finger.
    Ordinal(u32),
    /// A joint in the palm.
    Metacarpal,
    /// A side.
    Side(Side),
    /// The front legs of an animal.
    Front,
    /// The hind legs of an animal.
    Hind,
    /// No part of the body.
    Helper,
    /// The end of a part, where it is a leaf of the tree.
    Tip,
    /// Ignored: the tool, the type of node.
    Noise,
}

impl Sense {
    /// Whether a word of this sense marks a joint that is no part of the body.
    pub fn is_helper(self) -> bool {
        matches!(self, Sense::Helper | Sense::Tip)
    }
}

/// The names of all senses in the table and in user settings.
const SENSES: [(&str, Sense); 32] = [
    ("hips", Sense::Body(NamedPart::Hips)),
    ("spine", Sense::Body(NamedPart::Spine)),
    ("neck", Sense::Body(NamedPart::Neck)),
    ("head", Sense::Body(NamedPart::Head)),
    ("tail", Sense::Body(NamedPart::Tail)),
    ("clavicle", Sense::Body(NamedPart::Clavicle)),
    ("upper_arm", Sense::Body(NamedPart::UpperArm)),
    ("lower_arm", Sense::Body(NamedPart::LowerArm)),
    ("hand", Sense::Body(NamedPart::Hand)),
    ("upper_leg", Sense::Body(NamedPart::UpperLeg)),
    ("lower_leg", Sense::Body(NamedPart::LowerLeg)),
    ("foot", Sense::Body(NamedPart::Foot)),
    ("toes", Sense::Body(NamedPart::Toes)),
    ("thumb", Sense::Finger(Finger::Thumb)),
    ("index", Sense::Finger(Finger::Index)),
    ("middle", Sense::Finger(Finger::Middle)),
    ("ring", Sense::Finger(Finger::Ring)),
    ("little", Sense::Finger(Finger::Little)),
    ("finger", Sense::AnyFinger),
    ("first", Sense::Ordinal(1)),
    ("second", Sense::Ordinal(2)),
    ("third", Sense::Ordinal(3)),
    ("fourth", Sense::Ordinal(4)),
    ("fifth", Sense::Ordinal(5)),
    ("metacarpal", Sense::Metacarpal),
    ("left", Sense::Side(Side::Left)),
    ("right", Sense::Side(Side::Right)),
    ("front", Sense::Front),
    ("hind", Sense::Hind),
    ("helper", Sense::Helper),
    ("tip", Sense::Tip),
    ("noise", Sense::Noise),
];

/// The sense with this name.
fn sense(part: &str) -> Option<Sense> {
    SENSES.iter().find(|s| s.0 == part).map(|s| s.1)
}

/// An entry of the dictionary: a word and one of its meanings.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// In normalised spelling, without separators.
    pub(super) text: String,
    pub(super) sense: Sense,
    /// Weight of this meaning, 0 to 1.
    pub(super) weight: f64,
    /// Languages or tools that use the word.
    pub(super) languages: Vec<String>,
}

/// Why a word cannot be added.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WordError {
    /// The word has no letters.
    #[error("`{0}` has no letters and cannot be a word of a joint name")]
    Empty(String),
    /// There is no such part.
    #[error("`{found}` is no part that a word may denote")]
    UnknownPart {
        /// The part as written.
        found: String,
    },
}

impl Word {
    /// The names of all parts that a word may denote.
    pub fn parts() -> Vec<&'static str> {
        SENSES.iter().map(|s| s.0).collect()
    }

    /// The word `text` with `part` as its only meaning.
    ///
    /// # Errors
    /// `text` has no letters, or there is no such part.
    pub fn new(text: &str, part: &str) -> Result<Word, WordError> {
        let word: String = runs(&usual_width(text)).into_iter().map(|r| r.text).collect();
        if !word.chars().any(char::is_alphabetic) {
            return Err(WordError::Empty(text.to_owned()));
        }
        let sense = sense(part).ok_or_else(|| WordError::UnknownPart { found: part.to_owned() })?;
        Ok(Word { text: word, sense, weight: 1.0, languages: Vec::new() })
    }

    /// A line of the table: word, part, weight, languages.
    fn of_line(line: &str) -> Option<Word> {
        let mut columns = line.split_whitespace();
        let text = plain(columns.next()?);
        let sense = sense(columns.next()?)?;
        let weight = columns.next()?.parse().ok().filter(|w| (0.0..=1.0).contains(w))?;
        let languages: Vec<String> = columns.map(str::to_owned).collect();
        (!languages.is_empty()).then_some(Word { text, sense, weight, languages })
    }
}

/// The words in the names of joints.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Accessed by key only, never iterated: the order of the hash map cannot affect a result.
    words: HashMap<String, Vec<Word>, BuildHasherDefault<WordHasher>>,
    /// The length of the longest word in characters.
    longest: usize,
}

/// Hashes short words, eight bytes at a time. The keys are ours and the user's, so that nobody can choose colliding ones; the hash of
/// the standard library, which defends against that, took a tenth of the time of reading names.
#[derive(Clone, Copy, Debug, Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        /// The golden ratio's bits: odd, and without a pattern.
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        for part in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..part.len()].copy_from_slice(part);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(eight)).wrapping_mul(GOLDEN);
        }
    }

    fn finish(&self) -> u64 {
        // Products are best mixed in their upper half; tables use the lowest bits first.
        self.0.rotate_left(32)
    }
}

/// The lines of the table.
fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("words.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#'))
}

static BUILT_IN: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::of(lines().filter_map(Word::of_line)));

impl Vocabulary {
    /// The words of the table `words.txt`.
    pub fn built_in() -> &'static Vocabulary {
        &BUILT_IN
    }

    fn of(words: impl Iterator<Item = Word>) -> Vocabulary {
        let mut vocabulary = Vocabulary { words: HashMap::default(), longest: 0 };
        for word in words {
            vocabulary.longest = vocabulary.longest.max(word.text.chars().count());
            vocabulary.words.entry(word.text.clone()).or_default().push(word);
        }
        vocabulary
    }

    /// A copy with the user's words, which replace those of the table.
    #[must_use]
    pub fn with(&self, user_words: &[Word]) -> Vocabulary {
        let mut all = self.clone();
        for word in user_words {
            all.longest = all.longest.max(word.text.chars().count());
            all.words.insert(word.text.clone(), vec![word.clone()]);
        }
        all
    }

    /// The meanings of `word`, in normalised spelling.
    pub fn meanings(&self, word: &str) -> &[Word] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Whether the dictionary contains the word.
    pub fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Whether the word is ignored.
    pub fn is_noise(&self, word: &str) -> bool {
        self.meanings(word).first().is_some_and(|m| m.sense == Sense::Noise)
    }

    /// Whether the word marks a joint that is no part of the body.
    pub fn is_helper(&self, word: &str) -> bool {
        self.meanings(word).first().is_some_and(|m| m.sense.is_helper())
    }

    /// Whether the word marks the end of a part.
    pub fn is_tip(&self, word: &str) -> bool {
        self.meanings(word).first().is_some_and(|m| m.sense == Sense::Tip)
    }

    /// The side that the word denotes, and the languages that use it.
    pub fn side(&self, word: &str) -> Option<(Side, &[String])> {
        self.meanings(word).iter().find_map(|m| match m.sense {
            Sense::Side(side) => Some((side, m.languages.as_slice())),
            _ => None,
        })
    }

    /// Splits `text`, in normalised spelling and without separators, into the fewest known words, the longest first
    /// among equals; `None` where a part of it is unknown.
    ///
    /// The side letters `l` and `r` are accepted only at either end, other words of one or two Latin letters nowhere:
    /// they match anywhere by chance.
    pub fn split(&self, text: &str) -> Option<Vec<String>> {
        // The byte offset of every character, and the end.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let n = starts.len() - 1;
        let piece = |from: usize, to: usize| {
            let word = &text[starts[from]..starts[to]];
            let at_end = from == 0 || to == n;
            let too_short = word.is_ascii() && to - from < 3 && !(at_end && (word == "l" || word == "r"));
            !too_short && self.knows(word)
        };
        // Dynamic programming from the end: the fewest pieces from each character on, and where the first of them
        // ends.
        let mut fewest: Vec<Option<(usize, usize)>> = vec![None; n + 1];
        fewest[n] = Some((0, n));
        for from in (0..n).rev() {
            for to in (from + 1..=n.min(from + self.longest)).rev() {
                let Some((pieces, _)) = fewest[to] else { continue };
                let better = fewest[from].is_none_or(|(best, _)| pieces + 1 < best);
                if better && piece(from, to) {
                    fewest[from] = Some((pieces + 1, to));
                }
            }
        }
        let mut words = Vec::new();
        let mut at = 0;
        while at < n {
            let (_, to) = fewest[at]?;
            words.push(text[starts[at]..starts[to]].to_owned());
            at = to;
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_line_of_the_table_is_unique_and_has_a_known_part() {
        let mut seen = BTreeSet::new();
        for line in lines() {
            let word = Word::of_line(line).unwrap_or_else(|| panic!("`{line}` is no word"));
            assert_eq!(plain(&word.text), word.text, "{line}");
            let key: Vec<&str> = line.split_whitespace().take(2).collect();
            assert!(seen.insert(key), "`{line}` stands twice");
        }
        assert!(seen.len() > 500);
    }

    #[test]
    fn words_without_separators_are_split() {
        let split = |text| Vocabulary::built_in().split(text).map(|c| c.join(" "));
        assert_eq!(split("lforearm").as_deref(), Some("l forearm"));
        assert_eq!(split("luarm").as_deref(), Some("l uarm"));
        assert_eq!(split("leftupleg").as_deref(), Some("left upleg"));
        assert_eq!(split("handr").as_deref(), Some("hand r"));
        assert_eq!(split("左足首").as_deref(), Some("左 足首"));
        assert_eq!(split("왼발목").as_deref(), Some("왼 발목"));
        assert_eq!(split("armature").as_deref(), Some("armature"));
        assert_eq!(split("handler"), None);
        assert_eq!(split("lantern"), None);
    }

    #[test]
    fn user_words_replace_those_of_the_table() {
        let user_words =
            [Word::new("Flügel Arm", "upper_arm").unwrap(), Word::new("shoulder", "clavicle").unwrap()];
        let all = Vocabulary::built_in().with(&user_words);
        assert_eq!(all.meanings("flugelarm").len(), 1);
        assert_eq!(all.meanings("shoulder").len(), 1);
        assert_eq!(Vocabulary::built_in().meanings("shoulder").len(), 2);
        assert!(matches!(Word::new("paw", "pfote"), Err(WordError::UnknownPart { .. })));
        assert!(matches!(Word::new("._", "hand"), Err(WordError::Empty(_))));
    }
}
