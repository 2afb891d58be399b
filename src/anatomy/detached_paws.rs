//! Paws of quadrupeds that are joints outside of the legs, often targets of IK.
//!
//! Space: reference pose in model space, Y up, any unit.

use super::figure_measures::on_four_legs;
use super::joint_names::JointNames;
use crate::model::{Assignment, JointId, ModelPose, Rig, Role, Side};

/// Confidence of a paw outside of its leg: its side, its skin and its position agree, its name is often that of a helper.
const CONFIDENCE: f64 = 0.75;

/// The paws of a rig whose legs have none: joints with skin outside of the body, on the side of the leg, below its last joint and
/// nearer to it than it is to the ground; `mass` is the skin of every joint. Empty of bodies on two legs.
pub fn detached_paws(
    rig: &Rig,
    names: &JointNames,
    rest: &ModelPose,
    mass: Option<&[f64]>,
) -> Vec<(Role, Assignment)> {
    let (Some(mass), Some(hips)) = (mass, rig.joint(Role::Hips)) else { return Vec::new() };
    if !on_four_legs(rig, rest) {
        return Vec::new();
    }
    let skeleton = rig.skeleton();
    let has_skin = |id: JointId| skeleton.ids().any(|j| names.is_below(j, id) && mass[j.index()] > 0.0);
    let of_body = |id: JointId| names.is_below(id, hips) || skeleton.is_ancestor(id, hips);
    let outside = |id: &JointId| rig.role(*id).is_none() && !of_body(*id) && has_skin(*id);
    let loose: Vec<JointId> = skeleton.ids().filter(outside).collect();
    let ground = skeleton.ids().map(|id| rest.position(id).y).fold(f64::INFINITY, f64::min);
    // A paw whose name has no side belongs to the nearer of both legs.
    let paw = |end: JointId, other: Option<JointId>, side: Side| {
        let end = rest.position(end);
        let away = |id: JointId| (rest.position(id) - end).norm();
        let nearer =
            |id: JointId| other.is_some_and(|o| away(id) < (rest.position(id) - rest.position(o)).norm());
        let near = |id: &JointId| {
            names.side(*id).map_or_else(|| nearer(*id), |own| own == side)
                && rest.position(*id).y < end.y
                && away(*id) < end.y - ground
        };
        loose.iter().copied().filter(near).min_by(|&a, &b| away(a).total_cmp(&away(b)))
    };
    let mut paws: Vec<(Role, Assignment)> = Vec::new();
    for side in Side::BOTH {
        for (last, missing) in
            [(Role::Foot as fn(Side) -> Role, Role::Toes(side)), (Role::LowerArm, Role::Hand(side))]
        {
            let end = rig.joint(last(side)).filter(|_| rig.joint(missing).is_none());
            let Some(end) = end else { continue };
            if let Some(paw) = paw(end, rig.joint(last(side.other())), side) {
                paws.push((missing, Assignment::new(paw, CONFIDENCE, "a paw outside of the leg")));
            }
        }
    }
    // One joint is the paw of one leg.
    let taken = |paw: &JointId| paws.iter().filter(|(_, a)| a.joint == *paw).count() > 1;
    let unclear: Vec<JointId> = paws.iter().map(|(_, a)| a.joint).filter(taken).collect();
    paws.retain(|(_, a)| !unclear.contains(&a.joint));
    paws
}

#[cfg(test)]
mod tests {
    use crate::anatomy::{JointNames, ShapeEvidence, Vocabulary, detect_roles_from};
    use crate::math::{Transform, Vec3};
    use crate::model::{Joint, JointId, Role, Side, Skeleton};

    /// An animal whose paws are targets of IK under its root.
    fn animal() -> Skeleton {
        animal_on(Vec3::zeros())
    }

    /// The same with its root at this place.
    fn animal_on(root: Vec3) -> Skeleton {
        let mut list: Vec<(String, Option<usize>, Vec3)> = vec![
            ("root".into(), None, root),
            ("Back".into(), Some(0), Vec3::new(0.0, 0.9, -0.5)),
            ("Torso".into(), Some(1), Vec3::new(0.0, 0.95, 0.0)),
            ("Torso2".into(), Some(2), Vec3::new(0.0, 1.0, 0.4)),
            ("Neck".into(), Some(3), Vec3::new(0.0, 1.2, 0.6)),
            ("Head".into(), Some(4), Vec3::new(0.0, 1.3, 0.8)),
        ];
        for (side, x) in [("L", 0.15), ("R", -0.15)] {
            let mut add = |name: &str, parent: usize, y: f64, z: f64| {
                list.push((format!("{name}.{side}"), Some(parent), Vec3::new(x, y, z)));
                list.len() - 1
            };
            let thigh = add("BackLeg", 1, 0.85, -0.5);
            let shin = add("BackUpperLeg", thigh, 0.65, -0.4);
            add("BackLowerLeg", shin, 0.4, -0.65);
            let arm = add("FrontUpperLeg", 3, 0.75, 0.4);
            add("FrontLowerLeg", arm, 0.55, 0.35);
            add("IKBackLeg", 0, 0.08, -0.55);
            add("IKFrontLeg", 0, 0.08, 0.45);
            add("PoleTarget", 0, 0.4, 1.9);
        }
        list.push(("floor".into(), Some(0), Vec3::zeros()));
        let joint = |(name, parent, p): &(String, Option<usize>, Vec3)| {
            let local = parent.map_or(*p, |k| p - list[k].2);
            Joint::new(name, parent.map(JointId::new), Transform::from_translation(local))
        };
        Skeleton::new(list.iter().map(joint).collect()).unwrap()
    }

    /// The names of the joints that are toes and hand of the left side; `skin` is the mass of the paws.
    fn paws(skeleton: Skeleton, skin: f64) -> [Option<String>; 2] {
        let rest = skeleton.rest_model_pose();
        let names = JointNames::of(&skeleton, Vocabulary::built_in());
        let mass: Vec<f64> =
            skeleton.joints().iter().map(|j| if j.name.starts_with("IK") { skin } else { 1.0 }).collect();
        let evidence = ShapeEvidence { mass: Some(&mass), clip: None, ..Default::default() };
        let rig = detect_roles_from(&names, skeleton, &rest, &[], Some(&evidence)).rig;
        let name = |role: Role| rig.joint(role).map(|id| rig.skeleton().joint(id).name.clone());
        [Role::Toes(Side::Left), Role::Hand(Side::Left)].map(name)
    }

    #[test]
    fn paws_beside_the_legs_are_found_by_skin_and_position() {
        assert_eq!(paws(animal(), 1.0), [Some("IKBackLeg.L".into()), Some("IKFrontLeg.L".into())]);
        assert_eq!(paws(animal(), 0.0), [None, None], "targets of IK without skin are none");
        // Without a side in their names.
        let unsided = |name: &str| name.replace(".L", "One").replace(".R", "Two");
        let body = animal();
        let joints = body.joints().iter().map(|joint| {
            let name = if joint.name.starts_with("IK") { unsided(&joint.name) } else { joint.name.clone() };
            Joint::new(name, joint.parent, joint.rest)
        });
        let found = paws(Skeleton::new(joints.collect()).unwrap(), 1.0);
        assert_eq!(found, [Some("IKBackLegOne".into()), Some("IKFrontLegOne".into())]);
    }

    #[test]
    fn what_the_body_hangs_on_is_no_paw() {
        // A centre of mass between the elbows and nearer to them than the paws are.
        let found = paws(animal_on(Vec3::new(0.02, 0.3, 0.3)), 1.0);
        assert_eq!(found, [Some("IKBackLeg.L".into()), Some("IKFrontLeg.L".into())]);
    }
}
