//! Stage `contacts`: labels which parts of the body are in contact with something, and when.
//!
//! The labels are part of the motion; later stages keep them up to date. They describe the performance, so the stage belongs
//! before `retarget`; after it the labels are those of the result, including its errors.
//! Units: metres, metres per second, seconds.

use super::stage::KeyFaults;
use super::{Setting, Stage, StageConfig, StageError};
use crate::contacts::{self, ContactOptions, Detector, Labels};
use crate::legs::{Timeline, with_slides};
use crate::model::{ContactPart, Contacts, Motion};
use crate::regular_file::read_text;
use crate::report::{Report, Shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Detects when heels, balls, hands, elbows, knees, pelvis and head are in contact with the ground, or reads it from a file.
///
/// Place it before `retarget`: contacts belong to the performer. After `retarget`, they are detected on the result.
/// Lengths and speeds are for a body with legs of 0.9 m and scale with the leg length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContactsConfig {
    /// Detection method: `hysteresis` (on and off thresholds for height and speed) or `hmm` (a two-state hidden Markov
    /// model fitted to the clip).
    pub detector: DetectorWord,
    /// CSV file of labels to use instead of detection, relative to the pipeline file: a column `frame` and a column of 0
    /// and 1 for each part, such as `left_heel`. Frames count from 0 in the clip as it reaches this stage, after `trim` and
    /// `resample`. Omitted: contacts are detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The parts to label: `left_heel`, `left_ball`, `left_hand`, `left_elbow`, `left_knee`, the same of the right,
    /// `pelvis`, `head`. Omitted: all of them.
    pub parts: Vec<String>,
    /// Height of the ground in metres. Omitted: estimated from the clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ground_m: Option<f64>,
    /// A contact starts below this height, in metres. Omitted: fitted to the clip, 0.025 to 0.035, twice that for parts
    /// other than feet. Larger values also find feet that float, but make contacts too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height_on_m: Option<f64>,
    /// A contact ends above this height, in metres. Omitted: 0.02 above `height_on_m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub height_off_m: Option<f64>,
    /// A contact starts below this speed, in metres per second. Omitted: fitted to the clip, 0.1 to 0.3. Larger values
    /// also find feet that slide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub speed_on_m_s: Option<f64>,
    /// A contact ends above this speed, in metres per second. Omitted: twice `speed_on_m_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub speed_off_m_s: Option<f64>,
    /// Shortest contact, and shortest gap between contacts, in seconds; shorter ones are removed as noise.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shortest_s: f64,
}

impl Default for ContactsConfig {
    fn default() -> Self {
        Self {
            detector: DetectorWord::default(),
            file: None,
            parts: Vec::new(),
            ground_m: None,
            height_on_m: None,
            height_off_m: None,
            speed_on_m_s: None,
            speed_off_m_s: None,
            shortest_s: ContactOptions::default().shortest,
        }
    }
}

/// The detection method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DetectorWord {
    /// On and off thresholds for height and speed.
    #[default]
    Hysteresis,
    /// A two-state hidden Markov model.
    Hmm,
}

impl ContactsConfig {
    fn named_parts(&self) -> Result<Vec<ContactPart>, StageError> {
        let part = |name: &String| match name.parse() {
            Ok(ContactPart::Toe(_)) | Err(_) => {
                let known = ContactPart::ALL.iter().filter(|p| !matches!(p, ContactPart::Toe(_)));
                let known = known.map(|p| format!("`{p}`")).collect::<Vec<_>>().join(", ");
                Err(StageError::key(
                    "parts",
                    format!("`{name}` is not a part with contacts\n  hint: name one of {known}"),
                ))
            }
            Ok(part) => Ok(part),
        };
        self.parts.iter().map(part).collect()
    }
}

impl StageConfig for ContactsConfig {
    const NAME: &'static str = "contacts";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults(self.named_parts().err().into_iter().collect());
        let mut positive = |key, value: Option<f64>| faults.above_0(key, value.unwrap_or(1.0));
        positive("height_on_m", self.height_on_m);
        positive("height_off_m", self.height_off_m);
        positive("speed_on_m_s", self.speed_on_m_s);
        positive("speed_off_m_s", self.speed_off_m_s);
        positive("shortest_s", Some(self.shortest_s));
        faults.finite("ground_m", self.ground_m);
        let pairs = [
            ("height_off_m", self.height_on_m, self.height_off_m),
            ("speed_off_m_s", self.speed_on_m_s, self.speed_off_m_s),
        ];
        for (key, on, off) in pairs {
            if let (Some(on), Some(off)) = (on, off)
                && off < on
            {
                faults.need(false, key, format!("`{key}` is {off}, below {on} where a contact begins"));
            }
        }
        faults.found()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.iter().cloned().collect()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let options = ContactOptions {
            detector: match self.detector {
                DetectorWord::Hysteresis => Detector::Hysteresis,
                DetectorWord::Hmm => Detector::Hmm,
            },
            parts: self.named_parts()?,
            ground: self.ground_m,
            height_on: self.height_on_m,
            height_off: self.height_off_m,
            speed_on: self.speed_on_m_s,
            speed_off: self.speed_off_m_s,
            shortest: self.shortest_s,
        };
        let labels = self.file.as_ref().map(|file| {
            let path = setting.folder.join(file);
            let fault = |why: String| StageError::key("file", format!("`{}`: {why}", file.shown()));
            let text = read_text(&path).map_err(|error| fault(error.to_string()))?;
            contacts::read(&text).map_err(|error| fault(error.to_string()))
        });
        Ok(Box::new(ContactsStage { options, labels: labels.transpose()? }))
    }
}

#[derive(Debug)]
struct ContactsStage {
    options: ContactOptions,
    labels: Option<Labels>,
}

impl Stage for ContactsStage {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let found = match &self.labels {
            None => {
                let found = contacts::detect(&motion, &self.options);
                with_slides(&motion, found.sliding(|_, _| f64::INFINITY), &Timeline::of(&motion))
            }
            Some(labels) => {
                let (end, frames) = (labels.contacts.end(), motion.clip.frames());
                if end > frames {
                    return Err(StageError::key(
                        "file",
                        format!("a contact in frame {}, the clip has {frames} frames", end - 1),
                    ));
                }
                let last = labels.first + labels.frames;
                if labels.first > 0 || last < frames {
                    let message = match labels.frames {
                        0 => "the table of labels has no frames: nothing is in contact".to_owned(),
                        _ => format!(
                            "the table of labels has the frames {} to {}, the clip has 0 to {}: the others have no contact",
                            labels.first,
                            last - 1,
                            frames.saturating_sub(1)
                        ),
                    };
                    report.warnings.add("contacts-table", message, motion.clip.name.clone());
                }
                labels.on(&motion, self.options.ground)
            }
        };
        let steps = |part: ContactPart| part.of_foot() && !found.holds(part).is_empty();
        if found.parts().any(ContactPart::of_foot)
            && motion.clip.duration() > 1.0
            && !found.parts().any(steps)
        {
            let message = "no foot has a contact: the take is a walk on a treadmill, or its feet slide";
            report.warnings.add("contacts", message, motion.clip.name.clone());
        }
        report_contacts(&found, motion.clip.frames(), report);
        motion.contacts = Some(found);
        Ok(motion)
    }
}

/// Reports the ground height, and for feet and every other part with contacts the share of frames and the number of holds.
fn report_contacts(contacts: &Contacts, frames: usize, report: &mut Report) {
    report.measure("contacts_ground", contacts.ground, "m");
    for part in contacts.parts() {
        let holds = contacts.holds(part);
        if part.of_foot() || !holds.is_empty() {
            let resting: usize = holds.iter().map(|h| h.frames.len()).sum();
            report.measure(format!("contacts_{part}_share"), resting as f64 / frames.max(1) as f64, "1");
            report.measure(format!("contacts_{part}_holds"), holds.len() as f64, "1");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;
    use crate::math::Vec3;

    #[test]
    fn labels_of_any_length_keep_the_promises() {
        for frames in [0, 1, 2, 3, 5, 40] {
            let motion = run(&ContactsConfig::default(), walker(frames)).unwrap();
            assert!(motion.contacts.is_some());
        }
    }

    #[test]
    fn a_body_that_stands_before_and_behind_a_cut_rests_up_to_it() {
        let mut motion = walker(40);
        let still = motion.clip.rotations(0).to_vec();
        let place = motion.clip.translations(0)[0];
        for frame in 0..40 {
            motion.clip.rotations_mut(frame).copy_from_slice(&still);
            let aside = if frame < 20 { Vec3::zeros() } else { Vec3::new(2.0, 0.0, 0.5) };
            motion.clip.translations_mut(frame).fill(place + aside);
        }
        let contacts = run(&ContactsConfig::default(), motion).unwrap().contacts.unwrap();
        let spans = |part| contacts.holds(part).iter().map(|h| h.frames.clone()).collect::<Vec<_>>();
        let resting: Vec<_> = contacts.parts().map(spans).filter(|s| !s.is_empty()).collect();
        assert!(!resting.is_empty() && resting.iter().all(|s| *s == [0..20, 20..40]), "{resting:?}");
    }

    #[test]
    fn a_file_is_read_and_its_faults_are_the_key_s() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("labels.csv");
        std::fs::write(&file, "frame,left_heel\n0,1\n1,1\n2,0\n").unwrap();
        let config = ContactsConfig { file: Some(file.clone()), ground_m: Some(0.25), ..Default::default() };
        let contacts = run(&config, walker(5)).unwrap().contacts.unwrap();
        let heel = "left_heel".parse().unwrap();
        assert_eq!((contacts.ground, contacts.holds(heel)[0].frames.clone()), (0.25, 0..2));
        let error = run(&config, walker(1)).unwrap_err();
        assert_eq!(error.to_string(), "a contact in frame 1, the clip has 1 frames");
        std::fs::write(&file, "frame,left_heel\n0,2\n").unwrap();
        let error = run(&config, walker(5)).unwrap_err();
        assert!(error.to_string().ends_with("line 2, column `left_heel`: `2` is not 0 or 1"), "{error}");
    }

    #[test]
    fn a_table_that_ends_early_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("labels.csv");
        let config = ContactsConfig { file: Some(file.clone()), ..Default::default() };
        let warned = |rows: std::ops::Range<usize>| {
            let rows: Vec<String> = rows.map(|frame| format!("{frame},1\n")).collect();
            std::fs::write(&file, format!("frame,left_heel\n{}", rows.concat())).unwrap();
            let mut report = Report::default();
            let motion = walker(5);
            let setting = Setting::new(std::sync::Arc::clone(&motion.character), "");
            config.resolve(&setting).unwrap().apply(motion, &mut report).unwrap();
            report.warnings.iter().find(|w| w.code == "contacts-table").map(|w| w.message.clone())
        };
        assert_eq!(warned(0..5), None);
        assert!(warned(0..3).unwrap().contains("the frames 0 to 2, the clip has 0 to 4"));
        assert!(warned(2..5).unwrap().contains("the frames 2 to 4"));
    }

    #[test]
    fn all_faults_are_named_at_once() {
        let config = ContactsConfig {
            parts: vec!["left_heel".into(), "tail".into()],
            ground_m: Some(f64::NAN),
            height_on_m: Some(0.1),
            height_off_m: Some(0.05),
            speed_on_m_s: Some(-1.0),
            shortest_s: 0.0,
            ..ContactsConfig::default()
        };
        let keys: Vec<_> = config.validate().unwrap_err().into_iter().map(|e| e.key.unwrap()).collect();
        assert_eq!(keys, ["parts", "speed_on_m_s", "shortest_s", "ground_m", "height_off_m"]);
    }
}
