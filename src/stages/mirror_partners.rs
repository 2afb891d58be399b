//! Finds the other side of joints and of morph targets.

use crate::model::{Character, JointId, PropertyTrack, Rig};

/// The partner of every joint: by role, else by name, else itself. The partner's partner is the joint.
pub(super) fn partners(rig: &Rig) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let by_role = |id: JointId| rig.role(id).and_then(|role| rig.joint(role.mirrored()));
    let by_name = |id: JointId| {
        let name = &skeleton.joint(id).name;
        other_side(name, |name| skeleton.find(name)).filter(|&p| by_role(p).is_none())
    };
    let found: Vec<usize> =
        skeleton.ids().map(|id| by_role(id).or_else(|| by_name(id)).unwrap_or(id).index()).collect();
    in_pairs(&found).map(JointId::new).collect()
}

/// The track with the weights of left and right exchanged; `None` if no target of its mesh has a partner by name.
pub(super) fn with_weights_swapped(track: &PropertyTrack, character: &Character) -> Option<PropertyTrack> {
    let (node, width) = (&track.node, track.width);
    let mesh = character.meshes.iter().find(|mesh| mesh.node == *node && mesh.morphs.len() == width)?;
    let find = |name: &str| mesh.morphs.iter().position(|morph| morph.name == name);
    let other = |k: usize| other_side(&mesh.morphs[k].name, find).unwrap_or(k);
    let found: Vec<usize> = (0..width).map(other).collect();
    let partner: Vec<usize> = in_pairs(&found).collect();
    let swaps = partner.iter().enumerate().any(|(k, other)| *other != k);
    let frames = track.values.chunks_exact(width);
    swaps.then(|| PropertyTrack {
        node: node.clone(),
        values: frames.flat_map(|frame| partner.iter().map(|k| frame[*k])).collect(),
        ..*track
    })
}

/// The other of each, of those whose other's other they are; the others are their own.
fn in_pairs(found: &[usize]) -> impl Iterator<Item = usize> {
    found.iter().enumerate().map(|(k, &other)| if found[other] == k { other } else { k })
}

/// What `find` has of the first name that is `name` with the side exchanged.
fn other_side<T>(name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    const WORDS: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
    const LETTERS: [(char, char); 4] = [('l', 'r'), ('L', 'R'), ('r', 'l'), ('R', 'L')];
    let words = WORDS.iter().flat_map(|&(l, r)| [(l, r), (r, l)]);
    let exchanged = words.flat_map(|(from, to)| {
        name.match_indices(from)
            .map(move |(at, _)| format!("{}{to}{}", &name[..at], &name[at + from.len()..]))
    });
    // A lone letter: between separators or ends (`arm.L`, `l_arm`), small before a capital (`lArm`), or a capital behind a small
    // letter (`browUpL`).
    let letters = name.char_indices().filter_map(|(at, c)| {
        let (_, to) = LETTERS.iter().find(|(from, _)| *from == c)?;
        let (before, after) = (&name[..at], &name[at + 1..]);
        let (last, next) = (before.chars().next_back(), after.chars().next());
        let capital = c.is_uppercase() && last.is_some_and(char::is_lowercase);
        let starts = capital || last.is_none_or(|c| !c.is_alphanumeric());
        let ends = next.is_none_or(|c| !c.is_alphanumeric() || c.is_uppercase());
        (starts && ends).then(|| format!("{before}{to}{after}"))
    });
    exchanged.chain(letters).find_map(|other| find(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::{Joint, Skeleton};

    #[test]
    fn sides_are_found_in_names() {
        let names = [
            "root",
            "Arm.L",
            "Arm.R",
            "leg_l",
            "leg_r",
            "lThumb",
            "rThumb",
            "x:LeftToe",
            "x:RightToe",
            "upright",
            "tail",
            "browUpL",
            "browUpR",
        ];
        let parent = |i: usize| (i > 0).then(|| JointId::new(0));
        let joint = |(i, name): (usize, &&str)| Joint::new(*name, parent(i), Transform::identity());
        let skeleton = Skeleton::new(names.iter().enumerate().map(joint).collect()).unwrap();
        let rig = Rig::new(skeleton, []);
        let found: Vec<usize> = partners(&rig).into_iter().map(JointId::index).collect();
        assert_eq!(found, [0, 2, 1, 4, 3, 6, 5, 8, 7, 9, 10, 12, 11]);
    }
}
