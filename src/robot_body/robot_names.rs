//! What the names of a robot's links say of its limbs: the second witness after their shape.

use crate::anatomy::{JointNames, NamedPart, Vocabulary};
use crate::model::{JointId, Robot, Side};

/// Fewest links of a limb whose names are of another part before that counts: one may be the name of a hinge's axis.
const FEWEST: usize = 2;
/// Parts of a leg, of an arm, and of the trunk with what grows out of it.
const LEG: [NamedPart; 4] = [NamedPart::UpperLeg, NamedPart::LowerLeg, NamedPart::Foot, NamedPart::Toes];
const ARM: [NamedPart; 4] = [NamedPart::Clavicle, NamedPart::UpperArm, NamedPart::LowerArm, NamedPart::Hand];
const TRUNK: [NamedPart; 4] = [NamedPart::Spine, NamedPart::Neck, NamedPart::Head, NamedPart::Tail];

/// The names of a robot.
pub(super) struct LinkNames {
    names: JointNames,
    joints: Vec<JointId>,
}

impl LinkNames {
    /// The names of a robot; `None` if it has no skeleton.
    pub(super) fn of(robot: &Robot) -> Option<Self> {
        let names = JointNames::of(&robot.skeleton().ok()?, Vocabulary::built_in());
        Some(Self { names, joints: robot.joints().1 })
    }

    fn links<'a>(&'a self, robot: &'a Robot, hinges: &'a [usize]) -> impl Iterator<Item = JointId> + 'a {
        hinges.iter().map(|&hinge| self.joints[robot.hinges[hinge].link])
    }

    /// The side that most links behind these hinges have in their names.
    pub(super) fn side(&self, robot: &Robot, hinges: &[usize]) -> Option<Side> {
        let count = |side: Side| {
            self.links(robot, hinges).filter(|joint| self.names.side(*joint) == Some(side)).count()
        };
        match count(Side::Left).cmp(&count(Side::Right)) {
            std::cmp::Ordering::Greater => Some(Side::Left),
            std::cmp::Ordering::Less => Some(Side::Right),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Whether a link is named as a finger and as nothing else.
    pub(super) fn is_finger(&self, link: usize) -> bool {
        let joint = self.joints[link];
        let other = [NamedPart::UpperArm, NamedPart::LowerArm, NamedPart::Hand];
        self.names.finger(joint).is_some() && other.iter().all(|part| self.names.weight(joint, *part) == 0.0)
    }

    /// Whether the names of a limb are those of other parts of the body.
    pub(super) fn contradict(&self, robot: &Robot, hinges: &[usize], is_leg: bool) -> bool {
        let (own, other) = if is_leg { (LEG, ARM) } else { (ARM, LEG) };
        let count = |parts: &[NamedPart]| self.count(robot, hinges, parts);
        count(&own) == 0 && count(&other) + count(&TRUNK) >= FEWEST
    }

    /// Whether the names of a limb are those of an arm.
    pub(super) fn is_arm(&self, robot: &Robot, hinges: &[usize]) -> bool {
        self.count(robot, hinges, &LEG) == 0 && self.count(robot, hinges, &ARM) >= FEWEST
    }

    /// The number of links behind these hinges whose names may be those of one of these parts.
    fn count(&self, robot: &Robot, hinges: &[usize], parts: &[NamedPart]) -> usize {
        let named = |joint: &JointId| parts.iter().any(|part| self.names.weight(*joint, *part) > 0.0);
        self.links(robot, hinges).filter(named).count()
    }
}
