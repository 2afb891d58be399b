//! Which body parts or fingers the name of each joint may denote, with weights.
//!
//! All names are read once. A word that more than half of the joints share and that the vocabulary does not contain
//! (a character's name) is dropped first, and so is what a tool put before or after all names. Ancestry is tested in constant time with the interval
//! of each subtree in a depth-first traversal, so the cost for ten thousand joints is that of reading their names.

use super::joint_label::JointLabel;
use super::shared_ends::bare_names;
use super::spelling::{runs, usual_width};
use super::vocabulary::{NamedPart, Sense, Vocabulary, Word};
use crate::model::{Finger, JointId, Side, Skeleton};
use crate::parallel;
use std::collections::BTreeMap;
use std::ops::Range;

/// The parsed joint names of a skeleton.
#[derive(Clone, Debug)]
pub struct JointNames {
    joints: Vec<ParsedName>,
    /// As [`Skeleton::subtrees`].
    subtrees: Vec<Range<usize>>,
}

/// One parsed name.
#[derive(Clone, Debug, Default, PartialEq)]
struct ParsedName {
    side: Option<Side>,
    readings: Vec<(NamedPart, f64)>,
    finger: Option<FingerName>,
    leg: bool,
    helper: bool,
    vague: bool,
    /// Set by [`JointNames::without_groups`].
    group: bool,
}

/// The finger joint that a name denotes.
#[derive(Clone, Debug, PartialEq)]
pub struct FingerName {
    /// Which finger.
    pub which: WhichFinger,
    /// The number of the joint.
    pub number: Option<u32>,
    /// Whether the joint is in the palm.
    pub metacarpal: bool,
}

/// How a name identifies a finger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichFinger {
    /// By name.
    Named(Finger),
    /// By number.
    Counted(u32),
    /// Not at all: if its joints form a chain, the fingers are one.
    Only,
}

/// Factor of a part's weight for each word of another part in the name: `arm_wrist` is a wrist rather than an arm only by
/// its place in the tree. At 1 both would be equal to names of one part, at 0 such names would be lost.
const OTHER_PART: f64 = 0.5;
/// Factor for a name with unknown words: `hip_guard` is a hip less surely than `hip`, and any clear name outweighs it.
const UNKNOWN_WORD: f64 = 0.5;

/// Least names of a parallel task: a tenth of a millisecond.
const NAMES_PER_TASK: usize = 64;

/// In a skeleton with fewer joints a word shared by most of them may be a coincidence; nothing is dropped.
const FEWEST_TO_SHARE: usize = 8;
/// A word for helpers that more than this share of the joints have says nothing: no body is made of helpers alone.
const NEARLY_ALL: f64 = 0.9;

impl JointNames {
    /// Parses the joint names of `skeleton` with the words of `vocabulary`.
    pub fn of(skeleton: &Skeleton, vocabulary: &Vocabulary) -> JointNames {
        let mut names: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
        if names.len() >= FEWEST_TO_SHARE {
            names =
                bare_names(vocabulary, names, |label| ParsedName::of(vocabulary, label).denotes_nothing());
        }
        let mut labels: Vec<JointLabel> =
            parallel::map_each(&names, NAMES_PER_TASK, |name| JointLabel::with(vocabulary, name));
        drop_shared(vocabulary, &mut labels);
        remove_inner_tips(vocabulary, skeleton, &mut labels);
        let mut joints: Vec<ParsedName> =
            parallel::map_each(&labels, NAMES_PER_TASK, |label| ParsedName::of(vocabulary, label));
        for id in skeleton.ids().filter(|&id| repeats_parent(vocabulary, skeleton, &labels, id)) {
            joints[id.index()] =
                ParsedName { side: joints[id.index()].side, helper: true, ..ParsedName::default() };
        }
        JointNames { joints, subtrees: skeleton.subtrees().to_vec() }
    }

    /// The names without those of joints that only group another one; `grouped` has that joint for each joint.
    pub fn without_groups(&self, grouped: &[Option<JointId>]) -> JointNames {
        let mut names = self.clone();
        for (name, _) in names.joints.iter_mut().zip(grouped).filter(|(_, grouped)| grouped.is_some()) {
            *name = ParsedName { side: name.side, group: true, ..ParsedName::default() };
        }
        names
    }

    /// Whether the name of `id` denotes nothing, or just what that of `real` does: no `shoulder` is an `arm`.
    pub fn may_group(&self, id: JointId, real: JointId) -> bool {
        let [own, real] = [id, real].map(|id| &self.joints[id.index()]);
        !real.names_no_part() && (own.names_no_part() || own.names_parts_of(real))
    }

    /// The side in the name.
    pub fn side(&self, id: JointId) -> Option<Side> {
        self.joints[id.index()].side
    }

    /// The parts that the name may denote, each with a weight from 0 to 1; empty for helpers and unknown words.
    pub fn readings(&self, id: JointId) -> &[(NamedPart, f64)] {
        &self.joints[id.index()].readings
    }

    /// The weight of `part` for this name; 0 where the name does not denote it.
    pub fn weight(&self, id: JointId, part: NamedPart) -> f64 {
        self.readings(id).iter().find(|r| r.0 == part).map_or(0.0, |r| r.1)
    }

    /// The finger that the name denotes.
    pub fn finger(&self, id: JointId) -> Option<&FingerName> {
        self.joints[id.index()].finger.as_ref()
    }

    /// The weight of a part of the trunk for a name that is no guess; 0 otherwise.
    pub fn trunk_weight(&self, id: JointId, part: NamedPart) -> f64 {
        let weight = self.weight(id, part);
        if self.is_vague(id) || weight < OTHER_PART { 0.0 } else { weight }
    }

    /// Whether the name ends in a plain `leg`, which may denote any part of a leg.
    pub fn is_leg(&self, id: JointId) -> bool {
        self.joints[id.index()].leg
    }

    /// Whether the name marks a joint that is no part of the body: a tip, a twist joint, a prop.
    pub fn is_helper(&self, id: JointId) -> bool {
        self.joints[id.index()].helper
    }

    /// Whether the name has words that are unknown, so that it counts only where the shape agrees.
    pub fn is_vague(&self, id: JointId) -> bool {
        self.joints[id.index()].vague
    }

    /// Whether the joint only groups the one below it: see [`JointNames::without_groups`].
    pub fn is_group(&self, id: JointId) -> bool {
        self.joints[id.index()].group
    }

    /// Whether `id` is `ancestor` or a descendant of it.
    pub fn is_below(&self, id: JointId, ancestor: JointId) -> bool {
        self.subtrees[ancestor.index()].contains(&self.subtrees[id.index()].start)
    }
}

/// Removes the words for a tip from joints that have others below them: the `end` of mGear's limbs is a wrist or an ankle.
fn remove_inner_tips(vocabulary: &Vocabulary, skeleton: &Skeleton, labels: &mut [JointLabel]) {
    let mut has_more = vec![false; labels.len()];
    for id in skeleton.ids().rev() {
        let is_tip = labels[id.index()].words.iter().any(|w| vocabulary.is_tip(w));
        if let Some(parent) = skeleton.parent(id) {
            has_more[parent.index()] |= has_more[id.index()] || !is_tip;
        }
        if has_more[id.index()] {
            labels[id.index()].words.retain(|w| !vocabulary.is_tip(w));
        }
    }
}

/// Whether a leaf has the name of its parent with nothing or unknown words added: `hips_skin` below `hips` is a helper that holds its skin.
fn repeats_parent(vocabulary: &Vocabulary, skeleton: &Skeleton, labels: &[JointLabel], id: JointId) -> bool {
    let Some(parent) = skeleton.parent(id).filter(|_| skeleton.children(id).is_empty()) else { return false };
    let [own, above] = [id, parent].map(|id| &labels[id.index()]);
    let mut known = own.words.iter().filter(|w| vocabulary.knows(w) || above.words.contains(w));
    let same_label = !above.words.is_empty()
        && (own.side, &own.numbers) == (above.side, &above.numbers)
        && above.words.iter().all(|w| known.next() == Some(w))
        && known.next().is_none();
    // Words that a label does not have tell joints apart: `ThumbDistal` below `ThumbIntermediate`, `ThumbC` below `ThumbB`.
    let all_words = |id: JointId| -> Vec<String> {
        let runs = runs(&usual_width(&skeleton.joint(id).name));
        runs.into_iter().flat_map(|run| run.words).collect()
    };
    same_label && {
        let own = all_words(id);
        all_words(parent).iter().all(|word| own.contains(word))
    }
}

/// Removes words that say nothing: unknown ones that more than half of the labels share, and those for helpers that nearly all do
/// (`part1` to `part40`).
fn drop_shared(vocabulary: &Vocabulary, labels: &mut [JointLabel]) {
    if labels.len() < FEWEST_TO_SHARE {
        return;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for label in labels.iter() {
        for (at, word) in label.words.iter().enumerate() {
            let may_say_nothing = !vocabulary.knows(word) || vocabulary.is_helper(word);
            if may_say_nothing && !label.words[..at].contains(word) {
                *counts.entry(word).or_default() += 1;
            }
        }
    }
    let least = |word: &str| if vocabulary.knows(word) { NEARLY_ALL } else { 0.5 };
    let shared = counts.into_iter().filter(|(word, count)| *count as f64 > least(word) * labels.len() as f64);
    let shared: Vec<String> = shared.map(|(word, _)| word.to_owned()).collect();
    for label in labels.iter_mut().filter(|_| !shared.is_empty()) {
        label.words.retain(|w| !shared.contains(w));
    }
}

impl ParsedName {
    /// Whether the name denotes neither a part nor a side.
    fn denotes_nothing(&self) -> bool {
        self.side.is_none() && self.names_no_part() && !self.helper && !self.leg
    }

    fn names_no_part(&self) -> bool {
        self.readings.is_empty() && self.finger.is_none()
    }

    /// Whether both names denote the same parts, or the same joint of a finger.
    fn names_parts_of(&self, other: &ParsedName) -> bool {
        let [own, others] =
            [self, other].map(|name| name.finger.as_ref().map(|finger| (finger.which, finger.number)));
        own == others && self.readings.iter().map(|r| r.0).eq(other.readings.iter().map(|r| r.0))
    }

    fn of(vocabulary: &Vocabulary, label: &JointLabel) -> ParsedName {
        // The meanings of each word, which is looked up once.
        let meanings: Vec<&[Word]> = label.words.iter().map(|word| vocabulary.meanings(word)).collect();
        let mut named = ParsedName { side: label.side, ..ParsedName::default() };
        if meanings.iter().any(|of_word| of_word.first().is_some_and(|m| m.sense.is_helper())) {
            named.helper = true;
            return named;
        }
        // `fore` alone denotes the index finger, together with other words a front leg.
        let of_leg = |of_word: &[Word]| of_word.iter().any(|m| matches!(m.sense, Sense::Front | Sense::Hind));
        let alone = meanings.len() == 1;
        let senses = || {
            let words = meanings.iter().filter(move |of_word| alone || !of_leg(of_word));
            words.flat_map(|of_word| of_word.iter()).map(|m| m.sense)
        };
        let first = |wanted: &dyn Fn(Sense) -> Option<WhichFinger>| senses().find_map(wanted);
        let by_name = first(&|s| match s {
            Sense::Finger(finger) => Some(WhichFinger::Named(finger)),
            _ => None,
        });
        let by_ordinal = || {
            first(&|s| match s {
                Sense::Ordinal(n) => Some(WhichFinger::Counted(n)),
                _ => None,
            })
        };
        let counted = label.numbers.first().copied().map(WhichFinger::Counted);
        let by_number = || first(&|s| counted.filter(|_| s == Sense::AnyFinger));
        let without_number = || first(&|s| (s == Sense::AnyFinger).then_some(WhichFinger::Only));
        let used = usize::from(by_name.is_none() && by_ordinal().is_none());
        // The digits of a leg are toes.
        let of_foot =
            |s: Sense| matches!(s, Sense::Body(NamedPart::UpperLeg | NamedPart::LowerLeg | NamedPart::Foot));
        let counts_toes = by_name.is_none() && meanings.iter().copied().flatten().any(|m| of_foot(m.sense));
        if let Some(which) =
            by_name.or_else(by_ordinal).or_else(by_number).or_else(without_number).filter(|_| !counts_toes)
        {
            let number = label.numbers.get(used..).and_then(|rest| rest.last().copied());
            let metacarpal = senses().any(|s| s == Sense::Metacarpal);
            named.finger = Some(FingerName { which, number, metacarpal });
            return named;
        }
        named.readings = readings(label, &meanings);
        let unknown = |(word, of_word): (&String, &&[Word])| of_word.is_empty() && !is_counter(word);
        named.vague = label.words.iter().zip(&meanings).any(unknown);
        named.leg = label.words.last().is_some_and(|w| w == "leg");
        named
    }
}

/// The parts that the words of the label, with these `meanings`, denote, each with the highest of the words' weights, less for every
/// word that denotes another part or is unknown.
fn readings(label: &JointLabel, meanings: &[&[Word]]) -> Vec<(NamedPart, f64)> {
    // The first word of a front or hind leg, and those that are the same.
    let mark = |sense: Sense| {
        let is = |of_word: &&[Word]| of_word.iter().any(|m| m.sense == sense);
        let at = meanings.iter().position(is).filter(|_| label.words.len() > 1)?;
        Some(&label.words[at])
    };
    let (front, hind) = (mark(Sense::Front), mark(Sense::Hind));
    let words = label.words.iter().zip(meanings);
    let words = words.filter(|(w, _)| Some(*w) != front && Some(*w) != hind && !is_counter(w));
    let words: Vec<&[Word]> = words.map(|(_, of_word)| *of_word).collect();
    let part_of = |m: &Word| if let Sense::Body(part) = m.sense { Some(part) } else { None };
    let no_part = |of_word: &&&[Word]| of_word.iter().all(|m| part_of(m).is_none());
    let unknown = if words.iter().any(|of_word| no_part(&of_word)) { UNKNOWN_WORD } else { 1.0 };
    let mut found: Vec<(NamedPart, f64)> = Vec::new();
    for part in words.iter().copied().flatten().filter_map(part_of) {
        if found.iter().any(|f| f.0 == part) {
            continue;
        }
        let weights = words.iter().filter(|of_word| !no_part(of_word));
        let weights =
            weights.map(|of_word| of_word.iter().find(|m| part_of(m) == Some(part)).map(|m| m.weight));
        let most = weights.clone().flatten().fold(0.0, f64::max);
        let weight = weights.filter(Option::is_none).fold(most * unknown, |weight, _| weight * OTHER_PART);
        found.push((part, weight));
    }
    let sided = |part: NamedPart| if part.is_trunk() { label.side.is_none() } else { label.side.is_some() };
    let on_front = |(part, weight): (NamedPart, f64)| match front {
        Some(_) => Some((part.of_front_leg()?, weight)),
        None => Some((part, weight)),
    };
    found.into_iter().filter(|r| sided(r.0)).filter_map(on_front).collect()
}

/// Whether a word counts joints, as a number does: `Thumb_A`, `asi_b`.
fn is_counter(word: &str) -> bool {
    matches!(word, "a" | "b" | "c" | "d" | "e")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::Joint;

    fn named(name: &str) -> ParsedName {
        let vocabulary = Vocabulary::built_in();
        ParsedName::of(vocabulary, &JointLabel::with(vocabulary, name))
    }

    fn best(name: &str) -> Option<NamedPart> {
        named(name).readings.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|r| r.0)
    }

    #[test]
    fn names_of_many_conventions_give_their_part() {
        for (name, part) in [
            ("mixamorig:LeftUpLeg", NamedPart::UpperLeg),
            ("LeftLeg", NamedPart::LowerLeg),
            ("LeftHip", NamedPart::UpperLeg),
            ("Hips", NamedPart::Hips),
            ("lowerback", NamedPart::Spine),
            ("thigh.l", NamedPart::UpperLeg),
            ("DEF-front_thigh.L", NamedPart::UpperArm),
            ("FrontLowerLeg.R", NamedPart::LowerArm),
            ("BackUpperLeg.L", NamedPart::UpperLeg),
            ("LeftForeArm", NamedPart::LowerArm),
            ("l_foreToe", NamedPart::Toes),
            ("LoArm_L", NamedPart::LowerArm),
            ("J_Bip_C_UpperChest", NamedPart::Spine),
            ("wrist.l", NamedPart::Hand),
            ("RightToeBase", NamedPart::Toes),
            ("LFArm", NamedPart::LowerArm),
            ("lThighBend", NamedPart::UpperLeg),
            ("LowerTorso", NamedPart::Hips),
            ("SpineShoulder", NamedPart::Spine),
            ("CC_Base_L_Upperarm", NamedPart::UpperArm),
            ("FullBody_LeftArmLower", NamedPart::LowerArm),
            ("左手首", NamedPart::Hand),
            ("T12", NamedPart::Spine),
        ] {
            assert_eq!(best(name), Some(part), "{name}");
        }
        for name in [
            "PoleTarget.L",
            "IKBackLeg.L",
            "pelvis.L",
            "socket_hand_L",
            "upperarm_twist_l",
            "lThighTwist",
            "LHipJoint",
            "lCarpal1",
            "FF.L",
            "Armature",
            "",
        ] {
            assert_eq!(best(name), None, "{name}");
        }
    }

    #[test]
    fn unknown_words_and_other_parts_weaken_a_name() {
        let of = |name: &str, part| named(name).readings.iter().find(|r| r.0 == part).map_or(0.0, |r| r.1);
        assert!(of("wrist_inner_l", NamedPart::Hand) < 0.5 && named("wrist_inner_l").vague);
        assert!(of("lBigToe", NamedPart::Toes) <= 0.5 && named("lBigToe").vague);
        assert_eq!(best("l_arm_wrist"), Some(NamedPart::Hand));
        assert_eq!(best("arm left elbow"), Some(NamedPart::LowerArm));
        assert!(of("leg left thigh", NamedPart::UpperLeg) > of("leg left thigh", NamedPart::LowerLeg));
        assert!(of("j_asi_a_l", NamedPart::UpperLeg) > 0.0 && !named("j_asi_a_l").vague);
        assert!(!named("l_arm_wrist").vague);
    }

    #[test]
    fn fingers_are_named_or_counted() {
        let of = |name| named(name).finger.map(|f| (f.which, f.number, f.metacarpal));
        let index = WhichFinger::Named(Finger::Index);
        assert_eq!(of("mixamorig:LeftHandIndex1"), Some((index, Some(1), false)));
        assert_eq!(of("LeftInHandIndex"), Some((index, None, true)));
        assert_eq!(of("index_metacarpal_l"), Some((index, None, true)));
        assert_eq!(of("finger5-2.R"), Some((WhichFinger::Counted(5), Some(2), false)));
        assert_eq!(of("Bip01 L Finger01"), Some((WhichFinger::Counted(0), Some(1), false)));
        assert_eq!(of("DEF-f_ring.01.L"), Some((WhichFinger::Named(Finger::Ring), Some(1), false)));
        assert_eq!(of("LeftSecondMC"), Some((WhichFinger::Counted(2), None, true)));
        assert_eq!(of("fore1_L"), Some((index, Some(1), false)));
        assert_eq!(of("fore_leg_L"), None);
        assert_eq!(of("index-finger-tip"), None);
        assert_eq!(of("LeftHand"), None);
    }

    fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
        let joint = |&(name, parent): &(&str, Option<usize>)| {
            Joint::new(name, parent.map(JointId::new), Transform::identity())
        };
        Skeleton::new(joints.iter().map(joint).collect()).unwrap()
    }

    #[test]
    fn a_leaf_that_repeats_its_parent_is_a_helper() {
        let tree = skeleton(&[
            ("Index1.L", None),
            ("Index2.L", Some(0)),
            ("Index2.L_DEF", Some(1)),
            ("Index1.L_DEF", Some(0)),
            ("Index3.L", Some(1)),
            ("Index3.L_def_skin", Some(4)),
            ("Index4.L", Some(4)),
        ]);
        let names = JointNames::of(&tree, Vocabulary::built_in());
        let helpers: Vec<usize> = tree.ids().filter(|&id| names.is_helper(id)).map(JointId::index).collect();
        assert_eq!(helpers, [2, 3, 5]);
    }

    #[test]
    fn a_word_that_most_joints_share_is_ignored() {
        let parts = ["Hips", "Spine", "Neck", "Head", "LeftArm", "LeftHand", "RightArm", "RightHand"];
        let joints: Vec<String> = parts.iter().map(|p| format!("Zorro_{p}")).collect();
        let joints: Vec<(&str, Option<usize>)> =
            joints.iter().enumerate().map(|(n, j)| (j.as_str(), n.checked_sub(1))).collect();
        let names = JointNames::of(&skeleton(&joints), Vocabulary::built_in());
        assert_eq!(names.weight(JointId::new(0), NamedPart::Hips), 1.0);
        assert_eq!(names.weight(JointId::new(5), NamedPart::Hand), 0.9);
    }

    #[test]
    fn a_word_for_helpers_that_all_joints_share_is_ignored() {
        let numbered: Vec<String> = (0..9).map(|n| format!("part{n}")).collect();
        let joints = |last: [&str; 2]| {
            let names = numbered.iter().map(String::as_str).chain(last).collect::<Vec<_>>();
            let joints: Vec<_> = names.iter().enumerate().map(|(n, j)| (*j, n.checked_sub(1))).collect();
            let names = JointNames::of(&skeleton(&joints), Vocabulary::built_in());
            (0..joints.len()).filter(|n| names.is_helper(JointId::new(*n))).count()
        };
        assert_eq!(joints(["part9", "part10"]), 0);
        // Two of eleven are no helpers.
        assert_eq!(joints(["Hips", "Spine"]), 9);
    }

    #[test]
    fn depth_first_indices_give_ancestry() {
        let tree = skeleton(&[("a", None), ("b", Some(0)), ("c", Some(0)), ("d", Some(1)), ("e", Some(2))]);
        let names = JointNames::of(&tree, Vocabulary::built_in());
        for id in tree.ids() {
            for ancestor in tree.ids() {
                let below = id == ancestor || tree.is_ancestor(ancestor, id);
                assert_eq!(names.is_below(id, ancestor), below, "{id:?} {ancestor:?}");
            }
        }
    }
}
