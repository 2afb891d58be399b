//! The normal equations of a whole clip: a symmetric band, because a frame is coupled to the next one and, by its second
//! difference, to the one after.

use crate::math::in_wide_registers;

/// Columns that are eliminated together: entries of the others are loaded and stored once for so many (Golub and Van Loan,
/// Matrix Computations, 2013, 4.3.5). With 8 the processor has no registers left.
const PANEL: usize = 4;

/// The matrix `sum w r r'` and the gradient `sum w r e` of weighted rows `r` with residuals `e`.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    /// Entries per column: the diagonal and those below, as far as two frames later, and zeros for a panel.
    width: usize,
    columns: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) cost: f64,
    factor: Vec<f64>,
    /// Per unknown 1, or 0 for those that are held; as many zeros as a column has entries follow.
    free: Vec<f64>,
    /// The last step.
    pub(super) change: Vec<f64>,
}

impl NormalEquations {
    /// Of no rows.
    pub(super) fn new(frames: usize, per_frame: usize) -> Self {
        let (width, count) = (2 * per_frame + PANEL, frames * per_frame);
        let columns = vec![0.0; count * width];
        let (gradient, free) = (vec![0.0; count], vec![0.0; count + width]);
        Self { width, factor: columns.clone(), change: gradient.clone(), columns, gradient, cost: 0.0, free }
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.columns.fill(0.0);
        self.gradient.fill(0.0);
        self.cost = 0.0;
    }

    /// Entries of a column, from the diagonal down, and the entry of the gradient.
    pub(super) fn column(&mut self, column: usize) -> (&mut [f64], &mut f64) {
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
                entries[other - unknown] += weighted * b;
            }
        }
    }

    /// How much the last step lowers the cost if the equations are right, but for what the damping adds.
    pub(super) fn forecast(&self) -> f64 {
        -self.gradient.iter().zip(&self.change).map(|(gradient, change)| gradient * change).sum::<f64>()
    }

    /// Solves the damped equations for the change, without the unknowns that are held.
    pub(super) fn solve(&mut self, held: &[bool], damping: f64) {
        let width = self.width;
        self.free.iter_mut().zip(held).for_each(|(free, held)| *free = if *held { 0.0 } else { 1.0 });
        let columns = self.columns.chunks_exact(width).zip(self.factor.chunks_exact_mut(width));
        for (k, (column, factor)) in columns.enumerate() {
            let free = &self.free[k..][..width];
            if free[0] == 0.0 {
                factor.fill(0.0);
                factor[0] = 1.0;
                continue;
            }
            for ((to, from), free) in factor.iter_mut().zip(column).zip(free) {
                *to = from * free;
            }
            factor[0] = column[0] * (1.0 + damping) + LEAST;
        }
        factorise(&mut self.factor, width);
        for ((change, gradient), free) in self.change.iter_mut().zip(&self.gradient).zip(&self.free) {
            *change = -gradient * free;
        }
        substitute(&self.factor, width, &mut self.change);
    }
}

/// Added to the diagonal, so that unknowns without rows keep the matrix positive definite; rows have weights above 0.1.
const LEAST: f64 = 1e-6;

/// Factors columns in place as `L D L'` (Golub and Van Loan, Matrix Computations, 2013, 4.3), a panel at a time.
fn factorise(columns: &mut [f64], width: usize) {
    let mut shares = vec![0.0; PANEL * width];
    in_wide_registers(
        #[inline(always)]
        || {
            let count = columns.len() / width;
            for j in (0..count).step_by(PANEL) {
                let many = PANEL.min(count - j);
                let (panel, rest) = columns[j * width..].split_at_mut(many * width);
                for p in 0..many {
                    let (head, tail) = panel[p * width..].split_at_mut(width);
                    let shares = &mut shares[p * width..][..width];
                    for (share, entry) in shares.iter_mut().zip(&*head) {
                        *share = *entry / head[0];
                    }
                    for (i, next) in (1..).zip(tail.chunks_exact_mut(width)) {
                        subtract(next, &head[i..], shares[i]);
                    }
                }
                if many == PANEL {
                    eliminate(panel, &shares, rest, width);
                }
                for (head, shares) in panel.chunks_exact_mut(width).zip(shares.chunks_exact(width)) {
                    head[1..].copy_from_slice(&shares[1..]);
                }
            }
        },
    );
}

#[inline(always)]
fn subtract(from: &mut [f64], column: &[f64], share: f64) {
    for (x, y) in from.iter_mut().zip(column) {
        *x -= share * y;
    }
}

/// Takes the columns of a panel out of those after it.
#[inline(always)]
fn eliminate(panel: &[f64], shares: &[f64], rest: &mut [f64], width: usize) {
    for (i, next) in (PANEL..width).zip(rest.chunks_exact_mut(width)) {
        // Column `p` begins `p` rows lower than the first.
        let share: [f64; PANEL] = std::array::from_fn(|p| shares[p * width + i - p]);
        if share == [0.0; PANEL] {
            continue;
        }
        let length = width - i;
        let [a, b, c, d] = std::array::from_fn(|p| &panel[p * width + i - p..][..length]);
        let next = &mut next[..length];
        for k in 0..length {
            next[k] = next[k] - share[0] * a[k] - share[1] * b[k] - share[2] * c[k] - share[3] * d[k];
        }
    }
}

/// Solves for one right-hand side in place.
fn substitute(columns: &[f64], width: usize, x: &mut [f64]) {
    in_wide_registers(
        #[inline(always)]
        || {
            for (j, column) in columns.chunks_exact(width).enumerate() {
                let (value, rest) = x[j..].split_first_mut().expect("as many values as columns");
                subtract(rest, &column[1..], *value);
            }
            for (j, column) in columns.chunks_exact(width).enumerate().rev() {
                let (value, rest) = x[j..].split_first_mut().expect("as many values as columns");
                *value = *value / column[0] - product(&column[1..], rest);
            }
        },
    );
}

/// The inner product of two slices as far as both reach, in as many sums as registers have lanes.
#[inline(always)]
fn product(a: &[f64], b: &[f64]) -> f64 {
    /// The doubles of the widest registers.
    const LANES: usize = 8;
    let length = a.len().min(b.len());
    let (a, b) = (a[..length].chunks_exact(LANES), b[..length].chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; LANES];
    for (a, b) in a.zip(b) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest
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
                let left = product + system.gradient[r] + (0.1 * matrix[r][r] + LEAST) * system.change[r];
                assert!(
                    if held[r] { system.change[r] == 0.0 } else { left.abs() < 1e-9 },
                    "{frames} {r} {left}"
                );
            }
        }
    }
}
