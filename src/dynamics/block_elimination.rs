//! Block `L D L^T` elimination over the tree of bodies and constraints: an O(n) reference that supports compliance.
//!
//! Source: D. Baraff, "Linear-time dynamics using Lagrange multipliers", SIGGRAPH 1996. Nodes are bodies (block
//! `M_i`, 6 x 6) and constraints (block `-C_j`); elimination from leaves to roots causes no fill-in and needs no pivoting.
//! Space: generalised velocities are (world velocity of the centre of mass, object angular velocity). Units: SI.

use super::articulation::Articulation;
use super::constraint::ConstraintRows;
use super::rigid_body::{BodyAcceleration, BodyForce, BodyState};
use crate::math::{DMatrix, DVector, Mat6, Vec6};

/// The result of [`solve_blocks`].
#[derive(Clone, Debug)]
pub struct BlockSolution {
    /// The generalised acceleration (or velocity, or displacement) of every body.
    pub motions: Vec<BodyAcceleration>,
    /// The multipliers of every constraint's rows.
    pub multipliers: Vec<DVector<f64>>,
}

/// The accelerations under `forces`, which include gravity, friction and motors but not the gyroscopic torque.
/// Constraints are rigid, or have the compliances `C_j` where given: `J u' + C lambda = -gamma`. For trees: constraints that
/// close loops are left out, with empty multipliers.
pub fn solve_blocks(
    articulation: &Articulation,
    states: &[BodyState],
    forces: &[BodyForce],
    compliance: Option<&[DMatrix<f64>]>,
) -> BlockSolution {
    let blocks: Vec<ConstraintRows> = articulation.constraints().iter().map(|c| c.block(states)).collect();
    let rhs: Vec<DVector<f64>> = blocks.iter().map(|b| -&b.gamma).collect();
    let force = |(i, f): (usize, &BodyForce)| {
        let (w, inertia) = (states[i].angular_velocity, &articulation.bodies()[i].inertia);
        let t = f.torque - w.cross(&(inertia * w));
        Vec6::new(f.force.x, f.force.y, f.force.z, t.x, t.y, t.z)
    };
    let f: Vec<Vec6<f64>> = forces.iter().enumerate().map(force).collect();
    eliminate(articulation, &blocks, f, &rhs, compliance)
}

/// Solves `[M, J^T; J, -C] (u, -lambda) = (f, rhs)`.
fn eliminate(
    articulation: &Articulation,
    blocks: &[ConstraintRows],
    f: Vec<Vec6<f64>>,
    rhs: &[DVector<f64>],
    compliance: Option<&[DMatrix<f64>]>,
) -> BlockSolution {
    let (links, bodies) = (articulation.links(), articulation.bodies());
    let mut d: Vec<Mat6<f64>> = bodies
        .iter()
        .map(|b| {
            let mut m = Mat6::zeros();
            m.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(b.mass);
            m.fixed_view_mut::<3, 3>(3, 3).copy_from(&b.inertia);
            m
        })
        .collect();
    let mut h = f;
    let mut at_joint: Vec<Option<(DMatrix<f64>, DVector<f64>)>> = vec![None; blocks.len()];
    let sides = |k: usize, child_is_a: bool| {
        let b = &blocks[k];
        if child_is_a { (&b.jacobian_a, &b.jacobian_b) } else { (&b.jacobian_b, &b.jacobian_a) }
    };
    for link in links.iter().rev() {
        let Some(k) = link.constraint else { continue };
        let (child, parent) = sides(k, link.child_is_a);
        let factor = d[link.body].cholesky().expect("articulated inertias are positive definite");
        let x = factor.solve(&child.transpose());
        let mut joint = -(child * &x);
        if let Some(c) = compliance {
            joint -= &c[k];
        }
        let hj = &rhs[k] - x.tr_mul(&h[link.body]);
        let inverse = (-joint).cholesky().expect("constraint rows have full rank").inverse() * -1.0;
        if let Some(p) = link.parent {
            let body = links[p].body;
            let y = &inverse * parent;
            d[body] -= Mat6::from_iterator(parent.tr_mul(&y).iter().copied());
            d[body] = (d[body] + d[body].transpose()) * 0.5;
            h[body] -= Vec6::from_iterator(y.tr_mul(&hj).iter().copied());
        }
        at_joint[k] = Some((inverse, hj));
    }
    let mut u = vec![Vec6::zeros(); bodies.len()];
    let mut multipliers = vec![DVector::zeros(0); blocks.len()];
    for link in links {
        let factor = d[link.body].cholesky().expect("articulated inertias are positive definite");
        let mut f = h[link.body];
        if let Some(k) = link.constraint
            && let Some((inverse, hj)) = &at_joint[k]
        {
            let (child, parent) = sides(k, link.child_is_a);
            let above = link.parent.map_or(Vec6::zeros(), |p| u[links[p].body]);
            let y = inverse * (hj - parent * above);
            f -= Vec6::from_iterator(child.tr_mul(&y).iter().copied());
            multipliers[k] = -y;
        }
        u[link.body] = factor.solve(&f);
    }
    let motion = |u: &Vec6<f64>| BodyAcceleration {
        linear: u.fixed_rows::<3>(0).into_owned(),
        angular: u.fixed_rows::<3>(3).into_owned(),
    };
    BlockSolution { motions: u.iter().map(motion).collect(), multipliers }
}
