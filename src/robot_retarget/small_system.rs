//! A damped least-squares step with few unknowns.

/// Most unknowns: the hinges of a limb or a waist. A longer chain moves with its first ones.
const MOST: usize = 16;

/// The step that lowers the sum of squares of `rows`, each with its derivatives and its residual. Unknowns that `held` says are
/// at a limit, given the gradient, do not move.
pub(super) fn damped_step(
    rows: &[(Vec<f64>, f64)],
    damping: f64,
    held: impl Fn(usize, f64) -> bool,
) -> Vec<f64> {
    let count = rows.first().map_or(0, |row| row.0.len());
    let n = count.min(MOST);
    let mut matrix = [[0.0f64; MOST]; MOST];
    let mut gradient = [0.0f64; MOST];
    for (row, residual) in rows {
        for i in 0..n {
            if row[i] == 0.0 {
                continue;
            }
            gradient[i] += row[i] * residual;
            for j in 0..=i {
                matrix[i][j] += row[i] * row[j];
            }
        }
    }
    let fixed: [bool; MOST] = std::array::from_fn(|k| k < n && held(k, gradient[k]));
    for i in 0..n {
        matrix[i][i] += damping;
        if fixed[i] {
            gradient[i] = 0.0;
            (0..i).for_each(|j| matrix[i][j] = 0.0);
            (i + 1..n).for_each(|j| matrix[j][i] = 0.0);
            matrix[i][i] = 1.0;
        }
    }
    // Cholesky: the damping makes the matrix positive definite.
    for j in 0..n {
        for k in 0..j {
            let share = matrix[j][k];
            for row in matrix.iter_mut().take(n).skip(j) {
                row[j] -= row[k] * share;
            }
        }
        let root = matrix[j][j].max(f64::MIN_POSITIVE).sqrt();
        for row in matrix.iter_mut().take(n).skip(j) {
            row[j] /= root;
        }
    }
    let mut step = vec![0.0; count];
    for i in 0..n {
        let known: f64 = (0..i).map(|j| matrix[i][j] * step[j]).sum();
        step[i] = (-gradient[i] - known) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| matrix[j][i] * step[j]).sum();
        step[i] = (step[i] - known) / matrix[i][i];
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_solves_the_normal_equations_and_holds_what_is_held() {
        let rows = vec![(vec![2.0, 1.0, 0.0], 1.0), (vec![0.0, 1.0, -1.0], -2.0), (vec![1.0, 0.0, 3.0], 0.5)];
        let damping = 0.1;
        let step = damped_step(&rows, damping, |_, _| false);
        for k in 0..3 {
            let gradient: f64 = rows
                .iter()
                .map(|(row, r)| row[k] * (r + row.iter().zip(&step).map(|(a, b)| a * b).sum::<f64>()))
                .sum();
            assert!((gradient + damping * step[k]).abs() < 1e-12);
        }
        let held = damped_step(&rows, damping, |k, _| k == 1);
        assert!(held[1] == 0.0 && (held[0] - step[0]).abs() > 1e-3);
    }
}
