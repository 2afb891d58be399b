//! Joints of a file apart from the body: clothing with a skeleton of its own, accessories, controls, props, furniture.
//!
//! A joint that rests on a joint of the body (a jacket's, an engine's target for feet) follows that one. Others follow the nearest
//! joint of the body if their skin touches its skin, or skin that does, and stay where they rest if it does not. Space: model space. Units: metres.

use crate::anatomy::{RESTS_ON, length_of, second_bodies};
use crate::kinematics::{FramePoses, Towards};
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{Character, Clip, JointId, ModelPose, Motion, Rig, Skeleton};
use crate::parallel;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Distance of skins that touch, as a share of the body's length (5 cm of a person): shoes and straps stand off the skin, and
/// what stands beside a body does so by half a metre.
const TOUCHES: f64 = 0.03;

/// Frames whose transforms are in memory together.
const TOGETHER: usize = 4096;

/// A joint apart from the body.
#[derive(Clone, Debug, PartialEq)]
pub struct LooseJoint {
    pub joint: JointId,
    /// The joint that it follows, and its transform in the space of that joint; `None` if it stays where it rests.
    pub on: Option<(JointId, Transform)>,
}

/// The joints apart from the body of a character, parents first; what hangs below one of them moves with it. `is_body` tells the
/// body's joints, `moves` those that the map drives, which are excluded unless they rest on the body.
pub fn loose_joints(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    is_body: impl Fn(JointId) -> bool,
    moves: impl Fn(JointId) -> bool,
) -> Vec<LooseJoint> {
    let skeleton = rig.skeleton();
    let body: Vec<JointId> = skeleton.ids().filter(|id| is_body(*id)).collect();
    let on_body = skeleton.below(&body);
    let above_body = skeleton.above(&is_body);
    let apart = |id: JointId| !above_body[id.index()] && !on_body[id.index()];
    if !skeleton.ids().any(apart) {
        return Vec::new();
    }
    let others: Vec<JointId> = second_bodies(rig, reference_pose).iter().map(|other| other.top).collect();
    let place = Place {
        character,
        skeleton,
        poses: [character.bind.clone(), Some(skeleton.rest_model_pose()), Some(reference_pose.clone())],
        reference_pose,
        // Joints with a role first: helpers lie on them too.
        bodies: [&body, &skeleton.ids().filter(|id| on_body[id.index()]).collect::<Vec<_>>()],
        on_body: &on_body,
        of_other: skeleton.below(&others),
        length: length_of(&body, reference_pose),
    };
    let rests: Vec<Option<(JointId, Transform)>> =
        skeleton.ids().map(|id| if apart(id) { place.rests_on(id) } else { None }).collect();
    let leads = skeleton.above(|id| rests[id.index()].is_some());
    // What is above a joint that moves is no accessory.
    let above_moving = skeleton.above(|id| apart(id) && moves(id) && rests[id.index()].is_none());
    let mut found: Vec<LooseJoint> = Vec::new();
    let mut hangs = vec![false; skeleton.len()];
    let mut touching = None;
    for id in skeleton.ids().filter(|id| apart(*id) && !above_moving[id.index()]) {
        let under = skeleton.parent(id).is_some_and(|parent| hangs[parent.index()]);
        let on = match rests[id.index()] {
            Some(on) => Some(on),
            // A root of such joints keeps its place under its parent.
            None if leads[id.index()] => {
                let own = skeleton.parent(id).map(|parent| (parent, skeleton.joint(id).rest));
                found.push(LooseJoint { joint: id, on: own });
                hangs[id.index()] = under;
                continue;
            }
            None if under => {
                hangs[id.index()] = true;
                continue;
            }
            None => {
                let touching = touching.get_or_insert_with(|| place.touching());
                place.nearest(id).filter(|_| touching[id.index()])
            }
        };
        hangs[id.index()] = true;
        found.push(LooseJoint { joint: id, on });
    }
    found
}

/// The joints apart from the body whose joints are those with a role.
pub fn loose_on_roles(character: &Character) -> Vec<LooseJoint> {
    let rig = &character.rig;
    let mut with_role = vec![false; rig.skeleton().len()];
    rig.assignments().for_each(|(_, of)| with_role[of.joint.index()] = true);
    loose_joints(character, rig, &character.reference_pose(), |id| with_role[id.index()], |_| false)
}

/// What decides where a joint belongs.
struct Place<'a> {
    character: &'a Character,
    skeleton: &'a Skeleton,
    /// The poses in which a joint may rest on another: that in which the skin was attached, the rest pose, the reference pose.
    poses: [Option<ModelPose>; 3],
    reference_pose: &'a ModelPose,
    /// The joints of the body, and all of these and below.
    bodies: [&'a [JointId]; 2],
    /// For each joint, whether it is of the body or below one that is.
    on_body: &'a [bool],
    /// For each joint, whether it is of another body.
    of_other: Vec<bool>,
    /// The largest distance of two joints of the body.
    length: f64,
}

impl Place<'_> {
    /// The joint of the body that a joint rests on. Bodies that stand beside each other share a few places by chance.
    fn rests_on(&self, id: JointId) -> Option<(JointId, Transform)> {
        if self.of_other[id.index()] {
            return None;
        }
        self.bodies.iter().find_map(|joints| {
            self.poses.iter().flatten().find_map(|pose| {
                let distance = |j: &JointId| (pose.position(*j) - pose.position(id)).norm();
                let nearest = *joints.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
                let on = || (nearest, pose.joint(nearest).inverse() * *pose.joint(id));
                (distance(&nearest) <= RESTS_ON * self.length).then(on)
            })
        })
    }

    /// The nearest joint of the body, if it is no farther than the body is long.
    fn nearest(&self, id: JointId) -> Option<(JointId, Transform)> {
        let distance =
            |j: &JointId| (self.reference_pose.position(*j) - self.reference_pose.position(id)).norm();
        let nearest = *self.bodies[0].iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let on = (nearest, self.reference_pose.joint(nearest).inverse() * *self.reference_pose.joint(id));
        (distance(&nearest) <= self.length).then_some(on)
    }

    /// For each joint, whether the skin at or below it touches the body's, or skin that does (a nose on cheeks that lie on the head);
    /// without any skin it does, but not in a second body.
    fn touching(&self) -> Vec<bool> {
        let skeleton = self.skeleton;
        let pose = self.character.bind.as_ref().unwrap_or(self.reference_pose);
        let cell = TOUCHES * self.length;
        let cell_of = |at: &Vec3| <[f64; 3]>::from(at / cell).map(|x| x.floor() as i64);
        let around =
            |[x, y, z]: [i64; 3]| (0..27).map(move |k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        let mut of_body = HashSet::new();
        let mut apart = HashSet::new();
        for mesh in &self.character.meshes {
            for (joint, inside) in (0..mesh.positions.len()).filter_map(|v| mesh.in_heaviest_joint(v)) {
                let at = cell_of(&pose.joint(joint).point(&inside));
                match self.on_body[joint.index()] {
                    true => _ = of_body.insert(at),
                    false => _ = apart.insert((joint, at)),
                }
            }
        }
        let mut has_skin = vec![false; skeleton.len()];
        let mut touches = vec![false; skeleton.len()];
        let mut cells: Vec<Vec<[i64; 3]>> = vec![Vec::new(); skeleton.len()];
        let mut joints_in: HashMap<[i64; 3], Vec<JointId>> = HashMap::new();
        for (joint, at) in apart {
            has_skin[joint.index()] = true;
            cells[joint.index()].push(at);
            joints_in.entry(at).or_default().push(joint);
        }
        // From the body outwards: the skin that touches it, then what touches that.
        let mut reached: Vec<[i64; 3]> = of_body.iter().copied().collect();
        while let Some(at) = reached.pop() {
            for joint in around(at).filter_map(|near| joints_in.remove(&near)).flatten() {
                if !touches[joint.index()] && !self.of_other[joint.index()] {
                    touches[joint.index()] = true;
                    reached.append(&mut cells[joint.index()]);
                }
            }
        }
        let [has_skin, touches] = [has_skin, touches].map(|own| skeleton.above(|id| own[id.index()]));
        let touches = |k: usize| !self.of_other[k] && (touches[k] || !has_skin[k] || of_body.is_empty());
        (0..skeleton.len()).map(touches).collect()
    }
}

/// Moves loose joints with the joints that they follow. Their relative transform is that of `before` (the clip before the body
/// moved), or of the reference pose if `before` is `None`.
pub fn follow(mut motion: Motion, loose: &[LooseJoint], before: Option<&Clip>) -> Motion {
    if loose.is_empty() {
        return motion;
    }
    let skeleton = motion.character.skeleton().clone();
    let ends = loose.iter().flat_map(|l| std::iter::once(l.joint).chain(l.on.map(|(joint, _)| joint)));
    let towards = Towards::new(&skeleton, ends);
    let rest = motion.character.reference_pose();
    let at = |id: JointId| loose.iter().find(|l| l.joint == id);
    let order: Vec<JointId> = towards.joints().iter().copied().filter(|id| at(*id).is_some()).collect();
    let locals = |clip: &Clip, frames: Range<usize>| -> Vec<Vec<Transform>> {
        let start =
            || (FramePoses::new(&towards, clip), before.map(|before| FramePoses::new(&towards, before)));
        parallel::map_with(frames.len(), 1, start, |(after, before), k| {
            let before = before.as_mut().map(|poses| poses.at(frames.start + k));
            let after = after.at(frames.start + k);
            let mut new = after.clone();
            let mut found = Vec::with_capacity(loose.len());
            for &id in towards.joints() {
                let parent = skeleton.parent(id);
                let above = parent.map_or_else(Transform::identity, |parent| *new.joint(parent));
                let own = match (at(id).map(|l| l.on), before) {
                    (Some(Some((on, within))), None) => *new.joint(on) * within,
                    (Some(None), None) => *rest.joint(id),
                    (Some(Some((on, _))), Some(before)) => {
                        *new.joint(on) * before.joint(on).inverse() * *before.joint(id)
                    }
                    (Some(None), Some(before)) => *before.joint(id),
                    (None, _) => {
                        let under = parent.map_or_else(Transform::identity, |parent| *after.joint(parent));
                        above * (under.inverse() * *after.joint(id))
                    }
                };
                new.joints_mut()[id.index()] = own;
                if at(id).is_some() {
                    found.push(above.inverse() * own);
                }
            }
            found
        })
    };
    let (frames, mut translations) = (motion.clip.frames(), Vec::new());
    let translated = with_translations(&motion.clip, &order);
    for first in (0..frames).step_by(TOGETHER) {
        let part = first..frames.min(first + TOGETHER);
        let locals = locals(&motion.clip, part.clone());
        for (frame, locals) in part.zip(&locals) {
            write(&mut motion.clip, (&skeleton, frame), (&order, locals), (&translated, &mut translations));
        }
    }
    motion.clip.set_translations(translated, translations);
    motion
}

/// The joints that a clip translates, and these.
fn with_translations(clip: &Clip, joints: &[JointId]) -> Vec<JointId> {
    let mut translated: Vec<JointId> = clip.translated().iter().chain(joints).copied().collect();
    translated.sort();
    translated.dedup();
    translated
}

/// Writes local transforms of joints into a frame: rotations into the clip, and the translations of all that are `translated` to the
/// end of a list.
fn write(
    clip: &mut Clip,
    (skeleton, frame): (&Skeleton, usize),
    (joints, locals): (&[JointId], &[Transform]),
    (translated, translations): (&[JointId], &mut Vec<Vec3>),
) {
    translations.extend(translated.iter().map(|id| match joints.iter().position(|joint| joint == id) {
        Some(k) => locals[k].translation,
        None => clip.local(skeleton, frame, *id).translation,
    }));
    let before = clip.rotations(frame.saturating_sub(1));
    let signed = joints.iter().zip(locals);
    let rotations: Vec<Quat> =
        signed.map(|(id, local)| same_hemisphere(local.rotation, &before[id.index()])).collect();
    let row = clip.rotations_mut(frame);
    joints.iter().zip(rotations).for_each(|(id, rotation)| row[id.index()] = rotation);
}
