//! Rows of parts that are in the floor or in each other.

use super::chain_rows::point_velocity;
use super::robot_equations::{RobotEquations, Scratch, Writer, one_sided, square};
use super::robot_settings::COLLISION_MARGIN;
use crate::math::{Vec3, nearest_points_of_segments};

/// Below this distance two capsules have no direction between them, metres.
const NEAREST: f64 = 1e-6;

impl Writer<'_, '_> {
    /// Parts that are in the floor or in each other.
    pub(super) fn collisions(&mut self, frame: usize) {
        let RobotEquations { unknowns, settings, .. } = self.equations;
        let body = &unknowns.body;
        let placed = &self.placed[frame];
        let mut ends = std::mem::take(&mut self.scratch.ends);
        ends.clear();
        ends.extend(body.capsules.iter().map(|c| c.ends.map(|end| placed.links[c.link].point(&end))));
        for (capsule, points) in body.capsules.iter().zip(&ends).filter(|(c, _)| !c.is_foot) {
            if points.iter().all(|point| point.z >= capsule.radius + settings.collision) {
                continue;
            }
            self.begin(frame, capsule.link);
            let link = self.link(frame, capsule.link, capsule.link);
            let single = points[0] == points[1];
            for point in points.iter().take(if single { 1 } else { 2 }) {
                self.above_floor(link, *point, capsule.radius, settings.collision);
            }
            self.finish();
        }
        let weight = self.equations.per_frame() * square(settings.collision);
        for [a, b] in body.near(&ends, COLLISION_MARGIN + settings.collision) {
            let (one, two) = (&body.capsules[a], &body.capsules[b]);
            let [p, q] = nearest_points_of_segments(&ends[a], &ends[b]);
            let distance = (p - q).norm();
            let least = one.radius + two.radius + COLLISION_MARGIN;
            let (shortfall, slope) = one_sided(least - distance, settings.collision);
            if slope == 0.0 {
                continue;
            }
            let apart = (p - q) * (slope / distance.max(NEAREST));
            self.separate(frame, [(one.link, p), (two.link, q)], apart, [-shortfall, weight]);
        }
        self.scratch.ends = ends;
    }

    /// The row of a pair of points that move by `apart` from each other, with its residual and weight.
    fn separate(
        &mut self,
        frame: usize,
        points: [(usize, Vec3); 2],
        apart: Vec3,
        [residual, weight]: [f64; 2],
    ) {
        let (unknowns, placed, first) = (self.equations.unknowns, &self.placed[frame], self.first(frame));
        let chains = points.map(|(link, _)| &unknowns.chains[link]);
        // What moves both does not move them apart.
        let shared = chains[0].iter().zip(chains[1]).take_while(|(a, b)| a == b).count();
        let Scratch { columns, row, .. } = &mut self.scratch;
        columns.clear();
        row.clear();
        for ((chain, (_, point)), sign) in chains.into_iter().zip(points).zip([1.0, -1.0]) {
            for &hinge in &chain[shared..] {
                let (unknown, part) = unknowns.of_hinge[hinge];
                let value = apart.dot(&point_velocity(unknowns, placed, hinge, point)) * part * sign;
                let at = columns.partition_point(|&other| other < first + unknown);
                if columns.get(at) == Some(&(first + unknown)) {
                    row[at] += value;
                } else {
                    columns.insert(at, first + unknown);
                    row.insert(at, value);
                }
            }
        }
        self.into.add(columns, row, residual, weight);
    }
}
