//! The normal equations of a whole clip: a symmetric band, because a frame is coupled to the next one and, by its second
//! difference, to the one after.

use crate::math::in_wide_registers;

/// The matrix `sum w r r'` and the gradient `sum w r e` of weighted rows `r` with residuals `e`.
#[derive(Clone, Debug)]
pub(super) struct NormalEquations {
    /// Unknowns of a frame.
    per_frame: usize,
    /// Entries per column: the diagonal and those below, as far as two frames later.
    width: usize,
    columns: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) cost: f64,
}

impl NormalEquations {
    /// Of no rows.
    pub(super) fn new(frames: usize, per_frame: usize) -> Self {
        let (width, count) = (2 * per_frame + 1, frames * per_frame);
        Self { per_frame, width, columns: vec![0.0; count * width], gradient: vec![0.0; count], cost: 0.0 }
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.columns.fill(0.0);
        self.gradient.fill(0.0);
        self.cost = 0.0;
    }

    /// Adds `K` rows with the same unknowns, ascending.
    pub(super) fn add<const K: usize>(
        &mut self,
        unknowns: &[usize],
        rows: &[[f64; K]],
        residuals: [f64; K],
        weights: [f64; K],
    ) {
        for k in 0..K {
            self.cost += weights[k] * residuals[k] * residuals[k];
        }
        for (i, (&column, a)) in unknowns.iter().zip(rows).enumerate() {
            let weighted: [f64; K] = std::array::from_fn(|k| a[k] * weights[k]);
            self.gradient[column] += (0..K).map(|k| weighted[k] * residuals[k]).sum::<f64>();
            let entries = &mut self.columns[column * self.width..][..self.width];
            for (&row, b) in unknowns[i..].iter().zip(&rows[i..]) {
                entries[row - column] += (0..K).map(|k| weighted[k] * b[k]).sum::<f64>();
            }
        }
    }

    /// As [`NormalEquations::add`], or only the cost of the rows.
    pub(super) fn add_or_cost<const K: usize>(
        &mut self,
        derivatives: bool,
        unknowns: &[usize],
        rows: &[[f64; K]],
        residuals: [f64; K],
        weights: [f64; K],
    ) {
        if derivatives {
            self.add(unknowns, rows, residuals, weights);
        } else {
            self.cost += (0..K).map(|k| weights[k] * residuals[k] * residuals[k]).sum::<f64>();
        }
    }

    /// The step that solves the damped equations, without the unknowns that are held. `factor` is scratch space.
    pub(super) fn step(&self, held: &[bool], damping: f64, factor: &mut Vec<f64>) -> Vec<f64> {
        let (width, count) = (self.width, self.gradient.len());
        factor.clear();
        factor.extend_from_slice(&self.columns);
        for column in 0..count {
            let entries = &mut factor[column * width..][..width];
            if held[column] {
                entries.fill(0.0);
                entries[0] = 1.0;
                continue;
            }
            entries[0] = entries[0] * (1.0 + damping) + LEAST;
            for (k, entry) in entries.iter_mut().enumerate().skip(1) {
                if held.get(column + k).copied().unwrap_or(true) {
                    *entry = 0.0;
                }
            }
        }
        factorise(factor, width);
        let mut x: Vec<f64> =
            self.gradient.iter().zip(held).map(|(g, held)| if *held { 0.0 } else { -g }).collect();
        solve(factor, width, &mut x);
        debug_assert_eq!(x.len() % self.per_frame, 0);
        x
    }
}

/// Added to the diagonal, so that unknowns without rows keep the matrix positive definite; rows have weights above 0.1.
const LEAST: f64 = 1e-6;

/// Factors columns in place as `L D L'` (Golub and Van Loan, Matrix Computations, 2013, 4.3).
fn factorise(columns: &mut [f64], width: usize) {
    in_wide_registers(
        #[inline(always)]
        || {
            let count = columns.len() / width;
            for j in 0..count {
                let (head, tail) = columns[j * width..].split_at_mut(width);
                let pivot = head[0];
                for (i, next) in (1..width).zip(tail.chunks_exact_mut(width)) {
                    let entry = head[i];
                    if entry == 0.0 {
                        continue;
                    }
                    let share = entry / pivot;
                    for (x, y) in next.iter_mut().zip(&head[i..]) {
                        *x -= share * y;
                    }
                }
                head[1..].iter_mut().for_each(|entry| *entry /= pivot);
            }
        },
    );
}

/// Solves for one right-hand side in place.
fn solve(columns: &[f64], width: usize, x: &mut [f64]) {
    let count = x.len();
    for j in 0..count {
        let (value, column) = (x[j], &columns[j * width..][..width]);
        for (k, entry) in column.iter().enumerate().skip(1).take(count - j - 1) {
            x[j + k] -= entry * value;
        }
    }
    for j in (0..count).rev() {
        let column = &columns[j * width..][..width];
        let known: f64 = column[1..].iter().zip(&x[j + 1..]).map(|(entry, value)| entry * value).sum();
        x[j] = x[j] / column[0] - known;
    }
}
