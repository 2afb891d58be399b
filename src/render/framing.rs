//! Camera placement so that all figures fill the picture at all times.
//!
//! With the camera's axes fixed, a point (x, y, z towards the camera) is inside when `-b (d - z) <= y - o <= t (d - z)`
//! for the slopes `t`, `b` of the picture's edges: linear in the distance `d` and the offset `o`, so the least
//! distance has a closed form. All figures share axes, offset and distance, so that they can be compared.

use super::actor::{Actor, Posed};
use super::camera::{Camera, CameraAxes, View, slopes};
use super::ground::grid_for;
use crate::math::{Vec3, single};
use crate::model::{ModelPose, Role, Side};

/// Number of times at which figures are measured.
const LOOKS: usize = 16;
/// Most vertices of a figure that are measured at each of them.
const CORNERS: usize = 4000;
/// Most points of a figure's path over the ground.
const PATH_POINTS: usize = 2048;
/// Half width of the smoothing window of a following camera, seconds.
const FOLLOW_SMOOTHING_S: f64 = 0.6;
/// Half width of the smoothing window of the drawn path, seconds: single steps do not show.
const PATH_SMOOTHING_S: f64 = 0.12;

/// How the camera moves with the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// Not at all.
    No,
    /// Smoothly over time.
    Calmly,
    /// Centred on the figure in every picture.
    Exactly,
}

/// One figure's path over the ground, at a uniform rate.
#[derive(Clone, Debug)]
struct GroundPath {
    points: Vec<Vec3>,
    rate: f64,
}

impl GroundPath {
    fn of(actor: &Actor, duration: f64, posed: &mut Posed) -> Self {
        let count = ((duration * 60.0).ceil() as usize + 1).clamp(1, PATH_POINTS);
        let rate = if duration > 0.0 { (count - 1) as f64 / duration } else { 1.0 };
        let point = |k: usize| {
            actor.move_joints(k as f64 / rate, posed);
            actor.middle(&posed.model)
        };
        Self { points: (0..count).map(point).collect(), rate }
    }

    fn at(&self, time: f64) -> Vec3 {
        let at = (time * self.rate).clamp(0.0, (self.points.len() - 1) as f64);
        let k = (at as usize).min(self.points.len().saturating_sub(2));
        match self.points.get(k + 1) {
            Some(next) => self.points[k].lerp(next, at - k as f64),
            None => self.points[k],
        }
    }

    /// The same path smoothed twice by a running mean over half of `seconds` before and after.
    fn smoothed(&self, seconds: f64) -> Self {
        let reach = (seconds * 0.5 * self.rate).round() as usize;
        let mean = |points: &[Vec3]| -> Vec<Vec3> {
            let around = |k: usize| {
                let reach = reach.min(k).min(points.len() - 1 - k);
                let part = &points[k - reach..=k + reach];
                part.iter().sum::<Vec3>() / part.len() as f64
            };
            (0..points.len()).map(around).collect()
        };
        Self { points: mean(&mean(&self.points)), rate: self.rate }
    }
}

/// A figure's path and ground height.
#[derive(Clone, Debug)]
pub(super) struct Placing {
    path: GroundPath,
    /// What the camera follows.
    centre: GroundPath,
    /// The height of the ground it stands on.
    pub(super) ground: f64,
}

impl Placing {
    /// The path over the ground, smoothed over single steps.
    pub(super) fn path(&self) -> Vec<Vec3> {
        self.path.smoothed(PATH_SMOOTHING_S).points
    }

    /// What the camera follows: a point of the ground.
    pub(super) fn centre(&self, time: f64) -> Vec3 {
        let p = self.centre.at(time);
        Vec3::new(p.x, self.ground, p.z)
    }

    /// Where the figure is.
    pub(super) fn figure(&self, time: f64) -> Vec3 {
        self.path.at(time)
    }
}

/// Camera and ground for all figures of a preview.
#[derive(Clone, Debug)]
pub(super) struct Framing {
    pub(super) axes: CameraAxes,
    pub(super) places: Vec<Placing>,
    offset: Vec3,
    distance: f64,
    /// Half the picture's height where the figures are, in metres.
    pub(super) span: f64,
    /// The size of the largest figure in metres.
    pub(super) size: f64,
    /// The side of a grid square in metres.
    pub(super) grid: f64,
    pub(super) follow: Follow,
}

impl Framing {
    /// Frames `actors` at `times`, for pictures of `width` x `height` with the given part kept free above and below.
    pub(super) fn new(
        actors: &[Actor],
        view: View,
        follow: Follow,
        times: &[f64],
        (width, height): (u32, u32),
        free: (f64, f64),
    ) -> Self {
        let (azimuth, elevation) = view.angles();
        let mut posed: Vec<Posed> = actors.iter().map(Actor::posed).collect();
        let stride = times.len().div_ceil(LOOKS).max(1);
        let mut looks: Vec<f64> = times.iter().copied().step_by(stride).collect();
        looks.extend(times.last());
        let duration = actors.iter().map(|a| a.motion().clip.duration()).fold(0.0, f64::max);
        let axes = CameraAxes::new(facing(&actors[0], &looks, &mut posed[0]) + azimuth, elevation);

        let mut places = Vec::new();
        let mut points = Vec::new();
        let mut size: f64 = 0.0;
        for (actor, posed) in actors.iter().zip(&mut posed) {
            let path = GroundPath::of(actor, duration, posed);
            let centre = match follow {
                Follow::No => {
                    let mean = path.points.iter().sum::<Vec3>() / path.points.len() as f64;
                    GroundPath { points: vec![mean], rate: 1.0 }
                }
                Follow::Calmly => path.smoothed(FOLLOW_SMOOTHING_S),
                Follow::Exactly => path.clone(),
            };
            let mut seen: Vec<(f64, Vec3)> = Vec::new();
            let mut own: f64 = 0.0;
            for &time in &looks {
                actor.move_skin(time, posed);
                let step = posed.positions.len().div_ceil(CORNERS).max(1);
                let corners = posed.positions.iter().step_by(step).map(|p| p.map(f64::from));
                let first = seen.len();
                seen.extend(
                    corners.map(|p| (time, Vec3::from(p))).filter(|p| p.1.iter().all(|c| c.is_finite())),
                );
                let (low, high) = seen[first..].iter().fold(
                    (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
                    |(low, high), (_, p)| (low.inf(p), high.sup(p)),
                );
                own = own.max((high - low).max());
            }
            let place = Placing { path, centre, ground: 0.0 };
            points.extend(seen.into_iter().map(|(time, p)| p - place.centre(time)));
            places.push(place);
            size = size.max(own);
        }
        let size = if size > 0.0 { size } else { 1.0 };
        let (right, top) = slopes(width, height);
        let least = (0.9 * right, top * (1.0 - 2.0 * free.0), top * (1.0 - 2.0 * free.1));
        let (offset, distance) = fit(&axes, &points, least, size);
        Self { axes, places, offset, distance, span: distance * top, size, grid: grid_for(size), follow }
    }

    /// The camera for one figure at one time.
    pub(super) fn camera(&self, figure: usize, time: f64, width: u32, height: u32) -> Camera {
        let target = self.places[figure].centre(time) + self.offset;
        Camera::new(&self.axes, &(target + self.axes.back * self.distance), width, height)
    }

    /// The direction to the light: from the upper left, a little in front.
    pub(super) fn light(&self) -> Vec3 {
        (-self.axes.right * 0.55 + Vec3::y() + self.axes.level * 0.5).normalize()
    }

    /// The point of the ground below what the camera looks at.
    pub(super) fn focus(&self, figure: usize, time: f64) -> [f32; 2] {
        let p = single(&(self.places[figure].centre(time) + self.offset));
        [p[0], p[2]]
    }
}

/// Offset and least distance at which all points lie within the slopes (to both sides, above, below).
fn fit(axes: &CameraAxes, points: &[Vec3], (side, top, bottom): (f64, f64, f64), size: f64) -> (Vec3, f64) {
    // The bounds of each offset o: o >= low - slope_t d and o <= high + slope_b d.
    let (mut low, mut high) = ([f64::NEG_INFINITY; 2], [f64::INFINITY; 2]);
    let slopes = [(side, side), (top, bottom)];
    let mut nearest: f64 = 0.0;
    for p in points {
        let z = p.dot(&axes.back);
        nearest = nearest.max(z);
        for (k, axis) in [axes.right, axes.up].iter().enumerate() {
            let c = p.dot(axis);
            low[k] = low[k].max(c + slopes[k].0 * z);
            high[k] = high[k].min(c - slopes[k].1 * z);
        }
    }
    if points.is_empty() {
        return (Vec3::zeros(), 5.0 * size);
    }
    let mut distance = nearest + 0.5 * size;
    for k in 0..2 {
        distance = distance.max((low[k] - high[k]) / (slopes[k].0 + slopes[k].1));
    }
    let offset = |k: usize| 0.5 * ((low[k] - slopes[k].0 * distance) + (high[k] + slopes[k].1 * distance));
    (axes.right * offset(0) + axes.up * offset(1), distance)
}

/// The azimuth about Y from +Z of the direction the figure faces over the given times, in radians.
fn facing(actor: &Actor, times: &[f64], posed: &mut Posed) -> f64 {
    let rig = &actor.motion().character.rig;
    let pair = |role: fn(Side) -> Role| Some([rig.joint(role(Side::Left))?, rig.joint(role(Side::Right))?]);
    let Some([left, right]) = pair(Role::UpperLeg).or_else(|| pair(Role::UpperArm)) else { return 0.0 };
    let front = |model: &ModelPose| {
        let across = model.position(left) - model.position(right);
        Vec3::new(-across.z, 0.0, across.x).try_normalize(1e-9).unwrap_or_else(Vec3::zeros)
    };
    let mut fronts = Vec::new();
    for &time in times {
        actor.move_joints(time, posed);
        fronts.push(front(&posed.model));
    }
    let mean = fronts.iter().sum::<Vec3>() / fronts.len().max(1) as f64;
    // A figure that rotates all around has no mean front: the first one is used.
    let front = if mean.norm() > 0.4 { mean } else { fronts.first().copied().unwrap_or(mean) };
    libm::atan2(front.x, front.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_points_are_inside_and_some_touch_the_edge(
            all in proptest::collection::vec(proptest::array::uniform3(-2.0..2.0f64), 2..40),
            azimuth in -3.0..3.0f64, elevation in 0.0..1.5f64,
        ) {
            let points: Vec<Vec3> = all.into_iter().map(Vec3::from).collect();
            let axes = CameraAxes::new(azimuth, elevation);
            let (side, top, bottom) = (0.2, 0.3, 0.25);
            let (offset, distance) = fit(&axes, &points, (side, top, bottom), 0.1);
            let nearest = points.iter().map(|p| p.dot(&axes.back)).fold(0.0, f64::max);
            let mut tightest: f64 = 0.0;
            for p in points {
                let p = p - offset;
                let depth = distance - p.dot(&axes.back);
                let (x, y) = (p.dot(&axes.right) / depth, p.dot(&axes.up) / depth);
                prop_assert!(x.abs() <= side + 1e-9 && y <= top + 1e-9 && -y <= bottom + 1e-9);
                tightest = tightest.max(x.abs() / side).max(y / top).max(-y / bottom);
            }
            // Coincident points do not pull the camera into them.
            prop_assert!(tightest > 1.0 - 1e-9 || distance < nearest + 0.05 + 1e-9);
        }
    }
}
