//! Soft shadow: triangles projected along the light onto the ground, counted in cells, blurred.
//!
//! Space: ground coordinates (x, z) in metres around the figure.

use super::ground::GroundRow;
use super::raster::mark;
use super::vector::V3;
use std::ops::Range;

/// Cells along each side.
const CELLS: usize = 176;
/// Darkness below this is rounding of the running means, and invisible.
const FAINT: f32 = 1e-6;

/// The shadow of one figure on the ground.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    cells: Vec<f32>,
    scratch: Vec<f32>,
    /// The ground coordinates of the first cell's corner, and the side of a cell in metres.
    corner: [f32; 2],
    cell: f32,
    /// The first dark cells along both sides, and those behind the last.
    dark: Option<([usize; 2], [usize; 2])>,
}

impl Shadow {
    /// No shadow.
    pub(super) fn new() -> Self {
        Self {
            cells: vec![0.0; CELLS * CELLS],
            scratch: vec![0.0; CELLS * CELLS],
            corner: [0.0; 2],
            cell: 1.0,
            dark: None,
        }
    }

    /// Casts the shadow of `triangles` within `reach` metres of `middle`. `light` points to the light and up.
    pub(super) fn cast(
        &mut self,
        positions: &[V3],
        triangles: impl Iterator<Item = [u32; 3]>,
        light: V3,
        ground: f32,
        middle: [f32; 2],
        reach: f32,
    ) {
        self.cell = 2.0 * reach / CELLS as f32;
        self.corner = [middle[0] - reach, middle[1] - reach];
        self.cells.fill(0.0);
        let slope = [light[0] / light[1], light[2] / light[1]];
        let place = |k: u32| {
            let p = positions[k as usize];
            let fall = (p[1] - ground).max(0.0);
            [
                (p[0] - slope[0] * fall - self.corner[0]) / self.cell,
                (p[2] - slope[1] * fall - self.corner[1]) / self.cell,
            ]
        };
        for triangle in triangles {
            mark(triangle.map(place), CELLS, CELLS, &mut self.cells);
        }
        // Three passes of a box come close to a Gaussian.
        for radius in [2, 2, 1] {
            blur_rows(&self.cells, &mut self.scratch, radius);
            blur_rows(&self.scratch, &mut self.cells, radius);
        }
        self.dark = None;
        for (y, row) in self.cells.chunks(CELLS).enumerate() {
            let Some(first) = row.iter().position(|c| *c > FAINT) else { continue };
            let end = row.iter().rposition(|c| *c > FAINT).map_or(first, |last| last + 1);
            let (low, high) = self.dark.get_or_insert(([first, y], [end, y + 1]));
            *low = [low[0].min(first), low[1]];
            *high = [high[0].max(end), y + 1];
        }
    }

    /// Of the first `width` pixels of a row those outside which no shadow lies.
    pub(super) fn span(&self, row: &GroundRow, width: usize) -> Range<usize> {
        let Some((low, high)) = self.dark else { return 0..0 };
        // Between the middles of a dark cell and the next one it fades.
        let at = |cells: [usize; 2], more: f32| {
            std::array::from_fn(|k| self.corner[k] + (cells[k] as f32 + more) * self.cell)
        };
        row.within(at(low, -1.0), at(high, 1.0), width)
    }

    /// How dark the ground is at a point, 0 to 1.
    pub(super) fn at(&self, x: f32, z: f32) -> f32 {
        let u = (x - self.corner[0]) / self.cell - 0.5;
        let v = (z - self.corner[1]) / self.cell - 0.5;
        let last = (CELLS - 1) as f32;
        if !(u >= 0.0 && v >= 0.0 && u < last && v < last) {
            return 0.0;
        }
        let (i, j) = (u as usize, v as usize);
        let (fu, fv) = (u - i as f32, v - j as f32);
        let row = |j: usize| {
            let k = j * CELLS + i;
            self.cells[k] * (1.0 - fu) + self.cells[k + 1] * fu
        };
        row(j) * (1.0 - fv) + row(j + 1) * fv
    }
}

/// A running mean along rows, written transposed, so that two calls blur both directions.
fn blur_rows(from: &[f32], to: &mut [f32], radius: usize) {
    let weight = 1.0 / (2 * radius + 1) as f32;
    for y in 0..CELLS {
        let row = &from[y * CELLS..][..CELLS];
        let mut sum: f32 = row[..radius].iter().sum();
        for x in 0..CELLS {
            if x + radius < CELLS {
                sum += row[x + radius];
            }
            if x > radius {
                sum -= row[x - radius - 1];
            }
            to[x * CELLS + y] = (sum * weight).max(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shadow_lies_away_from_the_light_and_keeps_its_area() {
        let mut shadow = Shadow::new();
        // A square of 0.4 m, one metre up, lit from +X at 45 degrees: its shadow lies around x = -1.
        let corners = [[-0.2, 1.0, -0.2], [0.2, 1.0, -0.2], [0.2, 1.0, 0.2], [-0.2, 1.0, 0.2]];
        let triangles = [[0, 1, 2], [0, 2, 3]];
        shadow.cast(&corners, triangles.into_iter(), [0.7, 0.7, 0.0], 0.0, [0.0, 0.0], 2.0);
        assert!((shadow.at(-1.0, 0.0) - 1.0).abs() < 1e-3);
        assert!(shadow.at(0.0, 0.0) < 1e-3 && shadow.at(50.0, 0.0) == 0.0 && shadow.at(f32::NAN, 0.0) == 0.0);
        let area: f32 = shadow.cells.iter().sum::<f32>() * shadow.cell * shadow.cell;
        assert!((area - 0.16).abs() < 0.02, "{area}");
    }
}
