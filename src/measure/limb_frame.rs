//! The joints of one frame that measures of limbs compare. Space: model space. Units: metres, radians.

use crate::kinematics::map_frames;
use crate::math::{Quat, Vec3, angle_between};
use crate::model::{ModelPose, Motion, Rig, Role, Side};

/// The joints of one frame that are compared.
#[derive(Clone, Copy, Debug)]
pub struct LimbFrame {
    /// Hip, knee, ankle and toe joint (the ankle without one), by side.
    pub legs: [[Vec3; 4]; 2],
    /// Shoulder, elbow and wrist, by side; zeros of a body without arms.
    pub arms: [[Vec3; 3]; 2],
    /// The rotation of the hips.
    pub hips: Quat,
    /// The rotation of each foot.
    pub feet: [Quat; 2],
    /// Whether each foot has a toe joint.
    pub toes: [bool; 2],
}

impl LimbFrame {
    /// Reads a pose; `None` without hips and two whole legs.
    pub fn read(rig: &Rig, pose: &ModelPose) -> Option<LimbFrame> {
        let at = |role: Role| rig.joint(role).map(|id| pose.position(id));
        let leg = |s: Side| {
            let ankle = at(Role::Foot(s))?;
            Some([at(Role::UpperLeg(s))?, at(Role::LowerLeg(s))?, ankle, at(Role::Toes(s)).unwrap_or(ankle)])
        };
        let arm = |s: Side| Some([at(Role::UpperArm(s))?, at(Role::LowerArm(s))?, at(Role::Hand(s))?]);
        let [left, right] = Side::BOTH.map(leg);
        let foot = |s: Side| rig.joint(Role::Foot(s)).map_or(Quat::identity(), |id| pose.joint(id).rotation);
        Some(LimbFrame {
            legs: [left?, right?],
            arms: Side::BOTH.map(|s| arm(s).unwrap_or_default()),
            hips: pose.joint(rig.joint(Role::Hips)?).rotation,
            feet: Side::BOTH.map(foot),
            toes: Side::BOTH.map(|s| rig.joint(Role::Toes(s)).is_some()),
        })
    }

    /// With all positions times `k`.
    pub fn scaled(mut self, k: f64) -> LimbFrame {
        self.legs.iter_mut().flatten().chain(self.arms.iter_mut().flatten()).for_each(|p| *p *= k);
        self
    }

    /// The directions of thighs, shins, upper arms and forearms.
    pub fn limbs(&self) -> [Vec3; 8] {
        let [l, r] = self.legs;
        let [a, b] = self.arms;
        let of = |p: &[Vec3], k: usize| p[k + 1] - p[k];
        [of(&l, 0), of(&l, 1), of(&r, 0), of(&r, 1), of(&a, 0), of(&a, 1), of(&b, 0), of(&b, 1)]
    }

    /// The angle by which a knee is bent.
    pub fn bend(&self, side: usize) -> f64 {
        let [hip, knee, ankle, _] = self.legs[side];
        angle_between(&(knee - hip), &(ankle - knee))
    }

    /// From the middle of the hip joints to that of the shoulders.
    pub fn trunk(&self) -> Vec3 {
        let [a, b] = self.arms.map(|arm| arm[0]);
        let [l, r] = self.legs.map(|leg| leg[0]);
        if a == b { Vec3::zeros() } else { (a + b - l - r) * 0.5 }
    }

    /// The mean length of the legs.
    pub fn leg(&self) -> f64 {
        let of = |[hip, knee, ankle, _]: [Vec3; 4]| (knee - hip).norm() + (ankle - knee).norm();
        0.5 * (of(self.legs[0]) + of(self.legs[1]))
    }
}

/// Every frame of a motion; `None` of bodies without two whole legs.
pub fn limb_frames(motion: &Motion) -> Option<Vec<LimbFrame>> {
    let rig = &motion.character.rig;
    map_frames(rig.skeleton(), &motion.clip, |pose: &ModelPose| LimbFrame::read(rig, pose))
        .into_iter()
        .collect()
}
