//! Observes a run: what each stage changes, and the measures of the result against its take.

use super::hints::hints;
use super::plan::Pipeline;
use super::reference_motion::{comparable, judge, keep_worst, retarget_between};
use super::resolved_stage::ResolvedStage;
use crate::contacts::{ContactOptions, detect};
use crate::measure::{AGAINST_THE_TAKE, Assessment, add_words, assess, change, mark};
use crate::model::{Character, Motion};
use crate::report::{Change, Metric, NotJudged, Report, TakeChange};
use crate::stages::changed_take;
use std::sync::Arc;

/// The stage whose input is shown with its result.
const PERFORM: &str = "perform";

/// Whether two motions have the same frames; comparing is much cheaper than copying.
fn has_same_frames(a: &Motion, b: &Motion) -> bool {
    Arc::ptr_eq(&a.character, &b.character) && a.clip.has_numbers_of(&b.clip)
}

/// What is kept of one motion while stages change it; nothing while it is disabled.
#[derive(Debug, Default)]
pub(super) struct StageMonitor {
    /// Whether the result is measured.
    enabled: bool,
    /// Whether the change by each stage is recorded too.
    detailed: bool,
    /// The take that the result is compared with: the motion as it was read, with the frame changes of the stages applied; if a
    /// stage moved frames in another way, the input of `retarget`.
    take: Option<Arc<Motion>>,
    /// Whether the take is the motion of now: no stage has changed one without the other.
    same: bool,
    /// What later stages did to frames, with the take to be changed alike.
    later: Vec<TakeChange>,
    /// The index of the stage that changed the character.
    retarget: Option<usize>,
    before: Option<Arc<Motion>>,
    changes: Vec<Change>,
    /// Whether there will be a page, and the motion before the first stage `perform` that changed it.
    page: bool,
    pub(super) unperformed: Option<Motion>,
    /// The measures of the last motion alone, if there are several.
    pub(super) measures: Vec<Metric>,
}

impl StageMonitor {
    /// Whether it observes the next take, of so many frames.
    pub(super) fn enable(&mut self, pipeline: &Pipeline, frames: usize) {
        self.enabled = pipeline.measured();
        self.detailed = self.enabled && (pipeline.report || frames <= DETAILED_FRAMES);
        self.page = pipeline.report;
    }

    /// Observes a motion before the stage with this index; `not_judged` is what earlier stages made meaningless.
    pub(super) fn before(
        &mut self,
        index: usize,
        stage: &ResolvedStage,
        motion: &Motion,
        not_judged: &NotJudged,
    ) {
        if self.page && stage.name == PERFORM && self.unperformed.is_none() {
            self.unperformed = Some(motion.clone());
        }
        if !self.enabled {
            return;
        }
        let retargets = !Arc::ptr_eq(&stage.stage.leaving(&motion.character), &motion.character);
        let moved = not_judged.values().any(|names| names.len() == AGAINST_THE_TAKE.len());
        let renewed = self.take.is_none() || (retargets && moved);
        let kept =
            self.take.as_ref().filter(|take| self.detailed && !renewed && has_same_frames(take, motion));
        // Only its frames are compared.
        let before = || kept.map_or_else(|| Arc::new(motion.clone()), Arc::clone);
        self.before = self.detailed.then(before);
        if renewed {
            self.take = Some(self.before.clone().unwrap_or_else(|| Arc::new(motion.clone())));
            self.same = true;
        }
        if retargets {
            self.retarget = Some(index);
        }
    }

    /// Changes the take as a stage changed it into `motion`; without a `change` the stage did something else. Contacts are detected
    /// on the frames that were retargeted: after that the take is changed only when it has them.
    pub(super) fn change_take(&mut self, change: Option<TakeChange>, motion: &Motion) {
        self.same &= change.is_some() && self.retarget.is_none();
        let Some(change) = change.filter(|change| *change != TakeChange::Retargeted) else { return };
        if self.retarget.is_some() {
            return self.later.push(change);
        }
        self.take = self.take.take().map(|take| match self.same {
            // `repair` leaves most takes as they are.
            true if take.contacts == motion.contacts && has_same_frames(&take, motion) => take,
            true => Arc::new(motion.clone()),
            false => Arc::new(changed_take(Arc::unwrap_or_clone(take), change)),
        });
    }

    /// Observes the motion after the stage of this name.
    pub(super) fn after(&mut self, stage: &str, motion: &Motion) {
        if stage == PERFORM && self.unperformed.as_ref().is_some_and(|before| before.clip == motion.clip) {
            self.unperformed = None;
        }
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
        let retarget = self.retarget.take().and_then(|index| stages.get(index));
        let later = std::mem::take(&mut self.later);
        let alike =
            |take: Motion| later.iter().fold(comparable(take, motion), |take, &c| changed_take(take, c));
        let take = self.take.take().map(|take| alike(Arc::unwrap_or_clone(take)));
        // Once frames were cut or moved, those of the take have no counterpart.
        let in_step = |take: &&Motion| take.clip.frames().abs_diff(motion.clip.frames()) <= 1;
        let take = take.as_ref().filter(in_step);
        let assessment = match take
            .and_then(|take| Some((take, direct_transfer_of(&take.character, retarget, motion)?)))
        {
            Some((take, direct_transfer)) => {
                let judged =
                    |motion: &Motion| judge(&context, take, &direct_transfer, motion, &report.not_judged);
                let made = judged(motion);
                // Trying stages costs as much as the run: hints are for those who read pages.
                let stages = pipeline.stage_names();
                let tried = pipeline
                    .report
                    .then(|| hints(motion, Some(&direct_transfer(take)), &made, &stages, &judged))
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
        self.record(assessment, motion, several, report);
    }

    /// Adds the measures of one motion to the report.
    fn record(&mut self, assessment: Assessment, motion: &Motion, several: bool, report: &mut Report) {
        if several {
            self.measures.clone_from(&assessment.metrics);
        }
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

/// Returns the direct transfer of a part of a take to the character of a result.
type DirectTransferOf<'a> = Box<dyn Fn(&Motion) -> Motion + 'a>;

/// The direct transfer by which a result is measured: that of the stage which retargeted it; onto a robot, whose stage has none,
/// that of `measure`. `None` where take and robot have no joints in common.
fn direct_transfer_of<'a>(
    take: &Arc<Character>,
    retarget: Option<&'a ResolvedStage>,
    result: &'a Motion,
) -> Option<DirectTransferOf<'a>> {
    let same = |part: &Motion| Motion { character: Arc::clone(&result.character), ..part.clone() };
    if result.character.robot.is_none() {
        return Some(Box::new(move |part| {
            retarget.and_then(|r| r.stage.direct_transfer(part)).unwrap_or_else(|| same(part))
        }));
    }
    let transfer = retarget_between(take, &result.character).ok()?;
    Some(Box::new(move |part| {
        transfer.as_ref().map_or_else(|| same(part), |transfer| transfer.direct_transfer(part))
    }))
}

/// Most frames of a take of which the changes by each stage are recorded without a report: each stage is then compared with
/// the motion before it, which takes another copy in memory.
const DETAILED_FRAMES: usize = 10_000;
