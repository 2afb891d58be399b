//! Observes a run: what each stage changes, and the measures of the result next to those of the direct rotation transfer.

use super::plan::Pipeline;
use crate::contacts::{ContactOptions, detect};
use crate::measure::{MetricContext, assess, assess_beside, change, find};
use crate::model::{Contacts, Motion};
use crate::report::{Change, Metric, Report};
use crate::stages::Stage;
use std::sync::Arc;

/// What is kept of one motion while stages change it; nothing while it is disabled.
#[derive(Debug)]
pub(super) struct StageMonitor {
    enabled: bool,
    before: Option<Arc<Motion>>,
    /// The motion before it was retargeted, and its direct rotation transfer.
    retargeted: Option<(Arc<Motion>, Motion)>,
    /// The contact labels as they arrived on the final character, so that no later stage can edit what it is judged by.
    labels: Option<Contacts>,
    changes: Vec<Change>,
    context: Option<Arc<MetricContext>>,
}

impl StageMonitor {
    /// A monitor that is disabled.
    pub(super) fn new() -> Self {
        Self {
            enabled: false,
            before: None,
            retargeted: None,
            labels: None,
            changes: Vec::new(),
            context: None,
        }
    }

    /// Whether it observes the next take.
    pub(super) fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// Observes a motion before a stage.
    pub(super) fn before(&mut self, stage: &dyn Stage, motion: &Motion) {
        if !self.enabled {
            return;
        }
        let before = Arc::new(motion.clone());
        if let Some(copy) = stage.plain(motion) {
            self.retargeted = Some((Arc::clone(&before), copy));
            self.labels = None;
        }
        self.before = Some(before);
    }

    /// Observes the motion after the stage of this name.
    pub(super) fn after(&mut self, stage: &str, motion: &Motion) {
        let Some(before) = self.before.take() else { return };
        if self.labels.is_none() && (self.retargeted.is_some() || before.contacts.is_none()) {
            self.labels.clone_from(&motion.contacts);
        }
        self.changes.extend(change(stage, &before, motion));
    }

    /// Measures the result of all stages. If the run has `several` clips, each measure keeps the worst of them, and time
    /// series and changes are named after their clips.
    pub(super) fn finish(
        &mut self,
        pipeline: &Pipeline,
        motion: &Motion,
        several: bool,
        report: &mut Report,
    ) {
        if !self.enabled {
            return;
        }
        let known = self.context.take().filter(|c| c.is_of(&motion.character));
        let context =
            self.context.insert(known.unwrap_or_else(|| pipeline.metric_context(&motion.character)));
        let retargeted = self.retargeted.take();
        // After frames were cut or moved, frames of the copy have no counterpart.
        let in_step = |(_, c): &&(Arc<Motion>, Motion)| {
            c.clip.frames() == motion.clip.frames() && c.clip.sample_rate == motion.clip.sample_rate
        };
        let retargeted = retargeted.as_ref().filter(in_step);
        let labelled = retargeted.map_or(motion, |(_, copy)| copy);
        // Without the stage `contacts`, contacts are detected on the copy, which is nearest to the take.
        let arrived = self.labels.take().filter(|_| retargeted.is_some());
        let known = arrived.or_else(|| motion.contacts.clone()).or_else(|| labelled.contacts.clone());
        let labels = known.unwrap_or_else(|| detect(labelled, &ContactOptions::default()));
        let assessment = match retargeted {
            Some((take, copy)) => assess_beside(context, motion, Some(&labels), take, copy),
            None => assess(context, motion, Some(&labels), None),
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

/// Adds a measure; if an earlier clip has the same one, keeps the worse value.
fn keep_worst(metrics: &mut Vec<Metric>, metric: Metric) {
    let greatest = find(&metric.name).is_none_or(|m| m.greatest_is_worst);
    match metrics.iter_mut().find(|m| m.name == metric.name) {
        Some(known) if (metric.value > known.value) == greatest => *known = metric,
        Some(_) => {}
        None => metrics.push(metric),
    }
}
