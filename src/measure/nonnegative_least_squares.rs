//! Non-negative least squares with six rows: the combination of columns nearest to a target.
//!
//! The active-set method of Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23, with the passive
//! columns solved by the Cholesky factor of their normal equations: six rows allow no more than six of them.

/// Six numbers: a force and a moment.
pub type Row6 = [f64; 6];

/// A column counts as dependent on the passive ones if its part beyond their span, squared and relative to its length
/// squared, is below this.
const DEPENDENT: f64 = 1e-10;

fn dot(a: &Row6, b: &Row6) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// `target` minus the nearest point of the cone spanned by `columns`: what no non-negative combination can give.
pub fn residual(columns: &[Row6], target: &Row6) -> Row6 {
    let mut passive: Vec<usize> = Vec::with_capacity(6);
    let mut weights: Vec<f64> = Vec::with_capacity(6);
    let mut blocked = vec![false; columns.len()];
    let mut rest = *target;
    let lengths: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    let tiny = 1e-12 * dot(target, target).sqrt();
    // Each round raises the fit; the cap is for rounding only.
    for _ in 0..3 * columns.len() + 6 {
        let gain = |j: usize| dot(&columns[j], &rest) / lengths[j];
        let open = (0..columns.len()).filter(|j| !blocked[*j] && !passive.contains(j));
        let best = open.map(|j| (gain(j), j)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, entering)) = best.filter(|(gain, _)| *gain > tiny) else { break };
        passive.push(entering);
        weights.push(0.0);
        loop {
            let Some(solved) = solve(columns, &passive, target) else {
                // The newcomer lies in the span of the others.
                blocked[entering] = true;
                passive.pop();
                weights.pop();
                break;
            };
            if solved.iter().take(passive.len()).all(|w| *w > 0.0) {
                weights.copy_from_slice(&solved[..passive.len()]);
                blocked.fill(false);
                break;
            }
            // Walk towards the solution until the first weight is gone.
            let step = (weights.iter().zip(&solved))
                .filter(|(_, to)| **to <= 0.0)
                .map(|(from, to)| from / (from - to))
                .fold(1.0, f64::min);
            for (from, to) in weights.iter_mut().zip(&solved) {
                *from += step * (to - *from);
            }
            let mut k = 0;
            let (mut kept, mut left) = (Vec::with_capacity(6), Vec::with_capacity(6));
            while k < passive.len() {
                if weights[k] > 1e-14 {
                    kept.push(passive[k]);
                    left.push(weights[k]);
                } else {
                    blocked[passive[k]] = passive[k] == entering;
                }
                k += 1;
            }
            (passive, weights) = (kept, left);
            if passive.is_empty() {
                break;
            }
        }
        rest = *target;
        for (j, w) in passive.iter().zip(&weights) {
            for (r, c) in rest.iter_mut().zip(&columns[*j]) {
                *r -= w * c;
            }
        }
    }
    rest
}

/// The least-squares weights of the passive columns; `None` where they depend on each other.
fn solve(columns: &[Row6], passive: &[usize], target: &Row6) -> Option<Row6> {
    let n = passive.len();
    if n > 6 {
        return None;
    }
    let mut factor = [[0.0; 6]; 6];
    let mut weights = [0.0; 6];
    for (i, a) in passive.iter().enumerate() {
        let square = dot(&columns[*a], &columns[*a]);
        for (j, b) in passive.iter().enumerate().take(i + 1) {
            let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
            let value = dot(&columns[*a], &columns[*b]) - known;
            factor[i][j] = match i == j {
                true if value > DEPENDENT * square => value.sqrt(),
                true => return None,
                false => value / factor[j][j],
            };
        }
        let known: f64 = (0..i).map(|k| factor[i][k] * weights[k]).sum();
        weights[i] = (dot(&columns[*a], target) - known) / factor[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| factor[k][i] * weights[k]).sum();
        weights[i] = (weights[i] - known) / factor[i][i];
    }
    Some(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Row6> {
        proptest::array::uniform6(-1.0..1.0f64)
    }

    proptest! {
        /// The conditions of Karush, Kuhn and Tucker: no column points into the residual, and the residual stands
        /// perpendicular to the point of the cone.
        #[test]
        fn the_residual_is_that_of_the_nearest_point(
            columns in proptest::collection::vec(rows(), 0..24),
            target in rows(),
        ) {
            let rest = residual(&columns, &target);
            for column in &columns {
                prop_assert!(dot(column, &rest) < 1e-7);
            }
            let nearest: Row6 = std::array::from_fn(|k| target[k] - rest[k]);
            prop_assert!(dot(&nearest, &rest).abs() < 1e-7);
        }

        #[test]
        fn a_combination_of_the_columns_leaves_nothing(
            columns in proptest::collection::vec(rows(), 1..16),
            weights in proptest::collection::vec(0.0..2.0f64, 16),
        ) {
            let mut target = [0.0; 6];
            for (column, w) in columns.iter().zip(&weights) {
                target.iter_mut().zip(column).for_each(|(t, c)| *t += w * c);
            }
            let rest = residual(&columns, &target);
            prop_assert!(dot(&rest, &rest).sqrt() < 1e-6);
        }
    }

    #[test]
    fn repeated_columns_are_one() {
        let up = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        let rest = residual(&[up, up, up], &[1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rest, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}
