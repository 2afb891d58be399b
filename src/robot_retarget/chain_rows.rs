//! Rows that share the unknowns of a link: summed in a small dense matrix, which goes into the band once.

use super::normal_equations::NormalEquations;
use super::robot_state::{Placed, Unknowns};
use crate::math::{Mat3, Vec3, in_wide_registers};
use std::ops::Range;

/// Rows are padded to a multiple of this, so that their inner products have no remainder: the doubles of a register.
const LANES: usize = 4;

/// A sum of weighted rows with their derivatives, three rows at a time.
#[derive(Debug, Default)]
pub(super) struct ChainRows {
    /// The unknowns of the clip, ascending.
    columns: Vec<usize>,
    /// Columns of one frame whose unknowns follow each other.
    runs: Vec<Range<usize>>,
    width: usize,
    matrix: Vec<f64>,
    gradient: Vec<f64>,
    rows: [Vec<f64>; 3],
}

/// A link at one frame, whose derivatives begin at a column of the block.
#[derive(Clone, Copy)]
pub(super) struct RowsLink<'a> {
    pub(super) unknowns: &'a Unknowns,
    pub(super) placed: &'a Placed,
    /// The link whose unknowns the block has, which is `link` or below it.
    pub(super) end: usize,
    pub(super) link: usize,
    /// The first of the block's columns of this frame.
    pub(super) at: usize,
}

impl RowsLink<'_> {
    /// The hinges that move the link: index, column and how much of the column's unknown.
    fn hinges(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let count = self.unknowns.chains[self.link].len();
        self.unknowns.columns[self.end].hinges[..count]
            .iter()
            .map(|&(h, slot, part)| (h, self.at + slot, part))
    }
}

impl ChainRows {
    /// Begins a sum; `firsts` are the first unknowns of the frames whose unknowns of `link` are the columns.
    pub(super) fn begin(&mut self, unknowns: &Unknowns, link: usize, firsts: &[usize]) {
        let own = &unknowns.columns[link].unknowns;
        self.columns.clear();
        self.columns.extend(firsts.iter().flat_map(|first| own.iter().map(move |unknown| first + unknown)));
        self.runs.clear();
        for (k, column) in self.columns.iter().enumerate() {
            match self.runs.last_mut().filter(|run| self.columns[run.end - 1] + 1 == *column) {
                Some(run) => run.end = k + 1,
                None => self.runs.push(k..k + 1),
            }
        }
        let count = self.columns.len();
        self.width = count.next_multiple_of(LANES);
        self.matrix.clear();
        self.matrix.resize(count * self.width, 0.0);
        self.gradient.clear();
        self.gradient.resize(count, 0.0);
        self.clear_rows();
    }

    /// Sets the three rows to zero.
    pub(super) fn clear_rows(&mut self) {
        for row in &mut self.rows {
            row.clear();
            row.resize(self.width, 0.0);
        }
    }

    fn set(&mut self, column: usize, value: Vec3) {
        self.rows.iter_mut().zip(value.iter()).for_each(|(row, x)| row[column] += x);
    }

    /// Adds the derivatives of a point of a link, times a factor, to the rows.
    pub(super) fn point(&mut self, link: RowsLink, point: Vec3, factor: f64) {
        let arm = (point - link.placed.base) * factor;
        for k in 0..3 {
            self.rows[k][link.at + k] += factor;
        }
        // The base rotates about its own place.
        self.set(link.at + 3, Vec3::new(0.0, -arm.z, arm.y));
        self.set(link.at + 4, Vec3::new(arm.z, 0.0, -arm.x));
        self.set(link.at + 5, Vec3::new(-arm.y, arm.x, 0.0));
        for (hinge, column, part) in link.hinges() {
            self.set(column, point_velocity(link.unknowns, link.placed, hinge, point) * (part * factor));
        }
    }

    /// Sets the rows to the derivatives of a link's rotation, seen in the axes of `seen`.
    pub(super) fn rotation(&mut self, link: RowsLink, seen: &Mat3<f64>) {
        self.clear_rows();
        for k in 0..3 {
            self.set(link.at + 3 + k, seen.column(k).into());
        }
        for (hinge, column, part) in link.hinges() {
            if !link.unknowns.body.robot.hinges[hinge].slides {
                self.set(column, seen * link.placed.axes[hinge] * part);
            }
        }
    }

    /// Adds the three rows with their residuals and weights to the sum.
    pub(super) fn add(&mut self, residuals: Vec3, weights: [f64; 3]) {
        let Self { columns, width, matrix, gradient, rows: [a, b, c], .. } = self;
        in_wide_registers(
            #[inline(always)]
            || {
                let (a, b, c) = (&a[..*width], &b[..*width], &c[..*width]);
                for i in 0..columns.len() {
                    let [x, y, z] = [a[i] * weights[0], b[i] * weights[1], c[i] * weights[2]];
                    if [x, y, z] == [0.0; 3] {
                        continue;
                    }
                    gradient[i] += x * residuals.x + y * residuals.y + z * residuals.z;
                    let from = i - i % LANES;
                    let sums = matrix[i * *width..][from..*width].as_chunks_mut::<LANES>().0;
                    let [a, b, c] = [a, b, c].map(|row| row[from..].as_chunks::<LANES>().0);
                    for (((sum, a), b), c) in sums.iter_mut().zip(a).zip(b).zip(c) {
                        *sum = std::array::from_fn(|k| sum[k] + (x * a[k] + y * b[k] + z * c[k]));
                    }
                }
            },
        );
    }

    /// Adds the sum to the equations.
    pub(super) fn finish(&self, into: &mut NormalEquations) {
        let rows = self.matrix.chunks_exact(self.width.max(1)).zip(&self.gradient);
        for (i, ((row, sum), &column)) in rows.zip(&self.columns).enumerate() {
            let (entries, gradient) = into.column(column);
            *gradient += sum;
            for run in self.runs.iter().filter(|run| run.end > i) {
                let from = run.start.max(i);
                let entries = &mut entries[self.columns[from] - column..][..run.end - from];
                entries.iter_mut().zip(&row[from..run.end]).for_each(|(entry, x)| *entry += *x as f32);
            }
        }
    }
}

/// The velocity of a point by a hinge.
pub(super) fn point_velocity(unknowns: &Unknowns, placed: &Placed, hinge: usize, point: Vec3) -> Vec3 {
    match unknowns.body.robot.hinges[hinge].slides {
        true => placed.axes[hinge],
        false => placed.axes[hinge].cross(&(point - placed.anchors[hinge])),
    }
}
