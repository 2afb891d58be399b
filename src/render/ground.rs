//! Floor and backdrop: a soft pool of light, a grid that fades with distance, a paler wall above the horizon.
//!
//! The camera does not roll, so a row of pixels meets the ground at one depth and its ground coordinates change linearly.
//! Space: model space, metres; linear colours out.

use super::camera::Camera;
use super::texture::linear;
use super::vector::{V3, mix, smooth};
use std::ops::Range;

/// Linear colour of the wall at the top.
const WALL_TOP: [u8; 3] = [246, 247, 249];
/// Linear colour of the wall at the horizon.
const HORIZON: [u8; 3] = [224, 228, 234];
/// Linear colour of the floor.
const FLOOR: [u8; 3] = [240, 241, 243];
/// Linear colour of grid lines.
const LINE: [u8; 3] = [172, 180, 192];
/// Width of a grid line, grid squares.
const LINE_WIDTH: f32 = 0.012;

/// The ground as one camera sees it.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    eye: V3,
    right: V3,
    up: V3,
    ahead: V3,
    focal: f32,
    middle: [f32; 2],
    height: f32,
    /// The point of the ground below what the camera looks at.
    focus: [f32; 2],
    /// One over half the picture's height at the focus in metres.
    per_span: f32,
    /// The side of a grid square in metres.
    grid: f32,
    colors: [V3; 4],
}

/// A row of pixels on the ground: coordinates (x, z) of its first pixel, their step to the next pixel, and of how
/// much they change from row to row at the first pixel and from there to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroundRow {
    start: [f32; 2],
    step: [f32; 2],
    down: [f32; 2],
    down_step: [f32; 2],
}

impl GroundRow {
    /// The ground coordinates of a pixel.
    pub(super) fn at(&self, x: usize) -> [f32; 2] {
        let x = x as f32;
        [self.start[0] + x * self.step[0], self.start[1] + x * self.step[1]]
    }

    /// Of the first `width` pixels of the row those that may lie in a box of ground between two corners.
    pub(super) fn within(&self, low: [f32; 2], high: [f32; 2], width: usize) -> Range<usize> {
        let (mut from, mut to) = (0.0, width as f32);
        for k in [0, 1] {
            let ends = [low[k], high[k]].map(|edge| (edge - self.start[k]) / self.step[k]);
            // A row parallel to the side never meets it: `f32::min` and `max` ignore NaN.
            from = ends[0].min(ends[1]).max(from);
            to = ends[0].max(ends[1]).min(to);
        }
        let (from, to) = ((from - 1.0).max(0.0) as usize, (to + 2.0).max(0.0) as usize);
        from.min(width)..to.min(width).max(from.min(width))
    }
}

impl Ground {
    /// The ground at `height` around `focus`, with grid squares of `grid` metres.
    pub(super) fn new(camera: &Camera, height: f32, focus: [f32; 2], span: f32, grid: f32) -> Self {
        Self {
            eye: camera.eye,
            right: camera.right,
            up: camera.up,
            ahead: camera.ahead,
            focal: camera.focal,
            middle: camera.middle,
            height,
            focus,
            per_span: 1.0 / span,
            grid,
            colors: [WALL_TOP, HORIZON, FLOOR, LINE].map(linear),
        }
    }

    /// Start and step of the ground coordinates of a row at `y` pixels; `None` above the horizon.
    fn line(&self, y: f32) -> Option<([f32; 2], [f32; 2])> {
        let rise = (self.middle[1] - y) / self.focal;
        let fall = -(self.ahead[1] + rise * self.up[1]);
        let depth = (self.eye[1] - self.height) / fall;
        if !(fall > 1e-4 && depth > 0.0) {
            return None;
        }
        let step = depth / self.focal;
        let first = (0.5 - self.middle[0]) * step;
        let coordinate =
            |k: usize| self.eye[k] + depth * (self.ahead[k] + rise * self.up[k]) + first * self.right[k];
        Some(([coordinate(0), coordinate(2)], [step * self.right[0], step * self.right[2]]))
    }

    /// A row of pixels; `None` above the horizon.
    pub(super) fn row(&self, y: usize) -> Option<GroundRow> {
        let (start, step) = self.line(y as f32 + 0.5)?;
        let (next, next_step) = self.line(y as f32 + 1.5)?;
        Some(GroundRow {
            start,
            step,
            down: [next[0] - start[0], next[1] - start[1]],
            down_step: [next_step[0] - step[0], next_step[1] - step[1]],
        })
    }

    /// The wall behind a row above the horizon.
    pub(super) fn wall(&self, y: usize) -> V3 {
        let rise = (self.middle[1] - y as f32 - 0.5) / self.focal;
        let elevation = self.ahead[1] + rise * self.up[1];
        mix(self.colors[1], self.colors[0], smooth(0.0, 0.45, elevation))
    }

    /// The floor at a pixel of a row. Without branches, so that the compiler vectorises a row.
    #[inline(always)]
    fn floor(&self, row: &GroundRow, x: usize) -> V3 {
        let at = row.at(x);
        let (dx, dz) = (at[0] - self.focus[0], at[1] - self.focus[1]);
        let far = (dx * dx + dz * dz).sqrt() * self.per_span;
        let floor = mix(self.colors[2], self.colors[1], smooth(0.3, 5.0, far));
        let fade = 1.0 - smooth(1.2, 5.0, far);
        let squares = 1.0 / self.grid;
        let line = |k: usize| {
            // The pixel's footprint across the lines, in squares.
            let along = row.step[k].abs();
            let down = (row.down[k] + x as f32 * row.down_step[k]).abs();
            let foot = ((along + down) * squares).max(1e-6);
            let place = at[k] * squares;
            let apart = (place - nearest(place)).abs();
            let inside = (0.5 * (foot.max(LINE_WIDTH) + foot) - apart).max(0.0);
            // Lines thinner than a pixel become paler instead.
            let per_foot = 1.0 / foot;
            let cover = (inside * per_foot).min(1.0) * (LINE_WIDTH * per_foot).clamp(0.55, 1.0);
            cover * (1.0 - smooth(0.2, 0.6, foot))
        };
        mix(floor, self.colors[3], line(0).max(line(1)) * fade)
    }

    /// The floor of a row of pixels, without shadow.
    pub(super) fn floors(&self, row: &GroundRow, colors: &mut [V3]) {
        for (x, color) in colors.iter_mut().enumerate() {
            *color = self.floor(row, x);
        }
    }
}

/// The nearest integer of a number below four million; calling `f32::round` for every pixel would cost as much as the
/// rest of the floor.
#[inline(always)]
fn nearest(x: f32) -> f32 {
    // 1.5 * 2^23: adding it rounds a float to an integer, since its last bit is 1.
    const ROUNDING: f32 = 12_582_912.0;
    (x + ROUNDING) - ROUNDING
}

/// The side of a grid square for a figure of this size: metres for people, powers of ten for others.
pub(super) fn grid_for(size: f64) -> f64 {
    let mut grid = 1.0;
    while grid > 3.0 * size && grid > 1e-4 {
        grid *= 0.1;
    }
    while grid * 12.0 < size && grid < 1e6 {
        grid *= 10.0;
    }
    grid
}
