//! Observes a run: what each stage changes, and the measures of the result beside its take.

use super::hints::hints;
use super::plan::Pipeline;
use super::reference_motion::{comparable, judge, keep_worst};
use super::resolved_stage::ResolvedStage;
use crate::contacts::{ContactOptions, detect};
use crate::measure::{AGAINST_THE_TAKE, add_words, assess, change, mark};
use crate::model::Motion;
use crate::report::{Change, NotJudged, Report};
use std::sync::Arc;

/// What is kept of one motion while stages change it; nothing while it is disabled.
#[derive(Debug, Default)]
pub(super) struct StageMonitor {
    /// Whether the result is measured.
    enabled: bool,
    /// Whether the change by each stage is recorded too.
    detailed: bool,
    /// The take: the motion as it was read; the motion that was retargeted if stages had cut, moved or mirrored its frames.
    take: Option<Arc<Motion>>,
    /// The index of the stage that changed the character.
    retarget: Option<usize>,
    before: Option<Arc<Motion>>,
    changes: Vec<Change>,
}

impl StageMonitor {
    /// Whether it observes the next take, of so many frames.
    pub(super) fn enable(&mut self, pipeline: &Pipeline, frames: usize) {
        self.enabled = pipeline.measured();
        self.detailed = self.enabled && (pipeline.report || frames <= DETAILED_FRAMES);
    }

    /// Observes a motion before the stage with this index; `not_judged` is what earlier stages made meaningless.
    pub(super) fn before(
        &mut self,
        index: usize,
        stage: &ResolvedStage,
        motion: &Motion,
        not_judged: &NotJudged,
    ) {
        if !self.enabled {
            return;
        }
        let retargets = !Arc::ptr_eq(&stage.stage.leaving(&motion.character), &motion.character);
        let first = self.take.is_none();
        let moved = not_judged.values().any(|names| names.len() == AGAINST_THE_TAKE.len());
        if self.detailed || first || (retargets && moved) {
            let now = Arc::new(motion.clone());
            if first || (retargets && moved) {
                self.take = Some(Arc::clone(&now));
            }
            self.before = Some(now).filter(|_| self.detailed);
        }
        if retargets {
            self.retarget = Some(index);
        }
    }

    /// Observes the motion after the stage of this name.
    pub(super) fn after(&mut self, stage: &str, motion: &Motion) {
        let Some(before) = self.before.take() else { return };
        self.changes.extend(change(stage, &before, motion));
    }

    /// Measures the result of all stages. If the run has `several` clips, each measure keeps the worst of them, and time
    /// series and changes are named after their clips.
    pub(super) fn finish(
        &mut self,
        pipeline: &Pipeline,
        stages: &[ResolvedStage],
        motion: &Motion,
        several: bool,
        report: &mut Report,
    ) {
        if !self.enabled {
            return;
        }
        let context = pipeline.metric_context(&motion.character);
        let take = self.take.take().map(|take| comparable(Arc::unwrap_or_clone(take), motion));
        let retarget = self.retarget.take().and_then(|index| stages.get(index));
        // Once frames were cut or moved, those of the take have no counterpart.
        let in_step = |take: &&Motion| take.clip.frames().abs_diff(motion.clip.frames()) <= 1;
        let assessment = match take.as_ref().filter(in_step) {
            Some(take) => {
                let same =
                    |part: &Motion| Motion { character: Arc::clone(&motion.character), ..part.clone() };
                let copy =
                    |part: &Motion| retarget.and_then(|r| r.stage.plain(part)).unwrap_or_else(|| same(part));
                let judged = |motion: &Motion| judge(&context, take, &copy, motion, &report.not_judged);
                let made = judged(motion);
                // Trying stages costs as much as the run: hints are for those who read pages.
                let stages = pipeline.stage_names();
                let tried = pipeline
                    .report
                    .then(|| hints(motion, Some(&copy(take)), &made, &stages, &judged))
                    .into_iter()
                    .flatten();
                report.hints.extend(tried);
                made
            }
            None => {
                let ground = ContactOptions { ground: Some(0.0), ..ContactOptions::default() };
                let labels = motion.contacts.clone().unwrap_or_else(|| detect(motion, &ground));
                let mut made = assess(&context, motion, Some(&labels), None);
                mark(&mut made.metrics, &report.not_judged);
                add_words(&mut made.metrics);
                made
            }
        };
        for metric in assessment.metrics {
            keep_worst(&mut report.metrics, metric);
        }
        let named = |name: String| if several { format!("{}: {name}", motion.clip.name) } else { name };
        report.series.extend(assessment.series.into_iter().map(|mut s| {
            s.name = named(s.name);
            s
        }));
        report.changes.extend(self.changes.drain(..).map(|mut c| {
            c.stage = named(c.stage);
            c
        }));
    }
}

/// Most frames of a take of which the changes by each stage are recorded without a report: each stage is then compared with
/// the motion before it, which takes another copy in memory.
const DETAILED_FRAMES: usize = 10_000;
