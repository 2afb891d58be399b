//! Solver for symmetric banded linear systems.
//!
//! The matrix is a diagonal plus `sum w r r'` over columns `r` of up to B neighbouring entries, as in penalised least
//! squares of differences. It is factored as `L D L'` without pivoting (Golub and Van Loan, Matrix Computations, 2013,
//! section 4.3), which is stable for positive definite matrices; time and memory are linear in the unknowns. Units: those of the entries.

use crate::math::in_wide_registers;
use crate::parallel;
use std::collections::VecDeque;
use std::ops::Range;

/// The second difference of three neighbours: curvature.
pub const BEND: [f64; 3] = [1.0, -2.0, 1.0];

/// The third difference of four neighbours: its jerk.
pub const JERK: [f64; 4] = [-1.0, 3.0, -3.0, 1.0];

/// A symmetric matrix with B bands, the diagonal and those on one side of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bands<const B: usize> {
    /// Per row: the diagonal entry and those to the right of it.
    rows: Vec<[f64; B]>,
}

impl<const B: usize> Bands<B> {
    /// A diagonal matrix.
    pub fn diagonal(entries: impl IntoIterator<Item = f64>) -> Self {
        let row = |entry| std::array::from_fn(|k| if k == 0 { entry } else { 0.0 });
        Self { rows: entries.into_iter().map(row).collect() }
    }

    /// Adds `weight r r'`, where `r` is `row` from entry `first` on and zero elsewhere; entries of the row beyond the ends
    /// are ignored.
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

    /// The matrix as `L D L'`, for solving.
    pub fn factored(self) -> FactoredBands<B> {
        let mut columns = self.rows;
        factor(&mut columns, usize::MAX);
        FactoredBands { columns }
    }
}

/// From rows of the diagonal entry and those to the right of it; entries beyond the last column are ignored.
impl<const B: usize> From<Vec<[f64; B]>> for Bands<B> {
    fn from(rows: Vec<[f64; B]>) -> Self {
        Self { rows }
    }
}

/// Factors the first `count` rows in place into columns of the factor; the rows after them become the Schur complement.
fn factor<const B: usize>(rows: &mut [[f64; B]], count: usize) {
    in_wide_registers(
        #[inline(always)]
        || {
            for f in 0..count.min(rows.len()) {
                let (head, tail) = rows[f..].split_first_mut().expect("a row that is there");
                let column = *head;
                for (i, row) in (1..B).zip(tail) {
                    // A zero entry changes nothing.
                    if column[i] == 0.0 {
                        continue;
                    }
                    let share = column[i] / column[0];
                    for (x, y) in row.iter_mut().zip(&column[i..]) {
                        *x -= share * y;
                    }
                    head[i] = share;
                }
            }
        },
    );
}

/// [`Bands`] as `L D L'`.
#[derive(Clone, Debug, PartialEq)]
pub struct FactoredBands<const B: usize> {
    /// Per column: the pivot, and the entries below it divided by the pivot.
    columns: Vec<[f64; B]>,
}

impl<const B: usize> FactoredBands<B> {
    /// Solves for K right-hand sides at once, in place.
    ///
    /// # Panics
    /// If the number of values differs from the number of rows.
    pub fn solve<const K: usize>(&self, x: &mut [[f64; K]]) {
        assert_eq!(x.len(), self.columns.len(), "a value for every row");
        forward(&self.columns, x);
        backward(&self.columns, x);
    }
}

/// One end of a matrix of B bands that is never stored as a whole: rows are generated on demand and factored block by
/// block.
#[derive(Debug)]
struct MatrixEnd<const B: usize, F> {
    /// The number of rows of this end, and of a block.
    rows: usize,
    block: usize,
    /// The number of following rows that it is coupled to.
    reach: usize,
    of: F,
}

/// Rows that are factored together: they fit into the cache of one core.
const BLOCK: usize = 1024;
/// Blocks of an end whose factor is kept for back substitution, the last ones: of 19 bands 160 kB each. Earlier ones are factored
/// again, so that memory does not grow with the clip.
const KEPT: usize = 16;

/// What forward elimination leaves for back substitution: per block the updated rows before it, and those after the last one;
/// and the factor's columns of the last [`KEPT`] blocks.
struct Eliminated<const B: usize> {
    left: Vec<Vec<[f64; B]>>,
    kept: VecDeque<Vec<[f64; B]>>,
}

impl<const B: usize, F: Fn(Range<usize>) -> Vec<[f64; B]> + Sync> MatrixEnd<B, F> {
    /// The rows of its blocks.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> {
        (0..self.rows).step_by(self.block).map(|first| first..(first + self.block).min(self.rows))
    }

    /// The factor's columns of a block, followed by the updated rows that it is coupled to. `left` is the same output of
    /// the previous block: the updated first rows of this one.
    fn factored(&self, rows: &Range<usize>, left: &[[f64; B]]) -> Vec<[f64; B]> {
        let mut window = left.to_vec();
        window.extend((self.of)(rows.start + left.len()..rows.end + self.reach));
        factor(&mut window, rows.len());
        window
    }

    /// Forward elimination of this end, with its effect on the right-hand side of the following unknowns.
    fn down(&self, x: &mut [[f64; 1]]) -> Eliminated<B> {
        let mut left = vec![(self.of)(0..self.reach)];
        let mut kept = VecDeque::with_capacity(KEPT + 1);
        for rows in self.blocks() {
            let columns = self.factored(&rows, &left[left.len() - 1]);
            forward(&columns[..rows.len()], &mut x[rows.start..]);
            left.push(columns[rows.len()..].to_vec());
            kept.push_back(columns);
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        Eliminated { left, kept }
    }

    /// Back substitution for the unknowns of this end, the following ones being known.
    fn up(&self, eliminated: Eliminated<B>, x: &mut [[f64; 1]]) {
        let Eliminated { left, kept } = eliminated;
        let mut blocks: Vec<Range<usize>> = self.blocks().collect();
        for (rows, columns) in blocks.split_off(blocks.len() - kept.len()).iter().zip(kept).rev() {
            backward(&columns[..rows.len()], &mut x[rows.start..]);
        }
        // A few blocks at a time: their factors are independent.
        let wave = 2 * crate::parallel::threads();
        for blocks in blocks.iter().zip(&left).collect::<Vec<_>>().rchunks(wave) {
            let columns: Vec<_> = parallel::map_each(blocks, 1, |(rows, left)| self.factored(rows, left));
            for ((rows, _), columns) in blocks.iter().zip(columns).rev() {
                backward(&columns[..rows.len()], &mut x[rows.start..]);
            }
        }
    }
}

/// Columns that are substituted together. One by one, each would wait until the unknowns of the one before are stored: with 19 bands
/// three to four times as long.
const TILE: usize = 4;

/// The number of columns that are substituted in tiles: all rows that these are coupled to are there.
fn tiled<const B: usize>(columns: usize, rows: usize) -> usize {
    columns.min(rows.saturating_sub(B - 1)) / TILE * TILE
}

/// The entries of each column of a tile below the tile, from its first row on.
#[inline(always)]
fn below<const B: usize>(tile: &[[f64; B]; TILE]) -> [&[f64]; TILE] {
    std::array::from_fn(|c| tile[c].get(TILE - c..).unwrap_or_default())
}

/// Forward substitution for these columns and the rows that they are coupled to.
fn forward<const B: usize, const K: usize>(columns: &[[f64; B]], x: &mut [[f64; K]]) {
    let tiled = tiled::<B>(columns.len(), x.len());
    in_wide_registers(
        #[inline(always)]
        || {
            for (t, tile) in columns[..tiled].as_chunks().0.iter().enumerate() {
                forward_tile(tile, &mut x[TILE * t..]);
            }
            for (f, column) in columns.iter().enumerate().skip(tiled) {
                let (here, later) = x[f..].split_first_mut().expect("a value for every column");
                later.iter_mut().zip(&column[1..]).for_each(|(later, share)| subtract(later, *share, here));
            }
        },
    );
}

/// Forward substitution for the columns of a tile; `x` starts with their unknowns.
#[inline(always)]
fn forward_tile<const B: usize, const K: usize>(tile: &[[f64; B]; TILE], x: &mut [[f64; K]]) {
    let (here, later) = x.split_first_chunk_mut::<TILE>().expect("values of a tile");
    let mut own = *here;
    for c in 1..TILE {
        let (known, next) = own.split_at_mut(c);
        for (b, known) in known.iter().enumerate() {
            tile[b].get(c - b).into_iter().for_each(|share| subtract(&mut next[0], *share, known));
        }
    }
    *here = own;
    let below = below(tile);
    // Rows that all columns of the tile are coupled to, then those of some.
    let common = B.saturating_sub(TILE);
    let shares = below.map(|entries| &entries[..common.min(entries.len())]);
    for (r, later) in later[..common].iter_mut().enumerate() {
        (0..TILE).for_each(|c| subtract(later, shares[c][r], &own[c]));
    }
    for (r, later) in later[..B - 1].iter_mut().enumerate().skip(common) {
        let shares = below.iter().map(|entries| entries.get(r));
        shares.zip(&own).filter_map(|(s, own)| Some((s?, own))).for_each(|(s, own)| subtract(later, *s, own));
    }
}

/// Back substitution for these columns, the following unknowns being known.
fn backward<const B: usize, const K: usize>(columns: &[[f64; B]], x: &mut [[f64; K]]) {
    let tiled = tiled::<B>(columns.len(), x.len());
    in_wide_registers(
        #[inline(always)]
        || {
            for (f, column) in columns.iter().enumerate().skip(tiled).rev() {
                let (here, later) = x[f..].split_first_mut().expect("a value for every column");
                *here = here.map(|own| own / column[0]);
                later.iter().zip(&column[1..]).for_each(|(later, share)| subtract(here, *share, later));
            }
            for (t, tile) in columns[..tiled].as_chunks().0.iter().enumerate().rev() {
                backward_tile(tile, &mut x[TILE * t..]);
            }
        },
    );
}

/// Back substitution for the columns of a tile; `x` starts with their unknowns.
#[inline(always)]
fn backward_tile<const B: usize, const K: usize>(tile: &[[f64; B]; TILE], x: &mut [[f64; K]]) {
    let (here, later) = x.split_first_chunk_mut::<TILE>().expect("values of a tile");
    let below = below(tile);
    let mut own: [[f64; K]; TILE] = std::array::from_fn(|c| here[c].map(|own| own / tile[c][0]));
    // Four sums at once for each column, of the rows that all columns are coupled to: one waits less for the other.
    let fours = B.saturating_sub(TILE) / 4;
    let shares = below.map(|entries| entries.as_chunks::<4>().0).map(|chunks| &chunks[..fours]);
    let mut sums = [[[0.0; K]; 4]; TILE];
    for (q, later) in later.as_chunks::<4>().0.iter().take(fours).enumerate() {
        for (sums, shares) in sums.iter_mut().zip(&shares) {
            for (p, sum) in sums.iter_mut().enumerate() {
                sum.iter_mut().zip(later[p]).for_each(|(sum, later)| *sum += shares[q][p] * later);
            }
        }
    }
    for (c, own) in own.iter_mut().enumerate() {
        let sum = |k: usize| (sums[c][0][k] + sums[c][1][k]) + (sums[c][2][k] + sums[c][3][k]);
        (0..K).for_each(|k| own[k] -= sum(k));
        let rest = below[c].iter().zip(later.iter()).skip(4 * fours);
        rest.for_each(|(share, later)| subtract(own, *share, later));
    }
    for c in (0..TILE - 1).rev() {
        let (next, known) = own.split_at_mut(c + 1);
        known.iter().zip(&tile[c][1..]).for_each(|(known, share)| subtract(&mut next[c], *share, known));
    }
    *here = own;
}

/// `x -= share * y`.
#[inline(always)]
fn subtract<const K: usize>(x: &mut [f64; K], share: f64, y: &[f64; K]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x -= share * y);
}

/// Solves a system of B bands for one right-hand side, in place, with little memory.
///
/// `of` generates ranges of rows, in multiples of `period`. All but the last rows of each end are generated and factored twice instead
/// of stored, and elimination proceeds from both ends in parallel to the middle rows that both are coupled to.
///
/// # Panics
/// If `of` returns another number of rows than requested.
pub fn solve_once<const B: usize>(
    x: &mut [f64],
    period: usize,
    of: impl Fn(Range<usize>) -> Vec<[f64; B]> + Sync,
) {
    let (n, block) = (x.len(), BLOCK.next_multiple_of(period));
    let x = x.as_chunks_mut::<1>().0;
    let reach = (B - 1).next_multiple_of(period).min(n);
    let first = (n - reach) / 2 / period * period;
    let front = MatrixEnd { rows: first, block, reach, of: &of };
    // The other end, with rows and unknowns reversed: entries left of the diagonal are those of earlier rows.
    let reversed = |rows: Range<usize>| -> Vec<[f64; B]> {
        let own = n - rows.end..n - rows.start;
        let start = own.start.saturating_sub(reach);
        let rows = of(start..own.end);
        let entry = |i: usize, k: usize| if k <= i { rows[i - k - start][k] } else { 0.0 };
        own.rev().map(|i| std::array::from_fn(|k| entry(i, k))).collect()
    };
    let back = MatrixEnd { rows: n - reach - first, block, reach, of: reversed };
    let (near, far) = x.split_at_mut(first + reach);
    let mut reversed_x = vec![[0.0]; back.rows + reach];
    reversed_x.iter_mut().zip(far.iter().rev()).for_each(|(reversed_x, far)| *reversed_x = *far);

    let (from_front, from_back) = parallel::join(|| front.down(near), || back.down(&mut reversed_x));
    let middle = &mut near[first..];
    middle.iter_mut().zip(reversed_x[back.rows..].iter().rev()).for_each(|(x, taken)| x[0] += taken[0]);
    let mut rows = of(first..first + reach);
    let (a, b) = (&from_front.left[from_front.left.len() - 1], &from_back.left[from_back.left.len() - 1]);
    for (i, row) in rows.iter_mut().enumerate() {
        for (k, entry) in row.iter_mut().enumerate().take(reach - i) {
            *entry = a[i][k] + (b[reach - 1 - i - k][k] - *entry);
        }
    }
    Bands::from(rows).factored().solve(middle);
    reversed_x[back.rows..].iter_mut().zip(middle.iter().rev()).for_each(|(reversed_x, x)| *reversed_x = *x);
    parallel::join(|| front.up(from_front, near), || back.up(from_back, &mut reversed_x));
    far.iter_mut().zip(reversed_x[..back.rows].iter().rev()).for_each(|(far, reversed_x)| *far = *reversed_x);
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

    proptest! {
        /// Periods of two unknowns, of which the first meets the next two of its kind, over the ends of blocks.
        #[test]
        fn what_is_told_twice_solves_as_what_is_kept(
            unknowns in proptest::collection::vec((0.5..2.0f64, -1.0..1.0f64, -1.0..1.0f64), 1..1300),
        ) {
            let n = 2 * unknowns.len();
            let fill = |wanted: Range<usize>| -> Vec<[f64; 5]> {
                let mut rows: Vec<[f64; 5]> =
                    (0..n).map(|k| [6.0 + unknowns[k / 2].0, 0.0, 0.0, 0.0, 0.0]).collect();
                let periods = unknowns.iter().enumerate().take(wanted.end / 2).skip(wanted.start / 2);
                for (k, (_, across, along)) in periods {
                    rows[2 * k][1] += across;
                    for ahead in [2, 4].into_iter().filter(|ahead| 2 * k + ahead < n) {
                        rows[2 * k][ahead] += along;
                    }
                    if 2 * k + 3 < n {
                        rows[2 * k + 1][2] += across;
                    }
                }
                rows
            };
            let side: Vec<f64> = unknowns.iter().flat_map(|u| [u.1, u.2]).collect();
            let mut found = side.clone();
            solve_once(&mut found, 2, |r: Range<usize>| fill(r.clone())[r].to_vec());
            let mut expected: Vec<[f64; 1]> = side.iter().map(|x| [*x]).collect();
            Bands::from(fill(0..n)).factored().solve(&mut expected);
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected[0]).abs() < 1e-13, "{found} {}", expected[0]);
            }
        }
    }

    #[test]
    fn blocks_whose_factor_was_not_kept_are_factored_again() {
        let n = 2 * (KEPT + 3) * BLOCK;
        let row = |k: usize| {
            [6.0 + libm::sin(k as f64), if k + 1 < n { -1.0 } else { 0.0 }, if k + 2 < n { 0.5 } else { 0.0 }]
        };
        let side: Vec<f64> = (0..n).map(|k| libm::cos(0.7 * k as f64)).collect();
        let mut found = side.clone();
        solve_once(&mut found, 1, |rows: Range<usize>| rows.map(row).collect());
        let mut expected: Vec<[f64; 1]> = side.iter().map(|x| [*x]).collect();
        Bands::from((0..n).map(row).collect::<Vec<_>>()).factored().solve(&mut expected);
        assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected[0]).abs() < 1e-13));
    }

    #[test]
    fn without_unknowns_there_is_nothing_to_solve() {
        let mut none = Bands::<4>::diagonal([]);
        none.add(-1, [1.0, -2.0, 1.0], 1.0);
        none.factored().solve::<1>(&mut []);
    }
}
