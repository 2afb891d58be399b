//! Stage `trim`: keeps a range of frames.
//!
//! Times count from the first frame of the clip, whatever its time stamp in the file; the result has the time stamp of the
//! original first frame. Units: seconds or frames.

use super::stage::{KeyFaults, idle};
use super::{Setting, Stage, StageConfig, StageError};
use crate::model::Motion;
use crate::report::{Report, TakeChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps the frames from a start to an end, both included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrimConfig {
    /// Start of the kept range, in seconds from the first frame. Omitted: the first frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub start_s: Option<f64>,
    /// End of the kept range, in seconds from the first frame. Omitted: the last frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub end_s: Option<f64>,
    /// First kept frame, counted from 0; replaces `start_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_frame: Option<usize>,
    /// Last kept frame, counted from 0; replaces `end_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_frame: Option<usize>,
}

/// Tolerance for bounds in seconds, frames: a frame this little outside a bound counts as inside. Frame times are written with
/// six digits (`0.00833333`), which puts frame 10,000 off by 0.004.
const FRAME_ROUNDING: f64 = 0.01;

impl StageConfig for TrimConfig {
    const NAME: &'static str = "trim";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults::default();
        for (key, s) in [("start_s", self.start_s), ("end_s", self.end_s)] {
            let s = s.unwrap_or_default();
            faults.need(s >= 0.0 && s.is_finite(), key, format!("`{key}` is {s}, allowed is 0 and more"));
        }
        faults.need(
            self.start_s.is_none() || self.start_frame.is_none(),
            "start_frame",
            "`start_frame` and `start_s` exclude each other\n  hint: remove one of them",
        );
        faults.need(
            self.end_s.is_none() || self.end_frame.is_none(),
            "end_frame",
            "`end_frame` and `end_s` exclude each other\n  hint: remove one of them",
        );
        if let (Some(a), Some(b)) = (self.start_s, self.end_s) {
            faults.need(
                a <= b || a.is_nan() || b.is_nan(),
                "end_s",
                format!("`end_s` is {b}, before `start_s` {a}"),
            );
        }
        if let (Some(a), Some(b)) = (self.start_frame, self.end_frame) {
            faults.need(a <= b, "end_frame", format!("`end_frame` is {b}, before `start_frame` {a}"));
        }
        faults.found()
    }

    fn resolve(&self, _setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Trim(self.clone())))
    }
}

#[derive(Debug)]
struct Trim(TrimConfig);

impl Trim {
    /// The bounds as they are written.
    fn bounds(&self) -> String {
        let bound = |frame: Option<usize>, seconds: Option<f64>| {
            frame.map(|frame| format!("frame {frame}")).or_else(|| seconds.map(|s| format!("{s} s")))
        };
        let start = bound(self.0.start_frame, self.0.start_s).unwrap_or_else(|| "the start".to_owned());
        let end = bound(self.0.end_frame, self.0.end_s).unwrap_or_else(|| "the end".to_owned());
        format!("{start} and {end}")
    }
}

impl Stage for Trim {
    fn apply_to_direct_transfer(&self, direct: Motion) -> Option<Motion> {
        self.apply(direct, &mut Report::default()).ok()
    }

    fn take_change(&self, motion: &Motion) -> Option<TakeChange> {
        let seconds = |frame: usize| frame as f64 / motion.clip.sample_rate;
        let from_s = self.0.start_frame.map(seconds).or(self.0.start_s).unwrap_or(0.0);
        let to_s = self.0.end_frame.map(seconds).or(self.0.end_s);
        (from_s > 0.0 || to_s.is_some()).then_some(TakeChange::Part { from_s, to_s })
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        if self.0 == TrimConfig::default() {
            idle(
                report,
                &motion,
                "`trim` has neither a start nor an end, and cuts nothing\n  hint: set `start_s` or `end_s`",
            );
        }
        let clip = &motion.clip;
        let rate = clip.sample_rate;
        let last = clip.frames().saturating_sub(1);
        let start = match (self.0.start_frame, self.0.start_s) {
            (Some(frame), _) => frame,
            (None, Some(s)) => (s * rate - FRAME_ROUNDING).ceil().max(0.0) as usize,
            (None, None) => 0,
        };
        let end = match (self.0.end_frame, self.0.end_s) {
            (Some(frame), _) => frame,
            (None, Some(s)) => (s * rate + FRAME_ROUNDING).floor() as usize,
            (None, None) => last,
        };
        if clip.frames() == 0 || (start == 0 && end >= last) {
            return Ok(motion);
        }
        let end = end.min(last);
        if start > end {
            return Err(StageError::new(format!(
                "no frame lies between {}: the clip has {} frames, {:.3} s",
                self.bounds(),
                clip.frames(),
                clip.duration()
            )));
        }
        Ok(motion.part(start..end + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;

    #[test]
    fn no_bound_changes_nothing() {
        for frames in [0, 1, 30] {
            let motion = walker(frames);
            assert_eq!(run(&TrimConfig::default(), motion.clone()).unwrap(), motion);
        }
    }

    #[test]
    fn seconds_and_frames_keep_both_ends() {
        let whole = walker(31);
        let seconds = TrimConfig { start_s: Some(0.1), end_s: Some(0.5), ..TrimConfig::default() };
        let frames = TrimConfig { start_frame: Some(3), end_frame: Some(15), ..TrimConfig::default() };
        let part = run(&seconds, whole.clone()).unwrap();
        assert_eq!(part, run(&frames, whole.clone()).unwrap());
        assert_eq!((part.clip.frames(), part.clip.start), (13, whole.clip.start));
        assert_eq!(part.clip.rotations(0), whole.clip.rotations(3));
        assert_eq!(part.clip.translations(12), whole.clip.translations(15));
    }

    #[test]
    fn a_part_behind_the_end_is_refused_with_the_length() {
        let config = TrimConfig { start_s: Some(9.0), ..TrimConfig::default() };
        let error = run(&config, walker(31)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no frame lies between 9 s and the end: the clip has 31 frames, 1.000 s"
        );
    }

    #[test]
    fn all_faults_are_named_at_once() {
        let config =
            TrimConfig { start_s: Some(-1.0), end_s: Some(-2.0), start_frame: Some(1), end_frame: Some(2) };
        let keys: Vec<_> = config.validate().unwrap_err().into_iter().map(|e| e.key.unwrap()).collect();
        assert_eq!(keys, ["start_s", "end_s", "start_frame", "end_frame", "end_s"]);
    }
}
