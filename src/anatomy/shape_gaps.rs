//! Compares the roles from names with those from shape: which side is left, how far the shape is to be trusted, and what
//! it adds to the names.

use super::joint_names::JointNames;
use super::named_limbs::{ARM, LEG, SeenLimb};
use super::shape::BodyShape;
use crate::model::Side;

/// Weight of a word from which it denotes its part clearly.
const CLEAR: f64 = 0.9;

/// Joints of the shape's limbs whose names have the same side as the shape, and those with the other one.
pub(super) fn sides(shape: &BodyShape, names: &JointNames) -> (usize, usize) {
    let (mut same, mut other) = (0, 0);
    for limbs in [&shape.legs, &shape.arms] {
        for (side, limb) in Side::BOTH.into_iter().zip(limbs) {
            for named in limb.iter().flatten().filter_map(|slot| names.side(slot.0)) {
                same += usize::from(named == side);
                other += usize::from(named != side);
            }
        }
    }
    (same, other)
}

/// The shape's legs and arms as witnesses beside the names, each trusted as far as it agrees with clear names; `None` for
/// all where neither a limb nor all limbs together agree with the names, so that the two are about different bodies.
pub(super) fn witnesses<'a>(shape: &'a BodyShape, names: &JointNames) -> Option<[[SeenLimb<'a>; 2]; 2]> {
    let mut same_body = false;
    let mut in_all = (0, 0);
    let all = [(&shape.legs, LEG), (&shape.arms, ARM)].map(|(limbs, parts)| {
        [0, 1].map(|side| {
            let (mut agree, mut contradict) = (0, 0);
            for (slot, &(joint, _)) in
                limbs[side].iter().enumerate().filter_map(|(k, s)| Some((k, s.as_ref()?)))
            {
                let clear = names.readings(joint).iter().any(|r| r.1 >= CLEAR);
                let agrees = names.weight(joint, parts[slot]) > 0.0;
                agree += usize::from(agrees);
                contradict += usize::from(clear && !agrees);
            }
            same_body |= agree >= 2 && contradict == 0;
            in_all = (in_all.0 + agree, in_all.1 + contradict);
            SeenLimb { slots: &limbs[side], trust: if contradict == 0 { 1.0 } else { 0.0 } }
        })
    });
    (same_body || in_all.0 >= 2 && in_all.1 == 0).then_some(all)
}
