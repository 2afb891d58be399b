//! Removes prefixes and suffixes that all joint names of a skeleton share: `rig_`, `Character1_`, the `.001` of a copy in Blender.
//!
//! A number in them would be mistaken for the number of a finger.

use super::joint_label::JointLabel;
use super::vocabulary::Vocabulary;
use std::collections::BTreeMap;

/// Separators in one name that are tried as the end of a beginning.
const MOST_SEPARATORS: usize = 4;

/// The names without the beginning that more than half of them share, if it denotes no part and no side, and without the number
/// after a separator that is the same in all names that end in one, if these are more than half. `is_plain` says whether a label
/// denotes nothing.
pub fn bare_names<'a>(
    vocabulary: &Vocabulary,
    names: Vec<&'a str>,
    is_plain: impl Fn(&JointLabel) -> bool,
) -> Vec<&'a str> {
    let count = names.len();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().filter_map(|name| copy_number(name)).for_each(|end| *endings.entry(end).or_default() += 1);
    let ending = match endings.pop_first() {
        Some((end, shared)) if endings.is_empty() && 2 * shared > count => end,
        _ => "",
    };
    let names = names.into_iter().map(|name| name.strip_suffix(ending).unwrap_or(name));
    let names: Vec<&str> = names.collect();
    // In alphabetical order, names that begin alike are in a row, and one of more than half of them is in the middle.
    let mut ordered = names.clone();
    let middle = match ordered.len() {
        0 => "",
        count => *ordered.select_nth_unstable(count / 2).1,
    };
    let ends = middle.match_indices(is_separator).map(|(at, separator)| at + separator.len());
    let shared = ends.take(MOST_SEPARATORS).map(|end| &middle[..end]);
    let shared =
        shared.filter(|start| 2 * names.iter().filter(|name| name.starts_with(*start)).count() > count);
    let plain = shared.filter(|start| is_plain(&JointLabel::with(vocabulary, start)));
    let beginning = plain.max_by_key(|start| start.len()).unwrap_or("");
    let without = |name: &'a str| {
        let rest = name.strip_prefix(beginning).unwrap_or(name);
        if rest.chars().any(char::is_alphabetic) { rest } else { name }
    };
    names.into_iter().map(without).collect()
}

/// The number at the end of a name with the separator before it.
fn copy_number(name: &str) -> Option<&str> {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let before = &name[..name.len() - digits];
    let separator = before.chars().next_back().filter(|c| digits > 0 && is_separator(*c))?;
    Some(&name[before.len() - separator.len_utf8()..])
}

/// Namespaces, which end in `:` or `|`, are dropped from every name by itself.
fn is_separator(c: char) -> bool {
    !c.is_alphanumeric() && c != ':' && c != '|'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare<'a>(names: &[&'a str]) -> Vec<&'a str> {
        let plain = |label: &JointLabel| label.side.is_none() && label.words.iter().all(|w| w != "hand");
        bare_names(Vocabulary::built_in(), names.to_vec(), plain)
    }

    #[test]
    fn what_a_tool_put_around_all_names_is_dropped() {
        assert_eq!(bare(&["rig_Hips", "rig___Thumb1_L", "Armature"]), ["Hips", "__Thumb1_L", "Armature"]);
        assert_eq!(bare(&["Hips.001", "LeftHandIndex1.001", "head"]), ["Hips", "LeftHandIndex1", "head"]);
        assert_eq!(bare(&["a_b_x", "a_b_y", "a_c"]), ["x", "y", "a_c"]);
    }

    #[test]
    fn numbers_that_differ_and_words_that_mean_something_stay() {
        for names in [
            ["spine.001", "spine.001", "spine.002"],
            ["L_thigh", "L_shin", "L_foot"],
            ["hand_thumb", "hand_index", "hand_ring"],
            ["Bone_01", "Bone_02", "Bone_03"],
        ] {
            assert_eq!(bare(&names), names);
        }
    }
}
