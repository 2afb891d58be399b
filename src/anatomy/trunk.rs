//! Hips, spine, neck, head and tail, given the limbs that hang from them.

use super::labels::Label;
use super::vocabulary::{Part, readings};
use crate::model::{JointId, ModelPose, Skeleton};

/// The joints of the trunk, each chain from the hips outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trunk {
    /// The joint that carries the whole body.
    pub hips: Option<(JointId, f64, &'static str)>,
    /// From the joint above the hips to the chest, where the arms hang.
    pub spine: Vec<JointId>,
    /// Above the chest, below the head.
    pub neck: Vec<JointId>,
    /// The head.
    pub head: Option<JointId>,
    /// The tail.
    pub tail: Vec<JointId>,
}

/// The last joint that all of `ids` have on their way to the root.
pub fn common_ancestor(skeleton: &Skeleton, ids: &[JointId]) -> Option<JointId> {
    let (first, rest) = ids.split_first()?;
    skeleton.path_to_root(*first).find(|&a| rest.iter().all(|&id| skeleton.is_ancestor(a, id)))
}

/// The best joint for `part` by its words: the heaviest reading, of equal ones the nearest to the root.
fn named(skeleton: &Skeleton, labels: &[Label], part: Part) -> Option<JointId> {
    let weight =
        |id: &JointId| readings(&labels[id.index()]).iter().find(|r| r.0 == part).map_or(0.0, |r| r.1);
    let mut best: Option<(JointId, f64)> = None;
    for id in skeleton.ids() {
        let w = weight(&id);
        if w > best.map_or(0.0, |b| b.1) {
            best = Some((id, w));
        }
    }
    best.map(|b| b.0)
}

/// The trunk between the legs and the arms. `rest` is the calibration pose in model space, Y up.
pub fn find(
    skeleton: &Skeleton,
    labels: &[Label],
    rest: &ModelPose,
    thighs: &[JointId],
    shoulders: &[JointId],
) -> Trunk {
    let root_is_added = skeleton.joints()[0].file_name.is_none();
    let real = |id: JointId| !(root_is_added && id.index() == 0);
    let mut trunk = Trunk { head: named(skeleton, labels, Part::Head), ..Trunk::default() };
    let top = trunk.head.or_else(|| shoulders.first().copied());

    // The hips carry legs and trunk: the last joint that both hang from. A rig in pieces has none, there the words
    // and the nearness to the thighs decide.
    let mut ends: Vec<JointId> = thighs.to_vec();
    ends.extend(top);
    let carrier = common_ancestor(skeleton, &ends).filter(|&id| real(id) && !thighs.contains(&id));
    let by_name = named(skeleton, labels, Part::Hips).filter(|&id| real(id));
    trunk.hips = match (carrier.filter(|_| thighs.len() == 2), by_name) {
        (Some(c), Some(n)) if c == n => Some((c, 1.0, "named so, and legs and trunk hang from it")),
        (Some(c), _) => Some((c, 0.9, "legs and trunk hang from it")),
        (None, Some(n)) => Some((n, 0.8, "named so")),
        (None, None) => nearest_spine(skeleton, labels, rest, thighs)
            .map(|id| (id, 0.7, "the trunk joint nearest to the thighs")),
    };
    let Some((hips, ..)) = trunk.hips else { return trunk };

    let chest = common_ancestor(skeleton, shoulders).filter(|&id| shoulders.len() == 2 && real(id));
    let line = trunk_line(skeleton, labels, hips, trunk.head, chest);
    if trunk.head.is_none() {
        trunk.head = unnamed_head(rest, hips, &line, shoulders);
    }
    let line: Vec<JointId> = line.into_iter().filter(|&id| Some(id) != trunk.head).collect();
    let split = match chest.and_then(|c| line.iter().position(|&id| id == c)) {
        Some(at) => at + 1,
        None => line
            .iter()
            .position(|&id| is_neck(labels, id) || beyond_shoulders(rest, hips, shoulders, id))
            .unwrap_or(line.len()),
    };
    trunk.neck = line[split..].to_vec();
    trunk.spine = line[..split].to_vec();
    trunk.tail = tail(skeleton, labels, hips);
    trunk
}

/// The chain of joints above the hips, hips excluded, up to the head, or as far up as the trunk goes.
fn trunk_line(
    skeleton: &Skeleton,
    labels: &[Label],
    hips: JointId,
    head: Option<JointId>,
    chest: Option<JointId>,
) -> Vec<JointId> {
    let end = head.or(chest).filter(|&id| skeleton.is_ancestor(hips, id));
    let end = end.unwrap_or_else(|| {
        // No head in this tree: follow the spine's own words upwards.
        let mut at = hips;
        let is_trunk = |id: &JointId| {
            readings(&labels[id.index()]).iter().any(|r| matches!(r.0, Part::Spine | Part::Neck))
        };
        while let Some(&next) = skeleton.children(at).iter().find(|id| is_trunk(id)) {
            at = next;
        }
        at
    });
    let mut line: Vec<JointId> = skeleton.path_to_root(end).take_while(|&id| id != hips).collect();
    line.reverse();
    if line.first() == Some(&hips) {
        line.remove(0);
    }
    line
}

/// Of the joints named like a spine, the one nearest to the middle of the thighs.
fn nearest_spine(
    skeleton: &Skeleton,
    labels: &[Label],
    rest: &ModelPose,
    thighs: &[JointId],
) -> Option<JointId> {
    let [a, b] = thighs else { return None };
    let middle = (rest.position(*a) + rest.position(*b)) * 0.5;
    let spine = skeleton.ids().filter(|id| readings(&labels[id.index()]).iter().any(|r| r.0 == Part::Spine));
    spine.min_by(|&x, &y| {
        let distance = |id| (rest.position(id) - middle).norm();
        distance(x).total_cmp(&distance(y))
    })
}

fn is_neck(labels: &[Label], id: JointId) -> bool {
    readings(&labels[id.index()]).iter().any(|r| r.0 == Part::Neck)
}

/// Whether a joint lies further from the hips than the shoulders do, along the trunk (upright or not).
fn beyond_shoulders(rest: &ModelPose, hips: JointId, shoulders: &[JointId], id: JointId) -> bool {
    let [a, b] = shoulders else { return false };
    let middle = (rest.position(*a) + rest.position(*b)) * 0.5;
    (rest.position(id) - middle).dot(&(middle - rest.position(hips))) > 0.0
}

/// The last joint of a trunk that ends beyond the shoulders without a joint called head.
fn unnamed_head(rest: &ModelPose, hips: JointId, line: &[JointId], shoulders: &[JointId]) -> Option<JointId> {
    line.last().copied().filter(|&id| line.len() > 1 && beyond_shoulders(rest, hips, shoulders, id))
}

/// The chain of joints called tail, from the body outwards.
fn tail(skeleton: &Skeleton, labels: &[Label], hips: JointId) -> Vec<JointId> {
    let is_tail = |id: &JointId| readings(&labels[id.index()]).iter().any(|r| r.0 == Part::Tail);
    let Some(mut at) = skeleton.ids().find(|id| is_tail(id) && *id != hips) else { return Vec::new() };
    let mut chain = vec![at];
    while let Some(&next) = skeleton.children(at).iter().find(|id| is_tail(id)) {
        chain.push(next);
        at = next;
    }
    chain
}
