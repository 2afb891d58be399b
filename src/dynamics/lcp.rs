//! Solves boxed linear complementarity problems: impulses within bounds that reach their target velocities, or push
//! against a bound.
//!
//! `A x + b = w` with `x = lo => w >= 0`, `x = hi => w <= 0`, in between `w = 0`. Sources: K. Durikovic and K. Numata,
//! "Human Hand Model based on Rigid Body Dynamics", 2004, equations (6) to (14), with the sign of the constraint force
//! mixing corrected (`J q = c - C lambda`, so that `A = J W J^T + C`: with the printed sign a positive `C` makes the matrix
//! less definite and reverses velocities); projected Gauss-Seidel with friction bounds updated inside the sweep; a principal
//! pivoting polish (Murty 1974); for large problems conjugate gradients on the active set (Silcowitz-Hansen, Niebe and
//! Erleben, "A nonsmooth nonlinear conjugate gradient method", 2010, section 5). The tests compare with Dantzig's algorithm, which the paper uses. Units: impulses (N s or
//! N m s) and velocities.

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
pub(super) const POLISH_LIMIT: usize = 90;
/// Larger problems divide their sweeps into this many parts, with conjugate gradients after each.
const SUBSPACE_ROUNDS: usize = 6;
/// They are solved where no velocity is wrong by more than this share of the largest one without impulses: a stack at rest, whose
/// velocities without impulses are those of a step of falling, creeps by less than a micrometre in a minute.
const SOLVED: f64 = 1e-7;
impl BoxedProblem {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.b.len()
    }

    /// `A x + b` of one row.
    pub fn residual(&self, row: usize, x: &[f64]) -> f64 {
        self.b[row] + self.rows[row].iter().map(|&(j, a)| a * x[j]).sum::<f64>()
    }

    pub(super) fn limits(&self, row: usize, x: &[f64]) -> (f64, f64) {
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

    /// The rows of every island, ascending: rows that depend on each other, directly or through others.
    fn islands(&self) -> Vec<Vec<usize>> {
        let mut leader: Vec<usize> = (0..self.len()).collect();
        fn find(leader: &mut [usize], mut i: usize) -> usize {
            while leader[i] != i {
                leader[i] = leader[leader[i]];
                i = leader[i];
            }
            i
        }
        for i in 0..self.len() {
            let of_friction = match self.bounds[i] {
                ImpulseBound::Friction { normal, partner, .. } => [Some(normal), partner],
                ImpulseBound::Box { .. } => [None; 2],
            };
            for j in self.rows[i].iter().map(|e| e.0).chain(of_friction.into_iter().flatten()) {
                let (a, b) = (find(&mut leader, i), find(&mut leader, j));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut islands: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for row in 0..self.len() {
            islands[find(&mut leader, row)].push(row);
        }
        islands.retain(|rows| !rows.is_empty());
        islands
    }

    /// The problem of some rows, which form an island.
    fn part(&self, rows: &[usize]) -> Self {
        let place = |row: usize| rows.binary_search(&row).unwrap_or(0);
        let bound = |&row: &usize| match self.bounds[row] {
            ImpulseBound::Friction { normal, coefficient, partner } => {
                ImpulseBound::Friction { normal: place(normal), coefficient, partner: partner.map(place) }
            }
            same => same,
        };
        Self {
            rows: rows
                .iter()
                .map(|&row| self.rows[row].iter().map(|&(j, a)| (place(j), a)).collect())
                .collect(),
            b: rows.iter().map(|&row| self.b[row]).collect(),
            bounds: rows.iter().map(bound).collect(),
        }
    }

    /// [`BoxedProblem::solve`], or Gauss-Seidel alone without `polish`, for every island by itself.
    pub fn solve_islands(&self, x: &mut Vec<f64>, sweeps: usize, polish: bool) {
        let solve = |problem: &Self, x: &mut Vec<f64>| {
            if polish {
                problem.solve(x, sweeps);
            } else {
                problem.gauss_seidel(x, sweeps, 1e-6);
            }
        };
        let islands = self.islands();
        if islands.len() < 2 {
            return solve(self, x);
        }
        for rows in islands {
            let mut part: Vec<f64> = rows.iter().map(|&row| x[row]).collect();
            solve(&self.part(&rows), &mut part);
            for (&row, value) in rows.iter().zip(part) {
                x[row] = value;
            }
        }
    }

    /// Gauss-Seidel from `x`, then the polish; problems too large for it alternate sweeps and conjugate gradients. Returns
    /// whether the polish succeeded, or the sweeps converged.
    pub fn solve(&self, x: &mut Vec<f64>, sweeps: usize) -> bool {
        if self.len() <= POLISH_LIMIT {
            self.gauss_seidel(x, sweeps, 1e-9);
            return match self.polish(x) {
                Some(better) => {
                    x.copy_from_slice(&better);
                    true
                }
                None => false,
            };
        }
        let each = (sweeps / SUBSPACE_ROUNDS).max(1);
        let enough = SOLVED * self.b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for _ in 0..SUBSPACE_ROUNDS {
            if self.violation(x) <= enough {
                return true;
            }
            self.gauss_seidel(x, each, 1e-9);
            self.subspace_step(x);
        }
        false
    }
}
