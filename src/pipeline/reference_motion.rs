//! Measures a finished motion against the take that it was made from, for `run`, `retarget`, `measure`, Python and pages alike.
//!
//! Contacts are detected on the take, whatever stages ran; the floor of the result is at height 0. A long take is measured in
//! parts, and each measure keeps its worst part, so that memory does not grow with it.

use crate::body::CharacterBody;
use crate::contacts::{ContactOptions, detect};
use crate::export::made_by;
use crate::kinematics::{cuts, is_loop};
use crate::legs::{LegPair, leg_ratio};
use crate::measure::{
    Assessment, MetricContext, ROBOT, Reading, add_words, assess, assess_against, mark, of_bodies,
    with_a_limit_of_robots,
};
use crate::model::{Character, Contacts, Hold, Motion};
use crate::report::{Metric, NotJudged, Series, TakeChange};
use crate::retarget::{MapError, Retarget, RootScale, map};
use crate::signal::{Rate, Resampling, resample};
use crate::stages::changed_take;
use serde::de::DeserializeOwned;
use std::ops::Range;
use std::sync::Arc;

/// The measures that compare contact labels with contact labels.
const AGREEMENT: [&str; 3] = ["contact_precision", "contact_recall", "contact_f1"];

/// Most frames that are measured at once. Samples and series take about ten kilobytes a frame: a hundred megabytes. At half a
/// percentile would be taken of less than a minute of capture at 120 Hz.
const PART: usize = 10_000;

/// A take at the rate of a result, with its contacts, and its direct rotation transfer to the result's character.
#[derive(Debug)]
pub struct ReferenceMotion {
    take: Motion,
    /// `None` where the take plays on the result's character as it is.
    transfer: Option<Box<Retarget>>,
    target: Arc<Character>,
    not_judged: NotJudged,
}

impl ReferenceMotion {
    /// The take that `result` was made from, changed as the result's file records.
    ///
    /// # Errors
    /// A [`MapError`] if the two bodies have no joints in common.
    pub fn of(take: Motion, result: &Motion) -> Result<Self, MapError> {
        let changes: Vec<TakeChange> = from_record(&result.character, "take_changes");
        Self::changed(take, result, &changes)
    }

    /// The take that `result` was made from, changed alike. Nothing is cut from a take that is as long as the result.
    ///
    /// # Errors
    /// A [`MapError`] if the two bodies have no joints in common.
    pub fn changed(take: Motion, result: &Motion, changes: &[TakeChange]) -> Result<Self, MapError> {
        let longer = (take.clip.duration() - result.clip.duration()) * result.clip.sample_rate > 1.0;
        let wanted = |change: &&TakeChange| longer || !matches!(change, TakeChange::Part { .. });
        let retarget = changes.iter().position(|change| *change == TakeChange::Retargeted);
        let (before, after) = changes.split_at(retarget.unwrap_or(changes.len()));
        let change = |take: Motion, changes: &[TakeChange]| {
            changes.iter().filter(wanted).fold(take, |take, &change| changed_take(take, change))
        };
        let take = change(comparable(change(take, before), result), after);
        let target = Arc::clone(&result.character);
        let not_judged = recorded(&target);
        let transfer = retarget_between(&take.character, &target)?;
        Ok(Self { take, transfer, target, not_judged })
    }

    /// With further measures that stages made meaningless, besides those that the result's file records.
    pub fn without(mut self, not_judged: NotJudged) -> Self {
        self.not_judged.extend(not_judged);
        self
    }

    /// Frames of the take at the rate of the result.
    pub fn frames(&self) -> usize {
        self.take.clip.frames()
    }

    /// Whether the take plays on another character than the result.
    #[cfg(feature = "cli")]
    pub(crate) fn has_another_character(&self) -> bool {
        self.transfer.is_some()
    }

    /// Measures the result, which plays on the character of `context`, and the direct transfer beside it; the take says what should
    /// rest when.
    pub fn assess(&self, context: &MetricContext, result: &Motion) -> Assessment {
        judge(context, &self.take, &|take| self.direct_transfer_of(take), result, &self.not_judged)
    }

    /// The direct transfer of the whole take.
    #[cfg(feature = "cli")]
    pub(crate) fn direct_transfer(&self) -> Motion {
        self.direct_transfer_of(&self.take)
    }

    /// The direct transfer of a part of the take.
    fn direct_transfer_of(&self, take: &Motion) -> Motion {
        match &self.transfer {
            Some(transfer) => transfer.direct_transfer(take),
            None => Motion { character: Arc::clone(&self.target), ..take.clone() },
        }
    }
}

/// The retarget from the character of a take to that of a result; `None` where a clip has the same meaning on both.
pub(super) fn retarget_between(
    take: &Arc<Character>,
    target: &Arc<Character>,
) -> Result<Option<Box<Retarget>>, MapError> {
    if alike(take, target) {
        return Ok(None);
    }
    let joint_map = map(take, target)?;
    let rigs = (&take.rig, &target.rig);
    Ok(Some(Box::new(Retarget::new(take, Arc::clone(target), &joint_map, rigs, RootScale::Legs))))
}

/// What the stages that made a character's file recorded as not judged. A robot's result in a file without the robot has none of
/// the limits of robots: nothing of it is judged, not even by measures that came after the file.
fn recorded(character: &Character) -> NotJudged {
    let mut recorded: NotJudged = from_record(character, "not_judged");
    if character.robot.is_none() && recorded.iter().any(is_of_robot) {
        let all = of_bodies().into_iter().chain(with_a_limit_of_robots());
        recorded.insert(ROBOT.to_owned(), all.map(str::to_owned).collect());
    }
    recorded
}

/// Whether a character's file was made as a robot's result, and no longer holds the robot by whose limits it is judged.
#[cfg(feature = "cli")]
pub(crate) fn lacks_its_robot(character: &Character) -> bool {
    let recorded: NotJudged = from_record(character, "not_judged");
    character.robot.is_none() && recorded.iter().any(is_of_robot)
}

/// Whether measures are not judged because the result is a robot's.
fn is_of_robot((by, names): (&String, &Vec<String>)) -> bool {
    /// Older files name the stage in place of the robot; no other stage makes these meaningless.
    const OF_ROBOTS_ALONE: [&str; 2] = ["bone_stretch", "skin_stretch"];
    by == ROBOT || OF_ROBOTS_ALONE.iter().all(|of_robots| names.iter().any(|name| name == of_robots))
}

fn from_record<T: DeserializeOwned + Default>(character: &Character, member: &str) -> T {
    let record = character.document.as_ref().and_then(made_by);
    let value = record.and_then(|mut record| Some(record.get_mut(member)?.take()));
    value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

/// The take at the rate of `result`, with contacts that are detected on it.
pub(super) fn comparable(mut take: Motion, result: &Motion) -> Motion {
    let (rate, wanted) = (take.clip.sample_rate, result.clip.sample_rate);
    if (rate - wanted).abs() > 1e-6 * wanted
        && let Some(rate) = Rate::from_hz(wanted)
    {
        let cuts = cuts(&take);
        let how = Resampling { closes: cuts.is_empty() && is_loop(&take), ..Resampling::default() };
        take.clip = resample(&take.clip, rate, how, &cuts);
    }
    take.clip.sample_rate = wanted;
    take.contacts = Some(detect(&take, &ContactOptions::default()));
    take
}

/// Measures `result` against `take`, which is at its rate and has contacts; `direct_transfer` returns the direct transfer of a part
/// of the take, with the take's contacts.
pub(super) fn judge(
    context: &MetricContext,
    take: &Motion,
    direct_transfer: &dyn Fn(&Motion) -> Motion,
    result: &Motion,
    not_judged: &NotJudged,
) -> Assessment {
    let of_take = MetricContext::new(&take.character);
    let labels = take.contacts.as_ref().map(|labels| over_floor(labels, context, &of_take));
    let (own, theirs) = (result.clip.frames(), take.clip.frames());
    let within = |motion: &Motion, frames: &Range<usize>| {
        let last = motion.clip.frames();
        motion.part(frames.start.min(last)..frames.end.min(last))
    };
    let part = |frames: Range<usize>| {
        let parts = (frames.len() != own.max(theirs)).then(|| [result, take].map(|m| within(m, &frames)));
        let [result, take] = parts.as_ref().map_or([result, take], |parts| parts.each_ref());
        let inside = |frame: usize| frame.clamp(frames.start, frames.end) - frames.start;
        let labels = labels.as_ref().map(|labels| labels.changed(inside, |height| height));
        let mut made =
            assess_against(context, result, labels.as_ref(), (&of_take, take), &direct_transfer(take));
        mark(&mut made.metrics, not_judged);
        made
    };
    let mut made = in_parts(own.max(theirs), part);
    add_words(&mut made.metrics);
    made
}

/// Height above the ground from which a surface is raised, leg lengths: below it, bodies whose legs and bones have ratios that differ by a
/// tenth have it at heights that differ by 2 mm.
const RAISED: f64 = 0.02;

/// The labels of a take for a result: the ground of the take ([`Contacts::zero`]) is at height 0, and heights above it are scaled by
/// the ratio of leg lengths. A take of the result's own character keeps its floor; where only one of the two has skin, which is lower
/// than joints, no floor above 0.
fn over_floor(labels: &Contacts, result: &MetricContext, take: &MetricContext) -> Contacts {
    let (own, theirs) = (result.character(), take.character());
    if alike(own, theirs) {
        let same = own.meshes.is_empty() == theirs.meshes.is_empty();
        let above = if same { 0.0 } else { labels.ground.max(0.0) };
        return labels.changed(|frame| frame, |height| height - above);
    }
    // Stairs and boxes scale by the ratio of the legs' bones, as the path does.
    let bones = || {
        let [take, result] = [take, result].map(|context| CharacterBody::new(context.character()));
        leg_ratio(&LegPair::of(&take, &result))
    };
    let raised = |hold: &Hold| (hold.height - labels.ground).abs() > RAISED * take.leg_to_sole();
    let level = labels.uneven().is_none() && !labels.parts().flat_map(|part| labels.holds(part)).any(raised);
    let ratio =
        if level { None } else { bones() }.unwrap_or_else(|| result.leg_to_sole() / take.leg_to_sole());
    labels.changed(|frame| frame, |height| ratio * (height - labels.zero()))
}

/// The measures of so many frames, measured in parts of equal length: each the worst of the parts.
fn in_parts(frames: usize, part: impl Fn(Range<usize>) -> Assessment) -> Assessment {
    let length = frames.div_ceil(frames.div_ceil(PART).max(1)).max(1);
    let mut made = part(0..length.min(frames));
    for start in (length..frames).step_by(length) {
        let next = part(start..frames.min(start + length));
        next.metrics.into_iter().for_each(|metric| keep_worst(&mut made.metrics, metric));
        next.series.into_iter().for_each(|series| append(&mut made.series, series, start));
        made.series.iter_mut().for_each(|s| s.values.resize(frames.min(start + length), f64::NAN));
    }
    made
}

/// Continues a time series by its part from frame `start` on.
fn append(all: &mut Vec<Series>, mut next: Series, start: usize) {
    next.resting.iter_mut().for_each(|[from, to]| (*from, *to) = (*from + start, *to + start));
    match all.iter_mut().find(|s| s.name == next.name) {
        Some(known) => {
            known.values.append(&mut next.values);
            known.resting.append(&mut next.resting);
        }
        None => {
            next.values.splice(0..0, std::iter::repeat_n(f64::NAN, start));
            all.push(next);
        }
    }
}

/// Adds a measure; if an earlier clip or part has the same one, keeps the worse: by what is said of it, then by its value.
pub(super) fn keep_worst(metrics: &mut Vec<Metric>, metric: Metric) {
    let greatest = crate::measure::find(&metric.name).is_none_or(|m| m.greatest_is_worst);
    let judgement = |m: &Metric| Reading::from(m).judgement();
    match metrics.iter_mut().find(|m| m.name == metric.name) {
        Some(known) => {
            let worse = (metric.value > known.value) == greatest;
            if (judgement(&metric), worse) > (judgement(known), false) {
                *known = metric;
            }
        }
        None => metrics.push(metric),
    }
}

/// Measures a result, which plays on the character of `context`, by contacts that are found on itself, over a floor of this
/// height in metres.
pub fn assess_alone(context: &MetricContext, result: &Motion, ground: f64) -> Assessment {
    let labels = detect(result, &ContactOptions { ground: Some(ground), ..ContactOptions::default() });
    let labelled = Motion { contacts: Some(labels), ..result.clone() };
    let not_judged = recorded(&result.character);
    let part = |frames: Range<usize>| {
        let part = if frames.len() == result.clip.frames() { &labelled } else { &labelled.part(frames) };
        let mut made = assess(context, part, part.contacts.as_ref(), None);
        mark(&mut made.metrics, &not_judged);
        made
    };
    let mut made = in_parts(result.clip.frames(), part);
    // The labels are those of the result: agreement would always be complete.
    made.metrics.retain(|m| !AGREEMENT.contains(&m.name.as_str()));
    add_words(&mut made.metrics);
    made
}

/// Whether a clip has the same meaning on both characters: equal joints with equal rest transforms.
fn alike(a: &Character, b: &Character) -> bool {
    let (a, b) = (a.skeleton(), b.skeleton());
    let same = |id| {
        let (x, y) = (a.joint(id), b.joint(id));
        let near = (x.rest.translation - y.rest.translation).norm() < 1e-5
            && x.rest.rotation.angle_to(&y.rest.rotation) < 1e-5;
        x.name == y.name && near
    };
    a.len() == b.len() && a.parents() == b.parents() && a.ids().all(same)
}
