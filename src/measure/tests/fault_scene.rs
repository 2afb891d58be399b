//! A take, its direct transfer, and faults that are made on purpose.

use posemill::import::{self, ImportOptions};
use posemill::math::{DEGREE, Quat, Vec3, exp};
use posemill::measure::{MetricContext, Reading, assess_against};
use posemill::model::{Character, Clip, ContactPart, Contacts, JointId, ModelPose, Motion, Pose, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::collections::BTreeSet;
use std::sync::Arc;

pub fn asset(name: &str) -> posemill::model::Asset {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    import::load(&path, &ImportOptions::default()).unwrap()
}

/// A take, its direct transfer, and what both are measured by.
pub struct Scene {
    pub of_take: MetricContext,
    pub take: Motion,
    pub context: MetricContext,
    pub direct: Motion,
    pub labels: Option<Contacts>,
}

impl Scene {
    /// Every fourth frame of the walk of `data/`, 30 a second, four times there and back, on the mannequin: in a long clip one
    /// frame is no jerk.
    pub fn walk() -> Self {
        let whole = asset("walk.bvh").motion(0).unwrap();
        let skeleton = whole.character.skeleton();
        let pose = |frame: usize| {
            let mut pose = skeleton.rest_pose();
            whole.clip.read_pose(frame, &mut pose);
            pose
        };
        let there: Vec<usize> = (0..whole.clip.frames()).step_by(4).collect();
        let back = there.iter().rev().skip(1).take(there.len() - 2);
        let both: Vec<usize> = there.iter().chain(back).copied().collect();
        let poses: Vec<Pose> = both.iter().cycle().take(4 * both.len()).map(|f| pose(*f)).collect();
        let clip = Clip::from_poses("walk", whole.clip.sample_rate / 4.0, skeleton, &poses);
        let mut take = Motion::new(Arc::clone(&whole.character), clip);
        take.contacts = Some(posemill::contacts::detect(&take, &Default::default()));
        let hero = asset("mannequin.glb").character;
        let joints = map(&take.character, &hero).unwrap();
        let rigs = (&take.character.rig, &hero.rig);
        let transfer = Retarget::new(&take.character, Arc::clone(&hero), &joints, rigs, RootScale::Legs);
        let direct = transfer.direct_transfer(&take);
        let labels = take.contacts.as_ref().map(|c| transfer.labels(c));
        let [of_take, context] = [&take, &direct].map(|m| MetricContext::new(&m.character));
        Self { of_take, take, context, direct, labels }
    }

    /// A motion of the mannequin, whose take and direct transfer it is itself.
    pub fn own(motion: Motion) -> Self {
        let [of_take, context] = [0, 1].map(|_| MetricContext::new(&motion.character));
        let labels = motion.contacts.clone();
        Self { of_take, take: motion.clone(), context, direct: motion, labels }
    }

    /// The measures over their limits.
    pub fn over(&self, motion: &Motion, direct: &Motion) -> BTreeSet<String> {
        let take = (&self.of_take, &self.take);
        let made = assess_against(&self.context, motion, self.labels.as_ref(), take, direct);
        made.metrics.iter().filter(|m| Reading::from(*m).over()).map(|m| m.name.clone()).collect()
    }

    /// What a fault of the result adds.
    pub fn added(&self, motion: &Motion) -> Vec<String> {
        let before = self.over(&self.direct, &self.direct);
        self.over(motion, &self.direct).difference(&before).cloned().collect()
    }

    /// What a fault adds that the direct transfer has as well, which excuses nothing.
    pub fn added_to_both(&self, motion: &Motion) -> Vec<String> {
        let before = self.over(&self.direct, &self.direct);
        self.over(motion, motion).difference(&before).cloned().collect()
    }
}

/// The motion with every pose changed.
pub fn changed(motion: &Motion, change: impl Fn(usize, &mut Pose)) -> Motion {
    let skeleton = motion.character.skeleton();
    let poses: Vec<Pose> = (0..motion.clip.frames())
        .map(|frame| {
            let mut pose = skeleton.rest_pose();
            motion.clip.read_pose(frame, &mut pose);
            change(frame, &mut pose);
            pose
        })
        .collect();
    let clip = Clip::from_poses("changed", motion.clip.sample_rate, skeleton, &poses);
    Motion { clip, ..motion.clone() }
}

/// Rotates a joint, and all below it, in model space.
pub fn rotate(character: &Character, pose: &mut Pose, joint: JointId, by: Quat) {
    let skeleton = character.skeleton();
    let model = ModelPose::of(skeleton, pose);
    let parent = skeleton.parent(joint).map_or(Quat::identity(), |p| model.joint(p).rotation);
    let local = &mut pose.local_mut()[joint.index()].rotation;
    *local = parent.inverse() * by * parent * *local;
}

pub fn joint(motion: &Motion, role: Role) -> JointId {
    motion.character.rig.joint(role).unwrap()
}

/// Rotates a limb about the line from its first to its last joint: the middle one goes sideways, the last stays.
pub fn swivelled(motion: &Motion, at: usize, [first, last]: [Role; 2], angle: f64) -> Motion {
    let [top, end] = [first, last].map(|role| joint(motion, role));
    changed(motion, |frame, pose| {
        if frame == at {
            let model = ModelPose::of(motion.character.skeleton(), pose);
            let line = (model.position(end) - model.position(top)).normalize();
            let kept = model.joint(end).rotation;
            rotate(&motion.character, pose, top, exp(&(line * angle)));
            let model = ModelPose::of(motion.character.skeleton(), pose);
            let back = kept * model.joint(end).rotation.inverse();
            rotate(&motion.character, pose, end, back);
        }
    })
}

/// The motion with a head that shakes by 30 degrees from frame to frame: a limb that pops is then not the fastest joint.
pub fn shaking_head(motion: &Motion) -> Motion {
    let head = joint(motion, Role::Head);
    changed(motion, |f, pose| {
        let yaw = if f % 2 == 0 { 15.0 * DEGREE } else { -15.0 * DEGREE };
        rotate(&motion.character, pose, head, exp(&(Vec3::y() * yaw)));
    })
}

pub fn pose_at(motion: &Motion, frame: usize) -> ModelPose {
    let mut pose = motion.character.skeleton().rest_pose();
    motion.clip.read_pose(frame, &mut pose);
    ModelPose::of(motion.character.skeleton(), &pose)
}

/// The mannequin in its bind pose for two seconds.
pub fn standing() -> Motion {
    let character = asset("mannequin.glb").character;
    let skeleton = character.skeleton();
    let pose = character.bind.as_ref().map_or_else(|| skeleton.rest_pose(), |bind| bind.to_local(skeleton));
    let clip = Clip::from_poses("stand", 30.0, skeleton, &vec![pose; 60]);
    Motion::new(Arc::clone(&character), clip)
}

/// The mannequin standing on its feet for two seconds, as it was bound.
pub fn resting() -> Scene {
    let stand = standing();
    let contacts = Some(posemill::contacts::detect(&stand, &Default::default()));
    Scene::own(Motion { contacts, ..stand })
}

/// How far a foot is from its contacts in time: 0 in one, 1 four frames and more away from all.
pub fn in_air(labels: &Contacts, side: Side, f: usize) -> f64 {
    let touches =
        |f: usize| [ContactPart::Heel(side), ContactPart::Ball(side)].iter().any(|p| labels.rests(*p, f));
    (0..4).find(|k| touches(f.saturating_sub(*k)) || touches(f + k)).unwrap_or(4) as f64 / 4.0
}
