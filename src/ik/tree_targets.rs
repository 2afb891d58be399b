//! Position and orientation targets of the tree solver, one frame per lane: their errors and quadratics, and pins.
//!
//! A pin accumulates its error and adds it to later errors (augmented Lagrangian).
//! Space: model space. Units: metres, radians.

use super::outcome::Stop;
use super::task::{Goal, Task};
use super::tree_algebra::{
    Q, conjugate, multiply, near_hemisphere, over_sine, rotate, rotation_error, rotation_gap, splat, zero,
};
use super::tree_kernel::{TreeSlot, TreeStep};
use crate::math::{Real, Triple as V, Vec3, difference, dot, sum};

/// Factor on a pin's weight each time it is tightened: where soft tasks have larger weights, its error falls faster than
/// by the accumulated error alone.
const STIFFER: f64 = 3.0;

/// The state of a hard task.
#[derive(Clone, Copy, Debug)]
struct Pin<T> {
    /// The accumulated error: the Lagrange multiplier divided by the weight.
    sum: V<T>,
    /// Factor on its weight.
    stiffer: T,
}

impl<T: Real> Pin<T> {
    fn fresh() -> Self {
        Self { sum: zero(), stiffer: T::splat(1.0) }
    }

    /// Adds the error `r` and increases the weight, in the lanes of `lanes`.
    fn tighten(&mut self, r: V<T>, lanes: u32) {
        let share = T::splat(1.0 / STIFFER);
        self.sum = std::array::from_fn(|c| ((self.sum[c] + r[c]) * share).select(lanes, self.sum[c]));
        self.stiffer = (self.stiffer * T::splat(STIFFER)).select(lanes, self.stiffer);
    }
}

/// A position task with its target in every lane.
#[derive(Clone, Debug)]
struct PositionTarget<T> {
    task: usize,
    slot: usize,
    point: Option<V<T>>,
    target: V<T>,
    weight: T,
    pin: Option<Pin<T>>,
}

impl<T: Real> PositionTarget<T> {
    /// The current position of the point.
    #[inline(always)]
    fn at(&self, slot: &TreeSlot<T>) -> V<T> {
        match self.point {
            Some(point) => sum(slot.x, rotate(slot.g, point)),
            None => slot.x,
        }
    }
}

/// An orientation task with its target in every lane.
#[derive(Clone, Debug)]
struct OrientationTarget<T> {
    task: usize,
    slot: usize,
    target: Q<T>,
    weight: T,
    pin: Option<Pin<T>>,
}

/// The errors of all orientation tasks as arrays per component, so that several tasks share a register.
#[derive(Clone, Debug)]
struct RotationErrors<T> {
    gaps: Vec<Q<T>>,
    cosines: Vec<T>,
    squares: Vec<T>,
    ratios: Vec<T>,
}

/// The error, the weight and the squared length of the error, including a pin's contribution.
#[inline(always)]
fn pulled<T: Real>(pin: &Option<Pin<T>>, r: V<T>, weight: T, square: T) -> (V<T>, T, T) {
    let Some(pin) = pin else { return (r, weight, square) };
    let r = sum(r, pin.sum);
    (r, weight * pin.stiffer, dot(r, r))
}

impl<T: Real> RotationErrors<T> {
    #[inline(always)]
    fn find(&mut self, orientations: &[OrientationTarget<T>], slots: &[TreeSlot<T>]) {
        let Self { gaps, cosines, squares, ratios } = self;
        let positions = gaps.iter_mut().zip(cosines.iter_mut()).zip(squares.iter_mut());
        for (orientation, ((gap, cosine), square)) in orientations.iter().zip(positions) {
            *gap = near_hemisphere(multiply(orientation.target, conjugate(slots[orientation.slot].g)));
            (*cosine, *square) = (gap[0], gap[1] * gap[1] + gap[2] * gap[2] + gap[3] * gap[3]);
        }
        for ((ratio, cosine), square) in ratios.iter_mut().zip(cosines).zip(squares) {
            *ratio = over_sine(*cosine, *square);
        }
    }
}

/// All position and orientation tasks.
#[derive(Clone, Debug)]
pub(super) struct Targets<T> {
    positions: Vec<PositionTarget<T>>,
    orientations: Vec<OrientationTarget<T>>,
    errors: RotationErrors<T>,
    /// The squared error of every task, including tasks that are neither positions nor orientations.
    pub squares: Vec<T>,
}

impl<T: Real> Targets<T> {
    pub fn new(tasks: &[Task], slot_of: &[usize]) -> Self {
        let (mut positions, mut orientations) = (Vec::new(), Vec::new());
        for (number, task) in tasks.iter().enumerate() {
            let weight = T::splat(task.weight);
            let pin = task.hard.then(Pin::fresh);
            match &task.goal {
                Goal::Position { joint, point, .. } => {
                    let point = (*point != Vec3::zeros()).then(|| splat((*point).into()));
                    let slot = slot_of[joint.index()];
                    positions.push(PositionTarget { task: number, slot, point, target: zero(), weight, pin });
                }
                Goal::Orientation { joint, .. } => {
                    let slot = slot_of[joint.index()];
                    let target = [T::splat(0.0); 4];
                    orientations.push(OrientationTarget { task: number, slot, target, weight, pin });
                }
                _ => {}
            }
        }
        let (z, n) = (T::splat(0.0), orientations.len());
        let (gaps, numbers) = (vec![[z; 4]; n], vec![z; n]);
        let errors =
            RotationErrors { gaps, cosines: numbers.clone(), squares: numbers.clone(), ratios: numbers };
        Self { positions, orientations, errors, squares: vec![z; tasks.len()] }
    }

    /// Loads the targets of all lanes and resets pins.
    pub fn load(&mut self, tasks: &[&[Task]]) {
        for position in &mut self.positions {
            position.target = std::array::from_fn(|c| {
                T::from_lanes(|k| match &tasks[k][position.task].goal {
                    Goal::Position { target, .. } => target[c],
                    _ => 0.0,
                })
            });
            position.pin = position.pin.map(|_| Pin::fresh());
        }
        for orientation in &mut self.orientations {
            orientation.target = [3, 0, 1, 2].map(|c| {
                T::from_lanes(|k| match &tasks[k][orientation.task].goal {
                    Goal::Orientation { target, .. } => target.coords[c],
                    _ => 0.0,
                })
            });
            orientation.pin = orientation.pin.map(|_| Pin::fresh());
        }
    }

    /// The cost of every lane at the current slots, and the lanes in which a target is missed. With `build`, adds the
    /// quadratics to the step.
    #[inline(always)]
    pub fn assemble(&mut self, step: &mut TreeStep<T>, stop: &Stop, build: bool) -> (T, u32) {
        let origin = step.slots[0].x;
        let mut cost = T::splat(0.0);
        let mut missed = 0;
        for position in &self.positions {
            let y = position.at(&step.slots[position.slot]);
            let r = difference(position.target, y);
            let square = dot(r, r);
            self.squares[position.task] = square;
            missed |= T::splat(stop.position * stop.position).less(square);
            let (r, weight, square) = pulled(&position.pin, r, position.weight, square);
            cost += weight * square;
            if build {
                step.loads[position.slot].add_position(difference(y, origin), r, weight);
            }
        }
        self.errors.find(&self.orientations, &step.slots);
        for ((orientation, gap), ratio) in
            self.orientations.iter().zip(&self.errors.gaps).zip(&self.errors.ratios)
        {
            let (r, across, along) = rotation_error(*gap, *ratio);
            let square = dot(r, r);
            self.squares[orientation.task] = square;
            missed |= T::splat(stop.angle * stop.angle).less(square);
            let (r, weight, square) = pulled(&orientation.pin, r, orientation.weight, square);
            cost += weight * square;
            if build {
                step.loads[orientation.slot].add_orientation(*gap, (across, along), r, weight);
            }
        }
        (cost, missed)
    }

    /// Whether any task is a pin.
    pub fn are_pinned(&self) -> bool {
        self.positions.iter().any(|p| p.pin.is_some()) || self.orientations.iter().any(|f| f.pin.is_some())
    }

    /// The lanes in which a pin is not reached.
    pub fn unpinned(&self, stop: &Stop) -> u32 {
        let off = |task: usize, within: f64| T::splat(within * within).less(self.squares[task]);
        let positions = self.positions.iter().filter(|p| p.pin.is_some()).map(|p| off(p.task, stop.position));
        let orientations =
            self.orientations.iter().filter(|f| f.pin.is_some()).map(|f| off(f.task, stop.angle));
        positions.chain(orientations).fold(0, |lanes, more| lanes | more)
    }

    /// Tightens all pins by their current errors, in the lanes of `lanes`.
    pub fn tighten_pins(&mut self, step: &TreeStep<T>, lanes: u32) {
        for position in &mut self.positions {
            let r = difference(position.target, position.at(&step.slots[position.slot]));
            position.pin.iter_mut().for_each(|pin| pin.tighten(r, lanes));
        }
        for orientation in &mut self.orientations {
            let gap = multiply(orientation.target, conjugate(step.slots[orientation.slot].g));
            orientation.pin.iter_mut().for_each(|pin| pin.tighten(rotation_gap(gap).1.0, lanes));
        }
    }
}
