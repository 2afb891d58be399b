//! Finds standing bodies that float above the ground, and the displacement that lowers them.
//!
//! The lowest sole is above its usual level of contact while the body's downward acceleration is below half of gravity: it
//! must be supported, although no sole is near the ground. The body is lowered by the gap until its feet touch; next to a flight the displacement is smooth.
//! Heels, balls and tips of toes have levels of their own. Units: of [`WholeBodyDynamics`].

use super::derivatives::second_derivative;
use super::gravity::Gravity;
use super::whole_body_dynamics::{SOLES, SupportTrack, WholeBodyDynamics};
use crate::math::{Vec3, median, percentile, smoothstep};
use crate::signal::{gaussian, spans};
use std::ops::Range;

/// The least height of the lowest sole that counts as floating, metres.
pub const GAP: f64 = 0.035;
/// A sole up to this height touches, metres.
const TOUCH: f64 = 0.012;

/// A body that falls with less than this share of gravity is supported.
const SUPPORTED: f64 = 0.5;

/// The shortest time of support, seconds.
const LEAST: f64 = 0.08;

/// The largest displacement, metres: a higher position is explained by higher ground.
const MOST: f64 = 0.12;

/// The duration of the transition into a flight, seconds.
const INTO_FLIGHT: f64 = 0.15;

/// Standard deviation of the smoothing of the acceleration, seconds.
const SMOOTH: f64 = 0.03;

/// The centre of mass of a floating body is higher than at the neighbouring contacts by at least this share of the gap. If only
/// the feet are pulled up, it is about a fifth.
const RAISED: f64 = 1.0 / 3.0;

/// The fewest labelled heights that a level is measured on.
const FEWEST: usize = 5;

/// A span in which a body floats.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingSpan {
    /// The frames.
    pub frames: Range<usize>,
    /// The height of the lowest sole above its level: the upper quartile over the frames in which the body is supported.
    pub gap: f64,
}

/// The clearance under the lowest sole, and whether something supports the body.
#[derive(Clone, Debug)]
pub struct FootClearance {
    /// The clearance, by frame.
    pub air: Vec<f64>,
    supported: Vec<bool>,
    held: Vec<bool>,
}

impl FootClearance {
    /// The clearance of a body; `None` where heels, balls or toe tips are labelled too rarely for their level.
    pub fn of(body: &WholeBodyDynamics, gravity: Gravity) -> Option<Self> {
        let mut air = vec![f64::INFINITY; body.frames()];
        let kinds = &SOLES[..if body.tips { 3 } else { 2 }];
        for kind in kinds.iter().copied().filter(|kind| body.soles(*kind).next().is_some()) {
            let labelled = |c: &SupportTrack| -> Vec<f64> {
                c.at.iter().zip(&c.rests).filter(|(_, rests)| **rests).map(|(p, _)| p.y).collect()
            };
            let resting: Vec<f64> = body.soles(kind).flat_map(labelled).collect();
            if resting.len() < FEWEST {
                return None;
            }
            let level = median(resting);
            for track in body.soles(kind) {
                air.iter_mut().zip(&track.at).for_each(|(air, p)| *air = air.min(p.y - level));
            }
        }
        let sigma = body.frames_of(SMOOTH);
        let falls = body.by_shot(|shot| gaussian(&second_derivative(&body.centre[shot], body.rate), sigma));
        let other = |f: usize| body.supports.iter().any(|c| !c.of_sole() && c.rests[f]);
        Some(Self {
            air,
            supported: falls.iter().map(|a| a.y > -SUPPORTED * gravity.value).collect(),
            held: (0..body.frames()).map(other).collect(),
        })
    }

    /// The largest gap for long enough while the body is supported, whatever the limit.
    pub fn largest(&self, body: &WholeBodyDynamics) -> f64 {
        let gap = |f: usize| if self.supported[f] && !self.held[f] { self.air[f].max(0.0) } else { 0.0 };
        let gaps: Vec<f64> = (0..self.air.len()).map(gap).collect();
        let n = (body.frames_of(LEAST).ceil() as usize).max(1);
        gaps.windows(n).map(|w| w.iter().copied().fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
    }

    /// The spans in which the body floats for long enough.
    pub fn floating_spans(&self, body: &WholeBodyDynamics) -> Vec<FloatingSpan> {
        let stands = |f: &usize| self.supported[*f] && !self.held[*f];
        body.by_shot(|shot| {
            let floating = |on: &[usize]| {
                let (first, last) = (*on.first()?, *on.last()?);
                let inside = first >= shot.start + 2 && last + 3 <= shot.end;
                let gaps: Vec<f64> = on.iter().map(|f| self.air[*f]).collect();
                let gap = percentile(&gaps, 0.75);
                // Where the soles touch before and after, the body is lower; else its feet were drawn up.
                let height = on.iter().map(|f| body.centre[*f].y).sum::<f64>() / on.len() as f64;
                let touches = |f: &usize| self.air[*f] <= TOUCH;
                let around = [(shot.start..first).rev().find(touches), (last + 1..shot.end).find(touches)];
                let raised = around.iter().all(Option::is_none)
                    || around.into_iter().flatten().any(|f| height - body.centre[f].y > RAISED * gap);
                (inside && raised && on.len() as f64 >= body.frames_of(LEAST))
                    .then_some(FloatingSpan { frames: first..last + 1, gap })
            };
            // A short interruption does not separate spans, a flight does.
            let together = |a: &usize, b: &usize| (b - a) as f64 <= body.frames_of(LEAST).max(1.0);
            let gaps = spans(shot.clone(), |f| self.air[f] > GAP).into_iter();
            let on: Vec<Vec<usize>> = gaps.map(|gap| gap.filter(stands).collect()).collect();
            on.iter().flat_map(|on| on.chunk_by(together).filter_map(floating)).collect()
        })
    }

    /// The displacement of a floating body, by frame; `None` where the gap is too large for a fault.
    pub fn down(&self, body: &WholeBodyDynamics, floating: &FloatingSpan) -> Option<Vec<Vec3>> {
        if floating.gap > MOST {
            return None;
        }
        let shot = body.shots.iter().find(|shot| shot.contains(&floating.frames.start))?;
        let Range { mut start, mut end } = floating.frames;
        while end < shot.end && self.air[end] > TOUCH && self.supported[end] {
            end += 1;
        }
        while start > shot.start && self.air[start - 1] > TOUCH && self.supported[start - 1] {
            start -= 1;
        }
        let mut offsets = vec![Vec3::zeros(); self.air.len()];
        for (offset, air) in offsets[start..end].iter_mut().zip(&self.air[start..end]) {
            *offset = Vec3::y() * -air.min(floating.gap);
        }
        // Beyond both ends the feet touch, or the body flies: then the displacement is smooth.
        let soft = body.frames_of(INTO_FLIGHT) as usize;
        if start > shot.start && self.air[start - 1] > TOUCH {
            let first = start.saturating_sub(soft).max(shot.start);
            for f in first..start {
                offsets[f] = offsets[start] * smoothstep((f + 1 - first) as f64 / (start - first + 1) as f64);
            }
        }
        if end < shot.end && self.air[end] > TOUCH {
            let last = (end + soft).min(shot.end);
            for f in end..last {
                offsets[f] = offsets[end - 1] * smoothstep((last - f) as f64 / (last - end + 1) as f64);
            }
        }
        Some(offsets)
    }
}
