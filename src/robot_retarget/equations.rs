//! The residuals of one frame and of its neighbours, with their derivatives.
//!
//! Every residual is linear in velocities of points (`z x (p - x)` per hinge) or in angular velocities (`z`), so that one row needs
//! the chain of one link only.

use super::hinge_jacobian::{Jacobian, append_point, base_of_rotation, point_velocity};
use super::normal_equations::NormalEquations;
use super::robot_goals::Goals;
use super::robot_settings::{
    COLLISION_MARGIN, FLOOR_MARGIN, POSTURE, RATE, SMOOTH, SMOOTH_BASE, SPEED_SHARE, SPEED_WIDTH, Settings,
};
use super::robot_state::{Placed, RobotState, Unknowns};
use crate::math::{Mat3, Quat, Vec3, hat, log, nearest_of_segments};
use std::f64::consts::TAU;

/// The clip's equations for one set of widths.
#[derive(Debug)]
pub(super) struct Equations<'a> {
    pub(super) unknowns: &'a Unknowns,
    pub(super) goals: &'a Goals,
    pub(super) settings: Settings,
    /// Frequency up to which the motion is free, hertz.
    pub(super) cutoff: f64,
}

/// Scratch space of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    placed: Vec<Placed>,
    jacobians: [Jacobian; 2],
    ends: Vec<[Vec3; 2]>,
}

impl Equations<'_> {
    fn dt(&self) -> f64 {
        1.0 / self.goals.rate
    }

    /// Every term is multiplied by this, so that sums over frames are integrals over time.
    fn per_frame(&self) -> f64 {
        RATE * self.dt()
    }

    /// Sets the equations about `states`; without `derivatives` only their cost.
    pub(super) fn set(
        &self,
        states: &[RobotState],
        derivatives: bool,
        scratch: &mut Scratch,
        into: &mut NormalEquations,
    ) {
        if derivatives {
            into.clear();
        } else {
            into.cost = 0.0;
        }
        scratch.placed.resize_with(states.len(), Placed::default);
        for (state, placed) in states.iter().zip(&mut scratch.placed) {
            self.unknowns.place(state, placed);
        }
        let Scratch { placed, jacobians: [one, two], ends } = scratch;
        let mut writer = Writer { equations: self, states, placed, derivatives, one, two, into };
        for frame in 0..states.len() {
            writer.body(frame);
            writer.limbs(frame);
            writer.feet(frame);
            writer.collisions(frame, ends);
            writer.hinges(frame);
        }
    }
}

/// Writes the equations of a clip.
struct Writer<'a> {
    equations: &'a Equations<'a>,
    states: &'a [RobotState],
    placed: &'a [Placed],
    derivatives: bool,
    one: &'a mut Jacobian,
    two: &'a mut Jacobian,
    into: &'a mut NormalEquations,
}

impl Writer<'_> {
    fn first(&self, frame: usize) -> usize {
        frame * self.equations.unknowns.count
    }

    fn add(&mut self, residual: Vec3, weights: [f64; 3]) {
        let scale = self.equations.per_frame();
        let weights = weights.map(|w| w * scale);
        if self.derivatives {
            self.into.add(&self.one.unknowns, &self.one.rows, [residual.x, residual.y, residual.z], weights);
        } else {
            self.into.cost += (0..3).map(|k| weights[k] * residual[k] * residual[k]).sum::<f64>();
        }
    }

    /// The derivative of a point of a link into the first Jacobian.
    fn point(&mut self, frame: usize, link: usize, point: Vec3) {
        if self.derivatives {
            self.one.clear();
            append_point(
                self.one,
                self.equations.unknowns,
                &self.placed[frame],
                &self.states[frame],
                self.first(frame),
                link,
                point,
            );
        }
    }

    /// The derivative of a link's rotation, seen in the axes of `seen`.
    fn rotation(&mut self, frame: usize, link: usize, seen: Option<&Mat3<f64>>) {
        if !self.derivatives {
            return;
        }
        let (placed, unknowns) = (&self.placed[frame], self.equations.unknowns);
        let first = frame * unknowns.count;
        self.one.clear();
        let slides = |h: usize| unknowns.body.robot.hinges[h].slides;
        let axis = |h: usize| if slides(h) { Vec3::zeros() } else { placed.axes[h] };
        self.one.fill(unknowns, first, link, base_of_rotation(), axis);
        if let Some(seen) = seen {
            for row in &mut self.one.rows {
                let v = seen * Vec3::from(*row);
                *row = [v.x, v.y, v.z];
            }
        }
    }

    /// A residual that is the rotation of a link away from its goal.
    fn rotation_goal(&mut self, frame: usize, link: usize, goal: &Quat, width: f64) {
        let zero = self.equations.unknowns.body.zero.links[link].rotation;
        let error = log(&(self.placed[frame].links[link].rotation * zero.inverse() * goal.inverse()));
        self.rotation(frame, link, None);
        self.add(error, [1.0 / (width * width); 3]);
    }

    /// Pelvis, torso and the place of the hips.
    fn body(&mut self, frame: usize) {
        let Equations { unknowns, goals, settings, .. } = self.equations;
        let body = &unknowns.body;
        let (pelvis, torso) = (body.limbs.pelvis(), body.limbs.torso());
        self.rotation_goal(frame, pelvis, &goals.pelvis[frame], settings.pelvis);
        self.rotation_goal(frame, torso, &goals.torso[frame], settings.torso);
        let hips = self.placed[frame].links[pelvis].point(&body.hips_in_pelvis);
        self.point(frame, pelvis, hips);
        let width = settings.root * body.leg_length;
        self.add(hips - goals.hips[frame], [1.0 / (width * width); 3]);
    }

    /// Directions of the limbs' segments, rotations of hands.
    fn limbs(&mut self, frame: usize) {
        let Equations { unknowns, goals, settings, .. } = self.equations;
        let limbs = &unknowns.body.limbs;
        let all = limbs.legs.iter().map(Some).chain(limbs.arms.iter().map(Option::as_ref));
        for (k, limb) in all.enumerate() {
            let (Some(limb), Some(directions)) = (limb, &goals.limbs[k]) else { continue };
            let width = if k < 2 { settings.leg } else { settings.arm };
            let segments = [(limb.upper, limb.upper_direction), (limb.lower, limb.lower_direction)];
            for ((link, own), goal) in segments.into_iter().zip(directions) {
                let direction = self.placed[frame].links[link].rotation * own;
                if self.derivatives {
                    // A direction u moves by w x u.
                    let seen = -hat(&direction);
                    self.rotation(frame, link, Some(&seen));
                }
                self.add(direction - goal[frame], [1.0 / (width * width); 3]);
            }
            if let Some(hand) = (k >= 2).then(|| goals.hands[k - 2].as_ref()).flatten() {
                self.rotation_goal(frame, limb.end, &hand[frame], settings.hand);
            }
        }
    }

    /// Soles: their frame, ankles, height and rest of their points, and that they are not in the floor.
    fn feet(&mut self, frame: usize) {
        let Equations { unknowns, goals, settings, .. } = self.equations;
        let body = &unknowns.body;
        let square = |width: f64| 1.0 / (width * width);
        for (side, sole) in body.soles.iter().enumerate() {
            let (foot, link) = (&goals.feet[side], sole.link);
            let at = self.placed[frame].links[link];
            let goal = foot.sole[frame];
            let error = log(&(at.rotation * body.zero.links[link].rotation.inverse() * goal.inverse()));
            let seen = goal.inverse().to_rotation_matrix().into_inner();
            self.rotation(frame, link, Some(&seen));
            self.add(seen * error, [square(settings.roll), square(settings.sole), square(settings.sole)]);
            let ankle = at.point(&(body.zero.links[link].inverse().point(&body.limbs.legs[side].tip)));
            self.point(frame, link, ankle);
            self.add(ankle - foot.ankle[frame], [square(settings.ankle * body.leg_length); 3]);
            for (own, goal) in [sole.heel, sole.ball].into_iter().zip(&foot.points) {
                let point = at.point(&own);
                self.point(frame, link, point);
                let height = (1.0 - goal.rests[frame]) * goal.at[frame].z.max(0.0);
                // A quarter: the rest term holds heights as well.
                let weight = 0.25 * goal.near[frame] * square(settings.ground);
                self.add(Vec3::new(0.0, 0.0, point.z - height), [0.0, 0.0, weight]);
            }
            for corner in sole.corners {
                self.above_floor(frame, link, at.point(&corner), FLOOR_MARGIN, settings.floor);
            }
            self.rests(frame, side);
        }
    }

    /// A point that is not below `height`.
    fn above_floor(&mut self, frame: usize, link: usize, point: Vec3, height: f64, width: f64) {
        if point.z < height {
            self.point(frame, link, point);
            self.add(Vec3::new(0.0, 0.0, point.z - height), [0.0, 0.0, 1.0 / (width * width)]);
        }
    }

    /// Points of a sole move from the frame before as those of the take, the less the more they rest.
    fn rests(&mut self, frame: usize, side: usize) {
        let Equations { unknowns, goals, settings, .. } = self.equations;
        if frame == 0 || goals.cut[frame] {
            return;
        }
        let (body, dt) = (&unknowns.body, self.equations.dt());
        let (sole, before) = (&body.soles[side], frame - 1);
        for (own, goal) in [sole.heel, sole.ball].into_iter().zip(&goals.feet[side].points) {
            let rests = goal.rests[frame].min(goal.rests[before]);
            let travel = goal.at[frame] - goal.at[before];
            let speed = goal.speed[frame].min(goal.speed[before]).min(travel.norm() / dt);
            let width = settings.rest_speed * body.leg_length;
            let weight = settings.rest / (speed * speed * (1.0 - rests) + width * width);
            let [last, now] = [before, frame].map(|f| self.placed[f].links[sole.link].point(&own));
            if self.derivatives {
                self.one.clear();
                for (f, point, sign) in [(before, last, -1.0), (frame, now, 1.0)] {
                    let from = self.one.rows.len();
                    let first = f * unknowns.count;
                    self.two.clear();
                    append_point(
                        self.two,
                        unknowns,
                        &self.placed[f],
                        &self.states[f],
                        first,
                        sole.link,
                        point,
                    );
                    self.one.unknowns.extend_from_slice(&self.two.unknowns);
                    self.one.rows.extend_from_slice(&self.two.rows);
                    self.one.scale(from, sign / dt);
                }
            }
            self.add((now - last - travel * (1.0 - rests)) / dt, [weight; 3]);
        }
    }

    /// Parts that are in the floor or in each other.
    fn collisions(&mut self, frame: usize, ends: &mut Vec<[Vec3; 2]>) {
        let Equations { unknowns, settings, .. } = self.equations;
        let body = &unknowns.body;
        let placed = &self.placed[frame];
        ends.clear();
        ends.extend(body.capsules.iter().map(|c| c.ends.map(|end| placed.links[c.link].point(&end))));
        for (capsule, points) in body.capsules.iter().zip(ends.iter()).filter(|(c, _)| !c.is_foot) {
            let single = points[0] == points[1];
            for point in points.iter().take(if single { 1 } else { 2 }) {
                self.above_floor(frame, capsule.link, *point, capsule.radius, settings.collision);
            }
        }
        let weight = self.equations.per_frame() / (settings.collision * settings.collision);
        for &[a, b] in &body.pairs {
            let (one, two) = (&body.capsules[a], &body.capsules[b]);
            let least = one.radius + two.radius + COLLISION_MARGIN;
            let reach = |k: usize| (ends[k][1] - ends[k][0]).norm_squared().sqrt() / 2.0;
            let middle = |k: usize| (ends[k][0] + ends[k][1]) / 2.0;
            let far = least + reach(a) + reach(b);
            if (middle(a) - middle(b)).norm_squared() > far * far {
                continue;
            }
            let [s, t] = nearest_of_segments(&ends[a], &ends[b]);
            let at = |k: usize, t: f64| ends[k][0] + (ends[k][1] - ends[k][0]) * t;
            let (p, q) = (at(a, s), at(b, t));
            let distance = (p - q).norm();
            if distance >= least {
                continue;
            }
            let residual = distance - least;
            if !self.derivatives {
                self.into.cost += weight * residual * residual;
                continue;
            }
            let normal = (p - q) / distance.max(NEAREST);
            self.two.clear();
            let first = frame * unknowns.count;
            for (link, other, point, sign) in [(one.link, two.link, p, 1.0), (two.link, one.link, q, -1.0)] {
                for &h in unknowns.chains[link].iter().filter(|h| !unknowns.chains[other].contains(h)) {
                    let (unknown, factor) = unknowns.of_hinge[h];
                    let velocity = point_velocity(unknowns, placed, h, point);
                    self.two.unknowns.push(first + unknown);
                    self.two.rows.push([normal.dot(&velocity) * factor * sign, 0.0, 0.0]);
                }
            }
            let mut order: Vec<usize> = (0..self.two.unknowns.len()).collect();
            order.sort_by_key(|&k| self.two.unknowns[k]);
            let (mut columns, mut rows): (Vec<usize>, Vec<[f64; 1]>) = (Vec::new(), Vec::new());
            for k in order {
                let value = self.two.rows[k][0];
                match columns.last() {
                    Some(last) if *last == self.two.unknowns[k] => {
                        rows.last_mut().expect("as many rows")[0] += value;
                    }
                    _ => {
                        columns.push(self.two.unknowns[k]);
                        rows.push([value]);
                    }
                }
            }
            self.into.add(&columns, &rows, [residual], [weight]);
        }
    }

    /// Posture, highest speeds and smoothness.
    fn hinges(&mut self, frame: usize) {
        let Equations { unknowns, goals, cutoff, .. } = self.equations;
        let (scale, dt, first) = (self.equations.per_frame(), self.equations.dt(), self.first(frame));
        let linked = frame > 0 && !goals.cut[frame];
        let speed_weight = scale / (SPEED_WIDTH * SPEED_WIDTH);
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            let at = self.states[frame].values[hinge];
            let unknown = first + 6 + k;
            let posture = [scale / (POSTURE * POSTURE)];
            self.into.add_or_cost(
                self.derivatives,
                &[unknown],
                &[[1.0]],
                [at - unknowns.neutral[hinge]],
                posture,
            );
            if linked {
                let speed = (at - self.states[frame - 1].values[hinge]) / dt;
                let most = SPEED_SHARE * unknowns.fastest[hinge];
                if speed.abs() > most {
                    let excess = speed - most.copysign(speed);
                    let columns = [unknown - unknowns.count, unknown];
                    let rows = [[-1.0 / dt], [1.0 / dt]];
                    self.into.add_or_cost(self.derivatives, &columns, &rows, [excess], [speed_weight]);
                }
            }
        }
        if !linked || frame < 2 || goals.cut[frame - 1] {
            return;
        }
        let [a, b, c] = [frame - 2, frame - 1, frame].map(|f| &self.states[f]);
        let free = SMOOTH * (TAU * cutoff) * (TAU * cutoff);
        let weight = scale / (free * free) / (dt * dt * dt * dt);
        let far = SMOOTH_BASE * unknowns.body.leg_length;
        let place = c.base.translation - b.base.translation * 2.0 + a.base.translation;
        let turn = |a: &RobotState, b: &RobotState| log(&(b.base.rotation * a.base.rotation.inverse()));
        let rotation = turn(b, c) - turn(a, b);
        let n = unknowns.count;
        for k in 0..n {
            let (bend, weight) = match k {
                0..=2 => (place[k], weight / (far * far)),
                3..=5 => (rotation[k - 3], weight),
                _ => {
                    let hinge = unknowns.hinges[k - 6];
                    (c.values[hinge] - 2.0 * b.values[hinge] + a.values[hinge], weight)
                }
            };
            let columns = [first + k - 2 * n, first + k - n, first + k];
            let rows = [[1.0], [-2.0], [1.0]];
            self.into.add_or_cost(self.derivatives, &columns, &rows, [bend], [weight]);
        }
    }
}

/// Below this distance two capsules have no direction between them, metres.
const NEAREST: f64 = 1e-6;
