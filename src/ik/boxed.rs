//! Bounded least squares: each step minimises `|J d - e|^2 + damping |d|^2` with `low <= d <= high`.
//!
//! The quadratic program is solved by an active-set method: a degree of freedom that would exceed a bound is fixed at
//! it, and released when the gradient points back inside (Nocedal and Wright 2006, 16.5). Limits of hinges, slides and
//! two-axis joints are constraints of the program; ball joints are projected into their limit after the step. A
//! [`super::Goal::Balance`] task keeps the centre of mass over the support. Units: metres, radians.

use super::jacobian::iterate;
use super::limit::Limit;
use super::mechanism::Mechanism;
use super::outcome::{Progress, Solver, Stop};
use super::stacked_jacobian::StackedTasks;
use super::task::Task;
use crate::math::{DMatrix, DVector};
use crate::model::Pose;

/// Damped least squares with joint limits as bounds of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boxed {
    /// Added to the diagonal of the normal matrix, in units of weight times square metres.
    pub damping: f64,
    /// Largest change of one degree of freedom in one step, radians or metres.
    pub longest_step: f64,
}

impl Default for Boxed {
    fn default() -> Self {
        Self { damping: 1e-5, longest_step: 0.4 }
    }
}

impl Solver for Boxed {
    fn name(&self) -> &'static str {
        "boxed"
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        iterate(
            mechanism,
            tasks,
            pose,
            stop,
            |s| s.error.norm_squared(),
            |pose, s| self.step(mechanism, pose, &s),
        )
    }
}

impl Boxed {
    fn step(&self, mechanism: &Mechanism, pose: &Pose, s: &StackedTasks) -> DVector<f64> {
        let n = mechanism.dofs();
        let mut low = DVector::repeat(n, -self.longest_step);
        let mut high = DVector::repeat(n, self.longest_step);
        for id in mechanism.skeleton().ids() {
            let Some(limit) = mechanism.limit(id) else { continue };
            let rest = &mechanism.skeleton().joint(id).rest;
            let (values, ranges) = match limit {
                Limit::Range(r) => {
                    (limit.coordinates(&mechanism.freedom(id), rest, pose.joint(id)), vec![*r])
                }
                Limit::Ranges(r) => {
                    (limit.coordinates(&mechanism.freedom(id), rest, pose.joint(id)), r.to_vec())
                }
                Limit::SwingTwist(_) => continue,
            };
            for ((dof, value), range) in mechanism.dofs_of(id).zip(values).zip(ranges) {
                low[dof] = low[dof].max((range.low - value).min(0.0));
                high[dof] = high[dof].min((range.high - value).max(0.0));
            }
        }
        let normal = s.jacobian.transpose() * &s.jacobian + DMatrix::identity(n, n) * self.damping.max(1e-12);
        bounded_minimum(&normal, &(s.jacobian.transpose() * &s.error), &low, &high)
    }
}

/// Minimises `x^T H x / 2 - g^T x` within bounds, for a positive definite `H`.
pub fn bounded_minimum(
    h: &DMatrix<f64>,
    g: &DVector<f64>,
    low: &DVector<f64>,
    high: &DVector<f64>,
) -> DVector<f64> {
    let n = g.len();
    let mut x = DVector::zeros(n).zip_zip_map(low, high, |v: f64, a: f64, b: f64| v.max(a).min(b));
    let mut held = vec![false; n];
    // Each round fixes or releases at least one variable; the limit only guards against rounding.
    for _ in 0..4 * n + 8 {
        let free: Vec<usize> = (0..n).filter(|&i| !held[i]).collect();
        let slope = g - h * &x;
        let wanted = if free.is_empty() {
            None
        } else {
            let part = h.select_rows(&free).select_columns(&free);
            part.cholesky().map(|c| c.solve(&slope.select_rows(&free)))
        };
        let mut share = 1.0;
        let mut first = None;
        if let Some(step) = &wanted {
            for (k, &i) in free.iter().enumerate() {
                let room = if step[k] < 0.0 { low[i] - x[i] } else { high[i] - x[i] };
                if step[k] != 0.0 && room / step[k] < share {
                    share = (room / step[k]).max(0.0);
                    first = Some((i, if step[k] < 0.0 { low[i] } else { high[i] }));
                }
            }
            for (k, &i) in free.iter().enumerate() {
                x[i] += share * step[k];
            }
        }
        if let Some((i, bound)) = first {
            x[i] = bound;
            held[i] = true;
            continue;
        }
        // At the minimum over the free variables: release the fixed one with the steepest gradient towards the inside.
        let slope = g - h * &x;
        let inward = |i: usize| if x[i] <= low[i] { slope[i] } else { -slope[i] };
        let worst =
            (0..n).filter(|&i| held[i] && low[i] < high[i]).max_by(|&i, &j| inward(i).total_cmp(&inward(j)));
        match worst {
            Some(i) if inward(i) > 1e-12 * (1.0 + g.amax()) => held[i] = false,
            _ => break,
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bounded_minimum_meets_its_conditions(v in proptest::collection::vec(-1.0..1.0f64, 36 + 6)) {
            let m = DMatrix::from_iterator(6, 6, v[..36].iter().copied());
            let h = m.transpose() * &m + DMatrix::identity(6, 6) * 0.05;
            let g = DVector::from_iterator(6, v[36..].iter().copied());
            let (low, high) = (DVector::repeat(6, -0.3), DVector::repeat(6, 0.2));
            let x = bounded_minimum(&h, &g, &low, &high);
            let slope = &g - &h * &x;
            for i in 0..6 {
                prop_assert!((-0.3..=0.2).contains(&x[i]));
                prop_assert!(x[i] == -0.3 || slope[i] > -1e-9, "pulled down inside");
                prop_assert!(x[i] == 0.2 || slope[i] < 1e-9, "pulled up inside");
            }
        }
    }
}
