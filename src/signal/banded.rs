//! Symmetric systems whose unknowns meet only their neighbours: a matrix of few bands becomes its factor, and that solves.
//!
//! The matrix is a diagonal plus `sum w r r'` over columns `r` of up to B neighbouring entries, as sums of squares of
//! differences give it. It is factored as `L D L'` without exchanges (Golub and Van Loan, Matrix Computations, 2013,
//! section 4.3), which a positive matrix allows; time and space grow with the unknowns. Units: those of the entries.

/// The second difference of three neighbours: how a channel bends.
pub const BEND: [f64; 3] = [1.0, -2.0, 1.0];

/// The third difference of four neighbours: its jerk.
pub const JERK: [f64; 4] = [-1.0, 3.0, -3.0, 1.0];

/// A symmetric matrix with B bands, the diagonal and those on one side of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands<const B: usize> {
    /// Of each row: the diagonal, and the entries to the right of it.
    rows: Vec<[f64; B]>,
}

impl<const B: usize> Bands<B> {
    /// A matrix with nothing beside its diagonal.
    pub fn diagonal(entries: impl IntoIterator<Item = f64>) -> Self {
        let row = |entry| std::array::from_fn(|k| if k == 0 { entry } else { 0.0 });
        Self { rows: entries.into_iter().map(row).collect() }
    }

    /// Adds `weight r r'`, where `r` is `row` from entry `first` on and zero elsewhere; what of the row lies beyond the
    /// ends is left out.
    pub fn add<const N: usize>(&mut self, first: isize, row: [f64; N], weight: f64) {
        const { assert!(N <= B, "a row as wide as the bands") };
        let n = self.rows.len();
        for (i, a) in row.iter().enumerate() {
            let Some(at) = first.checked_add_unsigned(i).and_then(|at| usize::try_from(at).ok()) else {
                continue;
            };
            for (j, b) in row.iter().enumerate().skip(i).take(n.saturating_sub(at)) {
                self.rows[at][j - i] += weight * a * b;
            }
        }
    }

    /// Adds `weight` to the entry of row `i` and column `j` and to its mirror image.
    ///
    /// # Panics
    /// Where the two are further apart than the bands reach.
    pub fn add_entry(&mut self, i: usize, j: usize, weight: f64) {
        self.rows[i.min(j)][i.abs_diff(j)] += weight;
    }

    /// The matrix as `L D L'`, for solving.
    pub fn factored(self) -> FactoredBands<B> {
        let mut columns = self.rows;
        let n = columns.len();
        for f in 0..n {
            let column = columns[f];
            for i in 1..B.min(n - f) {
                let share = column[i] / column[0];
                for j in i..B {
                    columns[f + i][j - i] -= share * column[j];
                }
                columns[f][i] = share;
            }
        }
        FactoredBands { columns }
    }
}

/// [`Bands`] as `L D L'`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactoredBands<const B: usize> {
    /// Of each column: the pivot, and what stands below it over the pivot.
    columns: Vec<[f64; B]>,
}

impl<const B: usize> FactoredBands<B> {
    /// Solves for K right-hand sides side by side, in place.
    ///
    /// # Panics
    /// Where there are not as many values as rows.
    pub fn solve<const K: usize>(&self, x: &mut [[f64; K]]) {
        let n = self.columns.len();
        assert_eq!(x.len(), n, "a value for every row");
        let subtract = |from: &mut [f64; K], share: f64, what: [f64; K]| {
            from.iter_mut().zip(what).for_each(|(from, what)| *from -= share * what);
        };
        for f in 0..n {
            let here = x[f];
            for i in 1..B.min(n - f) {
                subtract(&mut x[f + i], self.columns[f][i], here);
            }
        }
        for f in (0..n).rev() {
            let mut here = x[f].map(|x| x / self.columns[f][0]);
            for i in 1..B.min(n - f) {
                subtract(&mut here, self.columns[f][i], x[f + i]);
            }
            x[f] = here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DMatrix, DVector};
    use proptest::prelude::*;

    type Row = (isize, [f64; 3], f64);

    /// The same matrix with every entry of its own.
    fn dense(diagonal: &[f64], rows: &[Row]) -> DMatrix<f64> {
        let n = diagonal.len();
        let mut matrix = DMatrix::from_diagonal(&DVector::from_column_slice(diagonal));
        for (first, row, weight) in rows {
            let entry = |k: usize| usize::try_from(k as isize - first).ok().and_then(|i| row.get(i));
            let r = DVector::from_fn(n, |k, _| entry(k).copied().unwrap_or(0.0));
            matrix += &r * r.transpose() * *weight;
        }
        matrix
    }

    proptest! {
        /// Rows narrower than the bands, over both ends, past them, and as wide as the bands.
        #[test]
        fn a_few_bands_solve_as_the_whole_matrix(
            unknowns in proptest::collection::vec((0.5..2.0f64, prop::array::uniform2(-1.0..1.0f64)), 1..20),
            rows in proptest::collection::vec((-4..22isize, prop::array::uniform3(-2.0..2.0f64), 0.0..3.0f64), 0..40),
        ) {
            let (diagonal, wanted): (Vec<f64>, Vec<[f64; 2]>) = unknowns.into_iter().unzip();
            let whole = dense(&diagonal, &rows).lu();
            let (mut narrow, mut wide) = (Bands::<3>::diagonal(diagonal.clone()), Bands::<4>::diagonal(diagonal));
            for (first, row, weight) in rows {
                narrow.add(first, row, weight);
                wide.add(first, row, weight);
            }
            let (mut found, mut again) = (wanted.clone(), wanted.clone());
            narrow.factored().solve(&mut found);
            wide.factored().solve(&mut again);
            for k in 0..2 {
                let side = DVector::from_iterator(wanted.len(), wanted.iter().map(|w| w[k]));
                let expected = whole.solve(&side).unwrap();
                for (f, expected) in expected.iter().enumerate() {
                    prop_assert!((found[f][k] - expected).abs() < 1e-11, "{} {expected}", found[f][k]);
                    prop_assert!((again[f][k] - expected).abs() < 1e-11, "{} {expected}", again[f][k]);
                }
            }
        }
    }

    #[test]
    fn without_unknowns_there_is_nothing_to_solve() {
        let mut none = Bands::<4>::diagonal([]);
        none.add(-1, [1.0, -2.0, 1.0], 1.0);
        none.factored().solve::<1>(&mut []);
    }
}
