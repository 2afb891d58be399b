//! Rows that are added to the normal equations of a clip, or of some of its frames.

use std::ops::Range;

/// The columns of frames in a row. Rows are given with the unknowns of the clip, and have none of other frames.
#[derive(Debug)]
pub(super) struct EquationRows<'a> {
    /// The first unknown.
    pub(super) first: usize,
    /// Entries per column, from its diagonal down.
    pub(super) width: usize,
    pub(super) columns: &'a mut [f32],
    pub(super) damped: &'a mut [f32],
    pub(super) gradient: &'a mut [f64],
    /// The sum of the costs of the rows that were added.
    pub(super) cost: f64,
}

impl EquationRows<'_> {
    /// Removes the rows that begin in a frame; its columns stay in the cache for the rows that follow.
    pub(super) fn clear(&mut self, unknowns: Range<usize>) {
        let own = unknowns.start - self.first..unknowns.end - self.first;
        self.columns[own.start * self.width..own.end * self.width].fill(0.0);
        self.gradient[own].fill(0.0);
    }

    /// Damping is a share of the diagonal as it is now, before the rows that couple frames: with theirs, a stance that all of its frames
    /// would take a step to the side is held where it is by how little they may move from one to the next.
    pub(super) fn damp_by_diagonal(&mut self, unknowns: Range<usize>) {
        for own in unknowns.start - self.first..unknowns.end - self.first {
            self.damped[own] = self.columns[own * self.width];
        }
    }

    /// Entries of a column, from the diagonal down, and the entry of the gradient.
    #[inline(always)]
    pub(super) fn column(&mut self, column: usize) -> (&mut [f32], &mut f64) {
        let own = column - self.first;
        (&mut self.columns[own * self.width..][..self.width], &mut self.gradient[own])
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
}
