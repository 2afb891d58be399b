//! The joints of the SMPL family: their names, their parents, their order in a body model.
//!
//! The first 22 are the same in all. SMPL adds two hands; SMPL+H fingers of three joints each; SMPL-X jaw and eyes before them.
//! Source: Loper et al. 2015 (SMPL), Romero et al. 2017 (SMPL+H), Pavlakos et al. 2019 (SMPL-X), and their published joint lists.

/// The joints that all bodies have.
pub(super) const BODY: [&str; 22] = [
    "pelvis",
    "left_hip",
    "right_hip",
    "spine1",
    "left_knee",
    "right_knee",
    "spine2",
    "left_ankle",
    "right_ankle",
    "spine3",
    "left_foot",
    "right_foot",
    "neck",
    "left_collar",
    "right_collar",
    "head",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
];
/// The hands of SMPL.
pub(super) const HANDS: [&str; 2] = ["left_hand", "right_hand"];
/// The face of SMPL-X.
pub(super) const FACE: [&str; 3] = ["jaw", "left_eye", "right_eye"];
/// The fingers of SMPL+H and SMPL-X, left hand first.
pub(super) const FINGERS: [&str; 30] = [
    "left_index1",
    "left_index2",
    "left_index3",
    "left_middle1",
    "left_middle2",
    "left_middle3",
    "left_pinky1",
    "left_pinky2",
    "left_pinky3",
    "left_ring1",
    "left_ring2",
    "left_ring3",
    "left_thumb1",
    "left_thumb2",
    "left_thumb3",
    "right_index1",
    "right_index2",
    "right_index3",
    "right_middle1",
    "right_middle2",
    "right_middle3",
    "right_pinky1",
    "right_pinky2",
    "right_pinky3",
    "right_ring1",
    "right_ring2",
    "right_ring3",
    "right_thumb1",
    "right_thumb2",
    "right_thumb3",
];

/// The parents of [`BODY`]; the pelvis is its own.
const PARENTS: [usize; 22] = [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19];

/// The joints of a body with this number of joints, in order; `None` if there is no such body.
pub(super) fn joints(count: usize) -> Option<Vec<&'static str>> {
    let parts: &[&[&str]] = match count {
        22 => &[&BODY],
        24 => &[&BODY, &HANDS],
        52 => &[&BODY, &FINGERS],
        55 => &[&BODY, &FACE, &FINGERS],
        _ => return None,
    };
    Some(parts.concat())
}

/// The parent of a joint; `None` for the pelvis and for unknown names.
pub(super) fn parent(joint: &str) -> Option<&'static str> {
    if let Some(k) = BODY.iter().position(|name| *name == joint) {
        return (k > 0).then(|| BODY[PARENTS[k]]);
    }
    if FACE.contains(&joint) {
        return Some("head");
    }
    if let Some(k) = FINGERS.iter().position(|name| *name == joint) {
        let wrist = if k < FINGERS.len() / 2 { "left_wrist" } else { "right_wrist" };
        return Some(if k % 3 == 0 { wrist } else { FINGERS[k - 1] });
    }
    match joint {
        "left_hand" => Some("left_wrist"),
        "right_hand" => Some("right_wrist"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_in_every_body() {
        for count in [22, 24, 52, 55] {
            let joints = joints(count).unwrap();
            assert_eq!(joints.len(), count);
            for (k, joint) in joints.iter().enumerate() {
                let parent = parent(joint).map(|p| joints.iter().position(|j| *j == p).unwrap());
                assert!(parent.map_or(k == 0, |p| p < k), "{joint}");
            }
        }
        assert_eq!(parent("left_thumb2"), Some("left_thumb1"));
        assert_eq!(parent("right_index1"), Some("right_wrist"));
    }
}
