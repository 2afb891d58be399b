//! A fault that is made on purpose is seen by its own measure, and by no other one.

use posemill::import::{self, ImportOptions};
use posemill::math::{Quat, Vec3, exp};
use posemill::measure::{MetricContext, Reading, assess_beside};
use posemill::model::{Character, Clip, ContactPart, Contacts, JointId, ModelPose, Motion, Pose, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::collections::BTreeSet;
use std::sync::Arc;

fn asset(name: &str) -> posemill::model::Asset {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    import::load(&path, &ImportOptions::default()).unwrap()
}

/// A take, its direct transfer, and what both are measured by.
struct Scene {
    of_take: MetricContext,
    take: Motion,
    context: MetricContext,
    copy: Motion,
    labels: Option<Contacts>,
}

impl Scene {
    /// Every fourth frame of the walk of `data/`, 30 a second, four times there and back, on the mannequin: in a long clip one
    /// frame is no jerk.
    fn walk() -> Self {
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
        let copy = transfer.copy(&take);
        let labels = take.contacts.as_ref().map(|c| transfer.labels(c));
        let [of_take, context] = [&take, &copy].map(|m| MetricContext::new(&m.character));
        Self { of_take, take, context, copy, labels }
    }

    /// A motion of the mannequin, whose take and direct transfer it is itself.
    fn own(motion: Motion) -> Self {
        let [of_take, context] = [0, 1].map(|_| MetricContext::new(&motion.character));
        let labels = motion.contacts.clone();
        Self { of_take, take: motion.clone(), context, copy: motion, labels }
    }

    /// The measures over their limits.
    fn over(&self, motion: &Motion, copy: &Motion) -> BTreeSet<String> {
        let take = (&self.of_take, &self.take);
        let made = assess_beside(&self.context, motion, self.labels.as_ref(), take, copy);
        made.metrics.iter().filter(|m| Reading::from(*m).over()).map(|m| m.name.clone()).collect()
    }

    /// What a fault of the result adds.
    fn added(&self, motion: &Motion) -> Vec<String> {
        let before = self.over(&self.copy, &self.copy);
        self.over(motion, &self.copy).difference(&before).cloned().collect()
    }

    /// What a fault adds that the direct transfer has as well, which excuses nothing.
    fn added_to_both(&self, motion: &Motion) -> Vec<String> {
        let before = self.over(&self.copy, &self.copy);
        self.over(motion, motion).difference(&before).cloned().collect()
    }
}

/// The motion with every pose changed.
fn changed(motion: &Motion, change: impl Fn(usize, &mut Pose)) -> Motion {
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
fn rotate(character: &Character, pose: &mut Pose, joint: JointId, by: Quat) {
    let skeleton = character.skeleton();
    let model = ModelPose::of(skeleton, pose);
    let parent = skeleton.parent(joint).map_or(Quat::identity(), |p| model.joint(p).rotation);
    let local = &mut pose.local_mut()[joint.index()].rotation;
    *local = parent.inverse() * by * parent * *local;
}

fn joint(motion: &Motion, role: Role) -> JointId {
    motion.character.rig.joint(role).unwrap()
}

/// Rotates a limb about the line from its first to its last joint: the middle one goes sideways, the last stays.
fn swivelled(motion: &Motion, at: usize, [first, last]: [Role; 2], angle: f64) -> Motion {
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
fn shaking_head(motion: &Motion) -> Motion {
    let head = joint(motion, Role::Head);
    changed(motion, |f, pose| {
        let yaw = if f % 2 == 0 { 15.0 * DEGREE } else { -15.0 * DEGREE };
        rotate(&motion.character, pose, head, exp(&(Vec3::y() * yaw)));
    })
}

/// A degree, in radians.
const DEGREE: f64 = std::f64::consts::PI / 180.0;

#[test]
fn an_elbow_that_pops_in_one_frame() {
    let scene = Scene::walk();
    let bent = |motion: &Motion| {
        let elbow = joint(motion, Role::LowerArm(Side::Left));
        changed(motion, |_, pose| {
            rotate(&motion.character, pose, elbow, exp(&(Vec3::x() * (-60.0 * DEGREE))))
        })
    };
    let copy = bent(&shaking_head(&scene.copy));
    let scene = Scene { copy, ..scene };
    let pops =
        swivelled(&scene.copy, 20, [Role::UpperArm(Side::Left), Role::Hand(Side::Left)], 14.0 * DEGREE);
    assert_eq!(scene.added(&pops), ["elbow_pop"]);
}

#[test]
fn a_knee_that_pops_in_one_frame() {
    let scene = Scene::walk();
    let scene = Scene { copy: shaking_head(&scene.copy), ..scene };
    let legs = [Role::UpperLeg(Side::Left), Role::Foot(Side::Left)];
    // Where the leg swings its knee is bent most.
    let bend = |f: usize| {
        let model = pose_at(&scene.copy, f);
        let [a, b, c] = [Role::UpperLeg(Side::Left), Role::LowerLeg(Side::Left), Role::Foot(Side::Left)]
            .map(|role| model.position(joint(&scene.copy, role)));
        (b - a).angle(&(c - b))
    };
    let most = (5..scene.copy.clip.frames() - 5).max_by(|a, b| bend(*a).total_cmp(&bend(*b))).unwrap();
    let pops = swivelled(&scene.copy, most, legs, 24.0 * DEGREE);
    assert_eq!(scene.added(&pops), ["knee_pop"]);
}

fn pose_at(motion: &Motion, frame: usize) -> ModelPose {
    let mut pose = motion.character.skeleton().rest_pose();
    motion.clip.read_pose(frame, &mut pose);
    ModelPose::of(motion.character.skeleton(), &pose)
}

#[test]
fn a_foot_that_turns_away_from_that_of_the_take_in_the_air() {
    let scene = Scene::walk();
    let (side, labels) = (Side::Right, scene.labels.clone().unwrap());
    let foot = joint(&scene.copy, Role::Foot(side));
    let touches =
        |f: usize| [ContactPart::Heel(side), ContactPart::Ball(side)].iter().any(|p| labels.rests(*p, f));
    // Full four frames from the ground, nothing on it.
    let share = |f: usize| {
        let away = (0..4)
            .find(|k| touches(f.saturating_sub(*k)) || (f + k < scene.copy.clip.frames() && touches(f + k)));
        away.unwrap_or(4) as f64 / 4.0
    };
    let turned = changed(&scene.copy, |f, pose| {
        rotate(&scene.copy.character, pose, foot, exp(&(Vec3::y() * (18.0 * DEGREE * share(f)))));
    });
    assert_eq!(scene.added(&turned), ["foot_orientation_p95"]);
}

#[test]
fn an_arm_in_the_body() {
    let scene = Scene::walk();
    // The upper arm hangs as before, the forearm points through the belly to the other side.
    let elbow = joint(&scene.copy, Role::LowerArm(Side::Left));
    let through = changed(&scene.copy, |_, pose| {
        let model = ModelPose::of(scene.copy.character.skeleton(), pose);
        let rig = &scene.copy.character.rig;
        let [elbow_at, wrist, hip] =
            [elbow, rig.joint(Role::Hand(Side::Left)).unwrap(), rig.joint(Role::Hips).unwrap()]
                .map(|id| model.position(id));
        let wanted = (hip + Vec3::y() * 0.1 - elbow_at).normalize();
        let turn = Quat::rotation_between(&(wrist - elbow_at), &wanted).unwrap();
        rotate(&scene.copy.character, pose, elbow, turn);
    });
    assert_eq!(scene.added_to_both(&through), ["arm_in_body"]);
}

/// The mannequin in its bind pose for two seconds.
fn standing() -> Motion {
    let character = asset("mannequin.glb").character;
    let skeleton = character.skeleton();
    let pose = character.bind.as_ref().map_or_else(|| skeleton.rest_pose(), |bind| bind.to_local(skeleton));
    let clip = Clip::from_poses("stand", 30.0, skeleton, &vec![pose; 60]);
    Motion::new(Arc::clone(&character), clip)
}

#[test]
fn a_touch_that_is_lost() {
    // The left hand goes to the face: of many rotations of the upper arm and bends of the elbow the one that brings it nearest
    // to the front of the head.
    let stand = standing();
    let [shoulder, elbow, hand, head] =
        [Role::UpperArm(Side::Left), Role::LowerArm(Side::Left), Role::Hand(Side::Left), Role::Head]
            .map(|role| joint(&stand, role));
    let posed = |swing: f64, raise: f64, bend: f64| {
        let mut pose = stand.character.skeleton().rest_pose();
        stand.clip.read_pose(0, &mut pose);
        rotate(&stand.character, &mut pose, shoulder, exp(&(Vec3::z() * raise)) * exp(&(Vec3::y() * swing)));
        let model = ModelPose::of(stand.character.skeleton(), &pose);
        let arm = model.position(hand) - model.position(shoulder);
        let axis = arm.cross(&(model.position(head) - model.position(shoulder))).normalize();
        rotate(&stand.character, &mut pose, elbow, exp(&(axis * bend)));
        pose
    };
    let steps = |from: f64, to: f64| (0..12).map(move |k| (from + (to - from) * k as f64 / 11.0) * DEGREE);
    let mut best = (f64::INFINITY, [0.0; 3]);
    for swing in steps(-90.0, 0.0) {
        for raise in steps(-40.0, 60.0) {
            for bend in steps(60.0, 140.0) {
                let model = ModelPose::of(stand.character.skeleton(), &posed(swing, raise, bend));
                let wanted = model.position(head) + Vec3::new(0.0, 0.08, 0.14);
                let away = (model.position(hand) - wanted).norm();
                if away < best.0 {
                    best = (away, [swing, raise, bend]);
                }
            }
        }
    }
    let [swing, raise, bend] = best.1;
    let with = |bend: f64| {
        let clip =
            Clip::from_poses("touch", 30.0, stand.character.skeleton(), &vec![posed(swing, raise, bend); 60]);
        Motion { clip, ..stand.clone() }
    };
    let scene = Scene::own(with(bend));
    assert_eq!(
        scene.added(&with(bend - 35.0 * DEGREE)),
        ["self_contact_lost"],
        "hand {} m from the face",
        best.0
    );
}

#[test]
fn a_skin_that_is_torn() {
    let scene = Scene::walk();
    let mut character = (*scene.copy.character).clone();
    let (root, elbow) = (JointId::new(0), joint(&scene.copy, Role::LowerArm(Side::Left)));
    for mesh in &mut character.meshes {
        let find = |joint: JointId| mesh.bindings.iter().position(|b| b.joint == joint);
        let Some(of_elbow) = find(elbow) else { continue };
        let of_root = find(root).unwrap_or_else(|| {
            let bind = character.bind.as_ref().unwrap();
            let mut binding = mesh.bindings[of_elbow].clone();
            let moved = bind.joint(root).inverse() * *bind.joint(elbow);
            binding.joint_from_mesh = moved.to_matrix() * binding.joint_from_mesh;
            binding.joint = root;
            mesh.bindings.push(binding);
            mesh.bindings.len() - 1
        });
        for joints in &mut mesh.joints {
            joints.iter_mut().filter(|j| usize::from(**j) == of_elbow).for_each(|j| *j = of_root as u16);
        }
    }
    let character = Arc::new(character);
    let context = MetricContext::new(&character);
    let torn = Motion { character, ..scene.copy.clone() };
    let before = scene.over(&scene.copy, &scene.copy);
    let scene = Scene { context, copy: torn.clone(), ..scene };
    let after = scene.over(&torn, &torn);
    assert_eq!(after.difference(&before).cloned().collect::<Vec<_>>(), ["skin_stretch"]);
}

#[test]
fn a_head_below_the_floor() {
    // Lying on its back, and the head bent back through the floor.
    let stand = standing();
    let lying = changed(&stand, |_, pose| {
        rotate(&stand.character, pose, JointId::new(0), exp(&(Vec3::x() * (-90.0 * DEGREE))));
        pose.local_mut()[0].translation.y += 0.3;
    });
    let lowest = |motion: &Motion| {
        let context = MetricContext::new(&motion.character);
        context.lowest.lowest(&pose_at(motion, 0))
    };
    let on_floor = changed(&lying, |_, pose| pose.local_mut()[0].translation.y -= lowest(&lying));
    let neck = joint(&stand, Role::Head);
    let through = changed(&on_floor, |_, pose| {
        rotate(&stand.character, pose, neck, exp(&(Vec3::x() * (-50.0 * DEGREE))));
    });
    let labels = Contacts::new(0.0, []);
    let scene = Scene { labels: Some(labels), ..Scene::own(on_floor) };
    assert_eq!(scene.added_to_both(&through), ["body_skin_below_floor"]);
}

#[test]
fn a_body_half_as_tall_falls_as_its_take_does() {
    // A throw of the mannequin, and of its skeleton at half the size along a path of half the size.
    let thrown = |stand: &Motion, scale: f64| {
        changed(stand, |frame, pose| {
            let t = frame as f64 / 30.0;
            pose.local_mut()[0].translation.y += scale * (9.81 * t * (2.0 - t) * 0.5 + 0.2);
        })
    };
    let of_size = |scale: f64| {
        let whole = asset("mannequin.glb").character;
        let mut joints = whole.skeleton().joints().to_vec();
        joints.iter_mut().for_each(|joint| joint.rest.translation *= scale);
        let skeleton = posemill::model::Skeleton::new(joints).unwrap();
        let rig =
            posemill::model::Rig::new(skeleton, whole.rig.assignments().map(|(role, a)| (role, a.clone())));
        let character = Arc::new(Character::new("bones", rig));
        let pose = character.skeleton().rest_pose();
        let clip = Clip::from_poses("stand", 30.0, character.skeleton(), &vec![pose; 60]);
        Motion::new(character, clip)
    };
    let (take, result) = (thrown(&of_size(1.0), 1.0), thrown(&of_size(0.5), 0.5));
    let [of_take, context] = [&take, &result].map(|m| MetricContext::new(&m.character));
    let labels = Some(Contacts::new(0.0, []));
    let take = Motion { contacts: labels.clone(), ..take };
    let made = assess_beside(&context, &result, labels.as_ref(), (&of_take, &take), &result);
    let error = made.metrics.iter().find(|m| m.name == "flight_error").unwrap();
    assert!(error.value < 0.01 && error.take.unwrap() < 0.01, "{error:?}");
    // The same path on the whole body is a fall at half the gravity.
    let slow = thrown(&of_size(1.0), 0.5);
    let made = assess_beside(&of_take, &slow, labels.as_ref(), (&of_take, &take), &slow);
    let error = made.metrics.iter().find(|m| m.name == "flight_error").unwrap();
    assert!((error.value - 0.5).abs() < 0.01, "{error:?}");
}
