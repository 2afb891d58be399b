//! Laws of skeletons, poses, clips, contact labels and property tracks, on random trees with fixed seeds.

use super::*;
use crate::math::{Quat, Transform, exp, rotation_between};
use crate::perturbed::Noise;
use crate::seeds::{below, for_seeds};
use std::sync::Arc;

fn skeleton(noise: &mut Noise, count: usize) -> Skeleton {
    let joint = |k: usize, noise: &mut Noise| {
        let parent = (k > 0).then(|| JointId::new(below(noise, k)));
        Joint::new(format!("joint {k}"), parent, Transform::new(exp(&noise.vector(1.0)), noise.vector(0.5)))
    };
    Skeleton::new((0..count).map(|k| joint(k, noise)).collect()).unwrap()
}

fn pose(noise: &mut Noise, count: usize) -> Pose {
    Pose::new((0..count).map(|_| Transform::new(exp(&noise.vector(1.0)), noise.vector(0.5))).collect())
}

fn motion(noise: &mut Noise, frames: usize) -> Motion {
    let count = 1 + below(noise, 9);
    let skeleton = skeleton(noise, count);
    let poses: Vec<Pose> = (0..frames)
        .map(|_| {
            let mut pose = skeleton.rest_pose();
            let local = pose.local_mut();
            local.iter_mut().for_each(|t| t.rotation *= exp(&noise.vector(0.1)));
            local[0].translation += noise.vector(1.0);
            pose
        })
        .collect();
    let clip = Clip::from_poses("made", 50.0, &skeleton, &poses);
    Motion::new(Arc::new(Character::new("made", Rig::new(skeleton, []))), clip)
}

fn contacts(noise: &mut Noise, frames: usize) -> Contacts {
    let mut contacts = Contacts::new(noise.normal(), ContactPart::ALL);
    for part in ContactPart::ALL {
        let (mut at, mut holds) = (0, Vec::new());
        loop {
            let start = at + below(noise, 6);
            at = start + 1 + below(noise, 8);
            if at > frames {
                break;
            }
            holds.push(Hold { frames: start..at, height: noise.normal(), slide: 0.0 });
        }
        contacts.set(part, holds);
    }
    contacts
}

#[test]
fn the_tree_is_the_same_from_above_and_from_below() {
    for_seeds(60, |noise| {
        let count = 1 + below(noise, 30);
        let skeleton = skeleton(noise, count);
        for id in skeleton.ids() {
            assert!(skeleton.children(id).iter().all(|&c| skeleton.parent(c) == Some(id) && c > id));
            assert_eq!(skeleton.find(&skeleton.joint(id).name), Some(id));
            let path: Vec<JointId> = skeleton.path_to_root(id).collect();
            assert_eq!((path[0], path[path.len() - 1]), (id, JointId::new(0)));
            let below = skeleton.below(&[id]);
            for other in skeleton.ids() {
                assert_eq!(below[other.index()], skeleton.is_ancestor(id, other));
                assert_eq!(path.contains(&other), skeleton.is_ancestor(other, id));
            }
        }
        let children: usize = skeleton.ids().map(|id| skeleton.children(id).len()).sum();
        assert_eq!(children, count - 1);
    });
}

#[test]
fn local_and_model_space_are_each_others_inverse() {
    for_seeds(60, |noise| {
        let count = 1 + below(noise, 20);
        let (skeleton, pose) = (skeleton(noise, count), pose(noise, count));
        let model = ModelPose::of(&skeleton, &pose);
        for (a, b) in model.to_local(&skeleton).local().iter().zip(pose.local()) {
            assert!((a.translation - b.translation).norm() < 1e-12);
            assert!(rotation_between(&a.rotation, &b.rotation) < 1e-12);
        }
        // Plain reference: the product along the path from the root.
        for id in skeleton.ids() {
            let path: Vec<JointId> = skeleton.path_to_root(id).collect();
            let product = path.iter().rev().fold(Transform::identity(), |t, &j| t * *pose.joint(j));
            assert!((product.translation - model.position(id)).norm() < 1e-12);
            assert!(rotation_between(&product.rotation, &model.joint(id).rotation) < 1e-12);
        }
        let mut again = ModelPose::of(&skeleton, &skeleton.rest_pose());
        again.set(&skeleton, &pose);
        assert_eq!(again, model);
    });
}

#[test]
fn setting_some_joints_moves_these_and_no_others() {
    for_seeds(60, |noise| {
        let count = 2 + below(noise, 15);
        let (skeleton, pose) = (skeleton(noise, count), pose(noise, count));
        let whole = ModelPose::of(&skeleton, &pose);
        let deep = JointId::new(below(noise, count));
        let mut path: Vec<JointId> = skeleton.path_to_root(deep).collect();
        path.sort();
        let rest = skeleton.rest_model_pose();
        let mut some = rest.clone();
        some.set_only(&skeleton, &pose, &path);
        for id in skeleton.ids() {
            let expected = if path.contains(&id) { &whole } else { &rest };
            assert_eq!(some.joint(id), expected.joint(id));
        }
    });
}

#[test]
fn a_clip_has_the_numbers_of_its_copy_and_of_no_other() {
    for_seeds(3, |noise| {
        let clip = motion(noise, 4).clip;
        assert!(clip.has_numbers_of(&clip.clone()));
        let mut negated = clip.clone();
        let last = negated.rotations_mut(negated.frames() - 1).last_mut().unwrap();
        *last = Quat::new_unchecked(-last.into_inner());
        assert!(negated == clip && !negated.has_numbers_of(&clip));
        let [mut moved, mut named, mut late] = [clip.clone(), clip.clone(), clip.clone()];
        moved.all_translations_mut()[0].x += 1e-9;
        named.name += "2";
        late.start += 1.0;
        for other in [moved, named, late] {
            assert!(!other.has_numbers_of(&clip));
        }
    });
}

#[test]
fn poses_become_a_clip_and_the_same_poses_again() {
    for_seeds(40, |noise| {
        let frames = 1 + below(noise, 20);
        let motion = motion(noise, frames);
        let skeleton = motion.character.skeleton();
        let clip = Clip::from_poses("made", 50.0, skeleton, &motion.poses());
        assert_eq!(clip, motion.clip);
        assert_eq!((clip.frames(), clip.joints()), (frames, skeleton.len()));
        assert!((clip.duration() - (frames - 1) as f64 / 50.0).abs() < 1e-12);
        for f in 0..frames {
            let pose = clip.pose(skeleton, f);
            assert!((clip.time(f) - f as f64 / 50.0).abs() < 1e-12);
            for id in skeleton.ids() {
                assert_eq!(clip.local(skeleton, f, id), *pose.joint(id));
            }
        }
    });
}

#[test]
fn a_part_of_a_motion_has_the_frames_and_labels_of_the_whole() {
    for_seeds(60, |noise| {
        let frames = 2 + below(noise, 40);
        let mut motion = motion(noise, frames);
        motion.contacts = Some(contacts(noise, frames));
        let start = below(noise, frames);
        let end = start + 1 + below(noise, frames - start);
        let part = motion.part(start..end);
        let (whole, some) = (motion.contacts.as_ref().unwrap(), part.contacts.as_ref().unwrap());
        for f in start..end {
            assert_eq!(part.clip.rotations(f - start), motion.clip.rotations(f));
            assert_eq!(part.model_pose(f - start), motion.model_pose(f));
            for p in ContactPart::ALL {
                assert_eq!(some.rests(p, f - start), whole.rests(p, f), "{p}, frame {f} of {start}..{end}");
            }
        }
        assert!(some.end() <= end - start);
        assert_eq!(motion.part(0..frames), motion);
    });
}

#[test]
fn labels_mirror_back_and_agree_with_their_holds() {
    for_seeds(40, |noise| {
        let frames = 5 + below(noise, 60);
        let contacts = contacts(noise, frames);
        assert_eq!(contacts.mirrored().mirrored(), contacts);
        assert_eq!(contacts.changed(|f| f, |h| h), contacts);
        let ends = ContactPart::ALL.iter().filter_map(|&p| contacts.holds(p).last()).map(|h| h.frames.end);
        assert_eq!(contacts.end(), ends.max().unwrap_or(0));
        for part in ContactPart::ALL {
            for f in 0..frames {
                let plain = contacts.holds(part).iter().find(|h| h.frames.contains(&f));
                assert_eq!(contacts.hold(part, f), plain);
                assert_eq!(contacts.mirrored().rests(part.mirrored(), f), plain.is_some());
            }
        }
        // Twice as many frames: every label lasts twice as long.
        let doubled = contacts.changed(|f| 2 * f, |h| h + 1.0);
        for part in ContactPart::ALL {
            let total = |c: &Contacts| c.holds(part).iter().map(|h| h.frames.len()).sum::<usize>();
            assert_eq!(total(&doubled), 2 * total(&contacts));
        }
        assert!((doubled.ground - contacts.ground - 1.0).abs() < 1e-12);
    });
}

#[test]
fn property_tracks_at_whole_frames_are_their_frames() {
    for_seeds(60, |noise| {
        let (frames, width) = (1 + below(noise, 20), 1 + below(noise, 5));
        let values: Vec<f32> = (0..frames * width).map(|_| noise.normal() as f32).collect();
        let node = "face".to_owned();
        let track = PropertyTrack { node, property: AnimatedProperty::Weights, width, values };
        assert_eq!(track.picked(0..frames), track);
        assert_eq!(track.between((0..frames).map(|f| f as f64)), track);
        // Between two frames, and after the last one, no value leaves those of its neighbours.
        let t = noise.even() * (frames + 2) as f64;
        let (a, b) = (track.frame(t as usize), track.frame(t as usize + 1));
        for (k, x) in track.between(std::iter::once(t)).values.into_iter().enumerate() {
            assert!(a[k].min(b[k]) - 1e-6 <= x && x <= a[k].max(b[k]) + 1e-6);
        }
        assert_eq!(track.frame(frames + 7), track.frame(frames - 1));
    });
}

#[test]
fn rotation_tracks_stay_unit_and_ignore_signs() {
    for_seeds(60, |noise| {
        let values = |q: &[Quat]| {
            q.iter().flat_map(|q| q.coords.iter().map(|&x| x as f32).collect::<Vec<_>>()).collect()
        };
        let first = exp(&noise.vector(1.0));
        let q = [first, first * exp(&noise.vector(0.5))];
        let flipped = [q[0], Quat::new_unchecked(-q[1].into_inner())];
        let track = |q: &[Quat]| PropertyTrack {
            node: "eye".into(),
            property: AnimatedProperty::Rotation,
            width: 4,
            values: values(q),
        };
        let t = noise.even();
        let (a, b) = (track(&q).between(std::iter::once(t)), track(&flipped).between(std::iter::once(t)));
        let norm = a.values.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() < 1e-6);
        let dot: f32 = a.values.iter().zip(&b.values).map(|(x, y)| x * y).sum();
        assert!((dot.abs() - 1.0).abs() < 1e-5, "{dot}");
    });
}

#[test]
fn a_check_finds_the_first_broken_frame_whatever_is_wrong() {
    for_seeds(60, |noise| {
        let frames = 2 + below(noise, 150);
        let good = motion(noise, frames);
        good.check().unwrap();
        let (frame, joints) = (below(noise, frames), good.clip.joints());
        let joint = below(noise, joints);
        let name = good.character.skeleton().joints()[joint].name.clone();
        let mut longer = good.clone();
        longer.clip.rotations_mut(frame)[joint] = Quat::new_unchecked(Quat::identity().into_inner() * 1.1);
        assert_eq!(longer.check(), Err(Fault::Rotation { frame, joint: name.clone() }));
        if frame > 0 {
            let mut flipped = good.clone();
            for f in frame..frames {
                let q = &mut flipped.clip.rotations_mut(f)[joint];
                *q = Quat::new_unchecked(-q.into_inner());
            }
            assert_eq!(flipped.check(), Err(Fault::Hemisphere { frame, joint: name }));
        }
        let mut infinite = good.clone();
        infinite.clip.translations_mut(frame)[0].y = f64::INFINITY;
        let root = good.character.skeleton().joints()[0].name.clone();
        assert_eq!(infinite.check(), Err(Fault::Translation { frame, joint: root }));
        let mut labelled = good.clone();
        let mut contacts = Contacts::new(0.0, [ContactPart::Pelvis]);
        contacts.set(ContactPart::Pelvis, vec![Hold { frames: frame..frames + 1, height: 0.0, slide: 0.0 }]);
        labelled.contacts = Some(contacts);
        assert_eq!(labelled.check(), Err(Fault::Contacts { expected: frames, found: frames + 1 }));
    });
}

#[test]
fn the_last_assignment_of_a_role_or_joint_wins() {
    for_seeds(60, |noise| {
        let skeleton = skeleton(noise, 6);
        let roles = [Role::Hips, Role::Head, Role::Spine(0), Role::Spine(1)];
        let given: Vec<(Role, JointId)> =
            (0..10).map(|_| (roles[below(noise, 4)], JointId::new(below(noise, 6)))).collect();
        let rig = Rig::new(skeleton, given.iter().map(|&(role, id)| (role, Assignment::new(id, 1.0, ""))));
        for role in roles {
            let last = given.iter().rposition(|g| g.0 == role);
            let kept = last.filter(|&k| given[k + 1..].iter().all(|g| g.1 != given[k].1));
            assert_eq!(rig.joint(role), kept.map(|k| given[k].1));
        }
        for id in rig.skeleton().ids() {
            assert!(rig.role(id).is_none_or(|role| rig.joint(role) == Some(id)));
        }
        assert_eq!(
            rig.assignments().count(),
            rig.skeleton().ids().filter(|&id| rig.role(id).is_some()).count()
        );
    });
}
