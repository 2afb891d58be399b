//! A damped least-squares step with few unknowns.

use crate::math::Vec3;

/// Most unknowns: the hinges of a limb or a waist. A longer chain moves with its first ones.
pub(super) const MOST: usize = 16;

/// The normal equations of rows with few unknowns.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallSystem {
    count: usize,
    /// The part below the diagonal, and it.
    matrix: [[f64; MOST]; MOST],
    gradient: [f64; MOST],
}

impl SmallSystem {
    /// Removes all rows, and adds `damping` to the diagonal.
    pub(super) fn clear(&mut self, unknowns: usize, damping: f64) {
        self.count = unknowns.min(MOST);
        for (k, row) in self.matrix[..self.count].iter_mut().enumerate() {
            row[..k].fill(0.0);
            row[k] = damping;
        }
        self.gradient = [0.0; MOST];
    }

    /// Adds three rows with a residual each; `columns` are their derivatives by the first unknowns.
    pub(super) fn add(&mut self, columns: &[Vec3], residual: &Vec3) {
        for (i, column) in columns.iter().enumerate().take(self.count) {
            self.gradient[i] += column.dot(residual);
            for (sum, other) in self.matrix[i].iter_mut().zip(&columns[..=i]) {
                *sum += column.dot(other);
            }
        }
    }

    /// Adds a row that pulls one unknown by `by` to its place, with a weight.
    pub(super) fn pull(&mut self, unknown: usize, by: f64, weight: f64) {
        if unknown < self.count {
            self.matrix[unknown][unknown] += weight;
            self.gradient[unknown] += weight * by;
        }
    }

    /// The step that lowers the sum of squares. Unknowns that `held` says are at a limit, given the gradient, do not move.
    pub(super) fn step(&mut self, held: impl Fn(usize, f64) -> bool) -> [f64; MOST] {
        // The compiler then knows that all indices are within.
        let n = self.count.min(MOST);
        let (matrix, gradient) = (&mut self.matrix, &mut self.gradient);
        for i in 0..n {
            if held(i, gradient[i]) {
                gradient[i] = 0.0;
                (0..i).for_each(|j| matrix[i][j] = 0.0);
                (i + 1..n).for_each(|j| matrix[j][i] = 0.0);
                matrix[i][i] = 1.0;
            }
        }
        // Cholesky: the damping makes the matrix positive definite. The diagonal is kept as its inverse: a single division per column.
        for j in 0..n {
            for i in j..n {
                let known: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
                let left = matrix[i][j] - known;
                matrix[i][j] =
                    if i == j { 1.0 / left.max(f64::MIN_POSITIVE).sqrt() } else { left * matrix[j][j] };
            }
        }
        let mut step = [0.0; MOST];
        for i in 0..n {
            let known: f64 = (0..i).map(|j| matrix[i][j] * step[j]).sum();
            step[i] = (-gradient[i] - known) * matrix[i][i];
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| matrix[j][i] * step[j]).sum();
            step[i] = (step[i] - known) * matrix[i][i];
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_solves_the_normal_equations_and_holds_what_is_held() {
        let columns = [Vec3::new(2.0, 0.0, 1.0), Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.0, -1.0, 3.0)];
        let residual = Vec3::new(1.0, -2.0, 0.5);
        let damping = 0.1;
        let mut system = SmallSystem::default();
        system.add(&columns, &residual);
        system.clear(3, damping);
        system.add(&columns, &residual);
        // The third of two columns is zero.
        system.add(&columns[..2], &residual);
        system.pull(1, 0.4, 2.0);
        let step = system.clone().step(|_, _| false);
        for k in 0..3 {
            let both = columns[0] * step[0] + columns[1] * step[1];
            let all = both + columns[2] * step[2] + residual;
            let second = if k < 2 { columns[k].dot(&(both + residual)) } else { 0.0 };
            let pull = if k == 1 { 2.0 * (0.4 + step[1]) } else { 0.0 };
            assert!((columns[k].dot(&all) + second + pull + damping * step[k]).abs() < 1e-12, "{k}");
        }
        let held = system.step(|k, _| k == 1);
        assert!(held[1] == 0.0 && (held[0] - step[0]).abs() > 1e-3);
    }
}
