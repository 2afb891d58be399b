//! The clip performed: disturbed spans are simulated, everything else is the clip's own.
//!
//! A span begins with a hit and ends when the body is back, where the rest of the deviation is faded out. With bounded strength
//! or a withheld share of the clip's own unexplained wrench the whole clip is simulated. Cuts end a span. A body that falls
//! goes on as a ragdoll from where it is, or the clip stays as it was. Units: of the clip, except where said.

use super::blow::{Blow, Hit, part_of_blow};
use super::contact_forces::LoadPoint;
use super::hit_record::{BACK, HitRecord};
use super::load_points::{LoadTracks, load_points};
use super::performer::{Controls, Performer, StepForces};
use super::performing_body::PerformingBody;
use super::reference::Reference;
use super::touching_parts::CapsulesApart;
use crate::dynamics::{JointState, JointVector};
use crate::kinematics::shots;
use crate::math::{Vec3, smoothstep};
use crate::model::{JointId, Motion};
use crate::settle::{RagdollRelease, release_ragdoll};
use std::f64::consts::FRAC_PI_3;
use std::ops::Range;

/// What happens to a body that falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFall {
    /// It goes on as a ragdoll.
    Ragdoll,
    /// The clip stays as it was.
    Refuse,
}

/// How a clip is performed, and what disturbs it.
#[derive(Clone, Debug, PartialEq)]
pub struct PerformOptions {
    /// Help, strength, recovery.
    pub controls: Controls,
    /// The hits.
    pub hits: Vec<Hit>,
    /// See [`OnFall`].
    pub on_fall: OnFall,
}

/// The result.
#[derive(Clone, Debug)]
pub struct PerformedClip {
    /// The motion; the given one, bit for bit, where nothing disturbed it.
    pub motion: Motion,
    /// One record for each hit that took place.
    pub hits: Vec<HitRecord>,
    /// When the body fell, seconds from the first frame.
    pub fell: Option<f64>,
    /// Times at which the body was still away from the clip at a cut, the end, or the end of the simulated span, and how far
    /// (metres of the performing body).
    pub left: Vec<(f64, f64)>,
    /// The largest distance of a joint from the clip, and the mean over joints and simulated steps, metres of the performing body.
    pub largest: f64,
    /// See above.
    pub mean: f64,
    /// The share of simulated steps in which the strength of a joint was reached.
    pub bounded: f64,
    /// Metres of the performing body for one of the clip.
    pub scale: f64,
    /// Its mass, kilograms.
    pub mass: f64,
    /// The joint of each body.
    pub joints: Vec<JointId>,
    /// The largest distance of a joint from the clip in every frame, metres of the clip; zero where nothing is simulated.
    pub deviation: Vec<f64>,
    /// The help in every frame, body weights; the same.
    pub help: Vec<f64>,
    /// The vertical force of the floor in every frame, body weights; the same.
    pub contact_force: Vec<f64>,
}

/// A root further from the clip than this, metres, or rotated by more than 60 degrees, has fallen.
const FALLEN: f64 = 0.5;

/// Frames after a fall that are simulated, so that its velocity is known.
const AFTER_FALL: usize = 2;

/// A body is back when every joint is within [`BACK`] and this, radians, ...
const BACK_ANGLE: f64 = std::f64::consts::PI / 60.0;
/// ... for this long, seconds. Waiting for less deviation does not help: soles that slipped are held by friction.
const BACK_FOR: f64 = 0.1;

/// Time of the fade, seconds: a resting foot that is 1 cm off moves at 3.8 cm/s at most.
const FADE: f64 = 0.4;

/// A deviation below this, metres and radians, is rounding: an undisturbed clip reaches 1e-12.
const ROUNDING: f64 = 1e-9;

/// The time before a span that its reference is smoothed over, seconds: the kernel is shorter.
const BEFORE: f64 = 0.25;

/// The longest time to recover after the last hit, seconds: the slowest of 60 takes 2.3.
const LONGEST: f64 = 8.0;

/// The motion performed; `None` for a body that has no hips with two legs, or a clip of fewer than two frames.
pub fn perform(motion: &Motion, options: &PerformOptions) -> Option<PerformedClip> {
    let (body, frames) = PerformingBody::of(&motion.character, &motion.clip)?;
    if frames.len() < 2 {
        return None;
    }
    let points = load_points(&motion.character, &body, &frames, motion.clip.sample_rate);
    let pairs = CapsulesApart::of(&motion.character, &body);
    let mut stage = Staging::new(&body, (&points, &pairs), &frames, motion.clip.sample_rate, options);
    let mut hits = options.hits.clone();
    hits.sort_by(|a, b| a.time.total_cmp(&b.time));
    for shot in shots(motion) {
        if stage.fell.is_none() && shot.len() > 1 {
            stage.shot(shot, &hits);
        }
    }
    let (steps, joints) = (stage.steps.max(1) as f64, body.tops.len() as f64);
    let mut performance = PerformedClip {
        motion: motion.clone(),
        hits: stage.records,
        fell: stage.fell.map(|frame| frame as f64 / motion.clip.sample_rate),
        left: stage.left,
        largest: stage.largest,
        mean: stage.sum / (steps * joints),
        bounded: stage.bounded as f64 / steps,
        scale: body.scale,
        mass: body.mass,
        joints: body.tops.iter().map(|&top| body.parts[top].joint).collect(),
        deviation: stage.deviation,
        help: stage.help,
        contact_force: stage.contact_force,
    };
    if stage.fell.is_some() && options.on_fall == OnFall::Refuse {
        return Some(performance);
    }
    write(&mut performance.motion, &body, &stage.deviations);
    if let Some(from) = stage.fell {
        let rate = motion.clip.sample_rate;
        let floor = points.iter().map(|p| p.level).fold(f64::INFINITY, f64::min);
        let how = RagdollRelease {
            at: from as f64 / rate,
            lasts: (frames.len() - 1 - from) as f64 / rate,
            ground: if floor.is_finite() { floor / body.scale } else { 0.0 },
            ..RagdollRelease::default()
        };
        if let Some(fall) = release_ragdoll(&performance.motion, &how) {
            performance.motion = fall.motion;
        }
    }
    Some(performance)
}

/// Writes deviations into the clip of a motion.
fn write(motion: &mut Motion, body: &PerformingBody, deviations: &[(usize, JointVector)]) {
    if deviations.is_empty() {
        return;
    }
    let skeleton = motion.character.skeleton().clone();
    let clip = &mut motion.clip;
    let moving: Vec<JointId> = body.tops.iter().map(|&top| body.parts[top].joint).collect();
    // Only the hips and feet that hang elsewhere get other translations; what has none of its own keeps that of the rest.
    let placed: Vec<JointId> = body.displaced().collect();
    let mut translated: Vec<JointId> = clip.translated().iter().chain(&placed).copied().collect();
    translated.sort_unstable();
    translated.dedup();
    if translated.len() > clip.translated().len() {
        let frames = 0..clip.frames();
        let own = |f| translated.iter().map(move |id| (f, *id));
        let all = frames.flat_map(own).map(|(f, id)| clip.local(&skeleton, f, id).translation).collect();
        clip.set_translations(translated.clone(), all);
    }
    for (frame, deviation) in deviations {
        let pose = body.deviated(&skeleton, &clip.pose(&skeleton, *frame), deviation);
        for id in &moving {
            clip.rotations_mut(*frame)[id.index()] = pose.joint(*id).rotation;
        }
        for id in &placed {
            if let Ok(k) = translated.binary_search(id) {
                clip.translations_mut(*frame)[k] = pose.joint(*id).translation;
            }
        }
    }
}

/// The performance as it is being made.
struct Staging<'a> {
    body: &'a PerformingBody,
    points: &'a [LoadPoint],
    pairs: &'a [CapsulesApart],
    frames: &'a [JointState],
    rate: f64,
    options: &'a PerformOptions,
    deviations: Vec<(usize, JointVector)>,
    records: Vec<HitRecord>,
    fell: Option<usize>,
    left: Vec<(f64, f64)>,
    largest: f64,
    sum: f64,
    steps: usize,
    bounded: usize,
    deviation: Vec<f64>,
    help: Vec<f64>,
    contact_force: Vec<f64>,
}

/// The part of a clip that is simulated.
struct Span<'a> {
    /// Its frames; the simulation begins at `begin` seconds from the first of them.
    frames: Range<usize>,
    begin: f64,
    hits: &'a [Hit],
    /// Whether the body may return to the clip before the end.
    ends: bool,
    /// Whether the deviation has to be gone at the last frame, since the clip goes on.
    closes: bool,
}

impl<'a> Staging<'a> {
    fn new(
        body: &'a PerformingBody,
        (points, pairs): (&'a [LoadPoint], &'a [CapsulesApart]),
        frames: &'a [JointState],
        rate: f64,
        options: &'a PerformOptions,
    ) -> Self {
        Self {
            body,
            points,
            pairs,
            frames,
            rate,
            options,
            deviations: Vec::new(),
            records: Vec::new(),
            fell: None,
            left: Vec::new(),
            largest: 0.0,
            sum: 0.0,
            steps: 0,
            bounded: 0,
            deviation: vec![0.0; frames.len()],
            help: vec![0.0; frames.len()],
            contact_force: vec![0.0; frames.len()],
        }
    }

    /// One shot with the hits that fall into it.
    fn shot(&mut self, shot: Range<usize>, hits: &[Hit]) {
        let time = |frame: usize| frame as f64 / self.rate;
        let (start, end) = (time(shot.start), time(shot.end - 1));
        let own: Vec<Hit> = hits.iter().filter(|h| (start..end).contains(&h.time)).cloned().collect();
        let controls = &self.options.controls;
        if controls.strength.is_finite() || controls.residual < 1.0 {
            let span = Span { frames: shot, begin: 0.0, hits: &own, ends: false, closes: false };
            self.simulate(&span);
            return;
        }
        let mut next = 0;
        while next < own.len() && self.fell.is_none() {
            let mut last = next;
            while last + 1 < own.len() && own[last + 1].time - own[last].time < LONGEST {
                last += 1;
            }
            let first = ((own[next].time - BEFORE) * self.rate).floor().max(0.0) as usize;
            let until = ((own[last].time + LONGEST) * self.rate).ceil() as usize;
            let frames = first.max(shot.start)..until.min(shot.end);
            let begin = own[next].time - frames.start as f64 / self.rate;
            let closes = frames.end < shot.end;
            let span = Span { frames, begin, hits: &own[next..=last], ends: true, closes };
            next += self.simulate(&span).max(1);
        }
    }

    /// Simulates a span; the number of hits that took place.
    fn simulate(&mut self, span: &Span) -> usize {
        let Some(reference) = Reference::of(&self.frames[span.frames.clone()], self.rate) else { return 0 };
        let (h, per) = (reference.h, reference.per_frame);
        let tracks = LoadTracks::of(self.points, self.body, &reference);
        let begin = ((span.begin / h).floor() as usize).min(reference.steps() - 1);
        let (points, controls) = (self.points, self.options.controls);
        let mut performer =
            Performer::new(self.body, (points, self.pairs), &reference, &tracks, controls, begin);
        let first = span.frames.start as f64 / self.rate;
        let (mut impulses, mut calm, mut fade): (Vec<Vec3>, f64, Option<f64>) = (Vec::new(), 0.0, None);
        let soles = points.iter().filter(|p| p.part.of_foot()).count();
        let mut stops = None;
        while performer.step < reference.steps() {
            let now = first + performer.step as f64 * h;
            while impulses.len() < span.hits.len() && span.hits[impulses.len()].time < now + h {
                let hit = &span.hits[impulses.len()];
                impulses.push(impulse(&mut performer, hit));
                self.records.push(HitRecord::new(hit, impulses[impulses.len() - 1].norm()));
            }
            let acting: Vec<(usize, Vec3, Vec3)> = (span.hits.iter().zip(&impulses))
                .map(|(hit, whole)| {
                    let from = now - hit.time;
                    (hit.body, hit.at, part_of_blow(whole, hit.duration, from, from + h))
                })
                .filter(|acting| acting.2 != Vec3::zeros())
                .collect();
            let capacity = tracks.capacity[performer.step].clone();
            let forces = performer.advance(&acting);
            let time = now + h;
            let deviation = performer.deviation();
            let distances = distances(self.body, &performer.state, &reference.states[performer.step]);
            self.record(&distances, &forces, (!impulses.is_empty(), time, h), &capacity[..soles]);

            let far = distances.iter().copied().fold(0.0, f64::max);
            let turned = deviation.angular.iter().map(|e| e.norm()).fold(0.0, f64::max);
            calm = if far < BACK && turned < BACK_ANGLE { calm + h } else { 0.0 };
            let quiet = span.hits.get(impulses.len()).is_none_or(|hit| hit.time > time + FADE + h);
            let struck = (span.hits.iter().take(impulses.len())).all(|hit| time > hit.time + hit.duration);
            let closing = span.closes && first + reference.steps() as f64 * h - time <= FADE;
            if fade.is_none() && (span.ends && calm >= BACK_FOR && quiet && struck || closing) {
                fade = Some(time);
                if calm < BACK_FOR {
                    self.left.push((time, far));
                }
            }
            let share = fade.map_or(1.0, |from| 1.0 - smoothstep(((time - from) / FADE).clamp(0.0, 1.0)));
            let disturbed = deviation.linear.norm().max(turned) > ROUNDING;
            if performer.step.is_multiple_of(per) && share > 0.0 && disturbed {
                let weight = self.body.weight();
                let frame = span.frames.start + performer.step / per;
                self.deviation[frame] = far * share / self.body.scale;
                self.help[frame] = forces.given[0].norm() / weight;
                self.contact_force[frame] = forces.contacts.iter().map(|p| p.y).sum::<f64>() / h / weight;
                let faded = deviation.zip(&deviation, |e, _| e * share);
                self.deviations.push((frame, faded));
            }
            if share <= 0.0 {
                return impulses.len();
            }
            let off = deviation.linear.norm() > FALLEN || deviation.angular[0].norm() > FRAC_PI_3;
            if off && stops.is_none() {
                let frame = span.frames.start + performer.step.div_ceil(per);
                self.fell = Some(frame.min(span.frames.end - 1));
                self.records.last_mut().into_iter().for_each(|record| record.fell = true);
                stops = Some(performer.step + AFTER_FALL * per);
            }
            if stops.is_some_and(|step| performer.step >= step) {
                return impulses.len();
            }
            if performer.step == reference.steps() && far > BACK {
                self.left.push((time, far));
            }
        }
        impulses.len()
    }

    fn record(
        &mut self,
        distances: &[f64],
        forces: &StepForces,
        (hit, time, h): (bool, f64, f64),
        capacity: &[f64],
    ) {
        self.largest = distances.iter().copied().fold(self.largest, f64::max);
        self.sum += distances.iter().sum::<f64>();
        self.steps += 1;
        self.bounded += usize::from(forces.bounded);
        if let Some(record) = self.records.last_mut().filter(|_| hit) {
            record.add(time, h, distances, forces, capacity, self.body.weight());
        }
    }
}

/// The impulse of a hit on the body as it moves.
fn impulse(performer: &mut Performer, hit: &Hit) -> Vec3 {
    match hit.blow {
        Blow::Impulse(impulse) => impulse,
        Blow::Thrown { mass, velocity } => {
            let Some(n) = velocity.try_normalize(1e-9) else { return Vec3::zeros() };
            // It arrives and stays: p = v_rel / (1 / m + n J M^-1 J^T n).
            let (own, response) = performer.response_at(hit.body, &hit.at, &n);
            n * ((velocity - own).dot(&n).max(0.0) / (1.0 / mass + response))
        }
    }
}

/// The distances of the joints between two states.
pub fn distances(body: &PerformingBody, a: &JointState, b: &JointState) -> Vec<f64> {
    let [a, b] = [a, b].map(|state| body.tree.place(state));
    a.origin.iter().zip(&b.origin).map(|(a, b)| (a - b).norm()).collect()
}
