//! The normal equations of a whole clip: a symmetric band, because a frame is coupled to the next one and, by its second
//! difference, to the one after.

use super::equation_rows::EquationRows;
use crate::math::in_wide_registers;

/// Columns that are reduced together: entries of those before are loaded once for so many (Golub and Van Loan, Matrix Computations,
/// 2013, 4.3.5).
const PANEL: usize = 4;

/// Registers of each of these columns that are reduced together. With three the processor has none left.
const TILE: usize = 2;

/// Entries that are handled together: the single floats of a register of 256 bits.
const LANES: usize = 8;

/// The matrix `sum w r r'` and the gradient `sum w r e` of weighted rows `r` with residuals `e`.
///
/// The matrix is in single precision: it only gives the direction, and the gradient, which says where the path ends, is not. That is half
/// of the bytes and twice the lanes.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    /// Entries of a column below its diagonal: as far as two frames later.
    reach: usize,
    /// Entries per column, from its diagonal down.
    width: usize,
    columns: Vec<f32>,
    /// What the damping is a share of.
    damped: Vec<f32>,
    pub(super) gradient: Vec<f64>,
    /// What the rows that end in each frame cost.
    pub(super) costs: Vec<f64>,
    /// From one column of the factor to the same row of the next: whole registers, so that rows begin registers in all columns or in none.
    row_stride: usize,
    /// The columns of `L D`, from the diagonal down; zeros follow for a tile, and room for what tiles of the next column have above its
    /// diagonal.
    factor: Vec<f32>,
    /// Per column one over its entry of `D`.
    inverse: Vec<f32>,
    /// Per unknown 1, or 0 for those that are held; as many zeros as a column has entries follow.
    free: Vec<f32>,
    /// The last step in single precision, and as many zeros.
    single: Vec<f32>,
    /// The last step.
    pub(super) change: Vec<f64>,
}

impl NormalEquations {
    /// Of no rows.
    pub(super) fn new(frames: usize, per_frame: usize) -> Self {
        let (reach, count) = (2 * per_frame, frames * per_frame);
        let width = (reach + 1).next_multiple_of(LANES);
        let row_stride = (reach + (TILE + 1) * LANES).next_multiple_of(LANES);
        // The last panel is a whole one.
        let padded = count.next_multiple_of(PANEL);
        let (columns, factor) = (vec![0.0; padded * width], vec![0.0; padded * (row_stride + 1)]);
        let (gradient, free) = (vec![0.0; count], vec![0.0; padded + width]);
        Self {
            reach,
            width,
            columns,
            damped: vec![0.0; padded],
            costs: vec![0.0; frames],
            row_stride,
            factor,
            inverse: free.clone(),
            single: free.clone(),
            free,
            change: gradient.clone(),
            gradient,
        }
    }

    /// All of them.
    pub(super) fn rows(&mut self) -> EquationRows<'_> {
        self.blocks(usize::MAX).remove(0)
    }

    /// The columns of so many frames after so many, to add rows to each by itself.
    pub(super) fn blocks(&mut self, frames: usize) -> Vec<EquationRows<'_>> {
        let (width, count) = (self.width, self.gradient.len());
        let unknowns = frames.saturating_mul(self.reach / 2).min(count).max(1);
        let columns = self.columns[..count * width].chunks_mut(unknowns * width);
        let each =
            columns.zip(self.damped[..count].chunks_mut(unknowns)).zip(self.gradient.chunks_mut(unknowns));
        each.enumerate()
            .map(|(k, ((columns, damped), gradient))| EquationRows {
                first: k * unknowns,
                width,
                columns,
                damped,
                gradient,
                cost: 0.0,
            })
            .collect()
    }

    /// The sum of all rows' costs.
    pub(super) fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// How much the last step lowers the cost if the equations are right, but for what the damping adds.
    pub(super) fn forecast(&self) -> f64 {
        -self.gradient.iter().zip(&self.change).map(|(gradient, change)| gradient * change).sum::<f64>()
    }

    /// Solves the damped equations for the change, without the unknowns that are held: factors as `L D L'` (Golub and Van Loan,
    /// Matrix Computations, 2013, 4.3), a panel at a time. A column is copied when its panel is reached, and the right-hand side
    /// follows each panel, so that all of it is still in the cache.
    pub(super) fn solve(&mut self, held: &[bool], damping: f64) {
        self.free.iter_mut().zip(held).for_each(|(free, held)| *free = if *held { 0.0 } else { 1.0 });
        for ((single, gradient), free) in self.single.iter_mut().zip(&self.gradient).zip(&self.free) {
            *single = -*gradient as f32 * free;
        }
        let Self { reach, width, columns, damped, row_stride, factor, inverse, free, single, .. } = self;
        let (damping, below) = (damping as f32, 1..1 + reach.next_multiple_of(LANES));
        let stride = *row_stride + 1;
        let mut shares = vec![[0.0; PANEL]; *reach];
        in_wide_registers(
            #[inline(always)]
            || {
                for (first, columns) in (0..).step_by(PANEL).zip(columns.chunks_exact(PANEL * *width)) {
                    let panel = factor[first * stride..].chunks_exact_mut(stride);
                    let columns = columns.chunks_exact(*width).zip(&damped[first..]);
                    for (((column, damped), to), free) in
                        columns.zip(panel).zip(free[first..].windows(*width))
                    {
                        copy_column(column, free, damping * damped, to);
                    }
                    reduce(factor, inverse, &mut shares, first, [*reach, *row_stride]);
                    for j in first..first + PANEL {
                        let (column, later) = factor[j * stride..].split_at_mut(stride);
                        inverse[j] = 1.0 / column[0];
                        for (i, next) in (1..first + PANEL - j).zip(later.chunks_exact_mut(stride)) {
                            subtract_multiple(&column[i..][..*width], column[i] * inverse[j], 1.0, next);
                        }
                        let (value, rest) = single[j..].split_first_mut().expect("a value per column");
                        subtract_multiple(&column[below.clone()], *value, inverse[j], rest);
                    }
                }
                for (j, column) in factor.chunks_exact(stride).enumerate().rev() {
                    let (value, rest) = single[j..].split_first_mut().expect("a value per column");
                    *value = *value / column[0] - product(&column[below.clone()], inverse[j], rest);
                }
            },
        );
        self.change.iter_mut().zip(&self.single).for_each(|(change, single)| *change = f64::from(*single));
    }
}

/// Added to the diagonal, so that unknowns without rows keep the matrix positive definite; rows have weights above 0.1.
const LEAST: f32 = 1e-6;
/// Share of the diagonal that is added to it, so that what rounding leaves of it is positive.
const ROUNDING: f32 = 4.0 * f32::EPSILON;

/// A column of the matrix with `added` on its diagonal, without the unknowns that are not free.
#[inline(always)]
fn copy_column(column: &[f32], free: &[f32], added: f32, to: &mut [f32]) {
    to[column.len()..].fill(0.0);
    for ((to, from), free_row) in to.iter_mut().zip(column).zip(free) {
        *to = from * free_row * free[0];
    }
    to[0] = if free[0] == 0.0 { 1.0 } else { column[0] * (1.0 + ROUNDING) + added + LEAST };
}

/// Takes the columns before a panel out of it. What this makes of rows above the diagonal, in the register where it is, is never used.
#[inline(always)]
fn reduce(
    factor: &mut [f32],
    inverse: &[f32],
    shares: &mut [[f32; PANEL]],
    panel: usize,
    [reach, row_stride]: [usize; 2],
) {
    let first = panel.saturating_sub(reach);
    for ((share, inverse), k) in shares.iter_mut().zip(&inverse[first..panel]).zip(first..) {
        let rows: &[f32; PANEL] =
            factor[k * row_stride + panel..].first_chunk().expect("the rows of a panel");
        *share = rows.map(|x| x * inverse);
    }
    for row in (panel - panel % LANES..panel + PANEL + reach).step_by(TILE * LANES) {
        let at = |k: usize| k * row_stride + row..k * row_stride + row + TILE * LANES;
        let mut sums: [[[f32; LANES]; TILE]; PANEL] =
            std::array::from_fn(|p| registers(&factor[at(panel + p)]));
        let from = first.max(row.saturating_sub(reach)).min(panel);
        for (k, share) in (from..panel).zip(&shares[from - first..]) {
            let column: [[f32; LANES]; TILE] = registers(&factor[at(k)]);
            for (sums, share) in sums.iter_mut().zip(share) {
                for (sum, entries) in sums.iter_mut().zip(&column) {
                    *sum = std::array::from_fn(|lane| sum[lane] - share * entries[lane]);
                }
            }
        }
        for (p, sums) in sums.iter().enumerate() {
            factor[at(panel + p)].copy_from_slice(sums.as_flattened());
        }
    }
}

/// The registers of a tile.
#[inline(always)]
fn registers(entries: &[f32]) -> [[f32; LANES]; TILE] {
    *entries.as_chunks().0.first_chunk().expect("as many as a tile has")
}

/// Takes `value` times a column, scaled, out of the values beside it.
#[inline(always)]
fn subtract_multiple(column: &[f32], value: f32, scale: f32, values: &mut [f32]) {
    for (x, y) in values.as_chunks_mut::<LANES>().0.iter_mut().zip(column.as_chunks::<LANES>().0) {
        *x = std::array::from_fn(|k| x[k] - value * (y[k] * scale));
    }
}

/// The inner product of a column, scaled, and the values beside it, in as many sums as registers have lanes.
#[inline(always)]
fn product(column: &[f32], scale: f32, values: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (x, y) in values.as_chunks::<LANES>().0.iter().zip(column.as_chunks::<LANES>().0) {
        sums = std::array::from_fn(|k| sums[k] + x[k] * (y[k] * scale));
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any number of frames, so that the last panel is not full; some unknowns are held.
    #[test]
    fn a_step_solves_the_damped_equations_of_any_number_of_frames() {
        for (frames, per_frame) in [(1, 1), (1, 7), (3, 5), (4, 6), (7, 3)] {
            let count = frames * per_frame;
            let mut system = NormalEquations::new(frames, per_frame);
            let (mut matrix, mut seed) = (vec![vec![0.0; count]; count], 3u64);
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 40) as f64 / f64::from(1 << 24) - 0.5
            };
            for first in 0..count {
                for _ in 0..2 {
                    let last = (first + 2 * per_frame + 1).min(count);
                    let unknowns: Vec<usize> = (first..last).collect();
                    let row: Vec<f64> = unknowns.iter().map(|_| next()).collect();
                    system.rows().add(&unknowns, &row, next(), 0.7);
                    for (i, &r) in unknowns.iter().enumerate() {
                        for (j, &c) in unknowns.iter().enumerate() {
                            matrix[r][c] += 0.7 * row[i] * row[j];
                        }
                    }
                }
            }
            system.rows().damp_by_diagonal(0..count);
            let held: Vec<bool> = (0..count).map(|k| k % 5 == 2).collect();
            system.solve(&held, 0.1);
            for r in 0..count {
                let product: f64 = (0..count).map(|c| matrix[r][c] * system.change[c]).sum();
                let added = 0.1 * matrix[r][r] + f64::from(LEAST);
                let left = product + system.gradient[r] + added * system.change[r];
                // Sums of some ten terms of the order 1 in single precision.
                assert!(
                    if held[r] { system.change[r] == 0.0 } else { left.abs() < 1e-5 },
                    "{frames} {r} {left}"
                );
            }
        }
    }

    /// Two frames pull to a place by a weight of 1 and to each other by ten thousand: the step to it is nearly whole.
    #[test]
    fn damping_does_not_hold_frames_that_would_move_together() {
        let mut system = NormalEquations::new(2, 1);
        for frame in 0..2 {
            system.rows().add(&[frame], &[1.0], -1.0, 1.0);
        }
        system.rows().damp_by_diagonal(0..2);
        system.rows().add(&[0, 1], &[-1.0, 1.0], 0.0, 1e4);
        system.solve(&[false; 2], 0.1);
        assert!(system.change.iter().all(|change| (change - 1.0 / 1.1).abs() < 0.01), "{:?}", system.change);
    }
}
