//! Solves boxed linear complementarity problems: impulses within bounds that reach their target velocities, or push
//! against a bound.
//!
//! `A x + b = w` with `x = lo => w >= 0`, `x = hi => w <= 0`, in between `w = 0`. Sources: K. Durikovic and K. Numata,
//! "Human Hand Model based on Rigid Body Dynamics", 2004, equations (6) to (14), with the sign of the constraint force
//! mixing corrected (`J q = c - C lambda`, so that `A = J W J^T + C`: with the printed sign a positive `C` makes the matrix
//! less definite and reverses velocities); projected Gauss-Seidel with friction bounds updated inside the sweep; a principal
//! pivoting polish (Murty 1974). The tests compare with Dantzig's algorithm, which the paper uses. Units: impulses (N s or
//! N m s) and velocities.

use crate::math::{DMatrix, DVector};

/// The bounds of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImpulseBound {
    /// Constant bounds; infinite ones are allowed.
    Box {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// At most `coefficient` times the impulse of the row `normal`, in both directions.
    Friction {
        /// The row of the normal impulse; it comes before this one.
        normal: usize,
        /// Coulomb's coefficient.
        coefficient: f64,
        /// The row of the other tangent, where the pair is limited to a disc instead of a square.
        partner: Option<usize>,
    },
}

/// A boxed problem with a sparse symmetric matrix.
#[derive(Clone, Debug, Default)]
pub struct BoxedProblem {
    /// For each row its entries: column and value. The diagonal entry exists and is positive.
    pub rows: Vec<Vec<(usize, f64)>>,
    /// For each row the velocity without impulses minus the target velocity.
    pub b: Vec<f64>,
    /// The bounds.
    pub bounds: Vec<ImpulseBound>,
}

/// Problems with more rows are not polished: the polish solves dense systems, with a cost cubic in the rows.
const POLISH_LIMIT: usize = 90;
/// The most rounds of the polish; active sets that cycle are abandoned after that.
const POLISH_ROUNDS: usize = 12;

impl BoxedProblem {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.b.len()
    }

    /// `A x + b` of one row.
    pub fn residual(&self, row: usize, x: &[f64]) -> f64 {
        self.b[row] + self.rows[row].iter().map(|&(j, a)| a * x[j]).sum::<f64>()
    }

    fn limits(&self, row: usize, x: &[f64]) -> (f64, f64) {
        match self.bounds[row] {
            ImpulseBound::Box { low, high } => (low, high),
            ImpulseBound::Friction { normal, coefficient, .. } => {
                let most = coefficient * x[normal].max(0.0);
                (-most, most)
            }
        }
    }

    /// Projected Gauss-Seidel from `x`, in place: at most `sweeps`, ending when the largest change falls below
    /// `tolerance` times the largest impulse. Returns the number of sweeps.
    pub fn gauss_seidel(&self, x: &mut [f64], sweeps: usize, tolerance: f64) -> usize {
        let diagonal: Vec<f64> =
            (0..self.len()).map(|i| self.rows[i].iter().find(|e| e.0 == i).map_or(1.0, |e| e.1)).collect();
        for sweep in 0..sweeps {
            let (mut change, mut largest) = (0.0f64, 0.0f64);
            for i in 0..self.len() {
                if let ImpulseBound::Friction { normal, coefficient, partner: Some(other) } = self.bounds[i] {
                    // Both rows of a pair are updated at its second row: a gradient step, then a projection onto the disc.
                    if other < i {
                        let before = [x[i], x[other]];
                        let step = self.rows[i].iter().find(|e| e.0 == other).map_or(0.0, |e| e.1);
                        let (p, q) = (diagonal[i], diagonal[other]);
                        let curvature = 0.5 * (p + q) + (0.25 * (p - q) * (p - q) + step * step).sqrt();
                        let (r, s) = (self.residual(i, x), self.residual(other, x));
                        (x[i], x[other]) = (x[i] - r / curvature, x[other] - s / curvature);
                        let (most, length) = (coefficient * x[normal].max(0.0), libm::hypot(x[i], x[other]));
                        if length > most {
                            let k = most / length;
                            (x[i], x[other]) = (x[i] * k, x[other] * k);
                        }
                        change = change.max((x[i] - before[0]).abs()).max((x[other] - before[1]).abs());
                    }
                    continue;
                }
                let before = x[i];
                let wanted = before - self.residual(i, x) / diagonal[i];
                let (low, high) = self.limits(i, x);
                x[i] = wanted.clamp(low, high);
                change = change.max((x[i] - before).abs());
                largest = largest.max(x[i].abs());
            }
            if change <= tolerance * largest {
                return sweep + 1;
            }
        }
        sweeps
    }

    /// Solves the problem exactly for the active set of `x`, moves rows that violate their condition to another set, and
    /// repeats. `None` where the set does not settle, the problem is too large, or a contact with a friction disc slides.
    pub fn polish(&self, x: &[f64]) -> Option<Vec<f64>> {
        let n = self.len();
        if n == 0 || n > POLISH_LIMIT {
            return None;
        }
        let scale = x.iter().fold(1e-12f64, |m, v| m.max(v.abs()));
        let speed = self.b.iter().fold(1e-9f64, |m, v| m.max(v.abs()));
        // -1 and 1: at the lower or upper bound; 0: free.
        let mut set: Vec<i8> = (0..n)
            .map(|i| {
                let (low, high) = self.limits(i, x);
                let near = 1e-9 * scale;
                if x[i] <= low + near {
                    -1
                } else if x[i] >= high - near {
                    1
                } else {
                    0
                }
            })
            .collect();
        for _ in 0..POLISH_ROUNDS {
            let y = self.solve_set(&set)?;
            let mut settled = true;
            for i in 0..n {
                let (low, high) = self.limits(i, &y);
                let w = self.residual(i, &y);
                let next = match set[i] {
                    0 if y[i] < low - 1e-12 * scale => -1,
                    0 if y[i] > high + 1e-12 * scale => 1,
                    -1 if w < -1e-12 * speed && high > low => 0,
                    1 if w > 1e-12 * speed && high > low => 0,
                    same => same,
                };
                if next != set[i] {
                    set[i] = next;
                    settled = false;
                }
            }
            if settled {
                let slides = |i: &usize| {
                    matches!(self.bounds[*i], ImpulseBound::Friction { partner: Some(_), .. }) && set[*i] != 0
                };
                return if (0..n).any(|i| slides(&i)) { None } else { Some(y) };
            }
        }
        None
    }

    /// The impulses with the rows of the active set at their bounds and a zero residual in the others.
    fn solve_set(&self, set: &[i8]) -> Option<Vec<f64>> {
        let n = self.len();
        let mut a = DMatrix::zeros(n, n);
        let mut rhs = DVector::zeros(n);
        for i in 0..n {
            if set[i] == 0 {
                for &(j, value) in &self.rows[i] {
                    a[(i, j)] = value;
                }
                rhs[i] = -self.b[i];
                continue;
            }
            a[(i, i)] = 1.0;
            let sign = f64::from(set[i]);
            match self.bounds[i] {
                ImpulseBound::Box { low, high } => rhs[i] = if sign < 0.0 { low } else { high },
                ImpulseBound::Friction { normal, coefficient, .. } => a[(i, normal)] -= sign * coefficient,
            }
        }
        let y = a.lu().solve(&rhs)?;
        y.iter().all(|v| v.is_finite()).then(|| y.iter().copied().collect())
    }

    /// Gauss-Seidel from `x`, then the polish. Returns whether the polish succeeded.
    pub fn solve(&self, x: &mut [f64], sweeps: usize) -> bool {
        self.gauss_seidel(x, sweeps, 1e-9);
        match self.polish(x) {
            Some(better) => {
                x.copy_from_slice(&better);
                true
            }
            None => false,
        }
    }
}
