//! Detects hips, spine, neck, head and tail by names, between limbs that are already known.

use super::joint_names::JointNames;
use super::shape::{is_still, rotates};
use super::vocabulary::NamedPart;
use crate::model::{Clip, JointId, ModelPose, Skeleton};

/// The joints of the trunk, each chain from the hips outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrunkChains {
    /// The hips joint, its confidence and the reason.
    pub hips: Option<(JointId, f64, &'static str)>,
    /// From the joint above the hips to the chest, the parent of the arms.
    pub spine: Vec<JointId>,
    /// Above the chest, below the head.
    pub neck: Vec<JointId>,
    /// The head.
    pub head: Option<JointId>,
    /// The tail.
    pub tail: Vec<JointId>,
}

/// The lowest common ancestor of `ids`.
pub fn common_ancestor(skeleton: &Skeleton, names: &JointNames, ids: &[JointId]) -> Option<JointId> {
    let (first, rest) = ids.split_first()?;
    skeleton.path_to_root(*first).find(|&a| rest.iter().all(|&id| names.is_below(id, a)))
}

/// The joint with the highest weight for `part`; of equal ones the first in joint order, which is nearest to the
/// root.
fn named(skeleton: &Skeleton, names: &JointNames, part: NamedPart) -> Option<JointId> {
    let mut best: Option<(JointId, f64)> = None;
    for id in skeleton.ids() {
        let weight = names.trunk_weight(id, part);
        if weight > best.map_or(0.0, |b| b.1) {
            best = Some((id, weight));
        }
    }
    best.map(|b| b.0)
}

/// Weight of a word from which a joint beside the trunk is hips by its name: `pelvis`, but not `lower body`. A junction of
/// legs and trunk with more keeps the role.
const CLEAR_HIPS: f64 = 0.75;
/// Joints of a chain at one place are nearer to each other than this, in lengths of the trunk: half a millimetre of a person.
const ONE_PLACE: f64 = 1e-3;

/// Detects the trunk between `thighs` and `shoulders`. `rest` is the reference pose in model space, Y up; `clip` plays on
/// the skeleton.
pub fn find(
    skeleton: &Skeleton,
    names: &JointNames,
    rest: &ModelPose,
    (thighs, shoulders): (&[JointId], &[JointId]),
    clip: Option<&Clip>,
) -> TrunkChains {
    let root_is_added = skeleton.joints()[0].file_name.is_none();
    let real = |id: JointId| !(root_is_added && id.index() == 0);
    let mut trunk = TrunkChains { head: named(skeleton, names, NamedPart::Head), ..TrunkChains::default() };
    let top = trunk.head.or_else(|| shoulders.first().copied());

    // The hips are the lowest common ancestor of legs and trunk. A rig in separate pieces has none: its root is also
    // the parent of the arms. There the names and the distance to the thighs decide.
    let mut ends: Vec<JointId> = thighs.to_vec();
    ends.extend(top);
    let chest = common_ancestor(skeleton, names, shoulders).filter(|&id| shoulders.len() == 2 && real(id));
    let in_pieces = |id: JointId| {
        Some(id) == chest
            && skeleton.parent(id).is_none()
            && nearest_spine(skeleton, names, rest, thighs).is_some()
    };
    let by_name = named(skeleton, names, NamedPart::Hips).filter(|&id| real(id));
    let junction = common_ancestor(skeleton, names, &ends).filter(|&id| {
        real(id) && !thighs.contains(&id) && !in_pieces(id) && !lists(skeleton, id, by_name, thighs)
    });
    trunk.hips = match (junction.filter(|_| thighs.len() == 2), by_name) {
        (Some(c), Some(n)) if c == n => Some((c, 1.0, "its name, and legs and trunk branch from it")),
        // In Biped and Valve rigs the thighs are below the spine, and the spine below the pelvis.
        (Some(c), Some(n)) if names.is_below(c, n) && is_spine(names, c) => {
            Some((n, 0.9, "its name, and the spine where legs and trunk branch is its child"))
        }
        // In many games pelvis and spine are children of a centre of mass.
        (Some(c), Some(n)) if carries_only_legs(names, n, thighs, top) && names.is_below(n, c) => {
            let [junction, own] = [c, n].map(|id| names.weight(id, NamedPart::Hips));
            let clear = own >= CLEAR_HIPS && own > junction && junction <= CLEAR_HIPS;
            // A pelvis that keeps still on a moving junction only holds the legs.
            let clear = clear && !clip.is_some_and(|clip| is_still(clip, n, c));
            let why = "its name, and the legs branch from it; the trunk is beside it";
            Some(if clear { (n, 0.9, why) } else { (c, 0.9, "legs and trunk branch from it") })
        }
        (Some(c), _) => Some((c, 0.9, "legs and trunk branch from it")),
        (None, Some(n)) => Some((n, 0.8, "its name")),
        (None, None) => nearest_spine(skeleton, names, rest, thighs)
            .map(|id| (id, 0.7, "the trunk joint nearest to the thighs")),
    };
    let Some((hips, ..)) = trunk.hips else { return trunk };

    let base = junction
        .filter(|&c| names.is_below(hips, c) && trunk.hips.is_some_and(|h| h.1 >= 0.9))
        .unwrap_or(hips);
    let mut line = trunk_line(skeleton, names, base, trunk.head, chest);
    if base != hips {
        line.drain(..connectors(names, &line).unwrap_or(0));
    } else if let Some(meet) = top.and_then(|top| common_ancestor(skeleton, names, &[hips, top]))
        && line.is_empty()
        && meet != hips
    {
        // Pelvis and trunk are both roots of the file.
        line = trunk_line(skeleton, names, meet, trunk.head, chest);
        line.drain(..connectors(names, &line).unwrap_or(line.len()));
    }
    if line.iter().all(|id| Some(*id) == trunk.head) && skeleton.children(hips).is_empty() {
        line = listed_trunk(skeleton, names, rest, hips, top);
        line.extend(trunk.head);
    }
    let line = &line[..];
    if trunk.head.is_none() {
        trunk.head = unnamed_head(names, rest, hips, line, shoulders).or_else(|| face(skeleton, names, line));
    }
    let line: Vec<JointId> =
        line.iter().copied().filter(|&id| Some(id) != trunk.head && !names.is_group(id)).collect();
    let split = neck_start(names, rest, &line, (hips, chest), shoulders);
    let reach = line.iter().map(|&id| (rest.position(id) - rest.position(hips)).norm()).fold(0.0, f64::max);
    let distinct = |chain: &[JointId]| one_for_each_place(chain, rest, ONE_PLACE * reach, clip);
    trunk.neck = distinct(&line[split..]);
    trunk.spine = distinct(&line[..split]);
    trunk.tail = tail(skeleton, names, hips);
    trunk
}

/// Whether a joint is the root of a list without a tree: the parent of the hips, which have no children, and of the thighs.
fn lists(skeleton: &Skeleton, id: JointId, hips: Option<JointId>, thighs: &[JointId]) -> bool {
    let hangs = |joint: &JointId| skeleton.parent(*joint) == Some(id);
    hips.is_some_and(|n| hangs(&n) && skeleton.children(n).is_empty()) && thighs.iter().all(hangs)
}

/// The joints named spine or neck beside the hips in a list of joints, in the order of their positions towards `top`.
fn listed_trunk(
    skeleton: &Skeleton,
    names: &JointNames,
    rest: &ModelPose,
    hips: JointId,
    top: Option<JointId>,
) -> Vec<JointId> {
    let (Some(top), Some(parent)) = (top, skeleton.parent(hips)) else { return Vec::new() };
    let from = rest.position(hips);
    let along = |id: &JointId| (rest.position(*id) - from).dot(&(rest.position(top) - from));
    let is_trunk = |id: &JointId| *id != hips && (is_spine(names, *id) || is_neck(names, *id));
    let mut line: Vec<JointId> = skeleton.children(parent).iter().copied().filter(is_trunk).collect();
    line.sort_by(|a, b| along(a).total_cmp(&along(b)));
    line
}

/// The number of joints of the trunk's line that are the spine: those up to the chest, from which the arms branch.
fn neck_start(
    names: &JointNames,
    rest: &ModelPose,
    line: &[JointId],
    (hips, chest): (JointId, Option<JointId>),
    shoulders: &[JointId],
) -> usize {
    // In Biped rigs the collar bones are below the neck.
    let neck = line.iter().position(|&id| is_neck(names, id));
    match chest.and_then(|c| line.iter().position(|&id| id == c)) {
        Some(at) => neck.unwrap_or(at + 1).min(at + 1),
        None => {
            let beyond = line.iter().position(|&id| beyond_shoulders(rest, hips, shoulders, id));
            neck.unwrap_or(line.len()).min(beyond.unwrap_or(line.len()))
        }
    }
}

/// A chain with one joint for each place, joints nearer than `near` being at one: of two there of which one keeps still in the
/// clip, the other; the first of two that both keep still.
fn one_for_each_place(chain: &[JointId], rest: &ModelPose, near: f64, clip: Option<&Clip>) -> Vec<JointId> {
    let at_one_place = |a: JointId, b: JointId| (rest.position(a) - rest.position(b)).norm() <= near;
    let moves = |id: JointId| clip.is_some_and(|clip| rotates(clip, id));
    let mut kept: Vec<JointId> = Vec::new();
    for &id in chain {
        match kept.last_mut().filter(|before| at_one_place(**before, id)) {
            Some(before) if moves(id) && !moves(*before) => *before = id,
            Some(before) if moves(id) && moves(*before) => kept.push(id),
            Some(_) => {}
            None => kept.push(id),
        }
    }
    kept
}

/// The trunk of a body without limbs, such as a snake or a fish: the chains from where head and tail meet, else from the first joint
/// named spine. Empty without a joint named head and two more joints.
pub fn without_limbs(skeleton: &Skeleton, names: &JointNames) -> TrunkChains {
    let is_tail = |id: &JointId| names.trunk_weight(*id, NamedPart::Tail) > 0.0;
    let is_trunk = |id: &JointId| is_spine(names, *id) || is_neck(names, *id);
    let head = named(skeleton, names, NamedPart::Head);
    let above = |head| skeleton.path_to_root(head).filter(is_trunk).last();
    let behind = |id: &JointId| is_trunk(id) && head.is_some_and(|head| names.is_below(*id, head));
    let tip = skeleton.ids().rev().find(is_tail).or_else(|| skeleton.ids().rev().find(behind));
    let start = head.and_then(|head| match tip {
        Some(tip) => common_ancestor(skeleton, names, &[head, tip]),
        None => above(head),
    });
    let (Some(head), Some(start)) = (head, start) else { return TrunkChains::default() };
    let outwards = |end: JointId| {
        let mut path: Vec<JointId> = skeleton.path_to_root(end).take_while(|&id| id != start).collect();
        path.reverse();
        path
    };
    let mut spine: Vec<JointId> = (start != head && is_trunk(&start)).then_some(start).into_iter().collect();
    spine.extend(outwards(head).into_iter().filter(|&id| id != head));
    let neck = spine.split_off(spine.iter().position(|&id| is_neck(names, id)).unwrap_or(spine.len()));
    let mut tail = tip.map_or_else(Vec::new, outwards);
    if spine.is_empty() {
        // The trunk lies behind the head.
        spine.extend(tail.drain(..tail.iter().position(is_tail).unwrap_or(tail.len())));
    }
    if spine.len() + neck.len() + tail.len() < 2 {
        return TrunkChains::default();
    }
    TrunkChains { hips: None, spine, neck, head: Some(head), tail }
}

/// The first joints of a trunk beside the pelvis that only connect it to the root (`Spine_Root`): their names do not clearly
/// denote a spine, as those of later joints do. `None` if no name does.
fn connectors(names: &JointNames, line: &[JointId]) -> Option<usize> {
    line.iter().position(|&id| is_spine(names, id))
}

/// Whether both legs hang on a joint and the rest of the body does not.
fn carries_only_legs(names: &JointNames, id: JointId, thighs: &[JointId], top: Option<JointId>) -> bool {
    thighs.len() == 2
        && thighs.iter().all(|&thigh| thigh != id && names.is_below(thigh, id))
        && top.is_some_and(|top| !names.is_below(top, id))
}

/// The chain of joints above the hips (excluded) to the head, or to the end of the trunk.
fn trunk_line(
    skeleton: &Skeleton,
    names: &JointNames,
    hips: JointId,
    head: Option<JointId>,
    chest: Option<JointId>,
) -> Vec<JointId> {
    let above_hips = |id: &JointId| names.is_below(*id, hips);
    let end = head.filter(above_hips).unwrap_or_else(|| {
        // No head by name: spine and neck names lead upwards from the chest, or from the hips.
        let start = chest.filter(above_hips).unwrap_or(hips);
        let is_trunk = |id: &&JointId| is_spine(names, **id) || is_neck(names, **id);
        let next = |id: &JointId| skeleton.children(*id).iter().find(is_trunk).copied();
        let up: Vec<JointId> = std::iter::successors(next(&start), next).collect();
        // A single further trunk joint above the arms is neither neck nor head.
        let leads = |&end: &JointId| start == hips || up.len() > 1 || is_neck(names, end);
        up.last().copied().filter(leads).unwrap_or(start)
    });
    let mut line: Vec<JointId> = skeleton.path_to_root(end).take_while(|&id| id != hips).collect();
    line.reverse();
    if line.first() == Some(&hips) {
        line.remove(0);
    }
    line
}

/// The joint named as spine that is nearest to the midpoint of the thighs.
fn nearest_spine(
    skeleton: &Skeleton,
    names: &JointNames,
    rest: &ModelPose,
    thighs: &[JointId],
) -> Option<JointId> {
    let [a, b] = thighs else { return None };
    let middle = (rest.position(*a) + rest.position(*b)) * 0.5;
    let spine = skeleton.ids().filter(|&id| is_spine(names, id));
    spine.min_by(|&x, &y| {
        let distance = |id| (rest.position(id) - middle).norm();
        distance(x).total_cmp(&distance(y))
    })
}

fn is_neck(names: &JointNames, id: JointId) -> bool {
    names.trunk_weight(id, NamedPart::Neck) > 0.0
}

fn is_spine(names: &JointNames, id: JointId) -> bool {
    names.trunk_weight(id, NamedPart::Spine) > 0.0
}

/// Whether a joint is beyond the shoulders as seen from the hips, along the trunk (upright or not).
fn beyond_shoulders(rest: &ModelPose, hips: JointId, shoulders: &[JointId], id: JointId) -> bool {
    let [a, b] = shoulders else { return false };
    let middle = (rest.position(*a) + rest.position(*b)) * 0.5;
    (rest.position(id) - middle).dot(&(middle - rest.position(hips))) > 0.0
}

/// The last joint of a trunk that ends beyond the shoulders without a joint named head: Rigify's `spine.006`.
fn unnamed_head(
    names: &JointNames,
    rest: &ModelPose,
    hips: JointId,
    line: &[JointId],
    shoulders: &[JointId],
) -> Option<JointId> {
    let last = line.last().copied().filter(|&id| line.len() > 1 && !is_neck(names, id))?;
    beyond_shoulders(rest, hips, shoulders, last).then_some(last)
}

/// A joint on the last one of the trunk that has a word for a head which mostly denotes something else: `face`.
fn face(skeleton: &Skeleton, names: &JointNames, line: &[JointId]) -> Option<JointId> {
    let children = skeleton.children(*line.last()?);
    children.iter().copied().find(|&id| names.weight(id, NamedPart::Head) > 0.0)
}

/// The chain of joints named tail, from the body outwards.
fn tail(skeleton: &Skeleton, names: &JointNames, hips: JointId) -> Vec<JointId> {
    let is_tail = |id: &JointId| names.trunk_weight(*id, NamedPart::Tail) > 0.0;
    let Some(mut at) = skeleton.ids().find(|id| is_tail(id) && *id != hips) else { return Vec::new() };
    let mut chain = vec![at];
    while let Some(&next) = skeleton.children(at).iter().find(|id| is_tail(id)) {
        chain.push(next);
        at = next;
    }
    chain
}
