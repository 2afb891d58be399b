//! Characters with skin on a joint above the hips: the skin is not torn, and characters without are not changed.

use posemill::import::{self, ImportOptions};
use posemill::math::{Mat4, Transform, Vec3, exp};
use posemill::model::{
    Asset, Binding, Character, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton,
};
use posemill::report::Report;
use posemill::retarget::{Retarget, RootScale, map};
use posemill::skinning::{Skin, linear_blend};
use posemill::stages::{RootMotionConfig, Setting, StageConfig};
use std::path::Path;
use std::sync::Arc;

fn shipped(name: &str) -> Asset {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    import::load(&path, &ImportOptions::default()).unwrap()
}

/// The character with a joint `root` on the ground above its hips.
fn with_root(character: &Character) -> Character {
    let old = character.skeleton();
    let shifted = |id: JointId| JointId::new(id.index() + 1);
    let root = Joint::new("root", None, Transform::identity());
    let joint = |id| {
        let joint = old.joint(id).clone();
        Joint { parent: Some(old.parent(id).map_or(JointId::new(0), shifted)), ..joint }
    };
    let skeleton = Skeleton::new(std::iter::once(root).chain(old.ids().map(joint)).collect()).unwrap();
    let roles = character.rig.assignments().map(|(role, a)| {
        let mut a = a.clone();
        a.joint = shifted(a.joint);
        (role, a)
    });
    let mut new = character.clone();
    let bind = character.reference_pose();
    let mut joints = vec![Transform::identity()];
    joints.extend(bind.joints());
    new.bind = Some(ModelPose::new(joints));
    for mesh in &mut new.meshes {
        let first = &mesh.bindings[0];
        let model_from_mesh: Mat4<f64> = bind.joint(first.joint).to_matrix() * first.joint_from_mesh;
        mesh.bindings.iter_mut().for_each(|b| b.joint = shifted(b.joint));
        mesh.bindings.push(Binding { joint: JointId::new(0), joint_from_mesh: model_from_mesh });
    }
    new.rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
    new
}

/// Binds a share of the skin of the joint with `role` to the root instead.
fn hang(mut character: Character, role: Role, share: f32) -> Arc<Character> {
    let joint = character.rig.joint(role).unwrap();
    let mut count = 0;
    for mesh in &mut character.meshes {
        let root = u16::try_from(mesh.bindings.len() - 1).unwrap();
        for (joints, weights) in mesh.joints.iter_mut().zip(&mut mesh.weights) {
            let of_joint =
                |k: &usize| weights[*k] > 0.0 && mesh.bindings[usize::from(joints[*k])].joint == joint;
            let Some(own) = (0..4).find(of_joint) else { continue };
            count += 1;
            match (0..4).find(|k| weights[*k] == 0.0) {
                Some(free) => {
                    joints[free] = root;
                    weights[free] = share * weights[own];
                    weights[own] -= weights[free];
                }
                None => joints[own] = root,
            }
        }
    }
    assert!(count > 20, "{count} vertices hang on {role}");
    Arc::new(character)
}

fn retargeted(take: &Motion, target: &Arc<Character>) -> Motion {
    let map = map(&take.character, target).unwrap();
    let rigs = (&take.character.rig, &target.rig);
    Retarget::new(&take.character, Arc::clone(target), &map, rigs, RootScale::Legs).apply(take)
}

/// The largest ratio of the length of an edge of the skin to its length in the bind pose, over all frames.
fn stretch(motion: &Motion) -> f64 {
    let rest = motion.character.reference_pose();
    let mut worst = 0.0_f64;
    for mesh in &motion.character.meshes {
        let (mut bound, mut skin) = (Skin::default(), Skin::default());
        linear_blend(mesh, &rest, &mut bound);
        for f in (0..motion.clip.frames()).step_by(10) {
            linear_blend(mesh, &motion.model_pose(f), &mut skin);
            let length = |skin: &Skin, a: u32, b: u32| {
                let [a, b] = [a, b].map(|k| Vec3::from(skin.positions[k as usize].map(f64::from)));
                (a - b).norm()
            };
            for t in &mesh.triangles {
                for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                    // Shorter edges are stretched by rounding.
                    let before = length(&bound, a, b).max(0.005);
                    worst = worst.max(length(&skin, a, b) / before);
                }
            }
        }
    }
    worst
}

/// The take, lying on its back.
fn laid_down(mut motion: Motion) -> Motion {
    let back = Transform::from_rotation(exp(&(Vec3::x() * -std::f64::consts::FRAC_PI_2)));
    for f in 0..motion.clip.frames() {
        let at = back * Transform::new(motion.clip.rotations(f)[0], motion.clip.translations(f)[0]);
        motion.clip.rotations_mut(f)[0] = at.rotation;
        motion.clip.translations_mut(f)[0] = at.translation;
    }
    motion
}

#[test]
fn skin_on_a_joint_above_the_hips_is_not_torn() {
    let plain = shipped("mannequin.glb").character;
    let rooted = with_root(&plain);
    let at_pelvis = hang(rooted.clone(), Role::Hips, 1.0);
    let at_feet = hang(rooted, Role::Foot(Side::Left), 0.1);
    for name in ["walk.bvh", "turn.bvh", "squat.bvh", "jump.bvh"] {
        let take = shipped(name).motion(0).unwrap();
        let lying = laid_down(take.clone());
        for (how, take) in [("upright", take), ("lying", lying)] {
            let own = stretch(&retargeted(&take, &plain));
            let pelvis = stretch(&retargeted(&take, &at_pelvis));
            println!("{name} {how}: stretch {own:.2}; {pelvis:.2} with the skin of the pelvis on the root");
            assert!(pelvis < 1.05 * own, "{name} {how}: {pelvis} instead of {own}");
            if how == "upright" {
                let feet = stretch(&retargeted(&take, &at_feet));
                println!("{name}: {feet:.2} with a tenth of a foot's skin on the root");
                assert!(feet < own + 3.0, "{name}: {feet} instead of {own}");
            }
        }
    }
}

#[test]
fn root_motion_does_not_tear_the_skin_either() {
    let plain = shipped("mannequin.glb").character;
    let at_pelvis = hang(with_root(&plain), Role::Hips, 1.0);
    for name in ["walk.bvh", "turn.bvh", "squat.bvh"] {
        let take = shipped(name).motion(0).unwrap();
        let changed = |target: &Arc<Character>, mode: &str| {
            let config: RootMotionConfig = toml::from_str(&format!("mode = \"{mode}\"")).unwrap();
            let stage = config.resolve(&Setting::new(Arc::clone(target), "")).unwrap();
            stretch(&stage.apply(retargeted(&take, target), &mut Report::default()).unwrap())
        };
        let own = stretch(&retargeted(&take, &plain));
        let in_place = changed(&at_pelvis, "in_place");
        let extracted = changed(&at_pelvis, "extract");
        println!("{name}: stretch {own:.2}; in place {in_place:.2}, extracted {extracted:.2}");
        assert!(in_place < 1.05 * own, "{name}: {in_place} instead of {own}");
        // The root has the heading and the travel alone, so that a pelvis that sinks into a squat leaves it.
        let limit = if name == "squat.bvh" { 7.0 } else { 1.05 * own };
        assert!(extracted < limit, "{name}: {extracted} instead of {own}");
    }
}

#[test]
fn all_other_joints_keep_their_places() {
    let rooted = with_root(&shipped("mannequin.glb").character);
    let skinned = hang(rooted.clone(), Role::Hips, 0.5);
    let bare = Arc::new(rooted);
    let take = shipped("walk.bvh").motion(0).unwrap();
    let (a, b) = (retargeted(&take, &bare), retargeted(&take, &skinned));
    assert_eq!(
        a.clip.translated(),
        [a.character.rig.joint(Role::Hips).unwrap()],
        "the bare root does not move"
    );
    for f in 0..a.clip.frames() {
        let (p, q) = (a.model_pose(f), b.model_pose(f));
        for id in a.character.skeleton().ids().skip(1) {
            let off = (p.position(id) - q.position(id)).norm();
            assert!(off < 1e-9, "frame {f}, joint {}: {off} m", id.index());
        }
    }
}
