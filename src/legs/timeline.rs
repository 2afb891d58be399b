//! The frame sequence of a clip: time step, cuts, and whether it is a cycle.
//!
//! The last frame of a cycle repeats the first, so it is not an unknown of its own, and windows wrap around. Differences and
//! windows do not extend across a cut. Units: seconds, metres.

use crate::kinematics::{cuts, is_cycle, shots_between};
use crate::math::Vec3;
use crate::model::Motion;
use crate::parallel;
use std::ops::Range;

/// Frames per parallel task where the work per frame is small.
pub const TOGETHER: usize = 256;

/// Speed below which a point of a foot is planted, leg lengths per second: HuMoR's contact labels have 0.5 cm a frame at 30 Hz for people,
/// whose legs are nearly a metre long.
pub const PLANTED_SPEED: f64 = 0.15;

/// The frames of a clip and the edges between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// All frames, the last one of a cycle included.
    pub frames: usize,
    /// Whether the last frame repeats the first.
    pub cycle: bool,
    /// Whether there is a cut between a frame and the next, for each frame but the last.
    pub is_cut: Vec<bool>,
    /// The time between two frames.
    pub dt: f64,
}

impl Timeline {
    /// The timeline of a motion.
    pub fn of(motion: &Motion) -> Self {
        Self::with_cuts(motion, &cuts(motion))
    }

    /// The timeline of a motion with known cuts: the first frame after each.
    pub fn with_cuts(motion: &Motion, cuts: &[usize]) -> Self {
        let frames = motion.clip.frames();
        let mut is_cut = vec![false; frames.saturating_sub(1)];
        cuts.iter().for_each(|f| is_cut[f - 1] = true);
        let cycle = is_cycle(motion) && !is_cut.contains(&true);
        Self { frames, cycle, is_cut, dt: motion.clip.sample_rate.recip() }
    }

    /// The spans of frames between cuts.
    pub fn shots(&self) -> Vec<Range<usize>> {
        shots_between((1..self.frames).filter(|f| self.is_cut[f - 1]), self.frames)
    }

    /// The frames that are unknowns.
    pub fn unknowns(&self) -> usize {
        self.frames - usize::from(self.cycle)
    }

    /// The unknown of a frame.
    pub fn unknown(&self, frame: usize) -> usize {
        if frame < self.unknowns() { frame } else { frame - self.unknowns() }
    }

    /// The duration in frames, to the nearest one, at least 1.
    pub fn reach(&self, seconds: f64) -> usize {
        (seconds / self.dt).round().max(1.0) as usize
    }

    /// The edges that are not cuts, each by its first frame.
    pub fn edges(&self) -> impl Iterator<Item = usize> {
        (0..self.is_cut.len()).filter(|f| !self.is_cut[*f])
    }

    /// For every frame of a range with two neighbours: previous, own and next unknown. The first frame of a cycle is always
    /// included.
    pub fn triples(&self, frames: Range<usize>) -> impl Iterator<Item = [usize; 3]> {
        let n = self.unknowns();
        let inner = frames.start.max(1)..frames.end.min(self.frames.saturating_sub(1));
        let inner = inner.filter(|f| !self.is_cut[f - 1] && !self.is_cut[*f]);
        let round = (self.cycle && n > 2).then(|| [n - 1, 0, 1]);
        inner.map(|f| [f - 1, f, self.unknown(f + 1)]).chain(round)
    }

    /// The speed of a point over every edge, in metres per second: its displacement over a window of `half` seconds to either
    /// side, shorter at cuts and ends.
    pub fn speeds(&self, at: impl Fn(usize) -> Vec3 + Sync, half: f64) -> Vec<f64> {
        let reach = (half / self.dt).round() as usize;
        let last = self.frames - 1;
        // A cycle continues with its first frames, offset by the distance travelled.
        let travel = if self.cycle { at(last) - at(0) } else { Vec3::zeros() };
        let position = |f: isize| match f {
            f if f < 0 => at((f + last as isize) as usize) - travel,
            f if f > last as isize => at(f as usize - last) + travel,
            f => at(f as usize),
        };
        let reach = if self.cycle { reach.min(last - 1) } else { reach };
        let speed = |edge: usize| {
            let (mut a, mut b) = (edge as isize, edge as isize + 1);
            for _ in 0..reach {
                if self.cycle || (a > 0 && !self.is_cut[a as usize - 1]) {
                    a -= 1;
                }
                if self.cycle || (b < last as isize && !self.is_cut[b as usize]) {
                    b += 1;
                }
            }
            if self.is_cut[edge] {
                0.0
            } else {
                (position(b) - position(a)).norm() / ((b - a) as f64 * self.dt)
            }
        };
        parallel::map(self.is_cut.len(), TOGETHER, speed)
    }
}
