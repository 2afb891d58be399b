//! Least squares over the frames of a clip with N unknowns per frame whose second differences are penalised.
//!
//! The matrix has a dense block per frame, coupled to the next two frames by multiples of one diagonal matrix. It is
//! eliminated block by block (block `L D L'`; Golub and Van Loan, Matrix Computations, 2013, section 4.5), without pivoting:
//! time and memory are linear in the frames.

use crate::math::in_wide_registers;

type Matrix<const N: usize> = [[f64; N]; N];

/// The equations of one frame: a symmetric positive definite matrix and the right-hand side.
#[derive(Clone, Debug)]
pub struct FrameBlock<const N: usize> {
    /// The matrix, without the penalty.
    pub matrix: Matrix<N>,
    /// The right-hand side.
    pub right_hand_side: [f64; N],
}

/// The penalty on second differences: its weight for each unknown.
#[derive(Clone, Copy, Debug)]
pub struct Smoothness<const N: usize>(pub [f64; N]);

/// The entries of the matrix of squared second differences of `n` values in row `f`: on the diagonal and for the next two.
fn second_differences(n: usize, f: usize) -> [f64; 3] {
    // Row k of the differences is over the values k, k + 1 and k + 2.
    let row = |k: Option<usize>| f64::from(u8::from(k.is_some_and(|k| k + 2 < n)));
    let (own, before, two_before) = (row(Some(f)), row(f.checked_sub(1)), row(f.checked_sub(2)));
    [own + 4.0 * before + two_before, -2.0 * (own + before), own]
}

impl<const N: usize> Smoothness<N> {
    /// Subtracts the gradient of the penalty at `x` from the right-hand sides.
    pub fn subtract_gradient(&self, x: &[[f64; N]], blocks: &mut [FrameBlock<N>]) {
        for k in 0..x.len().saturating_sub(2) {
            for (i, weight) in self.0.iter().enumerate() {
                let bend = weight * (x[k][i] - 2.0 * x[k + 1][i] + x[k + 2][i]);
                blocks[k].right_hand_side[i] -= bend;
                blocks[k + 1].right_hand_side[i] += 2.0 * bend;
                blocks[k + 2].right_hand_side[i] -= bend;
            }
        }
    }

    /// The solution, frame by frame.
    pub fn solve(&self, mut blocks: Vec<FrameBlock<N>>) -> Vec<[f64; N]> {
        let n = blocks.len();
        // Per frame: the inverse of the eliminated block times the couplings to the next two frames.
        let mut couplings: Vec<[Matrix<N>; 2]> = Vec::with_capacity(n);
        in_wide_registers(
            #[inline(always)]
            || self.eliminate(&mut blocks, &mut couplings),
        );
        let mut x: Vec<[f64; N]> = blocks.into_iter().map(|b| b.right_hand_side).collect();
        for f in (0..n).rev() {
            let (own, later) = x[f..].split_first_mut().expect("a frame");
            for (coupling, later) in couplings[f].iter().zip(later.iter()) {
                for (own, row) in own.iter_mut().zip(coupling) {
                    *own -= row.iter().zip(later).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
        x
    }

    /// Forward elimination; the right-hand sides become those of the unit upper triangular system of `couplings`.
    #[inline(always)]
    fn eliminate(&self, blocks: &mut [FrameBlock<N>], couplings: &mut Vec<[Matrix<N>; 2]>) {
        let n = blocks.len();
        let mut to_next: Matrix<N> = [[0.0; N]; N];
        for f in 0..n {
            let [own, next, second] = second_differences(n, f);
            for (i, weight) in self.0.iter().enumerate() {
                blocks[f].matrix[i][i] += own * weight;
                to_next[i][i] += next * weight;
            }
            let inverse = inverse(&blocks[f].matrix);
            let first = product(&inverse, &to_next);
            let mut two = inverse;
            for row in &mut two {
                row.iter_mut().zip(&self.0).for_each(|(x, s)| *x *= second * s);
            }
            let right_hand_side = times(&inverse, &blocks[f].right_hand_side);
            blocks[f].right_hand_side = right_hand_side;
            let mut after: Matrix<N> = [[0.0; N]; N];
            if f + 1 < n {
                let block = &mut blocks[f + 1];
                for k in 0..N {
                    for i in 0..N {
                        let share = to_next[k][i];
                        for j in 0..N {
                            block.matrix[i][j] -= share * first[k][j];
                            after[i][j] -= share * two[k][j];
                        }
                        block.right_hand_side[i] -= share * right_hand_side[k];
                    }
                }
            }
            if f + 2 < n {
                let block = &mut blocks[f + 2];
                for i in 0..N {
                    let share = second * self.0[i];
                    block.matrix[i].iter_mut().zip(&two[i]).for_each(|(x, y)| *x -= share * y);
                    block.right_hand_side[i] -= share * right_hand_side[i];
                }
            }
            couplings.push([first, two]);
            to_next = after;
        }
    }
}

/// The inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination without pivoting.
///
/// Matrix and inverse are made symmetric to the last bit: what rounding leaves of the opposite grows from frame to frame, and
/// after some fifty frames of a stiff chain the solution is wrong.
#[inline(always)]
fn inverse<const N: usize>(matrix: &Matrix<N>) -> Matrix<N> {
    let mut a = symmetric(matrix);
    for k in 0..N {
        let pivot = 1.0 / a[k][k];
        a[k][k] = 1.0;
        a[k].iter_mut().for_each(|x| *x *= pivot);
        let row = a[k];
        for (i, other) in a.iter_mut().enumerate() {
            if i != k {
                let share = other[k];
                other[k] = 0.0;
                for (x, y) in other.iter_mut().zip(&row) {
                    *x -= share * y;
                }
            }
        }
    }
    symmetric(&a)
}

/// The mean of a matrix and its transpose.
#[inline(always)]
fn symmetric<const N: usize>(a: &Matrix<N>) -> Matrix<N> {
    let mut result = *a;
    for i in 0..N {
        for j in 0..N {
            result[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
    }
    result
}

#[inline(always)]
fn product<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    let mut result = [[0.0; N]; N];
    for (row, a) in result.iter_mut().zip(a) {
        for (share, b) in a.iter().zip(b) {
            for (x, y) in row.iter_mut().zip(b) {
                *x += share * y;
            }
        }
    }
    result
}

#[inline(always)]
fn times<const N: usize>(a: &Matrix<N>, v: &[f64; N]) -> [f64; N] {
    let mut result = [0.0; N];
    for (x, row) in result.iter_mut().zip(a) {
        *x = row.iter().zip(v).map(|(a, b)| a * b).sum();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DMatrix, DVector};
    use proptest::prelude::*;

    proptest! {
        /// Clips of any length against the whole matrix.
        #[test]
        fn blocks_solve_as_the_whole_matrix(
            frames in proptest::collection::vec((prop::array::uniform9(-1.0..1.0f64), prop::array::uniform3(-1.0..1.0f64)), 1..12),
            weights in prop::array::uniform3(0.0..50.0f64),
        ) {
            let n = frames.len();
            let matrix = |m: &[f64; 9]| {
                let half = DMatrix::from_row_slice(3, 3, m);
                &half * half.transpose() + DMatrix::identity(3, 3)
            };
            let mut whole = DMatrix::zeros(3 * n, 3 * n);
            for (f, (m, _)) in frames.iter().enumerate() {
                whole.view_mut((3 * f, 3 * f), (3, 3)).copy_from(&matrix(m));
            }
            for k in 0..n.saturating_sub(2) {
                for (i, weight) in weights.iter().enumerate() {
                    let mut row = DVector::zeros(3 * n);
                    [1.0, -2.0, 1.0].into_iter().enumerate().for_each(|(j, x)| row[3 * (k + j) + i] = x);
                    whole += &row * row.transpose() * *weight;
                }
            }
            let right_hand_side = DVector::from_iterator(3 * n, frames.iter().flat_map(|f| f.1));
            let expected = whole.clone().lu().solve(&right_hand_side).unwrap();
            let block = |(m, right_hand_side): &([f64; 9], [f64; 3])| {
                let m = matrix(m);
                let matrix = std::array::from_fn(|i| std::array::from_fn(|j| m[(i, j)]));
                FrameBlock { matrix, right_hand_side: *right_hand_side }
            };
            let blocks: Vec<_> = frames.iter().map(block).collect();
            let found = Smoothness(weights).solve(blocks.clone());
            for (found, expected) in found.iter().flatten().zip(expected.iter()) {
                prop_assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
            // The gradient is that of the same penalty.
            let mut right_hand_sides = blocks.clone();
            Smoothness(weights).subtract_gradient(&found, &mut right_hand_sides);
            for f in 0..n {
                for i in 0..3 {
                    let own: f64 = (0..3).map(|j| blocks[f].matrix[i][j] * found[f][j]).sum();
                    prop_assert!((own - right_hand_sides[f].right_hand_side[i]).abs() < 1e-8);
                }
            }
        }
    }

    /// Equal equations in all frames have an equal solution, however long and stiff the chain.
    #[test]
    fn a_long_stiff_chain_keeps_its_digits() {
        let column = |k: usize| [1.0, -2.0, 0.5, 3.0].map(|x| x + 7.0 * k as f64 % 5.0);
        let mut block = FrameBlock { matrix: [[0.0; 4]; 4], right_hand_side: [1.0, -1.0, 2.0, 0.5] };
        for k in 0..4 {
            let row = column(k);
            (0..4).for_each(|i| (0..4).for_each(|j| block.matrix[i][j] += 60.0 * row[i] * row[j]));
            block.matrix[k][k] += 100.0;
        }
        let inverse = inverse(&block.matrix);
        let expected = times(&inverse, &block.right_hand_side);
        for stiff in [1.0, 1e3, 1e5, 1e7] {
            let found = Smoothness([stiff; 4]).solve(vec![block.clone(); 3000]);
            for (found, expected) in found.iter().flat_map(|x| x.iter().zip(&expected)) {
                assert!((found - expected).abs() < 1e-9, "{stiff}: {found} {expected}");
            }
        }
    }
}
