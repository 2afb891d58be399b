//! Stage `mirror`: swaps left and right.
//!
//! The mirror is the plane between left and right, `M = diag(-1, 1, 1)` in model space. With the model rotation
//! `R_p` of the partner and the reference rotations `R_p0`, `R_j0` of both, joint `j` gets the rotation
//! `R'_j = M R_p R_p0^-1 M R_j0`, independent of joint axes; a joint without a partner is its own partner.
//! The reference is the bind pose, which is the most likely one to be symmetric, or the rest pose without one.
//! Units: metres.

use super::{Setting, Stage, StageConfig, StageError};
use crate::math::{Mat3, Quat, RawQuat, Vec3};
use crate::model::{Character, Clip, JointId, Motion, Rig, Role, Skeleton};
use crate::report::{Report, TakeChange};
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

/// The partner of every joint: by role, else by name, else itself. The partner's partner is the joint.
fn partners(rig: &Rig) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let by_role = |id: JointId| rig.role(id).and_then(|role| rig.joint(role.mirrored()));
    let found: Vec<JointId> = skeleton
        .ids()
        .map(|id| {
            by_role(id).or_else(|| by_name(skeleton, id).filter(|&p| by_role(p).is_none())).unwrap_or(id)
        })
        .collect();
    skeleton
        .ids()
        .map(|id| if found[found[id.index()].index()] == id { found[id.index()] } else { id })
        .collect()
}

/// The other joint whose name is that of `id` with the side exchanged.
fn by_name(skeleton: &Skeleton, id: JointId) -> Option<JointId> {
    const WORDS: [(&str, &str); 3] = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")];
    const LETTERS: [(char, char); 4] = [('l', 'r'), ('L', 'R'), ('r', 'l'), ('R', 'L')];
    let name = skeleton.joint(id).name.as_str();
    let words = WORDS.iter().flat_map(|&(l, r)| [(l, r), (r, l)]);
    let exchanged = words.flat_map(|(from, to)| {
        name.match_indices(from)
            .map(move |(at, _)| format!("{}{to}{}", &name[..at], &name[at + from.len()..]))
    });
    // A lone letter: between separators or ends (`arm.L`, `l_arm`), or small before a capital (`lArm`).
    let letters = name.char_indices().filter_map(|(at, c)| {
        let (_, to) = LETTERS.iter().find(|(from, _)| *from == c)?;
        let (before, after) = (&name[..at], &name[at + 1..]);
        let next = after.chars().next();
        let starts = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let ends = next.is_none_or(|c| !c.is_alphanumeric() || c.is_uppercase());
        (starts && ends).then(|| format!("{before}{to}{after}"))
    });
    exchanged.chain(letters).find_map(|other| skeleton.find(&other))
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
    /// Model-space rotations of the reference pose.
    reference: Vec<Quat>,
    shifts: Vec<MirroredTranslation>,
}

impl Mirror {
    fn new(character: &Character, partner: Vec<JointId>) -> Self {
        let skeleton = character.skeleton();
        let pose = character.calibration_pose();
        let reference: Vec<Quat> = pose.joints().iter().map(|t| t.rotation).collect();
        let plane = Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0));
        let of = |id: Option<JointId>| {
            id.map_or(Mat3::identity(), |p| reference[p.index()].to_rotation_matrix().into_inner())
        };
        let hips = character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
        let shift = |id: JointId| {
            let other = partner[id.index()];
            let parent = skeleton.parent(id);
            // A translation can be swapped only between parents that swap as well.
            let swaps = skeleton.parent(other) == parent.map(|p| partner[p.index()]);
            let source = if swaps { other } else { id };
            let matrix = of(parent).transpose() * plane * of(skeleton.parent(source));
            let rest = |id: JointId| skeleton.joint(id).rest.translation;
            // From the root to the hips the position itself is mirrored, elsewhere the displacement from rest.
            let whole = source == id && skeleton.is_ancestor(id, hips);
            let (rest, source_rest) =
                if whole { (Vec3::zeros(), Vec3::zeros()) } else { (rest(id), rest(source)) };
            MirroredTranslation { source, matrix, rest, source_rest }
        };
        let shifts = skeleton.ids().map(shift).collect();
        Self { parents: skeleton.parents().to_vec(), partner, reference, shifts }
    }

    /// The mirrored local rotations of one frame.
    fn rotations(&self, local: &[Quat], model: &mut [Quat], mirrored: &mut [Quat]) {
        for (j, parent) in self.parents.iter().enumerate() {
            model[j] = parent.map_or(local[j], |p| model[p.index()] * local[j]);
        }
        for (j, partner) in self.partner.iter().enumerate() {
            let p = partner.index();
            mirrored[j] = reflect(&(model[p] * self.reference[p].inverse())) * self.reference[j];
        }
    }
}

/// `M R M`: the mirrored rotation.
fn reflect(q: &Quat) -> Quat {
    Quat::new_unchecked(RawQuat::new(q.w, q.i, -q.j, -q.k))
}

impl Stage for Mirror {
    fn carry(&self, plain: Motion) -> Option<Motion> {
        self.apply(plain, &mut Report::default()).ok()
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
        let mut rotations = Vec::with_capacity(clip.all_rotations().len());
        let mut translations = Vec::with_capacity(clip.frames() * moving.len());
        let mut model = vec![Quat::identity(); joints];
        let mut mirrored = model.clone();
        for frame in 0..clip.frames() {
            self.rotations(clip.rotations(frame), &mut model, &mut mirrored);
            let local = |(j, parent): (usize, &Option<JointId>)| {
                let q = parent.map_or(mirrored[j], |p| mirrored[p.index()].inverse() * mirrored[j]);
                Quat::new_normalize(q.into_inner())
            };
            rotations.extend(self.parents.iter().enumerate().map(local));
            let old = clip.translations(frame);
            translations
                .extend(moving.iter().map(|(_, s, track)| s.rest + s.matrix * (old[*track] - s.source_rest)));
        }
        let translated = moving.iter().map(|(j, _, _)| JointId::new(*j)).collect();
        let mut new =
            Clip::new(clip.name.clone(), clip.sample_rate, joints, rotations, translated, translations);
        (new.start, new.tolerance) = (clip.start, clip.tolerance);
        if let Some(first) = clip.property_tracks.first() {
            let message = "morph weights and nodes other than joints are not mirrored and are omitted";
            report.warnings.add("carried-dropped", message, format!("the node {}", first.node));
        }
        fix_hemispheres(&mut new);
        let contacts = motion.contacts.map(|c| c.mirrored());
        Ok(Motion { clip: new, contacts, ..motion })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{run, walk, walker};
    use super::*;
    use crate::math::Transform;
    use crate::model::Joint;

    #[test]
    fn mirrored_twice_is_the_motion() {
        for root in [true, false] {
            let motion = walk(25, root);
            let once = run(&MirrorConfig::default(), motion.clone()).unwrap();
            let twice = run(&MirrorConfig::default(), once).unwrap();
            assert_eq!(twice.clip.translated(), motion.clip.translated());
            for (a, b) in twice.clip.all_rotations().iter().zip(motion.clip.all_rotations()) {
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

    #[test]
    fn sides_are_found_in_names() {
        let names = [
            "root",
            "Arm.L",
            "Arm.R",
            "leg_l",
            "leg_r",
            "lThumb",
            "rThumb",
            "x:LeftToe",
            "x:RightToe",
            "upright",
            "tail",
        ];
        let parent = |i: usize| (i > 0).then(|| JointId::new(0));
        let joint = |(i, name): (usize, &&str)| Joint::new(*name, parent(i), Transform::identity());
        let skeleton = Skeleton::new(names.iter().enumerate().map(joint).collect()).unwrap();
        let rig = Rig::new(skeleton, []);
        let found: Vec<usize> = partners(&rig).into_iter().map(JointId::index).collect();
        assert_eq!(found, [0, 2, 1, 4, 3, 6, 5, 8, 7, 9, 10]);
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
