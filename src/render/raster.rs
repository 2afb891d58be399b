//! Triangle rasteriser: a visibility buffer with four samples per pixel.
//!
//! Coverage is decided in whole numbers (1/16 of a sample) with the top-left rule, so that neighbours share no
//! sample and leave no gap, whatever the rounding. Every sample keeps the inverse depth (linear over the screen) and
//! the number of the nearest triangle; shading comes later, once for each triangle and pixel.
//! Source: Pineda (1988), "A parallel algorithm for polygon rasterization"; Burns and Hunt (2013), "The visibility
//! buffer".

use super::vector::V3;

/// Samples along a pixel's side.
pub(super) const SAMPLES: usize = 2;
/// Steps of a sample's side.
const STEPS: f32 = 16.0;
/// How often the triangles of one picture may cover all of its samples, counted by their bounding boxes. A character covers them two
/// to ten times, two million triangles in a picture of 200 pixels fifty times; with 200 a picture takes at most a second.
const MOST_COVERED: u64 = 200;
/// Corners further out than this many samples are not drawn: their products would leave the whole numbers.
const REACH: f32 = 1e6;

/// Calls `row(y, x)` for every sample inside the triangle, its corners in samples, in either winding.
#[inline(always)]
fn cover(corners: [[f32; 2]; 3], width: usize, height: usize, mut inside: impl FnMut(usize, usize)) {
    if !corners.iter().flatten().all(|c| c.abs() < REACH) {
        return;
    }
    let fixed = |c: [f32; 2]| [(c[0] * STEPS).round() as i64, (c[1] * STEPS).round() as i64];
    let [a, mut b, mut c] = corners.map(fixed);
    let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if area == 0 {
        return;
    }
    if area < 0 {
        std::mem::swap(&mut b, &mut c);
    }
    let step = STEPS as i64;
    let half = step / 2;
    let low = |k: usize| (a[k].min(b[k]).min(c[k]) - half).div_euclid(step).max(0) as usize;
    let high = |k: usize, n: usize| {
        let end = (a[k].max(b[k]).max(c[k]) - half).div_euclid(step) + 1;
        end.clamp(0, n as i64) as usize
    };
    let (x0, x1, y0, y1) = (low(0), high(0, width), low(1), high(1, height));
    if x0 >= x1 || y0 >= y1 {
        return;
    }
    // Edge functions at the first sample, and their steps; a sample on an edge belongs to one side only.
    let at = [x0 as i64 * step + half, y0 as i64 * step + half];
    let edge = |p: [i64; 2], q: [i64; 2]| {
        let (dx, dy) = (q[0] - p[0], q[1] - p[1]);
        let top_left = dy < 0 || (dy == 0 && dx > 0);
        let value = dx * (at[1] - p[1]) - dy * (at[0] - p[0]) - i64::from(!top_left);
        (value, -dy * step, dx * step)
    };
    let edges = [edge(a, b), edge(b, c), edge(c, a)];
    let mut rows = edges.map(|e| e.0);
    for y in y0..y1 {
        let mut now = rows;
        let mut entered = false;
        for x in x0..x1 {
            if now[0] | now[1] | now[2] >= 0 {
                entered = true;
                inside(y, x);
            } else if entered {
                break;
            }
            for (n, e) in now.iter_mut().zip(&edges) {
                *n += e.1;
            }
        }
        for (r, e) in rows.iter_mut().zip(&edges) {
            *r += e.2;
        }
    }
}

/// Marks the cells of a `width` x `height` field whose middle lies inside the triangle.
pub(super) fn mark(corners: [[f32; 2]; 3], width: usize, height: usize, field: &mut [f32]) {
    cover(corners, width, height, |y, x| field[y * width + x] = 1.0);
}

/// The nearest triangle of every sample.
#[derive(Clone, Debug)]
pub(super) struct Raster {
    width: usize,
    height: usize,
    depth: Vec<f32>,
    ids: Vec<u32>,
    /// First and last but one row and column of pixels that were drawn to.
    touched: [usize; 4],
    /// Samples that further triangles may cover.
    left: u64,
    /// Whether a triangle was left out because it would cover more.
    short: bool,
}

/// No triangle.
pub(super) const NOTHING: u32 = u32::MAX;

impl Raster {
    /// An empty buffer for a picture of `width` x `height` pixels.
    pub(super) fn new(width: usize, height: usize) -> Self {
        let samples = width * height * SAMPLES * SAMPLES;
        Self {
            width,
            height,
            depth: vec![0.0; samples],
            ids: vec![NOTHING; samples],
            touched: [width, 0, height, 0],
            left: MOST_COVERED * samples as u64,
            short: false,
        }
    }

    /// Clears the buffer.
    pub(super) fn clear(&mut self) {
        let stride = self.width * SAMPLES;
        let (columns, rows) = self.touched();
        for y in rows.start * SAMPLES..rows.end * SAMPLES {
            let span = y * stride + columns.start * SAMPLES..y * stride + columns.end * SAMPLES;
            self.depth[span.clone()].fill(0.0);
            self.ids[span].fill(NOTHING);
        }
        self.touched = [self.width, 0, self.height, 0];
        (self.left, self.short) = (MOST_COVERED * self.ids.len() as u64, false);
    }

    /// Whether triangles were left out, because those before them covered the picture too often.
    pub(super) fn is_short(&self) -> bool {
        self.short
    }

    /// Counts the samples of a triangle's bounding box; `false` if no more may be covered.
    fn may_cover(&mut self, corners: [[f32; 2]; 3]) -> bool {
        let side = |axis: usize, most: usize| {
            let along = corners.map(|c| c[axis].clamp(0.0, most as f32));
            let (least, most) = (along[0].min(along[1]).min(along[2]), along[0].max(along[1]).max(along[2]));
            (most - least) as u64 * SAMPLES as u64 + 1
        };
        let samples = side(0, self.width) * side(1, self.height);
        let fits = samples <= self.left;
        self.left = self.left.saturating_sub(samples);
        self.short |= !fits;
        fits
    }

    /// The columns and rows of pixels outside which nothing was drawn.
    pub(super) fn touched(&self) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let [x0, x1, y0, y1] = self.touched;
        (x0.min(x1)..x1, y0.min(y1)..y1)
    }

    /// Draws a triangle of projected corners (pixels and inverse depth). Triangles that face away (corners
    /// clockwise in the picture) are drawn only where `both` sides show.
    pub(super) fn triangle(&mut self, corners: [V3; 3], id: u32, both: bool) {
        let [a, b, c] = corners;
        if !(a[2] > 0.0 && b[2] > 0.0 && c[2] > 0.0) {
            return;
        }
        let s = SAMPLES as f32;
        let (ux, uy, vx, vy) = (b[0] - a[0], b[1] - a[1], c[0] - a[0], c[1] - a[1]);
        // Pixels count downwards: a triangle that faces the camera runs counter-clockwise to the eye, its area
        // is negative here.
        let area = ux * vy - uy * vx;
        if !(area < 0.0 || (both && area > 0.0)) {
            return;
        }
        if !self.may_cover([a, b, c].map(|p| [p[0], p[1]])) {
            return;
        }
        // Inverse depth as a plane over the picture.
        let (du, dv) = (b[2] - a[2], c[2] - a[2]);
        let (gx, gy) = ((du * vy - dv * uy) / area / s, (dv * ux - du * vx) / area / s);
        let origin = a[2] - gx * (a[0] * s - 0.5) - gy * (a[1] * s - 0.5);
        // Steep planes run past their corners between samples; a sample is never nearer than the nearest corner.
        let (least, most) = (a[2].min(b[2]).min(c[2]), a[2].max(b[2]).max(c[2]));
        let stride = self.width * SAMPLES;
        let mut box_ = [usize::MAX, 0, usize::MAX, 0];
        let (depth, ids) = (&mut self.depth, &mut self.ids);
        cover([a, b, c].map(|p| [p[0] * s, p[1] * s]), stride, self.height * SAMPLES, |y, x| {
            let near = (origin + gx * x as f32 + gy * y as f32).clamp(least, most);
            let k = y * stride + x;
            if near > depth[k] {
                depth[k] = near;
                ids[k] = id;
            }
            box_[0] = box_[0].min(x);
            box_[1] = box_[1].max(x);
            box_[2] = box_[2].min(y);
            box_[3] = box_[3].max(y);
        });
        if box_[0] != usize::MAX {
            let t = &mut self.touched;
            *t = [
                t[0].min(box_[0] / SAMPLES),
                t[1].max(box_[1] / SAMPLES + 1),
                t[2].min(box_[2] / SAMPLES),
                t[3].max(box_[3] / SAMPLES + 1),
            ];
        }
    }

    /// The triangles of the four samples of a pixel, row by row.
    pub(super) fn samples(&self, x: usize, y: usize) -> [u32; SAMPLES * SAMPLES] {
        let stride = self.width * SAMPLES;
        let k = y * SAMPLES * stride + x * SAMPLES;
        [self.ids[k], self.ids[k + 1], self.ids[k + stride], self.ids[k + stride + 1]]
    }

    /// The inverse depth of the nearest sample of a pixel; 0 where there is none.
    pub(super) fn nearness(&self, x: usize, y: usize) -> f32 {
        let stride = self.width * SAMPLES;
        let k = y * SAMPLES * stride + x * SAMPLES;
        let d = &self.depth;
        d[k].max(d[k + 1]).max(d[k + stride]).max(d[k + stride + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn triangles_beyond_the_limit_are_left_out_until_the_buffer_is_cleared() {
        let mut raster = Raster::new(8, 8);
        let whole = [[-1.0, -1.0, 1.0], [-1.0, 20.0, 1.0], [20.0, -1.0, 1.0]];
        for round in 0..2 {
            for id in 0..MOST_COVERED as u32 / 2 {
                raster.triangle(whole, id, true);
            }
            assert!(!raster.is_short(), "{round}");
            for id in 0..2 * MOST_COVERED as u32 {
                raster.triangle(whole, id, true);
            }
            assert!(raster.is_short());
            raster.clear();
        }
    }

    proptest! {
        #[test]
        fn neighbours_share_no_sample_and_leave_no_gap(
            p in proptest::array::uniform2(2.0..30.0f32), q in proptest::array::uniform2(-40.0..80.0f32),
        ) {
            // A square cut into four triangles at an inner point p, and the same with a corner moved to q.
            let square = [[0.0, 0.0], [32.0, 0.0], [32.0, 32.0], [0.0, 32.0]];
            let mut hits = vec![0; 32 * 32];
            for k in 0..4 {
                cover([square[k], square[(k + 1) % 4], p], 32, 32, |y, x| hits[y * 32 + x] += 1);
            }
            prop_assert!(hits.iter().all(|&n| n == 1));
            let mut either = vec![0; 32 * 32];
            cover([p, q, [3.0, 5.0]], 32, 32, |y, x| either[y * 32 + x] += 1);
            cover([q, p, [3.0, 5.0]], 32, 32, |y, x| either[y * 32 + x] -= 1);
            prop_assert!(either.iter().all(|&n| n == 0));
        }
    }

    #[test]
    fn the_nearer_triangle_wins_in_any_order_and_backs_are_hidden() {
        let at = |near: f32| [[1.0, 1.0, near], [1.0, 9.0, near], [9.0, 1.0, near]];
        for order in [[0, 1], [1, 0]] {
            let mut raster = Raster::new(10, 10);
            for k in order {
                raster.triangle(at([0.5, 0.7][k]), k as u32, false);
            }
            assert_eq!(raster.samples(2, 2), [1; 4]);
            assert_eq!(raster.samples(8, 8), [NOTHING; 4]);
            raster.clear();
            assert_eq!((raster.samples(2, 2), raster.nearness(2, 2)), ([NOTHING; 4], 0.0));
        }
        let mut raster = Raster::new(10, 10);
        let [a, b, c] = at(0.5);
        raster.triangle([a, c, b], 0, false);
        assert_eq!(raster.samples(2, 2), [NOTHING; 4]);
        raster.triangle([a, c, b], 0, true);
        assert_eq!(raster.samples(2, 2), [0; 4]);
    }

    #[test]
    fn corners_at_and_behind_the_camera_draw_nothing() {
        let mut raster = Raster::new(8, 8);
        for bad in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
            raster.triangle([[1.0, 1.0, bad], [1.0, 7.0, bad], [7.0, 1.0, 1.0]], 0, true);
            raster.triangle([[bad * 1e30, 1.0, 1.0], [1.0, bad * 1e30, 1.0], [7e9, 1.0, 1.0]], 0, true);
        }
        assert!(raster.ids.iter().all(|&id| id == NOTHING));
    }
}
