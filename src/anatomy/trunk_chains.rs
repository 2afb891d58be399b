//! Hips, spine, neck, head and tail, given the limbs that hang from them.

use super::joint_names::JointNames;
use super::vocabulary::NamedPart;
use crate::model::{JointId, ModelPose, Skeleton};

/// The joints of the trunk, each chain from the hips outwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrunkChains {
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
pub fn common_ancestor(skeleton: &Skeleton, names: &JointNames, ids: &[JointId]) -> Option<JointId> {
    let (first, rest) = ids.split_first()?;
    skeleton.path_to_root(*first).find(|&a| rest.iter().all(|&id| names.is_below(id, a)))
}

/// The best joint for `part` by its words: the heaviest reading, of equal ones the nearest to the root.
fn named(skeleton: &Skeleton, names: &JointNames, part: NamedPart) -> Option<JointId> {
    let mut best: Option<(JointId, f64)> = None;
    for id in skeleton.ids() {
        let weight = names.weight(id, part);
        if weight > best.map_or(0.0, |b| b.1) {
            best = Some((id, weight));
        }
    }
    best.map(|b| b.0)
}

/// The trunk between the legs and the arms. `rest` is the calibration pose in model space, Y up.
pub fn find(
    skeleton: &Skeleton,
    names: &JointNames,
    rest: &ModelPose,
    thighs: &[JointId],
    shoulders: &[JointId],
) -> TrunkChains {
    let root_is_added = skeleton.joints()[0].file_name.is_none();
    let real = |id: JointId| !(root_is_added && id.index() == 0);
    let mut trunk = TrunkChains { head: named(skeleton, names, NamedPart::Head), ..TrunkChains::default() };
    let top = trunk.head.or_else(|| shoulders.first().copied());

    // The hips carry legs and trunk: the last joint that both hang from. A rig in pieces has none, there the words
    // and the nearness to the thighs decide; its root carries the arms at once as well.
    let mut ends: Vec<JointId> = thighs.to_vec();
    ends.extend(top);
    let chest = common_ancestor(skeleton, names, shoulders).filter(|&id| shoulders.len() == 2 && real(id));
    let in_pieces = |id: JointId| {
        Some(id) == chest
            && skeleton.parent(id).is_none()
            && nearest_spine(skeleton, names, rest, thighs).is_some()
    };
    let parent_role = common_ancestor(skeleton, names, &ends)
        .filter(|&id| real(id) && !thighs.contains(&id) && !in_pieces(id));
    let by_name = named(skeleton, names, NamedPart::Hips).filter(|&id| real(id));
    trunk.hips = match (parent_role.filter(|_| thighs.len() == 2), by_name) {
        (Some(c), Some(n)) if c == n => Some((c, 1.0, "named so, and legs and trunk hang from it")),
        // Biped and Valve hang the thighs under the spine, and the spine under the pelvis.
        (Some(c), Some(n)) if names.is_below(c, n) && is_spine(names, c) => {
            Some((n, 0.9, "named so, and the spine that legs and trunk hang from hangs from it"))
        }
        (Some(c), _) => Some((c, 0.9, "legs and trunk hang from it")),
        (None, Some(n)) => Some((n, 0.8, "named so")),
        (None, None) => nearest_spine(skeleton, names, rest, thighs)
            .map(|id| (id, 0.7, "the trunk joint nearest to the thighs")),
    };
    let Some((hips, ..)) = trunk.hips else { return trunk };

    let line = trunk_line(skeleton, names, hips, trunk.head, chest);
    if trunk.head.is_none() {
        trunk.head = unnamed_head(names, rest, hips, &line, shoulders);
    }
    let line: Vec<JointId> = line.into_iter().filter(|&id| Some(id) != trunk.head).collect();
    // Biped hangs the collar bones under the neck.
    let neck = line.iter().position(|&id| is_neck(names, id));
    let split = match chest.and_then(|c| line.iter().position(|&id| id == c)) {
        Some(at) => neck.unwrap_or(at + 1).min(at + 1),
        None => {
            let beyond = line.iter().position(|&id| beyond_shoulders(rest, hips, shoulders, id));
            neck.unwrap_or(line.len()).min(beyond.unwrap_or(line.len()))
        }
    };
    trunk.neck = line[split..].to_vec();
    trunk.spine = line[..split].to_vec();
    trunk.tail = tail(skeleton, names, hips);
    trunk
}

/// The chain of joints above the hips, hips excluded, up to the head, or as far up as the trunk goes.
fn trunk_line(
    skeleton: &Skeleton,
    names: &JointNames,
    hips: JointId,
    head: Option<JointId>,
    chest: Option<JointId>,
) -> Vec<JointId> {
    let above_hips = |id: &JointId| names.is_below(*id, hips);
    let end = head.filter(above_hips).unwrap_or_else(|| {
        // No head by name: from the chest on, or from the hips, the spine's and the neck's own words lead upwards.
        let start = chest.filter(above_hips).unwrap_or(hips);
        let is_trunk = |id: &&JointId| is_spine(names, **id) || is_neck(names, **id);
        let next = |id: &JointId| skeleton.children(*id).iter().find(is_trunk).copied();
        let up: Vec<JointId> = std::iter::successors(next(&start), next).collect();
        // One more joint of the trunk above the arms is neither neck nor head.
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

/// Of the joints named like a spine, the one nearest to the middle of the thighs.
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
    names.weight(id, NamedPart::Neck) > 0.0
}

fn is_spine(names: &JointNames, id: JointId) -> bool {
    names.weight(id, NamedPart::Spine) > 0.0
}

/// Whether a joint lies further from the hips than the shoulders do, along the trunk (upright or not).
fn beyond_shoulders(rest: &ModelPose, hips: JointId, shoulders: &[JointId], id: JointId) -> bool {
    let [a, b] = shoulders else { return false };
    let middle = (rest.position(*a) + rest.position(*b)) * 0.5;
    (rest.position(id) - middle).dot(&(middle - rest.position(hips))) > 0.0
}

/// The last joint of a trunk that ends beyond the shoulders without a joint called head: Rigify's `spine.006`.
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

/// The chain of joints called tail, from the body outwards.
fn tail(skeleton: &Skeleton, names: &JointNames, hips: JointId) -> Vec<JointId> {
    let is_tail = |id: &JointId| names.weight(*id, NamedPart::Tail) > 0.0;
    let Some(mut at) = skeleton.ids().find(|id| is_tail(id) && *id != hips) else { return Vec::new() };
    let mut chain = vec![at];
    while let Some(&next) = skeleton.children(at).iter().find(|id| is_tail(id)) {
        chain.push(next);
        at = next;
    }
    chain
}
