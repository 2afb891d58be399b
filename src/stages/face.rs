//! Stage `face`, and the retargeting of takes that are faces only ([`FaceRetarget`]). Units: seconds.

use super::mirror::mirrored_tracks;
use super::{RetargetConfig, Setting, Stage, StageConfig, StageError};
use crate::import::{self, ImportOptions};
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{AnimatedProperty, Character, Clip, Contacts, Motion, PropertyTrack};
use crate::report::{Report, Shown, TakeChange, cut_at_start};
use crate::retarget::{listed_targets, lost_weights, shares_targets, transferred};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The code of the warning about weights without a morph target.
const LOST: &str = "face-weights";

/// Adds a face take, recorded together with the body, to the motion: weights of morph targets, by their names.
///
/// Place it after `retarget`. The weights are interpolated linearly at the frames of the motion; before the face take begins and after
/// it ends its first and last weights hold. After `mirror` they are mirrored as well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FaceConfig {
    /// The face take, relative to the pipeline file: `.csv` of Live Link Face, JSON of weights, or any file with animated morph
    /// targets. Omitted: nothing is added.
    pub file: String,
    /// Start of the face take, in seconds from the first frame of the untrimmed body take; may be negative.
    pub offset_s: f64,
}

impl StageConfig for FaceConfig {
    const NAME: &'static str = "face";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let fault =
            || StageError::key("offset_s", format!("`offset_s` is {}, allowed is a number", self.offset_s));
        if self.offset_s.is_finite() { Ok(()) } else { Err(vec![fault()]) }
    }

    fn files(&self) -> Vec<PathBuf> {
        if self.file.is_empty() { Vec::new() } else { vec![PathBuf::from(&self.file)] }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        if self.file.is_empty() {
            return Ok(Box::new(Face::default()));
        }
        let path = setting.folder.join(&self.file);
        let fault = |message: String| StageError::key("file", format!("`{}`: {message}", path.shown()));
        let mut take =
            import::load(&path, &ImportOptions::default()).map_err(|error| fault(error.to_string()))?;
        let clip = (take.meant < take.clips.len()).then(|| take.clips.swap_remove(take.meant));
        let is_weights = |t: &PropertyTrack| t.property == AnimatedProperty::Weights;
        let clip = clip.filter(|clip| clip.property_tracks.iter().any(is_weights));
        let Some(clip) = clip else { return Err(fault("it has no animation of morph targets".to_owned())) };
        let hero = &setting.arriving;
        let mut tracks = transferred(&clip.property_tracks, &take.character, hero);
        tracks.retain(|t| {
            is_weights(t) && hero.meshes.iter().any(|m| m.node == t.node && m.morphs.len() == t.width)
        });
        if tracks.is_empty() {
            let has = listed_targets(hero);
            return Err(fault(format!("none of its morph targets is one of the character, which has {has}")));
        }
        let lost = lost_weights(&clip.property_tracks, &take.character, hero);
        Ok(Box::new(Face { tracks, rate: clip.sample_rate, offset: self.offset_s, lost }))
    }
}

/// The resolved stage.
#[derive(Debug, Default)]
struct Face {
    /// For the nodes of the character.
    tracks: Vec<PropertyTrack>,
    /// Frames of the tracks per second.
    rate: f64,
    offset: f64,
    /// What is said of weights that the character has no morph targets for.
    lost: Option<String>,
}

impl Stage for Face {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let (frames, rate) = (motion.clip.frames(), motion.clip.sample_rate);
        if self.tracks.is_empty() {
            let message =
                "`face` has no file and adds nothing\n  hint: name it: `--set stage.face.file=face.csv`";
            report.warnings.add("face-no-file", message, motion.clip.name.as_str());
            return Ok(motion);
        }
        if let Some(lost) = &self.lost {
            report.warnings.add(LOST, lost.as_str(), motion.clip.name.as_str());
        }
        let offset = self.offset - cut_at_start(&report.take_changes);
        let played = |track: &PropertyTrack| {
            let last = (track.values.len() / track.width).saturating_sub(1) as f64;
            let at = |frame: usize| ((frame as f64 / rate - offset) * self.rate).clamp(0.0, last);
            track.between((0..frames).map(at))
        };
        let mut tracks: Vec<PropertyTrack> = self.tracks.iter().map(played).collect();
        let mirrored = report.take_changes.iter().filter(|change| **change == TakeChange::Mirrored);
        if mirrored.count() % 2 == 1 {
            tracks = mirrored_tracks(&tracks, &motion.character, &mut report.warnings);
        }
        let own = &mut motion.clip.property_tracks;
        own.retain(|t| !tracks.iter().any(|new| (&new.node, new.property) == (&t.node, t.property)));
        own.extend(tracks);
        Ok(motion)
    }
}

/// Plays a take of a face alone on a character, which stays in its rest pose: what `retarget` does where there is no body to
/// transfer.
#[derive(Debug)]
pub(super) struct FaceRetarget {
    pub(super) target: Arc<Character>,
}

impl FaceRetarget {
    /// Whether `source` is no body and has morph targets of `target`.
    pub(super) fn fits(source: &Character, target: &Character) -> bool {
        source.rig.assignments().next().is_none() && shares_targets(source, target)
    }
}

impl Stage for FaceRetarget {
    fn leaving(&self, _: &Arc<Character>) -> Arc<Character> {
        Arc::clone(&self.target)
    }

    fn direct_transfer(&self, motion: &Motion) -> Option<Motion> {
        let (clip, skeleton) = (&motion.clip, self.target.skeleton());
        let rest: Vec<_> = skeleton.joints().iter().map(|joint| joint.rest.rotation).collect();
        let rotations = rest.repeat(clip.frames());
        let mut played =
            Clip::new(clip.name.clone(), clip.sample_rate, skeleton.len(), rotations, Vec::new(), Vec::new());
        (played.start, played.tolerance) = (clip.start, clip.tolerance);
        played.property_tracks = transferred(&clip.property_tracks, &motion.character, &self.target);
        let contacts = motion.contacts.as_ref().map(|_| Contacts::new(0.0, []));
        Some(Motion { character: Arc::clone(&self.target), clip: played, contacts })
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        if let Some(lost) = lost_weights(&motion.clip.property_tracks, &motion.character, &self.target) {
            report.warnings.add(LOST, lost, motion.clip.name.as_str());
        }
        // There is no body to compare.
        let names = AGAINST_THE_TAKE.iter().map(|name| (*name).to_owned()).collect();
        report.not_judged.insert(RetargetConfig::NAME.to_owned(), names);
        Ok(self.direct_transfer(&motion).unwrap_or(motion))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;
    use crate::model::{Mesh, MorphTarget};

    /// A walker with a face of two morph targets, and a table of the weights of one of them.
    fn scene(frames: usize) -> (Motion, tempfile::TempDir) {
        let mut motion = walker(frames);
        let mut hero = (*motion.character).clone();
        let morph = |name: &str| MorphTarget { name: name.into(), ..MorphTarget::default() };
        let morphs = vec![morph("Head.jaw_open"), morph("smirk")];
        hero.meshes = vec![Mesh { name: "Head".into(), node: "Head".into(), morphs, ..Mesh::default() }];
        motion.character = Arc::new(hero);
        let folder = tempfile::tempdir().unwrap();
        // Rises by 0.1 a frame at 10 Hz.
        let rows: String =
            (0..5).map(|k| format!("{},{},0,0\n", f64::from(k) / 10.0, f64::from(k) / 10.0)).collect();
        std::fs::write(folder.path().join("face.csv"), format!("time,JawOpen,mouthClose,cheekPuff\n{rows}"))
            .unwrap();
        (motion, folder)
    }

    fn config(folder: &tempfile::TempDir, offset_s: f64) -> FaceConfig {
        FaceConfig { file: folder.path().join("face.csv").to_str().unwrap().into(), offset_s }
    }

    #[test]
    fn weights_are_at_their_times_and_hold_before_and_after() {
        let (motion, folder) = scene(31);
        let rate = motion.clip.sample_rate;
        for offset in [0.0, 0.25, -0.1] {
            let joined = run(&config(&folder, offset), motion.clone()).unwrap();
            joined.check().unwrap();
            assert_eq!(joined.clip.all_rotations(), motion.clip.all_rotations());
            let [track] = joined.clip.property_tracks.as_slice() else { panic!("one mesh has targets") };
            for frame in 0..31 {
                let expected = (frame as f64 / rate - offset).clamp(0.0, 0.4);
                let [jaw, smirk] = track.frame(frame) else { panic!("two targets") };
                assert!((f64::from(*jaw) - expected).abs() < 1e-6, "{offset} {frame}: {jaw} {expected}");
                assert_eq!(*smirk, 0.0, "the take does not have it");
            }
            // The same stage again replaces its weights.
            assert_eq!(run(&config(&folder, offset), joined.clone()).unwrap(), joined);
        }
    }

    #[test]
    fn a_face_stays_with_its_body_when_the_beginning_is_cut() {
        let (motion, folder) = scene(31);
        let rate = motion.clip.sample_rate;
        let whole = run(&config(&folder, 0.05), motion.clone()).unwrap();
        let cut = 6;
        let setting = Setting::new(Arc::clone(&motion.character), "");
        let stage = config(&folder, 0.05).resolve(&setting).unwrap();
        let part = TakeChange::Part { from_s: cut as f64 / rate, to_s: None };
        let mut report = Report { take_changes: vec![part], ..Report::default() };
        let joined = stage.apply(motion.part(cut..31), &mut report).unwrap();
        let [later, first] = [&joined, &whole].map(|motion| &motion.clip.property_tracks[0]);
        for frame in 0..31 - cut {
            let pairs = later.frame(frame).iter().zip(first.frame(frame + cut));
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{frame}: {a} {b}"));
        }
        assert!(later.frame(3) != first.frame(3), "the weights change over time");
    }

    #[test]
    fn a_face_is_mirrored_with_its_body() {
        let (mut motion, folder) = scene(3);
        let mut hero = (*motion.character).clone();
        let morph = |name: &str| MorphTarget { name: name.into(), ..MorphTarget::default() };
        hero.meshes[0].morphs = vec![morph("eyeBlinkLeft"), morph("eyeBlinkRight")];
        motion.character = Arc::new(hero);
        let wink = "time,EyeBlinkLeft,EyeBlinkRight,JawOpen\n0,1,0,0\n0.4,1,0,0\n";
        std::fs::write(folder.path().join("face.csv"), wink).unwrap();
        let stage = config(&folder, 0.0).resolve(&Setting::new(Arc::clone(&motion.character), "")).unwrap();
        for (mirrored, weights) in [(0, [1.0, 0.0]), (1, [0.0, 1.0]), (2, [1.0, 0.0])] {
            let mut report =
                Report { take_changes: vec![TakeChange::Mirrored; mirrored], ..Report::default() };
            let joined = stage.apply(motion.clone(), &mut report).unwrap();
            assert_eq!(joined.clip.property_tracks[0].frame(1), weights, "mirrored {mirrored} times");
        }
    }

    #[test]
    fn a_face_alone_plays_on_a_character_at_rest() {
        let (motion, folder) = scene(1);
        let hero = motion.character;
        let take = import::load(folder.path().join("face.csv"), &ImportOptions::default()).unwrap();
        let face = take.motion(0).unwrap();
        let mut setting = Setting::new(Arc::clone(&face.character), "");
        setting.target = Some(Arc::clone(&hero));
        let stage = RetargetConfig::default().resolve(&setting).unwrap();
        let played = stage.apply(face, &mut Report::default()).unwrap();
        played.check().unwrap();
        assert!(Arc::ptr_eq(&played.character, &hero) && played.clip.frames() == 5);
        for frame in 0..5 {
            assert_eq!(played.clip.pose(hero.skeleton(), frame), hero.skeleton().rest_pose());
            let weights = played.clip.property_tracks[0].frame(frame);
            assert!((weights[0] - 0.1 * frame as f32).abs() < 1e-6 && weights[1] == 0.0, "{weights:?}");
        }
    }

    #[test]
    fn what_cannot_be_joined_is_told() {
        let (motion, folder) = scene(3);
        let mut faceless = (*motion.character).clone();
        faceless.meshes.clear();
        let error =
            run(&config(&folder, 0.0), Motion { character: Arc::new(faceless), ..motion }).unwrap_err();
        assert!(error.to_string().ends_with("which has no morph targets"), "{error}");
        let mut report = Report::default();
        let setting = Setting::new(Arc::clone(&walker(3).character), "");
        let without_file = FaceConfig::default().resolve(&setting).unwrap();
        assert_eq!(without_file.apply(walker(3), &mut report).unwrap(), walker(3));
        assert!(report.warnings.has("face-no-file"), "{:?}", report.warnings);
        let endless = FaceConfig { offset_s: f64::NAN, ..config(&folder, 0.0) };
        assert_eq!(endless.validate().unwrap_err()[0].key, Some("offset_s"));
    }
}
