//! Rows that couple a frame with those before it: rest of the soles, highest speeds, smoothness.

use super::chain_rows::RowsLink;
use super::robot_equations::{RobotEquations, Writer, change_of_log, square};
use super::robot_settings::{RATE, SMOOTH, SMOOTH_BASE, SPEED_SHARE, SPEED_WIDTH, SPEED_WIDTH_SHARE};
use super::robot_state::RobotState;
use crate::math::{Vec3, log};
use std::f64::consts::{PI, TAU};

impl RobotEquations<'_> {
    /// What second differences at the rate of the widths see of a motion at the cutoff, over what they see at this rate, squared: the longer
    /// a frame, the less they see of it, and the weaker would be the smoothness. At lower rates they may see nothing of it: 1.
    pub(super) fn bend_share(&self) -> f64 {
        let seen = |rate: f64| {
            let half = PI * self.cutoff / rate;
            libm::sin(half) / half
        };
        let ratio = seen(RATE) / seen(self.goals.rate.max(RATE));
        ratio * ratio * ratio * ratio
    }
}

impl Writer<'_, '_> {
    /// Adds the rows that couple a frame with those before it, if the first of these `is_wanted`; returns their cost.
    pub(super) fn coupled(&mut self, frame: usize, is_wanted: impl Fn(usize) -> bool) -> f64 {
        let before = self.into.cost;
        if frame.checked_sub(1).is_some_and(&is_wanted) {
            for side in [0, 1] {
                self.rests(frame, side);
            }
            self.speeds(frame);
        }
        if frame.checked_sub(2).is_some_and(is_wanted) {
            self.smooth(frame);
        }
        self.into.cost - before
    }

    /// Points of a sole move from the frame before as those of the take, the less the more they rest.
    fn rests(&mut self, frame: usize, side: usize) {
        let RobotEquations { unknowns, goals, settings, .. } = self.equations;
        if goals.cut[frame] {
            return;
        }
        let (body, dt, scale) = (&unknowns.body, self.equations.dt(), self.equations.per_frame());
        let (sole, before) = (&body.soles[side], frame - 1);
        let (firsts, pair) = ([before, frame].map(|f| self.first(f)), &mut self.scratch.pair);
        pair.begin(unknowns, sole.link, &firsts);
        let count = unknowns.columns[sole.link].unknowns.len();
        for (own, goal) in [sole.heel, sole.ball].into_iter().zip(&goals.feet[side].points) {
            // Geometric means: how much the smaller of the two is below them depends on the frame rate.
            let [rests, speed] = [&goal.rests, &goal.speed].map(|of| (of[frame] * of[before]).sqrt());
            let travel = goal.at[frame] - goal.at[before];
            let width = settings.rest_speed * body.leg_length;
            let weight = scale * settings.rest / (speed * speed * (1.0 - rests) + width * width);
            let links = [before, frame].map(|f| &self.placed[f].links[sole.link]);
            let points = links.map(|link| sole.touches(link, &own));
            let residual = (sole.slide(&own, links) - travel * (1.0 - rests)) / dt;
            self.into.cost += weight * residual.norm_squared();
            pair.add(residual, [weight; 3]);
            for (k, f) in [before, frame].into_iter().enumerate() {
                let (placed, end, at) = (&self.placed[f], sole.link, k * count);
                let link = RowsLink { unknowns, placed, end, link: end, at };
                pair.point(link, points[k], if k == 0 { -1.0 / dt } else { 1.0 / dt });
            }
        }
        pair.finish(self.into);
    }

    /// Hinges are not faster than they may be.
    fn speeds(&mut self, frame: usize) {
        let RobotEquations { unknowns, goals, settings, .. } = self.equations;
        if goals.cut[frame] {
            return;
        }
        let (scale, dt, first) = (self.equations.per_frame(), self.equations.dt(), self.first(frame));
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            let speed = (self.states[frame].values[hinge] - self.states[frame - 1].values[hinge]) / dt;
            let most = SPEED_SHARE * unknowns.fastest[hinge];
            if speed.abs() > most {
                let excess = speed - most.copysign(speed);
                let columns = [first + 6 + k - unknowns.count, first + 6 + k];
                let width = settings.speed * SPEED_WIDTH.min(SPEED_WIDTH_SHARE * unknowns.fastest[hinge]);
                self.into.add(&columns, &[-1.0 / dt, 1.0 / dt], excess, scale * square(width));
            }
        }
    }

    /// Second differences of base and hinges.
    fn smooth(&mut self, frame: usize) {
        let RobotEquations { unknowns, goals, cutoff, .. } = self.equations;
        if goals.cut[frame] || goals.cut[frame - 1] {
            return;
        }
        let (scale, dt, first) = (self.equations.per_frame(), self.equations.dt(), self.first(frame));
        let [a, b, c] = [frame - 2, frame - 1, frame].map(|f| &self.states[f]);
        let free = SMOOTH * (TAU * cutoff) * (TAU * cutoff);
        let weight = self.equations.bend_share() * scale * square(free) / (dt * dt * dt * dt);
        let far = SMOOTH_BASE.map(|far| far * unknowns.body.leg_length);
        let place = c.base.translation - b.base.translation * 2.0 + a.base.translation;
        let step = |a: &RobotState, b: &RobotState| log(&(b.base.rotation * a.base.rotation.inverse()));
        let [one, two] = [step(a, b), step(b, c)];
        let rotation = two - one;
        let slope = |v: Vec3| change_of_log(&v).tr_mul(&rotation);
        let slopes = [slope(-one), (slope(-two) + slope(one)) / 2.0, slope(two)];
        let n = unknowns.count;
        for k in 0..n {
            let (bend, weight) = match k {
                0..=2 => (place[k], weight * square(far[k])),
                3..=5 => (rotation[k - 3], weight),
                _ => {
                    let hinge = unknowns.hinges[k - 6];
                    (c.values[hinge] - 2.0 * b.values[hinge] + a.values[hinge], weight)
                }
            };
            self.into.cost += weight * bend * bend;
            // The rows 1, -2, 1 of three frames.
            let mut row = [1.0, -2.0, 1.0].map(|x| x * weight).into_iter();
            let bends = slopes.map(|slope| if (3..6).contains(&k) { slope[k - 3] } else { bend });
            for (back, products) in [(2, &[1.0, -2.0, 1.0][..]), (1, &[-2.0, 1.0]), (0, &[1.0])] {
                let bend = bends[2 - back];
                let own = row.next().expect("three frames");
                let (entries, gradient) = self.into.column(first + k - back * n);
                *gradient += own * bend;
                for (later, product) in products.iter().enumerate() {
                    entries[later * n] += (own * product) as f32;
                }
            }
        }
    }
}
