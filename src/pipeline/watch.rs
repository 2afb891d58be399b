//! A run watched from outside: what each stage changed, and how good the result is beside the plain rotation copy.

use super::plan::Pipeline;
use crate::contacts::{Options, detect};
use crate::measure::{MetricContext, assess, assess_beside, change, find};
use crate::model::{Contacts, Motion};
use crate::report::{Change, Metric, Report};
use crate::stages::Stage;
use std::sync::Arc;

/// What is kept of one motion while stages change it; nothing where nobody wants to know.
#[derive(Debug)]
pub(super) struct Watch {
    wanted: bool,
    before: Option<Arc<Motion>>,
    /// The motion before the stage that carried it over, and its plain rotation copy.
    carried: Option<(Arc<Motion>, Motion)>,
    /// The labels as they arrived on the character that leaves: no later stage can edit what it is judged by.
    labels: Option<Contacts>,
    changes: Vec<Change>,
    context: Option<Arc<MetricContext>>,
}

impl Watch {
    /// A watch that looks at nothing yet.
    pub(super) fn new() -> Self {
        Self { wanted: false, before: None, carried: None, labels: None, changes: Vec::new(), context: None }
    }

    /// Whether it looks at the next take.
    pub(super) fn look(&mut self, wanted: bool) {
        self.wanted = wanted;
    }

    /// Sees a motion before a stage.
    pub(super) fn before(&mut self, stage: &dyn Stage, motion: &Motion) {
        if !self.wanted {
            return;
        }
        let before = Arc::new(motion.clone());
        if let Some(copy) = stage.plain(motion) {
            self.carried = Some((Arc::clone(&before), copy));
            self.labels = None;
        }
        self.before = Some(before);
    }

    /// Sees the motion after the stage of this name.
    pub(super) fn after(&mut self, stage: &str, motion: &Motion) {
        let Some(before) = self.before.take() else { return };
        if self.labels.is_none() && (self.carried.is_some() || before.contacts.is_none()) {
            self.labels.clone_from(&motion.contacts);
        }
        self.changes.extend(change(stage, &before, motion));
    }

    /// Measures the motion that all stages left. Where the run has `several`, each measure keeps the worst of them, and
    /// courses and changes are named after their clips.
    pub(super) fn finish(
        &mut self,
        pipeline: &Pipeline,
        motion: &Motion,
        several: bool,
        report: &mut Report,
    ) {
        if !self.wanted {
            return;
        }
        let known = self.context.take().filter(|g| g.is_of(&motion.character));
        let context =
            self.context.insert(known.unwrap_or_else(|| pipeline.metric_context(&motion.character)));
        let carried = self.carried.take();
        // Frames that were cut or moved since have no counterpart in the copy.
        let in_step = |(_, c): &&(Arc<Motion>, Motion)| {
            c.clip.frames() == motion.clip.frames() && c.clip.sample_rate == motion.clip.sample_rate
        };
        let carried = carried.as_ref().filter(in_step);
        let found = carried.map_or(motion, |(_, copy)| copy);
        // Without the stage `contacts` labels are found on the copy, which is nearest to the take.
        let arrived = self.labels.take().filter(|_| carried.is_some());
        let known = arrived.or_else(|| motion.contacts.clone()).or_else(|| found.contacts.clone());
        let labels = known.unwrap_or_else(|| detect(found, &Options::default()));
        let made = match carried {
            Some((take, copy)) => assess_beside(context, motion, Some(&labels), take, copy),
            None => assess(context, motion, Some(&labels), None),
        };
        for metric in made.metrics {
            keep_worst(&mut report.metrics, metric);
        }
        let named = |name: String| if several { format!("{}: {name}", motion.clip.name) } else { name };
        report.series.extend(made.series.into_iter().map(|mut s| {
            s.name = named(s.name);
            s
        }));
        report.changes.extend(self.changes.drain(..).map(|mut c| {
            c.stage = named(c.stage);
            c
        }));
    }
}

/// Adds a measure, or replaces the same one of an earlier clip where this one is worse.
fn keep_worst(metrics: &mut Vec<Metric>, metric: Metric) {
    let greatest = find(&metric.name).is_none_or(|m| m.greatest_is_worst);
    match metrics.iter_mut().find(|m| m.name == metric.name) {
        Some(known) if (metric.value > known.value) == greatest => *known = metric,
        Some(_) => {}
        None => metrics.push(metric),
    }
}
