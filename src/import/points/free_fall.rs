//! Finds where a body whose points are known from its pelvis alone is in the air: there its centre of mass falls freely.
//!
//! A body that stands moves as far as its foot does against the pelvis; one that jumps keeps its speed, and its feet tell nothing. A flight
//! is known by its ends: the centre of mass rises and falls there as fast as gravity asks of the time between them, and no
//! foot would be below the ground on the way. Masses by Winter (2009). Units: metres, seconds.

use super::point_tracks::{PointTracks, velocities};
use crate::body::segment_table::{
    CHEST_AND_ABDOMEN, FOOT, FOREARM, HAND, HEAD_AND_NECK, PELVIS, SHIN, THIGH, UPPER_ARM,
};
use crate::kinematics::GRAVITY;
use crate::math::Vec3;
use crate::model::Side;

/// Shortest flight that is looked for, seconds: in a shorter one a body falls by less than 2 cm.
const SHORTEST: f64 = 0.12;
/// Longest flight, seconds: a jump of 1.2 m.
const LONGEST: f64 = 1.0;
/// Flights begin and end at frames that are at least so far apart, seconds: the work grows with the third power of the rate, and a body
/// at 10 m/s moves by 4 cm meanwhile.
const FINEST: f64 = 1.0 / 240.0;
/// Speed upwards at which a body takes off at least, m/s: a jump of half a centimetre.
const TAKE_OFF: f64 = 0.3;
/// Cost of a flight. In twelve takes at 15 and 30 frames per second, with noise of 0, 5 and 10 mm, costs of 6 to 15 find the same jumps;
/// with less, steps of a walk become flights.
const PRICE: f64 = 14.0;
/// Usual error of the speed upwards at the ends of a flight, m/s: half the change between two frames of a take-off at 30 Hz.
const RISES: f64 = 0.4;
/// Usual change of the horizontal speed in a flight, m/s, and the most that is counted, in usual changes.
const AHEAD: (f64, f64) = (1.0, 6.0);
/// Usual depth of a foot below the ground on the way, metres.
const BELOW: f64 = 0.03;
/// Cost from which a flight is out of the question.
const MOST: f64 = 60.0;

/// The centre of mass of a body in every frame.
pub(super) struct FallingBody {
    dt: f64,
    /// Seen from the pelvis.
    centre: Vec<Vec3>,
    /// Its horizontal velocity against the pelvis.
    velocity: Vec<Vec3>,
    /// Its height above the lowest foot.
    height: Vec<f64>,
}

impl FallingBody {
    /// The body with these points; `lowest` is the height of the lowest foot in each frame, seen from the pelvis.
    pub(super) fn of(points: &PointTracks, lowest: &[f64], dt: f64) -> Self {
        let centre = centres_of_mass(points);
        let velocity = velocities(&centre, dt).iter().map(|v| Vec3::new(v.x, 0.0, v.z)).collect();
        let height = centre.iter().zip(lowest).map(|(c, low)| c.y - low).collect();
        Self { dt, centre, velocity, height }
    }

    /// The first frames of flights that may end in frame `end`, with their cost but for the horizontal speed.
    pub(super) fn flights_to(&self, end: usize) -> Vec<(usize, f64)> {
        let [shortest, longest] = [SHORTEST, LONGEST].map(|time| (time / self.dt).ceil() as usize);
        let stride = ((FINEST / self.dt) as usize).max(1);
        if !end.is_multiple_of(stride) {
            return Vec::new();
        }
        let starts = end.saturating_sub(longest).max(1)..(end + 1).saturating_sub(shortest);
        let starts = starts.filter(|start| start.is_multiple_of(stride));
        starts.filter_map(|start| Some((start, self.cost(start, end)?))).collect()
    }

    /// The cost of a flight by gravity and by the feet on the way; `None` of none.
    fn cost(&self, start: usize, end: usize) -> Option<f64> {
        let up = self.take_off(start, end);
        if up < TAKE_OFF || self.rise(start) < TAKE_OFF {
            return None;
        }
        let down = up - GRAVITY * self.time(start, end);
        // A take-off lies between two frames: the speed is that before it, at it, or between.
        let before =
            [self.rise(start), (self.rise(start) + self.rise(start + 1)) / 2.0, self.rise(start - 1)];
        let after = [self.rise(end + 1), self.rise(end), self.rise(end + 2)];
        let off = |speed: f64, seen: [f64; 3]| {
            let least = seen.iter().map(|s| (s - speed).abs()).fold(f64::INFINITY, f64::min);
            (least / RISES).powi(2)
        };
        let below = |f: usize| ((self.at(start, end, f) - self.height[f]).min(0.0) / BELOW).powi(2);
        let cost = PRICE + off(up, before) + off(down, after);
        let mut depth = 0.0;
        for f in start + 1..end {
            depth += below(f);
            if cost + depth >= MOST {
                return None;
            }
        }
        (cost + depth < MOST).then_some(cost + depth)
    }

    /// The cost of a flight that starts and ends at these velocities of the pelvis.
    pub(super) fn change(&self, (start, from): (usize, Vec3), (end, to): (usize, Vec3)) -> f64 {
        let change = (to + self.velocity[end] - from - self.velocity[start]).norm();
        (change / AHEAD.0).min(AHEAD.1).powi(2)
    }

    /// The horizontal velocity of the pelvis within a flight: that of the centre of mass is the mean of its ends.
    pub(super) fn pelvis_velocity(
        &self,
        (start, from): (usize, Vec3),
        (end, to): (usize, Vec3),
        frame: usize,
    ) -> Vec3 {
        (from + self.velocity[start] + to + self.velocity[end]) / 2.0 - self.velocity[frame]
    }

    /// The height of the pelvis above the ground within a flight.
    pub(super) fn pelvis_height(&self, start: usize, end: usize, frame: usize) -> f64 {
        self.at(start, end, frame) - self.centre[frame].y
    }

    fn time(&self, start: usize, end: usize) -> f64 {
        (end - start) as f64 * self.dt
    }

    /// The speed upwards at the start of a flight that ends at the height of its last frame.
    fn take_off(&self, start: usize, end: usize) -> f64 {
        let time = self.time(start, end);
        (self.height[end] - self.height[start]) / time + GRAVITY * time / 2.0
    }

    /// The height of the centre of mass above the ground within a flight.
    fn at(&self, start: usize, end: usize, frame: usize) -> f64 {
        let time = self.time(start, frame);
        self.height[start] + (self.take_off(start, end) - GRAVITY * time / 2.0) * time
    }

    /// The speed at which the centre of mass rises from the lowest foot until this frame; 0 beyond the take.
    fn rise(&self, frame: usize) -> f64 {
        if frame == 0 || frame >= self.height.len() {
            return 0.0;
        }
        (self.height[frame] - self.height[frame - 1]) / self.dt
    }
}

/// The centre of mass in every frame, from the points that every array has.
fn centres_of_mass(points: &PointTracks) -> Vec<Vec3> {
    let (hips, neck) = (points.mid_hips(), points.neck());
    let trunk = PELVIS.mass + CHEST_AND_ABDOMEN.mass;
    let limbs = [
        ("shoulder", "elbow", UPPER_ARM.mass, UPPER_ARM.centre),
        // The hand is at the end of the forearm.
        (
            "elbow",
            "wrist",
            FOREARM.mass + HAND.mass,
            (FOREARM.mass * FOREARM.centre + HAND.mass) / (FOREARM.mass + HAND.mass),
        ),
        ("hip", "knee", THIGH.mass, THIGH.centre),
        (
            "knee",
            "ankle",
            SHIN.mass + FOOT.mass,
            (SHIN.mass * SHIN.centre + FOOT.mass) / (SHIN.mass + FOOT.mass),
        ),
    ];
    let of = |f: usize| {
        let mut sum = (hips[f] + neck[f]) * (trunk / 2.0) + neck[f] * HEAD_AND_NECK;
        let mut mass = trunk + HEAD_AND_NECK;
        for side in Side::BOTH {
            for (near, far, share, centre) in limbs {
                sum += points.joint(side, near)[f].lerp(&points.joint(side, far)[f], centre) * share;
                mass += share;
            }
        }
        sum / mass
    };
    (0..points.frames).map(of).collect()
}
