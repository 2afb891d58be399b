//! Observes a run: what each stage changes, and the measures of the result against its take.

use super::hints::hints;
use super::plan::Pipeline;
use super::reference_motion::{TakeParts, comparable, direct_transfer, judge, judge_parts, keep_worst};
use super::resolved_stage::ResolvedStage;
use super::stored_take::StoredTake;
use crate::contacts::{ContactOptions, detect};
use crate::measure::{AGAINST_THE_TAKE, Assessment, MetricContext, add_words, assess, change, mark};
use crate::model::{Character, Motion};
use crate::report::{Change, Metric, NotJudged, Report, TakeChange, io_reason};
use crate::stages::changed_take;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The stage whose input is shown with its result.
const PERFORM: &str = "perform";

/// The take of a result, until both are compared.
#[derive(Debug)]
enum KeptTake {
    Memory(Arc<Motion>),
    /// Of a long take.
    File(Box<StoredTake>),
}

impl KeptTake {
    /// Keeps the take in memory where it is kept there anyway, and where no temporary file can be written.
    fn of(motion: &Motion, kept: Option<&Arc<Motion>>) -> Self {
        if let Some(kept) = kept {
            return Self::Memory(Arc::clone(kept));
        }
        let stored = StoredTake::is_long(motion).then(|| StoredTake::new(motion).ok()).flatten();
        stored.map_or_else(|| Self::Memory(Arc::new(motion.clone())), |stored| Self::File(Box::new(stored)))
    }
}

/// Whether two motions have the same frames: to compare takes a fraction of the time of a copy.
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
    /// The take: the motion as it was read, changed as stages changed it; the motion that was retargeted if stages had moved frames
    /// otherwise.
    take: Option<KeptTake>,
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

    /// Observes a motion before the stage with this index; `not_judged` is what earlier stages made meaningless. A stage that
    /// changes the take `alike` is followed by others.
    pub(super) fn before(
        &mut self,
        index: usize,
        stage: &ResolvedStage,
        motion: &Motion,
        not_judged: &NotJudged,
        alike: bool,
    ) {
        if self.page && stage.name == PERFORM && self.unperformed.is_none() {
            self.unperformed = Some(motion.clone());
        }
        if !self.enabled {
            return;
        }
        let retargets = !Arc::ptr_eq(&stage.stage.leaving(&motion.character), &motion.character);
        let first = self.take.is_none();
        // To store a long take twice would take longer than most stages.
        if first && alike && !self.detailed && StoredTake::is_long(motion) {
            return;
        }
        let moved = not_judged.values().any(|names| names.len() == AGAINST_THE_TAKE.len());
        let renewed = first || (retargets && moved);
        let kept = match &self.take {
            Some(KeptTake::Memory(take)) if self.detailed && !renewed && has_same_frames(take, motion) => {
                Some(take)
            }
            _ => None,
        };
        // Only its frames are compared.
        let before = || kept.map_or_else(|| Arc::new(motion.clone()), Arc::clone);
        self.before = self.detailed.then(before);
        if renewed {
            self.take = Some(KeptTake::of(motion, self.before.as_ref()));
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
        self.take = match self.take.take() {
            // `repair` leaves most takes as they are.
            Some(KeptTake::Memory(take))
                if self.same && take.contacts == motion.contacts && has_same_frames(&take, motion) =>
            {
                Some(KeptTake::Memory(take))
            }
            Some(_) if self.same => Some(KeptTake::of(motion, None)),
            Some(KeptTake::Memory(take)) => {
                Some(KeptTake::Memory(Arc::new(changed_take(Arc::unwrap_or_clone(take), change))))
            }
            Some(KeptTake::File(take)) => match take.part(0..take.frames()) {
                Ok(whole) => Some(KeptTake::of(&changed_take(whole, change), None)),
                Err(_) => Some(KeptTake::File(take)),
            },
            None => None,
        };
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
        let take = match self.take.take() {
            Some(KeptTake::Memory(take)) => Some(alike(Arc::unwrap_or_clone(take))),
            Some(KeptTake::File(take)) if !later.is_empty() => take.part(0..take.frames()).ok().map(alike),
            Some(KeptTake::File(take)) => match stored(&context, &take, retarget, motion, report) {
                Ok(Ok(made)) => return self.record(made, motion, several, report),
                Ok(Err(whole)) => Some(alike(whole)),
                Err(error) => {
                    let said = format!(
                        "the take could not be read back from its temporary file ({}): the result was measured alone",
                        io_reason(&error)
                    );
                    report.warnings.add("take-not-compared", said, motion.clip.name.clone());
                    None
                }
            },
            None => None,
        };
        // Once frames were cut or moved, those of the take have no counterpart.
        let in_step = |take: &&Motion| take.clip.frames().abs_diff(motion.clip.frames()) <= 1;
        let take = take.as_ref().filter(in_step);
        let assessment = match take.and_then(|take| Some((take, copier(&take.character, retarget, motion)?)))
        {
            Some((take, copy)) => {
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

/// The direct transfer of a part of a take to the character of a result.
type Copier<'a> = Box<dyn Fn(&Motion) -> Motion + 'a>;

/// The direct transfer by which a result is measured: that of the stage which retargeted it; onto a robot, whose stage has none,
/// that of `measure`. `None` where take and robot have no joints in common.
fn copier<'a>(
    take: &Arc<Character>,
    retarget: Option<&'a ResolvedStage>,
    result: &'a Motion,
) -> Option<Copier<'a>> {
    let same = |part: &Motion| Motion { character: Arc::clone(&result.character), ..part.clone() };
    if result.character.robot.is_none() {
        return Some(Box::new(move |part| {
            retarget.and_then(|r| r.stage.plain(part)).unwrap_or_else(|| same(part))
        }));
    }
    let transfer = direct_transfer(take, &result.character).ok()?;
    Some(Box::new(move |part| transfer.as_ref().map_or_else(|| same(part), |transfer| transfer.copy(part))))
}

/// The measures of a result against a stored take; the take itself where its frames are not those of the result.
fn stored(
    context: &MetricContext,
    take: &StoredTake,
    retarget: Option<&ResolvedStage>,
    motion: &Motion,
    report: &Report,
) -> io::Result<Result<Assessment, Motion>> {
    let (frames, own) = (take.frames(), motion.clip.frames());
    let copy = copier(&take.bare().character, retarget, motion);
    let in_step = take.bare().clip.sample_rate == motion.clip.sample_rate && frames.abs_diff(own) <= 1;
    let Some(copy) = copy.filter(|_| in_step) else { return Ok(Err(take.part(0..frames)?)) };
    let part =
        |range: Range<usize>| Ok(Cow::Owned(take.part(range.start.min(frames)..range.end.min(frames))?));
    let take = TakeParts { bare: take.bare(), frames, part: &part };
    judge_parts(context, &take, &copy, motion, &report.not_judged).map(Ok)
}

/// Most frames of a take of which the changes by each stage are recorded without a report: each stage is then compared with
/// the motion before it, which takes another copy in memory.
const DETAILED_FRAMES: usize = 10_000;
