//! Combines the roles from names with those from shape: fills gaps, detects exchanged sides, raises confidence.

use super::named_limbs::{LimbSlot, limb_role};
use super::shape::{BodyShape, SIDES};
use crate::model::{JointId, Role};

/// Confidence of a role that fills a gap: little more than a guess, since the joint's own name does not confirm it.
pub(super) const GAP_CONFIDENCE: f64 = 0.55;

/// Whether the shape proves that left and right are exchanged in the names: the limb joints known to both are all on
/// opposite sides.
pub(super) fn sides_contradict(
    shape: &BodyShape,
    legs: &[[LimbSlot; 4]; 2],
    arms: &[[LimbSlot; 4]; 2],
) -> bool {
    let (mut same, mut other) = (0, 0);
    for (named, seen) in [(legs, &shape.legs), (arms, &shape.arms)] {
        for (side, limb) in named.iter().enumerate() {
            for joint in limb.iter().flatten().map(|s| s.0) {
                let on = |side: usize| seen[side].iter().flatten().any(|s| s.0 == joint);
                same += usize::from(on(side));
                other += usize::from(on(1 - side));
            }
        }
    }
    shape.sides_proven && same == 0 && other >= 2
}

/// Raises the confidence of named roles that the shape confirms to that of the shape.
pub(super) fn confirm(shape: &BodyShape, named: [&mut [[LimbSlot; 4]; 2]; 2]) {
    for (named, seen) in named.into_iter().zip([&shape.legs, &shape.arms]) {
        for (named, seen) in named.iter_mut().flatten().zip(seen.iter().flatten()) {
            if let (Some(named), Some(seen)) = (named.as_mut(), seen)
                && named.0 == seen.0
            {
                named.1 = named.1.max(seen.1);
            }
        }
    }
}

/// Roles that the names leave open and the shape provides, for limbs whose other joints agree.
pub(super) fn fill_gaps(shape: &BodyShape, named: [&[[LimbSlot; 4]; 2]; 2]) -> Vec<(Role, JointId, f64)> {
    let seen = [&shape.legs, &shape.arms];
    let pairs = || named.iter().zip(seen).flat_map(|(n, s)| n.iter().zip(s));
    // At least one limb must agree: names and shape are then about the same body.
    if !pairs().any(|(n, s)| matches!(agree(n, s), (2.., 0))) {
        return Vec::new();
    }
    let sure = GAP_CONFIDENCE.min(shape.sure);
    let mut found = Vec::new();
    for (leg, (named, seen)) in [true, false].into_iter().zip(named.iter().zip(seen)) {
        for (side, (named, seen)) in SIDES.into_iter().zip(named.iter().zip(seen)) {
            if agree(named, seen).1 > 0 {
                continue;
            }
            for slot in 0..4 {
                // Hands and feet that are not children of the limb are moved by other means than the limb.
                if let (None, Some((joint, seen))) = (named[slot], seen[slot])
                    && seen > 0.5
                {
                    found.push((limb_role(leg, slot, side), joint, sure));
                }
            }
        }
    }
    found.push((Role::Hips, shape.hips, sure));
    found.extend(shape.head.map(|head| (Role::Head, head, sure)));
    found
}

/// Slots of a limb that names and shape fill with the same joint, and with different ones.
fn agree(named: &[LimbSlot; 4], seen: &[LimbSlot; 4]) -> (usize, usize) {
    let both = named.iter().zip(seen).filter_map(|(a, b)| Some(a.as_ref()?.0 == b.as_ref()?.0));
    let all: Vec<bool> = both.collect();
    let same = all.iter().filter(|&&same| same).count();
    (same, all.len() - same)
}
