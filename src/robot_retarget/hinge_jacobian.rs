//! Derivatives of points and rotations of links by the unknowns.

use super::robot_state::{Placed, RobotState, Unknowns};
use crate::math::Vec3;

/// The derivative of a vector by every unknown that moves it.
#[derive(Clone, Debug, Default)]
pub(super) struct Jacobian {
    /// Ascending.
    pub(super) unknowns: Vec<usize>,
    pub(super) rows: Vec<[f64; 3]>,
}

impl Jacobian {
    pub(super) fn clear(&mut self) {
        self.unknowns.clear();
        self.rows.clear();
    }

    /// The columns of a link's chain in one frame: `base` gives those of the base, `hinge` that of a hinge.
    pub(super) fn fill(
        &mut self,
        unknowns: &Unknowns,
        first: usize,
        link: usize,
        base: [Vec3; 6],
        hinge: impl Fn(usize) -> Vec3,
    ) {
        for (k, column) in base.iter().enumerate() {
            self.unknowns.push(first + k);
            self.rows.push([column.x, column.y, column.z]);
        }
        let start = self.unknowns.len();
        for &h in &unknowns.chains[link] {
            let (unknown, factor) = unknowns.of_hinge[h];
            let column = hinge(h) * factor;
            let column = [column.x, column.y, column.z];
            match self.unknowns[start..].binary_search(&(first + unknown)) {
                Ok(known) => {
                    let row = &mut self.rows[start + known];
                    row.iter_mut().zip(column).for_each(|(x, y)| *x += y);
                }
                Err(at) => {
                    self.unknowns.insert(start + at, first + unknown);
                    self.rows.insert(start + at, column);
                }
            }
        }
    }

    pub(super) fn scale(&mut self, from: usize, factor: f64) {
        self.rows[from..].iter_mut().flatten().for_each(|x| *x *= factor);
    }
}

/// The base's columns of a point: it moves along, and rotates about the base's place.
fn base_of_point(arm: Vec3) -> [Vec3; 6] {
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    [axes[0], axes[1], axes[2], axes[0].cross(&arm), axes[1].cross(&arm), axes[2].cross(&arm)]
}

/// The base's columns of a rotation.
pub(super) fn base_of_rotation() -> [Vec3; 6] {
    let zero = Vec3::zeros();
    [zero, zero, zero, Vec3::x(), Vec3::y(), Vec3::z()]
}

/// The velocity of a point by a hinge.
pub(super) fn point_velocity(unknowns: &Unknowns, placed: &Placed, hinge: usize, point: Vec3) -> Vec3 {
    match unknowns.body.robot.hinges[hinge].slides {
        true => placed.axes[hinge],
        false => placed.axes[hinge].cross(&(point - placed.anchors[hinge])),
    }
}

/// Appends the columns of a point of a link in one frame.
pub(super) fn append_point(
    jacobian: &mut Jacobian,
    unknowns: &Unknowns,
    placed: &Placed,
    state: &RobotState,
    first: usize,
    link: usize,
    point: Vec3,
) {
    let base = base_of_point(point - state.base.translation);
    jacobian.fill(unknowns, first, link, base, |hinge| point_velocity(unknowns, placed, hinge, point));
}
