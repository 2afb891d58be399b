//! Bodies follow a clip window by window; what they cannot follow is tried with more help, then in halves, then left.
//!
//! A window is lost where its bodies let go of the performance: there the clip stays as it is. Space: model space. Units:
//! SI, frames.

use super::course::Course;
use super::criteria::helped;
use super::stand::Stand;
use super::track::{Gains, Moment, track};
use super::tracking::Tracking;
use super::windows::{Window, halves, joined, leaps, windows};
use crate::model::{ModelPose, Motion, Pose};
use rayon::prelude::*;
use std::ops::Range;

/// How much help is tried, as multiples of the usual.
const HELP: [f64; 4] = [1.0, 1.2, 1.4, 1.7];

/// How often a window is halved that cannot be followed.
const HALVINGS: usize = 2;

/// Shorter windows are not worth a simulation, frames.
const SHORTEST: usize = 3;

/// The windows of a clip, and what became of their bodies.
#[derive(Debug)]
pub struct Following {
    windows: Vec<Window>,
    /// By window: what was followed, or the clip itself.
    moments: Vec<Vec<Moment>>,
    /// The moments of the clip itself.
    still: Vec<Moment>,
    /// By window: whether the clip stays.
    lost: Vec<bool>,
}

impl Following {
    /// The bodies of `stand` after a clip, whose poses are `poses`.
    pub fn of(stand: &Stand, clip: &Motion, poses: &[Pose], how: &Tracking) -> Self {
        let skeleton = stand.mechanism.skeleton();
        let hung = ModelPose::of(skeleton, &poses[0]);
        let course = Course::new(&clip.clip, how.step);
        let leaps = leaps((&stand.ragdoll, skeleton), poses, stand.rate);
        let cut = windows(poses.len(), &leaps, &stand.air, stand.rate, [how.window, how.overlap]);
        let moment = |pose: &Pose| Moment::of_clip(stand.ragdoll.states(&ModelPose::of(skeleton, pose)));
        let still: Vec<Moment> = poses.par_iter().map(moment).collect();
        let let_go = |w: &Window, moments: &[Moment]| {
            let (own, like) = (own(w, moments), &poses[w.own.clone()]);
            let pose = |(m, like): (&Moment, &Pose)| stand.ragdoll.pose(skeleton, &m.states, like);
            let found: Vec<Pose> = own.iter().zip(like).map(pose).collect();
            stand.judged(&stand.floor).let_go(w.own.start, &found, like, own)
        };
        // What cannot be followed with the usual help is tried with more.
        let one = |w: Window| {
            let frames = (w.all.start, w.all.end - 1);
            let (mut moments, mut far) = (Vec::new(), f64::INFINITY);
            for more in HELP.iter().filter(|_| !alone(&w)) {
                let gains = Gains { assist: how.gains.assist * more, ..how.gains };
                let found = track((&stand.ragdoll, skeleton), &course, &stand.floor, frames, &hung, &gains);
                if let Some(found_far) = let_go(&w, &found).filter(|f| *f < far) {
                    (moments, far) = (found, found_far);
                }
                if far <= 1.0 {
                    break;
                }
            }
            (w, moments, far)
        };
        let mut found: Vec<(Window, Vec<Moment>, f64)> = cut.into_par_iter().map(one).collect();
        // What goes astray over a window may not do so over half of it.
        for _ in 0..HALVINGS {
            let again = |(w, moments, far): (Window, Vec<Moment>, f64)| match halves(&w) {
                Some(halves) if far > 1.0 && !alone(&w) => halves.map(one).to_vec(),
                _ => vec![(w, moments, far)],
            };
            found = found.into_par_iter().flat_map_iter(again).collect();
        }
        let fars: Vec<f64> = found.iter().map(|(_, _, far)| *far).collect();
        let lost = found.iter().map(|(_, moments, _)| moments.is_empty()).collect();
        let (windows, moments) = found.into_iter().map(|(w, moments, _)| (w, moments)).unzip();
        let mut following = Self { windows, moments, still, lost };
        for (w, moments) in following.windows.iter().zip(&mut following.moments) {
            if moments.is_empty() {
                *moments = following.still[w.all.clone()].to_vec();
            }
        }
        following.give_up_the_farthest(&fars);
        following.give_up_the_most_helped();
        following
    }

    /// Whether the clip stays everywhere.
    pub fn is_lost(&self) -> bool {
        self.lost.iter().all(|lost| *lost)
    }

    /// The moments of every frame.
    pub fn together(&self) -> Vec<Moment> {
        let windows = self.windows.iter().zip(&self.moments).zip(&self.lost);
        joined(windows.map(|((w, moments), lost)| match lost {
            true => (w, &self.still[w.all.clone()]),
            false => (w, moments.as_slice()),
        }))
    }

    /// The frames in which the bodies could not follow.
    pub fn refused(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (w, _) in self.windows.iter().zip(&self.lost).filter(|(w, lost)| **lost && !alone(w)) {
            match runs.last_mut() {
                Some(last) if last.end == w.own.start => last.end = w.own.end,
                _ => runs.push(w.own.clone()),
            }
        }
        runs
    }

    /// Loses the windows whose frames are `worse` than the clip; says whether there were any.
    pub fn lose(&mut self, worse: impl Fn(Range<usize>) -> bool + Sync) -> bool {
        let windows = self.windows.par_iter().zip(&self.lost);
        let more: Vec<bool> = windows.map(|(w, lost)| !lost && worse(w.own.clone())).collect();
        self.lost.iter_mut().zip(&more).for_each(|(lost, more)| *lost |= more);
        more.contains(&true)
    }

    /// Loses windows until the clip as a whole does not let go of hands, head and free feet (S5), the farthest first:
    /// what is not simulated does not let go at all.
    fn give_up_the_farthest(&mut self, fars: &[f64]) {
        let frames: usize = self.windows.iter().map(|w| w.own.len()).sum();
        loop {
            let kept: Vec<usize> = (0..self.windows.len()).filter(|&k| !self.lost[k]).collect();
            let sum: f64 = kept.iter().map(|&k| fars[k] * self.windows[k].own.len() as f64).sum();
            if sum <= frames as f64 {
                return;
            }
            let Some(farthest) = kept.into_iter().max_by(|&a, &b| fars[a].total_cmp(&fars[b])) else {
                return;
            };
            self.lost[farthest] = true;
        }
    }

    /// Loses windows until the clip as a whole is not helped too much (S6), those that are helped most first, and of them
    /// the half that is.
    fn give_up_the_most_helped(&mut self) {
        loop {
            let own = |k: usize| own(&self.windows[k], &self.moments[k]);
            let kept: Vec<usize> = (0..self.windows.len()).filter(|&k| !self.lost[k]).collect();
            if helped(kept.iter().flat_map(|&k| own(k))) <= 1.0 {
                return;
            }
            let help = |k: &usize| helped(own(*k).iter());
            let Some(worst) = kept.into_iter().max_by(|a, b| help(a).total_cmp(&help(b))) else { return };
            match halves(&self.windows[worst]) {
                Some(halves) => self.split(worst, halves),
                None => self.lost[worst] = true,
            }
        }
    }

    /// A window as two with the same moments.
    fn split(&mut self, k: usize, halves: [Window; 2]) {
        let whole = self.windows[k].all.start;
        let part = |w: &Window| self.moments[k][w.all.start - whole..w.all.end - whole].to_vec();
        let moments = [part(&halves[0]), part(&halves[1])];
        self.windows.splice(k..=k, halves);
        self.moments.splice(k..=k, moments);
        self.lost.insert(k, self.lost[k]);
    }
}

/// Whether nothing is simulated in a window.
fn alone(window: &Window) -> bool {
    window.flies || window.all.len() < SHORTEST
}

/// The moments that no other window answers for.
fn own<'m>(window: &Window, moments: &'m [Moment]) -> &'m [Moment] {
    &moments[window.own.start - window.all.start..window.own.end - window.all.start]
}
