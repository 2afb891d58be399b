//! Bodies that stand in the air become bodies that stand where they usually do.
//!
//! The lowest sole is above its usual level of contact while the body falls less than freely: something carries it, and
//! nothing is there. The body goes down by the gap until its feet touch; into a flight before it the way is smooth.
//! Heels, balls and tips of toes have levels of their own. Units: of [`WholeBodyDynamics`].

use super::derivatives::second_derivative;
use super::gravity::Gravity;
use super::whole_body_dynamics::{SOLES, SupportTrack, WholeBodyDynamics};
use crate::math::{Vec3, median, percentile, smoothstep};
use crate::signal::{gaussian, spans};
use std::ops::Range;

/// More air than this under the lowest sole is a gap, metres; less than the second is touch.
pub const GAP: f64 = 0.035;
const TOUCH: f64 = 0.012;

/// A body that falls with less than this part of gravity is carried.
const CARRIED: f64 = 0.5;

/// So long it must be carried, seconds.
const LEAST: f64 = 0.08;

/// No body goes down by more than this, metres: higher ground is no fault.
const MOST: f64 = 0.12;

/// The way down into a flight takes so many seconds.
const INTO_FLIGHT: f64 = 0.15;

/// The acceleration is smoothed over so many seconds.
const SMOOTH: f64 = 0.03;

/// A body that hovers is higher than where it touches by so much of the gap: drawn up feet lift it by a fifth.
const RAISED: f64 = 1.0 / 3.0;

/// Fewer labelled heights than this tell no level.
const FEWEST: usize = 5;

/// A stretch over which a body hovers.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingSpan {
    /// The frames.
    pub frames: Range<usize>,
    /// How far the lowest sole is above its level, the upper quartile of the frames in which the body is carried.
    pub gap: f64,
}

/// How a body stands: the air under its lowest sole, and whether it is carried by something.
#[derive(Clone, Debug)]
pub struct FootClearance {
    /// The air, by frame.
    pub air: Vec<f64>,
    carried: Vec<bool>,
    held: Vec<bool>,
}

impl FootClearance {
    /// How a body stands; nothing where one of its kinds rests too seldom to tell its level.
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
            for carrier in body.soles(kind) {
                air.iter_mut().zip(&carrier.at).for_each(|(air, p)| *air = air.min(p.y - level));
            }
        }
        let sigma = body.frames_of(SMOOTH);
        let falls = body.by_shot(|shot| gaussian(&second_derivative(&body.center[shot], body.rate), sigma));
        let other = |f: usize| body.supports.iter().any(|c| !c.of_sole() && c.rests[f]);
        Some(Self {
            air,
            carried: falls.iter().map(|a| a.y > -CARRIED * gravity.value).collect(),
            held: (0..body.frames()).map(other).collect(),
        })
    }

    /// The largest gap over which the body is carried, for long enough to be one, whatever the limit.
    pub fn largest(&self, body: &WholeBodyDynamics) -> f64 {
        let gap = |f: usize| if self.carried[f] && !self.held[f] { self.air[f].max(0.0) } else { 0.0 };
        let gaps: Vec<f64> = (0..self.air.len()).map(gap).collect();
        let n = (body.frames_of(LEAST).ceil() as usize).max(1);
        gaps.windows(n).map(|w| w.iter().copied().fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
    }

    /// Where the body hovers: carried, by nothing, for long enough.
    pub fn floating_spans(&self, body: &WholeBodyDynamics) -> Vec<FloatingSpan> {
        let stands = |f: &usize| self.carried[*f] && !self.held[*f];
        body.by_shot(|shot| {
            let floating = |on: &[usize]| {
                let (first, last) = (*on.first()?, *on.last()?);
                let inside = first >= shot.start + 2 && last + 3 <= shot.end;
                let gaps: Vec<f64> = on.iter().map(|f| self.air[*f]).collect();
                let gap = percentile(&gaps, 0.75);
                // Where the soles touch before and after, the body is lower; else its feet were drawn up.
                let height = on.iter().map(|f| body.center[*f].y).sum::<f64>() / on.len() as f64;
                let touches = |f: &usize| self.air[*f] <= TOUCH;
                let beside = [(shot.start..first).rev().find(touches), (last + 1..shot.end).find(touches)];
                let raised = beside.iter().all(Option::is_none)
                    || beside.into_iter().flatten().any(|f| height - body.center[f].y > RAISED * gap);
                (inside && raised && on.len() as f64 >= body.frames_of(LEAST))
                    .then_some(FloatingSpan { frames: first..last + 1, gap })
            };
            // A stumble in the middle is none, a flight is: what it parts does not count together.
            let together = |a: &usize, b: &usize| (b - a) as f64 <= body.frames_of(LEAST).max(1.0);
            let gaps = spans(shot.clone(), |f| self.air[f] > GAP).into_iter();
            let on: Vec<Vec<usize>> = gaps.map(|gap| gap.filter(stands).collect()).collect();
            on.iter().flat_map(|on| on.chunk_by(together).filter_map(floating)).collect()
        })
    }

    /// The way down of a body that hovers, by frame; nothing where the gap is too large for a fault.
    pub fn down(&self, body: &WholeBodyDynamics, floating: &FloatingSpan) -> Option<Vec<Vec3>> {
        if floating.gap > MOST {
            return None;
        }
        let shot = body.shots.iter().find(|shot| shot.contains(&floating.frames.start))?;
        let Range { mut start, mut end } = floating.frames;
        while end < shot.end && self.air[end] > TOUCH && self.carried[end] {
            end += 1;
        }
        while start > shot.start && self.air[start - 1] > TOUCH && self.carried[start - 1] {
            start -= 1;
        }
        let mut ways = vec![Vec3::zeros(); self.air.len()];
        for (way, air) in ways[start..end].iter_mut().zip(&self.air[start..end]) {
            *way = Vec3::y() * -air.min(floating.gap);
        }
        // Beyond both ends the feet touch, or the body flies: then the way is smooth.
        let soft = body.frames_of(INTO_FLIGHT) as usize;
        if start > shot.start && self.air[start - 1] > TOUCH {
            let first = start.saturating_sub(soft).max(shot.start);
            for f in first..start {
                ways[f] = ways[start] * smoothstep((f + 1 - first) as f64 / (start - first + 1) as f64);
            }
        }
        if end < shot.end && self.air[end] > TOUCH {
            let last = (end + soft).min(shot.end);
            for f in end..last {
                ways[f] = ways[end - 1] * smoothstep((last - f) as f64 / (last - end + 1) as f64);
            }
        }
        Some(ways)
    }
}
