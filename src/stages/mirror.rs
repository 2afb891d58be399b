//! Stage `mirror`: swaps left and right.
//!
//! The mirror is the plane between left and right, `M = diag(-1, 1, 1)` in model space. With the model rotation
//! `R_p` of the partner and the reference rotations `R_p0`, `R_j0` of both, joint `j` gets the rotation
//! `R'_j = M R_p R_p0^-1 M S_j R_j0`, independent of joint axes; a joint without a partner is its own partner.
//! The reference is the reference pose. Limbs of recorded skeletons are not quite symmetric in it: `S_j` rotates the segment of
//! the joint to the mirror image of its partner's, as `retarget` aligns segments ([`outward`]), so that a mirrored take onto a
//! symmetric character is the mirror image of the take onto it. Morph weights are swapped by the names of their targets.
//! Units: metres.

use super::mirror_partners::{partners, with_weights_swapped};
use super::{Setting, Stage, StageConfig, StageError};
use crate::anatomy::Figure;
use crate::math::{Mat3, Quat, RawQuat, Vec3, arc, horizontal};
use crate::model::{
    AnimatedProperty, Character, Clip, JointId, ModelPose, Motion, PropertyTrack, Rig, Role, RotationRows,
};
use crate::report::{Report, TakeChange, Warnings, one_line};
use crate::retarget::outward;
use crate::signal::fix_hemispheres;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Swaps left and right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MirrorConfig {
    /// Pairs of joint names to swap, for joints that role and name do not identify: `[["wing_a", "wing_b"]]`.
    pub pairs: Vec<[String; 2]>,
}

impl StageConfig for MirrorConfig {
    const NAME: &'static str = "mirror";

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &*setting.arriving;
        let mut partner = partners(&character.rig);
        for names in &self.pairs {
            let find = |name: &String| {
                let missing = || StageError::key("pairs", format!("the character has no joint `{name}`"));
                character.skeleton().find(name).ok_or_else(missing)
            };
            let (a, b) = (find(&names[0])?, find(&names[1])?);
            // A joint that was paired with one of the two is its own partner now.
            for joint in [a, b] {
                let old = partner[joint.index()];
                partner[old.index()] = old;
            }
            (partner[a.index()], partner[b.index()]) = (b, a);
        }
        Ok(Box::new(Mirror::new(character, partner)))
    }
}

/// The mirrored translation of a joint: `rest + matrix (partner's - partner's rest)`.
#[derive(Debug)]
struct MirroredTranslation {
    source: JointId,
    matrix: Mat3<f64>,
    rest: Vec3,
    source_rest: Vec3,
}

#[derive(Debug)]
struct Mirror {
    parents: Vec<Option<JointId>>,
    partner: Vec<JointId>,
    /// Model-space rotations of the reference pose: `R_j0`.
    reference: Vec<Quat>,
    /// The same of a pose whose limbs are the mirror image of the reference pose's: `S_j R_j0`.
    image: Vec<Quat>,
    shifts: Vec<MirroredTranslation>,
}

impl Mirror {
    fn new(character: &Character, partner: Vec<JointId>) -> Self {
        let skeleton = character.skeleton();
        let pose = character.reference_pose();
        let reference: Vec<Quat> = pose.joints().iter().map(|t| t.rotation).collect();
        let image = mirror_image(&character.rig, &pose, &partner);
        let plane = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0));
        fn of(rotations: &[Quat], id: Option<JointId>) -> Mat3<f64> {
            id.map_or(Mat3::identity(), |p| rotations[p.index()].to_rotation_matrix().into_inner())
        }
        let hips = character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
        let shift = |id: JointId| {
            let other = partner[id.index()];
            let parent = skeleton.parent(id);
            // A translation can be swapped only between parents that swap as well.
            let swaps = skeleton.parent(other) == parent.map(|p| partner[p.index()]);
            let source = if swaps { other } else { id };
            let matrix = of(&image, parent).transpose() * plane * of(&reference, skeleton.parent(source));
            let rest = |id: JointId| skeleton.joint(id).rest.translation;
            // From the root to the hips the position itself is mirrored, elsewhere the displacement from rest.
            let whole = source == id && skeleton.is_ancestor(id, hips);
            let (rest, source_rest) =
                if whole { (Vec3::zeros(), Vec3::zeros()) } else { (rest(id), rest(source)) };
            MirroredTranslation { source, matrix, rest, source_rest }
        };
        let shifts = skeleton.ids().map(shift).collect();
        Self { parents: skeleton.parents().to_vec(), partner, reference, image, shifts }
    }

    /// The mirrored local rotations of one frame.
    fn rotations(&self, local: &[Quat], model: &mut [Quat], mirrored: &mut [Quat]) {
        for (j, parent) in self.parents.iter().enumerate() {
            model[j] = parent.map_or(local[j], |p| model[p.index()] * local[j]);
        }
        for (j, partner) in self.partner.iter().enumerate() {
            let p = partner.index();
            mirrored[j] = reflect(&(model[p] * self.reference[p].inverse())) * self.image[j];
        }
    }
}

/// `S_j R_j0` for every joint: trunk and collar bones by the line through the hip joints, feet by the direction of their toes over the
/// ground, limbs and fingers by their segments; what hangs on these without one of its own follows.
fn mirror_image(rig: &Rig, pose: &ModelPose, partner: &[JointId]) -> Vec<Quat> {
    let skeleton = rig.skeleton();
    let seen = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let trunk = Figure::of(rig, pose).map(|f| arc(&f.left, &-seen(f.left), &Vec3::y())).unwrap_or_default();
    let segment = |id: JointId| {
        let role = rig.role(id)?;
        let side = role.side()?;
        let end = match role {
            Role::Finger(..) => role.next().and_then(|next| rig.joint(next)),
            Role::Foot(_) => rig.joint(Role::Toes(side)),
            _ => outward(role).iter().find_map(|end| rig.joint(end(side))),
        };
        Some(pose.position(end?) - pose.position(id))
    };
    let mut rotated: Vec<Quat> = Vec::with_capacity(skeleton.len());
    for id in skeleton.ids() {
        let role = rig.role(id);
        let on = match role {
            Some(role) if role.side().is_none() => trunk,
            Some(Role::Clavicle(_) | Role::Foot(_)) => trunk,
            _ => skeleton.parent(id).map_or(Quat::identity(), |p| rotated[p.index()]),
        };
        let ends = segment(id).zip(segment(partner[id.index()])).map(|(own, other)| (on * own, seen(other)));
        rotated.push(match ends {
            Some((own, other)) if matches!(role, Some(Role::Foot(_))) => {
                arc(&horizontal(&own), &horizontal(&other), &Vec3::y()) * on
            }
            Some((own, other)) => arc(&own, &other, &Vec3::z()) * on,
            None => on,
        });
    }
    rotated.iter().zip(pose.joints()).map(|(rotated, joint)| rotated * joint.rotation).collect()
}

/// The tracks of mirrored morph weights; other animated nodes are left out.
pub(super) fn mirrored_tracks(
    tracks: &[PropertyTrack],
    character: &Character,
    warnings: &mut Warnings,
) -> Vec<PropertyTrack> {
    let mut kept = Vec::new();
    for track in tracks {
        let place = format!("the node {}", one_line(&track.node));
        if track.property != AnimatedProperty::Weights {
            let message = "animated nodes other than joints are not mirrored and are omitted";
            warnings.add("carried-dropped", message, place);
            continue;
        }
        let swapped = with_weights_swapped(track, character);
        if swapped.is_none() {
            let message = "no morph target is the other side of another by name: the weights are kept unmirrored (name the targets \
                           of both sides alike but for `Left` and `Right`, `L` and `R`)";
            warnings.add("face-not-mirrored", message, place);
        }
        kept.push(swapped.unwrap_or_else(|| track.clone()));
    }
    kept
}

/// `M R M`: the mirrored rotation.
fn reflect(q: &Quat) -> Quat {
    Quat::new_unchecked(RawQuat::new(q.w, q.i, -q.j, -q.k))
}

impl Stage for Mirror {
    fn apply_to_direct_transfer(&self, direct: Motion) -> Option<Motion> {
        self.apply(direct, &mut Report::default()).ok()
    }

    fn take_change(&self, _: &Motion) -> Option<TakeChange> {
        Some(TakeChange::Mirrored)
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let clip = &motion.clip;
        let joints = clip.joints();
        let track = |id: JointId| clip.translated().binary_search(&id).ok();
        let moving: Vec<(usize, &MirroredTranslation, usize)> =
            (0..joints).filter_map(|j| Some((j, &self.shifts[j], track(self.shifts[j].source)?))).collect();
        let mut rotations = RotationRows::new(joints);
        rotations.reserve(clip.frames());
        let mut row = Vec::with_capacity(joints);
        let mut translations = Vec::with_capacity(clip.frames() * moving.len());
        let mut model = vec![Quat::identity(); joints];
        let mut mirrored = model.clone();
        for frame in 0..clip.frames() {
            self.rotations(&clip.rotations(frame), &mut model, &mut mirrored);
            let local = |(j, parent): (usize, &Option<JointId>)| {
                let q = parent.map_or(mirrored[j], |p| mirrored[p.index()].inverse() * mirrored[j]);
                Quat::new_normalize(q.into_inner())
            };
            row.clear();
            row.extend(self.parents.iter().enumerate().map(local));
            rotations.extend(&row);
            let old = clip.translations(frame);
            translations
                .extend(moving.iter().map(|(_, s, track)| s.rest + s.matrix * (old[*track] - s.source_rest)));
        }
        let translated = moving.iter().map(|(j, _, _)| JointId::new(*j)).collect();
        let mut new = Clip::of_rows(clip.name.clone(), clip.sample_rate, rotations, translated, translations);
        (new.start, new.tolerance) = (clip.start, clip.tolerance);
        new.property_tracks = mirrored_tracks(&clip.property_tracks, &motion.character, &mut report.warnings);
        fix_hemispheres(&mut new);
        let contacts = motion.contacts.map(|c| c.mirrored());
        Ok(Motion { clip: new, contacts, ..motion })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walk, walker};
    use super::*;
    use crate::math::exp;
    use crate::model::{Mesh, MorphTarget, Skeleton};
    use std::sync::Arc;

    #[test]
    fn mirrored_twice_is_the_motion() {
        for root in [true, false] {
            let motion = walk(25, root);
            let once = run(&MirrorConfig::default(), motion.clone()).unwrap();
            let twice = run(&MirrorConfig::default(), once).unwrap();
            assert_eq!(twice.clip.translated(), motion.clip.translated());
            for (a, b) in twice.clip.all_rotations().iter().zip(&motion.clip.all_rotations()) {
                assert!((a.coords - b.coords).norm().min((a.coords + b.coords).norm()) < 1e-12);
            }
            for (a, b) in twice.clip.all_translations().iter().zip(motion.clip.all_translations()) {
                assert!((a - b).norm() < 1e-12);
            }
        }
    }

    #[test]
    fn every_joint_stands_where_its_partner_stood_whatever_the_axes() {
        for root in [true, false] {
            let motion = walk(20, root);
            let skeleton = motion.character.skeleton();
            let mirrored = run(&MirrorConfig::default(), motion.clone()).unwrap();
            let partner = partners(&motion.character.rig);
            assert!(skeleton.ids().filter(|&id| partner[id.index()] != id).count() == 10);
            for frame in 0..20 {
                let old = motion.model_pose(frame);
                let new = mirrored.model_pose(frame);
                // The camera is off the middle and has no partner.
                for id in skeleton.ids().filter(|&id| skeleton.joint(id).name != "camera") {
                    let p = old.position(partner[id.index()]);
                    let seen = Vec3::new(-p.x, p.y, p.z);
                    assert!((new.position(id) - seen).norm() < 1e-12, "{}", skeleton.joint(id).name);
                }
            }
        }
    }

    #[test]
    fn no_frame_and_one_frame_pass() {
        for frames in [0, 1] {
            assert_eq!(run(&MirrorConfig::default(), walker(frames)).unwrap().clip.frames(), frames);
        }
    }

    /// The walker with its right arm 12 degrees lower at rest than its left one.
    fn lopsided(frames: usize) -> Motion {
        let motion = walk(frames, true);
        let character = &motion.character;
        let skeleton = character.skeleton();
        let rest = skeleton.rest_model_pose();
        let mut joints = skeleton.joints().to_vec();
        let lowered = skeleton.find("right_hand").unwrap();
        let axes = rest.joint(skeleton.parent(lowered).unwrap()).rotation;
        let turn = exp(&(Vec3::z() * 12.0_f64.to_radians()));
        let offset = &mut joints[lowered.index()].rest.translation;
        *offset = axes.inverse() * turn * axes * *offset;
        let rig = Rig::new(
            Skeleton::new(joints).unwrap(),
            character.rig.assignments().map(|(r, a)| (r, a.clone())),
        );
        Motion::new(Arc::new(Character::new("lopsided", rig)), motion.clip)
    }

    /// The direction of the arm of one side in a frame.
    fn arm(motion: &Motion, frame: usize, side: &str) -> Vec3 {
        let pose = motion.model_pose(frame);
        let at =
            |part: &str| pose.position(motion.character.skeleton().find(&format!("{side}_{part}")).unwrap());
        at("hand") - at("upper_arm")
    }

    #[test]
    fn limbs_that_are_not_symmetric_at_rest_are_mirror_images_all_the_same() {
        let motion = lopsided(20);
        let once = run(&MirrorConfig::default(), motion.clone()).unwrap();
        let twice = run(&MirrorConfig::default(), once.clone()).unwrap();
        for frame in 0..20 {
            for (side, other) in [("left", "right"), ("right", "left")] {
                let seen = arm(&motion, frame, other);
                let off = (arm(&once, frame, side) - Vec3::new(-seen.x, seen.y, seen.z)).norm();
                assert!(off < 1e-12, "{frame} {side}: {off}");
            }
        }
        for (a, b) in twice.clip.all_rotations().iter().zip(&motion.clip.all_rotations()) {
            assert!((a.coords - b.coords).norm().min((a.coords + b.coords).norm()) < 1e-12);
        }
    }

    #[test]
    fn morph_weights_are_swapped_by_the_names_of_their_targets() {
        let mirrored = |names: &[&str], property: AnimatedProperty| {
            let mut motion = walker(2);
            let mut character = (*motion.character).clone();
            let morphs = names.iter().map(|n| MorphTarget { name: (*n).into(), ..Default::default() });
            character.meshes =
                vec![Mesh { node: "Face".into(), morphs: morphs.collect(), ..Default::default() }];
            motion.character = Arc::new(character);
            let (node, width) = ("Face".to_owned(), names.len());
            let values = (0..2 * width).map(|k| k as f32).collect();
            motion.clip.property_tracks = vec![PropertyTrack { node, property, width, values }];
            let stage =
                MirrorConfig::default().resolve(&Setting::new(Arc::clone(&motion.character), "")).unwrap();
            let mut report = Report::default();
            let result = stage.apply(motion, &mut report).unwrap();
            let values = result.clip.property_tracks.first().map(|track| track.values.clone());
            (values, report.warnings.iter().map(|w| w.code).collect::<Vec<_>>())
        };
        let face =
            ["jawOpen", "mouthSmileLeft", "Brow_R", "mouthSmileRight", "Brow_L", "eyeBlinkL", "eyeBlinkR"];
        let swapped = [0.0, 3.0, 4.0, 1.0, 2.0, 6.0, 5.0, 7.0, 10.0, 11.0, 8.0, 9.0, 13.0, 12.0];
        assert_eq!(mirrored(&face, AnimatedProperty::Weights), (Some(swapped.to_vec()), vec![]));
        let (kept, codes) = mirrored(&["jawOpen", "upright"], AnimatedProperty::Weights);
        assert_eq!((kept, codes), (Some(vec![0.0, 1.0, 2.0, 3.0]), vec!["face-not-mirrored"]));
        let (none, codes) = mirrored(&["a", "b", "c"], AnimatedProperty::Translation);
        assert_eq!((none, codes), (None, vec!["carried-dropped"]));
    }

    #[test]
    fn pairs_in_the_file_are_joints_of_the_character() {
        let config = |a: &str, b: &str| MirrorConfig { pairs: vec![[a.into(), b.into()]] };
        let error = run(&config("head", "tail"), walker(2)).unwrap_err();
        assert_eq!(
            (error.key, error.to_string().as_str()),
            (Some("pairs"), "the character has no joint `tail`")
        );
        assert!(run(&config("left_prop", "head"), walker(2)).is_ok());
    }
}
