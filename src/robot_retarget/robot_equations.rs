//! The residuals of one frame and of its neighbours, with their derivatives.
//!
//! Every residual is linear in velocities of points (`z x (p - x)` per hinge) or in angular velocities (`z`), so that the rows of a
//! limb share the unknowns of its last link.

use super::chain_rows::{ChainRows, RowsLink};
use super::equation_rows::EquationRows;
use super::normal_equations::NormalEquations;
use super::robot_goals::Goals;
use super::robot_settings::{FLOOR_MARGIN, POSTURE, RATE, SolveSettings, YAW_PULL};
use super::robot_state::{Placed, RobotState, Unknowns};
use super::window_seams::COUPLED;
use crate::math::{Mat3, Quat, Vec3, hat, log};
use crate::parallel;
use crate::robot_body::RobotLimb;

/// Frames whose equations are set by one thread: two blocks or more in a window.
const BLOCK: usize = 64;

/// The clip's equations for one set of widths.
#[derive(Debug)]
pub(super) struct RobotEquations<'a> {
    pub(super) unknowns: &'a Unknowns,
    pub(super) goals: &'a Goals,
    pub(super) settings: SolveSettings,
    /// Frequency up to which the motion is free, hertz.
    pub(super) cutoff: f64,
}

/// Scratch space of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) block: ChainRows,
    /// The rows of two frames.
    pub(super) pair: ChainRows,
    pub(super) ends: Vec<[Vec3; 2]>,
    pub(super) columns: Vec<usize>,
    pub(super) row: Vec<f64>,
}

impl RobotEquations<'_> {
    pub(super) fn dt(&self) -> f64 {
        1.0 / self.goals.rate
    }

    /// Every term is multiplied by this, so that sums over frames are integrals over time.
    pub(super) fn per_frame(&self) -> f64 {
        RATE * self.dt()
    }

    /// Sets the equations about `states`, which are `placed`: those of blocks of frames, each by itself, then the rows that couple blocks.
    pub(super) fn set(&self, states: &[RobotState], placed: &[Placed], into: &mut NormalEquations) {
        let frames = states.len();
        let of_block = |block: usize, into: &mut EquationRows| -> Vec<f64> {
            let start = block * BLOCK;
            let mut writer = Writer { equations: self, states, placed, scratch: Scratch::default(), into };
            (start..frames.min(start + BLOCK)).map(|frame| writer.frame(frame, start)).collect()
        };
        into.costs = parallel::map_mut(&mut into.blocks(BLOCK), 1, of_block).concat();
        let (scratch, mut rows) = (Scratch::default(), into.rows());
        let mut writer = Writer { equations: self, states, placed, scratch, into: &mut rows };
        let mut added = Vec::new();
        for start in (BLOCK..frames).step_by(BLOCK) {
            for frame in start..frames.min(start + COUPLED) {
                added.push((frame, writer.coupled(frame, |first| first < start)));
            }
        }
        added.into_iter().for_each(|(frame, cost)| into.costs[frame] += cost);
    }
}

/// Writes the equations of a clip.
pub(super) struct Writer<'a, 'r> {
    pub(super) equations: &'a RobotEquations<'a>,
    pub(super) states: &'a [RobotState],
    pub(super) placed: &'a [Placed],
    pub(super) scratch: Scratch,
    pub(super) into: &'a mut EquationRows<'r>,
}

/// How `log(exp(w) exp(v))` changes with a small `w` (Chirikjian, Stochastic Models, Information Theory, and Lie Groups 2, 2012, 10.86).
pub(super) fn change_of_log(v: &Vec3) -> Mat3<f64> {
    let (hat, half) = (hat(v), v.norm() / 2.0);
    // Below this its distance from the limit is that of rounding.
    let curve = if half < 1e-4 { 1.0 / 12.0 } else { (1.0 - half / libm::tan(half)) / (4.0 * half * half) };
    Mat3::identity() - hat * 0.5 + hat * hat * curve
}

/// A residual whose square grows as its size beyond `far` (Huber 1964, Robust Estimation of a Location Parameter), and its slope.
fn huber(residual: f64, far: f64) -> (f64, f64) {
    if residual.abs() <= far {
        return (residual, 1.0);
    }
    let root = (far * (2.0 * residual.abs() - far)).sqrt();
    (root.copysign(residual), far / root)
}

/// A residual that is the shortfall where that is more than `soft`, and 0 where it is less than `-soft`, and its slope. Between them it is
/// a parabola, so that a step foresees what it touches next: with a corner, boxing takes two fifths longer, and a kneel at 50 Hz is 2.4
/// instead of 1.0 mm from the one at 120 Hz (95th percentile).
pub(super) fn one_sided(shortfall: f64, soft: f64) -> (f64, f64) {
    let into = (shortfall + soft).max(0.0);
    if shortfall < soft { (into * into / (4.0 * soft), into / (2.0 * soft)) } else { (shortfall, 1.0) }
}

/// The weight of a width.
pub(super) fn square(width: f64) -> f64 {
    1.0 / (width * width)
}

impl<'a> Writer<'a, '_> {
    /// Adds the rows of a frame, those that couple it with frames from `start` on among them; returns their cost.
    fn frame(&mut self, frame: usize, start: usize) -> f64 {
        let (unknowns, before) = (self.equations.unknowns, self.into.cost);
        let own = self.first(frame)..self.first(frame + 1);
        self.into.clear(own.clone());
        self.trunk(frame);
        for (side, (leg, arm)) in unknowns.body.limbs.legs.iter().zip(&unknowns.body.limbs.arms).enumerate() {
            self.leg(frame, side, leg);
            if let Some(arm) = arm {
                self.arm(frame, side, arm);
            }
        }
        self.collisions(frame);
        self.posture(frame);
        self.into.damp_by_diagonal(own);
        let own = self.into.cost - before;
        own + self.coupled(frame, |first| first >= start)
    }

    pub(super) fn first(&self, frame: usize) -> usize {
        frame * self.equations.unknowns.count
    }

    /// Begins the rows of a link and of those above it.
    pub(super) fn begin(&mut self, frame: usize, link: usize) {
        self.scratch.block.begin(self.equations.unknowns, link, &[self.first(frame)]);
    }

    pub(super) fn finish(&mut self) {
        self.scratch.block.finish(self.into);
    }

    /// A link whose derivatives are among those of `end`.
    pub(super) fn link(&self, frame: usize, end: usize, link: usize) -> RowsLink<'a> {
        RowsLink { unknowns: self.equations.unknowns, placed: &self.placed[frame], end, link, at: 0 }
    }

    /// Adds three rows to the block, whose derivatives `rows` writes.
    fn add(&mut self, residual: Vec3, weights: [f64; 3], rows: impl Fn(&mut ChainRows)) {
        let scale = self.equations.per_frame();
        let weights = weights.map(|w| w * scale);
        self.into.cost += (0..3).map(|k| weights[k] * residual[k] * residual[k]).sum::<f64>();
        self.scratch.block.add(residual, weights);
        rows(&mut self.scratch.block);
    }

    /// Adds the rows of a point of a link.
    fn add_point(&mut self, link: RowsLink, point: Vec3, residual: Vec3, weights: [f64; 3]) {
        self.add(residual, weights, |block| block.point(link, point, 1.0));
    }

    /// A residual that is the rotation of a link away from its goal.
    fn rotation_goal(&mut self, link: RowsLink, goal: &Quat, weights: [f64; 3]) {
        let (error, change) = self.rotation_error(link, goal);
        self.add(error, weights, |block| block.rotation(link, &change));
    }

    /// The rotation of a link away from its goal, and how it changes with the link's.
    fn rotation_error(&self, link: RowsLink, goal: &Quat) -> (Vec3, Mat3<f64>) {
        let zero = self.equations.unknowns.body.zero.links[link.link].rotation;
        let error = log(&(link.placed.links[link.link].rotation * zero.inverse() * goal.inverse()));
        (error, change_of_log(&error))
    }

    /// The rotation of a sole away from its goal, seen from the goal: roll, pitch and yaw. Ankles of robots do not yaw, and a bent knee
    /// does not let the hip do it for them: a sole that is farther off pulls the leg no harder.
    fn sole_goal(&mut self, link: RowsLink, goal: &Quat, weights: [f64; 3]) {
        let seen = goal.inverse().to_rotation_matrix().into_inner();
        let (error, change) = self.rotation_error(link, goal);
        let (mut error, mut change) = (seen * error, seen * change);
        let (yaw, slope) = huber(error.z, YAW_PULL);
        error.z = yaw;
        change.row_mut(2).scale_mut(slope);
        self.add(error, weights, |block| block.rotation(link, &change));
    }

    /// Pelvis, torso and the place of the hips.
    fn trunk(&mut self, frame: usize) {
        let RobotEquations { unknowns, goals, settings, .. } = self.equations;
        let body = &unknowns.body;
        let (pelvis, torso) = (body.limbs.pelvis(), body.limbs.torso());
        self.begin(frame, pelvis);
        let link = self.link(frame, pelvis, pelvis);
        self.rotation_goal(link, &goals.pelvis[frame], [square(settings.pelvis); 3]);
        let hips = self.placed[frame].links[pelvis].point(&body.hips_in_pelvis);
        let weight = square(settings.root * body.leg_length);
        self.add_point(link, hips, hips - goals.hips[frame], [weight; 3]);
        self.finish();
        self.begin(frame, torso);
        let link = self.link(frame, torso, torso);
        self.rotation_goal(link, &goals.torso[frame], [square(settings.torso); 3]);
        self.finish();
    }

    /// Directions of a limb's segments, in a block of its last link.
    fn directions(&mut self, frame: usize, limb: &RobotLimb, goals: &[Vec<Vec3>; 2], width: f64) {
        let segments = [(limb.upper, limb.upper_direction), (limb.lower, limb.lower_direction)];
        for ((link, own), goal) in segments.into_iter().zip(goals) {
            let direction = self.placed[frame].links[link].rotation * own;
            let link = self.link(frame, limb.end, link);
            // A direction u moves by w x u.
            let rows = |block: &mut ChainRows| block.rotation(link, &-hat(&direction));
            self.add(direction - goal[frame], [square(width); 3], rows);
        }
    }

    /// Directions of an arm, and the rotation of its hand.
    fn arm(&mut self, frame: usize, side: usize, arm: &RobotLimb) {
        let RobotEquations { goals, settings, .. } = self.equations;
        let Some(directions) = &goals.limbs[2 + side] else { return };
        self.begin(frame, arm.end);
        self.directions(frame, arm, directions, settings.arm);
        if let Some(hand) = &goals.hands[side] {
            let link = self.link(frame, arm.end, arm.end);
            self.rotation_goal(link, &hand[frame], [square(settings.hand); 3]);
        }
        self.finish();
    }

    /// Directions of a leg, its sole's frame, ankle, height and rest of the sole's points, and that they are not in the floor.
    fn leg(&mut self, frame: usize, side: usize, leg: &RobotLimb) {
        let RobotEquations { unknowns, goals, settings, .. } = self.equations;
        let body = &unknowns.body;
        let (sole, foot) = (&body.soles[side], &goals.feet[side]);
        self.begin(frame, sole.link);
        if let Some(directions) = &goals.limbs[side] {
            self.directions(frame, leg, directions, settings.leg);
        }
        let link = self.link(frame, sole.link, sole.link);
        let at = self.placed[frame].links[sole.link];
        if sole.has_ankle {
            let weights = [square(settings.roll), square(settings.sole), square(settings.sole)];
            self.sole_goal(link, &foot.sole[frame], weights);
        }
        let ankle = at.point(&body.zero.links[sole.link].inverse().point(&leg.tip));
        let weight = square(settings.ankle * body.leg_length);
        self.add_point(link, ankle, ankle - foot.ankle[frame], [weight; 3]);
        for (own, goal) in [sole.heel, sole.ball].into_iter().zip(&foot.points) {
            let point = sole.touches(&at, &own);
            let height = (1.0 - goal.rests[frame]) * goal.at[frame].z.max(0.0);
            // A quarter: the rest term holds heights as well.
            let weight = 0.25 * goal.near[frame] * square(settings.ground);
            self.add_point(link, point, Vec3::new(0.0, 0.0, point.z - height), [0.0, 0.0, weight]);
        }
        for corner in sole.corners {
            self.above_floor(link, sole.touches(&at, &corner), FLOOR_MARGIN, settings.floor);
        }
        self.finish();
    }

    /// A point that is not below `height`, in a block of its link.
    pub(super) fn above_floor(&mut self, link: RowsLink, point: Vec3, height: f64, width: f64) {
        let (shortfall, slope) = one_sided(height - point.z, width);
        if slope > 0.0 {
            let weights = [0.0, 0.0, square(width)];
            self.add(-Vec3::z() * shortfall, weights, |block| block.point(link, point, slope));
        }
    }

    /// Hinges are near their neutral values.
    fn posture(&mut self, frame: usize) {
        let (unknowns, first) = (self.equations.unknowns, self.first(frame));
        let weight = self.equations.per_frame() * square(POSTURE);
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            let off = self.states[frame].values[hinge] - unknowns.neutral[hinge];
            self.into.cost += weight * off * off;
            let (entries, gradient) = self.into.column(first + 6 + k);
            entries[0] += weight as f32;
            *gradient += weight * off;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_residual_pulls_as_one_that_is_just_not_far() {
        let pull = |residual: f64| {
            let (value, slope) = huber(residual, 0.15);
            value * slope
        };
        for near in [-0.15, -0.1, 0.0, 0.15] {
            assert_eq!(huber(near, 0.15), (near, 1.0));
        }
        for far in [0.151, 0.5, 3.0] {
            assert!((pull(far) - 0.15).abs() < 1e-12 && (pull(-far) + 0.15).abs() < 1e-12, "{far}");
            let numeric = (huber(far + 1e-6, 0.15).0 - huber(far - 1e-6, 0.15).0) / 2e-6;
            assert!((numeric - huber(far, 0.15).1).abs() < 1e-6, "{far}");
        }
    }

    #[test]
    fn a_shortfall_begins_without_a_corner() {
        let value = |x: f64| one_sided(x, 0.002).0;
        assert_eq!([value(-0.003), value(-0.002), value(0.002), value(0.005)], [0.0, 0.0, 0.002, 0.005]);
        for x in [-0.003, -0.0021, -0.0019, 0.0, 0.001, 0.0019, 0.0021, 0.01] {
            let numeric = (value(x + 1e-7) - value(x - 1e-7)) / 2e-7;
            assert!((numeric - one_sided(x, 0.002).1).abs() < 1e-6, "{x}");
        }
    }
}
