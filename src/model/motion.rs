//! A character with a clip, passed from stage to stage, and the check of its invariants.

use super::{Character, Clip, Contacts, FARTHEST, JointId, ModelPose, Pose, PropertyTrack};
use crate::math::Quat;
use crate::parallel;
use std::ops::Range;
use std::sync::Arc;

/// A character and a clip that plays on it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// The animated character.
    pub character: Arc<Character>,
    /// The animation.
    pub clip: Clip,
    /// Contact labels, once they are known.
    pub contacts: Option<Contacts>,
}

/// A violated invariant of the normal form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The clip and the skeleton differ in the number of joints.
    #[error("the clip has {found} joints, the skeleton {expected}")]
    JointCount {
        /// Joints of the skeleton.
        expected: usize,
        /// Joints of the clip.
        found: usize,
    },
    /// The sample rate is not a positive number, or the start time not a finite one.
    #[error("sample rate {rate} Hz from {start} s")]
    Rate {
        /// Frames per second.
        rate: f64,
        /// The time of the first frame.
        start: f64,
    },
    /// A rotation that is not a finite unit quaternion.
    #[error("frame {frame}, joint `{joint}`: the rotation is not a unit quaternion")]
    Rotation {
        /// The frame.
        frame: usize,
        /// The joint's name.
        joint: String,
    },
    /// Two consecutive rotations in opposite hemispheres: interpolation would take the long arc.
    #[error("frame {frame}, joint `{joint}`: the quaternion flips its sign")]
    Hemisphere {
        /// The later frame.
        frame: usize,
        /// The joint's name.
        joint: String,
    },
    /// A translation that is not finite, or farther than any body is.
    #[error("frame {frame}, joint `{joint}`: the translation is not finite, or above {FARTHEST:e} m")]
    Translation {
        /// The frame.
        frame: usize,
        /// The joint's name.
        joint: String,
    },
    /// A property track with another number of frames than the clip, or with non-finite numbers.
    #[error("the property track of the node `{node}` does not match the clip")]
    PropertyTrack {
        /// The name of the node.
        node: String,
    },
    /// A contact that ends after the last frame.
    #[error("a contact ends before frame {found}, the clip has {expected} frames")]
    Contacts {
        /// Frames of the clip.
        expected: usize,
        /// Where the contact ends.
        found: usize,
    },
    /// A mesh with inconsistent lists or an index out of range.
    #[error("mesh `{mesh}`: {reason}")]
    Mesh {
        /// The mesh's name.
        mesh: String,
        /// The inconsistency.
        reason: &'static str,
    },
    /// A pose or the document has another number of joints than the skeleton.
    #[error("the {what} has {found} joints, the skeleton {expected}")]
    Character {
        /// The bind pose, the reference pose or the document.
        what: &'static str,
        /// Joints of the skeleton.
        expected: usize,
        /// Joints found.
        found: usize,
    },
}

impl Motion {
    /// A motion without contact labels.
    pub fn new(character: Arc<Character>, clip: Clip) -> Self {
        Self { character, clip, contacts: None }
    }

    /// The pose of every frame.
    pub fn poses(&self) -> Vec<Pose> {
        let skeleton = self.character.skeleton();
        parallel::map(self.clip.frames(), 1, |f| self.clip.pose(skeleton, f))
    }

    /// The joints of one frame in model space.
    pub fn model_pose(&self, frame: usize) -> ModelPose {
        let skeleton = self.character.skeleton();
        ModelPose::of(skeleton, &self.clip.pose(skeleton, frame))
    }

    /// A range of frames with their contact labels; its start time is that of the whole clip.
    ///
    /// # Panics
    /// If the range exceeds the clip.
    pub fn part(&self, frames: Range<usize>) -> Motion {
        let (start, end) = (frames.start, frames.end);
        let inside = |f: usize| f.clamp(start, end) - start;
        let contacts = self.contacts.as_ref().map(|c| c.changed(inside, |height| height));
        Motion { character: Arc::clone(&self.character), clip: self.clip.part(frames), contacts }
    }

    /// Checks every invariant of the normal form; run by tests and, in debug builds, after every stage.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check(&self) -> Result<(), Fault> {
        self.character.check()?;
        let skeleton = self.character.skeleton();
        let clip = &self.clip;
        let name = |id: usize| skeleton.joint(JointId::new(id)).name.clone();
        if clip.joints() != skeleton.len() {
            return Err(Fault::JointCount { expected: skeleton.len(), found: clip.joints() });
        }
        if !(clip.sample_rate > 0.0 && clip.sample_rate.is_finite() && clip.start.is_finite()) {
            return Err(Fault::Rate { rate: clip.sample_rate, start: clip.start });
        }
        let fits = |c: &&PropertyTrack| {
            c.width > 0 && c.values.len() == c.width * clip.frames() && c.values.iter().all(|x| x.is_finite())
        };
        if let Some(track) = clip.property_tracks.iter().find(|c| !fits(c)) {
            return Err(Fault::PropertyTrack { node: track.node.clone() });
        }
        let found = self.contacts.as_ref().map_or(0, Contacts::end);
        if found > clip.frames() {
            return Err(Fault::Contacts { expected: clip.frames(), found });
        }
        let unit = |q: &Quat| (q.norm() - 1.0).abs() < 1e-6;
        let of_frame = |frame: usize| {
            if let Some(k) = clip.rotations(frame).iter().position(|q| !unit(q)) {
                return Some(Fault::Rotation { frame, joint: name(k) });
            }
            if let Some(k) =
                clip.translations(frame).iter().position(|v| !v.iter().all(|x| x.abs() <= FARTHEST))
            {
                return Some(Fault::Translation { frame, joint: name(clip.translated()[k].index()) });
            }
            let before = clip.rotations(frame.checked_sub(1)?);
            let flips = |(a, b): (&Quat, &Quat)| a.coords.dot(&b.coords) < -1e-9;
            let k = clip.rotations(frame).iter().zip(before.iter()).position(flips)?;
            Some(Fault::Hemisphere { frame, joint: name(k) })
        };
        /// Frames per block.
        const BLOCK: usize = 64;
        let of_block =
            |block: usize| (block * BLOCK..clip.frames().min((block + 1) * BLOCK)).find_map(of_frame);
        let faults = parallel::map(clip.frames().div_ceil(BLOCK), 1, of_block);
        faults.into_iter().flatten().next().map_or(Ok(()), Err)
    }
}

impl Character {
    /// Checks that the bind pose, the reference pose, the document and the meshes match the skeleton.
    ///
    /// # Errors
    /// The first [`Fault`].
    pub fn check(&self) -> Result<(), Fault> {
        let expected = self.skeleton().len();
        let counts = [
            ("bind pose", self.bind.as_ref().map(|b| b.joints().len())),
            ("reference pose", self.calibration.as_ref().map(|c| c.pose.joints().len())),
            ("document", self.document.as_ref().map(|d| d.nodes.len())),
        ];
        for (what, found) in counts {
            if let Some(found) = found.filter(|&n| n != expected) {
                return Err(Fault::Character { what, expected, found });
            }
        }
        for mesh in &self.meshes {
            let fault = |reason| Err(Fault::Mesh { mesh: mesh.name.clone(), reason });
            let n = mesh.positions.len();
            let optional = [mesh.normals.len(), mesh.texcoords.len(), mesh.colors.len()];
            let whole = mesh
                .further_texcoords
                .iter()
                .map(Vec::len)
                .chain(mesh.morphs.iter().map(|m| m.offsets.len()));
            let whole = whole.chain([mesh.joints.len(), mesh.weights.len()]).all(|k| k == n);
            if !whole || optional.iter().any(|&k| k != 0 && k != n) {
                return fault("its vertex lists differ in length");
            }
            if mesh.triangles.iter().flatten().any(|&i| i as usize >= n) {
                return fault("a triangle names a vertex that is not there");
            }
            let further = mesh.further_influences.iter();
            if further.clone().any(|f| f.vertex as usize >= n) {
                return fault("a weight names a vertex that is not there");
            }
            let mut named = mesh.joints.iter().flatten().copied().chain(further.map(|f| f.binding));
            if named.any(|i| usize::from(i) >= mesh.bindings.len()) {
                return fault("a vertex names a binding that is not there");
            }
            if mesh.bindings.iter().any(|b| b.joint.index() >= expected) {
                return fault("a binding names a joint that is not there");
            }
            let sums = |w: &[f32; 4]| (w.iter().sum::<f32>() - 1.0).abs() <= 1e-4;
            if !mesh.weights.iter().all(sums) {
                return fault("the weights of a vertex do not sum to 1");
            }
            if !mesh.positions.iter().flatten().all(|x| x.is_finite()) {
                return fault("a position is not finite");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, Vec3};
    use crate::model::{
        AnimatedProperty, Binding, ContactPart, FurtherInfluence, Hold, Joint, Mesh, MorphTarget, Rig,
        Skeleton,
    };

    /// Two joints and two frames, in the normal form.
    fn motion() -> Motion {
        let joints = vec![
            Joint::new("a", None, Transform::identity()),
            Joint::new("b", Some(JointId::new(0)), Transform::identity()),
        ];
        let rig = Rig::new(Skeleton::new(joints).unwrap(), Vec::new());
        let clip =
            Clip::new("c", 30.0, 2, vec![Quat::identity(); 4], vec![JointId::new(0)], vec![Vec3::zeros(); 2]);
        Motion::new(Arc::new(Character::new("h", rig)), clip)
    }

    /// The same with other rotations and translations.
    fn with(rotations: Vec<Quat>, x: f64) -> Motion {
        let translations = vec![Vec3::new(x, 0.0, 0.0); 2];
        Motion { clip: Clip::new("c", 30.0, 2, rotations, vec![JointId::new(0)], translations), ..motion() }
    }

    fn message(motion: &Motion) -> String {
        motion.check().unwrap_err().to_string()
    }

    #[test]
    fn every_fault_of_a_clip_names_the_frame_and_the_joint() {
        assert_eq!(motion().check(), Ok(()));
        let one = Clip::new("c", 30.0, 1, vec![Quat::identity()], Vec::new(), Vec::new());
        assert_eq!(message(&Motion { clip: one, ..motion() }), "the clip has 1 joints, the skeleton 2");
        let mut still = motion();
        still.clip.sample_rate = 0.0;
        assert_eq!(message(&still), "sample rate 0 Hz from 0 s");
        let one = Quat::identity();
        let long = Quat::new_unchecked(one.into_inner() * 2.0);
        let minus = Quat::new_unchecked(-one.into_inner());
        let fault = message(&with(vec![one, one, one, long], 0.0));
        assert_eq!(fault, "frame 1, joint `b`: the rotation is not a unit quaternion");
        let fault = message(&with(vec![one, one, one, minus], 0.0));
        assert_eq!(fault, "frame 1, joint `b`: the quaternion flips its sign");
        let fault = message(&with(vec![one; 4], f64::INFINITY));
        assert_eq!(fault, "frame 0, joint `a`: the translation is not finite, or above 1e12 m");
        let mut tracked = motion();
        tracked.clip.property_tracks.push(PropertyTrack {
            node: "lamp".into(),
            property: AnimatedProperty::Weights,
            width: 1,
            values: vec![0.0; 3],
        });
        assert_eq!(message(&tracked), "the property track of the node `lamp` does not match the clip");
        let mut held = motion();
        let mut contacts = Contacts::new(0.0, [ContactPart::Pelvis]);
        contacts.set(ContactPart::Pelvis, vec![Hold { frames: 0..3, height: 0.0, slide: 0.0 }]);
        held.contacts = Some(contacts);
        assert_eq!(message(&held), "a contact ends before frame 3, the clip has 2 frames");
    }

    #[test]
    fn every_fault_of_a_character_names_the_pose_or_the_mesh() {
        let changed = |change: &dyn Fn(&mut Character)| {
            let mut character = (*motion().character).clone();
            change(&mut character);
            character.check().unwrap_err().to_string()
        };
        let short = changed(&|c| c.bind = Some(ModelPose::new(vec![Transform::identity()])));
        assert_eq!(short, "the bind pose has 1 joints, the skeleton 2");
        let mesh = || Mesh {
            name: "skin".into(),
            positions: vec![[0.0; 3]; 3],
            joints: vec![[0; 4]; 3],
            weights: vec![[1.0, 0.0, 0.0, 0.0]; 3],
            triangles: vec![[0, 1, 2]],
            bindings: vec![Binding {
                joint: JointId::new(1),
                joint_from_mesh: crate::math::Mat4::identity(),
            }],
            ..Mesh::default()
        };
        let of_mesh = |change: &dyn Fn(&mut Mesh)| {
            let mut mesh = mesh();
            change(&mut mesh);
            changed(&|c| c.meshes.push(mesh.clone()))
        };
        type Damage<'a> = &'a dyn Fn(&mut Mesh);
        let further = |vertex, binding| vec![FurtherInfluence { vertex, binding, weight: 0.1 }];
        let faults: [(Damage, &str); 10] = [
            (&|m| m.further_texcoords.push(vec![[0.0; 2]]), "its vertex lists differ in length"),
            (&|m| m.morphs.push(MorphTarget::default()), "its vertex lists differ in length"),
            (&|m| m.further_influences = further(3, 0), "a weight names a vertex that is not there"),
            (&|m| m.further_influences = further(0, 1), "a vertex names a binding that is not there"),
            (&|m| m.weights.truncate(2), "its vertex lists differ in length"),
            (&|m| m.triangles[0][1] = 3, "a triangle names a vertex that is not there"),
            (&|m| m.joints[2][3] = 1, "a vertex names a binding that is not there"),
            (&|m| m.bindings[0].joint = JointId::new(2), "a binding names a joint that is not there"),
            (&|m| m.weights[0][0] = 0.5, "the weights of a vertex do not sum to 1"),
            (&|m| m.positions[0][0] = f32::NAN, "a position is not finite"),
        ];
        for (change, reason) in faults {
            assert_eq!(of_mesh(change), format!("mesh `skin`: {reason}"));
        }
    }
}
