//! Detects fingers by names: the joints below a hand, each finger from its knuckle outwards.
//!
//! A finger is identified by its name or its number. Where fingers have four joints, either the first is in the palm
//! or the last is a tip; this is decided once for the whole hand, by the joint numbers if possible, else by the rest
//! positions (any unit). In a list of joints without a tree the fingers of a hand are those of its side, by their distance from it. The
//! side is taken from the hand, not from the finger names: rigs mislabel thumbs.

use super::joint_names::{FingerName, JointNames, WhichFinger};
use crate::model::{Finger, JointId, ModelPose, Skeleton};

/// Joints of a finger that bend: those after the metacarpal.
pub(crate) const BENDING: usize = 3;

/// A first joint whose distance from the wrist is below this multiple of its bone length is in the palm. Knuckles are
/// at more than 2, joints in the palm at about 0.5, and at up to 1 where the rig puts them in the middle of the palm.
pub(super) const NEAR_WRIST: f64 = 1.5;

/// Length of a first bone, in lengths of the one after it, below which it is a stub: the shortest first phalanges are longer than
/// the second.
const STUB: f64 = 0.1;

/// The finger chains below `hand`, thumb first. `rest` is the reference pose in model space, any unit; `seen` are the
/// fingers by shape, empty if unknown.
pub fn fingers(
    skeleton: &Skeleton,
    names: &JointNames,
    rest: &ModelPose,
    hand: JointId,
    seen: &[(Finger, Vec<JointId>)],
) -> Vec<(Finger, Vec<JointId>)> {
    let below_hand = below(skeleton, hand);
    let listed = below_hand.is_empty();
    let joints = if listed { beside(skeleton, names, rest, hand) } else { below_hand };
    let mut named: Vec<(JointId, &FingerName)> =
        joints.into_iter().filter_map(|id| names.finger(id).map(|finger| (id, finger))).collect();
    if listed {
        // A fist has its tips nearer to the wrist than its knuckles.
        named.sort_by_key(|(_, name)| name.number);
    }
    if named.iter().any(|(id, name)| counts_joints(skeleton, names, *id, name.which)) {
        named.retain(|(_, name)| matches!(name.which, WhichFinger::Named(_)));
    }
    // A finger without a name or number is the only one, beside the thumb, and its joints are one chain; a single joint may be a
    // helper of the hand.
    let only: Vec<JointId> = named.iter().filter(|n| n.1.which == WhichFinger::Only).map(|n| n.0).collect();
    let others =
        |which: WhichFinger| which != WhichFinger::Only && which != WhichFinger::Named(Finger::Thumb);
    let branches = only.windows(2).any(|pair| !names.is_below(pair[1], pair[0]));
    if only.len() < 2 || branches || named.iter().any(|n| others(n.1.which)) {
        named.retain(|n| n.1.which != WhichFinger::Only);
    }
    let first = first_counted(&named);
    let by_place = numbers_by_place(names, &named, seen);
    let mut chains: Vec<(Finger, Vec<JointId>)> = Vec::new();
    for (id, name) in named {
        let by_place = by_place.iter().find(|p| WhichFinger::Counted(p.0) == name.which).map(|p| p.1);
        let Some(finger) = by_place.or_else(|| which(name.which, first)) else { continue };
        // The thumb's first joint is its metacarpal and bends.
        if name.metacarpal && finger != Finger::Thumb {
            continue;
        }
        match chains.iter_mut().find(|c| c.0 == finger) {
            None => chains.push((finger, vec![id])),
            Some((_, chain)) if listed || chain.last().is_some_and(|&tip| names.is_below(id, tip)) => {
                chain.push(id);
            }
            Some(_) => {}
        }
    }
    remove_bases(names, &mut chains);
    if let Some(number) = in_palm(names, rest, hand, &chains) {
        for (_, chain) in chains.iter_mut().filter(|c| c.0 != Finger::Thumb) {
            let same = names.finger(chain[0]).is_some_and(|f| f.number == number);
            if chain.len() > BENDING || (same && number.is_some() && chain.len() > 1) {
                chain.remove(0);
            }
        }
    }
    for (_, chain) in &mut chains {
        chain.truncate(BENDING);
    }
    chains.sort_by_key(|c| c.0);
    chains
}

/// Removes a single joint that has another finger below it: a finger begins at the hand, and what several begin at is their base,
/// whatever its name (`LeftHandMiddle1` above `LeftHandIndex1`).
fn remove_bases(names: &JointNames, chains: &mut Vec<(Finger, Vec<JointId>)>) {
    let all = chains.clone();
    let is_base = |(finger, chain): &(Finger, Vec<JointId>)| {
        let [base] = chain[..] else { return false };
        all.iter().any(|(other, below)| other != finger && below.iter().any(|&id| names.is_below(id, base)))
    };
    chains.retain(|chain| !is_base(chain));
}

/// All joints below `hand`, parents first.
fn below(skeleton: &Skeleton, hand: JointId) -> Vec<JointId> {
    let mut found = skeleton.children(hand).to_vec();
    let mut at = 0;
    while let Some(&id) = found.get(at) {
        found.extend(skeleton.children(id));
        at += 1;
    }
    found.sort();
    found
}

/// The joints without children beside `hand` that have its side, the nearest first.
fn beside(skeleton: &Skeleton, names: &JointNames, rest: &ModelPose, hand: JointId) -> Vec<JointId> {
    let of_side = |id: &JointId| {
        *id != hand && names.side(*id) == names.side(hand) && skeleton.children(*id).is_empty()
    };
    let all = skeleton.parent(hand).map_or(&[][..], |parent| skeleton.children(parent));
    let mut found: Vec<JointId> = all.iter().copied().filter(of_side).collect();
    let distance = |id: &JointId| (rest.position(*id) - rest.position(hand)).norm();
    found.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    found
}

/// Whether a name counts joints and not fingers: `Finger_02` below `Finger_01` is no other finger.
fn counts_joints(skeleton: &Skeleton, names: &JointNames, id: JointId, which: WhichFinger) -> bool {
    let above = skeleton.parent(id).and_then(|parent| names.finger(parent)).map(|name| name.which);
    matches!((above, which), (Some(WhichFinger::Counted(a)), WhichFinger::Counted(b)) if a != b)
}

/// The lowest finger number of this hand, and the finger it denotes: Biped numbers the thumb 0, MakeHuman 1; where
/// the thumb has a name of its own, numbers start with the index finger.
fn first_counted(named: &[(JointId, &FingerName)]) -> (u32, Finger) {
    let has = |which: WhichFinger| named.iter().any(|(_, name)| name.which == which);
    let thumb = if has(WhichFinger::Named(Finger::Thumb)) { Finger::Index } else { Finger::Thumb };
    (u32::from(!has(WhichFinger::Counted(0))), thumb)
}

/// The fingers of the numbers where the shape shows that the thumb has the highest number: UMA counts from the little
/// finger, Smash Bros from the index finger; which of them, the order across the palm shows, also where fingers are missing.
/// Empty where the thumb has the lowest number, or the shape does not tell.
fn numbers_by_place(
    names: &JointNames,
    named: &[(JointId, &FingerName)],
    seen: &[(Finger, Vec<JointId>)],
) -> Vec<(u32, Finger)> {
    let number = |id: JointId| match names.finger(id)?.which {
        WhichFinger::Counted(n) => Some(n),
        _ => None,
    };
    let highest = named.iter().filter_map(|(id, _)| number(*id)).max();
    // From the thumb to the little finger.
    let found: Vec<u32> = seen.iter().filter_map(|(_, chain)| number(*chain.first()?)).collect();
    let Some((&thumb, others)) = found.split_first().filter(|(thumb, _)| Some(**thumb) == highest) else {
        return Vec::new();
    };
    let first_seen = seen.first().is_some_and(|(f, chain)| {
        *f == Finger::Thumb && chain.first().is_some_and(|&id| number(id) == Some(thumb))
    });
    let rises = others.is_sorted_by(|a, b| a < b);
    if !first_seen || others.len() < 2 || !(rises || others.is_sorted_by(|a, b| a > b)) {
        return Vec::new();
    }
    // Numbers start with 0 or 1.
    let next = u32::from(others.contains(&0));
    let place = |n: u32| if rises { Some(n + next) } else { thumb.checked_sub(n) };
    let finger = |n: u32| Finger::ALL.get(place(n)? as usize).copied();
    let all = others.iter().filter_map(|&n| Some((n, finger(n)?)));
    all.chain([(thumb, Finger::Thumb)]).collect()
}

fn which(name: WhichFinger, (number, finger): (u32, Finger)) -> Option<Finger> {
    match name {
        WhichFinger::Named(finger) => Some(finger),
        // The joint map pairs equal fingers, and every hand with fingers has an index finger.
        WhichFinger::Only => Some(Finger::Index),
        WhichFinger::Counted(n) => {
            let index = n.checked_sub(number)? as usize + finger as usize;
            Finger::ALL.get(index).copied()
        }
    }
}

/// Whether the first joints of this hand's four-joint fingers are in the palm, and their joint number.
fn in_palm(
    names: &JointNames,
    rest: &ModelPose,
    hand: JointId,
    chains: &[(Finger, Vec<JointId>)],
) -> Option<Option<u32>> {
    let number = |id: JointId| names.finger(id).and_then(|f| f.number);
    let long: Vec<&Vec<JointId>> =
        chains.iter().filter(|c| c.0 != Finger::Thumb && c.1.len() > BENDING).map(|c| &c.1).collect();
    let first = number(*long.first()?.first()?);
    // A thumb has no joint between metacarpal and knuckle: where it has four joints too, the last one is a tip.
    if chains.iter().any(|c| c.0 == Finger::Thumb && c.1.len() > BENDING) {
        return None;
    }
    let distance = |a: JointId, b: JointId| (rest.position(a) - rest.position(b)).norm();
    let near = |chain: &&&Vec<JointId>| {
        let bone = distance(chain[0], chain[1]);
        distance(hand, chain[0]) < NEAR_WRIST * bone || bone < STUB * distance(chain[1], chain[2])
    };
    let votes = long.iter().filter(near).count();
    (first == Some(0) || 2 * votes > long.len()).then_some(first)
}
