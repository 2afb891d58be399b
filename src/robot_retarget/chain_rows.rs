//! Rows that share the unknowns of a link: their products are summed before they go into the band.

use super::equation_rows::EquationRows;
use super::robot_state::{Placed, Unknowns};
use crate::math::{Mat3, Vec3, in_wide_registers};

/// Columns that are handled together: the doubles of a register.
const LANES: usize = 4;

/// A sum of weighted rows with their derivatives, three rows at a time.
#[derive(Debug, Default)]
pub(super) struct ChainRows {
    /// The unknowns of the clip, ascending.
    columns: Vec<usize>,
    /// Registers per row.
    width: usize,
    /// The derivatives of three rows after three rows, a register of columns after another.
    rows: Vec<[[f64; LANES]; 3]>,
    /// The same times the weights.
    weighted: Vec<[[f64; LANES]; 3]>,
    residuals: Vec<Vec3>,
    weights: Vec<[f64; 3]>,
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
        self.width = self.columns.len().div_ceil(LANES);
        self.rows.clear();
        self.residuals.clear();
        self.weights.clear();
    }

    /// Begins three rows, with their residuals and weights; their derivatives are zero.
    pub(super) fn add(&mut self, residuals: Vec3, weights: [f64; 3]) {
        self.rows.resize(self.rows.len() + self.width, [[0.0; LANES]; 3]);
        self.residuals.push(residuals);
        self.weights.push(weights);
    }

    /// Adds to the derivatives of the last rows.
    fn set(&mut self, column: usize, value: Vec3) {
        let first = self.rows.len() - self.width;
        let rows = &mut self.rows[first + column / LANES];
        rows.iter_mut().zip(value.iter()).for_each(|(row, x)| row[column % LANES] += x);
    }

    /// Adds the derivatives of a point of a link, times a factor, to the last rows.
    pub(super) fn point(&mut self, link: RowsLink, point: Vec3, factor: f64) {
        let arm = (point - link.placed.base) * factor;
        for k in 0..3 {
            self.set(link.at + k, Vec3::ith(k, factor));
        }
        // The base rotates about its own place.
        self.set(link.at + 3, Vec3::new(0.0, -arm.z, arm.y));
        self.set(link.at + 4, Vec3::new(arm.z, 0.0, -arm.x));
        self.set(link.at + 5, Vec3::new(-arm.y, arm.x, 0.0));
        for (hinge, column, part) in link.hinges() {
            self.set(column, point_velocity(link.unknowns, link.placed, hinge, point) * (part * factor));
        }
    }

    /// Adds the derivatives of a link's rotation, seen in the axes of `seen`, to the last rows.
    pub(super) fn rotation(&mut self, link: RowsLink, seen: &Mat3<f64>) {
        for k in 0..3 {
            self.set(link.at + 3 + k, seen.column(k).into());
        }
        for (hinge, column, part) in link.hinges() {
            if !link.unknowns.body.robot.hinges[hinge].slides {
                self.set(column, seen * link.placed.axes[hinge] * part);
            }
        }
    }

    /// Adds the sum to the equations: the products of four columns with four at a time.
    pub(super) fn finish(&mut self, into: &mut EquationRows) {
        let Self { columns, width, rows, residuals, weights, weighted } = self;
        in_wide_registers(
            #[inline(always)]
            || {
                weighted.clear();
                for (rows, weights) in rows.chunks_exact(*width).zip(&*weights) {
                    weighted.extend(rows.iter().map(|rows| -> [[f64; LANES]; 3] {
                        std::array::from_fn(|k| rows[k].map(|x| x * weights[k]))
                    }));
                }
                let terms = weighted.chunks_exact(*width).zip(rows.chunks_exact(*width));
                for (k, own) in columns.chunks(LANES).enumerate() {
                    let mut slopes = [0.0; LANES];
                    for ((weighted, _), e) in terms.clone().zip(&*residuals) {
                        let [x, y, z] = &weighted[k];
                        slopes = std::array::from_fn(|i| slopes[i] + (x[i] * e.x + y[i] * e.y + z[i] * e.z));
                    }
                    own.iter().zip(slopes).for_each(|(&column, slope)| *into.column(column).1 += slope);
                    for (at, others) in columns.chunks(LANES).enumerate().skip(k) {
                        let mut sums = [[0.0; LANES]; LANES];
                        for (weighted, rows) in terms.clone() {
                            let ([x, y, z], [a, b, c]) = (&weighted[k], &rows[at]);
                            for (i, sums) in sums.iter_mut().enumerate() {
                                let sum = |j: usize| sums[j] + (x[i] * a[j] + y[i] * b[j] + z[i] * c[j]);
                                *sums = std::array::from_fn(sum);
                            }
                        }
                        let sums = sums.map(|sums| sums.map(|x| x as f32));
                        for (i, (&column, sums)) in own.iter().zip(&sums).enumerate() {
                            let entries = into.column(column).0;
                            let from = if at == k { i } else { 0 };
                            for (other, sum) in others[from..].iter().zip(&sums[from..]) {
                                entries[other - column] += sum;
                            }
                        }
                    }
                }
            },
        );
    }
}

/// The velocity of a point by a hinge.
pub(super) fn point_velocity(unknowns: &Unknowns, placed: &Placed, hinge: usize, point: Vec3) -> Vec3 {
    match unknowns.body.robot.hinges[hinge].slides {
        true => placed.axes[hinge],
        false => placed.axes[hinge].cross(&(point - placed.anchors[hinge])),
    }
}
