//! Skeletons of motion models whose files state neither names nor parents, by their number of joints.
//!
//! Each list holds chains: the parent of a chain's first joint, `<`, and its joints. Sources: nv-tlabs/kimodo,
//! `skeleton/definitions.py` (SOMA with 77 and 30 joints, Unitree G1 with 34); the SMPL family in `smpl_joints`.

use super::smpl_joints;

/// The joints of a skeleton, parents first.
pub(super) struct KnownSkeleton {
    pub(super) names: Vec<String>,
    pub(super) parents: Vec<Option<usize>>,
}

/// SOMA with fingers. `@` stands for the finger chains of the side before it.
const SOMA77: &str = "Hips Spine1 Spine2 Chest Neck1 Neck2 Head HeadEnd, Head < Jaw, Head < LeftEye, Head < RightEye, \
    Chest < LeftShoulder LeftArm LeftForeArm LeftHand, @Left, Chest < RightShoulder RightArm RightForeArm RightHand, @Right, \
    Hips < LeftLeg LeftShin LeftFoot LeftToeBase LeftToeEnd, Hips < RightLeg RightShin RightFoot RightToeBase RightToeEnd";
/// SOMA without fingers.
const SOMA30: &str = "Hips Spine1 Spine2 Chest Neck1 Neck2 Head, Head < Jaw, Head < LeftEye, Head < RightEye, \
    Chest < LeftShoulder LeftArm LeftForeArm LeftHand, LeftHand < LeftHandThumbEnd, LeftHand < LeftHandMiddleEnd, \
    Chest < RightShoulder RightArm RightForeArm RightHand, RightHand < RightHandThumbEnd, RightHand < RightHandMiddleEnd, \
    Hips < LeftLeg LeftShin LeftFoot LeftToeBase, Hips < RightLeg RightShin RightFoot RightToeBase";
/// The Unitree G1 as Kimodo has it.
const G1: &str = "pelvis_skel left_hip_pitch_skel left_hip_roll_skel left_hip_yaw_skel left_knee_skel left_ankle_pitch_skel \
    left_ankle_roll_skel left_toe_base, pelvis_skel < right_hip_pitch_skel right_hip_roll_skel right_hip_yaw_skel right_knee_skel \
    right_ankle_pitch_skel right_ankle_roll_skel right_toe_base, pelvis_skel < waist_yaw_skel waist_roll_skel waist_pitch_skel, \
    waist_pitch_skel < left_shoulder_pitch_skel left_shoulder_roll_skel left_shoulder_yaw_skel left_elbow_skel \
    left_wrist_roll_skel left_wrist_pitch_skel left_wrist_yaw_skel left_hand_roll_skel, waist_pitch_skel < \
    right_shoulder_pitch_skel right_shoulder_roll_skel right_shoulder_yaw_skel right_elbow_skel right_wrist_roll_skel \
    right_wrist_pitch_skel right_wrist_yaw_skel right_hand_roll_skel";

impl KnownSkeleton {
    /// The skeleton of this number of joints, if it is known.
    pub(super) fn of(joints: usize) -> Option<Self> {
        match joints {
            77 => Some(Self::chains(SOMA77)),
            34 => Some(Self::chains(G1)),
            30 => Some(Self::chains(SOMA30)),
            _ => {
                let names = smpl_joints::joints(joints)?;
                let place = |name: &str| names.iter().position(|n| *n == name);
                let parents = names.iter().map(|name| smpl_joints::parent(name).and_then(place)).collect();
                Some(Self { names: names.iter().map(|n| (*n).to_owned()).collect(), parents })
            }
        }
    }

    fn chains(list: &str) -> Self {
        let mut found = Self { names: Vec::new(), parents: Vec::new() };
        for chain in list.split(',').map(str::trim) {
            match chain.strip_prefix('@') {
                Some(side) => found.add_fingers(side),
                None => found.add(chain),
            }
        }
        found
    }

    fn add(&mut self, chain: &str) {
        let (parent, chain) = chain.split_once('<').unwrap_or(("", chain));
        let mut parent = self.names.iter().position(|name| name == parent.trim());
        for name in chain.split_whitespace() {
            self.names.push(name.to_owned());
            self.parents.push(parent);
            parent = Some(self.names.len() - 1);
        }
    }

    /// The thumb has three joints and an end, the fingers four and an end.
    fn add_fingers(&mut self, side: &str) {
        for finger in ["Thumb", "Index", "Middle", "Ring", "Pinky"] {
            let joints: &[&str] =
                if finger == "Thumb" { &["1", "2", "3", "End"] } else { &["1", "2", "3", "4", "End"] };
            let chain: Vec<String> = joints.iter().map(|j| format!("{side}Hand{finger}{j}")).collect();
            self.add(&format!("{side}Hand < {}", chain.join(" ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_skeletons_have_their_joints_and_one_root() {
        for joints in [77, 34, 30, 22, 24, 52, 55] {
            let known = KnownSkeleton::of(joints).unwrap();
            assert_eq!((known.names.len(), known.parents.len()), (joints, joints));
            for (k, parent) in known.parents.iter().enumerate() {
                assert_eq!(parent.is_none(), k == 0, "{}", known.names[k]);
                assert!(parent.is_none_or(|p| p < k));
            }
        }
        let soma = KnownSkeleton::of(77).unwrap();
        let at = |name: &str| soma.names.iter().position(|n| n == name).unwrap();
        assert_eq!((at("LeftHandThumbEnd"), at("RightShoulder"), at("RightToeEnd")), (18, 39, 76));
        assert_eq!(soma.parents[at("RightHandRing1")], Some(at("RightHand")));
        assert!(KnownSkeleton::of(23).is_none());
    }
}
