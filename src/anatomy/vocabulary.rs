//! What words stand for: the table `words.txt` and the words that the user adds become a dictionary.
//!
//! The words of Mixamo, MotionBuilder (HumanIK), Biovision, CMU (ASF), Unreal, Unity and VRM, Rigify, MakeHuman,
//! Biped, Daz, Kinect, MikuMikuDance and many others were looked at, in a dozen languages. A word may stand for
//! several parts (`LeftShoulder` is a collar bone here and an upper arm there): each meaning has a weight from 0 to
//! 1, and the order along the limb decides.

use super::spelling::{plain, runs, usual_width};
use crate::model::{Finger, Side};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A body part without its side: the slots of a limb, from the body outwards, and the parts of the trunk.
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
    /// Whether the part lies in the middle of the body, and its names say no side.
    pub fn is_trunk(self) -> bool {
        matches!(
            self,
            NamedPart::Hips | NamedPart::Spine | NamedPart::Neck | NamedPart::Head | NamedPart::Tail
        )
    }

    /// The front leg of a quadruped is its arm; its toes have no slot.
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

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sense {
    /// A part of the body.
    Body(NamedPart),
    /// A finger.
    Finger(Finger),
    /// A finger, told apart from the others by its number.
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
    /// Nothing: the tool, the kind of node.
    Noise,
}

/// The names of all senses, as the table and the user write them.
const SENSES: [(&str, Sense); 31] = [
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
    ("noise", Sense::Noise),
];

/// What `part` is called in the table.
fn sense(part: &str) -> Option<Sense> {
    SENSES.iter().find(|s| s.0 == part).map(|s| s.1)
}

/// One line of the dictionary: a word and one thing that it may stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// In plain spelling, without separators.
    pub(super) text: String,
    pub(super) sense: Sense,
    /// How surely, 0 to 1.
    pub(super) weight: f64,
    /// Whose word it is.
    pub(super) languages: Vec<String>,
}

/// Why a word cannot be added.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WordError {
    /// The word has no letters.
    #[error("`{0}` has no letters: it is no word of a name")]
    Empty(String),
    /// There is no such part.
    #[error("`{found}` is no part that a word may stand for")]
    UnknownPart {
        /// What was written.
        found: String,
    },
}

impl Word {
    /// The parts that words may stand for.
    pub fn parts() -> Vec<&'static str> {
        SENSES.iter().map(|s| s.0).collect()
    }

    /// The word `text`, which stands for `part` and nothing else.
    ///
    /// # Errors
    /// The word has no letters, or there is no such part.
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
    /// Only looked up, never walked through: the order of a hash map reaches no result.
    words: HashMap<String, Vec<Word>>,
    /// The letters of the longest word.
    longest: usize,
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
        let mut vocabulary = Vocabulary { words: HashMap::new(), longest: 0 };
        for word in words {
            vocabulary.longest = vocabulary.longest.max(word.text.chars().count());
            vocabulary.words.entry(word.text.clone()).or_default().push(word);
        }
        vocabulary
    }

    /// The same with the words that the user tells: they replace those of the table.
    #[must_use]
    pub fn with(&self, told: &[Word]) -> Vocabulary {
        let mut all = self.clone();
        for word in told {
            all.longest = all.longest.max(word.text.chars().count());
            all.words.insert(word.text.clone(), vec![word.clone()]);
        }
        all
    }

    /// What `word`, in plain spelling, may stand for.
    pub fn meanings(&self, word: &str) -> &[Word] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Whether the word is known.
    pub fn knows(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Whether the word says nothing.
    pub fn is_noise(&self, word: &str) -> bool {
        self.meanings(word).first().is_some_and(|m| m.sense == Sense::Noise)
    }

    /// Whether the word says that a joint is no part of the body.
    pub fn is_helper(&self, word: &str) -> bool {
        self.meanings(word).first().is_some_and(|m| m.sense == Sense::Helper)
    }

    /// The side that the word names, and the languages of those who say it so.
    pub fn side(&self, word: &str) -> Option<(Side, &[String])> {
        self.meanings(word).iter().find_map(|m| match m.sense {
            Sense::Side(side) => Some((side, m.languages.as_slice())),
            _ => None,
        })
    }

    /// Cuts `text`, in plain spelling and without separators, into the fewest known words, of equally many the
    /// longest first; `None` where not all of it is known.
    ///
    /// The side letters `l` and `r` stand at an end only, and other words of one or two Latin letters nowhere: they
    /// fit anywhere by chance.
    pub fn cut(&self, text: &str) -> Option<Vec<String>> {
        // Where every letter begins, and the end.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let n = starts.len() - 1;
        let piece = |from: usize, to: usize| {
            let word = &text[starts[from]..starts[to]];
            let at_end = from == 0 || to == n;
            let chance = word.is_ascii() && to - from < 3 && !(at_end && (word == "l" || word == "r"));
            !chance && self.knows(word)
        };
        // From the end: the fewest pieces from every letter on, and where the first of them ends.
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
        let mut cut = Vec::new();
        let mut at = 0;
        while at < n {
            let (_, to) = fewest[at]?;
            cut.push(text[starts[at]..starts[to]].to_owned());
            at = to;
        }
        Some(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_line_of_the_table_is_a_word_with_a_known_part_and_stands_once() {
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
    fn words_without_separators_are_cut() {
        let cut = |text| Vocabulary::built_in().cut(text).map(|c| c.join(" "));
        assert_eq!(cut("lforearm").as_deref(), Some("l forearm"));
        assert_eq!(cut("luarm").as_deref(), Some("l uarm"));
        assert_eq!(cut("leftupleg").as_deref(), Some("left upleg"));
        assert_eq!(cut("handr").as_deref(), Some("hand r"));
        assert_eq!(cut("左足首").as_deref(), Some("左 足首"));
        assert_eq!(cut("왼발목").as_deref(), Some("왼 발목"));
        assert_eq!(cut("armature").as_deref(), Some("armature"));
        assert_eq!(cut("handler"), None);
        assert_eq!(cut("lantern"), None);
    }

    #[test]
    fn told_words_replace_those_of_the_table() {
        let told =
            [Word::new("Flügel Arm", "upper_arm").unwrap(), Word::new("shoulder", "clavicle").unwrap()];
        let all = Vocabulary::built_in().with(&told);
        assert_eq!(all.meanings("flugelarm").len(), 1);
        assert_eq!(all.meanings("shoulder").len(), 1);
        assert_eq!(Vocabulary::built_in().meanings("shoulder").len(), 2);
        assert!(matches!(Word::new("paw", "pfote"), Err(WordError::UnknownPart { .. })));
        assert!(matches!(Word::new("._", "hand"), Err(WordError::Empty(_))));
    }
}
