//! Finds a joint map by roles and names.

use super::joint_map::{JointMap, JointPair};
use super::map_error::{MapError, WantedRole};
use super::map_gaps::{Gap, MapEnd, gaps, required};
use super::morph_weights::listed_targets;
use crate::anatomy::{JointLabel, Posture, on_four_legs, posture};
use crate::model::{Character, JointId, ModelPose, Rig, Role, Skeleton};
use crate::report::one_line;

/// A joint map that may be incomplete.
#[derive(Clone, Debug, PartialEq)]
pub struct MapDraft {
    /// The pairs that were found.
    pub map: JointMap,
    /// What the map leaves out.
    pub gaps: Vec<Gap>,
    /// Why the map cannot be used, if it cannot.
    pub refused: Option<MapError>,
}

/// Finds the map from `source` to `target`.
///
/// # Errors
/// A [`MapError`] with every missing or unsure role and the lines to add, or with what the two do not have in common.
pub fn map(source: &Character, target: &Character) -> Result<JointMap, MapError> {
    let (found, refused) = find(source, target);
    refused.map_or(Ok(found), Err)
}

/// Finds the map from `source` to `target` as far as possible, with everything that it leaves out.
pub fn draft(source: &Character, target: &Character) -> MapDraft {
    let (map, refused) = find(source, target);
    let mut all = match refused {
        Some(MapError::BodyPlan { .. }) => Vec::new(),
        _ => gaps(&map, (source, &source.rig), (target, &target.rig)),
    };
    if matches!(refused, Some(MapError::Missing(_) | MapError::NothingShared { .. })) {
        let known = std::mem::take(&mut all);
        all = required(source, target);
        let new = |g: &Gap| !all.iter().any(|a| (a.role, a.end) == (g.role, g.end));
        // A file with a single pair would drive nothing else, so pairs are not suggested yet.
        let unpaired = |g: Gap| Gap { fix: g.fix.filter(|m| !m.starts_with("[[")), ..g };
        let others: Vec<Gap> = known.into_iter().filter(new).map(unpaired).collect();
        all.extend(others);
    }
    MapDraft { map, gaps: all, refused }
}

/// The pairs that can be found, and the reason if they do not suffice.
fn find(source: &Character, target: &Character) -> (JointMap, Option<MapError>) {
    let (s, t) = (&source.rig, &target.rig);
    let bodies = [s, t].map(|rig| rig.joint(Role::Hips).is_some());
    let reference_poses = [source.reference_pose(), target.reference_pose()];
    if bodies == [false, false] {
        let mut pairs = by_role(s, t);
        for role in [Role::Spine as fn(u8) -> Role, Role::Neck, Role::Tail] {
            chain(s, t, &reference_poses, role, Role::Hips, None, &mut pairs);
        }
        let named = by_name(s, t, &pairs);
        pairs.extend(named);
        let shared = pairs.len();
        let refused = (shared * 2 < t.skeleton().len()).then(|| MapError::NothingShared {
            source_name: one_line(&source.name),
            target_name: one_line(&target.name),
            shared,
            joints: t.skeleton().len(),
        });
        return (JointMap::of(pairs, s, t), refused);
    }
    let unrigged = || {
        let skeletons =
            || no_skeleton(MapEnd::Source, source).or_else(|| no_skeleton(MapEnd::Target, target));
        only_face(source, target).or_else(skeletons)
    };
    let refused = match required(source, target) {
        missing if !missing.is_empty() && unrigged().is_some() => unrigged(),
        missing if !missing.is_empty() => {
            Some(MapError::Missing(missing.iter().map(|gap| wanted(gap, source, target)).collect()))
        }
        _ => match (on_four_legs(s, &reference_poses[0]), on_four_legs(t, &reference_poses[1])) {
            (true, false) => Some(body_plan(source, target)),
            (false, true) => Some(body_plan(target, source)),
            _ => None,
        },
    };
    let mut pairs = by_role(s, t);
    chain(s, t, &reference_poses, Role::Spine, Role::Hips, None, &mut pairs);
    let chests = [s, t].map(|rig| rig.chain(Role::Spine).last().copied().or(rig.joint(Role::Hips)));
    if let [Some(_), Some(_)] = chests {
        chain(s, t, &reference_poses, Role::Neck, Role::Hips, Some(Role::Head), &mut pairs);
    }
    let named = by_name(s, t, &pairs);
    pairs.extend(named);
    (JointMap::of(pairs, s, t), refused)
}

/// The warning for two bodies on two legs of which one stands upright and the other with a level trunk, as birds and many dinosaurs:
/// both can be compared only in their rest poses.
pub fn postures_differ(source: (&Character, &Rig), target: (&Character, &Rig)) -> Option<String> {
    let of = |(character, rig): (&Character, &Rig)| posture(rig, &character.reference_pose());
    let (level, upright) = match (of(source), of(target)) {
        (Posture::LevelTrunk, Posture::Upright) => (source.0, target.0),
        (Posture::Upright, Posture::LevelTrunk) => (target.0, source.0),
        _ => return None,
    };
    Some(format!(
        "`{}` stands with a level trunk and `{}` upright: each keeps its own posture, and bends as far as the take bends from its",
        one_line(&level.name),
        one_line(&upright.name)
    ))
}

/// Joints from the root to the end of a leg of the simplest body: hips, thigh, shin and foot. Parts of a scene that hang on each
/// other less deeply are objects, not joints.
const LEG_JOINTS: usize = 4;

/// The joints of the longest chain, the root included.
fn deepest_chain(skeleton: &Skeleton) -> usize {
    let mut depths: Vec<usize> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        depths.push(joint.parent.map_or(1, |p| depths[p.index()] + 1));
    }
    depths.into_iter().max().unwrap_or(0)
}

/// The error for a take of a face: morph targets, and no part of a body.
fn only_face(source: &Character, target: &Character) -> Option<MapError> {
    let face = source.meshes.iter().any(|mesh| !mesh.morphs.is_empty());
    let alone = face
        && source.meshes.iter().all(|mesh| mesh.bindings.len() <= 1)
        && source.rig.assignments().next().is_none();
    alone.then(|| MapError::OnlyFace {
        take: one_line(&source.name),
        of_take: listed_targets(source),
        target: one_line(&target.name),
        of_target: listed_targets(target),
    })
}

/// The error for a file of meshes that are bound to no skeleton.
fn no_skeleton(end: MapEnd, character: &Character) -> Option<MapError> {
    let nodes = character.skeleton().joints().iter().filter(|j| j.file_name.is_some()).count();
    let bare = character.document.is_some()
        && character.meshes.iter().all(|mesh| mesh.bindings.len() <= 1)
        && deepest_chain(character.skeleton()) < LEG_JOINTS
        && character.rig.assignments().next().is_none();
    bare.then(|| MapError::NoSkeleton { end, name: one_line(&character.name), nodes })
}

fn wanted(gap: &Gap, source: &Character, target: &Character) -> WantedRole {
    let character = if gap.end == MapEnd::Source { source } else { target };
    let guess = gap.guess.as_ref().map_or_else(String::new, |a| {
        let joint = &character.skeleton().joint(a.joint).name;
        format!(
            "; the nearest to `{}` is `{joint}` with confidence {:.2}: {}",
            gap.role, a.confidence, a.reason
        )
    });
    let line = gap.fix.clone().unwrap_or_else(|| format!("{}_roles.{}: no joint fits", gap.end, gap.role));
    WantedRole { end: gap.end, name: character.name.clone(), role: gap.role, guess, line }
}

fn body_plan(quadruped: &Character, biped: &Character) -> MapError {
    MapError::BodyPlan { quadruped: one_line(&quadruped.name), biped: one_line(&biped.name) }
}

/// Pairs of roles that both rigs have, without a chain of the trunk if its numbers of joints differ.
fn by_role(s: &Rig, t: &Rig) -> Vec<JointPair> {
    let same_length = |chain: fn(u8) -> Role| s.chain(chain).len() == t.chain(chain).len();
    let (spine, neck) = (same_length(Role::Spine), same_length(Role::Neck));
    // The tail of a body with hips is paired from the hips outwards; most of a snake may be its tail.
    let tail = s.joint(Role::Hips).is_some() || same_length(Role::Tail);
    let is_paired_by_role = |role: Role| match role {
        Role::Spine(_) => spine,
        Role::Neck(_) => neck,
        Role::Tail(_) => tail,
        _ => true,
    };
    t.assignments()
        .filter(|(role, _)| is_paired_by_role(*role))
        .filter_map(|(role, at)| {
            let from = s.assignment(role)?;
            let less = if from.confidence < at.confidence { from } else { at };
            Some(JointPair {
                role: Some(role),
                source: from.joint,
                blend: None,
                target: at.joint,
                confidence: less.confidence,
                reason: less.reason.clone(),
            })
        })
        .collect()
}

/// Pairs for a chain whose number of joints differs: each target joint blends the two source joints nearest by arc length
/// between the joint below and the joint above the chain.
fn chain(
    s: &Rig,
    t: &Rig,
    reference_poses: &[ModelPose; 2],
    role: fn(u8) -> Role,
    below: Role,
    above: Option<Role>,
    pairs: &mut Vec<JointPair>,
) {
    let links = t.chain(role);
    if links.is_empty() || s.chain(role).len() == links.len() {
        return;
    }
    // The chain with its neighbours: for the neck, the chest below and the head above.
    let ends = |rig: &Rig| -> Vec<JointId> {
        let foot = match above {
            Some(_) => rig.chain(Role::Spine).last().copied().or(rig.joint(below)),
            None => rig.joint(below),
        };
        let top = above.and_then(|r| rig.joint(r));
        foot.into_iter().chain(rig.chain(role)).chain(top).collect()
    };
    let (from, to) = (ends(s), ends(t));
    if from.is_empty() {
        return;
    }
    let (at_source, at_target) =
        (arc_length(&from, &reference_poses[0]), arc_length(&to, &reference_poses[1]));
    for (&joint, tau) in to.iter().zip(&at_target).filter(|(joint, _)| links.contains(joint)) {
        // Of several source joints at one position the last one has the rotations of all.
        let next = at_source.iter().position(|&x| x > tau + 1e-9).unwrap_or(from.len() - 1);
        let previous = at_source.iter().rposition(|&x| x <= tau + 1e-9).unwrap_or(0);
        let span = at_source[next] - at_source[previous];
        let share = if span > 1e-9 { ((tau - at_source[previous]) / span).clamp(0.0, 1.0) } else { 0.0 };
        let blend = (share > 1e-6).then_some((from[next], share));
        pairs.push(JointPair {
            role: t.role(joint),
            source: from[previous],
            blend,
            target: joint,
            confidence: 0.9,
            reason: format!("at {:.0} % of the length of the chain", tau * 100.0),
        });
    }
}

/// The arc-length parameter of each joint of a chain, from 0 for the first to 1 for the last.
fn arc_length(chain: &[JointId], reference_pose: &ModelPose) -> Vec<f64> {
    let mut at = 0.0;
    let mut lengths = vec![0.0];
    for pair in chain.windows(2) {
        at += (reference_pose.position(pair[1]) - reference_pose.position(pair[0])).norm();
        lengths.push(at);
    }
    let total = at.max(1e-12);
    lengths.iter().map(|l| l / total).collect()
}

/// Pairs of joints without a role whose names are equivalent and unique on each side.
fn by_name(s: &Rig, t: &Rig, taken: &[JointPair]) -> Vec<JointPair> {
    let free = |rig: &Rig, id: JointId, used: &dyn Fn(&JointPair) -> JointId| {
        rig.role(id).is_none()
            && rig.skeleton().joint(id).file_name.is_some()
            && !taken.iter().any(|p| used(p) == id)
    };
    let sources: Vec<JointId> = s.skeleton().ids().filter(|&id| free(s, id, &|p| p.source)).collect();
    let targets: Vec<JointId> = t.skeleton().ids().filter(|&id| free(t, id, &|p| p.target)).collect();
    let name = |rig: &Rig, id: JointId| rig.skeleton().joint(id).name.clone();
    let labels: Vec<(JointId, JointLabel)> =
        sources.iter().map(|&id| (id, JointLabel::of(&name(s, id)))).collect();
    let mut used = vec![false; s.skeleton().len()];
    let mut pairs = Vec::new();
    for &target in &targets {
        let wanted = name(t, target);
        let exact = s.skeleton().find(&wanted).filter(|id| sources.binary_search(id).is_ok());
        let label = JointLabel::of(&wanted);
        let mut same = labels.iter().filter(|(_, l)| l.is_same(&label)).map(|(id, _)| *id);
        let found = exact.or_else(|| same.next().filter(|_| same.next().is_none()));
        if let Some(source) = found.filter(|id| !used[id.index()]) {
            used[source.index()] = true;
            pairs.push(JointPair {
                role: None,
                source,
                blend: None,
                target,
                confidence: 0.7,
                reason: "equivalent names".into(),
            });
        }
    }
    pairs
}
