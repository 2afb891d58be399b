//! The joints of one frame that measures of limbs compare. Space: model space. Units: metres, radians.

use crate::kinematics::map_frames_towards;
use crate::math::{Quat, Vec3, angle_between};
use crate::model::{JointId, ModelPose, Motion, Rig, Role, Side};

/// Index of the knee among the joints of a leg in [`LimbFrame::legs`].
pub const KNEE: usize = 1;
/// Index of the ankle in [`LimbFrame::legs`].
pub const ANKLE: usize = 2;
/// Index of the toes in [`LimbFrame::legs`].
pub const TOES: usize = 3;

/// The joints of one frame that are compared.
#[derive(Clone, Copy, Debug)]
pub struct LimbFrame {
    /// Hip, knee, ankle and toe joint (the ankle without one), by side.
    pub legs: [[Vec3; 4]; 2],
    /// Shoulder, elbow and wrist, by side; zeros of an arm that is not whole.
    pub arms: [[Vec3; 3]; 2],
    /// The middle of the shoulders; `None` for a body without both.
    pub shoulders: Option<Vec3>,
    /// The rotation of the hips.
    pub hips: Quat,
    /// The rotation of each foot.
    pub feet: [Quat; 2],
    /// The rotation of each hand; the identity of an arm that is not whole.
    pub hands: [Quat; 2],
    /// Whether each foot has a toe joint.
    pub toes: [bool; 2],
}

/// The joints that a [`LimbFrame`] is read from: those of legs and arms by side, and the hips.
struct LimbJoints {
    /// Hip, knee, ankle, and toe joint if there is one.
    legs: [([JointId; 3], Option<JointId>); 2],
    /// Shoulder, elbow and wrist.
    arms: [Option<[JointId; 3]>; 2],
    shoulders: Option<[JointId; 2]>,
    hips: JointId,
}

impl LimbJoints {
    /// `None` without hips and two whole legs.
    fn of(rig: &Rig) -> Option<Self> {
        let all = |roles: [Role; 3]| {
            let [a, b, c] = roles.map(|role| rig.joint(role));
            Some([a?, b?, c?])
        };
        let leg = |s: Side| {
            Some((all([Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s)])?, rig.joint(Role::Toes(s))))
        };
        let [left, right] = Side::BOTH.map(leg);
        let shoulders = Side::BOTH.map(|s| rig.joint(Role::UpperArm(s)));
        Some(Self {
            legs: [left?, right?],
            arms: Side::BOTH.map(|s| all([Role::UpperArm(s), Role::LowerArm(s), Role::Hand(s)])),
            shoulders: shoulders[0].zip(shoulders[1]).map(|(left, right)| [left, right]),
            hips: rig.joint(Role::Hips)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = JointId> {
        let legs = self.legs.iter().flat_map(|(leg, toes)| leg.iter().chain(toes));
        let arms = self.arms.iter().flatten().flatten().chain(self.shoulders.iter().flatten());
        legs.chain(arms).copied().chain([self.hips])
    }

    fn read(&self, pose: &ModelPose) -> LimbFrame {
        let at = |id: JointId| pose.position(id);
        LimbFrame {
            legs: self
                .legs
                .map(|([hip, knee, ankle], toes)| [hip, knee, ankle, toes.unwrap_or(ankle)].map(at)),
            arms: self.arms.map(|arm| arm.map_or_else(Default::default, |joints| joints.map(at))),
            shoulders: self.shoulders.map(|[left, right]| (at(left) + at(right)) * 0.5),
            hips: pose.joint(self.hips).rotation,
            feet: self.legs.map(|([.., ankle], _)| pose.joint(ankle).rotation),
            hands: self
                .arms
                .map(|arm| arm.map_or(Quat::identity(), |[.., wrist]| pose.joint(wrist).rotation)),
            toes: self.legs.map(|(_, toes)| toes.is_some()),
        }
    }
}

impl LimbFrame {
    /// Reads a pose; `None` without hips and two whole legs.
    pub fn read(rig: &Rig, pose: &ModelPose) -> Option<LimbFrame> {
        Some(LimbJoints::of(rig)?.read(pose))
    }

    /// With all positions times `k`.
    pub fn scaled(mut self, k: f64) -> LimbFrame {
        let arms = self.arms.iter_mut().flatten().chain(&mut self.shoulders);
        self.legs.iter_mut().flatten().chain(arms).for_each(|p| *p *= k);
        self
    }

    /// The directions of thighs, shins, upper arms and forearms.
    pub fn limbs(&self) -> [Vec3; 8] {
        let [l, r] = self.legs;
        let [a, b] = self.arms;
        let of = |p: &[Vec3], k: usize| p[k + 1] - p[k];
        [of(&l, 0), of(&l, 1), of(&r, 0), of(&r, 1), of(&a, 0), of(&a, 1), of(&b, 0), of(&b, 1)]
    }

    /// The angle by which a knee is flexed.
    pub fn bend(&self, side: usize) -> f64 {
        let [hip, knee, ankle, _] = self.legs[side];
        angle_between(&(knee - hip), &(ankle - knee))
    }

    /// From the middle of the hip joints to that of the shoulders; `None` for a body without both.
    pub fn trunk(&self) -> Option<Vec3> {
        let [l, r] = self.legs.map(|leg| leg[0]);
        Some(self.shoulders? - (l + r) * 0.5)
    }

    /// The mean length of the legs.
    pub fn leg_length(&self) -> f64 {
        let of = |[hip, knee, ankle, _]: [Vec3; 4]| (knee - hip).norm() + (ankle - knee).norm();
        0.5 * (of(self.legs[0]) + of(self.legs[1]))
    }
}

/// Every frame of a motion; `None` for bodies without two whole legs.
pub fn limb_frames(motion: &Motion) -> Option<Vec<LimbFrame>> {
    let rig = &motion.character.rig;
    let joints = LimbJoints::of(rig)?;
    Some(map_frames_towards(rig.skeleton(), &motion.clip, joints.all(), |pose| joints.read(pose)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, ImportOptions};

    #[test]
    fn the_trunk_of_a_body_that_lacks_a_hand_is_that_of_a_whole_body() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb");
        let rig = import::load(&path, &ImportOptions::default()).unwrap().character.rig.clone();
        let rest = rig.skeleton().rest_model_pose();
        let trunk = |lost: &[Role]| {
            let roles = rig.assignments().filter(|(role, _)| !lost.contains(role));
            let rig = Rig::new(rig.skeleton().clone(), roles.map(|(role, a)| (role, a.clone())));
            LimbFrame::read(&rig, &rest).unwrap().trunk()
        };
        let side = Side::Left;
        let whole = trunk(&[]).unwrap();
        assert!(whole.y > 0.3 && trunk(&[Role::Hand(side)]) == Some(whole), "{whole}");
        assert_eq!(trunk(&[Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)]), None);
    }
}
