//! The normal equations of a whole clip: a symmetric band, because a frame is coupled to the next one and, by its second
//! difference, to the one after.

use crate::math::in_wide_registers;

/// Columns that are eliminated together: entries of the others are loaded and stored once for so many (Golub and Van Loan,
/// Matrix Computations, 2013, 4.3.5). With 8 the processor has no registers left.
const PANEL: usize = 4;

/// Entries that are handled together: the single floats of a register of 256 bits.
const LANES: usize = 8;

/// The matrix `sum w r r'` and the gradient `sum w r e` of weighted rows `r` with residuals `e`.
///
/// The matrix is in single precision: it only gives the direction, and the gradient, which says where the path ends, is not. That is half
/// of the bytes and twice the lanes.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    /// Entries per column: the diagonal and those below, as far as two frames later, then zeros for a panel and a register.
    width: usize,
    columns: Vec<f32>,
    pub(super) gradient: Vec<f64>,
    pub(super) cost: f64,
    factor: Vec<f32>,
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
        let width = (2 * per_frame + PANEL + LANES).next_multiple_of(LANES);
        let count = frames * per_frame;
        let columns = vec![0.0; count * width];
        let (gradient, free) = (vec![0.0; count], vec![0.0; count + width]);
        let single = free.clone();
        Self {
            width,
            factor: columns.clone(),
            change: gradient.clone(),
            columns,
            gradient,
            cost: 0.0,
            free,
            single,
        }
    }

    /// Removes the rows that begin in a frame; its columns stay in the cache for the rows that follow.
    pub(super) fn clear(&mut self, unknowns: std::ops::Range<usize>) {
        self.columns[unknowns.start * self.width..unknowns.end * self.width].fill(0.0);
        self.gradient[unknowns].fill(0.0);
    }

    /// Entries of a column, from the diagonal down, and the entry of the gradient.
    pub(super) fn column(&mut self, column: usize) -> (&mut [f32], &mut f64) {
        (&mut self.columns[column * self.width..][..self.width], &mut self.gradient[column])
    }

    /// Adds a row of few unknowns, ascending.
    pub(super) fn add(&mut self, unknowns: &[usize], row: &[f64], residual: f64, weight: f64) {
        self.cost += weight * residual * residual;
        for (i, (&unknown, a)) in unknowns.iter().zip(row).enumerate() {
            let weighted = a * weight;
            let (entries, gradient) = self.column(unknown);
            *gradient += weighted * residual;
            for (&other, b) in unknowns[i..].iter().zip(&row[i..]) {
                entries[other - unknown] += (weighted * b) as f32;
            }
        }
    }

    /// How much the last step lowers the cost if the equations are right, but for what the damping adds.
    pub(super) fn forecast(&self) -> f64 {
        -self.gradient.iter().zip(&self.change).map(|(gradient, change)| gradient * change).sum::<f64>()
    }

    /// Solves the damped equations for the change, without the unknowns that are held: factors as `L D L'` (Golub and Van Loan,
    /// Matrix Computations, 2013, 4.3), a panel at a time. A column is copied as soon as a panel reaches it, and the right-hand side
    /// follows each panel, so that all of it is still in the cache.
    pub(super) fn solve(&mut self, held: &[bool], damping: f64) {
        let (width, reach) = (self.width, self.width - LANES);
        self.free.iter_mut().zip(held).for_each(|(free, held)| *free = if *held { 0.0 } else { 1.0 });
        for ((single, gradient), free) in self.single.iter_mut().zip(&self.gradient).zip(&self.free) {
            *single = -*gradient as f32 * free;
        }
        let Self { columns, factor, free, single, .. } = self;
        let damped = 1.0 + damping as f32;
        let mut shares = vec![0.0; PANEL * width];
        in_wide_registers(
            #[inline(always)]
            || {
                let (count, mut copied) = (factor.len() / width, 0);
                for j in (0..count).step_by(PANEL) {
                    while copied < (j + reach).min(count) {
                        let to = &mut factor[copied * width..][..width];
                        copy_column(
                            &columns[copied * width..][..width],
                            &free[copied..][..width],
                            damped,
                            to,
                        );
                        copied += 1;
                    }
                    let many = PANEL.min(count - j);
                    let (panel, rest) = factor[j * width..].split_at_mut(many * width);
                    factor_panel(panel, &mut shares, width);
                    if many == PANEL {
                        eliminate(panel, &shares, rest, width);
                    }
                    for (p, head) in panel.chunks_exact_mut(width).enumerate() {
                        head[1..].copy_from_slice(&shares[p * width..][1..width]);
                        subtract_multiple(&head[1..], &mut single[j + p..]);
                    }
                }
                for (j, column) in factor.chunks_exact(width).enumerate().rev() {
                    let (value, rest) = single[j..].split_first_mut().expect("as many values as columns");
                    *value = *value / column[0] - product(&column[1..], rest);
                }
            },
        );
        self.change.iter_mut().zip(&self.single).for_each(|(change, single)| *change = f64::from(*single));
    }
}

/// Added to the diagonal, so that unknowns without rows keep the matrix positive definite; rows have weights above 0.1.
const LEAST: f32 = 1e-6;

/// A column of the damped matrix, without the unknowns that are not free.
#[inline(always)]
fn copy_column(column: &[f32], free: &[f32], damped: f32, to: &mut [f32]) {
    if free[0] == 0.0 {
        to.fill(0.0);
        to[0] = 1.0;
        return;
    }
    for ((to, from), free) in to.iter_mut().zip(column).zip(free) {
        *to = from * free;
    }
    to[0] = column[0] * damped + LEAST;
}

/// Eliminates the columns of a panel from each other; `shares` become the columns of `L`.
#[inline(always)]
fn factor_panel(panel: &mut [f32], shares: &mut [f32], width: usize) {
    for p in 0..panel.len() / width {
        let (head, tail) = panel[p * width..].split_at_mut(width);
        let shares = &mut shares[p * width..][..width];
        let inverse = 1.0 / head[0];
        for (share, entry) in shares.iter_mut().zip(&*head) {
            *share = *entry * inverse;
        }
        for (i, next) in (1..).zip(tail.chunks_exact_mut(width)) {
            let share = shares[i];
            for (x, y) in next.iter_mut().zip(&head[i..]) {
                *x -= share * y;
            }
        }
    }
}

/// Takes the columns of a panel out of those after it.
#[inline(always)]
fn eliminate(panel: &[f32], shares: &[f32], rest: &mut [f32], width: usize) {
    let used = width - LANES;
    for (i, next) in (PANEL..used).zip(rest.chunks_exact_mut(width)) {
        // Column `p` begins `p` rows lower than the first.
        let share: [f32; PANEL] = std::array::from_fn(|p| shares[p * width + i - p]);
        if share == [0.0; PANEL] {
            continue;
        }
        // The last register reaches into the zeros after a column.
        let length = (used - i).next_multiple_of(LANES);
        let [a, b, c, d] =
            std::array::from_fn(|p| panel[p * width + i - p..][..length].as_chunks::<LANES>().0);
        let next = next[..length].as_chunks_mut::<LANES>().0;
        for ((((next, a), b), c), d) in next.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *next = std::array::from_fn(|k| {
                next[k] - share[0] * a[k] - share[1] * b[k] - share[2] * c[k] - share[3] * d[k]
            });
        }
    }
}

/// Takes the first of the values, times a column below the diagonal, out of those after it.
#[inline(always)]
fn subtract_multiple(below: &[f32], values: &mut [f32]) {
    let (value, rest) = values.split_first_mut().expect("a value for the column");
    let rest = rest[..below.len()].as_chunks_mut::<LANES>().0;
    for (x, y) in rest.iter_mut().zip(below.as_chunks::<LANES>().0) {
        *x = std::array::from_fn(|k| x[k] - *value * y[k]);
    }
}

/// The inner product of a column below the diagonal and the values there, in as many sums as registers have lanes.
#[inline(always)]
fn product(below: &[f32], values: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (x, y) in values.as_chunks::<LANES>().0.iter().zip(below.as_chunks::<LANES>().0) {
        sums = std::array::from_fn(|k| sums[k] + x[k] * y[k]);
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
                    system.add(&unknowns, &row, next(), 0.7);
                    for (i, &r) in unknowns.iter().enumerate() {
                        for (j, &c) in unknowns.iter().enumerate() {
                            matrix[r][c] += 0.7 * row[i] * row[j];
                        }
                    }
                }
            }
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
}
